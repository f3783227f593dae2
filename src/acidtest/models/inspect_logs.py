"""Logs of Inspect: ``.eval`` files, which are zip archives of JSON, and ``.json`` files.

Inspect packs its archives with Zstandard, which Python reads from 3.14 on; before that, the package that Inspect itself
uses is needed.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from acidtest.core.errors import FileError, import_optional
from acidtest.core.files import Archive, chunks
from acidtest.core.labels import LABELS, Probabilities
from acidtest.core.structured import MOST_BYTES, MOST_TABLE_BYTES, parse_json, read_json, read_json_entries
from acidtest.models.harness_logs import HarnessLog, mean_label, parse_recipe
from acidtest.models.harness_tasks import ReplyAnswer, TaskRecipe, read_answer
from acidtest.models.prompts import COLUMNS

HOST = "inspect"

ENDING = ".eval"

SCORER = "gold_label"
"""The scorer of our tasks; Inspect puts the name of the package before it where it is not unique."""

NO_ANSWER = "N"

MAX_SAMPLES = 500_000
"""The most samples in one log, over all epochs; MultiNLI has 392,702 pairs to train on."""

_ZSTANDARD = 93
_JOURNAL = re.compile(r"_journal/summaries/\d+\.json")
_SAMPLE = re.compile(r"samples/[^/]+\.json")
_BEGINNING = re.compile(rb'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"')
_COPY = "is it a log of Inspect? copy the file again"


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
        with Archive(path, remedy=_COPY) as archive:
            _allow_zstandard(archive)
            header = _read_header(archive)
            recipe = _read_recipe(header, path)
            answers = _read_answers(path, _read_summaries(archive), recipe, need_scores=True)
            # Without scores in the summaries, the samples themselves have the replies.
            answers = answers or _read_answers(path, _read_whole_samples(archive), recipe)
    else:
        header = read_json(
            path, InspectHeader, foreign=True, most_bytes=MOST_TABLE_BYTES, remedy="is it a log of Inspect?"
        )
        recipe = _read_recipe(header, path)
        answers = _read_answers(path, header.samples or (), recipe)
    assert answers is not None
    facts = header.eval
    return HarnessLog(
        path,
        HOST,
        facts.task,
        facts.model,
        facts.created,
        recipe,
        {identifier: mean_label(epochs) for identifier, epochs in answers.epochs.items()},
        probabilities=False,
        unfinished="" if header.status == "success" else _describe_unfinished(header, answers.scored),
    ).require_rows()


def _read_recipe(header: InspectHeader, path: Path) -> TaskRecipe:
    text = (header.eval.metadata or {}).get("acidtest")
    if not isinstance(text, str):
        raise FileError(path, f"is the log of {header.eval.task!r}, which is no task of acidtest's: it has no recipe")
    return parse_recipe(text, f"{path}: eval.metadata.acidtest")


def _describe_unfinished(header: InspectHeader, scored: int) -> str:
    total = header.eval.dataset.samples if header.eval.dataset else None
    return f"its status is {header.status}: {scored:,}{'' if total is None else f' of {total:,}'} samples have scores"


@dataclass
class _LoggedAnswers:
    """The answers to each sample, one for each epoch, and how many samples have scores."""

    epochs: dict[str, list[Probabilities]] = field(default_factory=dict)
    scored: int = 0


def _read_answers(
    path: Path, samples: Iterable[LoggedSample], recipe: TaskRecipe, *, need_scores: bool = False
) -> _LoggedAnswers | None:
    """The answers of all samples; None if scores are needed and a sample without an error has none."""
    answers = _LoggedAnswers()
    for number, sample in enumerate(samples, start=1):
        if number > MAX_SAMPLES:
            raise FileError(path, f"holds more than {MAX_SAMPLES:,} samples; split the suite and log its parts")
        if need_scores and not sample.scores and not sample.error:
            return None
        answers.scored += bool(sample.scores)
        answers.epochs.setdefault(str(sample.id), []).append(_read_sample(sample, recipe, path).row)
    return answers


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


def _allow_zstandard(archive: Archive) -> None:
    """Let ``zipfile`` unpack Zstandard, where Python cannot yet, if an archive is packed with it."""
    packed = any(member.compress_type == _ZSTANDARD for member in archive.members.values())
    if packed and not hasattr(zipfile, "ZIP_ZSTANDARD"):
        import_optional("zipfile_zstd", extra="inspect", work="a log of Inspect, packed with Zstandard,")


def _read_header(archive: Archive) -> InspectHeader:
    name = next((name for name in ("header.json", "_journal/start.json") if name in archive.members), None)
    if name is None:
        raise FileError(archive.path, "has neither header.json nor _journal/start.json, as logs of Inspect have")
    content = archive.read(name, MOST_BYTES)
    return parse_json(content, f"{archive.path}: {name}", InspectHeader, foreign=True)


def _read_summaries(archive: Archive) -> Iterator[LoggedSample]:
    """The samples without their replies, from the summaries at the end of a run or those written while it lasts."""
    whole = "summaries.json" in archive.members
    for name in ["summaries.json"] if whole else filter(_JOURNAL.fullmatch, archive.members):
        yield from read_json_entries(archive.pieces(name), f"{archive.path}: {name}", LoggedSample, remedy=_COPY)


def _read_whole_samples(archive: Archive) -> Iterator[LoggedSample]:
    for name in filter(_SAMPLE.fullmatch, archive.members):
        content = archive.read(name, MOST_BYTES)
        yield parse_json(content, f"{archive.path}: {name}", LoggedSample, foreign=True)
