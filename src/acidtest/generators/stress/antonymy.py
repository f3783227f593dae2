"""Suite ``stress/antonymy``: a sentence and itself with a word turned into its opposite."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import Draws
from acidtest.core.streams import compacted, visit_batches
from acidtest.core.suite import PARSES, Kind, Suite
from acidtest.generators.corpus import corpus, derived
from acidtest.generators.stress.distraction import CITATION
from acidtest.sources.antonyms import Wsd, turned
from acidtest.sources.glosses import glosses_place
from acidtest.sources.tagging import tagger as tagger_called
from acidtest.sources.tokens import sentences
from acidtest.suites.catalogue import Request, generator

NAME = "stress/antonymy"
VERSION = 1

_TOGETHER = 1 << 12

COLUMNS: dict[str, Kind] = {"word": "text", "antonym": "text", "pos": "factor", "side": "factor", "place": "factor"}


@generator(
    NAME,
    summary="A sentence and itself with an adjective or a noun turned into its opposite, which contradict each other",
    rows=154,
    source="pairs",
    citation=CITATION,
    licence="Apache-2.0",
)
def antonymy(request: Request, *, wsd: Wsd = "context", tagger: str = "auto") -> Suite:
    """Every sentence of the corpus on its own, once for each adjective and noun whose opposite makes it false.

    Left out is what does not flip: modality, belief, negation, conditions, questions, quantifiers, comparisons,
    indefinite and existential sentences, idioms and names. ``wsd`` chooses the sense whose antonym is taken:
    ``context`` by the kind of thing the word is said of, from a table of our own; ``lesk`` as the paper, which needs
    glosses; ``first`` the most frequent. A premise comes before its changed self, a hypothesis after it, as in the
    paper.
    """
    if wsd == "lesk":
        glosses_place(f"suite {NAME!r} with wsd=lesk")
    pairs = corpus(request, columns=COLUMNS)
    used = tagger_called(tagger)
    found = _Found(Draws(request.seed, NAME), wsd, tagger)
    visit_batches(pairs.frame.select("id", "premise", "hypothesis"), found.look)
    made = derived(
        NAME,
        pairs,
        _rows(pairs.frame, found.frame),
        version=VERSION,
        request=request,
        citation=CITATION,
        arguments={"wsd": wsd, "tagger": used.name},
        columns=COLUMNS,
        crossings=(("pos", "place"),),
    )
    return replace(made, card=replace(made.card, left_out=dict(found.left_out.most_common())))


@dataclass
class _Found:
    """The changed sentences of a corpus, gathered batch by batch; each sentence is looked at once."""

    draws: Draws
    wsd: Wsd
    tagger: str

    def __post_init__(self) -> None:
        self.left_out = Counter[str]()
        self._seen = np.zeros(0, dtype=np.uint64)
        self._parts = list[pl.DataFrame]()

    @property
    def frame(self) -> pl.DataFrame:
        """Columns id, side, sentence, changed, variant, word, antonym, pos and place."""
        return pl.concat(self._parts)

    def look(self, batch: pl.DataFrame) -> None:
        """Take the sentences of some pairs, not too many at once: tokens and tags take far more room than text."""
        for part in batch.iter_slices(_TOGETHER):
            self._take(part)

    def _take(self, batch: pl.DataFrame) -> None:
        rows = pl.concat([_sentences(batch, side) for side in ("premise", "hypothesis")])
        rows = rows.with_columns(key=pl.Series(digests(rows["sentence"])))
        rows = rows.unique("key", keep="first", maintain_order=True).filter(
            ~pl.col("key").is_in(pl.Series(self._seen).implode())
        )
        self._seen = np.union1d(self._seen, rows["key"].to_numpy())
        opposites, left_out = turned(rows["sentence"], wsd=self.wsd, tagger=self.tagger, draws=self.draws)
        self.left_out.update(left_out)
        self._parts.append(compacted(rows.drop("key")[opposites["text"]].hstack(opposites.drop("text"))))


def _sentences(batch: pl.DataFrame, side: str) -> pl.DataFrame:
    found = sentences(batch[side])
    number = pl.int_range(pl.len()).over("text").cast(pl.String)
    return found.select(
        batch["id"].gather(found["text"]).alias("id"), pl.lit(side).alias("side"), number.alias("number"), "sentence"
    )


def _rows(frame: pl.LazyFrame, found: pl.DataFrame) -> pl.LazyFrame:
    """The pairs that gave a changed sentence, with it; the original goes first where it was a premise."""
    known = frame.filter(pl.col("id").is_in(found["id"].unique().implode())).drop("premise", "hypothesis", "label")
    first = pl.col("side") == "premise"
    return (
        known.drop(PARSES, strict=False)
        .join(found.lazy(), on="id", maintain_order="left_right")
        .with_columns(
            pl.when(first).then("sentence").otherwise("changed").alias("premise"),
            pl.when(first).then("changed").otherwise("sentence").alias("hypothesis"),
            label=pl.lit("contradiction"),
            certainty=pl.lit("same-event"),
            variant=pl.concat_str("side", "number", "start", "antonym", separator="-"),
        )
        .drop("sentence", "changed", "number", "start")
    )
