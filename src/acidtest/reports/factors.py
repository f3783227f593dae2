"""Accuracy by category, coefficients and the network's estimates as tables for the terminal, the paper's beside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from acidtest.core.estimate import Estimate
from acidtest.reports.factors_papers import (
    agreements,
    has_published,
    published_directions,
    published_stars,
    star_sources,
)
from acidtest.reports.numerals import NONE, counted, interval, percent, share
from acidtest.studies.factors_results import Factors, ModelFactors, Term

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

OVERALL, UNMARKED = "all rows", "no category"


def factor_tables(found: Factors) -> list[RenderableType]:
    """For each suite accuracy by category, both analyses and the network, models side by side."""
    from rich.markup import escape
    from rich.text import Text

    parts: list[RenderableType] = []
    for suite in dict.fromkeys(each.suite for each in found.found):
        own = [each for each in found.found if each.suite == suite]
        parts += [Text.from_markup(f"[bold]{escape(suite)}[/]  {rows_told(own)}", emoji=False)]
        parts += [Text(f"  {own[0].caution}", style="dim")] if own[0].caution else []
        parts += [Text("")]
        parts += [Text("  Accuracy by category, % (95 %); figure 5"), _accuracies(own), Text("")]
        parts += [Text("  Logistic regression of being right: coefficient ± standard error; figures 6 and 9")]
        parts += [_coefficients(own, "logistic"), Text("")]
        parts += [Text("  Linear discriminant of being right: coefficient ± standard error")]
        parts += [_coefficients(own, "discriminant"), Text("")]
        parts += [
            Text("  P(right | category), %: frequency → Bayesian network (95 %); figure 8"),
            _network(own),
            Text(""),
        ]
        parts += [line for each in own for line in _notes(each)]
    return [*parts, *_footnotes(found)]


def rows_told(own: Sequence[ModelFactors]) -> str:
    """``7,727 rows``, and that these are the ones that all models have, where some have more."""
    told = counted(own[0].overall.n, "row")
    return f"{told}, those that all models were asked" if any(each.aside for each in own) else told


def _accuracies(own: Sequence[ModelFactors]) -> Table:
    table = _table("category", own, extra=["rows"])
    first = own[0]
    for name, value in {OVERALL: first.overall, **first.accuracy, UNMARKED: first.unmarked}.items():
        cells = [cell(accuracy_of(each, name)) for each in own]
        table.add_row(name, f"{value.n:,}", *cells, style="dim" if name in (OVERALL, UNMARKED) else None)
    return table


def accuracy_of(each: ModelFactors, name: str) -> Estimate | None:
    """The accuracy of a category, of all rows or of those with none."""
    return {OVERALL: each.overall, UNMARKED: each.unmarked, **each.accuracy}.get(name)


def _coefficients(own: Sequence[ModelFactors], analysis: str) -> Table:
    stars = published_stars() if analysis == "logistic" and has_published(own) else {}
    directions = published_directions() if stars else {}
    extra = [star_sources()[system].replace("figure", "fig.") for system in stars]
    table = _table("factor", own, after=[*extra, *(["§ 4.2"] if directions else [])])
    for name in dict.fromkeys(factor.name for each in own for factor in each.factors):
        terms = [_term(each, name, analysis) for each in own]
        theirs = ["*" * theirs.get(name, 0) for theirs in stars.values()]
        signs = [{1: "+", -1: "−"}.get(directions.get(name, 0), "")] if directions else []
        table.add_row(name, *(coefficient(term, stars=analysis == "logistic") for term in terms), *theirs, *signs)
    return table


def _term(each: ModelFactors, name: str, analysis: str) -> Term | None:
    terms = {factor.name: getattr(factor, analysis) for factor in each.factors}
    return terms.get(name)


def coefficient(term: Term | None, *, stars: bool = True) -> str:
    """``−0.302 ± 0.073***``, with as many digits as its error needs; a dash where there is none."""
    if term is None or not term.value.known:
        return NONE
    return f"{number(term.value.value, term.error)} ± {number(term.error, term.error)}{term.stars if stars else ''}"


def number(value: float, error: float) -> str:
    """A coefficient with two digits of its error beyond the first, three decimals at least, six at most."""
    digits = next((digits for digits in range(3, 6) if error >= 10.0 ** (1 - digits)), 6)
    shown = f"{value:.{digits}f}"
    return shown.replace("-", "−") if float(shown) else shown.replace("-", "")


def _network(own: Sequence[ModelFactors]) -> Table:
    table = _table("category", own, after=["weight of unseen"])
    for name in own[0].accuracy:
        chances = {each.model: each.network.chances[name] for each in own if name in each.network.chances}
        cells = [
            f"{percent(accuracy_of(each, name))} → {cell(chances[each.model].network)}"
            if each.model in chances
            else NONE
            for each in own
        ]
        table.add_row(name, *cells, f"{share(next(iter(chances.values())).unseen)} %")
    return table


def _table(title: str, own: Sequence[ModelFactors], *, extra: Sequence[str] = (), after: Sequence[str] = ()) -> Table:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, padding=(0, 1), header_style="dim")
    table.add_column(f"  {title}")
    for name in (*extra, *(escape(each.model) for each in own)):
        table.add_column(name, justify="right", no_wrap=True)
    for name in after:
        table.add_column(name, justify="left" if name != "weight of unseen" else "right")
    return table


def cell(value: Estimate | None) -> str:
    """``81.4 (80.5–82.2)``, or a dash."""
    within = interval(value)
    return f"{percent(value)} ({within})" if within else percent(value)


def _notes(each: ModelFactors) -> Iterator[RenderableType]:
    from rich.markup import escape
    from rich.text import Text

    yield Text.from_markup(f"[bold]{escape(each.model)}[/]  {escape(model_told(each))}", emoji=False)
    yield from (Text(f"  • {line}") for line in (*agreements(each), *each.notes))


def model_told(each: ModelFactors) -> str:
    """What stands of a model besides its tables: what the columns explain, what holds corrected and over groups."""
    held = [factor.name for factor in each.factors if factor.logistic.p_adjusted < 0.05]
    parts = [f"pseudo-R² {each.explained:.3f}"] if each.explained == each.explained else []
    parts += [f"below 0.05 after Holm's correction: {', '.join(held) or 'none'}"]
    if each.grouped:
        groups = [f.name for f in each.factors if (f.logistic.p < 0.05) != (f.logistic.p_groups < 0.05)]
        told = f"differs for {', '.join(groups)}" if groups else "is the same"
        parts.append(f"what is below 0.05 {told} when rows of one group vary together")
    return "; ".join(parts)


def network_told(each: ModelFactors) -> str:
    """The prior, and how many configurations were seen."""
    net = each.network
    return f"prior {net.prior.told}; {net.seen:,} of {net.possible:,} configurations of categories occur"


def _footnotes(found: Factors) -> Iterator[RenderableType]:
    from rich.text import Text

    yield Text("  Stars: p < .001 ***, < .01 **, < .05 *, Wald, uncorrected as in the paper.", style="dim")
    yield Text(f"  Network: {network_told(found.found[0])}; weights: categories independent.", style="dim")
    if not has_published(found.found):
        return
    told = "; ".join(f"{where} is of {system}" for system, where in star_sources().items())
    yield Text(f"  Published: Joshi, Aditya, Sathe and Choudhury 2020; {told}.", style="dim")
    yield Text("  § 4.2: + a strong indicator of being right, − harder, as the paper says of BERT.", style="dim")
