"""Arms of an experiment in training: folds, published numbers, differences on the same rows, spread over seeds."""

from __future__ import annotations

import json
import math
import statistics
from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from acidtest.core.errors import AcidtestError
from acidtest.core.run import Header, ModelFacts, Run
from acidtest.core.serialise import to_json
from acidtest.core.suite import Card
from acidtest.io.published import MATCHED, MISMATCHED, published_scores
from acidtest.io.wordlists import packaged_table
from acidtest.studies.experiments import (
    Arm,
    ExperimentResult,
    ResultColumn,
    ResultTable,
    TrainedNetwork,
    TrainingRecord,
    compare_arms,
    papers,
)

PLAIN, CHANGED = "plain", "changed"
SLICE = {"heuristic": "constituent", "label": "non-entailment"}
COLUMN = ResultColumn("const.", "hans", SLICE, published="hans", published_by=SLICE)


def run(right: list[bool], suite: str = "hans", *, resolution: str = "three-way") -> Run:
    """A model's answers to non-entailed pairs; entailment where it is wrong."""
    frame = pl.DataFrame(
        {
            "suite": [suite] * len(right),
            "id": [f"{number}" for number in range(len(right))],
            "group": [f"{number}" for number in range(len(right))],
            "premise": ["P."] * len(right),
            "hypothesis": ["H."] * len(right),
            "label": ["non-entailment"] * len(right),
            "heuristic": ["constituent", "subsequence"] * (len(right) // 2),
            "p_entailment": [0.0 if one else 1.0 for one in right],
            "p_neutral": [1.0 if one else 0.0 for one in right],
            "p_contradiction": [0.0] * len(right),
        }
    )
    facts = ModelFacts("zoo:x", "x", resolution=resolution)
    return Run(Header(facts, {suite: Card(suite, columns={"heuristic": "factor"})}, {"collapse": "argmax"}), frame)


def answered(arm: str, seed: int, right: list[bool]) -> TrainedNetwork:
    return trained("esim:mccoy2019", arm, seed, run(right))


def trained(name: str, arm: str, seed: int, answers: Run) -> TrainedNetwork:
    record = TrainingRecord(name, arm, seed, "folder", 3, 2, None, 1.5)
    return TrainedNetwork(name.partition(":")[0], answers, record)


def arms() -> dict[str, Arm]:
    conditions = papers()["augmentation"].conditions
    return {
        PLAIN: Arm(PLAIN, "pairs", 10, conditions["plain"]),
        CHANGED: Arm(CHANGED, "more pairs", 20, conditions["changed"]),
    }


TABLE = ResultTable("table", (COLUMN,), (PLAIN, CHANGED), PLAIN)


def test_folds_are_those_of_tables_12_to_16_and_part_the_thirty_subcases() -> None:
    folds = papers()["withheld"].folds
    assert [fold["table"] for fold in folds] == [12, 13, 14, 15, 16]
    published: dict[int, set[str]] = {}
    for score in published_scores("hans"):
        if score.condition == papers()["withheld"].conditions["changed"] and score.system == "ESIM":
            published.setdefault(int(score.source.split()[-1]), set()).add(score.by["subcase"])
    assert {fold["table"]: set(fold["subcases"]) for fold in folds} == published
    templates = packaged_table("hans/templates.tsv")
    cells = {row["subcase"]: (row["heuristic"], row["label"]) for row in templates.iter_rows(named=True)}
    assert Counter(name for fold in folds for name in fold["subcases"]) == Counter(dict.fromkeys(cells, 1))
    assert all(len({cells[name] for name in fold["subcases"]}) == 6 for fold in folds)


@pytest.mark.parametrize("name", papers())
def test_every_condition_and_system_of_an_experiment_has_published_numbers(name: str) -> None:
    paper = papers()[name]
    suites = {"distraction": "stress/negation", "training-mixes": "lexical"}
    scores = [each for each in published_scores(suites.get(name, "hans")) if each.source.startswith(paper.paper)]
    assert set(paper.conditions.values()) <= {each.condition for each in scores}
    assert set(paper.systems.values()) <= {each.system for each in scores}


def test_an_arm_less_the_plain_one_is_counted_on_the_rows_of_the_column() -> None:
    # Of the 20 rows of the column 4 are right before and 15 after, 3 of the 4 among them; the others do not count.
    before = [number % 2 == 0 and number < 8 for number in range(40)]
    after = [number % 2 == 1 or 2 <= number <= 30 for number in range(40)]
    cells, (change,) = compare_arms(
        papers()["augmentation"], [TABLE], arms(), [answered(PLAIN, 0, before), answered(CHANGED, 0, after)]
    )
    assert [cell.value.value for cell in cells] == [4 / 20, 15 / 20]
    assert change.value.value == pytest.approx(11 / 20)
    assert change.value.low < 11 / 20 < change.value.high
    # Exact McNemar: 12 rows gained, 1 lost; twice the binomial tail (1 + 13) / 2 ** 13.
    assert change.test == "McNemar, exact"
    assert change.p == change.p_adjusted == pytest.approx(2 * 14 / 2**13)
    # McCoy et al. 2019, ESIM on constituent, non-entailment: 0.01 in table 3 and 1.00 in table 4.
    assert [cell.published for cell in cells] == [0.01, 1.0]
    assert [cell.source for cell in cells] == ["McCoy et al. 2019, table 3", "McCoy et al. 2019, table 4"]
    assert change.published == pytest.approx(0.99)


def test_several_seeds_give_their_mean_their_spread_and_each_its_own() -> None:
    rights = [[False] * 40, [number < 20 for number in range(40)], [True] * 40]
    answers = [answered(arm, seed, right) for arm in (PLAIN, CHANGED) for seed, right in enumerate(rights)]
    answers = [replace(each, run=rights_run(each, rights)) for each in answers]
    cells, (change,) = compare_arms(papers()["augmentation"], [TABLE], arms(), answers)
    assert cells[0].value.value == pytest.approx(0.5)
    assert [each.value for each in cells[0].seeds.values()] == [0, 0.5, 1]
    assert to_json(cells[0])["spread"] == {
        "mean": 0.5,
        "deviation": pytest.approx(statistics.stdev([0, 0.5, 1])),
        "lowest": 0.0,
        "highest": 1.0,
    }
    # The changed arm has the seeds the other way round: seed 0 gains everything, seed 2 loses it.
    assert [each.value for each in change.seeds.values()] == [1, 0, -1]
    assert change.value.value == pytest.approx(0)


def test_a_difference_that_one_seed_turns_round_is_not_found() -> None:
    none, most, all_right = [False] * 40, [number < 34 for number in range(40)], [True] * 40
    alike = [answered(PLAIN, 0, none), answered(PLAIN, 1, none), answered(CHANGED, 0, most), answered(CHANGED, 1, most)]
    turned = [*alike[:1], answered(PLAIN, 1, all_right), answered(CHANGED, 0, all_right), alike[3]]
    found = [compare_arms(papers()["augmentation"], [TABLE], arms(), answers)[1][0] for answers in (alike, turned)]
    assert [change.p_adjusted < 0.05 for change in found] == [True, True]
    assert [change.value.value > 0.4 for change in found] == [True, True]
    assert [change.differs for change in found] == [True, False]


def rights_run(each: TrainedNetwork, rights: list[list[bool]]) -> Run:
    return run(rights[each.record.seed] if each.record.arm == PLAIN else rights[::-1][each.record.seed])


def test_arms_without_a_difference_are_found_to_differ_in_about_one_of_twenty_cases_at_most() -> None:
    rng, found = np.random.default_rng(5), 0
    for _ in range(100):
        sides = [list(map(bool, rng.random(80) < 0.5)) for _ in range(2)]
        _, (change,) = compare_arms(
            papers()["augmentation"], [TABLE], arms(), [answered(PLAIN, 0, sides[0]), answered(CHANGED, 0, sides[1])]
        )
        found += change.p < 0.05
    assert found <= 10  # 0.99 quantile of binomial(100, 0.05)


def test_identical_arms_differ_in_nothing_and_an_empty_column_has_no_number() -> None:
    right = [number % 3 == 0 for number in range(40)]
    nowhere = replace(COLUMN, name="none", by={"heuristic": "nowhere"})
    block = replace(TABLE, columns=(COLUMN, nowhere))
    cells, changes = compare_arms(
        papers()["augmentation"], [block], arms(), [answered(PLAIN, 0, right), answered(CHANGED, 0, right)]
    )
    assert changes[0].value.value == 0
    assert changes[0].p == 1
    empty = [cell for cell in cells if cell.column == "none"]
    assert all(not cell.value.known and to_json(cell)["value"]["value"] is None for cell in empty)
    assert math.isnan(changes[1].p_adjusted)
    assert to_json(changes[1])["p"] is None


def test_a_column_less_another_is_a_difference_of_rates_with_the_papers_beside_it() -> None:
    paper = papers()["training-mixes"]
    old, new = ResultColumn("snli", "snli", published="snli"), ResultColumn("lexical", "lexical", published="lexical")
    both = [run([True] * 40, "snli"), run([number < 30 for number in range(40)], "lexical")]
    whole = Run(
        replace(both[0].header, suites={**both[0].header.suites, **both[1].header.suites}),
        pl.concat([each.frame.lazy().collect() for each in both]),
    )
    block = ResultTable("table", (old, new, replace(new, name="∆", less=old)), (PLAIN,))
    cells, changes = compare_arms(paper, [block], {PLAIN: Arm(PLAIN, "", 1, "")}, [trained("esim", PLAIN, 0, whole)])
    assert [cell.value.value for cell in cells] == [1.0, 0.75, -0.25]
    # Glockner et al. 2018, table 3: ESIM trained on SNLI has 87.9, 65.6 and a drop of 22.3.
    assert [cell.published for cell in cells] == [0.879, 0.656, pytest.approx(-0.223)]
    assert changes == ()


def test_networks_that_were_asked_other_rows_are_not_compare_arms() -> None:
    with pytest.raises(AcidtestError, match="asked different rows of 'hans'"):
        compare_arms(
            papers()["augmentation"],
            [TABLE],
            arms(),
            [answered(PLAIN, 0, [True] * 40), answered(CHANGED, 0, [True] * 42)],
        )


def test_agreement_counts_signs_of_published_differences_and_distances_of_rates() -> None:
    before, after = [False] * 40, [True] * 40
    paper = papers()["augmentation"]
    cells, changes = compare_arms(paper, [TABLE], arms(), [answered(PLAIN, 0, before), answered(CHANGED, 0, after)])
    result = ExperimentResult(
        paper.name, paper.title, "", (TABLE,), tuple(arms().values()), cells, changes, (), (), (), {"seeds": [0]}
    )
    (near,) = result.agreement
    assert (near.same, near.changes, near.cells) == (1, 1, 2)
    assert near.distance == pytest.approx(0.005)  # 0 against 0.01, 1 against 1.00
    assert json.loads(json.dumps(to_json(result), allow_nan=False))["agreement"][0]["network"] == "esim:mccoy2019"


@pytest.mark.parametrize(
    ("experiment", "identified", "expected"),
    [
        ("distraction", "mnli-matched", {"corpus": MATCHED}),
        ("distraction", "mnli-mismatched", {"corpus": MISMATCHED}),
        ("distraction", "snli-test", None),
        ("distraction", "", None),
        ("augmentation", "mnli-matched", {}),
        ("augmentation", "mnli-mismatched", None),
        ("merged-labels", "mnli-matched", None),
        ("training-mixes", "snli-test", {}),
    ],
)
def test_a_paper_knows_its_own_test_sets(experiment: str, identified: str, expected: dict[str, str] | None) -> None:
    found = papers()[experiment].corpus(identified)
    assert bool(found.suite) == (expected is not None)
    assert dict(found.by) == (expected or {})


def test_published_numbers_are_kept_under_the_names_of_the_papers_test_sets() -> None:
    for paper in papers().values():
        for corpus in paper.corpora:
            scores = [each for each in published_scores(corpus.suite) if each.source.startswith(paper.paper)]
            assert any(each.by == dict(corpus.by) for each in scores), (paper.name, corpus.title)
