"""Networks of the papers, trained on a user's pairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acidtest.core.errors import AcidtestError
from acidtest.core.extras import required
from acidtest.core.logs import note, stage
from acidtest.core.options import parsed_options
from acidtest.workflows.training_pairs import Material as Material
from acidtest.workflows.training_pairs import gathered
from acidtest.workflows.training_records import estimates, record, record_seeds, spread

if TYPE_CHECKING:
    from acidtest.core.estimate import Estimate
    from acidtest.core.options import Option
    from acidtest.zoo.catalogue import Architecture
    from acidtest.zoo.training import TrainingOptions
    from acidtest.zoo.training import TrainingResult as TrainingResult

Progress = Callable[[int, int], None]
Watch = Callable[[str], None]


def architectures() -> Mapping[str, Architecture]:
    """The architectures that can be trained, by name."""
    from acidtest.zoo.catalogue import architectures as known

    return known()


def architecture_options(name: str) -> Mapping[str, Option]:
    """The options of an architecture's own."""
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
    progress: Progress = lambda done, total: None,
    watch: Watch = lambda told: None,
    **settings: Any,
) -> list[TrainingResult]:
    """An architecture trained on pairs, once for each seed; the folder, or one in it for each of several seeds.

    ``preset`` names a paper's settings; ``arguments`` are the architecture's own options, ``recipe`` the trainer's,
    ``settings`` those of ``Study``: embeddings, dimensions, embeddings_tuned, merged, hypothesis_only, device.
    A folder that holds the same training is gone on with, or told of where it is finished. ``progress`` is told how
    many pairs have been learnt from, over all seeds, ``watch`` how it stands, in words.
    """
    _require_torch()
    from acidtest.zoo.training import TrainingData, train_network

    if not seeds or len(set(seeds)) < len(seeds) or min(seeds) < 0:
        shown = ",".join(map(str, seeds)) or "empty"
        raise AcidtestError(f"--seeds is a list of different whole numbers from 0 on, such as 0,1,2, not {shown}")
    if Path(output).is_file():
        raise AcidtestError(f"-o {output} is a file; name a folder to train in")
    study = planned(name, preset, arguments=arguments, recipe=recipe, settings=settings)
    stage("reading pairs")
    pairs = gathered(material, study)
    lesson = TrainingData(
        study, pairs.train, pairs.dev.pairs if pairs.dev else None, {part.name: part.pairs for part in pairs.tests}
    )
    folders = [Path(output)] if len(seeds) == 1 else [Path(output) / f"seed-{seed}" for seed in seeds]
    found = []
    for number, (seed, folder) in enumerate(zip(seeds, folders, strict=True)):
        each = train_network(
            lesson,
            seed=seed,
            folder=folder,
            progress=_of_all(progress, number, len(seeds)),
            watch=watch if len(seeds) == 1 else _of_seed(watch, seed),
        )
        record(each, pairs, preset)
        found.append(each)
    if len(found) > 1:
        record_seeds(found, Path(output))
    return found


def training_estimates(trained: TrainingResult) -> dict[str, Estimate]:
    """The share of the pairs of each file scored that is right, with its 95 % interval."""
    return estimates(trained)


def training_spread(trained: Sequence[TrainingResult]) -> dict[str, dict[str, float]]:
    """Of each score the mean over several seeds, its standard deviation, and the lowest and highest."""
    return spread(trained)


def training_json(trained: Sequence[TrainingResult]) -> dict[str, Any]:
    """What came of trainings, for machines."""
    networks = [
        {
            "model": f"zoo:{each.folder}",
            "again": each.again,
            "seed": each.study.recipe.seed,
            "best_epoch": each.best["epoch"],
            "seconds": each.seconds,
            "curve": each.state.curve,
            "scores": {name: one.to_json() for name, one in estimates(each).items()},
            "made": dict(each.made),
        }
        for each in trained
    ]
    return {"networks": networks, "over_seeds": spread(trained) if len(trained) > 1 else None}


def _of_all(progress: Progress, number: int, seeds: int) -> Progress:
    """Progress of one training as part of that of all."""
    return lambda done, total: progress(number * total + done, seeds * total)


def _of_seed(watch: Watch, seed: int) -> Watch:
    return lambda told: watch(f"seed {seed}, {told}")


def planned(
    name: str,
    preset: str = "",
    *,
    arguments: Mapping[str, str | bool] | None = None,
    recipe: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> TrainingOptions:
    """What would be trained: a preset, and over it what is given; the arguments are those of ``train``."""
    from acidtest.zoo.catalogue import architecture
    from acidtest.zoo.trainer import TrainerOptions
    from acidtest.zoo.training import TrainingOptions

    kind = architecture(name)
    told = dict(kind.preset(preset))
    of_recipe = {each.name for each in fields(TrainerOptions)}
    of_study = {each.name for each in fields(TrainingOptions)}
    own = {key: value for key, value in told.items() if key not in of_recipe | of_study}
    own |= parsed_options(kind.options, arguments or {}, name)
    _check_options(name, kind.options, own)
    study = TrainingOptions(name, own, _checked(TrainerOptions(**{**_picked(told, of_recipe), **(recipe or {})})))
    given = {key: value for key, value in (settings or {}).items() if value is not None}
    study = replace(study, **{**_picked(told, of_study), **given})
    _check_vectors(study, preset)
    _note_unused(kind, [*given, *(recipe or {})])
    return study


def _check_options(name: str, options: Mapping[str, Option], given: Mapping[str, Any]) -> None:
    """Refuse sizes of nothing, and shares that are none."""
    for key, value in given.items():
        if isinstance(value, int) and not isinstance(value, bool) and value < 1:
            raise AcidtestError(f"{name}: {options[key].flag} is a whole number from 1 on, not {value}")
        if key.endswith("dropout") and not 0 <= value < 1:
            raise AcidtestError(f"{name}: {options[key].flag} is a share from 0 to below 1, not {value:g}")


def _note_unused(kind: Architecture, given: Sequence[str]) -> None:
    """Say which of the settings given do nothing for an architecture."""
    flags = {"embeddings": "--embeddings", "dimensions": "--dimensions", "embeddings_tuned": "--tuned or --fixed"}
    unused = {} if kind.reads_words else flags
    if kind.fitted is not None:
        steps = ("epochs", "batch_size", "learning_rate", "patience", "precision")
        unused = unused | {name: f"--{name.replace('_', '-')}" for name in steps}
    found = [flag for name, flag in unused.items() if name in given]
    if found:
        note("%s does nothing with %s", kind.name, ", ".join(found))


def _check_vectors(study: TrainingOptions, preset: str) -> None:
    """Refuse vectors that are drawn by chance and never learnt: they would say of words only which are the same."""
    from acidtest.zoo.catalogue import architecture

    if study.dimensions < 1:
        raise AcidtestError(f"--dimensions is a whole number from 1 on, not {study.dimensions}")
    reads_words = architecture(study.architecture).reads_words
    if reads_words and study.embeddings == "random" and not study.embeddings_tuned:
        named = f" as {preset} has it" if preset else ""
        raise AcidtestError(
            f"{study.architecture}{named} leaves the vectors of words as they are, and these are random; "
            f"add --embeddings FILE, or --tuned to learn them"
        )


def _checked(recipe: Any) -> Any:
    """A recipe whose numbers make sense."""
    for name in ("epochs", "batch_size", "learning_rate", "patience"):
        value = getattr(recipe, name)
        if not value > 0:
            raise AcidtestError(f"--{name.replace('_', '-')} is a number above 0, not {value}")
    if recipe.precision not in ("auto", "full", "bf16"):
        raise AcidtestError(f"--precision is auto, full or bf16, not {recipe.precision!r}")
    return recipe


def _picked(told: Mapping[str, Any], names: set[str]) -> dict[str, Any]:
    return {name: value for name, value in told.items() if name in names}


def _require_torch() -> None:
    required("torch", "safetensors", extra="zoo", work="training")
