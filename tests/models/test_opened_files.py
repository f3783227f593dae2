"""The files that code opens: which of them count, and what their digests depend on."""

from __future__ import annotations

import hashlib
import json
import os
import sysconfig
import threading
from pathlib import Path

import pytest

from acidtest.models import python
from acidtest.models.python import OpenedFiles, watch_opened_files


def test_files_that_are_read_count_and_others_do_not(tmp_path: Path) -> None:
    weights, log = tmp_path / "weights.bin", tmp_path / "log.txt"
    weights.write_bytes(b"w")
    opened = OpenedFiles()
    with watch_opened_files(opened):
        assert weights.read_bytes() == b"w"
        log.write_text("x")
        Path(os.devnull).read_bytes()
        Path(json.__file__).read_bytes()
        next(Path(sysconfig.get_path("stdlib")).glob("*.txt")).read_bytes()
        (tmp_path / "missing").exists()
    assert opened.digests({}) == {str(weights): hashlib.sha256(b"w").hexdigest()}


def test_nothing_is_noted_outside_the_block(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    opened = OpenedFiles()
    with watch_opened_files(opened):
        pass
    (tmp_path / "a").read_text()
    assert not opened.read


def test_relative_paths_count_and_files_of_other_threads_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in "ab":
        (tmp_path / name).write_text(name)
    opened = OpenedFiles()
    with watch_opened_files(opened):
        thread = threading.Thread(target=Path("a").read_text)
        thread.start()
        thread.join()
        Path("b").read_text()
    assert list(opened.digests({})) == [str(tmp_path / "b")]


def test_a_file_that_is_also_written_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a")
    opened = OpenedFiles()
    with watch_opened_files(opened):
        (tmp_path / "cache").read_text()
        with (tmp_path / "cache").open("r+") as file:
            file.write("b")
    assert opened.digests({}) == {}


def test_of_a_large_file_the_size_and_parts_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python, "MAX_WHOLE_BYTES", 2 << 20)
    digests = set()
    for content in (b"a" * (3 << 20), b"a" * (4 << 20), b"b" + b"a" * ((3 << 20) - 1)):
        (tmp_path / "weights").write_bytes(content)
        opened = OpenedFiles(read={str(tmp_path / "weights")})
        digests.add(opened.digests({})[str(tmp_path / "weights")])
    assert len(digests) == 3
