"""What a training set teaches: the shortcuts that would be right in it, what it repeats, what it leaks.

The set is read twice, in batches; what is held does not grow with it, but for some twenty bytes a pair by which new
pairs are known, and as many for a pair of the suites looked for. What needs the pairs themselves is computed on a
sample of whole premises.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
import polars as pl

from acidtest.core.logs import stage
from acidtest.core.study import study
from acidtest.core.suite import Suite
from acidtest.stats.significance import holm
from acidtest.studies.audit.batches import (
    GOLD,
    SAMPLE,
    SIDES,
    PairBatch,
    PremiseSample,
    PremiseSampler,
    genre_column,
    give_back_memory,
    parse_columns,
    visit_pairs,
)
from acidtest.studies.audit.cues import LEAST, CueResult, Polarity, find_cues, measure_polarity
from acidtest.studies.audit.findings import find_biases
from acidtest.studies.audit.labels import Balance, HeuristicCounter, LabelCounter, Support
from acidtest.studies.audit.measures import (
    BIASES,
    LENGTHS,
    MEASURES,
    NEGATIONS,
    OVERLAP,
    PHENOMENA,
    LabelTest,
    MeasureByLabel,
    MeasureSums,
    label_test,
    measure_pairs,
)
from acidtest.studies.audit.near import HashedPairs, NearPairs, NearSearch
from acidtest.studies.audit.partial_input import PartialInput, partial_input
from acidtest.studies.audit.repetition import (
    Duplicates,
    Leak,
    LeakSearch,
    Novelty,
    NoveltyMarks,
    Repetitions,
    SuiteSample,
)
from acidtest.studies.audit.result import AuditResult, AuditTest
from acidtest.studies.audit.words import BigramCounter, ItemCounts, PairCounter, WordCounter

MOST_NEAR = SAMPLE
"""How many pairs of all suites together are looked for nearly, at most."""

CUE_KINDS = ("hypothesis_words", "hypothesis_bigrams", "premise_words", "word_pairs")
"""What is searched for cues: words and bigrams of the hypothesis, words of the premise, one of each."""

_TESTED_HEURISTICS = ("lexical_overlap", "subsequence")


@study(group="make and check data")
def audit(
    train: Annotated[Suite, "A training set: any NLI file whose layout is recognised."],
    *,
    against: Annotated[Sequence[Suite], "Suites to look for in it."] = (),
    faithful: Annotated[bool, "Split words as the scripts released with HANS do, for the heuristics."] = False,
    seed: Annotated[int, "Seed of every random choice."] = 0,
) -> AuditResult:
    """Look at a training set for shortcuts, repetitions and leaks.

    Pairs that support and contradict each heuristic of HANS, labels told from one sentence alone, words tied to a
    label, length, overlap and negation by label, duplicates, and pairs of suites that stand in it.
    """
    stage("looking at %s", train.name)
    first = _FirstPass(train, against, faithful=faithful, seed=seed)
    visit_pairs(train, first.add, columns=first.columns)
    sample, words = first.sampler.sample(), {side: counter.counts() for side, counter in first.words.items()}
    counted, marks, searches = _FirstPassResult.of(first, sample), first.novelty.marks, first.leaks
    sample = sample.without_measures()
    # What a pass holds is no longer needed after it, and what comes next needs room.
    del first
    give_back_memory()
    suite_samples = [searches.pop(0).sample(MOST_NEAR // len(against), seed=seed) for _ in against]
    stage("pairs of words and near duplicates in %s", train.name)
    second = _SecondPass(words, marks, NearSearch(sample), suite_samples)
    visit_pairs(train, second.add)
    near, leakage, counters = second.near.result(), second.leakage(counted.leaks), second.counters
    del second, suite_samples
    cues, polarity = _count_cues(words, counters, effect=sample.label_effect)
    partial = {side: partial_input(sample, side, seed=seed) for side in SIDES}
    tests = _correct_tests(counted, partial, cues)
    measures = {
        name: replace(measure, p_adjusted=tests[name].p_adjusted if name in tests else math.nan)
        for name, measure in counted.measures.items()
    }
    result = AuditResult(
        name=train.name,
        rows=counted.rows,
        faithful=faithful,
        seed=seed,
        sampled=sample.frame.height,
        heuristics=counted.heuristics,
        heuristics_by_label=counted.heuristics_by_label,
        partial_input={
            side: replace(part, p_adjusted=tests[f"{side} only"].p_adjusted) for side, part in partial.items()
        },
        cues=cues,
        polarity=polarity,
        leakage=leakage,
        balance=counted.balance,
        length={name.removesuffix("_length"): measures[name] for name in LENGTHS},
        overlap=measures[OVERLAP],
        negation={name.removesuffix("_negation"): measures[name] for name in NEGATIONS},
        duplicates=_with_near(counted.duplicates, near),
        phenomena=counted.phenomena,
        tests=tests,
        phenomenon_shares={name: measures[name] for name in PHENOMENA},
    )
    return replace(result, findings=find_biases(result))


class _FirstPass:
    """Everything that is counted when the set is read for the first time."""

    def __init__(self, train: Suite, against: Sequence[Suite], *, faithful: bool, seed: int) -> None:
        parses, genre = parse_columns(train), genre_column(train)
        self.columns = (*parses, *([genre] if genre else []))
        self.rows = 0
        self.heuristics = HeuristicCounter(parses, faithful=faithful)
        self.labels = LabelCounter(genre)
        self.sums = MeasureSums()
        self.sampler = PremiseSampler(seed)
        self.novelty = Novelty()
        self.repetitions = Repetitions()
        self.words = {f"{side}_words": WordCounter(side) for side in ("hypothesis", "premise")}
        self.leaks = [LeakSearch(suite) for suite in against]

    def add(self, batch: PairBatch) -> None:
        """Take some pairs."""
        self.rows += batch.height
        applies = self.heuristics.add(batch)
        self.labels.add(batch)
        measures = measure_pairs(batch)
        self.sums.add(batch, measures)
        flags = [pl.Series(name, applies[name].astype(np.float64)) for name in _TESTED_HEURISTICS]
        self.sampler.add(batch, measures.with_columns(flags))
        firsts = self.novelty.add(batch)
        self.repetitions.add(batch, firsts)
        for counter in self.words.values():
            counter.add(batch, firsts[counter.side].label)
        for search in self.leaks:
            search.add(batch)


@dataclass(frozen=True)
class _FirstPassResult:
    """What the first pass counted, with the p-values of measures and heuristics."""

    rows: int
    heuristics: Mapping[str, Support | None]
    heuristics_by_label: Mapping[str, Mapping[str, int] | None]
    leaks: tuple[Leak, ...]
    balance: Balance
    measures: Mapping[str, MeasureByLabel]
    phenomena: Mapping[str, Mapping[str, int]]
    duplicates: Duplicates
    ps: Mapping[str, float]

    @classmethod
    def of(cls, first: _FirstPass, sample: PremiseSample) -> _FirstPassResult:
        """With the sample that tests need."""
        measures = {name: first.sums.by_label(name, sample) for name in MEASURES}
        heuristic_tests = {f"heuristic {name}": _test_heuristic(name, sample).p for name in _TESTED_HEURISTICS}
        return cls(
            rows=first.rows,
            heuristics=first.heuristics.support(),
            heuristics_by_label=first.heuristics.by_label(),
            leaks=tuple(search.leak() for search in first.leaks),
            balance=first.labels.balance(),
            measures=measures,
            phenomena={name: first.sums.count(name) for name in PHENOMENA},
            duplicates=first.repetitions.duplicates(first.novelty.seen),
            ps={name: measures[name].p for name in BIASES} | heuristic_tests,
        )


class _SecondPass:
    """Pairs of words, now that it is known which are common, and near pairs, now that a sample is drawn."""

    def __init__(
        self, words: Mapping[str, ItemCounts], marks: NoveltyMarks, near: NearSearch, suites: Sequence[SuiteSample]
    ) -> None:
        self.counters: dict[str, BigramCounter | PairCounter] = {
            "hypothesis_bigrams": BigramCounter(words["hypothesis_words"]),
            "word_pairs": PairCounter(words["premise_words"], words["hypothesis_words"]),
        }
        self.near = near
        self._suites = tuple(suites)
        self._searches = [NearSearch(suite.sample, left_out=suite.exact) for suite in suites]
        self._marks, self._row = marks, 0

    def add(self, batch: PairBatch) -> None:
        """Take some pairs, in the order of the first pass."""
        new = self._marks.rows(self._row, batch.height)
        self._row += batch.height
        self.counters["hypothesis_bigrams"].add(batch, new["hypothesis"])
        self.counters["word_pairs"].add(batch, new["pair"])
        hashed = HashedPairs.of(batch)
        for search in (self.near, *self._searches):
            search.search(batch, hashed)

    def leakage(self, leaks: Sequence[Leak]) -> tuple[Leak, ...]:
        """Leaks with what was found nearly, and with examples."""
        complete = []
        for leak, suite, search in zip(leaks, self._suites, self._searches, strict=True):
            near = search.result()
            examples = (*suite.examples, *({"match": "near", **example} for example in near.examples))
            complete.append(
                replace(leak, near=near.near, near_same_label=near.same_label, near_of=near.of, examples=examples)
            )
        return tuple(complete)


def _correct_tests(
    counted: _FirstPassResult, partial: Mapping[str, PartialInput], cues: Mapping[str, CueResult]
) -> dict[str, AuditTest]:
    """Every p-value of the audit, corrected for all of them."""
    ps = {
        **{f"{side} only": part.p for side, part in partial.items()},
        **counted.ps,
        **{f"cues {kind}": part.p for kind, part in cues.items()},
        **({"genre": counted.balance.p} if counted.balance.genres else {}),
    }
    adjusted = map(float, holm(list(ps.values())))
    return {name: AuditTest(p, p_adjusted) for (name, p), p_adjusted in zip(ps.items(), adjusted, strict=True)}


def _with_near(duplicates: Duplicates, near: NearPairs) -> Duplicates:
    return replace(
        duplicates,
        near=near.near,
        near_same_label=near.same_label,
        near_of=near.of,
        near_examples=near.examples,
    )


def _count_cues(
    words: Mapping[str, ItemCounts], counters: dict[str, BigramCounter | PairCounter], *, effect: float
) -> tuple[dict[str, CueResult], Polarity]:
    """What is tied to a label, of words, bigrams and pairs; the counters go, for the room their tables take."""
    cues = {kind: find_cues(counts, effect=effect) for kind, counts in words.items()}
    cues["hypothesis_bigrams"] = find_cues(counters.pop("hypothesis_bigrams").counts(LEAST), effect=effect)
    pairs = counters.pop("word_pairs").counts(LEAST)
    give_back_memory()
    cues["word_pairs"] = find_cues(pairs, effect=effect)
    return {kind: cues[kind] for kind in CUE_KINDS}, measure_polarity(pairs, effect=effect)


def _test_heuristic(name: str, sample: PremiseSample) -> LabelTest:
    if name not in sample.frame.columns:
        return LabelTest(math.nan, math.nan, "no pairs")
    entailed = (sample.labels == GOLD.index("entailment")).astype(np.int64)
    return label_test(sample.frame[name].to_numpy(), entailed, sample.groups)
