"""The table of opposites, and the places in a sentence where a word may be replaced by its opposite.

A word is replaced only where it says something definite: *the soup was cold*, *the old man slept*, *prices rose*, *he
always sings*. With the opposite there, the sentence cannot be true of the same event. ``Caution`` decides how much the
rest of the sentence matters: ``high`` wants a plain clause without anything that could soften it, ``medium`` an
asserted clause in any sentence, ``low`` also accepts what somebody thinks, says or sees, and generic statements.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

import numpy as np
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import Draws
from acidtest.english.inflection import inflect, replace_span
from acidtest.english.sentences import Sentences, doubts
from acidtest.english.wordnet import noun_kind, wordnet
from acidtest.io.wordlists import packaged_table, word_list

Caution = Literal["high", "medium", "low"]
"""How sure it must be that a word and its opposite contradict each other; from few pairs to many."""

_MAY_BE = {
    "name": frozenset({"person", "location", "group"}),
    "they": frozenset({"person", "animal", "artifact", "group"}),
    "it": frozenset({"animal", "artifact", "communication", "act", "event", "food"}),
}
"""The kinds of things that a name or pronoun may refer to."""

_MAY_BE_IN = {("change", kind): frozenset[str]() for kind in _MAY_BE} | {
    ("result", "it"): frozenset[str](),
    ("result", "name"): frozenset({"group"}),
}
"""The same in places where too much else fits: *it rises* of a river or *grows* of a rose, *stands* of a house."""

_PRONOUN_KINDS = dict.fromkeys(("he", "she", "we", "i", "you", "everyone", "everybody"), "person")
_PRONOUN_KINDS |= dict.fromkeys(("this", "that", "everything"), "it") | dict.fromkeys(("these", "those"), "they")


@dataclass(frozen=True)
class PlainPlace:
    """A plain place of a word: its name, the kind and noun of the thing the word describes, and the word after it.

    A kind is one of WordNet's lexicographer files of nouns (*person*, *artifact*), ``it``, ``they`` or ``name``; empty
    where the place does not show the kind. ``caution`` is the highest at which the word may be replaced there.
    """

    name: str
    kind: str
    after: str
    caution: Caution = "high"
    head: str = ""

    @property
    def is_decisive(self) -> bool:
        """Whether word and antonym cannot both be true here; not for *the old ferry was fast*: a new one may be too."""
        return self.name != "subject" or self.kind in ("person", "animal")


@dataclass(frozen=True)
class Opposite:
    """A word with its opposite in one sense, counted from 1 as WordNet does; 0 where WordNet does not oppose the two.

    ``of`` holds the kinds of things that the sense describes (``*``: any); ``places`` the plain places where the word
    may be replaced, unless a word of ``unless`` follows or is the noun it describes (*a great commercial success*).
    """

    word: str
    antonym: str
    pos: str
    sense: int
    of: frozenset[str]
    places: frozenset[str]
    unless: frozenset[str]


@cache
def opposites() -> dict[tuple[str, str], list[Opposite]]:
    """The packaged opposites by word and part of speech; those for any kind of thing (``*``) come last."""
    by_word = dict[tuple[str, str], list[Opposite]]()
    for row in packaged_table("stress/antonyms.tsv").iter_rows(named=True):
        sets = (frozenset(row[name].split()) for name in ("of", "places", "unless"))
        opposite = Opposite(row["word"], row["antonym"], row["pos"], int(row["sense"]), *sets)
        by_word.setdefault((opposite.word, opposite.pos), []).append(opposite)
    return {key: sorted(several, key=lambda opposite: "*" in opposite.of) for key, several in by_word.items()}


@cache
def opposite_places(word: str, pos: str) -> frozenset[str]:
    """The names of the plain places where a word may be replaced by some opposite."""
    return frozenset[str]().union(*(opposite.places for opposite in opposites()[word, pos]))


def antonym_in(place: PlainPlace, known: list[Opposite]) -> str:
    """The antonym in the sense that describes the place's kind of thing; empty when no sense is certain."""
    if not place.is_decisive:
        return ""
    beside = {place.after, place.head}
    choices = [opposite for opposite in known if place.name in opposite.places and beside.isdisjoint(opposite.unless)]
    sure = [opposite for opposite in choices if place.kind in opposite.of or "*" in opposite.of]
    if not sure and len({opposite.antonym for opposite in known}) == 1:
        # "They were old" does not show who they are; with only one possible antonym the kind need not be exact.
        may_be = _MAY_BE_IN.get((place.name, place.kind), _MAY_BE.get(place.kind, frozenset()))
        sure = [opposite for opposite in choices if opposite.of & may_be]
    return sure[0].antonym if sure else ""


@cache
def place_patterns() -> dict[Caution, list[tuple[str, re.Pattern[str]]]]:
    """The names and patterns of the plain places by the highest caution that takes them.

    Sentences are matched as "the/DT soup/NN was/VBD <cold/JJ> ./. ", the word to replace between "<" and ">". A pattern
    may refer to parts defined above it in the table.
    """
    parts = dict[str, str]()
    places: dict[Caution, list[tuple[str, re.Pattern[str]]]] = {"high": [], "medium": [], "low": []}
    for row in packaged_table("stress/places.tsv").iter_rows(named=True):
        whole = re.sub(r"\{([a-z ]+)\}", lambda match: parts[match[1]], row["pattern"])
        if row["kind"] == "part":
            parts[row["name"]] = whole
        else:
            places[row["caution"]].append((row["name"], re.compile(whole)))
    return places


@dataclass(frozen=True)
class _Surrounding:
    """What must or must not stand before, between or after subject and word, at which cautions."""

    where: str
    cautions: frozenset[str]
    is_needed: bool
    reason: str
    pattern: re.Pattern[str]


@cache
def _surroundings() -> tuple[_Surrounding, ...]:
    return tuple(
        _Surrounding(
            row["where"],
            frozenset(row["cautions"].split()),
            row["kind"] == "any of",
            row["reason"],
            re.compile(row["pattern"]),
        )
        for row in packaged_table("stress/surroundings.tsv").iter_rows(named=True)
    )


def surrounding_doubt(parts: Mapping[str, str], caution: Caution) -> str:
    """Why the words around a place leave it unsure; empty where they do not. ``parts``: before, between, after."""
    needed, met = "", False
    for rule in _surroundings():
        if caution not in rule.cautions:
            continue
        matches = bool(rule.pattern.search(parts[rule.where]))
        if rule.is_needed:
            needed, met = rule.reason, met or matches
        elif matches:
            return rule.reason
    return "" if met else needed


@dataclass(frozen=True)
class TaggedSentence:
    """A tagged sentence: its words in lower case and their tags."""

    words: list[str]
    tags: list[str]

    def clause(self, token: int) -> tuple[list[str], int]:
        """The words of the main clause that contains a token, and the token's position in it."""
        starts = [0, *(place + 1 for place in range(len(self.words)) if self._parts(place)), len(self.words) + 1]
        start = max(place for place in starts if place <= token)
        return self.words[start : min(place for place in starts if place > token) - 1], token - start

    def around(self, token: int) -> tuple[str, str]:
        """The words before and after a token."""
        before = self.words[token - 1] if token else ""
        return before, self.words[token + 1] if token + 1 < len(self.words) else ""

    def plain_places(self, token: int, names: Collection[str]) -> Iterator[PlainPlace]:
        """Those of the named plain places that a token stands in within its main clause."""
        words, place = self.clause(token)
        marked = self._marked(token - place, token - place + len(words), token)
        for name, pattern in place_patterns()["high"]:
            match = pattern.match(marked) if name in names else None
            if match:
                yield _plain_place(name, match, self.around(token)[1], "high")

    def fits(self, token: int, names: Collection[str]) -> bool:
        """Whether a token stands in one of the named places that need an asserted clause."""
        marked = self._marked(0, len(self.words), token)
        return any(name in names and pattern.match(marked) for name, pattern in place_patterns()["medium"])

    def opening_places(self, token: int, names: Collection[str]) -> Iterator[PlainPlace]:
        """The asserted places a token stands in where nothing precedes their subject."""
        for start, place in self._matching_places(token, names, "medium"):
            if start == 0 and isinstance(place, PlainPlace):
                yield replace(place, caution="high")

    def asserted_places(self, token: int, names: Collection[str], caution: Caution) -> Iterator[PlainPlace | str]:
        """Those of the named places that a token stands in within the whole sentence, or why one is not sure."""
        for _, place in self._matching_places(token, names, caution):
            yield place

    def _matching_places(
        self, token: int, names: Collection[str], caution: Caution
    ) -> Iterator[tuple[int, PlainPlace | str]]:
        """The number of words before a place's subject, and the place or why it is not sure."""
        marked = self._marked(0, len(self.words), token)
        patterns = place_patterns()
        for name, pattern in [*patterns["medium"], *(patterns["low"] if caution == "low" else ())]:
            match = pattern.match(marked) if name in names else None
            if match:
                start = match["left"].count(" ")
                words = {
                    "before": " ".join(self.words[:start]),
                    "between": " ".join(self.words[start:token]),
                    "after": " ".join(self.words[token + 1 :]),
                }
                doubt = surrounding_doubt(words, caution)
                yield start, doubt or _plain_place(name, match, self.around(token)[1], caution)

    def _marked(self, start: int, end: int, token: int) -> str:
        """The words from ``start`` to ``end`` with their tags, a token marked."""
        pieces = [f"{word}/{tag}" for word, tag in zip(self.words[start:end], self.tags[start:end], strict=True)]
        pieces[token - start] = f"<{pieces[token - start]}>"
        return " ".join(pieces) + " "

    def _parts(self, place: int) -> bool:
        """Whether a new main clause may begin after this word: *it rained, and | the street was wet*."""
        word = self.words[place]
        return word == ";" or (word in ("and", "but", "so", "yet") and place > 0 and self.words[place - 1] == ",")


def _plain_place(name: str, match: re.Match[str], after: str, caution: Caution) -> PlainPlace:
    parts = match.groupdict()
    return PlainPlace(name, _kind(parts), after, caution, head=parts.get("head") or "")


def _kind(parts: Mapping[str, str | None]) -> str:
    pronoun, head = parts.get("pronoun"), parts.get("head")
    if pronoun:
        return _PRONOUN_KINDS.get(pronoun, pronoun)
    if parts.get("name"):
        return "name"
    return noun_kind(head) if head else ""


Wsd = Literal["context", "lesk", "first"]
"""How the sense of a word is chosen."""

_ANYWHERE = ("question", "conversation", "quotation", "plurality")
_AFTER = ("negation", "modality", "conditional", "habit")
_NOWHERE_ASSERTED = ("question", "quotation")
_BEFORE = (*_AFTER, "belief", "coordination", "quantifier", "comparison", "focus", "subordination")
"""Reasons for doubt that count anywhere in the sentence, in the clause after the word, and in the clause before it."""

_PLACES_OF_POS = {
    "a": frozenset({"predicate", "description", "subject", "definite"}),
    "n": frozenset({"nominal", "agent"}),
}
"""The plain places used where the sense is not chosen by context."""

_NO_PLACE = "no plain place"
_NAMES = ("NNP", "NNPS")
_POS_NAMES = {"a": "adjective", "n": "noun", "v": "verb", "r": "adverb"}
_TAGS = {
    "a": ("JJ", "VBN", "VBD", "NN", "RB", "VB", "VBP", "NNP"),
    "n": ("JJ", "VBN", "VBD", "NN", "NNS", "RB", "VB", "VBP", "NNP"),
    "v": ("VBD", "VBZ", "VBP", "VBN", "VBG", "VB"),
    "r": ("RB", "JJ", "IN", "NN"),
}
"""The tags of words that may be replaced; taggers often disagree on words such as *right* and *closed*."""

_COLUMNS = {"text": pl.UInt32, "start": pl.UInt32} | dict.fromkeys(
    ("changed", "word", "antonym", "pos", "place", "caution"), pl.String
)


def reveals_another_sex(antonym: str, words: list[str], place: int) -> bool:
    """Whether an antonym and some other word of the sentence both reveal a person's sex: *the woman lost his hat*."""
    revealing = word_list("telling sex")
    return antonym in revealing and any(word in revealing for number, word in enumerate(words) if number != place)


def is_idiom(before: str, word: str, after: str) -> bool:
    """Whether a word and a neighbour form a fixed expression: *hot dog*, *high school*, but not *old man*."""
    if word in word_list("said of people") and after in word_list("people"):
        return False
    return f"{word}_{after}" in _idioms() or f"{before}_{word}" in _idioms()


def are_idioms(words: pl.DataFrame) -> pl.Series:
    """``is_idiom`` of many words: columns before, word and after."""
    is_plain = pl.col("word").is_in(word_list("said of people")) & pl.col("after").is_in(word_list("people"))
    sides = (pl.concat_str(*pair, separator="_") for pair in (("word", "after"), ("before", "word")))
    idioms = wordnet().two_word_lemmas.implode()
    return words.select(pl.any_horizontal(side.is_in(idioms) for side in sides) & ~is_plain).to_series()


@cache
def _idioms() -> frozenset[str]:
    return frozenset(wordnet().two_word_lemmas)


def replace_by_antonyms(
    texts: pl.Series, *, wsd: Wsd, caution: Caution = "medium", tagger: str = "auto", draws: Draws
) -> tuple[pl.DataFrame, Counter[str]]:
    """Sentences with one word replaced by its antonym, and how many words were not replaced, by reason.

    Columns text (row of the sentence), start (of the word), changed, word, antonym, pos, place, and caution: the
    highest one that gives the row. ``draws`` decides between several antonyms of one sense.
    """
    sentences = Sentences.of(texts, tagger)
    candidates = _candidates(sentences.frame, wsd)
    used = set(candidates["text"])
    lines = {
        text: TaggedSentence([word.lower() for word in words], tags)
        for text, words, tags in sentences.by_text("token", "tag")
        if text in used
    }
    candidates = candidates.with_columns(_doubts(texts, candidates, lines))
    if wsd == "context":
        candidates = candidates.with_columns(_unasserted(sentences, candidates, lines, caution))
    # With wsd="context" the antonym depends on the place and is chosen below.
    choices = None if wsd == "context" else _antonyms(texts, sentences.frame, candidates, wsd=wsd, draws=draws)
    rows, left_out, done = [], Counter[str](), set[tuple[int, int]]()
    for row in candidates.iter_rows(named=True):
        turn = _choose_replacement(row, lines[row["text"]], caution, choices)
        if isinstance(turn, str):
            left_out[turn] += 1
        elif (row["text"], row["start"]) not in done:
            # "Left" in "on the left" is a candidate twice, as adjective and noun, with the same antonym.
            done.add((row["text"], row["start"]))
            place, antonym = turn
            word = inflect(antonym, row["pos"], row["tag"])
            changed = replace_span(texts[row["text"]], row["start"], row["end"], word=word)
            columns = (row["base"], antonym, _POS_NAMES[row["pos"]], place.name, place.caution)
            rows.append((row["text"], row["start"], changed, *columns))
    return pl.DataFrame(rows, schema=_COLUMNS, orient="row"), left_out


def _doubts(texts: pl.Series, candidates: pl.DataFrame, lines: Mapping[int, TaggedSentence]) -> list[pl.Series]:
    """Columns ``doubt``, why the clause of each candidate is not a plain assertion, and ``doubt_anywhere``.

    The second says why its sentence asserts nothing in any clause. Both are null where there is no doubt.
    """
    parts = [lines[text].clause(number) for text, number in candidates.select("text", "number").iter_rows()]
    before = pl.Series([" ".join(words[:place]) for words, place in parts], dtype=pl.String)
    after = pl.Series([" ".join(words[place + 1 :]) for words, place in parts], dtype=pl.String)
    rows = candidates["text"]
    plain, anywhere = (doubts(texts, reasons).gather(rows) for reasons in (_ANYWHERE, _NOWHERE_ASSERTED))
    clause = pl.select(pl.coalesce(plain, doubts(before, _BEFORE), doubts(after, _AFTER))).to_series()
    return [clause.alias("doubt"), anywhere.alias("doubt_anywhere")]


def _unasserted(
    sentences: Sentences, candidates: pl.DataFrame, lines: Mapping[int, TaggedSentence], caution: Caution
) -> pl.Series:
    """Column ``unasserted``: why the writer does not assert the clause of a candidate, or not upward; null if they do.

    Only candidates in a place that needs an asserted clause are analysed; of the others nothing is known.
    """
    columns = candidates.select("text", "number", "base", "pos", "doubt_anywhere")
    fits = [
        not nowhere and (caution != "high" or pos in "vr") and lines[text].fits(number, opposite_places(base, pos))
        for text, number, base, pos, nowhere in columns.iter_rows()
    ]
    rows = pl.Series(fits, dtype=pl.Boolean).arg_true()
    contexts = sentences.contexts(candidates["place"].gather(rows).to_numpy())
    # "Never" makes its own place downward, and "the first" its own place non-monotone.
    is_upward = (pl.col("polarity") == "up") | pl.col("by").str.ends_with(pl.col("word"))
    reason = (
        pl.when(pl.col("phrase").is_in(["name", "title", "idiom"]))
        .then(pl.lit("phrase"))
        .when(pl.col("clause") == "relative")
        .then(pl.lit("relative clause"))
        .when(~pl.col("asserted"))
        .then(pl.lit("not asserted"))
        .when(~is_upward)
        .then(pl.lit("polarity"))
    )
    reasons = contexts.with_columns(candidates["word"].gather(rows)).select(reason).to_series()
    return pl.repeat(_NO_PLACE, candidates.height, eager=True).scatter(rows, reasons).alias("unasserted")


def _candidates(tokens: pl.DataFrame, wsd: Wsd) -> pl.DataFrame:
    """The words that have an antonym in some sense: columns of ``tokens``, place, number, word, pos and base.

    ``place`` is the row of ``tokens``, ``number`` counts the tokens of a text. With ``wsd="context"`` they are
    words of the table of opposites, otherwise adjectives and nouns.
    """
    tokens = tokens.with_columns(
        place=pl.int_range(pl.len()),
        number=pl.int_range(pl.len()).over("text"),
        word=pl.col("token").str.to_lowercase(),
    )
    words = tokens["word"].unique()
    if wsd == "context":
        known = pl.DataFrame(list(opposites()), schema=["base", "pos"], orient="row")
        bases = wordnet().base_form_frame(words).with_columns(pl.col("pos").cast(pl.String))
        bases = bases.select("word", "pos", "base").join(known, on=["base", "pos"])
        bases = bases.filter((pl.col("word") == pl.col("base")) | pl.col("pos").is_in(["n", "v"]))
        matches = tokens.join(bases, on="word", maintain_order="left_right")
        tags = [f"{pos}/{tag}" for pos, tags in _TAGS.items() for tag in tags]
        return matches.filter(pl.concat_str("pos", "tag", separator="/").is_in(tags))
    pos_of_tag = dict.fromkeys(("JJ", "JJR", "JJS", "VBN"), "a") | dict.fromkeys(("NN", "NNS"), "n")
    tokens = tokens.with_columns(pos=pl.col("tag").replace_strict(pos_of_tag, default=None, return_dtype=pl.String))
    bases = wordnet().antonym_frame(words).select("word", _plain_pos(), "base")
    bases = bases.unique(["word", "pos"], keep="first", maintain_order=True)
    return tokens.drop_nulls("pos").join(bases, on=["word", "pos"], maintain_order="left_right")


def _plain_pos() -> pl.Expr:
    return pl.col("pos").cast(pl.String).replace("s", "a")


def _antonyms(
    texts: pl.Series, tokens: pl.DataFrame, candidates: pl.DataFrame, *, wsd: Wsd, draws: Draws
) -> dict[tuple[int, int], str]:
    """The antonym of each candidate (sentence, number) in the sense chosen by ``wsd``."""
    pairs = wordnet().antonym_frame(candidates["word"].unique())
    pairs = pairs.select("word", _plain_pos(), "synset", "rank", "antonym")
    pairs = pairs.filter(~pl.col("antonym").str.contains("_")).unique().sort("word", "synset", "antonym")
    wanted, on = candidates.select("text", "number", "word", "pos"), ["word", "pos"]
    if wsd == "first":
        pairs = pairs.filter(rank=0)
    else:
        from acidtest.english.senses import senses

        contexts = tokens.group_by("text", maintain_order=True).agg("token").with_row_index("row")
        rows = wanted.join(contexts.select("text", "row"), on="text", maintain_order="left")["row"]
        # NLTK's lesk takes one part of speech, but an adjective may also be a satellite: it gets none.
        pos = wanted["pos"].replace("a", None)
        wanted = wanted.with_columns(synset=senses(wsd, contexts["token"], wanted["word"], pos=pos, rows=rows))
        on = [*on, "synset"]
    several = wanted.join(pairs, on=on, maintain_order="left_right")
    keys = digests(texts.gather(several["text"])) + several["number"].to_numpy().astype(np.uint64)
    several = several.with_columns(draw=pl.Series(draws.bits(keys, "antonym") ^ digests(several["antonym"])))
    one = several.sort("text", "number", "draw").unique(["text", "number"], keep="first", maintain_order=True)
    return {(text, number): antonym for text, number, antonym in one.select("text", "number", "antonym").iter_rows()}


def _choose_replacement(
    row: Mapping[str, Any], line: TaggedSentence, caution: Caution, choices: Mapping[tuple[int, int], str] | None
) -> tuple[PlainPlace, str] | str:
    """A candidate's place and its antonym there, or the reason why it is not replaced.

    The antonym comes from ``choices`` if given, else from the table of opposites for that place.
    """
    number = row["number"]
    before, after = line.around(number)
    if row["tag"] in _NAMES or _is_in_title(row["token"], line, number):
        return "name"
    # "Rose in" is no idiom in "prices rose in May"; the places of verbs allow no particle after them.
    is_verb = row["pos"] == "v"
    if not is_verb and is_idiom(before, line.words[number], after):
        return "idiom"
    place, antonym, reason = None, "", _NO_PLACE
    known = opposites()[row["base"], row["pos"]] if choices is None else []
    names = opposite_places(row["base"], row["pos"]) if choices is None else _PLACES_OF_POS[row["pos"]]
    for place in _places(row, line, caution, names=names, plain_only=choices is not None):
        if isinstance(place, str):
            reason = place
        elif choices is None:
            antonym, reason = antonym_in(place, known), "sense not sure"
        elif place.is_decisive:
            antonym, reason = choices.get((row["text"], number), ""), "no antonym in that sense"
        if antonym:
            break
    if not isinstance(place, PlainPlace) or not antonym:
        return reason
    if reveals_another_sex(antonym, line.words, number):
        return "sex told elsewhere"
    if antonym in line.words:
        return "antonym near"
    return "idiom" if not is_verb and is_idiom(before, antonym, after) else (place, antonym)


def _is_in_title(token: str, line: TaggedSentence, number: int) -> bool:
    """Whether a word with a capital is part of a title or name: *We Have Always Lived in the Castle*, *Slow Burn*."""
    opens = not any(word[:1].isalnum() for word in line.words[:number])
    leads = number + 1 < len(line.tags) and line.tags[number + 1] in _NAMES
    return token[:1].isupper() and token[1:].islower() and (leads or not opens)


def _places(
    row: Mapping[str, Any], line: TaggedSentence, caution: Caution, *, names: Collection[str], plain_only: bool
) -> Iterator[PlainPlace | str]:
    """Those of the named places where a candidate may be replaced, of the highest caution first, or reasons why not."""
    number, unasserted = row["number"], row.get("unasserted")
    if row["doubt"]:
        yield row["doubt"]
    elif row["pos"] in ("a", "n"):
        yield from line.plain_places(number, names)
    elif not unasserted:
        yield from line.opening_places(number, names)
    if row["doubt_anywhere"] or plain_only:
        return
    if caution != "high" and unasserted != _NO_PLACE:
        yield from [unasserted] if unasserted else line.asserted_places(number, names, "medium")
    if caution == "low":
        yield from line.asserted_places(number, names, "low")
