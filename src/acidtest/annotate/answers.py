"""What people answered, checked against the questionnaire: a row for each person and item, a column for each question.

Columns: ``item`` (or ``id``), ``annotator``, and one named after each question. Several answers to one question are a
list in JSON lines, and stand in one cell with ``|`` between them elsewhere. Nothing is an empty cell. Other columns are
carried along where they say the same of an item in all its rows, as premise and hypothesis do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import polars as pl

from acidtest.annotate.conditions import ALWAYS, GOLD_COLUMN, choice
from acidtest.annotate.questionnaires import SEPARATOR, TAKEN, Question, Questionnaire
from acidtest.core.digests import combined, digests
from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.labels import gold_name
from acidtest.io.tables import flat, read_table

ITEMS = ("item", "id")
"""What the column that names items is called."""

GOLD = ("gold", "gold_label")
"""What the gold that items came with is called in answers, the likeliest first."""

PARTICULARS = ("seconds", "control", "passed", "failed", "excluded")
"""Columns of one person's answers that are no answers: how long they took, and whether they count (``attendance``)."""

_TRUTH = {"y": "yes", "true": "yes", "1": "yes", "n": "no", "false": "no", "0": "no"}


@dataclass(frozen=True)
class Answers:
    """Who answered what of which item; ``frame`` has item, annotator and a column for each question.

    ``items`` has a row for each item, in the order in which they first occur, with what is known of it besides.
    """

    frame: pl.DataFrame
    items: pl.DataFrame
    name: str = ""
    item_column: str = "item"
    """What the file calls items."""
    particulars: pl.DataFrame = field(default_factory=pl.DataFrame)
    """What the file says of each row of ``frame`` besides the answers: those of ``PARTICULARS``, and role."""

    @property
    def fingerprint(self) -> str:
        """A digest of who answered what, the same for every file and store that holds these answers."""
        return combined(digests(*flat(self.frame)))


class RowError(AcidtestError):
    """Something wrong in one row of a frame, by its number from 0 on."""

    def __init__(self, row: int, problem: str) -> None:
        self.row, self.problem = row, problem
        super().__init__(f"row {row + 1:,}: {problem}")


def read_answers(path: str | Path, questionnaire: Questionnaire) -> Answers:
    """The answers in a file of any format, checked; what cannot be one is told with its line."""
    table = read_table(path)
    if not table.rows.height:
        raise FileError(path, "has no rows: nobody has answered anything yet")
    try:
        found = checked_answers(table.written_frame, questionnaire)
    except RowError as error:
        line = table.line(error.row)
        raise FileError(path, error.problem if line else str(error), line) from error
    except FileError:
        raise
    except AcidtestError as error:
        raise FileError(path, str(error)) from error
    return replace(found, name=Path(path).name)


def checked_answers(frame: pl.DataFrame, questionnaire: Questionnaire) -> Answers:
    """The answers in a frame, spelt as the questionnaire spells them."""
    item = next((name for name in ITEMS if name in frame.columns), None)
    if item is None or "annotator" not in frame.columns:
        missing = "annotator" if item else "item"
        raise AcidtestError(f"has no column {missing!r}; answers have item, annotator and a column for each question")
    named = frame.select(text(frame[item]).alias("item"), text(frame["annotator"]))
    for name in named.columns:
        for row in named[name].is_null().arg_true().head(1):
            raise RowError(row, f"has no {name}; fill it in or remove the row")
    for row in named.is_duplicated().arg_true().head(1):
        first = named.row(row)
        second = [number for number, each in enumerate(named.iter_rows()) if each == first][1]
        raise RowError(second, f"annotator {first[1]!r} answers for item {first[0]!r} a second time; keep one row")
    columns = [_column(frame, question) for question in questionnaire.questions]
    columns += [_golds(frame, questionnaire)] if questionnaire.asks_by_gold else []
    answered = named.with_columns(columns)
    _check_flow(answered, questionnaire)
    asked = {question.id for question in questionnaire.questions}
    particulars = frame.select(name for name in (*PARTICULARS, "role") if name in frame.columns and name not in asked)
    items = _items(frame, named["item"], questionnaire)
    return Answers(answered, items, item_column=item, particulars=particulars)


def listed(cells: pl.Series, separator: str) -> pl.Series:
    """Cells of text as lists: written as JSON or as Python writes lists, else what stands between separators."""
    bracketed = cells.str.starts_with("[")
    written = cells.set(~bracketed, None)
    try:
        lists = written.str.json_decode(pl.List(pl.String))
    except pl.exceptions.PolarsError:
        lists = written.str.strip_chars("[]").str.replace_all(r"""["']""", "").str.split(",")
    return lists.zip_with(bracketed.fill_null(True), cells.str.split(separator))


def text(column: pl.Series) -> pl.Series:
    """As text without spaces around it; an empty cell is null."""
    return column.cast(pl.String, strict=False).str.strip_chars().replace("", None)


def truths(column: pl.Series, yes: Sequence[str], no: Sequence[str]) -> tuple[pl.Series, list[int]]:
    """Whether each cell says yes, null where it is empty; and the rows that say neither yes nor no."""
    written = text(column).str.to_lowercase()
    known = {**dict.fromkeys(yes, True), **dict.fromkeys(no, False)}
    found = written.replace_strict(known, default=None, return_dtype=pl.Boolean)
    return found, (written.is_not_null() & found.is_null()).arg_true().to_list()


def _column(frame: pl.DataFrame, question: Question) -> pl.Series:
    """The answers to a question as its ids; a list for each row where several may be ticked."""
    if question.id not in frame.columns:
        if question.required and question.when is ALWAYS:
            raise AcidtestError(f"has no column {question.id!r}, for the question {question.text!r}")
        dtype = pl.List(pl.String) if question.takes_several else pl.String
        return pl.Series(question.id, [None] * frame.height, dtype=dtype)
    given = frame[question.id]
    return _several(given, question) if question.takes_several else _single(given, question)


def _golds(frame: pl.DataFrame, questionnaire: Questionnaire) -> pl.Series:
    """The gold label of each row by its name, for a questionnaire that asks by it."""
    column = next((name for name in GOLD if name in frame.columns), None)
    if column is None:
        raise AcidtestError(f"has no column gold, and questionnaire {questionnaire.name!r} asks by the gold of an item")
    written = text(frame[column])
    names = {each: gold_name(each) for each in written.drop_nulls().unique()}
    found = written.replace_strict(names, default=None, return_dtype=pl.String)
    for row in found.is_null().arg_true().head(1):
        told = f"{column} {written[row]!r} is no label" if written[row] else f"has no {column}"
        raise RowError(row, f"{told}, and questionnaire {questionnaire.name!r} asks by the gold of an item")
    return found.alias(GOLD_COLUMN)


def _single(given: pl.Series, question: Question) -> pl.Series:
    if isinstance(given.dtype, pl.List):
        row = given.is_not_null().arg_max() or 0
        raise RowError(row, f"question {question.id!r}: holds a list, but one answer is asked for")
    written = text(given)
    if not question.answers:
        return written
    return _known(written, question)


def _several(given: pl.Series, question: Question) -> pl.Series:
    """Lists, or cells in which answers stand with a separator between them, or a list written as JSON."""
    if not isinstance(given.dtype, pl.List):
        given = listed(text(given), SEPARATOR)
    frame = pl.DataFrame({"row": np.arange(len(given)), "answer": given.cast(pl.List(pl.String))})
    flat = frame.explode("answer", empty_as_null=False, keep_nulls=False)
    flat = flat.with_columns(answer=text(flat["answer"])).drop_nulls()
    known = _known(flat["answer"], question, rows=flat["row"])
    ticked = (
        flat.with_columns(answer=known)
        .group_by("row", maintain_order=True)
        .agg(pl.col("answer").unique(maintain_order=True))
    )
    for option in question.options:
        if option.exclusive:
            _check_exclusive(ticked, option.id, question)
    whole = frame.select("row").join(ticked, on="row", how="left", maintain_order="left")
    return whole["answer"].alias(question.id)


def _check_exclusive(ticked: pl.DataFrame, option: str, question: Question) -> None:
    both = ticked.filter(pl.col("answer").list.contains(option) & (pl.col("answer").list.len() > 1))
    for row, answers in both.head(1).iter_rows():
        other = next(answer for answer in answers if answer != option)
        raise RowError(row, f"question {question.id!r}: {option!r} and {other!r} exclude each other; keep one")


def _known(written: pl.Series, question: Question, *, rows: pl.Series | None = None) -> pl.Series:
    """Answers as the questionnaire spells them, whatever their capitals."""
    spellings = {answer.lower(): answer for answer in question.answers}
    spellings |= _TRUTH if question.kind == "yes-no" else {}
    found = written.str.to_lowercase().replace_strict(spellings, default=None, return_dtype=pl.String)
    for place in (written.is_not_null() & found.is_null()).arg_true().head(1):
        problem = f"question {question.id!r}: {written[place]!r} is no answer; there is {choice(question.answers)}"
        raise RowError(place if rows is None else rows[place], problem)
    return found.alias(question.id)


def _check_flow(answers: pl.DataFrame, questionnaire: Questionnaire) -> None:
    """Raise where a question was not answered that had to be, or answered that was not to be asked."""
    for question in questionnaire.questions:
        column = pl.col(question.id)
        filled = (column.list.len() > 0).fill_null(False) if question.takes_several else column.is_not_null()
        flow = answers.select(asked=question.when.holds, filled=filled)
        for row in _rows(flow, pl.col("asked") & ~pl.col("filled")) if question.required else ():
            raise RowError(
                row, f"question {question.id!r} has no answer; answer it, or leave this person's answers out"
            )
        for row in _rows(flow, ~pl.col("asked") & pl.col("filled")):
            problem = f"question {question.id!r} was not to be asked after the answers before it; leave it empty"
            raise RowError(row, problem)


def _rows(frame: pl.DataFrame, holds: pl.Expr) -> Iterator[int]:
    """The first row for which something holds, if any."""
    # An expression of nothing but literals has one row.
    found = frame.with_columns(_holds=holds)["_holds"]
    yield from found.arg_true().head(1)


def _items(frame: pl.DataFrame, item: pl.Series, questionnaire: Questionnaire) -> pl.DataFrame:
    """A row for each item with the columns that say the same of it in all its rows."""
    own = {*ITEMS, *TAKEN, *PARTICULARS, *(question.id for question in questionnaire.questions)}
    others = [name for name in frame.columns if name not in own]
    items = pl.DataFrame([item.alias("item"), *(frame[name] for name in others)]).group_by("item", maintain_order=True)
    same = items.agg(pl.col(name).n_unique() for name in others).select(pl.exclude("item").max())
    return items.agg(pl.col(name).first() for name in others if (same[name].item() or 0) <= 1)
