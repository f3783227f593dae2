"""The suites that can be generated: every module under ``generators/`` registers its own here."""

from __future__ import annotations

import fnmatch
import glob
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from acidtest.core.errors import AcidtestError, FileError, NothingToMakeError, UnknownNameError, some
from acidtest.core.logs import log
from acidtest.core.options import Option, options_of, parsed_options
from acidtest.core.registry import Registry
from acidtest.core.suite import Suite

Material = Literal["templates", "pairs", "sentences", "published"]
"""What a suite is made of. Pairs and sentences may be a user's own; without them the starter corpus serves.

A suite of a published file cannot be had without it.
"""


class Leftovers:
    """Which rows of files, such as people's answers, none of the suites that read them has used."""

    def __init__(self) -> None:
        self._rows: dict[str, int] = {}
        self._unused: dict[str, frozenset[int]] = {}

    def note(self, path: str, *, rows: frozenset[int], used: frozenset[int]) -> None:
        """Take note of the rows of a file, by their digests, and of those that one suite has used."""
        self._rows[path] = len(rows)
        self._unused[path] = self._unused.get(path, rows) - used

    def warn(self) -> None:
        """Say how many answers of each file no suite has used."""
        for path, unused in self._unused.items():
            if unused:
                log.warning(
                    "%s: %d of %d answers are to no pair made of this corpus; premise and hypothesis must be as they "
                    "were",
                    path,
                    len(unused),
                    self._rows[path],
                )


@dataclass(frozen=True)
class Request:
    """What may be asked of every generator."""

    n: int | None = None
    seed: int = 0
    at_most: bool = False
    source: Suite | Path | None = None
    """Pairs to make the suite from or, for a suite made of sentences, also a file of text."""
    leftovers: Leftovers = field(default_factory=Leftovers)
    """What suites made by one command have not used, of all of them together."""
    keep: tuple[str, ...] = ()
    """Columns of the source that the user says hold of changed pairs too."""


@dataclass(frozen=True)
class Generator:
    """How one suite is made, and what can be said of it before it is."""

    name: str
    make: Callable[..., Suite]
    summary: str
    rows: int
    source: Material
    citation: str
    licence: str
    row_local: bool = False
    """Whether what is made of a pair depends on no other pair, so that parts of a corpus give parts of the suite."""

    @property
    def options(self) -> dict[str, Option]:
        """The suite's own arguments, read off the generating function."""
        return options_of(self.make)

    def __call__(self, request: Request, arguments: Mapping[str, Any] | None = None) -> Suite:
        """The suite, with its own arguments checked and its card sealed."""
        if request.source is not None and self.source == "templates":
            raise AcidtestError(f"suite {self.name!r} is made of templates and takes no --from")
        if request.source is None and self.source == "published":
            raise NothingToMakeError(f"suite {self.name!r} is a published file; give it with --from FILE")
        made = self.make(request, **parsed_options(self.options, arguments or {}, f"suite {self.name!r}"))
        made = replace(made, card=replace(made.card, note=made.card.note or self.summary)).sealed()
        if not made.card.rows:
            corpus = made.card.arguments.get("from", "the corpus")
            reasons = [f"{count:,} {reason}" for reason, count in made.card.left_out.items()]
            why = f" (left out: {some(reasons)})" if reasons else ""
            nothing = f"suite {self.name!r}: nothing comes of {corpus!r}{why}"
            raise NothingToMakeError(f"{nothing}; {_advice(made.card.left_out, assumes='assume' in self.options)}")
        return made


def _advice(left_out: Mapping[str, int], *, assumes: bool) -> str:
    """What to do about an empty suite; ``assumes``: it has the option to assume the paper's gold."""
    waiting = any("--ask" in reason for reason in left_out)
    asking = f"get gold for those that wait (--ask, then --answers FILE{'; or --assume paper' if assumes else ''}), or "
    return f"{asking if waiting else ''}use another corpus"


SUITES: Registry[Generator] = Registry("suite", ["acidtest.suites"], "acidtest.suites")


def generator(
    name: str, *, summary: str, rows: int, source: Material, citation: str, licence: str, row_local: bool = False
) -> Callable[[Callable[..., Suite]], Callable[..., Suite]]:
    """Register the function below as the way to make suite ``name``; for ``row_local`` see ``Generator``.

    Such a suite is made lazily, has its corpus as control, and draws ``n`` pairs of it before anything else.
    """

    def register(make: Callable[..., Suite]) -> Callable[..., Suite]:
        SUITES.add(name)(Generator(name, make, summary, rows, source, citation, licence, row_local))
        return make

    return register


def listed(entries: Sequence[str]) -> list[str]:
    """The names and files a list of suites means: names, globs and files, separated by commas or one by one.

    An existing file is taken whole before splitting.
    """
    found: list[str] = []
    for entry in entries:
        if entry and Path(entry).exists() and entry not in SUITES:
            found.append(entry)
        else:
            found += [name for part in entry.split(",") if part.strip() for name in _meant(part.strip())]
    if entries and not found:
        raise UnknownNameError("suite or file", ", ".join(entries), SUITES)
    return list(dict.fromkeys(found))


def _meant(part: str) -> list[str]:
    if part in SUITES or Path(part).exists():
        return [part]
    matching = [name for name in SUITES if fnmatch.fnmatchcase(name, part)] or sorted(glob.glob(part))  # noqa: PTH207
    if matching:
        return matching
    families = {name.split("/")[0] for name in SUITES}
    if Path(part).suffix or (os.sep in part and part.split("/")[0] not in families):
        raise FileError(part, "there is no such file, and no suite of that name")
    raise UnknownNameError("suite or file", part, SUITES)
