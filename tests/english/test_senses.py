"""The sense of a word in a sentence, by hand on definitions of our own and token by token against NLTK; where glosses
are looked for, what is made of them, and what is refused.
"""

from __future__ import annotations

import re
import sys
import zipfile
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from acidtest.core.errors import AcidtestError
from acidtest.english import senses as senses_module
from acidtest.english.senses import WordNetFolder, definitions, find_wordnet_folder, require_glosses, senses
from acidtest.english.wordnet import Synset, wordnet

net = wordnet()

# The first four senses of bank as a noun, with definitions cut down to what a reader can compare by eye.
BANK = {
    "bank.n.01": "sloping land beside water",
    "depository_financial_institution.n.01": "an institution that accepts deposits of money",
    "bank.n.03": "a long ridge of the money",
    "bank.n.04": "things in a row",
    "bank.v.03": "do business with water and money",
}


def contexts(*sentences: str) -> pl.Series:
    return pl.Series([sentence.split() for sentence in sentences], dtype=pl.List(pl.String))


def names(found: pl.Series) -> list[str | None]:
    return [None if synset is None else net.name(Synset(synset)) for synset in found]


@pytest.fixture
def _own_definitions(made_wordnet: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACIDTEST_WORDNET", str(made_wordnet(BANK)))


@pytest.mark.usefixtures("_own_definitions")
def test_the_definition_with_most_words_in_common_wins() -> None:
    sentences = contexts("the bank beside deep water", "his bank accepts money", "a long row of banks , the money")
    words = pl.Series(["bank", "bank", "banks"])
    assert names(senses("lesk", sentences, words, pos="n")) == [
        "bank.n.01",
        "depository_financial_institution.n.01",
        "bank.n.03",
    ]


@pytest.mark.usefixtures("_own_definitions")
def test_of_equals_the_first_wins_and_so_it_does_when_nothing_is_shared() -> None:
    # "money" is in the second and in the third definition, "xyz" in none.
    found = senses("lesk", contexts("bank money", "bank xyz", ""), pl.Series(["bank"] * 3), pos="n")
    assert names(found) == ["depository_financial_institution.n.01", "bank.n.01", "bank.n.01"]


@pytest.mark.usefixtures("_own_definitions")
def test_of_equals_the_last_by_name_wins_as_in_2018() -> None:
    # Two words are in the definition of bank.n.03, and two in that of bank.n.04.
    words = pl.Series(["bank"])
    assert names(senses("lesk-2018", contexts("a long bank row"), words, pos="n")) == ["bank.n.04"]
    assert names(senses("lesk", contexts("a long bank row"), words, pos="n")) == ["bank.n.03"]


@pytest.mark.usefixtures("_own_definitions")
def test_a_word_counts_once_and_only_as_it_is_written() -> None:
    # Two of "money" are one; "Water" is not "water", "land," is not "land".
    found = senses(
        "lesk", contexts("money money sloping beside", "Water land, money"), pl.Series(["bank"] * 2), pos="n"
    )
    assert names(found) == ["bank.n.01", "depository_financial_institution.n.01"]


@pytest.mark.usefixtures("_own_definitions")
def test_part_of_speech_narrows_the_choice_word_by_word() -> None:
    sentence, words = contexts("with water and money"), pl.Series(["bank"] * 4)
    rows = pl.Series([0, 0, 0, 0])
    found = senses("lesk", sentence, words, pos=pl.Series(["n", "v", None, "r"]), rows=rows)
    assert names(found) == ["bank.n.01", "bank.v.03", "bank.v.03", None]


@pytest.mark.usefixtures("_own_definitions")
def test_rows_may_stand_in_any_order_and_words_outside_wordnet_have_no_sense() -> None:
    sentences = contexts("beside water", "accepts money", "no one asks here")
    words = pl.Series(["bank", "xyzzy", None, "Banks", "bank"])
    found = senses("lesk", sentences, words, pos="n", rows=pl.Series([1, 1, 0, 0, 1], dtype=pl.UInt32))
    deposits = "depository_financial_institution.n.01"
    assert names(found) == [deposits, None, None, "bank.n.01", deposits]


@pytest.mark.usefixtures("_own_definitions")
def test_missing_tokens_and_contexts_share_nothing() -> None:
    sentences = pl.Series([["accepts", None, "money"], None], dtype=pl.List(pl.String))
    found = senses("lesk", sentences, pl.Series(["bank", "bank"]), pos="n")
    assert names(found) == ["depository_financial_institution.n.01", "bank.n.01"]


@pytest.mark.usefixtures("_own_definitions")
def test_blocks_of_contexts_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    sentences = contexts(*(f"{word} money" for word in ("water", "deposits", "ridge", "row", "water")))
    words = pl.Series(["bank"] * 5)
    whole = senses("lesk", sentences, words, pos="n")
    monkeypatch.setattr(senses_module, "CELLS", 1)
    assert senses("lesk", sentences, words, pos="n").equals(whole)


@pytest.mark.usefixtures("_own_definitions")
def test_no_words_have_no_senses() -> None:
    assert senses("lesk", contexts(), pl.Series([], dtype=pl.String)).is_empty()
    assert senses("first", contexts(), pl.Series([], dtype=pl.String)).is_empty()


def test_the_first_sense_is_the_most_frequent_one_whatever_the_context() -> None:
    words = pl.Series(["bank", "able", "left", "xyzzy", "better"])
    pos = pl.Series(["n", "a", None, "n", "s"])
    found = senses("first", contexts("a", "b", "c", "d", "e"), words, pos=pos)
    assert names(found) == ["bank.n.01", "able.a.01", "left.n.01", None, "better.s.03"]


def test_the_first_sense_of_an_adjective_may_be_a_satellite_but_lesk_does_as_nltk(
    made_wordnet: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACIDTEST_WORDNET", str(made_wordnet({})))
    asked = contexts("the arid land"), pl.Series(["arid"])
    assert names(senses("first", *asked, pos="a")) == ["arid.s.01"]
    assert names(senses("lesk", *asked, pos="a")) == [None]
    assert names(senses("lesk", *asked, pos="s")) == ["arid.s.01"]


def test_mistakes_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    word = pl.Series(["bank"])
    with pytest.raises(AcidtestError, match="no way to choose a sense called 'leks'; did you mean 'lesk'"):
        senses("leks", contexts("a"), word)
    with pytest.raises(AcidtestError, match="part of speech 'NN' is not n, v, a, s or r"):
        senses("first", contexts("a"), word, pos="NN")
    with pytest.raises(AcidtestError, match="1 words need as many contexts"):
        senses("first", contexts("a", "b"), word)
    with pytest.raises(AcidtestError, match="rows are numbers of contexts, here from 0 to 1"):
        senses("first", contexts("a", "b"), word, rows=pl.Series([2]))
    monkeypatch.setattr(senses_module, "find_wordnet_folder", lambda: None)
    with pytest.raises(AcidtestError, match="wsd=lesk needs WordNet glosses; get them with"):
        senses("lesk", contexts("a"), word)


def same_as_nltk(sentences: list[list[str]], pos: str | None) -> None:
    from nltk.wsd import lesk as theirs

    tokens = pl.Series(sentences, dtype=pl.List(pl.String))
    rows = pl.Series(np.repeat(np.arange(len(sentences)), [len(sentence) for sentence in sentences]))
    ours = senses("lesk", tokens, pl.Series([word for each in sentences for word in each]), pos=pos, rows=rows)
    expected = [theirs(sentence, word, pos) for sentence in sentences for word in sentence]
    found = [None if s is None else (net.pos(Synset(s)), net.offset(Synset(s))) for s in ours]
    assert found == [None if synset is None else (synset.pos(), synset.offset()) for synset in expected]


@pytest.mark.parametrize("pos", [None, "n", "v", "a", "s", "r"])
def test_sentences_have_the_senses_nltk_gives_them(
    full_wordnet: Path, nltk_wordnet: Any, monkeypatch: pytest.MonkeyPatch, pos: str | None
) -> None:
    monkeypatch.setenv("ACIDTEST_WORDNET", str(full_wordnet))
    sentences = [
        "I went to the bank to deposit money .",
        "The bank of the river was steep and covered with grass",
        "He axes the axes of the better geese , left and right",
        "An abstract of the work of art that is a part of something",
        "",
    ]
    same_as_nltk([sentence.split() for sentence in sentences], pos)


@pytest.mark.parametrize("pos", [None, "n", "s"])
def test_tokens_of_mnli_have_the_senses_nltk_gives_them(
    full_wordnet: Path, nltk_wordnet: Any, shared: Path, monkeypatch: pytest.MonkeyPatch, pos: str | None
) -> None:
    monkeypatch.setenv("ACIDTEST_WORDNET", str(full_wordnet))
    path = shared / "mnli" / "mnli_dev_matched.tsv"
    premises = pl.read_csv(path, separator="\t", quote_char=None)["premise"].gather_every(40)
    same_as_nltk([re.findall(r"\w+|[^\w\s]", premise) for premise in premises], pos)


MOUSE = 'any of numerous small rodents; "the mouse ran"; typically "m": small'


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_a_definition_is_a_gloss_without_its_examples(made_wordnet: Callable[..., Path], newline: str) -> None:
    folder = made_wordnet({"mouse.n.01": MOUSE, "chase.v.01": "go after"}, newline=newline)
    found = definitions(WordNetFolder(folder, "test"))
    net = wordnet()
    assert len(found) == net.synset_table.height
    assert found[net.synset("mouse.n.01")] == "any of numerous small rodents; ; typically : small"
    assert found[net.synset("chase.v.01")] == "go after"


def test_a_folder_the_environment_names_goes_first(tmp_path: Path) -> None:
    for name in ("mine", "data/wordnet", "nltk/corpora/wordnet"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "data.noun").touch()
    environment = {
        "ACIDTEST_WORDNET": str(tmp_path / "mine"),
        "ACIDTEST_DATA": str(tmp_path / "data"),
        "NLTK_DATA": str(tmp_path / "nltk"),
    }
    places = []
    for variable in list(environment):
        found = find_wordnet_folder(environment, home=tmp_path)
        assert found
        places.append(found.path.relative_to(tmp_path).as_posix())
        del environment[variable]
    assert places == ["mine", "data/wordnet", "nltk/corpora/wordnet"]


def test_a_wordnet_of_another_home_is_not_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched = tmp_path / "user" / ".local" / "share" / "acidtest" / "wordnet"
    fetched.mkdir(parents=True)
    (fetched / "data.noun").touch()
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    assert find_wordnet_folder({}, home=tmp_path / "user") == WordNetFolder(fetched, senses_module.FETCH)
    elsewhere = find_wordnet_folder({}, home=tmp_path / "nobody")
    assert elsewhere is None or not elsewhere.path.is_relative_to(tmp_path)


def test_the_zip_file_nltk_downloads_is_read(tmp_path: Path, made_wordnet: Callable[..., Path]) -> None:
    folder = made_wordnet({"dog.n.01": "a domestic animal"})
    archive = tmp_path / "nltk_data" / "corpora" / "wordnet.zip"
    archive.parent.mkdir(parents=True)
    with zipfile.ZipFile(archive, "w") as file:
        for name in senses_module.DATA_FILES:
            file.write(folder / name, f"wordnet/{name}")
    found = find_wordnet_folder({"ACIDTEST_DATA": str(tmp_path / "none")}, home=tmp_path)
    assert found == WordNetFolder(archive, "NLTK's data")
    assert definitions(found)[wordnet().synset("dog.n.01")] == "a domestic animal"


def test_a_zip_file_of_something_else_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "wordnet.zip"
    broken.write_bytes(b"no zip")
    with pytest.raises(
        AcidtestError, match=r"wordnet\.zip: is no zip archive that can be read .* acidtest sources fetch wordnet"
    ):
        definitions(WordNetFolder(broken, "test"))


def test_a_named_folder_without_wordnet_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(
        AcidtestError, match=r"has no data\.noun; ACIDTEST_WORDNET must name a folder with WordNet 3\.0"
    ):
        find_wordnet_folder({"ACIDTEST_WORDNET": str(tmp_path)})


def test_another_version_is_recognised_by_its_licence(made_wordnet: Callable[..., Path]) -> None:
    folder = made_wordnet({})
    text = (folder / "data.noun").read_text(encoding="utf-8")
    (folder / "data.noun").write_text(text.replace("WordNet 3.0", "WordNet 3.1"), encoding="utf-8")
    with pytest.raises(
        AcidtestError, match=r"is WordNet 3\.1, but version 3\.0 is needed; get it with: acidtest sources"
    ):
        definitions(WordNetFolder(folder, "test"))


def test_synsets_that_stand_elsewhere_are_another_version(made_wordnet: Callable[..., Path]) -> None:
    folder = made_wordnet({})
    text = (folder / "data.verb").read_text(encoding="utf-8")
    (folder / "data.verb").write_text(text.replace("\n00001740", "\n00001741"), encoding="utf-8")
    with pytest.raises(AcidtestError, match=r"is not WordNet 3\.0: its synsets stand elsewhere"):
        definitions(WordNetFolder(folder, "test"))


def test_missing_glosses_say_who_needs_them_and_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(senses_module, "find_wordnet_folder", lambda: None)
    with pytest.raises(AcidtestError) as told:
        require_glosses("wsd=lesk")
    assert str(told.value) == "wsd=lesk needs WordNet glosses; get them with: acidtest sources fetch wordnet"


def test_all_definitions_are_those_nltk_reads(full_wordnet: Path, nltk_wordnet: Any) -> None:
    theirs = chain.from_iterable(nltk_wordnet.all_synsets(pos) for pos in "nvar")
    ours = definitions(WordNetFolder(full_wordnet, "test"))
    assert ours.to_list() == [synset.definition() for synset in theirs]
