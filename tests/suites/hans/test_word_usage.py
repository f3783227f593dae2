"""Frames: what a tree or a sentence says of a verb, its forms, and how often a file has each."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import polars as pl
import pytest

from acidtest import api
from acidtest.core.suite import Card, Suite, complete_columns
from acidtest.english.inflection import verb_forms
from acidtest.english.templates import Word
from acidtest.english.trees import tree
from acidtest.io.wordlists import packaged_table
from acidtest.pairs.hans import HansVocabulary, vocabulary
from acidtest.suites.hans.word_usage import (
    PATTERNS,
    UsageCounts,
    count_usage,
    pattern_from_tokens,
    patterns_from_tree,
    word_report,
)


def words_like(**lists: list[Word]) -> HansVocabulary:
    """The fresh vocabulary with nothing in the lists that need a frame but what is given."""
    needing = packaged_table("hans/lists.tsv").filter(pl.col("frames") != "")["list"]
    empty: dict[str, tuple[Word, ...]] = dict.fromkeys(needing, ())
    given = {name: tuple(words) for name, words in lists.items()}
    return HansVocabulary("test", {**vocabulary("fresh").lists, **empty, **given})


def pairs(*rows: tuple[str, str], parses: list[tuple[str | None, str | None]] | None = None) -> Suite:
    frame = pl.DataFrame(rows, schema=["premise", "hypothesis"], orient="row")
    if parses is not None:
        shape = {"premise_parse": pl.String, "hypothesis_parse": pl.String}
        frame = pl.concat([frame, pl.DataFrame(parses, schema=shape, orient="row")], how="horizontal")
    return Suite(frame.lazy(), Card("train"))


def found(counts: UsageCounts) -> dict[tuple[str, str], int | None]:
    return {(use.word, use.frame): use.count for use in counts.uses}


@pytest.mark.parametrize(
    ("brackets", "frames"),
    [
        ("(S (NP (PRP He)) (VP (VBD feared) (NP (DT the) (NN dog))))", ["object"]),
        ("(S (NP (PRP He)) (VP (VBD feared) (ADVP (RB greatly)) (NP (DT the) (NN dog))))", ["object"]),
        ("(S (NP (PRP He)) (VP (VBZ Fears) (SBAR (S (NP (PRP it)) (VP (VBZ barks))))))", ["clause"]),
        ("(S (NP (PRP He)) (VP (VBD feared) (, ,) (S (NP (PRP it)) (VP (MD would) (VP (VB bark))))))", ["clause"]),
        ("(S (NP (PRP He)) (VP (VBD feared) (SBAR (IN that) (S (NP (PRP it)) (VP (VBD left))))))", ["that"]),
        ("(S (NP (PRP He)) (VP (VBD feared) (S (VP (TO to) (VP (VB ask))))))", []),
        ("(S (NP (PRP He)) (VP (VBD feared) (SBAR (WHNP (WP what)) (S (VP (VBD came))))))", []),
        ("(S (NP (PRP He)) (VP (VBD feared) (SBAR (IN whether) (S (NP (PRP it)) (VP (VBD came))))))", []),
        ("(S (NP (PRP He)) (VP (VBD feared)) (. .))", ["alone"]),
        ("(S (NP (PRP He)) (VP (VBD feared) (PP (IN for) (NP (PRP them)))))", ["alone"]),
        ("(S (NP (PRP He)) (VP (VBD feared) (NP-TMP (NN today))))", ["alone"]),
        ("(S (NP (PRP He)) (VP (VBD feared) (SBAR (IN because) (S (NP (PRP it)) (VP (VBD bit))))))", ["alone"]),
        ("(S (NP (PRP He)) (VP (VBD feared) (CC and) (VBD fled) (NP (DT the) (NN dog))))", ["object"]),
        ("(S (NP (NNS Dogs)) (VP (VBP are) (RB not) (VP (VBN feared) (PP (IN by) (NP (PRP me))))))", ["passive"]),
        ("(S (NP (NNS Dogs)) (VP (VBP are) (VP (VP (VBN loved)) (CC and) (VP (VBN feared)))))", ["passive"]),
        ("(SQ (VBD Was) (NP (PRP it)) (VP (VBN feared)))", ["passive"]),
        ("(S (NP (NNS Dogs)) (VP (VBP have) (VP (VBN feared) (NP (PRP him)))))", ["object"]),
        ("(S (NP (NP (NNS dogs)) (VP (VBN feared) (PP (IN by) (NP (NNS cats))))) (VP (VBP bark)))", ["reduced"]),
        ("(S (S (VP (VBN Feared) (PP (IN by) (NP (NNS cats))))) (NP (NNS dogs)) (VP (VBP bark)))", []),
        ("(NP (NP (NNS dogs)) (SBAR (WHNP (WP who)) (S (NP (PRP he)) (VP (VBD feared)))))", []),
        ("(NP (NP (NNS dogs)) (SBAR (S (NP (PRP he)) (VP (VBD feared)))))", []),
        ("(NP (NP (NNS dogs)) (SBAR (WHNP (WP who)) (S (VP (VBD feared)))))", ["alone"]),
        ("(SBARQ (WHNP (WP What)) (SQ (VBD did) (NP (PRP he)) (VP (VB fear))))", []),
        ("(S (NP (NN fear)) (VP (VBZ is) (ADJP (JJ feared))))", []),
    ],
)
def test_a_tree_tells_the_frame_of_a_verb(brackets: str, frames: list[str]) -> None:
    told = list(patterns_from_tree(tree(brackets), verb_forms("feared").every))
    assert [frame for _, frame in told] == frames


@pytest.mark.parametrize(
    ("sentence", "frame"),
    [
        ("he feared the dog .", "object"),
        ("he feared greatly the dog .", "object"),
        ("he feared them .", "object"),
        ("he feared that .", "object"),
        ("he feared that dogs bark .", "that"),
        ("he feared they bark .", "clause"),
        ("he feared the dog would bark .", "clause"),
        ("he feared the dog because it was big .", "object"),
        ("the man fearing the dog is old .", "object"),
        ("he was fearing the dog is mad .", "clause"),
        ("he feared .", "alone"),
        ("he feared", "alone"),
        ("he feared for them .", "alone"),
        ("dogs fear and bark .", "alone"),
        ("he feared to ask .", ""),
        ("he feared dogs .", ""),
        ("the fear of dogs .", ""),
        ("his greatest fear .", ""),
        ("the much - feared dog .", ""),
        ("dogs are not feared .", "passive"),
        ("dogs were feared by cats .", "passive"),
        ("he is n't feared here .", "passive"),
        ("they have feared the dog .", "object"),
        ("dogs feared by cats bark .", "reduced"),
    ],
)
def test_words_alone_tell_the_frame_of_a_verb(sentence: str, frame: str) -> None:
    tokens, forms = sentence.split(), verb_forms("feared")
    place = next(place for place, token in enumerate(tokens) if token in forms.every)
    assert pattern_from_tokens(tokens, place, forms) == frame


@pytest.mark.parametrize(
    ("past", "lemma", "forms"),
    [
        ("walked", "", "walk walks walked walking"),
        ("stopped", "", "stop stops stopped stopping"),
        ("tried", "", "try tries tried trying"),
        ("loved", "", "love loves loved loving"),
        ("died", "", "die dies died dying"),
        ("agreed", "", "agree agrees agreed agreeing"),
        ("rescued", "", "rescue rescues rescued rescuing"),
        ("called", "", "call calls called calling"),
        ("invited", "", "invite invites invited inviting"),
        ("visited", "", "visit visits visited visiting"),
        ("washed", "", "wash washes washed washing"),
        ("showed", "", "show shows showed showing shown"),
        ("sang", "sing", "sing sings sang singing sung"),
        ("drove", "drive", "drive drives drove driving driven"),
        ("hid", "hide", "hide hides hid hiding hidden"),
        ("forgot", "forget", "forget forgets forgot forgetting forgotten"),
        ("spoke", "speak", "speak speaks spoke speaking spoken"),
        ("ran", "run", "run runs ran running"),
        ("read", "read", "read reads reading"),
        ("taught", "teach", "teach teaches taught teaching"),
    ],
)
def test_a_verb_is_known_in_all_its_forms(past: str, lemma: str, forms: str) -> None:
    assert set(forms.split()) <= verb_forms(past, lemma).every


@pytest.mark.parametrize(
    ("past", "lemma", "other"),
    [
        ("hoped", "", "hop hops hopping"),
        ("hopped", "", "hope hopes hoping"),
        ("planned", "", "plane planes"),
        ("added", "", "ad ads"),
        ("sang", "sing", "singed"),
        ("saw", "see", "seed seeds sawed"),
    ],
)
def test_a_verb_is_not_taken_for_another(past: str, lemma: str, other: str) -> None:
    assert verb_forms(past, lemma).every.isdisjoint(other.split())


def test_every_packaged_verb_has_a_base_form() -> None:
    for name in ("fresh", "published"):
        for word in (word for words in vocabulary(name).lists.values() for word in words if word.parse == "VBD"):
            assert verb_forms(word.text, word.lemma).known, word.text


def test_only_known_frames_stand_in_the_table() -> None:
    assert {frame for frames in packaged_table("hans/lists.tsv")["frames"] for frame in frames.split()} == set(PATTERNS)


def test_a_premise_counts_once_and_a_hypothesis_as_often_as_it_is_written() -> None:
    words = words_like(intransitive=[Word("sang", "VBD", "sing")], np_z_verb=[Word("washed", "VBD")])
    train = pairs(
        ("She is singing.", "They wash."),
        ("She is singing.", "They wash."),
        ("She is singing.", "She has sung."),
        ("He washed the car.", "She is singing."),
    )
    counts = count_usage(words, train)
    assert (counts.way, counts.premises, counts.hypotheses, counts.left_out) == ("words", 2, 4, 0)
    assert found(counts) == {("sang", "alone"): 3, ("washed", "object"): 1, ("washed", "alone"): 2}


def test_parses_go_before_words_and_those_missing_or_broken_are_said() -> None:
    words = words_like(np_s_verb=[Word("feared", "VBD")])
    clause = "(ROOT (S (NP (NNS Cats)) (VP (VBP fear) (SBAR (S (NP (NNS dogs)) (VP (VBP bark)))))))"
    train = pairs(
        ("Cats fear dogs bark", "Cats fear the dog"),
        ("Cats fear a dog", "Cats fear them"),
        parses=[
            (clause, "(ROOT (S (NP (NNS Cats)) (VP (VBP fear) (NP (DT the) (NN dog)))))"),
            ("(ROOT (S (NP (NNS Cats)) (VP (VBP fear) (NP", None),
        ],
    )
    counts = count_usage(words, train)
    assert (counts.way, counts.left_out) == ("parses", 2)
    assert found(counts) == {("feared", "object"): 1, ("feared", "clause"): 1}


def test_a_word_in_several_lists_is_counted_in_each_frame_with_the_lists_that_need_it() -> None:
    taught = Word("taught", "VBD", "teach")
    words = words_like(np_z_verb=[taught], participle=[taught], pays_person=[taught])
    counts = count_usage(words, pairs(("She teaches.", "She taught the class.")))
    told = [(use.frame, use.count, use.lists) for use in counts.uses]
    assert told == [
        ("object", 1, ("np_z_verb", "pays_person")),
        ("alone", 1, ("np_z_verb", "participle", "pays_person")),
        ("reduced", 0, ("participle",)),
    ]


def test_what_cannot_be_counted_is_said_instead() -> None:
    words = words_like(intransitive=[Word("gave up", "VBD", "give up"), Word("wept", "VBD")])
    uses = count_usage(words, pairs(("They gave up.", "They wept and weep."))).uses
    assert [(use.word, use.count) for use in uses] == [("gave up", None), ("wept", 1)]
    assert uses[0].note == "a verb of several words is not counted"
    assert uses[1].note == "sought only as 'wept': write its base form into column 'lemma'"


def test_adverbs_count_at_the_beginning_of_a_sentence() -> None:
    words = words_like(factive_adverb=[Word("sadly"), Word("in fact")])
    train = pairs(
        ("Sadly, it rained. In fact it poured.", "It rained, sadly."),
        ('He said: no. "In  fact, yes."', "sadly so"),
    )
    assert found(count_usage(words, train)) == {("sadly", "first"): 2, ("in fact", "first"): 2}


@pytest.mark.parametrize(
    ("text", "brackets", "opener"),
    [
        (
            "If he sings, we leave.",
            "(S (SBAR (IN If) (S (NP (PRP he)) (VP (VBZ sings)))) (, ,) (NP (PRP we)) (VP (VBP leave)))",
            "if",
        ),
        (
            "We leave even if he sings.",
            "(S (NP (PRP We)) (VP (VBP leave) (SBAR (RB even) (IN if) (S (NP (PRP he)) (VP (VBZ sings))))))",
            "even if",
        ),
        (
            "We leave when he sings.",
            "(S (NP (PRP We)) (VP (VBP leave) (SBAR (WHADVP (WRB when)) (S (NP (PRP he)) (VP (VBZ sings))))))",
            "when",
        ),
        (
            "In the event that he sings, we leave.",
            "(S (PP (IN In) (NP (NP (DT the) (NN event)) (SBAR (IN that) (S (NP (PRP he)) (VP (VBZ sings))))))"
            " (, ,) (NP (PRP we)) (VP (VBP leave)))",
            "in the event that",
        ),
        (
            "After the race ended, we left.",
            "(S (SBAR (IN After) (S (NP (DT the) (NN race)) (VP (VBD ended)))) (, ,) (NP (PRP we)) (VP (VBD left)))",
            "after",
        ),
        (
            "After the race, we left.",
            "(S (PP (IN After) (NP (DT the) (NN race))) (, ,) (NP (PRP we)) (VP (VBD left)))",
            "",
        ),
        (
            "After singing, we left.",
            "(S (PP (IN After) (S (VP (VBG singing)))) (, ,) (NP (PRP we)) (VP (VBD left)))",
            "",
        ),
        (
            "He sang once, we left.",
            "(S (S (NP (PRP He)) (VP (VBD sang) (ADVP (RB once)))) (S (NP (PRP we)) (VP (VBD left))))",
            "",
        ),
    ],
)
def test_an_opener_counts_before_a_clause(text: str, brackets: str, opener: str) -> None:
    openers = ("if", "even if", "when", "after", "once", "in the event that")
    words = words_like(conditional=[Word(text, "IN") for text in openers])
    expected = {(each, "opens"): int(each == opener) for each in openers}
    parsed = pairs((text, "x"), parses=[(f"(ROOT {brackets})", "(ROOT (NP (NN x)))")])
    assert found(count_usage(words, parsed)) == expected
    assert found(count_usage(words, pairs((text, "x")))) == expected


def test_a_report_tells_lists_and_what_is_rare() -> None:
    report = word_report("fresh", pairs(("If it rains, I sing.", "He smiled.")), file="mine.csv", least=1)
    kept = report.to_json()
    assert kept["lists"]["np_s_verb"] == {
        "count": 3,
        "about": "takes a person or a clause without that: the clause does not imply the person (feared)",
        "frames": ["object", "clause"],
        "from": "fresh",
        "words": ["felt", "found", "meant"],
    }
    counts = kept["counts"]
    assert {key: counts[key] for key in ("train", "from", "premises", "hypotheses", "left_out", "least", "passed")} == {
        "train": "mine.csv",
        "from": "words",
        "premises": 1,
        "hypotheses": 1,
        "left_out": 0,
        "least": 1,
        "passed": False,
    }
    enough = [(use["word"], use["frame"]) for use in counts["uses"] if use not in counts["below"]]
    assert enough == [("sang", "alone"), ("smiled", "alone"), ("if", "opens")]
    assert word_report("published").to_json()["counts"] is None


def test_snli_has_its_verbs_where_a_search_of_its_brackets_finds_them(shared: Path) -> None:
    suite = api.load(shared / "snli" / "snli_1.0_dev.jsonl.gz")
    report = api.words("fresh", suite)
    assert report.counts
    assert report.counts.way == "parses"
    assert report.counts.left_out == 0
    told = found(report.counts)
    rows = suite.frame.select("premise_parse", "hypothesis_parse").collect()
    brackets = [*rows["premise_parse"].unique(), *rows["hypothesis_parse"]]
    for verb, forms in (("watched", "watch(?:es|ed|ing)?"), ("chased", "chas(?:es|ed|ing|e)")):
        # A noun phrase right after the verb; our count has also those after an adverb or particle.
        active = pl.Series(brackets).str.count_matches(rf"\(VB[DGPZ]? {forms}\) \(NP ").sum()
        told_object = told[verb, "object"]
        assert told_object is not None
        assert active <= told_object <= 1.1 * active


def test_multinli_without_parses_is_counted_from_words(shared: Path) -> None:
    report = api.words("published", shared / "mnli" / "mnli_dev_matched.tsv", least=20)
    assert report.counts
    assert report.counts.way == "words"
    told = found(report.counts)
    for use in (("believed", "clause"), ("believed", "that"), ("knew", "clause"), ("paid", "object"), ("if", "opens")):
        assert (told[use] or 0) >= 20, use


@cache
def lingnli_snli_and_cad(shared: Path) -> Suite:
    """The pairs of three data sets in one suite, as ``docs/results/suites.md`` counts them."""
    names = ("lingnli/train.jsonl.gz", "lingnli/val.jsonl.gz", "snli/snli_1.0_dev.jsonl.gz")
    names += ("snli/snli_1.0_test.jsonl.gz", "snli/snli_1.0_train_first1000.jsonl.gz")
    names += ("cad/train.tsv", "cad/dev.tsv", "cad/test.tsv")
    frames = [api.load(shared / name).frame.select("premise", "hypothesis", "label") for name in names]
    return Suite(complete_columns(pl.concat(frames).collect(), "all").lazy(), Card("all")).sealed()


def test_every_fresh_verb_is_as_frequent_as_the_papers_rule_asks(shared: Path) -> None:
    train = lingnli_snli_and_cad(shared)
    # McCoy et al. (2019, section 3.1): 50 times among the 392,702 pairs of MultiNLI; of 84,348 pairs that is 11.
    scaled = round(50 * train.card.rows / 392_702)
    assert scaled == 11
    rare = word_report("fresh", train, least=scaled).below
    # From words alone, only participles before *by* count as reduced.
    assert {use.frame for use in rare} == {"reduced", "first"}


def test_no_fresh_word_is_rarer_in_its_frame_than_the_rarest_published_one(shared: Path) -> None:
    rarest: dict[tuple[str, str], int] = {}
    for name in ("fresh", "published"):
        counts = count_usage(vocabulary(name), lingnli_snli_and_cad(shared))
        for use in counts.uses:
            assert use.count is not None
            rarest[name, use.frame] = min(use.count, rarest.get((name, use.frame), use.count))
    for frame in PATTERNS:
        assert rarest["fresh", frame] >= rarest["published", frame], frame
