"""The lexical suites: how many pairs of each category premises give, and how fast.

The premises are those of NLI files (arguments, or SNLI's development and test set beside the repository), else the
starter corpus. Reading the files is not timed; tagging, replacing and sealing the suite are.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import polars as pl
from race import told

from acidtest import api
from acidtest.core.suite import Card, Suite
from acidtest.suites.catalogue import SUITES, Request

DATA = Path(__file__).parents[2] / "shared" / "data" / "snli"
FILES = (DATA / "snli_1.0_dev.jsonl.gz", DATA / "snli_1.0_test.jsonl.gz")
REPEATS = 5


def premises(files: list[Path]) -> Suite | None:
    """The pairs of some files as one corpus; None when there are none."""
    loaded = [api.load(file).frame.select("id", "premise", "hypothesis", "label", "group").collect() for file in files]
    if not loaded:
        return None
    frame = pl.concat(
        part.with_columns(id=pl.concat_str(pl.lit(f"{number}."), "id")) for number, part in enumerate(loaded)
    )
    empty = (pl.lit(None, dtype=pl.String).alias(name) for name in ("base_id", "source_id", "certainty"))
    return Suite(frame.with_columns(*empty).lazy(), Card("premises")).sealed()


def main() -> None:
    files = [Path(name) for name in sys.argv[1:]] or [file for file in FILES if file.exists()]
    corpus = premises(files)
    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        made = SUITES["lexical"](Request(source=corpus))
        seconds.append(time.perf_counter() - start)
    frame = made.frame.collect()
    count = len(frame["base_id"].unique())
    looked = corpus.frame.select(pl.col("premise").n_unique()).collect().item() if corpus else 0
    rows = frame.group_by("category").agg(
        pairs=pl.len(),
        contradiction=(pl.col("label") == "contradiction").sum(),
        entailment=(pl.col("label") == "entailment").sum(),
        neutral=(pl.col("label") == "neutral").sum(),
    )
    median = sorted(seconds)[len(seconds) // 2]
    whole = {
        "category": "all",
        "pairs": frame.height,
        **{label: int((frame["label"] == label).sum()) for label in ("contradiction", "entailment", "neutral")},
    }
    told("lexical", [*rows.sort("category").to_dicts(), whole])
    told(
        "lexical-speed",
        [
            {
                "premises": looked,
                "premises used": count,
                "seconds": median,
                "premises/s": round(looked / median) if looked else 0,
                "pairs/s": round(frame.height / median),
            }
        ],
    )
    told("lexical-left-out", [{"reason": reason, "number": number} for reason, number in made.card.left_out.items()])


if __name__ == "__main__":
    main()
