"""Suites made from a corpus of pairs: which pairs are used, and how a changed pair points back at its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import Draws
from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.streams import compacted, visit_batches
from acidtest.core.suite import COLUMNS, CONTROL, Argument, Card, Kind, Suite
from acidtest.io.rows import Rows, Spool
from acidtest.io.starter import starter_pairs
from acidtest.io.wordlists import packaged_table
from acidtest.suites.catalogue import Request

_WORKING = ("variant", "changed", "sentence", "number", "start", "order")
"""Columns that are needed on the way to a suite."""

_TOGETHER = 1 << 12


OF_THE_PAIR = ("label", "certainty", "annotator_labels")
"""Columns that say what a pair is; a pair with another sentence in it cannot have them."""


def travelling_columns(columns: Mapping[str, Kind], keep: Collection[str] = ()) -> dict[str, Kind]:
    """The columns of a corpus that also hold of a changed pair: those that say where the item comes from.

    What people or systems said of the old pair (labels, predictions, reasons, tags, scores) may be false of the new
    one, so a column travels only when its name is on the list or among ``keep``, which the user vouches for.
    """
    # A suite that needs a column's name for itself has renamed the corpus's.
    vouched = {name if name in columns else f"source_{name}" for name in keep}
    for name in vouched - set(columns):
        raise UnknownNameError("column", name.removeprefix("source_"), columns, " (--keep-columns)")
    return {name: kind for name, kind in columns.items() if name in vouched or _is_provenance(name)}


def _is_provenance(name: str) -> bool:
    spelling = _normalised(name)
    while spelling.startswith("source") and spelling not in _provenance_names():
        spelling = spelling.removeprefix("source")
    return spelling in _provenance_names()


@cache
def _provenance_names() -> frozenset[str]:
    return frozenset(map(_normalised, packaged_table("corpora/provenance_columns.tsv")["column"]))


def _normalised(name: str) -> str:
    """``captionID`` and ``caption_id`` alike."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def corpus(request: Request, *, columns: Collection[str] = (), default: Callable[[], Suite] = starter_pairs) -> Suite:
    """The pairs asked for: a user's or the ``default``, whole or ``n`` of them drawn with the seed.

    ``columns`` are those the suite will add: one of the same name in the corpus becomes ``source_<name>``.
    """
    if isinstance(request.source, Path):
        raise TypeError("a suite made of pairs is given them read")
    pairs = renamed(request.source or default(), {*columns, *_WORKING})
    if request.n is None or request.n == pairs.card.rows:
        return pairs
    if request.n > pairs.card.rows:
        if request.at_most:
            return pairs
        raise AcidtestError(
            f"{request.n:,} pairs were asked for, but {pairs.name!r} has only {pairs.card.rows:,}; ask for at most "
            f"that many (-n {pairs.card.rows}), or add --at-most to take all there are"
        )
    ids = pairs.frame.select("id").collect()["id"]
    draw = Draws(request.seed, "corpus").bits(digests(ids))
    chosen = ids.gather(np.sort(np.argsort(draw, kind="stable")[: request.n]))
    return replace(pairs, frame=pairs.frame.filter(pl.col("id").is_in(chosen.implode())))


def gathered(frame: pl.LazyFrame, made: Callable[[pl.DataFrame], pl.DataFrame]) -> Rows:
    """What a function makes of the rows of a frame, some thousands at a time, kept on disk where it is much.

    Tokens and tags take far more room than text: more rows at once would not fit.
    """
    kept, schema = Spool(), dict[str, Any]()

    def look(batch: pl.DataFrame) -> None:
        for part in batch.iter_slices(_TOGETHER):
            rows = made(part)
            schema.update(rows.schema)
            kept.add(compacted(rows))

    visit_batches(frame, look)
    return kept.rows(schema or made(frame.head(0).collect()).schema)


def derived(
    name: str,
    pairs: Suite,
    changed: pl.LazyFrame,
    *,
    version: int,
    request: Request,
    citation: str,
    arguments: Mapping[str, Argument] | None = None,
    columns: Mapping[str, Kind] | None = None,
    crossings: tuple[tuple[str, ...], ...] = (),
    strata: tuple[str, ...] = (),
) -> Suite:
    """The suite of ``changed`` pairs with the untouched ones as its control.

    ``changed`` has the columns of ``pairs``, new ones named in ``columns``, and ``variant``: what tells the rows made
    of one pair apart, which makes their ids. Of what the corpus knows of its pairs, ``travelling_columns`` come along.
    """
    own = dict(columns or {})
    given = changed.collect_schema().names()
    known = travelling_columns(pairs.card.columns, request.keep)
    kinds = {name: kind for name, kind in known.items() if name in given} | own
    card = Card(
        name,
        version=version,
        seed=request.seed,
        arguments={"from": pairs.name} | dict(arguments or {}),
        sources=pairs.card.sources,
        licence=pairs.card.licence or "that of the corpus it was made from",
        citation=citation,
        columns=kinds,
        strata=(*(name for name in pairs.card.strata if name in kinds), *strata),
        crossings=(*(names for names in pairs.card.crossings if {*names} <= {"label", *kinds}), *crossings),
    )
    frame = changed.with_columns(pl.concat_str("id", pl.lit("-"), "variant").alias("id"), pl.col("id").alias("base_id"))
    left_behind = [name for name in pairs.card.columns if name not in kinds]
    frame = frame.select(*COLUMNS, pl.exclude(*COLUMNS, "variant", *left_behind))
    control = replace(card, name=name + CONTROL, arguments={"from": pairs.name}, columns=pairs.card.columns)
    control = replace(control, strata=pairs.card.strata, crossings=pairs.card.crossings)
    return Suite(frame, card, Suite(pairs.frame, control))


def renamed(pairs: Suite, taken: Collection[str]) -> Suite:
    """The pairs with ``source_`` before the names of columns that a suite made from them needs for itself.

    A corpus that has ``source_<name>``, too, was made so itself: that one becomes ``source_source_<name>``.
    """
    names = dict[str, str]()
    for name in (name for name in pairs.card.columns if name in taken):
        while name in pairs.card.columns and name not in names:
            names[name] = name = f"source_{name}"
    if not names:
        return pairs
    card = replace(
        pairs.card,
        columns={names.get(name, name): kind for name, kind in pairs.card.columns.items()},
        strata=tuple(names.get(name, name) for name in pairs.card.strata),
        crossings=tuple(tuple(names.get(name, name) for name in crossing) for crossing in pairs.card.crossings),
    )
    return replace(pairs, frame=pairs.frame.rename(names), card=card)
