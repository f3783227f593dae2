"""The taxonomy, and what annotated pairs are made of, as a person reads them on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from acidtest.core.estimate import Estimate
from acidtest.reports.numerals import NONE, counted, interval, percent, share
from acidtest.studies.taxonomy import CategoryCounts, Correlation, Node, PublishedNumber, TaxonomyStatistics

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

_STRONGEST = 6
FEATURES = {"same_topic": "same topic", "same_subject": "same subject", "same_object": "same object"}


def tree_tables(nodes: Sequence[Node]) -> list[RenderableType]:
    """The tree with its definitions, a line for each place of it."""
    from rich.table import Table
    from rich.text import Text

    depth = {"": -1}
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column()
    for node in nodes:
        depth[node.name] = depth[node.parent] + 1
        group = node.kind == "group"
        name = Text("  " * depth[node.name] + (node.title if group else node.name), style="bold" if group else "")
        told = node.definition if node.annotated else f"{node.definition} Defined, not annotated."
        table.add_row(name, Text(told, style="dim" if group else ""))
    return [table, Text("\nacidtest taxonomy NAME tells more of one, with examples.", style="dim")]


def node_tables(node: Node, path: Sequence[str], members: Sequence[Node]) -> list[RenderableType]:
    """One place of the tree: its definition, its examples, and what other schemes have near it."""
    from rich.text import Text

    parts: list[RenderableType] = [Text(node.title, style="bold")]
    if path or node.column:
        column = f"column {node.column} of the published file" if node.column else ""
        parts.append(Text(" · ".join(filter(None, (" › ".join(path), column))), style="dim"))
    parts.append(Text(node.definition if node.annotated else f"{node.definition} Defined, not annotated."))
    if members:
        parts.append(Text("Holds: " + ", ".join(each.name for each in members)))
    for example in node.examples:
        other = f", also {', '.join(example.also)}" if example.also else ""
        told = example.label + ("" if example.marked else f"; not {node.title.lower()}") + other
        parts.append(Text(f"\n  premise     {example.premise}\n  hypothesis  {example.hypothesis}\n  {told}"))
    if node.other_names:
        parts.append(Text("\nNear it elsewhere (appendix A, table 4; which category is whose is our reading):"))
    for name in node.other_names:
        note = f"; {name.note}" if name.note else ""
        parts.append(Text(f"  {name.scheme}: {name.name} ({', '.join(name.levels)}){note}"))
    return parts


def statistics_tables(found: TaxonomyStatistics) -> list[RenderableType]:
    """What annotated pairs are made of."""
    from rich.text import Text

    labels = ", ".join(f"{count:,} {label}" for label, count in found.labels.items())
    parts: list[RenderableType] = [
        Text.assemble((found.name, "bold"), f"  {counted(found.pairs, 'pair')} ({labels})"),
        Text(f"{per_pair_told(found)}\n"),
        _category_table(found),
    ]
    parts += [Text(f"  {note}", style="dim") for note in found.notes]
    strong, clear = strongest(found), sum(each.clear for each in found.correlations)
    if strong:
        parts += [Text("\nCategories that go together or exclude each other (phi; clear of 0 among all pairs)")]
        parts.append(_correlation_table(strong, genres=bool(found.genres)))
    if clear > len(strong):
        parts.append(Text(f"  and {clear - len(strong):,} more; --json and the page (-o) have all", style="dim"))
    if found.features:
        parts.append(Text("\nNeutral pairs"))
        parts += [Text(f"  {FEATURES[name]:<14}{feature_told(one)}") for name, one in found.features.items()]
    parts += [Text(f"\n{line}") for line in other_lines(found)]
    if found.published:
        parts += [Text("\nBeside Joshi et al. (2020)"), _published_table(found)]
    parts.append(Text(f"  {found.signature}", style="dim"))
    return parts


def per_pair_told(found: TaxonomyStatistics) -> str:
    """Categories per pair, and how many pairs have none, one, two and more."""
    mean = found.per_pair
    reach = f" ({mean.low:.2f}–{mean.high:.2f})" if mean.low == mean.low else ""
    counts = [found.distribution.get(number, 0) for number in range(3)]
    more = found.pairs - sum(counts)
    value = f"{mean.value:.2f}" if mean.known else NONE
    have = f"{counted(counts[0], 'pair')} {'has' if counts[0] == 1 else 'have'}"
    return f"{value}{reach} categories per pair; {have} none, {counts[1]:,} one, {counts[2]:,} two, {more:,} more"


def strongest(found: TaxonomyStatistics, most: int = _STRONGEST) -> list[Correlation]:
    """The strongest correlations that are clear of 0, positive ones first."""
    clear = sorted((each for each in found.correlations if each.clear), key=lambda each: -each.phi.value)
    up = [each for each in clear if each.phi.value > 0][:most]
    return up + [each for each in clear if each.phi.value < 0][-most:]


def genres_told(each: Correlation, most: int = 2) -> str:
    """Where the pairs that have both come from."""
    told = [f"{genre} {share(count / each.both)} %" for genre, count in each.genres.items() if each.both]
    return ", ".join(told[:most])


def phi_told(value: Estimate) -> str:
    """``0.22``, with a real minus, or a dash."""
    return f"{round(value.value, 2) + 0.0:.2f}".replace("-", "−") if value.known else NONE


def feature_told(one: Estimate) -> str:
    """``3,087 of 3,201 (96.4 %, 95.7–97.0)``."""
    if not one.known:
        return f"{NONE} ({one.note})"
    return f"{round(one.value * one.n):,} of {one.n:,} ({percent(one)} %, {interval(one)})"


def other_lines(found: TaxonomyStatistics) -> list[str]:
    """The annotators' own labels, and pairs that stand in other files."""
    lines = []
    if found.inference:
        told = f"The annotators' own label is gold in {percent(found.inference)} % ({interval(found.inference)})"
        if found.judged and found.judged.known and found.judged.n < found.inference.n:
            told += f", but for neutral pairs in {percent(found.judged)} % ({interval(found.judged)})"
        lines.append(told)
    lines += [f"{count:,} of {found.pairs:,} pairs stand in {name}, too" for name, count in found.overlaps.items()]
    return lines


def published_told(each: PublishedNumber, own: float | None) -> tuple[str, str, str]:
    """A number of the paper: what it is, what it is here, what it is there."""
    by = dict(part.split("=", 1) for part in each.by.split("&"))
    name = FEATURES.get(by.pop("statistic"), by.get("statistic", "")) or each.by.partition("&")[0].partition("=")[2]
    what = ", ".join([name, *by.values()])
    is_share = "accuracy" in what or "share" in what
    here, there = (NONE if value is None else _number(value, is_share) for value in (own, each.value))
    return what, here, there


def _number(value: float, is_share: bool) -> str:
    if is_share:
        return f"{share(value)} %"
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}".rstrip("0")


def _category_table(found: TaxonomyStatistics) -> Table:
    return _table(
        ["category", "pairs", "% of all (95 %)", *found.labels, "alone"],
        ([each.name, f"{each.pairs:,}", _share(each), *_labels(each), f"{each.alone:,}"] for each in found.categories),
    )


def _share(each: CategoryCounts) -> str:
    return f"{percent(each.share)} ({interval(each.share)})" if interval(each.share) else percent(each.share)


def _labels(each: CategoryCounts) -> list[str]:
    return [f"{count:,}" for count in each.labels.values()]


def _correlation_table(shown: Sequence[Correlation], *, genres: bool) -> Table:
    titles = ["categories", "phi", "95 %", "both", *(["mostly from"] if genres else [])]
    rows = (
        [f"{each.first} – {each.second}", phi_told(each.phi), _reach(each.phi), f"{each.both:,}", genres_told(each)]
        for each in shown
    )
    return _table(titles, (row[: len(titles)] for row in rows), words=("categories", "mostly from"))


def _reach(phi: Estimate) -> str:
    return f"{phi.low:.2f} to {phi.high:.2f}".replace("-", "−") if phi.low == phi.low else ""


def _published_table(found: TaxonomyStatistics) -> Table:
    rows = ([*published_told(each, found.numbers.get(each.by)), each.note] for each in found.published)
    return _table(["", "here", "published", "note"], rows, words=("", "note"))


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]], words: Sequence[str] = ("category",)) -> Table:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, padding=(0, 2), header_style="dim")
    for title in titles:
        wraps = title == "note"
        table.add_column(title, justify="left" if title in words else "right", no_wrap=not wraps)
    for row in rows:
        table.add_row(*map(escape, row))
    return table
