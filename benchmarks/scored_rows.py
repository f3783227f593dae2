"""200,000 scored rows: written, read back and broken down by factor; time of each step and peak memory."""

from __future__ import annotations

import resource
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from race import median_seconds, told

from acidtest import api
from acidtest.core.run import Header, ModelFacts, Run
from acidtest.studies.rows import breakdowns, score_rows

ROWS = 200_000


def scored_run() -> Run:
    """A HANS run of 200,000 rows with random answers."""
    suite = api.generate("hans", n=1 + ROWS // 30, at_most=True)
    rng = np.random.default_rng(0)
    frame = suite.frame.collect()
    frame = pl.concat([frame] * (1 + ROWS // frame.height))[:ROWS]
    frame = frame.with_columns(id=pl.int_range(ROWS).cast(pl.String), group=pl.int_range(ROWS).cast(pl.String))
    values = rng.dirichlet([1, 1, 1], ROWS).astype(np.float32)
    frame = frame.with_columns(
        suite=pl.lit("hans"),
        p_entailment=values[:, 0],
        p_neutral=values[:, 1],
        p_contradiction=values[:, 2],
        answer=pl.lit("neutral"),
        correct=rng.random(ROWS) < 0.5,
    )
    return Run(Header(ModelFacts("random", "random"), {"hans": suite.card}, {}), frame)


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    run = scored_run()
    before = peak_megabytes()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        write = median_seconds(lambda: (run.write_predictions(path), run.write_header(path)))
        size = (path / "predictions.parquet").stat().st_size / 2**20
        read = median_seconds(lambda: Run.read(path))
        group = median_seconds(lambda: breakdowns(score_rows(Run.read(path), "hans")))
    told(
        "scored_rows",
        [
            {"step": f"write ({size:.1f} MB)", "seconds": write, "rows_a_second": round(ROWS / write)},
            {"step": "read", "seconds": read, "rows_a_second": round(ROWS / read)},
            {"step": "read, score and break down by 6 factors", "seconds": group, "rows_a_second": round(ROWS / group)},
        ],
    )
    print(f"peak memory {peak_megabytes():.0f} MB, of which {before:.0f} MB before writing")


if __name__ == "__main__":
    main()
