"""``baseline:wordnet`` and ``baseline:wordnet-aligned``: answers from WordNet relations of the words that differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.labels import LABELS
from acidtest.text.alignment import aligned_words, replaced_words
from acidtest.text.cues import negations
from acidtest.text.word_relations import Antonyms, First, Similar, word_relations

Rule = Callable[[pl.Series, pl.Series], npt.NDArray[np.float32]]

OTHER = "other"
"""The answer for words without a relation: none of the labels, so the pair is unanswered."""
ANSWERS = pl.Enum([*LABELS, OTHER])
LABEL_OF = {
    "synonym": "entailment",
    "hyponym": "entailment",
    "hypernym": "neutral",
    "antonym": "contradiction",
    "co-hyponym": "contradiction",
    "none": OTHER,
}
"""Labels by the relation of the premise's word to the word that replaces it (Glockner et al. 2018, section 4.1)."""

# Every negation word contains one of these, and few sentences without negation do.
_NEGATION = r"(?i)no|ne[iv]|n['’]?t"


@dataclass(frozen=True)
class WordNetOptions:
    """The options of a spec after its second colon, with the meanings of ``word_relations``."""

    edges: int = 3
    """The paper's text says 2; its table 4 is reproduced with 3."""
    similar: Similar | None = None
    antonyms: Antonyms = "indirect"
    first: First = "antonym"


REPLACEMENT = WordNetOptions(similar="synonym", first="hyponym")
"""The reading of section 4.1 whose accuracies by category are nearest to table 4 (docs/baselines.md)."""
ALIGNED = WordNetOptions()

OptionParser = Callable[[str, str], object]


def _parse_options(
    model: str, argument: str, defaults: WordNetOptions, parsers: Mapping[str, OptionParser]
) -> WordNetOptions:
    """The options in ``edges=2,similar=synonym``; an empty argument gives the defaults."""
    given: dict[str, Any] = {}
    for part in argument.split(",") if argument else ():
        name, equals, value = part.partition("=")
        if not equals:
            raise AcidtestError(f"{model}:{argument}: {part!r} is no option; write edges=2 or similar=synonym")
        if name not in parsers:
            raise UnknownNameError(f"option of {model}", name, parsers)
        if name in given:
            raise AcidtestError(f"{model}:{argument}: {name} is given twice")
        given[name] = parsers[name](f"{model}:{argument}: {name}", value)
    return replace(defaults, **given)


def _parse_edges(option: str, value: str) -> int:
    if not (value.isascii() and value.isdecimal() and int(value) >= 1):
        raise AcidtestError(f"{option} is a whole number from 1 on, not {value!r}")
    return int(value)


def _one_of(*choices: str) -> OptionParser:
    def parse(option: str, value: str) -> str | None:
        if value not in choices:
            raise AcidtestError(f"{option} is {', '.join(choices[:-1])} or {choices[-1]}, not {value!r}")
        return None if value == "none" else value

    return parse


_PARSERS: Mapping[str, OptionParser] = {
    "edges": _parse_edges,
    "similar": _one_of(*get_args(Similar), "none"),
    "antonyms": _one_of(*get_args(Antonyms)),
}
_ORDERED_PARSERS: Mapping[str, OptionParser] = {**_PARSERS, "first": _one_of(*get_args(First))}


def replacement(argument: str) -> Rule:
    """The WordNet baseline of Glockner et al. (2018): the label of the one replaced word or expression.

    Entailment if the premise's word is a synonym or hyponym of the one that replaces it, neutral if it is a hypernym,
    contradiction if the two are antonyms or co-hyponyms. Sentences without a difference are entailed. No answer for
    words without a relation, and where the difference is not a single replacement.
    """
    options = _parse_options("baseline:wordnet", argument, REPLACEMENT, _ORDERED_PARSERS)
    return lambda premises, hypotheses: _rows(_replacement_answers(premises, hypotheses, options))


def aligned(argument: str) -> Rule:
    """A rule for any pair: content words of the hypothesis are aligned with the premise, then four rules apply.

    1. One sentence is negated and the other is not: contradiction if rule 4 would say entailment, else neutral.
    2. A word is opposed by an antonym or an exclusive co-hyponym in the premise: contradiction.
    3. A word is left without the same word, a synonym or a hyponym in the premise: neutral.
    4. Otherwise entailment.

    A hypothesis without content words is neutral, unless it is the premise. Word order is ignored.
    """
    options = _parse_options("baseline:wordnet-aligned", argument, ALIGNED, _PARSERS)
    return lambda premises, hypotheses: _rows(_aligned_answers(premises, hypotheses, options))


def _rows(answers: pl.Series) -> npt.NDArray[np.float32]:
    """One-hot rows of labels; rows of NaN for ``OTHER``."""
    table = np.vstack([np.eye(3, dtype=np.float32), np.full(3, np.nan, dtype=np.float32)])
    return np.asarray(table[answers.to_physical().to_numpy()])


def _replacement_answers(premises: pl.Series, hypotheses: pl.Series, options: WordNetOptions) -> pl.Series:
    replaced = replaced_words(premises, hypotheses)
    relation = word_relations(
        replaced["premise_words"],
        replaced["hypothesis_words"],
        edges=options.edges,
        similar=options.similar,
        antonyms=options.antonyms,
        first=options.first,
    )
    label = relation.cast(pl.String).replace_strict(LABEL_OF, return_dtype=ANSWERS)
    same = pl.col("difference") == "same"
    return replaced.select(pl.when(same).then(pl.lit("entailment", ANSWERS)).otherwise(label)).to_series()


def _aligned_answers(premises: pl.Series, hypotheses: pl.Series, options: WordNetOptions) -> pl.Series:
    words = aligned_words(premises, hypotheses, edges=options.edges, similar=options.similar, antonyms=options.antonyms)
    relations = words.group_by("row").agg(
        opposed=pl.col("relation").is_in(["antonym", "co-hyponym"]).any(), added=(pl.col("relation") == "none").any()
    )
    pairs = pl.DataFrame({"row": pl.int_range(len(premises), eager=True), "same": premises == hypotheses})
    pairs = pairs.join(relations, on="row", how="left", maintain_order="left").with_columns(
        pl.col("opposed").fill_null(False),
        pl.col("added").fill_null(~pl.col("same")),
        negated=_is_negated(premises) != _is_negated(hypotheses),
    )
    answer = (
        pl.when(pl.col("negated"))
        .then(pl.when(pl.col("opposed") | pl.col("added")).then(pl.lit("neutral")).otherwise(pl.lit("contradiction")))
        .when("opposed")
        .then(pl.lit("contradiction"))
        .when("added")
        .then(pl.lit("neutral"))
        .otherwise(pl.lit("entailment"))
    )
    return pairs.select(answer.cast(ANSWERS).alias("answer")).to_series()


def _is_negated(sentences: pl.Series) -> pl.Series:
    """Whether each sentence has a negation word."""
    likely = sentences.str.contains(_NEGATION)
    has_negation = negations(sentences.filter(likely)).list.len() > 0
    return likely.scatter(likely.arg_true(), has_negation)
