"""Words of comparison and change, turned round."""

from __future__ import annotations

import pytest

from acidtest.suites.grounding.trends import ReversedTrend, reverse_trend


@pytest.mark.parametrize(
    ("claim", "reversed_claim", "kind"),
    [
        ("Sales rose by 4 percent.", "Sales fell by 4 percent.", "change"),
        ("The price of bread has gone up.", "The price of bread has gone down.", "change"),
        ("The fund lost 6 percent.", "The fund gained 6 percent.", "change"),
        ("There was an increase in crime.", "There was a decrease in crime.", "change"),
        ("The hall is larger than the old one.", "The hall is smaller than the old one.", "comparative"),
        ("The town has more schools than Elm.", "The town has fewer schools than Elm.", "comparative"),
        ("The pump makes more noise than before.", "The pump makes less noise than before.", "comparative"),
        (
            "The pupils ate more hot meals than last year.",
            "The pupils ate fewer hot meals than last year.",
            "comparative",
        ),
        ("The plants in the hut are shorter than mine.", "The plants in the hut are longer than mine.", "comparative"),
        ("More than 40 people came.", "Fewer than 40 people came.", "bound"),
        ("The walk takes more than 40 minutes.", "The walk takes less than 40 minutes.", "bound"),
        ("She left before the guests arrived.", "She left after the guests arrived.", "order"),
        ("The value was 2 degrees above the average.", "The value was 2 degrees below the average.", "place"),
    ],
)
def test_a_word_of_comparison_or_change_is_turned_round(claim: str, reversed_claim: str, kind: str) -> None:
    result = reverse_trend(claim, claim)
    assert isinstance(result, ReversedTrend), result
    assert (result.text, result.kind) == (reversed_claim, kind)


@pytest.mark.parametrize(
    ("claim", "evidence", "reason"),
    [
        (
            "Orders are withheld until after they are adults.",
            "Orders are withheld until after they are adults.",
            "fixed expression",
        ),
        ("Increasing taxes by 5 percent helped.", "Increasing taxes by 5 percent helped.", "in a description"),
        ("Sales did not rise by 4 percent, they fell.", "", "negation in the claim"),
        ("Some prices rose by 4 percent.", "", "several could be meant"),
        ("Prices may have risen by 4 percent.", "", "possibility or attitude"),
        ("The fee fell from 1.1 to 0.95 percent.", "", "from one value to another"),
        (
            "Sales rose by 4 percent.",
            "Sales rose by 4 percent after they had fallen.",
            "both directions in the evidence",
        ),
        ("She left before the guests arrived.", "The guests arrived when she had left.", "other words in the evidence"),
        ("It takes longer by train than by bus.", "", "no plain opposite"),
        ("The law forbids fees that rose by 4 percent.", "", "negation in the claim"),
        ("The fees that rose by 4 percent were paid.", "", "in a description"),
    ],
)
def test_where_both_could_be_true_nothing_is_turned_round(claim: str, evidence: str, reason: str) -> None:
    assert reverse_trend(claim, evidence) == reason


@pytest.mark.parametrize(
    "claim",
    [
        "The lake is deep.",
        "She rose from her chair.",
        "The plan was dropped.",
        "After eight weeks he slept.",
        "It is higher.",
    ],
)
def test_other_senses_are_no_trends(claim: str) -> None:
    assert reverse_trend(claim, claim) is None


def test_plants_that_are_not_short_are_tall_where_the_evidence_says_so() -> None:
    result = reverse_trend("The roses are shorter than the lilies.", "The lilies are taller than the roses.")
    assert isinstance(result, ReversedTrend)
    assert result.text == "The roses are taller than the lilies."


@pytest.mark.parametrize(
    "claim",
    [
        "In 1923 he rose to power on a wave of 40 percent support.",
        "The town was little more than 40 houses.",
        "She gave interview after interview about the film.",
    ],
)
def test_a_fixed_expression_is_not_turned_round(claim: str) -> None:
    assert reverse_trend(claim, claim) == "fixed expression"
