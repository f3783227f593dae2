"""Suite ``grounding/answers``: whole answers of several sentences, asked at once and sentence by sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import Draws
from acidtest.core.suite import COLUMNS, PARSES, Card, Kind, Suite, complete_columns
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.corpus import CORPUS_LICENCE, LABEL_COLUMNS, transform_rows, travelling_columns, uses_all
from acidtest.suites.grounding import CITATION, document_sentences, grounding_pairs

_NAME = "grounding/answers"
_COLUMNS: dict[str, Kind] = {
    "level": "factor",
    "kind": "factor",
    "response": "text",
    "sentence": "covariate",
    "sentences": "covariate",
    "unsupported": "covariate",
}
_SIZES = (3, 4, 5)
_CLEAN, _FLAWED = "all supported", "one unsupported"
_NOTE = (
    "The score of a response can be compared with the lowest score of its sentences, and the sentence with the lowest "
    "score with the one that is not supported (unsupported, 0 where there is none)."
)


@generator(
    _NAME,
    summary="Answers of three to five sentences, one of them unsupported or none: asked whole and sentence by sentence",
    rows=2_086,
    source="pairs",
    citation=CITATION,
    licence="Apache-2.0",
    needs_gold=False,
)
def answers(request: Request) -> Suite:
    """Responses made of the claims of a document: all supported, and the same with one made unsupported.

    A response stands once whole (``level`` is response) and once for each of its sentences (sentence), which are
    numbered from 1; ``response`` says which rows belong together, and ``unsupported`` is the number of the sentence
    that is not supported, or 0. Of a file, the claims of several sentences are taken with their gold; their sentences
    have none (any), because a label of the whole does not say which sentence it is about, and ``unsupported`` is empty.
    The rows of a document are a group. Of the starter corpus, ``n`` is the number of unsupported claims that are used.
    """
    is_starter = request.source is None
    pairs = grounding_pairs(replace(request, n=None) if is_starter else request, columns=_COLUMNS)
    splitter = _Splitter(Counter(pairs.card.left_out))
    if is_starter:
        kept: dict[str, Kind] = {"register": "factor", "facts": "factor", "document": "text"}
        rows = _starter_rows(pairs.frame.collect(), request).lazy()
    else:
        kept = travelling_columns(pairs.card.columns, request.keep)
        rows = transform_rows(pairs.frame.drop(*PARSES, strict=False), splitter.split).lazy()
    card = Card(
        _NAME,
        seed=request.seed if is_starter or request.n is not None else None,
        arguments={"from": pairs.name},
        sources=pairs.card.sources,
        licence=pairs.card.licence or CORPUS_LICENCE,
        citation=pairs.card.citation,
        note=_NOTE,
        columns={**kept, **_COLUMNS},
        strata=tuple(column for column in pairs.card.strata if column in kept),
        crossings=(("level", "kind"),),
        sample_by="response",
        left_out=splitter.left_out,
    )
    return Suite(rows.select(*COLUMNS, *kept, *_COLUMNS), card)


@dataclass(frozen=True)
class Response:
    """An answer made of claims of one document."""

    name: str
    sentences: tuple[str, ...]
    unsupported: int
    """The number of the unsupported sentence, from 1; 0 where there is none."""

    def rows(self) -> Iterator[dict[str, Any]]:
        """A row for the whole and one for each sentence."""
        kind = _FLAWED if self.unsupported else _CLEAN
        shared = {"kind": kind, "response": self.name, "unsupported": float(self.unsupported)}
        shared["sentences"] = float(len(self.sentences))
        gold = "non-entailment" if self.unsupported else "entailment"
        text = " ".join(self.sentences)
        yield {**shared, "level": "response", "hypothesis": text, "label": gold, "sentence": None}
        for number, sentence in enumerate(self.sentences, 1):
            label = "non-entailment" if number == self.unsupported else "entailment"
            yield {**shared, "level": "sentence", "hypothesis": sentence, "label": label, "sentence": float(number)}


def _starter_rows(claims: pl.DataFrame, request: Request) -> pl.DataFrame:
    """The rows of the responses that are made of claims of the starter corpus."""
    draws = Draws(request.seed, _NAME)
    flawed = claims.drop_nulls("original")["id"]
    if not uses_all(request, len(flawed), "answers", f"there are only {len(flawed)}"):
        flawed = flawed.gather(np.argsort(draws.bits(digests(flawed), "answers"), kind="stable")[: request.n])
    rows = list[dict[str, Any]]()
    for part in claims.partition_by("document", maintain_order=True):
        shared = part.select("premise", "group", "register", "facts", "document").row(0, named=True)
        responses = _document_responses(part, set(flawed), draws)
        rows += [shared | row for response in responses for row in response.rows()]
    columns = ("premise", "hypothesis", "label", "group", "register", "facts", "document", *_COLUMNS)
    numbers = [name for name, kind in _COLUMNS.items() if kind == "covariate"]
    schema = {name: pl.Float64() if name in numbers else pl.String() for name in columns}
    frame = pl.DataFrame(rows, schema=schema).with_columns(
        certainty=pl.lit("human"),
        id=pl.concat_str("response", pl.col("sentence").cast(pl.Int64).fill_null(0).cast(pl.String), separator="-"),
    )
    return complete_columns(frame, _NAME)


def _document_responses(claims: pl.DataFrame, flawed: set[str], draws: Draws) -> Iterator[Response]:
    """For every unsupported claim whose id is among ``flawed``, the response with it and that with its original."""
    supported = claims.filter(label="entailment").sort(_first_evidence(claims.filter(label="entailment")))
    texts = supported["hypothesis"].to_list()
    for row in claims.filter(pl.col("id").is_in(flawed)).iter_rows(named=True):
        others = [text for text in texts if text != row["original"]]
        key = digests(pl.Series([row["id"]]))
        sizes = [size for size in _SIZES if size <= len(others) + 1]
        size = sizes[int(draws.choices(key, len(sizes), "size")[0])]
        order = np.argsort(draws.bits(np.arange(len(others), dtype=np.uint64) ^ key, "claims"))
        chosen = [others[number] for number in sorted(order[: size - 1].tolist())]
        place = int(draws.choices(key, size, "place")[0])
        for unsupported in (False, True):
            sentence = row["hypothesis"] if unsupported else row["original"]
            name = f"{row['id']}-{'one' if unsupported else 'none'}"
            yield Response(name, (*chosen[:place], sentence, *chosen[place:]), place + 1 if unsupported else 0)


def _first_evidence(claims: pl.DataFrame) -> pl.Series:
    """The place of the first evidence sentence of each claim, by which the sentences of a response are ordered."""
    numbers = dict(document_sentences().select(pl.concat_str("document", "sentence"), "number").iter_rows())
    evidence = claims["evidence"].fill_null("").str.split("\n").list.first()
    keys = zip(claims["document"], evidence, strict=True)
    return pl.Series([numbers.get(f"{document}{sentence}", 0) for document, sentence in keys])


@dataclass
class _Splitter:
    """Splits the responses of a file into sentences."""

    left_out: Counter[str] = field(default_factory=Counter)

    def split(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """A row for every response of several sentences, and one for each of them."""
        from acidtest.corpora.questions import question_prefixes
        from acidtest.english.tokens import sentences

        parts = sentences(pairs["hypothesis"]).filter(_is_checked(pl.col("sentence"))).select("text", "sentence")
        counts = parts.group_by("text").agg(sentences=pl.len().cast(pl.Float64))
        numbered = pairs.with_row_index("text").join(counts, on="text", how="left", maintain_order="left")
        # A short answer and its question are one claim.
        several = numbered.filter((pl.col("sentences").fill_null(0) > 1) & (question_prefixes(pairs) == ""))
        if short := pairs.height - several.height:
            self.left_out["of one sentence"] += short
        parts = parts.with_columns(number=pl.int_range(1, pl.len() + 1).over("text").cast(pl.Float64))
        asked = several.drop("hypothesis", *LABEL_COLUMNS, strict=False)
        asked = asked.join(parts, on="text", how="inner", maintain_order="left_right").select(
            pl.exclude("sentence", "number"),
            hypothesis="sentence",
            label=pl.lit("any"),
            certainty=pl.lit(None, dtype=pl.String),
            sentence="number",
            level=pl.lit("sentence"),
        )
        whole = several.with_columns(level=pl.lit("response"), sentence=pl.lit(None, dtype=pl.Float64))
        columns = [name for name in asked.columns if name in whole.columns]
        rows = pl.concat([whole.select(columns), asked.select(columns)]).sort("text", maintain_order=True)
        kind = pl.when(level="sentence").then(pl.lit(None)).otherwise("label")
        return rows.drop("text").with_columns(
            response="id",
            id=pl.concat_str("id", pl.col("sentence").cast(pl.Int64).fill_null(0).cast(pl.String), separator="-"),
            kind=_kinds(kind.forward_fill()),
            unsupported=pl.when(kind.forward_fill() == "entailment").then(0.0),
        )


def _kinds(label: pl.Expr) -> pl.Expr:
    """Whether a response is supported, in words; empty without gold."""
    known = {"entailment": _CLEAN, **dict.fromkeys(("neutral", "contradiction", "non-entailment"), "not all supported")}
    return label.replace_strict(known, default=None, return_dtype=pl.String)


def _is_checked(sentence: pl.Expr) -> pl.Expr:
    """Whether a sentence of a response claims something, unlike greetings, refusals and offers of help."""
    from acidtest.suites.grounding.nonclaims import nonclaim_kind

    def claims(sentences: pl.Series) -> pl.Series:
        return pl.Series([nonclaim_kind(sentence) is None for sentence in sentences], dtype=pl.Boolean)

    return sentence.str.contains(r"\w.*\w") & sentence.map_batches(claims, return_dtype=pl.Boolean)
