"""``acidtest taxonomy`` and ``tag``: categories of reasoning, in annotated pairs and as rules propose them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from acidtest.cli.options import Columns, Json, LabelMap, columns_named_by, print_document, print_json
from acidtest.cli.study_commands import Plots, Tables, check_output, show
from acidtest.core.errors import AcidtestError
from acidtest.core.study import STUDIES
from acidtest.workflows import data_studies
from acidtest.workflows.batteries import Reading

FILE_OPTIONS = "-o, --categories, --against, --against-columns, --columns, --label-map, --tables and --plots"


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
    against_columns: Annotated[
        str | None,
        typer.Option("--against-columns", help="Of the files of --against: premise=COL,hypothesis=COL (ours=theirs)."),
    ] = None,
    columns: Columns = None,
    label_map: LabelMap = None,
    tables: Tables = None,
    plots: Plots = None,
    json: Json = False,
) -> None:
    """Print the taxonomy of reasoning, one category of it, or what a file of annotated pairs is made of.

    For a file: categories by label and genre, how they go together, and what neutral pairs share, as in section 3.2 of
    Joshi et al. (2020), whose numbers stand beside those of the published file.
    """
    if what is None or not Path(what).exists():
        if output or categories or against or against_columns or columns or label_map or tables or plots:
            raise AcidtestError(f"{FILE_OPTIONS} need a file of annotated pairs")
        _show_tree(what, json=json)
        return
    if against_columns and not against:
        raise AcidtestError("--against-columns says how to read the files of --against, which is not given")
    study = STUDIES["taxonomy"]
    check_output(study, output)
    with columns_named_by("--against-columns", [path for path in against or () if path != Path(what)]):
        result = data_studies.taxonomy_statistics(
            what,
            against=against or (),
            categories=[name.strip() for name in (categories or "").split(",") if name.strip()],
            reading=Reading.parsed(columns, label_map),
            against_reading=Reading.parsed(against_columns, None),
        )
    show(study, result, {"output": output, "tables": tables, "plots": plots, "json": json}, full=False)


def _show_tree(name: str | None, *, json: bool) -> None:
    """Print the whole taxonomy, or one group, category or feature of it."""
    nodes = data_studies.taxonomy(name)
    if json:
        print_json([node.to_json() for node in nodes])
        return
    print_document(data_studies.taxonomy_document(nodes))


def tag(
    file: Annotated[Path, typer.Argument(help="An NLI file in any layout that acidtest reads.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The pairs with a column auto_<category> each: .parquet, .jsonl, .tsv, …"),
    ] = None,
    columns: Columns = None,
    label_map: LabelMap = None,
    tables: Tables = None,
    plots: Plots = None,
    json: Json = False,
) -> None:
    """Propose categories of reasoning for pairs that nobody annotated, by rules whose precision was measured.

    Proposals are no annotation. Where the file marks categories itself, the proposals are measured against those, too.
    """
    result = data_studies.tag(file, output=output, reading=Reading.parsed(columns, label_map))
    written = {"table": output} if output else {}
    show(STUDIES["tag"], result, {"tables": tables, "plots": plots, "json": json}, written=written, full=False)
