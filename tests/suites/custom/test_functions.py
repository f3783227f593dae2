"""Suites from Python: a file, a function of a module, an entry point; what is completed, and what is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from acidtest import api
from acidtest.cli.app import main
from acidtest.core.errors import AcidtestError
from acidtest.suites.catalogue import Request
from acidtest.suites.custom.functions import function_generator

CODE = '''
def suite(seed=0, n=3, verb="rains"):
    """Rain says nothing of Rome."""
    for i in range(n):
        yield {"premise": f"It {verb} in {i}.", "hypothesis": f"It {verb} in Rome.", "label": "n", "even": i % 2 == 0}

def other():
    return {"premise": ["a", "a"], "hypothesis": ["b", "c"], "label": ["entails", "no"]}
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "rain_suite.py").write_text(CODE, encoding="utf-8")
    return tmp_path


def test_rows_are_completed_to_a_suite(folder: Path) -> None:
    suite = api.generate("rain_suite.py", n=4, arguments={"verb": "snows"})
    frame = suite.frame.collect()
    assert frame.columns[:8] == ["id", "premise", "hypothesis", "label", "group", "base_id", "source_id", "certainty"]
    assert frame.select("premise", "label", "certainty", "even").row(0) == ("It snows in 0.", "neutral", None, "true")
    assert (suite.name, suite.card.rows, suite.card.seed) == ("rain_suite", 4, 0)
    assert dict(suite.card.arguments) == {"verb": "snows"}
    assert dict(suite.card.columns) == {"even": "factor"}
    assert suite.card.note == "Rain says nothing of Rome"


def test_another_function_of_the_file_is_named_and_a_module_is_imported(folder: Path) -> None:
    named = api.generate("rain_suite.py:other")
    assert named.name == "rain_suite/other"
    assert named.frame.collect()["label"].to_list() == ["entailment", "contradiction"]
    assert named.frame.collect()["group"].n_unique() == 1, "rows that share a premise are one group"
    assert api.generate("python:rain_suite:suite").name == "rain_suite"


def test_a_function_without_n_is_sampled_by_the_seed(folder: Path) -> None:
    one = api.generate("rain_suite.py:other", n=1)
    assert one.card.rows == 1
    assert one.card.seed == 0
    with pytest.raises(AcidtestError) as caught:
        api.generate("rain_suite.py:other", n=3)
    assert "3 rows were asked for, but rain_suite.py:other makes only 2" in str(caught.value)


class PandasLike:
    """What of pandas is needed: columns, and a column by name."""

    columns = ("premise", "hypothesis", "label", "score")

    def __getitem__(self, name: str) -> list[object]:
        return {"premise": ["p"], "hypothesis": ["h"], "label": ["e"], "score": [0.5]}[name]


@pytest.mark.parametrize(
    "made", [PandasLike(), pl.DataFrame({"premise": "p", "hypothesis": "h", "label": "e", "score": 0.5})]
)
def test_frames_are_rows_too(made: object) -> None:
    def rows() -> object:
        return made

    suite = function_generator("frames", rows)(Request())
    assert suite.frame.collect().select("premise", "label", "score").row(0) == ("p", "entailment", 0.5)
    assert dict(suite.card.columns) == {"score": "covariate"}


@pytest.mark.parametrize(
    ("returned", "problem"),
    [
        (3, "returns int; return a list of dicts, or a frame"),
        ([], "test_functions.py:rows returns no rows"),
        ([("p", "h", "e")], "returns list of tuple; return a list of dicts, or a frame"),
        ([{"premise": "p", "hypothesis": "h"}], "its rows have no 'label', only premise, hypothesis"),
        ([{"premise": "p", "hypothesis": "h", "label": "entailmnt"}], "row 1: no label called 'entailmnt'"),
        ([{"premise": "p", "hypothesis": " ", "label": "e"}], "row 1 has no hypothesis"),
    ],
)
def test_what_is_no_table_of_pairs_is_refused_with_its_row(returned: object, problem: str) -> None:
    def rows() -> object:
        return returned

    with pytest.raises(AcidtestError) as caught:
        function_generator("bad", rows)(Request())
    assert problem in str(caught.value)
    assert "test_functions.py:rows" in str(caught.value)


def test_an_exception_of_the_users_is_reported_with_its_line(folder: Path) -> None:
    (folder / "broken_suite.py").write_text("def suite():\n    return 1 / 0\n", encoding="utf-8")
    with pytest.raises(AcidtestError) as caught:
        api.generate("broken_suite.py")
    assert "raised ZeroDivisionError: division by zero" in str(caught.value)
    assert "broken_suite.py, line 2" in str(caught.value)


def test_a_parameter_without_default_is_refused() -> None:
    def rows(corpus: str) -> list[object]:
        return [corpus]

    with pytest.raises(AcidtestError, match="parameter 'corpus' needs a default"):
        function_generator("bad", rows)


def test_a_file_of_several_functions_needs_a_name(folder: Path) -> None:
    (folder / "two_suites.py").write_text("def one(): ...\ndef two(): ...\n", encoding="utf-8")
    with pytest.raises(AcidtestError, match=r"has 2 functions \(one, two\); call one 'suite'"):
        api.generate("two_suites.py")


def test_a_function_declared_in_an_entry_point_is_a_suite_by_that_name(folder: Path) -> None:
    facts = folder / "rain-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: rain\nVersion: 1.0\n", encoding="utf-8")
    (facts / "entry_points.txt").write_text("[acidtest.suites]\nmy-rain = rain_suite:suite\n", encoding="utf-8")
    paths = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH", "")])])
    command = [sys.executable, "-m", "acidtest", "generate", "my-rain", "-n", "2", "--verb", "hails", "-o", "out.tsv"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env={**os.environ, "PYTHONPATH": paths})
    assert done.returncode == 0, done.stderr
    assert "my-rain|v:1|verb:hails|seed:0|n:2" in done.stdout


def test_a_settings_file_that_is_merely_there_cannot_run_a_file(folder: Path) -> None:
    (folder / "acidtest.toml").write_text('suites = ["rain_suite.py"]\n', encoding="utf-8")
    command = [sys.executable, "-m", "acidtest", "run", "-m", "baseline:overlap"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 2
    assert "acidtest.toml: suites runs code: " in done.stderr


def test_reading_a_run_back_runs_no_code(folder: Path) -> None:
    done = api.run("baseline:overlap", "python:rain_suite:suite", output=folder / "run")
    (folder / "rain_suite.py").write_text("open('ran', 'w').close()\n", encoding="utf-8")
    sys.modules.pop("rain_suite")
    api.report(done.folder, output=folder / "page.html")
    api.finished_run(done.folder)
    assert (folder / "page.html").exists()
    assert not (folder / "ran").exists()


def test_only_functions_that_the_file_defines_are_offered(folder: Path) -> None:
    (folder / "boxes.py").write_text("from itertools import product\nBOXES = ['box']\ndef suite(): ...\n", "utf-8")
    with pytest.raises(AcidtestError) as caught:
        api.generate("boxes.py:BOXES")
    assert str(caught.value) == "boxes.py: no function called 'BOXES'; there is suite"


def test_a_pair_that_stands_twice_is_warned_of(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    (folder / "twice.py").write_text(
        "def suite():\n    return {'premise': ['a'] * 3, 'hypothesis': ['b'] * 3, 'label': ['e', 'n', 'e']}\n", "utf-8"
    )
    assert api.generate("twice.py").card.rows == 3
    assert "twice.py: 2 rows repeat a pair; see: acidtest check twice.py" in caplog.text
    caplog.clear()
    assert api.check("twice.py").failed
    assert "repeat a pair" not in caplog.text, "the check itself says so"


def test_the_page_of_a_function_says_once_what_it_makes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["suites", "rain_suite.py"]) == 0
    printed = capsys.readouterr().out
    assert "Pairs, made from code. Rain says nothing of Rome\n" in printed
    assert printed.count("Rain says nothing of Rome") == 1
    assert "Citation: rain_suite, written by its user (rain_suite.py:suite)" in printed
