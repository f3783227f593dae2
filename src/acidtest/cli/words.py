"""``acidtest words``: a vocabulary of HANS, and whether a training set has its words in the frames they need."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from acidtest import api
from acidtest.cli.options import Json, Quiet, Seed, Verbose, echo, print_json, set_up_logging
from acidtest.core.errors import list_some

if TYPE_CHECKING:
    from acidtest.api.studies import WordReport

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
    verbose: Verbose = 0,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> None:
    """Check a vocabulary, and that a training set has every verb often enough in each frame it is used in."""
    set_up_logging(verbose, quiet)
    found = api.words(vocabulary, train, least=least, reading=api.Reading.parsed(columns, label_map))
    if json:
        print_json(found.to_json())
    else:
        echo("\n".join(_lists(found) if found.counts is None else _frames(found)))
    if found.below:
        raise typer.Exit(1)


def _lists(found: WordReport) -> list[str]:
    total = sum(len(each.words) for each in found.lists)
    lines = [f"{found.vocabulary} is valid: {len(found.lists)} lists, {total} words.", ""]
    width = max(len(each.name) for each in found.lists)
    lines.append(f"{'list':<{width}}  words  what it is for, examples, and the frames they need")
    for each in found.lists:
        origin = "" if each.origin == found.vocabulary else f", from {each.origin}"
        frames = f" [{' '.join(each.frames)}]" if each.frames else ""
        lines.append(f"{each.name:<{width}}  {len(each.words):>5}  {each.about}")
        lines.append(f"{'':<{width}}         {list_some(each.words, EXAMPLES)}{origin}{frames}")
    return [*lines, "", "acidtest words --train FILE counts them in a training set."]


def _frames(found: WordReport) -> list[str]:
    counts, below = found.counts, found.below
    assert counts is not None
    lines = [
        f"{found.vocabulary} in {counts.file}, counted from {counts.way}: "
        f"{counts.premises:,} premises, each once, and {counts.hypotheses:,} hypotheses."
    ]
    if counts.left_out:
        lines.append(f"{counts.left_out:,} sentences have no parse that can be read; they are not counted.")
    lines += ["", f"{'frame':<8}  words  at least {found.least}  fewer"]
    for frame in dict.fromkeys(use.frame for use in counts.uses):
        uses = [use for use in counts.uses if use.frame == frame and use.count is not None]
        few = sum(use.frame == frame for use in below)
        lines.append(f"{frame:<8}  {len(uses):>5}  {len(uses) - few:>{9 + len(str(found.least))}}  {few:>5}")
    lines += ["", *_shortfalls(found)]
    notes = {use.word: use.note for use in counts.uses if use.note}
    return [*lines, *(f"{word}: {note}" for word, note in notes.items())]


def _shortfalls(found: WordReport) -> list[str]:
    assert found.counts is not None
    short: dict[str, list[str]] = {}
    for use in found.below:
        short.setdefault(use.word, []).append(f"{use.frame} {use.count}")
    counted = {use.word for use in found.counts.uses if use.count is not None}
    if not short:
        return [f"Each of the {len(counted)} words occurs at least {found.least} times in every frame it needs."]
    width = max(map(len, short))
    lines = [f"{word:<{width}}  {', '.join(frames)}" for word, frames in short.items()]
    return [
        *lines,
        "",
        f"{len(short)} of {len(counted)} words occur fewer than {found.least} times in a frame they need.",
    ]
