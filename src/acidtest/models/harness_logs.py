"""Answers that evaluation harnesses logged, as a model that knows only those.

Logs of lm-evaluation-harness: the files ``samples_TASK_DATE.jsonl`` that ``--log_samples`` writes.

Logs of Inspect: ``.eval`` files, which are zip archives of JSON, and ``.json`` files.

Inspect packs its archives with Zstandard, which Python reads from 3.14 on; before that, the package that Inspect itself
uses is needed.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from acidtest.core.errors import AcidtestError, FileError, import_optional
from acidtest.core.files import ZipArchive, chunks
from acidtest.core.labels import LABELS, Probabilities, one_hot
from acidtest.core.logs import log
from acidtest.core.model import Keep, Resolution
from acidtest.core.structured import MOST_BYTES, MOST_TABLE_BYTES, check_shape, parse_json, read_json, read_json_entries
from acidtest.io.blocks import scan_text
from acidtest.io.jsonlines import numbered_objects
from acidtest.models.harness_tasks import ReplyAnswer, TaskRecipe, choice_probabilities, read_answer
from acidtest.models.prompts import ABSTAIN, COLUMNS


@dataclass(frozen=True)
class HarnessLog:
    """What one model answered on one task: a row of probabilities for each id, NaN without an answer.

    ``created`` sorts logs by time. ``probabilities`` says whether rows are more than labels. ``unfinished`` says how
    far a harness came that did not ask all it meant to; empty if it did.
    """

    path: Path
    host: str
    task: str
    model: str
    created: str
    recipe: TaskRecipe
    rows: Mapping[str, Probabilities]
    probabilities: bool
    unfinished: str = ""

    @property
    def name(self) -> str:
        """The name of the model that runs show: replies and likelihoods of one model are two."""
        form = "" if self.probabilities or self.host != "lm-eval" else " (replies)"
        return f"{self.host}:{self.model}{form}"

    def require_rows(self) -> HarnessLog:
        """The log itself; raises where nothing was asked, and warns where nothing was answered."""
        if not self.rows:
            raise FileError(self.path, "holds no answers; was the run interrupted?")
        if all(np.isnan(row).any() for row in self.rows.values()):
            log.warning("%s: none of its %d replies names a label; look at some of them", self.path, len(self.rows))
        return self


def parse_recipe(text: str, path: str | Path) -> TaskRecipe:
    """The recipe in a log; ``path`` is named in errors."""
    remedy = "it was not written by a task of acidtest's"
    recipe = parse_json(text.encode(errors="replace"), path, TaskRecipe, remedy=remedy)
    for key, meanings in (("choices", recipe.choices), ("words", recipe.words)):
        for word, label in meanings.items():
            if label not in (*COLUMNS, ABSTAIN):
                raise FileError(path, f"{key}.{word[:60]}: {label[:60]!r} is not a label; {remedy}")
    return recipe


def mean_label(rows: Sequence[Probabilities]) -> Probabilities:
    """The most frequent label of several answers to one pair, the first in a tie; NaN if there is none."""
    answered = [row for row in rows if not np.isnan(row).any()]
    if not answered:
        return np.full(len(LABELS), np.nan, dtype=np.float32)
    if len(rows) == 1:
        return rows[0]
    label = LABELS[int(np.mean(answered, axis=0).argmax())]
    return np.asarray(one_hot([label])[0], dtype=np.float32)


class HarnessModel:
    """The logs of one model as a model that is asked by id."""

    columns: tuple[str, ...] = ("id",)
    batch_size = 1 << 16
    keep: Keep = "nothing"
    independent = True
    may_abstain = True

    def __init__(self, logs: Sequence[HarnessLog], fingerprint: str) -> None:
        first = logs[0]
        self.name, self.fingerprint = first.name, fingerprint
        self.resolution: Resolution = first.recipe.resolution
        self.probabilities = all(logged.probabilities for logged in logs)
        prompts = ", ".join(dict.fromkeys(logged.recipe.prompt for logged in logs))
        self.notes: tuple[str, ...] = (f"answers logged by {first.host}; prompt {prompts}",)
        for other in logs:
            if other.recipe.resolution != self.resolution:
                raise AcidtestError(
                    f"{first.path} has {self.resolution} answers and {other.path} {other.recipe.resolution} ones; "
                    f"score them one at a time"
                )
        self._rows: dict[str, Probabilities] = {}
        differing = 0
        for logged in logs:
            for identifier, row in logged.rows.items():
                differing += not np.array_equal(self._rows.setdefault(identifier, row), row, equal_nan=True)
        if differing:
            # Suites made from one corpus have the same untouched pairs.
            log.warning(
                "%s: %d pairs of several tasks were answered differently; the first counts", first.name, differing
            )

    def predict(self, ids: Sequence[str]) -> npt.NDArray[np.float32]:
        """The logged answer for each id; NaN for a row that was not asked."""
        missing = np.full(len(LABELS), np.nan, dtype=np.float32)
        return np.array([self._rows.get(identifier, missing) for identifier in ids], dtype=np.float32).reshape(-1, 3)


LM_EVAL = "lm-eval"

SAMPLES = "samples_acidtest_"
"""How the names of logs of our tasks begin."""

_NAME = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl")
_NOT_OURS = "a task of acidtest export lm-eval logs it with every row"


@dataclass(frozen=True)
class SampleDoc:
    """What a task of ours logs of a row: its id, and the recipe of the task."""

    id: str
    recipe: str


@dataclass(frozen=True)
class SampleLine:
    """A line of a file of samples: the row, and what the model answered after filters."""

    doc: SampleDoc
    filtered_resps: list[Any]


@dataclass(frozen=True)
class ResultsFile:
    """What ``results_DATE.json`` says about the model."""

    model_source: str = ""
    model_name: str = ""


def is_samples_file(path: Path) -> bool:
    """Whether a file is one of samples, by the keys of its first line."""
    if path.suffix != ".jsonl" or not path.is_file():
        return False
    head = next(chunks(path), b"").partition(b"\n")[0]
    return all(key in head for key in (b'"doc"', b'"doc_id"', b'"filtered_resps"'))


def read_samples(path: Path) -> HarnessLog:
    """The answers in a file of samples; likelihoods of answers become probabilities, replies become labels."""
    answers: dict[str, list[Probabilities]] = {}
    recipe, forms = None, set[bool]()
    lines = (numbered for block in scan_text(path).blocks() for numbered in numbered_objects(path, block))
    for number, line in lines:
        sample = check_shape(line, f"{path}:{number}", SampleLine, remedy=_NOT_OURS)
        if recipe is None:
            first, recipe = sample.doc.recipe, parse_recipe(sample.doc.recipe, f"{path}:{number}: doc.recipe")
        elif sample.doc.recipe != first:
            raise FileError(
                path, "the recipe of the task is another than on the first line; are these two files?", number
            )
        row, is_choice = _read_responses(sample.filtered_resps, recipe, path, number)
        forms.add(is_choice)
        answers.setdefault(sample.doc.id, []).append(row)
    if recipe is None:
        raise FileError(path, "holds nothing, not even one answer; was the run interrupted?")
    match = _NAME.fullmatch(path.name)
    return HarnessLog(
        path,
        LM_EVAL,
        match["task"] if match else path.stem,
        _model_name(path, match["date"] if match else ""),
        match["date"] if match else "",
        recipe,
        {identifier: mean_label(rows) for identifier, rows in answers.items()},
        probabilities=forms == {True},
    ).require_rows()


def _read_responses(responses: list[Any], recipe: TaskRecipe, path: Path, line: int) -> tuple[Probabilities, bool]:
    """The answer of a row, and whether it comes from likelihoods (``[[-1.2, false], …]``) or from a text."""
    labels = list(recipe.choices.values())
    if len(responses) == 1 and isinstance(responses[0], str):
        return read_answer(responses[0], recipe.words).row, False
    try:
        # Older versions write numbers, newer ones write them as text.
        values = [float(value) for value, _ in responses]
    except (TypeError, ValueError, OverflowError):
        values = []
    if len(values) != len(labels):
        problem = f"filtered_resps holds {f'{responses!r}'[:60]}, neither one reply nor the likelihoods of "
        raise FileError(path, f"{problem}{', '.join(recipe.choices)}", line)
    return choice_probabilities(values, labels), True


def _model_name(path: Path, date: str) -> str:
    """The model as the results beside the file name it, else the folder, which the harness names after the model."""
    results = path.with_name(f"results_{date}.json")
    if date and results.is_file():
        facts = read_json(results, ResultsFile, foreign=True)
        if facts.model_name:
            return "/".join(filter(None, (facts.model_source, facts.model_name)))
    return path.absolute().parent.name


INSPECT = "inspect"

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
        with ZipArchive(path, remedy=_COPY) as archive:
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
        INSPECT,
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


def _allow_zstandard(archive: ZipArchive) -> None:
    """Let ``zipfile`` unpack Zstandard, where Python cannot yet, if an archive is packed with it."""
    packed = any(member.compress_type == _ZSTANDARD for member in archive.members.values())
    if packed and not hasattr(zipfile, "ZIP_ZSTANDARD"):
        import_optional("zipfile_zstd", extra="inspect", work="a log of Inspect, packed with Zstandard,")


def _read_header(archive: ZipArchive) -> InspectHeader:
    name = next((name for name in ("header.json", "_journal/start.json") if name in archive.members), None)
    if name is None:
        raise FileError(archive.path, "has neither header.json nor _journal/start.json, as logs of Inspect have")
    content = archive.read(name, MOST_BYTES)
    return parse_json(content, f"{archive.path}: {name}", InspectHeader, foreign=True)


def _read_summaries(archive: ZipArchive) -> Iterator[LoggedSample]:
    """The samples without their replies, from the summaries at the end of a run or those written while it lasts."""
    whole = "summaries.json" in archive.members
    for name in ["summaries.json"] if whole else filter(_JOURNAL.fullmatch, archive.members):
        yield from read_json_entries(archive.pieces(name), f"{archive.path}: {name}", LoggedSample, remedy=_COPY)


def _read_whole_samples(archive: ZipArchive) -> Iterator[LoggedSample]:
    for name in filter(_SAMPLE.fullmatch, archive.members):
        content = archive.read(name, MOST_BYTES)
        yield parse_json(content, f"{archive.path}: {name}", LoggedSample, foreign=True)
