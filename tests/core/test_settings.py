from pathlib import Path

import pytest

from acidtest.core.errors import FileError
from acidtest.core.settings import read_settings

COMMANDS = {"run": ["seed", "limit", "batch_size"], "suites": ["seed"]}


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "acidtest.toml"
    path.write_text(text)
    return path


def test_a_top_level_key_holds_for_every_command_that_has_the_option(tmp_path: Path) -> None:
    path = written(tmp_path, "seed = 3\nlimit = 10\n")
    assert read_settings(path, COMMANDS) == {"run": {"seed": 3, "limit": 10}, "suites": {"seed": 3}}


def test_a_table_holds_for_one_command_and_goes_before_the_top_level(tmp_path: Path) -> None:
    path = written(tmp_path, "seed = 3\n[run]\nseed = 4\nbatch-size = 8\n")
    assert read_settings(path, COMMANDS) == {"run": {"seed": 4, "batch_size": 8}, "suites": {"seed": 3}}


def test_no_file_says_nothing(tmp_path: Path) -> None:
    assert read_settings(tmp_path / "acidtest.toml", COMMANDS) == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sed = 3\n", r"acidtest.toml: no option called 'sed'; did you mean 'seed'\?"),
        ("[rum]\nseed = 3\n", r"no command called 'rum'; did you mean 'run'\?"),
        ("[run]\nlimits = 3\n", r"no option of run called 'limits'; did you mean 'limit'\?"),
        ("seed = \n", r"is not valid TOML: .*line 1"),
        (
            f"limit = 0x{'f' * 9000}\n",
            r"acidtest.toml: limit: expected a whole number of at most .*, got a larger",
        ),
        ("[run]\nlimit = [1, -9223372036854775809]\n", r"run.limit: expected a whole number of at most 9,223,"),
    ],
)
def test_a_mistake_in_the_file_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read_settings(written(tmp_path, text), COMMANDS)
