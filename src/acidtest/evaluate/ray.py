"""The engine that works on a Ray cluster: Ray Data shares the parts out, starts workers and replaces those that die."""

from __future__ import annotations

import importlib.util
import io
import json
import logging
import os
import re
import socket
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from acidtest.core.errors import AcidtestError
from acidtest.core.logs import stage

WINDOW = 256 << 20
"""Bytes of parts that wait on the cluster at a time; for the next so many, workers are started anew."""

_TASK = 1 << 15
"""Bytes of parts that a worker is given at once; a part that is larger goes alone."""

_STORE = 1 << 30
"""Bytes of shared memory of a cluster we start; what does not fit is put on disk."""

_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_BACKEND_LOG_LEVEL": "fatal", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
"""Ray reports to its makers and writes to standard error unless told otherwise."""


_PLACE = re.compile(r"(?:ray://)?(?P<host>[^:/]+):(?P<port>\d{1,5})")
_PATIENCE = 10.0


class Worker(Protocol):
    """What works on parts, made once in each process that does."""

    def made(self, part: pl.DataFrame) -> pl.DataFrame: ...

    def told(self) -> Mapping[str, Any]:
        """What is to be known of it after each part: values that JSON can hold."""
        ...


Recipe = Callable[[], Worker]
"""Makes a worker where it is to work; plain values and importable names, for it travels."""


@dataclass(frozen=True)
class Made:
    """What a worker made of a part, which one it was, and what it told."""

    rows: pl.DataFrame
    worker: str
    told: Mapping[str, Any]


def require_ray() -> None:
    """Raise when Ray is not installed."""
    if importlib.util.find_spec("ray") is None:
        raise AcidtestError("--engine ray needs Ray, which is not installed; get it with: pip install 'acidtest[ray]'")


@dataclass(frozen=True)
class Cluster:
    """A Ray cluster: the one at an address, the one this process is connected to, or one of this machine's own.

    ``gpus``: a worker takes a GPU, where the cluster has any; else a processor.
    """

    address: str | None = None
    gpus: bool = False

    def mapped(self, parts: Iterable[pl.DataFrame], recipe: Recipe, *, ordered: bool = False) -> Iterator[Made]:
        """What workers make of each part, as soon as it is made or, when ``ordered``, in the order of the parts.

        Nothing is started where there are no parts. A mistake of the user's that a worker runs into is raised here.
        """
        waiting = iter(parts)
        for first in waiting:
            with _connected(self.address):
                rest: Iterator[pl.DataFrame] = chain([first], waiting)
                while blocks := _put(rest):
                    yield from self._made(blocks, recipe, ordered=ordered)

    def _made(self, blocks: list[Any], recipe: Recipe, *, ordered: bool) -> Iterator[Made]:
        import ray
        import ray.data

        for handler in logging.getLogger("ray.data").handlers:
            # Others may have put handlers of theirs there, which are not ours to silence.
            if isinstance(handler, logging.StreamHandler) and type(handler).__module__.startswith("ray."):
                handler.setLevel(logging.CRITICAL)
        size, gpus = self._size()
        rows = ray.data.from_arrow_refs(blocks).map_batches(
            _Desk,
            fn_constructor_args=(recipe, str(Path.cwd())),
            batch_size=1,
            batch_format="pyarrow",
            compute=ray.data.ActorPoolStrategy(size=min(size, len(blocks))),
            num_gpus=gpus,
        )
        rows.context.enable_progress_bars = False
        rows.context.execution_options.preserve_order = ordered
        found = iter(rows.iter_batches(batch_size=None, batch_format="pyarrow"))
        try:
            for table in found:
                yield from _opened(table)
        except Exception as error:
            # Not all of Ray's errors have a class in common.
            if not type(error).__module__.startswith("ray."):
                raise
            said = (str(error).strip().splitlines() or [type(error).__name__])[-1]
            raise AcidtestError(
                f"Ray gave up ({type(error).__name__}: {said}); what was answered is kept, and the same command goes on"
            ) from error
        finally:
            if hasattr(found, "close"):
                found.close()

    def _size(self) -> tuple[int, int | None]:
        """How many workers there are to be, and how many GPUs each takes."""
        import ray

        have: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
        cards = int(have.get("GPU", 0)) if self.gpus else 0
        return cards or max(1, int(have.get("CPU", 1))), 1 if cards else None


@contextmanager
def _connected(address: str | None) -> Iterator[None]:
    """A connection to the cluster; one that was there before is used and left as it is."""
    require_ray()
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    import ray

    if ray.is_initialized():
        yield
        return
    where = address or os.environ.get("RAY_ADDRESS") or "local"
    own: dict[str, Any] = {"include_dashboard": False, "object_store_memory": _STORE} if where == "local" else {}
    stage("connecting to Ray (%s)", where)
    try:
        _knock(where)
        with _hushed():
            ray.init(address=where, log_to_driver=False, logging_level=logging.FATAL, **own)
    except (OSError, RuntimeError, ValueError) as error:
        said = (str(error).strip().splitlines() or [""])[0]
        raise AcidtestError(
            f"no Ray cluster can be used at {where!r} ({said}); start one with ray start --head, or leave --address "
            f"out to use this machine alone"
        ) from error
    try:
        yield
    finally:
        ray.shutdown()


def _knock(address: str) -> None:
    """Raise when nobody answers at a host and port; Ray would go on asking for minutes."""
    place = _PLACE.fullmatch(address)
    if place:
        socket.create_connection((place["host"], int(place["port"])), timeout=_PATIENCE).close()


@contextmanager
def _hushed() -> Iterator[None]:
    """Nothing on standard error for a while: Ray's own programs say there that they were told to be quiet."""
    with os.fdopen(os.dup(2), "wb") as kept, Path(os.devnull).open("wb") as nothing:
        os.dup2(nothing.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept.fileno(), 2)


def _put(parts: Iterator[pl.DataFrame]) -> list[Any]:
    """References to the next parts, about a window of them, in blocks of about what a worker is given at once."""
    import ray

    references, held, size = list[Any](), list[bytes](), 0
    for part in parts:
        content = _packed(part)
        if held and sum(map(len, held)) + len(content) > _TASK:
            references.append(ray.put(_table(held)))
            held = []
        held.append(content)
        size += len(content)
        if size > WINDOW:
            break
    return [*references, ray.put(_table(held))] if held else references


def _table(contents: list[bytes]) -> Any:
    import pyarrow as pa  # type: ignore[import-untyped]

    return pa.table({"part": pa.array(contents, pa.large_binary())})


def _opened(table: Any) -> Iterator[Made]:
    """The results in a table that workers made; a mistake told in one is raised."""
    for row in table.to_pylist():
        if row["mistake"] is not None:
            raise AcidtestError(row["mistake"])
        if row["failure"] is not None:
            raise RuntimeError(f"worker {row['worker']} failed\n{row['failure']}")
        yield Made(_unpacked(row["made"]), row["worker"], json.loads(row["told"]))


def _packed(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.write_ipc(buffer)
    return buffer.getvalue()


def _unpacked(content: bytes) -> pl.DataFrame:
    return pl.read_ipc(io.BytesIO(content))


class _Desk:
    """A place on the cluster where a worker works; what goes wrong there is written down and sent back."""

    def __init__(self, recipe: Recipe, folder: str) -> None:
        self._recipe = recipe
        # Models and files are named from the folder a command is run in; nodes that have it are to find them.
        with suppress(OSError):
            os.chdir(folder)
        self._name = f"{os.getpid()}@{socket.gethostname()}"

    @cached_property
    def _worker(self) -> Worker:
        return self._recipe()

    def __call__(self, table: Any) -> Any:
        import pyarrow as pa

        texts = dict.fromkeys(("mistake", "failure", "worker", "told"), pa.string())
        schema = pa.schema({"made": pa.large_binary(), **texts})
        return pa.Table.from_pylist([self._row(part.as_py()) for part in table["part"]], schema=schema)

    def _row(self, part: bytes) -> dict[str, Any]:
        row: dict[str, Any] = {"worker": self._name}
        try:
            made = self._worker.made(_unpacked(part))
            return row | {"made": _packed(made), "told": json.dumps(dict(self._worker.told()))}
        except AcidtestError as error:
            return row | {"mistake": str(error)}
        except Exception:
            return row | {"failure": traceback.format_exc()}
