"""Which antonyms models know, and how often these occur in the training set (Naik et al. 2018, section 4.3).

Antonyms are unordered: *hot, cold* is *cold, hot*. A model knows a pair of antonyms when it is right on more than half
of the rows with that pair; half is not enough. As in the paper, antonyms are also counted by row: those in rows that
every model gets right, and those in rows that none does. The two sets may overlap.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import numpy as np
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
from acidtest.core.errors import AcidtestError, FileError, UnknownNameError
from acidtest.core.estimate import Estimate
from acidtest.core.logs import log
from acidtest.core.run import Run
from acidtest.core.serialise import INLINE
from acidtest.core.study import study
from acidtest.core.suite import CONTROL, Card, Suite
from acidtest.io.published import published_differences, published_scores
from acidtest.io.tables import FileTable, read_table
from acidtest.pairs.counts import pair_counts
from acidtest.stats.intervals import rate, unpaired_difference
from acidtest.stats.resampling import generator
from acidtest.stats.significance import unpaired_permutation
from acidtest.studies.scoring.rows import model_names, score_rows, shared_places

EASY, MIXED, HARD = STATUSES = ("easy", "mixed", "hard")
"""Status of a row or pair that all models, some or none get right."""

TYPES = ("complementary", "relational", "gradable")
"""Types of antonyms, such as dead/alive, buy/sell and hot/cold."""

PAIR = ("word", "antonym")
FREQUENCY = "contradictions"
"""Column: number of training contradictions with one word in the premise and the other in the hypothesis."""

SUITE = "stress/antonymy"


@dataclass(frozen=True)
class AntonymSet:
    """Number of pairs in a set of antonyms, and of the rows they occur in.

    ``seen`` is the share of pairs found in a training contradiction, ``frequency`` the mean number of contradictions
    per pair; both are None without a training set.
    """

    rows: int
    pairs: int
    seen: Estimate | None = None
    frequency: Estimate | None = None


@dataclass(frozen=True)
class Rivalry:
    """Training frequency of the antonyms that both of two models know, and of those that only one knows.

    ``difference`` and ``p`` compare the antonyms the weaker model knows with those only the stronger knows.
    """

    stronger: str
    weaker: str
    parts: Mapping[str, AntonymSet]
    difference: Estimate | None = None
    test: str = ""
    p: float = math.nan


@dataclass(frozen=True)
class AntonymKnowledge:
    """Easy, mixed and hard antonyms over some runs.

    ``by_row`` counts the rows of each status and the pairs in them, ``by_pair`` the pairs of each status. ``pairs`` has
    a row for each pair: its number of rows, how many of them each model gets right, and its status.
    """

    models: Mapping[str, Estimate]
    by_row: Mapping[str, AntonymSet]
    by_pair: Mapping[str, AntonymSet]
    rivalry: Rivalry | None = None
    train: str | None = None
    train_contradictions: int | None = None
    notes: tuple[str, ...] = ()
    pairs: pl.DataFrame = field(default_factory=pl.DataFrame, metadata={"json": None})
    card: Card = field(default_factory=lambda: Card(SUITE), metadata={"json": None})
    """Card of the suite in the first run."""


@dataclass(frozen=True)
class AntonymTypes:
    """Share of each type among the typed antonyms of each status, and the number still without a type."""

    shares: Mapping[str, Mapping[str, Estimate]]
    untyped: Mapping[str, int]
    not_asked: int = 0
    """Number of typed pairs without a status: those not in the runs that the table was last written from."""


@dataclass(frozen=True)
class AntonymsResult:
    """Which antonyms the models of some runs know, the types of antonyms that a person filled in, or both."""

    knowledge: AntonymKnowledge | None = field(default=None, metadata={"json": INLINE})
    types: AntonymTypes | None = field(default=None, metadata={"optional": True})
    schema: int = 1


@study(group="look into a run")
def antonyms(
    runs: Annotated[Sequence[Run], "Run folders, each with stress/antonymy."] = (),
    *,
    train: Annotated[Suite | None, "A training set, to count antonyms in its contradictions."] = None,
    types: Annotated[Path | None, "A table that -o wrote, its column type filled in by a person."] = None,
    seed: Annotated[int, "Seed of every random choice."] = 0,
) -> AntonymsResult:
    """Show which antonyms all models, some or none get right, and how often each is in training contradictions.

    With -o FILE.tsv all antonyms are written, with a column type to fill in; a table written before keeps its types.
    """
    if not runs and types is None:
        raise AcidtestError("antonyms needs run folders, or a table with --types; see: acidtest antonyms --help")
    if not runs and train is not None:
        raise AcidtestError("--train and -o need run folders")
    return AntonymsResult(
        knowledge=antonym_knowledge(runs, train, seed=seed) if runs else None,
        types=antonym_types(read_table(types)) if types is not None else None,
    )


def antonym_knowledge(runs: Sequence[Run], train: Suite | None = None, *, seed: int = 0) -> AntonymKnowledge:
    """Which models know which antonyms, on the rows that all runs share.

    With a training set, also counts the contradictions that have one word in the premise and the other in the
    hypothesis, in any inflection. ``seed`` is for the permutation test.
    """
    names = model_names(runs)
    rows, notes = _common_rows(runs, names)
    pairs = _count_pairs(rows, names)
    contradictions = None
    if train is not None:
        counted = pair_counts(pairs.select(PAIR), train, directed=False, inflections=True)
        pairs, contradictions = pairs.with_columns(counted.counts.fill_null(0).alias(FREQUENCY)), counted.rows
    accuracies = {name: rate(rows[name], groups=rows["group"].rank("dense")) for name in names}
    rows_of = {status: rows.filter(pl.col("status") == status) for status in STATUSES}
    return AntonymKnowledge(
        models=accuracies,
        by_row={
            status: _antonym_set(pairs.join(part, on=PAIR, how="semi"), part.height) for status, part in rows_of.items()
        },
        by_pair={status: _antonym_set(pairs.filter(pl.col("status") == status)) for status in STATUSES},
        rivalry=_rivalry(pairs, accuracies, seed=seed) if len(names) == 2 else None,
        train=train.name if train is not None else None,
        train_contradictions=contradictions,
        notes=notes,
        pairs=pairs,
        card=runs[0].header.suites[_antonymy_suite(runs[0])],
    )


def _common_rows(runs: Sequence[Run], names: Sequence[str]) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The rows that all runs share, with ordered antonyms, a column per model (is it right?) and status; and notes."""
    scored = [score_rows(run, _antonymy_suite(run)) for run in runs]
    places = shared_places(scored)
    right = {name: rows.correct[chosen] for name, rows, chosen in zip(names, scored, places, strict=True)}
    common = scored[0].frame.select("group", *PAIR)[places[0]].hstack(pl.DataFrame(right))
    if not common.height:
        raise AcidtestError(
            "the runs have no row of stress/antonymy in common; make them with the same corpus and seed"
        )
    most = max(rows.height for rows in scored)
    notes = (f"on the {common.height:,} rows that all have, of {most:,}",) if common.height < most else ()
    models_right = pl.sum_horizontal(pl.col(list(names)))
    return common.with_columns(*_ordered_pair(), _status(models_right, len(names))), notes


def _antonymy_suite(run: Run) -> str:
    suites = [
        name
        for name, card in run.header.suites.items()
        if not name.endswith(CONTROL) and set(PAIR) <= set(card.columns)
    ]
    if len(suites) != 1:
        names = ", ".join(suites or run.header.suites)
        raise AcidtestError(f"a run of {run.header.model.name} holds {names}; one suite stress/antonymy was expected")
    return suites[0]


def _ordered_pair() -> tuple[pl.Expr, pl.Expr]:
    """The two words in lower case and alphabetical order."""
    words = [pl.col(name).str.strip_chars().str.to_lowercase() for name in PAIR]
    return pl.min_horizontal(words).alias(PAIR[0]), pl.max_horizontal(words).alias(PAIR[1])


def _status(right: pl.Expr, models: int) -> pl.Expr:
    status = pl.when(right == models).then(pl.lit(EASY)).when(right == 0).then(pl.lit(HARD)).otherwise(pl.lit(MIXED))
    return status.alias("status")


def _count_pairs(rows: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """A row for each pair of antonyms with its counts and status, the most frequent first."""
    counts = rows.group_by(PAIR, maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("rows"),
        *(pl.col(name).sum().cast(pl.Int64).alias(f"right: {name}") for name in names),
    )
    known_to = pl.sum_horizontal(_is_known(name) for name in names)
    return counts.with_columns(_status(known_to, len(names))).sort("rows", *PAIR, descending=[True, False, False])


def _is_known(model: str) -> pl.Expr:
    return pl.col(f"right: {model}") * 2 > pl.col("rows")


def _antonym_set(pairs: pl.DataFrame, rows: int | None = None) -> AntonymSet:
    """Summarise some pairs; ``rows`` defaults to all rows with these pairs. The mean's interval is cut off at 0."""
    rows = int(pairs["rows"].sum()) if rows is None else rows
    if FREQUENCY not in pairs.columns:
        return AntonymSet(rows, pairs.height)
    counts = pairs[FREQUENCY].to_numpy().astype(np.float64)
    mean = rate(counts)
    if counts.max(initial=0) > 1:
        mean = replace(mean, low=max(mean.low, 0.0))
    else:
        note = mean.note or "no pair stands in more than one contradiction: no interval"
        mean = Estimate(mean.value, n=mean.n, groups=mean.groups, note=note)
    return AntonymSet(rows, pairs.height, rate(counts > 0), mean)


def _rivalry(pairs: pl.DataFrame, accuracies: Mapping[str, Estimate], *, seed: int) -> Rivalry | None:
    """Compare the antonyms that two models know; None if their accuracies are equal."""
    weaker, stronger = sorted(accuracies, key=lambda name: accuracies[name].value)
    if accuracies[weaker].value == accuracies[stronger].value:
        return None
    by_stronger, by_weaker = _is_known(stronger), _is_known(weaker)
    conditions = {
        "both": by_stronger & by_weaker,
        "only the stronger": by_stronger & ~by_weaker,
        "only the weaker": by_weaker & ~by_stronger,
        "the stronger": by_stronger,
        "the weaker": by_weaker,
    }
    members = {name: pairs.filter(condition) for name, condition in conditions.items()}
    parts = {name: _antonym_set(known) for name, known in members.items()}
    if FREQUENCY not in pairs.columns:
        return Rivalry(stronger, weaker, parts)
    first, second = (
        members[name][FREQUENCY].to_numpy().astype(np.float64) for name in ("the weaker", "only the stronger")
    )
    test = unpaired_permutation(first, second, rng=generator(seed))
    return Rivalry(stronger, weaker, parts, unpaired_difference(first, second), test.name, test.p)


def antonym_types(table: FileTable) -> AntonymTypes:
    """Share of each type in a table of antonyms whose column ``type`` a person filled in; types may be missing."""
    frame = _check_table(table)
    types_of = {status: frame.filter(pl.col("status") == status)["type"] for status in STATUSES}
    return AntonymTypes(
        shares={
            status: {name: rate((types.drop_nulls() == name).to_numpy()) for name in TYPES}
            for status, types in types_of.items()
        },
        untyped={status: types.null_count() for status, types in types_of.items()},
        not_asked=frame.filter(pl.col("status").is_null())["type"].count(),
    )


def add_types(pairs: pl.DataFrame, earlier: FileTable | None) -> pl.DataFrame:
    """Add a column ``type`` to a table of antonyms, empty or with the types of an earlier table.

    Typed pairs of the earlier table that are not in ``pairs`` come last, with their words and type only.
    """
    if earlier is None:
        return pairs.with_columns(pl.lit(None, pl.String).alias("type"))
    typed = _typed_pairs(earlier)
    known = pairs.join(typed, on=PAIR, how="left", maintain_order="left")
    return pl.concat([known, typed.join(pairs, on=PAIR, how="anti", maintain_order="left")], how="diagonal")


def _typed_pairs(table: FileTable) -> pl.DataFrame:
    """The pairs with a type, each once, words in alphabetical order; a pair with two types is an error."""
    typed = (
        _check_table(table)
        .select(*_ordered_pair(), "type", row=pl.int_range(pl.len()))
        .drop_nulls("type")
        .unique([*PAIR, "type"], keep="first", maintain_order=True)
        .with_columns(first=pl.col("type").first().over(PAIR))
    )
    repeated = typed.filter(pl.col("type") != pl.col("first"))
    if repeated.height:
        word, antonym, second, row, first = repeated.row(0)
        problem = f"{word}, {antonym} is {second} here and {first} above; leave one type"
        raise FileError(table.path, problem, table.line(row))
    return typed.drop("row", "first")


def _check_table(table: FileTable) -> pl.DataFrame:
    """Check columns, types and statuses of a table; return it with types in lower case, empty ones null."""
    missing = [name for name in (*PAIR, "status", "type") if name not in table.frame.columns]
    if missing:
        advice = "a table that acidtest antonyms RUN… -o FILE.tsv wrote was expected"
        raise FileError(table.path, f"has no column {', '.join(missing)}; {advice}")
    types = pl.col("type").cast(pl.String).str.strip_chars().str.to_lowercase().replace("", None)
    frame: pl.DataFrame = table.frame.with_columns(types)
    for column, known in (("type", TYPES), ("status", STATUSES)):
        wrong = frame.select((pl.col(column).is_not_null() & ~pl.col(column).is_in(known)).arg_true()).to_series()
        if len(wrong):
            row = int(wrong[0])
            problem = UnknownNameError(column, str(frame[column][row]), known)
            raise FileError(table.path, str(problem), table.line(row))
    return frame


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
