"""Easy and hard antonyms as tables for the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from acidtest.core.estimate import Estimate
from acidtest.core.suite import Card
from acidtest.io.published import published_differences, published_scores
from acidtest.reports.numerals import NONE, counted, interval, p_value, percent, published
from acidtest.studies.antonym_types import TYPES, AntonymTypes
from acidtest.studies.antonyms import EASY, HARD, MIXED, Antonyms, Part, Rivalry

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

SUITE = "stress/antonymy"

_WHO = {EASY: "all models", MIXED: "some", HARD: "none"}


def antonym_tables(found: Antonyms) -> list[RenderableType]:
    """Antonyms by who gets them right, in rows and in pairs, and for two models whose are the more frequent."""
    from rich.markup import escape
    from rich.text import Text

    models = ", ".join(f"{name} {_cell(accuracy)}" for name, accuracy in found.models.items())
    parts: list[RenderableType] = [
        Text.from_markup(f"[bold]Antonyms[/]  {found.pairs.height:,} pairs, {escape(models)}", emoji=False)
    ]
    parts += [Text(f"  {note}", style="dim") for note in found.notes]
    parts += [Text(""), Text("  Rows by who is right, and the antonyms in them:")]
    parts += [_parts({_WHO[status]: part for status, part in found.by_row.items()}, found, beside=True)]
    parts += [Text(""), Text("  Antonyms by who is right on more than half of their rows:")]
    parts += [_parts({_WHO[status]: part for status, part in found.by_pair.items()}, found)]
    if found.rivalry:
        parts += [Text(""), *_rivalry(found.rivalry, found)]
    if found.train:
        said = (
            f"  Training set: {found.train}, {found.train_contradictions:,} contradictions. Seen: one word stands in "
        )
        said += "the premise of a contradiction and the other in its hypothesis, in any inflection."
        parts.append(Text(said, style="dim"))
        parts += _how_published_differ(found.card, "seen")
    return parts


def type_tables(found: AntonymTypes) -> list[RenderableType]:
    """The types of easy, mixed and hard antonyms, the paper's beside them."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 1), header_style="dim")
    table.add_column("type")
    for status, shares in found.shares.items():
        n = next(iter(shares.values())).n
        table.add_column(f"{status} ({n:,})", justify="right")
    for status in (EASY, HARD):
        table.add_column(f"{status}, published", justify="right")
    for name in TYPES:
        cells = (_cell(shares[name]) for shares in found.shares.values())
        table.add_row(name, *cells, *(_paper(pairs=status, type=name) for status in (EASY, HARD)))
    parts: list[RenderableType] = [Text.from_markup("[bold]Types of antonyms[/]", emoji=False), table]
    left = ", ".join(f"{count:,} {status}" for status, count in found.untyped.items() if count)
    parts += [Text(f"  without a type: {left}", style="dim")] if left else []
    if found.not_asked:
        parts.append(Text(f"  not in the runs, left out: {counted(found.not_asked, 'typed pair')}", style="dim"))
    # The table does not say what corpus the pairs are from.
    return [*parts, *_how_published_differ(Card(SUITE, arguments={"from": ""}), "type")]


def _how_published_differ(card: Card, *slices: str) -> list[RenderableType]:
    """Whose the published numbers are, and how they differ from those beside them."""
    from rich.text import Text

    scores = [score for score in published_scores(SUITE) if set(slices) <= set(score.by)]
    where = dict.fromkeys(f"{score.system}, {score.source}" for score in scores)
    told = "; ".join([*where, *published_differences(card, slices)])
    return [Text(f"  Published: {told}.", style="dim")]


def _parts(parts: Mapping[str, Part], found: Antonyms, *, beside: bool = False) -> Table:
    """A line for each part; ``beside``: the paper's share of antonyms seen in training too."""
    from rich.table import Table

    table = Table(box=None, padding=(0, 2), header_style="dim")
    table.add_column("right")
    titles = ["rows", "antonyms"]
    titles += ["seen in training", "contradictions each"] if found.train else []
    titles += ["seen, published"] if found.train and beside else []
    for title in titles:
        table.add_column(title, justify="right")
    statuses = {who: status for status, who in _WHO.items()}
    for name, part in parts.items():
        cells = [f"{part.rows:,}", f"{part.pairs:,}"]
        if found.train:
            cells += [_cell(part.seen), _number(part.frequency)]
        if found.train and beside:
            cells += [_paper(pairs=statuses[name], seen="in training contradictions")]
        table.add_row(name, *cells)
    return table


def _rivalry(rivalry: Rivalry, found: Antonyms) -> list[RenderableType]:
    from rich.markup import escape
    from rich.text import Text

    title = f"  Known to [bold]{escape(rivalry.stronger)}[/] (the stronger) and [bold]{escape(rivalry.weaker)}[/]:"
    parts: list[RenderableType] = [Text.from_markup(title, emoji=False), _parts(rivalry.parts, found)]
    weaker, other = rivalry.parts["the weaker"].frequency, rivalry.parts["only the stronger"].frequency
    if weaker and other and weaker.known and other.known:
        said = _how_often(weaker.value, other.value)
        parts.append(Text(f"  {said} (p {p_value(rivalry.p)}; published: nearly twice as often)."))
    return parts


def _how_often(weaker: float, other: float) -> str:
    """How the two means compare, in words; nothing is a multiple of 0."""
    if other:
        times = f"{weaker / other:.1f} times as often"
        return f"Antonyms the weaker knows occur {times} in training as those only the stronger knows"
    if weaker:
        return "Antonyms the weaker knows occur in training, those only the stronger knows do not"
    return "Neither the antonyms the weaker knows nor those only the stronger knows occur in training"


def _cell(value: Estimate | None) -> str:
    within = interval(value)
    shown = f"{percent(value)} %" if value and value.known else NONE
    return f"{shown} ({within})" if within else shown


def _number(value: Estimate | None) -> str:
    """A mean with its interval."""
    if value is None or not value.known:
        return NONE
    within = f" ({value.low:.1f}–{value.high:.1f})" if value.low == value.low else ""
    return f"{value.value:.1f}{within}"


def _paper(**by: str) -> str:
    """The paper's number on a slice."""
    found = next((score.value for score in published_scores(SUITE) if score.by == by), None)
    return f"{published(found)} %" if found is not None else NONE
