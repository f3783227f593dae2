"""Every way we know in which a file can be wrong, and what a user is told.

The messages are in tests/golden/malformed.txt, to be read by people: each must say what is wrong, where, and what to
do next.
"""

import gzip
import io
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from acidtest.core import files
from acidtest.core.errors import AcidtestError
from acidtest.sources.corpora import corpus

SNLI = "sentence1\tsentence2\tgold_label\n"
GOOD = "A cat sat.\tA cat lay.\tneutral\n"
OBJECT = '{"premise": "A cat sat.", "hypothesis": "A cat lay.", "label": "neutral"}\n'


@dataclass(frozen=True)
class Case:
    """A file that is wrong, and the options it is read with. No content: there is no such file."""

    title: str
    name: str
    content: bytes | str | None
    options: dict[str, Any] = field(default_factory=dict)


def parquet(**columns: list[Any]) -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(buffer)
    return buffer.getvalue()


def json_label(label: str) -> str:
    return OBJECT + f'{{"premise": "A dog ran.", "hypothesis": "A dog lay.", "label": {label}}}\n'


CASES = [
    Case("no such file", "a.tsv", None),
    Case("unknown ending", "a.xlsx", b"x"),
    Case("unknown ending, packed", "a.xml.gz", gzip.compress(b"x")),
    Case("no ending", "pairs", SNLI + GOOD),
    Case("packed Parquet", "a.parquet.gz", gzip.compress(b"x")),
    Case("empty tab-separated file", "a.tsv", b""),
    Case("empty CSV file", "a.csv", b""),
    Case("empty JSON lines", "a.jsonl", b""),
    Case("empty JSON array", "a.json", b"[]"),
    Case("only a byte order mark", "a.csv", b"\xef\xbb\xbf"),
    Case("only blank lines", "a.tsv", b"\n\r\n\n"),
    Case("only blank JSON lines", "a.jsonl", b"\n  \n"),
    Case("header only", "a.tsv", SNLI),
    Case("gzip data cut short", "a.tsv.gz", gzip.compress((SNLI + GOOD * 100).encode())[:-20]),
    Case("not gzip data", "a.tsv.gz", SNLI + GOOD),
    Case("gzip data without .gz", "a.tsv", gzip.compress((SNLI + GOOD).encode())),
    Case("a spreadsheet called CSV", "a.csv", b"PK\x03\x04\x14\x00"),
    Case("Parquet called JSON", "a.jsonl", parquet(a=[1])),
    Case("gzip bomb", "a.jsonl.gz", gzip.compress(OBJECT.encode() * 1000)),
    Case("Latin-1", "a.tsv", (SNLI + GOOD + "Un café.\tUn bar.\tneutral\n").encode("latin-1")),
    Case("UTF-8 cut in the middle of a character", "a.jsonl", OBJECT.encode() + "é".encode()[:1]),
    Case("UTF-16 with a byte order mark", "a.csv", "premise,hypothesis,label\n".encode("utf-16")),
    Case("UTF-16 without a byte order mark", "a.csv", "premise,hypothesis,label\n".encode("utf-16-le")),
    Case("NUL byte", "a.tsv", SNLI + GOOD + "A\0dog.\tA cow.\tneutral\n"),
    Case("old Macintosh line ends", "a.tsv", (SNLI + GOOD).replace("\n", "\r")),
    Case("too many cells, TSV", "a.tsv", SNLI + GOOD + "\nA dog.\tran\tA dog lay.\tneutral\n"),
    Case("too few cells, TSV", "a.tsv", SNLI + GOOD + "A dog.\tA dog lay.\n" + GOOD),
    Case("one cell, TSV", "a.tsv", SNLI + GOOD + "(10 rows)\n"),
    Case("too many cells, CSV", "a.csv", 'premise,hypothesis,label\n"A\ncat.",B.,neutral\nA, B.,C.,neutral\n'),
    Case("too few cells, CSV", "a.csv", "premise,hypothesis,label\nA cat.,neutral\n"),
    Case("too many cells without header", "a.tsv", GOOD + "A.\tB.\tC.\tneutral\n"),
    Case("too many cells, quoted TSV", "a.tsv", SNLI + '"A ""cat""."\tB.\tneutral\nA.\tB.\tC.\tneutral\n'),
    Case("quote never closed, CSV", "a.csv", 'premise,hypothesis,label\nA.,"B.,neutral\nC.,D.,neutral\n'),
    Case("text after a closing quote, CSV", "a.csv", 'premise,hypothesis,label\n\n"A "cat".",B.,neutral\n'),
    Case("quote never closed, quoted TSV", "a.tsv", '"premise"\t"hypothesis"\t"label"\n"A.\tB.\tneutral\n'),
    Case("two columns of one name", "a.tsv", "premise\thypothesis\tlabel\tpremise\nA.\tB.\te\tC.\n"),
    Case("no column named", "a.csv", ",,\nA.,B.,neutral\n"),
    Case("semicolons", "a.csv", "premise;hypothesis;label\nA.;B.;neutral\n"),
    Case("tabs in a CSV", "a.csv", SNLI + GOOD),
    Case("one column", "a.tsv", "text\nA cat sat.\n"),
    Case("commas in a TSV", "a.tsv", "premise,hypothesis,label\nA.,B.,neutral\n"),
    Case("JSON cut short", "a.jsonl", OBJECT + OBJECT[:-20]),
    Case("JSON with single quotes", "a.jsonl", "{'premise': 'A.'}\n"),
    Case("JSON with a comma after every line", "a.jsonl", OBJECT.replace("\n", ",\n") * 2),
    Case("JSON with two objects on a line", "a.jsonl", OBJECT + OBJECT.strip() + OBJECT),
    Case("JSON with a bare word", "a.jsonl", OBJECT + '\n{"premise": nothing}\n'),
    Case("JSON with a raw tab in a string", "a.jsonl", OBJECT.replace("cat", "c\tat")),
    Case("JSON object over several lines", "a.jsonl", OBJECT.replace(", ", ",\n")),
    Case("JSON line that is an array", "a.jsonl", OBJECT + '["A.", "B.", "neutral"]\n'),
    Case("JSON lines that are one array", "a.jsonl", f"[{OBJECT}]\n"),
    Case("JSON line that is a number", "a.jsonl", OBJECT * 2 + "7\n"),
    Case("JSON line that is null", "a.jsonl", "null\n"),
    Case("JSON nested too deeply", "a.jsonl", OBJECT + '{"premise": ' + "[" * 100_000 + "]" * 100_000 + "}\n"),
    Case("JSON with half a character", "a.jsonl", OBJECT + OBJECT.replace("cat", "\\ud83d")),
    Case("JSON array broken", "a.json", f"[\n{OBJECT},\n{OBJECT}\n"),
    Case("JSON array of strings", "a.json", f'[\n{OBJECT},\n"A cat sat."]'),
    Case("Parquet cut short", "a.parquet", parquet(premise=["A."], hypothesis=["B."], label=["e"])[:-9]),
    Case("text called Parquet", "a.parquet", SNLI + GOOD),
    Case("Parquet without the columns", "a.parquet", parquet(question=["A?"], answer=["B."])),
    Case(
        "Parquet with an unknown label",
        "a.parquet",
        parquet(premise=["A.", "B."], hypothesis=["C.", "D."], label=[0, 7]),
    ),
    Case("Parquet with a null hypothesis", "a.parquet", parquet(premise=["A."], hypothesis=[None], label=["e"])),
    Case("Parquet whose premise is a number", "a.parquet", parquet(premise=[1.5], hypothesis=["B."], label=["e"])),
    Case("JSON whose premise is a list", "a.jsonl", '{"premise": ["A.", "B."], "hypothesis": "C.", "label": "e"}\n'),
    Case("unknown label", "a.tsv", SNLI + GOOD + "A.\tB.\tentail\n"),
    Case(
        "unknown label after blank lines and a cell of two lines",
        "a.csv",
        'premise,hypothesis,label\n\n"A\nB",C.,e\nD.,E.,maybe so\n',
    ),
    Case("unknown label in a file without header", "a.tsv", GOOD * 3 + "A.\tB.\tyess\n"),
    Case("boolean labels", "a.jsonl", '{"premise": "A.", "hypothesis": "B.", "label": true}\n'),
    Case("fractional label", "a.jsonl", '{"premise": "A.", "hypothesis": "B.", "label": 0.5}\n'),
    Case("label that is a list", "a.jsonl", '{"premise": "A.", "hypothesis": "B.", "label": ["e", "n"]}\n'),
    Case("labels of mixed types, one unknown", "a.jsonl", json_label("0") + json_label('"-"') + json_label('"x"')),
    Case("number no class has", "a.jsonl", json_label("3")),
    Case("numbers in the GLUE layout", "a.tsv", "index\tsentence1\tsentence2\tlabel\n0\tA.\tB.\t1\n"),
    Case("numbers in the SNLI layout", "a.tsv", SNLI + "A.\tB.\t0\n"),
    Case("numbers in a file without header", "a.tsv", "A.\tB.\t0\nC.\tD.\t1\n"),
    Case(
        "numbers in columns given",
        "a.csv",
        "a,b,y\nA.,B.,1\n",
        {"columns": {"premise": "a", "hypothesis": "b", "label": "y"}},
    ),
    Case("missing columns", "a.jsonl", '{"question": "A?", "answer": "B."}\n'),
    Case("missing columns, TSV", "a.tsv", "word1\tword2\tlabel\ncat\tanimal\tTrue\n"),
    Case("missing hypothesis", "a.csv", "premise,conclusion,label\nA.,B.,neutral\n"),
    Case("missing label", "a.csv", "premise,hypothesis,judgement\nA.,B.,neutral\n"),
    Case("columns of two layouts mixed", "a.csv", "premise,sentence2,label\nA.,B.,neutral\n"),
    Case(
        "two gold columns, as in IMPPRES",
        "a.jsonl",
        '{"sentence1": "A.", "sentence2": "B.", "gold_label_log": "e", "gold_label_prag": "n"}',
    ),
    Case("two columns that differ in case", "a.csv", "premise,hypothesis,label,Label\nA.,B.,e,n\n"),
    Case("two pairs of sentences", "a.csv", "premise,hypothesis,sentence1,sentence2,label\nA.,B.,C.,D.,e\n"),
    Case("columns given that are not there", "a.csv", "text_a,text_b,y\nA.,B.,e\n", {"columns": {"premise": "test_a"}}),
    Case("columns given that resemble nothing", "a.csv", "text_a,text_b,y\nA.,B.,e\n", {"columns": {"premise": "zzz"}}),
    Case("columns given, but not all", "a.csv", "text_a,text_b,y\nA.,B.,e\n", {"columns": {"premise": "text_a"}}),
    Case("columns given for one of ours", "a.csv", "text_a,text_b,y\nA.,B.,e\n", {"columns": {"id": "y"}}),
    Case(
        "source_id given that stands twice",
        "a.csv",
        "premise,hypothesis,label,n\nA.,B.,e,1\nC.,D.,e,1\n",
        {"columns": {"source_id": "n"}},
    ),
    Case("label map with an unknown target", "a.tsv", GOOD, {"label_map": {"0": "entailed"}}),
    Case(
        "label map that leaves a label out",
        "a.tsv",
        SNLI + "A.\tB.\t0\nC.\tD.\t1\n",
        {"label_map": {"0": "entailment"}},
    ),
    Case("empty premise", "a.tsv", SNLI + GOOD + "\tB.\tneutral\n"),
    Case("hypothesis of spaces", "a.csv", "premise,hypothesis,label\nA.,  ,neutral\n"),
    Case("null premise", "a.jsonl", OBJECT + '{"premise": null, "hypothesis": "B.", "label": "e"}\n'),
    Case("missing hypothesis in one object", "a.jsonl", OBJECT + '{"premise": "A.", "label": "e"}\n'),
    Case("no row with gold", "a.tsv", SNLI + "A.\tB.\t-\nC.\tD.\t\nE.\tF.\t-1\n"),
]


def told(case: Case, folder: Path) -> str:
    """The message for a case, with the path of the file replaced."""
    path = folder / case.name
    if case.content is not None:
        path.write_bytes(case.content.encode() if isinstance(case.content, str) else case.content)
    with pytest.raises(AcidtestError) as caught:
        corpus(path, **case.options)
    return str(caught.value).replace(str(path), "{path}")


def test_every_malformed_file_gets_its_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Callable[[str, str], None]
) -> None:
    monkeypatch.setattr(files, "MOST_BYTES", 50_000)
    assert len({case.title for case in CASES}) == len(CASES) >= 40
    messages = []
    for number, case in enumerate(CASES):
        folder = tmp_path / str(number)
        folder.mkdir()
        messages.append(f"{case.title} ({case.name})\n    {told(case, folder)}\n")
    golden("malformed.txt", "\n".join(messages))


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").mkdir()
    with pytest.raises(AcidtestError, match=r"a\.tsv: is a folder; a file was expected"):
        corpus(tmp_path / "a.tsv")


def test_messages_are_short_even_when_a_cell_is_not(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text(SNLI + "A.\tB.\t" + "x" * 200_000 + "\n")
    with pytest.raises(AcidtestError) as caught:
        corpus(tmp_path / "a.tsv")
    assert len(str(caught.value)) < 1000


def test_a_huge_cell_is_read(tmp_path: Path) -> None:
    huge = "x" * 1_000_000
    for name, content in (
        ("a.tsv", SNLI + f"{huge}\tB.\te\n"),
        ("a.csv", f'premise,hypothesis,label\n{huge},5" B.,e\n'),
    ):
        (tmp_path / name).write_text(content)
        assert corpus(tmp_path / name).suite.frame.collect()["premise"][0] == huge


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("spaces.tsv", SNLI + "A.\tB.\t neutral  \n"),
        ("case.tsv", SNLI + "A.\tB.\tNeutral\n"),
        ("mixed.jsonl", json_label("0") + json_label('"-"') + json_label('"contradiction"')),
        ("blank.csv", "premise,hypothesis,label\r\n\r\nA.,B.,neutral\r\n\r\n\r\n"),
        ("unended.tsv", SNLI + GOOD.rstrip()),
        ("quote.csv", 'premise,hypothesis,label\n5" disk,B.,neutral\n'),
    ],
)
def test_what_looks_odd_but_is_well_still_loads(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_bytes(content.encode())
    assert corpus(tmp_path / name).suite.card.rows > 0
