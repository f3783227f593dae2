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
from acidtest.studies.rows import score_rows
from acidtest.text import breaking_nli
from acidtest.text.breaking_nli import CATEGORY

FRESH, PUBLISHED = "lexical", breaking_nli.NAME
WORDS = ("premise_word", "hypothesis_word")
COSINE, FREQUENCY = "cosine", "contradictions"
"""Columns: the cosine of the two words' vectors, and the training contradictions that hold them across sentences."""

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
class Training:
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
class Vectors:
    """The vectors that words were compared by, and how many of the words have one."""

    name: str
    size: int
    words: int
    known: int


@dataclass(frozen=True)
class Measured:
    """Sets of rows with their measures, and what these were taken from."""

    sets: tuple[LexicalRows, ...]
    train: Training | None = None
    vectors: Vectors | None = None


def published_names() -> pl.DataFrame:
    """The paper's categories in its order: columns category (ours), published (in its file) and printed."""
    return packaged_table("lexical/published_names.tsv")


def lexical_sets(model: str, runs: Sequence[Run]) -> list[LexicalRows]:
    """What one model answered on lexical suites, whichever of its runs has them; none where it was not asked any."""
    held: dict[str, Run] = {}
    for run in runs:
        for suite in filter(lambda name: is_lexical(name, run.header.suites[name]), run.header.suites):
            if suite in held:
                raise AcidtestError(f"two runs of {model} hold {suite!r}; pass one of them")
            held[suite] = run
    single = [suite for suite in held if suite.startswith(f"{FRESH}/") and ":" not in suite]
    joined = {f"{FRESH}/*": single} if len(single) > 1 else {suite: [suite] for suite in single}
    sets = {suite: [suite] for suite in held if suite not in single} | joined
    return [
        LexicalRows(model, name, pl.concat([_rows(held[suite], suite) for suite in suites], how="diagonal_relaxed"))
        for name, suites in sets.items()
    ]


def is_lexical(suite: str, card: Card) -> bool:
    """Whether a suite is one of ours, the published one, or says which words its pairs differ in."""
    base = suite.partition(":")[0]
    ours = base in (FRESH, PUBLISHED) or base.startswith(f"{FRESH}/") or set(WORDS) <= set(card.columns)
    return ours and not suite.endswith(CONTROL)


def is_single() -> pl.Expr:
    """Whether both words are known and each is one word."""
    return pl.all_horizontal(pl.col(name).str.contains(r"^\S+$").fill_null(False) for name in WORDS)


def pair_key() -> pl.Expr:
    """What two rows share that turn on the same two words, in either order and case."""
    lower = [pl.col(name).str.to_lowercase() for name in WORDS]
    return pl.concat_str(pl.min_horizontal(lower), pl.max_horizontal(lower), separator="\t")


def measured(sets: Iterable[LexicalRows], train: Suite | None, embeddings: str | Path | None) -> Measured:
    """The sets with the measures that can be taken; each file is gone through once for all of them.

    What rows tell themselves stands unless a file is given to take it from.
    """
    sets = tuple(sets)
    words = pl.concat([each.frame.filter(is_single()).select(WORDS) for each in sets]).unique(maintain_order=True)
    table, training, vectors = words, None, None
    if embeddings is not None:
        table, vectors = _with_cosines(table, embeddings)
    if train is not None:
        table, training = _with_counts(table, train)
    new = [name for name in (COSINE, FREQUENCY) if name in table.columns]
    sets = tuple(
        replace(each, frame=each.frame.drop(new, strict=False).join(table, on=WORDS, how="left", maintain_order="left"))
        for each in sets
    )
    return Measured(sets, training, vectors)


def _rows(run: Run, suite: str) -> pl.DataFrame:
    rows = score_rows(run, suite, texts=True)
    frame = rows.frame.with_columns(correct=rows.correct)
    if not set(WORDS) <= set(frame.columns):
        frame = _aligned(frame)
    absent: Mapping[str, pl.DataType] = {CATEGORY: pl.String()}
    frame = frame.with_columns(pl.lit(None, kind).alias(name) for name, kind in absent.items() if name not in frame)
    measures = [name for name in (COSINE, FREQUENCY) if name in rows.card.columns]
    return frame.select(
        "id", "premise", "group", CATEGORY, "label", *WORDS, "correct", pl.col(measures).cast(pl.Float64)
    )


def _aligned(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows of a foreign file with the words that differ."""
    from acidtest.text.alignment import replaced_words

    found = replaced_words(frame["premise"], frame["hypothesis"], compounds=True)
    return frame.with_columns(found[f"{name}s"].replace("", None).alias(name) for name in WORDS)


def _with_cosines(table: pl.DataFrame, path: str | Path) -> tuple[pl.DataFrame, Vectors]:
    from acidtest.io.embeddings import embeddings

    words = pl.concat([table[name] for name in WORDS]).unique()
    found = embeddings(path, words)
    cosines = found.cosines(*(table[name] for name in WORDS)).alias(COSINE)
    known = int(found.holds(words).sum())
    return table.with_columns(cosines), Vectors(Path(path).name, found.size, len(words), known)


def _with_counts(table: pl.DataFrame, train: Suite) -> tuple[pl.DataFrame, Training]:
    from acidtest.text.pair_counts import pair_counts, word_counts

    pairs = pair_counts(table.select(WORDS), train)
    words = word_counts(table[WORDS[1]].str.to_lowercase().unique(), train)
    told = Training(
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
    return table.with_columns(pairs.counts.cast(pl.Float64).alias(FREQUENCY)), told
