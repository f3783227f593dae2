"""Suite ``consistency``: pairs whose gold follows, by a law of logic, from the gold of the pair they are made from."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from acidtest.core.digests import SeenDigests, digests
from acidtest.core.draws import Draws
from acidtest.core.suite import PARSES, Kind, Suite
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.consistency.companions import Companions
from acidtest.suites.corpus import LABEL_COLUMNS, derive_suite, source_pairs, transform_rows

if TYPE_CHECKING:
    from acidtest.english.clauses import Clause

CITATION = (
    "acidtest; identity and symmetric contradiction after Minervini and Riedel (2018). Adversarially Regularising "
    "Neural NLI Models to Integrate Logical Background Knowledge. CoNLL."
)
_NAME = "consistency"
_VERSION = 2
_COLUMNS: dict[str, Kind] = {"law": "factor", "form": "factor"}

_CLOSE = {"entailment": 0.5, "contradiction": 0.6}
"""Gold of one annotator is used if at least this share of the hypothesis's words is in the premise, by label.

Gold that is not listed is not used.
"""

_NOTE = (
    "Gold of identity and conjunction is logic alone. Reversed and doubly negated pairs rest on the gold of the pair "
    "they are made of, and carry its certainty. Negated pairs rest on SNLI's convention, too, that premise and "
    "hypothesis tell of one event: “a man is not asleep” denies “a man is asleep” only if the two are the same man."
)


@generator(
    _NAME,
    summary="What follows by logic from a pair and its gold: identity, reversal, conjunction, negation once and twice",
    rows=2_048,
    source="pairs",
    citation=CITATION,
    licence="Apache-2.0",
)
def consistency(request: Request, *, tagger: str = "auto", trust_gold: bool = False) -> Suite:
    """Every pair of the corpus under each law that can be applied to it; the rows of one pair are a group.

    A sentence entails itself; a contradiction reversed is one; an entailed or a neutral pair reversed is none; a
    conjunction entails its parts; an entailed hypothesis negated contradicts, a neutral one stays neutral; a double
    negation changes nothing. Sentences are negated and joined only where they are one plain clause. Contradicting
    hypotheses are not negated: what a premise contradicts in one way, its negation need not follow from. Where the
    corpus has the labels of its annotators, laws that rest on gold are applied where all of them agree. Contradictions
    are reversed only where the hypothesis says something firm of the same people or things. Gold of one person is often
    a matter of opinion: without ``trust_gold``, no law is applied to what one called neutral, contradictions are not
    doubly negated, and for other laws the premise must have most of the hypothesis's words.
    """
    from acidtest.english.tagging import tagger as load_tagger

    pairs = source_pairs(request, columns=(*_COLUMNS, "order"))
    tagger_name = load_tagger(tagger).name
    draws = Draws(request.seed, _NAME)
    laws = LawApplication(draws, tagger, Companions.of(pairs, draws, tagger), trust_gold=trust_gold)
    rows = transform_rows(pairs.frame.drop(*PARSES, strict=False), laws.apply)
    return derive_suite(
        _NAME,
        pairs,
        rows.lazy(),
        request=request,
        version=_VERSION,
        arguments={"tagger": tagger_name} | ({"trust_gold": True} if trust_gold else {}),
        columns=_COLUMNS,
        crossings=(("law", "label"),),
        sample_by="base_id",
        left_out=laws.left_out,
        note=_NOTE,
    )


@dataclass(frozen=True)
class LawPair:
    """A pair that follows from another by a law."""

    law: str
    premise: str
    hypothesis: str
    label: str
    certainty: str
    form: str | None = None


@dataclass(frozen=True)
class AnalysedPair:
    """A pair of the corpus with an analysis of its sentences; a string in place of a clause says why there is none."""

    premise: str
    hypothesis: str
    label: str
    certainty: str
    agreement: Literal["unanimous", "disputed", "unknown"]
    """Whether all annotators gave its gold; unknown where fewer than two are on record."""
    premise_doubt: str | None
    """Why the premise asserts nothing; None if it is an assertion."""
    hypothesis_doubt: str | None
    negation_doubt: str | None
    """Why the scope of *not* in the hypothesis would be unclear; None if it would be clear."""
    premise_clause: Clause | str
    hypothesis_clause: Clause | str
    bits: int
    """A draw, from which the choices between sentences and between their orders are taken."""
    companion: Clause | None
    is_repeated_premise: bool
    """Whether the premise has already occurred, as a premise or as a hypothesis."""
    is_repeated_hypothesis: bool
    reversal_doubt: str | None
    """Why a contradiction is not surely one the other way round."""

    @property
    def shares_noun(self) -> bool:
        """Whether the two sentences have a noun in common."""
        from acidtest.english.clauses import nouns

        return bool(nouns(self.premise) & nouns(self.hypothesis))

    @property
    def is_close(self) -> bool:
        """Whether the premise has most of the hypothesis's content words; never for neutral pairs."""
        from acidtest.suites.consistency.reversal import shared_words

        return self.label in _CLOSE and shared_words(self.premise, self.hypothesis) >= _CLOSE[self.label]


@dataclass
class LawApplication:
    """Applies the laws to a corpus batch by batch."""

    draws: Draws
    tagger: str
    companions: Companions
    trust_gold: bool = False
    left_out: Counter[str] = field(default_factory=Counter)
    _seen: SeenDigests = field(default_factory=SeenDigests)

    def apply(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """The pairs that follow from a batch: its columns with new labels, those of the suite, and ``variant``."""
        rows = list[dict[str, Any]]()
        for order, pair in enumerate(self._analyse(pairs)):
            for result in _apply_laws(pair, trust_gold=self.trust_gold):
                if isinstance(result, str):
                    self.left_out[result] += 1
                else:
                    rows.append({"order": order, **vars(result)})
        schema = {"order": pl.UInt32} | dict.fromkeys(LawPair.__dataclass_fields__, pl.String)
        frame = pl.DataFrame(rows, schema=schema)
        context = pairs.drop("premise", "hypothesis", *LABEL_COLUMNS, strict=False)[frame["order"]]
        frame = context.with_columns(group="id").hstack(frame.drop("order"))
        return frame.with_columns(variant=pl.col("law").str.replace_all(" ", "-"))

    def _analyse(self, pairs: pl.DataFrame) -> Iterator[AnalysedPair]:
        from acidtest.english.clauses import clause_doubts
        from acidtest.english.sentences import Sentences

        keys = digests(pairs["id"])
        premises, hypotheses = (Sentences.of(pairs[side], self.tagger) for side in ("premise", "hypothesis"))
        annotator_labels = pairs["annotator_labels"] if "annotator_labels" in pairs.columns else [None] * pairs.height
        agreement = [_agreement(*row) for row in zip(annotator_labels, pairs["label"], pairs["certainty"], strict=True)]
        clauses = hypotheses.clauses()
        is_repeated = ~self._seen.new(digests(pl.concat([pairs["premise"], pairs["hypothesis"]])))
        columns = (
            *(pairs[name] for name in ("premise", "hypothesis", "label")),
            pairs["certainty"].fill_null("human"),
            agreement,
            premises.non_assertions(),
            hypotheses.non_assertions(),
            clause_doubts(pairs["hypothesis"], "negation"),
            premises.clauses(),
            clauses,
            self.draws.bits(keys, "side").tolist(),
            self.companions.draw(pairs, keys),
            is_repeated[: pairs.height],
            is_repeated[pairs.height :],
            self._reversal_doubts(pairs, clauses),
        )
        return (AnalysedPair(*row) for row in zip(*columns, strict=True))

    def _reversal_doubts(self, pairs: pl.DataFrame, clauses: Sequence[Clause | str]) -> list[str | None]:
        """For contradictions why they are not reversed; None elsewhere."""
        from acidtest.suites.consistency.reversal import contradiction_doubts

        doubts: list[str | None] = [None] * pairs.height
        rows = (pairs["label"] == "contradiction").arg_true().to_list()
        chosen = pairs[rows]
        reasons = contradiction_doubts(
            chosen["premise"], chosen["hypothesis"], [clauses[row] for row in rows], self.tagger
        )
        for row, reason in zip(rows, reasons, strict=True):
            doubts[row] = reason
        return doubts


def _agreement(
    annotator_labels: str | None, label: str, certainty: str | None
) -> Literal["unanimous", "disputed", "unknown"]:
    """Whether annotators agree on the gold of a pair; gold with a ``certainty`` needs no second annotator."""
    try:
        labels = [answer for answer in json.loads(annotator_labels or "[]") if answer]
    except (ValueError, TypeError, RecursionError):
        labels = []
    if any(answer != label for answer in labels):
        return "disputed"
    return "unanimous" if len(labels) > 1 or certainty is not None else "unknown"


def _apply_laws(pair: AnalysedPair, *, trust_gold: bool) -> Iterator[LawPair | str]:
    """For each law, the pair that it yields or the reason why it yields none."""
    yield _identity(pair)
    yield _conjunction(pair)
    if pair.label not in ("entailment", "neutral", "contradiction"):
        yield "gold of several labels"
    elif pair.agreement == "disputed":
        yield "annotators disagree"
    else:
        yield _reversal(pair, trust_gold=trust_gold)
        yield from _negations(pair, trust_gold=trust_gold)


def _identity(pair: AnalysedPair) -> LawPair | str:
    sides = [
        (pair.premise, pair.premise_doubt, pair.is_repeated_premise),
        (pair.hypothesis, pair.hypothesis_doubt, pair.is_repeated_hypothesis),
    ]
    texts = [text for text, doubt, is_repeated in sides if not doubt and not is_repeated]
    if not texts:
        return f"identity: {pair.premise_doubt or pair.hypothesis_doubt or 'sentence used before'}"
    text = texts[pair.bits % len(texts)]
    return LawPair("identity", text, text, "entailment", "logical")


def _reversal(pair: AnalysedPair, *, trust_gold: bool) -> LawPair | str:
    doubt = pair.premise_doubt or pair.hypothesis_doubt
    if doubt:
        return f"reversal: {doubt}"
    if pair.premise == pair.hypothesis:
        return "reversal: a sentence and itself"
    label = "contradiction" if pair.label == "contradiction" else "non-contradiction"
    if label == "contradiction" and not pair.shares_noun:
        # Sentences without a common noun contradict each other only if both are known to describe one event.
        return "reversal: nothing in common"
    if pair.reversal_doubt:
        return f"reversed {pair.label}: {pair.reversal_doubt}"
    is_trusted = trust_gold or pair.label == "entailment" or pair.agreement != "unknown"
    if not is_trusted and not pair.is_close:
        return f"reversed {pair.label}: gold of one annotator (--trust-gold)"
    return LawPair(f"reversed {pair.label}", pair.hypothesis, pair.premise, label, pair.certainty)


def _conjunction(pair: AnalysedPair) -> LawPair | str:
    from acidtest.english.clauses import conjoin

    parts = [part for part in (pair.premise_clause, pair.hypothesis_clause) if not isinstance(part, str)]
    if not parts:
        return f"conjunction: {pair.hypothesis_clause}"
    if pair.companion is None:
        return "conjunction: no second sentence"
    part = parts[(pair.bits >> 8) % len(parts)]
    is_last = bool(pair.bits >> 16 & 1)
    premise = conjoin(pair.companion, part) if is_last else conjoin(part, pair.companion)
    if premise is None:
        return "conjunction: perhaps a name"
    form = "last" if is_last else "first"
    return LawPair("conjunction", premise, part.text + part.stop, "entailment", "logical", form)


def _negations(pair: AnalysedPair, *, trust_gold: bool) -> Iterator[LawPair | str]:
    clause = pair.hypothesis_clause
    if pair.premise_doubt:
        yield f"negation: {pair.premise_doubt}"
    elif isinstance(clause, str) or pair.negation_doubt:
        yield f"negation: {pair.negation_doubt or clause}"
    elif clause.joins:
        yield "negation: coordination"
    else:
        is_trusted = trust_gold or pair.agreement != "unknown"
        if pair.label != "contradiction":
            yield _negation(pair, clause, is_trusted=is_trusted, trust_gold=trust_gold)
        yield _double_negation(pair, clause, is_trusted=is_trusted, trust_gold=trust_gold)


def _negation(pair: AnalysedPair, clause: Clause, *, is_trusted: bool, trust_gold: bool) -> LawPair | str:
    from acidtest.english.clauses import negation
    from acidtest.suites.consistency.reversal import adds_description

    if pair.label == "neutral" and not is_trusted:
        return "negated neutral: gold of one annotator (--trust-gold)"
    if not is_trusted and not pair.is_close:
        return "negated entailment: gold of one annotator (--trust-gold)"
    if pair.label == "entailment" and not trust_gold and adds_description(clause, pair.premise):
        # Whether the hill of the premise is a giant one annotators judge differently.
        return "negated entailment: described otherwise (--trust-gold)"
    negated = negation(clause, pair.premise, focused=pair.label == "neutral")
    if negated is None:
        return "negation: perhaps a name"
    label = "contradiction" if pair.label == "entailment" else "neutral"
    return LawPair(f"negated {pair.label}", pair.premise, negated.text, label, "same-event", negated.form)


def _double_negation(pair: AnalysedPair, clause: Clause, *, is_trusted: bool, trust_gold: bool) -> LawPair | str:
    from acidtest.english.clauses import negate_twice

    if pair.label == "contradiction" and not (pair.shares_noun and (trust_gold or pair.is_close)):
        return "double negation: little in common"
    if not is_trusted and (pair.label != "entailment" or not pair.is_close):
        return "double negation: gold of one annotator (--trust-gold)"
    negated = negate_twice(clause)
    if negated is None:
        return "double negation: perhaps a name"
    return LawPair("double negation", pair.premise, negated.text, pair.label, pair.certainty, negated.form)
