"""The stress tests on the page, in tables and in charts, from a small simulated run."""

from __future__ import annotations

import csv
from io import StringIO
from math import nan
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from rich.console import Console

from acidtest.core.estimate import Estimate
from acidtest.core.run import Header, ModelFacts, Run
from acidtest.core.suite import Card
from acidtest.reports.charts import Bar, Bars, Curve, Curves, Shades, rate_axis
from acidtest.reports.drawings import picture
from acidtest.reports.error_tables import confusion_lines, error_lines, kind_title
from acidtest.reports.exports import write_plots, write_tables
from acidtest.reports.html import page
from acidtest.reports.plots import as_png, as_svg
from acidtest.reports.sections import Entry, named
from acidtest.reports.stress import paper_tables, stress_suites, suite_title
from acidtest.reports.stress_charts import cost_chart, error_bars, ladder_charts
from acidtest.reports.stress_page import results_of, stress_page
from acidtest.reports.tables import scorecard
from acidtest.studies.comparison import contrasts
from acidtest.workflows.runs import results

LABELS = ("entailment", "neutral", "contradiction")
PAIRS = 12


def rows(suite: str, answers: list[int], gold: list[int] | None = None, **columns: list[Any]) -> pl.DataFrame:
    """Rows over the same base pairs again and again; gold goes round the three labels unless it is given."""
    count = len(answers)
    gold = [number % 3 for number in range(count)] if gold is None else gold
    base = [f"base-{number % PAIRS}" for number in range(count)]
    control = suite.endswith("#control")
    p = np.eye(3)[answers]
    return pl.DataFrame(
        {
            "suite": [suite] * count,
            "id": base if control else [f"{each}-{number}" for number, each in enumerate(base)],
            "premise": ["A premise."] * count,
            "hypothesis": ["A hypothesis."] * count,
            "label": [LABELS[each] for each in gold],
            "group": base,
            "base_id": pl.Series([None] * count if control else base, dtype=pl.String),
            **columns,
            **{f"p_{label}": p[:, place] for place, label in enumerate(LABELS)},
            "answer": [LABELS[each] for each in answers],
            "correct": [one == other for one, other in zip(answers, gold, strict=True)],
        }
    )


def entry(model: str = "m", *, skill: int = 9, corpus: str = "starter", **facts: Any) -> Entry:
    """A model that is right on the first ``skill`` of twelve pairs and falls back to neutral on changed ones."""
    good = [number % 3 if number < skill else (number + 1) % 3 for number in range(PAIRS)]
    fallen = [1 if number % 2 else answer for number, answer in enumerate(good)]
    frames, cards = [], {}
    plain: dict[str, Any] = {"arguments": {"from": corpus}}

    def add(name: str, frame: pl.DataFrame, **card: Any) -> None:
        frames.append(frame)
        cards[name] = Card(name, rows=frame.height, **(plain | card))

    for name in ("stress/word-overlap", "stress/negation"):
        add(name, rows(name, fallen))
        add(f"{name}#control", rows(f"{name}#control", good))
    add("stress/antonymy", rows("stress/antonymy", [0] * 9 + [1] * 2 + [2], [2] * 12))
    add("stress/numerical", rows("stress/numerical", [0] * 6 + [1] * 6))
    variants = [("adjacent", "any"), ("keyboard", "any"), ("adjacent", "content"), ("adjacent", "function")]
    spelling = {
        "edit": [edit for edit, _ in variants for _ in range(PAIRS)],
        "target": [target for _, target in variants for _ in range(PAIRS)],
    }
    kinds = {"columns": {"edit": "factor", "target": "factor"}, "crossings": (("edit", "target"),)}
    add("stress/spelling", rows("stress/spelling", good * 4, **spelling), **kinds)
    rungs = [(str(n).rjust(2), "end", "premise") for n in (1, 2, 3)] + [
        (" 1", "start", "premise"),
        (" 1", "end", "both"),
    ]
    ladder = {name: [rung[place] for rung in rungs for _ in range(PAIRS)] for place, name in enumerate(LADDER)}
    answers = [answer for rung in rungs for answer in (good if rung[0] == " 1" else fallen)]
    add("stress/ladder", rows("stress/ladder", answers, **ladder), columns=dict.fromkeys(LADDER, "factor"))
    add("stress/ladder#control", rows("stress/ladder#control", good))
    header = Header(ModelFacts(model, model, **facts), cards, {"limit": None}, versions={"acidtest": "0"})
    run = Run(header, pl.concat(frames, how="diagonal_relaxed"))
    return Entry(run, results(run))


LADDER = ("repetitions", "place", "side")


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    return [entry("strong"), entry("weak", skill=6)]


def table(entries: list[Entry], name: str) -> Any:
    return next(each for each in paper_tables(results_of(named(entries))) if each.name == name).crossing


def test_suites_stand_in_the_papers_order(entries: list[Entry]) -> None:
    names = [suite.removeprefix("stress/") for suite in stress_suites(results_of(named(entries)))]
    assert names == ["antonymy", "numerical", "word-overlap", "negation", "spelling", "ladder"]
    assert suite_title("stress/negation:tautology=green") == "negation (tautology=green)"


def test_table_3_has_models_people_and_the_papers_systems(entries: list[Entry]) -> None:
    found = table(entries, "accuracy")
    assert found.columns == {
        "": ("original",),
        "competence": ("antonymy", "numerical"),
        "distraction": ("word overlap", "negation"),
        "noise": ("spelling",),
    }
    assert [one.value for one in found.models["strong"]] == pytest.approx(
        [9 / 12, 1 / 12, 4 / 12, 7 / 12, 7 / 12, 9 / 12]
    )
    assert found.people == {"people: annotators": (None, 0.86, 0.91, 0.91, None, None)}
    # Naik et al. 2018, table 3, the matched columns.
    assert found.published["CBOW"] == (0.635, 0.063, 0.303, 0.536, 0.437, 0.603)
    assert "McCoy" not in " ".join(found.sources)


def test_a_corpus_named_after_the_mismatched_set_stands_beside_its_numbers() -> None:
    found = table([entry(corpus="mnli_dev_mismatched")], "accuracy")
    assert found.published["CBOW"] == (0.642, 0.036, 0.303, 0.556, 0.442, 0.606)
    assert "Naik et al. 2018, table 3, MultiNLI mismatched" in found.sources


def test_table_4_sets_false_neutrals_beside_those_on_untouched_pairs(entries: list[Entry]) -> None:
    found = table(entries, "false-neutrals")
    assert found.columns == {"": ("untouched pairs",), "changed pairs": ("word overlap", "negation")}
    # Untouched, the strong model errs on the last three pairs: gold E, N, C answered N, C, E. Changed, every second
    # answer is neutral: E–N, C–N, E–N, N–C, C–N.
    assert [one.value for one in found.models["strong"]] == pytest.approx([1 / 3, 4 / 5, 4 / 5])
    assert found.published["Chen et al. (2017)"] == (0.329, 0.847, None)


def test_tables_7_and_8_and_the_errors_on_numbers_are_the_papers_slices(entries: list[Entry]) -> None:
    antonymy = table(entries, "antonymy-errors")
    assert [one.value for one in antonymy.models["weak"]] == pytest.approx([9 / 11, 2 / 11])
    assert antonymy.published["Chen et al. (2017)"] == (0.9978, 0.0022)
    spelling = table(entries, "spelling")
    assert spelling.columns == {"spelling": ("swap", "keyboard", "swap, content word", "swap, function word")}
    assert spelling.published["Nie and Bansal (2017)"] == (0.43, 0.477, 0.511, 0.497)
    numbers = table(entries, "numerical-errors")
    assert numbers.columns == {"numerical": ("E–N", "E–C", "N–E", "N–C", "C–E", "C–N")}
    assert numbers.published["BiLSTM (Nangia et al. 2017) and Nie and Bansal (2017)"][2] == pytest.approx(0.3927)


def test_results_without_error_kinds_are_still_read(toy: SimpleNamespace) -> None:
    old = toy.suite_result(by={"label": {}})
    models = {"old": {"stress/negation": old}}
    (found,) = paper_tables(models)
    assert found.name == "accuracy"
    assert error_bars(models) is None
    assert error_lines({"old": old}) == []
    assert confusion_lines({"old": old}) == []
    card = Card("stress/negation", rows=4)
    text = page([toy.entry(toy.rows("stress/negation"), models["old"], cards=[card])])
    assert '<section id="stress"' in text


def test_a_page_without_stress_tests_has_no_such_section(toy: SimpleNamespace) -> None:
    assert stress_page({"m": toy.entry()}) is None
    assert 'id="stress"' not in page([toy.entry()])


def test_the_cost_of_a_change_is_a_dot_joined_with_the_untouched_pairs(entries: list[Entry]) -> None:
    chart = cost_chart(results_of(named(entries)))
    assert chart
    row = next(row for row in chart.rows if row.name == "word overlap")
    assert (row.before["strong"].value, row.estimates["strong"].value) == (0.75, 7 / 12)
    assert next(row for row in chart.rows if row.name == "antonymy").before == {}
    spec = picture(chart)
    hollow = [layer for layer in spec["layer"] if layer["mark"].get("filled") is False]
    # Three suites with untouched pairs, two models.
    assert len(hollow[0]["data"]["values"]) == 6


def test_the_chart_of_accuracies_has_the_numbers_of_the_table_beside_it() -> None:
    own = entry()
    columns = table([own], "accuracy").columns
    # Right on every pair whose content word was swapped, on nine of twelve others.
    swaps = pl.col("suite").eq("stress/spelling") & pl.col("edit").eq("adjacent") & pl.col("target").eq("content")
    frame = own.run.predictions.with_columns(
        pl.when(swaps)
        .then(pl.col("label") == label)
        .otherwise(pl.col(f"p_{label}"))
        .cast(pl.Float64)
        .alias(f"p_{label}")
        for label in LABELS
    )
    run = Run(own.run.header, frame)
    models = results_of(named([Entry(run, results(run))]))
    row = next(row for row in (cost_chart(models) or pytest.fail("no chart")).rows if row.name.startswith("spelling"))
    place = [title for titles in columns.values() for title in titles].index("spelling")
    shown = next(each for each in paper_tables(models) if each.name == "accuracy").crossing.models["m"][place]
    assert row.name == "spelling: swap, content word"
    assert row.estimates["m"] == shown
    assert row.estimates["m"].value == 1 != models["m"]["stress/spelling"]["overall"]["value"]


def test_untouched_pairs_are_counted_once_however_many_were_made_of_each(entries: list[Entry]) -> None:
    result = entries[0].results["suites"]["stress/ladder"]
    assert (result["overall"]["n"], result["vs_control"]["control"]["n"]) == (5 * PAIRS, PAIRS)
    assert result["vs_control"]["control"]["value"] == 0.75
    share = result["errors"]["kinds"]["false neutral"]["vs_control"]["share"]["control"]
    # The strong model errs on three of the twelve.
    assert (share["n"], share["value"]) == (3, pytest.approx(1 / 3))


def test_controls_with_the_same_rows_are_compared_once(entries: list[Entry]) -> None:
    found = contrasts([each.run for each in entries])
    controls = dict.fromkeys(each.suite for each in found if each.suite.endswith("#control"))
    assert list(controls) == ["stress/word-overlap#control"]
    assert {each.suite for each in found} >= {"stress/word-overlap", "stress/negation", "stress/ladder"}


def test_bars_of_error_kinds_add_up(entries: list[Entry]) -> None:
    chart = error_bars(results_of(named(entries)))
    assert chart
    assert all(sum(bar.shares) == pytest.approx(1) for bar in chart.rows)
    names = [bar.name for bar in chart.rows if bar.heading == "negation"]
    assert names == [f"{model}, {pairs} pairs" for model in ("strong", "weak") for pairs in ("untouched", "changed")]
    assert [bar.name for bar in chart.rows if bar.heading == "antonymy"] == ["strong, all pairs", "weak, all pairs"]


def test_the_ladder_climbs_at_the_end_of_the_premise_only(entries: list[Entry]) -> None:
    found = ladder_charts(named(entries))
    assert found
    curves, grid = found
    assert [(at, one.value) for at, one in curves.series["strong"].points] == [(1, 0.75), (2, 7 / 12), (3, 7 / 12)]
    assert curves.series["strong"].reference == Estimate(0.75, **_ends(curves.series["strong"].reference))
    assert set(grid.series["strong"]) == {("premise", "end"), ("premise", "start"), ("both", "end")}
    assert grid.series["strong"]["premise", "end"].value == 0.75


def _ends(value: Estimate | None) -> dict[str, Any]:
    assert value
    return {name: getattr(value, name) for name in ("low", "high", "n", "groups", "method", "note")}


def test_the_page_holds_the_section_and_the_errors_of_each_suite(entries: list[Entry], toy: SimpleNamespace) -> None:
    text = page(entries)
    stress = toy.section(text, "stress")
    for title in ("What the errors are", "Does a negation word draw contradiction?", "How much distraction it bears"):
        assert title in stress
    assert "Nie and Bansal (2017)" in stress
    assert stress.count('class="curve c') == 2
    assert text.count("Errors by kind") == 6
    assert 'href="#stress"' in text
    # Every method named in the results is explained.
    assert "See the documentation." not in toy.section(text, "methods")


def test_the_scorecard_says_what_errors_are_and_sets_the_model_beside_the_paper(entries: list[Entry]) -> None:
    from rich.console import Console

    console = Console(width=120, record=True, file=StringIO())
    for part in scorecard(entries[0].results | {"model": {"name": "strong"}}):
        console.print(part)
    text = " ".join(console.export_text().split())
    assert "11 errors: false entailment 81.8 %, false neutral 18.2 %" in text
    assert "false neutral 80.0 % (untouched 33.3 %)" in text
    assert "Stress tests beside Naik et al. (2018)" in text
    assert "answered contradiction" in text


def test_everything_is_written_as_tables_and_pictures(entries: list[Entry], tmp_path: Path) -> None:
    write_tables(entries, [], tmp_path / "t")
    write_plots(entries, [], tmp_path / "p")
    stress = sorted(path.name for path in (tmp_path / "t").glob("stress-tests-*.tex"))
    names = ("accuracy", "antonymy-errors", "false-neutrals", "numerical-errors", "spelling")
    assert stress == [f"stress-tests-{name}.tex" for name in names]
    for name in ("accuracy", "errors", "ladder-places", "ladder-repetitions"):
        assert (tmp_path / "p" / f"stress-tests-{name}.png").read_bytes().startswith(b"\x89PNG")
    with (tmp_path / "t" / "stress-negation-errors.csv").open(encoding="utf-8") as file:
        lines = [
            line for line in csv.DictReader(file) if line["kind"] == "false neutral" and line["system"] == "strong"
        ]
    assert [(line["measure"], line["count"], line["control_count"]) for line in lines] == [
        ("share", "4", "1"),
        ("rate", "4", "1"),
    ]
    latex = (tmp_path / "t" / "stress-numerical-confusion.tex").read_text(encoding="utf-8")
    assert "entailment & 2 & 2 & 0" in latex
    with (tmp_path / "t" / "stress-tests-accuracy.csv").open(encoding="utf-8") as file:
        kinds = {line["kind"] for line in csv.DictReader(file)}
    assert kinds == {"model", "people", "published"}


def test_a_kind_is_written_with_a_dash_between_gold_and_answer() -> None:
    assert [kind_title(kind) for kind in ("E-C", "false non-entailment")] == ["E–C", "false non-entailment"]


def test_pairs_without_an_answer_have_a_column_only_where_there_are_any() -> None:
    answers = {"entailment": 1, "neutral": 0, "contradiction": 0}
    some = {"confusion": {"entailment": answers | {"unanswered": 1}}}
    none = {"confusion": {"entailment": answers | {"unanswered": 0}}}
    assert list(confusion_lines({"m": some})[0].answers) == [*answers, "unanswered"]
    assert list(confusion_lines({"m": none})[0].answers) == list(answers)
    assert "unanswered" in confusion_lines({"m": none, "n": some})[0].answers


UNKNOWN = Estimate(nan, note="no rows")
SOME = Estimate(0.5, 0.4, 0.6, 10, 10, "Wilson")


@pytest.mark.parametrize(
    "chart",
    [
        Bars(("a", "b", "c"), (Bar("one", (1.0, 0.0, 0.0), 1),), "share"),
        Curves(
            {"m": Curve(((1, SOME), (2, UNKNOWN), (3, Estimate(0.4, n=1, groups=1, note="one"))))}, rate_axis(), "x"
        ),
        Shades(("r",), ("c", "d"), {"m": {("r", "c"): SOME, ("r", "d"): UNKNOWN}}, "t"),
    ],
)
def test_charts_with_little_in_them_are_drawn(chart: Any) -> None:
    spec = picture(chart)
    assert as_svg(spec).startswith("<svg")
    assert as_png(spec).startswith(b"\x89PNG")


def test_values_close_together_are_not_shaded_far_apart() -> None:
    near = Shades(("r",), ("c", "d"), {"m": {("r", "c"): SOME, ("r", "d"): Estimate(0.495)}}, "t")
    assert near.shade(0.495) == pytest.approx(0.1)
    assert near.shade(0.5) == 0


def test_columns_that_are_not_what_was_published_say_how_they_differ(entries: list[Entry]) -> None:
    found = table([entry(corpus="mnli_dev_matched")], "accuracy")
    assert set(found.signs) == {"antonymy", "numerical"}
    assert found.signs["antonymy"] not in found.signs["numerical"]
    assert found.differences["antonymy"][0].startswith("the published pairs are made otherwise")
    asked = "the published systems were asked"
    assert found.differences["numerical"][0] == f"{asked} sentences of AQuA-RAT, not of mnli_dev_matched"
    assert found.differences["negation"] == ()
    starter = table(entries, "accuracy")
    assert starter.differences["original"] == (f"{asked} pairs made from MultiNLI, not from starter",)
    assert f"all but numerical: {asked} pairs made from MultiNLI, not from starter" in starter.notes


def test_notes_stand_in_the_scorecard_the_page_and_the_files(entries: list[Entry], tmp_path: Path) -> None:
    one = [entry(corpus="mnli_dev_matched")]
    console = Console(width=160, record=True)
    for part in scorecard(one[0].results):
        console.print(part)
    told = " ".join(console.export_text().split())
    assert "original antonymy† numerical‡§" in told
    assert "† the published pairs are made otherwise" in told
    assert "antonymy†" in page(one)
    write_tables(one, [], tmp_path)
    with (tmp_path / "stress-tests-accuracy.csv").open(encoding="utf-8") as file:
        notes = {(row["column"], row["kind"]): row["note"] for row in csv.DictReader(file)}
    assert notes["antonymy", "published"].startswith("the published pairs are made otherwise")
    assert notes["negation", "published"] == ""
    assert "antonymy† & numerical‡§" in (tmp_path / "stress-tests-accuracy.tex").read_text(encoding="utf-8")


def test_original_tells_of_suites_that_are_compared_with_other_pairs() -> None:
    one = entry("m", corpus="mnli_dev_matched")
    suites = one.results["suites"]
    control = suites["stress/negation"]["vs_control"]["control"]
    suites["stress/spelling"]["vs_control"] = suites["stress/negation"]["vs_control"] | {
        "control": control | {"value": 0.5, "n": 4}
    }
    found = table([one], "accuracy")
    assert found.differences["original"] == (
        "the untouched pairs of word overlap and negation; spelling is compared with its own (50.0 % of 4)",
    )
    assert [estimate.n for estimate in found.models["m"][:1]] == [PAIRS]


def test_errors_that_both_models_make_stand_beside_the_papers(entries: list[Entry]) -> None:
    made = stress_page(named(entries))
    assert made is not None
    numbers = next(each.crossing for each in made.tables if each.name == "numerical-errors")
    # Both answer entailment six times and then neutral six times: C–E and N–E, then E–N and C–N, two each of eight.
    assert [one.value for one in numbers.models["errors that both make (8)"]] == pytest.approx(
        [2 / 8, 0, 2 / 8, 0, 2 / 8, 2 / 8]
    )
    assert any("errors that both systems make" in note for note in numbers.differences["N–E"])
    alone = stress_page(named(entries[:1]))
    assert alone is not None
    assert list(next(each.crossing for each in alone.tables if each.name == "numerical-errors").models) == ["strong"]
