"""The pytest plugin in sessions of the real pytest, found by an entry point as an installed one is."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import acidtest
from acidtest.evaluate.repetitions import MAX_PAIRS
from acidtest.workflows.evaluations import run
from acidtest.workflows.gates import write_baseline

ROOT = Path(__file__).parents[2]
SOURCE = Path(acidtest.__file__).parents[1]

Session = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    """Runs pytest in an empty folder where warnings are errors and unknown markers too."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    # The name of the installed entry point: pytest takes the first of a name and ignores others.
    package = tmp_path / "site" / "acidtest_entry-0.dist-info"
    package.mkdir(parents=True)
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: acidtest-entry\nVersion: 0\n", encoding="utf-8")
    lines = [f"{name} = {value}" for name, value in project["entry-points"]["pytest11"].items()]
    (package / "entry_points.txt").write_text("\n".join(["[pytest11]", *lines]), encoding="utf-8")
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers --strict-config -W error\n")
    monkeypatch.chdir(folder)
    path = os.pathsep.join((str(package.parent), str(SOURCE), os.environ.get("PYTHONPATH", "")))

    def start(*arguments: str) -> subprocess.CompletedProcess[str]:
        # pytest cuts the lines of its summary to the width of the terminal, but not in continuous integration.
        inherited = {name: value for name, value in os.environ.items() if name not in ("CI", "BUILD_NUMBER")}
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
            env={**inherited, "PYTHONPATH": path, "COLUMNS": "100", "POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
        )

    return start


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Run folders of two models on 300 pairs of hans."""
    folder = tmp_path_factory.mktemp("runs")
    for name in ("overlap", "random"):
        run(f"baseline:{name}", "hans", limit=300, output=folder / name, page=False)
    return {name: folder / name for name in ("overlap", "random")}


def write_gate(name: str, **named: object) -> None:
    lines = [f"{key} = {value!r}" for key, value in named.items()]
    Path(name).write_text("\n".join(["[runs]", *lines, ""]), encoding="utf-8")


def test_what_pytest_loads_imports_nothing_but_pytest() -> None:
    code = """
import pytest, sys
before = set(sys.modules)
import acidtest_pytest
loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
print(sorted(loaded - sys.stdlib_module_names))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(SOURCE)}, capture_output=True, text=True
    )
    assert done.stdout.strip() == "['acidtest_pytest']", done.stderr


def test_a_session_that_asks_no_model_does_not_load_acidtest(session: Session) -> None:
    Path("test_it.py").write_text(
        "import sys\ndef test_it():\n    assert not {'acidtest', 'numpy', 'polars'} & set(sys.modules)\n"
    )
    done = session()
    assert done.returncode == 0, done.stdout
    assert "acidtest-entry" in done.stdout, "the plugin is not loaded"


def test_the_fixture_asks_the_model_of_the_command_line_once(session: Session) -> None:
    Path("test_it.py").write_text(
        """
import pytest

@pytest.mark.acidtest(suites="hans", limit=300)
def test_first(acidtest_run):
    assert acidtest_run.fresh
    assert acidtest_run.accuracy("hans").n == 300
    assert acidtest_run.run.header.model.name == "baseline:overlap"

@pytest.mark.acidtest(suites=["hans"], limit=300)
def test_second(acidtest_run, monkeypatch, tmp_path, pytestconfig):
    monkeypatch.chdir(tmp_path)
    assert acidtest_run.folder.parent == pytestconfig.rootpath / "acidtest-runs"
    assert acidtest_run.run.frame.lazy().collect().height == 300
"""
    )
    done = session("--acidtest-model", "baseline:overlap")
    assert "2 passed" in done.stdout, done.stdout
    assert len(list(Path("acidtest-runs").iterdir())) == 1


def test_the_command_line_names_the_model_first_then_the_marker_then_the_settings(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("pytest.ini").write_text("[pytest]\nacidtest_model = baseline:majority\n")
    Path("test_it.py").write_text(
        """
import os
import pytest

@pytest.mark.acidtest(suites="hans", limit=30)
def test_settings(acidtest_run):
    assert acidtest_run.run.header.model.name == os.environ.get("GIVEN", "baseline:majority")

@pytest.mark.acidtest(model="baseline:random", suites="hans", limit=30)
def test_marker(acidtest_run):
    assert acidtest_run.run.header.model.name == os.environ.get("GIVEN", "baseline:random")
"""
    )
    assert "2 passed" in session().stdout
    monkeypatch.setenv("GIVEN", "baseline:overlap")
    assert "2 passed" in session("--acidtest-model", "baseline:overlap").stdout


def test_a_mistake_is_one_sentence(session: Session) -> None:
    Path("test_it.py").write_text(
        "import pytest\n\ndef test_none(acidtest_run):\n    pass\n\n"
        "@pytest.mark.acidtest(suite='hans')\ndef test_word(acidtest_run):\n    pass\n\n"
        "@pytest.mark.acidtest('hans')\ndef test_place(acidtest_run):\n    pass\n"
    )
    out = session().stdout
    assert "no model is named; add --acidtest-model SPEC, or acidtest_model to the settings of pytest" in out
    assert "no argument of the marker acidtest called 'suite'; did you mean 'suites'?" in out
    assert "Traceback" not in out
    assert "During handling" not in out
    assert "the marker acidtest takes names, such as suites='hans'" in out
    assert "3 errors" in out


MODEL = """
import time
from pathlib import Path

def predict(premises, hypotheses):
    time.sleep(0.5)
    with Path(__file__).with_name("calls").open("a") as file:
        file.write(f"{len(premises)} ")
    return ["entailment"] * len(premises)
"""


def pairs_asked() -> tuple[list[int], list[int]]:
    """The sizes of the calls of the slow model: whole batches, and the few pairs that are only evaluated again."""
    sizes = [int(size) for size in Path("calls").read_text().split()]
    return [size for size in sizes if size > MAX_PAIRS], [size for size in sizes if size <= MAX_PAIRS]


def test_workers_of_xdist_wait_for_the_one_that_asks(session: Session) -> None:
    Path("slow_model.py").write_text(MODEL)
    for number in (1, 2):
        Path(f"test_{number}.py").write_text(
            "import pytest\n\n@pytest.mark.acidtest(suites='hans', limit=100)\n"
            "def test_it(acidtest_run):\n    assert acidtest_run.accuracy('hans').value == 0.5\n"
        )
    done = session("-n", "2", "--dist", "loadfile", "--acidtest-model", "python:slow_model:predict")
    assert "2 passed" in done.stdout, done.stdout
    assert pairs_asked()[0] == [100], "one worker asked the one batch"
    assert len(list(Path("acidtest-runs").iterdir())) == 1


def test_a_gate_file_is_a_test_for_the_verdict_and_one_for_every_check(session: Session, runs: dict[str, Path]) -> None:
    overlap, random = str(runs["overlap"]), str(runs["random"])
    write_gate("release.gate.toml", baseline=overlap, candidate=random, anchor=random)
    done = session("--junitxml", "out.xml", "-rA")
    assert done.returncode == 1
    assert "PASSED release.gate.toml::hans:label=non-entailment" in done.stdout, done.stdout
    assert "FAILED release.gate.toml::hans:label=entailment - fail: " in done.stdout
    assert "FAILED release.gate.toml::verdict - " in done.stdout
    assert "PASSED release.gate.toml::verdict (anchor)" in done.stdout
    assert "Traceback" not in done.stdout
    cases = {case.get("name"): case for case in ET.parse("out.xml").iter("testcase")}
    for name in ("hans:label=entailment", "hans:label=non-entailment"):
        properties = {entry.get("name"): entry.get("value") for entry in cases[name].iter("property")}
        assert properties["rows"] == "150"
        assert properties["baseline"] == {"hans:label=entailment": "1.0", "hans:label=non-entailment": "0.0"}[name]


def test_collecting_a_gate_file_asks_no_model(session: Session, runs: dict[str, Path]) -> None:
    Path("slow_model.py").write_text(MODEL)
    model = {"model": "python:slow_model:predict", "suites": ["hans"], "limit": 300}
    write_gate("a.gate.toml", baseline=str(runs["overlap"]), **model)
    collected = session("--collect-only", "-q").stdout
    assert "a.gate.toml::hans:label=entailment" in collected
    assert not Path("calls").exists()
    done = session("-n", "2", "--dist", "load")
    batches, repeated = pairs_asked()
    assert sum(batches) == 300, "both workers need the run, one asks"
    assert set(repeated) <= {MAX_PAIRS}
    assert "passed" in done.stdout, done.stdout
    assert "failed" not in done.stdout, done.stdout


def test_the_command_line_names_another_model_and_another_baseline(session: Session, runs: dict[str, Path]) -> None:
    write_baseline(runs["overlap"], Path("release.acidtest"))
    write_gate("a.gate.toml", baseline="none.acidtest", candidate=str(runs["overlap"]), suites=["hans"], limit=300)
    done = session("--acidtest-baseline", "release.acidtest", "--acidtest-model", "baseline:random")
    assert "FAILED a.gate.toml::hans:label=entailment" in done.stdout, done.stdout
    # A baseline file lists the suite and labels only: the verdict names the subcases. The suite is undecided.
    assert "3 failed, 1 passed" in done.stdout
    assert "hans:heuristic × label=subsequence × entailment: lost" in done.stdout
    named = session("a.gate.toml", "--acidtest-baseline", "release.acidtest", "--acidtest-model", "baseline:random")
    assert "FAILED a.gate.toml::hans:heuristic × label=subsequence × entailment" in named.stdout, named.stdout
    assert "6 failed, 4 passed" in named.stdout


def test_an_undecided_check_fails_unless_the_policy_tolerates_it(session: Session, runs: dict[str, Path]) -> None:
    Path("pytest.ini").write_text("[pytest]\nacidtest_margin = 0.5\n")
    for name in ("strict.gate.toml", "lenient.gate.toml"):
        write_gate(name, baseline=str(runs["overlap"]), candidate=str(runs["overlap"]))
    with Path("lenient.gate.toml").open("a") as file:
        file.write('[defaults]\nundecided = "pass"\n')
        file.write('[[floors]]\nmatch = "hans"\nat_least = 99\ntier = "advisory"\n')
    done = session("-rxf", "--junitxml", "out.xml")
    assert "FAILED strict.gate.toml::hans - undecided: " in done.stdout, done.stdout
    assert "XFAIL lenient.gate.toml::hans - undecided: " in done.stdout
    # Slices that can only fail are skipped, and say why.
    skipped = [case for case in ET.parse("out.xml").iter("testcase") if case.find("skipped") is not None]
    reasons = {case.get("name"): case.find("skipped").get("message") for case in skipped}
    assert str(reasons["hans:label=entailment"]).startswith("undecided: lost 0.0 points")
    assert "XFAIL lenient.gate.toml::hans (floor) - fail: " in done.stdout
    assert "FAILED lenient" not in done.stdout


def test_a_suite_that_the_candidate_was_not_asked_fails(session: Session, runs: dict[str, Path]) -> None:
    run("baseline:overlap", ["hans", "stress/numerical"], limit=300, output="both", page=False)
    write_gate("a.gate.toml", baseline="both", candidate=str(runs["overlap"]))
    done = session("a.gate.toml", "-rA")
    assert "FAILED a.gate.toml::stress/numerical - undecided: the candidate was not asked" in done.stdout, done.stdout
    assert "Undecided: stress/numerical has no row in common: same suites, limit and seed?" in done.stdout
    assert "PASSED a.gate.toml::hans:label=entailment" in done.stdout


def test_checks_of_a_gate_file_are_tests_with_their_figures(session: Session, runs: dict[str, Path]) -> None:
    gate = '[runs]\nbaseline = "release.acidtest"\nmodel = "baseline:random"\nsuites = ["hans"]\nlimit = 300\n'
    Path("release.gate.toml").write_text(gate, encoding="utf-8")
    write_baseline(runs["overlap"], Path("release.acidtest"))
    out = session("release.gate.toml").stdout
    assert "6 failed, 4 passed" in out
    assert (
        "fail: lost 62.0 points (55.3 to 68.3): shown to lose more than 2.0; 100.0 → 38.0 % of 150 rows, 93 newly "
        "wrong, 0 newly right" in out
    )
    assert "FAILED release.gate.toml::verdict - Fail: hans:heuristic × label=subsequence × entailment lost 72" in out


def test_a_model_that_fails_fails_its_tests_and_no_others(session: Session, runs: dict[str, Path]) -> None:
    Path("broken_model.py").write_text("def predict(premises, hypotheses):\n    raise ValueError('out of order')\n")
    Path("test_other.py").write_text("def test_other():\n    pass\n")
    write_gate(
        "a.gate.toml", baseline=str(runs["overlap"]), model="python:broken_model:predict", suites=["hans"], limit=3
    )
    done = session("a.gate.toml", "test_other.py", "-rf")
    assert "1 passed" in done.stdout, done.stdout
    assert "FAILED a.gate.toml::hans:label=entailment" in done.stdout
    assert "out of order" in done.stdout


def test_a_gate_file_without_a_baseline_or_with_a_mistake_is_an_error(session: Session) -> None:
    write_gate("a.gate.toml", candidate="somewhere")
    Path("b.gate.toml").write_text("[run]\n", encoding="utf-8")
    out = session().stdout
    assert "no baseline is named; add --acidtest-baseline PATH, or baseline under [runs]" in out
    assert "b.gate.toml:" in out
    assert "Traceback" not in out
    assert "2 errors" in out
