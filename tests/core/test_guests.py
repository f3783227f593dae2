"""What a model prints, closes or changes does not reach the results of the program."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import acidtest
from acidtest.core.guests import divert_output, guest_code, private_copy
from acidtest.workflows.evaluations import run

MODELS = """
import ctypes, os, subprocess, sys, threading, time
print("printed at import")
THIRD = [0.6, 0.2, 0.2]

def talk(premises, hypotheses):
    print("printed")
    os.write(1, b"written\\n")
    sys.stdout.buffer.write(b"bytes\\n")
    sys.__stdout__.write("original\\n")
    subprocess.run([sys.executable, "-c", "print('started')"])
    subprocess.run([sys.executable, "-c", "print('handed on')"], stdout=sys.stdout)
    if sys.platform != "win32":
        ctypes.CDLL(None).puts(b"from C")
    # A thread that never ends prints while the results are printed.
    threading.Thread(target=chatter, daemon=True).start()
    return [THIRD] * len(premises)

def chatter():
    while True:
        print("chatter")
        os.write(1, b"chatter\\n")
        time.sleep(0.001)

def move(premises, hypotheses):
    os.makedirs("elsewhere", exist_ok=True)
    os.chdir("elsewhere")
    return [THIRD] * len(premises)

def close(premises, hypotheses):
    sys.stdout.close()
    return [THIRD] * len(premises)

def close_all(premises, hypotheses):
    sys.__stdout__.close()
    os.close(1)
    os.close(2)
    return [THIRD] * len(premises)
"""


def ask(model: str, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "noisy.py").write_text(MODELS, encoding="utf-8")
    words = [sys.executable, "-m", "acidtest", "run", "-m", f"python:noisy:{model}", "-s", "hans", "--limit", "40"]
    variables = {**os.environ, "PYTHONPATH": str(Path(acidtest.__file__).parents[1])}
    return subprocess.run(
        [*words, "-o", "out", *options], cwd=folder, env=variables, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("model", ["talk", "move", "close", "close_all"])
def test_json_is_whole_whatever_the_model_does(model: str, tmp_path: Path) -> None:
    done = ask(model, tmp_path, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["folder"] == "out"
    assert (tmp_path / "out" / "report.html").is_file()
    assert "printed at import" in done.stderr


def test_what_a_model_prints_goes_to_standard_error(tmp_path: Path) -> None:
    done = ask("talk", tmp_path)
    assert done.returncode == 0, done.stderr
    printed = ["printed", "written", "bytes", "original", "started", "handed on", "chatter"]
    for text in [*printed, *(["from C"] if sys.platform != "win32" else [])]:
        assert text in done.stderr.splitlines()
        assert text not in done.stdout.splitlines()
    assert done.stdout.splitlines()[-1] == f"report: {Path('out', 'report.html')}"


def test_results_stay_where_they_were_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folders = []

    def move(premises: list[str], hypotheses: list[str]) -> list[list[float]]:
        folders.append(Path.cwd())
        Path("inside").mkdir()
        os.chdir("inside")
        return [[0.6, 0.2, 0.2]] * len(premises)

    finished = run(move, "hans", limit=40, output="out", batch_size=20, page=False)
    assert Path.cwd() == tmp_path
    assert finished.folder == Path("out")
    assert (tmp_path / "out" / "results.json").is_file()
    # A model that changed to the folder of its weights is there again when it predicts the next batch.
    assert folders[:2] == [tmp_path, tmp_path / "inside"]
    run("baseline:overlap", "hans", limit=40, page=False)
    assert len(list((tmp_path / "acidtest-runs").iterdir())) == 1


def test_the_next_model_does_not_get_the_folder_of_an_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "first").mkdir()
    with guest_code(is_new=True):
        os.chdir("first")
    with guest_code():
        assert Path.cwd() == tmp_path / "first"
    with guest_code(is_new=True):
        assert Path.cwd() == tmp_path


def test_overlapping_blocks_in_threads_restore_standard_output(capfd: pytest.CaptureFixture[str]) -> None:
    before = sys.stdout
    entered, left = threading.Event(), threading.Event()

    def work() -> None:
        with divert_output():
            entered.set()
            left.wait()
            print("of the thread")

    thread = threading.Thread(target=work)
    with divert_output():
        thread.start()
        entered.wait()
    left.set()
    thread.join()
    assert sys.stdout is before
    print("ours")
    os.write(1, b"also ours\n")
    sys.stdout.flush()
    captured = capfd.readouterr()
    assert sorted(captured.out.split("\n")) == ["", "also ours", "ours"]
    assert captured.err == "of the thread\n"


def test_a_stream_without_a_descriptor_is_diverted_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    out, err = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    assert private_copy(out) is out
    with guest_code():
        print("from a notebook")
        sys.stdout.close()
    print("ours")
    assert (out.getvalue(), err.getvalue()) == ("ours\n", "from a notebook\n")


def test_standard_output_is_restored_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    before = sys.stdout
    with pytest.raises(ZeroDivisionError), guest_code():
        print(1 / 0)
    assert sys.stdout is before
