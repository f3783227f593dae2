from __future__ import annotations

import polars as pl
import pytest

from acidtest import api
from acidtest.core.errors import AcidtestError
from acidtest.core.suite import Card, Suite, complete_columns

PAIRS = pl.DataFrame(
    {
        "premise": ["A man sleeps on a bench.", "The girl runs in the park.", "Two dogs bark at a tree."],
        "hypothesis": ["A man is asleep.", "The girl is happy.", "Two dogs are silent."],
        "label": ["entailment", "neutral", "contradiction"],
        "genre": ["street", "park", "yard"],
        "annotator_labels": [f'["{label}", "{label}"]' for label in ("entailment", "neutral", "contradiction")],
    }
)


def suite(rows: pl.DataFrame = PAIRS, *, n: int | None = None, seed: int = 0, trust_gold: bool = False) -> Suite:
    kinds = {name: "factor" for name in rows.columns if name not in ("premise", "hypothesis", "label", "group")}
    pairs = Suite(complete_columns(rows, "mine").lazy(), Card("mine", columns=kinds)).sealed()  # type: ignore[arg-type]
    arguments = {"tagger": "light", "trust_gold": trust_gold}
    return api.generate("consistency", source=pairs, arguments=arguments, n=n, seed=seed)


def rows_of(law: str, made: Suite) -> list[tuple[str, ...]]:
    frame = made.frame.filter(pl.col("law").str.contains(law)).collect()
    return frame.select("premise", "hypothesis", "label", "certainty").rows()


def test_a_sentence_entails_itself() -> None:
    found = rows_of("identity", suite())
    assert len(found) == 3
    for premise, hypothesis, label, certainty in found:
        assert (premise, label, certainty) == (hypothesis, "entailment", "logical")


def test_a_contradiction_reversed_is_one_and_other_pairs_reversed_are_none() -> None:
    assert rows_of("reversed", suite()) == [
        ("A man is asleep.", "A man sleeps on a bench.", "non-contradiction", "human"),
        ("The girl is happy.", "The girl runs in the park.", "non-contradiction", "human"),
        ("Two dogs are silent.", "Two dogs bark at a tree.", "contradiction", "human"),
    ]


def test_contradictions_that_share_no_noun_are_not_reversed() -> None:
    rows = PAIRS.tail(1).with_columns(hypothesis=pl.lit("A train leaves the station."))
    made = suite(rows)
    assert rows_of("reversed", made) == []
    assert made.card.left_out["reversal: nothing in common"] == 1


def test_an_entailed_hypothesis_negated_contradicts_a_neutral_one_stays_neutral_others_are_not_negated() -> None:
    assert rows_of("^negated", suite()) == [
        ("A man sleeps on a bench.", "A man is not asleep.", "contradiction", "same-event"),
        ("The girl runs in the park.", "The girl is not happy.", "neutral", "same-event"),
    ]


def test_what_rests_on_one_persons_opinion_is_made_only_if_gold_is_trusted() -> None:
    rows = PAIRS.drop("annotator_labels")
    made = suite(rows)
    assert [label for *_, label, _ in rows_of("^negated", made)] == ["contradiction"]
    assert [label for *_, label, _ in rows_of("double", made)] == ["entailment"]
    assert made.card.left_out["negated neutral: gold of one annotator (--trust-gold)"] == 1
    trusted = suite(rows, trust_gold=True)
    assert [label for *_, label, _ in rows_of("^negated", trusted)] == ["contradiction", "neutral"]
    assert trusted.card.arguments["trust_gold"] is True


def test_gold_of_one_person_is_used_where_the_hypothesis_says_little_new_and_is_not_neutral() -> None:
    rows = PAIRS.drop("annotator_labels").with_columns(
        hypothesis=pl.Series(["A tired traveller is asleep.", "The girl is happy.", "Two dogs watch birds quietly."])
    )
    made = suite(rows)
    assert rows_of("reversed", made) == [
        ("A tired traveller is asleep.", "A man sleeps on a bench.", "non-contradiction", "human"),
    ]
    assert rows_of("^negated", made) == []
    assert made.card.left_out["negated entailment: gold of one annotator (--trust-gold)"] == 1
    assert made.card.left_out["reversed contradiction: gold of one annotator (--trust-gold)"] == 1
    assert made.card.left_out["reversed neutral: gold of one annotator (--trust-gold)"] == 1


def test_a_contradiction_is_not_reversed_where_its_hypothesis_leaves_room() -> None:
    rows = PAIRS.tail(1).with_columns(premise=pl.lit("Two women sit in a church."))
    for hypothesis, reason in [
        ("People stand in a church.", "subject not definite"),
        ("The church may not be open.", "modality"),
    ]:
        made = suite(rows.with_columns(hypothesis=pl.lit(hypothesis)))
        assert rows_of("reversed", made) == []
        assert made.card.left_out[f"reversed contradiction: {reason}"] == 1


def test_a_double_negation_keeps_the_label() -> None:
    assert rows_of("double", suite()) == [
        ("A man sleeps on a bench.", "It is not false that a man is asleep.", "entailment", "human"),
        ("The girl runs in the park.", "It is not true that the girl is not happy.", "neutral", "human"),
        ("Two dogs bark at a tree.", "It is not false that two dogs are silent.", "contradiction", "human"),
    ]


def test_a_conjunction_with_a_sentence_of_another_pair_entails_its_part() -> None:
    sentences = [*PAIRS["premise"], *PAIRS["hypothesis"]]
    own = dict(zip(PAIRS["premise"], PAIRS["hypothesis"], strict=True))
    found = rows_of("conjunction", suite())
    assert len(found) == 3
    for (premise, hypothesis, label, certainty), (first, second) in zip(found, own.items(), strict=True):
        assert (label, certainty) == ("entailment", "logical")
        assert hypothesis in (first, second)
        others = [each for each in sentences if each not in (first, second)]
        wanted = {_joined(hypothesis, other) for other in others} | {_joined(other, hypothesis) for other in others}
        assert premise in wanted


def _joined(first: str, second: str) -> str:
    return f"{first[:-1]}, and {second[0].lower()}{second[1:]}"


def test_one_premise_alone_has_nothing_to_be_joined_to() -> None:
    made = suite(PAIRS.head(1))
    assert rows_of("conjunction", made) == []
    assert made.card.left_out["conjunction: no second sentence"] == 1


def test_the_rows_of_a_source_pair_are_a_group_and_point_back_at_it() -> None:
    made = suite(PAIRS.with_columns(group=pl.lit("one")))
    assert made.control is not None
    control, frame = made.control.frame.collect(), made.frame.collect()
    assert frame["group"].unique(maintain_order=True).to_list() == control["id"].to_list()
    assert frame["base_id"].to_list() == frame["group"].to_list()
    assert frame["id"][0] == f"{control['id'][0]}-identity"
    assert frame.filter(law="double negation")["genre"].to_list() == ["street", "park", "yard"]


def test_where_annotators_disagree_nothing_rests_on_gold() -> None:
    told = PAIRS.with_columns(
        annotator_labels=pl.Series(['["entailment","neutral"]', '["neutral",""]', '["contradiction"]'])
    )
    made = suite(told)
    assert rows_of("reversed", made) == [
        ("Two dogs are silent.", "Two dogs bark at a tree.", "contradiction", "human"),
    ]
    assert made.card.left_out["annotators disagree"] == 1
    assert set(made.frame.filter(genre="street").collect()["law"]) == {"identity", "conjunction"}
    assert "annotator_labels" not in made.frame.collect_schema()


def test_gold_of_two_labels_gives_what_needs_no_gold() -> None:
    made = suite(PAIRS.with_columns(label=pl.lit("non-entailment")))
    assert set(made.frame.collect()["law"]) == {"identity", "conjunction"}
    assert made.card.left_out["gold of several labels"] == 3


def test_questions_and_quantifiers_are_left_out_with_their_reasons() -> None:
    rows = PAIRS.with_columns(
        premise=pl.Series(["Is he asleep?", "The girl runs in the park.", "Two dogs bark at a tree."]),
        hypothesis=pl.Series(["A man is asleep.", "Some girls are happy.", "The dogs are silent because they eat."]),
    )
    made = suite(rows)
    left = made.card.left_out
    assert left["reversal: question"] == 1
    assert left["negation: question"] == 1
    assert left["negation: quantifier"] == 1
    assert left["negation: several clauses"] == 1
    assert set(made.frame.collect()["law"]) == {
        "identity", "conjunction", "reversed neutral", "reversed contradiction",
    }  # fmt: skip


def test_a_sentence_is_its_own_premise_only_once() -> None:
    rows = pl.concat([PAIRS.head(1), PAIRS.head(1).with_columns(label=pl.lit("neutral"))])
    assert len(rows_of("identity", suite(rows))) == 1


def test_batches_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = api.generate("consistency", n=60)
    monkeypatch.setattr("acidtest.suites.corpus._BATCH_ROWS", 7)
    assert api.generate("consistency", n=60).frame.collect().equals(whole.frame.collect())


def test_n_is_how_many_source_pairs_are_used() -> None:
    made = suite(n=2)
    assert made.frame.collect()["group"].n_unique() == 2
    with pytest.raises(AcidtestError, match="4 pairs were asked for"):
        suite(n=4)


def test_without_trust_a_new_description_is_not_negated_nor_a_distant_contradiction_doubly() -> None:
    rows = pl.DataFrame(
        {
            "premise": ["On the steep hill you will find the zoo.", "The child washes his hands in the kitchen."],
            "hypothesis": ["The zoo is on a giant hill.", "The child makes faces at his teacher."],
            "label": ["entailment", "contradiction"],
            "annotator_labels": ['["entailment", "entailment"]', '["contradiction", "contradiction"]'],
        }
    )
    careful, trusting = suite(rows), suite(rows, trust_gold=True)
    assert not rows_of("negated entailment", careful)
    assert len(rows_of("double negation", careful)) == 1
    assert len(rows_of("negated entailment", trusting)) == 1
    assert len(rows_of("double negation", trusting)) == 2
