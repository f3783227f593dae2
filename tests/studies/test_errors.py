"""Shares, kept proposals and agreement counted by hand; the published shares against the paper."""

from __future__ import annotations

import math
import re
from pathlib import Path

import polars as pl
import pytest

from acidtest.core.errors import AcidtestError
from acidtest.io.published import published_scores
from acidtest.studies.errors.samples import Decisions
from acidtest.studies.errors import PUBLISHED, error_agreement, count_categories
from acidtest.studies.errors.categories import CATEGORIES

PAPER = Path(__file__).parents[3] / "shared" / "papers" / "naik2018_stress_tests.md"


def decisions(*rows: tuple[str | None, str | None], name: str = "errors.tsv") -> Decisions:
    """From proposals and categories."""
    frame = pl.DataFrame(rows, schema={"proposed": pl.String, "category": pl.String}, orient="row")
    return Decisions(
        Path(name),
        frame.select(
            suite=pl.lit("s"), id=pl.int_range(pl.len()).cast(pl.String), proposed="proposed", category="category"
        ),
    )


def test_shares_are_of_the_errors_that_were_decided_on() -> None:
    found = count_categories(
        decisions(("negation", "negation"), ("negation", "unknown"), ("unknown", "world knowledge"), ("antonymy", None))
    )
    assert (found.rows, found.decided) == (4, 3)
    negation = found.categories["negation"]
    assert (negation.count, negation.proposed) == (1, 2)
    assert negation.share.value == pytest.approx(1 / 3)
    assert negation.share.method == "Wilson"
    assert negation.proposed_share.value == 0.5
    assert (negation.kept.value, negation.kept.n) == (0.5, 2)
    assert (found.kept.value, found.kept.n) == (pytest.approx(1 / 3), 3)
    assert found.categories["world knowledge"].count == 1
    # 0 of 3: Clopper–Pearson upper bound 1 - 0.025 ** (1 / 3).
    assert found.categories["antonymy"].share.high == pytest.approx(1 - 0.025 ** (1 / 3))
    assert list(found.categories) == list(CATEGORIES)


def test_what_nobody_decided_has_no_share() -> None:
    found = count_categories(decisions(("negation", None), ("unknown", None)))
    share = found.categories["negation"].share
    assert math.isnan(share.value)
    assert share.note == "no error has a category yet"
    assert found.categories["negation"].proposed_share.value == 0.5
    assert found.kept.note == "nobody has decided on a proposal yet"
    assert found.categories["antonymy"].kept.note == "antonymy was proposed for no error decided on"


def test_an_empty_file_and_one_without_proposals_are_no_zero() -> None:
    assert count_categories(decisions()).categories["unknown"].proposed_share.note == "nothing to propose it by"
    bare = count_categories(decisions((None, "negation"), (None, "unknown")))
    assert bare.categories["negation"].share.value == 0.5
    assert not bare.kept.known


def test_what_the_rules_cannot_propose_has_no_share_of_zero() -> None:
    found = count_categories(decisions(("negation", "world knowledge")))
    assert not found.categories["world knowledge"].proposed_share.known
    assert found.categories["world knowledge"].share.value == 1
    assert found.categories["ambiguity"].proposed_share.value == 0
    told = decisions(("world knowledge", None))
    assert count_categories(told).categories["world knowledge"].proposed_share.value == 1


def test_json_has_null_for_what_is_not_known() -> None:
    told = count_categories(decisions(("negation", None))).to_json()
    assert told["categories"]["negation"]["share"]["value"] is None
    assert told["categories"]["negation"]["proposed"] == 1
    assert told["decided"] == 0
    assert len(told["published"]) == 18


def test_two_people_are_compared_on_what_both_decided() -> None:
    first = decisions(("unknown", "negation"), ("unknown", "negation"), (None, "antonymy"), (None, None), name="a.tsv")
    second = decisions(
        ("unknown", "negation"), ("unknown", "unknown"), (None, "antonymy"), (None, "unknown"), name="b.tsv"
    )
    found = error_agreement(first, second)
    assert (found.rows, found.only) == (3, (0, 1))
    assert found.share.value == pytest.approx(2 / 3)
    # Chance: 2/3 * 1/3 + 1/3 * 1/3 = 1/3, so that (2/3 - 1/3) / (2/3) is left.
    assert found.kappa.value == pytest.approx(0.5)
    assert vars(found.categories["negation"]) == {"first": 2, "second": 1, "both": 1}
    assert found.disagreements.rows() == [("s", "1", "negation", "unknown")]
    assert found.to_json()["disagreements"] == [{"suite": "s", "id": "1", "first": "negation", "second": "unknown"}]


def test_two_samples_of_different_errors_are_refused() -> None:
    other = decisions((None, "negation"))
    other = Decisions(Path("b.tsv"), other.frame.with_columns(id=pl.lit("else")))
    with pytest.raises(AcidtestError, match=r"errors.tsv and b.tsv have no error in common"):
        error_agreement(decisions((None, "negation")), other)


def test_two_people_who_decided_nothing_have_no_agreement() -> None:
    found = error_agreement(decisions((None, None)), decisions((None, None)))
    assert found.share.note == "nothing that both decided on"
    assert not found.kappa.known


# The paper's names of the categories, in its order.
NAMES = {
    "Word Overlap": "word overlap",
    "Negation": "negation",
    "Antonymy": "antonymy",
    "Numerical Reasoning": "numerical",
    "Length Mismatch": "length mismatch",
    "Grammaticality": "grammaticality",
    "Real-World Knowledge": "world knowledge",
    "Ambiguity": "ambiguity",
    "Unknown": "unknown",
}


def shares(corpus: str) -> dict[str, float]:
    scores = [score for score in published_scores(PUBLISHED) if score.by["corpus"] == corpus]
    return {score.by["category"]: score.value for score in scores}


def test_every_category_has_a_published_share_on_both_sets() -> None:
    assert list(shares("MultiNLI matched")) == list(shares("MultiNLI mismatched")) == list(CATEGORIES)


def test_published_shares_are_those_of_the_paper() -> None:
    if not PAPER.is_file():
        pytest.skip("the papers (../shared/papers) are not on this machine")
    text = PAPER.read_text(encoding="utf-8")
    listed = re.findall(r"^- \d\. \**([\w\- ]+?)\** \((\d+)%\):", text, flags=re.MULTILINE)
    assert {NAMES[name]: int(number) / 100 for name, number in listed} == shares("MultiNLI matched")
    # The print's nine shares of 100 errors add up to 101.
    assert sum(int(number) for _, number in listed) == 101
    table = text[text.index("Error Category\t% of Misclassified") : text.index("Table 6: Distribution")]
    rows = [line.split("\t") for line in table.strip().splitlines()[1:]]
    assert {NAMES[name]: int(number) / 100 for name, number in rows} == shares("MultiNLI mismatched")
