"""Profiles side by side: planted models differ by what was planted, and by nothing else."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import acidtest
from acidtest.core.labels import LABELS, TWO_WAY_LABELS
from acidtest.core.run import Header, ModelFacts, Run
from acidtest.core.serialise import to_json
from acidtest.core.study import STUDIES
from acidtest.core.suite import Suite
from acidtest.render.html import render_page
from acidtest.render.terminal import render, render_screen
from acidtest.studies.comparison import ComparisonResult, comparison, screen
from acidtest.studies.comparison.profiles import ProfileContrast, compare_profiles
from acidtest.studies.crossed_suites import crossed_suites
from acidtest.studies.cue_profile import measure_profile
from made_runs import gains, made_run

ENTAILMENT, NEUTRAL, CONTRADICTION = range(3)
GOLD = pl.col("label").replace_strict(LABELS, range(3), return_dtype=pl.Int8)
OVERLAP = pl.col("form").is_in(["overlap", "subsequence", "constituent"])
NEGATED = pl.col("negation") == "yes"
MCCOY = pl.when(OVERLAP).then(ENTAILMENT).otherwise(GOLD)


@pytest.fixture(scope="module")
def suite() -> Suite:
    return acidtest.generate("cues", n=2)


def planted(name: str, suite: Suite, answers: pl.Expr, resolution: str = "three-way") -> Run:
    """A run of a model that answers suite cues as it is told."""
    frame = suite.frame.collect().with_columns(place=answers.cast(pl.Int64))
    frame = frame.with_columns(
        suite=pl.lit("cues"),
        answer=pl.col("place").replace_strict(range(3), LABELS, return_dtype=pl.String),
        correct=pl.col("place") == GOLD,
        **{f"p_{label}": (pl.col("place") == place).cast(pl.Float32) for place, label in enumerate(LABELS)},
    )
    return Run(Header(ModelFacts(name, name, resolution=resolution), {"cues": suite.card}, {}), frame.drop("place"))


def compared(first: Run, second: Run) -> ProfileContrast:
    (profile,) = compare_profiles({"first": first, "second": second})
    return profile


def differing(profile: ProfileContrast) -> list[str]:
    return [cue for cue, contrast in profile.cues.items() if contrast.differs]


def test_the_difference_of_two_planted_models_is_what_was_planted(suite: Suite) -> None:
    profile = compared(planted("right", suite, GOLD), planted("mccoy", suite, MCCOY))
    overlap = profile.cues["overlap"]
    assert profile.paired
    assert (overlap.toward, overlap.difference.value) == ("entailment", 1)
    assert differing(profile) == ["overlap"]
    # Gold moves all answers of one model, and 40 % of the other's: all but those where words overlap.
    assert profile.gold_effect is not None
    assert profile.gold_effect.difference.value == pytest.approx(0.4 - 1)
    assert profile.gold_effect.differs


def test_both_sides_have_the_effects_of_their_profiles(suite: Suite) -> None:
    first, second = planted("right", suite, GOLD), planted("mccoy", suite, MCCOY)
    profile = compared(first, second)
    assert to_json({cue: one.second for cue, one in profile.cues.items()}) == to_json(measure_profile(second).cues)
    assert profile.gold_effect is not None
    assert to_json(profile.gold_effect.first) == to_json(measure_profile(first).gold_effect)


def test_identical_models_differ_by_exactly_nothing(suite: Suite) -> None:
    guesses = pl.lit(pl.Series(np.random.default_rng(0).integers(0, 3, suite.card.rows)))
    run = planted("guessing", suite, guesses)
    profile = compared(run, run)
    assert profile.gold_effect is not None
    assert {one.difference.value for one in (profile.gold_effect, *profile.cues.values())} == {0.0}
    assert differing(profile) == []
    assert not profile.gold_effect.differs


def test_intervals_of_known_differences_cover_them_and_equal_models_seldom_differ(suite: Suite) -> None:
    """One model follows overlap in 85 % of rows and one in 15 %, against pairs of models that both do so in 50 %."""
    rng, covered, falsely = np.random.default_rng(7), 0, 0
    draws = 12

    def follows(share: float) -> Run:
        drawn = pl.lit(pl.Series(rng.random(suite.card.rows) < share))
        return planted("drawn", suite, pl.when(OVERLAP & drawn).then(ENTAILMENT).otherwise(GOLD))

    for _ in range(draws):
        profile = compared(follows(0.85), follows(0.15))
        change = profile.cues["overlap"].difference
        covered += change.low <= -0.7 <= change.high
        assert differing(profile) == ["overlap"]
        falsely += bool(differing(compared(follows(0.5), follows(0.5))))
    assert covered >= 11
    assert falsely <= 1


def test_a_difference_has_one_label_where_the_models_are_pushed_to_two(suite: Suite) -> None:
    toward_contradiction = planted("c", suite, pl.when(NEGATED).then(CONTRADICTION).otherwise(GOLD))
    half = pl.int_range(pl.len()) % 2 == 0
    toward_neutral = planted("n", suite, pl.when(NEGATED & half).then(NEUTRAL).otherwise(GOLD))
    negation = compared(toward_contradiction, toward_neutral).cues["negation"]
    assert (negation.first.toward, negation.second.toward) == ("contradiction", "neutral")
    # The label of the larger effect, in which the second model is not moved at all.
    assert (negation.toward, negation.difference.value) == ("contradiction", -1)
    table = next(part for part in screen(result_of(toward_contradiction, toward_neutral)).parts if "profile" in part.id)
    assert "neutral" in str(next(row for row in table.rows if row.name == "negation words").cells[1])


def test_models_asked_other_rows_are_compared_as_independent(suite: Suite) -> None:
    other = acidtest.generate("cues", n=2, seed=1)
    first, second = planted("right", suite, GOLD), planted("mccoy", other, MCCOY)
    profile = compared(first, second)
    paired = compared(first, planted("mccoy", suite, MCCOY))
    assert not profile.paired
    assert profile.cues["overlap"].difference.value == 1
    assert profile.cues["overlap"].difference.groups == 2 * paired.cues["overlap"].difference.groups
    assert differing(profile) == ["overlap"]


def test_a_sample_is_compared_with_the_whole_on_the_rows_of_the_sample(suite: Suite) -> None:
    whole, part = planted("right", suite, GOLD), planted("mccoy", suite, MCCOY)
    part = replace(part, frame=part.frame.lazy().collect().filter(pl.int_range(pl.len()) % 7 > 0))
    card = replace(suite.card, rows=len(part.frame), fingerprint="another")
    part = replace(part, header=replace(part.header, suites={"cues": card}))
    profile = compared(whole, part)
    assert profile.paired
    assert profile.cues["overlap"].difference.value == 1
    assert profile.cues["overlap"].first.effect.n == profile.cues["overlap"].second.effect.n


def test_a_two_way_model_has_both_profiles_measured_two_way(suite: Suite) -> None:
    two_way = planted("two", suite, pl.when(OVERLAP).then(0).otherwise(GOLD.clip(0, 1)), resolution="two-way")
    overlap = compared(planted("right", suite, GOLD), two_way).cues["overlap"]
    assert overlap.first.toward in (*TWO_WAY_LABELS, None)
    assert (overlap.toward, overlap.difference.value) == ("entailment", 1)


def test_a_run_without_the_suite_is_named_in_a_note(suite: Suite) -> None:
    profile = compared(planted("right", suite, GOLD), made_run("other", {"a": [True] * 60}))
    assert profile.note == "no profile of second: suite cues would show what moves the answers (-s cues)"
    assert (profile.gold_effect, profile.cues) == (None, {})


def result_of(*runs: Run) -> ComparisonResult:
    result: ComparisonResult = comparison(runs)
    return result


@pytest.fixture(scope="module")
def result(suite: Suite) -> ComparisonResult:
    """Two models on suite cues and on twenty suites with controls."""
    losses = {f"stress/suite-{number}{end}": number for number in range(20) for end in ("", "#control")}
    runs = []
    for name, answers, lost in (("right", GOLD, 0), ("mccoy", MCCOY, 2)):
        cues, others = (
            planted(name, suite, answers),
            made_run(name, {key: gains(lost * n) for key, n in losses.items()}),
        )
        header = replace(cues.header, suites=cues.header.suites | others.header.suites)
        frames = [run.frame.lazy().collect() for run in (cues, others)]
        runs.append(Run(header, pl.concat(frames, how="diagonal_relaxed")))
    return result_of(*runs)


def plain(lines: object) -> list[str]:
    return [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in lines]  # type: ignore[attr-defined]


def test_one_screen_holds_suites_profiles_and_last_the_sentence(result: ComparisonResult) -> None:
    lines = plain(render_screen(screen(result), 100))
    # The command adds a line on where the rest is, and one for each file.
    assert len(lines) <= 36
    assert max(map(len, lines)) <= 100
    text = " ".join(lines)
    assert text.endswith(" ".join(result.headline.split()))
    assert result.headline.startswith("mccoy is worse on suite-19 (−63.3), ")
    sizes = [float(size.replace("−", "-")) for size in re.findall(r"stress/suite-\S+ +100.0 +\S+ +(\S+) ", text)]
    assert sizes == sorted(sizes)
    assert len(sizes) == 11
    # Suite cues is among the twelve; the others are counted.
    assert "and 9 more suites: --full" in text
    assert "overlapping words" in text
    assert "negation words" not in text
    assert "The other 8 cues are used by none and not shown to differ." in text


def test_the_page_opens_with_the_sentence_and_profiles_and_folds_the_slices(result: ComparisonResult) -> None:
    page = render_page(STUDIES["comparison"].document(result))
    places = [page.rindex(text) for text in (result.headline, 'id="profiles"', 'id="differences"', "By label")]
    assert places == sorted(places)
    assert "<summary" in page[places[-1] - 60 : places[-1]]
    assert "The numbers as a table" not in page, "the differences are in a table that is not folded"


def test_everything_says_every_factor_once_and_all_cues(result: ComparisonResult) -> None:
    lines = plain(render(STUDIES["comparison"].document(result), 100))
    assert lines.count("By label") == 1
    assert lines.count("By negation") == 1
    assert any(line.startswith("negation words") for line in lines)


def test_json_holds_the_sentence_and_the_difference_of_every_effect(result: ComparisonResult) -> None:
    written = to_json(result)
    assert written["headline"] == result.headline
    (profile,) = written["profiles"]
    assert list(profile["cues"]) == list(crossed_suites()["cues"].cues)
    assert profile["cues"]["overlap"]["difference"]["value"] == 1
    assert profile["cues"]["overlap"]["differs"] is True
    assert set(profile["gold_effect"]) == {"first", "second", "difference", "differs"}


def test_three_models_have_one_table_of_effects_with_letters(suite: Suite) -> None:
    runs = [planted(name, suite, answers) for name, answers in (("right", GOLD), ("same", GOLD), ("mccoy", MCCOY))]
    text = " ".join(" ".join(plain(render_screen(screen(result_of(*runs)), 100))).split())
    assert "overlapping words 0.0 0.0 +100.0* (entailment) a a b" in text
    assert "gold (what is right) +100.0 +100.0 +40.0 a a b" in text
