"""Combines several people's answers to an item into its label and categories, and into ratings for agreement."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.annotate.answers import Answers, outcomes
from acidtest.annotate.columns import (
    ANNOTATED,
    ANY,
    GOLD_COLUMNS,
    RowError,
    clean_gold,
    clean_text,
    group_codes,
    sentence_column,
)
from acidtest.annotate.conditions import join_with_or
from acidtest.annotate.items import SUITE
from acidtest.annotate.questionnaires import RESERVED, Questionnaire, Share
from acidtest.core.digests import combine_digests, digests
from acidtest.core.draws import key
from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.estimate import Estimate
from acidtest.core.labels import gold_name
from acidtest.core.ratings import Attendance, ItemShare, LabelCounts, Ratings, label_counts
from acidtest.io.published import published_share
from acidtest.pairs.heuristics import HANS, HANS_FACTORS, is_hans
from acidtest.pairs.taxonomy import TAXINLI, is_of_taxonomy, is_taxinli, ordered_categories
from acidtest.stats.annotators import are_accepted, majority_share

_EMPTY = pl.lit(pl.Series([[]], dtype=pl.List(pl.String)))


@dataclass(frozen=True)
class Judgements:
    """The outcomes of people's answers, for each person and item, and combined for each item.

    ``outcomes`` has item, annotator, label, categories and discard, a row for each person and item. ``items`` has a row
    for each item: the columns it came with; if there are labels, label (the winner of the vote, or null),
    annotator_labels (empty if it is discarded) and votes for each label; categories if there are any; and the reason
    why it has no label, in discarded or undecided.
    """

    questionnaire: Questionnaire
    outcomes: pl.DataFrame
    items: pl.DataFrame
    name: str = ""
    item_column: str = "item"
    fingerprint: str = ""

    @property
    def discarded(self) -> dict[str, int]:
        """How many items were discarded, by reason, the most frequent first."""
        return dict(Counter(self.items["discarded"].drop_nulls().to_list()).most_common())

    @property
    def kept(self) -> pl.DataFrame:
        return self.items.filter(pl.col("discarded").is_null())

    @property
    def kept_rows(self) -> pl.DataFrame:
        """The kept items with their row numbers."""
        return self.kept.select("item", row=pl.int_range(pl.len(), dtype=pl.Int64))

    @property
    def known(self) -> list[str]:
        """The columns that the items came with."""
        return [name for name in self.items.columns if name not in RESERVED]

    @property
    def table(self) -> pl.DataFrame:
        """The items as they are written to a file, with the id column of the answers.

        If the questionnaire asks by gold, label is that gold label and annotated_label the vote of these people.
        Columns of the data are prefixed with source_ where a reader could take them for labels or categories of these
        people.
        """
        columns, renamed = self.items.columns, set[str]()
        if "label" in columns:
            renamed |= {name for name in self.known if name.lower() in (*GOLD_COLUMNS, ANNOTATED)}
        if "categories" in columns:
            possible = possible_categories(self.questionnaire)
            renamed |= {name for name in self.known if name in possible or is_of_taxonomy(name)}
        names = {"item": self.item_column}
        for name in renamed:
            names[name] = f"source_{name}"
            while names[name] in columns:
                names[name] = f"source_{names[name]}"
        items = self.items.rename(names)
        if not self.questionnaire.asks_by_gold:
            return items
        # As in TaxiNLI's own file, where people who were told the label instead of being asked for it count as
        # having given it.
        column = next(name for name in GOLD_COLUMNS if name in columns)
        gold = pl.Series("gold", [gold_name(text) for text in clean_text(self.items[column])], dtype=pl.String)
        unasked = pl.all_horizontal(pl.col("label", "undecided", "discarded").is_null())
        annotated = items.select(pl.when(unasked).then(gold).otherwise("label").alias(ANNOTATED)).to_series()
        return items.with_columns(gold.alias("label"), annotated)


def judgements(questionnaire: Questionnaire, answers: Answers) -> Judgements:
    """The outcome of every answer, and the label and categories that the outcomes give each item."""
    try:
        by_person = outcomes(questionnaire, answers.frame)
    except RowError as error:
        item, annotator = answers.frame.select("item", "annotator").row(error.row)
        raise AcidtestError(f"{answers.name}: item {item!r}, annotator {annotator!r}: {error.problem}") from error
    items = answers.items.join(_aggregate(questionnaire, by_person), on="item", how="left", maintain_order="left")
    return Judgements(questionnaire, by_person, items, answers.name, answers.item_column, answers.fingerprint)


def possible_categories(questionnaire: Questionnaire) -> tuple[str, ...]:
    """Every category that the rules of a questionnaire can give."""
    categories = list[str]()
    for rule in questionnaire.rules:
        categories += rule.categories
        for name in rule.categories_from:
            categories += [option.id for option in questionnaire.by_id[name].options if not option.exclusive]
    return ordered_categories(categories)


def judgement_ratings(judged: Judgements, *, gold: str | None = None, attendance: Attendance | None = None) -> Ratings:
    """The labels and categories of the items that were not discarded, ready to measure agreement.

    ``gold`` names a column of the answers with the gold label to compare with, instead of the vote of these people.
    Inference accuracy is measured against it, or else against a column called gold or gold_label.
    """
    questionnaire, categories = judged.questionnaire, possible_categories(judged.questionnaire)
    labels, kept = questionnaire.labels, judged.kept
    if not labels and not categories:
        raise AcidtestError(f"questionnaire {questionnaire.name!r} gives neither labels nor categories to agree on")
    if gold is not None and not labels:
        raise AcidtestError(f"--gold {gold}: questionnaire {questionnaire.name!r} gives no labels to compare with it")
    if not kept.height:
        raise AcidtestError(f"{judged.name}: all {judged.items.height:,} items are discarded; no labels are left")
    if gold is not None and gold not in judged.known:
        where = f" (--gold; the same in all rows of an item, {judged.name})"
        raise UnknownNameError("column", gold, judged.known, where)
    sentence = sentence_column(kept.columns)
    sentences = clean_text(kept[sentence]) if sentence else None
    reference_column, reference = _reference_gold(judged, gold)
    none = pl.Series("gold", [None] * kept.height, dtype=pl.String)
    golds = reference if gold and reference is not None else kept["label"] if labels else none
    known = digests(kept["item"], *(column for column in (golds, reference, sentences) if column is not None))
    digest = f"{key(judged.fingerprint, combine_digests(known)):016x}"
    from_hans = "heuristic" in kept.columns and is_hans(kept["heuristic"].cast(pl.String))
    vote = questionnaire.aggregation.label
    method = f"questionnaire:{questionnaire.name}|gold:{gold or vote}|groups:{sentence or 'rows'}"
    return Ratings(
        name=judged.name,
        labels=labels,
        counts=_vote_counts(kept["annotator_labels"], labels) if labels else np.zeros((kept.height, 0), dtype=np.int64),
        gold=golds.alias("gold"),
        gold_from=gold or vote,
        groups=None if sentences is None else group_codes(sentences),
        # TaxiNLI's pairs have all labels; where nobody was asked for one, all pairs are known to be neutral.
        corpus=TAXINLI if is_taxinli(categories) and labels else HANS if from_hans else "",
        signature=f"agreement|{method}|n:{kept.height}|h:{digest[:6]}",
        said=judged.outcomes.filter(pl.col("discard").is_null())
        .join(judged.kept_rows, on="item", how="inner", maintain_order="left")
        .select("row", "annotator", "label", "categories"),
        categories=categories,
        reference=reference,
        reference_from=reference_column,
        attendance=attendance,
        unasked=kept.filter(pl.col("label").is_null() & pl.col("undecided").is_null()).height if labels else 0,
        factors=kept.select(HANS_FACTORS) if from_hans else None,
    )


def item_shares(
    judged: Judgements, answers: Answers, *, gold: str | None = None, draws_seed: int = 0
) -> tuple[ItemShare, ...]:
    """The shares that the questionnaire defines, for each suite that the items come from, or for all items.

    Discarded items are left out. ``gold`` names the column with the gold label if it is not recognised.
    """
    kept = judged.kept
    given = answers.frame.with_columns(judged.outcomes["label"].alias("_label"))
    rows = given.join(judged.kept_rows, on="item", how="inner", maintain_order="left")
    sentence = sentence_column(kept.columns)
    groups = group_codes(clean_text(kept[sentence])) if sentence else None
    suites = kept[SUITE].cast(pl.String).fill_null("") if SUITE in kept.columns else pl.Series([""] * kept.height)
    items, shares = rows["row"].to_numpy(), list[ItemShare]()
    for suite in suites.unique(maintain_order=True):
        for share in judged.questionnaire.shares:
            published, source = published_share(suite, share.name)
            holds = _share_holds(share, judged, rows, gold=gold)
            in_suite = (suites == suite).to_numpy()[items]
            if holds is None:
                value, skipped = Estimate(math.nan, note="no gold came along with the items"), 0
            else:
                value, skipped = majority_share(holds[in_suite], items[in_suite], groups=groups, draws_seed=draws_seed)
            shares.append(ItemShare(suite, share.name, value, skipped, published, source))
    return tuple(shares)


def _reference_gold(judged: Judgements, gold: str | None) -> tuple[str, pl.Series | None]:
    """The column of the data with gold labels, and its values for the items that were not discarded.

    Without ``gold``, an empty name and None if there is no such column or it holds an unknown label.
    """
    labels = judged.questionnaire.labels
    column = gold or next((name for name in judged.known if name.lower() in GOLD_COLUMNS), None)
    if not labels or column is None:
        return "", None
    missing = ["", "-", *(["-1"] if "-1" not in labels else [])]
    golds = clean_gold(judged.kept[column], missing=missing)
    names = {text: text if text in labels else gold_name(text) for text in golds.drop_nulls().unique()}
    for text, name in names.items():
        if name is None and gold is None:
            return "", None
        if name is None:
            problem = f"gold {text!r} (--gold {column}) is not {join_with_or(labels)}; correct it"
            raise AcidtestError(f"{judged.name}: {problem}")
    # The gold of questions (--ask) is any: every label would be right.
    golds = golds.replace_strict({**names, ANY: None}, default=None, return_dtype=pl.String)
    return ("", None) if gold is None and golds.is_null().all() else (column, golds)


def _share_holds(
    share: Share, judged: Judgements, rows: pl.DataFrame, *, gold: str | None
) -> npt.NDArray[np.bool_] | None:
    """Whether each row of answers meets the condition of a share; None if there is no gold label to compare with."""
    if share.label != "gold":
        return rows.select("item", holds=judged.questionnaire.holds(share.when))["holds"].to_numpy()
    _, golds = _reference_gold(judged, gold)
    if golds is None:
        return None
    return are_accepted(rows.select("row", label="_label"), judged.questionnaire.labels, golds)


def _vote_counts(given: pl.Series, labels: Sequence[str]) -> LabelCounts:
    """How often each label occurs in each list."""
    rows = pl.DataFrame({"row": np.arange(len(given)), "label": given})
    return label_counts(rows.explode("label", empty_as_null=False, keep_nulls=False), labels, rows=len(given))


def _aggregate(questionnaire: Questionnaire, by_person: pl.DataFrame) -> pl.DataFrame:
    """One row per item: label, votes, categories, and why there is no label."""
    discards = pl.col("discards").list.len()
    is_discarded = {"any": discards > 0, "majority": 2 * discards > pl.col("people"), "never": pl.lit(False)}
    reasons = pl.col("discards").list.unique(maintain_order=True).list.join("; ")
    items = by_person.group_by("item", maintain_order=True).agg(
        people=pl.len(),
        annotator_labels=pl.col("label").drop_nulls(),
        discards=pl.col("discard").drop_nulls(),
        unasked=(pl.col("label").is_null() & pl.col("discard").is_null()).all(),
    )
    items = items.with_columns(discarded=pl.when(is_discarded[questionnaire.aggregation.discard]).then(reasons))
    columns = ["item"]
    if any(rule.categories or rule.categories_from for rule in questionnaire.rules):
        marked = _vote_on_categories(questionnaire, by_person)
        items = items.join(marked, on="item", how="left", maintain_order="left")
        items = items.with_columns(pl.col("categories").fill_null(_EMPTY))
        columns += ["categories"]
    if questionnaire.labels:
        items = _vote_on_labels(questionnaire, items)
        columns += ["label", "annotator_labels", "votes", "discarded", "undecided"]
    return items.select(list(dict.fromkeys([*columns, "discarded"])))


def _vote_on_labels(questionnaire: Questionnaire, items: pl.DataFrame) -> pl.DataFrame:
    """The items with their label, the votes for each label, and why there is no label."""
    labels, fewest, vote = questionnaire.labels, questionnaire.aggregation.fewest, questionnaire.aggregation.label
    counts = _vote_counts(items["annotator_labels"], labels)
    ranked = np.sort(np.pad(counts, ((0, 0), (1, 0))), axis=1)
    most, second = ranked[:, -1], ranked[:, -2]
    wins, no_winner = {
        "majority": (2 * most > counts.sum(axis=1), "no majority"),
        "plurality": (most > second, "no most frequent label"),
        "unanimous": ((most > 0) & (second == 0), "no unanimity"),
    }[vote]
    winners = [labels[place] if won else None for place, won in zip(counts.argmax(1), wins, strict=True)]
    kept, few = pl.col("discarded").is_null(), pl.col("annotator_labels").list.len() < fewest
    items = items.with_columns(
        pl.DataFrame(counts, schema=list(labels)).to_struct("votes"),
        label=pl.when(kept & ~few).then(pl.Series(winners, dtype=pl.String)),
        # Its labels are removed, so that a discarded item does not count when agreement is measured.
        annotator_labels=pl.when(kept).then("annotator_labels").otherwise(_EMPTY),
        _reason=pl.when(few).then(pl.lit(f"fewer than {fewest} labels")).otherwise(pl.lit(no_winner)),
    )
    # If no rule that applies gives a label, nobody was asked for one, so the item is not undecided.
    return items.with_columns(undecided=pl.when(pl.col("label").is_null() & kept & ~pl.col("unasked")).then("_reason"))


def _vote_on_categories(questionnaire: Questionnaire, by_person: pl.DataFrame) -> pl.DataFrame:
    """The categories of each item that enough of the people who did not discard it gave."""
    enough = {
        "majority": 2 * pl.col("given") > pl.col("people"),
        "any": pl.lit(True),
        "all": pl.col("given") == pl.col("people"),
    }[questionnaire.aggregation.categories]
    kept = by_person.filter(pl.col("discard").is_null()).with_columns(people=pl.len().over("item"))
    marks = kept.explode("categories", empty_as_null=False, keep_nulls=False)
    counts = marks.group_by("item", "categories", "people", maintain_order=True).agg(given=pl.len())
    return counts.filter(enough).group_by("item", maintain_order=True).agg("categories")
