"""Statistics of annotated pairs: by hand, at the edges, and those of the published file."""

from __future__ import annotations

from math import isnan, sqrt
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from acidtest import api
from acidtest.core.document import Published, Section, tables
from acidtest.core.errors import AcidtestError
from acidtest.core.suite import Card, Suite, complete_columns
from acidtest.io.published import published_scores
from acidtest.pairs.taxonomy import CATEGORIES
from acidtest.studies.taxonomy import TaxonomyResult, definition, document, taxonomy


def suite(label: list[str], *, name: str = "mine", genre: list[str] | None = None, **marks: list[bool]) -> Suite:
    rows = pl.DataFrame({"label": label, **({"genre": genre} if genre else {}), **marks})
    texts = {side: pl.format(f"{side} {{}}", pl.int_range(pl.len())) for side in ("premise", "hypothesis")}
    columns = {**dict.fromkeys(marks, "category"), **({"genre": "factor"} if genre else {})}
    return Suite(complete_columns(rows.with_columns(**texts), name).lazy(), Card(name, columns=columns)).sealed()  # type: ignore[arg-type]


def test_counts_are_those_one_counts_by_hand() -> None:
    result = taxonomy(
        suite(
            ["entailment", "entailment", "neutral", "contradiction"],
            genre=["a", "a", "b", "b"],
            lexical=[True, True, False, False],
            world=[True, False, False, True],
        )
    )
    lexical, world = result.categories.values()
    assert (lexical.pairs, lexical.alone, lexical.labels) == (2, 1, {"entailment": 2, "neutral": 0, "contradiction": 0})
    assert (world.pairs, world.alone) == (2, 1)
    assert {genre: one.value for genre, one in world.genres.items()} == {"a": 0.5, "b": 0.5}
    assert result.distribution == {0: 1, 1: 2, 2: 1}
    assert result.per_pair.value == 1
    assert result.published == ()
    assert result.inference is None


def test_categories_per_pair_lie_between_none_and_all_of_them() -> None:
    alone = taxonomy(suite(["neutral"] * 3, a=[True, True, False], b=[False, False, True])).per_pair
    assert alone.value == 1
    assert 0 < alone.low < 1 < alone.high < 2
    marks = {name: [place == 0, place < 2, place < 1, False] for place, name in enumerate("abc")}
    few = taxonomy(suite(["neutral"] * 4, **marks)).per_pair
    assert few.value == 1
    assert 0 < few.low < 1 < few.high < 3
    # One category: its share, with Wilson's interval of 1 in 4.
    one = taxonomy(suite(["neutral"] * 4, a=[True, False, False, False])).per_pair
    assert (one.low, one.high) == pytest.approx((0.0456, 0.6994), abs=1e-4)


def test_proposed_categories_are_not_passed_off_as_annotated() -> None:
    [note] = taxonomy(suite(["neutral"] * 3, auto_negation=[True, True, False])).notes
    assert note.startswith("categories were proposed by rules, not annotated")
    assert "negation 0.67" in note
    assert definition("auto_negation").startswith("Proposed by rules: ")
    assert definition("auto_mine") == ""
    assert taxonomy(suite(["neutral"] * 3, negation=[True, True, False])).notes == ()


def test_phi_is_the_correlation_of_two_columns() -> None:
    rng = np.random.default_rng(0)
    first = rng.random(400) < 0.4
    second = np.where(rng.random(400) < 0.3, first, rng.random(400) < 0.5)
    [pair] = taxonomy(suite(["neutral"] * 400, a=first.tolist(), b=second.tolist())).correlations
    assert pair.phi.value == pytest.approx(np.corrcoef(first, second)[0, 1])
    # For independent rows Fisher's interval is atanh(r) ± 1.96 / sqrt(n - 3); the jackknife comes near it.
    fisher = np.tanh(np.arctanh(pair.phi.value) + np.array([-1.96, 1.96]) / sqrt(397))
    assert (pair.phi.low, pair.phi.high) == pytest.approx(tuple(fisher), abs=0.02)
    assert pair.clear
    assert pair.both == int((first & second).sum())


def test_phi_of_nothing_has_no_value_and_of_little_no_interval() -> None:
    none = suite(["neutral"] * 40, a=[True] * 20 + [False] * 20, b=[False] * 40)
    [pair] = taxonomy(none).correlations
    assert isnan(pair.phi.value)
    assert "holds of no pair" in pair.phi.note
    few = suite(["neutral"] * 40, a=[True] * 20 + [False] * 20, b=[True, *[False] * 39])
    [pair] = taxonomy(few).correlations
    assert pair.phi.value == pytest.approx(0.16, abs=0.01)
    assert isnan(pair.phi.low)
    assert pair.phi.note == "0.5 pairs expected with both, fewer than 5: no interval"
    assert not pair.clear


def test_unrelated_categories_are_seldom_told_to_be_related() -> None:
    rng = np.random.default_rng(1)
    wrong = covered = 0
    for _ in range(100):
        marks = {name: (rng.random(300) < 0.3).tolist() for name in "abcd"}
        result = taxonomy(suite(["neutral"] * 300, **marks)).correlations
        wrong += any(pair.clear for pair in result)
        covered += result[0].phi.low <= 0 <= result[0].phi.high
    assert wrong <= 12, "any of the six in about 5 % of draws"
    assert covered >= 89, "95 % intervals cover about 95 %"


def test_pairs_of_one_premise_are_one_group() -> None:
    alone = suite(["neutral"] * 100, a=[True, False] * 50, b=[True, True, False, False] * 25)
    frame = alone.frame.with_columns(group=(pl.int_range(pl.len()) // 4).cast(pl.String))
    grouped = taxonomy(Suite(frame, alone.card))
    assert grouped.categories["a"].share.groups == 25
    assert grouped.correlations[0].phi.groups == 25


def test_a_suite_without_categories_is_refused() -> None:
    with pytest.raises(AcidtestError, match="has no categories"):
        taxonomy(suite(["neutral"]))


def test_the_same_pairs_are_found_in_another_file() -> None:
    own, other = suite(["neutral"] * 5, a=[True] * 5), suite(["neutral"] * 3, name="theirs")
    assert taxonomy(own, others={"theirs.tsv": other}).overlaps == {"theirs.tsv": 3}


def test_the_document_has_what_the_paper_prints_of_its_data() -> None:
    rng = np.random.default_rng(3)
    kind = rng.random(200) < 0.5
    marks = {name: (kind == (rng.random(200) < 0.1)).tolist() for name in ("lexical", "world", "mine")}
    rows = suite(["entailment", "neutral"] * 100, genre=["a", "b"] * 100, **marks)
    shown = document(taxonomy(rows, others={"theirs.tsv": rows}))
    by_id = tables(shown)
    assert shown.headline.startswith("mine: 200 pairs (100 entailment, 100 neutral), ")
    categories = by_id["categories"]
    assert [column.name for column in categories.columns] == ["pairs", "% of all", "entailment", "neutral", "alone"]
    assert [row.heading for row in categories.rows] == ["Linguistic", "Knowledge", ""]
    pairs = [row.name for row in by_id["strongest correlations"].rows]
    assert sorted(pairs) == ["lexical – mine", "lexical – world", "world – mine"]
    matrix = by_id["correlations"]
    assert matrix.rows[0].cells[0] is None, "a category is not compared with itself"
    assert matrix.rows[0].cells[1] == matrix.rows[1].cells[0]
    assert [column.name for column in by_id["genres"].columns] == ["all (200)", "a (100)", "b (100)"]
    definitions = {row.name: row.cells[0] for row in by_id["definitions"].rows}
    assert definitions["mine"] == "A category of this file's own."
    folded = [part.title for part in shown.parts if isinstance(part, Section) and part.folded]
    assert folded == ["Genres", "Definitions"]
    assert "200 of 200 pairs are in theirs.tsv, too." in str(shown.parts[0])


@pytest.fixture(scope="module")
def published() -> TaxonomyResult:
    path = Path(__file__).parents[3] / "shared" / "data" / "taxinli" / "taxinli10k.tsv"
    if not path.is_file():
        pytest.skip("real data sets (../shared/data) are not on this machine")
    return api.taxonomy_statistics(path, against=[path.with_name("taxinli10k_MNLIDev.tsv")])


def test_the_published_file_gives_the_papers_numbers_or_the_note_says_why_not(published: TaxonomyResult) -> None:
    differs = {
        number.by.removeprefix("statistic="): round(number.here, 3)
        for number in published.published
        if number.here is not None and number.here != number.value
    }
    # Joshi et al. 2020: 1.6, table 2 with subject and object exchanged, 86.7 % and "nearly 25 %".
    # The released overlap file has 7,727 pairs, table 2 says 7,728.
    assert differs == {
        "overlap&part=train": 2344,
        "overlap&part=development": 7727,
        "categories per pair": 1.76,
        "same_subject": 2843,
        "same_object": 877,
        "inference accuracy": 0.919,
        "share&category=boolean and quantifier&genre=telephone": 0.181,
    }
    assert all(number.note for number in published.published if number.by.removeprefix("statistic=") in differs)
    counts = tables(document(published))["published counts"]
    subject = next(row for row in counts.rows if row.name == "same subject")
    assert subject.cells[:2] == (2843, Published(877))


def test_correlations_of_the_published_file_are_as_section_3_2_tells_them(published: TaxonomyResult) -> None:
    phi = {(each.first, each.second): each for each in published.correlations}
    assert len(phi) == 105
    for pair in (("boolean", "quantifier"), ("boolean", "comparative")):
        assert phi[pair].clear
        assert phi[pair].phi.value > 0.15
    factivity = {pair: each.phi.value for pair, each in phi.items() if "factivity" in pair and each.clear}
    assert [pair for pair, value in factivity.items() if value > 0] == [("factivity", "world")]


def test_figure_5_is_what_the_released_outputs_give(shared: Path) -> None:
    frame = api.generate("taxinli", source=shared / "taxinli" / "taxinli10k_MNLIDev.tsv").frame.collect()
    columns = {
        "Naive Bayes (bag of words)": "answer_naive_bayes",
        "ESIM": "answer_esim",
        "BERT base": "answer_bert",
    }
    scores = [score for score in published_scores("taxinli") if "figure 5" in score.source]
    assert len(scores) == 3 * (1 + len(CATEGORIES))
    for score in scores:
        rows = frame.filter(score.by["category"]) if score.by else frame
        right = (rows[columns[score.system]] == rows["label"]).mean()
        assert score.value == pytest.approx(right, abs=5e-5)


def test_table_3_is_kept_for_the_systems_that_figure_5_is_of() -> None:
    kept = {
        (s.system, s.by["part"].split()[-1]): s.value
        for s in published_scores("mnli")
        if s.source == "Joshi et al. 2020, table 3"
    }
    # Joshi et al. 2020, table 3.
    assert kept == {
        ("Naive Bayes (bag of words)", "matched"): 0.5146,
        ("Naive Bayes (bag of words)", "mismatched"): 0.5231,
        ("ESIM", "matched"): 0.723,
        ("ESIM", "mismatched"): 0.721,
        ("BERT base", "matched"): 0.847,
        ("BERT base", "mismatched"): 0.848,
        ("RoBERTa large", "matched"): 0.923,
        ("RoBERTa large", "mismatched"): 0.9,
    }
