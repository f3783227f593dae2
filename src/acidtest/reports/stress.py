"""The stress tests side by side, as Naik et al. (2018) print them: tables 3, 4, 7 and 8, with the paper's numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from acidtest.core.estimate import Estimate
from acidtest.core.suite import CROSS, Card
from acidtest.io.published import CORPUS, ERROR, published_differences, published_scores
from acidtest.reports.numerals import percent
from acidtest.reports.papers import MAIN, PEOPLE, Papers, Score, beside, marked, papers, person, scores
from acidtest.reports.sections import Crossing, estimate
from acidtest.studies.error_kinds import Errors

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
    own_note: str = ""
    """What to know of the models' numbers."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know of the models' numbers, and how published ones differ from them."""
        return tuple(dict.fromkeys(filter(None, (self.own_note, *self.systems.notes, *self.people.notes))))


@dataclass(frozen=True)
class _Slice:
    """Published numbers on one slice of a suite, those of the corpus nearest to the one that ours was made from."""

    published: Sequence[Score]
    corpus: str
    by: Mapping[str, str]

    def under(self, condition: str) -> Papers:
        """What was published under a condition."""
        found = [score for score in beside(self.published, self.corpus) if score["by"] == self.by]
        return papers(found, list(self.by), condition)


def stress_suites(models: Mapping[str, Results]) -> list[str]:
    """The stress tests that any model was asked, in the paper's order, what it does not have last."""
    asked = dict.fromkeys(suite for results in models.values() for suite in results if suite.startswith(PREFIX))
    order = [f"{PREFIX}{name}" for names in _CLASSES.values() for name in names]
    return sorted(asked, key=lambda suite: (order.index(_base(suite)) if _base(suite) in order else len(order), suite))


def paper_tables(models: Mapping[str, Results], common: Mapping[str, Errors] | None = None) -> list[PaperTable]:
    """Every table of the paper that the models' results have something for.

    ``common`` holds by suite the errors that all models make, where there are several.
    """
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
            _kinds(models, "stress/numerical", ("E-N", "E-C", "N-E", "N-C", "C-E", "C-N"), common or {}),
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
    original = _original(models, suites, "vs_control", "control")
    if original:
        on = _Slice(_on_mnli(corpus), corpus, {})
        columns.append(_column(original.suite, "", ORIGINAL, original.models, on, original.note))
    for suite in suites:
        place = accuracy_place(models, suite)
        by = {"edit": "adjacent", "target": "content"} if _CONTENT in place else {}
        own = {model: nested(results, suite, *place) for model, results in models.items()}
        on = _Slice(_published(models, suite), corpus, by)
        columns.append(_column(suite, _class(suite), suite_title(suite), own, on))
    return columns


def _false_neutrals(models: Mapping[str, Results], suites: Sequence[str]) -> list[_Column]:
    kind = ("errors", "kinds", FALSE_NEUTRAL)
    control = (*kind, "vs_control", "share", "control")
    compared = [suite for suite in suites if any(nested(r, suite, *control) for r in models.values())]
    original = _original(models, compared, *control)
    if original is None:
        return []
    corpus, by = _corpus(models, compared), {ERROR: FALSE_NEUTRAL}
    on = _Slice(_on_mnli(corpus), corpus, by)
    columns = [_column(original.suite, "", UNTOUCHED, original.models, on, original.note)]
    for suite in compared:
        own = {model: nested(results, suite, *kind, "share") for model, results in models.items()}
        on = _Slice(_published(models, suite), corpus, by)
        columns.append(_column(suite, "changed pairs", suite_title(suite), own, on))
    return columns


@dataclass(frozen=True)
class _Original:
    """The untouched pairs that stand for the original corpus, and what to know of them."""

    suite: str
    models: Mapping[str, Estimate | None]
    note: str


def _original(models: Mapping[str, Results], suites: Sequence[str], *place: str) -> _Original | None:
    """The largest set of untouched pairs; the note tells of suites that have others and are compared with those.

    Suites with one row a pair share their pairs, also with ``--limit``; those with several rows a pair have fewer then.
    """
    controls = {suite: {model: nested(results, suite, *place) for model, results in models.items()} for suite in suites}
    controls = {suite: estimates for suite, estimates in controls.items() if any(estimates.values())}
    if not controls:
        return None
    chosen = max(controls, key=lambda suite: max(one.n for one in controls[suite].values() if one))
    others = [suite for suite in controls if _key(controls[suite]) != _key(controls[chosen])]
    if not others:
        return _Original(chosen, controls[chosen], "")
    *most, last = (suite_title(suite) for suite in controls if suite not in others)
    notes = [f"the untouched pairs of {' and '.join(filter(None, (', '.join(most), last)))}"]
    notes += [f"{suite_title(suite)} is compared with its own ({_described(controls[suite])})" for suite in others]
    return _Original(chosen, controls[chosen], "; ".join(notes))


def _key(estimates: Mapping[str, Estimate | None]) -> list[tuple[float, int] | None]:
    return [(one.value, one.n) if one else None for one in estimates.values()]


def _described(estimates: Mapping[str, Estimate | None]) -> str:
    """``67.3 % of 158``, of several models with their names."""
    known = {model: one for model, one in estimates.items() if one}
    names = {model: "" if len(estimates) == 1 else f"{model} " for model in known}
    return ", ".join(f"{names[model]}{percent(one)} % of {one.n:,}" for model, one in known.items())


def _kinds(
    models: Mapping[str, Results], base: str, kinds: Sequence[str], common: Mapping[str, Errors] | None = None
) -> list[_Column]:
    columns = []
    for suite in stress_suites(models):
        if _base(suite) != base:
            continue
        shared = (common or {}).get(suite, Errors())
        line = f"errors that {'both' if len(models) == 2 else 'all'} make ({shared.n:,})"
        for kind in kinds:
            shares = {model: nested(r, suite, "errors", "kinds", kind, "share") for model, r in models.items()}
            if shared.n:
                shares[line] = shared.kinds[kind].share if kind in shared.kinds else None
            on = _Slice(_published(models, suite), _corpus(models, [suite]), {ERROR: kind})
            columns.append(_column(suite, suite_title(suite), kind.replace("-", "–"), shares, on))
    return columns


def _spelling(models: Mapping[str, Results]) -> list[_Column]:
    return [
        _column(
            suite,
            suite_title(suite),
            title,
            {model: nested(results, suite, "by", _SPELLING, key) for model, results in models.items()},
            _Slice(
                _published(models, suite),
                _corpus(models, [suite]),
                dict(zip(("edit", "target"), key.split(CROSS), strict=True)),
            ),
        )
        for suite in stress_suites(models)
        if _base(suite) == "stress/spelling"
        for key, title in SPELLING.items()
    ]


def _published(models: Mapping[str, Results], suite: str) -> list[Score]:
    """What was published of a suite, as the results hold it: none where it was made with options of its own."""
    return scores(results[suite] for results in models.values() if suite in results)


def _on_mnli(corpus: str) -> list[Score]:
    """The numbers on the pairs of MultiNLI that the published stress tests were made from."""
    differs = published_differences(Card("stress/word-overlap", arguments={"from": corpus} if corpus else {}))
    entries = (score.to_json() for score in published_scores(ORIGINAL_SUITE) if CORPUS in score.by)
    return [entry | ({"differs": differs} if differs else {}) for entry in entries]


def _column(
    suite: str, group: str, title: str, models: Mapping[str, Estimate | None], on: _Slice, note: str = ""
) -> _Column:
    """A column with what was published on the slice it stands for."""
    return _Column(suite, group, title, models, on.under(MAIN), on.under(PEOPLE), note)


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
    differences = {column.title: column.notes for column in ordered}
    signs, notes = marked(differences)
    return Crossing(
        title=title,
        columns=groups,
        models={name: tuple(column.models.get(name) for column in ordered) for name in names},
        people={person(name): tuple(_only(column.people, name) for column in ordered) for name in people},
        published={name: tuple(_only(column.systems, name) for column in ordered) for name in systems},
        sources=tuple(dict.fromkeys(source for source in sources if systems or people)),
        notes=tuple(notes),
        signs=signs,
        differences=differences,
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
