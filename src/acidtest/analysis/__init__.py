"""Numbers out of runs: metrics, intervals, tests and what they mean."""
