"""The suite ``hans``: against the published templates, the published pairs, and English."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

from acidtest import api
from acidtest.core.errors import AcidtestError
from acidtest.english.trees import binary, tree
from acidtest.io.wordlists import packaged_table
from acidtest.pairs.hans import compile_templates
from acidtest.pairs.heuristics import heuristics

SUBCASES = str.split("""ln_subject/object_swap ln_preposition ln_relative_clause ln_passive ln_conjunction
le_relative_clause le_around_prepositional_phrase le_around_relative_clause le_conjunction le_passive
sn_NP/S sn_PP_on_subject sn_relative_clause_on_subject sn_past_participle sn_NP/Z
se_conjunction se_adjective se_understood_object se_relative_clause_on_obj se_PP_on_obj
cn_embedded_under_if cn_after_if_clause cn_embedded_under_verb cn_disjunction cn_adverb
ce_embedded_under_since ce_after_since_clause ce_embedded_under_verb ce_conjunction ce_adverb""")


PUBLISHED = {"words": "published"}


@cache
def generated(seed: int = 0, faithful: bool = False, vocabulary: str = "published") -> pl.DataFrame:
    arguments = {"faithful": faithful, "words": vocabulary}
    return api.generate("hans", seed=seed, arguments=arguments).frame.collect()


both_vocabularies = pytest.mark.parametrize("vocabulary", ["published", "fresh"])


def words(sentence: str) -> list[str]:
    return re.findall(r"[a-z]+", sentence.lower())


@both_vocabularies
def test_the_first_pair_of_every_subcase_stays_as_it_is(golden: Callable[[str, str], None], vocabulary: str) -> None:
    first = generated(vocabulary=vocabulary).group_by("subcase", maintain_order=True).first()
    columns = ["subcase", "premise", "hypothesis", "label", "premise_parse", "hypothesis_parse", "premise_binary_parse"]
    golden(f"hans_{vocabulary}.tsv", first.select(columns).write_csv(separator="\t", quote_style="never"))


@both_vocabularies
def test_thirty_subcases_of_a_thousand_in_the_published_order(vocabulary: str) -> None:
    rows = generated(vocabulary=vocabulary)
    counts = rows.group_by("subcase", maintain_order=True).len()
    assert counts["subcase"].to_list() == SUBCASES
    assert counts["len"].to_list() == [1000] * 30
    assert rows["source_id"].null_count() == 30_000


def test_the_name_of_a_subcase_tells_its_heuristic_and_label() -> None:
    facts = generated().select("subcase", "heuristic", "label").unique()
    heuristics = {"l": "lexical_overlap", "s": "subsequence", "c": "constituent"}
    for subcase, heuristic, label in facts.iter_rows():
        assert heuristic == heuristics[subcase[0]]
        assert label == {"e": "entailment", "n": "non-entailment"}[subcase[1]]


@both_vocabularies
def test_no_pair_stands_twice(vocabulary: str) -> None:
    assert generated(vocabulary=vocabulary).n_unique(["premise", "hypothesis"]) == 30_000


@both_vocabularies
def test_every_hypothesis_word_is_in_the_premise(vocabulary: str) -> None:
    for premise, hypothesis in generated(vocabulary=vocabulary).select("premise", "hypothesis").iter_rows():
        assert not Counter(set(words(hypothesis))) - Counter(set(words(premise)))


@both_vocabularies
def test_no_lemma_stands_twice_in_a_premise(vocabulary: str) -> None:
    table = packaged_table(f"hans/words_{vocabulary}.tsv").filter(pl.col("lemma") != "")
    singular = dict(table.select("word", "lemma").iter_rows())
    function = {"the", "to", "as", "that", "of"}
    for premise in generated(vocabulary=vocabulary)["premise"]:
        content = [singular.get(word, word) for word in words(premise) if word not in function]
        assert len(content) == len(set(content)), premise


@both_vocabularies
def test_sentences_are_spaced_and_capitalised_like_english(vocabulary: str) -> None:
    shape = re.compile(r"[A-Z][a-z]+(,? [a-z]+)*\.")
    for column in ("premise", "hypothesis"):
        for sentence in generated(vocabulary=vocabulary)[column]:
            assert shape.fullmatch(sentence), sentence


@both_vocabularies
def test_parses_hold_the_words_of_their_sentences(vocabulary: str) -> None:
    rows = generated(vocabulary=vocabulary)
    for side in ("premise", "hypothesis"):
        columns = rows.select(side, f"{side}_parse", f"{side}_binary_parse")
        for sentence, parse, binary_parse in columns.iter_rows():
            found = tree(parse)
            assert " ".join(found.leaves).replace(" ,", ",").replace(" .", ".") == sentence
            assert binary(found) == binary_parse


@both_vocabularies
def test_every_pair_is_of_its_heuristic_and_of_no_narrower_one(vocabulary: str) -> None:
    rows = generated(vocabulary=vocabulary)
    told = heuristics(rows["premise"], rows["hypothesis"], rows["premise_parse"])
    assert told["lexical_overlap"].all()
    assert (told["subsequence"] == (rows["heuristic"] != "lexical_overlap")).all()
    assert (told["constituent"] == (rows["heuristic"] == "constituent")).all()


def test_fresh_words_are_not_among_the_published_ones_and_at_least_as_many() -> None:
    function = {"relativiser", "preposition"}
    fresh, published = (
        packaged_table(f"hans/words_{name}.tsv").filter(
            ~pl.col("list").is_in(function), ~pl.col("list").str.contains("subordinator|conditional"), only=""
        )
        for name in ("fresh", "published")
    )
    assert not set(fresh["word"]) & set(published["word"])
    assert not set(fresh["lemma"]) & set(published["word"]) - {""}
    sizes = (
        fresh.group_by("list").len("fresh").join(published.group_by("list").len("published"), on="list", how="right")
    )
    assert sizes.filter(pl.col("fresh").fill_null(0) < pl.col("published"))["list"].to_list() == []


def test_was_goes_with_one_and_were_with_several() -> None:
    plurals = set(packaged_table("hans/words_published.tsv").filter(list="noun_plural")["word"])
    passives = generated().filter(pl.col("subcase").is_in(["ln_passive", "le_passive"]))
    for premise in passives["premise"]:
        _, noun, verb, *_ = words(premise)
        assert verb == ("were" if noun in plurals else "was"), premise


@pytest.mark.parametrize(
    ("subcase", "template", "share"),
    [
        ("sn_past_participle", "temp40", 600),
        ("sn_past_participle", "temp41", 400),
        ("sn_NP/Z", "temp43", 143),
        ("se_conjunction", "temp44", 600),
        ("ln_passive", "temp20", 500),
        ("cn_disjunction", "temp54", 500),
        ("le_relative_clause", "temp27", 250),
    ],
)
def test_template_variants_have_their_published_proportions(subcase: str, template: str, share: int) -> None:
    rows = generated().filter(pl.col("subcase") == subcase, pl.col("template") == template)
    assert abs(rows.height - share) <= 1


def test_the_categories_of_the_human_experiment_are_all_there() -> None:
    # 33 lexical + 34 subsequence + 47 constituent (McCoy et al. 2019, appendix E), passives counted per number here.
    categories = generated().select("heuristic", "subcase", "template", "trigger").unique()
    counts = dict(categories.group_by("heuristic").len().iter_rows())
    assert counts == {"lexical_overlap": 33 + 2, "subsequence": 34, "constituent": 47}


def test_one_verb_never_implies_the_other_in_templates_8_and_15() -> None:
    verb_rows = packaged_table("hans/words_published.tsv").filter(list="transitive")
    implied = {
        (verb, other.strip())
        for verb, others in verb_rows.select("word", "excludes").iter_rows()
        for other in others.split(",")
    }
    rows = generated().filter(pl.col("template").is_in(["temp8", "temp15"]))
    verbs = set(verb_rows["word"])
    assert rows.height == 166 or rows.height == 167
    for premise, template in rows.select("premise", "template").iter_rows():
        first, second = [word for word in words(premise) if word in verbs]
        assert ((first, second) if template == "temp8" else (second, first)) not in implied, premise


def test_seeds_give_other_pairs_and_the_same_seed_the_same() -> None:
    again = api.generate("hans", seed=0).card.fingerprint
    assert again == api.generate("hans", seed=0).card.fingerprint
    assert again != api.generate("hans", seed=1).card.fingerprint
    shared = generated().join(generated(seed=1), on=["premise", "hypothesis"]).height
    assert shared < 0.1 * 30_000


def test_fewer_pairs_are_a_part_of_more_pairs() -> None:
    few = api.generate("hans", n=50, arguments=PUBLISHED).frame.collect()
    assert few.join(generated(), on=["premise", "hypothesis", "subcase"]).height == few.height


def test_pairs_do_not_depend_on_how_many_subcases_are_made_together(monkeypatch: pytest.MonkeyPatch) -> None:
    together = api.generate("hans", n=200).frame.collect()
    monkeypatch.setattr("acidtest.suites.hans._DRAWN_ROWS", 1)
    monkeypatch.setattr("acidtest.suites.hans._BLOCK_ROWS", 100)
    assert api.generate("hans", n=200).frame.collect().equals(together)


def test_a_large_suite_is_made_as_it_is_read_and_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = api.generate("hans", n=200)
    monkeypatch.setattr("acidtest.suites.hans._ROWS_IN_MEMORY", 0)
    monkeypatch.setattr("acidtest.suites.hans._BLOCK_ROWS", 1000)
    streamed = api.generate("hans", n=200)
    assert streamed.card == whole.card
    assert streamed.frame.collect().equals(whole.frame.collect())
    assert (
        streamed.frame.select("id", "trigger").tail(3).collect().rows()
        == whole.frame.select("id", "trigger").tail(3).collect().rows()
    )
    assert streamed.frame.filter(pl.col("subcase") == "ce_adverb").head(5).collect().height == 5


def test_more_than_there_are_is_refused_with_the_maximum() -> None:
    # se_understood_object: 32 subjects; 30 people to pay, 10 places x 2 verbs, 9 prizes, 9 texts x 2, 7 foods = 84.
    with pytest.raises(
        AcidtestError, match=r"'se_understood_object' has only 2,688; ask for at most that many \(-n 2688\)"
    ):
        api.generate("hans", n=3000, arguments=PUBLISHED)


def test_at_most_takes_all_there_are() -> None:
    rows = api.generate("hans", n=3000, at_most=True, arguments=PUBLISHED).frame.collect()
    sizes = dict(rows.group_by("subcase").len().iter_rows())
    assert sizes["se_understood_object"] == 2688
    assert sizes["ln_subject/object_swap"] == 3000
    assert rows.n_unique(["premise", "hypothesis"]) == rows.height


def test_faithful_keeps_the_published_quirks() -> None:
    rows = generated(faithful=True)
    assert all(premise.endswith(" .") for premise in rows["premise"])
    doubled = rows.filter(pl.col("hypothesis").str.contains("the the"))
    assert set(doubled["template"]) == {"temp15"}
    assert doubled.height == rows.filter(template="temp15").height
    assert rows.n_unique(["premise", "hypothesis"]) == 30_000
    places = rows.filter(pl.col("trigger").is_in(["explored", "left"]))["premise"]
    town = places.str.contains("town").mean()
    # Uniform over 11 entries, two of them town. 286 draws: two standard errors are 0.046.
    assert town is not None
    assert abs(float(str(town)) - 2 / 11) < 0.05


@cache
def variant_patterns() -> Mapping[str, list[tuple[int, re.Pattern[str]]]]:
    """For each subcase, its faithful variants as patterns over ``premise -> hypothesis``."""
    compiled = compile_templates("published", "published", faithful=True)
    table = packaged_table("hans/words_published.tsv")
    lists = dict(table.group_by("list").agg("word").iter_rows())
    slots = {
        slot: "|".join(w for name in names.split() for w in lists[name])
        for slot, names in packaged_table("hans/slots.tsv").iter_rows()
        if all(name in lists for name in names.split())
    }
    patterns: dict[str, list[tuple[int, re.Pattern[str]]]] = {}
    for number, name in enumerate(compiled.grammar.names):
        seen: set[str] = set()
        parts = []
        for token in name.split():
            group = re.sub(r"\W", "_", token)
            if not token[0].isupper():
                parts.append(re.escape(token))
            elif token in seen:
                parts.append(f"(?P={group})")
            else:
                seen.add(token)
                slot = re.match("[A-Z]+", token)
                assert slot
                parts.append(f"(?P<{group}>{slots[slot[0]]})")
        subcase = compiled.subcases[compiled.subcase[number]]
        patterns.setdefault(subcase, []).append((int(compiled.grammar.template[number]), re.compile(" ".join(parts))))
    return patterns


def published_templates(shared: Path) -> pl.DataFrame:
    """Which of our templates each recovered pair of the published training set is a filling of; -1 for none."""
    rows = pl.read_csv(
        shared / "hans" / "hans_train_recovered.tsv.gz", separator="\t", quote_char=None, infer_schema=False
    )
    found = []
    for row in rows.iter_rows(named=True):
        text = f"{row['sentence1']} -> {row['sentence2']}".lower()
        matching = [template for template, pattern in variant_patterns()[row["subcase"]] if pattern.fullmatch(text)]
        found.append(matching[0] if len(matching) == 1 else -1)
    return rows.with_columns(template=pl.Series(found))


def test_every_published_training_pair_is_a_filling_of_one_of_our_variants(shared: Path) -> None:
    rows = published_templates(shared)
    assert rows.height == 30_000
    assert rows.filter(pl.col("template") < 0).height == 0


def test_our_template_proportions_are_those_of_the_published_training_set(shared: Path) -> None:
    rows = published_templates(shared)
    facts = packaged_table("hans/templates.tsv").drop("template").with_row_index("template")
    grammar = compile_templates("published", "published").grammar
    weights = np.bincount(grammar.template, weights=grammar.share)
    facts = facts.with_columns(weight=weights)
    for (subcase,), part in rows.group_by("subcase"):
        own = facts.filter(subcase=subcase)
        # se_understood_object has so few pairs that the repeats rejected there changed the proportions (next test).
        if own.height > 1 and subcase != "se_understood_object":
            observed = [part.filter(pl.col("template") == number).height for number in own["template"]]
            expected = own["weight"].to_numpy() / own["weight"].sum() * 1000
            # Drawn at random there, hence a test; twelve subcases have several templates.
            assert stats.chisquare(observed, expected).pvalue > 0.001, subcase


def test_understood_object_verbs_are_drawn_evenly() -> None:
    triggers = generated().filter(subcase="se_understood_object")["trigger"]
    counts = dict(triggers.value_counts().iter_rows())
    # Five templates with weights 1, 2, 1, 2, 1; within a template of two verbs the verb is drawn.
    assert [counts[verb] for verb in ("paid", "won", "ate")] == [143, 143, 143]
    assert counts["explored"] + counts["left"] in (285, 286)
    assert min(counts.values()) >= 120


def test_our_words_are_those_of_the_published_training_set(shared: Path) -> None:
    text = pl.read_csv(shared / "hans" / "hans_train_recovered.tsv.gz", separator="\t", quote_char=None)
    theirs = {word for premise in text["sentence1"] for word in words(premise)}
    assert {word for premise in generated()["premise"] for word in words(premise)} == theirs
    # facts: premises of 4 to 15 tokens, mean 9.15 in the published evaluation set, punctuation counted.
    lengths = np.array([len(re.findall(r"[a-z]+|[.,]", premise.lower())) for premise in generated()["premise"]])
    assert (lengths.min(), lengths.max()) == (4, 15)
    assert abs(lengths.mean() - 9.15) < 0.1


def test_three_labels_are_written_where_the_premise_settles_which() -> None:
    plain, three_way = (
        api.generate("hans", n=20, arguments={"three_way": wanted}).frame.collect() for wanted in (False, True)
    )
    assert three_way.drop("id", "label", "group").equals(plain.drop("id", "label", "group"))
    labels = three_way.with_columns(old=plain["label"]).group_by("old", "label").len().sort("old", "label").rows()
    # Seven of fifteen subcases: two ambiguous beginnings of a sentence and all five of the constituent heuristic.
    assert labels == [
        ("entailment", "entailment", 300),
        ("non-entailment", "neutral", 140),
        ("non-entailment",) * 2 + (160,),
    ]
    swapped = three_way.filter(subcase="ln_subject/object_swap")
    assert swapped["label"].unique().to_list() == ["non-entailment"]
    assert set(three_way.filter(pl.col("subcase").str.starts_with("cn_"))["label"]) == {"neutral"}


def test_exceptives_contrasts_and_comparatives_contradict_in_new_constructions() -> None:
    made = api.generate("hans/novel", n=5, at_most=True, arguments={"three_way": True}).frame.collect()
    contradicted = {"sn_exceptive", "sn_contrast", "ln_comparative"}
    assert set(made.filter(label="contradiction")["subcase"]) == contradicted
    assert not set(made.filter(label="non-entailment")["subcase"]) & contradicted


def test_the_subcases_with_three_labels_are_subcases() -> None:
    subcases = {
        subcase
        for name in ("templates", "templates_novel")
        for subcase in packaged_table(f"hans/{name}.tsv")["subcase"]
    }
    assert set(packaged_table("hans/three_way.tsv")["subcase"]) <= subcases
