"""Shares, kept proposals and agreement counted by hand; the published shares against the paper."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from acidtest.core.document import Chart, Note, Published, Section, Table, tables, walk
from acidtest.core.errors import AcidtestError
from acidtest.core.estimate import Estimate
from acidtest.core.serialise import to_json
from acidtest.io.published import published_scores
from acidtest.studies.errors import (
    PUBLISHED,
    Decisions,
    ErrorAgreement,
    ErrorsResult,
    count_categories,
    document,
    error_agreement,
)
from acidtest.studies.errors.samples import CATEGORIES

PAPER = Path(__file__).parents[3] / "shared" / "papers" / "naik2018_stress_tests.md"


def decisions(*rows: tuple[str | None, str | None], name: str = "errors.tsv") -> Decisions:
    """From proposals and categories."""
    frame = pl.DataFrame(rows, schema={"proposed": pl.String, "category": pl.String}, orient="row")
    return Decisions(
        Path(name),
        frame.select(
            suite=pl.lit("s"),
            id=pl.int_range(pl.len()).cast(pl.String),
            proposed="proposed",
            category="category",
            material=pl.lit(None, pl.String),
        ),
    )


def test_shares_are_of_the_errors_that_were_decided_on() -> None:
    result = count_categories(
        decisions(("negation", "negation"), ("negation", "unknown"), ("unknown", "world knowledge"), ("antonymy", None))
    )
    assert (result.rows, result.decided) == (4, 3)
    negation = result.categories["negation"]
    assert (negation.count, negation.proposed) == (1, 2)
    assert negation.share.value == pytest.approx(1 / 3)
    assert negation.share.method == "Wilson"
    assert negation.proposed_share.value == 0.5
    assert (negation.kept.value, negation.kept.n) == (0.5, 2)
    assert (result.kept.value, result.kept.n) == (pytest.approx(1 / 3), 3)
    assert result.categories["world knowledge"].count == 1
    # 0 of 3: Clopper–Pearson upper bound 1 - 0.025 ** (1 / 3).
    assert result.categories["antonymy"].share.high == pytest.approx(1 - 0.025 ** (1 / 3))
    assert list(result.categories) == list(CATEGORIES)


def test_what_nobody_decided_has_no_share() -> None:
    result = count_categories(decisions(("negation", None), ("unknown", None)))
    share = result.categories["negation"].share
    assert math.isnan(share.value)
    assert share.note == "no error has a category yet"
    assert result.categories["negation"].proposed_share.value == 0.5
    assert result.kept.note == "nobody has decided on a proposal yet"
    assert result.categories["antonymy"].kept.note == "antonymy was proposed for no error decided on"


def test_an_empty_file_and_one_without_proposals_are_no_zero() -> None:
    assert count_categories(decisions()).categories["unknown"].proposed_share.note == "nothing to propose it by"
    bare = count_categories(decisions((None, "negation"), (None, "unknown")))
    assert bare.categories["negation"].share.value == 0.5
    assert not bare.kept.known


def test_what_the_rules_cannot_propose_has_no_share_of_zero() -> None:
    result = count_categories(decisions(("negation", "world knowledge")))
    assert not result.categories["world knowledge"].proposed_share.known
    assert result.categories["world knowledge"].share.value == 1
    assert result.categories["ambiguity"].proposed_share.value == 0
    edited = decisions(("world knowledge", None))
    assert count_categories(edited).categories["world knowledge"].proposed_share.value == 1


def test_json_has_null_for_what_is_not_known() -> None:
    written = to_json(count_categories(decisions(("negation", None))))
    assert written["categories"]["negation"]["share"]["value"] is None
    assert written["categories"]["negation"]["proposed"] == 1
    assert written["decided"] == 0
    assert len(written["published"]) == 18
    assert set(written["published"][0]) == {"system", "source", "condition", "by", "value"}


def test_two_people_are_compared_on_what_both_decided() -> None:
    first = decisions(("unknown", "negation"), ("unknown", "negation"), (None, "antonymy"), (None, None), name="a.tsv")
    second = decisions(
        ("unknown", "negation"), ("unknown", "unknown"), (None, "antonymy"), (None, "unknown"), name="b.tsv"
    )
    result = error_agreement(first, second)
    assert (result.rows, result.only) == (3, (0, 1))
    assert result.share.value == pytest.approx(2 / 3)
    # Chance: 2/3 * 1/3 + 1/3 * 1/3 = 1/3, so that (2/3 - 1/3) / (2/3) is left.
    assert result.kappa.value == pytest.approx(0.5)
    assert vars(result.categories["negation"]) == {"first": 2, "second": 1, "both": 1}
    written = to_json(result)
    assert written["disagreements"] == [{"suite": "s", "id": "1", "first": "negation", "second": "unknown"}]
    assert written["decided_by_one_only"] == [0, 1]
    assert written["agreement"]["value"] == pytest.approx(2 / 3)


def test_two_samples_of_different_errors_are_refused() -> None:
    other = decisions((None, "negation"))
    other = Decisions(Path("b.tsv"), other.frame.with_columns(id=pl.lit("else")))
    with pytest.raises(AcidtestError, match=r"errors.tsv and b.tsv have no error in common"):
        error_agreement(decisions((None, "negation")), other)


def test_two_people_who_decided_nothing_have_no_agreement() -> None:
    result = error_agreement(decisions((None, None)), decisions((None, None)))
    assert result.share.note == "nothing that both decided on"
    assert not result.kappa.known


def only_table(result: ErrorsResult | ErrorAgreement, table_id: str = "categories") -> Table:
    return tables(document(result))[table_id]


def cells(table: Table, row: str) -> dict[str, object]:
    names = [column.name for column in table.columns]
    return dict(zip(names, next(line.cells for line in table.rows if line.name == row), strict=True))


def notes(result: ErrorsResult) -> list[str]:
    return [part.text for part in walk(document(result).parts) if isinstance(part, Note)]


def partly_sorted() -> ErrorsResult:
    return count_categories(decisions(("negation", "negation"), ("negation", "unknown"), ("unknown", None)))


def test_decisions_stand_beside_proposals_and_the_paper() -> None:
    shown = document(partly_sorted())
    assert shown.headline == "errors.tsv: 3 errors, 2 sorted."
    negation = cells(only_table(partly_sorted()), "negation")
    assert list(negation) == ["errors", "share", "proposed", "kept", "of proposals", "matched", "mismatched"]
    assert (negation["errors"], negation["kept"], negation["of proposals"]) == (1, 1, 2)
    # Naik et al. 2018, section 2 and table 6.
    assert (negation["matched"], negation["mismatched"]) == (Published(0.13), Published(0.12))
    assert "People kept 1 of 2 proposals that they decided on." in notes(partly_sorted())
    [source] = only_table(partly_sorted()).sources
    assert source.startswith("MultiNLI matched, mismatched: Nie and Bansal (2017); Naik et al. 2018, section 2")


def test_proposals_alone_are_called_so() -> None:
    result = count_categories(decisions(("negation", None), ("unknown", None)))
    assert document(result).headline == "errors.tsv: 2 errors, none sorted by a person yet."
    table = only_table(result)
    assert [column.name for column in table.columns] == ["proposed", "share", "matched", "mismatched"]
    unknown = cells(table, "unknown")
    assert unknown["proposed"] == 1
    assert isinstance(unknown["share"], Estimate)
    assert unknown["share"].value == 0.5
    assert cells(table, "world knowledge")["proposed"] is None, "it cannot be proposed"
    assert "The published errors were judged by hand; these are proposed by rules." in notes(result)
    [chart] = [part for part in walk(document(result).parts) if isinstance(part, Chart)]
    assert (chart.columns, chart.axis) == (("share",), "share of errors, as proposed by rules")
    assert not any("judged by hand" in text for text in notes(partly_sorted()))


def test_prefilled_categories_are_not_said_to_be_peoples() -> None:
    result = count_categories(decisions(("negation", "negation"), ("unknown", "unknown")))
    assert document(result).headline == "errors.tsv: 2 errors, prefilled."
    assert "errors" not in cells(only_table(result), "negation")
    assert "Prefilled with the proposals; nobody has changed one yet." in notes(result)
    assert to_json(result)["prefilled"] is True


def test_errors_on_made_pairs_stand_apart_and_beside_nothing_published() -> None:
    both = decisions(("negation", None), ("unknown", None), ("word overlap", None))
    materials = pl.Series("material", ["natural", "natural", "synthetic"])
    result = count_categories(replace(both, frame=both.frame.with_columns(materials)))
    assert (result.rows, result.material) == (2, "natural")
    assert result.synthetic is not None
    assert (result.synthetic.rows, result.synthetic.published) == (1, ())
    table = only_table(result, "categories of synthetic pairs")
    assert [column.name for column in table.columns] == ["proposed", "share"]
    assert cells(table, "word overlap")["proposed"] == 1
    [section] = [part for part in document(result).parts if isinstance(part, Section)]
    assert section.title == "On pairs that rules made: 1 error"
    assert any("nothing published compares with these" in text for text in notes(result))
    assert to_json(result)["synthetic"]["rows"] == 1


def test_agreement_is_shown_with_what_was_left_out() -> None:
    first = decisions(("unknown", "negation"), ("unknown", "antonymy"), ("unknown", None))
    second = decisions(("unknown", "negation"), ("unknown", "unknown"), ("unknown", "unknown"))
    result = error_agreement(first, second)
    shown = document(result)
    # Chance: 1/2 * 1/2 for negation, nothing else in common, so that kappa is (1/2 - 1/4) / (3/4).
    assert shown.headline == "2 errors sorted by both, the same category for 1; kappa 0.33."
    assert cells(only_table(result, "choices"), "negation") == {"first": 1, "second": 1, "both": 1}
    assert Note("Left out: 0 sorted by the first person only, 1 by the second only.", quiet=True) in shown.parts
    assert [row.name for row in only_table(result, "disagreements").rows] == ["1"]


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
