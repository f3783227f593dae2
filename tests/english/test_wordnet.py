"""WordNet's packaged tables: by hand as wordnetweb.princeton.edu shows 3.0, and all of it against NLTK."""

from __future__ import annotations

import importlib.util
import sys
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from acidtest.core.errors import AcidtestError
from acidtest.english.wordnet import SENSE_RELATIONS, SYNSET_RELATIONS, Ranges, Sense, Synset, wordnet

net = wordnet()
DATA = Path(__file__).parents[2] / "src" / "acidtest" / "data" / "wordnet"
TOOL = Path(__file__).parents[2] / "tools" / "build_wordnet.py"

ranges = Ranges.of_sorted(np.array([0, 0, 2, 2, 2]), 4)


def names(synsets: list[Synset]) -> list[str]:
    return [net.name(synset) for synset in synsets]


def test_the_senses_of_a_word_stand_by_frequency_and_nouns_first() -> None:
    expected = ["dog.n.01", "frump.n.01", "dog.n.03", "cad.n.01", "frank.n.02", "pawl.n.01", "andiron.n.01"]
    assert names(net.synsets("dog")) == [*expected, "chase.v.01"]
    assert names(net.synsets("dog", "v")) == ["chase.v.01"]
    assert net.synsets("dog", "r") == []


def test_a_word_is_found_in_its_forms_and_in_any_case() -> None:
    assert names(net.synsets("Geese")) == ["goose.n.01", "fathead.n.01", "goose.n.03"]
    assert net.synsets("xyzzy") == []
    assert net.synsets("") == []


def test_adjectives_include_satellites_and_satellites_nothing_else() -> None:
    assert names(net.synsets("able", "a")) == ["able.a.01", "able.s.02", "able.s.03", "able.s.04"]
    assert names(net.synsets("able", "s")) == ["able.s.02", "able.s.03", "able.s.04"]


def test_a_synset_has_words_as_they_are_written_and_a_place_in_princetons_files() -> None:
    paris = net.synset("paris.n.01")
    assert net.lemmas(paris) == ["Paris", "City_of_Light", "French_capital", "capital_of_France"]
    assert (net.pos(paris), net.offset(paris), net.lexfile(paris)) == ("n", 8932568, "noun.location")


def test_antonyms_hold_between_words_not_between_synsets() -> None:
    large, big = net.synset_senses(net.synset("large.a.01"))
    assert (net.lemma(large), net.lemma(big)) == ("large", "big")
    assert [net.lemma(sense) for sense in net.antonyms(large)] == ["small"]
    assert [net.lemma(sense) for sense in net.antonyms(big)] == ["little"]
    assert {net.synset_of(sense) for sense in (*net.antonyms(large), *net.antonyms(big))} == {net.synset("small.a.01")}


def test_derivations_lead_to_other_parts_of_speech() -> None:
    decide = net.senses("decide", "v")[0]
    found = {(net.lemma(sense), net.pos(net.synset_of(sense))) for sense in net.derivations(decide)}
    assert found == {("decision", "n"), ("deciding", "n"), ("decisive", "a")}


def test_every_way_up_from_a_synset_is_told_from_the_top() -> None:
    dog = net.synset("dog.n.01")
    ways = [names(path) for path in net.hypernym_paths(dog)]
    assert {way[-2] for way in ways} == {"canine.n.02", "domestic_animal.n.01"}
    assert all(way[0] == "entity.n.01" and way[-1] == "dog.n.01" for way in ways)
    assert names(net.hypernyms(dog)) == ["canine.n.02", "domestic_animal.n.01"]


def test_a_name_is_an_instance_and_a_way_up_goes_through_it() -> None:
    paris = net.synset("paris.n.01")
    assert net.hypernyms(paris) == []
    assert names(net.instance_hypernyms(paris)) == ["national_capital.n.01"]
    assert names(net.hypernym_paths(paris)[0])[-2:] == ["national_capital.n.01", "paris.n.01"]


def test_a_satellite_is_similar_to_its_adjective() -> None:
    assert names(net.similar(net.synset("arid.s.01"))) == ["dry.a.01"]
    assert net.synset("arid.s.01") in net.similar(net.synset("dry.a.01"))


def test_senses_are_counted_as_in_semcor() -> None:
    # cntlist.rev: dog%1:05:00:: 1 42
    assert net.count(net.senses("dog", "n")[0]) == 42


def test_a_synset_that_is_not_there_is_named() -> None:
    for name in ("dog.n.99", "dog.x.01", "xyzzy.n.01", "dog", "able.s.01", "dog.n.²"):
        with pytest.raises(AcidtestError, match="WordNet has no synset called"):
            net.synset(name)
    assert net.synset("able.a.02") == net.synset("able.s.02")


def test_an_unknown_part_of_speech_is_named() -> None:
    with pytest.raises(AcidtestError, match="part of speech 'noun' is not n, v, a, s or r"):
        net.synsets("dog", "noun")
    with pytest.raises(AcidtestError, match="part of speech 'JJ'"):
        net.sense_frame(pl.Series(["big"]), pl.Series(["JJ"]))


def test_an_unknown_relation_is_named() -> None:
    with pytest.raises(AcidtestError, match="no relation of WordNet called 'hypernym'; did you mean 'hypernyms'"):
        net.relation("hypernym")


def test_base_forms_of_a_column_keep_its_order_and_say_each_word_once() -> None:
    words = pl.Series(["Axes", "xyzzy", "left", "Axes", None])
    assert net.base_form_frame(words).rows() == [
        ("Axes", "n", "ax"),
        ("Axes", "n", "axis"),
        ("Axes", "v", "axe"),
        ("Axes", "v", "ax"),
        ("left", "n", "left"),
        ("left", "v", "leave"),
        ("left", "a", "left"),
        ("left", "r", "left"),
    ]


def test_a_column_of_parts_of_speech_goes_word_by_word() -> None:
    found = net.base_form_frame(pl.Series(["left", "left", "axes"]), pl.Series(["v", "r", "v"]))
    assert found.rows() == [("left", "v", "leave"), ("left", "r", "left"), ("axes", "v", "axe"), ("axes", "v", "ax")]
    assert net.base_form_frame(pl.Series(["left", "better"]), "s").rows() == [
        ("left", "s", "left"),
        ("better", "s", "better"),
        ("better", "s", "good"),
        ("better", "s", "well"),
    ]


def test_antonyms_of_a_column_have_the_sense_they_are_of() -> None:
    found = net.antonym_frame(pl.Series(["bigger", "dog", "Hot"]), "a")
    assert found.select("word", "base", "rank", "antonym").rows() == [
        ("bigger", "big", 0, "little"),
        ("Hot", "hot", 0, "cold"),
        ("Hot", "hot", 2, "cold"),
    ]
    assert [net.lemma(Sense(sense)) for sense in found["antonym_sense"]] == ["little", "cold", "cold"]


def test_columns_say_what_single_lookups_say() -> None:
    words = net.lemma_names.gather_every(97)
    frame = net.sense_frame(words)
    singly = [(word, sense) for word in words for sense in net.senses(word)]
    assert frame.select("word", "sense").rows() == singly
    satellites = net.sense_frame(words, "s")
    assert satellites.select("word", "sense").rows() == [(w, s) for w in words for s in net.senses(w, "s")]
    assert set(satellites["pos"]) == {"s"}


@pytest.mark.parametrize("words", [[], [None], ["xyzzy"]])
def test_columns_without_words_give_empty_frames(words: list[str | None]) -> None:
    asked = pl.Series(words, dtype=pl.String)
    assert net.base_form_frame(asked).columns == ["word", "pos", "base"]
    assert net.sense_frame(asked).is_empty()
    assert net.antonym_frame(asked, "a").is_empty()


def test_the_packaged_tables_are_what_the_script_makes_of_wordnet(
    full_wordnet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = importlib.util.spec_from_file_location("build_wordnet", TOOL)
    assert spec
    assert spec.loader
    tool = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, tool)
    spec.loader.exec_module(tool)
    tool.write(full_wordnet, tmp_path)
    for made in sorted(tmp_path.iterdir()):
        packaged = DATA / made.name
        same = made.read_bytes() == packaged.read_bytes()
        # Another Polars may pack the same table into other bytes.
        assert same or pl.read_parquet(made).equals(pl.read_parquet(packaged)), made.name


def test_all_synsets_are_those_nltk_reads(nltk_wordnet: Any) -> None:
    theirs = list(chain.from_iterable(nltk_wordnet.all_synsets(pos) for pos in "nvar"))
    assert len(theirs) == net.synset_table.height == 117_659
    numbers = {(synset.pos(), synset.offset()): Synset(number) for number, synset in enumerate(theirs)}
    relations = {"hypernyms": "hypernyms", "instance_hypernyms": "instance_hypernyms", "similar": "similar_tos"}
    assert set(relations) == set(SYNSET_RELATIONS)
    for number, synset in enumerate(theirs):
        ours = Synset(number)
        assert (net.pos(ours), net.offset(ours)) == (synset.pos(), synset.offset())
        assert net.lexfile(ours) == synset.lexname()
        assert net.lemmas(ours) == synset.lemma_names()
        for name, method in relations.items():
            # NLTK keeps these in sets, so their order means nothing.
            targets = {numbers[target.pos(), target.offset()] for target in getattr(synset, method)()}
            assert set(getattr(net, name)(ours)) == targets
            assert len(getattr(net, name)(ours)) == len(targets)


def test_all_senses_are_related_as_nltk_reads(nltk_wordnet: Any) -> None:
    methods = {"antonyms": "antonyms", "derivations": "derivationally_related_forms"}
    assert set(methods) == set(SENSE_RELATIONS)
    for number, synset in enumerate(chain.from_iterable(nltk_wordnet.all_synsets(pos) for pos in "nvar")):
        for sense, lemma in zip(net.synset_senses(Synset(number)), synset.lemmas(), strict=True):
            for name, method in methods.items():
                ours = [(net.lemma(s), net.offset(net.synset_of(s))) for s in getattr(net, name)(sense)]
                assert ours == [(each.name(), each.synset().offset()) for each in getattr(lemma, method)()]
            if sense % 20 == 0:
                assert net.count(sense) == lemma.count()


def test_ways_up_are_those_nltk_finds(nltk_wordnet: Any) -> None:
    for number, synset in enumerate(chain(nltk_wordnet.all_synsets("n"), nltk_wordnet.all_synsets("v"))):
        if number % 5 == 0:
            ours = [[net.offset(each) for each in path] for path in net.hypernym_paths(Synset(number))]
            assert sorted(ours) == sorted([each.offset() for each in path] for path in synset.hypernym_paths())


def test_all_words_have_the_synsets_nltk_gives_them(nltk_wordnet: Any) -> None:
    frame = net.sense_frame(net.lemma_names).unique(["word", "synset"], keep="first", maintain_order=True)
    frame = frame.with_columns(offset=net.synset_table["offset"].gather(frame["synset"]))
    ours = dict(frame.group_by("word", maintain_order=True).agg("offset").iter_rows())
    assert set(ours) == set(nltk_wordnet.all_lemma_names())
    for word in net.lemma_names:
        theirs = nltk_wordnet.synsets(word)
        assert ours[word] == list(dict.fromkeys(synset.offset() for synset in theirs)), word


def test_base_forms_are_those_nltk_finds(nltk_wordnet: Any) -> None:
    irregular = pl.read_csv(DATA / "exceptions.tsv", separator="\t", quote_char=None)["form"]
    endings = ("s", "es", "ed", "ing", "er", "est", "men", "ves", "ies")
    regular = [word + endings[place % len(endings)] for place, word in enumerate(net.lemma_names)]
    stems = [word[:-1] + endings[place % len(endings)] for place, word in enumerate(net.lemma_names)]
    words = pl.concat([net.lemma_names, irregular, pl.Series(regular), pl.Series(stems)]).unique(maintain_order=True)
    frame = net.base_form_frame(words).group_by("word", "pos", maintain_order=True).agg("base")
    ours = {(word, pos): bases for word, pos, bases in frame.iter_rows()}
    for word in words:
        for pos in "nvar":
            theirs = nltk_wordnet._morphy(word, pos)
            assert ours.get((word, pos), []) == theirs
    for word in words.gather_every(101):
        assert next(iter(net.base_forms(word)), None) == nltk_wordnet.morphy(word)


def test_things_have_the_places_of_their_keys() -> None:
    assert [list(ranges[thing]) for thing in range(4)] == [[0, 1], [], [2, 3, 4], []]


def test_ranges_are_joined_in_the_order_asked_for_and_as_often() -> None:
    assert ranges.joined(np.array([2, 1, 0, 2])).tolist() == [2, 3, 4, 0, 1, 2, 3, 4]
    assert ranges.lengths(np.array([2, 1])).tolist() == [3, 0]


def test_nothing_joined_is_nothing() -> None:
    assert ranges.joined(np.array([], dtype=np.int64)).tolist() == []
    assert ranges.joined(np.array([1, 3])).tolist() == []


def test_lengths_make_ranges() -> None:
    assert Ranges.of_lengths(np.array([2, 0, 3])).starts.tolist() == [0, 2, 2, 5]
