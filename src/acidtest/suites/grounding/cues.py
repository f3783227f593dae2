"""Suite ``grounding/cues``: whether a claim is supported, crossed with what a verifier may go by instead of reading.

A document says of two named subjects how much of something each did; the claim names one of them and one of the two
numbers. Supported and unsupported claims differ only in whose number it is, so that every word, name and number of a
claim is in the document as often where it is supported as where it is not. A long claim also says a detail that the
document states of both subjects.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import polars as pl

from acidtest.core.draws import Draws
from acidtest.core.suite import Card, Kind, Suite, complete_columns
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.grounding import CITATION, EVIDENCE, PLACE

_NAME = "grounding/cues"

SWITCHED = {
    "words_found": ("all", "few"),
    "names_found": ("yes", "no"),
    "numbers_found": ("yes", "no"),
    "document_length": ("long", "short"),
    "claim_length": ("long", "short"),
}
"""The cues with two values, each in half of the rows: its column, the value with the cue and the one without."""
PLACES = ("start", "middle", "end")
GOLD = ("entailment", "non-entailment")
_PER_CELL = 24
_LENGTH = "claim_length"
_OF_DOCUMENT = tuple(column for column in SWITCHED if column != _LENGTH)
"""The cues that a document may have; the claim is the same with and without them."""
_SETTINGS = 2 ** (len(_OF_DOCUMENT) - 2)
"""Items that put one row into every cell: each has four settings of the document, every place, both claims and gold."""
_CELLS = len(GOLD) * len(PLACES) * 2 ** len(SWITCHED)
_TOPICS, _SENTENCES = 6, 4
"""How many unrelated topics a long document has, and how many sentences of each; a short one has two of one topic."""
_COLUMNS: dict[str, Kind] = {
    **dict.fromkeys((*SWITCHED, PLACE), "factor"),
    "document_words": "covariate",
    EVIDENCE: "text",
    "fact": "text",
    "switched": "text",
    "turn": "text",
}
_NOTE = (
    "Every cell (gold × words × names × numbers × length × place) has the same number of rows, and every claim has "
    "as many documents that support it as documents that do not."
)


@generator(
    _NAME,
    summary="Supported and unsupported claims crossed with length, and with words, names and numbers of the document",
    rows=_PER_CELL * _CELLS,
    source="templates",
    citation=CITATION,
    licence="Apache-2.0",
)
def cues(request: Request) -> Suite:
    """Claims and documents for the profile of a verifier, ``n`` in every cell; the rows of one fact are a group.

    ``words_found``: all words of the claim but its name and number are in the document, or hardly a content word is.
    ``names_found`` and ``numbers_found``: the document has its name and number as the claim writes them, or otherwise
    (WHO, two years). ``document_length``: about 60 words or about 420. ``claim_length``: about 10 words, or about 22
    with a detail that every document states after the deciding sentence. ``evidence_place``: where in the document both
    sentences are.
    """
    draws = Draws(request.seed, _NAME)
    items = draw_items(_SETTINGS * (_PER_CELL if request.n is None else request.n), draws)
    rows = pl.DataFrame([row for number, item in enumerate(items) for row in _item_rows(number, item)])
    words = pl.col("premise").str.count_matches(r"\S+").cast(pl.Float64)
    frame = complete_columns(rows.with_columns(_turns(rows, draws), document_words=words).drop("item"), _NAME)
    card = Card(
        _NAME,
        seed=request.seed,
        licence="Apache-2.0",
        version=2,
        citation=CITATION,
        note=_NOTE,
        columns=_COLUMNS,
        sample_by="turn",
    )
    return Suite(frame.lazy(), card)


@dataclass(frozen=True)
class CrossedClaim:
    """A claim, and what its documents are made of; a pair of forms has first the one that the claim uses."""

    fact: str
    claim: str
    sentences: dict[str, str]
    """The sentence of the document by value of ``words_found``."""
    names: tuple[str, str]
    other_names: tuple[str, str]
    """The other subject's name: in the style of the claim's name, and in the other style."""
    numbers: tuple[str, str]
    other_numbers: tuple[str, str]
    comes_first: bool
    """Whether the subject of the claim is named before the other."""
    unrelated: tuple[tuple[str, ...], ...]
    """The sentences of a long document, by topic."""
    details: dict[str, str]
    """A sentence about both subjects that every document has, by value of ``words_found``; long claims add it."""

    def hypothesis(self, *, is_long: bool) -> str:
        """The text of the claim; a long one has the detail as well, in its own words."""
        text = _capitalised(self.claim.format(name=self.names[0], number=self.numbers[0]))
        detail = self.details["all"]
        return f"{text.removesuffix('.')}, and {detail[0].lower()}{detail[1:]}" if is_long else text

    def evidence(self, *, supported: bool, words: str, name_form: int, number_form: int) -> str:
        """The sentence that decides the claim; it exchanges the two numbers where the claim is not supported."""
        numbers = (self.numbers[number_form], self.other_numbers[number_form])
        names = (self.names[name_form], self.other_names[name_form])
        subjects = list(zip(names, numbers if supported else numbers[::-1], strict=True))
        (first, x), (second, y) = subjects if self.comes_first else subjects[::-1]
        return _capitalised(self.sentences[words].format(first=first, x=x, second=second, y=y))

    def document(self, evidence: str, *, place: str, is_long: bool) -> str:
        """The evidence among unrelated sentences."""
        topics = [list(topic) for topic in self.unrelated] if is_long else [[text] for text in self.unrelated[0][:2]]
        before = {"start": 0, "middle": len(topics) // 2, "end": len(topics)}[place]
        parts = [*topics[:before], [evidence], *topics[before:]]
        return " ".join(sentence for part in parts for sentence in part)


def draw_items(count: int, draws: Draws) -> list[CrossedClaim]:
    """Claims with names, numbers and unrelated sentences; every fact comes as often as any other."""
    from acidtest.io.wordlists import packaged_table

    facts = packaged_table("grounding/cues_facts.tsv").rows(named=True)
    names = _by_kind(packaged_table("grounding/cues_names.tsv"))
    numbers = _by_kind(packaged_table("grounding/cues_numbers.tsv"))
    topics = packaged_table("grounding/cues_fillers.tsv").group_by("topic", maintain_order=True).agg("sentence")
    items = []
    for number in range(count):
        choose = _Chooser(draws, number)
        cycle, place = divmod(number, len(facts))
        fact = facts[int(np.argsort(draws.bits(np.arange(len(facts), dtype=np.uint64), "fact", cycle))[place])]
        name, other_name = choose.two(names[fact["kind"]], "name")
        amount, other_amount = choose.two(numbers[fact["measure"]], "number")
        if choose.one(2, "form of the name"):
            name, other_name = name[::-1], other_name[::-1]
        if choose.one(2, "form of the number"):
            amount, other_amount = amount[::-1], other_amount[::-1]
        order = choose.order(topics.height, "topic")[:_TOPICS]
        sentences = (topics["sentence"][int(topic)].to_list() for topic in order)
        unrelated = tuple(
            tuple(texts[number] for number in sorted(choose.order(len(texts), "sentence", topic)[:_SENTENCES]))
            for topic, texts in enumerate(sentences)
        )
        texts = {"all": fact["all"], "few": fact["few"]}
        details = {"all": f"{_capitalised(fact['detail'])}.", "few": fact["detail_few"]}
        comes_first = choose.one(2, "order") == 0
        items.append(
            CrossedClaim(
                fact["fact"],
                fact["claim"],
                texts,
                name,
                other_name,
                amount,
                other_amount,
                comes_first,
                unrelated,
                details,
            )
        )
    return items


@dataclass(frozen=True)
class _Chooser:
    """The draws for one item."""

    draws: Draws
    item: int

    def one(self, size: int, slot: str) -> int:
        return int(self.draws.choices(np.array([self.item], dtype=np.uint64), size, slot)[0])

    def two(self, values: list[tuple[str, str]], slot: str) -> tuple[tuple[str, str], tuple[str, str]]:
        """Two different values."""
        first = self.one(len(values), slot)
        return values[first], values[(first + 1 + self.one(len(values) - 1, f"other {slot}")) % len(values)]

    def order(self, size: int, *slot: str | int) -> list[int]:
        """The numbers below ``size`` in a drawn order."""
        bits = self.draws.bits(np.arange(size, dtype=np.uint64), "order", self.item, *slot)
        return [int(number) for number in np.argsort(bits, kind="stable")]


def _by_kind(table: pl.DataFrame) -> dict[str, list[tuple[str, str]]]:
    """The two forms in each row of a table, by the kind in its first column."""
    kinds: dict[str, list[tuple[str, str]]] = {}
    for kind, first, second in table.iter_rows():
        kinds.setdefault(kind, []).append((first, second))
    return kinds


def _item_rows(number: int, item: CrossedClaim) -> Iterator[dict[str, object]]:
    """The rows of a fact: four settings of the cues of its document, at every place, with both claims and both gold.

    One of these cues is switched alone. The other three have one setting and the opposite one, so that every cue is on
    in half of the rows of each claim, and what is particular to the claim adds nothing to its effect.
    """
    turn, setting = divmod(number, _SETTINGS)
    switched = _OF_DOCUMENT[turn % len(_OF_DOCUMENT)]
    others = [column for column in _OF_DOCUMENT if column != switched]
    both = (False, True)
    for opposite, value, is_long, place, gold in product(both, both, both, PLACES, GOLD):
        on = {column: bool(setting >> bit & 1) != opposite for bit, column in enumerate(others)}
        on |= {switched: value, _LENGTH: is_long}
        words = "all" if on["words_found"] else "few"
        evidence = item.evidence(
            supported=gold == "entailment",
            words=words,
            name_form=0 if on["names_found"] else 1,
            number_form=0 if on["numbers_found"] else 1,
        )
        yield {
            "item": number,
            "premise": item.document(f"{evidence} {item.details[words]}", place=place, is_long=on["document_length"]),
            "hypothesis": item.hypothesis(is_long=on["claim_length"]),
            "label": gold,
            "group": f"item {number}",
            "certainty": "logical",
            **{column: values[0 if on[column] else 1] for column, values in SWITCHED.items()},
            PLACE: place,
            EVIDENCE: f"{evidence}\n{item.details[words]}" if on["claim_length"] else evidence,
            "fact": item.fact,
            "switched": switched,
        }


def _turns(rows: pl.DataFrame, draws: Draws) -> pl.Series:
    """In which turn a limited sample takes each row; every 48 turns hold one row of every cell.

    A turn has both gold of one claim under one setting of the other cues and its opposite, at one place.
    """
    code = pl.sum_horizontal(
        pl.when(pl.col(column) == SWITCHED[column][0]).then(1 << bit) for bit, column in enumerate(_OF_DOCUMENT)
    )
    setting = pl.min_horizontal(code, 2 ** len(_OF_DOCUMENT) - 1 - code)
    length = (pl.col(_LENGTH) == SWITCHED[_LENGTH][0]).cast(pl.Int64)
    place = pl.col(PLACE).replace_strict(PLACES, range(len(PLACES)), return_dtype=pl.Int64)
    bits = draws.bits(rows["item"].to_numpy().astype(np.uint64), "turn")
    units = rows.select(kind=(2 * setting + length) * len(PLACES) + place, draw=pl.Series(bits))
    before = pl.col("draw").rank("dense").over("kind").cast(pl.Int64) - 1
    kinds = len(PLACES) * 2 ** len(_OF_DOCUMENT)
    return units.select((before * kinds + pl.col("kind")).cast(pl.String).alias("turn")).to_series()


def _capitalised(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
