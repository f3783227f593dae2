"""What the labels of a file mean, as gold sets."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress

import polars as pl

from acidtest.core.errors import FileError, UnknownNameError
from acidtest.core.labels import GOLD_MASKS, NO_GOLD, gold_name
from acidtest.core.logs import log
from acidtest.core.tables import Table, flat
from acidtest.sources.layouts import Layout

_NONE = "-"
_LONGEST_SHOWN = 60
_WHOLE = re.compile(r"([+-]?\d+)\.0+")
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?")


def gold(table: Table, layout: Layout, *, label_map: Mapping[str, str]) -> pl.Series:
    """The name of each row's gold set, null where there is none.

    The user's map goes first, then the class names Hugging Face keeps inside a Parquet file, then what the layout
    says, then every spelling in use. A number that none of them explains is refused.
    """
    given = _given(label_map)
    classes = _class_names(table, layout.label)
    labels = flat(table.frame.select(layout.label)).to_series().cast(pl.String, strict=False).fill_null("")
    meanings = {text: _meaning(_spelling(text), given, classes=classes, layout=layout) for text in labels.unique()}
    unknown = [text for text, meaning in meanings.items() if meaning is None]
    if unknown:
        row = labels.is_in(unknown).arg_max() or 0
        raise row_error(table, row, problem=_unknown(labels[row].strip(), layout))
    if set(meanings.values()) == {_NONE}:
        problem = f"none of the {len(labels):,} rows has gold: column {layout.label!r} holds only '-', '-1' or nothing"
        raise FileError(table.path, f"{problem}; name another with --columns label=NAME")
    if not given and not classes:
        _warn_of_two_classes(table, layout, {_spelling(text) for text in meanings})
    return labels.replace_strict(meanings, return_dtype=pl.String).replace(_NONE, None).alias("label")


def row_error(table: Table, row: int, *, problem: str) -> FileError:
    """An error that names the line of a row, or its number where the file has no lines."""
    line = table.line(row)
    return FileError(table.path, problem if line else f"row {row + 1:,}: {problem}", line)


def _given(label_map: Mapping[str, str]) -> dict[str, str]:
    for target in label_map.values():
        if target not in GOLD_MASKS and target != _NONE:
            raise UnknownNameError("gold label", target, (*GOLD_MASKS, _NONE), " (--label-map)")
    return {_spelling(text): target for text, target in label_map.items()}


def _spelling(text: str) -> str:
    """A label in lower case without spaces around it; a whole number written ``1.0``, as pandas does, is ``1``."""
    return _WHOLE.sub(r"\1", text.strip().lower())


def _class_names(table: Table, column: str) -> dict[str, str]:
    """The names that Hugging Face's metadata in a Parquet file gives the integers of a column."""
    with suppress(ValueError, KeyError, TypeError):
        names = json.loads(table.metadata["huggingface"])["info"]["features"][column]["names"]
        return {str(number): _spelling(name) for number, name in enumerate(names)}
    return {}


def _meaning(text: str, given: Mapping[str, str], *, classes: Mapping[str, str], layout: Layout) -> str | None:
    """The gold set a spelling stands for, ``-`` for no gold, None when nobody knows."""
    if text in given:
        return given[text]
    if text in NO_GOLD:
        return _NONE
    if text in classes:
        return given.get(classes[text]) or gold_name(classes[text])
    return layout.labels.get(text) or gold_name(text)


def _unknown(label: str, layout: Layout) -> str:
    known = layout.labels
    if _NUMBER.fullmatch(label) and not known:
        return (
            f"label {label} is a number, and what numbers mean differs from file to file; "
            f"say it with --label-map, for example --label-map 0=entailment,1=neutral,2=contradiction"
        )
    expected = "entailment, neutral, contradiction or non-entailment"
    numbers = "".join(f", nor {number} ({name})" for number, name in known.items())
    if len(label) > _LONGEST_SHOWN:
        return f"label {label[:_LONGEST_SHOWN]!r}… is not {expected}{numbers}; is {layout.label!r} the label column?"
    return f"label {label!r} is not {expected}{numbers}; say what it means with --label-map '{label}=NAME'"


def _warn_of_two_classes(table: Table, layout: Layout, spellings: set[str]) -> None:
    """HANS and RTE have been published with 1 for non-entailment in the very columns where 1 means neutral."""
    if "2" in layout.labels and "1" in spellings and "2" not in spellings:
        log.warning(
            "%s: labels 0 and 1 without any 2, read as %s: 1 is neutral. If it means non-entailment, "
            "give --label-map 0=entailment,1=non-entailment",
            table.path,
            layout.name,
        )
