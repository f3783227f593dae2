"""What the codes on a page mean: methods and tests, codes of findings, and the parts of signatures."""

from __future__ import annotations

import re
from collections.abc import Iterable

METHODS = {
    "mover with correlation": "The difference of two shares among errors, different rows of the same pairs; its ends "
    "combine the ends of their two intervals, less what the two have in common.",
    "contributions to shares": "A permutation test of a difference of shares among errors: the signs of what each "
    "group adds to it are flipped at random. It gives the share of draws with at least this difference.",
    "newcombe": "The difference of two shares over different rows; its ends combine the ends of their two intervals.",
    "since all agree": "All groups agree, so nothing varies: an exact bound on the share that could disagree unseen.",
    "clopper": "The exact (Clopper–Pearson) interval of a share, used where no row or every row is right.",
    "wilson": "The Wilson score interval of a share: the rows count as independent draws.",
    "bootstrap": "A bootstrap that draws whole groups (rows made from one source sentence) with replacement within "
    "each stratum, widened where groups are few or uneven; BCa corrects it for skew.",
    "degrees of freedom": "A t interval on the mean, with the jackknife's variance over groups, used where there are "
    "few groups or few of them carry the variance.",
    "standard deviation": "The standard deviation over the values of a factor: how uneven a score is, in points.",
    "mcnemar": "McNemar's test on the rows where the two sides differ; the others say nothing about which is better.",
    "permutation": "A permutation test: the share of random swaps of the two sides that give at least this "
    "difference, counting the one observed, so that it is never 0.",
}
"""Explanations of methods and tests; the first key that occurs in the name of a method applies."""

FINDING_CODES = {
    "A1": "one label is answered to nearly all pairs of the run",
    "F1": "the premise is hardly read, as far as answers show",
    "K1": "near chance on untouched pairs",
    "K2": "below chance on untouched pairs, or labels that seem to be exchanged",
    "K3": "near chance on untouched claims at the deployed threshold, though scores tell them apart",
    "Q1": "reliance on a heuristic: its cue moves predictions toward entailment, gold and the other cues held fixed",
    "Q2": "reliance on other cues, present or absent, or on a combination of cues, gold and the rest held fixed",
    "G1": "how far predictions follow the correct label with cues held fixed, against untouched pairs",
    "R1": "entailments in other words are missed",
    "H1": "accuracy where HANS's heuristics are right and where they are wrong",
    "H2": "right whether HANS's heuristics are right or wrong",
    "B1": "no better than guessing on whole suites",
    "B2": "one gold label is answered rightly less often than by guessing",
    "S1": "worse than guessing on a few subcases or categories of a suite",
    "C1": "no loss when pairs are changed in a way that should not matter",
    "C2": "a loss when pairs are changed in a way that should not matter",
    "C3": "too few pairs to rule out a loss when pairs are changed",
    "C5": "a gain when pairs are changed in a way that should not matter",
    "I1": "most predictions stay the same where two swapped words change gold",
    "V1": "claims that an edit made unsupported are called supported more often than other unsupported claims",
    "V2": "edits that make claims unsupported are noticed",
    "V3": "edits that keep the meaning turn more verdicts wrong than right, or change more than a repetition does",
    "V4": "verdicts stay with edits that keep the meaning",
    "V5": "another threshold would do better on untouched claims",
    "V6": "verdicts follow what is true in the world, not the document",
    "V7": "verdicts depend on the order of passages that disagree",
    "V8": "most unsupported claims are called supported, and another threshold would do better",
    "V9": "evidence is used up to some number of words and not beyond",
    "J1": "predictions of a language model change with the order of the options",
    "J2": "predictions of a language model change with the wording of the prompt",
    "N1": "predictions change when the same pairs are evaluated again",
    "U1": "pairs without an answer",
    "T1": "pairs that were cut to the model's length",
    "P1": "verdicts that depend on how probabilities are collapsed",
    "M1": "signs that published pairs were seen in training",
}
"""What the rule behind each code of a finding looks at."""

_SEVERITIES = "Severity follows the size of the effect and how sure it is, alike in all suites."
_SAME_CODE = "The code is the same in results.json and in the documentation, so that programs can look for it."

SIGNATURE_PARTS = {
    "v": "version of the suite; it rises when the suite's pairs change",
    "seed": "the seed that all random choices of the suite were made with",
    "n": "how many pairs were asked",
    "h": "the beginning of a digest of all pairs: equal digests mean equal pairs",
    "collapse": "how probabilities became a verdict where gold accepts more than one label",
    "limit": "a sample of at most this many pairs was drawn",
    "model": "the model, with the beginning of a digest of its weights",
    "acidtest": "the version of acidtest",
    "from": "the corpus that the pairs were made from",
    "words": "whether the words are fresh or those of the published suite",
    "tagger": "what tagged the words",
    "wsd": "how the sense of a word was chosen",
}
"""The parts of a signature by the name before the colon."""


def explain_methods(names: Iterable[str]) -> dict[str, str]:
    """The explanation of each method or test by name; empty if there is none."""
    # The degrees of freedom differ from slice to slice; the method does not.
    unique_names = dict.fromkeys(re.sub(r"(?<=\bt)\([\d.]+\)|[\d.]+ (?=degrees)", "", name) for name in names if name)
    return {name: next((text for word, text in METHODS.items() if word in name.lower()), "") for name in unique_names}


def explain_code(code: str) -> str:
    """What the rule behind a finding's code looks at, and what the code is for."""
    rule = FINDING_CODES.get(code, "")
    return f"{code}: {rule}. {_SEVERITIES} {_SAME_CODE}" if rule else _SAME_CODE


def explain_signatures(signatures: Iterable[str]) -> dict[str, str]:
    """What each part that occurs in some signatures means; a part not known here is an option of its suite."""
    names = dict.fromkeys(part.partition(":")[0] for text in signatures for part in text.split("|")[1:])
    known = {f"{name}:": SIGNATURE_PARTS[name] for name in names if name in SIGNATURE_PARTS}
    others = ", ".join(f"{name}:" for name in names if name not in SIGNATURE_PARTS)
    return known | ({others: "options of the suite, as given or by default"} if others else {})
