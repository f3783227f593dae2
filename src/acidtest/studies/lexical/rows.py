"""Answers on pairs that differ in one word: which word, how similar the two are, how often training opposed them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from acidtest.core.errors import AcidtestError
from acidtest.core.run import Run
from acidtest.core.suite import CONTROL, Card, Suite
from acidtest.io.wordlists import packaged_table
from acidtest.studies.rows import WORDS, score_rows
from acidtest.text import breaking_nli
from acidtest.text.breaking_nli import CATEGORY

FRESH, PUBLISHED = "lexical", breaking_nli.NAME
COSINE, FREQUENCY = "cosine", "contradictions"
"""Columns: the cosine of the two words' vectors, and the training contradictions that have them across sentences."""

CONTRADICTION = "contradiction"


@dataclass(frozen=True)
class LexicalRows:
    """One model's answers on a set of pairs, usually a suite; the suites of single categories make one set.

    ``frame`` has id, premise, group, category, label, the two words (null where no one word is replaced), correct, and
    the two measures where they are known.
    """

    model: str
    name: str
    frame: pl.DataFrame

    @property
    def of_single_words(self) -> pl.DataFrame:
        """The contradictions in which one word stands for one word: what sections 5.2 and 5.3 look at."""
        return self.frame.filter((pl.col("label") == CONTRADICTION) & is_single())


@dataclass(frozen=True)
class TrainingCounts:
    """What was counted in a training set: contradictions, and examples with each replacement word."""

    name: str
    contradictions: int
    examples: int
    words: int
    unseen: int
    rarest: tuple[str, int] | None
    commonest: tuple[str, int] | None
    mean: float
    median: float


@dataclass(frozen=True)
class VectorCoverage:
    """The vectors that words were compared by, and how many of the words have one."""

    name: str
    size: int
    words: int
    known: int


@dataclass(frozen=True)
class MeasuredRows:
    """Sets of rows with their measures, and what these were taken from."""

    sets: tuple[LexicalRows, ...]
    train: TrainingCounts | None = None
    vectors: VectorCoverage | None = None


def published_names() -> pl.DataFrame:
    """The paper's categories in its order: columns category (ours), published (in its file) and printed."""
    return packaged_table("lexical/published_names.tsv")


def suite_names(runs: Sequence[Run]) -> list[str]:
    """The names of all suites of some runs, each once."""
    return list(dict.fromkeys(name for run in runs for name in run.header.suites))


def lexical_rows(model: str, runs: Sequence[Run]) -> list[LexicalRows]:
    """What one model answered on lexical suites, whichever of its runs has them; none where it was not asked any."""
    runs_by_suite: dict[str, Run] = {}
    for run in runs:
        for suite, card in run.header.suites.items():
            if not is_lexical(suite, card):
                continue
            if suite in runs_by_suite:
                raise AcidtestError(f"two runs of {model} hold {suite!r}; pass one of them")
            runs_by_suite[suite] = run
    single = [suite for suite in runs_by_suite if suite.startswith(f"{FRESH}/") and ":" not in suite]
    joined = {f"{FRESH}/*": single} if len(single) > 1 else {suite: [suite] for suite in single}
    sets = {suite: [suite] for suite in runs_by_suite if suite not in single} | joined
    return [
        LexicalRows(
            model,
            name,
            pl.concat([_load_rows(runs_by_suite[suite], suite) for suite in suites], how="diagonal_relaxed"),
        )
        for name, suites in sets.items()
    ]


def is_lexical(suite: str, card: Card) -> bool:
    """Whether a suite is one of ours, the published one, or says which words its pairs differ in."""
    base = suite.partition(":")[0]
    ours = base in (FRESH, PUBLISHED) or base.startswith(f"{FRESH}/") or set(WORDS) <= set(card.columns)
    return ours and not suite.endswith(CONTROL)


def holds_lexical(run: Run) -> bool:
    """Whether a run has any lexical suite."""
    return any(is_lexical(name, card) for name, card in run.header.suites.items())


def is_single() -> pl.Expr:
    """Whether both words are known and each is one word."""
    return pl.all_horizontal(pl.col(name).str.contains(r"^\S+$").fill_null(False) for name in WORDS)


def pair_key() -> pl.Expr:
    """What two rows share that turn on the same two words, in either order and case."""
    lower = [pl.col(name).str.to_lowercase() for name in WORDS]
    return pl.concat_str(pl.min_horizontal(lower), pl.max_horizontal(lower), separator="\t")


def measure(sets: Iterable[LexicalRows], train: Suite | None, embeddings: str | Path | None) -> MeasuredRows:
    """The sets with the measures that can be taken; each file is read once for all of them.

    The measures that rows have already are kept unless a file is given to take them from.
    """
    sets = tuple(sets)
    words = pl.concat([rows.frame.filter(is_single()).select(WORDS) for rows in sets]).unique(maintain_order=True)
    table, training, vectors = words, None, None
    if embeddings is not None:
        table, vectors = _add_cosines(table, embeddings)
    if train is not None:
        table, training = _add_counts(table, train)
    new = [name for name in (COSINE, FREQUENCY) if name in table.columns]
    sets = tuple(
        replace(rows, frame=rows.frame.drop(new, strict=False).join(table, on=WORDS, how="left", maintain_order="left"))
        for rows in sets
    )
    return MeasuredRows(sets, training, vectors)


def _load_rows(run: Run, suite: str) -> pl.DataFrame:
    rows = score_rows(run, suite, texts=True)
    frame = rows.frame.with_columns(correct=rows.correct)
    if not set(WORDS) <= set(frame.columns):
        frame = _add_words(frame)
    absent: Mapping[str, pl.DataType] = {CATEGORY: pl.String()}
    frame = frame.with_columns(pl.lit(None, kind).alias(name) for name, kind in absent.items() if name not in frame)
    measures = [name for name in (COSINE, FREQUENCY) if name in rows.card.columns]
    return frame.select(
        "id", "premise", "group", CATEGORY, "label", *WORDS, "correct", pl.col(measures).cast(pl.Float64)
    )


def _add_words(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows of a foreign file with the words that differ."""
    from acidtest.text.alignment import replaced_words

    words = replaced_words(frame["premise"], frame["hypothesis"])
    return frame.with_columns(words[f"{name}s"].replace("", None).alias(name) for name in WORDS)


def _add_cosines(table: pl.DataFrame, path: str | Path) -> tuple[pl.DataFrame, VectorCoverage]:
    from acidtest.io.embeddings import embeddings

    words = pl.concat([table[name] for name in WORDS]).unique()
    vectors = embeddings(path, words)
    cosines = vectors.cosines(*(table[name] for name in WORDS)).alias(COSINE)
    known = int(vectors.holds(words).sum())
    return table.with_columns(cosines), VectorCoverage(Path(path).name, vectors.size, len(words), known)


def _add_counts(table: pl.DataFrame, train: Suite) -> tuple[pl.DataFrame, TrainingCounts]:
    from acidtest.text.pair_counts import pair_counts, word_counts

    pairs = pair_counts(table.select(WORDS), train)
    words = word_counts(table[WORDS[1]].str.to_lowercase().unique(), train)
    counts = TrainingCounts(
        name=train.name,
        contradictions=pairs.rows,
        examples=words.rows,
        words=len(words.words),
        unseen=int((words.counts == 0).sum()),
        rarest=words.rarest,
        commonest=words.commonest,
        mean=words.mean,
        median=words.median,
    )
    return table.with_columns(pairs.counts.cast(pl.Float64).alias(FREQUENCY)), counts
