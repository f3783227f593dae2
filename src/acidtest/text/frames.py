"""How often the words of a vocabulary occur in the frames that templates put them in.

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
from acidtest.text.hans_templates import Templates, plan
from acidtest.text.inflection import Forms, verb_forms
from acidtest.text.templates import Word
from acidtest.text.token_frames import TOKEN, openers, token_frame
from acidtest.text.tree_frames import tree_frames
from acidtest.text.trees import tree
from acidtest.text.vocabulary import PACKAGED, Vocabulary, vocabulary

VERB_FRAMES = ("object", "clause", "that", "alone", "passive", "reduced")
FRAMES = (*VERB_FRAMES, "first", "opens")

Way = Literal["parses", "words"]

_NEVER = r"[^\s\S]"
_LEAF = re.compile(r"([^\s()]+)\)")


@dataclass(frozen=True)
class Use:
    """How often a word occurs in a frame that some lists need; ``count`` is None where ``note`` says why."""

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
class Counts:
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
    """A list of a vocabulary: its words, what they are for, and the frames they need."""

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
    counts: Counts | None = None

    @property
    def below(self) -> list[Use]:
        """The uses that occur less often than they should."""
        uses = self.counts.uses if self.counts else ()
        return [use for use in uses if use.count is not None and use.count < self.least]

    def to_json(self) -> dict[str, Any]:
        """As ``acidtest words --json`` prints it."""
        lists = {each.name: each.to_json() for each in self.lists}
        return {"schema": 1, "vocabulary": self.vocabulary, "valid": True, "lists": lists, "counts": self._counts()}

    def _counts(self) -> dict[str, Any] | None:
        if self.counts is None:
            return None
        found = self.counts
        return {
            "train": found.file,
            "from": found.way,
            "premises": found.premises,
            "hypotheses": found.hypotheses,
            "left_out": found.left_out,
            "least": self.least,
            "passed": not self.below,
            "below": [use.to_json() for use in self.below],
            "uses": [use.to_json() for use in found.uses],
            "forms": {word: list(forms) for word, forms in found.forms.items()},
        }


@dataclass(frozen=True)
class _Wanted:
    """What is sought: verbs by each of their forms, openers and adverbs by their text."""

    forms: Mapping[str, Forms]
    verbs: Mapping[str, tuple[str, ...]]
    openers: Collection[str]
    adverbs: Collection[str]


@dataclass
class _Sought:
    """A word with the lists that need a frame of it."""

    lemma: str = ""
    frames: dict[str, list[str]] = field(default_factory=dict)


def word_report(words: str = "fresh", train: Suite | None = None, *, file: str = "", least: int = 50) -> WordReport:
    """The lists of a vocabulary and, given a training set, how often it has the words in the frames they need."""
    chosen = vocabulary(words)
    for templates in get_args(Templates):
        # What no template can be made with is told here too.
        plan(templates, chosen)
    counts = None if train is None else frame_counts(chosen, train, file=file or train.name)
    return WordReport(chosen.name, tuple(_word_lists(chosen)), least, counts)


def frame_counts(words: Vocabulary, train: Suite, *, file: str = "") -> Counts:
    """How often each word of a vocabulary occurs in the frames its lists need.

    A premise counts once, however often it is repeated: it is one sentence with several hypotheses. A hypothesis
    counts as often as it was written. Parses are used when at least half of the sentences have one.
    """
    sought = _sought(words)
    wanted = _wanted(sought)
    sentences, premises, hypotheses = _sentences(train)
    parsed = sentences["parse"].is_not_null()
    way: Way = "parses" if len(parsed) and 2 * parsed.sum() >= len(parsed) else "words"
    found = _first_counts(sentences, wanted.adverbs)
    left_out = 0
    if way == "parses":
        left_out = len(parsed) - int(parsed.sum())
        sentences = sentences.filter(parsed)
        found += _opening_counts(sentences, wanted.openers)
        left_out += _count_trees(sentences, wanted, found)
    else:
        _count_tokens(sentences, wanted, found)
    uses = tuple(_uses(sought, wanted, found))
    forms = {word: tuple(sorted(those.every)) for word, those in wanted.forms.items()}
    return Counts(file or train.name, way, premises, hypotheses, left_out, uses, forms)


def _word_lists(words: Vocabulary) -> Iterator[WordList]:
    fresh = vocabulary("fresh").lists
    for name, frames, about in packaged_table("hans/lists.tsv").select("list", "frames", "about").iter_rows():
        own = words.name in PACKAGED or words.lists[name] is not fresh[name]
        texts = tuple(word.text for word in words.lists[name])
        yield WordList(name, texts, about, tuple(frames.split()), words.name if own else "fresh")


def _sought(words: Vocabulary) -> dict[str, _Sought]:
    """The words that need some frame, in the order of the lists."""
    sought = dict[str, _Sought]()
    for name, frames in packaged_table("hans/lists.tsv").select("list", "frames").iter_rows():
        for word in words.lists[name] if frames else ():
            entry = sought.setdefault(word.text, _Sought())
            entry.lemma = entry.lemma or _base(word)
            for frame in frames.split():
                entry.frames.setdefault(frame, []).append(name)
    return sought


def _base(word: Word) -> str:
    return word.lemma if word.lemma != word.text or not word.text.endswith("ed") else ""


def _wanted(sought: Mapping[str, _Sought]) -> _Wanted:
    verbs = {text: entry for text, entry in sought.items() if " " not in text and entry.frames.keys() & {*VERB_FRAMES}}
    forms = {text: verb_forms(text, entry.lemma) for text, entry in verbs.items()}
    by_form = dict[str, tuple[str, ...]]()
    for text, those in forms.items():
        for form in those.every:
            by_form[form] = (*by_form.get(form, ()), text)
    openers = {text for text, entry in sought.items() if "opens" in entry.frames}
    return _Wanted(forms, by_form, openers, {text for text, entry in sought.items() if "first" in entry.frames})


def _uses(sought: Mapping[str, _Sought], wanted: _Wanted, found: Counter[tuple[str, str]]) -> Iterator[Use]:
    for text, entry in sought.items():
        for frame, lists in entry.frames.items():
            if frame in VERB_FRAMES and text not in wanted.forms:
                yield Use(text, frame, tuple(lists), None, "a verb of several words is not counted")
                continue
            known = frame not in VERB_FRAMES or wanted.forms[text].known
            note = "" if known else f"sought only as {text!r}: write its base form into column 'lemma'"
            yield Use(text, frame, tuple(lists), found[text, frame], note)


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
    found = Counter[tuple[str, str]]()
    either = _either(adverbs, between=r"\s+")
    for text, times in _matches(sentences, "text", rf"(?i)(?:^|[.!?]\W*\s)\W*{either}\b"):
        found[" ".join(re.sub(r"^\W+", "", text.lower()).split()), "first"] += times
    return found


def _opening_counts(sentences: pl.DataFrame, openers: Collection[str]) -> Counter[tuple[str, str]]:
    """How often each opener stands right before a clause with a subject: ``(IN if) (S (NP …``."""
    either = _either(openers, between=r"\)+\s*(?:\([^\s()]+\s+)+")
    # Two brackets close in (WHADVP (WRB when)); after three the word ends a phrase of its own, as in "he came once".
    found = Counter[tuple[str, str]]()
    for text, times in _matches(sentences, "parse", rf"(?i)\s{either}\){{1,2}}\s*\(S\s+\((?:NP|ADVP|PP|SBAR)\b"):
        found[" ".join(_LEAF.findall(text)).lower(), "opens"] += times
    return found


def _either(texts: Collection[str], *, between: str) -> str:
    """A pattern for any of some texts, the longest first; one that never matches when there is none."""
    longest = sorted(texts, key=lambda text: (-text.count(" "), text))
    patterns = [between.join(map(re.escape, text.split())) for text in longest]
    return f"(?:{'|'.join(patterns or [_NEVER])})"


def _matches(sentences: pl.DataFrame, column: str, pattern: str) -> Iterable[tuple[str, int]]:
    found = sentences.lazy().select(pl.col(column).str.extract_all(pattern), "times")
    found = found.filter(pl.col(column).list.len() > 0).explode(column)
    return found.group_by(column, maintain_order=True).agg(pl.sum("times")).collect().iter_rows()


def _count_trees(sentences: pl.DataFrame, wanted: _Wanted, found: Counter[tuple[str, str]]) -> int:
    """Add the verbs of every tree that has one; give the number of parses that are none."""
    either = _either(wanted.verbs, between=" ")
    with_verb = sentences.filter(pl.col("parse").str.contains(rf"(?i)\(VB[DGNPZ]?\s+{either}\)"))
    unread = 0
    for brackets, times in with_verb.select("parse", "times").iter_rows():
        try:
            root = tree(brackets)
        except ValueError:
            unread += 1
            continue
        for form, frame in tree_frames(root, wanted.verbs):
            for verb in wanted.verbs[form]:
                found[verb, frame] += times
    return unread


def _count_tokens(sentences: pl.DataFrame, wanted: _Wanted, found: Counter[tuple[str, str]]) -> None:
    """Add the verbs and openers of every sentence, told from words alone."""
    longest = sorted((text.split() for text in wanted.openers), key=len, reverse=True)
    by_first = {first: [words for words in longest if words[0] == first] for first, *_ in longest}
    either = _either({*wanted.verbs, *by_first}, between=" ")
    with_word = sentences.filter(pl.col("text").str.contains(rf"(?i)\b{either}\b"))
    for text, times in with_word.select("text", "times").iter_rows():
        tokens = TOKEN.findall(text.lower())
        for place, token in enumerate(tokens):
            for verb in wanted.verbs.get(token, ()):
                found[verb, token_frame(tokens, place, wanted.forms[verb])] += times
        for opener in openers(tokens, by_first):
            found[opener, "opens"] += times
