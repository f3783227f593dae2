"""The page and the evaluation of a suite's folder, read by the programs of the hub and by Inspect."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from acidtest import api
from acidtest.core.suite import Card
from acidtest.suites.dataset_cards import dataset_page, earlier_page, evaluation_yaml

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")


def evaluation(card: Card) -> dict[str, Any]:
    text = evaluation_yaml(card)
    assert text is not None
    task: dict[str, Any] = yaml.safe_load(text)["tasks"][0]
    return task


def test_the_hub_reads_the_page_of_a_folder(tmp_path: Path) -> None:
    hub = pytest.importorskip("huggingface_hub", reason="huggingface_hub is not installed")
    api.save(api.generate("stress/negation", n=30), tmp_path / "negation")
    header = hub.DatasetCard.load(tmp_path / "negation" / "README.md").data
    assert header.license == "apache-2.0"
    assert header.task_ids == ["natural-language-inference"]
    assert header.size_categories == ["n<1K"]
    files = header.to_dict()["configs"][0]["data_files"]
    assert [(file["split"], file["path"]) for file in files] == [
        ("test", "data/test.parquet"),
        ("control", "data/control.parquet"),
    ]


def test_inspect_reads_the_evaluation_of_a_folder(tmp_path: Path) -> None:
    hf = pytest.importorskip("inspect_ai._eval.task.hf", reason="Inspect is not installed")
    suite = api.generate("hans", n=1)
    api.save(suite, tmp_path / "hans")
    task = hf.HFTask.model_validate(yaml.safe_load((tmp_path / "hans" / "eval.yaml").read_text("utf-8"))["tasks"][0])
    row = suite.frame.collect().row(0, named=True)
    sample = hf._record_to_sample_hf(row, task.field_spec)
    assert (sample.input, sample.target) == (row["hypothesis"], row["label"])
    assert sample.metadata["premise"] == row["premise"]
    assert sample.metadata["subcase"] == row["subcase"]


@pytest.mark.parametrize(
    ("labels", "reply", "answer"),
    [
        ({"entailment": 1, "non-entailment": 1}, "It is a non-entailment.", "non-entailment"),
        ({"entailment": 1, "non-entailment": 1}, "entailment", "entailment"),
        ({"neutral": 1}, "Answer: neutral", "neutral"),
        ({"entailment": 1, "contradiction": 1}, "contradiction, not neutral", "contradiction"),
    ],
)
def test_the_answer_is_read_from_a_reply(labels: dict[str, int], reply: str, answer: str) -> None:
    pattern = evaluation(Card("toy", rows=2, labels=labels))["scorers"][0]["args"]["pattern"]
    match = re.search(pattern, reply)
    assert match
    assert match[1] == answer


def test_a_question_offers_two_labels_where_gold_is_two_way() -> None:
    def question(*labels: str) -> str:
        solvers = evaluation(Card("toy", rows=2, labels=dict.fromkeys(labels, 1)))["solvers"]
        return str(solvers[0]["args"]["template"])

    assert question("non-entailment").endswith("entailment or non-entailment.")
    assert question("entailment").endswith("entailment, neutral or contradiction.")


def test_gold_that_no_single_answer_equals_has_no_evaluation() -> None:
    assert evaluation_yaml(Card("toy", rows=2, labels={"any": 1, "non-entailment": 1})) is None
    assert evaluation_yaml(Card("toy", rows=2, labels={"neutral": 1, "non-entailment": 1})) is None


@pytest.mark.parametrize(("licence", "name"), [("MIT", "mit"), ("OANC, see source", "other"), ("", "unknown")])
def test_a_licence_is_called_as_on_the_hub(licence: str, name: str) -> None:
    page = dataset_page(Card("toy", licence=licence), ["test"], parted=False)
    assert yaml.safe_load(page.split("---\n")[1])["license"] == name


def test_any_text_survives_the_header() -> None:
    name = "a: \"quoted\" \\ name # with\ttabs,\u2028\x85 'signs' and — 東京"
    page = dataset_page(Card(name), ["test"], parted=False)
    assert yaml.safe_load(page.split("---\n")[1])["pretty_name"] == name


def test_a_folder_of_an_earlier_version_is_written_anew_and_a_changed_evaluation_is_not(tmp_path: Path) -> None:
    suite = api.generate("hans", n=1)
    api.save(suite, tmp_path / "hans")
    (tmp_path / "hans" / "eval.yaml").unlink()
    (tmp_path / "hans" / "README.md").write_text(earlier_page(suite.card, ["test"], parted=False), encoding="utf-8")
    api.save(suite, tmp_path / "hans")
    (tmp_path / "hans" / "eval.yaml").write_text("name: mine\n", encoding="utf-8")
    with pytest.raises(api.AcidtestError, match=r"eval\.yaml: was not written by acidtest, or was changed since"):
        api.save(suite, tmp_path / "hans")
