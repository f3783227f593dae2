"""``acidtest agreement``: how far people agree on labels and categories."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from acidtest.cli.options import Json, Seed
from acidtest.cli.study_commands import Plots, Tables, show
from acidtest.core.study import STUDIES
from acidtest.workflows import data_studies


def agreement(
    file: Annotated[
        str, typer.Argument(help="A file with labels or categories of several people, or answers (--questionnaire).")
    ],
    questionnaire: Annotated[
        str | None,
        typer.Option(
            "--questionnaire", help="Make labels of answers first: breaking-nli, taxonomy …, or a .toml file."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="A page (.html), a chart of kappas (.png, .svg), or with --questionnaire a table of the items with "
            "label, votes and why they are discarded (.jsonl, .tsv, …).",
        ),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option("--labels", help="The columns that hold people's labels, where they are not recognised: A,B,C."),
    ] = None,
    categories: Annotated[
        str | None,
        typer.Option("--categories", help="Columns of 0 and 1, one for each category, or one of lists: A,B,C."),
    ] = None,
    gold: Annotated[
        str | None, typer.Option("--gold", help="The column that holds gold. Default: gold_label, gold or label.")
    ] = None,
    tables: Tables = None,
    plots: Plots = None,
    json: Json = False,
    seed: Seed = 0,
) -> None:
    """Measure how far people agree: kappa and alpha of labels and categories, IOU, human performance.

    Recognised are annotator_labels (SNLI, MultiNLI, Breaking NLI), a column for each person (label1, label2 …), and a
    row for each person and item (item, annotator, label, categories). Without gold, the majority of a row's labels is
    its gold.
    """
    result = data_studies.agreement(
        file,
        questionnaire=questionnaire,
        labels=_names(labels),
        categories=_names(categories),
        gold=gold,
        output=output,
        seed=seed,
    )
    written = {str(data_studies.output_kind(output)): output} if output else {}
    show(STUDIES["agreement"], result, {"tables": tables, "plots": plots, "json": json}, written=written)


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",") if name.strip()]
