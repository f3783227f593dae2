import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from acidtest.core import files, logs
from acidtest.core.errors import AcidtestError, FileError


def test_a_file_appears_whole_when_the_block_ends_well(tmp_path: Path) -> None:
    with files.replace_file(tmp_path / "sub" / "a.txt") as temporary:
        temporary.write_text("new")
        assert not (tmp_path / "sub" / "a.txt").exists()
    assert (tmp_path / "sub" / "a.txt").read_text() == "new"


def test_a_failed_write_leaves_the_old_file_and_no_rubbish(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")

    def half_written() -> None:
        with files.replace_file(path) as temporary:
            temporary.write_text("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half_written()
    assert path.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_a_failed_folder_leaves_the_old_folder(tmp_path: Path) -> None:
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite" / "old").touch()
    with pytest.raises(ZeroDivisionError), files.replace_folder(tmp_path / "suite"):
        raise ZeroDivisionError
    assert [path.name for path in tmp_path.iterdir()] == ["suite"]
    assert (tmp_path / "suite" / "old").exists()


def test_a_folder_replaces_the_old_one_whole(tmp_path: Path) -> None:
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite" / "old").touch()
    with files.replace_folder(tmp_path / "suite") as temporary:
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
        with files.replace_folder(tmp_path / "suite"):
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
    monkeypatch.setattr(files, "MAX_UNPACKED_BYTES", 1000)
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


def test_a_page_of_ours_is_replaced_and_nothing_else_is(tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    files.write_page(page, '<meta name="generator" content="acidtest">one')
    files.write_page(page, '<meta name="generator" content="acidtest">two')
    assert page.read_text().endswith("two")
    page.write_text("<p>my thesis</p>")
    with pytest.raises(FileError, match="exists and was not written by acidtest"):
        files.write_page(page, "new")
    assert page.read_text() == "<p>my thesis</p>"
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(FileError, match="exists and was not written by acidtest"):
        files.require_page(tmp_path / "folder.html")


def test_a_link_in_place_of_an_output_is_neither_followed_nor_replaced(tmp_path: Path) -> None:
    target = tmp_path / "target.html"
    target.write_text('<meta name="generator" content="acidtest">')
    (tmp_path / "a.html").symlink_to(target)
    (tmp_path / "gone.html").symlink_to(tmp_path / "nowhere")
    for name in ("a.html", "gone.html"):
        with pytest.raises(FileError, match="symbolic link"):
            files.write_page(tmp_path / name, "new")
        for mode in ("ab", "w+b", "r+b"):
            with pytest.raises(FileError, match="symbolic link"):
                files.open_to_write(tmp_path / name, mode)
    assert target.read_text() == '<meta name="generator" content="acidtest">'
    assert not (tmp_path / "nowhere").exists()


def test_what_nothing_says_is_ours_is_not_replaced(tmp_path: Path) -> None:
    files.refuse_overwrite(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text("work")
    with pytest.raises(FileError, match="perhaps with somebody's work in it"):
        files.refuse_overwrite(tmp_path / "a.csv")


def test_a_lock_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileError, match="symbolic link"), files.Lock(tmp_path):
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_a_log_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "log.txt").symlink_to(tmp_path / "mine")
    with pytest.raises(FileError, match=r"log\.txt: is a symbolic link"), logs.log_to_file(tmp_path / "log.txt"):
        pass
    assert (tmp_path / "mine").read_text() == "mine"


def test_a_log_grows_and_is_whole_at_any_time(tmp_path: Path) -> None:
    for text in ("first ü", "second"):
        with logs.log_to_file(tmp_path / "log.txt"):
            logs.log.debug(text)
            assert text in (tmp_path / "log.txt").read_text(encoding="utf-8")
    lines = (tmp_path / "log.txt").read_text(encoding="utf-8").splitlines()
    assert [line.split("DEBUG ")[1] for line in lines] == ["first ü", "second"]
