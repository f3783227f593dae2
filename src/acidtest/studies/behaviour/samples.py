"""Answers to swap suites and controls, the polarity of their word pairs in training, and accuracy by subset."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.estimate import Estimate
from acidtest.core.labels import LABELS
from acidtest.core.run import Run, runs_by_suite
from acidtest.core.suite import CONTROL
from acidtest.pairs.counts import CATEGORIES, Polarities, matches_gold
from acidtest.studies.scoring.controls import Pairing, pairing, repeats
from acidtest.studies.scoring.rows import WORDS, Flags, ScoredRows, score_rows, select_rows

Codes = npt.NDArray[np.int64]

CHANGED_GOLD, UNSEEN_PAIRS, AGAINST_POLARITY = SUBSETS = ("gold changed", "unseen pairs", "polarity is not gold")
"""The subsets in table 1 of the paper."""


@dataclass(frozen=True)
class SwapSample:
    """A line of table 1: accuracy on a whole sample and on its subsets; None if the paper does not define the subset.

    The subsets: gold differs from the control's; no training pair has the words in this order; the polarity is another
    label than gold, a tie, or none.
    """

    suite: str
    whole: Estimate
    subsets: Mapping[str, Estimate | None]


@dataclass(frozen=True)
class SampleRows:
    """The rows of a suite or of its control, with the polarity of their word pairs.

    ``words`` are in lower case, null if a control does not have them. ``polarity`` is an index into ``CATEGORIES``, -1
    if unknown; ``against`` flags rows whose polarity is known and is not gold.
    """

    rows: ScoredRows
    words: pl.DataFrame
    polarity: Codes = field(default_factory=lambda: np.zeros(0, np.int64))
    against: Flags = field(default_factory=lambda: np.zeros(0, np.bool_))

    @property
    def pairs(self) -> Codes:
        """An integer for each row that identifies its ordered word pair."""
        return self.words.select(pl.struct(WORDS).rank("dense").fill_null(0)).to_series().to_numpy().astype(np.int64)

    @property
    def answers(self) -> Codes:
        """The code of each row's answer; -1 if there is none."""
        return self.rows.answer.astype(np.int64)

    def accuracy(self, chosen: Flags | None, what: str) -> Estimate:
        """Accuracy on the chosen rows, or on all; ``what`` names them in the note if there are none."""
        return self.rows.rate(self.rows.correct, chosen, empty=f"no {what}")

    def with_polarity(self, polarities: Polarities) -> SampleRows:
        """The rows with ``polarity`` and ``against`` filled in."""
        polarity = self.words.join(polarities.frame, on=WORDS, how="left", maintain_order="left")["polarity"]
        numbers = polarity.replace_strict([*CATEGORIES], range(len(CATEGORIES)), default=-1, return_dtype=pl.Int64)
        against = polarity.is_not_null().to_numpy() & ~matches_gold(polarity, self.rows.gold)
        return replace(self, polarity=numbers.to_numpy(), against=against)


@dataclass(frozen=True)
class SwapSet:
    """One model's answers to the swapped pairs of a suite and to their controls."""

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


def load_swap_sets(model: str, runs: Sequence[Run]) -> list[SwapSet]:
    """One model's answers to each swap suite whose control is in the same run."""
    sets = []
    for suite, run in runs_by_suite(model, runs, _is_swap_suite).items():
        swapped, control = score_rows(run, suite), score_rows(run, suite + CONTROL)
        for sample, places in _sample_places(suite, swapped).items():
            rows = swapped if sample == suite else select_rows(swapped, places)
            pairs = pairing(rows, control)
            if pairs is None:
                continue
            # A whole suite uses all its controls, each once; a part of a suite uses those it was made from.
            first_places = np.unique(control.digests("id"), return_index=True)[1]
            used = np.sort(first_places) if sample == suite else np.unique(pairs.control)
            untouched = control if len(used) == control.height else select_rows(control, used)
            matched = pairing(rows, untouched)
            assert matched is not None
            both = _sample_rows(rows), _sample_rows(untouched)
            sets.append(SwapSet(model, sample, run.header.signature(suite), *both, matched))
    return sets


def _is_swap_suite(run: Run, suite: str) -> bool:
    suites = run.header.suites
    return set(WORDS) <= set(suites[suite].columns) and suite + CONTROL in suites


def _sample_places(suite: str, swapped: ScoredRows) -> dict[str, npt.NDArray[np.intp]]:
    """The paper's samples in a suite, each with the indices of its rows.

    A suite of proxies has two, I_TA2 and I_TA3: proxies in the premise, and in the hypothesis. Others have one.
    """
    places: dict[str, npt.NDArray[np.intp]] = {}
    if "swap" in swapped.card.columns:
        swap = swapped.column(pl.col("swap").cast(pl.String))
        for side in ("premise", "hypothesis"):
            places[f"{suite} ({side})"] = np.flatnonzero((swap == f"proxy in the {side}").fill_null(False))
    proxies = {sample: rows for sample, rows in places.items() if len(rows)}
    return proxies or {suite: np.arange(swapped.height)}


def _sample_rows(rows: ScoredRows) -> SampleRows:
    if set(WORDS) <= set(rows.frame.columns):
        return SampleRows(rows, rows.frame.select(pl.col(WORDS).cast(pl.String).str.to_lowercase()))
    return SampleRows(rows, pl.DataFrame({name: pl.Series([None] * rows.height, dtype=pl.String) for name in WORDS}))


def sample_lines(sample: SwapSet) -> tuple[SwapSample, SwapSample]:
    """The lines of table 1: the control's, then that of the swapped pairs."""
    swapped, control = sample.swapped, sample.control
    before, after = (rows.accuracy(rows.against, "pair whose polarity is not gold") for rows in (control, swapped))
    subsets = {
        CHANGED_GOLD: swapped.accuracy(sample.changed, "pair whose gold changed"),
        UNSEEN_PAIRS: swapped.accuracy(swapped.polarity == len(CATEGORIES) - 1, "unseen word pair"),
        AGAINST_POLARITY: after,
    }
    none = {CHANGED_GOLD: None, UNSEEN_PAIRS: None, AGAINST_POLARITY: before}
    return (
        SwapSample(sample.suite + CONTROL, control.accuracy(None, "pairs"), none),
        SwapSample(sample.suite, swapped.accuracy(None, "pairs"), subsets),
    )


def repeated_errors(sample: SwapSet) -> Estimate:
    """Share of repeated predictions among errors that might repeat one, where the swap changed gold.

    These are errors on rows of a single gold label for which the prediction before the swap is wrong now.
    """
    pairs, swapped = sample.pairing, sample.swapped.rows
    if len(swapped.labels) < len(LABELS):
        return Estimate(math.nan, note="a two-way model has one way to be wrong")
    before, gold = sample.control.answers[pairs.control], swapped.gold[pairs.own]
    single = np.isin(gold, [1 << bit for bit in range(len(LABELS))])
    might = single & ~swapped.correct[pairs.own] & (gold != 1 << np.maximum(before, 0))
    return repeats(swapped, sample.control.rows, pairs, might)


def errors_following_polarity(rows: SampleRows) -> tuple[Estimate, float]:
    """Among errors on pairs whose polarity is one label and not gold, the share that answer that label.

    The second value is its expectation if answers did not depend on polarity among the errors of each gold.
    """
    single = (rows.polarity >= 0) & (rows.polarity < len(LABELS))
    wrong = rows.against & single & ~rows.rows.correct & (rows.answers >= 0)
    expected = 0.0
    for gold in np.unique(rows.rows.gold[wrong]):
        chosen = wrong & (rows.rows.gold == gold)
        polarity, answer = (np.bincount(codes[chosen], minlength=3) for codes in (rows.polarity, rows.answers))
        expected += float(polarity @ answer) / int(chosen.sum())
    by_chance = expected / int(wrong.sum()) if wrong.any() else math.nan
    if len(rows.rows.labels) < len(LABELS):
        return Estimate(math.nan, note="a two-way model has one way to be wrong"), by_chance
    follows, none = rows.answers == rows.polarity, "no error against a polarity of one label"
    return rows.rows.rate(follows, wrong, empty=none), by_chance
