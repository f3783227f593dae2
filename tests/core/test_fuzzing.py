"""Files that made a reader crash, as ``tools/fuzz.py`` found them, and the valid files that it starts from."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import acidtest
from acidtest.annotate.questionnaires import parse_questionnaire
from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.model import model_from_spec
from acidtest.core.run import Run
from acidtest.core.structured import parse_toml, toml_lines
from acidtest.core.suite import visit_batches
from acidtest.io.embeddings import read_vectors
from acidtest.models.harness_logs import parse_recipe
from acidtest.workflows.results import compute_results

TOOL = Path(__file__).parents[2] / "tools" / "fuzz.py"


@pytest.fixture(scope="module")
def fuzz() -> Any:
    spec = importlib.util.spec_from_file_location("fuzz_tool", TOOL)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["fuzz_tool"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def valid(fuzz: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("valid")
    fuzz.write_valid_files(folder)
    return folder


def test_every_reader_reads_the_files_that_inputs_are_made_from(fuzz: Any, valid: Path) -> None:
    for name, reader in fuzz.READERS.items():
        paths = [path for pattern in reader.patterns for path in valid.glob(pattern)]
        assert paths, name
        assert {path.name: fuzz.read_quietly(reader, path) for path in paths} == {path.name: "read" for path in paths}


def test_the_same_number_gives_the_same_input(fuzz: Any, valid: Path) -> None:
    path = valid / "pairs.jsonl"
    inputs = [fuzz.make_input(path, path.read_bytes(), fuzz.random.Random("0 7")) for _ in range(2)]
    assert inputs[0] == inputs[1] != path.read_bytes()


def test_an_exception_of_another_kind_counts_as_a_crash(fuzz: Any) -> None:
    def fail(path: Path) -> None:
        raise KeyError("x")

    assert fuzz.read_quietly(fuzz.Reader((), fail), Path("a")) == "KeyError at ?: \"'x'\""


def test_a_column_without_a_name_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "pairs.parquet"
    pl.DataFrame({"premise": ["A"], "hypothesis": ["B"], "gold_label": ["neutral"], "": ["x"]}).write_parquet(path)
    assert acidtest.load(path).frame.collect().height == 1


@pytest.mark.parametrize(
    ("column", "dtype", "message"),
    [
        ("p_neutral", pl.List(pl.Float64), "'p_neutral' is of type List.* not number"),
        ("p_neutral", pl.String, "'p_neutral' is of type String, not number"),
        ("label", pl.Binary, "'label' is of type Binary, not text"),
        ("group", pl.Duration("ms"), "'group' is of type Duration.* not text"),
        ("correct", pl.Int8, "'correct' is of type Int8, not true or false"),
    ],
)
def test_predictions_of_other_types_are_rejected(
    valid: Path, tmp_path: Path, column: str, dtype: Any, message: str
) -> None:
    (tmp_path / "run.json").write_bytes((valid / "run" / "run.json").read_bytes())
    frame = pl.read_parquet(valid / "run" / "predictions.parquet")
    frame.with_columns(pl.lit(None, dtype=dtype).alias(column)).write_parquet(tmp_path / "predictions.parquet")
    with pytest.raises(FileError, match=rf"predictions\.parquet: {message}; run it again with --fresh"):
        Run.read(tmp_path)


def test_a_panic_of_polars_on_a_damaged_file_is_an_error_with_its_file(
    valid: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def panic(*_: object, **__: object) -> None:
        raise pl.exceptions.PanicException("called `Option::unwrap()` on a `None` value")

    run = Run.read(valid / "run")
    monkeypatch.setattr(pl.LazyFrame, "sink_batches", panic)
    with pytest.raises(AcidtestError, match=r"a Parquet file is damaged \(called .*--fresh"):
        visit_batches(run.lazy("pairs"), print)
    monkeypatch.setattr(pl.LazyFrame, "collect_schema", panic)
    with pytest.raises(FileError, match=r"predictions\.parquet: cannot be read: called"):
        Run.read(valid / "run")


def test_a_probability_of_hundreds_of_digits_is_rejected(tmp_path: Path) -> None:
    row = {"id": "1", "scores": {"entailment": 10**400, "neutral": 0.1, "contradiction": 0.1}}
    (tmp_path / "p.jsonl").write_text(json.dumps(row))
    with pytest.raises(FileError, match=r"p\.jsonl:1: column 'scores' holds 10+ for entailment, not a probability"):
        model_from_spec(f"answers:{tmp_path / 'p.jsonl'}")


def test_a_label_that_is_none_is_named_as_unreadable(valid: Path, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_bytes((valid / "run" / "run.json").read_bytes())
    frame = pl.read_parquet(valid / "run" / "predictions.parquet")
    frame.with_columns(label=pl.lit("maybe")).write_parquet(tmp_path / "predictions.parquet")
    with pytest.raises(AcidtestError, match=r"the predictions of baseline:overlap cannot be read .*--fresh"):
        compute_results(Run.read(tmp_path))


def test_a_suite_without_rows_has_no_diagnosis(valid: Path, tmp_path: Path) -> None:
    header = (valid / "run" / "run.json").read_text().replace('"pairs": {', '"other": {', 1)
    (tmp_path / "run.json").write_text(header)
    (tmp_path / "predictions.parquet").write_bytes((valid / "run" / "predictions.parquet").read_bytes())
    assert not compute_results(Run.read(tmp_path)).suites["other"].overall.known


@pytest.mark.parametrize("key", ["choices", "words"])
def test_a_recipe_with_an_unknown_label_is_rejected(key: str) -> None:
    recipe = json.dumps({"suite": "hans", key: {"yes": "entailed"}})
    with pytest.raises(FileError, match=rf"a\.eval: {key}\.yes: 'entailed' is not a label"):
        parse_recipe(recipe, "a.eval")


def test_a_condition_with_a_table_for_an_answer_is_rejected() -> None:
    text = """
    schema = 1
    title = "T"
    [[question]]
    id = "a"
    text = "A?"
    kind = "yes-no"
    [[rule]]
    label = "neutral"
    when = { a = [{ b = 1 }] }
    """
    with pytest.raises(FileError, match=r"q\.toml: .*\{'b': 1\} is not an answer to 'a'"):
        parse_questionnaire(text.encode(), Path("q.toml"))


def test_a_number_of_vectors_with_thousands_of_digits_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "vectors.vec"
    path.write_text("9" * 5000 + " 3\ncat 0 0.5 -1\n")
    with pytest.raises(FileError, match=r"vectors\.vec"):
        read_vectors(path, ["cat"])


@pytest.mark.parametrize("line", [b"x" * 400_000 + b" = 1", b"a = 1" + b" " * 400_000, b" " * 400_000])
def test_long_lines_of_toml_take_linear_time(line: bytes) -> None:
    # In quadratic time, the first took about an hour.
    assert parse_toml(line, "a.toml") is not None
    assert toml_lines(line) is not None
