"""What layers hold: planted categories are found where they were planted, and maps depend on the seed alone."""

from __future__ import annotations

import json
import sys

import numpy as np
import polars as pl
import pytest

from acidtest.core.errors import AcidtestError
from acidtest.core.suite import Card
from acidtest.stats.probes import group_folds, probe_accuracies, smoothers
from acidtest.stats.shuffles import judged, shuffled_rows
from acidtest.stats.silhouettes import silhouettes
from acidtest.studies.representation import representations
from acidtest.studies.representation_maps import components, layer_maps
from acidtest.studies.representation_results import PROBE, SILHOUETTE, Representations
from acidtest.studies.representation_targets import groups_of, targets_of

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
def found() -> Representations:
    frame = rows()
    return representations(
        layers(frame), frame, card=CARD, model="toy", names=LAYERS, by=["genre"], permutations=99, seed=3
    )


def test_a_category_is_found_from_the_layer_on_where_it_was_planted(found: Representations) -> None:
    firsts = {trace.name: trace.first(PROBE, found.alpha) for trace in found.traces}
    assert firsts == {"label": 2, "connectives": 1, "negation": 1, "boolean": None, "world": None, "genre": None}
    nearer = {trace.name: trace.first(SILHOUETTE, found.alpha) for trace in found.traces}
    assert nearer["negation"] == 1
    assert nearer["label"] == 2
    assert nearer["boolean"] is None
    negation = found.traces[2].measures[PROBE]
    assert negation[0].estimate.value < 0.65 < 0.9 < negation[1].estimate.low
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
            small[measure] += judged(values).p[0] <= 0.05
    # With p at most 0.05 in 5 %, more than 16 of 150 would be seen once in 500 times (binomial).
    assert max(small.values()) <= 16


def test_a_category_of_few_pairs_has_a_note_and_no_number(found: Representations) -> None:
    world = next(trace for trace in found.traces if trace.name == "world")
    assert world.n == 5
    assert all(not one.estimate.known and "only 3 groups" in one.estimate.note for one in world.measures[PROBE])
    assert world.best(PROBE) is None
    assert found.notes[0].startswith("world: only 3 groups of pairs on one side")


def test_the_result_is_json_with_null_for_what_is_not_known(found: Representations) -> None:
    told = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert told["groups"] == 120
    assert told["targets"][2]["probe"]["first"] == "layer 1"
    assert told["targets"][4]["probe"]["layers"]["layer 2"]["value"] is None


def test_the_same_seed_gives_the_same_numbers(found: Representations) -> None:
    frame = rows()
    again = representations(
        layers(frame), frame, card=CARD, model="toy", names=LAYERS, by=["genre"], permutations=99, seed=3
    )
    assert again.to_json() == found.to_json()


def test_groups_of_categories_are_those_of_the_taxonomy() -> None:
    assert groups_of(("lexical", "negation", "boolean", "causal", "world")) == {
        "linguistic": ("lexical",),
        "connectives": ("negation", "boolean"),
        "deductions": ("causal",),
        "knowledge": ("world",),
    }
    targets = targets_of(rows(), CARD)
    # A group with one category would say the same twice; of two values one says it all, of three each.
    assert [(target.name, target.columns.shape[1]) for target in targets] == [
        ("label", 3),
        ("connectives", 1),
        ("negation", 1),
        ("boolean", 1),
        ("world", 1),
    ]
    with pytest.raises(AcidtestError, match="genres"):
        targets_of(rows(), CARD, ["genres"])


def test_a_suite_without_categories_is_probed_for_its_label() -> None:
    frame = rows().drop("negation", "boolean", "world")
    found = representations(
        layers(rows()), frame, card=Card("plain"), model="toy", names=LAYERS, permutations=19, seed=0
    )
    assert [trace.name for trace in found.traces] == ["label"]


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
        found = components(part)
        far = np.linalg.norm(layer[:, None] - layer, axis=2)
        assert np.linalg.norm(found[:, None] - found, axis=2) == pytest.approx(far, abs=1e-3)
        assert (found[np.abs(found[:, :8]).argmax(axis=0), range(8)] > 0).all()


def test_maps_without_scikit_learn_name_the_line_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.manifold", None)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(AcidtestError, match=r"pip install 'acidtest\[factors\]'"):
        layer_maps(np.zeros((1, 10, 3), np.float32))
