"""Each rule on pairs written by hand, their order, and the paper's own examples."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

from acidtest.pairs.cues import cues
from acidtest.studies.errors.samples import CATEGORIES, RULES, gold_majorities, propose_categories

PAPER = Path(__file__).parents[3] / "shared" / "papers" / "naik2018_stress_tests.md"
LONG = "On the way home from the old market by the river, where my sister and I had gone to buy bread and honey and "
LONG += "apples for the winter, we met a man who told us about the war in his country."

E, N, C = "entailment", "neutral", "contradiction"


def proposed(premise: str, hypothesis: str, gold: str, answer: str, **columns: object) -> str:
    frame = pl.DataFrame({"gold": [gold], "answer": [answer], **{name: [value] for name, value in columns.items()}})
    return str(propose_categories(frame, cues(pl.Series([premise]), pl.Series([hypothesis])))[0])


def test_large_overlap_taken_for_entailment_is_word_overlap() -> None:
    pair = ("The doctor near the actor danced.", "The actor danced.")
    assert proposed(*pair, N, E) == "word overlap"
    assert proposed(*pair, C, E) == "word overlap"
    assert proposed(*pair, "non-entailment", E) == "word overlap"
    assert proposed(*pair, C, N) == "unknown"


def test_little_overlap_taken_for_neutral_is_word_overlap() -> None:
    pair = ("By pooling our assets we gain.", "Sharing resources helps everybody.")
    assert proposed(*pair, E, N) == "word overlap"
    assert proposed(*pair, E, "non-entailment") == "word overlap"
    assert proposed(*pair, E, C) == "unknown"
    assert proposed(*pair, C, N) == "unknown"


def test_half_an_overlap_is_neither() -> None:
    pair = ("A cat sat in the garden.", "A cat was sleeping.")
    assert proposed(*pair, N, E) == "unknown"
    assert proposed(*pair, E, N) == "unknown"


def test_a_negation_word_taken_for_contradiction_is_negation() -> None:
    assert proposed("Interest in the show dwindles.", "The show is no longer popular.", E, C) == "negation"
    assert proposed("He never cooks.", "He is hungry.", N, C) == "negation"
    assert proposed("He never cooks.", "He is hungry.", N, E) == "unknown"
    assert proposed("He cooks.", "He is hungry.", N, C) == "unknown"
    # Gold that allows contradiction makes that answer right, so that this is no error of negation.
    assert proposed("He never cooks.", "He is hungry.", "non-entailment", E) == "unknown"


def test_antonyms_not_seen_to_contradict_are_antonymy() -> None:
    pair = ("The shop is open today.", "The shop is closed today.")
    assert proposed(*pair, C, E) == "antonymy"
    assert proposed(*pair, C, N) == "antonymy"
    assert proposed(*pair, N, C) == "unknown"


def test_numbers_that_differ_are_numerical_whatever_the_answer() -> None:
    pair = ("The school got 200 letters in May.", "Last spring 900 notes came.")
    assert [proposed(*pair, gold, answer) for gold, answer in ((C, E), (N, C), (E, N))] == ["numerical"] * 3
    assert proposed("All of them ran.", "Most of them ran.", N, C) == "numerical"


def test_a_long_premise_is_a_length_mismatch() -> None:
    assert proposed(LONG, "My sister stole apples from a stranger.", C, N) == "length mismatch"
    assert proposed(LONG, LONG, E, C) == "unknown"
    assert proposed("We met a man who told us much about the war in his far country.", "We met.", C, N) == "unknown"


def test_a_slip_is_grammaticality() -> None:
    assert proposed("She likes to recieve letters.", "She likes post.", E, C) == "grammaticality"
    assert proposed("If there are something new, call.", "Call whenever you hear news.", N, C) == "grammaticality"


def test_annotators_who_disagree_make_an_ambiguity() -> None:
    pair = ("A girl runs.", "A child plays.")
    assert proposed(*pair, E, C, annotator_labels=f'["{E}","{N}","{N}","{E}","{E}"]') == "ambiguity"
    assert proposed(*pair, E, C, annotator_labels=f'["{E}","{E}","{N}","{E}","{E}"]') == "unknown"
    assert proposed(*pair, E, C, annotator_labels=None) == "unknown"
    assert proposed(*pair, E, C, label1=E, label2=N, label3=None) == "ambiguity"


def test_majorities_are_shares_of_labels_that_gold_accepts() -> None:
    frame = pl.DataFrame(
        {"gold": [E, "non-entailment", N], "annotator_labels": ["E n e", "neutral contradiction entails", "-"]}
    )
    assert gold_majorities(frame).to_list() == [pytest.approx(2 / 3), pytest.approx(2 / 3), None]


def test_rules_are_tried_in_order() -> None:
    # Antonyms, numbers, overlap and a slip in one pair.
    pair = ("The 20 open shops recieve old letters.", "The 30 closed shops recieve old letters.")
    assert proposed(*pair, C, E, annotator_labels=f"{C} {N}") == "ambiguity"
    assert proposed(*pair, C, E) == "antonymy"
    assert proposed(*pair, N, E) == "numerical"
    assert proposed("The 20 shops don't open.", "The 30 shops open.", N, C) == "negation"
    assert proposed("The shops recieve old letters.", "The shops recieve letters.", N, E) == "word overlap"
    assert [rule.category for rule in RULES] == [
        "ambiguity", "antonymy", "negation", "numerical", "word overlap", "grammaticality", "length mismatch"
    ]  # fmt: skip


def test_world_knowledge_is_never_proposed() -> None:
    assert {rule.category for rule in RULES} | {"unknown"} == set(CATEGORIES) - {"world knowledge"}


def test_no_errors_have_no_proposals() -> None:
    empty = pl.Series([], dtype=pl.String)
    assert propose_categories(pl.DataFrame({"gold": empty, "answer": empty}), cues(empty, empty)).len() == 0


# How the rows of table 1 begin, and what the rules make of the example. Its world knowledge has no content word in
# common with the premise; its ambiguity has no cue, since the table has no annotators' labels.
EXAMPLES = {
    "Word Overlap": "word overlap",
    "Negation": "negation",
    "Numerical": "numerical",
    "Antonymy": "antonymy",
    "Length Mis-": "length mismatch",
    "Grammaticality": "grammaticality",
    "Real World": "word overlap",
    "Ambiguity": "unknown",
    "Unknown": "unknown",
}


@pytest.mark.parametrize("category", EXAMPLES)
def test_the_examples_of_the_paper(category: str) -> None:
    if not PAPER.is_file():
        pytest.skip("the papers (../shared/papers) are not on this machine")
    heads, premise, hypothesis = example(PAPER.read_text(encoding="utf-8"), category)
    arrow = re.search(r"([ENC])\s*(?:→|\\rightarrow)\s*([ENC])", heads)
    assert arrow
    gold, answer = ({"E": E, "N": N, "C": C}[letter] for letter in arrow.groups())
    assert proposed(premise, hypothesis, gold, answer) == EXAMPLES[category]


def example(paper: str, category: str) -> list[str]:
    """The three cells of a row of table 1, which are spread over lines, with words parted at their ends."""
    start = paper.index("Error\tPremise\tHypothesis")
    lines = [line.split("\t") for line in paper[start : paper.index("Table 1: Examples", start)].strip().split("\n")]
    firsts = [number for number, cells in enumerate(lines) if cells[0] in EXAMPLES]
    first = next(number for number in firsts if lines[number][0] == category)
    last = min([number for number in firsts if number > first], default=len(lines))
    columns = zip(*([*cells, "", ""][:3] for cells in lines[first:last]), strict=True)
    return [re.sub(r"(?<=[a-z])- (?=[a-z])", "", " ".join(cells)).replace("\\$", "$").strip() for cells in columns]
