"""Sentences that are one plain finite clause, taken apart into subject, verb and the rest; negated and conjoined.

*Two men in hats | are | sleeping on a bench.* Only sentences that are certain to be one clause are accepted; a second
clause, a comma, a fronted phrase or a missing finite verb rules a sentence out. A negation must have the whole sentence
in its scope: *the man is not asleep*, *no dog is asleep*, *there is no dog* or, where these would be ambiguous, *it is
not true that two dogs are asleep*.

The finite verb of a sentence's main clause: found by its tags, negated, and freed of a negation.

*Halden Brace | designed | the gates that Orsolo Marine built.* Other clauses may follow the verb, none may precede it;
a sentence in which another word could be the verb is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import polars as pl

from acidtest.english.cautions import caution_pattern
from acidtest.english.inflection import base_form_candidates, forms_by_slot, inflect, match_case
from acidtest.english.sentences import Sentences, first_matching_reason
from acidtest.english.tagging import tag_texts
from acidtest.english.wordnet import noun_kind, wordnet
from acidtest.io.wordlists import packaged_table

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
    # "Has painted nails" may be an action or a possession; in "had overslept" the participle may be tagged NN.
    rf"(?P<adverb>{_ADVERBS})(?P<main>(?!{_HAVE}(?:\S+/RB )?(?:\S+/(?:VBN|VBD) |\S+/NN (?:[.!]/\S+ )?$))"
    r"\S+/(?:VBZ|VBP|VBD) ))"
)
_CLAUSE = re.compile(rf"^{_SUBJECT}{_VERB}(?P<rest>(?:\S+ )*?)(?P<stop>\./\S+ )?$")
_SECOND_CLAUSE = re.compile(r"\S+/(?:VBZ|VBP|VBD|MD|WDT|WP|WP\$|WRB|UH|EX) |(?:i|he|she|they|we)/PRP ")
_UNFINISHED = re.compile(r"(?<!\S)(?:(?:a|an|the)/\S+|\S+/(?:CC|PRP\$|WP\$|POS)) $")
_VERB_KINDS: tuple[Verb, ...] = ("be", "have", "modal", "main")

_CLOSED_CLASS_TAGS = frozenset({"DT", "PRP", "PRP$", "EX", "CD", "IN"})
_FULL_FORMS = {"'ll": "will", "’ll": "will", "'ve": "have", "’ve": "have"}


@dataclass(frozen=True)
class Clause:
    """A sentence of one finite clause; words are in lower case, positions are offsets in ``text``."""

    text: str
    stop: str
    """The full stop, which is not part of ``text``; empty if there was none."""
    subject: Subject
    subject_words: tuple[str, ...]
    plural: bool
    verb: Verb
    word: str
    tag: str
    base: str
    """The base form of a main verb, empty for auxiliaries."""
    start: int
    """Where the finite verb, ``word``, begins."""
    end: int
    adverb_start: int
    """Where an adverb directly before a main verb begins; ``start`` if there is none."""
    after: tuple[str, ...]
    """The words after the finite verb."""
    after_tags: tuple[str, ...]
    first_tag: str
    named: bool
    """Whether the first word is part of a name."""
    joins: bool
    """Whether there is an *and* after the verb."""


def clause_doubts(texts: pl.Series, use: str) -> pl.Series:
    """For each text the first reason why it is unfit for a use, null where there is none.

    ``use`` is ``any`` (it asserts nothing), ``clause`` (it may be several) or ``negation`` (where *not* is ambiguous).
    """
    table = packaged_table("contexts/clauses.tsv").filter(use=use).select("reason", "pattern")
    return first_matching_reason(texts, table.rows())


def non_assertions(texts: pl.Series, tagger: str = "auto") -> pl.Series:
    """For each text the reason why it asserts nothing that could be true, null where there is none."""
    # Tagging is slow, and the first five words are enough to recognise an imperative.
    frame = pl.DataFrame({"reason": clause_doubts(texts, "any"), "text": texts}).with_row_index("row")
    beginnings = frame.select(pl.col("text").str.split(" ").list.head(5).list.join(" ")).to_series()
    tokens = tag_texts(beginnings, tagger).unique("text", keep="first", maintain_order=True)
    commands = tokens.filter(pl.col("tag") == "VB")["text"]
    imperative = pl.when(pl.col("row").is_in(commands.implode())).then(pl.lit("imperative"))
    # A title has no full stop, and more words with a capital than without.
    upper, lower = (pl.col("text").str.count_matches(rf"\b\p{{{case}}}\w{{2,}}") for case in ("Lu", "Ll"))
    is_title = (upper > lower) & ~pl.col("text").str.contains(r"[.!?]\W*$")
    return frame.select(pl.coalesce("reason", pl.when(is_title).then(pl.lit("title")), imperative)).to_series()


def clauses(texts: pl.Series, tagger: str = "auto") -> list[Clause | str]:
    """For each text its clause, or the reason why it is not one plain clause."""
    texts = texts.str.strip_chars()
    doubts = clause_doubts(texts, "any").fill_null(clause_doubts(texts, "clause")).to_list()
    candidates = pl.Series([number for number, reason in enumerate(doubts) if reason is None], dtype=pl.UInt32)
    results: list[Clause | str] = [reason or "no finite verb" for reason in doubts]
    columns = ("token", "tag", "start", "end", "entity")
    for text, *tokens in Sentences.of(texts.gather(candidates), tagger).by_text(*columns):
        number = candidates[text]
        results[number] = _parse_clause(texts[number], *tokens)
    return results


def _parse_clause(
    text: str, tokens: list[str], tags: list[str], starts: list[int], ends: list[int], entities: list[str | None]
) -> Clause | str:
    if text.isupper() or sum(token.isupper() and len(token) > 1 for token in tokens) > 2:
        return "written in capitals"
    words = [token.lower() for token in tokens]
    tagged = "".join(f"{word}/{tag} " for word, tag in zip(words, tags, strict=True))
    match = _CLAUSE.match(tagged)
    if match is None:
        return "no plain subject and finite verb"
    if _SECOND_CLAUSE.search(match["rest"]):
        return "several clauses"
    if _UNFINISHED.search(match["rest"]):
        return "sentence without its end"
    verb: Verb = next(kind for kind in _VERB_KINDS if match[kind])
    verb_index = tagged.count(" ", 0, match.start(verb))
    subject, plural = _classify_subject(match)
    word, tag = words[verb_index], tags[verb_index]
    if subject is None or not _agrees(word, tag, plural=plural, pronoun=(match["pronoun"] or "").partition("/")[0]):
        return "subject and verb do not agree"
    head, _, head_tag = (match["head"] or "").strip().rpartition("/")
    # A singular noun that needs an article: captions are written like "child is outdoors".
    is_bare = subject == "definite" and not match["the"] and head_tag == "NN"
    if is_bare and noun_kind(head) in ("person", "animal", "artifact", "group"):
        return "article missing"
    base = _base_form(word, tag, plural=plural) if verb == "main" else ""
    if base is None or (verb == "main" and _is_participle(match, word, base)):
        return "verb form not sure"
    stop_start = starts[-1] if match["stop"] else len(text)
    predicate_index = tagged.count(" ", 0, match.start(verb) - len(match["adverb"] or ""))
    return Clause(
        text=text[:stop_start].rstrip(),
        stop=text[stop_start:].strip(),
        subject=subject,
        subject_words=tuple(words[:predicate_index]),
        plural=plural,
        verb=verb,
        word=word,
        tag=tag,
        base=base,
        start=starts[verb_index],
        end=ends[verb_index],
        adverb_start=starts[predicate_index],
        after=tuple(words[verb_index + 1 :]),
        after_tags=tuple(tags[verb_index + 1 :]),
        first_tag=tags[0],
        named=entities[0] is not None,
        joins=bool(re.search(r"(?:and|&)/\S+ ", match["rest"])),
    )


def _classify_subject(match: re.Match[str]) -> tuple[Subject | None, bool]:
    """How the subject refers, and whether it is plural; None where article and noun do not agree."""
    if match["pronoun"]:
        return "pronoun", match["pronoun"].startswith(("they", "we", "you", "i/"))
    if match["someone"]:
        return "someone", False
    if match["there"]:
        return "there", bool(re.match(r"(?:are|were|['’]re)/", match["be"] or ""))
    plural = match["head"].strip().endswith(("/NNS", "/NNPS"))
    is_possessed = "/POS " in match["inside"]
    if (match["a"] and plural) or (match["number"] and not plural):
        return None, plural
    if match["joined"]:
        return "joined", True
    if match["the"] or match["head"].strip().endswith(("/NNP", "/NNPS")):
        return "definite", plural
    if match["a"]:
        # "A woman's job": *no* would negate the woman, not the job.
        return (None if is_possessed else "indefinite"), plural
    if match["number"]:
        return "number", plural
    # A noun without article: *water* counts as definite, but *men* may be some men or all.
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


def _base_form(word: str, tag: str, *, plural: bool) -> str | None:
    """The base form of a main verb; None where it is uncertain."""
    if word in ("do", "does", "did", "have", "has", "had"):
        return {"d": "do", "h": "have"}[word[0]]
    slot = {"VBZ": "third", "VBD": "past", "VBP": "base"}[tag]
    known = [base for base in _verb_lemmas(word) if forms_by_slot(base, "verb")[slot] == word]
    if slot == "base" and known and forms_by_slot(word, "verb")["past"] == word:
        return None
    if slot == "past" and word in known and plural:
        # "They cut" may be present or past.
        return None
    return known[0] if known else None


@cache
def _verb_lemmas(word: str) -> tuple[str, ...]:
    lemmas = [base for base in base_form_candidates(word, "v") if base in wordnet().base_forms(base, "v")]
    return tuple(dict.fromkeys(lemmas))


def _is_participle(match: re.Match[str], word: str, base: str) -> bool:
    """Whether a past tense may be a participle instead: *two cars parked near a crane* is a caption."""
    forms = forms_by_slot(base, "verb")
    is_bare = not (match["pronoun"] or match["someone"] or match["the"])
    is_named = bool(match["head"]) and "/NNP" in match["head"]
    lacks_object = bool(re.match(r"(?:\S+/(?:IN|TO|RB|RP) |$)", match["rest"]))
    return word == forms["past"] == forms["participle"] and is_bare and not is_named and lacks_object


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
    """A negated sentence and the form of its negation, such as *not* or *not true*."""

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
    if clause.word in _FULL_FORMS:
        return f"{text[: clause.start]} {_FULL_FORMS[clause.word]} not{text[clause.end :]}{clause.stop}"
    return f"{text[: clause.end]} not{text[clause.end :]}{clause.stop}"


def negate_noun(clause: Clause) -> str | None:
    """The clause with *no*: *no man is asleep*, *no one is here*, *there is no dog*; None where *no* does not fit."""
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
    """The clause as written inside a longer sentence, without full stop; None where its first word may be a name."""
    first = clause.text.split(maxsplit=1)[0]
    if not first[:1].isupper() or clause.named or re.match(r"I\b", first):
        return clause.text
    lowered = clause.text[:1].lower() + clause.text[1:]
    if clause.first_tag in _CLOSED_CLASS_TAGS:
        return lowered
    spellings = _spellings(first, {"N": "n", "J": "a", "V": "v"}.get(clause.first_tag[:1]))
    if clause.first_tag in ("NNP", "NNPS") or set(spellings) == {"upper"}:
        return clause.text if "lower" not in spellings else None
    if re.match(r"\S+\s+(?!I\b)[^\W\d_a-z]", clause.text):
        # The second word has a capital, too: "Star Wars can be seen" or "Old European towns are pretty".
        return None
    # A noun is common if its most frequent sense is ("Men"), other words only if all their senses are (not "Polish").
    is_common = spellings[:1] == ["lower"] if clause.first_tag[:1] == "N" else set(spellings) == {"lower"}
    return lowered if is_common else None


def deny_truth(clause: Clause) -> str | None:
    """*It is not true that two men are asleep*; None where the clause cannot stand within a sentence."""
    inner = lower_first_word(clause)
    return None if inner is None else f"It is not true that {inner}{clause.stop}"


def negation(clause: Clause, premise: str, *, focused: bool = False) -> FormedSentence | None:
    """The negation of a clause about the situation of a premise; None where none is certain.

    *Not* is put at the verb if the subject must be one that the premise describes; otherwise *a man is not asleep* may
    be about another man, so *no man is asleep* or *it is not true that …* is used. Set ``focused`` for neutral clauses:
    if the premise says that a man sings, *the sad man does not sing* would contradict it, so *not* is avoided there.
    """
    if refers_to_premise(clause, premise) and not (focused and _is_partly_known(clause, premise)):
        return FormedSentence(negate_verb(clause), "not")
    form, text = "no", negate_noun(clause)
    if text is None:
        form, text = "not true", deny_truth(clause)
    return None if text is None else FormedSentence(text, form)


def negate_twice(clause: Clause) -> FormedSentence | None:
    """The clause with a double negation, which keeps its meaning; None where it cannot be part of a sentence."""
    inner = lower_first_word(clause)
    if inner is None:
        return None
    if clause.subject in ("definite", "pronoun"):
        return FormedSentence(f"It is not true that {inner[:1]}{negate_verb(clause)[1:]}", "not true, not")
    # "It is not true that no man is asleep" would be about any man, not about the one in the premise.
    return FormedSentence(f"It is not false that {inner}{clause.stop}", "not false")


def conjoin(first: Clause, second: Clause) -> str | None:
    """*A man is asleep, and two dogs are eating*; None where the second cannot stand within a sentence."""
    inner = lower_first_word(second)
    return None if inner is None else f"{first.text[:1].upper()}{first.text[1:]}, and {inner}."


def refers_to_premise(clause: Clause, premise: str) -> bool:
    """Whether the subject must be somebody or something that the premise describes."""
    if clause.subject in ("definite", "pronoun"):
        return True
    if clause.subject in ("there", "someone"):
        return False
    beings = [w for w in re.findall(r"[^\W\d_]+", premise.lower()) if noun_kind(w) in ("person", "animal", "group")]
    is_alone = len(beings) <= (2 if clause.subject == "joined" else 1)
    return is_alone and _content_words(clause.subject_words) <= set(words_and_lemmas(premise))


def _is_partly_known(clause: Clause, premise: str) -> bool:
    """Whether the premise has content words of the clause's predicate, or lacks some of its subject."""
    known = set(words_and_lemmas(premise))
    predicate = {base for word in _content_words((clause.base, *clause.after)) for base in words_and_lemmas(word)}
    lacks_subject = clause.subject != "pronoun" and not _content_words(clause.subject_words) <= known
    return lacks_subject or bool(predicate & known)


def _content_words(words: Iterable[str]) -> set[str]:
    return {word for word in words if word not in function_words()}


def _spellings(word: str, pos: str | None) -> list[str]:
    """The case, ``lower`` or ``upper``, of the first letter of each sense in WordNet, the most frequent sense first."""
    net = wordnet()
    lemmas = (net.lemma(sense) for sense in net.senses(word.lower(), pos))
    return ["lower" if lemma[:1].islower() else "upper" for lemma in lemmas]


_FINITE = ("VBZ", "VBP", "VBD", "MD")
_NOUNS = ("NN", "NNS", "NNP", "NNPS")
_BE = ("is", "are", "was", "were", "am")
_MODALS = ("will", "can", "must", "shall")
_MODIFYING_ADVERBS = ("first", "last", "then", "all", "both", "each")
_PREPOSITIONS = (
    "in",
    "on",
    "at",
    "by",
    "since",
    "after",
    "during",
    "from",
    "until",
    "under",
    "around",
    "within",
    "before",
)
_SUBORDINATORS = re.compile(
    r"(?:who|whom|whose|which|that|when|while|because|although|though|whereas|where|how|what|why|if|unless|whether|"
    r"until|as|than|after|before|since|and|but|or|so|,|;|:|--|\()/",
)
_DEFINITE = ("the", "this", "that", "these", "those", "his", "her", "its", "their", "our", "my")
_PRONOUNS = ("he", "she", "it", "they", "we", "i")
_NOT_IN_SUBJECTS = ("/WP", "/WDT", "/VBG", "/RP")
_NOT = ("not", "n't", "n’t")


@dataclass(frozen=True)
class Predicate:
    """The finite verb of the main clause of ``text``; positions are offsets, words are in lower case."""

    text: str
    word: str
    tag: str
    start: int
    end: int
    subject: tuple[str, ...]
    subject_tags: tuple[str, ...]
    plural: bool
    """Whether the subject is plural."""
    next_words: tuple[str, ...]
    """The words after the verb."""
    next_starts: tuple[int, ...]
    next_ends: tuple[int, ...]
    next_tags: tuple[str, ...]

    @property
    def is_auxiliary(self) -> bool:
        """Whether *not* can follow the verb directly."""
        if self.word in ("has", "have", "had"):
            following = [tag for tag in self.next_tags[:2] if tag != "RB"]
            return following[:1] == ["VBN"]
        return self.word in (*_BE, *_MODALS)

    @property
    def is_past(self) -> bool:
        """Whether the clause is about the past: *rose*, *had risen*, *has risen*."""
        return self.tag == "VBD" or (self.word in ("has", "have") and self.is_auxiliary)

    @property
    def joins_verbs(self) -> bool:
        """Whether *and* joins another verb: *it opened in 2008 and carried passengers*."""
        if "and" not in self.next_words:
            return False
        place = self.next_words.index("and") + 1
        return self.next_tags[place : place + 1] == ("VBN",) or any(tag in _FINITE for tag in self.next_tags[place:])

    @property
    def subject_problem(self) -> str | None:
        """Why a negation of the verb need not be the opposite of the whole sentence; None for *the man* and *he*."""
        first, tag = self.subject[0], self.subject_tags[0]
        rest = self.subject[1:] if first in ("the", "this", "that") else self.subject
        is_known = first in _DEFINITE or first in _PRONOUNS or tag in ("NNP", "NNPS", "NN", "JJ")
        # An article inside the subject belongs to another noun: "the price of a lunch".
        inner = " ".join(word for word in rest[1:] if word not in ("a", "an", "one", "number"))
        quantified = caution_pattern("subject")
        if not is_known or quantified.match(first) or quantified.search(inner):
            return "quantified or indefinite subject"
        if self.plural and tag in ("NN", "JJ") and "and" not in self.subject:
            return "quantified or indefinite subject"
        is_adverb = self.subject_tags[-1] in ("RB", "RBR", "RBS") or self.subject[-1] in (
            "first",
            "last",
            "then",
            "all",
        )
        return "adverb before the verb" if is_adverb else None


def main_predicate(
    text: str, tokens: Sequence[str], tags: Sequence[str], starts: Sequence[int], ends: Sequence[int]
) -> Predicate | str:
    """The main finite verb of a tagged sentence, or the reason why it is not certain which one it is."""
    words = [token.lower() for token in tokens]
    begin = _subject_start(words, tags)
    verb = next((place for place in range(begin, len(tags)) if tags[place] in _FINITE), None)
    tag = "" if verb is None else tags[verb]
    if verb is None:
        # Taggers often take a past tense for a participle; without another verb it is one.
        verb = next((place for place in range(begin, len(tags)) if tags[place] == "VBN"), None)
        tag = "VBD"
    if verb is None or verb == begin:
        return "no plain subject and finite verb"
    tagged = [f"{word}/{tag}" for word, tag in zip(words, tags, strict=True)]
    before = [item for item in tagged[begin:verb] if not item.startswith("and/")]
    # The first word may be the "that" of "that firm", or a participle as in "fishing is banned".
    starts_clause = _SUBORDINATORS.match(before[0]) and not before[0].startswith("that/")
    if starts_clause or any(_SUBORDINATORS.match(item) or item.endswith(_NOT_IN_SUBJECTS) for item in before[1:]):
        return "no plain subject and finite verb"
    if _has_second_verb(tagged, verb):
        return "several clauses"
    plural = is_plural_phrase(words[begin:verb], tags[begin:verb])
    word = words[verb]
    if not _agrees_in_form(word, tag, plural=plural, subject=words[begin]):
        return "subject and verb do not agree"
    return Predicate(
        text=text,
        word=word,
        tag=tag,
        start=starts[verb],
        end=ends[verb],
        subject=tuple(words[begin:verb]),
        subject_tags=tuple(tags[begin:verb]),
        plural=plural,
        next_words=tuple(words[verb + 1 :]),
        next_starts=tuple(starts[verb + 1 :]),
        next_ends=tuple(ends[verb + 1 :]),
        next_tags=tuple(tags[verb + 1 :]),
    )


def _subject_start(words: Sequence[str], tags: Sequence[str]) -> int:
    """Where the subject begins: behind a phrase in front such as *In 2021* or *At the end of May,*."""
    if words[0] not in _PREPOSITIONS:
        return 0
    if "," in words[:10]:
        comma = words.index(",")
        return comma + 1 if not any(tag in _FINITE for tag in tags[:comma]) else 0
    is_time = len(tags) > 2 and (tags[1] == "CD" or words[1] in _months())
    place = 2 if not (is_time and len(tags) > 3 and tags[2] == "CD") else 3
    return place if is_time and tags[place] in ("DT", "NNP", "PRP", "PRP$") else 0


@cache
def _months() -> frozenset[str]:
    names = "january february march april may june july august september october november december"
    return frozenset(names.split())


def _has_second_verb(tagged: Sequence[str], verb: int) -> bool:
    """Whether a finite verb follows with nothing before it that could begin another clause."""
    for item in tagged[verb + 1 :]:
        if _SUBORDINATORS.match(item) or item.endswith(("/WP", "/WDT", "/WRB", "/WP$")):
            return False
        if item.endswith(tuple(f"/{tag}" for tag in _FINITE)):
            return True
    return False


def is_plural_phrase(words: Sequence[str], tags: Sequence[str]) -> bool:
    """Whether a noun phrase takes a plural verb; what follows its head (*of the lamps*) does not count."""
    if "and" in words or words[0] in ("they", "we", "these", "those"):
        return True
    begin = 2 if words[0] in ("some", "most", "many", "several", "few", "half", "all") and "of" in words[:2] else 0
    ends = (place for place in range(begin + 1, len(tags)) if tags[place] in ("IN", "TO", "VBN", ",", "WDT"))
    nouns = [tag for tag in tags[begin : next(ends, len(tags))] if tag in _NOUNS]
    return bool(nouns) and nouns[-1] == "NNS"


def _agrees_in_form(word: str, tag: str, *, plural: bool, subject: str) -> bool:
    if subject == "i":
        return word in ("was", "am", "have", "will", "can") or tag in ("VBD", "VBP")
    if word in ("is", "was", "has") or tag == "VBZ":
        return not plural
    return plural if word in ("are", "were", "have") or tag == "VBP" else word != "am"


def insert_negation(predicate: Predicate) -> str | None:
    """The sentence with *not* at its verb; None where the verb takes no *not* or its base form is uncertain."""
    text, start, end = predicate.text, predicate.start, predicate.end
    if predicate.word in ("did", "does", "do", "used"):
        return None
    if predicate.is_auxiliary:
        return f"{text[:end]}not{text[end:]}" if predicate.word == "can" else f"{text[:end]} not{text[end:]}"
    if predicate.tag == "MD":
        return None
    base = "have" if predicate.word in ("has", "have", "had") else base_form(predicate.word, predicate.tag)
    # "I put 75 dollars on it" may be past or present.
    if base is None or (predicate.tag == "VBP" and inflect(base, "v", "VBD") == base):
        return None
    auxiliary = {"VBZ": "does not", "VBD": "did not", "VBP": "do not"}[predicate.tag]
    return f"{text[:start]}{auxiliary} {base}{text[end:]}"


def base_form(word: str, tag: str) -> str | None:
    """The base form of a finite verb with this tag; None where it is unknown or there are several."""
    slot = {"VBZ": "third", "VBD": "past", "VBP": "base"}.get(tag)
    net = wordnet()
    bases = {
        base
        for base in base_form_candidates(word, "v")
        if base in net.base_forms(base, "v") and slot and forms_by_slot(base, "verb")[slot] == word
    }
    # "Found" is the past of "find" and the base form of another verb; only the tag's own slot counts.
    return bases.pop() if len(bases) == 1 else None


def remove_negation(predicate: Predicate) -> str | None:
    """The sentence without the *not* or *never* at its verb, or with *some* for *no*; None where it has none there."""
    text, words, tags = predicate.text, predicate.next_words, predicate.next_tags
    starts, ends = predicate.next_starts, predicate.next_ends
    if not words:
        return None
    if words[0] in _NOT:
        if predicate.word in ("did", "does", "do"):
            return _without_do(predicate)
        word = {"wo": "will", "ca": "can"}.get(predicate.word, predicate.word)
        word = "may" if word == "must" else word
        rest = text[ends[0] :]
        if words[1:2] == ("yet",):
            rest = f" already{text[ends[1] :]}"
        return f"{text[: predicate.start]}{match_case(predicate.word, word)}{rest}"
    if words[0] == "never" and predicate.is_auxiliary:
        return text[: predicate.end] + text[ends[0] :]
    if words[0] == "no" and words[1:2] != ("longer",) and tags[1:2] and tags[1] in ("NN", "NNS", "JJ"):
        return f"{text[: starts[0]]}some{text[ends[0] :]}"
    return None


def _without_do(predicate: Predicate) -> str | None:
    words, ends = predicate.next_words, predicate.next_ends
    if len(words) < 2 or words[1] not in wordnet().base_forms(words[1], "v"):
        return None
    tag = {"did": "VBD", "does": "VBZ", "do": "VBP"}[predicate.word]
    verb = "has" if (words[1], tag) == ("have", "VBZ") else inflect(words[1], "v", tag)
    return f"{predicate.text[: predicate.start]}{verb}{predicate.text[ends[1] :]}"


def finite_form(base: str, *, plural: bool) -> str:
    """The present tense of a verb: *serve*, *serves*; *are*, *is*."""
    if base in ("be", "have"):
        return {("be", True): "are", ("be", False): "is", ("have", True): "have", ("have", False): "has"}[base, plural]
    return inflect(base, "v", "VBP" if plural else "VBZ")


def past_form(participle: str, *, plural: bool) -> str | None:
    """The past tense for a participle: *taken*, *took*; *been*, *was* or *were*; None where it is unknown."""
    if participle == "been":
        return "were" if plural else "was"
    bases = [base for base in base_form_candidates(participle, "v") if base in wordnet().base_forms(base, "v")]
    pasts = {inflect(base, "v", "VBD") for base in bases if inflect(base, "v", "VBN") == participle}
    return pasts.pop() if len(pasts) == 1 else None
