"""Suite ``length-ladder``: the premise within more and more unrelated text, to see where a model stops reading."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import Draws
from acidtest.core.errors import AcidtestError
from acidtest.core.streams import compacted, visit_batches
from acidtest.core.suite import PARSES, Kind, Suite
from acidtest.io.rows import Rows, Spool
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.corpus import corpus, derived
from acidtest.text.clauses import unsaid
from acidtest.text.filler import Numbers, filler

NAME = "length-ladder"
VERSION = 1
CITATION = (
    "acidtest; the place of the premise as a factor after Liu et al. (2024). Lost in the Middle: How Language Models "
    "Use Long Contexts. TACL."
)

RUNGS = "32,64,128,256,512,1024,2048,4096"
POSITIONS = ("start", "middle", "end")
COLUMNS: dict[str, Kind] = {"words": "factor", "position": "factor", "premise_words": "covariate"}

_FEWEST, _MOST = 16, 100_000
_SHORTEST = 3
"""Words that a premise has at least: "Very simply." says nothing by itself."""
_LEAST = 1_000
"""Words of unrelated sentences that must be there for a pair; beyond them, they come again."""
_TOGETHER = 16
"""Pairs whose texts are made at once: with the usual rungs they take some megabytes."""

# Between other sentences these would speak of what those say.
_REFERS = (
    r"(?i)^\W*(?:it|its|they|their|theirs|them|this|that|these|those|such|then|thus|so|and|but|or|yet|however|also)\b"
)
_OF_EVERYTHING = r"(?i)\b(?:every|any|no|some)(?:thing|where)\b|\bthings?\b|\b(?:text|passage|paragraph|sentence)s?\b"


@generator(
    NAME,
    summary="The premise within 32 to 4,096 words of unrelated text, at its start, in its middle and at its end",
    rows=2_568,
    source="pairs",
    citation=CITATION,
    licence="Apache-2.0",
)
def length_ladder(request: Request, *, rungs: str = RUNGS, pairs: int = 120) -> Suite:
    """Each premise among sentences that have nothing to do with the pair, once for each rung and position.

    ``rungs`` are numbers of words around the premise, joined by commas or, where those make several suites, by plus
    signs; the untouched pairs are the control. ``pairs`` is how many source pairs are used when ``-n`` does not say.
    Sentences stay whole, so a text has a few words more or fewer than its rung; ``premise_words`` counts them. The text
    of a rung is part of that of the next. The label stays: no added sentence shares a content word with the pair, is
    of a topic the pair touches, or names a thing of a kind that the hypothesis names. Left out are pairs that assert
    nothing, begin with a word such as *they* that might mean something in the added text, or speak of everything.
    """
    steps = _rungs(rungs)
    if pairs < 1:
        raise AcidtestError(f"--pairs is a number from 1 on, not {pairs}")
    told = replace(request, n=request.n or pairs, at_most=request.at_most or request.n is None)
    chosen, left_out = _plain(corpus(told, columns=COLUMNS))
    made = derived(
        NAME,
        chosen,
        _embedded(chosen, steps, Draws(request.seed, NAME)).lazy(),
        version=VERSION,
        request=request,
        citation=CITATION,
        arguments={"rungs": "+".join(map(str, steps))},
        columns=COLUMNS,
        crossings=(("words", "position"),),
    )
    return replace(made, card=replace(made.card, left_out=dict(left_out.most_common())))


@dataclass(frozen=True)
class _Passage:
    """Sentences to put around a premise, in order, and how many words there are up to the end of each."""

    sentences: Sequence[str]
    ends: Numbers

    def around(self, premise: str, words: int, position: str) -> str:
        """The premise at a position of a text of about so many words."""
        # Two sentences or more, so that there is a middle.
        count = max(2, _nearest(self.ends, words))
        half = min(count - 1, _nearest(self.ends, int(self.ends[count - 1]) // 2))
        before = {"start": 0, "middle": half, "end": count}[position]
        return " ".join([*self.sentences[:before], premise, *self.sentences[before:count]])


def _nearest(ends: Numbers, words: int) -> int:
    """How many sentences, one or more, have about so many words."""
    return int(np.abs(ends - words).argmin()) + 1


def _rungs(text: str) -> list[int]:
    parts = [part.strip() for part in re.split(r"[,+]", text)]
    if not all(part.isdecimal() and (int(part) == 0 or _FEWEST <= int(part) <= _MOST) for part in parts):
        raise AcidtestError(
            f"--rungs are numbers of words from {_FEWEST} to {_MOST:,}, such as 32,256,2048, not {text!r}"
        )
    found = sorted({int(part) for part in parts} - {0})
    if not found:
        raise AcidtestError("--rungs has no number of words above 0; the untouched pairs are the control in any case")
    return found


def _plain(pairs: Suite) -> tuple[Suite, Counter[str]]:
    """The pairs whose label stays in a longer text, and how many others there are by reason."""
    kept, left_out = list[str](), Counter[str]()

    def look(batch: pl.DataFrame) -> None:
        reasons = _reasons(batch).fill_null(_crowded(batch))
        left_out.update(reasons.drop_nulls())
        kept.extend(batch["id"].filter(reasons.is_null()))

    visit_batches(pairs.frame.select("id", "premise", "hypothesis"), look)
    ids = pl.Series(kept, dtype=pl.String)
    frame = pairs.frame.drop(*PARSES, strict=False).filter(pl.col("id").is_in(ids.implode()))
    return replace(pairs, frame=frame), left_out


def _reasons(pairs: pl.DataFrame) -> pl.Series:
    """For each pair why its label might not stay, null where there is no reason."""
    sides = ("premise", "hypothesis")
    told = pl.DataFrame({side: unsaid(pairs[side]) for side in sides})
    refers = pl.any_horizontal(pl.col(sides).str.contains(_REFERS))
    general = pl.col("hypothesis").str.contains(_OF_EVERYTHING)
    more = pairs.select(
        short=pl.when(pl.col("premise").str.split(" ").list.len() < _SHORTEST).then(pl.lit("no sentence")),
        refers=pl.when(refers).then(pl.lit("refers to a text before")),
        general=pl.when(general).then(pl.lit("speaks of everything")),
    )
    return pl.concat([told, more], how="horizontal").select(pl.coalesce(pl.all()).alias("reason"))["reason"]


def _crowded(pairs: pl.DataFrame) -> pl.Series:
    """For each pair whether it touches so many topics that little can be said beside it."""
    source = filler()
    texts = zip(pairs["premise"], pairs["hypothesis"], strict=True)
    words = pl.Series([source.lengths[source.unrelated(*pair)].sum() for pair in texts], dtype=pl.Int64)
    return pl.select(pl.when(words < _LEAST).then(pl.lit("touches most topics"))).to_series()


def _embedded(pairs: Suite, rungs: Sequence[int], draws: Draws) -> Rows:
    """The pairs with every text around their premises; kept on disk where it is much."""
    kept = Spool()
    schema = dict[str, Any](pairs.frame.collect_schema())
    schema |= dict.fromkeys(("words", "position", "variant"), pl.String) | {"premise_words": pl.Float64}

    def look(batch: pl.DataFrame) -> None:
        for part in batch.iter_slices(_TOGETHER):
            keys = digests(part["id"])
            rows = [
                pair | row
                for pair, key in zip(part.iter_rows(named=True), keys, strict=True)
                for row in _rows(pair, rungs, key, draws)
            ]
            kept.add(compacted(pl.DataFrame(rows, schema=schema)))

    visit_batches(pairs.frame, look)
    return kept.rows(schema)


def _rows(pair: dict[str, Any], rungs: Sequence[int], key: np.uint64, draws: Draws) -> Iterator[dict[str, Any]]:
    passage = _passage(pair["premise"], pair["hypothesis"], rungs[-1], key=key, draws=draws)
    premise = _ended(pair["premise"])
    for rung in rungs:
        for position in POSITIONS:
            text = passage.around(premise, rung, position)
            yield {
                "premise": text,
                "words": str(rung),
                "position": position,
                "premise_words": float(len(text.split())),
                "variant": f"{rung}-{position}",
            }


def _passage(premise: str, hypothesis: str, words: int, *, key: np.uint64, draws: Draws) -> _Passage:
    """Text of at least so many words that has nothing to do with a pair.

    When all sentences that are left have been used, they come again in another order.
    """
    source = filler()
    free = source.unrelated(premise, hypothesis)
    laps = -(-words // int(source.lengths[free].sum()))
    order = np.concatenate([source.ordered(free, key, draws=draws, lap=lap) for lap in range(laps)])
    return _Passage([source.sentences[number] for number in order], np.cumsum(source.lengths[order]))


def _ended(premise: str) -> str:
    """The premise with a period, if it has no mark at its end that parts it from a sentence after it."""
    text = premise.strip()
    return text if re.search(r"[.!?…][\"'”’»)\]]*$", text) else f"{text}."
