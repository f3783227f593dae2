"""Logs of Inspect: ``.eval`` files, which are zip archives of JSON, and ``.json`` files.

Inspect packs its archives with Zstandard, which Python reads from 3.14 on; before that, the package that Inspect itself
uses is needed.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from acidtest.core.errors import FileError, import_optional
from acidtest.core.files import chunks, open_regular_file
from acidtest.core.labels import LABELS, Probabilities
from acidtest.core.structured import MOST_TABLE_BYTES, parse_json, read_json
from acidtest.models.harness_logs import HarnessLog, mean_label, parse_recipe
from acidtest.models.harness_tasks import ReplyAnswer, TaskRecipe, read_answer
from acidtest.models.prompts import COLUMNS

HOST = "inspect"

ENDING = ".eval"

SCORER = "gold_label"
"""The scorer of our tasks; Inspect puts the name of the package before it where it is not unique."""

NO_ANSWER = "N"

_ZSTANDARD = 93
_JOURNAL = re.compile(r"_journal/summaries/\d+\.json")
_SAMPLE = re.compile(r"samples/[^/]+\.json")
_BEGINNING = re.compile(rb'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"')
_PIECE = 1 << 20

S = TypeVar("S")


@dataclass(frozen=True)
class LoggedDataset:
    """How many samples a task has."""

    samples: int | None = None


@dataclass(frozen=True)
class TaskFacts:
    """What a log says about its task and model."""

    task: str
    model: str
    created: str = ""
    metadata: dict[str, Any] | None = None
    dataset: LoggedDataset | None = None


@dataclass(frozen=True)
class LoggedScore:
    """The score of a sample: a value, and the label that was read."""

    value: Any
    answer: str | None = None


@dataclass(frozen=True)
class LoggedOutput:
    """The reply of the model."""

    completion: str = ""


@dataclass(frozen=True)
class LoggedSample:
    """A sample of a log; summaries have no output."""

    id: str | int
    epoch: int = 1
    scores: dict[str, LoggedScore] | None = None
    output: LoggedOutput | None = None
    error: Any = None


@dataclass(frozen=True)
class InspectHeader:
    """The beginning of a log; a log in JSON also has the samples."""

    eval: TaskFacts
    status: str = "started"
    samples: list[LoggedSample] | None = field(default=None)


def is_inspect_log(path: Path) -> bool:
    """Whether a file is a log of Inspect, by the ending of its name or, for JSON, its beginning."""
    if path.suffix == ENDING:
        return True
    return path.suffix == ".json" and path.is_file() and bool(_BEGINNING.match(next(chunks(path), b"")))


def read_inspect_log(path: Path) -> HarnessLog:
    """The answers in a log of Inspect; of several epochs, the most frequent one for each sample."""
    if path.suffix == ENDING:
        header, samples = _read_archive(path)
    else:
        header = read_json(
            path, InspectHeader, foreign=True, most_bytes=MOST_TABLE_BYTES, remedy="is it a log of Inspect?"
        )
        samples = header.samples or []
    text = (header.eval.metadata or {}).get("acidtest")
    if not isinstance(text, str):
        raise FileError(path, f"is the log of {header.eval.task!r}, which is no task of acidtest's: it has no recipe")
    unfinished = "" if header.status == "success" else _describe_unfinished(header, samples)
    recipe = parse_recipe(text, f"{path}: eval.metadata.acidtest")
    answers: dict[str, list[Probabilities]] = {}
    for sample in samples:
        answers.setdefault(str(sample.id), []).append(_read_sample(sample, recipe, path).row)
    rows = {identifier: mean_label(epochs) for identifier, epochs in answers.items()}
    facts = header.eval
    return HarnessLog(
        path, HOST, facts.task, facts.model, facts.created, recipe, rows, probabilities=False, unfinished=unfinished
    ).require_rows()


def _describe_unfinished(header: InspectHeader, samples: list[LoggedSample]) -> str:
    scored = sum(bool(sample.scores) for sample in samples)
    total = header.eval.dataset.samples if header.eval.dataset else None
    return f"its status is {header.status}: {scored:,}{'' if total is None else f' of {total:,}'} samples have scores"


def _read_sample(sample: LoggedSample, recipe: TaskRecipe, path: Path) -> ReplyAnswer:
    """The label of a sample, by our scorer, else read from the reply; an error of the model is no answer."""
    scores = {name.rpartition("/")[2]: score for name, score in (sample.scores or {}).items()}
    score = scores.get(SCORER)
    if score is None:
        if sample.output is None and sample.error is None:
            raise FileError(path, f"sample {sample.id}: has neither a reply nor a score of {SCORER}")
        return read_answer(sample.output.completion if sample.output else "", recipe.words)
    if score.answer is not None and score.answer not in COLUMNS:
        raise FileError(path, f"sample {sample.id}: answer {score.answer!r} is not {', '.join(LABELS)}")
    if score.answer is None and score.value not in (NO_ANSWER, None, 0, 0.0):
        raise FileError(path, f"sample {sample.id}: has a score of {score.value!r} and no answer")
    return ReplyAnswer(score.answer)


def _read_archive(path: Path) -> tuple[InspectHeader, list[LoggedSample]]:
    """The header and the samples of an archive: their summaries or, where these have no scores, they themselves."""
    with open_regular_file(path) as file:
        try:
            archive = zipfile.ZipFile(file)
        except zipfile.BadZipFile as error:
            raise FileError(path, f"is no zip archive, as logs of Inspect are: {error}") from error
        with archive:
            members = {member.filename: member for member in archive.infolist()}
            if any(member.compress_type == _ZSTANDARD for member in members.values()):
                _allow_zstandard()
            beginning = members.get("header.json") or members.get("_journal/start.json")
            if beginning is None:
                raise FileError(path, "has neither header.json nor _journal/start.json, as logs of Inspect have")
            header = _read_member(path, archive, beginning, InspectHeader)
            names = ["summaries.json"] if "summaries.json" in members else filter(_JOURNAL.fullmatch, members)
            parts = [_read_member(path, archive, members[name], list[LoggedSample]) for name in names]
            samples = [sample for part in parts for sample in part]
            if any(not sample.scores and not sample.error for sample in samples):
                whole = filter(_SAMPLE.fullmatch, members)
                samples = [_read_member(path, archive, members[name], LoggedSample) for name in whole]
            return header, samples


def _allow_zstandard() -> None:
    """Let ``zipfile`` unpack Zstandard, where Python cannot yet."""
    if not hasattr(zipfile, "ZIP_ZSTANDARD"):
        import_optional("zipfile_zstd", extra="inspect", work="a log of Inspect, packed with Zstandard,")


def _read_member(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo, shape: type[S]) -> S:
    """A JSON file of the archive; no more is unpacked than a file of data may have."""
    content = bytearray()
    try:
        with archive.open(member) as file:
            while piece := file.read(_PIECE):
                content += piece
                if len(content) > MOST_TABLE_BYTES:
                    raise FileError(path, f"{member.filename}: unpacks to more than {MOST_TABLE_BYTES:,} bytes")
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error) as error:
        raise FileError(path, f"{member.filename}: cannot be unpacked: {error}; copy the file again") from error
    return parse_json(bytes(content), f"{path}: {member.filename}", shape, foreign=True)
