"""Suite ``sample``: as many pairs of every label and genre as there can be."""

from __future__ import annotations

import logging
from pathlib import Path

import polars as pl
import pytest

from acidtest import api
from acidtest.core.errors import AcidtestError
from acidtest.core.labels import LABELS
from acidtest.core.suite import Suite

SIZES = {("entailment", "a"): 9, ("entailment", "b"): 2, ("neutral", "a"): 5, ("neutral", "b"): 5}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    rows = [(f"P {label} {genre} {n}", f"H {n}", label, genre) for (label, genre), k in SIZES.items() for n in range(k)]
    rows.append(("P without", "H", "neutral", None))
    path = tmp_path / "pairs.csv"
    pl.DataFrame(rows, schema=["premise", "hypothesis", "label", "genre"], orient="row").write_csv(path)
    return path


def cells(suite: Suite, *by: str) -> dict[tuple[str, ...], int]:
    counted = suite.frame.group_by(by or ("label", "genre")).len().collect()
    return {tuple(row[:-1]): row[-1] for row in counted.iter_rows()}


def test_without_a_number_every_combination_has_as_many_as_the_smallest(corpus: Path) -> None:
    suite = api.generate("sample", source=corpus)
    assert cells(suite) == dict.fromkeys(SIZES, 2)
    assert suite.card.left_out == {"without label or genre": 1}
    assert suite.card.arguments == {"from": "pairs", "by": "label,genre"}


def test_what_one_cannot_give_the_others_share_evenly(corpus: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="acidtest"):
        logging.getLogger("acidtest").addHandler(caplog.handler)
        found = cells(api.generate("sample", source=corpus, n=15))
        logging.getLogger("acidtest").removeHandler(caplog.handler)
    assert found[("entailment", "b")] == 2
    assert sorted(found.values()) == [2, 4, 4, 5]
    assert "1 of 4 combinations of label and genre have fewer than 3 pairs" in caplog.text
    assert "entailment × b 2" in caplog.text


def test_few_pairs_are_even_over_labels_and_empty_combinations_are_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = [(f"P {label} {genre}", "H", label, f"g{genre}") for label in LABELS for genre in range(9)]
    pl.DataFrame(rows, schema=["premise", "hypothesis", "label", "genre"], orient="row").write_csv(tmp_path / "p.csv")
    for seed in range(5):
        with caplog.at_level(logging.WARNING, logger="acidtest"):
            logging.getLogger("acidtest").addHandler(caplog.handler)
            found = cells(api.generate("sample", source=tmp_path / "p.csv", n=10, seed=seed), "label")
            logging.getLogger("acidtest").removeHandler(caplog.handler)
        assert sorted(found.values()) == [3, 3, 4]
    assert "10 pairs for 27 combinations of label and genre: not every one of them has a pair" in caplog.text


def test_other_columns_may_be_named(corpus: Path) -> None:
    suite = api.generate("sample", source=corpus, n=10, arguments={"by": "genre"})
    assert cells(suite, "genre") == {("a",): 5, ("b",): 5}
    with pytest.raises(AcidtestError, match="no column of few values called 'domain'; it has label, genre"):
        api.generate("sample", source=corpus, arguments={"by": "label,domain"})


def test_more_than_there_are_is_an_error_unless_all_will_do(corpus: Path) -> None:
    with pytest.raises(AcidtestError, match=r"has only 21 with label and genre; ask for at most that many \(-n 21\)"):
        api.generate("sample", source=corpus, n=22)
    assert api.generate("sample", source=corpus, n=22, at_most=True).card.rows == 21


def test_a_row_is_drawn_by_its_id_whatever_its_place(corpus: Path, tmp_path: Path) -> None:
    turned = tmp_path / "turned" / "pairs.csv"
    turned.parent.mkdir()
    pl.read_csv(corpus).reverse().write_csv(turned)
    first, again = (api.generate("sample", source=path, n=8) for path in (corpus, turned))
    other = api.generate("sample", source=corpus, n=8, seed=1)
    assert first.card.fingerprint == again.card.fingerprint
    assert first.card.fingerprint != other.card.fingerprint


def test_pairs_keep_their_ids(corpus: Path) -> None:
    whole = api.load(corpus).frame.select("id", "premise").collect()
    drawn = api.generate("sample", source=corpus, n=4).frame.select("id", "premise").collect()
    assert drawn.join(whole, on=["id", "premise"]).height == 4
