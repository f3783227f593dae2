"""Asks models and makes suites on a Ray cluster."""

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
    from acidtest.evaluate.answers import Batch
    from acidtest.evaluate.ray import Cluster, Recipe
    from acidtest.evaluate.runner import Asker, BatchAnswers

ENGINES = ("local", "ray")
"""Where the work is done: in this process, or on a Ray cluster."""

_NUMBER, _KEY, _TRUNCATED = "_number", "_key", "_truncated"
_ANSWER = ("_entailment", "_neutral", "_contradiction")
_PART_SIZE = 1 << 14
"""Source pairs that a worker turns into rows of a suite at once; no row depends on this number."""


def require_ray(engine: str, address: str | None) -> None:
    """Refuse an unknown engine, Ray where it is not installed, and an address without Ray."""
    if engine not in ENGINES:
        raise UnknownNameError("engine", engine, ENGINES)
    if engine == "local":
        raise AcidtestError(f"--address {address} is that of a Ray cluster; it needs --engine ray")
    from acidtest.evaluate.ray import require_ray as require_installed

    require_installed()


@dataclass(frozen=True)
class ModelRecipe:
    """The spec and options with which a worker loads a model, and the fingerprint that it must have."""

    spec: str
    options: Mapping[str, str | bool] | None = None
    batch_size: int | None = None
    premise: str = "whole"
    aggregation: str = "max-entail"
    fingerprint: str | None = None
    acidtest: str = __version__

    def __call__(self) -> ModelWorker:
        """Load the model in a worker."""
        from acidtest.workflows.evaluations import model_of

        _require_version(self.acidtest)
        model = model_of(
            self.spec,
            self.options,
            batch_size=self.batch_size,
            premise=self.premise,
            aggregation=self.aggregation,
        )
        if model.fingerprint != self.fingerprint:
            raise AcidtestError(
                f"{self.spec} is another model on a Ray worker than here (fingerprint {model.fingerprint}, not "
                f"{self.fingerprint}): its files differ, or the device gives it another precision; copy the files, or "
                f"set --dtype"
            )
        return ModelWorker(model)


class ModelWorker:
    """Asks a model the batches that a cluster distributes."""

    def __init__(self, model: Model) -> None:
        from acidtest.evaluate.runner import Asker

        self._asker = Asker(model)

    def process(self, part: pl.DataFrame) -> pl.DataFrame:
        """The batch with its answers."""
        answered = self._asker.ask(_batch(part))
        columns = {name: answered.values[:, place] for place, name in enumerate(_ANSWER)}
        return part.with_columns(**columns, **{_TRUNCATED: answered.truncated})

    def status(self) -> Mapping[str, Any]:
        """Usage so far, and what some models reveal only when asked: whether they give probabilities, of which
        resolution, and their fingerprint.
        """
        model = self._asker.model
        usage = dict(model.usage()) if isinstance(model, CountsUsage) else {}
        facts = {"probabilities": model.probabilities, "resolution": model.resolution}
        return {"usage": usage, **facts, "fingerprint": model.fingerprint}


@dataclass
class RayEngine:
    """Asks a model on a cluster and adds up what the workers used."""

    recipe: ModelRecipe
    cluster: Cluster
    _usage: dict[str, Mapping[str, float]] = field(default_factory=dict)

    def __call__(self, batches: Iterable[Batch], asker: Asker) -> Iterator[tuple[Batch, BatchAnswers]]:
        """Each batch with its answers, as soon as a worker has them."""
        for result in self.cluster.map(map(_part, batches), self.recipe):
            self._record_usage(result.worker, result.status["usage"])
            asker.model.probabilities &= result.status["probabilities"]
            if result.status["resolution"] == "two-way":
                asker.model.resolution = "two-way"
            if asker.model.fingerprint and not result.status["fingerprint"]:
                asker.model.fingerprint = None
                note(
                    "%s: no fingerprint (a worker loaded code that it does not cover): answers are not kept",
                    asker.model.name,
                )
            yield _batch(result.rows), _answered(result.rows)

    def _record_usage(self, worker: str, used: Mapping[str, float]) -> None:
        """Record what a worker has used so far; parts may arrive out of order, so the largest value counts."""
        before = self._usage.get(worker, {})
        self._usage[worker] = {name: max(value, before.get(name, 0)) for name, value in used.items()}

    def usage(self) -> Mapping[str, float]:
        """The sums over all workers that answered; what a worker used after its last answer is lost when it dies."""
        total = Counter[str]()
        for used in self._usage.values():
            total.update(used)
        return dict(total)


def ray_engine(model: object, loaded: Model, recipe: ModelRecipe, address: str | None) -> RayEngine:
    """The engine for a model that workers can load from its spec; a model given as an object is refused."""
    if not isinstance(model, str):
        raise AcidtestError(
            f"--engine ray loads the model in every worker, from a spec such as python:mymodel:predict or hf:PATH; "
            f"{loaded.name} was given as an object: write it into a module, or use the local engine"
        )
    options = recipe.options or {}
    # ONNX Runtime uses a GPU only on request, other models wherever there is one.
    wants = options.get("provider") == "cuda" if "provider" in model_options(model) else options.get("device") != "cpu"
    from acidtest.evaluate.ray import Cluster

    cluster = Cluster(address, gpus=isinstance(loaded, Prepares) and wants)
    return RayEngine(replace(recipe, fingerprint=loaded.fingerprint), cluster)


def _part(batch: Batch) -> pl.DataFrame:
    return batch.inputs.with_columns(pl.Series(_KEY, batch.keys), pl.lit(batch.number).alias(_NUMBER))


def _batch(part: pl.DataFrame) -> Batch:
    from acidtest.evaluate.answers import Batch

    inputs = part.drop(_NUMBER, _KEY, _TRUNCATED, *_ANSWER, strict=False)
    return Batch(int(part[_NUMBER][0]), inputs, part[_KEY].to_numpy())


def _answered(part: pl.DataFrame) -> BatchAnswers:
    from acidtest.evaluate.runner import BatchAnswers

    values = np.column_stack([part[name].to_numpy() for name in _ANSWER])
    return BatchAnswers(values, part[_TRUNCATED].to_numpy())


@dataclass(frozen=True)
class SuiteRecipe:
    """What a worker needs to make rows of a suite from parts of a corpus; its card must get the same ``arguments``."""

    suite: str
    seed: int
    options: Mapping[str, Argument]
    corpus: Card
    schema: Sequence[str]
    arguments: Mapping[str, Argument]
    keep: tuple[str, ...] = ()
    acidtest: str = __version__

    def __call__(self) -> SuiteWorker:
        """Create a worker that makes the suite."""
        _require_version(self.acidtest)
        return SuiteWorker(self)


@dataclass(frozen=True)
class SuiteWorker:
    """Makes the rows of a suite from parts of its corpus."""

    recipe: SuiteRecipe

    def process(self, part: pl.DataFrame) -> pl.DataFrame:
        """The rows of the suite made from a part of the corpus."""
        recipe = self.recipe
        source = Suite(part.lazy(), replace(recipe.corpus, rows=part.height))
        made = SUITES[recipe.suite].make(Request(seed=recipe.seed, source=source, keep=recipe.keep), **recipe.options)
        if dict(made.card.arguments) != dict(recipe.arguments):
            raise AcidtestError(
                f"suite {recipe.suite!r} differs on a Ray worker ({dict(made.card.arguments)}) and here "
                f"({dict(recipe.arguments)}); install the same packages on all nodes"
            )
        return made.frame.select(recipe.schema).collect()

    def status(self) -> Mapping[str, Any]:
        """Empty: there is nothing to report."""
        return {}


def on_ray(generator: Generator, address: str | None) -> Generator:
    """The generator with its rows made on a cluster; a suite that needs its whole corpus at once is refused."""
    if not generator.row_local:
        able = ", ".join(name for name in SUITES if SUITES[name].row_local)
        raise AcidtestError(
            f"suite {generator.name!r} needs its whole corpus at once, so its rows cannot be made separately; "
            f"--engine ray makes {able}: make this one without --engine ray"
        )

    @wraps(generator.make)
    def make(request: Request, **options: Argument) -> Suite:
        made = generator.make(request, **options)
        from acidtest.evaluate.ray import Cluster
        from acidtest.io.rows import Spool

        rows = Spool()
        schema = made.frame.collect_schema()
        for part in Cluster(address).map(_parts(made), suite_recipe(generator, request, options, made), ordered=True):
            rows.add(part.rows)
        return replace(made, frame=rows.rows(schema).lazy())

    return replace(generator, make=make)


def suite_recipe(generator: Generator, request: Request, options: Mapping[str, Argument], made: Suite) -> Recipe:
    """The recipe with which workers make the rows of a suite, taken from the one made here."""
    assert made.control is not None, "a suite of changed pairs has the untouched ones"
    corpus = replace(made.control.card, name=str(made.card.arguments["from"]), arguments={})
    columns = made.frame.collect_schema().names()
    return SuiteRecipe(generator.name, request.seed, options, corpus, columns, made.card.arguments, request.keep)


def _parts(made: Suite) -> Iterator[pl.DataFrame]:
    """The untouched pairs of a suite, in parts of some thousands."""
    assert made.control is not None
    for batch in made.control.frame.collect_batches(chunk_size=_PART_SIZE, maintain_order=True):
        yield from batch.iter_slices(_PART_SIZE)


def _require_version(wanted: str) -> None:
    if __version__ != wanted:
        raise AcidtestError(
            f"a Ray worker has acidtest {__version__}, not {wanted} as here; install the same on all nodes"
        )
