"""Templates filled from word lists: every pair, and every parse, written by hand."""

from __future__ import annotations

import numpy as np
import pytest

from acidtest.core.draws import Draws
from acidtest.english.templates import Form, Grammar, Lexicon, Phrase, Template, Word
from acidtest.english.trees import binary, tree

CAT, CATS, DOG = Word("cat"), Word("cats", "NNS", lemma="cat"), Word("dog")
SAW, WATCHED = Word("saw", "VBD"), Word("watched", "VBD", excludes=frozenset({"saw"}))
FIXED = {"the": "DT", "a": "DT", "saw": "VBD", "ran": "VBD", "we": "PRP", "us": "PRP", ",": ",", ".": ".", "if": "IN"}
FIXED |= {"and": "CC", "or": "CC", "slept": "VBD", "by": "IN", "was": "VBD"}
LEXICON = Lexicon({"N": [CAT, CATS, DOG], "V": [SAW, WATCHED], "VI": [Word("slept", "VBD")]}, FIXED)
PHRASES = {"VP": [Phrase("(VP VI)", 1), Phrase("(VP V (NP the N))", 3)]}
SWAP = Template("(S (NP the N1) (VP saw (NP the N2)) .)", "(S (NP the N2) (VP saw (NP the N1)) .)")


def rendered(
    template: Template, form: Form = "text", *, lexicon: Lexicon = LEXICON, spaced: bool = False, wanted: int = 1000
) -> list[str]:
    grammar = Grammar([template], PHRASES, lexicon, spaced=spaced)
    filled = grammar.filled(np.full(len(grammar.share), wanted), Draws(0, "test"))
    sides = (grammar.rendered(filled, "premise", form), grammar.rendered(filled, "hypothesis", form))
    return [f"{premise} -> {hypothesis}" for premise, hypothesis in zip(*sides, strict=True)]


def test_all_fillings_without_a_repeated_lemma_come_once() -> None:
    assert sorted(rendered(SWAP)) == [
        "The cat saw the dog. -> The dog saw the cat.",
        "The cats saw the dog. -> The dog saw the cats.",
        "The dog saw the cat. -> The cat saw the dog.",
        "The dog saw the cats. -> The cats saw the dog.",
    ]


def test_fewer_are_the_first_of_more() -> None:
    assert rendered(SWAP, wanted=2) == rendered(SWAP, wanted=4)[:2]


def test_a_phrase_is_expanded_alike_in_both_sentences() -> None:
    found = rendered(Template("(S (SBAR if (S (NP the N1) VP1)) , (S we ran) .)", "(S (NP the N1) VP1 .)"))
    assert sorted(found)[:4] == [
        "If the cat saw the dog, we ran. -> The cat saw the dog.",
        "If the cat slept, we ran. -> The cat slept.",
        "If the cat watched the dog, we ran. -> The cat watched the dog.",
        "If the cats saw the dog, we ran. -> The cats saw the dog.",
    ]


def test_the_weights_of_a_phrase_divide_the_weight_of_its_template() -> None:
    template = Template("(S (S (NP the N1) VP1) , or (S (NP the N2) VP2) .)", "(S (NP the N1) VP1 .)", weight=2.0)
    assert Grammar([template], PHRASES, LEXICON).share.tolist() == [2 / 16, 6 / 16, 6 / 16, 18 / 16]


def test_a_verb_that_implies_the_other_is_passed_over() -> None:
    template = Template(
        "(S (NP the dog) (VP (VP V1) and (VP V2 us)) .)",
        "(S (NP the dog) (VP V2 us) .)",
        unless_excluded=("V1", "V2"),
    )
    lexicon = Lexicon({"V": [SAW, WATCHED]}, FIXED | {"dog": "NN"})
    assert rendered(template, lexicon=lexicon) == ["The dog saw and watched us. -> The dog watched us."]


def test_a_word_listed_twice_is_likelier_but_makes_no_pair_twice() -> None:
    doubled = Lexicon({"N": [CAT, DOG, DOG]}, FIXED)
    template = Template("(S (NP the N1) (VP ran) .)", "(S (NP the N1) (VP ran) .)")
    assert sorted(rendered(template, lexicon=doubled)) == [
        "The cat ran. -> The cat ran.",
        "The dog ran. -> The dog ran.",
    ]


def test_spaced_keeps_punctuation_apart() -> None:
    (found,) = rendered(Template("(S (SBAR if (S VI1)) , (S we slept) .)", "(S we slept .)"), spaced=True)
    assert found == "If slept , we slept . -> We slept ."


def test_parses_name_the_parts_of_speech_of_the_words_drawn() -> None:
    template = Template("(S (NP N1) (VP VI1) .)", "(S (NP N1) (VP VI1) .)")
    lexicon = Lexicon({"N": [CATS], "VI": [Word("slept", "VBD")]}, FIXED)
    parse = "(ROOT (S (NP (NNS Cats)) (VP (VBD slept)) (. .)))"
    assert rendered(template, "parse", lexicon=lexicon) == [f"{parse} -> {parse}"]
    assert rendered(template, "binary_parse", lexicon=lexicon) == ["( Cats ( slept . ) ) -> ( Cats ( slept . ) )"]


def test_a_template_may_ask_for_another_part_of_speech() -> None:
    template = Template("(S (NP the N1) (VP was (VP V1/VBN (PP by us))) .)", "(S (NP the N1) (VP V1 us) .)")
    lexicon = Lexicon({"N": [CAT, DOG], "V": [SAW]}, FIXED)
    premise, hypothesis = sorted(rendered(template, "parse", lexicon=lexicon))[0].split(" -> ")
    assert premise == ("(ROOT (S (NP (DT The) (NN cat)) (VP (VBD was) (VP (VBN saw) (PP (IN by) (PRP us)))) (. .)))")
    assert hypothesis == "(ROOT (S (NP (DT The) (NN cat)) (VP (VBD saw) (PRP us)) (. .)))"


NEAR = [
    Word("near", "IN"),
    Word("across from", "(IN across) (PP (IN from) *)"),
    Word("in front of", "(IN in) (NP (NP (NN front)) (PP (IN of) *))"),
]
WHEN = [Word("when", "IN"), Word("even if", "(RB even) (IN if) *"), Word("in case", "(IN in) (NN case)")]


@pytest.mark.parametrize(
    ("word", "parse", "binary_parse"),
    [
        (0, "(PP (IN near) (NP (DT the) (NN dog)))", "( near ( the dog ) )"),
        (1, "(PP (IN across) (PP (IN from) (NP (DT the) (NN dog))))", "( across ( from ( the dog ) ) )"),
        (
            2,
            "(PP (IN in) (NP (NP (NN front)) (PP (IN of) (NP (DT the) (NN dog)))))",
            "( in ( front ( of ( the dog ) ) ) )",
        ),
    ],
)
def test_several_words_may_hold_what_follows_them(word: int, parse: str, binary_parse: str) -> None:
    template = Template("(S (NP (NP the N1) (PP P1 (NP the dog))) (VP ran) .)", "(S (NP the N1) (VP ran) .)")
    lexicon = Lexicon({"N": [CAT, CATS], "P": [NEAR[word], *NEAR]}, FIXED | {"dog": "NN"})
    subject, whole = "(NP (DT The) (NN cat))", "(ROOT (S (NP (NP (DT The) (NN cat)) {}) (VP (VBD ran)) (. .)))"
    assert whole.format(parse) in {pair.split(" -> ")[0] for pair in rendered(template, "parse", lexicon=lexicon)}
    binaries = {pair.split(" -> ")[0] for pair in rendered(template, "binary_parse", lexicon=lexicon)}
    assert f"( ( ( The cat ) {binary_parse} ) ( ran . ) )" in binaries
    assert binary(tree(f"(NP {subject} {parse})")) == f"( ( The cat ) {binary_parse} )"


def test_the_first_of_several_words_is_written_with_a_capital() -> None:
    template = Template("(S (SBAR WHEN1 (S we ran)) , (S we slept) .)", "(S we slept .)")
    lexicon = Lexicon({"WHEN": WHEN}, FIXED)
    assert sorted(pair.split(" -> ")[0] for pair in rendered(template, "parse", lexicon=lexicon)) == [
        "(ROOT (S (SBAR (IN In) (NN case) (S (PRP we) (VBD ran))) (, ,) (S (PRP we) (VBD slept)) (. .)))",
        "(ROOT (S (SBAR (IN When) (S (PRP we) (VBD ran))) (, ,) (S (PRP we) (VBD slept)) (. .)))",
        "(ROOT (S (SBAR (RB Even) (IN if) (S (PRP we) (VBD ran))) (, ,) (S (PRP we) (VBD slept)) (. .)))",
    ]
    assert sorted(pair.split(" -> ")[0] for pair in rendered(template, lexicon=lexicon)) == [
        "Even if we ran, we slept.",
        "In case we ran, we slept.",
        "When we ran, we slept.",
    ]
    for form in ("parse", "binary_parse"):
        pairs = rendered(template, "parse", lexicon=lexicon), rendered(template, "binary_parse", lexicon=lexicon)
        for parse, binary_parse in zip(*pairs, strict=True):
            assert binary(tree(parse.split(" -> ")[0])) == binary_parse.split(" -> ")[0], form
