"""Suite ``consistency/sets``: sets of pairs whose answers must fit together, whatever the right answers are.

Nothing here has gold. What a model answers to the source pair and to the pairs made from it has to obey transitivity,
contraposition and monotonicity. With A, B and C for sentences, E, N and C for answers, and "A is true wherever …":

- A E B and B E C: wherever A is true, B is, so C is. E E → E.
- A E B and B C C: wherever A is true, B is, so C is not. E C → C.
- A N B and B E C: were A C C, then wherever A is true C is not, so B is not, and A C B, not N. N E → not C.
- A N B and B C C: were A E C, then wherever A is true C is, so B is not, and A C B, not N. N C → not E.
- Other pairs of answers say nothing about A and C. All of it supposes that A can be true.
- A E B if and only if not-B E not-A.
- If B entails C since C has a wider word, then A E B gives A E C, and A C C gives A C B.
- If A is one part of A', then A E B gives A' E B.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import Draws
from acidtest.core.suite import EXPECTATION, LINK, PARSES, TRANSITIVE, Kind, Suite, compact_frame, visit_batches
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.consistency.companions import Companions
from acidtest.suites.corpus import LABEL_COLUMNS, derive_suite, source_pairs, transform_rows

if TYPE_CHECKING:
    from acidtest.english.clauses import Clause

CITATION = (
    "acidtest; the rules of transitivity after Wu and Last (2025). Transitive self-consistency evaluation of NLI "
    "models without gold labels. EMNLP."
)
_NAME = "consistency/sets"
_COLUMNS: dict[str, Kind] = {"law": "factor", "change": "factor", EXPECTATION: "factor", LINK: "text"}
_NOTE = (
    "No pair has gold: only whether answers fit together is judged. A model that gives one answer to everything keeps "
    "all laws."
)

_WORDS = {"hypernym": "wider word", "hyponym": "narrower word", "antonym": "opposite word"}
"""What becomes of a hypothesis with one word replaced, by the relation of the new word to the old one."""
_CATEGORIES = ("hypernyms", "antonyms")
"""The categories of word lists that words are replaced from."""
_EXPECTATIONS = {
    "contraposition": "not less entailment, not more entailment",
    "wider word": "not less entailment, not more contradiction",
    "narrower word": "not less contradiction, not more entailment",
    "joined premise": "not less entailment",
}


@generator(
    _NAME,
    summary="Sets of pairs without gold whose answers must fit together: transitivity, contraposition, monotonicity",
    rows=1_094,
    source="pairs",
    citation=CITATION,
    licence="Apache-2.0",
)
def sets(request: Request, *, tagger: str = "auto") -> Suite:
    """The pairs that together with a pair of the corpus fall under a law of logic; they and it are a set, and a group.

    Transitivity needs a third sentence: another hypothesis of the same premise, the hypothesis negated, or with an
    opposite word. Two pairs are made with it, one that leads from the hypothesis to it (the link) and one from the
    premise. Contraposition exchanges premise and hypothesis and negates both, by *it is not the case that*.
    Monotonicity gives the hypothesis a wider or a narrower word, or joins another sentence to the premise. No gold is
    used, so pairs without gold serve as well.
    """
    from acidtest.english.tagging import tagger as load_tagger

    pairs = source_pairs(request, columns=tuple(_COLUMNS))
    draws = Draws(request.seed, _NAME)
    making = SetMaking(draws, tagger, Companions.of(pairs, draws, tagger), _siblings(pairs, draws))
    rows = transform_rows(pairs.frame.drop(*PARSES, strict=False), making.make)
    return derive_suite(
        _NAME,
        pairs,
        rows.lazy(),
        request=request,
        arguments={"tagger": load_tagger(tagger).name},
        columns=_COLUMNS,
        strata=("change",),
        sample_by="base_id",
        left_out=making.left_out,
        note=_NOTE,
        version=2,
    )


def _siblings(pairs: Suite, draws: Draws) -> pl.DataFrame:
    """For each pair another hypothesis of its premise, drawn with the seed: columns ``key`` (digest of id) and text."""
    parts = [pl.DataFrame(schema={"key": pl.UInt64, "premise": pl.UInt64, "draw": pl.UInt64, "hypothesis": pl.String})]

    def visit(batch: pl.DataFrame) -> None:
        keys = digests(batch["id"])
        part = pl.DataFrame({"key": keys, "premise": digests(batch["premise"]), "draw": draws.bits(keys, "sibling")})
        parts.append(compact_frame(part.hstack([batch["hypothesis"]])))

    visit_batches(pairs.frame.select("id", "premise", "hypothesis"), visit)
    frame = pl.concat(parts).filter(pl.col("premise").is_duplicated()).sort("premise", "draw", "key")
    following = pl.col("hypothesis").shift(-1).fill_null(pl.col("hypothesis").first()).over("premise")
    return frame.select("key", "hypothesis", other=following).filter(pl.col("hypothesis") != pl.col("other"))


@dataclass(frozen=True)
class SetPair:
    """A pair of a set; ``link`` is the variant of the pair that its expectation depends on, too."""

    law: str
    change: str
    variant: str
    premise: str
    hypothesis: str
    expectation: str | None = None
    link: str | None = None


@dataclass(frozen=True)
class SetSource:
    """A pair of the corpus and what its set is made of; a string in place of a clause says why there is none."""

    premise: str
    hypothesis: str
    doubt: str | None
    """Why one of the sentences asserts nothing; None if both are assertions."""
    premise_clause: Clause | str
    hypothesis_clause: Clause | str
    companion: Clause | None
    other: str | None
    """Another hypothesis of the same premise."""
    changed: Mapping[str, str]
    """The hypothesis with a wider, a narrower or an opposite word, as far as there is one."""


@dataclass
class SetMaking:
    """Makes the sets of a corpus batch by batch."""

    draws: Draws
    tagger: str
    companions: Companions
    siblings: pl.DataFrame
    left_out: Counter[str] = field(default_factory=Counter)

    def make(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """The pairs made from a batch: its columns with label *any*, those of the suite, and ``variant``."""
        rows = list[dict[str, Any]]()
        for order, source in enumerate(self._analyse(pairs)):
            if source.doubt or source.premise == source.hypothesis:
                self.left_out[source.doubt or "a sentence and itself"] += 1
                continue
            for result in _make_pairs(source):
                if isinstance(result, str):
                    self.left_out[result] += 1
                else:
                    rows.append({"order": order, **vars(result)})
        schema = {"order": pl.UInt32} | dict.fromkeys(SetPair.__dataclass_fields__, pl.String)
        frame = pl.DataFrame(rows, schema=schema)
        context = pairs.drop("premise", "hypothesis", *LABEL_COLUMNS, strict=False)[frame["order"]]
        frame = context.with_columns(group="id").hstack(frame.drop("order"))
        link = pl.when(pl.col(LINK).is_not_null()).then(pl.concat_str("id", LINK, separator="-"))
        return frame.with_columns(link.alias(LINK), label=pl.lit("any"), certainty=pl.lit("logical"))

    def _analyse(self, pairs: pl.DataFrame) -> Iterator[SetSource]:
        from acidtest.english.sentences import Sentences

        keys = digests(pairs["id"])
        premises, hypotheses = (Sentences.of(pairs[side], self.tagger) for side in ("premise", "hypothesis"))
        doubts = pl.select(pl.coalesce(premises.non_assertions(), hypotheses.non_assertions())).to_series()
        others = pl.DataFrame({"key": keys}).join(self.siblings, on="key", how="left", maintain_order="left")["other"]
        columns = (
            pairs["premise"],
            pairs["hypothesis"],
            doubts,
            premises.clauses(),
            hypotheses.clauses(),
            self.companions.draw(pairs, keys),
            others,
            self._change_words(pairs["hypothesis"]),
        )
        return (SetSource(*row) for row in zip(*columns, strict=True))

    def _change_words(self, texts: pl.Series) -> list[dict[str, str]]:
        """For each text what becomes of it with one word replaced, by the kind of the new word."""
        from acidtest.english.sentences import Sentences
        from acidtest.suites.lexical.substitution import Substitutions

        made, _ = Substitutions(_CATEGORIES, self.draws, tagger=self.tagger).of(texts)
        made = made.filter(pl.col("relation").is_in(list(_WORDS)))
        # Opposite words may stand anywhere: what they do to the sentence is for the model to say.
        is_free = made["relation"] == "antonym"
        places = Sentences.of(texts.gather(made["text"]), self.tagger).polarity(made["start"])
        made = made.filter(is_free | (places["polarity"] == "up").fill_null(value=False))
        bits = self.draws.bits(digests(made["changed"]), "word")
        changed: list[dict[str, str]] = [{} for _ in texts]
        for text, relation, new in made[np.argsort(bits, kind="stable")].select("text", "relation", "changed").rows():
            changed[text].setdefault(_WORDS[relation], new)
        return changed


def _make_pairs(source: SetSource) -> Iterator[SetPair | str]:
    """The pairs of one set, or the reasons why a law gives none."""
    for change, third in _third_sentences(source):
        if third is None:
            yield f"transitivity: no {change}"
            continue
        variant = change.replace(" ", "-")
        link = f"{variant}-link"
        yield SetPair("transitivity", change, link, source.hypothesis, third)
        yield SetPair("transitivity", change, variant, source.premise, third, TRANSITIVE, link)
    yield _contraposition(source)
    for change in ("wider word", "narrower word"):
        if change in source.changed:
            yield _expect("monotonicity", change, source.premise, source.changed[change])
        else:
            yield f"monotonicity: no {change}"
    yield _joined_premise(source)


def _third_sentences(source: SetSource) -> Iterator[tuple[str, str | None]]:
    """The third sentences of a set by their kind, None where there is none."""
    yield "other hypothesis", source.other
    yield "negation", _deny(source.hypothesis_clause)
    yield "opposite word", source.changed.get("opposite word")


def _contraposition(source: SetSource) -> SetPair | str:
    premise, hypothesis = _deny(source.hypothesis_clause), _deny(source.premise_clause)
    if premise is None or hypothesis is None:
        return "contraposition: not one plain clause"
    return _expect("contraposition", "contraposition", premise, hypothesis)


def _joined_premise(source: SetSource) -> SetPair | str:
    from acidtest.english.clauses import conjoin

    if isinstance(source.premise_clause, str) or source.companion is None:
        return "monotonicity: no joined premise"
    premise = conjoin(source.premise_clause, source.companion)
    if premise is None:
        return "monotonicity: no joined premise"
    return _expect("monotonicity", "joined premise", premise, source.hypothesis)


def _expect(law: str, change: str, premise: str, hypothesis: str) -> SetPair:
    return SetPair(law, change, change.replace(" ", "-"), premise, hypothesis, _EXPECTATIONS[change])


def _deny(clause: Clause | str) -> str | None:
    """*It is not the case that two men are asleep*; None where the sentence is not one plain clause."""
    from acidtest.english.clauses import lower_first_word

    inner = None if isinstance(clause, str) else lower_first_word(clause)
    return None if inner is None or isinstance(clause, str) else f"It is not the case that {inner}{clause.stop or '.'}"
