"""The scorecard: what a reader sees first, on one screen of a terminal and at the top of the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from acidtest.core.document import (
    Cell,
    Column,
    Document,
    Finding,
    Note,
    Part,
    Push,
    Row,
    Section,
    Table,
    Unit,
    describe_count,
)
from acidtest.core.estimate import Estimate
from acidtest.core.numbers import whole_percent
from acidtest.core.suite import ABOUT_CLAIMS
from acidtest.studies.cue_effects import USED
from acidtest.studies.cue_profile import CONSTANT, EFFECTS, PREMISES, Profile, claims, effects_chart, effects_table
from acidtest.studies.scores import ModelScores, ScoresResult, SuiteResult
from acidtest.studies.scores.diagnosis import explanation
from acidtest.studies.scores.diagnosis.suites import FEW, single_answer, suite_chance, suite_kind
from acidtest.studies.scoring.expectations import BREAKS, expectation_verdict
from acidtest.studies.scoring.severity import ALPHA, SMALL, is_near_chance
from acidtest.studies.verification.findings import grounding_reason
from acidtest.studies.verification.screen import brief_table, describe_grounding

SHOWN_FINDINGS = 5
"""The most findings that are shown before the rest is asked for."""
SHOWN_EDITS = 12
"""The most edits of claims, of those that change gold and of those that keep it, that the scorecard has a line for."""
SHOWN_SUITES = 12
"""The most suites that the scorecard has a line for."""
MOST_RIGHT = 0.9
HARDLY = 0.01
"""A change smaller than this is none worth a word."""
BELOW_ONE_ANSWER = "below one answer"
"""The verdict on a suite of uneven gold on which guessing is beaten, but one answer to all pairs would be better."""
ALWAYS = "always "
"""The verdict on a suite whose pairs nearly all get one answer, before that answer."""

VERDICTS = (
    "loses",
    BREAKS,
    ALWAYS,
    "below chance",
    "near chance",
    "loses a little",
    BELOW_ONE_ANSWER,
    "too few to say",
    "gains",
    "gains a little",
    "above chance",
    "holds",
    "mostly right",
)
"""What is said of a suite in a word or two, gravest first."""

UNTOUCHED = "untouched pairs"
_ALL_UNTOUCHED = "A suite made from a part of the untouched pairs is compared with that part, in each report."
_LEGEND = (
    "Points by which gold or a cue raises a label (−: its absence does); █ sure, ▒ interval; "
    f"used: beyond {100 * USED:.0f} (┊)."
)
_SUITES_LEGEND = "Accuracy in % (95 % interval); chance: of guessing; control: the same pairs, unchanged."
_ONE_ANSWER_LEGEND = "One answer: the most that giving all pairs one answer gets, where gold is uneven."
_PREMISE_CHANGES = {"another": "another premise", "none": "none", "shuffled": "its words shuffled"}
_ANSWERS = "answers "
NO_PROFILE = "Suite cues would show what moves its answers (-s cues)."


def scorecard(result: ScoresResult, *, findings: int = SHOWN_FINDINGS, edits: int = SHOWN_EDITS) -> Document:
    """One screen: the suites, untouched pairs, the profile, some findings and, as headline, what to take away.

    ``edits`` is the most edits of claims that change gold, and that keep it, which have a line.
    """
    models = result.models
    if len(models) > 1:
        lines = [f"{name}: {describe_model(model)}" for name, model in models.items()]
        return Document(
            "acidtest scorecard", " ".join(lines), (_models_table(models),), tuple(models), sentences=tuple(lines)
        )
    (name, model), *_ = models.items()
    parts: list[Part] = [suites_table(model, brief=True)] if accuracy_suites(model) else []
    if model.grounding:
        parts.append(brief_table(model.grounding, rows=edits))
    if model.profile:
        parts += [_brief_effects(model.profile, only_used=model.grounding is not None), effects_chart()]
    # What explains all answers is the headline.
    if not _explanation(model):
        parts += shown_findings(model.diagnosis, findings)
    signatures = {name: _shared_signature(model)}
    return Document("acidtest scorecard", describe_model(model), tuple(parts), (name,), signatures)


def shown_findings(diagnosis: Sequence[Finding], count: int) -> Iterator[Part]:
    """The first findings, and how many grave ones are left out."""
    yield from diagnosis[:count]
    grave = [finding for finding in diagnosis[count:] if finding.severity in ("severe", "warning")]
    if grave:
        yield Note(f"and {len(grave)} more: --full")


def leading_sections(models: Mapping[str, ModelScores]) -> Iterator[Section]:
    """The sections that stand first on a page: the profile, the suites and the findings."""
    if any(model.profile for model in models.values()):
        yield Section("What moves its answers", tuple(_profile_parts(models)), anchor="profile")
    table = _overview_table(models) if len(models) > 1 else suites_table(next(iter(models.values())))
    if any(map(accuracy_suites, models.values())):
        yield Section("Suites", (table,), anchor="suites")
    yield Section("Findings", tuple(_findings(models)), anchor="findings")


def describe_model(model: ModelScores) -> str:
    """The sentence about a model: what explains all its answers, else profile and verdicts on claims, else findings."""
    if reason := _explanation(model):
        return f"It {reason.sentence}."
    sentences = []
    if model.grounding:
        # What explains all verdicts on claims is a finding; the headline must not say otherwise.
        reason = grounding_reason(model.grounding)
        sentences.append(f"It {reason.sentence}." if reason else describe_grounding(model.grounding))
    # Which cues a verifier goes by stands in the table and in a finding.
    if model.profile and not (model.grounding and model.grounding.whole_edits and _is_about_claims(model)):
        sentences.insert(0, model.profile.headline)
    return " ".join(sentences) or f"{describe_diagnosis(model.diagnosis)} {NO_PROFILE}"


def _explanation(model: ModelScores) -> Finding | None:
    """The finding that explains all answers; missing predictions do not if those on other claims say something."""
    reason = explanation(model.diagnosis)
    is_partial = model.grounding is not None and model.grounding.answered.answered > 0
    return None if reason and reason.code == "U1" and is_partial else reason


def _is_about_claims(model: ModelScores) -> bool:
    return all(name.startswith(ABOUT_CLAIMS) for name in model.suites)


def describe_diagnosis(findings: Sequence[Finding]) -> str:
    """The diagnosis in one line."""
    counts = Counter(finding.severity for finding in findings)
    severe, warnings = describe_count(counts["severe"], "severe finding"), describe_count(counts["warning"], "warning")
    if counts["severe"]:
        return f"Grounds for distrust: {severe}{f' and {warnings}' if counts['warning'] else ''}."
    if counts["warning"]:
        return f"Some doubt: {warnings}, nothing severe."
    if counts["good"]:
        return "These suites found no shortcut."
    return "These suites show nothing special; read the numbers."


def suite_verdict(result: SuiteResult) -> str:
    """A suite's result in a word or two."""
    if label := _only_answer(result):
        return f"{ALWAYS}{label}"
    if verdict := expectation_verdict(result.metrics):
        return verdict
    guess = suite_chance(result)
    if result.vs_control is None:
        verdict, single = _against_chance(result.overall, guess), single_answer(result)
        is_below = verdict == "above chance" and single is not None and result.overall.high < single
        return BELOW_ONE_ANSWER if is_below else verdict
    control, change = result.vs_control.control, result.vs_control.difference
    if _against_chance(control, guess) in ("near chance", "below chance"):
        return "near chance"
    if not change.known:
        return "too few to say"
    if result.vs_control.p_adjusted < ALPHA and abs(change.value) >= HARDLY:
        little = " a little" if abs(change.value) < SMALL else ""
        return f"{'loses' if change.value < 0 else 'gains'}{little}"
    return "holds" if change.low > -SMALL else "too few to say"


def _only_answer(result: SuiteResult) -> str:
    """The label that nearly all pairs are answered with though gold is not one label; empty if there is none."""
    asked = [rate.n for rate in result.by.get("label", {}).values() if rate.n]
    if len(asked) < 2 or sum(asked) < FEW:
        return ""
    answers = {metric.removeprefix(_ANSWERS): rate for metric, rate in result.metrics.items() if _ANSWERS in metric}
    return next((label for label, rate in answers.items() if rate.known and rate.value >= CONSTANT), "")


def _against_chance(right: Estimate, guess: float) -> str:
    if not right.known or right.low != right.low:
        return "too few to say"
    if is_near_chance(right, guess):
        return "near chance"
    if right.high < guess:
        return "below chance"
    if right.low > guess:
        return "mostly right" if right.low >= MOST_RIGHT else "above chance"
    return "too few to say"


def suites_table(model: ModelScores, *, brief: bool = False) -> Table:
    """One line for each suite of a model, and one for untouched pairs; ``brief`` for a screen: fewer digits."""
    percent: Unit = "whole percent" if brief else "percent"
    points: Unit = "whole points" if brief else "points"
    columns = [
        Column("accuracy", percent, spark=not brief),
        Column("chance", percent, role="total", note="accuracy of guessing"),
        Column("one answer", percent, role="total", note="accuracy of the best single answer, where gold is uneven"),
        Column(
            "control",
            percent,
            role="control",
            note="accuracy on the untouched pairs that the suite's pairs were made from",
        ),
        Column("difference", points),
        Column("verdict", "text"),
    ]
    names = _shown_suites(model) if brief else accuracy_suites(model)
    rows = [Row(name, _suite_cells(model.suites[name], brief=brief)) for name in names]
    if untouched := model.untouched:
        cells = (untouched.accuracy, untouched.chance, None, None, None)
        verdict = _against_chance(untouched.accuracy, untouched.chance)
        rows.append(Row(untouched.name, (*cells, verdict), role="control"))
    left_out = len(accuracy_suites(model)) - len(names)
    notes = (f"and {describe_count(left_out, 'more suite')}: --full",) if left_out else ()
    caption = "" if brief else "Accuracy on every suite and on its untouched pairs (control), %, with 95 % intervals"
    legend = [_SUITES_LEGEND] if brief else []
    place = 2
    if all(row.cells[place] is None for row in rows):
        columns.pop(place)
        rows = [replace(row, cells=(*row.cells[:place], *row.cells[place + 1 :])) for row in rows]
    else:
        legend += [_ONE_ANSWER_LEGEND] if brief else []
    return Table("suites", caption, tuple(columns), tuple(rows), "suite", notes=(*notes, *legend))


def accuracy_suites(model: ModelScores) -> list[str]:
    """The suites whose accuracy says something: not the one that accepts any answer to many of its pairs.

    What that one shows is in the profile: how often answers stay when the premise is changed. Suites on documents and
    claims have a table of their own.
    """
    elsewhere = PREMISES.names if model.profile and model.profile.stability else ()
    return [
        name
        for name in model.suites
        if suite_kind(name) not in elsewhere and not (model.grounding and name.startswith(ABOUT_CLAIMS))
    ]


def _shown_suites(model: ModelScores) -> list[str]:
    """The suites that have a line on one screen, in their order: all, or those with the gravest verdicts."""
    names = accuracy_suites(model)
    verdicts = {name: suite_verdict(model.suites[name]) for name in names}
    kept = sorted(names, key=lambda name: _gravity(verdicts[name]))[:SHOWN_SUITES]
    return [name for name in names if name in kept]


def _gravity(verdict: str) -> int:
    return VERDICTS.index(ALWAYS if verdict.startswith(ALWAYS) else verdict)


def _suite_cells(result: SuiteResult, *, brief: bool) -> tuple[Cell, ...]:
    verdict, first = suite_verdict(result), (result.overall, suite_chance(result), single_answer(result))
    if result.vs_control is None:
        return *first, None, None, verdict
    control, change = result.vs_control.control, result.vs_control.difference
    return (*first, *((control.value, change.value) if brief else (control, change)), verdict)


def _overview_table(models: Mapping[str, ModelScores]) -> Table:
    """The accuracy of every model on every suite."""
    suites = dict.fromkeys(suite for model in models.values() for suite in accuracy_suites(model))
    known = [{suite: result.overall for suite, result in model.suites.items()} for model in models.values()]
    rows = [Row(suite, tuple(accuracies.get(suite) for accuracies in known)) for suite in suites]
    untouched = [model.untouched.accuracy if model.untouched else None for model in models.values()]
    if any(untouched):
        rows.append(Row(UNTOUCHED, tuple(untouched), role="control"))
    columns = tuple(Column(name, model=name, spark=True) for name in models)
    return Table("suites", "Accuracy on every suite, %, with 95 % intervals", columns, tuple(rows), "suite")


def _models_table(models: Mapping[str, ModelScores]) -> Table:
    """A row for each model: accuracy on every suite, on untouched pairs and on claims, and the effect of gold."""
    suites = dict.fromkeys(suite for model in models.values() for suite in accuracy_suites(model))
    has_profile = any(model.profile for model in models.values())
    has_untouched = any(model.untouched for model in models.values())
    columns = [Column(name, "whole percent") for name in (*suites, *([UNTOUCHED] if has_untouched else []))]
    columns += [Column("gold moves", "whole points")] if has_profile else []
    has_claims = any(model.grounding for model in models.values())
    columns += [Column("claims, balanced", "whole percent"), Column("claims, AUC", "decimal")] if has_claims else []
    rows = []
    for name, model in models.items():
        cells: list[Cell] = [model.suites[suite].overall.value if suite in model.suites else None for suite in suites]
        if has_untouched:
            cells.append(model.untouched.accuracy.value if model.untouched else None)
        if has_profile:
            cells.append(model.profile.gold_effect.value if model.profile else None)
        if has_claims:
            untouched = model.grounding.untouched if model.grounding else None
            measures = (untouched.balanced_accuracy, untouched.auc) if untouched else (None, None)
            cells += [measure if measure and measure.known else None for measure in measures]
        rows.append(Row(name, tuple(cells)))
    notes = (_ALL_UNTOUCHED,) if any(map(_has_part_as_control, models.values())) else ()
    return Table("models", "", tuple(columns), tuple(rows), "accuracy, %", notes=notes)


def _has_part_as_control(model: ModelScores) -> bool:
    """Whether some suite was made from a part of the untouched pairs, on which accuracy is another."""
    if model.untouched is None:
        return False
    controls = [result.vs_control.control.value for result in model.suites.values() if result.vs_control]
    return any(abs(control - model.untouched.accuracy.value) >= 0.01 for control in controls)


def _brief_effects(profile: Profile, *, only_used: bool = False) -> Table:
    """The table of effects of one model for a screen: label and use in columns of their own, whole points.

    With ``only_used``, cues that are not used are named below it.
    """
    table = effects_table({"": profile})
    columns = (Column("effect", "whole points"), Column("toward", "text"), Column("used", "text"))
    rows, unused = list[Row](), list[str]()
    for number, row in enumerate(table.rows):
        (push,) = (cell for cell in row.cells if isinstance(cell, Push))
        # The first row is that of gold.
        if only_used and number and not push.used:
            unused.append(row.name)
        else:
            rows.append(Row(row.name, (push.estimate, push.toward, "used" if push.used else "")))
    notes = (_LEGEND, *([f"Not shown to be used: {', '.join(unused)}."] if unused else []), *_premise_notes(profile))
    return replace(table, caption="", columns=columns, rows=tuple(rows), notes=notes)


def _premise_notes(profile: Profile) -> Iterator[str]:
    """What becomes of answers when the premise is changed, as far as that was asked."""
    stays = {name: whole_percent(share.value) for name, share in profile.stability.items() if share.known}
    parts = [f"{stays[name]} with {change}" for name, change in _PREMISE_CHANGES.items() if name in stays]
    if parts:
        yield f"Answers that stay: {', '.join(parts)}."


def _profile_parts(models: Mapping[str, ModelScores]) -> Iterator[Part]:
    """The table and chart of effects, and what may be claimed of each model."""
    profiles = {name: model.profile for name, model in models.items() if model.profile}
    for suite in dict.fromkeys(profile.suite for profile in profiles.values()):
        table_id = EFFECTS if suite == "cues" else f"{EFFECTS} {suite}"
        yield replace(effects_chart(table_id), mark="effects")
        yield effects_table({name: one for name, one in profiles.items() if one.suite == suite}, table_id)
    for name, model in models.items():
        if profile := model.profile:
            notes = tuple(Note(sentence) for sentence in claims(profile))
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
