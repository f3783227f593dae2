"""What people decided on a sample of errors: how they spread over the categories of Naik et al. (2018), section 2.

Shares are those among all errors of the run, of which the sample was drawn at random: rows are independent, also where
they have a source sentence in common.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import polars as pl

from acidtest.core.errors import AcidtestError
from acidtest.core.estimate import Estimate
from acidtest.core.study import study
from acidtest.io.published import published_scores
from acidtest.stats.agreement import cohen_kappa
from acidtest.stats.intervals import rate
from acidtest.studies.errors.categories import CATEGORIES
from acidtest.studies.errors.samples import MATERIAL, NATURAL, SYNTHETIC, Decisions, read_decisions

SCHEMA = 1
PUBLISHED = "error typology"
"""The suite under which the paper's shares are kept among published numbers."""


@dataclass(frozen=True)
class PublishedShare:
    """A share of errors that a paper gives: whose, where it is printed, and of which corpus and category."""

    system: str
    source: str
    condition: str
    by: Mapping[str, str]
    value: float


@dataclass(frozen=True)
class CategoryShare:
    """One category: how often people chose it, how often it was proposed, and how many proposals people kept."""

    count: int
    share: Estimate
    proposed: int
    proposed_share: Estimate
    kept: Estimate


@dataclass(frozen=True)
class ErrorsResult:
    """The errors of a sample by category, the published shares beside them.

    ``prefilled``: the categories are the proposals as the file came with them, so that nobody decided on them.
    ``synthetic`` counts the errors on pairs that rules made where the sample has both; they are not counted here.
    Nothing is published about synthetic pairs.
    """

    name: str
    rows: int
    decided: int
    categories: Mapping[str, CategoryShare]
    kept: Estimate
    published: tuple[PublishedShare, ...] = ()
    signatures: tuple[str, ...] = ()
    prefilled: bool = False
    material: str = NATURAL
    synthetic: ErrorsResult | None = None
    schema: int = SCHEMA

    @property
    def by_people(self) -> bool:
        """Whether a person decided on any of the errors."""
        return self.decided > 0 and not self.prefilled


@dataclass(frozen=True)
class CategoryChoices:
    """How often the first person, the second person, and both chose a category."""

    first: int
    second: int
    both: int


@dataclass(frozen=True)
class DisputedError:
    """An error that two people gave different categories."""

    suite: str | None
    id: str
    first: str
    second: str


@dataclass(frozen=True)
class ErrorAgreement:
    """How far two people agree on the same errors; rows that only one of them decided are counted and left out."""

    names: tuple[str, str]
    rows: int
    only: tuple[int, int] = field(metadata={"json": "decided_by_one_only"})
    share: Estimate = field(metadata={"json": "agreement"})
    kappa: Estimate
    categories: Mapping[str, CategoryChoices]
    disagreements: tuple[DisputedError, ...]
    schema: int = SCHEMA


@study(group="look into a run", name="errors")
def error_categories(sample: Annotated[Path, "A sample of errors that somebody sorted."]) -> ErrorsResult:
    """Count what people decided on a sample of a run's errors, the published shares of each category beside it."""
    return count_categories(read_decisions(sample))


def count_categories(decisions: Decisions) -> ErrorsResult:
    """The share of each category among the errors that a person has sorted, and among those the rules have.

    Errors on natural and on synthetic pairs are counted apart: the published shares are of errors on MultiNLI's pairs.
    """
    if MATERIAL not in decisions.frame.columns:
        return _count_material(decisions, NATURAL)
    is_synthetic = (pl.col(MATERIAL) == SYNTHETIC).fill_null(value=False)
    natural = replace(decisions, frame=decisions.frame.filter(~is_synthetic))
    synthetic = replace(decisions, frame=decisions.frame.filter(is_synthetic))
    if not synthetic.frame.height:
        return _count_material(decisions, NATURAL)
    if not natural.frame.height:
        return _count_material(decisions, SYNTHETIC)
    counts = _count_material(natural, NATURAL)
    return replace(counts, synthetic=_count_material(synthetic, SYNTHETIC), prefilled=decisions.prefilled)


def _count_material(decisions: Decisions, material: str) -> ErrorsResult:
    decided = decisions.decided
    proposed = decisions.frame.drop_nulls("proposed")
    kept = decided.drop_nulls("proposed").with_columns(kept=pl.col("category") == pl.col("proposed"))
    never = decisions.never_proposed
    return ErrorsResult(
        name=decisions.path.name,
        rows=decisions.frame.height,
        decided=decided.height,
        categories={
            name: _count_category(name, decided=decided, proposed=_possible(proposed, name, never), kept=kept)
            for name in CATEGORIES
        },
        kept=_rate(kept, "kept", "nobody has decided on a proposal yet"),
        published=_published_shares() if material == NATURAL else (),
        signatures=decisions.signatures,
        prefilled=decisions.prefilled,
        material=material,
    )


def _published_shares() -> tuple[PublishedShare, ...]:
    return tuple(
        PublishedShare(score.system, score.source, score.condition, score.by, score.value)
        for score in published_scores(PUBLISHED)
    )


def error_agreement(first: Decisions, second: Decisions) -> ErrorAgreement:
    """How far two people agree on the errors they both sorted, matched by suite and id."""
    pairs = first.decided.select("suite", "id", first="category").join(
        second.decided.select("suite", "id", second="category"),
        on=["suite", "id"],
        nulls_equal=True,
        maintain_order="left",
    )
    common = first.frame.join(second.frame, on=["suite", "id"], how="semi", nulls_equal=True)
    if not common.height:
        raise AcidtestError(f"{first.path} and {second.path} have no error in common; two people sort the same sample")
    pairs = pairs.with_columns(same=pl.col("first") == pl.col("second"))
    differing = pairs.filter(~pl.col("same")).select("suite", "id", "first", "second")
    return ErrorAgreement(
        names=(str(first.path), str(second.path)),
        rows=pairs.height,
        only=(first.decided.height - pairs.height, second.decided.height - pairs.height),
        share=_rate(pairs, "same", "nothing that both decided on"),
        kappa=cohen_kappa(pairs["first"].to_list(), pairs["second"].to_list()),
        categories={name: _count_agreement(pairs, name) for name in CATEGORIES},
        disagreements=tuple(DisputedError(**row) for row in differing.iter_rows(named=True)),
    )


def _count_category(name: str, *, decided: pl.DataFrame, proposed: pl.DataFrame, kept: pl.DataFrame) -> CategoryShare:
    decided, proposed = (
        frame.with_columns(chosen=pl.col(column) == name)
        for frame, column in ((decided, "category"), (proposed, "proposed"))
    )
    return CategoryShare(
        count=int(decided["chosen"].sum()),
        share=_rate(decided, "chosen", "no error has a category yet"),
        proposed=int(proposed["chosen"].sum()),
        proposed_share=_rate(proposed, "chosen", "nothing to propose it by"),
        kept=_rate(kept.filter(pl.col("proposed") == name), "kept", f"{name} was proposed for no error decided on"),
    )


def _possible(proposed: pl.DataFrame, name: str, never: Sequence[str]) -> pl.DataFrame:
    """The proposals; none where a category could not have been among them, since that is no share of 0."""
    return proposed.clear() if name in never and name not in proposed["proposed"] else proposed


def _rate(frame: pl.DataFrame, column: str, none: str) -> Estimate:
    return rate(frame[column].to_numpy()) if frame.height else Estimate(math.nan, note=none)


def _count_agreement(pairs: pl.DataFrame, name: str) -> CategoryChoices:
    first, second = pairs["first"] == name, pairs["second"] == name
    return CategoryChoices(int(first.sum()), int(second.sum()), int((first & second).sum()))
