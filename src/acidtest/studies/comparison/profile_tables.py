"""Profiles side by side as tables and a chart: every effect of two models, and how they differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from acidtest.core.document import Cell, Chart, Column, Note, Part, Push, Reference, Row, Section, Table
from acidtest.core.estimate import Estimate
from acidtest.stats.contingency import Ties, tied_groups
from acidtest.studies.comparison.profiles import CueContrast, ProfileContrast
from acidtest.studies.comparison.sentence import listed
from acidtest.studies.crossed_suites import all_cues, crossed_suites
from acidtest.studies.cue_effects import USED, CueEffect, is_beyond

GOLD = "gold (what is right)"
SHOWN = "shown"
"""The word for a difference whose interval excludes zero."""
TIED = "Tied: letters in the order of the models; two that share one are not shown to differ."
_PAIRED = "Both models were asked the same rows of suite {}: differences are paired."
_UNPAIRED = "The models were asked different rows of suite {}: differences are of independent estimates."
_LEGEND = (
    f"* The model relies on it: surely beyond {100 * USED:.0f} points. Effects are on the label that the cue changes "
    "most in that model, negative if it is more frequent without the cue; the difference is on one label, that of the "
    "model with the larger effect."
)


def profile_parts(profiles: Sequence[ProfileContrast]) -> Iterator[Part]:
    """The profiles for a page: a chart and a table for each pair of models, folded if there are several pairs."""
    measured = [profile for profile in profiles if profile.cues]
    for profile in measured:
        parts = tuple(_pair_parts(profile))
        if len(measured) == 1:
            yield from parts
        else:
            yield Section(f"{profile.second} − {profile.first}", parts, folded=True, summary=describe_profile(profile))
    yield from (Note(note) for note in profile_notes(profiles))


def profile_notes(profiles: Sequence[ProfileContrast]) -> list[str]:
    """Why some models have no profiles to compare, each reason once."""
    if len(profiles) > 1 and not any(profile.cues for profile in profiles):
        return ["No two models have profiles to compare: suite cues would show what moves the answers (-s cues)."]
    notes = dict.fromkeys(profile.note for profile in profiles if profile.note)
    return [f"{note[:1].upper()}{note[1:]}." for note in notes]


def describe_profile(profile: ProfileContrast) -> str:
    """Which effects are shown to differ between two models."""
    gold = [GOLD] if profile.gold_effect and profile.gold_effect.differs else []
    names = [*gold, *(all_cues()[cue].phrase for cue, contrast in profile.cues.items() if contrast.differs)]
    return f"shown to differ: {listed(names)}" if names else "no effect is shown to differ"


def profile_table(profile: ProfileContrast, *, brief: bool = False) -> Table:
    """The effects of gold and of every cue, of both models, and their differences.

    ``brief`` is for a screen: only cues that one of the models uses or that are shown to differ, and a line about the
    rest.
    """
    gold = profile.gold_effect
    chosen = {cue: one for cue, one in profile.cues.items() if one.matters or not brief}
    rows = [Row(all_cues()[cue].phrase, _cue_cells(one, profile.suite, brief=brief)) for cue, one in chosen.items()]
    if gold:
        effects: list[Cell] = [gold.first.value, gold.second.value] if brief else [gold.first, gold.second]
        rows.insert(0, Row(GOLD, (*effects, gold.difference, "", _shown(gold.differs))))
    columns = (
        *(Column(model, "points", model=model) for model in (profile.first, profile.second)),
        Column("difference", "points"),
        Column("toward", "text"),
        Column("differs", "text"),
    )
    rest = [all_cues()[cue].phrase for cue in profile.cues if cue not in chosen]
    asked = (_PAIRED if profile.paired else _UNPAIRED).format(profile.suite)
    notes = tuple(_describe_rest(rest, len(profile.cues))) if brief else (_LEGEND, asked)
    caption = "" if brief else f"What moves the answers, with joint 95 % intervals: {profile.second} − {profile.first}"
    table_id = f"profiles {profile.second} {profile.first}"
    return Table(table_id, caption, columns, tuple(rows), "what moves the answers", notes=notes)


def effects_table(profiles: Sequence[ProfileContrast]) -> Table:
    """The effects of three models or more, and which models are not shown to differ in each.

    Only cues that one of the models uses or that are shown to differ have a row.
    """
    models = list(dict.fromkeys(name for profile in profiles for name in (profile.first, profile.second)))
    gold: dict[str, float] = {}
    for one in profiles:
        if one.gold_effect:
            gold |= {one.first: one.gold_effect.first.value, one.second: one.gold_effect.second.value}
    apart = [(one.first, one.second) for one in profiles if one.gold_effect and one.gold_effect.differs]
    rows = [Row(GOLD, (*(gold.get(model) for model in models), _letters(models, apart)))]
    suite = profiles[0].suite
    cues = crossed_suites()[suite].cues
    chosen = [cue for cue in cues if any(one.cues[cue].matters for one in profiles)]
    for cue in chosen:
        effects = {one.first: one.cues[cue].first for one in profiles}
        effects |= {one.second: one.cues[cue].second for one in profiles}
        apart = [(one.first, one.second) for one in profiles if one.cues[cue].differs]
        rows.append(
            Row(
                cues[cue].phrase,
                (*(_push(effects[model], suite, brief=True) for model in models), _letters(models, apart)),
            )
        )
    columns = (*(Column(model, "points", model=model) for model in models), Column("tied", "text"))
    notes = tuple(_describe_rest([facts.phrase for cue, facts in cues.items() if cue not in chosen], len(cues)))
    return Table("profiles", "", columns, tuple(rows), "what moves the answers", notes=notes)


def join_letters(letters: Mapping[str, str], models: Iterable[str]) -> str:
    """The letters of models, in the order of their columns: ``a ab b``; a dash for a model that was not asked."""
    return " ".join(letters.get(model, "–").replace(" ", "") for model in models)


def _letters(models: Sequence[str], apart: Sequence[tuple[str, str]]) -> str:
    ties = Ties("", dict.fromkeys(models, 0.0), tied_groups(models, apart))
    return join_letters(ties.letters, models)


def _describe_rest(names: Sequence[str], cues: int) -> Iterator[str]:
    legend = f"* The model relies on it: surely beyond {100 * USED:.0f} points."
    if not names:
        yield legend
    elif len(names) == cues:
        yield "No cue is used, and none is shown to differ."
    else:
        which = f"The cue {names[0]} is" if len(names) == 1 else f"The other {len(names)} cues are"
        yield f"{legend} {which} used by none and not shown to differ."


def _cue_cells(contrast: CueContrast, suite: str, *, brief: bool) -> tuple[Cell, ...]:
    """The effects with their labels; if ``brief``, only with labels that are not that of the difference."""
    pushes = [_push(effect, suite, brief=brief) for effect in (contrast.first, contrast.second)]
    toward = crossed_suites()[suite].label_name(contrast.toward or "")
    labelled = (replace(push, toward="") if brief and push.toward == toward else push for push in pushes)
    return (*labelled, contrast.difference, toward, _shown(contrast.differs))


def _push(effect: CueEffect, suite: str, *, brief: bool) -> Push:
    """An effect with its label if any is shown; without its interval if ``brief``."""
    estimate = effect.effect
    toward = crossed_suites()[suite].label_name(effect.toward or "") if is_beyond(estimate, 0) else ""
    if brief:
        estimate = Estimate(estimate.value, n=estimate.n, groups=estimate.groups, note=estimate.note)
    return Push(estimate, toward, effect.used)


def _shown(differs: bool) -> str:
    return SHOWN if differs else ""


def _pair_parts(profile: ProfileContrast) -> Iterator[Part]:
    """The chart and the table of two profiles."""
    table = profile_table(profile)
    models, reference = (profile.first, profile.second), Reference(USED, f"{100 * USED:.0f} points")
    yield Chart(table.id, "dots", models, "What moves the answers", "points", reference)
    yield table
