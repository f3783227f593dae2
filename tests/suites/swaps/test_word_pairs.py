"""None"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.suite import Card, Suite
from acidtest.suites.swaps.word_pairs import file_pairs, proxy_words, side_counts, wordnet_pairs


def rows(frame: pl.DataFrame) -> list[tuple[str, str, str, str]]:
    return frame.drop("sure").rows()


def test_antonyms_of_wordnet_stand_in_both_orders_and_quantifiers_are_none() -> None:
    found = rows(wordnet_pairs("antonym"))
    assert ("sunset", "sunrise", "n", "antonym") in found
    assert ("sunrise", "sunset", "n", "antonym") in found
    assert not [row for row in found if row[:2] in (("few", "many"), ("have", "lack"))]


def test_a_hypernym_is_told_from_a_hyponym_by_its_order() -> None:
    found = rows(wordnet_pairs("hypernym"))
    assert ("footbridge", "bridge", "n", "hyponym") in found
    assert ("bridge", "footbridge", "n", "hypernym") in found
    assert ("girl", "woman", "n", "hyponym") not in found
    assert ("dog", "entity", "n", "hyponym") not in found


def test_pairs_are_sure_only_where_readers_mean_the_first_sense() -> None:
    sure = set(rows(wordnet_pairs("hypernym").filter("sure")))
    every = set(rows(wordnet_pairs("hypernym")))
    assert ("dog", "animal", "n", "hyponym") in sure
    # A whale is a very large person in its first sense, a runner is whoever runs, and a guy is a man to readers.
    for word, hypernym in (("whale", "person"), ("runner", "person"), ("guy", "man")):
        assert (word, hypernym, "n", "hyponym") in every - sure


def test_a_file_has_two_words_a_line(tmp_path: Path) -> None:
    path = tmp_path / "antonyms.txt"
    path.write_text("females males \nloved hate\nzorgish blarg\n", encoding="utf-8")
    assert rows(file_pairs(path, "antonym")) == [
        ("blarg", "zorgish", "", "antonym"),
        ("female", "male", "n", "antonym"),
        ("hate", "love", "v", "antonym"),
        ("love", "hate", "v", "antonym"),
        ("male", "female", "n", "antonym"),
        ("zorgish", "blarg", "", "antonym"),
    ]


def test_a_third_column_says_which_are_pairs_and_the_narrower_word_goes_first(tmp_path: Path) -> None:
    path = tmp_path / "hypernyms.tsv"
    path.write_text("word1\tword2\tlabel\nadjective\tdocument\tFalse\nhawk\tbird\tTrue\n", encoding="utf-8")
    nouns = file_pairs(path, "hypernym").filter(pos="n")
    assert rows(nouns) == [("bird", "hawk", "n", "hypernym"), ("hawk", "bird", "n", "hyponym")]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"hot cold\nwarm\n", "pairs.txt:2: 'warm' is no pair of words, nor one with True or False"),
        (b"hot,cold\n\nold,\n", "pairs.txt:3: 'old' is no pair of words, nor one with True or False"),
        (b"hot cold very much\n", "pairs.txt:1: 'hot cold very much' is no pair of words, nor one with True or False"),
        (b"hot\tcold\tmaybe\n", "pairs.txt:1: 'hot cold maybe' is no pair of words, nor one with True or False"),
        (b"# antonyms\nhot cold\n", "pairs.txt:1: '# antonyms' is no pair of words, nor one with True or False"),
        (b"hot cold\nna\xefve wise\n", "pairs.txt:2: byte 3 of the line, 0xef, is not UTF-8; save the file as UTF-8"),
        (b"\n", "pairs.txt: has no pairs of words; write two words a line"),
        (
            b"word1\tword2\tlabel\nhot\tcold\tFalse\n",
            "pairs.txt: marks no pair of words as True; write two words a line",
        ),
    ],
)
def test_a_line_that_is_no_pair_is_told(tmp_path: Path, content: bytes, told: str) -> None:
    path = tmp_path / "pairs.txt"
    path.write_bytes(content)
    with pytest.raises(FileError) as error:
        file_pairs(path, "antonym")
    assert str(error.value).startswith(f"{tmp_path}/{told}")


@pytest.mark.parametrize(
    ("name", "relation"),
    [
        ("antonyms_ppdb_counterfitting.txt", "antonym"),
        ("antonyms_wordnet_counterfitting.txt", "antonym"),
        ("hypernyms_baroni2012.tsv", "hypernym"),
    ],
)
def test_shared_lexicons_are_read(name: str, relation: str) -> None:
    path = Path(__file__).parents[4] / "shared" / "data" / "lexicons" / name
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    found = file_pairs(path, relation)  # type: ignore[arg-type]
    back = found.select(premise_lemma="hypothesis_lemma", hypothesis_lemma="premise_lemma", pos="pos")
    assert found.height > 500
    assert found.join(back, on=["premise_lemma", "hypothesis_lemma", "pos"], how="anti").is_empty()


def test_relatives_are_those_of_the_sense_that_is_opposed() -> None:
    found = dict(proxy_words("victory", "defeat", "n"))
    assert found["triumph"] == "synonym"
    assert found["success"] == "hypernym"
    assert "defeat" not in found


@pytest.mark.parametrize(
    ("lemma", "antonym", "pos", "proxies"),
    [
        ("man", "woman", "n", ["adult", "bachelor", "gentleman", "grownup", "guy"]),
        ("woman", "man", "n", ["adult", "girl", "grownup", "lady", "widow", "wife"]),
        ("girl", "boy", "n", ["schoolgirl"]),
        ("large", "small", "a", ["big"]),
        # "Got" for "won" or "moving" for "riding": hypernyms of verbs take other objects.
        ("win", "lose", "v", []),
        ("walk", "ride", "v", []),
    ],
)
def test_proxies_mean_what_they_stand_for(lemma: str, antonym: str, pos: str, proxies: list[str]) -> None:
    # WordNet also has a cat, a bull and a stiff for a man, a broad, a dish and an amazon for a woman.
    assert [word for word, _ in proxy_words(lemma, antonym, pos)] == proxies


def test_opposed_senses_that_are_hardly_used_have_no_proxies() -> None:
    # Top and bottom of an inning: "round" and "turn" are no proxies of "the top of the hill".
    assert {"round", "turn"}.isdisjoint(dict(proxy_words("top", "bottom", "n")))


def test_the_papers_example_has_its_proxy_where_no_sense_is_opposed() -> None:
    # Sanchez Carmona et al. (2018), examples 7 and 8: "aged" for "elderly" beside "young".
    assert ("aged", "synonym") in proxy_words("elderly", "young", "a")


def test_a_word_counts_on_the_side_where_it_stands_more_often() -> None:
    pairs = pl.LazyFrame({"premise": ["Old old men.", "Old."], "hypothesis": ["Men, men and men.", "Old."]})
    counts = dict(side_counts(Suite(pairs, Card("mine"))).rows())
    assert counts["old"] == 3
    assert counts["men"] == 3
    assert counts["and"] == 1


def test_an_empty_training_file_is_told() -> None:
    empty = pl.LazyFrame({"premise": [], "hypothesis": []}, schema={"premise": pl.String, "hypothesis": pl.String})
    with pytest.raises(AcidtestError, match="mine has no examples to count words in"):
        side_counts(Suite(empty, Card("mine")))


def test_hypernyms_of_a_file_are_nouns_where_they_can_be(tmp_path: Path) -> None:
    (tmp_path / "pairs.txt").write_text("play show\nstroll walk\nmurmur speak\n", encoding="utf-8")
    found = file_pairs(tmp_path / "pairs.txt", "hypernym")
    assert set(found.select("premise_lemma", "pos").rows()) >= {("play", "n"), ("stroll", "n"), ("murmur", "v")}
    assert not set(found.filter(pl.col("premise_lemma").is_in(["play", "stroll"]))["pos"]) - {"n"}
    assert set(file_pairs(tmp_path / "pairs.txt", "antonym").filter(premise_lemma="play")["pos"]) == {"n", "v"}
