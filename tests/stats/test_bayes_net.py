"""The network's estimates against all configurations written down."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.stats.regression import PRIORS, Prior, network

RNG = np.random.default_rng(5)
MARKS = {name: RNG.random(40) < share for name, share in (("a", 0.5), ("b", 0.3), ("c", 0.1), ("d", 0.05))}
RIGHT = RNG.random(40) < 0.7


def enumerated(prior: str, size: float, category: str) -> tuple[float, float]:
    """P(right | category) and the weight of unseen configurations, from all 16 configurations."""
    table = np.column_stack(list(MARKS.values()))
    cells, base = 2 ** len(MARKS), RIGHT.mean() if prior == "base-rate" else 0.5
    added = {"bdeu": size / cells, "base-rate": size / cells, "laplace": 2.0, "none": 0.0}[prior]
    extra = {"bdeu": size, "base-rate": size, "laplace": 2.0, "none": 0.0}[prior]
    chances = (table.sum(axis=0) + extra / 2) / (len(RIGHT) + extra)
    place, total, weight, unseen = list(MARKS).index(category), 0.0, 0.0, 0.0
    for configuration in product([False, True], repeat=len(MARKS)):
        if not configuration[place]:
            continue
        own = np.prod([c if on else 1 - c for on, c in zip(configuration, chances, strict=True)]) / chances[place]
        rows = (table == configuration).all(axis=1)
        unseen += 0 if rows.any() else own
        if rows.any() or prior != "none":
            total += own * (RIGHT[rows].sum() + added * base) / (rows.sum() + added)
            weight += own
    return total / weight, unseen


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("category", list(MARKS))
def test_estimates_are_those_of_all_configurations(prior: str, category: str) -> None:
    chance = network(MARKS, RIGHT, Prior(prior, 6)).chances[category]
    value, unseen = enumerated(prior, 6, category)
    assert chance.network.value == pytest.approx(value, rel=1e-12)
    assert chance.unseen == pytest.approx(unseen, abs=1e-12)
    # Without a prior, rows that are all right leave no spread.
    assert chance.network.low < value < chance.network.high or (prior == "none" and value == 1)


def test_observed_weights_without_a_prior_give_the_relative_frequency() -> None:
    found = network(MARKS, RIGHT, Prior("none"))
    for name, marks in MARKS.items():
        assert found.chances[name].observed.value == pytest.approx(RIGHT[marks].mean())
    assert found.possible == 16
    assert found.seen == len(np.unique(np.column_stack(list(MARKS.values())), axis=0))


def test_intervals_cover_a_planted_chance() -> None:
    covered = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        marks = {"a": rng.random(300) < 0.5, "b": rng.random(300) < 0.5}
        right = rng.random(300) < np.where(marks["a"], 0.8, 0.6)
        chance = network(marks, right).chances["a"].network
        covered += chance.low <= 0.8 <= chance.high
    assert 0.9 <= covered / 200 <= 0.99


def test_forty_categories_are_no_more_work_than_four() -> None:
    rng = np.random.default_rng(1)
    marks = {f"c{number}": rng.random(50) < 0.2 for number in range(40)}
    found = network(marks, rng.random(50) < 0.5)
    assert found.possible == 2**40
    assert all(0 <= chance.unseen <= 1 for chance in found.chances.values())


def test_a_category_without_rows_has_no_estimate() -> None:
    chance = network({"a": np.zeros(3, dtype=bool)}, np.ones(3, dtype=bool)).chances["a"]
    assert (chance.network.known, chance.network.note) == (False, "no rows of this category")


def test_an_impossible_prior_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="laplace"):
        Prior("laplase")
    with pytest.raises(AcidtestError, match="--sample-size is a number of rows above 0, not 0"):
        Prior("bdeu", 0)
