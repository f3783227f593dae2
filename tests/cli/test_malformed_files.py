"""Structured files that are broken: every command that reads one names the file and ends with 2, never with 3."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from acidtest.cli.app import main

BROKEN = {
    "empty": b"",
    "cut short": b'{"schema": 1, "model": ',
    "a list": b"[1, 2]",
    "null": b"null",
    "a text": b'"x"',
    "not UTF-8": b'{"schema": "\xff\xfe"}',
    "UTF-16": '{"schema": 1}'.encode("utf-16"),
    "deep lists": b"[" * 100_000,
    "deep objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "a key twice": b'{"schema": 1, "schema": 1}',
    "a huge number": b'{"schema": 1' + b"0" * 5000 + b"}",
    "an infinite number": b'{"schema": 1e999}',
    "NaN": b'{"schema": NaN}',
    "half a letter": b'{"schema": 1, "name": "\\ud800"}',
    "no schema": b"{}",
    "a schema of text": b'{"schema": "1"}',
    "nothing else": b'{"schema": 1}',
    "a newer schema": b'{"schema": 99}',
}

BROKEN_TOML = {
    "cut short": b"a = ",
    "not UTF-8": b'title = "\xff"',
    "deep lists": b"a = " + b"[" * 100_000,
    "deep tables": b"a = " + b"{a = " * 100_000,
    "a long key": b".".join([b"a"] * 100_000) + b" = 1",
    "a key twice": b"schema = 1\nschema = 1",
    "a huge number": b"schema = 1" + b"0" * 5000,
    "an unknown key": b"colour = 3",
    "a date": b"schema = 1979-05-27",
    "a list": b"schema = [1]",
    "a table": b"[schema]\na = 1",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two runs and a suite in two formats."""
    folder = tmp_path_factory.mktemp("made")
    rows = [
        f"A dog sleeps {n},A dog {'sleeps' if n % 2 else 'runs'},{'entailment' if n % 2 else 'neutral'}\n"
        for n in range(40)
    ]
    (folder / "pairs.csv").write_text(
        "premise,hypothesis,gold_label,kind\n" + "".join(r.strip() + f",{n % 3}\n" for n, r in enumerate(rows))
    )
    for name, model in (("first", "baseline:overlap"), ("second", "baseline:random")):
        suites = f"{folder / 'pairs.csv'},stress/negation"
        assert main(["run", "-m", model, "-s", suites, "--limit", "20", "-o", str(folder / name), "-q", "--json"]) == 0
    for ending in ("csv", "parquet"):
        assert main(["generate", "hans", "-n", "1", "-o", str(folder / f"suite.{ending}"), "-q", "--json"]) == 0
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, which is the current folder."""
    copy = shutil.copytree(made, tmp_path / "here")
    monkeypatch.chdir(copy)
    return copy


def refusal(capsys: pytest.CaptureFixture[str], command: str) -> str:
    """What a command says on its way out with status 2."""
    capsys.readouterr()
    status = main(command.split())
    _, err = capsys.readouterr()
    assert status == 2, err
    assert "Traceback" not in err
    return err


READERS = {
    "first/run.json": "compare first second -q",
    "first/results.json": "report first -o page.html -q",
    "suite.csv.card.json": "run -m baseline:overlap -s suite.csv -o out -q",
}


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("file", READERS)
def test_broken_json_is_refused_with_its_name(
    folder: Path, capsys: pytest.CaptureFixture[str], file: str, broken: str
) -> None:
    (folder / file).write_bytes(BROKEN[broken])
    assert f"{file}:" in refusal(capsys, READERS[file]).replace("\\", "/")


@pytest.mark.parametrize("broken", sorted(set(BROKEN) - {"no schema", "a schema of text"}))
def test_a_broken_card_inside_parquet_is_refused_with_the_name_of_the_file(
    folder: Path, capsys: pytest.CaptureFixture[str], broken: str
) -> None:
    content = BROKEN[broken].decode("utf-8", errors="replace").replace("{", '{"columns": {}, ', 1)
    content = content.replace('{"columns": {}, }', '{"columns": {}}')
    (folder / "suite.parquet.card.json").unlink()
    pl.read_parquet(folder / "suite.parquet").write_parquet(folder / "suite.parquet", metadata={"acidtest": content})
    assert "suite.parquet:" in refusal(capsys, "run -m baseline:overlap -s suite.parquet -o out -q")


def changed(content: Any, keys: list[str | int], value: Any) -> Any:
    """The content with another value at a place, or without it where the value is ``...``."""
    if isinstance(content, dict):
        if len(keys) == 1 and value is ...:
            return {key: inner for key, inner in content.items() if key != keys[0]}
        inner = value if len(keys) == 1 else changed(content[keys[0]], keys[1:], value)
        return {**content, keys[0]: inner}
    copy = list(content)
    copy[int(keys[0])] = value if len(keys) == 1 else changed(content[int(keys[0])], keys[1:], value)
    return copy


@pytest.mark.parametrize(
    ("file", "keys", "value", "message"),
    [
        ("first/run.json", ["model"], ..., "model: is missing"),
        ("first/run.json", ["model", "name"], 3, "model.name: expected a text, got 3"),
        ("first/run.json", ["suites"], [], "suites: expected an object, got []"),
        ("first/run.json", ["suites", "pairs", "seed"], "x", 'suites.pairs.seed: expected an integer, got "x"'),
        ("first/run.json", ["suites", "pairs", "strata"], ["colour"], "suites.pairs: 'colour' is no unknown column"),
        ("first/run.json", ["suites", "pairs", "columns"], {"colour": "factor"}, "suites.pairs: 'colour' is no factor"),
        ("first/run.json", ["suites", "pairs", "columns"], {"*": "factor"}, "suites.pairs: no column can be called"),
        ("first/run.json", ["settings", "collapse"], "best", "settings.collapse: collapse 'best' is not argmax"),
        ("first/run.json", ["notes"], "x", 'notes: expected a list, got "x"'),
        ("first/run.json", ["unanswered"], {"pairs": None}, "unanswered.pairs: expected an integer, got null"),
        ("first/results.json", ["suites"], {}, "suites: are not those of run.json"),
        (
            "first/results.json",
            ["suites", "pairs", "overall"],
            0.5,
            "suites.pairs.overall: expected an object, got 0.5",
        ),
        ("first/results.json", ["suites", "pairs", "overall", "value"], "x", "overall.value: expected a number"),
        (
            "first/results.json",
            ["suites", "pairs", "overall", "value"],
            None,
            "an estimate without a value needs a note",
        ),
        ("first/results.json", ["suites", "pairs", "signature"], ..., "suites.pairs.signature: is missing"),
        ("first/results.json", ["suites", "pairs", "by", "a × b"], {"c": {}}, "by.a × b.c.value: is missing"),
        ("first/results.json", ["suites", "pairs", "published"], [3], "suites.pairs.published[0]: expected an object"),
        (
            "first/results.json",
            ["suites", "pairs", "confusion"],
            {"neutral": 3},
            "confusion.neutral: expected an object",
        ),
        ("first/results.json", ["diagnosis"], None, "diagnosis: expected a list, got null"),
        ("first/results.json", ["contamination"], "x", 'contamination: expected an object, got "x"'),
        (
            "first/results.json",
            ["model", "resolution"],
            "four-way",
            'model.resolution: expected "three-way" or "two-way"',
        ),
        ("suite.csv.card.json", ["name"], ..., "name: is missing"),
        ("suite.csv.card.json", ["rows"], "many", 'rows: expected an integer, got "many"'),
        ("suite.csv.card.json", ["columns", "subcase"], "colour", 'columns.subcase: expected "factor"'),
        ("suite.csv.card.json", ["crossings"], [["a"], 3], "crossings[1]: expected a list, got 3"),
        ("suite.csv.card.json", ["arguments"], {"words": {}}, "arguments.words: expected a text or an integer"),
    ],
)
def test_a_missing_or_mistyped_key_is_named_with_its_file(
    folder: Path, capsys: pytest.CaptureFixture[str], file: str, keys: list[str | int], value: Any, message: str
) -> None:
    path = folder / file
    path.write_text(json.dumps(changed(json.loads(path.read_text()), keys, value)))
    told = refusal(capsys, READERS[file]).replace("\\", "/")
    assert f"{file}: " in told
    assert message in told


TOML_READERS = {
    "acidtest.toml": "suites",
    "asked.toml": "annotate pairs.csv --store answers.db --questionnaire asked.toml --progress",
    "who.toml": "annotate pairs.csv --store answers.db --questionnaire breaking-nli --plan who.toml --progress",
    "prompt.toml": "run -m endpoint:x@http://127.0.0.1:9/v1 --prompt prompt.toml -s pairs.csv -o out -q",
}


@pytest.mark.parametrize("broken", BROKEN_TOML)
@pytest.mark.parametrize("file", TOML_READERS)
def test_broken_toml_is_refused_with_its_name(
    folder: Path, capsys: pytest.CaptureFixture[str], file: str, broken: str
) -> None:
    (folder / file).write_bytes(BROKEN_TOML[broken])
    assert f"{file}:" in refusal(capsys, TOML_READERS[file])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ('[run]\nlimit = "x"', "acidtest.toml: limit: Invalid value"),
        ("[run]\nlimit = [1, 2]", "acidtest.toml: limit: acidtest run takes one value, not a list"),
        ("limit = 1979-05-27", "acidtest.toml: limit: expected a text, a number"),
        ("[run]\nmodel = [3, [4]]", "acidtest.toml: run.model: expected a text, a number"),
        ("[run.model]\na = 1", "acidtest.toml: run.model: expected a text, a number"),
        ("seed = -1", "acidtest.toml: seed: Invalid value"),
        ("[run]\noutput = 3", "acidtest.toml: output: Invalid value"),
    ],
)
def test_settings_of_a_wrong_type_are_named_with_their_file(
    folder: Path, capsys: pytest.CaptureFixture[str], settings: str, message: str
) -> None:
    (folder / "acidtest.toml").write_text(settings)
    assert message in refusal(capsys, "run -m baseline:overlap -s pairs.csv")


TASK = {"id": 1, "data": {"premise": "A dog sleeps 1", "hypothesis": "A dog runs", "id": "x"}, "annotations": []}


@pytest.mark.parametrize("broken", sorted(set(BROKEN) - {"UTF-16", "NaN", "an infinite number", "a huge number"}))
def test_broken_tasks_of_label_studio_are_refused_with_their_name(
    folder: Path, capsys: pytest.CaptureFixture[str], broken: str
) -> None:
    project = "annotate --store answers.db"
    assert main([*project.split(), "pairs.csv", "--questionnaire", "breaking-nli", "--progress", "-q"]) == 0
    (folder / "tasks.json").write_bytes(BROKEN[broken])
    assert "tasks.json" in refusal(capsys, f"{project} --import tasks.json -q")


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ({"data": 3}, "[0].data: expected an object, got 3"),
        ({"meta": []}, "[0].meta: expected an object, got []"),
        ({"annotations": 3}, "[0].annotations: expected a list, got 3"),
        ({"annotations": [3]}, "[0].annotations[0]: expected an object, got 3"),
        ({"annotations": [{}]}, "[0].annotations[0].result: is missing"),
        ({"annotations": [{"result": [{}]}]}, "[0].annotations[0].result[0].from_name: is missing"),
        ({"annotations": [{"result": [], "lead_time": "long"}]}, "lead_time: expected a number"),
        ({"annotations": [{"result": [], "created_at": 3}]}, "created_at: expected a text"),
        ({"meta": {"acidtest": {"seats": "x"}}}, "task 1: meta: acidtest.seats: expected an integer"),
        ({"meta": {"acidtest": {"expected": 3}}}, "task 1: meta: acidtest.expected: expected an object"),
        ({"data": {"id": "x"}}, "task 1 is not as Label Studio writes it: KeyError('premise')"),
    ],
)
def test_tasks_that_label_studio_does_not_write_are_named(
    folder: Path, capsys: pytest.CaptureFixture[str], task: dict[str, Any], message: str
) -> None:
    project = "annotate --store answers.db"
    assert main([*project.split(), "pairs.csv", "--questionnaire", "breaking-nli", "--progress", "-q"]) == 0
    (folder / "tasks.json").write_text(json.dumps([TASK | task]))
    told = refusal(capsys, f"{project} --import tasks.json -q")
    assert "tasks.json: " in told
    assert message in told


@pytest.mark.parametrize(
    "store", ["postgresql://user:secret@host:abc/db", "postgresql://user:secret@[::1/db", "postgresql://a:secret@h:1x/"]
)
def test_a_store_with_a_bad_port_is_refused_and_its_password_not_shown(
    folder: Path, capsys: pytest.CaptureFixture[str], store: str
) -> None:
    told = refusal(capsys, f"annotate pairs.csv --store {store} --questionnaire breaking-nli --progress")
    assert "the value of --store is not the URL of a store" in told
    assert "secret" not in told
