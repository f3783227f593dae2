"""Published numbers: under which condition, beside which slice."""

from __future__ import annotations

from typing import Any

from acidtest.reports.papers import PEOPLE, other_conditions, papers, person, scores


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
