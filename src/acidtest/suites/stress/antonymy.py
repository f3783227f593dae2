"""Suite ``stress/antonymy``: a sentence paired with a copy in which one word is replaced by its antonym."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from acidtest.core.digests import SeenDigests, digests
from acidtest.core.draws import Draws
from acidtest.core.errors import AcidtestError
from acidtest.core.suite import PARSES, Argument, Kind, Suite
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.corpus import LABEL_COLUMNS, derive_suite, detach_unlabelled, source_pairs, transform_rows
from acidtest.suites.stress import CITATION

_NAME = "stress/antonymy"
_RELEASED: dict[str, Kind] = {"word": "text", "antonym": "text", "pos": "factor", "side": "factor"}
_COLUMNS: dict[str, Kind] = {**_RELEASED, "place": "factor", "caution": "factor"}

Wsd = Literal["context", "lesk", "first"]
Caution = Literal["high", "medium", "low"]


@generator(
    _NAME,
    summary="A sentence and itself with a word turned into its opposite, which contradict each other",
    rows=316,
    source="pairs",
    citation=CITATION,
    licence="Apache-2.0",
    needs_gold=False,
)
def antonymy(
    request: Request,
    *,
    caution: Caution = "medium",
    wsd: Wsd = "context",
    tagger: str = "auto",
    faithful: bool = False,
) -> Suite:
    """Every sentence of the corpus on its own, once for each word whose opposite makes it false.

    Adjectives, nouns, verbs and adverbs are replaced where they say something of a definite thing in a clause that the
    writer asserts. ``caution`` moves along the curve of yield against certainty: ``high`` takes plain clauses without
    anything that could soften them, ``low`` also generic statements, indefinite objects, and what people think or say.
    ``wsd`` chooses the sense whose antonym is taken: ``context`` by the kind of thing the word is said of, from a table
    of our own; ``lesk`` as the paper, which needs glosses; ``first`` the most frequent; the last two in the places of
    high caution. ``faithful`` does as the released script did, without any filter. A premise comes before its changed
    self, a hypothesis after it. The pairs need no gold.
    """
    if faithful and (wsd != "context" or caution != "medium"):
        raise AcidtestError("--faithful does as the released script did; it does not go with --wsd and --caution")
    if faithful or wsd == "lesk":
        from acidtest.english.senses import require_glosses

        require_glosses(f"suite {_NAME!r} with " + ("--faithful" if faithful else "wsd=lesk"))
    columns = _RELEASED if faithful else _COLUMNS
    pairs = source_pairs(request, columns=columns)
    dropped = [*LABEL_COLUMNS, *(column for column in PARSES if not faithful or "binary" not in column)]
    source = pairs.frame.drop(*dropped, strict=False)
    arguments: dict[str, Argument] = {"faithful": True}
    left_out = Counter[str]()
    if faithful:
        rows = transform_rows(source, ReleasedReversal().reverse_words)
    else:
        from acidtest.english.tagging import tagger as load_tagger

        caution = caution if wsd == "context" else "high"
        arguments = {"caution": caution, "wsd": wsd, "tagger": load_tagger(tagger).name}
        reversal = WordReversal(Draws(request.seed, _NAME), wsd, caution, tagger, left_out)
        rows = transform_rows(source, reversal.reverse_words)
    suite = derive_suite(
        _NAME,
        pairs,
        rows.lazy(),
        request=request,
        version=3,
        arguments=arguments,
        columns=columns,
        crossings=() if faithful else (("pos", "place"),),
        left_out=left_out,
    )
    return detach_unlabelled(suite)


@dataclass
class WordReversal:
    """Replaces words by their antonyms batch by batch; repeated sentences are skipped."""

    draws: Draws
    wsd: Wsd
    caution: Caution
    tagger: str
    left_out: Counter[str]
    _seen: SeenDigests = field(default_factory=SeenDigests)

    def reverse_words(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """A row for each replaced word, with the columns of the corpus, those of the suite, and ``variant``."""
        from acidtest.english.antonyms import replace_by_antonyms
        from acidtest.english.tokens import sentences

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
        opposites, left_out = replace_by_antonyms(
            rows["sentence"], wsd=self.wsd, caution=self.caution, tagger=self.tagger, draws=self.draws
        )
        self.left_out.update(left_out)
        changed = rows[opposites["text"]].hstack(opposites.drop("text")).sort("text", maintain_order=True)
        return _contradictions(pairs, changed, variant=("side", "number", "start", "antonym"))


@dataclass
class ReleasedReversal:
    """Replaces words as the released script did: whole texts, any place, every antonym; repeated pairs are skipped."""

    _seen: SeenDigests = field(default_factory=SeenDigests)

    def reverse_words(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """A row for each replaced word, with the columns of the corpus, those of the suite, and ``variant``."""
        from acidtest.suites.stress.released_antonyms import replace_as_released

        parts = []
        for side in ("premise", "hypothesis"):
            parse = f"{side}_binary_parse"
            rows = replace_as_released(pairs[side], pairs[parse] if parse in pairs.columns else None)
            parts.append(rows.with_columns(sentence=pairs[side].gather(rows["text"]), side=pl.lit(side)))
        changed = pl.concat(parts).sort("text", maintain_order=True)
        source = pairs.drop(PARSES, strict=False)
        rows = _contradictions(source, changed, variant=("side", "start", "word", "antonym"))
        return rows.filter(self._seen.new(digests(rows["premise"], rows["hypothesis"])))


def _contradictions(pairs: pl.DataFrame, changed: pl.DataFrame, *, variant: tuple[str, ...]) -> pl.DataFrame:
    """The pairs of each sentence and its changed self; ``text`` is the row of ``pairs`` that it comes from."""
    context = pairs.drop("premise", "hypothesis")[changed["text"]]
    is_premise = pl.col("side") == "premise"
    changed = changed.with_columns(
        pl.when(is_premise).then("sentence").otherwise("changed").alias("premise"),
        pl.when(is_premise).then("changed").otherwise("sentence").alias("hypothesis"),
        label=pl.lit("contradiction"),
        certainty=pl.lit("same-event"),
        variant=pl.concat_str(*variant, separator="-"),
    )
    return context.hstack(changed.drop("text", "sentence", "changed", "number", "start", strict=False))
