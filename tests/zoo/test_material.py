"""What networks learn from: several files, suites besides, what is left out, and what is said of it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'acidtest[zoo]'")

from acidtest import api  # noqa: E402
from acidtest.core.errors import AcidtestError, UnknownNameError  # noqa: E402
from acidtest.workflows.training import plan_training  # noqa: E402
from acidtest.workflows.training.pairs import GatheredPairs, gather_pairs  # noqa: E402
from acidtest.zoo.pairs import PairError  # noqa: E402

Rows = list[dict[str, str]]
Write = Callable[[str, Rows], Path]


def found(material: api.Material, *, merged: bool = False) -> GatheredPairs:
    return gather_pairs(material, plan_training("cbow", settings={"merged": merged}))


def test_files_of_different_layouts_and_labels_are_learnt_from_together(train_file: Path, tmp_path: Path) -> None:
    other = tmp_path / "hans.tsv"
    other.write_text(
        "gold_label\tsentence1\tsentence2\tpairID\theuristic\tsubcase\n"
        "non-entailment\tThe judge saw the nurse.\tThe nurse saw the judge.\tex1\tlexical_overlap\tln_swap\n"
        "entailment\tThe judge and the nurse ran.\tThe judge ran.\tex2\tlexical_overlap\tle_conjunction\n"
    )
    numbered = tmp_path / "numbered.csv"
    numbered.write_text(
        "premise,hypothesis,label\nA dog barks.,It sleeps.,-1\nA dog barks.,A dog makes noise.,0\n"
        "A dog barks.,It naps.,2\n"
    )
    train = found(api.Material([train_file, other, numbered])).train
    assert train.labels == {"entailment": 20, "neutral": 18, "contradiction": 19, "non-entailment": 1}
    sources = train.frame.group_by("source", maintain_order=True).len().rows()
    assert sources == [(str(train_file), 54), (str(other), 2), (str(numbered), 2)]


def test_rows_without_gold_are_counted(rows: Rows, pair_file: Write) -> None:
    path = pair_file("train.jsonl", [*rows[:3], {**rows[3], "label": "-"}])
    (part,) = found(api.Material([path])).files
    assert (len(part.pairs), part.without_gold) == (3, 1)


def test_a_label_that_teaches_nothing_names_file_and_pair(train_file: Path, rows: Rows, pair_file: Write) -> None:
    path = pair_file("sets.jsonl", [rows[0], {**rows[1], "label": "non-contradiction"}])
    assert len(found(api.Material([train_file, path])).train) == 56
    with pytest.raises(AcidtestError, match=r"sets\.jsonl, pair 2: label 'non-contradiction' teaches nothing"):
        found(api.Material([train_file, path]), merged=True)


def test_a_sample_keeps_the_shares_of_files_and_labels_and_lies_in_a_larger_one(
    train_file: Path, dev_file: Path
) -> None:
    small, large = (found(api.Material([train_file, dev_file], limit=limit)) for limit in (24, 48))
    assert [part.pairs.labels for part in small.files] == [
        {"entailment": 6, "neutral": 6, "contradiction": 6},
        {"entailment": 2, "neutral": 2, "contradiction": 2},
    ]
    assert set(small.train.keys) < set(large.train.keys)
    assert len(found(api.Material([train_file], limit=1000)).train) == 54


def test_a_pair_is_named_by_its_place_in_its_file_whatever_was_left_out(
    train_file: Path, dev_file: Path, rows: Rows
) -> None:
    train = found(api.Material([train_file, dev_file], limit=24)).train
    own = {str(train_file): rows[:54], str(dev_file): rows[54:]}
    places = []
    for row in range(24):
        with pytest.raises(AcidtestError) as told, train.locate_errors():
            raise PairError(row, "is odd")
        name, _, place = str(told.value).removesuffix(": is odd").partition(", pair ")
        assert own[name][int(place) - 1]["hypothesis"] == train.frame["hypothesis"][row]
        assert own[name][int(place) - 1]["premise"] == train.frame["premise"][row]
        places.append(int(place))
    assert max(places) > 24


def test_augmenting_pairs_are_named_by_their_place_in_the_suite(train_file: Path) -> None:
    suite = api.generate("hans", n=1, seed=1)
    frame = suite.frame.collect()
    material = api.Material([train_file], tests=[replace(suite, frame=frame.head(20).lazy())], augment=[suite])
    part = found(material).suites[0].pairs
    with pytest.raises(AcidtestError, match=r"hans, pair 21: is odd"), part.locate_errors():
        raise PairError(0, "is odd")


def test_random_vectors_that_stay_are_refused() -> None:
    for name, preset, settings in (
        ("decomposable-attention", "mccoy2019", {}),
        ("spinn", "mccoy2019", {}),
        ("cbow", "", {"embeddings_tuned": False}),
    ):
        with pytest.raises(AcidtestError, match=rf"{name}.*random.*--embeddings FILE, or --tuned"):
            plan_training(name, preset, settings=settings)
    assert plan_training("spinn", "mccoy2019", settings={"embeddings_tuned": True}).embeddings_tuned
    assert not plan_training("spinn", "mccoy2019", settings={"embeddings": "glove.txt"}).embeddings_tuned
    # It has no vectors.
    plan_training("naive-bayes", settings={"embeddings_tuned": False})


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("cbow", {"hidden": "0"}, "cbow: --hidden is a whole number from 1 on, not 0"),
        ("cbow", {"dropout": "2"}, "cbow: --dropout is a share from 0 to below 1, not 2"),
        ("cbow", {"dropout": "nan"}, "cbow: --dropout is a share from 0 to below 1, not nan"),
        ("spinn", {"leaf_dropout": "-0.1"}, "spinn: --leaf-dropout is a share from 0 to below 1, not -0.1"),
        ("residual-stacked", {"stacked": "0"}, "--stacked is a whole number from 1 on, not 0"),
        ("gated-attention", {"stacked": "-1"}, "--stacked is a whole number from 1 on, not -1"),
    ],
)
def test_sizes_and_shares_without_sense_are_refused(name: str, arguments: dict[str, str], message: str) -> None:
    with pytest.raises(AcidtestError, match=message):
        plan_training(name, arguments=arguments)


def test_pairs_that_are_learnt_from_and_scored_are_counted(
    train_file: Path, rows: Rows, pair_file: Write, caplog: pytest.LogCaptureFixture
) -> None:
    both = pair_file("both.jsonl", rows[50:60])
    assert found(api.Material([train_file], both)).leaks == {str(both): 4}
    assert f"{both}: 4 of its pairs are also learnt from" in caplog.text


def test_a_label_that_no_pair_has_is_warned_of(rows: Rows, pair_file: Write, caplog: pytest.LogCaptureFixture) -> None:
    path = pair_file("two.jsonl", [row for row in rows if row["label"] != "neutral"])
    found(api.Material([path]))
    assert "no pair to learn from is neutral: the network will not tell it from the others" in caplog.text
    caplog.clear()
    found(api.Material([path]), merged=True)
    assert "no pair to learn from" not in caplog.text


def test_what_does_nothing_is_said(train_file: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="acidtest"):
        plan_training("naive-bayes", recipe={"epochs": 5}, settings={"embeddings": "glove.txt", "merged": True})
        found(api.Material([train_file], augment=["hans"], augment_n=2, limit=1000))
    assert "naive-bayes does nothing with --embeddings, --epochs" in caplog.text
    assert "--limit 1,000: there are only 54 pairs" in caplog.text
    assert "hans: 60 pairs are learnt from, too" in caplog.text


def test_augmenting_pairs_that_are_scored_are_not_learnt_from(train_file: Path, tmp_path: Path) -> None:
    suite = api.generate("hans", n=2, seed=1)
    path = tmp_path / "scored.parquet"
    api.save(suite, path)
    part = pl.read_parquet(path).head(20)
    part.write_parquet(path)
    material = api.Material([train_file], tests=[path], augment=["hans"], augment_n=2)
    made = found(material)
    assert made.suites[0].repeated == 20
    assert len(made.suites[0].pairs) == 40
    assert made.leaks == {}


def test_withheld_subcases_are_not_among_the_augmenting_pairs(train_file: Path) -> None:
    withheld = ["ln_preposition", "se_adjective"]
    material = api.Material([train_file], augment=["hans"], augment_n=3, withhold=withheld)
    made = found(material).suites[0].pairs
    suite = api.generate("hans", n=3, seed=1).frame.collect()
    kept = suite.filter(~pl.col("subcase").is_in(withheld))
    assert made.frame.drop("source", "row").equals(kept.select("premise", "hypothesis", "label"))
    assert len(made) == 28 * 3


def test_what_cannot_be_withheld_is_said(train_file: Path) -> None:
    with pytest.raises(AcidtestError, match="there is no --augment"):
        found(api.Material([train_file], withhold=["ln_preposition"]))
    with pytest.raises(UnknownNameError, match="'ln_prepositions'; did you mean 'ln_preposition'"):
        found(api.Material([train_file], augment=["hans"], augment_n=1, withhold=["ln_prepositions"]))
    with pytest.raises(AcidtestError, match="has no subcases to withhold"):
        found(api.Material([train_file], augment=["stress/numerical"], withhold=["ln_preposition"]))
