"""Every number of an audit that is counted, on examples small enough to count by hand."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from scipy import stats

from acidtest.core.suite import Suite
from acidtest.studies.audit.cues import (
    ItemCounts,
    TwoWordCounter,
    WordCounter,
    detectable_share,
    find_cues,
    measure_polarity,
    smoothed_pmi,
)
from acidtest.studies.audit.measures import LabelCounter, MeasureSums, measure_pairs
from acidtest.studies.audit.repetition import (
    NEW_HYPOTHESIS,
    NEW_PAIR,
    Duplicates,
    Leak,
    LeakSearch,
    Repetitions,
    SeenKeys,
)
from acidtest.studies.scoring.pair_batches import GOLD, PremiseSample, PremiseSampler, make_batch

Rows = list[tuple[str, str, str]]
Made = Callable[[Rows], Suite]

ENTAILMENT, NEUTRAL, CONTRADICTION = (GOLD.index(name) for name in ("entailment", "neutral", "contradiction"))


def frame_of(rows: Rows) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["premise", "hypothesis", "label"], orient="row")


def sample_of(rows: Rows) -> PremiseSample:
    sampler = PremiseSampler(0)
    batch = make_batch(frame_of(rows))
    sampler.add(batch, measure_pairs(batch))
    return sampler.sample()


def test_keys_look_at_words_only() -> None:
    batch = make_batch(frame_of([("A dog runs.", "It moves!", "neutral"), ("a  dog, runs", "it moves", "entailment")]))
    assert batch.keys["pair"][0] == batch.keys["pair"][1]
    assert make_batch(frame_of([("?!", "!?", "neutral")])).keys["premise"][0] != batch.keys["premise"][0]


def test_what_is_new_is_told_piece_by_piece() -> None:
    firsts, keys = SeenKeys(), np.array([8, 16, 8, 24], dtype=np.uint64)
    first = firsts.add(keys, np.array([0, 0, 1, 0]))
    assert first.key.tolist() == [True, True, False, True]
    assert first.label.tolist() == [True, True, True, True]
    again = firsts.add(np.array([16, 8, 32], dtype=np.uint64), np.array([0, 2, 1]))
    assert again.key.tolist() == [False, False, True]
    assert again.label.tolist() == [False, True, True]
    assert firsts.sorted().tolist() == [8, 9, 10, 16, 24, 33]


def test_what_was_new_is_remembered_by_row() -> None:
    repetitions = Repetitions()
    rows = [("a", "b", "neutral"), ("a", "c", "neutral"), ("d", "b", "neutral"), ("a", "b", "neutral")]
    repetitions.add(make_batch(frame_of(rows[:3])))
    repetitions.add(make_batch(frame_of(rows[3:])))
    assert repetitions.marks().tolist() == [NEW_PAIR | NEW_HYPOTHESIS, NEW_PAIR | NEW_HYPOTHESIS, NEW_PAIR, 0]


def test_repetitions_by_hand() -> None:
    rows = [
        ("A dog runs.", "An animal moves along the road.", "entailment"),
        ("a dog runs", "An animal moves along the road", "entailment"),  # the same pair again
        ("A dog runs.", "An animal rests along the road.", "contradiction"),
        ("A cat runs.", "An animal moves along the road.", "entailment"),  # the same hypothesis elsewhere
        ("A cat runs.", "It is late.", "neutral"),
        ("A cat runs.", "It is late.", "contradiction"),  # another label
    ]
    repetitions = Repetitions()
    for part in (rows[:3], rows[3:]):
        repetitions.add(make_batch(frame_of(part)))
    assert repetitions.duplicates() == Duplicates(
        pairs=4,
        premises=2,
        hypotheses=3,
        repeated=2,
        surplus=2,
        conflicts=1,
        shared_hypotheses=1,
        shared_pairs=2,
        one_label=1,
    )


def test_leaks_by_hand(training_set: Made) -> None:
    suite = training_set(
        [
            ("A dog runs home.", "A dog moves.", "entailment"),  # exact, same label
            ("A cat runs home.", "A cat sleeps.", "contradiction"),  # exact, other label
            ("Two men walk along a road.", "Two people walk along a road.", "entailment"),  # its premise only
            ("A bird sings.", "Nobody hears it.", "neutral"),  # its hypothesis only
            ("Rain falls.", "It is wet.", "entailment"),  # not at all
        ]
    )
    search = LeakSearch(suite)
    train = [
        ("a dog runs home", "A dog moves!", "entailment"),
        ("A cat runs home.", "A cat sleeps.", "neutral"),
        ("Two men walk along a road.", "They drive.", "entailment"),
        ("A door opens.", "Nobody hears it.", "neutral"),
    ]
    for row in train:
        search.add(make_batch(frame_of([row])))
    found = search.leak()
    assert (found.rows, found.exact, found.same_label) == (5, 2, 1)
    assert (found.premise, found.hypothesis) == (3, 3)
    examples, others = search.sample(10, seed=0)
    assert [(example["match"], example["hypothesis"]) for example in examples] == [
        ("exact", "A dog moves."),
        ("exact", "A cat sleeps."),
    ]
    assert sorted(others.frame["hypothesis"]) == ["It is wet.", "Nobody hears it.", "Two people walk along a road."]


def test_pairs_of_a_suite_that_stand_twice_count_twice(training_set: Made) -> None:
    rows = [("A dog runs.", "It moves.", "neutral"), ("a dog runs", "It moves", "entailment")]
    search = LeakSearch(training_set(rows))
    search.add(make_batch(frame_of(rows[:1])))
    found = search.leak()
    assert (found.exact, found.same_label, found.premise, found.hypothesis) == (2, 1, 2, 2)


def test_a_suite_without_pairs_has_no_leak(training_set: Made) -> None:
    search = LeakSearch(training_set([]))
    search.add(make_batch(frame_of([("A dog runs.", "It moves.", "neutral")])))
    assert search.leak() == Leak("mine", 0, 0, 0, 0, 0)
    assert search.sample(10, seed=0)[1].frame.height == 0


def counted(rows: Rows, side: str) -> ItemCounts:
    """Words of sentences, two batches of them."""
    counter, repetitions = WordCounter(side), Repetitions()
    for part in (rows[:2], rows[2:]):
        batch = make_batch(frame_of(part))
        counter.add(batch, repetitions.add(batch)[side].label)
    return counter.counts()


def test_a_sentence_counts_once_for_a_label() -> None:
    rows = [
        ("one", "the the dog", "entailment"),
        ("two", "The dog.", "entailment"),
        ("three", "the the dog", "entailment"),
        ("four", "the the dog", "neutral"),
    ]
    found = counted(rows, "hypothesis")
    assert found.names(np.arange(2)).to_list() == ["dog", "the"]
    assert found.counts[:, [ENTAILMENT, NEUTRAL]].tolist() == [[2, 1], [2, 1]]
    assert found.totals[[ENTAILMENT, NEUTRAL]].tolist() == [2, 1]


def test_pairs_and_bigrams_by_hand() -> None:
    rows = [
        ("a young girl", "woman sleeps soundly", "contradiction"),
        ("a girl", "woman sleeps", "contradiction"),
        ("a girl", "woman sleeps", "contradiction"),
        ("a girl", "sleeps woman", "neutral"),
    ]
    pairs = TwoWordCounter(counted(rows, "hypothesis"), counted(rows, "premise"))
    bigrams, repetitions = TwoWordCounter(counted(rows, "hypothesis")), Repetitions()
    for part in (rows[:2], rows[2:]):
        batch = make_batch(frame_of(part))
        firsts = repetitions.add(batch)
        pairs.add(batch, firsts["pair"].label)
        bigrams.add(batch, firsts["hypothesis"].label)

    def table(found: ItemCounts) -> dict[str, list[int]]:
        names = found.names(np.arange(len(found.counts))).to_list()
        return dict(zip(names, found.counts[:, [NEUTRAL, CONTRADICTION]].tolist(), strict=True))

    # "a" is a function word and in no pair; the third row repeats the second.
    assert table(pairs.counts(2)) == {"girl → woman": [1, 2], "girl → sleeps": [1, 2]}
    assert table(bigrams.counts(1)) == {"woman sleeps": [0, 2], "sleeps soundly": [0, 1], "sleeps woman": [1, 0]}


def test_counts_may_be_larger_than_two_bytes() -> None:
    rows = [("p", "big dog", "entailment")]
    bigrams = TwoWordCounter(counted(rows, "hypothesis"))
    # Marked as new each time, so that they add up.
    batch = make_batch(frame_of(rows * 40_000))
    for _ in range(2):
        bigrams.add(batch, np.ones(batch.frame.height, dtype=bool))
    assert bigrams.counts(1).counts[:, ENTAILMENT].tolist() == [80_000]


def items(table: dict[str, tuple[int, int, int]], totals: tuple[int, int, int]) -> ItemCounts:
    codes = [ENTAILMENT, NEUTRAL, CONTRADICTION]
    counts = np.zeros((len(table), len(GOLD)), dtype=np.int64)
    counts[:, codes] = np.array(list(table.values()), dtype=np.int64).reshape(-1, 3)
    every = np.zeros(len(GOLD), dtype=np.int64)
    every[codes] = totals
    names = pl.Series(list(table), dtype=pl.String)
    return ItemCounts(lambda rows: names[rows], counts, every)


def test_pmi_and_p_by_hand() -> None:
    found = find_cues(items({"nobody": (0, 0, 40), "the": (30, 30, 30), "rare": (0, 0, 9)}, (100, 100, 100)))
    assert found.tested == 2
    assert found.tied == {"entailment": 0, "neutral": 0, "contradiction": 1}
    (cue,) = found.top["contradiction"]
    assert (cue.item, cue.count, cue.with_label, cue.share) == ("nobody", 40, 40, 1.0)
    # 140 with 100 added, of 340 in its row; 300 of 900 in the column: log2(140 * 900 / (340 * 300)).
    assert cue.pmi == pytest.approx(math.log2(140 * 900 / (340 * 300)))
    # (1/3)^40, times the 2 items and 3 labels that were tested.
    assert cue.p == pytest.approx(6 * 3.0**-40)
    assert found.p == cue.p
    assert smoothed_pmi(np.array([[50, 50, 50]]), np.array([100, 100, 100])) == pytest.approx(0)


def test_an_item_as_frequent_as_the_detectable_share_is_found_four_times_in_five() -> None:
    sizes, alpha = np.array([1000, 1000, 1000]), 1e-6
    share = detectable_share(sizes, alpha=alpha)
    # 3 % against 1 % of 3,000 rows, is out of reach.
    assert 0.04 < share < 0.07
    rng = np.random.default_rng(1)
    with_label, elsewhere = rng.binomial(1000, share, 4000), rng.binomial(2000, 0.01, 4000)
    found = stats.binom.sf(with_label - 1, with_label + elsewhere, 1 / 3) < alpha
    assert found.mean() == pytest.approx(0.8, abs=0.05)
    fewer = rng.binomial(1000, share - 0.015, 4000)
    assert (stats.binom.sf(fewer - 1, fewer + elsewhere, 1 / 3) < alpha).mean() < 0.6


def test_no_share_suffices_in_a_tiny_set() -> None:
    assert math.isnan(detectable_share([3, 3], alpha=1e-6))


def test_tails_are_those_of_scipy() -> None:
    found = find_cues(items({"x": (36, 2, 2), "y": (10, 10, 10)}, (500, 300, 200)))
    (cue,) = found.top["entailment"]
    # Times 2 items and 3 labels: it is the smallest p, so Holm takes it times all of them.
    assert cue.p == pytest.approx(6 * stats.binom.sf(35, 40, 0.5))


def test_polarity_by_hand() -> None:
    table = {"a → b": (40, 0, 0), "c → d": (5, 5, 4), "e → f": (4, 4, 5), "g → h": (1, 0, 0)}
    found = measure_polarity(items(table, (100, 100, 100)))
    assert found.pairs == 3
    assert found.polarity == {"entailment": 1, "neutral": 0, "contradiction": 1, "tie": 1}
    assert found.leaning == {"entailment": 1, "neutral": 0, "contradiction": 0}


def test_nothing_is_tied_where_there_is_one_label() -> None:
    found = find_cues(items({"a": (20, 0, 0)}, (100, 0, 0)))
    assert (found.tested, found.top) == (0, {})
    assert math.isnan(found.p)
    assert measure_polarity(items({}, (0, 0, 0))).pairs == 0


def test_measures_by_hand() -> None:
    rows = [
        ("The man did not sleep for 3 hours.", "The man slept for two hours.", "contradiction"),
        ("A big dog.", "A small dog.", "contradiction"),
        ("A dog runs home.", "A dog runs.", "entailment"),
        ("Words.", "?!", "neutral"),
    ]
    found = measure_pairs(make_batch(frame_of(rows)))
    assert found["premise_length"].to_list() == [8, 3, 4, 1]
    assert found["hypothesis_length"].to_list() == [6, 3, 3, 0]
    # the, man, for, hours of the, man, slept, for, two, hours.
    assert found["overlap"].to_list() == pytest.approx([4 / 6, 2 / 3, 1.0, None])
    assert found["premise_negation"].to_list() == [1, 0, 0, 0]
    assert found["negation_in_one"].to_list() == [1, 0, 0, 0]
    assert found["antonyms"].to_list() == [0, 1, 0, 0]
    assert found["unequal_amounts"].to_list() == [1, 0, 0, 0]
    assert found["no_new_word"].to_list() == [0, 0, 1, 0]
    assert found["longer_hypothesis"].to_list() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("premise", "hypothesis", "relations"),
    [
        ("A dog runs.", "An animal runs.", {"hypernyms"}),
        ("An animal runs.", "A dog runs.", {"hyponyms"}),
        ("A car stops.", "An automobile stops.", {"synonyms"}),
        ("A guitar plays.", "A violin plays.", {"cohyponyms"}),
        ("Dogs ran.", "A dog runs.", set()),
        ("A dog and an animal.", "An animal.", set()),
        ("Some men sleep.", "All women run.", {"cohyponyms", "quantifiers"}),
        ("A dog runs.", "Many dogs run.", {"quantifiers"}),
        ("Words.", "?!", set()),
    ],
)
def test_related_words_are_counted(premise: str, hypothesis: str, relations: set[str]) -> None:
    found = measure_pairs(make_batch(frame_of([(premise, hypothesis, "neutral")])))
    kinds = ("synonyms", "hypernyms", "hyponyms", "cohyponyms", "quantifiers")
    assert {name for name in kinds if found[name][0]} == relations


def test_means_and_variance_explained_by_hand() -> None:
    rows = [
        (f"premise {number}", "a " * length, label)
        for number, (length, label) in enumerate([(2, "entailment"), (4, "entailment"), (6, "neutral"), (8, "neutral")])
    ]
    batch = make_batch(frame_of(rows))
    sums = MeasureSums()
    sums.add(batch, measure_pairs(batch))
    found = sums.by_label("hypothesis_length", sample_of(rows))
    assert {label: mean.value for label, mean in found.means.items()} == {"entailment": 3, "neutral": 7}
    # Of a sum of squares of 20 around 5, 4 * 2² = 16 lie between the labels; within them the variance is 4 / 2.
    assert found.explained == pytest.approx(0.8)
    assert found.largest == pytest.approx(4 / math.sqrt(2))
    # 1.96 standard errors: sqrt(2 / 2).
    assert found.means["neutral"].high == pytest.approx(7 + 1.959964)
    assert found.note == "fewer than 30 premises"
    assert sums.count("no_new_word") == {"entailment": 0, "neutral": 0}


def test_the_interval_of_a_share_lies_between_0_and_1() -> None:
    rows = [(f"premise {number}", "He never left." if number < 1 else "He left.", "neutral") for number in range(20)]
    batch = make_batch(frame_of(rows))
    sums = MeasureSums()
    sums.add(batch, measure_pairs(batch))
    share = sums.by_label("hypothesis_negation", sample_of(rows)).means["neutral"]
    # R: binom.test(1, 20)
    assert (share.value, share.low, share.high) == pytest.approx((0.05, 0.00126509, 0.24873276), abs=1e-7)


def test_genres_by_hand() -> None:
    frame = frame_of([("p", "h", "entailment")] * 30 + [("p", "h", "neutral")] * 30)
    counts = LabelCounter("genre")
    counts.add(make_batch(frame.with_columns(genre=pl.Series(["a"] * 20 + ["b"] * 20 + ["a"] * 10 + ["b"] * 10))))
    found = counts.balance()
    assert found.labels == {"entailment": 30, "neutral": 30}
    assert found.genres == {"a": {"entailment": 20, "neutral": 10}, "b": {"entailment": 10, "neutral": 20}}
    # 60 (20 * 20 - 10 * 10)² / 30⁴ = 6.667; V = sqrt(6.667 / 60) = 1 / 3.
    assert found.cramers_v == pytest.approx(1 / 3)
    assert found.p == pytest.approx(stats.chi2_contingency([[20, 10], [10, 20]], correction=False).pvalue)


def test_a_sample_is_of_whole_premises_whatever_the_order() -> None:
    rows = [(f"premise {number % 40}", f"hypothesis {number}", "neutral") for number in range(200)]

    def drawn(order: Rows) -> PremiseSample:
        sampler = PremiseSampler(7, 50)
        for start in range(0, len(order), 30):
            batch = make_batch(frame_of(order[start : start + 30]))
            sampler.add(batch, measure_pairs(batch))
        return sampler.sample()

    one, other = drawn(rows), drawn(rows[::-1])
    assert set(one.frame["hypothesis"]) == set(other.frame["hypothesis"])
    assert 45 <= one.frame.height <= 50
    assert one.frame.group_by("premise").len()["len"].to_list() == [5] * (one.frame.height // 5)
    assert drawn(rows[:50]).frame.height == 50


def test_pairs_of_a_premise_with_one_label_are_worth_one() -> None:
    alike = [
        (f"premise {number // 3}", f"h {number}", "neutral" if number // 3 % 2 else "entailment")
        for number in range(60)
    ]
    assert sample_of(alike).label_effect == pytest.approx(3)
    apart = [
        (f"premise {number // 2}", f"h {number}", "neutral" if number % 2 else "entailment") for number in range(60)
    ]
    assert sample_of(apart).label_effect == 1
    assert sample_of(alike[:1]).label_effect == 1
    found = find_cues(items({"nobody": (0, 0, 40)}, (100, 100, 100)), effect=2.0)
    # Twenty that are worth anything, times three labels.
    assert found.p == pytest.approx(3 * 3.0**-20)
