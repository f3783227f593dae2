"""The suite ``grounding/conflicts``: two passages, of which one may say otherwise."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from acidtest import api
from acidtest.core.suite import Suite


def conflicts(tmp_path: Path, *rows: tuple[str, str, str | None]) -> Suite:
    path = tmp_path / "claims.jsonl"
    names = ("document", "claim", "label")
    path.write_text("".join(f"{json.dumps(dict(zip(names, row, strict=True)))}\n" for row in rows), encoding="utf-8")
    return api.generate("grounding/conflicts", source=path)


PIER = "Wick is a port in the north. The pier of Wick is 350 metres long."
LONG = "The pier of Wick is 350 metres long."


def test_a_claim_stands_against_all_pairs_of_passages_that_agree_or_not(tmp_path: Path) -> None:
    frame = conflicts(tmp_path, (PIER, LONG, "entailment")).frame.collect()
    number = frame["change"][0].removeprefix("350 → ")
    other = PIER.replace("350", number)
    assert number != "350"
    assert frame.select("premise", "hypothesis", "label", "kind", "first", "last", "value").rows() == [
        (f"{PIER}\n\n{PIER}", LONG, "entailment", "both agree", "agrees", "agrees", "number"),
        (f"{PIER}\n\n{other}", LONG, "any", "the first agrees", "agrees", "disagrees", "number"),
        (f"{other}\n\n{PIER}", LONG, "any", "the last agrees", "disagrees", "agrees", "number"),
        (f"{other}\n\n{other}", LONG, "contradiction", "neither agrees", "disagrees", "disagrees", "number"),
    ]


def test_another_date_does_not_always_make_a_claim_false(tmp_path: Path) -> None:
    frame = conflicts(
        tmp_path, ("Ola Brand built a mill in 1954. Wick is cold.", "Ola Brand built a mill in 1954.", "entailment")
    )
    rows = frame.frame.collect()
    assert rows["label"].to_list() == ["entailment", "any", "any", "non-entailment"]
    assert set(rows["value"]) == {"date"}


def test_the_day_exists_in_the_other_month() -> None:
    changes = api.generate("grounding/conflicts").frame.collect()["change"]
    months = {change.split(" → ")[1] for change in changes} & {"February", "April", "June", "September", "November"}
    assert not months


@pytest.mark.parametrize(
    ("document", "claim", "reason"),
    [
        # The other passage would not deny these.
        (
            "A minibus can carry 16 people. Wick is cold.",
            "A minibus can carry 16 people.",
            "approximate or bounded number",
        ),
        ("Wick has 350 houses. Lund has 350 houses.", "Wick has 350 houses.", "other value in the document"),
    ],
)
def test_a_value_that_the_claim_could_survive_is_left_alone(
    tmp_path: Path, document: str, claim: str, reason: str
) -> None:
    suite = conflicts(tmp_path, (document, claim, "entailment"), (PIER, LONG, "entailment"))
    assert suite.card.rows == 4
    assert dict(suite.card.left_out) == {reason: 1}


def test_unsupported_claims_are_not_used_and_claims_without_gold_stay_without(tmp_path: Path) -> None:
    path = tmp_path / "claims.jsonl"
    path.write_text(f"{json.dumps({'document': PIER, 'claim': LONG})}\n", encoding="utf-8")
    assert api.generate("grounding/conflicts", source=path).frame.collect()["label"].to_list() == ["any"] * 4
    short = "The pier of Wick is 20 metres long."
    suite = conflicts(tmp_path, (PIER, LONG, "entailment"), (PIER, short, "contradiction"))
    assert set(suite.frame.collect()["hypothesis"]) == {LONG}


def test_the_changed_value_is_nowhere_else_in_the_starter_documents() -> None:
    suite = api.generate("grounding/conflicts")
    rows = suite.frame.collect().filter(kind="neither agrees")
    for premise, change in rows.select("premise", "change").iter_rows():
        first, last = premise.split("\n\n")
        assert first == last
        old, new = change.split(" → ")
        assert new.lower() in first.lower()
        assert not re.search(rf"(?<![\d.,]|\w){old}(?![.,]?\d|\w)", first, re.IGNORECASE)


@pytest.mark.parametrize(
    ("document", "claim"),
    [
        ("The firm is old. It sells in more than 30 countries and 200 territories.", "It sells in 200 territories."),
        ("The hall was full. It was the first concert in seven years.", "It was the first concert in seven years."),
    ],
)
def test_a_passage_with_a_larger_bound_does_not_disagree(document: str, claim: str, tmp_path: Path) -> None:
    rows = conflicts(tmp_path, (document, claim, "entailment"), (PIER, LONG, "entailment")).frame.collect()
    assert set(rows["hypothesis"]) == {LONG}
