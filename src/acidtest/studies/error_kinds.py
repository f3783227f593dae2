"""Errors by kind: which label a model falls back to when it is wrong, and whether that changes with the pairs.

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
from acidtest.stats.clusters import Counted, share_difference, share_test
from acidtest.stats.intervals import rate
from acidtest.stats.resampling import taken
from acidtest.stats.significance import holm
from acidtest.studies.controls import AgainstControl, Pairing
from acidtest.studies.rows import ScoredRows

UNANSWERED = "unanswered"
MEASURES = ("share", "rate")
"""What is compared with the control: the share of a kind among errors, and its rate among all pairs."""

Flags = npt.NDArray[np.bool_]
Labels = npt.NDArray[np.int8]

_NONE = -1


@dataclass(frozen=True)
class ErrorsAgainstControl:
    """Errors of one kind on the untouched pairs, each counted once, and both measures beside theirs."""

    count: int
    share: AgainstControl
    rate: AgainstControl


@dataclass(frozen=True)
class ErrorKind:
    """Errors of one kind: how many, their share of all errors and of all pairs, and beside those of the control."""

    count: int
    share: Estimate
    rate: Estimate
    vs_control: ErrorsAgainstControl | None = None


@dataclass(frozen=True)
class Errors:
    """A suite's errors by kind; a note says where gold accepts several labels, so that the answer alone tells kinds.

    ``n`` counts answers that are not gold; a pair without an answer is an error of no kind and is left out.
    """

    n: int = 0
    control_n: int | None = None
    kinds: Mapping[str, ErrorKind] = field(default_factory=dict)
    note: str = ""

    @property
    def compared(self) -> bool:
        """Whether the kinds are compared with those on untouched pairs."""
        return any(kind.vs_control for kind in self.kinds.values())


Confusion = Mapping[str, Mapping[str, int]]
"""How often each gold label got each answer, or none."""


@dataclass(frozen=True)
class _LabelledAnswers:
    """Gold and answers as places among the labels; no answer, and gold that accepts several labels, is -1."""

    gold: Labels
    answer: Labels
    accepted: npt.NDArray[np.uint8]
    """The gold sets as bit masks."""

    @property
    def single(self) -> bool:
        """Whether every pair has one gold label."""
        return not bool((self.gold == _NONE).any())

    def accepts(self, place: int) -> Flags:
        """Whether gold accepts a label."""
        return np.asarray((self.accepted >> place) & 1, dtype=np.bool_)

    @property
    def wrong(self) -> Flags:
        """Answers that gold does not accept."""
        right = np.take_along_axis(_bits(self.accepted), np.maximum(self.answer, 0)[:, None], axis=1)[:, 0]
        return np.asarray((self.answer != _NONE) & ~right, dtype=np.bool_)


def _bits(masks: npt.NDArray[np.uint8]) -> Flags:
    """Which of the three labels each gold set accepts."""
    return np.asarray((masks[:, None] >> np.arange(len(LABELS), dtype=np.uint8)) & 1, dtype=np.bool_)


@dataclass(frozen=True)
class _Kind:
    """Wrong answers of one sort: with this answer, and with this gold where one is given."""

    answer: int
    gold: int | None = None

    def among(self, side: _LabelledAnswers) -> Counted:
        """The errors of a side, and which of them are of this kind."""
        of_kind = side.wrong & (side.answer == self.answer)
        return Counted(side.wrong, of_kind if self.gold is None else of_kind & (side.gold == self.gold))


def confusion(rows: ScoredRows) -> Confusion | None:
    """Gold against answer, for the gold labels that occur; None where gold accepts several labels."""
    side = _side(rows)
    if not side.single:
        return None
    answers = [*enumerate(rows.labels), (_NONE, UNANSWERED)]
    return {
        label: {name: int(((side.gold == place) & (side.answer == answer)).sum()) for answer, name in answers}
        for place, label in enumerate(rows.labels)
        if (side.gold == place).any()
    }


def errors_by_kind(rows: ScoredRows, control: ScoredRows | None = None, pairs: Pairing | None = None) -> Errors:
    """The errors of a suite by kind, beside those of its control, paired with it, where gold is the same there.

    A kind is named after the wrong answer (``false neutral``) or after gold and answer (``E-C``: entailment taken for
    contradiction); a two-way model, and gold that accepts several labels, has the former only. The tests are not
    corrected yet.
    """
    side = _side(rows)
    note = "" if side.single else "gold accepts several labels, so errors are told apart by the answer alone"
    kinds = _kinds(rows.labels, side)
    counts = {name: _count_kind(rows, kind.among(side)) for name, kind in kinds.items()}
    total = int(side.wrong.sum())
    before = _side(control) if control else None
    if pairs is None or before is None or not pairs.alike:
        return Errors(total, None, counts, note)
    compared = {
        name: _compare_kind(counts[name], pairs, kind.among(side), kind.among(before)) for name, kind in kinds.items()
    }
    return Errors(total, pairs.once(before.wrong), compared, note)


def common_errors(models: Sequence[ScoredRows]) -> Errors:
    """The errors that all of some models make on the rows that all were asked, by kind.

    An error is of a kind where all give the same wrong answer; where they err in different ways it is of none, but
    counts. Naik et al. (2018), section 4.3, look at the numerical errors of two systems so.
    """
    labels = models[0].labels
    if any(rows.labels != labels for rows in models):
        return Errors(note="the models do not have the same labels, so their errors are not of the same kinds")
    ids = [rows.digests("id") for rows in models]
    shared = reduce(np.intersect1d, ids)
    places = [np.argsort(digests)[np.searchsorted(np.sort(digests), shared)] for digests in ids]
    masks = models[0].gold[places[0]]
    if not np.isin(masks, [GOLD_MASKS[label] for label in labels]).all():
        return Errors(note="gold accepts several labels, so errors have no kind")
    answers = np.stack([rows.answer[place] for rows, place in zip(models, places, strict=True)])
    right = np.stack([rows.correct[place] for rows, place in zip(models, places, strict=True)])
    wrong = (answers != _NONE).all(axis=0) & ~right.any(axis=0)
    alike = wrong & (answers == answers[0]).all(axis=0)
    flags = {}
    for place, label in enumerate(labels):
        others = [gold for gold in labels if gold != label and (masks == GOLD_MASKS[gold]).any()]
        if others:
            flags[f"false {label}"] = alike & (answers[0] == place)
        for gold in others if labels == LABELS else ():
            flags[pair_name(gold, label)] = flags[f"false {label}"] & (masks == GOLD_MASKS[gold])
    groups, strata = models[0].groups[places[0]], models[0].strata[places[0]]
    kinds = {
        name: ErrorKind(
            int(of_kind.sum()),
            Counted(wrong, of_kind).estimate(groups, strata),
            rate(of_kind, groups=groups, strata=strata),
        )
        for name, of_kind in flags.items()
    }
    return Errors(int(wrong.sum()), None, kinds)


def correct_kinds(suites: Mapping[str, Errors]) -> dict[str, Errors]:
    """The same errors with p adjusted (Holm): a family is one measure over all kinds and suites of a run."""
    tested = [(suite, name) for suite in suites for name, kind in suites[suite].kinds.items() if kind.vs_control]
    beside = {key: suites[key[0]].kinds[key[1]].vs_control for key in tested}
    for measure in MEASURES:
        ps = holm([getattr(control, measure).p for control in beside.values()])
        for (key, control), p in zip(list(beside.items()), ps, strict=True):
            test = replace(getattr(control, measure), p_adjusted=float(p))
            beside[key] = replace(control, **{measure: test}) if control else None
    return {
        suite: replace(
            errors,
            kinds={
                name: replace(kind, vs_control=beside.get((suite, name), kind.vs_control))
                for name, kind in errors.kinds.items()
            },
        )
        for suite, errors in suites.items()
    }


def _side(rows: ScoredRows) -> _LabelledAnswers:
    """Gold and answers of a suite."""
    gold = np.full(len(rows.gold), _NONE, dtype=np.int8)
    for place, label in enumerate(rows.labels):
        gold[rows.gold == GOLD_MASKS[label]] = place
    return _LabelledAnswers(gold, rows.answer, rows.gold)


def _kinds(labels: Sequence[str], side: _LabelledAnswers) -> dict[str, _Kind]:
    """Every kind of error that the gold labels allow, by its name."""
    occurring = [place for place in range(len(labels)) if (side.gold == place).any()]
    answers = [place for place in range(len(labels)) if not side.accepts(place).all()]
    kinds = {f"false {labels[answer]}": _Kind(answer) for answer in answers}
    if labels == LABELS and side.single:
        pairs = [(gold, answer) for gold in occurring for answer in answers if gold != answer]
        kinds |= {pair_name(labels[gold], labels[answer]): _Kind(answer, gold) for gold, answer in pairs}
    return kinds


def pair_name(gold: str, answer: str) -> str:
    """``E-C`` for entailment taken for contradiction."""
    return f"{gold[0]}-{answer[0]}".upper()


def kind_title(kind: str) -> str:
    """A kind as people write it: ``E–C`` for ``E-C``."""
    return kind.replace("-", "–") if len(kind) == 3 else kind


def kinds_table(
    table_id: str, caption: str, models: Mapping[str, Errors], *, measure: str = "share", kinds: Sequence[str] = ()
) -> Iterator[Table]:
    """A table of the models' kinds of errors, all or some, beside those on the untouched pairs where there are any.

    ``measure`` is the share among errors or the rate among all pairs. No table where there is no kind.
    """
    compared = any(errors.compared for errors in models.values())
    columns = [Column("changed pairs" if compared else measure), Column("pairs", "count")]
    if compared:
        columns += [
            Column("untouched pairs", role="control"),
            Column("untouched", "count", role="control"),
            Column("difference", "points"),
            Column("adjusted p", "p"),
        ]
    rows = tuple(
        Row(kind_title(name), tuple(_kind_cells(kind, measure, compared=compared)), model if len(models) > 1 else "")
        for model, errors in models.items()
        for name, kind in errors.kinds.items()
        if not kinds or name in kinds
    )
    if rows:
        yield Table(table_id, caption, tuple(columns), rows, "kind")


def _kind_cells(kind: ErrorKind, measure: str, *, compared: bool) -> Iterator[Cell]:
    yield kind.share if measure == "share" else kind.rate
    yield kind.count
    if compared:
        if kind.vs_control is None:
            yield from (None, None, None, None)
            return
        test = kind.vs_control.share if measure == "share" else kind.vs_control.rate
        yield from (test.control, kind.vs_control.count, test.difference, PValue(test.p_adjusted))


def confusion_table(table_id: str, caption: str, models: Mapping[str, Confusion]) -> Iterator[Table]:
    """A table of answers by gold, with a column of pairs without an answer only where there are any."""
    golds = [answers for counts in models.values() for answers in counts.values()]
    names = dict.fromkeys(name for answers in golds for name in answers)
    shown = [name for name in names if name != UNANSWERED or any(answers.get(name) for answers in golds)]
    rows = []
    for model, counts in models.items():
        for gold, answers in counts.items():
            numbers = [answers.get(name, 0) for name in shown]
            total = sum(answers.values())
            cells = (*numbers, *(number / total if total else None for number in numbers))
            rows.append(Row(gold, cells, model if len(models) > 1 else ""))
    columns = [Column(name, "count", group="answered") for name in shown]
    columns += [Column(name, group="% of that gold") for name in shown]
    if rows:
        yield Table(table_id, caption, tuple(columns), tuple(rows), "gold")


def _count_kind(rows: ScoredRows, counted: Counted) -> ErrorKind:
    share = counted.estimate(rows.groups, rows.strata)
    return ErrorKind(int(counted.of_kind.sum()), share, rows.rate(counted.of_kind))


def _compare_kind(kind: ErrorKind, pairs: Pairing, after: Counted, before: Counted) -> ErrorKind:
    """The kind beside the same kind on the untouched pairs, of which those compared count once each."""
    changed, untouched = (
        Counted(taken(side.counted, places), taken(side.of_kind, places))
        for side, places in ((after, pairs.own), (before, pairs.control))
    )
    test = share_test(changed, untouched, groups=pairs.groups)
    change = share_difference(changed, untouched, groups=pairs.groups, strata=pairs.strata)
    control = replace(untouched.estimate(pairs.groups, pairs.strata), n=pairs.once(before.counted))
    share = AgainstControl(control, change, test.name, test.p)
    rates = pairs.rate(after.of_kind, before.of_kind)
    return replace(kind, vs_control=ErrorsAgainstControl(pairs.once(before.of_kind), share, rates))
