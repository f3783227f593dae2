"""Misspellings on columns of texts, the words they are found in, and the trees that follow them."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acidtest.core.draws import U64, Draws
from acidtest.english.letters import align_leaves, find_words, pack_texts
from acidtest.english.misspelling import Edit, MisspeltTexts, is_english, misspell, misspelt_words

both_edits = pytest.mark.parametrize("edit", ["adjacent", "keyboard"])


class Always(Draws):
    """Draws that always choose the first of what there is, or the last."""

    def __init__(self, *, last: bool) -> None:
        super().__init__(0, "always")
        self._bits = np.uint64(2**64 - 1 if last else 0)

    def bits(self, rows: U64, *slot: str | int) -> U64:
        return np.full(len(rows), self._bits)


FIRST, LAST = Always(last=False), Always(last=True)


def changed(texts: list[str], edit: Edit, draws: Draws, *, edits: int = 1, nonwords: bool = False) -> MisspeltTexts:
    column = pl.Series(texts, dtype=pl.String)
    keys = np.arange(len(texts), dtype=np.uint64)
    return misspell(find_words(column), edit, rows=keys, draws=draws, edits=edits, nonwords=nonwords)


def first_and_last(text: str, edit: Edit, *, nonwords: bool = False) -> list[str]:
    made = [changed([text], edit, draws, nonwords=nonwords).texts.to_list() for draws in (FIRST, LAST)]
    return [text for texts in made for text in texts]


def test_two_neighbouring_letters_are_swapped() -> None:
    assert first_and_last("A man is by the movie.", "adjacent") == ["A amn is by the movie.", "A man is by the movei."]


def test_a_letter_becomes_the_key_to_its_left_or_right() -> None:
    assert first_and_last("She was here now", "keyboard") == ["Ahe was here now", "She was here noe"]


def test_a_key_at_the_end_of_its_row_has_one_neighbour_and_it_is_a_letter() -> None:
    # a, q and z have none to their left, and l, m and p have none to their right that is a letter.
    assert first_and_last("quit", "keyboard") == ["wuit", "quiy"]
    assert first_and_last("from", "keyboard") == ["drom", "fron"]


def test_capitals_stay_in_their_places() -> None:
    assert first_and_last("The", "adjacent") == ["Hte", "Teh"]
    assert first_and_last("The", "keyboard") == ["Rhe", "Thr"]
    assert first_and_last("McDOUGAL", "adjacent") == ["CmDOUGAL", "McDOUGLA"]


def test_equal_letters_are_not_swapped() -> None:
    assert first_and_last("eel", "adjacent") == ["ele", "ele"]
    assert first_and_last("Ee ee EE", "adjacent") == []


@both_edits
@pytest.mark.parametrize("text", ["", "a", "I", "5 42", "U.S.", "3rd", "B2B", "x@who.int", "AT&T", "'ll", "é", "中文"])
def test_lone_letters_numbers_abbreviations_and_addresses_are_left_alone(text: str, edit: Edit) -> None:
    assert first_and_last(text, edit) == []


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("don't", "odn't", "odn't"),
        ("DON’T", "ODN’T", "ODN’T"),
        ("we'll", "ew'll", "ew'll"),
        ("'we' ran", "'ew' ran", "'we' rna"),
        ("can't we", "acn't we", "can't ew"),
        ("O'Brien", "O'Rbien", "O'Brine"),
        ("well-known", "ewll-known", "well-knonw"),
        ("naïve café", "anïve café", "naïve cfaé"),
        ("“Stop”…", "“Tsop”…", "“Stpo”…"),
        ("ne\u0301e on", "ne\u0301e no", "ne\u0301e no"),
        ("U.S. man", "U.S. amn", "U.S. mna"),
        ("2b or", "2b ro", "2b ro"),
        ("or AT&T-like", "ro AT&T-like", "or AT&T-liek"),
        ("so-called4 it", "os-called4 it", "so-called4 ti"),
    ],
)
def test_what_belongs_to_a_word_and_may_be_edited(text: str, first: str, last: str) -> None:
    assert first_and_last(text, "adjacent") == [first, last]


def test_several_words_are_edited_once_each_and_a_text_with_too_few_is_left_out() -> None:
    made = changed(["the old man", "an owl", "men"], "adjacent", FIRST, edits=2)
    assert made.rows.tolist() == [0, 1]
    assert made.texts.to_list() == ["hte lod man", "na wol"]
    assert made.words.to_list() == ["the old", "an owl"]
    assert made.misspellings.to_list() == ["hte lod", "na wol"]


def test_a_hyphenated_word_is_one_word() -> None:
    assert changed(["well-known"], "adjacent", FIRST, edits=2).rows.tolist() == []
    made = changed(["a well-known man -- who"], "adjacent", LAST, edits=3)
    assert made.words.to_list() == ["well-known man who"]
    assert changed(["yes--no"], "adjacent", LAST, edits=2).texts.to_list() == ["yse--on"]


def test_only_given_spans_are_edited_counted_in_characters() -> None:
    texts = pl.Series(["“Él” saw the dog", "the cat"])
    spans = {"rows": pl.Series([0, 1]), "starts": pl.Series([9, 0]), "ends": pl.Series([12, 3])}
    made = misspell(find_words(texts).within(**spans), "adjacent", rows=np.zeros(2, np.uint64), draws=LAST)
    assert made.texts.to_list() == ["“Él” saw teh dog", "teh cat"]


def test_a_misspelling_can_be_asked_to_be_no_word() -> None:
    # Not form; not bast, a fibre; not no, and there is no other.
    assert first_and_last("from", "adjacent", nonwords=True) == ["rfom", "frmo"]
    assert first_and_last("bats", "adjacent", nonwords=True) == ["abts", "btas"]
    assert first_and_last("on", "adjacent", nonwords=True) == []
    # Not vat, car, cay or CST, which is a time.
    assert first_and_last("cat", "keyboard", nonwords=True) == ["xat", "xat"]


def test_english_words_are_known_in_all_their_forms() -> None:
    asked = pl.Series(["the", "with", "mice", "running", "walked", "teh", "wiht", "could", "rfom"])
    assert is_english(asked).to_list() == [True, True, True, True, True, False, False, True, False]


def test_every_word_and_every_place_is_as_likely_as_any_other() -> None:
    rows = 60_000
    texts = pl.Series(["abc defg hi"] * rows)
    made = misspell(
        find_words(texts), "adjacent", rows=Draws(1, "rows").bits(np.arange(rows, dtype=np.uint64)), draws=Draws(0, "s")
    )
    counts = dict(made.misspellings.value_counts().iter_rows())
    expected = {"bac": 1 / 6, "acb": 1 / 6, "edfg": 1 / 9, "dfeg": 1 / 9, "degf": 1 / 9, "ih": 1 / 3}
    assert counts.keys() == expected.keys()
    # Five degrees of freedom: 20.5 is exceeded once in a thousand draws.
    assert sum((counts[word] - rows * share) ** 2 / (rows * share) for word, share in expected.items()) < 20.5


def test_every_letter_is_as_likely_as_any_other_where_some_of_the_word_may_not_be_edited() -> None:
    rows = 60_000
    keys = Draws(1, "rows").bits(np.arange(rows, dtype=np.uint64))
    made = misspell(find_words(pl.Series(["shouldn't-x"] * rows)), "keyboard", rows=keys, draws=Draws(0, "s"))
    places = [next(place for place, one in enumerate("should") if one != text[place]) for text in made.misspellings]
    counts = np.bincount(places, minlength=6)
    assert ((counts - rows / 6) ** 2 / (rows / 6)).sum() < 20.5


def test_every_pair_of_words_is_as_likely_as_any_other() -> None:
    rows = 60_000
    keys = Draws(1, "rows").bits(np.arange(rows, dtype=np.uint64))
    made = misspell(find_words(pl.Series(["ab cd ef gh"] * rows)), "adjacent", rows=keys, draws=Draws(0, "s"), edits=2)
    counts = made.words.value_counts()["count"].to_numpy()
    assert len(counts) == 6
    assert ((counts - rows / 6) ** 2 / (rows / 6)).sum() < 20.5


@both_edits
@given(texts=st.lists(st.text(max_size=40), max_size=8), edits=st.integers(1, 3), seed=st.integers(0, 9))
def test_exactly_so_many_words_differ_in_one_edit_each(texts: list[str], edits: int, seed: int, edit: Edit) -> None:
    made = changed(texts, edit, Draws(seed, "any"), edits=edits)
    for row, text in zip(made.rows, made.texts, strict=True):
        before = texts[row]
        assert len(text) == len(before)
        differing = [place for place in range(len(text)) if text[place] != before[place]]
        assert [text[place].isupper() for place in differing] == [before[place].isupper() for place in differing]
        assert all(re.fullmatch("[A-Za-z]", text[place]) for place in differing)
        assert edits <= len(differing) <= edits * (2 if edit == "adjacent" else 1)
    for before, after in zip(made.words, made.misspellings, strict=True):
        pairs = list(zip(before.split(" "), after.split(" "), strict=True))
        assert len(pairs) == edits
        assert all(one != two for one, two in pairs)


def test_a_text_gets_the_same_misspelling_whatever_stands_beside_it() -> None:
    texts = [f"Sentence number {number} is ünlike others" for number in ("one", "two", "three", "four", "five")]
    keys = np.arange(5, dtype=np.uint64)
    together = misspell(find_words(pl.Series(texts)), "keyboard", rows=keys, draws=Draws(3, "s")).texts.to_list()
    alone = [
        misspell(find_words(pl.Series([text])), "keyboard", rows=keys[[row]], draws=Draws(3, "s")).texts[0]
        for row, text in enumerate(texts)
    ]
    assert together == alone


def test_trees_follow_the_letters_of_their_text() -> None:
    texts = pl.Series(["The man (old) didn't see the man.", "A colour.", "No tree."])
    parses = pl.Series(
        [
            "(ROOT (S (NP (DT The) (NN man) (-LRB- -LRB-) (JJ old) (-RRB- -RRB-)) (VP (VBD did) (RB n't) "
            "(VP (VB see) (NP (DT the) (NN man)))) (. .)))",
            "(NP (DT A) (NN color) (. .))",
            None,
        ]
    )
    made = misspell(find_words(texts), "adjacent", rows=np.zeros(3, np.uint64), draws=LAST)
    assert made.texts[0] == "The man (old) didn't see the mna."
    found = align_leaves(parses, pack_texts(texts)).rewritten(made.data, made.rows)
    assert found.to_list() == [parses[0].replace("(NN man)))) (. .)", "(NN mna)))) (. .)"), None, None]
    binary = pl.Series(["( ( The ( man -LRB- old -RRB- ) ) ( did n't ( see ( the man ) ) . ) )", "( A colour )", None])
    found = align_leaves(binary, pack_texts(texts)).rewritten(made.data, made.rows)
    assert found.to_list() == [binary[0].replace("( the man )", "( the mna )"), "( A coloru )", None]


def misspelt(text: str) -> list[str]:
    return misspelt_words(pl.Series([text])).to_list()[0]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("recieve", "receive"),
        ("teh", "the"),
        ("becaus", "because"),
        ("restuarant", "restaurant"),
        ("voleyball", "volleyball"),
        ("thier", "their"),
    ],
)
def test_a_slip_is_found_and_mended(word: str, meant: str) -> None:
    assert misspelt(f"We saw {word} again.") == [f"{word} ({meant})"]


@pytest.mark.parametrize(
    "word", ["Recieve", "don't", "biker", "cannot", "www.recieve.com", "recieve2", "hmm", "xyzzyx"]
)
def test_names_contractions_addresses_new_words_and_what_resembles_nothing_are_left_alone(word: str) -> None:
    assert misspelt(f"We saw {word} again.") == []


def test_forms_of_words_are_words() -> None:
    assert misspelt("The children were happier, running with knives and oxen, than anyone thought.") == []


def test_a_word_is_told_once_and_rows_stay_apart() -> None:
    found = misspelt_words(pl.Series(["freinds and freinds", None, "", "friends"]))
    assert found.to_list() == [["freinds (friends)"], None, [], []]
