"""Companions: short plain sentences of a corpus that are joined to sentences of other pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import U64, Draws
from acidtest.core.suite import Suite, compact_frame, visit_batches

if TYPE_CHECKING:
    from acidtest.english.clauses import Clause

_POOL_SIZE = 1 << 11
"""How many hypotheses are searched for companions."""
_TRIES = 4
"""How many times a companion that comes from a pair with the same premise is replaced by the next."""
_MOST_WORDS = 15
"""The most words that a companion may have."""


@dataclass(frozen=True)
class Companions:
    """The companions of a corpus, with the digests of the premises of their pairs."""

    clauses: tuple[Clause, ...]
    premises: U64
    draws: Draws

    @classmethod
    def of(cls, pairs: Suite, draws: Draws, tagger: str) -> Companions:
        """The companions among the ``_POOL_SIZE`` hypotheses with the smallest draws.

        They do not depend on the order in which the corpus is read.
        """
        from acidtest.english.clauses import lower_first_word
        from acidtest.english.sentences import Sentences

        pool = _draw_pool(pairs, draws)
        companions = [
            (clause, premise)
            for clause, premise in zip(Sentences.of(pool["hypothesis"], tagger).clauses(), pool["premise"], strict=True)
            if not isinstance(clause, str)
            and clause.subject != "pronoun"
            and 3 <= len(clause.text.split()) <= _MOST_WORDS
            and lower_first_word(clause) is not None
        ]
        premises = np.array([premise for _, premise in companions], dtype=np.uint64)
        return cls(tuple(clause for clause, _ in companions), premises, draws)

    def draw(self, pairs: pl.DataFrame, keys: U64) -> list[Clause | None]:
        """For each pair a sentence from a pair with another premise; None where none is found."""
        if not self.clauses:
            return [None] * pairs.height
        premises = digests(pairs["premise"])
        choices = self.draws.choices(keys, len(self.clauses), "companion")
        for _ in range(_TRIES):
            is_same = self.premises[choices] == premises
            choices = np.where(is_same, (choices + 1) % len(self.clauses), choices)
        is_other = self.premises[choices] != premises
        return [self.clauses[choice] if other else None for choice, other in zip(choices, is_other, strict=True)]


def _draw_pool(pairs: Suite, draws: Draws) -> pl.DataFrame:
    """The hypotheses with the smallest draws, each with the digest of its premise."""
    pool = pl.DataFrame(schema={"hypothesis": pl.String, "premise": pl.UInt64, "draw": pl.UInt64})

    def visit(batch: pl.DataFrame) -> None:
        nonlocal pool
        candidates = batch.select(
            "hypothesis",
            premise=pl.Series(digests(batch["premise"])),
            draw=pl.Series(draws.bits(digests(batch["hypothesis"]), "companion")),
        )
        pool = pl.concat([pool, candidates]).sort("draw", "premise").unique("draw", keep="first", maintain_order=True)
        pool = compact_frame(pool.head(_POOL_SIZE))

    visit_batches(pairs.frame.select("premise", "hypothesis"), visit)
    return pool
