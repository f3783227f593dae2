"""Runs of planted verifiers, whose way of judging claims is known, over documents and claims made for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from acidtest.core.draws import key
from acidtest.core.run import Header, ModelFacts, Run
from acidtest.core.suite import CONTROL, Card

EDITED = {"edit": "factor", "kind": "factor", "change": "text"}
CHANGING, KEEPING = ("number", "entity"), ("rewritten", "position", "padding")
ALL = ("claims", *CHANGING, *KEEPING, "knowledge", "conflicts", "answers")
LENGTHENING = {"partial": 5, "cause": 13}
"""Edits that lengthen a claim of ten words, and by how many."""
AS_LONG = {"aside": 5, "fact": 13}
"""The kinds of ``grounding/lengthened``, which keep gold."""
EDITING = (*CHANGING, *LENGTHENING, "lengthened", *KEEPING)
SENTENCES = 3
CASES = (
    ("world", "world", "entailment"),
    ("world", "otherwise", "contradiction"),
    ("otherwise", "otherwise", "entailment"),
    ("otherwise", "world", "contradiction"),
    ("nothing", "world", "neutral"),
    ("nothing", "otherwise", "neutral"),
)
"""What document and claim say of a fact, and gold."""


@dataclass(frozen=True)
class AskedClaim:
    """One claim as a planted verifier sees it."""

    suite: str
    id: str
    document: int
    label: str
    edit: str = ""
    kind: str = ""
    base_id: str | None = None
    words: int = 150
    """Words of the document."""
    place: int = 10
    """The number of the first word of the evidence."""
    response: str | None = None
    claim_words: int = 10

    @property
    def supported(self) -> bool:
        return self.label == "entailment"

    @property
    def evidence(self) -> str:
        """The four words that decide the claim."""
        return f"fact {self.base_id or self.id} stands here."

    @property
    def premise(self) -> str:
        """The document with the evidence at its place, after unrelated words if it is longer than 150."""
        padding, own = max(self.words - 150, 0), min(self.words, 150)
        place = min(self.place - padding, own - 5)
        document = [f"d{self.document}", *["word"] * (own - 5)]
        return " ".join([*["filler"] * padding, *document[:place], self.evidence, *document[place:]])

    @property
    def draw(self) -> float:
        """A number from 0 to 1 that depends on the claim alone."""
        return key(self.id) / 2**64


Scorer = Callable[[AskedClaim], float]


def perfect(claim: AskedClaim) -> float:
    """Scores that tell all supported claims from all others."""
    return 0.8 + 0.2 * claim.draw if claim.supported else 0.2 * claim.draw


def ignores_numbers(claim: AskedClaim) -> float:
    """Perfect, but it does not see that a number was changed."""
    return 0.8 + 0.2 * claim.draw if claim.edit == "number" else perfect(claim)


def reads_100_words(claim: AskedClaim) -> float:
    """Perfect where the evidence is among the first 100 words; what it does not see is not supported."""
    return perfect(claim) if claim.place < 100 else 0.2 * claim.draw


def random(claim: AskedClaim) -> float:
    return claim.draw


def timid(claim: AskedClaim) -> float:
    """Perfect, but every score is below one half."""
    return 0.4 * perfect(claim)


def planted_claims(suites: Sequence[str] = ALL, *, documents: int = 60, gold: bool = True) -> Iterator[AskedClaim]:
    """Six claims a document, four of them supported, and what edits make of them."""
    for document in range(documents):
        for number in range(6):
            label = "entailment" if number < 4 else "neutral"
            name = f"{document}-{number}"
            # The evidence of every third claim lies beyond the first hundred words.
            place = 120 if number % 3 == 2 else 10
            shown = label if gold else "any"
            if "claims" in suites:
                yield AskedClaim("grounding/claims", name, document, shown, place=place)
            for edit in EDITING:
                if edit in suites:
                    yield from _edited(edit, AskedClaim("", name, document, label, place=place), gold)
        yield from (claim for claim in _passages(document) if claim.suite.partition("/")[2] in suites)


def _edited(edit: str, base: AskedClaim, gold: bool) -> Iterator[AskedClaim]:
    suite, shown = f"grounding/{edit}", base.label if gold else "any"
    yield AskedClaim(suite + CONTROL, base.id, base.document, shown, place=base.place)
    if edit in CHANGING and base.supported:
        label = "contradiction" if gold else "any"
        yield AskedClaim(suite, f"{base.id}-{edit}", base.document, label, edit, "", base.id, place=base.place)
    if edit in LENGTHENING and base.supported:
        label, words = "non-entailment" if gold else "any", 10 + LENGTHENING[edit]
        name = f"{base.id}-{edit}"
        yield AskedClaim(suite, name, base.document, label, edit, "", base.id, place=base.place, claim_words=words)
    for kind, added in AS_LONG.items() if edit == "lengthened" else ():
        name, words = f"{base.id}-{kind}", 10 + added
        yield AskedClaim(suite, name, base.document, shown, edit, kind, base.id, place=base.place, claim_words=words)
    places = {"start": 5, "middle": 75, "end": 145} if edit == "position" else {}
    for kind, place in places.items():
        yield AskedClaim(suite, f"{base.id}-{kind}", base.document, shown, edit, kind, base.id, place=place)
    for times in (2, 4) if edit == "padding" else ():
        words = 150 * times
        place = base.place + 150 * (times - 1)
        yield AskedClaim(
            suite, f"{base.id}-{times}", base.document, shown, edit, f"{times} times", base.id, words, place
        )
    if edit == "rewritten":
        yield AskedClaim(suite, f"{base.id}-{edit}", base.document, shown, edit, "", base.id, place=base.place)


def _passages(document: int) -> Iterator[AskedClaim]:
    for says, claim, label in CASES:
        yield AskedClaim("grounding/knowledge", f"k{document}-{says}-{claim}", document, label, kind=f"{says}/{claim}")
    for kind in ("both agree", "the first agrees", "the last agrees", "neither agrees"):
        label = {"both agree": "entailment", "neither agrees": "contradiction"}.get(kind, "any")
        yield AskedClaim("grounding/conflicts", f"c{document}-{kind}", document, label, kind=kind)
    for number in range(2):
        response, is_flawed = f"a{document}-{number}", number == 1
        label = "non-entailment" if is_flawed else "entailment"
        yield AskedClaim("grounding/answers", response, document, label, kind="response", response=response)
        for sentence in range(SENTENCES):
            label = "non-entailment" if is_flawed and sentence == document % SENTENCES else "entailment"
            name = f"{response}-{sentence}"
            yield AskedClaim("grounding/answers", name, document, label, kind="sentence", response=response)


def planted_run(
    scorer: Scorer,
    suites: Sequence[str] = ALL,
    *,
    documents: int = 60,
    gold: bool = True,
    settings: dict[str, object] | None = None,
    resolution: str = "three-way",
    hard: bool = False,
    reads: int = 10**6,
) -> Run:
    """The run of a verifier on some of the suites; documents of more than ``reads`` words are cut."""
    asked = list(planted_claims(suites, documents=documents, gold=gold))
    scores = np.array([scorer(claim) for claim in asked], dtype=np.float32)
    scores = np.where(np.isnan(scores), scores, scores > 0.5) if hard else scores
    rest = (1 - scores) if resolution == "two-way" else (1 - scores) * np.float32(0.75)
    frame = pl.DataFrame(
        {
            "suite": [claim.suite for claim in asked],
            "id": [claim.id for claim in asked],
            "premise": [claim.premise for claim in asked],
            "evidence": [None if claim.edit else claim.evidence for claim in asked],
            "hypothesis": [claim.id for claim in asked],
            "label": [claim.label for claim in asked],
            "group": [f"d{claim.document}" for claim in asked],
            "base_id": [claim.base_id for claim in asked],
            "edit": [claim.edit or None for claim in asked],
            "kind": [claim.kind or None for claim in asked],
            "document_says": [claim.kind.partition("/")[0] for claim in asked],
            "claim_says": [claim.kind.partition("/")[2] for claim in asked],
            "change": [None for _ in asked],
            "level": [claim.kind for claim in asked],
            "response": [claim.response for claim in asked],
            "p_entailment": scores,
            "p_neutral": rest.astype(np.float32),
            "p_contradiction": (1 - scores - rest).astype(np.float32),
            "truncated": [claim.words > reads for claim in asked],
        },
        schema_overrides={
            "evidence": pl.String,
            "edit": pl.String,
            "change": pl.String,
            "base_id": pl.String,
            "response": pl.String,
        },
    )
    return Run(Header(ModelFacts("m", "m", resolution=resolution), _cards(frame), settings or {}), frame)


def _cards(frame: pl.DataFrame) -> dict[str, Card]:
    cards = {}
    for name in frame["suite"].unique(maintain_order=True):
        columns = {}
        kind = name.partition("/")[2]
        if kind in EDITING:
            columns = EDITED
        elif kind == "knowledge":
            columns = dict.fromkeys(("kind", "document_says", "claim_says"), "factor")
        elif kind == "conflicts":
            columns = {"kind": "factor"}
        elif kind == "answers":
            columns = {"level": "factor", "response": "text"}
        cards[name] = Card(name, columns=columns, rows=frame.filter(pl.col("suite") == name).height)
    return cards


def knows_the_world(claim: AskedClaim) -> float:
    """Perfect, but it goes by what is true in the world where a claim is about that."""
    if claim.suite != "grounding/knowledge":
        return perfect(claim)
    return 0.8 + 0.2 * claim.draw if claim.kind.endswith("/world") else 0.2 * claim.draw


def reads_the_first_passage(claim: AskedClaim) -> float:
    """Perfect, and of two passages it follows the first."""
    if claim.kind == "the first agrees":
        return 0.8 + 0.2 * claim.draw
    return perfect(claim)


def unsteady(claim: AskedClaim) -> float:
    """Right on untouched claims and on a third of the edited ones that keep their gold."""
    is_turned = claim.edit == "rewritten" and claim.draw < 2 / 3
    return 1 - perfect(claim) if is_turned else perfect(claim)


def badly_placed(claim: AskedClaim) -> float:
    """Scores that tell claims apart at 0.9, so that at 0.5 nearly all claims are called supported."""
    return 0.9 + 0.1 * claim.draw if claim.supported else 0.9 * claim.draw**0.2


def generous(claim: AskedClaim) -> float:
    """Scores that tell claims apart at 0.9, so that at 0.5 two thirds of unsupported claims are called supported."""
    return 0.9 + 0.1 * claim.draw if claim.supported else 0.9 * claim.draw**0.5


def sparing(claim: AskedClaim) -> float:
    """Scores that tell claims apart at 0.1, so that at 0.5 half of the supported claims are not called so."""
    return 0.1 + 0.8 * claim.draw if claim.supported else 0.1 * claim.draw


def prefers_long_claims(claim: AskedClaim) -> float:
    """Right on supported claims; it calls 13 % of others supported at ten words, 47 % at 15 and all at 23."""
    return 0.9 if claim.supported or claim.draw < (claim.claim_words - 8) / 15 else 0.1


def constant(claim: AskedClaim) -> float:
    return 0.9


def turned_round(claim: AskedClaim) -> float:
    """The opposite of what is right."""
    return 1 - perfect(claim)
