"""Taggers by name, and what spaCy's tokens become."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.english import tagging
from acidtest.english.tagging import spacy_frame, tag_names, tag_texts, tag_tokens, tagger, taggers
from acidtest.english.tokens import tokenise, tokens


@dataclass(frozen=True)
class Token:
    """As much of a spaCy token as is looked at."""

    text: str
    idx: int
    tag_: str
    ent_type_: str = ""
    is_space: bool = False


class Pipeline:
    """A pipeline that knows one sentence."""

    meta = {"version": "3.8.0"}  # noqa: RUF012

    def pipe(self, texts: list[str]) -> Iterator[list[Token]]:
        for text in texts:
            yield (
                []
                if not text
                else [
                    Token("Ann", 0, "NNP", "PERSON"),
                    Token("  ", 3, "_SP", is_space=True),
                    Token("left", 5, "VBD"),
                    Token("Rome", 10, "NNP", "GPE"),
                    Token("today", 15, "NN", "DATE"),
                ]
            )


@pytest.fixture
def spacy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine with spaCy and two English pipelines and a German one."""
    installed = ["de_core_news_sm", "en_core_web_trf", "en_core_web_sm"]
    modules = {
        "spacy": SimpleNamespace(load=lambda name, exclude: Pipeline()),
        "spacy.util": SimpleNamespace(get_installed_models=lambda: installed),
    }
    monkeypatch.setattr(tagging, "find_spec", lambda name: object())
    monkeypatch.setattr(tagging, "import_module", modules.__getitem__)
    tagging._spacy.cache_clear()
    yield
    tagging._spacy.cache_clear()


@pytest.fixture
def no_spacy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tagging, "find_spec", lambda name: None)


def test_tagged_texts_are_their_tokens_with_tags_and_names() -> None:
    texts = pl.Series(["Tim sleeps in Paris.", None, ""])
    found = tag_texts(texts, "light")
    assert found.drop("tag", "entity").equals(tokens(texts))
    assert found["tag"].to_list() == ["NNP", "VBZ", "IN", "NNP", "."]
    assert found["entity"].to_list() == ["PERSON", None, None, "LOCATION", None]


def test_no_texts_have_a_table_all_the_same(spacy: None) -> None:
    schema = tag_texts(pl.Series(["a"]), "light").schema
    for name in ("light", "spacy"):
        assert tag_texts(pl.Series([], dtype=pl.String), name).schema == schema
        assert tag_texts(pl.Series([None, ""], dtype=pl.String), name).height == 0


def test_spacys_tokens_keep_their_places_and_its_names_get_ours() -> None:
    assert spacy_frame(Pipeline(), pl.Series([None, "Ann  left Rome today"])).rows() == [
        (1, 0, 3, "Ann", "NNP", "PERSON"),
        (1, 5, 9, "left", "VBD", None),
        (1, 10, 14, "Rome", "NNP", "LOCATION"),
        (1, 15, 20, "today", "NN", None),
    ]


def test_auto_is_spacy_where_it_is_installed(spacy: None) -> None:
    assert tagger().name == "spacy:en_core_web_sm:3.8.0"
    assert tagger("spacy:en_core_web_trf").name == "spacy:en_core_web_trf:3.8.0"
    assert [name for name, _ in taggers()] == ["spacy:en_core_web_sm", "spacy:en_core_web_trf", "light:1"]
    with pytest.raises(UnknownNameError, match="no tagger called 'spacy:en_core_web_lg'; did you mean"):
        tagger("spacy:en_core_web_lg")


def test_auto_is_light_without_spacy(no_spacy: None) -> None:
    assert tagger().name == "light:1"
    light, other = taggers()
    assert light == ("light:1", "built in")
    assert other.name == "spacy"
    assert other.state.startswith("spaCy is not installed; get both with: pip install spacy")
    with pytest.raises(AcidtestError, match="tagger 'spacy' needs spaCy and an English pipeline; get both with: pip"):
        tagger("spacy")


def test_spacy_without_an_english_pipeline_is_told_of(spacy: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tagging, "_pipelines", lambda: ())
    assert taggers()[1].state.startswith("spaCy has no English pipeline; get both with")


def test_an_unknown_tagger_is_a_mistake(no_spacy: None) -> None:
    with pytest.raises(UnknownNameError, match="no tagger called 'ligth'; did you mean 'light'"):
        tagger("ligth")


def test_another_lexicon_is_another_tagger(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tagging, "lexicon_digest", lambda: "0badcafe")
    tagging._light_name.cache_clear()
    assert tagger("light").name == "light:1:0badcafe"
    tagging._light_name.cache_clear()


def test_nothing_heavy_is_imported() -> None:
    code = (
        "import sys, polars; from acidtest.english.tagging import tag_texts; "
        "tag_texts(polars.Series(['A dog.']), 'light'); "
        "print([name for name in ('nltk', 'textblob', 'spacy', 'scipy') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def tagged(text: str) -> str:
    found = tokenise(pl.Series([text]))
    return " ".join(
        f"{word}/{tag}" for word, tag in zip(found.frame["token"], tag_names(tag_tokens(found)), strict=True)
    )


@pytest.mark.parametrize(
    "expected",
    [
        "The/DT light/NN is/VBZ red/JJ ./.",
        "He/PRP wore/VBD a/DT light/JJ jacket/NN ./.",
        "They/PRP light/VBP a/DT candle/NN ./.",
        "The/DT shop/NN is/VBZ open/JJ ./.",
        "They/PRP open/VBP the/DT door/NN ./.",
        "It/PRP is/VBZ a/DT kind/NN of/IN bird/NN ./.",
        "She/PRP is/VBZ kind/JJ ./.",
        "The/DT mean/JJ man/NN is/VBZ cold/JJ ./.",
        "What/WP does/VBZ it/PRP mean/VB ?/.",
        "The/DT man/NN on/IN the/DT left/NN sings/VBZ ./.",
        "His/PRP$ left/JJ hand/NN hurts/VBZ ./.",
        "He/PRP has/VBZ left/VBN ./.",
        "He/PRP stands/VBZ in/IN front/NN of/IN the/DT house/NN ./.",
        "The/DT front/JJ door/NN is/VBZ old/JJ ./.",
        "They/PRP do/VBP n't/RB like/VB tea/NN ./.",
        "It/PRP looks/VBZ like/IN rain/NN ./.",
        "He/PRP walked/VBD right/RB into/IN it/PRP ./.",
        "That/DT is/VBZ the/DT dog/NN that/WDT barks/VBZ ./.",
        "He/PRP said/VBD that/IN the/DT dog/NN barks/VBZ ./.",
        "He/PRP saw/VBD her/PRP in/IN town/NN ./.",
        "He/PRP saw/VBD her/PRP$ dog/NN ./.",
        "A/DT young/JJ boy/NN watches/VBZ the/DT game/NN ./.",
        "The/DT boys/NNS jump/VBP ./.",
        "Two/CD men/NNS are/VBP dancing/VBG in/IN the/DT street/NN ./.",
        "The/DT dancing/NN was/VBD loud/JJ ./.",
        "The/DT crowded/JJ street/NN is/VBZ dark/JJ ./.",
        "There/EX is/VBZ a/DT dog/NN ;/: it/PRP lives/VBZ there/RB ./.",
        "Cold/JJ water/NN is/VBZ good/JJ ./.",
    ],
)
def test_a_sentence_gets_its_tags(expected: str) -> None:
    text = " ".join(token.rpartition("/")[0] for token in expected.split(" ")).replace(" n't", "n't")
    assert tagged(text) == expected


def test_a_name_that_is_also_a_word_is_told_by_what_follows() -> None:
    assert tagged("Bill has cats.").startswith("Bill/NNP has/VBZ")
    assert tagged("Mark the page.").startswith("Mark/VB the/DT")
    assert tagged("Will he come?").startswith("Will/MD he/PRP")
    assert "Rose/NNP smiled/VBD" in tagged("Then Rose smiled.")


def test_quotes_open_and_close() -> None:
    assert tagged('He said "stop" now') == "He/PRP said/VBD \"/`` stop/VB \"/'' now/RB"
    assert tagged("The boys' room") == "The/DT boys/NNS '/POS room/NN"


def test_a_sentence_does_not_know_its_neighbours() -> None:
    assert tagged("I want to. Play is fun.") == "I/PRP want/VBP to/TO ./. " + tagged("Play is fun.")


# Share of the tags of Stanford's parser: ours 0.962, the tagger of textblob 0.20.1 on the same tokens 0.931.
def test_most_tags_are_those_of_snlis_parses(shared: Path) -> None:
    words, tags = list[str](), list[str]()
    with gzip.open(shared / "snli" / "snli_1.0_test.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            leaves = re.findall(r"\(([^\s()]+) ([^\s()]+)\)", row["sentence2_parse"])
            words.append(" ".join(word for _, word in leaves))
            tags.append(" ".join(tag for tag, _ in leaves))
    found = tokenise(pl.Series(words))
    ours = found.frame.with_columns(tag_names(tag_tokens(found))).group_by("text", maintain_order=True).agg("tag")
    theirs = pl.Series(tags).str.split(" ").gather(ours["text"])
    pairs = pl.DataFrame({"ours": ours["tag"], "theirs": theirs})
    pairs = pairs.filter(pl.col("ours").list.len() == pl.col("theirs").list.len()).explode("ours", "theirs")
    assert pairs.height > 80_000
    assert 0.95 < (pairs["ours"] == pairs["theirs"]).mean() < 0.98
