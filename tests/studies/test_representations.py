"""What layers hold: planted categories are found where they were planted, and maps depend on the seed alone."""

from __future__ import annotations

import json
import sys

import numpy as np
import polars as pl
import pytest

from acidtest.core.errors import AcidtestError
from acidtest.core.serialise import to_json
from acidtest.core.suite import Card
from acidtest.stats.probes import group_folds, probe_accuracies, shuffle_test, shuffled_rows, silhouettes, smoothers
from acidtest.studies.representations import (
    PROBE,
    SILHOUETTE,
    RepresentationsResult,
    find_targets,
    group_categories,
    layer_maps,
    principal_components,
    representations,
)

CARD = Card("toy", columns={"negation": "factor", "boolean": "factor", "world": "factor", "genre": "factor"})
LAYERS = ("embeddings", "layer 1", "layer 2")


def rows(n: int = 240) -> pl.DataFrame:
    """Pairs, two to a premise, with three categories, the last of which hardly any has."""
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "id": [str(number) for number in range(n)],
            "premise": [f"Premise {number // 2}." for number in range(n)],
            "hypothesis": [f"<b>Hypothesis {number}." for number in range(n)],
            "label": rng.choice(["entailment", "neutral", "contradiction"], n),
            "group": [f"Premise {number // 2}." for number in range(n)],
            "negation": rng.random(n) < 0.3,
            "boolean": rng.random(n) < 0.2,
            "world": np.arange(n) < 5,
            "genre": rng.choice(["fiction", "travel"], n),
        }
    )


def layers(frame: pl.DataFrame, width: int = 12) -> np.ndarray:
    """Noise, in which negation can be seen from layer 1 on and the label on layer 2."""
    made = np.random.default_rng(4).normal(size=(len(LAYERS), frame.height, width))
    made[1:, :, 0] += 3 * frame["negation"].to_numpy()
    made[2, :, 1] += 3 * (frame["label"] == "neutral").to_numpy()
    made[2, :, 2] += 3 * (frame["label"] == "entailment").to_numpy()
    return made.astype(np.float32)


@pytest.fixture(scope="module")
def found() -> RepresentationsResult:
    frame = rows()
    return representations(
        layers(frame), frame, card=CARD, model="toy", names=LAYERS, by=["genre"], permutations=99, seed=3
    )


def test_a_category_is_found_from_the_layer_on_where_it_was_planted(found: RepresentationsResult) -> None:
    assert {target.name: target.probe.first for target in found.targets} == {
        "label": "layer 2",
        "connectives": "layer 1",
        "negation": "layer 1",
        "boolean": None,
        "world": None,
        "genre": None,
    }
    nearer = {target.name: target.silhouette.first for target in found.targets}
    assert nearer["negation"] == "layer 1"
    assert nearer["label"] == "layer 2"
    assert nearer["boolean"] is None
    negation = list(found.targets[2].probe.layers.values())
    assert negation[0].value < 0.65 < 0.9 < negation[1].low
    assert negation[1].baseline.value == pytest.approx(0.5, abs=0.03)
    assert negation[1].p == pytest.approx(1 / 100)


def test_of_nothing_one_in_twenty_measures_is_found() -> None:
    rng = np.random.default_rng(5)
    groups = np.arange(80) // 2
    small = {PROBE: 0, SILHOUETTE: 0}
    for _ in range(150):
        # Pairs of a premise are alike both on the layer and in their label.
        layer = (rng.normal(size=(40, 6))[groups] + rng.normal(size=(80, 6))).astype(np.float32)
        labels = (rng.normal(size=40)[groups] + rng.normal(size=80) > 0.7)[:, None]
        dealt = shuffled_rows(groups, 19, rng)
        tried = probe_accuracies(smoothers(layer, group_folds(groups, rng)), labels, dealt=dealt)
        lain = silhouettes(layer, groups, labels=labels, dealt=dealt)
        for measure, values in ((PROBE, tried), (SILHOUETTE, lain)):
            small[measure] += shuffle_test(values).p[0] <= 0.05
    # With p at most 0.05 in 5 %, more than 16 of 150 would be seen once in 500 times (binomial).
    assert max(small.values()) <= 16


def test_a_category_of_few_pairs_has_a_note_and_no_number(found: RepresentationsResult) -> None:
    world = next(target for target in found.targets if target.name == "world")
    assert world.n == 5
    assert all(not score.known and "only 3 groups" in score.note for score in world.probe.layers.values())
    assert world.probe.best is None
    assert found.notes[0].startswith("world: only 3 groups of pairs on one side")


def test_the_result_is_json_with_null_for_what_is_not_known(found: RepresentationsResult) -> None:
    told = json.loads(json.dumps(to_json(found), allow_nan=False))
    assert told["groups"] == 120
    assert told["targets"][2]["probe"]["first"] == "layer 1"
    assert told["targets"][4]["probe"]["layers"]["layer 2"]["value"] is None


def test_the_same_seed_gives_the_same_numbers(found: RepresentationsResult) -> None:
    frame = rows()
    again = representations(
        layers(frame), frame, card=CARD, model="toy", names=LAYERS, by=["genre"], permutations=99, seed=3
    )
    assert to_json(again) == to_json(found)


def test_groups_of_categories_are_those_of_the_taxonomy() -> None:
    assert group_categories(("lexical", "negation", "boolean", "causal", "world")) == {
        "linguistic": ("lexical",),
        "connectives": ("negation", "boolean"),
        "deductions": ("causal",),
        "knowledge": ("world",),
    }
    targets = find_targets(rows(), CARD)
    # A group with one category would say the same twice; of two values one says it all, of three each.
    assert [(target.name, target.columns.shape[1]) for target in targets] == [
        ("label", 3),
        ("connectives", 1),
        ("negation", 1),
        ("boolean", 1),
        ("world", 1),
    ]
    with pytest.raises(AcidtestError, match="genres"):
        find_targets(rows(), CARD, ["genres"])


def test_all_pairs_of_a_label_with_two_values_are_counted() -> None:
    labels = pl.Series("label", ["entailment", "entailment", "non-entailment", None])
    (target,) = find_targets(pl.DataFrame({"label": labels}), CARD)
    assert (target.columns.shape[1], target.n) == (1, 3)


def test_a_suite_without_categories_is_probed_for_its_label() -> None:
    frame = rows().drop("negation", "boolean", "world")
    found = representations(
        layers(rows()), frame, card=Card("plain"), model="toy", names=LAYERS, permutations=19, seed=0
    )
    assert [target.name for target in found.targets] == ["label"]


def test_maps_depend_on_the_seed_alone_and_lie_as_the_ones_before() -> None:
    pytest.importorskip("sklearn")
    frame = rows(60)
    made = layers(frame)
    maps = layer_maps(np.stack([made[1], made[1], made[2]]), seed=1)
    assert maps.shape == (3, 60, 2)
    assert np.array_equal(maps, layer_maps(np.stack([made[1], made[1], made[2]]), seed=1))
    assert maps[0] == pytest.approx(maps[1], abs=1e-5)
    # The planted category is on one side of its map.
    with_it = frame["negation"].to_numpy()
    centres = maps[0][with_it].mean(axis=0) - maps[0][~with_it].mean(axis=0)
    assert np.linalg.norm(centres) > 0.3


def test_principal_components_keep_distances_and_have_fixed_signs() -> None:
    layer = np.random.default_rng(0).normal(size=(30, 8)).astype(np.float32)
    for part in (layer, np.concatenate([layer, np.zeros((30, 40), np.float32)], axis=1)):
        found = principal_components(part)
        far = np.linalg.norm(layer[:, None] - layer, axis=2)
        assert np.linalg.norm(found[:, None] - found, axis=2) == pytest.approx(far, abs=1e-3)
        assert (found[np.abs(found[:, :8]).argmax(axis=0), range(8)] > 0).all()


def test_maps_without_scikit_learn_name_the_line_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.manifold", None)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(AcidtestError, match=r"pip install 'acidtest\[factors\]'"):
        layer_maps(np.zeros((1, 10, 3), np.float32))
