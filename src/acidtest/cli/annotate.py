"""``acidtest annotate``: a web app for annotators."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from acidtest import api
from acidtest.cli.options import Columns, Json, LabelMap, Quiet, Seed, Verbose, console, print_json, set_up_logging
from acidtest.core.errors import AcidtestError


def annotate(
    store: Annotated[
        str, typer.Option("--store", help="Where answers are kept: a file for SQLite, or postgresql://user@host/name.")
    ],
    data: Annotated[
        str | None, typer.Argument(help="What to judge: a suite, an NLI file or any table; none: go on with the store.")
    ] = None,
    questionnaire: Annotated[
        str | None, typer.Option("--questionnaire", help="What is asked: a name that ships, or a .toml file.")
    ] = None,
    plan: Annotated[
        str | None, typer.Option("--plan", help="Who judges what: hans-human, stress-human …, or a .toml file.")
    ] = None,
    per_item: Annotated[
        int | None, typer.Option("--per-item", help="How many people judge an item; 0: everybody. Default: 1.", min=0)
    ] = None,
    overlap: Annotated[
        int | None, typer.Option("--overlap", help="So many items go to --per-item people, the others to one.", min=0)
    ] = None,
    per_annotator: Annotated[
        int | None, typer.Option("--per-annotator", help="The most items one person gets, controls not counted.", min=1)
    ] = None,
    controls: Annotated[
        Path | None, typer.Option("--controls", help="Items with right answers, mixed in for everybody.")
    ] = None,
    fail_after: Annotated[
        int | None,
        typer.Option("--fail-after", help="So many failed controls exclude a person; 0: none do. Default: 1.", min=0),
    ] = None,
    finish: Annotated[
        bool | None,
        typer.Option("--finish/--no-finish", help="Whoever fails goes on to the end and is left out afterwards."),
    ] = None,
    reopen: Annotated[
        bool | None,
        typer.Option("--reopen/--no-reopen", help="What excluded people judged goes to others. Default: it does."),
    ] = None,
    expires: Annotated[
        float | None,
        typer.Option("--expires", help="Seconds until an unanswered item may go to another. Default: 3600.", min=1),
    ] = None,
    host: Annotated[str, typer.Option("--host", help="The address to listen on; any but loopback needs a token.")] = (
        api.LOOPBACK
    ),
    port: Annotated[int, typer.Option("--port", help="The port; 0: any that is free.", min=0, max=65535)] = api.PORT,
    token: Annotated[
        str, typer.Option("--token", help="What annotators need to get in. Default off loopback: drawn and printed.")
    ] = "",
    admin_token: Annotated[
        str, typer.Option("--admin-token", help="What /api/admin needs. Default off loopback: drawn and printed.")
    ] = "",
    allow_host: Annotated[
        list[str] | None, typer.Option("--allow-host", help="Another name the server goes by, as behind a proxy.")
    ] = None,
    export: Annotated[
        Path | None, typer.Option("--export", help="Write the answers to .jsonl, .csv, .tsv, .parquet, and stop.")
    ] = None,
    form: Annotated[
        str, typer.Option("--format", help="With --export: answers, or label-studio for a .json and its config.")
    ] = "answers",
    everything: Annotated[
        bool, typer.Option("--everything", help="With --export: also what does not count, and the controls.")
    ] = False,
    import_: Annotated[
        Path | None, typer.Option("--import", help="Add the answers in a file that --export wrote, and stop.")
    ] = None,
    progress: Annotated[bool, typer.Option("--progress", help="Tell how far everybody has come, and stop.")] = False,
    readmit: Annotated[
        str | None, typer.Option("--readmit", help="A link for an annotator who lost the cookie, and stop.")
    ] = None,
    columns: Columns = None,
    label_map: LabelMap = None,
    json: Json = False,
    verbose: Verbose = 0,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> None:
    """Let people judge pairs in their browsers, one by one, with a questionnaire.

    The same command again goes on where it was. Nothing that an annotator said is ever lost: rows of a store are only
    added to.
    """
    set_up_logging(verbose, quiet)
    if sum(map(bool, (export, import_, progress, readmit))) > 1:
        raise AcidtestError("--export, --import, --progress and --readmit are done one at a time")
    sharing = api.Sharing(plan, per_item, overlap, per_annotator, controls, fail_after, expires, finish, reopen)
    if import_ and not data and sharing == api.Sharing():
        _tell(api.import_annotations(import_, store=store, questionnaire=questionnaire), json=json)
        return
    work = api.annotation_project(
        data,
        store=store,
        questionnaire=questionnaire,
        sharing=sharing,
        reading=api.Reading.parsed(columns, label_map),
        seed=seed,
    )
    if import_:
        _tell(api.import_annotations(import_, store=store, work=work), json=json)
    elif export:
        _tell(api.export_annotations(work, export, form=form, everything=everything), json=json)
    elif progress:
        _tell_progress(work.overview(), json=json)
    elif readmit:
        _tell({"link": api.invitation_link(work, readmit, host=host, port=port)}, json=json)
    else:
        _tell_progress(work.overview(), json=json)
        api.serve_annotation(
            work,
            host=host,
            port=port,
            token=token,
            admin_token=admin_token,
            allowed_hosts=allow_host or (),
            announce=lambda links: _tell({name.replace("_", " "): link for name, link in links.items()}, json=json),
        )


def _tell(found: dict[str, Any], *, json: bool) -> None:
    if json:
        print_json(found)
        return
    out = console()
    for name, value in found.items():
        shown = f"{value:,}" if isinstance(value, int) else str(value)
        out.print(f"{name}: {shown}", soft_wrap=True, markup=False)
    out.file.flush()


def _tell_progress(found: dict[str, Any], *, json: bool) -> None:
    if json:
        print_json(found)
        return
    out = console()
    for line in api.progress_tables(found):
        out.print(line)
