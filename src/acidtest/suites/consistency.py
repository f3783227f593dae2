"""Suite ``consistency``: pairs whose gold follows, by a law of logic, from the gold of the pair they are made from."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from acidtest.core.digests import SeenDigests, digests
from acidtest.core.draws import U64, Draws
from acidtest.core.suite import PARSES, Kind, Suite, compact_frame, visit_batches
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.corpus import LABEL_COLUMNS, derive_suite, source_pairs, transform_rows

if TYPE_CHECKING:
    from acidtest.text.clauses import Clause

CITATION = (
    "acidtest; identity and symmetric contradiction after Minervini and Riedel (2018). Adversarially Regularising "
    "Neural NLI Models to Integrate Logical Background Knowledge. CoNLL."
)
_NAME = "consistency"
_COLUMNS: dict[str, Kind] = {"law": "factor", "form": "factor"}

_POOL_SIZE = 1 << 11
"""How many hypotheses are searched for companions, the sentences that are joined to others."""
_TRIES = 4
"""How many times a companion that comes from a pair with the same premise is replaced by the next."""
_MOST_WORDS = 15
"""The most words that a companion may have."""

_NOTE = (
    "Gold of identity and conjunction is logic alone. Reversed and doubly negated pairs rest on the gold of the pair "
    "they are made of, and carry its certainty. Negated pairs rest on SNLI's convention, too, that premise and "
    "hypothesis tell of one event: “a man is not asleep” denies “a man is asleep” only if the two are the same man."
)


@generator(
    _NAME,
    summary="What follows by logic from a pair and its gold: identity, reversal, conjunction, negation once and twice",
    rows=2_211,
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
    corpus has the labels of its annotators, laws that rest on gold are applied where all of them agree. What one person
    called neutral is negated, and what one called a contradiction doubly negated, only with ``trust_gold``: such gold
    is often a matter of opinion.
    """
    from acidtest.text.tagging import tagger as load_tagger

    pairs = source_pairs(request, columns=(*_COLUMNS, "order"))
    tagger_name = load_tagger(tagger).name
    draws = Draws(request.seed, _NAME)
    laws = LawApplication(draws, tagger, _companions(pairs, draws, tagger), trust_gold=trust_gold)
    rows = transform_rows(pairs.frame.drop(*PARSES, strict=False), laws.apply)
    suite = derive_suite(
        _NAME,
        pairs,
        rows.lazy(),
        request=request,
        arguments={"tagger": tagger_name} | ({"trust_gold": True} if trust_gold else {}),
        columns=_COLUMNS,
        crossings=(("law", "label"),),
        left_out=laws.left_out,
        note=_NOTE,
    )
    return replace(suite, card=replace(suite.card, sample_by="base_id"))


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

    @property
    def shares_noun(self) -> bool:
        """Whether the two sentences have a noun in common."""
        from acidtest.text.clauses import nouns

        return bool(nouns(self.premise) & nouns(self.hypothesis))


def _companions(pairs: Suite, draws: Draws, tagger: str) -> list[tuple[Clause, int]]:
    """Short plain sentences to join to others, each with the digest of the premise of its pair.

    They are taken from the ``_POOL_SIZE`` hypotheses with the smallest draws, so they do not depend on the order in
    which the corpus is read.
    """
    from acidtest.text.clauses import lower_first_word
    from acidtest.text.sentences import Sentences

    pool = pl.DataFrame(schema={"hypothesis": pl.String, "premise": pl.UInt64, "draw": pl.UInt64})

    def visit(batch: pl.DataFrame) -> None:
        nonlocal pool
        candidates = batch.select(
            "hypothesis",
            premise=pl.Series(digests(batch["premise"])),
            draw=pl.Series(draws.bits(digests(batch["hypothesis"]), "companion")),
        )
        pool = pl.concat([pool, candidates]).sort("draw", "premise").unique("draw", keep="first", maintain_order=True)
        pool = compact_frame(pool.head(_POOL_SIZE))

    visit_batches(pairs.frame.select("premise", "hypothesis"), visit)
    return [
        (clause, premise)
        for clause, premise in zip(Sentences.of(pool["hypothesis"], tagger).clauses(), pool["premise"], strict=True)
        if not isinstance(clause, str)
        and clause.subject != "pronoun"
        and 3 <= len(clause.text.split()) <= _MOST_WORDS
        and lower_first_word(clause) is not None
    ]


@dataclass
class LawApplication:
    """Applies the laws to a corpus batch by batch."""

    draws: Draws
    tagger: str
    companions: Sequence[tuple[Clause, int]]
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
        from acidtest.text.clauses import clause_doubts
        from acidtest.text.sentences import Sentences

        keys = digests(pairs["id"])
        premises, hypotheses = (Sentences.of(pairs[side], self.tagger) for side in ("premise", "hypothesis"))
        annotator_labels = pairs["annotator_labels"] if "annotator_labels" in pairs.columns else [None] * pairs.height
        is_repeated = ~self._seen.new(digests(pl.concat([pairs["premise"], pairs["hypothesis"]])))
        columns = (
            *(pairs[name] for name in ("premise", "hypothesis", "label")),
            pairs["certainty"].fill_null("human"),
            [_agreement(*row) for row in zip(annotator_labels, pairs["label"], pairs["certainty"], strict=True)],
            premises.non_assertions(),
            hypotheses.non_assertions(),
            clause_doubts(pairs["hypothesis"], "negation"),
            premises.clauses(),
            hypotheses.clauses(),
            self.draws.bits(keys, "side").tolist(),
            self._draw_companions(pairs, keys),
            is_repeated[: pairs.height],
            is_repeated[pairs.height :],
        )
        return (AnalysedPair(*row) for row in zip(*columns, strict=True))

    def _draw_companions(self, pairs: pl.DataFrame, keys: U64) -> list[Clause | None]:
        """For each pair a sentence from a pair with another premise; None where none is found."""
        if not self.companions:
            return [None] * pairs.height
        premises = digests(pairs["premise"])
        choices = self.draws.choices(keys, len(self.companions), "companion")
        companion_premises = np.array([premise for _, premise in self.companions], dtype=np.uint64)
        for _ in range(_TRIES):
            is_same = companion_premises[choices] == premises
            choices = np.where(is_same, (choices + 1) % len(self.companions), choices)
        is_other = companion_premises[choices] != premises
        return [self.companions[choice][0] if other else None for choice, other in zip(choices, is_other, strict=True)]


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
        yield _reversal(pair)
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


def _reversal(pair: AnalysedPair) -> LawPair | str:
    doubt = pair.premise_doubt or pair.hypothesis_doubt
    if doubt:
        return f"reversal: {doubt}"
    if pair.premise == pair.hypothesis:
        return "reversal: a sentence and itself"
    label = "contradiction" if pair.label == "contradiction" else "non-contradiction"
    if label == "contradiction" and not pair.shares_noun:
        # Sentences without a common noun contradict each other only if both are known to describe one event.
        return "reversal: nothing in common"
    return LawPair(f"reversed {pair.label}", pair.hypothesis, pair.premise, label, pair.certainty)


def _conjunction(pair: AnalysedPair) -> LawPair | str:
    from acidtest.text.clauses import conjoin

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
            yield _negation(pair, clause, is_trusted=is_trusted)
        yield _double_negation(pair, clause, is_trusted=is_trusted)


def _negation(pair: AnalysedPair, clause: Clause, *, is_trusted: bool) -> LawPair | str:
    from acidtest.text.clauses import negation

    if pair.label == "neutral" and not is_trusted:
        return "negated neutral: gold of one annotator (--trust-gold)"
    negated = negation(clause, pair.premise, focused=pair.label == "neutral")
    if negated is None:
        return "negation: perhaps a name"
    label = "contradiction" if pair.label == "entailment" else "neutral"
    return LawPair(f"negated {pair.label}", pair.premise, negated.text, label, "same-event", negated.form)


def _double_negation(pair: AnalysedPair, clause: Clause, *, is_trusted: bool) -> LawPair | str:
    from acidtest.text.clauses import negate_twice

    if pair.label == "contradiction" and not pair.shares_noun:
        return "double negation: nothing in common"
    if pair.label == "contradiction" and not is_trusted:
        return "double negation: gold of one annotator (--trust-gold)"
    negated = negate_twice(clause)
    if negated is None:
        return "double negation: perhaps a name"
    return LawPair("double negation", pair.premise, negated.text, pair.label, pair.certainty, negated.form)
