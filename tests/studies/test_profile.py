"""The cue profile: planted models get the cues they follow, and no others."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import acidtest
from acidtest.core.errors import AcidtestError
from acidtest.core.labels import LABELS
from acidtest.core.run import Run
from acidtest.core.serialise import to_json
from acidtest.core.study import STUDIES
from acidtest.core.suite import Suite
from acidtest.render.terminal import render
from acidtest.studies.crossed_suites import crossed_suites
from acidtest.studies.cue_profile import Profile, claims, measure_profile
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
    assert (
        profile.headline == "No listed cue moves its answers by more than 10 points; gold moves 100 % of its answers."
    )


def test_entailment_if_overlap_else_right_uses_overlap_alone(measured: Measure) -> None:
    profile = measured("mccoy", pl.when(OVERLAP).then(ENTAILMENT).otherwise(GOLD))
    assert used(profile) == {"overlap": "entailment"}
    assert profile.cues["overlap"].effect.value == 1
    assert profile.gold_effect.value == pytest.approx(0.4)
    first, *_, last = claims(profile)
    assert first.startswith(
        "Where all words overlap and gold is not entailment it answers entailment in 100 %, against 0 % where they do "
        "not: +100 points ("
    )
    assert last.startswith("With the listed cues held fixed, gold moves 40 % of its answers (")
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
    assert used(profile) == {"overlap": "entailment"}
    assert [(one.cue, one.other) for one in profile.interactions] == [("overlap", "negation")]
    assert "That holds only without negation words." in claims(profile)


@pytest.mark.parametrize("label", range(3))
def test_a_constant_model_is_accused_of_nothing(measured: Measure, label: int) -> None:
    profile = measured(f"constant {label}", pl.lit(label))
    assert used(profile) == {}
    assert profile.gold_effect.value == 0
    assert profile.premise_use.value == 0
    assert profile.headline.startswith(f"It answers {LABELS[label]} to nearly everything (100 %)")


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
    assert used(profile) == {}


def test_an_answer_that_is_missing_is_a_fourth_outcome(suite: Suite, tmp_path: Path) -> None:
    class Silent:
        name, may_abstain = "silent", True

        def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> np.ndarray:
            return np.full((len(premises), 3), np.nan, dtype=np.float32)

    finished = acidtest.run(Silent(), suites=[suite], output=tmp_path / "run", page=False)
    profile = measure_profile(finished.run)
    assert profile.gold_effect.value == 0
    assert set(profile.answers.values()) == {0.0}


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
    assert set(written["cues"]["overlap"]) == {"toward", "effect", "with", "without", "used"}
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
