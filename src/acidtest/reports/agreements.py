"""How far people agree, as tables for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acidtest.reports.agreement_words import (
    discards_told,
    has_label_agreement,
    kappa,
    lines,
    notes,
    reach,
    rows_told,
    share_rows,
    slice_rows,
)
from acidtest.reports.numerals import NONE
from acidtest.studies.agreement import Agreement
from acidtest.studies.category_agreement import CategoryAgreement

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

OVERALL, MEAN = "overall", "mean"
_WIDTH = 20


def agreement_tables(found: Agreement) -> list[RenderableType]:
    """Kappa of labels and of categories, and what else there is to say, published numbers beside them."""
    from rich.markup import escape
    from rich.text import Text

    head = f"[bold]{escape(found.name)}[/]  {escape(rows_told(found))}"
    shown: list[RenderableType] = [Text.from_markup(head, emoji=False)]
    if found.questionnaire:
        shown.append(Text(discards_told(found)))
    if has_label_agreement(found):
        shown.append(_labels(found))
    if found.categories and found.categories.rated:
        shown.append(_categories(found, found.categories))
        shown += [_features(found.categories)] if found.categories.features else []
    for heads, rows in (slice_rows(found), share_rows(found)):
        if rows:
            shown.append(_plain_table(heads, rows))
    shown += [Text(f"{name:<{_WIDTH}}{told}") for name, told in lines(found).items()]
    return [*shown, *(Text(f"  {note}", style="dim") for note in notes(found))]


def _labels(found: Agreement) -> Table:
    settled, papers = not found.all_have_gold, found.published_value("kappa") is not None
    columns = ["given", "gold", "kappa", "95 % interval", *(["rows with gold"] if settled else [])]
    table = _table("label", [*columns, *(["published"] if papers else [])])
    for name, each in found.labels.items():
        cells = [f"{each.given:,}", f"{each.gold:,}", kappa(each.kappa), reach(each.kappa)]
        cells += [kappa(each.kappa_with_gold)] if settled else []
        table.add_row(name, *cells, *(_published(found, name) if papers else ()))
    cells = [f"{found.given:,}", f"{found.with_gold:,}", kappa(found.kappa), reach(found.kappa)]
    cells += [kappa(found.kappa_with_gold)] if settled else []
    table.add_row(OVERALL, *cells, *(_published(found, None) if papers else ()))
    return table


def _categories(found: Agreement, own: CategoryAgreement) -> Table:
    two = any(each.cohen for each in own.categories.values())
    paper = found.published_value("mean kappa")
    columns = ["marked", "kappa", "95 % interval", "alpha", *(["Cohen"] if two else [])]
    table = _table("category", [*columns, *(["published"] if paper is not None else [])])
    for name, each in own.categories.items():
        cohen = [kappa(each.cohen)] if two else []
        beside = [NONE] if paper is not None else []
        table.add_row(
            name, f"{each.marked:,}", kappa(each.kappa), reach(each.kappa), kappa(each.alpha), *cohen, *beside
        )
    given = f"{sum(each.marked for each in own.categories.values()):,}"
    ends = [*([""] if two else []), *([f"{paper:.3f}"] if paper is not None else [])]
    table.add_row(MEAN, given, kappa(own.kappa), reach(own.kappa), kappa(own.alpha), *ends)
    return table


def _features(own: CategoryAgreement) -> Table:
    """What neutral pairs have in common: apart, since these are no categories."""
    two = any(each.cohen for each in own.features.values())
    table = _table("of neutral pairs", ["marked", "kappa", "95 % interval", "alpha", *(["Cohen"] if two else [])])
    for name, each in own.features.items():
        cohen = [kappa(each.cohen)] if two else []
        table.add_row(name, f"{each.marked:,}", kappa(each.kappa), reach(each.kappa), kappa(each.alpha), *cohen)
    return table


def _plain_table(heads: list[str], rows: list[list[str]]) -> Table:
    from rich.text import Text

    table = _table(heads[0], heads[1:])
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def _table(first: str, columns: list[str]) -> Table:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2), header_style="dim")
    table.add_column(first)
    for column in columns:
        table.add_column(column, justify="right")
    return table


def _published(found: Agreement, label: str | None) -> list[str]:
    value = found.published_value("kappa", label)
    return [NONE if value is None else f"{value:.2f}"]
