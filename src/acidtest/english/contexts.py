"""The context of a word in its sentence: clause, polarity, phrase and head of every place asked for.

Only sentences with such a place are parsed; ``parses`` says by what, and ``scopes`` how polarity is decided.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from acidtest.english.dependencies import COMPLEMENTS, SUBJECTS, DependencyTree
from acidtest.english.parses import TaggedTokens, trees
from acidtest.english.phrases import phrase_kinds
from acidtest.english.scopes import NONE, connective, is_question, scope_at
from acidtest.english.tokens import Flags, previous_flags

if TYPE_CHECKING:
    from acidtest.english.sentences import Places, Sentences

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
