"""Files with labels of several people: the three forms, gold, groups, spellings and mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from acidtest.annotate.answers import check_answers, read_answers
from acidtest.annotate.judgements import judgement_ratings, judgements
from acidtest.annotate.questionnaires import load_questionnaire
from acidtest.annotate.ratings import read_ratings
from acidtest.core.errors import AcidtestError, FileError
from acidtest.corpora.files import read_corpus
from acidtest.io.tables import read_table, write_table
from acidtest.suites.taxonomy import read_categories

E, N, C = "entailment", "neutral", "contradiction"


def file(tmp_path: Path, text: str, name: str = "labels.csv") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_lists_of_labels_are_read_and_empty_ones_are_none(tmp_path: Path) -> None:
    rows = [
        {"sentence1": "A", "gold_label": E, "annotator_labels": [E, E, "", N, None]},
        {"sentence1": "B", "gold_label": "-", "annotator_labels": [E, N, C, "-", N]},
        {"sentence1": "A", "gold_label": C, "annotator_labels": []},
    ]
    path = file(tmp_path, "".join(json.dumps(row) + "\n" for row in rows), "snli.jsonl")
    ratings = read_ratings(path)
    assert ratings.labels == (E, N, C)
    assert ratings.counts.tolist() == [[2, 1, 0], [1, 2, 1], [0, 0, 0]]
    assert ratings.gold.to_list() == [E, None, C]
    assert ratings.gold_from == "gold_label"
    assert ratings.groups is not None
    assert ratings.groups.tolist() == [1, 2, 1]
    assert "|labels:annotator_labels|gold:gold_label|groups:sentence1|n:3|" in ratings.signature


@pytest.mark.parametrize("ending", [".tsv", ".csv", ".jsonl", ".parquet"])
def test_lists_are_the_same_in_every_format(tmp_path: Path, ending: str) -> None:
    frame = pl.DataFrame({"annotator_labels": [["yes", "no"], ["yes", "yes"]], "gold": ["yes", None]})
    path = tmp_path / f"labels{ending}"
    write_table(frame, path)
    ratings = read_ratings(path)
    assert (ratings.labels, ratings.counts.tolist()) == (("no", "yes"), [[1, 1], [0, 2]])


def test_a_comma_within_a_label_does_not_cut_it(tmp_path: Path) -> None:
    path = file(tmp_path, 'annotator_labels\n"[""well, yes"", ""no""]"\n')
    assert read_ratings(path).labels == ("no", "well, yes")


def test_lists_as_python_writes_them_are_read(tmp_path: Path) -> None:
    ratings = read_ratings(file(tmp_path, "annotator_labels\n\"['e', 'n', 'entailment']\"\n"))
    assert (ratings.labels, ratings.counts.tolist()) == ((E, N), [[2, 1]])


def test_the_columns_of_snlis_tab_separated_file_are_people(tmp_path: Path) -> None:
    header = "gold_label\tsentence1\tsentence2\tcaptionID\tpairID\tlabel1\tlabel2\tlabel3\tlabel4\tlabel5\n"
    rows = f"{N}\tA man.\tA boy.\t1#0\t1#0r1n\t{N}\t{C}\t{N}\t\t\n-\tA.\tB.\t1#0\t1#0r1e\t{N}\t{C}\t{E}\t{E}\t{N}\n"
    ratings = read_ratings(file(tmp_path, header + rows, "snli.txt"))
    assert ratings.counts.tolist() == [[0, 2, 1], [2, 2, 1]]
    assert ratings.gold.to_list() == [N, None]
    assert ratings.corpus == ""


def test_a_row_for_each_label_is_read_by_item(tmp_path: Path) -> None:
    text = "id,annotator,label,premise,gold\nq,ann,e,Q,entailment\np,ann,n,P,\np,ben,c,P,c\nq,ben,e,Q,e\nr,cy,,R,n\n"
    ratings = read_ratings(file(tmp_path, text))
    # Items in the order in which they first occur: q, p, r.
    assert ratings.counts.tolist() == [[2, 0, 0], [0, 1, 1], [0, 0, 0]]
    assert ratings.gold.to_list() == [E, C, N]
    assert ratings.groups is not None
    assert len(set(ratings.groups.tolist())) == 3


def test_who_said_what_is_kept_where_the_file_tells(tmp_path: Path) -> None:
    ratings = read_ratings(file(tmp_path, "id,annotator,label,gold\nq,ann,e,entailment\nq,ben,n,\np,ann,,c\n"))
    assert ratings.said is not None
    assert ratings.said.select("row", "annotator", "label").rows() == [(0, "ann", E), (0, "ben", N), (1, "ann", None)]
    assert (ratings.reference_from, ratings.categories) == ("gold", ())
    columns = read_ratings(file(tmp_path, "rater_1,rater_2\nx,y\n,y\n"))
    assert columns.said is not None
    assert columns.said.select("row", "annotator", "label").rows() == [
        (0, "rater_1", "x"),
        (0, "rater_2", "y"),
        (1, "rater_2", "y"),
    ]
    assert columns.reference is None
    assert read_ratings(file(tmp_path, "label1,label2\nx,y\n")).said is None


def test_categories_are_lists_or_columns_and_mean_the_same(tmp_path: Path) -> None:
    lists = "item,annotator,categories\np,ann,negation|world\np,ben,\nq,ann,odd\n"
    columns = "item,annotator,negation_logic,world_knowledge,odd\np,ann,1,1.0,0\np,ben,0,0,0\nq,ann,0,,true\n"
    for text in (lists, columns):
        ratings = read_ratings(file(tmp_path, text))
        assert ratings.labels == ()
        assert ratings.counts.shape == (2, 0)
        assert ratings.categories == ("negation", "world", "odd")
        assert ratings.said is not None
        assert ratings.said["categories"].to_list() == [["negation", "world"], [], ["odd"]]
        assert ratings.said["row"].to_list() == [0, 0, 1]
    assert "|categories:categories|" in read_ratings(file(tmp_path, lists)).signature


def test_labels_and_categories_may_stand_beside_each_other(tmp_path: Path) -> None:
    rows = [
        {"id": "p", "worker": "a", "annotated_label": "entailment", "label": "neutral", "categories": ["x", "y"]},
        {"id": "p", "worker": "b", "annotated_label": "neutral", "label": "neutral", "categories": None},
    ]
    ratings = read_ratings(file(tmp_path, "".join(json.dumps(row) + "\n" for row in rows), "both.jsonl"))
    assert (ratings.labels, ratings.counts.tolist(), ratings.gold_from) == ((E, N), [[1, 1]], "label")
    assert ratings.said is not None
    assert ratings.said["categories"].to_list() == [["x", "y"], None]
    assert ratings.corpus == ""


def test_columns_of_categories_may_be_named(tmp_path: Path) -> None:
    text = "item,annotator,sure,ok\np,a,1,1\np,b,0,1\n"
    assert read_ratings(file(tmp_path, text)).categories == ("sure", "ok")
    ratings = read_ratings(file(tmp_path, text), categories=["ok"])
    assert ratings.categories == ("ok",)
    path = file(tmp_path, "item,annotator,kinds\np,a,x|y\np,b,none\n")
    assert read_ratings(path, categories=["kinds"]).categories == ("x", "y")


def test_control_items_and_excluded_people_are_left_out(tmp_path: Path) -> None:
    text = (
        "item,annotator,label,Seconds,role,failed,excluded\np,a,x,3,item,,\np,b,y,5,item,,\np,c,y,1,item,,yes\n"
        "k,a,x,2,control,no,\nk,c,y,2,control,yes,yes\n"
    )
    ratings = read_ratings(file(tmp_path, text))
    assert (ratings.labels, ratings.counts.tolist()) == (("x", "y"), [[1, 1]])
    assert ratings.attendance is not None
    assert (ratings.attendance.excluded, ratings.attendance.left_out) == (("c",), 3)
    assert ratings.attendance.seconds is not None
    assert ratings.attendance.seconds.total == 8
    path = file(tmp_path, text.replace(",5,", ",long,"))
    with pytest.raises(FileError, match=r":3: seconds 'long' is not a duration"):
        read_ratings(path)


def test_zeros_and_ones_of_the_items_beside_labels_are_no_categories(tmp_path: Path) -> None:
    text = "item,annotator,label,easy,test\np,a,x,1,0\np,b,y,1,0\nq,a,x,0,{}\nq,b,x,0,0\n"
    assert read_ratings(file(tmp_path, text.format(0))).categories == ()
    assert read_ratings(file(tmp_path, text.format(1))).categories == ("easy", "test")


def test_categories_that_came_along_with_the_items_are_not_those_of_people(tmp_path: Path) -> None:
    path = file(tmp_path, "item,annotator,easy,old,follows\np,a,1,0,yes\np,b,1,0,no\nq,a,0,0,no\nq,b,0,0,no\n")
    with pytest.raises(FileError, match="is known to hold labels of several people"):
        read_ratings(path)


def test_people_may_agree_on_everything(tmp_path: Path) -> None:
    text = "item,annotator,label,language,comment\np,a,x,en,fine\np,b,x,de,\nq,a,y,en,odd\nq,b,y,de,why\n"
    assert read_ratings(file(tmp_path, text)).counts.tolist() == [[2, 0], [0, 2]]
    text = "item,annotator,x,y\np,a,1,0\np,b,1,0\n"
    assert read_ratings(file(tmp_path, text)).categories == ("x", "y")
    counts = "item,annotator,label,edits,sure\np,a,x,0,1\np,b,y,1,0\nq,a,x,2,1\n"
    assert read_ratings(file(tmp_path, counts)).categories == ()


def test_the_file_of_taxinli_has_one_label_a_row(tmp_path: Path) -> None:
    header = "prem\thyp\tlabel\tannotated_label\tlexical_linguistic\ttaxonomic_knowledge\tpairID\n"
    rows = "A\tB\tneutral\tneutral\t0\t1\t1n\nA\tC\tneutral\t-\t0\t0\t2n\n"
    ratings = read_ratings(file(tmp_path, header + rows, "taxinli.tsv"))
    assert (ratings.corpus, ratings.counts.tolist(), ratings.categories) == ("TaxiNLI", [[1], [0]], ())
    assert ratings.said is not None
    assert ratings.said.select("annotator", "label").rows() == [(None, N), (None, None)]
    assert ratings.reference is not None
    assert ratings.reference.to_list() == [N, N]


def test_columns_may_be_named(tmp_path: Path) -> None:
    path = file(tmp_path, "Ann,Ben,Cy,truth\nA,A,B,A\nB,B,B,-1\n")
    ratings = read_ratings(path, labels=["ann", "Ben", "Cy"], gold="truth")
    assert (ratings.labels, ratings.counts.tolist()) == (("A", "B"), [[2, 1], [0, 3]])
    assert ratings.gold.to_list() == ["A", None]
    assert ratings.groups is None


def test_gold_is_the_majority_where_no_column_holds_it(tmp_path: Path) -> None:
    ratings = read_ratings(file(tmp_path, "rater_1,rater_2,rater_3\nx,x,y\nx,y,z\n"))
    assert ratings.gold.to_list() == ["x", None]
    assert ratings.gold_from == "majority"


def test_minus_one_is_a_label_where_somebody_gave_it(tmp_path: Path) -> None:
    ratings = read_ratings(file(tmp_path, "label1,label2,gold\n-1,0,-1\n1,1,1\n"))
    assert ratings.labels == ("-1", "0", "1")
    assert ratings.gold.to_list() == ["-1", "1"]


def test_letters_are_taken_as_they_are_written_where_no_label_is_written_out(tmp_path: Path) -> None:
    assert read_ratings(file(tmp_path, "label1,label2\ne,c\n")).labels == ("c", "e")


def test_yes_and_no_are_no_labels_of_nli_unless_one_of_them_occurs(tmp_path: Path) -> None:
    assert read_ratings(file(tmp_path, "label1,label2\nyes,no\n")).labels == ("no", "yes")
    assert read_ratings(file(tmp_path, "label1,label2\nyes,entailment\n")).labels == (E,)


def test_a_label_that_nobody_knows_is_told_with_its_line(tmp_path: Path) -> None:
    path = file(tmp_path, f"label1,label2,gold\n{E},{E},{E}\n{E},entail,{E}\n")
    with pytest.raises(FileError) as caught:
        read_ratings(path)
    assert str(caught.value) == f"{path}:3: label 'entail' is not entailment, neutral or contradiction; correct it"
    path = file(tmp_path, f"label1,label2,gold\n{E},{E},{E}\n{E},{N},maybe\n")
    with pytest.raises(FileError, match=":3: label 'maybe' is not entailment"):
        read_ratings(path)


@pytest.mark.parametrize(
    ("text", "options", "problem"),
    [
        ("label1,label2\n", {}, ": has no rows, so nobody has labelled anything; copy or write it again"),
        (
            "label1,label2\n,-\n",
            {},
            ": nobody gave a label: label1, label2 hold none; name other columns with --labels",
        ),
        (
            "premise,label\nA,x\n",
            {},
            ": none of the columns (premise, label) is known to hold labels of several people (annotator_labels; "
            "label1, label2 …; or item, annotator and label or categories); name a column for each person with "
            "--labels COLUMN,COLUMN",
        ),
        (
            "item,annotator,ok\np,a,yes\n",
            {},
            ": none of the columns (item, annotator, ok) is known to hold labels of several people (annotator_labels; "
            "label1, label2 …; or item, annotator and label or categories); name a column for each person with "
            "--labels COLUMN,COLUMN, or, if they hold answers, the questionnaire with --questionnaire",
        ),
        (
            "premise,mine\nA,x\n",
            {"labels": ["mine"]},
            ": column 'mine' holds one label a row, and there are no columns item and annotator; name a column for "
            "each person: --labels mine,COLUMN",
        ),
        (
            "a,b\nx,y\n",
            {"labels": ["a", "b"], "gold": "a"},
            ": column 'a' cannot hold both the labels of people and gold",
        ),
        (
            "item,annotator,label\np,a,x\np,b,x\np,a,y\n",
            {},
            ":4: annotator 'a' answers item 'p' a second time; keep one row",
        ),
        ("item,annotator,label\np,,x\n", {}, ":2: has no annotator; fill it in or remove the row"),
        (
            "item,annotator,x,y\np,a,1,1\np,b,0,2\n",
            {"categories": ["x", "y"]},
            ":3: column 'y' holds '2'; write 1 where the category is marked and 0 where not",
        ),
        (
            "item,annotator,x,y\np,a,1,1\np,b,0,x\nq,a,0,1\nq,b,0,1\n",
            {},
            ":3: column 'y' holds 'x'; write 1 where the category is marked and 0 where not",
        ),
        (
            "item,annotator,annotated_label,easy,old,follows\np,a,e,1,0,yes\np,b,e,1,0,no\nq,a,n,0,0,no\nq,b,n,0,0,no\n",
            {},
            ": column 'annotated_label' has the same value in all rows of each item, so it belongs to the items, and "
            "the answers of people are in other columns; name the questionnaire with --questionnaire NAME, or, if they "
            "are labels of people after all, write --labels annotated_label",
        ),
        (
            "premise,x,y\nA,1,1\n",
            {"categories": ["x", "y"]},
            ": categories (--categories) need a row for each person and item, with columns item and annotator",
        ),
        (
            "item,annotator,categories\np,a,\np,b,-\n",
            {},
            ": nobody marked a category: categories hold none; name other columns with --categories",
        ),
        (
            "item,annotator,label,gold\np,a,x,x\np,b,x,y\n",
            {},
            ": item 'p' has the gold 'x' and 'y'; an item has one, in all its rows",
        ),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, text: str, options: dict[str, object], problem: str) -> None:
    path = file(tmp_path, text)
    with pytest.raises(FileError) as caught:
        read_ratings(path, **options)  # type: ignore[arg-type]
    assert str(caught.value) == f"{path}{problem}"


def test_a_column_that_is_not_there_is_told(tmp_path: Path) -> None:
    path = file(tmp_path, "ann,ben\nx,y\n")
    with pytest.raises(AcidtestError) as caught:
        read_ratings(path, labels=["ann", "bem"])
    assert str(caught.value) == f"no column called 'bem'; did you mean 'ben'? (--labels, {path})"


def test_lists_and_single_columns_do_not_mix(tmp_path: Path) -> None:
    path = file(tmp_path, '{"a": ["x"], "b": "x"}\n', "labels.jsonl")
    with pytest.raises(FileError, match=r"column 'a' holds lists; it alone can be given as --labels a"):
        read_ratings(path, labels=["a", "b"])


def breaking(tmp_path: Path, *categories: str) -> str:
    rows = [{"sentence1": "A", "gold_label": C, "annotator_labels": [C, C, C], "category": each} for each in categories]
    return read_ratings(file(tmp_path, "".join(json.dumps(row) + "\n" for row in rows), "mine.jsonl")).corpus


def test_breaking_nli_is_known_by_its_categories(tmp_path: Path) -> None:
    assert breaking(tmp_path, "antonyms_wordnet", "cardinals", "nationalities", "drinks") == "Breaking NLI"
    assert breaking(tmp_path, "cardinals", "sports") == ""


def test_only_the_test_set_of_snli_is_known_as_that(shared: Path) -> None:
    assert read_ratings(shared / "snli" / "snli_1.0_test.jsonl.gz").corpus == "SNLI test"
    assert read_ratings(shared / "snli" / "snli_1.0_dev.jsonl.gz").corpus == ""


def test_rows_without_a_sentence_are_their_own_groups(tmp_path: Path) -> None:
    ratings = read_ratings(file(tmp_path, "label1,label2,premise\nx,y,A\nx,y,\nx,y,\nx,x,A\n"))
    assert ratings.groups is not None
    first, second, third, fourth = ratings.groups.tolist()
    assert first == fourth
    assert len({first, second, third}) == 3


ANSWERS = {
    "item": ["p", "p", "p", "q", "q", "q", "r", "r", "r"],
    "annotator": ["a", "b", "c"] * 3,
    "premise": ["P"] * 6 + ["R"] * 3,
    "expected": ["c"] * 3 + ["entailment"] * 3 + ["e"] * 3,
    "same_event": ["no", "no", "yes"] + ["yes"] * 6,
    "new_information": ["no", "no", "yes"] + ["no"] * 6,
    "ungrammatical": ["no"] * 8 + ["yes"],
}


def test_what_a_questionnaire_makes_of_answers_are_ratings() -> None:
    asked = load_questionnaire("breaking-nli")
    judged = judgements(asked, check_answers(pl.DataFrame(ANSWERS), asked))
    ratings = judgement_ratings(judged)
    assert ratings.labels == (C, E, N)
    assert ratings.counts.tolist() == [[2, 0, 1], [0, 3, 0]]
    assert ratings.gold.to_list() == [C, E]
    assert ratings.groups is not None
    assert ratings.groups.tolist() == [1, 1]
    assert judgement_ratings(judged, gold="expected").gold.to_list() == [C, E]


def test_the_written_result_gives_the_same_ratings(tmp_path: Path) -> None:
    asked = load_questionnaire("breaking-nli")
    judged = judgements(asked, check_answers(pl.DataFrame(ANSWERS), asked))
    for name in ("out.jsonl", "out.csv"):
        write_table(judged.table, tmp_path / name)
        ratings = read_ratings(tmp_path / name)
        # The discarded item has no labels; those of NLI stand in their own order.
        assert ratings.counts.tolist() == [[0, 1, 2], [3, 0, 0], [0, 0, 0]]
        assert ratings.gold.to_list() == [C, E, None]
        assert read_table(tmp_path / name).columns[:3] == ["item", "premise", "expected"]


def test_what_came_along_does_not_stand_in_the_way_of_the_written_result(tmp_path: Path) -> None:
    asked = load_questionnaire("taxonomy")
    said = {"inference": E, "outside_knowledge": "no", "approach": ["reading"]}
    marks = {"connectives": ["negation"], "wording": ["none"]}
    known = {"premise": "P", "hypothesis": "H", "gold": C, "world_knowledge": "1", "Same-Topic": "-", "genre": "g"}
    rows = [{"item": item, "annotator": who, **known, **said, **marks} for item in "pq" for who in "ab"]
    judged = judgements(asked, check_answers(pl.DataFrame(rows), asked))
    assert {"source_gold", "source_world_knowledge", "source_Same-Topic", "genre"} < set(judged.table.columns)
    assert not {"gold", "world_knowledge", "Same-Topic"} & set(judged.table.columns)
    for name in ("out.jsonl", "out.csv"):
        write_table(judged.table, tmp_path / name)
        suite = read_corpus(tmp_path / name).suite
        found = read_categories(suite).frame.collect()
        assert found.select("label", "negation", "world").rows() == [(E, True, False)] * 2
        # Gold of two people is their own vote, in the file as well.
        again = read_ratings(tmp_path / name)
        assert (again.gold_from, again.corpus) == (judgement_ratings(judged).gold_from, "") == ("majority", "")


def test_the_same_answers_have_the_same_signature_in_every_file(tmp_path: Path) -> None:
    asked = load_questionnaire("breaking-nli")
    signatures = set[str]()
    for name in ("a.jsonl", "a.csv", "reversed.tsv"):
        frame = pl.DataFrame(ANSWERS)
        write_table(frame.reverse() if "reversed" in name else frame, tmp_path / name)
        answers = read_answers(tmp_path / name, asked)
        signatures.add(judgement_ratings(judgements(asked, answers), gold="expected").signature)
    assert len(signatures) == 1
    for column in ("premise", "expected", "same_event"):
        changed = ANSWERS | {column: [{"P": "Q", "c": "n", "no": "yes"}.get(cell, cell) for cell in ANSWERS[column]]}
        answers = check_answers(pl.DataFrame(changed), asked)
        assert judgement_ratings(judgements(asked, answers), gold="expected").signature not in signatures


def test_mistakes_about_judgements_are_told() -> None:
    asked = load_questionnaire("breaking-nli")
    judged = judgements(asked, check_answers(pl.DataFrame(ANSWERS), asked))
    with pytest.raises(AcidtestError, match="no column called 'expcted'; did you mean 'expected'"):
        judgement_ratings(judged, gold="expcted")
    odd = pl.DataFrame(ANSWERS | {"expected": ["maybe"] * 9})
    with pytest.raises(
        AcidtestError, match=r"gold 'maybe' \(--gold expected\) is not contradiction, entailment or neutral"
    ):
        judgement_ratings(judgements(asked, check_answers(odd, asked)), gold="expected")
    all_bad = pl.DataFrame(ANSWERS | {"ungrammatical": ["yes"] * 9})
    with pytest.raises(AcidtestError, match="all 3 items are discarded; no labels are left"):
        judgement_ratings(judgements(asked, check_answers(all_bad, asked)))


CATEGORIES = {
    "item": ["p", "p", "q", "q", "r", "r"],
    "annotator": ["a", "b"] * 3,
    "same_topic": ["yes", "no", "no", "no", "yes", "yes"],
    "same_subject": [None, None, None, None, "no", "no"],
}


def neutral(**columns: list[object]) -> pl.DataFrame:
    same = {"same_subject": ["no", None, None, None, "no", "no"]}
    return pl.DataFrame({**CATEGORIES, **same, **columns})


def test_a_questionnaire_may_give_categories_alone() -> None:
    asked = load_questionnaire("taxonomy-neutral")
    judged = judgements(asked, check_answers(neutral(), asked))
    ratings = judgement_ratings(judged)
    assert (ratings.labels, ratings.counts.shape) == ((), (3, 0))
    assert ratings.categories[0] == "lexical"
    assert ratings.categories[-3:] == ("same_topic", "same_subject", "same_object")
    assert ratings.said is not None
    assert ratings.said["categories"].to_list() == [["same_topic"], [], [], [], ["same_topic"], ["same_topic"]]
    # With the three features it is not what the paper measured.
    assert ratings.corpus == ""
    with pytest.raises(AcidtestError, match="--gold x: questionnaire 'taxonomy-neutral' gives no labels"):
        judgement_ratings(judgements(asked, check_answers(neutral(x=["n"] * 6), asked)), gold="x")


def test_gold_that_came_along_is_for_inference_accuracy_only() -> None:
    asked = load_questionnaire("breaking-nli")
    frame = pl.DataFrame(ANSWERS).rename({"expected": "gold"})
    ratings = judgement_ratings(judgements(asked, check_answers(frame, asked)))
    assert (ratings.gold_from, ratings.reference_from) == ("majority", "gold")
    assert ratings.reference is not None
    assert ratings.reference.to_list() == [C, E]
    other = frame.with_columns(gold=pl.lit("good"))
    assert judgement_ratings(judgements(asked, check_answers(other, asked))).reference is None
