"""The scorecard: what a reader sees first, on one screen of a terminal and at the top of the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from acidtest.core.document import (
    Cell,
    Chart,
    Column,
    Document,
    Finding,
    Note,
    Part,
    Push,
    Reference,
    Row,
    Section,
    Table,
    describe_count,
)
from acidtest.core.estimate import Estimate
from acidtest.studies.cue_effects import CUES, USED
from acidtest.studies.cue_profile import CONSTANT, SHORT, Profile, claims
from acidtest.studies.scores import ModelScores, ScoresResult, SuiteResult
from acidtest.studies.scores.diagnosis.severity import ALPHA, SMALL
from acidtest.studies.scores.diagnosis.suites import FEW
from acidtest.studies.slices import chance

SHOWN_FINDINGS = 5
"""The most findings that are shown before the rest is asked for."""
SHOWN_SUITES = 12
"""The most suites that the scorecard has a line for."""
MOST_RIGHT = 0.9
HARDLY = 0.01
"""A change smaller than this is none worth a word."""
NEARLY = 0.1
"""Accuracy is near chance if its interval ends no farther than this above it."""

VERDICTS = (
    "loses",
    "one answer",
    "below chance",
    "near chance",
    "loses a little",
    "too few to say",
    "gains",
    "gains a little",
    "above chance",
    "holds",
    "mostly right",
)
"""What is said of a suite in a word or two, gravest first."""

GOLD = "gold (what is right)"
UNTOUCHED = "untouched pairs"
_LEGEND = (
    f"How much more often the label is answered with the cue, points; ▒ interval; ┊ used if surely > {100 * USED:.0f}."
)
NO_PROFILE = "Suite cues would show what moves its answers (-s cues)."


def scorecard(result: ScoresResult, *, findings: int = SHOWN_FINDINGS) -> Document:
    """One screen: the suites, untouched pairs, the profile, some findings and, as headline, what to take away."""
    models = result.models
    if len(models) > 1:
        lines = [f"{name}: {describe_model(model)}" for name, model in models.items()]
        return Document("acidtest scorecard", "\n".join(lines), (_models_table(models),), tuple(models))
    (name, model), *_ = models.items()
    parts: list[Part] = [suites_table(model, brief=True)]
    if model.profile:
        parts += [replace(profile_table(models), caption="", notes=(_LEGEND,)), _profile_chart()]
    parts += model.diagnosis[:findings]
    signatures = {name: _shared_signature(model)}
    return Document("acidtest scorecard", describe_model(model), tuple(parts), (name,), signatures)


def leading_sections(models: Mapping[str, ModelScores]) -> Iterator[Section]:
    """The sections that stand first on a page: the profile, the suites and the findings."""
    if any(model.profile for model in models.values()):
        yield Section("What moves its answers", tuple(_profile_parts(models)), anchor="profile")
    table = _overview_table(models) if len(models) > 1 else suites_table(next(iter(models.values())))
    yield Section("Suites", (table,), anchor="suites")
    yield Section("Findings", tuple(_findings(models)), anchor="findings")


def describe_model(model: ModelScores) -> str:
    """The one sentence about a model: its profile, else its diagnosis and what would give the profile."""
    return model.profile.headline if model.profile else f"{describe_diagnosis(model.diagnosis)} {NO_PROFILE}"


def describe_diagnosis(findings: Sequence[Finding]) -> str:
    """The diagnosis in one line."""
    counts = Counter(finding.severity for finding in findings)
    severe, warnings = describe_count(counts["severe"], "severe finding"), describe_count(counts["warning"], "warning")
    if counts["severe"]:
        return f"Grounds for distrust: {severe}{f' and {warnings}' if counts['warning'] else ''}."
    if counts["warning"]:
        return f"Some doubt: {warnings}, nothing severe."
    return "These suites found no shortcut." if findings else "No rule had anything to say: read the numbers."


def suite_verdict(result: SuiteResult, guess: float) -> str:
    """A suite's result in a word or two; ``guess`` is the accuracy of guessing."""
    if _gives_one_answer(result):
        return "one answer"
    if result.vs_control is None:
        return _against_chance(result.overall, guess)
    control, change = result.vs_control.control, result.vs_control.difference
    if _against_chance(control, guess) in ("near chance", "below chance"):
        return "near chance"
    if not change.known:
        return "too few to say"
    if result.vs_control.p_adjusted < ALPHA and abs(change.value) >= HARDLY:
        little = " a little" if abs(change.value) < SMALL else ""
        return f"{'loses' if change.value < 0 else 'gains'}{little}"
    return "holds" if change.low > -SMALL else "too few to say"


def _gives_one_answer(result: SuiteResult) -> bool:
    """Whether nearly all pairs are answered with one label though gold is not one label."""
    asked = [rate.n for rate in result.by.get("label", {}).values() if rate.n]
    answers = [rate for metric, rate in result.metrics.items() if metric.startswith("answers ")]
    constant = any(rate.known and rate.value >= CONSTANT for rate in answers)
    return constant and len(asked) > 1 and sum(asked) >= FEW


def _against_chance(right: Estimate, guess: float) -> str:
    if not right.known or right.low != right.low:
        return "too few to say"
    if right.high < guess:
        return "below chance"
    if right.high <= guess + NEARLY:
        return "near chance"
    if right.low > guess:
        return "mostly right" if right.low >= MOST_RIGHT else "above chance"
    return "too few to say"


def suites_table(model: ModelScores, *, brief: bool = False) -> Table:
    """One line for each suite of a model, and one for untouched pairs; ``brief`` for a screen: fewer intervals."""
    columns = (
        Column("accuracy", spark=not brief),
        Column("control", role="control", note="accuracy on the untouched pairs that the suite's pairs were made from"),
        Column("difference", "points"),
        Column("verdict", "text"),
    )
    names = _shown_suites(model) if brief else list(model.suites)
    rows = [Row(name, _suite_cells(model, name, brief=brief)) for name in names]
    if untouched := untouched_accuracy(model):
        suite, right = untouched
        cells = (right, None, None, _against_chance(right, _chance(model, suite)))
        rows.append(Row(UNTOUCHED, cells, role="control"))
    left_out = len(model.suites) - len(names)
    notes = (f"and {describe_count(left_out, 'more suite')}: --full",) if left_out else ()
    caption = "" if brief else "Accuracy on every suite and on its untouched pairs (control), %, with 95 % intervals"
    return Table("suites", caption, columns, tuple(rows), "suite", notes=notes)


def _shown_suites(model: ModelScores) -> list[str]:
    """The suites that have a line on one screen, in their order: all, or those with the gravest verdicts."""
    verdicts = {name: suite_verdict(result, _chance(model, name)) for name, result in model.suites.items()}
    kept = sorted(verdicts, key=lambda name: VERDICTS.index(verdicts[name]))[:SHOWN_SUITES]
    return [name for name in model.suites if name in kept]


def _suite_cells(model: ModelScores, name: str, *, brief: bool) -> tuple[Cell, ...]:
    result = model.suites[name]
    verdict = suite_verdict(result, _chance(model, name))
    if result.vs_control is None:
        return result.overall, None, None, verdict
    control, change = result.vs_control.control, result.vs_control.difference
    return (result.overall, *((control.value, change.value) if brief else (control, change)), verdict)


def untouched_accuracy(model: ModelScores) -> tuple[str, Estimate] | None:
    """The suite that has most untouched pairs, and the accuracy on these; None if no suite has any."""
    controls = {name: result.vs_control.control for name, result in model.suites.items() if result.vs_control}
    name = max(controls, key=lambda name: controls[name].n, default="")
    return (name, controls[name]) if name else None


def _chance(model: ModelScores, suite: str) -> float:
    if model.run is None:
        return 1 / 3
    header = model.run.header
    return chance(header.suites[suite], two_way=header.model.resolution == "two-way")


def _overview_table(models: Mapping[str, ModelScores]) -> Table:
    """The accuracy of every model on every suite."""
    suites = dict.fromkeys(suite for model in models.values() for suite in model.suites)
    known = [{suite: result.overall for suite, result in model.suites.items()} for model in models.values()]
    rows = [Row(suite, tuple(accuracies.get(suite) for accuracies in known)) for suite in suites]
    untouched = [untouched_accuracy(model) for model in models.values()]
    if any(untouched):
        rows.append(Row(UNTOUCHED, tuple(pair[1] if pair else None for pair in untouched), role="control"))
    columns = tuple(Column(name, model=name, spark=True) for name in models)
    return Table("suites", "Accuracy on every suite, %, with 95 % intervals", columns, tuple(rows), "suite")


def _models_table(models: Mapping[str, ModelScores]) -> Table:
    """A row for each model: accuracy on every suite and on untouched pairs, and the effect of gold."""
    suites = dict.fromkeys(suite for model in models.values() for suite in model.suites)
    has_profile = any(model.profile for model in models.values())
    columns = [*map(Column, suites), Column(UNTOUCHED)]
    columns += [Column("gold moves", "points")] if has_profile else []
    rows = []
    for name, model in models.items():
        cells: list[Cell] = [model.suites[suite].overall.value if suite in model.suites else None for suite in suites]
        untouched = untouched_accuracy(model)
        cells.append(untouched[1].value if untouched else None)
        if has_profile:
            cells.append(model.profile.gold_effect.value if model.profile else None)
        rows.append(Row(name, tuple(cells)))
    return Table("models", "", tuple(columns), tuple(rows), "accuracy, %")


def profile_table(models: Mapping[str, ModelScores]) -> Table:
    """What moves answers: the effect of gold and of every cue; for one model also the label it pushes toward."""
    profiles = {name: model.profile for name, model in models.items() if model.profile}
    several = len(models) > 1
    columns = [Column(name if several else "effect", "points", model=name) for name in profiles]
    columns += [] if several else [Column("toward", "text"), Column("used", "text")]
    rows = [Row(GOLD, (*(one.gold_effect for one in profiles.values()), *([] if several else ["", ""])))]
    for cue in CUES:
        cells: list[Cell] = [one.cues[cue].effect for one in profiles.values()]
        if not several:
            cells += _toward(next(iter(profiles.values())), cue)
        rows.append(Row(SHORT[cue], tuple(cells)))
    caption = "What moves the answers: percentage points, with joint 95 % intervals"
    notes = (f"A cue is used where the lower end of its interval is above {100 * USED:.0f} points.",)
    return Table("profile", caption, tuple(columns), tuple(rows), "what moves the answers", notes=notes)


def _toward(profile: Profile, cue: str) -> tuple[str, str]:
    """The label that a cue pushes toward, if it clearly does, and whether it is used."""
    effect = profile.cues[cue]
    return (effect.toward or "") if effect.effect.low > 0 else "", "used" if effect.used else ""


def _profile_chart() -> Chart:
    return Chart("profile", title="What moves the answers", axis="points", reference=Reference(USED, "used above"))


def _pushes_table(models: Mapping[str, ModelScores]) -> Table:
    """The effects with the label each pushes toward in the same cell, as a page draws them."""
    table = profile_table(models)
    profiles = [model.profile for model in models.values() if model.profile]
    gold, *cues = table.rows
    rows = [replace(gold, cells=tuple(one.gold_effect for one in profiles), heading="The truth")]
    for cue, row in zip(CUES, cues, strict=True):
        pushes = (Push(one.cues[cue].effect, _toward(one, cue)[0], one.cues[cue].used) for one in profiles)
        rows.append(replace(row, cells=tuple(pushes), heading="Cues, with gold and the other cues held fixed"))
    notes = ("* " + table.notes[0][:1].lower() + table.notes[0][1:],)
    return replace(table, columns=table.columns[: len(profiles)], rows=tuple(rows), notes=notes)


def _profile_parts(models: Mapping[str, ModelScores]) -> Iterator[Part]:
    """The table and chart of effects, and what may be claimed of each model."""
    yield replace(_profile_chart(), mark="effects")
    yield _pushes_table(models)
    for name, model in models.items():
        if profile := model.profile:
            sentences = claims(profile.gold_effect, profile.cues, profile.interactions)
            notes = tuple(Note(sentence) for sentence in sentences)
            if len(models) == 1:
                yield from notes
            else:
                yield Section(name, notes, folded=True, summary=profile.headline)


def _findings(models: Mapping[str, ModelScores]) -> Iterator[Part]:
    """The findings by model, the first few unfolded; severe ones and warnings link to mistakes in the browser."""
    for number, (name, model) in enumerate(models.items()):
        parts = [_located(finding, name, number) for finding in model.diagnosis]
        first, rest = parts[:SHOWN_FINDINGS], parts[SHOWN_FINDINGS:]
        more = Section(f"{describe_count(len(rest), 'more finding')}", tuple(rest), folded=True)
        shown: list[Part] = [*first, *([more] if rest else [])] or [Note("No finding.")]
        if len(models) == 1:
            yield from shown
        else:
            yield Section(name, tuple(shown), folded=len(models) > 2, summary=describe_diagnosis(model.diagnosis))


def _located(finding: Finding, model: str, number: int) -> Finding:
    is_grave = finding.severity in ("severe", "warning") and finding.suite
    state = {"model": str(number), "verdict": "wrong", "sort": "confident"}
    return replace(finding, model=model, slice={"suite": finding.suite, **finding.slice, **state} if is_grave else {})


def _shared_signature(model: ModelScores) -> str:
    """The fields that the signatures of all suites share, and the whole signature of a single suite."""
    first, *others = [result.signature.split("|") for result in model.suites.values()]
    return "|".join(part for part in first if all(part in other for other in others))
