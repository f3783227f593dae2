"""Numbers in words and back; which numbers of a sentence can be changed, and the sentence with one changed."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acidtest.english.values.numbers import (
    PATTERN,
    Bound,
    Quantity,
    alternatives,
    digit_alternatives,
    first_integer,
    in_words,
    number_from_words,
    quantities,
    replace_number,
    write_like,
)

FIT = [
    ("Tim has 350 pounds of cement in 100, 50, and 25 pound bags.", "350", 350, "digits"),
    ("The depot sold 1,250 tickets.", "1,250", 1250, "digits"),
    ("Three men walk along the beach.", "Three", 3, "words"),
    ("Ewa laid forty-two small gray tiles.", "forty-two", 42, "words"),
    ("The club rented two hundred chairs.", "two hundred", 200, "words"),
    ("The parcel weighs 3.5 kilograms.", "3.5", Decimal("3.5"), "decimal"),
    ("Nadia won by 0.8 seconds.", "0.8", Decimal("0.8"), "decimal"),
    ("Prices rose by 15 percent.", "15", 15, "percent"),
    ("Prices rose by 15% in May.", "15", 15, "percent"),
    ("Sixty percent of Americans agree.", "Sixty", 60, "percent"),
    ("Marcus paid $450 for the desk.", "$450", 450, "money"),
    ("Paolo got eighty dollars back.", "eighty", 80, "money"),
    ("The fire caused $3.5 million in damages.", "$3.5", Decimal("3.5"), "money"),
    ("Some 3 states sent a total of 40 men.", "40", 40, "digits"),
    ("Asha lent him Rs. 500 in May.", "Rs. 500", 500, "money"),
    ("Whales of this kind live in 3 million square miles of sea.", "3", 3, "digits"),
    ("A taxi cost the Nguyens 28 euros.", "28", 28, "money"),
    ("Last night four goats slipped away.", "four", 4, "words"),
    ("In 12 days the crew built a bridge.", "12", 12, "digits"),
    ("Gil moved her drafting table five feet to the left.", "five", 5, "words"),
]

UNFIT = [
    ("Rosa has 1 apple.", "one or none"),
    ("One of the dogs barked at zero cats.", "one or none"),
    ("A hundred people came.", "vague"),
    ("In 1998 sales rose.", "year"),
    ("The agent had code 007 cards.", "name"),
    ("The band Three Rivers played for Twenty minutes.", "name"),
    ("The whole class, 100 percent, came.", "whole"),
    ("The 5 boys left.", "definite"),
    ("His two dogs bark.", "definite"),
    ("Anna's 3 dogs bark.", "definite"),
    ("These five houses burned.", "definite"),
    ("The team scored a daring 5 goals.", "definite"),
    ("All 40 guests left.", "quantified"),
    ("Some 40 guests left.", "quantified"),
    ("Over 40 guests left.", "bounded"),
    ("About 40 guests left.", "bounded"),
    ("The last 3 guests left.", "modified"),
    ("An extra 20 dollars came in.", "modified"),
    ("A 12 percent rise followed.", "modified"),
    ("Cave 31 tries a new style.", "name"),
    ("Flight 208 leaves behind it noises.", "name"),
    ("Grade 8 students sang.", "name"),
    ("Ann saw grade 8 students.", "name"),
    ("On March 3 fans came.", "date"),
    ("A man saw three or 4 dogs.", "alternative"),
    ("Ann saw 3 or 4 dogs.", "range"),
    ("It takes 5 to 7 days.", "range"),
    ("The fee went from $5 to $9 in May.", "range"),
    ("The rug measures 4 by 6 feet.", "range"),
    ("They hiked two to three miles.", "range"),
    ("They hiked twenty-five to thirty miles.", "range"),
    ("They hiked two hundred to three hundred miles.", "range"),
    ("The shed measures ten by twelve feet.", "range"),
    ("Ann saw two or three dogs.", "range"),
    ("Ann owns twenty-five hundred books.", "vague"),
    ("Ann owns twenty five hundred books.", "vague"),
    ("Ann owns 25 hundred books.", "vague"),
    ("One of 3 boys left.", "part"),
    ("Ann and Bob are two doctors.", "spelled out"),
    ("Two dogs, one black and one white, ran.", "spelled out"),
    ("Three friends Alan, Roger and Peter sang.", "spelled out"),
    ("There are two worlds called Thar and Erath.", "spelled out"),
    ("A bag weighs 7 pounds 4 ounces.", "compound"),
    ("The show lasted 2 hours and 30 minutes.", "compound"),
    ("He stood six feet five.", "compound"),
    ("He was the seventeenth of 57 children.", "part"),
    ("It lasted two and a half hours.", "no noun"),
    ("It happened at 5 in the morning.", "no noun"),
    ("He lives at 41 Quincy Avenue.", "no noun"),
    ("A dozen men saw 3 dozen eggs.", "vague"),
    ("Two thirds of the guests left.", "fraction"),
    ("Tom has 3 more apples.", "compared"),
    ("Sales grew 3 times as fast.", "compared"),
    ("The tower rose 3 times higher.", "compared"),
    ("The shop opens at 3 p.m. on Mondays.", "clock"),
    ("There are 2 best routes to Rome.", "superlative"),
    ("A $450 grant came.", "modified"),
    ("The city gave Rosa $450 grants.", "modifier"),
    ("The 25-pound bags held 25 pound weights.", "modifier"),
    ("Two years' experience helped.", "possessive"),
    ("A shop is open 24 hours a day.", "constant"),
    ("A man stands on two feet.", "body part"),
    ("A man walks on two hands.", "body part"),
    ("He was at 29 years of age a monk.", "age"),
    ("Two dogs runs in the yard.", "no agreement"),
    ("Seven editors is too many.", "no agreement"),
    ("Two men and one woman sing.", "list"),
    ("Three men and a woman sing.", "list"),
    ("Thieves took $900 and 4 watches.", "list"),
    ("Children smile when three clowns come.", "subordinate"),
    ("A rise of 31 percent to 67 percent came.", "range"),
    ("The man who has 3 dogs left.", "subordinate"),
    ("The dog left because 3 men came.", "subordinate"),
    ("Ann came to buy 3 eggs.", "purpose"),
    ("Ann has 8 pens, 5 red ones and 3 blue ones.", "spelled out"),
    ("Ann has 80 red pens and 30 blue pens in 110 boxes.", "told elsewhere"),
    ("Here 60 percent of the guests sang and 40 percent of them danced.", "told elsewhere"),
]

UNTOUCHED = [
    "She was born on May 5, 2011, and her brother on the 3rd of June.",
    "The train left at 5:30 and the bus at 5:45 p.m.",
    "A 12-year-old boy carried 25-pound bags.",
    "The Tigers won 3-1 in the 1990s.",
    "The ratio is 3:4, or 3/4 of it.",
    "Call 555-0199 about version 2.0.1 of the A380.",
    "The third of twenty-first graders likes no one.",
    "Louis XIV and a boy read chapter IV.",
    "It takes 10-12 days.",
]


def fit(sentence: str) -> list[Quantity]:
    return [quantity for quantity in quantities(sentence) if not quantity.problem]


@pytest.mark.parametrize(("sentence", "text", "value", "form"), FIT, ids=[case[0] for case in FIT])
def test_an_exact_quantity_can_be_changed(sentence: str, text: str, value: Decimal, form: str) -> None:
    assert [(found.text, found.value, found.form) for found in fit(sentence)] == [(text, value, form)]


@pytest.mark.parametrize(("sentence", "problem"), UNFIT, ids=[case[0] for case in UNFIT])
def test_a_number_that_cannot_be_changed_says_why(sentence: str, problem: str) -> None:
    assert fit(sentence) == []
    assert problem in [found.problem for found in quantities(sentence)]


@pytest.mark.parametrize("sentence", UNTOUCHED)
def test_dates_times_names_and_parts_of_words_are_no_quantities(sentence: str) -> None:
    assert fit(sentence) == []


@pytest.mark.parametrize(
    ("sentence", "number", "bound", "expected"),
    [
        ("Tim has 350 pounds of cement.", 250, "more than", "Tim has more than 250 pounds of cement."),
        ("Tim has 350 pounds of cement.", 750, "less than", "Tim has less than 750 pounds of cement."),
        ("Tim has 350 pounds of cement.", 750, None, "Tim has 750 pounds of cement."),
        ("Ann paid $450 for it.", 500, "less than", "Ann paid less than $500 for it."),
        ("Ann paid $1,264.80 for it.", Decimal("900.10"), "more than", "Ann paid more than $900.10 for it."),
        ("Ann paid $48.00 for it.", 30, "more than", "Ann paid more than $30.00 for it."),
        ("Forty men sang.", 25, "more than", "More than twenty-five men sang."),
        ("Forty men sang.", 25, None, "Twenty-five men sang."),
        ("40 men sang.", 30, "more than", "More than 30 men sang."),
        ("A town of 12,500 people sang.", 9_800, "more than", "A town of more than 9,800 people sang."),
        ("A town of 800 people sang.", 1_400, "less than", "A town of less than 1,400 people sang."),
        ("A town of 12500 people sang.", 9_800, None, "A town of 9800 people sang."),
        ("Two hundred and five men sang.", 130, None, "One hundred and thirty men sang."),
        ("It cost $3.5 million in May.", Decimal("2.1"), "more than", "It cost more than $2.1 million in May."),
        ("Prices rose by 15% in May.", 9, "more than", "Prices rose by more than 9% in May."),
        ("It made a total of 40 cups.", 30, "more than", "It made a total of more than 30 cups."),
    ],
)
def test_a_number_is_written_as_the_quantity_was(
    sentence: str, number: Decimal, bound: Bound | None, expected: str
) -> None:
    (quantity,) = fit(sentence)
    assert replace_number(sentence, quantity, write_like(quantity, Decimal(number)), bound) == expected


@pytest.mark.parametrize(
    ("sentence", "lower", "higher"),
    [
        ("Ann has 2 dogs.", [], [4, 5, 6]),
        ("Ann has 3 dogs.", [2], [5, 6]),
        ("Ann has three dogs.", [2], [5, 6]),
        ("Ann has 10 dogs.", [5], [15, 20]),
        ("Ann has 400 books.", [200, 250, 300], [500, 550, 600, 650, 700, 750, 800, 850]),
        ("Ann has two hundred books.", [100], [300, 400]),
        ("Prices rose by 80 percent.", [40, 50, 60], []),
        ("It costs 60 cents.", [30, 40, 50], [80, 90]),
        (
            "Ann ran 1.5 miles.",
            ["1.1", "1.2"],
            ["1.8", "1.9", "2.1", "2.2", "2.3", "2.4", "2.5", "2.6", "2.7", "2.8", "2.9", "3.1", "3.2", "3.3"],
        ),
        ("It weighs 0.5 tons.", ["0.2", "0.3", "0.4"], ["0.6", "0.7", "0.8", "0.9", "1.1"]),
    ],
)
def test_other_numbers_look_like_the_quantity(sentence: str, lower: list[int | str], higher: list[int | str]) -> None:
    (quantity,) = fit(sentence)
    assert alternatives(quantity, higher=False) == [Decimal(number) for number in lower]
    assert alternatives(quantity, higher=True) == [Decimal(number) for number in higher]


@given(st.integers(2, 5_000_000), st.booleans(), st.booleans())
def test_every_other_number_is_clearly_another_and_as_round(value: int, higher: bool, comma: bool) -> None:
    text = f"{value:,}" if comma else str(value)
    for quantity in fit(f"Ann has {text} pounds of salt."):
        for number in alternatives(quantity, higher=higher):
            ratio = number / value
            assert Decimal("1.2") <= ratio <= 3 if higher else Decimal("0.4") <= ratio <= Decimal("0.85")
            assert number % 1 == 0
            assert number > 1
            assert number % quantity.step == 0


@given(
    st.sampled_from([case[0] for case in FIT]),
    st.integers(0, 10_000),
    st.sampled_from([None, "more than", "less than"]),
)
def test_the_text_outside_the_quantity_stays(sentence: str, choice: int, bound: Bound | None) -> None:
    (quantity,) = fit(sentence)
    numbers = alternatives(quantity, higher=True) or alternatives(quantity, higher=False)
    number = write_like(quantity, numbers[choice % len(numbers)])
    new = replace_number(sentence, quantity, number, bound)
    before, after = sentence[: quantity.start], sentence[quantity.end :]
    assert new.startswith(before)
    assert new.endswith(after)
    middle = new[len(before) : len(new) - len(after)]
    assert middle.lower() == (f"{bound} {number}" if bound else number).lower()


def test_what_a_clause_is_about_is_told_apart() -> None:
    subjects = ("Two men walk.", "There are two men here.", "In a park, two men walk.")
    assert [fit(sentence)[0].opens_clause for sentence in subjects] == [True, True, True]
    assert not fit("Ann sees two men.")[0].opens_clause


def test_the_released_script_takes_the_first_whole_number_and_replaces_its_first_digit() -> None:
    quantity = first_integer("The 1.5 mile road has 25 bends, 3 of them sharp.")
    assert quantity.text == "25"
    assert [str(number) for number in digit_alternatives(quantity)] == ["15", "35", "45", "55", "65", "75", "85"]


def test_a_number_beyond_what_words_can_say_is_never_proposed() -> None:
    quantity = fit("There are nine hundred million people in the country.")[0]
    assert all(number < 1_000_000_000 for number in alternatives(quantity, higher=True))


WRITTEN = {
    0: "zero",
    2: "two",
    13: "thirteen",
    20: "twenty",
    42: "forty-two",
    100: "one hundred",
    105: "one hundred five",
    350: "three hundred fifty",
    1_000: "one thousand",
    7_016: "seven thousand sixteen",
    21_300: "twenty-one thousand three hundred",
    1_000_000: "one million",
    2_450_001: "two million four hundred fifty thousand one",
}


@pytest.mark.parametrize(("number", "words"), WRITTEN.items())
def test_a_number_is_written_as_americans_do(number: int, words: str) -> None:
    assert in_words(number) == words


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (105, "one hundred and five"),
        (350, "three hundred and fifty"),
        (2_006, "two thousand and six"),
        (300, "three hundred"),
        (1_250, "one thousand two hundred and fifty"),
    ],
)
def test_a_number_is_joined_with_and_as_the_british_do(number: int, words: str) -> None:
    assert in_words(number, joined=True) == words


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("a hundred and five", 105),
        ("A hundred", 100),
        ("an hundred", 100),
        ("twenty one", 21),
        ("Forty-Two", 42),
        ("twelve hundred", 1_200),
        ("two thousand, three hundred", 2_300),
        ("a million", 1_000_000),
        ("three million two hundred thousand and nine", 3_200_009),
    ],
)
def test_other_ways_to_say_a_number_are_read(words: str, number: int) -> None:
    assert number_from_words(words) == number


@pytest.mark.parametrize(
    "words",
    [
        "a dozen",
        "dozen",
        "hundred",
        "and five",
        "two-thirds",
        "third",
        "several",
        "",
        "a",
        "nineteen fifty nine",
        "fiveteen",
    ],
)
def test_what_is_no_number_is_none(words: str) -> None:
    assert number_from_words(words) is None


@given(st.integers(0, 1_000_000) | st.integers(0, 999_999_999), st.booleans())
def test_a_number_in_words_is_the_number_again(number: int, joined: bool) -> None:
    words = in_words(number, joined=joined)
    assert number_from_words(words) == number
    assert number == 0 or re.fullmatch(PATTERN, words)
