"""The negation, the double negation and the conjunction of sentences of one clause.

A negation has the whole sentence in its scope, or it is not formed: *the man is not asleep*, *no dog is asleep*, *there
is no dog*, and where nothing else is unmistakable *it is not true that two dogs are asleep*.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from acidtest.text.clauses import Clause, function_words, words_and_lemmas
from acidtest.text.inflection import match_case
from acidtest.text.wordnet import noun_kind, wordnet

_NOUN_FIRST = re.compile(r"\s*(an?)\s+", re.IGNORECASE)
_ARTICLE = re.compile(r"an?\s+", re.IGNORECASE)
_SOMEONE = re.compile(r"some(?:one|body)\b", re.IGNORECASE)
_CLOSED = frozenset({"DT", "PRP", "PRP$", "EX", "CD", "IN"})
_EXPANDED = {"'ll": "will", "’ll": "will", "'ve": "have", "’ve": "have"}

_BEINGS = frozenset({"person", "animal", "group"})


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
    text = clause.text
    if clause.subject == "someone":
        return _SOMEONE.sub(lambda match: match_case(match[0], "no one"), text, count=1) + clause.stop
    if clause.subject == "indefinite":
        return _ARTICLE.sub(lambda match: match_case(match[0][:1], "no "), text, count=1) + clause.stop
    if clause.subject != "there" or clause.word in ("'s", "’s", "'re", "’re") or not clause.after:
        return None
    rest = text[clause.end :]
    if not clause.plural and clause.after[0] in ("a", "an"):
        return f"{text[: clause.end]} no {_NOUN_FIRST.sub('', rest, count=1)}{clause.stop}"
    if clause.plural and clause.after_tags[0] in ("NNS", "JJ", "NN"):
        return f"{text[: clause.end]} no{rest}{clause.stop}"
    return None


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
    text = negate_noun(clause)
    if text is not None:
        return FormedSentence(text, "no")
    text = deny_truth(clause)
    return None if text is None else FormedSentence(text, "not true")


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
    subject = {word for word in clause.subject_words if word not in function_words()}
    return subject <= known and len(_beings(premise)) <= (2 if clause.subject == "joined" else 1)


def _is_partly_known(clause: Clause, known: frozenset[str]) -> bool:
    """Whether the premise says some of what the clause does, or lacks a part of its subject."""
    subject = {word for word in clause.subject_words if word not in function_words()}
    new = {
        base for word in (clause.base, *clause.after) if word not in function_words() for base in words_and_lemmas(word)
    }
    return (clause.subject != "pronoun" and not subject <= known) or bool(new & known)


def _beings(premise: str) -> list[str]:
    """The words for persons, animals and groups in a text."""
    return [word for word in re.findall(r"[^\W\d_]+", premise.lower()) if noun_kind(word) in _BEINGS]


def _spellings(word: str, pos: str | None) -> list[str]:
    """How WordNet writes each of a word's senses, the most frequent first: with a ``lower`` or an ``upper`` letter."""
    known = wordnet()
    lemmas = (known.lemma(sense) for sense in known.senses(word.lower(), pos))
    return ["lower" if lemma[:1].islower() else "upper" for lemma in lemmas]
