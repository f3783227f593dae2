"""Runs over made-up suites of which a model gets some rows right."""

from __future__ import annotations

import polars as pl

from acidtest.core.run import Header, ModelFacts, Run
from acidtest.core.suite import Card

Verdicts = dict[str, list[bool]]


def made_run(model: str, verdicts: Verdicts, *, strata: dict[str, list[str]] | None = None) -> Run:
    """A run over suites of which a model gets some rows right; the gold of all is entailment."""
    frames, cards = [], []
    for suite, correct in verdicts.items():
        ids = [f"{suite} {number}" for number in range(len(correct))]
        parts = (strata or {}).get(suite)
        frames.append(
            pl.DataFrame(
                {
                    "suite": [suite] * len(ids),
                    "id": ids,
                    "premise": ids,
                    "hypothesis": ["It was wet."] * len(ids),
                    "label": ["entailment"] * len(ids),
                    "group": ids,
                    "template": parts or ["one"] * len(ids),
                    "p_entailment": [float(right) for right in correct],
                    "p_neutral": [float(not right) for right in correct],
                    "p_contradiction": [0.0] * len(ids),
                    "answer": ["entailment" if right else "neutral" for right in correct],
                    "correct": correct,
                }
            )
        )
        cards.append(Card(suite, columns={"template": "factor"}, strata=("template",) if parts else (), rows=len(ids)))
    return Run(Header(ModelFacts(model, model), {card.name: card for card in cards}, {}), pl.concat(frames))


def gains(count: int, of: int = 60) -> list[bool]:
    """Whether each row is right: all but the first ``count``."""
    return [number >= count for number in range(of)]
