"""What is a sentence of one plain clause, and what is not."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from acidtest.english.clauses import Clause, clause_doubts, clauses, non_assertions, nouns, words_and_lemmas


def clause(text: str) -> Clause | str:
    return clauses(pl.Series([text]), "light")[0]


@pytest.mark.parametrize(
    ("text", "subject", "verb", "word", "base"),
    [
        ("The man is asleep.", "definite", "be", "is", ""),
        ("A man in a red shirt is sleeping on a bench.", "indefinite", "be", "is", ""),
        ("He had eaten the bread.", "pronoun", "have", "had", ""),
        ("The dog has a red collar.", "definite", "main", "has", "have"),
        ("Anna will win the race.", "definite", "modal", "will", ""),
        ("Two boys run outside.", "number", "main", "run", "run"),
        ("The girl quickly left the room.", "definite", "main", "left", "leave"),
        ("The boy tried to sleep.", "definite", "main", "tried", "try"),
        ("A man and a woman are talking.", "joined", "be", "are", ""),
        ("There is a dog on the beach.", "there", "be", "is", ""),
        ("Someone is outside.", "someone", "be", "is", ""),
        ("People are eating.", "plural", "be", "are", ""),
    ],
)
def test_a_plain_clause_is_taken_apart(text: str, subject: str, verb: str, word: str, base: str) -> None:
    found = clause(text)
    assert isinstance(found, Clause), found
    assert (found.subject, found.verb, found.word, found.base) == (subject, verb, word, base)
    assert found.text + found.stop == text
    assert found.text[found.start : found.end] == word


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Is the man asleep?", "question"),
        ("The man is asleep!", "exclamation"),
        ("uh yeah he is", "conversation"),
        ("He left because it rained.", "several clauses"),
        ("The man, a baker, is asleep.", "several clauses"),
        ("The man is asleep. The dog barks.", "several clauses"),
        ('He is "asleep" in bed.', "quotation"),
        ("A man sleeping on a bench.", "no plain subject and finite verb"),
        ("In the park a man is asleep.", "no plain subject and finite verb"),
        ("A women is asleep.", "subject and verb do not agree"),
        ("The dogs is asleep.", "subject and verb do not agree"),
        ("Dog is in the yard.", "article missing"),
        ("They cut the grass.", "verb form not sure"),
        ("Two cars parked near a crane.", "no plain subject and finite verb"),
        ("A horse raced past the barn.", "verb form not sure"),
        ("The man is hammering his", "sentence without its end"),
        ("THE MAN IS ASLEEP.", "written in capitals"),
        ("A woman's job is sewing.", "subject and verb do not agree"),
    ],
)
def test_what_is_not_surely_one_clause_has_a_reason(text: str, reason: str) -> None:
    assert clause(text) == reason


def test_scope_would_be_in_doubt_with_quantifiers_modals_and_other_negations() -> None:
    texts = pl.Series(
        [
            "All dogs bark.",
            "Some men sing.",
            "A few boys run.",
            "He may come.",
            "He is not here.",
            "He was unhappy.",
            "He ate a sandwich under the tree.",
            "He only sings.",
        ]
    )
    assert clause_doubts(texts, "negation").to_list() == [
        "quantifier", "quantifier", "quantifier", "modality", "negation", "negation", None, "focus",
    ]  # fmt: skip


def test_a_text_that_asserts_nothing_has_a_reason() -> None:
    texts = pl.Series(
        ["Visit the museum at noon.", "What is it?", "Leather Wares", "A dog in the snow", "Maria slept."]
    )
    assert non_assertions(texts, "light").to_list() == ["imperative", "question", "no sentence", None, None]


def test_words_come_with_their_base_forms_and_nouns_alone() -> None:
    assert {"dogs", "dog", "ran", "run"} <= set(words_and_lemmas("Dogs ran."))
    assert nouns("Two dogs chase Zbigniew.") >= {"dog", "zbigniew"}
    assert "two" not in nouns("the and of")


def test_space_around_a_sentence_is_no_part_of_it() -> None:
    found = clause(" The man is asleep. ")
    assert isinstance(found, Clause)
    assert (found.text, found.stop) == ("The man is asleep", ".")


def test_no_texts_are_no_clauses() -> None:
    assert clauses(pl.Series([], dtype=pl.String), "light") == []


def test_a_long_row_of_nouns_is_refused_soon() -> None:
    assert isinstance(clause("The " + "dog of cat and " * 40 + "dog"), str)
    assert isinstance(clause("The " + "cat dog " * 80), str)


def test_most_hypotheses_of_snli_are_one_clause() -> None:
    path = Path(__file__).parents[3] / "shared" / "data" / "snli" / "snli_1.0_dev.jsonl.gz"
    if not path.exists():
        pytest.skip("SNLI is not here")
    from acidtest.corpora.files import read_corpus

    found = clauses(read_corpus(path).suite.frame.select("hypothesis").head(2000).collect().to_series(), "light")
    assert sum(isinstance(each, Clause) for each in found) > 1_200
