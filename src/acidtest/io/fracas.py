"""The FraCaS problems in the XML that Bill MacCartney gave them.

A ``<problem>`` has one or more premises ``<p>``, a question ``<q>`` and the hypothesis ``<h>`` made from it; its answer
is an attribute. Sections are comments between the problems. The file names a document type that is never fetched.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

import polars as pl

from acidtest.core.errors import FileError
from acidtest.core.structured import read_bounded
from acidtest.io.blocks import utf8_text
from acidtest.io.rows import memory_rows
from acidtest.io.tables import FileTable

MOST_BYTES = 64 * 2**20
"""A larger file is refused; the 346 problems are 136 kB."""

_TEXTS = ("p", "h")
_INNER = ("problem", "p", "q", "h", "a")
"""Elements that a premise or a hypothesis cannot contain."""
_HEADINGS = ("section", "subsection")


@dataclass
class _Problem:
    """A problem: the line where it begins, its attributes, and the texts of its elements."""

    line: int
    attributes: dict[str, str]
    headings: dict[str, str]
    texts: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in _TEXTS})

    def row(self) -> dict[str, str | int | None]:
        """Its columns. Several premises are joined with a space; an answer that is missing is undef."""
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
    """The problems of a FraCaS file, one a row; rows know the line on which their problem begins."""
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
    """An XML parser that declares, expands and fetches no entity, and reads no document type."""

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
        # The encoding that the file declares is ignored: it has been checked to be UTF-8.
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
                self._refuse(
                    f"<problem> stands inside the one that begins on line {self._problem.line}; close that one"
                )
            self._problem = _Problem(self._parser.CurrentLineNumber, attributes, dict(self._headings))
        elif self._problem and name in _TEXTS:
            self._open(name)
        elif name == "comment" and attributes.get("class") in _HEADINGS:
            self._open(name)
            self._heading = attributes["class"]

    def _open(self, name: str) -> None:
        self._element = name
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
            self._set_heading(text)
        elif self._problem and text:
            self._add_text(self._problem, name, text)

    def _set_heading(self, text: str) -> None:
        if self._heading == "section":
            self._headings.clear()
        self._headings[self._heading] = text

    def _add_text(self, problem: _Problem, name: str, text: str) -> None:
        if name == "h" and problem.texts["h"]:
            name = problem.attributes.get("id", "without id")
            self._refuse(
                f"problem {name} has a second <h>; a problem has one hypothesis: remove one or split the problem"
            )
        problem.texts[name].append(text)

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
