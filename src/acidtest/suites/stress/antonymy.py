"""Suite ``stress/antonymy``: a sentence and itself with a word turned into its opposite."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import polars as pl

from acidtest.core.digests import Seen, digests
from acidtest.core.draws import Draws
from acidtest.core.suite import PARSES, Kind, Suite
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.corpus import OF_THE_PAIR, corpus, derived, gathered
from acidtest.suites.stress.distraction import CITATION
from acidtest.text.antonyms import Wsd, turned
from acidtest.text.glosses import glosses_place
from acidtest.text.tagging import tagger as tagger_called
from acidtest.text.tokens import sentences

NAME = "stress/antonymy"
VERSION = 1

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
    rows = gathered(pairs.frame.drop(*OF_THE_PAIR, *PARSES, strict=False), found.made)
    made = derived(
        NAME,
        pairs,
        rows.lazy(),
        version=VERSION,
        request=request,
        citation=CITATION,
        arguments={"wsd": wsd, "tagger": used.name},
        columns=COLUMNS,
        crossings=(("pos", "place"),),
    )
    card = replace(made.card, left_out=dict(found.left_out.most_common()))
    return replace(made, card=card)


@dataclass
class _Found:
    """The changed sentences of a corpus, gathered batch by batch; each sentence is looked at once."""

    draws: Draws
    wsd: Wsd
    tagger: str

    def __post_init__(self) -> None:
        self.left_out = Counter[str]()
        self._seen = Seen()

    def made(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """The columns of the corpus but labels, certainty and trees, those of the suite, and variant."""
        rows = pl.concat([_sentences(pairs, side) for side in ("premise", "hypothesis")])
        rows = rows.filter(self._seen.new(digests(rows["sentence"])))
        opposites, left_out = turned(rows["sentence"], wsd=self.wsd, tagger=self.tagger, draws=self.draws)
        self.left_out.update(left_out)
        found = rows[opposites["text"]].hstack(opposites.drop("text")).sort("text", maintain_order=True)
        told = pairs.drop("premise", "hypothesis")[found["text"]]
        return told.hstack(_changed(found.drop("text")))


def _sentences(pairs: pl.DataFrame, side: str) -> pl.DataFrame:
    """The sentences of one side: the pair they are from, which side, which sentence of it, and the sentence."""
    number = pl.int_range(pl.len()).over("text").cast(pl.String)
    return sentences(pairs[side]).select("text", pl.lit(side).alias("side"), number.alias("number"), "sentence")


def _changed(found: pl.DataFrame) -> pl.DataFrame:
    """The sentences as pairs; the original goes first where it was a premise."""
    first = pl.col("side") == "premise"
    return found.with_columns(
        pl.when(first).then("sentence").otherwise("changed").alias("premise"),
        pl.when(first).then("changed").otherwise("sentence").alias("hypothesis"),
        label=pl.lit("contradiction"),
        certainty=pl.lit("same-event"),
        variant=pl.concat_str("side", "number", "start", "antonym", separator="-"),
    ).drop("sentence", "changed", "number", "start")
