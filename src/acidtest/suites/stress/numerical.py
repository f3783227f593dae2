"""Suite ``stress/numerical``: a quantity changed, bounded by “more than” or “less than”, or both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import polars as pl

from acidtest.core.digests import DigestList, digests, hexadecimal, repeated_values
from acidtest.core.draws import U64, Draws
from acidtest.core.errors import NothingToMakeError
from acidtest.core.logs import log
from acidtest.core.suite import Argument, Card, Kind, SourceIds, Suite, complete_columns, source_digests, stream_frame
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.corpus import CORPUS_LICENCE, rename_taken_columns, travelling_columns, uses_all
from acidtest.suites.stress import CITATION

if TYPE_CHECKING:
    from acidtest.corpora.statements import Statements
    from acidtest.english.values.numbers import Bound, Quantity
    from acidtest.io.rows import Rows

_NAME = "stress/numerical"
_COLUMNS: dict[str, Kind] = {"change": "factor", "form": "factor", "quantity": "text", "new_quantity": "text"}
_BATCH_ROWS = 1 << 12
_SLOTS = ("quantity", "pool", "number", "contradiction", "bound", "other pool", "other number")
_ROW_COLUMNS = ("premise", "hypothesis", "label", "change", "new_quantity", "certainty", "group", "form", "quantity")

T = TypeVar("T")
Bits = Mapping[str, int]
"""64 random bits for each choice made about one premise."""


@generator(
    _NAME,
    summary="A quantity changed, bounded by “more than” or “less than”, or both: three labels for each premise",
    rows=834,
    source="sentences",
    citation=CITATION,
    licence="Apache-2.0",
)
def numerical(request: Request, *, entities: bool = False, faithful: bool = False) -> Suite:
    """Every premise three times: entailed, contradicted, and the entailed pair flipped, which is neutral.

    Premises are sentences with a quantity that can be changed with sure labels; ``-n`` is how many are used.
    ``entities`` asks them to name a person, place or organisation, as the paper asked of AQuA-RAT. ``faithful`` takes
    every sentence with a whole number (and, of AQuA-RAT, a name) and replaces its first digit, as the script did.
    """
    from acidtest.corpora.statements import read_pairs_or_path, statements
    from acidtest.io.published import CORPUS
    from acidtest.io.rows import Spool

    source = read_pairs_or_path(request.source) if isinstance(request.source, Path) else request.source
    source = rename_taken_columns(source, (*_COLUMNS, "sentence")) if isinstance(source, Suite) else source
    corpus = statements(source, entities=entities, faithful=faithful)
    for reason, number in corpus.left_out.items():
        log.info("%s: %s left out: %s", corpus.name, f"{number:,}", reason)
    kinds = travelling_columns(corpus.kinds, request.keep)
    draws = Draws(request.seed, _NAME)
    spool, ids = Spool(), DigestList()
    for premises in _draw_premises(corpus, request, draws):
        rows = list(_rows(premises["sentence"], draws, faithful=faithful))
        frame = pl.DataFrame(rows, schema=dict.fromkeys(_ROW_COLUMNS, pl.String), orient="row")
        travelling = [name for name in premises.columns if name in {"source_id", *kinds}]
        # Each premise has three rows.
        spool.add(frame.hstack(premises.select(pl.col(travelling).repeat_by(3).explode()).get_columns()))
        ids.add(source_digests(_NAME, frame))
    chosen: dict[str, Argument] = {CORPUS: corpus.corpus, "entities": entities, "faithful": faithful}
    chosen["tagger"] = corpus.tagger
    card = Card(
        _NAME,
        version=4,
        seed=request.seed,
        arguments={"from": corpus.name} | {name: value for name, value in chosen.items() if value},
        sources=corpus.sources,
        licence=corpus.licence or CORPUS_LICENCE,
        citation=CITATION,
        columns={**kinds, **_COLUMNS},
        crossings=(("label", "change"),),
        left_out=corpus.left_out,
    )
    return Suite(_with_ids(spool.rows(), repeated_values(ids.sorted())), card)


def _with_ids(rows: Rows, duplicates: U64) -> pl.LazyFrame:
    """The rows with ids and all the columns of a suite."""

    def blocks(columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        ids = SourceIds(duplicates)
        for part in rows.batches():
            yield complete_columns(part, _NAME, ids).select(columns)

    schema = complete_columns(pl.DataFrame(schema=rows.schema), _NAME).schema
    return stream_frame(blocks, schema) if rows.frame is None else complete_columns(rows.frame, _NAME).lazy()


def _draw_premises(corpus: Statements, request: Request, draws: Draws) -> Iterator[pl.DataFrame]:
    """All premises, or ``n`` of them drawn with the seed, in order and part by part."""
    available = corpus.rows.height
    if available == 0:
        raise NothingToMakeError(f"{corpus.name!r} has no sentence whose quantity can be changed; add -v to see why")
    if uses_all(request, available, "premises", f"{corpus.name!r} has only {available:,}"):
        yield from _parts(corpus)
        return
    assert request.n is not None
    draw = np.concatenate([draws.bits(digests(part["sentence"]), "premise") for part in _parts(corpus)])
    last = np.partition(draw, request.n - 1)[request.n - 1]
    for part in _parts(corpus):
        kept = part.filter(pl.Series(draws.bits(digests(part["sentence"]), "premise") <= last))
        if kept.height:
            yield kept


def _parts(corpus: Statements) -> Iterator[pl.DataFrame]:
    # Rows take much more memory as Python objects than in a frame, so only a few are converted at once.
    return (part for batch in corpus.rows.batches() for part in batch.iter_slices(_BATCH_ROWS))


@dataclass(frozen=True)
class NumberChange:
    """A quantity of a sentence, and what it may be changed to."""

    quantity: Quantity
    number: Decimal
    """Another number; the sentence entails itself with ``bound`` and this number."""
    false_pools: Sequence[Sequence[Decimal]]
    """Numbers that contradict the sentence without a bound: a pool is drawn first, then a number from it."""
    false_bounds: Sequence[Bound] = ()
    """Bounds that contradict the sentence when set before its own quantity; if empty, ``bound`` is used."""

    @property
    def bound(self) -> Bound:
        """The bound with which the sentence entails the other number: five are more than three."""
        return "more than" if self.number < self.quantity.value else "less than"


def _rows(sentences: pl.Series, draws: Draws, *, faithful: bool) -> Iterator[tuple[str, ...]]:
    """Three rows for each sentence. Draws are keyed by its text, so they do not depend on other sentences."""
    keys = digests(sentences)
    bits = {slot: draws.bits(keys, slot).tolist() for slot in _SLOTS}
    for row, (sentence, group) in enumerate(zip(sentences, hexadecimal(keys), strict=True)):
        row_bits = {slot: column[row] for slot, column in bits.items()}
        change = _change_first_digit(sentence, row_bits) if faithful else _change_quantity(sentence, row_bits)
        for pair in _pairs(sentence, change, row_bits):
            yield (*pair, group, change.quantity.form, change.quantity.text)


def _change_quantity(sentence: str, bits: Bits) -> NumberChange:
    from acidtest.english.values.numbers import alternatives, quantities

    quantity = _draw([quantity for quantity in quantities(sentence) if not quantity.problem], bits["quantity"])
    lower, higher = (alternatives(quantity, higher=higher) for higher in (False, True))
    pools = [pool for pool in (lower, higher) if pool]
    number = _draw(_draw(pools, bits["pool"]), bits["number"])
    # A lower count is no contradiction (who has five apples has three, too), a lower amount is ($5, not $3).
    false_pools = [pool for pool in pools if pool is higher or not _is_count(quantity)]
    # No false_bounds: two, the commonest count, is entailed only with "less than"; "more than" would leak the label.
    return NumberChange(quantity, number, false_pools)


def _change_first_digit(sentence: str, bits: Bits) -> NumberChange:
    """The first whole number with its first digit replaced by another from 1 to 8, as the released script did."""
    from acidtest.english.values.numbers import digit_alternatives, first_integer

    quantity = first_integer(sentence)
    pool = digit_alternatives(quantity)
    return NumberChange(quantity, _draw(pool, bits["number"]), [pool], ("more than", "less than"))


def _pairs(sentence: str, change: NumberChange, bits: Bits) -> Iterator[tuple[str, ...]]:
    """The entailed pair, the contradicted one and the entailed one flipped, as the first six of ``_ROW_COLUMNS``."""
    from acidtest.english.values.numbers import replace_number, write_like

    quantity, bound = change.quantity, change.bound
    new = write_like(quantity, change.number)
    bounded = replace_number(sentence, quantity, new, bound)
    yield sentence, bounded, "entailment", bound, new, _certainty(quantity, bound, exact="less than")
    # With equal probability, another number, if there is one, or a false bound before the same number.
    if _draw((True, False), bits["contradiction"]) and change.false_pools:
        other = write_like(quantity, _draw(_draw(change.false_pools, bits["other pool"]), bits["other number"]))
        text = replace_number(sentence, quantity, other)
        yield sentence, text, "contradiction", "other number", other, "same-event"
    else:
        wrong = _draw(change.false_bounds or (bound,), bits["bound"])
        text = replace_number(sentence, quantity, quantity.text, wrong)
        yield sentence, text, "contradiction", wrong, quantity.text, _certainty(quantity, wrong, exact="more than")
    yield bounded, sentence, "neutral", bound, new, "logical"


def _certainty(quantity: Quantity, bound: Bound, *, exact: Bound) -> str:
    """The basis of a label: "two men walk" means no more than two only if both sentences describe the same event."""
    return "same-event" if bound == exact and (quantity.opens_clause or _is_count(quantity)) else "logical"


def _is_count(quantity: Quantity) -> bool:
    """Whether the quantity may be read as "at least": five apples, but not $5, 5 percent or 5.5 miles."""
    return quantity.form in ("digits", "words")


def _draw(options: Sequence[T], bits: int) -> T:
    return options[(bits >> 32) * len(options) >> 32]
