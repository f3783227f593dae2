"""The published numbers of Naik et al. (2018), one by one against the paper's text."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from acidtest.io.published import CORPUS, MATCHED, MISMATCHED, NOT_ACCURACIES, PublishedScore, published_scores

PAPER = Path(__file__).parents[3] / "shared" / "papers" / "naik2018_stress_tests.md"
SYSTEMS = {
    "NB": "Nie and Bansal (2017)",
    "CH": "Chen et al. (2017)",
    "RC": "Balazs et al. (2017), RiverCorners",
    "IS": "Conneau et al. (2017), InferSent",
    "BiLSTM": "BiLSTM (Nangia et al. 2017)",
    "CBOW": "CBOW",
}
SETS = (MATCHED, MISMATCHED)
SUITES = ("antonymy", "numerical", "word-overlap", "negation", "length-mismatch", "spelling")
CONTENT = {"edit": "adjacent", "target": "content"}
DISTRACTED = "trained on MNLI + its pairs with the negation distraction"

Slice = tuple[str, frozenset[tuple[str, str]]]
"""A suite and a slice of it."""


@pytest.fixture(scope="module")
def paper() -> str:
    if not PAPER.is_file():
        pytest.skip("the paper's text (../shared/papers) is not on this machine")
    # Some letters of the scan are Cyrillic.
    return PAPER.read_text(encoding="utf-8").replace("СН", "CH")


def table(paper: str, number: int) -> dict[str, list[float]]:
    """The rows of numbers before a caption, by what stands before them."""
    caption = re.search(rf"^Table {number}:", paper, re.MULTILINE)
    assert caption
    block = paper[: caption.start()].rstrip().split("\n\n")[-1]
    rows = [line.rstrip("\t").split("\t") for line in block.splitlines()]
    numbers = [row for row in rows if len(row) > 1 and re.fullmatch(r"[\d.]+", row[-1])]
    return {row[0]: [float(cell) for cell in row[1:]] for row in numbers}


def place(suite: str, **by: str) -> Slice:
    return suite, frozenset(by.items())


def ours(where: str, condition: str = "") -> dict[tuple[str, Slice], float]:
    """Our numbers from a table (``3``) or a section (``section 2``) of the paper."""
    found: dict[tuple[str, Slice], float] = {}
    for score in every():
        source = score.source.removeprefix("Naik et al. 2018, ")
        tables = re.findall(r"\d+", source) if source.startswith("table") else [source]
        if where in tables and score.condition == condition:
            key = (score.system, place(score.suite, **score.by))
            assert key not in found
            found[key] = score.value
    return found


def every() -> list[PublishedScore]:
    names = ["mnli", *(f"stress/{name}" for name in SUITES)]
    return [score for name in names for score in published_scores(name) if score.source.startswith("Naik")]


def expected(paper: str, number: int, columns: list[Slice]) -> dict[tuple[str, Slice], float]:
    return {
        (SYSTEMS[name], column): pytest.approx(value / 100)
        for name, values in table(paper, number).items()
        for column, value in zip(columns, values, strict=True)
    }


def both(suite: str, **by: str) -> list[Slice]:
    return [place(suite, **by, **{CORPUS: each}) for each in SETS]


def test_accuracies_are_those_of_table_3(paper: str) -> None:
    columns = [*both("mnli"), *both("stress/antonymy"), place("stress/numerical"), *both("stress/word-overlap")]
    columns += [*both("stress/negation"), *both("stress/length-mismatch"), *both("stress/spelling", **CONTENT)]
    found = expected(paper, 3, columns)
    assert len(found) == 6 * 13
    assert ours("3") == found


def test_false_neutrals_are_those_of_table_4(paper: str) -> None:
    names = ("mnli", "stress/word-overlap", "stress/length-mismatch")
    columns = [column for name in names for column in both(name, error="false neutral")]
    assert ours("4") == expected(paper, 4, columns)
    assert len(ours("4")) == 6 * 6


def test_training_with_distraction_is_that_of_table_5(paper: str) -> None:
    rows = table(paper, 5)
    columns = {
        "MultiNLI Dev": both("mnli"),
        "NEGATION": both("stress/negation"),
        "DIFF TAUT": both("stress/negation", tautology="green is not red"),
    }
    assert list(rows) == list(columns)
    found = {
        (SYSTEMS[system], column): pytest.approx(rows[name][number] / 100)
        for name, slices in columns.items()
        for number, (system, column) in enumerate((s, c) for s in ("BiLSTM", "NB") for c in slices)
    }
    assert ours("5", DISTRACTED) == found
    assert '"green is not red" (DIFF TAUT)' in paper


def test_errors_on_antonymy_are_those_of_table_7(paper: str) -> None:
    columns = [column for kind in ("C-E", "C-N") for column in both("stress/antonymy", error=kind)]
    found = expected(paper, 7, columns)
    assert ours("7") == found
    assert len(found) == 4 * 4
    # The text's means over the four systems: 86.4 % on matched pairs, 87.6 % on mismatched ones.
    for corpus, mean in ((MATCHED, 0.864), (MISMATCHED, 0.876)):
        key = place("stress/antonymy", error="C-E", **{CORPUS: corpus})
        shares = [value for (_, where), value in ours("7").items() if where == key]
        assert sum(shares) / 4 == pytest.approx(mean, abs=5e-4)


def test_spelling_is_that_of_table_8_and_its_content_words_that_of_table_3(paper: str) -> None:
    variants = [("adjacent", "any"), ("keyboard", "any"), ("adjacent", "content"), ("adjacent", "function")]
    columns = [column for edit, target in variants for column in both("stress/spelling", edit=edit, target=target)]
    found = expected(paper, 8, columns)
    assert ours("8") == found
    assert len(found) == 4 * 8


def test_what_people_judge_is_the_papers(paper: str) -> None:
    found = {place(score.suite, **score.by): score.value for score in every() if score.condition == "people"}
    grammatical = {place(f"stress/{name}", judged="grammatical"): 0.98 for name in SUITES[2:5]}
    assert found == grammatical | {
        place("stress/antonymy"): 0.86,
        place("stress/antonymy", judged="grammatical"): 0.87,
        place("stress/numerical"): 0.91,
        place("stress/numerical", judged="grammatical"): 0.92,
        place("stress/numerical", judged="trivial"): 0.98,
        place("stress/word-overlap"): 0.91,
        place("stress/length-mismatch"): 0.85,
    }
    for sentence in (
        "At least two annotators agreed on 86% of the labels being contradiction",
        "at least two annotators agreeing on 87% being grammatical",
        "At least two annotators agreed with our generated label for 91% of the samples",
        "at least two annotators agreed on 92% of the examples being grammatical, and 98% being trivial",
        "On word overlap, we find the provided label has 91% agreement with the gold label",
        "For length mismatch, the provided label has 85% agreement with gold",
        "after annotating 100 samples from our adversarially generated set, only two were deemed ungrammatical",
    ):
        assert sentence in paper


def test_what_the_text_says_of_numbers_and_antonyms_is_held(paper: str) -> None:
    found = {place(s.suite, **s.by): s.value for s in every() if s.source.endswith("section 4.3")}
    seen = {"seen": "in training contradictions"}
    assert found == {
        place("stress/numerical", error="N-E"): pytest.approx(1703 / 4337, abs=1e-4),
        place("stress/numerical", error="C-E"): pytest.approx(1695 / 4337, abs=1e-4),
        place("stress/numerical", error="false entailment"): 0.783,
        place("stress/antonymy", pairs="easy", **seen): 0.898,
        place("stress/antonymy", pairs="hard", **seen): 0.572,
        place("stress/antonymy", pairs="easy", type="complementary"): 0.99,
        place("stress/antonymy", pairs="easy", type="relational"): 0.01,
        place("stress/antonymy", pairs="easy", type="gradable"): 0,
        place("stress/antonymy", pairs="hard", type="relational"): 0.20,
        place("stress/antonymy", pairs="hard", type="complementary"): 0.73,
        place("stress/antonymy", pairs="hard", type="gradable"): 0.07,
    }
    for sentence in (
        "(1703 out of 4337 errors)",
        "(1695 out of 4337 errors)",
        "78.3% of all errors",
        '89.8% of the "easy" and 57.2% of the "hard" antonym pairs',
        "99% are complementary antonyms with only one relational antonym",
        "20% are relational antonym pairs, 73% are complementary and 7% are gradable",
    ):
        assert sentence in paper


def test_nothing_is_counted_twice_and_every_share_is_one() -> None:
    keys = Counter((score.system, score.condition, place(score.suite, **score.by)) for score in every())
    assert max(keys.values()) == 1
    assert all(0 <= score.value <= 1 for score in every())
    # Tables 3 to 5, 7 and 8: 78, 36, 12, 16, 24 not in table 3; people 10, section 4.3 11. Table 6 is in typology.tsv.
    assert len(every()) == 78 + 36 + 12 + 16 + 24 + 10 + 11


def test_shares_of_errors_and_judgements_are_told_from_accuracies() -> None:
    accuracies = [score for score in every() if not NOT_ACCURACIES & set(score.by)]
    assert {name for score in accuracies for name in score.by} == {CORPUS, "edit", "target", "tautology"}
