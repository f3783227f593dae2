"""Suites: what there is, how they are filed, and whether they hold what they promise."""
