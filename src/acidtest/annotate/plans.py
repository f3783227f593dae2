"""Who judges what, as data: how many people an item goes to, how many items a person gets, and what checks them.

A plan is a TOML file. Those that ship lie in ``data/plans``; docs/annotate.md describes the keys.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from importlib import resources
from pathlib import Path
from typing import Any

import polars as pl

from acidtest.core.draws import Draws
from acidtest.core.errors import AcidtestError, FileError, UnknownNameError, some
from acidtest.core.structured import MOST_TOML_BYTES, parse_json, parse_toml, read_bounded

ENDING = ".toml"
FOLDER = "plans"

EVERYBODY = 2**31 - 1
"""So many people that an item goes to all who come."""


@dataclass(frozen=True)
class Plan:
    """Who judges what. The paper's numbers are plans too: see data/plans."""

    name: str = "plain"
    title: str = ""
    source: str = ""
    per_item: int = 1
    """How many people judge an item; 0: everybody."""
    overlap: int | None = None
    """How many items go to ``per_item`` people; the others go to one. None: all do."""
    per_annotator: int | None = None
    """The most items that one person gets, controls not counted."""
    fail_after: int = 1
    """So many controls answered wrongly exclude a person; 0: nobody is excluded."""
    finish: bool = False
    """Whether people who failed so many controls go on to the end, untold, and are left out of results afterwards."""
    reopen: bool = True
    """Whether what excluded people judged goes to others."""
    controls: str = ""
    """A file beside the plan with pairs whose answers are known."""
    questionnaire: str = ""
    """What to ask where nothing else is said."""
    suite: str = ""
    """What to generate where no data are given."""
    arguments: tuple[tuple[str, str], ...] = ()
    """The options of that suite."""
    category: tuple[str, ...] = ()
    """Columns whose values together make an item's category; a person gets as many different ones as possible."""
    merged: tuple[tuple[str, str, str], ...] = ()
    """(column, value, left): where the column holds the value, the column ``left`` does not count."""
    per_category: int | None = None
    """How many items of each category are drawn."""
    expires: float = 3600.0
    """After so many seconds somebody else may get an item that was shown and not answered."""

    def to_json(self) -> str:
        """As a store keeps it; keys that came later are left out where they say nothing: old plans are known again."""
        silent = [name for name in ("finish", "reopen") if getattr(self, name) == getattr(Plan, name)]
        return json.dumps({name: value for name, value in asdict(self).items() if name not in silent}, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """As it was kept; what a newer acidtest has added is left out."""
        return parse_json(text.encode(), "the plan of the store", cls)


def packaged_plans() -> list[str]:
    """The names of the plans that ship with the package."""
    folder = resources.files("acidtest.data").joinpath(FOLDER)
    return sorted(file.name.removesuffix(ENDING) for file in folder.iterdir() if file.name.endswith(ENDING))


def plan(name: str | Path) -> Plan:
    """A plan that ships with the package, by name, or one in a file."""
    path = Path(name)
    if path.suffix.lower() == ENDING:
        return parsed_plan(read_bounded(path, MOST_TOML_BYTES), path)
    if str(name) not in packaged_plans():
        raise UnknownNameError("plan", str(name), packaged_plans(), f" (a file's name ends in {ENDING})")
    file = resources.files("acidtest.data").joinpath(FOLDER, f"{name}{ENDING}")
    found = parsed_plan(file.read_bytes(), Path(f"{name}{ENDING}"))
    if found.controls:
        with resources.as_file(resources.files("acidtest.data").joinpath(FOLDER, found.controls)) as controls:
            return replace(found, controls=str(controls))
    return found


def parsed_plan(content: bytes, path: Path) -> Plan:
    """The plan in the text of a TOML file; ``path`` gives its name, and stands in errors."""
    try:
        found = Plan(name=path.name.removesuffix(ENDING), **_values(parse_toml(content, path)))
    except FileError:
        raise
    except AcidtestError as error:
        raise FileError(path, str(error)) from error
    if found.controls and path.parent != Path():
        found = replace(found, controls=str(path.parent / found.controls))
    checked(found)
    return found


def checked(found: Plan) -> Plan:
    """The plan, or an error where its numbers make no sense."""
    numbers = {"per_item": 0, "overlap": 0, "per_annotator": 1, "fail_after": 0, "per_category": 1, "expires": 1}
    for name, least in numbers.items():
        value = getattr(found, name)
        if value is not None and value < least:
            raise AcidtestError(f"plan {found.name!r}: {name} is {value}; it is {least} or more")
    if found.overlap is not None and found.per_item == 1:
        raise AcidtestError(
            f"plan {found.name!r}: an overlap of {found.overlap:,} items is judged by several people; say by how many "
            "(--per-item 2), or by everybody (--per-item 0)"
        )
    return found


def _values(written: Mapping[str, Any]) -> dict[str, Any]:
    kinds = {field.name: field.type for field in fields(Plan) if field.name != "name"}
    values = dict[str, Any]()
    for name, value in written.items():
        if name not in kinds:
            raise UnknownNameError("key", name, kinds)
        kind = str(kinds[name])
        if kind.startswith(("int", "float")) and (isinstance(value, bool) or not isinstance(value, int)):
            raise AcidtestError(f"{name} = {value!r} is no whole number")
        if kind == "bool" and not isinstance(value, bool):
            raise AcidtestError(f"{name} = {value!r} is neither true nor false")
        if kind == "str" and not isinstance(value, str):
            raise AcidtestError(f"{name} = {value!r} is no text; put it in quotes")
        values[name] = value
    try:
        if "arguments" in values:
            values["arguments"] = tuple((str(key), str(value)) for key, value in values["arguments"].items())
        if "merged" in values:
            values["merged"] = tuple((each["column"], each["value"], each["left"]) for each in values["merged"])
    except (AttributeError, KeyError, TypeError) as error:
        raise AcidtestError("arguments is a table, merged a list of tables with column, value and left") from error
    category, merged = values.get("category", []), values.get("merged", ())
    lists = [category, *map(list, merged)]
    if not all(isinstance(texts, list) and all(isinstance(text, str) for text in texts) for texts in lists):
        raise AcidtestError('category is a list of columns: category = ["…", "…"]; in merged are texts, too')
    return values | {"category": tuple(category)}


def categories(frame: pl.DataFrame, found: Plan) -> pl.Series:
    """The category of each row of a table, empty where the plan has none."""
    if not found.category:
        return pl.Series("category", [""] * frame.height, dtype=pl.String)
    missing = [name for name in found.category if name not in frame.columns]
    if missing:
        made = f"; make such a file with: acidtest generate {found.suite} -o FILE" if found.suite else ""
        raise AcidtestError(f"plan {found.name!r} needs the columns {some(missing)}{made}")
    parts = []
    for name in found.category:
        text = pl.col(name).cast(pl.String).fill_null("")
        for column, value, left in found.merged:
            if left == name:
                text = pl.when(pl.col(column) == value).then(pl.lit("")).otherwise(text)
        parts.append(text)
    return frame.select(pl.concat_str(parts, separator=" ").str.strip_chars().alias("category")).to_series()


def drawn(frame: pl.DataFrame, found: Plan, *, seed: int) -> pl.DataFrame:
    """The rows that are judged, with their category: ``per_category`` of each, or all."""
    frame = frame.with_columns(categories(frame, found).alias("_category"))
    if found.per_category is None:
        return frame
    sizes = frame.group_by("_category", maintain_order=True).len()
    for category, size in sizes.filter(pl.col("len") < found.per_category).head(1).iter_rows():
        raise AcidtestError(
            f"plan {found.name!r} draws {found.per_category} items of each category, but {category!r} has {size}; "
            "give it a larger file"
        )
    bits = Draws(seed, "annotate").bits(pl.int_range(frame.height, eager=True).cast(pl.UInt64).to_numpy(), "drawn")
    ranked = frame.with_columns(pl.Series("_bits", bits)).with_columns(
        _rank=pl.col("_bits").rank("ordinal").over("_category")
    )
    return ranked.filter(pl.col("_rank") <= found.per_category).drop("_bits", "_rank")


def seats(count: int, found: Plan, *, seed: int) -> list[int]:
    """How many people judge each of some items; the overlap is drawn by the seed."""
    several = found.per_item or EVERYBODY
    if found.overlap is None:
        return [several] * count
    if found.overlap > count:
        raise AcidtestError(f"an overlap of {found.overlap:,} items was asked for, but there are {count:,}")
    rows = pl.int_range(count, eager=True).cast(pl.UInt64).to_numpy()
    order = Draws(seed, "annotate").bits(rows, "overlap").argsort()
    overlapping = {int(row) for row in order[: found.overlap]}
    return [several if row in overlapping else 1 for row in range(count)]
