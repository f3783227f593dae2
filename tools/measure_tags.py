"""Measure the rules that propose categories against TaxiNLI and write ``data/taxonomy_tags/measured.tsv``.

Usage: python tools/measure_tags.py taxinli10k.tsv

Pairs are parted into two halves by a digest of their pairID. The rules were written and their thresholds chosen on the
half whose digests are even; the other is for measuring, and whoever changes a rule looks at it last.
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

from acidtest import api
from acidtest.core.digests import digests
from acidtest.core.serialise import to_json
from acidtest.pairs.category_rules import PREFIX, PROPOSED, proposed_categories
from acidtest.stats.annotators import tag_quality

OUTPUT = Path(__file__).parents[1] / "src" / "acidtest" / "data" / "taxonomy_tags" / "measured.tsv"


def main(file: str) -> None:
    """Measure both halves and write what was found."""
    rows = api.generate("taxinli", source=file).frame.collect()
    found = rows.hstack(proposed_categories(rows["premise"], rows["hypothesis"]))
    even = pl.Series(digests(found["pair_id"]) % 2 == 0)
    parts = {"held out": found.filter(~even), "chosen on": found.filter(even)}
    lines = [line for part, half in parts.items() for line in measured(part, half)]
    pl.DataFrame(lines).write_csv(OUTPUT, separator="\t", float_precision=4, quote_style="never")
    sys.stdout.write(f"{', '.join(f'{half.height:,} rows {part}' for part, half in parts.items())}: {OUTPUT.name}\n")


def measured(part: str, half: pl.DataFrame) -> list[dict[str, object]]:
    """A line for every measure of every category."""
    lines = list[dict[str, object]]()
    for name in PROPOSED:
        quality = tag_quality(half[PREFIX + name].to_numpy(), half[name].to_numpy(), groups=half["group"].to_numpy())
        for measure, value in to_json(quality).items():
            lines.append({"part": part, "category": name, "measure": measure, **value})
    return lines


if __name__ == "__main__":
    main(sys.argv[1])
