"""Numbers with units, and the values that a text mentions."""

from __future__ import annotations

from decimal import Decimal

import pytest

from acidtest.english.values.measures import NumberMentions, conversions, find_unit, ordinal, read_measures, units


def read(text: str) -> list[tuple[str, str, str]]:
    return [
        (measure.number, measure.scale, measure.unit.name if measure.unit else "") for measure in read_measures(text)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It cost $3.5 million.", [("3.5", "million", "dollar")]),
        ("a 30-minute walk of 2 km", [("30", "", "minute"), ("2", "", "kilometre")]),
        ("forty-two men and 1,250 women", [("forty-two", "", ""), ("1,250", "", "")]),
        (
            "£600m, $1.13bn, $5M and 7.5bn euros",
            [
                ("600", "m", "pound sterling"),
                ("1.13", "bn", "dollar"),
                ("5", "M", "dollar"),
                ("7.5", "bn", "euro"),
            ],
        ),
        ("a race of 600m", [("600", "", "metre")]),
        ("a 12-year-old girl", [("12", "", "year")]),
        ("88 km/h or 55 miles per hour", [("88", "", "kilometre per hour"), ("55", "", "mile per hour")]),
        ("100°C, 15% and 3 m²", [("100", "", "degree Celsius"), ("15", "", "percent"), ("3", "", "square metre")]),
        ("They won 27-25 with the P8 in 2022-23 and 4 1/2 points.", []),
    ],
)
def test_numbers_are_read_with_scale_and_unit(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert read(text) == expected


def test_equal_amounts_in_different_units_are_equal() -> None:
    (three,), (thousands,) = read_measures("3 km"), read_measures("3,000 metres")
    assert three.amount == thousands.amount == ("length", Decimal(3000))


def test_a_text_mentions_values_in_every_form() -> None:
    text = "A dozen men, twelve hundred women and the third ship: 2.5 million in all, twenty-one of them on 5 km."
    mentions = NumberMentions(text, frozenset(text.lower().replace(":", "").replace(",", "").strip(".").split()))
    for value in (12, 1200, 3, 2_500_000, 21, 5):
        assert mentions.has(Decimal(value))
    assert mentions.has(Decimal("2.5"))
    assert mentions.has(Decimal(5000), unit=find_unit("metre", spelling="gb"))
    assert not mentions.has(Decimal(7))


@pytest.mark.parametrize(
    ("source", "value", "expected"),
    [
        ("kilometre", "3", {"metre": "3000"}),
        ("hour", "2", {"minute": "120"}),
        ("day", "14", {"week": "2"}),
        ("day", "15", {}),
        ("milligram", "500", {"gram": "0.5"}),
        ("mile", "3", {}),
    ],
)
def test_conversions_are_exact_or_none(source: str, value: str, expected: dict[str, str]) -> None:
    pairs = ((conversion.target, conversion.converted(Decimal(value))) for conversion in conversions().get(source, ()))
    assert {target: number for target, number in pairs if number is not None} == {
        target: Decimal(number) for target, number in expected.items()
    }


def test_every_conversion_keeps_the_amount() -> None:
    # A month has no exact number of seconds here; a year has twelve of them.
    for source, targets in conversions().items():
        for conversion in targets:
            one, other = (find_unit(name, spelling="gb").factor for name in (source, conversion.target))
            assert one * conversion.factor.denominator == other * conversion.factor.numerator, (source, conversion)


def test_units_that_replace_each_other_are_never_almost_equal() -> None:
    for unit in units():
        for name in unit.others:
            other = find_unit(name, spelling=unit.spelling)
            if other.dimension == unit.dimension:
                ratio = max(unit.factor, other.factor) / min(unit.factor, other.factor)
                assert ratio > Decimal("1.5"), (unit.name, name)


def test_ordinals_are_spelled_right() -> None:
    words = ("one", "two", "three", "five", "eight", "nine", "twelve", "twenty", "twenty-one", "forty-four")
    expected = "first second third fifth eighth ninth twelfth twentieth twenty-first forty-fourth"
    assert " ".join(map(ordinal, words)) == expected
