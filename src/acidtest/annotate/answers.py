"""Answers to a questionnaire, checked: one row per person and item, one column per question.

Columns: ``item`` (or ``id``), ``annotator``, and one named after each question. Several answers to one question are a
list in JSON lines and are separated by ``|`` in a cell elsewhere; an empty cell is no answer. Optional columns say
which answers count: ``seconds``; ``control`` (yes) or ``role`` (control) for an attention check, with ``passed`` or
``failed`` (yes or no); ``excluded`` (yes, or the reason) for a person whose answers are left out. Other columns are
kept if they have the same value in all rows of an item, as premise and hypothesis do.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import polars as pl

from acidtest.annotate.conditions import GOLD_COLUMN, join_with_or
from acidtest.annotate.questionnaires import RESERVED, SEPARATOR, Question, Questionnaire
from acidtest.core.digests import combine_digests, digests
from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.labels import gold_name
from acidtest.core.ratings import ALL, DISCARDED, KEPT, Attendance, CheckCounts, PeoplePace, summarise_times
from acidtest.io.tables import FileTable, flatten, read_table

ITEM_COLUMNS = ("item", "id")
"""Names of the column that identifies items."""

GOLD_COLUMNS = ("gold", "gold_label")
"""Names of the column with the gold label that items came with, the likeliest first."""

PARTICIPATION_COLUMNS = ("seconds", "control", "passed", "failed", "excluded")
"""Columns that say how long an answer took and whether it counts; ``role`` may stand beside them."""

_YES, _NO = ("yes", "y", "true", "1", "1.0"), ("no", "n", "false", "0", "0.0")
_YES_NO = {**dict.fromkeys(("y", "true", "1"), "yes"), **dict.fromkeys(("n", "false", "0"), "no")}


@dataclass(frozen=True)
class Answers:
    """Checked answers; ``frame`` has item, annotator and a column per question."""

    frame: pl.DataFrame
    items: pl.DataFrame
    """One row per item, in the order in which they first occur, with what else is known of it."""
    name: str = ""
    item_column: str = "item"
    """The file's name for the column ``item``."""
    participation: pl.DataFrame = field(default_factory=pl.DataFrame)
    """Those of ``PARTICIPATION_COLUMNS`` and role that the file has, row by row as ``frame``."""

    @property
    def fingerprint(self) -> str:
        """A digest of who answered what, the same for every file and store with these answers."""
        return combine_digests(digests(*flatten(self.frame)))


class RowError(AcidtestError):
    """Something wrong in one row of a frame; ``row`` counts from 0."""

    def __init__(self, row: int, problem: str) -> None:
        self.row, self.problem = row, problem
        super().__init__(f"row {row + 1:,}: {problem}")


def row_error(table: FileTable, row: int, problem: str) -> FileError:
    """An error about a row of a table, with its line if the file has lines."""
    line = table.line(row)
    return FileError(table.path, problem if line else f"row {row + 1:,}: {problem}", line)


def read_answers(path: str | Path, questionnaire: Questionnaire) -> Answers:
    """The answers in a table of any format; an error names the line."""
    table = read_table(path)
    if not table.rows.height:
        raise FileError(path, "has no rows: nobody has answered anything yet")
    try:
        answers = check_answers(table.written_frame, questionnaire)
    except RowError as error:
        raise row_error(table, error.row, error.problem) from error
    except FileError:
        raise
    except AcidtestError as error:
        raise FileError(path, str(error)) from error
    return replace(answers, name=Path(path).name)


def check_answers(frame: pl.DataFrame, questionnaire: Questionnaire) -> Answers:
    """The answers in a frame, spelt as the questionnaire spells them."""
    item = next((name for name in ITEM_COLUMNS if name in frame.columns), None)
    if item is None or "annotator" not in frame.columns:
        missing = "annotator" if item else "item"
        raise AcidtestError(f"has no column {missing!r}; answers have item, annotator and a column for each question")
    keys = frame.select(clean_text(frame[item]).alias("item"), clean_text(frame["annotator"]))
    for name in keys.columns:
        for row in keys[name].is_null().arg_true().head(1):
            raise RowError(row, f"has no {name}; fill it in or remove the row")
    for row in (~keys.select(pl.struct(pl.all()).is_first_distinct()).to_series()).arg_true().head(1):
        repeated, annotator = keys.row(row)
        raise RowError(row, f"annotator {annotator!r} answers item {repeated!r} a second time; keep one row")
    columns = [_answer_column(frame, question) for question in questionnaire.questions]
    columns += [_gold_column(frame, questionnaire)] if questionnaire.asks_by_gold else []
    checked = keys.with_columns(columns)
    _check_flow(checked, questionnaire)
    participation = frame.select(
        name for name in (*PARTICIPATION_COLUMNS, "role") if name in frame.columns and name not in questionnaire.by_id
    )
    items = _known_items(frame, keys["item"], questionnaire)
    return Answers(checked, items, item_column=item, participation=participation)


def split_lists(cells: pl.Series, separator: str) -> pl.Series:
    """Text cells as lists: lists written as in JSON or Python, or texts between separators."""
    bracketed = cells.str.starts_with("[")
    written = cells.set(~bracketed, None)
    try:
        lists = written.str.json_decode(pl.List(pl.String))
    except pl.exceptions.PolarsError:
        lists = written.str.strip_chars("[]").str.replace_all(r"""["']""", "").str.split(",")
    return lists.zip_with(bracketed.fill_null(True), cells.str.split(separator))


def find_column(columns: Sequence[str], known: Sequence[str], but: Collection[str | None] = ()) -> str | None:
    """The first of the known columns that a table has, in any case."""
    names = {name.strip().lower(): name for name in columns if name not in but}
    return next((names[name] for name in known if name in names), None)


def clean_text(column: pl.Series) -> pl.Series:
    """A column as stripped text; an empty cell is null."""
    return column.cast(pl.String, strict=False).str.strip_chars().replace("", None)


def parse_yes_no(column: pl.Series, yes: Sequence[str], no: Sequence[str]) -> tuple[pl.Series, list[int]]:
    """Whether each cell says yes (null: empty), and the rows that say neither yes nor no."""
    written = clean_text(column).str.to_lowercase()
    meanings = {**dict.fromkeys(yes, True), **dict.fromkeys(no, False)}
    values = written.replace_strict(meanings, default=None, return_dtype=pl.Boolean)
    return values, (written.is_not_null() & values.is_null()).arg_true().to_list()


def exclude_people(answers: Answers) -> tuple[Answers, Attendance | None]:
    """The answers without attention checks and excluded people, and a summary of the people.

    The summary is None if the file has none of the columns about it.
    """
    if not answers.participation.width:
        return answers, None
    try:
        counts, attendance = counted_rows(answers.frame["annotator"], answers.participation)
    except AcidtestError as error:
        raise AcidtestError(f"{answers.name}: {error}") from error
    frame = answers.frame.filter(counts)
    items = answers.items.filter(pl.col("item").is_in(frame["item"].implode()))
    return replace(answers, frame=frame, items=items, participation=answers.participation.filter(counts)), attendance


def counted_rows(annotators: pl.Series, participation: pl.DataFrame) -> tuple[pl.Series, Attendance]:
    """Which rows count, and a summary of the people; ``participation`` has some of its columns for each row."""
    role = _cells(participation, "role").str.to_lowercase()
    excluded = _cells(participation, "excluded").str.to_lowercase()
    rows = pl.DataFrame(
        {
            "annotator": annotators,
            "seconds": _seconds(participation),
            "check": _flags(participation, "control").fill_null(False) | (role == "control").fill_null(False),
            # Null where nothing is known of the result of a check.
            "failed": pl.select(
                pl.coalesce(_flags(participation, "failed"), ~_flags(participation, "passed"))
            ).to_series(),
            # Anything but no excludes a person: the cell may hold the reason.
            "excluded": (excluded.is_not_null() & ~excluded.is_in(_NO)).fill_null(False),
        }
    )
    # A person is excluded as a whole, whichever rows say so.
    rows = rows.with_columns(excluded=pl.col("excluded").any().over("annotator"))
    counts = ~rows["check"] & ~rows["excluded"]
    if not counts.any():
        raise AcidtestError(f"all {rows.height:,} rows are attention checks or of excluded people; none is left")
    kept = rows.filter(counts)
    by_person = {
        str(name): seconds
        for (name,), part in kept.partition_by("annotator", as_dict=True, maintain_order=True).items()
        if (seconds := summarise_times(part["seconds"]))
    }
    by_annotator = rows.filter("check").group_by("annotator", maintain_order=True)
    checks = by_annotator.agg(asked=pl.len(), known=pl.col("failed").count(), failed=pl.col("failed").sum())
    attendance = Attendance(
        seconds=summarise_times(kept["seconds"]),
        by_person=by_person,
        controls={name: CheckCounts(asked, failed) for name, asked, known, failed in checks.iter_rows() if known},
        excluded=tuple(rows.filter("excluded")["annotator"].unique(maintain_order=True)),
        left_out=int((~counts).sum()),
        people=rows["annotator"].n_unique(),
        paces=_paces(rows),
    )
    return counts, attendance


def exclusion_reason(cell: str) -> str | None:
    """The reason for which a cell excludes somebody; None where it says no."""
    return None if cell.lower() in ("", *_NO) else cell


def _paces(rows: pl.DataFrame) -> dict[str, PeoplePace]:
    """Mean seconds per item of all people, of those who are kept, and of those who are excluded."""
    timed = rows.filter(~pl.col("check")).drop_nulls("seconds")
    people = timed.group_by("annotator").agg(pl.col("seconds").mean(), pl.col("excluded").first())
    parts = {ALL: people, KEPT: people.filter(~pl.col("excluded")), DISCARDED: people.filter("excluded")}
    return {
        name: PeoplePace(part.height, float(part["seconds"].sum()) / part.height)
        for name, part in parts.items()
        if part.height
    }


def _seconds(participation: pl.DataFrame) -> pl.Series:
    written = _cells(participation, "seconds")
    seconds = written.cast(pl.Float64, strict=False)
    wrong = written.is_not_null() & (seconds.is_null() | (seconds < 0) | seconds.is_nan()).fill_null(True)
    for row in wrong.arg_true().head(1):
        raise RowError(row, f"seconds {written[row]!r} is not a duration; write a number, or leave it empty")
    return seconds


def _flags(participation: pl.DataFrame, name: str) -> pl.Series:
    written = _cells(participation, name)
    flags, wrong = parse_yes_no(written, _YES, _NO)
    for row in wrong[:1]:
        raise RowError(row, f"{name} {written[row]!r} is neither yes nor no")
    return flags


def _cells(frame: pl.DataFrame, name: str) -> pl.Series:
    """A column as text; all null if there is no such column."""
    return clean_text(frame[name]) if name in frame.columns else pl.Series(name, [None] * frame.height, dtype=pl.String)


def _answer_column(frame: pl.DataFrame, question: Question) -> pl.Series:
    """The answers to a question by the ids of its options, as lists if several may be ticked."""
    if question.id not in frame.columns:
        if question.required and question.when is None:
            raise AcidtestError(f"has no column {question.id!r}, for the question {question.text!r}")
        return pl.Series(question.id, [None] * frame.height, dtype=question.dtype)
    cells = frame[question.id]
    if question.takes_several:
        return _ticked_answers(cells, question)
    if isinstance(cells.dtype, pl.List):
        row = cells.is_not_null().arg_max() or 0
        raise RowError(row, f"question {question.id!r}: holds a list, but one answer is expected")
    written = clean_text(cells)
    return _spell_answers(written, question) if question.answers else written


def _ticked_answers(cells: pl.Series, question: Question) -> pl.Series:
    """Lists of answers from lists, from cells with separators, or from lists written as JSON."""
    if not isinstance(cells.dtype, pl.List):
        cells = split_lists(clean_text(cells), SEPARATOR)
    frame = pl.DataFrame({"row": np.arange(len(cells)), "answer": cells.cast(pl.List(pl.String))})
    single = frame.explode("answer", empty_as_null=False, keep_nulls=False)
    single = single.with_columns(answer=clean_text(single["answer"])).drop_nulls()
    single = single.with_columns(answer=_spell_answers(single["answer"], question, rows=single["row"]))
    ticked = single.group_by("row", maintain_order=True).agg(pl.col("answer").unique(maintain_order=True))
    for option in question.options:
        alone = pl.col("answer").list.contains(option.id) & (pl.col("answer").list.len() > 1)
        for row, answers in ticked.filter(alone).head(1).iter_rows() if option.exclusive else ():
            other = next(answer for answer in answers if answer != option.id)
            raise RowError(row, f"question {question.id!r}: {option.id!r} and {other!r} exclude each other; keep one")
    whole = frame.select("row").join(ticked, on="row", how="left", maintain_order="left")
    return whole["answer"].alias(question.id)


def _spell_answers(written: pl.Series, question: Question, *, rows: pl.Series | None = None) -> pl.Series:
    """Answers as the questionnaire spells them, whatever their capitals; ``rows`` numbers them for errors."""
    spellings = {answer.lower(): answer for answer in question.answers}
    spellings |= _YES_NO if question.kind == "yes-no" else {}
    answers = written.str.to_lowercase().replace_strict(spellings, default=None, return_dtype=pl.String)
    for place in (written.is_not_null() & answers.is_null()).arg_true().head(1):
        expected = join_with_or(question.answers)
        problem = f"question {question.id!r}: {written[place]!r} is not an answer; expected {expected}"
        raise RowError(place if rows is None else rows[place], problem)
    return answers.alias(question.id)


def _gold_column(frame: pl.DataFrame, questionnaire: Questionnaire) -> pl.Series:
    """The name of the gold label of each row, for a questionnaire that asks by it."""
    reason = f"and questionnaire {questionnaire.name!r} asks by the gold label of an item"
    column = next((name for name in GOLD_COLUMNS if name in frame.columns), None)
    if column is None:
        raise AcidtestError(f"has no column gold, {reason}")
    written = clean_text(frame[column])
    names = {text: gold_name(text) for text in written.drop_nulls().unique()}
    golds = written.replace_strict(names, default=None, return_dtype=pl.String)
    for row in golds.is_null().arg_true().head(1):
        problem = f"{column} {written[row]!r} is not a label" if written[row] else f"has no {column}"
        raise RowError(row, f"{problem}, {reason}")
    return golds.alias(GOLD_COLUMN)


def _check_flow(answers: pl.DataFrame, questionnaire: Questionnaire) -> None:
    """Raise if a required question has no answer, or one that is not asked has an answer."""
    for question in questionnaire.questions:
        # The column beside them broadcasts a condition that is a literal.
        flow = answers.select("item", asked=questionnaire.holds(question.when), answered=question.is_answered)
        missing, extra = flow["asked"] & ~flow["answered"], ~flow["asked"] & flow["answered"]
        for row in missing.arg_true().head(1) if question.required else ():
            problem = f"question {question.id!r} has no answer; answer it, or leave this person's answers out"
            raise RowError(row, problem)
        for row in extra.arg_true().head(1):
            problem = f"question {question.id!r} is not asked after the answers before it; leave it empty"
            raise RowError(row, problem)


def _known_items(frame: pl.DataFrame, item: pl.Series, questionnaire: Questionnaire) -> pl.DataFrame:
    """One row per item with the columns that have the same value in all of its rows."""
    used = {*ITEM_COLUMNS, *RESERVED, *PARTICIPATION_COLUMNS, *questionnaire.by_id}
    others = [name for name in frame.columns if name not in used]
    items = pl.DataFrame([item.alias("item"), *(frame[name] for name in others)]).group_by("item", maintain_order=True)
    values = items.agg(pl.col(name).n_unique() for name in others).select(pl.exclude("item").max())
    return items.agg(pl.col(name).first() for name in others if (values[name].item() or 0) <= 1)
