"""The card of a trained network, in Markdown: what it is, what it learnt from, how it does, how to run it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from acidtest.core.estimate import Estimate

Line = Sequence[object]


@dataclass(frozen=True)
class Data:
    """A file or suite, what it was used for, and what it holds."""

    name: str
    use: str
    labels: Mapping[str, int]
    digest: str
    left_out: int = 0


@dataclass(frozen=True)
class TrainingCard:
    """All that a card tells."""

    name: str
    architecture: str
    summary: str
    citation: str
    labels: Sequence[str]
    reads: str
    """What the network knows of words and is shown of pairs."""
    settings: Mapping[str, object]
    recipe: Mapping[str, object]
    data: Sequence[Data]
    leaks: Mapping[str, int]
    scores: Mapping[str, Estimate]
    course: str
    """How training went: epochs, which was kept, time and speed."""
    made: Mapping[str, Any]


def card_text(card: TrainingCard) -> str:
    """The card as Markdown."""
    made = card.made
    versions = ", ".join(f"{name} {version}" for name, version in made["versions"].items())
    parts = [
        f"# {card.architecture}: {card.name}",
        f"{card.summary[:1].upper()}{card.summary[1:]} ({card.citation}), trained by acidtest. "
        f"It tells {_several(card.labels)} apart. {card.reads}",
        "## How to run it",
        f"    acidtest run -m zoo:{card.name}",
        "In Python: `acidtest.run` with the same name of the model. The folder is all that is needed; "
        "`pip install 'acidtest[zoo]'` gets what runs it.",
        "## Scores",
        _scores(card.scores),
        *_leaks(card.leaks),
        "## Data",
        _data(card.data),
        "## Settings",
        _table(("option", "value"), [*card.settings.items(), ("weights", f"{made['weights']:,}")]),
        "## Training",
        f"{card.course} Loss and accuracy by epoch are in `curve.json`, `curve.svg` and `curve.png`.",
        _table(("recipe", "value"), list(card.recipe.items())),
        f"On {made['device']} (threads of the processor: {made['threads']}; {made['system']}), with {versions}.",
        "## Limits",
        LIMITS,
    ]
    return "\n\n".join(parts) + "\n"


LIMITS = (
    "It has learnt from the pairs above and nothing else: it takes over their language, topics, label conventions and "
    "artefacts. A high score on pairs like those it learnt from does not show that it reasons; the suites of "
    "`acidtest run` are there to find out. The intervals above are about the choice of pairs alone; another seed gives "
    "another network. It is made for research, not for decisions about people."
)


def _scores(scores: Mapping[str, Estimate]) -> str:
    if not scores:
        return "It was scored on no file: neither --dev nor --test was given."
    lines = [
        (name, f"{100 * each.value:.1f} %", f"{100 * each.low:.1f}–{100 * each.high:.1f}", f"{each.n:,}", each.method)
        for name, each in scores.items()
        if each.known
    ]
    return _table(("pairs of", "right", "95 % interval", "pairs", "method"), lines)


def _leaks(leaks: Mapping[str, int]) -> list[str]:
    return [
        f"**{count:,} pairs of {_cell(name)} were also learnt from**, so that its score is too good."
        for name, count in leaks.items()
    ]


def _data(data: Sequence[Data]) -> str:
    labels = list(dict.fromkeys(label for part in data for label in part.labels))
    lines = [
        (
            part.name,
            part.use,
            f"{sum(part.labels.values()):,}",
            *(f"{part.labels.get(label, 0):,}" for label in labels),
            f"{part.left_out:,}",
            f"`{part.digest}`",
        )
        for part in data
    ]
    return _table(("file", "used to", "pairs", *labels, "left out", "digest"), lines)


def _several(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _table(head: Line, lines: Sequence[Line]) -> str:
    written = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in written)


def _cell(value: object) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ")
