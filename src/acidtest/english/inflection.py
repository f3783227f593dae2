"""The forms of English words: verbs, plurals, comparisons, *a* or *an*, and the base forms behind an ending.

Base forms are found as by Princeton's Morphy (morphy(7WN)): a form on the exception list (*mice*) has the bases given
there; any other has those its endings allow. As NLTK does, and unlike Princeton, the word itself is always tried first,
all endings are tried, and *-ves* may come from *-f*.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

import polars as pl

from acidtest.io.wordlists import packaged_table, word_list

_VOWEL = re.compile(r"[aeiou]+|(?<=.)y")
_SHORT = re.compile(r"[^aeiouy]*[aeiouy][^aeiouywx]")
_ONE_CONSONANT = re.compile(r".*(?:[^aeiou]|qu)[aeiouy][^aeiouywx]")

_VERB_SLOTS = ("base", "third", "gerund", "past", "participle")
_ONE_FORM = {"mass": "mass", "plural": "only plural", "name": "name", "the": "name", "adverb": "adverb"}
_SHORT_VERB = re.compile(r"[^aeiou]*(?:qu)?[aeiou][^aeiouwxy]")

_PREFIXES = re.compile(r"(?:fore|inter|mis|out|over|pre|re|under|un|up|with)-?(?=.{2})")

_SOUNDED_VOWEL = re.compile(r"8|1[18](?!\d)|hono|hones|hour|heir|[aeiou]|[fhlmnrsx](?:$|-)")
_SOUNDED_CONSONANT = re.compile(r"one\b|once|eu|ew|ukr|ugan|u(?:[bcfhjkqrst][aeiou]|ni[^dmn]|\b)|unanim")
_CAPITALS = re.compile(r"[A-Z]{2,}|[A-Za-z](?=[A-Z])|[A-Z](?!['’\w])")
"""What is read letter by letter at the beginning of a word, as in *MRI*, *MSc*, *mRNA* and *X-ray*."""

_READ_AS_WORD = re.compile(
    r"(?:HUD|LAN|RAM|REM|ROM|SAM|SIM)$|(?=.{4})(?:[FHLMNRSX]|F[LR]|RH|S[CHKLMNPTW]|S[CPT]R|SPL)[AEIOUY](?!A)"
)
"""Capitals that are read as a word, as in *RAM* and *NASA*, where the name of its first letter begins with a vowel."""

_SHORT_WORD = re.compile(r"[^aeiou]*[aeiou][^aeiouwxy]")
_ARTICLE_BEFORE = re.compile(r"\b(an?)(\s+)$", re.IGNORECASE)


@dataclass(frozen=True)
class VerbForms:
    """The forms of a verb; ``participles`` are those that may follow *was*."""

    every: frozenset[str]
    participles: frozenset[str]
    bases: frozenset[str] = frozenset()
    known: bool = True
    """False when the base form is not known, so that only the given form can be searched for."""


def verb_forms(past: str, lemma: str = "") -> VerbForms:
    """The forms of a verb from its past tense, and from its base form when the past tense is irregular.

    Where the spelling allows two base forms (*invited*: invite, invit) the forms of both are returned: the wrong one is
    not a word and so never matches. Likewise, an irregular verb gets every possible participle: *drove* gets driven and
    droven.
    """
    bases = (lemma,) if lemma else _bases(past)
    if not bases:
        return VerbForms(frozenset({past}), frozenset({past}), known=False)
    pasts = {form for base in bases for form in _regular_pasts(base)}
    participles = (pasts | {past}) if past in pasts or not lemma else _irregular_participles(lemma, past)
    participles |= {f"{base}n" for base in bases if base.endswith("ow")}
    present = {form for base in bases for form in (base, _third_person(base), *_gerunds(base))}
    return VerbForms(frozenset(present | participles), frozenset(participles), frozenset({*bases} - participles))


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
    """The stems that -ed and -ing are added to: *stop* has stopp; *visit* has visit and, by its spelling, visitt."""
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
    """Every possible participle, as in given, eaten, broken, forgotten, hidden, sung, run, gone, taught."""
    forms = {past, f"{base}n", f"{base}en", f"{base}ne", f"{past}n", f"{past}en", f"{past}{past[-1]}en"}
    if base.endswith("e"):
        forms.add(f"{base[:-1]}{base[-2:-1]}en")
    if "i" in base and "a" in past:
        forms.add(base.replace("i", "u"))
    if base in (past.replace("a", "u"), past.replace("a", "o")):
        forms.add(base)
    return forms


def forms_by_slot(item: str, form: str, *, irregular: str = "") -> dict[str, str]:
    """The forms of an item by slot; ``form`` is its type in a word list, such as ``count`` or ``verb``.

    ``irregular`` is an irregular plural, or ``-`` for an item without plural.
    """
    if form in ("count", "noun"):
        # The plural of "piece of jewelry" is "pieces of jewelry".
        whole, of, rest = item.partition(" of ")
        before, space, last = whole.rpartition(" ")
        several = {} if irregular == "-" else {"plural": irregular or before + space + plural(last) + of + rest}
        return {"singular": item} | several
    if form == "verb":
        # In an expression of several words the first is the verb.
        verb, space, rest = item.partition(" ")
        forms = _listed_forms(verb) or _regular(verb)
        return {slot: form + space + rest for slot, form in zip(_VERB_SLOTS, forms, strict=True)}
    if form == "number":
        return {"digits" if item[0].isdigit() else "number": item}
    if form == "ordinal":
        return {"ordinal digits" if item[0].isdigit() else "ordinal": item}
    return {_ONE_FORM.get(form, form): item}


@cache
def tags_of_slot(slot: str) -> frozenset[str]:
    """The Penn tags that the last word of a form in this slot may have."""
    tags = dict(packaged_table("lexical/slots.tsv").iter_rows())
    return frozenset(tags[slot.removesuffix(" digits")].split())


def has_listed_forms(verb: str) -> bool:
    """Whether a verb is listed with its forms, or is such a verb with a prefix."""
    return _listed_forms(verb) is not None


def _listed_forms(verb: str) -> tuple[str, ...] | None:
    """The forms of a listed verb, by ``_VERB_SLOTS``; *oversee* has those of *see*. None for all others."""
    if forms := _irregular_verbs().get(verb):
        return forms
    prefix = _PREFIXES.match(verb)
    if not prefix or verb in word_list("regular in spite of its end"):
        return None
    rest = verb[prefix.end() :]
    forms = _irregular_verbs().get(rest) or (_regular(rest) if rest in word_list("doubled consonant") else None)
    return forms and tuple(prefix[0] + form for form in forms)


def _regular(verb: str) -> tuple[str, ...]:
    doubles = _SHORT_VERB.fullmatch(verb) or verb in word_list("doubled consonant")
    stem = verb + verb[-1] if doubles else verb
    past = verb + "d" if verb.endswith("e") else stem + "ed"
    gerund = stem + "ing"
    if re.search(r"[^aeiou]y$", verb):
        past = verb[:-1] + "ied"
    elif verb.endswith("ie"):
        gerund = verb[:-2] + "ying"
    elif verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")):
        gerund = verb[:-1] + "ing"
    return verb, plural(verb), gerund, past, past


@cache
def _irregular_verbs() -> dict[str, tuple[str, ...]]:
    return {row[0]: row for row in packaged_table("lexical/verbs.tsv").iter_rows()}


def replace_span(text: str, start: int, end: int, *, word: str, like: str | None = None, article: str = "") -> str:
    """The text with ``word`` in place of ``text[start:end]``; an *a* or *an* before it is adapted.

    The word is capitalised like the text it replaces, or like ``like``. Its article is ``article``, or goes by sound.
    """
    shaped = match_case(text[start:end] if like is None else like, word)
    before = text[:start]
    match = _ARTICLE_BEFORE.search(before)
    if match:
        before = before[: match.start()] + match_case(match[1], article or indefinite_article(word)) + match[2]
    return before + shaped + text[end:]


def match_case(model: str, word: str) -> str:
    """The word capitalised like ``model``: not at all, the first letter, or all letters."""
    if len(model) > 1 and model.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if model[:1].isupper() else word


def indefinite_article(word: str) -> str:
    """*a* or *an*, by the sound a word begins with."""
    capitals = _CAPITALS.match(word)
    if capitals and not _READ_AS_WORD.match(capitals[0]) and word.lower() not in ("one", "once"):
        return "an" if capitals[0][0].upper() in "AEFHILMNORSX" else "a"
    lower = word.lower()
    return "an" if _SOUNDED_VOWEL.match(lower) and not _SOUNDED_CONSONANT.match(lower) else "a"


def plural(noun: str) -> str:
    """The plural of a noun."""
    if noun in _irregular_plurals():
        return _irregular_plurals()[noun]
    if noun in word_list("same in plural") or noun in word_list("only plural"):
        return noun
    if noun.endswith("man") and not noun.endswith(("human", "german", "roman", "shaman", "talisman")):
        return noun[:-3] + "men"
    if re.search(r"[^aeiou]y$", noun):
        return noun[:-1] + "ies"
    return noun + ("es" if re.search(r"(?:s|x|z|ch|sh)$", noun) else "s")


def compare_adjective(adjective: str, ending: str) -> str:
    """The comparative (``er``) or superlative (``est``) of an adjective; long ones take *more* or *most*."""
    irregular = {"good": ("better", "best"), "bad": ("worse", "worst"), "far": ("farther", "farthest")}
    if adjective in irregular:
        return irregular[adjective][ending == "est"]
    if any(adjective in forms for forms in irregular.values()):
        return adjective
    vowels = len(re.findall(r"[aeiouy]+", re.sub(r"e$", "", adjective)))
    if vowels > 2 or (vowels == 2 and not adjective.endswith(("y", "le", "ow", "er"))):
        return f"{'more' if ending == 'er' else 'most'} {adjective}"
    if adjective.endswith("e"):
        return adjective + ending[1:]
    if re.search(r"[^aeiou]y$", adjective):
        return adjective[:-1] + "i" + ending
    if _SHORT_WORD.fullmatch(adjective):
        return adjective + adjective[-1] + ending
    return adjective + ending


@cache
def _irregular_plurals() -> dict[str, str]:
    """Noun → irregular plural: WordNet's first exception, unless ``plurals.tsv`` has a commoner form than *octopi*."""
    rows = packaged_table("wordnet/exceptions.tsv").filter(pos="n").select("form", "bases")
    listed = {base: form for form, bases in reversed(rows.rows()) for base in bases.split() if form != base}
    return listed | dict(packaged_table("wordnet/plurals.tsv").iter_rows())


def base_form_candidates(word: str, pos: str) -> list[str]:
    """A lower-case word and its possible base forms as a noun (n), verb (v), adjective (a) or adverb (r)."""
    bases = _exceptions().get((pos, word))
    if bases is None:
        bases = tuple(word.removesuffix(ending) + base for ending, base in _detachments(pos) if word.endswith(ending))
    return [word, *bases]


def base_form_candidate_frame(words: pl.Series) -> pl.DataFrame:
    """``base_form_candidates`` of many words: columns row, attempt, form and pos; a null pos means any."""
    rows = pl.DataFrame({"word": words}).with_row_index("row").lazy()
    irregular = rows.join(_exception_table().lazy(), on="word")
    detached = [
        rows.filter(pl.col("word").str.ends_with(ending)).select(
            "row",
            pl.lit(attempt, pl.UInt8).alias("attempt"),
            pl.concat_str(pl.col("word").str.head(-len(ending)), pl.lit(base)).alias("form"),
            pl.lit(pos).alias("pos"),
        )
        for pos in ("n", "v", "a")
        for attempt, (ending, base) in enumerate(_detachments(pos), start=1)
    ]
    itself = rows.select(
        "row", pl.lit(0, pl.UInt8).alias("attempt"), pl.col("word").alias("form"), pl.lit(None, pl.String).alias("pos")
    )
    regular = pl.concat(detached).join(irregular, on=["row", "pos"], how="anti")
    return pl.concat([itself, irregular.select("row", "attempt", "form", "pos"), regular]).collect()


@cache
def _detachments(pos: str) -> tuple[tuple[str, str], ...]:
    """Endings and their replacements in the base form, in the order in which they are tried."""
    table = packaged_table("wordnet/detachments.tsv").filter(pl.col("pos") == pos)
    return tuple(table.select("ending", "base").iter_rows())


@cache
def _exceptions() -> dict[tuple[str, str], tuple[str, ...]]:
    rows = packaged_table("wordnet/exceptions.tsv").iter_rows()
    return {(pos, form): tuple(bases.split()) for pos, form, bases in rows}


@cache
def _exception_table() -> pl.DataFrame:
    """One row for each irregular form and base: columns word, pos, form and attempt, from 1."""
    table = packaged_table("wordnet/exceptions.tsv").select(word="form", pos="pos", form=pl.col("bases").str.split(" "))
    return table.with_columns(attempt=pl.int_ranges(1, pl.col("form").list.len() + 1, dtype=pl.UInt8)).explode(
        "form", "attempt"
    )


def inflect(lemma: str, pos: str, tag: str) -> str:
    """The form of a word (``pos``: n, v, a, r or empty) that a Penn tag names."""
    slots = {"VB": "base", "VBP": "base", "VBZ": "third", "VBG": "gerund", "VBD": "past", "VBN": "participle"}
    if pos == "n" and tag == "NNS":
        return plural(lemma)
    if pos == "a" and tag in ("JJR", "JJS"):
        return compare_adjective(lemma, "er" if tag == "JJR" else "est")
    return forms_by_slot(lemma, "verb")[slots[tag]] if pos == "v" else lemma
