"""Published numbers: under which condition, beside which slice."""

from __future__ import annotations

from typing import Any

from acidtest.reports.numerals import published
from acidtest.reports.papers import (
    PEOPLE,
    accuracies,
    beside,
    condition,
    marked,
    other_conditions,
    papers,
    person,
    scores,
)


def score(system: str, value: float, condition: str | None = "", source: str = "paper", **by: str) -> dict[str, Any]:
    entry = {"system": system, "source": source, "by": by, "value": value}
    return entry if condition is None else entry | {"condition": condition}


def test_numbers_of_an_older_file_without_conditions_are_main_results() -> None:
    old = [score("BERT", 0.1, None, voice="active")]
    assert papers(old, ["voice"]).systems == {"BERT": {"active": 0.1}}
    assert other_conditions(old) == []


def test_only_numbers_of_the_condition_and_the_factors_asked_for_are_given() -> None:
    found = [
        score("BERT", 0.1, voice="active"),
        score("BERT", 0.2, "trained on more", voice="active"),
        score("crowd", 0.3, PEOPLE, voice="active"),
        score("BERT", 0.4),
        score("BERT", 0.5, label="neutral", voice="active"),
    ]
    assert papers(found, ["voice"]).systems == {"BERT": {"active": 0.1}}
    assert papers(found, ["voice"], PEOPLE).systems == {"crowd": {"active": 0.3}}
    assert papers(found, []).systems == {"BERT": {"": 0.4}}
    assert papers(found, ["voice", "label"]).systems == {"BERT": {"active × neutral": 0.5}}
    assert other_conditions(found) == ["trained on more"]


def test_a_system_reported_twice_goes_by_its_source_too() -> None:
    found = [score("BERT", 0.1, voice="active"), score("BERT", 0.2, source="another", voice="active")]
    made = papers(found, ["voice"])
    assert made.systems == {"BERT": {"active": 0.1}, "BERT (another)": {"active": 0.2}}
    assert made.numbers("active") == (0.1, 0.2)
    assert made.numbers("passive") == (None, None)
    assert made.sources == ("paper", "another")


def test_several_models_results_give_each_number_once() -> None:
    one, two = score("BERT", 0.1, voice="active"), score("BERT", 0.2, voice="passive")
    assert scores([{"published": [one, two]}, {"published": [two, one]}, {"published": []}]) == [one, two]


def test_people_are_called_people() -> None:
    assert [person(name) for name in ("crowd workers", "People", "humans")] == [
        "people: crowd workers",
        "People",
        "humans",
    ]


def test_of_two_corpora_the_one_a_suite_was_made_from_is_a_main_result_and_the_other_a_condition() -> None:
    both = [
        score("BERT", 0.1, source="table 3", corpus="MultiNLI matched"),
        score("BERT", 0.2, source="table 3", corpus="MultiNLI mismatched"),
        score("BERT", 0.3, "trained on more", source="table 5", corpus="MultiNLI mismatched"),
        score("BERT", 0.4, source="table 3", label="neutral"),
    ]
    for corpus in ("mnli_dev_matched", "starter", ""):
        found = beside(both, corpus)
        assert papers(found, []).systems == {"BERT": {"": 0.1}}
        assert papers(found, []).sources == ("table 3, MultiNLI matched",)
        assert other_conditions(found) == ["on MultiNLI mismatched", "trained on more, on MultiNLI mismatched"]
    found = beside(both, "mnli_dev_mismatched_recovered")
    assert papers(found, []).systems == {"BERT": {"": 0.2}}
    assert [condition(each) for each in found] == ["on MultiNLI matched", "", "trained on more", ""]
    assert papers(found, ["label"]).systems == {"BERT": {"neutral": 0.4}}


def test_shares_of_errors_and_judgements_of_the_pairs_are_no_accuracies() -> None:
    told = [score("BERT", 0.1, error="false neutral"), score("crowd", 0.9, PEOPLE, judged="grammatical")]
    assert accuracies([*told, score("BERT", 0.5)]) == [score("BERT", 0.5)]


def test_a_corrected_number_shows_what_was_printed_too() -> None:
    entry = score("BERT", 0.931, subcase="since") | {"printed": 1.0, "correction": "the predictions give 0.931"}
    found = papers([entry, score("ESIM", 0.99, subcase="since")], ["subcase"])
    assert [published(number) for number in found.numbers("since")] == ["100 → 93.1", "99"]
    assert found.systems["BERT"]["since"] == 0.931
    assert found.notes == ("BERT, since: the predictions give 0.931",)


def test_how_numbers_differ_is_told_once() -> None:
    made = [score("A", 0.1) | {"differs": ["other pairs"]}, score("B", 0.2) | {"differs": ["other pairs", "more"]}]
    assert papers(made, []).notes == ("other pairs", "more")


def test_columns_with_the_same_note_have_the_same_sign() -> None:
    signs, notes = marked({"a": ["one"], "b": ["two", "one"], "c": [], "d": []})
    assert signs == {"a": "†", "b": "‡†"}
    assert notes == ["† one", "‡ two"]
    many = {str(number): [str(number)] for number in range(5)}
    assert marked(many)[0]["4"] == "††"


def test_a_note_on_most_columns_names_the_others() -> None:
    assert marked({"a": ["one"], "b": ["one", "two"], "c": []}) == ({"b": "†"}, ["† two", "all but c: one"])
    assert marked({"a": ["one"], "b": ["one"], "c": ["one"]}) == ({}, ["all columns: one"])
    assert marked({"a": ["one"]}) == ({"a": "†"}, ["† one"])
