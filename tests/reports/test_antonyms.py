"""Easy and hard antonyms as a person reads them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.console import Console

from acidtest.core.estimate import Estimate
from acidtest.core.suite import Card
from acidtest.reports.antonyms import antonym_tables, type_tables
from acidtest.studies.antonym_types import AntonymTypes
from acidtest.studies.antonyms import Antonyms, Part, Rivalry

FROM_MNLI = Card("stress/antonymy", arguments={"from": "mnli_dev_matched", "wsd": "context"})


def shown(parts: list[object]) -> str:
    console = Console(width=140, record=True)
    for part in parts:
        console.print(part)
    return " ".join(console.export_text().split())


def rivals(weaker: float, other: float) -> Antonyms:
    import polars as pl

    parts = {
        name: Part(1, 1, Estimate(0.5, n=1), Estimate(value, n=1))
        for name, value in (("the weaker", weaker), ("only the stronger", other))
    }
    return Antonyms({}, pl.DataFrame(), {}, {}, Rivalry("big", "small", parts, p=0.5), train="t")


@pytest.mark.parametrize(
    ("weaker", "other", "said"),
    [
        (
            3,
            2,
            "Antonyms the weaker knows occur 1.5 times as often in training as those only the stronger knows (p 0.5",
        ),
        (3, 0, "Antonyms the weaker knows occur in training, those only the stronger knows do not (p 0.5000;"),
        (0, 0, "Neither the antonyms the weaker knows nor those only the stronger knows occur in training (p 0.5000;"),
    ],
)
def test_whose_antonyms_are_more_frequent_is_a_sentence(weaker: float, other: float, said: str) -> None:
    assert said in shown(antonym_tables(rivals(weaker, other)))


def test_typed_pairs_that_no_run_has_are_told() -> None:
    share = {"gradable": Estimate(1.0, n=1), "relational": Estimate(0.0, n=1), "complementary": Estimate(0.0, n=1)}
    found = AntonymTypes(dict.fromkeys(("easy", "mixed", "hard"), share), {}, not_asked=2)
    assert "not in the runs, left out: 2 typed pairs" in shown(type_tables(found))


def test_published_types_are_of_examples_and_say_so() -> None:
    share = {"gradable": Estimate(1.0, n=1), "relational": Estimate(0.0, n=1), "complementary": Estimate(0.0, n=1)}
    told = shown(type_tables(AntonymTypes(dict.fromkeys(("easy", "mixed", "hard"), share), {})))
    assert "Published: Balazs et al. (2017), RiverCorners and Chen et al. (2017), Naik et al. 2018, section 4.3" in told
    assert "the published shares are of 100 examples, ours of pairs of antonyms, each counted once" in told
    assert "not from" not in told


def test_published_antonyms_are_of_pairs_made_otherwise_and_say_so() -> None:
    assert "the published pairs are made otherwise" in shown(antonym_tables(replace(rivals(1, 1), card=FROM_MNLI)))
