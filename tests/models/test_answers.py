from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from acidtest import api
from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.model import ChecksSuites, Model, model_from_spec
from acidtest.core.suite import Card, Suite, complete_columns
from acidtest.models.answers import AnswersModel
from acidtest.models.prediction_files import PredictionOptions


def suite(name: str = "mine") -> Suite:
    frame = pl.DataFrame(
        {
            "premise": ["A man runs.", "A dog sleeps.", "A cat eats."],
            "hypothesis": ["A man moves.", "A dog runs.", "A cat naps."],
            "label": ["entailment", "contradiction", "neutral"],
            "source_id": ["ex0", "ex1", "ex2"],
        }
    )
    return Suite(complete_columns(frame, name).lazy(), Card(name), origin=Path("pairs.csv"))


def model(tmp_path: Path, name: str, text: str) -> Model:
    (tmp_path / name).write_text(text)
    return model_from_spec(f"answers:{tmp_path / name}")


def predicted(answers: Model, made: Suite) -> list[list[float]]:
    assert isinstance(answers, ChecksSuites)
    answers.check([made])
    frame = made.frame.collect()
    return answers.predict(frame["id"].to_list(), frame["source_id"].to_list()).tolist()


def test_the_layout_of_hans_predictions(tmp_path: Path) -> None:
    answers = model(tmp_path, "p.csv", "pairID,gold_label\nex1,non-entailment\nex0,entailment\nex2,entailment\n")
    assert predicted(answers, suite()) == [[1, 0, 0], [0, 1, 0], [1, 0, 0]]
    assert (answers.resolution, answers.probabilities) == ("two-way", False)


def test_three_way_labels_in_json_lines_by_id(tmp_path: Path) -> None:
    ids = suite().frame.collect()["id"].to_list()
    labels = ["contradiction", "e", "NEUTRAL"]
    lines = [f'{{"id": "{i}", "label": "{label}"}}' for i, label in zip(ids, labels, strict=True)]
    answers = model(tmp_path, "p.jsonl", "\n".join(lines) + "\n")
    assert predicted(answers, suite()) == [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
    assert answers.resolution == "three-way"


def test_probabilities_in_a_table(tmp_path: Path) -> None:
    text = "pairID\tentailment\tneutral\tcontradiction\nex0\t0.5\t0.25\t0.25\nex1\t0\t1\t0\nex2\t0\t0\t1\n"
    answers = model(tmp_path, "p.tsv", text)
    assert predicted(answers, suite()) == [[0.5, 0.25, 0.25], [0, 1, 0], [0, 0, 1]]
    assert answers.probabilities


def test_parquet_as_a_run_writes_it(tmp_path: Path) -> None:
    frame = suite().frame.collect().select("id", "premise", "hypothesis")
    frame.with_columns(p_entailment=0.5, p_neutral=0.25, p_contradiction=0.25).write_parquet(tmp_path / "p.parquet")
    answers = model_from_spec(f"answers:{tmp_path / 'p.parquet'}")
    assert predicted(answers, suite()) == [[0.5, 0.25, 0.25]] * 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pairID,gold_label\nex0,entailment\nex2,neutral\n", "1 of 3 rows of suite 'mine' have no prediction: ex1;"),
        (
            "pairID,gold_label\nex0,neutral\nex1,neutral\nex0,neutral\nex2,neutral\n",
            r"p.csv:4: 1 ids stand more than once: ex0",
        ),
        (
            "pairID,gold_label\nex0,neutral\nex1,neutral\nex2,neutral\nex7,neutral\nex8,neutral\n",
            r"p.csv:5: 2 ids are not in 'mine': ex7, ex8; is it another suite's file\?",
        ),
        ("pairID,gold_label\nex0,entail\n", r"p.csv:2: label 'entail' is not entailment, neutral, contradiction"),
        (
            "pairID,gold_label\nex0,\nex1,none\n",
            "column 'gold_label' has no answer in any row: it holds '', 'none' only",
        ),
        (
            "name,gold_label\nex0,neutral\n",
            r"has no id column; it has name, gold_label, and one of id, pairid.*id=NAME$",
        ),
        (
            "pairID,gold_label,guess\nex0,neutral,entailment\nex1,neutral,neutral\nex2,neutral,neutral\n",
            r"'gold_label' and 'guess' could all hold the predictions; say which with --columns label=NAME",
        ),
        ("pairID,pred,answer\nex0,neutral,neutral\n", r"'pred' and 'answer' could all hold the predictions"),
        (
            "pairID,verdict\nex0,neutral\n",
            r"has no label column, nor one per label's probability; it has pairID, verdict",
        ),
        (
            "pairID,entailment,neutral,contradiction\nex0,0.5,0.5,0.5\n",
            r"p.csv:2: 0.5, 0.5, 0.5 are not three probabilities that add up to 1",
        ),
        (
            "pairID,entailment,neutral,contradiction\nex0,x,0.5,0.5\n",
            r"p.csv:2: x, 0.5, 0.5 are not three probabilities",
        ),
        (
            "pairID,premise,gold_label\nex0,A man runs.,neutral\nex1,A cow sleeps.,neutral\nex2,A cat eats.,neutral\n",
            r"p.csv:3: the premise of 'ex1' is 'A cow sleeps.', but in suite 'mine' it is 'A dog sleeps.'",
        ),
    ],
)
def test_a_file_that_does_not_fit_is_explained(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FileError, match=message):
        predicted(model(tmp_path, "p.csv", text), suite())


def test_a_column_called_prediction_goes_before_the_gold_beside_it(tmp_path: Path) -> None:
    text = "pairID,gold_label,prediction\nex0,neutral,entailment\nex1,neutral,neutral\nex2,neutral,entailment\n"
    assert predicted(model(tmp_path, "p.csv", text), suite()) == [[1, 0, 0], [0, 1, 0], [1, 0, 0]]


def test_columns_and_labels_of_another_name_can_be_given(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("row,guess,gold_label\nex0,0,neutral\nex1,2,neutral\nex2,neutral,neutral\n")
    found = AnswersModel(
        tmp_path / "p.csv",
        PredictionOptions({"id": "row", "label": "guess"}, {"0": "entailment", "2": "contradiction"}),
    )
    assert found.predict(["a", "b", "c"], ["ex0", "ex1", "ex2"]).tolist() == [[1, 0, 0], [0, 0, 1], [0, 1, 0]]
    with pytest.raises(FileError, match=r"p.csv:2: label '0' is not .*--label-map '0=NAME'"):
        AnswersModel(tmp_path / "p.csv", PredictionOptions({"id": "row", "label": "guess"}))
    with pytest.raises(AcidtestError, match=r"no label called 'entail'; did you mean 'entailment'"):
        AnswersModel(tmp_path / "p.csv", PredictionOptions({"id": "row", "label": "guess"}, {"0": "entail"}))
    with pytest.raises(FileError, match=r"no column called 'gues'; did you mean 'guess'"):
        AnswersModel(tmp_path / "p.csv", PredictionOptions({"id": "row", "label": "gues"}))


def test_predictions_for_the_control_are_wanted_too(tmp_path: Path) -> None:
    control = suite("mine#control")
    both = Suite(suite().frame.with_columns(source_id=pl.lit(None, dtype=pl.String)), Card("mine"), control)
    ids = [*both.frame.collect()["id"], "ex0", "ex1", "ex2"]
    answers = model(tmp_path, "p.csv", "id,label\n" + "".join(f"{i},neutral\n" for i in ids))
    assert isinstance(answers, ChecksSuites)
    answers.check([both])
    short = model(tmp_path, "q.csv", "id,label\n" + "".join(f"{i},neutral\n" for i in ids[:3]))
    assert isinstance(short, ChecksSuites)
    with pytest.raises(FileError, match="3 of 3 rows of suite 'mine#control' have no prediction"):
        short.check([both])


def test_predictions_for_rows_without_gold_are_passed_over(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    answers = model(tmp_path, "p.csv", "pairID,label\nex0,e\nex1,e\nex2,e\nex3,e\n")
    assert isinstance(answers, ChecksSuites)
    with pytest.raises(FileError, match="1 ids are not in 'mine': ex3"):
        answers.check([suite()])
    answers.check([Suite(suite().frame, Card("mine", dropped=1), origin=Path("pairs.csv"))])
    assert "1 predictions for rows without gold are not used" in caplog.text


def test_gold_labels_beside_sentences_are_doubted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    model(tmp_path, "p.csv", "pairID,sentence1,gold_label\nex0,A.,e\nex1,B.,e\nex2,C.,e\n")
    assert "column 'gold_label' is taken for the predictions; is it the gold?" in caplog.text


def test_a_suite_is_no_file_of_predictions(tmp_path: Path) -> None:
    for name in ("s.csv", "s.parquet"):
        api.save(api.generate("hans", n=1), tmp_path / name)
        with pytest.raises(FileError, match="is a suite that acidtest wrote, with gold labels"):
            model_from_spec(f"answers:{tmp_path / name}")


def test_a_source_id_in_two_suites_is_ambiguous(tmp_path: Path) -> None:
    answers = model(tmp_path, "p.csv", "pairID,gold_label\nex0,neutral\nex1,neutral\nex2,neutral\n")
    assert isinstance(answers, ChecksSuites)
    with pytest.raises(FileError, match="id 'ex0' is in suites 'mine' and 'other'; score them one at a time"):
        answers.check([suite(), suite("other")])


def test_matching_by_source_id_alone_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    predicted(model(tmp_path, "p.csv", "pairID,gold_label\nex0,e\nex1,e\nex2,e\n"), suite())
    assert "matched to suite mine by source id alone" in caplog.text


def test_source_ids_without_texts_are_refused_for_pairs_that_acidtest_made(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("pairID,gold_label\nex0,e\nex1,e\nex2,e\n")
    made = replace(suite(), origin=None)
    with pytest.raises(
        FileError, match=r"3 ids, such as 'ex0', are those of the pairs that suite 'mine' was made from"
    ):
        AnswersModel(tmp_path / "p.csv").check([made])
    lines = [f"ex{n},{premise},e" for n, premise in enumerate(["A man runs.", "A dog sleeps.", "A cat eats."])]
    (tmp_path / "q.csv").write_text("\n".join(["pairID,premise,gold_label", *lines]))
    AnswersModel(tmp_path / "q.csv").check([made])


def test_published_predictions_of_hans_do_not_fit_generated_pairs(tmp_path: Path) -> None:
    made = api.generate("hans", n=1)
    assert made.frame.collect()["source_id"].null_count() == made.card.rows
    rows = "".join(f"ex{number},entailment\n" for number in range(made.card.rows))
    (tmp_path / "bert_preds.txt").write_text(f"pairID,gold_label\n{rows}")
    with pytest.raises(FileError, match=r"30 of 30 rows .*its ids are its own: .* --suite FILE \(the first .* 'ex0'\)"):
        AnswersModel(tmp_path / "bert_preds.txt").check([made])


def test_ids_of_other_pairs_are_refused_in_order_too(tmp_path: Path) -> None:
    made = api.generate("hans", n=1)
    rows = "".join(f"ex{number},entailment\n" for number in range(made.card.rows))
    (tmp_path / "bert_preds.txt").write_text(f"pairID,gold_label\n{rows}")
    with pytest.raises(FileError, match=r"bert_preds.txt:2: id 'ex0' is not in suite 'hans', which acidtest made"):
        AnswersModel(tmp_path / "bert_preds.txt", in_order=True).check([made])
    # Numbers of rows, and no ids at all, claim nothing about the pairs.
    for header, prefix in (("id,gold_label", "{},"), ("gold_label", "")):
        lines = [header, *(f"{prefix.format(number)}entailment" for number in range(made.card.rows))]
        (tmp_path / "p.csv").write_text("\n".join(lines))
        AnswersModel(tmp_path / "p.csv", in_order=True).check([made])


@pytest.mark.parametrize("column", ["text", "hyp", "Satz 2"])
def test_texts_are_known_by_what_they_say(tmp_path: Path, column: str) -> None:
    hypotheses = ["A man moves.", "A dog runs.", "A cat naps."]
    path = tmp_path / "p.tsv"
    for order, in_order in (([1, 0, 2], True), ([1, 0, 2], False)):
        lines = [f"ex{number}\t{hypotheses[place]}\te" for number, place in enumerate(order)]
        path.write_text("\n".join([f"pairID\t{column}\tprediction", *lines]))
        with pytest.raises(FileError, match=r"p.tsv:2: the hypothesis of .* is 'A dog runs.', but in suite 'mine' it"):
            AnswersModel(path, in_order=in_order).check([suite()])


def test_a_column_of_other_texts_is_not_compared(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "p.tsv"
    path.write_text("pairID\ttext\tprediction\nex0\tYes, it does.\te\nex1\tNo.\tc\nex2\tA cat naps.\tn\n")
    AnswersModel(path).check([suite()])
    assert "by source id alone" in caplog.text


def test_texts_are_compared_whatever_their_columns_are_called(tmp_path: Path) -> None:
    lines = ["pairID\tsentence1\tsentence2\tprediction", "ex0\tA man runs.\tA man moves.\te"]
    lines += ["ex1\tA dog sleeps.\tA dog barks.\tc", "ex2\tA cat eats.\tA cat naps.\tn"]
    (tmp_path / "p.tsv").write_text("\n".join(lines))
    with pytest.raises(FileError, match=r"p.tsv:3: the hypothesis of 'ex1' is 'A dog barks.', but in suite 'mine' it"):
        AnswersModel(tmp_path / "p.tsv").check([suite()])


def test_predictions_as_the_scripts_of_hans_write_them_are_read(tmp_path: Path) -> None:
    (tmp_path / "bert_preds.txt").write_text("pairID,gold_label\nex0,entailment\nex1,non-entailment\n")
    rows = pl.DataFrame(
        {"premise": ["a", "b"], "hypothesis": ["c", "d"], "label": ["entailment"] * 2, "source_id": ["ex0", "ex1"]}
    )
    model = AnswersModel(tmp_path / "bert_preds.txt")
    model.check([Suite(complete_columns(rows, "hans").lazy(), Card("hans"), origin=tmp_path / "hans.txt")])
    assert model.resolution == "two-way"


def test_pairs_tell_rows_apart_whose_id_stands_twice(tmp_path: Path) -> None:
    lines = ["pairID\tsentence1\tsentence2\tprediction"]
    lines += ["7\tA cat eats.\tA cat naps.\tneutral", "7\tA man runs.\tA man moves.\tentailment"]
    lines += ["8\tA dog sleeps.\tA dog runs.\tcontradiction"]
    (tmp_path / "p.tsv").write_text("\n".join(lines))
    made = suite()
    answers = AnswersModel(tmp_path / "p.tsv")
    answers.check([made])
    frame = made.frame.collect()
    told = answers.predict(*(frame[name].to_list() for name in answers.columns))
    assert told.tolist() == [[1, 0, 0], [0, 0, 1], [0, 1, 0]]


def test_a_pair_with_two_predictions_is_not_found_by_itself(tmp_path: Path) -> None:
    lines = ["premise\thypothesis\tprediction", "A man runs.\tA man moves.\tneutral"]
    lines += ["A man runs.\tA man moves.\tentailment", "A dog sleeps.\tA dog runs.\tneutral"]
    (tmp_path / "p.tsv").write_text("\n".join([*lines, "A cat eats.\tA cat naps.\tneutral"]))
    with pytest.raises(FileError, match=r"1 of 3 rows of suite 'mine' have no prediction: ex0; .* or the pair itself"):
        AnswersModel(tmp_path / "p.tsv").check([suite()])


def test_a_pair_of_the_file_that_no_suite_has_is_refused(tmp_path: Path) -> None:
    lines = ["premise\thypothesis\tprediction", "A man runs.\tA man moves.\tneutral"]
    lines += ["A fish swims.\tA fish flies.\tentailment", "A dog sleeps.\tA dog runs.\tneutral"]
    (tmp_path / "p.tsv").write_text("\n".join([*lines, "A cat eats.\tA cat naps.\tneutral"]))
    with pytest.raises(FileError, match=r"p.tsv:3: 1 ids are not in 'mine': A fish swims\.…"):
        AnswersModel(tmp_path / "p.tsv").check([suite()])


@pytest.mark.parametrize("name", ["cues", "premises", "stress/negation", "stress/spelling", "consistency"])
def test_ids_of_the_corpus_are_not_taken_for_those_of_the_pairs_made_from_it(tmp_path: Path, name: str) -> None:
    pairs = [("Some boys play in the garden.", "Boys are outside.", "entailment")]
    pairs += [
        ("A woman reads a book.", "A woman sleeps.", "contradiction"),
        ("A man sings.", "A man sings a song in the park.", "neutral"),
    ]
    lines = ["\t".join((f"x{n}", *pair)) for n, pair in enumerate(pairs)]
    (tmp_path / "pairs.tsv").write_text("\n".join(["pairID\tpremise\thypothesis\tgold_label", *lines]) + "\n")
    (tmp_path / "p.csv").write_text("pairID,prediction\n" + "".join(f"x{n},e\n" for n in range(len(pairs))))
    made = api.generate(name, source=tmp_path / "pairs.tsv")
    with pytest.raises(FileError, match=r"are those of the pairs that suite .* was made from|have no prediction"):
        AnswersModel(tmp_path / "p.csv", missing="unanswered").check([made])


def test_ids_of_a_published_file_are_those_of_its_pairs(tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text("pairID\tpremise\thypothesis\tgold_label\nx1\tA.\tB.\tneutral\n")
    (tmp_path / "p.csv").write_text("pairID,prediction\nx1,e\n")
    AnswersModel(tmp_path / "p.csv").check([api.load(tmp_path / "pairs.tsv")])
