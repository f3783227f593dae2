"""Published numbers, one by one against the paper they come from."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from acidtest.core.serialise import to_json
from acidtest.core.suite import Card
from acidtest.io.published import (
    PublishedScore,
    published_beside,
    published_differences,
    published_notes,
    published_scores,
)
from acidtest.io.wordlists import packaged_table

PAPER = Path(__file__).parents[3] / "shared" / "papers" / "mccoy2019_hans.md"
SYSTEMS = {"DA": "Decomposable Attention", "ESIM": "ESIM", "SPINN": "SPINN", "BERT": "BERT"}
HEURISTICS = {"Lexical overlap": "lexical_overlap", "Subsequence": "subsequence", "Constituent": "constituent"}
SIX = [(heuristic, label) for label in ("entailment", "non-entailment") for heuristic in HEURISTICS.values()]
WITHHELD = "subcase withheld from HANS-like training data"
AUGMENTED = "trained on MNLI + HANS-like data"
MERGED = "neutral and contradiction merged in training"

# Rows of tables 9 (entailed) and 10 (not entailed) in their order, with the released file's names.
NAMES = {
    9: """
    Untangling relative clauses = le_relative_clause
    Sentences with PPs = le_around_prepositional_phrase
    Sentences with relative clauses = le_around_relative_clause
    Conjunctions = le_conjunction
    Passives = le_passive
    Conjunctions = se_conjunction
    Adjectives = se_adjective
    Understood argument = se_understood_object
    Relative clause on object = se_relative_clause_on_obj
    PP on object = se_PP_on_obj
    Embedded under preposition = ce_embedded_under_since
    Outside embedded clause = ce_after_since_clause
    Embedded under verb = ce_embedded_under_verb
    Conjunction = ce_conjunction
    Adverbs = ce_adverb""",
    10: """
    Subject-object swap = ln_subject/object_swap
    Sentences with PPs = ln_preposition
    Sentences with relative clauses = ln_relative_clause
    Conjunctions = ln_conjunction
    Passives = ln_passive
    NP/S = sn_NP/S
    PP on subject = sn_PP_on_subject
    Relative clause on subject = sn_relative_clause_on_subject
    MV/RR = sn_past_participle
    NP/Z = sn_NP/Z
    Embedded under preposition = cn_embedded_under_if
    Outside embedded clause = cn_after_if_clause
    Embedded under verb = cn_embedded_under_verb
    Disjunction = cn_disjunction
    Adverbs = cn_adverb""",
}

# facts/errata.md: two numbers that the released predictions do not give.
MISPRINTED = {("BERT", "ce_embedded_under_since"): (0.931, 1.00), ("SPINN", "sn_NP/Z"): (0.116, 0.11)}


@pytest.fixture(scope="module")
def paper() -> str:
    if not PAPER.is_file():
        pytest.skip("the paper's text (../shared/papers) is not on this machine")
    return PAPER.read_text(encoding="utf-8")


def table(paper: str, number: int) -> list[list[str]]:
    """The rows of a table that hold numbers, as cells."""
    caption = re.search(rf"^Table {number}: ", paper, re.MULTILINE)
    assert caption
    lines = paper[: caption.start()].rstrip().split("\n\n")[-1].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in rows if re.fullmatch(r"\d\.\d\d", row[-1])]


def example(cell: str) -> tuple[str, str]:
    """A subcase's name in the paper and its example."""
    found = re.fullmatch(r"(.*)<br><i>(.*)</i>", cell)
    assert found
    return found[1], found[2]


def subcases(paper: str) -> dict[str, str]:
    """The subcase of every example sentence of tables 9 and 10."""
    found = {}
    for number, names in NAMES.items():
        for line, row in zip(names.strip().splitlines(), table(paper, number), strict=True):
            name, subcase = line.strip().split(" = ")
            assert example(row[1])[0] == name
            found[example(row[1])[1]] = subcase
    return found


def numbers(where: str, condition: str = "") -> dict[tuple[str, ...], float]:
    """Our numbers from a place in the paper, by system and slice."""
    found: dict[tuple[str, ...], float] = {}
    for score in published_scores("hans"):
        if score.source == f"McCoy et al. 2019, {where}" and score.condition == condition:
            key = (score.system, *score.by.values())
            assert key not in found
            found[key] = score.value
    return found


@pytest.mark.parametrize(("number", "condition"), [(3, ""), (4, AUGMENTED), (11, MERGED)])
def test_numbers_by_heuristic_and_label_are_the_papers(paper: str, number: int, condition: str) -> None:
    expected = {
        (SYSTEMS[row[0]], *part): float(value)
        for row in table(paper, number)
        for part, value in zip(SIX, row[-6:], strict=True)
    }
    assert len(expected) == 24
    assert numbers(f"table {number}", condition) == expected


def test_accuracies_on_mnli_are_the_papers_and_not_numbers_of_hans(paper: str) -> None:
    scores = [score for score in published_scores("mnli") if score.source.startswith("McCoy")]
    assert {score.system: score.value for score in scores} == {
        SYSTEMS[row[0]]: float(row[2]) for row in table(paper, 3)
    }
    assert {(score.source, score.condition, *score.by) for score in scores} == {("McCoy et al. 2019, table 3", "")}


@pytest.mark.parametrize("number", [9, 10])
def test_numbers_by_subcase_are_the_papers_but_for_two_misprints(paper: str, number: int) -> None:
    expected = {}
    for row in table(paper, number):
        subcase = subcases(paper)[example(row[1])[1]]
        for system, value in zip(SYSTEMS.values(), row[2:], strict=True):
            ours, printed = MISPRINTED.get((system, subcase), (float(value), float(value)))
            assert printed == float(value)
            expected[system, subcase] = ours
    assert numbers(f"table {number}") == expected


@pytest.mark.parametrize("number", range(12, 17))
def test_numbers_of_withheld_subcases_are_the_papers(paper: str, number: int) -> None:
    expected = {
        (system, subcases(paper)[example(row[1])[1]]): float(value)
        for row in table(paper, number)
        for system, value in zip(SYSTEMS.values(), row[2:], strict=True)
    }
    assert len(expected) == 24
    both = numbers("tables 5 and 16", WITHHELD) if number == 16 else {}
    assert {system for system, _ in both} <= {"BERT"}
    assert numbers(f"table {number}", WITHHELD) | both == expected


def test_table_5_is_berts_column_of_table_16(paper: str) -> None:
    # In the same order: lexical overlap, subsequence, constituent, each not entailed before entailed.
    bert = [float(row[-1]) for row in table(paper, 16)]
    assert [float(row[-1]) for row in table(paper, 5)] == bert
    assert list(numbers("tables 5 and 16", WITHHELD).values()) == bert


def test_each_experiment_withholds_one_subcase_per_heuristic_and_label() -> None:
    facts = {
        row["subcase"]: (row["heuristic"], row["label"])
        for row in packaged_table("hans/templates.tsv").iter_rows(named=True)
    }
    folds: dict[str, list[str]] = {}
    for score in published_scores("hans"):
        if score.condition == WITHHELD and score.system == "ESIM":
            folds.setdefault(score.source, []).append(score.by["subcase"])
    assert len(folds) == 5
    for fold in folds.values():
        assert sorted(facts[subcase] for subcase in fold) == sorted(SIX)
    assert Counter(subcase for fold in folds.values() for subcase in fold) == Counter(dict.fromkeys(facts, 1))


def test_what_people_answer_is_the_papers(paper: str) -> None:
    assert numbers("section 6", "people") == {
        ("crowd workers",): 0.76,
        ("crowd workers", "entailment"): 0.75,
        ("crowd workers", "non-entailment"): 0.77,
        ("expert annotators",): 0.97,
    }
    assert "The average accuracy was 76% for Mechanical Turk participants and 97% for expert annotators." in paper
    assert "*entailment* (75% accuracy) or *non-entailment* (77% accuracy)" in paper


def test_every_slice_is_one_of_the_suite() -> None:
    templates = packaged_table("hans/templates.tsv")
    for score in published_scores("hans"):
        for factor, value in score.by.items():
            assert value in set(templates[factor]), score
        assert 0 <= score.value <= 1


def test_nothing_is_counted_twice() -> None:
    scores = published_scores("hans")
    keys = Counter((score.system, score.condition, *sorted(score.by.items())) for score in scores)
    assert max(keys.values()) == 1
    # Tables 3, 4 and 11: 24 each; tables 9 and 10: 60 each; tables 12 to 16: 24 each; four numbers of people.
    assert len(scores) == 3 * 24 + 2 * 60 + 5 * 24 + 4


def test_other_words_are_compared_with_the_published_numbers_and_other_templates_are_not() -> None:
    scores = published_scores("hans")
    assert published_scores("hans:words=published") == published_scores("hans:words=fresh") == scores
    assert published_scores("hans/novel") == published_scores("hans/novel:words=fresh") == []


def test_results_hold_the_condition() -> None:
    score = PublishedScore("BERT", "a paper", {"label": "entailment"}, 0.5, MERGED, suite="hans")
    assert to_json(score) == {
        "system": "BERT",
        "source": "a paper",
        "condition": MERGED,
        "by": {"label": "entailment"},
        "value": 0.5,
    }


def test_it_is_said_where_published_systems_were_asked_other_pairs() -> None:
    told = "the published systems were asked 7,727 pairs, those of TaxiNLI that are in MultiNLI's development sets"
    assert published_notes(Card("taxinli", rows=10_071)) == [told]
    assert published_notes(Card("taxinli", rows=7_727)) == []
    assert published_notes(Card("hans", rows=30)) == []
    told = "the published systems were asked the whole published set, 8,193 pairs"
    assert published_notes(Card("breaking-nli", rows=2_049)) == [told]
    assert published_notes(Card("breaking-nli", rows=8_193)) == []
    part = Card("hans", rows=500, arguments={"words": "published", "file": "hans.txt"})
    assert published_notes(part) == ["the published systems were asked the whole published set, 30,000 pairs"]


def differing(name: str, *slices: str, **arguments: str | int | bool) -> str:
    return "; ".join(published_differences(Card(name, arguments=arguments), slices))


def test_numbers_on_pairs_made_otherwise_say_so() -> None:
    assert "only --faithful makes such pairs" in differing(
        "stress/antonymy", wsd="context", **{"from": "mnli_dev_matched"}
    )
    mnli = {"from": "mine", "corpus": "mnli-matched"}
    assert "MultiNLI, not from" not in differing("stress/antonymy", **mnli)
    assert differing("stress/antonymy", faithful=True, **mnli) == ""


def test_numbers_on_another_corpus_say_so() -> None:
    asked = "the published systems were evaluated on"
    assert f"{asked} sentences of AQuA-RAT, not of mnli_dev_matched" in differing(
        "stress/numerical", **{"from": "mnli_dev_matched"}
    )
    assert "AQuA" not in differing("stress/numerical", **{"from": "dev", "corpus": "aqua-rat"})
    assert (
        differing("stress/negation", **{"from": "snli_1.0_dev"})
        == f"{asked} pairs made from MultiNLI, not from snli_1.0_dev"
    )
    for name in ("antonymy", "numerical", "word-overlap", "negation", "length-mismatch", "spelling"):
        assert published_beside(Card(f"stress/{name}", arguments={"from": "snli_1.0_dev", "faithful": True})) == []
    assert differing("stress/negation", **{"from": "mine", "corpus": "mnli-mismatched"}) == ""
    # A name proves nothing.
    assert "not from multinli_1.0_dev_matched" in differing("stress/negation", **{"from": "multinli_1.0_dev_matched"})


def test_numbers_that_count_something_else_say_so() -> None:
    card = {"from": "aqua", "corpus": "aqua-rat", "faithful": True}
    assert differing("stress/numerical", **card) == ""
    assert "4,337 errors that both systems make" in differing("stress/numerical", "error", **card)
    assert "of 100 examples, ours of pairs of antonyms" in differing("stress/antonymy", "pairs", "type", faithful=True)


def test_a_published_file_is_the_same_thing() -> None:
    assert [entry for entry in published_beside(Card("stress/word-overlap", rows=9815)) if entry.differs] == []
    assert published_notes(Card("stress/antonymy", rows=1561)) == []


def test_options_that_no_system_was_asked_with_leave_no_numbers() -> None:
    corpus = {"from": "mine", "corpus": "mnli-matched", "tautology": "false"}
    other = Card("stress/negation", arguments={**corpus, "repetitions": 3})
    assert published_beside(other) == []
    assert published_notes(other) == [
        "the paper ran this suite with other options, so there are no published numbers beside it"
    ]
    assert published_beside(Card("stress/negation", arguments={**corpus, "repetitions": 1}))


def test_corrected_numbers_hold_what_was_printed() -> None:
    """McCoy et al. (2019), tables 9 and 10, against the released predictions."""
    corrected = {(s.system, s.by["subcase"]): (s.printed, s.value) for s in published_scores("hans") if s.printed}
    assert corrected == {
        ("BERT", "ce_embedded_under_since"): (1.0, 0.931),
        ("SPINN", "sn_NP/Z"): (0.11, 0.116),
    }
    held = [entry for entry in published_beside(Card("hans")) if entry.printed is not None]
    assert all("released predictions" in entry.note for entry in held)
    assert len(held) == 2
