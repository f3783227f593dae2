"""The study of sets: rules on a model's own answers, on sets small enough to check by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from acidtest.core.document import Note, walk
from acidtest.core.errors import AcidtestError
from acidtest.core.labels import LABELS
from acidtest.core.run import Header, ModelFacts, Run
from acidtest.core.suite import Card
from acidtest.studies.consistency import ConsistencyResult, RuleResult, consistency, document
from acidtest.studies.scores import suite_results
from acidtest.studies.scoring.expectations import SETS, expectation_rules

NAME = "consistency/sets"
WIDER = "not less entailment, not more contradiction"
CONTRAPOSED = "not less entailment, not more entailment"
#        set, answer to the untouched pair, answer to the link, answer to the pair from premise to third sentence
TRIPLES = [
    ("a", "E", "E", "E"),
    ("b", "E", "E", "N"),
    ("c", "E", "C", "C"),
    ("d", "N", "E", "C"),
    ("e", "N", "C", "N"),
    ("f", "C", "C", "E"),
]
#       set, answer to the pair with a wider word
WIDER_ANSWERS = [("a", "E"), ("c", "C"), ("e", "C"), ("f", "E")]


def sets_run(*, constant: str = "") -> Run:
    """A run on six sets, answered as above or all alike."""
    before = [(name, answer) for name, answer, *_ in TRIPLES]
    rows = [(f"{name}-link", name, "transitivity", "negation", None, None, link) for name, _, link, _ in TRIPLES]
    rows += [
        (f"{name}-third", name, "transitivity", "negation", "transitive", f"{name}-link", after)
        for name, *_, after in TRIPLES
    ]
    rows += [(f"{name}-wider", name, "monotonicity", "wider word", WIDER, None, after) for name, after in WIDER_ANSWERS]
    columns = ("id", "group", "law", "change", "expectation", "link", "answer")
    changed = pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")
    changed = changed.with_columns(suite=pl.lit(NAME), label=pl.lit("any"), base_id=pl.col("group"))
    control = pl.DataFrame(before, schema=["id", "answer"], orient="row").with_columns(
        suite=pl.lit(f"{NAME}#control"), label=pl.lit("entailment"), group=pl.col("id")
    )
    frame = pl.concat([changed, control], how="diagonal")
    if constant:
        frame = frame.with_columns(answer=pl.lit(constant))
    chosen = np.array([["E", "N", "C"].index(answer) for answer in frame["answer"]])
    probabilities = np.eye(3, dtype=np.float32)[chosen]
    frame = frame.drop("answer").with_columns(
        pl.Series("premise", ["p"] * frame.height),
        pl.Series("hypothesis", ["h"] * frame.height),
        *(pl.Series(f"p_{label}", probabilities[:, number]) for number, label in enumerate(LABELS)),
    )
    kinds = {"law": "factor", "change": "factor", "expectation": "factor", "link": "text"}
    cards = {NAME: Card(NAME, columns=kinds), f"{NAME}#control": Card(f"{NAME}#control")}  # type: ignore[arg-type]
    return Run(Header(ModelFacts("m", "m"), cards, {}), frame)


def rule(result: ConsistencyResult, law: str, change: str, name: str) -> RuleResult:
    (found,) = [rule for rule in result.models[0].rules if (rule.law, rule.change, rule.rule) == (law, change, name)]
    return found


def test_each_rule_counts_the_pairs_on_which_it_could_fire_and_held() -> None:
    result = consistency([sets_run()])
    # (fired, held) counted by hand in TRIPLES and WIDER_ANSWERS.
    counts = {
        ("transitivity", "", "E, E → E"): (2, 1),
        ("transitivity", "", "E, C → C"): (1, 1),
        ("transitivity", "", "N, E → not C"): (1, 0),
        ("transitivity", "", "N, C → not E"): (1, 1),
        ("monotonicity", "wider word", "E → E"): (2, 1),
        ("monotonicity", "wider word", "not C → not C"): (3, 1),
    }
    for name, (fired, held) in counts.items():
        found = rule(result, *name)
        assert (found.held.n, round(found.held.value * found.held.n)) == (fired, held), name
        assert found.fired.value == pytest.approx(fired / found.pairs)
    assert rule(result, "transitivity", "negation", "E, E → E").held.n == 2


def test_a_set_is_wholly_consistent_if_nothing_that_fires_is_broken() -> None:
    (model,) = consistency([sets_run()]).models
    # a holds; b breaks E, E → E; c breaks the wider word; d breaks N, E → not C; e breaks not C → not C; f: none fires.
    assert (model.sets, model.consistent.n, model.consistent.value) == (6, 5, pytest.approx(1 / 5))
    metrics = suite_results(sets_run())[NAME].metrics
    assert metrics[SETS] == model.consistent
    assert metrics["expectation holds: negation (transitive)"].n == 5


@pytest.mark.parametrize("label", ["E", "N", "C"])
def test_one_answer_to_everything_breaks_no_rule_and_the_document_says_so(label: str) -> None:
    result = consistency([sets_run(constant=label)])
    (model,) = result.models
    assert all(rule.held.value == 1 for rule in model.rules if rule.held.known)
    assert model.consistent.value == 1 or not model.consistent.known
    notes = [part.text for part in walk(document(result).parts) if isinstance(part, Note)]
    assert any(text.startswith("A model that gives one answer to every pair keeps every law.") for text in notes)
    if model.consistent.known:
        assert document(result).headline.endswith("so consistency says nothing of it.")
        assert model.shuffled == 1


def test_shuffled_answers_do_not_depend_on_the_order_of_rows_and_keep_each_kinds_answers() -> None:
    run = sets_run()
    turned = Run(run.header, run.frame.reverse())
    first, second = (consistency([one]).models[0] for one in (run, turned))
    assert first.shuffled == second.shuffled
    assert {(r.law, r.change, r.rule): r.shuffled for r in first.rules} == {
        (r.law, r.change, r.rule): r.shuffled for r in second.rules
    }
    # Two of the four answers to wider words are C, so shuffled ones are not C half of the time.
    expected = rule(consistency([run], shuffles=2000), "monotonicity", "wider word", "not C → not C").shuffled
    assert expected == pytest.approx(0.5, abs=0.05)


def test_the_rules_of_an_expectation_are_those_of_logic() -> None:
    assert [rule.name for rule in expectation_rules("transitive")] == [
        "E, E → E", "E, C → C", "N, E → not C", "N, C → not E",
    ]  # fmt: skip
    assert [rule.name for rule in expectation_rules(CONTRAPOSED)] == ["E → E", "not E → not E"]
    assert [rule.name for rule in expectation_rules("same verdict", two_way=True)] == ["E → E", "not E → not E"]
    assert expectation_rules("no such thing") == ()


def test_runs_without_sets_are_told_what_to_run() -> None:
    run = sets_run()
    header = Header(run.header.model, {f"{NAME}#control": run.header.suites[f"{NAME}#control"]}, {})
    with pytest.raises(AcidtestError, match="run the models with -s consistency/sets"):
        consistency([Run(header, run.frame)])
