import polars as pl
import pytest

from acidtest import api
from acidtest.core.errors import AcidtestError
from acidtest.core.suite import Card, Suite, complete_columns
from acidtest.suites.sample import exclude_pairs, limit_rows


def suite(rows: int = 1000) -> Suite:
    frame = pl.DataFrame({"premise": [f"p{i}" for i in range(rows)], "hypothesis": "h"}).with_columns(
        label=pl.lit("neutral"), kind=pl.Series(["rare" if i % 10 == 0 else "common" for i in range(rows)])
    )
    card = Card("mine", columns={"kind": "factor"}, strata=("kind",))
    return Suite(complete_columns(frame, "mine").lazy(), card).sealed()


def test_a_sample_keeps_the_proportions_of_the_strata() -> None:
    sample = limit_rows(suite(), 50, 0)
    assert sample.card.rows == 50
    assert dict(sample.frame.collect()["kind"].value_counts().iter_rows()) == {"common": 45, "rare": 5}


def test_the_first_stratum_keeps_its_share_whatever_stands_below_it() -> None:
    frame = pl.DataFrame(
        {"premise": [f"p{i}" for i in range(400)], "hypothesis": "h", "label": "neutral"}
    ).with_columns(
        kind=pl.Series(["a"] * 200 + ["b"] * 200), part=pl.Series(["x"] * 200 + [f"y{i % 7}" for i in range(200)])
    )
    card = Card("mine", columns={"kind": "factor", "part": "factor"}, strata=("kind", "part"))
    sample = limit_rows(Suite(complete_columns(frame, "mine").lazy(), card), 30, 0).frame.collect()
    assert dict(sample["kind"].value_counts().iter_rows()) == {"a": 15, "b": 15}
    assert set(sample.filter(kind="b")["part"].value_counts()["count"]) == {2, 3}


def test_a_sample_depends_on_ids_and_seed_not_on_order() -> None:
    whole = suite()
    turned = Suite(whole.frame.reverse(), whole.card)
    assert limit_rows(whole, 50, 0).card.fingerprint == limit_rows(turned, 50, 0).card.fingerprint
    assert limit_rows(whole, 50, 0).card.fingerprint != limit_rows(whole, 50, 1).card.fingerprint


def test_a_sample_smaller_than_the_number_of_strata_takes_other_strata_with_another_seed() -> None:
    frame = pl.DataFrame({"premise": [f"p{i}" for i in range(300)], "hypothesis": "h", "label": "neutral"})
    frame = frame.with_columns(kind=pl.Series([f"k{i % 30:02}" for i in range(300)]))
    whole = Suite(complete_columns(frame, "mine").lazy(), Card("mine", columns={"kind": "factor"}, strata=("kind",)))
    taken = [frozenset(limit_rows(whole, 5, seed).frame.collect()["kind"]) for seed in range(20)]
    assert all(len(kinds) == 5 for kinds in taken)
    assert len(set().union(*taken)) > 20


def test_a_limit_beyond_the_suite_takes_it_whole() -> None:
    assert limit_rows(suite(20), 50, 0).card.rows == 20


def test_the_control_follows_the_sample() -> None:
    control = suite()
    frame = control.frame.collect().with_columns(base_id=pl.col("id"))
    sample = limit_rows(Suite(frame.lazy(), control.card, control), 10, 0)
    assert sample.control is not None
    assert set(sample.control.frame.collect()["id"]) == set(sample.frame.collect()["base_id"])


def test_no_rows_are_no_sample() -> None:
    with pytest.raises(AcidtestError, match="--limit is a number of rows from 1 on, not 0"):
        limit_rows(suite(), 0, 0)


def test_where_several_rows_are_made_of_a_pair_whole_pairs_are_taken() -> None:
    frame = pl.DataFrame({"premise": [f"p{i}" for i in range(90)], "hypothesis": "h", "label": "neutral"}).with_columns(
        id=pl.Series([f"{i // 3}-{i % 3}" for i in range(90)]), base_id=pl.Series([str(i // 3) for i in range(90)])
    )
    sample = limit_rows(Suite(complete_columns(frame, "mine").lazy(), Card("mine")), 20, 0).frame.collect()
    assert sample["base_id"].value_counts()["count"].to_list() == [3] * 7


def test_suites_made_of_the_same_pairs_are_sampled_on_the_same_pairs() -> None:
    names = ("stress/word-overlap", "stress/negation", "stress/length-mismatch", "stress/spelling")
    samples = [limit_rows(api.generate(name), 120, 0) for name in names]
    overlap, negation, length, spelling = (set(sample.frame.collect()["base_id"]) for sample in samples)
    assert overlap == negation == length
    assert len(overlap) == 120
    # Four rows are made of a pair, so there are fewer of them.
    assert spelling < overlap
    assert len(spelling) >= 30


def test_a_suite_smaller_than_the_limit_is_not_asked_with_a_control_above_it() -> None:
    control = suite()
    frame = control.frame.collect().head(20).with_columns(base_id=pl.col("id"))
    sample = limit_rows(Suite(frame.lazy(), control.card, control).sealed(), 50, 0)
    assert sample.card.rows == 20
    assert sample.control is not None
    assert set(sample.control.frame.collect()["id"]) == set(frame["id"])
    whole = limit_rows(Suite(frame.lazy(), control.card, control).sealed(), 1000, 0).control
    assert whole is not None
    assert whole.card.rows == 1000


def suite_of(name: str, *rows: tuple[str, str, str]) -> Suite:
    frame = pl.DataFrame(rows, schema=["premise", "hypothesis", "subcase"], orient="row")
    frame = complete_columns(frame.with_columns(label=pl.lit("entailment")), name)
    return Suite(frame.lazy(), Card(name, columns={"subcase": "factor"})).sealed()


def test_a_pair_of_the_test_is_left_out_however_it_is_written() -> None:
    training = suite_of("train", ("The judge ran.", "The judge ran.", "a"), ("The judge sat.", "The judge ran.", "a"))
    result = exclude_pairs(
        training, suite_of("test", ("the judge ran .", "The Judge ran", "b")), cell="subcase", most=5
    )
    assert result.suite.frame.select("premise").collect()["premise"].to_list() == ["The judge sat."]
    assert (result.left_out, result.shared_premises, result.shared_hypotheses) == (1, 0, 1)
    assert result.suite.card.rows == 1


def test_as_many_of_each_cell_are_kept_as_are_wanted_in_their_order() -> None:
    training = suite_of("training", *((f"A {number}.", "B.", "a" if number < 3 else "b") for number in range(5)))
    result = exclude_pairs(training, suite_of("test", ("A 0.", "B.", "a"), ("A 9.", "B.", "a")), cell="subcase", most=1)
    assert result.suite.frame.collect()["premise"].to_list() == ["A 1.", "A 3."]
    assert "plain premise" not in result.suite.frame.collect_schema()


def test_texts_shared_are_counted_once_and_only_among_the_pairs_that_are_kept() -> None:
    training = suite_of("training", ("P.", "H.", "a"), ("P.", "G.", "a"), ("Q.", "H.", "a"))
    result = exclude_pairs(training, suite_of("test", ("P.", "X.", "a"), ("Q.", "H.", "a")), cell="subcase", most=9)
    assert (result.left_out, result.shared_premises, result.shared_hypotheses) == (1, 1, 1)
