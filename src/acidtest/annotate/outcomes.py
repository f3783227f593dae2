"""What follows from answers: the outcome of one person, and what several people's outcomes make of an item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from acidtest.annotate.answers import GOLD, Answers, RowError, checked_answers, text
from acidtest.annotate.conditions import GOLD_COLUMN
from acidtest.annotate.marks import possible_categories
from acidtest.annotate.questionnaires import TAKEN, Question, Questionnaire, Rule, Vote
from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.labels import gold_name
from acidtest.core.ratings import LabelCounts, label_counts, majority_labels
from acidtest.text.taxonomy import is_of_taxonomy

ANNOTATED = "annotated_label"
"""What the label of these people is called where ``label`` is another gold, here as in TaxiNLI's file."""

_LIST = pl.List(pl.String)


@dataclass(frozen=True)
class Outcome:
    """What one person's answers to one item come to: discarded, or a label, categories, or both."""

    label: str | None = None
    categories: tuple[str, ...] = ()
    discard: str | None = None


@dataclass(frozen=True)
class Judgements:
    """What people's answers come to.

    ``outcomes`` has item, annotator, label, categories and discard, a row for each person and item. ``items`` has a row
    for each item: what was known of it; where there are labels, label (its gold, null without), annotator_labels (empty
    where it is discarded), votes for each label; categories where there are any; and why there is no gold, in discarded
    or undecided.
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
    def known(self) -> list[str]:
        """The columns with what was known of the items besides."""
        return [name for name in self.items.columns if name not in TAKEN]

    def counts(self, items: pl.DataFrame) -> LabelCounts:
        """How many people gave each of some items each label."""
        return _votes(items["annotator_labels"], self.questionnaire.labels)

    @property
    def table(self) -> pl.DataFrame:
        """The items as they are written to a file, named as the answers name them.

        Where a questionnaire asks by gold, label is that gold and annotated_label the vote of these people.

        What came along is called source_… where a reader could take it for the labels or categories of these people.
        """
        own, along = self.items.columns, set[str]()
        if "label" in own:
            along |= {name for name in self.known if name.lower() in (*GOLD, ANNOTATED)}
        if "categories" in own:
            possible = possible_categories(self.questionnaire)
            along |= {name for name in self.known if name in possible or is_of_taxonomy(name)}
        items = self.items.rename({"item": self.item_column} | {name: _source_name(name, own) for name in along})
        if not self.questionnaire.asks_by_gold:
            return items
        # As in TaxiNLI's own file: gold is what was known, what people said stands beside it, and where they were told
        # the label instead of being asked for it, that is what they said.
        carried = next(name for name in GOLD if name in own)
        gold = pl.Series("gold", [gold_name(each) for each in text(self.items[carried])], dtype=pl.String)
        unasked = pl.all_horizontal(pl.col("label", "undecided", "discarded").is_null())
        said = items.select(pl.when(unasked).then(gold).otherwise("label").alias(ANNOTATED)).to_series()
        return items.with_columns(gold.alias("label"), said)


def asked_questions(
    questionnaire: Questionnaire, answers: Mapping[str, Any], *, gold: str | None = None
) -> list[Question]:
    """The questions to be asked of somebody who has given these answers so far, answered ones among them.

    ``gold`` is the label that the item came with, where the questionnaire asks by it.
    """
    schema = {q.id: _LIST if q.takes_several else pl.String for q in questionnaire.questions}
    row = pl.DataFrame({name: [answers.get(name)] for name in schema}, schema=schema)
    row = row.with_columns(pl.lit(gold, pl.String).alias(GOLD_COLUMN))
    return [question for question in questionnaire.questions if row.select(question.when.holds).item()]


def outcome(questionnaire: Questionnaire, answers: Mapping[str, Any], *, gold: str | None = None) -> Outcome:
    """What one person's answers come to; an answer that is missing, unknown or not asked for is an error."""
    names = [question.id for question in questionnaire.questions]
    for name in answers:
        if name not in names:
            raise UnknownNameError("question", name, names)
    given = {"item": "item", "annotator": "annotator", **{name: answers.get(name) for name in names}}
    if questionnaire.asks_by_gold:
        given |= {"gold": gold}
    frame = pl.DataFrame({name: [answer] for name, answer in given.items()})
    try:
        found = outcomes(questionnaire, checked_answers(frame, questionnaire).frame)
    except RowError as error:
        raise AcidtestError(error.problem) from error
    label, categories, discard = found.select("label", "categories", "discard").row(0)
    return Outcome(label, tuple(categories), discard)


def outcomes(questionnaire: Questionnaire, answers: pl.DataFrame) -> pl.DataFrame:
    """The outcome of every row of checked answers: item, annotator, label, categories and discard.

    The first rule that fits decides; answers that none fits are an error.
    """
    rules = questionnaire.rules
    fits = (pl.when(_fits(rule)).then(pl.lit(number, pl.Int32)) for number, rule in enumerate(rules))
    chosen = answers.with_columns(_rule=pl.coalesce(*fits))
    for row in chosen["_rule"].is_null().arg_true().head(1):
        advice = "end them with one that has no 'when'"
        raise RowError(row, f"none of the rules of {questionnaire.name!r} fits these answers; {advice}")
    return chosen.select(
        "item",
        "annotator",
        label=_by_rule(rules, lambda rule: pl.col(rule.label_from) if rule.label_from else _text(rule.label)),
        categories=_by_rule(rules, lambda rule: _categories(questionnaire, rule)),
        discard=_by_rule(rules, lambda rule: _text(rule.discard)),
    )


def judgements(questionnaire: Questionnaire, answers: Answers) -> Judgements:
    """What the answers of several people come to, item by item."""
    try:
        found = outcomes(questionnaire, answers.frame)
    except RowError as error:
        item, annotator = answers.frame.select("item", "annotator").row(error.row)
        raise AcidtestError(f"{answers.name}: item {item!r}, annotator {annotator!r}: {error.problem}") from error
    items = answers.items.join(_joined(questionnaire, found), on="item", how="left", maintain_order="left")
    return Judgements(questionnaire, found, items, answers.name, answers.item_column, answers.fingerprint)


def _source_name(name: str, taken: Collection[str]) -> str:
    while name in taken:
        name = f"source_{name}"
    return name


def _fits(rule: Rule) -> pl.Expr:
    return rule.when.holds & pl.col(rule.label_from).is_not_null() if rule.label_from else rule.when.holds


def _by_rule(rules: Sequence[Rule], value: Callable[[Rule], pl.Expr]) -> pl.Expr:
    return pl.coalesce(*(pl.when(pl.col("_rule") == number).then(value(rule)) for number, rule in enumerate(rules)))


def _text(text: str) -> pl.Expr:
    return pl.lit(text or None, pl.String)


def _categories(questionnaire: Questionnaire, rule: Rule) -> pl.Expr:
    """The categories that a rule names, then those that were answered, each once."""
    found = [pl.lit(pl.Series([list(rule.categories)], dtype=_LIST))]
    for name in rule.categories_from:
        question = questionnaire.question(name)
        answered = pl.col(name) if question.takes_several else pl.concat_list(pl.col(name)).list.drop_nulls()
        named = [option.id for option in question.options if not option.exclusive]
        found.append(answered.list.filter(pl.element().is_in(named)).fill_null([]))
    return pl.concat_list(found).list.unique(maintain_order=True)


def _votes(given: pl.Series, labels: Sequence[str]) -> LabelCounts:
    """How often each label stands in each list."""
    said = pl.DataFrame({"row": np.arange(len(given)), "label": given})
    return label_counts(said.explode("label", empty_as_null=False, keep_nulls=False), labels, rows=len(given))


def _joined(questionnaire: Questionnaire, found: pl.DataFrame) -> pl.DataFrame:
    """A row for each item: gold, votes, categories, and why there is no gold."""
    how = questionnaire.aggregation.discard
    discards = pl.col("discards").list.len()
    enough = {"any": discards > 0, "majority": 2 * discards > pl.col("people"), "never": pl.lit(False)}[how]
    reasons = pl.col("discards").list.unique(maintain_order=True).list.join("; ")
    items = found.group_by("item", maintain_order=True).agg(
        people=pl.len(),
        annotator_labels=pl.col("label").drop_nulls(),
        discards=pl.col("discard").drop_nulls(),
        unasked=(pl.col("label").is_null() & pl.col("discard").is_null()).all(),
    )
    items = items.with_columns(discarded=pl.when(enough).then(reasons))
    shown = ["item"]
    if any(rule.categories or rule.categories_from for rule in questionnaire.rules):
        items = items.join(_marked(questionnaire, found), on="item", how="left", maintain_order="left")
        shown += ["categories"]
    if questionnaire.labels:
        items = _settled(questionnaire, items)
        shown += ["label", "annotator_labels", "votes", "discarded", "undecided"]
    return items.select(list(dict.fromkeys([*shown, "discarded"])))


def _settled(questionnaire: Questionnaire, items: pl.DataFrame) -> pl.DataFrame:
    """The items with their gold, the votes for it, and why there is none."""
    rule, labels = questionnaire.aggregation, questionnaire.labels
    counts = _votes(items["annotator_labels"], labels)
    votes = pl.DataFrame(counts, schema=list(labels)).to_struct("votes")
    kept, few = pl.col("discarded").is_null(), pl.col("annotator_labels").list.len() < rule.fewest
    missing = {"majority": "no majority", "plurality": "no most frequent label", "unanimous": "no unanimity"}[
        rule.label
    ]
    why = pl.when(few).then(pl.lit(f"fewer than {rule.fewest} labels")).otherwise(pl.lit(missing))
    # Without labels a discarded item is no row of the agreement on those that are left.
    left = pl.when(kept).then("annotator_labels").otherwise(pl.lit(pl.Series([[]], dtype=_LIST)))
    items = items.with_columns(votes, _gold(counts, labels, how=rule.label))
    items = items.with_columns(label=pl.when(kept & ~few).then("label"), annotator_labels=left, _why=why)
    # Where no rule that fits gives a label, nobody was asked for one, and nothing is undecided.
    return items.with_columns(undecided=pl.when(pl.col("label").is_null() & kept & ~pl.col("unasked")).then("_why"))


def _gold(counts: LabelCounts, labels: Sequence[str], *, how: Vote) -> pl.Series:
    """The label of each row, null where there is none."""
    if how == "majority":
        return majority_labels(counts, labels).alias("label")
    ranked = np.sort(counts, axis=1)
    second = ranked[:, -2] if len(labels) > 1 else np.zeros(len(counts), dtype=np.int64)
    alone = ranked[:, -1] > second if how == "plurality" else (ranked[:, -1] > 0) & (second == 0)
    names = [labels[place] if found else None for place, found in zip(counts.argmax(1), alone, strict=True)]
    return pl.Series("label", names, dtype=pl.String)


def _marked(questionnaire: Questionnaire, found: pl.DataFrame) -> pl.DataFrame:
    """The categories of each item that enough of the people gave who did not discard it."""
    kept = found.filter(pl.col("discard").is_null())
    people = kept.group_by("item").agg(people=pl.len())
    given = kept.explode("categories", empty_as_null=False, keep_nulls=False)
    counts = given.group_by("item", "categories", maintain_order=True).agg(given=pl.len()).join(people, on="item")
    share = {
        "majority": 2 * pl.col("given") > pl.col("people"),
        "any": pl.lit(True),
        "all": pl.col("given") == pl.col("people"),
    }[questionnaire.aggregation.categories]
    marked = counts.filter(share).group_by("item", maintain_order=True).agg("categories")
    items = found.select(pl.col("item").unique(maintain_order=True))
    empty = pl.lit(pl.Series([[]], dtype=_LIST))
    return items.join(marked, on="item", how="left", maintain_order="left").with_columns(
        pl.col("categories").fill_null(empty)
    )
