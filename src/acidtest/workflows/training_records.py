"""What is left beside a trained network for people: its card, the picture of its curve, and seeds side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from acidtest.core.files import replacing, write_json, write_text
from acidtest.core.logs import log
from acidtest.core.structured import read_json

if TYPE_CHECKING:
    from acidtest.core.estimate import Estimate
    from acidtest.reports.training_cards import Data
    from acidtest.workflows.training_pairs import Gathered, Part
    from acidtest.zoo.training import TrainingResult

CARD, PICTURE, SEEDS = "card.md", "curve", "seeds.json"
DEV = "--dev"


def record(trained: TrainingResult, pairs: Gathered, preset: str = "") -> None:
    """Write the card and the picture of a training; where it was finished before, only what is missing."""
    if trained.again and (trained.folder / CARD).is_file():
        return
    draw([trained], trained.folder)
    write_text(trained.folder / CARD, _card(trained, pairs, preset))


def record_seeds(trained: Sequence[TrainingResult], folder: Path) -> None:
    """Write the mean and spread over seeds, and one picture of all curves."""
    draw(trained, folder)
    told = [
        {"folder": each.folder.name, "seed": each.study.recipe.seed, "scores": accuracies(each)} for each in trained
    ]
    write_json(folder / SEEDS, {"schema": 1, "seeds": told, "scores": spread(trained)})


def draw(trained: Sequence[TrainingResult], folder: Path) -> None:
    """Draw loss and accuracy by epoch, as SVG and PNG; a machine that cannot draw says so, and all else is there."""
    from acidtest.reports.plots import as_png, as_svg
    from acidtest.reports.training_curves import curve_picture

    try:
        picture = curve_picture([each.state.curve for each in trained], [each.best["epoch"] for each in trained])
        written, painted = as_svg(picture), as_png(picture)
    except ModuleNotFoundError as error:
        log.warning("%s is not installed, so the curve is not drawn; curve.json holds it", error.name)
        return
    write_text(folder / f"{PICTURE}.svg", written)
    with replacing(folder / f"{PICTURE}.png") as path:
        path.write_bytes(painted)


def accuracies(trained: TrainingResult) -> dict[str, float]:
    """The share that is right of --dev, in the epoch that was kept, and of every file scored."""
    dev = {DEV: trained.best["dev_accuracy"]} if "dev_accuracy" in trained.best else {}
    return {**dev, **{name: score.accuracy for name, score in trained.scores.items()}}


def spread(trained: Sequence[TrainingResult]) -> dict[str, dict[str, float]]:
    """Of each score that all seeds have the mean over them, its standard deviation, and the lowest and highest."""
    told = [accuracies(each) for each in trained]
    found = {}
    for name in [name for name in told[0] if all(name in scores for scores in told)]:
        values = [scores[name] for scores in told]
        found[name] = {"mean": fmean(values), "sd": stdev(values), "low": min(values), "high": max(values)}
    return found


def estimates(trained: TrainingResult, pairs: Gathered | None = None) -> dict[str, Estimate]:
    """Accuracies with 95 % intervals: of --dev where its pairs are given, and of every file scored."""
    from acidtest.core.estimate import Estimate
    from acidtest.stats.intervals import clopper_pearson, wilson

    counts = {name: (score.right, score.pairs) for name, score in trained.scores.items()}
    if pairs is not None and pairs.dev is not None:
        n = len(pairs.dev.pairs)
        counts = {pairs.dev.name: (round(trained.best["dev_accuracy"] * n), n)} | counts
    found = {}
    for name, (right, n) in counts.items():
        interval = (clopper_pearson if right in (0, n) else wilson)(right, n)
        found[name] = Estimate(right / n, interval.low, interval.high, n, n, interval.method)
    return found


def _card(trained: TrainingResult, pairs: Gathered, preset: str) -> str:
    from acidtest.reports.training_cards import TrainingCard, card_text
    from acidtest.zoo.catalogue import architecture

    study = trained.study
    kind = architecture(study.architecture)
    defaults = {name: option.default for name, option in kind.options.items()}
    recipe = {name: value for name, value in asdict(study.recipe).items() if name != "checkpoint_s"}
    card = TrainingCard(
        name=str(trained.folder),
        architecture=study.architecture,
        summary=kind.summary,
        citation=kind.citation,
        labels=study.labels,
        reads=_reads(trained),
        settings={**({"preset": preset} if preset else {}), **defaults, **study.settings},
        recipe={} if kind.fitted else recipe,
        data=_data(pairs),
        leaks={**{name: score.leaked for name, score in trained.scores.items() if score.leaked}, **pairs.leaks},
        scores=estimates(trained, pairs),
        course=_course(trained, fitted=kind.fitted is not None),
        made=trained.made,
    )
    return card_text(card)


def _reads(trained: TrainingResult) -> str:
    """What the network knows of words and is shown of pairs, in words."""
    from acidtest.zoo.network_files import CONFIG

    study = trained.study
    told: Mapping[str, Any] = read_json(trained.folder / CONFIG, dict[str, Any])["reader"]
    text = ""
    if "dimensions" in told:
        change = "learnt further" if told.get("tuned") else "kept as they were"
        found = told.get("embeddings") or {}
        begin = "drawn by chance"
        if found:
            begin = f"{found['found']:,} of them from {study.embeddings} (digest `{found['digest']}`)"
        text = f"It knows {told['known']:,} words by vectors of {told['dimensions']} numbers, {begin}, {change}."
    return f"{text} It is shown no premise.".strip() if study.hypothesis_only else text


def _data(pairs: Gathered) -> list[Data]:
    from acidtest.reports.training_cards import Data

    def told(part: Part, use: str) -> Data:
        return Data(part.name, use, part.pairs.labels, part.pairs.digest, part.without_gold + part.repeated)

    return [
        *(told(part, "learn from") for part in pairs.files),
        *(told(part, "learn from, too") for part in pairs.suites),
        *([told(pairs.dev, "choose the epoch")] if pairs.dev else []),
        *(told(part, "score") for part in pairs.tests),
    ]


def _course(trained: TrainingResult, *, fitted: bool) -> str:
    if fitted:
        return "It was fitted at once."
    seconds, curve = trained.seconds, trained.state.curve
    learnt = sum(point["pairs_per_s"] * point["seconds"] for point in curve)
    kept = f"the weights after epoch {trained.best['epoch']:.0f} were kept"
    why = "the best on --dev" if "dev_accuracy" in trained.best else "the last"
    speed = f"{seconds:,.1f} s of learning, {learnt / max(seconds, 1e-9):,.0f} pairs a second"
    return f"{len(curve)} epochs, of which {kept}, {why}; {speed}."
