"""Annotated pairs as a document: table 2 and figures 3 and 4 of Joshi et al. (2020); and the taxonomy itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from acidtest.core.document import (
    Chart,
    Column,
    Document,
    Note,
    Part,
    Published,
    Reference,
    Row,
    Section,
    Table,
    Unit,
    describe_count,
)
from acidtest.core.errors import UnknownNameError
from acidtest.core.estimate import Estimate
from acidtest.studies.taxonomy import Correlation, PublishedStatistic, TaxonomyResult
from acidtest.text.category_rules import PREFIX, rule_descriptions
from acidtest.text.taxonomy import NEUTRAL_FEATURES, CategoryExample, Node, members, node, path

STRONGEST = 6
"""Correlations shown of each sign."""


def document(result: TaxonomyResult) -> Document:
    """Categories, correlations, genres and neutral pairs of an annotated set, and the paper's numbers beside them."""
    labels = ", ".join(f"{count:,} {label}" for label, count in result.labels.items())
    sections = [
        _category_section(result),
        _correlation_section(result),
        _genre_section(result),
        _neutral_section(result),
        _published_section(result),
        _definition_section(result),
    ]
    return Document(
        title="acidtest taxonomy",
        headline=f"{result.name}: {describe_count(result.pairs, 'pair')} ({labels}), {_describe_mean(result)}.",
        parts=tuple(section for section in sections if section),
        signatures={result.name: result.signature},
        methods=(
            "Phi is the correlation of two columns of 0 and 1. Pairs of one premise are one group. Clear correlations "
            "are those whose interval leaves 0 out at Bonferroni's level for all pairs of categories.",
        ),
    )


def _category_section(result: TaxonomyResult) -> Section:
    columns = [Column("pairs", "count"), Column("% of all")]
    columns += [Column(label, "count") for label in result.labels]
    rows = tuple(
        Row(name, (counts.pairs, counts.share, *counts.labels.values(), counts.alone), heading=heading(name))
        for name, counts in result.categories.items()
    )
    caption = "Pairs of each category, of each label, and without another category (figure 3); a pair may have several"
    table = Table("categories", caption, (*columns, Column("alone", "count")), rows, "category")
    numbers = tuple(Row(str(number), (count,)) for number, count in result.distribution.items())
    distribution = Table(
        "distribution", "Pairs by number of categories", (Column("pairs", "count"),), numbers, "number"
    )
    chart = Chart(table.id, "stack", tuple(result.labels), axis="pairs of each category, by label")
    notes = [Note(_sentence(text)) for text in (_describe_distribution(result), *result.notes, *_other_facts(result))]
    return Section("Categories", (*notes, table, chart, distribution))


def _describe_mean(result: TaxonomyResult) -> str:
    mean = result.per_pair
    return f"{mean.value:.2f} categories per pair" if mean.known else "no categories"


def _describe_distribution(result: TaxonomyResult) -> str:
    """Categories per pair with the interval, and how many pairs have none, one, two and more."""
    mean = result.per_pair
    interval = f" ({mean.low:.2f}–{mean.high:.2f})" if mean.low == mean.low else ""
    value = f"{mean.value:.2f}" if mean.known else "–"
    none, one, two = (result.distribution.get(number, 0) for number in range(3))
    have = f"{describe_count(none, 'pair')} {'has' if none == 1 else 'have'}"
    more = result.pairs - none - one - two
    return f"{value}{interval} categories per pair; {have} none, {one:,} one, {two:,} two, {more:,} more"


def _other_facts(result: TaxonomyResult) -> Iterator[str]:
    """How often the annotators' own label is gold, and how many pairs are in other files."""
    if result.inference:
        text = f"The annotators' own label is gold in {_describe_share(result.inference)}"
        if result.judged and result.judged.known and result.judged.n < result.inference.n:
            text += f", without neutral pairs in {_describe_share(result.judged)}"
        yield text
    for name, count in result.overlaps.items():
        yield f"{count:,} of {result.pairs:,} pairs are in {name}, too"


def _describe_share(share: Estimate) -> str:
    interval = f" ({share.low * 100:.1f}–{share.high * 100:.1f})" if share.low == share.low else ""
    return f"{share.value * 100:.1f} %{interval}"


def _correlation_section(result: TaxonomyResult) -> Section | None:
    if not result.correlations:
        return None
    shown = strongest(result)
    clear = sum(pair.clear for pair in result.correlations)
    parts: list[Part] = []
    if shown:
        columns = [Column("phi", "number"), Column("both", "count")]
        columns += [Column("mostly from", "text")] if result.genres else []
        rows = tuple(
            Row(
                f"{pair.first} – {pair.second}",
                (pair.phi, pair.both, *((_describe_genres(pair),) if result.genres else ())),
            )
            for pair in shown
        )
        caption = "Categories that go together or exclude each other, clear of 0 among all pairs of categories"
        parts.append(Table("strongest correlations", caption, tuple(columns), rows, "categories"))
    if clear > len(shown):
        parts.append(Note(f"And {clear - len(shown):,} more; --json and the page (-o) have all.", quiet=True))
    matrix = _matrix(result)
    shades = Chart(matrix.id, "shades", title=matrix.caption, reference=Reference(0.0, "unrelated"))
    summary = f"phi of {len(result.correlations):,} pairs of categories, {clear:,} of them clear of 0"
    every = Section("All correlations", (shades, matrix, *_clear_notes(result)), folded=True, summary=summary)
    return Section("Correlations", (*parts, every))


def _matrix(result: TaxonomyResult) -> Table:
    """Phi of every two categories, as figure 4 has them."""
    phi = {(pair.first, pair.second): pair.phi for pair in result.correlations}
    phi |= {(pair.second, pair.first): pair.phi for pair in result.correlations}
    names = list(result.categories)
    rows = tuple(Row(name, tuple(phi.get((name, other)) for other in names)) for name in names)
    columns = tuple(Column(name, "number") for name in names)
    return Table("correlations", "Phi of every two categories (figure 4)", columns, rows, "category")


def _clear_notes(result: TaxonomyResult) -> Iterator[Note]:
    clear = [f"{pair.first} – {pair.second}" for pair in result.correlations if pair.clear]
    if clear:
        yield Note(f"Clear of 0: {', '.join(clear)}.", quiet=True)


def strongest(result: TaxonomyResult, most: int = STRONGEST) -> list[Correlation]:
    """The strongest correlations that are clear of 0, positive ones first."""
    clear = sorted((pair for pair in result.correlations if pair.clear), key=lambda pair: -pair.phi.value)
    positive = [pair for pair in clear if pair.phi.value > 0][:most]
    return positive + [pair for pair in clear if pair.phi.value < 0][-most:]


def _describe_genres(pair: Correlation, most: int = 2) -> str:
    """The genres from which most of the pairs with both categories come."""
    shares = [f"{genre} {count / pair.both * 100:.1f} %" for genre, count in pair.genres.items() if pair.both]
    return ", ".join(shares[:most])


def _genre_section(result: TaxonomyResult) -> Section | None:
    if not result.genres:
        return None
    columns = [Column(f"all ({result.pairs:,})", role="total")]
    columns += [Column(f"{genre} ({count:,})") for genre, count in result.genres.items()]
    rows = tuple(
        Row(name, (counts.share, *(counts.genres.get(genre) for genre in result.genres)))
        for name, counts in result.categories.items()
    )
    caption = "Share of each genre's pairs that have a category, %, with 95 % intervals; in brackets the pairs"
    table = Table("genres", caption, tuple(columns), rows, "category")
    return Section("Genres", (table,), folded=True, summary=describe_count(len(result.genres), "genre"))


def _neutral_section(result: TaxonomyResult) -> Section | None:
    if not result.features:
        return None
    rows = tuple(
        Row(name.replace("_", " "), (round(share.value * share.n) if share.known else None, share.n, share))
        for name, share in result.features.items()
    )
    columns = (Column("pairs", "count"), Column("of neutral pairs", "count"), Column("share"))
    caption = "What premise and hypothesis of neutral pairs have in common, % with 95 % intervals (table 2)"
    table = Table("neutral pairs", caption, columns, rows)
    return Section("Neutral pairs", (table, Chart(table.id, columns=("share",), axis="share of neutral pairs")))


def _published_section(result: TaxonomyResult) -> Section | None:
    """The paper's numbers, in a table for counts, one for means and one for shares."""
    units: dict[Unit, str] = {"count": "Counts", "number": "Means", "percent": "Shares, %"}
    tables = []
    for unit, title in units.items():
        rows = tuple(
            Row(
                _statistic_name(number),
                (number.here, Published(number.value), number.source.rpartition(", ")[2], number.note),
            )
            for number in result.published
            if _statistic_unit(number) == unit
        )
        columns = (
            Column("here", unit),
            Column("published", unit, role="published"),
            Column("source", "text"),
            Column("note", "text"),
        )
        tables += [Table(f"published {title.lower()}", title, columns, rows, "number")] if rows else []
    return Section("Beside Joshi et al. (2020)", tuple(tables)) if tables else None


def _statistic_name(number: PublishedStatistic) -> str:
    statistic, *slices = (part.partition("=")[2] for part in number.by.split("&"))
    name = statistic.replace("_", " ") if statistic in NEUTRAL_FEATURES else statistic
    return ", ".join([name, *slices])


def _statistic_unit(number: PublishedStatistic) -> Unit:
    if "accuracy" in number.by or "statistic=share" in number.by:
        return "percent"
    return "number" if "per pair" in number.by or "per genre" in number.by else "count"


def _definition_section(result: TaxonomyResult) -> Section:
    rows = tuple(Row(name, (definition(name) or "A category of this file's own.",)) for name in result.categories)
    table = Table("definitions", "", (Column("definition", "text"),), rows, "category")
    return Section("Definitions", (table,), folded=True, summary=describe_count(len(rows), "category definition"))


def definition(name: str) -> str:
    """The meaning of a category, or what rules look for to propose it; nothing for one of a user's own."""
    rule = rule_descriptions().get(name.removeprefix(PREFIX)) if name.startswith(PREFIX) else None
    if rule:
        return f"Proposed by rules: {rule}"
    try:
        return node(name).definition
    except UnknownNameError:
        return ""


def heading(name: str) -> str:
    """The groups of the taxonomy around a category; nothing for one of a user's own."""
    try:
        return " › ".join(path(name))
    except UnknownNameError:
        return ""


def taxonomy_document(nodes: Sequence[Node]) -> Document:
    """The taxonomy with its definitions; or one group, category or feature of it with examples."""
    if len(nodes) == 1:
        return _node_document(nodes[0])
    rows = tuple(
        Row(
            place.title if place.kind == "group" else place.name,
            (_describe_node(place),),
            heading=" › ".join(path(place.name)),
            role="total" if place.kind == "group" else "",
        )
        for place in nodes
    )
    annotated = sum(place.kind == "category" and place.annotated for place in nodes)
    return Document(
        title="acidtest taxonomy",
        headline=f"The taxonomy of Joshi et al. (2020): {annotated} annotated categories of reasoning.",
        parts=(
            Table("taxonomy", "", (Column("definition", "text"),), rows, "category"),
            Note("acidtest taxonomy NAME shows one of them with examples.", quiet=True),
        ),
    )


def _node_document(place: Node) -> Document:
    """One place of the tree: its definition, its examples, and similar categories of other schemes."""
    column = f"column {place.column} of the published file" if place.column else ""
    where = " · ".join(filter(None, (" › ".join(path(place.name)), column)))
    parts: list[Part] = [Note(where, quiet=True)] if where else []
    parts.append(Note(_describe_node(place)))
    inner = members(place.name)
    parts += [Note(f"Contains: {', '.join(member.name for member in inner)}.")] if inner else []
    if place.examples:
        titles = tuple(Column(name, "text") for name in ("premise", "hypothesis", "label", "categories"))
        rows = tuple(
            Row(str(number), (example.premise, example.hypothesis, example.label, _describe_example(place, example)))
            for number, example in enumerate(place.examples, 1)
        )
        parts.append(Table("examples", "Examples", titles, rows))
    if place.other_names:
        titles = tuple(Column(name, "text") for name in ("scheme", "levels", "note"))
        rows = tuple(
            Row(other.name, (other.scheme, ", ".join(other.levels), other.note)) for other in place.other_names
        )
        caption = "Similar categories elsewhere (appendix A, table 4; which category is similar is our reading)"
        parts.append(Table("other schemes", caption, titles, rows, "category"))
    return Document("acidtest taxonomy", f"{place.title}.", tuple(parts))


def _describe_node(place: Node) -> str:
    return place.definition if place.annotated else f"{place.definition} Defined, not annotated."


def _describe_example(place: Node, example: CategoryExample) -> str:
    return ", ".join([place.name if example.marked else f"not {place.name}", *example.also])


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")
