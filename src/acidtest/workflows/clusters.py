"""Models asked, and suites made, on a Ray cluster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.logs import note
from acidtest.core.model import CountsUsage, Model, Prepares, model_options
from acidtest.core.suite import Argument, Card, Suite
from acidtest.suites.catalogue import SUITES, Generator, Request
from acidtest.version import __version__

if TYPE_CHECKING:
    from acidtest.evaluate.asking import Answered, Asker
    from acidtest.evaluate.plan import Batch
    from acidtest.evaluate.ray import Cluster, Recipe

ENGINES = ("local", "ray")
"""Where work is done: in this process, or on a Ray cluster."""

_NUMBER, _KEY, _CUT = "_number", "_key", "_cut"
_ANSWER = ("_entailment", "_neutral", "_contradiction")
_TOGETHER = 1 << 14
"""Pairs that a worker makes a suite's rows of at once; no row depends on it."""


def is_ray(engine: str, address: str | None = None) -> bool:
    """Whether a Ray cluster is to work; an engine there is not, or one that is not installed, is refused."""
    if engine not in ENGINES:
        raise UnknownNameError("engine", engine, ENGINES)
    if engine == "ray":
        from acidtest.evaluate.ray import require_ray

        require_ray()
        return True
    if address is not None:
        raise AcidtestError(f"--address {address} is that of a Ray cluster; it needs --engine ray")
    return False


@dataclass(frozen=True)
class Spec:
    """A model as a worker can make it anew, and what it has to come out as."""

    text: str
    options: Mapping[str, str | bool] | None = None
    batch_size: int | None = None
    premise: str = "whole"
    aggregation: str = "max-entail"
    fingerprint: str | None = None
    acidtest: str = __version__

    def __call__(self) -> Interviewer:
        """The model in a worker's hands."""
        from acidtest.workflows.evaluations import model_of

        _require_version(self.acidtest)
        model = model_of(
            self.text,
            self.options,
            batch_size=self.batch_size,
            premise=self.premise,
            aggregation=self.aggregation,
        )
        if model.fingerprint != self.fingerprint:
            raise AcidtestError(
                f"{self.text} is another model for Ray's worker than it is here (fingerprint {model.fingerprint}, not "
                f"{self.fingerprint}): its files differ, or the device gives it another precision; copy the files, or "
                f"set --dtype"
            )
        return Interviewer(model)


class Interviewer:
    """A worker that asks a model batches."""

    def __init__(self, model: Model) -> None:
        from acidtest.evaluate.asking import Asker

        self._asker = Asker(model)

    def made(self, part: pl.DataFrame) -> pl.DataFrame:
        """A batch with its answers."""
        answered = self._asker.asked(_batch(part))
        columns = {name: answered.values[:, place] for place, name in enumerate(_ANSWER)}
        return part.with_columns(**columns, **{_CUT: answered.truncated})

    def told(self) -> Mapping[str, Any]:
        """What the model used up so far, and what some show only when asked: whether they give probabilities, and
        whether they still have a fingerprint.
        """
        model = self._asker.model
        usage = dict(model.usage()) if isinstance(model, CountsUsage) else {}
        return {"usage": usage, "probabilities": model.probabilities, "fingerprint": model.fingerprint}


@dataclass
class RayEngine:
    """Asks a model on a cluster, for the runner; afterwards it knows what the workers used up together."""

    spec: Spec
    cluster: Cluster
    _usage: dict[str, Mapping[str, float]] = field(default_factory=dict)

    def __call__(self, batches: Iterable[Batch], asker: Asker) -> Iterator[tuple[Batch, Answered]]:
        """Each batch with its answers, as soon as a worker has them."""
        for made in self.cluster.mapped(map(_part, batches), self.spec):
            self._note(made.worker, made.told["usage"])
            asker.model.probabilities &= made.told["probabilities"]
            if asker.model.fingerprint and not made.told["fingerprint"]:
                asker.model.fingerprint = None
                note(
                    "%s: no fingerprint (a worker loaded code that it does not cover): answers are not kept",
                    asker.model.name,
                )
            yield _batch(made.rows), _answered(made.rows)

    def _note(self, worker: str, used: Mapping[str, float]) -> None:
        """Take what a worker has used up so far; parts may come out of order, so the most it told counts."""
        before = self._usage.get(worker, {})
        self._usage[worker] = {name: max(value, before.get(name, 0)) for name, value in used.items()}

    def usage(self) -> Mapping[str, float]:
        """The sums over all workers that were heard of; what one used up that died since its last answer is lost."""
        total = Counter[str]()
        for used in self._usage.values():
            total.update(used)
        return dict(total)


def ray_engine(model: object, asked: Model, spec: Spec, address: str | None) -> RayEngine:
    """The engine for a model that a worker can make anew from its spec; another is refused."""
    if not isinstance(model, str):
        raise AcidtestError(
            f"--engine ray makes the model in every worker, from a spec such as python:mymodel:predict or hf:PATH; "
            f"{asked.name} was given as an object: write it into a module, or use the local engine"
        )
    options = spec.options or {}
    # ONNX Runtime takes a GPU only where it is told to, other models wherever there is one.
    wants = options.get("provider") == "cuda" if "provider" in model_options(model) else options.get("device") != "cpu"
    from acidtest.evaluate.ray import Cluster

    cluster = Cluster(address, gpus=isinstance(asked, Prepares) and wants)
    return RayEngine(replace(spec, fingerprint=asked.fingerprint), cluster)


def _part(batch: Batch) -> pl.DataFrame:
    return batch.inputs.with_columns(pl.Series(_KEY, batch.keys), pl.lit(batch.number).alias(_NUMBER))


def _batch(part: pl.DataFrame) -> Batch:
    from acidtest.evaluate.plan import Batch

    inputs = part.drop(_NUMBER, _KEY, _CUT, *_ANSWER, strict=False)
    return Batch(int(part[_NUMBER][0]), inputs, part[_KEY].to_numpy())


def _answered(part: pl.DataFrame) -> Answered:
    from acidtest.evaluate.asking import Answered

    values = np.column_stack([part[name].to_numpy() for name in _ANSWER])
    return Answered(values, part[_CUT].to_numpy())


@dataclass(frozen=True)
class Making:
    """A suite that a worker makes of parts of its corpus; what it is called and made with must come out the same."""

    suite: str
    seed: int
    options: Mapping[str, Argument]
    corpus: Card
    schema: Sequence[str]
    arguments: Mapping[str, Argument]
    keep: tuple[str, ...] = ()
    acidtest: str = __version__

    def __call__(self) -> Maker:
        """The suite's generator in a worker's hands."""
        _require_version(self.acidtest)
        return Maker(self)


@dataclass(frozen=True)
class Maker:
    """A worker that makes a suite's rows of parts of its corpus."""

    making: Making

    def made(self, part: pl.DataFrame) -> pl.DataFrame:
        """The rows that are made of some pairs."""
        told = self.making
        source = Suite(part.lazy(), replace(told.corpus, rows=part.height))
        made = SUITES[told.suite].make(Request(seed=told.seed, source=source, keep=told.keep), **told.options)
        if dict(made.card.arguments) != dict(told.arguments):
            raise AcidtestError(
                f"suite {told.suite!r} is another for Ray's worker ({dict(made.card.arguments)}) than it is here "
                f"({dict(told.arguments)}); install the same packages on all nodes"
            )
        return made.frame.select(told.schema).collect()

    def told(self) -> Mapping[str, Any]:
        """Nothing."""
        return {}


def on_ray(generator: Generator, address: str | None) -> Generator:
    """The generator of a suite whose rows are made on a cluster; one that looks at its corpus as a whole is refused."""
    if not generator.row_local:
        able = ", ".join(name for name in SUITES if SUITES[name].row_local)
        raise AcidtestError(
            f"suite {generator.name!r} looks at its corpus as a whole, so that its rows cannot be made apart from each "
            f"other; --engine ray makes {able}: make this one without --engine ray"
        )

    @wraps(generator.make)
    def make(request: Request, **options: Argument) -> Suite:
        made = generator.make(request, **options)
        from acidtest.evaluate.ray import Cluster
        from acidtest.io.rows import Spool

        rows = Spool()
        schema = made.frame.collect_schema()
        for part in Cluster(address).mapped(_parts(made), making(generator, request, options, made), ordered=True):
            rows.add(part.rows)
        return replace(made, frame=rows.rows(schema).lazy())

    return replace(generator, make=make)


def making(generator: Generator, request: Request, options: Mapping[str, Argument], made: Suite) -> Recipe:
    """How a worker makes the rows of a suite that was made here, without its rows."""
    assert made.control is not None, "a suite of changed pairs has the untouched ones"
    corpus = replace(made.control.card, name=str(made.card.arguments["from"]), arguments={})
    columns = made.frame.collect_schema().names()
    return Making(generator.name, request.seed, options, corpus, columns, made.card.arguments, request.keep)


def _parts(made: Suite) -> Iterator[pl.DataFrame]:
    """The untouched pairs of a suite, some thousands at a time."""
    assert made.control is not None
    for batch in made.control.frame.collect_batches(chunk_size=_TOGETHER, maintain_order=True):
        yield from batch.iter_slices(_TOGETHER)


def _require_version(wanted: str) -> None:
    found = __version__
    if found != wanted:
        raise AcidtestError(f"a Ray worker has acidtest {found}, not {wanted} as here; install the same on all nodes")
