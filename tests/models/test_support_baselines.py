"""Baselines that look for the words, names and numbers of a claim in a document, or at the claim alone."""

from __future__ import annotations

import pytest

from acidtest.core.errors import AcidtestError
from acidtest.core.model import model_from_spec

DOCUMENT = "Last year Britain sent twelve hundred lorries to the border, and the WHO sent forty doctors."
CLAIMS = {
    "Britain sent lorries to the border.": {"word-match": 1.0, "entity-match": 1.0, "number-match": 1.0},
    "Britain sent forty lorries to the WHO.": {"word-match": 1.0, "entity-match": 1.0, "number-match": 1.0},
    # Two of united, kingdom, sent, 1, 200 and lorries.
    "The United Kingdom sent 1,200 lorries.": {"word-match": 1 / 3, "entity-match": 0.0, "number-match": 1.0},
    "Britain and France sent 1,200 lorries and 50 doctors.": {"entity-match": 0.25, "number-match": 0.25},
}


@pytest.mark.parametrize("name", ["word-match", "entity-match", "number-match"])
def test_support_is_how_much_of_the_claim_the_document_has(name: str) -> None:
    claims = {claim: scores[name] for claim, scores in CLAIMS.items() if name in scores}
    rows = model_from_spec(f"baseline:{name}").predict([DOCUMENT] * len(claims), list(claims))
    assert rows[:, 0].tolist() == pytest.approx(list(claims.values()))
    assert rows[:, 1].tolist() == pytest.approx([1 - score for score in claims.values()])
    assert not rows[:, 2].any()


def test_the_claim_alone_gets_the_same_score_with_every_document() -> None:
    model = model_from_spec("baseline:claim-only")
    claims = ["Everyone left.", "Someone left.", "Britain left."]
    first, second = (model.predict([document] * 3, claims) for document in (DOCUMENT, "It rained."))
    assert first.tolist() == second.tolist()
    everyone, someone, plain = first[:, 0].tolist()
    assert everyone < plain == 0.5 < someone


def test_a_baseline_of_support_takes_no_argument() -> None:
    with pytest.raises(AcidtestError, match="baseline:word-match takes no argument, but '3' was given"):
        model_from_spec("baseline:word-match:3")
