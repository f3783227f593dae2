"""Taggers by name, and what spaCy's tokens become."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace

import polars as pl
import pytest

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.text import tagging
from acidtest.text.tagging import spacy_frame, tagged, tagger, taggers
from acidtest.text.tokens import tokens


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
    found = tagged(texts, "light")
    assert found.drop("tag", "entity").equals(tokens(texts))
    assert found["tag"].to_list() == ["NNP", "VBZ", "IN", "NNP", "."]
    assert found["entity"].to_list() == ["PERSON", None, None, "LOCATION", None]


def test_no_texts_have_a_table_all_the_same(spacy: None) -> None:
    schema = tagged(pl.Series(["a"]), "light").schema
    for name in ("light", "spacy"):
        assert tagged(pl.Series([], dtype=pl.String), name).schema == schema
        assert tagged(pl.Series([None, ""], dtype=pl.String), name).height == 0


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
        "import sys, polars; from acidtest.text.tagging import tagged; tagged(polars.Series(['A dog.']), 'light'); "
        "print([name for name in ('nltk', 'textblob', 'spacy', 'scipy') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
