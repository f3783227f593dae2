"""Edits that make a claim stronger than its document: a hedge dropped, a scope widened.

They are made only where a corpus marks the evidence of its claims, because *may* and *some* are often left out in a
document's other sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from acidtest.suites.grounding.assertions import NO_EVIDENCE, NOT_MARKED, TaggedClaim, tag_claims
from acidtest.suites.grounding.edits import CheckedClaim, ClaimBatch, EditedPair, Result, edit

_HEDGE = re.compile(
    r"\b(?:may|might|could|probably|possibly|perhaps|presumably|apparently|allegedly|reportedly|"
    r"(?:thought|believed|expected|likely|said|supposed|estimated|assumed) to)\b",
    re.IGNORECASE,
)
_ADVERB = re.compile(
    r"\s*,?\s*\b(?:probably|possibly|perhaps|presumably|apparently|allegedly|reportedly)\b,?(?=\s)", re.IGNORECASE
)
_BELIEF = re.compile(
    r"\b(is|are|was|were) (?:widely |generally )?(thought|believed|expected|likely|said|supposed|estimated|assumed) to "
    r"(have )?(\w+)"
)
_THINKERS = re.compile(r",(?: [\w'’]+){1,4} (?:think|suspect|suggest|believe|assume)s?(?=\W*$)")
_MODALS = ("may", "might", "could")
_PEOPLE = ("he", "she", "they", "we", "i", "you", "who", "anyone", "everyone", "nobody")

_NUMBER_WORD = (
    r"(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|"
    r"(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:-[a-z]+)?)"
)
_PARTS = (
    r"(?:(?:at least|about|almost|nearly|roughly|around|more than|over|only|just|the|an?|up to) )?"
    r"(?:some|several|many|most|few|half|parts?|majority|minority|large number|number|"
    rf"(?:(?:one|\d+|{_NUMBER_WORD}) )?(?:thirds?|quarters?|fifths?|tenths?)|[\d.]+ percent|\d+|{_NUMBER_WORD})"
)
_PART_OF = re.compile(rf"\b{_PARTS} of (?=(?:the|its|their|his|her|these|those|our)\b|[A-Z][\w-]*['’]s)", re.IGNORECASE)
_PART_OF_NUMBER = re.compile(rf"\b(?:\d+|{_NUMBER_WORD}) of (?=\d+ [a-z]+s\b)", re.IGNORECASE)
_SOME = re.compile(
    r"\b(?<!the )(?<!how )(?<!as )(?<!so )(?<!at )(?:some|several|many|most|a few) (?=([a-z-]+)(?: ([a-z-]+))?)",
    re.IGNORECASE,
)
_MEASURE = re.compile(r"(?:seconds|minutes|hours|days|weeks|months|years|times|metres|meters|kilo\w+|miles|other)$")
_OFTEN = re.compile(
    r"(?<!more )(?<!most )(?<!less )(?<!how )(?<!as )\b(?:often|usually|sometimes|generally|normally|typically|"
    r"frequently|occasionally)\b",
    re.IGNORECASE,
)


@edit(
    "hedge",
    summary="A hedge of the claim dropped, so that it says does where the document says may",
    rows=42,
    version=2,
)
def hedge(batch: ClaimBatch) -> Iterator[Result]:
    """*May*, *probably* or *is thought to* is dropped from a supported claim: *may reduce* becomes *reduces*.

    Only where the corpus marks its evidence and the evidence is hedged, too; a *may* that permits is left alone.
    ``kind`` is modal, adverb or belief.
    """
    claims = dict[int, CheckedClaim]()
    for row, claim in batch.supported():
        hedges = _HEDGE.findall(claim.text)
        if not hedges:
            continue
        problem = _evidence_problem(claim, "hedged") or ("several hedges" if len(hedges) > 1 else None)
        if problem:
            yield row, problem
        else:
            claims[row] = claim
    for tagged in tag_claims(claims, batch.tagger):
        yield tagged.row, _unhedged(claims[tagged.row], tagged)


def _evidence_problem(claim: CheckedClaim, use: str) -> str | None:
    """Why the marked evidence of a claim does not carry an edit: it must have words of ``use``, as the claim does."""
    from acidtest.english.cautions import cautions

    if not claim.marked:
        return NOT_MARKED
    if claim.evidence_sentence is None:
        return NO_EVIDENCE
    [(reason, pattern)] = cautions(use)
    return None if pattern.search(claim.evidence_sentence) else reason


def _unhedged(claim: CheckedClaim, tagged: TaggedClaim) -> EditedPair | str:
    words = [word.lower() for word in tagged.words]
    place = next((place for place, word in enumerate(words) if word in _MODALS), None)
    if place is not None:
        return _without_modal(claim, words, tagged, place)
    belief = _BELIEF.search(claim.text)
    if belief:
        return _without_belief(claim, belief)
    adverb = _ADVERB.search(claim.text)
    if adverb is None:
        return "no plain hedge"
    text = claim.text[: adverb.start()] + claim.text[adverb.end() :]
    text = text.lstrip()
    return _without_hedge(text[0].upper() + text[1:], adverb[0].strip(" ,"), "adverb")


def _without_modal(claim: CheckedClaim, words: list[str], tagged: TaggedClaim, place: int) -> EditedPair | str:
    from acidtest.english.cautions import first_caution
    from acidtest.english.clauses import finite_form, is_plural_phrase, past_form
    from acidtest.english.wordnet import wordnet

    tags, starts, ends = tagged.tags, tagged.starts, tagged.ends
    begin = _clause_start(words, tags, place)
    subject, subject_tags = words[begin:place], tags[begin:place]
    following = words[place + 1 : place + 3]
    if "not" in following or "n't" in following or first_caution(" ".join(subject), "negation"):
        return "negation in the claim"
    if not subject or len(following) < 2:
        return "verb form not sure"
    # "Fame might otherwise have eluded him": it did not.
    if words[place] == "could" or "otherwise" in words:
        return "permission or possibility"
    plural = is_plural_phrase(subject, subject_tags)
    if following[0] == "have" and following[1] != "to":
        past = past_form(following[1], plural=plural)
        return (
            "verb form not sure"
            if past is None
            else _without_hedge(
                claim.text[: starts[place]] + past + claim.text[ends[place + 2] :],
                f"{words[place]} have {following[1]} → {past}",
                "modal",
            )
        )
    is_passive = following[0] == "be" and tags[place + 2] == "VBN"
    is_rule = is_passive or (_is_person(subject, subject_tags) and following[0] != "have")
    is_rule = is_rule or subject[0] in ("each", "every", "any")
    if is_rule and not _is_doubted(claim):
        return "permission or possibility"
    if following[0] not in wordnet().base_forms(following[0], "v"):
        return "verb form not sure"
    verb = finite_form(following[0], plural=plural)
    return _without_hedge(
        claim.text[: starts[place]] + verb + claim.text[ends[place + 1] :],
        f"{words[place]} {following[0]} → {verb}",
        "modal",
    )


def _clause_start(words: Sequence[str], tags: Sequence[str], place: int) -> int:
    """Where the clause of a modal begins: after *because*, or after a *that* that follows a verb."""
    for before in range(place - 1, 0, -1):
        is_complement = words[before] == "that" and tags[before - 1].startswith("VB")
        if words[before] in ("because", "since", "although", "while") or is_complement:
            return before + 1
    if words[0] in ("because", "since", "although"):
        return 1
    comma = words.index(",") if "," in words[:place] else -1
    return comma + 1 if comma >= 0 and words[0] in ("in", "at", "on", "by", "towards", "during", "from") else 0


def _is_person(subject: Sequence[str], tags: Sequence[str]) -> bool:
    """Whether the head of a subject names people, who may be permitted something."""
    from acidtest.english.wordnet import noun_kind, wordnet

    end = next(
        (place for place, tag in enumerate(tags) if place and tag in ("IN", "TO", "VBN", ",", "WDT", "WP")), len(tags)
    )
    head = next(
        (word for word, tag in zip(reversed(subject[:end]), reversed(tags[:end]), strict=True) if tag[0] == "N"), ""
    )
    kind = next((noun_kind(form) for form in (head, *wordnet().base_forms(head, "n")) if noun_kind(form)), "")
    return subject[0] in _PEOPLE or kind in ("person", "group")


def _is_doubted(claim: CheckedClaim) -> bool:
    from acidtest.english.cautions import caution_pattern

    return caution_pattern("doubted").search(claim.evidence_sentence or "") is not None


def _without_belief(claim: CheckedClaim, belief: re.Match[str]) -> EditedPair | str:
    from acidtest.english.clauses import finite_form, past_form

    copula, attitude, have, verb = belief.groups()
    plural = copula in ("are", "were")
    form: str | None
    if have:
        form = past_form(verb, plural=plural)
    elif attitude in ("expected", "likely") and copula in ("is", "are"):
        form = f"will {verb}"
    elif copula in ("was", "were"):
        form = copula if verb == "be" else None
    else:
        form = finite_form(verb, plural=plural)
    if form is None:
        return "verb form not sure"
    text = claim.text[: belief.start()] + form + claim.text[belief.end() :]
    return _without_hedge(text, f"{belief[0]} → {form}", "belief")


def _without_hedge(text: str, change: str, kind: str) -> EditedPair:
    # What "investigators think" is hedged still.
    return EditedPair(claim=_THINKERS.sub("", text), label="neutral", change=change, kind=kind)


@edit("scope", summary="The scope of the claim widened from some to all", rows=46)
def scope(batch: ClaimBatch) -> Iterator[Result]:
    """*Some*, *most*, *half of* or *18 of the 61* becomes *all* in a supported claim; *often* becomes *always*.

    Only where the corpus marks its evidence. ``kind`` is part (*most of the clubs*), some (*some clubs*) or frequency.
    """
    from acidtest.english.cautions import first_caution
    from acidtest.english.inflection import match_case

    for row, claim in batch.supported():
        match, kind, word = _narrow_scope(claim.text)
        if match is None:
            continue
        problem = _evidence_problem(claim, "quantified") or first_caution(claim.text, "negation")
        problem = problem or first_caution(claim.evidence_sentence or "", "whole")
        if problem:
            yield row, problem
            continue
        new = match_case(match[0][:1], word)
        text = claim.text[: match.start()] + new + claim.text[match.end() :]
        change = f"{match[0].strip()} → {new.strip()}"
        yield row, EditedPair(claim=text, label="non-entailment", change=change, kind=kind)


def _narrow_scope(text: str) -> tuple[re.Match[str] | None, str, str]:
    """The first word that says how many or how often, its kind, and the word to put in its place."""
    from acidtest.suites.grounding.trends import is_plural_noun

    part = _PART_OF.search(text)
    if part:
        return part, "part", "all of "
    number = _PART_OF_NUMBER.search(text)
    if number:
        return number, "part", "all "
    for some in _SOME.finditer(text):
        if _MEASURE.match(some[1]):
            continue
        if is_plural_noun(some[1]) or (some[2] and is_plural_noun(some[2])):
            return some, "some", "all "
    return _OFTEN.search(text), "frequency", "always"
