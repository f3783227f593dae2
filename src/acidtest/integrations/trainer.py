"""``AcidtestCallback``: asks a model while the trainer of transformers or of sentence-transformers trains it."""

from __future__ import annotations

import logging
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from acidtest.core.errors import AcidtestError, import_optional
from acidtest.core.logs import log
from acidtest.core.suite import Suite
from acidtest.models.huggingface import HuggingFaceModel, paused_training
from acidtest.workflows.batteries import Arguments, Battery
from acidtest.workflows.evaluations import run
from acidtest.workflows.tracking import scalars

import_optional("torch", "transformers", work="AcidtestCallback")

import torch  # noqa: E402
from transformers import Trainer, TrainerCallback  # noqa: E402

T = TypeVar("T")

DEFAULT_SUITES = ("cues", "hans")
DEFAULT_LIMIT = 1000
"""Pairs of each suite that are asked at every evaluation unless the user says otherwise."""


class AcidtestCallback(TrainerCallback):
    """Asks the model suites at every evaluation, and logs ``eval_acidtest_hans`` and the like with its metrics.

    ``suites``, ``limit``, ``seed``, ``source`` and ``arguments`` are those of ``acidtest.run``: the suites are made
    once, before training. ``labels`` are the labels of the model's outputs in order; else they are those of
    ``id2label``, or found by probing the model as training starts from it. The tokenizer is the trainer's
    ``processing_class`` unless given. With ``output``, every evaluation is kept as a run, in ``OUTPUT/step-N``.

    Only the first process asks; all get its numbers. Training goes on as if nothing had been asked.
    """

    def __init__(
        self,
        suites: str | Suite | Sequence[str | Suite] = DEFAULT_SUITES,
        *,
        limit: int | None = DEFAULT_LIMIT,
        seed: int = 0,
        prefix: str = "acidtest",
        labels: str | Sequence[str] = "",
        max_length: int = 0,
        batch_size: int | None = None,
        tokenizer: Any | None = None,
        source: str | Path | Suite | None = None,
        arguments: Arguments | None = None,
        output: str | Path | None = None,
    ) -> None:
        wanted = (suites,) if isinstance(suites, str | Suite) else tuple(suites)
        self._battery = Battery(wanted, source=source, limit=limit, seed=seed, arguments=arguments)
        self._prefix = f"eval_{prefix}" if prefix else "eval"
        self._labels = labels if isinstance(labels, str) else ",".join(labels)
        self._outputs = ""
        self._max_length, self._batch_size = max_length, batch_size
        self._tokenizer = tokenizer
        self._output = None if output is None else Path(output)
        self._kept: set[Path] = set()
        self._last: tuple[object, dict[str, float]] | None = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Make the suites and find what the outputs mean, so that a mistake shows before training."""
        self._outputs, self._last, self._kept = "", None, set()
        self._on_first_process(state, lambda: self._start(kwargs))

    def on_evaluate(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Ask the model, add the numbers to the metrics and log them; once for several evaluation sets of one step."""
        stamp = self._on_first_process(state, lambda: _stamp(state, classifier_network(kwargs["model"])))
        repeated = self._last is not None and self._last[0] == stamp
        if not repeated:
            values = self._on_first_process(state, lambda: self._ask(kwargs, state.global_step))
            self._last = stamp, values
        assert self._last is not None
        metrics = kwargs.get("metrics")
        if metrics is not None:
            metrics.update(self._last[1])
        if not repeated:
            _log(dict(self._last[1]), state)

    def _on_first_process(self, state: Any, work: Callable[[], T]) -> T:
        """What ``work`` returns on the first process, on all of them; an error there is raised on all as well."""
        distributed = torch.distributed.is_available() and torch.distributed.is_initialized()
        shared: list[Any] = [None, None]
        if state.is_world_process_zero:
            try:
                shared[0] = work()
            except Exception as error:
                shared[1] = f"{type(error).__name__}: {error}"
                if not distributed:
                    raise
                torch.distributed.broadcast_object_list(shared, src=0)
                raise
        if distributed:
            torch.distributed.broadcast_object_list(shared, src=0)
            if shared[1] is not None:
                raise AcidtestError(f"the first process could not ask the model: {shared[1]}")
        result: T = shared[0]
        return result

    def _start(self, given: Mapping[str, Any]) -> None:
        network, tokenizer = classifier_network(given["model"]), self._find_tokenizer(given)
        with _without_messages():
            _ = self._battery.used
            with paused_training(network):
                self._model(network, tokenizer, "the model")

    def _ask(self, given: Mapping[str, Any], step: int) -> dict[str, float]:
        start = time.perf_counter()
        network, tokenizer = classifier_network(given["model"]), self._find_tokenizer(given)
        name = f"{Path(network.name_or_path).name or type(network).__name__} at step {step}"
        with _without_messages(), paused_training(network), self._folder(step) as folder:
            finished = run(
                self._model(network, tokenizer, name),
                self._battery,
                output=folder,
                batch_size=self._batch_size,
                cache=False,
                fresh=True,
                page=False,
            )
        values = {f"{self._prefix}_{name}": value for name, value in scalars(finished.scored).items()}
        return values | {f"{self._prefix}_runtime": round(time.perf_counter() - start, 3)}

    def _model(self, network: Any, tokenizer: Any, name: str) -> HuggingFaceModel:
        """The network as it is now; what its outputs mean is found once, because training may blur it."""
        try:
            model = HuggingFaceModel(
                network,
                tokenizer,
                name,
                max_length=self._max_length,
                labels=self._outputs or self._labels,
                # A head that is being trained may have had its labels in another order before.
                trust_labels=True,
                in_training=True,
            )
        except AcidtestError as error:
            if "--label" not in str(error):
                raise
            raise AcidtestError(
                f"{error}. In Python, say AcidtestCallback(labels='entailment,neutral,contradiction') in the order of "
                f"the outputs, or set id2label in the model's config"
            ) from error
        self._outputs = ",".join(model.outputs)
        return model

    def _find_tokenizer(self, given: Mapping[str, Any]) -> Any:
        tokenizer = self._tokenizer or given.get("processing_class") or getattr(given["model"], "tokenizer", None)
        # A processor of several kinds of input has a tokenizer for text.
        tokenizer = getattr(tokenizer, "tokenizer", tokenizer)
        if not callable(tokenizer):
            raise AcidtestError(
                "the trainer has no tokenizer; give it as Trainer(processing_class=…) or AcidtestCallback(tokenizer=…)"
            )
        return tokenizer

    @contextmanager
    def _folder(self, step: int) -> Iterator[Path]:
        """The folder for the run of an evaluation; the second of a step is that of other weights, such as the best."""
        if self._output is not None:
            kept = self._output / f"step-{step}"
            if kept in self._kept:
                kept = self._output / f"step-{step}-{len(self._kept)}"
            self._kept.add(kept)
            yield kept
            return
        with tempfile.TemporaryDirectory(prefix="acidtest-") as folder:
            yield Path(folder) / "run"


def classifier_network(model: Any) -> Any:
    """The sequence classifier of transformers in what a trainer trains; refused where no one process holds it whole."""
    network = model
    while hasattr(network, "_orig_mod") or isinstance(network, torch.nn.parallel.DistributedDataParallel):
        network = getattr(network, "_orig_mod", None) or network.module
    if type(network).__module__.startswith("sentence_transformers."):
        network = getattr(network, "model", None)
    if not any(kind.__name__.endswith("ForSequenceClassification") for kind in type(network).__mro__):
        raise AcidtestError(
            f"AcidtestCallback asks sequence classifiers of transformers and cross-encoders, not {type(model).__name__}"
        )
    if any(hasattr(parameter, "ds_id") or hasattr(parameter, "full_tensor") for parameter in network.parameters()):
        raise AcidtestError(
            "the model's weights are spread over several processes (FSDP, ZeRO-3), and AcidtestCallback asks on one; "
            "ask the saved checkpoints instead: acidtest run -m hf:FOLDER"
        )
    return network


def _stamp(state: Any, network: Any) -> tuple[object, ...]:
    """Changes with the step and with the weights: torch counts the changes of a tensor in place."""
    parameters = list(network.parameters())
    return state.global_step, len(parameters), sum(parameter._version for parameter in parameters)


def _log(values: dict[str, float], state: Any) -> None:
    """Log as the trainer does, which reaches its history and all its loggers."""
    trainer = _calling_trainer()
    if trainer is not None:
        trainer.log(values)
    else:
        state.log_history.append({**values, "epoch": state.epoch, "step": state.global_step})


def _calling_trainer() -> Any | None:
    """The trainer that called the callback, from the stack: callbacks are not given it, and cannot log without it."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        caller = frame.f_locals.get("self")
        if isinstance(caller, Trainer):
            return caller
        frame = frame.f_back
    return None


@contextmanager
def _without_messages() -> Iterator[None]:
    """Only warnings are shown meanwhile: anything else would be written over the trainer's progress bar."""

    def is_warning(record: logging.LogRecord) -> bool:
        return record.levelno >= logging.WARNING

    log.addFilter(is_warning)
    try:
        yield
    finally:
        log.removeFilter(is_warning)
