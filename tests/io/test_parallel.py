"""e-SNLI and its like: premises, hypotheses and labels in three files that run side by side."""

import gzip
from pathlib import Path

import pytest

from acidtest import api
from acidtest.core.errors import FileError
from acidtest.corpora.files import read_corpus
from acidtest.io.corpus_files import parallel_table
from acidtest.io.tables import FileTable

PREMISES = 'Two cats sit .\n"Go , " she said .\nA dog\truns .\n'
HYPOTHESES = "Cats sit .\nShe spoke .\nA dog sleeps .\n"
LABELS = "entailment\nneutral\ncontradiction\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder called eSNLI with one split, dev."""
    folder = tmp_path / "eSNLI"
    folder.mkdir()
    for name, content in (("s1", PREMISES), ("s2", HYPOTHESES), ("labels", LABELS)):
        (folder / f"{name}.dev").write_text(content, encoding="utf-8", newline="\n")
    (folder / "preproc1_expl_1.dev").write_text("not ours\n")
    return folder


@pytest.mark.parametrize("given", ["s1.dev", "s2.dev", "labels.dev", ""])
def test_any_of_the_files_or_their_folder_will_do(folder: Path, given: str) -> None:
    found = read_corpus(folder / given)
    assert (found.layout, found.rows_read, found.dropped) == ("e-SNLI", 3, 0)
    assert found.suite.frame.select("premise", "hypothesis", "label").collect().rows() == [
        ("Two cats sit .", "Cats sit .", "entailment"),
        ('"Go , " she said .', "She spoke .", "neutral"),
        ("A dog\truns .", "A dog sleeps .", "contradiction"),
    ]
    card = found.suite.card
    assert (card.name, sorted(card.sources)) == ("eSNLI.dev", ["labels.dev", "s1.dev", "s2.dev"])
    assert len(set(card.sources.values())) == 3
    assert card.fingerprint == read_corpus(folder / "s1.dev").suite.card.fingerprint


def test_a_part_is_a_suite_for_the_whole_program(folder: Path) -> None:
    assert api.load(folder / "s2.dev").card.labels == {"contradiction": 1, "entailment": 1, "neutral": 1}


def test_each_file_may_be_packed(folder: Path) -> None:
    plain = read_corpus(folder).suite.card
    (folder / "s2.dev.gz").write_bytes(gzip.compress(HYPOTHESES.encode()))
    (folder / "s2.dev").unlink()
    for given in ("s1.dev", "s2.dev.gz", "s2.dev", "labels.dev", ""):
        packed = read_corpus(folder / given).suite.card
        assert packed.fingerprint == plain.fingerprint
        assert packed.sources == {
            "s1.dev": plain.sources["s1.dev"],
            "s2.dev.gz": plain.sources["s2.dev"],
            "labels.dev": plain.sources["labels.dev"],
        }


def test_windows_line_ends_a_missing_last_one_and_blank_labels_are_no_matter(folder: Path) -> None:
    (folder / "s1.dev").write_bytes(PREMISES.replace("\n", "\r\n").encode())
    (folder / "s2.dev").write_bytes(HYPOTHESES.rstrip("\n").encode())
    (folder / "labels.dev").write_bytes(b"\xef\xbb\xbfentailment\n\n-\n")
    found = read_corpus(folder)
    assert (found.rows_read, found.dropped) == (3, 2)
    assert found.suite.frame.select("premise", "hypothesis").collect().rows() == [("Two cats sit .", "Cats sit .")]


def test_a_blank_line_keeps_the_files_side_by_side(folder: Path) -> None:
    (folder / "s1.dev").write_text("Two cats sit .\n\nA dog runs .\n")
    with pytest.raises(FileError) as caught:
        read_corpus(folder)
    assert str(caught.value) == (
        f"{folder / 's1.dev'}:2: column 's1' is empty here, but the row has gold; fill it in or remove the row"
    )
    (folder / "labels.dev").write_text("entailment\n-\ncontradiction\n")
    assert read_corpus(folder).suite.frame.collect()["hypothesis"].to_list() == ["Cats sit .", "A dog sleeps ."]


def test_rows_know_their_line(folder: Path) -> None:
    table = parallel_table(folder)
    assert isinstance(table, FileTable)
    assert [table.line(row) for row in range(3)] == [1, 2, 3]


def test_files_of_plain_text_by_name_are_parts_only_together(tmp_path: Path) -> None:
    table = "premise\thypothesis\tlabel\nA cat.\tA dog.\tneutral\n"
    (tmp_path / "s1.txt").write_text(table)
    assert read_corpus(tmp_path / "s1.txt").layout == "Hugging Face"
    (tmp_path / "labels.tsv").write_text(table)
    assert read_corpus(tmp_path / "labels.tsv").layout == "Hugging Face"
    (tmp_path / "s1.txt").write_text("A cat sits.\n")
    (tmp_path / "s2.txt").write_text("A cat lies.\n")
    (tmp_path / "labels.txt").write_text("contradiction\n")
    found = read_corpus(tmp_path / "s2.txt")
    assert found.layout == "e-SNLI"
    assert found.suite.frame.collect()["premise"].to_list() == ["A cat sits."]


def test_other_names_are_left_alone(tmp_path: Path) -> None:
    for name in ("s3.dev", "s1", "s1.", "xs1.dev", "labels", "labels.xlsx", "s2.testing"):
        (tmp_path / name).write_text("A cat.\n")
        with pytest.raises(FileError, match="ending"):
            read_corpus(tmp_path / name)
    with pytest.raises(FileError, match="is a folder, but no suite that acidtest wrote"):
        read_corpus(tmp_path)


def test_a_split_may_have_any_name_that_two_parts_share(folder: Path) -> None:
    for part in ("s1", "s2", "labels"):
        (folder / f"{part}.dev").rename(folder / f"{part}.mine")
    assert read_corpus(folder / "s1.mine").rows_read == 3
    (folder / "s2.mine").unlink()
    with pytest.raises(FileError, match=r"s2\.mine: there is no such file"):
        read_corpus(folder / "s1.mine")


def test_snli_as_parallel_files_is_the_same_suite(shared: Path, tmp_path: Path) -> None:
    # What InferSent's get_data.bash makes of SNLI: the gold pairs of a split in three files.
    frame = read_corpus(shared / "snli" / "snli_1.0_dev.jsonl.gz").suite.frame.collect()
    frame = frame.filter(~frame["premise"].str.contains("\n") & ~frame["hypothesis"].str.contains("\n"))
    for name, column in (("s1", "premise"), ("s2", "hypothesis"), ("labels", "label")):
        (tmp_path / f"{name}.dev").write_text("".join(f"{text}\n" for text in frame[column]), encoding="utf-8")
    found = read_corpus(tmp_path / "s1.dev")
    assert (found.rows_read, found.dropped) == (9_842, 0)
    pairs = ["premise", "hypothesis", "label"]
    assert found.suite.frame.select(pairs).collect().equals(frame.select(pairs))
