"""What is looked for in representations: the gold label, categories of reasoning, groups of them, other factors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.suite import Card
from acidtest.studies.representation_results import TargetKind
from acidtest.text.taxonomy import CATEGORIES, node

LABEL = "label"

FEWEST = 10
"""Groups of pairs that must have a category, and that must not, for it to be looked for."""

MOST_VALUES = 50


@dataclass(frozen=True)
class Target:
    """Something pairs have or have not: a column for each value, one for what is either there or not.

    A measure of several columns is the mean of theirs, each value against all others.
    """

    name: str
    kind: TargetKind
    columns: npt.NDArray[np.bool_]

    @property
    def n(self) -> int:
        """Pairs that have it."""
        return int(self.columns.any(axis=1).sum())


def categories_in(frame: pl.DataFrame) -> tuple[str, ...]:
    """The columns of a suite that are categories of the taxonomy, in its order."""
    return tuple(name for name in CATEGORIES if name in frame.columns and frame[name].dtype == pl.Boolean)


def group_of(category: str) -> str:
    """The group of categories that a category belongs to."""
    return node(category).parent


def groups_of(categories: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The groups that categories belong to, each with those of its members that are among them."""
    found: dict[str, tuple[str, ...]] = {}
    for name in categories:
        found[group_of(name)] = (*found.get(group_of(name), ()), name)
    return found


def targets_of(frame: pl.DataFrame, card: Card, by: Sequence[str] = ()) -> list[Target]:
    """The label, the categories, groups of at least two of them, and the factors named in ``by``."""
    categories = categories_in(frame)
    found = [_factor(frame[LABEL], "label")]
    columns = {name: frame[name].fill_null(False).to_numpy() for name in categories}
    for group, members in groups_of(categories).items():
        if len(members) > 1:
            any_of = np.logical_or.reduce([columns[name] for name in members])
            found.append(Target(group, "group", any_of[:, None]))
        found += [Target(name, "category", columns[name][:, None]) for name in members]
    for name in by:
        if name not in card.factors:
            raise UnknownNameError("factor", name, card.factors, f" (of suite {card.name!r})")
        found += [] if name in categories else [_factor(frame[name], "factor")]
    return found


def scarcity(target: Target, groups: npt.NDArray[np.intp]) -> str:
    """Why a target cannot be measured; empty where every value of it stands in enough groups of pairs."""
    fewest = min((np.unique(groups[side]).size for column in target.columns.T for side in (column, ~column)), default=0)
    if fewest >= FEWEST:
        return ""
    counted = "1 group" if fewest == 1 else f"{fewest} groups"
    return f"only {counted} of pairs on one side; at least {FEWEST} are needed (a larger --limit may give them)"


def _factor(values: pl.Series, kind: TargetKind) -> Target:
    """A column for each value; of two values one column, as the other says the same."""
    texts = values.cast(pl.String)
    names = texts.drop_nulls().unique().sort().to_list()
    if len(names) > MOST_VALUES:
        raise AcidtestError(f"{values.name} has {len(names):,} values; at most {MOST_VALUES} can be told apart")
    kept = names[:1] if len(names) == 2 else names
    columns = [(texts == name).fill_null(False).to_numpy() for name in kept]
    empty = np.zeros((values.len(), 0), dtype=np.bool_)
    return Target(values.name, kind, np.column_stack(columns) if columns else empty)
