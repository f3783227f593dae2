"""Files that a run keeps open while it works are never written through a link to somewhere else."""

from pathlib import Path

import numpy as np
import pytest

import acidtest
from acidtest.core.errors import FileError
from acidtest.evaluate.answers import AnswerFile


class Known:
    name = "known"
    fingerprint = "f0"

    def predict(self, premises: list[str], _hypotheses: list[str]) -> np.ndarray:
        return np.tile(np.float32([0.8, 0.1, 0.1]), (len(premises), 1))


@pytest.mark.parametrize("exists", [True, False])
@pytest.mark.parametrize("name", ["answers.part", "log.txt"])
def test_a_run_does_not_write_through_a_link_in_its_folder(tmp_path: Path, name: str, exists: bool) -> None:
    target = tmp_path / "mine"
    if exists:
        target.write_text("mine")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / name).symlink_to(target)
    with pytest.raises(FileError, match=f"{name}: is a symbolic link"):
        acidtest.run(Known(), ["hans"], limit=30, output=tmp_path / "run")
    assert target.read_text() == "mine" if exists else not target.exists()


def test_an_answer_file_that_is_a_link_to_another_is_refused(tmp_path: Path) -> None:
    AnswerFile(tmp_path / "real", "model").begin()
    before = (tmp_path / "real").read_bytes()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(FileError, match="symbolic link"):
        AnswerFile(tmp_path / "link", "model").begin()
    assert (tmp_path / "real").read_bytes() == before
