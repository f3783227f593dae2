"""Which sentences of answers claim nothing, and which do although they look like it."""

from __future__ import annotations

import polars as pl
import pytest

from acidtest.io.wordlists import packaged_table
from acidtest.suites.grounding.nonclaims import answer_kinds, nonclaim_kind

CLAIMS = """
We cannot give refunds after 30 days.
We cannot provide information to third parties.
I cannot find my keys, said Mara.
I cannot answer every question.
I don't know when the mill closed.
I'm not sure they are old enough.
I can't help it.
I don't know the price from the text, but the mill closed in 1931.
The company could not answer questions about the leak.
The question could not be answered by the minister.
It is not possible to determine the age of the bones.
The text does not say when the mill closed.
The report does not mention a cause.
The document does not contain information about the price.
No information was given about the fire.
Sorry was the band's first single.
Sorry, the mill closed in 1931.
Unfortunately, the mill closed in 1931.
Unable to pay, the firm closed.
Unknown assailants attacked the bank.
Hello Kitty was created in 1974.
Welcome to the Jungle was released in 1987.
Thanks to the dam, the town stayed dry.
Dear Evan Hansen opened in 2016.
Sure Start was launched in 1998.
Sure, the mill closed in 1931.
Certainly the largest of them.
Greetings cards are sold at the desk.
Feel Free is a novel.
Please let the nurse know if you feel unwell.
If you have a fever, ask a doctor.
Do not take this medicine if you are pregnant.
Here is where the treaty was signed.
Answer songs were popular in the fifties.
He asked, "Where is it?"
What a day it was.
When it rains, the gates close.
Is This It is an album of 2001.
1931
Yes
No
"""


@pytest.mark.parametrize("sentence", CLAIMS.strip().splitlines())
def test_a_sentence_that_only_looks_like_it_is_a_claim(sentence: str) -> None:
    assert nonclaim_kind(sentence) is None


@pytest.mark.parametrize(("kind", "example"), packaged_table("grounding/nonclaims.tsv")["kind", "example"].rows())
def test_every_pattern_finds_its_example(kind: str, example: str) -> None:
    assert nonclaim_kind(example) == kind


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("I apologize, but I cannot find this in the document.", "refusal"),
        ("Unfortunately, I don’t know the answer to your question.", "refusal"),
        ("I'm not able to determine that from the given passages.", "refusal"),
        ("**Sure!**", "greeting"),
        ("Is there anything else you would like to know?", "question"),
        ("Don't hesitate to ask if anything is unclear!", "offer"),
        ("Here are the main points of the report:", "announcement"),
    ],
)
def test_refusals_and_courtesies_claim_nothing(sentence: str, kind: str) -> None:
    assert nonclaim_kind(sentence) == kind


def test_an_answer_claims_nothing_if_none_of_its_sentences_does() -> None:
    texts = [
        "Hello! I'm sorry, but I can't answer that. Let me know if you need anything else.",
        "Hello! How can I help you?",
        "Hello! The mill closed in 1931.",
        "The mill closed in 1931. I hope this helps.",
        "",
        None,
    ]
    assert answer_kinds(pl.Series(texts)).to_list() == ["refusal", "greeting", None, None, None, None]
