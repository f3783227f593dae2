"""The files behind the tables of many networks, from corpora as their authors published them.

    PYTHONPATH=src:tools/reference python benchmarks/zoo_pairs.py DATA -o FOLDER

Writes pool.parquet, to learn from: the pairs of the reference model (see tools/reference/pool.py), with binary parses
where a corpus has them; dev.parquet, some 2,000 of them whose premises stand in no other, to choose the epoch; the
suites; and pairs.parquet, every pair of suites and test sets once, which ``zoo_answers.py`` asks.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import polars as pl
from pool import LEARNT, PAIR, TESTS, mismatched, taxonomy, without

from acidtest import api

PARSES = ["premise_binary_parse", "hypothesis_binary_parse"]
DEVELOPMENT = 2000
"""Pairs at most that choose the epoch."""
EDITED = "cad/train.tsv"
"""Pairs that are edits of each other, on both sides: none of them chooses the epoch."""
SUITES = {
    "hans": {"n": 300},
    "lexical": {"source": TESTS["snli"]},
    "stress/antonymy": {"source": TESTS["mnli"]},
    "stress/numerical": {},
    "stress/word-overlap": {"source": TESTS["mnli"], "n": 2500},
    "stress/negation": {"source": TESTS["mnli"], "n": 2500},
    "stress/length-mismatch": {"source": TESTS["mnli"], "n": 2500},
    "stress/spelling": {"source": TESTS["mnli"], "n": 700},
}
"""Suites, what each is made from, and how many pairs of that or of each subcase."""


def parsed(frame: pl.DataFrame) -> pl.DataFrame:
    """Pairs with their parses, none where the frame has none."""
    there = [pl.col(name) if name in frame.columns else pl.lit(None, pl.String).alias(name) for name in PARSES]
    label = ["label"] if "label" in frame.columns else []
    return frame.select(*PAIR, *label, *there)


def read(path: Path) -> pl.DataFrame:
    """The pairs of a file."""
    return parsed(api.load(path).frame.collect())


def parted(pool: pl.DataFrame, edited: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Pairs to learn from and pairs to choose the epoch, which share no premise."""
    linked = pl.concat([edited[name].alias("text") for name in PAIR]).unique().implode()
    free = pool.filter(*(~pl.col(name).is_in(linked) for name in PAIR))
    premises = free.group_by("premise", maintain_order=True).len().sample(fraction=1, shuffle=True, seed=0)
    chosen = premises.filter(pl.col("len").cum_sum() <= DEVELOPMENT)["premise"].implode()
    learnt = pool.filter(~pl.col("premise").is_in(chosen)).sample(fraction=1, shuffle=True, seed=0)
    return learnt, free.filter(pl.col("premise").is_in(chosen))


def main() -> None:
    """Write all files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    tests = [read(given.data / path) for path in TESTS.values()]
    pool = pl.concat([*(read(given.data / path) for path in LEARNT), parsed(mismatched(given.data))])
    kept_away = pl.concat([frame.select(PAIR) for frame in (*tests, taxonomy(given.data))])
    learnt, development = parted(without(pool.unique(PAIR, maintain_order=True), kept_away), read(given.data / EDITED))
    learnt.write_parquet(given.output / "pool.parquet")
    development.write_parquet(given.output / "dev.parquet")
    print(f"{learnt.height:,} pairs to learn from, {learnt[PARSES[0]].null_count():,} without parses")
    print(f"{development.height:,} pairs to choose the epoch")
    asked = [parsed(frame).select(*PAIR, *PARSES) for frame in tests]
    for name, wish in SUITES.items():
        source = given.data / str(wish["source"]) if "source" in wish else None
        suite = api.generate(name, n=wish.get("n"), source=source)
        api.save(suite, given.output / f"{name.replace('/', '_')}.parquet")
        asked.append(parsed(suite.frame.collect()).select(*PAIR, *PARSES))
        print(f"{name}: {asked[-1].height:,} pairs")
    pairs = pl.concat(asked).sort(PARSES[0], nulls_last=True).unique(PAIR, maintain_order=True, keep="first")
    pairs.write_parquet(given.output / "pairs.parquet")
    print(f"{pairs.height:,} different pairs to ask")


if __name__ == "__main__":
    main()
