"""The numerical suite: three pairs for each premise, with the right labels."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest

from acidtest.api import Reading, generate, save
from acidtest.core.checks import find_problems
from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.suite import Card, Suite
from acidtest.io.wordlists import packaged_table
from acidtest.suites.catalogue import Request
from acidtest.suites.stress.numerical import numerical

TIM = "Tim has 350 pounds of cement in 100, 50, and 25 pound bags."
SOLD = "Tom bought 40 apples."
SENTENCES = (
    TIM,
    "Forty men sang in the rain.",
    "Marcus paid $1,264.80 for a desk.",
    "Prices in Ohio rose by 15 percent.",
    "The parcel weighs 3.5 kilograms.",
    "Ann saw two owls.",
)
PAIR = ("premise", "hypothesis", "label", "certainty", "change", "form", "quantity", "new_quantity")


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("\n".join(SENTENCES), encoding="utf-8")
    return path


def rows(suite: Suite, sentence: str) -> list[tuple[str, ...]]:
    frame = suite.frame.collect()
    return frame.filter(pl.any_horizontal(pl.col("premise", "hypothesis") == sentence)).select(PAIR).rows()


def test_a_measured_quantity_is_lowered_and_bounded_below(text: Path) -> None:
    bounded = "Tim has more than 230 pounds of cement in 100, 50, and 25 pound bags."
    other = "Tim has 650 pounds of cement in 100, 50, and 25 pound bags."
    assert rows(numerical(Request(source=text)), TIM) == [
        (TIM, bounded, "entailment", "logical", "more than", "digits", "350", "230"),
        (TIM, other, "contradiction", "same-event", "other number", "digits", "350", "650"),
        (bounded, TIM, "neutral", "logical", "more than", "digits", "350", "230"),
    ]


def test_a_quantity_that_begins_a_sentence_keeps_its_capital(text: Path) -> None:
    men, bounded = "Forty men sang in the rain.", "Less than fifty men sang in the rain."
    assert rows(numerical(Request(source=text)), men) == [
        # That no other men sang rests on both sentences telling of one event.
        (men, bounded, "entailment", "same-event", "less than", "words", "Forty", "Fifty"),
        (men, "Sixty men sang in the rain.", "contradiction", "same-event", "other number", "words", "Forty", "Sixty"),
        (bounded, men, "neutral", "logical", "less than", "words", "Forty", "Fifty"),
    ]


def test_money_decimals_and_shares_keep_their_form(text: Path) -> None:
    suite = numerical(Request(source=text, seed=1))
    desk, parcel, prices = SENTENCES[2], SENTENCES[4], SENTENCES[3]
    assert [row[:5] for row in rows(suite, desk)[:2]] == [
        (desk, "Marcus paid less than $2,465.76 for a desk.", "entailment", "logical", "less than"),
        (desk, "Marcus paid less than $1,264.80 for a desk.", "contradiction", "logical", "less than"),
    ]
    assert [row[:5] for row in rows(suite, parcel)[:2]] == [
        (parcel, "The parcel weighs less than 4.4 kilograms.", "entailment", "logical", "less than"),
        (parcel, "The parcel weighs less than 3.5 kilograms.", "contradiction", "logical", "less than"),
    ]
    assert [row[:5] for row in rows(suite, prices)[:2]] == [
        (prices, "Prices in Ohio rose by more than 12 percent.", "entailment", "logical", "more than"),
        (prices, "Prices in Ohio rose by more than 15 percent.", "contradiction", "logical", "more than"),
    ]


def test_two_things_are_bounded_above_and_never_become_one(text: Path) -> None:
    texts = set[str]()
    for seed in range(40):
        texts |= {row[1] for row in rows(numerical(Request(source=text, seed=seed)), "Ann saw two owls.")}
    assert texts == {
        "Ann saw two owls.",
        "Ann saw less than four owls.",
        "Ann saw less than five owls.",
        "Ann saw less than six owls.",
        "Ann saw less than two owls.",
        "Ann saw four owls.",
        "Ann saw five owls.",
        "Ann saw six owls.",
    }


@pytest.mark.parametrize("number", ["eighty", "ninety", "nine hundred"])
def test_a_count_with_no_higher_number_is_contradicted_by_its_bound_alone(number: str, tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text(f"Ann saw {number} owls.", encoding="utf-8")
    for seed in range(20):
        # Who saw eighty owls saw seventy, too.
        assert rows(numerical(Request(source=path, seed=seed)), f"Ann saw {number} owls.")[1][1:5] == (
            f"Ann saw more than {number} owls.",
            "contradiction",
            "same-event",
            "more than",
        )


def test_labels_of_counts_that_rest_on_an_exact_reading_say_so(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("Tom bought 40 apples.", encoding="utf-8")
    told = set[tuple[str, ...]]()
    for seed in range(40):
        told |= {(row[2], row[4], row[3]) for row in rows(numerical(Request(source=path, seed=seed)), SOLD)}
    assert told == {
        ("entailment", "more than", "logical"),
        ("entailment", "less than", "same-event"),
        ("contradiction", "other number", "same-event"),
        ("contradiction", "more than", "same-event"),
        ("contradiction", "less than", "logical"),
        ("neutral", "more than", "logical"),
        ("neutral", "less than", "logical"),
    }


def test_a_bounded_contradiction_has_the_bound_of_the_entailment() -> None:
    frame = numerical(Request()).frame.collect()
    entailed = frame.filter(pl.col("label") == "entailment").select("group", "change")
    contradicted = frame.filter(pl.col("label") == "contradiction", pl.col("change") != "other number")
    both = contradicted.join(entailed, on="group", suffix="_entailed")
    assert both.height > 100
    assert (both["change"] == both["change_entailed"]).all()


def test_faithful_makes_the_example_of_the_paper(text: Path) -> None:
    # Table 2 of Naik et al. (2018) shows this very pair.
    suite = numerical(Request(source=text, seed=1), faithful=True)
    bounded = "Tim has less than 750 pounds of cement in 100, 50, and 25 pound bags."
    assert rows(suite, TIM)[0] == (TIM, bounded, "entailment", "same-event", "less than", "digits", "350", "750")
    assert suite.card.arguments == {"from": "text", "faithful": True}


@pytest.mark.parametrize("faithful", [False, True])
def test_numbers_and_bounds_bear_out_the_labels(faithful: bool) -> None:
    frame = numerical(Request(), faithful=faithful).frame.collect()
    assert frame["label"].value_counts().sort("label").rows() == [
        (label, frame.height // 3) for label in ("contradiction", "entailment", "neutral")
    ]
    entailed = frame.filter(pl.col("label") == "entailment", pl.col("form") != "words")
    for old, new, bound in entailed.select("quantity", "new_quantity", "change").iter_rows():
        if old[-1].isdigit() and new[-1].isdigit():
            values = [Decimal("".join(sign for sign in text if sign in "0123456789.")) for text in (old, new)]
            assert values[0] > values[1] if bound == "more than" else values[0] < values[1]


def test_a_premise_is_a_group_and_its_neutral_pair_is_the_entailed_one_flipped() -> None:
    frame = numerical(Request()).frame.collect()
    groups = frame.group_by("group").agg("label", "premise", "hypothesis")
    for labels, premises, hypotheses in groups.select("label", "premise", "hypothesis").iter_rows():
        assert sorted(labels) == ["contradiction", "entailment", "neutral"]
        entailed, neutral = labels.index("entailment"), labels.index("neutral")
        assert (premises[neutral], hypotheses[neutral]) == (hypotheses[entailed], premises[entailed])
    assert frame["base_id"].null_count() == frame.height


def test_both_bounds_are_about_equally_frequent_among_entailments() -> None:
    frame = numerical(Request()).frame.collect()
    share = (frame.filter(pl.col("label") == "entailment")["change"] == "more than").mean()
    # 0.5 give or take four standard errors of 282 draws; 31 premises have a quantity that can only go one way.
    assert isinstance(share, float)
    assert 0.38 < share < 0.62


def test_n_premises_are_drawn_with_the_seed_and_stay_the_same_when_there_are_more(text: Path) -> None:
    few = numerical(Request(n=3, source=text)).frame.collect()
    whole = numerical(Request(source=text)).frame.collect()
    assert few.height == 9
    assert few.join(whole, on=few.columns, how="semi", nulls_equal=True).height == 9
    assert numerical(Request(n=3, seed=5, source=text)).frame.collect()["id"].to_list() != few["id"].to_list()


def test_more_premises_than_there_are_is_an_error_unless_at_most(text: Path) -> None:
    wanted = r"7 premises were asked for, but 'text' has only 6; ask for at most that many \(-n 6\), or add --at-most"
    with pytest.raises(AcidtestError, match=wanted):
        numerical(Request(n=7, source=text))
    assert numerical(Request(n=7, at_most=True, source=text)).frame.collect().height == 18


def test_a_source_without_fit_sentences_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("Has Ann 3 dogs?", encoding="utf-8")
    with pytest.raises(AcidtestError, match="'text' has no sentence whose quantity can be changed; add -v to see why"):
        numerical(Request(source=path))


def test_what_is_left_out_is_logged_and_in_the_card(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "text.txt"
    path.write_text("Has Ann 3 dogs?\nBob has 3 cats.", encoding="utf-8")
    with caplog.at_level(logging.INFO, logger="acidtest"):
        suite = numerical(Request(source=path))
    assert caplog.messages == ["text: 1 left out: question"]
    assert suite.card.left_out == {"question": 1}


def test_the_order_of_the_sentences_does_not_matter(tmp_path: Path, text: Path) -> None:
    path = tmp_path / "backwards" / "text.txt"
    path.parent.mkdir()
    path.write_text("\n".join(reversed(SENTENCES)), encoding="utf-8")
    ids = [sorted(numerical(Request(source=source)).frame.collect()["id"]) for source in (text, path)]
    assert ids[0] == ids[1]


def test_the_genre_of_a_corpus_comes_along() -> None:
    pairs = {"premise": ["Ann has 3 dogs."], "hypothesis": ["Bob has 4 cats."], "genre": ["fiction"]}
    suite = numerical(Request(source=Suite(pl.LazyFrame(pairs), Card("own", columns={"genre": "factor"}))))
    assert suite.frame.collect()["genre"].to_list() == ["fiction"] * 6
    assert suite.card.factors == ("genre", "change", "form")
    assert find_problems(suite.sealed()) == []


def test_columns_of_the_corpus_named_like_ours_become_those_of_the_source(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    header = "premise,hypothesis,label,form,quantity,change,new_quantity,sentence,source_form"
    lines = ("Ann has 3 dogs.,Bob has 4 cats.,neutral,f,q,c,n,s,sf", "It rains.,Cleo has 5 cats.,neutral,f,q,c,n,s,sf")
    path.write_text("\n".join((header, *lines)), encoding="utf-8")
    names = ("quantity", "change", "new_quantity", "sentence", "form")
    keep = (*names, "source_source_form")
    suites = (
        numerical(Request(source=path, keep=keep)),
        generate("stress/numerical", source=path, reading=Reading(keep=keep)),
    )
    for suite in suites:
        frame = suite.frame.collect()
        assert {name: frame[f"source_{name}"][0] for name in names} == dict(
            zip(names, ("q", "c", "n", "s", "f"), strict=True)
        )
        assert frame["source_source_form"].to_list() == ["sf"] * 9
        assert frame["form"].to_list() == ["digits"] * 9


def test_a_suite_of_ours_serves_as_the_corpus_again_and_again(tmp_path: Path) -> None:
    source = tmp_path / "first.csv"
    save(generate("stress/numerical"), source)
    for number in range(3):
        suite = generate("stress/numerical", source=source)
        assert suite.card.arguments["from"] == "stress/numerical"
        source = tmp_path / f"again{number}.csv"
        save(suite, source)


def test_a_table_is_read_as_for_the_suites_made_of_pairs(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "pairs.tsv"
    rows = ("premise\thypothesis\tlabel", "Ann has 3 dogs.\tBob has 4 cats.\tneutral", "Ann runs.\tBob runs.\t-")
    path.write_text("\n".join(rows), encoding="utf-8")
    with caplog.at_level(logging.WARNING, logger="acidtest"):
        suite = generate("stress/numerical", source=path)
    assert caplog.messages == [f"{path}: 1 of 2 rows have no gold and are left out"]
    assert suite.card.arguments["from"] == generate("stress/negation", source=path).card.arguments["from"]


def test_a_text_is_handed_on_and_a_table_that_cannot_be_read_is_an_error(tmp_path: Path, text: Path) -> None:
    assert generate("stress/numerical", source=text).card.rows == 18
    for name in ("broken.txt", "broken.tsv"):
        path = tmp_path / name
        path.write_text("premise\thypothesis\nAnn has 3 dogs.\tBob has 4 cats.", encoding="utf-8")
        with pytest.raises(FileError) as numbers:
            generate("stress/numerical", source=path)
        with pytest.raises(FileError) as pairs:
            generate("stress/negation", source=path)
        assert str(numbers.value) == str(pairs.value)


@pytest.mark.parametrize("file", ["mnli/mnli_dev_matched.tsv", "sick/SICK_test_annotated.txt"])
def test_real_corpora_give_sound_suites(shared: Path, file: str) -> None:
    suite = numerical(Request(source=shared / file)).sealed()
    assert suite.card.rows > 100
    assert find_problems(suite) == []


def pairs_of(folder: Path, sentences: Sequence[str]) -> list[tuple[str, ...]]:
    path = folder / "text.txt"
    path.write_text("\n".join(sentences), encoding="utf-8")
    return numerical(Request(source=path)).frame.collect().select(PAIR).rows()


@pytest.mark.parametrize(
    "parted",
    [
        (
            "Tim has 350 pounds of cement in 100 , 50 , and 25 pound bags .",
            "Marcus paid $ 1,264.80 for Ann 's desk .",
            "Prices in Ohio rose by 15 % .",
            "Forty-two men did sing in the rain .",
        ),
        (
            "Tim has 350 pounds of cement in 100 , 50 , and 25 pound bags .",
            "Marcus paid $ 1 , 264 . 80 for Ann ' s desk .",
            "Prices in Ohio rose by 15 % .",
            "Forty - two men did sing in the rain .",
        ),
        (
            "Tim has 350 pounds of cement in 100 , 50 , and 25 pound bags .",
            "Marcus paid $ 1,264.80 for Ann &apos;s desk .",
            "Prices in Ohio rose by 15 % .",
            "Forty @-@ two men did sing in the rain .",
        ),
    ],
)
def test_tokenised_sentences_give_the_pairs_of_plain_ones(tmp_path: Path, parted: Sequence[str]) -> None:
    plain = (TIM, "Marcus paid $1,264.80 for Ann's desk.", SENTENCES[3].replace(" percent", "%"))
    pairs = pairs_of(tmp_path, (*plain, "Forty-two men did sing in the rain."))
    assert len(pairs) == 12
    assert pairs_of(tmp_path, parted) == pairs


@pytest.mark.parametrize("name", ["TreebankWordTokenizer", "NLTKWordTokenizer", "ToktokTokenizer", "TweetTokenizer"])
def test_the_starter_sentences_give_the_same_pairs_whichever_tokeniser_parted_them(tmp_path: Path, name: str) -> None:
    tokenize = pytest.importorskip("nltk.tokenize")
    sentences = [" ".join(text.split()) for text in packaged_table("starter/quantities.tsv")["sentence"]]
    parted = [" ".join(getattr(tokenize, name)().tokenize(sentence)) for sentence in sentences]
    assert not set(parted) & set(sentences)
    pairs = pairs_of(tmp_path, sentences)
    assert len(pairs) > 700
    assert pairs_of(tmp_path, parted) == pairs
