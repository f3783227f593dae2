"""Agreement between people who gave the same rows labels or categories, and how often their labels are right."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.document import (
    Cell,
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
from acidtest.core.estimate import Estimate, signature
from acidtest.core.numbers import decimal, interval, share
from acidtest.core.ratings import (
    DISCARDED,
    KEPT,
    MAJORITY,
    UNANIMOUS,
    VOTES,
    Attendance,
    ItemShare,
    Ratings,
    majority_labels,
    ordered_labels,
)
from acidtest.core.study import study
from acidtest.io.published import CORPUS, PublishedScore, published_of_people, published_scores
from acidtest.pairs.heuristics import HANS, HEURISTICS
from acidtest.pairs.taxonomy import CATEGORIES, NEUTRAL_FEATURES, path
from acidtest.stats.agreement import NO_ROWS, cohen_kappa, fleiss_kappa, krippendorff_alpha, label_kappas
from acidtest.stats.annotators import InferenceAccuracy, accepted, are_accepted, inference_accuracy
from acidtest.stats.intervals import rate
from acidtest.studies.agreement.categories import CategoryAgreement, MarkAgreement, category_agreement, two_people

Flags = npt.NDArray[np.bool_]

SCHEMA = 1

LABELS_PUBLISHED, CATEGORIES_PUBLISHED, PEOPLE_PUBLISHED = "label agreement", "category agreement", "human study"
"""The names under which published numbers are stored: on labels, on categories, and on people kept or discarded."""

_MOST_LEFT_OUT = 0.05
"""Largest share of two-label rows to leave out: human performance then changes by less than two points."""


@dataclass(frozen=True)
class LabelAgreement:
    """Counts of one label as given and as gold, and its kappa on all rows and on the rows with gold."""

    given: int
    gold: int
    kappa: Estimate
    kappa_with_gold: Estimate


@dataclass(frozen=True)
class HumanBasis:
    """The number of rows that human performance is computed on, and of those left out.

    ``few_labels`` counts rows with gold but too few labels: fewer than two, or than three where gold is a vote of the
    same labels. ``floor`` is the lowest possible value where gold is the majority of the same labels, else None.
    """

    rows: int
    without_gold: int
    few_labels: int
    floor: float | None = field(default=None, metadata={"json": "lowest_possible"})


@dataclass(frozen=True)
class AccuracySlice:
    """Accuracy of judgements on the rows with one value of a factor; factor and value are None for all rows.

    The interval resamples people. ``published`` has the accuracy that a paper reports on such rows, by system.
    """

    factor: str | None
    value: str | None
    accuracy: Estimate
    published: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class AgreementResult:
    """Agreement on the rows of a file, with published numbers.

    ``rated`` rows have two labels or more; agreement is measured on these only. ``given`` counts the labels of all
    rows, ``unasked`` the rows for which nobody was asked for a label; ``labels_per_row`` is the lowest and the highest
    number of labels of a rated row. ``kappa_with_gold`` is on rows with gold only, as in papers, which leaves out rows
    without a majority. ``observed`` is the share of pairs of labels that agree, ``human`` the share of a row's labels
    that equal its gold. ``cohen`` is None unless there are exactly two people.
    """

    name: str
    rows: int
    rated: int
    given: int
    unasked: int = field(metadata={"json": "not_asked_for_a_label"})
    labels_per_row: tuple[int, int]
    with_gold: int
    gold_from: str
    kappa: Estimate
    kappa_with_gold: Estimate
    labels: Mapping[str, LabelAgreement]
    observed: Estimate = field(metadata={"json": "observed_agreement"})
    human: Estimate = field(metadata={"json": "human_performance"})
    human_basis: HumanBasis = field(metadata={"json": "human_performance_basis"})
    alpha: Estimate
    cohen: Estimate | None
    categories: CategoryAgreement | None
    accuracy: InferenceAccuracy | None = field(metadata={"json": "inference_accuracy"})
    slices: tuple[AccuracySlice, ...] = field(metadata={"json": "accuracy_by"})
    shares: tuple[ItemShare, ...]
    attendance: Attendance | None
    questionnaire: str | None
    discarded: Mapping[str, int]
    corpus: str | None
    published: tuple[PublishedScore, ...]
    signature: str
    schema: int = SCHEMA
    items: pl.DataFrame | None = field(default=None, compare=False, metadata={"json": None})

    def published_value(self, statistic: str, label: str = "") -> float | None:
        """The published value of a statistic, for all labels or for one; None if there is none."""
        by = {CORPUS: self.corpus, "statistic": statistic} | ({"label": label} if label else {})
        return next((score.value for score in self.published if score.by == by), None)


@study(group="people")
def agreement(
    ratings: Annotated[Ratings, "Labels or categories that several people gave the same rows."],
    *,
    seed: Annotated[int, "Seed of every random choice."] = 0,
) -> AgreementResult:
    """Measure how far people agree: kappa and alpha of labels and categories, IOU, human performance.

    Recognised are annotator_labels (SNLI, MultiNLI, Breaking NLI), a column for each person (label1, label2 …), and a
    row for each person and item (item, annotator, label, categories). Without gold, the majority of a row's labels is
    its gold.
    """
    counts, groups = ratings.counts, ratings.groups
    has_gold = ratings.gold.is_not_null().to_numpy()
    labels_of_row = counts.sum(axis=1)
    rated = labels_of_row[labels_of_row >= 2]
    return AgreementResult(
        name=ratings.name,
        rows=len(counts),
        rated=len(rated),
        given=int(labels_of_row.sum()),
        unasked=ratings.unasked,
        labels_per_row=(int(rated.min()), int(rated.max())) if len(rated) else (0, 0),
        with_gold=int(has_gold.sum()),
        gold_from=ratings.gold_from,
        labels=_agreement_by_label(ratings, has_gold),
        kappa=fleiss_kappa(counts, groups=groups),
        kappa_with_gold=fleiss_kappa(counts[has_gold], groups=_chosen_groups(groups, has_gold)),
        observed=observed_agreement(counts, groups=groups, draws_seed=seed),
        human=human_performance(ratings, draws_seed=seed),
        human_basis=human_basis(ratings),
        alpha=krippendorff_alpha(counts, groups=groups),
        cohen=_cohen_kappa(ratings),
        categories=_category_agreement(ratings, seed),
        accuracy=_inference_accuracy(ratings, seed),
        slices=accuracy_slices(ratings, draws_seed=seed),
        shares=tuple(
            replace(share, suite=share.suite or None, source=share.source or None) for share in ratings.shares
        ),
        attendance=ratings.attendance,
        questionnaire=ratings.questionnaire or None,
        discarded=dict(ratings.discarded),
        corpus=ratings.corpus or None,
        published=_published_agreement(ratings.corpus),
        signature=signature(ratings.signature, f"seed:{seed}"),
        items=ratings.items,
    )


def observed_agreement(counts: npt.ArrayLike, *, groups: npt.ArrayLike | None = None, draws_seed: int = 0) -> Estimate:
    """Share of the pairs of labels within a row that agree, averaged over rows with two labels or more."""
    table = np.asarray(counts, dtype=np.float64)
    labels_of_row = table.sum(axis=1)
    rated = labels_of_row >= 2
    agreeing = (table * (table - 1)).sum(axis=1)[rated] / (labels_of_row * (labels_of_row - 1))[rated]
    return rate(agreeing, groups=_chosen_groups(groups, rated), draws_seed=draws_seed, empty=NO_ROWS)


def human_performance(ratings: Ratings, *, draws_seed: int = 0) -> Estimate:
    """Share of a row's labels that equal its gold, averaged over rows with gold.

    Defined as in Gong, Luo and Zhang (2018) and Glockner et al. (2018). Rows with one label are left out. A gold set
    such as non-entailment accepts all of its labels. Where gold is a vote of the same labels, rows with two labels are
    left out as well: both are right or there is no gold. If these are more than 5 %, the result is NaN, because the
    remaining rows often got their third label only because the first two disagreed.
    """
    if ratings.gold_from == UNANIMOUS:
        return Estimate(math.nan, note="gold is what everybody said, so that everybody is right")
    labels_of_row = ratings.counts.sum(axis=1)
    twos, rated = int((labels_of_row == 2).sum()), int((labels_of_row >= 2).sum())
    if ratings.gold_from in VOTES and twos > _MOST_LEFT_OUT * rated:
        which = "all rows have" if twos == rated else f"{twos:,} of {rated:,} rows have"
        note = f"gold is the vote of the same labels, and {which} two; name gold from elsewhere with --gold"
        return Estimate(math.nan, note=note)
    used = _rows_with_gold_and_labels(ratings)
    right = (ratings.counts * accepted(ratings.labels, ratings.gold)).sum(axis=1)[used] / labels_of_row[used]
    none = "no row with gold and two labels or more"
    return rate(right, groups=_chosen_groups(ratings.groups, used), draws_seed=draws_seed, empty=none)


def human_basis(ratings: Ratings) -> HumanBasis:
    """Count the rows that human performance is computed on, and compute its floor where gold is people's own majority.

    More than half of the labels of a row then equal gold by definition: two of three, three of five.
    """
    used, labels_of_row = _rows_with_gold_and_labels(ratings), ratings.counts.sum(axis=1)
    has_gold = ratings.gold.is_not_null().to_numpy()
    majority = majority_labels(ratings.counts, ratings.labels)
    is_vote = ratings.gold_from == MAJORITY or bool((ratings.gold == majority).fill_null(False).to_numpy()[used].all())
    floor = float(np.mean((labels_of_row[used] // 2 + 1) / labels_of_row[used])) if is_vote and used.any() else None
    without_gold = int((~has_gold).sum()) - ratings.unasked
    return HumanBasis(int(used.sum()), without_gold, int((has_gold & ~used).sum()), floor)


def accuracy_slices(ratings: Ratings, *, draws_seed: int = 0) -> tuple[AccuracySlice, ...]:
    """Accuracy of judgements against the reference labels, on all rows, by label and by each factor.

    The judgements of one person are one group. Empty where there is no reference.
    """
    said, gold, factors = ratings.said, ratings.reference, ratings.factors
    if said is None or gold is None or factors is None:
        return ()
    given = said.drop_nulls("label")
    given = given.filter(gold.is_not_null().gather(given["row"]))
    rows = given["row"].to_numpy()
    right = are_accepted(given, ratings.labels, gold).astype(np.float64)
    people = given["annotator"].fill_null("").rank("dense").to_numpy()
    slices = []
    for factor, column in {"": pl.Series([""] * len(gold)), "label": gold, **factors.to_dict()}.items():
        values = column.gather(rows).cast(pl.String)
        for value in sorted(values.drop_nulls().unique(), key=lambda name: ((*HEURISTICS, name).index(name), name)):
            chosen = (values == value).fill_null(False).to_numpy()
            accuracy = rate(right[chosen], groups=people[chosen], draws_seed=draws_seed)
            published = published_of_people(ratings.corpus.lower(), {factor: value} if factor else {})
            slices.append(AccuracySlice(factor or None, value or None, accuracy, published))
    return tuple(slices)


def _agreement_by_label(ratings: Ratings, has_gold: Flags) -> dict[str, LabelAgreement]:
    """Agreement on each label that somebody gave or that is the gold of a row."""
    counts, groups = ratings.counts, ratings.groups
    golds = Counter(ratings.gold.drop_nulls().to_list())
    kappas = label_kappas(counts, groups=groups)
    kappas_with_gold = label_kappas(counts[has_gold], groups=_chosen_groups(groups, has_gold))
    none = Estimate(math.nan, note="nobody gave this label")
    labels = {name: LabelAgreement(0, golds[name], none, none) for name in golds}
    for column, name in enumerate(ratings.labels):
        given = int(counts[:, column].sum())
        labels[name] = LabelAgreement(given, golds[name], kappas[column], kappas_with_gold[column])
    return {name: labels[name] for name in ordered_labels(list(labels))}


def _cohen_kappa(ratings: Ratings) -> Estimate | None:
    both = two_people(ratings.said, "label") if ratings.said is not None and ratings.labels else None
    if both is None:
        return None
    rows = both[0]["row"].to_numpy()
    row_groups = rows if ratings.groups is None else ratings.groups[rows]
    return cohen_kappa(both[0]["label"].to_list(), both[1]["label"].to_list(), groups=row_groups)


def _category_agreement(ratings: Ratings, seed: int) -> CategoryAgreement | None:
    if ratings.said is None or not ratings.categories:
        return None
    gold = ratings.reference
    return category_agreement(
        ratings.said,
        ratings.categories,
        rows=len(ratings.counts),
        groups=ratings.groups,
        neutral=None if gold is None else (gold.is_null() | (gold == "neutral")).fill_null(True).to_numpy(),
        draws_seed=seed,
    )


def _inference_accuracy(ratings: Ratings, seed: int) -> InferenceAccuracy | None:
    said, gold, labels = ratings.said, ratings.reference, ratings.labels
    if said is None or gold is None or not labels:
        return None
    source = ratings.reference_from
    return inference_accuracy(said, labels, gold, gold_from=source, groups=ratings.groups, draws_seed=seed)


def _published_agreement(corpus: str) -> tuple[PublishedScore, ...]:
    """Numbers that papers publish about the annotators of a corpus; empty without a corpus."""
    suites = (LABELS_PUBLISHED, CATEGORIES_PUBLISHED, PEOPLE_PUBLISHED) if corpus else ()
    scores = [score for suite in suites for score in published_scores(suite) if score.by[CORPUS] == corpus]
    return tuple(replace(score, note="") for score in scores)


def _chosen_groups(groups: npt.ArrayLike | None, rows: Flags) -> npt.NDArray[Any] | None:
    """The groups of the chosen rows; None where every row is its own group."""
    return None if groups is None else np.asarray(groups)[rows]


def _rows_with_gold_and_labels(ratings: Ratings) -> Flags:
    """Flags of the rows that human performance is computed on: those with gold and enough labels."""
    fewest = 3 if ratings.gold_from in VOTES else 2
    return np.asarray(ratings.gold.is_not_null().to_numpy() & (ratings.counts.sum(axis=1) >= fewest))


_MOST_NAMED = 6
"""How many names a sentence lists at most."""

_METHODS = (
    "Fleiss' kappa: one minus the disagreement of people within rows over the one that their shares of all labels make "
    "by chance; of a category, that of having marked it. The mean is over categories that have one.",
    "Krippendorff's alpha: the same with chance drawn without replacement, so that few rows do not flatter; of whole "
    "sets, disagreement is their distance (MASI, or Jaccard's).",
    "Cohen's kappa: for two people; chance is what each one's own habits make.",
    "IOU: categories that two people both marked over those that either did, a mean over rows; rows on which nobody "
    "marked anything are 0/0 and left out.",
    "Inference accuracy: how often a person's own label is a gold that does not come from these people.",
    "Intervals: 95 %, a t interval with the jackknife's variance over groups (rows of one premise) on Fisher's scale "
    "for coefficients; shares and IOU have a bootstrap over groups or Wilson's.",
)


def document(result: AgreementResult) -> Document:
    """A document with sections on labels, categories, accuracy, the whole file and people; empty ones are left out."""
    sections: dict[str, tuple[Part, ...]] = {
        "Labels": tuple(_labels(result)),
        "Categories": tuple(_categories(result)),
        "Judgements beside gold": tuple(_judgements(result)),
        "As a whole": (*_whole_tables(result), *(Note(text, quiet=True) for text in _gold_notes(result))),
        "People": tuple(_people(result)),
    }
    return Document(
        title="acidtest agreement",
        headline=_headline(result),
        parts=(
            *map(Note, _describe_rows(result)),
            *(Section(title, parts) for title, parts in sections.items() if parts or title == "As a whole"),
        ),
        models=(result.name,),
        signatures={result.name: result.signature},
        methods=_METHODS,
    )


def _headline(result: AgreementResult) -> str:
    """The one number that says most: kappa of labels, the mean kappa of categories, or how often people are right."""
    if _has_label_agreement(result) and result.kappa.known:
        text = f"people agree on labels with a Fleiss' kappa of {_coefficient(result.kappa)}, 0 being chance"
    elif result.categories and result.categories.kappa.known:
        kappa = _coefficient(result.categories.kappa)
        text = f"people agree on categories with a mean Fleiss' kappa of {kappa}, 0 being chance"
    elif result.accuracy and result.accuracy.average.known:
        text = f"people's labels are gold in {share(result.accuracy.average.value)} % of their judgements"
    else:
        text = f"agreement cannot be measured: {result.kappa.note}"
    return f"{result.name}: {text}."


def _coefficient(value: Estimate) -> str:
    return f"{decimal(value.value)} ({interval(value, 'decimal')})" if value.low == value.low else decimal(value.value)


def _describe_rows(result: AgreementResult) -> Iterator[str]:
    """The number of rows, of labels or people per row, and of items that a questionnaire discarded."""
    marks, rows = result.categories, describe_count(result.rows, "row")
    if not result.labels and marks:
        numbers = _describe_numbers(marks.people_per_row, "people") if marks.rated else ""
        left_out = _describe_left_out(marks.rows - marks.rated, "that fewer than two people judged")
        yield f"{describe_count(marks.rows, 'row')}{numbers}{left_out}."
    elif not result.rated and result.accuracy:
        yield f"{rows}, one label each: nothing to agree on."
    else:
        numbers = _describe_numbers(result.labels_per_row, "labels") if result.rated else ""
        unasked = f"; {describe_count(result.unasked, 'row')} of which nobody was asked for a label"
        left_out = _describe_left_out(result.rows - result.rated - result.unasked, "with fewer than two labels")
        yield f"{rows}{numbers}{unasked if result.unasked else ''}{left_out}."
    if result.questionnaire:
        total = sum(result.discarded.values())
        reasons = ", ".join(f"{reason} {number:,}" for reason, number in result.discarded.items())
        discarded = f"{describe_count(total, 'item')} discarded ({reasons})" if total else "no item discarded"
        without = result.rows - result.with_gold - result.unasked
        gold = f", {result.with_gold:,} with gold, {without:,} without" if result.labels else ""
        yield f"asked with {result.questionnaire}: {discarded}{gold}."


def _describe_numbers(per_row: tuple[int, int], noun: str) -> str:
    fewest, most = per_row
    return f", {fewest} {noun} each" if fewest == most else f", {fewest} to {most} {noun} each"


def _describe_left_out(rows: int, reason: str) -> str:
    return f"; {describe_count(rows, 'row')} {reason} left out" if rows else ""


def _labels(result: AgreementResult) -> Iterator[Part]:
    """A table and a chart of the kappa of each label (Glockner et al. 2018, table 2)."""
    if not _has_label_agreement(result):
        return
    columns = [Column("given", "count"), Column("gold", "count"), Column("kappa", "decimal")]
    columns += [Column("kappa of rows with gold", "decimal"), _paper_column(result, "decimal")]
    all_have_gold = result.kappa_with_gold.n == result.kappa.n
    overall = LabelAgreement(result.given, result.with_gold, result.kappa, result.kappa_with_gold)
    rows = []
    for name, label in {**result.labels, "": overall}.items():
        with_gold = None if all_have_gold else label.kappa_with_gold
        cells = (label.given, label.gold, label.kappa, with_gold, _paper(result, "kappa", name))
        rows.append(Row(name or "overall", cells, role="" if name else "total"))
    caption = "How often each label was given and is gold, and Fleiss' kappa with its 95 % interval"
    yield _table("labels", caption, columns, rows, "label", _estimate_notes(rows))
    yield _kappa_chart("labels")


def _categories(result: AgreementResult) -> Iterator[Part]:
    """Agreement on each category (figure 2 of Joshi et al. 2020), and on each feature of neutral pairs."""
    marks = result.categories
    if marks is None or not marks.rated:
        return
    rows = [_mark_row(name, category) for name, category in marks.categories.items()]
    total = sum(category.marked for category in marks.categories.values())
    heading = "All categories" if any(row.heading for row in rows) else ""
    cells = (total, marks.kappa, marks.alpha, None, _paper(result, "mean kappa"))
    columns = [Column("marked", "count"), Column("kappa", "decimal"), Column("alpha", "decimal")]
    columns += [Column("Cohen's kappa", "decimal"), _paper_column(result, "decimal")]
    caption = (
        "How often each category was marked on rows that two people or more judged, and coefficients with 95 % "
        "intervals (figure 2 of Joshi et al. 2020)"
    )
    mean = Row("mean", cells, heading, role="total")
    yield _table("categories", caption, columns, [*rows, mean], "category", _estimate_notes(rows))
    yield _kappa_chart("categories")
    if marks.features:
        caption = (
            "What people said that neutral pairs have in common. These are no categories: neither the mean nor IOU "
            "counts them"
        )
        rows = [_mark_row(name, feature) for name, feature in marks.features.items()]
        yield _table("features", caption, columns, rows, "of neutral pairs", _estimate_notes(rows))


def _mark_row(name: str, category: MarkAgreement) -> Row:
    heading = ": ".join(path(name)) if name in (*CATEGORIES, *NEUTRAL_FEATURES) else ""
    return Row(name, (category.marked, category.kappa, category.alpha, category.cohen, None), heading)


def _judgements(result: AgreementResult) -> Iterator[Table]:
    """Accuracy by slice (McCoy et al. 2019, section 6), and shares of pairs of which most people say a thing."""
    if result.slices:
        systems = dict.fromkeys(system for part in result.slices for system in part.published)
        rows = []
        for part in result.slices:
            published = [_published(part.published.get(system)) for system in systems]
            rows.append(Row(part.value or "all", (part.accuracy.n, part.accuracy, *published), part.factor or ""))
        caption = "Judgements that are gold, %, by label and by what pairs test; published numbers are of other pairs"
        columns = (Column("judged", "count"), Column("right"), *(Column(name, role="published") for name in systems))
        yield Table("accuracy by slice", caption, columns, tuple(rows), "slice")
    if result.shares:
        rows = []
        for said in result.shares:
            name = f"{said.suite}: {said.name}" if said.suite else said.name
            rows.append(Row(name, (said.share.n, said.share, _published(said.published))))
        caption = "Pairs of which most people say it, %; published numbers are of other pairs"
        columns = (Column("pairs", "count"), Column("of pairs"), Column("published", role="published"))
        notes = tuple(_describe_shares(result))
        yield Table("shares", caption, columns, tuple(rows), "most people say", notes=notes)


def _describe_shares(result: AgreementResult) -> Iterator[str]:
    """Why shares are missing, how many pairs are left out, and the sources of published shares."""
    for part in result.shares:
        if not part.share.known:
            yield f"{part.suite or part.name}: {part.share.note}"
    left_out = max(part.left_out for part in result.shares)
    if left_out:
        yield f"{describe_count(left_out, 'pair')} that fewer than two people judged left out"
    sources = dict.fromkeys(part.source for part in result.shares if part.source)
    if sources:
        # Section 3.2 of Naik et al. reports agreement with "the provided label", not how three labels became one.
        unsaid = ", how three labels became one is not said" if any(name.endswith("3.2") for name in sources) else ""
        pairs = "two of three people, of pairs that the paper's programs made"
        yield f"published: {pairs}; {', '.join(sources)}{unsaid}"


def _whole_tables(result: AgreementResult) -> Iterator[Table]:
    """Tables of the coefficients and shares of the whole file, next to published ones."""
    coefficients, shares = list[Row](), list[Row]()
    if _has_label_agreement(result):
        coefficients.append(Row("Krippendorff's alpha of labels", (result.alpha, None)))
        coefficients += [Row("Cohen's kappa of labels", (result.cohen, None))] if result.cohen else []
        shares.append(Row("observed agreement", (result.observed, None)))
        shares.append(Row("human performance", (result.human, _paper(result, "human performance"))))
    if result.categories and result.categories.rated:
        alphas = result.categories.set_alpha
        coefficients.append(Row("IOU of categories", (result.categories.iou, _paper(result, "IOU"))))
        coefficients.append(Row("alpha of sets, by MASI", (alphas.masi, None)))
        coefficients.append(Row("alpha of sets, by Jaccard's distance", (alphas.jaccard, None)))
    if result.accuracy:
        paper = _paper(result, "inference accuracy")
        shares.append(Row("inference accuracy", (result.accuracy.average, paper)))
    if coefficients:
        columns = [Column("value", "decimal"), _paper_column(result, "decimal")]
        notes = (*_estimate_notes(coefficients), *_describe_iou(result))
        yield _table("coefficients", "Coefficients with 95 % intervals", columns, coefficients, "whole file", notes)
    if shares:
        columns = [Column("value"), _paper_column(result, "percent")]
        notes = (*_estimate_notes(shares), *_describe_accuracies(result))
        caption = "Agreement and accuracy, %, with 95 % intervals"
        yield _table("accuracies", caption, columns, shares, "whole file", notes)


def _describe_iou(result: AgreementResult) -> Iterator[str]:
    marks = result.categories
    if marks and marks.rated and marks.people_per_row[1] > 2:
        yield "IOU: a row's is the mean over pairs of its people"
    if marks and marks.rated and marks.empty:
        yield f"IOU: {describe_count(marks.empty, 'row')} on which nobody marked anything (0/0) left out"


def _describe_accuracies(result: AgreementResult) -> Iterator[str]:
    """The rows and the floor of human performance, and how many people inference accuracy is averaged over."""
    basis, accuracy = result.human_basis, result.accuracy
    if _has_label_agreement(result) and result.human.known:
        none = "without a majority" if result.gold_from == MAJORITY else "without gold"
        reasons = {none: basis.without_gold, "with too few labels": basis.few_labels}
        left_out = " and ".join(f"{count:,} {reason}" for reason, count in reasons.items() if count)
        if left_out:
            total = result.rows - result.unasked
            yield f"human performance: on {basis.rows:,} of {total:,} rows, {left_out} left out"
        if basis.floor is not None:
            floor = f"{100 * basis.floor:.1f} % or more"
            yield f"human performance: gold is the majority of the same labels, which makes it {floor}"
    if accuracy and len(accuracy.people) > 1:
        yield f"inference accuracy: the mean of {_describe_people(len(accuracy.people))}"
    if accuracy and accuracy.unanswered:
        yield f"inference accuracy: {describe_count(accuracy.unanswered, 'row')} without an answer counted wrong"


def _gold_notes(result: AgreementResult) -> Iterator[str]:
    """Where gold comes from, and the pairs and people behind the published numbers."""
    if result.labels:
        yield f"gold: {result.gold_from}"
    if result.accuracy and result.accuracy.gold_from != result.gold_from:
        yield f"inference accuracy: by the gold in {result.accuracy.gold_from}"
    pairs = result.published_value("pairs")
    if pairs is not None:
        kept, discarded = (result.published_value(f"people {name}") for name in (KEPT, DISCARDED))
        people = f", {kept:.0f} of {kept + discarded:.0f} people kept" if kept and discarded else ""
        yield f"published: {result.corpus}, {pairs:,.0f} pairs{people}; {result.published[0].source}"


def _people(result: AgreementResult) -> Iterator[Table]:
    """A table of each person's accuracy, time and failed attention checks, and one of seconds per pair."""
    attendance = result.attendance
    accuracies = result.accuracy.people if result.accuracy else {}
    times = attendance.by_person if attendance else {}
    checks = attendance.controls if attendance else {}
    excluded = attendance.excluded if attendance else ()
    columns = [Column("judged", "count"), Column("accuracy"), Column("median seconds", "seconds")]
    columns += [Column("seconds in all", "seconds"), Column("checks failed", "count"), Column("of", "count")]
    rows = []
    for name in dict.fromkeys([*accuracies, *times, *checks, *excluded]):
        accuracy, seconds, asked = accuracies.get(name), times.get(name), checks.get(name)
        cells: list[Cell] = [accuracy.n if accuracy else None, accuracy]
        cells += [seconds.median, seconds.total] if seconds else [None, None]
        cells += [asked.failed, asked.asked] if asked else [None, None]
        rows.append(Row(name, (*cells, ("excluded" if name in excluded else "") if excluded else None)))
    if attendance and attendance.seconds and times:
        total = (None, None, attendance.seconds.median, attendance.seconds.total, None, None)
        rows.append(Row("everybody", (*total, "" if excluded else None), role="total"))
    if rows:
        caption = "How often each person's label is gold, %, how long a judgement took, and attention checks failed"
        notes = tuple(_describe_attendance(attendance)) if attendance else ()
        yield _table("people", caption, [*columns, Column("status", "text")], rows, "person", notes)
    paces = attendance.paces if attendance else {}
    if DISCARDED in paces or (result.corpus == HANS and paces):
        rows = [
            Row(name, (pace.people, pace.seconds, _paper(result, f"seconds of {name} people")))
            for name, pace in paces.items()
        ]
        # McCoy et al. (2019, appendix E) give the seconds of their people.
        columns = [Column("people", "count"), Column("seconds a pair", "seconds")]
        columns.append(Column("published", "seconds", role="published"))
        yield _table("pace", "Seconds that people took for a pair, the mean of their means", columns, rows, "people")


def _describe_attendance(attendance: Attendance) -> Iterator[str]:
    if attendance.seconds and attendance.seconds.n > 1:
        low, high = map(_seconds, attendance.seconds.quartiles)
        total = attendance.seconds.total
        units = {"hours": 3600.0, "minutes": 60.0}
        longest = [f"{total / size:.1f} {unit}" for unit, size in units.items() if total >= 2 * size]
        timed = f"half of {attendance.seconds.n:,} judgements between {low} and {high}"
        yield f"seconds: {timed}; {[*longest, _seconds(total)][0]} in all"
    elif attendance.seconds:
        yield "seconds: 1 judgement was timed"
    failed = [f"{name} {asked.failed} of {asked.asked}" for name, asked in attendance.controls.items() if asked.failed]
    people = _describe_people(len(attendance.controls))
    if failed:
        yield f"attention checks: {len(failed)} of {people} failed some: {_names(failed)}"
    elif attendance.controls:
        yield f"attention checks: none of {people} failed any"
    if attendance.left_out:
        everybody = _describe_people(attendance.people.all)
        excluded = f"{len(attendance.excluded):,} of {everybody}: {_names(attendance.excluded)}"
        rows = f"{describe_count(attendance.left_out, 'row')} of answers left out, those of attention checks among them"
        yield f"excluded: {excluded if attendance.excluded else 'nobody'}; {rows}"


def _describe_people(count: int) -> str:
    return "1 person" if count == 1 else f"{count:,} people"


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _seconds(value: float) -> str:
    return f"{value:.1f} s" if value < 100 else f"{value:,.0f} s"


def _has_label_agreement(result: AgreementResult) -> bool:
    """Whether the document covers agreement on labels, even if only to say that it cannot be measured."""
    return bool(result.labels) and (result.rated > 0 or result.accuracy is None)


def _table(
    table_id: str,
    caption: str,
    columns: Sequence[Column],
    rows: Sequence[Row],
    corner: str,
    notes: tuple[str, ...] = (),
) -> Table:
    """A table without its empty columns."""
    filled = [place for place in range(len(columns)) if any(row.cells[place] is not None for row in rows)]
    kept = tuple(replace(row, cells=tuple(row.cells[place] for place in filled)) for row in rows)
    return Table(table_id, caption, tuple(columns[place] for place in filled), kept, corner, notes)


def _paper_column(result: AgreementResult, unit: Unit) -> Column:
    return Column("published", unit, role="published", note=f"annotators of {result.corpus}")


def _paper(result: AgreementResult, statistic: str, label: str = "") -> Published | None:
    return _published(result.published_value(statistic, label))


def _published(value: float | None) -> Published | None:
    return None if value is None else Published(value)


def _kappa_chart(table_id: str) -> Chart:
    title = "Fleiss' kappa with 95 % intervals"
    return Chart(table_id, "dots", ("kappa",), title, "Fleiss' kappa", Reference(0.0, "chance"))


def _estimate_notes(rows: Sequence[Row]) -> tuple[str, ...]:
    """The note of each row's first estimate (why it or its interval is missing), rows with the same note together."""
    reasons = dict[str, list[str]]()
    for row in rows:
        estimate = next(cell for cell in row.cells if isinstance(cell, Estimate))
        if estimate.note:
            reasons.setdefault(estimate.note, []).append(row.name)
    return tuple(f"{', '.join(names)}: {note}" for note, names in reasons.items())
