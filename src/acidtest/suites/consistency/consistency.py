"""Suite ``consistency``: pairs whose gold follows by a law of logic from that of the pair they are made of."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import polars as pl

from acidtest.core.digests import Seen, digests
from acidtest.core.draws import U64, Draws
from acidtest.core.streams import compacted, visit_batches
from acidtest.core.suite import PARSES, Kind, Suite
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.corpus import OF_THE_PAIR, corpus, derived, gathered
from acidtest.text.clauses import Clause, clauses, doubtful, nouns, unsaid
from acidtest.text.negation_forms import conjoined, doubly_negated, lowered, negation
from acidtest.text.tagging import tagger as tagger_called

NAME = "consistency"
VERSION = 1
CITATION = (
    "acidtest; identity and symmetric contradiction after Minervini and Riedel (2018). Adversarially Regularising "
    "Neural NLI Models to Integrate Logical Background Knowledge. CoNLL."
)

COLUMNS: dict[str, Kind] = {"law": "factor", "form": "factor"}

_Agreement = Literal["unanimous", "disputed", "unknown"]
"""Whether all annotators of a pair gave its gold; unknown where no more than one is told of."""

_POOL = 1 << 11
"""How many hypotheses are looked at for sentences to join to others."""
_TRIES = 4
_LONGEST = 15
"""Words that a sentence joined to another may have."""

_NOTE = (
    "Gold of identity and conjunction is logic alone. Reversed and doubly negated pairs rest on the gold of the pair "
    "they are made of, and carry its certainty. Negated pairs rest on SNLI's convention, too, that premise and "
    "hypothesis tell of one event: “a man is not asleep” denies “a man is asleep” only if the two are the same man."
)


@generator(
    NAME,
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
    corpus tells what its annotators said, laws that rest on gold are applied where all of them agree. What one person
    called neutral is negated, and what one called a contradiction doubly negated, only with ``trust_gold``: such gold
    is often a matter of opinion.
    """
    pairs = corpus(request, columns=(*COLUMNS, "order"))
    used = tagger_called(tagger)
    draws = Draws(request.seed, NAME)
    found = _Found(draws, tagger, _companions(pairs, draws, tagger), trusting=trust_gold)
    rows = gathered(pairs.frame.drop(*PARSES, strict=False), found.made)
    made = derived(
        NAME,
        pairs,
        rows.lazy(),
        version=VERSION,
        request=request,
        citation=CITATION,
        arguments={"tagger": used.name} | ({"trust_gold": True} if trust_gold else {}),
        columns=COLUMNS,
        crossings=(("law", "label"),),
    )
    card = replace(made.card, left_out=dict(found.left_out.most_common()), note=_NOTE)
    return replace(made, card=card)


@dataclass(frozen=True)
class _Companion:
    """A sentence to be joined to others, and the digest of the premise it stood with."""

    clause: Clause
    premise: int


@dataclass(frozen=True)
class _Made:
    """A pair under a law."""

    law: str
    premise: str
    hypothesis: str
    label: str
    certainty: str
    form: str | None = None


@dataclass(frozen=True)
class _Source:
    """A pair of the corpus, with what is known of its sentences."""

    premise: str
    hypothesis: str
    label: str
    certainty: str
    agreement: _Agreement
    premise_doubt: str | None
    hypothesis_doubt: str | None
    negation_doubt: str | None
    premise_clause: Clause | str
    hypothesis_clause: Clause | str
    bits: int
    companion: Clause | None


def _companions(pairs: Suite, draws: Draws, tagger: str) -> list[_Companion]:
    """Short plain sentences of the corpus: of the ``_POOL`` hypotheses that come first in a keyed order.

    That order does not depend on how the corpus is read.
    """
    kept = pl.DataFrame(schema={"hypothesis": pl.String, "premise": pl.UInt64, "draw": pl.UInt64})

    def look(batch: pl.DataFrame) -> None:
        nonlocal kept
        told = batch.select(
            "hypothesis",
            premise=pl.Series(digests(batch["premise"])),
            draw=pl.Series(draws.bits(digests(batch["hypothesis"]), "companion")),
        )
        kept = pl.concat([kept, told]).sort("draw", "premise").unique("draw", keep="first", maintain_order=True)
        kept = compacted(kept.head(_POOL))

    visit_batches(pairs.frame.select("premise", "hypothesis"), look)
    found = zip(clauses(kept["hypothesis"], tagger), kept["premise"].to_list(), strict=True)
    return [_Companion(clause, premise) for clause, premise in found if isinstance(clause, Clause) and _joins(clause)]


def _joins(clause: Clause) -> bool:
    words = len(clause.text.split())
    return clause.subject != "pronoun" and 3 <= words <= _LONGEST and lowered(clause) is not None


@dataclass
class _Found:
    """The pairs made of a corpus, gathered batch by batch."""

    draws: Draws
    tagger: str
    companions: Sequence[_Companion]
    trusting: bool = False
    left_out: Counter[str] = field(default_factory=Counter)
    _seen: Seen = field(default_factory=Seen)

    def made(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """The columns of the corpus but trees, those of the suite, and variant."""
        repeated = self._repeated(pairs)
        made = list[dict[str, Any]]()
        for order, source in enumerate(self._sources(pairs)):
            for result in _laws(source, repeated=repeated[order], trusting=self.trusting):
                if isinstance(result, str):
                    self.left_out[result] += 1
                else:
                    made.append({"order": order, **vars(result)})
        schema = {"order": pl.UInt32} | dict.fromkeys(_Made.__dataclass_fields__, pl.String)
        rows = pl.DataFrame(made, schema=schema)
        told = pairs.drop("premise", "hypothesis", *OF_THE_PAIR, strict=False)[rows["order"]]
        frame = told.with_columns(group="id").hstack(rows.drop("order"))
        return frame.with_columns(variant=pl.col("law").str.replace_all(" ", "-"))

    def _repeated(self, pairs: pl.DataFrame) -> list[tuple[bool, bool]]:
        """Whether each pair's premise and hypothesis stood in an earlier one."""
        both = pl.concat([pairs["premise"], pairs["hypothesis"]])
        new = self._seen.new(digests(both)).to_list()
        first, second = new[: pairs.height], new[pairs.height :]
        return [(not premise, not hypothesis) for premise, hypothesis in zip(first, second, strict=True)]

    def _sources(self, pairs: pl.DataFrame) -> Iterator[_Source]:
        key = digests(pairs["id"])
        sides = {side: clauses(pairs[side], self.tagger) for side in ("premise", "hypothesis")}
        columns = (
            *(pairs[name] for name in ("premise", "hypothesis", "label")),
            pairs["certainty"].fill_null("human"),
            _agreements(pairs),
            unsaid(pairs["premise"], self.tagger),
            unsaid(pairs["hypothesis"], self.tagger),
            doubtful(pairs["hypothesis"], "negation"),
            *sides.values(),
            self.draws.bits(key, "side").tolist(),
            self._companions_of(pairs, key),
        )
        return (_Source(*row) for row in zip(*columns, strict=True))

    def _companions_of(self, pairs: pl.DataFrame, key: U64) -> list[Clause | None]:
        """A sentence of another premise for each pair, where one is found."""
        if not self.companions:
            return [None] * pairs.height
        premise = digests(pairs["premise"])
        choices = self.draws.choices(key, len(self.companions), "companion")
        own = np.array([companion.premise for companion in self.companions], dtype=np.uint64)
        for _ in range(_TRIES):
            choices = np.where(own[choices] == premise, (choices + 1) % len(own), choices)
        free = own[choices] != premise
        return [self.companions[choice].clause if ok else None for choice, ok in zip(choices, free, strict=True)]


def _agreements(pairs: pl.DataFrame) -> list[_Agreement]:
    """What is known of each pair's annotators; a corpus that vouches for its gold has ``certainty``."""
    told = pairs["annotator_labels"] if "annotator_labels" in pairs.columns else [None] * pairs.height
    return [_agreement(*row) for row in zip(told, pairs["label"], pairs["certainty"], strict=True)]


def _agreement(told: str | None, label: str, certainty: str | None) -> _Agreement:
    try:
        given = [each for each in json.loads(told or "[]") if each]
    except (ValueError, TypeError, RecursionError):
        given = []
    if any(each != label for each in given):
        return "disputed"
    return "unanimous" if len(given) > 1 or certainty is not None else "unknown"


def _laws(source: _Source, *, repeated: tuple[bool, bool], trusting: bool) -> Iterator[_Made | str]:
    """The pairs that follow from one, and the reasons why others do not."""
    yield _identity(source, repeated)
    yield _conjunction(source)
    if source.label not in ("entailment", "neutral", "contradiction"):
        yield "gold of several labels"
    elif source.agreement == "disputed":
        yield "annotators disagree"
    else:
        yield _reversal(source)
        yield from _negations(source, trusting=trusting)


def _identity(source: _Source, repeated: tuple[bool, bool]) -> _Made | str:
    sides = [
        (source.premise, source.premise_doubt, repeated[0]),
        (source.hypothesis, source.hypothesis_doubt, repeated[1]),
    ]
    fit = [text for text, doubt, again in sides if not doubt and not again]
    if not fit:
        return f"identity: {source.premise_doubt or source.hypothesis_doubt or 'sentence used before'}"
    text = fit[source.bits % len(fit)]
    return _Made("identity", text, text, "entailment", "logical")


def _reversal(source: _Source) -> _Made | str:
    doubt = source.premise_doubt or source.hypothesis_doubt
    if doubt:
        return f"reversal: {doubt}"
    if source.premise == source.hypothesis:
        return "reversal: a sentence and itself"
    label = "contradiction" if source.label == "contradiction" else "non-contradiction"
    if label == "contradiction" and not _shares_a_noun(source):
        # Two sentences with nothing in common contradict each other only for those who were told of one event.
        return "reversal: nothing in common"
    return _Made(f"reversed {source.label}", source.hypothesis, source.premise, label, source.certainty)


def _shares_a_noun(source: _Source) -> bool:
    return bool(nouns(source.premise) & nouns(source.hypothesis))


def _conjunction(source: _Source) -> _Made | str:
    parts = [part for part in (source.premise_clause, source.hypothesis_clause) if isinstance(part, Clause)]
    if not parts:
        return f"conjunction: {source.hypothesis_clause}"
    if source.companion is None:
        return "conjunction: no second sentence"
    part = parts[(source.bits >> 8) % len(parts)]
    last = bool(source.bits >> 16 & 1)
    whole = conjoined(source.companion, part) if last else conjoined(part, source.companion)
    if whole is None:
        return "conjunction: perhaps a name"
    return _Made("conjunction", whole, part.text + part.stop, "entailment", "logical", "last" if last else "first")


def _negations(source: _Source, *, trusting: bool) -> Iterator[_Made | str]:
    clause = source.hypothesis_clause
    if source.premise_doubt:
        yield f"negation: {source.premise_doubt}"
        return
    if isinstance(clause, str) or source.negation_doubt:
        yield f"negation: {source.negation_doubt or clause}"
        return
    if clause.joins:
        yield "negation: coordination"
        return
    if source.label == "neutral" and source.agreement == "unknown" and not trusting:
        yield "negated neutral: gold of one annotator (--trust-gold)"
    elif source.label != "contradiction":
        label = "contradiction" if source.label == "entailment" else "neutral"
        told = negation(clause, source.premise, focused=source.label == "neutral")
        if told is None:
            yield "negation: perhaps a name"
        else:
            yield _Made(f"negated {source.label}", source.premise, told.text, label, "same-event", told.form)
    twice = doubly_negated(clause)
    if source.label == "contradiction" and not _shares_a_noun(source):
        yield "double negation: nothing in common"
    elif source.label == "contradiction" and source.agreement == "unknown" and not trusting:
        yield "double negation: gold of one annotator (--trust-gold)"
    elif twice is None:
        yield "double negation: perhaps a name"
    else:
        yield _Made("double negation", source.premise, twice.text, source.label, source.certainty, twice.form)
