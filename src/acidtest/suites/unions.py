"""Untouched and changed pairs together: what to train on to bear a distraction (Naik et al. 2018, section 4.6)."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from acidtest.core.errors import AcidtestError
from acidtest.core.suite import Suite


def union_of(suite: Suite) -> Suite:
    """The rows of a suite's control and its own in one suite; the factor ``changed`` tells them apart."""
    if suite.control is None:
        raise AcidtestError(f"suite {suite.name!r} has no untouched pairs, so there is no union with them")
    schema = suite.frame.collect_schema()
    have = suite.control.frame.collect_schema()
    absent = [pl.lit(None, dtype=dtype).alias(name) for name, dtype in schema.items() if name not in have]
    untouched = suite.control.frame.with_columns(absent).select(list(schema)).with_columns(changed=pl.lit("no"))
    rows = pl.concat([untouched, suite.frame.with_columns(changed=pl.lit("yes"))])
    card = replace(
        suite.card,
        arguments={**suite.card.arguments, "union": True},
        columns={**suite.card.columns, "changed": "factor"},
    )
    return Suite(rows, card).sealed()
