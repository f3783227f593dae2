"""What models answered on swap suites and their controls, with what a training set says of the word pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.errors import AcidtestError
from acidtest.core.run import Run
from acidtest.core.suite import CONTROL
from acidtest.studies.controls import Pairing, pairing
from acidtest.studies.lexical_rows import WORDS
from acidtest.studies.rows import ScoredRows, score_rows
from acidtest.text.polarity import CATEGORIES, Polarities, matches

Flags = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int64]

PROXY_SIDES = ("premise", "hypothesis")


@dataclass(frozen=True)
class Side:
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


@dataclass(frozen=True)
class SwapSet:
    """One model's answers on a suite and its control."""

    model: str
    suite: str
    signature: str
    own: Side
    control: Side
    pairing: Pairing

    @property
    def changed(self) -> Flags:
        """Whether a row's gold differs from that of the row it was made from."""
        pairs, changed = self.pairing, np.zeros(self.own.rows.height, dtype=np.bool_)
        changed[pairs.own] = self.own.rows.gold[pairs.own] != self.control.rows.gold[pairs.control]
        return changed

    def with_polarity(self, told: Polarities) -> SwapSet:
        """The same with what the training set says."""
        return replace(self, own=_with_polarity(self.own, told), control=_with_polarity(self.control, told))


def swap_sets(model: str, runs: Sequence[Run]) -> list[SwapSet]:
    """What one model answered on swap suites whose control its run holds too."""
    found: dict[str, SwapSet] = {}
    for run in runs:
        for suite, card in run.header.suites.items():
            if (
                suite.endswith(CONTROL)
                or not set(WORDS) <= set(card.columns)
                or suite + CONTROL not in run.header.suites
            ):
                continue
            own, control = score_rows(run, suite), score_rows(run, suite + CONTROL)
            pairs = pairing(own, control)
            if pairs is None:
                continue
            signature = run.header.signature(suite)
            for sample, changed, untouched in _samples(suite, own, control, pairs):
                if sample in found:
                    raise AcidtestError(f"two runs of {model} hold {suite!r}; pass one of them")
                matched = pairing(changed, untouched)
                assert matched is not None
                found[sample] = SwapSet(model, sample, signature, _side(changed), _side(untouched), matched)
    return list(found.values())


def _samples(
    suite: str, own: ScoredRows, control: ScoredRows, pairs: Pairing
) -> Iterator[tuple[str, ScoredRows, ScoredRows]]:
    """The samples of the paper in a suite: its name, changed rows and controls, each control once.

    Proxies are two samples, I_TA2 and I_TA3: those in the premise, and those in the hypothesis.
    """
    swap = own.column(pl.col("swap").cast(pl.String)) if "swap" in own.card.columns else pl.Series([""] * own.height)
    sides = [side for side in PROXY_SIDES if (swap == f"proxy in the {side}").any()]
    if not sides:
        yield suite, own, _chosen(control, _first_places(control))
        return
    for side in sides:
        changed = (swap == f"proxy in the {side}").fill_null(value=False).to_numpy()
        used = pairs.control[changed[pairs.own]]
        if len(used):
            yield f"{suite} ({side})", _chosen(own, np.flatnonzero(changed)), _chosen(control, np.unique(used))


def _first_places(rows: ScoredRows) -> npt.NDArray[np.intp]:
    """Where each id stands first."""
    return np.sort(np.unique(rows.digests("id"), return_index=True)[1])


def _chosen(rows: ScoredRows, places: npt.NDArray[np.integer[Any]]) -> ScoredRows:
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


def _side(rows: ScoredRows) -> Side:
    """The rows with their words in lower case, null where a control does not tell them; polarity is still to come."""
    height = rows.height
    words = pl.DataFrame({name: pl.Series([None] * height, dtype=pl.String) for name in WORDS})
    if set(WORDS) <= set(rows.frame.columns):
        words = rows.frame.select(pl.col(WORDS).cast(pl.String).str.to_lowercase())
    return Side(rows, words, pl.Series([None] * height, dtype=pl.String), np.zeros(height, dtype=np.bool_))


def word_pairs(sets: Sequence[SwapSet]) -> pl.DataFrame:
    """Every ordered word pair that some rows turn on, once."""
    return pl.concat([side.words for each in sets for side in (each.own, each.control)]).drop_nulls().unique()


def _with_polarity(side: Side, told: Polarities) -> Side:
    polarity = side.words.join(told.frame, on=WORDS, how="left", maintain_order="left")["polarity"]
    against = polarity.is_not_null().to_numpy() & ~matches(polarity, side.rows.gold)
    return replace(side, polarity=polarity, against=against)
