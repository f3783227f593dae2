"""Models against each other: families of tests, tests that match their intervals, detectable differences."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from acidtest.cli.app import main
from acidtest.core.estimate import Estimate
from acidtest.stats.intervals import difference
from acidtest.stats.significance import holm, mcnemar
from acidtest.studies.comparison import describe_comparison, describe_tests, short_names
from acidtest.studies.comparison.contrasts import WHOLE_SUITES, Contrast
from acidtest.studies.comparison.contrasts import compare_runs as contrasts
from made_runs import gains, made_run


def on_whole_suites(found: list[Contrast]) -> list[Contrast]:
    return [contrast for contrast in found if not contrast.factor]


def whole(found: list[Contrast]) -> dict[str, Contrast]:
    """The contrasts of two runs on whole suites, by suite."""
    return {contrast.suite: contrast for contrast in on_whole_suites(found)}


def test_whole_suites_are_one_family_and_slices_another() -> None:
    losses = {"a": 6, "b": 9, "c": 2}
    first = made_run("first", {name: [True] * 60 for name in losses})
    second = made_run("second", {name: gains(count) for name, count in losses.items()})
    found = contrasts([first, second])
    # All discordant rows one way: exact McNemar is 2 / 2^6, 2 / 2^9 and 2 / 2^2.
    ps = {name: 2.0 ** (1 - count) for name, count in losses.items()}
    suites = whole(found)
    assert {name: suites[name].p for name in suites} == pytest.approx(ps)
    assert [suites[name].p_adjusted for name in losses] == pytest.approx(holm(list(ps.values())).tolist())
    assert suites["a"].p_adjusted == pytest.approx(2 * ps["a"])
    assert {(suites[name].family, suites[name].family_tests) for name in suites} == {(WHOLE_SUITES, 3)}
    labels = [contrast for contrast in found if contrast.factor == "label"]
    assert {(one.family, one.family_tests) for one in labels} == {("by label", 3)}
    assert [one.p_adjusted for one in labels] == [suites[one.suite].p_adjusted for one in labels]


def test_rows_in_strata_have_a_test_that_agrees_with_their_interval() -> None:
    # One model is right on 600 of 1,500 pairs of a template, the other on 535 of another, and on nothing else.
    parts = np.repeat(["one", "two"], 1_500)
    rows = np.arange(3_000)
    verdicts = [(rows >= 1_500) & (rows < 2_035), rows < 600]
    runs = [
        made_run(name, {"toy": right.tolist()}, strata={"toy": parts.tolist()})
        for name, right in zip(("first", "second"), verdicts, strict=True)
    ]
    found = whole(contrasts(runs))["toy"]
    assert found.difference.low > 0
    assert found.test == "paired permutation within strata"
    assert mcnemar(verdicts[1], verdicts[0]).p > 0.05 > found.p


def test_the_detectable_difference_agrees_with_the_interval_beside_it() -> None:
    # The issue: -1.7 (-3.2 to -0.2) beside 6.8, where 2.8 standard errors are 2.1 points.
    rng = np.random.default_rng(1)
    outcome = rng.choice(3, size=1_900, p=[0.9, 0.0415, 0.0585])
    base = rng.random(1_900) < 0.5
    first, second = np.where(outcome == 0, base, outcome == 2), np.where(outcome == 0, base, outcome == 1)
    runs = [made_run(name, {"toy": right.tolist()}) for name, right in (("a", first), ("b", second))]
    found = whole(contrasts(runs))["toy"]
    assert found.difference == difference(second, first)
    reach = (found.difference.high - found.difference.low) / 2
    assert found.detectable == pytest.approx(reach * (1.960 + 0.842) / 1.960, rel=0.03)
    assert 0.013 < reach < 0.016
    assert 0.019 < found.detectable < 0.023


@pytest.mark.parametrize("right", [True, False])
def test_models_that_are_always_right_or_wrong_have_a_sensible_detectable_difference(right: bool) -> None:
    runs = [made_run(name, {"toy": [right] * 1_000}) for name in ("a", "b")]
    found = whole(contrasts(runs))["toy"]
    # 7.85 discordant rows, all one way, are found four times in five: (1.960 + 0.842)^2.
    assert found.detectable == pytest.approx(0.00785, abs=1e-4)
    assert found.difference.high < found.detectable


def test_many_runs_have_p_values_that_survive_correction() -> None:
    # 15 runs make 105 pairs; 300 draws a test are 31,500.
    parts = {"toy": ["one", "two"] * 30}
    runs = [made_run(f"m{n}", {"toy": gains(60 if n else 0)}, strata=parts) for n in range(15)]
    found = [one for one in on_whole_suites(contrasts(runs)) if one.first == "m0"]
    assert {one.p for one in found} == {1 / 31_501}
    assert max(one.p_adjusted for one in found) < 0.05


def test_the_command_says_which_tests_are_a_family(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for model in ("overlap", "subsequence"):
        arguments = ["run", "-m", f"baseline:{model}", "-s", "hans,hans/novel", "--limit", "60"]
        assert main([*arguments, "-o", str(tmp_path / model), "-q"]) == 0
    capsys.readouterr()
    folders = [str(tmp_path / model) for model in ("overlap", "subsequence")]
    assert main(["compare", *folders, "--by", "label"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "over all suites and pairs of models: by label (4 tests)." in out
    assert main(["compare", *folders]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "over all suites and pairs of models: whole suites (2 tests)." in out
    assert main(["compare", *folders, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["contrasts"]
    assert {(one["family"], one["family_tests"]) for one in found if not one["factor"]} == {("whole suites", 2)}


def test_controls_are_families_of_their_own() -> None:
    losses = {"a": 6, "b": 9, "a#control": 7, "b#control": 8}
    first = made_run("first", {name: [True] * 60 for name in losses})
    second = made_run("second", {name: gains(count) for name, count in losses.items()})
    found = contrasts([first, second])
    families = {one.suite: (one.family, one.family_tests) for one in on_whole_suites(found)}
    assert families["a"] == families["b"] == (WHOLE_SUITES, 2)
    assert families["a#control"] == families["b#control"] == ("untouched pairs", 2)
    assert {one.family for one in found if one.factor == "label"} == {"by label", "by label, untouched pairs"}
    # Two tests in each family, not four in one: the smaller p is doubled.
    assert whole(found)["b"].p_adjusted == pytest.approx(2 * 2.0**-8)


def test_the_sentence_lists_what_is_better_worse_and_undecided_by_size() -> None:
    first = made_run("old", {"a": [True] * 60, "b": gains(30), "c": gains(20), "d": [True] * 60, "e": [True] * 60})
    second = made_run("new", {"a": gains(12), "b": [True] * 60, "c": [True] * 60, "d": gains(1), "e": [True] * 60})
    # 12, 30 and 20 discordant rows of 60, all one way, and 1, which shows nothing.
    assert describe_comparison(contrasts([first, second])) == (
        "new is better on b (+50.0) and c (+33.3), worse on a (−20.0), undecided on the rest."
    )


def test_one_undecided_suite_is_named() -> None:
    first = made_run("old", {"stress/spelling": [True] * 60, "hans": [True] * 60})
    second = made_run("new", {"stress/spelling": gains(12), "hans": gains(1)})
    assert describe_comparison(contrasts([first, second])) == "new is worse on spelling (−20.0), undecided on hans."


def test_models_that_are_right_on_the_same_rows_show_no_difference() -> None:
    run = made_run("old", {"a": gains(12), "b": gains(3), "a#control": gains(1)})
    assert describe_comparison(contrasts([run, run])) == (
        "No difference is shown between old and old (2) on any of 2 suites."
    )


def test_slices_that_cancel_out_in_their_suite_are_named() -> None:
    parts = {"a": ["one"] * 60 + ["two"] * 60}
    first = made_run("old", {"a": gains(30) + [True] * 60}, strata=parts)
    second = made_run("new", {"a": [True] * 60 + gains(30)}, strata=parts)
    assert describe_comparison(contrasts([first, second])).split("\n") == [
        "No difference is shown between old and new on a.",
        "Its slices differ, though: a:template=one (+50.0) and a:template=two (−50.0); --by template shows more.",
    ]


def test_a_control_is_no_suite_of_the_sentence() -> None:
    first = made_run("old", {"a": [True] * 60, "a#control": [True] * 60})
    second = made_run("new", {"a": gains(12), "a#control": gains(30)})
    assert describe_comparison(contrasts([first, second])) == "new is worse on a (−20.0)."


def test_the_sentence_about_many_suites_is_no_longer_than_two_lines() -> None:
    names = [f"stress/rather-long-name-{number}" for number in range(14)]
    first = made_run("old", {name: [True] * 60 for name in names})
    second = made_run("new", {name: gains(20 + number) for number, name in enumerate(names)})
    sentence = describe_comparison(contrasts([first, second]))
    assert sentence.startswith("new is worse on rather-long-name-13 (−55.0), rather-long-name-12 (−53.3), ")
    assert sentence.endswith(" more.")
    assert len(sentence) <= 190
    assert sentence.count("(") == 3


def test_three_models_have_a_sentence_for_each_pair_and_five_one_for_all() -> None:
    runs = [made_run(f"m{lost}", {"a": gains(lost)}) for lost in (0, 1, 20, 40, 59)]
    assert describe_comparison(contrasts(runs[1:4])).splitlines() == [
        "Against m1, m20 is worse on a (−31.7).",
        "Against m1, m40 is worse on a (−65.0).",
        "Against m20, m40 is worse on a (−33.3).",
    ]
    # All pairs but m0 and m1 differ: m0 and m1 are better than three others each, m59 is worse than four.
    assert describe_comparison(contrasts(runs)) == (
        "9 of 10 comparisons of 5 models on whole suites show a difference: most often m0 is better (3) and m59 is "
        "worse (4)."
    )


def test_a_family_is_left_out_of_a_name_only_where_that_is_clear() -> None:
    suites = ["stress/negation", "swaps/negation", "hans", "hans/novel", "stress/spelling:edit=keyboard"]
    assert list(short_names(suites).values()) == [
        "stress/negation",
        "swaps/negation",
        "hans",
        "hans/novel",
        "spelling:edit=keyboard",
    ]


def test_a_difference_whose_interval_includes_zero_is_undecided() -> None:
    # Every stratum is certain, so that the test within strata takes one row of 601 for proof; the interval does not.
    parts = np.repeat(["one", "two"], [301, 300])
    right = parts == "one"
    runs = [
        made_run(name, {"toy": verdicts.tolist()}, strata={"toy": parts.tolist()})
        for name, verdicts in (("first", right), ("second", ~right))
    ]
    (found,) = on_whole_suites(contrasts(runs))
    assert found.p_adjusted < 0.05
    assert found.difference.low < 0 < found.difference.high
    assert found.verdict == "undecided"
    assert "the interval includes zero" in " ".join(describe_tests(["toy"], [found]))


def test_how_suites_were_tested_is_said_once_with_what_it_holds_for() -> None:
    change = Estimate(0.1, 0.05, 0.15)
    found = [
        Contrast(name, "old", "new", "", "", (0.1, 0.2), replace(change, note=note), paired, test, 0.01, 0.01, 0.1)
        for name, paired, test, note in (
            ("a", True, "McNemar, exact", ""),
            ("b", True, "paired permutation", "9 rows left out"),
            ("c", True, "paired permutation", "9 rows left out"),
            ("d", False, "unpaired permutation", ""),
        )
    ]
    assert describe_tests("abcd", found) == (
        "Tested on different rows: unpaired permutation (d); on the same rows: McNemar, exact (a), paired permutation "
        "(the rest).",
        "b and c: 9 rows left out.",
    )
    assert describe_tests("a", found[:1]) == ("Tested on the same rows: McNemar, exact.",)
