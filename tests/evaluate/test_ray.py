from __future__ import annotations

import importlib.util
import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from acidtest import api
from acidtest.core.errors import AcidtestError
from acidtest.core.model import complete_model
from acidtest.evaluate.answers import Batch
from acidtest.evaluate.ray import Cluster, PartResult
from acidtest.evaluate.runner import Asker
from acidtest.io.rows import memory_rows
from acidtest.suites.catalogue import SUITES, Request
from acidtest.workflows.clusters import ModelRecipe, RayEngine, suite_recipe

# Ray's own code warns of its own code; pytest would make errors of that.
pytestmark = pytest.mark.filterwarnings("ignore")

ROW_LOCAL = ("stress/ladder", "stress/length-mismatch", "stress/negation", "stress/spelling", "stress/word-overlap")

LABELLER = """
import hashlib, os, signal
from pathlib import Path

def labels(premises, hypotheses):
    for note in Path().glob("kill-*"):
        if labels.asked:
            note.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
    labels.asked += 1
    return [["entailment", "neutral", "contradiction"][hashlib.md5((p + h).encode()).digest()[0] % 3]
            for p, h in zip(premises, hypotheses)]

labels.asked = 0
labels.batch_size = 50
"""

UNSURE = """
def unsure(premises, hypotheses):
    return [[float("nan") if "Ray" in premise else 0.2, 0.5, 0.3] for premise in premises]
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """A cluster of two workers; runs use the one their process is connected to."""
    if importlib.util.find_spec("ray") is None:
        pytest.skip("Ray is not installed (pip install 'acidtest[ray]')")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    import ray

    ray.init(
        address="local",
        num_cpus=2,
        # There are none: Ray takes our word for it.
        num_gpus=2,
        include_dashboard=False,
        log_to_driver=False,
        logging_level=logging.FATAL,
        object_store_memory=160 << 20,
    )
    yield
    ray.shutdown()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with models of the user's own, and this process in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("labeller", "unsure"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    (tmp_path / "labeller.py").write_text(LABELLER, encoding="utf-8")
    (tmp_path / "unsure.py").write_text(UNSURE, encoding="utf-8")
    return tmp_path


def pairs(path: Path, premises: list[str]) -> Path:
    rows = [{"premise": text, "hypothesis": f"{text} again", "label": "entailment"} for text in premises]
    pl.DataFrame(rows).write_ndjson(path)
    return path


def same(one: api.Finished, other: api.Finished) -> bool:
    """Whether two runs give the same bytes, but for their names."""
    files = ("predictions.parquet", "results.json")
    return all((one.folder / name).read_bytes() == (other.folder / name).read_bytes() for name in files)


def test_a_worker_that_is_killed_is_replaced_and_the_run_comes_out_as_here(cluster: None, folder: Path) -> None:
    suites = ["stress/negation"]
    local = api.run("python:labeller:labels", suites, output="local")
    (folder / "kill-one").touch()
    there = api.run("python:labeller:labels", suites, output="ray", engine="ray")
    assert not list(folder.glob("kill-*")), "nobody was killed"
    assert same(local, there)
    # The workers found out that the model gives labels only.
    assert there.results["model"]["probabilities"] is False


def test_what_workers_used_up_is_added_up(cluster: None, folder: Path) -> None:
    corpus = pairs(folder / "long.jsonl", [f"{number} men walk. " * 150 for number in range(40)])
    local, there = (
        api.run("baseline:overlap", [str(corpus)], output=engine, engine=engine, premise="chunks", batch_size=4)
        for engine in ("local", "ray")
    )
    assert same(local, there)
    assert local.run.header.usage["chunked pairs"] == 40
    for name in ("pairs", "chunked pairs", "chunks"):
        assert there.run.header.usage[name] == local.run.header.usage[name]


class Telling:
    """A worker that tells which GPUs it was given."""

    def process(self, part: pl.DataFrame) -> pl.DataFrame:
        return part.select(pl.col("number") * 2)

    def status(self) -> dict[str, str]:
        return {"gpus": os.environ.get("CUDA_VISIBLE_DEVICES", "")}


def test_workers_take_a_gpu_each_and_parts_keep_their_order(cluster: None) -> None:
    import ray.cloudpickle

    # Workers cannot import this module.
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    parts = [pl.DataFrame({"number": [number] * 5_000}) for number in range(12)]
    made = list(Cluster(gpus=True).map(parts, Telling, ordered=True))
    assert [result.rows["number"][0] for result in made] == [2 * number for number in range(12)]
    assert {result.status["gpus"] for result in made} <= {"0", "1"}


def test_a_mistake_in_a_worker_is_raised_here(cluster: None, folder: Path) -> None:
    corpus = pairs(folder / "odd.jsonl", ["Ray sleeps.", "Ann sleeps."])
    messages = []
    for engine in ("local", "ray"):
        with pytest.raises(AcidtestError) as error:
            api.run("python:unsure:unsure", [str(corpus)], output=engine, engine=engine)
        messages.append(str(error.value))
    assert messages[0] == messages[1]
    assert messages[0].startswith("model 'python:unsure:unsure' gave NaN for 1 of 2 pairs, first nan, 0.5, 0.3 for row")


def test_a_suite_made_on_ray_in_parts_is_the_one_made_here(cluster: None, folder: Path) -> None:
    here = api.generate("stress/spelling", n=700)
    made = api.generate("stress/spelling", n=700, engine="ray")
    assert made.card == here.card
    assert made.frame.collect().equals(here.frame.collect())
    written = api.save(made, folder / "suite", parted=True)
    assert written == [folder / "suite", folder / "suite.card.json"]
    assert sorted(path.name for path in (folder / "suite" / "data").iterdir()) == [
        "control-00000-of-00001.parquet",
        "test-00000-of-00001.parquet",
    ]
    again = api.load(folder / "suite")
    assert again.card == here.card
    assert again.control is not None
    assert again.control.card == here.control.card  # type: ignore[union-attr]


@pytest.mark.parametrize("name", ROW_LOCAL)
def test_parts_of_a_corpus_give_parts_of_a_row_local_suite(name: str) -> None:
    request = Request(n=90, seed=3)
    generator = SUITES[name]
    whole = generator.make(request)
    assert whole.control is not None
    worker = suite_recipe(generator, request, {}, whole)()
    # Parts of unlike sizes, the last without a row.
    corpus = whole.control.frame.collect()
    made = [worker.process(corpus[start:stop]) for start, stop in ((0, 1), (1, 40), (40, 90), (90, 90))]
    parted = replace(whole, frame=memory_rows(pl.concat(made)).lazy()).sealed()
    assert parted.card.rows >= 90
    assert parted.card == whole.sealed().card


def test_the_suites_that_go_to_ray_are_those_tested() -> None:
    assert tuple(name for name in SUITES if SUITES[name].row_local) == ROW_LOCAL


def test_a_suite_that_needs_its_corpus_whole_is_refused() -> None:
    pytest.importorskip("ray")
    with pytest.raises(AcidtestError, match=r"'stress/antonymy' needs its whole corpus at once.*stress/spelling"):
        api.generate("stress/antonymy", engine="ray")


def test_a_model_that_no_worker_can_make_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    with pytest.raises(AcidtestError, match="was given as an object"):
        api.run(lambda premises, _: ["neutral"] * len(premises), ["hans"], output=tmp_path, engine="ray")


def test_an_engine_there_is_not_and_an_address_without_ray_are_refused(tmp_path: Path) -> None:
    with pytest.raises(AcidtestError, match="no engine called 'rya'; did you mean 'ray'"):
        api.run(engine="rya", output=tmp_path)
    with pytest.raises(AcidtestError, match="needs --engine ray"):
        api.run(address="auto", output=tmp_path)


def test_where_no_cluster_answers_the_message_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pytest.importorskip("ray"), "is_initialized", lambda: False)
    # Port 1 is nobody's.
    message = r"no Ray cluster can be used at '127.0.0.1:1' \(.*refused.*leave --address out"
    parts = Cluster("127.0.0.1:1").map([pl.DataFrame({"a": [1]})], lambda: None)  # type: ignore[arg-type,return-value]
    with pytest.raises(AcidtestError, match=message):
        next(parts)


def test_without_ray_the_message_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(AcidtestError, match=r"pip install 'acidtest\[ray\]'"):
        api.run(engine="ray", output=tmp_path)


def test_a_finished_run_is_read_back_without_a_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    first = api.run("baseline:overlap", ["stress/negation"], output=tmp_path / "run")
    monkeypatch.setattr("acidtest.evaluate.ray.Cluster.map", None)
    again = api.run("baseline:overlap", ["stress/negation"], output=tmp_path / "run", engine="ray")
    assert not again.fresh
    assert again.results == first.results


def test_on_the_command_line_ray_says_nothing_of_its_own(folder: Path) -> None:
    pytest.importorskip("ray")
    command = [sys.executable, "-m", "acidtest", "generate", "stress/negation", "--engine", "ray", "-o", "made"]
    found = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    assert found.stderr in ("", "connecting to Ray (local) …\n")
    card = json.loads(found.stdout)["card"]
    assert card["fingerprint"] == api.generate("stress/negation").card.fingerprint


@dataclass
class OneWorker:
    """A cluster whose only worker answers neutral, and has loaded code that its fingerprint does not cover."""

    def map(self, parts: Iterator[pl.DataFrame], recipe: object) -> Iterator[PartResult]:
        status = {"usage": {}, "probabilities": True, "resolution": "two-way", "fingerprint": None}
        for part in parts:
            answers = {"_entailment": 0.0, "_neutral": 1.0, "_contradiction": 0.0, "_truncated": False}
            yield PartResult(
                part.with_columns(pl.lit(value).alias(name) for name, value in answers.items()), "one", status
            )


def test_a_worker_that_loads_code_unseen_costs_the_model_its_fingerprint() -> None:
    model = complete_model(SimpleNamespace(predict=len, fingerprint="of its code"))
    batch = Batch(0, pl.DataFrame({"_id": ["1"], "premise": ["a"], "hypothesis": ["b"]}), np.zeros(1, np.uint64))
    engine = RayEngine(ModelRecipe("python:their:predict"), OneWorker())  # type: ignore[arg-type]
    ((_, answered),) = engine([batch], Asker(model))
    assert answered.values.tolist() == [[0, 1, 0]]
    assert (model.fingerprint, model.resolution) == (None, "two-way")
