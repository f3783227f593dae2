"""What is said of planted models, whose way of answering is known: every sentence where it fits, and nowhere else."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import acidtest
import acidtest.studies.scores.diagnosis as diagnosis
import acidtest.studies.verification as verification
from acidtest.core.draws import key
from acidtest.core.estimate import Estimate
from acidtest.core.labels import LABELS, one_hot
from acidtest.core.suite import CONTROL, Suite
from acidtest.pairs.heuristics import words
from acidtest.render.html import FINDING_CODES
from acidtest.studies.scores.diagnosis.suites import prompt_findings
from acidtest.studies.scoring.severity import severity

DISTRACTED = ("stress/word-overlap", "stress/negation", "stress/length-mismatch")
BATTERY = ("cues", "premises", "hans", "stress/antonymy", "stress/spelling", *DISTRACTED)
FOUR = tuple(f"{suite}:words={words}" for suite in ("hans", "hans/novel") for words in ("published", "fresh"))
"""The suites by which contamination is measured."""
EXPECTED = Path(__file__).parents[1] / "golden" / "findings.tsv"
"""Code, severity and sentence of every finding about each planted model; no other may be made."""
NONE = "none"
"""The answer of a model that gives none."""


def test_the_finding_about_overlap_shows_pairs_with_overlap_only(tmp_path: Path) -> None:
    run = acidtest.run("baseline:overlap", [acidtest.generate("cues", n=1)], output=tmp_path / "run", page=False)
    assert next(finding.slice for finding in run.findings if finding.code == "Q1") == {"form": "overlap"}


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


@dataclass(frozen=True)
class Planted:
    """A model whose way of answering is known, and what it is asked."""

    answer: Answer | str
    """From a pair to a label, or the name of a model."""
    suites: Sequence[str] = BATTERY
    traits: Mapping[str, Any] = field(default_factory=dict)
    """Attributes of the model beside ``predict``."""


class PlantedModel:
    """Answers pairs that it has learnt by heart."""

    name, columns, notes, batch_size = "planted", ("premise", "hypothesis"), (), 4096
    resolution, probabilities, may_abstain = "three-way", True, False
    fingerprint, keep, independent, lengths = None, "run", False, False

    def __init__(self, pairs: Mapping[tuple[str, str], Asked], planted: Planted) -> None:
        self.pairs, self.answer = pairs, planted.answer
        self.unsure, self.reads = False, 10_000
        vars(self).update(planted.traits)

    def prepare(self, premises: Sequence[str], hypotheses: Sequence[str]) -> SimpleNamespace:
        truncated = np.array([len(premise) > self.reads for premise in premises])
        return SimpleNamespace(pairs=[*zip(premises, hypotheses, strict=True)], truncated=truncated)

    def infer(self, prepared: SimpleNamespace) -> np.ndarray:
        asked = [self.pairs[pair] for pair in prepared.pairs]
        labels = [self.answer(pair) for pair in asked]  # type: ignore[operator]
        rows = one_hot([label if label != NONE else "neutral" for label in labels])
        rows[[label == NONE for label in labels]] = np.nan
        if self.unsure:
            # Entailment is likeliest, but the two other labels together are likelier.
            rows[[pair.gold == "non-entailment" and pair.draw < 0.1 for pair in asked]] = (0.4, 0.3, 0.3)
        return rows

    def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> np.ndarray:
        return self.infer(self.prepare(premises, hypotheses))


def hypothesis_only(pair: Asked) -> str:
    spoken = pair.hypothesis.lower().split()
    if {"no", "not", "never", "nobody"} & {*spoken}:
        return "contradiction"
    return "neutral" if len(spoken) > 9 else "entailment"


def loses(suites: Sequence[str], share: float) -> Answer:
    """A right model that errs on some share of the pairs of some suites."""
    return lambda pair: pair.wrong if pair.suite in suites and pair.draw < share else pair.right


def two_way(label: str) -> str:
    return label if label in ("entailment", NONE) else "neutral"


def overlap_else_right(pair: Asked) -> str:
    return "entailment" if pair.overlaps else pair.right


SWAPPED = "swaps/hypernyms-ex-situ"
TWO_WAY = {"resolution": "two-way"}

PLANTED: Mapping[str, Planted] = {
    "constant": Planted(lambda pair: "neutral"),
    "baseline:majority:entailment": Planted("baseline:majority:entailment"),
    "constant on the suites of contamination": Planted(lambda pair: "entailment", suites=FOUR),
    "never answers": Planted(lambda pair: NONE, traits={"may_abstain": True}),
    "two-way constant": Planted(lambda pair: "neutral", traits=TWO_WAY),
    "guessing": Planted(lambda pair: pair.guess),
    "baseline:overlap": Planted("baseline:overlap"),
    "two-way, mostly non-entailment at random": Planted(
        lambda pair: "entailment" if pair.draw < 0.1 else "neutral", traits=TWO_WAY
    ),
    "guessing, and one answer in ten is missing": Planted(
        lambda pair: NONE if 10 * pair.draw % 1 < 0.1 else pair.guess, traits={"may_abstain": True}
    ),
    "entailment if overlap, else guessing": Planted(lambda pair: "entailment" if pair.overlaps else pair.guess),
    "guesses untouched pairs": Planted(lambda pair: pair.guess if pair.suite.endswith(CONTROL) else pair.right),
    "labels turned": Planted(lambda pair: LABELS[(LABELS.index(pair.right) + 1) % 3]),
    "hypothesis only": Planted(hypothesis_only),
    "hypothesis only, without suite premises": Planted(hypothesis_only, suites=("cues:n=6", "stress/spelling")),
    "hypothesis, and gold in one pair of five": Planted(
        lambda pair: pair.right if pair.draw < 0.2 else hypothesis_only(pair)
    ),
    "right": Planted(lambda pair: pair.right),
    "two-way and right": Planted(lambda pair: two_way(pair.right), traits=TWO_WAY),
    "entailment if overlap, else right": Planted(overlap_else_right),
    "two-way, entailment if overlap, else right": Planted(
        lambda pair: two_way(overlap_else_right(pair)), traits=TWO_WAY
    ),
    "entailment if overlap, only without negation": Planted(
        lambda pair: "entailment" if pair.overlaps and " no " not in pair.hypothesis else pair.right
    ),
    "contradiction if an antonym": Planted(
        lambda pair: "contradiction" if pair.facts.get("antonym") == "yes" else pair.right
    ),
    "contradiction if an antonym or another number": Planted(
        lambda pair: "contradiction" if "yes" in (pair.facts.get("antonym"), pair.facts.get("number")) else pair.right
    ),
    "an unlisted cue in half of the items": Planted(
        lambda pair: LABELS[key(pair.hypothesis[:20]) % 3] if key(pair.hypothesis[:20]) % 2 else pair.right
    ),
    "guesses suite cues": Planted(lambda pair: pair.guess if pair.suite == "cues" else pair.right),
    "misses entailments in other words": Planted(
        lambda pair: "neutral" if pair.facts.get("form") == "none" and pair.gold == "entailment" else pair.right
    ),
    "wrong on HANS where heuristics are": Planted(lambda pair: "entailment" if pair.suite == "hans" else pair.right),
    "wrong on HANS, without suite cues": Planted(
        lambda pair: "entailment" if pair.suite == "hans" else pair.right, suites=("hans", "stress/spelling")
    ),
    "wrong on HANS where one heuristic is": Planted(
        lambda pair: "entailment" if pair.facts.get("heuristic") == "constituent" else pair.right,
        suites=("hans", "stress/spelling"),
    ),
    "wrong on one subcase": Planted(
        lambda pair: pair.wrong if pair.facts.get("subcase") == "cn_disjunction" else pair.right
    ),
    "wrong on antonymy": Planted(loses(["stress/antonymy"], 1.0)),
    "never neutral": Planted(lambda pair: "contradiction" if pair.right == "neutral" else pair.right),
    "loses 6 points when misspelt": Planted(loses(["stress/spelling"], 0.06)),
    "loses 3 points when misspelt": Planted(loses(["stress/spelling"], 0.03)),
    "loses 30 points when distracted": Planted(loses(DISTRACTED, 0.3)),
    "better on changed pairs": Planted(
        lambda pair: pair.wrong if pair.suite.endswith(CONTROL) and pair.draw < 0.2 else pair.right
    ),
    "does not notice that words are swapped": Planted(
        lambda pair: (
            {"entailment": "neutral", "neutral": "entailment"}[pair.right] if pair.suite == SWAPPED else pair.right
        ),
        suites=(SWAPPED,),
    ),
    "one error in three, asked 50 pairs": Planted(
        lambda pair: pair.wrong if pair.draw < 1 / 3 else pair.right, suites=("stress/negation:n=50",)
    ),
    "right, and one answer in ten is missing": Planted(
        lambda pair: NONE if pair.draw < 0.1 else pair.right, traits={"may_abstain": True}, suites=("cues", "hans")
    ),
    "entailment, and one answer in ten is missing": Planted(
        lambda pair: NONE if pair.draw < 0.1 else "entailment", traits={"may_abstain": True}, suites=("cues", "hans")
    ),
    "entailment, and six answers in ten are missing": Planted(
        lambda pair: NONE if pair.draw < 0.6 else "entailment", traits={"may_abstain": True}, suites=("cues", "hans")
    ),
    "right, with long premises cut": Planted(lambda pair: pair.right, traits={"reads": 60}, suites=("cues", "hans")),
    "right, with unsure probabilities": Planted(
        lambda pair: pair.right, traits={"unsure": True}, suites=("cues", "hans")
    ),
    "knows the published pairs of HANS": Planted(
        lambda pair: pair.right if pair.suite == FOUR[0] or pair.draw < 0.4 else "entailment", suites=FOUR
    ),
    "does not know the published pairs of HANS": Planted(
        lambda pair: pair.right if pair.draw < 0.4 else "entailment", suites=FOUR
    ),
}

Said = tuple[str, str, str]


def read_expected() -> dict[str, list[Said]]:
    expected: dict[str, list[Said]] = {}
    for line in EXPECTED.read_text(encoding="utf-8").splitlines()[1:]:
        name, code, grade, sentence = line.split("\t")
        expected.setdefault(name, []).append((code, grade, sentence))
    return expected


def write_expected(expected: Mapping[str, Sequence[Said]]) -> None:
    lines = ["\t".join((name, *said)) for name in PLANTED for said in expected.get(name, ())]
    EXPECTED.write_text("\n".join(["model\tcode\tseverity\tsentence", *lines, ""]), encoding="utf-8", newline="\n")


class Library:
    """The suites that planted models are asked, made once, and the pairs of all of them."""

    SIZES: Mapping[str, int] = {"cues": 2, "hans": 25} | dict.fromkeys(FOUR, 15)

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.suites: dict[str, Suite] = {}
        self.pairs: dict[tuple[str, str], Asked] = {}

    def suite(self, name: str) -> Suite:
        if name not in self.suites:
            base, _, option = name.partition(":")
            option, _, value = option.partition("=")
            size = int(value) if option == "n" else self.SIZES.get(name)
            options = {option: value} if option == "words" else {}
            suite = acidtest.generate(base, n=size, arguments=options)
            # Suites that differ in their words are told apart by name.
            self.suites[name] = suite = replace(suite, card=replace(suite.card, name=name if options else base))
            for part in filter(None, (suite.control, suite)):
                self._learn(part)
        return self.suites[name]

    def _learn(self, suite: Suite) -> None:
        frame = suite.frame.select("premise", "hypothesis", "label", *suite.card.factors).collect()
        sides = (words(frame["premise"]), words(frame["hypothesis"]))
        for row, premise, hypothesis in zip(frame.iter_rows(named=True), *sides, strict=True):
            pair = row["premise"], row["hypothesis"]
            overlaps = {*hypothesis} <= {*premise}
            self.pairs.setdefault(pair, Asked(*pair, row["label"], suite.name, row, overlaps))

    def findings(self, planted: Planted) -> list[Said]:
        suites = [self.suite(name) for name in planted.suites]
        model = planted.answer if isinstance(planted.answer, str) else PlantedModel(self.pairs, planted)
        run = acidtest.run(model, suites, output=self.folder / "run", fresh=True, page=False)
        return [(finding.code, finding.severity, finding.sentence) for finding in run.findings]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return Library(tmp_path_factory.mktemp("planted"))


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_model_is_told_what_it_was_built_to_do_and_no_more(library: Library, name: str) -> None:
    said = library.findings(PLANTED[name])
    if os.environ.get("ACIDTEST_UPDATE_GOLDEN"):
        write_expected({**read_expected(), name: said})
    assert said == read_expected()[name]


def test_every_sentence_of_the_catalogue_is_said_of_a_planted_model() -> None:
    said = {code for findings in read_expected().values() for code, _, _ in findings}
    # What is said of verifiers is planted in test_grounding.py.
    verifiers = EXPECTED.with_name("verifier_findings.tsv").read_text(encoding="utf-8").splitlines()[1:]
    said |= {line.split("\t")[1] for line in verifiers}
    # What is said of a language model follows from counts of its replies, below; a model whose predictions change from
    # call to call is planted in test_changed_models.py.
    said |= {"J1", "J2", "N1"}
    folder = Path(diagnosis.__file__).parent
    paths = [*folder.glob("*.py"), Path(verification.__file__).parent / "findings.py"]
    written = {code for path in paths for code in re.findall(r'"([A-Z]\d)"', path.read_text("utf-8"))}
    # M1 is written by the study of contamination.
    assert said == FINDING_CODES.keys() == written | {"M1"}
    assert read_expected().keys() == PLANTED.keys()


@pytest.mark.parametrize("code", ["A1", "F1", "K1", "K2"])
def test_what_explains_all_answers_is_said_alone(code: str) -> None:
    explained = [said for said in read_expected().values() if code in {finding[0] for finding in said}]
    assert explained
    assert all(len(said) == 1 for said in explained)


@pytest.mark.parametrize(
    ("size", "p", "grade"),
    [
        (Estimate(0.25, 0.11, 0.40), 0.0, "severe"),
        (Estimate(0.20, 0.10, 0.30), 0.0, "severe"),
        (Estimate(0.25, 0.09, 0.40), 0.0, "warning"),
        (Estimate(0.19, 0.15, 0.23), 0.0, "warning"),
        (Estimate(0.05, 0.01, 0.09), 0.0, "warning"),
        (Estimate(0.04, 0.03, 0.05), 0.0, "info"),
        (Estimate(0.25, -0.01, 0.50), 0.0, "info"),
        (Estimate(0.25, 0.11, 0.40), 0.05, "info"),
        (Estimate(0.031, 0.001, 0.06), 0.047, "info"),
        (Estimate(float("nan"), note="no pair"), 0.0, "info"),
    ],
)
def test_severity_follows_size_and_certainty(size: Estimate, p: float, grade: str) -> None:
    # The table of docs/reference/findings.md: 20 and 5 points, 10 of them sure; 3.1 points at p = 0.047 are no warning.
    assert severity(size, p=p) == grade


def prompt_usage(repeats: int, *, reordered: int = 0, reworded: int = 0) -> dict[str, float]:
    return {
        "repeat_compared": 100,
        "repeat_changes": repeats,
        "reorder_compared": 150,
        "reorder_changes": reordered,
        "reprompt_compared": 150,
        "reprompt_changes": reworded,
    }


def test_predictions_that_follow_the_order_of_options_or_the_prompt_are_findings() -> None:
    (order,) = prompt_findings(prompt_usage(0, reordered=73, reworded=1))
    assert (order.code, order.severity) == ("J1", "severe")
    assert order.sentence == (
        "changes 49 % of predictions with the order of the options (0 % when the same prompt is sent twice)"
    )
    both = prompt_findings(prompt_usage(2, reordered=73, reworded=40))
    assert [finding.code for finding in both] == ["J1", "J2"]


def test_replies_that_vary_anyway_are_not_blamed_on_order_or_prompt() -> None:
    rng, accused = np.random.default_rng(0), 0
    for _ in range(200):
        changes = [int(rng.binomial(n, 0.3)) for n in (100, 150, 150)]
        accused += any(
            True for _ in prompt_findings(prompt_usage(changes[0], reordered=changes[1], reworded=changes[2]))
        )
    # The level is 5 % of 200.
    assert accused <= 10 + 3 * 3
    # Without a repetition there is nothing to compare with.
    assert not [*prompt_findings({"order_compared": 150, "order_changes": 73, "reorder_compared": 150})]
