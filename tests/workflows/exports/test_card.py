"""Results for the hub, read by huggingface_hub's own parsers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import acidtest
from acidtest.core.errors import AcidtestError, FileError
from acidtest.workflows.exports.card import card

hub = pytest.importorskip("huggingface_hub", reason="huggingface_hub is not installed: pip install 'acidtest[hf]'")
yaml = pytest.importorskip("yaml", reason="PyYAML, which huggingface_hub brings, is not installed")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a model that always answers entailment: right on half of HANS and on a third of the numbers."""

    def entailed(premises: list[str], hypotheses: list[str]) -> np.ndarray:
        return np.tile(np.array([1, 0, 0], dtype=np.float32), (len(premises), 1))

    folder = tmp_path_factory.mktemp("run") / "entailed"
    suites = [acidtest.generate("hans", n=10), acidtest.generate("stress/numerical", n=10)]
    acidtest.run(entailed, suites, output=folder, page=False)
    return folder


def test_the_hub_reads_an_entry_for_each_suite(run: Path) -> None:
    written = card(run, source_url="https://example.org/report.html")
    entries = hub.parse_eval_result_entries(yaml.safe_load(written.files[0].read_text(encoding="utf-8")))
    assert [(entry.dataset_id, entry.task_id, entry.value) for entry in entries] == [
        ("acidtest/hans", "hans", 0.5),
        ("acidtest/stress-numerical", "stress-numerical", 0.3333),
    ]
    assert entries[0].date == acidtest.finished_run(run).run.header.finished
    # The Wilson interval of 150 of 300 is 0.5 ± 0.0562 (closed form).
    assert entries[0].notes.startswith(
        "accuracy, 95 % interval 0.4438 to 0.5562, n = 300; hans|v:4|words:fresh|seed:0|"
    )
    assert entries[0].source_url == "https://example.org/report.html"


def test_the_hub_reads_the_model_index_of_a_new_readme(run: Path) -> None:
    written = card(run, dataset="me/suites-{suite}")
    assert [path.relative_to(run / "card").as_posix() for path in written.files] == [
        ".eval_results/acidtest.yaml",
        "README.md",
    ]
    page = hub.ModelCard.load(written.files[1])
    assert page.data.model_name == "entailed"
    assert {result.dataset_type for result in page.data.eval_results} == {
        "me/suites-hans",
        "me/suites-stress-numerical",
    }
    shown = sorted((result.dataset_name, result.metric_name, result.metric_value) for result in page.data.eval_results)
    assert shown == [
        ("acidtest hans", "accuracy", 0.5),
        ("acidtest hans", "accuracy where gold is entailment", 1.0),
        ("acidtest hans", "accuracy where gold is non-entailment", 0.0),
        ("acidtest stress/numerical", "accuracy", 0.3333),
    ]
    assert "| hans | 50.0 | 44.4–55.6 | 300 |" in page.text


def test_a_readme_that_is_there_keeps_all_but_our_model_index(run: Path, tmp_path: Path) -> None:
    before, after = "---\nlicense: mit # mine\ntags: [a]\n", "---\n# My model\n\n---\n\nText.\n"
    (tmp_path / "README.md").write_text(before + after, encoding="utf-8")
    card(run, output=tmp_path, dataset="me/first-{suite}")
    card(run, output=tmp_path, dataset="me/second-{suite}")
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert text.startswith(before)
    assert text.endswith(after)
    assert "me/first" not in text
    assert hub.ModelCard(text).data.eval_results[0].dataset_type == "me/second-hans"


def test_results_of_somebody_else_are_not_replaced(run: Path, tmp_path: Path) -> None:
    text = "---\nmodel-index:\n- name: theirs\n  results: []\n---\n"
    (tmp_path / "README.md").write_text(text, encoding="utf-8")
    with pytest.raises(FileError, match=r"README\.md: has a model-index that acidtest did not write; remove it"):
        card(run, output=tmp_path)
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == text
    assert not (tmp_path / ".eval_results").exists()
    (tmp_path / "README.md").unlink()
    (tmp_path / ".eval_results").mkdir()
    (tmp_path / ".eval_results" / "acidtest.yaml").write_text("- mine", encoding="utf-8")
    with pytest.raises(FileError, match=r"acidtest\.yaml: exists and was not written by acidtest"):
        card(run, output=tmp_path)
    assert not (tmp_path / "README.md").exists()


def test_a_data_set_without_an_owner_is_refused(run: Path) -> None:
    with pytest.raises(AcidtestError, match=r"--dataset 'hans' is not OWNER/NAME, such as me/acidtest-\{suite\}"):
        card(run, dataset="hans")


def test_one_data_set_for_several_suites_is_refused(run: Path, tmp_path: Path) -> None:
    with pytest.raises(AcidtestError, match=r"--dataset 'me/x' names one data set for 2 suites; write me/x-\{suite\}"):
        card(run, output=tmp_path, dataset="me/x")
    assert not list(tmp_path.iterdir())


def test_suites_in_which_every_answer_can_be_right_are_left_out(tmp_path: Path) -> None:
    acidtest.run("baseline:overlap", ["hans", "premises"], limit=60, output=tmp_path / "run", page=False)
    written = card(tmp_path / "run", dataset="me/hans")
    assert [entry["dataset"]["task_id"] for entry in written.entries] == ["hans"]
    assert "premises" not in written.files[1].read_text(encoding="utf-8")
    assert "left out premises: every answer is right on some of its pairs" in written.describe()
    acidtest.run("baseline:overlap", "premises", limit=60, output=tmp_path / "only", page=False)
    with pytest.raises(AcidtestError, match="no accuracy to write: every answer is right on some pairs of premises"):
        card(tmp_path / "only")
