"""Turns active clauses passive and passive ones active: *Orsolo built the gates*, *the gates were built by Orsolo*."""

from __future__ import annotations

import re

from acidtest.english.inflection import forms_by_slot
from acidtest.english.transitive import (
    TIME,
    NounPhrase,
    TaggedText,
    TransitiveClause,
    agree,
    clause_words,
    is_name,
    is_plural,
    place_phrase,
    pronoun_case,
)
from acidtest.english.values.names import is_calendar_name
from acidtest.english.wordnet import noun_kind

_NEGATION = re.compile(
    r"\b(?:no|not|never|none|nobody|nothing|neither|nor|only|any|few|fewer|more|less|than|half|same|other|another|such"
    r"|respectively|\w+self|\w+selves|one another|each other|lots?|yourself)\b|n['’]t\b",
    re.IGNORECASE,
)
_QUANTIFIER = re.compile(r"\b(?:every\w*|each|all|most|many|both|either|much)\b", re.IGNORECASE)
_OF_OBJECT = re.compile(r" (?:on|about|against) (?!(?:\d|Mon|Tues|Wednes|Thurs|Fri|Satur|Sun))", re.IGNORECASE)
"""Begins a phrase that belongs to the object before it: *the policy on trips*, *a lawsuit against the priory*."""
_PLACE_OF_NAME = re.compile(r" (?:at|near|by|between|of|under|opposite) ")
"""Begins a phrase that may belong to a name before it: *Kempton at Sandown*."""
_PLACE_OF_AGENT = re.compile(r" (?:at|between|by|for|from|in|near|on|to|with) ")
"""What follows such a phrase would seem to belong to it: *sent by a fight at the centre to hospital*."""
_DAY = re.compile(r" (?:on|last|yesterday|before|after|during|until|since)\b(?! (?:a|the) )")
"""A time that may be that of an event before it rather than of the verb."""
_POSSESSIVES = frozenset({"his", "her", "its", "their", "my", "your", "our", "own"})
_DEFINITE = frozenset({"the", "this", "that", "these", "those", *_POSSESSIVES})
_PRONOUNS = frozenset({"i", "he", "she", "it", "they", "we", "you", "him", "her", "them", "us", "me"})
_NO_SUBJECTS = frozenset({"it", "there", "this", "that", "which", "who", "what", "you"})


def turn_voice(clause: TransitiveClause, document: str) -> str:
    """The clause in the other voice; ``ValueError`` with the reason where that would change it or is not certain.

    The document tells whether the first word of the clause keeps its capital within the sentence.
    """
    tagged = clause.tagged
    if _NEGATION.search(tagged.text):
        raise ValueError("negation or comparison")
    if clause.listed.passive != "both" and not (clause.passive and clause.listed.passive):
        raise ValueError("verb not used in both voices")
    if any("PRP$" in tagged.tags[phrase.start : phrase.end] for phrase in (clause.subject, clause.other)):
        raise ValueError("possessive pronoun")
    if tagged.words[clause.subject.start] in _NO_SUBJECTS or re.match(r"\w+ \w+ing\b", clause.lead):
        raise ValueError("pronoun")
    is_indefinite = [not _is_definite(tagged, phrase) for phrase in (clause.subject, clause.other)]
    if any(is_indefinite) and _QUANTIFIER.search(tagged.text):
        raise ValueError("quantifier")
    if all(is_indefinite) and not _is_past(clause):
        # "Beavers build dams" is true, "dams are built by beavers" is not.
        raise ValueError("no definite subject or object")
    return _to_active(clause, document) if clause.passive else _to_passive(clause, document)


def _is_past(clause: TransitiveClause) -> bool:
    if clause.auxiliaries:
        return clause.auxiliaries[0] in ("was", "were", "had")
    forms = forms_by_slot(clause.listed.verb, "verb")
    return clause.tagged.words[clause.verb] == forms["past"]


def _words(tagged: TaggedText, phrase: NounPhrase) -> list[str]:
    return tagged.words[phrase.start : phrase.end]


def _is_definite(tagged: TaggedText, phrase: NounPhrase) -> bool:
    return (
        tagged.words[phrase.start] in _DEFINITE | _PRONOUNS or is_name(tagged, phrase) or "'s" in _words(tagged, phrase)
    )


def _to_passive(clause: TransitiveClause, document: str) -> str:
    tagged = clause.tagged
    plural = is_plural(tagged, clause.other)
    if (
        plural is None
        or tagged.words[clause.other.head] in clause_words("no patient")
        or tagged.tokens[clause.other.start][0].isdigit()
    ):
        raise ValueError("number of the object not sure")
    if tagged.words[clause.other.start] in ("i", "me", "you"):
        raise ValueError("pronoun")
    if clause_words("time noun") & {*_words(tagged, clause.other)} or (
        clause.listed.verb in clause_words("object and of") and "of" in _words(tagged, clause.other)
    ):
        raise ValueError("object not sure")
    if re.search(r"[A-Z]\S* [$€£]?\d[\d.,]* [a-z]", tagged.span(clause.other.start, clause.other.end)):
        raise ValueError("two objects")
    if not clause.auxiliaries and not _is_past(clause) and tagged.tags[clause.other.start] in ("NN", "NNS", "JJ"):
        # "Klimt draws hotdogs" is about some, "hotdogs are drawn by Klimt" about all.
        raise ValueError("object without article")
    of_object, rest = _split_rest(clause)
    word = tagged.words[clause.verb]
    forms = forms_by_slot(clause.listed.verb, "verb")
    if clause.auxiliaries:
        first, been = clause.auxiliaries[0], "been" if clause.auxiliaries[0] in ("has", "have", "had") else "be"
        be = f"{agree(first, 'have', plural=plural) if been == 'been' else first} {clause.adverb}{been}"
    elif word == forms["past"] == forms["base"]:
        raise ValueError("tense not sure")
    else:
        be = agree("was" if word == forms["past"] else "is", "be", plural=plural) + f" {clause.adverb}".rstrip()
    agent = place_phrase(tagged, clause.subject, document, initial=False)
    patient = pronoun_case(tagged.span(clause.other.start, clause.other.end), subject=True) + of_object
    if agent is None:
        raise ValueError("first word may be a name")
    if rest and not clause.rest_is_time and _PLACE_OF_AGENT.search(agent):
        raise ValueError("more after the object")
    agent = pronoun_case(agent, subject=False)
    begin = patient if clause.lead else patient[:1].upper() + patient[1:]
    return f"{clause.lead}{begin} {be} {forms['participle']} by {agent}{rest}{clause.stop}"


def _split_rest(clause: TransitiveClause) -> tuple[str, str]:
    """What follows the object: the part that belongs to it, and the adverbials of the clause."""
    tagged, rest, other = clause.tagged, clause.rest, clause.other
    if not rest:
        return "", ""
    is_closed = (is_name(tagged, other) and tagged.tokens[other.start] != "The") or tagged.tags[other.head] == "PRP"
    kind = noun_kind(tagged.words[other.head].removesuffix("s"))
    if clause.listed.verb in clause_words("keeps object") or (kind in ("act", "event") and _DAY.search(rest)):
        # "The passage discusses Kempton at Sandown", "it postponed the repairs on Monday".
        raise ValueError("more after the object")
    if clause.rest_is_time or (is_closed and not _PLACE_OF_NAME.match(rest)):
        return "", rest
    preposition = rest.split()[0]
    if preposition in clause.listed.transfer.split() or re.match(r" for (?:[$€£]?\d|an? \w+$)", rest):
        return "", rest
    time = re.search(rf"(?: {TIME})+$", rest)
    phrase = rest[: time.start()] if time else rest
    is_about = not phrase.startswith(" on ") or (
        clause.listed.verb != "blame" and kind in ("communication", "cognition", "possession", "act")
    )
    if _OF_OBJECT.match(phrase) and is_about and len(phrase.split()) < 6 and not _POSSESSIVES & {*phrase.split()}:
        return phrase, rest[len(phrase) :]
    # "Bought a tower in the square": this may belong to the tower or not.
    raise ValueError("more after the object")


def _to_active(clause: TransitiveClause, document: str) -> str:
    tagged = clause.tagged
    plural = is_plural(tagged, clause.other)
    if plural is None or not _may_act(tagged, clause.other):
        raise ValueError("no agent")
    if clause.rest and not clause.rest_is_time:
        raise ValueError("more after the agent")
    forms = forms_by_slot(clause.listed.verb, "verb")
    first = clause.auxiliaries[0]
    if first in ("has", "have", "had"):
        verb = f"{agree(first, 'have', plural=plural)} {clause.adverb}{forms['participle']}"
    elif len(clause.auxiliaries) > 1:
        verb = f"{first} {clause.adverb}{forms['base']}"
    else:
        verb = clause.adverb + (forms["past"] if first in ("was", "were") else forms["base" if plural else "third"])
    patient = place_phrase(tagged, clause.subject, document, initial=False)
    if patient is None:
        raise ValueError("first word may be a name")
    agent = pronoun_case(tagged.span(clause.other.start, clause.other.end), subject=True)
    begin = agent if clause.lead else agent[:1].upper() + agent[1:]
    patient = pronoun_case(patient, subject=False)
    return f"{clause.lead}{begin} {verb} {patient}{clause.middle}{clause.rest}{clause.stop}"


def _may_act(tagged: TaggedText, phrase: NounPhrase) -> bool:
    """Whether a phrase after *by* names who did it, and not when, where or how."""
    word, tag = tagged.words[phrase.head], tagged.tags[phrase.head]
    if tag == "PRP":
        return word in _PRONOUNS
    if is_name(tagged, phrase):
        return not re.search(r"\d", word) and not is_calendar_name(tagged.tokens[phrase.head])
    singular = word.removesuffix("s")
    return any(noun_kind(noun) in ("person", "animal", "group") for noun in (word, singular))
