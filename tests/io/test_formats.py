"""What files of the wild do with commas, endings and keys, as far as it decides which pairs they hold."""

import gzip
import json
from pathlib import Path

import polars as pl
import pytest

from acidtest.core.errors import FileError
from acidtest.corpora.files import read_corpus
from acidtest.io import jsonlines
from acidtest.io.tables import read_table, write_table


@pytest.fixture
def written(tmp_path: Path):
    """Write a file and give its path."""

    def write(name: str, content: str) -> Path:
        path = tmp_path / name
        path.write_bytes(gzip.compress(content.encode()) if path.suffix == ".gz" else content.encode())
        return path

    return write


def test_nan_nli_has_semicolons_and_spacers_without_a_name(written) -> None:
    header = "premise;hypothesis;label;;;P-Verbal;;Construction"
    first = 'Not all cats sat.;Some, not all, sat.;entailment;;;0;;"not; all"'
    second = "No cat sat.;A cat sat.;contradiction;;;1;;no"
    found = read_corpus(written("nan.csv", f"{header}\n{first}\n{second}\n"))
    assert found.suite.frame.select("premise", "hypothesis", "label", "P-Verbal", "Construction").collect().rows() == [
        ("Not all cats sat.", "Some, not all, sat.", "entailment", "0", "not; all"),
        ("No cat sat.", "A cat sat.", "contradiction", "1", "no"),
    ]
    assert found.layout == "Hugging Face"


@pytest.mark.parametrize(
    ("content", "columns"),
    [
        ("a;b\n1;2\n", ["a", "b"]),
        ('"a";"b, c"\n1;2\n', ["a", "b, c"]),
        ("\r\n\na;b\r\n1;2\r\n", ["a", "b"]),
        ("a;b,c\n1;2,3\n", ["a;b", "c"]),
        ('"a;b",c\n1,2\n', ["a;b", "c"]),
        ('"a;b"\n1\n', ["a;b"]),
        ('"a\n;b"\n1\n', ["a\n;b"]),
        ("a\n1;2\n", ["a"]),
        (";a\n0;1\n", ["a"]),
    ],
)
def test_semicolons_separate_where_the_header_has_no_comma(written, content: str, columns: list[str]) -> None:
    for name in ("a.csv", "a.csv.gz"):
        assert read_table(written(name, content)).frame.columns == columns


def test_one_column_with_a_semicolon_in_its_name_is_written_so_that_it_comes_back(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a;b": ["x;y", "z"]})
    write_table(frame, tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == '"a;b"\nx;y\nz\n'
    assert read_table(tmp_path / "a.csv").frame.equals(frame)


def test_rows_between_semicolons_know_their_line(written) -> None:
    table = read_table(written("a.csv", 'a;b\n"1\n2";3\n4;5\n'))
    assert [table.line(0), table.line(1)] == [2, 4]


@pytest.mark.parametrize("name", ["scitail_1.0_dev.txt", "scitail_1.0_dev.txt.gz"])
def test_scitail_in_the_format_of_snli_is_json_lines_called_txt(written, name: str) -> None:
    first = {
        "sentence1": "A cat\tsat.",
        "sentence2": "A cat sat.",
        "gold_label": "entailment",
        "annotator_labels": ["x"],
    }
    second = first | {"sentence2": "A dog sat.", "gold_label": "neutral"}
    path = written(name, f"\n{json.dumps(first)}\n{json.dumps(second)}\n")
    found = read_corpus(path)
    assert found.layout == "SciTail"
    assert found.suite.frame.select("premise", "hypothesis", "label").collect().rows() == [
        ("A cat\tsat.", "A cat sat.", "entailment"),
        ("A cat\tsat.", "A dog sat.", "non-entailment"),
    ]
    assert read_table(path).line(1) == 3


GOOD = '{"premise": "A.", "hypothesis": "B.", "label": "e"}'
TWICE = [
    ('{"premise": "A.", "hypothesis": "B.", "label": "e", "label": "n"}', "label"),
    ('{"premise":"A.","hypothesis":"B.","label":"e","label":"e"}', "label"),
    ('{"premise": "A.", "label": "e", "label": "n"}', "label"),
    ('{"premise": "A.", "hypothesis": "B.", "label": null, "label": "n"}', "label"),
    ('{"premise": "A.", "hypothesis": "B.", "label": "n", "label": null}', "label"),
    ('{"premise": "A.", "hypothesis": "B.", "label": "e", "l\\u0061bel": "n"}', "label"),
    ('{"premise" : "A.", "hypothesis"\t: "B.", "label"  : "e", "label" :"n"}', "label"),
    ('{"premise": "A \\":", "hypothesis": "B.", "premise": "C.", "label": "e"}', "premise"),
    ('{"premise": "A.", "hypothesis": "B.", "label": "e", "more": {"x": 1, "x": 2}}', "x"),
    ('{"premise": "A.", "hypothesis": "B.", "label": "e", "more": [{"x": 1}, {"y": 2, "y": 2}]}', "y"),
]


@pytest.mark.parametrize(("line", "key"), TWICE)
def test_a_key_that_stands_twice_in_an_object_is_an_error_with_its_line(written, line: str, key: str) -> None:
    message = f":4: is not valid JSON: the key {key!r} stands more than once in one object"
    for name, content in (
        ("a.jsonl", f"{GOOD}\n\n{GOOD}\n{line}\n{GOOD}\n"),
        ("a.txt", f"{GOOD}\n\n{GOOD}\n{line}\n{GOOD}\n"),
        ("a.json", f"[{GOOD},\n\n{GOOD},\n{line},\n{GOOD}]\n"),
    ):
        with pytest.raises(FileError) as caught:
            read_corpus(written(name, content))
        assert message in str(caught.value), name


FINE = [
    '{"premise": "A.", "hypothesis": "B.", "label": "e", "note": null}',
    '{"premise": "said \\"x\\": y", "hypothesis": "a \\" : b", "label": "e"}',
    '{"premise": "A : : B", "hypothesis": ": B", "label": "e", "more": {"label": 1, "premise": 2}}',
    '{"premise": "A.", "hypothesis": "B.", "label": "e", "Label": "n"}',
    '{"premise": "A.", "hypothesis": "B.", "label": "e", "": "n"}',
]


@pytest.mark.parametrize("line", FINE)
def test_what_looks_like_a_key_is_not_taken_for_one(written, line: str) -> None:
    assert read_table(written("a.jsonl", f"{GOOD}\n{line}\n\n{GOOD}\n")).frame.height == 3
    assert read_table(written("a.json", f"[{GOOD},\n{line}]")).frame.height == 2


def test_only_lines_in_doubt_are_read_twice(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = list[int]()
    once = jsonlines._object
    monkeypatch.setattr(
        jsonlines, "_object", lambda path, line, number: (read.append(number), once(path, line, number))[1]
    )
    read_table(shared / "snli" / "snli_1.0_dev.jsonl.gz")
    assert read == []
    # Six keys of LingNLI's training set hold null, and three texts a quote before a colon (counted with grep).
    read_table(shared / "lingnli" / "train.jsonl.gz")
    assert len(read) <= 9
