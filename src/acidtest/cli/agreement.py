"""``acidtest agreement``: how far people agree on labels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from acidtest import api
from acidtest.cli.options import Json, Quiet, Seed, Verbose, console, print_json, set_up_logging
from acidtest.cli.report import show_written


def agreement(
    file: Annotated[
        Path, typer.Argument(help="A file with labels of several people, or with their answers (--questionnaire).")
    ],
    questionnaire: Annotated[
        str | None,
        typer.Option("--questionnaire", help="Make labels of answers first: breaking-nli, swaps, or a .toml file."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="With --questionnaire: items with label, votes and why they are discarded."
        ),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option("--labels", help="The columns that hold people's labels, where they are not recognised: A,B,C."),
    ] = None,
    gold: Annotated[
        str | None, typer.Option("--gold", help="The column that holds gold. Default: gold_label, gold or label.")
    ] = None,
    json: Json = False,
    verbose: Verbose = 0,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> None:
    """Tell how far people agree: Fleiss' kappa overall and by label, and human performance.

    Recognised are annotator_labels (SNLI, MultiNLI, Breaking NLI), a column for each person (label1, label2 …), and a
    row for each label (item, annotator, label). Without gold, the majority of a row's labels is its gold.
    """
    set_up_logging(verbose, quiet)
    named = [name.strip() for name in (labels or "").split(",") if name.strip()]
    found = api.agreement(file, questionnaire=questionnaire, labels=named, gold=gold, output=output, seed=seed)
    if json:
        print_json(found.to_json() | ({"table": str(output)} if output else {}))
        return
    out = console()
    for part in api.label_agreement_tables(found):
        out.print(part)
    show_written({"table": output}, json=False)
