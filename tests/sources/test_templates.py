"""Templates filled from word lists: every pair written by hand."""

from __future__ import annotations

import numpy as np

from acidtest.core.draws import Draws
from acidtest.sources.templates import Grammar, Lexicon, Phrase, Template, sentences

LEXICON = Lexicon(
    words={"N": ["cat", "cats", "dog"], "V": ["saw", "watched"], "VI": ["slept"]},
    lemmas={"cats": "cat"},
    implications=frozenset({("watched", "saw")}),
)


def pairs(template: Template, wanted: int = 1000, lexicon: Lexicon = LEXICON, spaced: bool = False) -> list[str]:
    phrases = {"VP": [Phrase("VI", 1), Phrase("V the N", 3)]}
    grammar = Grammar([template], phrases, lexicon)
    filled = grammar.filled(np.full(len(grammar.share), wanted), Draws(0, "test"))
    premises = sentences(grammar.tokens, filled.premise, spaced=spaced)
    hypotheses = sentences(grammar.tokens, filled.hypothesis, spaced=spaced)
    return [f"{premise} -> {hypothesis}" for premise, hypothesis in zip(premises, hypotheses, strict=True)]


def test_all_fillings_without_a_repeated_lemma_come_once() -> None:
    found = pairs(Template("the N1 saw the N2 .", "the N2 saw the N1 ."))
    assert sorted(found) == [
        "The cat saw the dog. -> The dog saw the cat.",
        "The cats saw the dog. -> The dog saw the cats.",
        "The dog saw the cat. -> The cat saw the dog.",
        "The dog saw the cats. -> The cats saw the dog.",
    ]


def test_fewer_are_the_first_of_more() -> None:
    template = Template("the N1 saw the N2 .", "the N2 saw the N1 .")
    assert pairs(template, wanted=2) == pairs(template, wanted=4)[:2]


def test_a_phrase_is_expanded_alike_in_both_sentences() -> None:
    found = pairs(Template("if the N1 VP1 , we ran .", "the N1 VP1 ."))
    assert sorted(found)[:4] == [
        "If the cat saw the dog, we ran. -> The cat saw the dog.",
        "If the cat slept, we ran. -> The cat slept.",
        "If the cat watched the dog, we ran. -> The cat watched the dog.",
        "If the cats saw the dog, we ran. -> The cats saw the dog.",
    ]


def test_the_weights_of_a_phrase_divide_the_weight_of_its_template() -> None:
    phrases = {"VP": [Phrase("VI", 1), Phrase("V the N", 3)]}
    grammar = Grammar([Template("the N1 VP1 , or the N2 VP2 .", "the N1 VP1 .", weight=2.0)], phrases, LEXICON)
    assert grammar.share.tolist() == [2 / 16, 6 / 16, 6 / 16, 18 / 16]


def test_a_verb_that_implies_the_other_is_passed_over() -> None:
    template = Template("the dog V1 and V2 us .", "the dog V2 us .", unless_implied=("V1", "V2"))
    assert pairs(template) == ["The dog saw and watched us. -> The dog watched us."]


def test_a_word_listed_twice_is_likelier_but_makes_no_pair_twice() -> None:
    doubled = Lexicon(words={"N": ["cat", "dog", "dog"]}, lemmas={})
    assert sorted(pairs(Template("the N1 ran .", "the N1 ran ."), lexicon=doubled)) == [
        "The cat ran. -> The cat ran.",
        "The dog ran. -> The dog ran.",
    ]


def test_spaced_keeps_punctuation_apart() -> None:
    (found,) = pairs(Template("if VI1 , we slept .", "we slept ."), spaced=True)
    assert found == "If slept , we slept . -> We slept ."
