"""Suites ``grounding/entity`` and ``grounding/role``: names replaced, and parties exchanged."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import polars as pl
import pytest

from acidtest import api
from acidtest.core.errors import NothingToMakeError
from acidtest.core.suite import Suite
from acidtest.english.values.names import Name, find_names, replace_name

DOCUMENT = (
    "Tove Nygren, the captain, scored eleven goals for Lundvik on Saturday. She is 36. "
    "The final was played in Oslo at the Brandal Arena. Nygren thanked Mirela Dobran, a coach, in her speech. "
    "The New York Times sent a reporter. Medical care was given by the Rendle Laboratory. "
    "Much later that evening Ingrid Falk, a nurse, drove home to Bergen."
)


def make(suite: str, tmp_path: Path, *claims: str, document: str = DOCUMENT, **arguments: str) -> Suite:
    path = tmp_path / "claims.jsonl"
    rows = [{"document": document, "claim": claim, "label": "entailment"} for claim in claims]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return api.generate(suite, source=path, arguments=arguments)


@cache
def starter(suite: str) -> pl.DataFrame:
    made = api.generate(suite)
    assert made.control is not None
    claims = made.control.frame.collect().select(base_id="id", base_claim="hypothesis", base_label="label")
    return made.frame.collect().join(claims, on="base_id", how="left", maintain_order="left")


def names_of(text: str, document: str = DOCUMENT) -> list[tuple[str, str, str, str] | None]:
    names = find_names(text, document)
    return [None if name is None else (name.text, name.kind, name.form, name.gender) for name in names]


def test_a_full_name_is_replaced_whole_by_one_that_the_document_does_not_have(tmp_path: Path) -> None:
    frame = make("grounding/entity", tmp_path, "Tove Nygren scored eleven goals for Lundvik.").frame.collect()
    row = frame.row(0, named=True)
    old, new = row["change"].split(" → ")
    assert (old, row["label"], row["kind"], row["edit"]) == ("Tove Nygren", "non-entailment", "person", "entity")
    assert row["hypothesis"] == f"{new} scored eleven goals for Lundvik."
    assert len(new.split()) == 2
    assert not any(part.lower() in DOCUMENT.lower() for part in new.split())


def test_people_places_and_firms_get_their_kind_from_lists_and_from_the_document() -> None:
    assert names_of("Nygren thanked Mirela Dobran in Oslo.") == [
        ("Nygren", "person", "surname", "female"),
        ("Mirela Dobran", "person", "full", "female"),
        ("Oslo", "place", "city", ""),
    ]
    assert names_of("The Rendle Laboratory helped at the Brandal Arena.") == [
        ("Rendle Laboratory", "organization", "head", ""),
        ("Brandal Arena", "place", "head", ""),
    ]
    assert names_of("It was the goal of Lundvik.") == [("Lundvik", "other", "coined", "")]


def test_a_coined_word_beside_a_surname_is_left_alone_since_it_may_be_a_given_name() -> None:
    document = "The moons were seen by Asolph Hall. The mills belong to Quillorn Foods."
    assert names_of("Asolph Hall saw the moons.", document) == [None]
    assert names_of("Quillorn Foods owns the mills.", document) == [("Quillorn", "other", "coined", "")]


def test_longer_names_quotations_and_days_are_left_alone() -> None:
    assert names_of("The New York Times sent a reporter.") == [None]
    assert names_of('On Saturday she read "Tove Nygren" aloud.') == []
    assert names_of("The temperature was 30 degrees Celsius.", "It was 30 degrees Celsius.") == [None]


def test_a_possessive_is_kept_and_written_as_the_new_name_needs_it() -> None:
    name = Name(0, 9, "Jane Ross", "person", "full", "female")
    assert replace_name("Jane Ross' book is long.", name, "Ada Dodson") == "Ada Dodson's book is long."
    assert replace_name("Jane Ross's book is long.", name, "Ada Dodson") == "Ada Dodson's book is long."


def test_a_name_is_not_replaced_where_another_shares_a_part_of_it() -> None:
    name = Name(0, 9, "Jane Ross", "person", "full", "female")
    assert replace_name("Jane Ross met Tom Ross.", name, "Ada Dodson") is None


def test_an_article_before_a_name_fits_the_new_one() -> None:
    name = Name(8, 15, "Lundvik", "other", "coined")
    assert replace_name("It is a Lundvik shirt.", name, "Astrell") == "It is an Astrell shirt."


def test_a_claim_that_says_who_somebody_is_becomes_a_contradiction(tmp_path: Path) -> None:
    document = "The new conductor of the choir is called Imke Radley, a pianist. She comes from Leeds."
    suite = make("grounding/entity", tmp_path, "The choir's new conductor is called Imke Radley.", document=document)
    assert suite.frame.collect()["label"].to_list() == ["contradiction"]


def test_names_from_inside_are_of_a_sentence_that_has_nothing_to_do_with_the_claim(tmp_path: Path) -> None:
    suite = make("grounding/entity", tmp_path, "Tove Nygren scored eleven goals.", names="inside")
    assert suite.frame.collect()["hypothesis"].to_list() == ["Mirela Dobran scored eleven goals."]
    assert suite.card.arguments["names"] == "inside"


def test_names_are_skipped_with_their_reason(tmp_path: Path) -> None:
    claims = [
        "Tove Nygren scored eleven goals for Lundvik.",
        "The New York Times sent a reporter.",
        "Tove Nygren said that the lights went out in Paris.",
    ]
    left_out = make("grounding/entity", tmp_path, *claims).card.left_out
    assert left_out == {"kind of name not known": 1, "no single evidence sentence": 1}


def test_what_follows_from_a_title_stays_true_of_any_name(tmp_path: Path) -> None:
    document = "Mr. Keller, a man of 60, could watch. It rained."
    with pytest.raises(NothingToMakeError, match="1 follows from a title"):
        make("grounding/entity", tmp_path, "Mr. Keller is a man.", document=document)


def test_evidence_about_everybody_is_left_alone(tmp_path: Path) -> None:
    document = "Everybody but the cook left, Anna Keller among them. It rained."
    with pytest.raises(NothingToMakeError, match="1 evidence is about all"):
        make("grounding/entity", tmp_path, "Anna Keller left.", document=document)


def test_new_names_of_the_starter_are_nowhere_in_their_documents() -> None:
    rows = starter("grounding/entity")
    assert rows.height > 100
    for document, change, kind in rows.select("premise", "change", "kind").iter_rows():
        old, new = change.split(" → ")
        fresh = [word for word in new.split() if word not in old.split()]
        assert fresh, kind
        assert not [word for word in fresh if word.lower() in document.lower()]


EXCHANGES = {
    "Halden sued Orsolo in 2019.": ("Orsolo sued Halden in 2019.", "non-entailment", "agent"),
    "Halden was sued by Orsolo.": ("Orsolo was sued by Halden.", "non-entailment", "agent"),
    "In 2019 the board dismissed Halden.": ("In 2019 Halden dismissed the board.", "non-entailment", "agent"),
    "Halden sold two mills to Orsolo in May.": ("Orsolo sold two mills to Halden in May.", "non-entailment", "giver"),
    "Halden bought a mill from Orsolo.": ("Orsolo bought a mill from Halden.", "non-entailment", "giver"),
    "Halden paid Orsolo 480 euros.": ("Orsolo paid Halden 480 euros.", "non-entailment", "giver"),
    "The nurses warn the doctor.": ("The doctor warns the nurses.", "non-entailment", "agent"),
    "Halden is larger than Orsolo.": ("Orsolo is larger than Halden.", "contradiction", "comparison"),
    "A spider has more legs than an ant.": ("An ant has more legs than a spider.", "contradiction", "comparison"),
    "Halden lies north of Orsolo.": ("Orsolo lies north of Halden.", "contradiction", "place"),
    "Halden is the mother of Orsolo.": ("Orsolo is the mother of Halden.", "contradiction", "kin"),
    "Halden outlived Orsolo.": ("Orsolo outlived Halden.", "contradiction", "agent"),
}


@pytest.mark.parametrize("claim", EXCHANGES)
def test_the_parties_of_a_claim_are_exchanged(claim: str, tmp_path: Path) -> None:
    document = f"{claim} Much was said about this, and the weather was fine."
    row = make("grounding/role", tmp_path, claim, document=document).frame.collect().row(0, named=True)
    assert (row["hypothesis"], row["label"], row["kind"]) == EXCHANGES[claim]


SKIPPED = {
    "Halden met Orsolo.": "symmetric verb",
    "Halden married Orsolo.": "symmetric verb",
    "Halden did not warn Orsolo.": "negation, modality or quantifier",
    "Halden may be larger than Orsolo.": "negation, modality or quantifier",
    "Halden paid Orsolo his 480 euros.": "pronoun",
    "Halden visited Paris.": "parties of two kinds",
    "Halden sold more shops than it bought.": "comparison not plain",
}


@pytest.mark.parametrize("claim", SKIPPED)
def test_parties_are_not_exchanged_where_the_label_would_not_be_certain(claim: str, tmp_path: Path) -> None:
    document = f"{claim} Much was said about this, and the weather was fine."
    other = "Halden sued Orsolo in 2019."
    suite = make("grounding/role", tmp_path, claim, other, document=f"{document} {other}")
    assert suite.frame.collect()["hypothesis"].to_list() == ["Orsolo sued Halden in 2019."]
    assert suite.card.left_out == {SKIPPED[claim]: 1}


def test_parties_are_not_exchanged_where_the_document_says_both(tmp_path: Path) -> None:
    document = "Halden sued Orsolo in 2019. A year later Orsolo sued Halden as well. Halden warned the board."
    claims = ["Halden sued Orsolo in 2019.", "Halden warned the board."]
    suite = make("grounding/role", tmp_path, *claims, document=document)
    assert suite.frame.collect()["hypothesis"].to_list() == ["The board warned Halden."]
    assert suite.card.left_out == {"parties and verb in another sentence": 1}


def test_roles_of_the_starter_are_exchanged_as_in_its_own_unsupported_claims() -> None:
    rows = starter("grounding/role")
    written = api.generate("grounding/claims").frame.collect().filter(reason="role")["hypothesis"]
    assert rows["base_label"].unique().to_list() == ["entailment"]
    assert rows.filter(pl.col("hypothesis").is_in(written.implode())).height == 7
