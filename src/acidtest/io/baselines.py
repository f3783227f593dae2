"""Baseline files: what a run got right, row by row, without its texts, small enough to commit.

A file is a line that names the format, a line of JSON, and packed columns. Of each row it holds the first bits of the
digest of id, premise, hypothesis and label, as many as tell the rows of the suite apart and at least 32; whether it was
right; its label; and its group. Rows are sorted by digest, and only the distances between digests are stored. The
header holds a SHA-256 digest of the whole file, computed with zeros in place of the digest itself.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from acidtest.core.draws import U64
from acidtest.core.errors import FileError
from acidtest.core.files import read_bounded, refuse_overwrite, replace_file
from acidtest.core.labels import GOLD_MASKS
from acidtest.core.logs import note
from acidtest.core.run import ModelFacts
from acidtest.core.structured import parse_json, refuse_newer

SCHEMA = 3
MARK = b"acidtest baseline\n"
LEAST_BITS = 32
MOST_BYTES = 64 * 2**20
MOST_ROWS = 20_000_000
_NO_DIGEST = "0" * 64
"""What stands in place of the digest while it is computed."""
_REMEDY = "write it again with: acidtest baseline RUN -o FILE"


@dataclass(frozen=True)
class StoredSuite:
    """The rows of one suite, sorted by digest."""

    signature: str
    version: int
    labels: tuple[str, ...]
    bits: int
    digests: U64
    correct: npt.NDArray[np.bool_]
    label: npt.NDArray[np.uint8]
    """The place of each row's label in ``labels``."""
    group: npt.NDArray[np.int32]
    two_way: bool = False
    """Whether the rows were judged as entailed (supported) or not, and not by three labels."""


@dataclass(frozen=True)
class StoredBaseline:
    """A run as a baseline file holds it."""

    model: ModelFacts
    settings: Mapping[str, Any]
    """Collapse and limit."""
    acidtest: str
    suites: Mapping[str, StoredSuite]
    name: str = ""


@dataclass(frozen=True)
class SuiteFacts:
    """What the header of a file says of a suite."""

    signature: str
    version: int
    labels: tuple[str, ...]
    bits: int
    rows: int
    grouped: bool
    """Whether groups are stored; if not, every row is its own."""
    bytes: int
    two_way: bool = False
    """As in ``StoredSuite``; files of schema 1 judged claims by three labels."""


@dataclass(frozen=True)
class BaselineHeader:
    """The JSON line of a file."""

    model: ModelFacts
    settings: dict[str, Any]
    acidtest: str
    suites: dict[str, SuiteFacts]
    sha256: str
    """Of the whole file from schema 3 on, of the rows alone before."""
    name: str = ""
    schema: int = field(default=SCHEMA)


def is_baseline_file(path: str | Path) -> bool:
    """Whether there is a file that begins as baseline files do."""
    path = Path(path)
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(MARK)) == MARK


def needed_bits(digests: U64) -> int:
    """How many of the first bits of the digests tell them apart, at least ``LEAST_BITS``."""
    ordered = np.sort(digests)
    near = ordered[1:] ^ ordered[:-1]
    least = int(near.min()) if near.size else 1 << 63
    return max(LEAST_BITS, 64 - least.bit_length() + 1) if least else 64


def write_baseline_file(baseline: StoredBaseline, path: str | Path) -> Path:
    """Write a baseline file, whole or not at all; a file that is no baseline is not replaced."""
    path = Path(path)
    refuse_overwrite(path, is_ours=is_baseline_file)
    parts, facts = [], {}
    for name, suite in baseline.suites.items():
        grouped = len(np.unique(suite.group)) < len(suite.group)
        parts.append(_pack(suite, grouped=grouped))
        facts[name] = SuiteFacts(
            suite.signature,
            suite.version,
            suite.labels,
            suite.bits,
            len(suite.digests),
            grouped,
            len(parts[-1]),
            suite.two_way,
        )
    body = b"".join(parts)
    header = BaselineHeader(
        baseline.model,
        dict(baseline.settings),
        baseline.acidtest,
        facts,
        _NO_DIGEST,
        baseline.name,
    )
    line = json.dumps(asdict(header), ensure_ascii=False, allow_nan=False)
    content = MARK + line.encode() + b"\n" + body
    header = replace(header, sha256=hashlib.sha256(content).hexdigest())
    line = json.dumps(asdict(header), ensure_ascii=False, allow_nan=False)
    with replace_file(path) as temporary:
        temporary.write_bytes(MARK + line.encode() + b"\n" + body)
    return path


def read_baseline_file(path: str | Path) -> StoredBaseline:
    """The baseline in a file; one that is damaged or of a newer acidtest is refused."""
    content = read_bounded(path, MOST_BYTES)
    if not content.startswith(MARK):
        raise FileError(path, f"is not a baseline file; {_REMEDY}")
    line, separator, body = content[len(MARK) :].partition(b"\n")
    if not separator:
        raise FileError(path, f"is damaged: it ends within its header; {_REMEDY}")
    schema = parse_json(line, path, dict[str, Any], remedy=_REMEDY).get("schema")
    if type(schema) is not int:
        raise FileError(path, f"has no schema number; {_REMEDY}")
    refuse_newer(path, schema, SCHEMA)
    header = parse_json(line, path, BaselineHeader, remedy=_REMEDY)
    if schema < 3:
        note("%s: was written by an earlier version, and its digest does not cover its header; %s", path, _REMEDY)
        covered = body
    else:
        covered = content.replace(_digest_field(header.sha256), _digest_field(_NO_DIGEST), 1)
    if hashlib.sha256(covered).hexdigest() != header.sha256:
        what = "its rows are" if schema < 3 else "its content is"
        raise FileError(path, f"is damaged: {what} not what was written; {_REMEDY}")
    suites, start = {}, 0
    for name, facts in header.suites.items():
        storable = 0 <= facts.rows <= MOST_ROWS and LEAST_BITS <= facts.bits <= 64
        if not storable or not facts.labels or not set(facts.labels) <= set(GOLD_MASKS):
            raise FileError(path, f"suites.{name}: no such rows can be stored; {_REMEDY}")
        try:
            suites[name] = _unpack(body[start : start + facts.bytes], facts)
        except (ValueError, zlib.error) as error:
            raise FileError(path, f"suites.{name}: is damaged ({error}); {_REMEDY}") from error
        start += facts.bytes
    return StoredBaseline(header.model, header.settings, header.acidtest, suites, header.name)


def _digest_field(sha256: str) -> bytes:
    """The digest as it is written in the header, with its key."""
    return f'"sha256": {json.dumps(sha256)}'.encode()


def _pack(suite: StoredSuite, *, grouped: bool) -> bytes:
    distances = np.diff(suite.digests, prepend=np.uint64(0)).astype("<u8")
    planes = [_planes(distances, 8), np.packbits(suite.correct).tobytes(), suite.label.astype(np.uint8).tobytes()]
    if grouped:
        planes.append(_planes(suite.group.astype("<u4"), 4))
    return zlib.compress(b"".join(planes), 9)


def _planes(values: npt.NDArray[Any], width: int) -> bytes:
    """The bytes of numbers, all last ones first, which packs better than one number after the other."""
    return values.view(np.uint8).reshape(-1, width).T.tobytes()


def _unpack(packed: bytes, facts: SuiteFacts) -> StoredSuite:
    n = facts.rows
    lengths = [8 * n, (n + 7) // 8, n, 4 * n * facts.grouped]
    unpacker = zlib.decompressobj()
    content = unpacker.decompress(packed, sum(lengths) + 1)
    if len(content) != sum(lengths) or not unpacker.eof:
        raise ValueError(f"{sum(lengths):,} bytes of rows were expected")
    ends = np.cumsum(lengths)
    parts = [content[end - length : end] for end, length in zip(ends, lengths, strict=True)]
    distances = np.frombuffer(parts[0], np.uint8).reshape(8, -1).T.copy().view("<u8").ravel().astype(np.uint64)
    label = np.frombuffer(parts[2], np.uint8)
    if label.size and int(label.max()) >= len(facts.labels):
        raise ValueError("a row has a label that the header does not name")
    group = np.arange(n, dtype=np.int32)
    if facts.grouped:
        group = np.frombuffer(parts[3], np.uint8).reshape(4, -1).T.copy().view("<u4").ravel().astype(np.int32)
    return StoredSuite(
        facts.signature,
        facts.version,
        facts.labels,
        facts.bits,
        np.cumsum(distances, dtype=np.uint64),
        np.unpackbits(np.frombuffer(parts[1], np.uint8), count=n).astype(np.bool_),
        label,
        group,
        facts.two_way,
    )
