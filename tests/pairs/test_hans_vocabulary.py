"""Vocabularies: the packaged ones keep their promises, and a user's file is checked word by word."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from acidtest import api
from acidtest.core.errors import AcidtestError
from acidtest.english.templates import Word
from acidtest.english.trees import binary, tree
from acidtest.io.wordlists import packaged_table
from acidtest.pairs.hans import vocabulary

NOUNS = "".join(
    f"noun_singular\t{noun}\t\t\nnoun_plural\t{noun}s\t{noun}\t\n" for noun in ("monk", "spy", "queen", "vet")
).replace("spys", "spies")


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str], str]:
    def write(rows: str, header: str = "list\tword\tlemma\tparse") -> str:
        path = tmp_path / "mine.tsv"
        path.write_text(f"{header}\n{rows}", encoding="utf-8")
        return str(path)

    return write


@pytest.mark.parametrize("name", ["fresh", "published"])
def test_packaged_words_are_fit_for_their_lists(name: str) -> None:
    unfit = {
        (which, word): why
        for lists, words, why in packaged_table("hans/unfit_words.tsv").iter_rows()
        for which in lists.split()
        for word in words.split()
    }
    for which, words in vocabulary(name).lists.items():
        assert not [word.text for word in words if (which, word.text) in unfit]
        assert len({word.text for word in words}) == len(words), which


def test_no_fresh_verb_implies_another() -> None:
    assert not any(word.excludes for word in vocabulary("fresh").lists["transitive"])


def test_a_vocabulary_of_ones_own_takes_the_place_of_the_fresh_one(written: Callable[[str], str]) -> None:
    path = written(NOUNS)
    found = vocabulary(path)
    assert [word.text for word in found.lists["noun_singular"]] == ["monk", "spy", "queen", "vet"]
    assert found.lists["noun_plural"][1] == Word("spies", "NNS", "spy")
    assert found.lists["transitive"] == vocabulary("fresh").lists["transitive"]
    suite = api.generate("hans", n=20, arguments={"words": path})
    assert suite.card.arguments == {"words": "mine.tsv"}
    assert list(suite.card.sources) == ["mine.tsv"]
    subjects = suite.frame.collect()["premise"].str.extract(r"^The (\w+)")
    assert set(subjects.drop_nulls()) <= {"monk", "monks", "spy", "spies", "queen", "queens", "vet", "vets"}


def test_a_changed_file_is_read_anew(written: Callable[[str], str]) -> None:
    first = api.generate("hans", n=5, arguments={"words": written(NOUNS)}).card
    second = api.generate("hans", n=5, arguments={"words": written(NOUNS.replace("monk", "nun"))}).card
    assert first.sources != second.sources
    assert first.fingerprint != second.fingerprint


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("noun_plurals\tcats\t\t\n", "mine.tsv:2: no word list called 'noun_plurals'; did you mean 'noun_plural'"),
        ("place\tThe Hague\t\t\n", "mine.tsv:2: word 'The Hague' is not one or more words in small letters"),
        ("transitive\tmet\t\t\n", "mine.tsv:2: 'met' does not fit 'transitive': it is symmetric"),
        ("adjective\tformer\t\t\n", "mine.tsv:2: 'former' does not fit 'adjective': it does not leave"),
        ("preposition\twith\t\t\n", "mine.tsv:2: 'with' does not fit 'preposition': it is comitative"),
        ("intransitive\tgathered\t\t\n", "mine.tsv:2: 'gathered' does not fit 'intransitive': it is collective"),
        ("eats_food\tbroke\t\t\n", "mine.tsv:2: 'broke' does not fit 'eats_food': it is causative"),
        ("food\tice cream\t\t\n", "mine.tsv:2: 'ice cream' is several words, so it needs its brackets"),
        ("food\tice cream\t\tnn\n", "mine.tsv:2: parse 'nn' of 'ice cream' is neither a part of speech"),
        ("food\tice cream\t\t(NN ice\n", "mine.tsv:2: parse of 'ice cream': brackets never closed: 1"),
        ("food\tice cream\t\t(NN ice)\n", "does not hold the words of 'ice cream' in their order"),
        ("food\tpie\t\t\nfood\tpie\t\t\n", "mine.tsv:2: 'pie' stands twice in 'food'"),
        ("food\tpie\t\t\n", "mine.tsv: list 'food' has 1 words, but needs at least 2"),
        (NOUNS + "noun_plural\tnuns\tnun\t\n", "lemmas of noun_plural differ: nun; write the singular"),
        ("passive\ttold\t\t\npassive\tleft\t\t\n", "transitive and passive go together"),
        (
            "".join(f"transitive\t{verb}\t\t\n" for verb in ("led", "fed", "told", "cured"))
            + "passive\tsold\t\t\npassive\tled\t\t\n",
            "passive has verbs that transitive does not have: sold",
        ),
        ("factive_verb\tmuttered\t\t\nnonfactive_verb\tmuttered\t\t\n", "'muttered' stands in 'factive_verb' and in"),
        ("conditional\tbecause\t\t\n", "'because' does not fit 'conditional': it makes its clause true"),
        ("np_z_plural_verb\tfilmed\t\t\n", "'filmed' stands in 'np_z_verb' and in 'np_z_plural_verb'"),
        ("", "has no words"),
        ("noun_plural\tmonks\t\t\n" * 1, "list 'noun_plural' has 1 words"),
    ],
)
def test_what_is_wrong_with_a_vocabulary_is_told_with_its_line(
    written: Callable[[str], str], rows: str, message: str
) -> None:
    with pytest.raises(AcidtestError) as error:
        vocabulary(written(rows))
    assert message in str(error.value)


def test_columns_that_are_missing_or_unknown_are_told(written: Callable[[str], str]) -> None:
    with pytest.raises(AcidtestError, match="has no column 'list'"):
        vocabulary(written("food\tpie\n", header="kind\tword"))
    with pytest.raises(AcidtestError, match="has the column 'colour'"):
        vocabulary(written("food\tpie\tred\n", header="list\tword\tcolour"))


def test_an_unknown_vocabulary_is_refused() -> None:
    with pytest.raises(AcidtestError, match="no vocabulary is called 'frehs', and there is no such file"):
        vocabulary("frehs")


def test_head_rules_name_every_phrase_once() -> None:
    phrases = sorted(packaged_table("head_rules.tsv")["phrase"])
    assert all(first != second for first, second in pairwise(phrases))


def test_a_parse_that_holds_what_never_follows_is_refused(written: Callable[[str], str]) -> None:
    path = written("food\tslices of\t\t(NNS slices) (PP (IN of) *)\nfood\tpie\t\t\n")
    with pytest.raises(
        AcidtestError, match=r"the parse of 'slices of' has a \*, but in some templates nothing follows"
    ):
        api.generate("hans", n=5, arguments={"words": path})


def test_a_word_without_lemma_takes_the_one_another_list_gives_it(written: Callable[[str], str]) -> None:
    verbs = "".join(f"{which}\t{verb}\t\t\n" for which in ("transitive", "passive") for verb in ("drove", "led"))
    found = vocabulary(written(verbs + "transitive\tfed\t\t\ntransitive\tcured\t\t\n")).lists
    assert found["transitive"][0].lemma == found["np_z_verb"][0].lemma == "drive"


def test_a_vocabulary_too_large_to_number_is_refused(written: Callable[[str], str]) -> None:
    letters = "abcdefghij"
    names = [a + b + c + d for a in letters for b in letters for c in letters for d in letters[:4]]
    rows = "".join(f"noun_singular\t{name}\t\t\nnoun_plural\t{name}s\t{name}\t\n" for name in names)
    with pytest.raises(AcidtestError, match="the vocabulary is too large"):
        api.generate("hans", n=5, arguments={"words": written(rows)})


def test_many_words_are_drawn_rightly(written: Callable[[str], str]) -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    names = [f"{a}{b}{c}ist" for a in letters for b in letters for c in letters]
    # 17,576 adjectives and the rest of the words: more than small integers can number.
    rows = "".join(f"adjective\t{name}\t\t\nplace\t{name[::-1]}\t\t\n" for name in names)
    frame = api.generate("hans", n=200, arguments={"words": written(rows)}).frame.collect()
    used = frame.filter(subcase="se_adjective")["premise"].str.extract(r"^(\w+)").str.to_lowercase()
    assert set(used) <= set(names)
    assert used.n_unique() > 150


def test_several_words_are_bracketed_as_their_phrase_asks(written: Callable[[str], str]) -> None:
    rows = (
        "subordinator\tnow that\t\t(RB now) (IN that)\nadjective\tvery old\t\t(RB very) (JJ old)\n"
        "adjective\tsad\t\t\nfactive_adverb\ton top of that\t\t(PP (IN on) (NP (NP (NN top)) (PP (IN of) (DT that))))\n"
        + "".join(f"{which}\tlooked after\t\t(VBD looked) (RP after)\n" for which in ("transitive", "passive"))
        + "".join(f"{which}\t{verb}\t\t\n" for which in ("transitive", "passive") for verb in ("led", "fed", "cured"))
    )
    frame = api.generate("hans", n=60, arguments={"words": written(rows)}).frame.collect()
    for side in ("premise", "hypothesis"):
        for text, parse, binary_parse in frame.select(side, f"{side}_parse", f"{side}_binary_parse").iter_rows():
            found = tree(parse)
            assert binary(found) == binary_parse, text
            assert " ".join(found.leaves).replace(" ,", ",").replace(" .", ".") == text
