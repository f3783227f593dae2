"""How far people agree, as tables for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acidtest.analysis.agreement import Agreement
from acidtest.core.estimate import Estimate
from acidtest.reports.numerals import NONE, counted, interval, percent, published

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

OVERALL = "overall"


def agreement_tables(found: Agreement) -> list[RenderableType]:
    """Kappa overall and by label, agreement and human performance, published numbers beside them."""
    from rich.markup import escape
    from rich.text import Text

    head = f"[bold]{escape(found.name)}[/]  {escape(_rows(found))}"
    human = f"human performance   {_share(found.human)}"
    paper = found.published_value("human performance")
    lines: list[RenderableType] = [Text.from_markup(head, emoji=False)]
    if found.questionnaire:
        lines.append(Text(_judged(found)))
    lines += [
        _table(found),
        Text(f"observed agreement  {_share(found.observed)}"),
        Text(human if paper is None else f"{human}; published {published(paper)} %"),
    ]
    return [*lines, *(Text(f"  {note}", style="dim") for note in _notes(found))]


def _table(found: Agreement) -> Table:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2), header_style="dim")
    table.add_column("label")
    settled = not found.all_have_gold
    columns = ["given", "gold", "kappa", "95 % interval", *(["rows with gold"] if settled else [])]
    columns += ["published"] if found.published else []
    for column in columns:
        table.add_column(column, justify="right")
    for name, each in found.labels.items():
        cells = [f"{each.given:,}", f"{each.gold:,}", kappa(each.kappa), _reach(each.kappa)]
        cells += [kappa(each.kappa_with_gold)] if settled else []
        table.add_row(name, *cells, *(_published(found, name) if found.published else ()))
    cells = [f"{found.given:,}", f"{found.with_gold:,}", kappa(found.kappa), _reach(found.kappa)]
    cells += [kappa(found.kappa_with_gold)] if settled else []
    table.add_row(OVERALL, *cells, *(_published(found, None) if found.published else ()))
    return table


def kappa(value: Estimate) -> str:
    """``0.612``, or a dash where there is no value."""
    return _number(value.value, 3) if value.known else NONE


def _reach(value: Estimate) -> str:
    return f"{_number(value.low, 2)} to {_number(value.high, 2)}" if value.low == value.low else ""


def _number(value: float, digits: int) -> str:
    # Adding 0 turns a rounded −0.00 into 0.00.
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")


def _published(found: Agreement, label: str | None) -> list[str]:
    value = found.published_value("kappa", label)
    return [NONE if value is None else f"{value:.2f}"]


def _share(value: Estimate) -> str:
    if not value.known:
        return f"{NONE} ({value.note})"
    return f"{percent(value)} % ({interval(value) or value.note})"


def _rows(found: Agreement) -> str:
    each = f"{found.fewest}" if found.fewest == found.most else f"{found.fewest} to {found.most}"
    told = f"{counted(found.rows, 'row')}, {each} labels each" if found.rated else counted(found.rows, "row")
    left_out = found.rows - found.rated
    return told if not left_out else f"{told}; {counted(left_out, 'row')} with fewer than two labels left out"


def _judged(found: Agreement) -> str:
    total = sum(found.discarded.values())
    reasons = ", ".join(f"{reason} {number:,}" for reason, number in found.discarded.items())
    discarded = f"{counted(total, 'item')} discarded ({reasons})" if total else "no item discarded"
    without = found.rows - found.with_gold
    return f"asked with {found.questionnaire}: {discarded}, {found.with_gold:,} with gold, {without:,} without"


def _notes(found: Agreement) -> list[str]:
    """Where gold comes from, what other people found on what, and what tells this apart from any other."""
    notes = [f"gold: {found.gold_from}"]
    notes += [f"{OVERALL}: {found.kappa.note}"] if found.kappa.note else []
    odd = {name: each.kappa.note for name, each in found.labels.items()}
    notes += [f"{name}: {note}" for name, note in odd.items() if note not in ("", found.kappa.note)]
    pairs = found.published_value("pairs")
    if found.published and pairs is not None:
        notes.append(f"published: {found.corpus}, {pairs:,.0f} pairs; {found.published[0].source}")
    return [*notes, found.signature]
