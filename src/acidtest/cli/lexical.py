"""``acidtest lexical``: which words models know, and what explains it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from acidtest import api
from acidtest.cli.options import Columns, Json, LabelMap, Quiet, Seed, Verbose, console, print_json, set_up_logging
from acidtest.cli.report import show_written


def lexical(
    runs: Annotated[list[Path], typer.Argument(help="Run folders with lexical suites or the published Breaking NLI.")],
    train: Annotated[
        Path | None, typer.Option("--train", help="A training set, to count pairs of words in its contradictions.")
    ] = None,
    embeddings: Annotated[
        Path | None, typer.Option("--embeddings", help="Word vectors: GloVe or word2vec text, .json or .npz.")
    ] = None,
    original: Annotated[
        str | None, typer.Option("--original", help="A suite of the runs to compare with, such as snli_1.0_test.")
    ] = None,
    reference: Annotated[
        list[Path] | None,
        typer.Option("--reference", help="A run of a model that has not seen the published pairs; may be repeated."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A table of all pairs of words: .tsv, .csv, .parquet, …")
    ] = None,
    correction: Annotated[
        str,
        typer.Option("--correction", help="holm, bh (Benjamini–Hochberg), by (Benjamini–Yekutieli) or none."),
    ] = "holm",
    columns: Columns = None,
    label_map: LabelMap = None,
    json: Json = False,
    verbose: Verbose = 0,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> None:
    """Tell which categories of words models know, and whether similarity or training frequency explains it.

    A model asked fresh (lexical) and published pairs (breaking-nli) is compared on the two.
    """
    set_up_logging(verbose, quiet)
    found = api.lexical(
        runs,
        train=train,
        embeddings=embeddings,
        original=original,
        reference=reference or (),
        output=output,
        reading=api.Reading.parsed(columns, label_map),
        correction=correction,
        seed=seed,
    )
    if json:
        print_json(found.to_json() | ({"table": str(output)} if output else {}))
        return
    out = console()
    for part in api.lexical_tables(found):
        out.print(part)
    show_written({"table": output}, json=False)
