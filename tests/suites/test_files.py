import json
from pathlib import Path

import polars as pl
import pytest

from acidtest import api
from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.suite import Card, Suite, complete_columns
from acidtest.suites.files import card_path, read_suite, write_suite

FORMATS = ["a.parquet", "a.jsonl", "a.csv", "a.tsv", "a.jsonl.gz", "a.csv.gz", "a.tsv.gz", "folder"]


def nasty_suite(name: str = "nasty", control: Suite | None = None) -> Suite:
    """Texts with everything that breaks careless writers."""
    texts = [
        'He said "no".',
        "tab\there",
        "new\nline",
        "=1+1",
        "'quoted",
        "'=x",
        "-3 degrees",
        "ünïcödé 你好",
        "a, b",
        " x ",
    ]
    frame = pl.DataFrame({"premise": texts, "hypothesis": texts[::-1]}).with_columns(
        label=pl.lit("non-entailment"),
        kind=pl.Series(["a", "b", None, "a", "b", "a", "b", "a", "b", "a"]),
        score=pl.Series([0.1, None, 1e-9, 3.0, -2.5, 1 / 3, 0.0, 7.0, 8.0, 9.0]),
    )
    card = Card(name, seed=3, arguments={"words": "x"}, columns={"kind": "factor", "score": "covariate"}, note="a note")
    return Suite(complete_columns(frame, name).lazy(), card, control).sealed()


@pytest.mark.parametrize("name", FORMATS)
def test_a_suite_survives_every_format_unchanged(tmp_path: Path, name: str) -> None:
    suite = nasty_suite()
    write_suite(suite, tmp_path / name)
    again = read_suite(tmp_path / name)
    assert again is not None
    assert again.card == suite.card
    assert again.frame.collect().equals(suite.frame.collect())
    assert again.sealed().card.fingerprint == suite.card.fingerprint


@pytest.mark.parametrize("name", ["a.parquet", "a.csv.gz", "folder"])
def test_a_control_is_written_and_read_beside_its_suite(tmp_path: Path, name: str) -> None:
    suite = nasty_suite(control=nasty_suite("nasty#control"))
    write_suite(suite, tmp_path / name)
    again = read_suite(tmp_path / name)
    assert again is not None
    assert again.control is not None
    assert again.control.card.name == "nasty#control"


def test_hans_survives_a_file(tmp_path: Path) -> None:
    suite = api.generate("hans", n=20)
    api.save(suite, tmp_path / "hans.csv")
    again = api.load(tmp_path / "hans.csv")
    assert again.card == suite.card
    assert again.frame.collect().equals(suite.frame.collect())


def test_hugging_face_opens_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    write_suite(nasty_suite(control=nasty_suite("nasty#control")), tmp_path / "folder")
    loaded = datasets.load_dataset(str(tmp_path / "folder"), cache_dir=str(tmp_path / "cache"))
    assert sorted(loaded) == ["control", "test"]
    assert loaded["test"]["premise"][:2] == ['He said "no".', "tab\there"]
    assert loaded["test"].column_names[:4] == ["id", "premise", "hypothesis", "label"]


def test_a_file_of_somebody_else_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("precious")
    with pytest.raises(FileError, match="exists and was not written by acidtest"):
        write_suite(nasty_suite(), tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == "precious"
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "precious").touch()
    with pytest.raises(FileError, match="exists and was not written by acidtest"):
        write_suite(nasty_suite(), tmp_path / "folder")


def test_our_own_file_is_overwritten(tmp_path: Path) -> None:
    write_suite(nasty_suite(), tmp_path / "a.csv")
    write_suite(nasty_suite("other"), tmp_path / "a.csv")
    again = read_suite(tmp_path / "a.csv")
    assert again is not None
    assert again.name == "other"


def folder_of(tmp_path: Path) -> Path:
    write_suite(nasty_suite(), tmp_path / "suite")
    return tmp_path / "suite"


def test_a_folder_of_ours_is_written_anew(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    write_suite(nasty_suite(), folder, parted=True)
    write_suite(nasty_suite(), folder)
    assert sorted(path.name for path in folder.rglob("*.parquet")) == ["test.parquet"]


@pytest.mark.parametrize("name", ["notes.txt", "data/mine.csv", "data/test-copy.parquet", "sub/deep/thesis.tex"])
def test_a_folder_with_a_file_of_the_user_is_left_as_it_is(tmp_path: Path, name: str) -> None:
    folder = folder_of(tmp_path)
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("years of work")
    with pytest.raises(FileError, match=f"{Path(name).name}: was not written by acidtest"):
        write_suite(nasty_suite(), folder)
    assert (folder / name).read_text() == "years of work"
    assert read_suite(folder) is not None


def test_what_the_user_changed_in_a_folder_is_not_lost(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    page = (folder / "README.md").read_text()
    (folder / "README.md").write_text(page + "\nMy notes.\n")
    with pytest.raises(FileError, match=r"README\.md: .* changed since"):
        write_suite(nasty_suite(), folder)
    (folder / "README.md").write_text(page)
    nasty_suite().frame.collect().write_parquet(folder / "data" / "test.parquet")
    with pytest.raises(FileError, match=r"README\.md|test\.parquet"):
        write_suite(nasty_suite(), folder)


def test_a_link_in_place_of_a_suite_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "mine.txt").write_text("mine")
    (tmp_path / "suite").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileError, match="symbolic link"):
        write_suite(nasty_suite(), tmp_path / "suite")
    (tmp_path / "suite.csv").symlink_to(tmp_path / "elsewhere" / "mine.txt")
    with pytest.raises(FileError, match="symbolic link"):
        write_suite(nasty_suite(), tmp_path / "suite.csv")
    assert (tmp_path / "elsewhere" / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize("name", ["suite#control.csv", "suite.csv.card.json", "suite#control.csv.card.json"])
def test_what_is_written_beside_a_suite_replaces_nobodys_file(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text('{"mine": 1}')
    suite = nasty_suite(control=nasty_suite("nasty#control"))
    with pytest.raises(FileError, match=f"{name}: exists and was not written by acidtest"):
        write_suite(suite, tmp_path / "suite.csv")
    assert (tmp_path / name).read_text() == '{"mine": 1}'


def test_a_card_of_a_newer_acidtest_is_refused(tmp_path: Path) -> None:
    write_suite(nasty_suite(), tmp_path / "a.csv")
    card = json.loads(card_path(tmp_path / "a.csv").read_text())
    card_path(tmp_path / "a.csv").write_text(json.dumps(card | {"schema": 99}))
    with pytest.raises(FileError, match="has schema 99; this acidtest reads up to 1: upgrade acidtest"):
        read_suite(tmp_path / "a.csv")


def test_a_card_that_no_longer_fits_its_file_is_refused(tmp_path: Path) -> None:
    write_suite(nasty_suite(), tmp_path / "a.jsonl")
    (tmp_path / "a.jsonl").write_text('{"premise": "x"}\n')
    with pytest.raises(FileError, match="lacks the columns its card names: id, hypothesis"):
        read_suite(tmp_path / "a.jsonl")


def test_a_file_without_a_card_is_somebody_elses(tmp_path: Path) -> None:
    (tmp_path / "theirs.csv").write_text("premise,hypothesis,label\nA.,B.,neutral\n")
    assert read_suite(tmp_path / "theirs.csv") is None
    assert api.load(tmp_path / "theirs.csv").card.labels == {"neutral": 1}


def test_an_edited_file_with_doubled_ids_is_refused(tmp_path: Path) -> None:
    write_suite(nasty_suite(), tmp_path / "a.jsonl")
    lines = (tmp_path / "a.jsonl").read_text().splitlines()
    (tmp_path / "a.jsonl").write_text("\n".join([*lines, lines[0]]) + "\n")
    with pytest.raises(AcidtestError, match="E101 ids that stand twice"):
        api.load(tmp_path / "a.jsonl")
