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

Recognises the patterns of verbs from words alone or from trees, and the words that open a clause.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import polars as pl

from acidtest.core.suite import Suite
from acidtest.english.inflection import VerbForms, verb_forms
from acidtest.english.trees import Tree, tree
from acidtest.io.wordlists import packaged_table
from acidtest.pairs.hans import PACKAGED, HansVocabulary, Templates, compile_templates, vocabulary

TOKEN = re.compile(r"[^\W_]+(?=n['’]t\b)|n['’]t\b|[^\W_]+|['’](?:s|m|re|ve|d|ll)\b|[^\w\s]")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


BE = _set("be am is are was were been being 'm 're 's ’m ’re ’s")
GET = _set("get gets got gotten getting")
HAVE = _set("have has had having 've 'd ’ve ’d")
_MODAL = _set("will would can could may might shall should must does do did ca wo 'll ’ll n't n’t")
_FINITE = (BE | HAVE | _MODAL) - _set("be been being having 's ’s")
_DETERMINERS = _set(
    "the a an this these those some any every each all both no another many several few most half one two three four "
    "five six seven eight nine ten my your his its our their"
)
_SUBJECTS = _set("i he she we they there")
_OBJECTS = _set(
    "me him us them myself yourself himself herself itself ourselves themselves everyone everybody everything someone "
    "somebody something anyone anybody anything nobody nothing"
)
_STARTS = _DETERMINERS | _set("it you her")
_PREPOSITIONS = _set(
    "at in on by for with from of into onto over under through across around about against along among behind below "
    "beneath beside besides between beyond down during inside near off out outside past toward towards up upon within "
    "without away back together like despite per via after before since until till"
)
_CONJUNCTIONS = _set("and or but because while when as although though unless once so then than whereas")
_ADVERBS = _set("not never always often just also still only already ever even again too well here n't n’t")
_ALSO_PREPOSITIONS = _set("after before since until till as once like than")
_CLAUSE_ENDS = _CONJUNCTIONS | _set("who which that if whether")
_BEFORE_BASE_FORMS = _MODAL | _SUBJECTS | _set("you to who that which people men women children both all")
_LOOK_AHEAD = 6


def pattern_from_tokens(tokens: Sequence[str], place: int, forms: VerbForms) -> str:
    """The pattern of the verb at a place in a sentence, judged by its neighbours; empty if they are not enough."""
    word, after = tokens[place], list(tokens[place + 1 :])
    # The word before, ignoring adverbs.
    earlier = [token for token in tokens[max(place - 3, 0) : place] if not _is_adverb(token) and token not in "'’"]
    before = earlier[-1] if earlier else ""
    is_participle, is_gerund = word in forms.participles, word.endswith("ing")
    if is_participle and before in BE | GET:
        return "passive"
    if before in _DETERMINERS or before == "-" or (before in _PREPOSITIONS and not is_gerund):
        return ""
    if is_participle and after[:1] == ["by"] and before not in HAVE | _SUBJECTS | {"it", "you", "who"}:
        return "reduced"
    pattern = _complement_of_tokens(after)
    if pattern == "clause" and is_gerund and before not in BE:
        # In "the man cleaning the hall is old" the finite verb belongs to the man.
        return "object" if after[0] not in _SUBJECTS else pattern
    if pattern == "alone" and word in forms.bases and not _may_precede_base_form(before):
        # "A quiet laugh", "his first visit to": more likely a noun.
        return ""
    return pattern


def openers(tokens: Sequence[str], by_first: Mapping[str, Sequence[list[str]]]) -> Iterator[str]:
    """The openers that precede a clause; the *if* of *even if* does not count by itself."""
    place = 0
    while place < len(tokens):
        candidates = by_first.get(tokens[place], ())
        words = next((words for words in candidates if tokens[place : place + len(words)] == words), None)
        place += len(words) if words else 1
        if words and _looks_like_clause(tokens[place:], words):
            yield " ".join(words)


def _may_precede_base_form(token: str) -> bool:
    """Whether a base form after this word may be a verb: *to run*, *they run*, *dogs run*."""
    is_plural = token.endswith("s") and token[0].isalnum() and not token.endswith(("ss", "us", "is"))
    return not token or is_plural or token in _BEFORE_BASE_FORMS | _CONJUNCTIONS


def _is_adverb(token: str) -> bool:
    return token in _ADVERBS or (token.endswith("ly") and len(token) > 4)


def _complement_of_tokens(after: Sequence[str]) -> str:
    rest = list(after)
    while rest and _is_adverb(rest[0]):
        rest = rest[1:]
    first, second = (*rest, "", "")[:2]
    if first == "that":
        return "that" if second[:1].isalnum() and second not in _PREPOSITIONS else "object"
    if first in _SUBJECTS:
        return "clause"
    if first in _OBJECTS:
        return "object"
    if first in _STARTS or first.isdigit():
        return "clause" if _has_finite(rest[1:]) else "object"
    if first == "to":
        return "alone" if second in _STARTS | _OBJECTS else ""
    is_end = not first[:1].isalnum()
    return "alone" if is_end or first in _PREPOSITIONS | _CONJUNCTIONS else ""


def _has_finite(tokens: Sequence[str], *, or_past: bool = False) -> bool:
    """Whether a finite auxiliary (or a word in -ed) is among the next words, before punctuation or another clause."""
    for token in tokens[:_LOOK_AHEAD]:
        if token in _FINITE or (or_past and token.endswith("ed")):
            return True
        if token in _CLAUSE_ENDS or not token[0].isalnum():
            return False
    return False


def _looks_like_clause(after: Sequence[str], opener: Sequence[str]) -> bool:
    first = after[0] if after else "."
    if first in _SUBJECTS:
        return True
    if opener[-1] in _ALSO_PREPOSITIONS:
        return _has_finite(after[1:], or_past=True)
    return first[0].isalnum() and first not in _PREPOSITIONS and not first.endswith("ing")


@dataclass(frozen=True)
class _PhraseContext:
    """The context of a phrase in a tree: its auxiliary, and whether its object may stand before the verb (moved)."""

    voice: Literal["", "passive", "perfect", "reduced"] = ""
    moved: bool = False
    in_noun_phrase: bool = False


def patterns_from_tree(root: Tree, verbs: Collection[str]) -> Iterator[tuple[str, str]]:
    """Each occurrence in a tree of one of the verbs (lower-case forms), with its pattern there."""
    return _patterns_below(root, verbs, _PhraseContext())


def _patterns_below(node: Tree, verbs: Collection[str], place: _PhraseContext) -> Iterator[tuple[str, str]]:
    label = _plain(node)
    if label == "VP":
        yield from _phrase_patterns(node, verbs, place)
    for number, child in enumerate(node.children):
        if isinstance(child, Tree) and isinstance(child.children[0], Tree):
            inner = _PhraseContext(_voice(node, number, place), _is_moved(node, child, place), label == "NP")
            yield from _patterns_below(child, verbs, inner)


def _phrase_patterns(phrase: Tree, verbs: Collection[str], place: _PhraseContext) -> Iterator[tuple[str, str]]:
    """The patterns of the verbs directly under a verb phrase."""
    for number, child in enumerate(phrase.children):
        form = _verb(child)
        if form not in verbs:
            continue
        is_active = _plain(child) != "VBN" or place.voice == "perfect"
        pattern = _complement_of_tree(phrase.children[number + 1 :]) if is_active else place.voice
        # In "who the judge visited" the object stands before the verb, so the verb is not alone.
        if pattern and not (pattern == "alone" and place.moved):
            yield form, pattern


def _voice(parent: Tree, number: int, place: _PhraseContext) -> Literal["", "passive", "perfect", "reduced"]:
    """The voice of a child phrase's participle, by the last auxiliary or a noun phrase before it in its parent."""
    label, before = _plain(parent), parent.children[:number]
    auxiliaries = [form for form in map(_verb, before) if form]
    if auxiliaries:
        last = auxiliaries[-1]
        return "passive" if last in BE | GET else "perfect" if last in HAVE else ""
    if label == "VP":
        return place.voice
    return "reduced" if label == "NP" and any(_plain(child) == "NP" for child in before) else ""


def _is_moved(parent: Tree, child: Tree, place: _PhraseContext) -> bool:
    """Whether the object below may be missing because it stands earlier, as in relative clauses and questions."""
    label = _plain(parent)
    if label == "NP":
        return False
    if label in ("SBAR", "SBARQ") and _plain(child) in ("S", "SQ"):
        labels = [_plain(sibling) for sibling in parent.children]
        relative = "WHNP" in labels or (place.in_noun_phrase and labels[0] == "S")
        return place.moved or (relative and any(_plain(part) == "NP" for part in child.children))
    return place.moved


def _complement_of_tree(after: Sequence[Tree | str]) -> str:
    """The pattern of a verb, judged by the phrases after it."""
    joined = False
    for phrase in after:
        label = _plain(phrase)
        if label == "NP" and not (isinstance(phrase, Tree) and "TMP" in phrase.label):
            return "object"
        if label == "S":
            return "clause" if _is_finite(phrase) else ""
        if label in ("SQ", "SBARQ", "SINV") or (label == "VP" and not joined):
            return ""
        opening = _opening(phrase) if label == "SBAR" else "adjunct"
        if opening != "adjunct":
            return opening
        joined = joined or label == "CC"
    return "alone"


def _opening(clause: Tree | str) -> str:
    """The kind of an SBAR: ``that``, ``clause`` (without an opener), ``adjunct``, or empty, as for a question."""
    for part in clause.children if isinstance(clause, Tree) else ():
        label, words = _plain(part), [leaf.lower() for leaf in part.leaves] if isinstance(part, Tree) else []
        if label == "SBAR":
            return _opening(part)
        if label == "S":
            return "clause" if _is_finite(part) else ""
        if label in ("IN", "DT"):
            return "that" if words == ["that"] else "" if words in (["whether"], ["if"]) else "adjunct"
        if label.startswith("WH"):
            return "adjunct" if words == ["when"] else ""
    return ""


def _is_finite(clause: Tree | str) -> bool:
    for part in clause.children if isinstance(clause, Tree) else ():
        if _plain(part) in ("S", "VP"):
            return _is_finite(part)
        if _plain(part) in ("VBD", "VBP", "VBZ", "MD"):
            return True
        if _plain(part) in ("TO", "VB", "VBG", "VBN"):
            return False
    return False


def _plain(node: Tree | str) -> str:
    """A label without its function tags: NP for NP-TMP."""
    return node.label.partition("-")[0] if isinstance(node, Tree) else ""


def _verb(node: Tree | str) -> str:
    """The lower-case word of a node tagged as a verb; empty for other nodes."""
    if isinstance(node, Tree) and node.label.startswith("VB") and isinstance(node.children[0], str):
        return node.children[0].lower()
    return ""


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
