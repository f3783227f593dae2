"""Contamination: the intervals it rests on, weights by hand, and simulated models that did or did not cheat."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.estimate import Estimate
from acidtest.core.run import Header, ModelFacts, Run
from acidtest.core.serialise import to_json
from acidtest.core.suite import Card
from acidtest.stats.intervals import StratifiedRate, clopper_pearson, combination, unpaired_difference, wilson
from acidtest.stats.resampling import generator
from acidtest.stats.significance import combination_test, holm
from acidtest.studies.contamination import ModelContamination, contamination_finding, holds_the_four
from acidtest.studies.contamination import measure_contamination as contamination

HEURISTICS = ("lexical_overlap", "subsequence", "constituent")
LABELS = ("entailment", "non-entailment")
PP, FP, PN, FN = (
    ("published", "published"),
    ("fresh", "published"),
    ("published", "novel"),
    ("fresh", "novel"),
)
WRONG = "non-entailment"
Place = tuple[str, str]


def alone(rate: StratifiedRate) -> Estimate:
    """A rate with its own interval."""
    return combination([(1, rate)])


@pytest.mark.parametrize(("successes", "n"), [(1, 10), (5, 10), (81, 263), (999, 1000)])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_one_stratum_gets_wilsons_interval(successes: int, n: int, confidence: float) -> None:
    found = combination([(1, StratifiedRate.of([1] * successes + [0] * (n - successes)))], confidence=confidence)
    expected = wilson(successes, n, confidence=confidence)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert found.method == "MOVER of 1 stratified Wilson intervals"


@pytest.mark.parametrize("verdict", [0, 1])
@pytest.mark.parametrize("n", [1, 20, 500])
def test_rows_that_all_agree_get_clopper_pearsons_interval(verdict: int, n: int) -> None:
    found = alone(StratifiedRate.of([verdict] * n, strata=np.arange(n) % 3))
    expected = clopper_pearson(verdict * n, n)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_strata_that_each_agree_still_leave_room() -> None:
    # Half of the rows all wrong, half all right: upwards only the 40 wrong ones can move, with the chance that Wilson
    # gives 0 of 40, which is z2 / (40 + z2), times their share.
    found = alone(StratifiedRate.of(np.repeat([0, 1], 40), strata=np.repeat([0, 1], 40)))
    reach = 0.5 * 1.959964**2 / (40 + 1.959964**2)
    assert (found.low, found.high) == pytest.approx((0.5 - reach, 0.5 + reach), abs=1e-6)


def test_weights_enter_the_value_and_cost_rows() -> None:
    values, weights = np.tile([1, 0, 0, 1, 0], 20), np.tile([3.0, 1.0, 1.0, 1.0, 1.0], 20)
    found = StratifiedRate.of(values, weights=weights)
    assert found.value == pytest.approx(4 / 7)
    # Kish: the square of the sum over the sum of squares, 140 ** 2 / (20 * 13) rows instead of 100.
    worth = 140**2 / 260
    expected = wilson_of(4 / 7, worth)
    assert (alone(found).low, alone(found).high) == pytest.approx(expected, abs=1e-9)


def wilson_of(share: float, n: float, z: float = 1.959963985) -> tuple[float, float]:
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return centre - reach, centre + reach


def test_strata_of_different_difficulty_narrow_the_interval() -> None:
    strata = np.repeat([0, 1], 500)
    values = np.concatenate([np.arange(500) < 25, np.arange(500) < 475])
    within, across = alone(StratifiedRate.of(values, strata=strata)), alone(StratifiedRate.of(values))
    # Within the strata the variance is 0.05 * 0.95 where it is 0.25 over all. Strata near an end cost some of the gain:
    # the interval allows for their rate being nearer the middle.
    gain = math.sqrt(0.05 * 0.95 / 0.25)
    assert gain < (within.high - within.low) / (across.high - across.low) < 1.15 * gain


def test_rows_alone_in_their_strata_do_not_look_certain() -> None:
    values = np.arange(50) % 2
    found = alone(StratifiedRate.of(values, strata=np.arange(50)))
    assert (found.low, found.high) == pytest.approx(wilson_of(0.5, 50), abs=1e-9)


def test_only_right_and_wrong_can_be_counted() -> None:
    with pytest.raises(ValueError, match="right"):
        StratifiedRate.of([0.5])


def test_a_combination_of_two_is_newcombes_hybrid() -> None:
    first, second = [1] * 56 + [0] * 14, [1] * 48 + [0] * 32
    found = combination([(1, StratifiedRate.of(first)), (-1, StratifiedRate.of(second))])
    # Newcombe (1998), Table II, 56/70 - 48/80, method 10: 0.0524 to 0.3339.
    assert (found.value, found.low, found.high) == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)
    plain = unpaired_difference(first, second)
    assert (found.low, found.high, found.n) == pytest.approx((plain.low, plain.high, plain.n))


def test_coefficients_scale_and_turn_an_interval() -> None:
    rate = StratifiedRate.of([1] * 30 + [0] * 10)
    alone, turned = combination([(1, rate)]), combination([(-2, rate)])
    assert (turned.low, turned.value, turned.high) == pytest.approx((-2 * alone.high, -1.5, -2 * alone.low))


def test_p_is_the_confidence_at_which_the_interval_reaches_zero() -> None:
    parts = [(1, StratifiedRate.of([1] * 56 + [0] * 14)), (-1, StratifiedRate.of([1] * 48 + [0] * 32))]
    test = combination_test(parts)
    assert combination(parts, confidence=1 - test.p).low == pytest.approx(0, abs=1e-7)
    # Much as the chi-square test of the two proportions.
    chi = stats.chi2_contingency([[56, 14], [48, 32]], correction=False).pvalue
    assert test.p == pytest.approx(chi, abs=0.005)
    assert test.statistic == pytest.approx(0.2)
    turned = [(-coefficient, rate) for coefficient, rate in parts]
    assert combination_test(turned).p == pytest.approx(test.p)


def test_p_is_never_zero_and_one_without_a_difference() -> None:
    right, wrong = StratifiedRate.of(np.ones(5000)), StratifiedRate.of(np.zeros(5000))
    assert 0 < combination_test([(1, right), (-1, wrong)]).p < 1e-14
    assert combination_test([(1, right), (-1, right)]).p == 1
    half = StratifiedRate.of(np.arange(100) % 2)
    assert combination_test([(1, half), (-1, half)]).p == 1


def test_a_part_without_rows_makes_no_number() -> None:
    parts = [(1, StratifiedRate.of([1, 0])), (-1, StratifiedRate.of([]))]
    assert math.isnan(combination(parts).value)
    assert combination(parts).note == "no rows on one side"
    assert math.isnan(combination_test(parts).p)


RATES = {"0.02": [0.02], "0.5": [0.5], "0.98": [0.98], "mixed": [0.02, 0.98, 0.5, 0.1, 0.9]}


STRATA = np.repeat(np.arange(10), np.tile([3, 1, 2, 1, 1], 2))
WEIGHTS = np.tile([1.0, 1.0, 0.7, 1.4, 1.0], 2)


def drawn(rng: np.random.Generator, rates: Sequence[float], n: int) -> StratifiedRate:
    """A cell of n rows in ten strata of unequal size and weight, with these rates in turn."""
    strata = np.resize(STRATA, n)
    values = rng.random(n) < np.resize(rates, 10)[strata]
    return StratifiedRate.of(values, strata=strata, weights=WEIGHTS[strata])


def truth(rates: Sequence[float], n: int) -> float:
    weights = WEIGHTS[np.resize(STRATA, n)]
    return float(weights @ np.resize(rates, 10)[np.resize(STRATA, n)] / weights.sum())


@pytest.mark.parametrize("n", [50, 200, 1000])
@pytest.mark.parametrize("kind", RATES)
def test_intervals_of_differences_of_differences_cover(kind: str, n: int) -> None:
    rng = generator(n)
    covered = []
    for draw in range(400):
        # Words make no difference, templates do: a null, which p < 0.05 rejects exactly when the interval misses 0.
        cells = [drawn(rng, rates, n) for rates in (RATES[kind], RATES[kind], [0.3], [0.3])]
        parts = list(zip((1, -1, -1, 1), cells, strict=True))
        found = combination(parts)
        covered.append(found.low <= 0 <= found.high)
        if draw < 20 or not covered[-1]:
            assert (combination_test(parts).p >= 0.05) == covered[-1]
    # 400 draws: the standard error of 0.95 is 0.011.
    assert np.mean(covered) >= 0.925


@pytest.mark.parametrize("kind", RATES)
@pytest.mark.parametrize("n", [50, 500])
def test_intervals_of_one_stratified_rate_cover(kind: str, n: int) -> None:
    rng = generator(n + 1)
    found = [alone(drawn(rng, RATES[kind], n)) for _ in range(400)]
    expected = truth(RATES[kind], n)
    # Wilson itself covers 0.02 in 92 of 100 draws at n = 50.
    assert np.mean([each.low <= expected <= each.high for each in found]) >= 0.9


def rows(place: Place, spec: Sequence[tuple[str, str, str, int, int]]) -> pl.DataFrame:
    """Rows of one cell: heuristic, label, template, how many, and how many of them are right."""
    columns: dict[str, list[Any]] = {name: [] for name in ("heuristic", "label", "template", "correct")}
    for heuristic, label, template, count, right in spec:
        columns["heuristic"] += [heuristic] * count
        columns["label"] += [label] * count
        columns["template"] += [template] * count
        columns["correct"] += [True] * right + [False] * (count - right)
    schema = dict.fromkeys(("heuristic", "label", "template"), pl.String) | {"correct": pl.Boolean}
    frame = pl.DataFrame(columns, schema=schema)
    entailed = frame["correct"].to_numpy() == (frame["label"] == "entailment").to_numpy()
    suite = suite_name(place)
    return frame.select(
        suite=pl.lit(suite),
        id=pl.lit(suite) + pl.int_range(pl.len()).cast(pl.String),
        premise=pl.lit("p"),
        hypothesis=pl.lit("h"),
        label=pl.col("label"),
        group=pl.lit(suite) + pl.int_range(pl.len()).cast(pl.String),
        heuristic=pl.col("heuristic"),
        subcase=pl.concat_str(pl.col("heuristic").str.head(1), pl.lit("_case")),
        template=pl.col("template"),
        p_entailment=pl.Series(np.where(entailed, 0.9, 0.1).astype(np.float32)),
        p_neutral=pl.Series(np.where(entailed, 0.05, 0.8).astype(np.float32)),
        p_contradiction=pl.Series(np.where(entailed, 0.05, 0.1).astype(np.float32)),
    )


def suite_name(place: Place) -> str:
    return ("hans" if place[1] == "published" else "hans/novel") + f":words={place[0]}"


def run(frames: Mapping[Place, pl.DataFrame], model: str = "m", **fields: Any) -> Run:
    columns = dict.fromkeys(("heuristic", "subcase", "template"), "factor")
    cards = {
        suite_name(place): Card(
            suite_name(place).partition(":")[0],
            arguments={"words": place[0]},
            columns=columns,  # type: ignore[arg-type]
            strata=("subcase", "template"),
        )
        for place in frames
    }
    settings = {"collapse": fields.pop("collapse", "argmax")}
    return Run(Header(ModelFacts(model, model, **fields), cards, settings), pl.concat(frames.values()))


def simulated(
    rng: np.random.Generator, rates: Mapping[Place, float], *, each: int = 50, entailed: float = 0.95, model: str = "m"
) -> Run:
    """A model that gets non-entailment right at the cells' rates, on three templates per heuristic and label."""
    frames = {}
    for place, rate in rates.items():
        spec = []
        for heuristic in HEURISTICS:
            for label in LABELS:
                for number, ease in enumerate((0.5, 1.0, 1.5)):
                    chance = entailed if label == "entailment" else min(1.0, rate * ease if rate < 0.6 else rate)
                    template = f"{place[1]}-{heuristic}-{label}-{number}"
                    spec.append((heuristic, label, template, each, int(rng.binomial(each, chance))))
        frames[place] = rows(place, spec)
    return run(frames, model)


def contrast(found: ModelContamination, name: str, part: str = WRONG) -> Any:
    return next(each for each in found.contrasts if (each.name, each.slice) == (name, part))


L, C = ("lexical_overlap", WRONG), ("constituent", WRONG)


def test_contrasts_weigh_templates_and_heuristics_alike() -> None:
    frames = {
        # Lexical: 0.5 in a, 1.0 in b; constituent 0.2.
        PP: rows(PP, [(*L, "a", 20, 10), (*L, "b", 20, 20), (*C, "c", 40, 8)]),
        # Lexical: 0.25 in a, 0.5 in b; constituent 0.1.
        FP: rows(FP, [(*L, "a", 40, 10), (*L, "b", 20, 10), (*C, "c", 40, 4)]),
        # Lexical 0.4, constituent 0.1.
        PN: rows(PN, [(*L, "x", 10, 4), (*C, "z", 50, 5)]),
        # Lexical 0.3, constituent 0.1; template y has no counterpart with published words.
        FN: rows(FN, [(*L, "x", 10, 3), (*C, "z", 30, 3), (*C, "y", 7, 7)]),
    }
    found = contamination([run(frames)])
    # 180 rows: a has 60 of them, b 40, c 80.
    expected = (60 * 0.25 + 40 * 0.5 + 80 * 0.1) / 180
    words = contrast(found, "words").difference
    assert words.value == pytest.approx(expected)
    assert words.n == 180
    # Lexical has 70 of the 147 rows with fresh words, constituent 77; rows weigh alike within, y included.
    expected = 70 / 147 * (20 / 60 - 0.3) + 77 / 147 * (0.1 - 10 / 37)
    assert contrast(found, "templates").difference.value == pytest.approx(expected)
    # Without y, lexical has 120 rows of 280 and constituent 160.
    lexical = (60 * 0.25 + 40 * 0.5) / 100 - 0.1
    constituent = 0.1 - 0.0
    both = contrast(found, "both").difference
    assert both.value == pytest.approx((120 * lexical + 160 * constituent) / 280)
    assert both.note.startswith("7 rows of templates that only one side has are left out")
    assert both.method == "MOVER of 4 stratified Wilson intervals"
    single = contrast(found, "words", f"constituent × {WRONG}").difference
    assert single.value == pytest.approx(0.1)


def test_the_words_contrast_is_the_stratified_difference_of_compare() -> None:
    found = simulated(generator(1), {PP: 0.5, FP: 0.3, PN: 0.3, FN: 0.3})
    sides = [found.rows(suite_name(place)).filter(label=WRONG) for place in (PP, FP)]
    plain = unpaired_difference(
        *((side["p_entailment"] < 0.5).to_numpy() for side in sides),
        strata_first=sides[0]["template"].to_numpy(),
        strata_second=sides[1]["template"].to_numpy(),
    )
    ours = contrast(contamination([found]), "words").difference
    assert ours.value == pytest.approx(plain.value)
    # Strata of different difficulty: narrower than Newcombe's, which does without them.
    assert ours.high - ours.low < plain.high - plain.low


def test_a_cell_shows_its_plain_accuracies() -> None:
    found = contamination([simulated(generator(2), {PP: 0.9, FP: 0.1, PN: 0.1, FN: 0.1})])
    assert [(cell.words, cell.templates, cell.suite) for cell in found.cells] == [
        ("published", "published", "hans:words=published"),
        ("fresh", "published", "hans:words=fresh"),
        ("published", "novel", "hans/novel:words=published"),
        ("fresh", "novel", "hans/novel:words=fresh"),
    ]
    cell = found.cells[0].slices
    assert list(cell) == ["all pairs", WRONG, *(f"{heuristic} × {WRONG}" for heuristic in HEURISTICS)]
    assert (cell["all pairs"].n, cell[WRONG].n, cell[f"subsequence × {WRONG}"].n) == (900, 450, 150)
    assert cell[WRONG].value == pytest.approx(0.9, abs=0.05)
    assert cell[WRONG].method == "Wilson"


def test_a_model_that_memorised_the_published_pairs_is_found() -> None:
    found = contamination([simulated(generator(3), {PP: 0.9, FP: 0.2, PN: 0.2, FN: 0.2})])
    both = contrast(found, "both")
    assert 0.55 < both.difference.low < 0.7 < both.difference.high < 0.8
    assert both.p_adjusted < 1e-6
    assert found.verdict.startswith("Signs of memory: where the heuristics are wrong, m is 6")
    assert "than its own level on other words and templates explains." in found.verdict
    assert contrast(found, "templates").p > 0.05


def test_memory_of_one_heuristic_is_named() -> None:
    rng = generator(4)
    frames = {}
    for place in (PP, FP, PN, FN):
        spec = [(*L, "a", 100, int(rng.binomial(100, 0.6 if place == PP else 0.3)))]
        spec += [(*C, "c", 2000, int(rng.binomial(2000, 0.3)))]
        frames[place] = rows(place, spec)
    found = contamination([run(frames)])
    assert not contrast(found, "both").significant
    assert found.verdict.startswith("Signs of memory: where lexical overlap is wrong, m is ")


def test_a_clean_model_shows_no_sign_and_what_could_have_been_missed() -> None:
    found = contamination([simulated(generator(5), {PP: 0.2, FP: 0.2, PN: 0.2, FN: 0.2}, each=300)])
    both = contrast(found, "both")
    assert both.p > 0.05
    missed = f"an advantage of up to {100 * both.difference.high:.1f} points could have been missed"
    assert found.verdict == (
        "No sign of memory: where the heuristics are wrong, m is not clearly better on the published words in the "
        f"published templates than its own level on other words and templates explains; {missed}."
    )


def test_easier_words_are_not_taken_for_memory() -> None:
    found = contamination([simulated(generator(6), {PP: 0.45, FP: 0.3, PN: 0.45, FN: 0.3}, each=300)])
    assert contrast(found, "words").p_adjusted < 0.001
    assert not contrast(found, "both").significant
    assert found.verdict.startswith("No sign of memory")
    assert "the published words are" in found.verdict
    assert found.verdict.endswith("so they may just be easier.")


def ease(rate: float, logits: float) -> float:
    """The rate after its log odds rise."""
    odds = rate / (1 - rate) * math.exp(logits)
    return odds / (1 + odds)


def test_words_that_are_easier_by_the_same_log_odds_are_not_taken_for_memory() -> None:
    # A clean model: published words help by one logit on both sets of templates, which is 23 points from 50 % and
    # 8 points from 6 %.
    rng, accused = generator(21), 0
    for _ in range(20):
        rates = {PP: ease(0.6, 1), FP: 0.6, PN: ease(0.06, 1), FN: 0.06}
        found = contamination([simulated(rng, rates, each=150)])
        accused += contamination_finding(found).severity == "warning"
        assert not found.verdict.startswith("Signs of memory")
    assert accused == 0
    assert contrast(found, "both").p_adjusted < 0.05
    assert "as much as words that are easier by the same log odds everywhere would give" in found.verdict


def test_memory_is_found_where_the_words_are_easier_too() -> None:
    # Published words help by half a logit everywhere, and 20 % of the published pairs are remembered.
    rng, missed = generator(22), 0
    for _ in range(10):
        published = ease(0.35, 0.5)
        rates = {PP: published + 0.2 * (1 - published), FP: 0.35, PN: ease(0.2, 0.5), FN: 0.2}
        missed += contamination_finding(contamination([simulated(rng, rates, each=167)])).severity != "warning"
    assert missed <= 1


def test_an_excess_over_the_reference_must_hold_in_log_odds() -> None:
    # Both models are clean and find published words easier by one logit on every template; their base rates differ.
    model = simulated(generator(23), {PP: ease(0.6, 1), FP: 0.6, PN: ease(0.06, 1), FN: 0.06}, each=150)
    clean = simulated(generator(24), {PP: ease(0.06, 1), FP: 0.06, PN: ease(0.6, 1), FN: 0.6}, each=150, model="clean")
    found = contamination([model], reference=[clean])
    both = contrast(found, "both")
    assert both.excess_p_adjusted < 0.001
    assert not both.significant
    assert contamination_finding(found).severity == "info"


def test_easier_templates_need_a_reference() -> None:
    rates = {PP: 0.4, FP: 0.4, PN: 0.2, FN: 0.2}
    model = simulated(generator(7), rates, each=200)
    alone = contamination([model])
    assert alone.verdict.endswith("it knows them or they are easier, which only a clean reference can show.")
    assert "Without a clean reference, familiar templates cannot be told from easier ones." in alone.cannot
    clean = simulated(generator(8), rates, each=200, model="clean")
    found = contamination([model], reference=[clean])
    assert found.reference == "clean"
    assert "templates" not in found.verdict.partition(".")[2]
    excess = contrast(found, "templates")
    assert excess.difference.value > 0.1
    assert abs(excess.excess.value) < 0.1
    assert excess.excess.value == pytest.approx(excess.difference.value - excess.reference.value)
    assert excess.excess.method == "MOVER of 4 stratified Wilson intervals"
    ignorant = simulated(generator(9), dict.fromkeys(rates, 0.2), each=200, model="clean")
    found = contamination([model], reference=[ignorant])
    assert "It seems to know the templates: with fresh words it is " in found.verdict
    assert not any("Without a clean reference" in sentence for sentence in found.cannot)


def test_memory_beyond_the_references_is_found() -> None:
    model = simulated(generator(10), {PP: 0.9, FP: 0.3, PN: 0.2, FN: 0.2})
    clean = simulated(generator(11), {PP: 0.4, FP: 0.3, PN: 0.2, FN: 0.2}, model="clean")
    found = contamination([model], reference=[clean])
    both = contrast(found, "both")
    assert both.excess.value == pytest.approx(both.difference.value - both.reference.value)
    assert both.excess_p_adjusted < 0.001
    assert "and the same difference of clean, explain." in found.verdict


def test_a_difference_that_only_chance_makes_likely_is_a_weak_sign() -> None:
    frames = {place: rows(place, [(*L, "a", 100, right)]) for place, right in ((PP, 50), (FP, 30), (PN, 30), (FN, 30))}
    found = contamination([run(frames)])
    both = contrast(found, "both")
    assert both.p < 0.05 < both.p_adjusted
    assert found.verdict.startswith("A weak sign of memory: ")


def test_few_rows_cannot_say() -> None:
    frames = {place: rows(place, [(*L, "a", 1, right)]) for place, right in ((PP, 1), (FP, 0), (PN, 0), (FN, 0))}
    found = contamination([run(frames)])
    both = contrast(found, "both")
    assert both.difference.value == 1
    assert both.p > 0.05
    assert both.difference.note.startswith("1 row with published words on published templates; 1 row with ")
    assert found.verdict.startswith("Too few rows to say whether m remembers the published pairs: an advantage of up")


def test_a_cell_without_rows_makes_no_number() -> None:
    frames = {place: rows(place, [(*L, "a", 50, 20)]) for place in (PP, FP, FN)}
    frames[PN] = rows(PN, [])
    found = contamination([run(frames)])
    both = contrast(found, "both")
    assert math.isnan(both.difference.value)
    assert "no rows with published words on novel templates" in both.difference.note
    assert contrast(found, "words").difference.value == 0
    assert found.verdict.startswith("Too few rows to say whether m remembers the published pairs: ")
    assert found.cells[2].slices[WRONG].note == "no rows"
    json.dumps(to_json(found), allow_nan=False)


@pytest.mark.parametrize(("right", "word"), [(0, "wrong"), (200, "right")])
def test_a_model_that_is_always_right_or_always_wrong_has_notes_and_no_sign(right: int, word: str) -> None:
    frames = {place: rows(place, [(*L, "a", 200, right)]) for place in (PP, FP, PN, FN)}
    found = contamination([run(frames)])
    both = contrast(found, "both")
    assert (both.difference.value, both.p) == (0, 1)
    assert f"all {word} with published words on published templates" in both.difference.note
    assert f"on novel templates nearly all answers are {word}" in both.difference.note
    # Clopper–Pearson for 0 of 200, two cells to either side.
    reach = math.sqrt(2) * (1 - 0.025 ** (1 / 200))
    assert (both.difference.low, both.difference.high) == pytest.approx((-reach, reach))
    assert found.verdict.startswith(f"Memory cannot be measured: where the heuristics are wrong, m is {word} on nearly")


def test_worse_on_the_published_is_no_sign() -> None:
    found = contamination([simulated(generator(12), {PP: 0.1, FP: 0.5, PN: 0.5, FN: 0.5}, each=100)])
    assert "; if anything it is worse there, by " in found.verdict


def test_all_p_values_of_a_report_are_one_family() -> None:
    model = simulated(generator(13), {PP: 0.5, FP: 0.4, PN: 0.4, FN: 0.4})
    clean = simulated(generator(14), {PP: 0.4, FP: 0.4, PN: 0.4, FN: 0.4}, model="clean")
    found = contamination([model], reference=[clean]).contrasts
    ps = [each.p for each in found] + [each.excess_p for each in found]
    corrected = [each.p_adjusted for each in found] + [each.excess_p_adjusted for each in found]
    assert len(ps) == 2 * 3 * 5
    assert corrected == pytest.approx(holm(ps))
    plain = contamination([model], correction="none").contrasts
    assert [each.p_adjusted for each in plain] == [each.p for each in plain]
    with pytest.raises(UnknownNameError):
        contamination([model], correction="hollm")


def test_a_clean_model_is_rarely_accused() -> None:
    rng = generator(15)
    rates = {PP: 0.3, FP: 0.2, PN: 0.4, FN: 0.3}
    accused = []
    for _ in range(40):
        found = contamination([simulated(rng, rates, each=10)])
        accused.append(any(each.significant for each in found.contrasts if each.name == "both"))
    # 40 draws at 0.05 or below: 6 or more have a chance of at most 0.014.
    assert sum(accused) <= 5


def test_the_json_has_the_shape_that_is_rendered() -> None:
    rates = {PP: 0.5, FP: 0.4, PN: 0.4, FN: 0.4}
    model, clean = simulated(generator(16), rates), simulated(generator(17), rates, model="clean")
    for found in (contamination([model]), contamination([model], reference=[clean])):
        fields = json.loads(json.dumps(to_json(found), allow_nan=False))
        assert list(fields) == ["model", "reference", "cells", "contrasts", "verdict", "can", "cannot"]
        assert list(fields["cells"][0]) == ["words", "templates", "suite", "slices"]
        first = fields["contrasts"][0]
        assert list(first) == [
            "slice", "name", "question", "difference", "p", "p_adjusted", "logit_p", "logit_p_adjusted",
            "reference", "excess", "excess_p", "excess_p_adjusted",
        ]  # fmt: skip
        estimate = {"value", "low", "high", "n", "groups", "method", "note"}
        assert set(first["difference"]) == set(fields["cells"][0]["slices"][WRONG]) == estimate
        assert all(sentence.endswith(".") for sentence in (fields["verdict"], *fields["can"], *fields["cannot"]))
        if found.reference is None:
            assert {first[name] for name in ("reference", "excess", "excess_p", "excess_p_adjusted")} == {None}
        else:
            assert set(first["reference"]) == set(first["excess"]) == estimate


def test_the_cells_may_come_from_several_runs_and_other_suites_are_left_aside() -> None:
    frames = {place: rows(place, [(*L, "a", 50, 20)]) for place in (PP, FP, PN, FN)}
    whole = contamination([run(frames)])
    parts = [run({place: frame}) for place, frame in frames.items()]
    other = run({PP: frames[PP].with_columns(suite=pl.lit("stress/negation"))})
    card = replace(other.header.suites[suite_name(PP)], name="stress/negation")
    other = replace(other, header=replace(other.header, suites={"stress/negation": card}))
    assert to_json(contamination([*parts[::-1], other])) == to_json(whole)


def test_a_missing_cell_is_named() -> None:
    frames = {place: rows(place, [(*L, "a", 5, 2)]) for place in (PP, FP, PN)}
    with pytest.raises(AcidtestError, match="m: no run has fresh words on novel templates; run it on hans and on"):
        contamination([run(frames)])
    del frames[FP]
    with pytest.raises(AcidtestError, match="fresh words on published templates or fresh words on novel templates"):
        contamination([run(frames)])
    whole = run({place: rows(place, [(*L, "a", 5, 2)]) for place in (PP, FP, PN, FN)})
    with pytest.raises(AcidtestError, match="clean: no run has"):
        contamination([whole], reference=[run(frames, "clean")])


def test_a_cell_held_twice_is_refused() -> None:
    frames = {place: rows(place, [(*L, "a", 5, 2)]) for place in (PP, FP, PN, FN)}
    with pytest.raises(AcidtestError, match="published words on published templates twice, in 'hans:words=published'"):
        contamination([run(frames), run({PP: frames[PP]})])


def test_different_models_and_collapses_are_refused() -> None:
    frames = {place: rows(place, [(*L, "a", 5, 2)]) for place in (PP, FP, PN, FN)}
    with pytest.raises(AcidtestError, match="the reference is of several models: n, o; pass runs of one"):
        contamination([run(frames)], reference=[run({PP: frames[PP]}, "n"), run(frames, "o")])
    with pytest.raises(AcidtestError, match="different --collapse: argmax, sum; score them alike"):
        contamination([run(frames)], reference=[run(frames, "n", collapse="sum")])
    twins = contamination([run(frames, fingerprint="aaaaaaa")], reference=[run(frames, fingerprint="bbbbbbb")])
    # The first ten digits of: printf aaaaaaa | sha256sum
    assert (twins.model, twins.reference) == ("m#e46240714b", "m#ea415a61bd")


def test_a_suite_without_templates_is_refused() -> None:
    frames = {place: rows(place, [(*L, "a", 5, 2)]).drop("template") for place in (PP, FP, PN, FN)}
    with pytest.raises(AcidtestError, match="suite 'hans:words=published' has no column template"):
        contamination([run(frames)])


def test_the_published_file_itself_is_the_published_cell() -> None:
    frames = {place: rows(place, [(*L, "a", 50, 20)]) for place in (PP, FP, PN, FN)}
    frames = {place: frame.with_columns(subcase=pl.lit("ln_passive")) for place, frame in frames.items()}
    whole = run(frames)
    cards = dict(whole.header.suites)
    card = cards.pop("hans:words=published")
    theirs = pl.when(pl.col("suite") == "hans:words=published").then(pl.lit("heuristics_evaluation_set"))
    cards["heuristics_evaluation_set"] = replace(card, name="heuristics_evaluation_set", arguments={})
    foreign = replace(
        whole,
        header=replace(whole.header, suites=cards),
        frame=whole.predictions.with_columns(suite=theirs.otherwise("suite")),
    )
    assert holds_the_four([whole])
    assert holds_the_four([foreign])
    # The file goes before pairs drawn anew.
    only_file = replace(
        foreign,
        header=replace(foreign.header, suites={"heuristics_evaluation_set": cards["heuristics_evaluation_set"]}),
    )
    assert holds_the_four([whole, only_file])
    both = contamination([whole, only_file])
    assert both.cells[0].suite == "heuristics_evaluation_set"
    found = contamination([foreign])
    assert next(cell.suite for cell in found.cells if (cell.words, cell.templates) == PP) == "heuristics_evaluation_set"
    assert contrast(found, "both").difference == contrast(contamination([whole]), "both").difference


def test_three_cells_are_not_four() -> None:
    assert not holds_the_four([run({place: rows(place, [(*L, "a", 5, 2)]) for place in (PP, FP, PN)})])
    assert not holds_the_four([])
