"""Suites for evaluation harnesses: made from a recipe, with the factors to break accuracy down by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from acidtest.core.errors import AcidtestError, NothingToMakeError, UnknownNameError
from acidtest.core.labels import GOLD_MASKS
from acidtest.core.logs import note
from acidtest.core.suite import CATEGORY, CROSS, Argument, Card, Suite
from acidtest.models.harness_tasks import (
    CONTROL_ENDING,
    TaskRecipe,
    accepts_all,
    arranged_prompt,
    plain_task_name,
    prompt_choices,
)
from acidtest.models.prompts import Message
from acidtest.suites.catalogue import SUITES, resolve_names
from acidtest.workflows.batteries import Battery, generate

RECIPE_OPTIONS = ("seed", "limit", "n", "source", "prompt", "control")
"""The options that every task has, beside those of its suite."""

CARD_ENDING = ".task.json"
"""What follows the name of a file of pairs in the name of its card."""

MOST_VALUES = 60
"""The most values of a factor that accuracy is broken down by in a harness."""

_PROVENANCE = ("genre", "template")
"""Factors that are broken down only where a suite says so."""


@dataclass(frozen=True)
class HarnessTask:
    """A recipe, complete with fingerprint and words, and the pairs to ask.

    A prompt with two answers does not ask pairs whose gold accepts both.
    """

    recipe: TaskRecipe
    suite: Suite


@dataclass(frozen=True)
class TaskCard:
    """What lies beside a file of pairs for a harness: how they were made."""

    recipe: TaskRecipe
    version: int


@dataclass(frozen=True)
class ChatRow:
    """A pair as messages of a chat: the name of its gold set, its group, and what accuracy is broken down by."""

    id: str
    input: list[Message]
    target: str
    metadata: dict[str, str | list[str]]


def make_task(recipe: TaskRecipe) -> HarnessTask:
    """Make the suite of a recipe, as ``acidtest run`` would with the same seed, limit and options."""
    prompt = arranged_prompt(recipe.prompt)
    suite = make_suite(recipe)
    if set(suite.card.labels) == {"any"}:
        raise AcidtestError(f"suite {suite.name!r} has no gold: its pairs are questions for people, not for models")
    complete = replace(
        recipe,
        choices=prompt_choices(prompt),
        words=dict(prompt.meanings),
        fingerprint=suite.card.fingerprint,
    )
    # Results leave these rows out, too: every answer would be right.
    scorable = [name for name in GOLD_MASKS if name == "any" or not accepts_all(name, complete.judged_by)]
    asked = replace(suite, frame=suite.frame.filter(pl.col("label").is_in(scorable)))
    return HarnessTask(complete, asked)


def make_suite(recipe: TaskRecipe) -> Suite:
    """The suite of a recipe, or its control, without comparing fingerprints."""
    arguments = {name: value if isinstance(value, bool) else str(value) for name, value in recipe.arguments.items()}
    wanted: str | Suite = recipe.suite
    battery = Battery([wanted], source=recipe.source, limit=recipe.limit, seed=recipe.seed, arguments=arguments)
    if recipe.n is not None:
        wanted = generate(recipe.suite, source=recipe.source, n=recipe.n, seed=recipe.seed, arguments=arguments)
        battery = Battery([wanted], limit=recipe.limit, seed=recipe.seed)
    if len(battery.whole) != 1:
        names = ", ".join(suite.name for suite in battery.whole)
        raise AcidtestError(f"{recipe.suite!r} makes several suites, {names}; a task asks one: give one value each")
    suite, *controls = battery.used
    if recipe.control and not controls:
        raise AcidtestError(f"suite {recipe.suite!r} has no control; leave control out")
    return controls[0] if recipe.control else suite


def make_recipe(suite: str, options: Mapping[str, Any]) -> TaskRecipe:
    """The recipe of a task with these options: those of every task, and those of its suite (``words`` …)."""
    known = {*RECIPE_OPTIONS, *(SUITES[suite].options if suite in SUITES else ())}
    for name in options:
        if name not in known:
            raise UnknownNameError(f"option of {suite!r}", name, known)
    arguments: dict[str, Argument] = {name: value for name, value in options.items() if name not in RECIPE_OPTIONS}
    return TaskRecipe(
        suite,
        control=bool(options.get("control")),
        seed=_number("seed", options.get("seed"), 0) or 0,
        limit=_number("limit", options.get("limit"), 1),
        n=_number("n", options.get("n"), 1),
        source=str(options["source"]) if options.get("source") else None,
        arguments=arguments,
        prompt=str(options.get("prompt") or "labels"),
    )


def _number(name: str, value: object, least: int) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int | str) or isinstance(value, bool) or not str(value).isdecimal() or int(value) < least:
        raise AcidtestError(f"{name} is a whole number from {least} on, not {value!r}")
    return int(value)


def named_tasks(suites: Sequence[str], options: Mapping[str, Any]) -> Iterator[tuple[str, HarnessTask]]:
    """The tasks of suites, by name, each followed by that of its control; suites that cannot be made are skipped."""
    names, used = resolve_names(suites), dict[str, str]()
    for suite in names:
        stem = plain_task_name(suite if suite in SUITES else Path(suite).stem)
        if other := used.get(stem):
            raise AcidtestError(f"the tasks of {other} and {suite} would both be called {stem!r}; rename one")
        used[stem] = suite
        is_file = suite not in SUITES and Path(suite).exists()
        place = str(Path(suite).resolve()) if is_file else suite
        try:
            task = make_task(make_recipe(place, options))
        except NothingToMakeError as error:
            if len(names) == 1:
                raise
            note("%s; it is left out", error)
            continue
        yield stem, task
        if task.suite.control:
            yield stem + CONTROL_ENDING, make_task(make_recipe(place, {**options, "control": True}))


def breakdowns(card: Card) -> list[tuple[str, ...]]:
    """What accuracy is broken down by in a harness: the label, and the main factors of the suite.

    These are the factors that its card crosses, with that crossing, or else its first stratum, or else every factor
    but genre and template.
    """
    crossed = [(name,) for crossing in card.crossings for name in crossing]
    chosen = [*crossed, *card.crossings] or [(name,) for name in card.strata[:1]]
    chosen = chosen or [(name,) for name in card.factors if name not in _PROVENANCE]
    chosen = chosen or ([(CATEGORY,)] if card.categories else [])
    return list(dict.fromkeys([("label",), *chosen]))


def breakdown_columns(suite: Suite) -> pl.DataFrame:
    """A column for each breakdown with few enough values: the value of each row, or list of values for categories.

    Names and values of crossings are joined as in results: ``heuristic × label``.
    """
    rows = suite.frame.collect()
    columns: dict[str, pl.Series] = {}
    for names in breakdowns(suite.card):
        if names == (CATEGORY,) and suite.card.categories:
            flags = [pl.when(pl.col(name)).then(pl.lit(name)) for name in suite.card.categories]
            columns[CATEGORY] = rows.select(pl.concat_list(flags).list.drop_nulls()).to_series()
            continue
        texts = [pl.col(name).cast(pl.String).fill_null("none") for name in names]
        values = rows.select(pl.concat_str(texts, separator=CROSS)).to_series()
        if 1 < values.n_unique() <= MOST_VALUES:
            columns[CROSS.join(names)] = values
    return pl.DataFrame(columns)


def chat_rows(task: HarnessTask) -> Iterator[ChatRow]:
    """The pairs of a task as messages, as ``endpoint:`` models get them."""
    prompt = arranged_prompt(task.recipe.prompt)
    rows = task.suite.frame.select("id", "premise", "hypothesis", "label", "group").collect()
    factors = breakdown_columns(task.suite).iter_rows(named=True)
    for row, values in zip(rows.iter_rows(named=True), factors, strict=True):
        messages = prompt.messages(row["premise"], row["hypothesis"])
        yield ChatRow(row["id"], messages, row["label"], {"group": row["group"], **values})


def slice_names(columns: pl.DataFrame) -> list[str]:
    """Every slice as ``factor=value``, factor by factor, values in alphabetical order."""
    names = []
    for column in columns.iter_columns():
        values = column.explode() if isinstance(column.dtype, pl.List) else column
        names += [_slice_name(column.name, value) for value in values.drop_nulls().unique().sort()]
    return names


def row_slices(row: Mapping[str, str | Sequence[str]]) -> set[str]:
    """The slices that a row of ``breakdown_columns`` belongs to."""
    return {
        _slice_name(name, value)
        for name, values in row.items()
        for value in ([values] if isinstance(values, str) else values)
    }


def _slice_name(factor: str, value: str) -> str:
    # lm-evaluation-harness writes a comma between the names of a metric and of a filter.
    return f"{factor}={value}".replace(",", ";")
