"""Items asked with a cue and without it, to be read side by side."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any

import polars as pl

from acidtest.core.document import Pair, Section, Toggle, Toggles, describe_count
from acidtest.core.run import ANSWER_COLUMNS, Run
from acidtest.studies.crossed_suites import CrossedCue, CrossedSuite
from acidtest.studies.scoring.slices import describe_answer

MOST = 3
"""The most items shown of a cue."""
_LACKING = "_lacking"


def toggle_sections(runs: Mapping[str, Run], suite: CrossedSuite) -> tuple[Section, ...]:
    """A folded section for each cue with some items that were asked both ways, first those whose answer changes."""
    if not runs:
        return ()
    first = next(iter(runs.values()))
    rows = _answered_rows(runs, suite, suite.names_in(first)[0])
    return tuple(_section(name, cue, _both_ways(rows, suite, cue), runs) for name, cue in suite.cues.items())


def _answered_rows(runs: Mapping[str, Run], suite: CrossedSuite, asked: str) -> pl.DataFrame:
    """The crossed rows that every model was asked, with the answers of each under its number.

    An item of a template is one group; a pair of a corpus may be the base of several items.
    """
    crossed = pl.all_horizontal(pl.col(column).is_in(values) for column, values in suite.values.items())
    frames = []
    for number, run in enumerate(runs.values()):
        facts = ("premise", "hypothesis", "group", "label", *suite.values) if number == 0 else ()
        columns = [name for name in ("id", *facts, *ANSWER_COLUMNS) if name in run.columns]
        rows = run.lazy(asked).filter(crossed).select(columns)
        frames.append(run.collected(rows).rename({name: f"{number} {name}" for name in ANSWER_COLUMNS}, strict=False))
    return reduce(lambda one, other: one.join(other, on="id", how="inner", maintain_order="left"), frames)


def _both_ways(rows: pl.DataFrame, suite: CrossedSuite, cue: CrossedCue) -> pl.DataFrame:
    """The rows that have a cue, beside those of the same item, gold and other cues that lack it."""
    fixed = ["group", "label", *(column for column in suite.values if column != cue.column)]
    sides = (rows.filter(pl.col(cue.column) == value).drop(cue.column) for value in (cue.present, cue.absent))
    return next(sides).join(next(sides), on=fixed, suffix=_LACKING, maintain_order="left")


def _section(name: str, cue: CrossedCue, pairs: pl.DataFrame, runs: Mapping[str, Run]) -> Section:
    changes = [
        pl.col(f"{number} answer").ne_missing(pl.col(f"{number} answer{_LACKING}")) for number in range(len(runs))
    ]
    misled = [change & ~pl.col(f"{number} correct") for number, change in enumerate(changes)]
    counts = pairs.select(change.sum().alias(name) for name, change in zip(runs, changes, strict=True))
    order = [pl.sum_horizontal(misled), pl.sum_horizontal(changes)]
    sorted_pairs = pairs.sort(order, descending=True, maintain_order=True)
    shown = sorted_pairs.unique("group", keep="first", maintain_order=True).head(MOST)
    asked = describe_count(pairs.height, "item")
    summary = f"{asked} asked both ways"
    if pairs.height:
        changed = (
            f"{count:,}{f' ({model})' if len(runs) > 1 else ''}" for model, count in counts.row(0, named=True).items()
        )
        summary += f"; the answer changes in {', '.join(changed)}"
    caption = f"{shown.height} of {asked}, first those whose answer changes" if pairs.height else _NONE
    toggles = tuple(Toggle(_pair(row, runs, ""), _pair(row, runs, _LACKING)) for row in shown.iter_rows(named=True))
    part = Toggles(caption, _capitalised(cue.having), _capitalised(cue.lacking), toggles)
    return Section(_capitalised(cue.phrase), (part,), anchor=f"pairs-{name}", folded=True, summary=summary)


def _capitalised(phrase: str) -> str:
    return phrase[:1].upper() + phrase[1:]


_NONE = "no item of this sample was asked both ways; a run without --limit asks all of them"


def _pair(row: Mapping[str, Any], runs: Mapping[str, Run], side: str) -> Pair:
    """The pair of one side of a joined row, with what each model answered."""
    texts = {name.removesuffix(side): value for name, value in row.items() if name.endswith(side)}
    answers = {name: describe_answer(texts, run, f"{number} ") for number, (name, run) in enumerate(runs.items())}
    return Pair(texts["premise"], texts["hypothesis"], row["label"], answers, id=texts["id"])
