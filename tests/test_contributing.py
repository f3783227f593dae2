"""The three files of CONTRIBUTING.md, run as single local files and as a package."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "CONTRIBUTING.md"
NAMES = ("weather", "polite", "hesitation")


@pytest.fixture
def modules(tmp_path: Path) -> Path:
    """A folder with the files that the page shows."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    for block in blocks:
        name = re.match(r"# (\w+\.py)\n", block)
        assert name
        (tmp_path / name[1]).write_text(block, encoding="utf-8")
    assert {path.stem for path in tmp_path.glob("*.py")} == set(NAMES)
    return tmp_path


def acidtest(folder: Path, *arguments: str, **variables: str) -> str:
    """What the program prints in a folder."""
    command = [sys.executable, "-m", "acidtest", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env={**os.environ, **variables})
    assert done.returncode == 0, done.stderr
    return done.stdout


def check_all_three(folder: Path, **variables: str) -> None:
    acidtest(folder, "run", "-m", "polite:0.5", "-s", "weather", "--verb", "snows", "-o", "polite", **variables)
    results = json.loads((folder / "polite" / "results.json").read_text(encoding="utf-8"))
    assert results["suites"]["weather"]["overall"]["value"] == 1
    assert "verb:snows" in results["signature"]
    shares = json.loads(acidtest(folder, "hesitation", "polite", "--json", **variables))["shares"]
    # The model is half sure of everything, and 0.6 is the bound.
    assert shares["polite:0.5"]["weather"]["value"] == 1
    out = acidtest(folder, "hesitation", "polite", "--below", "0.4", "-o", "page.html", **variables)
    assert "Answers with a probability below 0.4" in out
    assert "Show how often models are unsure" in acidtest(folder, "-h", **variables)


def test_a_suite_a_model_and_a_study_are_single_local_files(modules: Path) -> None:
    check_all_three(modules, ACIDTEST_PLUGINS=os.pathsep.join(f"{name}.py" for name in NAMES))


def test_a_suite_a_model_and_a_study_come_from_an_installed_package(modules: Path, tmp_path: Path) -> None:
    package = tmp_path / "site"
    (package / "my_package").mkdir(parents=True)
    (package / "my_package" / "__init__.py").touch()
    for name in NAMES:
        (modules / f"{name}.py").rename(package / "my_package" / f"{name}.py")
    facts = package / "my_package-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n", encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    (toml,) = re.findall(r"```toml\n(.*?)```", page, re.S)
    # An installer writes what [project.entry-points."group"] says as [group].
    points = re.sub(r'\[project\.entry-points\."(.+?)"\]', r"[\1]", toml).replace('"', "")
    (facts / "entry_points.txt").write_text(points, encoding="utf-8")
    paths = os.pathsep.join([str(package), *filter(None, [os.environ.get("PYTHONPATH", "")])])
    check_all_three(tmp_path, PYTHONPATH=paths)
    command = [sys.executable, "-m", "acidtest", "run", "-m", "polite:abc", "-s", "weather"]
    variables = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=variables)
    assert "the plug-in polite.py raised ValueError" in done.stderr


def test_an_edited_model_is_asked_anew(modules: Path) -> None:
    variables = {"ACIDTEST_PLUGINS": "weather.py:polite.py", "ACIDTEST_CACHE_FOLDER": str(modules / "cache")}
    acidtest(modules, "run", "-m", "polite:0.5", "-s", "weather", "-o", "one", **variables)
    code = (modules / "polite.py").read_text(encoding="utf-8")
    edited = code.replace("[rest, self.sureness, rest]", "[self.sureness, rest, rest]")
    assert edited != code
    # Python takes a module of the same size, changed within the same second, for the one it has compiled.
    (modules / "polite.py").write_text(f"{edited}\n# edited\n", encoding="utf-8")
    acidtest(modules, "run", "-m", "polite:0.5", "-s", "weather", "-o", "two", **variables)
    results = [json.loads((modules / name / "results.json").read_text(encoding="utf-8")) for name in ("one", "two")]
    assert [result["suites"]["weather"]["overall"]["value"] for result in results] == [1, 0]


@pytest.mark.parametrize(
    ("spec", "line", "problem"),
    [
        ("polite:abc", "return Polite(float(argument or 0.5))", "ValueError: could not convert string to float: 'abc'"),
        ("polite:0.5", "rest = 1 / 0", "ZeroDivisionError: division by zero"),
    ],
)
def test_an_exception_in_a_model_of_a_plug_in_is_said_to_be_its_own(
    modules: Path, spec: str, line: str, problem: str
) -> None:
    file = modules / "polite.py"
    code = file.read_text(encoding="utf-8")
    if line not in code:
        code = code.replace("rest = (1 - self.sureness) / 2", line)
        file.write_text(code, encoding="utf-8")
    number = next(place for place, text in enumerate(code.splitlines(), 1) if text.strip() == line)
    command = [sys.executable, "-m", "acidtest", "run", "-m", spec, "-s", "weather", "-o", "out"]
    variables = {**os.environ, "ACIDTEST_PLUGINS": "weather.py:polite.py"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=modules, env=variables)
    assert done.returncode == 2
    assert f"the plug-in polite.py raised {problem} ({file}, line {number};" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unknown_kind_of_model_names_the_variable_for_plug_ins(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "acidtest", "run", "-m", "polite:0.5", "-s", "hans"]
    without = {name: value for name, value in os.environ.items() if name != "ACIDTEST_PLUGINS"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=without)
    assert done.returncode == 2
    assert "no kind of model called 'polite'" in done.stderr
    assert "; if a Python file of your own adds it, name that file in ACIDTEST_PLUGINS" in done.stderr


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "acidtest", "suites"]
    variables = {**os.environ, "ACIDTEST_PLUGINS": "nowhere.py"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=variables)
    assert done.returncode == 2
    assert "ACIDTEST_PLUGINS: nowhere.py is not a Python file" in done.stderr
