"""The papers' experiments, small: what is trained on, what is asked, what is not done twice."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from acidtest import api
from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.labels import LABELS
from acidtest.core.run import Run
from acidtest.core.suite import Suite
from acidtest.io.wordlists import starter_pairs
from acidtest.studies.experiments import Arm, ExperimentResult, ResultColumn, papers
from acidtest.workflows import experiments
from acidtest.workflows.experiments import DESIGNS, Design, Workbench

pytest.importorskip("torch")
pytest.importorskip("safetensors")

MakeOptions = Callable[..., api.ExperimentOptions]
SETTINGS = {"dimensions": 8, "device": "cpu"}


@pytest.fixture(scope="module", autouse=True)
def _without_pictures() -> Iterator[None]:
    """Curves are drawn, and tested, elsewhere."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("acidtest.workflows.training.records.draw_curves", lambda *_: None)
        yield


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every fifth pair of the starter corpus as a file."""
    path = tmp_path_factory.mktemp("corpus") / "few.parquet"
    api.save(few(starter_pairs(), 5), path)
    return path


@pytest.fixture(scope="module")
def augmented(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[api.ExperimentOptions, ExperimentResult]:
    """One augmentation, trained once for all tests that only look at it or go on from a copy."""
    asked = api.ExperimentOptions(
        [corpus],
        ["cbow:"],
        tmp_path_factory.mktemp("augmented") / "out",
        n=10,
        augment_n=30,
        recipe={"epochs": 4, "learning_rate": 1e-2},
        settings=SETTINGS,
    )
    return asked, api.experiment("augmentation", asked)


@pytest.fixture
def wish(corpus: Path, tmp_path: Path) -> MakeOptions:
    """A wish for a tiny network."""

    def wished(**changes: Any) -> api.ExperimentOptions:
        told: dict[str, Any] = {
            "train": [corpus],
            "architectures": ["cbow:"],
            "output": tmp_path / "out",
            "n": 2,
            "augment_n": 10,
            "recipe": {"epochs": 1},
            "settings": SETTINGS,
            **changes,
        }
        return api.ExperimentOptions(**told)

    return wished


def few(suite: Suite, every: int) -> Suite:
    return replace(suite, frame=suite.frame.gather_every(every)).sealed()


def design(name: str, asked: api.ExperimentOptions) -> Design:
    """What would be trained and asked."""
    return DESIGNS[name](Workbench(asked, papers()[name]))


def columns(found: Design) -> dict[str, ResultColumn]:
    return {column.name: column for table in found.tables for column in table.columns}


def jsonl(path: Path, premise: str, count: int, names: tuple[str, ...] = ("premise", "hypothesis", "label")) -> Path:
    """A file of pairs, each with its own premise."""
    labels = ("entailment", "neutral", "contradiction")
    rows = [(f"{premise} {number}.", "Somebody moves.", labels[number % 3]) for number in range(count)]
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows), encoding="utf-8")
    return path


def pairs(path: Path) -> pl.DataFrame:
    return api.load(path).frame.collect()


def arm_of(found: ExperimentResult, name: str) -> Arm:
    return next(arm for arm in found.arms if arm.name == name)


def value(found: ExperimentResult, column: str, arm: str) -> float:
    (cell,) = [each for each in found.scores if each.column == column and each.arm == arm]
    return cell.value.value


def test_augmentation_teaches_what_the_training_pairs_do_not_with_pairs_that_are_not_tested(
    augmented: tuple[api.ExperimentOptions, ExperimentResult],
) -> None:
    asked, found = augmented
    data = Path(asked.output) / "data"
    added, tested = pairs(data / "hans-like.parquet"), pairs(data / "test-hans.parquet")
    assert added["subcase"].value_counts()["count"].unique().to_list() == [30]
    assert tested["subcase"].value_counts()["count"].unique().to_list() == [10]
    assert added.join(tested, on=["premise", "hypothesis"], how="semi").height == 0
    assert added["premise_binary_parse"].null_count() == 0
    assert "none of which is tested" in found.notes[0]
    # Words such as "if" and "probably" tell a bag of words that a clause is not entailed.
    assert value(found, "const., ↛", "with HANS-like pairs") > 0.8
    assert value(found, "const., →", "with HANS-like pairs") > 0.8
    (change,) = [each for each in found.differences if each.column == "const., →"]
    assert change.value.low > 0.1
    assert change.p_adjusted < 0.05
    assert [arm.pairs for arm in found.arms] == [164, 164 + 900]


@pytest.fixture
def copied(augmented: tuple[api.ExperimentOptions, ExperimentResult], tmp_path: Path) -> api.ExperimentOptions:
    """The wish for the experiment that is trained already, in a copy of its folder, with files of its own."""
    asked = augmented[0]
    shutil.copytree(asked.output, tmp_path / "copy")
    for path in Path(asked.train[0]).parent.iterdir():
        shutil.copy(path, tmp_path / path.name)
    return replace(asked, output=tmp_path / "copy", train=[tmp_path / Path(asked.train[0]).name])


def test_what_is_finished_is_not_done_again_and_seeds_can_be_added(
    augmented: tuple[api.ExperimentOptions, ExperimentResult],
    copied: api.ExperimentOptions,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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
    first = augmented[1]
    # The same pairs in another folder are the same pairs.
    again = api.experiment("augmentation", copied)
    assert (trained, asked) == ([], [])
    assert again.scores == first.scores
    more = api.experiment("augmentation", replace(copied, seeds=(0, 1)))
    assert trained == [("cbow", (1,))] * 2
    assert len(asked) == 2
    assert [list(cell.seeds) for cell in more.scores] == [[0, 1]] * len(more.scores)
    assert more.scores[0].seeds[0] == first.scores[0].value


def test_a_file_that_was_changed_is_another_experiment_though_its_size_is_the_same(
    copied: api.ExperimentOptions,
) -> None:
    path = Path(copied.train[0])
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(AcidtestError, match=r"holds another experiment \(train differ"):
        api.experiment("augmentation", copied)


def test_a_preset_that_was_changed_or_another_version_is_another_experiment(
    copied: api.ExperimentOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("acidtest.workflows.experiments.__version__", "0.0.1")
        with pytest.raises(AcidtestError, match=r"\(acidtest differs?"):
            api.experiment("augmentation", copied)
    plan_training = experiments.plan_training

    def another(*rest: Any, **options: Any) -> Any:
        found = plan_training(*rest, **options)
        return replace(found, recipe=replace(found.recipe, batch_size=7))

    monkeypatch.setattr(experiments, "plan_training", another)
    with pytest.raises(AcidtestError, match=r"\(networks differ"):
        api.experiment("augmentation", copied)


def test_a_fold_is_withheld_from_what_is_added_and_alone_is_told(wish: MakeOptions) -> None:
    # A mistake can be mended in the same folder until something is trained.
    with pytest.raises(AcidtestError, match="--test"):
        api.experiment("distraction", wish())
    asked = wish(folds=(3,), baseline=False)
    found = api.experiment("withheld", asked)
    fold = papers()["withheld"].folds[2]["subcases"]
    added = pairs(Path(asked.output) / "data" / "hans-like-without-fold-3.parquet")
    assert not set(fold) & set(added["subcase"])
    assert added["subcase"].n_unique() == 24
    assert [cell.column for cell in found.scores] == fold
    assert found.differences == ()
    assert [arm.name for arm in found.arms] == ["fold 3 withheld"]
    assert arm_of(found, "fold 3 withheld").pairs == pairs(Path(asked.train[0])).height + 24 * 10
    assert "300 HANS-like pairs (seed 1) were made" in found.notes[0]


def test_labels_merged_before_training_make_a_network_of_two_though_it_was_stopped_before_it_was_asked(
    wish: MakeOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    asked = wish(tests=wish().train)
    with monkeypatch.context() as patched:
        patched.setattr(experiments, "run", stopped)
        with pytest.raises(KeyboardInterrupt):
            api.experiment("merged-labels", asked)
    folder = Path(asked.output)
    assert not (folder / "experiment.json").exists()
    (weights,) = folder.glob("arms/merged-after-training/cbow/seed-0/*.safetensors")
    before = weights.read_bytes()
    found = api.experiment("merged-labels", asked)
    assert weights.read_bytes() == before
    assert (folder / "experiment.json").exists()
    names = ("merged-after-training", "merged-before-training")
    runs = [Run.read(folder / "arms" / arm / "cbow" / "seed-0" / "tests") for arm in names]
    assert [run.header.model.resolution for run in runs] == ["three-way", "two-way"]
    # The user's own pairs are scored by two labels where three were learnt, too.
    rows = runs[0].frame.lazy().filter(pl.col("suite") == "few").collect()
    three = [f"p_{label}" for label in LABELS]
    answers = rows.select(pl.concat_list(three).list.arg_max().replace_strict(dict(enumerate(LABELS))).alias("answer"))
    merged = (answers["answer"] == "entailment") == (rows["label"] == "entailment")
    assert value(found, "few", "merged after training") == pytest.approx(merged.mean())
    assert merged.mean() != (answers["answer"] == rows["label"]).mean()
    assert "scored by two labels" in found.notes[0]


def test_the_distraction_is_after_every_hypothesis_and_another_one_is_tested(wish: MakeOptions) -> None:
    asked = wish(architectures=["naive-bayes"], tests=wish().train, n=50, settings={})
    found = api.experiment("distraction", asked)
    data = Path(asked.output) / "data"
    (copies,) = [pairs(path) for path in data.glob("distracted-few-*.parquet")]
    own = pairs(Path(asked.train[0])).height
    assert copies.height == own
    assert copies["hypothesis"].str.contains("and false is not true").all()
    other = pairs(data / "test-few-green.parquet")
    assert other.height == 50
    assert other["hypothesis"].str.contains("and green is not red").all()
    assert [column.name for column in found.tables[0].columns] == ["untouched", "negation", "different tautology"]
    assert {cell.value.n for cell in found.scores} == {50}
    assert found.arms[1].pairs == 2 * own
    assert all(cell.published is None for cell in found.scores)
    assert "'few' is none of the paper's test sets" in found.notes[0]


def test_mixes_add_each_corpus_to_the_first_alone(wish: MakeOptions, tmp_path: Path) -> None:
    api.save(few(starter_pairs(), 40), tmp_path / "more.parquet")
    made = few(starter_pairs(), 20)
    api.save(replace(made, card=replace(made.card, name="lexical")), tmp_path / "made.parquet")
    asked = wish(
        architectures=["decomposable-attention:"],
        tests=wish().train,
        additions={"SciTail": [tmp_path / "more.parquet"]},
        suite=str(tmp_path / "made.parquet"),
        n=None,
        arguments={"hidden": "2"},
    )
    found = api.experiment("training-mixes", asked)
    assert [arm.name for arm in found.arms] == ["training pairs alone", "SciTail added"]
    assert arm_of(found, "SciTail added").condition == "trained on SciTail + SNLI"
    own = [value(found, column, "SciTail added") for column in ("few", "lexical", "∆")]
    assert own[2] == pytest.approx(own[1] - own[0])
    assert {change.column for change in found.differences} == {"few", "lexical"}
    # Forty pairs are not the paper's training set.
    assert all(cell.published is None for cell in found.scores)
    assert not found.agreement


def test_files_whose_names_are_alike_are_told_apart(wish: MakeOptions, tmp_path: Path) -> None:
    first = jsonl(tmp_path / "snli_1.0_train.jsonl", "A man runs", 12)
    second = jsonl(tmp_path / "snli_1.0_dev.jsonl", "A dog sings", 9)
    made = design("distraction", wish(train=[first, second], tests=[second], n=None))
    (_, changed) = made.arms
    assert [pairs(path).height for path in changed.files] == [12, 9, 12, 9]
    assert [pairs(path)["premise"][0][:5] for path in changed.files] == ["A man", "A dog", "A man", "A dog"]
    assert [block.title for block in made.tables] == ["snli_1.0_dev"]


def test_files_of_one_name_that_have_to_be_told_how_to_read_are_told_apart(wish: MakeOptions, tmp_path: Path) -> None:
    names = ("p", "h", "l")
    a, b, c, d = (
        jsonl(tmp_path / folder / "pairs.jsonl", premise, count, names)
        for folder, premise, count in (("a", "One", 12), ("b", "Two", 9), ("c", "Three", 6), ("d", "Four", 3))
    )
    reading = api.Reading.parsed("premise=p,hypothesis=h,label=l", None)
    made = design("merged-labels", wish(train=[a, b], dev=c, tests=[d], reading=reading))
    assert [pairs(path)["premise"][0] for path in made.arms[0].files] == ["One 0.", "Two 0."]
    assert made.dev is not None
    assert pairs(made.dev)["premise"][0] == "Three 0."
    assert made.suites[1].frame.collect()["premise"][0] == "Four 0."
    assert made.arms[0].arm.pairs == 21


@pytest.fixture
def papers_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trainings of any size count as the paper's, and files are the corpora that they are called."""
    monkeypatch.setattr(experiments, "_SAME_SIZE", math.inf)
    monkeypatch.setattr(experiments, "identify_corpus", lambda suite: suite.name)


@pytest.mark.usefixtures("papers_sizes")
def test_both_development_sets_of_multinli_have_their_own_numbers_beside_them(
    wish: MakeOptions, tmp_path: Path
) -> None:
    names = ("mine", "mnli-mismatched")
    tests = [jsonl(tmp_path / f"{name}.jsonl", name, 30) for name in names]
    made = design("distraction", wish(tests=tests, n=None))
    assert [block.title for block in made.tables] == list(names)
    first, second = ({column.published: dict(column.published_by) for column in block.columns} for block in made.tables)
    assert list(first) == [""]
    assert [own["corpus"] for own in second.values()] == ["MultiNLI mismatched"] * 2
    assert set(second) == {"mnli", "stress/negation"}
    assert ["'mine' is none of the paper's test sets" in note for note in made.notes] == [True]


@pytest.mark.usefixtures("papers_sizes")
@pytest.mark.parametrize(
    ("name", "file", "published"),
    [
        ("augmentation", "mnli-matched.jsonl", "mnli"),
        ("augmentation", "mnli_mine.jsonl", ""),
        # Two labels, where the paper's accuracy on MNLI is of three.
        ("merged-labels", "mnli-matched.jsonl", ""),
        ("training-mixes", "snli-test.jsonl", "snli"),
    ],
)
def test_published_accuracies_stand_beside_the_papers_test_sets_alone(
    wish: MakeOptions, tmp_path: Path, name: str, file: str, published: str
) -> None:
    path = jsonl(tmp_path / file, "A man runs", 30)
    more: dict[str, Any] = {"additions": {"SciTail": wish().train}} if name == "training-mixes" else {}
    made = design(name, wish(tests=[path], n=None, **more))
    assert columns(made)[path.name.removesuffix(".jsonl")].published == published


def test_experiments_of_another_size_have_nothing_published_beside_them(
    wish: MakeOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(experiments, "identify_corpus", lambda suite: suite.name)
    path = jsonl(tmp_path / "mnli-matched.jsonl", "A man runs", 30)
    few = design("augmentation", wish(tests=[path], n=None))
    assert {column.published for column in columns(few).values()} == {""}
    own = few.arms[0].arm.pairs
    assert f"the networks are trained on {own:,} pairs, the paper's on 392,702" in few.notes[-1]
    monkeypatch.setattr(experiments, "_SAME_SIZE", math.inf)
    part = design("augmentation", wish(tests=[path], n=2, output=tmp_path / "part"))
    assert {column.published for column in columns(part).values()} == {""}
    assert "evaluated on a part of the test (-n 2)" in part.notes[-1]


def test_arms_and_tests_that_would_share_a_folder_are_refused(wish: MakeOptions, tmp_path: Path) -> None:
    path = wish().train[0]
    with pytest.raises(AcidtestError, match=r"'a b added' and 'A-b added' .* --add"):
        design("training-mixes", wish(suite=str(path), n=None, tests=[path], additions={"a b": [path], "A-b": [path]}))
    same = [jsonl(tmp_path / folder / "dev.jsonl", folder, 3) for folder in "ab"]
    with pytest.raises(AcidtestError, match=r"a/dev\.jsonl and .*b/dev\.jsonl .* rename one"):
        design("merged-labels", wish(tests=same))
    own = jsonl(tmp_path / "hans.jsonl", "A man runs", 3)
    with pytest.raises(AcidtestError, match=r"called 'hans', .* rename"):
        design("merged-labels", wish(tests=[own]))


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("withheld", {"folds": (6,), "n": -1}, "--fold is a number from 1 to 5, not 6"),
        ("withheld", {"tests": ["x.jsonl"]}, "--test is no option of withheld"),
        ("augmentation", {"recipe": {"epochs": 0}, "n": -1}, "--epochs is a number above 0"),
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
    wish: MakeOptions, name: str, changes: dict[str, Any], message: str
) -> None:
    asked = wish(**changes)
    with pytest.raises(AcidtestError, match=message):
        api.experiment(name, asked)
    assert not (Path(asked.output) / "arms").exists()


def test_a_folder_in_which_another_experiment_was_trained_is_refused(copied: api.ExperimentOptions) -> None:
    with pytest.raises(AcidtestError, match=r"holds another experiment \(n differ"):
        api.experiment("augmentation", replace(copied, n=5))
    with pytest.raises(AcidtestError, match="holds another experiment"):
        api.experiment("withheld", copied)


def test_an_unknown_experiment_is_told_with_those_there_are(wish: MakeOptions) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'augmentation'"):
        api.experiment("augmentatoin", wish())
