"""Files in which several people have labelled each row: what they said, and what was made gold of it.

Three forms are recognised: a column ``annotator_labels`` that holds lists (SNLI, MultiNLI, Breaking NLI, LingNLI), a
column for each person (``label1`` … ``label5`` in the tab-separated files of SNLI and MultiNLI), and a row for each
judgement (item, annotator, label, or categories as in ``marks``). An empty cell, or ``-``, is no label. TaxiNLI's file
has one person's label of each row (``annotated_label``): nothing to agree on, but right or wrong.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.annotate.answers import GOLD as CARRIED_GOLD
from acidtest.annotate.answers import listed, text
from acidtest.annotate.conditions import choice
from acidtest.annotate.judgement_tables import SAID_COLUMNS, by_item, carried_columns, row_error
from acidtest.annotate.known_corpora import OWN, TAXINLI, published_corpus
from acidtest.annotate.marks import LISTS as MARKS
from acidtest.annotate.marks import category_columns, marked_categories, possible_categories, truth_columns
from acidtest.annotate.outcomes import Judgements
from acidtest.core.digests import combined, digests
from acidtest.core.draws import key
from acidtest.core.errors import AcidtestError, FileError, UnknownNameError, some
from acidtest.core.labels import LABELS, gold_name
from acidtest.core.ratings import MAJORITY, Attendance, Ratings, label_counts, majority_labels, ordered_labels
from acidtest.io.tables import Table, read_table
from acidtest.text.heuristics import HANS, HANS_FACTORS, is_hans
from acidtest.text.taxonomy import is_taxinli

LISTS = ("annotator_labels",)
ITEMS = ("item", "item_id", "id", "pairid", "pair_id", "uid")
PEOPLE = ("annotator", "annotator_id", "worker", "worker_id", "workerid", "rater", "coder")
SAID = (OWN, "label", "annotator_label", "rating", "annotation", "answer")
GOLD = (*CARRIED_GOLD, "label")
LABEL_COLUMNS = (*LISTS, *SAID, *(f"label{number}" for number in range(1, 6)))
"""Columns that are taken for labels of people, in files of their judgements or as corpora have them."""
SENTENCES = ("premise", "sentence1", "prem", "context", "sentence_a")
"""Columns that rows of one source sentence have in common, the likeliest first."""

_NUMBERED = re.compile(r"(?:label|annotator|annotation|rater|worker|coder|judge)[_ -]?\d+(?:_?label)?")
_PERSON = re.compile(r"(?!label)")
"""SNLI's label1 to label5 are of whoever came: its columns are no people."""
_NO_LABEL = ("", "-")
_NO_GOLD = "-1"
_VOTED = {"votes", "undecided"}
"""Columns of what a questionnaire makes of answers, where ``label`` is the vote of a row's own people."""
_MOST_NAMED = 3
"""More columns of categories than this are told in a signature by their digest."""


@dataclass(frozen=True)
class _Form:
    """Which columns hold what; item and annotator where every judgement has a row of its own."""

    labels: tuple[str, ...]
    categories: tuple[str, ...] = ()
    gold: str | None = None
    sentence: str | None = None
    item: str | None = None
    annotator: str | None = None
    people: bool = False
    """Whether the columns of labels are people."""

    @property
    def columns(self) -> list[str]:
        """All of them, each once."""
        others = (self.gold, self.sentence, self.item, self.annotator)
        return list(dict.fromkeys([*self.labels, *(name for name in others if name)]))

    @property
    def alone(self) -> bool:
        """Whether there is one person's label of each row, and nobody knows whose."""
        return self.people and len(self.labels) == 1 and not self.item

    @property
    def told(self) -> str:
        """What a signature says of it."""
        named = ",".join(self.categories)
        if len(self.categories) > _MOST_NAMED:
            digest = blake2b(named.encode(), digest_size=3).hexdigest()
            named = f"{len(self.categories)} columns:{digest}"
        marks = f"|categories:{named}" if self.categories else ""
        return f"labels:{','.join(self.labels)}{marks}|gold:{self.gold or MAJORITY}|groups:{self.sentence or 'rows'}"


def read_ratings(
    path: str | Path, *, labels: Sequence[str] = (), gold: str | None = None, categories: Sequence[str] = ()
) -> Ratings:
    """The labels or categories that people gave the rows of a file, with their gold.

    ``labels`` names the columns that hold labels, ``categories`` those that hold categories, and ``gold`` the one that
    holds gold, where they are not recognised. Without gold it is the majority of a row's labels. Where a label of NLI
    occurs all must be such, in any spelling; otherwise labels are taken as they are written.
    """
    table = read_table(path)
    if not table.rows.height:
        raise FileError(path, "has no rows, so nobody has labelled anything; copy or write it again")
    form = _form(table, labels, gold, categories)
    frame = table.rows.select(form.columns).collected()
    said = _said(table, frame, form)
    golds = _golds(frame, form, said["label"])
    said, golds = _named(table, said, golds)
    marks, marked = marked_categories(table, form.categories) if form.categories else (None, ())
    rows = pl.DataFrame({"gold": golds, "sentence": golds})
    if form.sentence:
        rows = rows.with_columns(text(frame[form.sentence]).alias("sentence"))
    attendance = None
    if form.item and form.annotator:
        judged = by_item(table, form.item, form.annotator, rows=rows, labels=said, marks=marks)
        said, rows, attendance = judged.said, judged.rows, judged.attendance
    voted = form.gold is None or (form.gold == "label" and set(table.columns) >= _VOTED and OWN not in table.columns)
    given = ordered_labels(said["label"].drop_nulls().unique().to_list())
    if not given and not marked:
        raise FileError(path, _nobody(form))
    counts = label_counts(said.drop_nulls("label"), given, rows=rows.height)
    return Ratings(
        name=table.path.name,
        labels=tuple(given),
        counts=counts,
        gold=rows["gold"] if form.gold else majority_labels(counts, given),
        gold_from=MAJORITY if voted else form.gold or "",
        groups=_group_codes(rows["sentence"]) if form.sentence else None,
        corpus=published_corpus(table, rows["gold"], marked),
        signature=f"agreement|{form.told}|n:{rows.height}|h:{table.fingerprint[:6]}",
        said=said if form.people or form.annotator else None,
        categories=marked,
        reference=rows["gold"] if form.gold else None,
        reference_from=form.gold or "",
        attendance=attendance,
    )


def judged_ratings(judged: Judgements, *, gold: str | None = None, attendance: Attendance | None = None) -> Ratings:
    """The labels and categories that a questionnaire makes of answers, for the items that it does not discard.

    ``gold`` names a column of the answers with the gold to compare them with, where it is not what the questionnaire
    makes of the labels. Inference accuracy is by it, or else by a column called gold or gold_label.
    """
    asked, marked = judged.questionnaire, possible_categories(judged.questionnaire)
    labels = asked.labels
    if not labels and not marked:
        raise AcidtestError(f"questionnaire {asked.name!r} gives neither labels nor categories: nothing to agree on")
    if gold is not None and not labels:
        raise AcidtestError(f"--gold {gold}: questionnaire {asked.name!r} gives no labels that could be gold")
    kept = judged.items.filter(pl.col("discarded").is_null())
    if not kept.height:
        raise AcidtestError(f"{judged.name}: all {judged.items.height:,} items are discarded; no labels are left")
    if gold is not None and gold not in judged.known:
        raise UnknownNameError(
            "column", gold, judged.known, f" (--gold; the same in all rows of an item, {judged.name})"
        )
    sentence = _sentence(kept)
    sentences = text(kept[sentence]) if sentence else None
    beside, reference = carried_gold(judged, kept, gold)
    none = pl.Series("gold", [None] * kept.height, dtype=pl.String)
    golds = reference if gold and reference is not None else kept["label"] if labels else none
    known = digests(kept["item"], *(each for each in (golds, reference, sentences) if each is not None))
    digest = f"{key(judged.fingerprint, combined(known)):016x}"
    hans = "heuristic" in kept.columns and is_hans(kept["heuristic"].cast(pl.String))
    told = f"questionnaire:{asked.name}|gold:{gold or asked.aggregation.label}|groups:{sentence or 'rows'}"
    return Ratings(
        name=judged.name,
        labels=labels,
        counts=judged.counts(kept) if labels else np.zeros((kept.height, 0), dtype=np.int64),
        gold=golds.alias("gold"),
        gold_from=gold or asked.aggregation.label,
        groups=sentence_groups(kept),
        # The paper's pairs are of all labels; where nobody was asked for one, all pairs are known to be neutral.
        corpus=TAXINLI if is_taxinli(marked) and labels else HANS if hans else "",
        signature=f"agreement|{told}|n:{kept.height}|h:{digest[:6]}",
        said=_people(judged, kept),
        categories=marked,
        reference=reference,
        reference_from=beside,
        attendance=attendance,
        unasked=kept.filter(pl.col("label").is_null() & pl.col("undecided").is_null()).height if labels else 0,
        factors=kept.select(HANS_FACTORS) if hans else None,
    )


def sentence_groups(items: pl.DataFrame) -> npt.NDArray[np.int64] | None:
    """A code for the source sentence of each item; None where there is none, so that each is its own group."""
    sentence = _sentence(items)
    return _group_codes(text(items[sentence])) if sentence else None


def _sentence(items: pl.DataFrame) -> str | None:
    return next((each for each in items.columns if each.lower() in SENTENCES), None)


def carried_gold(judged: Judgements, kept: pl.DataFrame, gold: str | None) -> tuple[str, pl.Series | None]:
    """The column with gold that came along in the answers, and what it holds; nothing where it is of other labels."""
    labels = judged.questionnaire.labels
    if gold is not None:
        return gold, _known_golds(judged.name, kept, gold, labels=labels)
    column = next((each for each in judged.known if each.lower() in CARRIED_GOLD), None)
    if not labels or column is None:
        return "", None
    try:
        return column, _known_golds(judged.name, kept, column, labels=labels)
    except AcidtestError:
        return "", None


def _people(judged: Judgements, kept: pl.DataFrame) -> pl.DataFrame:
    """What each person's answers come to, of the items that are kept, without those who would discard them."""
    numbers = kept.select("item", row=pl.int_range(pl.len(), dtype=pl.Int64))
    own = judged.outcomes.filter(pl.col("discard").is_null())
    return own.join(numbers, on="item", how="inner", maintain_order="left").select(
        "row", "annotator", "label", "categories"
    )


def _form(table: Table, labels: Sequence[str], gold: str | None, categories: Sequence[str]) -> _Form:
    named = tuple(dict.fromkeys(_column(table, name, "--labels") for name in labels))
    marks = tuple(dict.fromkeys(_column(table, name, "--categories") for name in categories))
    carried = frozenset[str]() if named or marks else _carried(table)
    columns, item, annotator, people = _label_columns(table, named, marks, carried)
    own_gold = _column(table, gold, "--gold") if gold else _found(table, GOLD, but=columns)
    if own_gold in columns:
        raise FileError(table.path, f"column {own_gold!r} cannot hold both the labels of people and gold")
    sentence = _found(table, SENTENCES, but=(*columns, own_gold))
    if item and annotator:
        taken = (*columns, item, annotator, own_gold, sentence)
        marks = category_columns(table, marks, taken=taken, carried=carried, item=item if columns else "")
    return _Form(columns, marks, own_gold, sentence, item, annotator, people)


def _carried(table: Table) -> frozenset[str]:
    """What came along with the items, of the columns of a file that has a row for each person and item."""
    item, annotator = _found(table, ITEMS), _found(table, PEOPLE)
    if not item or not annotator:
        return frozenset()
    return carried_columns(table, item, annotator, but=[MARKS, *truth_columns(table)])


def _label_columns(
    table: Table, named: tuple[str, ...], marks: tuple[str, ...], carried: frozenset[str]
) -> tuple[tuple[str, ...], str | None, str | None, bool]:
    """The columns that hold labels, those of items and people where every label has its row, and whether it is known
    who gave which."""
    if len(named) > 1 and not marks:
        return named, None, None, True
    lists = named[0] if named else _found(table, LISTS, but=[*carried])
    if lists and _holds_lists(table, lists) and not marks:
        return (lists,), None, None, False
    own = [name for name in table.columns if name not in carried]
    numbered = () if named or marks else tuple(name for name in own if _NUMBERED.fullmatch(name.lower()))
    if len(numbered) > 1:
        return numbered, None, None, all(_PERSON.match(name.lower()) for name in numbered)
    said = named[0] if named else _found(table, SAID, but=(*marks, *carried))
    item, annotator = _found(table, ITEMS, but=(said, *marks)), _found(table, PEOPLE, but=(said, *marks))
    if item and annotator and (said or category_columns(table, marks, taken=(item, annotator), carried=carried)):
        return (said,) if said else (), item, annotator, True
    if said and said.lower() == OWN and not marks:
        return (said,), None, None, True
    raise _unrecognised(table, named, marks, [name for name in table.columns if name in carried])


def _unrecognised(table: Table, named: Sequence[str], marks: Sequence[str], carried: Sequence[str]) -> FileError:
    if marks:
        problem = "categories (--categories) need a row for each person and item, with columns item and annotator"
    elif named:
        problem = (
            f"column {named[0]!r} holds one label a row, and there are no columns item and annotator; "
            f"name a column for each person: --labels {named[0]},COLUMN"
        )
    elif along := [name for name in carried if name.strip().lower() in LABEL_COLUMNS]:
        problem = (
            f"column {along[0]!r} says the same in all rows of each item, so it came along with the items, and what "
            "people answered stands elsewhere; say what was asked with --questionnaire NAME, or, if these are people's "
            f"labels all the same, --labels {along[0]}"
        )
    else:
        problem = (
            f"none of the columns ({some(table.columns, 30)}) is known to hold labels of several people "
            "(annotator_labels; label1, label2 …; or item, annotator and label or categories); name a column for each "
            "person with --labels COLUMN,COLUMN"
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
    """A row for each label as it is written: row of the file, label, and the column where that is a person."""
    if not form.labels:
        return pl.DataFrame(schema=SAID_COLUMNS)
    columns = list[pl.Series]()
    for name in form.labels:
        column = frame[name]
        if isinstance(column.dtype, pl.List) and len(form.labels) == 1:
            columns.append(column.cast(pl.List(pl.String)))
        elif column.dtype.is_nested():
            raise FileError(table.path, f"column {name!r} holds lists; it alone can be given as --labels {name}")
        elif len(form.labels) == 1 and not form.item:
            columns.append(listed(text(column), ","))
        else:
            columns.append(text(column))
    rows = np.arange(frame.height)
    people = form.labels if form.people and len(form.labels) > 1 else [None] * len(columns)
    parts = [
        pl.DataFrame({"row": rows, "label": column}).with_columns(annotator=pl.lit(person, pl.String))
        for person, column in zip(people, columns, strict=True)
    ]
    if isinstance(columns[0].dtype, pl.List):
        parts = [part.explode("label", empty_as_null=False, keep_nulls=False) for part in parts]
    written = pl.col("label").str.strip_chars()
    said = pl.concat(parts).with_columns(
        label=pl.when(~written.is_in(_NO_LABEL)).then(written), categories=pl.lit(None, SAID_COLUMNS["categories"])
    )
    # Whoever annotated a row on its own and gave no label did not answer.
    told = said if form.alone else said.drop_nulls("label")
    return told.select(list(SAID_COLUMNS)).sort("row", maintain_order=True)


def _golds(frame: pl.DataFrame, form: _Form, labels: pl.Series) -> pl.Series:
    """Gold as it is written, null where there is none."""
    if form.gold is None:
        return pl.Series("gold", [None] * frame.height, dtype=pl.String)
    none = [*_NO_LABEL, *([_NO_GOLD] if _NO_GOLD not in labels else [])]
    written = text(frame[form.gold])
    return written.set(written.is_in(none), None).alias("gold")


def _known_golds(name: str, items: pl.DataFrame, column: str, *, labels: Sequence[str]) -> pl.Series:
    """Gold that stands beside answers, spelt as the labels are."""
    golds = _golds(items, _Form((), gold=column), pl.Series(labels))
    meanings = {each: each if each in labels else gold_name(each) for each in golds.drop_nulls().unique()}
    for written, meaning in meanings.items():
        if meaning is None:
            raise AcidtestError(f"{name}: gold {written!r} (--gold {column}) is not {choice(labels)}; correct it")
    return golds.replace_strict(meanings, default=None, return_dtype=pl.String)


def _named(table: Table, said: pl.DataFrame, golds: pl.Series) -> tuple[pl.DataFrame, pl.Series]:
    """Labels and gold by NLI's names where one of them occurs, else as they are written."""
    written = {*said["label"].drop_nulls().unique(), *golds.drop_nulls().unique()}
    if not any(text.lower() in LABELS for text in written):
        return said, golds
    meanings = {text: gold_name(text) for text in written}
    known = {text: name for text, name in meanings.items() if name}
    if len(known) < len(written):
        columns = pl.concat([said.select("row", "label"), pl.DataFrame({"row": np.arange(len(golds)), "label": golds})])
        unknown = columns.filter(pl.col("label").is_not_null() & ~pl.col("label").is_in(list(known))).sort("row")
        row, label = unknown.row(0)
        raise row_error(table, row, f"label {label!r} is not entailment, neutral or contradiction; correct it")
    return (
        said.with_columns(pl.col("label").replace_strict(known, default=None, return_dtype=pl.String)),
        golds.replace_strict(known, default=None, return_dtype=pl.String),
    )


def _nobody(form: _Form) -> str:
    if not form.labels:
        return f"nobody marked a category: there are none in {some(form.categories)}; name others with --categories"
    return f"nobody gave a label: there are none in {some(form.labels)}; name others with --labels"


def _group_codes(column: pl.Series) -> npt.NDArray[np.int64]:
    """A number for each different text; every row without one has its own."""
    own = pl.int_range(len(column), eager=True) + len(column) + 1
    codes = pl.select(pl.coalesce(column.rank("dense").cast(pl.Int64), own)).to_series()
    return np.asarray(codes.to_numpy(), dtype=np.int64)
