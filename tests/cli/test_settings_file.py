"""A settings file that merely lies in the current folder runs no code and sends no key."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

import acidtest
from acidtest.cli.app import command, leaf_commands, main
from acidtest.cli.options import model_options, suite_options
from acidtest.core.settings import DATA_OPTIONS, REQUESTED_OPTIONS

TRAP = """
from pathlib import Path

Path("sprung").touch()


def predict(premises, hypotheses):
    return ["neutral"] * len(premises)


def suite():
    return [
        {"premise": "A dog", "hypothesis": "A cat", "label": "neutral"},
        {"premise": "A dog", "hypothesis": "A dog", "label": "entailment"},
    ]
"""


@pytest.fixture(autouse=True)
def _beside_a_trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "trap", raising=False)
    Path("trap.py").write_text(TRAP)
    Path("pairs.csv").write_text("premise,hypothesis,gold_label\nA dog,A cat,neutral\nA dog,A dog,entailment\n")


def set_traps() -> None:
    """Files that are code, by every kind of name, and some that are not."""
    Path("sub").mkdir()
    Path("folder.py").mkdir()
    inner = Path("sub", "inner.py")
    for path in (inner, Path("trap.PY"), Path("trap.py.csv"), Path("notes.tsv"), Path("trap.pyc")):
        path.write_text(TRAP)
    Path("link.py").symlink_to(inner)
    Path("predictions.csv").write_text("id,label\n1,neutral\n")


def said(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> str:
    capsys.readouterr()
    assert main(list(words)) == status
    return "".join(capsys.readouterr())


RUN = ("run", "-s", "pairs.csv", "-o", "out", "-q")


@pytest.mark.parametrize("model", ['"python:trap:predict"', '["baseline:overlap", "python:trap:predict"]'])
@pytest.mark.parametrize("table", ["[run]\n", ""])
def test_code_that_a_found_file_names_is_not_run(capsys: pytest.CaptureFixture[str], table: str, model: str) -> None:
    Path("acidtest.toml").write_text(f"{table}model = {model}\n")
    told = said(capsys, *RUN, status=2)
    assert "acidtest.toml: model runs code: python:trap:predict; a settings file that you did not name may only" in told
    assert "write it on the command line, or name the file: ACIDTEST_CONFIG=acidtest.toml" in told
    assert not Path("sprung").exists()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ('model = "endpoint:m@http://127.0.0.1:9/v1"', "model sends a key to a server: endpoint:m@http://127.0.0.1:9"),
        ('model = "hf:somebody/some-model"', "model asks a server for a model: hf:somebody/some-model"),
        ('engine = "ray"', "engine starts or joins a cluster, which runs code"),
        ('address = "ray://127.0.0.1:9"', "address starts or joins a cluster, which runs code"),
    ],
)
def test_a_found_file_connects_to_nobody(capsys: pytest.CaptureFixture[str], settings: str, message: str) -> None:
    Path("acidtest.toml").write_text(f"[run]\n{settings}\n")
    assert message in said(capsys, *RUN, status=2)


SUITES_OF_CODE = (
    *("trap.py", "./trap.py", "trap.py:suite", "python:trap:suite", "trap*", "./tr*", "tr?p.p?", "[t]rap.p[y]"),
    *("cues,trap.py", "link.py", "li*", "sub/../trap.py", "sub/*", "./sub/in*", "**/inner.p*", "{here}/trap.py"),
    *("{here}/trap*", "hans,trap*", " trap.py ", "python:sub.inner:suite"),
)
NO_CODE = ("trap.PY", "trap.py.csv", "notes.tsv", "folder.py", "trap.pyc", "trap.py/", "python:", "tr*p.py", "sub/*.py")
"""Names that look like code; a name that ends in .py is not a pattern."""


@pytest.mark.parametrize("suite", SUITES_OF_CODE)
@pytest.mark.parametrize("command", ["run", "score", "audit"])
def test_no_spelling_of_a_suite_in_a_found_file_runs_code(
    capsys: pytest.CaptureFixture[str], command: str, suite: str
) -> None:
    set_traps()
    option, words = {
        "run": ("suites", ("-m", "baseline:overlap")),
        "score": ("suite", ("predictions.csv",)),
        "audit": ("against", ("pairs.csv",)),
    }[command]
    value = suite.format(here=Path.cwd().as_posix())
    Path("acidtest.toml").write_text(f"[{command}]\n{option} = '{value}'\n")
    told = said(capsys, command, *words, *(["-o", "out"] if command != "audit" else []), status=2)
    assert f"acidtest.toml: {option} runs code: " in told
    assert not Path("sprung").exists()


@pytest.mark.parametrize("suite", NO_CODE)
def test_a_file_that_only_looks_like_code_is_not_run(capsys: pytest.CaptureFixture[str], suite: str) -> None:
    set_traps()
    Path("acidtest.toml").write_text(f"[run]\nsuites = '{suite}'\n")
    said(capsys, "run", "-m", "baseline:overlap", "-o", "out", "-q", status=2)
    assert not Path("sprung").exists()


@pytest.mark.parametrize("suite", [*SUITES_OF_CODE, *NO_CODE])
def test_a_plan_that_a_found_file_names_runs_no_code(capsys: pytest.CaptureFixture[str], suite: str) -> None:
    set_traps()
    Path("plan.toml").write_text(f"suite = '{suite.format(here=Path.cwd().as_posix())}'\n")
    Path("acidtest.toml").write_text('[annotate]\nplan = "plan.toml"\nquestionnaire = "breaking-nli"\n')
    told = said(capsys, "annotate", "--store", "answers.db", "--progress", status=2)
    # A plan names one suite: a pattern or a list is none.
    assert "plan runs code: " in told or suite in NO_CODE or set("*?[, ") & set(suite)
    assert not Path("sprung").exists()


def test_a_plan_that_the_user_names_may_name_code(capsys: pytest.CaptureFixture[str]) -> None:
    set_traps()
    Path("plan.toml").write_text('suite = "trap.py"\n')
    Path("acidtest.toml").write_text('[annotate]\nquestionnaire = "breaking-nli"\n')
    assert "2 items" in said(capsys, "annotate", "--store", "answers.db", "--plan", "plan.toml", "--progress")


@pytest.mark.parametrize(
    "settings",
    [
        'host = "0.0.0.0"',
        "port = 9",
        'token = "abc"',
        'admin_token = "abc"',
        'admin-token = "abc"',
        'allow_host = "evil.example"',
        'store = "postgresql://me:secret@127.0.0.1:9/x"',
        'store = "answers.db"',
        'export = "answers.csv"',
    ],
)
def test_a_found_file_opens_no_port_and_sets_no_secret(capsys: pytest.CaptureFixture[str], settings: str) -> None:
    Path("acidtest.toml").write_text(f"[annotate]\n{settings}\n")
    store = [] if settings.startswith("store") else ["--store", "answers.db"]
    told = said(capsys, "annotate", "pairs.csv", *store, "--questionnaire", "breaking-nli", "--progress", status=2)
    assert f"acidtest.toml: {settings.partition(' ')[0].replace('-', '_')} " in told
    assert "a settings file that you did not name may only choose data and appearance" in told
    assert "secret@" not in told
    assert not Path("answers.db").exists()


def test_settings_of_a_folder_above_are_not_read(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    set_traps()
    Path("acidtest.toml").write_text('[run]\nsuites = "../trap.py"\nmodel = "python:trap:predict"\n')
    monkeypatch.chdir("sub")
    assert "baseline:random" in said(capsys, "run", "-m", "baseline:random", "-s", "../pairs.csv", "-o", "out", "-q")
    assert not Path("../sprung").exists()


def test_a_link_to_a_settings_file_is_a_file_that_was_found(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine.toml").write_text('[run]\nmodel = "python:trap:predict"\n')
    Path("acidtest.toml").symlink_to("mine.toml")
    assert "model runs code" in said(capsys, *RUN, status=2)


@pytest.mark.parametrize("suite", ["trap.py", "[t]rap.p[y]", "link.py", "./trap.py:suite", "python:trap:suite"])
def test_code_on_the_command_line_runs_beside_data_of_a_found_file(
    capsys: pytest.CaptureFixture[str], suite: str
) -> None:
    set_traps()
    Path("acidtest.toml").write_text('[run]\nmodel = "baseline:overlap"\nlimit = 2\n')
    said(capsys, "run", "-s", suite, "-o", "out", "-q")
    assert Path("sprung").exists()


def test_code_in_a_variable_runs_beside_data_of_a_found_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    set_traps()
    monkeypatch.setenv("ACIDTEST_SUITES", "tr?p.p[y]")
    Path("acidtest.toml").write_text('[run]\nmodel = "baseline:overlap"\n')
    said(capsys, "run", "-o", "out", "-q")
    assert Path("sprung").exists()


def test_what_the_user_names_as_data_is_not_run_for_a_found_file(capsys: pytest.CaptureFixture[str]) -> None:
    set_traps()
    Path("acidtest.toml").write_text('[run]\nsuites = "trap.py"\n')
    told = said(capsys, "run", "-m", "baseline:overlap", "--from", "trap.py", "-o", "out", "-q", status=2)
    assert "suites runs code" in told
    assert not Path("sprung").exists()


def test_every_option_of_every_command_is_in_one_list() -> None:
    options = {parameter.name for leaf in leaf_commands(command()).values() for parameter in leaf.params}
    options |= {*suite_options(), *model_options()}
    for name in sorted(options):
        assert (name in DATA_OPTIONS) != (name in REQUESTED_OPTIONS), f"put {name} in one list of core/settings.py"
    assert not (DATA_OPTIONS | REQUESTED_OPTIONS.keys()) - options


@pytest.mark.parametrize("name", sorted(leaf_commands(command())))
def test_no_command_takes_a_requested_option_from_a_found_file(capsys: pytest.CaptureFixture[str], name: str) -> None:
    leaf = leaf_commands(command())[name]
    for parameter in leaf.params:
        if parameter.name not in REQUESTED_OPTIONS:
            continue
        value = {"port": "9", "mlflow": "true", "github": "true", "fresh": "true"}.get(parameter.name, '"x"')
        Path("acidtest.toml").write_text(f"[{name.partition(' ')[0]}]\n{parameter.name} = {value}\n")
        required = [
            word
            for other in leaf.params
            if other.required and other.name != parameter.name
            for word in ([] if other.param_type_name == "argument" else [other.opts[0]]) + ["pairs.csv"]
        ]
        told = said(capsys, *name.split(), *required, status=2)
        assert f"acidtest.toml: {parameter.name.rstrip('_')} {REQUESTED_OPTIONS[parameter.name]}" in told


LOADERS = {"core/registry.py", "core/model.py"}
"""The modules that import code of the user's, after asking ``require_requested``."""


def test_code_is_imported_in_two_places_only() -> None:
    runners = {"exec", "exec_module", "run_path", "run_module", "SourceFileLoader", "load_module"}
    source = Path(acidtest.__file__).parent
    for path in source.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
        names = {func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "") for func in calls}
        if path.relative_to(source).as_posix() not in LOADERS:
            assert not names & runners, path


def test_what_the_command_line_says_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    Path("acidtest.toml").write_text('[run]\nmodel = "python:trap:predict"\n')
    assert "baseline:overlap" in said(capsys, *RUN, "-m", "baseline:overlap")
    assert not Path("sprung").exists()
    said(capsys, *RUN, "--fresh", "-m", "python:trap:predict")
    assert Path("sprung").exists()


def test_a_file_that_the_user_names_may_name_code(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("mine.toml").write_text('[run]\nmodel = "python:trap:predict"\n')
    monkeypatch.setenv("ACIDTEST_CONFIG", "mine.toml")
    assert "python:trap:predict" in said(capsys, *RUN)


def test_a_variable_may_name_code(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACIDTEST_MODEL", "python:trap:predict")
    assert "python:trap:predict" in said(capsys, *RUN)


def test_other_commands_are_not_kept_from_working(capsys: pytest.CaptureFixture[str]) -> None:
    Path("acidtest.toml").write_text('[run]\nmodel = "python:trap:predict"\n')
    assert "hans" in said(capsys, "suites")


def test_other_models_may_be_named_by_a_found_file(capsys: pytest.CaptureFixture[str]) -> None:
    Path("acidtest.toml").write_text('[run]\nmodel = ["baseline:overlap", "baseline:random"]\n')
    assert "baseline:random" in said(capsys, *RUN)
