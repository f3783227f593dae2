"""Counts of the categories that people chose for a sample of errors: those of Naik et al. (2018), section 2.

Shares estimate those among all errors of the run, from which the sample was drawn at random: rows are independent, even
if they share a source sentence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import polars as pl

from acidtest.core.errors import AcidtestError, FileError, UnknownNameError
from acidtest.core.estimate import Estimate
from acidtest.core.study import study
from acidtest.io.columns import row_error
from acidtest.io.published import PublishedScore, published_scores
from acidtest.io.tables import FileTable, read_table
from acidtest.stats.agreement import cohen_kappa
from acidtest.stats.intervals import rate
from acidtest.studies.errors.samples import (
    AMBIGUITY,
    CATEGORIES,
    DECISION,
    MATERIAL,
    NATURAL,
    SYNTHETIC,
    WORLD_KNOWLEDGE,
    vote_columns,
)

SCHEMA = 1
PUBLISHED = "error typology"
"""The suite under which the paper's shares are kept among published numbers."""

_SEVERAL = r"[;,/|+&]| and | or "


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
    """The errors of a sample by category, and the published shares.

    ``prefilled``: all categories still equal the proposals, so nobody seems to have decided on them.
    ``synthetic``: the errors on pairs made by rules, if the sample also has natural pairs; the other fields leave them
    out. No shares are published for synthetic pairs.
    """

    name: str
    rows: int
    decided: int
    categories: Mapping[str, CategoryShare]
    kept: Estimate
    published: tuple[PublishedScore, ...] = ()
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


@dataclass(frozen=True)
class Decisions:
    """The categories that a person chose for a sample of errors, read from its file.

    ``frame`` has suite, id, proposed, category and material; all but the id may be null.
    """

    path: Path
    frame: pl.DataFrame
    signatures: tuple[str, ...] = ()
    never_proposed: tuple[str, ...] = (WORLD_KNOWLEDGE,)
    """Categories that the rules could not propose for this sample."""
    commented: bool = False

    @property
    def prefilled(self) -> bool:
        """Whether every category equals the proposal and there is no comment: perhaps nobody has looked yet."""
        same = self.frame.select((pl.col("category") == pl.col("proposed")).fill_null(False).all()).item()
        return bool(same) and self.frame.height > 0 and not self.commented

    @property
    def decided(self) -> pl.DataFrame:
        """The rows that a person has given a category."""
        return self.frame.drop_nulls("category")


@study(group="look into a run", name="errors")
def error_categories(sample: Annotated[Path, "A sample of errors that somebody sorted."]) -> ErrorsResult:
    """Count what people decided on a sample of a run's errors, the published shares of each category beside it."""
    return count_categories(read_decisions(sample))


def read_decisions(path: str | Path) -> Decisions:
    """The decisions in a file that ``sample_errors`` filled and a person edited; errors name the line of a mistake."""
    table = read_table(path)
    frame = table.written_frame
    for name in ("id", "category"):
        if name not in frame.columns:
            raise FileError(path, f"has no column {name!r}, as a sample of errors has: acidtest errors RUN -o FILE")
    columns = ("suite", "id", *DECISION, MATERIAL, "signature")
    absent = [name for name in columns if name not in frame.columns]
    frame = frame.with_columns(pl.lit(None, pl.String).alias(name) for name in absent)
    frame = frame.select(pl.col(columns).cast(pl.String).str.strip_chars().replace("", None))
    frame = frame.with_columns(_parse_categories(table, frame[name]) for name in ("proposed", "category"))
    ids, repeated = frame["id"], frame.select(pl.struct("suite", "id").is_first_distinct().not_()).to_series()
    _refuse_rows(table, ids.is_null(), "id", lambda row: "has no id; rows are matched by it")
    _refuse_rows(table, repeated, "id", lambda row: f"id {ids[row]!r} occurs a second time")
    return Decisions(
        Path(path),
        frame.select("suite", "id", "proposed", "category", MATERIAL),
        signatures=tuple(frame["signature"].drop_nulls().unique(maintain_order=True)),
        never_proposed=(WORLD_KNOWLEDGE,) if vote_columns(table.frame.columns) else (WORLD_KNOWLEDGE, AMBIGUITY),
        commented=frame["comment"].count() > 0,
    )


def _parse_categories(table: FileTable, written: pl.Series) -> pl.Series:
    """The names of categories, whatever capitals, spaces and underscores they are written with."""
    names = written.str.to_lowercase().str.replace_all(r"[\s_]+", " ")

    def describe_unknown(row: int) -> str:
        parts = [part.strip() for part in re.split(_SEVERAL, names[row])]
        if len(parts) > 1 and all(part in CATEGORIES for part in parts):
            advice = "but an error has one: keep the likelier, comment on the other"
            return f"category {written[row]!r} names {len(parts)}, {advice}"
        return str(UnknownNameError("error category", names[row], CATEGORIES))

    _refuse_rows(table, names.is_not_null() & ~names.is_in(list(CATEGORIES)), written.name, describe_unknown)
    return names


def _refuse_rows(table: FileTable, wrong: pl.Series, column: str, describe: Callable[[int], str]) -> None:
    """Raise an error about the first row that is flagged."""
    if wrong.any():
        row = int(wrong.arg_true()[0])
        raise row_error(table, row, column=column, problem=describe(row))


def count_categories(decisions: Decisions) -> ErrorsResult:
    """The share of each category among the choices of people, and among the proposals of the rules.

    Errors on natural and on synthetic pairs are counted apart: the published shares are of errors on MultiNLI's pairs.
    """
    is_synthetic = (pl.col(MATERIAL) == SYNTHETIC).fill_null(value=False)
    natural = replace(decisions, frame=decisions.frame.filter(~is_synthetic))
    synthetic = replace(decisions, frame=decisions.frame.filter(is_synthetic))
    if not synthetic.frame.height:
        return _count_material(natural, NATURAL)
    if not natural.frame.height:
        return _count_material(synthetic, SYNTHETIC)
    counts = _count_material(natural, NATURAL)
    return replace(counts, synthetic=_count_material(synthetic, SYNTHETIC), prefilled=decisions.prefilled)


def _count_material(decisions: Decisions, material: str) -> ErrorsResult:
    decided, proposed = (decisions.frame[name].drop_nulls() for name in ("category", "proposed"))
    both = decisions.frame.drop_nulls(["category", "proposed"])
    kept = both["category"] == both["proposed"]
    categories = {}
    for name in CATEGORIES:
        # A category that could not have been proposed has no share, which is not a share of 0.
        never = name in decisions.never_proposed and name not in proposed
        categories[name] = CategoryShare(
            count=int((decided == name).sum()),
            share=rate(decided == name, empty="no error has a category yet"),
            proposed=int((proposed == name).sum()),
            proposed_share=rate((proposed.clear() if never else proposed) == name, empty="nothing to propose it by"),
            kept=rate(kept.filter(both["proposed"] == name), empty=f"{name} was proposed for no error decided on"),
        )
    published = tuple(replace(score, note="") for score in published_scores(PUBLISHED))
    return ErrorsResult(
        name=decisions.path.name,
        rows=decisions.frame.height,
        decided=len(decided),
        categories=categories,
        kept=rate(kept, empty="nobody has decided on a proposal yet"),
        published=published if material == NATURAL else (),
        signatures=decisions.signatures,
        prefilled=decisions.prefilled,
        material=material,
    )


def error_agreement(first: Decisions, second: Decisions) -> ErrorAgreement:
    """How far two people agree on the errors they both sorted, matched by suite and id."""
    key = ["suite", "id"]
    if first.frame.join(second.frame, on=key, how="semi", nulls_equal=True).is_empty():
        raise AcidtestError(f"{first.path} and {second.path} have no error in common; two people sort the same sample")
    pairs = first.decided.select(*key, first="category").join(
        second.decided.select(*key, second="category"), on=key, nulls_equal=True, maintain_order="left"
    )
    one, two = pairs["first"], pairs["second"]
    counts = [Counter(categories) for categories in (one, two, one.filter(one == two))]
    return ErrorAgreement(
        names=(str(first.path), str(second.path)),
        rows=pairs.height,
        only=(first.decided.height - pairs.height, second.decided.height - pairs.height),
        share=rate(one == two, empty="nothing that both decided on"),
        kappa=cohen_kappa(one.to_list(), two.to_list()),
        categories={name: CategoryChoices(*(chosen[name] for chosen in counts)) for name in CATEGORIES},
        disagreements=tuple(DisputedError(**row) for row in pairs.filter(one != two).iter_rows(named=True)),
    )
