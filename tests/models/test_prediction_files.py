"""Files of predictions: rows without an answer, probabilities in lists and objects, support scores, rows in order."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from acidtest import api
from acidtest.cli.app import main
from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.labels import SPELLINGS
from acidtest.core.model import model_from_spec
from acidtest.core.suite import Card, Suite, complete_columns
from acidtest.models.prediction_files import NO_ANSWER, parse_order

NAN = [np.nan] * 3


def suite() -> Suite:
    frame = pl.DataFrame(
        {
            "premise": ["A man runs.", "A dog sleeps.", "A cat eats.", "A girl sings."],
            "hypothesis": ["A man moves.", "A dog runs.", "A cat naps.", "A girl is loud."],
            "label": ["entailment", "contradiction", "neutral", "neutral"],
            "source_id": ["ex0", "ex1", "ex2", "ex3"],
        }
    )
    return Suite(complete_columns(frame, "mine").lazy(), Card("mine"), origin=Path("pairs.csv")).sealed()


def score(path: Path, *, order: str | None = None, missing: str = "refuse", **reading: dict[str, str]) -> api.Finished:
    return api.score(
        path,
        suite(),
        output=path.parent / "run",
        order=order,
        missing=missing,
        answers=api.Reading(**reading),
        fresh=True,
    )


def write(tmp_path: Path, name: str, text: str) -> Path:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path / name


def answers(run: api.Finished) -> list[list[float]]:
    columns = ("p_entailment", "p_neutral", "p_contradiction")
    frame = run.run.frame.lazy().select("source_id", *columns).sort("source_id").collect()
    return frame.select(columns).to_numpy().tolist()


@pytest.mark.parametrize("spelling", ["", "unanswered", "Abstain", "no answer", "None", "N/A", "null", "nan", "-"])
def test_a_label_that_says_no_answer_is_unanswered(tmp_path: Path, spelling: str) -> None:
    path = write(tmp_path, "p.csv", f"pairID,prediction\nex0,entailment\nex1,{spelling}\nex2,neutral\nex3,{spelling}\n")
    run = score(path)
    result = run.results["suites"]["mine"]
    assert result["unanswered"] == 2
    # Two of four rows are right; what is not answered is wrong.
    assert result["overall"]["value"] == 0.5
    np.testing.assert_equal(answers(run)[1], NAN)


def test_a_label_map_that_names_a_label_applies_to_its_spellings(tmp_path: Path) -> None:
    # The profile advises such a map if labels seem to be exchanged, whatever the file calls them.
    text = "pairID,prediction\nex0,ENTAILMENT\nex1,e\nex2,neutral\nex3,Contradiction\n"
    run = score(
        write(tmp_path, "p.csv", text), label_map={"contradiction": "entailment", "entailment": "contradiction"}
    )
    expected = [[0, 0, 1], [0, 0, 1], [0, 1, 0], [1, 0, 0]]
    assert answers(run) == expected


def test_nulls_in_json_lines_are_unanswered(tmp_path: Path) -> None:
    rows = [{"pairID": "ex0", "prediction": "e"}, {"pairID": "ex1", "prediction": None}, {"pairID": "ex2"}]
    rows += [{"pairID": "ex3", "prediction": "n"}]
    path = write(tmp_path, "p.jsonl", "\n".join(json.dumps(row) for row in rows))
    assert score(path).results["suites"]["mine"]["unanswered"] == 2


def test_rows_of_probabilities_without_a_number_are_unanswered(tmp_path: Path) -> None:
    text = "pairID,entailment,neutral,contradiction\nex0,1,0,0\nex1,,,\nex2,nan,NaN,nan\nex3,0,1,0\n"
    assert score(write(tmp_path, "p.csv", text)).results["suites"]["mine"]["unanswered"] == 2


def test_a_row_with_two_of_three_probabilities_is_a_mistake(tmp_path: Path) -> None:
    text = "pairID,entailment,neutral,contradiction\nex0,1,0,0\nex1,0.5,0.5,\nex2,0,1,0\nex3,0,1,0\n"
    with pytest.raises(FileError, match=r"p.csv:3: 0.5, 0.5, None are not three probabilities that add up to 1"):
        score(write(tmp_path, "p.csv", text))


def test_a_label_of_the_users_may_mean_unanswered(tmp_path: Path) -> None:
    path = write(tmp_path, "p.csv", "pairID,prediction\nex0,e\nex1,refused\nex2,n\nex3,n\n")
    with pytest.raises(FileError, match=r"p.csv:3: label 'refused' is not .*unanswered; .*--label-map 'refused=NAME'"):
        score(path)
    assert score(path, label_map={"refused": "unanswered"}).results["suites"]["mine"]["unanswered"] == 1


def test_missing_rows_are_refused_with_the_way_out_and_counted_when_asked(tmp_path: Path) -> None:
    path = write(tmp_path, "p.csv", "pairID,prediction\nex0,entailment\nex2,neutral\n")
    with pytest.raises(FileError, match=r"2 of 4 rows of suite 'mine' have no prediction: ex1, ex3; .*--missing unans"):
        score(path)
    result = score(path, missing="unanswered").results["suites"]["mine"]
    assert (result["unanswered"], result["overall"]["value"], result["overall"]["n"]) == (2, 0.5, 4)


def test_missing_rows_may_be_unanswered_for_a_model_spec_too(tmp_path: Path) -> None:
    path = write(tmp_path, "p.csv", "pairID,prediction\nex0,entailment\nex2,neutral\n")
    run = api.run(f"answers:{path}", [suite()], output=tmp_path / "run", options={"missing": "unanswered"})
    assert run.results["suites"]["mine"]["unanswered"] == 2


def test_a_file_of_another_suite_is_refused_whatever_is_said_of_missing_rows(tmp_path: Path) -> None:
    path = write(tmp_path, "p.csv", "pairID,prediction\nother0,entailment\n")
    with pytest.raises(FileError, match="4 of 4 rows of suite 'mine' have no prediction"):
        score(path, missing="unanswered")


def test_an_unknown_way_with_missing_rows_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "p.csv", "pairID,prediction\nex0,entailment\n")
    with pytest.raises(AcidtestError, match="--missing is refuse or unanswered, not 'skip'"):
        score(path, missing="skip")


def test_no_spelling_of_a_label_means_no_answer() -> None:
    assert not NO_ANSWER & set(SPELLINGS)


LISTS = [[0.7, 0.2, 0.1], [0.1, 0.2, 0.7], [0.25, 0.5, 0.25], [1e-05, 0.99999, 0.0]]


@pytest.mark.parametrize("style", ["python", "numpy", "tuple"])
def test_a_cell_may_hold_three_probabilities(tmp_path: Path, style: str) -> None:
    cells = [str(row) for row in LISTS]
    if style == "numpy":
        cells = [cell.replace(",", " ") for cell in cells]
    if style == "tuple":
        cells = [f"({cell[1:-1]})" for cell in cells]
    text = "\n".join(["uid,prediction", *(f'ex{row},"{cell}"' for row, cell in enumerate(cells))])
    run = score(write(tmp_path, "p.csv", text), order="c,n,e")
    np.testing.assert_allclose(answers(run), [row[::-1] for row in LISTS], atol=1e-7)
    assert run.run.header.model.probabilities


def test_lists_in_json_lines_and_parquet_are_read(tmp_path: Path) -> None:
    rows = [{"uid": f"ex{row}", "prediction": cell} for row, cell in enumerate(LISTS)]
    path = write(tmp_path, "p.jsonl", "\n".join(json.dumps(row) for row in rows))
    np.testing.assert_allclose(answers(score(path, order="e,n,c")), LISTS, atol=1e-7)
    pl.DataFrame(rows).write_parquet(tmp_path / "p.parquet")
    np.testing.assert_allclose(answers(score(tmp_path / "p.parquet", order="e,n,c")), LISTS, atol=1e-7)


def test_the_order_of_a_list_is_asked_for_and_never_guessed(tmp_path: Path) -> None:
    text = "\n".join(["uid,prediction", *(f'ex{row},"{cell}"' for row, cell in enumerate(LISTS))])
    path = write(tmp_path, "p.csv", text)
    message = r"'prediction' holds lists of three numbers, such as \[0.7, 0.2, 0.1\]; .*--order entailment,neutral"
    with pytest.raises(FileError, match=message):
        score(path)
    mapped = score(path, label_map={"0": "neutral", "1": "entailment", "2": "contradiction"})
    np.testing.assert_allclose(answers(mapped)[0], [0.2, 0.7, 0.1], atol=1e-7)


def anli(tmp_path: Path, labels: str) -> Path:
    """Predictions of our own under the names of ANLI's annotated files."""
    rows = [f'ex{row},"{cell}",{label}' for row, (cell, label) in enumerate(zip(LISTS, labels, strict=True))]
    return write(tmp_path, "p.csv", "\n".join(["uid,preds-roberta-from-r2,preds-roberta-from-r2PredLabel", *rows]))


def test_the_order_is_read_off_the_labels_beside_the_lists(tmp_path: Path) -> None:
    # The largest numbers stand first, last, in the middle and in the middle.
    path = anli(tmp_path, "necc")
    run = api.score(path, suite(), column="preds-roberta-from-r2", output=tmp_path / "run")
    np.testing.assert_allclose(answers(run)[0], [0.1, 0.7, 0.2], atol=1e-7)


def test_an_order_that_the_labels_beside_the_lists_contradict_is_doubted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = anli(tmp_path, "necc")
    run = api.score(path, suite(), column="preds-roberta-from-r2", order="e,n,c", output=tmp_path / "run")
    np.testing.assert_allclose(answers(run)[0], LISTS[0], atol=1e-7)
    assert "as if their order were neutral, contradiction, entailment, not entailment, neutral" in caplog.text


@pytest.mark.parametrize("labels", ["encn", "eee ", "enne"])
def test_labels_that_do_not_settle_the_order_leave_it_to_the_user(tmp_path: Path, labels: str) -> None:
    with pytest.raises(FileError, match="lists of three numbers"):
        api.score(anli(tmp_path, labels), suite(), column="preds-roberta-from-r2", output=tmp_path / "run")


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("[0.5, 0.5]", r"p.csv:3: column 'prediction' holds \['0.5', '0.5'\], not a list of three numbers"),
        ("[a, b, c]", r"p.csv:3: column 'prediction' holds \['a', 'b', 'c'\], not a list of three numbers"),
        ("neutral", r"p.csv:3: column 'prediction' holds 'neutral', not a list of three numbers"),
        ("[2.5, -1.0, 0.3]", r"p.csv:3: \[2.5, -1.0, 0.3\] are not three probabilities that add up to 1"),
    ],
)
def test_a_list_that_is_no_probabilities_is_refused(tmp_path: Path, cell: str, message: str) -> None:
    text = f'uid,prediction\nex0,"[1, 0, 0]"\nex1,"{cell}"\nex2,"[1, 0, 0]"\nex3,"[1, 0, 0]"\n'
    with pytest.raises(FileError, match=message):
        score(write(tmp_path, "p.csv", text), order="e,n,c")


def test_an_empty_cell_among_lists_is_unanswered(tmp_path: Path) -> None:
    text = 'uid,prediction\nex0,"[1, 0, 0]"\nex1,\nex2,"[nan, nan, nan]"\nex3,"[0, 1, 0]"\n'
    assert score(write(tmp_path, "p.csv", text), order="e,n,c").results["suites"]["mine"]["unanswered"] == 2


def test_an_order_for_labels_is_a_mistake(tmp_path: Path) -> None:
    path = write(tmp_path, "p.csv", "pairID,prediction\nex0,e\nex1,n\nex2,n\nex3,n\n")
    with pytest.raises(FileError, match="column 'prediction' holds labels, not lists of three numbers; leave --order"):
        score(path, order="e,n,c")


@pytest.mark.parametrize("text", ["e,n", "e,n,n", "entailment,neutral,whatever"])
def test_an_order_names_each_label_once(text: str) -> None:
    with pytest.raises(AcidtestError, match="does not name each label once; write it like --order entailment,neutral"):
        parse_order(text)


def test_the_order_of_lists_may_be_given_to_a_model_spec(tmp_path: Path) -> None:
    text = "\n".join(["uid,prediction", *(f'ex{row},"{cell}"' for row, cell in enumerate(LISTS))])
    path = write(tmp_path, "p.csv", text)
    with pytest.raises(FileError, match="lists of three numbers"):
        model_from_spec(f"answers:{path}")
    run = api.run(f"answers:{path}", [suite()], output=tmp_path / "run", options={"order": "e,n,c"})
    np.testing.assert_allclose(answers(run), LISTS, atol=1e-7)


PROBABILITIES = [[0.75, 0.125, 0.125], [0.125, 0.125, 0.75], [0.125, 0.75, 0.125], [0.125, 0.75, 0.125]]
NAMES = ("entailment", "neutral", "contradiction")


def json_lines(tmp_path: Path, rows: list[dict[str, object]], name: str = "p.jsonl") -> Path:
    return write(tmp_path, name, "\n".join(json.dumps(row) for row in rows))


@pytest.mark.parametrize("key", ["probs", "prediction", "anything"])
def test_probabilities_in_an_object_are_read(tmp_path: Path, key: str) -> None:
    rows = [{"id": f"ex{n}", key: dict(zip(NAMES, row, strict=True))} for n, row in enumerate(PROBABILITIES)]
    run = score(json_lines(tmp_path, rows))
    assert answers(run) == PROBABILITIES
    assert run.run.header.model.probabilities


def test_lists_of_labels_and_scores_of_a_pipeline_are_read(tmp_path: Path) -> None:
    # transformers.pipeline(…, top_k=None) sorts the labels of each pair by score.
    outputs = [
        sorted(
            ({"label": name.upper(), "score": p} for name, p in zip(NAMES, row, strict=True)), key=lambda x: -x["score"]
        )
        for row in PROBABILITIES
    ]
    rows = [{"id": f"ex{n}", "output": output} for n, output in enumerate(outputs)]
    assert answers(score(json_lines(tmp_path, rows))) == PROBABILITIES


def test_a_label_with_the_score_of_the_likeliest_is_a_label(tmp_path: Path) -> None:
    labels = ("entailment", "contradiction", "neutral", "neutral")
    rows = [{"id": f"ex{n}", "label": label, "score": 0.9} for n, label in enumerate(labels)]
    run = score(json_lines(tmp_path, rows))
    assert answers(run) == [[1, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 0]]
    nested = [{"id": row["id"], "output": {"label": row["label"], "score": 0.9}} for row in rows]
    assert answers(score(json_lines(tmp_path, nested, "q.jsonl"))) == answers(run)


def test_an_object_with_a_label_and_an_object_of_probabilities_is_read(tmp_path: Path) -> None:
    objects = [dict(zip(NAMES, row, strict=True)) for row in PROBABILITIES]
    outputs = [{"label": max(entry, key=lambda name: entry[name]), "probabilities": entry} for entry in objects]
    rows = [{"id": f"ex{n}", "output": output} for n, output in enumerate(outputs)]
    assert answers(score(json_lines(tmp_path, rows))) == PROBABILITIES
    for row, entry in zip(rows, objects, strict=True):
        row["output"] = {"model": {"scores": [{"label": name, "score": p} for name, p in entry.items()]}}
    assert answers(score(json_lines(tmp_path, rows, "q.jsonl"))) == PROBABILITIES


def test_objects_in_cells_of_text_may_be_written_as_python_does(tmp_path: Path) -> None:
    cells = [str(dict(zip(NAMES, row, strict=True))) for row in PROBABILITIES]
    lines = [f'ex{n},"{cell}"' for n, cell in enumerate(cells)]
    assert answers(score(write(tmp_path, "p.csv", "\n".join(["id,probs", *lines])))) == PROBABILITIES


def test_objects_of_two_labels_are_two_way_and_an_empty_one_is_unanswered(tmp_path: Path) -> None:
    rows = [{"id": f"ex{n}", "probs": {"supported": p, "unsupported": 1 - p}} for n, p in enumerate([0.75, 0.25, 0.5])]
    run = score(json_lines(tmp_path, [*rows, {"id": "ex3", "probs": None}]))
    np.testing.assert_equal(answers(run), [[0.75, 0.25, 0], [0.25, 0.75, 0], [0.5, 0.5, 0], NAN])
    assert run.run.header.model.resolution == "two-way"


def test_nameless_labels_in_objects_need_a_map(tmp_path: Path) -> None:
    rows = [
        {"id": f"ex{n}", "probs": {f"LABEL_{place}": p for place, p in enumerate(row)}}
        for n, row in enumerate(PROBABILITIES)
    ]
    path = json_lines(tmp_path, rows)
    with pytest.raises(FileError, match=r"label 'LABEL_0'; .*--label-map LABEL_0=NAME,LABEL_1=NAME,LABEL_2=NAME"):
        score(path)
    label_map = {"LABEL_0": "contradiction", "LABEL_1": "neutral", "LABEL_2": "entailment"}
    assert answers(score(path, label_map=label_map)) == [row[::-1] for row in PROBABILITIES]


def test_an_object_that_does_not_add_up_names_its_line(tmp_path: Path) -> None:
    rows = [{"id": f"ex{n}", "probs": dict(zip(NAMES, row, strict=True))} for n, row in enumerate(PROBABILITIES)]
    rows[1]["probs"] = {"entailment": 2.5, "neutral": -1.0, "contradiction": 0.5}
    with pytest.raises(FileError, match=r"p.jsonl:2: .*not three probabilities that add up to 1"):
        score(json_lines(tmp_path, rows))


@pytest.mark.parametrize("name", ["score", "support", "p_supported", "p_entailment"])
def test_one_support_score_a_row_is_the_probability_of_support(tmp_path: Path, name: str) -> None:
    run = score(write(tmp_path, "p.csv", f"id,{name}\nex0,0.75\nex1,0.25\nex2,\nex3,1.0\n"))
    np.testing.assert_equal(answers(run), [[0.75, 0.25, 0], [0.25, 0.75, 0], NAN, [1, 0, 0]])
    model = run.run.header.model
    assert (model.resolution, model.probabilities) == ("two-way", True)


def test_scores_of_several_systems_are_read_by_the_names_of_their_columns(tmp_path: Path) -> None:
    path = write(tmp_path, "p.csv", "id,hhem,judge\nex0,0.75,1.0\nex1,0.25,0.0\nex2,0.5,0.0\nex3,0.0,0.0\n")
    run = api.score(path, suite(), output=tmp_path / "run", column="hhem")
    assert [row[0] for row in answers(run)] == [0.75, 0.25, 0.5, 0.0]
    judge = api.score(path, suite(), output=tmp_path / "judge", column="judge")
    # Scores that are only 0 and 1 are labels: no threshold can be chosen among them.
    assert not judge.run.header.model.probabilities
    assert answers(judge) == [[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 1, 0]]


def test_whole_numbers_are_no_support_scores(tmp_path: Path) -> None:
    path = write(tmp_path, "p.csv", "id,judge\nex0,1\nex1,0\nex2,0\nex3,0\n")
    with pytest.raises(FileError, match=r"p.csv:2: label '1' is not .*--label-map '1=NAME'"):
        api.score(path, suite(), output=tmp_path / "run", column="judge")
    reading = api.Reading(label_map={"1": "supported", "0": "unsupported"})
    run = api.score(path, suite(), output=tmp_path / "run", column="judge", answers=reading)
    assert answers(run) == [[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 1, 0]]


def test_a_score_above_one_is_refused_with_its_line(tmp_path: Path) -> None:
    path = write(tmp_path, "p.csv", "id,score\nex0,0.75\nex1,3.5\nex2,0.1\nex3,0.1\n")
    with pytest.raises(FileError, match=r"p.csv:3: score is 3.5; .* between 0 and 1 \(a logit needs a sigmoid\)"):
        score(path)


def test_gold_and_scores_beside_the_texts_are_not_guessed(tmp_path: Path) -> None:
    lines = ["premise,hypothesis,label,score", "A man runs.,A man moves.,e,0.9", "A dog sleeps.,A dog runs.,c,0.4"]
    lines += ["A cat eats.,A cat naps.,n,0.1", "A girl sings.,A girl is loud.,n,0.2"]
    path = write(tmp_path, "p.csv", "\n".join(lines))
    with pytest.raises(
        FileError, match=r"'label' and 'score' could all hold the predictions; say which with --columns"
    ):
        score(path)
    run = score(path, columns={"label": "score"})
    np.testing.assert_allclose([row[0] for row in answers(run)], [0.9, 0.4, 0.1, 0.2], rtol=1e-6)


def corpus(tmp_path: Path) -> Path:
    """A file of five pairs; the third has no gold, and the fifth repeats the first."""
    rows = [("A man runs.", "A man moves.", "entailment"), ("A dog sleeps.", "A dog runs.", "contradiction")]
    rows += [("A cat eats.", "A cat naps.", "-"), ("A girl sings.", "A girl is loud.", "neutral"), rows[0]]
    keys = ("pairID", "premise", "hypothesis", "gold_label")
    lines = [json.dumps(dict(zip(keys, (f"x{n}", *row), strict=True))) for n, row in enumerate(rows)]
    return write(tmp_path, "pairs.jsonl", "\n".join(lines))


def in_order(tmp_path: Path, text: str, **options: bool) -> list[str]:
    """The predictions of the four pairs with gold."""
    path = write(tmp_path, "p.csv", text)
    made = api.score(path, str(corpus(tmp_path)), output=tmp_path / "run", fresh=True, **options)
    return made.run.rows("pairs")["answer"].to_list()


ORDERED = ["entailment", "contradiction", "neutral", "entailment"]


@pytest.mark.parametrize(
    "text",
    [
        "prediction\ne\nc\nn\ne\n",
        "prediction\ne\nc\ne\nn\ne\n",
        "id,prediction\n0,e\n1,c\n2,e\n3,n\n4,e\n",
        "id,prediction\n1,e\n2,c\n3,n\n4,e\n",
        "id,prediction\nx0,e\nx1,c\nx2,e\nx3,n\nx4,e\n",
        "premise,prediction\nA man runs.,e\nA dog sleeps.,c\nA cat eats.,e\nA girl sings.,n\nA man runs.,e\n",
    ],
    ids=["no ids", "with rows without gold", "from 0", "from 1", "ids", "texts"],
)
def test_predictions_in_the_order_of_the_file_need_no_ids(tmp_path: Path, text: str) -> None:
    assert in_order(tmp_path, text, in_order=True) == ORDERED


@pytest.mark.parametrize(
    "text",
    ["prediction\ne\nc\nn\ne\n", "prediction\ne\nc\nn\nn\ne\n", "id,prediction\n0,e\n1,c\n2,e\n3,n\n4,e\n"],
)
def test_matching_by_order_is_suggested_when_the_counts_fit(tmp_path: Path, text: str) -> None:
    with pytest.raises(FileError, match=r"rows are in the order of the suite's: --in-order"):
        in_order(tmp_path, text)


def test_matching_by_order_is_not_suggested_when_the_counts_differ(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"--columns id=NAME$"):
        in_order(tmp_path, "prediction\ne\nc\nn\n")
    with pytest.raises(FileError, match="has 3 rows, but suite 'pairs' has 4, or 5 with those without gold"):
        in_order(tmp_path, "prediction\ne\nc\nn\n", in_order=True)


def test_rows_in_another_order_are_noticed_by_their_texts_and_ids(tmp_path: Path) -> None:
    text = "premise,prediction\nA dog sleeps.,c\nA man runs.,e\nA cat eats.,e\nA girl sings.,n\nA man runs.,e\n"
    with pytest.raises(FileError, match=r"p.csv:2: the premise of .* is 'A dog sleeps.', but in suite 'pairs' it is"):
        in_order(tmp_path, text, in_order=True)
    text = "id,prediction\nx1,c\nx0,e\nx2,e\nx3,n\nx4,e\n"
    with pytest.raises(FileError, match=r"p.csv:2: id 'x1' is in another place in suite 'pairs'; leave --in-order out"):
        in_order(tmp_path, text, in_order=True)


def test_original_pairs_are_left_out_when_rows_are_matched_by_order(tmp_path: Path) -> None:
    made = api.generate("stress/negation", n=5)
    path = write(tmp_path, "p.csv", "prediction\n" + "entailment\n" * made.card.rows)
    run = api.score(path, made, output=tmp_path / "run", in_order=True)
    assert list(run.run.header.suites) == ["stress/negation"]
    with pytest.raises(AcidtestError, match="--in-order takes predictions for one suite, but these are several"):
        api.run(f"answers:{path}", made, output=tmp_path / "run", options={"in_order": True})


NOT_TEXT = {
    "List": pl.Series([["neutral"], ["entailment"]]),
    "Array": pl.Series([[1, 2], [3, 4]], dtype=pl.Array(pl.Int64, 2)),
    "Struct": pl.Series([{"label": "neutral"}, {"label": "entailment"}]),
    "Duration": pl.Series([timedelta(1), timedelta(2)]),
    "Binary": pl.Series([b"neutral", b"\xff\xfe"]),
}
# A map in Parquet is a list of keys with values.
MAPS = pl.Series([[{"key": "a", "value": 1}], [{"key": "b", "value": 2}]])


@pytest.mark.parametrize("kind", NOT_TEXT)
@pytest.mark.parametrize("column", ["id", "premise", "prediction"])
def test_a_column_of_another_type_in_parquet_is_named(tmp_path: Path, column: str, kind: str) -> None:
    columns = {"id": ["1", "2"], "premise": ["A", "B"], "hypothesis": ["C", "D"], "prediction": ["neutral", "neutral"]}
    path = tmp_path / "p.parquet"
    pl.DataFrame({**columns, column: NOT_TEXT[kind]}).write_parquet(path)
    with pytest.raises(FileError, match=rf"p\.parquet: column '{column}' (holds|has) "):
        model_from_spec(f"answers:{path}")


@pytest.mark.parametrize("kind", ["List", "Array", "Struct"])
@pytest.mark.parametrize("column", ["entailment", "neutral", "contradiction"])
def test_a_probability_of_another_type_in_parquet_is_named(tmp_path: Path, column: str, kind: str) -> None:
    columns = {"id": ["1", "2"], "entailment": [0.7, 0.1], "neutral": [0.2, 0.1], "contradiction": [0.1, 0.8]}
    path = tmp_path / "p.parquet"
    pl.DataFrame({**columns, column: NOT_TEXT[kind]}).write_parquet(path)
    with pytest.raises(FileError, match=rf"p\.parquet: column '{column}' holds {kind} values"):
        model_from_spec(f"answers:{path}")


@pytest.mark.parametrize("dtype", [pl.Categorical(), pl.Enum(["0.7", "0.1"])])
def test_probabilities_in_a_dictionary_of_parquet_are_read_as_text(tmp_path: Path, dtype: pl.DataType) -> None:
    chances = pl.DataFrame({"entailment": ["0.7", "0.1"], "neutral": [0.2, 0.1], "contradiction": [0.1, 0.8]})
    ids = pl.Series("id", ["1", "2"])
    chances.insert_column(0, ids).cast({"entailment": dtype}).write_parquet(tmp_path / "p.parquet")
    model = model_from_spec(f"answers:{tmp_path / 'p.parquet'}")
    columns = (["1", "2"] if name == "id" else ["A", "B"] for name in model.columns)
    rows = model.predict(*columns)
    assert rows[:, 0].tolist() == pytest.approx([0.7, 0.1])


def test_a_map_as_an_id_is_named(tmp_path: Path) -> None:
    pl.DataFrame({"id": MAPS, "prediction": ["neutral", "neutral"]}).write_parquet(tmp_path / "p.parquet")
    with pytest.raises(FileError, match="column 'id' holds List values, but text or numbers were expected"):
        model_from_spec(f"answers:{tmp_path / 'p.parquet'}")


@pytest.mark.parametrize("kind", NOT_TEXT)
def test_other_columns_of_parquet_may_have_any_type(tmp_path: Path, kind: str) -> None:
    columns = {"id": ["1", "2"], "prediction": ["neutral", "neutral"], "image": NOT_TEXT[kind]}
    pl.DataFrame(columns).write_parquet(tmp_path / "p.parquet")
    assert model_from_spec(f"answers:{tmp_path / 'p.parquet'}").resolution == "three-way"


@pytest.mark.parametrize("column", ["id", "prediction", "remark"])
def test_text_of_parquet_that_is_not_utf8_is_named(tmp_path: Path, column: str) -> None:
    columns = {"id": ["1", "2"], "prediction": ["neutral", "neutral"], column: ["QQQQzzzz", "neutral"]}
    path = tmp_path / "p.parquet"
    pl.DataFrame(columns).write_parquet(path, compression="uncompressed", statistics=False)
    path.write_bytes(path.read_bytes().replace(b"QQQQ", b"\xff\xfe\xfa\xff"))
    with pytest.raises(FileError, match=f"column '{column}' holds text that is not UTF-8; write it again as UTF-8"):
        model_from_spec(f"answers:{path}")


def test_columns_of_the_suites_file_are_named_by_an_option_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite, file = tmp_path / "pairs.csv", tmp_path / "predictions.csv"
    suite.write_text("text_a,text_b,verdict\nA man runs.,A man moves.,entailment\n")
    file.write_text("id,prediction\n1,entailment\n")
    assert main(["score", str(file), "-s", str(suite), "-o", str(tmp_path / "run")]) == 2
    assert "name them with --suite-columns premise=NAME,hypothesis=NAME" in capsys.readouterr().err
    file.write_text("id,odd\n1,2\n")
    named = "premise=text_a,hypothesis=text_b,label=verdict"
    assert main(["score", str(file), "-s", str(suite), "--suite-columns", named, "-o", str(tmp_path / "run")]) == 2
    assert "--columns label=NAME" in capsys.readouterr().err
