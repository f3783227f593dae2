"""Scored rows of HANS written, read back and broken down by factor: seconds of each step and peak memory."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from race import median_seconds, parse_options, peak_megabytes, report

import acidtest
from acidtest.core.run import Header, ModelFacts, Run
from acidtest.studies.scoring.rows import breakdowns, score_rows


def random_run(rows: int) -> Run:
    """A run on HANS with random answers."""
    suite = acidtest.generate("hans", n=1 + rows // 30, at_most=True)
    rng = np.random.default_rng(0)
    frame = suite.frame.collect()
    frame = pl.concat([frame] * (1 + rows // frame.height))[:rows]
    probabilities = rng.dirichlet([1, 1, 1], rows).astype(np.float32)
    frame = frame.with_columns(
        id=pl.int_range(rows).cast(pl.String),
        group=pl.int_range(rows).cast(pl.String),
        suite=pl.lit("hans"),
        p_entailment=probabilities[:, 0],
        p_neutral=probabilities[:, 1],
        p_contradiction=probabilities[:, 2],
        answer=pl.lit("neutral"),
        correct=rng.random(rows) < 0.5,
        truncated=pl.lit(False),
    )
    return Run(Header(ModelFacts("random", "random"), {"hans": suite.card}, {}), frame)


def main() -> None:
    options = parse_options(__doc__, rows=(200_000, 200_000))
    run = random_run(options.rows)
    before = peak_megabytes()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        steps = {
            "write": lambda: (run.write_predictions(folder), run.write_header(folder)),
            "read": lambda: Run.read(folder),
            "read, score and break down by six factors": lambda: breakdowns(score_rows(Run.read(folder), "hans")),
        }
        times = {step: median_seconds(action) for step, action in steps.items()}
        assert Run.read(folder).predictions.equals(run.predictions), "the run that was read is not the one written"
        size = (folder / "predictions.parquet").stat().st_size / 2**20
    report(
        "scored_rows",
        [
            {"step": step, "seconds": value, "rows_per_second": round(options.rows / value)}
            for step, value in times.items()
        ],
    )
    print(f"{size:.1f} MB of Parquet; peak memory {peak_megabytes():.0f} MB, of which {before:.0f} MB before writing")


if __name__ == "__main__":
    main()
