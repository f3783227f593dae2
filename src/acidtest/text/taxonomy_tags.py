"""Categories of the taxonomy proposed by rules, for pairs that nobody annotated, and how often the rules are right.

Proposals are no annotation: every column of them is called ``auto_<category>``, and ``measured`` says what share of the
proposals annotators would have marked, and what share of their marks the rules find.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable
from functools import cache
from typing import Literal

import polars as pl

from acidtest.core.estimate import Estimate
from acidtest.io.wordlists import packaged_table
from acidtest.text.taxonomy_tags_evidence import Evidence
from acidtest.text.taxonomy_tags_rules import RULES
from acidtest.text.taxonomy_tags_tokens import PairTokens

VERSION = 1
"""Goes up when a rule, a threshold or a list changes: what was measured holds for one version."""

PREFIX = "auto_"
"""What the name of every proposed column begins with."""

PROPOSED = tuple(RULES)
"""The categories that can be told from the surface, in the order of the taxonomy; the others are never proposed."""

MEASURES = ("precision", "recall", "F1", "chance", "lift")
"""What is measured of each rule: chance is the share of all rows that are marked, lift is precision over chance."""

Part = Literal["held out", "chosen on"]
"""The half of TaxiNLI that the rules were never looked at on, or the one they were chosen on."""

_TOGETHER = 1 << 13


def proposed_categories(premises: pl.Series, hypotheses: pl.Series) -> pl.DataFrame:
    """Whether each of ``PROPOSED`` is proposed for each pair: a column of true and false ``auto_<category>`` for each.

    A rule sees the two sentences and nothing else, no label. For a null or empty sentence nothing is proposed.
    """
    schema = dict.fromkeys((PREFIX + name for name in PROPOSED), pl.Boolean)
    found = [pl.DataFrame(schema=schema)]
    for start in range(0, len(premises), _TOGETHER):
        evidence = Evidence(PairTokens.of(premises[start : start + _TOGETHER], hypotheses[start : start + _TOGETHER]))
        found.append(pl.DataFrame({PREFIX + name: rule(evidence) for name, rule in RULES.items()}))
    return pl.concat(found)


def looked_for() -> dict[str, str]:
    """What each rule looks for, in a line."""
    return {name: (inspect.getdoc(rule) or "").partition("\n")[0] for name, rule in RULES.items()}


@cache
def measured(part: Part = "held out") -> dict[str, dict[str, Estimate]]:
    """Every one of ``MEASURES`` of every rule against TaxiNLI's annotators, with its interval."""
    found: dict[str, dict[str, Estimate]] = {name: {} for name in PROPOSED}
    for row in packaged_table("taxonomy_tags/measured.tsv").filter(pl.col("part") == part).iter_rows(named=True):
        value, low, high = (float(row[name]) if row[name] else math.nan for name in ("value", "low", "high"))
        counts = int(row["n"]), int(row["groups"])
        found[row["category"]][row["measure"]] = Estimate(value, low, high, *counts, row["method"], row["note"])
    return found


def better_than_chance(name: str) -> bool:
    """Whether annotators mark a rule's proposals more often than other rows: the interval of its lift is above 1."""
    return measured()[name]["lift"].low > 1


def caution() -> str:
    """What everybody who sees proposals should know."""
    precision = ", ".join(f"{name} {values['precision'].value:.2f}" for name, values in measured().items())
    chance = [name for name in PROPOSED if not better_than_chance(name)]
    told = f"; {' and '.join(chance)}: not better than chance" if chance else ""
    return (
        "categories were proposed by rules, not annotated; the share of proposals that annotators would mark, measured "
        f"on held-out rows of TaxiNLI: {precision}{told}"
    )


def proposal_caution(categories: Iterable[str]) -> str:
    """``caution`` where some of the categories are proposals, nothing where none is."""
    return caution() if {PREFIX + name for name in PROPOSED} & set(categories) else ""
