"""Edits of the document that keep the label: a sentence that says nothing, evidence moved, sentences reordered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from acidtest import api
from acidtest.core.suite import Suite
from acidtest.io.wordlists import packaged_table
from acidtest.suites.grounding.coherence import (
    analyse_document,
    leans_on_text,
    open_definites,
    opens_with_link,
    refers_back,
)
from acidtest.suites.grounding.documents import SourceDocument, read_documents

FIRST, SECOND, THIRD = (
    "Ardle Ferries runs two ships.",
    "Ardle Ferries carried 640 cars in May.",
    "Ardle Ferries has its office in Port Wick.",
)
FERRY = f"{FIRST} {SECOND} {THIRD}"


def document(text: str) -> SourceDocument:
    return read_documents(pl.Series([text]))[0]


def edited(tmp_path: Path, name: str, *rows: dict[str, Any]) -> Suite:
    path = tmp_path / "claims.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return api.generate(f"grounding/{name}", source=path)


@pytest.mark.parametrize(
    "sentence",
    [
        "It was closed in March.",
        "The mayor said it would be closed.",
        "Such storms are rare in Wick.",
        "Two were repaired at once.",
        "But Wick has no harbour.",
        "Wick later built a second pier.",
        "The council rejected that view.",
        "Prices in Wick are higher.",
        '"We will rebuild the pier," said Ola Brand.',
        "Wick has until June to do so.",
    ],
)
def test_a_sentence_that_leans_on_the_one_before_refers_back(sentence: str) -> None:
    assert refers_back(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Tom Brand sold his boat in March.",
        "Children in Wick keep their boats in sheds.",
        "Ola Brand said that Wick needs a pier.",
        "Prices in Wick are higher than in Lund.",
        "Two ships sail to Lund every day.",
    ],
)
def test_a_sentence_with_all_it_needs_does_not_refer_back(sentence: str) -> None:
    assert not refers_back(sentence)


def test_a_definite_is_open_unless_the_phrase_says_which_is_meant() -> None:
    sentence = "The mayor of Wick showed the guests the Old Mill and the pier."
    assert [sorted(definite.stems) for definite in open_definites(sentence)] == [["guest"], ["pier"]]
    assert [definite.opens for definite in open_definites("The pier leaks.")] == [True]


def test_a_definite_must_stay_behind_the_sentence_that_prepares_it() -> None:
    text = "Wick has a pier of oak. Wick has 900 inhabitants. People from Lund admire the pier."
    coherence = analyse_document(document(text))
    assert coherence.permits([0, 2, 1])
    assert not coherence.permits([2, 0, 1])


def test_a_short_name_must_stay_behind_the_full_one() -> None:
    coherence = analyse_document(
        document("Ola Brand owns the Wick pier. Wick lies in Lower Saltmark. People like Brand.")
    )
    assert coherence.permits([0, 2, 1])
    assert not coherence.permits([2, 0, 1])


def test_lines_of_speakers_are_a_conversation() -> None:
    assert analyse_document(document("Ann: Is Wick far? Ben: Wick is near.")).fixed == "a conversation"
    assert not analyse_document(document(FERRY)).fixed


def test_a_pronoun_opens_with_a_link_and_a_name_does_not() -> None:
    assert opens_with_link("They left early.")
    assert not opens_with_link("Ardle Ferries runs two ships.")


def test_filler_adds_one_sentence_and_keeps_gold(tmp_path: Path) -> None:
    row = {"document": FERRY, "claim": "Ardle Ferries carried 640 cars in May.", "label": "entailment"}
    others = [
        row | {"claim": f"Ardle Ferries carried {number} cars in May.", "label": "neutral"} for number in range(40)
    ]
    suite = edited(tmp_path, "filler", row, *others)
    frame = suite.frame.collect()
    fillers = set(packaged_table("grounding/fillers.tsv").filter(register="any")["sentence"])
    places = {
        "start": f"{{}} {FERRY}",
        # The gaps before the second and the third sentence are equally far from the middle.
        "middle": f"{FIRST} {{}} {SECOND} {THIRD}",
        "end": f"{FERRY} {{}}",
    }
    assert frame.height == 41
    assert set(frame["kind"]) == set(places)
    assert set(frame["change"]) <= fillers
    for premise, kind, change in frame.select("premise", "kind", "change").iter_rows():
        assert premise == places[kind].format(change)
    assert frame["label"].to_list() == ["entailment"] + ["neutral"] * 40


def test_filler_is_not_put_before_a_sentence_that_refers_back(tmp_path: Path) -> None:
    rows = [
        {"document": "It left at six. They saw it.", "claim": f"Ship {number} left.", "label": "neutral"}
        for number in range(20)
    ]
    frame = edited(tmp_path, "filler", *rows).frame.collect()
    assert set(frame["kind"]) == {"end"}


def test_filler_stands_between_turns_of_a_conversation() -> None:
    rows = api.generate("grounding/filler").frame.filter(register="chat", kind="middle").collect()
    assert rows.height > 20
    for premise, sentence in rows.select("premise", "change").iter_rows():
        rest = premise.partition(f" {sentence} ")[2]
        assert rest.split(" ")[0].endswith(":") or ": " in rest[:30], rest[:60]


def test_filler_leaves_claims_about_the_text_alone(tmp_path: Path) -> None:
    rows = [
        {"document": FERRY, "claim": "The text is about ferries.", "label": "neutral"},
        {"document": FERRY, "claim": "Ardle Ferries runs ships.", "label": "entailment"},
    ]
    suite = edited(tmp_path, "filler", *rows)
    assert (suite.card.rows, dict(suite.card.left_out)) == (1, {"claim about the text": 1})


def test_a_filler_written_for_a_register_stands_in_documents_of_no_other() -> None:
    frame = api.generate("grounding/filler").frame.collect()
    registers = dict(packaged_table("grounding/fillers.tsv").select("sentence", "register").iter_rows())
    used = [(registers[change], register) for change, register in frame.select("change", "register").iter_rows()]
    assert all(fits in ("any", register) for fits, register in used)


def test_evidence_moves_to_the_places_where_it_is_not(tmp_path: Path) -> None:
    row = {
        "document": FERRY,
        "claim": SECOND,
        "label": "entailment",
        "evidence": SECOND,
    }
    suite = edited(tmp_path, "position", row)
    assert suite.frame.select("premise", "kind", "label").collect().rows() == [
        (f"{SECOND} {FIRST} {THIRD}", "start", "entailment"),
        (f"{FIRST} {THIRD} {SECOND}", "end", "entailment"),
    ]


def test_evidence_that_others_lean_on_moves_together_with_them_or_not_at_all(tmp_path: Path) -> None:
    built = "Ola Brand built the Tern in 1990."
    text = f"{FIRST} {built} She was 30 then. Wick likes Ardle Ferries."
    row = {"document": text, "claim": built, "label": "entailment", "evidence": built}
    frame = edited(tmp_path, "position", row).frame.collect()
    assert frame.select("premise", "kind").rows() == [
        (f"{built} She was 30 then. {FIRST} Wick likes Ardle Ferries.", "start"),
        (f"{FIRST} Wick likes Ardle Ferries. {built} She was 30 then.", "end"),
    ]


def test_evidence_in_a_conversation_stays(tmp_path: Path) -> None:
    rows = [
        {
            "document": "Ann: Ardle Ferries runs two ships. Ben: Wick has a pier. Ann: Lund has a mill.",
            "claim": "Wick has a pier.",
            "label": "entailment",
            "evidence": "Ben: Wick has a pier.",
        },
        {
            "document": FERRY,
            "claim": "Ardle Ferries runs two ships.",
            "label": "entailment",
            "evidence": "Ardle Ferries runs two ships.",
        },
    ]
    suite = edited(tmp_path, "position", *rows)
    assert dict(suite.card.left_out) == {"a conversation": 1}


def test_the_place_of_moved_evidence_is_not_that_of_the_untouched_document() -> None:
    assert "evidence_place" not in api.generate("grounding/position").card.columns
    assert "evidence_place" in api.generate("grounding/filler").card.columns


def test_reordered_sentences_are_the_same_and_the_first_stays_first() -> None:
    suite = api.generate("grounding/order")
    assert suite.control is not None
    control = suite.control.frame.select(base_id="id", old="premise").collect()
    rows = suite.frame.collect().join(control, on="base_id")
    for new, old, change in rows.select("premise", "old", "change").iter_rows():
        before = document(old)
        numbers = [int(number) - 1 for number in change.split()]
        assert sorted(numbers) == list(range(len(before.sentences)))
        assert numbers[0] == 0
        assert new == " ".join(before.sentences[number] for number in numbers)
        assert analyse_document(before).permits(numbers)


def test_two_free_sentences_change_places_but_not_for_a_claim_about_an_order(tmp_path: Path) -> None:
    rows = [
        {"document": FERRY, "claim": f"Ardle Ferries has {number} cars.", "label": "neutral"} for number in range(12)
    ]
    rows.append({"document": FERRY, "claim": "Ardle Ferries had ships before cars.", "label": "neutral"})
    suite = edited(tmp_path, "order", *rows)
    assert set(suite.frame.collect()["premise"]) == {f"{FIRST} {THIRD} {SECOND}"}
    assert suite.card.left_out["claim about an order"] == 1


FILMS = " ".join(
    [
        "Asha Lind is a director of films in Wick.",
        "Her first film was shot in Lund.",
        "The second, a 1995 film, is about a strike.",
        "People in Wick opened a cinema of oak in 1999.",
        "People in Lund closed a mill of stone in 2003.",
    ]
)
SISTERS = " ".join(
    [
        "Wick has a choir of old sailors.",
        "Maria Berg founded a school in Wick in 1950.",
        "Near Marl she met a painter of ships.",
        "Anna Holm opened a bank in Lund in 1960.",
        "People in Wick built a pier of stone in 1970.",
    ]
)


def test_an_ordinal_stays_behind_all_that_stands_before_it() -> None:
    coherence = analyse_document(document(FILMS))
    assert coherence.follows == (False, True, True, False, False)
    assert coherence.permits([0, 1, 2, 4, 3])
    assert not coherence.permits([0, 3, 1, 2, 4])


def test_a_pronoun_stays_behind_the_person_it_means() -> None:
    # "Near Marl she met" does not name her.
    coherence = analyse_document(document(SISTERS))
    assert coherence.follows == (False, False, True, False, False)
    assert coherence.permits([0, 3, 1, 2, 4])
    assert not coherence.permits([0, 1, 3, 2, 4])


def test_sentences_between_a_pronoun_and_its_person_stay_where_they_are() -> None:
    text = (
        "Wick is old. Maria Berg lives in Wick. People in Wick like rain. Near Marl she paints ships. "
        "People in Lund own a bank."
    )
    assert analyse_document(document(text)).blocks == [[0], [1, 2, 3], [4]]


def test_a_numbered_list_keeps_its_order() -> None:
    text = "The museum has two parts. 1. Paintings hang upstairs. 2. Coins lie in the hall. Wick paid for the roof."
    read = document(text)
    assert read.sentences[1:3] == ("1. Paintings hang upstairs.", "2. Coins lie in the hall.")
    assert analyse_document(read).fixed == "a numbered list"


def test_a_list_of_which_the_first_item_is_left_keeps_its_order() -> None:
    assert analyse_document(document("1) Paintings hang in Wick. Before the war, Wick had a mill.")).fixed


def test_a_close_second_stays_behind_the_first() -> None:
    coherence = analyse_document(document("Lund has a choir. Wick has a mill. A close second is the pier of Marl."))
    assert not coherence.permits([0, 2, 1])
    assert coherence.follows[2]


@pytest.mark.parametrize(
    "claim",
    ["She met a painter of ships.", "In Lund she met a painter.", "The second sold 300 copies.", "It burned down."],
)
def test_a_claim_that_only_its_text_explains_is_asked_in_no_other_order(claim: str) -> None:
    assert leans_on_text(claim)


@pytest.mark.parametrize(
    "claim", ["Maria Berg sold her school.", "The second film is about a strike.", "Sailors love their choir."]
)
def test_a_claim_that_names_what_it_speaks_of_explains_itself(claim: str) -> None:
    assert not leans_on_text(claim)
