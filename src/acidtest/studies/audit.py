"""What a training set teaches: the shortcuts that would be right in it, what it repeats, what it leaks.

The set is gone through twice, in batches; what is held does not grow with it, but for some twenty bytes a pair that
tell what is new, and as many for a pair of the suites looked for. What needs the pairs themselves is computed on a
sample of whole premises.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import polars as pl

from acidtest.core.logs import stage
from acidtest.core.suite import Suite
from acidtest.stats.significance import holm
from acidtest.studies.audits import measures as measuring
from acidtest.studies.audits.balance import Balance, Counts
from acidtest.studies.audits.batches import GOLD, Batch, genre_column, give_back_memory, parse_columns, visit
from acidtest.studies.audits.cues import LEAST, SMOOTHING, Cues, Polarity, cues, polarity
from acidtest.studies.audits.duplicates import Duplicates, Repetitions
from acidtest.studies.audits.firsts import Memory, Novelty
from acidtest.studies.audits.heuristic_support import MNLI as MNLI
from acidtest.studies.audits.heuristic_support import Support as Support
from acidtest.studies.audits.heuristic_support import SupportCounts
from acidtest.studies.audits.leaks import Leak, LeakSearch, Rest
from acidtest.studies.audits.measures import ByLabel, Sums
from acidtest.studies.audits.near import Near, NearSearch
from acidtest.studies.audits.partial_input import SIDES, PartialInput, partial_input
from acidtest.studies.audits.sampling import SAMPLE, Sample, Sampler
from acidtest.studies.audits.tests_by_label import LabelTest, label_test
from acidtest.studies.audits.vocabulary import ItemCounts, WordCounter
from acidtest.studies.audits.word_pairs import BigramCounter, PairCounter
from acidtest.studies.audits.word_sets import Described

SCHEMA = 1
CORRECTION = "holm"
MOST_NEAR = SAMPLE
"""How many pairs of all suites together are looked for nearly, at most."""

_TESTED_HEURISTICS = ("lexical_overlap", "subsequence")


@dataclass(frozen=True)
class Audit:
    """A training set and what was found in it; a heuristic that could not be told for any pair is None.

    ``ps`` has one p-value for each thing that might be amiss, ``adjusted`` the same after Holm's correction over all
    of them: so all findings that rest on tests together raise a false alarm in at most 5 % of clean sets.
    """

    name: str
    rows: int
    heuristics: Mapping[str, Support | None]
    faithful: bool
    heuristics_by_label: Mapping[str, Mapping[str, int] | None]
    partial_input: Mapping[str, PartialInput]
    cues: Mapping[str, Cues]
    polarity: Polarity
    leakage: tuple[Leak, ...]
    balance: Balance
    measures: Mapping[str, ByLabel]
    phenomena: Mapping[str, Mapping[str, int]]
    duplicates: Duplicates
    near: Near
    sampled: int
    seed: int
    ps: Mapping[str, float] = field(default_factory=dict)

    @property
    def adjusted(self) -> dict[str, float]:
        """Holm's adjusted p-values, by the name of what was tested."""
        return dict(zip(self.ps, map(float, holm(list(self.ps.values()))), strict=True))

    def to_json(self) -> dict[str, Any]:
        """As the command's --json prints it."""
        adjusted = self.adjusted
        by_label = {name: _by_label(name, found, adjusted) for name, found in self.measures.items()}
        return {
            "schema": SCHEMA,
            "name": self.name,
            "rows": self.rows,
            "faithful": self.faithful,
            "seed": self.seed,
            "sampled": self.sampled,
            "heuristics": {name: support and asdict(support) for name, support in self.heuristics.items()},
            "heuristics_by_label": {name: found and dict(found) for name, found in self.heuristics_by_label.items()},
            "partial_input": {side: _partial(side, found, adjusted) for side, found in self.partial_input.items()},
            "cues": {kind: _cues(found) for kind, found in self.cues.items()},
            "polarity": asdict(self.polarity),
            "leakage": [asdict(leak) | {"examples": [dict(each) for each in leak.examples]} for leak in self.leakage],
            "balance": _balance(self.balance),
            "length": {name.removesuffix("_length"): by_label[name] for name in measuring.LENGTHS},
            "overlap": by_label[measuring.OVERLAP],
            "negation": {name.removesuffix("_negation"): by_label[name] for name in measuring.NEGATIONS},
            "duplicates": asdict(self.duplicates) | _near(self.near),
            "phenomena": {name: dict(found) for name, found in self.phenomena.items()},
            "tests": {name: {"p": _null(p), "p_adjusted": _null(adjusted[name])} for name, p in self.ps.items()},
            "correction": CORRECTION,
        }


def audit(
    suite: Suite, *, against: Sequence[Suite] = (), faithful: bool = False, seed: int = 0, sample_size: int = SAMPLE
) -> Audit:
    """Everything an audit looks at; pairs of the suites ``against`` are looked for in the training set.

    ``faithful`` tells words apart as the scripts released with HANS do, for the heuristics only. ``seed`` draws the
    sample and the folds.
    """
    stage("looking at %s", suite.name)
    first = _FirstPass(suite, against, faithful=faithful, seed=seed, sample_size=sample_size)
    visit(suite, first.look, columns=first.columns)
    sample, words = first.sampler.sample(), {side: counter.counts() for side, counter in first.words.items()}
    gathered, memory, leaks = _Gathered.of(first, sample), first.novelty.memory, first.leaks
    sample = sample.bare
    # What a pass holds is no longer needed after it, and what comes next needs room.
    del first
    give_back_memory()
    rests = [leaks.pop(0).rest(MOST_NEAR // len(against), seed=seed) for _ in against]
    stage("pairs of words and near duplicates in %s", suite.name)
    second = _SecondPass(words, memory, NearSearch(sample), rests)
    visit(suite, second.look)
    near, leakage, counters = second.near.found(), second.leakage(gathered.leaks), second.counters
    del second, rests
    tied, lean = _tied(words, counters, effect=sample.label_effect)
    partial = {side: partial_input(sample, side, seed=seed) for side in SIDES}
    return Audit(
        name=suite.name,
        rows=gathered.rows,
        heuristics=gathered.heuristics,
        faithful=faithful,
        heuristics_by_label=gathered.heuristics_by_label,
        partial_input=partial,
        cues=tied,
        polarity=lean,
        leakage=leakage,
        balance=gathered.balance,
        measures=gathered.measures,
        phenomena=gathered.phenomena,
        duplicates=gathered.duplicates,
        near=near,
        sampled=sample.frame.height,
        seed=seed,
        ps={
            **{f"{side} only": each.p for side, each in partial.items()},
            **gathered.ps,
            **{f"cues {kind}": each.p for kind, each in tied.items()},
            **({"genre": gathered.balance.p} if gathered.balance.genres else {}),
        },
    )


KINDS = ("hypothesis_words", "hypothesis_bigrams", "premise_words", "word_pairs")
"""What is looked for cues: words and bigrams of the hypothesis, words of the premise, one of each."""


class _FirstPass:
    """Everything that is gathered when the set is gone through for the first time."""

    def __init__(self, suite: Suite, against: Sequence[Suite], *, faithful: bool, seed: int, sample_size: int) -> None:
        parses, genre = parse_columns(suite), genre_column(suite)
        self.columns = (*parses, *([genre] if genre else []))
        self.rows = 0
        self.support = SupportCounts(parses, faithful=faithful)
        self.counts = Counts(genre)
        self.sums = Sums()
        self.sampler = Sampler(seed, sample_size)
        self.novelty = Novelty()
        self.repetitions = Repetitions()
        self.words = {f"{side}_words": WordCounter(side) for side in ("hypothesis", "premise")}
        self.leaks = [LeakSearch(other) for other in against]

    def look(self, batch: Batch) -> None:
        """Take some pairs."""
        self.rows += batch.height
        applies = self.support.add(batch)
        self.counts.add(batch)
        values = measuring.measured(batch)
        self.sums.add(batch, values)
        flags = {name: applies[name].astype(np.float64) for name in _TESTED_HEURISTICS}
        self.sampler.add(batch, values.with_columns(pl.Series(name, each) for name, each in flags.items()))
        firsts = self.novelty.add(batch)
        self.repetitions.add(batch, firsts)
        for counter in self.words.values():
            counter.add(batch, firsts[counter.side].label)
        for search in self.leaks:
            search.add(batch)


@dataclass(frozen=True)
class _Gathered:
    """What the first pass found."""

    rows: int
    heuristics: Mapping[str, Support | None]
    heuristics_by_label: Mapping[str, Mapping[str, int] | None]
    leaks: tuple[Leak, ...]
    balance: Balance
    measures: Mapping[str, ByLabel]
    phenomena: Mapping[str, Mapping[str, int]]
    duplicates: Duplicates
    ps: Mapping[str, float]

    @classmethod
    def of(cls, first: _FirstPass, sample: Sample) -> _Gathered:
        """With the sample that tests need."""
        measures = {name: first.sums.by_label(name, sample) for name in measuring.MEASURES}
        by_label = (*measuring.LENGTHS, measuring.OVERLAP, *measuring.NEGATIONS)
        heuristic_tests = {f"heuristic {name}": _heuristic_test(name, sample).p for name in _TESTED_HEURISTICS}
        return cls(
            rows=first.rows,
            heuristics=first.support.support(),
            heuristics_by_label=first.support.by_label(),
            leaks=tuple(search.leak() for search in first.leaks),
            balance=first.counts.balance(),
            measures=measures,
            phenomena={name: first.sums.count(name) for name in measuring.PHENOMENA},
            duplicates=first.repetitions.duplicates(first.novelty.kinds),
            ps={name: measures[name].test.p for name in by_label} | heuristic_tests,
        )


class _SecondPass:
    """Pairs of words, now that it is known which are common, and near pairs, now that a sample is drawn."""

    def __init__(
        self, words: Mapping[str, ItemCounts], memory: Memory, near: NearSearch, rests: Sequence[Rest]
    ) -> None:
        self.counters: dict[str, BigramCounter | PairCounter] = {
            "hypothesis_bigrams": BigramCounter(words["hypothesis_words"]),
            "word_pairs": PairCounter(words["premise_words"], words["hypothesis_words"]),
        }
        self.near = near
        self._rests = tuple(rests)
        self._leaks = [NearSearch(rest.sample, left_out=rest.exact) for rest in rests]
        self._memory, self._row = memory, 0

    def look(self, batch: Batch) -> None:
        """Take some pairs, in the order of the first pass."""
        known = self._memory.rows(self._row, batch.height)
        self._row += batch.height
        self.counters["hypothesis_bigrams"].add(batch, known["hypothesis"])
        self.counters["word_pairs"].add(batch, known["pair"])
        described = Described.of(batch)
        for search in (self.near, *self._leaks):
            search.look(batch, described)

    def leakage(self, leaks: Sequence[Leak]) -> tuple[Leak, ...]:
        """Leaks with what was found nearly."""
        each = zip(leaks, self._rests, self._leaks, strict=True)
        return tuple(leak.with_near(search.found(), rest.examples) for leak, rest, search in each)


def _tied(
    words: Mapping[str, ItemCounts], counters: dict[str, BigramCounter | PairCounter], *, effect: float
) -> tuple[dict[str, Cues], Polarity]:
    """What is tied to a label, of words, bigrams and pairs; the counters go, for the room their tables take."""
    found = {kind: cues(each, effect=effect) for kind, each in words.items()}
    found["hypothesis_bigrams"] = cues(counters.pop("hypothesis_bigrams").counts(LEAST), effect=effect)
    pairs = counters.pop("word_pairs").counts(LEAST)
    give_back_memory()
    found["word_pairs"] = cues(pairs, effect=effect)
    return {kind: found[kind] for kind in KINDS}, polarity(pairs, effect=effect)


def _heuristic_test(name: str, sample: Sample) -> LabelTest:
    if name not in sample.frame.columns:
        return LabelTest(math.nan, math.nan, "no pairs")
    entailed = (sample.labels == GOLD.index("entailment")).astype(np.int64)
    return label_test(sample.frame[name].to_numpy(), entailed, sample.groups)


def _partial(side: str, found: PartialInput, adjusted: Mapping[str, float]) -> dict[str, Any]:
    return {
        "accuracy": found.accuracy.to_json(),
        "majority": found.majority.to_json(),
        "majority_label": found.label,
        "balanced_accuracy": found.balanced.to_json(),
        "chance": _null(found.chance),
        "gain": found.gain.to_json(),
        "test": found.test,
        "p": _null(found.p),
        "p_adjusted": _null(adjusted[f"{side} only"]),
    }


def _cues(found: Cues) -> dict[str, Any]:
    top = {label: [asdict(cue) | {"share": cue.share} for cue in listed] for label, listed in found.top.items()}
    return {
        "tested": found.tested,
        "least": LEAST,
        "smoothing": SMOOTHING,
        "correction": CORRECTION,
        "tied": dict(found.tied),
        "top": top,
    }


def _near(found: Near) -> dict[str, Any]:
    return {
        "near": found.near,
        "near_same_label": found.same_label,
        "near_of": found.of,
        "near_examples": [dict(each) for each in found.examples],
    }


def _balance(found: Balance) -> dict[str, Any]:
    return {
        "labels": dict(found.labels),
        "genre_column": found.genre_column,
        "genres": {genre: dict(labels) for genre, labels in found.genres.items()},
        "cramers_v": _null(found.cramers_v),
    }


def _by_label(name: str, found: ByLabel, adjusted: Mapping[str, float]) -> dict[str, Any]:
    return {
        "by_label": {label: mean.to_json() for label, mean in found.means.items()},
        "explained": _null(found.explained),
        "largest_difference": _null(found.largest),
        "p": _null(found.test.p),
        "p_adjusted": _null(adjusted.get(name, math.nan)),
        "note": found.test.note,
    }


def _null(value: float) -> float | None:
    return None if math.isnan(value) else value
