"""Accuracy on pairs that differ in one word: by category, by similarity and training counts of the words, by test set.

The interval of a bin is the wider of two, over premises and over pairs of words; tests of trends are robust to both
(``stats.clusters``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.estimate import Estimate
from acidtest.core.run import Run, SuitePattern, runs_by_suite
from acidtest.core.suite import Suite
from acidtest.pairs.categories import BREAKING_NLI, CATEGORY
from acidtest.stats.clusters import Clusterings, trend
from acidtest.stats.intervals import rate, unpaired_difference
from acidtest.stats.resampling import generator
from acidtest.stats.significance import adjusted, unpaired_permutation
from acidtest.studies.scoring.rows import WORDS, score_rows

FRESH, PUBLISHED = "lexical", BREAKING_NLI
LEXICAL = SuitePattern((FRESH, f"{FRESH}/*", PUBLISHED), columns=(WORDS,))
"""The generated suites, the published one, and those with columns for the two words."""

COSINE, FREQUENCY = MEASURES = ("cosine", "contradictions")
"""Columns: the cosine of the two words' vectors, and the training contradictions with one word in each sentence."""


@dataclass(frozen=True)
class LexicalRows:
    """One model's answers on a set of pairs: one suite, or all suites of single categories together.

    ``frame`` has id, premise, group, category, label, the two words (null where none were found), correct, and
    the two measures where they are known.
    """

    model: str
    name: str
    frame: pl.DataFrame


@dataclass(frozen=True)
class TrainingCounts:
    """Counts from a training set: its contradictions, its examples, and how many hold each replacement word."""

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
    """The word vectors behind the cosines, and how many of the words have one."""

    name: str
    size: int
    words: int
    known: int


@dataclass(frozen=True)
class BinScale:
    """Bins along a measure: their names and lower ends; ``outside`` names what is below the first bin."""

    column: str
    names: tuple[str, ...]
    starts: tuple[float, ...]
    outside: str = ""


COSINES = BinScale(
    COSINE, ("0.5-0.6", "0.6-0.7", "0.7-0.8", "0.8-0.9", "0.9-1.0"), (0.5, 0.6, 0.7, 0.8, 0.9), "below 0.5"
)
FREQUENCIES = BinScale(FREQUENCY, ("0", "1-4", "5-9", "10-49", "50-99", "100+"), (0, 1, 5, 10, 50, 100))
"""The bins of Glockner et al. (2018), sections 5.2 and 5.3; a bin includes its lower end, the last cosine bin both."""


@dataclass(frozen=True)
class AccuracyBin:
    """Accuracy on the rows of a bin, and the number of different word pairs in them."""

    accuracy: Estimate
    pairs: int


@dataclass(frozen=True)
class BinTrend:
    """The change of accuracy from one bin to the next, and its test; p is NaN where there is none."""

    estimate: Estimate
    test: str
    p: float
    p_adjusted: float = math.nan


@dataclass(frozen=True)
class BinnedAccuracy:
    """Accuracy on contradictions of single words by bins of a measure, outside all bins, and the trend over bins."""

    bins: Mapping[str, AccuracyBin]
    outside: Mapping[str, AccuracyBin]
    trend: BinTrend

    @property
    def parts(self) -> dict[str, AccuracyBin]:
        """All bins, followed by the non-empty parts outside the bins."""
        return {**self.bins, **{name: part for name, part in self.outside.items() if part.accuracy.n}}


@dataclass(frozen=True)
class AccuracyDrop:
    """Accuracy on an original test set, and the accuracy on the lexical pairs minus it."""

    original: str
    accuracy: Estimate
    difference: Estimate = field(metadata={"json": "estimate"})
    test: str
    p: float
    p_adjusted: float = math.nan
    note: str = ""


@dataclass(frozen=True)
class WordKnowledge:
    """The accuracies of one model on one set of pairs."""

    model: str
    suite: str
    overall: Estimate
    categories: Mapping[str, Estimate]
    by_cosine: BinnedAccuracy | None = None
    by_frequency: BinnedAccuracy | None = None
    drop: AccuracyDrop | None = None


def suite_names(runs: Sequence[Run]) -> list[str]:
    """The names of all suites of some runs, each once."""
    return list(dict.fromkeys(name for run in runs for name in run.header.suites))


def lexical_rows(model: str, runs: Sequence[Run]) -> list[LexicalRows]:
    """One model's answers on the lexical suites of all its runs; empty if there are none."""
    by_suite = runs_by_suite(model, runs, lambda run, suite: LEXICAL.matches(suite, run.header.suites[suite]))
    single = [suite for suite in by_suite if suite.startswith(f"{FRESH}/") and ":" not in suite]
    joined = {f"{FRESH}/*": single} if len(single) > 1 else {suite: [suite] for suite in single}
    sets = {suite: [suite] for suite in by_suite if suite not in single} | joined
    return [
        LexicalRows(
            model,
            name,
            pl.concat([_load_rows(by_suite[suite], suite) for suite in suites], how="diagonal_relaxed"),
        )
        for name, suites in sets.items()
    ]


def _is_single() -> pl.Expr:
    """Whether both words are known and each is one word."""
    return pl.all_horizontal(pl.col(name).str.contains(r"^\S+$").fill_null(False) for name in WORDS)


def pair_key() -> pl.Expr:
    """A key for the two words of a row that ignores their order and case."""
    lower = [pl.col(name).str.to_lowercase() for name in WORDS]
    return pl.concat_str(pl.min_horizontal(lower), pl.max_horizontal(lower), separator="\t")


def measure(
    sets: Sequence[LexicalRows], train: Suite | None, embeddings: Path | None
) -> tuple[tuple[LexicalRows, ...], TrainingCounts | None, VectorCoverage | None]:
    """Add the measures that the given files allow to the sets, and describe the files; each is read only once.

    Measures that rows already have are kept, unless the file to compute them from is given.
    """
    pairs = pl.concat([rows.frame.filter(_is_single()).select(WORDS) for rows in sets]).unique(maintain_order=True)
    table, counts, coverage = pairs, None, None
    if embeddings is not None:
        from acidtest.io.embeddings import embeddings as read_embeddings

        words = pl.concat([pairs[name] for name in WORDS]).unique()
        vectors = read_embeddings(embeddings, words)
        coverage = VectorCoverage(Path(embeddings).name, vectors.size, len(words), int(vectors.holds(words).sum()))
        table = table.with_columns(vectors.cosines(*(pairs[name] for name in WORDS)).alias(COSINE))
    if train is not None:
        from acidtest.pairs.counts import pair_counts, word_counts

        by_pair = pair_counts(pairs, train)
        by_word = word_counts(pairs[WORDS[1]].str.to_lowercase().unique(), train)
        counts = TrainingCounts(
            name=train.name,
            contradictions=by_pair.rows,
            examples=by_word.rows,
            words=len(by_word.words),
            unseen=int((by_word.counts == 0).sum()),
            rarest=by_word.rarest,
            commonest=by_word.commonest,
            mean=by_word.mean,
            median=by_word.median,
        )
        table = table.with_columns(by_pair.counts.cast(pl.Float64).alias(FREQUENCY))
    computed = [name for name in MEASURES if name in table.columns]
    frames = (rows.frame.drop(computed, strict=False) for rows in sets)
    joined = (frame.join(table, on=WORDS, how="left", maintain_order="left") for frame in frames)
    return tuple(replace(rows, frame=frame) for rows, frame in zip(sets, joined, strict=True)), counts, coverage


def _load_rows(run: Run, suite: str) -> pl.DataFrame:
    rows = score_rows(run, suite, texts=True)
    frame = rows.frame.with_columns(correct=rows.correct)
    if not set(WORDS) <= set(frame.columns):
        from acidtest.pairs.alignment import replaced_words

        words = replaced_words(frame["premise"], frame["hypothesis"])
        frame = frame.with_columns(words[f"{name}s"].replace("", None).alias(name) for name in WORDS)
    category = CATEGORY if CATEGORY in frame.columns else pl.lit(None, pl.String).alias(CATEGORY)
    measures = [name for name in MEASURES if name in rows.card.columns]
    return frame.select(
        "id", "premise", "group", category, "label", *WORDS, "correct", pl.col(measures).cast(pl.Float64)
    )


def word_knowledge(rows: LexicalRows, drop: AccuracyDrop | None) -> WordKnowledge:
    """Accuracy of a model on a set of pairs, whole and in parts."""
    frame = rows.frame
    names = frame[CATEGORY].drop_nulls().unique(maintain_order=True).to_list()
    return WordKnowledge(
        model=rows.model,
        suite=rows.name,
        overall=_accuracy_by_premise(frame),
        categories={name: _accuracy_by_premise(frame.filter(pl.col(CATEGORY) == name)) for name in names},
        by_cosine=_binned_accuracy(rows, COSINES),
        by_frequency=_binned_accuracy(rows, FREQUENCIES),
        drop=drop,
    )


def _accuracy_by_premise(frame: pl.DataFrame) -> Estimate:
    return rate(frame["correct"].to_numpy(), groups=_codes(frame["group"]), strata=_codes(frame[CATEGORY]))


def _binned_accuracy(rows: LexicalRows, scale: BinScale) -> BinnedAccuracy | None:
    """Accuracy on contradictions by bins of a measure; None if no row has the measure."""
    if scale.column not in rows.frame.columns or not rows.frame[scale.column].count():
        return None
    contradictions = rows.frame.filter(pl.col("label") == "contradiction")
    single = contradictions.filter(_is_single())
    value = pl.col(scale.column)
    numbers = single[scale.column].fill_null(math.nan).to_numpy()
    step = np.searchsorted(np.array(scale.starts), numbers, side="right") - 1
    step[np.isnan(numbers)] = -1
    parts = single.with_columns(step=step)
    outside = {scale.outside: parts.filter(value < scale.starts[0])} if scale.outside else {}
    # Contradictions without the measure: it is unknown for one of the words, or several words were replaced.
    outside["unknown"] = parts.filter(value.is_null())
    outside["several words"] = contradictions.drop_nulls(WORDS).filter(~_is_single())
    inside = parts.filter(pl.col("step") >= 0)
    clusterings = Clusterings.of(_codes(inside["group"]), _codes(inside.select(pair_key()).to_series()))
    effect = trend(inside["correct"].to_numpy(), inside["step"].to_numpy(), clusterings, unit="premises and word pairs")
    return BinnedAccuracy(
        bins={name: _accuracy_bin(parts.filter(pl.col("step") == number)) for number, name in enumerate(scale.names)},
        outside={name: _accuracy_bin(part) for name, part in outside.items()},
        trend=BinTrend(effect.estimate, effect.test, effect.p),
    )


def _accuracy_bin(frame: pl.DataFrame) -> AccuracyBin:
    """Accuracy with the wider of two intervals, over premises and over word pairs."""
    keys = frame.select(pair_key().fill_null("")).to_series()
    over_premises = _accuracy_by_premise(frame)
    over_pairs = rate(frame["correct"].to_numpy(), groups=_codes(keys), strata=_codes(frame[CATEGORY]))
    method, note = over_pairs.method.replace("groups", "word pairs"), over_pairs.note.replace("group", "word pair")
    over_pairs = replace(over_pairs, method=method, note=note)
    widths = [estimate.high - estimate.low for estimate in (over_premises, over_pairs)]
    premises_wider = math.isnan(widths[0]) or widths[0] >= widths[1]
    return AccuracyBin(over_premises if premises_wider else over_pairs, keys.n_unique())


def _codes(labels: pl.Series) -> npt.NDArray[np.int64]:
    return labels.fill_null("").rank("dense").to_numpy().astype(np.int64)


def accuracy_drop(rows: LexicalRows, models: Mapping[str, Sequence[Run]], original: str, seed: int) -> AccuracyDrop:
    """Accuracy on the suite ``original``, and the accuracy on these rows minus it, as in table 3."""
    run, note = _original_run(rows.model, models, original)
    other = score_rows(run, original)
    first, second = rows.frame["correct"].to_numpy().astype(np.float64), other.correct.astype(np.float64)
    groups: dict[str, Any] = {"groups_first": _codes(rows.frame["group"]), "groups_second": other.groups}
    test = unpaired_permutation(first, second, **groups, rng=generator(seed))
    change = unpaired_difference(first, second, **groups)
    return AccuracyDrop(original, rate(second, groups=other.groups), change, test.name, test.p, note=note)


def _original_run(model: str, models: Mapping[str, Sequence[Run]], original: str) -> tuple[Run, str]:
    """The run that has the original test set: the model's own, or the only one there is."""
    runs = [run for members in models.values() for run in members]
    holders = [run for run in runs if original in run.header.suites]
    if not holders:
        raise UnknownNameError("suite of these runs", original, suite_names(runs))
    same_model = runs_by_suite(model, models[model], lambda _, suite: suite == original)
    if same_model:
        return same_model[original], ""
    # Predictions scored from two files are named after the files, so that one model may have two names.
    lexical_models = [name for name, members in models.items() if LEXICAL(members)]
    if len(holders) > 1 or len(lexical_models) > 1:
        raise AcidtestError(
            f"no run of {model} has the suite {original!r}; run it on that too, or leave --original out"
        )
    return holders[0], f"{original} was answered by {holders[0].header.model.name}, taken to be the same model"


def adjust_tests(knowledge: Sequence[WordKnowledge], correction: str) -> tuple[WordKnowledge, ...]:
    """The results with adjusted p-values; all trends are result family, all drops another."""
    binned = [part for result in knowledge for part in (result.by_cosine, result.by_frequency) if part]
    trends = iter(adjusted([part.trend.p for part in binned], correction).tolist())
    drops = iter(adjusted([result.drop.p for result in knowledge if result.drop], correction).tolist())

    def with_adjusted(part: BinnedAccuracy | None) -> BinnedAccuracy | None:
        return replace(part, trend=replace(part.trend, p_adjusted=next(trends))) if part else None

    return tuple(
        replace(
            result,
            by_cosine=with_adjusted(result.by_cosine),
            by_frequency=with_adjusted(result.by_frequency),
            drop=replace(result.drop, p_adjusted=next(drops)) if result.drop else None,
        )
        for result in knowledge
    )
