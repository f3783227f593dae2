"""Documents: tables of values."""

from __future__ import annotations

from acidtest.core.document import Column, Row, Table


def test_columns_without_any_value_are_left_out() -> None:
    rows = (Row("a", (1, None, "")), Row("b", (None, None, "x")))
    table = Table("t", "caption", (Column("number"), Column("nothing"), Column("text")), rows)
    kept = table.without_empty_columns()
    assert [column.name for column in kept.columns] == ["number", "text"]
    assert [row.cells for row in kept.rows] == [(1, ""), (None, "x")]
