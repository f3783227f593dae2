import gc
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest

from acidtest.core.errors import AcidtestError, FileError
from acidtest.io import blocks, rows
from acidtest.io.rows import Rows, parquet_rows

PARTS = [pl.DataFrame({"*": ["a", None], "n": [1, 2]}), pl.DataFrame({"*": ["c"], "n": [3]})]


def spooled(monkeypatch: pytest.MonkeyPatch, *, held: int) -> Rows:
    monkeypatch.setattr(rows, "MAX_MEMORY_BYTES", held)
    spool = rows.Spool()
    for part in PARTS:
        spool.add(part)
    return spool.rows()


@pytest.mark.parametrize("held", [0, 20, 1 << 20])
def test_rows_come_back_as_they_went_in_wherever_they_were_kept(monkeypatch: pytest.MonkeyPatch, held: int) -> None:
    found = spooled(monkeypatch, held=held)
    assert (found.frame is None) == (held < 1 << 20)
    assert found.height == 3
    assert found.collected().equals(pl.concat(PARTS))
    assert found.lazy().collect().equals(pl.concat(PARTS))
    assert found.lazy().filter(pl.col("n") > 1).head(1).collect().rows() == [(None, 2)]
    assert pl.concat(found.batches("n"))["n"].to_list() == [1, 2, 3]
    assert pl.concat(found.batches("*")).columns == ["*"]
    assert found.select(["n"]).lazy().collect().rows() == [(1,), (2,), (3,)]


def test_nested_and_empty_values_survive_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "MAX_MEMORY_BYTES", 0)
    frame = pl.DataFrame({"l": [["a"], []], "s": [{"x": 1}, None], "e": [{}, {}], "": ["", None]})
    spool = rows.Spool()
    spool.add(frame)
    assert spool.rows().lazy().collect().equals(frame)


def nameless_files() -> set[str]:
    """Open files that have no name any more, where the system tells."""
    gc.collect()
    files = set[str]()
    for link in Path("/proc/self/fd").glob("*"):
        with suppress(OSError):
            files.add(str(link.readlink()))
    return {file for file in files if file.endswith("(deleted)")}


def test_rows_on_disk_stay_as_long_as_a_frame_is_made_from_them(monkeypatch: pytest.MonkeyPatch) -> None:
    before = nameless_files()
    frame = spooled(monkeypatch, held=0).lazy().with_columns(m=pl.col("n") + 1)
    made = nameless_files() - before
    assert frame.collect()["m"].to_list() == [2, 3, 4]
    del frame
    assert nameless_files() & made == set()
    assert made or not Path("/proc/self/fd").exists()


KILLED = """
import time
import polars as pl
from acidtest.io import rows
rows.MAX_MEMORY_BYTES = 0
spool = rows.Spool()
spool.add(pl.DataFrame({"a": ["x" * 1000] * 1000}))
print("ready", flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_a_process_that_is_killed_leaves_nothing_behind(tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ | {"TMPDIR": str(tmp_path)}) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGKILL)
    assert list(tmp_path.iterdir()) == []


def test_no_room_on_the_disk_is_said_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(AcidtestError, match=r"No space left on device\); make room there or name a folder .* TMPDIR"):
        spooled(monkeypatch, held=0)


@pytest.mark.parametrize("row_group_size", [3, 1000])
def test_a_large_parquet_file_is_read_in_order_whatever_its_row_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row_group_size: int
) -> None:
    frame = pl.DataFrame({"n": range(1000), "*": [f"text {n}" for n in range(1000)], "none": [None] * 1000})
    frame.write_parquet(tmp_path / "a.parquet", row_group_size=row_group_size)
    monkeypatch.setattr(rows, "MAX_MEMORY_BYTES", 100)
    monkeypatch.setattr(rows, "_STEP", 70)
    monkeypatch.setattr(blocks, "BLOCK", 500)
    found = parquet_rows(tmp_path / "a.parquet")
    assert found.frame is None
    assert found.schema["none"] == pl.String
    assert found.lazy().collect().equals(frame.with_columns(pl.col("none").cast(pl.String)))
    assert max(batch.height for batch in found.batches("n")) == 70


def test_a_parquet_file_that_changes_after_it_was_loaded_is_not_read_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pl.DataFrame({"n": range(1000)}).write_parquet(tmp_path / "a.parquet")
    monkeypatch.setattr(rows, "MAX_MEMORY_BYTES", 100)
    frame = parquet_rows(tmp_path / "a.parquet").lazy()
    pl.DataFrame({"n": range(999)}).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(FileError, match=r"a\.parquet: was changed after it was loaded; load it again"):
        frame.collect()


def test_columns_that_polars_takes_for_patterns_get_other_names() -> None:
    frame = pl.DataFrame({"*": ["a", "b"], "source_*": ["c", "d"], "^x$": ["e", None], "^x": [1, 2]})
    spool = rows.Spool()
    spool.add(frame)
    for found in (rows.memory_rows(frame), spool.rows()):
        plain = found.without_patterns()
        assert list(plain.schema) == ["source_*_", "source_*", "source_^x$", "^x"]
        assert pl.concat(plain.batches("source_^x$", "source_*_")).rows() == [("e", "a"), (None, "b")]
        assert plain.collected().rows() == frame.rows()
        assert plain.lazy().collect().columns == list(plain.schema)
