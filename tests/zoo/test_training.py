"""Training: what comes out of it, and that neither a kill nor a second time changes that."""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'acidtest[zoo]'")
from safetensors.torch import load_file  # noqa: E402

from acidtest import api  # noqa: E402
from acidtest.core.errors import AcidtestError, FileError  # noqa: E402
from acidtest.core.files import Lock  # noqa: E402
from acidtest.core.labels import LABELS, TWO_WAY_LABELS  # noqa: E402
from acidtest.core.model import model_from_spec  # noqa: E402
from acidtest.io.embeddings import read_vectors  # noqa: E402
from acidtest.zoo import trainer  # noqa: E402
from acidtest.zoo.architectures.spinn import parse_trees  # noqa: E402
from acidtest.zoo.pairs import PairError, TrainingPairs  # noqa: E402
from acidtest.zoo.trainer import Trainer, TrainerOptions, _rate_share, label_loss  # noqa: E402
from acidtest.zoo.training import TrainingResult  # noqa: E402

RECIPE = {"epochs": 4, "batch_size": 8, "learning_rate": 0.01, "patience": 9}
SMALL = {"hidden": "8"}


def trained(
    train_file: Path, dev_file: Path | None, folder: Path, *, seeds: tuple[int, ...] = (0,), **recipe: Any
) -> TrainingResult:
    """A small network; its dropout draws random numbers, so that a kill that loses them would show."""
    material = api.Material([train_file], dev_file)
    result = api.train(
        "cbow", material, output=folder, arguments=SMALL, recipe=RECIPE | recipe, seeds=seeds, dimensions=6
    )
    return result[0]


def points(folder: Path) -> list[dict[str, float]]:
    """The curve without its times."""
    timed = ("seconds", "pairs_per_s")
    curve = json.loads((folder / "curve.json").read_text())
    return [{name: value for name, value in point.items() if name not in timed} for point in curve]


def test_the_loss_of_one_right_label_is_the_cross_entropy() -> None:
    scores = torch.tensor([[2.0, 0.5, -1.0], [0.0, 1.0, 3.0]])
    targets = torch.tensor([[True, False, False], [False, False, True]])
    expected = torch.nn.functional.cross_entropy(scores, torch.tensor([0, 2]))
    assert float(label_loss(scores, targets)) == pytest.approx(float(expected))


def test_two_right_labels_count_by_the_sum_of_their_probabilities() -> None:
    scores = torch.tensor([[0.3, 1.2, -0.7]], requires_grad=True)
    loss = label_loss(scores, torch.tensor([[False, True, True]]))
    p = scores.detach().softmax(dim=1)[0]
    assert float(loss.detach()) == pytest.approx(-math.log(p[1] + p[2]))
    loss.backward()
    # Closed form: p_i for a wrong label, p_i - p_i / (p_1 + p_2) for a right one.
    expected = p - torch.tensor([0.0, 1.0, 1.0]) * p / (p[1] + p[2])
    assert torch.allclose(scores.grad[0], expected, atol=1e-6)


def test_a_linear_rate_rises_over_the_warmup_and_ends_at_nothing() -> None:
    recipe = TrainerOptions(epochs=2, schedule="linear", warmup=0.2)
    shares = [_rate_share(recipe, step, 10) for step in range(20)]
    assert shares[:4] == pytest.approx([1 / 5, 2 / 5, 3 / 5, 4 / 5])
    assert shares[4:] == pytest.approx([(20 - step) / 16 for step in range(4, 20)])
    assert _rate_share(TrainerOptions(), 17, 10) == 1.0


def test_three_way_and_two_way_labels_teach_both_kinds_of_network() -> None:
    labels = ["entailment", "neutral", "contradiction", "non-entailment"]
    pairs = TrainingPairs(pl.DataFrame({"premise": ["a"] * 4, "hypothesis": ["b"] * 4, "label": labels}))
    assert pairs.targets(LABELS).tolist() == [
        [True, False, False],
        [False, True, False],
        [False, False, True],
        [False, True, True],
    ]
    assert pairs.targets(TWO_WAY_LABELS).tolist() == [[True, False], [False, True], [False, True], [False, True]]


@pytest.mark.parametrize(("label", "labels"), [("any", LABELS), ("non-contradiction", TWO_WAY_LABELS)])
def test_a_label_that_teaches_nothing_is_refused(label: str, labels: tuple[str, ...]) -> None:
    frame = pl.DataFrame({"premise": ["a", "a"], "hypothesis": ["b", "c"], "label": ["neutral", label]})
    with pytest.raises(PairError, match=f"pair 2: label '{label}' teaches nothing of {', '.join(labels)}"):
        TrainingPairs(frame).targets(labels)


def test_a_network_learns_and_its_folder_answers_alike(train_file: Path, dev_file: Path, tmp_path: Path) -> None:
    material, recipe = api.Material([train_file], dev_file), RECIPE | {"epochs": 20}
    (result,) = api.train("cbow", material, output=tmp_path / "net", arguments={"hidden": "32"}, recipe=recipe)
    assert result.best["dev_accuracy"] > 0.9
    assert result.best["dev_accuracy"] == max(point["dev_accuracy"] for point in result.state.curve)
    model = model_from_spec(f"zoo:{tmp_path / 'net'}")
    rows = api.load(dev_file).frame.collect()
    answers = model.predict(rows["premise"].to_list(), rows["hypothesis"].to_list()).argmax(axis=1)
    right = np.mean([LABELS[answer] == label for answer, label in zip(answers, rows["label"], strict=True)])
    assert right == pytest.approx(result.best["dev_accuracy"])


def test_training_ends_when_patience_does(train_file: Path, dev_file: Path, tmp_path: Path) -> None:
    result = trained(train_file, dev_file, tmp_path / "net", epochs=200, patience=2)
    assert len(result.state.curve) == result.state.best_epoch + 1 + 2


def test_without_a_development_set_the_last_epoch_is_kept(train_file: Path, tmp_path: Path) -> None:
    result = trained(train_file, None, tmp_path / "net")
    assert result.best["epoch"] == 4
    assert "dev_accuracy" not in result.best


CHILD = """
import os, signal, sys
from pathlib import Path
import torch
from acidtest import api
from acidtest.zoo import trainer
torch.set_num_threads(1)
train, dev, folder = sys.argv[1:]
steps = []
def broken(tensors, path, metadata):
    if len(steps) == 9:
        Path(path).write_bytes(b"half a checkpoint")
        os.kill(os.getpid(), signal.SIGKILL)
    whole(tensors, path, metadata)
whole, trainer.save_file = trainer.save_file, broken
recipe = {"epochs": 3, "batch_size": 8, "learning_rate": 0.01, "patience": 9, "checkpoint_s": 0.0}
api.train("cbow", api.Material([train], dev), output=folder, arguments={"hidden": "8"}, recipe=recipe, dimensions=6,
          progress=lambda done, total: steps.append(done))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL on this system")
def test_a_training_that_is_killed_gives_the_same_curve_and_weights(
    train_file: Path, dev_file: Path, tmp_path: Path
) -> None:
    # Seven batches an epoch: killed in the second, while a checkpoint is written.
    arguments = [str(train_file), str(dev_file), str(tmp_path / "killed")]
    child = subprocess.run([sys.executable, "-c", CHILD, *arguments], check=False, capture_output=True)
    assert child.returncode == -signal.SIGKILL, child.stderr.decode()
    assert len(points(tmp_path / "killed")) == 1
    result = trained(train_file, dev_file, tmp_path / "killed", epochs=3, checkpoint_s=0.0)
    assert_same(result, trained(train_file, dev_file, tmp_path / "whole", epochs=3))
    assert not (result.folder / "checkpoint.safetensors").exists()


def assert_same(result: TrainingResult, expected: TrainingResult) -> None:
    """The same curve, and the same weights of the same epoch."""
    assert points(result.folder) == points(expected.folder)
    assert result.state.best_epoch == expected.state.best_epoch
    actual, weights = (load_file(one.folder / "model.safetensors") for one in (result, expected))
    assert all(torch.equal(weights[name], actual[name]) for name in weights)


def on_call(number: int, whole: Any) -> Any:
    """A function that is stopped when it is called for the so-manyth time."""
    calls = list[int]()

    def stopped(*arguments: Any) -> None:
        calls.append(1)
        if len(calls) == number:
            raise KeyboardInterrupt
        whole(*arguments)

    return stopped


@pytest.mark.parametrize("moment", ["save_weights", "Trainer._checkpoint"])
def test_the_weights_of_a_stopped_training_are_those_its_checkpoint_tells_of(
    moment: str, train_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or what comes of the epoch the second time, on a device whose sums differ, would not be theirs."""
    owner, _, name = f"acidtest.zoo.trainer.{moment}".rpartition(".")
    target = Trainer if owner.endswith("Trainer") else trainer
    with monkeypatch.context() as patched:
        patched.setattr(target, name, on_call(2, getattr(target, name)))
        with pytest.raises(KeyboardInterrupt):
            trained(train_file, None, tmp_path / "net")
    content = load_file(tmp_path / "net" / "checkpoint.safetensors")
    weights = load_file(tmp_path / "net" / "model.safetensors")
    before = all(torch.equal(weights[key], content[f"network/{key}"]) for key in weights)
    # Stopped before the second checkpoint all is of the first epoch; after it the weights are still to be written.
    assert before == (moment == "Trainer._checkpoint")
    again = trained(train_file, None, tmp_path / "net")
    assert_same(again, trained(train_file, None, tmp_path / "whole"))


def test_weights_that_were_still_to_be_written_are_written_when_a_training_goes_on(
    train_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(trainer, "save_weights", on_call(4, trainer.save_weights))
        with pytest.raises(KeyboardInterrupt):
            trained(train_file, None, tmp_path / "net")
    assert_same(trained(train_file, None, tmp_path / "net"), trained(train_file, None, tmp_path / "whole"))


def test_a_checkpoint_that_is_none_is_told(train_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("acidtest.zoo.training._write_result", stop)
        with pytest.raises(KeyboardInterrupt):
            trained(train_file, None, tmp_path / "net")
    path = tmp_path / "net" / "checkpoint.safetensors"
    for content in (b"junk", (tmp_path / "net" / "model.safetensors").read_bytes()):
        path.write_bytes(content)
        with pytest.raises(FileError, match=r"checkpoint\.safetensors: .*remove it, and training begins anew"):
            trained(train_file, None, tmp_path / "net")


def test_a_finished_folder_is_told_of_and_not_trained_again(train_file: Path, dev_file: Path, tmp_path: Path) -> None:
    first = trained(train_file, dev_file, tmp_path / "net")
    before = {path.name: path.stat().st_mtime_ns for path in first.folder.iterdir()}
    again = trained(train_file, dev_file, tmp_path / "net")
    assert (first.again, again.again) == (False, True)
    assert again.state == first.state
    assert {path.name: path.stat().st_mtime_ns for path in first.folder.iterdir()} == before


def test_a_finished_folder_is_scored_on_new_pairs_without_training(
    train_file: Path, dev_file: Path, tmp_path: Path
) -> None:
    trained(train_file, None, tmp_path / "net")
    weights = (tmp_path / "net" / "model.safetensors").read_bytes()
    material = api.Material([train_file], tests=[dev_file])
    (result,) = api.train("cbow", material, output=tmp_path / "net", arguments=SMALL, recipe=RECIPE, dimensions=6)
    assert result.scores[str(dev_file)].pairs == 18
    assert (tmp_path / "net" / "model.safetensors").read_bytes() == weights


def test_scores_of_earlier_tests_are_kept(train_file: Path, dev_file: Path, tmp_path: Path) -> None:
    for tests in ([train_file], [dev_file], []):
        material = api.Material([train_file], tests=tests)
        (result,) = api.train("cbow", material, output=tmp_path / "net", arguments=SMALL, recipe=RECIPE, dimensions=6)
        known = json.loads((tmp_path / "net" / "result.json").read_text())["scores"]
    assert list(known) == list(result.scores) == [str(train_file), str(dev_file)]
    assert [one.pairs for one in result.scores.values()] == [54, 18]
    card = (tmp_path / "net" / "card.md").read_text()
    assert all(f"| {path} |" in card for path in (train_file, dev_file))
    assert f"54 pairs of {train_file} were also learnt from, so that" in card


def test_a_mistake_does_not_claim_the_folder(train_file: Path, tmp_path: Path) -> None:
    material = api.Material([train_file])
    asked: dict[str, Any] = {"output": tmp_path / "net", "arguments": SMALL, "recipe": RECIPE | {"epochs": 1}}
    with pytest.raises(AcidtestError, match=r"nowhere\.txt"):
        api.train("cbow", material, embeddings="nowhere.txt", **asked)
    assert not api.train("cbow", material, **asked)[0].again


def test_another_training_in_the_same_folder_is_refused_by_what_differs(
    train_file: Path, dev_file: Path, tmp_path: Path
) -> None:
    trained(train_file, dev_file, tmp_path / "net")
    with pytest.raises(AcidtestError, match=r"recipe\.learning_rate is 0\.01 there, 0\.5 here"):
        trained(train_file, dev_file, tmp_path / "net", learning_rate=0.5)
    with pytest.raises(
        AcidtestError, match=r"net holds another training: architecture is cbow there, bilstm here; choose"
    ):
        api.train("bilstm", api.Material([train_file], dev_file), output=tmp_path / "net")
    with pytest.raises(AcidtestError, match=r"train\.digest is"):
        trained(dev_file, dev_file, tmp_path / "net")
    with pytest.raises(AcidtestError, match=r"is finished \(recipe\.epochs is 4 there, 6 here\).*another -o"):
        trained(train_file, dev_file, tmp_path / "net", epochs=6)


def test_an_unfinished_training_may_be_made_longer(
    train_file: Path, dev_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("acidtest.zoo.training._write_result", stop)
        with pytest.raises(KeyboardInterrupt):
            trained(train_file, dev_file, tmp_path / "net", epochs=2)
    result = trained(train_file, dev_file, tmp_path / "net", epochs=4)
    assert len(result.state.curve) == 4
    assert points(tmp_path / "net") == points(trained(train_file, dev_file, tmp_path / "whole").folder)


def test_a_training_cannot_be_made_shorter_than_it_is(
    train_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("acidtest.zoo.training._write_result", stop)
        with pytest.raises(KeyboardInterrupt):
            trained(train_file, None, tmp_path / "net", epochs=4)
    with pytest.raises(AcidtestError, match=r"4 epochs are done there already; .*--epochs of 4 or more"):
        trained(train_file, None, tmp_path / "net", epochs=3)
    assert len(trained(train_file, None, tmp_path / "net", epochs=4).state.curve) == 4


def stop(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_second_process_in_a_folder_is_told_so(train_file: Path, tmp_path: Path) -> None:
    with Lock(tmp_path / "net"), pytest.raises(AcidtestError, match="another acidtest process is working here"):
        trained(train_file, None, tmp_path / "net")


def test_a_rate_that_is_far_too_high_ends_in_a_message(train_file: Path, tmp_path: Path) -> None:
    with pytest.raises(
        AcidtestError, match=r"the loss is no number after epoch \d; .*lower --learning-rate than 1e\+38"
    ):
        trained(train_file, None, tmp_path / "net", learning_rate=1e38, optimizer="sgd", clip=1e38)


def test_several_seeds_have_a_folder_each_and_a_spread(train_file: Path, dev_file: Path, tmp_path: Path) -> None:
    material = api.Material([train_file], dev_file, [dev_file])
    result = api.train(
        "cbow", material, output=tmp_path / "net", arguments=SMALL, recipe=RECIPE, seeds=(3, 5), dimensions=6
    )
    assert [one.folder.name for one in result] == ["seed-3", "seed-5"]
    content = json.loads((tmp_path / "net" / "seeds.json").read_text())
    values = [one["scores"][str(dev_file)] for one in content["seeds"]]
    assert content["scores"][str(dev_file)]["mean"] == pytest.approx(sum(values) / 2)
    # The standard deviation of two values is their distance over the square root of two.
    assert content["scores"][str(dev_file)]["sd"] == pytest.approx(abs(values[0] - values[1]) / math.sqrt(2))
    assert points(result[0].folder) != points(result[1].folder)
    alone = api.train(
        "cbow", material, output=tmp_path / "one", arguments=SMALL, recipe=RECIPE, seeds=(5,), dimensions=6
    )
    assert points(alone[0].folder) == points(result[1].folder)


def test_vectors_are_read_once_for_all_seeds_and_what_they_lack_is_drawn_for_each(
    train_file: Path, dev_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = tmp_path / "glove.txt"
    vectors.write_text("a 0.1 0.2\nman -0.3 0.4\nnobody 0.5 -0.6\n")
    reads = list[Path]()

    def counted(path: Path, *arguments: Any, **named: Any) -> Any:
        reads.append(path)
        return read_vectors(path, *arguments, **named)

    monkeypatch.setattr("acidtest.zoo.batches.read_vectors", counted)
    material = api.Material([train_file], dev_file, [dev_file])
    asked: dict[str, Any] = {"arguments": SMALL, "recipe": RECIPE | {"epochs": 1}, "embeddings": str(vectors)}
    asked |= {"embeddings_tuned": False}
    result = api.train("cbow", material, output=tmp_path / "net", seeds=(0, 1, 2), **asked)
    assert reads == [vectors]
    words = (result[0].folder / "vocabulary.txt").read_text().split("\n")
    tables = [load_file(one.folder / "model.safetensors")["words.table.weight"] for one in result]
    for table in tables:
        assert table[words.index("man")].tolist() == pytest.approx([-0.3, 0.4])
    assert len({tuple(table[words.index("paris")].tolist()) for table in tables}) == 3
    # Learnt further, vectors change where they lie: the next seed must not begin with those.
    asked |= {"embeddings_tuned": True}
    result = api.train("cbow", material, output=tmp_path / "tuned", seeds=(0, 2), **asked)
    (alone,) = api.train("cbow", material, output=tmp_path / "one", seeds=(2,), **asked)
    assert_same(result[1], alone)


def test_parses_are_read_once_for_all_seeds(
    rows: list[dict[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pair_file: Any
) -> None:
    for row in rows:
        row |= {"sentence1": row.pop("premise"), "sentence2": row.pop("hypothesis"), "gold_label": row.pop("label")}
        for side in ("1", "2"):
            *before, last = row[f"sentence{side}"].split()
            row[f"sentence{side}_binary_parse"] = "".join(f"( {word} " for word in before) + last + " )" * len(before)
    columns = list[str]()

    def counted(parses: pl.Series, *arguments: Any, **named: Any) -> Any:
        columns.append(parses.name)
        return parse_trees(parses, *arguments, **named)

    monkeypatch.setattr("acidtest.zoo.architectures.spinn.parse_trees", counted)
    api.train(
        *("spinn", api.Material([pair_file("train.jsonl", rows[:30])], pair_file("dev.jsonl", rows[30:]))),
        output=tmp_path / "net",
        arguments={"hidden": "4", "layer": "4"},
        recipe={"epochs": 1},
        seeds=(0, 1),
        dimensions=4,
    )
    assert sorted(columns) == sorted(2 * ["premise_binary_parse", "hypothesis_binary_parse"])


def test_a_network_shown_no_premise_answers_by_the_hypothesis(train_file: Path, tmp_path: Path) -> None:
    material = api.Material([train_file])
    api.train("cbow", material, output=tmp_path / "net", arguments=SMALL, recipe=RECIPE, hypothesis_only=True)
    model = model_from_spec(f"zoo:{tmp_path / 'net'}")
    one, other = model.predict(["A man runs.", "Nothing at all."], ["A man moves."] * 2)
    assert np.array_equal(one, other)
    assert "shown no premise" in " ".join(model.notes)


def test_a_merged_network_is_two_way(train_file: Path, tmp_path: Path) -> None:
    api.train("cbow", api.Material([train_file]), output=tmp_path / "net", arguments=SMALL, recipe=RECIPE, merged=True)
    model = model_from_spec(f"zoo:{tmp_path / 'net'}")
    assert model.resolution == "two-way"
    assert model.predict(["A man runs."], ["A man moves."])[0, 2] == 0
