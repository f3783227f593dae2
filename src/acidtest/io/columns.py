"""What the columns of a user's file hold: gold labels, lists of names, numbers, factors or predictions."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NoReturn

import polars as pl

from acidtest.core.errors import AcidtestError, FileError, UnknownNameError, suggest_near
from acidtest.core.labels import GOLD_MASKS, NO_GOLD, NO_GOLD_NAME, SPELLINGS, gold_name
from acidtest.core.logs import log
from acidtest.core.structured import check_shape, parse_json
from acidtest.core.suite import Kind
from acidtest.io.layouts import Layout, column_texts
from acidtest.io.tables import FileTable

MOST_VALUES = 50
"""A column with more different values than this is not a factor."""

MOST_NAMES = 100
"""A column whose cells list more different names than this is not a factor."""

_LONGEST_NAME = 60
_QUOTED_NAME = re.compile(r"""'([^']*)'|"([^"]*)\"""")
_PREDICTION = re.compile(r"(?:^|[^a-z])pred(?:s|ict(?:ed|ions?))?(?:$|[^a-z])|predlabel$")
_AMBIGUOUS = frozenset({"yes", "no", "unknown", "n"})
"""Spellings of labels that also occur in columns that hold no labels."""

_LONGEST_SHOWN = 60
_WHOLE_NUMBER = re.compile(r"([+-]?\d+)\.0+")
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?")
# A number with a leading zero, such as 007, is a code.
_INTEGER = r"^-?(?:0|[1-9]\d*)$"
_FLOAT = r"^-?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$|^(?i:-?inf|nan)$"


def gold_meanings(
    table: FileTable,
    layout: Layout,
    *,
    label_map: Mapping[str, str],
    unlabelled: bool = False,
    published: Callable[[], Mapping[str, str]] = dict,
) -> dict[str, str | None]:
    """The gold set that each label of a file stands for; None if the label means that there is no gold.

    A file in which no row has gold is an error, unless ``unlabelled``.

    The user's map comes first, then the class names that Hugging Face writes into a Parquet file, then the layout, then
    the usual spellings. A number that none of them explains is refused. A missing label is ``""``. If 0 and 1 alone
    could be two labels or two of three, ``published`` says what they mean in a file that a paper published.
    """
    user_map = {_spelling(text): target for text, target in gold_map(label_map).items()}
    classes = _class_names(table, layout.label)
    texts = dict.fromkeys(text for cells in column_texts(table, layout.label) for text in _label_texts(cells).unique())
    if layout.may_be_two_way and not classes and _is_ambiguous(map(_spelling, texts), user_map):
        meant = {_spelling(text): meaning for text, meaning in published().items()}
        user_map |= meant or _refuse_ambiguous(table, layout)
    meanings = {text: _meaning(_spelling(text), user_map, classes=classes, layout=layout) for text in texts}
    known = {text: meaning for text, meaning in meanings.items() if meaning is not None}
    if len(known) < len(meanings):
        row, label = _first_unknown(table, layout, known)
        raise row_error(table, row, column=layout.label, problem=_describe_unknown(label.strip(), layout))
    if set(known.values()) == {NO_GOLD_NAME} and not unlabelled:
        content = f"column {layout.label!r} holds only {_list_labels(known)}"
        rows = f"none of the {table.rows.height:,} rows has gold"
        raise FileError(table.path, f"{rows}: {content}; name another with --columns label=NAME")
    if not user_map and "contradiction" not in classes.values():
        _warn_of_doubtful_labels(table, layout, {_spelling(text): meaning for text, meaning in known.items()})
    return {text: None if meaning == NO_GOLD_NAME else meaning for text, meaning in known.items()}


def parse_pairs(text: str, *, option: str) -> dict[str, str]:
    """Parse ``premise=text_a,hypothesis=text_b``; ``option`` is the flag it was given to, for errors."""
    pairs = dict[str, str]()
    for part in text.split(","):
        left, _, right = (piece.strip() for piece in part.partition("="))
        if not left or not right:
            raise AcidtestError(f"{option}: {part!r} is not a pair; write {option} NAME=NAME,NAME=NAME")
        if left in pairs:
            raise AcidtestError(f"{option}: {left!r} is given twice, as {pairs[left]!r} and {right!r}; leave one out")
        pairs[left] = right
    return pairs


def gold_map(label_map: Mapping[str, str], option: str = "--label-map") -> dict[str, str]:
    """A user's map of labels with the names of gold sets, however they are spelt; errors name the ``option``."""
    golds = {text: NO_GOLD_NAME if target == NO_GOLD_NAME else gold_name(target) for text, target in label_map.items()}
    for text, gold in golds.items():
        if gold is None:
            raise UnknownNameError("gold label", label_map[text], (*GOLD_MASKS, NO_GOLD_NAME), f" ({option})")
    return {text: gold for text, gold in golds.items() if gold}


def gold_names(labels: pl.Series, meanings: Mapping[str, str | None]) -> pl.Series:
    """The gold set of every row, null where there is none, by the ``meanings`` of the file's labels."""
    return _label_texts(labels).replace_strict(meanings, return_dtype=pl.String).alias("label")


def _label_texts(labels: pl.Series) -> pl.Series:
    return labels.cast(pl.String, strict=False).fill_null("")


def _first_unknown(table: FileTable, layout: Layout, known: Collection[str]) -> tuple[int, str]:
    """The first row with an unknown label, and that label."""
    start = 0
    for cells in map(_label_texts, column_texts(table, layout.label)):
        for row in (~cells.is_in(list(known))).arg_true().head(1):
            return start + row, cells[row]
        start += len(cells)
    raise AssertionError("a label was unknown")


def row_error(table: FileTable, row: int, *, column: str, problem: str) -> FileError:
    """An error that names the file of a column and the line of a row, or the row's number if the file has no lines."""
    line = table.line(row)
    return FileError(table.file(column), problem if line else f"row {row + 1:,}: {problem}", line)


def _spelling(text: str) -> str:
    """A label in lower case without surrounding spaces; ``1.0``, as pandas writes a whole number, becomes ``1``."""
    return _WHOLE_NUMBER.sub(r"\1", text.strip().lower())


def _class_names(table: FileTable, column: str) -> dict[str, str]:
    """The names that Hugging Face's metadata in a Parquet file gives the integers of a column."""
    with suppress(FileError, KeyError, TypeError):
        metadata = parse_json(table.metadata["huggingface"].encode(), table.path, dict[str, Any], foreign=True)
        names = check_shape(metadata["info"]["features"][column]["names"], table.path, list[str])
        return {str(number): _spelling(name) for number, name in enumerate(names)}
    return {}


def _meaning(text: str, user_map: Mapping[str, str], *, classes: Mapping[str, str], layout: Layout) -> str | None:
    """The gold set that a spelling stands for, ``-`` for no gold, None where it is unknown."""
    if text in user_map:
        return user_map[text]
    if text in NO_GOLD:
        return NO_GOLD_NAME
    text = classes.get(text, text)
    return user_map.get(text) or layout.labels.get(text) or gold_name(text)


def _is_ambiguous(spellings: Iterable[str], user_map: Mapping[str, str]) -> bool:
    """Whether the only labels are 0 and 1, and the user has not said what they mean."""
    numbers = set(spellings) - NO_GOLD
    return bool(numbers) and numbers <= {"0", "1"} and not numbers <= set(user_map) and "1" not in user_map


def _refuse_ambiguous(table: FileTable, layout: Layout) -> NoReturn:
    """Raise an error that shows what 0 and 1 may mean, and what each reading would count as right."""
    counts = dict.fromkeys("01", 0)
    for cells in map(_label_texts, column_texts(table, layout.label)):
        for text, count in cells.value_counts().iter_rows():
            if (number := _spelling(text)) in counts:
                counts[number] += count
    zeros, ones = (f"{counts[number]:,}" for number in "01")
    raise FileError(
        table.path,
        f"column {layout.label!r} holds only the numbers 0 ({zeros} rows) and 1 ({ones} rows), and such files are "
        f"written in several ways; say which with --label-map (with run and score, --suite-label-map): "
        f"0=entailment,1=neutral means three labels without contradiction, as in a part of SNLI: in the {ones} rows "
        f"with 1, only a prediction of neutral is right. 0=entailment,1=non-entailment means two labels, as in HANS "
        f"and RTE: in these rows, neutral and contradiction are both right. 0=non-entailment,1=entailment means that "
        f"the {zeros} rows with 0 are those that are not entailed",
    )


def _list_labels(labels: Iterable[str]) -> str:
    """The labels as a phrase: ``'-', 'none' or nothing``; a blank label is ``nothing``."""
    written = sorted(repr(text.strip()) for text in labels if text.strip())
    written += ["nothing"] if any(not text.strip() for text in labels) else []
    return written[0] if len(written) == 1 else f"{', '.join(written[:-1])} or {written[-1]}"


def _describe_unknown(label: str, layout: Layout) -> str:
    # ``expected`` lists the usual spellings already, even those that this layout defines differently.
    known = {spelling: name for spelling, name in layout.labels.items() if spelling not in GOLD_MASKS}
    if _NUMBER.fullmatch(label) and not any(_NUMBER.fullmatch(spelling) for spelling in known):
        # Files of documents and claims mostly have two classes.
        example = "0=non-entailment,1=entailment" if layout.general else "0=entailment,1=neutral,2=contradiction"
        return (
            f"label {label} is a number, and what numbers mean differs from file to file; "
            f"say it with --label-map, for example --label-map {example}"
        )
    expected = "entailment, neutral, contradiction or non-entailment"
    meanings = {spelling: "no gold" if name == NO_GOLD_NAME else name for spelling, name in known.items()}
    others = "".join(f", nor {spelling} ({meaning})" for spelling, meaning in meanings.items())
    if len(label) > _LONGEST_SHOWN:
        return f"label {label[:_LONGEST_SHOWN]!r}… is not {expected}{others}; is {layout.label!r} the label column?"
    near = suggest_near(label.lower(), GOLD_MASKS, most=1)
    advice = f"{near} If not, say" if near else "; say"
    return f"label {label!r} is not {expected}{others}{advice} what it means with --label-map '{label}=NAME'"


def _warn_of_doubtful_labels(table: FileTable, layout: Layout, meanings: Mapping[str, str]) -> None:
    """Warn if labels may mean something else than was assumed; ``meanings`` maps spellings to gold sets."""
    if layout.note:
        log.warning("%s: %s", table.path, layout.note)
    if layout.is_two_way and "neutral" in meanings:
        log.info("%s: %s has two classes: neutral is read as non-entailment", table.path, layout.name)
    golds = set(meanings.values()) - {NO_GOLD_NAME}
    if golds != {"entailment", "neutral"}:
        return
    # MED, MoNLI, HELP and SciTail label everything that is not entailed as neutral.
    entailed, other = (next(text for text in meanings if meanings[text] == name) for name in ("entailment", "neutral"))
    log.warning(
        "%s: read as %s, it has entailment (%s) and neutral (%s) but no contradiction. If %s means non-entailment "
        "there, give --label-map %s=entailment,%s=non-entailment",
        *(table.path, layout.name, entailed, other, other, entailed, other),
    )


class ColumnValues:
    """Collects the different values of a column, batch by batch; ``is_text``: the column holds strings."""

    def __init__(self, *, is_text: bool) -> None:
        self._is_integer = self._is_number = is_text
        self._is_text = is_text
        self._distinct: pl.Series | None = None

    def add(self, column: pl.Series) -> None:
        """Take the next rows."""
        values, dtype = column.drop_nulls(), column.dtype
        if self._is_text:
            self._is_integer = self._is_integer and bool(values.str.contains(_INTEGER).all())
            self._is_number = self._is_number and bool(values.str.contains(_FLOAT).all())
        else:
            self._is_integer = dtype.is_integer()
            self._is_number = dtype.is_float() or dtype.is_decimal()
        if self._distinct_count <= MOST_VALUES:
            values = values if self._distinct is None else self._distinct.append(values)
            self._distinct = values.unique().head(MOST_VALUES + 1)

    def kind_of(self, name: str) -> Kind:
        """The kind of the column. Integers with few different values are codes, hence a factor; floats never are."""
        if self._is_text and not self._distinct_count:
            return "text"
        if self._is_number and not self._is_integer:
            return "covariate"
        if 2 <= self._distinct_count <= MOST_VALUES and self._distinct is not None:
            return "text" if is_prediction(name, self._distinct.cast(pl.String).to_list()) else "factor"
        return "covariate" if self._is_integer and self._distinct_count > MOST_VALUES else "text"

    @property
    def _distinct_count(self) -> int:
        return 0 if self._distinct is None else len(self._distinct)


class ListValues:
    """Collects the names in a column of lists, batch by batch, until a cell is not a list of names."""

    def __init__(self) -> None:
        self._names: dict[str, None] = {}
        self._ruled_out = self._has_several = False

    def add(self, column: pl.Series) -> None:
        """Take the next rows."""
        for cell in () if self._ruled_out else column.cast(pl.String).drop_nulls().unique(maintain_order=True):
            names = split_names(cell)
            if names is None or len(self._names) > MOST_NAMES:
                self._ruled_out = True
                return
            self._has_several |= len(names) > 1
            self._names.update(dict.fromkeys(names))

    @property
    def is_list(self) -> bool:
        """Whether cells list several of a few names that are not all labels: annotators' votes are not a factor."""
        is_list_of_few = self._has_several and not self._ruled_out and 1 < len(self._names) <= MOST_NAMES
        return is_list_of_few and not all(name.lower() in SPELLINGS for name in self._names)


def split_names(cell: str) -> list[str] | None:
    """The names in ``['a', 'b']``, ``["a", "b"]`` or ``a|b``, all different; None if the cell is not such a list."""
    text = cell.strip()
    if not text.startswith("["):
        parts = [part.strip() for part in text.split("|")] if text else []
        names = parts if all(0 < len(part) <= _LONGEST_NAME for part in parts) else None
    else:
        names = _bracketed_names(text)
    return names if names is None else list(dict.fromkeys(names))


def _bracketed_names(text: str) -> list[str] | None:
    """The quoted names of a JSON or Python list; None where there is anything else between the brackets."""
    with suppress(ValueError, RecursionError):
        names = json.loads(text)
        strings = isinstance(names, list) and all(isinstance(name, str) for name in names)
        return [name for name in names if name] if strings else None
    if not text.endswith("]") or _QUOTED_NAME.sub("", text[1:-1]).strip(" ,"):
        return None
    return [single or double for single, double in _QUOTED_NAME.findall(text) if single or double]


def encode_lists(column: pl.Series) -> pl.Series:
    """The cells of a column of lists as JSON lists of names, as a suite writes them."""
    texts = column.cast(pl.String)
    encoded = {cell: json.dumps(split_names(cell), ensure_ascii=False) for cell in texts.drop_nulls().unique()}
    return texts.replace_strict(encoded, default=None, return_dtype=pl.String)


def is_prediction(name: str, values: Sequence[str]) -> bool:
    """Whether a column of few values holds labels that a system or an annotator gave the pairs."""
    if _PREDICTION.search(name.lower()):
        return True
    spellings = {value.strip().lower() for value in values} - NO_GOLD
    return bool(spellings) and spellings <= set(SPELLINGS) and not spellings <= _AMBIGUOUS
