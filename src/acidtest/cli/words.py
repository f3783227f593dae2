"""``acidtest words``: check a vocabulary for HANS, and count its words in a training set by verb pattern."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from acidtest import api
from acidtest.cli.options import Json, echo, print_json
from acidtest.core.errors import list_some

if TYPE_CHECKING:
    from acidtest.api import WordReport

EXAMPLES = 6


def words(
    vocabulary: Annotated[
        str, typer.Argument(help="fresh, published, or a TSV file with the columns list and word.")
    ] = "fresh",
    train: Annotated[
        Path | None, typer.Option("--train", help="Count the words in the frames they need in this NLI file.")
    ] = None,
    least: Annotated[int, typer.Option("--least", help="How often each must occur.", min=1)] = 50,
    columns: Annotated[
        str | None, typer.Option("--columns", help="Of the NLI file: premise=COL,hypothesis=COL,label=COL,…")
    ] = None,
    label_map: Annotated[str | None, typer.Option("--label-map", help="Of the NLI file: theirs=ours.")] = None,
    json: Json = False,
) -> None:
    """Check a vocabulary, and that a training set has every verb often enough in each frame it is used in."""
    report = api.words(vocabulary, train, least=least, reading=api.Reading.parsed(columns, label_map))
    if json:
        print_json(report.to_json())
    else:
        echo(*(_lists(report) if report.counts is None else _frames(report)))
    if report.below:
        raise typer.Exit(1)


def _lists(report: WordReport) -> list[str]:
    total = sum(len(word_list.words) for word_list in report.lists)
    lines = [f"{report.vocabulary} is valid: {len(report.lists)} lists, {total} words.", ""]
    width = max(len(word_list.name) for word_list in report.lists)
    lines.append(f"{'list':<{width}}  words  what it is for, examples, and the frames they need")
    for word_list in report.lists:
        origin = "" if word_list.origin == report.vocabulary else f", from {word_list.origin}"
        frames = f" [{' '.join(word_list.frames)}]" if word_list.frames else ""
        lines.append(f"{word_list.name:<{width}}  {len(word_list.words):>5}  {word_list.about}")
        lines.append(f"{'':<{width}}         {list_some(word_list.words, EXAMPLES)}{origin}{frames}")
    return [*lines, "", "acidtest words --train FILE counts them in a training set."]


def _frames(report: WordReport) -> list[str]:
    counts, below = report.counts, report.below
    assert counts is not None
    lines = [
        f"{report.vocabulary} in {counts.file}, counted from {counts.way}: "
        f"{counts.premises:,} premises, each once, and {counts.hypotheses:,} hypotheses."
    ]
    if counts.left_out:
        lines.append(f"{counts.left_out:,} sentences have no parse that can be read; they are not counted.")
    lines += ["", f"{'frame':<8}  words  at least {report.least}  fewer"]
    for frame in dict.fromkeys(use.frame for use in counts.uses):
        uses = [use for use in counts.uses if use.frame == frame and use.count is not None]
        few = sum(use.frame == frame for use in below)
        lines.append(f"{frame:<8}  {len(uses):>5}  {len(uses) - few:>{9 + len(str(report.least))}}  {few:>5}")
    lines += ["", *_shortfalls(report)]
    notes = {use.word: use.note for use in counts.uses if use.note}
    return [*lines, *(f"{word}: {note}" for word, note in notes.items())]


def _shortfalls(report: WordReport) -> list[str]:
    assert report.counts is not None
    short: dict[str, list[str]] = {}
    for use in report.below:
        short.setdefault(use.word, []).append(f"{use.frame} {use.count}")
    counted = {use.word for use in report.counts.uses if use.count is not None}
    if not short:
        return [f"Each of the {len(counted)} words occurs at least {report.least} times in every frame it needs."]
    width = max(map(len, short))
    lines = [f"{word:<{width}}  {', '.join(frames)}" for word, frames in short.items()]
    return [
        *lines,
        "",
        f"{len(short)} of {len(counted)} words occur fewer than {report.least} times in a frame they need.",
    ]
