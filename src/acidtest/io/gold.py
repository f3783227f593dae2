"""What the labels of a file mean, as gold sets."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from typing import Any

import polars as pl

from acidtest.core.errors import FileError, UnknownNameError
from acidtest.core.labels import GOLD_MASKS, NO_GOLD, NO_GOLD_NAME, gold_name
from acidtest.core.logs import log
from acidtest.core.structured import check_shape, parse_json
from acidtest.io.layouts import Layout, strings
from acidtest.io.tables import Table

_LONGEST_SHOWN = 60
_WHOLE = re.compile(r"([+-]?\d+)\.0+")
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?")


def gold(table: Table, layout: Layout, *, label_map: Mapping[str, str]) -> dict[str, str | None]:
    """The name of the gold set that each label of a file stands for, None where it means that there is none.

    The user's map goes first, then the class names Hugging Face keeps inside a Parquet file, then what the layout
    says, then every spelling in use. A number that none of them explains is refused. No label at all is ``""``.
    """
    given = _given(label_map)
    classes = _class_names(table, layout.label)
    texts = dict.fromkeys(text for cells in strings(table, layout.label) for text in _written(cells).unique())
    meanings = {text: _meaning(_spelling(text), given, classes=classes, layout=layout) for text in texts}
    known = {text: meaning for text, meaning in meanings.items() if meaning is not None}
    if len(known) < len(meanings):
        row, label = _first_unknown(table, layout, known)
        raise row_error(table, row, column=layout.label, problem=_unknown(label.strip(), layout))
    if set(known.values()) == {NO_GOLD_NAME}:
        found = f"column {layout.label!r} holds only {_listed(known)}"
        rows = f"none of the {table.rows.height:,} rows has gold"
        raise FileError(table.path, f"{rows}: {found}; name another with --columns label=NAME")
    if not given and "contradiction" not in classes.values():
        _warn(table, layout, {_spelling(text): meaning for text, meaning in known.items()})
    return {text: None if meaning == NO_GOLD_NAME else meaning for text, meaning in known.items()}


def golds(labels: pl.Series, meanings: Mapping[str, str | None]) -> pl.Series:
    """The name of each row's gold set, null where there is none; ``meanings`` are those of the labels of the file."""
    return _written(labels).replace_strict(meanings, return_dtype=pl.String).alias("label")


def _written(labels: pl.Series) -> pl.Series:
    return labels.cast(pl.String, strict=False).fill_null("")


def _first_unknown(table: Table, layout: Layout, known: Collection[str]) -> tuple[int, str]:
    """The first row whose label nobody knows, and the label."""
    start = 0
    for cells in map(_written, strings(table, layout.label)):
        for row in (~cells.is_in(list(known))).arg_true().head(1):
            return start + row, cells[row]
        start += len(cells)
    raise AssertionError("a label was unknown")


def row_error(table: Table, row: int, *, column: str, problem: str) -> FileError:
    """An error that names the file of a column and the line of a row, or its number where the file has no lines."""
    line = table.line(row)
    return FileError(table.file(column), problem if line else f"row {row + 1:,}: {problem}", line)


def _given(label_map: Mapping[str, str]) -> dict[str, str]:
    for target in label_map.values():
        if target not in GOLD_MASKS and target != NO_GOLD_NAME:
            raise UnknownNameError("gold label", target, (*GOLD_MASKS, NO_GOLD_NAME), " (--label-map)")
    return {_spelling(text): target for text, target in label_map.items()}


def _spelling(text: str) -> str:
    """A label in lower case without spaces around it; a whole number written ``1.0``, as pandas does, is ``1``."""
    return _WHOLE.sub(r"\1", text.strip().lower())


def _class_names(table: Table, column: str) -> dict[str, str]:
    """The names that Hugging Face's metadata in a Parquet file gives the integers of a column."""
    with suppress(FileError, KeyError, TypeError):
        metadata = parse_json(table.metadata["huggingface"].encode(), table.path, dict[str, Any], foreign=True)
        names = check_shape(metadata["info"]["features"][column]["names"], table.path, list[str])
        return {str(number): _spelling(name) for number, name in enumerate(names)}
    return {}


def _meaning(text: str, given: Mapping[str, str], *, classes: Mapping[str, str], layout: Layout) -> str | None:
    """The gold set a spelling stands for, ``-`` for no gold, None when nobody knows."""
    if text in given:
        return given[text]
    if text in NO_GOLD:
        return NO_GOLD_NAME
    text = classes.get(text, text)
    return given.get(text) or layout.labels.get(text) or gold_name(text)


def _listed(labels: Iterable[str]) -> str:
    """The labels that stand for no gold, as they are written."""
    written = sorted(repr(text.strip()) for text in labels if text.strip())
    written += ["nothing"] if any(not text.strip() for text in labels) else []
    return written[0] if len(written) == 1 else f"{', '.join(written[:-1])} or {written[-1]}"


def _unknown(label: str, layout: Layout) -> str:
    # What every file may say is listed once, even if it means something else here.
    known = {spelling: name for spelling, name in layout.labels.items() if spelling not in GOLD_MASKS}
    if _NUMBER.fullmatch(label) and not any(_NUMBER.fullmatch(spelling) for spelling in known):
        return (
            f"label {label} is a number, and what numbers mean differs from file to file; "
            f"say it with --label-map, for example --label-map 0=entailment,1=neutral,2=contradiction"
        )
    expected = "entailment, neutral, contradiction or non-entailment"
    meanings = {spelling: "no gold" if name == NO_GOLD_NAME else name for spelling, name in known.items()}
    own = "".join(f", nor {spelling} ({meaning})" for spelling, meaning in meanings.items())
    if len(label) > _LONGEST_SHOWN:
        return f"label {label[:_LONGEST_SHOWN]!r}… is not {expected}{own}; is {layout.label!r} the label column?"
    return f"label {label!r} is not {expected}{own}; say what it means with --label-map '{label}=NAME'"


def _warn(table: Table, layout: Layout, meanings: Mapping[str, str]) -> None:
    """Say where labels may mean something else than they were taken for. ``meanings`` are those of the spellings."""
    if layout.note:
        log.warning("%s: %s", table.path, layout.note)
    if layout.is_two_way and "neutral" in meanings:
        log.info("%s: %s has two classes: neutral is read as non-entailment", table.path, layout.name)
    golds = set(meanings.values()) - {NO_GOLD_NAME}
    if golds != {"entailment", "neutral"}:
        return
    # HANS and RTE have been published with 1 for non-entailment in the very columns where 1 means neutral; MED, MoNLI,
    # HELP and SciTail call neutral whatever is not entailed.
    entailed, other = (next(text for text in meanings if meanings[text] == name) for name in ("entailment", "neutral"))
    log.warning(
        "%s: read as %s, it has entailment (%s) and neutral (%s) but no contradiction. If %s means non-entailment "
        "there, give --label-map %s=entailment,%s=non-entailment",
        *(table.path, layout.name, entailed, other, other, entailed, other),
    )
