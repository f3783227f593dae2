"""``python:pkg.mod:name`` — a function of the user's own, or an object with ``predict``."""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import re
import sys
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

import numpy as np
import numpy.typing as npt

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.logs import log
from acidtest.core.model import MODELS, CompletedModel, Model


class PythonModel(CompletedModel):
    """A user's model whose own exceptions are told as such, with their place."""

    def predict(self, *columns: Sequence[str]) -> npt.NDArray[np.float32]:
        """What the model says."""
        try:
            return super().predict(*columns)
        except AcidtestError:
            raise
        except Exception as error:
            raise _told(f"{self.name} raised", error) from error


@MODELS.add("python")
def python(rest: str) -> Model:
    """The function or object at ``pkg.mod:name``, looked for from the current folder on."""
    module_name, _, attribute = rest.partition(":")
    if not re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)*", module_name) or not attribute:
        raise AcidtestError(
            f"python:{rest}: write python:MODULE:FUNCTION, such as python:mymodel:predict for predict in mymodel.py"
        )
    if "" not in sys.path:
        sys.path.insert(0, "")
    module = _module(module_name, rest)
    if not hasattr(module, attribute):
        raise UnknownNameError(f"function in {module_name}", attribute, [n for n in vars(module) if n[0] != "_"])
    return PythonModel(getattr(module, attribute), f"python:{rest}", fingerprint=_fingerprint(module))


def _module(name: str, rest: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise AcidtestError(
                f"python:{rest}: there is no module {error.name!r} here; run acidtest in the folder that holds it"
            ) from error
        raise AcidtestError(f"python:{rest}: {name} needs {error.name}, which is not installed") from error
    except Exception as error:
        raise _told(f"python:{rest}: importing {name} raised", error) from error


def _told(what: str, error: Exception) -> AcidtestError:
    """An exception in the user's code as a mistake of theirs, with the line it came from."""
    log.debug("%s", "".join(traceback.format_exception(error)))
    if isinstance(error, SyntaxError):
        place = f"{error.filename}, line {error.lineno}"
    else:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{frame.filename}, line {frame.lineno}"
    return AcidtestError(f"{what} {type(error).__name__}: {error} ({place}; -vv shows the whole traceback)")


def _fingerprint(module: ModuleType) -> str | None:
    """A hash of the module's source and of every module of the same project that it imports, directly or not.

    It cannot see installed packages, weights or settings that the code reads: a model can say more by an attribute
    ``fingerprint``.
    """
    if getattr(module, "__file__", None) is None:
        return None
    top = sys.modules[module.__name__.partition(".")[0]]
    place = Path(str(top.__file__ or module.__file__)).resolve().parent
    project = place.parent if hasattr(top, "__path__") else place
    digest = hashlib.blake2b(digest_size=8)
    for name, file in sorted(_sources(module, project).items()):
        digest.update(name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def _sources(module: ModuleType, project: Path) -> dict[str, Path]:
    """The source files of a module and of what it imports from the same project, by module name."""
    found: dict[str, Path] = {}
    todo = [module]
    while todo:
        each = todo.pop()
        file = Path(str(getattr(each, "__file__", None) or "")).resolve()
        ours = each is module or (project in file.parents and "site-packages" not in file.parts)
        if each.__name__ in found or not ours or file.suffix != ".py":
            continue
        found[each.__name__] = file
        todo += [sys.modules[name] for name in _imported(each, file) if name in sys.modules]
    return found


def _imported(module: ModuleType, file: Path) -> Iterator[str]:
    """The names of the modules a source file may import."""
    package = module.__name__ if hasattr(module, "__path__") else module.__name__.rpartition(".")[0]
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)
