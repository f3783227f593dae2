"""Reads corpora that are not one table file: FraCaS in XML, Parquet in parts, and parallel files of text.

A ``<problem>`` of FraCaS, in the XML that Bill MacCartney gave it, has one or more premises ``<p>``, a question ``<q>``
and the hypothesis ``<h>`` made from it; its answer is an attribute. Sections are comments between the problems. The
document type that the file names is never fetched. Parallel files are plain text, such as ``s1.dev``, ``s2.dev`` and
``labels.dev``, as e-SNLI is published and InferSent reads SNLI: the ending of the name is the split, and the files may
be packed with gzip.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

import polars as pl

from acidtest.core.errors import FileError, list_some
from acidtest.core.files import read_bounded, read_bytes
from acidtest.io.blocks import utf8_text
from acidtest.io.rows import NUMBERED, memory_rows, part_files, part_rows
from acidtest.io.tables import ENDINGS, FileTable, Origin, file_digest

PARTS = ("s1", "s2", "labels")
"""How the names of the files with the premises, the hypotheses and the labels begin."""

_NAME = re.compile(rf"(?:{'|'.join(PARTS)})\.(?P<split>[^.].*?)(?:\.gz)?")
_USUAL = re.compile(r"(?:train|dev|val|valid|validation|test)(?![a-z]).*", re.IGNORECASE)

MOST_BYTES = 64 * 2**20
"""A larger file is refused; the 346 problems are 136 kB."""

_TEXTS = ("p", "h")
_INNER = ("problem", "p", "q", "h", "a")
"""Elements that a premise or a hypothesis cannot contain."""
_HEADINGS = ("section", "subsection")


def part_table(folder: Path) -> FileTable:
    """The table whose rows lie in a folder's Parquet files, all of one split."""
    paths = part_files(folder)
    splits = sorted({match["split"] for path in paths if (match := NUMBERED.fullmatch(path.name))})
    if len(splits) > 1:
        raise FileError(
            folder, f"holds several splits ({list_some(splits)}); put the files of one split into their own folder"
        )
    rows = part_rows(paths).without_patterns()
    return FileTable(folder, rows, fingerprint=file_digest(*paths), name=folder.absolute().name)


def is_parallel(path: Path) -> bool:
    """Whether a path is one of three parallel files, or a folder with such files.

    The ending must be the usual name of a split, or one that another of the three files has. ``s1.txt`` may be a table
    as well: it counts only if the other two files are in its folder.
    """
    if path.is_dir():
        return bool(_splits(path))
    split = _split(path)
    if split is None or not path.name.lower().endswith(ENDINGS):
        return split is not None and _is_split(path.parent, split)
    return split.lower().endswith("txt") and _present(path.parent, split) == len(PARTS)


def parallel_table(path: Path) -> FileTable:
    """The table in three parallel files, with the columns ``PARTS``; ``path`` is one of them or their folder.

    A blank line is a row, because the lines of the three files belong together by their numbers.
    """
    folder, split = (path, _only_split(path)) if path.is_dir() else (path.parent, _split(path))
    files = {part: _part(folder, part, str(split)) for part in PARTS}
    _check_presence(path, files)
    contents = {part: read_bytes(file) for part, file in files.items()}
    lines = {part: _lines(files[part], content) for part, content in contents.items()}
    lengths = {part: len(rows) for part, rows in lines.items()}
    shortest = min(lengths, key=lengths.__getitem__)
    if len(set(lengths.values())) > 1:
        others = " and ".join(f"{files[part].name} at line {lengths[part]:,}" for part in PARTS if part != shortest)
        problem = f"ends here, but {others}; the three must have as many lines: copy all of them again"
        raise FileError(files[shortest], problem, lengths[shortest])
    digests = {part: blake2b(content, digest_size=8).hexdigest() for part, content in contents.items()}
    return FileTable(
        files["labels"],
        memory_rows(pl.DataFrame(lines, schema=dict.fromkeys(PARTS, pl.String))),
        fingerprint=blake2b("".join(digests.values()).encode(), digest_size=8).hexdigest(),
        line=range(1, len(lines["labels"]) + 1).__getitem__,
        origins={part: Origin(file, digests[part]) for part, file in files.items()},
        name=f"{folder.absolute().name}.{split}",
    )


def _split(path: Path) -> str | None:
    match = _NAME.fullmatch(path.name)
    return match["split"] if match else None


def _splits(folder: Path) -> list[str]:
    """The splits whose files, or some of them, lie in a folder."""
    names = (file.name for file in folder.iterdir() if not file.name.lower().endswith(ENDINGS))
    splits = {match["split"] for name in names if (match := _NAME.fullmatch(name))}
    return sorted(split for split in splits if _is_split(folder, split))


def _is_split(folder: Path, split: str) -> bool:
    return _USUAL.fullmatch(split) is not None or _present(folder, split) > 1


def _present(folder: Path, split: str) -> int:
    """How many of the three files of a split are there."""
    return sum(_part(folder, part, split).exists() for part in PARTS)


def _only_split(folder: Path) -> str:
    splits = _splits(folder)
    if len(splits) > 1:
        choice = f"{', '.join(splits[:-1])} and {splits[-1]}"
        advice = f"give one file of the split that is meant, for example {folder / f'labels.{splits[0]}'}"
        raise FileError(folder, f"holds {len(splits)} splits, {choice}; {advice}")
    return splits[0]


def _part(folder: Path, part: str, split: str) -> Path:
    """The path of a part: the gzip file if there is no other."""
    plain, packed = folder / f"{part}.{split}", folder / f"{part}.{split}.gz"
    return packed if packed.exists() and not plain.exists() else plain


def _check_presence(path: Path, files: dict[str, Path]) -> None:
    missing = [file for file in files.values() if not file.exists()]
    if not missing:
        return
    *first, last = (file.name for file in files.values())
    layout = f"premises, hypotheses and labels are read side by side from {', '.join(first)} and {last}"
    if len(missing) == len(files):
        raise FileError(path, f"there is no such file; check the path ({layout})")
    others = "".join(f", nor {file.name}" for file in missing[1:])
    raise FileError(missing[0], f"there is no such file{others}, but {layout}; put them all in one folder")


def _lines(path: Path, content: bytes) -> list[str]:
    text = utf8_text(path, content).decode()
    if not text.strip():
        raise FileError(path, "holds nothing; copy or write it again")
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


@dataclass
class _Problem:
    """A problem: the line where it begins, its attributes, and the texts of its elements."""

    line: int
    attributes: dict[str, str]
    headings: dict[str, str]
    texts: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in _TEXTS})

    def row(self) -> dict[str, str | int | None]:
        """The problem as a row. Several premises are joined with a space; a missing answer is undef."""
        return {
            "premise": " ".join(self.texts["p"]),
            "hypothesis": " ".join(self.texts["h"]),
            "fracas_answer": self.attributes.get("fracas_answer", "undef"),
            "id": self.attributes.get("id"),
            "premises": len(self.texts["p"]),
            **{name: self.headings.get(name) for name in _HEADINGS},
            "nonstandard": self.attributes.get("fracas_nonstandard", "false"),
        }


def is_xml(path: Path) -> bool:
    """Whether the name of a file says that it is XML."""
    return path.name.lower().endswith((".xml", ".xml.gz"))


def fracas_table(path: Path) -> FileTable:
    """The problems of a FraCaS file, one per row; the line of a row is the one on which its problem begins."""
    content = read_bounded(path, MOST_BYTES, remedy="so it is not FraCaS; give its pairs as .jsonl or .tsv")
    text = utf8_text(path, content)
    if not text.strip():
        raise FileError(path, "holds nothing, not even one element; copy or write it again")
    parser = _ProblemParser(path)
    problems = parser.problems(text)
    if not problems:
        advice = "of XML only FraCaS is read; give the pairs as .jsonl, .tsv or .csv"
        raise FileError(path, f"holds <{parser.root}> with no <problem> in it; {advice}")
    frame = pl.DataFrame([problem.row() for problem in problems], infer_schema_length=None)
    return FileTable(
        path,
        memory_rows(frame.select(column for column in frame if column.null_count() < frame.height)),
        fingerprint=blake2b(content, digest_size=8).hexdigest(),
        line=[problem.line for problem in problems].__getitem__,
    )


class _ProblemParser:
    """Parses FraCaS; entities and other files are refused, and the document type is not read."""

    def __init__(self, path: Path) -> None:
        self.root = ""
        self._path = path
        self._problems = list[_Problem]()
        self._problem: _Problem | None = None
        self._headings = dict[str, str]()
        self._element = ""
        """The innermost open element whose text is wanted."""
        self._heading = ""
        self._text = list[str]()
        # The encoding that the file declares is ignored: the content has been checked to be UTF-8.
        self._parser = expat.ParserCreate("utf-8")
        self._parser.buffer_text = True
        self._parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text.append
        self._parser.EntityDeclHandler = self._refuse_declaration
        self._parser.SkippedEntityHandler = self._refuse_unknown_entity
        self._parser.ExternalEntityRefHandler = self._refuse_external_file

    def problems(self, content: bytes) -> list[_Problem]:
        """Every problem of the text."""
        try:
            self._parser.Parse(content, True)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            problem = f"is not well-formed XML: {reason} at column {error.offset + 1}; {_advice(reason)}"
            raise FileError(self._path, problem, error.lineno) from error
        return self._problems

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self.root = self.root or name
        if self._element and name in _INNER:
            self._refuse(f"<{name}> stands inside <{self._element}>; close <{self._element}> before it")
        if name == "problem":
            if self._problem:
                line = self._problem.line
                self._refuse(f"<problem> stands inside the one that begins on line {line}; close that one")
            self._problem = _Problem(self._parser.CurrentLineNumber, attributes, dict(self._headings))
        elif (self._problem and name in _TEXTS) or (name == "comment" and attributes.get("class") in _HEADINGS):
            self._element, self._heading = name, attributes.get("class", "")
            self._text.clear()

    def _end(self, name: str) -> None:
        if name == "problem" and self._problem:
            self._problems.append(self._problem)
            self._problem = None
        if name != self._element:
            return
        self._element = ""
        text = " ".join("".join(self._text).split())
        if name == "comment":
            if self._heading == "section":
                self._headings.clear()
            self._headings[self._heading] = text
        elif self._problem and text:
            if name == "h" and self._problem.texts["h"]:
                number = self._problem.attributes.get("id", "without id")
                advice = "a problem has one hypothesis: remove one or split the problem"
                self._refuse(f"problem {number} has a second <h>; {advice}")
            self._problem.texts[name].append(text)

    def _refuse_declaration(self, name: str, *_: object) -> None:
        self._refuse(f"declares the entity {name!r}; no entity is expanded here: write its text where it is used")

    def _refuse_unknown_entity(self, name: str, is_parameter: bool) -> None:
        self._refuse(f"uses the entity {name!r}, which XML does not define; write the character itself")

    def _refuse_external_file(self, context: str, *_: object) -> int:
        self._refuse(f"refers to another file by {context!r}; no other file is read: put its text here")

    def _refuse(self, problem: str) -> NoReturn:
        raise FileError(self._path, problem, self._parser.CurrentLineNumber)


def _advice(reason: str) -> str:
    """What to do about an error of expat."""
    if reason in (expat.errors.XML_ERROR_NO_ELEMENTS, expat.errors.XML_ERROR_UNCLOSED_TOKEN):
        return "the file ends before every element is closed: copy it again"
    if reason == expat.errors.XML_ERROR_INVALID_TOKEN:
        return "write & as &amp; and < as &lt;"
    if reason == expat.errors.XML_ERROR_UNDEFINED_ENTITY:
        return "write the character itself"
    return "correct it or copy the file again"
