"""The inputs of a model, in batches fixed before anything runs, and its answers to them.

Answers are kept in files that survive a kill, in a table in memory, and as the predictions of a run.

A file of answers belongs to one model, identified by its fingerprint, and stores answers under the digest of the input.
The same format serves a run that can be continued and a cache that many runs and processes share. Of two answers to one
input the later counts: the files of a cache are numbered in the order in which they were created.
"""

from __future__ import annotations

import json
import os
import re
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.digests import SeenDigests, digests
from acidtest.core.draws import U64, key
from acidtest.core.errors import FileError
from acidtest.core.files import open_to_write, refuse_link
from acidtest.core.labels import (
    LABELS,
    TWO_WAY_LABELS,
    Collapse,
    answers,
    coarsen_gold,
    gold_masks,
    has_answer,
    verdicts,
)
from acidtest.core.logs import log
from acidtest.core.model import HasOptionalColumns, Model, Prepares, Probabilities, Resolution
from acidtest.core.run import ModelFacts
from acidtest.core.suite import Suite, compact_frame, require_columns, visit_batches
from acidtest.io.rows import Rows, Spool

ID = "_id"
"""The column beside the inputs that holds the id of the first row with that input."""

_LENGTHS = (64, 96, 128, 160, 192, 256, 384, 768, 2048)
"""Lengths in bytes at which the next bucket of pairs begins."""

SCHEMA = 2
ENDING = ".answers"

RECORD = np.dtype([("key", "<u8"), ("check", "<u8"), ("values", "<f4", (3,)), ("flags", "u1")])
"""One answer: two digests of the input, the probabilities, and the flags ``TRUNCATED``, ``HARD`` and ``TWO_WAY``."""

TRUNCATED, HARD, TWO_WAY = 1, 2, 4
"""Flags: the pair was truncated; the model answers with labels, not with probabilities."""

Records = npt.NDArray[np.void]
Flags = npt.NDArray[np.bool_]

CHECK = "check"
"""Salt of the second digest, which confirms that a kept answer belongs to the same input."""

_HEAD = struct.Struct("<II")
_MOST_LINE = 1 << 12
_ANSWER_COLUMNS: Mapping[str, Any] = {
    "p_entailment": pl.Float32,
    "p_neutral": pl.Float32,
    "p_contradiction": pl.Float32,
    "answer": pl.String,
    "correct": pl.Boolean,
    "truncated": pl.Boolean,
}


@dataclass(frozen=True)
class Batch:
    """Distinct inputs that are asked together."""

    number: int
    inputs: pl.DataFrame
    """The columns the model asks for, and ``ID``."""
    keys: U64
    """Their digests, under which answers are stored."""


@dataclass(frozen=True)
class InputPlan:
    """The distinct inputs of some suites, in batches. The same pair in two suites, or twice in one, is asked once.

    Where the model prefers it, batches hold inputs of similar length, longest first. Large inputs stay on disk.
    """

    keys: U64
    """The digests of all inputs, in ascending order."""
    rows: int
    columns: tuple[str, ...]
    size: int
    _inputs: Sequence[Rows]

    @property
    def batches(self) -> int:
        """How many batches there are."""
        return sum(-(-rows.height // self.size) for rows in self._inputs)

    def __iter__(self) -> Iterator[Batch]:
        number = 0
        for rows in self._inputs:
            for inputs in _regroup(rows.batches(), self.size):
                yield Batch(number, inputs, self.digests(inputs))
                number += 1

    def digests(self, frame: pl.DataFrame, salt: str = "") -> U64:
        """The digest of every row's input; columns that the frame lacks count as null."""
        nothing = pl.lit(None, dtype=pl.String)
        missing = [nothing.alias(name) for name in self.columns if name not in frame.columns]
        frame = frame.with_columns(missing) if missing else frame
        return digests(*(frame[name] for name in self.columns), salt=salt)

    def places(self, keys: U64) -> npt.NDArray[np.int64]:
        """The position of each key among the plan's keys."""
        return np.searchsorted(self.keys, keys)


def make_plan(model: Model, suites: Sequence[Suite]) -> InputPlan:
    """The plan for a model and its suites; equal inputs, columns and batch size give an equal plan."""
    columns = tuple(model.columns)
    optional = model.optional if isinstance(model, HasOptionalColumns) else ()
    for suite in suites:
        require_columns(suite.frame, [name for name in columns if name not in optional], suite.name)
    bounds = _LENGTHS if isinstance(model, Prepares) and model.lengths else ()
    spools, seen, rows = [Spool() for _ in range(len(bounds) + 1)], SeenDigests(), 0

    def add_new_inputs(batch: pl.DataFrame) -> None:
        nonlocal rows
        rows += batch.height
        new = batch.filter(seen.new(digests(*(batch[name] for name in columns))))
        for spool, part in zip(spools, _by_length(new, columns, bounds), strict=True):
            if part.height:
                spool.add(compact_frame(part))

    for suite in suites:
        schema = suite.frame.collect_schema()
        texts = [(pl.col(name) if name in schema else pl.lit(None).alias(name)).cast(pl.String) for name in columns]
        visit_batches(suite.frame.select(pl.col("id").alias(ID), *texts), add_new_inputs)
    text_columns = dict.fromkeys((ID, *columns), pl.String)
    buckets = tuple(spool.rows(text_columns) for spool in reversed(spools))
    return InputPlan(seen.sorted(), rows, columns, model.batch_size, buckets)


def _by_length(frame: pl.DataFrame, columns: Sequence[str], bounds: Sequence[int]) -> Iterator[pl.DataFrame]:
    """The rows whose texts have fewer bytes in all than the first bound, then than the second, and so on."""
    if not bounds:
        yield frame
        return
    total = frame.select(pl.sum_horizontal(pl.col(name).str.len_bytes() for name in columns)).to_series()
    kind = np.searchsorted(np.array(bounds), total.to_numpy(), side="right")
    for number in range(len(bounds) + 1):
        yield frame.filter(pl.Series(kind == number))


def _regroup(parts: Iterable[pl.DataFrame], size: int) -> Iterator[pl.DataFrame]:
    """The same rows, ``size`` at a time."""
    pending = list[pl.DataFrame]()
    for part in parts:
        pending.append(part)
        if sum(frame.height for frame in pending) < size:
            continue
        whole = pl.concat(pending)
        full = whole.height - whole.height % size
        yield from whole.head(full).iter_slices(size)
        pending = [whole.slice(full)] if full < whole.height else []
    if pending and (rest := pl.concat(pending)).height:
        yield rest


def records(keys: U64, checks: U64, values: Probabilities, flags: npt.NDArray[np.uint8]) -> Records:
    """Answers as an array of ``RECORD``, as the files hold them."""
    made = np.empty(len(keys), dtype=RECORD)
    made["key"], made["check"], made["values"] = keys, checks, values
    made["flags"] = flags
    return made


def model_key(model: Model) -> str:
    """The key of a model in answer files: a hash of everything that could change its answers."""
    return f"{key(model.name, model.fingerprint or '', *model.columns):016x}"


class AnswerFile:
    """A file to append answers to; they survive a kill once ``append`` has returned."""

    def __init__(self, path: str | Path, model: str) -> None:
        self.path = Path(path)
        self._header = _header(model)
        self._file: IO[bytes] | None = None

    def __enter__(self) -> AnswerFile:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        refuse_link(self.path)
        ends = (end for _, end in _appends(self.path, self._header)) if self.path.exists() else ()
        end = max(ends, default=0)
        self._file = open_to_write(self.path, "r+b" if end else "w+b")
        self._file.truncate(end)
        self._file.seek(end)
        if not end:
            self._write(self._header)
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def begin(self) -> None:
        """Create the file unless it exists; one of another model is refused."""
        with self:
            pass

    def append(self, answers: Records) -> None:
        """Write answers to the end of the file and flush them to disk."""
        payload = answers.tobytes()
        self._write(_HEAD.pack(len(answers), zlib.crc32(payload)) + payload)

    def _write(self, content: bytes) -> None:
        assert self._file is not None
        try:
            self._file.write(content)
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise FileError(self.path, f"cannot be written: {error.strerror or error}") from error


def kept_answers(path: str | Path, model: str) -> Iterator[Records]:
    """The answers of a model in a file, one array for each complete ``append``."""
    if Path(path).exists():
        yield from (answers for answers, _ in _appends(Path(path), _header(model)))


def new_cache_file(folder: Path, model: str) -> Path:
    """A new, empty file in the cache of a model, with a number above those of all files there."""
    place = folder / model
    place.mkdir(parents=True, exist_ok=True)
    number = max((_file_number(path) for path in place.glob(f"*{ENDING}")), default=0)
    while True:
        number += 1
        path = place / f"{number:08d}{ENDING}"
        try:
            path.open("xb").close()
        except FileExistsError:
            continue
        return path


def cached_answers(folder: Path, model: str) -> Iterator[Records]:
    """The answers of a model in a cache, the latest last, including those that other processes are writing."""
    for path in sorted((folder / model).glob(f"*{ENDING}"), key=_reading_order):
        try:
            if not path.is_file():
                raise FileError(path, "is not a file")
            yield from kept_answers(path, model)
        except (OSError, FileError) as error:
            log.warning("%s is ignored: it holds no answers of this model", path)
            log.debug("%s", error)


def _reading_order(path: Path) -> tuple[int, int, str]:
    # Earlier versions gave files random names: these come first, by date.
    number = _file_number(path)
    try:
        date = 0 if number else path.stat().st_mtime_ns
    except OSError:
        date = 0
    return number, date, path.name


def _file_number(path: Path) -> int:
    """The number in the name of a file of a cache, 0 where it has none."""
    return int(path.stem) if re.fullmatch(r"[0-9]{8,15}", path.stem) else 0


def _header(model: str) -> bytes:
    return json.dumps({"schema": SCHEMA, "model": model}).encode() + b"\n"


def _appends(path: Path, header: bytes) -> Iterator[tuple[Records, int]]:
    """The answers of each undamaged append and the offset of its end; first, no answers and the end of the header.

    Yields nothing where the header is incomplete; raises for a file of another model or program.
    """
    with path.open("rb") as file:
        line = file.readline(_MOST_LINE)
        if line != header:
            if header.startswith(line):
                return
            problem = "holds an unfinished run of another model, or of a changed one"
            raise FileError(path.parent, f"{problem}; choose another -o, or add --fresh to start over")
        yield np.empty(0, dtype=RECORD), len(header)
        size = os.fstat(file.fileno()).st_size
        while len(head := file.read(_HEAD.size)) == _HEAD.size:
            count, check = _HEAD.unpack(head)
            length = count * RECORD.itemsize
            # A damaged head may claim any length: reading that much could exhaust memory.
            if not 0 < length <= size - file.tell():
                log.info("%s: %d bytes at its end are incomplete or damaged and ignored", path, size - file.tell())
                return
            payload = file.read(length)
            if zlib.crc32(payload) == check:
                yield np.frombuffer(payload, dtype=RECORD), file.tell()
            else:
                log.info("%s: %d answers in it are damaged and ignored", path, count)


class AnswerTable:
    """The answer to each input of a plan, whether it was truncated, and which inputs are still open."""

    def __init__(self, plan: InputPlan) -> None:
        self._plan = plan
        self._values = np.full((len(plan.keys), 3), np.nan, dtype=np.float32)
        self._flags = np.zeros(len(plan.keys), dtype=np.uint8)
        self._known = np.zeros(len(plan.keys), dtype=np.bool_)
        self._checks: U64 | None = None

    @property
    def hard(self) -> bool:
        """Whether an earlier process got labels instead of probabilities, which some models reveal only when asked."""
        return bool((self._flags & HARD).any())

    @property
    def resolution(self) -> Resolution | None:
        """The resolution of the answers that an earlier process got; None where it got none but entailment."""
        if (self._flags & TWO_WAY).any():
            return "two-way"
        return "three-way" if (self._known & (self._values[:, 0] < 1)).any() else None

    @property
    def answered(self) -> int:
        """How many inputs have been asked, including those the model abstained on."""
        return int(self._known.sum())

    @property
    def predicted(self) -> int:
        """How many inputs have a prediction; those the model abstained on have none."""
        return int((self._known & has_answer(self._values)).sum())

    def has_prediction(self, keys: U64) -> Flags:
        """Which inputs have a prediction."""
        places = self._plan.places(keys)
        return np.asarray(self._known[places] & has_answer(self._values[places]))

    def put(self, keys: U64, values: Probabilities, flags: Flags | npt.NDArray[np.uint8]) -> None:
        """Store the answers to some inputs; flags are those of a file, or whether the inputs were truncated."""
        places = self._plan.places(keys)
        self._values[places], self._flags[places], self._known[places] = values, flags, True

    def recall(self, kept: Records) -> None:
        """Store answers that an earlier process kept; later calls replace earlier ones, other inputs are ignored."""
        if not len(self._plan.keys):
            return
        places = np.minimum(self._plan.places(kept["key"]), len(self._plan.keys) - 1)
        known = self._plan.keys[places] == kept["key"]
        if not known.any():
            return
        if self._checks is None:
            self._checks = np.zeros(len(self._plan.keys), dtype=np.uint64)
        self._checks[places[known]] = kept["check"][known]
        self.put(kept["key"][known], kept["values"][known], kept["flags"][known])

    def unanswered(self, keys: U64, checks: U64) -> Flags:
        """Which inputs have no answer yet; an answer kept for another input with the same key does not count."""
        places = self._plan.places(keys)
        known = self._known[places]
        if self._checks is not None:
            kept = self._checks[places]
            known &= (kept == checks) | (kept == 0)
        return np.asarray(~known)

    def lookup(self, frame: pl.DataFrame) -> tuple[Probabilities, Flags]:
        """The answers to the rows of a frame, and which of the rows were truncated."""
        places = self._plan.places(self._plan.digests(frame))
        return self._values[places], (self._flags[places] & TRUNCATED) != 0


def predictions_frame(
    suites: Sequence[Suite], table: AnswerTable, *, model: ModelFacts, collapse: Collapse
) -> pl.LazyFrame:
    """The rows of the suites with probabilities, answer (null for none), ``correct`` and ``truncated``; lazily."""
    two_way = model.resolution == "two-way"

    def add_answers(batch: pl.DataFrame, about_claims: bool) -> pl.DataFrame:
        values, truncated = table.lookup(batch)
        if two_way:
            values = np.column_stack([values[:, 0], values[:, 1] + values[:, 2], values[:, 2] * 0])
        gold = gold_masks(batch["label"].to_numpy())
        given = answers(values, collapse)
        names = np.array(TWO_WAY_LABELS if two_way else LABELS)
        return batch.with_columns(
            p_entailment=values[:, 0],
            p_neutral=values[:, 1],
            p_contradiction=values[:, 2],
            answer=pl.when(pl.Series(given >= 0)).then(pl.Series(names[np.maximum(given, 0)])),
            correct=verdicts(values, coarsen_gold(gold) if two_way or about_claims else gold, collapse=collapse),
            truncated=truncated,
        )

    frames = []
    for suite in suites:
        frame = suite.frame.select(pl.lit(suite.name).alias("suite"), pl.all())
        schema = dict(frame.collect_schema()) | dict(_ANSWER_COLUMNS)
        add = partial(add_answers, about_claims=suite.card.about_claims)
        frames.append(frame.map_batches(add, schema=schema, streamable=True))
    return pl.concat(frames, how="diagonal_relaxed")
