"""What models know of words: bins by hand, planted effects, published against fresh pairs."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.run import Header, ModelFacts, Run
from acidtest.core.serialise import to_json
from acidtest.core.suite import Card, Kind, Suite
from acidtest.studies.lexical import ALIKE, AS_PUBLISHED, LexicalResult, lexical
from acidtest.studies.lexical.knowledge import COSINES, FREQUENCIES

Pair = tuple[str, str, str, str, bool]
"""Category, the premise's word, the hypothesis's, label, and whether the answer is right."""

COLUMNS: dict[str, Kind] = {"category": "factor", "premise_word": "text", "hypothesis_word": "text"}
LABELS = ("entailment", "neutral", "contradiction")


def rows(suite: str, pairs: Sequence[Pair], **more: Sequence[object]) -> pl.DataFrame:
    """Predictions on sentences about words, each in a premise of its own."""
    frame = pl.DataFrame(pairs, schema=["category", "premise_word", "hypothesis_word", "label", "right"], orient="row")
    number = pl.int_range(pl.len()).cast(pl.String)
    answer = pl.when("right").then("label").when(pl.col("label") == "neutral").then(pl.lit("entailment"))
    frame = frame.with_columns(
        suite=pl.lit(suite),
        id=pl.concat_str(pl.lit(suite), number),
        premise=pl.concat_str(pl.lit(f"{suite} "), number, pl.lit(" is "), "premise_word"),
        hypothesis=pl.concat_str(pl.lit(f"{suite} "), number, pl.lit(" is "), "hypothesis_word"),
        group=pl.concat_str(pl.lit(suite), number),
        answer=answer.otherwise(pl.lit("neutral")),
    )
    frame = frame.with_columns((pl.col("answer") == label).cast(pl.Float64).alias(f"p_{label}") for label in LABELS)
    return frame.drop("right", "answer").with_columns(**{name: pl.Series(values) for name, values in more.items()})


def run(model: str, suites: dict[str, pl.DataFrame], columns: dict[str, Kind] | None = None) -> Run:
    cards = {name: Card(name, columns=COLUMNS if columns is None else columns) for name in suites}
    return Run(Header(ModelFacts(model, model), cards, {}), pl.concat(suites.values(), how="diagonal_relaxed"))


def train(*pairs: str) -> Suite:
    sentences = [(f"It is {one}.", f"It is {two}.", "contradiction") for one, two in (p.split("/") for p in pairs)]
    return Suite(pl.DataFrame(sentences, schema=["premise", "hypothesis", "label"], orient="row").lazy(), Card("train"))


def vectors(path: Path, cosines: dict[str, float]) -> Path:
    """Words at angles to the word ``zero`` whose cosines are these."""
    lines = ["zero 1 0", *(f"{word} {cosine} {math.sqrt(1 - cosine**2)}" for word, cosine in cosines.items())]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def contradictions(*words: str, right: bool = True) -> list[Pair]:
    return [("colours", "zero", word, "contradiction", right) for word in words]


MIXED: list[Pair] = [
    ("colours", "red", "blue", "contradiction", True),
    ("colours", "red", "green", "contradiction", False),
    ("colours", "Red", "Blue", "contradiction", True),
    ("colours", "crimson", "red", "entailment", False),
    ("rooms", "kitchen", "dining room", "contradiction", False),
    ("rooms", "kitchen", "attic", "contradiction", True),
]


def test_accuracy_by_category_counts_every_label() -> None:
    result = lexical([run("m", {"lexical": rows("lexical", MIXED)})]).knowledge[0]
    assert (result.model, result.suite) == ("m", "lexical")
    assert result.overall.value == pytest.approx(3 / 6)
    assert {name: (part.value, part.n) for name, part in result.categories.items()} == {
        "colours": (0.5, 4),
        "rooms": (0.5, 2),
    }
    assert result.by_cosine is None
    assert result.by_frequency is None


def test_a_bin_of_cosines_has_its_lower_end_and_the_last_has_both(tmp_path: Path) -> None:
    cosines = {
        "a": 0.4999,
        "b": 0.5,
        "c": 0.5999,
        "d": 0.6001,
        "e": 0.75,
        "f": 0.8001,
        "g": 0.9001,
        "h": 1.0,
        "i": -1.0,
    }
    pairs = [*contradictions(*"abcdefgh"), *contradictions("i", "nowhere", right=False)]
    word_run = run("m", {"lexical": rows("lexical", pairs)})
    result = lexical([word_run], embeddings=vectors(tmp_path / "v.txt", cosines))
    binned = result.knowledge[0].by_cosine
    assert binned
    assert {name: part.accuracy.n for name, part in binned.bins.items()} == {
        "0.5-0.6": 2,
        "0.6-0.7": 1,
        "0.7-0.8": 1,
        "0.8-0.9": 1,
        "0.9-1.0": 2,
    }
    assert {name: (part.accuracy.n, part.pairs) for name, part in binned.outside.items()} == {
        "below 0.5": (2, 2),
        "unknown": (1, 1),
        "several words": (0, 0),
    }
    assert result.vectors
    assert (result.vectors.name, result.vectors.size, result.vectors.words, result.vectors.known) == (
        "v.txt",
        10,
        11,
        10,
    )


def test_bins_of_training_frequency_count_directed_pairs() -> None:
    wanted = {"a": 0, "b": 1, "c": 4, "d": 5, "e": 9, "f": 10, "g": 49, "h": 50, "i": 99, "j": 100}
    taught = [f"zero/{word}" for word, count in wanted.items() for _ in range(count)] + ["a/zero"] * 7
    result = lexical([run("m", {"lexical": rows("lexical", contradictions(*wanted))})], train=train(*taught))
    binned = result.knowledge[0].by_frequency
    assert binned
    assert {name: part.accuracy.n for name, part in binned.bins.items()} == {
        "0": 1,
        "1-4": 2,
        "5-9": 2,
        "10-49": 2,
        "50-99": 2,
        "100+": 1,
    }
    assert result.train
    assert (result.train.name, result.train.contradictions) == ("train", len(taught))
    # Words in examples: a in the seven of "a/zero", the others as often as they stand in pairs.
    counts = [7 if word == "a" else count for word, count in wanted.items()]
    assert result.train.mean == pytest.approx(np.mean(counts))
    assert result.train.median == pytest.approx(np.median(counts))
    assert (result.train.rarest, result.train.commonest, result.train.unseen) == (("b", 1), ("j", 100), 0)


def test_similarity_and_frequency_are_of_contradictions_of_single_words() -> None:
    result = lexical([run("m", {"lexical": rows("lexical", MIXED)})], train=train("red/blue"))
    binned = result.knowledge[0].by_frequency
    assert binned
    assert {name: part.accuracy.n for name, part in binned.bins.items() if part.accuracy.n} == {"0": 2, "1-4": 2}
    assert binned.outside["several words"].accuracy.n == 1
    # Red and blue are one pair of words in any case.
    assert binned.bins["1-4"].pairs == 1


def test_what_a_suite_tells_itself_is_used_unless_a_file_is_given(tmp_path: Path) -> None:
    pairs = contradictions("a", "b")
    frame = rows("lexical", pairs, cosine=[0.55, 0.95], contradictions=[0.0, 120.0])
    word_run = run("m", {"lexical": frame}, {**COLUMNS, "cosine": "covariate", "contradictions": "covariate"})
    told = lexical([word_run]).knowledge[0]
    assert told.by_cosine
    assert told.by_frequency
    assert [part.accuracy.n for part in told.by_cosine.bins.values()] == [1, 0, 0, 0, 1]
    assert [part.accuracy.n for part in told.by_frequency.bins.values()] == [1, 0, 0, 0, 0, 1]
    again = lexical([word_run], embeddings=vectors(tmp_path / "v.txt", {"a": 0.65, "b": 0.75}), train=train("zero/a"))
    assert again.knowledge[0].by_cosine
    assert again.knowledge[0].by_frequency
    assert [part.accuracy.n for part in again.knowledge[0].by_cosine.bins.values()] == [0, 1, 1, 0, 0]
    assert [part.accuracy.n for part in again.knowledge[0].by_frequency.bins.values()] == [1, 1, 0, 0, 0, 0]


def test_words_of_a_foreign_file_are_found_by_comparing_the_sentences() -> None:
    frame = rows("breaking-nli", MIXED).drop("premise_word", "hypothesis_word")
    result = lexical([run("m", {"breaking-nli": frame}, {"category": "factor"})], train=train("red/blue"))
    assert set(result.pairs.select("premise_word", "hypothesis_word").rows()) == {
        ("red", "blue"),
        ("red", "green"),
        ("Red", "Blue"),
        ("crimson", "red"),
        ("kitchen", "dining room"),
        ("kitchen", "attic"),
    }


def test_the_table_has_a_row_for_each_pair_and_a_column_for_each_model() -> None:
    other = [(*pair[:4], not pair[4]) for pair in MIXED]
    runs = [run("m", {"lexical": rows("lexical", MIXED)}), run("n", {"lexical": rows("lexical", other)})]
    table = lexical(runs, train=train("red/blue")).pairs
    assert table.columns == [
        "suite",
        "category",
        "label",
        "premise_word",
        "hypothesis_word",
        "contradictions",
        "rows",
        "right: m",
        "right: n",
    ]
    blue = table.row(by_predicate=(pl.col("premise_word") == "red") & (pl.col("hypothesis_word") == "blue"))
    assert blue == ("lexical", "colours", "contradiction", "red", "blue", 1, 1, 1, 0)


def test_suites_of_single_categories_make_one_set() -> None:
    parts = {"lexical/colours": rows("lexical/colours", MIXED[:4]), "lexical/rooms": rows("lexical/rooms", MIXED[4:])}
    result = lexical([run("m", parts)])
    assert [(part.suite, part.overall.n, set(part.categories)) for part in result.knowledge] == [
        ("lexical/*", 6, {"colours", "rooms"})
    ]


def planted(rng: np.random.Generator, slope: float) -> LexicalResult:
    """150 pairs of words, six rows each: right less often the more similar the words are, and by pair of words."""
    cosines = rng.uniform(0.5, 1, 150)
    own = rng.normal(0, 0.15, 150)
    pairs, known = [], []
    for number, (cosine, by_pair) in enumerate(zip(cosines, own, strict=True)):
        for _ in range(6):
            chance = np.clip(0.6 + by_pair + slope * (cosine - 0.75), 0, 1)
            pairs.append(("colours", "zero", f"w{number}", "contradiction", bool(rng.random() < chance)))
            known.append(float(cosine))
    frame = rows("lexical", pairs, cosine=known)
    return lexical([run("m", {"lexical": frame}, {**COLUMNS, "cosine": "covariate"})])


def test_a_planted_trend_is_found_and_nothing_is_found_in_nothing() -> None:
    rng = np.random.default_rng(0)
    effects = [planted(rng, -0.8).knowledge[0].by_cosine for _ in range(5)]
    assert all(part and part.trend.p < 0.05 and part.trend.estimate.value < 0 for part in effects)
    nothing = [planted(rng, 0.0).knowledge[0].by_cosine for _ in range(40)]
    assert sum(bool(part and part.trend.p < 0.05) for part in nothing) <= 5


def test_an_interval_of_a_bin_is_the_wider_of_those_over_premises_and_over_word_pairs() -> None:
    # Each of five pairs of words is always right or always wrong, in ten premises each.
    pairs = [pair for number in range(5) for pair in contradictions(*[f"w{number}"] * 10, right=number < 3)]
    result = lexical([run("m", {"lexical": rows("lexical", pairs)})], train=train("x/y")).knowledge[0]
    assert result.by_frequency
    none = result.by_frequency.bins["0"]
    assert (none.accuracy.value, none.pairs, none.accuracy.groups) == (0.6, 5, 5)
    assert "word pairs" in none.accuracy.method
    assert none.accuracy.high - none.accuracy.low > 2 * (result.overall.high - result.overall.low)


def test_trends_are_one_family_and_drops_another(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    pairs = [pair for n in range(60) for pair in contradictions(f"w{n % 20}", right=bool(rng.random() < 0.5))]
    original = rows("snli", [("", "a", "b", "contradiction", bool(rng.random() < 0.9)) for _ in range(100)])
    columns: dict[str, Kind] = {"category": "factor"}
    word_run = Run(
        Header(
            ModelFacts("m", "m"),
            {"lexical": Card("lexical", columns=COLUMNS), "snli": Card("snli", columns=columns)},
            {},
        ),
        pl.concat([rows("lexical", pairs), original.with_columns(pl.lit(None, pl.String).alias("premise_word"))]),
    )
    cosines = {f"w{n}": 0.5 + n / 42 for n in range(20)}
    taught = [f"zero/w{n}" for n in range(10)]
    result = lexical([word_run], train=train(*taught), embeddings=vectors(tmp_path / "v.txt", cosines), original="snli")
    one = result.knowledge[0]
    assert one.by_cosine
    assert one.by_frequency
    assert one.drop
    ps = sorted([one.by_cosine.trend.p, one.by_frequency.trend.p])
    assert sorted([one.by_cosine.trend.p_adjusted, one.by_frequency.trend.p_adjusted]) == pytest.approx(
        [min(1, 2 * ps[0]), max(min(1, 2 * ps[0]), ps[1])]
    )
    assert one.drop.p_adjusted == one.drop.p
    json.dumps(to_json(result), allow_nan=False)


def original_run(model: str, right: Sequence[bool], suite: str = "snli_test") -> Run:
    frame = rows(suite, [("", "a", "b", "contradiction", part) for part in right]).drop(
        "premise_word", "hypothesis_word"
    )
    return run(model, {suite: frame}, {})


def test_the_drop_is_the_accuracy_less_that_on_the_original_test_set() -> None:
    lexical_run = run("m", {"lexical": rows("lexical", contradictions(*"abcdefghij", right=False) + MIXED)})
    original = original_run("m", [True] * 80 + [False] * 20)
    drop = lexical([lexical_run, original], original="snli_test").knowledge[0].drop
    assert drop
    assert drop.accuracy.value == pytest.approx(0.8)
    assert drop.difference.value == pytest.approx(3 / 16 - 0.8)
    assert drop.difference.high < 0
    assert drop.p < 0.001
    assert drop.note == ""


def test_predictions_scored_from_two_files_are_taken_for_one_models() -> None:
    lexical_run = run("answers:a.csv", {"lexical": rows("lexical", MIXED)})
    drop = lexical([lexical_run, original_run("answers:b.csv", [True, False])], original="snli_test").knowledge[0].drop
    assert drop
    assert drop.note == "snli_test was answered by answers:b.csv, taken to be the same model"
    another = run("answers:c.csv", {"lexical": rows("lexical", MIXED)})
    with pytest.raises(AcidtestError, match=r"no run of answers:a\.csv has the suite 'snli_test'"):
        lexical([lexical_run, another, original_run("answers:b.csv", [True])], original="snli_test")


def test_mistakes_are_told() -> None:
    with pytest.raises(
        AcidtestError, match=r"none of the runs has a suite lexical, lexical/… or breaking-nli \(m: snli"
    ):
        lexical([original_run("m", [True])])
    with pytest.raises(AcidtestError, match="none of the runs"):
        lexical([])
    one = run("m", {"lexical": rows("lexical", MIXED)})
    with pytest.raises(UnknownNameError, match="no suite of these runs called 'snli'"):
        lexical([one], original="snli")
    with pytest.raises(AcidtestError, match="two runs of m hold 'lexical'; pass one of them"):
        lexical([one, one])


def test_one_pair_of_words_gives_no_trend_and_no_interval() -> None:
    pairs = contradictions("a", "a") + contradictions("a", right=False)
    result = lexical([run("m", {"lexical": rows("lexical", pairs)})], train=train("zero/a")).knowledge[0]
    assert result.by_frequency
    assert math.isnan(result.by_frequency.trend.p)
    assert result.by_frequency.trend.estimate.note == "all rows are on one step"
    assert result.by_frequency.bins["1-4"].accuracy.note == "one word pair only: no interval"
    assert result.by_frequency.bins["0"].accuracy.note == "no rows"


def both_sides(rng: np.random.Generator, published: float, fresh: float, model: str = "m") -> Run:
    """Two categories, published 60 and 120 rows, fresh as many; entailments only among the fresh colours."""
    sides = {}
    for suite, rate, names in (
        ("breaking-nli", published, ("colors", "rooms")),
        ("lexical", fresh, ("colours", "rooms")),
    ):
        pairs = [
            (category, f"w{n % 30}", f"v{suite}{n % 30}", "contradiction", bool(rng.random() < rate))
            for category, count in zip(names, (60, 120), strict=True)
            for n in range(count)
        ]
        if suite == "lexical":
            pairs += [("colours", f"e{n}", f"f{n}", "entailment", False) for n in range(50)]
            pairs += [("fruits", f"e{n}", f"f{n}", "contradiction", False) for n in range(50)]
        sides[suite] = rows(suite, pairs)
    return run(model, sides)


def test_memory_compares_the_categories_and_labels_that_both_have() -> None:
    memory = lexical([both_sides(np.random.default_rng(0), 1.0, 0.5)]).memory[0]
    assert (memory.model, memory.published, memory.fresh) == ("m", "breaking-nli", "lexical")
    assert [part.slice for part in memory.contrasts] == [ALIKE, AS_PUBLISHED, "colors", "rooms"]
    assert memory.left_out == {"fresh": 100}
    result = {part.slice: part for part in memory.contrasts}
    assert all(part.published == 1.0 for part in memory.contrasts)
    # Alike: half of each category; as published: a third of it colors, two thirds rooms.
    colors, rooms = result["colors"].fresh, result["rooms"].fresh
    assert result[ALIKE].fresh == pytest.approx((colors + rooms) / 2)
    assert result[AS_PUBLISHED].fresh == pytest.approx(colors / 3 + 2 * rooms / 3)
    assert result[ALIKE].difference.value == pytest.approx(1 - (colors + rooms) / 2)
    assert result[ALIKE].p_adjusted < 0.05
    assert "better on the published pairs" in memory.verdict
    json.dumps(to_json(memory), allow_nan=False)


def test_no_memory_is_found_where_there_is_none() -> None:
    rng = np.random.default_rng(1)
    memories = [lexical([both_sides(rng, 0.7, 0.7)]).memory[0] for _ in range(60)]
    assert sum(memory.contrasts[0].p < 0.05 for memory in memories) <= 7
    assert sum(any(part.p_adjusted < 0.05 for part in memory.contrasts) for memory in memories) <= 7
    covered = [part.contrasts[0].difference.low <= 0 <= part.contrasts[0].difference.high for part in memories]
    assert np.mean(covered) > 0.85
    assert "No sign of memory" in memories[0].verdict


def test_a_model_that_is_worse_on_the_published_pairs_has_no_memory_of_them() -> None:
    memory = lexical([both_sides(np.random.default_rng(2), 0.2, 0.9)]).memory[0]
    assert memory.verdict.startswith("No sign of memory: m is ")
    assert "worse on the published pairs" in memory.verdict


def test_identical_answers_everywhere_leave_nothing_to_tell() -> None:
    memory = lexical([both_sides(np.random.default_rng(3), 1.0, 1.0)]).memory[0]
    assert memory.contrasts[0].difference.value == 0
    assert memory.contrasts[0].difference.high > 0
    assert memory.contrasts[0].p == pytest.approx(1.0)


def test_a_reference_takes_away_what_is_easier_for_it_too() -> None:
    rng = np.random.default_rng(5)
    # Both models find the published pairs easier: no memory. The third alone does: memory.
    clean, alike, seen = (
        both_sides(rng, one, two, name)
        for name, one, two in (("clean", 0.9, 0.5), ("alike", 0.9, 0.5), ("seen", 0.99, 0.3))
    )
    easier = lexical([alike]).memory[0]
    assert easier.contrasts[0].p_adjusted < 0.05
    assert "it has seen them, or their words are easier" in easier.verdict
    beside = lexical([alike, seen], reference=[clean]).memory
    assert [part.reference for part in beside] == ["clean", "clean"]
    assert beside[0].contrasts[0].excess_p_adjusted > 0.05
    assert beside[0].verdict.startswith("No sign of memory")
    assert beside[1].contrasts[0].excess_p_adjusted < 0.05
    assert beside[1].verdict.endswith(
        "it has seen them, or the published words are easier for it than for the reference."
    )
    # The excess is the difference of differences.
    own, other = beside[1].contrasts[0], lexical([clean]).memory[0].contrasts[0]
    assert own.excess
    assert own.excess.value == pytest.approx(own.difference.value - other.difference.value)
    json.dumps(to_json(beside[1]), allow_nan=False)


def test_a_reference_must_be_another_model_on_the_same_pairs() -> None:
    rng = np.random.default_rng(6)
    one = both_sides(rng, 0.5, 0.5, "one")
    with pytest.raises(AcidtestError, match="the reference is 'one' itself"):
        lexical([one], reference=[one])
    with pytest.raises(AcidtestError, match="the reference is of several models: a, b"):
        lexical([one], reference=[both_sides(rng, 0.5, 0.5, "a"), both_sides(rng, 0.5, 0.5, "b")])
    with pytest.raises(AcidtestError, match="the reference was not asked 'breaking-nli'"):
        lexical([one], reference=[run("a", {"lexical": rows("lexical", MIXED)})])
    short = run("a", {name: rows(name, MIXED) for name in ("breaking-nli", "lexical")})
    clean = both_sides(rng, 0.5, 0.5, "clean")
    other = Run(clean.header, clean.predictions.with_columns(premise=pl.lit("Another.")))
    for reference in (short, other):
        with pytest.raises(AcidtestError, match="the reference was asked other pairs of 'breaking-nli'"):
            lexical([one], reference=[reference])


def test_models_are_not_mixed_and_suites_without_common_categories_are_not_compared() -> None:
    rng = np.random.default_rng(4)
    one = run("m", {"lexical": rows("lexical", MIXED)})
    other = run("n", {"breaking-nli": rows("breaking-nli", MIXED)})
    assert lexical([one, other]).memory == ()
    apart = [("planets", *pair[1:]) for pair in MIXED]
    third = run("m", {"breaking-nli": rows("breaking-nli", apart)})
    assert lexical([one, third]).memory == ()
    assert len(lexical([both_sides(rng, 0.5, 0.5, "a"), both_sides(rng, 0.5, 0.5, "b")]).memory) == 2


def test_the_bins_are_those_of_the_published_numbers() -> None:
    from acidtest.io.published import published_scores

    for scale in (COSINES, FREQUENCIES):
        published = [score.by[scale.column] for score in published_scores("lexical") if scale.column in score.by]
        assert tuple(published) == scale.names
