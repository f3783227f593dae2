"""The labels that a file of predictions or a checkpoint declares, against the gold of a user's pairs."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from acidtest import api
from acidtest.cli.app import main
from acidtest.core.errors import LabelOrderError
from acidtest.core.labels import LABELS

SWAPPED = {"entailment": "contradiction", "neutral": "neutral", "contradiction": "entailment"}
TWO_WAY = ("entailment", "non-entailment")


def written(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def pairs(n: int = 300, labels: Sequence[str] = LABELS, **others: str) -> list[dict[str, Any]]:
    return [
        {
            "pairID": f"p{i}",
            "premise": f"Man {i} runs.",
            "hypothesis": f"Man {i} moves.",
            "label": labels[i % len(labels)],
        }
        | others
        for i in range(n)
    ]


def predicted(rows: Sequence[dict[str, Any]], accuracy: float, labels: Sequence[str] = LABELS) -> list[str]:
    """Predictions that are right on this share of rows; errors are divided evenly over the other labels."""
    draws = np.random.default_rng(0)
    return [
        row["label"]
        if draws.random() < accuracy
        else str(draws.choice([name for name in labels if name != row["label"]]))
        for row in rows
    ]


def predictions(path: Path, rows: Sequence[dict[str, Any]], names: Sequence[str], kind: str = "names") -> Path:
    """A file of predictions: names of labels, numbers, columns of probabilities or lists of them."""
    if kind == "columns":
        cells = [{f"p_{label}": float(label == name) for label in LABELS} for name in names]
    elif kind == "lists":
        cells = [{"prediction": [float(label == name) for label in LABELS]} for name in names]
    elif kind == "numbers":
        cells = [{"prediction": LABELS.index(name)} for name in names]
    else:
        cells = [{"prediction": name} for name in names]
    return written(path, [{"pairID": row["pairID"], **cell} for row, cell in zip(rows, cells, strict=True)])


def swap(names: Sequence[str]) -> list[str]:
    return [SWAPPED[name] for name in names]


OPTIONS: dict[str, dict[str, Any]] = {
    "names": {},
    "columns": {},
    "lists": {"order": "e,n,c"},
    "numbers": {"answers": api.Reading(label_map={"0": "entailment", "1": "neutral", "2": "contradiction"})},
}


@pytest.mark.parametrize("kind", OPTIONS)
def test_the_command_in_the_error_reads_predictions_in_the_right_order(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = pairs()
    suite = written(tmp_path / "mine.jsonl", rows)
    # 62 % right, with entailment and contradiction exchanged.
    file = predictions(tmp_path / "preds.jsonl", rows, swap(predicted(rows, 0.62)), kind)
    with pytest.raises(LabelOrderError) as refused:
        api.score(file, str(suite), output=tmp_path / "run", **OPTIONS[kind])
    message = str(refused.value)
    assert "entailment means contradiction and contradiction means entailment (p < 0.001)" in message
    assert not (tmp_path / "run").exists()
    command = shlex.split(message.partition("To read them so: acidtest ")[2].partition(". To keep them")[0])
    assert main([*command, "-o", str(tmp_path / "run")]) == 0
    capsys.readouterr()
    accuracy = api.finished_run(tmp_path / "run").accuracy("mine").value
    assert accuracy == pytest.approx(
        np.mean([row["label"] == name for row, name in zip(rows, predicted(rows, 0.62), strict=True)])
    )


def test_the_program_stops_with_status_2_unless_the_user_insists(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = pairs()
    suite = written(tmp_path / "mine.jsonl", rows)
    file = predictions(tmp_path / "preds.jsonl", rows, swap(predicted(rows, 0.9)))
    command = ["score", str(file), "-s", str(suite), "-o", str(tmp_path / "run")]
    assert main(command) == 2
    assert "the labels of the predictions look wrong" in capsys.readouterr().err
    assert main([*command, "--trust-labels"]) == 0
    assert "--trust-labels keeps the declared order" in capsys.readouterr().err
    assert json.loads((tmp_path / "run" / "run.json").read_text())["settings"]["options"] == {"trust_labels": True}


@pytest.mark.parametrize("accuracy", [0.34, 0.6, 0.8])
def test_predictions_in_the_right_order_are_scored_even_near_chance(
    accuracy: float, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = pairs()
    suite = written(tmp_path / "mine.jsonl", rows)
    api.score(predictions(tmp_path / "preds.jsonl", rows, predicted(rows, accuracy)), str(suite), output=tmp_path / "r")
    told = [message for message in caplog.messages if "cannot be confirmed" in message]
    assert len(told) == (accuracy < 0.4)
    assert all("two labels exchanged would be found in 80% of models that are right on 4" in each for each in told)


def test_the_swap_of_two_labels_is_found_in_a_two_way_file(tmp_path: Path) -> None:
    rows = pairs(labels=TWO_WAY)
    suite = written(tmp_path / "mine.jsonl", rows)
    right = predicted(rows, 0.7, TWO_WAY)
    exchanged = [TWO_WAY[1 - TWO_WAY.index(name)] for name in right]
    with pytest.raises(LabelOrderError, match="entailment means non-entailment and non-entailment means entailment"):
        api.score(predictions(tmp_path / "wrong.jsonl", rows, exchanged), str(suite), output=tmp_path / "wrong")
    api.score(predictions(tmp_path / "right.jsonl", rows, right), str(suite), output=tmp_path / "right")


@pytest.mark.parametrize(
    ("labels", "others", "reason"),
    [
        (("entailment", "neutral"), {}, "its gold does not have every label"),
        # The columns of ANLI, whose pairs were chosen because models got them wrong.
        (LABELS, {"uid": "u", "reason": "r"}, "the suite was built to mislead models"),
    ],
)
def test_gold_that_is_no_proof_only_warns(
    labels: Sequence[str], others: dict[str, str], reason: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = pairs(labels=labels, **others)
    suite = written(tmp_path / "mine.jsonl", rows)
    exchange = dict(zip(labels, labels[::-1], strict=True))
    names = [exchange[name] for name in predicted(rows, 0.9, labels)]
    api.score(predictions(tmp_path / "preds.jsonl", rows, names), str(suite), output=tmp_path / "run")
    assert f"That is no proof, because {reason}" in caplog.text


def test_a_file_with_one_label_says_nothing_about_the_order(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    rows = pairs(labels=("contradiction",))
    suite = written(tmp_path / "mine.jsonl", rows)
    api.score(predictions(tmp_path / "p.jsonl", rows, ["entailment"] * len(rows)), str(suite), output=tmp_path / "run")
    assert "order" not in caplog.text


def test_original_pairs_decide_where_the_suite_misleads(tmp_path: Path) -> None:
    made = api.generate("stress/negation", n=120)
    assert made.control is not None
    frames = [made.frame.collect(), made.control.frame.collect()]
    rows = [{"id": name, "gold": label} for frame in frames for name, label in frame.select("id", "label").iter_rows()]
    rows = list({row["id"]: row for row in rows}.values())
    file = written(tmp_path / "preds.jsonl", [{"id": row["id"], "prediction": SWAPPED[row["gold"]]} for row in rows])
    with pytest.raises(LabelOrderError, match="entailment means contradiction"):
        api.score(file, made, output=tmp_path / "run")


def swapped_negation(folder: Path, corpus: Path, **columns: str) -> Path:
    """Predictions for stress/negation and its original pairs with entailment and contradiction exchanged."""
    made = api.generate("stress/negation", source=str(corpus), reading=api.Reading(columns=columns))
    assert made.control is not None
    frames = [suite.frame.select("id", "label").collect() for suite in (made, made.control)]
    rows = [{"id": name, "prediction": SWAPPED[gold]} for frame in frames for name, gold in frame.iter_rows()]
    return written(folder / "my preds.jsonl", rows)


def test_the_command_in_the_error_names_the_suite_and_its_corpus(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = pairs(120)
    for row in rows:
        row["text_1"], row["text_2"] = row.pop("premise"), row.pop("hypothesis")
    corpus, out = written(tmp_path / "my corpus.jsonl", rows), ["-o", str(tmp_path / "run")]
    file = swapped_negation(tmp_path, corpus, premise="text_1", hypothesis="text_2")
    command = ["score", str(file), "-s", "stress/negation", "--from", str(corpus)]
    assert main([*command, "--suite-columns", "premise=text_1,hypothesis=text_2", *out]) == 2
    message = capsys.readouterr().err
    command = shlex.split(message.partition("To read them so: acidtest ")[2].partition(". To keep them")[0])
    assert main([*command, *out]) == 0
    assert "stress/negation" in capsys.readouterr().out
    assert api.finished_run(tmp_path / "run").accuracy("stress/negation").value == 1


def test_original_pairs_of_a_misleading_corpus_only_warn(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    corpus = written(tmp_path / "anli.jsonl", pairs(120, uid="u", reason="r"))
    file = swapped_negation(tmp_path, corpus)
    api.score(file, "stress/negation", source=str(corpus), output=tmp_path / "run")
    warnings = [message for message in caplog.messages if "the labels of the predictions look wrong" in message]
    assert len(warnings) == 1
    assert "That is no proof, because the suite was built to mislead models" in warnings[0]
