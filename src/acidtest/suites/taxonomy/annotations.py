"""What annotated files say of the categories of their pairs, as columns that are true or false."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import polars as pl

from acidtest.core.errors import AcidtestError, FileError, some
from acidtest.core.suite import CATEGORY, COLUMNS, PARSES, Kind, Suite
from acidtest.io.gold import row_error
from acidtest.io.list_columns import split_names
from acidtest.io.tables import flat, read_table
from acidtest.suites.corpus import renamed
from acidtest.text.taxonomy import NEUTRAL_FEATURES, published_columns, taxonomy

LISTED = "categories"
"""A column that lists the categories of a row."""

MARKED = frozenset({"1", "1.0", "true", "yes", "y", "x"})
UNMARKED = frozenset({"0", "0.0", "false", "no", "n"})
NOT_ASKED = frozenset({"", "-", "na", "n/a", "nan", "null", "none"})

_SPELT = "0 or 1, true or false, yes or no"


def annotated(pairs: Suite, categories: Sequence[str] = (), *, also_marked: Collection[str] = ()) -> Suite:
    """The pairs with a column of kind category for each of ``categories``, by default all the taxonomy has.

    A category is a column of 0 and 1, true and false or yes and no under its name here or in the published file, or it
    stands in the column ``categories``, a JSON list or ``a|b``; one of ``categories`` may be another column of lists,
    and means all that it names. ``also_marked`` are further spellings of 1. Features of neutral pairs are yes or no,
    and null for other pairs, whatever the file has there.
    """
    pairs = renamed(pairs, {CATEGORY})
    if len(categories) == 1 and categories[0] in pairs.card.lists:
        pairs, categories = _with_listed(pairs, categories[0])
    columns = _category_columns(pairs, categories)
    if columns:
        marked = {*MARKED, *also_marked}
        holds = {name: _read(pairs, column, marked).alias(name) for name, column in columns.items()}
    else:
        holds = _listed(pairs, categories)
    features = _feature_columns(pairs)
    asked = {name: _feature(pairs, column).alias(name) for name, column in features.items()}
    # Who answers the questionnaire for neutral pairs has features among the categories.
    told = {name: holds.pop(name) for name in NEUTRAL_FEATURES if name in holds and name not in categories}
    asked |= {name: _of_neutral(yes, ~yes).alias(name) for name, yes in told.items() if name not in asked}
    used = {*columns.values(), *features.values(), *(() if columns else (LISTED,))}
    kinds: dict[str, Kind] = {**dict.fromkeys(holds, "category"), **dict.fromkeys(asked, "factor")}
    kinds |= {name: kind for name, kind in pairs.card.columns.items() if name not in {*used, *kinds}}
    parses = [name for name in PARSES if name in pairs.frame.collect_schema().names()]
    frame = pairs.frame.with_columns(*holds.values(), *asked.values()).select(*COLUMNS, *parses, *kinds)
    return replace(pairs, frame=frame, card=replace(pairs.card, columns=kinds), control=None)


def _category_columns(pairs: Suite, categories: Sequence[str]) -> dict[str, str]:
    """The column of each category; none where they are listed in one."""
    known = list(pairs.card.columns)
    aliases = {found.name: found.column for found in taxonomy() if found.kind == "category"}
    wanted = {name: aliases.get(name, "") for name in categories} or aliases
    columns = dict[str, str]()
    for name, alias in wanted.items():
        spelt = [column for column in known if _spelling(column) in {_spelling(name), alias} - {""}]
        if len(spelt) > 1:
            problem = f"the columns {' and '.join(spelt)} both say whether a pair is {name!r}; leave one out"
            raise _error(pairs, problem)
        if spelt:
            columns[name] = spelt[0]
    if columns and LISTED in known:
        problem = f"has the column {LISTED!r} and also {some(list(columns.values()), 3)}; leave one or the others out"
        raise _error(pairs, problem)
    missing = [name for name in categories if name not in columns]
    if LISTED in known or not missing:
        if not columns and LISTED not in known:
            raise _error(pairs, _nothing(known))
        return columns
    raise _error(pairs, f"has no column {' or '.join(map(repr, missing))} (--categories); it has {some(known, 40)}")


def _nothing(known: Sequence[str]) -> str:
    return (
        f"no column says which categories its pairs have; it has {some(known, 40) or 'none but the pairs'}. "
        f"Expected are columns of 0 and 1 called lexical, negation and so on (acidtest taxonomy lists them), a column "
        f"{LISTED!r} with a|b or a list, or names of your own with --categories NAME,NAME"
    )


def _feature_columns(pairs: Suite) -> dict[str, str]:
    names = {theirs: ours for theirs, ours in published_columns().items() if ours in NEUTRAL_FEATURES}
    names |= {name: name for name in NEUTRAL_FEATURES}
    return {names[_spelling(column)]: column for column in pairs.card.columns if _spelling(column) in names}


def _read(pairs: Suite, column: str, marked: Collection[str]) -> pl.Expr:
    """Whether a column says yes; raises where it says neither."""
    _refuse(pairs, column, {*marked, *UNMARKED}, f"which is not {_SPELT}")
    return _text(column).is_in(list(marked))


def _feature(pairs: Suite, column: str) -> pl.Expr:
    _refuse(pairs, column, {*MARKED, *UNMARKED, *NOT_ASKED}, f"which is not {_SPELT}, nor - for not asked")
    marked, unmarked = (_text(column).is_in(list(spelt)) for spelt in (MARKED, UNMARKED))
    return _of_neutral(marked, unmarked)


def _of_neutral(yes: pl.Expr, no: pl.Expr) -> pl.Expr:
    told = pl.when(yes).then(pl.lit("yes")).when(no).then(pl.lit("no"))
    return pl.when(pl.col("label") == "neutral").then(told)


def _listed(pairs: Suite, categories: Sequence[str]) -> dict[str, pl.Expr]:
    """Categories that one column lists, in the order of ``categories`` or of the taxonomy."""
    aliases = {found.column or found.name: found.name for found in taxonomy() if found.kind != "group"}
    known = list(categories) or list(aliases.values())
    spelt = {_spelling(name): name for name in known} | ({} if categories else aliases)
    texts = pairs.frame.select(pl.col(LISTED).fill_null("").unique(maintain_order=True)).collect().to_series()
    names = {text: _names(text) for text in texts}
    wrong = {text: [name for name in found if _spelling(name) not in spelt] for text, found in names.items()}
    if any(wrong.values()):
        text = next(text for text, unknown in wrong.items() if unknown)
        of = "among --categories" if categories else "a category of the taxonomy; name your own with --categories A,B"
        problem = f"{wrong[text][0]!r} is not {of}"
        raise _located(pairs, LISTED, lambda cell: any(_spelling(name) not in spelt for name in _names(cell)), problem)
    held = {text: {spelt[_spelling(name)] for name in found} for text, found in names.items()}
    # Of the taxonomy, what the paper did not annotate or asked of neutral pairs is a column only where it is used.
    optional = {found.name for found in taxonomy() if not found.annotated or found.kind == "feature"} - set(categories)
    used = [name for name in known if name not in optional or any(name in names for names in held.values())]
    cell = pl.col(LISTED).fill_null("")
    return {name: cell.is_in([text for text in held if name in held[text]]).alias(name) for name in used}


def _with_listed(pairs: Suite, column: str) -> tuple[Suite, list[str]]:
    """The pairs with a column of lists as ``categories``, and what it names."""
    card = replace(pairs.card, columns={**pairs.card.columns, LISTED: "list"})
    frame = pairs.frame.with_columns(pl.col(column).alias(LISTED))
    cells = frame.select(pl.col(LISTED).drop_nulls().unique(maintain_order=True)).collect().to_series()
    return replace(pairs, frame=frame, card=card), list(dict.fromkeys(name for cell in cells for name in _names(cell)))


def _names(text: str) -> list[str]:
    """The names in ``["a", "b"]``, ``['a', 'b']`` or ``a|b``."""
    names = split_names(text)
    return [name.strip() for name in text.split("|") if name.strip()] if names is None else names


def _text(column: str) -> pl.Expr:
    return pl.col(column).cast(pl.String).str.strip_chars().str.to_lowercase().fill_null("")


def _spelling(name: str) -> str:
    return name.strip().lower().replace("-", "_").replace(" ", "_")


def _refuse(pairs: Suite, column: str, known: Collection[str], problem: str) -> None:
    """Raise where a column holds something else."""
    values = pairs.frame.select(_text(column).unique(maintain_order=True)).collect().to_series()
    unknown = [value for value in values if value not in known]
    if unknown:
        held = f"holds {unknown[0]!r}" if unknown[0] else "is empty here"
        told = f"column {column!r} {held}, {problem}; say it for every row"
        raise _located(pairs, column, lambda cell: cell.strip().lower() == unknown[0], told)


def _located(pairs: Suite, column: str, wrong: Callable[[str], bool], problem: str) -> AcidtestError:
    """The error with the line of the file that the first wrong cell stands on."""
    if pairs.origin is None or not pairs.origin.is_file():
        return _error(pairs, problem)
    table, row = read_table(pairs.origin), 0
    if column not in table.columns:
        return _error(pairs, problem)
    for batch in table.rows.batches(column):
        cells: list[str] = flat(batch)[column].cast(pl.String).fill_null("").to_list()
        for place, cell in enumerate(cells):
            if wrong(cell):
                return row_error(table, row + place, column=column, problem=problem)
        row += len(cells)
    return _error(pairs, problem)


def _error(pairs: Suite, problem: str) -> AcidtestError:
    return FileError(pairs.origin, problem) if pairs.origin else AcidtestError(f"{pairs.name}: {problem}")
