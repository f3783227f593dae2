"""Suites ``grounding/voice``, ``grounding/conjuncts`` and ``grounding/restriction``: claims in other words."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from acidtest import api
from acidtest.core.errors import NothingToMakeError
from acidtest.core.suite import Suite


def make(suite: str, tmp_path: Path, claim: str, label: str = "entailment") -> Suite:
    path = tmp_path / "claims.jsonl"
    document = f"We were told the news by an old friend. {claim} The weather was fine, and the gates stayed open."
    row = {"document": document, "claim": claim, "label": label}
    path.write_text(f"{json.dumps(row)}\n", encoding="utf-8")
    return api.generate(suite, source=path)


def edited(suite: str, tmp_path: Path, claim: str) -> str:
    row = make(suite, tmp_path, claim).frame.collect().row(0, named=True)
    assert row["label"] == "entailment"
    return str(row["hypothesis"])


def reason(suite: str, tmp_path: Path, claim: str) -> str:
    with pytest.raises(NothingToMakeError) as error:
        make(suite, tmp_path, claim)
    message = str(error.value)
    return message.partition("left out: 1 ")[2].partition(")")[0]


VOICES = {
    "Orsolo built the gates.": "The gates were built by Orsolo.",
    "The gates were built by Orsolo in 2021.": "Orsolo built the gates in 2021.",
    "In 2021 the city bought the old mill.": "In 2021 the old mill was bought by the city.",
    "The board has praised her.": "She has been praised by the board.",
    "He was warned by them.": "They warned him.",
    "Orsolo will repair the gates.": "The gates will be repaired by Orsolo.",
    "The nurses teach the boy.": "The boy is taught by the nurses.",
    "The boy is taught by the nurses.": "The nurses teach the boy.",
    "The mill has been rented by Orsolo since May.": "Orsolo has rented the mill since May.",
    "Freya Monk wrote the letter on 3 May 1926.": "The letter was written by Freya Monk on 3 May 1926.",
    "The board adopted the policy on trips last year.": "The policy on trips was adopted by the board last year.",
    "Orsolo has already sold the mill.": "The mill has already been sold by Orsolo.",
    "Brandt warned Orsolo about the meters.": "Orsolo was warned by Brandt about the meters.",
}


@pytest.mark.parametrize("claim", VOICES)
def test_a_clause_is_put_into_the_other_voice(claim: str, tmp_path: Path) -> None:
    assert edited("grounding/voice", tmp_path, claim) == VOICES[claim]


UNTURNED = {
    "Orsolo did not build the gates.": "",
    "No guard saw the thief.": "negation or comparison",
    "Beavers build dams.": "no definite subject or object",
    "Orsolo bought a tower in the square.": "more after the object",
    "Orsolo raised its prices.": "possessive pronoun",
    "Every guard saw a thief.": "quantifier",
    "The vase was placed by the window.": "",
    "The gates were built by May.": "no agent",
    "The house was painted by midnight.": "no agent",
}


@pytest.mark.parametrize("claim", UNTURNED)
def test_voice_is_kept_where_the_other_would_say_something_else(claim: str, tmp_path: Path) -> None:
    assert reason("grounding/voice", tmp_path, claim) == UNTURNED[claim]


def test_voice_and_conjuncts_keep_every_gold(tmp_path: Path) -> None:
    for label in ("entailment", "neutral", "contradiction"):
        turned = make("grounding/voice", tmp_path, "Orsolo built the gates.", label)
        assert turned.frame.collect()["label"].to_list() == [label]
        joined = make("grounding/conjuncts", tmp_path, "Anna and Boris left.", label)
        assert joined.frame.collect()["label"].to_list() == [label]


CONJUNCTS = {
    "Anna and Boris left.": "Boris and Anna left.",
    "The ferry runs between Oslo and Paris.": "The ferry runs between Paris and Oslo.",
    "Mr. Penhale and Mrs. Garcia checked the books.": "Mrs. Garcia and Mr. Penhale checked the books.",
    "Farmers and ranchers need permits.": "Ranchers and farmers need permits.",
    "The camera and the lamp must be charged.": "The lamp and the camera must be charged.",
    "She bought an old lamp and a new chain.": "She bought a new chain and an old lamp.",
    "She gave Emre a chain and a lamp.": "She gave Emre a lamp and a chain.",
    "The road is steep and narrow.": "The road is narrow and steep.",
    "It is an old and dusty road.": "It is a dusty and old road.",
    "France, Russia and China signed it.": "France, China and Russia signed it.",
    "Neither of them eats fish or meat.": "Neither of them eats meat or fish.",
}


@pytest.mark.parametrize("claim", CONJUNCTS)
def test_conjuncts_change_places(claim: str, tmp_path: Path) -> None:
    assert edited("grounding/conjuncts", tmp_path, claim) == CONJUNCTS[claim]


UNJOINED = {
    "He came and saw the city.": "conjuncts not plain",
    "Anna and Boris came first and second, respectively.": "order matters",
    "Hob and Table is a caterer.": "conjuncts not plain",
    "It was sold by Marks and Spencer.": "may be one name",
    "North and South Korea signed it.": "conjuncts not plain",
    "Tom and Mary Smith left.": "conjuncts not plain",
    "Anna and Mary left because she was tired.": "pronoun",
    "They like to write books and travel.": "conjuncts not plain",
    "They sell salt and pepper.": "conjuncts not plain",
    "The old men and women left.": "conjuncts not plain",
    "It closed between May and August.": "conjuncts not plain",
    "It is for members of the board and the council.": "conjuncts not plain",
}


@pytest.mark.parametrize("claim", UNJOINED)
def test_conjuncts_stay_where_their_order_counts_or_their_extent_is_not_sure(claim: str, tmp_path: Path) -> None:
    assert reason("grounding/conjuncts", tmp_path, claim) == UNJOINED[claim]


RESTRICTIONS = {
    "In 2021 the mill burned.": ("The mill burned.", "time"),
    "The mill was sold on 3 May 2020.": ("The mill was sold.", "time"),
    "The boat was built in Belfast.": ("The boat was built.", "place"),
    "In Belfast, the boat sank.": ("The boat sank.", "place"),
    "Ewan Thackley, a pharmacist, has two sons.": ("Ewan Thackley has two sons.", "clause"),
    "Ewan Thackley, who is 36, may not come.": ("Ewan Thackley may not come.", "clause"),
    "The yard built the Petrel, which carries cars.": ("The yard built the Petrel.", "clause"),
    "He sat on a wooden chair.": ("He sat on a chair.", "adjective"),
    "He lost an orange-red hat in May.": ("He lost an orange-red hat.", "time"),
}


@pytest.mark.parametrize("claim", RESTRICTIONS)
def test_a_restriction_is_left_out(claim: str, tmp_path: Path) -> None:
    row = make("grounding/restriction", tmp_path, claim).frame.collect().row(0, named=True)
    assert (row["hypothesis"], row["kind"]) == RESTRICTIONS[claim]
    assert (row["label"], row["edit"]) == ("entailment", "restriction")


UNDROPPED = {
    "No mill burned in 2021.": "negation, quantity or scope",
    "All mills burned in 2021.": "negation, quantity or scope",
    "The tallest mill burned in 2021.": "comparison",
    "Two mills burned in 2021.": "number",
    "The mill made more flour in 2021.": "negation, quantity or scope",
    "The sales fell in 2021.": "negation, quantity or scope",
    "The shop is closed on Sunday.": "not about the past",
    "She lived in Belfast.": "not an adjunct",
    "The factory burned in a night of 2021.": "",
    "He quoted a letter written in 1904.": "not an adjunct",
}


@pytest.mark.parametrize("claim", UNDROPPED)
def test_a_restriction_is_kept_where_the_rest_would_not_follow(claim: str, tmp_path: Path) -> None:
    assert reason("grounding/restriction", tmp_path, claim) == UNDROPPED[claim]


def test_restrictions_are_dropped_from_supported_claims_only() -> None:
    made = api.generate("grounding/restriction").frame.collect()
    assert made["label"].unique().to_list() == ["entailment"]
    assert made.filter(pl.col("hypothesis") == "William Herschel discovered Uranus.").height == 1


@pytest.mark.parametrize(
    "claim",
    [
        "The passage discusses Kempton at Sandown.",
        "The article describes the repairs on the Calder Bridge on Monday.",
        "The club postponed the match on Saturday.",
        "Orsolo visited Kempton near Sandown.",
        # Not "… was sent by a fight at the Calder Centre to hospital".
        "A fight at the Calder Centre sent one guard to hospital.",
    ],
)
def test_a_modifier_that_may_belong_to_the_object_does_not_move(claim: str, tmp_path: Path) -> None:
    assert reason("grounding/voice", tmp_path, claim) == "more after the object"


def test_a_sum_is_not_the_subject_of_a_fine(tmp_path: Path) -> None:
    assert reason("grounding/voice", tmp_path, "The stewards fined Tom Askey 200 pounds.") == "two objects"
