"""Columns whose cells hold several values each, such as ANLI's tags, and columns that hold somebody's answers."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress

import polars as pl

from acidtest.core.labels import NO_GOLD, SPELLINGS

MOST_NAMES = 100
"""A column whose cells name more different things than this is no factor."""

_LONGEST_NAME = 60
_QUOTED = re.compile(r"""'([^']*)'|"([^"]*)\"""")
_PREDICTION = re.compile(r"(?:^|[^a-z])pred(?:s|ict(?:ed|ions?))?(?:$|[^a-z])|predlabel$")
_AMBIGUOUS = frozenset({"yes", "no", "unknown", "n"})
"""Spellings of labels that other columns use for other things."""


class ListValues:
    """What the cells of a column list, seen part by part, as long as every cell can be a list of names."""

    def __init__(self) -> None:
        self._names: dict[str, None] = {}
        self._fails = self._several = False

    def add(self, column: pl.Series) -> None:
        """Look at the next rows."""
        for cell in () if self._fails else column.cast(pl.String).drop_nulls().unique(maintain_order=True):
            names = split_names(cell)
            if names is None or len(self._names) > MOST_NAMES:
                self._fails = True
                return
            self._several |= len(names) > 1
            self._names.update(dict.fromkeys(names))

    @property
    def is_list(self) -> bool:
        """Whether rows have several values, of few in all, that are not labels: annotators' votes are no factor."""
        few = self._several and not self._fails and 1 < len(self._names) <= MOST_NAMES
        return few and not all(name.lower() in SPELLINGS for name in self._names)


def split_names(cell: str) -> list[str] | None:
    """The names in ``['a', 'b']``, ``["a", "b"]`` or ``a|b``, each once; None where a cell is no such list."""
    text = cell.strip()
    if not text.startswith("["):
        parts = [part.strip() for part in text.split("|")] if text else []
        names = parts if all(0 < len(part) <= _LONGEST_NAME for part in parts) else None
    else:
        names = _bracketed_names(text)
    return names if names is None else list(dict.fromkeys(names))


def _bracketed_names(text: str) -> list[str] | None:
    """The quoted names of a JSON or Python list; None where anything else stands between the brackets."""
    with suppress(ValueError, RecursionError):
        names = json.loads(text)
        strings = isinstance(names, list) and all(isinstance(name, str) for name in names)
        return [name for name in names if name] if strings else None
    if not text.endswith("]") or _QUOTED.sub("", text[1:-1]).strip(" ,"):
        return None
    return [single or double for single, double in _QUOTED.findall(text) if single or double]


def listed_cells(column: pl.Series) -> pl.Series:
    """The cells of a column of lists as JSON lists of names, which is how a suite holds them."""
    texts = column.cast(pl.String)
    written = {cell: json.dumps(split_names(cell), ensure_ascii=False) for cell in texts.drop_nulls().unique()}
    return texts.replace_strict(written, default=None, return_dtype=pl.String)


def is_prediction(name: str, values: Sequence[str]) -> bool:
    """Whether a column of few values holds somebody's label of the pair: a system's answer, or an annotator's."""
    if _PREDICTION.search(name.lower()):
        return True
    spellings = {value.strip().lower() for value in values} - NO_GOLD
    return bool(spellings) and spellings <= set(SPELLINGS) and not spellings <= _AMBIGUOUS
