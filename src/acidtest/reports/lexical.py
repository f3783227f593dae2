"""What models know of words, as tables for the terminal, the numbers of Glockner et al. (2018) beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from acidtest.core.estimate import Estimate
from acidtest.io.published import PublishedScore, published_scores
from acidtest.reports.numerals import NONE, counted, interval, p_value, percent, points, published, signed
from acidtest.studies.lexical import COSINES, FREQUENCIES, Bin, Binned, Knowledge, Lexical, Scale
from acidtest.studies.lexical_memory import Memory
from acidtest.studies.lexical_rows import FRESH, Training, Vectors

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

ORIGINAL = "snli"
"""What the paper's own numbers on the original test set are filed under."""

SIMILARITY = "By how similar the two words are (cosine)"
TRAINING = "By how many training contradictions hold the two words"

SHORT = {
    "Decomposable Attention": "Decomp. Attention",
    "Residual-Stacked-Encoder": "Residual-Stacked",
    "WordNet baseline": "WordNet",
}
"""Names of systems that would not fit over a column."""


def lexical_tables(found: Lexical) -> list[RenderableType]:
    """Every set of pairs with all its models: categories, similarity, training frequency, drop; then memory."""
    from rich.text import Text

    parts: list[RenderableType] = []
    for suite, own in by_suite(found).items():
        parts += [_heading(suite, own), _categories(suite, own), *_scales(suite, own), *_drops(own), Text("")]
    for memory in found.memory:
        parts += [*_memory(memory), Text("")]
    return [*parts, *_sources(found)]


def by_suite(found: Lexical) -> dict[str, list[Knowledge]]:
    """The models' results on each set of pairs."""
    sets: dict[str, list[Knowledge]] = {}
    for each in found.found:
        sets.setdefault(each.suite, []).append(each)
    return sets


def systems(suite: str, factor: str | None = None) -> dict[str, dict[str, float]]:
    """What the paper's systems got, trained on SNLI alone: by value of a factor, or under ``""`` on the whole set."""
    numbers: dict[str, dict[str, float]] = {}
    for score in _main(suite):
        if list(score.by) == ([factor] if factor else []):
            numbers.setdefault(score.system, {})[score.by[factor] if factor else ""] = score.value
    return numbers


def shown(name: str) -> str:
    """The name of a bin as people write it: ``0.5–0.6``."""
    return name.replace("-", "–")


def part_names(held: Iterable[Binned]) -> list[str]:
    """The bins that any has, and what lies outside them."""
    return list(dict.fromkeys(name for each in held for name in each.parts))


def trend_told(binned: Binned) -> str:
    """A trend in words."""
    slope = binned.trend.estimate
    if not slope.known:
        return f"no trend can be told: {slope.note}"
    within = points(slope) if slope.low == slope.low else f"{signed(slope.value)} ({slope.note})"
    return f"{within} points from a bin to the next, p {p_value(binned.trend.p)}, adjusted {p_value(binned.p_adjusted)}"


def training_told(train: Training) -> str:
    """How frequent the replacement words are in a training set."""
    text = f"Training set: {train.name}, {train.contradictions:,} contradictions among {train.examples:,} examples."
    if not train.rarest or not train.commonest:
        return text
    (rare, fewest), (common, most) = train.rarest, train.commonest
    theirs = {
        s.by["word"]: s.value for s in published_scores("breaking-nli") if s.by.get("pairs") == "training examples"
    }
    return (
        f"{text} Its {counted(train.words, 'single replacement word')} stand in {fewest:,} ({rare}) to {most:,} "
        f"({common}) examples, mean {train.mean:,.1f}, median {train.median:,.1f}, {train.unseen:,} in none "
        f"(published: {theirs['rarest']:,.0f} to {theirs['commonest']:,.0f}, mean {theirs['mean']:,.1f}, "
        f"median {theirs['median']:,.1f})."
    )


def vectors_told(vectors: Vectors) -> str:
    """What words were compared by."""
    return f"Vectors: {vectors.name}, {vectors.size:,} words; {vectors.known:,} of {vectors.words:,} words have one."


def _main(suite: str) -> Iterator[PublishedScore]:
    base = suite.partition(":")[0]
    scores = published_scores(FRESH if base == f"{FRESH}/*" else base)
    return (score for score in scores if not score.condition and "pairs" not in score.by)


def _heading(suite: str, own: Sequence[Knowledge]) -> RenderableType:
    from rich.markup import escape
    from rich.text import Text

    return Text.from_markup(f"[bold]{escape(suite)}[/]  {own[0].overall.n:,} pairs", emoji=False)


def _categories(suite: str, own: Sequence[Knowledge]) -> Table:
    """Table 4: the whole set and each category, the most frequent first."""
    whole, parts = systems(suite), systems(suite, "category")
    names = dict.fromkeys(name for each in own for name in each.categories)
    sizes = {name: max(each.categories[name].n for each in own if name in each.categories) for name in names}
    table = _table("accuracy, %", own, list(whole))
    table.add_row("all", f"{own[0].overall.n:,}", *(_cell(each.overall) for each in own), *_numbers(whole, ""))
    for name in sorted(names, key=lambda name: -sizes[name]):
        cells = [_cell(each.categories.get(name)) for each in own]
        table.add_row(name, f"{sizes[name]:,}", *cells, *(published(parts.get(s, {}).get(name)) for s in whole))
    return table


def _scales(suite: str, own: Sequence[Knowledge]) -> Iterator[RenderableType]:
    for scale, name, title in (
        (COSINES, "by_cosine", "By how similar the two words are (cosine)"),
        (
            FREQUENCIES,
            "by_frequency",
            "By how many training contradictions hold the two words",
        ),
    ):
        held = {each.model: binned for each in own if (binned := getattr(each, name))}
        if held:
            yield from _scale(suite, scale, held, title)


def _scale(suite: str, scale: Scale, held: Mapping[str, Binned], title: str) -> Iterator[RenderableType]:
    """A line for each bin; what lies outside them below."""
    from rich.table import Table
    from rich.text import Text

    yield Text(f"\n  {title}, contradictions of single words:")
    papers = systems(suite, scale.column)
    table = Table(box=None, padding=(0, 1), header_style="dim")
    table.add_column(scale.column)
    for heading in ("pairs", "word pairs", *held, *(SHORT.get(name, name) for name in papers)):
        table.add_column(heading, justify="right")
    for name in part_names(held.values()):
        bins = [part for each in held.values() if (part := each.parts.get(name))]
        cells = [_cell(each.parts[name].accuracy if name in each.parts else None) for each in held.values()]
        table.add_row(shown(name), *_sizes(bins), *cells, *_numbers(papers, name))
    yield table
    for model, binned in held.items():
        told = f"{model}: " if len(held) > 1 else ""
        yield Text(f"  trend: {told}{trend_told(binned)}")


def _sizes(bins: Sequence[Bin]) -> tuple[str, str]:
    return f"{max(each.accuracy.n for each in bins):,}", f"{max(each.pairs for each in bins):,}"


def _drops(own: Sequence[Knowledge]) -> Iterator[RenderableType]:
    """Table 3: accuracy on the original test set and here."""
    from rich.markup import escape
    from rich.table import Table
    from rich.text import Text

    drops = [(each, each.drop) for each in own if each.drop]
    if not drops:
        return
    yield Text("\n  Beside the original test set:")
    table = Table(box=None, padding=(0, 1), header_style="dim")
    table.add_column("accuracy, %")
    for title in (drops[0][1].original, own[0].suite, "difference (95 %)", "p adjusted"):
        table.add_column(title, justify="right")
    for each, drop in drops:
        cells = (_cell(drop.accuracy), _cell(each.overall), points(drop.difference), p_value(drop.p_adjusted))
        table.add_row(f"[bold]{escape(each.model)}[/]", *cells)
    before, after = systems(ORIGINAL), systems(own[0].suite)
    for system in (name for name in before if name in after):
        old, new = before[system][""], after[system][""]
        table.add_row(f"{system}, SNLI", published(old), published(new), signed(round(new, 3) - round(old, 3)), "")
    yield table
    yield from (Text(f"  {drop.note}", style="dim") for _, drop in drops if drop.note)


def _memory(memory: Memory) -> Iterator[RenderableType]:
    from rich.markup import escape
    from rich.table import Table
    from rich.text import Text

    yield Text.from_markup(f"[bold]{escape(memory.model)}[/]  published and fresh pairs", emoji=False)
    yield Text(f"  {memory.verdict}")
    table = Table(box=None, padding=(0, 1), header_style="dim")
    table.add_column("accuracy, %")
    titles = [memory.published, memory.fresh, "difference (95 %)", "p adj."]
    titles += ["excess (95 %)", "p adj."] if memory.reference else []
    for title in titles:
        table.add_column(title, justify="right", no_wrap=True)
    for each in memory.contrasts:
        cells = [f"{100 * each.published:.1f}", f"{100 * each.fresh:.1f}", points(each.difference)]
        cells += [p_value(each.p_adjusted)]
        cells += [points(each.excess), p_value(each.excess_p_adjusted)] if each.excess else []
        table.add_row(each.slice, *cells)
    yield table
    if memory.reference:
        yield Text(
            f"  excess: what is left beside the same difference of {memory.reference}, pair by pair", style="dim"
        )
    if memory.left_out:
        left = ", ".join(f"{count:,} {side}" for side, count in memory.left_out.items())
        yield Text(f"  of categories and gold that one side has few pairs of, left out: {left}", style="dim")
    yield from (Text.from_markup(f" [yellow]✗[/] {escape(line)}", emoji=False) for line in memory.cannot)


def _sources(found: Lexical) -> Iterator[RenderableType]:
    from rich.text import Text

    told = [f"{note}." for note in found.notes]
    told += [training_told(found.train)] if found.train else []
    told += [vectors_told(found.vectors)] if found.vectors else []
    told.append(
        "Published: Glockner et al. 2018, tables 3 and 4, sections 5.2 and 5.3; systems trained on SNLI and asked the "
        "published pairs, no others."
    )
    yield from (Text(f"  {line}", style="dim") for line in told)


def _table(title: str, own: Sequence[Knowledge], papers: Sequence[str]) -> Table:
    from rich.table import Table

    table = Table(box=None, padding=(0, 1), header_style="dim")
    table.add_column(title)
    for heading in ("pairs", *(each.model for each in own), *(SHORT.get(name, name) for name in papers)):
        table.add_column(heading, justify="right")
    return table


def _numbers(papers: Mapping[str, Mapping[str, float]], name: str) -> tuple[str, ...]:
    return tuple(published(numbers.get(name)) for numbers in papers.values())


def _cell(value: Estimate | None) -> str:
    within = interval(value)
    number = percent(value) if value and value.known else NONE
    return f"{number} ({within})" if within else number
