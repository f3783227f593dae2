"""Suites from a user's TOML of changes: word tables and regular expressions over the pairs of a corpus."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from acidtest import api
from acidtest.core.checks import find_problems
from acidtest.core.errors import AcidtestError, FileError
from acidtest.suites.custom import suite_files
from acidtest.suites.custom.suite_files import read_suite_file

WORDS = """\
[[change]]
name = "colour words"
words = { gray = "ochre", "dark red" = "crimson" }
either_way = true
expect = "same verdict"

[[change]]
name = "loud"
in = "hypothesis"
pattern = '(\\w+)\\.$'
replacement = "$1!"
expect = "not more entailment"
only = "non-entailment"
"""

PAIRS = """\
premise\thypothesis\tlabel
A gray cat sat on a dark red mat.\tThe cat is Gray.\tentailment
Nobody was there.\tA man was there.\tcontradiction
An ochre wall stood there.\tA wall stood there\tneutral
"""


def make(folder: Path, text: str = WORDS, **options: object) -> pl.DataFrame:
    (folder / "pairs.tsv").write_text(PAIRS, encoding="utf-8")
    (folder / "mine.toml").write_text(text, encoding="utf-8")
    suite = api.generate(str(folder / "mine.toml"), source=folder / "pairs.tsv", **options)  # type: ignore[arg-type]
    assert find_problems(suite) == []
    return suite.frame.collect()


def test_words_change_both_ways_with_their_articles_and_case(tmp_path: Path) -> None:
    frame = make(tmp_path).filter(change="colour words").sort("premise")
    assert frame.select("premise", "hypothesis", "label", "expectation").rows() == [
        ("A gray wall stood there.", "A wall stood there", "neutral", "same verdict"),
        ("An ochre cat sat on a crimson mat.", "The cat is Ochre.", "entailment", "same verdict"),
    ]


def test_a_pattern_changes_one_side_of_the_pairs_whose_gold_is_asked_for(tmp_path: Path) -> None:
    frame = make(tmp_path).filter(change="loud")
    # The first pair is entailed, and the third hypothesis has no full stop.
    assert frame.select("premise", "hypothesis", "label").rows() == [("Nobody was there.", "A man was there!", "any")]


def test_the_control_holds_the_pairs_that_were_changed_and_no_others(tmp_path: Path) -> None:
    make(tmp_path)
    text = WORDS.split("\n\n")[0]
    (tmp_path / "one.toml").write_text(text, encoding="utf-8")
    suite = api.generate(str(tmp_path / "one.toml"), source=tmp_path / "pairs.tsv")
    assert suite.control is not None
    assert set(suite.frame.collect()["base_id"]) == set(suite.control.frame.collect()["id"])
    assert suite.card.left_out == {"with nothing to change for 'colour words'": 1}


def test_pairs_that_a_change_does_not_take_are_not_counted_as_unchanged(tmp_path: Path) -> None:
    make(tmp_path)
    suite = api.generate(str(tmp_path / "mine.toml"), source=tmp_path / "pairs.tsv")
    # Of the two pairs that are not entailed, the hypothesis of one has no full stop; the entailed one is not asked for.
    assert suite.card.left_out["with nothing to change for 'loud'"] == 1


def test_n_counts_pairs_that_change_and_more_is_an_error(tmp_path: Path) -> None:
    assert make(tmp_path, WORDS.split("\n\n")[0], n=1)["base_id"].n_unique() == 1
    with pytest.raises(AcidtestError) as caught:
        make(tmp_path, WORDS.split("\n\n")[0], n=3)
    assert "3 pairs were asked for, but the changes apply to only 2 of 'pairs'" in str(caught.value)


def test_from_is_a_file_beside_the_toml(tmp_path: Path) -> None:
    make(tmp_path)
    (tmp_path / "mine.toml").write_text('from = "pairs.tsv"\n' + WORDS, encoding="utf-8")
    assert api.generate(str(tmp_path / "mine.toml")).card.arguments["from"] == "pairs"


def test_a_pattern_on_which_backtracking_would_not_end_is_matched(tmp_path: Path) -> None:
    text = WORDS.split("\n\n")[1].replace("'(\\w+)\\.$'", "'(a+)+$'").replace('"$1!"', '"b"')
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    long = "a" * 50_000 + "c"
    (tmp_path / "pairs.tsv").write_text(
        f"premise\thypothesis\tlabel\nx\t{long}\tneutral\ny\t{long}a\tneutral\n", encoding="utf-8"
    )
    frame = api.generate(str(tmp_path / "mine.toml"), source=tmp_path / "pairs.tsv").frame.collect()
    assert frame["hypothesis"].to_list() == ["a" * 50_000 + "cb"]


@pytest.mark.parametrize(
    ("old", "new", "line", "problem"),
    [
        ("'(\\w+)\\.$'", "'(\\w+)\\1'", 10, "backreferences are not supported"),
        ("'(\\w+)\\.$'", "'(a{1000}){1000}'", 10, "exceeds size limit"),
        ("'(\\w+)\\.$'", "'('", 10, "is no regular expression of this kind: unclosed group"),
        ('expect = "not more entailment"', 'expect = "same verdicts"', 12, "did you mean 'same verdict'"),
        ('"$1!"', "'\\1!'", 11, "replacement: \\1 would stand there as it is; the group is ${1}"),
        ('"$1!"', '"$2!"', 11, "replacement: the pattern has no group '2'"),
        ('"$1!"', '"$1s!"', 11, "the pattern has no group '1s'; before a letter a group is ${1}, and a dollar is $$"),
        ('replacement = "$1!"\n', "", 7, "replacement: is missing"),
        (
            "pattern = ",
            'words = { a = "b" }\npattern = ',
            7,
            "a change has words, a table of what becomes what, or a pattern",
        ),
        ('"dark red" = "crimson"', '"dark red" = "ochre"', 4, "two words become the same"),
        ('in = "hypothesis"', 'in = "hypotheses"', 9, "did you mean 'hypothesis'"),
        ('gray = "ochre"', 'gray = "Gray"', 3, "gray: expected another word"),
        ('{ gray = "ochre", "dark red" = "crimson" }', "{}", 1, "a change has words, a table of what becomes what"),
        ('name = "loud"', 'name = "colour-words"', 8, "another change is called 'colour-words', or nearly so"),
    ],
)
def test_a_mistake_is_reported_with_its_line(tmp_path: Path, old: str, new: str, line: int, problem: str) -> None:
    assert old in WORDS
    with pytest.raises(FileError) as caught:
        make(tmp_path, WORDS.replace(old, new, 1))
    assert str(caught.value).startswith(f"{tmp_path / 'mine.toml'}:{line}: ")
    assert problem in str(caught.value)


def test_templates_and_changes_do_not_go_into_one_file(tmp_path: Path) -> None:
    text = WORDS + '[[template]]\npremise = "a."\nhypothesis = "b."\ngold = "n"\n'
    with pytest.raises(FileError, match="write two files"):
        make(tmp_path, text)


def test_groups_by_number_or_name_and_dollars_may_stand_in_a_replacement(tmp_path: Path) -> None:
    text = WORDS.replace("'(\\w+)\\.$'", "'(?P<last>\\w+)\\.$'").replace('"$1!"', '"${last} $$1 ${1}s."')
    assert make(tmp_path, text).filter(change="loud")["hypothesis"].to_list() == ["A man was there $1 theres."]


def test_changes_that_match_nothing_may_be_at_fault_themselves(tmp_path: Path) -> None:
    with pytest.raises(AcidtestError) as caught:
        make(tmp_path, '[[change]]\nname = "a"\nwords = { zebra = "horse" }\nexpect = "same verdict"\n')
    problem = "nothing comes of 'pairs' (left out: 3 with nothing to change for 'a')"
    assert f"{problem}; mend the changes, or use another corpus" in str(caught.value)


def test_a_run_says_what_was_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    make(tmp_path)
    monkeypatch.chdir(tmp_path)
    with caplog.at_level("INFO", "acidtest"):
        api.run("baseline:overlap", "mine.toml", source="pairs.tsv", output="run", page=False)
    reasons = "1 with nothing to change for 'colour words', 1 with nothing to change for 'loud'"
    assert f"mine.toml: left out: {reasons}" in caplog.text


@pytest.mark.parametrize(
    "change",
    [
        f"pattern = 'o'\nreplacement = '{'x' * 10_000}'",
        f"pattern = '.+'\nreplacement = '{'$0 ' * 3000}'",
        f"words = {{ cat = '{'x' * 10_000}' }}",
    ],
)
def test_the_text_that_changes_make_is_bounded_before_it_is_made(
    change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suite_files, "MAX_MADE_TEXT", 20_000)
    with pytest.raises(FileError, match=r"mine\.toml:1: change: 'long': .*; at most 20,000 are allowed"):
        make(tmp_path, f"[[change]]\nname = 'long'\nexpect = 'same verdict'\n{change}\n")
    assert make(tmp_path).height == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ('pattern = "e"\nreplacement = "LONG"', "replacement: has 10,001 characters; at most 10,000 are allowed"),
        ('pattern = "LONG"\nreplacement = "x"', "pattern: has 10,001 characters; at most 10,000 are allowed"),
        ('words = { the = "LONG" }', "the: has more than 10,000 characters"),
        ("words = { MANY }", "words: has 10,001 words; at most 10,000 are allowed"),
    ],
)
def test_sizes_of_a_change_are_bounded(change: str, message: str, tmp_path: Path) -> None:
    many = ", ".join(f'w{number} = "v{number}"' for number in range(10_001))
    text = change.replace("LONG", "x" * 10_001).replace("MANY", many)
    path = tmp_path / "mine.toml"
    path.write_text(f'[[change]]\nexpect = "same verdict"\n{text}\n', "utf-8")
    with pytest.raises(FileError) as caught:
        read_suite_file(path)
    assert message in str(caught.value)
