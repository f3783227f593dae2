"""Which categories go with being right: planted effects, what is refused, and figure 6 of Joshi et al. (2020)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from acidtest import api
from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.run import Header, ModelFacts, Run
from acidtest.core.suite import Card, Kind
from acidtest.studies.factors import FactorsResult, ModelFactors, factors

LABELS = ("entailment", "neutral", "contradiction")
COLUMNS: dict[str, Kind] = {"negation": "category", "world": "category", "genre": "factor", "score": "covariate"}


def run(
    right: Sequence[bool],
    marks: Mapping[str, Sequence[object]],
    *,
    model: str = "toy",
    columns: Mapping[str, Kind] = COLUMNS,
    groups: Sequence[int] | None = None,
) -> Run:
    """A model's answers to pairs whose gold is entailment."""
    n = len(right)
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "suite": ["s"] * n,
            "id": [str(number) for number in range(n)],
            "group": [str(group) for group in (groups or range(n))],
            "premise": ["word " * int(size) for size in rng.integers(3, 20, n)],
            "hypothesis": ["word or " * int(size) for size in rng.integers(2, 9, n)],
            "label": ["entailment"] * n,
            "genre": ["fiction" if number % 3 else "travel" for number in range(n)],
            "score": rng.normal(size=n),
            **marks,
            **{f"p_{label}": [float(good == (label == LABELS[0])) for good in right] for label in LABELS[:2]},
            "p_contradiction": [0.0] * n,
        }
    )
    header = Header(ModelFacts(model, model), {"s": Card("s", columns=columns)}, {}, versions={"acidtest": "0"})
    return Run(header, frame)


def planted(*, seed: int = 1, model: str = "toy", negation: float = 0.9) -> Run:
    """800 pairs; negation helps, world does not matter."""
    rng = np.random.default_rng(seed)
    marks = {
        name: (np.random.default_rng(7 + place).random(800) < 0.4) for place, name in enumerate(("negation", "world"))
    }
    right = rng.random(800) < np.where(marks["negation"], negation, 0.6)
    return run(right.tolist(), {name: column.tolist() for name, column in marks.items()}, model=model)


def only(result: FactorsResult) -> ModelFactors:
    assert len(result.fits) == 1
    return result.fits[0]


def test_a_planted_category_is_found_and_an_idle_one_is_not() -> None:
    each = only(factors([planted()]))
    terms = {factor.name: factor.logistic for factor in each.factors}
    assert list(terms) == ["negation", "world", "Length1", "Length2"]
    # log(0.9 / 0.1) - log(0.6 / 0.4) = 1.79
    assert terms["negation"].value.low < 1.79 < terms["negation"].value.high
    assert (terms["negation"].stars, terms["world"].stars) == ("***", "")
    assert terms["negation"].p_adjusted == pytest.approx(4 * terms["negation"].p)
    assert each.accuracy["negation"].value == pytest.approx(0.9, abs=0.04)
    assert {factor.kind for factor in each.factors} == {"category", "length"}


def test_models_on_the_same_rows_are_compared_with_the_first() -> None:
    found = factors([planted(model="first", negation=0.6), planted(model="second")]).fits
    assert [each.model for each in found] == ["first", "second"]
    assert found[0].gains == {}
    assert found[1].gains["negation"].low > 0.2
    assert found[1].gains["negation"].value == pytest.approx(
        found[1].accuracy["negation"].value - found[0].accuracy["negation"].value
    )
    assert factors([planted(model="first"), planted(model="second")]).tests == 8


def test_models_are_looked_at_on_the_rows_that_all_have_whatever_their_order() -> None:
    whole, half = planted(model="whole"), planted(model="half", seed=2)
    half = replace(half, frame=half.frame.filter(pl.col("id").cast(pl.Int64) < 400).reverse())
    first, second = factors([whole, half]).fits
    alone = only(factors([replace(whole, frame=whole.frame.head(400))]))
    assert (first.overall, first.accuracy) == (alone.overall, alone.accuracy)
    assert [each.overall.n for each in (first, second)] == [400, 400]
    assert first.network.seen == second.network.seen
    assert (first.skipped, second.skipped) == (400, 0)
    assert "on the 400 rows that all models were asked, of its 800" in first.notes
    assert second.gains["negation"].value == pytest.approx(
        second.accuracy["negation"].value - first.accuracy["negation"].value
    )
    terms = [factor.logistic.value.value for factor in second.factors]
    assert terms == pytest.approx([factor.logistic.value.value for factor in only(factors([half])).factors])


def test_models_that_were_asked_other_rows_are_not_put_side_by_side() -> None:
    other = planted(model="other")
    other = replace(other, frame=other.frame.with_columns(id=pl.concat_str(pl.lit("o"), "id")))
    with pytest.raises(AcidtestError, match=r"the same rows of 's': they have 0 in common \(toy 800, other 800\)"):
        factors([planted(), other])


def test_categories_that_rules_proposed_are_said_to_be_so() -> None:
    marks = {"auto_negation": [True, False] * 10, "world": [False] * 20}
    columns: dict[str, Kind] = {"auto_negation": "category", "world": "category"}
    each = only(factors([run([True, True, False, True] * 5, marks, columns=columns)]))
    assert "proposed by rules, not annotated" in each.caution
    assert "negation 0.67" in each.caution
    assert only(factors([planted()])).caution == ""


def test_rows_that_belong_together_are_not_so_many_witnesses() -> None:
    rng = np.random.default_rng(3)
    right, marks = rng.random(60) < 0.7, rng.random(60) < 0.5
    once = only(factors([run(right.tolist(), {"negation": marks.tolist(), "world": [False, True] * 30})]))
    four = np.repeat(np.arange(60), 4)
    again = run(
        right[four].tolist(), {"negation": marks[four].tolist(), "world": [False, True] * 120}, groups=four.tolist()
    )
    grouped = only(factors([again], categories=("negation",), lengths=False))
    alone = only(factors([run(right.tolist(), {"negation": marks.tolist()})], categories=("negation",), lengths=False))
    assert math.isnan(once.factors[0].logistic.p_groups)
    assert not once.grouped
    assert grouped.grouped
    # Four copies of each row: the rows' error is half of what it should be, the groups' is not.
    assert grouped.factors[0].logistic.error == pytest.approx(alone.factors[0].logistic.error / 2, rel=1e-6)
    assert grouped.factors[0].logistic.p_groups == pytest.approx(alone.factors[0].logistic.p, rel=0.1)


def test_confounds_become_columns() -> None:
    each = only(factors([planted()], confounds=("genre", "score", "overlap", "tokens")))
    assert [factor.name for factor in each.factors[4:]] == ["genre = travel", "score", "overlap", "Tokens1", "Tokens2"]
    assert "genre: the values are compared with fiction" in each.notes
    # The premises say nothing but word: Tokens1 is a fifth of Length1; half of the hypotheses' words are in them.
    assert "Tokens1 is left out: it follows from Length1" in each.notes
    assert "overlap is left out: it is 0.5 in every row" in each.notes


def test_a_label_that_never_changes_adds_nothing() -> None:
    assert len(only(factors([planted()], confounds=("label",))).factors) == 4


def test_rows_without_a_mark_are_left_out_and_counted() -> None:
    marks = {"negation": ["1", "0", None, "yes"] * 10, "world": ["0", "2", "1", "no"] * 10}
    each = only(factors([run([True, False, True, True] * 10, marks)]))
    assert "10 rows without a value for negation are left out" in each.notes
    assert "world: 10 cells hold a number above 1, which counts as 1" in each.notes
    assert each.overall.n == 30


def test_a_model_that_is_always_right_has_no_coefficients_and_no_crash() -> None:
    each = only(factors([run([True] * 20, {"negation": [True, False] * 10, "world": [False] * 20})]))
    assert not any(factor.logistic.value.known or factor.discriminant.value.known for factor in each.factors)
    assert each.factors[0].logistic.value.note == "every answer is right"
    assert each.accuracy["world"].note == "no rows of world"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"categories": ("negation", "irony")},
            "no suite of the runs has all of --categories negation,irony: s has no irony",
        ),
        ({"categories": ("score",)}, "column 'score' of suite 's' is no category: it holds .* --confounds score"),
        ({"categories": ("genre",)}, "column 'genre' of suite 's' is no category: it holds 'travel'"),
        ({"confounds": ("world",)}, "--confounds: world is a category already"),
    ],
)
def test_what_cannot_be_looked_at_is_refused(options: dict[str, tuple[str, ...]], message: str) -> None:
    with pytest.raises(AcidtestError, match=message):
        factors([planted()], **options)


def test_an_unknown_confound_gets_a_hint() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'genre'"):
        factors([planted()], confounds=("genr",))


def test_a_run_without_categories_says_what_it_has() -> None:
    with pytest.raises(AcidtestError, match=r"there is: s \(genre\)\. Name columns of 0 and 1, or one that lists"):
        factors([run([True, False], {}, columns={"genre": "factor"})])


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Run:
    file = Path(__file__).parents[3] / "shared" / "data" / "taxinli" / "taxinli10k_MNLIDev.tsv"
    if not file.is_file():
        pytest.skip("real data sets (../shared/data) are not on this machine")
    folder = tmp_path_factory.mktemp("bert")
    battery = api.Battery(["taxinli"], source=file)
    return api.score(file, battery, column="aloxatel/bert-base-mnli", output=folder / "run").run


def test_figure_6_has_exactly_these_stars(bert: Run) -> None:
    each = only(factors([bert]))
    assert each.overall.n == 7727
    starred = {factor.name: factor.logistic.stars for factor in each.factors if factor.logistic.stars}
    # Joshi et al. 2020, figure 6
    assert starred == {
        "syntactic": "**",
        "negation": "***",
        "boolean": "*",
        "causal": "***",
        "world": "***",
        "Length2": "**",
    }
    # 572 of the published file's configurations, less one that differs from another by a 2 alone.
    assert (each.network.seen, each.network.possible) == (571, 32768)


def test_with_label_and_overlap_four_factors_of_figure_6_vanish(bert: Run) -> None:
    each = only(factors([bert], confounds=("label", "overlap")))
    starred = {factor.name for factor in each.factors if factor.kind == "category" and factor.logistic.stars}
    # The errata of TaxiNLI: causal, world, syntactic and boolean vanish.
    assert starred == {"negation", "relational", "coreference"}
