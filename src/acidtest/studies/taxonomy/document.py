"""Renders statistics of annotated pairs (table 2, figures 3 and 4 of Joshi et al. 2020) and the taxonomy itself."""

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
from acidtest.pairs.category_rules import PREFIX, rule_descriptions
from acidtest.pairs.taxonomy import NEUTRAL_FEATURES, Node, members, node, path
from acidtest.studies.taxonomy import TaxonomyResult

STRONGEST = 6
"""Number of correlations shown of each sign."""


def document(result: TaxonomyResult) -> Document:
    """A document of categories, correlations, genres and neutral pairs of a set, next to the paper's numbers."""
    labels = ", ".join(f"{count:,} {label}" for label, count in result.labels.items())
    mean = f"{result.per_pair.value:.2f} categories per pair" if result.per_pair.known else "no categories"
    return Document(
        title="acidtest taxonomy",
        headline=f"{result.name}: {describe_count(result.pairs, 'pair')} ({labels}), {mean}.",
        parts=tuple(_sections(result)),
        signatures={result.name: result.signature},
        methods=(
            "Phi is the correlation of two columns of 0 and 1. Pairs of one premise are one group. Clear correlations "
            "are those whose interval leaves 0 out at Bonferroni's level for all pairs of categories.",
        ),
    )


def _sections(result: TaxonomyResult) -> Iterator[Section]:
    notes = [Note(text[:1].upper() + text[1:].removesuffix(".") + ".") for text in _facts(result)]
    yield Section("Categories", (*notes, *_category_parts(result)))
    if result.correlations:
        yield Section("Correlations", tuple(_correlation_parts(result)))
    if result.genres:
        genres = describe_count(len(result.genres), "genre")
        yield Section("Genres", (_genre_table(result),), folded=True, summary=genres)
    if result.features:
        chart = Chart("neutral pairs", columns=("share",), axis="share of neutral pairs")
        yield Section("Neutral pairs", (_neutral_table(result), chart))
    if result.published:
        yield Section("Beside Joshi et al. (2020)", tuple(_published_tables(result)))
    rows = tuple(Row(name, (definition(name) or "A category of this file's own.",)) for name in result.categories)
    table = Table("definitions", "", (Column("definition", "text"),), rows, "category")
    definitions = describe_count(len(rows), "category definition")
    yield Section("Definitions", (table,), folded=True, summary=definitions)


def _facts(result: TaxonomyResult) -> Iterator[str]:
    """Sentences on categories per pair, cautions, the annotators' own labels, and overlaps with other files."""
    mean = result.per_pair
    interval = f" ({mean.low:.2f}–{mean.high:.2f})" if mean.low == mean.low else ""
    none, one, two = (result.distribution.get(number, 0) for number in range(3))
    have = f"{describe_count(none, 'pair')} {'has' if none == 1 else 'have'}"
    numbers = f"{have} none, {one:,} one, {two:,} two, {result.pairs - none - one - two:,} more"
    yield f"{f'{mean.value:.2f}' if mean.known else '–'}{interval} categories per pair; {numbers}"
    yield from result.notes
    if result.inference:
        judged = ""
        if result.judged and result.judged.known and result.judged.n < result.inference.n:
            judged = f", without neutral pairs in {_describe_share(result.judged)}"
        yield f"The annotators' own label is gold in {_describe_share(result.inference)}{judged}"
    for name, count in result.overlaps.items():
        yield f"{count:,} of {result.pairs:,} pairs are in {name}, too"


def _describe_share(share: Estimate) -> str:
    interval = f" ({share.low * 100:.1f}–{share.high * 100:.1f})" if share.low == share.low else ""
    return f"{share.value * 100:.1f} %{interval}"


def _category_parts(result: TaxonomyResult) -> Iterator[Part]:
    columns = [Column("pairs", "count"), Column("% of all")]
    columns += [Column(label, "count") for label in (*result.labels, "alone")]
    rows = tuple(
        Row(name, (counts.pairs, counts.share, *counts.labels.values(), counts.alone), heading=_heading(name))
        for name, counts in result.categories.items()
    )
    caption = "Pairs of each category, of each label, and without another category (figure 3); a pair may have several"
    yield Table("categories", caption, tuple(columns), rows, "category")
    yield Chart("categories", "stack", tuple(result.labels), axis="pairs of each category, by label")
    numbers = tuple(Row(str(number), (count,)) for number, count in result.distribution.items())
    yield Table("distribution", "Pairs by number of categories", (Column("pairs", "count"),), numbers, "number")


def _correlation_parts(result: TaxonomyResult) -> Iterator[Part]:
    """The strongest correlations that are clear of 0, positive ones first, and the matrix of all, as in figure 4."""
    clear = sorted((pair for pair in result.correlations if pair.clear), key=lambda pair: -pair.phi.value)
    strongest = [pair for pair in clear if pair.phi.value > 0][:STRONGEST]
    strongest += [pair for pair in clear if pair.phi.value < 0][-STRONGEST:]
    if strongest:
        columns = [Column("phi", "number"), Column("both", "count")]
        columns += [Column("mostly from", "text")] if result.genres else []
        rows = []
        for pair in strongest:
            genres = [f"{genre} {count / pair.both * 100:.1f} %" for genre, count in pair.genres.items() if pair.both]
            cells = (pair.phi, pair.both, ", ".join(genres[:2]))
            rows.append(Row(f"{pair.first} – {pair.second}", cells[: len(columns)]))
        caption = "Categories that go together or exclude each other, clear of 0 among all pairs of categories"
        yield Table("strongest correlations", caption, tuple(columns), tuple(rows), "categories")
    if len(clear) > len(strongest):
        yield Note(f"And {len(clear) - len(strongest):,} more; --json and the page (-o) have all.", quiet=True)
    phi = {(pair.first, pair.second): pair.phi for pair in result.correlations}
    phi |= {(pair.second, pair.first): pair.phi for pair in result.correlations}
    names = list(result.categories)
    matrix = tuple(Row(name, tuple(phi.get((name, other)) for other in names)) for name in names)
    caption = "Phi of every two categories (figure 4)"
    parts: list[Part] = [
        Chart("correlations", "shades", title=caption, reference=Reference(0.0, "unrelated")),
        Table("correlations", caption, tuple(Column(name, "number") for name in names), matrix, "category"),
    ]
    if clear:
        pairs = (f"{pair.first} – {pair.second}" for pair in result.correlations if pair.clear)
        parts.append(Note(f"Clear of 0: {', '.join(pairs)}.", quiet=True))
    summary = f"phi of {len(result.correlations):,} pairs of categories, {len(clear):,} of them clear of 0"
    yield Section("All correlations", tuple(parts), folded=True, summary=summary)


def _genre_table(result: TaxonomyResult) -> Table:
    columns = [Column(f"all ({result.pairs:,})", role="total")]
    columns += [Column(f"{genre} ({count:,})") for genre, count in result.genres.items()]
    rows = tuple(
        Row(name, (counts.share, *(counts.genres.get(genre) for genre in result.genres)))
        for name, counts in result.categories.items()
    )
    caption = "Share of each genre's pairs that have a category, %, with 95 % intervals; in brackets the pairs"
    return Table("genres", caption, tuple(columns), rows, "category")


def _neutral_table(result: TaxonomyResult) -> Table:
    rows = tuple(
        Row(name.replace("_", " "), (round(share.value * share.n) if share.known else None, share.n, share))
        for name, share in result.features.items()
    )
    columns = (Column("pairs", "count"), Column("of neutral pairs", "count"), Column("share"))
    caption = "What premise and hypothesis of neutral pairs have in common, % with 95 % intervals (table 2)"
    return Table("neutral pairs", caption, columns, rows)


def _published_tables(result: TaxonomyResult) -> Iterator[Table]:
    """Tables of the paper's counts, means and shares, next to ours."""
    rows: dict[Unit, list[Row]] = {"count": [], "number": [], "percent": []}
    for number in result.published:
        is_share = "accuracy" in number.by or "statistic=share" in number.by
        is_mean = "per pair" in number.by or "per genre" in number.by
        statistic, *slices = (part.partition("=")[2] for part in number.by.split("&"))
        name = statistic.replace("_", " ") if statistic in NEUTRAL_FEATURES else statistic
        cells = (number.here, Published(number.value), number.source.rpartition(", ")[2], number.note)
        rows["percent" if is_share else "number" if is_mean else "count"].append(Row(", ".join([name, *slices]), cells))
    texts = (Column("source", "text"), Column("note", "text"))
    for unit, title in zip(rows, ("Counts", "Means", "Shares, %"), strict=True):
        columns = (Column("here", unit), Column("published", unit, role="published"), *texts)
        yield Table(f"published {title.lower()}", title, columns, tuple(rows[unit]), "number")


def definition(name: str) -> str:
    """The definition of a category, or of the rule that proposes it; empty for a user's own category."""
    rule = rule_descriptions().get(name.removeprefix(PREFIX)) if name.startswith(PREFIX) else None
    if rule:
        return f"Proposed by rules: {rule}"
    try:
        return node(name).definition
    except UnknownNameError:
        return ""


def _heading(name: str) -> str:
    """The groups of the taxonomy that contain a category, outermost first; empty for a user's own category."""
    try:
        return " › ".join(path(name))
    except UnknownNameError:
        return ""


def taxonomy_document(nodes: Sequence[Node]) -> Document:
    """A document of all given nodes with definitions, or of a single node with examples."""
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
    """A document of one node: its definition, its examples, and similar categories of other schemes."""
    column = f"column {place.column} of the published file" if place.column else ""
    where = " · ".join(filter(None, (" › ".join(path(place.name)), column)))
    parts: list[Part] = [Note(where, quiet=True)] if where else []
    parts.append(Note(_describe_node(place)))
    inner = members(place.name)
    parts += [Note(f"Contains: {', '.join(member.name for member in inner)}.")] if inner else []
    if place.examples:
        columns = tuple(Column(name, "text") for name in ("premise", "hypothesis", "label", "categories"))
        rows = []
        for number, example in enumerate(place.examples, 1):
            categories = ", ".join([place.name if example.marked else f"not {place.name}", *example.also])
            rows.append(Row(str(number), (example.premise, example.hypothesis, example.label, categories)))
        parts.append(Table("examples", "Examples", columns, tuple(rows)))
    if place.other_names:
        columns = tuple(Column(name, "text") for name in ("scheme", "levels", "note"))
        rows = [Row(other.name, (other.scheme, ", ".join(other.levels), other.note)) for other in place.other_names]
        caption = "Similar categories elsewhere (appendix A, table 4; which category is similar is our reading)"
        parts.append(Table("other schemes", caption, columns, tuple(rows), "category"))
    return Document("acidtest taxonomy", f"{place.title}.", tuple(parts))


def _describe_node(place: Node) -> str:
    return place.definition if place.annotated else f"{place.definition} Defined, not annotated."
