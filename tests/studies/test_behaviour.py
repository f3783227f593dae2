"""Behaviour under swapped words: the paper's tables out of rows, planted effects, nulls, nothing to look at."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.estimate import Estimate
from acidtest.core.run import Header, ModelFacts, Run
from acidtest.core.serialise import to_json
from acidtest.core.suite import CONTROL, Card, Kind, Suite
from acidtest.studies.behaviour import Behaviour, BehaviourResult, behaviour
from acidtest.studies.behaviour.factors import (
    CONTROL_POLARITY,
    GIVEN_GOLD,
    INSENSITIVITY,
    POLARITY,
    UNSEEN,
    FactorTest,
)
from acidtest.studies.behaviour.samples import AGAINST_POLARITY, CHANGED_GOLD, UNSEEN_PAIRS, SwapSample

LABELS = ("entailment", "neutral", "contradiction")
COLUMNS: dict[str, Kind] = {"premise_word": "text", "hypothesis_word": "text"}
SUITE = "swaps/antonyms-in-situ"

Row = tuple[str, str, str, str]
"""The premise's word, the hypothesis's, gold and the answer (``""`` for none)."""


def frame(suite: str, rows: Sequence[Row], groups: Sequence[str] | None = None) -> pl.DataFrame:
    made = pl.DataFrame(rows, schema=["premise_word", "hypothesis_word", "label", "answer"], orient="row")
    number = pl.int_range(pl.len()).cast(pl.String)
    made = made.with_columns(
        suite=pl.lit(suite),
        id=number if suite.endswith(CONTROL) else pl.concat_str(number, pl.lit("-swapped")),
        base_id=pl.lit(None, pl.String) if suite.endswith(CONTROL) else number,
        group=number if groups is None else pl.Series(groups),
        premise=pl.concat_str(pl.lit("It is "), "premise_word"),
        hypothesis=pl.concat_str(pl.lit("It is "), "hypothesis_word"),
    )
    silent = pl.col("answer") == ""
    chance = [pl.when(~silent).then((pl.col("answer") == label).cast(pl.Float64)) for label in LABELS]
    filled = [one.fill_null(math.nan).alias(f"p_{label}") for one, label in zip(chance, LABELS, strict=True)]
    return made.with_columns(filled).drop("answer")


def run(
    before: Sequence[Row],
    after: Sequence[Row],
    *,
    model: str = "m",
    suite: str = SUITE,
    groups: Sequence[str] | None = None,
    resolution: str = "three-way",
) -> Run:
    cards = {suite: Card(suite, columns=COLUMNS), suite + CONTROL: Card(suite + CONTROL, columns=COLUMNS)}
    frames = frame(suite, after, groups), frame(suite + CONTROL, before, groups)
    return Run(Header(ModelFacts(model, model, resolution=resolution), cards, {}), pl.concat(frames))


def train(**pairs: str) -> Suite:
    """A training set: ``hot_cold="ccn"`` puts hot before cold in two contradictions and a neutral pair."""
    names = {label[0]: label for label in LABELS}
    rows = [
        (f"It is {words.split('_')[0]}.", f"It is {words.split('_')[1]}.", names[letter])
        for words, letters in pairs.items()
        for letter in letters
    ]
    return Suite(pl.DataFrame(rows, schema=["premise", "hypothesis", "label"], orient="row").lazy(), Card("train"))


def only(result: BehaviourResult) -> Behaviour:
    assert len(result.behaviours) == 1
    return result.behaviours[0]


def factor(result: Behaviour, name: str) -> FactorTest:
    tested = result.factor(name)
    assert tested
    return tested


def subset(sample: SwapSample, name: str) -> Estimate:
    estimate = sample.subsets[name]
    assert estimate is not None
    return estimate


E, N, C = LABELS


def paper_tables_3_and_4() -> tuple[Run, Suite]:
    """The rows behind DAM's tables 3 and 4 on I_TA1: 620 contradictions, by polarity and answer."""
    words = {"hot": "n", "cold": "c", "wet": "e"}
    rows: list[Row] = []
    for word, counts in {"hot": (5, 21, 0), "cold": (5, 543, 3), "wet": (0, 3, 0), "new": (8, 20, 12)}.items():
        for answer, count in zip((N, C, E), counts, strict=True):
            rows += [(word, "other", C, answer)] * count
    # Of the controls we only know that 0.946 of them were right.
    before: list[Row] = [("other", word, C, C if n < 587 else N) for n, (word, *_) in enumerate(rows)]
    return run(before, rows), train(**{f"{word}_other": label for word, label in words.items()}, other_cold="c")


def test_tables_3_and_4_of_the_paper_come_out_of_their_rows() -> None:
    result = only(behaviour([paper_tables_3_and_4()[0]], train=paper_tables_3_and_4()[1]))
    unseen, polarity = factor(result, UNSEEN), factor(result, POLARITY)
    assert unseen.table
    # Table 3 and the statistic in section 6.1.
    assert unseen.table.counts.tolist() == [[567, 20], [13, 20]]
    assert round(unseen.association.statistic, 2) == 74.16
    assert polarity.table
    # Table 4 in our order of labels: entailment, neutral, contradiction.
    assert (polarity.table.rows, polarity.table.columns) == ((*LABELS, "none"), LABELS)
    assert polarity.table.counts.tolist() == [[0, 0, 3], [0, 5, 21], [3, 5, 543], [12, 8, 20]]
    assert (round(polarity.association.statistic, 2), polarity.association.df) == (101.26, 6)


def test_table_1_comes_out_of_the_same_rows() -> None:
    result = only(behaviour([paper_tables_3_and_4()[0]], train=paper_tables_3_and_4()[1]))
    sample = result.transformed
    assert (sample.whole.value, sample.whole.n) == (587 / 620, 620)
    assert (subset(sample, CHANGED_GOLD).known, subset(sample, CHANGED_GOLD).note) == (
        False,
        "no pair whose gold changed",
    )
    assert (subset(sample, UNSEEN_PAIRS).value, subset(sample, UNSEEN_PAIRS).n) == (0.5, 40)
    # Subset 3 holds the unseen pairs too: 44 of 69 is the paper's 0.637.
    assert (subset(sample, AGAINST_POLARITY).value, subset(sample, AGAINST_POLARITY).n) == (44 / 69, 69)
    assert (result.control.subsets[CHANGED_GOLD], result.control.subsets[UNSEEN_PAIRS]) == (None, None)
    assert result.control.whole.value == pytest.approx(587 / 620)


def test_table_2_comes_out_of_its_rows() -> None:
    # ESIM on I_TA2: gold changes from contradiction to neutral; cells are (answer before, answer after).
    cells = {(C, N): 155, (C, E): 31, (N, N): 8, (C, C): 100}
    before: list[Row] = [("old", "young", C, b) for (b, _), n in cells.items() for _ in range(n)]
    after: list[Row] = [("old", "aged", N, a) for (_, a), n in cells.items() for _ in range(n)]
    result = only(behaviour([run(before, after)], train=train(old_young="c", old_aged="e")))
    table = factor(result, INSENSITIVITY)
    assert table.table
    assert table.table.counts.tolist() == [[155, 31], [8, 100]]
    assert round(table.association.statistic, 2) == 175.34
    assert table.association.odds_ratio
    assert table.association.odds_ratio.value == pytest.approx(155 * 100 / (31 * 8))
    assert result.repeats.value == pytest.approx(108 / 294)
    # All 131 errors had another answer before than neutral: 100 repeat it.
    assert (result.repeated_errors.value, result.repeated_errors.n) == (100 / 131, 131)
    start = "Where gold changes, errors go with repeated answers (G(1) = 175.34 with Yates' correction, phi 0.74,"
    assert result.findings[1].startswith(start)
    assert "100 of 131 (76.3 %) errors repeat the answer given before, 8 of 163 (4.9 %) right" in result.findings[1]
    # Wilson: (0.7634 + 0.0147 ± 1.96 √(0.00138 + 0.00006)) / 1.0293.
    assert result.findings[-2].startswith(
        "Where gold changes, 76.3 % (95 % interval 68.4–82.8, n = 131) of the errors that might repeat"
    )


def test_blind_guesses_after_right_controls_repeat_half_of_their_errors() -> None:
    # Repeating an answer that was right is wrong when gold changes, so the test of table 2 rejects for any good model.
    after: list[Row] = [("b", "a", N, label) for label in LABELS for _ in range(60)]
    result = only(behaviour([run([("a", "b", C, C)] * 180, after)], train=train(a_b="c", b_a="c")))
    assert factor(result, INSENSITIVITY).p_adjusted < 1e-4
    assert (result.repeats.value, result.repeated_errors.value) == (pytest.approx(1 / 3), 0.5)


def test_a_pair_without_gold_change_is_no_part_of_the_insensitivity_table() -> None:
    before: list[Row] = [("a", "b", C, C), ("a", "b", C, C), ("a", "b", N, N)]
    after: list[Row] = [("b", "a", C, C), ("b", "a", N, C), ("b", "a", E, N)]
    result = only(behaviour([run(before, after)], train=train(a_b="c", b_a="c")))
    table = factor(result, INSENSITIVITY).table
    assert table
    assert table.counts.tolist() == [[0, 0], [0, 2]]
    assert (subset(result.transformed, CHANGED_GOLD).value, subset(result.transformed, CHANGED_GOLD).n) == (0.0, 2)


def test_mcnemar_compares_each_row_with_the_row_it_was_made_from() -> None:
    before: list[Row] = [("a", "b", C, C)] * 12 + [("a", "b", C, N)] * 2
    after: list[Row] = [("b", "a", C, N)] * 10 + [("b", "a", C, C)] * 4
    swap = only(behaviour([run(before, after)], train=train(a_b="c", b_a="n"))).swap
    # Ten lost, two won: two-sided binomial, 2 × P(X ≤ 2 | 12, 1/2) = 2 × 79 / 4096.
    assert (swap.test, swap.p) == ("McNemar, exact", pytest.approx(158 / 4096))
    assert swap.difference.value == pytest.approx(-8 / 14)
    assert math.isnan(swap.p_groups)
    groups = [str(number // 2) for number in range(14)]
    grouped = only(behaviour([run(before, after, groups=groups)], train=train(a_b="c", b_a="n"))).swap
    assert grouped.p == swap.p
    assert grouped.p_groups > swap.p


def unseen_table_of_ce() -> tuple[Run, Suite]:
    """Rows with the accuracies of CE on E_TA in table 1: 0.480 of 616, and 0.175 of the 40 with unseen pairs."""
    counts = {("seen", C): 289, ("new", C): 7, ("seen", N): 287, ("new", N): 33}
    rows: list[Row] = [(word, "other", C, answer) for (word, answer), count in counts.items() for _ in range(count)]
    return run([("other", word, C, C) for word, *_ in rows], rows, suite="swaps/antonyms-ex-situ"), train(
        seen_other="c", other_seen="c", other_new="c"
    )


def test_the_level_is_that_of_a_single_test_however_many_there_are() -> None:
    # Section 6.2 finds CE's G(1) = 15.91 at 0.0001 (p = 0.00007) among the 39 statistics of the paper.
    swap_run, training = unseen_table_of_ce()
    others = [
        replace(swap_run, header=replace(swap_run.header, model=ModelFacts(f"m{number}", f"m{number}")))
        for number in range(12)
    ]
    result = behaviour([swap_run, *others], train=training)
    assert result.tests > 33
    for one in result.behaviours:
        unseen = factor(one, UNSEEN)
        assert round(unseen.association.statistic, 2) == 15.91
        assert unseen.p_adjusted > 1e-4 > unseen.association.p
        assert any("Unseen word pairs are answered worse (G(1) = 15.91" in line for line in one.findings)
    alone = only(behaviour([swap_run], train=training))
    assert alone.findings == result.behaviours[0].findings


def test_bonferroni_counts_the_tests_of_all_models_and_suites() -> None:
    before: list[Row] = [("a", "b", C, C)] * 30
    after: list[Row] = [("b", "a", C, N)] * 10 + [("b", "a", C, C)] * 20
    training = train(a_b="c", b_a="n")
    one = behaviour([run(before, after)], train=training)
    two = behaviour(
        [run(before, after), run(before, after, model="n"), run(before, after, suite="swaps/other")], train=training
    )
    # The tables are of one row: McNemar's is the only test there is.
    assert (one.tests, two.tests) == (1, 3)
    assert only(one).swap.p_adjusted == pytest.approx(only(one).swap.p)
    assert [one.swap.p_adjusted for one in two.behaviours] == pytest.approx([3 * only(one).swap.p] * 3)


def test_a_model_that_is_always_right_shows_nothing() -> None:
    rows: list[Row] = [(word, "other", C, C) for word in ("hot", "cold", "new") for _ in range(20)]
    before: list[Row] = [("other", word, C, C) for word, *_ in rows]
    result = only(
        behaviour([run(before, rows)], train=train(hot_other="n", cold_other="c", other_hot="c", other_cold="c"))
    )
    # The paper notes in section 6.1 that perfect accuracy on contradictions leaves predictions independent of polarity.
    assert math.isnan(factor(result, POLARITY).association.p)
    assert any("polarity: every one is contradiction (" in one for one in result.findings)
    assert math.isnan(factor(result, UNSEEN).association.p)
    assert result.follows.note == "no error against a polarity of one label"
    assert result.findings[0].startswith("The swap is not shown to change accuracy, from 100.0 % to 100.0 %")


def test_a_model_that_follows_polarity_is_found_out_beyond_gold() -> None:
    rows: list[Row] = []
    for word, label in (("hot", E), ("cold", N), ("wet", C)):
        for gold in LABELS:
            rows += [(word, "other", gold, label)] * 20
    before: list[Row] = [("other", word, gold, gold) for word, _, gold, _ in rows]
    training = train(hot_other="e", cold_other="n", wet_other="c", other_hot="e", other_cold="n", other_wet="c")
    result = only(behaviour([run(before, rows)], train=training))
    for name in (POLARITY, GIVEN_GOLD):
        assert factor(result, name).p_adjusted < 1e-4
    assert (result.follows.value, result.follows.n) == (1.0, 120)
    # Within each gold two polarities mislead, 20 errors each: at random half of them would follow.
    assert result.follows_by_chance == 0.5
    assert subset(result.transformed, AGAINST_POLARITY).value == 0.0
    # The control is answered by gold, which polarity does not tell.
    assert factor(result, CONTROL_POLARITY).association.statistic == pytest.approx(0.0)
    # Three word pairs only: shuffled as wholes they can hardly convince, and the sentence says so.
    assert factor(result, POLARITY).p_pairs > 0.1
    assert any("in doubt, since with whole word pairs shuffled p is" in line for line in result.findings)


def test_a_leaning_to_one_label_is_no_following_of_polarity() -> None:
    # All errors are neutral, whatever the polarity: 14 of 18 follow it, and so they would by chance.
    rows: list[Row] = [("hot", "other", C, N)] * 14 + [("wet", "other", C, N)] * 4 + [("wet", "other", C, C)] * 20
    before: list[Row] = [("other", word, C, C) for word, *_ in rows]
    result = only(
        behaviour([run(before, rows)], train=train(hot_other="n", wet_other="e", other_hot="c", other_wet="c"))
    )
    assert result.follows.value == pytest.approx(14 / 18)
    assert result.follows_by_chance == pytest.approx(14 / 18)


def test_right_answers_alone_go_with_polarity_but_not_within_gold() -> None:
    rows: list[Row] = []
    for word, label, other in (("hot", E, N), ("cold", N, E)):
        rows += [(word, "other", label, label)] * 40 + [(word, "other", other, other)] * 10
    before: list[Row] = [("other", word, gold, gold) for word, _, gold, _ in rows]
    result = only(
        behaviour([run(before, rows)], train=train(hot_other="e", cold_other="n", other_hot="e", other_cold="e"))
    )
    assert factor(result, POLARITY).p_adjusted < 1e-4
    # A model without errors: each gold has one answer, so nothing is left to test.
    assert math.isnan(factor(result, GIVEN_GOLD).association.p)


def test_ties_and_several_words_have_categories_of_their_own() -> None:
    rows: list[Row] = [("hot", "cold", C, C), ("ice cream", "tea", C, N), ("wet", "dry", C, C), ("Up", "Down", C, "")]
    before: list[Row] = [("cold", "hot", C, C), ("tea", "ice cream", C, C), ("dry", "wet", C, C), ("down", "up", C, C)]
    result = only(behaviour([run(before, rows)], train=train(hot_cold="ec", wet_dry="enc", up_down="cc", cold_hot="c")))
    table = factor(result, POLARITY).table
    assert table
    assert table.rows == ("entailment = contradiction", "entailment = neutral = contradiction")
    assert table.n == 2
    # Ties are not gold; what has no polarity is in no subset.
    assert subset(result.transformed, AGAINST_POLARITY).n == 2
    assert subset(result.control, AGAINST_POLARITY).n == 2
    assert result.by_polarity["contradiction"].value == 0.0
    assert result.notes == (
        "without polarity, since they turn on several words or none: 1",
        "not answered: 1",
        "ordered word pairs that the 4 rows turn on: 3",
    )


def test_gold_of_several_labels_matches_a_polarity_among_them() -> None:
    rows: list[Row] = [("a", "b", "non-entailment", N), ("a", "b", "non-contradiction", N)]
    before: list[Row] = [("b", "a", C, C), ("b", "a", E, E)]
    result = only(behaviour([run(before, rows)], train=train(a_b="c", b_a="c")))
    assert subset(result.transformed, AGAINST_POLARITY).n == 1
    assert subset(result.transformed, CHANGED_GOLD).n == 2


def test_a_two_way_model_is_scored_two_way() -> None:
    rows: list[Row] = [("a", "b", C, N), ("a", "b", N, N), ("a", "b", E, E)]
    before: list[Row] = [("b", "a", N, N), ("b", "a", E, N), ("b", "a", E, E)]
    result = only(behaviour([run(before, rows, resolution="two-way")], train=train(a_b="n", b_a="e")))
    assert result.transformed.whole.value == 1.0
    # Neutral to contradiction is no change of gold to such a model, and neutral polarity is non-entailment.
    assert (subset(result.transformed, CHANGED_GOLD).n, subset(result.transformed, AGAINST_POLARITY).n) == (1, 1)
    assert result.follows.note == "a two-way model has one way to be wrong"


def test_a_null_is_rejected_no_oftener_than_it_may_be() -> None:
    rng = np.random.default_rng(5)
    words = [f"w{number}" for number in range(40)]
    training = train(**{f"{word}_other": "enc"[number % 3] for number, word in enumerate(words[:30])}, other_w0="c")
    rejected = dict.fromkeys((INSENSITIVITY, UNSEEN, POLARITY, GIVEN_GOLD), 0)
    draws = 40
    for _ in range(draws):
        rows, before = [], []
        for number in range(240):
            answers = rng.choice(LABELS, 2)
            gold = str(rng.choice(LABELS))
            rows.append((words[number % 40], "other", gold, str(answers[0])))
            before.append(("other", words[number % 40], gold if number % 2 else C, str(answers[1])))
        result = only(behaviour([run(before, rows)], train=training, alpha=0.05))
        for name in rejected:
            rejected[name] += factor(result, name).association.p < 0.05
    # 40 draws: the standard error of 0.05 is 0.034. More are drawn of the tests alone (test_contingency.py).
    assert all(count / draws <= 0.15 for count in rejected.values()), rejected


def test_fisher_and_pearson_are_used_when_asked_for() -> None:
    swap_run, training = paper_tables_3_and_4()
    for test, name in (("pearson", "Pearson's chi-square"), ("fisher", "Fisher's exact")):
        result = behaviour([swap_run], train=training, test=test, alpha=0.01)
        assert factor(only(result), UNSEEN).association.test.startswith(name)
        assert to_json(result)["test"] == test


def test_everything_is_json() -> None:
    swap_run, training = paper_tables_3_and_4()
    written = json.loads(json.dumps(to_json(behaviour([swap_run], train=training)), allow_nan=False))
    (first,) = written["results"]
    assert (written["alpha"], written["correction"], written["train"]["name"]) == (0.0001, "bonferroni", "train")
    assert first["transformed"]["subsets"]["unseen pairs"]["n"] == 40
    assert [one["factor"] for one in first["factors"]] == [INSENSITIVITY, UNSEEN, POLARITY, CONTROL_POLARITY]
    assert first["factors"][1]["table"]["counts"] == [[567, 20], [13, 20]]
    assert first["findings"]


@pytest.mark.parametrize(("alpha", "test"), [(0.0, "g"), (1.0, "g"), (math.nan, "g")])
def test_an_alpha_that_is_no_level_is_refused(alpha: float, test: str) -> None:
    swap_run, training = paper_tables_3_and_4()
    with pytest.raises(AcidtestError, match="--alpha is a number between 0 and 1"):
        behaviour([swap_run], train=training, alpha=alpha, test=test)


def test_an_unknown_test_is_refused_with_a_hint() -> None:
    swap_run, training = paper_tables_3_and_4()
    with pytest.raises(UnknownNameError, match="no test of contingency tables called 'fischer'; did you mean 'fisher'"):
        behaviour([swap_run], train=training, test="fischer")


def test_runs_without_swaps_or_controls_are_refused() -> None:
    swap_run, training = paper_tables_3_and_4()
    alone = Run(Header(swap_run.header.model, {SUITE: swap_run.header.suites[SUITE]}, {}), swap_run.predictions)
    for runs in ([alone], []):
        with pytest.raises(AcidtestError, match="no run holds a swap suite with its control"):
            behaviour(runs, train=training)


def test_a_control_that_does_not_tell_its_words_has_no_polarity() -> None:
    swap_run = run([("a", "b", C, C)] * 3, [("b", "a", C, N)] * 3)
    control = SUITE + CONTROL
    cards = {SUITE: swap_run.header.suites[SUITE], control: Card(control)}
    bare = Run(Header(swap_run.header.model, cards, {}), swap_run.predictions)
    result = only(behaviour([bare], train=train(b_a="n")))
    assert (subset(result.control, AGAINST_POLARITY).known, subset(result.control, AGAINST_POLARITY).note) == (
        False,
        "no pair whose polarity is not gold",
    )
    assert any("answers cannot be set against polarity: no word pair has one" in one for one in result.findings)
    assert subset(result.transformed, AGAINST_POLARITY).n == 3


def test_two_runs_of_one_model_on_one_suite_are_refused() -> None:
    swap_run, training = paper_tables_3_and_4()
    with pytest.raises(AcidtestError, match="two runs of m hold 'swaps/antonyms-in-situ'; pass one of them"):
        behaviour([swap_run, swap_run], train=training)


PROXIES = "swaps/antonyms-proxy"


def proxies_run() -> Run:
    """Two contradictions: one with a proxy on either side, one with a proxy in the hypothesis only."""
    columns: dict[str, Kind] = {**COLUMNS, "swap": "factor"}
    control = frame(PROXIES + CONTROL, [("old", "young", C, C), ("old", "young", C, C), ("hot", "cold", C, N)])
    control = control.with_columns(
        id=pl.Series(["a", "a", "b"]), group=pl.Series(["a", "a", "b"]), swap=pl.lit(None, pl.String)
    )
    after: list[Row] = [("youthful", "young", N, C), ("old", "aged", N, N), ("hot", "warm", N, C)]
    swaps = ["proxy in the premise", "proxy in the hypothesis", "proxy in the hypothesis"]
    changed = frame(PROXIES, after).with_columns(
        base_id=pl.Series(["a", "a", "b"]), group=pl.Series(["a", "a", "b"]), swap=pl.Series(swaps)
    )
    cards = {name: Card(name, columns=columns) for name in (PROXIES, PROXIES + CONTROL)}
    return Run(Header(ModelFacts("m", "m"), cards, {}), pl.concat([changed, control]))


def test_proxies_in_premise_and_hypothesis_are_samples_of_their_own_with_each_control_once() -> None:
    training = train(old_young="cc", hot_cold="c", old_aged="n")
    premise, hypothesis = behaviour([proxies_run()], train=training).behaviours
    assert (premise.suite, hypothesis.suite) == (f"{PROXIES} (premise)", f"{PROXIES} (hypothesis)")
    assert (premise.transformed.whole.n, premise.control.whole.n) == (1, 1)
    assert (hypothesis.transformed.whole.n, hypothesis.control.whole.n) == (2, 2)
    assert (hypothesis.control.whole.value, hypothesis.transformed.whole.value) == (0.5, 0.5)
    assert hypothesis.swap.difference.n == 2
    table = factor(hypothesis, INSENSITIVITY).table
    assert table
    # "Hot / warm" is answered contradiction after neutral, "old / aged" neutral after contradiction: both changed.
    assert table.counts.tolist() == [[1, 1], [0, 0]]


def test_word_pairs_are_compared_by_their_base_forms() -> None:
    # Training has "old / younger"; the swap makes "older / young" of it, in the forms of the places.
    before: list[Row] = [("young", "older", C, C), ("man", "women", C, C), ("old", "younger", C, C)]
    after: list[Row] = [("older", "young", C, C), ("people", "child", N, N), ("younger", "cold", C, C)]
    training = train(old_younger="c", young_old="c", men_woman="c", person_children="n")
    result = only(behaviour([run(before, after)], train=training))
    assert subset(result.transformed, UNSEEN_PAIRS).n == 1
    control = factor(result, CONTROL_POLARITY).table
    assert control
    assert "none" not in control.rows
    literal = only(behaviour([run(before, after)], train=training, literal=True))
    assert subset(literal.transformed, UNSEEN_PAIRS).n == 3
    assert to_json(behaviour([run(before, after)], train=training))["words"] == "base forms"
    assert to_json(behaviour([run(before, after)], train=training, literal=True))["words"] == "as they stand"
