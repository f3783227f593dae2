"""Suite ``sample``, drawn evenly over labels and genres; and parts of other suites.

A part is a sample in the proportions of the whole, or the pairs that are not in another suite.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import Draws, apportion
from acidtest.core.errors import AcidtestError, list_some
from acidtest.core.logs import log
from acidtest.core.suite import CROSS, Suite
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.corpus import CORPUS_LICENCE, advise_fewer, source_pairs

CITATION = "acidtest; as Joshi et al. (2020), section 3, drew pairs to annotate"

_SIZE = "_size"
_MOST_CELLS = 10_000


@generator(
    "sample",
    summary="Pairs as they are, drawn evenly over label and genre, to be annotated",
    rows=720,
    source="pairs",
    citation=CITATION,
    licence="that of the corpus",
)
def sample(request: Request, *, by: tuple[str, ...] = ("label", "genre")) -> Suite:
    """Equally many pairs of every label and genre, or of every combination of other columns (``by``).

    -n is the number in all; without it, the largest number that all combinations can have. Where a combination has too
    few, the others give more, and a warning says which. Pairs keep their ids, so that annotations can be joined to the
    corpus. Rows without a value of such a column are left out.
    """
    pairs = source_pairs(replace(request, n=None))
    _require_factors(pairs, by)
    rows = pairs.frame.select("id", *by).collect()
    known = rows.drop_nulls()
    cells = _cells(known, by)
    sizes = cells[_SIZE].to_numpy()
    filled = sizes[sizes > 0]
    number = request.n or (int(filled.min()) * len(filled) if len(filled) else 0)
    if number > known.height and not request.at_most:
        raise AcidtestError(
            f"{number:,} pairs were asked for, but {pairs.name!r} has only {known.height:,} with {' and '.join(by)}; "
            f"{advise_fewer(known.height)}"
        )
    cells = _shuffle(cells, by, Draws(request.seed, "sample cells"))
    cells = cells.with_columns(_quota=_even_quotas(cells, by, number))
    _warn_of_small_cells(cells, by, number)
    # Whether a row is drawn depends on its id and the seed, not on its position.
    keyed = known.with_columns(_draw=pl.Series(Draws(request.seed, "sample").bits(digests(known["id"]))))
    keyed = keyed.join(cells, on=list(by), how="left", maintain_order="left")
    chosen = keyed.filter(pl.col("_draw").rank("ordinal").over(by) <= pl.col("_quota"))["id"]
    card = replace(
        pairs.card,
        name="sample",
        version=1,
        seed=request.seed,
        arguments={"from": pairs.name, "by": ",".join(by)},
        citation=CITATION,
        licence=pairs.card.licence or CORPUS_LICENCE,
        note="",
        left_out={f"without {' or '.join(by)}": rows.height - known.height} if known.height < rows.height else {},
    )
    return replace(pairs, frame=pairs.frame.filter(pl.col("id").is_in(chosen.implode())), card=card, control=None)


def _require_factors(pairs: Suite, by: Sequence[str]) -> None:
    usable = ["label", *pairs.card.factors]
    missing = [name for name in by if name not in usable]
    if not by or missing:
        problem = f"no column of few values called {missing[0]!r}" if missing else "nothing to draw evenly over"
        raise AcidtestError(
            f"{pairs.name!r} has {problem}; it has {list_some(usable, 20)}: name some with --by label,NAME"
        )


def _cells(rows: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Every combination of values with the number of its rows, which may be 0."""
    values = [rows.select(pl.col(name).unique()).sort(name) for name in by]
    count = int(np.prod([column.height for column in values]))
    if count > _MOST_CELLS:
        raise AcidtestError(f"--by {','.join(by)} gives {count:,} combinations; name columns of fewer values")
    grid = reduce(lambda left, right: left.join(right, how="cross"), values)
    return grid.join(rows.group_by(by).len(_SIZE), on=list(by), how="left").with_columns(pl.col(_SIZE).fill_null(0))


def _shuffle(cells: pl.DataFrame, by: Sequence[str], draws: Draws) -> pl.DataFrame:
    """The combinations in random order: which of them get a remaining row must not depend on the alphabet."""
    names = cells.select(pl.concat_str(pl.col(by).fill_null(""), separator=CROSS)).to_series()
    return cells.with_columns(_turn=pl.Series(draws.bits(digests(names)))).sort("_turn")


def _even_quotas(cells: pl.DataFrame, by: Sequence[str], number: int) -> npt.NDArray[np.int64]:
    """How many rows each combination gives: the same number, give or take one, or all it has.

    The remaining rows are spread over the values of the first column, so that a small sample is still even over labels.
    """
    sizes = cells[_SIZE].to_numpy().astype(np.int64)
    levels = range(int(sizes.max(initial=0)) + 1)
    level = bisect_right(levels, number, key=lambda most: np.minimum(sizes, most).sum()) - 1
    quotas: npt.NDArray[np.int64] = np.minimum(sizes, level)
    larger = cells.with_row_index("_at").filter(pl.col(_SIZE) > level)
    rounds = larger.with_columns(_round=pl.col("_turn").rank("ordinal").over(by[0])).sort("_round", "_turn")
    quotas[rounds["_at"].head(number - quotas.sum()).to_numpy()] += 1
    return quotas


def _warn_of_small_cells(cells: pl.DataFrame, by: Sequence[str], number: int) -> None:
    """Warn of combinations with fewer rows than their share, and where there are fewer pairs than combinations."""
    if number < cells.height:
        log.warning(
            "%s pairs for %s combinations of %s: not every one of them has a pair",
            *(f"{number:,}", f"{cells.height:,}", " and ".join(by)),
        )
    short = cells.filter(pl.col(_SIZE) < number // cells.height).sort(_SIZE, *by)
    if short.height:
        names = [f"{CROSS.join(row[name] for name in by)} {row[_SIZE]:,}" for row in short.iter_rows(named=True)]
        log.warning(
            "%d of %d combinations of %s have fewer than %s pairs, so that the others give more: %s",
            *(short.height, cells.height, " and ".join(by), f"{number // cells.height:,}", list_some(names, 8)),
        )


def limit_rows(suite: Suite, limit: int, seed: int) -> Suite:
    """Keep ``limit`` rows, and the control rows that they derive from.

    A suite with a control is sampled by pairs: ``limit`` pairs are drawn from the control, in the proportions of its
    labels and strata, with draws that depend on the pair and the seed only, so that all suites of a corpus get the same
    pairs. Where several rows are made from a pair, every pair gives one before any gives a second, and pairs take turns
    in which one they give first. Pairs that the suite makes nothing of are replaced by others, in the order of their
    draws. ``sample_by`` on the card may say otherwise: a column of numbers says which rows come first (``cues``);
    ``base_id``, or another column, keeps the rows with the same value together, up to ``limit`` rows or a few more
    (``consistency``).

    Rows of a suite without a control are divided over labels first, then over one stratum column after the other, so
    that a subcase keeps its share however many templates it has.
    """
    if limit < 1:
        raise AcidtestError(f"--limit is a number of rows from 1 on, not {limit}")
    frame = suite.frame.collect()
    if limit >= frame.height:
        control = suite.control
        return suite if control is None or control.card.rows <= limit else _with_rows(suite, frame)
    if suite.card.sample_by in frame.columns:
        is_numbered = not frame[suite.card.sample_by].cast(pl.Int64, strict=False).has_nulls()
        if is_numbered:
            return _with_rows(suite, _sample_by_turns(frame, suite.card.sample_by, limit, seed))
        return _with_rows(suite, _sample_together(suite, frame, limit, seed))
    if suite.control is not None and not frame["base_id"].has_nulls():
        return _with_rows(suite, _sample_rows_of_pairs(suite, suite.control, limit, seed))
    pair = frame.select(pl.coalesce("base_id", "id")).to_series()
    return _with_rows(suite, frame.filter(_in_proportion(frame, _draw_pairs(pair, seed), limit, _strata(suite), seed)))


def _draw_pairs(ids: pl.Series, seed: int) -> pl.Series:
    """A random number for each pair, the same in every suite; pairs with low numbers are taken."""
    return pl.Series("_draw", Draws(seed, "limit").bits(digests(ids)))


def _strata(suite: Suite) -> list[str]:
    columns = suite.frame.collect_schema().names()
    return list(dict.fromkeys(["label", *(name for name in suite.card.strata if name in columns)]))


def _in_proportion(frame: pl.DataFrame, order: pl.Series, limit: int, strata: list[str], seed: int) -> pl.Series:
    """Whether each row is one of ``limit`` in the proportions of the strata; of a stratum, those low in ``order``."""
    keyed = frame.select(strata).with_columns(order.alias("_order"))
    sizes = _shuffle(keyed.group_by(strata).len("_quota"), strata, Draws(seed, "limit strata")).drop("_turn")
    quotas = _proportional_quotas(sizes, limit, strata)
    keyed = keyed.join(quotas, on=strata, how="left", nulls_equal=True, maintain_order="left")
    return keyed.select(pl.col("_order").rank("ordinal").over(strata) <= pl.col("_quota")).to_series()


def _sample_rows_of_pairs(suite: Suite, control: Suite, limit: int, seed: int) -> pl.DataFrame:
    """``limit`` rows: one of every pair of the sample, then one of every other pair, then a second of every pair."""
    pairs = control.frame.select("id", *_strata(control)).collect()
    draw = _draw_pairs(pairs["id"], seed)
    other = ~_in_proportion(pairs, draw, limit, _strata(control), seed)
    pairs = pairs.with_columns(draw, _other=other).sort("_other", "_draw")
    places = pairs.select(base_id="id", _place=pl.int_range(pl.len()), _turn=pl.int_range(pl.len()).over("label"))
    frame = suite.frame.collect()
    rows = frame.join(places, on="base_id", how="left", maintain_order="left")
    # Of a pair with k rows, that with the number of the pair's turn (modulo k) comes first.
    number = pl.col("id").rank("ordinal").cast(pl.Int64) - 1
    lap = (number - pl.col("_turn")).over("base_id") % pl.len().over("base_id").cast(pl.Int64)
    order = rows.select(pl.struct(lap.alias("_lap"), "_place").rank("ordinal")).to_series()
    # Strata of the corpus have been seen to; others, such as the changes of a user's file, have not.
    strata = [name for name in _strata(suite)[1:] if name not in control.card.strata]
    return frame.filter(_in_proportion(frame, order, limit, strata, seed) if strata else order <= limit)


def _sample_by_turns(frame: pl.DataFrame, turns: str, limit: int, seed: int) -> pl.DataFrame:
    """The rows of the first turns, ``limit`` rows in all; of the last turn some rows at random."""
    draw = pl.Series(Draws(seed, "limit").bits(digests(frame["id"])))
    order = frame.select(pl.col(turns).cast(pl.Int64, strict=False), draw=draw, row=pl.int_range(pl.len()))
    return frame[order.sort(turns, "draw")["row"].head(limit).sort()]


def _sample_together(suite: Suite, frame: pl.DataFrame, limit: int, seed: int) -> pl.DataFrame:
    """All rows of drawn values of ``sample_by``, ``limit`` rows or a few more, in the proportions of their labels."""
    column = suite.card.sample_by
    sizes = frame.group_by(column).agg(pl.len().alias("rows"), pl.col("label").first())
    if suite.control is not None:
        labels = suite.control.frame.select(pl.col("id").alias(column), "label").collect()
        sizes = sizes.drop("label").join(labels, on=column, how="left")
    totals = sizes.group_by("label").agg(pl.col("rows").sum()).sort("label")
    quotas = apportion(limit, totals["rows"].to_numpy(), most=totals["rows"].to_numpy())
    sizes = sizes.join(totals.select("label", quota=pl.Series(quotas)), on="label", nulls_equal=True)
    drawn = sizes.with_columns(_draw=pl.Series(Draws(seed, "limit").bits(digests(sizes[column])))).sort("_draw")
    rows_before = pl.col("rows").cum_sum().shift(1, fill_value=0).over("label")
    taken = drawn.filter(rows_before < pl.col("quota"))[column]
    return frame.filter(pl.col(column).is_in(taken.implode(), nulls_equal=True))


def _with_rows(suite: Suite, rows: pl.DataFrame) -> Suite:
    """The suite with only these rows, and its control with only the rows that they derive from."""
    control = suite.control
    if control is not None:
        control = replace(control, frame=control.frame.filter(pl.col("id").is_in(rows["base_id"].implode()))).sealed()
    return replace(suite, frame=rows.lazy(), control=control).sealed()


def _proportional_quotas(sizes: pl.DataFrame, limit: int, strata: list[str]) -> pl.DataFrame:
    """How many rows to take of each combination, in ``_quota``; in ``sizes`` that column holds how many it has."""
    first, *rest = strata
    totals = sizes.group_by(first, maintain_order=True).agg(pl.col("_quota").sum())["_quota"].to_numpy()
    shares = apportion(limit, totals, most=totals).tolist()
    if not rest:
        return sizes.with_columns(_quota=pl.Series(shares))
    parts = sizes.partition_by(first, maintain_order=True)
    return pl.concat(_proportional_quotas(part, share, rest) for part, share in zip(parts, shares, strict=True))


@dataclass(frozen=True)
class Disjoint:
    """Pairs without those of another suite; how many were left out, and how many texts the two still share."""

    suite: Suite
    left_out: int
    shared_premises: int
    shared_hypotheses: int


def exclude_pairs(suite: Suite, other: Suite, *, cell: str, most: int) -> Disjoint:
    """The first ``most`` pairs of each value of ``cell`` that are not in the other suite, to train on.

    Pairs that differ only in case, punctuation and spaces are the same pair.
    """
    words = pl.col("premise", "hypothesis").str.to_lowercase().str.replace_all(r"[^\p{L}\p{N}]+", " ").str.strip_chars()
    frame = suite.frame.with_columns(words.name.prefix("plain ")).collect()
    excluded = other.frame.select(words.name.prefix("plain ")).unique().collect()
    names = excluded.columns
    apart = frame.join(excluded, on=names, how="anti", maintain_order="left")
    kept = apart.filter(pl.int_range(pl.len()).over(cell) < most)
    premises, hypotheses = (kept.join(excluded, on=name, how="semi")[name].n_unique() for name in names)
    remainder = replace(suite, frame=kept.drop(names).lazy(), control=None).sealed()
    return Disjoint(remainder, frame.height - apart.height, premises, hypotheses)
