"""Finds where a noun may be replaced by a wider one without making a true sentence false, and the reasons elsewhere.

A place counts as upward monotone if its noun stands alone (no compound, no list, no adjective but a colour) with an
article, or is governed by a verb or preposition, in a text without negation, question, condition, modality, belief,
quantifier, number, measure, comparison or time boundary. There a noun entails its hypernym and is neutral to its
hyponyms. Any other place may be upward monotone or not.
"""

from __future__ import annotations

import polars as pl

from acidtest.io.wordlists import packaged_table, word_list
from acidtest.text.sentences import Neighbours, Places, Sentences, doubts

_DOUBTS = (
    "question", "negation", "modality", "belief", "conditional", "coordination", "quantifier", "comparison", "habit",
    "focus", "conversation", "quotation", "plurality", "downward", "attitude",
)  # fmt: skip
_BEING = ("is", "are", "'s", "'re", "has", "have", "be")
_KINDS = (
    "kind", "kinds", "type", "types", "sort", "sorts", "breed", "breeds", "form", "forms", "name", "piece", "part",
)  # fmt: skip
_IN_A_ROLE = ("as", "like", "for", "without", "into", "except", "but", "between", "among", "against", "per")
_DENIALS = (
    r"(?i)\b(?:refusals?|denials?|inability|absence|bans?|banned|forbid\w*|impossible|against|afraid|opposed?|"
    r"void|devoid|empty|deserted|lack(?:s|ed|ing)?|avoid(?:s|ed|ing)?|free (?:of|from))\b"
)
_OF_ONE_KIND = r"(?i)\b(?:bark|meow|purr|neigh|moo|bleat|quack|chirp|gallop|trot|hatch|saddle)(?:s|ed|ing|d)?\b"
"""Words used of one kind of thing only: an animal that barks is a dog."""
_BOUNDARIES = ("before", "after", "since", "until", "till")
_COMMON_NOUNS = ("NN", "NNS")


def upward_places(sentences: Sentences, starts: pl.Series) -> pl.DataFrame:
    """For the noun that begins at a character of each text: ``doubt`` and ``kind``.

    ``doubt`` is the first reason why the place may not be upward monotone, null if there is none. ``kind`` is the
    noun's form there: ``one`` with *a*, ``known`` with *the*, ``plural``, or ``bare``.
    """
    texts = sentences.texts
    tokens = sentences.frame.select("text", pl.col("start").cast(pl.Int64)).with_row_index("first")
    wanted = pl.DataFrame({"start": starts.cast(pl.Int64)}).with_row_index("text").cast({"text": pl.UInt32})
    first = wanted.join(tokens, on=["text", "start"], how="left", maintain_order="left")["first"]
    place = first.fill_null(0).cast(pl.Int64)
    plural = sentences.frame["tag"].gather(place) == "NNS"
    slot = pl.select(pl.when(plural).then(pl.lit("plural")).otherwise(pl.lit("singular"))).to_series()
    item = pl.Series(["thing"]).new_from_index(0, len(texts))
    text = pl.int_range(len(texts), eager=True)
    places = pl.DataFrame({"text": text, "first": place, "last": place, "item": item, "slot": slot})
    around = Neighbours(sentences, places)
    kind = _kinds(around, plural)
    compared = sentences.frame.filter(pl.col("tag").is_in(["JJR", "JJS", "RBR", "RBS"]))["text"].unique()
    # In "the people are adults" the people cannot be children.
    noun = around.tag(2).is_in(_COMMON_NOUNS) | ((around.tag(2) == "DT") & around.tag(3).is_in(_COMMON_NOUNS))
    is_classed = around.word(1).is_in(["is", "are", "was", "were"]) & noun
    reasons = {
        "not found again": first.is_null(),
        **_doubts_about_the_noun(around, kind),
        "superlative or comparative": text.is_in(compared.cast(pl.Int64).implode()),
        **_doubts_about_the_governor(sentences, around, kind, text=text.to_numpy(), plural=plural),
        "measure": texts.str.contains(r"\d"),
        "in person": (kind == "bare") & (around.word(0) == "person"),
        "negation": texts.str.contains(_DENIALS),
        "tied to its context": texts.str.contains(_OF_ONE_KIND) | is_classed,
        # "A body of water" may be misspelt.
        "of something": around.word(1) == "of",
    }
    flagged = [pl.when(flags.fill_null(value=False)).then(pl.lit(reason)) for reason, flags in reasons.items()]
    doubt = pl.select(pl.coalesce(*flagged, doubts(texts, _DOUBTS))).to_series()
    return pl.DataFrame({"doubt": doubt, "kind": kind})


def _doubts_about_the_noun(around: Neighbours, kind: pl.Series) -> dict[str, pl.Series]:
    """Reasons found in the noun and the words next to it, in the order in which they count."""
    # "An official boxing match".
    boxing = (around.tag(1) == "VBG") & around.tag(2).is_in(_COMMON_NOUNS) & (kind == "one")
    # "A baby blue uniform".
    modifies = (around.tag(1) == "JJ") | ((around.tag(1) == "VBG") & (kind == "bare")) | boxing
    # A word other than a colour between the noun and its article or governor.
    described = around.tag(-1).is_in(["JJ", "VBN", "VBG", "VBD", "RB", "NN", "NNS", "FW"])
    described &= ~_is_colour(around.word(-1))
    governs = around.tag(-1).is_in(["VBG", "VBD", "VBN"]) & (around.governor_word() == around.word(-1))
    return {
        "another part of speech": ~around.tag(0).is_in(_COMMON_NOUNS),
        "part of a name": around.is_name(),
        "part of a compound": around.is_compound() | modifies,
        "described": described & ~governs,
        "counted": around.tag(-1).is_in(["CD"]) | around.tag(-2).is_in(["CD"]),
        "in a list": around.is_listed(),
    }


def _doubts_about_the_governor(
    sentences: Sentences, around: Neighbours, kind: pl.Series, *, text: Places, plural: pl.Series
) -> dict[str, pl.Series]:
    """Reasons found in the noun's governor, owner or article, in the order in which they count."""
    governor, tag = around.governor_word(), sentences.tags(around.governor(), of=text)
    habit = tag.is_in(["VBZ", "VBP", "VB"]) & ~governor.is_in(_BEING)
    return {
        # Nobody says "their person" for "their instructor".
        "owned": around.tag(-1).is_in(["POS", "PRP$"]) | around.tag(-2).is_in(["POS", "PRP$"]),
        "without an article": (kind == "bare") & (governor == ""),
        "said of all": (kind == "plural") & (around.tag(-1) != "DT") & (governor.is_in(["", ",", "."]) | habit),
        "not in agreement": plural & around.word(-1).is_in(["a", "an"]),
        "in a role": governor.is_in(_IN_A_ROLE),
        "time boundary": governor.is_in(_BOUNDARIES),
        "kind of": (governor == "of") & (around.word(-2).is_in(_KINDS) | around.word(-3).is_in(_KINDS)),
    }


def reveals_sex(texts: pl.Series, words: pl.Series, others: pl.Series) -> pl.Series:
    """Whether a text has another word that reveals a sex, and ``words`` or ``others`` for that row reveals one too.

    In *a person and her dog*, *person* cannot become *man*, and most readers already think of a woman.
    """
    revealing = word_list("telling sex")
    rows = zip(texts.str.to_lowercase().str.extract_all(r"[\p{L}.]+"), words, others, strict=True)
    flags = [
        (word in revealing or other in revealing) and any(name in revealing and name != word for name in text)
        for text, word, other in rows
    ]
    return pl.Series(flags, dtype=pl.Boolean)


def fits_beside(kind: pl.Series, other: pl.Series) -> pl.Series:
    """Whether a noun found in the form ``other`` can be used in the form ``kind``: *food* cannot become *a food*."""
    countable = kind.is_in(["one", "plural", "known"]) & other.is_in(["one", "plural"])
    return countable | ((kind == other) & kind.is_in(["known", "bare"]))


def _kinds(around: Neighbours, plural: pl.Series) -> pl.Series:
    one, two, colour = around.word(-1), around.word(-2), _is_colour(around.word(-1))

    def has(words: tuple[str, ...]) -> pl.Series:
        return one.is_in(words) | (two.is_in(words) & colour)

    flags = {"plural": plural, "one": has(("a", "an")), "known": has(("the", "this", "that"))}
    kinds = [pl.when(flag).then(pl.lit(kind)) for kind, flag in flags.items()]
    return pl.select(pl.coalesce(*kinds, pl.lit("bare"))).to_series()


def _is_colour(words: pl.Series) -> pl.Series:
    return words.is_in(packaged_table("lexical/lists/colours.tsv")["item"].implode())
