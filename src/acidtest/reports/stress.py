"""The stress tests side by side, as Naik et al. (2018) print them: tables 3, 4, 7 and 8, with the paper's numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from acidtest.analysis.published import CORPUS, ERROR, published_scores
from acidtest.core.estimate import Estimate
from acidtest.core.suite import CROSS
from acidtest.reports.papers import MAIN, PEOPLE, Papers, beside, papers, person
from acidtest.reports.sections import Crossing, estimate

PREFIX = "stress/"
LADDER = "stress/ladder"
UNTOUCHED = "untouched pairs"
ORIGINAL = "original"
ORIGINAL_SUITE = "mnli"
FALSE_NEUTRAL = "false neutral"
SPELLING = {
    f"adjacent{CROSS}any": "swap",
    f"keyboard{CROSS}any": "keyboard",
    f"adjacent{CROSS}content": "swap, content word",
    f"adjacent{CROSS}function": "swap, function word",
}
"""The four variants of the paper's table 8, by edit and target."""

_SPELLING = f"edit{CROSS}target"
_CONTENT = f"adjacent{CROSS}content"
_CLASSES = {
    "competence": ("antonymy", "numerical"),
    "distraction": ("word-overlap", "negation", "length-mismatch"),
    "noise": ("spelling",),
}

Results = Mapping[str, Mapping[str, Any]]
"""The suites of one model's results.json."""


@dataclass(frozen=True)
class PaperTable:
    """A table that stands for one of the paper's: what it holds, in a sentence, and under what name it is kept."""

    name: str
    caption: str
    crossing: Crossing
    suites: tuple[str, ...]


@dataclass(frozen=True)
class _Column:
    """A column of a table: each model's estimate on a suite or on its untouched pairs, and what was published there."""

    suite: str
    group: str
    title: str
    models: Mapping[str, Estimate | None]
    systems: Papers
    people: Papers


@dataclass(frozen=True)
class _Slice:
    """Where to look for published numbers: a suite, the corpus that ours was made from, and a slice of it."""

    suite: str
    corpus: str
    by: Mapping[str, str]

    def under(self, condition: str) -> Papers:
        """What was published under a condition.

        Of the numbers on MultiNLI only those on the pairs that stress tests were made from.
        """
        used = [s for s in published_scores(self.suite) if self.suite != ORIGINAL_SUITE or CORPUS in s.by]
        found = [score for score in beside([s.to_json() for s in used], self.corpus) if score["by"] == self.by]
        return papers(found, list(self.by), condition)


def stress_suites(models: Mapping[str, Results]) -> list[str]:
    """The stress tests that any model was asked, in the paper's order, what it does not have last."""
    asked = dict.fromkeys(suite for results in models.values() for suite in results if suite.startswith(PREFIX))
    order = [f"{PREFIX}{name}" for names in _CLASSES.values() for name in names]
    return sorted(asked, key=lambda suite: (order.index(_base(suite)) if _base(suite) in order else len(order), suite))


def paper_tables(models: Mapping[str, Results]) -> list[PaperTable]:
    """Every table of the paper that the models' results have something for."""
    suites = [suite for suite in stress_suites(models) if _base(suite) != LADDER]
    found = [
        _table(
            "accuracy",
            "Accuracy in per cent on the stress tests, with 95 % intervals; spelling: two letters of a content word "
            "swapped (Naik et al. 2018, table 3)",
            _accuracies(models, suites),
        ),
        _table(
            "false-neutrals",
            "False neutrals in per cent of all errors, with 95 % intervals (Naik et al. 2018, table 4)",
            _false_neutrals(models, suites),
        ),
        _table(
            "antonymy-errors",
            "Contradictions taken for entailment (C–E) and for neutral (C–N) on antonymy, in per cent of all errors "
            "(Naik et al. 2018, table 7)",
            _kinds(models, "stress/antonymy", ("C-E", "C-N")),
        ),
        _table(
            "numerical-errors",
            "Errors on numbers by gold and answer, in per cent of all errors (Naik et al. 2018, section 4.3)",
            _kinds(models, "stress/numerical", ("E-N", "E-C", "N-E", "N-C", "C-E", "C-N")),
        ),
        _table(
            "spelling",
            "Accuracy in per cent by what is misspelt and how, with 95 % intervals (Naik et al. 2018, table 8)",
            _spelling(models),
        ),
    ]
    return [table for table in found if any(any(row) for row in table.crossing.models.values())]


def suite_title(suite: str) -> str:
    """``word overlap`` for ``stress/word-overlap``, with what tells it from others of the name."""
    base, _, rest = suite.removeprefix(PREFIX).partition(":")
    return f"{base.replace('-', ' ')} ({rest})" if rest else base.replace("-", " ")


def control_of(models: Mapping[str, Results], suites: Sequence[str]) -> str | None:
    """The suite whose untouched pairs stand for the original corpus: the first that has any."""
    return next((suite for suite in suites if any(r.get(suite, {}).get("vs_control") for r in models.values())), None)


def accuracy_place(models: Mapping[str, Results], suite: str) -> tuple[str, ...]:
    """Where in results.json the accuracy stands that table 3 gives: spelling's is that on swaps in content words."""
    swaps = any(_CONTENT in results.get(suite, {}).get("by", {}).get(_SPELLING, {}) for results in models.values())
    return ("by", _SPELLING, _CONTENT) if swaps else ("overall",)


def error_kinds(result: Mapping[str, Any]) -> Mapping[str, Any]:
    """The kinds of error in a suite's results; older ones have none."""
    return dict(result.get("errors", {}).get("kinds", {}))


def _accuracies(models: Mapping[str, Results], suites: Sequence[str]) -> list[_Column]:
    corpus = _corpus(models, suites)
    columns = []
    original = control_of(models, suites)
    if original:
        controls = {model: nested(results, original, "vs_control", "control") for model, results in models.items()}
        columns.append(_column(original, "", ORIGINAL, controls, _Slice(ORIGINAL_SUITE, corpus, {})))
    for suite in suites:
        place = accuracy_place(models, suite)
        by = {"edit": "adjacent", "target": "content"} if _CONTENT in place else {}
        own = {model: nested(results, suite, *place) for model, results in models.items()}
        columns.append(_column(suite, _class(suite), suite_title(suite), own, _Slice(suite, corpus, by)))
    return columns


def _false_neutrals(models: Mapping[str, Results], suites: Sequence[str]) -> list[_Column]:
    kind = ("errors", "kinds", FALSE_NEUTRAL)
    compared = [
        suite
        for suite in suites
        if any(nested(r, suite, *kind, "vs_control", "share", "control") for r in models.values())
    ]
    if not compared:
        return []
    corpus, by = _corpus(models, compared), {ERROR: FALSE_NEUTRAL}
    before = {m: nested(r, compared[0], *kind, "vs_control", "share", "control") for m, r in models.items()}
    columns = [_column(compared[0], "", UNTOUCHED, before, _Slice(ORIGINAL_SUITE, corpus, by))]
    for suite in compared:
        own = {model: nested(results, suite, *kind, "share") for model, results in models.items()}
        columns.append(_column(suite, "changed pairs", suite_title(suite), own, _Slice(suite, corpus, by)))
    return columns


def _kinds(models: Mapping[str, Results], base: str, kinds: Iterable[str]) -> list[_Column]:
    return [
        _column(
            suite,
            suite_title(suite),
            kind.replace("-", "–"),
            {m: nested(r, suite, "errors", "kinds", kind, "share") for m, r in models.items()},
            _Slice(suite, _corpus(models, [suite]), {ERROR: kind}),
        )
        for suite in stress_suites(models)
        if _base(suite) == base
        for kind in kinds
    ]


def _spelling(models: Mapping[str, Results]) -> list[_Column]:
    return [
        _column(
            suite,
            suite_title(suite),
            title,
            {model: nested(results, suite, "by", _SPELLING, key) for model, results in models.items()},
            _Slice(suite, _corpus(models, [suite]), dict(zip(("edit", "target"), key.split(CROSS), strict=True))),
        )
        for suite in stress_suites(models)
        if _base(suite) == "stress/spelling"
        for key, title in SPELLING.items()
    ]


def _column(suite: str, group: str, title: str, models: Mapping[str, Estimate | None], papers_on: _Slice) -> _Column:
    """A column with what was published on the slice it stands for."""
    return _Column(suite, group, title, models, papers_on.under(MAIN), papers_on.under(PEOPLE))


def _table(name: str, caption: str, columns: Sequence[_Column]) -> PaperTable:
    return PaperTable(name, caption, _crossing(name, columns), tuple(dict.fromkeys(column.suite for column in columns)))


def _crossing(title: str, columns: Sequence[_Column]) -> Crossing:
    """The columns as one table; of the paper's systems those that have a number on a stress test."""
    groups: dict[str, tuple[str, ...]] = {}
    for column in columns:
        groups[column.group] = (*groups.get(column.group, ()), column.title)
    ordered = [column for group in groups for column in columns if column.group == group]
    names = dict.fromkeys(name for column in ordered for name in column.models)
    systems = dict.fromkeys(name for column in ordered if column.group for name in column.systems.systems)
    people = dict.fromkeys(name for column in ordered for name in column.people.systems)
    sources = [s for column in ordered for s in (*column.systems.sources, *column.people.sources) if s]
    return Crossing(
        title=title,
        columns=groups,
        models={name: tuple(column.models.get(name) for column in ordered) for name in names},
        people={person(name): tuple(_only(column.people, name) for column in ordered) for name in people},
        published={name: tuple(_only(column.systems, name) for column in ordered) for name in systems},
        sources=tuple(dict.fromkeys(source for source in sources if systems or people)),
    )


def _only(found: Papers, system: str) -> float | None:
    """The one number of a system."""
    return next(iter(found.systems.get(system, {}).values()), None)


def nested(results: Results, *path: str) -> Estimate | None:
    """The estimate at a place in results.json, None where there is none."""
    found: Any = results
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return estimate(found) if isinstance(found, Mapping) else None


def _corpus(models: Mapping[str, Results], suites: Sequence[str]) -> str:
    given = (str(r[suite].get("corpus", "")) for r in models.values() for suite in suites if suite in r)
    return next(filter(None, given), "")


def _base(suite: str) -> str:
    return suite.partition(":")[0]


def _class(suite: str) -> str:
    name = _base(suite).removeprefix(PREFIX)
    return next((group for group, members in _CLASSES.items() if name in members), "other")
