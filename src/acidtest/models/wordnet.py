"""``baseline:wordnet`` and ``baseline:wordnet-aligned`` — answers from what WordNet says of the words that differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.labels import LABELS
from acidtest.text.alignment import replaced_words
from acidtest.text.cues import negations
from acidtest.text.word_alignment import aligned_words
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
"""What follows when the premise's word is this to the word that replaces it: Glockner et al. (2018), section 4.1."""

# All negation words have one of these in them, and few other sentences do.
_NEGATION = r"(?i)no|ne[iv]|n['’]?t"


@dataclass(frozen=True)
class _Options:
    """What a spec may say after its second colon; meanings as in ``word_relations``."""

    edges: int = 3
    """The paper's text says 2, its table 4 comes out with 3."""
    similar: Similar | None = None
    antonyms: Antonyms = "indirect"
    first: First = "antonym"


REPLACEMENT = _Options(similar="synonym", first="hyponym")
"""The reading of section 4.1 whose accuracies by category are nearest to table 4 (docs/baselines.md)."""
ALIGNED = _Options()

Reader = Callable[[str, str], object]


def _parsed(model: str, argument: str, defaults: _Options, readers: Mapping[str, Reader]) -> _Options:
    """The options in ``edges=2,similar=synonym``; nothing for the defaults."""
    given: dict[str, Any] = {}
    for part in argument.split(",") if argument else ():
        name, equals, value = part.partition("=")
        if not equals:
            raise AcidtestError(f"{model}:{argument}: {part!r} is no option; write edges=2 or similar=synonym")
        if name not in readers:
            raise UnknownNameError(f"option of {model}", name, readers)
        if name in given:
            raise AcidtestError(f"{model}:{argument}: {name} is given twice")
        given[name] = readers[name](f"{model}:{argument}: {name}", value)
    return replace(defaults, **given)


def _edges(what: str, value: str) -> int:
    if not (value.isascii() and value.isdecimal() and int(value) >= 1):
        raise AcidtestError(f"{what} is a whole number from 1 on, not {value!r}")
    return int(value)


def _one_of(*choices: str) -> Reader:
    def read(what: str, value: str) -> str | None:
        if value not in choices:
            raise AcidtestError(f"{what} is {', '.join(choices[:-1])} or {choices[-1]}, not {value!r}")
        return None if value == "none" else value

    return read


_READERS: Mapping[str, Reader] = {
    "edges": _edges,
    "similar": _one_of(*get_args(Similar), "none"),
    "antonyms": _one_of(*get_args(Antonyms)),
}
_ORDERED: Mapping[str, Reader] = {**_READERS, "first": _one_of(*get_args(First))}


def replacement(argument: str) -> Rule:
    """The WordNet baseline of Glockner et al. (2018): the label of the one replaced word or expression.

    Entailment if the premise's word is a synonym or hyponym of the one that replaces it, neutral if it is a hypernym,
    contradiction if the two are antonyms or co-hyponyms. Sentences without a difference are entailed. No answer for
    words without a relation, and where the difference is no single replacement.
    """
    options = _parsed("baseline:wordnet", argument, REPLACEMENT, _ORDERED)
    return lambda premises, hypotheses: _rows(_replacement_answers(premises, hypotheses, options))


def aligned(argument: str) -> Rule:
    """For any pair: every content word of the hypothesis is aligned with one of the premise, then four rules in turn.

    1. One sentence is negated and the other is not: contradiction if rule 4 would say entailment, else neutral.
    2. A word is opposed by an antonym or an exclusive co-hyponym in the premise: contradiction.
    3. A word is left without the same word, a synonym or a hyponym in the premise: neutral.
    4. Otherwise entailment.

    A hypothesis without content words is neutral, unless it is the premise. Word order is not looked at.
    """
    options = _parsed("baseline:wordnet-aligned", argument, ALIGNED, _READERS)
    return lambda premises, hypotheses: _rows(_aligned_answers(premises, hypotheses, options))


def _rows(answers: pl.Series) -> npt.NDArray[np.float32]:
    """A row of one 1 and two 0 for a label, of NaN for other."""
    table = np.vstack([np.eye(3, dtype=np.float32), np.full(3, np.nan, dtype=np.float32)])
    return np.asarray(table[answers.to_physical().to_numpy()])


def _replacement_answers(premises: pl.Series, hypotheses: pl.Series, options: _Options) -> pl.Series:
    found = replaced_words(premises, hypotheses, compounds=True)
    relation = word_relations(
        found["premise_words"],
        found["hypothesis_words"],
        edges=options.edges,
        similar=options.similar,
        antonyms=options.antonyms,
        first=options.first,
    )
    label = relation.cast(pl.String).replace_strict(LABEL_OF, return_dtype=ANSWERS)
    same = pl.col("difference") == "same"
    return found.select(pl.when(same).then(pl.lit("entailment", ANSWERS)).otherwise(label)).to_series()


def _aligned_answers(premises: pl.Series, hypotheses: pl.Series, options: _Options) -> pl.Series:
    words = aligned_words(premises, hypotheses, edges=options.edges, similar=options.similar, antonyms=options.antonyms)
    told = words.group_by("row").agg(
        opposed=pl.col("relation").is_in(["antonym", "co-hyponym"]).any(), added=(pl.col("relation") == "none").any()
    )
    pairs = pl.DataFrame({"row": pl.int_range(len(premises), eager=True), "same": premises == hypotheses})
    pairs = pairs.join(told, on="row", how="left", maintain_order="left").with_columns(
        pl.col("opposed").fill_null(False),
        pl.col("added").fill_null(~pl.col("same")),
        negated=_negated(premises) != _negated(hypotheses),
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


def _negated(sentences: pl.Series) -> pl.Series:
    """Whether each sentence has a negation word."""
    likely = sentences.str.contains(_NEGATION)
    found = negations(sentences.filter(likely)).list.len() > 0
    return likely.scatter(likely.arg_true(), found)
