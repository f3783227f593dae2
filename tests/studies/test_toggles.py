"""Items with a cue and without it: the same item and gold, nothing else switched, changed answers first."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import acidtest
from acidtest.core.document import Section, Toggles
from acidtest.core.run import Run
from acidtest.studies.crossed_suites import crossed_suites
from acidtest.studies.profile.document import MOST, toggle_sections

SUITE = crossed_suites()["cues"]
CUES = tuple(SUITE.cues)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A model that sees overlap and nothing else, on three items in each cell: items take turns in what they switch."""
    folder: Path = tmp_path_factory.mktemp("toggles")
    acidtest.save(acidtest.generate("cues", n=6), folder / "cues.parquet")
    return acidtest.run(
        "baseline:overlap", suites=[str(folder / "cues.parquet")], output=folder / "run", page=False
    ).run


def shown(sections: tuple[Section, ...], cue: str) -> Toggles:
    (part,) = sections[CUES.index(cue)].parts
    assert isinstance(part, Toggles)
    return part


def test_both_sides_are_one_item_with_the_same_gold_and_one_cue_switched(run: Run) -> None:
    rows = {row["id"]: row for row in run.predictions.iter_rows(named=True)}
    sections = toggle_sections({"m": run}, SUITE)
    columns = ("material", "form", "negation", "cue_words", "antonym", "number", "length", "misspelling")
    switched = {"hypothesis": "cue_words"} | dict.fromkeys(("overlap", "subsequence", "constituent"), "form")
    for cue in CUES:
        toggles = shown(sections, cue).toggles
        assert len(toggles) == MOST
        for toggle in toggles:
            having, lacking = rows[toggle.having.id], rows[toggle.lacking.id]
            assert having["group"] == lacking["group"]
            assert having["label"] == lacking["label"] == toggle.having.gold
            assert [name for name in columns if having[name] != lacking[name]] == [switched.get(cue, cue)]


def test_changed_answers_come_first_and_are_counted(run: Run) -> None:
    sections = toggle_sections({"m": run}, SUITE)
    forms = run.predictions.filter(pl.col("form").is_in(["none", "overlap"])).sort("form")
    keys = ["group", "label", "negation", "cue_words", "antonym", "number", "length", "misspelling"]
    sides = forms.filter(pl.col("form") == "overlap").join(forms.filter(pl.col("form") == "none"), on=keys)
    changes = int((sides["answer"] != sides["answer_right"]).sum())
    assert sections[0].summary == f"{sides.height:,} items asked both ways; the answer changes in {changes:,}"
    first = shown(sections, "overlap").toggles[0]
    assert first.having.answers["m"].split()[0] == "entailment"
    assert first.lacking.answers["m"].split()[0] != "entailment"


def test_a_sample_without_such_items_says_so(run: Run) -> None:
    one = Run(run.header, run.predictions.head(1))
    (part,) = toggle_sections({"m": one}, SUITE)[0].parts
    assert isinstance(part, Toggles)
    assert not part.toggles
    assert part.caption.startswith("no item of this sample was asked both ways")
