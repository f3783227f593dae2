"""Where glosses are looked for, what is made of them, and what is refused."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from acidtest.core.errors import AcidtestError
from acidtest.text import glosses
from acidtest.text.glosses import WordNetFolder, definitions, find_wordnet_folder, require_glosses
from acidtest.text.wordnet import wordnet

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


def test_the_zip_file_nltk_downloads_is_read(tmp_path: Path, made_wordnet: Callable[..., Path]) -> None:
    folder = made_wordnet({"dog.n.01": "a domestic animal"})
    archive = tmp_path / "nltk_data" / "corpora" / "wordnet.zip"
    archive.parent.mkdir(parents=True)
    with zipfile.ZipFile(archive, "w") as file:
        for name in glosses.DATA_FILES:
            file.write(folder / name, f"wordnet/{name}")
    found = find_wordnet_folder({"ACIDTEST_DATA": str(tmp_path / "none")}, home=tmp_path)
    assert found == WordNetFolder(archive, "NLTK's data")
    assert definitions(found)[wordnet().synset("dog.n.01")] == "a domestic animal"


def test_a_zip_file_of_something_else_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "wordnet.zip"
    broken.write_bytes(b"no zip")
    with pytest.raises(
        AcidtestError, match=r"wordnet\.zip: cannot be read as WordNet .* acidtest sources fetch wordnet"
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
    monkeypatch.setattr(glosses, "find_wordnet_folder", lambda: None)
    with pytest.raises(AcidtestError) as told:
        require_glosses("wsd=lesk")
    assert str(told.value) == "wsd=lesk needs WordNet glosses; get them with: acidtest sources fetch wordnet"


def test_all_definitions_are_those_nltk_reads(full_wordnet: Path, nltk_wordnet: Any) -> None:
    theirs = chain.from_iterable(nltk_wordnet.all_synsets(pos) for pos in "nvar")
    ours = definitions(WordNetFolder(full_wordnet, "test"))
    assert ours.to_list() == [synset.definition() for synset in theirs]
