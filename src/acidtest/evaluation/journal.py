"""Answers kept as they come: an append-only file that a kill at any moment leaves readable."""

from __future__ import annotations

import json
import os
import struct
import zlib
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from acidtest.core.errors import FileError
from acidtest.evaluation.plan import Batch, Plan

SCHEMA = 1
_RECORD = struct.Struct("<III")


class Journal:
    """The answers to the batches of one plan. Each batch is on disk before the next one is asked."""

    def __init__(self, path: str | Path, plan: Plan) -> None:
        self._path = Path(path)
        self._plan = plan
        self._file: BinaryIO | None = None

    def __enter__(self) -> Journal:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self.done: dict[int, npt.NDArray[np.float32]] = {}
        end = self._read() if self._path.exists() else 0
        self._file = self._path.open("r+b" if end else "w+b")
        self._file.truncate(end)
        self._file.seek(end)
        if not end:
            self._write(json.dumps({"schema": SCHEMA, "plan": self._plan.key}).encode() + b"\n")
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def append(self, batch: Batch, answers: npt.NDArray[np.float32]) -> None:
        """Keep the answers to a batch; when this returns they survive a kill."""
        payload = np.ascontiguousarray(answers, dtype="<f4").tobytes()
        self._write(_RECORD.pack(batch.number, len(answers), zlib.crc32(payload)) + payload)
        self.done[batch.number] = answers

    def _write(self, content: bytes) -> None:
        assert self._file is not None
        self._file.write(content)
        self._file.flush()
        os.fsync(self._file.fileno())

    def _read(self) -> int:
        """Take in every whole record; give the place where the last one ends."""
        content = self._path.read_bytes()
        end = content.find(b"\n") + 1
        if not end or not self._is_ours(content[:end]):
            return 0
        while end + _RECORD.size <= len(content):
            number, rows, check = _RECORD.unpack_from(content, end)
            payload = content[end + _RECORD.size : end + _RECORD.size + rows * 12]
            if len(payload) < rows * 12 or zlib.crc32(payload) != check or not self._fits(number, rows):
                break
            self.done[number] = np.frombuffer(payload, dtype="<f4").reshape(-1, 3).astype(np.float32)
            end += _RECORD.size + len(payload)
        return end

    def _is_ours(self, line: bytes) -> bool:
        try:
            header = json.loads(line)
        except ValueError:
            return False
        if header != {"schema": SCHEMA, "plan": self._plan.key}:
            raise FileError(
                self._path.parent,
                "holds an unfinished run of another model, a changed model or other pairs; choose another -o, "
                "or add --fresh to start over",
            )
        return True

    def _fits(self, number: int, rows: int) -> bool:
        batches = self._plan.batches
        return number < len(batches) and batches[number].stop - batches[number].start == rows
