"""The profile of verifiers: planted ones get the cues they follow, and no others."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

import acidtest
from acidtest.core.errors import AcidtestError
from acidtest.core.run import Run
from acidtest.core.study import STUDIES
from acidtest.core.suite import Suite
from acidtest.render.terminal import render
from acidtest.studies.comparison.profiles import compare_profiles
from acidtest.studies.crossed_suites import all_cues, crossed_suites
from acidtest.studies.cue_profile import Profile, claims, measure_profile
from acidtest.studies.gate.policy import CueRule, GatePolicy
from acidtest.studies.gate.result import GateState
from acidtest.studies.profile import profile
from acidtest.studies.profile.document import toggle_sections

GROUNDING = crossed_suites()["grounding/cues"]
Verdict = Callable[[dict[str, str]], bool]
Measure = Callable[[str, Verdict], Profile]


@pytest.fixture(scope="module")
def suite() -> Suite:
    return acidtest.generate("grounding/cues")


class Verifier:
    """A model that calls a claim supported or not, by a rule over the row of the suite."""

    resolution = "two-way"

    def __init__(self, name: str, suite: Suite, supports: Verdict) -> None:
        self.name = name
        rows = suite.frame.collect().iter_rows(named=True)
        self._verdicts = {(row["premise"], row["hypothesis"]): supports(row) for row in rows}

    def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> np.ndarray:
        verdicts = [self._verdicts[pair] for pair in zip(premises, hypotheses, strict=True)]
        return np.array([[0.9, 0.1] if verdict else [0.2, 0.8] for verdict in verdicts], dtype=np.float32)


@pytest.fixture(scope="module")
def run_of(suite: Suite, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Verdict], Run]:
    folder = tmp_path_factory.mktemp("verifiers")

    def run(name: str, supports: Verdict) -> Run:
        model = Verifier(name, suite, supports)
        return acidtest.run(model, suites=[suite], output=folder / name.replace(" ", "-"), page=False).run

    return run


@pytest.fixture(scope="module")
def measured(run_of: Callable[[str, Verdict], Run]) -> Measure:
    return lambda name, supports: measure_profile(run_of(name, supports))


def used(profile: Profile) -> dict[str, str | None]:
    return {cue: effect.toward for cue, effect in profile.cues.items() if effect.used}


def is_supported(row: dict[str, str]) -> bool:
    return row["label"] == "entailment"


def test_a_perfect_verifier_uses_no_cue(measured: Measure) -> None:
    profile = measured("perfect", is_supported)
    assert (profile.suite, profile.cells) == ("grounding/cues", 192)
    assert used(profile) == {}
    assert profile.gold_effect.value == 1
    assert profile.premise_use.value == 1
    assert profile.headline == (
        "With all cues held fixed, the correct label moves its predictions by 100 points (96–100). No listed cue moves "
        "its predictions by more than 10 points."
    )


@pytest.mark.parametrize(
    ("cue", "column", "value"),
    [
        ("claim_words", "words_found", "all"),
        ("claim_names", "names_found", "yes"),
        ("claim_numbers", "numbers_found", "yes"),
        ("long_claim", "claim_length", "long"),
    ],
)
def test_what_is_found_in_the_document_is_told_from_the_rest(
    measured: Measure, cue: str, column: str, value: str
) -> None:
    profile = measured(f"found {cue}", lambda row: row[column] == value)
    assert used(profile) == {cue: "entailment"}
    assert profile.cues[cue].effect.value == 1
    assert profile.gold_effect.value == 0


def test_supported_if_all_words_are_there_else_right_is_said_in_words_of_verifiers(measured: Measure) -> None:
    profile = measured("words else right", lambda row: row["words_found"] == "all" or is_supported(row))
    assert used(profile) == {"claim_words": "entailment"}
    first, last = claims(profile)
    assert first.startswith(
        "Where all words of a claim are in the document (names and numbers apart) and the claim is not supported, "
        "it calls it supported in 100 %, against 0 % where few are: +100 points ("
    )
    assert last.startswith("With all cues held fixed, the correct label moves its predictions by 50 points (")
    assert profile.headline.startswith(
        "It relies on claim words found in the document (+100 points toward supported). With all cues held fixed,"
    )


def test_who_reads_only_the_first_hundred_words_misses_what_comes_late_in_long_documents(measured: Measure) -> None:
    def supports(row: dict[str, str]) -> bool:
        return is_supported(row) and row["evidence"].split("\n")[0] in " ".join(row["premise"].split()[:100])

    profile = measured("first hundred words", supports)
    missed = "non-entailment"
    assert used(profile) == {"long_document": missed, "evidence_middle": missed, "evidence_end": missed}
    assert profile.cues["long_document"].effect.value == pytest.approx(2 / 3)
    assert profile.cues["evidence_end"].effect.value == pytest.approx(1 / 2)
    sentences = list(claims(profile))
    assert sentences.count("That holds only with a long document.") == 2
    assert any("the claim is supported, it calls it not supported in 67 %, against 0 %" in one for one in sentences)


def test_who_looks_only_at_the_claim_is_found(measured: Measure) -> None:
    profile = measured("claim only", lambda row: len(row["hypothesis"]) % 3 > 0)
    assert used(profile) == {}
    assert profile.premise_use.value == 0
    assert profile.headline == (
        "It hardly reads the document: another document, with another gold, changes 0 % of its predictions."
    )
    assert "The claim alone predicts 100 % of its predictions." in claims(profile)


def test_who_prefers_long_claims_is_found_though_it_reads(measured: Measure) -> None:
    profile = measured("long or right", lambda row: row["claim_length"] == "long" or is_supported(row))
    assert used(profile) == {"long_claim": "entailment"}
    assert profile.gold_effect.value == pytest.approx(0.5)
    assert profile.headline.startswith("It relies on a long claim (+100 points toward supported).")


def test_who_guesses_is_accused_of_nothing(measured: Measure) -> None:
    rng = np.random.default_rng(0)
    profile = measured("guessing", lambda row: bool(rng.random() < 0.5))
    assert used(profile) == {}
    assert profile.headline.startswith("On these pairs it is near chance")


@pytest.mark.parametrize(("verdict", "name"), [(True, "supported"), (False, "not supported")])
def test_one_verdict_for_everything_is_accused_of_nothing(measured: Measure, verdict: bool, name: str) -> None:
    profile = measured(f"constant {name}", lambda row: verdict)
    assert used(profile) == {}
    assert profile.headline.startswith(f"It calls nearly every claim {name} (100 %)")


def test_a_verifier_with_noise_is_accused_of_what_it_does_and_of_nothing_else(measured: Measure) -> None:
    rng = np.random.default_rng(1)

    def supports(row: dict[str, str]) -> bool:
        return bool(rng.random() < (0.9 if is_supported(row) or row["numbers_found"] == "yes" else 0.2))

    assert used(measured("noise", supports)) == {"claim_numbers": "entailment"}


def test_a_model_with_three_labels_is_scored_on_support_alone(suite: Suite, tmp_path: Path) -> None:
    finished = acidtest.run("baseline:entity-match", suites=[suite], output=tmp_path / "run", page=False)
    measured = measure_profile(finished.run)
    assert used(measured) == {"claim_names": "entailment"}
    assert set(measured.answers) == {"entailment", "non-entailment"}
    written = json.loads((finished.folder / "results.json").read_text())
    assert list(written["profile"]["cues"]) == list(GROUNDING.cues)
    assert [finding["code"] for finding in written["diagnosis"]] == ["Q2"]
    assert "wrongly calls claims supported in 100 % where the document has the name" in written["diagnosis"][0]["text"]


def test_a_run_with_both_suites_has_a_profile_on_each(suite: Suite, tmp_path: Path) -> None:
    suites = [acidtest.generate("cues", n=1), suite]
    finished = acidtest.run("baseline:overlap", suites=suites, output=tmp_path / "run", page=False)
    assert profile([finished.run]).models["baseline:overlap"].suite == "cues"
    result = profile([finished.run], suite="grounding/cues")
    assert result.models["baseline:overlap"].suite == "grounding/cues"
    shown = " ".join("\n".join(render(STUDIES["profile"].document(result), width=120, full=True)).split())
    assert "answers that the claim alone predicts" in shown
    shown_pairs = {section.title: section.summary for section in toggle_sections(result.runs, GROUNDING)}
    assert shown_pairs["Evidence at the end"] == "1,536 items asked both ways; the answer changes in 0"
    assert shown_pairs["Names found in the document"] == "576 items asked both ways; the answer changes in 144"


def test_a_run_without_the_suite_that_was_asked_for_says_what_to_run(suite: Suite, tmp_path: Path) -> None:
    finished = acidtest.run("baseline:overlap", suites=[suite], output=tmp_path / "run", page=False)
    with pytest.raises(AcidtestError, match=r"no run has suite cues, .* run the model with -s cues$"):
        profile([finished.run], suite="cues")


def test_two_verifiers_are_compared_on_their_cues(run_of: Callable[[str, Verdict], Run]) -> None:
    runs = {
        "perfect": run_of("perfect again", is_supported),
        "names": run_of("by names", lambda row: row["names_found"] == "yes"),
    }
    (contrast,) = compare_profiles(runs)
    assert (contrast.suite, contrast.paired) == ("grounding/cues", True)
    assert [cue for cue, one in contrast.cues.items() if one.differs] == ["claim_names"]
    assert contrast.gold_effect is not None
    assert contrast.gold_effect.difference.value == -1


def test_a_gate_limits_the_cues_of_verifiers(run_of: Callable[[str, Verdict], Run]) -> None:
    run = run_of("gated by numbers", lambda row: row["numbers_found"] == "yes")
    rules = tuple(CueRule(cue, 20.0, "required") for cue in ("claim_numbers", "claim_names", "overlap"))
    result = STUDIES["gate"].compute(run, run, policy=GatePolicy(cues=rules))
    checks = {check.name: check for check in result.comparisons[0].checks}
    assert [checks[f"cues:{rule.cue}"].state for rule in rules] == [
        GateState.FAIL,
        GateState.PASS,
        GateState.UNDECIDED,
    ]
    assert checks["cues:overlap"].reason == "the candidate was not asked suite cues"


def test_a_gate_limits_cues_that_work_through_their_absence(run_of: Callable[[str, Verdict], Run]) -> None:
    run = run_of("gated by the absence", lambda row: row["document_length"] == "short" or is_supported(row))
    result = STUDIES["gate"].compute(run, run, policy=GatePolicy(cues=(CueRule("long_document", 20.0, "required"),)))
    (check,) = (one for one in result.comparisons[0].checks if one.name == "cues:long_document")
    assert check.state is GateState.FAIL


def test_no_two_suites_have_a_cue_of_the_same_name() -> None:
    assert len(all_cues()) == sum(len(suite.cues) for suite in crossed_suites().values())
