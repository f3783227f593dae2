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
from acidtest.core.run import Header, ModelFacts, Run
from acidtest.core.suite import CONTROL, Card, Kind, Suite
from acidtest.studies.behaviour import behaviours
from acidtest.studies.behaviour_results import (
    CONTROL_POLARITY,
    GIVEN_GOLD,
    INSENSITIVITY,
    POLARITY,
    UNSEEN,
    Behaviour,
    Behaviours,
    Factor,
)

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
    filled = [each.fill_null(math.nan).alias(f"p_{label}") for each, label in zip(chance, LABELS, strict=True)]
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


def only(found: Behaviours) -> Behaviour:
    assert len(found.found) == 1
    return found.found[0]


def factor(found: Behaviour, name: str) -> Factor:
    each = found.factor(name)
    assert each
    return each


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
    found = only(behaviours([paper_tables_3_and_4()[0]], paper_tables_3_and_4()[1]))
    unseen, polarity = factor(found, UNSEEN), factor(found, POLARITY)
    assert unseen.table
    # Table 3 and the statistic in section 6.1.
    assert unseen.table.counts.tolist() == [[567, 20], [13, 20]]
    assert round(unseen.found.statistic, 2) == 74.16
    assert polarity.table
    # Table 4 in our order of labels: entailment, neutral, contradiction.
    assert (polarity.table.rows, polarity.table.columns) == ((*LABELS, "none"), LABELS)
    assert polarity.table.counts.tolist() == [[0, 0, 3], [0, 5, 21], [3, 5, 543], [12, 8, 20]]
    assert (round(polarity.found.statistic, 2), polarity.found.df) == (101.26, 6)


def test_table_1_comes_out_of_the_same_rows() -> None:
    found = only(behaviours([paper_tables_3_and_4()[0]], paper_tables_3_and_4()[1]))
    sample = found.transformed
    assert (sample.whole.value, sample.whole.n) == (587 / 620, 620)
    assert sample.changed is not None
    assert (sample.changed.known, sample.changed.note) == (False, "no pair whose gold changed")
    assert sample.unseen is not None
    assert (sample.unseen.value, sample.unseen.n) == (0.5, 40)
    # Subset 3 holds the unseen pairs too: 44 of 69 is the paper's 0.637.
    assert (sample.against.value, sample.against.n) == (44 / 69, 69)
    assert (found.control.changed, found.control.unseen) == (None, None)
    assert found.control.whole.value == pytest.approx(587 / 620)


def test_table_2_comes_out_of_its_rows() -> None:
    # ESIM on I_TA2: gold changes from contradiction to neutral; cells are (answer before, answer after).
    cells = {(C, N): 155, (C, E): 31, (N, N): 8, (C, C): 100}
    before: list[Row] = [("old", "young", C, b) for (b, _), n in cells.items() for _ in range(n)]
    after: list[Row] = [("old", "aged", N, a) for (_, a), n in cells.items() for _ in range(n)]
    found = only(behaviours([run(before, after)], train(old_young="c", old_aged="e")))
    table = factor(found, INSENSITIVITY)
    assert table.table
    assert table.table.counts.tolist() == [[155, 31], [8, 100]]
    assert round(table.found.statistic, 2) == 175.34
    assert table.found.odds_ratio
    assert table.found.odds_ratio.value == pytest.approx(155 * 100 / (31 * 8))
    assert found.repeats.value == pytest.approx(108 / 294)
    # All 131 errors had another answer before than neutral: 100 repeat it.
    assert (found.repeated_errors.value, found.repeated_errors.n) == (100 / 131, 131)
    told = "Where gold changes, errors go with repeated answers (G(1) = 175.34 with Yates' correction, phi 0.74,"
    assert found.findings[1].startswith(told)
    assert "100 of 131 (76.3 %) errors repeat the answer given before, 8 of 163 (4.9 %) right" in found.findings[1]
    # Wilson: (0.7634 + 0.0147 ± 1.96 √(0.00138 + 0.00006)) / 1.0293.
    assert found.findings[-2].startswith(
        "Where gold changes, 76.3 % (68.4 % to 82.8 %) of the 131 errors that might repeat"
    )


def test_blind_guesses_after_right_controls_repeat_half_of_their_errors() -> None:
    # Repeating an answer that was right is wrong when gold changes, so the test of table 2 rejects for any good model.
    after: list[Row] = [("b", "a", N, label) for label in LABELS for _ in range(60)]
    found = only(behaviours([run([("a", "b", C, C)] * 180, after)], train(a_b="c", b_a="c")))
    assert factor(found, INSENSITIVITY).p_adjusted < 1e-4
    assert (found.repeats.value, found.repeated_errors.value) == (pytest.approx(1 / 3), 0.5)


def test_a_pair_without_gold_change_is_no_part_of_the_insensitivity_table() -> None:
    before: list[Row] = [("a", "b", C, C), ("a", "b", C, C), ("a", "b", N, N)]
    after: list[Row] = [("b", "a", C, C), ("b", "a", N, C), ("b", "a", E, N)]
    found = only(behaviours([run(before, after)], train(a_b="c", b_a="c")))
    table = factor(found, INSENSITIVITY).table
    assert table
    assert table.counts.tolist() == [[0, 0], [0, 2]]
    assert found.transformed.changed is not None
    assert (found.transformed.changed.value, found.transformed.changed.n) == (0.0, 2)


def test_mcnemar_compares_each_row_with_the_row_it_was_made_from() -> None:
    before: list[Row] = [("a", "b", C, C)] * 12 + [("a", "b", C, N)] * 2
    after: list[Row] = [("b", "a", C, N)] * 10 + [("b", "a", C, C)] * 4
    swap = only(behaviours([run(before, after)], train(a_b="c", b_a="n"))).swap
    # Ten lost, two won: two-sided binomial, 2 × P(X ≤ 2 | 12, 1/2) = 2 × 79 / 4096.
    assert (swap.test, swap.p) == ("McNemar, exact", pytest.approx(158 / 4096))
    assert swap.difference.value == pytest.approx(-8 / 14)
    assert math.isnan(swap.p_groups)
    groups = [str(number // 2) for number in range(14)]
    grouped = only(behaviours([run(before, after, groups=groups)], train(a_b="c", b_a="n"))).swap
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
    held, told = unseen_table_of_ce()
    others = [
        replace(held, header=replace(held.header, model=ModelFacts(f"m{number}", f"m{number}"))) for number in range(12)
    ]
    found = behaviours([held, *others], told)
    assert found.tests > 33
    for each in found.found:
        unseen = factor(each, UNSEEN)
        assert round(unseen.found.statistic, 2) == 15.91
        assert unseen.p_adjusted > 1e-4 > unseen.found.p
        assert any("Unseen word pairs are answered worse (G(1) = 15.91" in line for line in each.findings)
    alone = only(behaviours([held], told))
    assert alone.findings == found.found[0].findings


def test_bonferroni_counts_the_tests_of_all_models_and_suites() -> None:
    before: list[Row] = [("a", "b", C, C)] * 30
    after: list[Row] = [("b", "a", C, N)] * 10 + [("b", "a", C, C)] * 20
    told = train(a_b="c", b_a="n")
    one = behaviours([run(before, after)], told)
    two = behaviours([run(before, after), run(before, after, model="n"), run(before, after, suite="swaps/other")], told)
    # The tables are of one row: McNemar's is the only test there is.
    assert (one.tests, two.tests) == (1, 3)
    assert only(one).swap.p_adjusted == pytest.approx(only(one).swap.p)
    assert [each.swap.p_adjusted for each in two.found] == pytest.approx([3 * only(one).swap.p] * 3)


def test_a_model_that_is_always_right_shows_nothing() -> None:
    rows: list[Row] = [(word, "other", C, C) for word in ("hot", "cold", "new") for _ in range(20)]
    before: list[Row] = [("other", word, C, C) for word, *_ in rows]
    found = only(behaviours([run(before, rows)], train(hot_other="n", cold_other="c", other_hot="c", other_cold="c")))
    # The paper notes in section 6.1 that perfect accuracy on contradictions leaves predictions independent of polarity.
    assert math.isnan(factor(found, POLARITY).found.p)
    assert any("polarity: every one is contradiction (" in each for each in found.findings)
    assert math.isnan(factor(found, UNSEEN).found.p)
    assert found.follows.note == "no error against a polarity of one label"
    assert found.findings[0].startswith("The swap is not shown to change accuracy, from 100.0 % to 100.0 %")


def test_a_model_that_follows_polarity_is_found_out_beyond_gold() -> None:
    rows: list[Row] = []
    for word, label in (("hot", E), ("cold", N), ("wet", C)):
        for gold in LABELS:
            rows += [(word, "other", gold, label)] * 20
    before: list[Row] = [("other", word, gold, gold) for word, _, gold, _ in rows]
    told = train(hot_other="e", cold_other="n", wet_other="c", other_hot="e", other_cold="n", other_wet="c")
    found = only(behaviours([run(before, rows)], told))
    for name in (POLARITY, GIVEN_GOLD):
        assert factor(found, name).p_adjusted < 1e-4
    assert (found.follows.value, found.follows.n) == (1.0, 120)
    # Within each gold two polarities mislead, 20 errors each: at random half of them would follow.
    assert found.follows_by_chance == 0.5
    assert found.transformed.against.value == 0.0
    # The control is answered by gold, which polarity does not tell.
    assert factor(found, CONTROL_POLARITY).found.statistic == pytest.approx(0.0)
    # Three word pairs only: shuffled as wholes they can hardly convince, and the sentence says so.
    assert factor(found, POLARITY).p_pairs > 0.1
    assert any("in doubt, since with whole word pairs shuffled p is" in line for line in found.findings)


def test_a_leaning_to_one_label_is_no_following_of_polarity() -> None:
    # All errors are neutral, whatever the polarity: 14 of 18 follow it, and so they would by chance.
    rows: list[Row] = [("hot", "other", C, N)] * 14 + [("wet", "other", C, N)] * 4 + [("wet", "other", C, C)] * 20
    before: list[Row] = [("other", word, C, C) for word, *_ in rows]
    found = only(behaviours([run(before, rows)], train(hot_other="n", wet_other="e", other_hot="c", other_wet="c")))
    assert found.follows.value == pytest.approx(14 / 18)
    assert found.follows_by_chance == pytest.approx(14 / 18)


def test_right_answers_alone_go_with_polarity_but_not_within_gold() -> None:
    rows: list[Row] = []
    for word, label, other in (("hot", E, N), ("cold", N, E)):
        rows += [(word, "other", label, label)] * 40 + [(word, "other", other, other)] * 10
    before: list[Row] = [("other", word, gold, gold) for word, _, gold, _ in rows]
    found = only(behaviours([run(before, rows)], train(hot_other="e", cold_other="n", other_hot="e", other_cold="e")))
    assert factor(found, POLARITY).p_adjusted < 1e-4
    # A model without errors: each gold has one answer, so nothing is left to test.
    assert math.isnan(factor(found, GIVEN_GOLD).found.p)


def test_ties_and_several_words_have_categories_of_their_own() -> None:
    rows: list[Row] = [("hot", "cold", C, C), ("ice cream", "tea", C, N), ("wet", "dry", C, C), ("Up", "Down", C, "")]
    before: list[Row] = [("cold", "hot", C, C), ("tea", "ice cream", C, C), ("dry", "wet", C, C), ("down", "up", C, C)]
    found = only(behaviours([run(before, rows)], train(hot_cold="ec", wet_dry="enc", up_down="cc", cold_hot="c")))
    table = factor(found, POLARITY).table
    assert table
    assert table.rows == ("entailment = contradiction", "entailment = neutral = contradiction")
    assert table.n == 2
    # Ties are not gold; what has no polarity is in no subset.
    assert found.transformed.against.n == 2
    assert found.control.against.n == 2
    assert found.by_polarity["contradiction"].value == 0.0
    assert found.notes == (
        "without polarity, since they turn on several words or none: 1",
        "not answered: 1",
        "ordered word pairs that the 4 rows turn on: 3",
    )


def test_gold_of_several_labels_matches_a_polarity_among_them() -> None:
    rows: list[Row] = [("a", "b", "non-entailment", N), ("a", "b", "non-contradiction", N)]
    before: list[Row] = [("b", "a", C, C), ("b", "a", E, E)]
    found = only(behaviours([run(before, rows)], train(a_b="c", b_a="c")))
    assert found.transformed.against.n == 1
    assert found.transformed.changed is not None
    assert found.transformed.changed.n == 2


def test_a_two_way_model_is_scored_two_way() -> None:
    rows: list[Row] = [("a", "b", C, N), ("a", "b", N, N), ("a", "b", E, E)]
    before: list[Row] = [("b", "a", N, N), ("b", "a", E, N), ("b", "a", E, E)]
    found = only(behaviours([run(before, rows, resolution="two-way")], train(a_b="n", b_a="e")))
    assert found.transformed.whole.value == 1.0
    # Neutral to contradiction is no change of gold to such a model, and neutral polarity is non-entailment.
    assert found.transformed.changed is not None
    assert (found.transformed.changed.n, found.transformed.against.n) == (1, 1)
    assert found.follows.note == "a two-way model has one way to be wrong"


def test_a_null_is_rejected_no_oftener_than_it_may_be() -> None:
    rng = np.random.default_rng(5)
    words = [f"w{number}" for number in range(40)]
    told = train(**{f"{word}_other": "enc"[number % 3] for number, word in enumerate(words[:30])}, other_w0="c")
    rejected = dict.fromkeys((INSENSITIVITY, UNSEEN, POLARITY, GIVEN_GOLD), 0)
    draws = 40
    for _ in range(draws):
        rows, before = [], []
        for number in range(240):
            answers = rng.choice(LABELS, 2)
            gold = str(rng.choice(LABELS))
            rows.append((words[number % 40], "other", gold, str(answers[0])))
            before.append(("other", words[number % 40], gold if number % 2 else C, str(answers[1])))
        found = only(behaviours([run(before, rows)], told, alpha=0.05))
        for name in rejected:
            rejected[name] += factor(found, name).found.p < 0.05
    # 40 draws: the standard error of 0.05 is 0.034. More are drawn of the tests alone (test_contingency.py).
    assert all(count / draws <= 0.15 for count in rejected.values()), rejected


def test_fisher_and_pearson_are_used_when_asked_for() -> None:
    held, told = paper_tables_3_and_4()
    for test, name in (("pearson", "Pearson's chi-square"), ("fisher", "Fisher's exact")):
        found = behaviours([held], told, test=test, alpha=0.01)
        assert factor(only(found), UNSEEN).found.test.startswith(name)
        assert found.to_json()["test"] == test


def test_everything_is_json() -> None:
    held, told = paper_tables_3_and_4()
    told_json = json.loads(json.dumps(behaviours([held], told).to_json(), allow_nan=False))
    result = told_json["results"][0]
    assert (told_json["alpha"], told_json["correction"], told_json["train"]["name"]) == (0.0001, "bonferroni", "train")
    assert result["transformed"]["subsets"]["unseen pairs"]["n"] == 40
    assert [each["factor"] for each in result["factors"]] == [INSENSITIVITY, UNSEEN, POLARITY, CONTROL_POLARITY]
    assert result["factors"][1]["table"]["counts"] == [[567, 20], [13, 20]]
    assert result["findings"]


@pytest.mark.parametrize(("alpha", "test"), [(0.0, "g"), (1.0, "g"), (math.nan, "g")])
def test_an_alpha_that_is_no_level_is_refused(alpha: float, test: str) -> None:
    held, told = paper_tables_3_and_4()
    with pytest.raises(AcidtestError, match="--alpha is a number between 0 and 1"):
        behaviours([held], told, alpha=alpha, test=test)


def test_an_unknown_test_is_refused_with_a_hint() -> None:
    held, told = paper_tables_3_and_4()
    with pytest.raises(UnknownNameError, match="no test of contingency tables called 'fischer'; did you mean 'fisher'"):
        behaviours([held], told, test="fischer")


def test_runs_without_swaps_or_controls_are_refused() -> None:
    held, told = paper_tables_3_and_4()
    alone = Run(Header(held.header.model, {SUITE: held.header.suites[SUITE]}, {}), held.predictions)
    for runs in ([alone], []):
        with pytest.raises(AcidtestError, match="no run holds a swap suite with its control"):
            behaviours(runs, told)


def test_a_control_that_does_not_tell_its_words_has_no_polarity() -> None:
    held = run([("a", "b", C, C)] * 3, [("b", "a", C, N)] * 3)
    control = SUITE + CONTROL
    cards = {SUITE: held.header.suites[SUITE], control: Card(control)}
    bare = Run(Header(held.header.model, cards, {}), held.predictions)
    found = only(behaviours([bare], train(b_a="n")))
    assert (found.control.against.known, found.control.against.note) == (False, "no pair whose polarity is not gold")
    assert any("answers cannot be set against polarity: no word pair has one" in each for each in found.findings)
    assert found.transformed.against.n == 3


def test_two_runs_of_one_model_on_one_suite_are_refused() -> None:
    held, told = paper_tables_3_and_4()
    with pytest.raises(AcidtestError, match="two runs of m hold 'swaps/antonyms-in-situ'; pass one of them"):
        behaviours([held, held], told)


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
    told = train(old_young="cc", hot_cold="c", old_aged="n")
    premise, hypothesis = behaviours([proxies_run()], told).found
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
    told = train(old_younger="c", young_old="c", men_woman="c", person_children="n")
    found = only(behaviours([run(before, after)], told))
    assert found.transformed.unseen is not None
    assert found.transformed.unseen.n == 1
    control = factor(found, CONTROL_POLARITY).table
    assert control
    assert "none" not in control.rows
    literal = only(behaviours([run(before, after)], told, literal=True))
    assert literal.transformed.unseen is not None
    assert literal.transformed.unseen.n == 3
    assert behaviours([run(before, after)], told).to_json()["words"] == "base forms"
    assert behaviours([run(before, after)], told, literal=True).to_json()["words"] == "as they stand"
