import gzip
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from acidtest.core.errors import FileError
from acidtest.core.suite import sink_rows
from acidtest.io import blocks, delimited, jsonlines
from acidtest.io.rows import memory_rows
from acidtest.io.tables import flatten, read_table, remove_formula_prefix, stem, write_table

TEXT_FORMATS = (".jsonl", ".csv", ".tsv", ".jsonl.gz", ".csv.gz", ".tsv.gz")
FORMATS = (".parquet", *TEXT_FORMATS)


@pytest.fixture
def written(tmp_path: Path):
    """Write bytes or text to a file of the given name and give its path."""

    def write(name: str, content: bytes | str) -> Path:
        path = tmp_path / name
        raw = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)
        return path

    return write


def rows(path: Path, **options: Any) -> list[tuple[Any, ...]]:
    return read_table(path, **options).frame.rows()


def test_every_text_format_gives_the_same_rows(written) -> None:
    expected = [("A cat sat.", "yes"), ("Ça, alors!", None)]
    for name, content in {
        "a.csv": 'text,answer\nA cat sat.,yes\n"Ça, alors!",\n',
        "a.tsv": "text\tanswer\nA cat sat.\tyes\nÇa, alors!\t\n",
        "a.tab": "text\tanswer\nA cat sat.\tyes\nÇa, alors!\t",
        "a.txt": "text\tanswer\r\nA cat sat.\tyes\r\nÇa, alors!\t\r\n",
        "a.TSV": "\ufefftext\tanswer\nA cat sat.\tyes\nÇa, alors!\t\n\n\n",
        "a.csv.gz": 'text,answer\nA cat sat.,yes\n"Ça, alors!",\n',
        "a.jsonl": '{"text": "A cat sat.", "answer": "yes"}\n{"text": "Ça, alors!"}\n',
        "a.ndjson.gz": '{"text": "A cat sat.", "answer": "yes"}\n\n{"text": "\\u00c7a, alors!", "answer": null}',
        "a.json": '[{"text": "A cat sat.", "answer": "yes"},\n {"text": "Ça, alors!"}]',
        "b.json": '{"text": "A cat sat.", "answer": "yes"}\r\n{"text": "Ça, alors!", "answer": null}\r\n',
    }.items():
        table = read_table(written(name, content))
        assert table.frame.columns == ["text", "answer"], name
        assert table.frame.rows() == expected, name


def test_delimited_text_has_no_types(written) -> None:
    table = read_table(written("a.csv", "n,x,b\n007,1.50,true\n"))
    assert table.frame.schema == {"n": pl.String, "x": pl.String, "b": pl.String}
    assert table.frame.rows() == [("007", "1.50", "true")]


def test_json_keeps_types_and_lists(written) -> None:
    table = read_table(written("a.jsonl", '{"n": 1, "x": 0.5, "b": true, "l": ["p", "q"]}\n{"l": []}\n'))
    assert table.frame.schema == {"n": pl.Int64, "x": pl.Float64, "b": pl.Boolean, "l": pl.List(pl.String)}
    assert table.frame.rows() == [(1, 0.5, True, ["p", "q"]), (None, None, None, [])]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (['"-"', "0"], ["-", "0"]),
        (["true", "0"], ["true", "0"]),
        (['["p"]', '"q"'], ['["p"]', "q"]),
        (["1", "0.5"], [1.0, 0.5]),
        (["NaN", '"x"'], ["NaN", "x"]),
        (["[1]", '["p"]'], [["1"], ["p"]]),
    ],
)
def test_mixed_json_types_lose_nothing(written, values: list[str], expected: list[Any]) -> None:
    path = written("a.jsonl", "".join(f'{{"v": {value}}}\n' for value in values))
    assert read_table(path).frame["v"].to_list() == expected


def test_escaped_characters_are_read_whole(written, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written("a.jsonl", r'{"v": "\ud83d\ude00 \u00e9 \\ud83d"}')
    assert read_table(path).frame["v"].to_list() == ["😀 é \\ud83d"]
    monkeypatch.setattr(jsonlines, "numbered_objects", None)
    assert read_table(written("b.jsonl", r'{"v": "\uD83D\uDE00"}')).frame["v"].to_list() == ["😀"]


def test_a_json_key_that_is_always_null_is_a_string_column(written) -> None:
    assert read_table(written("a.jsonl", '{"a": 1, "b": null}\n')).frame.schema == {"a": pl.Int64, "b": pl.String}


def test_columns_without_a_name_are_left_out(written) -> None:
    assert rows(written("a.csv", ",text,,Unnamed: 3\n0,A cat.,,7\n1,A dog.,,8\n")) == [("A cat.",), ("A dog.",)]


def test_without_a_header_columns_are_numbered(written) -> None:
    path = written("a.tsv", "A cat.\tA cat.\nA dog.\tA dog.\n")
    table = read_table(path, header=False)
    assert table.header is False
    assert table.frame.columns == ["column_1", "column_2"]
    assert table.frame.rows() == [("A cat.", "A cat."), ("A dog.", "A dog.")]


def test_a_function_may_decide_from_the_first_line_whether_it_is_a_header(written) -> None:
    path = written("a.csv", '"p, q",r\ns,t\n')
    assert read_table(path, header=lambda cells: cells != ["p, q", "r"]).frame.rows() == [("p, q", "r"), ("s", "t")]
    assert read_table(path, header=lambda cells: True).frame.rows() == [("s", "t")]


@pytest.mark.parametrize(
    ("content", "quoted", "expected"),
    [
        # As in MNLI: a cell begins with a quote that nothing closes.
        ('p\th\n"Go," he said.\t"Go\nx\t"Well"\n', False, [('"Go," he said.', '"Go'), ("x", '"Well"')]),
        # A cell in quotes, but a writer that quotes what it must would have left it alone.
        ('p\th\n"Go."\tx\n', False, [('"Go."', "x")]),
        # As in the counterfactually augmented SNLI, written by pandas.
        ('p\th\n"the ""Shop"" here"\tx\n', True, [('the "Shop" here', "x")]),
        # A doubled quote, contradicted by a quote inside a plain cell.
        ('p\th\n"the ""Shop"" here"\t5" disk\n', False, [('"the ""Shop"" here"', '5" disk')]),
        # Every cell of the header quoted.
        ('"p"\t"h"\n"Go."\tx\n', True, [("Go.", "x")]),
        # Only as quoted text do the lines have equally many cells.
        ('p\th\n"a\tb"\tx\n"c\nd"\ty\n', True, [("a\tb", "x"), ("c\nd", "y")]),
        # Two lines that read well either way are left as they are.
        ('p\th\n"Well\tx\nsaid he"\ty\n', False, [('"Well', "x"), ('said he"', "y")]),
        ("p\th\n'a'\tx\n", False, [("'a'", "x")]),
    ],
)
def test_whether_tab_separated_cells_are_quoted_is_seen_in_the_file(written, content, quoted, expected) -> None:
    table = read_table(written("a.tsv", content))
    assert table.dialect == delimited.Dialect("\t", quoted)
    assert table.frame.rows() == expected


def test_the_caller_may_know_better_about_quotes(written) -> None:
    path = written("a.tsv", 'p\th\n"the ""Shop"" here"\tx\n')
    assert rows(path, quoted=False) == [('"the ""Shop"" here"', "x")]


def test_quotes_inside_plain_csv_cells_are_text(written) -> None:
    assert rows(written("a.csv", 'p,h\n5" disk,"3"" disk"\n')) == [('5" disk', '3" disk')]


def test_blank_lines_are_no_rows(written) -> None:
    assert rows(written("a.csv", "\np,h\n\na,b\n\r\n,\nc,d\n\n")) == [("a", "b"), (None, None), ("c", "d")]


@pytest.mark.parametrize(
    ("name", "content", "lines"),
    [
        ("a.csv", 'p,h\n"a\nb",c\n\nd,e\n', [2, 5]),
        ("a.tsv", "\np\th\r\na\tb\r\n\r\n\r\nc\td", [3, 6]),
        ("a.tsv", 'p\th\n"a\tb\nc"\td\n', [2, 3]),
        ("a.tsv", '"p"\t"h"\n"a\nb"\tc\nd\te\n', [2, 4]),
        ("a.jsonl", '\n{"a": 1}\n\n{"a": 2}', [2, 4]),
        ("a.json", '[\n {"a": 1}, {"a": [1,\n 2]},\n\n {"a": 3}]', [2, 2, 5]),
        ("a.json.gz", '{"a": 1}\n{"a": 2}\n', [1, 2]),
    ],
)
def test_rows_know_their_line(written, name: str, content: str, lines: list[int]) -> None:
    table = read_table(written(name, content))
    assert [table.line(row) for row in range(table.frame.height)] == lines


def test_rows_without_a_header_know_their_line(written) -> None:
    table = read_table(written("a.csv", "a,b\n\nc,d\n"), header=False)
    assert [table.line(0), table.line(1)] == [1, 3]


def test_parquet_rows_have_no_line(tmp_path: Path) -> None:
    write_table(pl.DataFrame({"a": [1]}), tmp_path / "a.parquet", metadata={"card": "{}"})
    table = read_table(tmp_path / "a.parquet")
    assert table.line(0) is None
    assert table.metadata["card"] == "{}"


def test_the_fingerprint_is_of_the_unpacked_content(written) -> None:
    plain, packed = written("a.tsv", "p\th\na\tb\n"), written("a.tsv.gz", "p\th\na\tb\n")
    assert read_table(plain).fingerprint == read_table(packed).fingerprint
    assert read_table(plain).fingerprint != read_table(written("b.tsv", "p\th\na\tc\n")).fingerprint


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_what_was_written_is_read_as_it_was(tmp_path: Path, ending: str) -> None:
    frame = pl.DataFrame({"premise": ["'- quoted", "- quoted", "''=x", "'x"]})
    write_table(frame, tmp_path / f"a{ending}")
    assert read_table(tmp_path / f"a{ending}").written_frame.equals(frame)


def test_a_file_that_is_not_there_is_told_before_its_ending(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"none\.db: there is no such file; check the path"):
        read_table(tmp_path / "none.db")


def test_columns_of_json_lines_stand_in_their_order_however_many_there_are(written) -> None:
    names = [f"c{number}" for number in range(40, 0, -1)]
    rows = [dict.fromkeys(names, "x"), dict.fromkeys(names) | {"c7": "x"}, {"c3": "x", **dict.fromkeys(names)}]
    path = written("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    assert read_table(path).columns == names
    path = written("b.jsonl", "".join(json.dumps({name: "x"}) + "\n" for name in names))
    assert read_table(path).columns == names


def test_formulas_are_disarmed_and_come_back(tmp_path: Path) -> None:
    cells = ["=1+1", "+1", "-1", "@x", "\tx", "\rx", "'=1", "''-", "'x", "x=1", "-", "'"]
    frame = pl.DataFrame({"=name": cells, "number": list(range(-6, 6))})
    write_table(frame, tmp_path / "a.csv")
    raw = read_table(tmp_path / "a.csv").frame
    assert raw.columns == ["'=name", "number"]
    assert raw["'=name"].to_list() == [
        "'=1+1", "'+1", "'-1", "'@x", "'\tx", "'\rx", "''=1", "'''-", "'x", "x=1", "'-", "'"
    ]  # fmt: skip
    assert raw["number"].to_list()[:2] == ["-6", "-5"]
    assert remove_formula_prefix(raw)["=name"].to_list() == cells


def test_what_a_file_looks_like(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "text": ['the "Shop"', "tab\there", "line\nhere", "", None, "Ça"],
            "x": [0.1, -1.5, None, 1e300, 2.0, float("nan")],
            "ok": [True, False, None, True, True, True],
            "l": [["p", 'q"'], [], None, ["é"], [], []],
        }
    )
    write_table(frame, tmp_path / "a.tsv")
    assert (tmp_path / "a.tsv").read_bytes().decode() == (
        "text\tx\tok\tl\n"
        '"the ""Shop"""\t0.1\ttrue\t"[""p"",""q\\""""]"\n'
        '"tab\there"\t-1.5\tfalse\t[]\n'
        '"line\nhere"\t\t\t\n'
        '\t1e+300\ttrue\t"[""é""]"\n'
        "\t2.0\ttrue\t[]\n"
        "Ça\tNaN\ttrue\t[]\n"
    )
    write_table(frame.head(2), tmp_path / "a.jsonl")
    assert (tmp_path / "a.jsonl").read_text(encoding="utf-8") == (
        '{"text":"the \\"Shop\\"","x":0.1,"ok":true,"l":["p","q\\""]}\n'
        '{"text":"tab\\there","x":-1.5,"ok":false,"l":[]}\n'
    )


def test_a_tab_separated_file_whose_quotes_show_no_evidence_quotes_its_header(tmp_path: Path) -> None:
    write_table(pl.DataFrame({"p": ["a\nb", "c"], "h": ["x", "y"]}), tmp_path / "a.tsv")
    assert (tmp_path / "a.tsv").read_text() == '"p"\t"h"\n"a\nb"\tx\nc\ty\n'
    assert rows(tmp_path / "a.tsv") == [("a\nb", "x"), ("c", "y")]


def test_packed_files_are_the_same_bytes_every_time(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": ["x"]})
    write_table(frame, tmp_path / "one.csv.gz")
    write_table(frame, tmp_path / "two.csv.gz")
    packed = (tmp_path / "one.csv.gz").read_bytes()
    assert packed == (tmp_path / "two.csv.gz").read_bytes()
    # RFC 1952: no flags (so no name), time 0, and 255 for an unknown operating system.
    assert (packed[3], packed[4:8], packed[9]) == (0, b"\0\0\0\0", 255)


@pytest.mark.parametrize("ending", FORMATS)
def test_an_empty_table_keeps_its_columns_where_the_format_can(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a{ending}"
    write_table(pl.DataFrame(schema={"a": pl.String, "b": pl.String}), path)
    if "jsonl" in ending:
        with pytest.raises(FileError, match="holds nothing"):
            read_table(path)
    else:
        assert read_table(path).frame.columns == ["a", "b"]
        assert read_table(path).frame.height == 0


def test_categories_are_written_as_strings(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": ["=x", "y"], "b": [1, 2]}, schema_overrides={"a": pl.Categorical})
    write_table(frame, tmp_path / "a.csv")
    assert rows(tmp_path / "a.csv") == [("'=x", "1"), ("y", "2")]


def test_nested_values_become_json() -> None:
    frame = pl.DataFrame({"l": [["é", '"'], None], "s": [{"a": 1, "b": None}, {"a": 2, "b": "}"}]})
    assert flatten(frame).rows() == [('["é","\\""]', '{"a":1,"b":null}'), (None, '{"a":2,"b":"}"}')]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("snli_1.0_dev.jsonl.gz", "snli_1.0_dev"), ("a.b.tsv", "a.b"), ("RTE.TSV", "RTE"), ("x/y.parquet", "y")],
)
def test_a_stem_loses_only_the_endings_of_tables(name: str, expected: str) -> None:
    assert stem(name) == expected


@pytest.mark.parametrize("name", ["a.json", "a.xlsx", "a", "a.parquet.gz", "a.gz"])
def test_unknown_endings_are_not_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileError, match=re.escape("use .parquet, .jsonl, .csv or .tsv, the text ones also with .gz")):
        write_table(pl.DataFrame({"a": [1]}), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_nul_character_is_refused_in_delimited_text_only(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": ["x\0y"], "b": ["z"]})
    with pytest.raises(FileError, match="a cell holds a NUL character"):
        write_table(frame, tmp_path / "a.csv")
    write_table(frame, tmp_path / "a.jsonl")
    assert rows(tmp_path / "a.jsonl") == [("x\0y", "z")]


# NUL cannot stand in delimited text; U+FEFF at the very start of a file is a byte order mark.
characters = st.characters(codec="utf-8", exclude_characters="\0\ufeff")
cells = st.one_of(st.none(), st.text(characters), st.text(st.sampled_from("\"'\t\n\r ,=-+@ab")))
names = st.text(st.one_of(characters, st.sampled_from("\"'\t\n\r,=ab")), min_size=1).filter(str.strip)


@st.composite
def frames(draw: st.DrawFn) -> pl.DataFrame:
    """Tables of one to four columns of strings, and maybe one of numbers."""
    columns = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    assume(not any(name.startswith("Unnamed") for name in columns))
    height = draw(st.integers(1, 5))
    frame = {name: draw(st.lists(cells, min_size=height, max_size=height)) for name in columns}
    return pl.DataFrame(frame, schema=dict.fromkeys(columns, pl.String))


@pytest.mark.parametrize("ending", FORMATS)
@given(frame=frames())
@example(frame=pl.DataFrame({"0": [None, "a"], "*": ["b", None], "^0$": ["c", "d"]}, schema_overrides={"0": pl.String}))
@settings(max_examples=60)
def test_what_is_written_is_read_back(tmp_path: Path, ending: str, frame: pl.DataFrame) -> None:
    path = tmp_path / f"a{ending}"
    write_table(frame, path)
    back = read_table(path).frame
    if ".csv" in ending or ".tsv" in ending:
        back, frame = remove_formula_prefix(back), frame.with_columns(pl.all().replace("", None))
    frame = memory_rows(frame).without_patterns().collected()
    assert_frame_equal(back, frame)


@given(
    numbers=st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), st.booleans()), min_size=1)
)
@settings(max_examples=50)
def test_numbers_survive_every_format(tmp_path: Path, numbers: list[tuple[int, float, bool]]) -> None:
    frame = pl.DataFrame(numbers, schema={"i": pl.Int64, "x": pl.Float64, "b": pl.Boolean}, orient="row")
    for ending in (".parquet", ".csv", ".tsv"):
        write_table(frame, tmp_path / f"a{ending}")
        back = read_table(tmp_path / f"a{ending}").frame
        if ending != ".parquet":
            back = back.with_columns(pl.col("i").cast(pl.Int64), pl.col("x").cast(pl.Float64), pl.col("b") == "true")
        assert_frame_equal(back, frame, check_exact=True)
    finite = frame.filter(pl.col("x").is_finite())
    if finite.height:
        write_table(finite, tmp_path / "a.jsonl")
        assert_frame_equal(read_table(tmp_path / "a.jsonl").frame, finite, check_exact=True)


@given(
    content=st.text(st.sampled_from('ab",\t\r\n é'), max_size=40),
    ending=st.sampled_from([".csv", ".tsv"]),
    header=st.booleans(),
)
@settings(max_examples=300)
def test_the_fast_reader_and_the_slow_one_agree(tmp_path: Path, content: str, ending: str, header: bool) -> None:
    path = tmp_path / f"a{ending}"
    path.write_bytes(content.encode())
    with pytest.MonkeyPatch.context() as patch:
        fast = outcome(path, header=header)
        patch.setattr(delimited, "_fast_frame", lambda *_, **__: None)
        assert outcome(path, header=header) == fast


@given(
    content=st.text(st.sampled_from('ab",\t\r\n é'), max_size=60),
    ending=st.sampled_from([".csv", ".tsv"]),
    header=st.booleans(),
    block=st.integers(1, 30),
)
@settings(max_examples=300)
def test_blocks_of_any_size_make_the_same_table(
    tmp_path: Path, content: str, ending: str, header: bool, block: int
) -> None:
    path = tmp_path / f"a{ending}"
    path.write_bytes(content.encode())
    with pytest.MonkeyPatch.context() as patch:
        whole = outcome(path, header=header)
        patch.setattr(blocks, "BLOCK", block)
        assert outcome(path, header=header) == whole


_SCALARS = st.one_of(st.none(), st.integers(-9, 9), st.floats(-1, 1), st.text("aé", max_size=3))


@given(
    objects=st.lists(st.dictionaries(st.sampled_from("abc"), _SCALARS, min_size=1), min_size=1, max_size=6),
    block=st.integers(1, 60),
)
@settings(max_examples=300)
def test_json_lines_in_blocks_of_any_size_make_the_same_table(
    tmp_path: Path, objects: list[dict[str, Any]], block: int
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(fields) + "\n" for fields in objects), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        whole = read_table(path)
        patch.setattr(blocks, "BLOCK", block)
        table = read_table(path)
        assert [table.line(row) for row in range(len(objects))] == list(range(1, len(objects) + 1))
    names = sorted(whole.columns)
    assert_frame_equal(table.frame.select(names), whole.frame.select(names), check_exact=True)


@given(
    objects=st.lists(
        st.dictionaries(
            st.sampled_from("abc"),
            st.recursive(
                st.one_of(
                    st.none(), st.booleans(), st.integers(-9, 9), st.text(st.sampled_from('a"\\é😀'), max_size=3)
                ),
                lambda inner: st.lists(inner, max_size=2),
                max_leaves=3,
            ),
        ),
        min_size=1,
        max_size=4,
    ),
)
@settings(max_examples=200)
def test_strings_in_json_lines_come_out_as_they_went_in(tmp_path: Path, objects: list[dict[str, Any]]) -> None:
    assume(any(objects))
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(fields) + "\n" for fields in objects), encoding="utf-8")
    frame = read_table(path).frame
    for name in frame.columns:
        for value, fields in zip(frame[name].to_list(), objects, strict=True):
            if isinstance(fields.get(name), str):
                assert value == fields[name]
            assert (value is None) == (fields.get(name) is None)


def outcome(path: Path, *, header: bool) -> object:
    """The rows of a file, or what is wrong with it."""
    try:
        table = read_table(path, header=header)
    except FileError as error:
        return str(error)
    return table.frame.columns, table.frame.rows()


def test_json_lines_read_slowly_give_the_same_frame(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = shared / "breaking_nli" / "breaking_nli_quarter.jsonl"
    fast = read_table(path).frame
    monkeypatch.setattr(jsonlines, "_fast_frame", lambda *_: None)
    assert_frame_equal(read_table(path).frame, fast)


@pytest.mark.parametrize(
    "name",
    ["cad/train.tsv", "taxinli/taxinli10k_MNLIDev.tsv", "sick/SICK_test_annotated.txt", "mnli/mnli_dev_matched.tsv"],
)
def test_real_files_read_slowly_give_the_same_frame(shared: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    fast = read_table(shared / name).frame
    monkeypatch.setattr(delimited, "_fast_frame", lambda *_, **__: None)
    assert_frame_equal(read_table(shared / name).frame, fast)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on the size of files")
@pytest.mark.parametrize("output", ["suite.parquet", "suite.csv", "folder"])
def test_a_full_disk_is_told_and_leaves_nothing_behind(tmp_path: Path, output: str) -> None:
    # The limit on the size of files does to a writer what a full disk does.
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)); "
        "from acidtest.cli.app import main; sys.exit(main(['generate', 'hans', '-n', '200', '-q', '-o', sys.argv[1]]))"
    )
    command = [sys.executable, "-c", code, output]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == 2
    assert "cannot be written: File too large" in found.stderr
    assert "Traceback" not in found.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_error_of_polars_that_is_no_error_of_the_disk_stays_one(tmp_path: Path) -> None:
    rows = pl.LazyFrame({"a": ["x"]}).select(pl.col("a").cast(pl.Int64))
    with pytest.raises(pl.exceptions.PolarsError):
        sink_rows(rows, tmp_path / "a.parquet", {})
