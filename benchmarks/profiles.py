"""Planted models: does the profile find the cues that a model was built to follow, and no others?

    python benchmarks/profiles.py [--each 50] [--rows 9] [--json FILE]

A planted model gives every row of suite ``cues`` probabilities of its three answers; the answers are drawn from these.
The truth of an effect is the same contrast of the probabilities or, where a model draws a label for a whole group (an
unlisted cue), of their mean over such draws. For each kind of model: how often intervals cover the truth,
how often estimates are within three points of it, and how many models are said to use a cue whose true effect is not
above ten points.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from acidtest.core.digests import digests
from acidtest.core.labels import LABELS
from acidtest.stats.resampling import numbered
from acidtest.studies.crossed_suites import crossed_suites
from acidtest.studies.cue_effects import USED, CrossedDesign, value_codes
from acidtest.suites.catalogue import SUITES, Request

Floats = npt.NDArray[np.float64]
Rng = np.random.Generator

SUITE = crossed_suites()["cues"]
CUES = tuple(SUITE.cues)
CLOSE = 0.03
PUSHES = {
    "overlap": 0,
    "subsequence": 0,
    "constituent": 0,
    "negation": 2,
    "hypothesis": 1,
    "antonym": 2,
    "number": 2,
    "length": 1,
    "misspelling": 1,
}
"""The label that a rule answers where its cue is present."""


@dataclass(frozen=True)
class Asked:
    """The rows of suite ``cues`` and which cues each has."""

    design: CrossedDesign
    gold: npt.NDArray[np.int64]
    present: dict[str, npt.NDArray[np.bool_]]

    @classmethod
    def make(cls, rows: int | None, seed: int) -> Asked:
        """The suite with ``rows`` pairs in every cell."""
        frame = SUITES["cues"](Request(n=rows, seed=seed)).frame.collect()
        gold = np.array([LABELS.index(label) for label in frame["label"]])
        names = digests(frame["group"])
        design = CrossedDesign(
            LABELS,
            answer=np.zeros(frame.height, dtype=np.int8),
            gold=(1 << gold).astype(np.uint8),
            groups=numbered(names),
            half=(names & np.uint64(1)).astype(np.bool_),
            suite=SUITE,
            codes=value_codes(frame, SUITE),
            hypotheses=frame["hypothesis"],
        )
        # A run of words overlaps, and a clause is a run: a form has the cues of the forms before it.
        present = {
            name: design.codes[cue.column] >= SUITE.values[cue.column].index(cue.present)
            for name, cue in SUITE.cues.items()
        }
        return cls(design, gold, present)

    def follow(self, cue: str, otherwise: Floats) -> Floats:
        """Answers that follow a cue where it is present, and something else elsewhere."""
        return np.where(self.present[cue][:, None], one_hot(np.full(len(self.gold), PUSHES[cue])), otherwise)


def one_hot(labels: npt.NDArray[np.int64]) -> Floats:
    """Certain answers as probabilities."""
    return np.eye(len(LABELS))[labels]


class Planted:
    """The probabilities of a model's answers, and their mean over the draws that the model itself has made."""

    def __init__(self, drawn: Floats, expected: Floats | None = None) -> None:
        self.drawn = drawn
        self.expected = drawn if expected is None else expected


def mixture(asked: Asked, rng: Rng) -> Planted:
    """One to four rules, each with a share of the answers; what is left follows gold."""
    rules = rng.choice(CUES, size=rng.integers(1, 5), replace=False)
    shares = rng.dirichlet(np.ones(len(rules) + 1))
    gold = one_hot(asked.gold)
    parts = [share * asked.follow(rule, gold) for share, rule in zip(shares[1:], rules, strict=True)]
    return Planted(shares[0] * gold + sum(parts))


def gated_overlap(asked: Asked, rng: Rng) -> Planted:
    """McCoy's model: entailment if all words overlap, otherwise right; a few answers are wrong at random."""
    noise = rng.uniform(0, 0.1)
    return Planted((1 - noise) * asked.follow("overlap", one_hot(asked.gold)) + noise / 3)


def gated(asked: Asked, rng: Rng) -> Planted:
    """A rule that holds only where another cue is absent; gold elsewhere."""
    rule, gate = rng.choice(CUES, size=2, replace=False)
    gold = one_hot(asked.gold)
    return Planted(np.where(asked.present[gate][:, None], gold, asked.follow(rule, gold)))


def logistic(asked: Asked, rng: Rng) -> Planted:
    """Every cue and gold add to the logits of the labels."""
    logits = rng.uniform(0, 3) * one_hot(asked.gold) + rng.normal(0, 0.5, size=3)
    for cue in CUES:
        logits = logits + asked.present[cue][:, None] * rng.normal(0, 0.8, size=3)
    odds = np.exp(logits)
    return Planted(odds / odds.sum(axis=1, keepdims=True))


def unlisted(asked: Asked, rng: Rng) -> Planted:
    """An unlisted cue of the item, independent of the listed ones, decides for some groups; the others are right."""
    groups, gold, share = asked.design.groups, one_hot(asked.gold), rng.uniform(0.1, 0.9)
    size = int(groups.max()) + 1
    decided = (rng.random(size) < share)[groups]
    drawn = np.where(decided[:, None], one_hot(rng.integers(0, 3, size)[groups]), gold)
    return Planted(drawn, share / 3 + (1 - share) * gold)


def constant(asked: Asked, rng: Rng) -> Planted:
    """One label for everything."""
    return Planted(one_hot(np.full(len(asked.gold), rng.integers(0, 3))))


def guessing(asked: Asked, rng: Rng) -> Planted:
    """Labels at random, in the model's own proportions."""
    return Planted(np.tile(rng.dirichlet(np.full(3, 3.0)), (len(asked.gold), 1)))


def hypothesis_only(asked: Asked, rng: Rng) -> Planted:
    """The hypothesis alone decides: two of its cues, and for the rest the item."""
    first, second = rng.choice(["negation", "hypothesis", "length", "misspelling"], size=2, replace=False)
    groups = asked.design.groups
    item = one_hot(rng.integers(0, 3, int(groups.max()) + 1)[groups])
    drawn, expected = (asked.follow(first, asked.follow(second, rest)) for rest in (item, np.full_like(item, 1 / 3)))
    return Planted(drawn, expected)


KINDS: dict[str, Callable[[Asked, Rng], Planted]] = {
    "mixture of 1–4 rules": mixture,
    "entailment if overlap, else right": gated_overlap,
    "rule only without another cue": gated,
    "logistic over cues": logistic,
    "unlisted independent cue": unlisted,
    "constant": constant,
    "guessing": guessing,
    "hypothesis only": hypothesis_only,
}


@dataclass
class Tally:
    """Counts over the effects of one kind of model."""

    effects: int = 0
    covered: int = 0
    close: int = 0
    models: int = 0
    falsely: int = 0
    """Models said to use a cue whose true effect is not above the threshold."""
    missed: int = 0
    """Cues whose true effect is above the threshold by five points or more, not said to be used."""
    strong: int = 0


def measure(asked: Asked, kind: str, rng: Rng, tally: Tally) -> None:
    """Plant one model, measure its profile and compare it with the truth."""
    planted = KINDS[kind](asked, rng)
    probabilities, expected = planted.drawn, planted.expected
    if rng.random() < 0.5:  # A model that gives noisy probabilities: some verdicts turn over.
        noise = rng.uniform(0, 0.1)
        probabilities, expected = ((1 - noise) * shares + noise / 3 for shares in (probabilities, expected))
    drawn = (rng.random(len(asked.gold))[:, None] > probabilities.cumsum(axis=1)).sum(axis=1).astype(np.int8)
    design = replace(asked.design, answer=np.minimum(drawn, 2).astype(np.int8))
    falsely = False
    for cue in CUES:
        found = design.effect(cue, tests=SUITE.tests)
        truth, largest = _truth(design, cue, found.toward, expected)
        if truth is not None:
            tally.effects += 1
            tally.covered += found.effect.low <= truth + 1e-9 and truth - 1e-9 <= found.effect.high
            tally.close += abs(found.effect.value - truth) <= CLOSE
        falsely |= found.used and (truth or 0.0) <= USED
        tally.strong += largest >= USED + 0.05
        tally.missed += largest >= USED + 0.05 and not found.used
    tally.models += 1
    tally.falsely += falsely


def _truth(design: CrossedDesign, cue: str, toward: str | None, expected: Floats) -> tuple[float | None, float]:
    """The true effect toward a label, and the largest toward any."""
    _, part = design.sides(cue)
    values = [
        float(contrast.weights @ expected[contrast.rows, label])
        for label in range(3)
        for contrast in [design.contrast(cue, part & design.is_not_gold(label))]
    ]
    return (None if toward is None else values[LABELS.index(toward)]), max(values)


def main() -> None:
    """Measure all kinds and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, default=50, help="models of each kind")
    parser.add_argument("--rows", type=int, default=0, help="pairs in every cell; 0 for the suite's default")
    parser.add_argument("--json", type=Path, help="where to write the counts")
    options = parser.parse_args()
    asked = Asked.make(options.rows or None, seed=0)
    print(f"{len(asked.gold):,} pairs, {options.each} models of each kind")
    print(f"{'kind':36}{'covered':>9}{'close':>9}{'falsely':>9}{'missed':>9}")
    tallies = {kind: Tally() for kind in KINDS}
    for number, (kind, tally) in enumerate(tallies.items()):
        for model in range(options.each):
            measure(asked, kind, np.random.default_rng([number, model]), tally)
        shares = (tally.covered / tally.effects, tally.close / tally.effects, tally.falsely / tally.models)
        missed = f"{tally.missed}/{tally.strong}"
        print(f"{kind:36}" + "".join(f"{100 * share:>8.1f}%" for share in shares) + f"{missed:>9}")
    if options.json:
        options.json.write_text(json.dumps({kind: vars(tally) for kind, tally in tallies.items()}, indent=2) + "\n")


if __name__ == "__main__":
    main()
