"""Samples of a run's errors: drawn with their cues and a proposed category, and read back once people sorted them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import Draws, apportion
from acidtest.core.errors import AcidtestError, FileError, UnknownNameError
from acidtest.core.logs import log
from acidtest.core.run import Run
from acidtest.core.suite import CONTROL, CROSS
from acidtest.io.columns import row_error
from acidtest.io.tables import FileTable, read_table
from acidtest.studies.errors.categories import (
    AMBIGUITY,
    CATEGORIES,
    VERSION,
    WORLD_KNOWLEDGE,
    propose_categories,
    vote_columns,
)
from acidtest.text.cues import CUES, cues

STRATA = ("gold", "answer")
"""The columns that divide the errors of a suite into strata by default."""

PAIR = ("id", "suite", "premise", "hypothesis", "gold", "answer")
DECISION = ("proposed", "category", "comment")
"""The category that rules propose, the one that a person chose, and a comment."""
PROBABILITIES = ("p_entailment", "p_neutral", "p_contradiction")
MATERIAL = "material"
NATURAL, SYNTHETIC = "natural", "synthetic"
"""Pairs that people wrote, and pairs that rules made or changed: errors on the latter may come from the rules."""
COLUMNS = (*PAIR, *DECISION, *CUES, *PROBABILITIES, MATERIAL, "signature")
"""The columns of a sample; the suites' factors and annotators' labels are inserted before the last two."""

_ADDED = frozenset({"gold", *DECISION, *CUES, MATERIAL, "signature"})
"""Columns that a sample adds; a column of the suite with such a name becomes ``source_<name>``."""

_SEVERAL = r"[;,/|+&]| and | or "


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
        """Whether every category equals the proposal and nobody wrote a comment, so that perhaps nobody looked."""
        same = self.frame.select((pl.col("category") == pl.col("proposed")).fill_null(False).all()).item()
        return bool(same) and self.frame.height > 0 and not self.commented

    @property
    def decided(self) -> pl.DataFrame:
        """The rows that a person has given a category."""
        return self.frame.drop_nulls("category")


def sample_errors(
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
    rows are drawn depends on their ids and the seed; they are in the order of drawing. Where no suites are named, a
    suite with a control is sampled on its untouched pairs, and a pair in several controls once: errors on changed pairs
    say more about the change than about the model. For the same reason suites made by rules, such as ``hans``, are
    sampled only where they are named, or where there is nothing else; a warning counts the errors left out. Pairs
    without an answer are left out. ``prefill`` also writes the proposals into ``category``.
    """
    if n < 1:
        raise AcidtestError(f"-n is a number of errors from 1 on, not {n}")
    errors = _errors(run, suites)
    known = [*STRATA, *_factors(run)]
    for name in by:
        if name not in known:
            raise UnknownNameError("column to divide errors by", name, known)
    strata = ["suite", *(name for name in by if name != "suite")]
    drawn = _draw(errors, n, strata=strata, seed=seed)
    rows = _sample_rows(run, drawn)
    category = pl.col("proposed") if prefill else pl.lit(None, pl.String)
    signed = pl.col("signature") + f"|errors:{drawn.height}/{errors.height}|by:{','.join(strata)}|draw:{seed}"
    return rows.with_columns(category=category, signature=signed)


def read_decisions(path: str | Path) -> Decisions:
    """The decisions in a file that ``sample_errors`` filled and a person edited; a mistake in it names its line."""
    table = read_table(path)
    frame = table.written_frame
    for name in ("id", "category"):
        if name not in frame.columns:
            raise FileError(path, f"has no column {name!r}, as a sample of errors has: acidtest errors RUN -o FILE")
    comments = frame["comment"].cast(pl.String).str.strip_chars().replace("", None) if "comment" in frame else None
    commented = comments is not None and comments.count() > 0
    kept = [name for name in ("suite", "id", *DECISION[:2], MATERIAL, "signature") if name in frame.columns]
    frame = frame.select(pl.col(kept).cast(pl.String).str.strip_chars().replace("", None))
    frame = frame.with_columns(
        _parse_categories(table, frame[name], name) for name in DECISION[:2] if name in frame.columns
    )
    absent = [name for name in ("suite", "proposed", MATERIAL, "signature") if name not in frame.columns]
    frame = frame.with_columns(pl.lit(None, pl.String).alias(name) for name in absent)
    _require_ids(table, frame)
    signatures = tuple(frame["signature"].drop_nulls().unique(maintain_order=True))
    never_proposed = (WORLD_KNOWLEDGE,) if vote_columns(table.frame.columns) else (WORLD_KNOWLEDGE, AMBIGUITY)
    frame = frame.select("suite", "id", *DECISION[:2], MATERIAL)
    return Decisions(Path(path), frame, signatures, never_proposed, commented)


def _errors(run: Run, suites: Sequence[str]) -> pl.DataFrame:
    """The wrong answers on the suites that are named, or on controls and suites without a control."""
    known = list(run.header.suites)
    for name in suites:
        if name not in known:
            raise UnknownNameError("suite in this run", name, known)
    chosen = list(suites) or [name for name in known if name + CONTROL not in known]
    wrong = ~pl.col("correct") & pl.col("answer").is_not_null() & pl.col("suite").is_in(chosen)
    renamed = {name: _column_name(name) for name in run.columns if name in _ADDED}
    errors = run.collected(run.frame.lazy().filter(wrong)).rename(renamed).rename({"label": "gold"})
    errors = errors.with_columns(_material(errors.columns))
    if not suites:
        errors = _prefer_natural(errors)
        repeated = pl.struct("id", "premise", "hypothesis").is_first_distinct().not_()
        untouched = pl.col("suite").str.ends_with(CONTROL)
        errors = pl.concat([errors.filter(~untouched), errors.filter(untouched).filter(~repeated)])
    if not errors.height:
        raise AcidtestError(f"{run.header.model.name} made no errors on {', '.join(chosen)}: there is nothing to sort")
    return errors


def _material(columns: Sequence[str]) -> pl.Expr:
    """Whether pairs are natural: people decided on gold, and the pair was not made from another one."""
    by_people = pl.col("certainty").is_null() | (pl.col("certainty") == "human") if "certainty" in columns else True
    untouched = pl.col("base_id").is_null() if "base_id" in columns else True
    return (
        pl.when(pl.lit(True) & by_people & untouched).then(pl.lit(NATURAL)).otherwise(pl.lit(SYNTHETIC)).alias(MATERIAL)
    )


def _prefer_natural(errors: pl.DataFrame) -> pl.DataFrame:
    """The errors on natural pairs, with a warning about the others; all errors where none is on a natural pair."""
    natural = errors.filter(pl.col(MATERIAL) == NATURAL)
    if natural.height in (0, errors.height):
        return errors
    others = errors.filter(pl.col(MATERIAL) == SYNTHETIC)["suite"].value_counts(sort=True)
    counts = ", ".join(f"{count:,} on {suite}" for suite, count in others.iter_rows())
    advice = f"for those: --suite {others['suite'][0]}"
    log.warning("left out: %s errors on pairs that rules made (%s); %s", f"{others['count'].sum():,}", counts, advice)
    return natural


def _factors(run: Run) -> list[str]:
    """The factors of all suites, under their names in a sample."""
    return list(dict.fromkeys(_column_name(name) for card in run.header.suites.values() for name in card.factors))


def _draw(errors: pl.DataFrame, n: int, *, strata: Sequence[str], seed: int) -> pl.DataFrame:
    """``n`` rows, each stratum in proportion to its size, ordered by suite and then by draw."""
    sizes = errors.group_by(strata).len("_size")
    # Strata that get the odd rows are drawn too: a sample smaller than the number of strata must not favour the first.
    names = sizes.select(pl.concat_str(pl.col(strata).cast(pl.String).fill_null(""), separator=CROSS)).to_series()
    sizes = sizes.with_columns(pl.Series("_turn", Draws(seed, "error strata").bits(digests(names)))).sort("_turn")
    quota = apportion(n, sizes["_size"].to_numpy(), most=sizes["_size"].to_numpy())
    quotas = sizes.select(*strata, pl.Series("_quota", quota))
    draws = Draws(seed, "errors").bits(digests(errors["suite"], errors["id"]))
    keyed = errors.with_columns(pl.Series("_draw", draws))
    keyed = keyed.join(quotas, on=strata, how="left", nulls_equal=True, maintain_order="left")
    place = pl.col("_draw").rank("ordinal").over(strata)
    suite_order = pl.col("suite").rle_id()
    return keyed.with_columns(_suite=suite_order).filter(place <= pl.col("_quota")).sort("_suite", "_draw")


def _sample_rows(run: Run, drawn: pl.DataFrame) -> pl.DataFrame:
    """The rows in the columns of a sample: with their cues, proposals and signatures."""
    measured = cues(drawn["premise"], drawn["hypothesis"])
    extra = _extra_columns(run, drawn.columns)
    has_probabilities = run.header.model.probabilities
    probabilities = [
        pl.col(name) if has_probabilities else pl.lit(None, pl.Float32).alias(name) for name in PROBABILITIES
    ]
    signatures = {name: run.header.signature(name) for name in drawn["suite"].unique()}
    return (
        pl.concat([drawn.select(*PAIR, propose_categories(drawn, measured)), measured.text], how="horizontal")
        .with_columns(
            drawn.select(
                *probabilities,
                *extra,
                MATERIAL,
                category=pl.lit(None, pl.String),
                comment=pl.lit(None, pl.String),
                signature=pl.col("suite").replace_strict(signatures) + f"|rules:{VERSION}",
            )
        )
        .select(*PAIR, *DECISION, *CUES, *PROBABILITIES, *extra, MATERIAL, "signature")
    )


def _extra_columns(run: Run, columns: Sequence[str]) -> list[str]:
    """The columns of the suites that a sample keeps: factors, and the labels of single annotators."""
    factors, votes = _factors(run), vote_columns(columns)
    return [name for name in columns if name in factors or name in votes]


def _column_name(name: str) -> str:
    return f"source_{name}" if name in _ADDED else name


def _parse_categories(table: FileTable, written: pl.Series, column: str) -> pl.Series:
    """The names of categories, whatever capitals, spaces and underscores they are written with."""
    names = written.str.to_lowercase().str.replace_all(r"[\s_]+", " ")
    wrong = names.is_not_null() & ~names.is_in(list(CATEGORIES))
    if wrong.any():
        row = int(np.flatnonzero(wrong.to_numpy())[0])
        raise row_error(table, row, column=column, problem=_describe_unknown(names[row], written[row]))
    return names.alias(column)


def _describe_unknown(name: str, written: str) -> str:
    parts = [part.strip() for part in re.split(_SEVERAL, name)]
    if len(parts) > 1 and all(part in CATEGORIES for part in parts):
        return f"category {written!r} names {len(parts)}, but an error has one: keep the likelier, comment on the other"
    return str(UnknownNameError("error category", name, CATEGORIES))


def _require_ids(table: FileTable, frame: pl.DataFrame) -> None:
    missing = frame["id"].is_null()
    if missing.any():
        row = int(np.flatnonzero(missing.to_numpy())[0])
        raise row_error(table, row, column="id", problem="has no id; rows are matched by it")
    repeated = frame.select(pl.struct("suite", "id").is_first_distinct().not_()).to_series()
    if repeated.any():
        row = int(np.flatnonzero(repeated.to_numpy())[0])
        raise row_error(table, row, column="id", problem=f"id {frame['id'][row]!r} occurs a second time")
