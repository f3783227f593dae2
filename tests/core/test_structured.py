"""The one door for structured files: bounds before parsing, a shape after it, file and key in every message."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from acidtest.core import structured
from acidtest.core.errors import FileError
from acidtest.core.files import write_json
from acidtest.core.run import Header
from acidtest.core.structured import (
    check_json_bounds,
    check_shape,
    parse_json,
    parse_toml,
    read_json,
    read_json_entries,
    read_own_json,
    read_toml_table,
    toml_lines,
)
from acidtest.core.suite import Card

HEADER: dict[str, Any] = {
    "schema": 1,
    "model": {"spec": "baseline:overlap", "name": "baseline:overlap"},
    "suites": {"hans": asdict(Card("hans", arguments={"words": "fresh"}, strata=("subcase",)))},
    "settings": {"limit": 3},
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"suites": {"hans": {"name": "hans", "seed": "x"}}}, 'suites.hans.seed: expected an integer, got "x"'),
        ({"suites": {"hans": {"name": "hans", "seed": True}}}, "suites.hans.seed: expected an integer, got true"),
        ({"suites": {"hans": {"name": "hans", "rows": "3"}}}, 'suites.hans.rows: expected an integer, got "3"'),
        ({"suites": {"hans": {"seed": 3}}}, "suites.hans.name: is missing"),
        ({"suites": {"hans": {"name": "hans", "strata": ["a", 3]}}}, "suites.hans.strata[1]: expected a text, got 3"),
        ({"suites": []}, "suites: expected an object, got []"),
        ({"model": "x"}, 'model: expected an object, got "x"'),
        ({"timings": {"model": "long"}}, 'timings.model: expected a number, got "long"'),
        (
            {"suites": {"hans": {"name": "hans", "arguments": {"n": [1]}}}},
            "suites.hans.arguments.n: expected a text or an integer or a number or true or false, got [1]",
        ),
        (
            {"suites": {"hans": {"name": "hans", "columns": {"a": "colour"}}}},
            'suites.hans.columns.a: expected "factor", "list", "category", "covariate" or "text", got "colour"',
        ),
    ],
)
def test_what_is_missing_or_mistyped_is_named_with_file_and_key(change: dict[str, Any], message: str) -> None:
    with pytest.raises(FileError) as caught:
        check_shape(HEADER | change, "run.json", Header, remedy="run it again")
    assert str(caught.value) == f"run.json: {message}; run it again"


def test_further_problems_are_counted_and_long_values_cut() -> None:
    with pytest.raises(FileError) as caught:
        check_shape(HEADER | {"key": ["long"] * 99, "started": 3}, "run.json", Header)
    assert str(caught.value) == (
        'run.json: key: expected a text, got ["long", "long", "long", "long", "long", "long", "long", "lo… '
        "(and 1 more such)"
    )


def test_a_list_ends_at_its_first_wrong_entry_so_that_errors_take_no_memory() -> None:
    with pytest.raises(FileError, match=r"^a\.json: strata\[1\]: expected a text, got 1$"):
        check_shape({"strata": ["a", *[1] * 1000]}, "a.json", dict[str, list[str]])


def test_lists_become_tuples_and_keys_of_a_later_version_are_left_aside() -> None:
    found = check_shape(HEADER | {"a later key": 1}, "run.json", Header)
    assert found.suites["hans"] == Card("hans", arguments={"words": "fresh"}, strata=("subcase",))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"a\.json:1: is not valid JSON"),
        (b'{"a": 1', r"a\.json:1: is not valid JSON"),
        (b'{"a": 1,\n "b" 2}', r"a\.json:2: is not valid JSON"),
        (b'{\n"a": "\xff"}', r"a\.json:2: is not UTF-8 text"),
        ('{"a": 1}'.encode("utf-16"), r"a\.json:1: is not UTF-8 text"),
        (b"[" * 100_000, r"a\.json: nests lists and objects more than 64 deep"),
        (b'{"a":' * 100_000, r"a\.json: nests lists and objects more than 64 deep"),
        (b"[" * 65 + b"]" * 65, r"a\.json: nests lists and objects more than 64 deep"),
        (b'{"a": 1, "b": 2, "a": 3}', r"a\.json: is not valid JSON: the key 'a' stands more than once in one object"),
        (b'{"a": NaN}', r"a\.json: is not valid JSON: NaN is no number of JSON"),
        (b'{"a": 1e999}', r"a\.json: is not valid JSON: 1e999 is too large a number"),
        (b'{"a": ' + b"9" * 5000 + b"}", r"a\.json: is not valid JSON: 9{60} is too large an integer"),
        (b'{"a": 9223372036854775808}', r"a\.json: is not valid JSON: 9223372036854775808 is too large an integer"),
        (b'{"a": "\\ud800"}', r"a\.json: has half of a surrogate pair"),
        (b"[1]", r"a\.json: expected an object, got \[1\]"),
        (b"null", r"a\.json: expected an object, got null"),
    ],
)
def test_json_that_is_none_is_refused_with_its_file(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(FileError, match=message):
        read_json(tmp_path / "a.json", dict[str, Any])


@pytest.mark.parametrize("string", [b'"' + b'\\"' * 500_000, b'"' + b'\\"' * 500_000 + b"\\"])
def test_a_string_of_escaped_quotes_without_an_end_is_refused_in_linear_time(string: bytes) -> None:
    # In quadratic time, this would take hours.
    with pytest.raises(FileError, match="is not valid JSON: Unterminated string"):
        parse_json(b'{"a": ' + string, "a.json", dict[str, Any])


def test_brackets_inside_strings_are_no_nesting() -> None:
    deep = json.dumps({"a": "[" * 1000 + '\\"' + "{" * 1000, "[" * 1000: [[1]]}).encode()
    assert parse_json(deep, "a.json", dict[str, Any]) == json.loads(deep)
    most = b"[" * structured.MOST_DEPTH + b"]" * structured.MOST_DEPTH
    assert parse_json(most, "a.json", list[Any]) == json.loads(most)


def test_a_byte_order_mark_and_a_whole_surrogate_pair_are_no_harm() -> None:
    assert parse_json('\ufeff{"a": "\\ud83d\\ude00"}'.encode(), "a.json", dict[str, Any]) == {"a": "😀"}


def test_another_program_may_write_nan_and_large_numbers() -> None:
    content = b'{"model_max_length": 1000000000000000019884624838656, "other": Infinity}'
    assert parse_json(content, "a.json", dict[str, Any], foreign=True)["other"] == float("inf")


def test_a_file_larger_than_its_kind_may_be_is_not_read_to_the_end(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b" " * 2001)
    with pytest.raises(FileError, match=r"a\.json: is larger than 2,000 bytes"):
        read_json(tmp_path / "a.json", dict[str, Any], most_bytes=2000)


def test_a_newer_schema_is_refused_and_an_older_one_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_json(path, {"schema": 2})
    with pytest.raises(FileError, match="has schema 2; this acidtest reads up to 1: upgrade acidtest"):
        read_own_json(path, dict[str, Any], 1)
    assert read_own_json(path, dict[str, Any], 3) == {"schema": 2}


@pytest.mark.parametrize("content", ["{}", "[]", "3", '{"schema": "1"}', '{"schema": true}', '{"schema": 1.0}'])
def test_a_file_without_a_schema_number_is_not_ours(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(FileError, match=r"a\.json: has no schema number"):
        read_own_json(tmp_path / "a.json", dict[str, Any], 1)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a = " + b"[" * 100_000, "nests lists and objects more than 64 deep"),
        (b"a = " + b"{b = " * 100_000, "nests lists and objects more than 64 deep"),
        (b".".join([b"a"] * 5000) + b" = 1", "has a key of more than 64 parts"),
        (b"[" + b" . ".join([b'"a"'] * 5000) + b"]", "has a key of more than 64 parts"),
        (b"a = '\xff'", "is not UTF-8 text"),
        (b"a = 1\na = 2", "is not valid TOML"),
        (b"a = " + b"9" * 9000, "is not valid TOML"),
        # In quadratic time, the following would take hours.
        (b'a = "' + b'\\"' * 1_000_000, "is not valid TOML: Unterminated string"),
        (b'a = """' + b'"" \\' * 500_000, "is not valid TOML"),
        (b"a = '''" + b"''x" * 500_000, "is not valid TOML"),
    ],
)
def test_toml_that_is_none_is_refused_with_its_file(content: bytes, message: str) -> None:
    with pytest.raises(FileError, match=rf"^a\.toml(:1)?: {message}"):
        parse_toml(content, "a.toml")


def test_brackets_and_dots_in_strings_comments_and_numbers_of_toml_are_no_nesting() -> None:
    content = f"""
    # it's a comment with {"[" * 100}
    a = '''it's {"[" * 100} '''
    b = \"\"\"say "{"{" * 100}" \"\"\"
    c = "\\"{"[" * 100}"
    d = [{", ".join(["0.5"] * 100)}]
    e = '{"a." * 100}'
    """
    assert parse_toml(content.encode(), "a.toml")["d"] == [0.5] * 100


def test_json_that_another_library_reads_is_checked_for_depth_only(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(b'{"a": 1, "a": 2}')
    check_json_bounds(path)
    path.write_bytes(b"[" * 100_000)
    with pytest.raises(FileError, match=r"tokenizer\.json: nests lists and objects"):
        check_json_bounds(path)


SOURCE = Path(structured.__file__).parents[1]

ELSEWHERE = {
    "annotate/answers.py": "answers that it has just written itself",
    "annotate/items.py": "a row that it has just written itself",
    "annotate/state.py": "a column of the store",
    "annotate/store.py": "columns of the store",
    "workflows/experiments/__init__.py": "what it has just written itself",
    "io/jsonlines.py": "tables: a line at a time, within the bounds of tables",
    "core/structured.py": "the door itself",
    "models/encoders/sentence_tokens.py": "what the tokenizers library has just written",
    "evaluate/ray.py": "what a worker of ours has written",
    "suites/consistency/__init__.py": "a cell of a table",
    "models/replies.py": "an answer of a server, within the bounds of answers",
    "models/servers.py": "an answer of a server, within the bounds of answers",
    "io/claim_files.py": "a cell of a table",
    "io/columns.py": "a cell of a table",
    "models/prediction_files.py": "a cell of a table",
    "corpora/statements.py": "the first line of a table",
    "io/embeddings.py": "one word of a file of vectors",
    "zoo/trainer.py": "a checkpoint, of which everything that goes wrong is told",
}


def test_no_other_module_parses_structured_text() -> None:
    parsers = {("json", "load"), ("json", "loads"), ("tomllib", "load"), ("tomllib", "loads")}
    modules = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Attribute(value=ast.Name(id=module), attr=name) if (module, name) in parsers:
                    modules.add(path.relative_to(SOURCE).as_posix())
    assert modules == set(ELSEWHERE)


@pytest.mark.parametrize(
    ("reader", "door"),
    [("read_parquet_metadata(", "io/rows.py"), ("expat.ParserCreate(", "io/corpus_files.py")],
)
def test_parquet_metadata_and_xml_are_read_by_one_module_each(reader: str, door: str) -> None:
    readers = [path for path in SOURCE.rglob("*.py") if reader in path.read_text(encoding="utf-8")]
    assert [path.relative_to(SOURCE).as_posix() for path in readers] == [door]


def test_reading_the_door_does_not_import_pydantic() -> None:
    code = "import sys; import acidtest.core.structured; sys.exit('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_lines_of_keys_are_known_whatever_strings_and_comments_hold() -> None:
    text = (
        b"# [none]\n"
        b"name = 'a'  # b = 1\n"
        b"[words]\n"
        b'list = ["x", # [\n'
        b'  "y]"]\n'
        b'"odd key" = 3\n'
        b"[[part]]\n"
        b'text = """\n'
        b"[[part]]\n"
        b'"""\n'
        b"[[part]]\n"
        b"a.b = 1\n"
        b"[part.inner]\n"
        b"c = 2\n"
    )
    assert toml_lines(text) == {
        ("name",): 2,
        ("words",): 3,
        ("words", "list"): 4,
        ("words", "odd key"): 6,
        ("part", 0): 7,
        ("part", 0, "text"): 8,
        ("part", 1): 11,
        ("part", 1, "a"): 12,
        ("part", 1, "a", "b"): 12,
        ("part", 1, "inner"): 13,
        ("part", 1, "inner", "c"): 14,
    }


def test_a_table_reports_what_is_wrong_with_the_line_of_its_key(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text("one = 1\n[inner]\ntwo = true\n", encoding="utf-8")
    table = read_toml_table(path)
    with pytest.raises(FileError, match=r"a.toml:3: two: expected a whole number, got true"):
        table.table("inner").value("two", int, 0)
    with pytest.raises(FileError, match=r"a.toml:1: no key called 'one'; did you mean 'ones'"):
        table.refuse_unknown(["ones", "inner"])
    assert table.value("three", str, "default") == "default"


def test_entries_of_an_array_come_whole_wherever_its_pieces_end() -> None:
    text = '[ {"a": [1, 2], "b": "é]"} ,\n{"a": []}, {} ]'.encode()
    entries = [{"a": [1, 2], "b": "é]"}, {"a": []}, {}]
    for size in range(1, len(text) + 1):
        pieces = [text[start : start + size] for start in range(0, len(text), size)]
        assert list(read_json_entries(pieces, "x.json", dict[str, Any])) == entries
    assert list(read_json_entries([b"[12", b"34, 5", b"]"], "x.json", int)) == [1234, 5]
    assert list(read_json_entries([b" ", b"[", b" ]"], "x.json", int)) == []


def test_too_many_values_are_refused_before_they_are_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(structured, "MOST_VALUES", 100)
    monkeypatch.setattr(structured.json, "loads", pytest.fail)
    for text in ("[" + "{}," * 100 + "{}]", "[" + '"",' * 400 + '""]'):
        (tmp_path / "a.json").write_text(text, "utf-8")
        with pytest.raises(FileError, match=r"a\.json: holds more than 100 values"):
            read_json(tmp_path / "a.json", list[Any])
