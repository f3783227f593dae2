"""Records of a trained network for people: its card, a picture of its curve, and a comparison of seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from acidtest.core.document import Cell, Chart, Column, Document, Note, Part, Row, Section, Table, Unit
from acidtest.core.estimate import Estimate
from acidtest.core.files import write_json, write_text
from acidtest.core.logs import log
from acidtest.core.structured import read_json

if TYPE_CHECKING:
    from acidtest.workflows.training.pairs import GatheredPairs, SourcePairs
    from acidtest.zoo.training import TrainingResult

CARD, PICTURE, SEEDS = "card.md", "curve", "seeds.json"
DEV = "--dev"

Curve = Sequence[Mapping[str, float]]
Panel = tuple[Chart, Table]

LIMITS = (
    "It has learnt from the pairs above and nothing else: it takes over their language, topics, label conventions and "
    "artefacts. A high score on pairs like those it learnt from does not show that it reasons; the suites of "
    "acidtest run are there to find out. The intervals above are about the choice of pairs alone; another seed gives "
    "another network. It is made for research, not for decisions about people."
)


def write_record(network: TrainingResult, data: GatheredPairs, preset: str = "") -> None:
    """Write the card and the curve of a training; one that was finished before keeps its card."""
    if network.again and (network.folder / CARD).is_file():
        return
    from acidtest.render.files import render_markdown

    draw_curves([network], network.folder)
    write_text(network.folder / CARD, render_markdown(training_card(network, data, preset)))


def write_seeds_record(networks: Sequence[TrainingResult], folder: Path) -> None:
    """Write the mean and spread over seeds, and one picture of all curves."""
    draw_curves(networks, folder)
    seeds = [
        {"folder": network.folder.name, "seed": network.options.recipe.seed, "scores": accuracies(network)}
        for network in networks
    ]
    write_json(folder / SEEDS, {"schema": 1, "seeds": seeds, "scores": spread_over_seeds(networks)})


def accuracies(network: TrainingResult) -> dict[str, float]:
    """The share of right answers on --dev, in the epoch that was kept, and on every file scored."""
    dev = {DEV: network.best["dev_accuracy"]} if "dev_accuracy" in network.best else {}
    return {**dev, **{name: score.accuracy for name, score in network.scores.items()}}


def spread_over_seeds(networks: Sequence[TrainingResult]) -> dict[str, dict[str, float]]:
    """Mean, standard deviation, lowest and highest over seeds of each score that all networks have."""
    by_seed = [accuracies(network) for network in networks]
    spreads = {}
    for name in by_seed[0]:
        values = [scores[name] for scores in by_seed if name in scores]
        if len(values) == len(by_seed):
            spreads[name] = {"mean": fmean(values), "sd": stdev(values), "low": min(values), "high": max(values)}
    return spreads


def score_estimates(network: TrainingResult, data: GatheredPairs | None = None) -> dict[str, Estimate]:
    """Accuracies with 95 % intervals on every file scored, and on --dev where its pairs are given."""
    from acidtest.stats.intervals import clopper_pearson, wilson

    counts = {name: (score.right, score.pairs) for name, score in network.scores.items()}
    if data is not None and data.dev is not None:
        n = len(data.dev.pairs)
        counts = {data.dev.name: (round(network.best["dev_accuracy"] * n), n)} | counts
    estimates = {}
    for name, (right, n) in counts.items():
        interval = (clopper_pearson if right in (0, n) else wilson)(right, n)
        estimates[name] = Estimate(right / n, interval.low, interval.high, n, n, interval.method)
    return estimates


def draw_curves(networks: Sequence[TrainingResult], folder: Path) -> None:
    """Draw loss and accuracy by epoch as SVG and PNG; without the library for PNG a warning says so."""
    from acidtest.render.files import draw_side_by_side, write_picture

    curves = [network.state.curve for network in networks]
    panels = curve_panels(curves, [network.best["epoch"] for network in networks])
    try:
        write_picture(draw_side_by_side(panels), folder / PICTURE)
    except ModuleNotFoundError as error:
        log.warning("%s is not installed, so the curve is drawn as SVG only; curve.json holds it, too", error.name)


def curve_panels(curves: Sequence[Curve], kept: Sequence[float]) -> list[Panel]:
    """Charts of loss and accuracy by epoch; for several seeds the mean, with the lowest and highest as interval.

    ``kept`` are the epochs whose weights were kept, one for each curve.
    """
    axis = f"epoch (kept: {', '.join(f'{epoch:g}' for epoch in kept)})"
    panels: tuple[tuple[str, Unit, dict[str, str]], ...] = (
        ("loss", "number", {"training": "loss", DEV: "dev_loss"}),
        (f"accuracy on {DEV}", "percent", {DEV: "dev_accuracy"}),
    )
    drawn = []
    for title, unit, lines in panels:
        names = [name for name, key in lines.items() if any(key in point for curve in curves for point in curve)]
        epochs = sorted({point["epoch"] for curve in curves for point in curve})
        rows = tuple(
            Row(f"{epoch:g}", tuple(_curve_value(curves, epoch, lines[name]) for name in names)) for epoch in epochs
        )
        if names:
            table = Table(title, title, tuple(Column(name, unit) for name in names), rows, "epoch")
            drawn.append((Chart(title, "line", tuple(names), title=title, axis=axis), table))
    return drawn


def _curve_value(curves: Sequence[Curve], epoch: float, key: str) -> Estimate | None:
    """The value at an epoch; for several seeds their mean, or None if fewer than two reached it."""
    values = [point[key] for curve in curves for point in curve if point["epoch"] == epoch and key in point]
    if len(curves) == 1:
        return Estimate(values[0]) if values else None
    return Estimate(fmean(values), min(values), max(values)) if len(values) > 1 else None


def training_card(network: TrainingResult, data: GatheredPairs, preset: str = "") -> Document:
    """The card of a network: what it is, what it learnt from, how well it does, how to run it."""
    from acidtest.zoo.catalogue import architecture

    plan, made = network.options, network.made
    kind = architecture(plan.architecture)
    defaults = {name: option.default for name, option in kind.options.items()}
    settings: dict[str, Any] = {"preset": preset} if preset else {}
    settings |= {**defaults, **plan.settings, "weights": f"{made['weights']:,}"}
    recipe = {name: value for name, value in asdict(plan.recipe).items() if name != "checkpoint_s"}
    labels = f"{', '.join(plan.labels[:-1])} and {plan.labels[-1]}"
    summary = f"{kind.summary[:1].upper()}{kind.summary[1:]} ({kind.citation}), trained by acidtest."
    versions = ", ".join(f"{name} {version}" for name, version in made["versions"].items())
    machine = f"On {made['device']} (threads of the processor: {made['threads']}; {made['system']}), with {versions}."
    course: list[Part] = [Note(_describe_course(network, fitted=kind.fits_at_once)), Note(machine)]
    if not kind.fits_at_once:
        course.insert(1, _settings_table("recipe", "recipe", recipe))
    usage = (
        Note(f"acidtest run -m {network.spec}"),
        Note(
            "In Python: acidtest.run with the same name of the model. The folder is all that is needed; "
            "pip install 'acidtest[zoo]' gets what runs it."
        ),
    )
    return Document(
        title=f"{plan.architecture}: {network.folder}",
        headline=f"{summary} It tells {labels} apart. {_describe_reader(network)}".strip(),
        parts=(
            Section("How to run it", usage),
            Section("Scores", _scores_parts(network, data)),
            Section("Data", (_data_table(data),)),
            Section("Settings", (_settings_table("settings", "option", settings),)),
            Section("Training", tuple(course)),
            Section("Limits", (Note(LIMITS),)),
        ),
    )


def _scores_parts(network: TrainingResult, data: GatheredPairs) -> tuple[Part, ...]:
    estimates = {name: one for name, one in score_estimates(network, data).items() if one.known}
    if not estimates:
        return (Note("It was scored on no file: neither --dev nor --test was given."),)
    columns = (Column("right, % (95 % interval)"), Column("pairs", "count"), Column("method", "text"))
    rows = tuple(Row(name, (one, one.n, one.method)) for name, one in estimates.items())
    leaks = {**{name: score.leaked for name, score in network.scores.items() if score.leaked}, **data.leaks}
    warning = "{:,} pairs of {} were also learnt from, so that its score is too good."
    notes = (Note(warning.format(count, name)) for name, count in leaks.items())
    return (Table("scores", "", columns, rows, "pairs of"), *notes)


def _data_table(data: GatheredPairs) -> Table:
    uses: list[tuple[str, Sequence[SourcePairs]]] = [
        ("learn from", data.files),
        ("learn from, too", data.suites),
        ("choose the epoch", [data.dev] if data.dev else []),
        ("score", data.tests),
    ]
    labels = list(dict.fromkeys(label for _, parts in uses for part in parts for label in part.pairs.labels))
    columns = [Column("used to", "text"), *(Column(name, "count") for name in ("pairs", *labels, "left out"))]
    rows = []
    for use, parts in uses:
        for part in parts:
            counts = part.pairs.labels
            cells: list[Cell] = [use, sum(counts.values()), *(counts.get(label, 0) for label in labels)]
            rows.append(Row(part.name, (*cells, part.without_gold + part.repeated, part.pairs.digest)))
    return Table("data", "", (*columns, Column("digest", "text")), tuple(rows), "file")


def _settings_table(name: str, corner: str, values: Mapping[str, object]) -> Table:
    rows = tuple(Row(key, (str(value),)) for key, value in values.items())
    return Table(name, "", (Column("value", "text"),), rows, corner)


def _describe_reader(network: TrainingResult) -> str:
    """Sentences on what the network knows of words and whether it sees premises."""
    from acidtest.zoo.networks import CONFIG

    plan = network.options
    reader: Mapping[str, Any] = read_json(network.folder / CONFIG, dict[str, Any])["reader"]
    words = ""
    if "dimensions" in reader:
        vectors = reader.get("embeddings") or {}
        origin = "drawn at random"
        if vectors:
            origin = f"{vectors['found']:,} of them from {plan.embeddings} (digest {vectors['digest']})"
        change = "learnt further" if reader.get("tuned") else "kept as they were"
        words = f"It knows {reader['known']:,} words by vectors of {reader['dimensions']} numbers, {origin}, {change}."
    return f"{words} It is shown no premise.".strip() if plan.hypothesis_only else words


def _describe_course(network: TrainingResult, *, fitted: bool) -> str:
    files = "Loss and accuracy by epoch are in curve.json, curve.svg and curve.png."
    if fitted:
        return f"It was fitted at once. {files}"
    seconds, curve = network.seconds, network.state.curve
    pairs = sum(point["pairs_per_s"] * point["seconds"] for point in curve)
    why = "the best on --dev" if "dev_accuracy" in network.best else "the last"
    return (
        f"{len(curve)} epochs, of which the weights after epoch {network.best['epoch']:.0f} were kept, {why}; "
        f"{seconds:,.1f} s of learning, {pairs / max(seconds, 1e-9):,.0f} pairs a second. {files}"
    )
