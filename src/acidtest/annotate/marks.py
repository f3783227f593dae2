"""Categories that people marked, as files hold them: lists, or a column of 0 and 1 for each category."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import polars as pl

from acidtest.annotate.answers import PARTICULARS, listed, text, truths
from acidtest.annotate.questionnaires import SEPARATOR, Questionnaire
from acidtest.core.errors import FileError
from acidtest.io.tables import Table
from acidtest.text.taxonomy import ordered_categories, taxonomy_name

LISTS = "categories"
"""What the column that holds lists of categories is called."""

_LIST = pl.List(pl.String)
_MARKED, _NOT = ("1", "1.0", "true"), ("0", "0.0", "false")
_NOTHING = ("", "-", "none")


def category_columns(
    table: Table,
    named: Sequence[str],
    *,
    taken: Collection[str | None],
    carried: Collection[str] = (),
    item: str = "",
) -> tuple[str, ...]:
    """The columns that hold categories: those named, one of lists, or two or more that hold nothing but 0 and 1.

    Not those alone that came along with the items (``carried``). With ``item``, the column that names items, one of the
    latter must differ between people somewhere: what is the same of every item, beside labels, may be known of the
    items themselves.
    """
    if named:
        return tuple(named)
    lists = [name for name in table.columns if name.strip().lower() == LISTS and name not in carried]
    if lists:
        return (lists[0],)
    found = tuple(name for name in truth_columns(table) if name not in taken)
    if len(found) < 2 or set(found) <= set(carried):
        return ()
    by_item = table.frame.group_by(item).agg(pl.col(found).n_unique()) if item else None
    differ = by_item is None or (by_item.select(pl.max_horizontal(found)).to_series() > 1).any()
    return found if differ else ()


def truth_columns(table: Table) -> list[str]:
    """The columns that hold nothing but 0 and 1, but for slips of the pen."""
    names = (name for name in table.columns if name.strip().lower() not in PARTICULARS)
    return [name for name in names if _is_truth(table.frame[name], slips=True)]


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


def _is_truth(column: pl.Series, *, slips: bool = False) -> bool:
    """Whether a column holds nothing but 0 and 1, one of them at least.

    With ``slips``, whether most of what is filled in is so, and the rest are no numbers: those would be counts.
    """
    if column.dtype.is_nested():
        return False
    written = text(column).drop_nulls().str.to_lowercase()
    known = written.is_in([*_MARKED, *_NOT])
    if not slips:
        return bool(known.any() and known.all())
    others = written.filter(~known)
    return len(written) > 2 * len(others) and others.cast(pl.Float64, strict=False).is_null().all()


def _truth(table: Table, name: str) -> pl.Series:
    """Whether a category is marked in each row; null where the cell is empty."""
    column = table.frame[name]
    if column.dtype.is_nested():
        raise FileError(table.path, f"column {name!r} holds lists; it alone can be given as --categories {name}")
    found, neither = truths(column, _MARKED, _NOT)
    for row in neither[:1]:
        line = table.line(row)
        problem = f"column {name!r} holds {column[row]!r}; write 1 where the category is marked and 0 where not"
        raise FileError(table.path, problem if line else f"row {row + 1:,}: {problem}", line)
    return found
