"""What every study promises: results that are JSON of a declared shape, and documents that every renderer can show.

A study is tested because it is registered. Studies of runs get the eight runs of ``study_runs``; what others need is in
``INPUTS``, from the number of models to their arguments.
"""

from __future__ import annotations

import json
import math
import re
import runpy
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any, get_type_hints

import jsonschema
import numpy as np
import polars as pl
import pytest

import acidtest
from acidtest.core.document import Browser, Chart, Document, Section, Table, estimates, tables, walk
from acidtest.core.estimate import Estimate
from acidtest.core.ratings import (
    Attendance,
    CheckCounts,
    Headcount,
    ItemShare,
    PeoplePace,
    Ratings,
    Times,
    label_counts,
)
from acidtest.core.run import Run
from acidtest.core.serialise import from_json, to_json
from acidtest.core.study import STUDIES
from acidtest.core.suite import Card
from acidtest.io.wordlists import starter_pairs
from acidtest.render.files import write_charts, write_tables
from acidtest.render.html import render_page
from acidtest.render.terminal import render
from acidtest.studies.experiments import Arm, ResultColumn, ResultTable, TrainedNetwork, TrainingRecord
from browsers import COLOUR_RULES, find_faults


def experiment_input(runs: list[Path], folder: Path) -> dict[str, Any]:
    """Networks of two arms from as many seeds as there are runs for, each run taken for one network's answers."""
    arms = (Arm("training pairs alone", "pairs", 10, ""), Arm("with HANS-like pairs", "more pairs", 20))
    networks = []
    for number, path in enumerate(runs):
        arm, seed = arms[number % 2].name, number // 2
        record = TrainingRecord("esim:mccoy2019", arm, seed, "folder", 3, 2, 0.5 if number else None, 1.5)
        networks.append(TrainedNetwork("esim", Run.read(path), record))
    by = {"heuristic": "constituent", "label": "non-entailment"}
    columns = (
        ResultColumn("const., ↛", "hans", by, "correct: non-entailment", "hans", by),
        ResultColumn("nowhere", "hans", {"heuristic": "nowhere"}),
        ResultColumn("∆", "lexical", less=ResultColumn("hans", "hans")),
    )
    table = ResultTable("HANS", columns, tuple(arm.name for arm in arms), arms[0].name)
    seeds = list(range((len(runs) + 1) // 2))
    return {"name": "augmentation", "tables": [table], "arms": arms, "networks": networks, "settings": {"seeds": seeds}}


def layers_input(runs: list[Path], folder: Path) -> dict[str, Any]:
    """Two layers of noise, the second of which shows negation, of pairs with categories; more pairs for more runs."""
    n, rng = 15 * len(runs) + 25, np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "id": [str(number) for number in range(n)],
            "premise": [f"Premise {number}." for number in range(n)],
            "hypothesis": ["Hypothesis."] * n,
            "label": rng.choice(["entailment", "neutral", "contradiction"], n),
            "group": [str(number) for number in range(n)],
            "negation": rng.random(n) < 0.5,
            "boolean": rng.random(n) < 0.5,
            "world": np.arange(n) < 3,
        }
    )
    layers = rng.normal(size=(2, n, 5)).astype(np.float32)
    layers[1, :, 0] += 3 * frame["negation"].to_numpy()
    card = Card("toy", columns=dict.fromkeys(("negation", "boolean", "world"), "factor"))
    names = ("embeddings", "layer 1")
    return {"layers": layers, "frame": frame, "card": card, "model": "toy", "names": names, "permutations": 19}


def _sorted_errors(runs: list[Path], folder: Path) -> dict[str, Any]:
    sample = folder / "errors.tsv"
    acidtest.error_sample(runs[0], suites=["stress/negation#control", "hans"], n=20, output=sample, prefill=True)
    return {"sample": sample}


def _annotated_pairs(runs: list[Path], folder: Path) -> dict[str, Any]:
    return {"pairs": acidtest.generate("taxonomy")}


def _tagged_pairs(runs: list[Path], folder: Path) -> dict[str, Any]:
    pairs = acidtest.generate("taxonomy")
    return {"tagged": acidtest.generate("taxonomy/tagged", source=pairs), "marked": pairs}


def _two_suites(runs: list[Path]) -> list[Run]:
    """The runs, on two suites: eight models make 28 pairs, whose tests on every suite would take two minutes."""

    def shortened(run: Run) -> Run:
        suites = {
            name: card for name, card in run.header.suites.items() if name.startswith(("stress/negation", "taxonomy"))
        }
        return replace(run, header=replace(run.header, suites=suites))

    return [shortened(Run.read(path)) for path in runs]


def _training_file(folder: Path) -> Path:
    """A few pairs, with some of the words that swaps exchange."""
    lines = ["A man is hot.\tA man is cold.\tcontradiction", "A dog runs.\tAn animal runs.\tentailment"]
    lines += ["The old man sleeps.\tThe young man sleeps.\tcontradiction", "A girl sits.\tA child sits.\tneutral"]
    path = folder / "train.tsv"
    path.write_text("\n".join(["premise\thypothesis\tlabel", *lines, ""]), encoding="utf-8")
    return path


INPUTS: dict[str, Callable[[list[Path], Path], dict[str, Any]]] = {
    "agreement": lambda runs, _: {"ratings": people_ratings(2 * len(runs))},
    "check": lambda runs, _: {"suite": starter_pairs(), "again": starter_pairs()},
    "audit": lambda runs, _: {"train": starter_pairs(), "against": [starter_pairs()] * (len(runs) - 1)},
    "errors": _sorted_errors,
    "tag": _tagged_pairs,
    "taxonomy": _annotated_pairs,
    "antonyms": lambda runs, folder: {"runs": runs, "train": _training_file(folder)},
    "behaviour": lambda runs, folder: {"runs": runs, "train": _training_file(folder)},
    "lexical": lambda runs, folder: {"runs": runs, "train": _training_file(folder)},
    "comparison": lambda runs, _: {
        "runs": _two_suites(runs) if len(runs) > 2 else (runs * 2)[:2],
        "every_factor": len(runs) < 2,
    },
    "experiments": experiment_input,
    "gate": lambda runs, _: {"baseline": runs[0], "candidate": runs[-1]},
    "representations": layers_input,
}
"""Arguments of the studies that ask for more than runs: from the runs' folders and an empty folder."""

SCHEMAS = Path(__file__).parents[2] / "tools" / "schemas.py"
STUDY_NAMES = sorted(STUDIES)
SIZES = (1, 8)

_RESULTS: dict[tuple[str, int], Any] = {}
_DOCUMENTS: dict[tuple[str, int], Document] = {}


@pytest.fixture(
    params=[(name, size) for name in STUDY_NAMES for size in SIZES], ids=lambda case: f"{case[0]}-{case[1]}"
)
def case(request: pytest.FixtureRequest, study_runs: list[Path], tmp_path: Path) -> tuple[str, Any, Document]:
    """A study's name, its result for one model or eight, and its document."""
    name, size = request.param
    result = computed(name, study_runs[:size], tmp_path)
    if (name, size) not in _DOCUMENTS:
        _DOCUMENTS[name, size] = STUDIES[name].document(result)
    return name, result, _DOCUMENTS[name, size]


def computed(name: str, runs: list[Path], folder: Path) -> Any:
    """The result of a study for some runs, computed once."""
    if (name, len(runs)) not in _RESULTS:
        _RESULTS[name, len(runs)] = STUDIES[name].compute(**arguments(name, runs, folder))
    return _RESULTS[name, len(runs)]


def arguments(name: str, runs: list[Path], folder: Path) -> dict[str, Any]:
    return INPUTS.get(name, lambda runs, folder: {"runs": runs})(runs, folder)


@pytest.mark.parametrize("name", STUDY_NAMES)
def test_hardly_any_rows_give_notes_or_a_reason_but_no_numbers_out_of_nothing(
    name: str, tiny_run: Path, tmp_path: Path
) -> None:
    try:
        result = STUDIES[name].compute(**arguments(name, [tiny_run], tmp_path))
    except acidtest.AcidtestError:
        return  # A reason in words: nothing can be computed from so few rows.
    document = STUDIES[name].document(result)
    assert to_json(from_json(type(result), to_json(result))) == to_json(result)
    assert terminal_text(document, 80)
    assert render_page(document)
    for table in tables(document).values():
        for cell in (cell for row in table.rows for cell in row.cells):
            for estimate in estimates(cell):
                assert estimate.known or estimate.note, f"{table.id}: an unknown number says why"


# The checks take long on large pages. One folded part of each kind and depth stands for all, since they hold the same
# tables, and so do two rows of tables for those that differ only in texts and numbers. The examples are opened too.
KEEP_FEW_ALIKE = """() => {
    const kinds = new Set();
    for (const part of document.querySelectorAll("details")) {
        const parents = [];
        const above = (one) => one.parentElement.closest("details");
        for (let one = above(part); one; one = above(one)) parents.push(one);
        const holds = [part.closest("#examples"), part.querySelector(".toggle")].map(Boolean);
        const kind = [part.className, parents.length, ...holds].join();
        part.open = parents.every((one) => one.open) && !kinds.has(kind);
        if (part.open) kinds.add(kind);
    }
    document.querySelectorAll("details:not([open]) > :not(summary)").forEach((part) => part.remove());
    const counts = {};
    for (const row of document.querySelectorAll("tbody tr")) {
        const markup = row.outerHTML.replace(/>[^<]*/g, ">").replace(/ (id|href|title|data-value)="[^"]*"/g, "");
        counts[markup] = (counts[markup] ?? 0) + 1;
        if (counts[markup] > 2) row.remove();
    }
}"""


@pytest.fixture(scope="module")
def window(browser: Any) -> Iterator[Any]:
    window = browser.new_page()
    yield window
    window.close()


@pytest.mark.browser
@pytest.mark.parametrize("name", [*STUDY_NAMES, "report"])
def test_everybody_can_read_a_page(name: str, window: Any, study_runs: list[Path], tmp_path: Path) -> None:
    pytest.importorskip("axe_playwright_python", reason="the check of accessibility needs axe-playwright-python")
    path = study_runs[0] / "report.html"
    if name != "report":
        path = tmp_path / "page.html"
        size = 2 if name == "comparison" else 1
        document = STUDIES[name].document(computed(name, study_runs[:size], tmp_path))
        path.write_text(render_page(document), encoding="utf-8")
    window.goto(path.as_uri())
    for width in (390, 1280):
        window.set_viewport_size({"width": width, "height": 900})
        assert window.evaluate("document.documentElement.scrollWidth") <= width
    window.evaluate(KEEP_FEW_ALIKE)
    if window.locator("#examples-browser").count():
        window.locator("#examples-browser:not([hidden])").wait_for(state="attached")
    for width in (390, 1280):
        window.set_viewport_size({"width": width, "height": 900})
        for scheme in ("light", "dark"):
            window.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            faults = find_faults(window, COLOUR_RULES if scheme == "dark" else ())
            assert not faults, "\n".join([f"{width} px, {scheme}", *faults])


def test_a_result_is_json_of_the_shape_that_ships_with_the_package(case: tuple[str, Any, Document]) -> None:
    name, result, _ = case
    assert type(result) is get_type_hints(STUDIES[name].compute)["return"]
    written = to_json(result)
    schema = json.loads(
        resources.files("acidtest.data").joinpath("schemas", f"{name}.json").read_text(encoding="utf-8")
    )
    jsonschema.validate(written, schema)
    assert json.loads(json.dumps(written, allow_nan=False)) == written
    assert to_json(from_json(type(result), written)) == written


@pytest.mark.parametrize("name", STUDY_NAMES)
def test_a_shipped_schema_is_that_of_the_results_type(name: str) -> None:
    shipped = resources.files("acidtest.data").joinpath("schemas", f"{name}.json").read_text(encoding="utf-8")
    declared = get_type_hints(STUDIES[name].compute)["return"]
    schema = runpy.run_path(str(SCHEMAS))["json_schema"](declared, title=f"acidtest {name} --json")
    assert json.loads(shipped) == schema, "run: python tools/schemas.py"


@pytest.mark.parametrize("width", [80, 200])
def test_a_terminal_shows_every_name_whole_within_its_width(case: tuple[str, Any, Document], width: int) -> None:
    _, _, document = case
    text = terminal_text(document, width)
    signatures = set(document.signatures.values())
    assert max(len(line) for line in text.splitlines() if line not in signatures) <= width
    # Names may be folded over lines of a column, so only their letters are compared, column by column.
    squeezed = re.sub(r"\s+", "", text)
    for table in tables(document).values():
        for row in table.rows:
            for word in row.name.split():
                assert word in squeezed or _folded(word, text), f"{word!r} of {row.name!r} is cut"


def _folded(word: str, text: str) -> bool:
    """Whether the pieces of a word stand below each other, at the same place of consecutive lines."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        for start in (match.start() for match in re.finditer(re.escape(word[:4]), line)):
            rest, row = word, number
            while rest and row < len(lines):
                piece = lines[row][start:]
                shared = next((n for n in range(len(rest), 0, -1) if piece.startswith(rest[:n])), 0)
                if not shared:
                    break
                rest, row = rest[shared:], row + 1
            if not rest:
                return True
    return False


def test_a_document_has_a_headline_and_charts_of_its_tables(case: tuple[str, Any, Document]) -> None:
    _, _, document = case
    parts, by_id = list(walk(document.parts)), tables(document)
    assert document.headline.endswith((".", "?", "!"))
    assert len(by_id) == sum(isinstance(part, Table) for part in parts), "two tables share an id"
    for chart in (part for part in parts if isinstance(part, Chart)):
        assert chart.table in by_id
        assert set(chart.columns) <= {column.name for column in by_id[chart.table].columns}
    anchors = [part.anchor for part in parts if isinstance(part, Section) and part.anchor]
    assert len(anchors) == len(set(anchors))


def test_tables_and_charts_are_written_as_files(case: tuple[str, Any, Document], tmp_path: Path) -> None:
    _, _, document = case
    written = write_tables(document, tmp_path / "tables")
    assert len(written) == 3 * len(tables(document))
    charts = [part for part in walk(document.parts) if isinstance(part, Chart)]
    drawn = write_charts(document, tmp_path / "plots")
    assert len(drawn) >= 2 * len(charts)
    assert all(path.stat().st_size for path in (*written, *drawn))


def test_a_page_runs_no_script_but_ours_and_has_every_id_once(case: tuple[str, Any, Document]) -> None:
    _, _, document = case
    page = render_page(document)
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert not re.search(r'(?:src|href)="(?!#)', page)
    assert document.headline.split()[0] in page
    has_browser = any(isinstance(part, Browser) for part in walk(document.parts))
    assert ("examples-browser" in page) == has_browser


def terminal_text(document: Document, width: int) -> str:
    """The document as a terminal of a width shows it."""
    return re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(render(document, width)))


def people_ratings(people: int) -> Ratings:
    """Labels and categories that some people gave forty rows, with times, attention checks and somebody excluded."""
    rng = np.random.default_rng(people)
    names = [f"person {number} of the crowd" for number in range(people)]
    truth = rng.choice(["entailment", "neutral"], size=40)
    marks = rng.random((40, 3)) < 0.4
    said = pl.DataFrame(
        [
            {
                "row": row,
                "annotator": name,
                "label": str(truth[row]) if rng.random() < 0.8 else "neutral",
                "categories": [
                    category
                    for category, marked in zip(("lexical", "world", "same_topic"), marks[row], strict=True)
                    if marked != (rng.random() < 0.1)
                ],
            }
            for row in range(40)
            for name in names
        ],
        schema={"row": pl.Int64, "annotator": pl.String, "label": pl.String, "categories": pl.List(pl.String)},
    )
    labels, gold = ("entailment", "neutral"), pl.Series(truth)
    times = {name: Times(40, 3.0, (2.0, 4.5), 130.0) for name in names}
    attendance = Attendance(
        Times(40 * people, 3.0, (2.0, 4.5), 130.0 * people),
        times,
        {"eve": CheckCounts(4, 2)},
        ("eve",),
        left_out=44,
        people=Headcount(people + 1, 1),
        paces={"all": PeoplePace(people + 1, 3.0), "kept": PeoplePace(people, 3.2), "discarded": PeoplePace(1, 1.0)},
    )
    return Ratings(
        "ratings.jsonl",
        labels,
        label_counts(said, labels, rows=40),
        gold,
        gold_from="gold",
        corpus="HANS",
        signature="agreement",
        said=said,
        categories=("lexical", "world", "same_topic"),
        reference=gold,
        reference_from="gold",
        attendance=attendance,
        factors=pl.DataFrame({"heuristic": ["subsequence", "constituent"] * 20}),
        questionnaire="hans-human",
        discarded={"ungrammatical": 2},
        shares=(
            ItemShare("hans", "confirmed", Estimate(0.8, 0.7, 0.9, 40, 40, "Wilson"), 1, 0.76, "McCoy et al. 2019"),
            ItemShare("", "grammatical", Estimate(math.nan, note="no gold came along with the items"), 0),
        ),
    )
