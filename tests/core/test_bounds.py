"""Files made to fill the memory, to take for ever or to crash a parser end in a message that says what to do."""

import gzip
import json
import os
import random
import socket
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import polars as pl
import pytest

from acidtest.core import files
from acidtest.core.errors import FileError
from acidtest.io import blocks, jsonlines, tables
from acidtest.io.tables import read_table, write_table

HEADER = b"premise,hypothesis,label\n"


def written(path: Path, *parts: bytes) -> Path:
    with gzip.open(path, "wb") if path.suffix == ".gz" else path.open("wb") as file:
        for part in parts:
            file.write(part)
    return path


def refused(path: Path, message: str) -> FileError:
    with pytest.raises(FileError, match=message) as caught:
        read_table(path)
    return caught.value


def megabytes_to_read(path: Path) -> float:
    """How much memory a process takes on top of what it has before, when it reads a file that is refused."""
    code = (
        "import resource, sys\n"
        "from acidtest.core.errors import FileError\n"
        "from acidtest.io.tables import read_table\n"
        # A process that still fell for it must not take the machine with it.
        "resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try: read_table(sys.argv[1])\n"
        "except FileError: print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, check=True)
    return float(done.stdout)


@pytest.mark.parametrize(
    ("name", "start", "end"),
    [
        ("a.json.gz", b'[{"premise":"', b'"}]'),
        ("a.csv.gz", HEADER, b""),
        ("a.jsonl.gz", b'{"premise":"', b'"}\n'),
    ],
)
def test_a_small_file_that_unpacks_to_half_a_gigabyte_takes_little_memory(
    tmp_path: Path, name: str, start: bytes, end: bytes
) -> None:
    pytest.importorskip("resource")
    path = tmp_path / name
    # Parts that are packed one by one may stand one after another.
    path.write_bytes(gzip.compress(start) + gzip.compress(b"a" * 2**20) * 512 + gzip.compress(end))
    assert path.stat().st_size < 600_000
    assert megabytes_to_read(path) < 200


def test_a_ratio_no_text_has_is_refused_once_the_file_is_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "a.csv.gz", HEADER, b"a,b,neutral\n" * 10_000)
    assert read_table(path).rows.height == 10_000
    monkeypatch.setattr(files, "UNPACK_RATIO_FROM", 50_000)
    assert "unpack it first" in str(refused(path, "more than 200 times its size"))


def test_text_of_people_unpacks_however_large_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "UNPACK_RATIO_FROM", 50_000)
    draws = random.Random(1)
    lines = [f"{draws.choice('abcdefgh') * 3} walks {draws.random()},it moves,neutral\n".encode() for _ in range(5_000)]
    assert read_table(written(tmp_path / "a.csv.gz", HEADER, *lines)).rows.height == 5_000


@pytest.mark.parametrize(
    ("name", "parts", "line"),
    [
        ("a.csv", [HEADER, b"a,b,neutral\n", b"a" * 3000, b",b,neutral\n"], 3),
        ("a.tsv", [HEADER.replace(b",", b"\t"), b"a" * 3000, b"\tb\tneutral\n"], 2),
        ("a.jsonl", [b'{"premise":"a"}\n\n{"premise":"', b"a" * 3000, b'"}\n'], 3),
    ],
)
def test_a_line_beyond_the_bound_is_refused_by_its_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, parts: list[bytes], line: int
) -> None:
    path = written(tmp_path / name, *parts)
    monkeypatch.setattr(blocks, "BLOCK", 500)
    assert read_table(path).rows.height
    monkeypatch.setattr(blocks, "MAX_LINE_BYTES", 2000)
    assert refused(path, "longer than 2,000 bytes").line == line


def test_a_quote_that_is_never_closed_is_named_before_the_memory_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 500)
    monkeypatch.setattr(blocks, "MAX_LINE_BYTES", 2000)
    path = written(tmp_path / "a.csv", HEADER, b'"a,b,neutral\n', b"a,b,neutral\n" * 500)
    assert refused(path, "close the quotes").line == 2


@pytest.mark.parametrize(("name", "start"), [("a.csv", HEADER), ("a.jsonl", b'{"premise": "a"}\n')])
def test_blank_lines_without_end_are_refused_and_others_are_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, start: bytes
) -> None:
    last = start if name == "a.jsonl" else b"a,b,neutral\n"
    path = written(tmp_path / name, start, b"\n" * 3_000_000, last)
    rows = read_table(path)
    assert rows.rows.height == (2 if name == "a.jsonl" else 1)
    assert rows.line(rows.rows.height - 1) == 3_000_002
    monkeypatch.setattr(blocks, "BLOCK", 1000)
    monkeypatch.setattr(blocks, "MAX_LINE_BYTES", 1_000_000)
    refused(path, "nothing but blank lines")


def test_as_many_columns_as_the_bound_are_read_and_one_more_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "MAX_COLUMNS", 5)
    names = list("abcdef")
    table = pl.DataFrame({name: ["1"] for name in names})
    for ending in (".csv", ".tsv", ".jsonl", ".parquet"):
        write_table(table, tmp_path / f"six{ending}")
        write_table(table[names[:5]], tmp_path / f"five{ending}")
        assert read_table(tmp_path / f"five{ending}").columns == names[:5]
        refused(tmp_path / f"six{ending}", "columns|keys")
    (tmp_path / "six.json").write_text(json.dumps([dict.fromkeys(names, 1)]))
    refused(tmp_path / "six.json", "more than 5 keys")
    (tmp_path / "nested.jsonl").write_text(json.dumps({"a": dict.fromkeys(names, 1)}))
    refused(tmp_path / "nested.jsonl", "more than 5 keys")


def test_a_hundred_thousand_columns_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(",".join(f"c{number}" for number in range(100_000)) + "\n")
    refused(tmp_path / "a.csv", "more than 10,000 columns")
    (tmp_path / "a.jsonl").write_text(json.dumps({f"c{number}": 1 for number in range(100_000)}))
    refused(tmp_path / "a.jsonl", "more than 10,000 keys")


@pytest.mark.parametrize("ending", [".jsonl", ".json"])
def test_objects_that_share_no_keys_make_no_table_of_empty_cells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    objects = [{f"c{number}": 1} for number in range(3000)]
    text = json.dumps(objects) if ending == ".json" else "\n".join(map(json.dumps, objects))
    (tmp_path / f"a{ending}").write_text(text)
    monkeypatch.setattr(jsonlines, "_PIECE", 256)
    refused(tmp_path / f"a{ending}", "of which each has but a few")


def test_lines_are_given_to_polars_in_pieces_and_make_one_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonlines, "_PIECE", 2)
    lines: Iterable[str] = ['{"a": 1}', '{"a": 2}', "", "", "", '{"a": 2.5, "b": "x"}', '{"c": [1], "a": 3}', ""]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    frame = read_table(tmp_path / "a.jsonl").frame
    assert frame["a"].to_list() == [1, 2, 2.5, 3]
    assert frame["b"].to_list() == [None, None, "x", None]
    assert frame["c"].to_list() == [None, None, None, [1]]


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"x":', "}")])
@pytest.mark.parametrize("depth", [50, 500, 100_000])
@pytest.mark.parametrize("ending", [".jsonl", ".json"])
def test_nesting_beyond_the_bound_is_refused_by_its_line(
    tmp_path: Path, opening: str, closing: str, depth: int, ending: str
) -> None:
    deep = f'{{"a": {opening * depth}{"1" if closing == "}" else ""}{closing * depth}}}'
    whole = f'[{{"a": 1}},\n{deep}]' if ending == ".json" else f'{{"a": 1}}\n{deep}\n'
    (tmp_path / f"a{ending}").write_text(whole)
    error = refused(tmp_path / f"a{ending}", "nested")
    assert error.line == 2 or (ending == ".json" and depth > 1000)


def test_brackets_inside_a_text_are_no_nesting(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps({"a": "[{" * 100, "b": [{"c": [1]}] * 20}) + "\n")
    (tmp_path / "a.json").write_text(json.dumps([{"a": "[{" * 100, "b": [[1]] * 20}]))
    assert read_table(tmp_path / "a.jsonl").frame["a"].to_list() == ["[{" * 100]
    assert read_table(tmp_path / "a.json").frame["a"].to_list() == ["[{" * 100]


def test_an_array_of_too_many_bytes_or_values_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.json").write_text(json.dumps([{"a": "x" * 100}, {"a": "y"}]))
    with monkeypatch.context() as patch:
        patch.setattr(blocks, "MAX_LINE_BYTES", 50)
        patch.setattr(blocks, "BLOCK", 50)
        assert read_table(tmp_path / "a.json").frame["a"].to_list() == ["x" * 100, "y"]
        patch.setattr(tables, "MAX_ARRAY_BYTES", 100)
        assert "jq -c" in str(refused(tmp_path / "a.json", "larger than 100 bytes, the most of one JSON array"))
    monkeypatch.setattr(jsonlines, "MAX_ARRAY_VALUES", 3)
    refused(tmp_path / "a.json", "more than 3 values")


def test_an_array_behind_a_byte_order_mark_is_an_array(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b'\xef\xbb\xbf [{"a": 1},\n{"a": 2}]')
    assert read_table(tmp_path / "a.json").frame["a"].to_list() == [1, 2]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")
def test_what_is_no_regular_file_is_refused_and_nobody_waits_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "link.csv").symlink_to(tmp_path / "pipe.csv")
    (tmp_path / "endless.csv").symlink_to("/dev/zero")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "s.csv"))
    for name, kind in (("pipe", "a pipe"), ("link", "a pipe"), ("endless", "a device"), ("s", "a socket")):
        refused(tmp_path / f"{name}.csv", f"is {kind}; .* save the data")
        with pytest.raises(FileError, match=f"is {kind}"):
            files.read_bytes(tmp_path / f"{name}.csv")
    listener.close()
    read, write = os.pipe()
    refused(Path(f"/dev/fd/{read}"), "is a pipe")
    os.close(read)
    os.close(write)


def test_a_link_to_a_file_is_read(tmp_path: Path) -> None:
    written(tmp_path / "a.csv", HEADER, b"a,b,neutral\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / "a.csv")
    assert read_table(tmp_path / "link.csv").rows.height == 1
