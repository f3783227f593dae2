"""Categories that people marked, as files hold them: lists, or a column of 0 and 1 for each category."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import polars as pl

from acidtest.analysis.category_agreement import ordered_categories, taxonomy_name
from acidtest.annotate.answers import PARTICULARS, listed
from acidtest.annotate.questionnaires import SEPARATOR, Questionnaire
from acidtest.core.errors import FileError
from acidtest.core.tables import Table

LISTS = "categories"
"""What the column that holds lists of categories is called."""

_LIST = pl.List(pl.String)
_MARKED, _NOT = ("1", "1.0", "true"), ("0", "0.0", "false")
_NOTHING = ("", "-", "none")


def category_columns(
    table: Table, named: Sequence[str], *, taken: Collection[str | None], item: str = ""
) -> tuple[str, ...]:
    """The columns that hold categories: those named, one of lists, or two or more that hold nothing but 0 and 1.

    With ``item``, the column that names items, one of the latter must differ between people somewhere: what is the same
    of every item, beside labels, may be known of the items themselves.
    """
    if named:
        return tuple(named)
    lists = [name for name in table.columns if name.strip().lower() == LISTS]
    if lists:
        return (lists[0],)
    others = (name for name in table.columns if name not in taken and name.strip().lower() not in PARTICULARS)
    found = tuple(name for name in others if _is_truth(table.frame[name]))
    if len(found) < 2:
        return ()
    by_item = table.frame.group_by(item).agg(pl.col(found).n_unique()) if item else None
    differ = by_item is None or (by_item.select(pl.max_horizontal(found)).to_series() > 1).any()
    return found if differ else ()


def marked_categories(table: Table, columns: Sequence[str]) -> tuple[pl.Series, tuple[str, ...]]:
    """The categories of each row of a file, a list in the order of the columns, and all there are.

    A row is null, as nobody judged it, where a list is missing in JSON or all columns are empty.
    """
    frame = table.frame
    if len(columns) == 1 and not _is_truth(frame[columns[0]]):
        return _lists(frame[columns[0]])
    names = [taxonomy_name(column) for column in columns]
    truths = [_truth(table, column) for column in columns]
    held = pl.DataFrame([truth.alias(f"{at}") for at, truth in enumerate(truths)])
    lists = pl.concat_list(
        pl.when(pl.col(f"{at}").fill_null(False)).then(pl.lit(name)) for at, name in enumerate(names)
    ).list.drop_nulls()
    judged = pl.any_horizontal(pl.all().is_not_null())
    return held.select(categories=pl.when(judged).then(lists)).to_series(), ordered_categories(names)


def possible_categories(questionnaire: Questionnaire) -> tuple[str, ...]:
    """Every category that a questionnaire's rules can give."""
    found = list[str]()
    for rule in questionnaire.rules:
        found += rule.categories
        for name in rule.categories_from:
            found += [option.id for option in questionnaire.question(name).options if not option.exclusive]
    return ordered_categories(found)


def _lists(column: pl.Series) -> tuple[pl.Series, tuple[str, ...]]:
    if not isinstance(column.dtype, pl.List):
        # An empty cell of text is a set of nothing: delimited text knows no other way to write it.
        column = listed(column.cast(pl.String, strict=False).fill_null(""), SEPARATOR)
    each = pl.element().str.strip_chars()
    lists = column.cast(_LIST).list.eval(each.filter(each.is_not_null() & ~each.str.to_lowercase().is_in(_NOTHING)))
    names = {name: taxonomy_name(name) for name in lists.explode(empty_as_null=False, keep_nulls=False).unique()}
    known = lists.list.eval(pl.element().replace(names)).alias("categories")
    return known, ordered_categories(sorted(names))


def _is_truth(column: pl.Series) -> bool:
    """Whether a column holds nothing but 0 and 1, one of them at least."""
    if column.dtype.is_nested():
        return False
    written = column.drop_nulls().cast(pl.String, strict=False).str.strip_chars().str.to_lowercase()
    found = set(written.unique()) - {""}
    return bool(found) and found <= {*_MARKED, *_NOT}


def _truth(table: Table, name: str) -> pl.Series:
    """Whether a category is marked in each row; null where the cell is empty."""
    column = table.frame[name]
    if column.dtype.is_nested():
        raise FileError(table.path, f"column {name!r} holds lists; it alone can be given as --categories {name}")
    written = column.cast(pl.String, strict=False).str.strip_chars().str.to_lowercase().replace("", None)
    known = {**dict.fromkeys(_MARKED, True), **dict.fromkeys(_NOT, False)}
    found = written.replace_strict(known, default=None, return_dtype=pl.Boolean)
    for row in (written.is_not_null() & found.is_null()).arg_true().head(1):
        line = table.line(row)
        problem = f"column {name!r} (--categories) holds {column[row]!r}; write 1 where it is marked and 0 where not"
        raise FileError(table.path, problem if line else f"row {row + 1:,}: {problem}", line)
    return found
