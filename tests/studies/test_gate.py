"""The gate: which rows are paired, what each slice decides, and what follows, on runs whose losses are planted."""

import math
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.run import Header, ModelFacts, Run
from acidtest.core.study import STUDIES
from acidtest.core.suite import Card
from acidtest.io.baselines import read_baseline_file, write_baseline_file
from acidtest.render.terminal import render
from acidtest.stats.noninferiority import equal_passes
from acidtest.studies.gate.pairing import GateInput, baseline_of, gate_input, pair_sides
from acidtest.studies.gate.policy import (
    LEAST_ROWS,
    MOST_MARGIN,
    CueRule,
    EditRule,
    FloorRule,
    GatePolicy,
    PolicyDefaults,
    SliceRule,
    default_margin,
)
from acidtest.studies.gate.result import CheckKind, GateState, GateTier

gate = STUDIES["gate"].compute
LABELS = ("entailment", "non-entailment")


def make_run(right, *, model="release", subcase=None, groups=None, suite="toy", version=1, seed=0, **settings):
    """A run on pairs of two labels in turn, right where flagged; subcases are of twenty rows unless given."""
    right = np.asarray(right, dtype=bool)
    n = len(right)
    label = np.array(LABELS)[np.arange(n) % 2]
    entails = (label == "entailment") == right
    frame = pl.DataFrame(
        {
            "suite": [suite] * n,
            "id": [f"{suite}-{number}" for number in range(n)],
            "premise": [f"Premise {number}." for number in range(n)],
            "hypothesis": [f"Hypothesis {number}." for number in range(n)],
            "label": label,
            "group": [str(group) for group in (np.arange(n) if groups is None else groups)],
            "subcase": [str(part) for part in (np.arange(n) // 20 if subcase is None else subcase)],
            "p_entailment": np.where(entails, 0.9, 0.1),
            "p_neutral": np.where(entails, 0.05, 0.8),
            "p_contradiction": np.where(entails, 0.05, 0.1),
            "answer": np.where(entails, "entailment", "neutral"),
            "correct": right,
        }
    )
    card = Card(suite, version=version, seed=seed, columns={"subcase": "factor"}, strata=("subcase",), rows=n)
    return Run(Header(ModelFacts(f"python:{model}", model), {suite: card}, {"limit": None, **settings}), frame)


def two_suites(run, other):
    """One run on the suites of two."""
    frame = pl.concat([run.predictions, other.predictions], how="diagonal")
    return Run(replace(run.header, suites={**run.header.suites, **other.header.suites}), frame)


def wrong_at(n, places):
    """All right but at some places."""
    right = np.ones(n, dtype=bool)
    right[np.asarray(places, dtype=int)] = False
    return right


def checks_of(result, number=0):
    return {check.name: check for check in result.comparisons[number].checks}


def test_a_model_whose_predictions_change_under_one_fingerprint_is_remarked_on():
    def fingerprinted(right):
        run = make_run(right)
        return replace(run, header=replace(run.header, model=replace(run.header.model, fingerprint="0123456789abcdef")))

    first, second = fingerprinted(wrong_at(1000, range(100))), fingerprinted(wrong_at(1000, range(10, 107)))
    (note,) = gate(first, second).comparisons[0].notes
    # 10 predictions became right and 7 wrong.
    assert note.startswith("Both sides are the same model (fingerprint 0123456789ab), but at least 17 predictions")
    assert gate(first, first).comparisons[0].notes == ()
    assert gate(make_run(wrong_at(1000, range(100))), second).comparisons[0].notes == ()


def test_an_unchanged_model_passes_and_the_margin_is_printed():
    run = make_run(wrong_at(1000, range(100)))
    result = gate(run, run)
    assert result.state is GateState.PASS
    check = checks_of(result)["toy"]
    assert (check.tier, check.rows, check.effective_rows) == (GateTier.REQUIRED, 1000, 1000)
    # 105/√1000 = 3.32 points.
    assert check.margin == pytest.approx(1.05 / math.sqrt(1000))
    assert "shown to lose less than the margin (3.3 points)" in result.headline
    text = "\n".join(render(STUDIES["gate"].document(result), 100, full=False))
    assert re.search(r"toy .* 3\.3 ", text)
    label = checks_of(result)["toy:label=entailment"]
    assert (label.tier, label.margin) == (GateTier.FAIL_ONLY, 0.02)


def test_the_default_margin_is_the_documented_one():
    # 2.7 points for 1,500 rows, 5.9 for the 320 effective rows of cues, between 2 and 10.
    assert [round(100 * float(default_margin(n)), 1) for n in (1500, 320, 15_000, 50)] == [2.7, 5.9, 2.0, 10.0]
    assert default_margin(LEAST_ROWS) == MOST_MARGIN


def lost_documents(rows, documents, lost, **facts):
    """Rows in documents of equal size, right but for all rows of the first ones."""
    document = np.arange(rows) % documents
    return make_run(document >= lost, groups=document, subcase=["all"] * rows, **facts)


@pytest.mark.parametrize(("documents", "lost"), [(100, 5), (150, 7), (300, 12)])
def test_documents_lost_whole_keep_a_candidate_from_passing(documents, lost):
    # 4 to 5 % of the documents are lost; that more than the margin is lost cannot be ruled out.
    other = make_run(np.ones(2000), suite="other")
    release = two_suites(lost_documents(3000, documents, 0), other)
    result = gate(release, two_suites(lost_documents(3000, documents, lost), other))
    check = checks_of(result)["toy"]
    assert (check.tier, check.effective_rows) == (GateTier.REQUIRED, documents)
    assert check.margin == pytest.approx(min(0.1, 1.05 / math.sqrt(documents)))
    assert check.loss.value == pytest.approx(lost / documents)
    assert check.state is GateState.UNDECIDED
    assert result.state is GateState.UNDECIDED


def test_fewer_documents_are_not_required_and_the_pass_says_so():
    other = make_run(np.ones(2000), suite="other")
    release = two_suites(lost_documents(3000, 99, 0), other)
    result = gate(release, two_suites(lost_documents(3000, 99, 5), other))
    assert result.state is GateState.PASS
    assert result.headline.endswith("fewer than 100 effective rows), so this pass does not cover: toy.")
    alone = gate(lost_documents(3000, 99, 0), lost_documents(3000, 99, 5))
    assert alone.state is GateState.UNDECIDED


def test_tier_margin_and_effective_rows_do_not_depend_on_predictions():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 200, 3000)
    before = make_run(np.ones(3000), groups=groups)
    plans = set()
    for share in (0.0, 0.02, 0.3, 1.0):
        after = make_run((rng.random(200) >= share)[groups], groups=groups)
        checks = checks_of(gate(before, after))
        plans.add(tuple(sorted((name, c.tier, c.margin, c.effective_rows) for name, c in checks.items())))
    assert len(plans) == 1


def test_suites_too_small_to_be_required_are_named_by_a_pass():
    small = make_run(np.ones(90), suite="small")
    result = gate(two_suites(make_run(np.ones(1000)), small), two_suites(make_run(np.ones(1000)), small))
    assert result.state is GateState.PASS
    assert result.headline.endswith(
        "Too small to be required (fewer than 100 effective rows), so this pass does not cover: small."
    )
    assert checks_of(result)["small"].tier is GateTier.FAIL_ONLY


def test_a_pass_names_losses_within_the_margin():
    # 20 of 1,000 pairs are lost and none is gained: 2.0 points, significant, with a margin of 3.3.
    result = gate(make_run(np.ones(1000)), make_run(wrong_at(1000, range(3, 1000, 50))))
    assert result.state is GateState.PASS
    loss = checks_of(result)["toy"].loss
    assert loss.low > 0.01
    bounds = f"{100 * loss.low:.1f} to {100 * loss.high:.1f}"
    assert f"Within its margin, toy loses 2.0 points ({bounds})." in result.headline
    # 3 of 1,000 may be chance.
    assert (
        "Within its margin" not in gate(make_run(np.ones(1000)), make_run(wrong_at(1000, range(3, 150, 50)))).headline
    )


def test_the_screen_shows_the_disagreement_and_the_chance_of_an_equal_model():
    before, after = wrong_at(1000, range(50)), wrong_at(1000, range(50, 100))
    result = gate(make_run(before), make_run(after, model="candidate"))
    comparison = result.comparisons[0]
    assert comparison.disagreement == pytest.approx(0.1)
    assert comparison.equal_passes == pytest.approx(equal_passes(0.1, 1000, 1.05 / math.sqrt(1000)))
    text = " ".join("\n".join(render(STUDIES["gate"].document(result), 100, full=False)).split())
    assert "Exactly one of the two models is right on 10.0 % of the rows of required slices." in text
    assert f"passes in about {100 * comparison.equal_passes:.0f} % of cases" in text


def test_ten_agreeing_pairs_are_undecided_and_say_how_many_would_decide():
    run = make_run(np.ones(10))
    result = gate(run, run, policy=GatePolicy().with_margin(2))
    assert result.state is GateState.UNDECIDED
    check = checks_of(result)["toy"]
    assert check.tier is GateTier.REQUIRED
    assert check.pairs_needed == 149
    assert "about 149 pairs would decide it if nothing is lost" in check.reason


def test_a_slice_with_rows_enough_is_not_said_to_need_fewer():
    # A loss of 1.8 points in 3,000 rows is too near the margin of 2; an equal model would need far fewer rows.
    result = gate(make_run(np.ones(3000)), make_run(wrong_at(3000, range(0, 3000, 55))))
    assert checks_of(result)["toy"].pairs_needed < 3000
    assert result.headline == (
        "Undecided: 1 of 1 required checks is not decided: toy; it has enough pairs, but its loss is near the margin."
    )


def test_runs_too_small_for_any_required_slice_are_undecided():
    run = make_run(np.ones(90))
    result = gate(run, run)
    assert result.state is GateState.UNDECIDED
    assert "no slice is required" in result.headline
    assert all(check.tier is GateTier.FAIL_ONLY for check in checks_of(result).values())


def test_a_loss_in_one_subcase_fails_though_the_suite_passes():
    subcase = np.arange(3000) // 100
    # Twenty points of the first subcase are lost, and as many rows are won elsewhere.
    before = wrong_at(3000, range(1000, 1020))
    after = wrong_at(3000, range(20))
    result = gate(make_run(before, subcase=subcase), make_run(after, model="candidate", subcase=subcase))
    checks = checks_of(result)
    assert result.state is GateState.FAIL
    assert result.headline.startswith("Fail: toy:subcase=0 lost 20.0 points")
    assert checks["toy"].state is GateState.PASS
    assert checks["toy:subcase=0"].tier is GateTier.FAIL_ONLY
    assert [check.name for check in result.comparisons[0].checks if check.state is GateState.FAIL] == ["toy:subcase=0"]
    assert checks["toy:subcase=0"].p_adjusted <= 0.05
    # The suite, 30 subcases and two labels may fail.
    assert checks["toy:subcase=0"].p_adjusted == pytest.approx(33 * checks["toy:subcase=0"].p)


def test_subcases_never_keep_a_model_from_passing():
    before, after = wrong_at(3000, []), wrong_at(3000, [3, 7])
    subcase = np.arange(3000) // 100
    result = gate(make_run(before, subcase=subcase), make_run(after, subcase=subcase))
    assert result.state is GateState.PASS
    assert checks_of(result)["toy:subcase=0"].state is GateState.UNDECIDED


def test_subcases_of_few_groups_are_not_tested():
    run = make_run(np.ones(400), subcase=np.arange(400) // 10)
    assert not [name for name in checks_of(gate(run, run)) if "subcase" in name]


def test_with_a_margin_every_suite_is_required_whatever_its_size():
    run = make_run(np.ones(90), subcase=["all"] * 90)
    checks = checks_of(gate(run, run, policy=GatePolicy().with_margin(12)))
    assert {check.margin for check in checks.values()} == {0.12}
    assert [name for name, check in checks.items() if check.tier is GateTier.REQUIRED] == ["toy"]
    assert set(checks) == {"toy", "toy:subcase=all", *(f"toy:label={label}" for label in LABELS)}


def test_named_slices_are_the_only_ones_and_required():
    run = make_run(np.ones(2000))
    result = gate(run, run, slices=("toy", "toy:subcase=*1"))
    assert {check.tier for check in checks_of(result).values()} == {GateTier.REQUIRED}
    assert set(checks_of(result)) == {"toy", *(f"toy:subcase={number}" for number in range(1, 100, 10))}


def test_a_named_slice_that_is_not_there_is_a_mistake():
    run = make_run(np.ones(40))
    with pytest.raises(UnknownNameError, match="no slice called 'toy:subcases=1'; did you mean 'toy:subcase=1'"):
        gate(run, run, slices=("toy:subcases=1",))


def test_groups_lower_the_number_of_effective_rows():
    groups = np.arange(1000) // 10
    run = make_run(np.ones(1000), groups=groups)
    check = checks_of(gate(run, run))["toy:label=entailment"]
    assert check.groups == 100
    assert check.effective_rows == pytest.approx(100)


def test_abstentions_count_as_wrong():
    run = make_run(np.ones(400))
    silent = pl.when(pl.col("id").str.ends_with("7"))
    answers = [silent.then(math.nan).otherwise(pl.col(f"p_{name}")).alias(f"p_{name}") for name in PROBABILITIES]
    quiet = Run(run.header, run.predictions.with_columns(*answers))
    check = checks_of(gate(run, quiet))["toy:label=non-entailment"]
    # Ids that end in 7 are odd, and odd rows are not entailed: 40 of 200.
    assert check.loss.value == pytest.approx(0.2)


PROBABILITIES = ("entailment", "neutral", "contradiction")


def test_rows_of_another_pair_under_the_same_id_are_not_compared_and_it_is_said():
    run = make_run(np.ones(400))
    other = run.predictions.with_columns(
        premise=pl.when(pl.col("id") == "toy-5").then(pl.lit("Another.")).otherwise("premise")
    )
    result = gate(run, Run(run.header, other))
    assert "1 rows of the baseline and 1 of the candidate" in result.comparisons[0].notes[0]
    assert checks_of(result)["toy:label=non-entailment"].rows == 199
    assert result.state is GateState.UNDECIDED


def test_a_candidate_evaluated_only_on_rows_it_gets_right_does_not_pass(tmp_path):
    right = np.random.default_rng(1).random(3000) < 0.6
    release, candidate = make_run(np.ones(3000)), make_run(right, model="candidate")
    chosen = Run(candidate.header, candidate.predictions.filter("correct"))
    file = write_baseline_file(baseline_of(release), tmp_path / "release.acidtest")
    for baseline in (release, file):
        result = gate(baseline, chosen)
        check = checks_of(result)["toy"]
        assert (check.state, check.missing_rows) == (GateState.UNDECIDED, 3000 - right.sum())
        assert f"the candidate lacks {3000 - right.sum():,} rows that the baseline has" in check.reason
        assert result.state is GateState.UNDECIDED
        assert "allow_missing_rows" in result.headline
        assert {check.state for check in result.comparisons[0].checks} == {GateState.UNDECIDED}
    allowed = GatePolicy(PolicyDefaults(allow_missing_rows=True))
    assert gate(release, chosen, policy=allowed).state is GateState.PASS
    floor = gate(release, chosen, policy=GatePolicy(floors=(FloorRule("toy", 60.0),)))
    assert {check.state for check in floor.comparisons[0].checks} == {GateState.UNDECIDED}
    # A loss on the rows that both have is one all the same.
    worse = Run(candidate.header, candidate.predictions.head(2000))
    assert gate(release, worse).state is GateState.FAIL


@pytest.mark.parametrize("file", [False, True])
def test_a_suite_stays_required_if_the_candidate_lacks_rows_of_it(tmp_path, file):
    # 150 rows are required; the 80 that the candidate has would not be.
    whole, small = make_run(np.ones(3000)), make_run(np.ones(150), suite="small")
    before = two_suites(whole, small)
    after = two_suites(whole, make_run(np.ones(80), suite="small"))
    baseline = write_baseline_file(baseline_of(before), tmp_path / "a") if file else before
    result = gate(baseline, after)
    check = checks_of(result)["small"]
    assert (check.tier, check.state, check.missing_rows) == (GateTier.REQUIRED, GateState.UNDECIDED, 70)
    assert check.margin == default_margin(150)
    assert result.state is GateState.UNDECIDED
    assert result.headline.startswith("Undecided: 1 of 2 required checks is not decided: small")
    allowed = gate(baseline, after, policy=GatePolicy(PolicyDefaults(allow_missing_rows=True)))
    assert allowed.state is GateState.PASS
    assert "so this pass does not cover: small" in allowed.headline


def test_rows_missing_from_one_label_leave_the_other_decided():
    release = make_run(np.ones(3000))
    fewer = Run(
        release.header, release.predictions.filter((pl.col("label") == "entailment") | (pl.col("id") > "toy-2"))
    )
    checks = checks_of(gate(release, fewer))
    assert checks["toy:label=entailment"].state is GateState.PASS
    assert checks["toy:label=non-entailment"].state is GateState.UNDECIDED
    assert checks_of(gate(fewer, release))["toy"].state is GateState.PASS


def test_a_required_suite_that_is_missing_is_undecided_with_rules_too():
    shared = make_run(np.ones(400))
    both = two_suites(shared, make_run(np.ones(40), suite="more"))
    for rules in ((SliceRule("*"),), (SliceRule("*:label=*"),)):
        result = gate(both, shared, policy=GatePolicy(slices=rules))
        assert checks_of(result)["more"].state is GateState.UNDECIDED
        assert result.state is GateState.UNDECIDED
    rules = (SliceRule("more*", "advisory"), SliceRule("*"))
    assert "more" not in checks_of(gate(both, shared, policy=GatePolicy(slices=rules)))


def test_other_versions_seeds_and_suites_are_not_compared_and_it_is_said():
    run, other = make_run(np.ones(400)), make_run(np.ones(400), suite="more")
    newer = make_run(np.ones(400), suite="more", version=2)
    result = gate(two_suites(run, other), two_suites(run, newer))
    assert result.comparisons[0].notes == (
        "more: version 1 and version 2 of the suite are not compared; ask the baseline's model again",
    )
    alone = gate(two_suites(run, other), run)
    assert alone.comparisons[0].notes == ("only the baseline has more: not compared",)
    with pytest.raises(AcidtestError, match="share no row to compare: only the baseline has toy"):
        gate(run, other)


def test_runs_of_different_collapse_are_refused():
    run = make_run(np.ones(40))
    with pytest.raises(AcidtestError, match="different --collapse: release with argmax, release with sum"):
        gate(run, make_run(np.ones(40), collapse="sum"))


def test_controls_with_the_same_rows_are_compared_once():
    run, one, two = (make_run(np.ones(400), suite=name) for name in ("a", "a#control", "b#control"))
    same = two.predictions.with_columns(pl.col("id").str.replace("b#control", "a#control"))
    both = two_suites(two_suites(run, one), Run(two.header, same))
    assert [suite.name for suite in pair_sides(gate_input(both), gate_input(both)).suites] == ["a", "a#control"]


def test_rows_that_accept_every_answer_decide_nothing():
    run = make_run(np.ones(800))
    open_ended = run.predictions.with_columns(
        pl.when(pl.col("label") == "entailment").then(pl.lit("any")).otherwise("label").alias("label")
    )
    (suite,) = pair_sides(*2 * (gate_input(Run(run.header, open_ended)),)).suites
    assert len(suite.after) == 400
    nothing = Run(run.header, open_ended.with_columns(label=pl.lit("any")))
    with pytest.raises(AcidtestError, match="toy: every answer counts as right, so that nothing is compared"):
        pair_sides(gate_input(nothing), gate_input(nothing))


def test_an_anchor_catches_losses_that_add_up():
    anchor = make_run(wrong_at(3000, []), model="first")
    last = make_run(wrong_at(3000, range(0, 100, 2)), model="last")
    candidate = make_run(wrong_at(3000, range(0, 180, 2)), model="candidate")
    assert gate(last, candidate, policy=GatePolicy().with_margin(4)).state is GateState.PASS
    result = gate(last, candidate, policy=GatePolicy().with_margin(4), anchor=anchor)
    assert [comparison.state for comparison in result.comparisons] == [GateState.PASS, GateState.FAIL]
    assert result.state is GateState.FAIL
    assert "Against first, the anchor." in result.headline


def test_failing_is_corrected_over_both_comparisons():
    one, two = make_run(np.ones(600)), make_run(wrong_at(600, range(0, 60, 2)))
    alone, both = gate(one, two), gate(one, two, anchor=one)
    name = "toy:label=entailment"
    assert checks_of(both, 1)[name].p == checks_of(alone)[name].p
    assert checks_of(both)[name].p_adjusted > checks_of(alone)[name].p_adjusted


def test_a_baseline_file_decides_as_the_run_does(tmp_path):
    before, after = make_run(wrong_at(900, range(50))), make_run(wrong_at(900, range(0, 60, 3)), model="new")
    file = write_baseline_file(baseline_of(before), tmp_path / "release.acidtest")
    with_run, with_file = gate(before, after), gate(file, after)
    assert with_file.comparisons[0].checks == with_run.comparisons[0].checks
    pair = with_file.comparisons[0].newly_wrong[0]
    assert pair.answers["release"] == "right"
    assert pair.premise.startswith("Premise")


def test_two_baseline_files_compare_labels_and_keep_groups(tmp_path):
    run = make_run(np.ones(2000), groups=np.arange(2000) // 4)
    file = write_baseline_file(baseline_of(run), tmp_path / "release.acidtest")
    result = gate(file, file)
    assert {check.name for check in result.comparisons[0].checks} == {
        "toy",
        *(f"toy:label={label}" for label in LABELS),
    }
    assert checks_of(result)["toy:label=entailment"].effective_rows == pytest.approx(500)
    assert "need a run folder" in result.comparisons[0].notes[0]
    assert result.comparisons[0].newly_wrong == ()


def test_a_two_way_candidate_needs_the_run_of_a_three_way_baseline(tmp_path):
    run = make_run(np.ones(400))
    neutral = Run(run.header, run.predictions.with_columns(label=pl.col("label").str.replace("non-.*", "neutral")))
    file, whole = (
        write_baseline_file(baseline_of(side), tmp_path / name) for side, name in ((neutral, "a"), (run, "b"))
    )
    three_way, two_way = (
        Run(replace(side.header, model=replace(side.header.model, resolution="two-way")), side.frame)
        for side in (neutral, run)
    )
    with pytest.raises(AcidtestError, match="holds verdicts on toy by three labels, and two are compared"):
        gate(file, three_way)
    assert gate(neutral, three_way).state is GateState.PASS
    # If gold is never neutral or contradiction alone, both ways to judge are the same.
    assert gate(whole, two_way).state is GateState.PASS


def test_rules_of_a_policy_say_what_slices_decide():
    before, after = make_run(np.ones(2000)), make_run(wrong_at(2000, range(0, 200, 2)))
    rules = (SliceRule("toy:label=entailment", "advisory"), SliceRule("toy:label=*", margin=3.0))
    result = gate(before, after, policy=GatePolicy(slices=(*rules, SliceRule("*", "advisory"))))
    checks = checks_of(result)
    assert {name for name, check in checks.items() if check.tier is not GateTier.ADVISORY} == {
        "toy:label=non-entailment"
    }
    assert checks["toy:label=entailment"].state is GateState.FAIL
    assert checks["toy:label=non-entailment"].margin == pytest.approx(0.03)
    assert result.state is GateState.PASS


def test_slices_that_no_rule_matches_can_still_fail():
    before, after = make_run(np.ones(2000)), make_run(wrong_at(2000, range(0, 200, 2)))
    result = gate(before, after, policy=GatePolicy(slices=(SliceRule("toy:label=non-entailment", margin=3.0),)))
    checks = checks_of(result)
    assert [check.name for check in checks.values() if check.tier is GateTier.REQUIRED] == ["toy:label=non-entailment"]
    assert checks["toy:label=entailment"].tier is GateTier.FAIL_ONLY
    assert checks["toy:label=entailment"].state is GateState.FAIL
    assert result.state is GateState.FAIL
    named = gate(before, after, slices=("toy:label=non-entailment",))
    assert set(checks_of(named)) == {"toy:label=non-entailment"}


def test_a_rule_for_an_unknown_factor_suggests_the_nearest():
    run = make_run(np.ones(2000))
    result = gate(run, run, policy=GatePolicy(slices=(SliceRule("toy:labl=*"),)))
    assert "did you mean 'toy:label=*'?" in result.headline


def test_a_rule_that_matches_nothing_fails():
    run = make_run(np.ones(2000))
    result = gate(run, run, policy=GatePolicy(slices=(SliceRule("toy:label=*"), SliceRule("hans:*"))))
    assert result.state is GateState.FAIL
    assert result.headline == "Fail: hans:* matches no slice that both sides have."
    assert checks_of(result)["hans:*"].rows == 0


@pytest.mark.parametrize("policy", [GatePolicy(slices=(SliceRule("toy:lable=entailment"),)), None])
def test_a_mistyped_slice_of_a_rule_fails_and_the_nearest_is_suggested(policy):
    run = make_run(np.ones(2000))
    result = gate(run, run, policy=policy or GatePolicy(floors=(FloorRule("toy:lable=entailment", 60.0),)))
    assert result.state is GateState.FAIL
    reason = "matches no slice that both sides have; did you mean 'toy:label=entailment'?"
    assert result.headline == f"Fail: toy:lable=entailment {reason}"


def test_a_suite_of_the_baseline_without_a_row_in_common_keeps_the_gate_from_passing():
    shared = make_run(np.ones(400))
    for other in (make_run(np.ones(40), suite="more"), make_run(np.ones(40), suite="more", version=2)):
        candidate = shared if other.header.suites["more"].version == 1 else two_suites(shared, other)
        result = gate(two_suites(shared, make_run(np.ones(40), suite="more")), candidate)
        assert result.state is GateState.UNDECIDED
        assert result.headline == "Undecided: more has no row in common: same suites, limit and seed?"
        check = checks_of(result)["more"]
        assert (check.tier, check.state, check.rows) == (GateTier.REQUIRED, GateState.UNDECIDED, 0)
        assert checks_of(result)["toy:label=entailment"].state is GateState.PASS
        text = "\n".join(render(STUDIES["gate"].document(result), 100, full=False))
        assert "more" in text
    other_rows = Run(
        shared.header, two_suites(shared, other).predictions.with_columns(id=pl.col("id").str.replace("more", "other"))
    )
    both = two_suites(shared, make_run(np.ones(40), suite="more"))
    moved = gate(both, Run(both.header, other_rows.predictions))
    assert checks_of(moved)["more"].reason == "no row in common; were other seeds, options or corpora used?"
    assert moved.state is GateState.UNDECIDED


def test_suites_of_the_candidate_alone_are_a_note():
    shared = make_run(np.ones(400))
    result = gate(shared, two_suites(shared, make_run(np.ones(40), suite="more")))
    assert result.state is GateState.PASS
    assert result.comparisons[0].notes == ("only the candidate has more: not compared",)


def test_named_slices_and_rules_ask_nothing_of_other_suites():
    shared = make_run(np.ones(400))
    both = two_suites(shared, make_run(np.ones(40), suite="more"))
    assert gate(both, shared, slices=("toy:label=*",)).state is GateState.PASS
    assert gate(both, shared, policy=GatePolicy(slices=(SliceRule("toy:label=*"),))).state is GateState.PASS


def test_a_failing_gate_also_names_suites_that_are_not_compared():
    before, after = make_run(np.ones(2000)), make_run(wrong_at(2000, range(0, 1000, 2)))
    result = gate(two_suites(before, make_run(np.ones(40), suite="more")), after)
    assert result.state is GateState.FAIL
    assert "more has no row in common: same suites, limit and seed?" in result.headline


def test_the_headline_says_how_many_rows_of_a_suite_are_compared():
    result = gate(make_run(np.ones(1000)), make_run(np.ones(800)))
    assert result.headline.endswith("Rows of the baseline compared: toy 800 of 1,000.")
    assert "compared" not in gate(make_run(np.ones(800)), make_run(np.ones(1000))).headline


def test_an_advisory_check_that_fails_is_named():
    run = make_run(wrong_at(2000, range(1000)))
    result = gate(run, run, policy=GatePolicy(floors=(FloorRule("toy", 90.0, "advisory"),)))
    assert result.state is GateState.PASS
    assert result.headline.endswith("Advisory, but failing: toy 50.0 % right, shown not to be at least 90.0 %.")
    text = "\n".join(render(STUDIES["gate"].document(result), 100, full=False))
    assert "Advisory checks that fail: toy, at least 90 %." in text


def test_the_number_of_notes_that_are_not_shown_is():
    names = [f"more{number}" for number in range(5)]
    baseline = candidate = make_run(np.ones(400))
    for number, name in enumerate(names):
        baseline = two_suites(baseline, make_run(np.ones(40 + number), suite=name))
        candidate = two_suites(candidate, make_run(np.ones(30), suite=name))
    text = "\n".join(render(STUDIES["gate"].document(gate(baseline, candidate)), 100, full=False))
    assert "2 more notes on what was not compared: --full." in text


def test_the_screen_shows_what_grouped_pairs_are_worth_and_labels_signatures_and_headings_once():
    run = make_run(np.ones(2000), groups=np.arange(2000) // 4)
    text = "\n".join(render(STUDIES["gate"].document(gate(run, run)), 100, full=True))
    assert "1,000 (500)" in text
    assert "In brackets: the independent rows that pairs in groups are worth" in text
    assert text.count("Required: all must pass") == 1
    assert "candidate: suites:1|" in text
    assert "baseline: suites:1|" in text


@pytest.mark.parametrize("undecided", ["undecided", "fail", "pass"])
def test_what_undecided_means_holds_without_a_required_slice_too(undecided):
    run = make_run(np.ones(90))
    result = gate(run, run, policy=GatePolicy(PolicyDefaults(undecided=undecided)))
    assert result.state is GateState(undecided)
    assert "no slice is required (none has 100 effective rows)" in result.headline
    assert "set a margin for all (acidtest gate --margin POINTS)" in result.headline


@pytest.mark.parametrize(
    ("undecided", "state"),
    [("undecided", GateState.UNDECIDED), ("fail", GateState.FAIL), ("pass", GateState.PASS)],
)
def test_a_policy_says_what_undecided_means(undecided, state):
    run = make_run(np.ones(100))
    policy = GatePolicy(PolicyDefaults(margin=2.0, undecided=undecided), slices=(SliceRule("toy:label=*"),))
    result = gate(run, run, policy=policy)
    assert result.state is state
    assert ("The policy lets undecided pass." in result.headline) == (undecided == "pass")


@pytest.mark.parametrize(
    ("right", "state"), [(1000, GateState.PASS), (610, GateState.UNDECIDED), (500, GateState.FAIL)]
)
def test_floors_have_three_states(right, state):
    run = make_run(wrong_at(1000, np.random.default_rng(0).permutation(1000)[right:]))
    result = gate(run, run, policy=GatePolicy(floors=(FloorRule("toy", 60.0),)))
    (check,) = (check for check in result.comparisons[0].checks if check.kind is CheckKind.FLOOR)
    assert check.state is state
    assert result.state is state
    if state is GateState.UNDECIDED:
        assert check.pairs_needed > 1000


def test_a_limit_on_a_cue_of_a_run_without_cues_is_not_decided():
    run = make_run(np.ones(2000))
    result = gate(run, run, policy=GatePolicy(cues=(CueRule("overlap", 20.0, "required"),)))
    check = checks_of(result)["cues:overlap"]
    assert (check.state, check.reason) == (GateState.UNDECIDED, "the candidate was not asked suite cues")
    assert result.state is GateState.UNDECIDED


def test_newly_wrong_pairs_come_from_the_slice_that_failed():
    before, after = wrong_at(3000, range(2000, 2020)), wrong_at(3000, range(100, 150))
    subcase = np.arange(3000) // 100
    comparison = gate(make_run(before, subcase=subcase), make_run(after, model="new", subcase=subcase)).comparisons[0]
    assert {pair.facts["subcase"] for pair in comparison.newly_wrong} == {"1"}
    assert len(comparison.newly_wrong) == 5
    assert {pair.facts["subcase"] for pair in comparison.newly_right} == {"20"}
    assert comparison.newly_wrong[0].answers.keys() == {"release", "new"}


def test_one_screen_tells_what_decided():
    before = make_run(np.ones(3000))
    after = make_run(wrong_at(3000, range(0, 3000, 3)), model="new")
    result = gate(before, after)
    short = list(render(STUDIES["gate"].document(result), 100, full=False))
    assert len(short) <= 40
    assert short[0].startswith("\x1b[1mFail: toy lost 33.3 points")
    assert len(list(render(STUDIES["gate"].document(result), 100, full=True))) > 100


def test_a_stored_file_is_read_back_as_it_was(tmp_path):
    run = make_run(np.random.default_rng(2).random(500) < 0.7, groups=np.arange(500) // 3)
    stored = baseline_of(run)
    read = read_baseline_file(write_baseline_file(stored, tmp_path / "release.acidtest"))
    for name in ("digests", "correct", "label", "group"):
        assert np.array_equal(getattr(read.suites["toy"], name), getattr(stored.suites["toy"], name))


def claims_run(
    accepted, *, model="release", label="contradiction", suite="grounding/number", documents=None, **settings
):
    """Edited claims with a wrong number, of which the flagged ones are accepted; the others are called neutral."""
    accepted = np.asarray(accepted, dtype=bool)
    n = len(accepted)
    p = np.where(accepted[:, None], (0.9, 0.05, 0.05), (0.05, 0.9, 0.05))
    frame = pl.DataFrame(
        {
            "suite": suite,
            "id": [f"{suite}-{number}" for number in range(n)],
            "premise": [f"Document {number}." for number in range(n)],
            "hypothesis": [f"Claim {number}." for number in range(n)],
            "label": label,
            "group": [str(document) for document in (np.arange(n) if documents is None else documents)],
            "edit": "number",
            "kind": "count",
            "change": "3 to 4",
            **{f"p_{name}": p[:, place] for place, name in enumerate(PROBABILITIES)},
            "answer": np.where(accepted, "entailment", "neutral"),
            "correct": ~accepted,
        }
    )
    columns = {"edit": "factor", "kind": "factor", "change": "text"}
    card = Card(suite, seed=0, columns=columns, rows=n)
    return Run(Header(ModelFacts(f"python:{model}", model), {suite: card}, {"limit": None, **settings}), frame)


def test_a_verifier_that_begins_to_accept_wrong_numbers_fails(tmp_path):
    rng = np.random.default_rng(0)
    # By three labels both are always wrong, as neither calls a claim a contradiction: 0.0 points were lost.
    before, after = claims_run(rng.random(500) < 0.05), claims_run(rng.random(500) < 0.93, model="new")
    file = write_baseline_file(baseline_of(before), tmp_path / "release.acidtest")
    for baseline in (before, file):
        result = gate(baseline, after)
        assert result.state is GateState.FAIL
        assert checks_of(result)["grounding/number"].loss.value == pytest.approx(0.88, abs=0.04)
        assert gate(baseline, before).state is GateState.PASS


def test_a_verifier_is_judged_at_its_threshold(tmp_path):
    # A claim is accepted with 0.9, below the threshold in production.
    before, after = (claims_run(np.ones(300), collapse=f"threshold={at}") for at in (0.95, 0.95))
    assert checks_of(gate(before, after))["grounding/number"].baseline.value == 1
    lower = claims_run(np.ones(300), collapse="threshold=0.85")
    assert checks_of(gate(lower, lower))["grounding/number"].baseline.value == 0


def test_a_baseline_file_that_judged_claims_by_three_labels_is_refused():
    run = claims_run(np.zeros(100))
    stored = baseline_of(run)
    old = replace(stored, suites={name: replace(suite, two_way=False) for name, suite in stored.suites.items()})
    with pytest.raises(
        AcidtestError, match=r"holds verdicts on grounding/number by three labels.*write the file again"
    ):
        gate(GateInput("release.acidtest", file=old), run)


def edit_check(accepted, at_most, **facts):
    """What a limit on wrong numbers decides, with the whole decision."""
    run = claims_run(accepted, **facts)
    result = gate(run, run, policy=GatePolicy(edits=(EditRule("number", at_most),)))
    return next(check for check in result.comparisons[0].checks if check.kind is CheckKind.EDIT), result


@pytest.mark.parametrize("label", ["contradiction", "neutral", "non-entailment", "any"])
@pytest.mark.parametrize(
    ("accepted", "state"), [(50, GateState.PASS), (150, GateState.UNDECIDED), (230, GateState.FAIL)]
)
def test_limits_on_edits_have_three_states(label, accepted, state):
    if label == "any":
        # Claims without gold cannot be compared with a baseline on their own.
        both = two_suites(claims_run(np.arange(1000) < accepted, label=label), make_run(np.ones(1000)))
        result = gate(both, both, policy=GatePolicy(edits=(EditRule("number", 15.0),)))
        check = checks_of(result)["edits:number"]
    else:
        check, result = edit_check(np.arange(1000) < accepted, 15.0, label=label)
    assert (check.name, check.state, check.rows) == ("edits:number", state, 1000)
    assert check.candidate.value == pytest.approx(accepted / 1000)
    assert f"accepts {accepted / 10:.1f} % of 1,000 wrong claims" in check.reason
    assert result.state is state


def test_claims_of_one_document_count_together_for_a_limit():
    # 10 % of 200 claims, but in 20 documents: 15 % is not ruled out.
    check, _ = edit_check(np.arange(200) % 20 < 2, 15.0, documents=np.arange(200) % 20)
    assert (check.effective_rows, check.state) == (20, GateState.UNDECIDED)


def test_a_claim_without_a_prediction_is_not_accepted():
    run = claims_run(np.zeros(200))
    quiet = Run(run.header, run.predictions.with_columns(pl.lit(math.nan).alias(f"p_{name}") for name in PROBABILITIES))
    result = gate(run, quiet, policy=GatePolicy(edits=(EditRule("number", 15.0),)))
    assert checks_of(result)["edits:number"].state is GateState.PASS
    assert checks_of(result)["grounding/number"].state is GateState.FAIL


def test_a_limit_on_an_edit_that_was_not_evaluated_is_undecided_and_on_an_unknown_one_fails(tmp_path):
    run = make_run(np.ones(2000))
    result = gate(run, run, policy=GatePolicy(edits=(EditRule("number", 15.0),)))
    assert result.state is GateState.UNDECIDED
    assert "no wrong claims of this edit (suite grounding/number)" in result.headline
    typo = gate(run, run, policy=GatePolicy(edits=(EditRule("numbr", 15.0),)))
    assert typo.state is GateState.FAIL
    assert "no edit called 'numbr'; did you mean 'number'" in typo.headline
    file = write_baseline_file(baseline_of(run), tmp_path / "candidate.acidtest")
    assert (
        "a baseline file does not know" in gate(run, file, policy=GatePolicy(edits=(EditRule("unit", 9.0),))).headline
    )


def test_a_limit_does_not_pass_if_the_candidate_lacks_claims():
    release = claims_run(np.zeros(400))
    fewer = Run(release.header, release.predictions.head(300))
    result = gate(release, fewer, policy=GatePolicy(edits=(EditRule("number", 15.0),)))
    assert checks_of(result)["edits:number"].state is GateState.UNDECIDED
