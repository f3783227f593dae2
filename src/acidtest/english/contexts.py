"""The context of a word in its sentence: clause, polarity, phrase and head of every place asked for.

Only sentences with such a place are parsed; ``parses`` says by what, and ``scopes`` how polarity is decided.

Whether a word is part of what should stay whole: a name, title, fixed phrase, idiom, measure or compound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from acidtest.english.dependencies import COMPLEMENTS, SUBJECTS, DependencyTree
from acidtest.english.parser import TaggedTokens, trees
from acidtest.english.scopes import NONE, connective, is_question, scope_at
from acidtest.english.tokens import Flags, previous_flags
from acidtest.english.wordnet import wordnet
from acidtest.io.wordlists import packaged_table, word_list

if TYPE_CHECKING:
    from acidtest.english.sentences import Places, Sentences

_NOUNS = ("NN", "NNS", "NNP", "NNPS")
_NAMES = ("NNP", "NNPS")
_HYPHENS = ("-", "–", "/")
_LONGEST = 5


def phrase_kinds(sentences: Sentences, places: Places) -> pl.Series:
    """For each place name, title, fixed, idiom, measure or compound, or an empty string."""
    flags = {
        "title": _titles(sentences, places),
        "name": _names(sentences, places),
        "fixed": _fixed(sentences, places),
        "measure": _measures(sentences, places),
        "idiom": _idioms(sentences, places),
        "compound": _compounds(sentences, places),
    }
    kinds = [pl.when(pl.Series(flag)).then(pl.lit(kind)) for kind, flag in flags.items()]
    return (
        pl.select(pl.coalesce(*kinds, pl.lit("")).alias("phrase")).to_series()
        if len(places)
        else pl.Series("phrase", [], pl.String)
    )


class _Around:
    """The words and tags around places."""

    def __init__(self, sentences: Sentences, places: Places) -> None:
        self._sentences, self._places, self._text = sentences, places, sentences.text[places]

    def word(self, step: int) -> pl.Series:
        return self._sentences.words(self._places + step, of=self._text)

    def tag(self, step: int) -> pl.Series:
        return self._sentences.tags(self._places + step, of=self._text)


def _titles(sentences: Sentences, places: Places) -> Flags:
    """Whether the text is a title or headline: no full stop, and more words with a capital than without."""
    texts = sentences.texts.cast(pl.String)
    upper, lower = (texts.str.count_matches(rf"\b\p{{{case}}}\w{{2,}}") for case in ("Lu", "Ll"))
    is_title = (upper > lower) & (upper > 1) & ~texts.str.contains(r"[.!?]\W*$")
    return is_title.fill_null(value=False).to_numpy()[sentences.text[places]]


def _names(sentences: Sentences, places: Places) -> Flags:
    """Whether a word is part of a name: tagged so, recognised as one, or a capitalised noun within a sentence."""
    around = _Around(sentences, places)
    tag = around.tag(0)
    capital = sentences.frame["token"].gather(places).str.contains(r"^\p{Lu}").to_numpy()
    opens = around.word(-1).is_in(["", ".", "!", "?", ":", '"', "“", "``"]).to_numpy()
    entity = sentences.frame["entity"].gather(places).is_not_null().to_numpy()
    beside = (around.tag(1).is_in(_NAMES) | around.tag(-1).is_in(_NAMES)).to_numpy()
    inside = capital & ~opens & (tag.is_in(_NOUNS).to_numpy() | beside)
    names: Flags = entity | tag.is_in(_NAMES).to_numpy() | inside
    return names


def _fixed(sentences: Sentences, places: Places) -> Flags:
    """Whether a word is part of a listed phrase, such as *at least* or *in front of*."""
    around = _Around(sentences, places)
    words = {step: around.word(step) for step in range(1 - _LONGEST, _LONGEST)}
    flags = np.zeros(len(places), np.bool_)
    for size in range(2, _LONGEST + 1):
        listed = _fixed_phrases(size).implode()
        for first in range(1 - size, 1):
            parts = [words[first + step].alias(str(step)) for step in range(size)]
            flags |= pl.select(pl.concat_str(parts, separator=" ").is_in(listed)).to_series().to_numpy()
    return flags


@cache
def _fixed_phrases(size: int) -> pl.Series:
    phrases = pl.concat([packaged_table(f"contexts/{name}.tsv")["words"] for name in ("connectives", "fixed")]).unique()
    return phrases.filter(phrases.str.count_matches(" ") == size - 1)


def _measures(sentences: Sentences, places: Places) -> Flags:
    """Whether a word is part of a measure: *five kilometres*, *ten years old*, *$ 20*."""
    around = _Around(sentences, places)
    units = packaged_table("contexts/units.tsv")["unit"].implode()

    def unit(step: int) -> Flags:
        return around.word(step).is_in(units).to_numpy()

    def number(step: int) -> Flags:
        counts = around.tag(step) == "CD"
        return (counts | around.word(step).is_in(["several", "many", "few", "half", "per", "couple"])).to_numpy()

    counted = unit(0) & (number(-1) | (number(-2) & (around.tag(-1).is_in(["JJ", "IN"]).to_numpy())))
    counts = number(0) & (unit(1) | (unit(2) & (around.tag(1) == "JJ").to_numpy()))
    money = (around.word(-1).is_in(["$", "£", "€"]) | around.word(0).is_in(["$", "£", "€", "%"])).to_numpy()
    old = around.word(0).is_in(
        ["old", "long", "tall", "high", "wide", "deep", "thick", "away", "ago"]
    ).to_numpy() & unit(-1)
    measures: Flags = counted | counts | money | old
    return measures


def _idioms(sentences: Sentences, places: Places) -> Flags:
    """Whether a word and its neighbour are an entry of WordNet: *hot dog*, *give up*, but not *old man*."""
    around = _Around(sentences, places)
    base = _base_forms(sentences, places)
    before, word, after = (around.word(step) for step in (-1, 0, 1))
    frame = pl.DataFrame({"before": before, "word": word, "after": after, "base": base})
    said, people = word_list("said of people"), word_list("people")
    plain = (pl.col("word").is_in(said) & pl.col("after").is_in(people)) | (
        pl.col("before").is_in(said) & pl.col("word").is_in(people)
    )
    pairs = (("word", "after"), ("before", "word"), ("base", "after"), ("before", "base"))
    entries = wordnet().two_word_lemmas.implode()
    listed = pl.any_horizontal(pl.concat_str(*pair, separator="_").is_in(entries) for pair in pairs)
    return frame.select(listed & ~plain).to_series().to_numpy()


def _base_forms(sentences: Sentences, places: Places) -> pl.Series:
    words = sentences.lower.gather(places)
    bases = wordnet().base_form_frame(words.unique()).unique("word", keep="first", maintain_order=True)
    joined = pl.DataFrame({"word": words}).join(
        bases.select("word", "base"), on="word", how="left", maintain_order="left"
    )
    return joined["base"].fill_null("")


def _compounds(sentences: Sentences, places: Places) -> Flags:
    """Whether a noun stands beside another in one phrase (*police dog*), or a word beside a hyphen."""
    around = _Around(sentences, places)
    noun = around.tag(0).is_in(_NOUNS)
    beside = noun & (around.tag(1).is_in(_NOUNS) | around.tag(-1).is_in(_NOUNS))
    hyphen = around.word(1).is_in(_HYPHENS) | around.word(-1).is_in(_HYPHENS)
    return (beside | hyphen).to_numpy()


SCHEMA = {
    "clause": pl.String,
    "governor": pl.String,
    "asserted": pl.Boolean,
    "polarity": pl.String,
    "by": pl.String,
    "phrase": pl.String,
    "head": pl.Int64,
}

_STOP = r"^[.!?…]+$"
_QUOTES = ('"', "“", "”", "``", "''", "„", "«", "»")
_CONDITIONS = frozenset(
    {
        "if",
        "unless",
        "even if",
        "only if",
        "whether",
        "provided",
        "provided that",
        "in case",
        "as long as",
        "whether or not",
        "assuming that",
        "supposing that",
    }
)


@dataclass(frozen=True)
class Span:
    """A sentence of a text: the places of its first token and of the one after its last."""

    first: int
    end: int


def contexts(sentences: Sentences, places: Places) -> pl.DataFrame:
    """One row for each place: clause, governor, asserted, polarity, by, phrase and head.

    ``clause`` is main, relative, complement, conditional, adverbial, question, quotation, command or fragment.
    ``governor`` is the lemma of the verb, adjective or noun that a complement belongs to. ``asserted`` says whether the
    writer says that the clause is true. ``polarity`` is up, down or none, and ``by`` the word that decided it.
    ``phrase`` is name, compound, title, idiom, measure, fixed or empty. ``head`` is the place of the head, or -1.
    """
    quoted = _quoted(sentences)
    rows: dict[int, tuple[str, str, bool, str, str, int]] = {}
    spans = list(_spans(sentences, places))
    for (span, wanted), tree in zip(spans, trees(_tagged(sentences, spans), sentences.tagger), strict=True):
        for place in wanted:
            number = place - span.first
            head = tree.heads[number]
            rows[place] = (*_row(tree, number, quoted=bool(quoted[place])), head + span.first if head >= 0 else -1)
    table = pl.DataFrame(
        [(*rows[place][:5], "", rows[place][5]) for place in places.tolist()], schema=SCHEMA, orient="row"
    )
    return table.with_columns(phrase=phrase_kinds(sentences, places))


def _tagged(sentences: Sentences, spans: Iterable[tuple[Span, Iterable[int]]]) -> Iterator[TaggedTokens]:
    tokens, tags = sentences.frame["token"], sentences.frame["tag"]
    for span, _ in spans:
        yield TaggedTokens(tokens[span.first : span.end].to_list(), tags[span.first : span.end].to_list())


def _spans(sentences: Sentences, places: Places) -> Iterator[tuple[Span, Iterable[int]]]:
    """The sentences that contain a place, each with its places."""
    if not len(places):
        return
    starts = _sentence_starts(sentences)
    first = np.flatnonzero(starts)
    end = np.append(first[1:], len(starts))
    unique = np.unique(places)
    owner = np.searchsorted(first, unique, side="right") - 1
    cuts = np.flatnonzero(np.diff(owner)) + 1
    for group in np.split(np.arange(len(unique)), cuts):
        number = owner[group[0]]
        yield Span(int(first[number]), int(end[number])), unique[group].tolist()


def _sentence_starts(sentences: Sentences) -> Flags:
    """Which tokens begin a sentence: after a stop and the quotation mark that may follow it."""
    frame = sentences.frame
    stop = (frame["token"].str.contains(_STOP) & (frame["tag"] == ".")).to_numpy()
    closing = (frame["token"].is_in(_QUOTES) & (frame["tag"] != "``")).to_numpy()
    lower = frame["token"].str.contains(r"^\p{Ll}").to_numpy()
    after_quote = previous_flags(previous_flags(stop) & closing)
    new_text = np.concatenate(([True], np.diff(sentences.text) != 0))[: len(stop)]
    starts: Flags = new_text | (previous_flags(stop) & ~closing) | (after_quote & ~lower)
    return starts


def _quoted(sentences: Sentences) -> Flags:
    """Which tokens are within quotation marks of their text."""
    marks = sentences.frame.select("text", mark=pl.col("token").is_in(_QUOTES).cast(pl.Int32))
    count = pl.col("mark").cum_sum().over("text")
    inside = (pl.col("mark") == 0) & (count % 2 == 1) & (count < pl.col("mark").sum().over("text"))
    return marks.select(inside).to_series().to_numpy()


def _row(tree: DependencyTree, place: int, *, quoted: bool) -> tuple[str, str, bool, str, str]:
    """Clause, governor, asserted, polarity and by of one word."""
    scope = scope_at(tree, place)
    kind, governor = clause_kind(tree, place)
    if quoted:
        return "quotation", governor, False, NONE, '"'
    asserted = scope.asserted and kind not in ("question", "command")
    return kind, governor, asserted, scope.polarity, scope.by


def clause_kind(tree: DependencyTree, place: int) -> tuple[str, str]:
    """The kind of the smallest clause that contains a word, and the lemma of the word that a complement belongs to."""
    node = tree.first_conjunct(tree.clause_head(place))
    relation = tree.relations[node]
    mark = connective(tree, node)
    if relation == "ROOT" or relation == "parataxis":
        return _main_kind(tree, node), ""
    if relation in COMPLEMENTS:
        return "complement", tree.lemma(tree.heads[node])
    if relation == "acl" and (mark == "that" or any(tree.words[child] == "to" for child in tree.related(node, "aux"))):
        return "complement", tree.lemma(tree.heads[node])
    if relation in ("relcl", "acl"):
        return "relative", ""
    return ("conditional" if mark in _CONDITIONS else "adverbial"), ""


def _main_kind(tree: DependencyTree, node: int) -> str:
    if is_question(tree, node):
        return "question"
    if tree.tags[node][:1] != "V" and tree.tags[node] != "MD":
        return "fragment"
    helpers = tree.related(node, "aux", "auxpass")
    if tree.tags[node] == "VB" and not tree.related(node, *SUBJECTS) and not helpers:
        return "command"
    finite = any(tree.tags[place] in ("VBZ", "VBP", "VBD", "MD", "VB") for place in (node, *helpers))
    return "main" if finite else "fragment"
