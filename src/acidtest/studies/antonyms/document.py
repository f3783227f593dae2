"""Renders easy and hard antonyms as a document, and as a table with a column ``type`` for people to fill in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from acidtest.core.document import (
    Cell,
    Chart,
    Column,
    Document,
    Note,
    Part,
    Published,
    PValue,
    Row,
    Section,
    Table,
    describe_count,
)
from acidtest.core.errors import AcidtestError
from acidtest.core.logs import log
from acidtest.core.suite import Card
from acidtest.io.published import published_differences, published_scores
from acidtest.io.tables import read_table
from acidtest.studies.antonyms import (
    EASY,
    HARD,
    MIXED,
    SUITE,
    TYPES,
    AntonymKnowledge,
    AntonymSet,
    AntonymsResult,
    AntonymTypes,
    Rivalry,
    add_types,
)

SEEN = "seen in training"
MODELS_RIGHT = {EASY: "all models", MIXED: "some", HARD: "none"}


def document(result: AntonymsResult) -> Document:
    """A document of which antonyms models know, by row and by pair, and of their types, as far as they are known."""
    headlines, parts, models = list[str](), list[Part](), tuple[str, ...]()
    if result.knowledge:
        headlines.append(_describe_knowledge(result.knowledge))
        parts += _knowledge_parts(result.knowledge)
        models = tuple(result.knowledge.models)
    if result.types:
        headlines.append(_describe_types(result.types))
        parts.append(_types_section(result.types))
    return Document("acidtest antonyms", " ".join(headlines), tuple(parts), models)


def rows(result: AntonymsResult, path: Path) -> pl.DataFrame:
    """A row for each pair of antonyms, with its type if the table at the path already has one."""
    if result.knowledge is None:
        raise AcidtestError("--train and -o need run folders")
    pairs = result.knowledge.pairs
    table = add_types(pairs, read_table(path) if path.exists() else None)
    others = table.height - pairs.height
    if others:
        log.warning("%s: %s not in these runs kept, with the type somebody gave", path, describe_count(others, "pair"))
    return table


def _describe_knowledge(knowledge: AntonymKnowledge) -> str:
    easy, hard = (knowledge.by_pair[status].pairs for status in (EASY, HARD))
    total = f"{sum(part.pairs for part in knowledge.by_pair.values()):,} pairs of antonyms"
    if len(knowledge.models) == 1:
        return f"{next(iter(knowledge.models))} knows {easy:,} of {total}."
    return f"Of {total} all models know {easy:,} and no model knows {hard:,}."


def _describe_types(types: AntonymTypes) -> str:
    parts = []
    for status, shares in types.shares.items():
        commonest = max(shares, key=lambda name: shares[name].value)
        if shares[commonest].known:
            parts.append(f"{shares[commonest].value:.0%} of {status} antonyms are {commonest}")
    text = ", ".join(parts) or "no antonym has a type yet"
    return f"{text[:1].upper()}{text[1:]}."


def _knowledge_parts(knowledge: AntonymKnowledge) -> Iterator[Part]:
    yield from (Note(f"{note}.") for note in knowledge.notes)
    accuracy = tuple(Row(name, (value,)) for name, value in knowledge.models.items())
    yield Table("accuracy", "Accuracy, %, with 95 % intervals", (Column("accuracy"),), accuracy, "model")
    caption = "Rows by which models are right, and the antonyms in them"
    yield _sets_table("rows", caption, knowledge.by_row, knowledge, published=True)
    by_pair = "Antonyms by which models are right on more than half of their rows"
    yield _sets_table("pairs", by_pair, knowledge.by_pair, knowledge)
    if knowledge.train:
        yield Chart("rows", columns=(SEEN,), title=caption, axis="antonyms seen in training contradictions")
    if knowledge.rivalry:
        yield from _rivalry_parts(knowledge.rivalry, knowledge)
    if knowledge.train:
        yield Note(
            f"Training set: {knowledge.train}, {knowledge.train_contradictions:,} contradictions. Seen: one word is "
            "in the premise of a contradiction and the other in its hypothesis, in any inflection.",
            quiet=True,
        )


def _sets_table(
    name: str, caption: str, sets: Mapping[str, AntonymSet], knowledge: AntonymKnowledge, *, published: bool = False
) -> Table:
    """A table with a row for each set; ``published`` adds the paper's shares of antonyms seen in training."""
    columns = [Column("rows", "count"), Column("antonyms", "count")]
    columns += [Column(SEEN), Column("contradictions each", "number")] if knowledge.train else []
    published = published and knowledge.train is not None
    columns += [Column("seen, published", role="published")] if published else []
    table_rows = []
    for key, part in sets.items():
        cells: list[Cell] = [part.rows, part.pairs]
        cells += [part.seen, part.frequency] if knowledge.train else []
        if published:
            cells.append(_published_share(pairs=key, seen="in training contradictions"))
        table_rows.append(Row(MODELS_RIGHT.get(key, key), tuple(cells)))
    sources = _published_sources(knowledge.card, "seen") if published else ()
    return Table(name, caption, tuple(columns), tuple(table_rows), "right", sources=sources)


def _rivalry_parts(rivalry: Rivalry, knowledge: AntonymKnowledge) -> Iterator[Part]:
    caption = f"Antonyms that {rivalry.stronger} (the stronger) and {rivalry.weaker} (the weaker) know"
    yield _sets_table("two models", caption, rivalry.parts, knowledge)
    weaker, other = rivalry.parts["the weaker"].frequency, rivalry.parts["only the stronger"].frequency
    if not (weaker and other and weaker.known and other.known):
        return
    if other.value:
        times = f"{weaker.value / other.value:.1f} times as often"
        comparison = f"Antonyms the weaker knows occur {times} in training as those only the stronger knows"
    elif weaker.value:
        comparison = "Antonyms the weaker knows occur in training, those only the stronger knows do not"
    else:
        comparison = "Neither the antonyms the weaker knows nor those only the stronger knows occur in training"
    yield Note(f"{comparison} (published: nearly twice as often).")
    columns = (Column("difference", "number"), Column("p", "p"), Column("test", "text"))
    difference = Row("the weaker, less only the stronger", (rivalry.difference, PValue(rivalry.p), rivalry.test))
    yield Table("frequency", "Training contradictions of a pair, on average", columns, (difference,), "known to")


def _types_section(types: AntonymTypes) -> Section:
    """A table of the types of easy, mixed and hard antonyms, next to the paper's."""
    columns = [Column(f"{status} ({shares[TYPES[0]].n:,})") for status, shares in types.shares.items()]
    columns += [Column(f"{status}, published", role="published") for status in (EASY, HARD)]
    table_rows = []
    for name in TYPES:
        published = (_published_share(pairs=status, type=name) for status in (EASY, HARD))
        table_rows.append(Row(name, (*(shares[name] for shares in types.shares.values()), *published)))
    untyped = ", ".join(f"{count:,} {status}" for status, count in types.untyped.items() if count)
    notes = [f"without a type: {untyped}"] if untyped else []
    notes += [f"not in the runs, left out: {describe_count(types.not_asked, 'typed pair')}"] if types.not_asked else []
    # The table does not record which corpus the pairs come from.
    sources = _published_sources(Card(SUITE, arguments={"from": ""}), "type")
    caption = "Types of easy and hard antonyms, %, with 95 % intervals"
    table = Table("types", caption, tuple(columns), tuple(table_rows), "type", notes=tuple(notes), sources=sources)
    return Section("Types of antonyms", (table,))


def _published_share(**by: str) -> Published | None:
    return next((Published(score.value) for score in published_scores(SUITE) if score.by == by), None)


def _published_sources(card: Card, slice: str) -> tuple[str, ...]:
    """The sources of the published numbers of a slice, and how their setting differs from the card's."""
    scores = [score for score in published_scores(SUITE) if slice in score.by]
    sources = dict.fromkeys(f"{score.system}, {score.source}" for score in scores)
    return (*sources, *published_differences(card, (slice,)))
