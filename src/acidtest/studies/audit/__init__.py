"""Audit of a training set: shortcuts that predict its labels, repeated pairs, and pairs of suites that it contains.

The set is read twice, in batches. Memory does not grow with it, except for about twenty bytes per pair to recognise
repeated pairs, and as much per pair of the suites searched for. Whatever needs the texts is computed on a sample of
whole premises.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np
import numpy.typing as npt

from acidtest.core.document import Finding
from acidtest.core.logs import stage
from acidtest.core.study import study
from acidtest.core.suite import PARSES, Suite
from acidtest.pairs.heuristics import HEURISTICS
from acidtest.stats.significance import holm
from acidtest.studies.audit.cues import (
    ALPHA,
    CORRECTION,
    CueResult,
    ItemCounts,
    Polarity,
    TwoWordCounter,
    WordCounter,
    find_cues,
    measure_polarity,
)
from acidtest.studies.audit.measures import (
    BIASES,
    LENGTHS,
    NEGATIONS,
    OVERLAP,
    PHENOMENA,
    Balance,
    LabelCounter,
    MeasureByLabel,
    MeasureSums,
    Support,
    label_test,
    measure_pairs,
)
from acidtest.studies.audit.near import HashedPairs, NearSearch
from acidtest.studies.audit.repetition import NEW_HYPOTHESIS, NEW_PAIR, Duplicates, Leak, LeakSearch, Repetitions
from acidtest.studies.scoring.pair_batches import (
    GOLD,
    SAMPLE,
    SIDES,
    PairBatch,
    PremiseSample,
    PremiseSampler,
    give_back_memory,
    visit_pairs,
)
from acidtest.studies.scoring.partial_input import PartialInput, partial_input

SCHEMA = 1

CUE_KINDS = ("hypothesis_words", "hypothesis_bigrams", "premise_words", "word_pairs")
"""Kinds of cues: words and bigrams of the hypothesis, words of the premise, a word of each."""

_TESTED_HEURISTICS = ("lexical_overlap", "subsequence")


@dataclass(frozen=True)
class AuditTest:
    """The p-value of one test of the audit, raw and after Holm's correction over all tests."""

    p: float
    p_adjusted: float = math.nan


@dataclass(frozen=True)
class AuditResult:
    """The results of an audit; a heuristic that could not be decided for any pair is None.

    ``tests`` has one corrected p-value for each possible bias, so that at most 5 % of clean sets get a finding based on
    a test. ``phenomena`` counts pairs by label, ``phenomenon_shares`` has their shares of a label's pairs. ``sampled``
    is the number of pairs in the sample.
    """

    name: str
    rows: int
    faithful: bool
    seed: int
    sampled: int
    heuristics: Mapping[str, Support | None]
    heuristics_by_label: Mapping[str, Mapping[str, int] | None]
    partial_input: Mapping[str, PartialInput]
    cues: Mapping[str, CueResult]
    polarity: Polarity
    leakage: tuple[Leak, ...]
    balance: Balance
    length: Mapping[str, MeasureByLabel]
    overlap: MeasureByLabel
    negation: Mapping[str, MeasureByLabel]
    duplicates: Duplicates
    phenomena: Mapping[str, Mapping[str, int]]
    tests: Mapping[str, AuditTest]
    phenomenon_shares: Mapping[str, MeasureByLabel] = field(default_factory=dict, metadata={"json": None})
    findings: tuple[Finding, ...] = ()
    correction: str = CORRECTION
    schema: int = SCHEMA

    @property
    def measures(self) -> dict[str, MeasureByLabel]:
        """Results for length, overlap and negation, keyed by the names in ``BIASES``."""
        lengths = {f"{side}_length": measure for side, measure in self.length.items()}
        negations = {f"{side}_negation": measure for side, measure in self.negation.items()}
        return {**lengths, OVERLAP: self.overlap, **negations}


@study(group="make and check data")
def audit(
    train: Annotated[Suite, "A training set: any NLI file whose layout is recognised."],
    *,
    against: Annotated[Sequence[Suite], "Suites to look for in it."] = (),
    faithful: Annotated[bool, "Count the heuristics as the scripts released with HANS do."] = False,
    seed: Annotated[int, "Seed of every random choice."] = 0,
) -> AuditResult:
    """Look at a training set for shortcuts, repetitions and leaks.

    Pairs that support and contradict each heuristic of HANS, labels told from one sentence alone, words tied to a
    label, length, overlap and negation by label, duplicates, and pairs of suites that stand in it.
    """
    from acidtest.studies.audit.findings import find_biases

    stage("looking at %s", train.name)
    first = _FirstPass(train, against, faithful=faithful, seed=seed)
    visit_pairs(train, first.add, columns=first.columns)
    sample, words = first.sampler.sample(), {side: counter.counts() for side, counter in first.words.items()}
    result, marks, searches = first.result(sample), first.repetitions.marks(), first.leaks
    sample = replace(sample, frame=sample.frame.select("premise", "hypothesis"))
    # Free the memory of the first pass before the second needs it.
    del first
    give_back_memory()
    suites = [searches.pop(0).sample(SAMPLE // len(against), seed=seed) for _ in against]
    stage("pairs of words and near duplicates in %s", train.name)
    second = _SecondPass(words, marks, [sample, *(others for _, others in suites)])
    visit_pairs(train, second.add)
    result = second.add_near_pairs(result, [examples for examples, _ in suites])
    counters = second.counters
    del second, suites
    # Holm's correction over the audit's tests is at its strictest for the smallest p-value.
    alpha = ALPHA / (len(result.tests) + len(CUE_KINDS) + len(SIDES) + bool(result.balance.genres))
    cues, polarity = _count_cues(words, counters, effect=sample.label_effect, alpha=alpha)
    result = replace(result, cues=cues, polarity=polarity)
    alone = {side: partial_input(sample, side, seed=seed, alpha=alpha) for side in SIDES}
    result = replace(result, partial_input=alone)
    result = _correct_tests(result)
    return replace(result, findings=find_biases(result))


class _FirstPass:
    """Counts everything that the first reading of the set allows, and draws the sample."""

    def __init__(self, train: Suite, against: Sequence[Suite], *, faithful: bool, seed: int) -> None:
        self._name, self._faithful, self._seed = train.name, faithful, seed
        names = train.frame.collect_schema().names()
        genres = [name for name in names if name.lower().startswith("genre") or name.lower() == "domain"][:1]
        self.columns = [*(name for name in PARSES[:2] if name in names), *genres]
        self._labels = LabelCounter(genres[0] if genres else None)
        self._sums = MeasureSums()
        self.sampler = PremiseSampler(seed)
        self.repetitions = Repetitions()
        self.words = {f"{side}_words": WordCounter(side) for side in SIDES}
        self.leaks = [LeakSearch(suite) for suite in against]

    def add(self, batch: PairBatch) -> None:
        self._labels.add(batch)
        measures = measure_pairs(batch, faithful=self._faithful)
        self._sums.add(batch, measures)
        self.sampler.add(batch, measures)
        new = self.repetitions.add(batch)
        for counter in self.words.values():
            counter.add(batch, new[counter.side].label)
        for search in self.leaks:
            search.add(batch)

    def result(self, sample: PremiseSample) -> AuditResult:
        """The result so far, with uncorrected p-values of measures and heuristics; later steps fill in the rest."""
        balance = self._labels.balance()
        heuristics = {name: self._sums.support(name) for name in HEURISTICS}
        measures = {name: self._sums.by_label(name, sample) for name in (*BIASES, *PHENOMENA)}
        entailed = (sample.labels == GOLD.index("entailment")).astype(np.int64)
        ps = {name: measures[name].p for name in BIASES}
        for name in _TESTED_HEURISTICS:
            ps[f"heuristic {name}"], _ = label_test(sample.frame[name].to_numpy(), entailed, sample.groups)
        return AuditResult(
            name=self._name,
            rows=sum(balance.labels.values()),
            faithful=self._faithful,
            seed=self._seed,
            sampled=sample.frame.height,
            heuristics=heuristics,
            heuristics_by_label={name: self._sums.count(name) if known else None for name, known in heuristics.items()},
            partial_input={},
            cues={},
            polarity=Polarity(0, {}, {}),
            leakage=tuple(search.leak() for search in self.leaks),
            balance=balance,
            length={name.removesuffix("_length"): measures[name] for name in LENGTHS},
            overlap=measures[OVERLAP],
            negation={name.removesuffix("_negation"): measures[name] for name in NEGATIONS},
            duplicates=self.repetitions.duplicates(),
            phenomena={name: self._sums.count(name) for name in PHENOMENA},
            tests={name: AuditTest(p) for name, p in ps.items()},
            phenomenon_shares={name: measures[name] for name in PHENOMENA},
        )


class _SecondPass:
    """Counts pairs of common words, and searches for near duplicates of the samples drawn in the first pass."""

    def __init__(
        self, words: Mapping[str, ItemCounts], marks: npt.NDArray[np.uint8], samples: Sequence[PremiseSample]
    ) -> None:
        self.counters = {
            "hypothesis_bigrams": TwoWordCounter(words["hypothesis_words"]),
            "word_pairs": TwoWordCounter(words["hypothesis_words"], words["premise_words"]),
        }
        self._searches = [NearSearch(sample) for sample in samples]
        self._marks, self._row = marks, 0

    def add(self, batch: PairBatch) -> None:
        """Count and search a batch; batches must come in the order of the first pass."""
        marks = self._marks[self._row : self._row + batch.frame.height]
        self._row += batch.frame.height
        self.counters["hypothesis_bigrams"].add(batch, marks & NEW_HYPOTHESIS > 0)
        self.counters["word_pairs"].add(batch, marks & NEW_PAIR > 0)
        hashed = HashedPairs.of(batch.words)
        for search in self._searches:
            search.search(batch, hashed)

    def add_near_pairs(self, result: AuditResult, examples: Sequence[Sequence[Mapping[str, str]]]) -> AuditResult:
        """The result with counts and examples of near duplicates, in the set itself and in suites."""
        train, *suites = self._searches
        duplicates = replace(result.duplicates, **vars(train.counts()), near_examples=train.examples())
        leakage = []
        for leak, exact, search in zip(result.leakage, examples, suites, strict=True):
            near = ({"match": "near", **example} for example in search.examples())
            leakage.append(replace(leak, **vars(search.counts()), examples=(*exact, *near)))
        return replace(result, duplicates=duplicates, leakage=tuple(leakage))


def _count_cues(
    words: Mapping[str, ItemCounts], counters: dict[str, TwoWordCounter], *, effect: float, alpha: float
) -> tuple[dict[str, CueResult], Polarity]:
    """Cues of each kind, and the polarity of word pairs; removes the counters to free the memory of their tables."""
    cues = {kind: find_cues(counts, effect=effect, alpha=alpha) for kind, counts in words.items()}
    cues["hypothesis_bigrams"] = find_cues(counters.pop("hypothesis_bigrams").counts(), effect=effect, alpha=alpha)
    pairs = counters.pop("word_pairs").counts()
    give_back_memory()
    cues["word_pairs"] = find_cues(pairs, effect=effect, alpha=alpha)
    return {kind: cues[kind] for kind in CUE_KINDS}, measure_polarity(pairs, effect=effect)


def _correct_tests(result: AuditResult) -> AuditResult:
    """The result with Holm's correction over all its p-values."""
    ps = {
        **{f"{side} only": part.p for side, part in result.partial_input.items()},
        **{name: test.p for name, test in result.tests.items()},
        **{f"cues {kind}": part.p for kind, part in result.cues.items()},
        **({"genre": result.balance.p} if result.balance.genres else {}),
    }
    adjusted = dict(zip(ps, map(float, holm(list(ps.values()))), strict=True))
    measures = {name: replace(measure, p_adjusted=adjusted[name]) for name, measure in result.measures.items()}
    parts = {side: replace(part, p_adjusted=adjusted[f"{side} only"]) for side, part in result.partial_input.items()}
    return replace(
        result,
        tests={name: AuditTest(p, adjusted[name]) for name, p in ps.items()},
        partial_input=parts,
        length={side: measures[f"{side}_length"] for side in result.length},
        overlap=measures[OVERLAP],
        negation={side: measures[f"{side}_negation"] for side in result.negation},
    )
