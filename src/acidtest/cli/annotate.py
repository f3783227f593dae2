"""``acidtest annotate``: a web app for annotators."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from acidtest.cli.options import Columns, Json, LabelMap, Seed, echo, print_document, print_json, results_output
from acidtest.core.errors import AcidtestError
from acidtest.workflows import annotation
from acidtest.workflows.annotation import LOOPBACK, PORT, PlanOptions
from acidtest.workflows.batteries import Reading

StoreOption = Annotated[
    str, Option("--store", help="Where answers are kept: a SQLite file, or postgresql://user@host/name.")
]
Data = Annotated[
    str | None,
    Argument(help="What to judge: the name of a suite, an NLI file or any table; none: continue with the store."),
]
QuestionnaireOption = Annotated[
    str | None, Option("--questionnaire", help="What is asked: a name that ships, or a .toml file.")
]
PlanOption = Annotated[
    str | None, Option("--plan", help="Who judges what: hans-human, stress-human …, or a .toml file.")
]
PerItem = Annotated[
    int | None, Option("--per-item", help="How many people judge an item; 0: everybody. Default: 1.", min=0)
]
Overlap = Annotated[
    int | None, Option("--overlap", help="How many items go to --per-item people; the others go to one.", min=0)
]
PerAnnotator = Annotated[
    int | None, Option("--per-annotator", help="The most items one person gets, controls not counted.", min=1)
]
ChecksOption = Annotated[
    Path | None, Option("--controls", help="Attention checks: items with right answers, mixed in for everybody.")
]
FailAfter = Annotated[
    int | None, Option("--fail-after", help="How many failed controls exclude a person; 0: never. Default: 1.", min=0)
]
Finish = Annotated[
    bool | None, Option("--finish/--no-finish", help="People who fail go on to the end and are left out afterwards.")
]
Reopen = Annotated[
    bool | None,
    Option("--reopen/--no-reopen", help="Items that excluded people judged go to others. Default: they do."),
]
Expires = Annotated[
    float | None,
    Option("--expires", help="Seconds until an unanswered item may go to another person. Default: 3600.", min=1),
]
Host = Annotated[str, Option("--host", help="The address to listen on; any but loopback needs a token.")]
Port = Annotated[int, Option("--port", help="The port; 0: any that is free.", min=0, max=65535)]
Token = Annotated[
    str, Option("--token", help="What annotators need to get in. Default off loopback: drawn and printed.")
]
AdminToken = Annotated[
    str, Option("--admin-token", help="What /api/admin needs. Default off loopback: drawn and printed.")
]
AllowHost = Annotated[list[str] | None, Option("--allow-host", help="Another name of the server, as behind a proxy.")]
Export = Annotated[Path | None, Option("--export", help="Write the answers to .jsonl, .csv, .tsv, .parquet, and stop.")]
Format = Annotated[str, Option("--format", help="With --export: answers, or label-studio for a .json and its config.")]
Everything = Annotated[
    bool, Option("--everything", help="With --export: also answers that do not count, and the controls.")
]
Import = Annotated[Path | None, Option("--import", help="Add the answers in a file that --export wrote, and stop.")]
ShowProgress = Annotated[bool, Option("--progress", help="Print how far everybody has come, and stop.")]
Readmit = Annotated[
    str | None, Option("--readmit", help="Print a link for an annotator who lost the cookie, and stop.")
]


def annotate(
    store: StoreOption,
    data: Data = None,
    questionnaire: QuestionnaireOption = None,
    plan: PlanOption = None,
    per_item: PerItem = None,
    overlap: Overlap = None,
    per_annotator: PerAnnotator = None,
    controls: ChecksOption = None,
    fail_after: FailAfter = None,
    finish: Finish = None,
    reopen: Reopen = None,
    expires: Expires = None,
    host: Host = LOOPBACK,
    port: Port = PORT,
    token: Token = "",
    admin_token: AdminToken = "",
    allow_host: AllowHost = None,
    export: Export = None,
    form: Format = "answers",
    everything: Everything = False,
    import_: Import = None,
    progress: ShowProgress = False,
    readmit: Readmit = None,
    columns: Columns = None,
    label_map: LabelMap = None,
    json: Json = False,
    seed: Seed = 0,
) -> None:
    """Let people judge pairs in their browsers, one by one, with a questionnaire.

    The same command again continues the project. No answer is ever lost: rows are only added to a store.
    """
    if sum(map(bool, (export, import_, progress, readmit))) > 1:
        raise AcidtestError("--export, --import, --progress and --readmit exclude each other; give one at a time")
    options = PlanOptions(plan, per_item, overlap, per_annotator, controls, fail_after, expires, finish, reopen)
    if import_ and not data and options == PlanOptions():
        _print_values(annotation.import_annotations(import_, store=store, questionnaire=questionnaire), json=json)
        return
    reading = Reading.parsed(columns, label_map)
    project = annotation.annotation_project(
        data, store=store, questionnaire=questionnaire, options=options, reading=reading, seed=seed
    )
    if import_:
        _print_values(annotation.import_annotations(import_, store=store, project=project), json=json)
    elif export:
        _print_values(annotation.export_annotations(project, export, form=form, everything=everything), json=json)
    elif readmit:
        _print_values({"link": annotation.invitation_link(project, readmit, host=host, port=port)}, json=json)
    else:
        _print_progress(project.overview(), json=json)
    if not (import_ or export or readmit or progress):
        announce, hosts = partial(_print_links, json=json), allow_host or ()
        annotation.serve_annotation(
            project, host=host, port=port, token=token, admin_token=admin_token, allowed_hosts=hosts, announce=announce
        )


def _print_links(links: Mapping[str, str], *, json: bool) -> None:
    _print_values({name.replace("_", " "): link for name, link in links.items()}, json=json)


def _print_values(values: dict[str, Any], *, json: bool) -> None:
    if json:
        print_json(values)
    else:
        echo(
            *(f"{name}: {value:,}" if isinstance(value, int) else f"{name}: {value}" for name, value in values.items())
        )
    # The server may run for days after its links are printed.
    results_output().flush()


def _print_progress(overview: dict[str, Any], *, json: bool) -> None:
    if json:
        print_json(overview)
        return
    print_document(annotation.progress_document(overview))
