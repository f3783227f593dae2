"""``acidtest taxonomy``: the categories of reasoning, and what annotated pairs are made of."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from acidtest import api
from acidtest.cli.options import Columns, Json, LabelMap, Quiet, Seed, Verbose, console, print_json, set_up_logging
from acidtest.cli.report import show_written
from acidtest.core.errors import AcidtestError


def taxonomy(
    what: Annotated[
        str | None,
        typer.Argument(metavar="[NAME|FILE]", help="A category, group or feature; or a file of annotated pairs."),
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="For a file: a page with charts.")] = None,
    categories: Annotated[
        str | None, typer.Option("--categories", help="For a file: the categories of a scheme of your own: A,B,C.")
    ] = None,
    against: Annotated[
        list[Path] | None, typer.Option("--against", help="For a file: look for its pairs in another NLI file, too.")
    ] = None,
    columns: Columns = None,
    label_map: LabelMap = None,
    json: Json = False,
    verbose: Verbose = 0,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> None:
    """Print the taxonomy of reasoning, one category of it, or what a file of annotated pairs is made of.

    For a file: categories by label and genre, how they go together, and what neutral pairs share, as in section 3.2 of
    Joshi et al. (2020), whose numbers stand beside those of the published file.
    """
    set_up_logging(verbose, quiet)
    out = console()
    if what is None or not Path(what).exists():
        if output or categories or against or columns or label_map:
            raise AcidtestError("-o, --categories, --against, --columns and --label-map need a file of annotated pairs")
        nodes = api.taxonomy(what)
        if json:
            print_json([node.to_json() for node in nodes])
            return
        for part in api.taxonomy_tables(nodes):
            out.print(part)
        return
    found = api.taxonomy_statistics(
        what,
        output=output,
        against=against or (),
        categories=[name.strip() for name in (categories or "").split(",") if name.strip()],
        reading=api.Reading.parsed(columns, label_map),
    )
    if json:
        print_json(found.to_json() | ({"page": str(output)} if output else {}))
        return
    for part in api.taxonomy_statistics_tables(found):
        out.print(part)
    show_written({"page": output}, json=False)
