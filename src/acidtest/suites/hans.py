"""Suites ``hans`` and ``hans/novel``: templates for three syntactic heuristics (McCoy et al. 2019), filled from a seed.

Words are drawn subcase by subcase; sentences and parses are written block by block.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from acidtest.core.draws import Draws, Integers, apportion
from acidtest.core.errors import AcidtestError, list_some
from acidtest.core.logs import log
from acidtest.core.streams import stream_frame
from acidtest.core.suite import COLUMNS, PARSES, Card, Kind, Suite, complete_columns
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.corpus import advise_fewer

if TYPE_CHECKING:
    from acidtest.text.hans_templates import TemplatePlan, Templates
    from acidtest.text.templates import FilledTemplates

CITATION = (
    "McCoy, Pavlick and Linzen (2019). Right for the Wrong Reasons: Diagnosing Syntactic Heuristics in "
    "Natural Language Inference. ACL."
)
_PER_SUBCASE = 1000
_COLUMNS: dict[str, Kind] = {
    "heuristic": "factor",
    "subcase": "factor",
    "template": "factor",
    "trigger": "text",
    "category": "factor",
}
"""A category is a subcase with the word it turns on, as in the paper's experiment with people."""

_BLOCK_ROWS = 1 << 14
_DRAWN_ROWS = 1 << 16
"""Rows drawn at once: subcases are drawn together up to this number."""
_ROWS_IN_MEMORY = 1 << 18
_COUNTABLE_FILLINGS = 1 << 20


@generator(
    "hans",
    summary="Thirty syntactic subcases in which sharing words, a subsequence or a clause does or does not entail",
    rows=30 * _PER_SUBCASE,
    source="templates",
    citation=CITATION,
    licence="Apache-2.0",
)
def hans(request: Request, *, words: str = "fresh", faithful: bool = False) -> Suite:
    """HANS with ``n`` pairs per subcase. ``words`` is ``fresh``, ``published`` or a vocabulary file.

    ``faithful`` keeps the published file's quirks: spaced punctuation, the doubled article of temp15, *town* twice as
    likely as other places, and pairs whose gold is doubtful because one verb may imply the other.
    """
    return _fill_templates("hans", "published", request, version=2, words=words, faithful=faithful)


@generator(
    "hans/novel",
    summary="The three heuristics in new constructions: datives, clefts, control, exceptives, partitives and others",
    rows=36 * _PER_SUBCASE,
    source="templates",
    citation=f"{CITATION} Templates of our own.",
    licence="Apache-2.0",
)
def novel(request: Request, *, words: str = "fresh") -> Suite:
    """Templates of our own for HANS's heuristics, ``n`` pairs per subcase; ``words`` as in ``hans``."""
    return _fill_templates("hans/novel", "novel", request, version=1, words=words, faithful=False)


def _fill_templates(
    name: str, templates: Templates, request: Request, *, version: int, words: str, faithful: bool
) -> Suite:
    """A suite of ``n`` pairs per subcase of some templates, with the parses of both sentences.

    A large suite keeps only its words in memory and writes its sentences when they are read.
    """
    from acidtest.text.hans_templates import compile_templates as compile_templates
    from acidtest.text.vocabulary import vocabulary as load_vocabulary

    vocabulary = load_vocabulary(words, faithful=faithful)
    plan = compile_templates(templates, vocabulary, faithful=faithful)
    rows = request.n if request.n is not None else _PER_SUBCASE
    # Without -n, a small vocabulary may give fewer rows.
    at_most = request.at_most or request.n is None
    filled = _draw_words(plan, rows, Draws(request.seed, name), name=name, at_most=at_most)
    _warn_of_small_subcases(plan, filled, rows, name)
    pairs = TemplatePairs(name, plan, filled)
    schema = dict.fromkeys((*COLUMNS, *PARSES, *_COLUMNS), pl.String)
    in_memory = len(filled.variant) <= _ROWS_IN_MEMORY
    frame = pl.concat(pairs.blocks(list(schema))).lazy() if in_memory else stream_frame(pairs.blocks, schema)
    card = Card(
        name,
        version=version,
        seed=request.seed,
        arguments={"words": vocabulary.name} | ({"faithful": True} if faithful else {}),
        sources={vocabulary.name: vocabulary.source} if vocabulary.source else {},
        licence="Apache-2.0",
        citation=CITATION,
        columns=_COLUMNS,
        strata=("subcase", "template"),
        crossings=(("heuristic", "label"),),
    )
    return Suite(frame, card)


def _warn_of_small_subcases(plan: TemplatePlan, filled: FilledTemplates, rows: int, name: str) -> None:
    sizes = np.bincount(plan.subcase[filled.variant], minlength=len(plan.subcases))
    small = [f"{plan.subcases[number]} {sizes[number]:,}" for number in np.flatnonzero(sizes < rows)]
    if small:
        log.warning("suite %r: fewer than %s pairs in %s", name, f"{rows:,}", list_some(small, 40))


@dataclass(frozen=True)
class TemplatePairs:
    """Drawn words, from which sentences are written block by block."""

    name: str
    plan: TemplatePlan
    filled: FilledTemplates

    def blocks(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The pairs in order, with the requested columns; parses are only written on request."""
        for start in range(0, max(len(self.filled.variant), 1), _BLOCK_ROWS):
            yield self._block(slice(start, start + _BLOCK_ROWS), columns).select(columns)

    def _block(self, rows: slice, columns: Sequence[str]) -> pl.DataFrame:
        grammar, filled = self.plan.grammar, self.filled[rows]
        facts = self.plan.facts.select("label", "heuristic", "subcase", "template")[grammar.template[filled.variant]]
        numbers = pl.int_range(rows.start, rows.start + facts.height, eager=True).cast(pl.String)
        frame = facts.with_columns(
            grammar.rendered(filled, "premise", "text").alias("premise"),
            grammar.rendered(filled, "hypothesis", "text").alias("hypothesis"),
            grammar.words_at(filled, grammar.trigger[filled.variant]).alias("trigger"),
            source_id="ex" + numbers,
            certainty=pl.lit("logical"),
        ).with_columns(category=pl.concat_str("subcase", pl.lit(": "), "trigger"))
        parses = [
            grammar.rendered(filled, side, form).alias(f"{side}_{form}")
            for side in ("premise", "hypothesis")
            for form in ("parse", "binary_parse")
            if f"{side}_{form}" in columns
        ]
        return complete_columns(frame.with_columns(parses), self.name)


def _draw_words(plan: TemplatePlan, rows: int, draws: Draws, *, name: str, at_most: bool) -> FilledTemplates:
    """The words of ``rows`` pairs of every subcase, variants in their proportions and evenly mixed."""
    from acidtest.text.templates import FilledTemplates

    step = max(_DRAWN_ROWS // max(rows, 1), 1)
    parts = []
    for first in range(0, len(plan.subcases), step):
        subcases = range(first, min(first + step, len(plan.subcases)))
        parts.append(_draw_subcases(plan, subcases, rows, draws, name=name, at_most=at_most))
    return FilledTemplates.joined(parts)


def _draw_subcases(
    plan: TemplatePlan, subcases: range, rows: int, draws: Draws, *, name: str, at_most: bool
) -> FilledTemplates:
    from acidtest.text.templates import rank_within_variant

    most = plan.grammar.fillings.copy()
    while True:
        wanted = _rows_per_variant(plan, subcases, rows, most)
        filled = plan.grammar.filled(wanted, draws)
        counts = np.bincount(filled.variant, minlength=len(wanted))
        if (counts == wanted).all():
            break
        # Some variants ran out: the rest of their subcase takes their share.
        most = np.where(counts < wanted, counts, most)
    if not at_most:
        _require_rows(plan, subcases, rows, counts, draws, name=name)
    rank = rank_within_variant(filled.variant)
    order = np.lexsort((filled.variant, (rank + 0.5) / counts[filled.variant], plan.subcase[filled.variant]))
    return filled[order].compact


def _rows_per_variant(plan: TemplatePlan, subcases: range, rows: int, most: Integers) -> Integers:
    wanted = np.zeros(len(most), dtype=np.int64)
    for subcase in subcases:
        variants = plan.variants(subcase)
        wanted[variants] = apportion(rows, plan.grammar.share[variants], most=most[variants])
    return wanted


def _require_rows(plan: TemplatePlan, subcases: range, rows: int, counts: Integers, draws: Draws, *, name: str) -> None:
    """Raise when a subcase has fewer rows than were requested, naming the smallest subcase of all."""
    available = {subcase: int(counts[plan.variants(subcase)].sum()) for subcase in subcases}
    if all(count == rows for count in available.values()):
        return
    # Subcases with very many fillings cannot be the smallest one: count only the others.
    fillings = plan.grammar.fillings
    small = [
        subcase
        for subcase in range(len(plan.subcases))
        if fillings[plan.variants(subcase)].sum() <= _COUNTABLE_FILLINGS
    ]
    wanted = np.zeros_like(counts)
    for subcase in small:
        wanted[plan.variants(subcase)] = fillings[plan.variants(subcase)]
    counts = np.bincount(plan.grammar.filled(wanted, draws).variant, minlength=len(counts))
    available |= {subcase: int(counts[plan.variants(subcase)].sum()) for subcase in small}
    smallest, fewest = min(available.items(), key=lambda item: item[1])
    raise AcidtestError(
        f"suite {name!r}: {rows:,} pairs per subcase were asked for, but {plan.subcases[smallest]!r} has only "
        f"{fewest:,}; {advise_fewer(fewest)}"
    )
