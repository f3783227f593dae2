import polars as pl
import pytest

from acidtest import api
from acidtest.core.errors import AcidtestError
from acidtest.core.suite import Card, Suite, completed
from acidtest.suites.sampling import limited


def suite(rows: int = 1000) -> Suite:
    frame = pl.DataFrame({"premise": [f"p{i}" for i in range(rows)], "hypothesis": "h"}).with_columns(
        label=pl.lit("neutral"), kind=pl.Series(["rare" if i % 10 == 0 else "common" for i in range(rows)])
    )
    card = Card("mine", columns={"kind": "factor"}, strata=("kind",))
    return Suite(completed(frame, "mine").lazy(), card).sealed()


def test_a_sample_keeps_the_proportions_of_the_strata() -> None:
    sample = limited(suite(), 50, 0)
    assert sample.card.rows == 50
    assert dict(sample.frame.collect()["kind"].value_counts().iter_rows()) == {"common": 45, "rare": 5}


def test_the_first_stratum_keeps_its_share_whatever_stands_below_it() -> None:
    frame = pl.DataFrame(
        {"premise": [f"p{i}" for i in range(400)], "hypothesis": "h", "label": "neutral"}
    ).with_columns(
        kind=pl.Series(["a"] * 200 + ["b"] * 200), part=pl.Series(["x"] * 200 + [f"y{i % 7}" for i in range(200)])
    )
    card = Card("mine", columns={"kind": "factor", "part": "factor"}, strata=("kind", "part"))
    sample = limited(Suite(completed(frame, "mine").lazy(), card), 30, 0).frame.collect()
    assert dict(sample["kind"].value_counts().iter_rows()) == {"a": 15, "b": 15}
    assert set(sample.filter(kind="b")["part"].value_counts()["count"]) == {2, 3}


def test_a_sample_depends_on_ids_and_seed_not_on_order() -> None:
    whole = suite()
    turned = Suite(whole.frame.reverse(), whole.card)
    assert limited(whole, 50, 0).card.fingerprint == limited(turned, 50, 0).card.fingerprint
    assert limited(whole, 50, 0).card.fingerprint != limited(whole, 50, 1).card.fingerprint


def test_a_sample_smaller_than_the_number_of_strata_takes_other_strata_with_another_seed() -> None:
    frame = pl.DataFrame({"premise": [f"p{i}" for i in range(300)], "hypothesis": "h", "label": "neutral"})
    frame = frame.with_columns(kind=pl.Series([f"k{i % 30:02}" for i in range(300)]))
    whole = Suite(completed(frame, "mine").lazy(), Card("mine", columns={"kind": "factor"}, strata=("kind",)))
    taken = [frozenset(limited(whole, 5, seed).frame.collect()["kind"]) for seed in range(20)]
    assert all(len(kinds) == 5 for kinds in taken)
    assert len(set().union(*taken)) > 20


def test_a_limit_beyond_the_suite_takes_it_whole() -> None:
    assert limited(suite(20), 50, 0).card.rows == 20


def test_the_control_follows_the_sample() -> None:
    control = suite()
    frame = control.frame.collect().with_columns(base_id=pl.col("id"))
    sample = limited(Suite(frame.lazy(), control.card, control), 10, 0)
    assert sample.control is not None
    assert set(sample.control.frame.collect()["id"]) == set(sample.frame.collect()["base_id"])


def test_no_rows_are_no_sample() -> None:
    with pytest.raises(AcidtestError, match="--limit is a number of rows from 1 on, not 0"):
        limited(suite(), 0, 0)


def test_where_several_rows_are_made_of_a_pair_whole_pairs_are_taken() -> None:
    frame = pl.DataFrame({"premise": [f"p{i}" for i in range(90)], "hypothesis": "h", "label": "neutral"}).with_columns(
        id=pl.Series([f"{i // 3}-{i % 3}" for i in range(90)]), base_id=pl.Series([str(i // 3) for i in range(90)])
    )
    sample = limited(Suite(completed(frame, "mine").lazy(), Card("mine")), 20, 0).frame.collect()
    assert sample["base_id"].value_counts()["count"].to_list() == [3] * 7


def test_suites_made_of_the_same_pairs_are_sampled_on_the_same_pairs() -> None:
    names = ("stress/word-overlap", "stress/negation", "stress/length-mismatch", "stress/spelling")
    samples = [limited(api.generate(name), 120, 0) for name in names]
    overlap, negation, length, spelling = (set(sample.frame.collect()["base_id"]) for sample in samples)
    assert overlap == negation == length
    assert len(overlap) == 120
    # Four rows are made of a pair, so there are fewer of them.
    assert spelling < overlap
    assert len(spelling) >= 30


def test_a_suite_smaller_than_the_limit_is_not_asked_with_a_control_above_it() -> None:
    control = suite()
    frame = control.frame.collect().head(20).with_columns(base_id=pl.col("id"))
    sample = limited(Suite(frame.lazy(), control.card, control).sealed(), 50, 0)
    assert sample.card.rows == 20
    assert sample.control is not None
    assert set(sample.control.frame.collect()["id"]) == set(frame["id"])
    whole = limited(Suite(frame.lazy(), control.card, control).sealed(), 1000, 0).control
    assert whole is not None
    assert whole.card.rows == 1000
