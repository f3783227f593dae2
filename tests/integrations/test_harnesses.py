"""One model in acidtest, lm-evaluation-harness and Inspect, with the real hosts: the same ids, the same accuracy.

The model answers by a hash of the pair, and abstains where that says so; nothing is downloaded.
"""

from __future__ import annotations

import gc
import json
import logging
import math
import re
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from acidtest import api
from acidtest.cli.app import main
from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.labels import LABELS, one_hot
from acidtest.core.run import Run
from acidtest.workflows.harness_scores import score_logs
from acidtest.workflows.runs import Finished

pytest.importorskip("lm_eval")
pytest.importorskip("inspect_ai")

# The hosts and what they import warn of their own affairs.
pytestmark = pytest.mark.filterwarnings("ignore")

PAIR = re.compile(r"Premise: (?P<premise>.*)\nHypothesis: (?P<hypothesis>.*)\n\nWhich word")
RECIPE = {"seed": 7, "limit": 40}
ABSTENTION = "I would rather not say."


def answer(premise: str, hypothesis: str) -> str | None:
    """A label by a hash of the pair; None in one of four."""
    return [*LABELS, None][zlib.crc32(f"{premise}|{hypothesis}".encode()) % 4]


def answer_prompt(prompt: str) -> str | None:
    match = PAIR.search(prompt)
    assert match, prompt
    return answer(match["premise"], match["hypothesis"])


class Hasher:
    """The model as acidtest takes it; one that must answer says neutral where it would abstain."""

    columns = ("premise", "hypothesis")
    fingerprint = None

    def __init__(self, *, abstains: bool) -> None:
        self.name, self.may_abstain, self.probabilities = "hasher", abstains, False

    def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> np.ndarray:
        labels = [answer(premise, hypothesis) for premise, hypothesis in zip(premises, hypotheses, strict=True)]
        rows = one_hot([label or "neutral" for label in labels])
        if self.may_abstain:
            rows[[label is None for label in labels]] = np.nan
        return rows


def run_lm_eval(tasks: Path, names: list[str], output: Path, metadata: dict[str, Any]) -> dict[str, Any]:
    """The results of some tasks, with its logs written to a folder as the program writes them."""
    from lm_eval import simple_evaluate
    from lm_eval.api.model import LM
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    class HasherLM(LM):
        def loglikelihood(self, requests: list[Any]) -> list[tuple[float, bool]]:
            asked = [request.args for request in requests]
            values = [-1.0 if text == f" {answer_prompt(prompt) or 'neutral'}" else -6.0 for prompt, text in asked]
            return [(value, value == -1.0) for value in values]

        def generate_until(self, requests: list[Any]) -> list[str]:
            answers = [answer_prompt(request.args[0]) for request in requests]
            return [f"{label.capitalize()}." if label else ABSTENTION for label in answers]

        def loglikelihood_rolling(self, requests: list[Any]) -> list[float]:
            raise NotImplementedError

    tracker = EvaluationTracker(output_path=str(output))
    tracker.general_config_tracker.model_source, tracker.general_config_tracker.model_name = "dummy", "hasher"
    tracker.general_config_tracker.model_name_sanitized = "hasher"
    manager = TaskManager(include_path=str(tasks), include_defaults=False, metadata=metadata)
    results = simple_evaluate(model=HasherLM(), tasks=names, task_manager=manager, bootstrap_iters=0, log_samples=True)
    assert results
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    for name in samples:
        tracker.save_results_samples(task_name=name, samples=samples[name])
    return dict(results["results"])


def run_inspect(task: str, output: Path, **arguments: Any) -> Any:
    """The log of a task of Inspect."""
    from inspect_ai import eval
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    from acidtest.integrations import inspect_tasks

    assert inspect_tasks.RECIPE

    def reply(messages: list[Any], *others: Any) -> ModelOutput:
        output = ModelOutput.from_content("mockllm/model", answer_prompt(messages[-1].text) or ABSTENTION)
        # Without counts, Inspect would count tokens, with a file that it downloads.
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    model = get_model("mockllm/model", custom_outputs=reply)
    # A browser of other tests may have an event loop running in this thread.
    with ThreadPoolExecutor(1) as thread:
        (log,) = thread.submit(
            eval, task, task_args=arguments, model=model, log_dir=str(output), display="none"
        ).result()
    assert log.status == "success", log.error
    return log


def accuracies(run: Run, suite: str) -> dict[str, float]:
    """Accuracy of a suite, whole and by label and heuristic, and the share unanswered."""
    rows = run.lazy(suite).collect()
    values = {"acc": float(rows["correct"].mean()), "unanswered": float(rows["p_neutral"].is_nan().mean())}
    for factor in ("label", "heuristic"):
        for (value,), part in rows.group_by(factor) if factor in rows.columns else ():
            values[f"acc:{factor}={value}"] = float(part["correct"].mean())
    return values


@pytest.fixture(scope="module", autouse=True)
def _leave_nothing_behind() -> Iterator[None]:
    """Take away what the hosts leave behind: handlers on the logger of everybody, and streams that are not closed."""
    handlers, level = list(logging.root.handlers), logging.root.level
    yield
    logging.root.handlers, logging.root.level = handlers, level
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gc.collect()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("harnesses")


@pytest.fixture(scope="module")
def direct(folder: Path) -> Run:
    """The run of acidtest itself on all suites of this page, with a model that abstains."""
    return api.run(
        Hasher(abstains=True), ["hans", "stress/spelling"], **RECIPE, output=folder / "direct", page=False
    ).run


@pytest.fixture(scope="module")
def lm_eval_results(folder: Path) -> dict[str, Any]:
    tasks = folder / "tasks"
    assert main(["export", "lm-eval", "-s", "hans,stress/spelling", "-o", str(tasks), "-q"]) == 0
    names = ["acidtest_hans", "acidtest_generate", "acidtest_control_generate"]
    return run_lm_eval(tasks, names, folder / "lm-eval", RECIPE)


@pytest.fixture(scope="module")
def inspect_logs(folder: Path) -> dict[str, Any]:
    output = folder / "inspect"
    return {
        "hans": run_inspect("acidtest/hans", output, **RECIPE),
        "spelling": run_inspect("acidtest/stress_spelling", output, **RECIPE),
        "control": run_inspect("acidtest/stress_spelling", output, **RECIPE, control=True),
    }


@pytest.fixture(scope="module")
def runs_of_logs(lm_eval_results: dict[str, Any], inspect_logs: dict[str, Any], folder: Path) -> dict[str, Finished]:
    """The runs that acidtest makes of both logs, by model."""
    finished = score_logs(folder / "lm-eval", output=folder / "back", page=False)
    finished += score_logs(folder / "inspect", output=folder / "back-inspect", page=False)
    return {done.run.header.model.name: done for done in finished}


def test_one_seed_asks_the_same_pairs_everywhere(
    direct: Run, lm_eval_results: dict[str, Any], inspect_logs: dict[str, Any], folder: Path
) -> None:
    ids = set(direct.lazy("hans").collect()["id"])
    (samples,) = (folder / "lm-eval").rglob("samples_acidtest_hans_2*.jsonl")
    assert {json.loads(line)["doc"]["id"] for line in samples.read_text(encoding="utf-8").splitlines()} == ids
    assert {sample.id for sample in inspect_logs["hans"].samples} == ids
    assert len(ids) == RECIPE["limit"]


def test_one_model_has_the_same_accuracy_everywhere(
    direct: Run, lm_eval_results: dict[str, Any], inspect_logs: dict[str, Any]
) -> None:
    expected = accuracies(direct, "hans")
    assert 0.1 < expected["unanswered"] < 0.4
    replies = {name.removesuffix(",none"): value for name, value in lm_eval_results["acidtest_hans_generate"].items()}
    assert {name: replies[name] for name in expected} == pytest.approx(expected)
    (score,) = inspect_logs["hans"].results.scores
    logged = {name: value.value for name, value in score.metrics.items()}
    assert logged["accuracy"] == pytest.approx(expected["acc"])
    assert logged["unanswered"] == pytest.approx(expected["unanswered"])
    for name, value in expected.items():
        if name.startswith("acc:"):
            assert logged[name.removeprefix("acc:")] == pytest.approx(value)


def test_likelihoods_of_answers_have_the_accuracy_of_labels(lm_eval_results: dict[str, Any], folder: Path) -> None:
    run = api.run(Hasher(abstains=False), ["hans"], **RECIPE, output=folder / "forced", page=False).run
    choices = {name.removesuffix(",none"): value for name, value in lm_eval_results["acidtest_hans"].items()}
    expected = accuracies(run, "hans")
    assert expected.pop("unanswered") == 0
    assert {name: choices[name] for name in expected} == pytest.approx(expected)
    # Contradiction is right where gold is non-entailment.
    assert expected["acc:label=non-entailment"] > 0.5


def test_standard_errors_are_those_of_groups(folder: Path) -> None:
    # Consistency keeps the rows of a pair together.
    log = run_inspect("acidtest/consistency", folder / "grouped", **RECIPE)
    (score,) = log.results.scores
    groups: dict[str, list[float]] = {}
    for sample in log.samples:
        (verdict,) = sample.scores.values()
        groups.setdefault(sample.metadata["group"], []).append(float(verdict.value == "C"))
    n = sum(map(len, groups.values()))
    mean = sum(map(sum, groups.values())) / n
    assert len(groups) < n
    # Miller (2024), "Adding error bars to evals", equation 4, with the correction for few groups g / (g − 1).
    variance = sum(sum(value - mean for value in values) ** 2 for values in groups.values()) / n**2
    expected = math.sqrt(variance * len(groups) / (len(groups) - 1))
    assert score.metrics["stderr"].value == pytest.approx(expected)


def test_both_logs_come_back_as_the_same_run(direct: Run, runs_of_logs: dict[str, Finished]) -> None:
    replies = "lm-eval:dummy/hasher (replies)"
    assert set(runs_of_logs) == {"lm-eval:dummy/hasher", replies, "inspect:mockllm/model"}
    columns = ["id", "label", "p_entailment", "p_neutral", "p_contradiction", "answer", "correct"]
    for suite in ("hans", "stress/spelling", "stress/spelling#control"):
        expected = direct.lazy(suite).collect().select(columns).sort("id")
        for name in (replies, "inspect:mockllm/model"):
            run = runs_of_logs[name].run
            assert run.lazy(suite).collect().select(columns).sort("id").equals(expected), (name, suite)
            assert run.header.suites[suite].signature == direct.header.suites[suite].signature


def test_studies_work_on_logs(
    runs_of_logs: dict[str, Finished], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = (str(runs_of_logs[name].folder) for name in ("lm-eval:dummy/hasher", "inspect:mockllm/model"))
    for words in (["compare", first, second], ["stress", second], ["errors", second, "-o", str(folder / "e.tsv")]):
        assert main([*words, "--json", "-q"]) == 0, words
        assert json.loads(capsys.readouterr().out)


def test_a_limit_of_the_harness_leaves_rows_out_and_missing_counts_them_wrong(
    inspect_logs: dict[str, Any], folder: Path, lm_eval_results: dict[str, Any]
) -> None:
    (samples,) = (folder / "lm-eval").rglob("samples_acidtest_hans_generate_*.jsonl")
    part = folder / samples.name
    part.write_text("".join(samples.read_text(encoding="utf-8").splitlines(keepends=True)[:20]), encoding="utf-8")
    (done,) = score_logs(part, output=folder / "part", page=False)
    assert done.run.header.suites["hans"].rows == 20
    (done,) = score_logs(part, output=folder / "part-missing", missing="unanswered", page=False)
    rows = done.run.lazy("hans").collect()
    assert rows.height == RECIPE["limit"]
    assert rows["p_neutral"].is_nan().sum() >= RECIPE["limit"] - 20


def test_a_log_that_broke_off_is_refused_unless_the_rest_counts_as_wrong(
    inspect_logs: dict[str, Any], folder: Path
) -> None:
    from inspect_ai.log import read_eval_log, write_eval_log

    log = read_eval_log(inspect_logs["hans"].location)
    log.status, log.samples = "error", (log.samples or [])[:12]
    write_eval_log(log, str(folder / "broken.eval"))
    with pytest.raises(
        FileError, match=r"broken\.eval: its status is error: 12 of 40 samples have scores; let Inspect"
    ):
        score_logs(folder / "broken.eval", output=folder / "broken", page=False)
    assert not (folder / "broken").exists()
    (done,) = score_logs(folder / "broken.eval", missing="unanswered", output=folder / "broken", page=False)
    assert done.run.lazy("hans").collect()["p_neutral"].is_nan().sum() >= 28


def test_a_slip_in_the_metadata_is_an_error_and_arguments_of_the_model_are_not() -> None:
    from acidtest.integrations.lm_eval import load_suite

    with pytest.raises(AcidtestError, match="metadata 'limt' is not an option of hans; did you mean 'limit'"):
        load_suite("hans", limt=60)
    harness = {"version": 1, "config_source": "x.yaml", "pretrained": "gpt2", "dtype": "float16", "tokenizer": "gpt2"}
    assert len(load_suite("hans", limit=30, **harness)["test"]) == 30


def test_a_log_in_json_and_one_without_scores_read_alike(inspect_logs: dict[str, Any], folder: Path) -> None:
    from inspect_ai.log import read_eval_log, write_eval_log

    from acidtest.models.harness_logs import read_inspect_log

    location = inspect_logs["hans"].location
    expected = read_inspect_log(Path(location))
    log = read_eval_log(location)
    write_eval_log(log, str(folder / "log.json"))
    for sample in log.samples or ():
        sample.scores = None
    write_eval_log(log, str(folder / "unscored.eval"))
    for name in ("log.json", "unscored.eval"):
        rows = read_inspect_log(folder / name).rows
        assert rows.keys() == expected.rows.keys()
        assert all(np.array_equal(row, expected.rows[name], equal_nan=True) for name, row in rows.items())


def test_files_for_inspect_ask_the_same_pairs(inspect_logs: dict[str, Any], folder: Path) -> None:
    words = ["-s", "hans", "--seed", "7", "--limit", "40", "-o", str(folder / "files"), "-q"]
    assert main(["export", "inspect", *words]) == 0
    log = run_inspect(f"{folder / 'files' / 'acidtest_tasks.py'}@hans", folder / "from-files")
    expected = inspect_logs["hans"]
    assert [sample.id for sample in log.samples] == [sample.id for sample in expected.samples]
    assert log.results.scores[0].metrics == expected.results.scores[0].metrics
    assert log.eval.metadata == expected.eval.metadata


def test_every_suite_is_a_task_of_inspect_under_its_entry_point() -> None:
    import importlib
    import tomllib

    from inspect_ai._util.registry import registry_info, registry_lookup

    from acidtest.suites.catalogue import SUITES

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module = importlib.import_module(project["entry-points"]["inspect_ai"]["acidtest"])
    for suite in SUITES:
        task = registry_lookup("task", f"acidtest/{module.plain_task_name(suite)}")
        assert task, suite
        assert {"seed", "limit", *SUITES[suite].options} <= set(registry_info(task).metadata["params"])


def test_a_foreign_archive_is_refused(folder: Path) -> None:
    path = folder / "other.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", '{"status": "success", "eval": {"task": "mmlu", "model": "m"}}')
    with pytest.raises(FileError, match=r"other\.eval: is the log of 'mmlu', which is no task of acidtest's"):
        score_logs(path)
