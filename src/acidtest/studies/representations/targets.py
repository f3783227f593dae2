"""What is looked for in representations: the gold label, categories of reasoning, groups of them, other factors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.document import describe_count
from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.suite import Card
from acidtest.studies.representations.results import TargetKind
from acidtest.text.taxonomy import CATEGORIES, node

LABEL = "label"

FEWEST = 10
"""Groups of pairs that must have a category, and that must not, for it to be looked for."""

MOST_VALUES = 50


@dataclass(frozen=True)
class Target:
    """Something that pairs have or do not have: a column for each value, a single one for a category.

    A measure of a target of several columns is the mean of theirs, each value against all others.
    """

    name: str
    kind: TargetKind
    columns: npt.NDArray[np.bool_]

    @property
    def n(self) -> int:
        """Pairs that have it."""
        return int(self.columns.any(axis=1).sum())


def category_columns(frame: pl.DataFrame) -> tuple[str, ...]:
    """The columns of a suite that are categories of the taxonomy, in its order."""
    return tuple(name for name in CATEGORIES if name in frame.columns and frame[name].dtype == pl.Boolean)


def group_categories(categories: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The groups that categories belong to, each with those of its members that are among them."""
    groups: dict[str, tuple[str, ...]] = {}
    for name in categories:
        group = node(name).parent
        groups[group] = (*groups.get(group, ()), name)
    return groups


def find_targets(frame: pl.DataFrame, card: Card, by: Sequence[str] = ()) -> list[Target]:
    """The label, the categories, groups of at least two of them, and the factors named in ``by``."""
    categories = category_columns(frame)
    targets = [_factor(frame[LABEL], "label")]
    columns = {name: frame[name].fill_null(False).to_numpy() for name in categories}
    for group, members in group_categories(categories).items():
        if len(members) > 1:
            any_of = np.logical_or.reduce([columns[name] for name in members])
            targets.append(Target(group, "group", any_of[:, None]))
        targets += [Target(name, "category", columns[name][:, None]) for name in members]
    for name in by:
        if name not in card.factors:
            raise UnknownNameError("factor", name, card.factors, f" (of suite {card.name!r})")
        targets += [] if name in categories else [_factor(frame[name], "factor")]
    return targets


def describe_scarcity(target: Target, groups: npt.NDArray[np.intp]) -> str:
    """Why a target cannot be measured; empty where each of its values occurs, and lacks, in enough groups of pairs."""
    fewest = min((np.unique(groups[side]).size for column in target.columns.T for side in (column, ~column)), default=0)
    if fewest >= FEWEST:
        return ""
    few = f"only {describe_count(fewest, 'group')} of pairs on one side"
    return f"{few}; at least {FEWEST} are needed (a larger --limit may give them)"


def _factor(values: pl.Series, kind: TargetKind) -> Target:
    """A column for each value; of two values one column, as the other says the same."""
    texts = values.cast(pl.String)
    names = texts.drop_nulls().unique().sort().to_list()
    if len(names) > MOST_VALUES:
        raise AcidtestError(f"{values.name} has {len(names):,} values; at most {MOST_VALUES} can be told apart")
    distinct = names[:1] if len(names) == 2 else names
    columns = [(texts == name).fill_null(False).to_numpy() for name in distinct]
    empty = np.zeros((values.len(), 0), dtype=np.bool_)
    return Target(values.name, kind, np.column_stack(columns) if columns else empty)
