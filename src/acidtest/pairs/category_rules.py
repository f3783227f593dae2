"""Rules that propose categories of the taxonomy for pairs that nobody annotated, and how often the rules are right.

A cue alone proposes nothing: Joshi et al. (2020), section 2.2, mark a category only where the inference calls for it.
What the rules require beyond their cues, and their thresholds, were chosen on one half of TaxiNLI by F0.5, which counts
precision twice as much as recall; ``taxonomy_tags/measured.tsv`` holds the results on the other half.

Proposals are not annotations: their columns are called ``auto_<category>``, and ``rule_measures`` gives the share
of proposals that annotators would have marked, and the share of their marks that the rules find. The first line of a
rule's docstring is shown to users.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from acidtest.core.estimate import Estimate
from acidtest.english.tagging import is_given_name, is_place_name
from acidtest.english.tokens import Flags
from acidtest.english.values.numbers import PATTERN
from acidtest.english.wordnet import wordnet
from acidtest.io.wordlists import packaged_table
from acidtest.pairs.tokens import TokenisedPairs, word_order_likeness
from acidtest.pairs.word_relations import Meanings

VERSION = 1
"""Increases when a rule, a threshold or a list changes: the measures hold for one version only."""

PREFIX = "auto_"
"""The prefix of every proposed column."""

_TOGETHER = 1 << 13
_MOST = 40
"""The most words found in one sentence only for which all are compared with those of the other sentence."""

_YEAR = r"^(?:1\d|20)\d\ds?$|^\d+(?:st|nd|rd|th)$|^\d\d?:\d\d$"

_RELATED, _ALIKE = 0.2, 0.5
"""The least likeness for comparing the words of two sentences, and for calling the sentences nearly the same."""

Shares = NDArray[np.float64]


def proposed_categories(premises: pl.Series, hypotheses: pl.Series) -> pl.DataFrame:
    """Which of ``PROPOSED`` the rules propose for each pair: a boolean column ``auto_<category>`` for each.

    A rule sees only the two sentences, not the label. For a null or empty sentence nothing is proposed.
    """
    parts = [pl.DataFrame(schema=dict.fromkeys((PREFIX + name for name in PROPOSED), pl.Boolean))]
    for start in range(0, len(premises), _TOGETHER):
        tokens = TokenisedPairs.of(premises.slice(start, _TOGETHER), hypotheses.slice(start, _TOGETHER))
        evidence = PairEvidence(tokens)
        parts.append(pl.DataFrame({PREFIX + name: rule(evidence) for name, rule in RULES.items()}))
    return pl.concat(parts)


def rule_descriptions() -> dict[str, str]:
    """What each rule looks for, in one line."""
    return {name: (inspect.getdoc(rule) or "").partition("\n")[0] for name, rule in RULES.items()}


@cache
def rule_measures() -> dict[str, dict[str, Estimate]]:
    """How well every rule agrees with TaxiNLI's annotators on the half of the pairs not used to choose the rules.

    Measures are precision, recall, F1, chance (the share of all rows that are marked) and lift (precision over chance).
    """
    measures: dict[str, dict[str, Estimate]] = {name: {} for name in PROPOSED}
    for row in packaged_table("taxonomy_tags/measured.tsv").filter(part="held out").iter_rows(named=True):
        value, low, high = (float(row[name]) if row[name] else math.nan for name in ("value", "low", "high"))
        counts = int(row["n"]), int(row["groups"])
        measures[row["category"]][row["measure"]] = Estimate(value, low, high, *counts, row["method"], row["note"])
    return measures


def better_than_chance(name: str) -> bool:
    """Whether annotators mark a rule's proposals more often than other rows: the interval of its lift is above 1."""
    return rule_measures()[name]["lift"].low > 1


def caution() -> str:
    """A warning to print with proposals: they are not annotations, and how precise each rule is."""
    precision = ", ".join(f"{name} {values['precision'].value:.2f}" for name, values in rule_measures().items())
    chance = [name for name in PROPOSED if not better_than_chance(name)]
    exception = f"; {' and '.join(chance)}: not better than chance" if chance else ""
    return (
        "categories were proposed by rules, not annotated; the share of proposals that annotators would mark, measured "
        f"on held-out rows of TaxiNLI: {precision}{exception}"
    )


def proposal_caution(categories: Iterable[str]) -> str:
    """``caution()`` if some of the categories are proposals, else an empty string."""
    return caution() if {PREFIX + name for name in PROPOSED} & set(categories) else ""


@dataclass(frozen=True)
class PairEvidence:
    """Measurements of sentence pairs that several rules need, each computed when first asked for."""

    tokens: TokenisedPairs

    @cached_property
    def likeness(self) -> Shares:
        """The share of words that two sentences have in the same order, from 0 to 1."""
        return word_order_likeness(self.tokens)

    @cached_property
    def negated(self) -> Flags:
        """Which hypotheses negate more often than their premise."""
        premise, hypothesis = self.tokens.count(self.tokens.negator)
        return np.asarray(hypothesis > premise)

    @cached_property
    def names(self) -> Flags:
        """Tokens of names: capitalised inside a sentence, or a listed name at its beginning; not *May* or *Will*."""
        tokens = self.tokens
        written = tokens.words.str.to_titlecase()
        listed = (is_given_name(written) | is_place_name(written))[tokens.token] & tokens.content
        return (tokens.capital | (tokens.opening & listed)) & ~tokens.cues("time-name") & ~tokens.matching(r"^.$")

    @cached_property
    def meanings(self) -> Meanings:
        """The WordNet senses of the distinct words."""
        return Meanings.of(self.tokens.words)

    @cached_property
    def exchanged(self) -> pl.DataFrame:
        """Content words only in the premise by those only in the hypothesis: columns row, here, there and relation."""
        tokens = self.tokens
        wanted = tokens.content & ~tokens.shared & (self.likeness >= _RELATED)[tokens.row] & ~tokens.cues("no-kind")
        few = np.maximum(*tokens.count(wanted)) <= _MOST
        wanted &= few[tokens.row]
        here, there = (
            pl.DataFrame({"row": tokens.row[flags], name: tokens.token[flags]}).unique(maintain_order=True)
            for name, flags in (("here", wanted & ~tokens.in_hypothesis), ("there", wanted & tokens.in_hypothesis))
        )
        pairs = here.join(there, on="row")
        relation = self.meanings.relations(pairs["here"].to_numpy(), pairs["there"].to_numpy(), edges=0)
        return pairs.with_columns(relation.cast(pl.String))

    def pairs_in(self, frame: pl.DataFrame) -> Flags:
        """Whether each pair has a row in a frame."""
        are: Flags = np.bincount(frame["row"].to_numpy(), minlength=self.tokens.rows) > 0
        return are


def lexical(pair: PairEvidence) -> Flags:
    """The same words in the same order but for a few, none of them a negation; or a word and its antonym."""
    tokens = pair.tokens
    nearly = (pair.likeness >= _ALIKE) & tokens.differ(tokens.is_word) & ~pair.negated
    return nearly | pair.pairs_in(pair.exchanged.filter(pl.col("relation") == "antonym"))


def negation(pair: PairEvidence) -> Flags:
    """The hypothesis negates more often than the premise."""
    return pair.negated


def boolean(pair: PairEvidence) -> Flags:
    """The premise joins parts by *and* or *or*, and the hypothesis is shorter by a third and repeats some of it."""
    tokens = pair.tokens
    joined = tokens.among(["and", "or"]) & tokens.near(tokens.content, -3, -1) & tokens.near(tokens.content, 1, 4)
    premise, hypothesis = tokens.count(tokens.is_word)
    repeats = tokens.texts_with(tokens.shared & tokens.content)[0]
    return tokens.texts_with(joined)[0] & repeats & (premise >= 1.5 * hypothesis)


def quantifier(pair: PairEvidence) -> Flags:
    """Both sentences quantify, with other words; or one quantifies a word that the other has too."""
    tokens = pair.tokens
    some, every = tokens.cues("some"), tokens.cues("every")
    premise, hypothesis = tokens.texts_with(some | every)
    other = premise & hypothesis & tokens.differ(some | every)
    # The inference seldom depends on a universal quantifier in the premise alone ("all of the staff").
    return (
        other
        | tokens.texts_with(tokens.anchored(some, 1, 3))[0]
        | tokens.texts_with(tokens.anchored(some | every, 1, 3))[1]
    )


def conditional(pair: PairEvidence) -> Flags:
    """A condition in the hypothesis: *if*, *unless*, *as long as*, *would have*."""
    tokens = pair.tokens
    # Not a condition: *if* that means *whether*, *as if*, and *if any*.
    whether = tokens.near(tokens.cues("asking"), -2, -1) | tokens.beside(tokens.among(["as"]), -1)
    idle = tokens.beside(tokens.among(["any", "anything", "at", "ever"]), 1)
    conditions = tokens.cues("condition") & ~(tokens.among(["if"]) & (whether | idle))
    return tokens.texts_with(conditions)[1]


def comparative(pair: PairEvidence) -> Flags:
    """*Than* after a comparison in one of the sentences, or *the* and a superlative in the hypothesis alone."""
    tokens = pair.tokens
    than = tokens.among(["than"]) & ~tokens.beside(tokens.among(["rather", "other"]), -1)
    forms = wordnet().base_form_frame(tokens.words.filter(tokens.words.str.ends_with("est")), "a")
    inflected = forms.filter(pl.col("base") != pl.col("word"))["word"].to_list()
    superlatives = tokens.cues("superlative") | tokens.among(inflected)
    premise, hypothesis = tokens.texts_with(superlatives & tokens.beside(tokens.among(["the"]), -1))
    return np.logical_or(*tokens.texts_with(than)) | (hypothesis & ~premise)


def temporal(pair: PairEvidence) -> Flags:
    """The hypothesis has a time, and one of the sentences says which: a year, an hour, a number of days."""
    tokens = pair.tokens
    moments = tokens.matching(_YEAR) | tokens.cues("era")
    times = moments | tokens.cues("time-unit", "time-name")
    amount = tokens.matching(rf"^(?:\d.*|{PATTERN})$") | tokens.cues("some")
    premise, hypothesis = tokens.texts_with(moments | (times & tokens.near(amount, -2, -1)))
    return hypothesis | (premise & tokens.texts_with(times)[1])


def spatial(pair: PairEvidence) -> Flags:
    """The premise has a point of the compass; or it says where a place is, and the hypothesis names a place."""
    tokens = pair.tokens
    named = is_place_name(tokens.words.str.to_titlecase())[tokens.token]
    premise, hypothesis = tokens.texts_with((tokens.capital & named) | tokens.cues("place-noun"))
    # In names such as "West Hollywood" and "Cleveland Center" these words do not say where something is.
    compass, where = (
        tokens.texts_with(tokens.cues(*lists) & ~tokens.capital)[0]
        for lists in (("compass",), ("place-relation", "place-unit"))
    )
    return compass | (where & premise & hypothesis)


def coreference(pair: PairEvidence) -> Flags:
    """Both sentences have personal pronouns, not the same ones, and neither has a name."""
    tokens = pair.tokens
    pronouns = tokens.cues("pronoun")
    premise, hypothesis = tokens.texts_with(pronouns)
    named = np.logical_or(*tokens.texts_with(pair.names))
    return premise & hypothesis & tokens.differ(pronouns) & ~named


def world(pair: PairEvidence) -> Flags:
    """A name in the hypothesis that the premise has not; or two in a premise, and most of the hypothesis is new."""
    tokens = pair.tokens
    spoken = tokens.texts_with(tokens.cues("speech"))[0]
    new, every = (tokens.count(flags)[1] for flags in (tokens.content & ~tokens.shared, tokens.content))
    is_new = new / np.maximum(every, 1) >= 0.6
    several = (tokens.count(pair.names)[0] >= 2) & is_new & ~pair.negated & ~spoken
    return tokens.texts_with(pair.names & ~tokens.shared)[1] | several


def taxonomic(pair: PairEvidence) -> Flags:
    """A noun in one sentence where the other has a wider or a narrower one."""
    # Only the most frequent sense of nouns counts; words as general as *thing* are left out in ``exchanged``.
    kinds = ("hyponym", "hypernym")
    frame, table = pair.exchanged.filter(pl.col("relation").is_in(kinds)), pair.meanings.table
    nouns = (wordnet().synset_table["pos"] == "n").gather(table["synset"])
    meanings = replace(pair.meanings, table=table.filter(nouns)).frequent(1)
    relation = meanings.relations(frame["here"].to_numpy(), frame["there"].to_numpy(), edges=0)
    return pair.pairs_in(frame.filter(relation.is_in(kinds)))


_IN_ORDER: tuple[Callable[[PairEvidence], Flags], ...] = (
    *(lexical, negation, boolean, quantifier, conditional, comparative),
    *(spatial, temporal, coreference, world, taxonomic),
)
RULES = {rule.__name__: rule for rule in _IN_ORDER}
"""The rules by category, in the order of the taxonomy."""

PROPOSED = tuple(RULES)
"""The categories that rules can recognise, in the order of the taxonomy; the others are never proposed."""
