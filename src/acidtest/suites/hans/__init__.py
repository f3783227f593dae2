"""Suites ``hans`` and ``hans/novel``: templates for three syntactic heuristics (McCoy et al. 2019), filled from a seed.

Words are drawn subcase by subcase; sentences and parses are written block by block.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from acidtest.core.draws import Draws, Integers, apportion
from acidtest.core.errors import AcidtestError, list_some
from acidtest.core.logs import log
from acidtest.core.suite import COLUMNS, PARSES, Card, Kind, Suite, complete_columns, stream_frame
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.corpus import advise_fewer

if TYPE_CHECKING:
    from acidtest.english.templates import FilledTemplates
    from acidtest.pairs.hans import TemplatePlan, Templates

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
"""``category`` is the subcase and the trigger word, as in the paper's experiment with people."""

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
def hans(request: Request, *, words: str = "fresh", faithful: bool = False, three_way: bool = False) -> Suite:
    """HANS with ``n`` pairs per subcase. ``words`` is ``fresh``, ``published`` or a vocabulary file.

    ``three_way`` writes neutral instead of non-entailment where the premise leaves the hypothesis open (*if*, *or*,
    *perhaps*, *suggested*). Where only the order of words differs, the label stays. ``faithful`` keeps the published
    file's quirks: spaced punctuation, the doubled article of temp15, *town* twice as likely as other places, and pairs
    whose gold is doubtful because one verb may imply the other.
    """
    return _fill_templates("hans", "published", request, version=4, words=words, faithful=faithful, three_way=three_way)


@generator(
    "hans/novel",
    summary="The three heuristics in new constructions: datives, clefts, control, exceptives, partitives and others",
    rows=36 * _PER_SUBCASE,
    source="templates",
    citation=f"{CITATION} Templates of our own.",
    licence="Apache-2.0",
)
def novel(request: Request, *, words: str = "fresh", three_way: bool = False) -> Suite:
    """Templates of our own for HANS's heuristics, ``n`` pairs per subcase; ``words`` and ``three_way`` as in ``hans``.

    With ``three_way``, *everyone but*, *rather than* and comparatives contradict.
    """
    return _fill_templates("hans/novel", "novel", request, version=3, words=words, faithful=False, three_way=three_way)


def _fill_templates(
    name: str, templates: Templates, request: Request, *, version: int, words: str, faithful: bool, three_way: bool
) -> Suite:
    """A suite of ``n`` pairs per subcase of some templates, with the parses of both sentences.

    A large suite keeps only its words in memory and makes its sentences when they are read.
    """
    from acidtest.pairs.hans import compile_templates
    from acidtest.pairs.hans import vocabulary as load_vocabulary

    vocabulary = load_vocabulary(words, faithful=faithful)
    plan = compile_templates(templates, vocabulary, faithful=faithful)
    if three_way:
        plan = replace(plan, facts=_with_three_labels(plan.facts))
    rows = request.n if request.n is not None else _PER_SUBCASE
    # Without -n, a small vocabulary may give fewer rows.
    at_most = request.at_most or request.n is None
    filled = _draw_words(plan, rows, Draws(request.seed, name), name=name, at_most=at_most)
    sizes = np.bincount(plan.subcase[filled.variant], minlength=len(plan.subcases))
    small = [f"{plan.subcases[number]} {sizes[number]:,}" for number in np.flatnonzero(sizes < rows)]
    if small:
        log.warning("suite %r: fewer than %s pairs in %s", name, f"{rows:,}", list_some(small, 40))
    blocks = partial(_blocks, name, plan, filled)
    schema = dict.fromkeys((*COLUMNS, *PARSES, *_COLUMNS), pl.String)
    in_memory = len(filled.variant) <= _ROWS_IN_MEMORY
    frame = pl.concat(blocks(list(schema))).lazy() if in_memory else stream_frame(blocks, schema)
    card = Card(
        name,
        version=version,
        seed=request.seed,
        arguments={"words": vocabulary.name}
        | ({"faithful": True} if faithful else {})
        | ({"three_way": True} if three_way else {}),
        sources={vocabulary.name: vocabulary.source} if vocabulary.source else {},
        licence="Apache-2.0",
        citation=CITATION,
        columns=_COLUMNS,
        strata=("subcase", "template"),
        crossings=(("heuristic", "label"),),
    )
    return Suite(frame, card)


def _with_three_labels(facts: pl.DataFrame) -> pl.DataFrame:
    """The facts with neutral or contradiction for non-entailment where ``data/hans/three_way.tsv`` knows which."""
    from acidtest.io.wordlists import packaged_table

    known = packaged_table("hans/three_way.tsv").select("subcase", three_way="label")
    joined = facts.join(known, on="subcase", how="left", maintain_order="left")
    return joined.with_columns(pl.coalesce("three_way", "label").alias("label")).drop("three_way")


def _blocks(name: str, plan: TemplatePlan, filled: FilledTemplates, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
    """The pairs in order, block by block, with the requested columns; parses are made only where requested."""
    grammar = plan.grammar
    for start in range(0, max(len(filled.variant), 1), _BLOCK_ROWS):
        block = filled[start : start + _BLOCK_ROWS]
        facts = plan.facts.select("label", "heuristic", "subcase", "template")[grammar.template[block.variant]]
        frame = facts.with_columns(
            grammar.rendered(block, "premise", "text").alias("premise"),
            grammar.rendered(block, "hypothesis", "text").alias("hypothesis"),
            grammar.words_at(block, grammar.trigger[block.variant]).alias("trigger"),
            certainty=pl.lit("logical"),
        ).with_columns(category=pl.concat_str("subcase", pl.lit(": "), "trigger"))
        parses = [
            grammar.rendered(block, side, form).alias(f"{side}_{form}")
            for side in ("premise", "hypothesis")
            for form in ("parse", "binary_parse")
            if f"{side}_{form}" in columns
        ]
        yield complete_columns(frame.with_columns(parses), name).select(columns)


def _draw_words(plan: TemplatePlan, rows: int, draws: Draws, *, name: str, at_most: bool) -> FilledTemplates:
    """The words of ``rows`` pairs for every subcase; its variants have their shares and are evenly interleaved."""
    from acidtest.english.templates import FilledTemplates

    step = max(_DRAWN_ROWS // max(rows, 1), 1)
    numbers = range(len(plan.subcases))
    parts = [numbers[first : first + step] for first in numbers[::step]]
    return FilledTemplates.joined([_draw_subcases(plan, part, rows, draws, name, at_most=at_most) for part in parts])


def _draw_subcases(
    plan: TemplatePlan, subcases: range, rows: int, draws: Draws, name: str, *, at_most: bool
) -> FilledTemplates:
    from acidtest.english.templates import rank_within_variant

    most = plan.grammar.fillings.copy()
    while True:
        wanted = np.zeros(len(most), dtype=np.int64)
        for variants in map(plan.variants, subcases):
            wanted[variants] = apportion(rows, plan.grammar.share[variants], most=most[variants])
        filled = plan.grammar.filled(wanted, draws)
        counts = np.bincount(filled.variant, minlength=len(wanted))
        if (counts == wanted).all():
            break
        # Some variants ran out of fillings: the other variants of their subcase take their share.
        most = np.where(counts < wanted, counts, most)
    if not at_most:
        _require_rows(plan, subcases, rows, counts, draws, name)
    rank = rank_within_variant(filled.variant)
    order = np.lexsort((filled.variant, (rank + 0.5) / counts[filled.variant], plan.subcase[filled.variant]))
    return filled[order].compact


def _require_rows(plan: TemplatePlan, subcases: range, rows: int, counts: Integers, draws: Draws, name: str) -> None:
    """Raise when a subcase has fewer rows than were requested, naming the smallest subcase of all."""
    available = {subcase: int(counts[plan.variants(subcase)].sum()) for subcase in subcases}
    if all(count == rows for count in available.values()):
        return
    # Subcases with very many fillings cannot be the smallest one: count only the others.
    fillings = np.bincount(plan.subcase, weights=plan.grammar.fillings, minlength=len(plan.subcases))
    small = np.flatnonzero(fillings <= _COUNTABLE_FILLINGS)
    wanted = np.where(np.isin(plan.subcase, small), plan.grammar.fillings, 0)
    filled = plan.subcase[plan.grammar.filled(wanted, draws).variant]
    counts = np.bincount(filled, minlength=len(plan.subcases))
    available |= {int(subcase): int(counts[subcase]) for subcase in small}
    smallest, fewest = min(available.items(), key=lambda item: item[1])
    raise AcidtestError(
        f"suite {name!r}: {rows:,} pairs per subcase were asked for, but {plan.subcases[smallest]!r} has only "
        f"{fewest:,}; {advise_fewer(fewest)}"
    )
