"""The papers' experiments, small: what is trained on, what is asked, what is not done twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from acidtest import api
from acidtest.analysis.experiments_results import Experiment, papers
from acidtest.api import experiments
from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.sources.starter import starter_pairs

pytest.importorskip("torch")
pytest.importorskip("safetensors")

Wished = Callable[..., api.Wish]


@pytest.fixture
def wish(tmp_path: Path) -> Wished:
    """A wish for a tiny network on the starter corpus."""
    api.save(starter_pairs(), tmp_path / "starter.parquet")

    def wished(**changes: Any) -> api.Wish:
        told: dict[str, Any] = {
            "train": [tmp_path / "starter.parquet"],
            "architectures": ["cbow:"],
            "output": tmp_path / "out",
            "n": 4,
            "augment_n": 30,
            "recipe": {"epochs": 1},
            "settings": {"dimensions": 16, "device": "cpu"},
            **changes,
        }
        return api.Wish(**told)

    return wished


def pairs(path: Path) -> pl.DataFrame:
    return api.load(path).frame.collect()


def value(found: Experiment, column: str, arm: str) -> float:
    (cell,) = [each for each in found.cells if each.column == column and each.arm == arm]
    return cell.value.value


def test_augmentation_teaches_what_the_training_pairs_do_not_with_pairs_that_are_not_tested(wish: Wished) -> None:
    asked = wish(n=20, augment_n=60, recipe={"epochs": 5, "learning_rate": 3e-3})
    found = api.experiment("augmentation", asked)
    data = Path(asked.output) / "data"
    added, tested = pairs(data / "hans-like.parquet"), pairs(data / "test-hans.parquet")
    assert added["subcase"].value_counts()["count"].unique().to_list() == [60]
    assert tested["subcase"].value_counts()["count"].unique().to_list() == [20]
    assert added.join(tested, on=["premise", "hypothesis"], how="semi").height == 0
    assert added["premise_binary_parse"].null_count() == 0
    assert "none of which is tested" in found.notes[0]
    # Words such as "if" and "probably" tell a bag of words that a clause is not entailed.
    assert value(found, "const., ↛", "with HANS-like pairs") > 0.8
    (change,) = [each for each in found.changes if each.column == "const., ↛"]
    assert change.value.low > 0.1
    assert change.p_adjusted < 0.05
    assert [arm.pairs for arm in found.arms.values()] == [816, 816 + 1800]


def test_what_is_finished_is_not_done_again_and_seeds_and_networks_can_be_added(
    wish: Wished, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = api.experiment("augmentation", wish())
    trained, asked = list[tuple[str, tuple[int, ...]]](), list[str]()
    train, run = experiments.train, experiments.run

    def counted_train(name: str, *rest: Any, **options: Any) -> Any:
        trained.append((name, tuple(options["seeds"])))
        return train(name, *rest, **options)

    def counted_run(model: str, *rest: Any, **options: Any) -> Any:
        asked.append(model)
        return run(model, *rest, **options)

    monkeypatch.setattr(experiments, "train", counted_train)
    monkeypatch.setattr(experiments, "run", counted_run)
    again = api.experiment("augmentation", wish())
    assert (trained, asked) == ([], [])
    assert again.cells == first.cells
    more = api.experiment("augmentation", wish(seeds=(0, 1)))
    assert trained == [("cbow", (1,))] * 2
    assert len(asked) == 2
    assert [list(cell.seeds) for cell in more.cells] == [[0, 1]] * len(more.cells)
    assert more.cells[0].seeds[0] == first.cells[0].value


def test_a_training_that_was_stopped_before_it_was_asked_is_gone_on_with(
    wish: Wished, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(experiments, "run", stopped)
        with pytest.raises(KeyboardInterrupt):
            api.experiment("merged-labels", wish())
    folder = Path(wish().output)
    assert not (folder / "experiment.json").exists()
    weights = sorted(folder.glob("arms/merged-after-training/cbow/seed-0/*.safetensors"))
    before = [path.read_bytes() for path in weights]
    assert before
    api.experiment("merged-labels", wish())
    assert [path.read_bytes() for path in weights] == before
    assert (folder / "experiment.json").exists()


def test_a_fold_is_withheld_from_what_is_added_and_alone_is_told(wish: Wished) -> None:
    asked = wish(folds=(3,), baseline=False)
    found = api.experiment("withheld", asked)
    fold = papers()["withheld"].folds[2]["subcases"]
    added = pairs(Path(asked.output) / "data" / "hans-like-without-fold-3.parquet")
    assert not set(fold) & set(added["subcase"])
    assert added["subcase"].n_unique() == 24
    assert [cell.column for cell in found.cells] == fold
    assert found.changes == ()
    assert list(found.arms) == ["fold 3 withheld"]


def test_labels_merged_before_training_make_a_network_of_two(wish: Wished) -> None:
    asked = wish(tests=[wish().train[0]])
    found = api.experiment("merged-labels", asked)
    folder = Path(asked.output) / "arms"
    told = [
        json.loads((folder / arm / "cbow" / "seed-0" / "tests" / "run.json").read_text())["model"]["resolution"]
        for arm in ("merged-after-training", "merged-before-training")
    ]
    assert told == ["three-way", "two-way"]
    # One column of a user's own pairs is scored by two labels in both arms.
    assert {cell.column for cell in found.cells if cell.value.n == 816} == {"starter"}
    assert "two labels" in found.notes[0]


def test_the_distraction_is_after_every_hypothesis_and_another_one_is_tested(wish: Wished) -> None:
    asked = wish(tests=[wish().train[0]], n=100)
    found = api.experiment("distraction", asked)
    data = Path(asked.output) / "data"
    copies = pairs(data / "distracted-starter.parquet")
    assert copies.height == 816
    assert copies["hypothesis"].str.contains("and false is not true").all()
    other = pairs(data / "test-starter-green.parquet")
    assert other.height == 100
    assert other["hypothesis"].str.contains("and green is not red").all()
    assert [column.name for column in found.blocks[0].columns] == ["untouched", "negation", "different tautology"]
    assert {cell.value.n for cell in found.cells} == {100}
    assert list(found.arms.values())[1].pairs == 2 * 816


def test_mixes_add_each_corpus_to_the_first_alone(wish: Wished, tmp_path: Path) -> None:
    api.save(starter_pairs(), tmp_path / "more.parquet")
    asked = wish(tests=[wish().train[0]], additions={"SciTail": [tmp_path / "more.parquet"]}, n=100)
    found = api.experiment("training-mixes", asked)
    assert list(found.arms) == ["training pairs alone", "SciTail added"]
    assert found.arms["SciTail added"].condition == "trained on SciTail + SNLI"
    own = [value(found, column, "SciTail added") for column in ("starter", "lexical", "∆")]
    assert own[2] == pytest.approx(own[1] - own[0])
    assert {change.column for change in found.changes} == {"starter", "lexical"}


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("withheld", {"folds": (6,)}, "--fold is a number from 1 to 5, not 6"),
        ("augmentation", {"folds": (1,)}, "--fold is an option of withheld"),
        ("augmentation", {"additions": {"SciTail": ["x"]}}, "--add is an option of training-mixes"),
        ("augmentation", {"architectures": ["cbow:mccoy2020"]}, "no preset of cbow called 'mccoy2020'"),
        ("augmentation", {"architectures": ["cbow", "cbow"]}, "named twice"),
        ("augmentation", {"arguments": {"colour": "red"}}, "none of the architectures has an option --colour"),
        ("distraction", {}, "name their files with --test"),
        ("training-mixes", {}, "--add MultiNLI=FILE"),
        ("augmentation", {"dev": "nowhere.jsonl"}, "nowhere.jsonl: there is no such file"),
        ("augmentation", {"suite": "stress/negation", "words": "published"}, "words"),
    ],
)
def test_a_wish_that_cannot_be_met_is_told_before_anything_is_trained(
    wish: Wished, name: str, changes: dict[str, Any], message: str
) -> None:
    asked = wish(**changes)
    with pytest.raises(AcidtestError, match=message):
        api.experiment(name, asked)
    assert not (Path(asked.output) / "arms").exists()


def test_a_mistake_can_be_mended_in_the_same_folder_until_something_is_trained(wish: Wished) -> None:
    with pytest.raises(AcidtestError, match="--test"):
        api.experiment("distraction", wish())
    api.experiment("withheld", wish(folds=(1,), baseline=False))
    with pytest.raises(AcidtestError, match=r"holds another experiment \(n differ\)"):
        api.experiment("withheld", wish(n=5, folds=(1,), baseline=False))
    with pytest.raises(AcidtestError, match="holds another experiment"):
        api.experiment("augmentation", wish())


def test_an_unknown_experiment_is_told_with_those_there_are(wish: Wished) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'augmentation'"):
        api.experiment("augmentatoin", wish())
