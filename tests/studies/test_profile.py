"""The cue profile: planted models get the cues they follow, and no others."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import acidtest
from acidtest.core.digests import digests
from acidtest.core.errors import AcidtestError
from acidtest.core.labels import GOLD_MASKS, LABELS, TWO_WAY_LABELS
from acidtest.core.run import Run
from acidtest.core.serialise import to_json
from acidtest.core.study import STUDIES
from acidtest.core.suite import Suite
from acidtest.render.terminal import render
from acidtest.stats.contrasts import standard_error
from acidtest.stats.resampling import numbered
from acidtest.studies.crossed_suites import crossed_suites
from acidtest.studies.cue_effects import CrossedDesign, value_codes
from acidtest.studies.cue_profile import Profile, claims, describe_direction, measure_design, measure_profile
from acidtest.studies.profile import profile

CUES = tuple(crossed_suites()["cues"].cues)
ENTAILMENT, NEUTRAL, CONTRADICTION = range(3)
Answers = np.ndarray


@pytest.fixture(scope="module")
def suite() -> Suite:
    return acidtest.generate("cues", n=3)


@pytest.fixture(scope="module")
def rows(suite: Suite) -> pl.DataFrame:
    gold = pl.col("label").replace_strict(LABELS, range(3), return_dtype=pl.Int8)
    return suite.frame.collect().with_columns(gold=gold)


class LookedUp:
    """A model that answers the rows of a suite as it is told."""

    def __init__(self, name: str, rows: pl.DataFrame, answers: Answers) -> None:
        self.name = name
        pairs = rows.select("premise", "hypothesis").iter_rows()
        self._answers = dict(zip(pairs, answers.tolist(), strict=True))

    def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> np.ndarray:
        answers = [self._answers.get(pair, NEUTRAL) for pair in zip(premises, hypotheses, strict=True)]
        return np.eye(3, dtype=np.float32)[answers]


@pytest.fixture(scope="module")
def measured(
    suite: Suite, rows: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str, pl.Expr], Profile]:
    folder = tmp_path_factory.mktemp("planted")

    def measure(name: str, answers: pl.Expr) -> Profile:
        model = LookedUp(name, rows, rows.with_columns(answer=answers.cast(pl.Int8))["answer"].to_numpy())
        finished = acidtest.run(model, suites=[suite], output=folder / name.replace(" ", "-"), page=False)
        return measure_profile(finished.run)

    return measure


OVERLAP = pl.col("form").is_in(["overlap", "subsequence", "constituent"])
NEGATED = pl.col("negation") == "yes"
LONG = pl.col("length") == "yes"
GOLD = pl.col("gold")
Measure = Callable[[str, pl.Expr], Profile]


def used(profile: Profile) -> dict[str, str | None]:
    return {cue: effect.toward for cue, effect in profile.cues.items() if effect.used}


def test_a_right_model_uses_no_cue_and_gold_moves_all_its_answers(measured: Measure) -> None:
    profile = measured("right", GOLD)
    assert used(profile) == {}
    assert profile.gold_effect.value == 1
    assert profile.premise_use.value == 1
    assert profile.headline == (
        "With all cues held fixed, the correct label moves its predictions by 100 points (98–100). No listed cue moves "
        "its predictions by more than 10 points."
    )


def test_entailment_if_overlap_else_right_uses_overlap_alone(measured: Measure) -> None:
    profile = measured("mccoy", pl.when(OVERLAP).then(ENTAILMENT).otherwise(GOLD))
    assert used(profile) == {"overlap": "entailment"}
    assert profile.cues["overlap"].effect.value == 1
    assert profile.gold_effect.value == pytest.approx(0.4)
    first, *_, last = claims(profile)
    assert first.startswith(
        "Where all words overlap and gold is not entailment, it predicts entailment in 100 %, against 0 % where they "
        "do not: +100 points ("
    )
    assert last.startswith("With all cues held fixed, the correct label moves its predictions by 40 points (")
    assert last.endswith("Cues not listed may explain the rest.")


@pytest.mark.parametrize(
    ("form", "cue"),
    [(["subsequence", "constituent"], "subsequence"), (["constituent"], "constituent")],
)
def test_a_narrower_form_is_not_taken_for_overlap(measured: Measure, form: list[str], cue: str) -> None:
    profile = measured(cue, pl.when(pl.col("form").is_in(form)).then(ENTAILMENT).otherwise(GOLD))
    assert used(profile) == {cue: "entailment"}


@pytest.mark.parametrize(
    ("cue", "column", "label"),
    [
        ("negation", "negation", CONTRADICTION),
        ("hypothesis", "cue_words", NEUTRAL),
        ("antonym", "antonym", CONTRADICTION),
        ("number", "number", CONTRADICTION),
        ("length", "length", NEUTRAL),
        ("misspelling", "misspelling", ENTAILMENT),
    ],
)
def test_every_switched_cue_is_told_from_the_others(measured: Measure, cue: str, column: str, label: int) -> None:
    profile = measured(f"follows {cue}", pl.when(pl.col(column) == "yes").then(label).otherwise(GOLD))
    assert used(profile) == {cue: LABELS[label]}
    assert profile.cues[cue].effect.value == pytest.approx(1)


def test_a_cue_that_counts_only_without_negation_is_told_so(measured: Measure) -> None:
    profile = measured("gated", pl.when(OVERLAP & ~NEGATED).then(ENTAILMENT).otherwise(GOLD))
    assert used(profile) == {"overlap": "entailment", "negation": "entailment"}
    assert profile.cues["negation"].is_absence
    assert [(one.cue, one.other, one.only) for one in profile.interactions] == [
        ("overlap", "negation", False),
        ("negation", "overlap", True),
    ]
    assert "That holds only without negation words." in claims(profile)
    # That negation switches overlap off is one fact.
    assert profile.headline.startswith("It relies on overlapping words (+50 points toward entailment). With all cues")


@pytest.mark.parametrize("label", range(3))
def test_a_constant_model_is_accused_of_nothing(measured: Measure, label: int) -> None:
    profile = measured(f"constant {label}", pl.lit(label))
    assert used(profile) == {}
    assert profile.gold_effect.value == 0
    assert profile.premise_use.value == 0
    assert profile.headline.startswith(f"It predicts {LABELS[label]} for nearly every pair (100 %)")


def test_a_guessing_model_is_near_chance(measured: Measure, rows: pl.DataFrame) -> None:
    guesses = pl.lit(pl.Series(np.random.default_rng(0).integers(0, 3, rows.height)))
    profile = measured("guessing", guesses)
    assert used(profile) == {}
    assert profile.gold_effect.low < 0 < profile.gold_effect.high
    assert profile.headline.startswith("On these pairs it is near chance")


def test_a_model_that_never_reads_the_premise_shows_no_effect_of_gold(measured: Measure) -> None:
    profile = measured("hypothesis only", pl.when(NEGATED).then(CONTRADICTION).when(LONG).then(NEUTRAL).otherwise(0))
    assert used(profile) == {"negation": "contradiction", "length": "neutral"}
    assert profile.gold_effect.value == 0
    assert profile.premise_use.value == 0
    assert profile.hypothesis_alone is not None
    assert profile.hypothesis_alone.value > 0.6


def test_reverse_overlap_is_seen(measured: Measure) -> None:
    low = pl.col("form") == "none"
    profile = measured("debiased", pl.when(low & (GOLD == ENTAILMENT)).then(NEUTRAL).otherwise(GOLD))
    assert profile.reverse_overlap is not None
    assert profile.reverse_overlap.value == 0
    assert used(profile) == {"overlap": "neutral"}
    assert describe_direction(profile, "overlap") == "the absence of overlapping words → neutral"


def test_an_answer_that_is_missing_is_a_fourth_outcome(suite: Suite, tmp_path: Path) -> None:
    class Silent:
        name, may_abstain = "silent", True

        def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> np.ndarray:
            return np.full((len(premises), 3), np.nan, dtype=np.float32)

    finished = acidtest.run(Silent(), suites=[suite], output=tmp_path / "run", page=False)
    profile = measure_profile(finished.run)
    assert profile.gold_effect.value == 0
    assert set(profile.answers.values()) == {0.0}
    assert profile.headline.startswith("It gives no prediction for nearly every pair (100 %)")


def test_two_labels_are_enough(suite: Suite, rows: pl.DataFrame, tmp_path: Path) -> None:
    class TwoWay(LookedUp):
        resolution = "two-way"

        def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> np.ndarray:
            three = super().predict(premises, hypotheses)
            return np.column_stack([three[:, 0], three[:, 1:].sum(axis=1), np.zeros(len(three))]).astype(np.float32)

    answers = np.where(rows.select(OVERLAP).to_series(), ENTAILMENT, rows["gold"])
    finished = acidtest.run(TwoWay("two", rows, answers), suites=[suite], output=tmp_path / "run", page=False)
    assert used(measure_profile(finished.run)) == {"overlap": "entailment"}


def test_the_profile_does_not_depend_on_the_other_suites_of_the_run(suite: Suite, tmp_path: Path) -> None:
    alone, beside = (
        acidtest.run("baseline:overlap", suites=suites, output=tmp_path / name, page=False).run
        for name, suites in (("alone", [suite]), ("beside", [suite, "stress/negation", "lexical/animals"]))
    )
    assert to_json(measure_profile(alone)) == to_json(measure_profile(beside))


def test_a_run_without_the_suite_says_what_to_run(tmp_path: Path) -> None:
    finished = acidtest.run("baseline:overlap", suites="lexical/animals", output=tmp_path / "run", page=False)
    with pytest.raises(AcidtestError, match="run the model with -s cues"):
        profile([finished.run])


class ReadsNoPremise:
    """A model that answers by the length of the hypothesis."""

    name = "reads no premise"

    def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> np.ndarray:
        return np.eye(3, dtype=np.float32)[[len(hypothesis) % 3 for hypothesis in hypotheses]]


def test_interventions_on_the_premise_are_in_the_profile(tmp_path: Path) -> None:
    suites = [acidtest.generate("cues", n=1), acidtest.generate("premises", n=60)]
    finished = acidtest.run(ReadsNoPremise(), suites=suites, output=tmp_path / "run", page=False)
    stays = measure_profile(finished.run).stability
    assert {name: stays[name].value for name in ("another", "none", "shuffled")} == dict.fromkeys(
        ("another", "none", "shuffled"), 1.0
    )


OWN_CUE = """
def counts_few(premise, hypothesis):
    return any(f" {number} " in hypothesis for number in ("two", "three", "four"))
"""


def test_a_cue_of_the_users_own_is_measured_on_matched_pairs(
    suite: Suite, rows: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_cues.py").write_text(OWN_CUE)
    monkeypatch.syspath_prepend(tmp_path)
    answers = np.where(rows["hypothesis"].str.contains(" two | three | four "), CONTRADICTION, rows["gold"])
    finished = acidtest.run(LookedUp("few", rows, answers), suites=[suite], output=tmp_path / "run", page=False)
    result = profile([finished.run], cue=("own_cues:counts_few",))
    effect = result.user_cues[0].effects["few"]
    assert (effect.toward, effect.used) == ("contradiction", True)
    assert effect.effect.value == pytest.approx(1)
    assert "not crossed" in "\n".join(render(STUDIES["profile"].document(result), width=100))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("nowhere", "write MODULE:FUNCTION"),
        ("no_such_module:f", "there is no module 'no_such_module' here; run acidtest in the folder that holds it"),
        ("json:dump_", "no function called 'dump_'; did you mean 'dump' or 'dumps'"),
    ],
)
def test_a_cue_that_cannot_be_loaded_says_why(suite: Suite, tmp_path: Path, spec: str, message: str) -> None:
    finished = acidtest.run("baseline:overlap", suites=[suite], output=tmp_path / "run", page=False)
    with pytest.raises(AcidtestError, match=message):
        profile([finished.run], cue=(spec,))


def test_results_json_holds_the_profile_under_the_names_of_the_cues(suite: Suite, tmp_path: Path) -> None:
    finished = acidtest.run("baseline:overlap", suites=[suite], output=tmp_path / "run", page=False)
    written = json.loads((finished.folder / "results.json").read_text())["profile"]
    assert list(written["cues"]) == list(CUES)
    assert set(written["cues"]["overlap"]) == {
        "toward",
        "effect",
        "with",
        "without",
        "used",
        "outcomes",
        "detectable",
    }
    assert {"headline", "gold_effect", "premise_use", "interactions", "cells"} <= set(written)
    assert written["cells"] == 960
    assert written == to_json(measure_profile(Run.read(finished.folder)))


def test_several_runs_of_one_recipe_show_their_spread_and_hans_its_band(suite: Suite, tmp_path: Path) -> None:
    suites = [suite, acidtest.generate("hans", n=5)]
    names = ("baseline:overlap", "baseline:random")
    runs = [acidtest.run(name, suites=suites, output=tmp_path / name[9:], page=False).run for name in names]
    result = profile(runs, one_recipe=True)
    assert result.seeds["overlap"].highest == 1
    assert result.seeds["overlap"].deviation > 0.5
    lowest = {(one.heuristic, one.label): one.lowest for one in result.hans}
    assert lowest["lexical_overlap", "non-entailment"] == 0.0524
    assert [one.accuracy["baseline:overlap"].value for one in result.hans] == [1, 1, 1, 0, 0, 0]
    shown = " ".join("\n".join(render(STUDIES["profile"].document(result), width=120, full=True)).split())
    assert "Over 2 runs of one recipe the effect of overlapping words is" in shown
    assert "lexical overlap, gold non-entailment" in shown


# Planted models, measured without a run: a design with predictions.


@cache
def crossed_rows(limit: int) -> pl.DataFrame:
    """A sample of suite ``cues``, in the turns in which ``--limit`` takes its rows."""
    frame = acidtest.generate("cues").frame.collect()
    return frame.sort(pl.col("turn").cast(pl.Int64), maintain_order=True).head(limit)


def crossed(rows: pl.DataFrame, answers: np.ndarray, *, two_way: bool = False) -> CrossedDesign:
    """The design of some rows, three-way or two-way, with these predictions of three labels; -1 for none."""
    labels, masks = LABELS, np.array([GOLD_MASKS[label] for label in LABELS], dtype=np.uint8)
    if two_way:
        labels, masks = TWO_WAY_LABELS, np.array([0b001, 0b110, 0b110], dtype=np.uint8)
        answers = np.minimum(answers, 1)
    names, suite = digests(rows["group"]), crossed_suites()["cues"]
    return CrossedDesign(
        labels,
        answers.astype(np.int8),
        masks[gold_of(rows)],
        numbered(names),
        half=(names & np.uint64(1)).astype(np.bool_),
        suite=suite,
        codes=value_codes(rows, suite),
        hypotheses=rows["hypothesis"],
    )


def gold_of(rows: pl.DataFrame) -> np.ndarray:
    return rows["label"].replace_strict(LABELS, range(3), return_dtype=pl.Int8).to_numpy()


def has(rows: pl.DataFrame, column: str, value: str = "yes") -> np.ndarray:
    return (rows[column] == value).to_numpy()


@pytest.mark.parametrize("two_way", [False, True])
@pytest.mark.parametrize(
    ("cue", "column", "absent", "label", "said"),
    [
        ("length", "length", "no", ENTAILMENT, "a short hypothesis → entailment"),
        ("negation", "negation", "no", ENTAILMENT, "the absence of negation words → entailment"),
        ("overlap", "form", "none", NEUTRAL, "the absence of overlapping words → neutral"),
    ],
)
def test_a_cue_that_works_through_its_absence_is_seen(
    two_way: bool, cue: str, column: str, absent: str, label: int, said: str
) -> None:
    rows = crossed_rows(1920)
    answers = np.where(has(rows, column, absent), label, gold_of(rows))
    profile = measure_design(crossed(rows, answers, two_way=two_way))
    assert list(used(profile)) == [cue]
    effect = profile.cues[cue]
    assert (effect.effect.value, effect.size.value, effect.is_absence) == (pytest.approx(-1), pytest.approx(1), True)
    assert describe_direction(profile, cue) == (said.replace("neutral", "non-entailment") if two_way else said)
    assert profile.headline.startswith(f"It relies on {crossed_suites()['cues'].cues[cue].absence} (+100 points toward")


def test_a_cue_after_which_there_is_no_prediction_is_seen() -> None:
    rows = crossed_rows(1920)
    profile = measure_design(crossed(rows, np.where(has(rows, "misspelling"), -1, gold_of(rows))))
    assert used(profile) == {"misspelling": "no prediction"}
    assert set(profile.cues["misspelling"].outcomes) == {*LABELS, "no prediction"}
    assert profile.tests == 4 * 9 + 1
    first, *_ = claims(profile)
    assert first.startswith("Where a word is misspelt, it gives no prediction in 100 %, against 0 % where none is")


def test_a_label_pushed_both_ways_is_told_of_the_presence_of_the_cue() -> None:
    rows = crossed_rows(1920)
    rng = np.random.default_rng(5)
    by_overlap = np.where(has(rows, "form", "none"), NEUTRAL, ENTAILMENT)
    noisy = np.where(rng.random(rows.height) < 0.1, rng.integers(0, 3, rows.height), by_overlap)
    profile = measure_design(crossed(rows, noisy))
    assert used(profile)["overlap"] == "entailment"
    assert not profile.cues["overlap"].is_absence


def test_no_effect_is_claimed_only_if_every_upper_bound_is_small() -> None:
    rows, rng = crossed_rows(3000), np.random.default_rng(0)
    right = np.where(rng.random(rows.height) < 0.3, rng.integers(0, 3, rows.height), gold_of(rows))
    # 13.5 points: a true effect that a run of 3,000 rows cannot show to exceed ten.
    pushed = np.where(has(rows, "negation") & (rng.random(rows.height) < 0.15), CONTRADICTION, right)
    profile = measure_design(crossed(rows, pushed))
    assert used(profile) == {}
    assert max(effect.bound for effect in profile.cues.values()) > 0.1
    assert "No listed cue moves" not in profile.headline
    assert "No cue is shown to move them by more than 10 points: " in profile.headline
    assert "this run finds effects of " in profile.headline


def test_a_detectable_effect_is_found_in_about_four_runs_of_five() -> None:
    rows, rng = crossed_rows(3000), np.random.default_rng(1)
    gold, negated = gold_of(rows), has(rows, "negation")
    base = crossed(rows, gold)
    size = base.effect("negation", tests=base.tests).detectable
    # The negative direction and the other labels need no more: the model is right elsewhere.
    found = [
        replace(base, answer=np.where(negated & (rng.random(rows.height) < size), CONTRADICTION, gold).astype(np.int8))
        .effect("negation", tests=base.tests)
        .used
        for _ in range(60)
    ]
    assert 0.6 <= np.mean(found) <= 0.97


@pytest.mark.parametrize("two_way", [False, True])
def test_exchanged_labels_are_not_taken_for_chance(two_way: bool) -> None:
    rows = crossed_rows(1920)
    exchange = np.array([1, 0, 0]) if two_way else np.array([CONTRADICTION, NEUTRAL, ENTAILMENT])
    profile = measure_design(crossed(rows, exchange[gold_of(rows)], two_way=two_way))
    assert used(profile) == {}
    assert profile.label_order is not None
    other = "non-entailment" if two_way else "contradiction"
    assert profile.label_order.reading == {"entailment": other, other: "entailment"}
    assert profile.label_order.effect.value == pytest.approx(1)
    assert f"--label-map {other}=entailment,entailment={other}" in profile.headline
    assert "near chance" not in profile.headline
    assert profile.gold_effect.value == pytest.approx(-1 if two_way else 0)
    in_code = replace(profile, is_code=True)
    assert not any("--label-map" in claim for claim in claims(in_code))
    assert any("exchange them in what your function returns" in claim for claim in claims(in_code))


def test_a_negative_effect_of_gold_is_shown_as_such() -> None:
    rows, rng = crossed_rows(1920), np.random.default_rng(0)
    # Never right: one of the two wrong labels, so that no one order of labels would be right.
    wrong = (gold_of(rows) + rng.integers(1, 3, rows.height)) % 3
    profile = measure_design(crossed(rows, wrong))
    assert profile.gold_effect.value == pytest.approx(-0.5, abs=0.02)
    assert profile.label_order is None
    assert "--label-map" not in profile.headline
    assert "the correct label is predicted less often than the others: −" in " ".join(claims(profile))
    assert not any("(0–" in claim for claim in claims(profile))


def test_gold_moves_a_model_that_is_right_in_80_percent_by_70_points_or_60_with_two_labels() -> None:
    rows, rng = crossed_rows(15360), np.random.default_rng(0)
    gold, is_right = gold_of(rows), rng.random(15360) < 0.8
    two = np.minimum(gold, 1)
    three_way = np.where(is_right, gold, (gold + rng.integers(1, 3, rows.height)) % 3)
    two_way = np.where(is_right, two, 1 - two)
    assert measure_design(crossed(rows, three_way)).gold_effect.value == pytest.approx(0.7, abs=0.02)
    assert measure_design(crossed(rows, two_way, two_way=True)).gold_effect.value == pytest.approx(0.6, abs=0.02)


@pytest.mark.parametrize("two_way", [False, True])
def test_an_exclusive_or_of_two_cues_is_found(two_way: bool) -> None:
    rows = crossed_rows(1920)
    answers = np.where(has(rows, "negation") ^ has(rows, "length"), ENTAILMENT, CONTRADICTION)
    profile = measure_design(crossed(rows, answers, two_way=two_way))
    assert used(profile) == {}
    assert profile.combination is not None
    assert profile.combination.cues == ("negation", "length")
    assert profile.combination.matters
    assert profile.combination.p < 1e-6
    assert profile.headline.startswith("It relies on a combination of cues (+100 points (")
    assert "toward entailment with exactly one of negation words and a long hypothesis" in profile.headline.replace(
        "contradiction with both or neither", "entailment with exactly one"
    ).replace("non-entailment with both or neither", "entailment with exactly one")


def test_an_exclusive_or_of_three_cues_is_found() -> None:
    rows = crossed_rows(1920)
    odd = has(rows, "negation") ^ has(rows, "length") ^ has(rows, "misspelling")
    profile = measure_design(crossed(rows, np.where(odd, ENTAILMENT, NEUTRAL)))
    assert profile.combination is not None
    assert set(profile.combination.cues) == {"negation", "length", "misspelling"}
    assert "an odd number of" in profile.headline or "an even number of" in profile.headline


@pytest.mark.parametrize("two_way", [False, True])
@pytest.mark.parametrize("share", [0.0, 0.7, 0.97, 1.0])
def test_models_that_guess_or_are_mostly_right_are_accused_of_nothing(share: float, two_way: bool) -> None:
    rows = crossed_rows(1000)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        is_right = rng.random(rows.height) < share
        answers = np.where(is_right, gold_of(rows), rng.integers(0, 3, rows.height))
        profile = measure_design(crossed(rows, answers, two_way=two_way))
        assert used(profile) == {}
        assert profile.label_order is None
        assert not (profile.combination and profile.combination.matters)


def test_what_holds_only_without_a_cue_is_said_only_if_little_can_be_left_with_it() -> None:
    rows, rng = crossed_rows(15360), np.random.default_rng(0)
    overlaps, negated = np.isin(rows["form"], ["overlap", "subsequence", "constituent"]), has(rows, "negation")
    # With negation words eight rows in a hundred still follow overlap: a small effect, but one that is there.
    follows = overlaps & (~negated | (rng.random(rows.height) < 0.08))
    profile = measure_design(crossed(rows, np.where(follows, ENTAILMENT, gold_of(rows))))
    (one,) = (one for one in profile.interactions if (one.cue, one.other) == ("overlap", "negation"))
    assert one.with_other.low > 0
    said = " ".join(claims(profile))
    assert "That holds only without negation words." not in said
    assert "Where the hypothesis has a negation word it is +" in said


def test_intervals_hold_for_all_labels_together() -> None:
    """A guessing model, 50 draws: whatever label is reported, the true effect of zero is inside in about 95 %."""
    rows = crossed_rows(960)
    base = crossed(rows, gold_of(rows))
    held = 0
    for seed in range(50):
        answers = np.random.default_rng(seed).integers(0, 3, rows.height).astype(np.int8)
        design = replace(base, answer=answers)
        effects = [design.effect(cue, tests=design.tests).effect for cue in CUES] + [design.gold_effect()]
        held += all(effect.low <= 0 <= effect.high for effect in effects)
    assert held >= 44


def test_the_error_of_an_effect_does_not_depend_on_how_many_intervals_hold_together() -> None:
    rows = crossed_rows(1920)
    design = crossed(rows, np.random.default_rng(0).integers(0, 3, rows.height))
    few, many = (standard_error(design.effect("negation", tests=tests).effect, tests=tests) for tests in (2, 200))
    assert few == pytest.approx(many, rel=0.02)


@pytest.mark.parametrize("rows", [1, 2, 30])
def test_hardly_any_rows_give_a_profile_that_claims_nothing(rows: int) -> None:
    frame = crossed_rows(960).filter(pl.col("label") == "neutral").head(rows)
    profile = measure_design(crossed(frame, np.ones(rows, dtype=np.int8) * (np.arange(rows) % 2)))
    assert used(profile) == {}
    assert profile.label_order is None
    assert "No listed cue" not in profile.headline
    assert list(claims(profile))


@pytest.mark.parametrize("rows", [29, 30, 31])
@pytest.mark.parametrize("outcome", ["right", "constant", "guessing", "none"])
def test_a_combination_of_cues_is_not_shown_by_thirty_rows(rows: int, outcome: str) -> None:
    # If one item has all the weight of a contrast, its error is 0 / 0.
    frame = crossed_rows(960).head(rows)
    answers = {
        "right": gold_of(frame),
        "constant": np.zeros(rows, dtype=np.int64),
        "guessing": np.random.default_rng(rows).integers(0, 3, rows),
        "none": np.full(rows, -1),
    }
    profile = measure_design(crossed(frame, answers[outcome]))
    assert used(profile) == {}
    assert list(claims(profile))
    found = profile.combination
    assert found is None or (found.p, found.effect.low, found.effect.high) == (1, -1, 1)
