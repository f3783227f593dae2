"""A run: what a model answered on some suites, with everything needed to say where it comes from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from acidtest.core.errors import AcidtestError, FileError, list_some
from acidtest.core.files import replace_file, write_json
from acidtest.core.labels import GOLD_MASKS, Collapse
from acidtest.core.structured import read_own_json
from acidtest.core.suite import COLUMNS, CONTROL, Card, Kind, sink_rows, visit_batches
from acidtest.version import __version__

SCHEMA = 1
HEADER = "run.json"
PREDICTIONS = "predictions.parquet"
JOURNAL = "answers.part"
FILES_READ = "files.part"
"""The digests of the files that the model of an unfinished run read while it predicted, by path."""
ANSWER_COLUMNS = ("p_entailment", "p_neutral", "p_contradiction", "answer", "correct")


@dataclass(frozen=True)
class ModelFacts:
    """What a run records about its model: enough to name it, not enough to run it."""

    spec: str
    name: str
    fingerprint: str | None = None
    resolution: str = "three-way"
    probabilities: bool = True

    @property
    def signature(self) -> str:
        """The name, followed by a digest of the fingerprint unless that is missing or equal to the name."""
        if self.fingerprint in (None, self.name):
            return self.name
        return f"{self.name}#{hashlib.sha256(str(self.fingerprint).encode()).hexdigest()[:10]}"


@dataclass(frozen=True)
class Header:
    """Everything about a run but its rows."""

    model: ModelFacts
    suites: Mapping[str, Card]
    settings: Mapping[str, Any]
    key: str = ""
    request: str = ""
    """Hash of the request, computed before suites are made; empty where equal requests could give different suites."""
    versions: Mapping[str, str] = field(default_factory=dict)
    timings: Mapping[str, float] = field(default_factory=dict)
    usage: Mapping[str, float] = field(default_factory=dict)
    """Pairs asked, speed and resources used, as measured by the process that finished the run."""
    unanswered: Mapping[str, int] = field(default_factory=dict)
    truncated: Mapping[str, int] = field(default_factory=dict)
    files_read: Mapping[str, str] = field(default_factory=dict)
    """The digests of the files that the model read while it predicted, by a digest of their path."""
    notes: tuple[str, ...] = ()
    started: str = ""
    finished: str = ""
    predictions_sha256: str = ""
    """Digest of predictions.parquet as it was written; empty in runs of earlier versions."""
    name: str = ""
    """What the user called the run; empty if nothing."""
    schema: int = SCHEMA

    @property
    def collapse(self) -> Collapse:
        """How probabilities became verdicts."""
        return Collapse.parse(str(self.settings.get("collapse", "argmax")))

    def is_two_way(self, suite: str) -> bool:
        """Whether the suite is judged by two labels: the model has no more, or its pairs are documents and claims."""
        return self.model.resolution == "two-way" or self.suites[suite].about_claims

    def signature(self, suite: str) -> str:
        """One line that names everything that could change a score on the suite."""
        tail = [
            f"collapse:{self.collapse}",
            f"limit:{self.settings.get('limit') or 'none'}",
            f"model:{self.model.signature}",
            f"acidtest:{self.versions.get('acidtest', __version__)}",
        ]
        return "|".join([self.suites[suite].signature, *tail])

    def to_json(self) -> dict[str, Any]:
        """The header as plain values: the content of run.json, without the name if the run has none."""
        fields = asdict(self) | {"suites": {name: card.to_json() for name, card in self.suites.items()}}
        return fields if self.name else {key: value for key, value in fields.items() if key != "name"}


class PredictionsFile:
    """A predictions.parquet whose content must not change, because its rows are read more than once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stamp = self._current_stamp()
        self.sha256 = self._current_digest()

    def check(self) -> None:
        """Raise when the content has changed; it is hashed again only if the file's date, size or inode has changed."""
        stamp = self._current_stamp()
        if stamp == self._stamp:
            return
        if self._current_digest() != self.sha256:
            advice = "read the folder again, and give runs that are to stay a folder each"
            raise FileError(self.path, f"was replaced or changed after this run was written or read; {advice}")
        self._stamp = stamp

    def scan(self) -> pl.LazyFrame:
        """A lazy frame of the rows."""
        return pl.scan_parquet(self.path, glob=False, hive_partitioning=False)

    def _current_stamp(self) -> tuple[int, ...]:
        with _name_in_errors(self.path):
            status = self.path.stat()
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns

    def _current_digest(self) -> str:
        with _name_in_errors(self.path), self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _name_in_errors(path: Path) -> Iterator[None]:
    """Raise a ``FileError`` that names the path in place of an ``OSError``."""
    try:
        yield
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror or error}; run it again with --fresh") from error


@dataclass(frozen=True)
class Run:
    """A header and one row per pair: the suite's columns, then ``ANSWER_COLUMNS`` and whether the pair was truncated.

    A lazy frame reads rows on use, and only the columns needed; a frame in memory is used as it is.
    """

    header: Header
    frame: pl.LazyFrame | pl.DataFrame
    file: PredictionsFile | None = None
    """The file that a lazy frame reads; None for a frame in memory."""

    @cached_property
    def predictions(self) -> pl.DataFrame:
        """All rows with all columns."""
        return self.collected(self.frame.lazy())

    @cached_property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self.frame.lazy().collect_schema().names()

    def lazy(self, suite: str) -> pl.LazyFrame:
        """The rows of one suite, without the columns of other suites."""
        others = {
            column
            for name, card in self.header.suites.items()
            for column in card.columns
            if name != suite and column not in self.header.suites[suite].columns
        }
        return self.frame.lazy().filter(pl.col("suite") == suite).drop(others, strict=False)

    def rows(self, suite: str) -> pl.DataFrame:
        """The rows of one suite in memory."""
        return self.collected(self.lazy(suite))

    def collected(self, frame: pl.LazyFrame, *, streaming: bool = False) -> pl.DataFrame:
        """Collect a lazy frame of this run's rows; with ``streaming``, the file is read piece by piece."""
        with self._guarded_read():
            return frame.collect(engine="streaming" if streaming else "auto")

    def visit(self, frame: pl.LazyFrame, visit: Callable[[pl.DataFrame], None]) -> None:
        """Call a function on each batch of a lazy frame of this run's rows, in order."""
        with self._guarded_read():
            visit_batches(frame, visit)

    @contextmanager
    def _guarded_read(self) -> Iterator[None]:
        """Raise when the file cannot be read, or has changed before or during the read."""
        if self.file:
            self.file.check()
        try:
            yield
        except (OSError, pl.exceptions.PolarsError) as error:
            if self.file:
                self.file.check()
            reason = str(error).splitlines()[0]
            raise AcidtestError(
                f"the predictions of {self.header.model.name} cannot be read ({reason}); run it again with --fresh"
            ) from error
        # Another process may have replaced the file while it was being read.
        if self.file:
            self.file.check()

    def write_predictions(self, folder: str | Path) -> Run:
        """Write predictions.parquet, piece by piece, and return the run that reads them from there."""
        path = Path(folder) / PREDICTIONS
        with replace_file(path) as temporary:
            model = self.header.model
            facts = {"schema": SCHEMA, "resolution": model.resolution, "probabilities": model.probabilities}
            sink_rows(self.frame.lazy(), temporary, {"acidtest": json.dumps(facts)})
        file = PredictionsFile(path)
        return Run(replace(self.header, predictions_sha256=file.sha256), file.scan(), file)

    def write_header(self, folder: str | Path) -> None:
        """Write run.json; call this last, because a folder that has it counts as a finished run."""
        write_json(Path(folder) / HEADER, self.header.to_json())

    @classmethod
    def read(cls, folder: str | Path) -> Run:
        """The run in a folder that ``acidtest run`` or ``acidtest score`` wrote."""
        folder = Path(folder)
        if not (folder / HEADER).is_file():
            raise FileError(folder, _describe_missing_run(folder))
        header = read_own_json(folder / HEADER, Header, SCHEMA, remedy="run it again with --fresh")
        file = PredictionsFile(folder / PREDICTIONS)
        if header.predictions_sha256 not in ("", file.sha256):
            raise FileError(
                file.path,
                f"is not the file that {HEADER} describes (SHA-256 {file.sha256[:12]}…, expected "
                f"{header.predictions_sha256[:12]}…): it was damaged, edited or replaced; run it again with --fresh",
            )
        try:
            frame = file.scan()
            schema = frame.collect_schema()
        except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            raise FileError(file.path, f"cannot be read: {error}") from error
        _check_columns(folder, header, schema)
        return cls(header, _judge_claims(frame, header), file)


@dataclass(frozen=True)
class SuitePattern:
    """Suites that a study is about, by name, by columns or by the kind of a column; controls never are.

    ``names`` are globs of names without options; each of ``columns`` is a set of columns that suffices.
    """

    names: tuple[str, ...] = ()
    columns: tuple[tuple[str, ...], ...] = ()
    kinds: tuple[Kind, ...] = ()

    def matches(self, name: str, card: Card) -> bool:
        """Whether the study is about a suite."""
        return not name.endswith(CONTROL) and (
            any(fnmatchcase(name.partition(":")[0], glob) for glob in self.names)
            or any(set(columns) <= set(card.columns) for columns in self.columns)
            or any(kind in self.kinds for kind in card.columns.values())
        )

    def names_in(self, run: Run) -> list[str]:
        """The suites of a run that the study is about."""
        return [name for name, card in run.header.suites.items() if self.matches(name, card)]

    def __call__(self, runs: Sequence[Run]) -> bool:
        """Whether the study is about any suite of the runs."""
        return any(map(self.names_in, runs))


def _judge_claims(frame: pl.LazyFrame, header: Header) -> pl.LazyFrame:
    """The rows of a run with claims judged as supported or not; before 0.3, runs were written by three labels."""
    claims = [name for name, card in header.suites.items() if card.about_claims]
    if not claims:
        return frame
    unsupported = [name for name, mask in GOLD_MASKS.items() if not mask & GOLD_MASKS["entailment"]]
    rejected = pl.col("answer") != "entailment"
    if header.collapse.mode == "sum":
        rejected = pl.col("p_neutral").cast(pl.Float64) + pl.col("p_contradiction") > 0.5
    right = pl.col("suite").is_in(claims) & pl.col("label").is_in(unsupported) & rejected.fill_null(False)
    return frame.with_columns(correct=pl.col("correct") | right)


def _check_columns(folder: Path, header: Header, schema: pl.Schema) -> None:
    """Raise when a header names columns that the predictions do not have, or an unknown rule for verdicts."""
    remedy = "run it again with --fresh"
    missing = [name for name in ("suite", *COLUMNS, *ANSWER_COLUMNS, "truncated") if name not in schema]
    if missing:
        raise FileError(folder / PREDICTIONS, f"has no column {list_some(missing)}; {remedy}")
    for column in ("suite", *COLUMNS, *ANSWER_COLUMNS, "truncated"):
        kind, fits = ("text", schema[column] == pl.String)
        if column.startswith("p_"):
            kind, fits = ("number", schema[column].is_float())
        elif column in ("correct", "truncated"):
            kind, fits = ("true or false", schema[column] == pl.Boolean)
        # A column of nulls alone may have any type in runs of earlier versions.
        if not fits and schema[column] != pl.Null:
            raise FileError(folder / PREDICTIONS, f"{column!r} is of type {schema[column]}, not {kind}; {remedy}")
    for name, card in header.suites.items():
        for column in dict.fromkeys(
            (*card.columns, *card.strata, *(factor for crossing in card.crossings for factor in crossing))
        ):
            kind = card.columns.get(column, "label" if column in COLUMNS else "unknown")
            expected = {"category": pl.Boolean(), "factor": pl.String()}.get(kind, schema.get(column))
            if column not in schema or kind == "unknown" or schema[column] != expected:
                raise FileError(
                    folder / HEADER, f"suites.{name}: {column!r} is no {kind} column of {PREDICTIONS}; {remedy}"
                )
    try:
        _ = header.collapse
    except AcidtestError as error:
        raise FileError(folder / HEADER, f"settings.collapse: {error}; {remedy}") from error


def _describe_missing_run(folder: Path) -> str:
    if folder.is_file():
        return "is a file; a run is a folder that acidtest run or acidtest score wrote"
    if not folder.is_dir():
        return "there is no such folder"
    if (folder / JOURNAL).exists():
        return "holds an unfinished run; the acidtest run command that began it continues it"
    run_folders = sorted(path.parent.name for path in folder.glob(f"*/{HEADER}"))
    if run_folders:
        return f"holds no run itself, but its folders do: {list_some(run_folders)}"
    return f"holds no finished run (no {HEADER})"


def runs_by_suite(model: str, runs: Sequence[Run], wanted: Callable[[Run, str], bool]) -> dict[str, Run]:
    """The run that holds each wanted suite, of the runs of one model; an error if two of them hold the same suite."""
    by_suite: dict[str, Run] = {}
    for run in runs:
        for suite in (name for name in run.header.suites if wanted(run, name)):
            if suite in by_suite:
                raise AcidtestError(f"two runs of {model} hold {suite!r}; pass one of them")
            by_suite[suite] = run
    return by_suite
