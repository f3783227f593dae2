"""Suite ``grounding/padding``: unrelated documents before and after the one that decides a claim."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from acidtest.core.digests import digests
from acidtest.core.draws import Draws
from acidtest.core.errors import AcidtestError
from acidtest.core.suite import PARSES, Kind, Suite, compact_frame, stream_frame, visit_batches
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.corpus import LABEL_COLUMNS, derive_suite, transform_rows
from acidtest.suites.grounding import CITATION, STARTER, grounding_pairs, starter_claims
from acidtest.suites.grounding.coherence import leans_on_text, open_definites, opens_with_link, refers_to_person_before
from acidtest.suites.grounding.documents import content_stems, names_and_numbers
from acidtest.suites.grounding.edits import draw_claims

Numbers = NDArray[np.int64]

_NAME = "grounding/padding"
_TIMES = "2+4+8+16+32"
_MOST_TIMES = 1_000
_PLACES = ("start", "middle", "end")
_COLUMNS: dict[str, Kind] = {
    "edit": "factor",
    "kind": "factor",
    "place": "factor",
    "change": "text",
    "documents": "covariate",
    "document_words": "covariate",
}
_OF_DOCUMENT = ("register", "facts", "document")
_POOL_SIZE = 256
"""How many documents of a corpus are drawn to be put beside others."""
_POOL_WORDS = 200_000
"""The most words that they may have in all."""
_MOST_SHARED = 0.5
"""A document with at least this share of a claim's content words may bear on it."""
_MOST_SHARED_NAMELESS = 1 / 3
"""The same for a claim without a name, which could be about anything."""
_ENOUGH, _JUST_ENOUGH = 0.9, 0.75
"""The share of the words asked for that is enough, and that is where no other document fits."""
_BATCH_ROWS = 64
"""Rows whose texts are put together at once: 32 documents of 300 words take 60 kilobytes."""

_PRONOUN = re.compile(
    r"(?i)\b(?:he|him|his|she|her|hers|it|its|they|them|their|this|these|those|I|me|my|we|us|our|you|your)\b"
)
_ABOUT_ITSELF = re.compile(
    r"(?:This|These|The following) (?:\w+ ){0,2}?(?:leaflet|rules?|report|note|policy|manual|guide|guidance|notice|text"
    r"|instructions?|document|entry|article|page|statement|agreement|background|conditions|booklet)\b"
)
_SAYS_EVERYTHING = re.compile(
    r"(?i)\b(?:every|any|no|some)(?:thing|where|body|one)\b|\b(?:no one|nothing|nobody|things?|always|never"
    r"|texts?|documents?|passages?|articles?|speakers?|authors?|narrators?)\b|\bthere (?:is|are|was|were) (?:no|not)\b"
)


@generator(
    _NAME,
    summary="Unrelated documents before and after that of the claim, 2 to 32 times its length in all",
    rows=611,
    source="pairs",
    citation=CITATION,
    licence="Apache-2.0",
    needs_gold=False,
)
def padding(request: Request, *, times: str = _TIMES) -> Suite:
    """The document of each claim at the start, in the middle or at the end of a longer text; gold is kept.

    ``times`` are the lengths of the whole, in lengths of the document, joined by plus signs; each claim gets one of
    them, drawn evenly (``kind``), and one ``place``. Documents are taken whole, so that a text is a little longer than
    asked for; ``document_words`` counts its words and ``documents`` the documents. They are other documents of the
    corpus (of the starter corpus: of another register), at most 256 drawn ones, and where those do not suffice, of the
    starter corpus. None has a name, a number with its noun or a definite noun of the claim, nor half of its words. Left
    out are claims that speak of everything, or with pronouns that might mean something in the added text.
    """
    multiples = _parse_times(times)
    draws = Draws(request.seed, _NAME)
    pairs = grounding_pairs(replace(request, n=None), columns=(*_COLUMNS, "companions", "before", "variant"))
    planner = _Planner(_collect_companions(pairs, draws), multiples, draws, Counter(pairs.card.left_out))
    plan = transform_rows(pairs.frame.drop(*PARSES, strict=False), planner.plan)

    def blocks(columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        needed = [name for name in plan.schema if name in columns or name in ("companions", "before")]
        for part in plan.batches(*needed):
            for rows in part.iter_slices(_BATCH_ROWS):
                yield _join_documents(rows, planner.companions).select(columns)

    schema = {name: kind for name, kind in plan.schema.items() if name not in ("companions", "before")}
    kept = {column: kind for column, kind in pairs.card.columns.items() if column in _OF_DOCUMENT}
    pairs, padded = draw_claims(request, pairs, stream_frame(blocks, schema))
    return derive_suite(
        _NAME,
        pairs,
        padded,
        request=request,
        version=2,
        arguments={"times": "+".join(map(str, multiples))},
        columns={**kept, **_COLUMNS},
        crossings=(("kind", "place"),),
        sample_by="base_id",
        left_out=planner.left_out,
    )


def _parse_times(text: str) -> list[int]:
    parts = [part.strip() for part in re.split(r"[,+]", text)]
    if not all(part.isdecimal() and 2 <= int(part) <= _MOST_TIMES for part in parts):
        raise AcidtestError(f"--times are whole numbers from 2 to {_MOST_TIMES:,}, such as 2+8+32, not {text!r}")
    return sorted({int(part) for part in parts})


@dataclass(frozen=True)
class CompanionDocuments:
    """Documents that are put beside others, and which of them a word rules out."""

    texts: tuple[str, ...]
    numbers: Mapping[str, int]
    """By text: the number of the document."""
    words: Numbers
    registers: NDArray[np.str_]
    is_spare: NDArray[np.bool_]
    """Whether a document is taken only when those of the corpus do not suffice."""
    of_stem: Mapping[str, Numbers]
    """By stem: the documents that have a content word with it."""
    of_number: Mapping[str, Numbers]
    """By number and the stem of the word after it: the documents that have both."""

    @classmethod
    def of(cls, documents: pl.DataFrame) -> CompanionDocuments:
        """The companions from a table with ``premise``, ``register`` and ``is_spare``."""
        texts = tuple(documents["premise"])
        return cls(
            texts,
            {text: number for number, text in enumerate(texts)},
            np.array([len(text.split()) for text in texts], dtype=np.int64),
            documents["register"].to_numpy().astype(np.str_),
            documents["is_spare"].to_numpy(),
            _rows_by_key([set(content_stems(text)) for text in texts]),
            _rows_by_key([set(_numbers_with_nouns(text)) for text in texts]),
        )

    def unrelated(self, claim: str, document: str, register: str) -> Numbers:
        """The documents that do not bear on a claim, are not its own and are of another register."""
        free = self.registers != register if register else np.ones(len(self.texts), dtype=np.bool_)
        shared = np.zeros(len(self.texts), dtype=np.int64)
        stems = {*content_stems(claim)}
        for stem in stems:
            shared[self.of_stem.get(stem, [])] += 1
        names = [word for word in names_and_numbers(claim) if not word[0].isdigit()]
        # The first word has a capital in any case: it may be a name.
        ruled_out = {stem for name in (*names, claim.split(" ", 1)[0]) for stem in content_stems(name)}
        ruled_out |= {stem for definite in open_definites(claim) for stem in definite.stems}
        for stem in ruled_out:
            free[self.of_stem.get(stem, [])] = False
        for number in _numbers_with_nouns(claim):
            free[self.of_number.get(number, [])] = False
        most = _MOST_SHARED if names else _MOST_SHARED_NAMELESS
        free &= shared < most * len(stems)
        if document in self.numbers:
            free[self.numbers[document]] = False
        return np.flatnonzero(free)


@dataclass
class _Planner:
    """Decides which documents are put before and after that of each claim."""

    companions: CompanionDocuments
    times: Sequence[int]
    draws: Draws
    left_out: Counter[str] = field(default_factory=Counter)

    def plan(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """A row for every claim that fits: ``companions`` are the added documents, the first ``before`` come before."""
        keys = digests(pairs["id"])
        length = self.draws.choices(keys, len(self.times), "times").tolist()
        place = self.draws.choices(keys, len(_PLACES), "place").tolist()
        registers = pairs["register"] if "register" in pairs.columns else [""] * pairs.height
        words = pairs["premise"].str.count_matches(r"\S+").cast(pl.Int64)
        needed = [(self.times[number] - 1) * count for number, count in zip(length, words, strict=True)]
        rows, plans = list[int](), list[list[int]]()
        columns = (pairs["hypothesis"], pairs["premise"], registers, needed, keys)
        for row, (claim, document, register, added, key) in enumerate(zip(*columns, strict=True)):
            reason = _unfit_reason(claim, document)
            companions = [] if reason else self._draw(self.companions.unrelated(claim, document, register), added, key)
            if companions:
                rows.append(row)
                plans.append(companions)
            else:
                self.left_out[reason or "no unrelated documents"] += 1
        fitting = pairs[rows].drop(*LABEL_COLUMNS[1:], strict=False)
        sizes = np.array([len(plan) for plan in plans], dtype=np.int64)
        places = [_PLACES[place[row]] for row in rows]
        counts = np.array([self.companions.words[plan].sum() for plan in plans], dtype=np.int64)
        kinds = [f"{self.times[length[row]]} times" for row in rows]
        return fitting.with_columns(
            companions=pl.Series(plans, dtype=pl.List(pl.Int64)),
            before=pl.Series([_before(plan, where) for plan, where in zip(plans, places, strict=True)], dtype=pl.Int64),
            certainty=pl.lit("logical"),
            edit=pl.lit("padding"),
            kind=pl.Series(kinds, dtype=pl.String),
            place=pl.Series(places, dtype=pl.String),
            change=pl.Series([f"{size} documents added" for size in sizes], dtype=pl.String),
            documents=pl.Series(sizes + 1.0, dtype=pl.Float64),
            document_words=pl.Series(words[rows].to_numpy() + counts, dtype=pl.Float64),
            variant=pl.Series([kind.replace(" ", "-") for kind in kinds], dtype=pl.String),
        )

    def _draw(self, unrelated: Numbers, needed: int, key: np.uint64) -> list[int]:
        """Unrelated documents in a drawn order with about as many words as needed; none where there are not enough."""
        bits = self.draws.bits(unrelated.astype(np.uint64) ^ key, "order")
        order = unrelated[np.lexsort((bits, self.companions.is_spare[unrelated]))]
        chosen, total = list[int](), 0
        for number, words in zip(order.tolist(), self.companions.words[order].tolist(), strict=True):
            # One that would exceed the length by more than half of itself is passed over for a shorter one.
            if total + words <= needed + words // 2:
                chosen.append(number)
                total += words
            if total >= _ENOUGH * needed:
                return chosen
        if total >= _JUST_ENOUGH * needed:
            return chosen
        rest = [number for number in order.tolist() if number not in chosen]
        return [*chosen, min(rest, key=self.companions.words.__getitem__)] if rest else []


def _before(companions: Sequence[int], place: str) -> int:
    """How many of the added documents come before that of the claim."""
    return {"start": 0, "middle": (len(companions) + 1) // 2, "end": len(companions)}[place]


def _unfit_reason(claim: str, document: str) -> str:
    if _needs_text_before(document):
        return "document refers to a text before"
    if _SAYS_EVERYTHING.search(claim):
        return "speaks of everything"
    pronoun = _PRONOUN.search(claim)
    if leans_on_text(claim):
        return "refers to a text before"
    if pronoun and not any(
        claim.find(word) < pronoun.start() for word in names_and_numbers(claim) if word[0].isupper()
    ):
        return "refers to a text before"
    return ""


def _join_documents(rows: pl.DataFrame, companions: CompanionDocuments) -> pl.DataFrame:
    """The rows with the whole text as the premise; a blank line stands between documents."""
    if "premise" not in rows.columns:
        return rows
    texts = list[str]()
    for premise, numbers, before in rows.select("premise", "companions", "before").iter_rows():
        added = [companions.texts[number] for number in numbers]
        texts.append("\n\n".join((*added[:before], premise.strip(), *added[before:])))
    return rows.with_columns(premise=pl.Series(texts, dtype=pl.String))


def _collect_companions(pairs: Suite, draws: Draws) -> CompanionDocuments:
    """Documents of the corpus, drawn by their text; for a corpus of users also those of the starter corpus."""
    pool = pl.DataFrame(schema={"premise": pl.String, "register": pl.String, "draw": pl.UInt64})

    def visit(batch: pl.DataFrame) -> None:
        nonlocal pool
        register = pl.col("register") if "register" in batch.columns else pl.lit("")
        documents = batch.select("premise", register=register).unique("premise", maintain_order=True)
        documents = documents.with_columns(draw=pl.Series(draws.bits(digests(documents["premise"]), "companion")))
        pool = pl.concat([pool, documents]).unique("draw", keep="first").sort("draw")
        pool = compact_frame(_cap_words(pool.head(_POOL_SIZE)))

    columns = [name for name in ("premise", "register") if name in pairs.frame.collect_schema()]
    visit_batches(pairs.frame.select(columns), visit)
    pool = pool.filter(~pl.Series([_needs_text_before(text) for text in pool["premise"]], dtype=pl.Boolean))
    pool = pool.select("premise", "register", is_spare=pl.lit(value=False))
    if pairs.name != STARTER:
        starter = starter_claims().frame.select("premise", register=pl.lit("starter"), is_spare=pl.lit(value=True))
        pool = pl.concat([pool, starter.unique("premise", maintain_order=True).collect()])
    return CompanionDocuments.of(pool)


def _needs_text_before(document: str) -> bool:
    """Whether a document begins with a word such as *they*, or *she* soon after; "This leaflet" is about itself."""
    if refers_to_person_before(document):
        return True
    return opens_with_link(document) and not _ABOUT_ITSELF.match(document)


def _cap_words(pool: pl.DataFrame) -> pl.DataFrame:
    words = pool["premise"].str.count_matches(r"\S+")
    return pool.filter((words.cum_sum() <= _POOL_WORDS) | (words < _POOL_WORDS // _POOL_SIZE))


def _numbers_with_nouns(text: str) -> Iterator[str]:
    """Every number in digits with the stem of the word after it."""
    for match in re.finditer(r"\b(\d[\d.,]*\d|\d)\s+([^\W\d_]{3,})", text):
        yield f"{match[1]} {match[2][:5].lower()}"


def _rows_by_key(keys: Sequence[set[str]]) -> dict[str, Numbers]:
    rows: dict[str, list[int]] = {}
    for row, of_row in enumerate(keys):
        for key in of_row:
            rows.setdefault(key, []).append(row)
    return {key: np.array(numbers, dtype=np.int64) for key, numbers in rows.items()}
