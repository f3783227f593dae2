"""How often the words of a vocabulary occur in the patterns that templates put them in.

McCoy et al. (2019, section 3.1) chose "verbs that appeared at least 50 times in the MNLI training set in all relevant
frames": a model should not be tested on *the doctor believed the lawyer saw the officer* if it never saw *believe* with
a clause. Frames, called patterns here, are counted from parses in Penn brackets, or else from words alone.

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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import polars as pl

from acidtest.core.suite import Suite
from acidtest.english.inflection import verb_forms
from acidtest.english.trees import tree
from acidtest.english.verb_patterns import TOKEN, openers, pattern_from_tokens, patterns_from_tree
from acidtest.io.wordlists import packaged_table
from acidtest.pairs.hans import Templates, compile_templates
from acidtest.pairs.hans_vocabulary import PACKAGED, HansVocabulary, vocabulary

VERB_PATTERNS = ("object", "clause", "that", "alone", "passive", "reduced")
PATTERNS = (*VERB_PATTERNS, "first", "opens")

Way = Literal["parses", "words"]


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
    """Number of distinct premises: each counts once, however many hypotheses it has."""
    hypotheses: int
    left_out: int
    """Number of distinct sentences without a readable parse, if parses are used."""
    uses: tuple[Use, ...]
    forms: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class WordList:
    """A list of a vocabulary: its words, their purpose, and the patterns they need."""

    name: str
    words: tuple[str, ...]
    about: str
    frames: tuple[str, ...]
    origin: str
    """The vocabulary it comes from: lists missing in a user's file come from ``fresh``."""

    def to_json(self) -> dict[str, Any]:
        """As ``acidtest words --json`` prints it."""
        shown = {"about": self.about, "frames": list(self.frames), "from": self.origin}
        return {"count": len(self.words), **shown, "words": list(self.words)}


@dataclass(frozen=True)
class WordReport:
    """The lists of a valid vocabulary, and which of its words are too rare in a training set."""

    vocabulary: str
    lists: tuple[WordList, ...]
    least: int
    counts: UsageCounts | None = None

    @property
    def below(self) -> list[Use]:
        """The uses that occur less often than ``least``."""
        uses = self.counts.uses if self.counts else ()
        return [use for use in uses if use.count is not None and use.count < self.least]

    def to_json(self) -> dict[str, Any]:
        """As ``acidtest words --json`` prints it."""
        lists = {word_list.name: word_list.to_json() for word_list in self.lists}
        report = {"schema": 1, "vocabulary": self.vocabulary, "valid": True, "lists": lists, "counts": None}
        if self.counts is not None:
            counts = self.counts
            report["counts"] = {
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
        return report


def word_report(words: str = "fresh", train: Suite | None = None, *, file: str = "", least: int = 50) -> WordReport:
    """The lists of a vocabulary and, given a training set, how often their words occur there in the patterns needed."""
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
    counter = _UsageCounter(words)
    sentences, premises, hypotheses = _sentences(train)
    parsed = sentences["parse"].is_not_null()
    way: Way = "parses" if len(parsed) and 2 * parsed.sum() >= len(parsed) else "words"
    left_out = 0
    counter.count_first(sentences)
    if way == "parses":
        sentences = sentences.filter(parsed)
        counter.count_openings(sentences)
        left_out = int((~parsed).sum()) + counter.count_trees(sentences)
    else:
        counter.count_tokens(sentences)
    forms = {word: tuple(sorted(those.every)) for word, those in counter.forms.items()}
    return UsageCounts(file or train.name, way, premises, hypotheses, left_out, tuple(counter.uses()), forms)


def _word_lists(words: HansVocabulary) -> Iterator[WordList]:
    fresh = vocabulary("fresh").lists
    for name, frames, about in packaged_table("hans/lists.tsv").select("list", "frames", "about").iter_rows():
        given = words.name in PACKAGED or words.lists[name] is not fresh[name]
        texts = tuple(word.text for word in words.lists[name])
        yield WordList(name, texts, about, tuple(frames.split()), words.name if given else "fresh")


def _sentences(train: Suite) -> tuple[pl.DataFrame, int, int]:
    """The distinct sentences (columns text, parse and times), and the number of premises and hypotheses counted."""
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


class _UsageCounter:
    """Counts the words of a vocabulary in the patterns that its lists need."""

    def __init__(self, words: HansVocabulary) -> None:
        self.counts = Counter[tuple[str, str]]()
        """How often each word was seen in each pattern."""
        self.needs = dict[str, dict[str, list[str]]]()
        """For each word and pattern, the lists that need it."""
        lemmas = dict[str, str]()
        for name, patterns in packaged_table("hans/lists.tsv").select("list", "frames").iter_rows():
            for word in words.lists[name] if patterns else ():
                base = word.lemma if word.lemma != word.text or not word.text.endswith("ed") else ""
                lemmas[word.text] = lemmas.get(word.text) or base
                for pattern in patterns.split():
                    self.needs.setdefault(word.text, {}).setdefault(pattern, []).append(name)
        openers, self.adverbs, verbs = (
            [text for text, needed in self.needs.items() if needed.keys() & {*patterns}]
            for patterns in (("opens",), ("first",), VERB_PATTERNS)
        )
        self.openers = [text.split() for text in openers]
        self.forms = {text: verb_forms(text, lemmas[text]) for text in verbs if " " not in text}
        self.verbs = dict[str, list[str]]()
        """Verb form → the verbs that it may be a form of."""
        for text, forms in self.forms.items():
            for form in forms.every:
                self.verbs.setdefault(form, []).append(text)

    def uses(self) -> Iterator[Use]:
        """Every word in every pattern it is needed in."""
        for text, patterns in self.needs.items():
            for pattern, lists in patterns.items():
                count: int | None = self.counts[text, pattern]
                note = ""
                if pattern in VERB_PATTERNS and text not in self.forms:
                    count, note = None, "a verb of several words is not counted"
                elif pattern in VERB_PATTERNS and not self.forms[text].known:
                    note = f"sought only as {text!r}: write its base form into column 'lemma'"
                yield Use(text, pattern, tuple(lists), count, note)

    def count_first(self, sentences: pl.DataFrame) -> None:
        """Count how often each adverb begins a sentence, including later sentences of a text."""
        either = _either((text.split() for text in self.adverbs), between=r"\s+")
        for text, times in _matches(sentences, "text", rf"(?i)(?:^|[.!?]\W*\s)\W*{either}\b"):
            self.counts[" ".join(re.sub(r"^\W+", "", text.lower()).split()), "first"] += times

    def count_openings(self, sentences: pl.DataFrame) -> None:
        """Count how often each opener directly precedes a clause with a subject: ``(IN if) (S (NP …``."""
        either = _either(self.openers, between=r"\)+\s*(?:\([^\s()]+\s+)+")
        # Two brackets close after (WHADVP (WRB when)); with three the word ends another phrase, as in "he came once".
        pattern = rf"(?i)\s{either}\){{1,2}}\s*\(S\s+\((?:NP|ADVP|PP|SBAR)\b"
        for text, times in _matches(sentences, "parse", pattern):
            self.counts[" ".join(re.findall(r"([^\s()]+)\)", text)).lower(), "opens"] += times

    def count_trees(self, sentences: pl.DataFrame) -> int:
        """Count the verbs of every tree by pattern; returns the number of parses that cannot be read."""
        either = _either([verb] for verb in self.verbs)
        with_verb = sentences.filter(pl.col("parse").str.contains(rf"(?i)\(VB[DGNPZ]?\s+{either}\)"))
        unread = 0
        for brackets, times in with_verb.select("parse", "times").iter_rows():
            try:
                root = tree(brackets)
            except ValueError:
                unread += 1
                continue
            for form, pattern in patterns_from_tree(root, self.verbs):
                for verb in self.verbs[form]:
                    self.counts[verb, pattern] += times
        return unread

    def count_tokens(self, sentences: pl.DataFrame) -> None:
        """Count the verbs and openers of every sentence, recognised from words alone."""
        longest = sorted(self.openers, key=len, reverse=True)
        by_first = {first: [words for words in longest if words[0] == first] for first, *_ in longest}
        either = _either([word] for word in {*self.verbs, *by_first})
        with_word = sentences.filter(pl.col("text").str.contains(rf"(?i)\b{either}\b"))
        for text, times in with_word.select("text", "times").iter_rows():
            tokens = TOKEN.findall(text.lower())
            for place, token in enumerate(tokens):
                for verb in self.verbs.get(token, ()):
                    self.counts[verb, pattern_from_tokens(tokens, place, self.forms[verb])] += times
            for opener in openers(tokens, by_first):
                self.counts[opener, "opens"] += times


def _either(texts: Iterable[Sequence[str]], *, between: str = " ") -> str:
    """A pattern for any of some texts, given as words, the longest first; one that never matches when there is none."""
    longest = sorted(texts, key=lambda words: (-len(words), words))
    patterns = [between.join(map(re.escape, words)) for words in longest] or [r"[^\s\S]"]
    return f"(?:{'|'.join(patterns)})"


def _matches(sentences: pl.DataFrame, column: str, pattern: str) -> Iterable[tuple[str, int]]:
    matches = sentences.lazy().select(pl.col(column).str.extract_all(pattern), "times")
    matches = matches.filter(pl.col(column).list.len() > 0).explode(column)
    return matches.group_by(column, maintain_order=True).agg(pl.sum("times")).collect().iter_rows()
