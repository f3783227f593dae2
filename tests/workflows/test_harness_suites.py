"""Suites for evaluation harnesses, their files, and what is refused when logs come back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from acidtest import api
from acidtest.cli.app import main
from acidtest.core.errors import AcidtestError, FileError
from acidtest.models.harness_tasks import TaskRecipe
from acidtest.workflows.harness_scores import score_logs
from acidtest.workflows.harness_suites import (
    breakdown_columns,
    breakdowns,
    chat_rows,
    make_recipe,
    make_task,
    named_tasks,
    row_slices,
    slice_names,
)


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_recipe_makes_the_suite_that_a_run_asks() -> None:
    recipe = make_recipe("hans", {"seed": 7, "limit": 60, "words": "published"})
    (suite,) = api.Battery(["hans"], seed=7, limit=60, arguments={"words": "published"}).used
    assert make_task(recipe).recipe.fingerprint == suite.card.fingerprint
    generated = api.generate("hans", n=2, seed=7)
    assert make_task(make_recipe("hans", {"seed": 7, "n": 2})).recipe.fingerprint == generated.card.fingerprint


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sead": 7}, "no option of 'hans' called 'sead'; did you mean 'seed'?"),
        ({"seed": -1}, "seed is a whole number from 0 on, not -1"),
        ({"limit": "many"}, "limit is a whole number from 1 on, not 'many'"),
        ({"n": True}, "n is a whole number from 1 on, not True"),
    ],
)
def test_wrong_options_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(AcidtestError) as caught:
        make_recipe("hans", options)
    assert message in str(caught.value)


def test_suites_without_a_control_or_of_several_values_are_refused() -> None:
    with pytest.raises(AcidtestError, match="suite 'hans' has no control"):
        make_task(make_recipe("hans", {"control": True}))
    with pytest.raises(AcidtestError, match="'hans' makes several suites"):
        make_task(make_recipe("hans", {"words": "fresh,published"}))


def test_a_prompt_of_two_answers_does_not_ask_pairs_that_both_are_right_for() -> None:
    options = {"n": 20}
    three = make_task(make_recipe("consistency", options)).suite.frame.collect()
    two = make_task(make_recipe("consistency", {**options, "prompt": "supported"})).suite.frame.collect()
    left_out = set(three["id"]) - set(two["id"])
    assert set(three.filter(three["id"].is_in(list(left_out)))["label"]) == {"non-contradiction"}


def test_accuracy_is_broken_down_by_label_and_main_factors() -> None:
    hans = make_task(make_recipe("hans", {"n": 1})).suite
    assert breakdowns(hans.card) == [("label",), ("heuristic",), ("heuristic", "label")]
    columns = breakdown_columns(hans)
    assert "heuristic × label=subsequence × non-entailment" in slice_names(columns)
    label, heuristic = columns.row(0)[:2]
    assert row_slices(columns.row(0, named=True)) == {
        f"label={label}",
        f"heuristic={heuristic}",
        f"heuristic × label={heuristic} × {label}",
    }
    lexical = make_task(make_recipe("lexical", {"limit": 50})).suite
    assert breakdown_columns(lexical).columns == ["label", "category"]


def test_categories_of_a_row_are_several_slices() -> None:
    task = make_task(make_recipe("taxonomy", {}))
    columns = breakdown_columns(task.suite)
    several = next(row for row in columns.iter_rows(named=True) if len(row["category"]) > 1)
    assert row_slices(several) == {f"label={several['label']}", *(f"category={name}" for name in several["category"])}


def test_messages_are_those_of_endpoints() -> None:
    task = make_task(make_recipe("hans", {"n": 1}))
    row = task.suite.frame.collect().row(0, named=True)
    first = next(chat_rows(task))
    assert (first.id, first.target, first.metadata["group"]) == (row["id"], row["label"], row["group"])
    assert [message["role"] for message in first.input] == ["system", "user"]
    assert first.input[1]["content"].startswith(f"Premise: {row['premise']}\nHypothesis: {row['hypothesis']}\n")


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        api.save(api.generate("hans", n=1), tmp_path / folder / "mine.jsonl")
    with pytest.raises(AcidtestError, match="would both be called 'mine'; rename one"):
        list(named_tasks(["a/mine.jsonl", "b/mine.jsonl"], {}))


def test_a_task_of_lm_eval_names_suite_slices_and_metrics(tmp_path: Path) -> None:
    assert main(["export", "lm-eval", "-s", "stress/negation", "--seed", "3", "-o", "tasks", "-q"]) == 0
    name, slices = (
        "acidtest_stress_negation_control_generate",
        [f"label={x}" for x in ("contradiction", "entailment", "neutral")],
    )
    metrics = "".join(
        f'  - metric: "acc:{part}"\n    aggregation: !function acidtest.integrations.lm_eval.slice_mean\n'
        f"    higher_is_better: true\n"
        for part in slices
    )
    assert (tmp_path / "tasks" / f"{name}.yaml").read_text(encoding="utf-8").partition("\n")[2] == (
        "include: _acidtest_replies.yaml\n"
        f"task: {name}\n"
        f'dataset_kwargs: {{"suite": "stress/negation", "slices": {json.dumps(slices)}, "control": true}}\n'
        'metadata: {"version": 1, "seed": 3, "prompt": "labels"}\n'
        "metric_list:\n"
        "  - {metric: acc, aggregation: mean, higher_is_better: true}\n"
        "  - {metric: unanswered, aggregation: mean, higher_is_better: false}\n" + metrics
    )


@pytest.mark.parametrize("form", ["lm-eval", "inspect"])
def test_an_earlier_export_is_replaced_and_nothing_else(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["export", form, "-s", "taxonomy", "-o", "tasks", "-q"]
    assert main(words) == 0
    assert main(words) == 0
    (tmp_path / "tasks" / "notes.txt").write_text("mine", encoding="utf-8")
    assert main(words) == 2
    assert "tasks: holds notes.txt, no export of acidtest's; name another folder" in capsys.readouterr().err
    assert (tmp_path / "tasks" / "notes.txt").exists()


def write_log(path: Path, recipe: TaskRecipe, ids: list[str]) -> Path:
    doc = {"recipe": recipe.to_json()}
    lines = [{"doc_id": 0, "doc": {**doc, "id": name}, "filtered_resps": ["neutral"]} for name in ids]
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return path


def test_a_log_of_other_rows_than_this_version_makes_is_refused(tmp_path: Path) -> None:
    task = make_task(make_recipe("hans", {"n": 1}))
    ids = task.suite.frame.select("id").collect()["id"].to_list()
    path = tmp_path / "log.jsonl"
    changed = TaskRecipe(**{**vars(task.recipe), "fingerprint": "0"})
    with pytest.raises(FileError, match=r"log\.jsonl: suite 'hans' with seed 0 has other rows .* --suite FILE"):
        score_logs(write_log(path, changed, ids))
    with pytest.raises(FileError, match=r"log\.jsonl: 1 ids are not in suite 'hans': zz"):
        score_logs(write_log(path, task.recipe, [*ids, "zz"]))
    api.save(task.suite, tmp_path / "h.jsonl")
    (done,) = score_logs(write_log(path, changed, ids), suite="h.jsonl", output=tmp_path / "run", page=False)
    assert done.run.header.suites["hans"].rows == len(ids)


def test_a_file_that_a_log_names_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("raise SystemExit('run')", encoding="utf-8")
    recipe = TaskRecipe("mine.py", choices={"neutral": "neutral"}, words={"neutral": "neutral"})
    with pytest.raises(FileError, match=r"asks 'mine\.py', which is no suite of the catalogue; give it with --suite"):
        score_logs(write_log(tmp_path / "log.jsonl", recipe, ["a"]))
    recipe = TaskRecipe(
        "stress/negation", source="mine.py", choices={"neutral": "neutral"}, words={"neutral": "neutral"}
    )
    with pytest.raises(
        FileError, match=r"asks pairs made from 'mine\.py'; say so yourself: --suite stress/negation --from"
    ):
        score_logs(write_log(tmp_path / "log.jsonl", recipe, ["a"]))


def test_the_log_of_a_control_alone_is_refused(tmp_path: Path) -> None:
    task = make_task(make_recipe("stress/negation", {"limit": 3, "control": True}))
    ids = task.suite.frame.select("id").collect()["id"].to_list()
    with pytest.raises(FileError, match="is the log of a control; score it with that of its suite"):
        score_logs(write_log(tmp_path / "log.jsonl", task.recipe, ids))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--column", "x"], "--column is for tables of predictions; the log of a harness names its answers"),
        (["--seed", "3"], "--seed is for tables of predictions; the log of a harness was made with its own options"),
        (["--words", "fresh"], "--words is for tables of predictions"),
    ],
)
def test_options_that_a_log_has_no_room_for_are_refused(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_log(tmp_path / "log.jsonl", TaskRecipe("hans"), ["a"])
    assert main(["score", "log.jsonl", *words]) == 2
    assert message in capsys.readouterr().err


def test_a_table_needs_the_name_of_its_suite(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.csv").write_text("id,label\na,neutral\n", encoding="utf-8")
    assert main(["score", "p.csv"]) == 2
    assert "p.csv does not say which suite it answers; name it: --suite NAME_OR_FILE" in capsys.readouterr().err
    assert main(["score", "p.csv", "p.csv"]) == 2
    assert "p.csv: score takes one file or one folder; name the folder of several logs" in capsys.readouterr().err
    assert main(["score", str(tmp_path)]) == 2
    assert "has no logs of acidtest's tasks" in capsys.readouterr().err
