"""The suites ``grounding/number``, ``unit``, ``date`` and ``rewritten``, on documents and claims of our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from acidtest import api
from acidtest.core.suite import Suite

OTTO = ("Otto, who was born in 1950, owes 30 euros.", "Otto was born in 1950 and owes 30 euros.", "entailment")
"""A pair of which every edit makes something, so that no suite is empty."""

Row = tuple[Any, ...]


def edited(name: str, folder: Path, *pairs: tuple[str, str, str]) -> Suite:
    path = folder / "claims.jsonl"
    lines = (json.dumps(dict(zip(("document", "claim", "label"), pair, strict=True))) for pair in (OTTO, *pairs))
    path.write_text("\n".join(lines), encoding="utf-8")
    return api.generate(f"grounding/{name}", source=path)


def edits(name: str, folder: Path, document: str, claim: str, label: str = "entailment") -> list[Row]:
    """What an edit makes of a pair: claim, gold, kind and change."""
    frame = edited(name, folder, (document, claim, label)).frame.filter(pl.col("premise") != OTTO[0])
    return frame.select("hypothesis", "label", "kind", "change").collect().rows()


def reasons(name: str, folder: Path, document: str, claim: str) -> list[str]:
    """Why an edit makes nothing of a pair."""
    suite = edited(name, folder, (document, claim, "entailment"))
    assert suite.frame.filter(pl.col("premise") != OTTO[0]).collect().is_empty()
    return list(suite.card.left_out)


@pytest.mark.parametrize(
    ("document", "claim", "expected"),
    [
        (
            "The mill at Arden employs 48 people. It burns 5 tonnes of wood a day.",
            "The mill at Arden employs 48 people.",
            ("The mill at Arden employs 58 people.", "contradiction", "count", "48 → 58"),
        ),
        (
            "The club has twelve hundred members and a choir.",
            "The club has 1,200 members.",
            ("The club has 2,600 members.", "contradiction", "count", "1,200 → 2,600"),
        ),
        (
            "The ship carries an 8-year-old dog.",
            "A sailor owns the 8-year-old dog that the ship carries.",
            ("A sailor owns the 27-year-old dog that the ship carries.", "contradiction", "age", "8 → 27"),
        ),
        (
            "The town paid $8 million for the bridge.",
            "The town spent an $8 million budget on the bridge.",
            ("The town spent a $17 million budget on the bridge.", "contradiction", "money", "8 → 17"),
        ),
        (
            "Eighteen of the 20 clocks still run.",
            "Eighteen of these clocks still run.",
            ("Twenty-six of these clocks still run.", "contradiction", "count", "Eighteen → Twenty-six"),
        ),
    ],
)
def test_a_number_becomes_another_in_the_same_form(document: str, claim: str, expected: Row, tmp_path: Path) -> None:
    assert edits("number", tmp_path, document, claim) == [expected]


@pytest.mark.parametrize(
    ("document", "claim", "reason"),
    [
        ("The hall seats about 300 people.", "The hall has 300 seats for people.", "approximate or bounded"),
        ("The hall has 300 seats.", "The hall has more than 300 seats.", "approximate or bounded"),
        ("The bus can carry 40 people.", "The bus can carry 40 people.", "possibility or requirement"),
        ("The team did not win three games.", "The team did not win three games.", "negated or conditional claim"),
        ("Two cats and two dogs live there.", "Two cats live there.", "number twice in the evidence sentence"),
        ("Members who pay 20 euros get a badge.", "Members who pay 20 euros get a badge.", "part of a restriction"),
        ("Five men left on three ships.", "Three men left.", "number counts something else in the evidence"),
        ("The boat took three to six days.", "The boat took three to six men.", "range, list or ratio"),
        ("Ada won. Ben won twelve medals.", "The two won twelve medals and cups.", "no single evidence sentence"),
    ],
)
def test_a_number_stays_where_gold_is_uncertain(document: str, claim: str, reason: str, tmp_path: Path) -> None:
    assert reasons("number", tmp_path, document, claim) == [reason]


@pytest.mark.parametrize(
    "claim", ["The Plover 2 is a lamp.", "Arden won 27-25.", "The film 60 Minutes is long.", "It fell in 322 b.c."]
)
def test_names_scores_and_years_are_not_numbers_to_change(claim: str, tmp_path: Path) -> None:
    assert reasons("number", tmp_path, claim, claim) == []


def test_a_number_stays_where_the_document_has_all_others_in_some_form(tmp_path: Path) -> None:
    # Two sites could become four to seven. Five and two are seven, so that five is not taken if the document has seven.
    document = "The firm has two sites. Its fourth owner, one of five heirs, sold 6 barns; seven burned."
    assert reasons("number", tmp_path, document, "The firm has two sites.") == ["other value in the document"]
    document = "The firm has two sites. Its fourth owner sold 6 barns."
    assert edits("number", tmp_path, document, "The firm has two sites.")[0][3] in ("two → five", "two → seven")


@pytest.mark.parametrize(
    ("document", "claim", "expected"),
    [
        (
            "The tower is 36 metres high.",
            "The tower is 36 metres high.",
            ("The tower is 36 feet high.", "contradiction", "length", "metres → feet"),
        ),
        (
            "The bridge cost 60 million dollars.",
            "The bridge cost 60 million dollars.",
            ("The bridge cost 60 million pounds.", "contradiction", "money", "dollars → pounds"),
        ),
        (
            "The pill has 20 mg of iron.",
            "There are 20 mg of iron in the pill.",
            ("There are 20 g of iron in the pill.", "contradiction", "mass", "mg → g"),
        ),
        (
            "Patients felt better after two weeks.",
            "Patients felt better after two weeks.",
            ("Patients felt better after two months.", "non-entailment", "time", "weeks → months"),
        ),
    ],
)
def test_a_unit_becomes_another(document: str, claim: str, expected: Row, tmp_path: Path) -> None:
    assert edits("unit", tmp_path, document, claim) == [expected]


def test_an_amount_that_the_document_has_in_another_unit_is_not_taken(tmp_path: Path) -> None:
    # 36 kilometres are 36,000 metres, and 36 centimetres are 360 millimetres: only feet are left.
    document = "The tower is 36 metres high. The road is 36,000 metres long. The step is 360 mm high."
    assert edits("unit", tmp_path, document, "The tower is 36 metres high.")[0][3] == "metres → feet"


def test_pounds_are_money_only_where_something_is_paid(tmp_path: Path) -> None:
    assert edits("unit", tmp_path, "The dog weighs 30 pounds.", "The dog weighs 30 pounds.") == []
    (row,) = edits("unit", tmp_path, "The fee is 30 pounds, to be paid in cash.", "The fee is 30 pounds.")
    assert row == ("The fee is 30 euros.", "contradiction", "money", "pounds → euros")


@pytest.mark.parametrize(
    ("document", "claim", "expected"),
    [
        (
            "The mill, which closed in 1950, was built in 1903.",
            "The mill was built in 1903.",
            ("The mill was built in 1909.", "contradiction", "year", "1903 → 1909"),
        ),
        (
            "In 2019 the fund lost 4 percent.",
            "In 2019 the fund lost 4 percent.",
            ("In 2013 the fund lost 4 percent.", "non-entailment", "year", "2019 → 2013"),
        ),
        (
            "The meeting on 3 May 2021 lasted long.",
            "The meeting on May 3, 2021 was long.",
            ("The meeting on April 3, 2021 was long.", "non-entailment", "month", "May 3, 2021 → April 3, 2021"),
        ),
        (
            "The shop opens at 9 a.m. on weekdays.",
            "The shop opens at 9 a.m.",
            ("The shop opens at 7 a.m.", "non-entailment", "time", "9 a.m. → 7 a.m."),
        ),
        (
            "Ada left on Tuesday with the keys.",
            "Ada left on Tuesday.",
            ("Ada left on Monday.", "non-entailment", "weekday", "Tuesday → Monday"),
        ),
        (
            "The strike lasted for nine days.",
            "The strike lasted for nine days.",
            ("The strike lasted for twenty-three days.", "contradiction", "duration", "nine → twenty-three"),
        ),
    ],
)
def test_a_date_becomes_another(document: str, claim: str, expected: Row, tmp_path: Path) -> None:
    assert edits("date", tmp_path, document, claim) == [expected]


@pytest.mark.parametrize(
    ("document", "claim", "expected"),
    [
        ("It has been open since 1998.", "It has been open since 1998.", ["approximate or bounded"]),
        ("Ada came in 1998.", "Ada came in 1999.", ["date not in the evidence sentence"]),
        ("The inn existed in 1998.", "The inn existed in 1998.", ["state that may last"]),
        ("Ada reads the Sunday Times.", "Ada reads the Sunday Times.", []),
    ],
)
def test_a_date_stays_where_gold_is_uncertain(document: str, claim: str, expected: list[str], tmp_path: Path) -> None:
    assert reasons("date", tmp_path, document, claim) == expected


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("The club has 1,200 members.", {"number": "The club has 1200 members."}),
        ("The club has twelve members.", {"number": "The club has 12 members."}),
        ("12 men left.", {"number": "Twelve men left."}),
        ("Half of the members left.", {"number": "Fifty percent of the members left."}),
        ("A 5% share was sold.", {"number": "A 5 percent share was sold."}),
        (
            "The loan was 1.5 million euros.",
            {"number": "The loan was 1,500,000 euros.", "unit": "The loan was €1.5 million."},
        ),
        ("The path is 3 km long.", {"unit": "The path is 3,000 m long."}),
        ("It lasted two weeks.", {"number": "It lasted 2 weeks.", "unit": "It lasted 14 days."}),
        ("The fee was $5.", {"unit": "The fee was 5 dollars."}),
        ("It was signed on 3 May 2021 in Arden.", {"date": "It was signed on May 3, 2021, in Arden."}),
        ("On May 3, 2021, the shop closed.", {"date": "On 2021-05-03, the shop closed."}),
        ("The shop closes at 5 p.m.", {"date": "The shop closes at 17:00."}),
        ("The shop closes at 17:30.", {"date": "The shop closes at 5:30 pm."}),
        ("It was built in the 19th century.", {"date": "It was built in the nineteenth century."}),
        ("Apollo 11 landed between three and five.", {}),
        ("The three were late for the 10:00 train.", {}),
    ],
)
def test_a_claim_is_rewritten_with_the_same_meaning(claim: str, expected: dict[str, str], tmp_path: Path) -> None:
    rows = edits("rewritten", tmp_path, "The shop is old.", claim, "contradiction")
    assert {kind: text for text, _, kind, _ in rows} == expected
    assert {label for _, label, _, _ in rows} <= {"contradiction"}


def test_claims_without_gold_are_edited_and_stay_without(tmp_path: Path) -> None:
    path = tmp_path / "claims.jsonl"
    path.write_text(json.dumps({"document": OTTO[0], "claim": "Otto owes 30 euros."}), encoding="utf-8")
    frame = api.generate("grounding/number", source=path).frame.collect()
    assert frame["label"].to_list() == ["any"]


def test_changed_claims_have_other_gold_than_the_claims_they_were_made_of() -> None:
    for name in ("number", "unit", "date"):
        suite = api.generate(f"grounding/{name}")
        assert suite.control is not None
        old = suite.control.frame.select(base_id="id", old="label")
        labels = suite.frame.join(old, on="base_id").select("old", "label").collect()
        assert labels["old"].unique().to_list() == ["entailment"]
        assert set(labels["label"]) <= {"contradiction", "non-entailment"}
        assert labels.height == suite.frame.collect().height


@pytest.mark.parametrize(
    ("document", "claim"),
    [
        # A larger number does not deny a smaller bound, whichever sentence has it.
        (
            "The firm sells in more than 30 countries and 200 territories. It is old.",
            "The firm sells in 200 territories.",
        ),
        ("The firm has 200 shops. It sells in more than an additional 150 towns.", "The firm sells in 150 towns."),
        (
            "The firm sells in 200 territories. By now there may be more than 200 territories.",
            "The firm sells in 200 territories.",
        ),
    ],
)
def test_a_bounded_number_stays_as_it_is(document: str, claim: str, tmp_path: Path) -> None:
    assert edits("number", tmp_path, document, claim) == []


@pytest.mark.parametrize("name", ["unit", "date", "number"])
@pytest.mark.parametrize(
    "claim",
    [
        "It was the first concert of the choir in seven years.",
        "The prize was the largest in 30 years.",
        "The choir gave its second concert in the last five weeks.",
    ],
)
def test_how_long_something_is_the_first_or_largest_stays_as_it_is(name: str, claim: str, tmp_path: Path) -> None:
    # What is the first one in seven years is so in seven weeks, too.
    assert edits(name, tmp_path, f"The hall was full. {claim} The mayor wept.", claim) == []


def test_a_night_ago_is_no_ordinal(tmp_path: Path) -> None:
    claim = "Last night the pump leaked for 35 minutes."
    assert [row[2] for row in edits("date", tmp_path, f"It froze. {claim} It was repaired.", claim)] == ["duration"]


@pytest.mark.parametrize("name", ["number", "rewritten"])
def test_the_number_of_a_list_item_is_no_number(name: str, tmp_path: Path) -> None:
    document = "The museum has two parts. 3. Paintings hang upstairs. 4. Coins lie in 18 cases."
    assert edits(name, tmp_path, document, "3. Paintings hang upstairs.") == []
    changes = [row[3] for row in edits(name, tmp_path, document, "4. Coins lie in 18 cases.")]
    assert [change.split(" → ")[0] for change in changes] == ["18"]


def test_an_ordinal_with_a_space_is_no_number(tmp_path: Path) -> None:
    claim = "He and Els were on the 17 th green in May."
    assert edits("number", tmp_path, f"It froze. {claim} They won.", claim) == []
    assert edits("rewritten", tmp_path, f"It froze. {claim} They won.", claim) == []


@pytest.mark.parametrize(
    ("name", "claim", "changed"),
    [
        # Another bet of another sum may have been placed, and other bonds sold.
        ("number", "A bet of $75 was placed on the team.", "A bet of $148 was placed on the team."),
        ("unit", "A bet of $75 was placed on the team.", "A bet of £75 was placed on the team."),
        ("date", "The firm in Wick sold the 10-year bond.", "The firm in Wick sold the 15-year bond."),
        ("date", "The 10-year survival rate improved in Wick.", "The 25-year survival rate improved in Wick."),
        ("trend", "There is an award for more than 40 lawyers.", "There is an award for fewer than 40 lawyers."),
    ],
)
def test_one_of_several_things_does_not_deny_another(name: str, claim: str, changed: str, tmp_path: Path) -> None:
    rows = edits(name, tmp_path, f"It froze. {claim} Then it rained.", claim)
    assert [row[:2] for row in rows] == [(changed, "non-entailment")]


@pytest.mark.parametrize("claim", ["A spider has 8 legs.", "One inch is 2.54 centimetres.", "The bet was $75."])
def test_what_all_of_a_kind_have_is_denied_by_another_number(claim: str, tmp_path: Path) -> None:
    rows = edits("number", tmp_path, f"It froze. {claim} Then it rained.", claim)
    assert [row[1] for row in rows] == ["contradiction"]


def test_what_lasts_for_years_is_not_said_to_last_for_months(tmp_path: Path) -> None:
    claims = [f"Ola Brand led the choir for {number} weeks." for number in (20, 22, 26, 30, 34, 38)]
    units = {row[3] for claim in claims for row in edits("unit", tmp_path, f"It froze. {claim} It rained.", claim)}
    assert units
    assert units.isdisjoint({"weeks → days", "weeks → hours"})


@pytest.mark.parametrize("name", ["unit", "date", "number"])
def test_a_five_year_high_is_a_high_of_five_months_too(name: str, tmp_path: Path) -> None:
    claim = "The rupee has hit a five-year high."
    assert edits(name, tmp_path, f"It froze. {claim} Then it rained.", claim) == []


@pytest.mark.parametrize("name", ["number", "rewritten"])
@pytest.mark.parametrize("claim", ["3096 (3096 Tage) is a drama by Orr.", 'Orr made the film "Apollo 13" by himself.'])
def test_the_number_of_a_title_stays(name: str, claim: str, tmp_path: Path) -> None:
    assert edits(name, tmp_path, f"It froze. {claim} Then it rained.", claim) == []


@pytest.mark.parametrize(
    ("claim", "changed"),
    [
        ("The firm spent £600m on ships.", "The firm spent 600 million pounds on ships."),
        ("The firm earned 7.5bn euros.", "The firm earned €7.5 billion."),
    ],
)
def test_short_scales_are_read_as_newspapers_mean_them(claim: str, changed: str, tmp_path: Path) -> None:
    rows = edits("rewritten", tmp_path, f"It froze. {claim} Then it rained.", claim)
    assert [row[0] for row in rows] == [changed]
