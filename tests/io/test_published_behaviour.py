"""The published numbers of Sanchez, Mitchell and Riedel (2018), one by one against the paper's text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from acidtest.io.published import published_scores
from acidtest.stats.contingency import association
from acidtest.studies.behaviour import ALPHA

PAPER = Path(__file__).parents[3] / "shared" / "papers" / "sanchez2018_behavior_analysis.md"
SYSTEMS = {"ESIM": "ESIM", "DAM": "Decomposable Attention", "CE": "Conditional Encoder"}
SUITES = {
    "I_A": "swaps/antonyms-in-situ#control",
    "I_{TA1}": "swaps/antonyms-in-situ",
    "E_A": "swaps/antonyms-ex-situ#control",
    "E_{TA}": "swaps/antonyms-ex-situ",
    "I_H": "swaps/hypernyms-in-situ#control",
    "I_{TH}": "swaps/hypernyms-in-situ",
    "E_H": "swaps/hypernyms-ex-situ#control",
    "E_{TH}": "swaps/hypernyms-ex-situ",
}
SUBSETS = ("", "gold changed", "unseen pairs", "polarity is not gold")
TESTED = [
    ("I_TA2", "insensitivity"),
    ("I_TA1", "unseen pairs"),
    ("I_TA1", "polarity"),
    ("E_TA", "unseen pairs"),
    ("E_TA", "polarity"),
    ("I_TH", "insensitivity"),
    ("I_TH", "unseen pairs"),
    ("I_H", "polarity"),
    ("I_TH", "polarity"),
    ("E_TH", "insensitivity"),
    ("E_TH", "unseen pairs"),
    ("E_H", "polarity"),
    ("E_TH", "polarity"),
]
"""The tests in the order of the text; each has a statistic for each model."""

Key = tuple[str, str, frozenset[tuple[str, str]]]


@pytest.fixture(scope="module")
def paper() -> str:
    if not PAPER.is_file():
        pytest.skip("the paper's text (../shared/papers) is not on this machine")
    return PAPER.read_text(encoding="utf-8")


def ours() -> dict[Key, float]:
    """Every number of the paper that we have."""
    suites = ("behaviour", *SUITES.values())
    scores = [s for suite in suites for s in published_scores(suite) if s.source.startswith("Sanchez et al. 2018, ")]
    found = {(score.suite, score.system, frozenset(score.by.items())): score.value for score in scores}
    assert len(found) == len(scores)
    return found


def key(suite: str, system: str, **by: str) -> Key:
    return suite, system, frozenset((name, value) for name, value in by.items() if value)


def table_1(paper: str) -> Iterator[tuple[Key, float]]:
    for line in paper.splitlines():
        found = re.match(r"^[1-4]?\t *\$([IE]_\{?\w+\}?)\$((?:\t[\d.]*)+)$", line)
        if not found:
            continue
        cells = found[2].split("\t")[1:]
        for place, cell in enumerate(cells):
            subset, system = SUBSETS[place // 3], list(SYSTEMS.values())[place % 3]
            if cell and found[1] in SUITES:
                yield key(SUITES[found[1]], system, subset=subset), float(cell)
            elif cell:
                yield key("behaviour", system, sample=re.sub("[{}]", "", found[1]), subset=subset), float(cell)


def statistics(paper: str) -> Iterator[tuple[Key, float]]:
    """Every chi-square in the text, with its degrees of freedom, and p where it is printed."""
    text = re.sub(r"[$\\{}\n ]+", "", paper[paper.index("## 6.1 Experiment 1") : paper.index("## 7 Discussion")])
    plain = re.findall(r"(CE|DAM|ESIM):chi\^2\((\d+)\)=([\d.]*\d)(?:,p=([\d.]*\d))?", text)
    # Section 6.3 tells of the models one after the other where they differ.
    apart = re.search(
        r"onlyDAMkeeps.*?\(chi\^2\((\d+)\)=([\d.]+)\).*?CE,.*?\(chi\^2\((\d+)\)=([\d.]+),p=([\d.]+)\)"
        r".*?ForESIM.*?\(chi\^2\((\d+)\)=([\d.]+),p=([\d.]+)\)",
        text,
    )
    assert apart
    told = [
        ("CE", apart[3], apart[4], apart[5]),
        ("DAM", apart[1], apart[2], ""),
        ("ESIM", apart[6], apart[7], apart[8]),
    ]
    place = 3 * TESTED.index(("I_TH", "polarity"))
    found = [*plain[:place], *told, *plain[place:]]
    assert [name for name, *_ in found] == ["CE", "DAM", "ESIM"] * len(TESTED)
    for number, (name, df, statistic, p) in enumerate(found):
        sample, factor = TESTED[number // 3]
        by = {"sample": sample, "factor": factor}
        yield key("behaviour", SYSTEMS[name], **by, statistic="G"), float(statistic)
        yield key("behaviour", SYSTEMS[name], **by, statistic="degrees of freedom"), float(df)
        if p:
            yield key("behaviour", SYSTEMS[name], **by, statistic="p"), float(p)


def tables_2_to_4(paper: str) -> Iterator[tuple[Key, float]]:
    def cells(line: str) -> list[int]:
        found = re.search(rf"^{line}((?:\t\d+)+)\t*$", paper, re.MULTILINE)
        assert found, line
        return [int(cell) for cell in found[1].split()]

    for row in ("change", "no change"):
        for column, value in zip(("correct", "incorrect"), cells(row), strict=True):
            by = {"sample": "I_TA2", "factor": "insensitivity", "row": row, "column": column}
            yield key("behaviour", "ESIM", **by), value
    for row in ("correct", "incorrect"):
        for column, value in zip(("seen", "unseen"), cells(row), strict=True):
            by = {"sample": "I_TA1", "factor": "unseen pairs", "row": row, "column": column}
            yield key("behaviour", "Decomposable Attention", **by), value
    for row in ("Neutral", "Contradiction", "Entailment", "None"):
        for column, value in zip(("neutral", "contradiction", "entailment"), cells(row), strict=True):
            by = {"sample": "I_TA1", "factor": "polarity", "row": row.lower(), "column": column}
            yield key("behaviour", "Decomposable Attention", **by), value


def in_the_text(paper: str) -> Iterator[tuple[Key, float]]:
    for name, value in re.findall(r"(CE|DAM|ESIM): (0\.\d+)", paper[paper.index("## 7 Discussion") :]):
        yield key("behaviour", SYSTEMS[name], sample="SNLI development set"), float(value)
    text = " ".join(paper.split())
    unseen = re.search(r"only (\d+) instances within \$I_\{TA1\}\$ contain unseen", text)
    against = re.search(r"Only (\d+)% of the instances in the transformed sample \$I_\{TA1\}\$", text)
    in_situ = re.search(r"Around (\d+)% of the instances in \$I_\{TH\}\$ \(Subset 1\)", text)
    ex_situ = re.search(r"around (\d+)% of the instances in \$E_\{TH\}\$ changed gold-label", text)
    assert unseen
    assert against
    assert in_situ
    assert ex_situ
    yield key("behaviour", "test set", sample="I_TA1", size="unseen pairs"), float(unseen[1])
    yield key("behaviour", "test set", sample="I_TA1", share="polarity is not gold"), float(against[1]) / 100
    yield key("behaviour", "test set", sample="I_TH", share="gold changed"), float(in_situ[1]) / 100
    yield key("behaviour", "test set", sample="E_TH", share="gold changed"), float(ex_situ[1]) / 100


def test_accuracies_are_those_of_table_1(paper: str) -> None:
    rows = dict(table_1(paper))
    # Ten samples on the whole, 4 with subset 1, 4 with subset 2, 8 with subset 3, of three models.
    assert len(rows) == 3 * (10 + 4 + 4 + 8)
    have = ours()
    assert {name: have.get(name) for name in rows} == rows


def test_tests_are_those_of_sections_6_1_to_6_4(paper: str) -> None:
    rows = dict(statistics(paper))
    assert len(rows) == 3 * 2 * len(TESTED) + 8
    have = ours()
    assert {name: have.get(name) for name in rows} == rows


def test_counts_are_those_of_tables_2_to_4(paper: str) -> None:
    rows = dict(tables_2_to_4(paper))
    assert len(rows) == 4 + 4 + 12
    have = ours()
    assert {name: have.get(name) for name in rows} == rows


def test_shares_and_sizes_are_those_of_the_text(paper: str) -> None:
    rows = dict(in_the_text(paper))
    assert len(rows) == 3 + 4
    have = ours()
    assert {name: have.get(name) for name in rows} == rows


def test_there_are_no_other_numbers(paper: str) -> None:
    parts = (table_1, statistics, tables_2_to_4, in_the_text)
    assert set(ours()) == {name for part in parts for name, _ in part(paper)}


@pytest.mark.parametrize(
    ("sample", "factor", "system"),
    [
        ("I_TA2", "insensitivity", "ESIM"),
        ("I_TA1", "unseen pairs", "Decomposable Attention"),
        ("I_TA1", "polarity", "Decomposable Attention"),
    ],
)
def test_the_printed_tables_give_the_printed_statistics(sample: str, factor: str, system: str) -> None:
    have = {name[2]: value for name, value in ours().items() if name[:2] == ("behaviour", system)}
    here = {("sample", sample), ("factor", factor)}
    cells = {
        (dict(by)["row"], dict(by)["column"]): int(value) for by, value in have.items() if here < by and len(by) == 4
    }
    rows, columns = (list(dict.fromkeys(name[place] for name in cells)) for place in (0, 1))
    found = association(np.array([[cells[row, column] for column in columns] for row in rows]))
    assert round(found.statistic, 2) == have[frozenset({*here, ("statistic", "G")})]
    assert found.df == have[frozenset({*here, ("statistic", "degrees of freedom")})]


def test_table_4_gives_the_accuracies_of_table_1() -> None:
    # 587 of 620 right; 44 of 69 where polarity is not contradiction, unseen pairs among them; 20 of 40 unseen. The
    # paper cuts digits off.
    have = ours()
    suite, system = "swaps/antonyms-in-situ", "Decomposable Attention"
    for subset, right, n in (("", 587, 620), ("polarity is not gold", 44, 69), ("unseen pairs", 20, 40)):
        assert have[key(suite, system, subset=subset)] == int(1000 * right / n) / 1000


def test_what_the_paper_finds_is_below_its_level_in_a_single_test() -> None:
    # The text gives p where it finds nothing; everything else it calls strong evidence at 0.0001.
    statistics: dict[tuple[str, frozenset[tuple[str, str]]], dict[str, float]] = {}
    for (_, system, by), value in ours().items():
        told = dict(by)
        if name := told.pop("statistic", ""):
            statistics.setdefault((system, frozenset(told.items())), {})[name] = value
    assert len(statistics) == 39
    ps = {where: stats.chi2.sf(own["G"], own["degrees of freedom"]) for where, own in statistics.items()}
    found = {where for where, p in ps.items() if p < ALPHA}
    assert found == {where for where, own in statistics.items() if "p" not in own}
    # Corrected once more, over the tests it finds and those it does not, five would be lost.
    assert len([where for where in found if 39 * ps[where] >= ALPHA]) == 5
