"""Gold crossed with cues: equal cells, cues that are really there, and toggled pairs."""

from __future__ import annotations

import polars as pl
import pytest

from acidtest import api
from acidtest.core.errors import AcidtestError
from acidtest.core.suite import Card, Suite, complete_columns
from acidtest.pairs.cues import pair_cues
from acidtest.suites.cues import FORMS, SWITCHED
from acidtest.suites.sample import limit_rows

CELL = ["material", "label", "form", *SWITCHED]


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    return api.generate("cues", n=3).frame.collect()


@pytest.mark.parametrize("n", [1, 2, 5])
def test_every_cell_of_the_design_has_exactly_n_pairs(n: int) -> None:
    sizes = api.generate("cues", n=n).frame.collect().group_by(CELL).len()
    assert sizes.height == 3 * (len(FORMS) + 1) * 2 ** len(SWITCHED)
    assert sizes["len"].unique().to_list() == [n]


def test_no_pair_is_there_twice(frame: pl.DataFrame) -> None:
    assert frame.select("premise", "hypothesis").is_duplicated().sum() == 0


def test_the_default_size_is_what_the_catalogue_says() -> None:
    card = api.generate("cues").card
    assert card.rows == 15_360
    assert set(card.labels.values()) == {5_120}


def test_a_hypothesis_of_a_template_is_asked_with_every_gold_and_form(frame: pl.DataFrame) -> None:
    templates = frame.filter(pl.col("material") == "templates")
    asked = templates.group_by("group", "hypothesis").agg(pl.struct("label", "form").n_unique().alias("kinds"))
    assert asked["kinds"].unique().to_list() == [12]


def test_the_hypothesis_of_a_template_says_nothing_about_gold(frame: pl.DataFrame) -> None:
    templates = frame.filter(pl.col("material") == "templates")
    golds = templates.group_by("hypothesis", "label").len().group_by("hypothesis").agg(pl.col("len").n_unique())
    assert golds["len"].unique().to_list() == [1]


def test_the_forms_are_what_they_are_called(frame: pl.DataFrame) -> None:
    present = (
        pair_cues(frame["premise"], frame["hypothesis"]).select("overlap", "subsequence").with_columns(frame["form"])
    )
    expected = {
        "none": (False, False),
        "overlap": (True, False),
        "subsequence": (True, True),
        "constituent": (True, True),
    }
    for form, flags in expected.items():
        assert present.filter(pl.col("form") == form).select("overlap", "subsequence").unique().rows() == [flags]


def test_a_clause_stands_whole_in_its_premise(frame: pl.DataFrame) -> None:
    clauses = frame.filter(pl.col("form") == "constituent")
    bare = clauses["hypothesis"].str.strip_chars_end(".").str.replace("^The", "the")
    after = clauses.with_columns(bare=bare).select(
        pl.col("premise").str.contains(r"(?:that|[Bb]ecause|[Ii]f) " + pl.col("bare") + r"[.,]")
    )
    assert after.to_series().all()


@pytest.mark.parametrize("cue", ["negation", "cue_words", "number"])
def test_words_show_the_cues_that_are_on_and_no_others(frame: pl.DataFrame, cue: str) -> None:
    present = pair_cues(frame["premise"], frame["hypothesis"])
    assert (present[cue] == (frame[cue] == "yes")).all()


def test_antonyms_are_in_the_premise_only_where_they_should_be(frame: pl.DataFrame) -> None:
    templates = frame.filter(pl.col("material") == "templates")
    present = pair_cues(templates["premise"], templates["hypothesis"])["antonym"]
    assert not present.filter(templates["antonym"] == "no").any()
    # WordNet does not oppose sad and happy.
    assert present.filter((templates["antonym"] == "yes") & ~templates["hypothesis"].str.contains(" sad ")).all()


def test_switching_one_cue_changes_nothing_else(frame: pl.DataFrame) -> None:
    templates = frame.filter((pl.col("material") == "templates") & (pl.col("switched") == "negation"))
    others = [column for column in ["group", *CELL] if column != "negation"]
    both = templates.filter(pl.col("negation") == "yes").join(templates.filter(pl.col("negation") == "no"), on=others)
    assert both.height == templates.height // 2
    assert (both["hypothesis"].str.replace(" no ", " ") == both["hypothesis_right"]).all()
    assert (both["premise"].str.replace(" no ", " ") == both["premise_right"]).all()


def test_the_rows_of_an_item_have_every_cue_in_half_of_them(frame: pl.DataFrame) -> None:
    templates = frame.filter(pl.col("material") == "templates")
    shares = templates.group_by("group").agg((pl.col(*SWITCHED) == "yes").mean())
    assert shares.select(SWITCHED).unique().rows() == [(0.5,) * len(SWITCHED)]


def test_a_limited_sample_of_960_rows_has_one_of_every_cell() -> None:
    suite = limit_rows(api.generate("cues", n=3), 960, seed=0)
    assert suite.frame.collect().group_by(CELL).len()["len"].to_list() == [1] * 960
    assert suite.card.version == 2


def test_a_limited_sample_asks_a_hypothesis_with_all_forms_under_opposite_settings() -> None:
    rows = limit_rows(api.generate("cues", n=3), 300, seed=0).frame.collect()
    assert rows.height == 300
    templates = rows.filter(pl.col("material") == "templates")
    assert templates.group_by("group", "label", *SWITCHED).len()["len"].unique().to_list() == [len(FORMS)]
    for cue in SWITCHED:
        assert templates.group_by("turn").agg((pl.col(cue) == "yes").mean())[cue].unique().to_list() == [0.5]


def test_a_limited_sample_is_exactly_as_large_as_asked_and_grows_by_more_rows() -> None:
    suite = api.generate("cues", n=2)
    smaller, larger = (limit_rows(suite, limit, seed=4).frame.collect()["id"] for limit in (101, 777))
    assert (len(smaller), len(larger)) == (101, 777)
    assert set(smaller) <= set(larger)


def test_a_limited_sample_of_1000_rows_has_items_with_and_without_most_cues() -> None:
    rows = limit_rows(api.generate("cues"), 1000, seed=0).frame.collect()
    fixed = ["group", "label", "form"]
    switched = rows.group_by(*fixed, "switched").len().filter(pl.col("len") == 4)
    assert switched["switched"].n_unique() == len(SWITCHED)


def test_a_word_is_misspelt_alike_on_both_sides(frame: pl.DataFrame) -> None:
    for row in frame.filter(pl.col("misspelling") == "yes").sample(50, seed=0).iter_rows(named=True):
        belongings = row["hypothesis"].rstrip(".").split(" with ")[-1].removeprefix("no ").split()[0]
        assert f" {belongings}" in row["premise"]


def test_another_seed_gives_other_pairs() -> None:
    first, second = (set(api.generate("cues", n=1, seed=seed).frame.collect()["id"]) for seed in (0, 1))
    assert len(first & second) < len(first) / 10


def test_pairs_of_a_corpus_keep_their_gold_and_their_sentences() -> None:
    rows = [(f"The cook {verb} bread in the kitchen", f"Somebody {verb} bread", label) for verb, label in VERBS]
    pairs = pl.DataFrame(rows, schema=["premise", "hypothesis", "label"], orient="row")
    corpus = Suite(complete_columns(pairs, "mine").lazy(), Card("mine")).sealed()
    made = api.generate("cues", n=1, source=corpus).frame.collect().filter(pl.col("material") == "corpus")
    starts = made.select("label", pl.col("hypothesis").str.split(" Elsewhere, ").list.first()).unique()
    assert set(starts.rows()) == {(label, f"Somebody {verb} bread.") for verb, label in VERBS}


VERBS = [("baked", "entailment"), ("sold", "neutral"), ("burnt", "contradiction")]


def test_a_corpus_without_one_of_the_labels_is_refused() -> None:
    pairs = pl.DataFrame({"premise": ["A man ran"], "hypothesis": ["A man moved"], "label": ["entailment"]})
    corpus = Suite(complete_columns(pairs, "mine").lazy(), Card("mine")).sealed()
    with pytest.raises(AcidtestError, match="'mine' has none with gold neutral"):
        api.generate("cues", source=corpus)
