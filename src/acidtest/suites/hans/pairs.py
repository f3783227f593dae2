"""Pairs of HANS templates: words drawn subcase by subcase, sentences and parses written block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from acidtest.core.apportionment import Whole, apportioned
from acidtest.core.draws import Draws
from acidtest.core.errors import AcidtestError, some
from acidtest.core.logs import log
from acidtest.core.suite import COLUMNS, PARSES, Card, Kind, Suite, completed, streamed
from acidtest.suites.catalogue import Request
from acidtest.text.hans_templates import Plan, Templates, plan
from acidtest.text.templates import Filled, turn
from acidtest.text.vocabulary import vocabulary

PER_SUBCASE = 1000
CITATION = (
    "McCoy, Pavlick and Linzen (2019). Right for the Wrong Reasons: Diagnosing Syntactic Heuristics in "
    "Natural Language Inference. ACL."
)
COLUMN_KINDS: dict[str, Kind] = {
    "heuristic": "factor",
    "subcase": "factor",
    "template": "factor",
    "trigger": "text",
    "category": "factor",
}
"""A category is a subcase with the word it turns on, as in the paper's experiment with people."""


_BLOCK = 1 << 14
_TOGETHER = 1 << 16
_IN_MEMORY = 1 << 18
_COUNTABLE = 1 << 20


def suite(name: str, templates: Templates, request: Request, *, version: int, words: str, faithful: bool) -> Suite:
    """A suite of ``n`` pairs per subcase of some templates, with the parses of both sentences.

    A large one keeps only its words in memory and writes its sentences when they are read.
    """
    chosen = vocabulary(words, faithful=faithful)
    compiled = plan(templates, chosen, faithful=faithful)
    rows = request.n if request.n is not None else PER_SUBCASE
    # Who named no number is content with what a small vocabulary gives.
    at_most = request.at_most or request.n is None
    filled = drawn(compiled, rows, Draws(request.seed, name), name=name, at_most=at_most)
    _tell_of_small_subcases(compiled, filled, rows, name)
    pairs = _Pairs(name, compiled, filled)
    schema = dict.fromkeys((*COLUMNS, *PARSES, *COLUMN_KINDS), pl.String)
    in_memory = len(filled.variant) <= _IN_MEMORY
    frame = pl.concat(pairs.blocks(list(schema))).lazy() if in_memory else streamed(pairs.blocks, schema)
    card = Card(
        name,
        version=version,
        seed=request.seed,
        arguments={"words": chosen.name} | ({"faithful": True} if faithful else {}),
        sources={chosen.name: chosen.source} if chosen.source else {},
        licence="Apache-2.0",
        citation=CITATION,
        columns=COLUMN_KINDS,
        strata=("subcase", "template"),
        crossings=(("heuristic", "label"),),
    )
    return Suite(frame, card)


def _tell_of_small_subcases(compiled: Plan, filled: Filled, rows: int, name: str) -> None:
    sizes = np.bincount(compiled.subcase[filled.variant], minlength=len(compiled.subcases))
    small = [f"{compiled.subcases[number]} {sizes[number]:,}" for number in np.flatnonzero(sizes < rows)]
    if small:
        log.warning("suite %r: fewer than %s pairs in %s", name, f"{rows:,}", some(small, 40))


@dataclass(frozen=True)
class _Pairs:
    """Drawn words, which become sentences block by block."""

    name: str
    plan: Plan
    filled: Filled

    def blocks(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The pairs in order, with the columns asked for; parses are written only when they are."""
        for start in range(0, max(len(self.filled.variant), 1), _BLOCK):
            yield self._block(slice(start, start + _BLOCK), columns).select(columns)

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
        return completed(frame.with_columns(parses), self.name)


def drawn(compiled: Plan, rows: int, draws: Draws, *, name: str, at_most: bool) -> Filled:
    """The words of ``rows`` pairs of every subcase, variants in their proportions and evenly mixed."""
    together = max(_TOGETHER // max(rows, 1), 1)
    parts = []
    for first in range(0, len(compiled.subcases), together):
        numbers = range(first, min(first + together, len(compiled.subcases)))
        parts.append(_drawn(compiled, numbers, rows, draws, name=name, at_most=at_most))
    return Filled.joined(parts)


def _drawn(compiled: Plan, numbers: range, rows: int, draws: Draws, *, name: str, at_most: bool) -> Filled:
    grammar = compiled.grammar
    most = grammar.fillings.copy()
    while True:
        wanted = _wanted(compiled, numbers, rows, most)
        filled = grammar.filled(wanted, draws)
        got = np.bincount(filled.variant, minlength=len(wanted))
        if (got == wanted).all():
            break
        # Some variants ran out: the rest of their subcase takes their share.
        most = np.where(got < wanted, got, most)
    if not at_most:
        _refuse_more_than_there_are(compiled, numbers, rows, got, draws, name=name)
    rank = turn(filled.variant)
    order = np.lexsort((filled.variant, (rank + 0.5) / got[filled.variant], compiled.subcase[filled.variant]))
    return filled[order].compact


def _wanted(compiled: Plan, numbers: range, rows: int, most: Whole) -> Whole:
    wanted = np.zeros(len(most), dtype=np.int64)
    for number in numbers:
        variants = compiled.variants(number)
        wanted[variants] = apportioned(rows, compiled.grammar.share[variants], most=most[variants])
    return wanted


def _refuse_more_than_there_are(
    compiled: Plan, numbers: range, rows: int, got: Whole, draws: Draws, *, name: str
) -> None:
    there_are = {number: int(got[compiled.variants(number)].sum()) for number in numbers}
    if all(count == rows for count in there_are.values()):
        return
    # Subcases with very many fillings cannot be the smallest one: count only the others.
    fillings = compiled.grammar.fillings
    sizes = {number: fillings[compiled.variants(number)].sum() for number in range(len(compiled.subcases))}
    wanted = np.zeros_like(got)
    for number in (number for number, size in sizes.items() if size <= _COUNTABLE):
        wanted[compiled.variants(number)] = fillings[compiled.variants(number)]
    found = np.bincount(compiled.grammar.filled(wanted, draws).variant, minlength=len(got))
    there_are |= {n: int(found[compiled.variants(n)].sum()) for n, size in sizes.items() if size <= _COUNTABLE}
    number, fewest = min(there_are.items(), key=lambda item: item[1])
    raise AcidtestError(
        f"suite {name!r}: {rows:,} pairs per subcase were asked for, but {compiled.subcases[number]!r} has only "
        f"{fewest:,}; ask for at most that many (-n {fewest}), or add --at-most to take all there are"
    )
