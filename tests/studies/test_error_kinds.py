"""Errors by kind, on runs small enough to count by hand and on simulated models with planted habits."""

from __future__ import annotations

from math import isnan, nan

import numpy as np
import polars as pl
import pytest

from acidtest.core.estimate import Estimate
from acidtest.core.run import Header, ModelFacts, Run
from acidtest.core.serialise import to_json
from acidtest.core.suite import Card
from acidtest.studies.scores import suite_results
from acidtest.studies.scoring.controls import AgainstControl, pairing
from acidtest.studies.scoring.error_kinds import (
    ErrorKind,
    Errors,
    ErrorsAgainstControl,
    common_errors,
    confusion,
    correct_kinds,
    errors_by_kind,
)
from acidtest.studies.scoring.rows import score_rows

LABELS = {"E": "entailment", "N": "neutral", "C": "contradiction", "X": "non-entailment"}


def frame(suite: str, pairs: list[str], bases: list[str | None] | None = None, groups: list[int] | None = None):
    """Rows written as gold and answer: ``EN`` is entailment taken for neutral, ``E-`` has no answer."""
    p = np.array([[np.nan] * 3 if pair[1] == "-" else np.eye(3)["ENC".index(pair[1])] for pair in pairs])
    return pl.DataFrame(
        {
            "suite": [suite] * len(pairs),
            "id": [f"{suite}-{number}" for number in range(len(pairs))],
            "premise": ["p"] * len(pairs),
            "hypothesis": ["h"] * len(pairs),
            "label": [LABELS[pair[0]] for pair in pairs],
            "group": [str(group) for group in (groups or range(len(pairs)))],
            "base_id": pl.Series(bases or [None] * len(pairs), dtype=pl.String),
            **{f"p_{label}": p.reshape(-1, 3)[:, place] for place, label in enumerate(list(LABELS.values())[:3])},
        }
    )


def run(*frames: pl.DataFrame, resolution: str = "three-way") -> Run:
    names = [name for each in frames for name in each["suite"].unique()]
    header = Header(ModelFacts("m", "m", resolution=resolution), {name: Card(name) for name in names}, {})
    return Run(header, pl.concat(frames))


def own(pairs: list[str], **facts: str) -> Errors:
    return errors_by_kind(score_rows(run(frame("s", pairs), **facts), "s"))


def changed(after: list[str], before: list[str], groups: list[int] | None = None) -> Errors:
    """The errors of a suite each of whose rows was made from the row of the control at the same place."""
    bases = [f"s#control-{number}" for number in range(len(before))]
    both = run(frame("s", after, bases, groups), frame("s#control", before, groups=groups))
    return compared(both)


def compared(both: Run) -> Errors:
    rows, control = score_rows(both, "s"), score_rows(both, "s#control")
    return errors_by_kind(rows, control, pairing(rows, control))


PAIRS = ["EE"] * 4 + ["EN"] * 3 + ["EC", "NN", "NN", "NE", "NC", "CC", "CE", "CE", "C-"]


def test_answers_are_counted_by_gold_those_without_apart() -> None:
    assert confusion(score_rows(run(frame("s", PAIRS)), "s")) == {
        "entailment": {"entailment": 4, "neutral": 3, "contradiction": 1, "unanswered": 0},
        "neutral": {"entailment": 1, "neutral": 2, "contradiction": 1, "unanswered": 0},
        "contradiction": {"entailment": 2, "neutral": 0, "contradiction": 1, "unanswered": 1},
    }


def test_kinds_are_shares_of_the_answers_that_are_wrong() -> None:
    found = own(PAIRS)
    assert found.n == 8
    assert {name: kind.count for name, kind in found.kinds.items()} == {
        "false entailment": 3,
        "false neutral": 3,
        "false contradiction": 2,
        "E-N": 3,
        "E-C": 1,
        "N-E": 1,
        "N-C": 1,
        "C-E": 2,
        "C-N": 0,
    }
    assert found.kinds["E-N"].share.value == 3 / 8
    assert found.kinds["E-N"].rate.value == 3 / 16
    # Wilson's interval of 3 in 8: R's prop.test(3, 8, correct = FALSE) gives 0.1368 to 0.6943.
    assert (found.kinds["E-N"].share.low, found.kinds["E-N"].share.high) == pytest.approx((0.1368, 0.6943), abs=1e-4)


def test_errors_of_one_group_are_one_piece_of_evidence() -> None:
    pairs = ["EN", "EN", "EN", "CE"] * 20
    groups = [number // 4 for number in range(80)]
    found = errors_by_kind(score_rows(run(frame("s", pairs, groups=groups)), "s")).kinds["E-N"].share
    assert (found.value, found.n, found.groups) == (0.75, 80, 20)


def test_only_kinds_that_the_gold_allows_are_told() -> None:
    # Antonymy has one gold label, so nothing can be falsely taken for contradiction.
    assert list(own(["CE", "CN", "CC"]).kinds) == ["false entailment", "false neutral", "C-E", "C-N"]


def test_errors_on_gold_that_accepts_several_labels_are_counted_by_the_wrong_answer() -> None:
    # As HANS is for a three-way model: E is gold entailment, X gold non-entailment.
    rows = score_rows(run(frame("s", ["EE", "XE", "XE", "XN", "XC", "EC"])), "s")
    assert confusion(rows) is None
    found = errors_by_kind(rows)
    assert found.n == 3
    counts = {name: kind.count for name, kind in found.kinds.items()}
    assert counts == {"false entailment": 2, "false neutral": 0, "false contradiction": 1}
    assert found.note == "gold accepts several labels, so errors are told apart by the answer alone"


def test_a_two_way_model_has_two_kinds() -> None:
    found = own(["EN", "NE", "CE", "CN", "EE"], resolution="two-way")
    assert {name: kind.count for name, kind in found.kinds.items()} == {
        "false entailment": 2,
        "false non-entailment": 1,
    }
    rows = score_rows(run(frame("s", ["EN", "NE"]), resolution="two-way"), "s")
    assert confusion(rows) == {
        "entailment": {"entailment": 0, "non-entailment": 1, "unanswered": 0},
        "non-entailment": {"entailment": 1, "non-entailment": 0, "unanswered": 0},
    }


def test_without_errors_or_rows_shares_are_not_known() -> None:
    found = own(["EE", "NN", "CC"])
    assert (found.n, found.kinds["false neutral"].share.note) == (0, "no errors")
    assert isnan(found.kinds["false neutral"].share.value)
    empty = run(frame("s", ["EE"]))
    assert errors_by_kind(score_rows(Run(empty.header, empty.predictions[:0]), "s")).kinds == {}


def test_a_kind_is_compared_with_the_untouched_pairs() -> None:
    before = ["EE"] * 50 + ["EC"] * 10 + ["CE"] * 30 + ["EN"] * 10
    after = ["EN"] * 40 + ["EE"] * 10 + ["EC"] * 10 + ["CE"] * 30 + ["EN"] * 10
    found = changed(after, before)
    kind = found.kinds["false neutral"]
    assert (found.n, found.control_n, kind.count, kind.vs_control.count) == (90, 50, 50, 10)
    share, rate = kind.vs_control.share, kind.vs_control.rate
    assert (share.control.value, share.difference.value) == pytest.approx((10 / 50, 50 / 90 - 10 / 50))
    assert (rate.control.value, rate.difference.value) == pytest.approx((0.1, 0.4))
    assert share.p < 0.01
    # 40 pairs became false neutrals and none ceased to be: 2 * 0.5 ** 40.
    assert (rate.test, rate.p) == ("McNemar, exact", pytest.approx(2 * 0.5**40))


def test_identical_answers_show_no_difference() -> None:
    same = ["EE", "EN", "CE", "NC", "NN", "CC"] * 5
    for kind in changed(same, same).kinds.values():
        assert kind.vs_control.share.difference.value == 0
        assert kind.vs_control.share.p == kind.vs_control.rate.p == 1


def test_an_untouched_pair_counts_once_however_many_were_made_of_it() -> None:
    bases = ["s#control-0", "s#control-0", "s#control-1", "s#control-1"]
    both = run(frame("s", ["EN", "EN", "EE", "EC"], bases, [0, 0, 1, 1]), frame("s#control", ["EN", "EE"]))
    found = compared(both)
    assert (found.n, found.control_n, found.kinds["E-N"].vs_control.count) == (3, 1, 1)


def test_untouched_pairs_with_other_gold_are_not_compared() -> None:
    found = changed(["CE", "CN"], ["EE", "EN"])
    assert found.control_n is None
    assert found.kinds["C-E"].vs_control is None


def test_a_change_of_gold_is_no_loss() -> None:
    bases = ["s#control-0", "s#control-1"]
    results = suite_results(run(frame("s", ["CE", "CN"], bases), frame("s#control", ["EE", "EE"])))
    assert results["s"].vs_control is None
    assert (
        "the untouched pairs have other gold than those made from them: the two are not compared" in results["s"].notes
    )


def test_tests_are_corrected_over_all_kinds_and_suites_of_one_measure() -> None:
    def kind(share_p: float, rate_p: float) -> ErrorKind:
        some = Estimate(0.5, n=1, groups=1)
        tests = AgainstControl(some, some, "t", share_p), AgainstControl(some, some, "t", rate_p)
        return ErrorKind(1, some, some, ErrorsAgainstControl(1, *tests))

    alone = ErrorKind(1, Estimate(0.5), Estimate(0.5))
    found = correct_kinds(
        {
            "a": Errors(1, 1, {"E-N": kind(0.01, 0.5), "E-C": kind(0.02, 0.2)}),
            "b": Errors(1, 1, {"E-N": kind(nan, 0.3)}),
            "c": Errors(1, None, {"E-N": alone}),
        }
    )
    # Holm: 2 * 0.01 and 0.02 of two known shares; 3 * 0.2, 2 * 0.3 and 0.5 raised to 0.6 of three rates.
    tests = {(suite, name): kind.vs_control for suite, own in found.items() for name, kind in own.kinds.items()}
    assert [tests["a", name].share.p_adjusted for name in ("E-N", "E-C")] == pytest.approx([0.02, 0.02])
    assert isnan(tests["b", "E-N"].share.p_adjusted)
    adjusted = [tests[key].rate.p_adjusted for key in (("a", "E-N"), ("a", "E-C"), ("b", "E-N"))]
    assert adjusted == pytest.approx([0.6, 0.6, 0.6])
    assert tests["c", "E-N"] is None


def simulated(rng: np.random.Generator, falls_back: float, count: int = 300) -> Errors:
    """A model that is right on 70 %; the change turns answers into neutral with the chance given, else it errs anew."""
    gold = rng.choice(list("ENC"), count)
    wrong = {label: [other for other in "ENC" if other != label] for label in "ENC"}
    before = [g if rng.random() < 0.7 else rng.choice(wrong[g]) for g in gold]
    after = []
    for g, b in zip(gold, before, strict=True):
        if rng.random() > 0.3:
            after.append(b)
        elif g != "N" and rng.random() < falls_back:
            after.append("N")
        else:
            after.append(rng.choice(wrong[g]) if rng.random() < 0.5 else g)
    return changed(
        [g + a for g, a in zip(gold, after, strict=True)], [g + b for g, b in zip(gold, before, strict=True)]
    )


def test_a_model_that_falls_back_to_neutral_is_found() -> None:
    rng = np.random.default_rng(0)
    found = [simulated(rng, 0.9).kinds["false neutral"].vs_control.share for _ in range(10)]
    assert sum(test.p < 0.05 and test.difference.value > 0 for test in found) >= 9


def test_a_model_that_errs_more_but_not_otherwise_is_not() -> None:
    rng = np.random.default_rng(0)
    found = [simulated(rng, 0.0).kinds["false neutral"].vs_control.share.p for _ in range(60)]
    # Binomial(60, 0.05): 0.99 quantile 7.
    assert sum(p < 0.05 for p in found) <= 7


def test_results_hold_everything_without_nan() -> None:
    found = to_json(own(["EE"]))
    assert found["kinds"]["false neutral"]["share"]["value"] is None
    assert found["kinds"]["false neutral"]["vs_control"] is None
    told = to_json(changed(["EE", "EN"], ["EE", "EE"]))["kinds"]["E-N"]["vs_control"]
    assert (told["count"], told["share"]["p"], told["share"]["difference"]["value"]) == (0, None, None)


def test_errors_that_two_models_make_are_counted_where_they_err_alike() -> None:
    """Five rows, counted by hand: both wrong on the second to fourth, alike on the second and third."""
    first = score_rows(run(frame("s", ["EE", "NE", "CE", "NE", "NC"])), "s")
    second = score_rows(run(frame("s", ["EN", "NE", "CE", "NC", "NN"])), "s")
    both = common_errors([first, second])
    assert both.n == 3
    assert {name: kind.count for name, kind in both.kinds.items() if kind.count} == {
        "false entailment": 2,
        "N-E": 1,
        "C-E": 1,
    }
    assert both.kinds["N-E"].share.value == pytest.approx(1 / 3)
    assert both.kinds["N-E"].rate.value == pytest.approx(1 / 5)


def test_common_errors_are_those_on_rows_that_all_were_asked() -> None:
    rows = frame("s", ["NE", "CE", "CN", "EC"])
    turned = score_rows(run(rows.reverse()), "s")
    part = score_rows(run(rows.head(2)), "s")
    assert common_errors([turned, turned]).n == 4
    assert {name: kind.count for name, kind in common_errors([turned, part]).kinds.items() if kind.count} == {
        "false entailment": 2,
        "N-E": 1,
        "C-E": 1,
    }


def test_models_without_a_common_error_have_no_shares() -> None:
    first, second = (score_rows(run(frame("s", pairs)), "s") for pairs in (["EE", "NE"], ["EN", "NN"]))
    both = common_errors([first, second])
    assert both.n == 0
    assert isnan(both.kinds["N-E"].share.value)


def test_unanswered_pairs_are_no_common_errors() -> None:
    first, second = (score_rows(run(frame("s", pairs)), "s") for pairs in (["E-", "NE"], ["EN", "NE"]))
    assert common_errors([first, second]).n == 1


def test_gold_of_several_labels_has_no_common_kinds() -> None:
    rows = score_rows(run(frame("s", ["XE", "XE"])), "s")
    assert common_errors([rows, rows]).note
