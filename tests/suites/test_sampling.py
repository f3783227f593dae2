from dataclasses import replace

import polars as pl
import pytest

from acidtest import api
from acidtest.core.errors import AcidtestError
from acidtest.core.labels import LABELS
from acidtest.core.model import complete_model
from acidtest.core.suite import Card, Suite, complete_columns
from acidtest.evaluate.answers import make_plan
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


def rows_of_pairs(pairs: int, rows: int, **columns: object) -> Suite:
    """A suite of several rows for each of the pairs 000, 001 … of its control, whose labels alternate."""
    ids = [f"{i:03}" for i in range(pairs)]
    labels = [LABELS[i % 3] for i in range(pairs)]
    control = pl.DataFrame({"id": ids, "premise": ids, "hypothesis": "h", "label": labels})
    changed = control.join(pl.DataFrame({"variant": [str(number) for number in range(rows)]}), how="cross")
    changed = changed.with_columns(base_id="id", id=pl.concat_str("id", "variant", separator="-"))
    card = Card("mine", columns={"variant": "factor"})
    return Suite(
        complete_columns(changed, "mine").lazy(),
        replace(card, **columns),
        Suite(complete_columns(control, "mine#control").lazy(), Card("mine#control")).sealed(),
    ).sealed()


def test_every_pair_gives_a_row_before_any_gives_a_second() -> None:
    sample = limit_rows(rows_of_pairs(90, 4), 60, 0).frame.collect()
    assert sample["base_id"].n_unique() == 60
    again = limit_rows(rows_of_pairs(40, 4), 60, 0).frame.collect()
    assert sorted(again["base_id"].value_counts()["count"]) == [1] * 20 + [2] * 20


def test_variants_are_asked_equally_often_with_every_label() -> None:
    sample = limit_rows(rows_of_pairs(300, 3), 90, 0).frame.collect()
    counts = sample.group_by("variant", "label").len()
    assert counts.height == 9
    assert counts["len"].to_list() == [10] * 9


def test_pairs_that_a_suite_makes_nothing_of_are_replaced_by_the_next_in_the_order_of_draws() -> None:
    whole = rows_of_pairs(300, 1)
    sample = set(limit_rows(whole, 60, 0).frame.collect()["base_id"])
    few = replace(whole, frame=whole.frame.filter(pl.col("base_id").str.ends_with("0"))).sealed()
    taken = set(limit_rows(few, 20, 0).frame.collect()["base_id"])
    applicable = {base for base in sample if base.endswith("0")}
    assert 0 < len(applicable) < 20
    assert applicable < taken
    assert len(taken) == 20


def test_strata_of_the_changes_keep_their_proportions() -> None:
    whole = rows_of_pairs(300, 3, strata=("variant",))
    rare = whole.frame.filter((pl.col("variant") != "2") | pl.col("base_id").str.ends_with("0"))
    sample = limit_rows(replace(whole, frame=rare).sealed(), 63, 0).frame.collect()
    assert dict(sample["variant"].value_counts().iter_rows()) == {"0": 30, "1": 30, "2": 3}


def test_rows_that_a_suite_compares_with_each_other_stay_together() -> None:
    sample = limit_rows(rows_of_pairs(30, 3, sample_by="base_id"), 18, 0).frame.collect()
    assert sample["base_id"].value_counts()["count"].to_list() == [3] * 6


@pytest.mark.parametrize("name", ["consistency", "consistency/sets"])
def test_the_pairs_that_a_law_is_about_stay_together(name: str) -> None:
    whole = api.generate(name)
    part = limit_rows(whole, 60, 0)
    kept = part.frame.collect()["base_id"].implode()
    assert whole.frame.filter(pl.col("base_id").is_in(kept)).collect().height == part.card.rows
    assert 60 <= part.card.rows < 80


def test_suites_of_a_run_are_sampled_on_the_same_pairs_and_their_control_is_asked_once() -> None:
    names = ("premises", "stress/word-overlap", "stress/negation", "stress/length-mismatch", "stress/spelling")
    used = api.Battery(names, limit=120).used
    suites = [suite for suite in used if not suite.name.endswith("#control")]
    controls = [suite for suite in used if suite.name.endswith("#control")]
    assert [suite.card.rows for suite in used] == [120] * 10
    bases = [set(suite.frame.collect()["base_id"]) for suite in suites]
    assert all(base == bases[0] for base in bases)
    assert all(set(control.frame.collect()["id"]) == bases[0] for control in controls)
    plan = make_plan(complete_model(lambda premises, hypotheses: ["neutral"] * len(premises)), controls)
    assert (plan.rows, len(plan.keys)) == (600, 120)


def test_a_larger_sample_holds_the_smaller_one() -> None:
    whole = api.generate("stress/spelling")
    small, large = (set(limit_rows(whole, limit, 0).frame.collect()["base_id"]) for limit in (100, 200))
    assert small < large


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
