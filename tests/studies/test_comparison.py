"""Models against each other: families of tests, tests that match their intervals, detectable differences."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from acidtest.cli.app import main
from acidtest.core.run import Header, ModelFacts, Run
from acidtest.core.suite import Card
from acidtest.stats.intervals import difference
from acidtest.stats.significance import holm, mcnemar
from acidtest.studies.comparison import WHOLE_SUITES, Contrast
from acidtest.studies.comparison import compare_runs as contrasts
from acidtest.studies.comparison.document import describe_pairs

Verdicts = dict[str, list[bool]]


def made_run(model: str, verdicts: Verdicts, *, strata: dict[str, list[str]] | None = None) -> Run:
    """A run over suites of which a model gets some rows right; the gold of all is entailment."""
    frames, cards = [], []
    for suite, correct in verdicts.items():
        ids = [f"{suite} {number}" for number in range(len(correct))]
        parts = (strata or {}).get(suite)
        frames.append(
            pl.DataFrame(
                {
                    "suite": [suite] * len(ids),
                    "id": ids,
                    "premise": ids,
                    "hypothesis": ["It was wet."] * len(ids),
                    "label": ["entailment"] * len(ids),
                    "group": ids,
                    "template": parts or ["one"] * len(ids),
                    "p_entailment": [float(right) for right in correct],
                    "p_neutral": [float(not right) for right in correct],
                    "p_contradiction": [0.0] * len(ids),
                    "answer": ["entailment" if right else "neutral" for right in correct],
                    "correct": correct,
                }
            )
        )
        cards.append(Card(suite, columns={"template": "factor"}, strata=("template",) if parts else (), rows=len(ids)))
    return Run(Header(ModelFacts(model, model), {card.name: card for card in cards}, {}), pl.concat(frames))


def gains(count: int, of: int = 60) -> list[bool]:
    return [number >= count for number in range(of)]


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
    assert "over all suites and pairs of models: whole suites (2 tests), by label (4 tests)." in out
    assert main(["compare", *folders, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["contrasts"]
    assert {(one["family"], one["family_tests"]) for one in found if not one["factor"]} == {("whole suites", 2)}


def test_the_sentence_lists_what_is_better_worse_and_undecided_by_size() -> None:
    first = made_run("old", {"a": [True] * 60, "b": gains(30), "c": gains(20), "d": [True] * 60})
    second = made_run("new", {"a": gains(12), "b": [True] * 60, "c": [True] * 60, "d": gains(1)})
    # 12, 30 and 20 discordant rows of 60, all one way, and 1, which shows nothing.
    assert list(describe_pairs(on_whole_suites(contrasts([first, second])))) == [
        "Against old, new is better on b (+50.0), c (+33.3), worse on a (−20.0), undecided on the rest."
    ]
    assert list(describe_pairs(on_whole_suites(contrasts([first, first])))) == [
        "Against old, old (2) is undecided on all suites."
    ]
