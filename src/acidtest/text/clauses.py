"""Sentences that are one plain finite clause, taken apart into subject, verb and the rest; negated and conjoined.

*Two men in hats | are | sleeping on a bench.* What a negation or a conjunction is formed from must be recognised for
sure: everything with a second clause, a comma, a fronted phrase or no finite verb is none. A negation has the whole
sentence in its scope, or it is not formed: *the man is not asleep*, *no dog is asleep*, *there is no dog*, and where
nothing else is unmistakable *it is not true that two dogs are asleep*.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

import polars as pl

from acidtest.io.wordlists import packaged_table
from acidtest.text.inflection import base_form_candidates, forms_by_slot, match_case
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
_UNFINISHED = re.compile(r"(?<!\S)(?:(?:a|an|the)/\S+|\S+/(?:CC|PRP\$|WP\$|POS)) $")
_VERBS: tuple[Verb, ...] = ("be", "have", "modal", "main")

_CLOSED = frozenset({"DT", "PRP", "PRP$", "EX", "CD", "IN"})
_EXPANDED = {"'ll": "will", "’ll": "will", "'ve": "have", "’ve": "have"}


@dataclass(frozen=True)
class Clause:
    """A sentence of one finite clause; words are in lower case, places are characters of ``text``."""

    text: str
    stop: str
    """The full stop that ``text`` is without, if there was one."""
    subject: Subject
    subject_words: tuple[str, ...]
    plural: bool
    verb: Verb
    word: str
    tag: str
    base: str
    """The base form of a main verb, empty for auxiliaries."""
    start: int
    """Where the finite verb, ``word``, begins, after the adverb before a main one."""
    end: int
    adverb_start: int
    """Where that adverb begins, else ``start``."""
    after: tuple[str, ...]
    """The words after the finite verb."""
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
    # Five words tell an imperative, and tags are what takes time.
    frame = pl.DataFrame({"reason": clause_doubts(texts, "any"), "text": texts}).with_row_index("row")
    begun = frame.select(pl.col("text").str.split(" ").list.head(5).list.join(" ")).to_series()
    tokens = tag_texts(begun, tagger).unique("text", keep="first", maintain_order=True)
    commands = tokens.filter(pl.col("tag") == "VB")["text"]
    imperative = pl.when(pl.col("row").is_in(commands.implode())).then(pl.lit("imperative"))
    # Without a full stop, and more words with a capital than without.
    large, small = (pl.col("text").str.count_matches(rf"\b\p{{{case}}}\w{{2,}}") for case in ("Lu", "Ll"))
    is_title = (large > small) & ~pl.col("text").str.contains(r"[.!?]\W*$")
    return frame.select(pl.coalesce("reason", pl.when(is_title).then(pl.lit("title")), imperative)).to_series()


def clauses(texts: pl.Series, tagger: str = "auto") -> list[Clause | str]:
    """For each text the clause it is, or the reason why it is none."""
    texts = texts.str.strip_chars()
    doubt = clause_doubts(texts, "any").fill_null(clause_doubts(texts, "clause")).to_list()
    plain = pl.Series([number for number, reason in enumerate(doubt) if reason is None], dtype=pl.UInt32)
    results: list[Clause | str] = [reason or "no finite verb" for reason in doubt]
    columns = ("token", "tag", "start", "end", "entity")
    for text, *tokens in Sentences.of(texts.gather(plain), tagger).by_text(*columns):
        number = plain[text]
        results[number] = _clause(texts[number], *tokens)
    return results


def _clause(
    text: str, tokens: list[str], tags: list[str], starts: list[int], ends: list[int], entities: list[str | None]
) -> Clause | str:
    if text.isupper() or sum(token.isupper() and len(token) > 1 for token in tokens) > 2:
        return "written in capitals"
    words = [token.lower() for token in tokens]
    marked = "".join(f"{word}/{tag} " for word, tag in zip(words, tags, strict=True))
    match = _CLAUSE.match(marked)
    if match is None:
        return "no plain subject and finite verb"
    if _FINITE.search(match["rest"]):
        return "several clauses"
    if _UNFINISHED.search(match["rest"]):
        return "sentence without its end"
    verb: Verb = next(kind for kind in _VERBS if match[kind])
    place = marked.count(" ", 0, match.start(verb))
    subject, plural = _subject(match)
    word, tag = words[place], tags[place]
    if subject is None or not _agrees(word, tag, plural=plural, pronoun=(match["pronoun"] or "").partition("/")[0]):
        return "subject and verb do not agree"
    head, _, head_tag = (match["head"] or "").strip().rpartition("/")
    # A noun that stands alone but should not: "child is outdoors" is a caption's shorthand.
    alone = subject == "definite" and not match["the"] and head_tag == "NN"
    if alone and noun_kind(head) in ("person", "animal", "artifact", "group"):
        return "article missing"
    base = _base(word, tag, plural=plural) if verb == "main" else ""
    if base is None or (verb == "main" and _is_participle(match, word, base)):
        return "verb form not sure"
    stop = starts[-1] if match["stop"] else len(text)
    first = marked.count(" ", 0, match.start(verb) - len(match["adverb"] or ""))
    return Clause(
        text=text[:stop].rstrip(),
        stop=text[stop:].strip(),
        subject=subject,
        subject_words=tuple(words[:first]),
        plural=plural,
        verb=verb,
        word=word,
        tag=tag,
        base=base,
        start=starts[place],
        end=ends[place],
        adverb_start=starts[first],
        after=tuple(words[place + 1 :]),
        after_tags=tuple(tags[place + 1 :]),
        first_tag=tags[0],
        named=entities[0] is not None,
        joins=bool(re.search(r"(?:and|&)/\S+ ", match["rest"])),
    )


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
    is_loose = bool(re.match(r"(?:\S+/(?:IN|TO|RB|RP) |$)", match["rest"]))
    return word == forms["past"] == forms["participle"] and bare and not named and is_loose


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


@dataclass(frozen=True)
class FormedSentence:
    """A sentence made of another, and how."""

    text: str
    form: str


def negate_verb(clause: Clause) -> str:
    """The clause with *not* at its verb: *the man is not asleep*, *she does not sing*, *he's not here*."""
    text = clause.text
    if clause.verb == "main":
        form = {"VBZ": "does not", "VBD": "did not", "VBP": "do not"}[clause.tag]
        between = text[clause.adverb_start : clause.start]
        return f"{text[: clause.adverb_start]}{form} {between}{clause.base}{text[clause.end :]}{clause.stop}"
    if clause.word == "can":
        return f"{text[: clause.end]}not{text[clause.end :]}{clause.stop}"
    if clause.word in _EXPANDED:
        return f"{text[: clause.start]} {_EXPANDED[clause.word]} not{text[clause.end :]}{clause.stop}"
    return f"{text[: clause.end]} not{text[clause.end :]}{clause.stop}"


def negate_noun(clause: Clause) -> str | None:
    """The clause with *no*: *no man is asleep*, *no one is here*, *there is no dog*; None where that cannot be."""
    text, rest = clause.text, clause.text[clause.end :]
    if clause.subject == "someone":
        text = re.sub(r"(?i)some(?:one|body)\b", lambda match: match_case(match[0], "no one"), text, count=1)
        return text + clause.stop
    if clause.subject == "indefinite":
        return re.sub(r"(?i)an?\s+", lambda match: match_case(match[0][:1], "no "), text, count=1) + clause.stop
    if clause.subject != "there" or clause.word in ("'s", "’s", "'re", "’re") or not clause.after:
        return None
    if not clause.plural and clause.after[0] in ("a", "an"):
        rest = re.sub(r"(?i)\s*an?\s+", " ", rest, count=1)
    elif not clause.plural or clause.after_tags[0] not in ("NNS", "JJ", "NN"):
        return None
    return f"{text[: clause.end]} no{rest}{clause.stop}"


def lower_first_word(clause: Clause) -> str | None:
    """The clause as it stands within a sentence, without its full stop; None where its first word may be a name."""
    first = clause.text.split(maxsplit=1)[0]
    if not first[:1].isupper() or clause.named or re.match(r"I\b", first):
        return clause.text
    small = clause.text[:1].lower() + clause.text[1:]
    if clause.first_tag in _CLOSED:
        return small
    spellings = _spellings(first, {"N": "n", "J": "a", "V": "v"}.get(clause.first_tag[:1]))
    if clause.first_tag in ("NNP", "NNPS") or set(spellings) == {"upper"}:
        return clause.text if "lower" not in spellings else None
    if re.match(r"\S+\s+(?!I\b)[^\W\d_a-z]", clause.text):
        # "Star Wars can be seen", but also "Old European towns are pretty".
        return None
    # "Men" is first of all several people, and only then an island; "Polish" may be either.
    common = spellings[:1] == ["lower"] if clause.first_tag[:1] == "N" else set(spellings) == {"lower"}
    return small if common else None


def deny_truth(clause: Clause) -> str | None:
    """*It is not true that two men are asleep*; None where the clause cannot stand within a sentence."""
    inner = lower_first_word(clause)
    return None if inner is None else f"It is not true that {inner}{clause.stop}"


def negation(clause: Clause, premise: str, *, focused: bool = False) -> FormedSentence | None:
    """The negation of a clause about what a premise describes; None where none is sure.

    *Not* stays at the verb where the subject can only be what the premise is about; elsewhere *a man is not asleep* may
    be about another man, and *no man is asleep* or *it is not true that …* is used. ``focused``: the premise says a
    part of what the clause does, as it does of neutral ones; *the sad man does not sing* would deny that part, too.
    """
    known = frozenset(words_and_lemmas(premise))
    if _refers(clause, premise, known) and not (focused and _is_partly_known(clause, known)):
        return FormedSentence(negate_verb(clause), "not")
    form, text = "no", negate_noun(clause)
    if text is None:
        form, text = "not true", deny_truth(clause)
    return None if text is None else FormedSentence(text, form)


def negate_twice(clause: Clause) -> FormedSentence | None:
    """The clause denied and the denial denied, which says what it says; None where that cannot be."""
    inner = lower_first_word(clause)
    if inner is None:
        return None
    if clause.subject in ("definite", "pronoun"):
        return FormedSentence(f"It is not true that {inner[:1]}{negate_verb(clause)[1:]}", "not true, not")
    # "It is not true that no man is asleep" would be about any man, no longer about the one in the premise.
    return FormedSentence(f"It is not false that {inner}{clause.stop}", "not false")


def conjoin(first: Clause, second: Clause) -> str | None:
    """*A man is asleep, and two dogs are eating*; None where the second cannot stand within a sentence."""
    inner = lower_first_word(second)
    return None if inner is None else f"{first.text[:1].upper()}{first.text[1:]}, and {inner}."


def _refers(clause: Clause, premise: str, known: frozenset[str]) -> bool:
    """Whether the subject can only be what the premise is about."""
    if clause.subject in ("definite", "pronoun"):
        return True
    if clause.subject in ("there", "someone"):
        return False
    words = re.findall(r"[^\W\d_]+", premise.lower())
    beings = [word for word in words if noun_kind(word) in ("person", "animal", "group")]
    return _content(clause.subject_words) <= known and len(beings) <= (2 if clause.subject == "joined" else 1)


def _is_partly_known(clause: Clause, known: frozenset[str]) -> bool:
    """Whether the premise says some of what the clause does, or lacks a part of its subject."""
    new = {base for word in _content((clause.base, *clause.after)) for base in words_and_lemmas(word)}
    return (clause.subject != "pronoun" and not _content(clause.subject_words) <= known) or bool(new & known)


def _content(words: Iterable[str]) -> set[str]:
    return {word for word in words if word not in function_words()}


def _spellings(word: str, pos: str | None) -> list[str]:
    """How WordNet writes each of a word's senses, the most frequent first: with a ``lower`` or an ``upper`` letter."""
    known = wordnet()
    lemmas = (known.lemma(sense) for sense in known.senses(word.lower(), pos))
    return ["lower" if lemma[:1].islower() else "upper" for lemma in lemmas]
