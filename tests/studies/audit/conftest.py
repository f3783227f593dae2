"""Small training sets for audits."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

from acidtest.core.suite import Card, Suite, complete_columns

Rows = list[tuple[str, str, str]]


@pytest.fixture
def training_set() -> Callable[[Rows], Suite]:
    """A training set of premises, hypotheses and labels."""

    def made(rows: Rows) -> Suite:
        frame = pl.DataFrame(rows, schema=dict.fromkeys(("premise", "hypothesis", "label"), pl.String), orient="row")
        return Suite(complete_columns(frame, "mine").lazy(), Card("mine"))

    return made
