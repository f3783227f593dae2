"""After how many words of a document a model stops reading, from the place of the evidence.

Suites ``grounding/padding``, ``grounding/position`` and ``length-ladder`` put the same evidence at several places of a
longer text. A model that reads a number of words and no more calls supported claims supported if their evidence comes
before that point, and no more often than unsupported claims if it comes later.

Whether the place matters is tested in those suites alone, because they draw it: places are exchanged between texts
that were lengthened equally, so that neither the length of a text nor a difficult claim looks like a limit. The number
of words is then the step that fits all supported claims best, untouched ones included.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.estimate import Estimate
from acidtest.core.labels import GOLD_MASKS
from acidtest.core.run import SuitePattern
from acidtest.core.suite import CONTROL
from acidtest.stats.intervals import rate
from acidtest.stats.resampling import Codes, Floats, generator
from acidtest.studies.scoring.rows import Flags, ScoredRows, score_rows
from acidtest.studies.scoring.severity import LARGE, SURE, excess
from acidtest.studies.verification.claims import CLAIMS, KIND, ClaimReader
from acidtest.studies.verification.result import ReadingLimit

LADDER = SuitePattern(names=("length-ladder",))
EVIDENCE, ORIGINAL = "evidence", "original premise"
MAX_ROWS = 2_000
"""Rows of a suite that are looked at: evidence is sought in long texts."""
MIN_ROWS = 20
PERMUTATIONS = 999
LEVEL = 0.01
"""Of models that read everything at most this share is said to stop, however long texts confuse them."""
SUPPORT = 3.0
"""Numbers of words whose log-likelihood is within this of the best are in the interval.

In simulation of planted readers with up to 15 % errors at least 95 % of intervals cover (docs/results/statistics.md).
"""
ONE_LENGTH = "one length"
_STRATA = {"padding": KIND, "position": ONE_LENGTH}
"""For each edit that moves evidence, the column that tells how much it lengthens texts."""


@dataclass(frozen=True)
class EvidencePlaces:
    """Where the evidence of supported claims is, in words from the start of the text; one entry for each claim."""

    called: Flags
    groups: npt.NDArray[np.uint64]
    before: Floats
    """Words before the part that was moved: the evidence, or its whole document."""
    room: Floats
    """Words of the text without that part."""
    start: Floats
    """Words between its start and the evidence."""
    end: Floats
    """Words between its start and the end of the evidence."""
    strata: Codes
    """Texts that were lengthened equally; -1 where the place was not drawn."""

    @classmethod
    def join(cls, parts: list[EvidencePlaces]) -> EvidencePlaces:
        """The claims of several suites, whose strata stay apart."""
        strata, used = [], 0
        for part in parts:
            strata.append(np.where(part.strata < 0, -1, part.strata + used))
            used += int(part.strata.max(initial=-1)) + 1
        names = ("called", "groups", "before", "room", "start", "end")
        columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
        return cls(strata=np.concatenate(strata), **columns)

    @property
    def drawn(self) -> Flags:
        """Claims whose evidence was put somewhere."""
        return np.asarray(self.strata >= 0)

    def step_test(self, rng: np.random.Generator) -> float:
        """The chance of so large a step if the place of the evidence did not matter."""
        drawn = self.drawn
        called, room, inside = self.called[drawn], self.room[drawn], (self.start[drawn] + self.end[drawn]) / 2
        share = self.before[drawn] / np.maximum(room, 1)
        order = np.argsort(self.strata[drawn], kind="stable")
        keys = self.strata[drawn][order] + rng.random((PERMUTATIONS, len(order)))
        shuffled = share[order][np.argsort(keys, axis=1)]
        places = np.concatenate([share[order][None], shuffled]) * room[order] + inside[order]
        sizes = _step_sizes(np.take_along_axis(np.broadcast_to(called[order], places.shape), places.argsort(axis=1), 1))
        return float((sizes >= sizes[0] - 1e-9).mean())


def reading_limit(reader: ClaimReader, false_support: Estimate, seed: int = 0) -> ReadingLimit | None:
    """The limit of a model; None unless a step is shown, large, and down to how unsupported claims are judged."""
    found = {suite: places for suite, places in _evidence_places(reader) if places.called.size}
    if not found:
        return None
    limit = fit_limit(EvidencePlaces.join([*found.values()]), false_support, seed)
    return replace(limit, suites=tuple(found)) if limit else None


def fit_limit(places: EvidencePlaces, false_support: Estimate, seed: int = 0) -> ReadingLimit | None:
    """``reading_limit`` from the places of evidence."""
    if places.drawn.sum() < MIN_ROWS or len({*places.called[places.drawn].tolist()}) < 2:
        return None
    p = places.step_test(generator(seed))
    if not p < LEVEL:
        return None
    start, end = places.before + places.start, places.before + places.end
    words = _best_step((start + end) / 2, places.called)[0]
    ends = [_best_step(place, places.called)[1:] for place in (start, end)]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    before, beyond = (
        rate(places.called[chosen], groups=places.groups[chosen], empty="no such claims")
        for chosen in (end <= words, start >= words)
    )
    step = excess(before, beyond) if before.known and beyond.known else None
    if step is None or min(before.n, beyond.n) < MIN_ROWS or not (step.value >= LARGE and step.low >= SURE):
        return None
    if false_support.known and beyond.low > false_support.high:
        return None
    estimate = Estimate(words, low, high, len(start), len(np.unique(places.groups)), "profile likelihood of a step")
    return ReadingLimit(estimate, int(end.max()), before, beyond, p, ())


def _evidence_places(reader: ClaimReader) -> Iterator[tuple[str, EvidencePlaces]]:
    """The places in untouched claims, and in the suites that move evidence."""
    run = reader.run
    strata = {name: _STRATA.get(name.partition("/")[2].partition(":")[0], "") for name in reader.edited_suites}
    strata |= dict.fromkeys(LADDER.names_in(run), "words")
    moving = {name: stratum for name, stratum in strata.items() if stratum and name + CONTROL in run.header.suites}
    for suite in CLAIMS.names_in(run) or [name + CONTROL for name in moving][:1]:
        rows = score_rows(run, suite)
        if EVIDENCE in rows.rows.collect_schema():
            yield suite, _places(reader, rows)
    for suite, stratum in moving.items():
        yield suite, _places(reader, score_rows(run, suite), score_rows(run, suite + CONTROL), stratum)


def _places(
    reader: ClaimReader, rows: ScoredRows, control: ScoredRows | None = None, stratum: str = ""
) -> EvidencePlaces:
    """The places in the rows of a suite; texts in which the evidence is not found are left out.

    ``stratum`` is the column whose values tell how much texts were lengthened, or ``ONE_LENGTH``.
    """
    score, called = reader.verdicts(rows)
    asked = np.flatnonzero((rows.gold == GOLD_MASKS["entailment"]) & ~np.isnan(score))
    asked = asked[np.unique(np.linspace(0, len(asked) - 1, min(len(asked), MAX_ROWS)).round().astype(np.intp))]
    schema = rows.rows.collect_schema()
    names = [name for name in ("premise", EVIDENCE, "base_id", stratum) if name in schema]
    texts = rows.run.collected(rows.rows.select(names).select(pl.all().gather(asked)))
    if control is not None:
        columns = [pl.col("id").alias("base_id"), pl.col("premise").alias(ORIGINAL)]
        columns += [pl.col(EVIDENCE)] if EVIDENCE in control.rows.collect_schema() else []
        wanted = control.rows.filter(pl.col("id").is_in(texts["base_id"].implode())).select(columns)
        originals = rows.run.collected(wanted).unique("base_id")
        texts = texts.drop(EVIDENCE, strict=False).join(originals, on="base_id", how="left", maintain_order="left")
    found = [_locate(row, alone=stratum == ONE_LENGTH) for row in texts.iter_rows(named=True)]
    kept = np.array([place is not None for place in found], dtype=np.bool_)
    numbers = np.array([place for place in found if place is not None], dtype=np.float64).reshape(-1, 4)
    strata = np.full(len(asked), -1 if control is None else 0, dtype=np.intp)
    if stratum in texts.columns:
        strata = (texts[stratum].cast(pl.String).rank("dense").fill_null(0)).to_numpy().astype(np.intp)
    groups = rows.digests("group") if "group" in schema else rows.digests("id")
    before, room, start, end = numbers.T
    return EvidencePlaces(called[asked][kept], groups[asked][kept], before, room, start, end, strata[kept])


def _locate(row: dict[str, str | None], *, alone: bool) -> tuple[int, int, int, int] | None:
    """Words before the part that was moved, words without it, and where in it the evidence starts and ends.

    ``alone`` says that the evidence was moved by itself; else its whole document was.
    """
    premise, evidence = row["premise"] or "", (row.get(EVIDENCE) or "").strip().split("\n")[-1]
    moved = evidence if alone else row.get(ORIGINAL) or ""
    part = moved if ORIGINAL in row else premise
    # Without marked evidence, that of a moved document may be anywhere in it.
    evidence = evidence or moved
    at, inside = premise.find(part), part.find(evidence)
    if not part or not evidence or at < 0 or inside < 0:
        return None
    start, words = len(part[:inside].split()), len(part.split())
    return len(premise[:at].split()), len(premise.split()) - words, start, start + len(evidence.split())


def _log_likelihoods(called: npt.NDArray[np.bool_]) -> Floats:
    """For claims in order of place: the log-likelihood of a step down after each; that of no step where it rises."""
    from scipy.special import xlogy

    size, hits = called.shape[-1], called.cumsum(axis=-1, dtype=np.float64)
    total, counts = hits[..., -1:], np.arange(1, size + 1)

    def likelihood(successes: Floats, rows: Floats) -> Floats:
        share = successes / np.maximum(rows, 1)
        return np.asarray(xlogy(successes, share) + xlogy(rows - successes, 1 - share))

    none = likelihood(total, np.array(float(size)))
    step = likelihood(hits, counts) + likelihood(total - hits, size - counts)
    falls = hits / counts > (total - hits) / np.maximum(size - counts, 1)
    return np.where(falls & (counts < size), step, none)


def _step_sizes(called: npt.NDArray[np.bool_]) -> Floats:
    """The gain in log-likelihood by the best step down, for each row of claims in order of place."""
    likelihoods = _log_likelihoods(called)
    return np.asarray(likelihoods.max(axis=-1) - likelihoods[..., -1])


def _best_step(places: Floats, called: Flags) -> tuple[float, float, float]:
    """The place of the step that fits best, and the lowest and the highest that fits nearly as well."""
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    # A step cannot lie between two claims at one place.
    possible = np.append(np.diff(ordered) > 0, False)
    likelihoods = np.where(possible, _log_likelihoods(called[order]), -math.inf)
    best = int(likelihoods.argmax())
    near = np.flatnonzero(likelihoods >= likelihoods[best] - SUPPORT)
    return (ordered[best] + ordered[best + 1]) / 2, float(ordered[near[0]]), float(ordered[near[-1] + 1])
