"""Whose answers count, and how long they took: what files of answers say besides what was answered.

Columns, all optional: ``seconds``; ``control`` (yes) or ``role`` (control) where an item is a control item, with
``passed`` or ``failed`` (yes or no); ``excluded`` (yes, or why) where a person's answers are to be left out.
"""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from acidtest.annotate.answers import Answers, RowError, text, truths
from acidtest.core.errors import AcidtestError
from acidtest.core.ratings import ALL, DISCARDED, KEPT, Attendance, CheckCounts, PeoplePace, summarise_times

_YES, _NO = ("yes", "y", "true", "1", "1.0"), ("no", "n", "false", "0", "0.0")


def attended(answers: Answers) -> tuple[Answers, Attendance | None]:
    """The answers that count, without control items and excluded people, and what there is to say of the people.

    None where the file says nothing of the kind.
    """
    told = answers.particulars
    if not told.width:
        return answers, None
    try:
        counts, found = attendance(answers.frame["annotator"], told)
    except AcidtestError as error:
        raise AcidtestError(f"{answers.name}: {error}") from error
    frame = answers.frame.filter(counts)
    items = answers.items.filter(pl.col("item").is_in(frame["item"].implode()))
    return replace(answers, frame=frame, items=items, particulars=told.filter(counts)), found


def attendance(annotators: pl.Series, told: pl.DataFrame) -> tuple[pl.Series, Attendance]:
    """Which rows count, and what there is to say of the people; ``told`` has some of the columns for each row."""
    people = pl.DataFrame(
        {
            "annotator": annotators,
            "seconds": _seconds(told),
            "control": _control(told),
            "failed": _failed(told),
            "excluded": _excluded(told),
        }
    )
    # A person is excluded as a whole, whichever rows say so.
    people = people.with_columns(excluded=pl.col("excluded").any().over("annotator"))
    counts = ~people["control"] & ~people["excluded"]
    if not counts.any():
        raise AcidtestError(f"all {people.height:,} rows are of control items or of excluded people; none is left")
    kept = people.filter(counts)
    timed = kept.partition_by("annotator", as_dict=True, maintain_order=True)
    asked = people.filter("control").group_by("annotator", maintain_order=True)
    controls = asked.agg(asked=pl.len(), known=pl.col("failed").count(), failed=pl.col("failed").sum())
    found = Attendance(
        seconds=summarise_times(kept["seconds"]),
        by_person={str(name): each for (name,), own in timed.items() if (each := summarise_times(own["seconds"]))},
        controls={name: CheckCounts(asked, failed) for name, asked, known, failed in controls.iter_rows() if known},
        excluded=tuple(people.filter("excluded")["annotator"].unique(maintain_order=True)),
        left_out=int((~counts).sum()),
        people=people["annotator"].n_unique(),
        paces=_paces(people),
    )
    return counts, found


def _paces(people: pl.DataFrame) -> dict[str, PeoplePace]:
    """How long people took for an item: all of them, those who are kept, and those who are excluded."""
    timed = people.filter(~pl.col("control")).drop_nulls("seconds")
    each = timed.group_by("annotator").agg(pl.col("seconds").mean(), pl.col("excluded").first())
    parts = {ALL: each, KEPT: each.filter(~pl.col("excluded")), DISCARDED: each.filter("excluded")}
    return {
        name: PeoplePace(part.height, float(part["seconds"].sum()) / part.height)
        for name, part in parts.items()
        if part.height
    }


def exclusion(written: str) -> str | None:
    """Why somebody is excluded, as a cell says it; None where it says no."""
    return None if written.lower() in ("", *_NO) else written


def _seconds(told: pl.DataFrame) -> pl.Series:
    written = _text(told, "seconds")
    found = written.cast(pl.Float64, strict=False)
    wrong = written.is_not_null() & (found.is_null() | (found < 0) | found.is_nan()).fill_null(True)
    for row in wrong.arg_true().head(1):
        raise RowError(row, f"seconds {written[row]!r} is no length of time; write a number, or leave it empty")
    return found


def _control(told: pl.DataFrame) -> pl.Series:
    role = _text(told, "role").str.to_lowercase()
    return _truth(told, "control").fill_null(False) | (role == "control").fill_null(False)


def _failed(told: pl.DataFrame) -> pl.Series:
    """Whether a control item went wrong, null where nothing is said of it."""
    return pl.select(pl.coalesce(_truth(told, "failed"), ~_truth(told, "passed"))).to_series()


def _excluded(told: pl.DataFrame) -> pl.Series:
    """Anything but no: the reason may stand there."""
    written = _text(told, "excluded").str.to_lowercase()
    return (written.is_not_null() & ~written.is_in(_NO)).fill_null(False)


def _truth(told: pl.DataFrame, name: str) -> pl.Series:
    written = _text(told, name)
    found, neither = truths(written, _YES, _NO)
    for row in neither[:1]:
        raise RowError(row, f"{name} {written[row]!r} is neither yes nor no")
    return found


def _text(told: pl.DataFrame, name: str) -> pl.Series:
    """A column as text, an empty cell being null; all null where there is none."""
    return text(told[name]) if name in told.columns else pl.Series(name, [None] * told.height, dtype=pl.String)
