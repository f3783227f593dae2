"""Suites made from a corpus of pairs: which pairs are used, and how a changed pair points back at the original."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import Draws
from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.suite import (
    COLUMNS,
    CONTROL,
    Argument,
    Card,
    Kind,
    Suite,
    compact_frame,
    stream_frame,
    visit_batches,
)
from acidtest.suites.catalogue import SUITES, Request

if TYPE_CHECKING:
    from acidtest.io.rows import Rows

LABEL_COLUMNS = ("label", "certainty", "annotator_labels")
"""Columns that are true only of the original pair, so a changed pair cannot keep them."""

CORPUS_LICENCE = "that of the corpus it was made from"

_WORKING_COLUMNS = ("variant", "changed", "sentence", "number", "start", "order")
"""Temporary columns, used only while a suite is made."""

_BATCH_ROWS = 1 << 12


def travelling_columns(columns: Mapping[str, Kind], keep: Collection[str] = ()) -> dict[str, Kind]:
    """The columns of a corpus that are also true of a changed pair: those that say where the item comes from.

    What people or systems said of the old pair (labels, predictions, reasons, tags, scores) may be false of the new
    one, so a column is kept only if ``provenance_columns.tsv`` lists its name or the user vouches for it in ``keep``.
    """
    # A column whose name the suite needs itself has been renamed by ``rename_taken_columns``.
    vouched = {name if name in columns else f"source_{name}" for name in keep}
    for name in vouched - set(columns):
        raise UnknownNameError("column", name.removeprefix("source_"), columns, " (--keep-columns)")
    return {name: kind for name, kind in columns.items() if name in vouched or _is_provenance(name)}


def _is_provenance(name: str) -> bool:
    """Whether a column, also one renamed ``source_<name>``, is listed as saying where an item comes from."""
    from acidtest.io.wordlists import packaged_table

    known = set(map(_normalise_name, packaged_table("corpora/provenance_columns.tsv")["column"]))
    spelling = _normalise_name(name)
    while spelling.startswith("source") and spelling not in known:
        spelling = spelling.removeprefix("source")
    return spelling in known


def _normalise_name(name: str) -> str:
    """The name without case and separators: ``captionID`` and ``caption_id`` become the same."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def source_pairs(
    request: Request, *, columns: Collection[str] = (), default: Callable[[], Suite] | None = None
) -> Suite:
    """The requested pairs: the user's or the ``default`` (the starter corpus), all or ``n`` drawn with the seed.

    ``columns`` are those the suite will add: one of the same name in the corpus becomes ``source_<name>``.
    """
    from acidtest.corpora.published_sets import identify_corpus
    from acidtest.io.published import CORPUS
    from acidtest.io.wordlists import starter_pairs

    if isinstance(request.source, Path):
        raise TypeError("a suite made of pairs takes a suite as its source, not a path")
    pairs = rename_taken_columns(request.source or (default or starter_pairs)(), {*columns, *_WORKING_COLUMNS})
    if corpus := identify_corpus(pairs):
        pairs = replace(pairs, card=replace(pairs.card, arguments={**pairs.card.arguments, CORPUS: corpus}))
    available = pairs.card.rows
    if uses_all(request, available, "pairs", f"{pairs.name!r} has only {available:,}"):
        return pairs
    ids = pairs.frame.select("id").collect()["id"]
    draw = Draws(request.seed, "corpus").bits(digests(ids))
    chosen = ids.gather(np.sort(np.argsort(draw, kind="stable")[: request.n]))
    return replace(pairs, frame=pairs.frame.filter(pl.col("id").is_in(chosen.implode())))


def uses_all(request: Request, available: int, items: str, shortage: str) -> bool:
    """Whether a request takes all available items; if it asks for more, raises with ``shortage`` as the reason."""
    if request.n is None or request.n == available or (request.n > available and request.at_most):
        return True
    if request.n > available:
        raise AcidtestError(f"{request.n:,} {items} were asked for, but {shortage}; {advise_fewer(available)}")
    return False


def advise_fewer(available: int) -> str:
    """The end of an error message: what to do when more was requested than is available."""
    return f"ask for at most that many (-n {available}), or add --at-most to take all there are"


def transform_rows(
    frame: pl.LazyFrame, transform: Callable[[pl.DataFrame], pl.DataFrame], *, together: str | None = None
) -> Rows:
    """The rows that ``transform`` makes of a frame, about ``_BATCH_ROWS`` at a time; many rows are kept on disk.

    Batches are small because tokens and tags take far more memory than text. Rows that follow each other and have the
    same value in the column ``together`` are never parted.
    """
    from acidtest.io.rows import Spool

    spool, schema, rest = Spool(), dict[str, Any](), frame.head(0).collect()

    def add(part: pl.DataFrame) -> None:
        rows = transform(part)
        schema.update(rows.schema)
        spool.add(compact_frame(rows))

    def visit(batch: pl.DataFrame) -> None:
        nonlocal rest
        for part in batch.iter_slices(_BATCH_ROWS):
            if together is None:
                add(part)
                continue
            part = pl.concat([rest, part])
            others = np.flatnonzero(part[together] != part[together][-1])
            complete = int(others[-1]) + 1 if others.size else 0
            add(part[:complete])
            rest = compact_frame(part[complete:])

    visit_batches(frame, visit)
    if rest.height:
        add(rest)
    return spool.rows(schema or transform(frame.head(0).collect()).schema)


def select_rows(rows: Rows, wanted: pl.Series, columns: Sequence[str]) -> pl.LazyFrame:
    """A lazy frame of the rows whose digests over ``columns`` are among ``wanted``."""
    digest_list = wanted.implode()

    def blocks(selected: Sequence[str]) -> Iterator[pl.DataFrame]:
        for part in rows.batches():
            is_wanted = pl.Series(digests(*(part[column] for column in columns))).is_in(digest_list)
            yield part.filter(is_wanted).select(selected)

    return stream_frame(blocks, rows.schema)


def derive_suite(
    name: str,
    pairs: Suite,
    changed: pl.LazyFrame,
    *,
    request: Request,
    version: int = 1,
    arguments: Mapping[str, Argument] | None = None,
    columns: Mapping[str, Kind] | None = None,
    crossings: tuple[tuple[str, ...], ...] = (),
    strata: tuple[str, ...] = (),
    sample_by: str = "",
    left_out: Counter[str] | None = None,
    note: str = "",
    citation: str | None = None,
) -> Suite:
    """The suite of ``changed`` pairs with the untouched ones as its control.

    ``changed`` has the columns of ``pairs``, the new ones in ``columns``, and ``variant``, which distinguishes the rows
    made from one pair and is appended to their ids. Other columns are kept only if ``travelling_columns`` has them.
    ``citation`` is needed for a suite that is not in the catalogue.
    """
    available = changed.collect_schema().names()
    travelling = travelling_columns(pairs.card.columns, request.keep)
    kinds = {column: kind for column, kind in travelling.items() if column in available} | dict(columns or {})
    card = Card(
        name,
        version=version,
        seed=request.seed,
        arguments={"from": pairs.name} | _published_corpus(pairs) | dict(arguments or {}),
        sources=pairs.card.sources,
        licence=pairs.card.licence or CORPUS_LICENCE,
        citation=SUITES[name].citation if citation is None else citation,
        columns=kinds,
        strata=(*(column for column in pairs.card.strata if column in kinds), *strata),
        crossings=(*(crossing for crossing in pairs.card.crossings if {*crossing} <= {"label", *kinds}), *crossings),
        sample_by=sample_by,
        left_out=dict((left_out or Counter()).most_common()),
        note=note,
    )
    frame = changed.with_columns(pl.concat_str("id", pl.lit("-"), "variant").alias("id"), pl.col("id").alias("base_id"))
    dropped = [column for column in pairs.card.columns if column not in kinds]
    frame = frame.select(*COLUMNS, pl.exclude(*COLUMNS, "variant", *dropped))
    control = replace(
        card,
        name=name + CONTROL,
        arguments={"from": pairs.name},
        columns=pairs.card.columns,
        strata=pairs.card.strata,
        crossings=pairs.card.crossings,
        sample_by="",
        left_out={},
        note="",
    )
    return Suite(frame, card, Suite(pairs.frame, control, origin=pairs.origin, misleading=pairs.misleading))


def _published_corpus(pairs: Suite) -> dict[str, Argument]:
    """The argument that names the published corpus that the pairs are, if they are one."""
    from acidtest.io.published import CORPUS

    return {CORPUS: pairs.card.arguments[CORPUS]} if CORPUS in pairs.card.arguments else {}


def detach_unlabelled(suite: Suite) -> Suite:
    """The suite without the control pairs that have no gold (``any``); rows made from them have no ``base_id``.

    Without any gold there is no control.
    """
    control = suite.control
    if control is None:
        return suite
    unlabelled = control.frame.filter(pl.col("label") == "any").select("id").collect()["id"]
    if not len(unlabelled):
        return suite
    is_detached = pl.col("base_id").is_in(unlabelled.implode())
    frame = suite.frame.with_columns(base_id=pl.when(~is_detached).then("base_id"))
    labelled = control.frame.filter(pl.col("label") != "any")
    has_gold = labelled.select(pl.len()).collect().item() > 0
    return replace(suite, frame=frame, control=replace(control, frame=labelled) if has_gold else None)


def rename_taken_columns(pairs: Suite, taken: Collection[str]) -> Suite:
    """The pairs with ``source_`` before the names of columns that a suite made from them will add.

    Where the corpus also has ``source_<name>``, that column becomes ``source_source_<name>``.
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


def unite_with_control(suite: Suite) -> Suite:
    """The rows of a suite and of its control in one suite; the factor ``changed`` is yes or no.

    Training on both makes a model robust to distraction (Naik et al. 2018, section 4.6).
    """
    if suite.control is None:
        raise AcidtestError(f"suite {suite.name!r} has no untouched pairs, so there is no union with them")
    columns = suite.frame.collect_schema().names()
    shared = [name for name in suite.control.frame.collect_schema() if name in columns]
    parts = [
        suite.control.frame.select(*shared, changed=pl.lit("no")),
        suite.frame.with_columns(changed=pl.lit("yes")),
    ]
    rows = pl.concat(parts, how="diagonal").select(*columns, "changed")
    card = replace(
        suite.card,
        arguments={**suite.card.arguments, "union": True},
        columns={**suite.card.columns, "changed": "factor"},
    )
    return Suite(rows, card).sealed()
