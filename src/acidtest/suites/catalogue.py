"""The suites that can be generated; the modules of this folder register theirs here."""

from __future__ import annotations

import fnmatch
import glob
import inspect
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from acidtest.core.errors import AcidtestError, FileError, NothingToMakeError, UnknownNameError, list_some
from acidtest.core.files import suggest_files
from acidtest.core.logs import log
from acidtest.core.registry import Option, Registry, parse_options, read_options
from acidtest.core.suite import EXPECTATION, Suite

T = TypeVar("T")

Material = Literal["templates", "code", "pairs", "sentences", "published"]
"""What a suite is made from. Pairs and sentences come from the user or from the starter corpus.

A ``published`` suite needs the published file from the user; one of ``code`` is made by a function of the user's.
"""


class Leftovers:
    """Keeps track of the rows in files of answers that no suite has used."""

    def __init__(self) -> None:
        self._rows: dict[str, int] = {}
        self._unused: dict[str, frozenset[int]] = {}

    def note(self, path: str, *, rows: frozenset[int], used: frozenset[int]) -> None:
        """Record the digests of the rows of a file, and those of the rows that one suite has used."""
        self._rows[path] = len(rows)
        self._unused[path] = self._unused.get(path, rows) - used

    def warn(self) -> None:
        """Log how many answers of each file no suite has used."""
        for path, unused in self._unused.items():
            if unused:
                problem = "answers are to no pair made of this corpus; premise and hypothesis must be as they were"
                log.warning("%s: %d of %d %s", path, len(unused), self._rows[path], problem)


@dataclass(frozen=True)
class Request:
    """What a user chose that every generator receives: size, seed and source."""

    n: int | None = None
    seed: int = 0
    at_most: bool = False
    source: Suite | Path | None = None
    """The pairs to make the suite from; for a suite made from sentences, also a text file."""
    leftovers: Leftovers = field(default_factory=Leftovers)
    """One object, shared by all suites that a command makes."""
    keep: tuple[str, ...] = ()
    """Columns of the source whose values, the user says, hold for changed pairs too."""


@dataclass(frozen=True)
class Generator:
    """The function that makes a suite, and what is known of the suite beforehand."""

    name: str
    make: Callable[..., Suite]
    summary: str
    rows: int
    source: Material
    citation: str
    licence: str
    row_local: bool = False
    """Whether the rows made from a pair depend on no other pair, so that a corpus can be processed in parts."""
    needs_gold: bool = True
    """Whether the pairs that it is made from need gold; where not, those without serve too."""
    corpus: str = ""
    """The file of pairs that the suite is made from where the user names none; empty for the starter corpus."""

    @property
    def takes_corpus(self) -> bool:
        """Whether the suite is made from a corpus."""
        return self.source not in ("templates", "code")

    @property
    def options(self) -> dict[str, Option]:
        """The options of this suite, read from the signature of its function."""
        return read_options(self.make)

    def __call__(self, request: Request, arguments: Mapping[str, Any] | None = None) -> Suite:
        """Make the suite: check its options, make its rows and seal its card."""
        if request.source is not None and not self.takes_corpus:
            raise AcidtestError(f"suite {self.name!r} is made of {self.source} and takes no --from")
        if request.source is None and self.source == "published":
            raise NothingToMakeError(f"suite {self.name!r} is a published file; give it with --from FILE")
        options = parse_options(self.options, arguments or {}, f"suite {self.name!r}")
        suite = self.make(request, **options)
        suite = replace(suite, card=replace(suite.card, note=suite.card.note or self.summary)).sealed()
        if not suite.card.rows:
            raise self._empty_error(suite)
        return suite

    def _empty_error(self, suite: Suite) -> NothingToMakeError:
        corpus, left_out = suite.card.arguments.get("from", "the corpus"), suite.card.left_out
        reasons = list_some(suite.card.left_out_reasons)
        advice = ("mend the changes, or " if EXPECTATION in suite.card.columns else "") + "use another corpus"
        if any("--ask" in reason for reason in left_out):
            assume = "; or --assume paper" if "assume" in self.options else ""
            advice = f"get gold for those that wait (--ask, then --answers FILE{assume}), or {advice}"
        problem = f"nothing comes of {corpus!r}" + (f" (left out: {reasons})" if reasons else "")
        return NothingToMakeError(f"suite {self.name!r}: {problem}; {advice}")


def _adopt(name: str, function: Callable[..., Any]) -> Generator:
    """The generator of a plain function that returns rows, which an entry point names."""
    from acidtest.suites.custom.functions import function_generator

    return function_generator(name, function)


SUITES: Registry[Generator] = Registry("suite", "acidtest.suites", adopt=_adopt)


def find_generator(name: str) -> Generator | None:
    """The generator of a suite in the catalogue, or of one that a user wrote; None for a file of pairs."""
    if name in SUITES:
        return SUITES[name]
    from acidtest.suites.custom import read_generator

    return read_generator(name)


def generator(
    name: str,
    *,
    summary: str,
    rows: int,
    source: Material,
    citation: str,
    licence: str,
    row_local: bool = False,
    needs_gold: bool = True,
) -> Callable[[Callable[..., Suite]], Callable[..., Suite]]:
    """A decorator that registers a function as the generator of suite ``name``.

    A ``row_local`` suite is lazy, has its corpus as control, and draws ``n`` pairs before anything else.
    """

    def register(make: Callable[..., Suite]) -> Callable[..., Suite]:
        SUITES.add(name)(Generator(name, make, summary, rows, source, citation, licence, row_local, needs_gold))
        return make

    return register


def take_options(
    make: Callable[[Request, T], Suite], options: type[T], *, without: Collection[str] = ()
) -> Callable[..., Suite]:
    """A function for ``generator`` whose options are the fields of a dataclass, except those in ``without``.

    It calls ``make`` with the dataclass, filled with the values given.
    """

    def make_with_options(request: Request, **values: Any) -> Suite:
        return make(request, options(**values))

    fields = inspect.signature(options, eval_str=True).parameters.values()
    request = inspect.Parameter("request", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    shown = [field for field in fields if field.name not in without]
    make_with_options.__signature__ = inspect.Signature([request, *shown])  # type: ignore[attr-defined]
    return make_with_options


def resolve_names(entries: Sequence[str]) -> list[str]:
    """The names of suites and files that a list stands for: names, globs and files, separate or joined by commas.

    An entry that is an existing file is not split at its commas.
    """
    names: list[str] = []
    for entry in entries:
        if entry and Path(entry).exists() and entry not in SUITES:
            names.append(entry)
        else:
            names += [name for part in entry.split(",") if part.strip() for name in _resolve_name(part.strip())]
    if entries and not names:
        raise UnknownNameError("suite or file", ", ".join(entries), SUITES)
    return list(dict.fromkeys(names))


def _resolve_name(entry: str) -> list[str]:
    from acidtest.suites.custom import is_code

    if entry in SUITES or Path(entry).exists() or is_code(entry):
        return [entry]
    matching = [name for name in SUITES if fnmatch.fnmatchcase(name, entry)] or sorted(glob.glob(entry))  # noqa: PTH207
    if matching:
        return matching
    families = {name.split("/")[0] for name in SUITES}
    if Path(entry).suffix or (os.sep in entry and entry.split("/")[0] not in families):
        raise FileError(entry, f"there is no such file, and no suite of that name{suggest_files(entry)}")
    family = f"{entry.rstrip('/')}/"
    if any(name.startswith(family) for name in SUITES):
        raise AcidtestError(f"no suite or file called {entry!r}; did you mean '{family}*'?")
    _refuse_published(entry)
    raise UnknownNameError("suite or file", entry, SUITES)


def _refuse_published(entry: str) -> None:
    """Raise for the name of a published set that acidtest reads but cannot make."""
    from acidtest.pairs.categories import BREAKING_NLI

    if entry.lower().replace("_", "-") == BREAKING_NLI:
        raise AcidtestError(
            f"{entry!r} is a published file, not a suite that acidtest makes: pass the file itself, -s FILE, and it is "
            f"recognised; suite 'lexical' makes fresh pairs of the same kind"
        )
