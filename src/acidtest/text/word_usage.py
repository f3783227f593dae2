"""How often the words of a vocabulary occur in the patterns that templates put them in.

McCoy et al. (2019, section 3.1) chose "verbs that appeared at least 50 times in the MNLI training set in all relevant
frames": nobody should be asked about *the doctor believed the lawyer saw the officer* who never met *believe* with a
clause. Frames are counted from parses in Penn brackets, or from words alone where a file has none.

| frame | from parses | from words |
|---|---|---|
| object | a noun phrase follows in the verb phrase | a determiner, possessive, number or object pronoun follows |
| clause | a finite clause follows that nothing opens | a subject pronoun follows, or an object and a finite auxiliary |
| that | a clause follows that *that* opens | *that* follows, and then a word |
| alone | no noun phrase, clause or verb phrase follows | the end, punctuation, a preposition, conjunction or adverb |
| passive | a participle under a form of *be* or *get* | a participle right after such a form |
| reduced | a participle phrase after a noun phrase, inside another | a participle before *by*, after no auxiliary |
| first | at the beginning of a sentence | the same |
| opens | right before a clause that has a subject | before what looks like a clause |
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import polars as pl

from acidtest.core.suite import Suite
from acidtest.io.wordlists import packaged_table
from acidtest.text.hans_templates import Templates, compile_templates
from acidtest.text.inflection import VerbForms, verb_forms
from acidtest.text.templates import Word
from acidtest.text.trees import tree
from acidtest.text.verb_patterns import TOKEN, openers, pattern_from_tokens, patterns_from_tree
from acidtest.text.vocabulary import PACKAGED, HansVocabulary, vocabulary

VERB_PATTERNS = ("object", "clause", "that", "alone", "passive", "reduced")
PATTERNS = (*VERB_PATTERNS, "first", "opens")

Way = Literal["parses", "words"]

_NEVER = r"[^\s\S]"
_LEAF = re.compile(r"([^\s()]+)\)")


@dataclass(frozen=True)
class Use:
    """How often a word occurs in a pattern that some lists need; ``count`` is None where ``note`` says why."""

    word: str
    frame: str
    lists: tuple[str, ...]
    count: int | None
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """As ``acidtest words --json`` prints it."""
        note = {"note": self.note} if self.note else {}
        return {"word": self.word, "frame": self.frame, "count": self.count, "lists": list(self.lists), **note}


@dataclass(frozen=True)
class UsageCounts:
    """The uses of a vocabulary's words in a file, and what they were counted from."""

    file: str
    way: Way
    premises: int
    """Distinct ones: each counts once, however many hypotheses it has."""
    hypotheses: int
    left_out: int
    """Distinct sentences without a parse that can be read, where the others have one."""
    uses: tuple[Use, ...]
    forms: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class WordList:
    """A list of a vocabulary: its words, what they are for, and the patterns they need."""

    name: str
    words: tuple[str, ...]
    about: str
    frames: tuple[str, ...]
    origin: str
    """The vocabulary it is from: a user's file takes what it does not have from ``fresh``."""

    def to_json(self) -> dict[str, Any]:
        """As ``acidtest words --json`` prints it."""
        shown = {"about": self.about, "frames": list(self.frames), "from": self.origin}
        return {"count": len(self.words), **shown, "words": list(self.words)}


@dataclass(frozen=True)
class WordReport:
    """What a valid vocabulary holds, and which of its words a training set shows too rarely."""

    vocabulary: str
    lists: tuple[WordList, ...]
    least: int
    counts: UsageCounts | None = None

    @property
    def below(self) -> list[Use]:
        """The uses that occur less often than they should."""
        uses = self.counts.uses if self.counts else ()
        return [use for use in uses if use.count is not None and use.count < self.least]

    def to_json(self) -> dict[str, Any]:
        """As ``acidtest words --json`` prints it."""
        lists = {word_list.name: word_list.to_json() for word_list in self.lists}
        return {"schema": 1, "vocabulary": self.vocabulary, "valid": True, "lists": lists, "counts": self._counts()}

    def _counts(self) -> dict[str, Any] | None:
        if self.counts is None:
            return None
        counts = self.counts
        return {
            "train": counts.file,
            "from": counts.way,
            "premises": counts.premises,
            "hypotheses": counts.hypotheses,
            "left_out": counts.left_out,
            "least": self.least,
            "passed": not self.below,
            "below": [use.to_json() for use in self.below],
            "uses": [use.to_json() for use in counts.uses],
            "forms": {word: list(forms) for word, forms in counts.forms.items()},
        }


@dataclass(frozen=True)
class _SearchTerms:
    """What is sought: verbs by each of their forms, openers and adverbs by their text."""

    forms: Mapping[str, VerbForms]
    verbs: Mapping[str, tuple[str, ...]]
    openers: Collection[str]
    adverbs: Collection[str]


@dataclass
class _PatternNeeds:
    """A word with the lists that need a pattern of it."""

    lemma: str = ""
    frames: dict[str, list[str]] = field(default_factory=dict)


def word_report(words: str = "fresh", train: Suite | None = None, *, file: str = "", least: int = 50) -> WordReport:
    """The lists of a vocabulary and, given a training set, how often it has the words in the patterns they need."""
    chosen = vocabulary(words)
    for templates in get_args(Templates):
        # Compiling raises an error where no template can be filled from the vocabulary.
        compile_templates(templates, chosen)
    counts = None if train is None else count_usage(chosen, train, file=file or train.name)
    return WordReport(chosen.name, tuple(_word_lists(chosen)), least, counts)


def count_usage(words: HansVocabulary, train: Suite, *, file: str = "") -> UsageCounts:
    """How often each word of a vocabulary occurs in the patterns its lists need.

    A premise counts once, however often it is repeated: it is one sentence with several hypotheses. A hypothesis
    counts as often as it was written. Parses are used when at least half of the sentences have one.
    """
    needs = _words_by_pattern(words)
    terms = _search_terms(needs)
    sentences, premises, hypotheses = _sentences(train)
    parsed = sentences["parse"].is_not_null()
    way: Way = "parses" if len(parsed) and 2 * parsed.sum() >= len(parsed) else "words"
    counts = _first_counts(sentences, terms.adverbs)
    left_out = 0
    if way == "parses":
        left_out = len(parsed) - int(parsed.sum())
        sentences = sentences.filter(parsed)
        counts += _opening_counts(sentences, terms.openers)
        left_out += _count_trees(sentences, terms, counts)
    else:
        _count_tokens(sentences, terms, counts)
    uses = tuple(_uses(needs, terms, counts))
    forms = {word: tuple(sorted(those.every)) for word, those in terms.forms.items()}
    return UsageCounts(file or train.name, way, premises, hypotheses, left_out, uses, forms)


def _word_lists(words: HansVocabulary) -> Iterator[WordList]:
    fresh = vocabulary("fresh").lists
    for name, frames, about in packaged_table("hans/lists.tsv").select("list", "frames", "about").iter_rows():
        given = words.name in PACKAGED or words.lists[name] is not fresh[name]
        texts = tuple(word.text for word in words.lists[name])
        yield WordList(name, texts, about, tuple(frames.split()), words.name if given else "fresh")


def _words_by_pattern(words: HansVocabulary) -> dict[str, _PatternNeeds]:
    """The words that need some pattern, in the order of the lists."""
    sought = dict[str, _PatternNeeds]()
    for name, patterns in packaged_table("hans/lists.tsv").select("list", "frames").iter_rows():
        for word in words.lists[name] if patterns else ():
            entry = sought.setdefault(word.text, _PatternNeeds())
            entry.lemma = entry.lemma or _base(word)
            for pattern in patterns.split():
                entry.frames.setdefault(pattern, []).append(name)
    return sought


def _base(word: Word) -> str:
    return word.lemma if word.lemma != word.text or not word.text.endswith("ed") else ""


def _search_terms(needs: Mapping[str, _PatternNeeds]) -> _SearchTerms:
    verbs = {text: entry for text, entry in needs.items() if " " not in text and entry.frames.keys() & {*VERB_PATTERNS}}
    forms = {text: verb_forms(text, entry.lemma) for text, entry in verbs.items()}
    by_form = dict[str, tuple[str, ...]]()
    for text, those in forms.items():
        for form in those.every:
            by_form[form] = (*by_form.get(form, ()), text)
    openers = {text for text, entry in needs.items() if "opens" in entry.frames}
    return _SearchTerms(forms, by_form, openers, {text for text, entry in needs.items() if "first" in entry.frames})


def _uses(needs: Mapping[str, _PatternNeeds], terms: _SearchTerms, counts: Counter[tuple[str, str]]) -> Iterator[Use]:
    for text, entry in needs.items():
        for pattern, lists in entry.frames.items():
            if pattern in VERB_PATTERNS and text not in terms.forms:
                yield Use(text, pattern, tuple(lists), None, "a verb of several words is not counted")
                continue
            known = pattern not in VERB_PATTERNS or terms.forms[text].known
            note = "" if known else f"sought only as {text!r}: write its base form into column 'lemma'"
            yield Use(text, pattern, tuple(lists), counts[text, pattern], note)


def _sentences(train: Suite) -> tuple[pl.DataFrame, int, int]:
    """Each sentence (text, parse or null) with how many times it counts; how many premises and hypotheses count."""
    names = train.frame.collect_schema().names()
    one_parse = pl.col("parse").drop_nulls().first()
    parts = []
    for role in ("premise", "hypothesis"):
        parse = pl.col(f"{role}_parse") if f"{role}_parse" in names else pl.lit(None, dtype=pl.String)
        parse = pl.when(parse.str.contains("(", literal=True)).then(parse)
        part = train.frame.select(text=pl.col(role), parse=parse).group_by("text")
        times = pl.len() if role == "hypothesis" else pl.lit(1)
        parts.append(part.agg(one_parse, times=times.cast(pl.Int64)))
    premises, hypotheses = pl.collect_all(parts)
    whole = pl.concat([premises, hypotheses]).group_by("text").agg(one_parse, pl.sum("times"))
    return whole, premises.height, int(hypotheses["times"].sum())


def _first_counts(sentences: pl.DataFrame, adverbs: Collection[str]) -> Counter[tuple[str, str]]:
    """How often each adverb begins a sentence, also one inside a longer text."""
    counts = Counter[tuple[str, str]]()
    either = _either(adverbs, between=r"\s+")
    for text, times in _matches(sentences, "text", rf"(?i)(?:^|[.!?]\W*\s)\W*{either}\b"):
        counts[" ".join(re.sub(r"^\W+", "", text.lower()).split()), "first"] += times
    return counts


def _opening_counts(sentences: pl.DataFrame, openers: Collection[str]) -> Counter[tuple[str, str]]:
    """How often each opener stands right before a clause with a subject: ``(IN if) (S (NP …``."""
    either = _either(openers, between=r"\)+\s*(?:\([^\s()]+\s+)+")
    # Two brackets close in (WHADVP (WRB when)); after three the word ends a phrase of its own, as in "he came once".
    counts = Counter[tuple[str, str]]()
    for text, times in _matches(sentences, "parse", rf"(?i)\s{either}\){{1,2}}\s*\(S\s+\((?:NP|ADVP|PP|SBAR)\b"):
        counts[" ".join(_LEAF.findall(text)).lower(), "opens"] += times
    return counts


def _either(texts: Collection[str], *, between: str) -> str:
    """A pattern for any of some texts, the longest first; one that never matches when there is none."""
    longest = sorted(texts, key=lambda text: (-text.count(" "), text))
    patterns = [between.join(map(re.escape, text.split())) for text in longest]
    return f"(?:{'|'.join(patterns or [_NEVER])})"


def _matches(sentences: pl.DataFrame, column: str, pattern: str) -> Iterable[tuple[str, int]]:
    matches = sentences.lazy().select(pl.col(column).str.extract_all(pattern), "times")
    matches = matches.filter(pl.col(column).list.len() > 0).explode(column)
    return matches.group_by(column, maintain_order=True).agg(pl.sum("times")).collect().iter_rows()


def _count_trees(sentences: pl.DataFrame, terms: _SearchTerms, counts: Counter[tuple[str, str]]) -> int:
    """Add the verbs of every tree that has one; give the number of parses that are none."""
    either = _either(terms.verbs, between=" ")
    with_verb = sentences.filter(pl.col("parse").str.contains(rf"(?i)\(VB[DGNPZ]?\s+{either}\)"))
    unread = 0
    for brackets, times in with_verb.select("parse", "times").iter_rows():
        try:
            root = tree(brackets)
        except ValueError:
            unread += 1
            continue
        for form, pattern in patterns_from_tree(root, terms.verbs):
            for verb in terms.verbs[form]:
                counts[verb, pattern] += times
    return unread


def _count_tokens(sentences: pl.DataFrame, terms: _SearchTerms, counts: Counter[tuple[str, str]]) -> None:
    """Add the verbs and openers of every sentence, recognised from words alone."""
    longest = sorted((text.split() for text in terms.openers), key=len, reverse=True)
    by_first = {first: [words for words in longest if words[0] == first] for first, *_ in longest}
    either = _either({*terms.verbs, *by_first}, between=" ")
    with_word = sentences.filter(pl.col("text").str.contains(rf"(?i)\b{either}\b"))
    for text, times in with_word.select("text", "times").iter_rows():
        tokens = TOKEN.findall(text.lower())
        for place, token in enumerate(tokens):
            for verb in terms.verbs.get(token, ()):
                counts[verb, pattern_from_tokens(tokens, place, terms.forms[verb])] += times
        for opener in openers(tokens, by_first):
            counts[opener, "opens"] += times
