"""Finds sentences that state an exact quantity as a plain fact, to be premises of the numerical reasoning suite.

They come from arithmetic problems (AQuA-RAT), from the premises and hypotheses of any NLI corpus, from a text or from
the starter corpus. Sentences whose label would be uncertain once a number is changed are left out and counted by
reason. Tokenised texts ("Ann has n't 5 apples ."), as in many NLI files, are detokenised.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from acidtest.core.digests import SeenDigests, digests
from acidtest.core.errors import AcidtestError
from acidtest.core.files import chunks, read_bytes
from acidtest.core.suite import Card, Kind, Suite, compact_frame, visit_batches
from acidtest.corpora.files import read_corpus
from acidtest.corpora.published_sets import AQUA_RAT
from acidtest.english.misspelling import is_english
from acidtest.english.sentences import Sentences
from acidtest.english.tagging import ENTITIES, is_given_name, tagger
from acidtest.english.tokens import sentences
from acidtest.english.values.numbers import NUMBER_WORDS, quantities
from acidtest.english.wordnet import wordnet
from acidtest.io import wordlists
from acidtest.io.blocks import utf8_text
from acidtest.io.rows import Rows, Spool
from acidtest.io.tables import read_table, stem
from acidtest.io.wordlists import packaged_table

_WORDS = "|".join(NUMBER_WORDS)
_MENTION = rf"\d|\b(?i:{_WORDS})\b"
"""Matches in any text with a number; no look-around, so that Polars can use it. The word "one" does not count."""

_NUMBER = rf"(?:[$£€]?\d[\d,.]*|(?i:{_WORDS}))"
"""The beginning of a number, for use in Polars patterns."""

_INTEGER = r"(?:^|[^\w.,])\d+(?:[^\w.,]|[.,](?:\D|$)|$)"
"""A separate whole number in digits, for use in Polars."""

_AQUA = frozenset({"question", "options", "rationale", "correct"})
_TOGETHER = 1 << 12
_AMOUNT = r"^[$£€]?\s*(-?\d[\d,]*(?:\.\d+)?|-?\.\d+)\s*%?$"

_TOKENISED = (
    r"(?i)[\p{L}\p{N}%'’\")\]] [.,!?]+(?: |$)|\p{L} n['’]t\b|\p{L} ['’] ?(?:s|m|d|ll|re|ve|t)(?: |$)|``|-[LR][RSC]B-"
    r"|&(?:apos|quot);| @[-,.]@ "
)
"""Signs that a text is tokenised; a colon between spaces (a ratio) and "10 %" are not, since people write them."""


@dataclass(frozen=True)
class Statements:
    """Sentences to be used as premises, and how many were left out, by reason."""

    rows: Rows
    """The column ``sentence`` and the columns of the corpus."""
    name: str
    kinds: Mapping[str, Kind]
    """The kinds of the corpus's columns."""
    sources: Mapping[str, str]
    licence: str
    tagger: str
    """The name of the tagger that found named entities; empty if none were required."""
    left_out: Mapping[str, int]
    corpus: str = ""
    """The published corpus that the sentences are from; empty for others."""


def statements(source: Suite | Path | None, *, entities: bool = False, faithful: bool = False) -> Statements:
    """The sentences of a source that can be premises; None means the starter corpus.

    Arithmetic problems are discarded as the paper says and sentences kept if some quantity can be changed with certain
    labels. ``entities`` requires a person, place or organisation, as the paper did. ``faithful`` discards problems as
    the released script did and keeps every sentence with a whole number; of AQuA-RAT those with a named entity.
    """
    given = read_pairs_or_path(source) if isinstance(source, Path) else source
    of_aqua = isinstance(given, Path) and is_aqua(given)
    sieve = _Sieve(named=entities or (of_aqua and faithful), faithful=faithful)
    if given is None:
        sieve.take(packaged_table("starter/quantities.tsv"))
        return sieve.statements(Card(wordlists.STARTER, columns={"genre": "factor"}, licence="Apache-2.0"))
    if isinstance(given, Suite):
        _take_pairs(given, sieve)
        return sieve.statements(given.card)
    if of_aqua:
        table = read_table(given)
        _take_problems(table.frame.select(_AQUA), sieve, faithful=faithful)
        # AQuA's files are called dev and test, which does not say what a suite was made from.
        name = stem(given) if "aqua" in stem(given).lower() else f"aqua-{stem(given)}"
        card = Card(name, sources=table.sources, licence="Apache-2.0")
        return replace(sieve.statements(card), corpus=AQUA_RAT)
    sieve.take_texts(_paragraphs(given))
    return sieve.statements(Card(stem(given)))


class _Sieve:
    """Collects suitable sentences in parts, without duplicates, and on disk where they are many."""

    def __init__(self, *, named: bool, faithful: bool) -> None:
        self.left_out = Counter[str]()
        self._named = named
        self._faithful = faithful
        self._seen = SeenDigests()
        self._kept = Spool()

    def keep(self, frame: pl.DataFrame, reason: str, kept: pl.Expr | pl.Series) -> pl.DataFrame:
        """The rows where ``kept`` is true; the others are counted under ``reason``."""
        left = frame.filter(kept)
        self.left_out[reason] += frame.height - left.height
        return left

    def take(self, sentences: pl.DataFrame) -> None:
        """Add the suitable sentences of the column ``sentence``, with their other columns, part by part."""
        for part in sentences.iter_slices(_TOGETHER):
            self._kept.add(compact_frame(self._filter_sentences(part)))

    def take_texts(self, texts: pl.DataFrame) -> None:
        """Split the texts in the column ``sentence`` into sentences and add these, with the other columns repeated."""
        # Tokenised texts are joined, except with ``faithful``: the released script did not join them.
        parts = sentences(texts["sentence"] if self._faithful else detokenise(texts["sentence"]))
        self.take(texts.select(pl.all().gather(parts["text"])).with_columns(parts["sentence"]))

    def statements(self, card: Card) -> Statements:
        """The sentences kept, with the name, columns, sources and licence of a corpus's card."""
        # Problems of numbers come last, sorted by name.
        reasons = sorted(self.left_out.items(), key=lambda item: item[0] if item[0].startswith("number: ") else "")
        left_out = {reason: count for reason, count in reasons if count}
        used_tagger = tagger().name if self._named else ""
        return Statements(self._kept.rows(), card.name, card.columns, card.sources, card.licence, used_tagger, left_out)

    def _filter_sentences(self, frame: pl.DataFrame) -> pl.DataFrame:
        number = _INTEGER if self._faithful else _MENTION
        frame = self.keep(frame, "no number", pl.col("sentence").str.contains(number))
        frame = self.keep(frame, "repeated", self._seen.new(digests(frame["sentence"])))
        if self._named:
            frame = self.keep(frame, "no named entity", _is_named(frame["sentence"]))
        if self._faithful:
            return frame
        for reason, pattern in packaged_table("quantities/exclusions.tsv").select("reason", "pattern").iter_rows():
            expected = pattern.replace("<number>", _NUMBER)
            frame = self.keep(frame, reason, ~pl.col("sentence").str.contains(expected))
        frame = self.keep(frame, "imperative", ~_is_order(frame["sentence"]))
        problems = pl.Series([_problem(sentence) for sentence in frame["sentence"]], dtype=pl.String)
        self.left_out.update(f"number: {problem}" for problem in problems if problem)
        return frame.filter(problems == "")


def is_aqua(path: Path) -> bool:
    """Whether a file holds AQuA-RAT problems: JSON lines with question, options, rationale and correct."""
    # A corrupt file gets its error message later, from its reader.
    with suppress(AcidtestError, ValueError, RecursionError), closing(chunks(path)) as pieces:
        first = json.loads(next(pieces, b"").partition(b"\n")[0])
        return isinstance(first, dict) and set(first) >= _AQUA
    return False


def is_prose(path: Path) -> bool:
    """Whether a file that cannot be read as pairs is a text: a ``.txt`` that does not begin like a table or JSON."""
    if not re.search(r"\.txt(\.gz)?$", path.name.lower()):
        return False
    text = _text(path).lstrip()
    return bool(text) and "\t" not in text.partition("\n")[0] and not text.startswith("{")


def read_pairs_or_path(path: Path) -> Suite | Path:
    """The pairs of an NLI file, or the path itself for AQuA-RAT problems or a text."""
    if is_aqua(path):
        return path
    try:
        return read_corpus(path).suite
    except AcidtestError:
        if not is_prose(path):
            raise
        return path


def _take_pairs(pairs: Suite, sieve: _Sieve) -> None:
    """Pass the sentences of premises and hypotheses to a sieve: each text once, and only texts with a number."""
    # Annotators' labels are about a pair, not about its sentences.
    columns = {*pairs.card.columns, "source_id"} - {"annotator_labels"}
    kept_columns = [name for name in pairs.frame.collect_schema() if name in columns]
    seen = SeenDigests()

    def look(batch: pl.DataFrame) -> None:
        both = pl.concat(
            batch.select(pl.col(side).alias("sentence"), *kept_columns) for side in ("premise", "hypothesis")
        )
        both = sieve.keep(both, "text without a number", pl.col("sentence").str.contains(_MENTION))
        sieve.take_texts(sieve.keep(both, "repeated text", seen.new(digests(both["sentence"]))))

    visit_batches(pairs.frame.select("premise", "hypothesis", *kept_columns), look)


def _take_problems(problems: pl.DataFrame, sieve: _Sieve, *, faithful: bool) -> None:
    """Pass the sentences of the questions of simple enough AQuA-RAT problems to a sieve."""
    marked = problems.select("options", pl.col("correct").str.strip_chars() + ")").iter_rows()
    answers = pl.Series(
        [
            next((option.removeprefix(mark).strip() for option in options if option.startswith(mark)), "")
            for options, mark in marked
        ],
        dtype=pl.String,
    )
    if faithful:
        above_one = answers.cast(pl.Float64, strict=False) > 1
        problems = sieve.keep(problems, "problem without a number above 1 as its answer", above_one)
        lines = problems["rationale"].str.strip_chars().str.count_matches("\n") + 1
        problems = sieve.keep(problems, "problem with a rationale of more than 5 lines", lines <= 5)
    else:
        problems = sieve.keep(problems, "problem without a numerical answer", answers.str.contains(_AMOUNT))
        short = _sentence_counts(problems["rationale"]) <= 3
        problems = sieve.keep(problems, "problem with a rationale of more than 3 sentences", short)
    sieve.take_texts(problems.select(sentence="question"))


def _sentence_counts(texts: pl.Series) -> pl.Series:
    """How many sentences each text has, where the end of a line also ends a sentence.

    Counted this way, a problem of dev or test yields on average a third of a sentence with a number; the paper reports
    a similar share, 40,000 sentences from about 98,000 problems.
    """
    lines = texts.str.split("\n").list.eval(pl.element().filter(pl.element().str.strip_chars() != ""))
    row = pl.Series(range(len(texts))).repeat_by(lines.list.len()).explode()
    within = row.gather(sentences(lines.explode())["text"]).to_numpy()
    return pl.Series(np.bincount(within, minlength=len(texts)))


def _paragraphs(path: Path) -> pl.DataFrame:
    """The paragraphs of a text if empty lines separate them, else its lines."""
    text = _text(path)
    parts = re.split(r"\n\s*\n", text) if re.search(r"\n\s*\n", text.strip()) else text.split("\n")
    return pl.DataFrame({"sentence": [" ".join(part.split()) for part in parts]})


def _text(path: Path) -> str:
    return utf8_text(path, read_bytes(path)).decode().replace("\r\n", "\n")


def _is_named(texts: pl.Series) -> pl.Series:
    """Whether each text names a person, place or organisation, listed or not."""
    words = Sentences.of(texts).frame
    named = words.filter(pl.col("entity").is_in(ENTITIES) | _unlisted_names(words))["text"]
    return pl.int_range(len(texts), eager=True).is_in(named.unique().implode())


def _unlisted_names(words: pl.DataFrame) -> pl.Series:
    """Which tokens are names that the tagger gives no entity.

    These are proper nouns that are not English words (Promila, Burghtown), and given names that begin a text before a
    possible verb ("John invested"). Days, months, subjects and planets are words of WordNet, so they do not count.
    """
    word = words["token"]
    proper = word.str.contains(r"^\p{Lu}\p{Ll}{2,}$") & words["tag"].is_in(["NNP", "NNPS"])
    units = packaged_table("quantities/words.tsv").filter(role="unit")["word"]
    known = is_english(word.str.to_lowercase()) | word.str.to_lowercase().is_in(units.implode())
    goes_on = words["tag"].shift(-1).is_in(["VBZ", "VBD", "VBN", "MD", "POS"]).fill_null(value=False)
    begins = (words["text"] != words["text"].shift(1)).fill_null(value=True)
    return (proper & ~known) | (pl.Series(is_given_name(word)) & begins & goes_on)


def _is_order(texts: pl.Series) -> pl.Series:
    """Whether each text begins with the base form of a verb and its object: *Serve the soup with two spoons.*"""
    opening = texts.str.to_lowercase().str.extract(r"^([a-z]+) (?:the|an?|this|these|those|it|them|your) ")
    bases = wordnet().base_form_frame(opening.drop_nulls().unique(), "v").filter(pl.col("word") == pl.col("base"))
    return opening.is_in(bases["word"].implode()).fill_null(value=False)


def _problem(sentence: str) -> str:
    judged = quantities(sentence)
    if not judged:
        return "no quantity"
    return "" if any(not quantity.problem for quantity in judged) else judged[0].problem


def detokenise(texts: pl.Series) -> pl.Series:
    """Tokenised texts with punctuation, brackets, quotes, clitics, currency and percent signs joined to words."""
    written = texts
    # Each row is a pattern of separated tokens and the joined text, in the order of application.
    for pattern, replacement in packaged_table("quantities/joins.tsv").iter_rows():
        written = written.str.replace_all(pattern, replacement)
    tokenised = texts.str.contains(_TOKENISED)
    return pl.select(pl.when(tokenised).then(written).otherwise(texts)).to_series().alias(texts.name)
