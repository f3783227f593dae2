"""Categories that rules propose for pairs without annotation, and how often the proposals are right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.document import Column, Document, Note, Part, Row, Section, Table, describe_count
from acidtest.core.estimate import Estimate
from acidtest.core.study import study
from acidtest.core.suite import Suite
from acidtest.pairs.category_rules import PREFIX, PROPOSED, VERSION, caution, rule_descriptions, rule_measures
from acidtest.stats.annotators import TagQuality, tag_qualities
from acidtest.stats.intervals import rate

SCHEMA = 1


@dataclass(frozen=True)
class ProposedCategory:
    """A category that a rule proposes: its column, what the rule looks for, and the number of pairs it proposes it for.

    ``measured`` has the rule's quality on the held-out half of TaxiNLI; ``here`` its quality on annotations in the file
    itself, None if there are none.
    """

    column: str
    looks_for: str
    proposed: int
    share: Estimate
    measured: Mapping[str, Estimate]
    here: TagQuality | None


@dataclass(frozen=True)
class TagResult:
    """The categories proposed for a file of pairs; ``untagged`` counts pairs without a proposal."""

    name: str
    rows: int
    untagged: int
    categories: Mapping[str, ProposedCategory]
    notes: tuple[str, ...] = ()
    rules: int = VERSION
    schema: int = SCHEMA


@study(group="make and check data")
def tag(
    tagged: Annotated[Suite, "Pairs with proposed categories, as the suite taxonomy/tagged has them."],
    marked: Annotated[Suite | None, "The same pairs with categories that annotators marked."] = None,
) -> TagResult:
    """Propose categories of reasoning for pairs that nobody annotated, by rules whose precision was measured."""
    names = [PREFIX + name for name in PROPOSED]
    frame = tagged.frame.select("group", *names).collect()
    groups = np.unique(digests(frame["group"]), return_inverse=True)[1]
    proposed = {name: frame[PREFIX + name].to_numpy() for name in PROPOSED}
    known = [name for name in (marked.card.categories if marked else ()) if name in proposed]
    marks = marked.frame.select(known).collect() if marked else pl.DataFrame()
    qualities = tag_qualities(proposed, {name: marks[name].to_numpy() for name in known}, groups=groups)
    rules = rule_descriptions()
    return TagResult(
        name=str(tagged.card.arguments.get("from", tagged.name)),
        rows=frame.height,
        untagged=frame.select((~pl.any_horizontal(names)).sum()).item(),
        categories={
            name: ProposedCategory(
                column=PREFIX + name,
                looks_for=rules[name],
                proposed=int(flags.sum()),
                share=rate(flags, groups=groups),
                measured=rule_measures()[name],
                here=qualities.get(name),
            )
            for name, flags in proposed.items()
        },
        notes=(caution(),),
    )


def document(result: TagResult) -> Document:
    """A document of how often each category is proposed, and how often rightly, on TaxiNLI and in the file itself."""
    parts = list[Part](_tables(result))
    parts += [Note(f"{note[:1].upper()}{note[1:]}.", quiet=True) for note in result.notes]
    rules = tuple(Row(name, (category.looks_for,)) for name, category in result.categories.items())
    table = Table("rules", "", (Column("proposed when", "text"),), rules, "category")
    parts.append(Section("Rules", (table,), folded=True, summary=f"version {result.rules}"))
    return Document(
        title="acidtest tag",
        headline=f"{result.name}: {describe_count(result.rows, 'pair')}, {result.untagged:,} without a proposal.",
        parts=tuple(parts),
    )


def _tables(result: TagResult) -> Iterator[Table]:
    group, proposals, marks = "held-out TaxiNLI", [], []
    for name, category in result.categories.items():
        measured, here = category.measured, category.here
        # The lift of a rule is shown only if its interval lies above 1, that is, above chance.
        lift = measured["lift"] if measured["lift"].low > 1 else "chance"
        cells = (category.proposed, category.share, measured["precision"], measured["recall"], lift)
        proposals.append(Row(name, cells))
        if here:
            marks.append(Row(name, (here.recall.n, here.precision, here.recall, here.f1, here.lift)))
    columns = (
        Column("proposed", "count"),
        Column("share"),
        Column("precision", group=group),
        Column("recall", group=group),
        Column("lift", "number", group=group),
    )
    caption = "Proposals by rules, % with 95 % intervals; precision, recall and lift as measured on pairs of TaxiNLI"
    yield Table("proposals", caption, columns, tuple(proposals), "category")
    if marks:
        caption = "The proposals against the categories that the file itself marks, % with 95 % intervals"
        shares = (Column("precision"), Column("recall"), Column("F1"))
        columns = (Column("marked", "count"), *shares, Column("lift", "number"))
        yield Table("marks", caption, columns, tuple(marks), "category")
