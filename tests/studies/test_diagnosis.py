"""What is said of planted models, whose way of answering is known: every sentence where it fits, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import acidtest
from acidtest.core.document import Finding
from acidtest.core.draws import key
from acidtest.core.labels import LABELS
from acidtest.core.suite import CONTROL, Suite
from acidtest.text.heuristics import words
from acidtest.workflows.runs import Finished

DISTRACTED = ("stress/word-overlap", "stress/negation", "stress/length-mismatch")


@dataclass(frozen=True)
class Asked:
    """One pair as a planted model sees it, which knows gold and where the pair is from."""

    premise: str
    hypothesis: str
    gold: str
    suite: str
    facts: Mapping[str, str]
    overlaps: bool
    """Whether the premise has all words of the hypothesis."""

    @property
    def draw(self) -> float:
        """A number from 0 to 1 that depends on the words alone."""
        return key(self.premise, self.hypothesis) / 2**64

    @property
    def right(self) -> str:
        return {"non-entailment": "neutral", "any": "entailment"}.get(self.gold, self.gold)

    @property
    def wrong(self) -> str:
        return "neutral" if self.right == "entailment" else "entailment"

    @property
    def guess(self) -> str:
        return LABELS[int(3 * self.draw)]


Answer = Callable[[Asked], str]


def hypothesis_only(pair: Asked) -> str:
    spoken = pair.hypothesis.lower().split()
    if {"no", "not", "never", "nobody"} & {*spoken}:
        return "contradiction"
    return "neutral" if len(spoken) > 9 else "entailment"


def loses(suites: Sequence[str], share: float) -> Answer:
    """A right model that errs on some share of the pairs of some suites."""
    return lambda pair: pair.wrong if pair.suite in suites and pair.draw < share else pair.right


PLANTED: Mapping[str, Answer] = {
    **{f"constant {label}": lambda pair, label=label: label for label in LABELS},  # type: ignore[misc]
    "guessing": lambda pair: pair.guess,
    "hypothesis only": hypothesis_only,
    "entailment if overlap, else right": lambda pair: "entailment" if pair.overlaps else pair.right,
    "entailment if overlap, only without negation": (
        lambda pair: "entailment" if pair.overlaps and " no " not in pair.hypothesis else pair.right
    ),
    "entailment if overlap, else guessing": lambda pair: "entailment" if pair.overlaps else pair.guess,
    "contradiction if an antonym": (lambda pair: "contradiction" if pair.facts.get("antonym") == "yes" else pair.right),
    "right": lambda pair: pair.right,
    "loses 6 points when misspelt": loses(["stress/spelling"], 0.06),
    "loses 30 points when distracted": loses(DISTRACTED, 0.3),
    "guesses untouched pairs": lambda pair: pair.guess if pair.suite.endswith(CONTROL) else pair.right,
    "labels turned": lambda pair: LABELS[(LABELS.index(pair.right) + 1) % 3],
    "wrong on antonymy": loses(["stress/antonymy"], 1.0),
    "wrong on HANS where heuristics are": (lambda pair: "entailment" if pair.suite == "hans" else pair.right),
    "wrong on one subcase": (lambda pair: pair.wrong if pair.facts.get("subcase") == "cn_disjunction" else pair.right),
    "never neutral": lambda pair: "contradiction" if pair.right == "neutral" else pair.right,
    "guesses suite cues": lambda pair: pair.guess if pair.suite == "cues" else pair.right,
    "misses entailments in other words": (
        lambda pair: "neutral" if pair.facts.get("form") == "none" and pair.gold == "entailment" else pair.right
    ),
    "better on changed pairs": (
        lambda pair: pair.wrong if pair.suite.endswith(CONTROL) and pair.draw < 0.2 else pair.right
    ),
}

EXPECTED: Mapping[str, Mapping[str, str]] = {
    "constant entailment": {"A1": "severe"},
    "constant neutral": {"A1": "severe"},
    "constant contradiction": {"A1": "severe"},
    "guessing": {"K1": "severe"},
    "hypothesis only": {"F1": "severe"},
    "entailment if overlap, else right": {"Q1": "severe", "G1": "severe", "C1": "good"},
    "entailment if overlap, only without negation": {"Q1": "severe", "G1": "severe", "C1": "good"},
    "entailment if overlap, else guessing": {"K1": "severe"},
    "contradiction if an antonym": {"Q2": "severe", "G1": "severe", "H2": "good", "C1": "good"},
    "right": {"G1": "good", "H2": "good", "C1": "good"},
    "loses 6 points when misspelt": {"C2": "warning", "G1": "good", "H2": "good", "C1": "good"},
    "loses 30 points when distracted": {"C2": "severe", "G1": "good", "H2": "good", "C1": "good"},
    "guesses untouched pairs": {"K1": "severe"},
    "labels turned": {"K2": "severe"},
    "wrong on antonymy": {"B1": "severe", "G1": "good", "H2": "good", "C1": "good"},
    "wrong on HANS where heuristics are": {"H1": "severe", "G1": "good", "C1": "good"},
    "wrong on one subcase": {"S1": "severe", "G1": "good", "C1": "good"},
    "never neutral": {"B2": "severe", "H2": "good", "C1": "good"},
    "guesses suite cues": {"G1": "severe", "H2": "good", "C1": "good"},
    "misses entailments in other words": {"R1": "severe", "H2": "good", "C1": "good"},
    "better on changed pairs": {"C5": "info", "G1": "good", "H2": "good"},
}
"""All that may be said of each planted model: the codes, and how grave each is."""


class Planted:
    """Planted models on small suites, each run once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        names = ("cues", "premises", "hans", "stress/antonymy", "stress/spelling", *DISTRACTED)
        sizes = {"cues": 2, "hans": 25}
        self.suites = {name: acidtest.generate(name, n=sizes.get(name)) for name in names}
        self.pairs: dict[tuple[str, str], Asked] = {}
        for suite in self.suites.values():
            for part in filter(None, (suite.control, suite)):
                self._learn(part)
        self.diagnosis = cache(self._diagnosis)

    def _learn(self, suite: Suite) -> None:
        frame = suite.frame.select("premise", "hypothesis", "label", *suite.card.factors).collect()
        sides = (words(frame["premise"]), words(frame["hypothesis"]))
        for row, premise, hypothesis in zip(frame.iter_rows(named=True), *sides, strict=True):
            pair = row["premise"], row["hypothesis"]
            overlaps = {*hypothesis} <= {*premise}
            self.pairs.setdefault(pair, Asked(*pair, row["label"], suite.name, row, overlaps))

    def predict(self, answer: Answer) -> Callable[[Sequence[str], Sequence[str]], list[str]]:
        return lambda premises, hypotheses: [
            answer(self.pairs[pair]) for pair in zip(premises, hypotheses, strict=True)
        ]

    def run(self, model: object, *suites: str) -> Finished:
        asked = [self.suites[name] for name in suites or self.suites]
        return acidtest.run(model, asked, output=self.folder / "run", fresh=True, page=False)

    def _diagnosis(self, name: str, *suites: str) -> tuple[Finding, ...]:
        model = self.predict(PLANTED[name]) if name in PLANTED else name
        return self.run(model, *suites).scored.diagnosis


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Planted:
    return Planted(tmp_path_factory.mktemp("planted"))


@pytest.mark.parametrize("name", EXPECTED)
def test_a_planted_model_is_told_what_it_was_built_to_do_and_no_more(planted: Planted, name: str) -> None:
    told = planted.diagnosis(name)
    assert {finding.code: finding.severity for finding in told} == EXPECTED[name]
    assert len(told) == len({finding.code for finding in told}) <= 6
