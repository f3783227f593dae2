"""Answers on swap suites and their controls, what a training set says of the word pairs, and accuracies of subsets."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.errors import AcidtestError
from acidtest.core.estimate import Estimate
from acidtest.core.labels import LABELS
from acidtest.core.run import Run
from acidtest.core.suite import CONTROL
from acidtest.studies.controls import Pairing, pairing
from acidtest.studies.rows import WORDS, Flags, ScoredRows, score_rows
from acidtest.text.pair_counts import CATEGORIES, Polarities, matches_gold

Codes = npt.NDArray[np.int64]

PROXY_SIDES = ("premise", "hypothesis")
CHANGED_GOLD, UNSEEN_PAIRS, AGAINST_POLARITY = SUBSETS = ("gold changed", "unseen pairs", "polarity is not gold")
"""The subsets of table 1."""


@dataclass(frozen=True)
class SwapSample:
    """A line of table 1: accuracy on a whole sample and on its subsets; None where the paper defines no subset.

    Gold changed: gold differs from the control's. Unseen pairs: no training pair has the words in this order. Polarity
    is not gold: the polarity is another label, a tie, or none.
    """

    suite: str
    whole: Estimate
    subsets: Mapping[str, Estimate | None]


@dataclass(frozen=True)
class SampleRows:
    """The rows of a suite or of its control, with what the training set says of their word pairs."""

    rows: ScoredRows
    words: pl.DataFrame
    polarity: pl.Series
    against: Flags

    @property
    def codes(self) -> Codes:
        """The number of each row's polarity; -1 where it is not known."""
        numbers = {name: number for number, name in enumerate(CATEGORIES)}
        return self.polarity.replace_strict(numbers, default=-1, return_dtype=pl.Int64).to_numpy()

    @property
    def known(self) -> Flags:
        """Whether the polarity of each row is known."""
        return self.polarity.is_not_null().to_numpy()

    @property
    def pairs(self) -> Codes:
        """A number for each row's ordered word pair."""
        return (self.words.select(pl.struct(WORDS).rank("dense").fill_null(0)).to_series()).to_numpy().astype(np.int64)

    @property
    def answers(self) -> Codes:
        """The number of each row's answer; -1 where there is none."""
        return self.rows.answer.astype(np.int64)

    def accuracy(self, chosen: Flags | None, what: str) -> Estimate:
        """Accuracy on some rows or all; ``what`` names them where there are none."""
        estimate = self.rows.rate(self.rows.correct, chosen)
        return estimate if estimate.known else replace(estimate, note=f"no {what}")


@dataclass(frozen=True)
class SwapSet:
    """One model's answers on the swapped pairs of a suite and on their controls."""

    model: str
    suite: str
    signature: str
    swapped: SampleRows
    control: SampleRows
    pairing: Pairing

    @property
    def changed(self) -> Flags:
        """Whether a row's gold differs from that of the row it was made from."""
        pairs, changed = self.pairing, np.zeros(self.swapped.rows.height, dtype=np.bool_)
        changed[pairs.own] = self.swapped.rows.gold[pairs.own] != self.control.rows.gold[pairs.control]
        return changed

    def with_polarity(self, polarities: Polarities) -> SwapSet:
        """The same with what the training set says."""
        swapped, control = (_with_polarity(rows, polarities) for rows in (self.swapped, self.control))
        return replace(self, swapped=swapped, control=control)


def load_swap_sets(model: str, runs: Sequence[Run]) -> list[SwapSet]:
    """What one model answered on swap suites whose control its run has too."""
    sets: dict[str, SwapSet] = {}
    for run in runs:
        for suite, card in run.header.suites.items():
            if (
                suite.endswith(CONTROL)
                or not set(WORDS) <= set(card.columns)
                or suite + CONTROL not in run.header.suites
            ):
                continue
            swapped, control = score_rows(run, suite), score_rows(run, suite + CONTROL)
            pairs = pairing(swapped, control)
            if pairs is None:
                continue
            signature = run.header.signature(suite)
            for sample, changed, untouched in _split_samples(suite, swapped, control, pairs):
                if sample in sets:
                    raise AcidtestError(f"two runs of {model} hold {suite!r}; pass one of them")
                matched = pairing(changed, untouched)
                assert matched is not None
                sets[sample] = SwapSet(
                    model, sample, signature, _sample_rows(changed), _sample_rows(untouched), matched
                )
    return list(sets.values())


def _split_samples(
    suite: str, swapped: ScoredRows, control: ScoredRows, pairs: Pairing
) -> Iterator[tuple[str, ScoredRows, ScoredRows]]:
    """The samples of the paper in a suite: name, changed rows and controls, each control once.

    Proxies are two samples, I_TA2 and I_TA3: those in the premise, and those in the hypothesis.
    """
    known = "swap" in swapped.card.columns
    swap = swapped.column(pl.col("swap").cast(pl.String)) if known else pl.Series([""] * swapped.height)
    sides = [side for side in PROXY_SIDES if (swap == f"proxy in the {side}").any()]
    if not sides:
        yield suite, swapped, _select_rows(control, _first_places(control))
        return
    for side in sides:
        changed = (swap == f"proxy in the {side}").fill_null(value=False).to_numpy()
        used = pairs.control[changed[pairs.own]]
        if len(used):
            rows = _select_rows(swapped, np.flatnonzero(changed)), _select_rows(control, np.unique(used))
            yield f"{suite} ({side})", *rows


def _first_places(rows: ScoredRows) -> npt.NDArray[np.intp]:
    """The first place of each id."""
    return np.sort(np.unique(rows.digests("id"), return_index=True)[1])


def _select_rows(rows: ScoredRows, places: npt.NDArray[np.integer[Any]]) -> ScoredRows:
    """Some of the rows, by their places."""
    if len(places) == rows.height:
        return rows
    kept = rows.rows.with_row_index("_place").filter(
        pl.col("_place").is_in(pl.Series(places).cast(pl.UInt32).implode())
    )
    return replace(
        rows,
        rows=kept.drop("_place"),
        gold=rows.gold[places],
        answer=rows.answer[places],
        correct=rows.correct[places],
    )


def _sample_rows(rows: ScoredRows) -> SampleRows:
    """The rows with their words in lower case, null where a control does not name them; polarity is added later."""
    height = rows.height
    words = pl.DataFrame({name: pl.Series([None] * height, dtype=pl.String) for name in WORDS})
    if set(WORDS) <= set(rows.frame.columns):
        words = rows.frame.select(pl.col(WORDS).cast(pl.String).str.to_lowercase())
    return SampleRows(rows, words, pl.Series([None] * height, dtype=pl.String), np.zeros(height, dtype=np.bool_))


def word_pairs(sets: Sequence[SwapSet]) -> pl.DataFrame:
    """Every ordered word pair that some rows turn on, once."""
    return (
        pl.concat([rows.words for swap_set in sets for rows in (swap_set.swapped, swap_set.control)])
        .drop_nulls()
        .unique()
    )


def _with_polarity(rows: SampleRows, polarities: Polarities) -> SampleRows:
    polarity = rows.words.join(polarities.frame, on=WORDS, how="left", maintain_order="left")["polarity"]
    against = polarity.is_not_null().to_numpy() & ~matches_gold(polarity, rows.rows.gold)
    return replace(rows, polarity=polarity, against=against)


def control_sample(sample: SwapSet) -> SwapSample:
    """The control's line of table 1."""
    control = sample.control
    subsets = {CHANGED_GOLD: None, UNSEEN_PAIRS: None, AGAINST_POLARITY: _accuracy_against_polarity(control)}
    return SwapSample(sample.suite + CONTROL, control.accuracy(None, "pairs"), subsets)


def swapped_sample(sample: SwapSet) -> SwapSample:
    """The swapped pairs' line of table 1."""
    swapped = sample.swapped
    unseen = (swapped.polarity == CATEGORIES[-1]).fill_null(value=False).to_numpy()
    subsets: dict[str, Estimate | None] = {
        CHANGED_GOLD: swapped.accuracy(sample.changed, "pair whose gold changed"),
        UNSEEN_PAIRS: swapped.accuracy(unseen, "unseen word pair"),
        AGAINST_POLARITY: _accuracy_against_polarity(swapped),
    }
    return SwapSample(sample.suite, swapped.accuracy(None, "pairs"), subsets)


def _accuracy_against_polarity(rows: SampleRows) -> Estimate:
    return rows.accuracy(rows.against, "pair whose polarity is not gold")


def accuracy_by_polarity(rows: SampleRows) -> dict[str, Estimate]:
    """Accuracy on the pairs of each polarity that there is."""
    codes = rows.codes
    numbers = {name: number for number, name in enumerate(CATEGORIES) if (codes == number).any()}
    return {name: rows.accuracy(codes == number, name) for name, number in numbers.items()}


def right_by_polarity(rows: SampleRows) -> dict[str, tuple[int, int]]:
    """How many pairs of each polarity are right, and how many there are."""
    codes, correct = rows.codes, rows.rows.correct
    chosen = {name: codes == number for number, name in enumerate(CATEGORIES)}
    return {name: (int(correct[flags].sum()), int(flags.sum())) for name, flags in chosen.items()}


def repeated_answers(sample: SwapSet, *, errors: bool = False) -> Estimate:
    """Among pairs whose gold changed and that were answered both times, the share of the same answer.

    ``errors``: only where gold is one label, the answer is wrong and the one given before would be wrong, too.
    """
    pairs, swapped = sample.pairing, sample.swapped
    if errors and len(swapped.rows.labels) < len(LABELS):
        return Estimate(math.nan, note="a two-way model has one way to be wrong")
    after, before = swapped.answers[pairs.own], sample.control.answers[pairs.control]
    gold = swapped.rows.gold[pairs.own]
    chosen = sample.changed[pairs.own] & (after >= 0) & (before >= 0)
    if errors:
        single = np.isin(gold, [1 << bit for bit in range(len(LABELS))])
        chosen &= single & ~swapped.rows.correct[pairs.own] & (gold != 1 << np.maximum(before, 0))
    same, rows = np.zeros((2, swapped.rows.height), dtype=np.bool_)
    same[pairs.own], rows[pairs.own] = after == before, chosen
    share = swapped.rows.rate(same, rows)
    return share if share.known else replace(share, note=f"no {'error on a ' if errors else ''}pair whose gold changed")


def errors_following_polarity(rows: SampleRows) -> Estimate:
    """Among errors on pairs with a polarity of one label that is not gold, the share that answers that label."""
    if len(rows.rows.labels) < len(LABELS):
        return Estimate(math.nan, note="a two-way model has one way to be wrong")
    share = rows.rows.rate(rows.answers == rows.codes, _misleading(rows))
    return share if share.known else replace(share, note="no error against a polarity of one label")


def following_by_chance(rows: SampleRows) -> float:
    """What ``errors_following_polarity`` would be if the errors of each gold were spread over its pairs at random."""
    wrong = _misleading(rows)
    if not wrong.any():
        return math.nan
    expected = 0.0
    for gold in np.unique(rows.rows.gold[wrong]):
        chosen = wrong & (rows.rows.gold == gold)
        polarity, answer = (np.bincount(codes[chosen], minlength=len(LABELS)) for codes in (rows.codes, rows.answers))
        expected += float(polarity @ answer) / int(chosen.sum())
    return expected / int(wrong.sum())


def _misleading(rows: SampleRows) -> Flags:
    """Wrongly answered rows whose polarity is one label other than gold."""
    single = (rows.codes >= 0) & (rows.codes < len(LABELS))
    return np.asarray(rows.against & single & ~rows.rows.correct & (rows.answers >= 0), dtype=np.bool_)
