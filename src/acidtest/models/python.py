"""``python:pkg.mod:name``: a function of the user's, or an object with ``predict``.

It gives for each pair three probabilities, a label name, or one score: the probability that the document supports the
claim (see ``CompletedModel``).
Such a model's fingerprint is a hash of its code, the files of all the user's modules that it may import, and of the
files that it reads while it loads. Files that it reads while it predicts are noted with the predictions of an
unfinished run.

The files that a model reads, noticed by Python's audit events, and digests of their content.

Python cannot remove an audit hook. So one is installed when the first model is watched; between watches it does
nothing.
Files that compiled code opens by itself cause no event (safetensors, ONNX); nor do those of other processes. Files that
other threads open are ignored: the threads may belong to another library.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import os
import pkgutil
import re
import sys
import sysconfig
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.logs import note
from acidtest.core.model import MODELS, CompletedModel, Model, code_error, defined_names, import_users_module

MAX_WHOLE_BYTES = 256 << 20
"""Of a larger file, only the size and ``_PIECES`` evenly spaced megabytes enter the digest."""

_PIECES = 64
_PIECE = 1 << 20
_SYSTEM = ("/dev", "/proc", "/sys", "/etc", "/usr/lib", "/usr/lib64", "/usr/share")
_CODE = (".py", ".pyc", ".pyi", ".so", ".pyd", ".dll")
_INSTALLED = tuple(
    str(Path(path).resolve())
    for path in {
        *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib", "data")),
        *(sys.prefix, sys.base_prefix, str(Path(__file__).resolve().parents[1])),
    }
)


@dataclass
class OpenedFiles:
    """The absolute paths of files that were opened to read, and of those that were opened to write."""

    read: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)

    def digests(self, known: Mapping[str, str]) -> dict[str, str]:
        """The digest of each file that was only read; ``known`` are not computed again.

        Files of Python, of installed packages and of the system are left out, as is what no longer exists.
        """
        made = dict[str, str]()
        for path in sorted(self.read - self.written):
            if path in known:
                made[path] = known[path]
            elif not path.endswith(_CODE) and not _is_within(path, (*_SYSTEM, *_INSTALLED)):
                digest = _content_digest(Path(path))
                made |= {path: digest} if digest else {}
        return made


_watching: list[tuple[int, OpenedFiles]] = []
"""The threads that are watched, and where their files are noted."""
_installed = False


@contextmanager
def watch_opened_files(opened: OpenedFiles) -> Iterator[None]:
    """Add the files that this thread opens within the block; other threads may be those of another library."""
    global _installed
    if not _installed:
        sys.addaudithook(_note_event)
        _installed = True
    watch = (threading.get_ident(), opened)
    _watching.append(watch)
    try:
        yield
    finally:
        _watching.remove(watch)


def _note_event(event: str, arguments: tuple[object, ...]) -> None:
    if not _watching or event != "open":
        return
    path, _, flags = arguments
    if isinstance(path, str | bytes) and isinstance(flags, int):
        absolute = os.path.abspath(os.fsdecode(path))  # noqa: PTH100 - Path.resolve would open files
        writes = flags & (os.O_WRONLY | os.O_RDWR)
        here = threading.get_ident()
        for opened in [opened for thread, opened in _watching if thread == here]:
            (opened.written if writes else opened.read).add(absolute)


def _is_within(path: str, folders: tuple[str, ...]) -> bool:
    real = os.path.realpath(path)
    return any(real == folder or real.startswith(folder + os.sep) for folder in folders)


def _content_digest(path: Path) -> str:
    """The digest of a regular file's content; empty for anything else."""
    try:
        if not path.is_file():
            return ""
        digest = hashlib.sha256()
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size <= MAX_WHOLE_BYTES:
                return hashlib.file_digest(file, "sha256").hexdigest()
            digest.update(str(size).encode())
            for number in range(_PIECES):
                file.seek((size - _PIECE) * number // (_PIECES - 1))
                digest.update(file.read(_PIECE))
        return digest.hexdigest()
    except OSError:
        return ""


_IMPORTERS = frozenset({"import_module", "__import__"})
_RUNNERS = frozenset(
    {"exec", "run_path", "run_module", "spec_from_file_location", "SourceFileLoader", "exec_module", "load_module"}
)
"""Functions that run code which no import statement names."""

_FOREIGN_FOLDERS = (
    Path(__file__).resolve().parents[1],
    *(Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib")),
)
"""Folders whose code is not the user's: acidtest, the standard library and installed packages."""

_first_digests: WeakKeyDictionary[ModuleType, str] = WeakKeyDictionary()
"""The digest that a loaded module's file had when it was first read."""

_read_loading: WeakKeyDictionary[ModuleType, dict[str, str]] = WeakKeyDictionary()
"""The digests of the files that a module read while it was imported."""

_read_predicting: WeakKeyDictionary[ModuleType, dict[str, str]] = WeakKeyDictionary()
"""The digests of the files that a module's models read while they predicted."""

_loaded_by: WeakKeyDictionary[ModuleType, set[str]] = WeakKeyDictionary()
"""The modules that were loaded when a module was imported, or when its model predicted."""


_NO_FINGERPRINT = (
    "its code has no fingerprint ({}), so no answers are kept; set its attribute fingerprint to change that"
)


class PythonModel(CompletedModel):
    """A user's model; exceptions in its code are reported as user errors, with file and line.

    Its fingerprint is its attribute ``fingerprint``, or else that of its code, which is dropped when ``predict`` loads
    code that it does not cover, or changes a file that the fingerprint covers.
    """

    def __init__(self, inner: object, name: str, code: CodeFingerprint | None) -> None:
        # Two functions of one module are two models.
        digest = hashlib.blake2b(f"{name}\0{code.digest}".encode(), digest_size=8) if code and code.digest else None
        super().__init__(inner, name, fingerprint=digest.hexdigest() if digest else None)
        self._code = code
        self._opened = OpenedFiles()
        module = sys.modules.get(code.module) if code else None
        self.files_read: dict[str, str] = {} if module is None else _read_predicting.setdefault(module, {})
        if code and code.reason:
            self.notes = (*self.notes, _NO_FINGERPRINT.format(code.reason))

    def predict(self, *columns: Sequence[str]) -> npt.NDArray[np.float32]:
        before = set(sys.modules)
        try:
            with watch_opened_files(self._opened) if self._code else nullcontext():
                answers = super().predict(*columns)
        except AcidtestError:
            raise
        except Exception as error:
            raise code_error(self.name, error) from error
        if self._code and self.fingerprint and (loaded := sys.modules.keys() - before):
            _remember_loaded(self._code.module, loaded)
            if reason := self._code.missing(loaded):
                self._drop_fingerprint(reason)
        if self._code and self.fingerprint:
            if changed := sorted(self._code.read & self._opened.written):
                self._drop_fingerprint(f"it reads {Path(changed[0]).name} and writes to it")
            self.files_read |= self._opened.digests(self.files_read)
            for path in self._opened.written & self.files_read.keys():
                del self.files_read[path]
        return answers

    def _drop_fingerprint(self, reason: str) -> None:
        self.fingerprint = None
        note("%s: %s", self.name, _NO_FINGERPRINT.format(reason))


@MODELS.add("python")
def python(rest: str) -> Model:
    """The function or object at ``pkg.mod:name``; the current folder is searched first.

    For each pair it returns three probabilities, a label name, or one support score between 0 and 1.
    """
    module_name, _, attribute = rest.partition(":")
    if not re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)*", module_name) or not attribute:
        raise AcidtestError(
            f"python:{rest}: write python:MODULE:FUNCTION, such as python:mymodel:predict for predict in mymodel.py"
        )
    before, opened = set(sys.modules), OpenedFiles()
    with watch_opened_files(opened):
        module = import_users_module(module_name, f"python:{rest}")
    _remember_loaded(module_name, sys.modules.keys() - before)
    _read_loading.setdefault(module, {}).update(opened.digests(_read_loading.get(module, {})))
    if not hasattr(module, attribute):
        raise UnknownNameError(f"function in {module_name}", attribute, defined_names(module))
    inner = getattr(module, attribute)
    code = None if hasattr(inner, "fingerprint") else fingerprint_code(module_name)
    return PythonModel(inner, f"python:{rest}", code)


@dataclass(frozen=True)
class CodeFingerprint:
    """A digest of a model's code, or None and the reason why there is none."""

    module: str
    digest: str | None
    files: Mapping[str, str] = field(default_factory=dict)
    """The digest of each module's file."""
    reason: str = ""
    read: Set[str] = frozenset()
    """The paths of the files that the module read while it was imported."""

    def missing(self, modules: Collection[str]) -> str:
        """The reason why the fingerprint does not cover one of these loaded modules; empty if it covers all."""
        for name in sorted(modules):
            file = _attribute(name, "__file__")
            if not isinstance(file, str):
                continue
            path = Path(file).resolve()
            if name in self.files:
                if _first_digest(name, _file_digest(path)) != self.files[name]:
                    return f"{path.name} was changed before it was loaded"
            # Files outside the search path are generated by programs, such as compilers of kernels.
            elif _is_users(name, path, self.module) and any(
                path.is_relative_to(Path(folder or os.curdir).resolve()) for folder in sys.path
            ):
                return f"{name} ({path}) is imported in a way that does not show in the source"
        return ""


def _remember_loaded(name: str, modules: Collection[str]) -> None:
    """Record the modules that a model's module has loaded, for later fingerprints in this process."""
    module = sys.modules.get(name)
    if isinstance(module, ModuleType):
        _loaded_by.setdefault(module, set()).update(modules)


def fingerprint_code(name: str) -> CodeFingerprint:
    """A hash of the files of a module and of all the user's modules that it may import, directly or not.

    Imports anywhere in the source count, and are resolved without running the code. Compiled modules are hashed as
    bytes. Files that the module read when ``python`` imported it count by their content. Installed packages are not
    covered.
    """
    importlib.invalidate_caches()
    digest, files = hashlib.blake2b(digest_size=8), dict[str, str]()
    try:
        for module, path in sorted(_users_files(name).items()):
            content = path.read_bytes()
            digest.update(module.encode() + b"\0" + content)
            files[module] = hashlib.sha256(content).hexdigest()
            if _first_digest(module, files[module]) != files[module]:
                raise _NoFingerprintError(f"{path.name} was changed after it was loaded; start Python anew")
        if name not in files:
            raise _NoFingerprintError(f"module {name} is not a file")
    except _NoFingerprintError as error:
        return CodeFingerprint(name, None, reason=str(error))
    except OSError as error:
        return CodeFingerprint(name, None, reason=f"{error.filename} cannot be read ({error.strerror})")
    loaded = sys.modules[name]
    read = _read_loading.get(loaded, {}) if isinstance(loaded, ModuleType) else {}
    # Not their paths: a folder may be moved.
    for file_digest in sorted(set(read.values())):
        digest.update(b"\0read\0" + file_digest.encode())
    code = CodeFingerprint(name, digest.hexdigest(), files, read=read.keys())
    reason = code.missing(_loaded_by.get(loaded, ())) if isinstance(loaded, ModuleType) else ""
    return CodeFingerprint(name, None, reason=reason) if reason else code


def _first_digest(module: str, current: str) -> str:
    """The digest of a module's file when it was first read after loading; ``current`` if the module is not loaded."""
    loaded = sys.modules.get(module)
    return _first_digests.setdefault(loaded, current) if isinstance(loaded, ModuleType) else current


class _NoFingerprintError(Exception):
    """A model's code cannot have a fingerprint; the message says why."""


def _users_files(root: str) -> dict[str, Path]:
    """The files of a module and of the user's modules that it may import, by module name."""
    files, seen, waiting = dict[str, Path](), set[str](), [root]
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        package, file, folders = name.rpartition(".")[0], *_locate(name)
        # Importing a.b runs a first.
        waiting += [package] if package else []
        if file is not None and _is_users(name, file, root):
            files[name] = file
            if file.suffix == ".py":
                waiting += _imports(file, package if folders is None else name)
    return files


def _is_users(name: str, file: Path, root: str) -> bool:
    """Whether a module is the user's code: in the package of the model, or neither installed nor acidtest's."""
    if name.partition(".")[0] == root.partition(".")[0]:
        return True
    if any(file.is_relative_to(folder) for folder in _FOREIGN_FOLDERS) or name == "__mp_main__":
        # __mp_main__ is the name that multiprocessing gives to the script that was started.
        return False
    return not {"site-packages", "dist-packages"} & set(file.parts)


def _locate(name: str) -> tuple[Path | None, Sequence[str] | None]:
    """The file of a module, loaded or not, if it has one, and the folders of its submodules, if it is a package.

    Nothing is run to find them.
    """
    if name in sys.modules:
        file, folders = _attribute(name, "__file__"), _attribute(name, "__path__")
        return Path(file).resolve() if file else None, None if folders is None else list(folders)
    parent, _, last = name.rpartition(".")
    above = _locate(parent)[1] if parent else None
    if parent and above is None:
        return None, None
    # A package without __init__.py may be several folders.
    bare = [str(Path(folder, last)) for folder in (sys.path if above is None else above) if Path(folder, last).is_dir()]
    for finder in sys.meta_path:
        try:
            spec = finder.find_spec(name, above)
        except ImportError:
            continue
        except KeyError:
            # A folder without __init__.py inside one that is not loaded: Python looks up its parent and fails.
            return None, bare
        if spec is None:
            continue
        inner = spec.submodule_search_locations
        if not (spec.has_location and spec.origin):
            return None, None if inner is None else bare
        return Path(spec.origin).resolve(), None if inner is None else list(inner)
    return None, None


def _attribute(module: str, name: str) -> Any:
    """An attribute of a loaded module; None if it has none or is not loaded."""
    # Not getattr: some modules import on attribute access, and fail where the import is not installed.
    return getattr(sys.modules.get(module), "__dict__", {}).get(name)


def _imports(file: Path, package: str) -> Iterator[str]:
    """The modules that a source file may import; raises where it imports or runs code that it does not name."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):
        # Importing this file fails too, so it imports nothing.
        return
    nodes = list(ast.walk(tree))
    renamed = {
        alias.asname: alias.name
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname and alias.name in _IMPORTERS | _RUNNERS
    }
    calls = {id(node.func): node for node in nodes if isinstance(node, ast.Call)}
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from _imported_from(node, package)
        elif isinstance(node, ast.Name | ast.Attribute):
            name = node.id if isinstance(node, ast.Name) else node.attr
            name = renamed.get(name, name)
            if name in _IMPORTERS:
                yield _module_in_call(calls.get(id(node)), package, f"{file.name}, line {node.lineno}")
            elif name in _RUNNERS and (name != "exec" or isinstance(node, ast.Name)):
                raise _NoFingerprintError(f"{file.name}, line {node.lineno} runs code by {name}")


def _imported_from(node: ast.ImportFrom, package: str) -> Iterator[str]:
    try:
        base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
    except ImportError:
        # A relative import outside a package also fails when it runs.
        return
    yield base
    for alias in node.names:
        if alias.name == "*":
            yield from (f"{base}.{module.name}" for module in pkgutil.iter_modules(_locate(base)[1] or []))
        else:
            yield f"{base}.{alias.name}"


def _module_in_call(call: ast.Call | None, package: str, where: str) -> str:
    """The module that a call such as ``import_module("a.b")`` or ``import_module(".b", __package__)`` names."""
    unclear = _NoFingerprintError(f"{where} imports a module whose name is made by the program")
    arguments = call.args if call else []
    keywords = {keyword.arg: keyword.value for keyword in call.keywords} if call else {}
    # The fifth argument of __import__ is the level of a relative import.
    if not arguments or len(arguments) > 4 or "level" in keywords:
        raise unclear
    name, anchor = _string_value(arguments[0]), keywords.get("package", arguments[1] if len(arguments) > 1 else None)
    if name is None:
        raise unclear
    if not name.startswith("."):
        return name
    if isinstance(anchor, ast.Name) and anchor.id in ("__package__", "__name__"):
        # In a package both are the same; in another module, the call with __name__ fails.
        anchor = ast.Constant(package)
    if not (base := _string_value(anchor)):
        raise unclear
    return importlib.util.resolve_name(name, base)


def _string_value(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _file_digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
