"""How the sentences of a document hang together: which can be moved without a pronoun or "the gates" losing its sense.

Sentences are not parsed. Words of ``data/grounding/links.tsv`` tie a sentence to the one before it, and so does a
definite ("the driver") that no earlier sentence prepares; one that an earlier sentence does prepare must stay behind
that sentence. All of it is strict: a sentence in doubt stays where it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import pairwise, takewhile

from acidtest.suites.grounding.documents import SourceDocument, content_stems, names_and_numbers

_DEFINITE = re.compile(r"\b[Tt]he (?=([^\W_][\w’'-]*(?: [^\W_][\w’'-]*){0,5}))")
_THAT = re.compile(r"\bthat\b")
_BEFORE_THAT = re.compile(
    r"\b(?:sa(?:y|ys|id|ying)|showe?[ds]?|shows|found|finds?|believe[ds]?|thinks?|thought|means?|meant|report(?:s|ed)?"
    r"|warn(?:s|ed)?|agree[ds]?|added|adds|hopes?|hoped|fear(?:s|ed)?|know[ns]?|knew|argue[ds]?|claim(?:s|ed)?|so"
    r"|suggest(?:s|ed)?|announced?|confirm(?:s|ed)?|decided?|ensures?|likely|clear|true|possible|sure|told \w+)$"
)
_COMPARATIVE = re.compile(
    r"\b(?:more|less|fewer|higher|lower|larger|smaller|longer|shorter|better|worse|older|younger|faster|slower)\b"
)
_OTHER = re.compile(r"(?i)\b(?<!or )(?<!any )(?<!and )(?<!all )(?<!no )other\b")
_DO_SO = re.compile(r"\b(?:do|does|did|done|doing) so\b")
_LOCATIVE_THERE = re.compile(r"(?i)\bthere\b(?! (?:is|are|was|were|has|have|had|will|may|can|must|should)\b)")
_PERSON = re.compile(r"\b(?:I|[Ww]e|[Uu]s|[Oo]ur|[Mm]y|[Mm]e|[Yy]ou|[Yy]our)\b")
_NAME = re.compile(r"(?<=\S )[A-Z][\w’'-]*(?: [A-Z][\w’'-]*)*|^[A-Z][\w’'-]*(?: [A-Z][\w’'-]*)+")
_TURN = re.compile(r"^[A-Z][\w.’' -]{0,30}: ")
_QUOTE = re.compile('["“”]')
_WORD = re.compile(r"[A-Za-z][\w’'-]*")
_COMPLETED = re.compile(r" (?:of|in|at|between|from) (?:which\b|(?:the )?[A-Z\d]|an? |any |each )")
_APPOSITION = re.compile(r", [A-Z]")
_ORDINAL = re.compile(
    r"\b(?:[Tt]he|[Hh]is|[Hh]er|[Ii]ts|[Tt]heir|[Oo]ur|[Mm]y) (?:(?:very|only) )?"
    r"(?:(?:second|next|latter|previous|following|preceding|remaining|rest|eldest|youngest)\b"
    r"|(?:third|fourth|fifth|sixth|seventh|eighth|ninth|tenth)\b(?! (?:of|more|less)\b|[.;)]))"
    r"(?!-| (?:century|time|half|quarter|year|month|week|day|user|of (?:\w+ )?(?:children|sons|daughters))\b| [A-Z])"
    r"|\b[Ii]n the (?:first|second|third|fourth|fifth|last)(?=,)"
    r"|\b[Tt]he \d+(?:st|nd|rd|th) (?:day|week|month|year|of)\b"
    r"|\b[Aa] (?:close|distant|strong|poor) (?:second|third)\b"
    r"|^(?:The|His|Her|Its|Their|Our|My) (?:first|last|final|former)\b(?!-| (?:to|half|quarter|person|[A-Z])\b)"
)
"""*The second, a 1995 film*, *the first sold 300 copies*: which one depends on all that stands before."""
_BARE_ORDINAL = re.compile(
    r"\b[Tt]he (?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth"
    r"|last|next|former|latter|others?|rest)"
    r"(?= ?[,.;]| (?:of (?:them|these|those)|ones?|two|three|is|are|was|were|has|have|had|will|would|can|could|\w+ed"
    r"|sold|won|lost|came|went|took|made|began|became|got|ran|led)\b)"
)
_LINKED = re.compile(
    r"(?:In (?:response|addition|contrast|return|turn|fact|particular)|As a result|For (?:example|instance|comparison)"
    r"|By (?:contrast|comparison)|On the (?:contrary|other)|At (?:first|last|the time|the end|the beginning))\b"
)
_ITEM = re.compile(r"(?:^|(?<=[\s(]))(\d{1,2})[.)] (?=[A-Z\"“])")
_ADVERBIAL = re.compile(
    r"(?:In|On|At|After|Before|During|From|For|By|With|Without|Under|Since|Until|According|As|When|While|Although|Though"
    r"|Because|If|Despite|Throughout|Over|Between|Among|To|Like|Unlike|Through|Within|Around|About|Of|Near|Nearly)\b"
)
"""Begins a sentence that names its subject later: *In Paris she met …*"""
_MALE = frozenset(("he", "him", "his", "himself"))
_FEMALE = frozenset(("she", "her", "herself"))
_UNIQUE = frozenset(("sun", "moon", "world", "internet", "sea", "sky", "equator", "earth", "universe"))
_OPENING_QUOTES = "\"“'‘"
_FIRST_WORDS = 60
"""Characters that have the first two words."""
_MOST_HEAD_WORDS = 4


@dataclass(frozen=True)
class Coherence:
    """What must stay as it is when the sentences of a document are put in another order."""

    follows: tuple[bool, ...]
    """Whether a sentence must stand right behind the one before it."""
    order: tuple[tuple[int, int], ...]
    """Pairs of sentences of which the first must stay before the second."""
    fixed: str = ""
    """Why no sentence may change places: speakers take turns, or items are numbered; empty where some may."""

    def permits(self, numbers: Sequence[int]) -> bool:
        """Whether the sentences may stand in this order; a new first sentence needs nothing before it."""
        place = {number: position for position, number in enumerate(numbers)}
        if any(self.follows[number] and place[number] != place.get(number - 1, -2) + 1 for number in numbers if number):
            return False
        # The first sentence may look back at a text that is not there: nothing may come before it then.
        if self.follows[0] and numbers[0] != 0:
            return False
        return all(place[first] < place[second] for first, second in self.order)

    @cached_property
    def blocks(self) -> list[list[int]]:
        """The sentences in runs that must stay together."""
        runs = list[list[int]]()
        for number, is_tied in enumerate(self.follows):
            if is_tied and runs:
                runs[-1].append(number)
            else:
                runs.append([number])
        return runs


@lru_cache(2_000)
def analyse_document(document: SourceDocument) -> Coherence:
    """What holds the sentences of a document together."""
    sentences = document.sentences
    follows = [refers_back(sentence) for sentence in sentences]
    quoted = False
    for number, sentence in enumerate(sentences):
        follows[number] |= quoted or (number > 0 and sentences[number - 1].rstrip().endswith(("?", ":", ",", ";")))
        quoted ^= len(_QUOTE.findall(sentence)) % 2 == 1
    if _QUOTE.search(document.text):
        for number, sentence in enumerate(sentences[1:], 1):
            follows[number] |= _PERSON.search(_unquoted(sentence)) is not None
    for number, sentence in enumerate(sentences):
        if number and (pronoun := _unnamed_person(sentence)):
            _tie_to_person(sentences, number, pronoun, follows)
    order = [*_name_order(sentences)]
    for number, sentence in enumerate(sentences):
        anchored = number == 0 or not document.stems[0].isdisjoint(document.stems[number]) or _has_name(sentence)
        for definite in open_definites(sentence):
            prepared = [earlier for earlier in range(number) if definite.stems & document.stems[earlier]]
            order += [(earlier, number) for earlier in prepared[-1:]]
            later = range(number + 1, len(sentences))
            order += [(number, other) for other in later if definite.stems & document.stems[other]]
            anchored |= bool(prepared)
            follows[number] |= definite.opens and number > 0 and not prepared
            if number:
                # What a document is about is said in its first sentence: "the director" may be that of its company.
                order.append((0, number))
        follows[number] |= not anchored
        if _ORDINAL.search(sentence):
            follows[number] = True
            order += [(earlier, number) for earlier in range(number)]
            order += [(number, later) for later in range(number + 1, len(sentences))]
    return Coherence(tuple(follows), tuple(order), _why_fixed(document))


def _why_fixed(document: SourceDocument) -> str:
    if sum(map(begins_turn, document.sentences)) > 1:
        return "a conversation"
    return "a numbered list" if is_numbered(document.text) else ""


def is_numbered(text: str) -> bool:
    """Whether a text numbers its items: *1. Textiles are the oldest. 2. Coins were added in 1911.*"""
    numbers = [int(match[1]) for match in _ITEM.finditer(text)]
    return _ITEM.match(text) is not None or any(after == before + 1 for before, after in pairwise(numbers))


def _tie_to_person(sentences: Sequence[str], number: int, pronoun: str, follows: list[bool]) -> None:
    """Keep the sentences together from the last one that may name the person whom a pronoun means."""
    follows[number] = True
    for before in range(number - 1, 0, -1):
        if any(_may_be(pronoun, match[0]) for match in _NAME.finditer(sentences[before])):
            return
        follows[before] = True


def refers_to_person_before(document: str) -> bool:
    """Whether the first sentence of a document has a *he* or *she* and names nobody before."""
    end = re.search(r"[.!?][\"”’)]*(?= [A-Z\"“])", document)
    return bool(_unnamed_person(document[: end.end()] if end else document, of_subject=False))


def _unnamed_person(sentence: str, *, of_subject: bool = True) -> str:
    """The first pronoun of a person whom the sentence does not name before it; empty without one.

    With ``of_subject``, a name does not count in a sentence such as *After meeting Ann Lee she left*.
    """
    words = ((match.start(), match[0].lower()) for match in _WORD.finditer(sentence))
    start, pronoun = next(((start, word) for start, word in words if word in _MALE | _FEMALE), (0, ""))
    if not pronoun or (of_subject and _ADVERBIAL.match(sentence)):
        return pronoun
    names = (match[0] for match in _NAME.finditer(sentence[:start]))
    first = _WORD.match(sentence[:start])
    is_named = any(_may_be(pronoun, name) for name in names) or (first is not None and _is_given(pronoun, first[0]))
    return "" if is_named else pronoun


def _may_be(pronoun: str, name: str) -> bool:
    """Whether a pronoun may mean the bearer of a name: a full one, or a given one, of no other gender."""
    from acidtest.english.values.names import is_calendar_name, is_listed_place

    first, _, rest = name.removesuffix("'s").removesuffix("’s").partition(" ")
    if is_calendar_name(first) or is_listed_place(f"{first} {rest}".strip()):
        return False
    return _is_given(pronoun, first) or (bool(rest) and _has_gender(pronoun, first))


def _is_given(pronoun: str, word: str) -> bool:
    from acidtest.english.values.names import is_person_name

    return is_person_name(word.removesuffix("'s").removesuffix("’s")) and _has_gender(pronoun, word)


def _has_gender(pronoun: str, given: str) -> bool:
    from acidtest.english.values.names import listed_genders

    gender = listed_genders().get(given.removesuffix("'s").removesuffix("’s"), "")
    return gender in ("", "male" if pronoun in _MALE else "female")


def leans_on_text(claim: str) -> bool:
    """Whether only the text explains a pronoun or an ordinal of a claim: *she left*, *the second sold 300 copies*."""
    if _BARE_ORDINAL.search(claim):
        return True
    pronouns = _link_words("unless named")
    words = _WORD.findall(claim)
    pronoun = next((place for place, word in enumerate(words) if word.lower() in pronouns), None)
    if pronoun is None:
        return False
    names = (place for place in range(pronoun) if words[place][0].isupper() and any(content_stems(words[place])))
    # "In Lund she met a painter" names a place only.
    return all(place and _ADVERBIAL.fullmatch(words[place - 1].capitalize()) for place in names)


def begins_turn(sentence: str) -> bool:
    """Whether a sentence begins with the name of its speaker, as in *Jocasta: I think so.*"""
    return _TURN.match(sentence) is not None


def rearrange(document: SourceDocument, numbers: Sequence[int]) -> str:
    """The text of a document with its sentences in another order; what stands between them stays in its place."""
    ends = [start + len(sentence) for start, sentence in zip(document.starts, document.sentences, strict=True)]
    between = [document.text[end:start] for end, start in zip(ends[:-1], document.starts[1:], strict=True)]
    parts = [document.text[: document.starts[0]]]
    for number, gap in zip(numbers, [*between, document.text[ends[-1] :]], strict=True):
        parts += (document.sentences[number], gap)
    return "".join(parts)


def refers_back(sentence: str) -> bool:
    """Whether a sentence has a word that may refer to, or continue, the sentence before it."""
    words = [word.lower() for word in _WORD.findall(sentence)]
    if len(words) < 3 or not (sentence[0].isupper() or sentence[0].isdigit() or sentence[0] in f"{_OPENING_QUOTES}("):
        return True
    pronouns = _link_words("unless named")
    if words[0] in _link_words("opening") or words[0] in pronouns or _LINKED.match(sentence):
        return True
    if _unnamed_person(sentence) or _BARE_ORDINAL.search(sentence):
        return True
    if words[0] in _link_words("opening quantity") and words[1] in _link_words("after quantity"):
        return True
    if not _link_words("anywhere").isdisjoint(words):
        return True
    if not pronouns.isdisjoint(words) and not _is_named_before(sentence, pronouns):
        return True
    if ("than" not in words and _COMPARATIVE.search(sentence)) or _LOCATIVE_THERE.search(sentence):
        return True
    if sentence[0] in _OPENING_QUOTES or _OTHER.search(sentence) or _DO_SO.search(sentence):
        return True
    return any(not _BEFORE_THAT.search(sentence[: match.start()].rstrip()) for match in _THAT.finditer(sentence))


@dataclass(frozen=True)
class Definite:
    """A phrase such as "the director" that does not say by itself which one is meant."""

    stems: frozenset[str]
    opens: bool
    """Whether the sentence begins with it, and no name follows in apposition."""


def opens_with_link(sentence: str) -> bool:
    """Whether one of the first two words of a sentence may refer to a text before it."""
    words = [word.lower() for word in _WORD.findall(sentence[:_FIRST_WORDS])[:2]]
    lists = ("anywhere", "unless named", "opening")
    return not sentence[:1].isalnum() or any(word in _link_words(name) for word in words for name in lists)


def open_definites(sentence: str) -> Iterator[Definite]:
    """The phrases with "the" that do not say by themselves which one is meant: not "the mayor of Tarnby"."""
    for match in _DEFINITE.finditer(sentence):
        words = match[1].split(" ")
        heads = list(takewhile(_is_content, words))[:_MOST_HEAD_WORDS]
        if not heads or heads[0].lower() in _UNIQUE or any(word[0].isupper() for word in heads):
            continue
        rest = sentence[match.start(1) + len(" ".join(heads)) :]
        if _COMPLETED.match(rest):
            continue
        opens = match.start() == 0 and not _APPOSITION.match(rest)
        # The words after the noun are verbs: "the company rose" is not prepared by another that rose.
        stems = frozenset(stem for word in heads[: 2 if opens else None] for stem in content_stems(word))
        yield Definite(stems, opens)


def _is_content(word: str) -> bool:
    return word not in _link_words("reporting") and any(content_stems(word))


def _has_name(sentence: str) -> bool:
    return _NAME.search(sentence) is not None or any(True for word in names_and_numbers(sentence) if word[0].isupper())


def _is_named_before(sentence: str, pronouns: frozenset[str]) -> bool:
    """Whether a name stands before the first of these pronouns; a plural such as "Children" does before *their*."""
    first = next(match for match in _WORD.finditer(sentence) if match[0].lower() in pronouns)
    pronoun = first[0].lower()
    if pronoun not in _MALE | _FEMALE and _ADVERBIAL.match(sentence):
        return False
    if pronoun in _link_words("thing") and not _link_words("reporting").isdisjoint(_WORD.findall(sentence)):
        return False
    name = _NAME.search(sentence)
    if name is not None and name.start() < first.start():
        return True
    opening = _WORD.findall(sentence)[0]
    return pronoun.startswith("the") and opening.endswith("s") and any(content_stems(opening))


def _name_order(sentences: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The first sentence with a name of several words, before those that have its last word alone."""
    names = [[match[0].removesuffix("'s").removesuffix("’s") for match in _NAME.finditer(text)] for text in sentences]
    introduced = dict[str, int]()
    for number, of_sentence in enumerate(names):
        for name in of_sentence:
            if " " in name:
                introduced.setdefault(name.rsplit(" ", 1)[-1], number)
    for number, (sentence, of_sentence) in enumerate(zip(sentences, names, strict=True)):
        alone = {name for name in of_sentence if " " not in name} | {*_WORD.findall(sentence)[:1]}
        for word in alone:
            first = introduced.get(word.removesuffix("'s").removesuffix("’s"))
            if first is not None and first != number:
                yield (min(first, number), max(first, number))


def _unquoted(sentence: str) -> str:
    return re.sub('["“][^"“”]*["”]', "", sentence)


@cache
def _link_words(where: str) -> frozenset[str]:
    from acidtest.io.wordlists import packaged_table

    table = packaged_table("grounding/links.tsv")
    return frozenset(table.filter((table["where"] == where) | (table["about"] == where))["word"])
