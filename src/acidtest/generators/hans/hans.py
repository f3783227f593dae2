"""Suite ``hans``: the thirty subcases of HANS, filled anew from a seed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
import polars as pl

from acidtest.core.apportionment import Whole, apportioned
from acidtest.core.draws import Draws
from acidtest.core.errors import AcidtestError
from acidtest.core.suite import Card, Suite, completed
from acidtest.sources.templates import Grammar, Index, Lexicon, Phrase, Template, sentences, turn
from acidtest.sources.wordlists import packaged_table
from acidtest.suites.catalogue import Request, generator

VERSION = 1
PER_SUBCASE = 1000
_BLOCK = 1 << 16
_COUNTABLE = 1 << 20
CITATION = (
    "McCoy, Pavlick and Linzen (2019). Right for the Wrong Reasons: Diagnosing Syntactic Heuristics in "
    "Natural Language Inference. ACL."
)
Words = Literal["published"]


@dataclass(frozen=True)
class Plan:
    """The templates of the suite with the grammar that fills them; ``facts`` has one row per template."""

    facts: pl.DataFrame
    grammar: Grammar
    subcases: tuple[str, ...]
    subcase: Index

    def variants(self, number: int) -> Index:
        """The variants of one subcase."""
        return np.flatnonzero(self.subcase == number)


@generator(
    "hans",
    summary="Thirty syntactic subcases in which sharing words, a subsequence or a clause does or does not entail",
    rows=30 * PER_SUBCASE,
    source="templates",
    citation=CITATION,
    licence="Apache-2.0",
)
def hans(request: Request, *, words: Words = "published", faithful: bool = False) -> Suite:
    """HANS with ``n`` pairs per subcase. ``faithful`` keeps the published file's quirks:

    spaced punctuation, the doubled article of temp15, *town* twice as likely as other places, and pairs
    whose gold is doubtful because one verb may imply the other.
    """
    plan = compiled(words, faithful)
    rows = request.n if request.n is not None else PER_SUBCASE
    draws = Draws(request.seed, "hans")
    frame = pl.concat(_subcase_rows(plan, rows, draws, at_most=request.at_most, faithful=faithful))
    frame = completed(frame.with_columns(certainty=pl.lit("logical")), "hans")
    card = Card(
        "hans",
        version=VERSION,
        seed=request.seed,
        arguments={"words": words} | ({"faithful": True} if faithful else {}),
        licence="Apache-2.0",
        citation=CITATION,
        columns=dict.fromkeys(("heuristic", "subcase", "template", "trigger"), "factor"),
        strata=("subcase", "template"),
        crossings=(("heuristic", "label"),),
    )
    return Suite(frame.lazy(), card)


@cache
def compiled(words: Words, faithful: bool) -> Plan:
    """The templates compiled against a vocabulary."""
    facts = packaged_table("hans/templates.tsv")
    hypothesis = "faithful_hypothesis" if faithful else "hypothesis"
    templates = [
        Template(
            premise=row["premise"],
            hypothesis=row[hypothesis] or row["hypothesis"],
            weight=float(row["weight"]),
            trigger=row["trigger"],
            unless_implied=(*row["unless_implied"].split(), "", "")[:2],
        )
        for row in facts.iter_rows(named=True)
    ]
    grammar = Grammar(templates, _phrases(), _lexicon(words, faithful))
    subcases = tuple(facts["subcase"].unique(maintain_order=True))
    subcase = np.array([subcases.index(name) for name in facts["subcase"]])[grammar.template]
    return Plan(facts, grammar, subcases, subcase)


def _phrases() -> dict[str, list[Phrase]]:
    phrases: dict[str, list[Phrase]] = {}
    for name, weight, expansion in packaged_table("hans/phrases.tsv").iter_rows():
        phrases.setdefault(name, []).append(Phrase(expansion, float(weight)))
    return phrases


def _lexicon(words: Words, faithful: bool) -> Lexicon:
    table = packaged_table(f"hans/words_{words}.tsv").filter((pl.col("only") == "") | faithful)
    lists = dict(table.group_by("list", maintain_order=True).agg("word").iter_rows())
    slots = packaged_table("hans/slots.tsv").iter_rows()
    implications = () if faithful else packaged_table("hans/implications.tsv").iter_rows()
    return Lexicon(
        words={slot: [word for name in names.split() for word in lists[name]] for slot, names in slots},
        lemmas=dict(table.filter(pl.col("lemma") != "").select("word", "lemma").iter_rows()),
        implications=frozenset(implications),
    )


def _subcase_rows(plan: Plan, rows: int, draws: Draws, *, at_most: bool, faithful: bool) -> Iterable[pl.DataFrame]:
    """The pairs, some subcases at a time so that memory does not grow with ``rows``."""
    together = max(_BLOCK // max(rows, 1), 1)
    start = 0
    for first in range(0, len(plan.subcases), together):
        numbers = range(first, min(first + together, len(plan.subcases)))
        frame = _pairs(plan, numbers, rows, draws, at_most=at_most, faithful=faithful)
        identifiers = pl.int_range(start, start + frame.height, eager=True).cast(pl.String)
        yield frame.with_columns(source_id="ex" + identifiers)
        start += frame.height


def _pairs(plan: Plan, numbers: range, rows: int, draws: Draws, *, at_most: bool, faithful: bool) -> pl.DataFrame:
    grammar = plan.grammar
    most = grammar.fillings.copy()
    while True:
        wanted = _wanted(plan, numbers, rows, most)
        filled = grammar.filled(wanted, draws)
        got = np.bincount(filled.variant, minlength=len(wanted))
        if (got == wanted).all():
            break
        # Some variants ran out: the rest of their subcase takes their share.
        most = np.where(got < wanted, got, most)
    if not at_most:
        _refuse_more_than_there_are(plan, numbers, rows, got, draws)
    rank = turn(filled.variant)
    order = np.lexsort((filled.variant, (rank + 0.5) / got[filled.variant], plan.subcase[filled.variant]))
    variant, premise = filled.variant[order], filled.premise[order]
    trigger = grammar.trigger[variant]
    word = np.where(trigger >= 0, premise[np.arange(len(premise)), trigger], 0)
    facts = plan.facts.select("label", "heuristic", "subcase", "template")[grammar.template[variant]]
    return facts.with_columns(
        premise=sentences(grammar.tokens, premise, spaced=faithful),
        hypothesis=sentences(grammar.tokens, filled.hypothesis[order], spaced=faithful),
        trigger=pl.Series([None, *grammar.tokens[1:]], dtype=pl.String).gather(word),
    )


def _wanted(plan: Plan, numbers: range, rows: int, most: Whole) -> Whole:
    wanted = np.zeros(len(most), dtype=np.int64)
    for number in numbers:
        variants = plan.variants(number)
        wanted[variants] = apportioned(rows, plan.grammar.share[variants], most=most[variants])
    return wanted


def _refuse_more_than_there_are(plan: Plan, numbers: range, rows: int, got: Whole, draws: Draws) -> None:
    there_are = {number: int(got[plan.variants(number)].sum()) for number in numbers}
    if all(count == rows for count in there_are.values()):
        return
    # Subcases with very many fillings cannot be the smallest one: count only the others.
    sizes = {number: plan.grammar.fillings[plan.variants(number)].sum() for number in range(len(plan.subcases))}
    wanted = np.zeros_like(got)
    for number in (number for number, size in sizes.items() if size <= _COUNTABLE):
        wanted[plan.variants(number)] = plan.grammar.fillings[plan.variants(number)]
    found = np.bincount(plan.grammar.filled(wanted, draws).variant, minlength=len(got))
    there_are |= {n: int(found[plan.variants(n)].sum()) for n, size in sizes.items() if size <= _COUNTABLE}
    number, fewest = min(there_are.items(), key=lambda item: item[1])
    raise AcidtestError(
        f"suite 'hans': {rows:,} pairs per subcase were asked for, but {plan.subcases[number]!r} has only {fewest:,}; "
        f"ask for at most that many (-n {fewest}), or add --at-most to take all there are"
    )
