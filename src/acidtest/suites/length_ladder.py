"""Suite ``length-ladder``: the premise within more and more unrelated text, to see where a model stops reading."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import Draws
from acidtest.core.errors import AcidtestError
from acidtest.core.streams import compact_frame, visit_batches
from acidtest.core.suite import PARSES, Kind, Suite
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.corpus import derive_suite, source_pairs

if TYPE_CHECKING:
    from acidtest.io.rows import Rows
    from acidtest.text.filler import Numbers

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
"""Words of unrelated sentences that a pair must leave; a longer text repeats them."""
_BATCH_ROWS = 16
"""Pairs whose texts are made at once: with the usual rungs they take some megabytes."""

# Among other sentences these words would refer to them.
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


@dataclass(frozen=True)
class Passage:
    """Sentences to put around a premise, in order, and the number of words up to the end of each."""

    sentences: Sequence[str]
    ends: Numbers

    def around(self, premise: str, words: int, position: str) -> str:
        """The premise at a position of a text of about ``words`` words."""
        # Two sentences or more, so that there is a middle.
        count = max(2, _sentences_for(self.ends, words))
        half = min(count - 1, _sentences_for(self.ends, int(self.ends[count - 1]) // 2))
        before = {"start": 0, "middle": half, "end": count}[position]
        return " ".join([*self.sentences[:before], premise, *self.sentences[before:count]])


def _sentences_for(ends: Numbers, words: int) -> int:
    """How many sentences, one or more, have about ``words`` words."""
    return int(np.abs(ends - words).argmin()) + 1


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
    """The pairs whose label stays in a longer text, and the number of others by reason."""
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
    """For each pair why its label might not stay, or null."""
    from acidtest.text.sentences import Sentences

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
    """A reason for each pair that touches so many topics that little unrelated text is left, or null."""
    from acidtest.text.filler import filler

    source = filler()
    texts = zip(pairs["premise"], pairs["hypothesis"], strict=True)
    words = pl.Series([source.lengths[source.unrelated(*pair)].sum() for pair in texts], dtype=pl.Int64)
    return pl.select(pl.when(words < _LEAST_FILLER).then(pl.lit("touches most topics"))).to_series()


def _embed_premises(pairs: Suite, rungs: Sequence[int], draws: Draws) -> Rows:
    """The pairs with every text around their premises, on disk when there are many."""
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
    passage = _passage(pair["premise"], pair["hypothesis"], rungs[-1], key=key, draws=draws)
    premise = _with_final_period(pair["premise"])
    for rung in rungs:
        for position in _POSITIONS:
            text = passage.around(premise, rung, position)
            yield {
                "premise": text,
                "words": str(rung),
                "position": position,
                "premise_words": float(len(text.split())),
                "variant": f"{rung}-{position}",
            }


def _passage(premise: str, hypothesis: str, words: int, *, key: np.uint64, draws: Draws) -> Passage:
    """Text of at least ``words`` words that has nothing to do with a pair.

    When all unrelated sentences have been used, they come again in another order.
    """
    from acidtest.text.filler import filler

    source = filler()
    unrelated = source.unrelated(premise, hypothesis)
    laps = -(-words // int(source.lengths[unrelated].sum()))
    order = np.concatenate([source.ordered(unrelated, key, draws=draws, lap=lap) for lap in range(laps)])
    return Passage([source.sentences[number] for number in order], np.cumsum(source.lengths[order]))


def _with_final_period(premise: str) -> str:
    """The premise, with a period at its end unless it has another final mark."""
    text = premise.strip()
    return text if re.search(r"[.!?…][\"'”’»)\]]*$", text) else f"{text}."
