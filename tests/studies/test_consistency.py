"""Violations of laws, on rows small enough to count by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from acidtest.core.run import Header, ModelFacts, Run
from acidtest.core.suite import Card
from acidtest.studies.scores import consistency_metrics, consistency_notes, gold_consistency, suite_results, violations
from acidtest.studies.scoring.rows import group_consistency, score_rows

#        law, group, gold, answered
ROWS = [
    ("identity", "g1", "entailment", 0),
    ("identity", "g2", "entailment", 1),
    ("identity", "g3", "entailment", 0),
    ("reversed neutral", "g1", "non-contradiction", 1),
    ("reversed neutral", "g2", "non-contradiction", 2),
    ("negated entailment", "g3", "contradiction", 2),
]


def run(name: str = "consistency", *, rows: list[tuple[str, str, str, int]] = ROWS) -> Run:
    law, group, gold, answered = zip(*rows, strict=True) if rows else ((), (), (), ())
    p = np.eye(3, dtype=np.float32)[np.array(answered, dtype=np.int64)]
    frame = pl.DataFrame(
        {
            "id": [str(number) for number in range(len(rows))],
            "premise": ["p"] * len(rows),
            "hypothesis": ["h"] * len(rows),
            "label": pl.Series(gold, dtype=pl.String),
            "group": pl.Series(group, dtype=pl.String),
            "base_id": pl.Series([None] * len(rows), dtype=pl.String),
            "law": pl.Series(law, dtype=pl.String),
            "p_entailment": p[:, 0],
            "p_neutral": p[:, 1],
            "p_contradiction": p[:, 2],
        }
    ).with_columns(suite=pl.lit(name))
    card = Card(name, columns={"law": "factor"})
    return Run(Header(ModelFacts("m", "m"), {name: card}, {}), frame)


def test_violations_are_the_share_of_wrong_answers_by_law() -> None:
    found = violations(score_rows(run(), "consistency"))
    assert {name: rate.value for name, rate in found.items()} == {
        "violations of identity": pytest.approx(1 / 3),
        "violations of reversed neutral": 0.5,
        "violations of negated entailment": 0.0,
    }
    # Wilson, 1 of 3, 95 %: Newcombe (1998), computed by hand from the closed form.
    assert found["violations of identity"].low == pytest.approx(0.0615, abs=5e-4)
    assert found["violations of identity"].high == pytest.approx(0.7923, abs=5e-4)


def test_a_source_pair_is_consistent_when_all_laws_hold_on_it() -> None:
    # g1 and g3 keep all of theirs, g2 breaks both.
    assert group_consistency(score_rows(run(), "consistency")).value == pytest.approx(2 / 3)


def test_pairs_that_are_asked_only_what_needs_no_gold_are_left_aside_in_the_stricter_number() -> None:
    rows = [*ROWS, ("identity", "g4", "entailment", 0), ("conjunction", "g5", "entailment", 0)]
    found = score_rows(run(rows=rows), "consistency")
    assert group_consistency(found).value == pytest.approx(4 / 5)
    assert gold_consistency(found).value == pytest.approx(2 / 3)
    assert gold_consistency(found).n == 3


def test_violations_stand_among_the_metrics_of_the_results_and_a_note_sums_them_up() -> None:
    result = suite_results(run())["consistency"]
    assert result.metrics["violations of reversed neutral"].value == 0.5
    assert result.metrics["group consistency"].value == pytest.approx(2 / 3)
    assert result.metrics["group consistency where gold is asked"].n == 3
    assert result.notes[0] == (
        "all laws hold on 66.7 % of 3 source pairs; broken most often: reversed neutral (50.0 %)"
    )


def test_nothing_broken_is_said_without_a_worst_law() -> None:
    rows = [ROWS[0], ROWS[3]]
    assert consistency_notes(score_rows(run(rows=rows), "consistency")) == [
        "all laws hold on 100.0 % of 1 source pairs"
    ]


def test_what_cannot_be_computed_is_no_number() -> None:
    assert violations(score_rows(run(rows=[]), "consistency")) == {}
    assert not gold_consistency(score_rows(run(rows=[]), "consistency")).known
    assert not gold_consistency(score_rows(run(rows=ROWS[:3]), "consistency")).known
    assert consistency_notes(score_rows(run(rows=[]), "consistency")) == []


def test_other_suites_have_no_laws() -> None:
    statutes = score_rows(run("statutes"), "statutes")
    assert consistency_metrics(statutes) == {}
    assert consistency_notes(statutes) == []
