"""Edits of claims and documents: edited pairs per second on one core, and peak memory of a stream.

Documents (295 words on average) and their nine claims each are copies of the starter corpus in which invented names got
other endings, so that all of them are distinct. Every edit is made of the same claims, once with the evidence sentences
marked as in the starter and once without marks, when they must be found; rates are edited pairs (and claims looked at)
for each second of processor time until all rows are in memory. A larger file is then streamed through some edits, each
in a process of its own, and the suites are written; the promise is 300 MB above the interpreter with everything
imported, plus 32 bytes for each distinct pair.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    # Polars reads it when it is imported.
    os.environ["POLARS_MAX_THREADS"] = "1"

import polars as pl
from race import allowed_megabytes, parse_options, peak_megabytes, race, report, run_step

import acidtest
from acidtest.english.wordnet import wordnet
from acidtest.suites.catalogue import SUITES, Request
from acidtest.suites.grounding import starter_claims

PREFIX, ANSWERS = "grounding/", "grounding/answers"
STREAMED = ("grounding/number", "grounding/filler")
"""Edits that are streamed, where there are such: one of claims and one of documents."""
SYLLABLES = ("ba", "del", "gor", "lin", "mas", "nek", "pol", "rus", "tav", "wen")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{3,}\b")


def invented_names(documents: pl.Series) -> list[set[str]]:
    """The words of each document that are names of nothing but what the document is about."""
    known = set(re.findall(r"\b[a-z]+\b", " ".join(documents)))
    senses = wordnet().senses
    return [
        {name for name in _NAME.findall(text) if name.lower() not in known and not senses(name.lower())}
        for text in documents
    ]


def renamed_claims() -> Iterator[pl.DataFrame]:
    """The claims of the starter corpus again and again, each time with other endings of the invented names."""
    columns = {"document": "premise", "claim": "hypothesis", "label": "label", "evidence": "evidence"}
    claims = starter_claims().frame.select("document", **{f"_{name}": column for name, column in columns.items()})
    frames = claims.collect().partition_by("document", maintain_order=True)
    names = invented_names(pl.Series([frame["_document"][0] for frame in frames]))
    patterns = [
        (frame.select(pl.exclude("document").name.map(lambda name: name[1:])), rf"\b({'|'.join(sorted(words))})\b")
        for frame, words in zip(frames, names, strict=True)
        if words
    ]
    copy = 0
    while True:
        ending = "".join(SYLLABLES[int(digit)] for digit in str(copy))
        for frame, pattern in patterns:
            yield frame.with_columns(
                pl.col("document", "claim", "evidence").str.replace_all(pattern, f"${{1}}{ending}")
            )
        copy += 1


def write_claims(path: Path, documents: int, *, marked: bool) -> None:
    """Write the claims of so many documents as JSON lines."""
    with path.open("wb") as file:
        for _, frame in zip(range(documents), renamed_claims(), strict=False):
            file.write((frame if marked else frame.drop("evidence")).write_ndjson().encode())


def edit_names() -> list[str]:
    """The suites of edits that there are, which need no gold; whole answers are not edits of claims."""
    names = [name for name in sorted(SUITES) if name.startswith(PREFIX) and name != ANSWERS]
    return [name for name in names if SUITES[name].source == "pairs" and not SUITES[name].needs_gold]


def speed_rows(documents: int, *, marked: bool) -> list[dict[str, Any]]:
    """A row for each edit and one for all of them together."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "claims.jsonl"
        write_claims(path, documents, marked=marked)
        source = acidtest.load(path)
    words = float(source.frame.select(pl.col("premise").str.count_matches(r"\S+").mean()).collect().item())
    facts = {"evidence": "marked" if marked else "found", "words": round(words), "claims": source.card.rows}
    rows = []
    for name in edit_names():

        def make(name: str = name) -> int:
            return SUITES[name].make(Request(source=source)).frame.collect().height

        timing = race({name: make})[name]
        rows.append({"edit": name, **facts, "seconds": timing.processor_seconds, "pairs": timing.output})
    total = {"edit": "all", **facts, "seconds": sum(row["seconds"] for row in rows)}
    rows.append(total | {"pairs": sum(row["pairs"] for row in rows)})
    looked_at = [row["claims"] for row in rows[:-1]] + [source.card.rows * (len(rows) - 1)]
    return [
        row | {"pairs/s": round(row["pairs"] / row["seconds"]), "claims/s": round(claims / row["seconds"])}
        for row, claims in zip(rows, looked_at, strict=True)
    ]


def stream(path: Path, name: str) -> dict[str, Any]:
    """Make the suite of an edit from a large file and write it, in this process."""
    acidtest.generate(name)
    before, start = peak_megabytes(), time.perf_counter()
    suite = acidtest.generate(name, source=path)
    acidtest.save(suite, path.with_name("suite"), parted=True)
    control = suite.control.card.rows if suite.control else 0
    return {
        "edit": name,
        "claims": control,
        "pairs": suite.card.rows,
        "seconds": time.perf_counter() - start,
        "MB": peak_megabytes() - before,
        "MB allowed": round(allowed_megabytes(suite.card.rows + control)),
    }


def stream_rows(claims: int) -> list[dict[str, Any]]:
    """A row for each streamed edit."""
    rows = []
    for name in (name for name in STREAMED if name in SUITES):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "claims.jsonl"
            run_step(__file__, "--step", "write", "--claims", claims, path)
            row = run_step(__file__, "--step", "stream", "--name", name, path)
        rows.append(row | {"kept": row["MB"] <= row["MB allowed"]})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", nargs="?", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--step", choices=["write", "stream"], help=argparse.SUPPRESS)
    parser.add_argument("--name", help=argparse.SUPPRESS)
    parser.add_argument("--only", choices=["speed", "stream"])
    options = parse_options(parser, documents=(122, 610), claims=(100_000, 1_000_000))
    if options.step == "write":
        write_claims(options.path, options.claims // 9, marked=False)
    elif options.step == "stream":
        print(json.dumps(stream(options.path, options.name)))
    if options.step:
        return
    if options.only in (None, "speed"):
        rows = [row for marked in (True, False) for row in speed_rows(options.documents, marked=marked)]
        report("grounding", rows)
    if options.only in (None, "stream"):
        report("grounding_stream", stream_rows(options.claims))


if __name__ == "__main__":
    main()
