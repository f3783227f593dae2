import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from acidtest.core import bounds, files
from acidtest.core.errors import AcidtestError, FileError


def test_a_file_appears_whole_when_the_block_ends_well(tmp_path: Path) -> None:
    with files.replacing(tmp_path / "sub" / "a.txt") as temporary:
        temporary.write_text("new")
        assert not (tmp_path / "sub" / "a.txt").exists()
    assert (tmp_path / "sub" / "a.txt").read_text() == "new"


def test_a_failed_write_leaves_the_old_file_and_no_rubbish(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")

    def half_written() -> None:
        with files.replacing(path) as temporary:
            temporary.write_text("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half_written()
    assert path.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_a_failed_folder_leaves_the_old_folder(tmp_path: Path) -> None:
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite" / "old").touch()
    with pytest.raises(ZeroDivisionError), files.replacing_folder(tmp_path / "suite"):
        raise ZeroDivisionError
    assert [path.name for path in tmp_path.iterdir()] == ["suite"]
    assert (tmp_path / "suite" / "old").exists()


def test_a_folder_replaces_the_old_one_whole(tmp_path: Path) -> None:
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite" / "old").touch()
    with files.replacing_folder(tmp_path / "suite") as temporary:
        (temporary / "new").touch()
    assert [path.name for path in (tmp_path / "suite").iterdir()] == ["new"]
    assert [path.name for path in tmp_path.iterdir()] == ["suite"]


def test_a_folder_that_cannot_be_put_in_place_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite" / "old").touch()
    rename = Path.replace

    def refusing(self: Path, target: Path) -> Path:
        if self.suffix == ".tmp":
            raise PermissionError(13, "in use")
        return rename(self, target)

    monkeypatch.setattr(Path, "replace", refusing)

    def write() -> None:
        with files.replacing_folder(tmp_path / "suite"):
            pass

    with pytest.raises(FileError, match="suite: cannot be written: in use"):
        write()
    assert (tmp_path / "suite" / "old").exists()


def test_json_without_a_number_for_nan_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        files.write_json(tmp_path / "a.json", {"value": float("nan")})
    assert not (tmp_path / "a.json").exists()


def test_gzip_in_several_members_is_read_to_the_end(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"one ") + gzip.compress(b"two"))
    assert files.read_bytes(tmp_path / "a.gz") == b"one two"


def test_a_decompression_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MAX_UNPACKED_BYTES", 1000)
    (tmp_path / "a.gz").write_bytes(gzip.compress(bytes(100_000)))
    with pytest.raises(FileError, match="unpacks to more than"):
        files.read_bytes(tmp_path / "a.gz")


def test_a_second_process_is_told_that_the_folder_is_taken(tmp_path: Path) -> None:
    code = (
        "import sys; from acidtest.core.files import Lock\n"
        "try:\n    Lock(sys.argv[1]).__enter__()\n"
        "except Exception as error:\n    print(error)\nelse:\n    print('free')"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    with files.Lock(tmp_path):
        taken = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    free = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "another acidtest process is working here" in taken
    assert free == "free\n"


def test_the_lock_is_let_go_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(AcidtestError), files.Lock(tmp_path):
        raise AcidtestError("x")
    with files.Lock(tmp_path):
        pass
