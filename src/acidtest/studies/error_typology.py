"""How errors distribute over the categories of Naik et al. (2018), as people decided and as the rules proposed.

The shares are those among all errors of the run, of which the sample was drawn at random: rows are independent, also
where they have a source sentence in common.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from acidtest.core.errors import AcidtestError
from acidtest.core.estimate import Estimate
from acidtest.io.published import PublishedScore, published_scores
from acidtest.stats.intervals import rate
from acidtest.stats.kappa import cohen_kappa
from acidtest.studies.error_samples import MATERIAL, NATURAL, SYNTHETIC, Decisions
from acidtest.studies.typology import CATEGORIES

SCHEMA = 1
PUBLISHED = "error typology"
"""Under which the paper's shares stand among published numbers."""


@dataclass(frozen=True)
class CategoryShare:
    """One category: what people decided, what was proposed, and how many of its proposals people kept."""

    count: int
    share: Estimate
    proposed: int
    proposed_share: Estimate
    kept: Estimate

    def to_json(self) -> dict[str, Any]:
        """As --json prints it."""
        return {
            "count": self.count,
            "share": self.share.to_json(),
            "proposed": self.proposed,
            "proposed_share": self.proposed_share.to_json(),
            "kept": self.kept.to_json(),
        }


@dataclass(frozen=True)
class Typology:
    """The errors of a sample by category, the published shares beside them."""

    name: str
    rows: int
    decided: int
    categories: Mapping[str, CategoryShare]
    kept: Estimate
    published: tuple[PublishedScore, ...] = ()
    signatures: tuple[str, ...] = ()
    prefilled: bool = False
    """Whether the categories are the proposals as they were put there, so that they are nobody's decision."""
    material: str = NATURAL
    """What the pairs are; nothing was published of synthetic ones."""
    synthetic: Typology | None = None
    """The errors on synthetic pairs, where the sample has both; they are not counted here."""

    @property
    def by_people(self) -> bool:
        """Whether anything in it was decided by a person."""
        return self.decided > 0 and not self.prefilled

    def to_json(self) -> dict[str, Any]:
        """As --json prints it."""
        return {
            "schema": SCHEMA,
            "name": self.name,
            "rows": self.rows,
            "decided": self.decided,
            "prefilled": self.prefilled,
            "categories": {name: share.to_json() for name, share in self.categories.items()},
            "kept": self.kept.to_json(),
            "published": [score.to_json() for score in self.published],
            "signatures": list(self.signatures),
            "material": self.material,
            "synthetic": self.synthetic and self.synthetic.to_json(),
        }


@dataclass(frozen=True)
class CategoryAgreement:
    """How often the first, the second, and both people chose a category."""

    first: int
    second: int
    both: int


@dataclass(frozen=True)
class Agreement:
    """What two people made of the same errors.

    ``disagreements`` has suite, id, first and second. Rows that only one of them decided are counted and left out.
    """

    names: tuple[str, str]
    rows: int
    only: tuple[int, int]
    share: Estimate
    kappa: Estimate
    categories: Mapping[str, CategoryAgreement]
    disagreements: pl.DataFrame

    def to_json(self) -> dict[str, Any]:
        """As --json prints it."""
        return {
            "schema": SCHEMA,
            "names": list(self.names),
            "rows": self.rows,
            "decided_by_one_only": list(self.only),
            "agreement": self.share.to_json(),
            "kappa": self.kappa.to_json(),
            "categories": {name: vars(counts) for name, counts in self.categories.items()},
            "disagreements": self.disagreements.to_dicts(),
        }


def typology(decisions: Decisions) -> Typology:
    """The share of each category among the errors that a person has sorted, and among those the rules have.

    Errors on natural and on synthetic pairs are counted apart: the published shares are of errors on MultiNLI's pairs.
    """
    if MATERIAL not in decisions.frame.columns:
        return _counted(decisions, NATURAL)
    is_synthetic = (pl.col(MATERIAL) == SYNTHETIC).fill_null(value=False)
    natural = replace(decisions, frame=decisions.frame.filter(~is_synthetic))
    synthetic = replace(decisions, frame=decisions.frame.filter(is_synthetic))
    if not synthetic.frame.height:
        return _counted(decisions, NATURAL)
    if not natural.frame.height:
        return _counted(decisions, SYNTHETIC)
    return replace(_counted(natural, NATURAL), synthetic=_counted(synthetic, SYNTHETIC), prefilled=decisions.prefilled)


def _counted(decisions: Decisions, material: str) -> Typology:
    decided = decisions.decided
    proposed = decisions.frame.drop_nulls("proposed")
    judged = decided.drop_nulls("proposed")
    kept = judged.with_columns(kept=pl.col("category") == pl.col("proposed"))
    never = decisions.never_proposed
    return Typology(
        name=decisions.path.name,
        rows=decisions.frame.height,
        decided=decided.height,
        categories={
            name: _category(name, decided=decided, proposed=_without(proposed, name, never), kept=kept)
            for name in CATEGORIES
        },
        kept=_rate(kept, "kept", "nobody has decided on a proposal yet"),
        published=tuple(published_scores(PUBLISHED)) if material == NATURAL else (),
        signatures=decisions.signatures,
        prefilled=decisions.prefilled,
        material=material,
    )


def agreement(first: Decisions, second: Decisions) -> Agreement:
    """How far two people agree on the errors they both sorted, matched by suite and id."""
    own, other = first.decided, second.decided
    pairs = own.select("suite", "id", first="category").join(
        other.select("suite", "id", second="category"),
        on=["suite", "id"],
        nulls_equal=True,
        maintain_order="left",
    )
    ids = first.frame.join(second.frame, on=["suite", "id"], how="semi", nulls_equal=True)
    if not ids.height:
        raise AcidtestError(f"{first.path} and {second.path} have no error in common; two people sort the same sample")
    same = pairs.with_columns(same=pl.col("first") == pl.col("second"))
    return Agreement(
        names=(str(first.path), str(second.path)),
        rows=pairs.height,
        only=(own.height - pairs.height, other.height - pairs.height),
        share=_rate(same, "same", "nothing that both decided on"),
        kappa=cohen_kappa(pairs["first"].to_list(), pairs["second"].to_list()),
        categories={name: _agreed(pairs, name) for name in CATEGORIES},
        disagreements=same.filter(~pl.col("same")).select("suite", "id", "first", "second"),
    )


def _category(name: str, *, decided: pl.DataFrame, proposed: pl.DataFrame, kept: pl.DataFrame) -> CategoryShare:
    here, there = (
        frame.with_columns(chosen=pl.col(column) == name)
        for frame, column in ((decided, "category"), (proposed, "proposed"))
    )
    return CategoryShare(
        count=int(here["chosen"].sum()),
        share=_rate(here, "chosen", "no error has a category yet"),
        proposed=int(there["chosen"].sum()),
        proposed_share=_rate(there, "chosen", "nothing to propose it by"),
        kept=_rate(kept.filter(pl.col("proposed") == name), "kept", f"{name} was proposed for no error decided on"),
    )


def _without(proposed: pl.DataFrame, name: str, never: Sequence[str]) -> pl.DataFrame:
    """The proposals; none where a category could not have been among them, since that is no share of 0."""
    return proposed.clear() if name in never and name not in proposed["proposed"] else proposed


def _rate(frame: pl.DataFrame, column: str, none: str) -> Estimate:
    if not frame.height:
        return Estimate(math.nan, note=none)
    return rate(frame[column].to_numpy())


def _agreed(pairs: pl.DataFrame, name: str) -> CategoryAgreement:
    first, second = pairs["first"] == name, pairs["second"] == name
    return CategoryAgreement(int(first.sum()), int(second.sum()), int((first & second).sum()))
