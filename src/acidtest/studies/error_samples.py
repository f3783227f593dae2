"""Samples of a run's errors for people to sort: drawn, written with what can be measured of them, and read back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from acidtest.core.apportionment import apportioned
from acidtest.core.digests import digests
from acidtest.core.draws import Draws
from acidtest.core.errors import AcidtestError, FileError, UnknownNameError
from acidtest.core.logs import log
from acidtest.core.run import Run
from acidtest.core.suite import CONTROL, CROSS
from acidtest.io.gold import row_error
from acidtest.io.tables import Table, read_table
from acidtest.studies.typology import AMBIGUITY, CATEGORIES, VERSION, WORLD_KNOWLEDGE, proposals, vote_columns
from acidtest.text.cues import CUES, cues

STRATA = ("gold", "answer")
"""What the errors of each suite are divided by unless something else is asked for."""

PAIR = ("id", "suite", "premise", "hypothesis", "gold", "answer")
DECISION = ("proposed", "category", "comment")
"""What the rules say, what a person says, and why."""
PROBABILITIES = ("p_entailment", "p_neutral", "p_contradiction")
MATERIAL = "material"
NATURAL, SYNTHETIC = "natural", "synthetic"
"""Pairs that people wrote, and pairs that were made or changed by rules: errors on these tell of the rules too."""
COLUMNS = (*PAIR, *DECISION, *CUES, *PROBABILITIES, MATERIAL, "signature")
"""The columns of a sample; the suites' factors and annotators' labels stand before the last two."""

_ADDED = frozenset({"gold", *DECISION, *CUES, MATERIAL, "signature"})
"""Names that a suite's own column may not keep; it becomes ``source_<name>``."""

_SEVERAL = r"[;,/|+&]| and | or "


@dataclass(frozen=True)
class Decisions:
    """What a person made of a sample of errors, read from its file.

    ``frame`` has suite, id, proposed, category and material; all but the id may be null.
    """

    path: Path
    frame: pl.DataFrame
    signatures: tuple[str, ...] = ()
    never_proposed: tuple[str, ...] = (WORLD_KNOWLEDGE,)
    """Categories for which the rules had nothing to go by."""
    commented: bool = False

    @property
    def prefilled(self) -> bool:
        """Whether every category is still the proposal, without a comment: nobody need have looked at one."""
        same = self.frame.select((pl.col("category") == pl.col("proposed")).fill_null(False).all()).item()
        return bool(same) and self.frame.height > 0 and not self.commented

    @property
    def decided(self) -> pl.DataFrame:
        """The rows that a person has given a category."""
        return self.frame.drop_nulls("category")


def error_sample(
    run: Run,
    *,
    suites: Sequence[str] = (),
    n: int = 100,
    by: Sequence[str] = STRATA,
    seed: int = 0,
    prefill: bool = False,
) -> pl.DataFrame:
    """``n`` errors of a run, or all where there are fewer, with their cues and the category that the rules propose.

    Every stratum, that is every combination of suite and the columns ``by``, has its share of the sample. Which of its
    rows are taken depends on their ids and the seed; they stand in the order of drawing. Where no suites are named, a
    suite with a control is sampled on its untouched pairs, and a pair that several controls hold once: errors on
    changed pairs tell more of the change than of the model. For the same reason suites made by rules, such as ``hans``,
    are sampled only where they are named, or where there is nothing else; a warning says how many errors that leaves
    out. What the model did not answer is left out. ``prefill`` puts the proposals into ``category`` too.
    """
    if n < 1:
        raise AcidtestError(f"-n is a number of errors from 1 on, not {n}")
    errors = _errors(run, suites)
    known = [*STRATA, *_factors(run)]
    for name in by:
        if name not in known:
            raise UnknownNameError("column to divide errors by", name, known)
    strata = ["suite", *(name for name in by if name != "suite")]
    drawn = _drawn(errors, n, strata=strata, seed=seed)
    told = _told(run, drawn)
    category = pl.col("proposed") if prefill else pl.lit(None, pl.String)
    signed = pl.col("signature") + f"|errors:{drawn.height}/{errors.height}|by:{','.join(strata)}|draw:{seed}"
    return told.with_columns(category=category, signature=signed)


def read_decisions(path: str | Path) -> Decisions:
    """The decisions in a file that ``error_sample`` filled and a person edited; what cannot be one names its line."""
    table = read_table(path)
    frame = table.written_frame
    for name in ("id", "category"):
        if name not in frame.columns:
            raise FileError(path, f"has no column {name!r}, as a sample of errors has: acidtest errors RUN -o FILE")
    comments = frame["comment"].cast(pl.String).str.strip_chars().replace("", None) if "comment" in frame else None
    commented = comments is not None and comments.count() > 0
    kept = [name for name in ("suite", "id", *DECISION[:2], MATERIAL, "signature") if name in frame.columns]
    frame = frame.select(pl.col(kept).cast(pl.String).str.strip_chars().replace("", None))
    frame = frame.with_columns(_checked(table, frame[name], name) for name in DECISION[:2] if name in frame.columns)
    absent = [name for name in ("suite", "proposed", MATERIAL, "signature") if name not in frame.columns]
    frame = frame.with_columns(pl.lit(None, pl.String).alias(name) for name in absent)
    _require_ids(table, frame)
    signatures = tuple(frame["signature"].drop_nulls().unique(maintain_order=True))
    silent = (WORLD_KNOWLEDGE,) if vote_columns(table.frame.columns) else (WORLD_KNOWLEDGE, AMBIGUITY)
    return Decisions(Path(path), frame.select("suite", "id", *DECISION[:2], MATERIAL), signatures, silent, commented)


def _errors(run: Run, suites: Sequence[str]) -> pl.DataFrame:
    """The wrong answers of some suites, or of the controls and of the suites that have none."""
    known = list(run.header.suites)
    for name in suites:
        if name not in known:
            raise UnknownNameError("suite in this run", name, known)
    chosen = list(suites) or [name for name in known if name + CONTROL not in known]
    wrong = ~pl.col("correct") & pl.col("answer").is_not_null() & pl.col("suite").is_in(chosen)
    taken = {name: _own_name(name) for name in run.columns if name in _ADDED}
    errors = run.collected(run.frame.lazy().filter(wrong)).rename(taken).rename({"label": "gold"})
    errors = errors.with_columns(_material(errors.columns))
    if not suites:
        errors = _natural(errors)
        again = pl.struct("id", "premise", "hypothesis").is_first_distinct().not_()
        untouched = pl.col("suite").str.ends_with(CONTROL)
        errors = pl.concat([errors.filter(~untouched), errors.filter(untouched).filter(~again)])
    if not errors.height:
        raise AcidtestError(f"{run.header.model.name} made no errors on {', '.join(chosen)}: there is nothing to sort")
    return errors


def _material(columns: Sequence[str]) -> pl.Expr:
    """Whether pairs are natural: their gold rests on what people said, and they were not made of another pair."""
    by_people = pl.col("certainty").is_null() | (pl.col("certainty") == "human") if "certainty" in columns else True
    untouched = pl.col("base_id").is_null() if "base_id" in columns else True
    return (
        pl.when(pl.lit(True) & by_people & untouched).then(pl.lit(NATURAL)).otherwise(pl.lit(SYNTHETIC)).alias(MATERIAL)
    )


def _natural(errors: pl.DataFrame) -> pl.DataFrame:
    """The errors on natural pairs, and a word on the others; all where there are no natural ones."""
    natural = errors.filter(pl.col(MATERIAL) == NATURAL)
    if natural.height in (0, errors.height):
        return errors
    others = errors.filter(pl.col(MATERIAL) == SYNTHETIC)["suite"].value_counts(sort=True)
    told = ", ".join(f"{count:,} on {suite}" for suite, count in others.iter_rows())
    advice = f"for those: --suite {others['suite'][0]}"
    log.warning("left out: %s errors on pairs that rules made (%s); %s", f"{others['count'].sum():,}", told, advice)
    return natural


def _factors(run: Run) -> list[str]:
    """The factors of all suites, as a sample calls them."""
    return list(dict.fromkeys(_own_name(name) for card in run.header.suites.values() for name in card.factors))


def _drawn(errors: pl.DataFrame, n: int, *, strata: Sequence[str], seed: int) -> pl.DataFrame:
    """``n`` rows, from each stratum its share, by suite and in the order of drawing."""
    sizes = errors.group_by(strata).len("_size")
    # Who gets the odd rows is drawn too: a sample smaller than the number of strata must not favour the first ones.
    names = sizes.select(pl.concat_str(pl.col(strata).cast(pl.String).fill_null(""), separator=CROSS)).to_series()
    sizes = sizes.with_columns(pl.Series("_turn", Draws(seed, "error strata").bits(digests(names)))).sort("_turn")
    quota = apportioned(n, sizes["_size"].to_numpy(), most=sizes["_size"].to_numpy())
    quotas = sizes.select(*strata, pl.Series("_quota", quota))
    draws = Draws(seed, "errors").bits(digests(errors["suite"], errors["id"]))
    keyed = errors.with_columns(pl.Series("_draw", draws))
    keyed = keyed.join(quotas, on=strata, how="left", nulls_equal=True, maintain_order="left")
    place = pl.col("_draw").rank("ordinal").over(strata)
    suite_order = pl.col("suite").rle_id()
    return keyed.with_columns(_suite=suite_order).filter(place <= pl.col("_quota")).sort("_suite", "_draw")


def _told(run: Run, drawn: pl.DataFrame) -> pl.DataFrame:
    """The rows with their cues, proposals and where they come from, in the columns of a file."""
    measured = cues(drawn["premise"], drawn["hypothesis"])
    own = _sources(run, drawn.columns)
    sure = run.header.model.probabilities
    probabilities = [pl.col(name) if sure else pl.lit(None, pl.Float32).alias(name) for name in PROBABILITIES]
    signatures = {name: run.header.signature(name) for name in drawn["suite"].unique()}
    return (
        pl.concat([drawn.select(*PAIR, proposals(drawn, measured)), measured.text], how="horizontal")
        .with_columns(
            drawn.select(
                *probabilities,
                *own,
                MATERIAL,
                category=pl.lit(None, pl.String),
                comment=pl.lit(None, pl.String),
                signature=pl.col("suite").replace_strict(signatures) + f"|rules:{VERSION}",
            )
        )
        .select(*PAIR, *DECISION, *CUES, *PROBABILITIES, *own, MATERIAL, "signature")
    )


def _sources(run: Run, columns: Sequence[str]) -> list[str]:
    """The source's columns that say something of a pair: factors, and what its annotators said."""
    factors, votes = _factors(run), vote_columns(columns)
    return [name for name in columns if name in factors or name in votes]


def _own_name(name: str) -> str:
    return f"source_{name}" if name in _ADDED else name


def _checked(table: Table, given: pl.Series, column: str) -> pl.Series:
    """The names of categories, however capitals, spaces and underscores are written."""
    found = given.str.to_lowercase().str.replace_all(r"[\s_]+", " ")
    wrong = found.is_not_null() & ~found.is_in(list(CATEGORIES))
    if wrong.any():
        row = int(np.flatnonzero(wrong.to_numpy())[0])
        raise row_error(table, row, column=column, problem=_problem(found[row], given[row]))
    return found.alias(column)


def _problem(found: str, given: str) -> str:
    parts = [part.strip() for part in re.split(_SEVERAL, found)]
    if len(parts) > 1 and all(part in CATEGORIES for part in parts):
        return f"category {given!r} names {len(parts)}, but an error has one: keep the likelier, comment on the other"
    return str(UnknownNameError("error category", found, CATEGORIES))


def _require_ids(table: Table, frame: pl.DataFrame) -> None:
    missing = frame["id"].is_null()
    if missing.any():
        row = int(np.flatnonzero(missing.to_numpy())[0])
        raise row_error(table, row, column="id", problem="has no id; rows are known again by it")
    twice = frame.select(pl.struct("suite", "id").is_first_distinct().not_()).to_series()
    if twice.any():
        row = int(np.flatnonzero(twice.to_numpy())[0])
        raise row_error(table, row, column="id", problem=f"id {frame['id'][row]!r} stands here for the second time")
