"""Shows profiles: the claims, the effects of cues with their intervals, and what interventions do to answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from typing import Any

import polars as pl

from acidtest.core.document import (
    Cell,
    Column,
    Document,
    Note,
    Pair,
    Part,
    Published,
    Row,
    Section,
    Table,
    Toggle,
    Toggles,
    describe_count,
)
from acidtest.core.run import ANSWER_COLUMNS, Run
from acidtest.studies.crossed_suites import CrossedCue, CrossedSuite, all_cues
from acidtest.studies.cue_profile import Profile, claims, describe_direction, effects_chart, effects_table
from acidtest.studies.profile import ProfileResult, RecipeSpread
from acidtest.studies.scoring.slices import describe_answer

MOST = 3
"""The most items shown of a cue."""
_LACKING = "_lacking"


def toggle_sections(runs: Mapping[str, Run], suite: CrossedSuite) -> tuple[Section, ...]:
    """A folded section for each cue with some items that were asked both ways, first those whose answer changes."""
    if not runs:
        return ()
    first = next(iter(runs.values()))
    rows = _answered_rows(runs, suite, suite.names_in(first)[0])
    return tuple(_section(name, cue, _both_ways(rows, suite, cue), runs) for name, cue in suite.cues.items())


def _answered_rows(runs: Mapping[str, Run], suite: CrossedSuite, asked: str) -> pl.DataFrame:
    """The crossed rows that every model was asked, with the answers of each under its number.

    An item of a template is one group; a pair of a corpus may be the base of several items.
    """
    crossed = pl.all_horizontal(pl.col(column).is_in(values) for column, values in suite.values.items())
    frames = []
    for number, run in enumerate(runs.values()):
        facts = ("premise", "hypothesis", "group", "label", *suite.values) if number == 0 else ()
        columns = [name for name in ("id", *facts, *ANSWER_COLUMNS) if name in run.columns]
        rows = run.lazy(asked).filter(crossed).select(columns)
        frames.append(run.collected(rows).rename({name: f"{number} {name}" for name in ANSWER_COLUMNS}, strict=False))
    return reduce(lambda one, other: one.join(other, on="id", how="inner", maintain_order="left"), frames)


def _both_ways(rows: pl.DataFrame, suite: CrossedSuite, cue: CrossedCue) -> pl.DataFrame:
    """The rows that have a cue, beside those of the same item, gold and other cues that lack it."""
    fixed = ["group", "label", *(column for column in suite.values if column != cue.column)]
    sides = (rows.filter(pl.col(cue.column) == value).drop(cue.column) for value in (cue.present, cue.absent))
    return next(sides).join(next(sides), on=fixed, suffix=_LACKING, maintain_order="left")


def _section(name: str, cue: CrossedCue, pairs: pl.DataFrame, runs: Mapping[str, Run]) -> Section:
    changes = [
        pl.col(f"{number} answer").ne_missing(pl.col(f"{number} answer{_LACKING}")) for number in range(len(runs))
    ]
    misled = [change & ~pl.col(f"{number} correct") for number, change in enumerate(changes)]
    counts = pairs.select(change.sum().alias(name) for name, change in zip(runs, changes, strict=True))
    order = [pl.sum_horizontal(misled), pl.sum_horizontal(changes)]
    sorted_pairs = pairs.sort(order, descending=True, maintain_order=True)
    shown = sorted_pairs.unique("group", keep="first", maintain_order=True).head(MOST)
    asked = describe_count(pairs.height, "item")
    summary = f"{asked} asked both ways"
    if pairs.height:
        changed = (
            f"{count:,}{f' ({model})' if len(runs) > 1 else ''}" for model, count in counts.row(0, named=True).items()
        )
        summary += f"; the answer changes in {', '.join(changed)}"
    caption = f"{shown.height} of {asked}, first those whose answer changes" if pairs.height else _NONE
    toggles = tuple(Toggle(_pair(row, runs, ""), _pair(row, runs, _LACKING)) for row in shown.iter_rows(named=True))
    part = Toggles(caption, _capitalised(cue.having), _capitalised(cue.lacking), toggles)
    return Section(_capitalised(cue.phrase), (part,), anchor=f"pairs-{name}", folded=True, summary=summary)


def _capitalised(phrase: str) -> str:
    return phrase[:1].upper() + phrase[1:]


_NONE = "no item of this sample was asked both ways; a run without --limit asks all of them"


def _pair(row: Mapping[str, Any], runs: Mapping[str, Run], side: str) -> Pair:
    """The pair of one side of a joined row, with what each model answered."""
    texts = {name.removesuffix(side): value for name, value in row.items() if name.endswith(side)}
    answers = {name: describe_answer(texts, run, f"{number} ") for number, (name, run) in enumerate(runs.items())}
    return Pair(texts["premise"], texts["hypothesis"], row["label"], answers, id=texts["id"])


_METHODS = (
    "The effect of a cue: among pairs whose gold is not a label, how much more often that label is predicted with the "
    "cue than without it, gold and all other crossed cues held fixed, every cell of the design weighing the same. "
    "Every label is measured, and no prediction if that occurs; the table shows the largest effect with its sign, "
    "which is negative if the prediction is more frequent without the cue.",
    "The effect of gold: how much more often a label is predicted if it is gold than if it is not, cues held fixed, "
    "averaged over labels; at most this much is reasoning. It is 100 points for a model that is always right and 0 for "
    "one that guesses.",
    "Rows of one item are a group; the intervals of all effects on all labels hold together (Bonferroni), so that they "
    "are valid for the label that is shown. Effects do not add up to one. A cue that is not listed but goes with a "
    "listed one in the text cannot be told from it.",
)


def document(result: ProfileResult) -> Document:
    """The profiles of one model or several, side by side: the picture, the claims, and what they rest on."""
    names = list(result.models)
    suite = next(iter(result.models.values())).crossed
    parts: list[Part] = [replace(effects_chart(), mark="effects"), effects_table(result.models)]
    for name, profile in result.models.items():
        notes = tuple(Note(sentence) for sentence in claims(profile))
        if len(names) == 1:
            parts += notes
        else:
            parts.append(Section(name, notes, folded=True, summary=profile.headline))
    parts += [_describe_seeds(result)] if result.seeds else []
    parts += [table for table in (_user_table(result), _seeds_table(result)) if table]
    folded = {
        "Reading and stability": _reading_table(result, suite),
        "Effects that depend on another cue": _interactions_table(result),
        "Predictions with and without each cue": _sides_table(result),
        "Effects on every label": _outcomes_table(result),
        "HANS beside 100 BERTs": _hans_table(result),
    }
    parts += [
        Section(title, (table,), folded=True, summary=_SUMMARIES[title]) for title, table in folded.items() if table
    ]
    if toggles := toggle_sections(result.runs, suite):
        parts.append(
            Section("Pairs with and without each cue", toggles, anchor="pairs", folded=True, summary="side by side")
        )
    headline = " ".join(
        f"{name}: {one.headline}" if len(names) > 1 else one.headline for name, one in result.models.items()
    )
    signatures = {
        name if len(names) > 1 else asked: run.header.signature(asked)
        for name, run in result.runs.items()
        for asked in suite.names_in(run)
    }
    return Document("acidtest profile", headline, tuple(parts), tuple(names), signatures, _METHODS)


_SUMMARIES = {
    "Reading and stability": "does it read the premise, and do its answers stay where nothing that matters changes?",
    "Effects that depend on another cue": "by more than ten points",
    "Predictions with and without each cue": "what the effects are the difference of",
    "Effects on every label": "in both directions",
    "HANS beside 100 BERTs": "how much of a HANS score may be the seed alone",
}


def _sides_table(result: ProfileResult) -> Table | None:
    """What one model predicts with and without every cue."""
    if len(result.models) > 1:
        return None
    (profile,) = result.models.values()
    columns = (
        Column("with"),
        Column("without"),
        Column("what leads to which prediction", "text"),
        Column("relies on it", "text"),
        Column("detectable", "points", note="effect that four of five such runs show to exceed 10 points"),
    )
    suite = profile.crossed
    rows = tuple(Row(facts.having, _sides(profile, cue)) for cue, facts in suite.cues.items())
    caption = "How often it predicts a label that is not gold, with and without the cue, %"
    return Table("sides", caption, columns, rows, "cue")


def _sides(profile: Profile, cue: str) -> tuple[Cell, ...]:
    effect = profile.cues[cue]
    direction, used = describe_direction(profile, cue), "yes" if effect.used else ""
    return effect.with_cue, effect.without_cue, direction, used, effect.detectable


def _outcomes_table(result: ProfileResult) -> Table | None:
    """The effects of every cue of one model on every label, and on whether there is a prediction."""
    if len(result.models) > 1:
        return None
    (profile,) = result.models.values()
    suite, first = profile.crossed, next(iter(profile.cues.values()))
    columns = tuple(Column(suite.label_name(outcome), "points") for outcome in first.outcomes)
    rows = tuple(
        Row(facts.phrase, tuple(profile.cues[cue].outcomes.get(outcome) for outcome in first.outcomes))
        for cue, facts in suite.cues.items()
    )
    caption = "Effects of cues on the rate of each prediction that is not gold, points"
    return Table("outcomes", caption, columns, rows, "cue") if columns else None


def _reading_table(result: ProfileResult, suite: CrossedSuite) -> Table:
    """Whether models read the premise, and how stable their answers are."""
    several = len(result.models) > 1
    columns = tuple(Column(name if several else "share", model=name) for name in result.models)
    rows = [
        Row(
            f"answers that change with a {suite.premise} of other gold",
            tuple(one.premise_use for one in result.models.values()),
        ),
        Row(
            f"{suite.label_name('entailment')} answered where it is gold and words do not overlap",
            tuple(one.reverse_overlap for one in result.models.values()),
        ),
        Row(
            f"answers that {suite.alone_predicts}",
            tuple(one.hypothesis_alone for one in result.models.values()),
        ),
    ]
    stable = dict.fromkeys(name for profile in result.models.values() for name in profile.stability)
    rows += [
        Row(
            _describe_stay(name),
            tuple(one.stability.get(name) for one in result.models.values()),
            "answers that stay",
        )
        for name in stable
    ]
    return Table("reading", f"Does it read the {suite.premise}, and are its answers stable? %", columns, tuple(rows))


_STAYS = {
    "another": "with another premise",
    "none": "with no premise",
    "shuffled": "with the words of the premise shuffled",
}


def _describe_stay(name: str) -> str:
    """Under which change answers stay, given the name of that share in a profile."""
    cue = all_cues().get(name.removesuffix(" switched"))
    return cue.stays if cue else _STAYS.get(name, name)


def _interactions_table(result: ProfileResult) -> Table | None:
    rows = tuple(
        Row(
            f"{all_cues()[one.cue].phrase}, by {all_cues()[one.other].phrase}",
            (one.with_other, one.without_other, one.difference),
            heading=name if len(result.models) > 1 else "",
        )
        for name, profile in result.models.items()
        for one in profile.interactions
    )
    columns = tuple(Column(name, "points") for name in ("with the second", "without it", "difference"))
    return Table("interactions", "Effects that depend on another cue, points", columns, rows, "cue") if rows else None


def _user_table(result: ProfileResult) -> Table | None:
    columns = (Column("toward", "text"), Column("with"), Column("without"), Column("effect", "points"))
    rows = tuple(
        Row(
            model,
            (effect.toward or "", effect.with_cue, effect.without_cue, effect.effect),
            heading=cue.name,
        )
        for cue in result.user_cues
        for model, effect in cue.effects.items()
    )
    notes = ("Matched on suite, gold and the listed cues that words can tell; not crossed.",)
    return Table("own-cues", "Cues of your own", columns, rows, "model", notes) if rows else None


def _hans_table(result: ProfileResult) -> Table | None:
    """Accuracy on HANS beside the band of published models that differ only in their seed."""
    if not result.hans:
        return None
    band = ("lowest", "lower quartile", "median", "upper quartile", "highest")
    columns = [Column(name, model=name) for name in result.models]
    columns += [Column(name, group="100 BERTs", role="published") for name in band]
    rows = tuple(
        Row(
            f"{one.heuristic.replace('_', ' ')}, gold {one.label}",
            (
                *(one.accuracy.get(name) for name in result.models),
                *map(Published, (one.lowest, one.lower_quartile, one.median, one.upper_quartile, one.highest)),
            ),
        )
        for one in result.hans
    )
    note = "The 100 BERTs of McCoy, Min and Linzen (2020) differ only in their seed: one run shows one of them."
    return Table("hans", "Accuracy on HANS, %", tuple(columns), rows, "heuristic", (note,))


def _describe_seeds(result: ProfileResult) -> Note:
    """How far the effects of gold and of the cue that moves most reach over the runs."""
    strongest = max((cue for cue in result.seeds if cue != "gold"), key=lambda cue: abs(result.seeds[cue].mean))
    gold, cue, phrase = result.seeds["gold"], result.seeds[strongest], all_cues()[strongest].phrase
    return Note(
        f"Over {len(result.models)} runs of one recipe the effect of {phrase} is {_range(cue)} points, and "
        f"that of gold {_range(gold)}."
    )


def _range(spread: RecipeSpread) -> str:
    return f"{100 * spread.lowest:+.0f} to {100 * spread.highest:+.0f}".replace("-", "−")


def _seeds_table(result: ProfileResult) -> Table | None:
    if not result.seeds:
        return None
    names = ("mean", "lowest", "highest", "spread over runs", "error over pairs")
    phrases = {name: cue.phrase for name, cue in all_cues().items()}
    rows = tuple(
        Row(phrases.get(name, name), (one.mean, one.lowest, one.highest, one.deviation, one.error))
        for name, one in result.seeds.items()
    )
    caption = f"Effects over {len(result.models)} runs of one recipe, points"
    return Table("seeds", caption, tuple(Column(name, "points") for name in names), rows, "cue")
