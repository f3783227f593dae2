"""A file gives the same suite however small the blocks are in which it is read."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from acidtest import api
from acidtest.core.errors import AcidtestError
from acidtest.corpora.files import Corpus, read_corpus
from acidtest.io import blocks, rows
from acidtest.io.tables import write_table

REAL = [
    "breaking_nli/breaking_nli_quarter.jsonl",
    "cad/test.tsv",
    "hans/hans_train_recovered.tsv.gz",
    "hans/mnli_contradicting_examples.tsv",
    "lingnli/val.jsonl.gz",
    "mnli/mnli_dev_matched.tsv",
    "sick/SICK_train.txt",
    "snli/snli_1.0_dev.jsonl.gz",
    "taxinli/taxinli10k.tsv",
]


@contextmanager
def streaming(block: int) -> Iterator[None]:
    """Blocks of so many bytes, and no row in memory that can be on disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK", block)
        patch.setattr(rows, "MAX_MEMORY_BYTES", 0)
        patch.setattr(rows, "_STEP", 1 + block // 100)
        yield


def outcome(path: Path, **options: Any) -> object:
    """All there is to say of a file: its suite, or what is wrong with it."""
    try:
        found = read_corpus(path, **options)
    except AcidtestError as error:
        return str(error)
    frame = found.suite.frame.collect()
    return found.layout, found.dropped, found.rows_read, found.suite.card, frame.schema, frame.rows()


def same_in_blocks(path: Path, *, block: int, **options: Any) -> Any:
    whole = outcome(path, **options)
    with streaming(block):
        assert outcome(path, **options) == whole
    return whole


@pytest.mark.parametrize("name", REAL)
def test_real_files_are_the_same_in_blocks(shared: Path, name: str) -> None:
    layout, *_ = same_in_blocks(shared / name, block=200_000)
    assert layout


def test_an_error_in_a_real_file_is_the_same_in_blocks(shared: Path) -> None:
    said = same_in_blocks(shared / "mnli" / "mnli_dev_mismatched_recovered.tsv", block=200_000)
    assert isinstance(said, str)


TABS = "pairID\tsentence1\tsentence2\tgold_label\tgenre\tscore\tcode\n" + "".join(
    f"p{n}\tA cat {n % 4} sat.\tA cat lay{n % 7}.\t{label}\t{genre}\t{n / 4}\t{n:03}\n"
    for n, (label, genre) in enumerate(
        [("neutral", "x"), ("-", "y"), ("entailment", "x"), ("contradiction", "")] * 10 + [("neutral", "y")]
    )
)
COMMAS = 'premise,hypothesis,label\n5" disk,B.,e\n"A\ncat.","B, ""C"".",n\n\n' * 1 + '"D\n\n""E""",F.,c\nG.,H.,e\n' * 9
OBJECTS = [
    *({"uid": f"u{n}", "premise": f"A {n}.", "hypothesis": "B.", "label": n % 3} for n in range(20)),
    {"uid": "u20", "premise": "A 1.", "hypothesis": "B.", "label": "neutral", "votes": ["e", "n"], "sure": 1},
    {"uid": "u21", "premise": "A 1.", "hypothesis": "B.", "label": 1, "votes": [], "sure": 0.5, "by": {"a": 1}},
    {"uid": "u22", "premise": "A 1.", "hypothesis": "B.", "label": None, "by": {"b": "x"}},
]
JSON = "".join(json.dumps(fields) + "\n" for fields in OBJECTS)
FILES = {
    "plain.tsv": TABS,
    "windows.tsv": TABS.replace("\n", "\r\n") + "\r\n\r\n",
    "spaced.tsv": TABS.replace("\np4", "\n\n\np4"),
    "untabbed.txt": COMMAS.replace('"', ""),
    "quoted.tsv": TABS.replace("A cat 1 sat.", '"A ""cat"" 1\tsat."'),
    "quotes.tsv": TABS.replace("A cat 1 sat.", '"A cat" 1 sat.'),
    "one_quote.tsv": TABS.replace("p9\tA", 'p9\t"A'),
    "nameless.tsv": "".join(f"A {n}.\tB.\tneutral\n" for n in range(30)),
    "med.tsv": TABS.replace("\tx\t", "\tcrowd:upward_monotone\t").replace("contradiction", "neutral"),
    "cells.csv": COMMAS,
    "semicolons.csv": COMMAS.replace("B, ", "B ").replace(",", ";"),
    "objects.jsonl": JSON,
    "blank.jsonl": JSON.replace("\n", "\n\n  \n"),
    "half.jsonl": JSON.replace("A 7.", "\\\\ud83d"),
    "mixed.jsonl": JSON.replace('"sure": 1,', '"sure": true,').replace('"sure": 1}', '"sure": true}'),
    "array.json": json.dumps(OBJECTS, indent=1),
    "repeated.jsonl": (JSON + JSON).replace('"uid"', '"group"'),
    "ids.tsv": TABS.replace("p40\t", "p3\t"),
}


@pytest.mark.parametrize("block", [1, 300])
@pytest.mark.parametrize("name", FILES)
def test_whatever_is_in_a_file_is_the_same_in_blocks(tmp_path: Path, name: str, block: int) -> None:
    (tmp_path / name).write_bytes(FILES[name].encode())
    layout, *_ = same_in_blocks(tmp_path / name, block=block)
    assert layout


BROKEN = {
    "unknown.tsv": TABS.replace("p40\tA cat 0 sat.\tA cat lay5.\tneutral", "p40\tA.\tB.\tmaybe"),
    "ragged.tsv": TABS.replace("p30\t", "p30\tmore\t"),
    "empty.tsv": TABS.replace("p32\tA cat 0 sat.", "p32\t "),
    "unclosed.csv": COMMAS + '"I,J.,e\nK.,L.,e\n' * 5,
    "after.csv": COMMAS + '"I"s,J.,e\n' + "K.,L.,e\n" * 9,
    "cut.jsonl": JSON[:-20],
    "twice.jsonl": JSON.replace('"uid": "u21"', '"uid": "u21", "uid": "x"'),
    "number.jsonl": JSON + "7\n",
    "label.jsonl": JSON.replace('"neutral"', '"netural"'),
    "half.jsonl": JSON + JSON.replace("A 19.", "\\ud83d"),
    "latin.tsv": TABS.replace("p25", "é"),
}


@pytest.mark.parametrize("block", [1, 300])
@pytest.mark.parametrize("name", BROKEN)
def test_an_error_names_the_line_of_the_whole_file(tmp_path: Path, name: str, block: int) -> None:
    encoding = "latin-1" if name.startswith("latin") else "utf-8"
    (tmp_path / name).write_bytes(BROKEN[name].encode(encoding))
    said = same_in_blocks(tmp_path / name, block=block)
    assert str(said).startswith(f"{tmp_path / name}:")


def test_a_source_id_that_stands_twice_is_named_from_any_block(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text(TABS.replace("p40\t", "p2\t"))
    said = same_in_blocks(tmp_path / "a.tsv", block=40, columns={"source_id": "pairID"})
    assert "'p2' stands in it more than once" in str(said)


def test_labels_and_classes_of_parquet_are_the_same_in_blocks(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"premise": [f"A {n}." for n in range(300)], "hypothesis": "B.", "label": [n % 3 for n in range(300)]},
    ).with_columns(kind=pl.Series(["a", "b", None] * 100, dtype=pl.Categorical), pixels=pl.lit(b"x"))
    features = {"info": {"features": {"label": {"names": ["contradiction", "neutral", "entailment"]}}}}
    write_table(frame, tmp_path / "a.parquet", metadata={"huggingface": json.dumps(features)})
    *_, schema, _ = same_in_blocks(tmp_path / "a.parquet", block=700)
    assert list(schema)[-1] == "kind"


def test_a_parquet_row_that_is_wrong_is_named_by_its_number(tmp_path: Path) -> None:
    frame = pl.DataFrame({"premise": ["A."] * 300, "hypothesis": ["B."] * 299 + [None], "label": ["neutral"] * 300})
    write_table(frame, tmp_path / "a.parquet")
    assert "row 300: column 'hypothesis' is empty here" in str(same_in_blocks(tmp_path / "a.parquet", block=700))


def test_a_repeated_pair_is_numbered_across_blocks(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("premise\thypothesis\tlabel\n" + "A.\tB.\tneutral\nC.\tD.\tneutral\n" * 12)
    with streaming(40):
        ids = read_corpus(tmp_path / "a.tsv").suite.frame.collect()["id"].to_list()
    first, second = ids[0], ids[1]
    assert ids[2::2] == [f"{first}.{turn}" for turn in range(2, 13)]
    assert ids[3::2] == [f"{second}.{turn}" for turn in range(2, 13)]


def test_fifty_values_in_many_blocks_are_a_factor_and_fifty_one_are_not(tmp_path: Path) -> None:
    for values, kind in ((50, "factor"), (51, "text")):
        lines = (f"A {n}.\tB.\tneutral\tx{n % values}\n" for n in range(200))
        (tmp_path / "a.tsv").write_text("premise\thypothesis\tlabel\tkind\n" + "".join(lines))
        with streaming(500):
            assert read_corpus(tmp_path / "a.tsv").suite.card.columns == {"kind": kind}


@pytest.mark.parametrize("name", ["a.parquet", "a.jsonl", "a.csv", "a.tsv.gz"])
def test_our_own_files_are_the_same_in_blocks(tmp_path: Path, name: str) -> None:
    suite = api.generate("hans", n=8)
    with streaming(5_000):
        api.save(suite, tmp_path / name)
        again = api.load(tmp_path / name)
        assert again.card == suite.card
        assert again.frame.collect().equals(suite.frame.collect())


def test_a_suite_can_be_written_over_the_file_it_was_read_from(tmp_path: Path) -> None:
    with streaming(5_000):
        api.save(api.generate("hans", n=8), tmp_path / "a.parquet")
        suite = api.load(tmp_path / "a.parquet")
        api.save(suite, tmp_path / "a.parquet")
        with pytest.raises(AcidtestError, match="was changed after it was loaded"):
            suite.frame.collect()
        assert api.load(tmp_path / "a.parquet").card == suite.card


def test_the_file_is_not_read_again_once_its_rows_are_kept(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text(TABS)
    with streaming(300):
        found: Corpus = read_corpus(tmp_path / "a.tsv")
        (tmp_path / "a.tsv").unlink()
        assert found.suite.sealed().card == found.suite.card


def test_warnings_are_the_same_in_blocks(tmp_path: Path, caplog: Callable[..., Any]) -> None:
    (tmp_path / "a.tsv").write_text(TABS.replace("contradiction", "neutral"))
    said = []
    for block in (1 << 20, 40):
        with streaming(block):
            read_corpus(tmp_path / "a.tsv")
        said.append([record.getMessage() for record in caplog.records])
        caplog.clear()
    assert said[0] == said[1]
    assert "but no contradiction" in said[0][0]
