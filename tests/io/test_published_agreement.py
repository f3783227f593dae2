"""The published agreement of Glockner et al. (2018) and Joshi et al. (2020), one by one against the papers' texts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from acidtest.io.published import published_scores
from acidtest.studies.agreement import CATEGORIES_PUBLISHED, LABELS_PUBLISHED

PAPERS = Path(__file__).parents[3] / "shared" / "papers"
CORPORA = ("SNLI test", "Breaking NLI")

Numbers = dict[tuple[str, str, str], float]
"""By corpus, statistic and label."""


@pytest.fixture(scope="module")
def paper() -> str:
    return text_of("glockner2018_breaking_nli.md")


def text_of(name: str) -> str:
    if not (PAPERS / name).is_file():
        pytest.skip("the papers' texts (../shared/papers) are not on this machine")
    return (PAPERS / name).read_text(encoding="utf-8")


def ours(suite: str = LABELS_PUBLISHED) -> Numbers:
    found: Numbers = {}
    for score in published_scores(suite):
        key = (score.by["corpus"], score.by["statistic"], score.by.get("label", ""))
        assert key not in found
        found[key] = score.value
    return found


def table_2(paper: str) -> Numbers:
    """Every number of table 2, as the text of the paper has it."""
    table = paper[paper.index("SNLI Test New Test") : paper.index("Table 2:")]
    statistics = {"Instances:": "pairs", "Fleiss κ:": "kappa", "Estimated human performance:": "human performance"}
    found: Numbers = {}
    statistic = ""
    for line in table.splitlines()[1:]:
        statistic = statistics.get(line, statistic)
        numbers = re.fullmatch(r"(\w+ )?([\d.,]+)(%?) ([\d.,]+)%?", line)
        if numbers:
            label = (numbers[1] or "").strip().replace("Overall", "")
            for corpus, value in zip(CORPORA, (numbers[2], numbers[4]), strict=True):
                found[corpus, statistic, label] = float(value.replace(",", "")) / (100 if numbers[3] else 1)
    return found


def test_every_number_is_that_of_table_2(paper: str) -> None:
    expected = table_2(paper)
    # Four counts, three kappas and human performance for each of two test sets.
    assert len(expected) == 2 * (4 + 3 + 1)
    assert ours() == pytest.approx(expected)


def test_the_text_of_the_paper_says_the_same(paper: str) -> None:
    text = " ".join(paper.split())
    assert "Fleiss’ Kappa κ = 0.61" in text
    assert "We estimate human performance to 94.1%" in text
    assert ours()["Breaking NLI", "kappa", ""] == 0.61
    assert ours()["Breaking NLI", "human performance", ""] == 0.941


def test_they_say_whose_they_are_and_where_they_stand() -> None:
    told = {(score.system, score.source, score.condition) for score in published_scores(LABELS_PUBLISHED)}
    assert told == {("annotators", "Glockner et al. 2018, table 2", "people")}


def test_counts_add_up() -> None:
    for corpus in CORPORA:
        counts = [ours()[corpus, "pairs", label] for label in ("contradiction", "entailment", "neutral")]
        assert sum(counts) == ours()[corpus, "pairs", ""]


def test_agreement_on_categories_is_that_of_taxinli() -> None:
    text = " ".join(text_of("joshi2020_taxinli.md").split())
    assert "overlapping subset of 600 examples" in text
    assert "the average inference accuracy (86.7%) is high" in text
    assert "average Fleiss’ $\\kappa$ (**0.226**) and the IOU metric (**0.241**)" in text
    assert ours(CATEGORIES_PUBLISHED) == {
        ("TaxiNLI", "pairs", ""): 600,
        ("TaxiNLI", "mean kappa", ""): 0.226,
        ("TaxiNLI", "IOU", ""): 0.241,
        ("TaxiNLI", "inference accuracy", ""): 0.867,
    }
