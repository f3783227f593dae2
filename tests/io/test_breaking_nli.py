"""The published test set, recognised by its categories."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from acidtest.corpora.files import read_corpus

QUARTER = Path(__file__).parents[3] / "shared" / "data" / "breaking_nli" / "breaking_nli_quarter.jsonl"
ROWS = [
    ("A man in a red hat.", "A man in a blue hat.", "contradiction", "colors"),
    ("A man in a red hat.", "A man in a hat that is red.", "entailment", "synonyms"),
    ("A cup of tea stands in the living room.", "A cup of tea stands in the dining room.", "contradiction", "rooms"),
    ("A girl plays the harp.", "A girl plays the electric guitar.", "contradiction", "instruments"),
]


def written(path: Path, rows: list[tuple[str, str, str, str]]) -> Path:
    names = ("sentence1", "sentence2", "gold_label", "category")
    lines = [json.dumps(dict(zip(names, row, strict=True)) | {"pairID": n}) for n, row in enumerate(rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_file_with_the_published_categories_is_known_again(tmp_path: Path) -> None:
    suite = read_corpus(written(tmp_path / "dataset.jsonl", ROWS)).suite
    card = suite.card
    assert (card.name, card.strata, card.factors) == ("breaking-nli", ("category",), ("category",))
    assert card.licence == "CC BY-SA 4.0"
    assert card.citation.startswith("Glockner, Shwartz and Goldberg (2018).")
    frame = suite.frame.collect()
    assert frame.select("premise_word", "hypothesis_word").rows() == [
        ("red", "blue"),
        (None, None),
        ("living room", "dining room"),
        ("harp", "electric guitar"),
    ]
    assert frame["group"].n_unique() == 3
    assert frame["group"][0] == frame["group"][1]


def test_other_categories_make_no_published_set(tmp_path: Path) -> None:
    others = [(*row[:3], "colors" if number else "shapes") for number, row in enumerate(ROWS)]
    alone = [(*row[:3], "colors") for row in ROWS]
    for rows in (others, alone):
        card = read_corpus(written(tmp_path / "mine.jsonl", rows)).suite.card
        assert (card.name, card.licence, card.strata) == ("mine", "", ())


def test_a_file_that_says_which_words_are_replaced_keeps_them(tmp_path: Path) -> None:
    path = written(tmp_path / "mine.jsonl", ROWS)
    rows = [json.loads(line) | {"premise_word": "x"} for line in path.read_text(encoding="utf-8").splitlines()]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    suite = read_corpus(path).suite
    assert suite.name == "mine"
    assert set(suite.frame.collect()["premise_word"]) == {"x"}


def test_a_name_given_goes_before(tmp_path: Path) -> None:
    assert read_corpus(written(tmp_path / "dataset.jsonl", ROWS), name="theirs").suite.name == "theirs"


@pytest.mark.skipif(not QUARTER.is_file(), reason="../shared/data/breaking_nli is not on this machine")
def test_the_real_file_has_its_words(tmp_path: Path) -> None:
    frame = read_corpus(QUARTER).suite.frame.collect()
    assert frame.height == 2049
    assert frame["category"].n_unique() == 14
    # One word or expression is replaced in nearly all pairs of the file, as the paper says (section 3.1).
    assert frame["premise_word"].null_count() < 0.01 * frame.height
    told = frame.filter(pl.col("hypothesis").str.contains("moon goes down")).row(0, named=True)
    assert (told["premise_word"], told["hypothesis_word"]) == ("sun", "moon")
