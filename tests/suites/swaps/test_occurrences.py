"""None"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from acidtest.core.errors import FileError
from acidtest.english.inflection import inflect
from acidtest.suites.swaps.occurrences import Swaps, read_answers, starter_answers, swaps
from acidtest.suites.swaps.word_pairs import Relation, file_pairs, wordnet_pairs


def found(premise: str, hypothesis: str, relation: Relation = "antonym") -> Swaps:
    return swaps(pl.Series([premise]), pl.Series([hypothesis]), wordnet_pairs(relation), tagger="light")


def swapped(premise: str, hypothesis: str, relation: Relation = "antonym") -> list[tuple[str, str]]:
    return found(premise, hypothesis, relation).frame.select("swapped_premise", "swapped_hypothesis").rows()


def test_the_papers_examples_are_swapped() -> None:
    # Sanchez Carmona et al. (2018), examples 1 to 4.
    assert swapped("A soccer game occurring at sunset.", "A basketball game is occurring at sunrise.") == [
        ("A soccer game occurring at sunrise.", "A basketball game is occurring at sunset.")
    ]
    premise = "A little girl hugs her brother on a footbridge in a forest."
    assert swapped(premise, "A pair of siblings are on a bridge.", "hypernym") == [
        ("A little girl hugs her brother on a bridge in a forest.", "A pair of siblings are on a footbridge.")
    ]


def test_all_occurrences_change_and_each_keeps_its_form_its_capitals_and_its_article() -> None:
    premise = "Dogs bark at an old dog, and the DOG sleeps."
    assert swapped(premise, "There is an animal.", "hypernym") == [
        ("Animals bark at an old animal, and the ANIMAL sleeps.", "There is a dog.")
    ]
    assert swapped("Two dogs love it.", "A boy hated it.") == [("Two dogs hate it.", "A boy loved it.")]
    assert swapped("The man is taller.", "The man is the shortest.") == [
        ("The man is shorter.", "The man is the tallest.")
    ]


def test_people_are_persons() -> None:
    assert swapped("Two men sleep.", "The people are asleep.", "hypernym") == [
        ("Two people sleep.", "The men are asleep.")
    ]


def test_a_participle_may_be_an_adjective() -> None:
    assert swapped("The door is open.", "The door is closed.") == [("The door is closed.", "The door is open.")]


def test_a_row_tells_the_words_as_they_stand_before_and_after() -> None:
    row = found("Two dogs sleep.", "An animal sleeps.", "hypernym").frame.row(0, named=True)
    words = ("premise_word", "hypothesis_word", "swapped_premise_word", "swapped_hypothesis_word", "relation")
    assert [row[name] for name in words] == ["dogs", "animal", "animals", "dog", "hyponym"]


def test_pairs_with_both_words_on_one_side_or_in_two_parts_of_speech_are_left_out_and_counted() -> None:
    both = found("A hot soup and a cold one.", "The soup is cold.")
    assert both.frame.is_empty()
    assert both.left_out == {"both words on one side": 1}
    light = found("A light box under the lights.", "The box is heavy.")
    assert light.frame.is_empty()
    assert light.left_out == {"another part of speech": 1}


def test_nothing_gives_nothing() -> None:
    assert found("", "").frame.is_empty()
    empty = pl.Series([], dtype=pl.String)
    assert swaps(empty, empty, wordnet_pairs("antonym")).frame.is_empty()


@pytest.mark.parametrize(
    ("lemma", "pos", "tag", "form"),
    [
        ("person", "n", "NNS", "people"),
        ("sit", "v", "VBG", "sitting"),
        ("stand", "v", "VBD", "stood"),
        ("big", "a", "JJS", "biggest"),
        ("closed", "a", "VBN", "closed"),
        ("badly", "r", "RB", "badly"),
    ],
)
def test_a_word_takes_the_form_of_a_tag(lemma: str, pos: str, tag: str, form: str) -> None:
    assert inflect(lemma, pos, tag) == form


def written(folder: Path, text: str) -> Path:
    path = folder / "labels.tsv"
    path.write_text(text, encoding="utf-8")
    return path


def test_answers_are_labels_discards_or_undecided(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "premise\thypothesis\tlabel\tdiscarded\tundecided\nA.\tB.\tneutral\t\t\nC.\tD.\t\tincoherent\t\nE.\tF.\t\t\tno\n",
    )
    assert read_answers(path).rows() == [
        ("A.", "B.", "neutral", "asked"),
        ("C.", "D.", None, "discarded"),
        ("E.", "F.", None, "undecided"),
    ]


def test_what_people_answered_must_be_made_labels_first(tmp_path: Path) -> None:
    path = written(tmp_path, "id\tannotator\tcoherent\tinference\n1\tAnn\tyes\tneutral\n")
    with pytest.raises(FileError, match=r"acidtest agreement .*labels.tsv --questionnaire swaps -o labels.tsv"):
        read_answers(path)


def test_a_file_without_labels_or_with_strange_or_two_labels_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="has no column 'label'"):
        read_answers(written(tmp_path, "premise\thypothesis\nA.\tB.\n"))
    with pytest.raises(FileError, match=r"labels.tsv:3: label 'maybe' is not entailment, neutral or contradiction"):
        read_answers(written(tmp_path, "premise\thypothesis\tlabel\nA.\tB.\tneutral\nC.\tD.\tmaybe\n"))
    with pytest.raises(FileError, match=r"has two labels for 'A.' / 'B.'; keep one"):
        read_answers(written(tmp_path, "premise\thypothesis\tlabel\nA.\tB.\tneutral\nA.\tB.\tentailment\n"))


def test_the_starter_pairs_have_answers_of_all_kinds() -> None:
    assert set(starter_answers()["verdict"]) == {"asked", "discarded", "undecided"}


def test_a_noun_without_a_plural_does_not_take_a_place_that_has_one() -> None:
    none = found("Two songs were played.", "The music was loud.", "hypernym")
    assert none.frame.is_empty()
    assert none.left_out["no singular or plural"] == 1
    assert found("A boy wears a shirt.", "The clothing is red.", "hypernym").frame.is_empty()
    assert swapped("Two dogs were asleep.", "The animal was loud.", "hypernym") == [
        ("Two animals were asleep.", "The dog was loud.")
    ]


def test_the_form_of_a_word_shows_its_number_where_the_tagger_does_not() -> None:
    places = found("Two young women smile.", "A man smiles.").frame["premise_places"][0]
    assert [place["tag"] for place in places] == ["NNS"]


BARONI = """word1\tword2\tlabel
lunch\tmeal\tTrue
sandwich\tfood\tTrue
toddler\tchild\tTrue
football\tgame\tTrue
shirt\tclothing\tTrue
scissors\ttool\tTrue
theater\tbuilding\tTrue
beer\talcohol\tTrue
bikini\tgarment\tTrue
girlfriend\twoman\tTrue
lady\twoman\tTrue
sport\tgame\tTrue
"""


def from_file(folder: Path, premise: str, hypothesis: str) -> Swaps:
    (folder / "pairs.tsv").write_text(BARONI, encoding="utf-8")
    pairs = file_pairs(folder / "pairs.tsv", "hypernym")
    return swaps(pl.Series([premise]), pl.Series([hypothesis]), pairs, tagger="light")


@pytest.mark.parametrize(
    ("premise", "hypothesis", "after"),
    [
        # Bare nouns for bare nouns, countable ones after "a", any after "the" or a possessive.
        (
            "An older man is drinking beer.",
            "A man is drinking alcohol from a bottle.",
            ("An older man is drinking alcohol.", "A man is drinking beer from a bottle."),
        ),
        (
            "Two women are enjoying a lunch at a cafe.",
            "They eat the large meal.",
            ("Two women are enjoying a meal at a cafe.", "They eat the large lunch."),
        ),
        (
            "The boy eats his sandwich.",
            "The food is his.",
            ("The boy eats his food.", "The sandwich is his."),
        ),
        (
            "A man is near a small blond-haired toddler.",
            "Another child is near.",
            ("A man is near a small blond-haired child.", "Another toddler is near."),
        ),
        (
            "A man is with his girlfriend.",
            "A man hears that woman's song.",
            ("A man is with his woman.", "A man hears that girlfriend's song."),
        ),
        (
            "A woman is cutting something with scissors.",
            "A woman uses tools.",
            ("A woman is cutting something with tools.", "A woman uses scissors."),
        ),
    ],
)
def test_a_noun_stands_only_where_its_form_can_stand(
    tmp_path: Path, premise: str, hypothesis: str, after: tuple[str, str]
) -> None:
    assert from_file(tmp_path, premise, hypothesis).frame.select("swapped_premise", "swapped_hypothesis").rows() == [
        after
    ]


@pytest.mark.parametrize(
    ("premise", "hypothesis", "reason"),
    [
        # Not "making meal", "Men playing game", "making sandwich", "Toddler is asleep".
        ("The mothers are making lunch.", "They are cooking a meal.", "no singular or plural"),
        ("Men playing football.", "Some men are playing a game.", "no singular or plural"),
        ("A waiter is making a sandwich in a nice kitchen.", "A man makes food.", "no singular or plural"),
        ("Child is asleep.", "A toddler is asleep.", "no singular or plural"),
        # Neither "a clothing inscribed", "a football", "the football is the final one", "uses a scissors" nor "foods".
        ("A man wears a shirt inscribed with a name.", "The clothing is red.", "no singular or plural"),
        ("A boy plays football.", "The game is the final one.", "no singular or plural"),
        ("A woman is cutting paper with scissors.", "A woman uses a tool.", "no singular or plural"),
        ("A man buys sandwiches.", "The food is cheap.", "no singular or plural"),
        # "Two young woman" and "a young women" are in SNLI: no form of another noun is sure to be right.
        ("Two young woman are smiling.", "A lady is smiling.", "no singular or plural"),
        ("A young women is smiling.", "A lady is smiling.", "no singular or plural"),
        # "His child son", "game team", "movie building", "an alcohol shake" (tagged as a verb) and "a garment top".
        ("A father hugs his toddler son.", "A father hugs the child.", "part of a compound"),
        ("A football team runs.", "The game is near.", "part of a compound"),
        ("People sit in a movie theater.", "People sit in a building.", "part of a compound"),
        ("A man drinks a beer shake in a cup.", "A man loves alcohol.", "part of a compound"),
        ("A girl in a bikini top smiles.", "The garment is red.", "part of a compound"),
    ],
)
def test_a_noun_that_would_not_be_english_in_its_new_place_is_left_out_and_counted(
    tmp_path: Path, premise: str, hypothesis: str, reason: str
) -> None:
    made = from_file(tmp_path, premise, hypothesis)
    assert made.frame["swapped_premise"].to_list() == []
    assert made.left_out[reason] == 1


@pytest.mark.parametrize(
    ("premise", "hypothesis"),
    [
        # "Rides his dog", "arriving the house" and "standing down".
        ("A man rides down the street.", "A man is walking his dog."),
        ("A man is leaving the house.", "A man is arriving at noon."),
        ("A woman is sitting down.", "A woman is standing."),
        # "An asleep dog", "forty years young" and "rested of work".
        ("The baby is asleep in a crib.", "An awake dog barks."),
        ("A young man waits.", "The house is forty years old."),
        ("A man is rested.", "A man is tired of work."),
    ],
)
def test_a_verb_or_adjective_takes_no_place_of_another_construction(premise: str, hypothesis: str) -> None:
    made = found(premise, hypothesis)
    assert made.frame["swapped_hypothesis"].to_list() == []
    assert made.left_out["another construction"] == 1


@pytest.mark.parametrize(
    ("premise", "hypothesis", "after"),
    [
        (
            "The glass beside the sink is empty.",
            "The youngest of the girls drinks from a glass full of milk.",
            [
                (
                    "The glass beside the sink is full.",
                    "The youngest of the girls drinks from a glass empty of milk.",
                )
            ],
        ),
        # "A boy band" and "a girl band" are both there; "at day" is not.
        (
            "A boy band is near.",
            "The girl band is far away.",
            [("A girl band is near.", "The boy band is far away.")],
        ),
        (
            "Two dogs stay in the yard at night.",
            "A dog sleeps in the day.",
            [],
        ),
        (
            "A man loves the old house.",
            "He hates his young dog.",
            [
                ("A man hates the old house.", "He loves his young dog."),
                ("A man loves the young house.", "He hates his old dog."),
            ],
        ),
        (
            "The men's shirts are red.",
            "Three young women smile.",
            [("The women's shirts are red.", "Three young men smile.")],
        ),
        (
            "A young, tall boy is standing in the rain.",
            "The girl is sitting on a bench.",
            [
                ("A young, tall girl is standing in the rain.", "The boy is sitting on a bench."),
                ("A young, tall boy is sitting in the rain.", "The girl is standing on a bench."),
            ],
        ),
    ],
)
def test_antonyms_in_equal_constructions_are_swapped(
    premise: str, hypothesis: str, after: list[tuple[str, str]]
) -> None:
    assert sorted(swapped(premise, hypothesis)) == sorted(after)
