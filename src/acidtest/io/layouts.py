"""The column layouts of NLI files, and how to detect which of them a file has."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import polars as pl

from acidtest.core.errors import AcidtestError, FileError, UnknownNameError, list_some
from acidtest.core.labels import NO_GOLD, gold_name
from acidtest.core.suite import PARSES, RESERVED
from acidtest.io.tables import FileTable, flatten
from acidtest.io.wordlists import packaged_table

ROLES = ("premise", "hypothesis", "label")
"""The columns that every file of pairs must have."""

GIVEN = "columns given"

_DOUBTFUL = frozenset({"source", "passage", "answer", "statement"})
"""Names of columns that are the document or the claim only where no other could be.

A source is often where a document comes from, an answer the right one beside the response of a model, and a passage or
a statement part of a longer text.
"""

_UNNAMED = re.compile(r"column_[1-9]\d*")

_COLUMN_NAME = re.compile(r"[^\W\d_]+(?:_\w+|\d+)|[^\W\d_]")
"""Matches what a column may be called and a sentence cannot: a word with an underscore or a number, or one letter."""


@dataclass(frozen=True)
class Layout:
    """The columns of one kind of file (in lower case), and how it is recognised and read.

    If any of ``also``, ``named`` and ``shows`` are given, one of them must match: they distinguish the layout from
    others with the same columns.
    """

    name: str
    premise: str
    hypothesis: str
    label: str
    labels: Mapping[str, str] = field(default_factory=dict)
    """The labels of spellings that are special to this layout; integers are labels only if listed here."""
    also: tuple[str, ...] = ()
    """Further columns by which it is recognised."""
    named: str = ""
    """A pattern that the name of the file or of its folder must match as a whole word."""
    shows: tuple[str, ...] = ()
    """A column, and a pattern that some cell of it matches."""
    header: bool = True
    """Whether the first line names the columns; where not, they are column_1, column_2 and so on."""
    quoted: bool | None = None
    """Whether quotes enclose cells when it is tab-separated; None: as the file shows."""
    joins_questions: bool = False
    """Whether every answer is joined with its question: if only short ones were, their form would tell the gold."""
    note: str = ""
    """A warning for its users."""
    misleading: bool = False
    """Whether its pairs were chosen because models got them wrong."""
    general: bool = False
    """Whether its columns are common words, so that it is tried only where no other layout fits."""

    @property
    def is_two_way(self) -> bool:
        """Whether neutral stands for non-entailment in this layout."""
        return self.labels.get("neutral") == "non-entailment"

    @property
    def may_be_two_way(self) -> bool:
        """Whether 0 and 1 alone may be two labels or two of three: it gives three numbers a meaning, or none."""
        numbered = {spelling for spelling in self.labels if spelling.isdecimal()}
        return not self.is_marked and not self.general and (not numbered or "2" in numbered)

    @property
    def is_marked(self) -> bool:
        """Whether more than its columns is needed to recognise it."""
        return bool(self.also or self.named or self.shows)


def _read_layouts() -> tuple[Layout, ...]:
    """The layouts of ``data/layouts.tsv``; its column ``why`` is a comment.

    A row with several names for a column, such as ``document|doc``, stands for a general layout of each combination.
    """
    quoted = {"": None, "yes": True, "no": False}
    return tuple(
        Layout(
            *(row["name"], premise, hypothesis, label),
            labels=dict(pair.split("=") for pair in row["labels"].split(",") if pair),
            also=tuple(filter(None, row["also"].split(","))),
            named=row["named"],
            shows=tuple(filter(None, row["shows"].split("=", 1))),
            header=row["header"] != "no",
            quoted=quoted[row["quoted"]],
            joins_questions=row["question"] == "joined",
            note=row["note"],
            misleading=row["misleading"] == "yes",
            general="|" in row["premise"],
        )
        for row in packaged_table("layouts.tsv").iter_rows(named=True)
        for premise, hypothesis, label in product(*(row[role].split("|") for role in ROLES))
    )


LAYOUTS = _read_layouts()
"""The first that fits is taken, so layouts with more conditions come before those with fewer."""


def detect_layout(table: FileTable, columns: Mapping[str, str], *, unlabelled: bool = False) -> Layout:
    """The layout of a table, with the file's spelling of its columns; ``columns`` maps our names to the user's.

    With ``unlabelled`` a table that only lacks the label has a layout too, whose ``label`` is empty.
    """
    given = {role: file_column(table, columns[role]) for role in ROLES if role in columns}
    if len(given) == len(ROLES):
        return _given_layout(given["premise"], given["hypothesis"], given["label"])
    # If the user names columns, layouts without a header, which have three columns, do not apply.
    known = [layout for layout in LAYOUTS if layout.header == (table.header or bool(columns))]
    special, general = ([layout for layout in known if layout.general == is_general] for is_general in (False, True))
    fitting = [fitted for layout in special if (fitted := _fit(layout, table, given))]
    for name in dict.fromkeys(layout.name for layout in general):
        fitting = fitting or _choose_general(
            table, [fitted for layout in general if layout.name == name and (fitted := _fit(layout, table, given))]
        )
    if not fitting and unlabelled and (bare := _fit_texts(known, table, given)):
        return bare
    if not fitting:
        raise _unrecognised(table, given)
    best = fitting[0]
    for other in fitting[1:]:
        if (other.premise, other.hypothesis) != (best.premise, best.hypothesis):
            problem = (
                f"has the columns {best.premise} and {best.hypothesis} of {best.name}, but also {other.premise} and "
                f"{other.hypothesis} of {other.name}; say which are meant, for example with "
                f"--columns premise={best.premise},hypothesis={best.hypothesis},label={best.label}"
            )
            raise FileError(table.path, problem)
    golds = list(dict.fromkeys(layout.label for layout in fitting))
    # A gold_label is final: other labels are those from which it was decided.
    if len(golds) > 1 and best.label.lower() != "gold_label":
        raise _ambiguous(table, "label", golds)
    return _given_layout(best.premise, best.hypothesis, best.label) if given else best


def _given_layout(premise: str, hypothesis: str, label: str) -> Layout:
    """The layout of columns that the user named; labels in a column such as ``supported`` mean what its name says."""
    verdicts = (layout for layout in LAYOUTS if layout.general and layout.label == label.lower() != "label")
    return Layout(GIVEN, premise, hypothesis, label, labels=next((layout.labels for layout in verdicts), {}))


def is_header(cells: Iterable[str], columns: Mapping[str, str]) -> bool:
    """Whether the first line of delimited text is a header.

    Three cells of which the last is a label are a row, unless they name the columns of a layout, as ``document``,
    ``claim`` and ``supported`` do, or the first two are names of columns, as in ``text_a,text_b,e``.
    """
    cells = list(cells)
    if columns:
        unnamed = [name for name in columns.values() if _UNNAMED.fullmatch(name)]
        return not unnamed or any(name in cells for name in unnamed)
    last = cells[-1].strip()
    if len(cells) != len(ROLES) or not (gold_name(last) or (last and last in NO_GOLD)):
        return True
    names = {cell.strip().lower() for cell in cells}
    if _are_names(*(cell.strip().lower() for cell in cells)):
        return True
    return any(names == {layout.premise, layout.hypothesis, layout.label} for layout in LAYOUTS)


def _are_names(first: str, second: str, label: str) -> bool:
    """Whether the first two cells of a line that ends in a label are names of columns, not texts."""
    known = ({getattr(layout, role) for layout in LAYOUTS} - _DOUBTFUL for role in ROLES)
    if all(cell in names for cell, names in zip((first, second), known, strict=False)):
        return True
    # Pairs of single words are common, but few with a label of one letter look like s1 and s2 or text_a and text_b.
    is_short = len(label) == 1 and first != second
    return is_short and all(map(_COLUMN_NAME.fullmatch, (first, second)))


def file_column(table: FileTable, name: str) -> str:
    """The column of a table that a user calls ``name``, in whatever case."""
    names = table.columns
    matching = [name] if name in names else _matching(names, name)
    if len(matching) != 1:
        error = UnknownNameError("column", name, names, f" (--columns, {table.path})")
        if "did you mean" in str(error):
            listed = f" (--columns; {table.path} has {list_some(names, 30)})"
            error = UnknownNameError("column", name, names, listed)
        raise error
    return matching[0]


def column_texts(table: FileTable, name: str) -> Iterator[pl.Series]:
    """The values of a column as text, piece by piece."""
    for batch in table.rows.batches(name):
        yield flatten(batch).to_series().cast(pl.String, strict=False)


def standard_names(columns: Mapping[str, str]) -> dict[str, str]:
    """``columns`` with premise and hypothesis where the user said document and claim."""
    names = {"document": "premise", "claim": "hypothesis"}
    for name, standard in names.items():
        if name in columns and standard in columns:
            raise AcidtestError(f"--columns: {name} and {standard} are the same; leave one out")
    return {names.get(name, name): column for name, column in columns.items()}


def check_names(columns: Mapping[str, str]) -> None:
    """Raise if ``columns`` has a name that acidtest fills itself, one close to a role, or another name of a role."""
    free = {*ROLES, *PARSES, "group", "source_id"}
    others = {getattr(layout, role) for layout in LAYOUTS if layout.general for role in ROLES} - free
    for name in columns:
        if name.lower() in others:
            known = "premise (or document), hypothesis (or claim), label, question, group, source_id"
            raise AcidtestError(
                f"--columns: {name!r} is what files call a column, not what acidtest does; "
                f"write NAME={columns[name]}, where NAME is {known}, or a name of your own for a factor"
            )
        near = difflib.get_close_matches(name, ("premise", "hypothesis", "label"), n=1, cutoff=0.75)
        if near and name not in free:
            raise AcidtestError(f"--columns: {name!r} is close to {near[0]!r}; did you mean that? (write NAME=COLUMN)")
        if name in RESERVED - free:
            raise AcidtestError(
                f"--columns: {name!r} is a column acidtest fills itself; "
                f"give premise, hypothesis, label, group, source_id or a name of your own"
            )


def _matching(names: Iterable[str], wanted: str) -> list[str]:
    return [name for name in names if name.strip().lower() == wanted.strip().lower()]


def _fit(layout: Layout, table: FileTable, given: Mapping[str, str]) -> Layout | None:
    """The layout with the table's spelling of its columns, or None when the table does not have this layout."""
    if layout.is_marked and not _has_mark(layout, table):
        return None
    columns = dict(given)
    for role in ROLES:
        matching = [given[role]] if role in given else _matching(table.columns, getattr(layout, role))
        if len(matching) > 1:
            raise _ambiguous(table, role, matching)
        if not matching:
            return None
        columns[role] = matching[0]
    if layout.is_two_way and layout.is_marked and _holds_contradictions(table, columns["label"]):
        return None
    return replace(layout, premise=columns["premise"], hypothesis=columns["hypothesis"], label=columns["label"])


def _fit_texts(layouts: Sequence[Layout], table: FileTable, given: Mapping[str, str]) -> Layout | None:
    """A layout without labels, if the table has the premise and the hypothesis of some layout, or the user's."""
    general = list[Layout]()
    common = {(layout.premise, layout.hypothesis) for layout in layouts if layout.general}
    for layout in layouts:
        # Without the label by which it is recognised, such as ``hallucination``, a layout of common names is general.
        is_common = (layout.premise, layout.hypothesis) in common
        if is_common and not layout.general and (layout.is_marked or layout.label != "label"):
            continue
        premise, hypothesis = (
            [given[role]] if role in given else _matching(table.columns, getattr(layout, role))
            for role in ("premise", "hypothesis")
        )
        if len(premise) == 1 and len(hypothesis) == 1 and not _matching(table.columns, layout.label):
            bare = Layout("pairs without labels", premise[0], hypothesis[0], "")
            if not layout.general:
                return bare
            general.append(bare)
    return next(iter(_choose_general(table, general)), None)


def _choose_general(table: FileTable, fitting: list[Layout]) -> list[Layout]:
    """The general layouts without doubtful ones; raises where two columns could each be the document or the claim."""
    chosen = fitting
    for role in ("premise", "hypothesis"):
        chosen = [layout for layout in chosen if getattr(layout, role).lower() not in _DOUBTFUL] or chosen
    for role in ("premise", "hypothesis"):
        matching = list(dict.fromkeys(getattr(layout, role) for layout in chosen))
        if len(matching) > 1:
            raise _ambiguous(table, role, matching)
    return chosen


def _has_mark(layout: Layout, table: FileTable) -> bool:
    names = table.columns
    if layout.also and all(_matching(names, name) for name in layout.also):
        return True
    name = f"{table.path.absolute().parent.name}/{table.path.name}".lower()
    if layout.named and re.search(rf"(?<![a-z])(?:{layout.named})(?![a-z])", name):
        return True
    if not layout.shows:
        return False
    column, pattern = layout.shows
    return any(
        cells.str.contains(pattern).any() for name in _matching(names, column) for cells in column_texts(table, name)
    )


def _holds_contradictions(table: FileTable, label: str) -> bool:
    """Whether a label is contradiction, so the layout is not two-way after all: a folder ``med`` may hold medicine."""
    spellings = {spelling for cells in column_texts(table, label) for spelling in cells.drop_nulls().unique()}
    return any(gold_name(spelling) == "contradiction" for spelling in spellings)


def _ambiguous(table: FileTable, role: str, matching: list[str]) -> FileError:
    names = f"{', '.join(matching[:-1])} and {matching[-1]}"
    problem = f"the columns {names} could each be the {role}; say which is with --columns {role}={matching[0]}"
    return FileError(table.path, problem)


def _unrecognised(table: FileTable, given: Mapping[str, str]) -> FileError:
    """An error that says as precisely as possible which columns are missing."""
    names = table.columns
    wanted = [role for role in ROLES if role not in given]
    known = {role: {getattr(layout, role) for layout in LAYOUTS} for role in wanted}
    missing = [role for role in wanted if not any(_matching(names, name) for name in known[role])]
    likely = [name for name in names if "label" in name.lower() or "gold" in name.lower()]
    if missing == ["label"] and len(likely) > 1:
        return _ambiguous(table, "label", likely)
    if table.dialect and len(names) == 1:
        return _one_column(table)
    if missing:
        problem = f"none of the columns ({list_some(names, 30)}) is known to be the {' or the '.join(missing)}"
    else:
        problem = f"the columns ({list_some(names, 30)}) are not those of any one layout"
    flags = ",".join(f"{role}=NAME" for role in missing or wanted)
    advice = f"name {'it' if len(missing) == 1 else 'them'} with --columns {flags}"
    if missing == ["label"]:
        advice += "; without labels only suites that need no gold can be made of it, such as stress/antonymy"
    if table.dialect and missing == list(ROLES):
        advice += "; if the first line is a row and no header, the names are column_1, column_2 and so on"
    return FileError(table.path, f"{problem}; {advice}")


def _one_column(table: FileTable) -> FileError:
    name = table.columns[0]
    separator = next((mark for mark in ",;\t|" if mark in name), "")
    advice = {
        "": "pairs need a premise, a hypothesis and a label",
        ",": "its cells seem to be separated by commas: end its name in .csv",
        "\t": "its cells seem to be separated by tabs: end its name in .tsv",
    }.get(separator, f"its cells seem to be separated by {separator!r}: save it with commas")
    return FileError(table.path, f"has one column only, {name!r}; {advice}")
