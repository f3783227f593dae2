"""Pages and files of documents: what comes from outside is shown and never run, and nothing is loaded."""

from __future__ import annotations

import base64
import csv
import hashlib
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acidtest.core.document import (
    Chart,
    Column,
    Document,
    Finding,
    Note,
    Published,
    Push,
    Reference,
    Row,
    Section,
    Table,
)
from acidtest.core.errors import FileError
from acidtest.core.escaping import escape_latex
from acidtest.core.estimate import Estimate
from acidtest.render.files import LONG, latex_table, markdown_table, write_charts, write_tables
from acidtest.render.html import explain_signatures, fold_sections, mark_words, render_page
from acidtest.render.svg import draw

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>&\"'{{7*7}}"
KNOWN = Estimate(0.5, 0.4, 0.6, 100, 100, "Wilson")
COLUMNS = (
    Column("=first", model="=first"),
    Column("second", model="second"),
    Column("a paper", role="published"),
    Column("note", "text"),
)
ROWS = (
    Row("plain", (KNOWN, Estimate(0.7, 0.6, 0.8, 100, 100, "Wilson"), Published(0.81), "x|y_z"), slice={"kind": "a"}),
    Row("+evil", (Estimate(math.nan, note="no rows"), KNOWN, None, EVIL), heading="Some & more"),
)
TABLE = Table("table", "Accuracy, %", COLUMNS, ROWS, "slice", notes=("A note.",), sources=("Somebody 2019",))


def document(table: Table = TABLE) -> Document:
    parts = (
        Finding("P1", "severe", f"a sentence with {EVIL}", suite=EVIL, evidence=(EVIL,)),
        Section(EVIL, (table, Chart(table.id), Note(EVIL)), anchor="numbers"),
    )
    return Document(EVIL, f"{EVIL}.", parts, models=("=first", "second"), signatures={"hans": "hans|v:1|n:2"})


def test_markup_from_outside_is_shown_and_never_run() -> None:
    page = render_page(document())
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "{{7*7}}" in page


def test_a_policy_in_the_page_allows_its_own_script_and_nothing_else() -> None:
    page = render_page(document())
    [policy] = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    [script] = re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy.startswith("default-src 'none'; ")
    assert f"script-src 'sha256-{digest}'" in policy.replace("&#39;", "'")


def test_the_page_loads_nothing_from_anywhere() -> None:
    page = render_page(document())
    assert not re.search(r"""(?:src|href)\s*=\s*["'](?!#)""", page)
    assert not re.search(r"url\((?!#)|@import", page)


def test_the_same_document_gives_the_same_page() -> None:
    assert render_page(document()) == render_page(document())


def test_an_estimate_that_is_not_known_is_a_dash_with_its_note() -> None:
    page = render_page(document())
    assert re.search(r'title="no rows">–<sup>1</sup></td>', page)
    assert '<ol class="notes"><li>No rows.</li></ol>' in page


def test_how_many_pairs_a_number_is_based_on_can_be_read_without_a_pointer() -> None:
    page = render_page(document())
    assert '<p class="quiet">In every row n = 100.</p>' in page
    few = Row("few", (Estimate(0.5, 0.1, 0.9, 8, 8, "Wilson"), KNOWN, None, ""))
    page = render_page(document(replace(TABLE, rows=(*ROWS, few))))
    assert "plain <small>n = 100</small></th>" in page
    assert "few <small>n = 8 to 100</small></th>" in page
    assert "In every row" not in page


def test_a_csv_has_every_number_and_runs_nothing_in_a_spreadsheet(tmp_path: Path) -> None:
    [path, *_] = write_tables(document(), tmp_path)
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    first = rows[0]
    assert (first["row"], first["value"], first["low"], first["high"], first["n"]) == (
        "plain",
        "0.5",
        "0.4",
        "0.6",
        "100",
    )
    assert first["kind"] == "model"
    assert {row["kind"] for row in rows if row["column"] == "a paper"} == {"published"}
    assert not [cell for row in rows for cell in row.values() if cell and cell[0] in "=+@"]


def test_a_latex_table_has_booktabs_intervals_notes_and_the_signature(tmp_path: Path) -> None:
    write_tables(document(), tmp_path)
    text = (tmp_path / "table.tex").read_text(encoding="utf-8")
    assert r"\toprule" in text
    assert "50.0 (40.0--60.0)" in text
    assert r"\emph{Some \& more}" in text
    assert "A note. Somebody 2019" in text
    assert r"hans|\allowbreak v:1|\allowbreak n:2" in text
    assert EVIL not in text


def test_a_long_latex_table_runs_over_pages() -> None:
    rows = tuple(Row(str(number), (KNOWN,)) for number in range(LONG + 1))
    assert r"\begin{longtable}" in latex_table(Table("t", "T", (Column("a"),), rows), label="tab:t")
    assert r"\begin{tabular}" in latex_table(Table("t", "T", (Column("a"),), rows[:3]), label="tab:t")


PLAIN = {
    r"\textbackslash{}": "\\",
    r"\textasciicircum{}": "^",
    r"\textasciitilde{}": "~",
    r"\textless{}": "<",
    r"\textgreater{}": ">",
    r"\textbar{}": "|",
    r"\symbol{34}": '"',
    r"\textasciigrave{}": "`",
    "{[}": "[",
    "{]}": "]",
    "{*}": "*",
}


@given(st.text(st.sampled_from("ab\\{}$&#%_^~<>|\"`[]*-',")))
def test_any_text_is_printed_letter_for_letter(text: str) -> None:
    """What LaTeX prints: commands for their letters, escaped letters as they are, empty groups as nothing."""
    names = "|".join(map(re.escape, sorted(PLAIN, key=len, reverse=True)))
    tokens = re.findall(rf"{names}|\\[{{}}$&#%_]|\{{\}}|.", escape_latex(text))
    printed = (PLAIN.get(token, "" if token == "{}" else token.removeprefix("\\")) for token in tokens)
    assert "".join(printed) == text
    assert not re.search(r"--|''|,,", "".join(tokens))


def test_markdown_keeps_its_columns_whatever_the_cells_hold() -> None:
    lines = [line for line in markdown_table(TABLE).splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {len(COLUMNS) + 2}
    assert r"x&#124;y_z" in markdown_table(TABLE)


def test_no_two_tables_share_a_file_and_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    twins = Document("t", "T.", (TABLE, Table("Table!", "T", COLUMNS, ROWS), Table("täble", "T", COLUMNS, ROWS)))
    names = [path.name for path in write_tables(twins, tmp_path / "tables")]
    assert len({name.lower() for name in names}) == 9
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    with pytest.raises(FileError, match="is a file; a folder was expected"):
        write_tables(twins, tmp_path / "file")


def test_charts_are_written_as_drawings_and_as_pictures_of_twice_the_size(tmp_path: Path) -> None:
    svg, png = write_charts(document(), tmp_path)
    width, height = (int(float(size)) for size in re.findall(r'(?:width|height)="([\d.]+)"', svg.read_text())[:2])
    content = png.read_bytes()
    assert content.startswith(b"\x89PNG")
    assert int.from_bytes(content[16:20]) == 2 * width
    assert abs(int.from_bytes(content[20:24]) - 2 * height) <= 2


def test_a_drawing_loads_nothing_and_markup_in_names_is_text() -> None:
    rows = (Row(EVIL, (KNOWN, KNOWN, Published(0.2), "")),)
    svg = draw(Chart("table", title=EVIL), Table("table", "T", COLUMNS, rows), standalone=True)
    assert "<script" not in svg
    assert "<img" not in svg
    assert not re.search(r'href="(?!#)|url\((?!#)', svg)


def test_a_chart_has_a_dot_and_a_line_for_every_known_estimate_and_a_mark_for_papers() -> None:
    svg = draw(Chart("table"), TABLE, standalone=True)
    # Three of the four estimates are known; the legend has one mark for each model and one for the paper.
    assert len(re.findall(r'class="[^"]*\bs[01]\b', svg)) >= 3 + 2
    assert len(re.findall(r'class="[^"]*\bpublished\b', svg)) == 1 + 1


def test_words_that_differ_are_marked_and_markup_in_them_is_text() -> None:
    marked = mark_words("The <b>old</b> man slept.", "The young man slept.")
    assert marked == "The <mark>&lt;b&gt;old&lt;/b&gt;</mark> man slept."
    assert mark_words("The man slept.", "The man slept.") == "The man slept."


def test_a_section_that_does_not_fit_is_folded_with_its_first_sentence_as_summary() -> None:
    rows = tuple(Row(str(number), (KNOWN,)) for number in range(100))
    long = tuple(
        Section(f"S{number}", (Note("First words. More."), Table(f"t{number}", "T", (Column("a"),), rows)))
        for number in range(5)
    )
    short = Section("short", (Note("A line."),))
    folded = fold_sections((*long, short), {})
    assert [part.folded for part in folded if isinstance(part, Section)] == [False] * 3 + [True] * 2 + [False]
    assert isinstance(folded[4], Section)
    assert folded[4].summary == "First words"


def test_a_small_bar_has_a_tick_where_the_control_is() -> None:
    columns = (Column("accuracy", spark=True), Column("control", role="control"))
    rows = (Row("with", (KNOWN, Estimate(0.75, 0.7, 0.8, 100, 100, "Wilson"))), Row("without", (KNOWN, None)))
    page = render_page(Document("t", "T.", (Table("t", "T", columns, rows),)))
    assert page.count('class="spark"') == 2
    # The track is 118 pixels wide and begins at 1.
    assert re.findall(r'<line x1="([\d.]+)"[^>]*class="tick"', page) == ["89.5"]
    assert "the tick across them" in page


def test_a_row_leads_to_the_section_of_its_name() -> None:
    table = Table("t", "T", (Column("a"),), (Row("hans", (KNOWN,)), Row("else", (KNOWN,))))
    page = render_page(Document("t", "T.", (table, Section("hans", (Note("x"),), anchor="suite-1"))))
    assert '<th scope="row"><a href="#suite-1">hans</a></th>' in page
    assert '<th scope="row">else</th>' in page


def test_the_picture_of_effects_says_what_is_used_and_toward_which_label() -> None:
    strong = Push(Estimate(0.45, 0.27, 0.64, 100, 100, "m"), "entailment", used=True)
    weak = Push(Estimate(-0.002, -0.1, 0.1, 100, 100, "m"))
    rows = (Row("gold", (KNOWN,)), Row("overlap", (strong,)), Row("length", (weak,)))
    table = Table("effects", "T", (Column("effect", "points"),), rows)
    svg = draw(Chart("effects", "effects", reference=Reference(0.1, "used above")), table)
    assert re.findall(r">([^<]+)</text>", svg)[:6] == [
        "gold",
        "+50",
        "overlap",
        "+45 toward entailment, used",
        "length",
        "0",
    ]
    assert svg.count("faint") == 1
    # The line at ten points crosses the cues and not gold.
    assert svg.count('class="zero"') == 2


def test_every_part_of_a_signature_is_explained() -> None:
    explained = explain_signatures(["hans|v:2|words:fresh|place:end|n:10", "lexical|v:1|most:100"])
    assert list(explained) == ["v:", "words:", "n:", "place:, most:"]


def test_an_axis_with_many_ticks_in_little_room_keeps_the_label_of_zero() -> None:
    far = Push(Estimate(0.6, -0.15, 0.75, 100, 100, "m"))
    table = Table("effects", "T", (Column("effect", "points"),), (Row("overlap", (far,)),))
    texts = re.findall(r">([^<]+)</text>", draw(Chart("effects", "effects"), table, width=360))
    # From −20 to +80 in steps of 20, of which every second has room.
    assert texts[2:] == ["0", "+40", "+80"]
