"""``acidtest errors``: draw a sample of a run's errors to sort by hand, or count the categories people chose."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from acidtest.cli.options import Json, Seed, echo
from acidtest.cli.study_commands import Tables, show
from acidtest.core.errors import AcidtestError
from acidtest.core.study import STUDIES
from acidtest.core.suite import CONTROL
from acidtest.workflows.errors import error_agreement, error_sample, error_typology

OUTPUT = Path("errors.tsv")

Output = Annotated[
    Path | None, typer.Option("--output", "-o", help=f"The sample to write: .tsv, .csv or .jsonl. Default: {OUTPUT}.")
]
Suites = Annotated[
    list[str] | None,
    typer.Option("--suite", help="Errors on this suite only; may be repeated. Default: all, on untouched pairs."),
]
By = Annotated[
    list[str] | None,
    typer.Option("--by", help="Give every value of a column its share, such as genre. Default: gold and answer."),
]

SAMPLING = {
    "output": "-o",
    "suite": "--suite",
    "n": "-n",
    "by": "--by",
    "prefill": "--prefill",
    "fresh": "--fresh",
    "seed": "--seed",
}
"""Options for drawing a sample; they do not apply to a sample that is read from a file."""


def errors(
    context: typer.Context,
    sources: Annotated[
        list[Path], typer.Argument(help="A run folder to draw a sample from, or one or two samples that people sorted.")
    ],
    output: Output = None,
    suite: Suites = None,
    n: Annotated[int, typer.Option("--number", "-n", help="How many errors; all where there are fewer.", min=1)] = 100,
    by: By = None,
    prefill: Annotated[
        bool, typer.Option("--prefill", help="Put the proposals into the column category, to be corrected there.")
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Write over a file that is there.")] = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Also draw the distribution: a file ending in .svg or .png.")
    ] = None,
    tables: Tables = None,
    json: Json = False,
    seed: Seed = 0,
) -> None:
    """Sample a run's errors and propose what led to each; or count what people decided on such a sample.

    The categories are those of Naik et al. (2018), section 2. Edit the column category of the sample, then give the
    file to this command; given the files of two people it says how far they agree.
    """
    shown = {"tables": tables, "json": json, "full": False}
    if not any(source.is_dir() for source in sources):
        _refuse_sampling_options(context, sources[0])
        _show_decisions(sources, plot, shown)
        return
    if len(sources) > 1:
        raise AcidtestError("draw from one run at a time; two arguments are two people's files of one sample")
    path = output or OUTPUT
    sample = error_sample(
        sources[0], output=path, suites=suite or (), n=n, by=by or None, seed=seed, prefill=prefill, fresh=fresh
    )
    _show_decisions([path], plot, shown)
    if json:
        return
    origin = "" if suite else _describe_origin(sample["suite"].unique(maintain_order=True).to_list())
    if origin:
        echo("", origin)
    if not prefill:
        echo("", f"Now fill in the column category, then: acidtest errors {path}")


def _show_decisions(samples: Sequence[Path], plot: Path | None, output: dict[str, Any]) -> None:
    """Print the distribution in one file, or the agreement of two."""
    study = STUDIES["errors"]
    if len(samples) > 2:
        raise AcidtestError(f"one file is counted and two are compared; {len(samples)} were given")
    if len(samples) == 2:
        if plot is not None:
            raise AcidtestError("--plot draws the distribution in one file; two were given")
        show(study, error_agreement(*samples), output)
        return
    result = error_typology(samples[0])
    if plot is not None:
        from acidtest.render.files import write_chart

        write_chart(study.document(result), plot)
    show(study, result, output)


def _refuse_sampling_options(context: typer.Context, source: Path) -> None:
    """Refuse sampling options on the command line; those from acidtest.toml or variables may be for other commands."""
    typed = [
        option
        for name, option in SAMPLING.items()
        if (origin := context.get_parameter_source(name)) is not None and origin.name == "COMMANDLINE"
    ]
    if typed:
        says = f"{', '.join(typed)} {'says' if len(typed) == 1 else 'say'} how to draw from a run"
        raise AcidtestError(f"{says}, and {source} is no folder; a sorted file is counted as it is")


def _describe_origin(suites: Sequence[str]) -> str:
    """A sentence on the suites that a default sample was drawn from; empty if none of them is a control."""
    controls = [name for name in suites if name.endswith(CONTROL)]
    if not controls:
        return ""
    others = [name for name in suites if not name.endswith(CONTROL)]
    also = f" and from {', '.join(others)}" if others else ""
    changed = controls[0].removesuffix(CONTROL)
    return f"Drawn from the untouched pairs ({', '.join(controls)}){also}; for changed ones: --suite {changed}"
