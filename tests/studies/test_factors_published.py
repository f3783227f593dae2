"""The published stars and accuracies of Joshi et al. (2020) against the paper's text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from acidtest.studies.factors import published_remarks, published_values

PAPER = Path(__file__).parents[3] / "shared" / "papers" / "joshi2020_taxinli.md"


@pytest.fixture(scope="module")
def paper() -> str:
    if not PAPER.is_file():
        pytest.skip("the papers (../shared/papers) are not on this machine")
    return PAPER.read_text(encoding="utf-8")


@pytest.mark.parametrize(("figure", "system"), [(6, "BERT-base"), (9, "RoBERTa-large")])
def test_stars_are_those_under_the_figure(paper: str, figure: int, system: str) -> None:
    caption = re.search(rf"Figure {figure}: .*?Significant LR coefficients: (.*?); where", paper, re.S)
    assert caption
    # Figure 6 is set in italics with its stars escaped, figure 9 as code.
    found = re.findall(r"\*([A-Za-z]+\d?)((?:\\\*)+)\*", caption[1]) or re.findall(r"`([A-Za-z]+\d?)(\*+)`", caption[1])
    printed = {name: stars.count("*") for name, stars in found}
    assert {name: stars for name, stars in published_values("stars")[system].items() if stars} == printed
    assert len(published_values("stars")[system]) == 17


def test_accuracies_are_those_of_table_3(paper: str) -> None:
    for line, corpus in (("Matched", "MultiNLI matched"), ("Mismatched", "MultiNLI mismatched")):
        numbers = re.search(rf"^{line}\t(.+)$", paper, re.M)
        assert numbers
        printed = [float(number) for number in numbers[1].split("\t")]
        assert [round(values[corpus] * 100, 2) for values in published_values("accuracy", "corpus").values()] == printed


def test_section_4_2_names_what_helps_and_what_is_hard(paper: str) -> None:
    said = re.search(
        r"we observe that ([^.]*?) categories are strong indicators.*?On the other hand, (.*?) are harder", paper, re.S
    )
    assert said
    helps, hard = (set(re.findall(r"[a-z]{4,}", part)) for part in said.groups())
    (directions,) = published_values("direction").values()
    assert {name for name, sign in directions.items() if sign > 0} == helps
    assert {name for name, sign in directions.items() if sign < 0} == hard


def test_remarks_name_their_figure() -> None:
    assert {remark.source.rpartition(", ")[2] for remark in published_remarks()} == {"figure 5", "figure 8"}
