"""Words that make an edit of a claim uncertain, by the use that they forbid and the reason that is given for it."""

from __future__ import annotations

import re
from functools import cache

from acidtest.io.wordlists import packaged_table


@cache
def cautions(use: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The reasons and patterns for a use, such as ``negate`` or ``trend``; letters match in either case."""
    table = packaged_table("grounding/cautions.tsv").filter(use=use)
    return tuple((reason, re.compile(pattern, re.IGNORECASE)) for reason, pattern in table["reason", "pattern"].rows())


@cache
def caution_pattern(use: str) -> re.Pattern[str]:
    """The pattern of a use that has one only."""
    [(_, pattern)] = cautions(use)
    return pattern


def first_caution(text: str, use: str) -> str | None:
    """The first reason why a text is unfit for a use; None where there is none."""
    return next((reason for reason, pattern in cautions(use) if pattern.search(text)), None)
