"""Trains the architectures of the papers on a user's pairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acidtest.core.errors import AcidtestError, import_optional
from acidtest.core.logs import note, stage
from acidtest.core.registry import parse_options
from acidtest.workflows.training.pairs import Material as Material
from acidtest.workflows.training.pairs import gather_pairs
from acidtest.workflows.training.records import score_estimates, spread_over_seeds, write_record, write_seeds_record

if TYPE_CHECKING:
    from acidtest.core.registry import Option
    from acidtest.zoo.catalogue import Architecture
    from acidtest.zoo.trainer import TrainerOptions
    from acidtest.zoo.training import TrainingOptions
    from acidtest.zoo.training import TrainingResult as TrainingResult

Progress = Callable[[int, int], None]
Watch = Callable[[str], None]

_VECTOR_FLAGS = {"embeddings": "--embeddings", "dimensions": "--dimensions", "embeddings_tuned": "--tuned or --fixed"}
_STEP_SETTINGS = ("epochs", "batch_size", "learning_rate", "patience", "precision")
"""Settings without effect on a network that is fitted in one step."""


def architectures() -> Mapping[str, Architecture]:
    """The architectures that can be trained, by name."""
    from acidtest.zoo import catalogue

    return catalogue.architectures()


def architecture_options(name: str) -> Mapping[str, Option]:
    """The options that only this architecture has."""
    from acidtest.zoo.catalogue import architecture

    _require_torch()
    return architecture(name).options


def train(
    name: str,
    material: Material,
    *,
    output: str | Path,
    preset: str = "",
    arguments: Mapping[str, str | bool] | None = None,
    recipe: Mapping[str, Any] | None = None,
    seeds: Sequence[int] = (0,),
    embeddings: str | None = None,
    dimensions: int | None = None,
    embeddings_tuned: bool | None = None,
    merged: bool | None = None,
    hypothesis_only: bool | None = None,
    device: str | None = None,
    progress: Progress = lambda done, total: None,
    watch: Watch = lambda state: None,
) -> list[TrainingResult]:
    """Train an architecture once for each seed, in the folder ``output``, or in a folder below it for each of several.

    ``preset`` names the settings of a paper, ``arguments`` are options of the architecture, ``recipe`` those of the
    trainer. A folder that holds the same training is continued, or returned where it is finished. ``progress`` is
    called with the number of pairs learnt from over all seeds, ``watch`` with a description of the state.
    """
    from acidtest.zoo.training import TrainingData, train_network

    _require_torch()
    if not seeds or len(set(seeds)) < len(seeds) or min(seeds) < 0:
        shown = ",".join(map(str, seeds)) or "empty"
        raise AcidtestError(f"--seeds is a list of different whole numbers from 0 on, such as 0,1,2, not {shown}")
    if (output := Path(output)).is_file():
        raise AcidtestError(f"-o {output} is a file; name a folder to train in")
    settings = {
        "embeddings": embeddings,
        "dimensions": dimensions,
        "embeddings_tuned": embeddings_tuned,
        "merged": merged,
        "hypothesis_only": hypothesis_only,
        "device": device,
    }
    plan = plan_training(name, preset, arguments=arguments, recipe=recipe, settings=settings)
    stage("reading pairs")
    data = gather_pairs(material, plan)
    tests = {part.name: part.pairs for part in data.tests}
    training_data = TrainingData(plan, data.train, data.dev.pairs if data.dev else None, tests)
    several = len(seeds) > 1
    networks = []
    for number, seed in enumerate(seeds):
        network = train_network(
            training_data,
            seed=seed,
            folder=output / f"seed-{seed}" if several else output,
            progress=partial(_share_progress, progress, number, len(seeds)),
            watch=partial(_watch_seed, watch, seed) if several else watch,
        )
        write_record(network, data, preset)
        networks.append(network)
    if several:
        write_seeds_record(networks, output)
    return networks


def _share_progress(progress: Progress, number: int, seeds: int, done: int, total: int) -> None:
    """Report the progress of one seed's training as part of that over all seeds."""
    progress(number * total + done, seeds * total)


def _watch_seed(watch: Watch, seed: int, state: str) -> None:
    watch(f"seed {seed}, {state}")


def training_json(networks: Sequence[TrainingResult]) -> dict[str, Any]:
    return {
        "networks": [
            {
                "model": network.spec,
                "again": network.again,
                "seed": network.options.recipe.seed,
                "best_epoch": network.best["epoch"],
                "seconds": network.seconds,
                "curve": network.state.curve,
                "scores": {name: estimate.to_json() for name, estimate in score_estimates(network).items()},
                "made": dict(network.made),
            }
            for network in networks
        ],
        "over_seeds": spread_over_seeds(networks) if len(networks) > 1 else None,
    }


def plan_training(
    name: str,
    preset: str = "",
    *,
    arguments: Mapping[str, str | bool] | None = None,
    recipe: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> TrainingOptions:
    """The options of a training: a preset, overridden by the given values; the arguments are those of ``train``."""
    from acidtest.zoo.catalogue import architecture
    from acidtest.zoo.trainer import TrainerOptions
    from acidtest.zoo.training import TrainingOptions

    kind = architecture(name)
    of_recipe, of_plan = ({field.name for field in fields(shape)} for shape in (TrainerOptions, TrainingOptions))
    options, trainer, chosen = dict[str, Any](), dict[str, Any](), dict[str, Any]()
    for key, value in kind.preset(preset).items():
        (trainer if key in of_recipe else chosen if key in of_plan else options)[key] = value
    options |= parse_options(kind.options, arguments or {}, name)
    given = {key: value for key, value in (settings or {}).items() if value is not None}
    plan = TrainingOptions(name, options, TrainerOptions(**{**trainer, **(recipe or {})}), **{**chosen, **given})
    _check_values(name, options, plan.recipe)
    if plan.dimensions < 1:
        raise AcidtestError(f"--dimensions is a whole number from 1 on, not {plan.dimensions}")
    if kind.reads_words and plan.embeddings == "random" and not plan.embeddings_tuned:
        # Random vectors that are never learnt would only say which words are the same.
        source = f" with the preset {preset}" if preset else ""
        raise AcidtestError(
            f"{name}{source} leaves the vectors of words as they are, and these are random; "
            f"add --embeddings FILE, or --tuned to learn them"
        )
    _note_unused(kind, [*given, *(recipe or {})])
    return plan


def _check_values(name: str, options: Mapping[str, Any], recipe: TrainerOptions) -> None:
    """Refuse sizes below 1, dropout outside [0, 1), trainer settings not above 0, and unknown precisions."""
    for key, value in options.items():
        flag = f"{name}: --{key.replace('_', '-')}"
        if isinstance(value, int) and not isinstance(value, bool) and value < 1:
            raise AcidtestError(f"{flag} is a whole number from 1 on, not {value}")
        if key.endswith("dropout") and not 0 <= value < 1:
            raise AcidtestError(f"{flag} is a share from 0 to below 1, not {value:g}")
    for key in ("epochs", "batch_size", "learning_rate", "patience"):
        if not getattr(recipe, key) > 0:
            raise AcidtestError(f"--{key.replace('_', '-')} is a number above 0, not {getattr(recipe, key)}")
    if recipe.precision not in ("auto", "full", "bf16"):
        raise AcidtestError(f"--precision is auto, full or bf16, not {recipe.precision!r}")


def _note_unused(kind: Architecture, given: Sequence[str]) -> None:
    """Log which of the given settings have no effect on an architecture."""
    unused = {} if kind.reads_words else dict(_VECTOR_FLAGS)
    if kind.fits_at_once:
        unused |= {name: f"--{name.replace('_', '-')}" for name in _STEP_SETTINGS}
    flags = [flag for name, flag in unused.items() if name in given]
    if flags:
        note("%s does nothing with %s", kind.name, ", ".join(flags))


def _require_torch() -> None:
    import_optional("torch", "safetensors", extra="zoo", work="training")
