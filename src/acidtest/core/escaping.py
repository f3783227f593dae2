"""Texts of other people, escaped for every language that acidtest writes: one function for each.

Names, factor values and sentences come from files of strangers. Every writer passes them through the function of its
language, so that none of them becomes markup, a link, a mention, a formula or a command.
"""

from __future__ import annotations

import re
import shlex
import sys
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import polars as pl
    from markupsafe import Markup

    _Frame = TypeVar("_Frame", pl.DataFrame, pl.LazyFrame)

_LINE_ENDS = re.compile(r"\r\n|[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
_NOT_SHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
"""Control characters, marks that change the direction of text, and what XML forbids."""

_UNSEEN = (
    r"\s\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    r"\ufe00-\ufe0f\ufeff"
)
"""Spaces and characters without width, which some readers of commands skip."""

_GITHUB_COMMAND = re.compile(rf"^([{_UNSEEN}]*):(?=[{_UNSEEN}]*:)")
"""``::error::`` at the beginning of a line, which GitHub executes."""

_AZURE_COMMAND = re.compile(rf"#(?=[{_UNSEEN}]*#[\w.{_UNSEEN}]*\[)")
"""``##[error]`` and ``##vso[task.setvariable]`` anywhere in a line, which Azure and GitHub execute."""

_ESCAPED_IN_JSON = re.compile(rf"[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]|{_AZURE_COMMAND.pattern}")
"""What JSON may hold and terminals interpret."""

_MARKUP = re.compile(
    r"[#$&*<>@\[\\\]^`{|}~]"
    r"|(?<![^\W_])_|_(?![^\W_])"  # An underscore inside a word, as in lexical_overlap, is no markup.
    r"|:(?=/)|(?<=www)\.|(?<=\bgh)-(?=\d)"
    r"|^[+\-=]",
    re.IGNORECASE,
)
"""What could be markup, a mention, a reference to an issue, a link, or the beginning of a list or heading."""

_MENTION = re.compile(r"&#64;(?=[\w-])|&#35;(?=\d)|(?<=gh)&#45;(?=\d)", re.IGNORECASE)
"""The escaped sign of a mention (@user) or of a reference to an issue (#12, GH-12)."""

_NUMBERED = re.compile(r"^(\d+)([.)])(?=\s|$)")
"""The beginning of a numbered list."""

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\symbol{34}",
    "`": r"\textasciigrave{}",
    # LaTeX would read a bracket right after the end of a row as its argument, and a star as its starred form.
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "−": "$-$",
    "→": r"$\to$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "…": r"\ldots{}",
    "\N{NO-BREAK SPACE}": "~",
}

_FORMULA = r"^('*[=+\-@\t\r])"
_PREFIXED_FORMULA = r"^'('*[=+\-@\t\r])"


def escape_control(text: str) -> str:
    """The text on one line: line ends and tabs become spaces, other characters that are not shown ``\\ufffd``.

    Every other function of this module begins with this, except those for JSON and CSV, which keep all characters.
    """
    if text.isprintable():
        return text
    return _NOT_SHOWN.sub("\ufffd", _LINE_ENDS.sub(" ", text))


def escape_terminal(text: str) -> str:
    """The text as one line of output in which neither a terminal nor a server that runs jobs finds a command.

    GitHub executes lines that begin with ``::error::``, Azure and GitHub what follows ``##[`` or ``##vso[``. A space
    between the two signs prevents both.
    """
    line = escape_control(text)
    if "#" in line:
        line = _AZURE_COMMAND.sub("# ", line)
    return _GITHUB_COMMAND.sub(r"\1: ", line) if ":" in line else line


def escape_lines(text: str) -> str:
    """A text of several lines, such as a traceback, for a terminal; all but the first line are indented."""
    return "\n  ".join(map(escape_terminal, text.rstrip("\n").split("\n")))


def escape_json(written: str) -> str:
    """JSON text for a terminal or a log: equal content, in which neither finds a command."""
    return _ESCAPED_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", written)


def escape_command(text: str, *, is_property: bool = False) -> str:
    """The message of a workflow command of GitHub, or the value of one of its properties."""
    special = "[%:,]" if is_property else "%"
    return re.sub(special, lambda match: f"%{ord(match[0]):02X}", escape_terminal(text))


def quote_argument(text: str) -> str:
    """The text as one argument of a command that a reader may paste: quoted if the shell of the platform needs it."""
    if sys.platform == "win32":
        return f'"{text}"' if re.search(r"[\s&()^,;=]", text) else text
    return shlex.quote(text)


def escape_html(text: str) -> Markup:
    """The text in HTML, between tags or in a quoted attribute."""
    from markupsafe import escape

    return escape(escape_control(text))


def escape_xml(text: str) -> str:
    """The text in XML, such as SVG, between tags or in a quoted attribute."""
    from html import escape

    return escape(escape_control(text))


def escape_markdown(text: str) -> str:
    """The text on one line of GitHub's Markdown, also in a table; nothing is markup, a link, a mention or an issue."""
    # Mentions and issues are looked for in the finished page: an invisible character keeps them from being one.
    return _MENTION.sub(r"\g<0>&#8288;", _with_references(text))


def markdown_code(text: str) -> str:
    """The text as code in Markdown: what is in ``<code>`` becomes no mention, reference to an issue or link."""
    return f"<code>{_with_references(text)}</code>"


def escape_sarif(text: str) -> str:
    """The text as a message of SARIF, in which ``[text](address)`` would be a link."""
    return escape_control(text).replace("](", "] (")


def escape_latex(text: str) -> str:
    """The text as LaTeX prints it letter for letter."""
    letters = "".join(_LATEX.get(letter, letter) for letter in escape_control(text))
    # Two hyphens in a row would become a dash, two apostrophes or commas a quotation mark.
    apart = re.sub(r"([-–])(?=[-–])|([',])(?=\2)", r"\g<0>{}", letters)
    return apart.replace("–", "--")


def breakable_latex(text: str) -> str:
    """The same in typewriter letters, where a line may end after each ``|``, as signatures need it."""
    return "\\texttt{" + escape_latex(text).replace(_LATEX["|"], "|\\allowbreak ") + "}"


def escape_cells(frame: _Frame) -> _Frame:
    """A table for CSV or TSV: an apostrophe comes before cells and names of columns that a spreadsheet would run."""
    return _replace_in_cells(frame, _FORMULA, "'$1")


def unescape_cells(frame: _Frame) -> _Frame:
    """The table that ``escape_cells`` was given."""
    return _replace_in_cells(frame, _PREFIXED_FORMULA, "$1")


def _with_references(text: str) -> str:
    """The text with character references, which Markdown never takes for markup, where it has what could be some."""
    line = _MARKUP.sub(lambda match: f"&#{ord(match[0])};", escape_control(text).strip())
    return _NUMBERED.sub(lambda match: f"{match[1]}&#{ord(match[2])};", line)


def _replace_in_cells(frame: _Frame, pattern: str, replacement: str) -> _Frame:
    """The frame with a pattern replaced in all strings and in the names of the columns."""
    import polars as pl

    columns = frame.collect_schema().names()
    names = pl.Series(columns, dtype=pl.String).str.replace(pattern, replacement)
    cells = frame.with_columns(pl.col(pl.String).str.replace(pattern, replacement))
    return cells.rename(dict(zip(columns, names, strict=True)))
