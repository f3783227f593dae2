"""``baseline:…``: models that follow one simple rule, to compare other models' scores with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import Draws
from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.labels import LABELS
from acidtest.core.model import MODELS, CompletedModel, Keep, Model
from acidtest.pairs import heuristics

Rule = Callable[[pl.Series, pl.Series], npt.NDArray[np.integer]]
"""Maps premises and hypotheses to indices into ``LABELS``; the index after the last stands for ``OTHER``."""

Score = Callable[[pl.Series, pl.Series], pl.Series]
"""Maps documents and claims to numbers from 0 to 1."""

OTHER = "other"
"""The answer for words without a relation: it is not a label, so the pair is unanswered."""

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


class Baseline:
    """A rule from premises and hypotheses to labels."""

    probabilities = False
    batch_size = 1 << 15
    keep: Keep = "nothing"

    def __init__(self, name: str, rule: Rule, *, may_abstain: bool, revision: int) -> None:
        self.name = name
        self.fingerprint = name if revision == 1 else f"{name}|r{revision}"
        self.may_abstain = may_abstain
        self._rule = rule

    def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> npt.NDArray[np.float32]:
        """One-hot rows of the rule's labels; rows of NaN where it has no answer."""
        rows = np.vstack([np.eye(3, dtype=np.float32), np.full(3, np.nan, dtype=np.float32)])
        answers = self._rule(pl.Series(premises, dtype=pl.String), pl.Series(hypotheses, dtype=pl.String))
        return np.asarray(rows[answers])


class SupportBaseline:
    """A score from 0 to 1 for how well a document supports a claim; entailment from one half on, else neutral."""

    probabilities = True
    batch_size = 1 << 12
    keep: Keep = "nothing"

    def __init__(self, name: str, score: Score) -> None:
        self.name = self.fingerprint = name
        self._score = score

    def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> npt.NDArray[np.float32]:
        """The score as the probability of entailment, and the rest as that of neutral."""
        texts = (pl.Series(column, dtype=pl.String) for column in (premises, hypotheses))
        support = self._score(*texts).to_numpy().astype(np.float32)
        return np.column_stack([support, 1 - support, np.zeros_like(support)])


@MODELS.add("baseline")
def baseline(rest: str) -> Model:
    """A baseline by name; what follows a second colon is its argument.

    Those that score claims give the probability of entailment and leave the rest to neutral, so that a claim counts as
    supported from one half on. Options of the two that read WordNet are separated by commas, as in
    ``baseline:wordnet:edges=2,similar=none``. ``edges`` (default 3) is how far a common ancestor may be. ``similar``
    says what adjectives that WordNet calls similar are to one another: synonym (default of ``wordnet``), co-hyponym or
    none (default of ``wordnet-aligned``). ``antonyms`` is indirect (default: *small* and *huge*, since *huge* is
    similar to *large*) or direct. ``first`` (``wordnet`` only) says which relation counts where several hold: hyponym
    (default, then hypernym, synonym, antonym, co-hyponym) or antonym (then synonym, hyponym, hypernym, co-hyponym).
    """
    name, _, argument = rest.partition(":")
    if name not in BASELINES:
        raise UnknownNameError("baseline", name, BASELINES)
    if name in SUPPORT:
        if argument:
            raise AcidtestError(f"baseline:{name} takes no argument, but {argument!r} was given")
        return CompletedModel(SupportBaseline(f"baseline:{name}", SUPPORT[name]), rest)
    rule = RULES[name](argument)
    model = Baseline(f"baseline:{rest}", rule, may_abstain=name in ABSTAINING, revision=REVISIONS.get(name, 1))
    return CompletedModel(model, rest)


def majority(argument: str) -> Rule:
    """The same label for every pair: the one named, or entailment, the commonest in SNLI and MNLI."""
    label = argument or "entailment"
    if label not in LABELS:
        raise AcidtestError(f"baseline:majority:{label}: the label is {', '.join(LABELS[:-1])} or {LABELS[-1]}")
    return lambda premises, _: np.full(len(premises), LABELS.index(label))


def random(argument: str) -> Rule:
    """A random label for every pair, always the same for the same pair and seed."""
    if argument and not argument.isdecimal():
        raise AcidtestError(f"baseline:random:{argument}: the seed is a whole number")
    draws = Draws(int(argument or 0), "baseline:random")
    return lambda premises, hypotheses: draws.choices(digests(premises, hypotheses), 3, "label")


def overlap(argument: str) -> Rule:
    """Entailment when every word of the hypothesis is in the premise, else neutral."""
    return _entailment_where("overlap", argument, heuristics.lexical_overlap)


def subsequence(argument: str) -> Rule:
    """Entailment when the hypothesis is a sequence of consecutive words of the premise, else neutral."""
    return _entailment_where("subsequence", argument, heuristics.subsequence)


def _entailment_where(name: str, argument: str, condition: Callable[[pl.Series, pl.Series], pl.Series]) -> Rule:
    if argument:
        raise AcidtestError(f"baseline:{name} takes no argument, but {argument!r} was given")
    return lambda premises, hypotheses: np.where(condition(premises, hypotheses).to_numpy(), 0, 1)


OPTIONS: Mapping[str, Any] = {"edges": 3, "similar": None, "antonyms": "indirect"}
"""Options of both WordNet baselines, with the meanings of ``word_relations``.

For edges the paper's text says 2; its table 4 is reproduced with 3.
"""
REPLACEMENT_OPTIONS: Mapping[str, Any] = {**OPTIONS, "similar": "synonym", "first": "hyponym"}
"""The interpretation of section 4.1 whose accuracies by category come closest to table 4 (docs/results/papers.md)."""

_CHOICES = {
    "similar": ("synonym", "co-hyponym", "none"),
    "antonyms": ("direct", "indirect"),
    "first": ("antonym", "hyponym"),
}


def wordnet(argument: str) -> Rule:
    """The WordNet baseline of Glockner et al. (2018): a label from the one word or expression that was replaced.

    Entailment if the premise's word is a synonym or hyponym of the one that replaces it, neutral if it is a hypernym,
    contradiction if the two are antonyms or co-hyponyms. Sentences without a difference are entailment. There is no
    answer for words without a relation, or if the difference is not a single replacement; such a pair counts as wrong.
    What both sentences begin and end with is taken off; case, punctuation, articles and inflection do not matter; an
    expression has up to four words. All senses in all parts of speech count.
    """
    from acidtest.pairs.alignment import replaced_words
    from acidtest.pairs.word_relations import word_relations

    options = _parse_options("baseline:wordnet", argument, REPLACEMENT_OPTIONS)

    def answers(premises: pl.Series, hypotheses: pl.Series) -> npt.NDArray[np.integer]:
        replaced = replaced_words(premises, hypotheses)
        relation = word_relations(replaced["premise_words"], replaced["hypothesis_words"], **options)
        label = relation.cast(pl.String).replace_strict(LABEL_OF)
        same = pl.col("difference") == "same"
        return _label_numbers(replaced, pl.when(same).then(pl.lit("entailment")).otherwise(label))

    return answers


def wordnet_aligned(argument: str) -> Rule:
    """A rule for any pair: content words of the hypothesis are aligned with the premise, then four rules apply.

    1. One sentence is negated and the other is not: contradiction if rule 4 would say entailment, else neutral.
    2. A word has an antonym or an exclusive co-hyponym in the premise: contradiction.
    3. A word has no equal, synonym or hyponym in the premise: neutral.
    4. Otherwise entailment.

    A hypothesis without content words is neutral, unless it equals the premise. Word order is ignored, as is a negation
    that both sentences have. Co-hyponyms are exclusive if they stand between the same content words, or if their most
    frequent senses are co-hyponyms in a field of WordNet other than people, groups and verbs: a nurse may be a runner.
    """
    from acidtest.pairs.alignment import aligned_words

    options = _parse_options("baseline:wordnet-aligned", argument, OPTIONS)
    opposed, added = pl.col("opposed"), pl.col("added")

    def answers(premises: pl.Series, hypotheses: pl.Series) -> npt.NDArray[np.integer]:
        words = aligned_words(premises, hypotheses, **options)
        relations = words.group_by("row").agg(
            opposed=pl.col("relation").is_in(["antonym", "co-hyponym"]).any(),
            added=(pl.col("relation") == "none").any(),
        )
        pairs = pl.DataFrame({"row": pl.int_range(len(premises), eager=True), "same": premises == hypotheses})
        pairs = pairs.join(relations, on="row", how="left", maintain_order="left").with_columns(
            opposed.fill_null(False),
            added.fill_null(~pl.col("same")),
            negated=_is_negated(premises) != _is_negated(hypotheses),
        )
        contradicted = pl.when("negated").then(~(opposed | added)).otherwise(opposed)
        label = pl.when(contradicted).then(pl.lit("contradiction"))
        return _label_numbers(
            pairs, label.when(added | pl.col("negated")).then(pl.lit("neutral")).otherwise(pl.lit("entailment"))
        )

    return answers


def _parse_options(model: str, argument: str, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Options from a text such as ``edges=2,similar=synonym``, with defaults for those not given."""
    given: dict[str, Any] = {}
    for part in argument.split(",") if argument else ():
        name, equals, value = part.partition("=")
        option = f"{model}:{argument}: {name}"
        choices = _CHOICES.get(name, ())
        if not equals:
            raise AcidtestError(f"{model}:{argument}: {part!r} is no option; write edges=2 or similar=synonym")
        if name not in defaults:
            raise UnknownNameError(f"option of {model}", name, defaults)
        if name in given:
            raise AcidtestError(f"{option} is given twice")
        if choices and value not in choices:
            raise AcidtestError(f"{option} is {', '.join(choices[:-1])} or {choices[-1]}, not {value!r}")
        if not choices and not (value.isascii() and value.isdecimal() and int(value) >= 1):
            raise AcidtestError(f"{option} is a whole number from 1 on, not {value!r}")
        given[name] = int(value) if not choices else None if value == "none" else value
    return {**defaults, **given}


def _label_numbers(frame: pl.DataFrame, label: pl.Expr) -> npt.NDArray[np.integer]:
    return frame.select(label.cast(pl.Enum([*LABELS, OTHER])).to_physical()).to_series().to_numpy()


def _is_negated(sentences: pl.Series) -> pl.Series:
    from acidtest.pairs.cues import negations

    likely = sentences.str.contains(_NEGATION)
    has_negation = negations(sentences.filter(likely)).list.len() > 0
    return likely.scatter(likely.arg_true(), has_negation)


def word_match(documents: pl.Series, claims: pl.Series) -> pl.Series:
    """The share of the claim's content words that the document has in any form; 1 for a claim without any."""
    from acidtest.pairs.claim_matches import word_share

    return word_share(documents, claims)


def entity_match(documents: pl.Series, claims: pl.Series) -> pl.Series:
    """1 where the document has all names of the claim; otherwise half of the share that it has.

    Names are runs of words with capitals, compared as they are written; months, days and a word that only begins a
    sentence are none.
    """
    from acidtest.pairs.claim_matches import name_share

    return _all_or_half(name_share(documents, claims))


def number_match(documents: pl.Series, claims: pl.Series) -> pl.Series:
    """1 where the document has all numbers of the claim, in figures or words; otherwise half of the share it has.

    1,200 is *twelve hundred*, and $1.5 million is 1,500,000 dollars, but 24 months are not *two years*.
    """
    from acidtest.pairs.claim_matches import number_share

    return _all_or_half(number_share(documents, claims))


def claim_only(_: pl.Series, claims: pl.Series) -> pl.Series:
    """How likely the claim is to be supported, by words that give labels away in NLI data: *never*, *some*.

    It never looks at the document. The logarithms of the odds of entailment of 43 words are added up; they were counted
    in hypotheses of LingNLI and MultiNLI (tools/count_claim_words.py), and in no claim of ours.
    """
    from acidtest.pairs.claim_matches import claim_prior

    return claim_prior(claims)


def _all_or_half(shares: pl.Series) -> pl.Series:
    return pl.select(pl.when(shares == 1).then(1.0).otherwise(shares / 2)).to_series()


SUPPORT: Mapping[str, Score] = {
    "word-match": word_match,
    "entity-match": entity_match,
    "number-match": number_match,
    "claim-only": claim_only,
}
"""Baselines that score how well a document supports a claim."""

RULES: Mapping[str, Callable[[str], Rule]] = {
    "majority": majority,
    "random": random,
    "overlap": overlap,
    "subsequence": subsequence,
    "wordnet": wordnet,
    "wordnet-aligned": wordnet_aligned,
}
BASELINES = (*RULES, *SUPPORT)

ABSTAINING = frozenset({"wordnet"})
"""Baselines that may leave a pair unanswered."""

REVISIONS = {"wordnet": 2}
"""Increase a number when the baseline's answers change, so that runs do not mix them with older ones."""
