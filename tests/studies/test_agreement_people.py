"""What papers report of people: accuracy by slice, shares of pairs that most confirm, and the published numbers."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from acidtest.core.ratings import Ratings, label_counts
from acidtest.io.published import CONFIRMED, published_scores, published_share
from acidtest.pairs.heuristics import HANS, is_hans
from acidtest.stats.annotators import majority_share
from acidtest.studies.agreement import PEOPLE_PUBLISHED, accuracy_slices

PAPERS = Path(__file__).parents[3] / "shared" / "papers"

SAID = pl.DataFrame(
    {
        "row": [0, 1, 2, 0, 1, 2, 3],
        "annotator": ["ann"] * 3 + ["ben"] * 4,
        "label": ["entailment", "entailment", "non-entailment", "entailment", "non-entailment", None, "entailment"],
    }
)
GOLD = pl.Series(["entailment", "non-entailment", "non-entailment", None])
HEURISTIC = pl.DataFrame({"heuristic": ["subsequence", "subsequence", "lexical_overlap", "constituent"]})


def test_accuracy_by_label_and_by_heuristic_by_hand() -> None:
    labels = ("entailment", "non-entailment")
    counts = label_counts(SAID.drop_nulls("label"), labels, rows=4)
    ratings = Ratings("hans", labels, counts, GOLD, corpus=HANS, said=SAID, reference=GOLD, factors=HEURISTIC)
    found = accuracy_slices(ratings)
    # Row 3 has no gold, and Ben gave row 2 no label: five judgements, of which Ann's of row 1 is wrong.
    assert {(each.factor, each.value): (each.accuracy.value, each.accuracy.n) for each in found} == {
        (None, None): (pytest.approx(4 / 5), 5),
        ("label", "entailment"): (1, 2),
        ("label", "non-entailment"): (pytest.approx(2 / 3), 3),
        ("heuristic", "lexical_overlap"): (1, 1),
        ("heuristic", "subsequence"): (pytest.approx(3 / 4), 4),
    }
    assert found[0].accuracy.groups == 2
    # McCoy et al. 2019, section 6.
    assert found[0].published == {"crowd workers": 0.76, "expert annotators": 0.97}
    assert [each.published for each in found[1:3]] == [{"crowd workers": 0.75}, {"crowd workers": 0.77}]
    assert found[3].published == {}


def test_the_share_of_pairs_that_most_people_confirm_by_hand() -> None:
    # Two of three, one of three, both of two, one of two, and one alone.
    rows = np.array([0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 4])
    holds = np.array([1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 1], dtype=bool)
    share, left_out = majority_share(holds, rows)
    assert (share.value, share.n, left_out) == (0.5, 4, 1)
    none, left_out = majority_share(np.array([True]), np.array([0]))
    assert (none.note, left_out) == ("no pair that two people judged", 1)


def test_hans_is_known_by_its_heuristics() -> None:
    assert is_hans(pl.Series(["constituent", None, "subsequence"]))
    assert not is_hans(pl.Series(["constituent", "analogy"]))
    assert not is_hans(pl.Series([None], dtype=pl.String))


@pytest.mark.parametrize(
    ("suite", "expected"),
    [
        # Naik et al. 2018, section 3.1: antonymy 86 and 87 %, numerical 91, 92 and 98 %; 3.2: 91 and 85 %.
        ("stress/antonymy", (0.86, 0.87, None)),
        ("stress/numerical", (0.91, 0.92, 0.98)),
        ("stress/word-overlap", (0.91, 0.98, None)),
        ("stress/length-mismatch", (0.85, 0.98, None)),
        ("hans", (0.76, None, None)),
        ("", (None, None, None)),
    ],
)
def test_published_shares_stand_under_their_suites(suite: str, expected: tuple[float | None, ...]) -> None:
    assert tuple(published_share(suite, name)[0] for name in (CONFIRMED, "grammatical", "trivial")) == expected


def test_what_mccoy_tells_of_people_is_in_the_paper() -> None:
    path = PAPERS / "mccoy2019_hans.md"
    if not path.is_file():
        pytest.skip("the papers' texts (../shared/papers) are not on this machine")
    paper = re.sub(r"\s+", " ", path.read_text(encoding="utf-8"))
    told = {
        score.by["statistic"]: score.value for score in published_scores(PEOPLE_PUBLISHED) if score.by["corpus"] == HANS
    }
    for text in (
        "{people kept:.0f} participants being retained and {people discarded:.0f} being rejected",
        "each participant spent {seconds of all people} seconds per example",
        "we retained spent {seconds of kept people} seconds per example",
        "we discarded spent {seconds of discarded people} seconds per example",
    ):
        assert text.format(**told) in paper
    assert told["pairs"] == 114 * 20
