"""Errors by kind: which label a model gives when it is wrong, and whether that differs on untouched pairs.

Naik et al. (2018), sections 4.3 and 4.4: false neutrals among all errors on distracted pairs and on untouched ones,
entailment and neutral taken for contradiction on negation, false entailments on antonymy and numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

import numpy as np
import numpy.typing as npt

from acidtest.core.document import Cell, Column, PValue, Row, Table
from acidtest.core.estimate import Estimate
from acidtest.core.labels import GOLD_MASKS, LABELS
from acidtest.stats.clusters import share_difference, share_test
from acidtest.stats.intervals import Counted, rate
from acidtest.stats.resampling import Codes, taken
from acidtest.stats.significance import holm
from acidtest.studies.scoring.controls import AgainstControl, Pairing
from acidtest.studies.scoring.rows import Flags, ScoredRows

UNANSWERED = "unanswered"

Confusion = Mapping[str, Mapping[str, int]]
"""For each gold label, how often each answer was given, and how often none."""


@dataclass(frozen=True)
class ErrorsAgainstControl:
    """Errors of one kind on the untouched pairs, each counted once; their share and rate against the changed pairs."""

    count: int
    share: AgainstControl
    rate: AgainstControl


@dataclass(frozen=True)
class ErrorKind:
    """Errors of one kind: their number, share of all errors, rate among all pairs, and comparison with the control."""

    count: int
    share: Estimate
    rate: Estimate
    vs_control: ErrorsAgainstControl | None = None


@dataclass(frozen=True)
class Errors:
    """A suite's errors by kind; ``note`` says why kinds are missing or depend on the answer alone.

    ``n`` counts wrong answers; pairs without an answer have no kind and are left out.
    """

    n: int = 0
    control_n: int | None = None
    kinds: Mapping[str, ErrorKind] = field(default_factory=dict)
    note: str = ""

    @property
    def compared(self) -> bool:
        """Whether the kinds are compared with those on untouched pairs."""
        return any(kind.vs_control for kind in self.kinds.values())


@dataclass(frozen=True)
class _Answers:
    """Gold sets as bit masks, answers as indices of labels (-1 for none), and which answers are wrong."""

    gold: npt.NDArray[np.uint8]
    answer: npt.NDArray[np.int8]
    wrong: Flags

    def of_kind(self, kind: tuple[int, int | None]) -> Counted:
        """All errors, and those with the answer of this kind and, unless it is None, its gold."""
        answer, gold = kind
        flags = self.wrong & (self.answer == answer)
        return Counted(self.wrong, flags if gold is None else flags & (self.gold == gold))


def confusion(rows: ScoredRows) -> Confusion | None:
    """Gold against answer, for the gold labels that occur; None where gold accepts several labels."""
    if not _is_single(_judged_gold(rows), rows.labels):
        return None
    answers = [*enumerate(rows.labels), (-1, UNANSWERED)]
    golds = {label: rows.gold == GOLD_MASKS[label] for label in rows.labels}
    return {
        label: {name: int((members & (rows.answer == answer)).sum()) for answer, name in answers}
        for label, members in golds.items()
        if members.any()
    }


def errors_by_kind(rows: ScoredRows, control: ScoredRows | None = None, pairs: Pairing | None = None) -> Errors:
    """The errors of a suite by kind, compared with those of its control if the paired rows have the same gold.

    A kind is named after the wrong answer (``false neutral``) or after gold and answer (``E-C``: entailment taken for
    contradiction); two-way models and gold that accepts several labels have the former only. p-values are not adjusted;
    ``correct_kinds`` does that.
    """
    golds, judged = _judged_gold(rows), slice(None) if rows.judged is None else rows.judged
    single = _is_single(golds, rows.labels)
    note = "" if single else "gold accepts several labels, so errors are told apart by the answer alone"
    answers, kinds = _answers(rows), _possible_kinds(golds, rows.labels)
    counted = {name: answers.of_kind(kind) for name, kind in kinds.items()}
    groups, strata = rows.groups[judged], rows.strata[judged]
    counts = {
        name: _count_kind(Counted(errors.counted[judged], errors.of_kind[judged]), groups, strata)
        for name, errors in counted.items()
    }
    total = int(answers.wrong.sum())
    if pairs is None or control is None or not pairs.alike:
        return Errors(total, None, counts, note)
    before = _answers(control)
    compared = {
        name: replace(counts[name], vs_control=_compare_kind(pairs, counted[name], before.of_kind(kind)))
        for name, kind in kinds.items()
    }
    return Errors(total, pairs.once(before.wrong), compared, note)


def common_errors(models: Sequence[ScoredRows]) -> Errors:
    """The errors that all the models make on the rows they share, by kind.

    An error has a kind if all models give the same wrong answer; otherwise it has none, but still counts in ``n``.
    Naik et al. (2018), section 4.3, analyse the numerical errors of two systems in this way.
    """
    first = models[0]
    if any(rows.labels != first.labels for rows in models):
        return Errors(note="the models do not have the same labels, so their errors are not of the same kinds")
    ids = [rows.digests("id") for rows in models]
    shared = reduce(np.intersect1d, ids)
    places = [np.argsort(digests)[np.searchsorted(np.sort(digests), shared)] for digests in ids]
    gold = first.gold[places[0]]
    if not _is_single(gold, first.labels):
        return Errors(note="gold accepts several labels, so errors have no kind")
    given = np.stack([rows.answer[place] for rows, place in zip(models, places, strict=True)])
    right = np.stack([rows.correct[place] for rows, place in zip(models, places, strict=True)])
    wrong: Flags = np.logical_and((given >= 0).all(axis=0), ~right.any(axis=0))
    answers = _Answers(gold, np.where((given == given[0]).all(axis=0), given[0], -1), wrong)
    groups, strata = first.groups[places[0]], first.strata[places[0]]
    kinds = _possible_kinds(gold, first.labels)
    counts = {name: _count_kind(answers.of_kind(kind), groups, strata) for name, kind in kinds.items()}
    return Errors(int(wrong.sum()), None, counts)


def correct_kinds(suites: Mapping[str, Errors]) -> dict[str, Errors]:
    """The errors with p-values adjusted (Holm); a family is one measure over all kinds and suites of a run."""
    tests = {
        (suite, name): kind.vs_control
        for suite, errors in suites.items()
        for name, kind in errors.kinds.items()
        if kind.vs_control
    }
    shares, rates = holm([test.share.p for test in tests.values()]), holm([test.rate.p for test in tests.values()])
    for (key, test), share_p, rate_p in zip(list(tests.items()), shares, rates, strict=True):
        share, rate = replace(test.share, p_adjusted=float(share_p)), replace(test.rate, p_adjusted=float(rate_p))
        tests[key] = replace(test, share=share, rate=rate)
    return {
        suite: replace(
            errors,
            kinds={name: replace(kind, vs_control=tests.get((suite, name))) for name, kind in errors.kinds.items()},
        )
        for suite, errors in suites.items()
    }


def _judged_gold(rows: ScoredRows) -> npt.NDArray[np.uint8]:
    """The gold of the rows that are judged by gold."""
    return rows.gold if rows.judged is None else rows.gold[rows.judged]


def _is_single(gold: npt.NDArray[np.uint8], labels: Sequence[str]) -> bool:
    """Whether every pair has one gold label."""
    return bool(np.isin(gold, [GOLD_MASKS[label] for label in labels]).all())


def _answers(rows: ScoredRows) -> _Answers:
    accepted = (rows.gold >> np.maximum(rows.answer, 0).astype(np.uint8)) & 1
    return _Answers(rows.gold, rows.answer, (rows.answer >= 0) & (accepted == 0))


def _possible_kinds(gold: npt.NDArray[np.uint8], labels: Sequence[str]) -> dict[str, tuple[int, int | None]]:
    """Every kind of error possible with these gold sets, as (wrong answer, gold mask); None stands for any gold."""
    occurring = set(np.unique(gold).tolist())
    answers = [answer for answer in range(len(labels)) if any(not mask >> answer & 1 for mask in occurring)]
    kinds: dict[str, tuple[int, int | None]] = {f"false {labels[answer]}": (answer, None) for answer in answers}
    if labels == LABELS and _is_single(gold, labels):
        for label in (label for label in labels if GOLD_MASKS[label] in occurring):
            wrong = (answer for answer in answers if labels[answer] != label)
            kinds |= {f"{label[0]}-{labels[answer][0]}".upper(): (answer, GOLD_MASKS[label]) for answer in wrong}
    return kinds


def _count_kind(errors: Counted, groups: Codes, strata: Codes) -> ErrorKind:
    share, among_all = errors.estimate(groups, strata), rate(errors.of_kind, groups=groups, strata=strata)
    return ErrorKind(int(errors.of_kind.sum()), share, among_all)


def _compare_kind(pairs: Pairing, after: Counted, before: Counted) -> ErrorsAgainstControl:
    """Compare errors of a kind with those of the same kind on the untouched pairs, each of which counts once."""
    changed, untouched = (
        Counted(taken(side.counted, places), taken(side.of_kind, places))
        for side, places in ((after, pairs.own), (before, pairs.control))
    )
    test = share_test(changed, untouched, groups=pairs.groups)
    shares = [side.estimate(pairs.groups, pairs.strata) for side in (changed, untouched)]
    change = share_difference(changed, untouched, shares, groups=pairs.groups)
    control = replace(shares[1], n=pairs.once(before.counted))
    share = AgainstControl(control, change, test.name, test.p)
    return ErrorsAgainstControl(pairs.once(before.of_kind), share, pairs.rate(after.of_kind, before.of_kind))


def kind_title(kind: str) -> str:
    """A kind with the dash used in print: ``E–C`` for ``E-C``."""
    return kind.replace("-", "–") if len(kind) == 3 else kind


def kinds_table(
    table_id: str, caption: str, models: Mapping[str, Errors], *, measure: str = "share", kinds: Sequence[str] = ()
) -> Iterator[Table]:
    """A table of the models' errors by kind, compared with the untouched pairs where there are any.

    ``measure`` is ``share`` (of all errors) or ``rate`` (among all pairs); ``kinds`` selects some; all if empty.
    Yields nothing if there are no kinds to show.
    """
    compared = any(errors.compared for errors in models.values())
    columns = [Column("changed pairs" if compared else measure), Column("pairs", "count")]
    if compared:
        columns += [Column("untouched pairs", role="control"), Column("untouched", "count", role="control")]
        columns += [Column("difference", "points"), Column("adjusted p", "p")]
    rows = []
    for model, errors in models.items():
        for name, kind in errors.kinds.items():
            cells: list[Cell] = [getattr(kind, measure), kind.count]
            if kind.vs_control:
                test: AgainstControl = getattr(kind.vs_control, measure)
                cells += [test.control, kind.vs_control.count, test.difference, PValue(test.p_adjusted)]
            cells += [None] * (len(columns) - len(cells))
            if not kinds or name in kinds:
                rows.append(Row(kind_title(name), tuple(cells), model if len(models) > 1 else ""))
    if rows:
        yield Table(table_id, caption, tuple(columns), tuple(rows), "kind")


def confusion_table(table_id: str, caption: str, models: Mapping[str, Confusion]) -> Iterator[Table]:
    """A table of answers by gold; the column of unanswered pairs is left out if there are none."""
    answer_counts = [answers for counts in models.values() for answers in counts.values()]
    names = dict.fromkeys(name for answers in answer_counts for name in answers)
    shown = [name for name in names if name != UNANSWERED or any(answers.get(name) for answers in answer_counts)]
    columns = [Column(name, "count", group="answered") for name in shown]
    columns += [Column(name, group="% of that gold") for name in shown]
    rows = []
    for model, counts in models.items():
        for gold, answers in counts.items():
            numbers = [answers.get(name, 0) for name in shown]
            total = sum(answers.values())
            cells = (*numbers, *(number / total if total else None for number in numbers))
            rows.append(Row(gold, cells, model if len(models) > 1 else ""))
    if rows:
        yield Table(table_id, caption, tuple(columns), tuple(rows), "gold")
