"""What the place of a word allows: which replacements may stand there, and what they do to the label.

In an upward place a wider word is entailed and a narrower one neutral; in a downward one (*no*, *every*) it is the
other way round. An opposite contradicts only what is asserted. A synonym is entailed anywhere.

Whether the word at a place is part of something else: a name, a title, an idiom, a compound, a reference.

Such a word is not replaced at all: there is no wider word for the lion of *the lion's share*.

The polarity of a place for the purpose of replacing its word: of ``Sentences.contexts``, what is beyond doubt.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np
import polars as pl

from acidtest.english.sentences import NOUNS, Neighbours, Places, Sentences, doubts, governing_words
from acidtest.english.wordnet import noun_kinds
from acidtest.io.wordlists import packaged_table
from acidtest.pairs.categories import category, category_names

_BETWEEN = ("JJ", "JJR", "JJS", "NN", "NNP", "VBN", "VBG", "POS", "CC", ",", "CD")
"""Tags between a number or rank and its noun: *two full-time circuit riders*."""
_CLOCK = ("in", "sharp", "on", "o'clock", "tonight", "tomorrow", "yesterday")
DETERMINERS = ("DT", "PRP$", "CD", "POS", "PDT", "WP$", "WDT")
SENTENCE_STARTS = ("", ".", "!", "?")


def reasons_against_all(around: Neighbours, sentences: Sentences, places: pl.DataFrame) -> dict[str, pl.Series]:
    """The reasons not to replace the words at some places at all, with a flag for each place."""
    return {
        "another part of speech": ~around.has_expected_tag(),
        "part of a name": around.is_name()
        | _is_surname(around, sentences, places)
        | _is_title(around, sentences, places),
        "part of a compound": around.is_compound() | _is_for_people(around, places) | _is_participle(around, places),
        "without an article": around.is_bare(),
        "idiom": _is_in_idiom(sentences, places),
        "number of no things": _counts_nothing(around, sentences, places),
        "no school subject": _is_no_subject(around, places),
    }


@cache
def place_words(name: str) -> pl.Series:
    """One of the lists of ``data/lexical/place_words.tsv``."""
    return packaged_table("lexical/place_words.tsv").filter(pl.col("list") == name)["word"]


def _is_surname(around: Neighbours, sentences: Sentences, places: pl.DataFrame) -> pl.Series:
    """Whether a word with a capital and no article may be a surname: *Wolf did call*, *Flowers was there*.

    A rank that leads to a name is part of it, too.
    """
    names = pl.concat(packaged_table(f"names/{kind}.tsv")["name"] for kind in ("people", "places")).implode()
    bare = around.is_noun & ~around.tag(-1).is_in(DETERMINERS) & ~places["item"].str.contains(r"^\p{Lu}")
    following = sentences.frame["token"].shift(-1).gather(places["last"]).fill_null("")
    ranked = (places["category"] == "ordinals") & following.str.contains(r"^\p{Lu}")
    token = sentences.frame["token"].gather(places["first"])
    single = (places["slot"] == "plural") & around.word(1).is_in(["was", "is", "has"]) & token.str.contains(r"^\p{Lu}")
    return ranked | (bare & (single | token.is_in(names)))


def _is_title(around: Neighbours, sentences: Sentences, places: pl.DataFrame) -> pl.Series:
    """Whether a bare noun at the beginning leads to a capital (*Man on the Moon*), or a place follows a name."""
    opens = around.word(-1).is_in(SENTENCE_STARTS) & (places["slot"] == "singular")
    capital = sentences.frame["token"].str.contains(r"^\p{Lu}").to_numpy()
    later = np.minimum(places["last"].to_numpy()[:, None] + np.arange(2, 5), len(capital) - 1)
    same = sentences.text[later] == places["text"].to_numpy()[:, None]
    titled = opens & pl.Series((capital[later] & same).any(axis=1))
    located = places["category"].is_in(["cities", "countries", "us-states"]) & around.tag(-2).is_in(NOUNS)
    located &= _is_capital_before(sentences, places, 2) & around.word(-1).is_in(["in", "to", "from", "of"])
    return titled | (opens & (around.word(0) == "bear")) | located


def _is_capital_before(sentences: Sentences, places: pl.DataFrame, steps: int) -> pl.Series:
    """Whether the word some steps before each place has a capital."""
    place = places["first"].to_numpy() - steps
    capital = sentences.frame["token"].str.contains(r"^\p{Lu}").to_numpy()
    return pl.Series(capital[np.maximum(place, 0)] & (place >= 0))


def _is_for_people(around: Neighbours, places: pl.DataFrame) -> pl.Series:
    """Whether a plural with *'s* says for whom something is (*the men's room*), or *one's* precedes: *one's goat*."""
    idiom = around.word(-1).is_in(["'s", "’s"]) & (around.word(-2) == "one")
    return idiom | ((places["slot"] == "plural") & around.word(1).str.contains("^['’]s"))


def _is_participle(around: Neighbours, places: pl.DataFrame) -> pl.Series:
    """Whether a form of a verb describes a noun: *a heated argument*, *the approving official*."""
    form = places["slot"].is_in(["participle", "past", "gerund", "base"]) & around.tag(1).is_in(NOUNS)
    return form & around.tag(-1).is_in(["DT", "JJ", "RB", "PRP$", "IN", "POS"])


@cache
def _idioms() -> str:
    expressions = packaged_table("lexical/idioms.tsv")["expression"].to_list()
    return rf"\b(?:{'|'.join(map(re.escape, expressions))})\b"


def _is_in_idiom(sentences: Sentences, places: pl.DataFrame) -> pl.Series:
    """Whether the text of each place has an idiom with its word: *the lion's share*, *a walk in the park*."""
    idioms = sentences.texts.str.to_lowercase().str.extract_all(_idioms()).list.join(" ")
    words = pl.DataFrame({"idiom": idioms.gather(places["text"]), "word": sentences.lower.gather(places["first"])})
    return words.select(
        (pl.col("idiom") != "") & pl.col("idiom").str.contains(pl.col("word"), literal=True)
    ).to_series()


def _is_no_subject(around: Neighbours, places: pl.DataFrame) -> pl.Series:
    """Whether the word for a school subject describes something else: *studying Italian soccer*."""
    adjective = (places["category"] == "school-subjects") & (places["slot"] == "adjective")
    return adjective & ~around.word(1).is_in(place_words("class").implode())


def _counts_nothing(around: Neighbours, sentences: Sentences, places: pl.DataFrame) -> pl.Series:
    """Whether a number counts no things (*Exhibit 17*), or a stretch of them, or a rank is not that of a noun."""
    plural = singular = pl.Series([False]).new_from_index(0, places.height)
    between = ~plural
    for step in (1, 2, 3, 4):
        plural = plural | (between & around.tag(step).is_in(["NNS", "NNPS"]))
        singular = singular | (between & around.tag(step).is_in(NOUNS))
        between = between & around.tag(step).is_in(_BETWEEN)
    one = around.word(-1)
    hour = (one == "at") & around.word(1).is_in(_CLOCK)
    labels = _is_capital_before(sentences, places, 1) & around.tag(-1).is_in(NOUNS)
    labels |= one.is_in(place_words("end").implode())
    limits = (one == "to") & (around.word(-2) == "up")
    number = (places["category"] == "cardinals") & (labels | limits | ~(plural | hour))
    rank = (places["category"] == "ordinals") & (places["slot"] == "ordinal")
    rank &= (
        ~singular
        | plural
        | (around.tag(1) == "CD")
        | (around.tag(-1) == "PRP")
        | around.tag(1).is_in(["VB", "VBP", "VBD", "VBZ"])
    )
    return number | rank


_PHRASE_ENDS = ("VB", "VBD", "VBP", "VBZ", "MD", "WDT", "WP", "WRB", ".", ":", "PRP", "EX", "''", "``")
_CLAUSE_ENDS = ("WDT", "WP", "WRB", ".", ":", "PRP", "EX", ",", "CC", "''", "``")
"""Tags that end a noun phrase (*the role of women in the house* | *changed*), and those that end a clause."""
_LOCATIONS = ("countries", "cities", "us-states", "buildings", "rooms", "landscapes", "vehicles")
"""Categories of places and means of getting there, of which one may have to do with several."""
_STOP = (".", ":")
_STOP_OR_COMMA = (*_STOP, ",")
_SHARES = ("%", "percent", "half", "third", "quarter", "majority")
NUMBERS_AND_TIMES = ("cardinals", "ordinals", "weekdays", "months", "seasons", "times-of-day")
"""Categories whose items have no wider or narrower ones of note."""
_PLURALS = ("plural", "only plural", "mass")
_MODIFIERS = ("DT", "PDT", "PRP$", "POS", "CD", "JJ", "JJR", "JJS", "VBN", "VBG")
"""Tags between the beginning of a noun phrase and its noun."""
_DEFINITES = ("the", "this", "that", "these", "those", "both", "whose")
_CONCRETE = ("person", "animal", "artifact", "body", "food", "object", "plant", "substance")
"""Kinds of nouns for what a text tells of when it names one: *he built a tall tower*."""
_COPULAS = ("is", "are", "was", "were", "'s", "'re", "be", "been", "became", "become", "remains", "remained")
_LONGEST_PHRASE = 5
"""How many words before a noun are searched for its article."""
_SHORTEST_PROSE, _LONGEST_CAPTION = 16, 25
"""A text with more words than the first is prose if it tells of the past or of what may be, with more than the second
unless it tells of what is going on."""
_NO_THINGS = (
    "act", "attribute", "cognition", "event", "feeling", "motive", "possession", "process", "relation", "state", "time",
)  # fmt: skip
"""Kinds of nouns for what is in no place."""


def place_limits(sentences: Sentences, places: pl.DataFrame) -> pl.DataFrame:
    """The first reason against some replacements at each place, given as ``find_occurrences`` returns them.

    ``against_all`` is a reason not to replace the word at all, ``against_others`` not by anything but a synonym,
    ``against_kinds`` not by a wider or narrower word, ``against_changes`` not by anything that is not entailed, and
    ``against_opposites`` not by what would contradict; null where there is none.
    """
    around = Neighbours(sentences, places)
    reasons = {
        "against_all": reasons_against_all(around, sentences, places),
        "against_others": _reasons_against_others(around, sentences, places),
        "against_kinds": _reasons_against_kinds(around, sentences, places),
        "against_changes": _reasons_against_changes(around, sentences, places),
        "against_opposites": _reasons_against_opposites(around, sentences, places),
    }
    return pl.DataFrame({column: first_reason(flags) for column, flags in reasons.items()})


def first_reason(reasons: Mapping[str, pl.Series]) -> pl.Series:
    """For each row the first reason whose flag is true; null without any."""
    flagged = [pl.when(flags.fill_null(value=False)).then(pl.lit(reason)) for reason, flags in reasons.items()]
    return pl.select(pl.coalesce(*flagged)).to_series()


def has_elsewhere(sentences: Sentences, words: pl.DataFrame, size: int) -> pl.Series:
    """Which rows have one of their ``words`` elsewhere in their text, outside ``first`` to ``last``."""
    tokens = pl.DataFrame({"text": pl.Series(sentences.text), "word": sentences.lower}).with_row_index("place")
    matches = words.join(tokens, on=["text", "word"]).filter(~pl.col("place").is_between("first", "last"))
    return pl.int_range(size, eager=True, dtype=pl.UInt32).is_in(matches["row"].unique().implode())


def _reasons_against_others(around: Neighbours, sentences: Sentences, places: pl.DataFrame) -> dict[str, pl.Series]:
    several = pl.col("first").n_unique().over("text", "category", "item") > 1
    first = places["first"].to_numpy()
    # Numbers, ranks and times exclude each other whatever they are said of: prices did not rise in May but in June.
    thing = ~places["category"].is_in(NUMBERS_AND_TIMES)
    compared = around.is_compared() | _is_in_comparison(sentences, first)
    return {
        "twice in the text": places.select(several).to_series(),
        "one of several": around.word(-1).is_in(["another", "other", "others"]),
        "in a list": around.is_listed(),
        "superlative or comparative": thing & compared,
        "ranked": thing & _is_after(around, "rank"),
        "under an aggregate": thing & _is_under_aggregate(sentences, first),
        # In "as a man stands on stage" a clause begins.
        "in a role": _is_governed_by(sentences, places, "role") & ~around.tag(1).is_in(["VBZ", "VBP", "VBD"]),
        "no particular ones": _is_generic(around, sentences, places),
        "no single event": _is_habit(sentences, places),
        "about words": _has_word(sentences, places, "word"),
        "limited to it": _has_word(sentences, places, "limit"),
        "of no place": _is_of_no_place(around, places),
        "has an object": _has_object(around, places),
        "a language": (places["category"] == "nationalities") & _has_word(sentences, places, "language"),
    }


def _reasons_against_kinds(around: Neighbours, sentences: Sentences, places: pl.DataFrame) -> dict[str, pl.Series]:
    location = places["category"].is_in(["countries", "cities", "us-states"])
    nationality = places["category"] == "nationalities"
    return {
        # A small elephant is not a small animal.
        "relative adjective": around.is_noun & _is_after(around, "relative"),
        # Eastern Afghanistan is not in eastern Asia, nor is ancient Egypt in ancient Africa.
        "part of a place": location & (_is_after(around, "direction") | (around.tag(-1) == "JJ")),
        # The French number one need not be the European one, but a French player is a European one.
        "one of its kind": nationality & ~(around.word(-1).is_in(["a", "an"]) | (around.tag(-1) == "CD")),
        # Of 40 million people that there are, 40 million cannot be women.
        "a total": around.word(-1).is_in(["hundred", "thousand", "million", "billion", "trillion"]),
        "no single event": (places["category"] == "times-of-day") & _has_word(sentences, places, "frequency"),
        "said of what is there": _is_in_subject_of_state(around, sentences, places),
        # Nearly 90 % of the amphibians are frogs, and all are amphibians.
        "a share": _is_in_phrase_of(sentences, places["first"].to_numpy(), sentences.lower.is_in(_SHARES), _STOP),
        "any one": _is_any_one(around, sentences, places),
    }


def _is_any_one(around: Neighbours, sentences: Sentences, places: pl.DataFrame) -> pl.Series:
    """Whether *a* may mean any: *it exercises a person's ability*, *while a person is asleep*, *the cause of a car*."""
    single = pl.Series([False]).new_from_index(0, places.height)
    for step in (1, 2, 3):
        single |= around.word(-step).is_in(["a", "an"]) & (pl.Series(places["first"] - 1 - around.governor()) >= step)
    verbs = _verbs(sentences, places)
    owner = around.word(1).is_in(["'s", "’s"]) & (single | (around.word(-1) == "the"))
    governed = single & around.governor_word().is_in(["while", "when", "if", "of", "than", "as"])
    return (owner | governed) & verbs["finite"] & ~verbs["event"]


def _is_in_subject_of_state(around: Neighbours, sentences: Sentences, places: pl.DataFrame) -> pl.Series:
    """Whether a place is in what a text describes: *security in Chile is strong* does not tell of South America."""
    verbs = _verbs(sentences, places)
    tag = sentences.frame["tag"]
    earlier = _is_in_phrase_of(sentences, places["first"].to_numpy(), tag.str.starts_with("V") | (tag == "MD"), _STOP)
    adverbial = around.word(-2).is_in(SENTENCE_STARTS) | around.word(-3).is_in(SENTENCE_STARTS)
    inside = (around.word(-1) == "in") | ((around.word(-1) == "the") & (around.word(-2) == "in"))
    stated = verbs["finite"] & ~verbs["event"] & ~earlier & ~adverbial & inside
    return stated & places["category"].is_in(["countries", "cities", "us-states"])


def _reasons_against_changes(around: Neighbours, sentences: Sentences, places: pl.DataFrame) -> dict[str, pl.Series]:
    alone = [name for name in category_names() if category(name).alone]
    several = (pl.col("first").n_unique().over("text", "category") > 1) & pl.col("category").is_in(alone)
    return {
        "another item of the list": places.select(several).to_series(),
        "described": around.is_described(),
        "tied to its context": _is_tied(sentences, places),
        "named": around.word(1).is_in(["called", "named", "titled", "entitled", "known"]),
    }


def _reasons_against_opposites(around: Neighbours, sentences: Sentences, places: pl.DataFrame) -> dict[str, pl.Series]:
    """Reasons why the same may be true of another thing, too."""
    return {
        "not the only one": _follows(around, "focus"),
        # What the British have not revealed the Australians may not have revealed, either.
        "denied": _has_word(sentences, places, "denial"),
        "no single event": _is_custom(around, sentences, places)
        | _is_state(around, sentences, places)
        | _has_word(sentences, places, "frequency"),
        "said of some": _is_said_of_some(sentences, places),
        "says which ones": _says_which(around, sentences, places),
        "nothing definite": _is_indefinite_in_prose(sentences, places),
    }


def _is_indefinite_in_prose(sentences: Sentences, places: pl.DataFrame) -> pl.Series:
    """Whether an adjective in a long text that is no caption describes nothing definite.

    *The firm posted annual profits*, *it was due to dishonest practices*: there may be monthly profits and honest
    practices, too. So may *its foreign debt* be one of two. A caption tells of all that is to be seen, *he built a tall
    tower* of the tower that he built, and what something is said to be is definite: *Hauer was an important composer*.
    """
    around = Neighbours(sentences, places)
    things = [*NOUNS, "VBG"]
    at_once, later = around.tag(1).is_in(things), around.tag(1).is_in(["JJ", "VBN", ","]) & around.tag(2).is_in(things)
    further = around.tag(1).is_in(["JJ"]) & around.tag(2).is_in(["JJ", "VBN"]) & around.tag(3).is_in(things)
    attribute = inside = (places["slot"] == "adjective") & (at_once | later | further)
    noun = around.word(1).zip_with(at_once, around.word(2).zip_with(later, around.word(3)))
    determined = predicate = single = attribute & False
    for step in range(1, _LONGEST_PHRASE + 1):
        word, tag = around.word(-step), around.tag(-step)
        article = word.is_in(["a", "an"])
        single |= inside & (article | (tag == "CD"))
        determined |= inside & (word.is_in(_DEFINITES) | tag.is_in(["PRP$", "POS"]) | word.str.ends_with("'s"))
        before = _is_copula(around.word(-step - 1), around.tag(-step - 1))
        predicate |= inside & (_is_copula(word, tag) | (article & before))
        inside &= tag.is_in([*_MODIFIERS, *NOUNS, "RB", ","]) & ~tag.is_in(["DT", "PRP$", "POS"])
    determined |= single & noun_kinds(noun).is_in(_CONCRETE)
    classifying = places["item"].is_in(pl.concat(map(place_words, ("classifying", "several"))).implode())
    open_phrase = _is_prose(sentences, places) & ~determined
    kind = _is_prose(sentences, places, longest_caption=_SHORTEST_PROSE) & classifying
    return attribute & ~predicate & (open_phrase | kind)


def _is_copula(words: pl.Series, tags: pl.Series) -> pl.Series:
    # The tag tells "it's" from "the firm's".
    return words.is_in(_COPULAS) & tags.str.starts_with("VB")


def _is_prose(sentences: Sentences, places: pl.DataFrame, *, longest_caption: int = _LONGEST_CAPTION) -> pl.Series:
    """Whether the text of each place is long and tells of the past, or too long for a caption in the progressive."""
    tag, lower = sentences.frame["tag"], sentences.lower
    perfect = (tag == "VBN") & lower.shift(1).is_in(["has", "have", "had", "been"])
    told = tag.is_in(["VBD", "MD"]) | perfect.fill_null(value=False)
    words, past, progressive = (
        np.bincount(sentences.text, flags, minlength=len(sentences.texts))[places["text"].to_numpy()]
        for flags in (None, told.to_numpy(), (tag == "VBG").to_numpy())
    )
    return pl.Series((words > _SHORTEST_PROSE) & ((past > 0) | ((words > longest_caption) & (progressive == 0))))


def _is_said_of_some(sentences: Sentences, places: pl.DataFrame) -> pl.Series:
    """Whether a clause tells of some things before the place: *some evidence from public records was useful*.

    Others may be otherwise, as where a relative clause says which: *the teams that had played badly left*. In the
    progressive they are what a picture shows: *some women are dancing*.
    """
    tag, lower = sentences.frame["tag"], sentences.lower
    some = lower.is_in(place_words("some").implode()) & tag.is_in(["DT", "JJ"])
    progressive = (tag == "VBG") & lower.shift(1).is_in(["is", "are", "was", "were", "'s", "'re"])
    shown = _has_token(sentences, places, progressive)
    relative = tag.is_in(["WDT", "WP"]) & (lower.shift(1) != ",")
    first = places["first"].to_numpy()
    described = _is_in_phrase_of(sentences, first, relative, _STOP_OR_COMMA)
    return (_is_in_phrase_of(sentences, first, some, _CLAUSE_ENDS) | described) & ~shown


def _is_of_no_place(around: Neighbours, places: pl.DataFrame) -> pl.Series:
    """Whether a preposition of place governs no thing: *the man behind the kidnapping*, *near the end of the war*.

    Or what is there is none: *the reason behind the wall*.
    """
    head = pl.Series([""], dtype=pl.String).new_from_index(0, places.height)
    inside = places["slot"] == "preposition"
    for step in range(1, 6):
        inside = inside & (around.tag(step).is_in([*_MODIFIERS, *NOUNS]) | (around.word(step) == "of"))
        head = around.word(step).zip_with(inside & around.tag(step).is_in(NOUNS), head)
    nowhere = noun_kinds(head).is_in(_NO_THINGS) | head.is_in(["beginning", "start", "middle", "end"])
    behind = (places["item"] == "behind") & around.tag(-1).is_in(NOUNS)
    nowhere |= behind & noun_kinds(around.word(-1)).is_in(["cognition", "motive"])
    return places["item"].is_in(place_words("place").implode()) & nowhere


def _has_object(around: Neighbours, places: pl.DataFrame) -> pl.Series:
    """Whether a verb that takes no object in the sense of its list has one: *she succeeded her father*."""
    listed = places["item"].is_in(place_words("without object").implode())
    passive = (places["slot"] == "participle") & (around.word(1) == "by")
    object_follows = around.tag(1).is_in(["DT", "PRP$", "CD", "PRP", *NOUNS])
    object_follows |= (around.tag(1) == "JJ") & around.tag(2).is_in(NOUNS) & (around.word(1) != "next")
    return listed & (object_follows | passive)


def _says_which(around: Neighbours, sentences: Sentences, places: pl.DataFrame) -> pl.Series:
    """Whether a word only says which ones a sentence is about, so that the same may be true of others.

    *Natural deposits were found* does not deny that artificial ones were, *the first landing used a camera* that the
    third did, nor *the early years were hard* that the late ones were. Of a person or animal, and of what *the* or *a*
    goes before, other words tell what it is like. *Male behavior* and *the final rule* are some of several anywhere.
    """
    rank = (places["category"] == "ordinals") & (places["slot"] == "ordinal")
    rank |= (places["slot"] == "adjective") & places["item"].is_in(place_words("part").implode())
    where = places["item"].is_in(place_words("place").implode()) & around.tag(-1).is_in(["NNS", "NNPS"])
    noun = around.word(1).zip_with(around.tag(1).is_in(NOUNS), around.word(2))
    tag = around.tag(1).zip_with(around.tag(1).is_in(NOUNS), around.tag(2))
    noun = noun.zip_with(~where, around.word(-1))
    undetermined = ~(around.tag(-1).is_in(DETERMINERS) | (around.tag(-1).is_in(_MODIFIERS)))
    bare = (places["slot"] == "adjective") & undetermined & tag.is_in(["NNS", "NNPS", "NN"])
    living = noun_kinds(noun).is_in(["person", "animal"]) | noun.is_in(place_words("person").implode())
    begins, fronted = _begins_clause(sentences, places["first"].to_numpy())
    item = places["item"]
    listed = (item.is_in(place_words("classifying").implode()) & bare) | item.is_in(place_words("stage").implode())
    anywhere = listed & (places["slot"] == "adjective") & around.tag(1).is_in(NOUNS) & ~living
    return (begins & (rank | ((bare | where) & ~living))) | (fronted & bare) | anywhere


def _begins_clause(sentences: Sentences, first: Places) -> tuple[pl.Series, pl.Series]:
    """Whether each place is in the noun phrase that begins its clause, and whether in the phrase of one before it."""
    tag, lower = sentences.frame["tag"], sentences.lower
    inside = (tag.is_in([*_MODIFIERS, *NOUNS]) & (tag != "VBG")).to_numpy()
    numbers = np.arange(len(inside))
    last_outside = np.maximum.accumulate(np.where(inside, -1, numbers))[np.maximum(first - 1, 0)]
    starts = np.searchsorted(sentences.text, sentences.text[first])
    at_start = (first == starts) | (last_outside < starts)
    stops = (tag.is_in([".", ":", ",", "CC"]) | lower.is_in(["that", "because", "while", "although"])).to_numpy()
    begins = at_start | stops[np.maximum(last_outside, 0)]
    before = np.maximum(last_outside - 1, 0)
    opens = (last_outside == starts) | (stops[before] & (tag[before].is_in([".", ":"]).to_numpy()))
    fronted = ~begins & (tag == "IN").to_numpy()[np.maximum(last_outside, 0)] & opens
    return pl.Series(begins), pl.Series(fronted)


def _is_after(around: Neighbours, name: str) -> pl.Series:
    """Whether a word of a list stands among the modifiers of each noun."""
    words = place_words(name).implode()
    flags = around.word(-1).is_in(words)
    modified = around.tag(-1).is_in(["JJ", "JJS", "JJR", "CD", "VBN", "VBG", *NOUNS])
    for step in (2, 3):
        flags |= modified & around.word(-step).is_in(words)
        modified &= around.tag(-step).is_in(["JJ", "JJS", "JJR", "CD", "VBN", "VBG", *NOUNS])
    return flags


def _follows(around: Neighbours, name: str) -> pl.Series:
    """Whether a word of a list is one of the three words before each place."""
    words = place_words(name).implode()
    return around.word(-1).is_in(words) | around.word(-2).is_in(words) | around.word(-3).is_in(words)


def _is_under_aggregate(sentences: Sentences, first: Places) -> pl.Series:
    """Whether a place is in the phrase of a noun of kind, or in the clause of one of amount, measure or change.

    *The return on assets in the United States exceeded …* says nothing of North America, nor *most of the women left
    the house* of people.
    """
    table = packaged_table("lexical/aggregates.tsv")
    governs = sentences.frame["tag"].shift(-1).is_in(["IN", "TO"])
    kinds, amounts = (
        sentences.lower.is_in(table.filter((pl.col("kind") == "kind") == is_kind)["word"].implode()) & governs
        for is_kind in (True, False)
    )
    return _is_in_phrase_of(sentences, first, kinds) | _is_in_phrase_of(sentences, first, amounts, _CLAUSE_ENDS)


def _is_in_comparison(sentences: Sentences, first: Places) -> pl.Series:
    """Whether a place is in the phrase of a comparison or rank: *the longest ski slope in Europe*."""
    tag = sentences.frame["tag"]
    equal = sentences.lower.is_in(["as", "so", "too"]) & tag.shift(-1).is_in(["JJ", "RB"])
    words = [*place_words("common"), "only", "first", "last", "sole"]
    heads = tag.is_in(["JJS", "RBS", "JJR", "RBR"]) | sentences.lower.is_in(words) | equal
    return _is_in_phrase_of(sentences, first, heads)


def _is_in_phrase_of(
    sentences: Sentences, first: Places, heads: pl.Series, ends: Sequence[str] = _PHRASE_ENDS
) -> pl.Series:
    """Whether no word with one of the tags ``ends`` is between each place and the nearest earlier head in its text."""
    numbers = np.arange(len(sentences.text))
    starts = np.diff(sentences.text, prepend=-1) != 0
    # "Coal-fired" may be tagged as a verb.
    stops = (sentences.frame["tag"].is_in(ends) & ~sentences.lower.str.contains(r"\w-\w")).to_numpy() | starts
    last_head = np.maximum.accumulate(np.where(heads.fill_null(value=False).to_numpy(), numbers, -1))
    last_stop = np.maximum.accumulate(np.where(stops, numbers, -1))
    before = np.maximum(first - 1, 0)
    # A head that begins the text is where the text starts, too.
    return pl.Series(
        (last_head[before] >= last_stop[before]) & (sentences.text[before] == sentences.text[first]) & (first > 0)
    )


def _is_governed_by(sentences: Sentences, places: pl.DataFrame, name: str) -> pl.Series:
    """Whether a word of a list governs each place: *became a man*, *dressed as a clown*."""
    governed = governing_words(sentences, places).filter(pl.col("before").is_in(place_words(name).implode()))
    return pl.int_range(places.height, eager=True, dtype=pl.UInt32).is_in(governed["row"].implode())


def _is_generic(around: Neighbours, sentences: Sentences, places: pl.DataFrame) -> pl.Series:
    """Whether plurals without an article may stand for all of a kind: *people remember*, *I hate pigeons*.

    So may what an adjective describes: *unrestricted trade will help*.
    """
    adjective = (places["slot"] == "adjective") & around.tag(1).is_in(NOUNS)
    determined = around.tag(-1).is_in(DETERMINERS) | (
        around.tag(-1).is_in(["JJ", "VBN", "VBG"]) & around.tag(-2).is_in(DETERMINERS)
    )
    bare = (places["slot"].is_in(_PLURALS) | adjective) & ~determined
    shift = adjective | (around.tag(1) == "RB")
    word = [around.word(1).zip_with(~shift, around.word(2)), around.word(2).zip_with(~shift, around.word(3))]
    tag = [around.tag(1).zip_with(~shift, around.tag(2)), around.tag(2).zip_with(~shift, around.tag(3))]
    event = tag[1].is_in(["VBG"]) | (word[0].is_in(["have", "are"]) & (tag[1] == "VBN") & ~adjective)
    state = ((tag[0] == "MD") | word[0].is_in(place_words("state").implode())) & ~event
    opens = around.word(-1).is_in(SENTENCE_STARTS)
    generic = state | (opens & (around.word(1) == "of")) | _is_governed_by(sentences, places, "attitude")
    generic |= _has_word(sentences, places, "frequency") & ~places["slot"].is_in(["mass"])
    generic |= around.word(1).is_in(["who", "that"]) | (~opens & (tag[0] == "VBP") & ~event)
    # Who studies law does not study physics.
    return bare & generic & (places["category"] != "school-subjects")


def _is_habit(sentences: Sentences, places: pl.DataFrame) -> pl.Series:
    """Whether a text may describe a habit, for categories that require a single event.

    It does not if it has no finite verb, or one in the past tense or the progressive: *is walking*.
    """
    matters = [name for name in places["category"].unique() if category(name).events]
    verbs = _verbs(sentences, places)
    return places["category"].is_in(matters) & ((verbs["finite"] & ~verbs["event"]) | verbs["simple"])


def _is_state(around: Neighbours, sentences: Sentences, places: pl.DataFrame) -> pl.Series:
    """Whether a text tells of no event, so that the same may be true of another place or the next in a row.

    For names of places: it has no verb but *be*, *have* and modal verbs. For ranks at the beginning: it has none but
    in the present, as *the second objection is visceral*.
    """
    verbs = _verbs(sentences, places)
    still = verbs["finite"] & ~verbs["event"]
    opens = (places["category"] == "ordinals") & around.word(-2).is_in(SENTENCE_STARTS)
    return (places["category"].is_in(["countries", "cities", "us-states"]) & still & ~verbs["simple"]) | (opens & still)


def _verbs(sentences: Sentences, places: pl.DataFrame) -> pl.DataFrame:
    """Whether the sentence of each place has a finite verb in the present, an event, a full verb in the present."""
    tag, lower = sentences.frame["tag"], sentences.lower
    auxiliary = lower.is_in(["is", "are", "'s", "'re", "am", "'m", "has", "have", "'ve", "do", "does"])
    flags = {
        "finite": tag.is_in(["VBZ", "VBP", "MD"]),
        "event": (tag == "VBD") | ((tag == "VBG") & auxiliary.shift(1)),
        "simple": tag.is_in(["VBZ", "VBP"]) & ~auxiliary,
    }
    return pl.DataFrame({name: _has_token(sentences, places, flag) for name, flag in flags.items()})


def _has_word(sentences: Sentences, places: pl.DataFrame, name: str) -> pl.Series:
    """Whether the sentence of each place has a word of a list."""
    return _has_token(sentences, places, sentences.lower.is_in(place_words(name).implode()))


def _has_token(sentences: Sentences, places: pl.DataFrame, flags: pl.Series) -> pl.Series:
    """Whether the sentence of each place has a token with a flag."""
    numbers = pl.Series(sentences.sentence)
    flagged = numbers.filter(flags.fill_null(value=False)).unique()
    return numbers.gather(places["first"]).is_in(flagged.implode())


def _is_custom(around: Neighbours, sentences: Sentences, places: pl.DataFrame) -> pl.Series:
    """Whether a text may tell what is always done: the simple present with a pronoun, or with a plural of no article.

    *He makes films in London*, *in restaurants she empties the bread basket*: the same may happen elsewhere, too.
    """
    tag, lower = sentences.frame["tag"], sentences.lower
    auxiliary = lower.is_in(["is", "are", "am", "'s", "'re", "'m", "has", "have", "'ve", "do", "does"])
    present = tag.is_in(["VBZ", "VBP"]) & ~auxiliary
    pronoun = (tag.shift(1) == "PRP") | ((tag.shift(1) == "RB") & (tag.shift(2) == "PRP"))
    listed = places["category"].is_in(_LOCATIONS)
    bare = places["slot"].is_in(_PLURALS) & ~around.tag(-1).is_in([*DETERMINERS, "JJ"])
    by_pronoun, in_present = (
        places["text"].is_in(pl.Series(sentences.text).filter(flags.fill_null(value=False)).unique().implode())
        for flags in (present & pronoun, present)
    )
    return listed & (by_pronoun | (bare & in_present & around.governor_word().is_in(["in", "at", "on"])))


def _is_tied(sentences: Sentences, places: pl.DataFrame) -> pl.Series:
    """Whether the text has another word that goes with this item only."""
    tied = _tied_words(tuple(places["category"].unique().sort()))
    forms = sentences.word_forms.select("word", tied="form")
    rows = places.select("text", "category", "item", "first", "last").with_row_index("row")
    return has_elsewhere(sentences, rows.join(tied, on=["category", "item"]).join(forms, on="tied"), places.height)


@cache
def _tied_words(names: tuple[str, ...]) -> pl.DataFrame:
    """The words that go with one item only: columns category, item and tied."""
    items = [category(name).items.select("item", "tied", category=pl.lit(name)) for name in names]
    return pl.concat(items).explode("tied").filter(pl.col("tied") != "")


_DEFINITE = ("the", "this", "that", "these", "those", "his", "her", "its", "their", "my", "your", "our", "'s")
_CROSSED = ("to", "that", "for", "than", "because", "just", "only", "mind", "but", ";", ":", ",", "who", "which")
"""Words over which a denial does not reach: *it is not hard to imagine a message*."""
_NEAR = 7
"""How many words before a place may stand what turns it."""
_BEFORE_NOUNS = ("JJ", "JJR", "JJS", "CD", "VBN", "VBG", "RB", *NOUNS)
_PRESUPPOSING = r"(?i)\b(?:since|when|whenever|until|till|before|once)\b[^.;!?]*$"
"""What begins a clause that may tell of another event: *since communism closed shop in Russia*."""
_DENIED = r"(?i)(?:\b(?:not|never|nobody|nothing|none|neither|nor|no|without|cannot)\b|n['’]t\b)[^.;!?]*$"
_VERBS = ("base", "third", "gerund", "past", "participle")
_ASKING = r"^[^.!?;]*\?"
_OPEN_QUOTE = r"(?:^|[\s(])['‘`][^'’]*$"


def polarities(sentences: Sentences, places: pl.DataFrame) -> pl.DataFrame:
    """The ``polarity`` of each place, whether it is ``asserted``, and the ``reason`` not to replace its word, or null.

    ``places`` are as ``find_occurrences`` returns them. Where the context is not sure the polarity is *none* and
    nothing is asserted: in conversations and commands, and where a word turns the place that the context leaves upward.
    """
    # An expression has the context of its last word, which is mostly its head.
    context = sentences.contexts(places["last"].to_numpy())
    # A rank (*the second*) says of its own place that it is not monotone; ranks and times exclude each other even so.
    ranked = context["by"].str.starts_with("the ") & places["category"].is_in(NUMBERS_AND_TIMES)
    context = context.with_columns(polarity=pl.when(ranked).then(pl.lit("up")).otherwise("polarity"))
    whole = sentences.texts.gather(places["text"])
    starts, ends = sentences.frame["start"], sentences.frame["end"]
    before, after = whole.str.slice(0, starts.gather(places["first"])), whole.str.slice(ends.gather(places["last"]))
    downward = _is_plainly_downward(sentences, places, context)
    doubtful = (context["polarity"] == "down") & ~downward
    doubtful |= (context["polarity"] == "up") & _may_be_turned(sentences, places)
    doubtful |= doubts(sentences.texts, ["conversation"]).is_not_null().gather(places["text"])
    doubtful |= (context["clause"] == "command") | before.str.contains(_obstacles())
    presupposed = (context["clause"] != "main") & before.str.contains(_PRESUPPOSING)
    presupposed |= (context["clause"] == "fragment") & _opens_with_gerund(sentences).gather(places["text"])
    # What the parse leaves upward after a denial may be denied all the same.
    denied = (context["polarity"] != "down") & before.str.contains(_DENIED)
    named = pl.col("phrase").is_in(["name", "title"]) & ~places["item"].str.contains(r"^\p{Lu}")
    # "In front of" and "at night" are fixed as a whole, and replaced so; "run through" is as good as "walk through".
    replaced = (
        (places["last"] > places["first"]) | (places["category"] == "times-of-day") | places["slot"].is_in(_VERBS)
    )
    return context.select(
        polarity=pl.when(doubtful).then(pl.lit("none")).otherwise("polarity"),
        asserted=pl.col("asserted") & ~doubtful & ~presupposed & ~denied,
        reason=pl.coalesce(
            pl.when(pl.col("clause").is_in(["question", "quotation"])).then("clause"),
            pl.when(after.str.contains(_ASKING)).then(pl.lit("question")),
            pl.when(before.str.contains(_OPEN_QUOTE)).then(pl.lit("quotation")),
            pl.when(named | (pl.col("phrase").is_in(["idiom", "fixed"]) & ~replaced)).then("phrase"),
        ),
    )


def _opens_with_gerund(sentences: Sentences) -> pl.Series:
    """Whether each text begins with a form in *-ing*, which has no subject: *driving a car*."""
    tags = sentences.frame.group_by("text", maintain_order=True).agg(pl.col("tag").first())
    texts = tags.filter(pl.col("tag") == "VBG")["text"]
    return pl.int_range(len(sentences.texts), eager=True).is_in(texts.cast(pl.Int64).implode())


@cache
def _obstacles() -> str:
    """A pattern for words that keep something from being: *a hard time finding jeans*."""
    return rf"(?i)\b(?:{'|'.join(map(re.escape, place_words('obstacle')))})\b[^.;!?]*$"


def _may_be_turned(sentences: Sentences, places: pl.DataFrame) -> pl.Series:
    """Whether a quantifier determines the noun phrase of each place, or a denial stands in its clause before it."""
    around = Neighbours(sentences, places)
    quantifiers, denials = (place_words(name).implode() for name in ("quantifier", "denial"))
    inside = around.word(-1) != ""
    quantified = inside & False
    for step in (1, 2, 3, 4):
        quantified = quantified | (inside & around.word(-step).is_in(quantifiers))
        inside = inside & around.tag(-step).is_in(_BEFORE_NOUNS)
    return quantified | _reaches(around, lambda word: word.is_in(denials))


def _is_plainly_downward(sentences: Sentences, places: pl.DataFrame, context: pl.DataFrame) -> pl.Series:
    """Whether a word shortly before each place turns it, in an asserted clause: *no dog*, *is not riding a horse*.

    After *all* and *every* only their own noun is downward. A thing spoken of with *the* is the same thing under *not*.
    """
    around = Neighbours(sentences, places)
    by, one, two = context["by"], around.word(-1), around.word(-2)
    denied = by.is_in(place_words("denial").implode()) & _reaches(around, lambda word: word == by)
    modified = around.tag(-1).is_in(["JJ", "CD", "NN"])
    definite = one.is_in(_DEFINITE) | (modified & two.is_in(_DEFINITE))
    direct = by.is_in(["all", "every"]) & ((one == by) | (modified & (two == by)))
    plain = context["asserted"] & context["clause"].is_in(["main", "relative", "fragment"])
    return (context["polarity"] == "down") & plain & (direct | (denied & ~definite))


def _reaches(around: Neighbours, is_wanted: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """Whether a wanted word is among the last before each place, with none of ``_CROSSED`` between."""
    crossed = reached = around.word(0) == ""
    for step in range(1, _NEAR + 1):
        word = around.word(-step)
        reached = reached | (~crossed & is_wanted(word))
        crossed = crossed | word.is_in(_CROSSED)
    return reached
