"""Suite ``stress/numerical``: a quantity changed, bounded by “more than” or “less than”, or both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TypeVar

import numpy as np
import polars as pl

from acidtest.core.digests import Gathered, digests, hexadecimal, repeated
from acidtest.core.draws import U64, Draws
from acidtest.core.errors import AcidtestError, NothingToMakeError
from acidtest.core.logs import log
from acidtest.core.streams import streamed
from acidtest.core.suite import Argument, Card, Kind, SourceIds, Suite, completed, source_digests
from acidtest.io.rows import Rows, Spool
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.corpus import renamed, travelling_columns
from acidtest.suites.stress.distraction import CITATION
from acidtest.text.quantities import (
    Bound,
    Quantity,
    alternatives,
    changed,
    digit_alternatives,
    first_integer,
    quantities,
    with_number,
)
from acidtest.text.statements import Statements, pairs_or_path, statements

VERSION = 2
NAME = "stress/numerical"

_COLUMNS: dict[str, Kind] = {"change": "factor", "form": "factor", "quantity": "text", "new_quantity": "text"}
_TOGETHER = 1 << 12
_SLOTS = ("quantity", "pool", "number", "contradiction", "bound", "other pool", "other number")
_BOUNDS: tuple[Bound, ...] = ("more than", "less than")

T = TypeVar("T")
Bits = Mapping[str, int]
"""64 random bits for each choice made about one premise."""


@dataclass(frozen=True)
class _Changeable:
    """A sentence and the quantity to change in it."""

    sentence: str
    quantity: Quantity
    number: Decimal
    """Another number, to be bounded so that the sentence entails it."""
    false_pools: Sequence[Sequence[Decimal]]
    """Numbers that contradict the sentence as they are: a pool is drawn first, then a number of it."""
    false_bounds: Sequence[Bound]
    """What contradicts the sentence when it stands before the quantity itself."""

    @property
    def bound(self) -> Bound:
        """What the sentence entails before the other number."""
        return _bound(self.quantity, self.number)

    def text(self, number: Decimal, bound: Bound | None = None) -> str:
        """The sentence with another number."""
        return with_number(self.sentence, self.quantity, changed(self.quantity, number), bound)


@generator(
    NAME,
    summary="A quantity changed, bounded by “more than” or “less than”, or both: three labels for each premise",
    rows=843,
    source="sentences",
    citation=CITATION,
    licence="Apache-2.0",
)
def numerical(request: Request, *, entities: bool = False, faithful: bool = False) -> Suite:
    """Every premise three times: entailed, contradicted, and the entailed pair flipped, which is neutral.

    Premises are sentences with a quantity that can be changed with sure labels; ``-n`` is how many are used.
    ``entities`` asks them to name a person, place or organisation. ``faithful`` takes every sentence with a whole
    number and replaces its first digit, as the released script did.
    """
    source = pairs_or_path(request.source) if isinstance(request.source, Path) else request.source
    source = renamed(source, (*_COLUMNS, "sentence")) if isinstance(source, Suite) else source
    found = statements(source, entities=entities, faithful=faithful)
    for reason, number in found.left_out.items():
        log.info("%s: %s left out: %s", found.name, f"{number:,}", reason)
    kinds = travelling_columns(found.kinds, request.keep)
    draws = Draws(request.seed, NAME)
    made, seen = Spool(), Gathered()
    for premises in _chosen(found, request, draws):
        rows = pl.DataFrame(list(_rows(premises["sentence"], draws, faithful=faithful)))
        # What the corpus tells of a sentence, once for each of its three rows.
        known = [name for name in premises.columns if name in {"source_id", *kinds}]
        told = premises.select(pl.col(known).repeat_by(3).explode())
        made.add(rows.hstack(told.get_columns()))
        seen.add(source_digests(NAME, rows))
    arguments: dict[str, Argument] = {"from": found.name}
    arguments |= {"entities": True} if entities else {}
    arguments |= {"faithful": True} if faithful else {}
    arguments |= {"tagger": found.tagger} if found.tagger else {}
    card = Card(
        NAME,
        version=VERSION,
        seed=request.seed,
        arguments=arguments,
        sources=found.sources,
        licence=found.licence or "that of the corpus it was made from",
        citation=CITATION,
        columns={**kinds, **_COLUMNS},
        crossings=(("label", "change"),),
        left_out=found.left_out,
    )
    return Suite(_numbered(made.rows(), repeated(seen.sorted())), card)


def _numbered(rows: Rows, twice: U64) -> pl.LazyFrame:
    """The rows with ids, and all the columns of a suite."""

    def blocks(columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        ids = SourceIds(twice)
        for part in rows.batches():
            yield completed(part, NAME, ids).select(columns)

    schema = completed(pl.DataFrame(schema=rows.schema), NAME).schema
    return streamed(blocks, schema) if rows.frame is None else completed(rows.frame, NAME).lazy()


def _chosen(found: Statements, request: Request, draws: Draws) -> Iterator[pl.DataFrame]:
    """All premises, or ``n`` of them drawn with the seed, in order and part by part."""
    have = found.rows.height
    if have == 0:
        raise NothingToMakeError(f"{found.name!r} has no sentence whose quantity can be changed; add -v to see why")
    if request.n is None or request.n == have or (request.n > have and request.at_most):
        yield from _parts(found)
        return
    if request.n > have:
        raise AcidtestError(
            f"{request.n:,} premises were asked for, but {found.name!r} has only {have:,}; ask for at most that many "
            f"(-n {have}), or add --at-most to take all there are"
        )
    draw = np.concatenate([draws.bits(digests(part["sentence"]), "premise") for part in _parts(found)])
    last = np.partition(draw, request.n - 1)[request.n - 1]
    for part in _parts(found):
        kept = part.filter(pl.Series(draws.bits(digests(part["sentence"]), "premise") <= last))
        if kept.height:
            yield kept


def _parts(found: Statements) -> Iterator[pl.DataFrame]:
    # A row takes much less room in a frame than as a dictionary.
    return (part for batch in found.rows.batches() for part in batch.iter_slices(_TOGETHER))


def _rows(sentences: pl.Series, draws: Draws, *, faithful: bool) -> Iterator[dict[str, str]]:
    """Three rows for each sentence. Its draws are keyed by its text, so they do not depend on the others."""
    keys = digests(sentences)
    bits = {slot: draws.bits(keys, slot).tolist() for slot in _SLOTS}
    for row, (sentence, group) in enumerate(zip(sentences, hexadecimal(keys), strict=True)):
        own = {slot: column[row] for slot, column in bits.items()}
        told = _as_released(sentence, own) if faithful else _changeable(sentence, own)
        facts = {"group": group, "form": told.quantity.form, "quantity": told.quantity.text}
        for pair in _pairs(told, own):
            yield pair | facts


def _changeable(sentence: str, bits: Bits) -> _Changeable:
    quantity = _drawn([quantity for quantity in quantities(sentence) if not quantity.problem], bits["quantity"])
    lower, higher = (alternatives(quantity, higher=higher) for higher in (False, True))
    pools = [pool for pool in (lower, higher) if pool]
    number = _drawn(_drawn(pools, bits["pool"]), bits["number"])
    # Who has five apples has three, too; who paid $5 did not pay $3.
    false_pools = [pool for pool in pools if pool is higher or not _counts(quantity)]
    # Two can be bounded from above alone, and most sentences count two: any other bound here would tell the label.
    return _Changeable(sentence, quantity, number, false_pools, (_bound(quantity, number),))


def _as_released(sentence: str, bits: Bits) -> _Changeable:
    """The first whole number with its first digit replaced by another from 1 to 8."""
    quantity = first_integer(sentence)
    pool = digit_alternatives(quantity)
    return _Changeable(sentence, quantity, _drawn(pool, bits["number"]), [pool], _BOUNDS)


def _pairs(told: _Changeable, bits: Bits) -> Iterator[dict[str, str]]:
    """The entailed pair, the contradicted one, and the entailed one flipped."""
    bound, new = told.bound, changed(told.quantity, told.number)
    bounded = told.text(told.number, bound)
    rests_on = _certainty(told.quantity, bound, exact="less than")
    yield _row(told.sentence, bounded, "entailment", bound, new) | {"certainty": rests_on}
    yield _contradiction(told, bits)
    yield _row(bounded, told.sentence, "neutral", bound, new) | {"certainty": "logical"}


def _contradiction(told: _Changeable, bits: Bits) -> dict[str, str]:
    """With equal chances another number, where there is one, or a bound before the same."""
    by_number = _drawn((True, False), bits["contradiction"])
    if by_number and told.false_pools:
        number = _drawn(_drawn(told.false_pools, bits["other pool"]), bits["other number"])
        pair = _row(told.sentence, told.text(number), "contradiction", "other number", changed(told.quantity, number))
        return pair | {"certainty": "same-event"}
    bound = _drawn(told.false_bounds, bits["bound"])
    same = with_number(told.sentence, told.quantity, told.quantity.text, bound)
    pair = _row(told.sentence, same, "contradiction", bound, told.quantity.text)
    return pair | {"certainty": _certainty(told.quantity, bound, exact="more than")}


def _certainty(quantity: Quantity, bound: Bound, *, exact: Bound) -> str:
    """What a label rests on: "two men walk" says there are no more only if the sentences tell of the same event."""
    return "same-event" if bound == exact and (quantity.opens_clause or _counts(quantity)) else "logical"


def _counts(quantity: Quantity) -> bool:
    """Whether it may be read as "at least": five apples, but not $5, 5 percent or 5.5 miles."""
    return quantity.form in ("digits", "words")


def _bound(quantity: Quantity, number: Decimal) -> Bound:
    return "more than" if number < quantity.value else "less than"


def _row(premise: str, hypothesis: str, label: str, change: str, new: str) -> dict[str, str]:
    names = ("premise", "hypothesis", "label", "change", "new_quantity")
    return dict(zip(names, (premise, hypothesis, label, change, new), strict=True))


def _drawn(options: Sequence[T], bits: int) -> T:
    return options[(bits >> 32) * len(options) >> 32]
