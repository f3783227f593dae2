"""What rules propose for the pairs of a file, beside what was measured of the rules and what the file itself says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.estimate import Estimate
from acidtest.core.suite import Suite
from acidtest.stats.intervals import rate
from acidtest.stats.tag_quality import TagQuality, tag_qualities
from acidtest.studies.rows import ScoredRows
from acidtest.text.taxonomy_tags import PREFIX, PROPOSED, VERSION, caution, looked_for, measured


@dataclass(frozen=True)
class Tags:
    """The categories proposed for some pairs."""

    name: str
    rows: int
    shares: Mapping[str, Estimate]
    """The share of the pairs that each category is proposed for."""
    counts: Mapping[str, int]
    untagged: int
    """Pairs for which nothing is proposed."""
    measured: Mapping[str, Mapping[str, Estimate]]
    """What is known of each rule from the half of TaxiNLI that it was not made with."""
    against: Mapping[str, TagQuality] = field(default_factory=dict)
    """How well the proposals agree with the categories that the file itself marks; empty where it marks none."""
    notes: tuple[str, ...] = ()

    @property
    def by_chance(self) -> tuple[str, ...]:
        """Categories whose proposals are not known to be marked more often than any other pair is."""
        return tuple(name for name, values in self.measured.items() if not values["lift"].low > 1)

    def to_json(self) -> dict[str, Any]:
        """As ``acidtest tag --json`` prints it."""
        about = looked_for()
        return {
            "schema": 1,
            "name": self.name,
            "rows": self.rows,
            "rules": VERSION,
            "untagged": self.untagged,
            "notes": list(self.notes),
            "categories": {
                name: {
                    "column": PREFIX + name,
                    "looks_for": about[name],
                    "proposed": self.counts[name],
                    "share": share.to_json(),
                    "measured": {measure: value.to_json() for measure, value in self.measured[name].items()},
                    "here": self.against[name].to_json() if name in self.against else None,
                }
                for name, share in self.shares.items()
            },
        }


def tags(suite: Suite, marked: Suite | None = None) -> Tags:
    """What a suite of proposals holds; ``marked`` are the same pairs with categories that annotators marked."""
    names = [PREFIX + name for name in PROPOSED]
    frame = suite.frame.select("group", *names).collect()
    groups = np.unique(digests(frame["group"]), return_inverse=True)[1]
    proposed = {name: frame[PREFIX + name].to_numpy() for name in PROPOSED}
    own = [name for name in (marked.card.categories if marked else ()) if name in proposed]
    known = marked.frame.select(own).collect() if marked else pl.DataFrame()
    return Tags(
        name=str(suite.card.arguments.get("from", suite.name)),
        rows=frame.height,
        shares={name: rate(flags, groups=groups) for name, flags in proposed.items()},
        counts={name: int(flags.sum()) for name, flags in proposed.items()},
        untagged=frame.select((~pl.any_horizontal(names)).sum()).item(),
        measured=measured(),
        against=tag_qualities(proposed, {name: known[name].to_numpy() for name in own}, groups=groups),
        notes=(caution(),),
    )


def proposal_caution(categories: Iterable[str]) -> str:
    """What a reader of numbers by category has to know where some of them are proposals; nothing where none is."""
    return caution() if {PREFIX + name for name in PROPOSED} & set(categories) else ""


def tag_notes(rows: ScoredRows) -> list[str]:
    """The caution that belongs to results by category, if one does."""
    return list(filter(None, [proposal_caution(rows.card.categories)]))
