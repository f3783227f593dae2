"""Files and folders of experiments: known by what is in them, and called so that no two share a name."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest

from acidtest import api
from acidtest.workflows.experiments import content_digest, experiment_settings, slug

pytest.importorskip("torch")


def test_a_digest_is_of_what_is_in_a_file_whatever_it_is_called_and_however_it_is_packed(tmp_path: Path) -> None:
    plain, packed, other = tmp_path / "a.tsv", tmp_path / "b.tsv.gz", tmp_path / "c.tsv"
    plain.write_bytes(b"one")
    packed.write_bytes(gzip.compress(b"one"))
    other.write_bytes(b"two")
    assert content_digest(plain) == content_digest(packed) != content_digest(other)


def test_a_digest_is_of_all_files_of_a_folder_and_of_all_three_parallel_ones(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "test.parquet").write_bytes(b"one")
    for part, text in (("s1", "A man runs.\n"), ("s2", "A man moves.\n"), ("labels", "entailment\n")):
        (tmp_path / f"{part}.train").write_text(text, encoding="utf-8")
    paths = folder, tmp_path / "s1.train"
    before = [content_digest(path) for path in paths]
    (folder / "data" / "test.parquet").write_bytes(b"two")
    (tmp_path / "labels.train").write_text("neutral\n", encoding="utf-8")
    assert [content_digest(path) == digest for path, digest in zip(paths, before, strict=True)] == [False, False]


def test_vectors_words_and_suites_are_known_by_what_is_in_their_files(tmp_path: Path) -> None:
    (tmp_path / "first").mkdir()
    files = {name: tmp_path / "first" / name for name in ("pairs.tsv", "vectors.txt", "suite.tsv", "words.tsv")}
    for path in files.values():
        path.write_text("one", encoding="utf-8")
    shutil.copytree(tmp_path / "first", tmp_path / "second")

    def settings_of(folder: str) -> dict[str, object]:
        paths = {name: str(tmp_path / folder / name) for name in files}
        options = api.ExperimentOptions(
            [paths["pairs.tsv"]],
            ["cbow"],
            tmp_path / "out",
            suite=paths["suite.tsv"],
            words=paths["words.tsv"],
            settings={"embeddings": paths["vectors.txt"]},
        )
        return experiment_settings("augmentation", options, {})

    assert settings_of("first") == settings_of("second")
    before = settings_of("second")
    for name in files:
        (tmp_path / "second" / name).write_text("two", encoding="utf-8")
    after = settings_of("second")
    assert [key for key in before if before[key] != after[key]] == ["train", "suite", "words", "settings"]


@pytest.mark.parametrize("names", [("日本", "中文"), ("a/b", "a b"), ("a:b", "a&b")])
def test_names_that_no_folder_can_have_get_folders_of_their_own(names: tuple[str, str]) -> None:
    first, second = (slug(f"{name} added") for name in names)
    assert first != second
    assert all(part.isascii() and "/" not in part for part in (first, second))


def test_an_ordinary_name_has_no_digest() -> None:
    assert slug("training pairs alone") == "training-pairs-alone"
    assert slug("esim:mccoy2019") == "esim-mccoy2019"
