"""Files of predictions: labels, probabilities in columns, lists or objects, or one support score per row.

A cell that is empty or holds ``unanswered``, ``abstain`` and the like is a row without an answer. The order of labels
in lists is given by the user, or read from a column beside them that names the likeliest label; it is never guessed.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.errors import AcidtestError, FileError, UnknownNameError, list_some
from acidtest.core.labels import LABELS, TWO_WAY_LABELS, gold_name, one_hot
from acidtest.core.logs import log, note
from acidtest.core.model import Resolution
from acidtest.core.structured import MOST_INTEGER, parse_json
from acidtest.io.layouts import LAYOUTS
from acidtest.io.tables import FileTable, flatten, is_opaque

Values = npt.NDArray[np.float32]

ID_COLUMNS = ("id", "pairid", "pair_id", "source_id", "uid", "row_id", "sample_id", "index", "idx")
PREDICTION_COLUMNS = ("prediction", "predicted", "predicted_label", "pred_label", "pred", "answer")
PROBABILITY_COLUMNS = ("{}", "p_{}", "prob_{}", "{}_prob", "{}_probability")
LABEL_COLUMNS = ("gold_label", "label")
"""Columns of predictions in HANS's layout; used only when no other column holds labels."""
SUPPORT_COLUMNS = (
    *("support", "support_score", "support_prob", "p_support", "p_supported", "prob_supported", "supported_prob"),
    *("score", "entailment", "p_entailment", "prob_entailment", "entailment_prob", "entailment_probability"),
)
"""Columns with the probability that the premise supports the hypothesis, if no other column holds predictions."""

_COLUMNS_OF_ROLES: Mapping[str, Collection[str]] = {
    "id": ID_COLUMNS,
    "label": (*PREDICTION_COLUMNS, *LABEL_COLUMNS, *SUPPORT_COLUMNS),
    **{label: tuple(pattern.format(label) for pattern in PROBABILITY_COLUMNS) for label in LABELS},
    "premise": {layout.premise for layout in LAYOUTS},
    "hypothesis": {layout.hypothesis for layout in LAYOUTS},
}
"""The names, in lower case, of columns that may be read."""

UNANSWERED = "unanswered"
ALLOWED = (*LABELS, "non-entailment", UNANSWERED)
NO_ANSWER = frozenset(
    {"", "-", UNANSWERED, "abstain", "abstained", "abstention", "no answer", "no_answer", "none", "null", "n/a", "nan"}
)
"""Values, in lower case, for a row without an answer."""

ROLES = ("id", "label", *LABELS)
PREDICTED_LABEL = "PredLabel"
"""Suffix, in ANLI's annotated files, of the column that names the likeliest label of a column of lists."""

_TOLERANCE = 1e-3
_WHOLE_NUMBER = r"[+-]?\d+"
_LABEL, _SCORE = "label", "score"
"""The keys of an object with one label and its probability, as pipelines of Hugging Face return them."""
_LIST = re.compile(r"\s*[\[(](.*)[\])]\s*", re.DOTALL)
_EXAMPLE = "--order entailment,neutral,contradiction"


@dataclass(frozen=True)
class PredictionOptions:
    """What the user says about a file of predictions.

    ``columns`` maps id, label or the three labels to columns, ``label_map`` the file's labels to ours; ``order`` is
    the label of each number in a list of three.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    label_map: Mapping[str, str] = field(default_factory=dict)
    order: tuple[str, ...] = ()


@dataclass(frozen=True)
class Predictions:
    """The rows of a file: ids, None where it has none, and probabilities, NaN where there is no answer."""

    values: Values
    probabilities: bool
    resolution: Resolution
    meanings: Mapping[str, str]
    """The label that each column, number of a list or spelling stands for, and thus what the user would say anew."""
    option: Literal["--columns", "--order", "--label-map"] = "--label-map"
    """The option that says it otherwise."""
    ids: list[str | None] = field(default_factory=list)
    id_column: str | None = None
    """The column that holds the ids; None where there is none."""

    def remedy(self, exchange: Mapping[str, str]) -> str:
        """The option that exchanges labels, declared to meant; empty for support scores, whose order is in the file."""
        meant = {name: exchange.get(label, label) for name, label in self.meanings.items()}
        if not meant:
            return ""
        if self.option == "--order":
            return f"--order {','.join(meant.values())}"
        pairs = [(label, name) if self.option == "--columns" else (name, label) for name, label in meant.items()]
        return f"{self.option} {shlex.quote(','.join(map('='.join, pairs)))}"


def parse_order(text: str) -> tuple[str, ...]:
    """The labels in ``entailment,neutral,contradiction`` or ``e,n,c``; none in an empty text."""
    parts = [part.strip() for part in text.split(",")] if text else []
    order = tuple(gold_name(part) or part for part in parts)
    if parts and sorted(order) != sorted(LABELS):
        raise AcidtestError(f"--order {text!r} does not name each label once; write it like {_EXAMPLE}, or e,n,c")
    return order


@dataclass(frozen=True)
class PredictionFacts:
    """What the metadata of a run's predictions.parquet says about its model."""

    probabilities: bool = True
    resolution: Resolution = "three-way"


def read_predictions(table: FileTable, options: PredictionOptions, *, has_pairs: bool) -> Predictions:
    """The predictions in a table; ``has_pairs``: it has premises and hypotheses, hence perhaps gold as well."""
    chosen = options.columns
    for role, name in chosen.items():
        if role not in ROLES:
            raise UnknownNameError("column of predictions", role, ROLES, " (--columns)")
        if name not in table.frame.columns:
            raise FileError(table.path, str(UnknownNameError("column", name, table.frame.columns, " (--columns)")))
    names = {name.lower(): name for name in reversed(table.frame.columns)}
    id_column = chosen.get("id") or next((names[name] for name in ID_COLUMNS if name in names), None)
    ids = column_text(table, id_column, "id").to_list() if id_column else [None] * table.frame.height
    return replace(_read_values(table, options, names, has_pairs=has_pairs), ids=ids, id_column=id_column)


def column_text(table: FileTable, name: str, role: str) -> pl.Series:
    """The cells of a column of texts or numbers as text; lists, objects and the like raise an error."""
    cells = table.frame[name]
    if cells.dtype.is_nested():
        raise _type_error(table, name, role)
    return cells.cast(pl.String)


def drop_opaque_columns(table: FileTable, chosen: Mapping[str, str]) -> FileTable:
    """The table without columns of bytes and durations; one that would be read raises an error."""
    opaque = [name for name, dtype in table.rows.schema.items() if is_opaque(dtype)]
    roles = {column: role for role, column in chosen.items()}
    for name in opaque:
        role = roles.get(name) or next((role for role, names in _COLUMNS_OF_ROLES.items() if name.lower() in names), "")
        if role:
            raise _type_error(table, name, role)
    kept = [name for name in table.rows.schema if name not in opaque]
    return replace(table, rows=table.rows.select(kept)) if opaque else table


def _type_error(table: FileTable, name: str, role: str) -> FileError:
    kind = str(table.rows.schema[name]).partition("(")[0]
    problem = f"column {name!r} holds {kind} values, but text or numbers were expected; write it as text"
    other = f", or name another column with --columns {role}=NAME" if role in ROLES else ""
    return FileError(table.file(name), problem + other)


def _read_values(
    table: FileTable, options: PredictionOptions, names: Mapping[str, str], *, has_pairs: bool
) -> Predictions:
    chosen = options.columns
    triples = [[names.get(pattern.format(label)) for label in LABELS] for pattern in PROBABILITY_COLUMNS]
    if any(label in chosen for label in LABELS):
        triples = [[chosen.get(label) for label in LABELS]]
    columns = next(([str(name) for name in triple] for triple in triples if all(triple)), None)
    if columns and "label" not in chosen:
        # In the predictions of a run, neutral may mean non-entailment.
        facts = parse_json(table.metadata.get("acidtest", "{}").encode(), table.path, PredictionFacts)
        values = _read_probabilities(table, columns)
        labels_of_columns = LABELS if facts.resolution == "three-way" else TWO_WAY_LABELS
        columns_read = dict(zip(columns, labels_of_columns, strict=False))
        return Predictions(values, facts.probabilities, facts.resolution, columns_read, "--columns")
    if "label" not in chosen and set(chosen) & set(LABELS) == {LABELS[0]}:
        return _read_support(table, chosen[LABELS[0]])
    column = chosen.get("label") or _prediction_column(table, names, has_pairs=has_pairs)
    if (objects := _read_objects(table, column)) is not None:
        return _values_of_objects(table, column, objects, options)
    lists = _read_lists(table, column)
    if lists is not None:
        order = _find_order(table, column, lists, options)
        values = lists[:, [order.index(label) for label in LABELS]]
        empty = np.asarray(np.isnan(values).all(axis=1), dtype=np.bool_)
        values = _check_probabilities(table, values, [column], empty=empty)
        return Predictions(values, True, "three-way", dict(zip("012", order, strict=True)), "--order")
    if options.order:
        raise FileError(table.path, f"column {column!r} holds labels, not lists of three numbers; leave --order out")
    if _holds_numbers(table, column) and not set(table.frame[column].cast(pl.String)) & set(options.label_map):
        return _read_support(table, column)
    meanings = _label_meanings(table, column, options.label_map)
    return _values_of_labels([meanings[spelling] for spelling in _label_texts(table, column)], meanings)


def _values_of_labels(labels: Sequence[str], meanings: Mapping[str, str]) -> Predictions:
    """Rows of 0 and 1 for labels, some of which may be ``unanswered``."""
    resolution: Resolution = "two-way" if "non-entailment" in labels else "three-way"
    values = one_hot([LABELS[0] if label == UNANSWERED else label for label in labels])
    values[[label == UNANSWERED for label in labels]] = np.nan
    named = {spelling: label for spelling, label in meanings.items() if label != UNANSWERED}
    return Predictions(values, False, resolution, named)


def _prediction_column(table: FileTable, names: Mapping[str, str], *, has_pairs: bool) -> str:
    """The column of predictions; an error when several columns could be it."""
    predicted = [name for name in table.frame.columns if _holds_objects(table, name)]
    predicted = predicted or [names[name] for name in PREDICTION_COLUMNS if name in names]
    labelled = [] if predicted else _label_columns(table, names)
    scores = [] if predicted else _score_columns(table, names)
    if labelled and scores and not has_pairs and _are_of_likeliest(table, scores):
        # A pipeline of Hugging Face names the likeliest label, and its probability beside it.
        scores = []
    likely = list(dict.fromkeys([*predicted, *labelled, *scores]))
    if not likely:
        wanted = (*PREDICTION_COLUMNS, *LABEL_COLUMNS, "score")
        raise missing_column(table, "label column, nor one per label's probability", "label", wanted)
    if len(likely) > 1:
        both = " and ".join(map(repr, likely))
        raise FileError(table.path, f"{both} could all hold the predictions; say which with --columns label=NAME")
    if labelled and {"premise", "sentence1"} & set(names):
        log.warning("%s: column %r is taken for the predictions; is it the gold?", table.path, likely[0])
    return likely[0]


def _label_columns(table: FileTable, names: Mapping[str, str]) -> list[str]:
    """The columns called label or gold_label, and if there is one, all others that hold only labels."""
    likely = [names[name] for name in LABEL_COLUMNS if name in names]
    texts = table.frame.select(pl.col(pl.String)).to_dict() if likely else {}
    others = [
        name
        for name, values in texts.items()
        if all(value and gold_name(value) in ALLOWED for value in values.unique())
    ]
    return list(dict.fromkeys([*likely, *others]))


def _score_columns(table: FileTable, names: Mapping[str, str]) -> list[str]:
    """The columns whose names and numbers are those of support scores."""
    has_others = any(pattern.format(label) in names for pattern in PROBABILITY_COLUMNS for label in LABELS[1:])
    known = [name for name in SUPPORT_COLUMNS if not (has_others and LABELS[0] in name)]
    return [names[name] for name in known if name in names and _holds_numbers(table, names[name])]


def _are_of_likeliest(table: FileTable, scores: Sequence[str]) -> bool:
    """Whether no score is too low to be the probability of the likeliest of three labels."""
    lowest = table.frame.select(pl.col(name).cast(pl.Float64, strict=False).min() for name in scores).row(0)
    return all(value is None or value >= 1 / len(LABELS) for value in lowest)


def missing_column(table: FileTable, what: str, role: str, wanted: Sequence[str], advice: str = "") -> FileError:
    """An error that names the columns of a file and those that were expected; ``advice`` is another way out."""
    return FileError(
        table.path,
        f"has no {what}; it has {', '.join(table.frame.columns)}, and one of {', '.join(wanted)} was expected: "
        f"name it with acidtest score … --columns {role}=NAME{advice}",
    )


def _label_texts(table: FileTable, column: str) -> pl.Series:
    return table.frame[column].cast(pl.String).fill_null("")


def _label_meanings(table: FileTable, column: str, label_map: Mapping[str, str]) -> dict[str, str]:
    """The label that each spelling in a column stands for; ``unanswered`` if it stands for no prediction."""
    label_map = {spelling: gold_name(target) or target for spelling, target in label_map.items()}
    for target in label_map.values():
        if target not in ALLOWED:
            raise UnknownNameError("label", target, ALLOWED, " (--label-map)")
    spellings = _label_texts(table, column)
    meanings = {
        spelling: label_map.get(spelling)
        or label_map.get(gold_name(spelling) or "")
        or (UNANSWERED if spelling.strip().lower() in NO_ANSWER else gold_name(spelling))
        for spelling in spellings.unique(maintain_order=True)
    }
    unknown = ~spellings.is_in([spelling for spelling, name in meanings.items() if name in ALLOWED])
    if unknown.any():
        row = int(unknown.arg_max() or 0)
        raise FileError(
            table.path,
            f"label {spellings[row]!r} is not {', '.join(ALLOWED)}; say what it means with "
            f"acidtest score … --label-map '{spellings[row]}=NAME', where NAME is one of these",
            table.line(row),
        )
    if set(meanings.values()) == {UNANSWERED}:
        shown = list_some(sorted(map(repr, meanings)))
        problem = f"column {column!r} has no answer in any row: it holds {shown} only"
        raise FileError(table.path, f"{problem}; name another with --columns label=NAME")
    return {spelling: str(label) for spelling, label in meanings.items()}


def _read_probabilities(table: FileTable, columns: Sequence[str]) -> Values:
    texts = pl.DataFrame([column_text(table, name, label) for name, label in zip(columns, LABELS, strict=True)])
    cells = texts.select(pl.all().fill_null("").str.strip_chars())
    numbers = table.frame.select(pl.col(name).cast(pl.Float32, strict=False) for name in columns)
    values = numbers.to_numpy().astype(np.float32)
    empty = cells.select(pl.all_horizontal(pl.all().str.to_lowercase().is_in(list(NO_ANSWER)))).to_series()
    values[empty.to_numpy()] = np.nan
    return _check_probabilities(table, values, columns, empty=empty.to_numpy())


def _holds_numbers(table: FileTable, column: str) -> bool:
    """Whether all cells with an answer are numbers, and not all of them whole, which may be numbers of classes."""
    cells = table.frame[column]
    if cells.dtype.is_nested() or cells.dtype.is_integer() or cells.dtype == pl.Boolean:
        return False
    texts = cells.cast(pl.String).str.strip_chars().drop_nulls()
    texts = texts.filter(~texts.str.to_lowercase().is_in(list(NO_ANSWER)))
    is_number = texts.cast(pl.Float64, strict=False).is_not_null().all()
    return bool(len(texts) and is_number and not texts.str.contains(f"^{_WHOLE_NUMBER}$").all())


def _read_support(table: FileTable, column: str) -> Predictions:
    """Two-way rows from a column of support scores; scores that are all 0 or 1 are no more than labels."""
    if not _holds_numbers(table, column):
        problem = f"column {column!r} does not hold support scores: numbers between 0.0 and 1.0"
        advice = "whole numbers need --label-map, such as 1=entailment,0=non-entailment"
        raise FileError(table.path, f"{problem}; {advice}")
    support = table.frame[column].cast(pl.String).str.strip_chars().cast(pl.Float32, strict=False).to_numpy()
    support = np.array(support, dtype=np.float32)
    outside = np.flatnonzero((support < 0) | (support > 1))
    if outside.size:
        row = int(outside[0])
        problem = (
            f"{column} is {table.frame[column][row]}; one number for each row is the probability that the premise "
            f"supports the hypothesis, between 0 and 1 (a logit needs a sigmoid)"
        )
        raise FileError(table.path, problem, table.line(row))
    note("%s: %s is read as the probability that the premise supports the hypothesis", table.path, column)
    values = np.column_stack([support, 1 - support, np.where(np.isnan(support), np.nan, 0)]).astype(np.float32)
    known = support[~np.isnan(support)]
    return Predictions(values, bool(((known > 0) & (known < 1)).any()), "two-way", {})


_Objects = list[dict[str, Any] | None]
"""An object from each cell of a column, None where the cell is empty."""


def _holds_objects(table: FileTable, column: str) -> bool:
    """Whether the cells of a column are objects whose keys are labels, or that have a label and a score."""
    head = table.frame[column].drop_nulls().head(1).to_frame()
    objects = _parse_objects(flatten(head).to_series()) if len(head) else None
    keys = set(objects[0] or {}) if objects else set[str]()
    return bool(keys) and all(gold_name(key) in ALLOWED or re.fullmatch(r"(?:LABEL_)?\d+", key) for key in keys)


def _read_objects(table: FileTable, column: str) -> _Objects | None:
    """The objects in a column, from label to probability; None where it holds anything else."""
    return _parse_objects(flatten(table.frame.select(column)).to_series())


def _parse_objects(cells: pl.Series) -> _Objects | None:
    """Objects such as ``{"entailment": 0.9, …}`` or ``[{"label": "entailment", "score": 0.9}, …]``; None for others."""
    objects = _Objects()
    for cell in cells.cast(pl.String).fill_null(""):
        value = None if cell.strip().lower() in NO_ANSWER else _parse_object(cell)
        if value is None and cell.strip().lower() not in NO_ANSWER:
            return None
        objects.append(value)
    return objects if any(objects) else None


def _parse_object(cell: str) -> dict[str, Any] | None:
    """The probabilities in one cell by label, written as JSON or as Python does; None where it holds no object."""
    if cell.lstrip()[:1] not in ("{", "["):
        return None
    value: Any = None
    for text in (cell, cell.replace("'", '"')):
        with suppress(ValueError, RecursionError):
            value = json.loads(text)
            break
    while isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        value = value[0]
    # {"label": "entailment", "probabilities": {"entailment": 0.9, …}}
    while isinstance(value, dict) and len(inner := [part for part in value.values() if _is_nested(part)]) == 1:
        value = inner[0]
    entries = [value] if isinstance(value, dict) else value
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
        return None
    if all({_LABEL, _SCORE} <= entry.keys() for entry in entries):
        return {str(entry[_LABEL]): entry[_SCORE] for entry in entries}
    return {name: number for name, number in value.items() if number is not None} if isinstance(value, dict) else None


def _is_nested(value: Any) -> bool:
    """Whether a value is an object, or a list of objects."""
    return isinstance(value, dict) or (isinstance(value, list) and bool(value) and isinstance(value[0], dict))


def _values_of_objects(table: FileTable, column: str, objects: _Objects, options: PredictionOptions) -> Predictions:
    """The probabilities in objects; where each has one label only, that is the prediction."""
    spellings = list(dict.fromkeys(key for entry in objects for key in entry or ()))
    mapped = {spelling: gold_name(target) or target for spelling, target in options.label_map.items()}
    meanings = {spelling: mapped.get(spelling) or gold_name(spelling) for spelling in spellings}
    for spelling, meaning in meanings.items():
        if meaning not in (*LABELS, "non-entailment"):
            example = ",".join(f"{name}=NAME" for name in spellings)
            problem = f"column {column!r} has the label {spelling!r}; say what it means with --label-map {example}"
            raise FileError(table.path, f"{problem}, where NAME is {', '.join(ALLOWED[:-1])}")
    known = {spelling: str(meaning) for spelling, meaning in meanings.items()}
    if all(entry is None or len(entry) == 1 for entry in objects):
        return _values_of_labels([known[next(iter(entry))] if entry else UNANSWERED for entry in objects], known)
    is_two_way = "non-entailment" in known.values()
    places = {label: place for place, label in enumerate(LABELS)} | {"non-entailment": 1}
    values = np.zeros((len(objects), len(LABELS)), dtype=np.float32)
    for row, entry in enumerate(objects):
        if entry is None:
            values[row] = np.nan
            continue
        for spelling, number in entry.items():
            if not isinstance(number, int | float) or (isinstance(number, int) and abs(number) > MOST_INTEGER):
                problem = f"column {column!r} holds {f'{number!r}'[:60]} for {spelling}, not a probability"
                raise FileError(table.path, problem, table.line(row))
            values[row, places[known[spelling]]] += number
    empty = np.array([entry is None for entry in objects])
    values = _check_probabilities(table, values, [column], empty=empty)
    return Predictions(values, True, "two-way" if is_two_way else "three-way", known)


def _check_probabilities(
    table: FileTable, values: Values, columns: Sequence[str], *, empty: npt.NDArray[np.bool_]
) -> Values:
    """The values; an error unless some row has an answer, and all answers are probabilities that add up to 1."""
    with np.errstate(invalid="ignore"):
        valid = (values >= 0).all(axis=1) & (np.abs(values.sum(axis=1) - 1) <= _TOLERANCE)
    wrong = np.flatnonzero(~valid & ~empty)
    if wrong.size:
        row = int(wrong[0])
        shown = ", ".join(str(value) for value in table.frame.select(columns).row(row))
        problem = f"{shown} are not three probabilities that add up to 1 ({', '.join(columns)})"
        raise FileError(table.path, problem, table.line(row))
    if empty.all() and len(empty):
        raise FileError(table.path, f"has no answer in any row ({', '.join(columns)}); is it the right file?")
    return values


def _read_lists(table: FileTable, column: str) -> Values | None:
    """A column of lists as float[n, 3], NaN where a cell is empty; None where it holds no lists."""
    cells = table.frame[column]
    nested = isinstance(cells.dtype, pl.List | pl.Array)
    rows = cells.to_list() if nested else [_parse_list(cell) for cell in cells.cast(pl.String).fill_null("")]
    if not any(isinstance(row, list) for row in rows):
        return None
    values = np.full((len(rows), len(LABELS)), np.nan, dtype=np.float32)
    for place, row in enumerate(rows):
        if row is not None:
            numbers = _parse_numbers(row)
            if numbers is None:
                problem = f"column {column!r} holds {f'{row!r}'[:60]}, not a list of three numbers"
                raise FileError(table.path, problem, table.line(place))
            values[place] = numbers
    return values


def _parse_list(cell: str) -> list[str] | str | None:
    """The parts of ``[0.1, 0.2, 0.7]`` or ``[0.1 0.2 0.7]``; None without an answer; the cell where it is no list."""
    if cell.strip().lower() in NO_ANSWER:
        return None
    match = _LIST.fullmatch(cell)
    return re.split(r"[,\s]+", match[1].strip()) if match else cell


def _parse_numbers(row: object) -> list[float] | None:
    """The numbers of a list of three; None for anything else."""
    if not isinstance(row, list) or len(row) != len(LABELS):
        return None
    try:
        return [np.nan if part is None else float(str(part)) for part in row]
    except ValueError:
        return None


def _find_order(table: FileTable, column: str, lists: Values, options: PredictionOptions) -> tuple[str, ...]:
    """The label of each number in the lists, from the user's options or the column of labels beside the lists."""
    mapped = tuple(options.label_map.get(str(place), "") for place in range(len(LABELS)))
    given = options.order or (mapped if sorted(mapped) == sorted(LABELS) else ())
    labelled, beside = _order_of_labels(table, column, lists), column + PREDICTED_LABEL
    if not given and not labelled:
        first = lists[~np.isnan(lists).any(axis=1)][:1].tolist()
        shown = f", such as {[round(number, 4) for number in first[0]]}" if first else ""
        problem = f"column {column!r} holds lists of three numbers{shown}; say which labels they stand for"
        raise FileError(table.path, f"{problem}, in their order, for example {_EXAMPLE}")
    if given and labelled and given != labelled:
        problem = "%s: %s names the largest number of each list as if their order were %s, not %s as given"
        log.warning(problem, table.path, beside, ", ".join(labelled), ", ".join(given))
    if not given:
        note("%s: the numbers of %s are %s, as %s shows", table.path, column, ", ".join(labelled), beside)
    return given or labelled


def _order_of_labels(table: FileTable, column: str, lists: Values) -> tuple[str, ...]:
    """The order of labels that gives each list's largest number the label in the column beside it; empty if none."""
    beside = column + PREDICTED_LABEL
    if beside not in table.frame.columns:
        return ()
    labels = [gold_name(cell) for cell in table.frame[beside].cast(pl.String).fill_null("")]
    likeliest = np.nan_to_num(lists).argmax(axis=1).tolist()
    named = {(place, label) for place, label in zip(likeliest, labels, strict=True) if label}
    order = dict(sorted(named))
    consistent = len(named) == len(LABELS) and sorted(order.values()) == sorted(LABELS)
    return tuple(order.values()) if consistent else ()
