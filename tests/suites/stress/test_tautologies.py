from __future__ import annotations

import polars as pl
import pytest

from acidtest.core.errors import AcidtestError
from acidtest.english.trees import tree
from acidtest.suites.stress.distraction import Distraction, Place, read_tautology, tautologies

TRUE = read_tautology("true")


def inserted(text: str, *, place: Place = "end", repetitions: int = 1, faithful: bool = False) -> str:
    distraction = Distraction(TRUE, repetitions, place, faithful=faithful)
    return str(pl.DataFrame({"t": [text]}).select(distraction.text(pl.col("t"))).item())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The dog barked.", "The dog barked and true is true."),
        ("The dog barked", "The dog barked and true is true"),
        ("Did it bark?!", "Did it bark and true is true?!"),
        ("He sat down. She left.", "He sat down. She left and true is true."),
        ('"Go!" he said.', '"Go!" he said and true is true.'),
        ('He said "Go!"', 'He said "Go!" and true is true'),
        ('He said "Go".', 'He said "Go" and true is true.'),
        ("It is in the U.S.", "It is in the U.S. and true is true"),
        ("I love the U.S.!", "I love the U.S. and true is true!"),
        ("The answer is No.", "The answer is No and true is true."),
        ("再见。", "再见 and true is true。"),
        ("It costs $3.50.", "It costs $3.50 and true is true."),
        ("She came at 9 a.m. ", "She came at 9 a.m. and true is true "),
        ("Well ...", "Well and true is true ..."),
        ("(Laughter.)", "(Laughter.) and true is true"),
        ("...", "... and true is true"),
        ("Café Zoë, señor.", "Café Zoë, señor and true is true."),
    ],
)
def test_a_tautology_goes_before_the_final_punctuation_and_outside_quotation_marks(text: str, expected: str) -> None:
    assert inserted(text) == expected
    assert inserted(text).replace(" and true is true", "") == text


def test_repetitions_follow_each_other() -> None:
    assert inserted("It rained.", repetitions=3) == "It rained and true is true and true is true and true is true."


def test_at_the_start_a_sentence_goes_on_in_small_letters_unless_it_begins_with_a_name() -> None:
    assert inserted("The dog barked.", place="start") == "True is true and the dog barked."
    assert inserted("Thea barked.", place="start") == "True is true and Thea barked."
    assert inserted("It was I.", place="start", repetitions=2) == "True is true and true is true and it was I."


def test_in_the_middle_it_stands_before_a_preposition_or_conjunction() -> None:
    text = "The dog barked all night in the yard."
    assert inserted(text, place="middle") == "The dog barked all night, and true is true, in the yard."
    early = "It sat by the door and barked loudly."
    assert inserted(early, place="middle") == "It sat, and true is true, by the door and barked loudly."


def test_a_text_without_such_a_place_has_no_middle() -> None:
    frame = pl.DataFrame({"t": ["The dog barked.", "The dog sat by me."]})
    assert frame.select(Distraction(TRUE, place="middle").fits(pl.col("t"))).to_series().to_list() == [False, True]


def test_faithful_cuts_at_the_first_mark_as_the_released_script_did() -> None:
    assert inserted("The U.S. Senate met. It left.", faithful=True) == "The U and true is true."
    assert inserted("It rained", faithful=True) == "It rained and true is true"


PARSE = "(ROOT (S (NP (DT The) (NN dog)) (VP (VBD barked)) (. .)))"
BINARY = "( ( The dog ) ( barked . ) )"


def trees_of(text: str, parse: str, binary: str, place: Place = "end", repetitions: int = 1) -> tuple[str, str]:
    distraction = Distraction(TRUE, repetitions, place)
    frame = pl.DataFrame({"t": [text], "p": [parse], "b": [binary]})
    row = frame.select(
        distraction.parse(pl.col("p"), pl.col("t")).alias("p"),
        distraction.binary_parse(pl.col("b"), pl.col("t")).alias("b"),
    ).row(0)
    return str(row[0]), str(row[1])


def test_trees_get_the_tautology_where_the_text_does() -> None:
    parse, binary = trees_of("The dog barked.", PARSE, BINARY)
    assert parse == (
        "(ROOT (S (NP (DT The) (NN dog)) (VP (VBD barked)) (CC and) (S (NP (JJ true)) (VP (VBZ is) (ADJP (JJ true))))"
        " (. .)))"
    )
    assert binary == "( ( The dog ) ( barked ( ( and ( true ( is true ) ) ) . ) ) )"


@pytest.mark.parametrize("repetitions", [1, 2, 5])
@pytest.mark.parametrize("place", ["end"])
@pytest.mark.parametrize(
    ("text", "parse", "binary"),
    [
        ("The dog barked.", PARSE, BINARY),
        ("The dog barked", PARSE.replace(" (. .)", ""), "( ( The dog ) barked )"),
        ('The dog barked."', PARSE.replace("(. .)", "(. .) ('' '')"), "( ( The dog ) ( ( barked . ) '' ) )"),
    ],
)
def test_the_leaves_of_both_trees_are_the_words_of_the_new_text(
    text: str, parse: str, binary: str, place: Place, repetitions: int
) -> None:
    found, binary_found = trees_of(text, parse, binary, place, repetitions)
    leaves = [leaf for leaf in binary_found.split() if leaf not in "()"]
    assert tree(found).leaves == leaves
    assert binary_found.count("(") == len(leaves) - 1
    assert [leaf.lower() for leaf in tree(found).leaves] == [leaf.lower() for leaf in leaves]
    words = inserted(text, place=place, repetitions=repetitions).replace(".", " .").replace('"', " ''").lower().split()
    assert [leaf.lower() for leaf in leaves] == words


def test_a_tree_is_given_up_where_the_tautology_does_not_stand_at_the_end() -> None:
    assert trees_of("The dog barked.", PARSE, BINARY, "start") == ("None", "None")


def test_a_dollar_sign_in_a_statement_stands_for_itself() -> None:
    distraction = Distraction(read_tautology("five dollars is $1 more than $4"), place="middle")
    text = pl.DataFrame({"t": ["The dog barked all night in the yard."]}).select(distraction.text(pl.col("t"))).item()
    assert text == "The dog barked all night, and five dollars is $1 more than $4, in the yard."


def test_every_packaged_tautology_has_trees_of_its_own_words() -> None:
    table = tautologies()
    assert table.height >= 10
    for row in table.iter_rows(named=True):
        assert tree(row["parse"]).leaves == row["text"].split()
        assert [leaf for leaf in row["binary_parse"].split() if leaf not in "()"] == row["text"].split()
        negated = bool({"not", "no", "never", "nothing"} & set(row["text"].split()))
        assert (row["negation"] == "yes") == negated


def test_a_tautology_is_found_by_name_or_is_a_statement_of_the_users() -> None:
    assert read_tautology("green").text == "green is not red"
    own = read_tautology("and water is wet.")
    assert own.text == own.argument == "water is wet"
    assert own.name != read_tautology("cats are cats").name
    assert own.binary_parse == "( water ( is wet ) )"
    with pytest.raises(AcidtestError, match="'blue' is neither a statement nor the name of one"):
        read_tautology("blue")
