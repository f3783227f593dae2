"""Annotation plans: how many people judge an item, how many items a person gets, and which checks they have to pass.

A plan is a TOML file. The ones that ship are in ``data/plans``; docs/annotate.md describes the keys.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from acidtest.annotate.questionnaires import packaged_names, parse_table, read_toml_file
from acidtest.core.draws import Draws
from acidtest.core.errors import AcidtestError, FileError, list_some
from acidtest.core.structured import check_shape, parse_json, parse_toml

_FOLDER = "plans"

EVERYBODY = 2**31 - 1
"""The number of seats of an item that everybody judges."""

_LEAST = {"per_item": 0, "overlap": 0, "per_annotator": 1, "fail_after": 0, "per_category": 1, "expires": 1}


@dataclass(frozen=True)
class AnnotationPlan:
    """Who judges which items. The experiments of the papers are plans too: see data/plans."""

    name: str = "plain"
    title: str = ""
    source: str = ""
    per_item: int = 1
    """How many people judge an item; 0: everybody."""
    overlap: int | None = None
    """How many items go to ``per_item`` people, while the others go to one; None: all of them."""
    per_annotator: int | None = None
    """The most items that one person gets, checks not included."""
    fail_after: int = 1
    """How many wrong answers to checks exclude a person; 0: nobody is excluded."""
    finish: bool = False
    """Whether people who failed their checks go on to the end, unaware of it, and are left out of the results."""
    reopen: bool = True
    """Whether the items that excluded people judged go to others."""
    controls: str = ""
    """A file beside the plan with attention checks, which files and options call controls."""
    questionnaire: str = ""
    """The questionnaire to use if the caller names none."""
    suite: str = ""
    """The suite to generate if the caller gives no data."""
    arguments: tuple[tuple[str, str], ...] = ()
    """The options of that suite."""
    category: tuple[str, ...] = ()
    """Columns whose values together make an item's category; a person gets as many different ones as possible."""
    merged: tuple[tuple[str, str, str], ...] = ()
    """(column, value, left): where the column has the value, the column ``left`` is not part of the category."""
    per_category: int | None = None
    """How many items of each category are drawn."""
    expires: float = 3600.0
    """Seconds after which an item that was shown but not answered may go to somebody else."""

    def to_json(self) -> str:
        """The plan as a store keeps it.

        Keys that were added later are left out where they have their default, so that older stores are recognised.
        """
        omitted = [name for name in ("finish", "reopen") if getattr(self, name) == getattr(AnnotationPlan, name)]
        return json.dumps({name: value for name, value in asdict(self).items() if name not in omitted}, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> AnnotationPlan:
        """The plan that a store keeps; keys added by a newer acidtest are ignored."""
        return parse_json(text.encode(), "the plan of the store", cls)


@dataclass(frozen=True)
class _MergedRow:
    column: str
    value: str
    left: str


def packaged_plans() -> list[str]:
    """The names of the plans that ship with the package."""
    return packaged_names(_FOLDER)


def load_plan(name: str | Path) -> AnnotationPlan:
    """A plan that ships with the package, by name, or the one in a file."""
    plan = parse_plan(*read_toml_file(_FOLDER, name, kind="plan"))
    if not plan.controls or str(name) not in packaged_plans():
        return plan
    with resources.as_file(resources.files("acidtest.data").joinpath(_FOLDER, plan.controls)) as checks:
        return replace(plan, controls=str(checks))


def parse_plan(content: bytes, path: Path) -> AnnotationPlan:
    """The plan in the content of a TOML file; ``path`` gives its name and stands in errors."""
    written = {key: value for key, value in parse_toml(content, path).items() if value != ""}
    arguments = check_shape(written.pop("arguments", {}), path, dict[str, Any], key="arguments")
    merged = check_shape(written.pop("merged", []), path, list[_MergedRow], key="merged")
    name = path.name.removesuffix(".toml")
    if "name" in written:
        raise FileError(path, f"has the key 'name', but the plan is named after its file, {name!r}; remove it")
    plan = replace(
        parse_table(written, path, AnnotationPlan),
        name=name,
        arguments=tuple((key, str(value)) for key, value in arguments.items()),
        merged=tuple((row.column, row.value, row.left) for row in merged),
    )
    if plan.controls and path.parent != Path():
        plan = replace(plan, controls=str(path.parent / plan.controls))
    check_plan(plan)
    return plan


def check_plan(plan: AnnotationPlan) -> None:
    """Raise if a number of the plan is too small, or an overlap is judged by one person only."""
    for name, least in _LEAST.items():
        value = getattr(plan, name)
        if value is not None and value < least:
            raise AcidtestError(f"plan {plan.name!r}: {name} is {value}; expected {least} or more")
    if plan.overlap is not None and plan.per_item == 1:
        raise AcidtestError(
            f"plan {plan.name!r}: an overlap of {plan.overlap:,} items is judged by several people; say by how many "
            "(--per-item 2), or by everybody (--per-item 0)"
        )


def item_categories(frame: pl.DataFrame, plan: AnnotationPlan) -> pl.Series:
    """The category of each row of a table; empty if the plan has no categories."""
    if not plan.category:
        return pl.Series("category", [""] * frame.height, dtype=pl.String)
    missing = [name for name in plan.category if name not in frame.columns]
    if missing:
        remedy = f"; make such a file with: acidtest generate {plan.suite} -o FILE" if plan.suite else ""
        raise AcidtestError(f"plan {plan.name!r} needs the columns {list_some(missing)}{remedy}")
    parts = []
    for name in plan.category:
        text = pl.col(name).cast(pl.String).fill_null("")
        for column, value, left in plan.merged:
            if left == name:
                text = pl.when(pl.col(column) == value).then(pl.lit("")).otherwise(text)
        parts.append(text)
    return frame.select(pl.concat_str(parts, separator=" ").str.strip_chars().alias("category")).to_series()


def draw_rows(frame: pl.DataFrame, plan: AnnotationPlan, *, seed: int) -> pl.DataFrame:
    """The rows to judge, with their ``_category``: ``per_category`` of each, or all of them."""
    frame = frame.with_columns(item_categories(frame, plan).alias("_category"))
    if plan.per_category is None:
        return frame
    sizes = frame.group_by("_category", maintain_order=True).len()
    for category, size in sizes.filter(pl.col("len") < plan.per_category).head(1).iter_rows():
        raise AcidtestError(
            f"plan {plan.name!r} draws {plan.per_category} items of each category, but {category!r} has {size}; "
            "give it a larger file"
        )
    bits = Draws(seed, "annotate").bits(np.arange(frame.height, dtype=np.uint64), "drawn")
    ranked = frame.with_columns(_bits=pl.Series(bits))
    return ranked.filter(pl.col("_bits").rank("ordinal").over("_category") <= plan.per_category).drop("_bits")


def seat_counts(count: int, plan: AnnotationPlan, *, seed: int) -> list[int]:
    """How many people judge each of ``count`` items; the seed draws which items are in the overlap."""
    several = plan.per_item or EVERYBODY
    if plan.overlap is None:
        return [several] * count
    if plan.overlap > count:
        raise AcidtestError(f"the overlap is {plan.overlap:,} items, but there are only {count:,}; lower --overlap")
    order = Draws(seed, "annotate").bits(np.arange(count, dtype=np.uint64), "overlap").argsort()
    overlapping = set(order[: plan.overlap].tolist())
    return [several if row in overlapping else 1 for row in range(count)]
