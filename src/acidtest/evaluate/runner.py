"""Asking a model everything a plan holds, once, and going on where an earlier process stopped."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from acidtest.core.draws import U64
from acidtest.core.logs import note
from acidtest.core.model import CountsUsage, Model, Prepares
from acidtest.evaluate import local
from acidtest.evaluate.answer_files import (
    AnswerFile,
    Records,
    cached_answers,
    kept_answers,
    model_key,
    new_cache_file,
    records,
)
from acidtest.evaluate.answer_table import CHECK, AnswerTable
from acidtest.evaluate.asking import Answered, Asker
from acidtest.evaluate.plan import Batch, Plan

Progress = Callable[[int, int], None]
"""Called with how many inputs are answered and how many there are."""

Engine = Callable[[Iterable[Batch], Asker], Iterator[tuple[Batch, Answered]]]
"""Asks a model batches, here or elsewhere, and gives each with its answers, in any order."""


@dataclass(frozen=True)
class Memory:
    """Where answers are kept as they come, and where earlier ones are looked for.

    ``journal`` belongs to one run and goes with it; ``cache`` is a folder that runs and processes share.
    """

    model: str
    journal: Path
    cache: Path | None = None
    forget: bool = False
    """Whether earlier answers are left aside."""

    def file(self) -> AnswerFile:
        """What new answers are added to."""
        return AnswerFile(new_cache_file(self.cache, self.model) if self.cache else self.journal, self.model)

    def earlier(self) -> Iterator[Records]:
        """Answers kept before, those that count most last: what this run was answered itself."""
        if not self.forget:
            yield from cached_answers(self.cache, self.model) if self.cache else ()
            yield from kept_answers(self.journal, self.model)


@dataclass
class Spent:
    """Where the time went."""

    asked: int = 0
    seconds: float = 0.0
    disk: float = 0.0


def memory_of(model: Model, journal: Path, cache: Path | None = None, *, forget: bool = False) -> Memory | None:
    """Where the answers of a model are kept; None where asking again is cheaper, or the model cannot be known again."""
    if model.fingerprint is None or model.keep == "nothing":
        return None
    return Memory(model_key(model), journal, cache if model.keep == "always" else None, forget)


def answers(
    model: Model,
    plan: Plan,
    *,
    memory: Memory | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
    spent: Spent | None = None,
) -> AnswerTable:
    """The model's answers to every input of a plan.

    With a memory, what it already holds is not asked again, and every batch is kept at once.
    """
    spent = spent or Spent()
    table = AnswerTable(plan)
    for kept in memory.earlier() if memory else ():
        table.recall(kept)
    model.probabilities &= not table.hard
    before, total = table.answered, len(plan.keys)
    if before:
        left = "; going on" if before < total else ", all of them"
        note("%s of %s pairs were answered before%s", f"{before:,}", f"{total:,}", left)
    start = time.perf_counter()
    with memory.file() if memory and before < total else nullcontext() as file:
        for batch, answered in (engine or here)(_open(model, plan, table), Asker(model)):
            # A model may lose its fingerprint while it is asked: then its answers are those of another one.
            if file and model.fingerprint is not None:
                began = time.perf_counter()
                hard = not model.probabilities
                file.append(records(batch.keys, _checks(plan, batch), answered.values, answered.truncated, hard=hard))
                spent.disk += time.perf_counter() - began
            table.put(batch.keys, answered.values, answered.truncated)
            spent.asked += len(batch.keys)
            if progress:
                progress(table.answered, total)
    spent.seconds += time.perf_counter() - start
    return table


def here(batches: Iterable[Batch], asker: Asker) -> Iterator[tuple[Batch, Answered]]:
    """The engine that asks in this process."""
    if isinstance(asker.model, Prepares):
        return local.mapped(batches, asker.prepared, asker.inferred)
    return local.plainly(batches, asker.asked)


def summary(model: object, spent: Spent) -> dict[str, float]:
    """How fast it went, what the model, or the engine for it, says it used up, and seconds (``_s``) by purpose."""
    told = dict(model.usage()) if isinstance(model, CountsUsage) else {}
    told |= {"pairs": float(spent.asked), "seconds": spent.seconds, "disk_s": spent.disk}
    if spent.seconds:
        told |= {f"{name}_per_s": told[name] / spent.seconds for name in ("pairs", "tokens") if told.get(name)}
    return {name: round(value, 3) for name, value in told.items()}


def _open(model: Model, plan: Plan, table: AnswerTable) -> Iterator[Batch]:
    """The batches that have something to ask; where answers do not depend on each other, without what is known."""
    for batch in plan:
        todo = table.open(batch.keys, _checks(plan, batch)) if table.answered else None
        if todo is None or todo.all():
            yield batch
        elif todo.any():
            yield (
                replace(batch, inputs=batch.inputs.filter(pl.Series(todo)), keys=batch.keys[todo])
                if (model.independent)
                else batch
            )


def _checks(plan: Plan, batch: Batch) -> U64:
    return plan.digests(batch.inputs, CHECK)
