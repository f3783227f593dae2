import gzip
import json
import logging
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from acidtest.core.digests import digests, hexadecimal
from acidtest.core.errors import AcidtestError, FileError, UnknownNameError
from acidtest.core.suite import COLUMNS
from acidtest.corpora.files import Corpus, read_corpus
from acidtest.io.columns import parse_pairs
from acidtest.io.layouts import LAYOUTS
from acidtest.io.tables import write_table


@pytest.fixture
def written(tmp_path: Path):
    """Write a file, tab-separated from rows or JSON lines from objects, and give its path."""

    def write(name: str, rows: list[Any]) -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        lines = [json.dumps(row) if isinstance(row, dict) else "\t".join(row) for row in rows]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
        return path

    return write


def rows(found: Corpus, *columns: str) -> list[tuple[Any, ...]]:
    return found.suite.frame.select(columns).collect().rows()


def pairs(found: Corpus) -> list[tuple[Any, ...]]:
    return rows(found, "premise", "hypothesis", "label")


def test_snli_json_lines_become_a_suite(written) -> None:
    path = written(
        "snli_1.0_dev.jsonl",
        [
            {
                "annotator_labels": ["neutral", "entailment", "neutral"],
                "captionID": "47.jpg#2",
                "gold_label": "neutral",
                "pairID": "47.jpg#2r1n",
                "sentence1": "Two women hug.",
                "sentence1_binary_parse": "( ( Two women ) ( hug . ) )",
                "sentence1_parse": "(ROOT (S (NP Two women) (VP hug) (. .)))",
                "sentence2": "Sisters hug.",
                "sentence2_binary_parse": "( Sisters ( hug . ) )",
                "sentence2_parse": "(ROOT (S (NP Sisters) (VP hug) (. .)))",
            },
            {"gold_label": "-", "pairID": "47.jpg#2r1x", "sentence1": "Two women hug.", "sentence2": ""},
            {
                "annotator_labels": ["contradiction"],
                "captionID": "47.jpg#2",
                "gold_label": "contradiction",
                "pairID": "47.jpg#2r1c",
                "sentence1": "Two women hug.",
                "sentence2": "N/A",
            },
        ],
    )
    found = read_corpus(path)
    assert (found.layout, found.rows_read, found.dropped) == ("SNLI/MNLI", 3, 1)
    frame = found.suite.frame.collect()
    assert frame.columns == [
        *COLUMNS,
        "premise_parse",
        "hypothesis_parse",
        "premise_binary_parse",
        "hypothesis_binary_parse",
        "annotator_labels",
        "captionID",
    ]
    premise = "Two women hug."
    group = hexadecimal(digests(pl.Series([premise])))[0]
    assert frame.drop("id").rows() == [
        (
            *(premise, "Sisters hug.", "neutral", group, None, "47.jpg#2r1n", None),
            "(ROOT (S (NP Two women) (VP hug) (. .)))",
            "(ROOT (S (NP Sisters) (VP hug) (. .)))",
            "( ( Two women ) ( hug . ) )",
            "( Sisters ( hug . ) )",
            '["neutral","entailment","neutral"]',
            "47.jpg#2",
        ),
        (
            *(premise, "N/A", "contradiction", group, None, "47.jpg#2r1c", None),
            *(None, None, None, None),
            '["contradiction"]',
            "47.jpg#2",
        ),
    ]
    card = found.suite.card
    assert (card.name, card.version, card.rows, card.strata) == ("snli_1.0_dev", 1, 2, ())
    assert card.labels == {"contradiction": 1, "neutral": 1}
    assert card.columns == {"annotator_labels": "text", "captionID": "text"}
    assert list(card.sources) == ["snli_1.0_dev.jsonl"]
    assert (card.licence, card.citation, dict(card.arguments)) == ("", "", {})
    assert card.fingerprint


GIVEN = [
    ("SNLI/MNLI", ("sentence1", "sentence2", "gold_label"), "entails", "entailment"),
    ("SNLI/MNLI", ("Sentence1", "SENTENCE2", "Gold_Label"), "ENTAILMENT ", "entailment"),
    ("GLUE", ("sentence1", "sentence2", "label"), "not_entailment", "non-entailment"),
    ("premise, hypothesis, gold_label", ("premise", "hypothesis", "gold_label"), "contradictory", "contradiction"),
    ("Hugging Face", ("premise", "hypothesis", "label"), "2", "contradiction"),
    ("Hugging Face", ("premise", "hypothesis", "label"), "2.0", "contradiction"),
    ("Hugging Face", ("premise", "hypothesis", "label"), "neutral", "neutral"),
    ("TaxiNLI", ("prem", "hyp", "label"), "entailment", "entailment"),
    ("SICK", ("sentence_A", "sentence_B", "entailment_judgment"), "NEUTRAL", "neutral"),
    ("SICK", ("sentence_A", "sentence_B", "entailment_label"), "CONTRADICTION", "contradiction"),
    ("ANLI", ("context", "hypothesis", "label"), "c", "contradiction"),
    ("ANLI annotated", ("context", "statement", "gold_label"), "n", "neutral"),
    ("LLM-AggreFact", ("doc", "claim", "label"), "1", "entailment"),
    ("LLM-AggreFact", ("doc", "claim", "label"), "0", "non-entailment"),
    ("TRUE", ("grounding", "generated_text", "label"), "0", "non-entailment"),
    ("FaithBench", ("source", "summary", "worst-label"), "Unwanted", "non-entailment"),
    ("RAGTruth", ("source_info", "response", "hallucinated"), "no", "entailment"),
    ("HaluEval", ("document", "summary", "hallucination"), "yes", "non-entailment"),
    ("HaluEval", ("knowledge", "answer", "hallucination"), "no", "entailment"),
    ("HaluEval", ("knowledge", "response", "hallucination"), "Yes", "non-entailment"),
    ("documents and claims", ("document", "claim", "label"), "contradiction", "contradiction"),
    ("documents and claims", ("Source", "Response", "Label"), "not_entailment", "non-entailment"),
    ("documents and claims", ("context", "summary", "label"), "neutral", "neutral"),
    ("documents and claims", ("premise", "claim", "label"), "entailment", "entailment"),
    ("documents and claims", ("doc", "hypothesis", "label"), "c", "contradiction"),
    ("documents, claims and verdicts", ("document", "claim", "supported"), "no", "non-entailment"),
    ("documents, claims and verdicts", ("Passage", "Statement", "Grounded"), "1", "entailment"),
    ("text pairs", ("text", "text_pair", "label"), "entailment", "entailment"),
    ("HELP", ("ori_sentence", "new_sentence", "gold_label"), "neutral", "non-entailment"),
    ("WANLI", ("premise", "hypothesis", "gold"), "neutral", "neutral"),
    ("XNLI translated", ("premise", "hypo", "label"), "contradictory", "contradiction"),
    ("FraCaS", ("premise", "hypothesis", "fracas_answer"), "unknown", "neutral"),
    ("e-SNLI", ("s1", "s2", "labels"), "contradiction", "contradiction"),
]


@pytest.mark.parametrize(("layout", "header", "label", "gold"), GIVEN)
def test_layouts_are_recognised_by_their_columns(written, layout: str, header: Any, label: str, gold: str) -> None:
    found = read_corpus(written("pairs.tsv", [header, ("A cat sat.", "A cat lay.", label)]))
    assert found.layout == layout
    assert pairs(found) == [("A cat sat.", "A cat lay.", gold)]


def test_every_layout_that_its_columns_make_is_tried_here() -> None:
    # The others are in test_layouts.py.
    assert {layout.name for layout in LAYOUTS if layout.header and not layout.is_marked} == {name for name, *_ in GIVEN}


def test_the_order_of_columns_does_not_matter(written) -> None:
    found = read_corpus(written("a.tsv", [("label", "hyp", "prem"), ("entailment", "A cat lay.", "A cat sat.")]))
    assert pairs(found) == [("A cat sat.", "A cat lay.", "entailment")]


@pytest.mark.parametrize("label", ["entailment", "e", "-", "entails"])
def test_three_columns_without_header_are_premise_hypothesis_label(written, label: str) -> None:
    found = read_corpus(written("a.tsv", [("A cat.", "A cat.", label), ("A dog.", "A cow.", "neutral")]))
    assert found.layout == "three columns without header"
    assert pairs(found)[-1] == ("A dog.", "A cow.", "neutral")
    assert found.rows_read == 2


@pytest.mark.parametrize(
    "header",
    [
        ("text_a", "text_b", "e"),
        ("s1", "s2", "n"),
        ("a", "b", "c"),
        ("Premise", "Hypothesis", "entailment"),
        ("sentence1", "sentence2", "neutral"),
    ],
)
def test_names_of_columns_before_a_label_are_a_header(written, header: tuple[str, str, str]) -> None:
    columns = dict(zip(("premise", "hypothesis", "label"), header, strict=True))
    path = written("a.tsv", [header, ("A cat.", "A cat.", "e"), ("A dog.", "A cow.", "neutral")])
    assert read_corpus(path, columns=columns).rows_read == 2
    with pytest.raises(FileError, match=f"{header[0]}, {header[1]}, {header[2]}|{header[0]} and {header[1]}|no label"):
        read_corpus(path)


@pytest.mark.parametrize("pair", [("Dog", "Animal", "e"), ("hot_dog", "corn_dog", "neutral"), ("Text", "Text", "n")])
def test_single_words_before_a_label_are_a_pair(written, pair: tuple[str, str, str]) -> None:
    path = written("a.tsv", [pair, ("Cat", "Animal", "entailment")])
    assert read_corpus(path).rows_read == 2


def test_columns_without_header_can_be_given_by_number(written) -> None:
    path = written("a.tsv", [("7", "yes", "A cat.", "A dog."), ("8", "no", "A cow.", "A pig.")])
    columns = {"premise": "column_3", "hypothesis": "column_4", "label": "column_2", "source_id": "column_1"}
    found = read_corpus(path, columns=columns)
    assert found.layout == "columns given"
    assert rows(found, "premise", "hypothesis", "label", "source_id") == [
        ("A cat.", "A dog.", "entailment", "7"),
        ("A cow.", "A pig.", "contradiction", "8"),
    ]


def test_gold_label_wins_over_label(written) -> None:
    header = ("sentence1", "sentence2", "label", "gold_label")
    found = read_corpus(written("a.tsv", [header, ("A cat.", "A dog.", "neutral", "contradiction")]))
    assert pairs(found) == [("A cat.", "A dog.", "contradiction")]
    assert "source_label" in found.suite.frame.collect_schema()


def test_taxinli_takes_label_and_keeps_the_annotators_own(written) -> None:
    header = ("prem", "hyp", "label", "annotated_label", "pairID", "genre")
    path = written(
        "a.tsv",
        [
            header,
            ('"""Go."""""', "He goes.", "neutral", "-", "1n", "fiction"),
            ("A cat.", "A dog.", "contradiction", "neutral", "2c", "slate"),
        ],
    )
    found = read_corpus(path)
    # The released file is to be read without quoting, whatever its quotes look like.
    assert rows(found, "premise", "label", "annotated_label", "source_id") == [
        ('"""Go."""""', "neutral", "-", "1n"),
        ("A cat.", "contradiction", "neutral", "2c"),
    ]


def test_taxinli_written_anew_with_quotes_is_read_with_quotes(tmp_path: Path) -> None:
    frame = pl.DataFrame({"prem": ['"Go"\tnow.'], "hyp": ["He\ngoes."], "label": ["neutral"]})
    write_table(frame, tmp_path / "a.tsv")
    assert pairs(read_corpus(tmp_path / "a.tsv")) == [('"Go"\tnow.', "He\ngoes.", "neutral")]


@pytest.mark.parametrize("name", ["rte_dev.tsv", "glue-RTE.tsv", "RTE/dev.tsv"])
def test_integers_of_glue_mean_something_in_rte_only(written, name: str) -> None:
    table = [("index", "sentence1", "sentence2", "label"), ("0", "A.", "B.", "0"), ("1", "C.", "D.", "1")]
    found = read_corpus(written(name, table))
    assert found.layout == "GLUE RTE"
    assert rows(found, "premise", "label", "source_id") == [("A.", "entailment", "0"), ("C.", "non-entailment", "1")]


def test_hans_from_hugging_face_has_two_labels(written) -> None:
    common = {"heuristic": "lexical_overlap", "subcase": "ln_passive", "parse_premise": "(S)"}
    found = read_corpus(
        written(
            "a.jsonl",
            [
                {"premise": "A.", "hypothesis": "B.", "label": 0, **common},
                {"premise": "C.", "hypothesis": "D.", "label": 1, **common},
            ],
        )
    )
    assert found.layout == "Hugging Face HANS"
    assert pairs(found) == [("A.", "B.", "entailment"), ("C.", "D.", "non-entailment")]
    assert rows(found, "premise_parse") == [("(S)",), ("(S)",)]


ZEROS_AND_ONES = [("premise", "hypothesis", "label"), ("A.", "B.", "0"), ("C.", "D.", "1"), ("E.", "F.", "1.0")]


def test_zeros_and_ones_alone_are_refused_with_every_reading_and_its_counts(written) -> None:
    with pytest.raises(FileError) as refused:
        read_corpus(written("a.tsv", [*ZEROS_AND_ONES, ("G.", "H.", "-1")]))
    message = str(refused.value)
    assert "column 'label' holds only the numbers 0 (1 rows) and 1 (2 rows)" in message
    assert "--suite-label-map" in message
    assert "0=entailment,1=neutral means three labels without contradiction" in message
    assert "in the 2 rows with 1, only a prediction of neutral is right" in message
    assert "0=entailment,1=non-entailment means two labels, as in HANS and RTE: in these rows, neutral and" in message
    assert "0=non-entailment,1=entailment means that the 1 rows with 0 are those that are not entailed" in message


@pytest.mark.parametrize(
    "header",
    [("sentence1", "sentence2", "gold_label"), ("sentence1", "sentence2", "label"), ("text", "text_pair", "label")],
)
def test_zeros_and_ones_are_explained_where_the_layout_has_no_numbers(written, header) -> None:
    with pytest.raises(
        FileError, match=r"holds only the numbers 0 \(1 rows\) and 1 \(1 rows\).*0=entailment,1=neutral"
    ):
        read_corpus(written("a.tsv", [header, ("A.", "B.", "0"), ("C.", "D.", "1")]))


@pytest.mark.parametrize(
    ("label_map", "golds"),
    [
        ({"0": "entailment", "1": "neutral"}, ["entailment", "neutral", "neutral"]),
        ({"1": "non-entailment"}, ["entailment", "non-entailment", "non-entailment"]),
        ({"0": "non-entailment", "1": "entailment"}, ["non-entailment", "entailment", "entailment"]),
    ],
)
def test_a_label_map_says_what_zeros_and_ones_mean(written, label_map, golds) -> None:
    assert rows(read_corpus(written("a.tsv", ZEROS_AND_ONES), label_map=label_map), "label") == [(g,) for g in golds]


@pytest.mark.parametrize("label", ["0", "1"])
def test_zeros_or_ones_alone_are_refused_too(written, label) -> None:
    with pytest.raises(FileError, match="holds only the numbers 0"):
        read_corpus(written("a.tsv", [("premise", "hypothesis", "label"), ("A.", "B.", label)]))


@pytest.mark.parametrize(
    ("header", "cells", "golds"),
    [
        (("premise", "hypothesis", "label"), (), ["entailment", "neutral", "contradiction"]),
        (("doc", "claim", "label"), (), ["non-entailment", "entailment"]),
        (("grounding", "generated_text", "label"), (), ["non-entailment", "entailment"]),
        (("premise", "hypothesis", "label", "uid", "reason"), ("u", "r"), ["entailment", "neutral"]),
    ],
)
def test_numbers_that_their_layout_explains_load_without_a_flag(written, header, cells, golds) -> None:
    table = [header, *((f"A{n}.", f"B{n}.", f"{n}", *cells) for n in range(len(golds)))]
    assert rows(read_corpus(written("a.tsv", table)), "label") == [(gold,) for gold in golds]


def test_class_names_inside_a_parquet_file_beat_the_layout(tmp_path: Path) -> None:
    frame = pl.DataFrame({"premise": ["A.", "C."], "hypothesis": ["B.", "D."], "label": [1, 2]})
    features = {"info": {"features": {"label": {"names": ["entailment", "contradiction", "neutral"]}}}}
    write_table(frame, tmp_path / "cb.parquet", metadata={"huggingface": json.dumps(features)})
    assert pairs(read_corpus(tmp_path / "cb.parquet")) == [("A.", "B.", "contradiction"), ("C.", "D.", "neutral")]


def test_a_data_set_that_hugging_face_wrote_loads(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    features = datasets.Features(
        {
            "sentence1": datasets.Value("string"),
            "sentence2": datasets.Value("string"),
            "label": datasets.ClassLabel(names=["entailment", "not_entailment"]),
        }
    )
    columns = {"sentence1": ["A.", "C."], "sentence2": ["B.", "D."], "label": [1, -1]}
    datasets.disable_progress_bars()
    datasets.Dataset.from_dict(columns, features=features).to_parquet(tmp_path / "a.parquet")
    found = read_corpus(tmp_path / "a.parquet")
    assert pairs(found) == [("A.", "B.", "non-entailment")]
    assert found.dropped == 1


def test_rows_without_gold_are_dropped_and_counted(written) -> None:
    labels = ["-", "-1", "", "0", None, -1, 2]
    found = read_corpus(written("a.jsonl", [{"premise": "A.", "hypothesis": "B.", "label": label} for label in labels]))
    assert (found.rows_read, found.dropped) == (7, 5)
    assert pairs(found) == [("A.", "B.", "entailment"), ("A.", "B.", "contradiction")]


def test_rows_with_one_premise_are_one_group(written) -> None:
    table = [("A.", "B.", "neutral"), ("C.", "D.", "neutral"), ("A.", "E.", "neutral"), ("A.", "B.", "neutral")]
    frame = read_corpus(written("a.tsv", table)).suite.frame.collect()
    groups = frame["group"].to_list()
    assert groups[0] == groups[2] == groups[3] != groups[1]
    assert frame["id"].n_unique() == 4


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_a_column_called_group_says_which_rows_belong_together(tmp_path, name, caplog) -> None:
    frame = pl.DataFrame(
        {
            "premise": [f"Premise {row}." for row in range(6)],
            "hypothesis": "H.",
            "label": "neutral",
            "Group": ["a", "a", "b", "b", None, "a"],
        }
    )
    path = tmp_path / name
    frame.write_ndjson(path) if name.endswith("jsonl") else frame.write_csv(path)
    with caplog.at_level(logging.INFO, "acidtest"):
        found = read_corpus(path)
    alone = hexadecimal(digests(pl.Series(["Premise 4."])))[0]
    assert [group for (group,) in rows(found, "group")] == ["a", "a", "b", "b", alone, "a"]
    assert found.suite.card.columns == {}
    assert "column 'Group' says which rows belong together (2 groups)" in caplog.text
    as_factor = read_corpus(path, columns={"kind": "Group"})
    assert len({group for (group,) in rows(as_factor, "group")}) == 6
    assert as_factor.suite.card.columns == {"kind": "factor"}


def test_the_users_group_is_used_and_filled_up(written) -> None:
    rows_ = [
        {"premise": "A.", "hypothesis": "B.", "label": "e", "image": 7},
        {"premise": "C.", "hypothesis": "D.", "label": "n", "image": 7},
        {"premise": "E.", "hypothesis": "F.", "label": "c", "image": None},
    ]
    found = read_corpus(written("a.jsonl", rows_), columns={"group": "image"})
    assert found.layout == "Hugging Face"
    assert rows(found, "group") == [("7",), ("7",), (hexadecimal(digests(pl.Series(["E."])))[0],)]
    assert found.suite.card.columns == {}


@pytest.mark.parametrize("name", ["pairID", "uid", "pair_ID", "id", "index", "idx"])
def test_a_column_of_unique_ids_becomes_the_source_id(written, name: str) -> None:
    found = read_corpus(
        written("a.tsv", [("premise", "hypothesis", "label", name), ("A.", "B.", "e", "x1"), ("C.", "D.", "n", "x2")])
    )
    assert rows(found, "source_id") == [("x1",), ("x2",)]
    assert found.suite.card.columns == {}


@pytest.mark.parametrize(("name", "kept"), [("pairID", "source_pairID"), ("id", "source_id_")])
def test_ids_that_stand_twice_are_kept_as_text(written, name: str, kept: str) -> None:
    found = read_corpus(
        written("a.tsv", [("premise", "hypothesis", "label", name), ("A.", "B.", "e", "x"), ("C.", "D.", "n", "x")])
    )
    assert rows(found, "source_id", kept) == [(None, "x"), (None, "x")]
    assert found.suite.card.columns == {kept: "text"}


def test_the_first_column_of_unique_ids_is_taken(written) -> None:
    header = ("premise", "hypothesis", "label", "index", "pairID", "uid")
    found = read_corpus(
        written("a.tsv", [header, ("A.", "B.", "e", "0", "same", "u0"), ("C.", "D.", "n", "1", "same", "u1")])
    )
    assert rows(found, "source_id", "source_pairID", "source_index") == [("u0", "same", "0"), ("u1", "same", "1")]
    assert found.suite.card.columns == {"source_index": "text", "source_pairID": "text"}


def carried(path: Path, **options: Any) -> tuple[dict[str, str], pl.DataFrame]:
    found = read_corpus(path, **options)
    return dict(found.suite.card.columns), found.suite.frame.drop(COLUMNS).collect()


def test_columns_are_carried_as_factors_covariates_and_text(written) -> None:
    kinds, frame = carried(
        written(
            "a.jsonl",
            [
                {
                    "premise": f"A {row}.",
                    "hypothesis": "B.",
                    "label": "neutral",
                    "genre": "ab"[row % 2],
                    "flag": row % 2 == 0,
                    "code": row % 3,
                    "count": row,
                    "score": row / 2,
                    "note": f"note {row}",
                    "one": "same",
                    "ones": 1,
                    "group": "g",
                    "answers": ["e", "n"],
                }
                for row in range(60)
            ],
        )
    )
    assert kinds == {
        "genre": "factor",
        "flag": "factor",
        "code": "factor",
        "count": "covariate",
        "score": "covariate",
        "note": "text",
        "one": "text",
        "ones": "text",
        "source_group": "text",
        "answers": "text",
    }
    assert frame.row(5) == ("b", "false", "2", 5.0, 2.5, "note 5", "same", "1", "g", '["e","n"]')
    assert set(frame.dtypes) == {pl.String, pl.Float64}


def test_numbers_in_text_files_are_told_from_words(written) -> None:
    header = ("premise", "hypothesis", "label", "year", "share", "zip", "count", "mixed", "gap")
    table = [header]
    for row in range(60):
        numbers = (
            str(2000 + row % 2),
            f"{row % 2}.5",
            f"0{row}",
            str(row),
            "-" if row else "1.0",
            "" if row else "3.5",
        )
        table.append(("A.", "B.", "neutral", *numbers))
    kinds, frame = carried(written("a.tsv", table))
    assert kinds == {
        "year": "factor",
        "share": "covariate",
        "zip": "text",
        "count": "covariate",
        "mixed": "factor",
        "gap": "covariate",
    }
    assert frame.row(1) == ("2001", 1.5, "01", 1.0, "-", None)


def test_types_of_parquet_that_text_does_not_know(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "premise": ["A.", "B."],
            "hypothesis": pl.Series(["C.", "D."], dtype=pl.Categorical),
            "label": pl.Series([0, 2], dtype=pl.UInt8),
            "day": [date(2020, 1, 1), date(2020, 1, 2)],
            "image": [{"bytes": b"\xff", "path": "a.png"}, None],
            "took": [timedelta(1), None],
            "votes": [{"e": 3}, {"e": 2}],
            "nothing": [None, None],
        }
    )
    frame.write_parquet(tmp_path / "a.parquet")
    kinds, carried_ = carried(tmp_path / "a.parquet")
    assert kinds == {"day": "factor", "votes": "text", "nothing": "text"}
    assert carried_.rows() == [("2020-01-01", '{"e":3}', None), ("2020-01-02", '{"e":2}', None)]


def test_fifty_values_are_a_factor_and_fifty_one_are_not(written) -> None:
    for size, kind in ((50, "factor"), (51, "text")):
        table = [("premise", "hypothesis", "label", "x"), *(("A.", "B.", "e", f"v{row}") for row in range(size))]
        assert carried(written("a.tsv", table))[0] == {"x": kind}


def test_reserved_names_get_a_prefix(written) -> None:
    header = ("premise", "hypothesis", "label", "certainty", "suite", "source_certainty", "premise_parse")
    kinds, frame = carried(written("a.tsv", [header, ("A.", "B.", "e", "1", "2", "3", "(S)")]))
    assert frame.row(0, named=True) == {
        "premise_parse": "(S)",
        "source_certainty": "1",
        "source_suite": "2",
        "source_source_certainty": "3",
    }
    assert list(kinds) == ["source_certainty", "source_suite", "source_source_certainty"]


def test_a_parse_of_a_column_that_is_not_the_premise_keeps_out_of_the_way(written) -> None:
    header = ("prem", "hyp", "label", "premise_parse", "prem_parse")
    _, frame = carried(written("a.tsv", [header, ("A.", "B.", "e", "(X)", "(S)")]))
    assert frame.row(0, named=True) == {"premise_parse": "(S)", "source_premise_parse": "(X)"}


def test_columns_can_be_given_by_our_names(written) -> None:
    header = ("n", "text_a", "Text_B", "y", "genre_or_blank", "genre")
    path = written("a.tsv", [header, ("7", "A.", "B.", "yes", "slate", "x"), ("8", "C.", "D.", "no", "", "y")])
    columns = {"premise": "text_a", "hypothesis": "text_b", "label": "y", "source_id": "n", "genre": "genre_or_blank"}
    found = read_corpus(path, columns=columns, name="mine")
    assert (found.layout, found.suite.name) == ("columns given", "mine")
    assert rows(found, "premise", "hypothesis", "label", "source_id", "genre", "source_genre") == [
        ("A.", "B.", "entailment", "7", "slate", "x"),
        ("C.", "D.", "contradiction", "8", None, "y"),
    ]
    assert found.suite.card.columns == {"genre": "factor", "source_genre": "factor"}


def test_what_is_not_given_is_recognised(written) -> None:
    found = read_corpus(
        written("a.tsv", [("premise", "text_b", "label"), ("A.", "B.", "e")]), columns={"hypothesis": "text_b"}
    )
    assert pairs(found) == [("A.", "B.", "entailment")]
    assert found.layout == "columns given"


def test_given_columns_leave_integers_without_meaning(written) -> None:
    path = written("a.tsv", [("premise", "text_b", "label"), ("A.", "B.", "2")])
    with pytest.raises(FileError, match="what numbers mean differs"):
        read_corpus(path, columns={"hypothesis": "text_b"})
    found = read_corpus(path, columns={"hypothesis": "text_b"}, label_map={"2": "contradiction"})
    assert pairs(found) == [("A.", "B.", "contradiction")]


def test_the_label_map_goes_before_the_spellings_known(written) -> None:
    table = [("sentence1", "sentence2", "gold_label")]
    table += [("A.", f"{label}.", label) for label in ("entailment", "neutral", "NEUTRAL", "undef", "maybe")]
    found = read_corpus(
        written("a.tsv", table), label_map={"neutral": "non-entailment", "undef": "-", "Maybe": "non-contradiction"}
    )
    assert pairs(found) == [
        ("A.", "entailment.", "entailment"),
        ("A.", "neutral.", "non-entailment"),
        ("A.", "NEUTRAL.", "non-entailment"),
        ("A.", "maybe.", "non-contradiction"),
    ]
    assert found.dropped == 1


def test_a_label_map_with_an_unknown_target_is_refused_with_a_hint(written) -> None:
    path = written("a.tsv", [("A.", "B.", "neutral")])
    with pytest.raises(UnknownNameError, match="did you mean 'contradiction'"):
        read_corpus(path, label_map={"0": "contradicton"})


def test_a_column_that_is_not_there_is_refused_with_a_hint_and_the_columns(written) -> None:
    path = written("a.tsv", [("text_a", "text_b", "y"), ("A.", "B.", "e")])
    with pytest.raises(UnknownNameError) as caught:
        read_corpus(path, columns={"premise": "text_c"})
    assert str(caught.value) == (
        f"no column called 'text_c'; did you mean 'text_b' or 'text_a'? (--columns; {path} has text_a, text_b, y)"
    )


def test_names_acidtest_fills_itself_cannot_be_given(written) -> None:
    with pytest.raises(AcidtestError, match="'base_id' is a column acidtest fills itself"):
        read_corpus(written("a.tsv", [("A.", "B.", "e")]), columns={"base_id": "x"})


def test_pairs_are_parsed() -> None:
    assert parse_pairs("premise=text_a, hypothesis = text b", option="--columns") == {
        "premise": "text_a",
        "hypothesis": "text b",
    }
    assert parse_pairs("x==y", option="--label-map") == {"x": "=y"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("premise", "--columns: 'premise' is not a pair; write --columns NAME=NAME,NAME=NAME"),
        ("a=b,", "--columns: '' is not a pair; write --columns NAME=NAME,NAME=NAME"),
        ("=b", "--columns: '=b' is not a pair; write --columns NAME=NAME,NAME=NAME"),
        ("a=b,a=c", "--columns: 'a' is given twice, as 'b' and 'c'; leave one out"),
    ],
)
def test_what_is_no_pair_is_refused(text: str, message: str) -> None:
    with pytest.raises(AcidtestError) as caught:
        parse_pairs(text, option="--columns")
    assert str(caught.value) == message


def test_the_same_pairs_in_every_format_are_the_same_suite(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "premise": ['She said "go".', "Ça va, toi?", "Tab\there"],
            "hypothesis": ["She spoke.", "Line\nbreak", "It's fine"],
            "label": ["entailment", None, "contradiction"],
            "genre": ["a", "b", "c"],
            "pairID": ["1", "2", "3"],
        }
    )
    found = []
    for ending in ("parquet", "jsonl", "csv", "tsv", "tsv.gz", "jsonl.gz"):
        write_table(frame, tmp_path / f"pairs.{ending}")
        found.append(read_corpus(tmp_path / f"pairs.{ending}"))
    assert {one.suite.card.fingerprint for one in found} == {found[0].suite.card.fingerprint}
    assert all(rows(one, *COLUMNS, "genre") == rows(found[0], *COLUMNS, "genre") for one in found)
    assert pairs(found[0]) == [
        ('She said "go".', "She spoke.", "entailment"),
        ("Tab\there", "It's fine", "contradiction"),
    ]


def test_conjnli_with_a_byte_order_mark_and_index_columns_of_exports_load(tmp_path: Path) -> None:
    path = tmp_path / "conj.tsv"
    path.write_bytes(b"\xef\xbb\xbfPremise\tHypothesis\tLabel\r\nA.\tB.\tentailment\r\n")
    assert pairs(read_corpus(path)) == [("A.", "B.", "entailment")]
    path = tmp_path / "nan.csv"
    path.write_text(',premise,,hypothesis,label,\n0,A.,,"B, too.",c,\n')
    assert pairs(read_corpus(path)) == [("A.", "B, too.", "contradiction")]


REAL = [
    # Rows read: shared/data/README.md. Rows kept: SNLI's own counts of pairs with a gold label (9,842 and 9,824);
    # the two of the first thousand that have none were counted with grep.
    ("snli/snli_1.0_dev.jsonl.gz", "SNLI/MNLI", 10_000, 9_842),
    ("snli/snli_1.0_test.jsonl.gz", "SNLI/MNLI", 10_000, 9_824),
    ("snli/snli_1.0_train_first1000.jsonl.gz", "SNLI/MNLI", 1_000, 998),
    ("mnli/mnli_dev_matched.tsv", "premise, hypothesis, gold_label", 9_815, 9_815),
    ("breaking_nli/breaking_nli_quarter.jsonl", "SNLI/MNLI", 2_049, 2_049),
    ("hans/hans_train_recovered.tsv.gz", "SNLI/MNLI", 30_000, 30_000),
    ("hans/mnli_contradicting_examples.tsv", "three columns without header", 261, 261),
    ("cad/train.tsv", "SNLI/MNLI", 8_330, 8_330),
    ("cad/dev.tsv", "SNLI/MNLI", 1_000, 1_000),
    ("cad/test.tsv", "SNLI/MNLI", 2_000, 2_000),
    ("sick/SICK_train.txt", "SICK", 4_500, 4_500),
    ("sick/SICK_test_annotated.txt", "SICK", 4_927, 4_927),
    ("taxinli/taxinli10k.tsv", "TaxiNLI", 10_071, 10_071),
    ("taxinli/taxinli10k_MNLIDev.tsv", "TaxiNLI", 7_727, 7_727),
    ("lingnli/train.jsonl.gz", "Hugging Face", 44_983, 44_983),
    ("lingnli/val.jsonl.gz", "Hugging Face", 7_371, 7_371),
]


@pytest.mark.parametrize(("name", "layout", "read", "kept"), REAL, ids=[name for name, *_ in REAL])
def test_real_files_load_without_a_flag(shared: Path, name: str, layout: str, read: int, kept: int) -> None:
    found = read_corpus(shared / name)
    assert (found.layout, found.rows_read, found.dropped, found.suite.card.rows) == (layout, read, read - kept, kept)
    frame = found.suite.frame.collect()
    assert frame["id"].n_unique() == kept
    assert frame.select("premise", "hypothesis", "label", "group").null_count().sum_horizontal().item() == 0


def test_taxinli_has_the_labels_of_the_paper(shared: Path) -> None:
    # DESIGN.md, reproduction ledger: 3,495 E / 3,375 C / 3,201 N; taxonomic 13 E / 13 C / 8 N.
    found = read_corpus(shared / "taxinli" / "taxinli10k.tsv")
    assert found.suite.card.labels == {"entailment": 3_495, "contradiction": 3_375, "neutral": 3_201}
    taxonomic = found.suite.frame.filter(pl.col("taxonomic_knowledge") == "1").collect()["label"].value_counts()
    assert dict(taxonomic.iter_rows()) == {"entailment": 13, "contradiction": 13, "neutral": 8}
    # What annotators answered is no property of the pair to break accuracy down by.
    assert found.suite.card.columns["annotated_label"] == "text"


def test_the_counterfactual_files_are_unquoted_and_mnli_is_left_alone(shared: Path) -> None:
    shops = read_corpus(shared / "cad" / "train.tsv").suite.frame.filter(pl.col("premise").str.contains("TheFaceShop"))
    assert shops.collect()["premise"][0].startswith('A boy stands outside of "TheFaceShop" looking')
    mnli = read_corpus(shared / "mnli" / "mnli_dev_matched.tsv").suite.frame
    assert mnli.filter(source_id="39488e").collect()["hypothesis"][0] == '"Are we definitely going to be successful?"'


def test_ids_do_not_depend_on_what_labels_mean(written) -> None:
    lines = [["premise", "hypothesis", "label"], ["A.", "B.", "x"], ["A.", "B.", "y"], ["A.", "B.", "x"]]
    path = written("pairs.tsv", [*lines, ["C.", "D.", "y"]])

    def ids(x: str, y: str) -> dict[str, tuple[str, str]]:
        frame = read_corpus(path, label_map={"x": x, "y": y}).suite.frame.collect()
        return dict(zip(frame["id"], frame.select("premise", "hypothesis").rows(), strict=True))

    first = ids("entailment", "neutral")
    assert len(first) == 4
    assert ids("contradiction", "entailment") == first
    # Rows without gold are left out; the others keep their ids, also that of a pair which stands three times.
    assert ids("-", "neutral").items() < first.items()
    assert set(ids("-", "neutral")) | set(ids("entailment", "-")) == set(first)


def test_mnli_mismatched_loads_once_its_label_is_named(shared: Path) -> None:
    path = shared / "mnli" / "mnli_dev_mismatched_recovered.tsv"
    with pytest.raises(FileError, match="binary_label, label_3way_or_blank and label_source could each be the label"):
        read_corpus(path)
    found = read_corpus(path, columns=parse_pairs("label=label_3way_or_blank", option="--columns"))
    # shared/data/README.md: the three-way label is known for 7,648 of 9,832.
    assert (found.rows_read, found.suite.card.rows) == (9_832, 7_648)
    two_way = read_corpus(path, columns={"label": "binary_label"})
    assert two_way.suite.card.labels.keys() == {"entailment", "non-entailment"}


def test_sick_keeps_its_scores(shared: Path) -> None:
    found = read_corpus(shared / "sick" / "SICK_train.txt")
    first = found.suite.frame.head(1).collect().row(0, named=True)
    assert (first["source_id"], first["relatedness_score"], first["label"]) == ("1", 4.5, "neutral")
    assert found.suite.card.columns == {"relatedness_score": "covariate"}


def test_snli_from_hand_packed_json_is_the_same_suite(shared: Path, tmp_path: Path) -> None:
    path = shared / "snli" / "snli_1.0_dev.jsonl.gz"
    (tmp_path / "snli_1.0_dev.jsonl").write_bytes(gzip.decompress(path.read_bytes()))
    plain, packed = read_corpus(tmp_path / "snli_1.0_dev.jsonl").suite.card, read_corpus(path).suite.card
    assert plain.fingerprint == packed.fingerprint
    assert list(plain.sources.values()) == list(packed.sources.values())
