"""Easy and hard antonyms, counted by hand, and what a training set explains."""

from __future__ import annotations

from math import isnan
from pathlib import Path

import polars as pl
import pytest

from acidtest.core.document import Document, Note, Table, tables, walk
from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.estimate import Estimate
from acidtest.core.run import Header, ModelFacts, Run
from acidtest.core.serialise import to_json
from acidtest.core.suite import Card, Suite
from acidtest.io.tables import read_table, write_table
from acidtest.studies.antonyms import (
    AntonymKnowledge,
    AntonymSet,
    AntonymsResult,
    AntonymTypes,
    Rivalry,
    add_types,
    antonym_knowledge,
    antonym_types,
    document,
)

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
            "p_entailment": [0.0 if correct else 1.0 for correct in right],
            "p_neutral": [0.0] * count,
            "p_contradiction": [1.0 if correct else 0.0 for correct in right],
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


def status(knowledge: AntonymKnowledge) -> dict[tuple[str, str], str]:
    return {
        (word, antonym): status
        for word, antonym, status in knowledge.pairs.select("word", "antonym", "status").iter_rows()
    }


def test_a_pair_is_known_when_more_than_half_of_its_rows_are_right() -> None:
    assert status(antonym_knowledge([STRONG, WEAK])) == {
        ("cold", "hot"): "easy",  # three of three, two of three
        ("alive", "dead"): "hard",  # one of two is half, which is not enough
        ("buyer", "seller"): "hard",
        ("old", "young"): "mixed",
        ("thick", "thin"): "mixed",
    }


def test_rows_and_the_antonyms_in_them_are_counted_as_the_paper_does() -> None:
    result = antonym_knowledge([STRONG, WEAK])
    # A pair may be in rows of two statuses: hot and cold are in rows that all and in one that some get right.
    assert {status: (part.rows, part.pairs) for status, part in result.by_row.items()} == {
        "easy": (2, 1),
        "mixed": (4, 4),
        "hard": (2, 2),
    }
    assert {status: (part.rows, part.pairs) for status, part in result.by_pair.items()} == {
        "easy": (3, 1),
        "mixed": (2, 2),
        "hard": (3, 2),
    }


def test_one_model_has_easy_and_hard_antonyms_only() -> None:
    result = antonym_knowledge([WEAK])
    assert set(status(result).values()) == {"easy", "hard"}
    assert result.rivalry is None


def test_identical_models_have_no_stronger_one() -> None:
    result = antonym_knowledge([STRONG, STRONG])
    assert "mixed" not in status(result).values()
    assert result.rivalry is None


def test_a_training_set_says_which_antonyms_it_taught_and_how_often() -> None:
    result = antonym_knowledge([STRONG, WEAK], train("hot cold", "hot cold", "cold hot", "old young", "alive well"))
    assert result.train_contradictions == 5
    counts = dict(zip(result.pairs["word"], result.pairs["contradictions"], strict=True))
    assert counts == {"cold": 3, "alive": 0, "buyer": 0, "old": 1, "thick": 0}
    easy, mixed = result.by_pair["easy"], result.by_pair["mixed"]
    assert easy.seen is not None
    assert mixed.seen is not None
    assert mixed.frequency is not None
    assert (easy.seen.value, mixed.seen.value, mixed.frequency.value) == (1, 0.5, 0.5)
    assert mixed.frequency.note == "no pair stands in more than one contradiction: no interval"


def test_two_models_are_told_apart_by_how_frequent_their_antonyms_are() -> None:
    rivalry = antonym_knowledge([WEAK, STRONG], train(*["hot cold"] * 4, "old young")).rivalry
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
    assert 0 < rivalry.p <= 1


def test_a_class_without_antonyms_has_no_share() -> None:
    result = antonym_knowledge([run("wrong", [False] * len(ROWS), WORDS)], train("hot cold"))
    easy = result.by_pair["easy"]
    assert (easy.rows, easy.pairs) == (0, 0)
    assert easy.seen is not None
    assert easy.seen.note == "no rows"
    assert to_json(result)["by_pair"]["easy"]["seen"]["value"] is None


def test_rows_that_not_all_models_were_asked_are_left_out_and_said() -> None:
    shorter = run("short", [True] * 3, WORDS[:3])
    result = antonym_knowledge([STRONG, shorter])
    assert result.pairs["rows"].to_list() == [3]
    assert result.notes == ("on the 3 rows that all have, of 8",)


def test_runs_without_the_suite_or_without_common_rows_are_refused() -> None:
    other = run("other", [True], [("a", "b")])
    plain = Run(Header(ModelFacts("m", "m"), {"hans": Card("hans")}, {}), other.predictions)
    with pytest.raises(AcidtestError, match="a run of m holds hans; one suite stress/antonymy was expected"):
        antonym_knowledge([plain])
    for column in ("id", "premise"):
        apart = Run(STRONG.header, STRONG.predictions.with_columns(pl.lit("elsewhere").alias(column)))
        with pytest.raises(AcidtestError, match="no row of stress/antonymy in common"):
            antonym_knowledge([STRONG, apart])


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """A table as the command writes it, its types filled in by hand."""
    path = tmp_path / "antonyms.tsv"
    write_table(add_types(antonym_knowledge([STRONG, WEAK]).pairs, None), path)
    types = {"cold": " Gradable", "alive": "complementary", "buyer": "relational"}
    frame = read_table(path).frame.with_columns(type=pl.col("word").replace_strict(types, default=None))
    write_table(frame, path)
    return path


def test_types_are_spread_over_easy_and_hard_antonyms(filled: Path) -> None:
    result = antonym_types(read_table(filled))
    assert {name: share.value for name, share in result.shares["hard"].items()} == {
        "complementary": 0.5,
        "relational": 0.5,
        "gradable": 0,
    }
    assert result.shares["easy"]["gradable"].value == 1
    assert result.untyped == {"easy": 0, "mixed": 2, "hard": 0}
    assert isnan(result.shares["mixed"]["gradable"].value)


def test_a_table_written_again_keeps_its_types(filled: Path) -> None:
    again = add_types(antonym_knowledge([STRONG]).pairs, read_table(filled))
    assert dict(zip(again["word"], again["type"], strict=True))["buyer"] == "relational"
    assert again.height == 5


def test_a_type_is_kept_though_the_run_does_not_have_the_pair(filled: Path) -> None:
    few = antonym_knowledge([run("few", [True, False], [("hot", "cold"), ("wet", "dry")])]).pairs
    write_table(add_types(few, read_table(filled)), filled)
    rows = read_table(filled).frame.select("word", "antonym", "status", "type").rows()
    assert rows == [
        ("cold", "hot", "easy", "gradable"),
        ("dry", "wet", "hard", None),
        ("alive", "dead", None, "complementary"),
        ("buyer", "seller", None, "relational"),
    ]
    result = antonym_types(read_table(filled))
    assert (result.shares["easy"]["gradable"].n, result.untyped["hard"], result.not_asked) == (1, 1, 2)
    again = add_types(antonym_knowledge([STRONG, WEAK]).pairs, read_table(filled))
    assert again.height == 5
    assert dict(zip(again["word"], again["type"], strict=True))["buyer"] == "relational"


def test_a_pair_turned_round_keeps_its_type_and_two_types_are_told(tmp_path: Path) -> None:
    path = tmp_path / "mine.tsv"
    head = "word\tantonym\tstatus\ttype\nHot\tcold\teasy\tgradable\n"
    path.write_text(head, encoding="utf-8")
    pairs = antonym_knowledge([STRONG]).pairs
    assert dict(zip(*add_types(pairs, read_table(path)).select("word", "type"), strict=True))["cold"] == "gradable"
    path.write_text(f"{head}cold\thot\teasy\trelational\n", encoding="utf-8")
    with pytest.raises(FileError, match=r"mine.tsv:3: cold, hot is relational here and gradable above"):
        add_types(pairs, read_table(path))


def test_an_unknown_type_is_named_with_its_line(filled: Path) -> None:
    filled.write_text(filled.read_text(encoding="utf-8").replace("relational", "relatonal"), encoding="utf-8")
    with pytest.raises(FileError, match=r"antonyms.tsv:4: no type called 'relatonal'; did you mean 'relational'"):
        antonym_types(read_table(filled))


def test_another_table_is_refused(tmp_path: Path) -> None:
    write_table(pl.DataFrame({"word": ["a"], "antonym": ["b"]}), tmp_path / "other.tsv")
    with pytest.raises(FileError, match=r"has no column status, type; a table that acidtest antonyms"):
        antonym_types(read_table(tmp_path / "other.tsv"))


FROM_MNLI = Card("stress/antonymy", arguments={"from": "mine", "corpus": "mnli-matched", "wsd": "context"})
SHARES = {"gradable": Estimate(1.0, n=1), "relational": Estimate(0.0, n=1), "complementary": Estimate(0.0, n=1)}


def rivals(weaker: float, other: float, card: Card | None = None) -> Document:
    """The document of two models whose antonyms are so frequent in training."""
    parts = {
        name: AntonymSet(1, 1, Estimate(0.5, n=1), Estimate(value, n=1))
        for name, value in (("the weaker", weaker), ("only the stronger", other))
    }
    sets = dict.fromkeys(("easy", "mixed", "hard"), AntonymSet(1, 1))
    rivalry = Rivalry("big", "small", parts, p=0.5)
    knowledge = AntonymKnowledge({}, sets, sets, rivalry, "t", 3, card=card or Card("stress/antonymy"))
    return document(AntonymsResult(knowledge))


def types_table(types: AntonymTypes) -> Table:
    return tables(document(AntonymsResult(types=types)))["types"]


@pytest.mark.parametrize(
    ("weaker", "other", "sentence"),
    [
        (3, 2, "Antonyms the weaker knows occur 1.5 times as often in training as those only the stronger knows ("),
        (3, 0, "Antonyms the weaker knows occur in training, those only the stronger knows do not ("),
        (0, 0, "Neither the antonyms the weaker knows nor those only the stronger knows occur in training ("),
    ],
)
def test_whose_antonyms_are_more_frequent_is_a_sentence(weaker: float, other: float, sentence: str) -> None:
    notes = [part.text for part in walk(rivals(weaker, other).parts) if isinstance(part, Note)]
    assert any(text.startswith(sentence) for text in notes)


def test_typed_pairs_that_no_run_has_are_counted_in_a_note() -> None:
    types = AntonymTypes(dict.fromkeys(("easy", "mixed", "hard"), SHARES), {}, not_asked=2)
    assert types_table(types).notes == ("not in the runs, left out: 2 typed pairs",)


def test_published_types_are_of_examples_and_the_table_says_so() -> None:
    types = AntonymTypes(dict.fromkeys(("easy", "mixed", "hard"), SHARES), {})
    sources = "; ".join(types_table(types).sources)
    systems = "Balazs et al. (2017), RiverCorners and Chen et al. (2017), Naik et al. 2018, section 4.3"
    assert sources.startswith(systems)
    assert "the published shares are of 100 examples, ours of pairs of antonyms, each counted once" in sources
    assert "not from" not in sources


def test_published_antonyms_are_of_pairs_made_otherwise_and_the_table_says_so() -> None:
    table = tables(rivals(1, 1, FROM_MNLI))["rows"]
    assert "only --faithful makes such pairs" in "; ".join(table.sources)


def test_one_model_and_several_have_a_headline() -> None:
    assert document(AntonymsResult(antonym_knowledge([WEAK]))).headline == "weak knows 2 of 5 pairs of antonyms."
    both = document(AntonymsResult(antonym_knowledge([STRONG, WEAK]))).headline
    assert both == "Of 5 pairs of antonyms all models know 1 and no model knows 2."
