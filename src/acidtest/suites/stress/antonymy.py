"""Suite ``stress/antonymy``: a sentence paired with a copy in which one word is replaced by its antonym."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from acidtest.core.digests import SeenDigests, digests
from acidtest.core.draws import Draws
from acidtest.core.suite import PARSES, Kind, Suite
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.corpus import LABEL_COLUMNS, derive_suite, source_pairs, transform_rows
from acidtest.suites.stress import CITATION

_NAME = "stress/antonymy"
_COLUMNS: dict[str, Kind] = {"word": "text", "antonym": "text", "pos": "factor", "side": "factor", "place": "factor"}

Wsd = Literal["context", "lesk", "first"]


@generator(
    _NAME,
    summary="A sentence and itself with an adjective or a noun turned into its opposite, which contradict each other",
    rows=154,
    source="pairs",
    citation=CITATION,
    licence="Apache-2.0",
)
def antonymy(request: Request, *, wsd: Wsd = "context", tagger: str = "auto") -> Suite:
    """Every sentence of the corpus on its own, once for each adjective and noun whose opposite makes it false.

    Sentences are left out where an opposite need not contradict: modality, belief, negation, conditions, questions,
    quantifiers, comparisons, indefinite and existential sentences, idioms and names. ``wsd`` chooses the sense whose
    antonym is taken: ``context`` by the kind of thing the word is said of, from a table of our own; ``lesk`` as the
    paper, which needs glosses; ``first`` the most frequent. A premise comes before its changed self, a hypothesis after
    it, as in the paper.
    """
    from acidtest.text.tagging import tagger as load_tagger

    if wsd == "lesk":
        from acidtest.text.senses import require_glosses

        require_glosses(f"suite {_NAME!r} with wsd=lesk")
    pairs = source_pairs(request, columns=_COLUMNS)
    tagger_name = load_tagger(tagger).name
    reversal = WordReversal(Draws(request.seed, _NAME), wsd, tagger)
    rows = transform_rows(pairs.frame.drop(*LABEL_COLUMNS, *PARSES, strict=False), reversal.reverse_words)
    return derive_suite(
        _NAME,
        pairs,
        rows.lazy(),
        request=request,
        arguments={"wsd": wsd, "tagger": tagger_name},
        columns=_COLUMNS,
        crossings=(("pos", "place"),),
        left_out=reversal.left_out,
    )


@dataclass
class WordReversal:
    """Replaces words by their antonyms batch by batch; repeated sentences are skipped."""

    draws: Draws
    wsd: Wsd
    tagger: str
    left_out: Counter[str] = field(default_factory=Counter)
    _seen: SeenDigests = field(default_factory=SeenDigests)

    def reverse_words(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """A row for each replaced word, with the columns of the corpus, those of the suite, and ``variant``."""
        from acidtest.text.antonyms import replace_by_antonyms
        from acidtest.text.tokens import sentences

        # All premises, then all hypotheses.
        rows = sentences(pl.concat([pairs["premise"], pairs["hypothesis"]])).select(
            pl.col("text") % pairs.height,
            pl.when(pl.col("text") < pairs.height)
            .then(pl.lit("premise"))
            .otherwise(pl.lit("hypothesis"))
            .alias("side"),
            pl.int_range(pl.len()).over("text").cast(pl.String).alias("number"),
            "sentence",
        )
        rows = rows.filter(self._seen.new(digests(rows["sentence"])))
        opposites, left_out = replace_by_antonyms(rows["sentence"], wsd=self.wsd, tagger=self.tagger, draws=self.draws)
        self.left_out.update(left_out)
        changed = rows[opposites["text"]].hstack(opposites.drop("text")).sort("text", maintain_order=True)
        context = pairs.drop("premise", "hypothesis")[changed["text"]]
        is_premise = pl.col("side") == "premise"
        changed = changed.with_columns(
            pl.when(is_premise).then("sentence").otherwise("changed").alias("premise"),
            pl.when(is_premise).then("changed").otherwise("sentence").alias("hypothesis"),
            label=pl.lit("contradiction"),
            certainty=pl.lit("same-event"),
            variant=pl.concat_str("side", "number", "start", "antonym", separator="-"),
        )
        return context.hstack(changed.drop("text", "sentence", "changed", "number", "start"))
