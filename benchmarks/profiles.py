"""Planted models: does the profile find the cues that a model was built to follow, and no others?

    python benchmarks/profiles.py [--each 50] [--limit 3000] [--two-way] [--kinds guessing,constant] [--json FILE]
    python benchmarks/profiles.py --joint --each 2000 --limit 3000 [--two-way | --suite grounding/cues]

A planted model gives every row of suite ``cues`` probabilities of its outcomes: the labels, and no prediction. The
predictions are drawn from these. The truth of an effect is the same contrast of the probabilities or, where a model
draws a label for a whole group (an unlisted cue), of their mean over such draws. For each kind of model: in how many
profiles all intervals cover the truth together; how many models are said to rely on a cue whose true effect is at most
ten points; how many strong cues are missed; how often "no listed cue" is claimed, and how often falsely; how many
models are said to have exchanged labels or to rely on a combination of cues; and in how many the test of all
combinations is significant at 5 %, which is a false alarm if the cues of the model do not interact.

``--joint`` measures only in how many draws all intervals cover the truth together, for models without cues.
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
from acidtest.core.estimate import Estimate
from acidtest.core.labels import LABELS, TWO_WAY_LABELS
from acidtest.stats.contrasts import contrast_estimate
from acidtest.stats.resampling import numbered
from acidtest.studies.crossed_suites import crossed_suites
from acidtest.studies.cue_effects import USED, CrossedDesign, value_codes
from acidtest.studies.cue_profile import SIGNIFICANT
from acidtest.suites.catalogue import SUITES, Request
from acidtest.suites.sample import limit_rows

Floats = npt.NDArray[np.float64]
Rng = np.random.Generator

SUITE = crossed_suites()["cues"]
CUES = tuple(SUITE.cues)
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
    def make(cls, limit: int | None, seed: int, *, two_way: bool, name: str = "cues") -> Asked:
        """The suite, or a sample of it as ``--limit`` takes it."""
        suite, crossed = SUITES[name](Request(seed=seed)), crossed_suites()[name]
        frame = (limit_rows(suite, limit, seed) if limit else suite).frame.collect()
        # In two-way suites gold is non-entailment, for which any other label may stand.
        gold = np.array([LABELS.index(label) if label in LABELS else 1 for label in frame["label"]])
        masks = np.array([0b001, 0b110, 0b110] if two_way else [0b001, 0b010, 0b100], dtype=np.uint8)
        names = digests(frame["group"])
        design = CrossedDesign(
            TWO_WAY_LABELS if two_way else LABELS,
            answer=np.zeros(frame.height, dtype=np.int8),
            gold=masks[gold],
            groups=numbered(names),
            half=(names & np.uint64(1)).astype(np.bool_),
            suite=crossed,
            codes=value_codes(frame, crossed),
            hypotheses=frame["hypothesis"],
        )
        # A run of words overlaps, and a clause is a run: a form has the cues of the forms before it.
        present = {
            name: design.codes[cue.column] >= crossed.values[cue.column].index(cue.present)
            for name, cue in crossed.cues.items()
        }
        return cls(design, gold, present)

    @property
    def is_two_way(self) -> bool:
        """Whether neutral and contradiction are one label."""
        return len(self.design.labels) == 2

    def follow(self, cue: str, otherwise: Floats) -> Floats:
        """Predictions that follow a cue where it is present, and something else elsewhere."""
        return np.where(self.present[cue][:, None], one_hot(np.full(len(self.gold), PUSHES[cue])), otherwise)

    def where(self, rows: npt.NDArray[np.bool_], label: int, otherwise: Floats) -> Floats:
        """One outcome in some rows, and something else elsewhere."""
        return np.where(rows[:, None], one_hot(np.full(len(self.gold), label)), otherwise)


NONE = 3
"""The place of no prediction among outcomes."""


def one_hot(labels: npt.NDArray[np.int64]) -> Floats:
    """Certain predictions as probabilities of the three labels and of no prediction."""
    return np.eye(len(LABELS) + 1)[labels]


EVEN = np.array([1, 1, 1, 0]) / 3
"""The probabilities of the outcomes of a model that guesses evenly."""


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
    return Planted((1 - noise) * asked.follow("overlap", one_hot(asked.gold)) + noise * EVEN)


def gated(asked: Asked, rng: Rng) -> Planted:
    """A rule that holds only where another cue is absent; gold elsewhere."""
    rule, gate = rng.choice(CUES, size=2, replace=False)
    gold = one_hot(asked.gold)
    return Planted(np.where(asked.present[gate][:, None], gold, asked.follow(rule, gold)))


def logistic(asked: Asked, rng: Rng) -> Planted:
    """Every cue and gold add to the logits of the labels."""
    logits = rng.uniform(0, 3) * one_hot(asked.gold)[:, :3] + rng.normal(0, 0.5, size=3)
    for cue in CUES:
        logits = logits + asked.present[cue][:, None] * rng.normal(0, 0.8, size=3)
    odds = np.exp(logits)
    return Planted(np.pad(odds / odds.sum(axis=1, keepdims=True), ((0, 0), (0, 1))))


def unlisted(asked: Asked, rng: Rng) -> Planted:
    """An unlisted cue of the item, independent of the listed ones, decides for some groups; the others are right."""
    groups, gold, share = asked.design.groups, one_hot(asked.gold), rng.uniform(0.1, 0.9)
    size = int(groups.max()) + 1
    decided = (rng.random(size) < share)[groups]
    drawn = np.where(decided[:, None], one_hot(rng.integers(0, 3, size)[groups]), gold)
    return Planted(drawn, share * EVEN + (1 - share) * gold)


def constant(asked: Asked, rng: Rng) -> Planted:
    """One label for everything."""
    return Planted(one_hot(np.full(len(asked.gold), rng.integers(0, 3))))


def guessing(asked: Asked, rng: Rng) -> Planted:
    """Labels at random, in the model's own proportions."""
    return Planted(np.tile([*rng.dirichlet(np.full(3, 3.0)), 0.0], (len(asked.gold), 1)))


def hypothesis_only(asked: Asked, rng: Rng) -> Planted:
    """The hypothesis alone decides: two of its cues, and for the rest the item."""
    first, second = rng.choice(["negation", "hypothesis", "length", "misspelling"], size=2, replace=False)
    groups = asked.design.groups
    item = one_hot(rng.integers(0, 3, int(groups.max()) + 1)[groups])
    drawn, expected = (asked.follow(first, asked.follow(second, rest)) for rest in (item, EVEN + 0 * item))
    return Planted(drawn, expected)


def mostly_right(share: float) -> Callable[[Asked, Rng], Planted]:
    """Right on a share of the rows, otherwise one of the wrong labels."""
    return lambda asked, _: Planted(share * one_hot(asked.gold) + (1 - share) * (3 * EVEN - one_hot(asked.gold)) / 2)


def by_absence(cue: str, label: int) -> Callable[[Asked, Rng], Planted]:
    """One outcome if a cue is absent, otherwise right."""
    return lambda asked, _: Planted(asked.where(~asked.present[cue], label, one_hot(asked.gold)))


def no_answer(asked: Asked, _: Rng) -> Planted:
    """No prediction if a word is misspelt, otherwise right."""
    return Planted(asked.where(asked.present["misspelling"], NONE, one_hot(asked.gold)))


def weak_push(asked: Asked, _: Rng) -> Planted:
    """Right in 80 % of the rows, and in 15 % of those with negation words contradiction: an effect of 13.5 points."""
    right = 0.8 * one_hot(asked.gold) + 0.2 * (3 * EVEN - one_hot(asked.gold)) / 2
    pushed = 0.15 * one_hot(np.full(len(asked.gold), 2)) + 0.85 * right
    return Planted(np.where(asked.present["negation"][:, None], pushed, right))


def exchanged(asked: Asked, rng: Rng) -> Planted:
    """Right in 62 to 100 %, with entailment and contradiction exchanged."""
    share = rng.uniform(0.62, 1)
    probabilities = share * one_hot(asked.gold) + (1 - share) * EVEN
    # In two-way form neutral is exchanged, too.
    if asked.is_two_way:
        first = probabilities[:, 0].copy()
        probabilities[:, 0] = 1 - first
        probabilities[:, 1], probabilities[:, 2] = first, 0
        return Planted(probabilities)
    return Planted(probabilities[:, [2, 1, 0, 3]])


def exclusive_or(asked: Asked, rng: Rng) -> Planted:
    """Entailment with exactly one of two cues, otherwise contradiction."""
    first, second = rng.choice(["negation", "hypothesis", "antonym", "number", "length", "misspelling"], 2, False)
    odd = asked.present[first] ^ asked.present[second]
    return Planted(asked.where(odd, 0, one_hot(np.full(len(asked.gold), 2))))


def exclusive_or_of_three(asked: Asked, _: Rng) -> Planted:
    """Entailment with an odd number of three cues, otherwise neutral."""
    odd = asked.present["negation"] ^ asked.present["length"] ^ asked.present["misspelling"]
    return Planted(asked.where(odd, 0, one_hot(np.full(len(asked.gold), 1))))


def weak_exclusive_or(*cues: str) -> Callable[[Asked, Rng], Planted]:
    """Right in 80 %, except that a fifth of the predictions depends on whether the number of cues is odd."""

    def plant(asked: Asked, rng: Rng) -> Planted:
        odd = np.logical_xor.reduce([asked.present[cue] for cue in cues])
        pure = asked.where(odd, 0, one_hot(np.full(len(asked.gold), 2)))
        return Planted(0.2 * pure + 0.8 * mostly_right(0.8)(asked, rng).drawn)

    return plant


KINDS: dict[str, Callable[[Asked, Rng], Planted]] = {
    "mixture of 1–4 rules": mixture,
    "entailment if overlap, else right": gated_overlap,
    "rule only without another cue": gated,
    "logistic over cues": logistic,
    "unlisted independent cue": unlisted,
    "constant": constant,
    "guessing": guessing,
    "hypothesis only": hypothesis_only,
    "always right": mostly_right(1.0),
    "97 % right": mostly_right(0.97),
    "80 % right": mostly_right(0.8),
    "80 % right, negation moves 13.5": weak_push,
    "short → entailment, else right": by_absence("length", 0),
    "no negation → entailment": by_absence("negation", 0),
    "no overlap → neutral": by_absence("overlap", 1),
    "misspelt → no prediction": no_answer,
    "labels exchanged": exchanged,
    "exclusive or of two cues": exclusive_or,
    "exclusive or of three cues": exclusive_or_of_three,
    "a fifth: exclusive or of two cues": weak_exclusive_or("negation", "length"),
    "a fifth: exclusive or of three cues": weak_exclusive_or("negation", "length", "misspelling"),
}


@dataclass
class Tally:
    """Counts over the profiles of one kind of model."""

    models: int = 0
    joint: int = 0
    """Profiles in which all intervals of all outcomes, and that of gold, cover the truth."""
    falsely: int = 0
    """Models said to rely on a cue whose true effect, on the label that is named, is at most the threshold."""
    missed: int = 0
    """Cues whose true effect is above the threshold by five points or more, not said to be relied on."""
    strong: int = 0
    claimed: int = 0
    """Profiles that say that no listed cue moves predictions by more than the threshold."""
    claimed_falsely: int = 0
    exchanged: int = 0
    combined: int = 0
    """Models said to rely on a combination of cues."""
    dependent: int = 0
    """Models whose predictions depend significantly on a combination of cues."""


def measure(asked: Asked, kind: str, rng: Rng, tally: Tally, *, noisy: bool) -> None:
    """Plant one model, measure its profile and compare it with the truth."""
    planted = KINDS[kind](asked, rng)
    probabilities, expected = planted.drawn, planted.expected
    if noisy and rng.random() < 0.5:  # A model that gives noisy probabilities: some predictions turn over.
        noise = rng.uniform(0, 0.1)
        probabilities, expected = ((1 - noise) * shares + noise * EVEN for shares in (probabilities, expected))
    drawn = (rng.random(len(asked.gold))[:, None] > probabilities.cumsum(axis=1)).sum(axis=1)
    drawn = np.array([0, 1, 1, -1] if asked.is_two_way else [0, 1, 2, -1])[np.minimum(drawn, 3)]
    if asked.is_two_way:
        expected = np.column_stack([expected[:, 0], expected[:, 1] + expected[:, 2], expected[:, 3]])
    design = replace(asked.design, answer=drawn.astype(np.int8))
    falsely, held, largest = False, True, 0.0
    effects = {}
    for cue in CUES:
        effects[cue] = found = design.effect(cue, tests=design.tests)
        truths = _truths(design, cue, expected)
        held &= all(_covers(found.outcomes[outcome], truth) for outcome, truth in truths.items())
        falsely |= found.used and abs(truths[found.toward or ""]) <= USED
        strongest = max(map(abs, truths.values()))
        tally.strong += strongest >= USED + 0.05
        tally.missed += strongest >= USED + 0.05 and not found.used
        largest = max(largest, strongest)
    gold = sum(
        share * float(contrast.weights @ expected[contrast.rows, label])
        for label, (share, contrast, _) in enumerate(design.gold_parts())
    )
    claims_none = all(effect.bound <= USED for effect in effects.values())
    combination = design.combination(effects)
    tally.models += 1
    tally.joint += held and _covers(design.gold_effect(), gold)
    tally.falsely += falsely
    tally.claimed += claims_none
    tally.claimed_falsely += claims_none and largest > USED
    tally.exchanged += design.association()[1] is not None
    tally.combined += combination is not None and combination.matters
    tally.dependent += combination is not None and combination.p < SIGNIFICANT


def _covers(estimate: Estimate, truth: float) -> bool:
    return estimate.low <= truth + 1e-9 and truth - 1e-9 <= estimate.high


def _truths(design: CrossedDesign, cue: str, expected: Floats) -> dict[str, float]:
    """The true effect of a cue on every outcome."""
    part = design.sides(cue)[1]
    contrasts = [design.toward(cue, outcome, part)[0] for outcome in range(len(design.outcomes))]
    return {
        outcome: float(contrast.weights @ expected[contrast.rows, place])
        for place, (outcome, contrast) in enumerate(zip(design.outcomes, contrasts, strict=True))
    }


WITHOUT_CUES: dict[str, tuple[tuple[float, ...], tuple[float, ...]] | float] = {
    "guesses evenly": ((1 / 3, 1 / 3, 1 / 3), (0.5, 0.5)),
    "guesses 70, 20, 10 % (two-way 85, 15)": ((0.7, 0.2, 0.1), (0.85, 0.15)),
    "guesses 45, 35, 20 % (two-way 65, 35)": ((0.45, 0.35, 0.2), (0.65, 0.35)),
    "right in 80 %": 0.8,
    "right in 97 %": 0.97,
    "one label for each item, at random": ((1 / 3, 1 / 3, 1 / 3), (0.5, 0.5)),
}
"""The shares of three and of two labels that a model predicts at random, or the share of rows on which it is right."""


def joint_coverage(asked: Asked, kind: str, draws: int, rng: Rng) -> float:
    """In which share of draws the intervals of gold and of every cue on every label cover the truth together."""
    design, labels = asked.design, range(len(asked.design.labels))
    shares = WITHOUT_CUES[kind]
    if isinstance(shares, float):
        is_gold = np.eye(len(labels))[np.minimum(asked.gold, len(labels) - 1)]
        probabilities = shares * is_gold + (1 - shares) * (1 - is_gold) / (len(labels) - 1)
    else:
        probabilities = np.tile(shares[asked.is_two_way], (len(asked.gold), 1))
    groups, by_item = design.groups, kind.startswith("one label")
    contrasts = [
        [(1.0, design.toward(cue, label, design.sides(cue)[1])[0], label)]
        for cue in design.suite.cues
        for label in labels
    ]
    contrasts.append([(share, one, place) for place, (share, one, _) in enumerate(design.gold_parts())])
    truths = [sum(s * float(one.weights @ probabilities[one.rows, place]) for s, one, place in c) for c in contrasts]
    held = 0
    for _ in range(draws):
        uniform = rng.random(int(groups.max()) + 1)[groups] if by_item else rng.random(len(groups))
        drawn = np.minimum((uniform[:, None] > probabilities.cumsum(axis=1)).sum(axis=1), len(labels) - 1)
        held += all(
            _covers(contrast_estimate([(s, one, drawn == place) for s, one, place in c], groups, tests=design.tests), t)
            for c, t in zip(contrasts, truths, strict=True)
        )
    return held / draws


COLUMNS = ("joint", "falsely", "claimed", "claimed_falsely", "exchanged", "combined", "dependent")


def main() -> None:
    """Measure the kinds and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, default=50, help="models of each kind")
    parser.add_argument("--limit", type=int, default=0, help="pairs of the suite; 0 for all")
    parser.add_argument("--two-way", action="store_true", help="merge neutral and contradiction")
    parser.add_argument("--exact", action="store_true", help="plant the models as they are, none with extra noise")
    parser.add_argument("--kinds", default="", help="only kinds whose names contain one of these, divided by commas")
    parser.add_argument("--json", type=Path, help="where to write the counts")
    parser.add_argument("--joint", action="store_true", help="measure joint coverage of models without cues")
    parser.add_argument("--suite", default="cues", help="with --joint: cues or grounding/cues")
    options = parser.parse_args()
    two_way = options.two_way or crossed_suites()[options.suite].two_way
    asked = Asked.make(options.limit or None, seed=0, two_way=two_way, name=options.suite)
    if options.joint:
        print(
            f"{options.suite}, {len(asked.gold):,} pairs, {len(asked.design.labels)} labels, {options.each} draws each"
        )
        for number, kind in enumerate(WITHOUT_CUES):
            share = joint_coverage(asked, kind, options.each, np.random.default_rng([100, number]))
            print(f"{kind:40}{100 * share:>6.1f}%", flush=True)
        return
    wanted = [kind for kind in KINDS if any(part in kind for part in options.kinds.split(","))]
    print(f"{len(asked.gold):,} pairs, {len(asked.design.labels)} labels, {options.each} models of each kind")
    print(f"{'kind':36}" + "".join(f"{name.replace('_', ' '):>16}" for name in COLUMNS) + f"{'missed':>12}")
    tallies = {kind: Tally() for kind in wanted}
    for kind, tally in tallies.items():
        for model in range(options.each):
            rng = np.random.default_rng([list(KINDS).index(kind), model])
            measure(asked, kind, rng, tally, noisy=not options.exact)
        shares = (getattr(tally, name) / tally.models for name in COLUMNS)
        missed = f"{tally.missed}/{tally.strong}"
        print(f"{kind:36}" + "".join(f"{100 * share:>15.1f}%" for share in shares) + f"{missed:>12}", flush=True)
    if options.json:
        options.json.write_text(json.dumps({kind: vars(tally) for kind, tally in tallies.items()}, indent=2) + "\n")


if __name__ == "__main__":
    main()
