"""The rows of some runs, packed for the example browser of the page.

Coded columns, verdicts and probabilities, which filters and sorting need, are one piece (the index) that is unpacked
when the page opens. Texts and parses are in blocks of rows, each unpacked only when one of its rows is shown or
searched. All pieces are gzip data in base64, so that nothing in them can end a script element.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.labels import LABELS, TWO_WAY_LABELS
from acidtest.core.run import ANSWER_COLUMNS, Run
from acidtest.core.suite import compact_frame

KEY = ("suite", "id", "premise", "hypothesis", "label")
"""Rows of several models are the same row when all of these columns are equal."""

TEXTS = ("id", "premise", "hypothesis")
PARSED = ("premise", "hypothesis")

SAMPLED = 8
"""Blocks packed to estimate the size of all."""

YES = "yes"
"""The value that the page shows for a row to which a category applies."""

BLOCK = 2048
"""Rows of a block: few enough to be unpacked in some milliseconds, enough to be packed well."""

MOST_ROWS = 300_000
"""The most rows that are read from a run; of a longer one, only every second, every third and so on is read."""

MOST_BYTES = 60_000_000
"""The most bytes of texts and parses; if they take more, parses are left out, then rows."""


@dataclass(frozen=True)
class Examples:
    """The packed rows that the page embeds; ``note`` says what was left out, if anything."""

    count: int
    index: str
    texts: tuple[str, ...]
    parses: tuple[str, ...] = ()
    note: str = ""


def examples(runs: Mapping[str, Run], *, most_bytes: int = MOST_BYTES, most_rows: int = MOST_ROWS) -> Examples:
    """Pack the rows of all runs; a row that several runs share appears once."""
    count = max((_height(run) for run in runs.values()), default=0)
    first = max(1, -(-count // most_rows))
    frames = {name: _load_rows(run, first) for name, run in runs.items()}
    rows = _rows(runs, list(frames.values()))
    texts, parses = rows.select(TEXTS), _parses(rows)
    # Packed rows are never twice as large as in memory, so few rows need no estimate.
    is_small = 2 * (texts.estimated_size() + parses.estimated_size()) <= most_bytes
    size = 0 if is_small else _packed_size(texts)
    with_parses = 0 if is_small else size + _packed_size(parses)
    second = max(1, -(-size // most_bytes))
    notes = []
    if first * second > 1:
        whole = count if first > 1 else rows.height
        notes.append(f"this page holds one row in {first * second:,}, because with all {whole:,} it would be too large")
    if second > 1:
        rows, texts, parses = (frame.gather_every(second) for frame in (rows, texts, parses))
    if parses.width and with_parses > most_bytes:
        notes.append(f"the parses are left out, because the page would be {with_parses / 1e6:,.0f} MB large with them")
        parses = pl.DataFrame()
    if notes:
        notes.append("the rows are whole in predictions.parquet, in the folder of each run")
    index = _index(runs, frames, rows, _parsed_suites(rows, parses))
    return Examples(rows.height, index, tuple(_blocks(texts)), tuple(_blocks(parses)), "; ".join(notes))


def _height(run: Run) -> int:
    return int(run.collected(run.frame.lazy().select(pl.len())).item())


def _load_rows(run: Run, step: int) -> pl.DataFrame:
    """Every ``step``-th row of a run, with the columns that the page shows."""
    shown = {*KEY, *ANSWER_COLUMNS, *_PARSES, *_factors({"": run})}
    rows = run.frame.lazy().select(name for name in run.columns if name in shown)
    batches, seen = [rows.collect_schema().to_frame()], 0

    def visit(batch: pl.DataFrame) -> None:
        nonlocal seen
        batches.append(batch if step == 1 else compact_frame(batch.gather_every(step, -seen % step)))
        seen += batch.height

    run.visit(rows, visit)
    return pl.concat(batches, rechunk=True)


def _rows(runs: Mapping[str, Run], frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    if len(frames) == 1:
        return frames[0]
    kept = [*_factors(runs), *_PARSES]
    parts = [
        frame.select(*KEY, *(pl.col(name).cast(pl.String) for name in kept if name in frame.columns))
        for frame in frames
    ]
    return pl.concat(parts, how="diagonal").unique(KEY, keep="first", maintain_order=True)


def _factors(runs: Mapping[str, Run]) -> list[str]:
    cards = [card for run in runs.values() for card in run.header.suites.values()]
    return list(dict.fromkeys(factor for card in cards for factor in (*card.factors, *card.categories)))


_PARSES = tuple(f"{side}_{kind}" for side in PARSED for kind in ("parse", "binary_parse"))


def _parse(rows: pl.DataFrame, side: str) -> pl.Expr:
    """The labelled parse of a sentence; where there is none, the binary one, which has no labels."""
    known = [name for name in (f"{side}_parse", f"{side}_binary_parse") if name in rows.columns]
    return pl.coalesce([*known, pl.lit(None, dtype=pl.String)]).cast(pl.String).alias(side)


def _parses(rows: pl.DataFrame) -> pl.DataFrame:
    """The parses of premises and hypotheses; no columns when no row has any."""
    if not any(name in rows.columns and rows[name].null_count() < rows.height for name in _PARSES):
        return pl.DataFrame()
    return rows.select(_parse(rows, side) for side in PARSED)


def _parsed_suites(rows: pl.DataFrame, parses: pl.DataFrame) -> list[str]:
    if not parses.width:
        return []
    has_parse = parses.select(pl.any_horizontal(pl.all().is_not_null())).to_series()
    return rows.filter(has_parse)["suite"].unique(maintain_order=True).to_list()


def _blocks(rows: pl.DataFrame) -> list[str]:
    if not rows.width:
        return []
    # gzip releases the interpreter lock, so threads help; the order, and so the page, is always the same.
    with ThreadPoolExecutor() as pool:
        return list(pool.map(_packed_block, rows.iter_slices(BLOCK)))


def _packed_size(rows: pl.DataFrame) -> int:
    """The packed size of all rows in bytes, estimated from at most ``SAMPLED`` blocks."""
    starts = range(0, rows.height, BLOCK)
    chosen = starts[:: -(-len(starts) // SAMPLED) or 1]
    if not rows.width or not chosen:
        return 0
    sizes = [len(_packed_block(rows.slice(start, BLOCK))) for start in chosen]
    return round(sum(sizes) / len(sizes) * len(starts))


def _packed_block(rows: pl.DataFrame) -> str:
    """The rows as one JSON object of columns."""
    return _packed(rows.select(pl.all().implode()).write_ndjson().encode())


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _packed(content: bytes) -> str:
    return base64.b64encode(gzip.compress(content, compresslevel=4, mtime=0)).decode()


@dataclass
class _Arrays:
    """Arrays of numbers in one buffer, each at a multiple of four bytes, as a browser's typed arrays require."""

    content: bytearray = field(default_factory=bytearray)

    def add(self, values: npt.NDArray[Any]) -> dict[str, Any]:
        """Append the values; returns the kind of typed array, the offset in bytes and the length."""
        kind = {"u1": "Uint8", "u2": "Uint16", "u4": "Uint32", "i1": "Int8", "i2": "Int16"}[values.dtype.str[1:]]
        place = {"kind": kind, "at": len(self.content), "length": len(values)}
        self.content += values.astype(values.dtype.newbyteorder("<")).tobytes()
        self.content += bytes(-len(self.content) % 4)
        return place


def _index(
    runs: Mapping[str, Run], frames: Mapping[str, pl.DataFrame], rows: pl.DataFrame, parsed: Sequence[str]
) -> str:
    """The packed index: a line of JSON that locates each array, padded to a multiple of four bytes, then the arrays."""
    arrays = _Arrays()
    head = {
        "count": rows.height,
        "block": BLOCK,
        "suites": {
            name: [*card.factors, *card.categories] for run in runs.values() for name, card in run.header.suites.items()
        },
        "parsed": parsed,
        "suite": _coded(rows["suite"], arrays),
        "label": _coded(rows["label"], arrays),
        "factors": {name: _coded(_shown_values(runs, rows[name]), arrays) for name in _factors(runs) if name in rows},
        "models": [_answers(name, run, frames[name], rows, arrays) for name, run in runs.items()],
    }
    line = _json(head).encode()
    return _packed(line + b" " * (-(len(line) + 1) % 4) + b"\n" + arrays.content)


def _shown_values(runs: Mapping[str, Run], column: pl.Series) -> pl.Series:
    """The values of a column as the page shows them; a category is ``YES`` where it applies, otherwise null."""
    cards = [card for run in runs.values() for card in run.header.suites.values()]
    if not any(column.name in card.categories for card in cards):
        return column
    return column.cast(pl.String).replace({"true": YES, "false": None})


def _answers(name: str, run: Run, frame: pl.DataFrame, rows: pl.DataFrame, arrays: _Arrays) -> dict[str, Any]:
    """A model's answers: probabilities in thousandths, -1 for none; ``correct`` is 1, 0, or -1 if it was not asked."""
    if rows is not frame:
        once = frame.select(*KEY, *ANSWER_COLUMNS).unique(KEY, keep="first")
        frame = rows.select(KEY).join(once, on=KEY, how="left", maintain_order="left")
    sure = run.header.model.probabilities
    # A two-way model writes non-entailment into the neutral column.
    labels = TWO_WAY_LABELS if run.header.model.resolution == "two-way" else LABELS
    return {
        "name": name,
        "probabilities": sure,
        "labels": labels,
        "answer": _coded(frame["answer"], arrays),
        "correct": arrays.add(frame["correct"].cast(pl.Int8).fill_null(-1).to_numpy()),
        "p": [arrays.add(column) for column in _thousandths(frame, LABELS[: len(labels)])] if sure else [],
    }


def _thousandths(rows: pl.DataFrame, labels: Iterable[str]) -> list[npt.NDArray[np.int16]]:
    shares = (pl.col(f"p_{label}").fill_nan(None).clip(0, 1) for label in labels)
    thousandths = rows.select((share * 1000).round().cast(pl.Int16).fill_null(-1) for share in shares)
    return [column.to_numpy() for column in thousandths]


def _coded(column: pl.Series, arrays: _Arrays) -> dict[str, Any]:
    """The distinct values of a column in order of appearance, and for each row the index of its value."""
    text = column.cast(pl.String)
    values = text.unique(maintain_order=True)
    codes = pl.DataFrame({"value": text}).join(
        values.to_frame("value").with_row_index("code"), on="value", how="left", nulls_equal=True, maintain_order="left"
    )
    kind = np.min_scalar_type(max(values.len() - 1, 0))
    return {"values": values.to_list(), "codes": arrays.add(codes["code"].to_numpy().astype(kind))}
