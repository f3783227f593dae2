"""Files in which several people labelled each row: their labels and categories, and the gold label.

Three layouts are recognised: a column ``annotator_labels`` with lists (SNLI, MultiNLI, Breaking NLI, LingNLI), a column
for each person (``label1`` … ``label5`` in the tab-separated files of SNLI and MultiNLI), and a row for each judgement
(item, annotator, and label or categories). An empty cell, or ``-``, is no label. TaxiNLI's file has one person's label
per row (``annotated_label``): accuracy can be computed from it, but not agreement.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path

import numpy as np
import polars as pl

from acidtest.annotate.columns import (
    ANNOTATED,
    ANY,
    GOLD_COLUMNS,
    JUDGEMENT_COLUMNS,
    LABEL_COLUMNS,
    LIST_COLUMN,
    LIST_COLUMNS,
    PARTICIPATION_COLUMNS,
    SENTENCE_COLUMNS,
    answer_keys,
    binary_columns,
    category_columns,
    clean_gold,
    clean_text,
    counted_rows,
    errors_in,
    find_column,
    group_codes,
    read_category_marks,
    row_error,
    split_lists,
)
from acidtest.core.errors import FileError, UnknownNameError, list_some
from acidtest.core.labels import LABELS, gold_name
from acidtest.core.ratings import MAJORITY, Attendance, Ratings, label_counts, majority_labels, ordered_labels
from acidtest.io.tables import FileTable, read_table
from acidtest.pairs.taxonomy import TAXINLI, is_taxinli

SNLI_TEST, BREAKING_NLI = "SNLI test", "Breaking NLI"
_SNLI_TEST_GOLD = {"entailment": 3368, "contradiction": 3237, "neutral": 3219}
_BREAKING_NLI_CATEGORIES = {"antonyms_wordnet", "cardinals", "nationalities"}
"""Three of the fourteen categories of Breaking NLI, by which its file is recognised."""

_ITEM_COLUMNS = ("item", "item_id", "id", "pairid", "pair_id", "uid")
_ANNOTATOR_COLUMNS = ("annotator", "annotator_id", "worker", "worker_id", "workerid", "rater", "coder")
_NUMBERED = re.compile(r"(?:label|annotator|annotation|rater|worker|coder|judge)[_ -]?\d+(?:_?label)?")
_NO_LABEL = ("", "-")
_VOTE_COLUMNS = {"votes", "undecided"}
"""Columns of a table made from answers to a questionnaire, whose ``label`` is the winner of the vote."""
_MOST_NAMED = 3
"""With more category columns than this, a signature has a digest of their names."""

_SCHEMA: dict[str, pl.DataType] = {
    "row": pl.Int64(),
    "annotator": pl.String(),
    "label": pl.String(),
    "categories": pl.List(pl.String),
}
"""Judgements: the row, who judged it (null if unknown), and what they chose."""


@dataclass(frozen=True)
class _RatingLayout:
    """The columns by their role; item and annotator are set if every judgement has a row."""

    labels: tuple[str, ...]
    item: str | None = None
    annotator: str | None = None
    people: bool = False
    """Whether it is known who gave which label."""
    categories: tuple[str, ...] = ()
    gold: str | None = None
    sentence: str | None = None

    @property
    def signature(self) -> str:
        """The part of a signature that names the columns."""
        named = ",".join(self.categories)
        if len(self.categories) > _MOST_NAMED:
            digest = blake2b(named.encode(), digest_size=3).hexdigest()
            named = f"{len(self.categories)} columns:{digest}"
        marks = f"|categories:{named}" if self.categories else ""
        return f"labels:{','.join(self.labels)}{marks}|gold:{self.gold or MAJORITY}|groups:{self.sentence or 'rows'}"


def read_ratings(
    path: str | Path, *, labels: Sequence[str] = (), gold: str | None = None, categories: Sequence[str] = ()
) -> Ratings:
    """The labels or categories that people gave the rows of a file, and the gold labels.

    ``labels``, ``categories`` and ``gold`` name columns that are not recognised. Without a gold column, gold is the
    majority of a row's labels. If one label of NLI occurs, all must be such labels, in any spelling; otherwise labels
    are taken as they are written.
    """
    table = read_table(path)
    if not table.rows.height:
        raise FileError(path, "has no rows, so nobody has labelled anything; copy or write it again")
    layout = _find_layout(table, labels, gold, categories)
    marks, marked = read_category_marks(table, layout.categories) if layout.categories else (None, ())
    judgements, rows, attendance = _read_rows(table, layout, marks)
    if gold is None and rows["gold"].is_null().all():
        layout = replace(layout, gold=None)
    is_vote = layout.gold == "label" and set(table.columns) >= _VOTE_COLUMNS and ANNOTATED not in table.columns
    given = ordered_labels(judgements["label"].drop_nulls().unique().to_list())
    if not given and not marked:
        verb, option = ("gave a label", "--labels") if layout.labels else ("marked a category", "--categories")
        columns = list_some(layout.labels or layout.categories)
        raise FileError(path, f"nobody {verb}: {columns} hold none; name other columns with {option}")
    counts = label_counts(judgements.drop_nulls("label"), given, rows=rows.height)
    return Ratings(
        name=table.path.name,
        labels=tuple(given),
        counts=counts,
        gold=rows["gold"] if layout.gold else majority_labels(counts, given),
        gold_from=MAJORITY if layout.gold is None or is_vote else layout.gold,
        groups=group_codes(rows["sentence"]) if layout.sentence else None,
        corpus=_published_corpus(table, rows["gold"], marked),
        signature=f"agreement|{layout.signature}|n:{rows.height}|h:{table.fingerprint[:6]}",
        said=judgements if layout.people or layout.annotator else None,
        categories=marked,
        reference=rows["gold"] if layout.gold else None,
        reference_from=layout.gold or "",
        attendance=attendance,
    )


def _published_corpus(table: FileTable, gold: pl.Series, categories: Sequence[str]) -> str:
    """The published corpus that a file is or is part of, or whose categories it has; empty if none is recognised."""
    names = {name.strip().lower(): name for name in table.columns}
    if is_taxinli(categories) or {ANNOTATED, "lexical_linguistic", "taxonomic_knowledge"} <= set(names):
        return TAXINLI
    if {"captionid", "pairid", "sentence1", "gold_label"} <= set(names):
        return SNLI_TEST if Counter(gold.drop_nulls().to_list()) == _SNLI_TEST_GOLD else ""
    if {"category", "sentence1", "gold_label"} <= set(names):
        column = table.rows.select([names["category"]]).collected().to_series().cast(pl.String, strict=False)
        return BREAKING_NLI if set(column.unique()) >= _BREAKING_NLI_CATEGORIES else ""
    return ""


def _find_layout(table: FileTable, labels: Sequence[str], gold: str | None, categories: Sequence[str]) -> _RatingLayout:
    named = tuple(dict.fromkeys(_named_column(table, name, "--labels") for name in labels))
    marks = tuple(dict.fromkeys(_named_column(table, name, "--categories") for name in categories))
    properties = frozenset[str]() if named or marks else _item_properties(table)
    layout = _find_label_columns(table, named, marks, properties)
    known = (*GOLD_COLUMNS, "label")
    golds = _named_column(table, gold, "--gold") if gold else find_column(table.columns, known, but=layout.labels)
    if golds in layout.labels:
        raise FileError(table.path, f"column {golds!r} cannot hold both the labels of people and gold")
    sentence = find_column(table.columns, SENTENCE_COLUMNS, but=(*layout.labels, golds))
    if layout.item:
        used = (*layout.labels, layout.item, layout.annotator, golds, sentence)
        item = layout.item if layout.labels else ""
        marks = category_columns(table, marks, used=used, item_properties=properties, item=item)
    return replace(layout, categories=marks, gold=golds, sentence=sentence)


def _item_properties(table: FileTable) -> frozenset[str]:
    """The columns that have one value for all rows of an item, in a file with a row for each person and item.

    Empty if no other column looks like answers: one that differs between the people of an item, has repeated values,
    and describes neither a person nor their participation.
    """
    item, annotator = find_column(table.columns, _ITEM_COLUMNS), find_column(table.columns, _ANNOTATOR_COLUMNS)
    if not item or not annotator:
        return frozenset()
    values = table.frame.group_by(item).agg(pl.exclude(annotator).n_unique()).drop(item).max()
    differing = [name for name, count in values.to_dict().items() if count.item() > 1]
    by_person = table.frame.group_by(annotator).agg(pl.col(differing).n_unique()).select(pl.col(differing).max())
    others = {LIST_COLUMN, *binary_columns(table)}
    others |= {name for name in differing if name.strip().lower() in (*PARTICIPATION_COLUMNS, "role")}
    answers = [name for name in differing if name not in others and by_person[name].item() > 1]
    if not any(2 * table.frame[name].n_unique() <= table.frame.height for name in answers):
        return frozenset()
    return frozenset(values.columns) - set(differing)


def _find_label_columns(
    table: FileTable, named: tuple[str, ...], marks: tuple[str, ...], properties: frozenset[str]
) -> _RatingLayout:
    """The columns with labels, and those of items and people if every judgement has a row."""
    if len(named) > 1 and not marks:
        return _RatingLayout(named, people=True)
    lists = named[0] if named else find_column(table.columns, LIST_COLUMNS, but=[*properties])
    if lists and _holds_lists(table, lists) and not marks:
        return _RatingLayout((lists,))
    columns = [name for name in table.columns if name not in properties]
    numbered = () if named or marks else tuple(name for name in columns if _NUMBERED.fullmatch(name.lower()))
    if len(numbered) > 1:
        # SNLI's label1 to label5 come from different people in each row: a column is not a person.
        return _RatingLayout(numbered, people=not any(name.lower().startswith("label") for name in numbered))
    label = named[0] if named else find_column(table.columns, JUDGEMENT_COLUMNS, but=(*marks, *properties))
    item = find_column(table.columns, _ITEM_COLUMNS, but=(label, *marks))
    annotator = find_column(table.columns, _ANNOTATOR_COLUMNS, but=(label, *marks))
    if item and annotator:
        keys = (item, annotator)
        if label or category_columns(table, marks, used=keys, item_properties=properties):
            return _RatingLayout((label,) if label else (), item, annotator, people=True)
    if label and label.lower() == ANNOTATED and not marks:
        return _RatingLayout((label,), people=True)
    raise _unrecognised(table, named, marks, [name for name in table.columns if name in properties])


def _unrecognised(table: FileTable, named: Sequence[str], marks: Sequence[str], properties: Sequence[str]) -> FileError:
    constant = [name for name in properties if name.strip().lower() in LABEL_COLUMNS]
    if marks:
        problem = "categories (--categories) need a row for each person and item, with columns item and annotator"
    elif named:
        problem = (
            f"column {named[0]!r} holds one label a row, and there are no columns item and annotator; "
            f"name a column for each person: --labels {named[0]},COLUMN"
        )
    elif constant:
        problem = (
            f"column {constant[0]!r} has the same value in all rows of each item, so it belongs to the items, and the "
            "answers of people are in other columns; name the questionnaire with --questionnaire NAME, or, if they are "
            f"labels of people after all, write --labels {constant[0]}"
        )
    else:
        problem = (
            f"none of the columns ({list_some(table.columns, 30)}) is known to hold labels of several people "
            "(annotator_labels; label1, label2 …; or item, annotator and label or categories); name a column for each "
            "person with --labels COLUMN,COLUMN"
        )
        if find_column(table.columns, _ITEM_COLUMNS) and find_column(table.columns, _ANNOTATOR_COLUMNS):
            problem += ", or, if they hold answers, the questionnaire with --questionnaire"
    return FileError(table.path, problem)


def _named_column(table: FileTable, name: str, option: str) -> str:
    if name in table.columns:
        return name
    matching = [column for column in table.columns if column.strip().lower() == name.strip().lower()]
    if len(matching) != 1:
        raise UnknownNameError("column", name, table.columns, f" ({option}, {table.path})")
    return matching[0]


def _holds_lists(table: FileTable, column: str) -> bool:
    if isinstance(table.rows.schema[column], pl.List):
        return True
    return any(
        batch[column].dtype == pl.String and batch[column].str.contains(r"^\s*\[").any()
        for batch in table.rows.batches(column)
    )


def _read_rows(
    table: FileTable, layout: _RatingLayout, marks: pl.Series | None
) -> tuple[pl.DataFrame, pl.DataFrame, Attendance | None]:
    """The judgements (``_SCHEMA``), one row per item with gold and sentence, and a summary of the people."""
    names = (*layout.labels, layout.gold, layout.sentence, layout.item, layout.annotator)
    frame = table.rows.select(list(dict.fromkeys(filter(None, names)))).collected()
    judgements = _read_labels(table, frame, layout)
    golds = pl.Series("gold", [None] * frame.height, dtype=pl.String)
    if layout.gold:
        missing = (*_NO_LABEL, "-1") if "-1" not in judgements["label"] else _NO_LABEL
        golds = clean_gold(frame[layout.gold], missing=missing)
    judgements, golds = _name_labels(table, judgements, golds)
    sentence = clean_text(frame[layout.sentence]) if layout.sentence else golds
    rows = pl.DataFrame({"gold": golds, "sentence": sentence})
    if not layout.item or not layout.annotator:
        return judgements, rows, None
    with errors_in(table):
        keys = answer_keys(frame, layout.item, layout.annotator)
    return _group_by_item(table, pl.concat([keys, rows], how="horizontal"), labels=judgements, marks=marks)


def _read_labels(table: FileTable, frame: pl.DataFrame, layout: _RatingLayout) -> pl.DataFrame:
    """One row per label as written (``_SCHEMA``); if each column is a person, its name is the annotator."""
    if not layout.labels:
        return pl.DataFrame(schema=_SCHEMA)
    alone, parts = len(layout.labels) == 1, list[pl.DataFrame]()
    for name in layout.labels:
        column = frame[name]
        if column.dtype.is_nested() and not (alone and isinstance(column.dtype, pl.List)):
            raise FileError(table.path, f"column {name!r} holds lists; it alone can be given as --labels {name}")
        if isinstance(column.dtype, pl.List):
            column = column.cast(pl.List(pl.String))
        else:
            column = split_lists(clean_text(column), ",") if alone and not layout.item else clean_text(column)
        person = pl.lit(name if layout.people and not alone else None, pl.String)
        parts.append(pl.DataFrame({"row": np.arange(frame.height), "label": column}).with_columns(annotator=person))
    if isinstance(parts[0].schema["label"], pl.List):
        parts = [part.explode("label", empty_as_null=False, keep_nulls=False) for part in parts]
    written = pl.col("label").str.strip_chars()
    labels = pl.concat(parts).with_columns(
        label=pl.when(~written.is_in(_NO_LABEL)).then(written), categories=pl.lit(None, _SCHEMA["categories"])
    )
    # With one unnamed annotator per row, a missing label means that the row was left unanswered.
    one_person = layout.people and alone and not layout.item
    labels = labels if one_person else labels.drop_nulls("label")
    return labels.select(list(_SCHEMA)).sort("row", maintain_order=True)


def _name_labels(table: FileTable, judgements: pl.DataFrame, golds: pl.Series) -> tuple[pl.DataFrame, pl.Series]:
    """Labels and gold by their standard NLI names if one of these occurs, otherwise as written.

    The gold ``any``, as in a file of ``--ask``, says that there is none yet.
    """
    written = {*judgements["label"].drop_nulls().unique(), *golds.drop_nulls().unique()}
    if not any(text.lower() in LABELS for text in written):
        return judgements, golds
    names = {text: name for text in written if (name := gold_name(text))}
    if len(names) < len(written):
        gold_rows = pl.DataFrame({"row": np.arange(len(golds)), "label": golds})
        labels = pl.concat([judgements.select("row", "label"), gold_rows]).drop_nulls("label")
        row, label = labels.filter(~pl.col("label").is_in(list(names))).sort("row").row(0)
        raise row_error(table, row, f"label {label!r} is not entailment, neutral or contradiction; correct it")
    return (
        judgements.with_columns(pl.col("label").replace_strict(names, default=None, return_dtype=pl.String)),
        golds.replace_strict({**names, ANY: None}, default=None, return_dtype=pl.String),
    )


def _group_by_item(
    table: FileTable, rows: pl.DataFrame, *, labels: pl.DataFrame, marks: pl.Series | None
) -> tuple[pl.DataFrame, pl.DataFrame, Attendance | None]:
    """Group the rows, one per judgement, by item, without attention checks and excluded people.

    ``rows`` has item, annotator, gold and sentence of each row of the file, ``labels`` the rows with a label.
    """
    categories = pl.lit(None, _SCHEMA["categories"]) if marks is None else marks
    judged = rows.with_columns(place=pl.int_range(pl.len(), dtype=pl.Int64), categories=categories)
    counts, attendance = _read_attendance(table, rows["annotator"])
    judged = judged.join(labels.select("label", place="row"), on="place", how="left", maintain_order="left")
    judged = judged if counts is None else judged.filter(counts)
    by_item = judged.group_by("item", maintain_order=True)
    golds = by_item.agg(pl.col("gold").drop_nulls().unique(maintain_order=True))
    for name, several in golds.filter(pl.col("gold").list.len() > 1).head(1).iter_rows():
        values = " and ".join(map(repr, several[:2]))
        raise FileError(table.path, f"item {name!r} has the gold {values}; an item has one, in all its rows")
    items = by_item.agg(pl.col("gold", "sentence").drop_nulls().first())
    numbers = items.select("item", row=pl.int_range(pl.len(), dtype=pl.Int64))
    judgements = judged.join(numbers, on="item", how="left", maintain_order="left")
    return judgements.select(list(_SCHEMA)), items.select("gold", "sentence"), attendance


def _read_attendance(table: FileTable, annotators: pl.Series) -> tuple[pl.Series | None, Attendance | None]:
    """Which rows count, and a summary of the people; both None if the file has no columns about participation."""
    names = {name.strip().lower(): name for name in table.columns}
    columns = {name: names[name] for name in (*PARTICIPATION_COLUMNS, "role") if name in names}
    if not columns:
        return None, None
    with errors_in(table):
        return counted_rows(annotators, table.frame.select(pl.col(name).alias(key) for key, name in columns.items()))
