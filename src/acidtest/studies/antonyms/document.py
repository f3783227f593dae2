"""Easy and hard antonyms as a document, and as a table whose column ``type`` people fill in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from acidtest.core.document import Cell, Chart, Column, Document, Note, Part, Published, PValue, Row, Section, Table
from acidtest.core.errors import AcidtestError
from acidtest.core.logs import log
from acidtest.core.suite import Card
from acidtest.io.published import published_differences, published_scores
from acidtest.io.tables import read_table
from acidtest.studies.antonyms import AntonymsResult
from acidtest.studies.antonyms.knowledge import EASY, HARD, MIXED, SUITE, AntonymKnowledge, AntonymSet, Rivalry
from acidtest.studies.antonyms.types import TYPES, AntonymTypes, add_types

SEEN = "seen in training"
MODELS_RIGHT = {EASY: "all models", MIXED: "some", HARD: "none"}


def document(result: AntonymsResult) -> Document:
    """Antonyms by which models get them right, in rows and in pairs; then their types, where a table has them."""
    knowledge, types = result.knowledge, result.types
    headlines = [_describe_knowledge(knowledge)] if knowledge else []
    headlines += [_describe_types(types)] if types else []
    return Document(
        title="acidtest antonyms",
        headline=" ".join(headlines),
        parts=(*(_knowledge_parts(knowledge) if knowledge else ()), *([_types_section(types)] if types else ())),
        models=tuple(knowledge.models) if knowledge else (),
    )


def rows(result: AntonymsResult, path: Path) -> pl.DataFrame:
    """A row for each pair of antonyms and its type, where the table at the path has one already."""
    if result.knowledge is None:
        raise AcidtestError("--train and -o need run folders")
    pairs = result.knowledge.pairs
    table = add_types(pairs, read_table(path) if path.exists() else None)
    others = table.height - pairs.height
    if others:
        count = "1 pair" if others == 1 else f"{others:,} pairs"
        log.warning("%s: %s not in these runs kept, with the type somebody gave", path, count)
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
    by_row = _sets_table(
        "rows",
        "Rows by which models are right, and the antonyms in them",
        {MODELS_RIGHT[status]: part for status, part in knowledge.by_row.items()},
        knowledge,
        published={MODELS_RIGHT[status]: status for status in knowledge.by_row},
    )
    yield by_row
    by_pair = {MODELS_RIGHT[status]: part for status, part in knowledge.by_pair.items()}
    yield _sets_table("pairs", "Antonyms by which models are right on more than half of their rows", by_pair, knowledge)
    if knowledge.train:
        yield Chart(by_row.id, columns=(SEEN,), title=by_row.caption, axis="antonyms seen in training contradictions")
    if knowledge.rivalry:
        yield from _rivalry_parts(knowledge.rivalry, knowledge)
    if knowledge.train:
        yield Note(
            f"Training set: {knowledge.train}, {knowledge.train_contradictions:,} contradictions. Seen: one word is "
            "in the premise of a contradiction and the other in its hypothesis, in any inflection.",
            quiet=True,
        )


def _sets_table(
    name: str,
    caption: str,
    sets: Mapping[str, AntonymSet],
    knowledge: AntonymKnowledge,
    *,
    published: Mapping[str, str] | None = None,
) -> Table:
    """A row for each set of antonyms; ``published``: the statuses whose shares of antonyms seen the paper gives."""
    columns = [Column("rows", "count"), Column("antonyms", "count")]
    columns += [Column(SEEN), Column("contradictions each", "number")] if knowledge.train else []
    beside = bool(knowledge.train and published)
    columns += [Column("seen, published", role="published")] if beside else []
    rows = []
    for label, part in sets.items():
        cells: list[Cell] = [part.rows, part.pairs]
        cells += [part.seen, part.frequency] if knowledge.train else []
        if beside and published:
            cells.append(_published_share(pairs=published[label], seen="in training contradictions"))
        rows.append(Row(label, tuple(cells)))
    sources = _published_sources(knowledge.card, "seen") if beside else ()
    return Table(name, caption, tuple(columns), tuple(rows), "right", sources=sources)


def _rivalry_parts(rivalry: Rivalry, knowledge: AntonymKnowledge) -> Iterator[Part]:
    caption = f"Antonyms that {rivalry.stronger} (the stronger) and {rivalry.weaker} (the weaker) know"
    yield _sets_table("two models", caption, rivalry.parts, knowledge)
    weaker, other = rivalry.parts["the weaker"].frequency, rivalry.parts["only the stronger"].frequency
    if weaker and other and weaker.known and other.known:
        yield Note(f"{_compare_frequencies(weaker.value, other.value)} (published: nearly twice as often).")
        columns = (Column("difference", "number"), Column("p", "p"), Column("test", "text"))
        difference = Row("the weaker, less only the stronger", (rivalry.difference, PValue(rivalry.p), rivalry.test))
        yield Table("frequency", "Training contradictions of a pair, on average", columns, (difference,), "known to")


def _compare_frequencies(weaker: float, other: float) -> str:
    """How the two mean numbers of contradictions compare; nothing is a multiple of 0."""
    if other:
        times = f"{weaker / other:.1f} times as often"
        return f"Antonyms the weaker knows occur {times} in training as those only the stronger knows"
    if weaker:
        return "Antonyms the weaker knows occur in training, those only the stronger knows do not"
    return "Neither the antonyms the weaker knows nor those only the stronger knows occur in training"


def _types_section(types: AntonymTypes) -> Section:
    """The types of easy, mixed and hard antonyms, the paper's beside them."""
    sizes = {status: next(iter(shares.values())).n for status, shares in types.shares.items()}
    columns = [Column(f"{status} ({sizes[status]:,})") for status in types.shares]
    columns += [Column(f"{status}, published", role="published") for status in (EASY, HARD)]
    rows = tuple(
        Row(
            name,
            (
                *(shares[name] for shares in types.shares.values()),
                *(_published_share(pairs=status, type=name) for status in (EASY, HARD)),
            ),
        )
        for name in TYPES
    )
    untyped = ", ".join(f"{count:,} {status}" for status, count in types.untyped.items() if count)
    notes = [f"without a type: {untyped}"] if untyped else []
    if types.not_asked:
        count = "1 typed pair" if types.not_asked == 1 else f"{types.not_asked:,} typed pairs"
        notes.append(f"not in the runs, left out: {count}")
    # The table does not say what corpus the pairs are from.
    sources = _published_sources(Card(SUITE, arguments={"from": ""}), "type")
    caption = "Types of easy and hard antonyms, %, with 95 % intervals"
    table = Table("types", caption, tuple(columns), rows, "type", notes=tuple(notes), sources=sources)
    return Section("Types of antonyms", (table,))


def _published_share(**by: str) -> Published | None:
    """The paper's number on a slice."""
    return next((Published(score.value) for score in published_scores(SUITE) if score.by == by), None)


def _published_sources(card: Card, slice: str) -> tuple[str, ...]:
    """Where the published numbers of a slice stand, and how they differ from those beside them."""
    scores = [score for score in published_scores(SUITE) if slice in score.by]
    sources = dict.fromkeys(f"{score.system}, {score.source}" for score in scores)
    return (*sources, *published_differences(card, (slice,)))
