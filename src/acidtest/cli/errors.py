"""``acidtest errors``: a sample of a run's errors to sort by hand, and what people made of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from acidtest import api
from acidtest.cli.options import Json, Quiet, Seed, Verbose, console, echo, print_json, set_up_logging
from acidtest.core.errors import AcidtestError
from acidtest.core.suite import CONTROL

if TYPE_CHECKING:
    from rich.console import RenderableType

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


DRAWING = {
    "output": "-o",
    "suite": "--suite",
    "n": "-n",
    "by": "--by",
    "prefill": "--prefill",
    "fresh": "--fresh",
    "seed": "--seed",
}
"""Options that say how to draw a sample, which a file that is there already does not listen to."""


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
    json: Json = False,
    verbose: Verbose = 0,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> None:
    """Sample a run's errors and propose what led to each; or count what people decided on such a sample.

    The categories are those of Naik et al. (2018), section 2. Edit the column category of the sample, then give the
    file to this command; given the files of two people it says how far they agree.
    """
    set_up_logging(verbose, quiet)
    if any(source.is_dir() for source in sources):
        run = _only(sources)
        path = output or OUTPUT
        drawn = api.error_sample(
            run, output=path, suites=suite or (), n=n, by=by or None, seed=seed, prefill=prefill, fresh=fresh
        )
        sources = [path]
        from_where = "" if suite or json else _untouched(drawn["suite"].unique(maintain_order=True).to_list())
    else:
        _refuse_drawing(context, sources[0])
        run, from_where = None, ""
    found = _told(sources, plot=plot, json=json)
    if not json:
        out = console()
        for part in found:
            out.print(part)
        if from_where:
            echo(f"\n{from_where}")
        if run is not None and not prefill:
            echo(f"\nNow fill in the column category, then: acidtest errors {sources[0]}")


def _refuse_drawing(context: typer.Context, source: Path) -> None:
    """What stands in acidtest.toml or in a variable may be meant for other commands; what was typed is not."""
    typed = [
        option
        for name, option in DRAWING.items()
        if (origin := context.get_parameter_source(name)) is not None and origin.name == "COMMANDLINE"
    ]
    if typed:
        said = f"{', '.join(typed)} {'says' if len(typed) == 1 else 'say'} how to draw from a run"
        raise AcidtestError(f"{said}, and {source} is no folder; a sorted file is counted as it is")


def _untouched(suites: Sequence[str]) -> str:
    """Where a sample comes from when nobody has said, where that is not the suites as they were asked; else nothing."""
    own = [name for name in suites if name.endswith(CONTROL)]
    others = [name for name in suites if not name.endswith(CONTROL)]
    if not own:
        return ""
    also = f" and from {', '.join(others)}" if others else ""
    named = own[0].removesuffix(CONTROL)
    return f"Drawn from the untouched pairs ({', '.join(own)}){also}; for changed ones: --suite {named}"


def _only(sources: Sequence[Path]) -> Path:
    if len(sources) > 1:
        raise AcidtestError("draw from one run at a time; two arguments are two people's files of one sample")
    return sources[0]


def _told(sources: Sequence[Path], *, plot: Path | None, json: bool) -> list[RenderableType]:
    """The distribution in one file, or the agreement of two; printed already where JSON is asked for."""
    if len(sources) > 2:
        raise AcidtestError(f"one file is counted and two are compared; {len(sources)} were given")
    if len(sources) == 2:
        if plot is not None:
            raise AcidtestError("--plot draws the distribution in one file; two were given")
        compared = api.error_agreement(*sources)
        if json:
            print_json(compared.to_json())
        return api.agreement_tables(compared)
    found = api.error_typology(sources[0])
    if plot is not None:
        api.typology_plot(found, plot)
    if json:
        print_json(found.to_json())
    return api.typology_tables(found)
