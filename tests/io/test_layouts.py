"""Layouts that share their columns with others: what tells them, and what their labels mean then."""

import json
import logging
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from acidtest.core.errors import FileError
from acidtest.corpora.files import Corpus, read_corpus
from acidtest.io.layouts import LAYOUTS
from acidtest.io.tables import write_table

SNLI = ("sentence1", "sentence2", "gold_label")
HUGGING_FACE = ("premise", "hypothesis", "label")
# GLUE's dev files of MultiNLI have these columns, and so has MED.
MULTINLI = ("index", "promptID", "pairID", "genre", *SNLI[:2], "label1", "label2", "gold_label")


@pytest.fixture
def written(tmp_path: Path):
    """Write a table and give its path; a name without an ending is a folder's, with the file pairs.tsv in it."""

    def write(name: str, header: tuple[str, ...], *rows: tuple[Any, ...]) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".jsonl":
            lines = [json.dumps(dict(zip(header, row, strict=True))) for row in rows]
        else:
            lines = ["\t".join(cells) for cells in ((header,) if header else ()) + rows]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
        return path

    return write


def golds(found: Corpus) -> list[str]:
    return found.suite.frame.select("label").collect()["label"].to_list()


def two_way(*columns: str) -> tuple[tuple[str, ...], ...]:
    """A row with entailment and one with neutral, after cells of other columns."""
    return tuple((f"A cat{n} sat.", "A cat sat.", label, *columns) for n, label in enumerate(["entailment", "neutral"]))


MARKED = [
    ("MED", "MED.tsv", SNLI, ()),
    ("MED", "MED_ver_1.tsv", SNLI, ()),
    ("MED", "MED-master/pairs.tsv", SNLI, ()),
    ("MED", "pairs.tsv", (*SNLI, "genre"), ("crowd:upward_monotone:npi",)),
    ("MED", "pairs.jsonl", (*SNLI, "Genre"), ("paper:non_monotone",)),
    ("MoNLI", "pairs.jsonl", (*SNLI, "sentence1_lex", "sentence2_lex", "depth"), ("cat", "animal", 2)),
    ("MoNLI", "nmonli_test.jsonl", (*SNLI, "depth"), (-1,)),
    ("MoNLI", "MoNLI/test.jsonl", SNLI, ()),
    ("SciTail", "scitail_1.0_dev.jsonl", SNLI, ()),
    ("SciTail", "SciTail/dev.tsv", HUGGING_FACE, ()),
    ("SciTail without header", "scitail_1.0_train.tsv", (), ()),
    ("EQUATE", "NewsNLI.jsonl", SNLI, ()),
    ("EQUATE", "RTE_Quant.jsonl", SNLI, ()),
]


@pytest.mark.parametrize(("layout", "name", "header", "cells"), MARKED)
def test_neutral_is_not_entailed_in_sets_of_two_classes(written, caplog, layout, name, header, cells) -> None:
    with caplog.at_level(logging.WARNING, "acidtest"):
        found = read_corpus(written(name, header, *two_way(*cells)))
    assert (found.layout, golds(found)) == (layout, ["entailment", "non-entailment"])
    assert caplog.messages == []


def test_every_layout_that_needs_more_than_columns_is_tried_here() -> None:
    one_by_one = {"GLUE RTE", "Hugging Face RTE", "Hugging Face HANS", "IMPPRES", "ANLI", "ANLI annotated"}
    # Those of documents and claims are in test_claim_files.py.
    rest = {"three columns without header", "AggreFact", "SummaC"}
    marked = {layout.name for layout in LAYOUTS if layout.is_marked or not layout.header}
    assert marked == {name for name, *_ in MARKED} | one_by_one | rest


@pytest.mark.parametrize(
    "path",
    [
        "med/pairs.tsv",
        "MED-master/pairs.tsv",
        "scitail/pairs.tsv",
        "nmonli.tsv",
        "newsnli.tsv",
        "med/scitail_monli.tsv",
    ],
)
def test_a_name_does_not_make_two_classes_of_three(written, path: str) -> None:
    # A folder called med may hold medicine.
    found = read_corpus(written(path, SNLI, *two_way(), ("A cat sat.", "No cat sat.", "contradiction")))
    assert (found.layout, golds(found)) == ("SNLI/MNLI", ["entailment", "neutral", "contradiction"])


@pytest.mark.parametrize(
    "name", ["mednli.tsv", "median.tsv", "unmed.tsv", "my_med.tsv", "scitails.tsv", "demonlic.tsv"]
)
def test_a_name_is_a_whole_word(written, name: str) -> None:
    assert read_corpus(written(name, SNLI, *two_way())).layout == "SNLI/MNLI"


@pytest.mark.parametrize(
    ("name", "header", "layout"),
    [
        ("a.tsv", SNLI, "SNLI/MNLI"),
        ("a.tsv", HUGGING_FACE, "Hugging Face"),
        ("a.tsv", (), "three columns without header"),
    ],
)
def test_neutral_stays_neutral_with_a_warning_where_nothing_tells(written, caplog, name, header, layout) -> None:
    path = written(name, header, *two_way())
    with caplog.at_level(logging.WARNING, "acidtest"):
        found = read_corpus(path)
    assert (found.layout, golds(found)) == (layout, ["entailment", "neutral"])
    assert caplog.messages == [
        f"{path}: read as {layout}, it has entailment (entailment) and neutral (neutral) but no contradiction. "
        "If neutral means non-entailment there, give --label-map entailment=entailment,neutral=non-entailment"
    ]
    caplog.clear()
    found = read_corpus(path, label_map={"entailment": "entailment", "neutral": "non-entailment"})
    assert (golds(found), caplog.messages) == (["entailment", "non-entailment"], [])


def test_labels_in_short_are_repeated_as_they_are_written(written, caplog) -> None:
    path = written("a.tsv", SNLI, ("A.", "B.", "e"), ("C.", "D.", "n"), ("E.", "F.", "-"))
    read_corpus(path)
    assert "entailment (e) and neutral (n)" in caplog.text
    assert "--label-map e=entailment,n=non-entailment" in caplog.text


def test_one_class_alone_is_not_worth_a_warning(written, caplog) -> None:
    read_corpus(written("a.tsv", SNLI, ("A.", "B.", "neutral")))
    read_corpus(written("b.tsv", SNLI, ("A.", "B.", "entailment")))
    assert caplog.messages == []


def test_class_names_that_include_contradiction_need_no_warning(tmp_path: Path, caplog) -> None:
    frame = pl.DataFrame({"premise": ["A.", "C."], "hypothesis": ["B.", "D."], "label": [0, 1]})
    for name, third, warnings in (("three.parquet", ["contradiction"], 0), ("two.parquet", [], 1)):
        features = {"info": {"features": {"label": {"names": ["entailment", "neutral", *third]}}}}
        write_table(frame, tmp_path / name, metadata={"huggingface": json.dumps(features)})
        caplog.clear()
        assert golds(read_corpus(tmp_path / name)) == ["entailment", "neutral"]
        assert len(caplog.messages) == warnings


def test_class_names_of_scitail_mean_what_scitail_means(tmp_path: Path) -> None:
    frame = pl.DataFrame({"premise": ["A.", "C."], "hypothesis": ["B.", "D."], "label": [0, 1]})
    features = {"info": {"features": {"label": {"names": ["entails", "neutral"]}}}}
    write_table(frame, tmp_path / "scitail.parquet", metadata={"huggingface": json.dumps(features)})
    assert golds(read_corpus(tmp_path / "scitail.parquet")) == ["entailment", "non-entailment"]


def test_what_was_made_of_neutral_is_told_at_length(written, caplog) -> None:
    path = written("MED.tsv", SNLI, *two_way())
    with caplog.at_level(logging.INFO, "acidtest"):
        read_corpus(path)
    assert caplog.messages == [f"{path}: MED has two classes: neutral is read as non-entailment"]


def test_med_is_told_from_multinli_by_its_tags(written) -> None:
    multinli = ("1", "10", "10n", "fiction", "A cat sat.", "A cat lay.", "neutral", "neutral", "neutral")
    med = ("1", "1", "1", "crowd:downward_monotone", "No cat sat.", "No black cat sat.", "", "", "neutral")
    found = read_corpus(written("dev_matched.tsv", MULTINLI, multinli))
    assert (found.layout, golds(found)) == ("SNLI/MNLI", ["neutral"])
    found = read_corpus(written("dev_med_pairs.tsv", MULTINLI, med))
    assert (found.layout, golds(found)) == ("MED", ["non-entailment"])
    assert found.suite.frame.collect()["source_id"].to_list() == ["1"]


def test_the_columns_a_user_gives_take_the_meaning_of_a_set_away(written) -> None:
    path = written("MED.tsv", SNLI, *two_way())
    found = read_corpus(path, columns={"label": "gold_label"})
    assert (found.layout, golds(found)) == ("columns given", ["entailment", "neutral"])


def test_help_has_an_index_without_a_name_and_original_and_new_sentences(written) -> None:
    header = (
        "",
        "filename",
        "determiner",
        "monotonicity",
        "gold_label",
        "replace_mode",
        "ori_sentence",
        "new_sentence",
    )
    path = written(
        "pmb_train_v1.0.tsv",
        header,
        ("7", "gold/p1", "no", "downward_monotone", "entailment", "simple", "No cat sat .", '"No ""black"" cat sat ."'),
        ("3", "gold/p2", "no", "downward_monotone", "neutral", "simple", "No black cat sat .", "No cat sat ."),
    )
    found = read_corpus(path)
    columns = ("premise", "hypothesis", "label", "determiner")
    assert found.suite.frame.select(columns).collect().rows() == [
        ("No cat sat .", 'No "black" cat sat .', "entailment", "no"),
        ("No black cat sat .", "No cat sat .", "non-entailment", "no"),
    ]
    assert (found.layout, found.suite.card.columns["monotonicity"]) == ("HELP", "text")


def test_presuppositions_of_imppres_load_in_both_forms(written) -> None:
    more = ("trigger", "presupposition", "UID", "pairID", "paradigmID")
    cells = ("unembedded", "positive", "change_of_state", "3e", 0)
    row = ("Tom's cat left.", "Tom has a cat.", "entailment", *cells)
    found = read_corpus(written("presupposition_change_of_state.jsonl", (*SNLI, *more), row))
    assert (found.layout, golds(found)) == ("SNLI/MNLI", ["entailment"])
    numbered = ("premise", "hypothesis", "gold_label", *more)
    rows = [("Tom's cat left.", f"Tom has {n} cats.", n, *cells[:3], f"{n}", 0) for n in range(3)]
    found = read_corpus(written("presupposition.jsonl", numbered, *rows))
    assert (found.layout, golds(found)) == ("IMPPRES", ["entailment", "neutral", "contradiction"])


@pytest.mark.parametrize("texts", [("sentence1", "sentence2"), ("premise", "hypothesis")])
def test_implicatures_of_imppres_are_refused_until_one_gold_is_chosen(written, texts) -> None:
    header = (*texts, "gold_label_log", "gold_label_prag", "spec_relation", "item_type", "trigger", "lexemes")
    row = (
        "Some cats sat.",
        "Not all cats sat.",
        "neutral",
        "entailment",
        "target",
        "target",
        "quantifiers",
        "some - all",
    )
    path = written("implicature_quantifiers.jsonl", header, row)
    with pytest.raises(FileError) as caught:
        read_corpus(path)
    assert str(caught.value) == (
        f"{path}: the columns gold_label_log and gold_label_prag could each be the label; "
        "say which is with --columns label=gold_label_log"
    )
    assert golds(read_corpus(path, columns={"label": "gold_label_prag"})) == ["entailment"]


def test_xnli_keeps_its_languages_and_its_pairs_of_one_id(written) -> None:
    header = ("language", "gold_label", *SNLI[:2], "promptID", "pairID", "genre", "match")
    found = read_corpus(
        written(
            "xnli.dev.tsv",
            header,
            ("en", "contradictory", "A cat sat.", "No cat sat.", "1", "1", "facetoface", "True"),
            ("de", "contradiction", "Eine Katze saß.", "Keine Katze saß.", "1", "1", "facetoface", "True"),
        )
    )
    assert (found.layout, golds(found)) == ("SNLI/MNLI", ["contradiction", "contradiction"])
    assert found.suite.card.columns["language"] == "factor"
    assert found.suite.frame.collect()["source_pairID"].to_list() == ["1", "1"]


def test_an_index_and_two_names_are_read_as_glue(written) -> None:
    found = read_corpus(
        written(
            "dev.tsv",
            ("index", "sentence1", "sentence2", "label"),
            ("0", "A cat sat.", "A cat sat.", "entailment"),
            ("1", "A cat sat.", "A dog sat.", "not_entailment"),
        )
    )
    assert (found.layout, golds(found)) == ("GLUE", ["entailment", "non-entailment"])
    assert found.suite.frame.collect()["source_id"].to_list() == ["0", "1"]


def test_the_published_sample_of_anli_with_swapped_columns_is_warned_of(written, caplog) -> None:
    # The file spells the name so. In the rows looked at, "adverary_pred" is what context and reason support.
    header = ("context", "statement", "reason", "adverary_pred", "gold_label")
    path = written("sample.tsv", header, ("The cat is free.", "The cat costs nothing.", "Free.", "e", "n"))
    found = read_corpus(path)
    assert (found.layout, golds(found)) == ("ANLI annotated", ["neutral"])
    assert "--columns label=adverary_pred" in caplog.text
    assert golds(read_corpus(path, columns={"label": "adverary_pred"})) == ["entailment"]


def test_annotated_csvs_of_anli_need_no_warning(written, caplog) -> None:
    header = ("context", "statement", "adversary_pred", "gold_label", "uid")
    found = read_corpus(written("r1.tsv", header, ("A cat sat.", "No cat sat.", "n", "c", "u1")))
    assert (found.layout, golds(found), caplog.messages) == ("ANLI annotated", ["contradiction"], [])


def test_two_gold_columns_are_refused_with_both_named(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("premise,hypothesis,label,gold\nA cat sat.,A cat lay.,neutral,entailment\n")
    with pytest.raises(FileError, match="the columns label and gold could each be the label; say which is with"):
        read_corpus(path)
    assert read_corpus(path, columns={"label": "gold"}).suite.card.labels == {"entailment": 1}
