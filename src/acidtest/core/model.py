"""Models: anything that turns columns of text into probabilities."""

from __future__ import annotations

import importlib
import re
import sys
import sysconfig
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args, runtime_checkable

import numpy as np
import numpy.typing as npt

from acidtest.core.errors import AcidtestError, suggest_near
from acidtest.core.labels import LABELS, gold_name, one_hot
from acidtest.core.labels import Probabilities as Probabilities
from acidtest.core.logs import log, note
from acidtest.core.registry import Option, Registry, parse_options, read_index, read_options
from acidtest.core.settings import require_requested

if TYPE_CHECKING:
    import polars as pl

    from acidtest.core.suite import Suite

Resolution = Literal["three-way", "two-way"]

BATCH_SIZE = 128
"""The default number of pairs in a batch. A run that is killed loses the batch it is working on."""

Keep = Literal["nothing", "run", "always"]
"""How long answers are kept: not at all (cheap models), until the run is finished, or always (in the cache)."""


@runtime_checkable
class Model(Protocol):
    """Any object with these attributes. ``complete_model`` adds them to a user's function or object with ``predict``.

    ``predict`` receives one list for each name in ``columns`` and returns float32[n, 3] in the order
    entailment, neutral, contradiction. A two-way model writes non-entailment into the neutral column. ``notes`` are for
    readers of the results, such as which output means which label. Where answers are ``independent`` of the other pairs
    in a batch, a run asks only those without an answer; otherwise it asks the whole batch again.
    """

    name: str
    fingerprint: str | None
    columns: tuple[str, ...]
    resolution: Resolution
    probabilities: bool
    may_abstain: bool
    batch_size: int
    notes: tuple[str, ...]
    keep: Keep
    independent: bool

    def predict(self, *columns: Sequence[str]) -> npt.NDArray[np.float32]: ...


class Prepared(Protocol):
    """Pairs ready for the device; ``truncated`` marks those that were cut to fit the model."""

    truncated: npt.NDArray[np.bool_]


@runtime_checkable
class Prepares(Protocol):
    """A model that works in two steps: it tokenises on the processor and computes on the device.

    ``predict`` of such a model is ``infer(prepare(…))``. ``prepare`` is called from another thread while ``infer``
    works on earlier pairs. ``lengths``: whether batches should hold pairs of similar length.
    """

    lengths: bool

    def prepare(self, *columns: Sequence[str]) -> Prepared: ...

    def infer(self, prepared: Any) -> Probabilities: ...


@runtime_checkable
class CountsUsage(Protocol):
    """A model that counts what it uses, such as tokens, seconds in the tokeniser, or money."""

    def usage(self) -> Mapping[str, float]: ...


@runtime_checkable
class Represents(Protocol):
    """A model that exposes its layers: their names, and float32[layers, n, width] for n pairs."""

    layers: tuple[str, ...]

    def representations(self, *columns: Sequence[str]) -> npt.NDArray[np.float32]: ...


@runtime_checkable
class ChecksSuites(Protocol):
    """A model that checks suites before a run and raises for those it cannot answer."""

    def check(self, suites: Sequence[Suite]) -> None: ...


@runtime_checkable
class ChecksLabelOrder(Protocol):
    """A model whose order of labels was declared by somebody, so that gold may show that it is another.

    ``rows`` are the rows of a suite with predictions. It is ``decisive`` if it was not built to mislead models; then
    the model raises ``LabelOrderError`` where another order fits significantly better, and otherwise warns. ``options``
    name the suites of the run, for the command in the message.
    """

    def check_label_order(
        self, rows: pl.DataFrame, *, suite: str, options: Mapping[str, str], decisive: bool
    ) -> None: ...


@runtime_checkable
class ReadsFiles(Protocol):
    """A model that knows the digests of the files that it has read while it predicted, by path."""

    files_read: Mapping[str, str]


def files_read(model: Model) -> Mapping[str, str]:
    """The digests of the files that a model has read while it predicted, by path; empty if it does not know."""
    return model.files_read if isinstance(model, ReadsFiles) else {}


@runtime_checkable
class Varies(Protocol):
    """A model that states whether its predictions may vary from call to call, such as those of a sampled reply."""

    varies: bool


@runtime_checkable
class HasOptionalColumns(Protocol):
    """A model with optional input columns: they are null where a suite lacks them."""

    optional: tuple[str, ...]


class CompletedModel:
    """A user's function, or object with ``predict``, with default values for the attributes that it lacks.

    It may answer with three probabilities a pair, with label names, with two probabilities (entailment,
    non-entailment), or with one: the support score of a verifier of claims. Where it has no ``resolution``, the first
    answers decide which it is, and later ones must agree.
    """

    def __init__(self, inner: object, name: str, fingerprint: str | None = None) -> None:
        self._inner = inner
        ask = getattr(inner, "predict", inner)
        if isinstance(inner, type) or not callable(ask):
            kind = "a class; give an object of it" if isinstance(inner, type) else type(inner).__name__
            raise AcidtestError(f"model {name} is {kind}; expected a function or an object with predict")
        self._ask = ask
        self.name = str(getattr(inner, "name", name))
        self.fingerprint = _fingerprint_text(self.name, getattr(inner, "fingerprint", fingerprint))
        self.columns: tuple[str, ...] = tuple(getattr(inner, "columns", ("premise", "hypothesis")))
        self.optional: tuple[str, ...] = tuple(getattr(inner, "optional", ()))
        self._stated: Resolution | None = getattr(inner, "resolution", None)
        self._first: Resolution | None = None
        """The resolution of the first answers, where the model does not state it."""
        self.resolution: Resolution = self._stated or "three-way"
        self.probabilities = bool(getattr(inner, "probabilities", True))
        self.may_abstain = bool(getattr(inner, "may_abstain", False))
        self.batch_size = int(getattr(inner, "batch_size", BATCH_SIZE))
        self.notes: tuple[str, ...] = tuple(getattr(inner, "notes", ()))
        # A fingerprint from the model itself covers what it depends on; one of its source code may not.
        self.keep: Keep = getattr(inner, "keep", "always" if hasattr(inner, "fingerprint") else "run")
        self.independent = bool(getattr(inner, "independent", False))
        self.varies = bool(getattr(inner, "varies", False))
        if isinstance(inner, Represents):
            self.layers, self.representations = tuple(inner.layers), inner.representations
        if self.batch_size < 1:
            raise AcidtestError(f"model {self.name}: batch_size is {self.batch_size}; it is a number from 1 on")
        if self.resolution not in get_args(Resolution):
            raise AcidtestError(f"model {self.name}: resolution is {self.resolution!r}, not three-way or two-way")

    def predict(self, *columns: Sequence[str]) -> npt.NDArray[np.float32]:
        """The answers of the user's object, as rows of three numbers."""
        values = self._ask(*columns)
        if isinstance(values, str) or not hasattr(values, "__len__"):
            given = f"the text {values!r}" if isinstance(values, str) else type(values).__name__
            raise AcidtestError(f"{self.name} gave {given}; expected a list with a row or a label for each pair")
        if len(values) and isinstance(values[0], str):
            self.probabilities = False
            return one_hot([self._label(value) for value in values])
        table = number_table(self.name, values)
        count = len(columns[0])
        if count and self._stated != "three-way":
            if table.shape in ((count,), (count, 1)):
                self._settle("two-way", "one score for each pair, read as the probability that the premise supports it")
                return self._read_scores(np.asarray(values).reshape(count))
            if table.shape == (count, 2):
                self._settle("two-way", "two numbers for each pair, read as entailment and non-entailment")
                return _pad_two_way(table)
        if count and table.shape == (count, 3):
            self._settle("three-way", "three numbers for each pair")
        return table

    def check(self, suites: Sequence[Suite]) -> None:
        """Pass the suites on to an object that checks suites."""
        if isinstance(self._inner, ChecksSuites):
            self._inner.check(suites)

    def check_label_order(self, rows: pl.DataFrame, *, suite: str, options: Mapping[str, str], decisive: bool) -> None:
        """Pass the rows on to an object that checks its order of labels."""
        if isinstance(self._inner, ChecksLabelOrder):
            self._inner.check_label_order(rows, suite=suite, options=options, decisive=decisive)

    def _settle(self, resolution: Resolution, form: str) -> None:
        """Let the first answers decide the resolution of a model that does not state it, and refuse others later."""
        if self._stated:
            return
        if self._first is None:
            self._first = self.resolution = resolution
            if "read as" in form:
                note("%s gives %s", self.name, form)
        elif self._first != resolution:
            raise AcidtestError(
                f"{self.name} gave {form} ({resolution}), but {self._first} answers before; "
                f"let it answer all pairs in the same way"
            )

    def _read_scores(self, scores: npt.NDArray[Any]) -> Probabilities:
        """Support scores as two-way rows; whole numbers are refused, since they may be numbers of classes."""
        if scores.dtype.kind in "iu":
            raise AcidtestError(
                f"{self.name} gave whole numbers, first {scores[0]}; expected a support score between 0.0 and 1.0 "
                f"for each pair, such as return [0.9 for claim in claims], or label names"
            )
        if scores.dtype.kind == "b":
            self.probabilities = False
        support = np.asarray(scores, dtype=np.float32)
        outside = (support < 0) | (support > 1)
        if outside.any():
            raise AcidtestError(
                f"{self.name} gave the score {support[outside][0]:g} for a pair; one score for each pair is the "
                f"probability of support, between 0 and 1 (a logit needs a sigmoid)"
            )
        return _pad_two_way(np.column_stack([support, 1 - support]))

    def _label(self, value: object) -> str:
        name = gold_name(value) if isinstance(value, str) else None
        if name not in (*LABELS, "non-entailment"):
            raise AcidtestError(f"{self.name} answered {value!r}, which is not {', '.join(LABELS)}")
        if name == "non-entailment" and self._stated == "three-way":
            raise AcidtestError(f"{self.name} answered {value!r}, but its attribute resolution is 'three-way'")
        if name != "entailment":
            self._settle("two-way" if name == "non-entailment" else "three-way", f"the label {value!r}")
        return name


def _pad_two_way(table: Probabilities) -> Probabilities:
    """Rows of two probabilities as rows of three; one of NaN, which abstains, stays so."""
    return np.column_stack([table, np.where(np.isnan(table).all(axis=1), np.float32(np.nan), np.float32(0))])


def number_table(name: str, values: object) -> Probabilities:
    """The answers of a model as a float32 array; raises where they are not a table of real numbers."""
    try:
        table = np.asarray(values)
        if table.dtype.kind == "c" or (table.dtype.kind == "O" and any(map(np.iscomplexobj, table.ravel()))):
            raise TypeError("they are complex")
        return np.asarray(table, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise AcidtestError(
            f"{name} gave rows that are no table of numbers ({error}); expected three probabilities, "
            f"one support score or one label name for each pair"
        ) from error


def exit_error(what: str, error: SystemExit) -> AcidtestError:
    """The error for a call of sys.exit in a user's code, which would otherwise end acidtest silently."""
    # The traceback of argparse and exit() ends in the standard library: the line that called it says more.
    place = error_location(error, outside=Path(sysconfig.get_path("stdlib")))
    return AcidtestError(f"{what} called sys.exit({error.code!r}) ({place}); a model must not end the program")


def import_users_module(name: str, where: str) -> ModuleType:
    """A module of the user's, searched in the current folder first; ``where`` begins the messages of errors.

    Raises if only a settings file that the user did not name asks for it.
    """
    require_requested(f"python:{name}", f"runs code: {where}")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if not f"{name}.".startswith(f"{error.name}."):
            raise AcidtestError(f"{where}: {name} needs {error.name}, which is not installed") from error
        is_file = name.endswith(".py")
        advice = f"write {name[:-3]}, without .py" if is_file else "run acidtest in the folder that holds it"
        raise AcidtestError(f"{where}: there is no module {error.name!r} here; {advice}") from error
    except Exception as error:
        raise code_error(f"{where}: importing {name}", error) from error
    except SystemExit as error:
        raise exit_error(f"{where}: importing {name}", error) from error


def defined_names(module: ModuleType) -> list[str]:
    """The public functions and classes that a module defines, without those it imports."""
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
    ]


def code_error(what: str, error: Exception) -> AcidtestError:
    """The error to show for an exception in the user's code, with the line that raised it."""
    log.debug("%s", "".join(traceback.format_exception(error)))
    place = f"{error.filename}, line {error.lineno}" if isinstance(error, SyntaxError) else error_location(error)
    return AcidtestError(f"{what} raised {type(error).__name__}: {error} ({place}; -vv shows the whole traceback)")


def error_location(error: BaseException, *, outside: Path | None = None) -> str:
    """The file and line where an exception was raised; with ``outside``, the last line not in that folder, if any."""
    frames = traceback.extract_tb(error.__traceback__)
    if outside is not None:
        kept = [
            frame for frame in frames if not frame.filename.startswith("<") and Path(frame.filename).parent != outside
        ]
        frames = traceback.StackSummary.from_list(kept or frames)
    return f"{frames[-1].filename}, line {frames[-1].lineno}"


def _fingerprint_text(name: str, given: object) -> str | None:
    """A user's fingerprint as text; None where it is missing or empty."""
    if given is None or given == "":
        return None
    if not isinstance(given, str | int):
        kind = type(given).__name__
        raise AcidtestError(f"model {name}: fingerprint is of type {kind}; expected a text or an integer, or None")
    return str(given)


def complete_model(model: object) -> Model:
    """A user's function or object with every attribute that the runner reads; a complete model is returned as it is."""
    if isinstance(model, Model) and not isinstance(model, type):
        return model
    return CompletedModel(model, getattr(model, "__name__", type(model).__name__))


Adapter = Callable[..., Any]
"""A function that makes a model, or any object with ``predict``, from what follows the first colon of a spec.

Its other parameters are the options of that kind of model.
"""

MODELS: Registry[Adapter] = Registry("kind of model", "acidtest.models")


def model_options(spec: str) -> dict[str, Option]:
    """The options of the kind of model a spec names."""
    return read_options(MODELS[_split_spec(spec)[0]])


def model_from_spec(spec: str, arguments: Mapping[str, Any] | None = None) -> Model:
    """The model a spec such as ``baseline:overlap`` names, with options of its kind."""
    kind, rest = _split_spec(spec)
    adapter = MODELS[kind]
    return complete_model(adapter(rest, **parse_options(read_options(adapter), arguments or {}, kind)))


def _split_spec(spec: str) -> tuple[str, str]:
    """The kind of model that a spec names, and the rest of it."""
    kind, colon, rest = spec.partition(":")
    if not colon and kind not in MODELS:
        if Path(spec).exists():
            if spec.endswith(".py"):
                module = Path(spec).stem if Path(spec).is_absolute() else ".".join(Path(spec).with_suffix("").parts)
                raise AcidtestError(f"{spec!r} is a file of Python; name a function in it: python:{module}:FUNCTION")
            kinds = f"hf:{spec}, onnx:{spec} …"
            raise AcidtestError(f"{spec!r} is a file or folder; say what kind of model it holds: {kinds}")
        if whole := next((whole for whole in read_index("spec") if whole.partition(":")[2] == spec), ""):
            raise AcidtestError(f"no kind of model called {spec!r}; did you mean {whole!r}?")
        # Two words or a slash: the name of a model on the hub, unless it is a misspelt kind.
        if re.search(r"\w[-/]\w", spec) and not suggest_near(spec, MODELS):
            raise AcidtestError(f"{spec!r} names no kind of model; did you mean hf:{spec}?")
    return kind, rest
