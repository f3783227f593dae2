"""Finds where a noun may be replaced by a wider or a narrower one, and the reasons elsewhere.

A place counts as upward monotone if its noun stands alone (no compound, no list, no adjective that depends on the noun)
with an article or a number, is governed by a verb or preposition, or is what a caption is about (*women are singing*),
in an asserted clause and a text without negation, question, condition, modality, belief, measure, comparison or time
boundary. There a noun entails its hypernym and is neutral to its hyponyms. A place counts as downward monotone if it is
one but for a single *no*, *not* or *never* that has it in its scope; there a noun entails its hyponyms. Any other place
may be monotone or not.
"""

from __future__ import annotations

from functools import cache

import polars as pl

from acidtest.english.sentences import Neighbours, Places, Sentences, doubts
from acidtest.english.wordnet import noun_kinds
from acidtest.io.wordlists import packaged_table, word_list

_DOUBTS = (
    "question", "modality", "belief", "conditional", "coordination", "comparison", "habit", "focus", "conversation",
    "quotation", "plurality", "downward", "attitude",
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
_NEGATIONS = ("no", "not", "n't", "n’t", "never")
_NEGATION = (
    r"(?i)\b(?:no|not|never|neither|nor|none|nobody|nothing|nowhere|cannot|without|hardly|barely|rarely|seldom)\b|"
    r"n['’]t\b"
)
_CLAUSES = r"(?i)[,;:]|\b(?:who|which|that|because|while|when|where|since|as)\b"
_AGGREGATES = (
    r"(?i)\b(?:number of|amount|availability|capacity|rates? of|levels? of|fans? of|feelings?|depend\w*|"
    r"(?:love|hate|fear|prefer)[sd]?)\b"
)
"""Amounts, and what is felt: who is fond of dogs need not be fond of animals."""
_OTHERS = r"(?i)\b(?:others?|another|each|every|most|different|same|else)\b"


def monotone_places(sentences: Sentences, starts: pl.Series) -> pl.DataFrame:
    """For the noun that begins at a character of each text: ``doubt``, ``kind``, ``modifier`` and ``polarity``.

    ``doubt`` is the first reason why the place may not be monotone, null if there is none. ``kind`` is the noun's form
    there: ``one`` with *a* or *no*, ``known`` with *the*, ``plural``, or ``bare``. ``modifier`` is the word before it.
    ``polarity`` is ``up`` or ``down``, null where there is a doubt.
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
    reasons = {
        "not found again": first.is_null(),
        **_doubts_about_the_noun(around, kind),
        "superlative or comparative": text.is_in(compared.cast(pl.Int64).implode()),
        **_doubts_about_the_governor(sentences, around, kind, text=text.to_numpy(), plural=plural),
        "measure": texts.str.contains(r"\d"),
        "in person": (kind == "bare") & (around.word(0) == "person"),
        "negation": texts.str.contains(_DENIALS),
        "quantifier": texts.str.contains(_OTHERS),
        "attitude": texts.str.contains(_AGGREGATES),
        "tied to its context": texts.str.contains(_OF_ONE_KIND) | _is_classed(sentences, text, place),
        # "A body of water" may be misspelt.
        "of something": around.word(1) == "of",
    }
    flagged = [pl.when(flags.fill_null(value=False)).then(pl.lit(reason)) for reason, flags in reasons.items()]
    doubt = pl.select(pl.coalesce(*flagged, doubts(texts, _DOUBTS))).to_series()
    # A *no* belongs to its noun; what *not* has in its scope is clear only in a single clause.
    is_near = has_article(around, ("no",)) | ~(texts.str.contains(_CLAUSES) | texts.str.contains(r"(?i)\bno\b"))
    plain = pl.DataFrame({"doubt": doubt, "kind": kind, "place": place, "is_near": is_near}).with_row_index("row")
    return plain.join(_scopes(sentences, plain), on="row", how="left", maintain_order="left").select(
        pl.coalesce("doubt", "scope_doubt").alias("doubt"), "kind", around.word(-1).alias("modifier"), "polarity"
    )


def _is_classed(sentences: Sentences, text: pl.Series, place: pl.Series) -> pl.Series:
    """Whether a text says later on what kind of thing something is: in *the people here are adults* none is a child."""
    frame = pl.DataFrame({"text": sentences.text, "word": sentences.lower, "tag": sentences.frame["tag"]})
    frame = frame.with_row_index("at").with_columns(
        (pl.col("tag").shift(-step).over("text").fill_null("").alias(f"tag{step}") for step in (1, 2, 3)),
        before=pl.col("tag").shift(1).over("text").fill_null(""),
    )
    is_noun = {step: pl.col(f"tag{step}").is_in(_COMMON_NOUNS) for step in (1, 2, 3)}
    opens = pl.col("tag1").is_in(["DT", "JJ", "RB"])
    classes = is_noun[1] | (opens & (is_noun[2] | (pl.col("tag2").is_in(["DT", "JJ"]) & is_noun[3])))
    being = pl.col("word").is_in(["is", "are", "was", "were"]) & (pl.col("before") != "EX")
    last = frame.filter(being & classes).group_by("text").agg(last=pl.col("at").max().cast(pl.Int64))
    joined = pl.DataFrame({"text": text.cast(pl.Int64), "place": place}).join(
        last, on="text", how="left", maintain_order="left"
    )
    return joined.select((pl.col("last") > pl.col("place")).fill_null(value=False)).to_series()


def _scopes(sentences: Sentences, places: pl.DataFrame) -> pl.DataFrame:
    """The polarity of the places without a doubt, or why it is not sure: columns row, scope_doubt and polarity.

    A text is parsed only where nothing else speaks against its place.
    """
    chosen = places.filter(pl.col("doubt").is_null())
    contexts = sentences.contexts(chosen["place"].to_numpy().astype("int64"))
    negations = sentences.texts.gather(chosen["row"]).str.count_matches(_NEGATION)
    frame = chosen.select("row").hstack([contexts["polarity"], contexts["by"], contexts["asserted"]])
    frame = frame.with_columns(chosen["kind", "is_near"], negations=negations)
    is_up = (pl.col("polarity") == "up") & (pl.col("negations") == 0)
    is_negated = pl.col("by").is_in(_NEGATIONS) & (pl.col("negations") == 1) & (pl.col("kind") != "known")
    is_down = (pl.col("polarity") == "down") & is_negated & pl.col("is_near")
    scope_doubt = (
        pl.when(~pl.col("asserted"))
        .then(pl.lit("not asserted"))
        .when(~is_up & ~is_down)
        .then(pl.when(pl.col("negations") > 0).then(pl.lit("negation")).otherwise(pl.lit("not monotone")))
    )
    return frame.select(
        "row", scope_doubt=scope_doubt, polarity=pl.when(is_up | is_down).then("polarity")
    ).with_columns(polarity=pl.when(pl.col("scope_doubt").is_null()).then("polarity"))


def _doubts_about_the_noun(around: Neighbours, kind: pl.Series) -> dict[str, pl.Series]:
    """Reasons found in the noun and the words next to it, in the order in which they count."""
    # "An official boxing match".
    boxing = (around.tag(1) == "VBG") & around.tag(2).is_in(_COMMON_NOUNS) & (kind == "one")
    # "A baby blue uniform".
    modifies = (around.tag(1) == "JJ") | ((around.tag(1) == "VBG") & (kind == "bare")) | boxing
    # A word between the noun and its article or governor whose meaning may depend on the noun: "a small elephant".
    describes = ["JJ", "VBN", "VBG", "VBD", "RB", "NN", "NNS", "FW"]
    described = around.tag(-1).is_in(describes) & ~_is_intersective(around.word(-1))
    described |= _is_intersective(around.word(-1)) & (around.tag(-2) == "JJ") & ~_is_intersective(around.word(-2))
    governs = around.tag(-1).is_in(["VBG", "VBD", "VBN"]) & (around.governor_word() == around.word(-1))
    return {
        "another part of speech": ~around.tag(0).is_in(_COMMON_NOUNS),
        "part of a name": around.is_name(),
        "part of a compound": around.is_compound() | modifies,
        "described": described & ~governs,
        "counted": _is_one(around, -1) | (_is_one(around, -2) & _is_intersective(around.word(-1))),
        "in a list": around.is_listed(),
    }


def _doubts_about_the_governor(
    sentences: Sentences, around: Neighbours, kind: pl.Series, *, text: Places, plural: pl.Series
) -> dict[str, pl.Series]:
    """Reasons found in the noun's governor, owner or article, in the order in which they count."""
    governor, tag = around.governor_word(), sentences.tags(around.governor(), of=text)
    # "Women are singing" and "women singing in a church" tell of some women.
    progressive = around.word(1).is_in(["are", "were"]) & (around.tag(2) == "VBG")
    is_caption = (governor == "") & ((around.tag(1) == "VBG") | progressive)
    habit = tag.is_in(["VBZ", "VBP", "VB"]) & ~governor.is_in(_BEING)
    return {
        # Nobody says "their person" for "their instructor".
        "owned": around.tag(-1).is_in(["POS", "PRP$"]) | around.tag(-2).is_in(["POS", "PRP$"]),
        "without an article": (kind == "bare") & (governor == ""),
        "said of all": _is_bare_plural(around, kind) & (governor.is_in(["", ",", "."]) | habit) & ~is_caption,
        "not in agreement": plural & has_article(around, ("a", "an")),
        "in a role": governor.is_in(_IN_A_ROLE),
        "time boundary": governor.is_in(_BOUNDARIES),
        "kind of": (governor == "of") & (around.word(-2).is_in(_KINDS) | around.word(-3).is_in(_KINDS)),
    }


def reveals_sex(texts: pl.Series, words: pl.Series, others: pl.Series) -> pl.Series:
    """Whether a text has another word that reveals a sex, and ``words`` or ``others`` for that row reveals one too.

    In *a person and her dog*, *person* cannot become *man*, and most readers already think of a woman.
    """
    revealing = word_list("telling sex")
    # "Mr." keeps its stop, the last word of a sentence does not.
    rows = zip(texts.str.to_lowercase().str.extract_all(r"\b(?:mrs?|ms)\.|\p{L}+"), words, others, strict=True)
    flags = [
        (word in revealing or other in revealing) and any(name in revealing and name != word for name in text)
        for text, word, other in rows
    ]
    return pl.Series(flags, dtype=pl.Boolean)


def fits_beside(kind: pl.Series, other: pl.Series, lemma: pl.Series) -> pl.Series:
    """Whether a noun found in the form ``other`` can be used in the form ``kind``: *food* cannot become *a food*.

    Persons and animals are always countable; ``lemma`` is the noun itself.
    """
    countable = other.is_in(["one", "plural"]) | _living_kinds(lemma).is_in(["person", "animal"])
    fits = kind.is_in(["one", "plural", "known"]) & countable
    return fits | ((kind == other) & kind.is_in(["known", "bare"]))


def suits_modifier(modifier: pl.Series, lemma: pl.Series) -> pl.Series:
    """Whether a noun may stand after a modifier that stood before another: no *old puppy*, no *Greek food* for yogurt.

    Words that are no intersective adjectives suit every noun.
    """
    frame = pl.DataFrame({"adjective": modifier, "lemma": lemma, "found": _living_kinds(lemma)})
    table = _intersective_adjectives().with_columns(pl.col("nouns").str.split(" "))
    joined = frame.join(table, on="adjective", how="left", maintain_order="left")
    other_kind = (pl.col("kind") != "") & (pl.col("kind") != pl.col("found"))
    other_noun = (pl.col("nouns").list.first() != "") & ~pl.col("nouns").list.contains(pl.col("lemma"))
    return joined.select(~(other_kind | other_noun).fill_null(value=False)).to_series()


def _living_kinds(lemmas: pl.Series) -> pl.Series:
    """The kinds of nouns, with *person*, *people* and *animal* themselves, which WordNet puts above all kinds."""
    top = {"person": "person", "people": "person", "animal": "animal"}
    return lemmas.replace_strict(top, default=noun_kinds(lemmas), return_dtype=pl.String)


def _kinds(around: Neighbours, plural: pl.Series) -> pl.Series:
    flags = {
        "plural": plural,
        "one": has_article(around, ("a", "an", "no")),
        "known": has_article(around, ("the", "this", "that")),
    }
    kinds = [pl.when(flag).then(pl.lit(kind)) for kind, flag in flags.items()]
    return pl.select(pl.coalesce(*kinds, pl.lit("bare"))).to_series()


def has_article(around: Neighbours, articles: tuple[str, ...]) -> pl.Series:
    """Whether one of the articles stands before the noun, or before an intersective adjective of it."""
    one, two = around.word(-1), around.word(-2)
    return one.is_in(articles) | (two.is_in(articles) & _is_intersective(one))


def _is_bare_plural(around: Neighbours, kind: pl.Series) -> pl.Series:
    """Whether a plural has neither article nor number nor *some*."""
    determined = around.tag(-1).is_in(["DT", "CD"]) | (around.word(-1) == "several")
    determined |= _is_intersective(around.word(-1)) & around.tag(-2).is_in(["DT", "CD"])
    return (kind == "plural") & ~determined


def _is_one(around: Neighbours, step: int) -> pl.Series:
    """Whether *one* stands there, which often has a counterpart: *one woman smiles while another sings*."""
    return around.word(step) == "one"


def _is_intersective(words: pl.Series) -> pl.Series:
    """Whether adjectives mean the same beside any noun: a young boy is a young person, a small elephant not small."""
    return words.is_in(_intersective_adjectives()["adjective"].implode())


@cache
def _intersective_adjectives() -> pl.DataFrame:
    """Adjectives, the kind of noun and the nouns that they are intersective for: columns adjective, kind and nouns."""
    colours = packaged_table("lexical/lists/colours.tsv").select(adjective="item", kind=pl.lit(""), nouns=pl.lit(""))
    nationalities = packaged_table("lexical/lists/nationalities.tsv").select(
        adjective=pl.col("item").str.to_lowercase(), kind=pl.lit("person"), nouns=pl.lit("")
    )
    listed = packaged_table("swaps/intersective_adjectives.tsv").select("adjective", "kind", "nouns")
    several = pl.DataFrame({"adjective": ["several"], "kind": [""], "nouns": [""]})
    return pl.concat([listed, colours, nationalities, several]).unique("adjective", keep="first", maintain_order=True)
