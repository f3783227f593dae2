"""Suite ``length-ladder``: the premise within more and more unrelated text, to see where a model stops reading.

The text is made of plain sentences about things that few premises mention. None is about people or animals, has a
negation, or makes a claim about everything, so that they do not change the label.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from acidtest.core.digests import digests
from acidtest.core.draws import U64, Draws, mix_bits
from acidtest.core.errors import AcidtestError
from acidtest.core.suite import PARSES, Kind, Suite, compact_frame, visit_batches
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.corpus import derive_suite, source_pairs

if TYPE_CHECKING:
    from acidtest.io.rows import Rows

Numbers = NDArray[np.int64]

CITATION = (
    "acidtest; the place of the premise as a factor after Liu et al. (2024). Lost in the Middle: How Language Models "
    "Use Long Contexts. TACL."
)

_NAME = "length-ladder"
_RUNGS = "32,64,128,256,512,1024,2048,4096"
_POSITIONS = ("start", "middle", "end")
_COLUMNS: dict[str, Kind] = {"words": "factor", "position": "factor", "premise_words": "covariate"}

_MIN_RUNG, _MAX_RUNG = 16, 100_000
_SHORTEST_PREMISE = 3
"""Words that a premise must have: "Very simply." says nothing by itself."""
_LEAST_FILLER = 1_000
"""A pair with fewer words of unrelated sentences is dropped; a longer text repeats the sentences."""
_BATCH_ROWS = 16
"""Pairs whose texts are made at once: with the usual rungs they take some megabytes."""

# At the beginning of a sentence these words could refer to the sentences added before it.
_REFERS = (
    r"(?i)^\W*(?:it|its|they|their|theirs|them|this|that|these|those|such|then|thus|so|and|but|or|yet|however|also)\b"
)
_SAYS_EVERYTHING = r"(?i)\b(?:every|any|no|some)(?:thing|where)\b|\bthings?\b|\b(?:text|passage|paragraph|sentence)s?\b"


@generator(
    _NAME,
    summary="The premise within 32 to 4,096 words of unrelated text, at its start, in its middle and at its end",
    rows=2_568,
    source="pairs",
    citation=CITATION,
    licence="Apache-2.0",
)
def length_ladder(request: Request, *, rungs: str = _RUNGS, pairs: int = 120) -> Suite:
    """Each premise among sentences that have nothing to do with the pair, once for each rung and position.

    ``rungs`` are numbers of words around the premise, joined by commas or, where those make several suites, by plus
    signs; the untouched pairs are the control. ``pairs`` is how many source pairs are used when ``-n`` does not say.
    Sentences stay whole, so a text has a few words more or fewer than its rung; ``premise_words`` counts them. The text
    of a rung is part of that of the next. The label stays: no added sentence shares a content word with the pair, is
    of a topic the pair touches, or names a thing of a kind that the hypothesis names. Left out are pairs that assert
    nothing, begin with a word such as *they* that might mean something in the added text, or speak of everything.
    """
    numbers = _parse_rungs(rungs)
    if pairs < 1:
        raise AcidtestError(f"--pairs is a number from 1 on, not {pairs}")
    sample = replace(request, n=request.n or pairs, at_most=request.at_most or request.n is None)
    chosen, left_out = _drop_unfit(source_pairs(sample, columns=_COLUMNS))
    return derive_suite(
        _NAME,
        chosen,
        _embed_premises(chosen, numbers, Draws(request.seed, _NAME)).lazy(),
        request=request,
        arguments={"rungs": "+".join(map(str, numbers))},
        columns=_COLUMNS,
        crossings=(("words", "position"),),
        left_out=left_out,
    )


def _parse_rungs(text: str) -> list[int]:
    parts = [part.strip() for part in re.split(r"[,+]", text)]
    if not all(part.isdecimal() and (int(part) == 0 or _MIN_RUNG <= int(part) <= _MAX_RUNG) for part in parts):
        raise AcidtestError(
            f"--rungs are numbers of words from {_MIN_RUNG} to {_MAX_RUNG:,}, such as 32,256,2048, not {text!r}"
        )
    rungs = sorted({int(part) for part in parts} - {0})
    if not rungs:
        raise AcidtestError("--rungs has no number of words above 0; the untouched pairs are the control in any case")
    return rungs


def _drop_unfit(pairs: Suite) -> tuple[Suite, Counter[str]]:
    """The pairs whose label does not change in a longer text, and the number of others by reason."""
    kept, left_out = list[str](), Counter[str]()

    def visit(batch: pl.DataFrame) -> None:
        reasons = _unfit_reasons(batch).fill_null(_crowded_reasons(batch))
        left_out.update(reasons.drop_nulls())
        kept.extend(batch["id"].filter(reasons.is_null()))

    visit_batches(pairs.frame.select("id", "premise", "hypothesis"), visit)
    ids = pl.Series(kept, dtype=pl.String)
    frame = pairs.frame.drop(*PARSES, strict=False).filter(pl.col("id").is_in(ids.implode()))
    return replace(pairs, frame=frame), left_out


def _unfit_reasons(pairs: pl.DataFrame) -> pl.Series:
    """For each pair the reason why its label might change in a longer text, or null."""
    from acidtest.english.sentences import Sentences

    sides = ("premise", "hypothesis")
    unsaid_reasons = pl.DataFrame({side: Sentences.of(pairs[side]).non_assertions() for side in sides})
    refers = pl.any_horizontal(pl.col(sides).str.contains(_REFERS))
    general = pl.col("hypothesis").str.contains(_SAYS_EVERYTHING)
    other_reasons = pairs.select(
        short=pl.when(pl.col("premise").str.split(" ").list.len() < _SHORTEST_PREMISE).then(pl.lit("no sentence")),
        refers=pl.when(refers).then(pl.lit("refers to a text before")),
        general=pl.when(general).then(pl.lit("speaks of everything")),
    )
    return pl.concat([unsaid_reasons, other_reasons], how="horizontal").select(reason=pl.coalesce(pl.all()))["reason"]


def _crowded_reasons(pairs: pl.DataFrame) -> pl.Series:
    """For each pair a reason where it touches so many topics that little unrelated text is left, or null."""
    source = filler()
    texts = zip(pairs["premise"], pairs["hypothesis"], strict=True)
    words = pl.Series([source.lengths[source.unrelated(*pair)].sum() for pair in texts], dtype=pl.Int64)
    return pl.select(pl.when(words < _LEAST_FILLER).then(pl.lit("touches most topics"))).to_series()


def _embed_premises(pairs: Suite, rungs: Sequence[int], draws: Draws) -> Rows:
    """Each pair with its premise inside the text of every rung and position; on disk when there are many."""
    from acidtest.io.rows import Spool

    spool = Spool()
    schema = dict[str, Any](pairs.frame.collect_schema())
    schema |= dict.fromkeys(("words", "position", "variant"), pl.String) | {"premise_words": pl.Float64}

    def visit(batch: pl.DataFrame) -> None:
        for part in batch.iter_slices(_BATCH_ROWS):
            keys = digests(part["id"])
            rows = [
                pair | row
                for pair, key in zip(part.iter_rows(named=True), keys, strict=True)
                for row in _rows(pair, rungs, key, draws)
            ]
            spool.add(compact_frame(pl.DataFrame(rows, schema=schema)))

    visit_batches(pairs.frame, visit)
    return spool.rows(schema)


def _rows(pair: dict[str, Any], rungs: Sequence[int], key: np.uint64, draws: Draws) -> Iterator[dict[str, Any]]:
    source = filler()
    order = source.passage(pair["premise"], pair["hypothesis"], rungs[-1], key=key, draws=draws)
    sentences, ends = [source.sentences[number] for number in order], np.cumsum(source.lengths[order])
    premise = pair["premise"].strip()
    premise = premise if re.search(r"[.!?…][\"'”’»)\]]*$", premise) else f"{premise}."
    for rung in rungs:
        # Two sentences or more, so that there is a middle.
        count = max(2, _sentences_for(ends, rung))
        half = min(count - 1, _sentences_for(ends, int(ends[count - 1]) // 2))
        for position, before in zip(_POSITIONS, (0, half, count), strict=True):
            text = " ".join([*sentences[:before], premise, *sentences[before:count]])
            yield {
                "premise": text,
                "words": str(rung),
                "position": position,
                "premise_words": float(len(text.split())),
                "variant": f"{rung}-{position}",
            }


def _sentences_for(ends: Numbers, words: int) -> int:
    """How many sentences, at least one, come closest to ``words`` words; ``ends`` are cumulative word counts."""
    return int(np.abs(ends - words).argmin()) + 1


@dataclass(frozen=True)
class Filler:
    """The sentences that can be added, how many words each has, and which of them a word of a pair rules out."""

    sentences: tuple[str, ...]
    lengths: Numbers
    keys: U64
    topics: U64
    """The digest of each sentence's topic."""
    of_word: Mapping[str, Numbers]
    """By word: the sentences that have it in any form, or whose topic it belongs to."""
    of_kind: Mapping[str, Numbers]
    """By kind: the sentences that name something of that kind, such as one about brine for *liquid*."""

    def unrelated(self, premise: str, hypothesis: str) -> Numbers:
        """The sentences that share no content word with a pair and name nothing of a kind its hypothesis names."""
        free = np.ones(len(self.sentences), dtype=np.bool_)
        named = content_words(hypothesis)
        for word in content_words(premise) | named:
            free[self.of_word.get(word, [])] = False
        for word in named:
            free[self.of_kind.get(word, [])] = False
        return np.flatnonzero(free)

    def passage(self, premise: str, hypothesis: str, words: int, *, key: np.uint64, draws: Draws) -> Numbers:
        """Unrelated sentences with at least ``words`` words in all, topic by topic, in an order drawn for ``key``.

        When all of them have been used, they are repeated in another order.
        """
        unrelated = self.unrelated(premise, hypothesis)
        row = mix_bits(np.full(len(unrelated), key, dtype=np.uint64))
        laps = list[Numbers]()
        for lap in range(-(-words // int(self.lengths[unrelated].sum()))):
            topic = draws.bits(row ^ self.topics[unrelated], "topic", lap)
            laps.append(unrelated[np.lexsort((draws.bits(row ^ self.keys[unrelated], "sentence", lap), topic))])
        return np.concatenate(laps)


@cache
def filler() -> Filler:
    """The packaged sentences; ``data/ladder/topics.tsv`` has words that rule out a whole topic."""
    from acidtest.io.wordlists import packaged_table

    table, topics = packaged_table("ladder/filler.tsv"), packaged_table("ladder/topics.tsv")
    subjects = dict(zip(topics["topic"], map(content_words, topics["words"]), strict=True))
    words = [content_words(text) for text in table["sentence"]]
    return Filler(
        sentences=tuple(table["sentence"]),
        lengths=table["sentence"].str.split(" ").list.len().to_numpy().astype(np.int64),
        keys=digests(table["sentence"]),
        topics=digests(table["topic"]),
        of_word=_rows_by_word([part | subjects[topic] for part, topic in zip(words, table["topic"], strict=True)]),
        of_kind=_rows_by_word([{kind for word in part for kind in _kinds(word)} for part in words]),
    )


def _rows_by_word(words: Sequence[set[str]]) -> dict[str, Numbers]:
    rows = pl.DataFrame({"word": [sorted(word_set) for word_set in words]}).with_row_index("row").explode("word")
    grouped = rows.drop_nulls().group_by("word").agg(pl.col("row").cast(pl.Int64))
    return {word: np.array(places, dtype=np.int64) for word, places in grouped.iter_rows()}


def content_words(text: str) -> set[str]:
    """The words of a text without function words, in lower case, each also in its base forms."""
    from acidtest.english.clauses import function_words

    words = (word for word in re.findall(r"[^\W_]{2,}", text.lower()) if word not in function_words())
    return {form for word in words for form in _forms(word)}


@cache
def _forms(word: str) -> frozenset[str]:
    from acidtest.english.wordnet import wordnet

    return frozenset((word, *wordnet().base_forms(word)))


@cache
def _kinds(word: str) -> frozenset[str]:
    """The names of everything that a noun is a kind of, in its most common sense."""
    from acidtest.english.wordnet import wordnet

    net = wordnet()
    paths = (path for synset in net.synsets(word, "n")[:1] for path in net.hypernym_paths(synset))
    return frozenset(lemma.lower() for path in paths for ancestor in path for lemma in net.lemmas(ancestor))
