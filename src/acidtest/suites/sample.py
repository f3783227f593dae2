"""Suite ``sample``: pairs of a corpus, drawn evenly over labels and genres, to be annotated."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import Draws
from acidtest.core.errors import AcidtestError, list_some
from acidtest.core.logs import log
from acidtest.core.suite import CROSS, Suite
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.corpus import CORPUS_LICENCE, advise_fewer, source_pairs

NAME = "sample"
VERSION = 1
CITATION = "acidtest; as Joshi et al. (2020), section 3, drew pairs to annotate"

_SIZE = "_size"
_MOST_CELLS = 10_000


@generator(
    NAME,
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
    rows = pairs.frame.select("id", *_columns(pairs, by)).collect()
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
    cells = _shuffle_cells(cells, by, request.seed)
    cells = cells.with_columns(_quota=_quotas(cells, by, number))
    _warn_of_small_cells(cells, by, number)
    chosen = _draw_ids(known, cells, by, request.seed)
    card = replace(
        pairs.card,
        name=NAME,
        version=VERSION,
        seed=request.seed,
        arguments={"from": pairs.name, "by": ",".join(by)},
        citation=CITATION,
        licence=pairs.card.licence or CORPUS_LICENCE,
        note="",
        left_out={f"without {' or '.join(by)}": rows.height - known.height} if known.height < rows.height else {},
    )
    return replace(pairs, frame=pairs.frame.filter(pl.col("id").is_in(chosen.implode())), card=card, control=None)


def _columns(pairs: Suite, by: Sequence[str]) -> list[str]:
    usable = ["label", *pairs.card.factors]
    missing = [name for name in by if name not in usable]
    if not by or missing:
        problem = f"no column of few values called {missing[0]!r}" if missing else "nothing to draw evenly over"
        raise AcidtestError(
            f"{pairs.name!r} has {problem}; it has {list_some(usable, 20)}: name some with --by label,NAME"
        )
    return list(by)


def _cells(rows: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Every combination of values with the number of its rows, which may be 0."""
    values = [rows.select(pl.col(name).unique()).sort(name) for name in by]
    count = int(np.prod([column.height for column in values]))
    if count > _MOST_CELLS:
        raise AcidtestError(f"--by {','.join(by)} gives {count:,} combinations; name columns of fewer values")
    grid = reduce(lambda left, right: left.join(right, how="cross"), values)
    return grid.join(rows.group_by(by).len(_SIZE), on=list(by), how="left").with_columns(pl.col(_SIZE).fill_null(0))


def _shuffle_cells(cells: pl.DataFrame, by: Sequence[str], seed: int) -> pl.DataFrame:
    """The combinations in a drawn order: which of them get the odd rows must not depend on the alphabet."""
    names = cells.select(pl.concat_str(list(by), separator=CROSS)).to_series()
    return cells.with_columns(_turn=pl.Series(Draws(seed, "sample cells").bits(digests(names)))).sort("_turn")


def _quotas(cells: pl.DataFrame, by: Sequence[str], number: int) -> npt.NDArray[np.int64]:
    """How many rows each combination gives: the same number, give or take one, or all it has.

    The odd rows are spread over the values of the first column, so that a small sample is still even over labels.
    """
    sizes = cells[_SIZE].to_numpy().astype(np.int64)
    levels = range(int(sizes.max(initial=0)) + 1)
    level = bisect_right(levels, number, key=lambda most: np.minimum(sizes, most).sum()) - 1
    quotas: npt.NDArray[np.int64] = np.minimum(sizes, level)
    larger = cells.with_row_index("_at").filter(pl.col(_SIZE) > level)
    rounds = larger.with_columns(_round=pl.col("_turn").rank("ordinal").over(by[0])).sort("_round", "_turn")
    quotas[rounds["_at"].head(number - quotas.sum()).to_numpy()] += 1
    return quotas


def _draw_ids(rows: pl.DataFrame, cells: pl.DataFrame, by: Sequence[str], seed: int) -> pl.Series:
    """The ids of the drawn rows; whether one is drawn depends on its id and the seed, not on its position."""
    keyed = rows.with_columns(_draw=pl.Series(Draws(seed, NAME).bits(digests(rows["id"]))))
    keyed = keyed.join(cells, on=list(by), how="left", maintain_order="left")
    return keyed.filter(pl.col("_draw").rank("ordinal").over(by) <= pl.col("_quota"))["id"]


def _warn_of_small_cells(cells: pl.DataFrame, by: Sequence[str], number: int) -> None:
    """Log combinations that have fewer rows than their share, and that some get none."""
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
