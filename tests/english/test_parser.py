"""Trees of the light parser: whole trees by hand, and that any tagged words have a tree without cycles."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acidtest.english.parser import parse_tags
from acidtest.english.sentences import Sentences

TAGS = (
    "NN", "NNS", "NNP", "DT", "JJ", "JJS", "VB", "VBZ", "VBD", "VBN", "VBG", "VBP", "MD", "TO", "IN", "RB", "CC", "PRP",
    "PRP$", "WP", "WDT", "WRB", "CD", "POS", "EX", ",", ".", ":", "``", "''", "RP", "PDT", "UH",
)  # fmt: skip
WORDS = (
    "dog", "the", "that", "if", "who", "is", "has", "did", "not", "no", "only", "neither", "nor", "and", "or", "in",
    "to", "more", "than", "as", "well", "think", "said", "left", "all", "each", "other", "when", "before", ",", ".",
    "?", "'s",
)  # fmt: skip


def heads(text: str) -> list[tuple[str, str, str]]:
    """Each word with its relation and its head, empty for the root."""
    ((_, tokens, tags),) = Sentences.of(pl.Series([text]), "light").by_text("token", "tag")
    tree = parse_tags([token.lower() for token in tokens], tags)
    words = [*tree.words, ""]
    return [(word, tree.relations[place], words[tree.heads[place]]) for place, word in enumerate(tree.words)]


def test_a_relative_clause_a_complement_and_a_second_main_clause() -> None:
    assert heads("The man who knows that the dog barks is tired, and the boys sleep at home.") == [
        ("the", "det", "man"),
        ("man", "nsubj", "is"),
        ("who", "nsubj", "knows"),
        ("knows", "relcl", "man"),
        ("that", "mark", "barks"),
        ("the", "det", "dog"),
        ("dog", "nsubj", "barks"),
        ("barks", "ccomp", "knows"),
        ("is", "ROOT", ""),
        ("tired", "acomp", "is"),
        (",", "punct", "is"),
        ("and", "cc", "is"),
        ("the", "det", "boys"),
        ("boys", "nsubj", "sleep"),
        ("sleep", "conj", "is"),
        ("at", "prep", "sleep"),
        ("home", "pobj", "at"),
        (".", "punct", "is"),
    ]


def test_a_fronted_condition_and_a_modal() -> None:
    assert heads("If it rains, nobody will go to the town.") == [
        ("if", "mark", "rains"),
        ("it", "nsubj", "rains"),
        ("rains", "advcl", "go"),
        (",", "punct", "go"),
        ("nobody", "nsubj", "go"),
        ("will", "aux", "go"),
        ("go", "ROOT", ""),
        ("to", "prep", "go"),
        ("the", "det", "town"),
        ("town", "pobj", "to"),
        (".", "punct", "go"),
    ]


@pytest.mark.parametrize(
    ("text", "word", "relation", "head"),
    [
        ("The nurse that the cooks obeyed phoned the guards.", "nurse", "nsubj", "phoned"),
        ("The nurse that the cooks obeyed phoned the guards.", "obeyed", "relcl", "nurse"),
        ("Although the pilot danced the barber wept.", "barber", "nsubj", "wept"),
        ("Although the pilot danced the barber wept.", "danced", "advcl", "wept"),
        ("Every evening the widow baked a loaf.", "evening", "npadvmod", "baked"),
        ("Every evening the widow baked a loaf.", "widow", "nsubj", "baked"),
        ("A boat docked on a river.", "docked", "acl", "boat"),
        ("She is too tired to walk.", "walk", "xcomp", "tired"),
        ("Does the man own a dog?", "man", "nsubj", "own"),
        ("He saw a dog, a cat and a bird.", "cat", "conj", "dog"),
    ],
)
def test_the_head_and_relation_of_a_word(text: str, word: str, relation: str, head: str) -> None:
    assert (word, relation, head) in heads(text)


@settings(deadline=None, max_examples=300)
@given(st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(TAGS)), min_size=1, max_size=15))
def test_any_tagged_words_have_one_tree_without_cycles(tagged: list[tuple[str, str]]) -> None:
    tree = parse_tags([word for word, _ in tagged], [tag for _, tag in tagged])
    roots = {list(tree.path(place))[-1] for place in range(len(tagged))}
    assert [tree.heads[root] for root in roots] == [-1]
    assert tree.relations[roots.pop()] == "ROOT"
