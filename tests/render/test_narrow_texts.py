"""Columns of text on a terminal: wrapped to the room there is, never cut."""

from __future__ import annotations

import io

from rich.console import Console

from acidtest.core.document import Column, Document, Row, Table
from acidtest.render.terminal import print_document


def printed(width: int, *texts: str) -> list[str]:
    columns = (*(Column(f"text {number}", "text") for number in range(len(texts))), Column("pairs", "count"))
    table = Table("t", "", columns, (Row("a name", (*texts, 1_024)),))
    stream = io.StringIO()
    print_document(Document("t", "A headline.", (table,)), Console(file=stream, width=width, highlight=False))
    return [line.rstrip() for line in stream.getvalue().splitlines() if line.strip()]


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
