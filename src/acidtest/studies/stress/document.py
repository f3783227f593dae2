"""Stress tests as a document: the paper's tables with the models beside its systems, and charts of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from acidtest.core.document import (
    Cell,
    Change,
    Chart,
    Column,
    Document,
    Note,
    Part,
    Reference,
    Row,
    Section,
    Table,
)
from acidtest.core.errors import list_some
from acidtest.core.estimate import Estimate
from acidtest.core.suite import CROSS
from acidtest.io.published import ERROR
from acidtest.studies.error_kinds import ErrorKind, confusion_table, kind_title, kinds_table
from acidtest.studies.stress import (
    ANTONYMY,
    CLASSES,
    LADDER,
    NEGATION,
    NUMERICAL,
    ORIGINAL,
    PREFIX,
    SPELLING,
    StressResult,
    StressTest,
    base_name,
)
from acidtest.studies.stress.published import PaperLine, paper_tables

FALSE_NEUTRAL = "false neutral"
TO_CONTRADICTION = ("E-C", "N-C")
"""Entailment and neutral taken for contradiction."""
CONTENT_SWAP = f"adjacent{CROSS}content"
"""The slice of spelling that table 3 has: two letters of a content word swapped."""
VARIANTS = {
    f"adjacent{CROSS}any": "swap",
    f"keyboard{CROSS}any": "keyboard",
    CONTENT_SWAP: "swap, content word",
    f"adjacent{CROSS}function": "swap, function word",
}
"""The four variants of table 8, by edit and target."""
_SIDES, _PLACES = ("premise", "hypothesis", "both"), ("start", "middle", "end")

Tests = Mapping[str, StressTest]
"""The tests of one suite by model."""


def document(result: StressResult) -> Document:
    """The tables of Naik et al. (2018) that the tests have something for, each with a chart where it helps."""
    by_suite = {suite: {test.model: test for test in result.tests if test.suite == suite} for suite in result.suites}
    sections = (
        _accuracy_section(result, by_suite),
        _error_section(result, by_suite),
        _negation_section(by_suite),
        _confusion_section(by_suite),
        _ladder_section(by_suite),
    )
    return Document(
        title="acidtest stress",
        headline=_headline(result),
        parts=tuple(section for section in sections if section.parts),
        models=result.models,
        signatures={f"{test.suite}, {test.model}": test.signature for test in result.tests},
        methods=(
            "Changed pairs are compared with the untouched pairs they were made from, row by row. P-values of kinds of "
            "errors are adjusted (Holm) over all kinds and suites of a run, shares and rates apart.",
        ),
    )


def suite_title(suite: str) -> str:
    """``word overlap`` for ``stress/word-overlap``, followed by its options where it has any."""
    base, _, options = suite.removeprefix(PREFIX).partition(":")
    return f"{base.replace('-', ' ')} ({options})" if options else base.replace("-", " ")


def _headline(result: StressResult) -> str:
    sentences = []
    for model in result.models:
        tests = [test for test in result.tests if test.model == model]
        compared = [test for test in tests if test.vs_control and test.vs_control.difference.known]
        if compared:
            worst = min(compared, key=lambda test: test.vs_control.difference.value if test.vs_control else 0.0)
            loss = -worst.vs_control.difference.value * 100 if worst.vs_control else 0.0
            sentences.append(
                f"{model} loses {loss:.1f} points on {suite_title(worst.suite)}"
                if loss > 0
                else f"{model} loses nothing on changed pairs"
            )
        elif known := [test for test in tests if test.accuracy.known]:
            worst = min(known, key=lambda test: test.accuracy.value)
            sentences.append(f"{model} is right on {worst.accuracy.value:.0%} of {suite_title(worst.suite)}")
    return "; ".join(sentences) + "." if sentences else "No stress test could be scored."


def _accuracy_section(result: StressResult, by_suite: Mapping[str, Tests]) -> Section:
    lines = _original_lines(by_suite, {suite: _controls(tests) for suite, tests in by_suite.items()}, {})
    for suite, tests in by_suite.items():
        swaps = any(CONTENT_SWAP in test.slices for test in tests.values())
        cells = {model: _accuracy_cell(test, swaps=swaps) for model, test in tests.items()}
        by = {"edit": "adjacent", "target": "content"} if swaps else {}
        lines.append(PaperLine(suite_title(suite), cells, suite, by, _class(suite)))
    caption = (
        "Accuracy on the stress tests, % with 95 % intervals: untouched pairs → changed pairs; spelling: two letters "
        "of a content word swapped (table 3)"
    )
    parts: list[Part] = [*paper_tables(result, "accuracy", caption, lines)]
    if parts:
        axis = "accuracy; hollow: untouched pairs"
        parts.append(Chart("accuracy", axis=axis, reference=Reference(1 / 3, "chance (33 %)")))
    variants = [
        PaperLine(
            title,
            {model: test.slices.get(key) for model, test in tests.items()},
            suite,
            dict(zip(("edit", "target"), key.split(CROSS), strict=True)),
            suite_title(suite),
        )
        for suite, tests in by_suite.items()
        if base_name(suite) == SPELLING
        for key, title in VARIANTS.items()
    ]
    caption = "Accuracy by what is misspelt and how, % with 95 % intervals (table 8)"
    parts += paper_tables(result, "spelling", caption, variants)
    if result.published:
        sources = "pairs made from MultiNLI and, on numbers, from AQuA-RAT"
        parts.append(Note(f"The systems of Naik et al. (2018) were asked {sources}.", quiet=True))
    return Section("Accuracy", tuple(parts), anchor="stress-accuracy")


def _accuracy_cell(test: StressTest, *, swaps: bool) -> Cell:
    after = test.slices.get(CONTENT_SWAP) if swaps else test.accuracy
    return Change(test.vs_control.control, after) if test.vs_control and after else after


def _controls(tests: Tests) -> dict[str, Estimate]:
    return {model: test.vs_control.control for model, test in tests.items() if test.vs_control}


def _class(suite: str) -> str:
    return next((name for name, members in CLASSES.items() if base_name(suite) in members), "other")


def _original_lines(
    by_suite: Mapping[str, Tests], controls: Mapping[str, Mapping[str, Estimate]], by: Mapping[str, str]
) -> list[PaperLine]:
    """A line for the largest set of untouched pairs, with a note on suites that are compared with other pairs.

    Suites with one row a pair share their pairs, also with ``--limit``; those with several rows a pair have fewer then.
    """
    controls = {
        suite: {model: one for model, one in estimates.items() if one.known}
        for suite, estimates in controls.items()
        if base_name(suite) != LADDER
    }
    controls = {suite: estimates for suite, estimates in controls.items() if estimates}
    if not controls:
        return []
    chosen = max(controls, key=lambda suite: max(one.n for one in controls[suite].values()))
    numbers = {suite: [(one.value, one.n) for one in estimates.values()] for suite, estimates in controls.items()}
    others = [suite for suite in controls if numbers[suite] != numbers[chosen]]
    note = ""
    if others:
        same = list_some([suite_title(suite) for suite in controls if suite not in others])
        compared = (f"{suite_title(suite)} with {_describe_controls(controls[suite])}" for suite in others)
        note = f"the untouched pairs of {same}; compared with their own are {', '.join(compared)}"
    return [PaperLine("untouched pairs", controls[chosen], ORIGINAL, by, note=note)]


def _describe_controls(estimates: Mapping[str, Estimate]) -> str:
    """``67.3 % of 158``, with the models' names where there are several."""
    names = {model: f"{model} " if len(estimates) > 1 else "" for model in estimates}
    return ", ".join(f"{names[model]}{one.value * 100:.1f} % of {one.n:,}" for model, one in estimates.items())


def _error_section(result: StressResult, by_suite: Mapping[str, Tests]) -> Section:
    parts: list[Part] = []
    kinds = _kind_shares(by_suite)
    if kinds:
        parts += [
            kinds,
            Chart(kinds.id, "stack", tuple(c.name for c in kinds.columns[:-1]), axis="share of all errors"),
        ]
    parts += paper_tables(result, "false neutrals", *_false_neutrals(by_suite))
    antonyms = "Contradictions taken for entailment (C–E) and for neutral (C–N) on antonymy, % of all errors (table 7)"
    lines = _kind_lines(by_suite, ANTONYMY, ("C-E", "C-N"), result)
    parts += paper_tables(result, "antonymy errors", antonyms, lines)
    numbers = "Errors on numbers by gold and answer, % of all errors (section 4.3)"
    lines = _kind_lines(by_suite, NUMERICAL, ("E-N", "E-C", "N-E", "N-C", "C-E", "C-N"), result)
    parts += paper_tables(result, "numerical errors", numbers, lines)
    return Section("What the errors are", tuple(parts), anchor="stress-errors")


def _kind_shares(by_suite: Mapping[str, Tests]) -> Table | None:
    """The errors on each stress test by the wrong answer, those on the untouched pairs above them."""
    names = dict.fromkeys(
        kind for tests in by_suite.values() for test in tests.values() for kind in test.errors.kinds if len(kind) > 3
    )
    rows = []
    for suite, tests in by_suite.items():
        for model, test in tests.items():
            shown = {kind: test.errors.kinds[kind] for kind in names if kind in test.errors.kinds}
            if not shown or not test.errors.n:
                continue
            who = f"{model}, " if any(len(members) > 1 for members in by_suite.values()) else ""
            compared = bool(test.errors.control_n) and all(kind.vs_control for kind in shown.values())
            if compared:
                before = (_untouched_share(shown.get(kind)) for kind in names)
                rows.append(
                    Row(f"{who}untouched pairs", (*before, test.errors.control_n), suite_title(suite), "control")
                )
            after = (shown[kind].share if kind in shown else None for kind in names)
            title = f"{who}changed pairs" if compared else f"{who}all pairs"
            rows.append(Row(title, (*after, test.errors.n), suite_title(suite)))
    columns = (*(Column(name) for name in names), Column("errors", "count"))
    caption = "Errors by the wrong answer, % of all errors with 95 % intervals"
    return Table("error kinds", caption, columns, tuple(rows), "pairs") if rows else None


def _false_neutrals(by_suite: Mapping[str, Tests]) -> tuple[str, list[PaperLine]]:
    """Table 4: false neutrals among errors on changed pairs and on untouched ones."""
    kinds = {
        suite: {model: kind for model, test in tests.items() if (kind := test.errors.kinds.get(FALSE_NEUTRAL))}
        for suite, tests in by_suite.items()
    }
    controls = {
        suite: {model: kind.vs_control.share.control for model, kind in members.items() if kind.vs_control}
        for suite, members in kinds.items()
        if base_name(suite) != LADDER
    }
    by = {ERROR: FALSE_NEUTRAL}
    lines = _original_lines(by_suite, controls, by)
    for suite in controls if lines else ():
        cells = {
            model: Change(kind.vs_control.share.control, kind.share) if kind.vs_control else kind.share
            for model, kind in kinds[suite].items()
        }
        if controls[suite]:
            lines.append(PaperLine(suite_title(suite), cells, suite, by, "changed pairs"))
    caption = "False neutrals, % of all errors with 95 % intervals: untouched pairs → changed pairs (table 4)"
    return caption, lines


def _kind_lines(
    by_suite: Mapping[str, Tests], base: str, kinds: Sequence[str], result: StressResult
) -> list[PaperLine]:
    """A line for each kind of error on a suite, with the errors that all models make where these were counted."""
    lines = []
    for suite in (suite for suite in by_suite if base_name(suite) == base):
        common = result.common_errors.get(suite)
        for kind in kinds:
            errors = {model: test.errors.kinds.get(kind) for model, test in by_suite[suite].items()}
            cells: dict[str, Cell] = {model: one.share if one else None for model, one in errors.items()}
            if common and common.n:
                who = "both" if len(by_suite[suite]) == 2 else "all"
                shared = common.kinds.get(kind)
                cells[f"errors that {who} make ({common.n:,})"] = shared.share if shared else None
            lines.append(PaperLine(kind_title(kind), cells, suite, {ERROR: kind}, suite_title(suite)))
    return lines


def _negation_section(by_suite: Mapping[str, Tests]) -> Section:
    caption = "Entailment (E–C) and neutral (N–C) taken for contradiction on {}, % of all pairs with 95 % intervals"
    tables: list[Table] = []
    for suite in (suite for suite in by_suite if base_name(suite) == NEGATION):
        errors = {model: test.errors for model, test in by_suite[suite].items() if test.errors.compared}
        tables += kinds_table(
            f"{suite} contradictions", caption.format(suite), errors, measure="rate", kinds=TO_CONTRADICTION
        )
    return Section("Does a negation word draw contradiction?", tuple(tables), anchor="stress-negation")


def _confusion_section(by_suite: Mapping[str, Tests]) -> Section:
    tables: list[Table] = []
    for suite in (suite for suite in by_suite if base_name(suite) == NUMERICAL):
        counts = {model: test.confusion for model, test in by_suite[suite].items() if test.confusion}
        tables += confusion_table(f"{suite} answers", f"Answers by gold on {suite}", counts)
    return Section("Answers on numbers", tuple(tables), anchor="stress-answers")


def _ladder_section(by_suite: Mapping[str, Tests]) -> Section:
    """Accuracy by how often a tautology is repeated at the end of the premise, and by where it stands once."""
    tests = {
        model: test
        for suite, members in by_suite.items()
        if base_name(suite) == LADDER
        for model, test in members.items()
    }
    rungs = {
        model: {(side, place, int(times)): value for (side, place, times), value in _split(test.slices)}
        for model, test in tests.items()
    }
    steps = sorted(
        {times for values in rungs.values() for side, place, times in values if (side, place) == ("premise", "end")}
    )
    if len(steps) < 2:
        return Section("", ())
    columns = tuple(Column(model, model=model) for model in tests)
    rows = [
        Row(str(times), tuple(values.get(("premise", "end", times)) for values in rungs.values())) for times in steps
    ]
    controls = tuple(test.vs_control.control if test.vs_control else None for test in tests.values())
    rows += [Row("untouched pairs", controls, role="control")] if any(controls) else []
    title = "repetitions of the tautology at the end of the premise"
    repetitions = Table("ladder repetitions", f"Accuracy by {title}, %", columns, tuple(rows), "repetitions")
    placed = tuple(
        Row(f"{model}, {side}" if len(tests) > 1 else side, tuple(values.get((side, place, 1)) for place in _PLACES))
        for model, values in rungs.items()
        for side in _SIDES
    )
    places = Table(
        "ladder places",
        "Accuracy with one tautology, by side and place, %",
        tuple(map(Column, _PLACES)),
        placed,
        "side",
    )
    parts = (repetitions, Chart(repetitions.id, "line", axis=title), places, Chart(places.id, "shades"))
    return Section("How much distraction a model bears", parts, anchor="stress-ladder")


def _split(slices: Mapping[str, Estimate]) -> Iterator[tuple[list[str], Estimate]]:
    for key, value in slices.items():
        yield key.split(CROSS), value


def _untouched_share(kind: ErrorKind | None) -> Estimate | None:
    """The share of a kind of error on the untouched pairs."""
    return kind.vs_control.share.control if kind and kind.vs_control else None
