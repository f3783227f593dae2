"""What a training set teaches: the shortcuts that would be right in it, what it repeats, what it leaks.

The set is read twice, in batches; what is held does not grow with it, but for some twenty bytes a pair by which new
pairs are known, and as many for a pair of the suites looked for. What needs the pairs themselves is computed on a
sample of whole premises.
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
from acidtest.stats.significance import holm
from acidtest.studies.audit.batches import (
    GOLD,
    SAMPLE,
    SIDES,
    PairBatch,
    PremiseSample,
    PremiseSampler,
    give_back_memory,
    visit_pairs,
)
from acidtest.studies.audit.cues import (
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
from acidtest.studies.audit.partial_input import PartialInput, partial_input
from acidtest.studies.audit.repetition import NEW_HYPOTHESIS, NEW_PAIR, Duplicates, Leak, LeakSearch, Repetitions
from acidtest.text.heuristics import HEURISTICS

SCHEMA = 1

CUE_KINDS = ("hypothesis_words", "hypothesis_bigrams", "premise_words", "word_pairs")
"""What is searched for cues: words and bigrams of the hypothesis, words of the premise, one of each."""

_TESTED_HEURISTICS = ("lexical_overlap", "subsequence")


@dataclass(frozen=True)
class AuditTest:
    """The p-value of one thing that might be amiss, and the same after Holm's correction over all of them."""

    p: float
    p_adjusted: float = math.nan


@dataclass(frozen=True)
class AuditResult:
    """A training set and what was found in it; a heuristic that is not known for any pair is None.

    ``tests`` has one p-value for each thing that might be amiss: so all findings that rest on tests together raise a
    false alarm in at most 5 % of clean sets. ``phenomena`` counts pairs by label, ``phenomenon_shares`` has their
    shares of a label's pairs. ``sampled`` pairs were held in memory for what needs the pairs themselves.
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
        """Length, overlap and negation by the names of measures."""
        lengths = {f"{side}_length": measure for side, measure in self.length.items()}
        negations = {f"{side}_negation": measure for side, measure in self.negation.items()}
        return {**lengths, OVERLAP: self.overlap, **negations}


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
    from acidtest.studies.audit.findings import find_biases

    stage("looking at %s", train.name)
    first = _FirstPass(train, against, faithful=faithful, seed=seed)
    visit_pairs(train, first.add, columns=first.columns)
    sample, words = first.sampler.sample(), {side: counter.counts() for side, counter in first.words.items()}
    result, marks, searches = first.result(sample), first.repetitions.marks(), first.leaks
    sample = replace(sample, frame=sample.frame.select("premise", "hypothesis"))
    # What a pass holds is no longer needed after it, and what comes next needs room.
    del first
    give_back_memory()
    suites = [searches.pop(0).sample(SAMPLE // len(against), seed=seed) for _ in against]
    stage("pairs of words and near duplicates in %s", train.name)
    second = _SecondPass(words, marks, [sample, *(others for _, others in suites)])
    visit_pairs(train, second.add)
    result = second.add_near_pairs(result, [examples for examples, _ in suites])
    counters = second.counters
    del second, suites
    cues, polarity = _count_cues(words, counters, effect=sample.label_effect)
    result = replace(result, cues=cues, polarity=polarity)
    result = replace(result, partial_input={side: partial_input(sample, side, seed=seed) for side in SIDES})
    result = _correct_tests(result)
    return replace(result, findings=find_biases(result))


class _FirstPass:
    """Everything that is counted when the set is read for the first time."""

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
        """What was counted, with uncorrected p-values of measures and heuristics; the second pass adds the rest."""
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
    """Pairs of words, now that it is known which are common, and near pairs, now that samples are drawn."""

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
        """Take some pairs, in the order of the first pass."""
        marks = self._marks[self._row : self._row + batch.frame.height]
        self._row += batch.frame.height
        self.counters["hypothesis_bigrams"].add(batch, marks & NEW_HYPOTHESIS > 0)
        self.counters["word_pairs"].add(batch, marks & NEW_PAIR > 0)
        hashed = HashedPairs.of(batch.words)
        for search in self._searches:
            search.search(batch, hashed)

    def add_near_pairs(self, result: AuditResult, examples: Sequence[Sequence[Mapping[str, str]]]) -> AuditResult:
        """The result with what is nearly the same, in the set itself and in suites, and with examples of leaks."""
        train, *suites = self._searches
        duplicates = replace(result.duplicates, **vars(train.counts()), near_examples=train.examples())
        leakage = []
        for leak, exact, search in zip(result.leakage, examples, suites, strict=True):
            near = ({"match": "near", **example} for example in search.examples())
            leakage.append(replace(leak, **vars(search.counts()), examples=(*exact, *near)))
        return replace(result, duplicates=duplicates, leakage=tuple(leakage))


def _count_cues(
    words: Mapping[str, ItemCounts], counters: dict[str, TwoWordCounter], *, effect: float
) -> tuple[dict[str, CueResult], Polarity]:
    """What is tied to a label, of words, bigrams and pairs; the counters go, for the room their tables take."""
    cues = {kind: find_cues(counts, effect=effect) for kind, counts in words.items()}
    cues["hypothesis_bigrams"] = find_cues(counters.pop("hypothesis_bigrams").counts(), effect=effect)
    pairs = counters.pop("word_pairs").counts()
    give_back_memory()
    cues["word_pairs"] = find_cues(pairs, effect=effect)
    return {kind: cues[kind] for kind in CUE_KINDS}, measure_polarity(pairs, effect=effect)


def _correct_tests(result: AuditResult) -> AuditResult:
    """The result with every p-value corrected for all of them."""
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
