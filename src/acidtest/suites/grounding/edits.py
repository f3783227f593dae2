"""Edits of claims and documents: what they receive, what they return, and how a suite is made of one.

An edit is a function of a ``ClaimBatch``. It yields for the claims it can be applied to the edited pair, and for others
a reason why not; both with the number of the claim. The decorator ``edit`` makes the suite ``grounding/NAME`` of it:

    @edit("number", summary="A number of the claim replaced by another", rows=120, changes=True)
    def number(batch: ClaimBatch) -> Iterator[Result]:
        \"\"\"One number of a supported claim becomes another that the document does not have.\"\"\"
        for row, claim in batch.supported():
            ...
            yield row, EditedPair(claim=..., label="contradiction", change="22 → 31")
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import Draws, mix_bits
from acidtest.core.suite import PARSES, Kind, Suite
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.corpus import LABEL_COLUMNS, derive_suite, transform_rows, uses_all
from acidtest.suites.grounding import CITATION, EVIDENCE, PLACE, grounding_pairs
from acidtest.suites.grounding.documents import SourceDocument, has_names_and_numbers, read_documents

if TYPE_CHECKING:
    from acidtest.english.sentences import Sentences

_COLUMNS: dict[str, Kind] = {"edit": "factor", "kind": "factor", "change": "text"}

_OF_DOCUMENT = ("register", "facts", "document", PLACE)
"""Columns of the starter corpus that are true of an edited pair as well."""


@dataclass(frozen=True)
class CheckedClaim:
    """A claim, its document and gold, and the sentences of the document that decide it, as far as they are known."""

    text: str
    label: str
    document: SourceDocument
    evidence: tuple[int, ...]
    """Numbers of sentences in ``document.sentences``, from 0; empty where unknown."""
    marked: bool
    """Whether the corpus says which sentences these are; otherwise they were found by their words."""
    bits: int
    """A draw, from which ``choose`` takes all choices."""

    @property
    def evidence_sentence(self) -> str | None:
        """The one sentence that decides the claim; None where it is unknown or there are several."""
        return self.document.sentences[self.evidence[0]] if len(self.evidence) == 1 else None

    @property
    def is_stated(self) -> bool:
        """Whether one sentence decides the claim and has all its names and numbers."""
        sentence = self.evidence_sentence
        return sentence is not None and has_names_and_numbers(sentence, self.text)

    def choose(self, size: int, slot: int = 0) -> int:
        """A number in ``range(size)``; every slot is another choice."""
        mask = (1 << 64) - 1
        mixed = (self.bits + (slot + 1) * 0x9E3779B97F4A7C15) & mask
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & mask
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & mask
        return ((mixed ^ (mixed >> 31)) >> 32) * size >> 32


@dataclass(frozen=True)
class EditedPair:
    """What an edit made of a pair; None for a text or label stands for the old one."""

    claim: str | None = None
    document: str | None = None
    label: str | None = None
    """Gold, for a claim with gold; claims without gold stay so."""
    change: str = ""
    """What was changed, for people: "22 → 31"."""
    kind: str | None = None
    """A value of the factor ``kind``, where an edit has several kinds."""
    certainty: str = "logical"


Result = tuple[int, EditedPair | str]
"""The number of a claim in its batch with the edited pair, or with the reason why it was skipped."""

Edit = Callable[..., Iterable[Result]]
"""A function of a ``ClaimBatch``; its keyword parameters are options of the suite."""


@dataclass(frozen=True)
class ClaimBatch:
    """Some claims of a corpus, with what their analysis shares."""

    frame: pl.DataFrame
    draws: Draws
    tagger: str = "auto"

    @cached_property
    def claims(self) -> list[CheckedClaim]:
        """All claims, in order."""
        documents = read_documents(self.frame["premise"])
        marks = self.frame[EVIDENCE] if EVIDENCE in self.frame.columns else [None] * self.frame.height
        bits = mix_bits(self.draws.bits(digests(self.frame["id"]), "edit")).tolist()
        columns = (self.frame["hypothesis"], self.frame["label"], documents, marks, bits)
        return [_claim(*row) for row in zip(*columns, strict=True)]

    @cached_property
    def sentences(self) -> Sentences:
        """The claims analysed: tokens, tags, lemmas, contexts; ``text`` is the number of the claim."""
        from acidtest.english.sentences import Sentences

        return Sentences.of(self.frame["hypothesis"], self.tagger)

    def supported(self) -> Iterator[tuple[int, CheckedClaim]]:
        """The claims that are supported, or have no gold, with their numbers."""
        return ((row, claim) for row, claim in enumerate(self.claims) if claim.label in ("entailment", "any"))


def _claim(text: str, label: str, document: SourceDocument, mark: str | None, bits: int) -> CheckedClaim:
    evidence = document.numbers_of(mark) if mark else document.evidence_of(text)
    return CheckedClaim(text, label, document, evidence, bool(mark), bits)


@dataclass
class _Application:
    """Applies an edit to a corpus batch by batch."""

    name: str
    make: Callable[[ClaimBatch], Iterable[Result]]
    draws: Draws
    tagger: str
    needs_gold: bool = False
    left_out: Counter[str] = field(default_factory=Counter)

    def apply(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """A row for every edited pair: the columns of the corpus, those of the suite, and ``variant``.

        Of a claim that is joined with its question, the answer alone is edited.
        """
        from acidtest.corpora.questions import question_prefixes

        prefixes = question_prefixes(pairs)
        pairs = pairs.with_columns(pl.col("hypothesis").str.slice(prefixes.str.len_chars()))
        batch = ClaimBatch(pairs, self.draws, self.tagger)
        rows, edits = list[int](), list[EditedPair]()
        for row, result in self.make(batch):
            if isinstance(result, EditedPair) and (doubt := self._doubt(batch.claims[row], result)):
                result = doubt
            if isinstance(result, str):
                self.left_out[result] += 1
            else:
                rows.append(row)
                edits.append(result)
        names = ("claim", "document", "label", "change", "kind", "certainty")
        values = {name: pl.Series([getattr(edit, name) for edit in edits], dtype=pl.String) for name in names}
        old = pairs[rows]
        context = old.drop("premise", "hypothesis", *LABEL_COLUMNS, strict=False)
        number = pl.int_range(1, pl.len() + 1).over("id").cast(pl.String)
        return context.with_columns(
            premise=values["document"].fill_null(old["premise"]),
            hypothesis=prefixes[rows] + values["claim"].fill_null(old["hypothesis"]),
            label=_labels(old["label"], values["label"]),
            certainty=values["certainty"],
            edit=pl.lit(self.name),
            kind=values["kind"],
            change=values["change"],
            variant=pl.concat_str(pl.lit(self.name), number, separator="-"),
        )

    def _doubt(self, claim: CheckedClaim, result: EditedPair) -> str:
        """Why a claim without gold, which may not be supported, is not edited; empty for all others."""
        if claim.label != "any" or result.label in (None, "entailment"):
            return ""
        if self.needs_gold:
            return "no gold"
        return "" if claim.is_stated else "no gold and no single evidence sentence"


def _labels(old: pl.Series, new: pl.Series) -> pl.Series:
    """The new gold, or else the old; without old gold there is no new one."""
    frame = pl.DataFrame({"old": old, "new": new})
    return frame.select(pl.when(pl.col("old") == "any").then("old").otherwise(pl.coalesce("new", "old"))).to_series()


def draw_claims(request: Request, pairs: Suite, changed: pl.LazyFrame) -> tuple[Suite, pl.LazyFrame]:
    """Of the claims that could be edited as many as were asked for, and all untouched claims of their documents.

    They are drawn after editing: of some claims drawn before it, most edits could change none.
    """
    ids = changed.select("id").collect()["id"].unique(maintain_order=True)
    if uses_all(request, len(ids), "claims", f"only {len(ids):,} of {pairs.name!r} can be edited so"):
        return pairs, changed
    draw = Draws(request.seed, "corpus").bits(digests(ids))
    chosen = pl.col("id").is_in(ids.gather(np.argsort(draw, kind="stable")[: request.n]).implode())
    groups = pairs.frame.filter(chosen).select("group").collect()["group"].unique()
    frame = pairs.frame.filter(pl.col("group").is_in(groups.implode()))
    return replace(pairs, frame=frame), changed.filter(chosen)


def edit(
    name: str,
    *,
    summary: str,
    rows: int,
    version: int = 1,
    note: str = "",
    whole_documents: bool = False,
    moves_evidence: bool = False,
    needs_gold: bool = False,
) -> Callable[[Edit], Edit]:
    """A decorator that makes suite ``grounding/NAME`` of an edit, with the untouched claims as its control.

    An edit that needs several claims of a document asks for ``whole_documents``: those that follow each other in the
    file come to it together. After one that ``moves_evidence``, the place it had in the untouched document is not kept.
    One that ``needs_gold`` leaves claims without gold alone; others change what they claim only where ``is_stated``.
    """
    suite_name = f"grounding/{name}"

    def register(make: Edit) -> Edit:
        def edited(request: Request, *, tagger: str = "auto", **options: Any) -> Suite:
            pairs = grounding_pairs(replace(request, n=None), columns=(*_COLUMNS, "variant"))
            draws, left_out = Draws(request.seed, suite_name), Counter(pairs.card.left_out)
            application = _Application(name, partial(make, **options), draws, tagger, needs_gold, left_out)
            frame = pairs.frame.drop(*PARSES, strict=False)
            together = "premise" if whole_documents else None
            pairs, changed = draw_claims(
                request, pairs, transform_rows(frame, application.apply, together=together).lazy()
            )
            kept = {column: kind for column, kind in pairs.card.columns.items() if column in _OF_DOCUMENT}
            if moves_evidence:
                kept.pop(PLACE, None)
            return derive_suite(
                suite_name,
                pairs,
                changed,
                request=request,
                version=version,
                arguments=options,
                columns={**kept, **_COLUMNS},
                sample_by="base_id",
                left_out=application.left_out,
                note=note,
            )

        edited.__doc__ = make.__doc__
        edited.__signature__ = _signature(edited, make)  # type: ignore[attr-defined]
        register_suite = generator(
            suite_name,
            summary=summary,
            rows=rows,
            source="pairs",
            citation=CITATION,
            licence="Apache-2.0",
            needs_gold=False,
        )
        register_suite(edited)
        return make

    return register


def _signature(edited: Callable[..., Suite], make: Edit) -> inspect.Signature:
    """The request, the tagger, and the options that the edit takes beyond its batch."""
    shared = list(inspect.signature(edited, eval_str=True).parameters.values())[:2]
    options = list(inspect.signature(make, eval_str=True).parameters.values())[1:]
    return inspect.Signature([*shared, *options])
