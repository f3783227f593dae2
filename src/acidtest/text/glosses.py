"""WordNet's glosses, which do not ship with acidtest: found in a full WordNet 3.0 on this machine."""

from __future__ import annotations

import os
import re
import sys
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import polars as pl

from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.files import read_bytes
from acidtest.io.store import WORDNET, resource_folder
from acidtest.text.wordnet import wordnet

VARIABLE = "ACIDTEST_WORDNET"
VERSION = "3.0"
FETCH = "acidtest sources fetch wordnet"
DATA_FILES = ("data.noun", "data.verb", "data.adj", "data.adv")
"""The files that hold glosses, in the order of our synset numbers."""

DEBIAN = Path("/usr/share/wordnet")
MOST_BYTES = 64 * 2**20
"""A data file larger than this is none of WordNet's; the largest has 15 MB."""

_COPYRIGHT = re.compile(rb"Word[nN]et (\d[\d.]*) Copyright")
_HEAD = 4096


@dataclass(frozen=True)
class WordNetFolder:
    """Where a full WordNet may be: a folder, or a folder in a zip file as NLTK downloads it."""

    path: Path
    origin: str

    @property
    def exists(self) -> bool:
        """Whether there is something that looks like WordNet."""
        return self.path.is_file() if self.path.suffix == ".zip" else (self.path / DATA_FILES[0]).is_file()

    def content(self, name: str) -> bytes:
        """One of its files, with ``\\n`` at line ends whatever they were."""
        read = _zipped if self.path.suffix == ".zip" else _plain
        return read(self.path, name).replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def find_wordnet_folder(
    environment: Mapping[str, str] | None = None, *, home: Path | None = None
) -> WordNetFolder | None:
    """Where a full WordNet is, if it is anywhere; a folder that the environment names must be one."""
    environment = os.environ if environment is None else environment
    if environment.get(VARIABLE):
        named = WordNetFolder(Path(environment[VARIABLE]), VARIABLE)
        if not named.exists:
            raise FileError(named.path, f"has no {DATA_FILES[0]}; {VARIABLE} must name a folder with WordNet {VERSION}")
        return named
    return next((folder for folder in _places(environment, home or Path.home()) if folder.exists), None)


def require_glosses(need: str) -> WordNetFolder:
    """Where the glosses are; where there are none, the error names what needs them, such as ``wsd=lesk``."""
    folder = find_wordnet_folder()
    if folder is None:
        raise AcidtestError(f"{need} needs WordNet glosses; get them with: {FETCH}")
    return folder


@cache
def definitions(place: WordNetFolder) -> pl.Series:
    """The definition of every synset, by number: its gloss without examples, as NLTK takes it apart."""
    lines = pl.concat([_lines(place, name) for name in DATA_FILES])
    _require_fit(place, lines)
    gloss = lines.str.split_exact("|", 1).struct.field("field_1")
    without_examples = gloss.str.replace_all(r'".*?"', "").str.strip_chars()
    return without_examples.str.strip_chars("; ").alias("definition")


def _places(environment: Mapping[str, str], home: Path) -> Iterator[WordNetFolder]:
    yield WordNetFolder(resource_folder(WORDNET, environment), FETCH)
    for folder in _nltk_folders(environment, home):
        yield WordNetFolder(folder / "corpora" / "wordnet", "NLTK's data")
        yield WordNetFolder(folder / "corpora" / "wordnet.zip", "NLTK's data")
    yield WordNetFolder(DEBIAN, "Debian's wordnet-base")


def _nltk_folders(environment: Mapping[str, str], home: Path) -> Iterator[Path]:
    """The folders where NLTK looks (nltk.data.path), without importing it."""
    yield from (Path(part) for part in environment.get("NLTK_DATA", "").split(os.pathsep) if part)
    yield home / "nltk_data"
    yield from (Path(sys.prefix, *parts, "nltk_data") for parts in ((), ("share",), ("lib",)))
    if sys.platform == "win32":
        yield Path(environment.get("APPDATA", "C:\\"), "nltk_data")
        yield from (Path(f"{drive}:\\nltk_data") for drive in "CDE")
    else:
        yield from (Path(f"/usr/{part}/nltk_data") for part in ("share", "local/share", "lib", "local/lib"))


def _plain(folder: Path, name: str) -> bytes:
    path = folder / name
    if path.is_file() and path.stat().st_size > MOST_BYTES:
        raise FileError(path, f"has more than {MOST_BYTES:,} bytes; it is not WordNet {VERSION}")
    return read_bytes(path)


def _zipped(path: Path, name: str) -> bytes:
    try:
        with zipfile.ZipFile(path) as archive, archive.open(f"wordnet/{name}") as file:
            content = file.read(MOST_BYTES + 1)
    except (KeyError, OSError, zipfile.BadZipFile) as error:
        raise FileError(path, f"cannot be read as WordNet ({error}); delete it, or get it with: {FETCH}") from error
    if len(content) > MOST_BYTES:
        raise FileError(path, f"wordnet/{name} unpacks to more than {MOST_BYTES:,} bytes; it is not WordNet {VERSION}")
    return content


def _lines(place: WordNetFolder, name: str) -> pl.Series:
    """The synsets of a data file, one a line; the licence, which is indented, is left out."""
    content = place.content(name)
    version = _COPYRIGHT.search(content[:_HEAD])
    if version and version[1].decode() != VERSION:
        raise FileError(
            place.path, f"is WordNet {version[1].decode()}, but version {VERSION} is needed; get it with: {FETCH}"
        )
    # A separator that occurs nowhere makes each line one field.
    table = pl.read_csv(
        content,
        separator="\x01",
        quote_char=None,
        has_header=False,
        schema={"line": pl.String},
        encoding="utf8-lossy",
        raise_if_empty=False,
    )
    return table["line"].filter(~table["line"].str.starts_with("  "))


def _require_fit(place: WordNetFolder, lines: pl.Series) -> None:
    """Raise unless the synsets are those of our table: same number, same offsets, same parts of speech."""
    offsets = lines.str.head(8).cast(pl.UInt32, strict=False)
    ours = wordnet().synset_table
    same = len(lines) == ours.height and bool(
        (offsets.eq_missing(ours["offset"]) & (lines.str.slice(12, 1) == ours["pos"].cast(pl.String))).all()
    )
    if not same:
        raise FileError(place.path, f"is not WordNet {VERSION}: its synsets stand elsewhere; get it with: {FETCH}")
