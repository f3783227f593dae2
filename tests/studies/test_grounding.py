"""What is said of planted verifiers, whose way of judging claims is known, on claims few enough to count."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from acidtest.core.document import Chart, Note, Table, tables, walk
from acidtest.core.draws import key
from acidtest.core.errors import AcidtestError
from acidtest.core.run import Run
from acidtest.core.serialise import from_json, to_json
from acidtest.core.study import STUDIES
from acidtest.render.terminal import render_screen
from acidtest.studies.grounding import GroundingResult, grounding
from acidtest.studies.scores import ModelScores, ScoresResult, score_run
from acidtest.studies.scores.document import describe_scores
from acidtest.studies.scores.scorecard import describe_model, scorecard
from acidtest.studies.verification import ONLY_EDITS, measure_grounding
from acidtest.studies.verification.curves import LENGTH, PADDING, POSITION, points_of
from acidtest.studies.verification.findings import missed_edits, unstable_edits
from acidtest.studies.verification.result import CHANGES, KEEPS, EditEffect, ModelGrounding
from acidtest.studies.verification.screen import brief_table, describe_grounding
from verifiers import (
    CHANGING,
    KEEPING,
    AskedClaim,
    Scorer,
    badly_placed,
    constant,
    generous,
    ignores_numbers,
    knows_the_world,
    perfect,
    planted_run,
    prefers_long_claims,
    random,
    reads_100_words,
    reads_the_first_passage,
    sparing,
    timid,
    turned_round,
    unsteady,
)

EXPECTED = Path(__file__).parents[1] / "golden" / "verifier_findings.tsv"
"""Code, severity and sentence of every finding about each planted verifier; no other may be made."""

PLANTED: dict[str, Scorer] = {
    "perfect": perfect,
    "ignores numbers": ignores_numbers,
    "reads 100 words": reads_100_words,
    "knows the world": knows_the_world,
    "reads the first passage": reads_the_first_passage,
    "unsteady": unsteady,
    "random": random,
    "constant": constant,
    "timid": timid,
    "badly placed": badly_placed,
    "generous": generous,
    "turned round": turned_round,
    "sparing": sparing,
}

Said = tuple[str, str, str]


def read_expected() -> dict[str, list[Said]]:
    expected: dict[str, list[Said]] = {}
    for line in EXPECTED.read_text(encoding="utf-8").splitlines()[1:]:
        name, code, severity, sentence = line.split("\t")
        expected.setdefault(name, []).append((code, severity, sentence))
    return expected


def write_expected(expected: dict[str, list[Said]]) -> None:
    lines = ["\t".join((name, *said)) for name in PLANTED for said in expected.get(name, ())]
    EXPECTED.write_text("\n".join(["model\tcode\tseverity\tsentence", *lines, ""]), encoding="utf-8", newline="\n")


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_verifier_is_told_what_it_was_built_to_do_and_no_more(name: str) -> None:
    said = [
        (finding.code, finding.severity, finding.sentence)
        for finding in score_run(planted_run(PLANTED[name])).diagnosis
    ]
    if os.environ.get("ACIDTEST_UPDATE_GOLDEN"):
        write_expected({**read_expected(), name: said})
    assert said == read_expected()[name]


def effect(model: ModelGrounding, edit: str, kind: str = "") -> EditEffect:
    (only,) = [one for one in model.edits if (one.edit, one.kind) == (edit, kind)]
    return only


def scored(run: Run, scores: dict[str, float]) -> Run:
    """The run with other scores for some claims, by suite and id."""
    assert isinstance(run.frame, pl.DataFrame)
    keys = [f"{suite} {name}" for suite, name in run.frame.select("suite", "id").iter_rows()]
    values = [scores.get(key, old) for key, old in zip(keys, run.frame["p_entailment"], strict=True)]
    entailment = pl.Series("p_entailment", values, dtype=pl.Float32)
    return Run(run.header, run.frame.with_columns(entailment, p_neutral=1 - entailment, p_contradiction=pl.lit(0.0)))


def test_edited_claims_are_counted_of_all_and_of_those_whose_original_is_called_supported() -> None:
    run = planted_run(perfect, ("claims", "number"), documents=10)
    # Of 40 supported claims, four are not called so; of the edited forms of the others nine still are, and of the
    # edited forms of those four as well, which does not matter.
    missed = [f"{document}-0" for document in range(4)]
    passed = [f"{document}-{number}-number" for document in range(3) for number in (1, 2, 3)]
    scores = {f"grounding/number#control {name}": 0.1 for name in missed}
    scores |= {f"grounding/number {name}-number": 0.9 for name in missed}
    scores |= {f"grounding/number {name}": 0.9 for name in passed}
    number = effect(measure_grounding(scored(run, scores)), "number")
    assert (number.gold, number.pairs, number.still_supported.n) == (CHANGES, 40, 36)
    assert number.still_supported.value == pytest.approx(9 / 36)
    # What is compared with other unsupported claims counts all edited claims: nine and the four of missed originals.
    assert number.wrong.value == number.accepted.value == pytest.approx(13 / 40)
    assert number.lost.value == pytest.approx(27 / 40)
    assert number.gained.value == pytest.approx(4 / 40)
    assert number.documents == 10


def test_the_order_of_scores_needs_no_threshold_and_ties_count_half() -> None:
    run = planted_run(perfect, ("claims", "number"), documents=10)
    originals = {f"grounding/number#control {d}-{n}": 0.3 for d in range(10) for n in range(4)}
    edited = {f"grounding/number {d}-{n}-number": 0.3 if n < 2 else 0.2 for d in range(10) for n in range(4)}
    number = effect(measure_grounding(scored(run, originals | edited)), "number")
    assert number.higher.value == pytest.approx((20 * 0.5 + 20) / 40)
    assert not number.still_supported.known
    assert number.still_supported.note == "no original is called supported"


def test_where_gold_is_kept_every_changed_verdict_counts_with_its_direction() -> None:
    run = planted_run(perfect, ("claims", "rewritten"), documents=10)
    lost = {f"grounding/rewritten {d}-0-rewritten": 0.1 for d in range(6)}
    gained = {f"grounding/rewritten {d}-5-rewritten": 0.9 for d in range(3)}
    rewritten = effect(measure_grounding(scored(run, lost | gained)), "rewritten")
    assert (rewritten.gold, rewritten.pairs) == (KEEPS, 60)
    assert rewritten.wrong.value == pytest.approx(9 / 60)
    assert (rewritten.lost.value, rewritten.gained.value) == (pytest.approx(6 / 60), pytest.approx(3 / 60))


def test_untouched_claims_are_judged_as_supported_or_not_whatever_gold_is_rarer() -> None:
    claims = measure_grounding(planted_run(constant, ("claims",))).untouched
    assert (claims.claims, claims.supported) == (360, 240)
    assert claims.balanced_accuracy.value == 0.5
    assert claims.accuracy.value == claims.commonest == pytest.approx(2 / 3)
    assert claims.false_support.value == 1
    best = measure_grounding(planted_run(perfect, ("claims",))).untouched
    assert best.balanced_accuracy.value == best.auc.value == best.balanced_accuracy_chosen.value == 1


def test_a_claim_that_several_suites_ask_counts_once() -> None:
    assert measure_grounding(planted_run(perfect, ("claims", "number", "entity"))).untouched.claims == 360


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"resolution": "two-way"}, "two-way"),
        ({"hard": True}, "labels"),
        ({"resolution": "two-way", "hard": True}, "both"),
    ],
)
def test_models_of_two_labels_and_without_probabilities_are_measured_alike(
    options: dict[str, object], name: str
) -> None:
    model = measure_grounding(planted_run(ignores_numbers, **options))  # type: ignore[arg-type]
    assert effect(model, "number").wrong.value == effect(model, "number").wrong_chosen.value == 1
    assert effect(model, "entity").wrong.value == 0
    assert model.untouched.balanced_accuracy.value == 1


def test_pairs_need_no_gold() -> None:
    run = planted_run(ignores_numbers, ("number", "rewritten"), gold=False)
    # Without gold the planted verifier takes every claim for unsupported; give it back what it saw.
    assert isinstance(run.frame, pl.DataFrame)
    names = run.frame.select("suite", "id").iter_rows()
    seen = {f"{suite} {name}": 0.9 for suite, name in names if suite != "grounding/entity"}
    model = measure_grounding(scored(run, seen))
    assert effect(model, "number").gold == CHANGES
    assert effect(model, "number").wrong.value == 1
    assert effect(model, "rewritten").gold == KEEPS
    assert not model.untouched.balanced_accuracy.known
    assert model.notes == (ONLY_EDITS,)
    assert model.rule.chosen is None
    said = score_run(scored(run, seen)).diagnosis
    assert [finding.code for finding in said] == ["A1"]


def test_both_kinds_of_untouched_claims_silence_the_caution_about_edits() -> None:
    assert measure_grounding(planted_run(perfect, ("claims", "number"))).notes == ()
    assert measure_grounding(planted_run(perfect, ("claims",))).notes == ()


def test_the_threshold_of_the_run_and_that_of_the_user_decide() -> None:
    run = planted_run(timid, settings={"collapse": "threshold=0.3"})
    assert effect(measure_grounding(run), "number").wrong.value == 0
    assert measure_grounding(run).untouched.recall.value == 1
    assert measure_grounding(run, threshold=0.7).untouched.recall.value == 0
    assert measure_grounding(run, threshold=0.7).rule.deployed == "threshold=0.7"
    by_sum = planted_run(timid, settings={"collapse": "sum"})
    assert measure_grounding(by_sum).untouched.recall.value == 0


def test_precision_is_that_of_the_users_service() -> None:
    run = planted_run(constant, ("claims",))
    precision = grounding([run], base_rate=0.1).models["m"].precision
    assert precision is not None
    assert precision.supported.value == pytest.approx(0.9)
    assert not precision.unsupported.known
    assert measure_grounding(run).precision is None


@pytest.mark.parametrize("options", [{"threshold": 1.0}, {"threshold": -0.1}, {"base_rate": 0.0}, {"base_rate": 10.0}])
def test_numbers_out_of_range_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(AcidtestError, match=f"--{next(iter(options)).replace('_', '-')} is"):
        grounding([planted_run(perfect, ("claims",))], **options)


def test_verdicts_are_shown_over_the_length_of_documents_and_the_place_of_evidence() -> None:
    model = measure_grounding(planted_run(reads_100_words))
    padding = points_of(model.curves, PADDING)
    assert [(point.name, point.words) for point in padding] == [("untouched", 150), ("2 times", 300), ("4 times", 600)]
    # Of the four supported claims of a document, one has its evidence beyond the first hundred words.
    assert [point.recall.value for point in padding] == [0.75, 0, 0]
    position = points_of(model.curves, POSITION)
    assert [(point.name, point.recall.value) for point in position] == [("start", 1), ("middle", 1), ("end", 0)]
    assert points_of(model.curves, LENGTH) == []


def test_pairs_that_were_cut_are_counted_and_told_apart() -> None:
    model = measure_grounding(planted_run(reads_100_words, reads=200))
    padding, number = effect(model, "padding"), effect(model, "number")
    assert (padding.truncated, number.truncated) == (720, 0)
    assert padding.wrong_truncated == padding.wrong
    assert not padding.wrong_whole.known
    assert number.wrong_whole == number.wrong
    assert model.truncated == 720


def test_who_is_followed_is_measured_where_document_and_world_disagree() -> None:
    use = measure_grounding(planted_run(knows_the_world)).knowledge
    assert use is not None
    assert (use.against.value, use.agreeing.value) == (1, 0)
    assert (use.true_unsaid.value, use.false_unsaid.value) == (1, 0)
    perfectly = measure_grounding(planted_run(perfect)).knowledge
    assert perfectly is not None
    assert (perfectly.against.value, perfectly.true_unsaid.value) == (0, 0)


def test_the_unsupported_sentence_of_an_answer_is_sought_by_the_lowest_score() -> None:
    answers = measure_grounding(planted_run(perfect)).answers
    assert answers is not None
    assert (answers.answers, answers.unsupported, answers.chance) == (120, 60, pytest.approx(1 / 3))
    assert answers.located.value == answers.whole.value == answers.lowest.value == 1
    # Where all sentences get one score, each may be the one.
    tied = measure_grounding(planted_run(constant)).answers
    assert tied is not None
    assert tied.located.value == pytest.approx(1 / 3)
    assert tied.lowest.value == 0.5


def answers_half(claim: AskedClaim) -> float:
    """Perfect, but it has a prediction for the claims of even documents only."""
    return math.nan if claim.document % 2 else perfect(claim)


def test_claims_without_a_prediction_count_as_wrong_in_every_number() -> None:
    model = measure_grounding(planted_run(answers_half))
    claims = model.untouched
    assert (claims.claims, claims.unanswered, claims.coverage.value) == (360, 180, 0.5)
    for estimate in (claims.balanced_accuracy, claims.balanced_accuracy_chosen, claims.accuracy, claims.recall):
        assert estimate.value == pytest.approx(0.5)
    assert claims.false_support.value == claims.false_support_chosen.value == 0.5
    # A claim without a prediction loses against all others: of pairs of two claims, a quarter has two predictions.
    assert claims.auc.value == pytest.approx(0.25)
    answered = model.answered
    assert measure_grounding(planted_run(perfect, ("claims",))).where_answered is None
    assert (answered.claims, answered.balanced_accuracy.value, answered.auc.value) == (180, 1, 1)
    number, rewritten = effect(model, "number"), effect(model, "rewritten")
    assert (number.pairs, number.unanswered) == (120, 120)
    assert (number.wrong.value, number.wrong_chosen.value, number.accepted.value) == (0.5, 0.5, 0)
    # Of originals with a prediction, every edited claim has the same one.
    assert (rewritten.wrong.n, rewritten.wrong.value) == (180, 0)
    padding = points_of(model.curves, PADDING)
    assert [point.recall.value for point in padding] == [0.5, 0.5, 0.5]


def test_a_prediction_that_an_edit_takes_away_has_changed() -> None:
    def gives_up(claim: AskedClaim) -> float:
        return math.nan if claim.edit and claim.document < 15 else perfect(claim)

    rewritten = effect(measure_grounding(planted_run(gives_up, ("claims", "rewritten"))), "rewritten")
    assert (rewritten.wrong.value, rewritten.wrong_chosen.value, rewritten.became_wrong.value) == (0.25, 0.25, 0.25)


def test_a_judge_near_chance_whose_predictions_follow_the_order_of_options_is_told_so() -> None:
    run = planted_run(random, ("claims",))
    counts = {"repeat_compared": 100, "repeat_changes": 0, "reorder_compared": 150, "reorder_changes": 73}
    model = score_run(Run(replace(run.header, usage=counts), run.frame))
    (said,) = model.diagnosis
    assert said.code == "K1"
    changes = "changes 49 % of predictions with the order of the options (0 % when the same prompt is sent twice)"
    assert said.sentence.endswith(f"; {changes}")
    assert changes in describe_model(model)


def test_columns_about_originals_count_edits_without_a_prediction() -> None:
    def gives_up(claim: AskedClaim) -> float:
        return math.nan if claim.edit and claim.document < 15 else perfect(claim)

    run = planted_run(gives_up, ("claims", "number"))
    number = effect(measure_grounding(run), "number")
    # A quarter of the edited claims has no prediction; all originals are called supported.
    assert (number.pairs, number.unanswered) == (180, 60)
    assert (number.higher.value, number.still_supported.value, number.wrong.value) == (0.75, 0.25, 0.25)
    text = "\n".join(screen(score_run(run)))
    assert "gold changes: called supported, or no prediction" in text
    assert re.search(r"number +240 +75 +25 \(.*\) +25 +75", text)
    assert "no prediction" not in "\n".join(screen(score_run(planted_run(perfect, ("claims", "number")))))


def test_the_table_shows_how_many_claims_have_a_prediction() -> None:
    whole, edits = (planted_run(answers_half, suites) for suites in (("claims",), ("claims", "number")))
    lines = "\n".join(screen(score_run(whole)))
    assert re.search(r"claims +answered +at argmax .*\n.*\n?.*360 +50 +50 \(", lines)
    assert "180 of 360 untouched claims have no prediction: they count as wrong." in " ".join(screen(score_run(whole)))
    assert "It answers 50 % of untouched claims and tells supported claims from others with 100 %" in " ".join(
        screen(score_run(whole))
    )
    lines = "\n".join(screen(score_run(edits)))
    assert re.search(r"edit +n +answered ", lines)
    assert re.search(r"number +240 +50 +50 \(", lines)
    assert "answered" not in "\n".join(screen(score_run(planted_run(perfect, ("claims", "number")))))


def test_shares_of_answered_claims_below_the_table_say_so() -> None:
    def silent(claim: AskedClaim) -> float:
        return math.nan if claim.draw < 0.4 else perfect(claim)

    notes = brief_table(measure_grounding(planted_run(silent))).notes
    assert sum("(of claims it answered)" in note for note in notes) == 3
    notes = brief_table(measure_grounding(planted_run(perfect))).notes
    assert not any("(of claims it answered)" in note for note in notes)


def test_a_verifier_that_answers_only_yes_calls_all_claims_it_answered_supported() -> None:
    run = planted_run(lambda claim: math.nan if claim.document % 2 else 0.9, ("claims",))
    (said,) = [finding for finding in score_run(run).diagnosis if finding.code == "A1"]
    assert said.sentence.startswith("calls 100 % of all claims it answered supported")
    alike = score_run(planted_run(constant, ("claims",))).diagnosis[0]
    assert alike.sentence.startswith("calls 100 % of all claims supported")


def test_risk_falls_with_coverage_if_confidence_means_anything() -> None:
    def unsure(claim: AskedClaim) -> float:
        # Wrong where its score is between 0.4 and 0.6, on a sixth of claims; no prediction for one in ten documents.
        shaky = 0.4 + 0.2 * (1 - claim.supported) if claim.id.endswith("-1") else perfect(claim)
        return math.nan if claim.document % 10 == 0 else shaky

    run = planted_run(unsure, ("claims",))
    risks = measure_grounding(run).risks
    assert [round(point.coverage, 2) for point in risks] == [0.9, 0.75, 0.5, 0.25]
    assert risks[0].risk.value == pytest.approx(1 / 6)
    assert [point.risk.value for point in risks[1:]] == [0, 0, 0]
    document = STUDIES["grounding"].document(grounding([run]))
    assert "risk" in tables(document)
    hard = measure_grounding(planted_run(unsure, ("claims",), hard=True)).risks
    assert [round(point.coverage, 2) for point in hard] == [0.9]


def test_one_document_gives_values_without_intervals() -> None:
    model = measure_grounding(planted_run(ignores_numbers, documents=1))
    number = effect(model, "number")
    assert number.wrong.value == 1
    assert math.isnan(number.wrong.low)
    assert not number.wrong_chosen.known
    assert model.rule.note
    assert [finding.severity for finding in score_run(planted_run(ignores_numbers, documents=1)).diagnosis] == []


def test_no_claims_are_no_numbers() -> None:
    run = planted_run(perfect, documents=1)
    assert isinstance(run.frame, pl.DataFrame)
    model = measure_grounding(Run(run.header, run.frame.head(0)))
    assert (model.pairs, model.edits, model.answers) == (0, (), None)
    assert not model.untouched.auc.known


def test_runs_without_claims_are_refused() -> None:
    run = planted_run(perfect, ("claims",))
    other = replace(run.header, suites={"hans": replace(run.header.suites["grounding/claims"], name="hans")})
    with pytest.raises(AcidtestError, match="none of the runs"):
        grounding([Run(other, run.frame)])


def test_the_result_is_the_same_after_writing_and_reading() -> None:
    result = grounding([planted_run(reads_100_words)], base_rate=0.2)
    assert to_json(from_json(GroundingResult, to_json(result))) == to_json(result)


def test_results_of_earlier_versions_are_read() -> None:
    fields = to_json(measure_grounding(planted_run(perfect)))
    for name in ("unanswered", "where_answered", "risks", "repeats", "reading"):
        del fields[name]
    del fields["untouched"]["coverage"], fields["knowledge"]["suite"]
    for edit in fields["edits"]:
        for name in ("accepted", "still_supported", "became_wrong", "became_right", "net", "net_p"):
            del edit[name]
    model = from_json(ModelGrounding, fields)
    assert describe_grounding(model).startswith("It tells supported claims from others with 100 %")
    assert (model.reading, model.answered) == (None, model.untouched)


def test_metrics_of_suites_hold_the_numbers() -> None:
    suites = score_run(planted_run(ignores_numbers)).suites
    assert suites["grounding/number"].metrics["still called supported"].value == 1
    assert suites["grounding/number"].metrics["not rejected"].value == 1
    assert suites["grounding/rewritten"].metrics["verdict changed"].value == 0
    assert suites["grounding/claims"].metrics["balanced accuracy"].value == 1


def screen(model: ModelScores, **options: int) -> list[str]:
    lines = render_screen(scorecard(ScoresResult({"m": model}), **options), 100)
    return [re.sub("\x1b[^m]*m", "", line) for line in lines]


def test_one_screen_has_a_table_of_edits_instead_of_accuracies() -> None:
    lines = screen(score_run(planted_run(ignores_numbers)))
    assert len(lines) <= 40
    text = "\n".join(lines)
    assert re.search(r"number +240 +100 \(94–100\) +100 +52", text)
    assert re.search(r"other unsupported claims +120 +0 \(0–6\)", text)
    assert "accuracy  chance" not in text
    assert lines[-2:] == [
        "It tells supported claims from others with 100 % balanced accuracy (chance 50 %), and still calls",
        "100 % of claims with a changed number supported.",
    ]


def test_untouched_claims_alone_do_not_pass_for_a_clean_bill() -> None:
    lines = screen(score_run(planted_run(perfect, ("claims",))))
    assert "only edits show" in " ".join(lines)
    assert "no shortcut" not in " ".join(lines)


def test_several_models_stand_side_by_side_in_the_document() -> None:
    runs = [planted_run(scorer, ("claims", "number", "position")) for scorer in (perfect, ignores_numbers)]
    result = grounding(runs)
    document = STUDIES["grounding"].document(result)
    first = document.parts[0]
    assert isinstance(first, Table)
    assert [row.name for row in first.rows][-2:] == ["number", "position"]
    assert len(first.columns) == 2
    charts = [part for part in walk(document.parts) if isinstance(part, Chart)]
    assert {chart.table for chart in charts} <= set(tables(document))


def findings_of(scorers: Sequence[Scorer]) -> list[str]:
    return [finding.code for scorer in scorers for finding in score_run(planted_run(scorer)).diagnosis]


def careless(seed: int, recall: float = 1.0, passes: float = 0.2) -> Scorer:
    """Errors that have nothing to do with the claim: supported claims and all others have a rate each."""
    rng = np.random.default_rng(seed)

    def score(claim: AskedClaim) -> float:
        return 0.9 if rng.random() < (recall if claim.supported else passes) else 0.1

    return score


@pytest.mark.parametrize("recall", [1.0, 0.6])
def test_verdicts_by_chance_accuse_nobody_of_an_edit(recall: float) -> None:
    """Verifiers with the same error rate on every unsupported claim are not said to overlook an edit."""
    runs = [planted_run(careless(seed, recall), ("claims", *CHANGING)) for seed in range(12)]
    assert sum(bool(missed_edits(measure_grounding(run))) for run in runs) <= 1


def test_claims_of_rejected_originals_count_when_edits_are_compared_with_other_claims() -> None:
    def consistent(claim: AskedClaim) -> float:
        # A claim is called supported by a number of its own, whatever is edited: 70 % of all claims are, so that all
        # edits of accepted originals pass, and as many unsupported claims as edited ones.
        return 0.9 if key(claim.base_id or claim.id) / 2**64 < 0.7 else 0.1

    model = measure_grounding(planted_run(consistent, ("claims", *CHANGING)))
    assert effect(model, "number").still_supported.value == 1
    assert missed_edits(model) == []


def test_a_verifier_that_prefers_long_claims_is_not_blamed_for_causes_and_details() -> None:
    model = measure_grounding(planted_run(prefers_long_claims, ("claims", "partial", "cause", "lengthened")))
    assert effect(model, "cause").accepted.value == 1
    assert effect(model, "partial").accepted.value > 2 * model.untouched.false_support.value
    assert [(control.edit, control.claims) for control in model.length_controls] == [("partial", 120), ("cause", 120)]
    assert missed_edits(model) == []
    # Without claims that are as long, the run cannot show what length does, and the finding says so.
    alone = score_run(planted_run(prefers_long_claims, ("claims", "partial", "cause")))
    (said,) = [finding for finding in alone.diagnosis if finding.code == "V1"]
    assert "grounding/lengthened shows what length does" in said.evidence[0]


def test_invented_causes_are_found_if_claims_of_their_length_are_rejected() -> None:
    def accepts_causes(claim: AskedClaim) -> float:
        return 0.9 if claim.edit == "cause" else perfect(claim)

    model = score_run(planted_run(accepts_causes, ("claims", "partial", "cause", "lengthened")))
    (said,) = [finding for finding in model.diagnosis if finding.code == "V1"]
    assert said.suites == ("grounding/cause",)
    assert "; unsupported claims of the same length 0.0 % (" in said.evidence[0]
    text = "\n".join(screen(model))
    assert re.search(r"cause +240 +100 ", text)
    assert re.search(r"others as long as cause +120 +0 \(", text)


def test_errors_that_come_and_go_are_not_blamed_on_an_edit() -> None:
    runs = [planted_run(careless(seed, 0.85, 0.15), ("claims", *KEEPING)) for seed in range(8)]
    models = [measure_grounding(run) for run in runs]
    # A quarter of all verdicts change.
    assert all(effect(model, "rewritten").wrong.value > 0.15 for model in models)
    assert sum(bool(unstable_edits(model)) for model in models) <= 1


def noisy(seed: int, noise: float, *, lost: float = 0.0, turned: float = 0.0) -> Scorer:
    """Right but for ``noise``; rewritten claims lose ``lost`` points, and ``turned`` are wrong or right at random."""
    rng = np.random.default_rng(seed)

    def score(claim: AskedClaim) -> float:
        is_edited = claim.edit == "rewritten"
        wrong = rng.random() < noise + lost * is_edited
        if is_edited and rng.random() < turned:
            wrong = rng.random() < 0.5
        return 0.9 if claim.supported != wrong else 0.1

    return score


def test_an_edit_that_turns_verdicts_wrong_is_found_among_errors() -> None:
    model = measure_grounding(planted_run(noisy(3, 0.15, lost=0.15), ("claims", *KEEPING)))
    ((edit, size),) = unstable_edits(model)
    assert edit.edit == "rewritten"
    assert size.value == pytest.approx(edit.became_wrong.value - edit.became_right.value)
    assert edit.net_p < 0.01


def test_without_gold_verdicts_that_an_edit_turns_one_way_are_found() -> None:
    def refuses_rewritten(claim: AskedClaim) -> float:
        return 0.9 if claim.draw < (0.4 if claim.edit == "rewritten" else 0.7) else 0.1

    model = measure_grounding(planted_run(refuses_rewritten, KEEPING, gold=False))
    assert [edit.edit for edit, _ in unstable_edits(model)] == ["rewritten"]


def test_a_text_evaluated_twice_shows_what_changes_without_an_edit() -> None:
    # Rewritten claims are answered at random half of the time: as many become right as wrong, at an error rate of 50 %.
    def unsure(lost: float) -> ModelGrounding:
        return measure_grounding(planted_run(noisy(5, 0.1, turned=lost), ("claims", *KEEPING)))

    model = unsure(0.8)
    assert model.repeats.value == pytest.approx(2 * 0.1 * 0.9, abs=0.06)
    assert [edit.edit for edit, _ in unstable_edits(model)] == ["rewritten"]
    # A run of acidtest has one prediction for a text; that it never differs from itself shows nothing.
    assert not measure_grounding(planted_run(unsteady)).repeats.known


def test_findings_about_knowledge_carry_its_suite_and_are_in_the_headline() -> None:
    # The suite on conflicts comes first.
    run = planted_run(knows_the_world, ("claims", "number", "conflicts", "knowledge"))
    cards = dict(sorted(run.header.suites.items(), key=lambda item: item[0] == "grounding/knowledge"))
    model = score_run(Run(replace(run.header, suites=cards), run.frame))
    (said,) = [finding for finding in model.diagnosis if finding.code == "V6"]
    assert said.suites == ("grounding/knowledge",)
    assert "follows the world against the document on 100 % of claims" in describe_model(model)
    assert "the world" not in describe_model(score_run(planted_run(perfect)))


def test_where_a_verifier_stops_reading_is_found_and_covered() -> None:
    model = score_run(planted_run(reads_100_words))
    assert model.grounding is not None
    limit = model.grounding.reading
    assert limit is not None
    assert limit.words.low <= 100 <= limit.words.high
    assert limit.words.high - limit.words.low < 60
    assert (limit.before.value, limit.beyond.value) == (1, 0)
    assert model.diagnosis[0].code == "V9"
    assert "appears to stop reading after about" in describe_model(model)


def distracted(claim: AskedClaim) -> float:
    """Perfect in documents of up to 200 words, and answers no in longer ones wherever the evidence is."""
    return perfect(claim) if claim.words <= 200 else 0.1


@pytest.mark.parametrize("scorer", [perfect, distracted, careless(1, 0.8), random, constant])
def test_a_verifier_that_reads_all_is_not_said_to_stop(scorer: Scorer) -> None:
    assert measure_grounding(planted_run(scorer, ("claims", "position", "padding"))).reading is None


def test_a_score_at_the_threshold_does_not_exceed_it_whoever_gives_the_threshold() -> None:
    # 0.8 in single precision is a little more than 0.8 in double precision.
    def round_scores(claim: AskedClaim) -> float:
        return 0.8 if claim.supported else 0.9

    by_run = measure_grounding(planted_run(round_scores, ("claims",), settings={"collapse": "threshold=0.8"}))
    by_user = measure_grounding(planted_run(round_scores, ("claims",)), threshold=0.8)
    assert by_run.untouched.recall.value == by_user.untouched.recall.value == 0
    assert by_user.untouched.false_support.value == 1


def test_other_suites_of_a_run_do_not_change_what_is_chosen_on_untouched_claims() -> None:
    def scores(claim: AskedClaim) -> float:
        return (0.35 if claim.supported else 0.0) + 0.65 * claim.draw

    alone = measure_grounding(planted_run(scores, ("claims",), documents=15))
    others = measure_grounding(planted_run(scores, documents=15))
    assert others.rule == alone.rule
    assert others.untouched == alone.untouched
    # Documents that no untouched claim is about must not move others into the other half.
    run = planted_run(scores, documents=15)
    assert isinstance(run.frame, pl.DataFrame)
    is_other = pl.col("suite").is_in(["grounding/knowledge", "grounding/conflicts"])
    groups = pl.when(is_other).then("k" + pl.col("group")).otherwise("group")
    renamed = measure_grounding(Run(run.header, run.frame.with_columns(group=groups)))
    assert renamed.documents == 30
    assert (renamed.rule, renamed.untouched) == (alone.rule, alone.untouched)


def test_ties_that_argmax_calls_supported_are_counted() -> None:
    def half(claim: AskedClaim) -> float:
        return 0.5 if claim.id.endswith("-0") else perfect(claim)

    model = measure_grounding(planted_run(half, ("claims", "number"), resolution="two-way"))
    assert (model.untouched.tied, model.untouched.answered) == (60, 360)
    said = "60 of 360 claims have the same score for supported and not: argmax calls them supported, --threshold 0.5"
    run = planted_run(half, ("claims", "number"), resolution="two-way")
    assert said in " ".join(screen(score_run(run)))
    assert measure_grounding(run, threshold=0.5).untouched.tied == 0
    assert "same score" not in " ".join(screen(score_run(planted_run(perfect))))


def test_without_gold_the_share_called_supported_is_that_of_untouched_claims() -> None:
    run = planted_run(perfect, ("claims", "number"), gold=False, documents=10)
    assert isinstance(run.frame, pl.DataFrame)
    names = run.frame.select("suite", "id").iter_rows()
    # A fifth of the untouched claims and all edited ones are called supported.
    seen = {f"{suite} {name}": 0.9 for suite, name in names if suite == "grounding/number" or int(name[0]) in (0, 1)}
    model = measure_grounding(scored(run, seen))
    assert model.untouched.called_supported == pytest.approx(12 / 60)
    assert describe_grounding(model).startswith("It calls 20 % of untouched claims supported")
    assert describe_model(score_run(scored(run, seen))) == describe_grounding(model)


def test_one_verdict_that_would_change_is_singular() -> None:
    model = score_run(planted_run(perfect, ("claims",)))
    suites = {name: replace(result, collapse_differs=1) for name, result in model.suites.items()}
    document = describe_scores(ScoresResult({"m": replace(model, suites=suites)}))
    notes = [part.text for part in walk(document.parts) if isinstance(part, Note)]
    assert "1 verdict would change if probabilities were collapsed another way." in notes


def nearly_random(claim: AskedClaim) -> float:
    """Random, but for one claim in twelve."""
    return perfect(claim) if claim.draw * 1000 % 1 < 0.08 else random(claim)


@pytest.mark.parametrize(
    ("scorer", "documents", "sentence"),
    [
        (nearly_random, 60, r"It is near chance on untouched claims \(55 % balanced accuracy, 49–60\)\."),
        (badly_placed, 60, r"It is near chance on untouched claims at argmax \(53 % .*\), but not above 0.9 .*"),
        (perfect, 3, r"Too few untouched claims to say whether it tells .* \(18 claims: 100 % .*\)\."),
        (turned_round, 60, r"It does worse than guessing on untouched claims \(0 % balanced accuracy, .*"),
        (unsteady, 60, r"It tells supported claims from others .*, and changes 61 % of verdicts when numbers, .*"),
    ],
)
def test_the_headline_says_tells_only_of_a_verifier_surely_above_chance(
    scorer: Scorer, documents: int, sentence: str
) -> None:
    suites = ("claims", "number", "rewritten")
    assert re.fullmatch(sentence, describe_model(score_run(planted_run(scorer, suites, documents=documents))))


def test_the_headline_names_no_edit_from_a_few_pairs() -> None:
    run = planted_run(perfect, ("claims", "number"), documents=20)
    assert isinstance(run.frame, pl.DataFrame)
    # Three numbers were edited, and all three pass.
    is_edited = pl.col("suite") == "grounding/number"
    few = run.frame.filter(~is_edited | pl.col("id").is_in(["0-0-number", "1-0-number", "2-0-number"]))
    passed = {f"grounding/number {n}-0-number": 0.9 for n in range(3)}
    model = score_run(scored(Run(run.header, few), passed))
    assert model.grounding is not None
    assert effect(model.grounding, "number").wrong.value == 1
    assert "changed number" not in describe_model(model)
    text = "\n".join(screen(model))
    assert "More that change gold, called supported: too few: number." in text
    assert not re.search(r"^number ", text, re.M)


def test_few_documents_are_said_once() -> None:
    text = "\n".join(screen(score_run(planted_run(perfect, documents=8))))
    assert text.count("8 documents: most edits are too few to judge.") == 1
    assert "too few to judge" not in "\n".join(screen(score_run(planted_run(perfect, documents=10))))


def test_findings_that_do_not_fit_are_counted() -> None:
    model = score_run(planted_run(unsteady))
    worse = replace(model, diagnosis=model.diagnosis[:1] * 3)
    assert "and 1 more: --full" in screen(worse, findings=2)
    assert "--full" not in " ".join(screen(worse, findings=3))


def test_precision_in_service_is_one_line_of_the_screen() -> None:
    run = planted_run(perfect, settings={"base_rate": 0.1})
    line = "Where 10 % of claims are unsupported: right if called supported 100 % (99–100), if not 100 % (78–100)."
    assert line in " ".join(screen(score_run(run)))


def test_suites_that_are_not_made_from_the_users_file_are_named() -> None:
    run = planted_run(perfect)
    own = {name: replace(card, arguments={"from": "mine"}) for name, card in run.header.suites.items()}
    own["grounding/knowledge"] = run.header.suites["grounding/knowledge"]
    mine = Run(replace(run.header, suites=own), run.frame)
    assert "grounding/knowledge is made from our own documents, not from your file." in screen(score_run(mine))
    assert "your file" not in " ".join(screen(score_run(run)))


def test_auc_is_never_a_percentage() -> None:
    result = grounding([planted_run(generous), planted_run(perfect)])
    found = tables(STUDIES["grounding"].document(result)).values()
    rows = [(row, table) for table in found for row in table.rows if "AUC" in (row.name + table.caption)]
    assert rows
    assert all(table.columns[0].unit == "decimal" for _, table in rows)
    claims_only = screen(score_run(planted_run(generous, ("claims",))))
    assert re.search(r"untouched claims +360 .* (0\.\d{3}|1\.000) ", "\n".join(claims_only))
