"""The two baselines that read WordNet."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import acidtest
from acidtest.core.errors import AcidtestError
from acidtest.core.labels import LABELS
from acidtest.core.model import model_from_spec

PAIRS = {
    ("A little girl is very sad.", "A little girl is very unhappy."): "other",
    ("A man drives a car.", "A man drives an automobile."): "entailment",
    ("A couple drinking champagne", "A couple drinking wine"): "entailment",
    ("A couple drinking wine", "A couple drinking champagne"): "neutral",
    ("The man is holding a saxophone", "The man is holding a clarinet"): "contradiction",
    ("He loves it.", "He hates it."): "contradiction",
    ("She is in a living room.", "She is in the dining room."): "contradiction",
    ("The brick wall", "The plastic wall"): "other",
    ("Two men sleep.", "two men sleep"): "entailment",
    ("Two men sleep.", "Two tall men sleep."): "other",
    ("The dog bit the cat.", "The cat bit the dog."): "other",
}


def answers(spec: str, pairs: list[tuple[str, str]]) -> list[str]:
    """The label of each pair; other for a row of NaN."""
    values = model_from_spec(spec).predict(*map(list, zip(*pairs, strict=True)))
    return ["other" if np.isnan(row).all() else LABELS[int(row.argmax())] for row in values]


def test_the_relation_of_the_replaced_words_is_the_answer() -> None:
    assert dict(zip(PAIRS, answers("baseline:wordnet", list(PAIRS)), strict=True)) == PAIRS


def test_options_change_what_counts_as_related() -> None:
    drinks, sizes, ranks = ("a beer", "a coffee"), ("a small dog", "a tiny dog"), ("the first man", "the 16th man")
    opposites = ("a small dog", "a huge dog")
    asked = [drinks, sizes, ranks, opposites]
    assert answers("baseline:wordnet", asked) == ["contradiction", "other", "other", "contradiction"]
    assert answers("baseline:wordnet:edges=3", asked) == answers("baseline:wordnet", asked)
    assert answers("baseline:wordnet:edges=2", asked) == ["other", "other", "other", "contradiction"]
    assert answers("baseline:wordnet:edges=2,similar=synonym", asked)[:3] == ["other", "entailment", "other"]
    assert answers("baseline:wordnet:similar=co-hyponym", asked)[1:3] == ["contradiction", "contradiction"]
    assert answers("baseline:wordnet:antonyms=direct", asked)[3] == "other"


@pytest.mark.parametrize("name", ["wordnet", "wordnet-aligned"])
@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("2", r"baseline:NAME:2: '2' is no option; write edges=2 or similar=synonym"),
        ("edge=2", r"no option of baseline:NAME called 'edge'; did you mean 'edges'\?"),
        ("edges=two", r"baseline:NAME:edges=two: edges is a whole number from 1 on, not 'two'"),
        ("edges=0", r"edges is a whole number from 1 on, not '0'"),
        ("edges=2,edges=3", r"edges is given twice"),
        ("similar=hyponym", r"similar is synonym or co-hyponym, not 'hyponym'"),
        ("antonyms=all", r"antonyms is direct or indirect, not 'all'"),
    ],
)
def test_a_mistaken_option_is_explained(name: str, argument: str, message: str) -> None:
    with pytest.raises(AcidtestError, match=message.replace("NAME", name)):
        model_from_spec(f"baseline:{name}:{argument}")


def test_other_is_no_answer_counted_wrong_and_reported(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "premise": "He loves it.", "hypothesis": "He hates it.", "label": "contradiction"},
        {"id": "b", "premise": "The brick wall", "hypothesis": "The plastic wall", "label": "contradiction"},
        {"id": "c", "premise": "A man sleeps.", "hypothesis": "A tall man sleeps.", "label": "neutral"},
        {"id": "d", "premise": "A red car.", "hypothesis": "A red automobile.", "label": "entailment"},
    ]
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    finished = acidtest.run("baseline:wordnet", str(path), output=tmp_path / "run")
    result = json.loads((tmp_path / "run" / "results.json").read_text())["suites"]["pairs"]
    assert (result["overall"]["value"], result["overall"]["n"], result["unanswered"]) == (0.5, 4, 2)
    assert dict(finished.run.predictions.select("source_id", "answer").iter_rows()) == {
        "a": "contradiction",
        "b": None,
        "c": None,
        "d": "entailment",
    }


def test_only_the_baseline_for_one_replacement_may_leave_pairs_unanswered() -> None:
    assert model_from_spec("baseline:wordnet").may_abstain
    assert not model_from_spec("baseline:wordnet-aligned").may_abstain
    assert not model_from_spec("baseline:overlap").may_abstain


ALIGNED = {
    # Everything in the hypothesis is in the premise, or follows from a word there.
    ("Two young boys run across a street.", "Boys ran."): "entailment",
    ("A kid in a hat eats an apple.", "A child eats fruit."): "entailment",
    ("A man sleeps.", "A man sleeps."): "entailment",
    # Something is new, or more special.
    ("A man sleeps.", "A tall man sleeps."): "neutral",
    ("An animal sleeps.", "A dog sleeps."): "neutral",
    # An opposite, or another of the kind; several edits at once.
    ("A tall man sleeps.", "A short man sleeps."): "contradiction",
    ("A man plays a guitar.", "A tall man plays the violin."): "contradiction",
    ("A tall man drives a car.", "A short person drives an automobile."): "contradiction",
    # One side is negated.
    ("A man sleeps.", "A man does not sleep."): "contradiction",
    ("The boy isn't eating.", "The boy is eating."): "contradiction",
    ("A man does not sleep.", "No man sleeps."): "entailment",
    ("A tall man sleeps.", "A short man does not sleep."): "neutral",
    ("A man sleeps.", "A tall man does not sleep."): "neutral",
    # No content words.
    ("He is.", "She is."): "neutral",
    ("He is.", "He is."): "entailment",
    ("", ""): "entailment",
}


def test_aligned_words_are_put_together_to_one_answer() -> None:
    assert dict(zip(ALIGNED, answers("baseline:wordnet-aligned", list(ALIGNED)), strict=True)) == ALIGNED


def test_answers_do_not_depend_on_the_batch() -> None:
    for spec, pairs in (("baseline:wordnet", PAIRS), ("baseline:wordnet-aligned", ALIGNED)):
        assert [answers(spec, [pair])[0] for pair in pairs] == answers(spec, list(pairs))


def right(spec: str, pairs: pl.DataFrame) -> dict[str, tuple[int, int]]:
    """How many pairs of each category are answered rightly, of how many."""
    given = answers(spec, pairs.select("sentence1", "sentence2").rows())
    told = pairs.with_columns(right=pl.Series(given) == pairs["gold_label"])
    counts = told.group_by("category").agg(pl.col("right").sum(), pairs=pl.len())
    return {category: (good, size) for category, good, size in counts.iter_rows()}


# Measured here on a stratified quarter (2,049 pairs) of the published file. Glockner et al. (2018), table 4, have on
# the whole of it, in this order: 95.5, 94.5, 98.6, 98.7, 100.0, 94.8, 67.7, 75.3, 78.5, 40.7, 100.0, 89.9, 70.5, 86.2.
BREAKING_NLI = {
    "antonyms": (270, 287),
    "antonyms_wordnet": (174, 176),
    "cardinals": (186, 190),
    "colors": (170, 175),
    "countries": (153, 153),
    "drinks": (174, 183),
    "instruments": (12, 16),
    "materials": (77, 99),
    "nationalities": (180, 189),
    "ordinals": (73, 166),
    "planets": (15, 15),
    "rooms": (131, 149),
    "synonyms": (119, 224),
    "vegetables": (26, 27),
}


def test_breaking_nli_comes_out_as_in_the_paper_with_three_edges(shared: Path) -> None:
    pairs = pl.read_ndjson(shared / "breaking_nli" / "breaking_nli_quarter.jsonl")
    found = right("baseline:wordnet", pairs)
    assert found == BREAKING_NLI
    # 85.8 % in table 3.
    assert sum(good for good, _ in found.values()) / pairs.height == pytest.approx(0.859, abs=0.0005)


def test_two_edges_fall_short_of_the_paper_where_co_hyponyms_matter(shared: Path) -> None:
    pairs = pl.read_ndjson(shared / "breaking_nli" / "breaking_nli_quarter.jsonl")
    # Measured here; 80.7 % in all.
    fewer = {
        "colors": (168, 175),
        "countries": (149, 153),
        "drinks": (127, 183),
        "instruments": (6, 16),
        "materials": (53, 99),
        "rooms": (110, 149),
        "vegetables": (24, 27),
    }
    assert right("baseline:wordnet:edges=2", pairs) == BREAKING_NLI | fewer


def test_similar_adjectives_lift_synonyms_or_ordinals(shared: Path) -> None:
    pairs = pl.read_ndjson(shared / "breaking_nli" / "breaking_nli_quarter.jsonl")
    # Measured here: 88.9 and 90.5 % in all.
    assert right("baseline:wordnet:similar=synonym", pairs) == BREAKING_NLI | {"synonyms": (180, 224)}
    both = {"ordinals": (166, 166), "materials": (79, 99)}
    assert right("baseline:wordnet:similar=co-hyponym", pairs) == BREAKING_NLI | both


def test_the_aligned_baseline_answers_any_corpus(shared: Path) -> None:
    pairs = pl.read_ndjson(shared / "breaking_nli" / "breaking_nli_quarter.jsonl")
    # Measured here: 84.3 %, and 55.7 % of SNLI's test set, whose commonest label has 34.3 %.
    assert sum(good for good, _ in right("baseline:wordnet-aligned", pairs).values()) == 1727
    snli = pl.read_ndjson(shared / "snli" / "snli_1.0_test.jsonl.gz").filter(pl.col("gold_label") != "-")
    given = answers("baseline:wordnet-aligned", snli.select("sentence1", "sentence2").rows())
    assert (snli.height, (pl.Series(given) == snli["gold_label"]).sum()) == (9824, 5470)
