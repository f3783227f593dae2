"""``acidtest export``: a model in the format of another program."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from acidtest.cli.options import Json, complain, echo, print_json
from acidtest.workflows import exports
from acidtest.workflows.exports import UnfaithfulError


def export(
    format: Annotated[str, typer.Argument(help="The format: onnx.")],
    model: Annotated[str, typer.Argument(help="The model to write: hf:PATH_OR_NAME.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write it to.")],
    int8: Annotated[
        bool, typer.Option("--int8", help="Also a graph with whole numbers for weights: smaller, faster, less exact.")
    ] = False,
    labels: Annotated[
        str, typer.Option("--labels", help="The labels of its outputs in order, where their names do not say.")
    ] = "",
    label_map: Annotated[
        str, typer.Option("--label-map", help="theirs=ours, such as LABEL_0=contradiction, where names do not say.")
    ] = "",
    json: Json = False,
) -> None:
    """Write a model in another format, and compare its answers with what it answered before.

    onnx is a folder that onnx:FOLDER reads without torch; exit status 1 when its answers differ by more than 0.001.
    """
    try:
        made = exports.export(format, model, output=output, int8=int8, labels=labels, label_map=label_map)
    except UnfaithfulError as error:
        if json:
            print_json({"format": format, "model": model, "folder": None, "graphs": list(map(asdict, error.graphs))})
        complain(f"acidtest: {error}")
        raise typer.Exit(1) from error
    if json:
        print_json(made.to_json())
        return
    echo("\n".join(made.notes))
    for graph in made.graphs:
        echo(
            f"{graph.file}: {graph.bytes / 1e6:,.1f} MB; on {made.pairs} pairs probabilities differ by at most "
            f"{graph.difference:.2g}, {graph.equal:.1%} of labels are equal"
        )
    echo("\n".join(f"wrote onnx:{path}" for path in made.paths))
