"""Easy and hard antonyms, counted by hand, and what a training set explains."""

from __future__ import annotations

from math import isnan
from pathlib import Path

import polars as pl
import pytest

from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.run import Header, ModelFacts, Run
from acidtest.core.suite import Card, Suite
from acidtest.io.tables import read_table, write_table
from acidtest.studies.antonym_types import antonym_types, with_types
from acidtest.studies.antonyms import Antonyms, antonyms

COLUMNS = {"word": "text", "antonym": "text", "pos": "factor"}

#   word, antonym, whether the strong and the weak model are right
ROWS = [
    ("hot", "cold", True, True),
    ("cold", "hot", True, True),
    ("Hot", "cold", True, False),
    ("alive", "dead", True, False),
    ("alive", "dead", False, False),
    ("buyer", "seller", False, False),
    ("old", "young", True, False),
    ("thick", "thin", False, True),
]


def run(name: str, right: list[bool], words: list[tuple[str, str]], suite: str = "stress/antonymy") -> Run:
    count = len(right)
    frame = pl.DataFrame(
        {
            "suite": [suite] * count,
            "id": [f"r{number}" for number in range(count)],
            "premise": ["p"] * count,
            "hypothesis": ["h"] * count,
            "label": ["contradiction"] * count,
            "group": [f"r{number}" for number in range(count)],
            "word": [word for word, _ in words],
            "antonym": [antonym for _, antonym in words],
            "pos": ["a"] * count,
            "p_entailment": [0.0 if each else 1.0 for each in right],
            "p_neutral": [0.0] * count,
            "p_contradiction": [1.0 if each else 0.0 for each in right],
        }
    )
    return Run(Header(ModelFacts(name, name), {suite: Card(suite, columns=COLUMNS)}, {}), frame)


WORDS = [(word, antonym) for word, antonym, *_ in ROWS]
STRONG = run("strong", [row[2] for row in ROWS], WORDS)
WEAK = run("weak", [row[3] for row in ROWS], WORDS)


def train(*pairs: str) -> Suite:
    rows = [(f"It is {pair.split()[0]}.", f"It is {pair.split()[1]}.", "contradiction") for pair in pairs]
    frame = pl.DataFrame(rows, schema=["premise", "hypothesis", "label"], orient="row")
    return Suite(frame.lazy(), Card("train"))


def status(found: Antonyms) -> dict[tuple[str, str], str]:
    return {
        (word, antonym): told for word, antonym, told in found.pairs.select("word", "antonym", "status").iter_rows()
    }


def test_a_pair_is_known_when_more_than_half_of_its_rows_are_right() -> None:
    assert status(antonyms([STRONG, WEAK])) == {
        ("cold", "hot"): "easy",  # three of three, two of three
        ("alive", "dead"): "hard",  # one of two is half, which is not enough
        ("buyer", "seller"): "hard",
        ("old", "young"): "mixed",
        ("thick", "thin"): "mixed",
    }


def test_rows_and_the_antonyms_in_them_are_counted_as_the_paper_does() -> None:
    found = antonyms([STRONG, WEAK])
    # A pair may be in rows of two statuses: hot and cold are in rows that all and in one that some get right.
    assert {status: (part.rows, part.pairs) for status, part in found.by_row.items()} == {
        "easy": (2, 1),
        "mixed": (4, 4),
        "hard": (2, 2),
    }
    assert {status: (part.rows, part.pairs) for status, part in found.by_pair.items()} == {
        "easy": (3, 1),
        "mixed": (2, 2),
        "hard": (3, 2),
    }


def test_one_model_has_easy_and_hard_antonyms_only() -> None:
    found = antonyms([WEAK])
    assert set(status(found).values()) == {"easy", "hard"}
    assert found.rivalry is None


def test_identical_models_have_no_stronger_one() -> None:
    found = antonyms([STRONG, STRONG])
    assert "mixed" not in status(found).values()
    assert found.rivalry is None


def test_a_training_set_says_which_antonyms_it_taught_and_how_often() -> None:
    found = antonyms([STRONG, WEAK], train("hot cold", "hot cold", "cold hot", "old young", "alive well"))
    assert found.train_contradictions == 5
    counts = dict(zip(found.pairs["word"], found.pairs["contradictions"], strict=True))
    assert counts == {"cold": 3, "alive": 0, "buyer": 0, "old": 1, "thick": 0}
    easy, mixed = found.by_pair["easy"], found.by_pair["mixed"]
    assert easy.seen is not None
    assert mixed.seen is not None
    assert mixed.frequency is not None
    assert (easy.seen.value, mixed.seen.value, mixed.frequency.value) == (1, 0.5, 0.5)
    assert mixed.frequency.note == "no pair stands in more than one contradiction: no interval"


def test_two_models_are_told_apart_by_how_frequent_their_antonyms_are() -> None:
    rivalry = antonyms([WEAK, STRONG], train(*["hot cold"] * 4, "old young")).rivalry
    assert rivalry is not None
    assert (rivalry.stronger, rivalry.weaker) == ("strong", "weak")
    assert {name: part.pairs for name, part in rivalry.parts.items()} == {
        "both": 1,
        "only the stronger": 1,
        "only the weaker": 1,
        "the stronger": 2,
        "the weaker": 2,
    }
    # The weaker knows hot, cold (4 times) and thick, thin (never); only the stronger knows old, young (once).
    assert rivalry.difference is not None
    assert rivalry.difference.value == pytest.approx(2 - 1)
    assert rivalry.p is not None


def test_a_class_without_antonyms_has_no_share() -> None:
    found = antonyms([run("wrong", [False] * len(ROWS), WORDS)], train("hot cold"))
    easy = found.by_pair["easy"]
    assert (easy.rows, easy.pairs) == (0, 0)
    assert easy.seen is not None
    assert easy.seen.note == "no rows"
    assert found.to_json()["by_pair"]["easy"]["seen"]["value"] is None


def test_rows_that_not_all_models_were_asked_are_left_out_and_said() -> None:
    shorter = run("short", [True] * 3, WORDS[:3])
    found = antonyms([STRONG, shorter])
    assert found.pairs["rows"].to_list() == [3]
    assert found.notes == ("on the 3 rows that all have, of 8",)


def test_runs_without_the_suite_or_without_common_rows_are_refused() -> None:
    other = run("other", [True], [("a", "b")])
    plain = Run(Header(ModelFacts("m", "m"), {"hans": Card("hans")}, {}), other.predictions)
    with pytest.raises(AcidtestError, match="a run of m holds hans; one suite stress/antonymy was expected"):
        antonyms([plain])
    for column in ("id", "premise"):
        apart = Run(STRONG.header, STRONG.predictions.with_columns(pl.lit("elsewhere").alias(column)))
        with pytest.raises(AcidtestError, match="no row of stress/antonymy in common"):
            antonyms([STRONG, apart])


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """A table as the command writes it, its types filled in by hand."""
    path = tmp_path / "antonyms.tsv"
    write_table(with_types(antonyms([STRONG, WEAK]).pairs, None), path)
    types = {"cold": " Gradable", "alive": "complementary", "buyer": "relational"}
    told = read_table(path).frame.with_columns(type=pl.col("word").replace_strict(types, default=None))
    write_table(told, path)
    return path


def test_types_are_spread_over_easy_and_hard_antonyms(filled: Path) -> None:
    found = antonym_types(read_table(filled))
    assert {name: share.value for name, share in found.shares["hard"].items()} == {
        "complementary": 0.5,
        "relational": 0.5,
        "gradable": 0,
    }
    assert found.shares["easy"]["gradable"].value == 1
    assert found.untyped == {"easy": 0, "mixed": 2, "hard": 0}
    assert isnan(found.shares["mixed"]["gradable"].value)


def test_a_table_written_again_keeps_its_types(filled: Path) -> None:
    again = with_types(antonyms([STRONG]).pairs, read_table(filled))
    assert dict(zip(again["word"], again["type"], strict=True))["buyer"] == "relational"
    assert again.height == 5


def test_a_type_is_kept_though_the_run_does_not_have_the_pair(filled: Path) -> None:
    few = antonyms([run("few", [True, False], [("hot", "cold"), ("wet", "dry")])]).pairs
    write_table(with_types(few, read_table(filled)), filled)
    rows = read_table(filled).frame.select("word", "antonym", "status", "type").rows()
    assert rows == [
        ("cold", "hot", "easy", "gradable"),
        ("dry", "wet", "hard", None),
        ("alive", "dead", None, "complementary"),
        ("buyer", "seller", None, "relational"),
    ]
    found = antonym_types(read_table(filled))
    assert (found.shares["easy"]["gradable"].n, found.untyped["hard"], found.not_asked) == (1, 1, 2)
    again = with_types(antonyms([STRONG, WEAK]).pairs, read_table(filled))
    assert again.height == 5
    assert dict(zip(again["word"], again["type"], strict=True))["buyer"] == "relational"


def test_a_pair_turned_round_keeps_its_type_and_two_types_are_told(tmp_path: Path) -> None:
    path = tmp_path / "mine.tsv"
    head = "word\tantonym\tstatus\ttype\nHot\tcold\teasy\tgradable\n"
    path.write_text(head, encoding="utf-8")
    pairs = antonyms([STRONG]).pairs
    assert dict(zip(*with_types(pairs, read_table(path)).select("word", "type"), strict=True))["cold"] == "gradable"
    path.write_text(f"{head}cold\thot\teasy\trelational\n", encoding="utf-8")
    with pytest.raises(FileError, match=r"mine.tsv:3: cold, hot is relational here and gradable above"):
        with_types(pairs, read_table(path))


def test_an_unknown_type_is_named_with_its_line(filled: Path) -> None:
    filled.write_text(filled.read_text(encoding="utf-8").replace("relational", "relatonal"), encoding="utf-8")
    with pytest.raises(FileError, match=r"antonyms.tsv:4: no type called 'relatonal'; did you mean 'relational'"):
        antonym_types(read_table(filled))


def test_another_table_is_refused(tmp_path: Path) -> None:
    write_table(pl.DataFrame({"word": ["a"], "antonym": ["b"]}), tmp_path / "other.tsv")
    with pytest.raises(FileError, match=r"has no column status, type; a table that acidtest antonyms"):
        antonym_types(read_table(tmp_path / "other.tsv"))
