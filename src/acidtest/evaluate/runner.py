"""Asks a model every input of a plan once, checks the answers, and continues where an earlier process stopped."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.draws import U64
from acidtest.core.errors import AcidtestError
from acidtest.core.files import write_json
from acidtest.core.guests import guest_code
from acidtest.core.labels import Probabilities, has_answer
from acidtest.core.logs import note
from acidtest.core.model import CountsUsage, Model, Prepares, ReadsFiles, exit_error, number_table
from acidtest.core.run import FILES_READ
from acidtest.core.structured import read_json
from acidtest.evaluate.answers import (
    CHECK,
    HARD,
    ID,
    TRUNCATED,
    TWO_WAY,
    AnswerFile,
    AnswerTable,
    Batch,
    Flags,
    InputPlan,
    Records,
    cached_answers,
    kept_answers,
    model_key,
    new_cache_file,
    records,
)

_TOLERANCE = 1e-3
"""How far the sum of probabilities may be from 1, and a probability below 0."""

Progress = Callable[[int, int], None]
"""Called with how many inputs are answered and how many there are."""

_AHEAD = 2
"""How many batches are prepared before they are needed."""


@dataclass(frozen=True)
class BatchAnswers:
    """The probabilities of a batch, and which of its pairs were truncated to fit the model."""

    values: Probabilities
    truncated: Flags


@dataclass(frozen=True)
class Asker:
    """Asks a model batches, in two steps where the model is ``Prepares``, and checks its answers."""

    model: Model

    def ask(self, batch: Batch) -> BatchAnswers:
        """Ask a whole batch."""
        if isinstance(self.model, Prepares):
            return self.infer(batch, self.prepare(batch))
        with self._guest_code():
            values = self.model.predict(*self._columns(batch))
        return self._check(batch, values, np.zeros(len(batch.keys), np.bool_))

    def prepare(self, batch: Batch) -> Any:
        """Prepare the inputs of a batch for the model's device: the first step."""
        assert isinstance(self.model, Prepares)
        with self._guest_code():
            return self.model.prepare(*self._columns(batch))

    def infer(self, batch: Batch, prepared: Any) -> BatchAnswers:
        """Answer a prepared batch: the second step."""
        assert isinstance(self.model, Prepares)
        with self._guest_code():
            values = self.model.infer(prepared)
        return self._check(batch, values, prepared.truncated)

    @contextmanager
    def _guest_code(self) -> Iterator[None]:
        try:
            with guest_code():
                yield
        except SystemExit as error:
            raise exit_error(f"model {self.model.name!r}", error) from error

    def _columns(self, batch: Batch) -> list[list[str]]:
        return [batch.inputs[name].to_list() for name in self.model.columns]

    def _check(self, batch: Batch, given: Any, truncated: Flags) -> BatchAnswers:
        values = number_table(f"model {self.model.name!r}", given)
        height = batch.inputs.height
        if values.shape != (height, 3):
            raise AcidtestError(
                f"model {self.model.name!r} gave an array of shape {values.shape} for {height} pairs; "
                f"expected ({height}, 3), the probabilities of entailment, neutral, contradiction, such as "
                f"return [[0.7, 0.2, 0.1] for premise in premises]; or for each pair one support score "
                f"(return [0.7 for premise in premises]) or label name"
            )
        abstained = np.asarray(np.isnan(values).all(axis=1), dtype=np.bool_) & self.model.may_abstain
        self._require_none(batch, values, np.isnan(values).any(axis=1) & ~abstained, "NaN", advice=_ABSTAIN)
        present = has_answer(values)
        total = values.sum(axis=1, where=present[:, None])
        outside = present & ((values < -_TOLERANCE).any(axis=1) | (np.abs(total - 1) > _TOLERANCE))
        problem = "numbers that are not probabilities adding up to 1 (logits need a softmax)"
        self._require_none(batch, values, outside, problem)
        return BatchAnswers(values, np.asarray(truncated, dtype=np.bool_))

    def _require_none(
        self, batch: Batch, values: Probabilities, rows: Flags, problem: str, *, advice: str = ""
    ) -> None:
        if not rows.any():
            return
        first = int(np.flatnonzero(rows)[0])
        pair = batch.inputs.row(first, named=True)
        shown = ", ".join(f"{name} {pair[name]!r}" for name in self.model.columns)
        raise AcidtestError(
            f"model {self.model.name!r} gave {problem} for {int(rows.sum())} of {len(rows)} pairs, "
            f"first {', '.join(f'{value:g}' for value in values[first])} for row {pair[ID]}: {shown}{advice}"
        )


_ABSTAIN = (
    "; a model that may give no prediction is an object with may_abstain = True and gives three NaN for such a pair"
)

Engine = Callable[[Iterable[Batch], Asker], Iterator[tuple[Batch, BatchAnswers]]]
"""Asks a model batches, in this process or elsewhere, and yields each with its answers, in any order."""


@dataclass(frozen=True)
class Memory:
    """The files that new answers are written to and earlier ones are read from.

    ``journal`` belongs to one run and is deleted at its end; ``cache`` is a folder that runs and processes share.
    """

    model: str
    journal: Path
    cache: Path | None = None
    forget: bool = False
    """Whether earlier answers are ignored."""

    def file(self) -> AnswerFile:
        """The file that new answers are appended to."""
        return AnswerFile(new_cache_file(self.cache, self.model) if self.cache else self.journal, self.model)

    def note_files(self, model: Model) -> None:
        """Note which files a model has read; raises if one has changed since earlier predictions of this run."""
        if not isinstance(model, ReadsFiles) or not model.files_read:
            return
        place = self.journal.with_name(FILES_READ)
        noted = {} if self.forget or not place.is_file() else read_json(place, dict[str, str])
        for path, digest in model.files_read.items():
            if noted.get(path, digest) != digest:
                raise AcidtestError(
                    f"{model.name} reads {path}, which has changed since it gave the earlier predictions of this run; "
                    f"restore it, or add --fresh to evaluate all pairs anew"
                )
        if not model.files_read.keys() <= noted.keys():
            write_json(place, noted | dict(model.files_read))

    def earlier(self) -> Iterator[Records]:
        """Answers kept earlier; those of this run come last, so that they take precedence."""
        if not self.forget:
            yield from cached_answers(self.cache, self.model) if self.cache else ()
            yield from kept_answers(self.journal, self.model)


@dataclass
class TimeSpent:
    """How many inputs were asked, and the seconds spent on the model and on the disk."""

    asked: int = 0
    seconds: float = 0.0
    disk: float = 0.0


def answer_memory(model: Model, journal: Path, cache: Path | None = None, *, forget: bool = False) -> Memory | None:
    """The files for a model's answers; None where asking again is cheaper or the model has no fingerprint."""
    if model.fingerprint is None or model.keep == "nothing":
        return None
    return Memory(model_key(model), journal, cache if model.keep == "always" else None, forget)


def collect_answers(
    model: Model,
    plan: InputPlan,
    *,
    memory: Memory | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
    spent: TimeSpent | None = None,
    check: Callable[[AnswerTable], None] | None = None,
) -> AnswerTable:
    """The model's answers to every input of a plan.

    Inputs whose answers are in ``memory`` are not asked again; new answers are written to it batch by batch. If there
    are earlier answers, ``check`` is called with them first.
    """
    spent = spent or TimeSpent()
    table = AnswerTable(plan)
    for kept in memory.earlier() if memory else ():
        table.recall(kept)
    model.probabilities &= not table.hard
    earlier = table.resolution
    if earlier == "two-way":
        model.resolution = "two-way"
    resolution = model.resolution
    before, total = table.answered, len(plan.keys)
    if before:
        rest = "; the others are asked" if before < total else ""
        note("%s of %s pairs were answered in an earlier run%s", f"{before:,}", f"{total:,}", rest)
    start = time.perf_counter()
    if before and check:
        check(table)
        if memory:
            memory.note_files(model)
    with memory.file() if memory and before < total else nullcontext() as file:
        for batch, answered in (engine or ask_here)(_open_batches(model, plan, table), Asker(model)):
            if earlier and model.resolution != resolution:
                raise AcidtestError(
                    f"{model.name} gave {model.resolution} answers, but {earlier} ones in an earlier run; "
                    f"let it answer all pairs in the same way, or ask anew with --fresh"
                )
            # A model without a fingerprint any more may have changed during the run: its answers are not kept.
            if memory and file and model.fingerprint is not None:
                began = time.perf_counter()
                memory.note_files(model)
                flags = _answer_flags(model, answered.truncated)
                file.append(records(batch.keys, _checks(plan, batch), answered.values, flags))
                spent.disk += time.perf_counter() - began
            table.put(batch.keys, answered.values, answered.truncated)
            spent.asked += len(batch.keys)
            if progress:
                progress(table.answered, total)
    spent.seconds += time.perf_counter() - start
    return table


def _answer_flags(model: Model, truncated: Flags) -> npt.NDArray[np.uint8]:
    """The flags of a model's answers as files keep them; ``truncated`` marks the inputs that were cut."""
    shared = HARD * (not model.probabilities) + TWO_WAY * (model.resolution == "two-way")
    return np.asarray(truncated * TRUNCATED + shared, dtype=np.uint8)


def ask_here(batches: Iterable[Batch], asker: Asker) -> Iterator[tuple[Batch, BatchAnswers]]:
    """The engine that asks in this process."""
    if isinstance(asker.model, Prepares):
        return _ask_prepared(batches, asker)
    return ((batch, asker.ask(batch)) for batch in batches)


def _ask_prepared(batches: Iterable[Batch], asker: Asker) -> Iterator[tuple[Batch, BatchAnswers]]:
    """Ask batches in order, preparing the next ones in a thread meanwhile."""
    with ThreadPoolExecutor(1, thread_name_prefix="prepare") as pool:
        waiting = deque[tuple[Batch, Future[Any]]]()
        try:
            for batch in batches:
                waiting.append((batch, pool.submit(asker.prepare, batch)))
                if len(waiting) > _AHEAD:
                    first, prepared = waiting.popleft()
                    yield first, asker.infer(first, prepared.result())
            while waiting:
                first, prepared = waiting.popleft()
                yield first, asker.infer(first, prepared.result())
        finally:
            for _, prepared in waiting:
                prepared.cancel()


def usage_summary(model: object, spent: TimeSpent) -> dict[str, float]:
    """Pairs asked, speed, seconds (``_s``) by purpose, and the usage that the model or the engine reports."""
    usage = dict(model.usage()) if isinstance(model, CountsUsage) else {}
    usage |= {"pairs": float(spent.asked), "seconds": spent.seconds, "disk_s": spent.disk}
    if spent.seconds:
        usage |= {f"{name}_per_s": usage[name] / spent.seconds for name in ("pairs", "tokens") if usage.get(name)}
    return {name: round(value, 3) for name, value in usage.items()}


def _open_batches(model: Model, plan: InputPlan, table: AnswerTable) -> Iterator[Batch]:
    """The batches with unanswered inputs; answered ones are left out where ``model.independent``."""
    for batch in plan:
        unanswered = table.unanswered(batch.keys, _checks(plan, batch)) if table.answered else None
        if unanswered is None or unanswered.all():
            yield batch
        elif unanswered.any():
            rest = replace(batch, inputs=batch.inputs.filter(pl.Series(unanswered)), keys=batch.keys[unanswered])
            yield rest if model.independent else batch


def _checks(plan: InputPlan, batch: Batch) -> U64:
    return plan.digests(batch.inputs, CHECK)
