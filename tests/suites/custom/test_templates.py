"""Suites from a user's TOML of templates: pairs, counts, quotas, repeats, factors, and errors with file and line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from acidtest import api
from acidtest.core.errors import AcidtestError, FileError
from acidtest.suites.custom import suite_files
from acidtest.suites.custom.slots import ListedWord

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "voices.toml"

SMALL = """\
name = "small"
[words]
city = ["Paris", "Lima", "Oslo"]
name = { female = ["Anna"], male = ["Omar", "Tom"] }
verb = ["leave", "see"]

[[template]]
name = "stays"
premise = "{name} {verb.past} {city}."
hypothesis = "{name} was in {city}."
gold = "entailment"
factors = { tense = "past" }

[[template]]
name = "elsewhere"
premise = "{name} {verb.past} {city}."
hypothesis = "{name} {verb.past} {city2}."
new = ["city2"]
gold = "neutral"
share = 2
"""


def write(folder: Path, text: str = SMALL, name: str = "mine.toml") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def test_templates_are_filled_with_the_words_of_their_lists(tmp_path: Path) -> None:
    frame = api.generate(write(tmp_path), n=18).frame.collect()
    # Three cities, three names and two verbs.
    first = frame.filter(template="stays")
    assert first.height == 3 * 3 * 2
    row = first.filter(pl.col("premise") == "Omar saw Lima.").row(0, named=True)
    assert (row["hypothesis"], row["label"], row["name"], row["tense"]) == (
        "Omar was in Lima.",
        "entailment",
        "male",
        "past",
    )
    second = frame.filter(template="elsewhere")
    assert second.height == 3 * 3 * 2 * 2
    assert second["tense"].null_count() == second.height
    same_city = second.filter(pl.col("premise") == pl.col("hypothesis"))
    assert same_city.height == 0, "a word is never drawn for two slots of one pair"


def test_counts_are_exact_shares_are_quotas_and_no_pair_stands_twice(tmp_path: Path) -> None:
    suite = api.generate(write(tmp_path), n=5)
    frame = suite.frame.collect()
    assert dict(frame["template"].value_counts().iter_rows()) == {"stays": 5, "elsewhere": 10}
    assert not frame.select(pl.struct("premise", "hypothesis").is_duplicated().any()).item()
    assert suite.card.strata == ("template",)
    assert dict(suite.card.columns) == {"template": "factor", "tense": "factor", "name": "factor"}


def test_more_than_there_are_is_an_error_with_the_maximum_and_at_most_takes_all(tmp_path: Path) -> None:
    path = write(tmp_path)
    with pytest.raises(AcidtestError) as caught:
        api.generate(path, n=19)
    assert f"{path}:7: template 'stays': 19 pairs were asked for, but its words give only 18" in str(caught.value)
    assert "-n 18" in str(caught.value)
    assert api.generate(path, n=1000, at_most=True).card.rows == 18 + 36


def test_a_larger_suite_holds_the_smaller_one_and_another_seed_gives_others(tmp_path: Path) -> None:
    path = write(tmp_path)
    small, large, other = (api.generate(path, n=n, seed=seed).frame.collect() for n, seed in ((4, 0), (8, 0), (4, 1)))
    assert set(small["id"]) < set(large["id"])
    assert set(small["id"]) != set(other["id"])


def test_templates_with_one_premise_share_words_and_groups() -> None:
    frame = api.generate(str(EXAMPLE), n=20).frame.collect()
    passive, exchanged = (frame.filter(template=name) for name in ("passive", "roles exchanged"))
    assert set(exchanged["premise"]) <= set(passive["premise"])
    assert set(exchanged["group"]) <= set(passive["group"])


def test_without_a_number_few_words_give_fewer_pairs_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert api.generate(write(tmp_path)).card.rows == 18 + 36
    assert "fewer than 100 pairs of template 'stays' (18), 'elsewhere' (36); add words" in caplog.text


def test_a_name_of_ours_is_refused_and_the_default_is_that_of_the_file(tmp_path: Path) -> None:
    text = SMALL.replace('name = "small"\n', "", 1)
    assert api.generate(write(tmp_path, text, "capitals.toml"), n=1).name == "capitals"
    with pytest.raises(FileError) as caught:
        api.generate(write(tmp_path, SMALL.replace('"small"', '"hans"')), n=1)
    assert "mine.toml:1: name: 'hans' is a suite of acidtest's" in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "line", "problem"),
    [
        (
            'hypothesis = "{name} was in {city}."',
            'hypothesis = "{nam} was in {city}."',
            10,
            "no word list called 'nam'; did you mean 'name'?",
        ),
        ('["Paris", "Lima", "Oslo"]', "[]", 3, "city: the word list is empty"),
        ('["Paris", "Lima", "Oslo"]', '"citys"', 3, "no word list called 'citys'; did you mean 'cities'?"),
        ('gold = "entailment"', 'gold = "entailmnt"', 11, "no gold called 'entailmnt'; did you mean 'entailment' or"),
        ('gold = "entailment"', "", 7, "gold: is missing"),
        ("share = 2", "shares = 2", 20, "no key called 'shares'; did you mean 'share'"),
        ('new = ["city2"]\n', "", 17, "{city2} stands in the hypothesis only"),
        ('new = ["city2"]', 'new = ["city"]', 18, "new: 'city' is no slot that only the hypothesis has")
        if False
        else ('new = ["city2"]', 'new = ["city2", "x"]', 18, "new: 'x' is no slot that only the hypothesis has"),
        ("share = 2", 'share = "2"', 20, 'share: expected a whole number, got "2"'),
        ('name = "small"\n', 'rows = 40\nname = "small"\n', 1, "template 'stays': 40 pairs were asked for"),
        ('name = "small"\n', 'name = "small"\nfrom = "x.tsv"\n', 2, "from: a file of templates has no such key"),
        ('factors = { tense = "past" }', 'factors = { label = "past" }', 12, "label: no factor can have this name"),
        (
            '{verb.past} {city}."\nhypothesis = "{name} was',
            '{verb.pst} {city}."\nhypothesis = "{name} was',
            9,
            "no form called 'pst'",
        ),
        ('name = "elsewhere"', 'name = "stays"', 15, "two templates are called 'stays'"),
    ],
)
def test_a_mistake_is_reported_with_its_line(tmp_path: Path, old: str, new: str, line: int, problem: str) -> None:
    assert old in SMALL
    path = write(tmp_path, SMALL.replace(old, new, 1))
    with pytest.raises(FileError) as caught:
        api.generate(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert problem in str(caught.value)


def test_templates_that_give_one_pair_two_golds_are_refused(tmp_path: Path) -> None:
    text = SMALL.replace("{name} {verb.past} {city2}.", "{name} was in {city}.").replace('new = ["city2"]\n', "")
    path = write(tmp_path, text)
    with pytest.raises(FileError) as caught:
        api.generate(path)
    assert "'stays' and 'elsewhere' make the same pair with different gold" in str(caught.value)


def test_a_template_without_slots_makes_its_one_pair(tmp_path: Path) -> None:
    text = '[[template]]\npremise = "It rained."\nhypothesis = "it was wet."\ngold = "e"\n'
    frame = api.generate(write(tmp_path, text), at_most=True).frame.collect()
    assert frame.select("premise", "hypothesis", "label", "certainty").rows() == [
        ("It rained.", "It was wet.", "entailment", "assumed")
    ]


def test_a_word_may_give_its_article_and_must_give_what_cannot_be_told(tmp_path: Path) -> None:
    text = SMALL.replace('["Paris", "Lima", "Oslo"]', '[{ singular = "HUD", article = "an" }, "X-ray", "US map"]')
    text = text.replace("{name} {verb.past} {city}.", "{name} {verb.past} an {city}.")
    premises = api.generate(write(tmp_path, text), n=18).frame.collect()["premise"].unique()
    assert {"Omar saw an HUD.", "Omar saw an X-ray.", "Omar saw a US map."} <= set(premises)
    wrong = text.replace('article = "an"', 'article = "the"')
    with pytest.raises(FileError, match=r"mine\.toml:3: city: expected a word, and a or an for its article"):
        api.generate(write(tmp_path, wrong), n=18)
    verbs = SMALL.replace('["leave", "see"]', '[{ base = "yeet", past = "yote" }]').replace(
        "verb.past", "verb.participle"
    )
    problem = r"mine\.toml:.*'yeet' has the past 'yote', but no participle; give it: participle"
    with pytest.raises(FileError, match=problem):
        api.generate(write(tmp_path, verbs), n=18)


def sentence(words: str = 'a = ["x", "y"]', template: str = "", top: str = "") -> str:
    parts = ['premise = "{a} went."', 'hypothesis = "{a}."', 'gold = "neutral"', template]
    return "\n".join([top, "[words]", words, "[[template]]", *parts])


HUGE = "9" * 40


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (sentence(top="rows = 200000000"), "rows: expected a whole number from 1 to 1,000,000, got 200,000,000"),
        (sentence(top=f"rows = {HUGE}"), "rows: expected a whole number from 1 to 1,000,000, got a longer one"),
        (sentence(top=f"version = {HUGE}"), "version: expected a whole number from 1 to"),
        (sentence(template=f"share = {HUGE}"), "share: expected a whole number from 1 to 1,000,000, got a longer one"),
        (sentence(template="share = 20000"), "template: asks for 2,000,000 rows in all templates; at most 1,000,000"),
        (sentence(template=f"factors = {{ x = {HUGE} }}"), "x: expected a whole number of at most"),
        (
            sentence(f'a = ["x", "{"x" * 9000}"]', top="rows = 1000000"),
            "rows: 1,000,000 rows have up to 18,027,000,000 characters; at most 1,073,741,824 are allowed",
        ),
        (sentence(f'a = ["{"x" * 10_001}"]'), "a: has a word of more than 10,000 characters"),
        (sentence('a = ["x", "y", "x"]'), "a: 'x' stands in it twice"),
        (sentence().replace("went", "w" * 10_000), "premise: has 10,005 characters; at most 10,000 are allowed"),
        (
            sentence().replace("{a} went", " ".join(f"{{a{n}}}" for n in range(101))),
            "premise: the template has 102 slots; at most 100 are allowed",
        ),
    ],
)
def test_sizes_of_a_file_of_templates_are_bounded(text: str, message: str, tmp_path: Path) -> None:
    path = write(tmp_path, text)
    with pytest.raises(FileError) as caught:
        api.generate(path)
    assert str(caught.value).startswith(path)
    assert message in str(caught.value)


def test_a_list_and_a_file_have_no_more_than_so_many_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite_files, "MAX_WORDS", 1)
    with pytest.raises(FileError, match="a: has 2 words; at most 1 are allowed"):
        api.generate(write(tmp_path, sentence()))
    monkeypatch.setattr(suite_files, "MAX_WORDS", 2)
    monkeypatch.setattr(suite_files, "MAX_TEMPLATES", 1)
    with pytest.raises(FileError, match="template: there are 2 of them; at most 1 are allowed"):
        api.generate(write(tmp_path))


def test_more_rows_than_allowed_cannot_be_asked_for(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"-n 1,000,001 asks for 1,000,001 rows in all templates"):
        api.generate(write(tmp_path, sentence()), n=1_000_001)


def test_every_word_of_a_list_is_compared_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0

    class Counted(str):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return str(self) == other

        __hash__ = str.__hash__

    read = suite_files._read_words

    def counted(*arguments: Any) -> list[ListedWord]:
        return [replace(word, text=Counted(word.text)) for word in read(*arguments)]

    monkeypatch.setattr(suite_files, "_read_words", counted)
    words = ", ".join(f'"w{number}"' for number in range(1000))
    suite_files.read_suite_file(Path(write(tmp_path, sentence(f"a = [{words}]"))))
    assert compared < 10_000
