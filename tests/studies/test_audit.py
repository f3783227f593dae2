"""Counts of supporting and contradicting pairs, by hand and on the real files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from acidtest import api
from acidtest.core.labels import LABELS
from acidtest.core.serialise import to_json
from acidtest.core.suite import Card, Suite, complete_columns
from acidtest.studies.audit import audit
from acidtest.studies.audit.measures import Support

PAIRS = [
    ("If the artist slept, the actor ran.", "The artist slept.", "neutral"),
    ("Because the artist slept, the actor ran.", "The artist slept.", "entailment"),
    ("The doctor near the actor danced.", "The actor danced.", "contradiction"),
    ("The actor was paid by the doctor.", "The doctor paid the actor.", "entailment"),
    ("The actor was paid by the doctor.", "The actor paid the doctor.", "non-neutral"),
    ("The actor danced.", "The actor slept.", "neutral"),
]


def suite(rows: list[tuple[str, str, str]]) -> Suite:
    frame = pl.DataFrame(rows, schema=["premise", "hypothesis", "label"], orient="row")
    return Suite(complete_columns(frame, "mine").lazy(), Card("mine"))


def test_counts_are_cumulative_and_leave_open_gold_aside() -> None:
    assert audit(suite(PAIRS)).heuristics == {
        "lexical_overlap": Support(2, 2),
        "subsequence": Support(1, 2),
        "constituent": Support(1, 1),
    }


def test_without_parses_constituents_are_not_told() -> None:
    found = audit(suite([("A man sleeps in a bed.", "A man sleeps.", "entailment")]))
    assert found.heuristics["constituent"] is None
    assert to_json(found)["heuristics"] == {
        "lexical_overlap": {"support": 1, "contradict": 0, "unknown": 0},
        "subsequence": {"support": 1, "contradict": 0, "unknown": 0},
        "constituent": None,
    }


def test_the_contradicting_pairs_of_mnli(shared: Path) -> None:
    found = api.audit(shared / "hans" / "mnli_contradicting_examples.tsv", faithful=True)
    assert found.heuristics == {
        "lexical_overlap": Support(0, 261),
        "subsequence": Support(0, 55),
        "constituent": None,
    }


def test_snli_has_parses_for_every_subsequence(shared: Path) -> None:
    found = api.audit(shared / "snli" / "snli_1.0_dev.jsonl.gz").heuristics
    assert found["constituent"] is not None
    assert found["subsequence"] is not None
    assert found["constituent"].unknown == 0
    assert found["constituent"].support <= found["subsequence"].support


def test_what_is_known_is_counted_although_something_is_not() -> None:
    known = [("The doctor near the actor danced.", "The actor danced.", "neutral")] * 3
    found = audit(suite([*known, ("A man sleeps in a bed.", "A man sleeps.", "entailment")])).heuristics
    assert found["constituent"] == Support(0, 0, 1)


def drawn(seed: int, *, premises: int = 150, each: int = 3) -> list[tuple[str, str, str]]:
    """A clean set: words and labels are drawn, and have nothing to do with each other."""
    rng = np.random.default_rng(seed)

    def text(length: int) -> str:
        return " ".join(f"w{number}" for number in rng.zipf(1.5, length) % 200)

    rows = []
    for _ in range(premises):
        premise = text(int(rng.integers(6, 14)))
        rows += [(premise, text(int(rng.integers(4, 9))), LABELS[int(rng.integers(3))]) for _ in range(each)]
    return rows


def test_a_word_tied_to_a_label_is_found() -> None:
    rows = [
        (premise, f"{hypothesis} never" if label == "contradiction" and number % 3 else hypothesis, label)
        for number, (premise, hypothesis, label) in enumerate(drawn(1))
    ]
    found = audit(suite(rows))
    (cue,) = found.cues["hypothesis_words"].top["contradiction"]
    assert (cue.item, cue.share) == ("never", 1.0)
    codes = {finding.code: finding for finding in found.findings}
    assert codes["W1"].severity == "severe"
    assert "'never'" in codes["W1"].sentence
    assert codes["P1"].severity == "severe"
    # It is a negation, too.
    assert codes["N1"].severity == "severe"
    assert "P2" not in codes


def test_a_length_artefact_is_found() -> None:
    rows = [
        (premise, f"{hypothesis} {hypothesis}" if label == "neutral" else hypothesis, label)
        for premise, hypothesis, label in drawn(2)
    ]
    found = audit(suite(rows))
    assert found.measures["hypothesis_length"].explained > 0.3
    told = {finding.code: finding for finding in found.findings}
    assert told["L1"].severity == "severe"
    assert told["L1"].sentence.startswith("hypotheses of neutral have")
    assert "L2" not in told


def test_a_leak_is_found_and_none_where_there_is_none() -> None:
    rows = wordy(3)
    leaked = suite([*rows[:9], *wordy(99)[:90]])
    clean = suite(wordy(98)[:90])
    found = audit(suite(rows), against=[leaked, clean])
    assert [(leak.rows, leak.exact, leak.same_label) for leak in found.leakage] == [(99, 9, 9), (90, 0, 0)]
    codes = [(finding.code, finding.severity) for finding in found.findings if finding.code.startswith("K")]
    assert codes == [("K1", "severe"), ("K3", "good")]


def test_a_cue_of_two_words_is_found_by_the_model_and_as_a_bigram() -> None:
    """Each word is with every label; only the two in this order are tied to one."""
    endings = {"entailment": "x y", "neutral": "y x", "contradiction": "x z y"}
    rows = [(premise, f"{hypothesis} {endings[label]}", label) for premise, hypothesis, label in drawn(4)]
    found = audit(suite(rows))
    assert found.partial_input["hypothesis"].gain.low > 0.4
    assert found.cues["hypothesis_bigrams"].top["entailment"][0].item == "x y"
    told = {finding.code: finding for finding in found.findings}
    assert (told["P1"].severity, told["W2"].severity) == ("severe", "severe")


def near(text: str) -> str:
    """The same but for the last word."""
    return " ".join([*text.split()[:-1], "other"])


def test_near_duplicates_are_found_in_the_set_and_in_suites() -> None:
    rows = [(premise, hypothesis, label) for premise, hypothesis, label in wordy(6) if len(hypothesis.split()) > 5]
    copies = [(near(premise), near(hypothesis), label) for premise, hypothesis, label in rows[:20]]
    found = audit(suite([*rows, *copies]))
    assert (found.duplicates.near, found.duplicates.near_same_label, found.duplicates.near_of) == (
        40,
        40,
        len(rows) + 20,
    )
    told = {finding.code: finding for finding in found.findings}
    assert told["D4"].severity == "warning"
    assert found.duplicates.repeated == 0
    clean = audit(suite(rows), against=[suite(copies), suite(wordy(7))])
    assert clean.duplicates.near == 0
    assert [(leak.exact, leak.near, leak.near_same_label) for leak in clean.leakage] == [(0, 20, 20), (0, 0, 0)]
    codes = [(finding.code, finding.severity) for finding in clean.findings if finding.code.startswith("K")]
    assert codes == [("K2", "warning"), ("K3", "good")]
    (example, *_) = to_json(clean)["leakage"][0]["examples"]
    assert (example["match"], example["premise"]) == ("near", near(example["train_premise"]))


def wordy(seed: int) -> list[tuple[str, str, str]]:
    """Pairs of words that seldom come twice."""
    rng = np.random.default_rng(seed)

    def text(length: int) -> str:
        return " ".join(f"w{number}" for number in rng.choice(5_000, length, replace=False))

    return [(text(10), text(int(rng.integers(4, 9))), LABELS[int(rng.integers(3))]) for _ in range(120)]


def test_the_shape_of_the_json() -> None:
    told = to_json(audit(suite(PAIRS), against=[suite(PAIRS)]))
    assert set(told) == {
        "schema", "name", "rows", "faithful", "seed", "sampled", "heuristics", "heuristics_by_label", "partial_input",
        "cues", "polarity", "leakage", "balance", "length", "overlap", "negation", "duplicates", "phenomena", "tests",
        "correction", "findings",
    }  # fmt: skip
    assert told["heuristics_by_label"]["lexical_overlap"] == {
        "entailment": 2,
        "neutral": 1,
        "contradiction": 1,
        "non-neutral": 1,
    }
    assert told["partial_input"]["hypothesis"]["accuracy"]["value"] is None
    assert told["partial_input"]["hypothesis"]["accuracy"]["note"] == "fewer than 10 premises"
    assert set(told["cues"]) == {"hypothesis_words", "hypothesis_bigrams", "premise_words", "word_pairs"}
    assert told["leakage"][0]["exact"] == 6
    assert told["balance"]["labels"] == {"entailment": 2, "neutral": 2, "contradiction": 1, "non-neutral": 1}
    json.dumps(told, allow_nan=False)


def test_an_audit_does_not_depend_on_the_order_of_rows() -> None:
    rows = drawn(5)
    one, other = (to_json(audit(suite(order))) for order in (rows, rows[::-1]))
    for told in (one, other):
        # Sums of floats differ in the last digits, and bootstraps draw groups by number.
        for part in ("partial_input", "tests", "length", "overlap", "negation", "findings"):
            del told[part]
        # The first that are met, as evidence of findings has them too.
        del told["duplicates"]["near_examples"]
    assert one == other


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [("A dog runs.", "A dog moves.", "entailment")],
        [("?", "!", "neutral")],
        [(f"Dog {number} runs.", "It moves.", "entailment") for number in range(50)],
        [("A dog runs.", f"Dog {number} moves.", LABELS[number % 3]) for number in range(50)],
    ],
    ids=["nothing", "one row", "no words", "one label", "one premise"],
)
def test_sets_of_hardly_anything_are_audited(rows: list[tuple[str, str, str]]) -> None:
    found = audit(suite(rows), against=[suite(rows)])
    assert found.rows == len(rows)
    assert not any(test.p_adjusted < 0.05 for test in found.tests.values())
    assert found.findings
    json.dumps(to_json(found), allow_nan=False)


def test_snli_gives_labels_away(shared: Path) -> None:
    found = api.audit(shared / "snli" / "snli_1.0_dev.jsonl.gz")
    # Gururangan et al. (2018), table 4, has these of the training set.
    top = {label: {cue.item for cue in cues} for label, cues in found.cues["hypothesis_words"].top.items()}
    assert {"outside", "outdoors"} <= top["entailment"]
    assert "tall" in top["neutral"]
    assert {"nobody", "sleeping"} <= top["contradiction"]
    assert found.partial_input["hypothesis"].gain.low > 0.2
    assert found.partial_input["premise"].gain.high < 0.02
    assert found.phenomena["antonyms"]["contradiction"] == 374
    # The hypothesis is more general where it follows, more special where it does not.
    assert found.phenomena["hypernyms"] == {"entailment": 406, "neutral": 264, "contradiction": 183}
    assert found.phenomena["hyponyms"] == {"entailment": 136, "neutral": 245, "contradiction": 168}
    # Comparing all with all finds the same.
    assert (found.duplicates.near, found.duplicates.near_same_label) == (911, 85)
