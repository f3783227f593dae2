"""Renders the checks of a suite as a document: one table, then examples of what was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from acidtest.core.document import Column, Document, Note, Part, Row, Section, Table, describe_count
from acidtest.studies.check import LEAK, CheckResult

JUDGEMENT = "judgement"
"""The column of the sheet that a reader fills in."""


def document(result: CheckResult) -> Document:
    """A table of checks, and examples of repeats, contradictions and odd texts."""
    columns = (Column("verdict", "text"), Column("measured"), Column("chance"), Column("what it says", "text"))
    rows = tuple(
        Row(name, (check.verdict, check.measured, check.against, check.sentence))
        for name, check in result.checks.items()
    )
    labels = ", ".join(f"{count:,} {label}" for label, count in result.labels.items())
    parts: list[Part] = [
        Note(f"{describe_count(result.rows, 'pair')}: {labels}."),
        Table("checks", "", columns, rows, "check"),
    ]
    parts += [
        Section(f"Examples: {name}", (_examples(name, check.examples),), folded=True)
        for name, check in result.checks.items()
        if check.examples
    ]
    return Document(
        title="acidtest check",
        headline=_headline(result),
        parts=tuple(parts),
        models=(result.name,),
        signatures={result.name: result.signature},
        methods=(
            "One sentence alone: balanced accuracy of a softmax regression on words and bigrams, groups held out in "
            f"five folds. The check of hypotheses fails where that is surely more than {100 * LEAK:.0f} points above "
            "chance.",
            "Length: the share of couples of pairs, one with the label and one without, in which the one with it is "
            "longer; one half is chance.",
            f"Intervals are 95 % intervals; pairs of one group count together. Seed {result.seed}.",
        ),
    )


def _examples(name: str, examples: Sequence[Mapping[str, str]]) -> Table:
    kinds = tuple(dict.fromkeys(kind for example in examples for kind in example))
    columns = tuple(Column(kind, "text") for kind in kinds)
    rows = (Row(str(number), tuple(one.get(kind, "") for kind in kinds)) for number, one in enumerate(examples, 1))
    return Table(f"{name} examples", "", columns, tuple(rows), "pair")


def _headline(result: CheckResult) -> str:
    looks = [name for name, check in result.checks.items() if check.verdict == "look"]
    look = f" Worth a look: {', '.join(looks)}." if looks else ""
    if failed := result.failed:
        return f"{result.name} fails {len(failed)} of {len(result.checks)} checks: {', '.join(failed)}.{look}"
    return f"{result.name} passes: none of {len(result.checks)} checks fails.{look}"


def rows(result: CheckResult) -> pl.DataFrame:
    """The sheet to read, without gold: a reader writes entailment, neutral or contradiction into its last column."""
    return result.sheet.select("id", "premise", "hypothesis", pl.lit("").alias(JUDGEMENT))


def gold_rows(result: CheckResult) -> pl.DataFrame:
    """What the sheet leaves out: the gold of its pairs, and the cells they come from."""
    return result.sheet.rename({"label": "gold"}).drop("premise", "hypothesis")
