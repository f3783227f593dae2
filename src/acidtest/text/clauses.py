"""Sentences that are one plain finite clause, taken apart into subject, verb and the rest.

*Two men in hats | are | sleeping on a bench.* What a negation or a conjunction is formed from must be recognised for
sure: everything with a second clause, a comma, a fronted phrase or no finite verb is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

import polars as pl

from acidtest.io.wordlists import packaged_table
from acidtest.text.inflection import base_form_candidates, forms_by_slot
from acidtest.text.sentences import Sentences, first_matching_reason
from acidtest.text.tagging import tag_texts
from acidtest.text.wordnet import noun_kind, wordnet

Subject = Literal["definite", "pronoun", "there", "someone", "indefinite", "plural", "number", "joined"]
"""How a subject refers: *the man*, *he*, *there*, *someone*, *a man*, *men*, *two men*, *a man and a boy*."""

Verb = Literal["be", "have", "modal", "main"]

# Sentences are matched as "the/DT soup/NN was/VBD cold/JJ ./. ".
_THE = r"(?:the|this|that|these|those|my|your|his|her|its|our|their)/\S+ "
_A = r"(?:a|an)/\S+ "
_INSIDE = r"(?:\S+/(?:JJ|JJS|VBN|NN|NNP|NNPS|POS) )*?"
_HEAD = r"\S+/(?:NN|NNS|NNP|NNPS) (?!\S+/(?:NN|NNS|NNP|NNPS|POS|CD) )"
_PHRASE = rf"(?:in|on|at|of|with|from|near|behind|inside|under|for)/\S+ (?:{_THE}|{_A})?(?:\S+/CD )?{_INSIDE}{_HEAD}"
_SIMPLE = rf"(?:(?:{_THE}|{_A})?{_INSIDE}{_HEAD})"
_NOUN_PHRASE = (
    rf"(?:(?P<the>{_THE})|(?P<a>{_A})|(?P<number>(?!one/)\S+/CD ))?(?P<inside>{_INSIDE})(?P<head>{_HEAD})"
    rf"(?:{_PHRASE})*(?P<joined>and/CC {_SIMPLE}(?:{_PHRASE})*)?"
)
_SUBJECT = (
    r"(?:(?P<pronoun>(?:he|she|it|they|we|i|you)/PRP )|(?P<there>there/EX )|(?P<someone>(?:someone|somebody)/\S+ )|"
    rf"{_NOUN_PHRASE})"
)
_ADVERBS = r"(?:\S+ly/RB )?"
_HAVE = r"(?:has|have|had|['’]ve)/VB\S* "
_VERB = (
    r"(?:(?P<be>(?:is|are|was|were|am|['’]s|['’]re|['’]m)/VB\S* )|"
    rf"(?P<have>{_HAVE})(?=(?:\S+/RB )?(?:been/\S+ |\S+/(?:VBN|VBD) (?!\S+/(?:NN|NNS) )))|"
    rf"(?P<modal>(?:can|will|['’]ll)/MD )(?=\S+/VB )|"
    # "Has painted nails" may be what somebody did or has; "had overslept" may be tagged as if she had a thing.
    rf"(?P<adverb>{_ADVERBS})(?P<main>(?!{_HAVE}(?:\S+/RB )?(?:\S+/(?:VBN|VBD) |\S+/NN (?:[.!]/\S+ )?$))"
    r"\S+/(?:VBZ|VBP|VBD) ))"
)
_CLAUSE = re.compile(rf"^{_SUBJECT}{_VERB}(?P<rest>(?:\S+ )*?)(?P<stop>\./\S+ )?$")
_FINITE = re.compile(r"\S+/(?:VBZ|VBP|VBD|MD|WDT|WP|WP\$|WRB|UH|EX) |(?:i|he|she|they|we)/PRP ")
_AND = re.compile(r"(?:and|&)/\S+ ")
_UNFINISHED = re.compile(r"(?<!\S)(?:(?:a|an|the)/\S+|\S+/(?:CC|PRP\$|WP\$|POS)) $")
_BEGINNING = 5
_COLUMNS = ("token", "tag", "start", "end", "entity")
_LOOSE = re.compile(r"(?:\S+/(?:IN|TO|RB|RP) |$)")


@dataclass(frozen=True)
class Clause:
    """A sentence of one finite clause; places are characters of ``text``."""

    text: str
    """Without the full stop."""
    stop: str
    """The full stop, if there was one."""
    subject: Subject
    subject_words: tuple[str, ...]
    """In lower case."""
    plural: bool
    head_end: int
    """Where the subject ends."""
    verb: Verb
    word: str
    """The finite verb as it stands, in lower case."""
    tag: str
    base: str
    """The base form of a main verb, empty for auxiliaries."""
    start: int
    """Where the finite verb stands, after the adverb before a main one."""
    end: int
    adverb_start: int
    """Where that adverb begins, else ``start``."""
    after: tuple[str, ...]
    """The words after the finite verb, in lower case."""
    after_tags: tuple[str, ...]
    first_tag: str
    named: bool
    """Whether the first word is part of a name."""
    joins: bool
    """Whether there is an *and* after the verb."""


def clause_doubts(texts: pl.Series, use: str) -> pl.Series:
    """For each text the first reason why it is unfit, null where there is none.

    ``use`` is ``any`` (it asserts nothing), ``clause`` (it may be more than a clause) or ``negation`` (the scope of a
    negation would be in doubt).
    """
    table = packaged_table("contexts/clauses.tsv").filter(use=use).select("reason", "pattern")
    return first_matching_reason(texts, table.rows())


def non_assertions(texts: pl.Series, tagger: str = "auto") -> pl.Series:
    """For each text the reason why it asserts nothing that could be true, null where there is none."""
    reason = clause_doubts(texts, "any")
    # A few words tell an imperative, and tags are what takes time.
    begun = pl.DataFrame({"text": texts}).select(pl.col("text").str.split(" ").list.head(_BEGINNING).list.join(" "))
    tokens = tag_texts(begun.to_series(), tagger).unique("text", keep="first", maintain_order=True)
    commands = tokens.filter(pl.col("tag") == "VB")["text"]
    frame = pl.DataFrame({"reason": reason, "text": texts}).with_row_index("row")
    imperative = pl.when(pl.col("row").is_in(commands.implode())).then(pl.lit("imperative"))
    return frame.select(
        pl.coalesce("reason", pl.when(_title_expression()).then(pl.lit("title")), imperative)
    ).to_series()


def _title_expression() -> pl.Expr:
    """Whether a text without a full stop has more words with a capital than without."""
    large, small = (pl.col("text").str.count_matches(rf"\b\p{{{case}}}\w{{2,}}") for case in ("Lu", "Ll"))
    return (large > small) & ~pl.col("text").str.contains(r"[.!?]\W*$")


def clauses(texts: pl.Series, tagger: str = "auto") -> list[Clause | str]:
    """For each text the clause it is, or the reason why it is none."""
    texts = texts.str.strip_chars()
    doubt = clause_doubts(texts, "any").fill_null(clause_doubts(texts, "clause")).to_list()
    plain = pl.Series([number for number, reason in enumerate(doubt) if reason is None], dtype=pl.UInt32)
    results: list[Clause | str] = [reason or "no finite verb" for reason in doubt]
    for text, *line in Sentences.of(texts.gather(plain), tagger).by_text(*_COLUMNS):
        number = plain[text]
        results[number] = _clause(texts[number], _Line(*line))
    return results


@dataclass(frozen=True)
class _Line:
    """The tokens of a sentence."""

    tokens: list[str]
    tags: list[str]
    starts: list[int]
    ends: list[int]
    entities: list[str | None]

    @property
    def marked(self) -> str:
        """As the patterns read it."""
        return "".join(f"{token.lower()}/{tag} " for token, tag in zip(self.tokens, self.tags, strict=True))


def _clause(text: str, line: _Line) -> Clause | str:
    if text.isupper() or sum(token.isupper() and len(token) > 1 for token in line.tokens) > 2:
        return "written in capitals"
    marked = line.marked
    match = _CLAUSE.match(marked)
    if match is None:
        return "no plain subject and finite verb"
    if _FINITE.search(match["rest"]):
        return "several clauses"
    if _UNFINISHED.search(match["rest"]):
        return "sentence without its end"
    verb: Verb = next(kind for kind in _VERBS if match[kind])
    token = marked.count(" ", 0, match.start(verb))
    subject, plural = _subject(match)
    word, tag = line.tokens[token].lower(), line.tags[token]
    if subject is None or not _agrees(word, tag, plural=plural, pronoun=(match["pronoun"] or "").partition("/")[0]):
        return "subject and verb do not agree"
    if subject == "definite" and not match["the"] and _needs_article(match["head"]):
        return "article missing"
    base = _base(word, tag, plural=plural) if verb == "main" else ""
    if base is None or (verb == "main" and _is_participle(match, word, base)):
        return "verb form not sure"
    stop = line.starts[-1] if match["stop"] else len(text)
    first = marked.count(" ", 0, match.start(verb) - len(match["adverb"] or ""))
    return Clause(
        text=text[:stop].rstrip(),
        stop=text[stop:].strip(),
        subject=subject,
        subject_words=tuple(token.lower() for token in line.tokens[:first]),
        plural=plural,
        head_end=line.ends[first - 1],
        verb=verb,
        word=word,
        tag=tag,
        base=base,
        start=line.starts[token],
        end=line.ends[token],
        adverb_start=line.starts[first],
        after=tuple(token.lower() for token in line.tokens[token + 1 :]),
        after_tags=tuple(line.tags[token + 1 :]),
        first_tag=line.tags[0],
        named=line.entities[0] is not None,
        joins=bool(_AND.search(match["rest"])),
    )


_VERBS: tuple[Verb, ...] = ("be", "have", "modal", "main")


def _subject(match: re.Match[str]) -> tuple[Subject | None, bool]:
    """How the subject refers, and whether it is plural; None where article and noun do not agree."""
    if match["pronoun"]:
        return "pronoun", match["pronoun"].startswith(("they", "we", "you", "i/"))
    if match["someone"]:
        return "someone", False
    if match["there"]:
        return "there", bool(re.match(r"(?:are|were|['’]re)/", match["be"] or ""))
    plural = match["head"].strip().endswith(("/NNS", "/NNPS"))
    owned = "/POS " in match["inside"]
    if (match["a"] and plural) or (match["number"] and not plural):
        return None, plural
    if match["joined"]:
        return "joined", True
    if match["the"] or match["head"].strip().endswith(("/NNP", "/NNPS")):
        return "definite", plural
    if match["a"]:
        # "A woman's job": a negation would be of the woman, not of the job.
        return (None if owned else "indefinite"), plural
    if match["number"]:
        return "number", plural
    # A noun without article: *water* is one thing, *men* are some or all of them.
    return ("plural" if plural else "definite"), plural


def _agrees(word: str, tag: str, *, plural: bool, pronoun: str) -> bool:
    if word in ("am", "'m", "’m"):
        return pronoun == "i"
    if pronoun == "i" and word in ("are", "were", "'re", "’re"):
        return False
    if word == "was":
        return not plural or pronoun == "i"
    if word == "were":
        return plural
    if word in ("is", "'s", "’s", "has") or tag == "VBZ":
        return not plural
    return plural if tag == "VBP" or word in ("are", "'re", "’re", "have") else True


def _needs_article(head: str) -> bool:
    """Whether a noun that stands alone should not: *child is outdoors* is a caption's shorthand."""
    word, _, tag = head.strip().rpartition("/")
    return tag == "NN" and noun_kind(word) in ("person", "animal", "artifact", "group")


def _base(word: str, tag: str, *, plural: bool) -> str | None:
    """The base form of a main verb; None where it is not sure."""
    if word in ("do", "does", "did", "have", "has", "had"):
        return {"d": "do", "h": "have"}[word[0]]
    slot = {"VBZ": "third", "VBD": "past", "VBP": "base"}[tag]
    known = [base for base in _bases(word) if forms_by_slot(base, "verb")[slot] == word]
    if slot == "base" and known and forms_by_slot(word, "verb")["past"] == word:
        return None
    if slot == "past" and word in known and plural:
        # "They cut": today or yesterday?
        return None
    return known[0] if known else None


@cache
def _bases(word: str) -> tuple[str, ...]:
    lemmas = [base for base in base_form_candidates(word, "v") if base in wordnet().base_forms(base, "v")]
    return tuple(dict.fromkeys(lemmas))


def _is_participle(match: re.Match[str], word: str, base: str) -> bool:
    """Whether a past tense may be a participle instead: *two cars parked near a crane* is a caption."""
    forms = forms_by_slot(base, "verb")
    bare = not (match["pronoun"] or match["someone"] or match["the"])
    named = bool(match["head"]) and "/NNP" in match["head"]
    return word == forms["past"] == forms["participle"] and bare and not named and bool(_LOOSE.match(match["rest"]))


def words_and_lemmas(text: str) -> Iterator[str]:
    """The words of a text in lower case, each also as the noun and the verb it may be a form of."""
    for word in re.findall(r"[^\W\d_]+|\d+", text.lower()):
        yield word
        yield from _lemmas(word)


def nouns(text: str) -> set[str]:
    """The words of a text that may be nouns, in their base form, and those WordNet does not know, such as names."""
    return {
        base
        for word in re.findall(r"[^\W\d_]{3,}", text.lower())
        if word not in function_words()
        for base in wordnet().base_forms(word, "n") or ([] if wordnet().synsets(word) else [word])
    }


@cache
def function_words() -> frozenset[str]:
    """Articles, pronouns, prepositions, auxiliaries and the like."""
    return frozenset(packaged_table("stress/function_words.tsv")["word"])


@cache
def _lemmas(word: str) -> tuple[str, ...]:
    return (*wordnet().base_forms(word, "n"), *wordnet().base_forms(word, "v"))
