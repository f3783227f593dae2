"""Columns of text on a terminal: wrapped to the room there is, never cut."""

from __future__ import annotations

import re

from acidtest.core.document import Column, Document, Row, Table
from acidtest.render.terminal import render


def printed(width: int, *texts: str) -> list[str]:
    columns = (*(Column(f"text {number}", "text") for number in range(len(texts))), Column("pairs", "count"))
    table = Table("t", "", columns, (Row("a name", (*texts, 1_024)),))
    lines = render(Document("t", "A headline.", (table,)), width)
    return [shown for line in lines if (shown := re.sub(r"\x1b\[[0-9;]*m", "", line))]


def test_a_long_text_is_wrapped_beside_the_other_columns() -> None:
    text = " ".join(f"word{number}" for number in range(30))
    lines = printed(80, text, "short")
    assert max(map(len, lines)) <= 80
    # The headline, a line of column names, and then the row: its name and number stand once, on its first line.
    assert [line for line in lines if line.startswith("a name")] == [lines[2]]
    assert lines[2].endswith("1,024")
    assert all(f"word{number}" in "\n".join(lines) for number in range(30))


def test_texts_that_fit_are_left_on_one_line() -> None:
    assert len(printed(80, "a few words")) == 3


def test_numbers_line_up_under_wide_characters() -> None:
    rows = (Row("日本", (1,)), Row("name", (2,)))
    lines = list(render(Document("t", "A headline.", (Table("t", "", (Column("pairs", "count"),), rows),)), 40))
    # A Chinese character takes two places: both names are four places wide.
    assert lines[-3:-1] == ["日本      1", "name      2"]
