"""Tables as CSV and LaTeX, charts as SVG and PNG."""

from __future__ import annotations

import re
import struct
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acidtest import api
from acidtest.cli.app import main
from acidtest.core.errors import FileError
from acidtest.core.estimate import Estimate
from acidtest.io.tables import read_table, unprefixed
from acidtest.reports.exports import Folder, write_comparison_plots, write_comparison_tables, write_plots, write_tables
from acidtest.reports.latex import LONG, escaped
from acidtest.studies.comparison import Contrast, contrasts

GOLD, OTHER = "entailment", "non-entailment"

COMMANDS = {
    r"\textbackslash{}": "\\",
    r"\textasciicircum{}": "^",
    r"\textasciitilde{}": "~",
    r"\textless{}": "<",
    r"\textgreater{}": ">",
    r"\textbar{}": "|",
    r"\symbol{34}": '"',
    r"\textasciigrave{}": "`",
    r"$\times$": "×",
    r"\ldots{}": "…",
    "$-$": "−",
    "--": "–",
    "~": "\N{NO-BREAK SPACE}",
    "{}": "",
    **{f"\\{letter}": letter for letter in "{}$&#%_"},
    **{f"{{{letter}}}": letter for letter in "[]*"},
}


def typeset(text: str) -> str:
    """What LaTeX would print, for the commands we use; a special letter left bare is an error."""
    printed, rest = "", text
    while rest:
        command = next((each for each in COMMANDS if rest.startswith(each)), None)
        if command is None:
            assert rest[0] not in '\\{}$&#%_^~<>|"`[]*', f"{rest[0]!r} is bare in {text!r}"
            command = rest[0]
        printed += COMMANDS.get(command, command)
        rest = rest[len(command) :]
    return printed


@given(st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"])))
def test_any_text_is_printed_letter_for_letter(text: str) -> None:
    assert typeset(escaped(text)) == text


@pytest.mark.parametrize("text", ["--", "---", "a--b", "''", ",,", "''''", "-–", "–-", "––"])
def test_letters_that_would_join_are_kept_apart(text: str) -> None:
    assert typeset(escaped(text)) == text


def test_line_ends_become_spaces() -> None:
    assert escaped("a\r\nb\tc\x00d\u2028e") == "a b c d e"


def cells(line: str) -> int:
    """How many columns a line of a table fills."""
    spans = [int(count) for count in re.findall(r"\\multicolumn\{(\d+)\}", line)]
    plain = re.sub(r"\\&", "", re.sub(r"\\multicolumn\{\d+\}", "", line))
    return plain.count("&") + 1 + sum(spans) - len(spans)


def assert_sound(text: str) -> None:
    """Braces and environments that close, and as many cells in each line as there are columns."""
    bare = re.sub(r"\\[{}]", "", text)
    assert bare.count("{") == bare.count("}")
    assert re.findall(r"\\begin\{(\w+)\}", text) == re.findall(r"\\end\{(\w+)\}", text)[::-1]
    (alignment,) = re.findall(r"\\begin\{(?:tabular|longtable)\}\{([lr]+)\}", text)
    lines = [line for line in text.splitlines() if line.endswith(r" \\")]
    assert lines
    assert {cells(line.removesuffix(r" \\")) for line in lines} == {len(alignment)}


def contrast(**fields: Any) -> Contrast:
    change = Estimate(-0.1, -0.15, -0.05, 100, 100, "Wilson")
    usual = Contrast("toy", "a-model", "b", "", "", (0.6, 0.5), change, True, "McNemar, exact", 0.00001, 0.002, 0.04)
    return replace(usual, **fields)


def test_a_run_has_a_table_for_the_whole_the_metrics_and_every_factor(toy: SimpleNamespace, tmp_path: Path) -> None:
    written = write_tables([toy.entry()], [], tmp_path / "tables")
    names = ["toy-whole", "toy-metrics", "toy-label", "toy-voice", "toy-voice-label"]
    assert sorted(path.name for path in written) == sorted(f"{n}.{ending}" for n in names for ending in ("csv", "tex"))
    assert sorted(written) == sorted((tmp_path / "tables").iterdir())
    for path in written:
        if path.suffix == ".tex":
            assert_sound(path.read_text(encoding="utf-8"))


def test_a_csv_has_every_number_of_models_people_and_papers(toy: SimpleNamespace, tmp_path: Path) -> None:
    numbers = [
        {"system": "BERT", "source": "table 3", "condition": "", "by": {"voice": "active"}, "value": 0.5},
        {"system": "crowd", "source": "sec. 6", "condition": "people", "by": {"voice": "active"}, "value": 0.9},
        {"system": "BERT", "source": "table 4", "condition": "on more", "by": {"voice": "passive"}, "value": 0.7},
    ]
    write_tables([toy.entry(results={"toy": toy.suite_result(published=numbers)})], [], tmp_path)
    frame = read_table(tmp_path / "toy-voice.csv").frame
    assert frame.columns[:5] == ["voice", "system", "kind", "condition", "value"]
    rows = frame.select("voice", "system", "kind", "condition", "value", "source").rows()
    assert rows == [
        ("active", "a-model", "model", None, "0.97125", None),
        ("passive", "a-model", "model", None, "1.0", None),
        ("active", "BERT", "published", None, "0.5", "table 3"),
        ("active", "crowd", "people", None, "0.9", "sec. 6"),
        ("passive", "BERT", "published", "on more", "0.7", "table 4"),
    ]
    assert frame["signature"][0] == "toy|v:1|n:4"
    crossed = read_table(tmp_path / "toy-voice-label.csv").frame
    assert crossed.select("voice", "label", "value").row(0) == ("active", OTHER, None)


def test_cells_that_a_spreadsheet_would_run_are_prefixed(toy: SimpleNamespace, tmp_path: Path) -> None:
    bad = "=HYPERLINK(1)"
    card = replace(toy.CARD, columns={"@voice": "factor", "value": "factor"}, crossings=())
    half = toy.estimate(0.5, 0.4, 0.6)
    result = toy.suite_result(by={"@voice": {bad: half}, "value": {"-1": half}})
    write_tables([toy.entry(results={"toy": result}, cards=[card], model="+model")], [], tmp_path)
    text = (tmp_path / "toy-voice.csv").read_text(encoding="utf-8")
    assert text.startswith("'@voice,system,")
    assert text.splitlines()[1].startswith(f"'{bad},'+model,")
    back = unprefixed(read_table(tmp_path / "toy-voice.csv").frame)
    assert back.row(0)[:2] == (bad, "+model")
    # A factor called as a column of ours is told from it.
    assert read_table(tmp_path / "toy-value.csv").frame.columns[:2] == ["factor_value", "system"]


def test_a_latex_table_has_booktabs_the_intervals_and_the_signature(toy: SimpleNamespace, tmp_path: Path) -> None:
    write_tables([toy.entry()], [], tmp_path)
    text = (tmp_path / "toy-voice.tex").read_text(encoding="utf-8")
    assert text.startswith("% Written by acidtest; needs \\usepackage{booktabs}.")
    for part in (r"\toprule", r"\midrule", r"\bottomrule", r"\label{tab:toy-voice}"):
        assert part in text
    assert r"\texttt{toy|\allowbreak v:1|\allowbreak n:4}" in text
    assert r"active & 97.1 & 90.7--98.3 & 100 \\" in text
    crossed = (tmp_path / "toy-voice-label.tex").read_text(encoding="utf-8")
    assert r" & \multicolumn{1}{c}{gold entailment} & \multicolumn{2}{c}{gold non-entailment} \\" in crossed
    assert r"\cmidrule(lr){2-2}\cmidrule(lr){3-4}" in crossed
    assert r"a-model & 50.0 (10.0--90.0) & -- & 100.0 (20.0--100.0) \\" in crossed


def test_several_models_and_papers_stand_side_by_side_in_latex(toy: SimpleNamespace, tmp_path: Path) -> None:
    numbers = [
        {"system": "BERT_base & co", "source": "table 3", "condition": "", "by": {"voice": "active"}, "value": 0.5},
        {"system": "crowd", "source": "sec. 6", "condition": "people", "by": {"voice": "active"}, "value": 0.9},
    ]
    result = toy.suite_result(published=numbers)
    write_tables([toy.entry(results={"toy": result}), toy.entry(results={"toy": result}, model="b_c")], [], tmp_path)
    text = (tmp_path / "toy-voice.tex").read_text(encoding="utf-8")
    assert_sound(text)
    assert r"voice & a-model & b\_c & $n$ & crowd & BERT\_base \& co \\" in text
    assert r"\cmidrule(lr){5-5}" in text
    assert r"\cmidrule(lr){6-6}" in text
    assert r"active & 97.1 (90.7--98.3) & 97.1 (90.7--98.3) & 100 & 90 & 50 \\" in text


def test_a_long_table_runs_over_pages(toy: SimpleNamespace, tmp_path: Path) -> None:
    many = {f"[{number}]*": toy.estimate(0.5, 0.4, 0.6, n=12345) for number in range(LONG + 1)}
    write_tables([toy.entry(results={"toy": toy.suite_result(by={"voice": many})})], [], tmp_path)
    text = (tmp_path / "toy-voice.tex").read_text(encoding="utf-8")
    assert_sound(text)
    assert r"\begin{longtable}" in text
    assert r"{[}0{]}{*} & 50.0 & 40.0--60.0 & 12{,}345 \\" in text


def test_contrasts_have_tables_of_their_own(toy: SimpleNamespace, tmp_path: Path) -> None:
    entries = [toy.entry(), toy.entry(model="b")]
    unknown = Estimate(float("nan"), note="no rows")
    found = [
        contrast(),
        contrast(factor="voice × label", value=f"active × {GOLD}"),
        contrast(factor="voice × label", value=f"passive × {GOLD}", difference=unknown, detectable=float("nan")),
    ]
    written = write_comparison_tables(entries, found, tmp_path)
    names = ["comparison.csv", "comparison.tex", "comparison-toy-voice-label.csv", "comparison-toy-voice-label.tex"]
    assert [path.name for path in written] == names
    for name in names[1::2]:
        assert_sound((tmp_path / name).read_text(encoding="utf-8"))
    assert r"toy & b $-$ a-model & 60.0 & 50.0 & $-$10.0 & $-$15.0 to $-$5.0 & \textless{}0.0001 & 0.0020 & 4.0 \\" in (
        tmp_path / "comparison.tex"
    ).read_text(encoding="utf-8")
    frame = read_table(tmp_path / names[2]).frame
    assert frame.columns[:5] == ["voice", "label", "suite", "first", "second"]
    assert frame.select("voice", "difference", "p_adjusted", "detectable", "note").rows() == [
        ("active", "-0.1", "0.002", "0.04", None),
        ("passive", None, "0.002", None, "no rows"),
    ]


def test_charts_are_written_as_drawings_and_as_pictures(toy: SimpleNamespace, tmp_path: Path) -> None:
    written = write_plots([toy.entry()], [], tmp_path)
    assert {path.name for path in written} == {
        f"toy-{name}.{ending}" for name in ("label", "voice", "voice-label") for ending in ("svg", "png")
    }
    assert (tmp_path / "toy-voice.svg").read_text(encoding="utf-8").startswith("<svg")
    png = (tmp_path / "toy-voice.png").read_bytes()
    assert png.startswith(b"\x89PNG")
    assert struct.unpack(">I", png[16:20])[0] > 1000


def test_many_pairs_of_models_have_a_picture_each(toy: SimpleNamespace, tmp_path: Path) -> None:
    entries = [toy.entry(model=f"m{number}") for number in range(5)]
    found = [
        contrast(first=f"m{one}", second=f"m{two}", factor="voice", value="active")
        for one in range(5)
        for two in range(one + 1, 5)
    ][:7]
    written = write_comparison_plots(entries, found, tmp_path)
    assert len(written) == 14
    assert "comparison-toy-voice-m1-m0.svg" in {path.name for path in written}


def test_no_two_tables_share_a_file(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    assert [folder.name(*parts) for parts in (("a/b", "c"), ("a-b", "c"), ("A b", "C"), ("×",))] == [
        "a-b-c",
        "a-b-c-2",
        "A-b-C-3",
        "table",
    ]


def test_a_file_in_the_place_of_the_folder_is_refused(toy: SimpleNamespace, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("mine")
    with pytest.raises(FileError, match="taken: is a file; a folder was expected"):
        write_tables([toy.entry()], [], tmp_path / "taken")


def test_nothing_half_written_is_left_when_writing_fails(
    toy: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> bytes:
        raise RuntimeError("no picture")

    monkeypatch.setattr("acidtest.reports.exports.as_png", fail)
    with pytest.raises(RuntimeError):
        write_plots([toy.entry()], [], tmp_path)
    assert {path.suffix for path in tmp_path.iterdir()} <= {".svg"}


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two small runs of baselines on a file of pairs with a factor."""
    monkeypatch.chdir(tmp_path)
    pl.DataFrame(
        {
            "premise": [f"The cat number {n} sleeps ." for n in range(40)],
            "hypothesis": [f"The {'cat' if n % 2 else 'dog'} number {n} sleeps ." for n in range(40)],
            "label": ["entailment" if n % 3 else "neutral" for n in range(40)],
            "voice": ["active" if n % 4 else "passive" for n in range(40)],
        }
    ).write_csv("pairs.csv")
    for name in ("overlap", "majority"):
        api.run(f"baseline:{name}", "pairs.csv", output=name)
    return ["overlap", "majority"]


def test_report_writes_page_tables_and_plots(runs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", *runs, "-o", "page.html", "--tables", "tabs", "--plots", "pics"]) == 0
    assert capsys.readouterr().out.splitlines() == ["report: page.html", "tables: tabs", "plots: pics"]
    tables, plots = ({path.name for path in Path(folder).iterdir()} for folder in ("tabs", "pics"))
    assert {"pairs-voice.csv", "pairs-voice.tex", "comparison.csv", "comparison.tex"} <= tables
    assert {"pairs-voice.svg", "pairs-voice.png"} <= plots
    assert 'id="differences"' in Path("page.html").read_text(encoding="utf-8")


def test_compare_writes_page_tables_and_plots(runs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *runs, "-o", "page.html", "--tables", "tabs", "--plots", "pics"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[-3:] == ["comparison: page.html", "tables: tabs", "plots: pics"]
    assert "baseline:majority − baseline:overlap" in out[0]
    assert '<p class="kicker">acidtest comparison</p>' in Path("page.html").read_text(encoding="utf-8")
    assert "comparison-pairs-voice.tex" in {path.name for path in Path("tabs").iterdir()}
    assert "comparison-pairs-voice.png" in {path.name for path in Path("pics").iterdir()}


def test_compare_without_a_page_writes_nothing(runs: list[str], tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    assert main(["compare", *runs]) == 0
    assert sorted(tmp_path.iterdir()) == before


def test_a_comparison_does_not_overwrite_what_is_not_ours(runs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine.html").write_text("precious")
    assert main(["compare", *runs, "-o", "mine.html"]) == 2
    assert "mine.html: exists and was not written by acidtest" in capsys.readouterr().err
    assert Path("mine.html").read_text() == "precious"
    assert main(["compare", *runs, "-o", "page.html"]) == 0
    assert main(["report", *runs, "-o", "page.html"]) == 0


def test_runs_that_cannot_be_compared_still_have_a_joint_report(runs: list[str]) -> None:
    api.run("baseline:overlap", "pairs.csv", output="sum", collapse="argmax")
    pl.read_csv("pairs.csv").head(8).write_csv("others.csv")
    api.run("baseline:random", "others.csv", output="others")
    api.report(["overlap", "others"], "joint.html")
    assert "No two of the runs have a suite in common" in Path("joint.html").read_text(encoding="utf-8")


def test_a_joint_report_compares_whole_suites_as_compare_does(runs: list[str]) -> None:
    api.report(runs, "joint.html", tables="tabs")
    (expected, *_) = contrasts([api.finished_run(folder).run for folder in runs])
    row = read_table("tabs/comparison.csv").frame.row(0, named=True)
    assert float(row["difference"]) == pytest.approx(expected.difference.value)
    assert float(row["low"]) == pytest.approx(expected.difference.low)
    assert float(row["p"]) == pytest.approx(expected.p)


def test_a_joint_report_tests_what_a_suite_crosses_and_no_other_factor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = [api.run(f"baseline:{name}", "hans", limit=60, output=name) for name in ("overlap", "random")]
    api.report(done, "joint.html", tables="tabs")
    written = {path.stem for path in Path("tabs").glob("comparison*")}
    crossed = {"comparison-hans-label", "comparison-hans-heuristic", "comparison-hans-heuristic-label"}
    assert written == {"comparison", *crossed}
    assert "hans by heuristic × label" in Path("joint.html").read_text(encoding="utf-8")
