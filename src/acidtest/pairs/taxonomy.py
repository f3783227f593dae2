"""The taxonomy of Joshi et al. (2020) as data: tree, definitions, examples, and similar categories elsewhere."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal

import polars as pl

from acidtest.core.errors import UnknownNameError
from acidtest.core.structured import parse_toml
from acidtest.core.suite import Card, Suite, complete_columns
from acidtest.io.wordlists import packaged_table

CITATION = "Joshi, Aditya, Sathe and Choudhury (2020), TaxiNLI: Taking a Ride up the NLU Hill, CoNLL"

LICENCE = "Computational Use of Data Agreement 1.0 (C-UDA)"
"""The licence of the published annotations."""

_BY_ENDING = {
    "linguistic": ("lexical", "syntactic", "factivity"),
    "logic": ("negation", "boolean", "quantifier", "conditional", "comparative"),
    "reasoning": ("relational", "spatial", "temporal", "causal", "coreference"),
    "knowledge": ("world", "taxonomic"),
}
"""The annotated categories by the ending that the published file adds to their names."""

CATEGORIES = tuple(name for names in _BY_ENDING.values() for name in names)
"""The fifteen annotated categories, in the order of the published file."""

CATEGORY_COLUMNS = {f"{name}_{ending}": name for ending, names in _BY_ENDING.items() for name in names}
"""Column of the published file → our name, for categories."""

NEUTRAL_FEATURES = ("same_topic", "same_subject", "same_object")
"""Features annotated for neutral pairs only."""

PUBLISHED_COLUMNS = CATEGORY_COLUMNS | dict(
    zip(("general_q2", "subject_q2", "object_q2"), NEUTRAL_FEATURES, strict=True)
)
"""Column of the published file → our name, for categories and neutral features."""

TAXINLI = "TaxiNLI"
"""The published corpus that is annotated with these categories."""

_COLUMN_ORDER = (*CATEGORIES, *NEUTRAL_FEATURES)

EXAMPLES = "taxonomy-examples"
"""The suite name of the example pairs."""

Kind = Literal["group", "category", "feature"]


@dataclass(frozen=True)
class CategoryExample:
    """A pair that shows a category or, if not ``marked``, only seems to; ``also`` are its further categories."""

    premise: str
    hypothesis: str
    label: str
    marked: bool = True
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class OtherName:
    """A similar category of another scheme, and which of the four levels of the paper's table 4 it belongs to."""

    scheme: str
    name: str
    levels: tuple[str, ...]
    note: str


@dataclass(frozen=True)
class Node:
    """A node of the tree: a group, a category, or a feature of neutral pairs."""

    name: str
    title: str
    kind: Kind
    definition: str
    parent: str = ""
    """The group it belongs to; empty at the top."""
    column: str = ""
    """Its column in the published file; empty for groups and for categories not annotated."""
    annotated: bool = True
    examples: tuple[CategoryExample, ...] = ()

    @property
    def other_names(self) -> tuple[OtherName, ...]:
        """Similar inference types of ANLI and diagnostic categories of GLUE."""
        return tuple(
            OtherName(row["scheme"], row["name"], tuple(row["level"].split("|")), row["note"])
            for row in packaged_table("taxonomy/other_schemes.tsv").iter_rows(named=True)
            if self.name in row["categories"].split("|")
        )

    def to_json(self) -> dict[str, Any]:
        """All fields and other names, for JSON output."""
        return {**asdict(self), "other_names": [asdict(other) for other in self.other_names]}


@cache
def taxonomy() -> tuple[Node, ...]:
    """All nodes of the tree, every group before its members."""
    file = resources.files("acidtest.data").joinpath("taxonomy", "tree.toml")
    columns, nodes = {name: column for column, name in PUBLISHED_COLUMNS.items()}, []
    for entry in parse_toml(file.read_bytes(), file.name)["node"]:
        examples = ({**example, "also": tuple(example.get("also", ()))} for example in entry.get("examples", ()))
        nodes.append(
            Node(
                **{**entry, "examples": tuple(CategoryExample(**example) for example in examples)},
                column=columns.get(entry["name"], ""),
            )
        )
    return tuple(nodes)


def node(name: str) -> Node:
    """A node by our name or the published file's; an unknown name raises an error with the nearest."""
    for entry in taxonomy():
        if _as_written(name) in (entry.name, entry.column):
            return entry
    raise UnknownNameError("category of the taxonomy", name, [entry.name for entry in taxonomy()])


def members(group: str = "") -> tuple[Node, ...]:
    """The direct members of a group; without a name, the top nodes of the tree."""
    return tuple(entry for entry in taxonomy() if entry.parent == group)


def taxonomy_name(name: str) -> str:
    """Our name for a column of the published file; any other name unchanged."""
    return PUBLISHED_COLUMNS.get(name, name)


def ordered_categories(names: Sequence[str]) -> tuple[str, ...]:
    """Category names in the order of the taxonomy, by our names; names outside it come last, in the given order."""
    ours = dict.fromkeys(taxonomy_name(name) for name in names)
    order = {name: number for number, name in enumerate(_COLUMN_ORDER)}
    return tuple(sorted(ours, key=lambda name: order.get(name, len(order))))


def is_of_taxonomy(column: str) -> bool:
    """Whether a column name is that of a category or neutral feature, by our name or the published file's."""
    return taxonomy_name(_as_written(column)) in _COLUMN_ORDER


def _as_written(name: str) -> str:
    return name.strip().lower().replace("-", "_").replace(" ", "_")


def is_taxinli(categories: Sequence[str]) -> bool:
    """Whether these are at least eight of the paper's categories and no others, so that its numbers can be compared."""
    names = [name for name in categories if name not in NEUTRAL_FEATURES]
    return len(names) >= 8 and set(names) <= set(CATEGORIES)


def is_published(columns: Collection[str]) -> bool:
    """Whether these columns include all category columns of the published files."""
    return all(column in columns for column in CATEGORY_COLUMNS)


def is_overlap(columns: Collection[str]) -> bool:
    """Whether these are columns of the published overlap with MultiNLI's development sets, which has model answers."""
    return is_published(columns) and "aloxatel/bert-base-mnli" in columns


def path(name: str) -> tuple[str, ...]:
    """The titles of the groups around a category, outermost first."""
    entry = node(name)
    return (*path(entry.parent), node(entry.parent).title) if entry.parent else ()


@cache
def example_pairs() -> Suite:
    """The examples of the categories as annotated pairs; the column ``categories`` lists each pair's, as ``a|b``."""
    rows = [
        (example.premise, example.hypothesis, example.label, "|".join((entry.name,) * example.marked + example.also))
        for entry in taxonomy()
        if entry.kind == "category"
        for example in entry.examples
    ]
    frame = pl.DataFrame(rows, schema=["premise", "hypothesis", "label", "categories"], orient="row")
    frame = frame.with_columns(certainty=pl.lit("human"))
    card = Card(EXAMPLES, licence="Apache-2.0", citation=f"acidtest; {CITATION}", columns={"categories": "text"})
    return Suite(complete_columns(frame, EXAMPLES).lazy(), card).sealed()
