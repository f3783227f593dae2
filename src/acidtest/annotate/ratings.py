"""Files in which several people have labelled each row: what they said, and what was made gold of it.

Three forms are recognised: a column ``annotator_labels`` that holds lists (SNLI, MultiNLI, Breaking NLI, LingNLI), a
column for each person (``label1`` … ``label5`` in the tab-separated files of SNLI and MultiNLI), and a row for each
label (item, annotator, label). An empty cell, or ``-``, is no label.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.analysis.agreement import MAJORITY, Ratings, label_counts, majority_labels, ordered_labels
from acidtest.annotate.answers import listed
from acidtest.annotate.conditions import choice
from acidtest.annotate.outcomes import Judgements
from acidtest.core.errors import AcidtestError, FileError, UnknownNameError, some
from acidtest.core.labels import LABELS, gold_name
from acidtest.core.tables import Table, read_table

LISTS = ("annotator_labels",)
ITEMS = ("item", "item_id", "id", "pairid", "pair_id", "uid")
PEOPLE = ("annotator", "annotator_id", "worker", "worker_id", "workerid", "rater", "coder")
SAID = ("label", "annotator_label", "rating", "annotation", "answer")
GOLD = ("gold_label", "gold", "label")
SENTENCES = ("premise", "sentence1", "prem", "context", "sentence_a")
"""Columns that rows of one source sentence have in common, the likeliest first."""

SNLI_TEST, BREAKING_NLI = "SNLI test", "Breaking NLI"

_NUMBERED = re.compile(r"(?:label|annotator|annotation|rater|worker|coder|judge)[_ -]?\d+(?:_?label)?")
_NO_LABEL = ("", "-")
_NO_GOLD = "-1"

_SNLI_TEST_GOLD = {"entailment": 3368, "contradiction": 3237, "neutral": 3219}
_BREAKING_CATEGORIES = {"antonyms_wordnet", "cardinals", "nationalities"}
"""Three of its fourteen, by which it is known."""


@dataclass(frozen=True)
class _Form:
    """Which columns hold what; item and annotator where every label has a row of its own."""

    labels: tuple[str, ...]
    gold: str | None = None
    sentence: str | None = None
    item: str | None = None
    annotator: str | None = None

    @property
    def columns(self) -> list[str]:
        """All of them, each once."""
        others = (self.gold, self.sentence, self.item, self.annotator)
        return list(dict.fromkeys([*self.labels, *(name for name in others if name)]))


def read_ratings(path: str | Path, *, labels: Sequence[str] = (), gold: str | None = None) -> Ratings:
    """The labels that people gave the rows of a file, with their gold.

    ``labels`` names the columns that hold them and ``gold`` the one that holds gold, where they are not recognised.
    Without gold it is the majority of a row's labels. Where a label of NLI occurs all must be such, in any spelling;
    otherwise labels are taken as they are written.
    """
    table = read_table(path)
    if not table.rows.height:
        raise FileError(path, "has no rows, so nobody has labelled anything; copy or write it again")
    form = _form(table, labels, gold)
    frame = table.rows.select(form.columns).collected()
    said = _said(table, frame, form)
    golds = _golds(frame, form, said["label"])
    said, golds = _named(table, said, golds)
    rows = pl.DataFrame({"gold": golds, "sentence": golds})
    if form.sentence:
        rows = rows.with_columns(_text(frame[form.sentence]).alias("sentence"))
    if form.item and form.annotator:
        said, rows = _by_item(table, frame, form, said, rows)
    given = ordered_labels(said["label"].unique().to_list())
    if not given:
        raise FileError(path, f"nobody gave a label: there are none in {some(form.labels)}; name others with --labels")
    counts = label_counts(said, given, rows=rows.height)
    told = f"labels:{','.join(form.labels)}|gold:{form.gold or MAJORITY}|groups:{form.sentence or 'rows'}"
    return Ratings(
        name=table.path.name,
        labels=tuple(given),
        counts=counts,
        gold=rows["gold"] if form.gold else majority_labels(counts, given),
        gold_from=form.gold or MAJORITY,
        groups=_group_codes(rows["sentence"]) if form.sentence else None,
        corpus=_corpus(table, rows["gold"]),
        signature=f"agreement|{told}|n:{rows.height}|h:{table.fingerprint[:6]}",
    )


def judged_ratings(judged: Judgements, *, gold: str | None = None) -> Ratings:
    """The labels that a questionnaire makes of answers, for the items that it does not discard.

    ``gold`` names a column of the answers with the gold to compare them with, where it is not what the questionnaire
    makes of the labels.
    """
    name, labels = judged.questionnaire.name, judged.questionnaire.labels
    if not labels:
        raise AcidtestError(
            f"questionnaire {name!r} gives no labels but categories, of which agreement is not measured"
        )
    kept = judged.items.filter(pl.col("discarded").is_null())
    if not kept.height:
        raise AcidtestError(f"{judged.name}: all {judged.items.height:,} items are discarded; no labels are left")
    if gold is not None and gold not in judged.known:
        raise UnknownNameError(
            "column", gold, judged.known, f" (--gold; the same in all rows of an item, {judged.name})"
        )
    sentence = next((each for each in kept.columns if each.lower() in SENTENCES), None)
    golds = kept["label"] if gold is None else _known_golds(judged.name, kept, gold, labels=labels)
    told = f"questionnaire:{name}|gold:{gold or judged.questionnaire.aggregation.label}|groups:{sentence or 'rows'}"
    return Ratings(
        name=judged.name,
        labels=labels,
        counts=judged.counts(kept),
        gold=golds.alias("gold"),
        gold_from=gold or judged.questionnaire.aggregation.label,
        groups=_group_codes(_text(kept[sentence])) if sentence else None,
        signature=f"agreement|{told}|n:{kept.height}|h:{judged.fingerprint[:6]}",
    )


def _form(table: Table, labels: Sequence[str], gold: str | None) -> _Form:
    named = tuple(dict.fromkeys(_column(table, name, "--labels") for name in labels))
    columns, item, annotator = _label_columns(table, named)
    own_gold = _column(table, gold, "--gold") if gold else _found(table, GOLD, but=columns)
    if own_gold in columns:
        raise FileError(table.path, f"column {own_gold!r} cannot hold both the labels of people and gold")
    return _Form(columns, own_gold, _found(table, SENTENCES, but=(*columns, own_gold)), item, annotator)


def _label_columns(table: Table, named: tuple[str, ...]) -> tuple[tuple[str, ...], str | None, str | None]:
    """The columns that hold labels; those of items and people where every label has its row."""
    if len(named) > 1:
        return named, None, None
    lists = named[0] if named else _found(table, LISTS)
    if lists and _holds_lists(table, lists):
        return (lists,), None, None
    numbered = () if named else tuple(name for name in table.columns if _NUMBERED.fullmatch(name.lower()))
    if len(numbered) > 1:
        return numbered, None, None
    said = named[0] if named else _found(table, SAID)
    item, annotator = _found(table, ITEMS, but=(said,)), _found(table, PEOPLE, but=(said,))
    if said and item and annotator:
        return (said,), item, annotator
    raise _unrecognised(table, named)


def _unrecognised(table: Table, named: Sequence[str]) -> FileError:
    if named:
        problem = (
            f"column {named[0]!r} holds one label a row, and there are no columns item and annotator; "
            f"name a column for each person: --labels {named[0]},COLUMN"
        )
    else:
        problem = (
            f"none of the columns ({some(table.columns, 30)}) is known to hold labels of several people "
            "(annotator_labels; label1, label2 …; or item, annotator and label); name a column for each person with "
            "--labels COLUMN,COLUMN"
        )
        if _found(table, ITEMS) and _found(table, PEOPLE):
            problem += ", or, if they hold answers, the questionnaire with --questionnaire"
    return FileError(table.path, problem)


def _found(table: Table, known: Sequence[str], but: Sequence[str | None] = ()) -> str | None:
    """The first of some known columns that the table has, in whatever case."""
    names = {name.strip().lower(): name for name in table.columns if name not in but}
    return next((names[name] for name in known if name in names), None)


def _column(table: Table, name: str, option: str) -> str:
    matching = [each for each in table.columns if each.strip().lower() == name.strip().lower()]
    if name in table.columns:
        return name
    if len(matching) != 1:
        raise UnknownNameError("column", name, table.columns, f" ({option}, {table.path})")
    return matching[0]


def _holds_lists(table: Table, column: str) -> bool:
    if isinstance(table.rows.schema[column], pl.List):
        return True
    return any(
        batch[column].dtype == pl.String and batch[column].str.contains(r"^\s*\[").any()
        for batch in table.rows.batches(column)
    )


def _said(table: Table, frame: pl.DataFrame, form: _Form) -> pl.DataFrame:
    """A row for each label as it is written: row of the file, label."""
    columns = list[pl.Series]()
    for name in form.labels:
        column = frame[name]
        if isinstance(column.dtype, pl.List) and len(form.labels) == 1:
            columns.append(column.cast(pl.List(pl.String)))
        elif column.dtype.is_nested():
            raise FileError(table.path, f"column {name!r} holds lists; it alone can be given as --labels {name}")
        elif len(form.labels) == 1 and not form.item:
            columns.append(listed(_text(column), ","))
        else:
            columns.append(_text(column))
    rows = np.arange(frame.height)
    parts = [pl.DataFrame({"row": rows, "label": column}) for column in columns]
    if isinstance(columns[0].dtype, pl.List):
        parts = [part.explode("label", empty_as_null=False, keep_nulls=False) for part in parts]
    said = pl.concat(parts).with_columns(pl.col("label").str.strip_chars())
    return said.filter(pl.col("label").is_not_null() & ~pl.col("label").is_in(_NO_LABEL)).sort(
        "row", maintain_order=True
    )


def _golds(frame: pl.DataFrame, form: _Form, labels: pl.Series) -> pl.Series:
    """Gold as it is written, null where there is none."""
    if form.gold is None:
        return pl.Series("gold", [None] * frame.height, dtype=pl.String)
    none = [*_NO_LABEL, *([_NO_GOLD] if _NO_GOLD not in labels else [])]
    written = _text(frame[form.gold])
    return written.set(written.is_in(none), None).alias("gold")


def _known_golds(name: str, items: pl.DataFrame, column: str, *, labels: Sequence[str]) -> pl.Series:
    """Gold that stands beside answers, spelt as the labels are."""
    golds = _golds(items, _Form((), column), pl.Series(labels))
    meanings = {text: text if text in labels else gold_name(text) for text in golds.drop_nulls().unique()}
    for text, meaning in meanings.items():
        if meaning is None:
            raise AcidtestError(f"{name}: gold {text!r} (--gold {column}) is not {choice(labels)}; correct it")
    return golds.replace_strict(meanings, default=None, return_dtype=pl.String)


def _named(table: Table, said: pl.DataFrame, golds: pl.Series) -> tuple[pl.DataFrame, pl.Series]:
    """Labels and gold by NLI's names where one of them occurs, else as they are written."""
    written = {*said["label"].unique(), *golds.drop_nulls().unique()}
    if not any(text.lower() in LABELS for text in written):
        return said, golds
    meanings = {text: gold_name(text) for text in written}
    known = {text: name for text, name in meanings.items() if name}
    if len(known) < len(written):
        columns = pl.concat([said, pl.DataFrame({"row": np.arange(len(golds)), "label": golds})])
        unknown = columns.filter(pl.col("label").is_not_null() & ~pl.col("label").is_in(list(known))).sort("row")
        row, label = unknown.row(0)
        raise _row_error(table, row, f"label {label!r} is not entailment, neutral or contradiction; correct it")
    return (
        said.with_columns(pl.col("label").replace_strict(known, return_dtype=pl.String)),
        golds.replace_strict(known, default=None, return_dtype=pl.String),
    )


def _by_item(
    table: Table, frame: pl.DataFrame, form: _Form, said: pl.DataFrame, rows: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Labels and rows of a file that has a row for each label, with a row for each item instead."""
    keys = frame.select(item=_text(frame[form.item or ""]), annotator=_text(frame[form.annotator or ""]))
    for name, column in (("item", form.item), ("annotator", form.annotator)):
        for row in keys[name].is_null().arg_true().head(1):
            raise _row_error(table, row, f"column {column!r} is empty; fill it in or remove the row")
    twice = ~keys.select(pl.struct("item", "annotator").is_first_distinct()).to_series()
    for row in twice.arg_true().head(1):
        item, annotator = keys.row(row)
        raise _row_error(table, row, f"annotator {annotator!r} labels item {item!r} a second time; keep one row")
    items = rows.with_columns(keys["item"]).group_by("item", maintain_order=True)
    golds = items.agg(pl.col("gold").drop_nulls().unique(maintain_order=True))
    for item, several in golds.filter(pl.col("gold").list.len() > 1).head(1).iter_rows():
        told = " and ".join(map(repr, several[:2]))
        raise FileError(table.path, f"item {item!r} has the gold {told}; an item has one, in all its rows")
    numbers = items.agg().with_row_index("number").select("item", pl.col("number").cast(pl.Int64))
    of_rows = keys.join(numbers, on="item", how="left", maintain_order="left")["number"]
    whole = items.agg(pl.col("gold", "sentence").drop_nulls().first())
    return said.with_columns(row=of_rows.gather(said["row"])), whole.select("gold", "sentence")


def _corpus(table: Table, gold: pl.Series) -> str:
    """The published corpus that a file is, or is part of; empty where it is none that is known."""
    names = {name.strip().lower(): name for name in table.columns}
    if {"captionid", "pairid", "sentence1", "gold_label"} <= set(names):
        return SNLI_TEST if Counter(gold.drop_nulls().to_list()) == _SNLI_TEST_GOLD else ""
    if {"category", "sentence1", "gold_label"} <= set(names):
        found = table.rows.select([names["category"]]).collected().to_series().cast(pl.String, strict=False)
        return BREAKING_NLI if set(found.unique()) >= _BREAKING_CATEGORIES else ""
    return ""


def _group_codes(column: pl.Series) -> npt.NDArray[np.int64]:
    """A number for each different text; every row without one has its own."""
    own = pl.int_range(len(column), eager=True) + len(column) + 1
    codes = pl.select(pl.coalesce(column.rank("dense").cast(pl.Int64), own)).to_series()
    return np.asarray(codes.to_numpy(), dtype=np.int64)


def _row_error(table: Table, row: int, problem: str) -> FileError:
    line = table.line(row)
    return FileError(table.path, problem if line else f"row {row + 1:,}: {problem}", line)


def _text(column: pl.Series) -> pl.Series:
    """As text without spaces around it; an empty cell is null."""
    return column.cast(pl.String, strict=False).str.strip_chars().replace("", None)
