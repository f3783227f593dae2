"""``python:pkg.mod:name``: a function of the user's, or an object with ``predict``."""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Collection, Sequence
from types import ModuleType

import numpy as np
import numpy.typing as npt

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.logs import log, note
from acidtest.core.model import MODELS, CompletedModel, Model, error_location, exit_error
from acidtest.models.code_fingerprints import CodeFingerprint, fingerprint_code, import_users_module, remember_loaded


class PythonModel(CompletedModel):
    """A user's model; exceptions in its code are reported as the user's, with file and line.

    It has the fingerprint of its code unless it has an attribute ``fingerprint``, and loses it when ``predict`` loads
    code that the fingerprint does not cover.
    """

    def __init__(self, inner: object, name: str, code: CodeFingerprint | None) -> None:
        super().__init__(inner, name, fingerprint=code.digest if code else None)
        self._code = code
        if code and code.reason:
            self.notes = (*self.notes, _describe_missing(code.reason))

    def predict(self, *columns: Sequence[str]) -> npt.NDArray[np.float32]:
        before = set(sys.modules)
        try:
            answers = super().predict(*columns)
        except AcidtestError:
            raise
        except Exception as error:
            raise _code_error(f"{self.name} raised", error) from error
        if self._code and self.fingerprint and (loaded := sys.modules.keys() - before):
            self._check_loaded(self._code, loaded)
        return answers

    def _check_loaded(self, code: CodeFingerprint, modules: Collection[str]) -> None:
        remember_loaded(code.module, modules)
        if reason := code.missing(modules):
            self.fingerprint = None
            note("%s: %s", self.name, _describe_missing(reason))


def _describe_missing(reason: str) -> str:
    return (
        f"its code has no fingerprint ({reason}), so no answers are kept; set its attribute fingerprint to change that"
    )


@MODELS.add("python")
def python(rest: str) -> Model:
    """The function or object at ``pkg.mod:name``; the current folder is searched first."""
    module_name, _, attribute = rest.partition(":")
    if not re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)*", module_name) or not attribute:
        raise AcidtestError(
            f"python:{rest}: write python:MODULE:FUNCTION, such as python:mymodel:predict for predict in mymodel.py"
        )
    if "" not in sys.path:
        sys.path.insert(0, "")
    module = _import_module(module_name, rest)
    if not hasattr(module, attribute):
        raise UnknownNameError(f"function in {module_name}", attribute, [n for n in vars(module) if n[0] != "_"])
    inner = getattr(module, attribute)
    code = None if hasattr(inner, "fingerprint") else fingerprint_code(module_name)
    return PythonModel(inner, f"python:{rest}", code)


def _import_module(name: str, rest: str) -> ModuleType:
    try:
        return import_users_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise AcidtestError(
                f"python:{rest}: there is no module {error.name!r} here; run acidtest in the folder that holds it"
            ) from error
        raise AcidtestError(f"python:{rest}: {name} needs {error.name}, which is not installed") from error
    except Exception as error:
        raise _code_error(f"python:{rest}: importing {name} raised", error) from error
    except SystemExit as error:
        raise exit_error(f"python:{rest}: importing {name}", error) from error


def _code_error(what: str, error: Exception) -> AcidtestError:
    """An exception in the user's code as a user mistake, with the line it came from."""
    log.debug("%s", "".join(traceback.format_exception(error)))
    place = f"{error.filename}, line {error.lineno}" if isinstance(error, SyntaxError) else error_location(error)
    return AcidtestError(f"{what} {type(error).__name__}: {error} ({place}; -vv shows the whole traceback)")
