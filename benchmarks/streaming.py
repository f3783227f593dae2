"""A corpus of up to four million pairs, read, changed, sealed, checked and written: rows a second and peak memory.

Each size and format has a process of its own, so that one peak does not hide another. The promise is 300 MB above the
interpreter with everything imported, plus 32 bytes for each pair. Arguments: the sizes, else 10,000 to a million.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from race import told

SIZES = (10_000, 100_000, 1_000_000)
FORMATS = (".jsonl", ".tsv", ".parquet", ".jsonl.gz")
STEPS = ("load", "seal", "check", "save")
ALLOWED_MB, ALLOWED_BYTES = 300, 32
BLOCK = 100_000


def write_corpora(folder: Path, size: int) -> None:
    """The pairs of the starter corpus again and again, every sentence with a number, in every format."""
    import gzip

    import polars as pl

    from acidtest.io.starter import starter_pairs

    pairs = starter_pairs().frame.select("premise", "hypothesis", gold_label="label").collect()
    text = ".jsonl", ".tsv"
    files = {ending: (folder / f"corpus{ending}").open("wb") for ending in text}
    for start in range(0, size, BLOCK):
        number = pl.int_range(start, min(start + BLOCK, size), eager=True)
        block = pairs[(number % pairs.height).to_list()].with_columns(pairID=pl.lit("p") + number.cast(pl.String))
        # Three pairs to a premise, as in SNLI.
        premise, pair = (number // 3).cast(pl.String), number.cast(pl.String)
        block = block.with_columns(
            sentence1=pl.lit("Scene ") + premise + ": " + pl.col("premise"),
            sentence2=pl.lit("Claim ") + pair + ": " + pl.col("hypothesis"),
        ).drop("premise", "hypothesis")
        files[".jsonl"].write(block.write_ndjson().encode())
        cells = block.write_csv(separator="\t", quote_style="never", include_header=start == 0)
        files[".tsv"].write(cells.encode())
    for file in files.values():
        file.close()
    pl.scan_ndjson(folder / "corpus.jsonl").sink_parquet(folder / "corpus.parquet")
    with (folder / "corpus.jsonl").open("rb") as plain, gzip.open(folder / "corpus.jsonl.gz", "wb", 1) as packed:
        while chunk := plain.read(1 << 20):
            packed.write(chunk)


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(path: Path) -> None:
    """Print the peak memory after the imports, then the seconds and the peak after every step."""
    import polars as pl

    from acidtest import api
    from acidtest.core.suite import Card, Suite
    from acidtest.io import corpora as corpora
    from acidtest.suites.checks import require_sound

    print(peak_megabytes())
    start = time.perf_counter()

    def note() -> None:
        print(time.perf_counter() - start, peak_megabytes())

    pairs = api.load(path)
    note()
    changed = pl.concat_str("hypothesis", pl.lit(" and true is true"))
    frame = pairs.frame.with_columns(
        hypothesis=changed, id=pl.concat_str("id", pl.lit("-tautology")), base_id=pl.col("id")
    )
    suite = Suite(frame, Card("tautology", columns=pairs.card.columns), pairs).sealed()
    note()
    require_sound(suite, "benchmark")
    note()
    api.save(suite, path.with_name("made.parquet"))
    note()
    print(suite.card.rows)


def measured(path: Path, size: int) -> dict[str, Any]:
    command = [sys.executable, __file__, "measure", str(path)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    before, steps, rows = float(said[0]), [float(number) for number in said[1:-1]], int(said[-1])
    assert rows == size
    peaks = steps[1::2]
    allowed = ALLOWED_MB + size * ALLOWED_BYTES / 2**20
    row = {"file": path.name.removeprefix("corpus"), "pairs": size, "file_MB": path.stat().st_size / 2**20}
    row |= {f"MB_{step}": round(peak - before) for step, peak in zip(STEPS, peaks, strict=True)}
    row |= {"MB_allowed": round(allowed), "kept": peaks[-1] - before <= allowed}
    return row | {"seconds": steps[-2], "rows_a_second": round(size / steps[-2])}


def main(sizes: list[int]) -> None:
    rows = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            subprocess.run([sys.executable, __file__, "write", name, str(size)], check=True)
            for ending in FORMATS:
                rows.append(measured(folder / f"corpus{ending}", size))
    told("streaming", rows)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["measure", path]:
            measure(Path(path))
        case ["write", folder, size]:
            write_corpora(Path(folder), int(size))
        case sizes:
            main([int(size) for size in sizes] or list(SIZES))
