"""Files of predictions: labels, three columns of probabilities, or one column of lists of three.

A cell that is empty or holds ``unanswered``, ``abstain`` and the like is a row without an answer. The order of labels
in lists is given by the user, or read from a column beside them that names the likeliest label; it is never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.errors import AcidtestError, FileError, UnknownNameError, list_some
from acidtest.core.labels import LABELS, gold_name, one_hot
from acidtest.core.logs import log, note
from acidtest.core.model import Resolution
from acidtest.core.structured import parse_json
from acidtest.io.tables import FileTable

Values = npt.NDArray[np.float32]

ID_COLUMNS = ("id", "pairid", "pair_id", "source_id", "uid", "row_id", "index")
PREDICTION_COLUMNS = ("prediction", "predicted", "predicted_label", "pred_label", "pred", "answer")
PROBABILITY_COLUMNS = ("{}", "p_{}", "prob_{}", "{}_prob", "{}_probability")
LABEL_COLUMNS = ("gold_label", "label")
"""Columns of predictions in HANS's layout; used only when no other column holds labels."""

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

    ids: list[str | None]
    values: Values
    probabilities: bool
    resolution: Resolution


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
    """The predictions in a table; ids may be missing if ``has_pairs``: premise and hypothesis then identify a row."""
    chosen = options.columns
    for role, name in chosen.items():
        if role not in ROLES:
            raise UnknownNameError("column of predictions", role, ROLES, " (--columns)")
        if name not in table.frame.columns:
            raise FileError(table.path, str(UnknownNameError("column", name, table.frame.columns, " (--columns)")))
    names = {name.lower(): name for name in reversed(table.frame.columns)}
    id_column = chosen.get("id") or next((names[name] for name in ID_COLUMNS if name in names), None)
    ids = _read_ids(table, id_column, has_pairs=has_pairs)
    triples = [[names.get(pattern.format(label)) for label in LABELS] for pattern in PROBABILITY_COLUMNS]
    if any(label in chosen for label in LABELS):
        triples = [[chosen.get(label) for label in LABELS]]
    columns = next(([str(name) for name in triple] for triple in triples if all(triple)), None)
    if columns and "label" not in chosen:
        # In the predictions of a run, neutral may mean non-entailment.
        facts = parse_json(table.metadata.get("acidtest", "{}").encode(), table.path, PredictionFacts)
        return Predictions(ids, _read_probabilities(table, columns), facts.probabilities, facts.resolution)
    column = chosen.get("label") or _label_column(table, names)
    lists = _read_lists(table, column)
    if lists is not None:
        order = _find_order(table, column, lists, options)
        values = lists[:, [order.index(label) for label in LABELS]]
        empty = np.asarray(np.isnan(values).all(axis=1), dtype=np.bool_)
        return Predictions(ids, _check_probabilities(table, values, [column], empty=empty), True, "three-way")
    if options.order:
        raise FileError(table.path, f"column {column!r} holds labels, not lists of three numbers; leave --order out")
    labels = _read_labels(table, column, options.label_map)
    resolution: Resolution = "two-way" if "non-entailment" in labels else "three-way"
    values = one_hot([LABELS[0] if label == UNANSWERED else label for label in labels])
    values[[label == UNANSWERED for label in labels]] = np.nan
    return Predictions(ids, values, probabilities=False, resolution=resolution)


def _read_ids(table: FileTable, column: str | None, *, has_pairs: bool) -> list[str | None]:
    if column is None:
        if not has_pairs:
            raise _missing_column(table, "id column", "id", ID_COLUMNS)
        return [None] * table.frame.height
    ids = table.frame[column].cast(pl.String)
    if ids.null_count() and not has_pairs:
        raise FileError(table.path, f"column {column!r} is empty here", table.line(int(ids.is_null().arg_max() or 0)))
    return ids.to_list()


def _label_column(table: FileTable, names: Mapping[str, str]) -> str:
    """The column of predictions; an error when several columns could be it."""
    predicted = [names[name] for name in PREDICTION_COLUMNS if name in names]
    likely = predicted or [names[name] for name in LABEL_COLUMNS if name in names]
    if not likely:
        wanted = (*PREDICTION_COLUMNS, *LABEL_COLUMNS)
        raise _missing_column(table, "label column, nor one per label's probability", "label", wanted)
    if not predicted:
        for name, values in table.frame.select(pl.col(pl.String)).to_dict().items():
            if all(value and gold_name(value) in ALLOWED for value in values.unique()):
                likely.append(name)
    likely = list(dict.fromkeys(likely))
    if len(likely) > 1:
        both = " and ".join(map(repr, likely))
        raise FileError(table.path, f"{both} could all hold the predictions; say which with --columns label=NAME")
    if not predicted and {"premise", "sentence1"} & set(names):
        log.warning("%s: column %r is taken for the predictions; is it the gold?", table.path, likely[0])
    return likely[0]


def _missing_column(table: FileTable, what: str, role: str, wanted: Sequence[str]) -> FileError:
    return FileError(
        table.path,
        f"has no {what}; it has {', '.join(table.frame.columns)}, and one of {', '.join(wanted)} was expected: "
        f"name it with acidtest score … --columns {role}=NAME",
    )


def _read_labels(table: FileTable, column: str, label_map: Mapping[str, str]) -> list[str]:
    """The label of each row; ``unanswered`` where there is none."""
    label_map = {spelling: gold_name(target) or target for spelling, target in label_map.items()}
    for target in label_map.values():
        if target not in ALLOWED:
            raise UnknownNameError("label", target, ALLOWED, " (--label-map)")
    spellings = table.frame[column].cast(pl.String).fill_null("")
    meanings = {
        spelling: label_map.get(spelling)
        or (UNANSWERED if spelling.strip().lower() in NO_ANSWER else gold_name(spelling))
        for spelling in spellings.unique()
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
    return [str(meanings[spelling]) for spelling in spellings]


def _read_probabilities(table: FileTable, columns: Sequence[str]) -> Values:
    cells = table.frame.select(pl.col(name).cast(pl.String).fill_null("").str.strip_chars() for name in columns)
    numbers = table.frame.select(pl.col(name).cast(pl.Float32, strict=False) for name in columns)
    values = numbers.to_numpy().astype(np.float32)
    empty = cells.select(pl.all_horizontal(pl.all().str.to_lowercase().is_in(list(NO_ANSWER)))).to_series()
    values[empty.to_numpy()] = np.nan
    return _check_probabilities(table, values, columns, empty=empty.to_numpy())


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
