"""The engine on a Ray cluster: Ray Data distributes the parts, starts workers and replaces those that die."""

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
"""Bytes of parts that wait on the cluster at a time; workers are restarted for the next window."""

_TASK = 1 << 15
"""Bytes of parts that a worker gets at once; a larger part goes alone."""

_STORE = 1 << 30
"""Bytes of shared memory of a cluster that this process starts; the rest goes to disk."""

_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_BACKEND_LOG_LEVEL": "fatal", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
"""Settings that stop Ray from reporting its use and from writing to standard error."""

_PLACE = re.compile(r"(?:ray://)?(?P<host>[^:/]+):(?P<port>\d{1,5})")
_TIMEOUT = 10.0


class Worker(Protocol):
    """Processes parts; every worker process of the cluster creates one."""

    def process(self, part: pl.DataFrame) -> pl.DataFrame: ...

    def status(self) -> Mapping[str, Any]:
        """Facts to send back with each part, as values that JSON can hold."""
        ...


Recipe = Callable[[], Worker]
"""Creates a worker on its node; it is pickled, so it holds plain values and importable names."""


@dataclass(frozen=True)
class PartResult:
    """The rows that a worker made of a part, the worker's name and its status."""

    rows: pl.DataFrame
    worker: str
    status: Mapping[str, Any]


def require_ray() -> None:
    """Raise when Ray is not installed."""
    if importlib.util.find_spec("ray") is None:
        raise AcidtestError("--engine ray needs Ray, which is not installed; get it with: pip install 'acidtest[ray]'")


@dataclass(frozen=True)
class Cluster:
    """A Ray cluster: the one at an address, the one this process is connected to, or a new one on this machine.

    With ``gpus`` a worker takes a GPU where the cluster has any, else a processor.
    """

    address: str | None = None
    gpus: bool = False

    def map(self, parts: Iterable[pl.DataFrame], recipe: Recipe, *, ordered: bool = False) -> Iterator[PartResult]:
        """The results of all parts, as they arrive or, when ``ordered``, in the order of the parts.

        Without parts nothing is started. An ``AcidtestError`` in a worker is raised here.
        """
        waiting = iter(parts)
        for first in waiting:
            with _connect(self.address):
                rest: Iterator[pl.DataFrame] = chain([first], waiting)
                while blocks := _store_window(rest):
                    yield from self._process(blocks, recipe, ordered=ordered)

    def _process(self, blocks: list[Any], recipe: Recipe, *, ordered: bool) -> Iterator[PartResult]:
        import ray
        import ray.data

        for handler in logging.getLogger("ray.data").handlers:
            # Handlers that other programs added are left alone.
            if isinstance(handler, logging.StreamHandler) and type(handler).__module__.startswith("ray."):
                handler.setLevel(logging.CRITICAL)
        resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
        gpu_count = int(resources.get("GPU", 0)) if self.gpus else 0
        workers = gpu_count or max(1, int(resources.get("CPU", 1)))
        rows = ray.data.from_arrow_refs(blocks).map_batches(
            _Actor,
            fn_constructor_args=(recipe, str(Path.cwd())),
            batch_size=1,
            batch_format="pyarrow",
            compute=ray.data.ActorPoolStrategy(size=min(workers, len(blocks))),
            num_gpus=1 if gpu_count else None,
        )
        rows.context.enable_progress_bars = False
        rows.context.execution_options.preserve_order = ordered
        tables = iter(rows.iter_batches(batch_size=None, batch_format="pyarrow"))
        try:
            for table in tables:
                yield from _read_results(table)
        except Exception as error:
            # Ray's errors have no common base class: their module tells them apart.
            if not type(error).__module__.startswith("ray."):
                raise
            message = (str(error).strip().splitlines() or [type(error).__name__])[-1]
            raise AcidtestError(
                f"Ray stopped ({type(error).__name__}: {message}); answers are kept, and the same command continues"
            ) from error
        finally:
            if hasattr(tables, "close"):
                tables.close()


@contextmanager
def _connect(address: str | None) -> Iterator[None]:
    """Connect to the cluster; an existing connection is used and left open."""
    require_ray()
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    import ray

    if ray.is_initialized():
        yield
        return
    target = address or os.environ.get("RAY_ADDRESS") or "local"
    settings: dict[str, Any] = {"include_dashboard": False, "object_store_memory": _STORE} if target == "local" else {}
    stage("connecting to Ray (%s)", target)
    try:
        # Ray itself would retry for minutes where nothing listens.
        if place := _PLACE.fullmatch(target):
            socket.create_connection((place["host"], int(place["port"])), timeout=_TIMEOUT).close()
        with _silent_stderr():
            ray.init(address=target, log_to_driver=False, logging_level=logging.FATAL, **settings)
    except (OSError, RuntimeError, ValueError) as error:
        message = (str(error).strip().splitlines() or [""])[0]
        raise AcidtestError(
            f"no Ray cluster can be used at {target!r} ({message}); start one with ray start --head, or leave "
            f"--address out to use this machine alone"
        ) from error
    try:
        yield
    finally:
        ray.shutdown()


@contextmanager
def _silent_stderr() -> Iterator[None]:
    """Discard standard error, on which Ray's programs report that their messages are turned off."""
    with os.fdopen(os.dup(2), "wb") as original, Path(os.devnull).open("wb") as nothing:
        os.dup2(nothing.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(original.fileno(), 2)


def _store_window(parts: Iterator[pl.DataFrame]) -> list[Any]:
    """Store the next window of parts on the cluster, in blocks of about ``_TASK`` bytes; return their references."""
    import ray

    references, contents, size = list[Any](), list[bytes](), 0
    for part in parts:
        content = _pack(part)
        if contents and sum(map(len, contents)) + len(content) > _TASK:
            references.append(ray.put(_table(contents)))
            contents = []
        contents.append(content)
        size += len(content)
        if size > WINDOW:
            break
    return [*references, ray.put(_table(contents))] if contents else references


def _table(contents: list[bytes]) -> Any:
    import pyarrow as pa  # type: ignore[import-untyped]

    return pa.table({"part": pa.array(contents, pa.large_binary())})


def _read_results(table: Any) -> Iterator[PartResult]:
    """The results in a table from a worker; an error that the worker sent back is raised."""
    for row in table.to_pylist():
        if row["mistake"] is not None:
            raise AcidtestError(row["mistake"])
        if row["failure"] is not None:
            raise RuntimeError(f"worker {row['worker']} failed\n{row['failure']}")
        yield PartResult(_unpack(row["rows"]), row["worker"], json.loads(row["status"]))


def _pack(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.write_ipc(buffer)
    return buffer.getvalue()


def _unpack(content: bytes) -> pl.DataFrame:
    return pl.read_ipc(io.BytesIO(content))


class _Actor:
    """The Ray actor around a worker; it sends errors back as rows."""

    def __init__(self, recipe: Recipe, folder: str) -> None:
        self._recipe = recipe
        # Paths of models and files are relative to the folder of the command; nodes that have it can resolve them.
        with suppress(OSError):
            os.chdir(folder)
        self._name = f"{os.getpid()}@{socket.gethostname()}"

    @cached_property
    def _worker(self) -> Worker:
        return self._recipe()

    def __call__(self, table: Any) -> Any:
        import pyarrow as pa

        texts = dict.fromkeys(("mistake", "failure", "worker", "status"), pa.string())
        schema = pa.schema({"rows": pa.large_binary(), **texts})
        return pa.Table.from_pylist([self._row(part.as_py()) for part in table["part"]], schema=schema)

    def _row(self, part: bytes) -> dict[str, Any]:
        row: dict[str, Any] = {"worker": self._name}
        try:
            rows = self._worker.process(_unpack(part))
            return row | {"rows": _pack(rows), "status": json.dumps(dict(self._worker.status()))}
        except AcidtestError as error:
            return row | {"mistake": str(error)}
        except Exception:
            return row | {"failure": traceback.format_exc()}
