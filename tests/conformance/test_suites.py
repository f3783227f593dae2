"""What every suite promises, run over the registry."""

from __future__ import annotations

import runpy
from functools import cache
from pathlib import Path

import pytest

from acidtest import api
from acidtest.core.checks import find_problems
from acidtest.core.labels import GOLD_MASKS
from acidtest.core.suite import COLUMNS, Suite
from acidtest.suites.catalogue import find_generator

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
CUSTOM = [str(EXAMPLES / name) for name in ("voices.toml", "steady.toml", "weather.py", "weather.py:suite")]
"""Suites as users write them, which promise the same."""

NAMES = [name for name, generator in api.suites().items() if generator.source != "published"] + CUSTOM
"""Every suite that can be had without a file; that of a published one is tested with it, where it lies."""

CERTAINTIES = {"logical", "same-event", "human", "assumed", None}


@cache
def small(name: str, seed: int = 0) -> Suite:
    return api.generate(name, n=20, seed=seed, at_most=True)


@pytest.mark.parametrize("name", NAMES)
def test_a_suite_is_sound_and_warns_of_nothing(name: str) -> None:
    assert [str(problem) for problem in find_problems(small(name))] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_suite_has_its_columns_first_and_knows_its_own(name: str) -> None:
    frame = small(name).frame.collect()
    assert frame.columns[: len(COLUMNS)] == list(COLUMNS)
    assert set(frame["label"]) <= set(GOLD_MASKS)
    assert set(frame["certainty"]) <= CERTAINTIES - {None}, "a generated label says what it rests on"


@pytest.mark.parametrize("name", NAMES)
def test_a_card_counts_what_is_there_and_names_its_source(name: str) -> None:
    suite = small(name)
    frame = suite.frame.collect()
    assert suite.card.rows == frame.height
    assert sum(suite.card.labels.values()) == frame.height
    assert suite.card.citation
    assert suite.card.licence
    assert suite.sealed().card == suite.card


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_suite_and_another_seed_another(name: str) -> None:
    again = api.generate(name, n=20, seed=0, at_most=True)
    assert again.card == small(name).card
    assert again.frame.collect().equals(small(name).frame.collect())
    # Conjuncts are exchanged wherever they can be, which is less often than 20 times in the starter corpus.
    if name != "grounding/conjuncts":
        assert small(name, seed=1).card.fingerprint != again.card.fingerprint


@pytest.mark.parametrize("name", NAMES)
def test_strata_and_crossings_are_columns(name: str) -> None:
    suite = small(name)
    have = suite.frame.collect_schema().names()
    for column in (*suite.card.strata, *(column for crossing in suite.card.crossings for column in crossing)):
        assert column in have


@pytest.mark.parametrize("name", NAMES)
def test_a_whole_suite_has_the_size_in_the_catalogue_and_no_stray_spaces(name: str) -> None:
    suite, generator = api.generate(name), find_generator(name)
    assert generator is not None
    # A user's function or change does not say how many pairs there will be.
    assert suite.card.rows == (generator.rows or suite.card.rows)
    frame = suite.frame.select("premise", "hypothesis").collect()
    for column in frame:
        # A blank line stands between documents.
        stray = column.filter(column.str.contains(r"^\s|\s$|[^\S\n]\s|\s[^\S\n]|\n{3}|\s[.,;:!?]"))
        assert stray.to_list() == []


def test_the_pages_of_suites_are_current() -> None:
    docs = Path(__file__).parents[2] / "docs"
    pages = runpy.run_path(str(docs / "build.py"))["suite_pages"](small)
    for name, page in pages.items():
        written = (docs / "reference" / name).read_text(encoding="utf-8")
        assert written == page, f"docs/reference/{name} is out of date; run: make docs"
    assert {path.name for path in (docs / "reference" / "suites").iterdir()} == {Path(name).name for name in pages}
