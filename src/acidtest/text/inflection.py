"""The forms of English verbs, from their past tense and, where that is irregular, their base form."""

from __future__ import annotations

import re
from dataclasses import dataclass

_VOWEL = re.compile(r"[aeiou]+|(?<=.)y")
_SHORT = re.compile(r"[^aeiouy]*[aeiouy][^aeiouywx]")
_ONE_CONSONANT = re.compile(r".*(?:[^aeiou]|qu)[aeiouy][^aeiouywx]")


@dataclass(frozen=True)
class Forms:
    """The forms of a verb; ``participles`` are those that may follow *was*."""

    every: frozenset[str]
    participles: frozenset[str]
    bases: frozenset[str] = frozenset()
    known: bool = True
    """False when the base form is not known, so that the verb is sought only as it is written."""


def verb_forms(past: str, lemma: str = "") -> Forms:
    """The forms of a verb from its past tense, and from its base form when the past tense is irregular.

    Where spelling leaves two base forms open (*invited*: invite, invit) the forms of both are given: one of them is no
    word, and does no harm. Participles of irregular verbs are likewise all that could be one: *drove* has driven and
    droven.
    """
    bases = (lemma,) if lemma else _bases(past)
    if not bases:
        return Forms(frozenset({past}), frozenset({past}), known=False)
    pasts = {form for base in bases for form in _regular_pasts(base)}
    participles = (pasts | {past}) if past in pasts or not lemma else _irregular_participles(lemma, past)
    participles |= {f"{base}n" for base in bases if base.endswith("ow")}
    present = {form for base in bases for form in (base, _third_person(base), *_gerunds(base))}
    return Forms(frozenset(present | participles), frozenset(participles), frozenset({*bases} - participles))


def _bases(past: str) -> tuple[str, ...]:
    """The base forms a regular past tense may come from; none when it is not regular."""
    stem = past[:-2]
    if not past.endswith("ed") or not _VOWEL.search(stem):
        return ()
    if stem.endswith("i"):
        return (f"{stem}e",) if len(stem) == 2 else (f"{stem[:-1]}y",)
    if stem.endswith(("e", "u")) or _SHORT.fullmatch(stem):
        return (f"{stem}e",)
    if stem[-1] == stem[-2:-1]:
        single = stem[:-1]
        stays = len(single) < 3 or (stem[-1] in "lszf" and len(_VOWEL.findall(single)) == 1)
        return (stem,) if stays else (single, stem)
    return (stem, f"{stem}e")


def _stems(base: str) -> tuple[str, ...]:
    """What -ed and -ing are put after: *stop* has stopp, *visit* has visit and (seen from its spelling) visitt."""
    if _SHORT.fullmatch(base):
        return (base + base[-1],)
    return (base, base + base[-1]) if _ONE_CONSONANT.fullmatch(base) else (base,)


def _regular_pasts(base: str) -> set[str]:
    if base.endswith("e"):
        return {f"{base}d"}
    if re.search(r"[^aeiou]y$", base):
        return {f"{base[:-1]}ied"}
    return {f"{stem}ed" for stem in _stems(base)}


def _gerunds(base: str) -> set[str]:
    if base.endswith("ie"):
        return {f"{base[:-2]}ying"}
    if base.endswith("e") and not base.endswith(("ee", "oe", "ye")):
        return {f"{base[:-1]}ing"}
    return {f"{stem}ing" for stem in _stems(base)}


def _third_person(base: str) -> str:
    if re.search(r"[^aeiou]y$", base):
        return f"{base[:-1]}ies"
    return f"{base}es" if base.endswith(("s", "x", "z", "ch", "sh", "o")) else f"{base}s"


def _irregular_participles(base: str, past: str) -> set[str]:
    """All that could be the participle: given, eaten, broken, forgotten, hidden, sung, run, gone, taught."""
    found = {past, f"{base}n", f"{base}en", f"{base}ne", f"{past}n", f"{past}en", f"{past}{past[-1]}en"}
    if base.endswith("e"):
        found.add(f"{base[:-1]}{base[-2:-1]}en")
    if "i" in base and "a" in past:
        found.add(base.replace("i", "u"))
    if base in (past.replace("a", "u"), past.replace("a", "o")):
        found.add(base)
    return found
