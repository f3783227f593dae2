"""What a trained network says of the pairs of a file, as half-precision probabilities: for tables of many networks.

PYTHONPATH=src python benchmarks/zoo_answers.py FOLDER PAIRS.parquet -o ANSWERS.npz
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import polars as pl

from acidtest.zoo.adapter import zoo


def main() -> None:
    """Ask the network and write what it says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args()
    frame = pl.read_parquet(given.pairs)
    model = zoo(str(given.folder))
    started = time.perf_counter()
    columns = [frame[name].to_list() for name in model.columns]
    said = [
        model.predict(*(column[start : start + 16_384] for column in columns))
        for start in range(0, frame.height, 16_384)
    ]
    np.savez_compressed(given.output, said=np.concatenate(said).astype(np.float16))
    print(f"{given.folder}: {frame.height / (time.perf_counter() - started):,.0f} pairs a second")


if __name__ == "__main__":
    main()
