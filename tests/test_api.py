"""The whole path: a model and a suite in, numbers and files out."""

from __future__ import annotations

import importlib
import json
import math
import os
import py_compile
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import wraps
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import polars as pl
import pytest

import acidtest
from acidtest import api
from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.study import STUDIES
from acidtest.core.suite import Card, Suite, complete_columns
from acidtest.studies.comparison import contrasts
from acidtest.suites.catalogue import SUITES
from acidtest.workflows import reporting


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def suite_with_control() -> Suite:
    """Forty pairs and two changed versions of each; a model that reads exclamation marks loses on one of them."""
    base = pl.DataFrame(
        {"premise": [f"Man {i} runs." for i in range(40)], "hypothesis": "A man moves.", "label": "entailment"}
    )
    control = complete_columns(base, "bang#control")
    changed = control.with_columns(
        base_id=pl.col("id"), group=pl.col("id"), id=pl.col("id") + "-1", kind=pl.lit("loud")
    )
    changed = changed.with_columns(hypothesis=pl.lit("A man moves!"))
    same = control.with_columns(base_id=pl.col("id"), group=pl.col("id"), id=pl.col("id") + "-2", kind=pl.lit("still"))
    frame = pl.concat([changed, same])
    card = Card("bang", columns={"kind": "factor"}, strata=("kind",))
    return Suite(frame.lazy(), card, Suite(control.lazy(), Card("bang#control")).sealed()).sealed()


class Shy:
    """Says contradiction to whatever shouts."""

    name = "shy"
    fingerprint = "1"

    def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> np.ndarray:
        return np.array([[0.1, 0.2, 0.7] if "!" in hypothesis else [0.8, 0.1, 0.1] for hypothesis in hypotheses])


def test_overlap_on_hans_scores_exactly_what_the_heuristic_must(tmp_path: Path) -> None:
    finished = acidtest.run("baseline:overlap", ["hans"], output=tmp_path / "run")
    hans = finished.results["suites"]["hans"]
    assert hans["overall"]["value"] == 0.5
    crossed = {key: value["value"] for key, value in hans["by"]["heuristic × label"].items()}
    assert crossed == {
        f"{heuristic} × {label}": float(label == "entailment")
        for heuristic in ("lexical_overlap", "subsequence", "constituent")
        for label in ("entailment", "non-entailment")
    }
    # 0 of 5,000: Clopper–Pearson upper bound 1 - 0.025 ** (1 / 5000).
    low = hans["by"]["heuristic × label"]["lexical_overlap × non-entailment"]
    assert low["low"] == 0
    assert low["high"] == pytest.approx(1 - 0.025 ** (1 / 5000))
    texts = [finding["text"] for finding in finished.results["diagnosis"]]
    # On pairs that all overlap, the heuristic cannot be told from answering entailment to everything.
    assert texts == ["answers entailment to 100 % of all pairs, whatever they say"]
    assert {path.name for path in (tmp_path / "run").iterdir()} == {
        "run.json", "predictions.parquet", "results.json", "report.html", "log.txt", ".lock"
    }  # fmt: skip


def test_subsequence_tells_lexical_overlap_from_the_rest() -> None:
    by = acidtest.run("baseline:subsequence", ["hans"]).results["suites"]["hans"]["by"]["heuristic × label"]
    assert by["lexical_overlap × non-entailment"]["value"] == 1
    assert by["lexical_overlap × entailment"]["value"] == 0
    assert by["subsequence × non-entailment"]["value"] == 0


@pytest.mark.parametrize("model", ["baseline:overlap", "baseline:random"])
def test_results_fit_their_schema(model: str) -> None:
    schema = json.loads(resources.files("acidtest.data").joinpath("results.schema.json").read_text())
    finished = acidtest.run(model, ["hans", "cues"], limit=600)
    assert finished.results["profile"]["cells"] > 0
    jsonschema.validate(json.loads((finished.folder / "results.json").read_text()), schema)
    with_control = acidtest.run(Shy(), [suite_with_control()], output="shy")
    jsonschema.validate(with_control.results, schema)


class SilentOnLongHypotheses:
    """Gives no prediction for hypotheses of more than eight words, and neutral for all others."""

    may_abstain = True
    fingerprint = "silent on long hypotheses"

    def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> list[list[float]]:
        return [[math.nan] * 3 if len(text.split()) > 8 else [0.1, 0.8, 0.1] for text in hypotheses]


def test_results_of_a_cue_that_takes_predictions_away_fit_their_schema() -> None:
    schema = json.loads(resources.files("acidtest.data").joinpath("results.schema.json").read_text())
    results = acidtest.run(SilentOnLongHypotheses(), ["cues"], limit=600).results
    assert "no prediction" in {effect["toward"] for effect in results["profile"]["cues"].values()}
    jsonschema.validate(results, schema)


def test_published_results_stand_beside_ours() -> None:
    published = acidtest.run("baseline:overlap", ["hans"], limit=60).results["suites"]["hans"]["published"]
    main = [score for score in published if not score["condition"]]
    assert len(main) == 24 + 120
    bert = {tuple(score["by"].items()): score["value"] for score in main if score["system"] == "BERT"}
    # McCoy et al. 2019, table 3.
    assert bert[(("heuristic", "lexical_overlap"), ("label", "non-entailment"))] == 0.16
    # Table 10.
    assert bert[(("subcase", "ln_conjunction"),)] == 0.39


def test_a_suite_is_tested_against_its_control_row_by_row() -> None:
    finished = acidtest.run(Shy(), [suite_with_control()], output="shy")
    control = finished.results["suites"]["bang"]["vs_control"]
    assert control["control"]["value"] == 1
    assert control["difference"]["value"] == -0.5
    # Every base pair loses one of its two variants: 40 groups on one side, which sign flips reach 2 in 2**40 times.
    assert control["p"] < 0.001
    assert finished.results["diagnosis"][0]["text"].startswith("loses 50 points when pairs are changed")


def test_the_same_call_again_gives_the_finished_run() -> None:
    first = acidtest.run("baseline:overlap", ["hans"], limit=60)
    again = acidtest.run("baseline:overlap", ["hans"], limit=60)
    assert first.fresh
    assert not again.fresh
    assert again.folder == first.folder
    assert again.results == json.loads(json.dumps(first.results))
    assert acidtest.run("baseline:overlap", ["hans"], limit=60, fresh=True).fresh


def answering(label: str, name: str = "predict") -> Callable[[Sequence[str], Sequence[str]], list[str]]:
    """A function of a given name that gives one answer to everything."""

    def predict(premises: Sequence[str], hypotheses: Sequence[str]) -> list[str]:
        return [label] * len(premises)

    predict.__name__ = name
    return predict


def test_functions_of_one_name_have_a_folder_each_and_are_compared_with_each_other() -> None:
    first, second, again = (
        acidtest.run(answering(label), "hans", limit=60) for label in ("entailment", "neutral", "entailment")
    )
    assert len({first.folder, second.folder, again.folder}) == 3
    assert second.folder.name == f"{first.folder.name}-2"
    assert acidtest.compare([first, second])[0].difference.value == 0
    shares = {c.value: c.difference.value for c in acidtest.compare([first, second]) if c.factor == "label"}
    # One is right on all that is entailed and on nothing else, the other the other way round.
    assert shares == {"entailment": -1, "non-entailment": 1}


def test_two_processes_at_once_never_share_the_folder_of_functions_of_one_name(tmp_path: Path) -> None:
    code = (
        "import sys, acidtest\n"
        "def predict(premises, hypotheses): return [sys.argv[1]] * len(premises)\n"
        "for _ in range(2): print(acidtest.run(predict, 'hans', limit=60, page=False).folder)\n"
    )
    (tmp_path / "twice.py").write_text(code)
    begun = [
        subprocess.Popen([sys.executable, "twice.py", label], stdout=subprocess.PIPE, text=True)
        for label in ("entailment", "neutral")
    ]
    folders = [process.communicate()[0].split() for process in begun]
    assert [process.returncode for process in begun] == [0, 0]
    assert len({*folders[0], *folders[1]}) == 4
    for label, written in zip(("entailment", "neutral"), folders, strict=True):
        for folder in written:
            assert acidtest.finished_run(folder).run.predictions["answer"].unique().to_list() == [label]


def test_a_given_folder_with_the_run_of_a_model_without_a_fingerprint_is_not_written_over() -> None:
    acidtest.run(answering("entailment"), "hans", limit=60, output="mine")
    with pytest.raises(FileError, match=r"mine: holds a run of predict, .* no fingerprint.*add --fresh to replace it"):
        acidtest.run(answering("neutral"), "hans", limit=60, output="mine")
    assert acidtest.finished_run("mine").run.predictions["answer"].unique().to_list() == ["entailment"]
    assert acidtest.run(answering("neutral"), "hans", limit=60, output="mine", fresh=True).fresh


def test_a_run_in_memory_never_reads_the_rows_of_another_that_took_its_folder() -> None:
    first = acidtest.run(answering("entailment"), "hans", limit=60, output="mine")
    assert first.run.rows("hans")["answer"].unique().to_list() == ["entailment"]
    acidtest.run(answering("neutral"), "hans", limit=60, output="mine", fresh=True)
    with pytest.raises(FileError, match=r"mine/predictions.parquet: was replaced or changed after this run"):
        first.run.rows("hans")
    with pytest.raises(FileError, match="was replaced or changed"):
        first.run.visit(first.run.lazy("hans"), lambda _: None)
    # The same rows once more are the same rows.
    second = acidtest.finished_run("mine")
    acidtest.run(answering("neutral"), "hans", limit=60, output="mine", fresh=True)
    assert second.run.rows("hans")["answer"].unique().to_list() == ["neutral"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda frame: pl.concat([frame, frame]),
        lambda frame: frame.head(frame.height // 2),
        lambda frame: frame.clear(),
        lambda frame: frame.with_columns(correct=~pl.col("correct")),
        lambda frame: frame.with_columns(premise=pl.col("premise").reverse()),
    ],
    ids=["doubled", "halved", "empty", "verdicts turned", "premises moved"],
)
def test_predictions_that_are_not_those_the_run_wrote_are_refused(
    damage: Callable[[pl.DataFrame], pl.DataFrame],
) -> None:
    acidtest.run("baseline:overlap", "hans", limit=60, output="mine")
    damage(pl.read_parquet("mine/predictions.parquet")).write_parquet("mine/predictions.parquet")
    with pytest.raises(FileError, match=r"mine/predictions.parquet: is not the file .* run it again with --fresh"):
        acidtest.finished_run("mine")
    assert acidtest.run("baseline:overlap", "hans", limit=60, output="mine", fresh=True).fresh
    acidtest.finished_run("mine")


def test_every_flipped_bit_of_the_predictions_is_noticed(tmp_path: Path) -> None:
    acidtest.run("baseline:overlap", "hans", limit=60, output="mine")
    path = tmp_path / "mine" / "predictions.parquet"
    content = path.read_bytes()
    rng = random.Random(0)
    for _ in range(200):
        bit = rng.randrange(8 * len(content))
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        with pytest.raises(FileError, match="is not the file"):
            acidtest.finished_run("mine")


def test_a_run_without_a_digest_of_its_predictions_is_still_read(tmp_path: Path) -> None:
    acidtest.run("baseline:overlap", "hans", limit=60, output="mine")
    header = json.loads((tmp_path / "mine" / "run.json").read_text())
    assert header.pop("predictions_sha256")
    (tmp_path / "mine" / "run.json").write_text(json.dumps(header))
    run = acidtest.finished_run("mine").run
    assert run.rows("hans").height == 60
    pl.read_parquet("mine/predictions.parquet").head(3).write_parquet("mine/predictions.parquet")
    with pytest.raises(FileError, match="was replaced or changed"):
        run.rows("hans")


def test_a_signature_is_made_of_the_whole_fingerprint() -> None:
    def signature(fingerprint: str) -> str:
        predict = answering("neutral")
        predict.fingerprint = fingerprint  # type: ignore[attr-defined]
        return str(acidtest.run(predict, "hans", limit=60).results["signature"])

    given = ["checkpoint-1", "checkpoint-2", "0" * 16 + "1", "0" * 16 + "2", "model", "Model"]
    assert len({signature(fingerprint) for fingerprint in given}) == len(given)


def test_a_model_that_cannot_be_known_again_does_not_wipe_another_run() -> None:
    def same(premises: Sequence[str], hypotheses: Sequence[str]) -> list[str]:
        return ["entailment"] * len(premises)

    acidtest.run("baseline:overlap", "hans", limit=60, output="mine")
    with pytest.raises(FileError, match="mine: holds another run"):
        acidtest.run(same, "hans", limit=60, output="mine")
    acidtest.run(same, "hans", limit=60, output="mine", fresh=True)


def test_specs_whose_names_come_out_alike_have_a_folder_each() -> None:
    long = "hf:" + "runs/" * 20
    specs = ["hf:a/b", "hf:a-b", "HF:A-B", f"{long}checkpoint-1", f"{long}checkpoint-2", "baseline:overlap"]
    folders = [api.folder_for(spec, "out", specs) for spec in specs]
    assert len({str(folder).casefold() for folder in folders}) == len(specs)
    assert folders[-1] == Path("out/baseline-overlap")
    # A long name is cut, so it has its digest whatever else is asked.
    assert api.folder_for(specs[3], "out", specs[3:5]) == folders[3]
    assert api.folder_for(specs[3], "out", specs[3:4]) == Path("out")


def test_an_edited_suite_is_another_suite(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    acidtest.save(api.generate("hans", n=1), "h.jsonl")
    before = acidtest.run("baseline:overlap", "h.jsonl")
    text = (tmp_path / "h.jsonl").read_text()
    (tmp_path / "h.jsonl").write_text(text.replace('"entailment"', '"contradiction"', 1))
    after = acidtest.run("baseline:overlap", "h.jsonl")
    assert "its rows were changed since acidtest wrote it" in caplog.text
    assert after.folder != before.folder
    assert after.results["suites"]["hans"]["metrics"]["recall contradiction"]["n"] == 1


def test_a_finished_run_is_shown_from_a_folder_that_cannot_be_written() -> None:
    folder = acidtest.run("baseline:overlap", "hans", limit=60, output="done").folder
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert not acidtest.run("baseline:overlap", "hans", limit=60, output="done").fresh
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_an_unfinished_run_of_something_else_is_not_thrown_away(tmp_path: Path) -> None:
    class Stopping:
        name, fingerprint, batch_size = "stopping", "1", 10

        def __init__(self) -> None:
            self.calls = 0

        def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> list[str]:
            self.calls += 1
            if self.calls == 3:
                raise KeyboardInterrupt
            return ["neutral"] * len(premises)

    with pytest.raises(KeyboardInterrupt):
        acidtest.run(Stopping(), "hans", limit=60, output="part")
    kept = (tmp_path / "part" / "answers.part").read_bytes()
    assert "stopped: KeyboardInterrupt()" in (tmp_path / "part" / "log.txt").read_text()
    with pytest.raises(FileError, match="part: holds an unfinished run of another model"):
        acidtest.run("baseline:overlap", "hans", limit=60, output="part")
    assert (tmp_path / "part" / "answers.part").read_bytes() == kept
    with pytest.raises(FileError, match="holds an unfinished run; the acidtest run command that began it continues it"):
        acidtest.finished_run("part")
    assert acidtest.run("baseline:overlap", "hans", limit=60, output="part", fresh=True).fresh


def test_rows_without_gold_are_counted_where_people_look(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "p.csv").write_text("premise,hypothesis,label\nA.,B.,neutral\nC.,D.,-\nE.,F.,neutral\n")
    suite = acidtest.load("p.csv")
    assert "1 of 3 rows have no gold and are left out" in caplog.text
    assert suite.card.note == "read as Hugging Face; 1 of 3 rows have no gold and are left out"


def test_ties_are_said() -> None:
    def torn(premises: Sequence[str], hypotheses: Sequence[str]) -> np.ndarray:
        return np.full((len(premises), 3), 1 / 3)

    notes = acidtest.run(torn, "hans", limit=60).results["suites"]["hans"]["notes"]
    assert notes[0] == "in 60 rows the likeliest labels tie; entailment goes before neutral before contradiction"


def test_a_signature_tells_one_version_of_a_model_from_another(tmp_path: Path) -> None:
    ids = api.generate("hans", n=1).frame.collect()["id"].to_list()
    acidtest.save(api.generate("hans", n=1), "h.csv")
    signatures = []
    for label in ("neutral", "entailment"):
        (tmp_path / "p.csv").write_text("id,label\n" + "".join(f"{i},{label}\n" for i in ids))
        signatures.append(acidtest.score("p.csv", "h.csv").results["signature"])
    assert signatures[0] != signatures[1]
    assert "model:answers:p.csv#" in signatures[0]


def test_a_report_overwrites_a_report_and_nothing_else(tmp_path: Path) -> None:
    finished = acidtest.run("baseline:overlap", "hans", limit=60)
    acidtest.report(finished, "page.html")
    acidtest.report([finished, finished], "page.html")
    (tmp_path / "mine.html").write_text("precious")
    with pytest.raises(FileError, match=r"mine.html: exists and was not written by acidtest"):
        acidtest.report(finished, "mine.html")


def test_a_report_of_many_runs_shows_all_and_compares_a_few(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = list[tuple[str, str]]()
    pair = contrasts._pair

    def counted(names: tuple[str, str], rows: Any) -> Any:
        pairs.append(names)
        return pair(names, rows)

    monkeypatch.setattr(contrasts, "_pair", counted)
    monkeypatch.setattr(reporting, "MOST_DETAILED", 3)
    monkeypatch.setattr(reporting, "COMPARED_OF_MANY", 2)
    finished = acidtest.run("baseline:overlap", "hans", limit=60)
    for count, compared in ((3, 3), (4, 1), (9, 1)):
        pairs.clear()
        document = reporting.report_document([finished] * count)
        assert len(pairs) == compared, f"pairs of {count} runs"
        assert len(document.models) == 3
    table, note = document.parts[0].parts
    assert [row.name for row in table.rows] == ["baseline:overlap", *(f"baseline:overlap ({n})" for n in range(2, 10))]
    assert table.rows[8].cells == (finished.accuracy("hans"), finished.results["signature"])
    assert "are about the first 3 runs" in note.text
    assert document.headline.startswith("9 runs, of which 3 are described in full. ")


def test_other_arguments_have_another_folder_and_do_not_overwrite_a_given_one() -> None:
    first = acidtest.run("baseline:overlap", ["hans"], limit=60)
    other = acidtest.run("baseline:overlap", ["hans"], limit=60, seed=1)
    assert first.folder != other.folder
    acidtest.run("baseline:overlap", ["hans"], limit=60, output="mine")
    with pytest.raises(
        FileError, match=r"mine: holds another run \(baseline:overlap on hans, .*add --fresh to replace it"
    ):
        acidtest.run("baseline:random", ["hans"], limit=60, output="mine")


def test_a_changed_answers_file_is_another_run(tmp_path: Path) -> None:
    suite = api.generate("hans", n=2)
    acidtest.save(suite, "hans.parquet")
    ids = suite.frame.collect()["id"].to_list()
    answers = tmp_path / "answers.csv"
    answers.write_text("id,label\n" + "".join(f"{i},entailment\n" for i in ids))
    first = acidtest.score(answers, "hans.parquet")
    answers.write_text("id,label\n" + "".join(f"{i},neutral\n" for i in ids))
    second = acidtest.score(answers, "hans.parquet")
    assert first.folder != second.folder
    assert first.results["suites"]["hans"]["metrics"]["answers entailment"]["value"] == 1
    assert second.results["suites"]["hans"]["metrics"]["answers entailment"]["value"] == 0


def test_predictions_in_the_layout_of_hans_are_scored_by_subcase(tmp_path: Path) -> None:
    # Right on every even subcase, wrong on every odd one.
    suite = acidtest.generate("hans", n=10)
    rows = suite.frame.select("id", "label").collect().rows()
    other = {"entailment": "non-entailment", "non-entailment": "entailment"}
    answers = tmp_path / "preds.txt"
    lines = [f"{name}\t{other[gold] if n // 10 % 2 else gold}" for n, (name, gold) in enumerate(rows)]
    answers.write_text("pairID\tgold_label\n" + "\n".join(lines) + "\n")
    by = acidtest.score(answers, suite).results["suites"]["hans"]["by"]["subcase"]
    assert [value["value"] for value in by.values()] == [float(number % 2 == 0) for number in range(30)]


def test_a_two_way_model_is_scored_on_coarsened_gold(tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text(
        "premise,hypothesis,label\nA.,B.,entailment\nC.,D.,neutral\nE.,F.,contradiction\nG.,H.,contradiction\n"
    )
    suite = acidtest.load(tmp_path / "pairs.csv")
    ids = suite.frame.collect()["id"].to_list()
    labels = ["entailment", "non-entailment", "non-entailment", "entailment"]
    (tmp_path / "p.csv").write_text("id,label\n" + "".join(f"{i},{x}\n" for i, x in zip(ids, labels, strict=True)))
    finished = acidtest.score(tmp_path / "p.csv", str(tmp_path / "pairs.csv"))
    assert finished.results["model"]["resolution"] == "two-way"
    assert finished.results["suites"]["pairs"]["overall"]["value"] == 0.75
    assert finished.run.predictions["answer"].to_list() == labels
    assert finished.run.predictions["correct"].to_list() == [True, True, True, False]
    assert "gold was coarsened" in finished.results["suites"]["pairs"]["notes"][0]


def test_two_suites_of_one_name_are_refused() -> None:
    with pytest.raises(AcidtestError, match="two of the suites are called 'hans'"):
        acidtest.run("baseline:overlap", ["hans", api.generate("hans", n=1)])


def test_a_run_of_a_newer_acidtest_is_refused() -> None:
    folder = acidtest.run("baseline:overlap", "hans", limit=60).folder
    header = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(header | {"schema": 99}))
    with pytest.raises(FileError, match=r"run.json: has schema 99; this acidtest reads up to 1: upgrade acidtest"):
        acidtest.compare([folder, folder])


def test_the_predictions_of_a_two_way_run_are_scored_two_way_again(tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text(
        "premise,hypothesis,label\nA.,B.,entailment\nC.,D.,neutral\nE.,F.,contradiction\n"
    )

    def two(premises: Sequence[str], hypotheses: Sequence[str]) -> list[str]:
        return ["entailment" if premise == "A." else "non-entailment" for premise in premises]

    two.resolution = "two-way"  # type: ignore[attr-defined]
    first = acidtest.run(two, "pairs.csv", output="two")
    again = acidtest.score("two/predictions.parquet", "pairs.csv")
    for finished in (first, again):
        assert finished.results["suites"]["pairs"]["overall"]["value"] == 1
        assert finished.results["suites"]["pairs"]["metrics"]["answers non-entailment"]["n"] == 3


def test_a_two_way_and_a_three_way_model_are_compared_on_the_same_gold(tmp_path: Path) -> None:
    lines = [f"P{i}.,H.,{('entailment', 'neutral', 'contradiction')[i % 3]}\n" for i in range(30)]
    (tmp_path / "pairs.csv").write_text("premise,hypothesis,label\n" + "".join(lines))

    def three(premises: Sequence[str], hypotheses: Sequence[str]) -> list[str]:
        return ["entailment" if int(p[1:-1]) % 3 == 0 else "neutral" for p in premises]

    def two(premises: Sequence[str], hypotheses: Sequence[str]) -> list[str]:
        return ["entailment" if int(p[1:-1]) % 3 == 0 else "non-entailment" for p in premises]

    two.resolution = "two-way"  # type: ignore[attr-defined]
    whole = acidtest.compare([acidtest.run(three, "pairs.csv"), acidtest.run(two, "pairs.csv")])[0]
    assert whole.accuracies == (1, 1)
    assert whole.difference.note == "scored two-way"


def test_runs_scored_by_other_rules_are_not_compared() -> None:
    def sure(premises: Sequence[str], hypotheses: Sequence[str]) -> np.ndarray:
        return np.tile(np.array([0.4, 0.3, 0.3]), (len(premises), 1))

    runs = [acidtest.run(sure, "hans", limit=60, collapse=way) for way in ("argmax", "sum")]
    with pytest.raises(AcidtestError, match="different --collapse: argmax, sum"):
        acidtest.compare(runs)


def test_a_full_run_is_compared_with_a_sample_of_it_on_the_sample() -> None:
    whole, part = (acidtest.run("baseline:overlap", "hans", limit=limit) for limit in (None, 60))
    found = acidtest.compare([whole, part])[0]
    assert found.paired
    assert found.difference.note == "on the 60 rows both have, of 60 and 30,000"


def test_paired_rows_stay_paired_when_a_factor_was_changed_between_runs() -> None:
    def suite(swapped: bool) -> Suite:
        kinds = ["a"] * 20 + ["b"] * 20
        frame = pl.DataFrame({"premise": [f"p{i}" for i in range(40)], "hypothesis": "h", "label": "entailment"})
        frame = frame.with_columns(kind=pl.Series(kinds[::-1] if swapped else kinds))
        return Suite(complete_columns(frame, "mine").lazy(), Card("mine", columns={"kind": "factor"}))

    def half(premises: Sequence[str], hypotheses: Sequence[str]) -> list[str]:
        return ["entailment" if int(premise[1:]) < 20 else "neutral" for premise in premises]

    runs = [acidtest.run(half, suite(swapped), output=f"run{swapped}") for swapped in (False, True)]
    assert all(contrast.difference.value == 0 for contrast in acidtest.compare(runs))


@pytest.mark.parametrize("changed", [{"premise", "hypothesis", "label"}, {"premise"}, {"label"}])
def test_rows_that_share_nothing_but_their_ids_are_not_paired(changed: set[str]) -> None:
    def suite(other: bool, rows: int = 40) -> Suite:
        frame = pl.DataFrame({"premise": [f"p{i}" for i in range(40)], "hypothesis": "h", "label": "entailment"})
        frame = complete_columns(frame, "mine")
        texts = {"premise": pl.lit("A ") + pl.col("premise"), "hypothesis": pl.lit("g"), "label": pl.lit("neutral")}
        touched = pl.int_range(40) < (rows if other else 0)
        frame = frame.with_columns(pl.when(touched).then(texts[n]).otherwise(n).alias(n) for n in changed)
        return Suite(frame.lazy(), Card("mine")).sealed()

    first = acidtest.run(answering("entailment"), suite(False))
    second = acidtest.run(answering("entailment"), suite(True))
    whole = acidtest.compare([first, second])[0]
    assert not whole.paired
    note = "rows have the same id in both runs but another pair or gold, and are not paired"
    assert whole.difference.note == f"40 {note}"
    few = acidtest.compare([first, acidtest.run(answering("entailment"), suite(True, rows=2))])[0]
    assert few.paired
    assert few.difference.n == 38
    assert few.difference.note == f"on the 38 rows both have, of 40 and 40; 2 {note}"


def test_files_that_disagree_on_a_column_are_run_together(tmp_path: Path) -> None:
    head = "premise,hypothesis,label,score\n"
    (tmp_path / "a.csv").write_text(head + "".join(f"A{i}.,B.,neutral,{'xy'[i % 2]}\n" for i in range(4)))
    (tmp_path / "b.csv").write_text(head + "".join(f"C{i}.,D.,neutral,{i}.5\n" for i in range(4)))
    finished = acidtest.run("baseline:overlap", ["a.csv", "b.csv"])
    assert finished.run.header.suites["a"].columns == {"score": "factor"}
    assert finished.run.header.suites["b"].columns == {"score": "covariate"}


def test_an_unsound_suite_is_refused_before_anything_is_asked() -> None:
    frame = complete_columns(pl.DataFrame({"premise": ["p"], "hypothesis": ["h"], "label": ["entail"]}), "mine")
    with pytest.raises(AcidtestError, match="suite 'mine' is not sound: E103"):
        acidtest.run("baseline:overlap", Suite(frame.lazy(), Card("mine")))


def test_starting_over_keeps_the_old_run_until_the_new_one_is_whole() -> None:
    def failing(premises: Sequence[str], hypotheses: Sequence[str]) -> list[str]:
        raise RuntimeError("no")

    acidtest.run("baseline:overlap", "hans", limit=60, output="mine")
    with pytest.raises(RuntimeError):
        acidtest.run(failing, "hans", limit=60, output="mine", fresh=True)
    assert acidtest.finished_run("mine").run.header.model.name == "baseline:overlap"


def test_a_folder_with_somebodys_report_is_not_written_into(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "report.html").write_text("precious")
    with pytest.raises(FileError, match=r"mine: holds report.html but no run; choose another -o"):
        acidtest.run("baseline:overlap", "hans", limit=60, output="mine")
    assert (tmp_path / "mine" / "report.html").read_text() == "precious"


def test_a_lost_report_is_written_again() -> None:
    folder = acidtest.run("baseline:overlap", "hans", limit=60).folder
    (folder / "report.html").unlink()
    acidtest.run("baseline:overlap", "hans", limit=60)
    assert (folder / "report.html").exists()


def test_labels_alone_cannot_be_summed() -> None:
    with pytest.raises(
        AcidtestError, match="collapse sum needs probabilities, but the model gives labels only; use argmax"
    ):
        acidtest.run("baseline:overlap", ["hans"], collapse="sum")


def test_how_many_verdicts_depend_on_the_collapse_is_counted() -> None:
    class Torn:
        name, fingerprint = "torn", "1"

        def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> np.ndarray:
            return np.array([[0.4, 0.35, 0.25]] * len(premises))

    argmax = acidtest.run(Torn(), ["hans"], limit=60, output="argmax")
    summed = acidtest.run(Torn(), ["hans"], limit=60, collapse="sum", output="sum")
    assert argmax.results["suites"]["hans"]["collapse_differs"] == 60
    assert argmax.results["suites"]["hans"]["metrics"]["recall entailment"]["value"] == 1
    assert summed.results["suites"]["hans"]["metrics"]["recall non-entailment"]["value"] == 1
    assert "collapse:sum" in summed.results["suites"]["hans"]["signature"]


def test_a_list_of_suites_takes_names_globs_and_files(tmp_path: Path) -> None:
    acidtest.save(api.generate("hans", n=1, seed=5), tmp_path / "a,b.parquet")
    assert [suite.name for suite in api.chosen_suites(["han[s]", "a,b.parquet"])] == ["hans", "hans:a,b.parquet"]
    assert [suite.name for suite in api.chosen_suites(["hans/*"])] == ["hans/novel"]
    assert [suite.card.seed for suite in api.chosen_suites(["a,b.parquet"])] == [5]


def test_several_values_of_an_option_make_a_suite_each() -> None:
    made = api.chosen_suites(["hans", "hans/novel"], arguments={"words": "published,fresh"})
    assert [suite.name for suite in made] == [
        "hans:words=published",
        "hans:words=fresh",
        "hans/novel:words=published",
        "hans/novel:words=fresh",
    ]
    assert [suite.card.arguments["words"] for suite in made] == ["published", "fresh"] * 2


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["hanss"], r"no suite or file called 'hanss'; did you mean 'hans'\?"),
        (["nothing*"], r"no suite or file called 'nothing\*'"),
        (["grounding"], r"no suite or file called 'grounding'; did you mean 'grounding/\*'\?"),
        (["missing.csv"], "missing.csv: there is no such file"),
    ],
)
def test_a_mistaken_list_of_suites_is_explained(names: list[str], message: str) -> None:
    with pytest.raises(AcidtestError, match=message):
        api.chosen_suites(names)


def test_two_runs_are_compared_pair_by_pair() -> None:
    overlap = acidtest.run("baseline:overlap", ["hans"], limit=600)
    subsequence = acidtest.run("baseline:subsequence", ["hans"], limit=600)
    whole, *rest = acidtest.compare([overlap.folder, subsequence.folder])
    assert whole.paired
    assert whole.accuracies == (0.5, 0.5)
    # Overlap wins 100 entailed lexical pairs and loses 100 not entailed ones: no draw is nearer to 0 than 100 : 100.
    assert whole.p == 1
    (lexical,) = [c for c in rest if c.value == "lexical_overlap × non-entailment"]
    assert lexical.difference.value == 1
    # None of 10,000 draws goes as far, and six slices are a family.
    assert lexical.p_adjusted == pytest.approx(6 / 10_001)


def test_runs_on_other_rows_are_compared_unpaired() -> None:
    first = acidtest.run("baseline:overlap", ["hans"], limit=600, seed=0)
    second = acidtest.run("baseline:overlap", ["hans"], limit=600, seed=1)
    whole = acidtest.compare([first.folder, second.folder])[0]
    assert not whole.paired
    assert whole.difference.value == pytest.approx(0, abs=1e-9)
    assert whole.p > 0.5


def test_a_run_is_read_back_without_running_anything(tmp_path: Path) -> None:
    (tmp_path / "evil.py").write_text(
        "import pathlib; pathlib.Path('ran').write_text('x')\ndef f(p, h): return ['neutral'] * len(p)\n"
    )
    sys.path.insert(0, str(tmp_path))
    try:
        folder = acidtest.run("python:evil:f", ["hans"], limit=30).folder
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop("evil")
    (tmp_path / "ran").unlink()
    acidtest.finished_run(folder)
    acidtest.report([folder], tmp_path / "page.html")
    acidtest.compare([folder, folder])
    assert not (tmp_path / "ran").exists()


LAZY = """
import pathlib
asked = 0
def predict(premises, hypotheses):
    global asked
    from their_helper import LABEL
    asked += 1
    if asked == 3 and pathlib.Path("stop").exists():
        raise KeyboardInterrupt
    return [LABEL] * len(premises)
predict.batch_size = 10
"""


@pytest.fixture
def loaded_anew(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Forgets the modules whose names begin with "their", as a new process has."""
    monkeypatch.setattr(sys, "path", ["", *sys.path])

    def forget() -> None:
        for name in [name for name in sys.modules if name.startswith("their")]:
            del sys.modules[name]
        importlib.invalidate_caches()

    forget()
    yield forget
    forget()


def test_an_edited_helper_and_a_resumed_run_never_mix_answers(tmp_path: Path, loaded_anew: Callable[[], None]) -> None:
    (tmp_path / "their_model.py").write_text(LAZY)
    (tmp_path / "their_helper.py").write_text("LABEL = 'neutral'\n")
    (tmp_path / "stop").touch()
    with pytest.raises(KeyboardInterrupt):
        acidtest.run("python:their_model:predict", "hans", limit=60, output="run")
    loaded_anew()
    (tmp_path / "stop").unlink()
    (tmp_path / "their_helper.py").write_text("LABEL = 'entailment'\n")
    with pytest.raises(FileError, match="run: holds an unfinished run of another model, or of a changed one"):
        acidtest.run("python:their_model:predict", "hans", limit=60, output="run")
    finished = acidtest.run("python:their_model:predict", "hans", limit=60, output="run", fresh=True)
    assert finished.run.predictions["answer"].unique().to_list() == ["entailment"]


def test_a_run_whose_model_loads_code_unseen_is_never_taken_for_a_later_one(
    tmp_path: Path, loaded_anew: Callable[[], None]
) -> None:
    # The name of the helper is known to a compiled module alone.
    (tmp_path / "their_model.py").write_text(LAZY.replace("from their_helper import", "from their_middle import"))
    (tmp_path / "middle.py").write_text("from their_helper import LABEL\n")
    py_compile.compile("middle.py", "their_middle.pyc", doraise=True)
    folders = []
    for label in ("neutral", "entailment", "entailment"):
        (tmp_path / "their_helper.py").write_text(f"LABEL = '{label}'\n")
        loaded_anew()
        finished = acidtest.run("python:their_model:predict", "hans", limit=60)
        assert finished.fresh
        assert finished.run.header.model.fingerprint is None
        assert finished.run.predictions["answer"].unique().to_list() == [label]
        folders.append(finished.folder)
    assert len(set(folders)) == 3
    loaded_anew()
    acidtest.run("python:their_model:predict", "hans", limit=60, output="run")
    loaded_anew()
    with pytest.raises(FileError, match=r"run: holds a run of python:their_model:predict, .* no fingerprint"):
        acidtest.run("python:their_model:predict", "hans", limit=60, output="run")


@pytest.mark.parametrize("premise", ["whole", "chunks"])
def test_answers_of_code_that_was_loaded_unseen_are_not_resumed(
    tmp_path: Path, loaded_anew: Callable[[], None], premise: str
) -> None:
    (tmp_path / "their_model.py").write_text(LAZY.replace("from their_helper import", "from their_middle import"))
    (tmp_path / "middle.py").write_text("from their_helper import LABEL\n")
    py_compile.compile("middle.py", "their_middle.pyc", doraise=True)
    (tmp_path / "their_helper.py").write_text("LABEL = 'neutral'\n")
    (tmp_path / "stop").touch()
    with pytest.raises(KeyboardInterrupt):
        acidtest.run("python:their_model:predict", "hans", limit=60, output="run", premise=premise)
    loaded_anew()
    (tmp_path / "stop").unlink()
    (tmp_path / "their_helper.py").write_text("LABEL = 'entailment'\n")
    finished = acidtest.run("python:their_model:predict", "hans", limit=60, output="run", premise=premise)
    assert finished.run.predictions["answer"].unique().to_list() == ["entailment"]


SLOW = """
import time
def slow(premises, hypotheses):
    with open("asked.txt", "a") as file:
        file.writelines(f"{p}|{h}\\n" for p, h in zip(premises, hypotheses))
    time.sleep(0.05)
    return [["entailment", "neutral"][len(p) % 2] for p in premises]
slow.batch_size = 100
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system cannot kill a process outright")
def test_a_killed_run_continues_and_ends_like_one_that_was_not(tmp_path: Path) -> None:
    (tmp_path / "slowly.py").write_text(SLOW)
    suites = ["-s", "hans,stress/negation", "--limit", "1500"]
    command = [sys.executable, "-m", "acidtest", "run", "-m", "python:slowly:slow", *suites, "-q", "-o"]
    subprocess.run([*command, "whole"], check=True, capture_output=True)
    asked = len(set((tmp_path / "asked.txt").read_text().splitlines()))
    (tmp_path / "asked.txt").unlink()
    rng = random.Random(0)
    for _ in range(3):
        process = subprocess.Popen([*command, "killed"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not (tmp_path / "killed" / "answers.part").exists() and process.poll() is None:
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.5))
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    subprocess.run([*command, "killed"], check=True, capture_output=True)
    lines = (tmp_path / "asked.txt").read_text().splitlines()
    assert len(set(lines)) == asked
    # Each of the four starts may evaluate 12 finished pairs again, and the last one does so at its end as well.
    assert len(lines) - len(set(lines)) <= 3 * 100 + 5 * 12, "more than the batch in flight was asked again"
    for name in ("results.json",):
        assert (tmp_path / "killed" / name).read_text() == (tmp_path / "whole" / name).read_text()
    assert pl.read_parquet("killed/predictions.parquet").equals(pl.read_parquet("whole/predictions.parquet"))


def remembering(seed: int = 0) -> Callable[[list[str], list[str]], list[str]]:
    """A model that learnt the published words in the published templates by heart, and falls for overlap elsewhere."""
    rows = api.generate("hans", seed=seed, arguments={"words": "published"}).frame.collect()
    known = dict(zip(zip(rows["premise"], rows["hypothesis"], strict=True), rows["label"], strict=True))
    return lambda premises, hypotheses: [
        known.get(pair, "entailment").replace("non-entailment", "neutral")
        for pair in zip(premises, hypotheses, strict=True)
    ]


FOUR = {"suites": ["hans", "hans/novel"], "arguments": {"words": "published,fresh"}, "limit": 600}


def test_a_model_that_remembers_the_published_pairs_is_found_out() -> None:
    finished = acidtest.run(remembering(), output="memory", **FOUR)
    leak = finished.results["contamination"]
    both = next(c for c in leak["contrasts"] if (c["name"], c["slice"]) == ("both", "non-entailment"))
    # Right on all of 300 pairs there and on none elsewhere.
    assert both["difference"]["value"] == 1
    assert leak["verdict"].startswith("Signs of memory: where the heuristics are wrong")
    assert [f["severity"] for f in finished.results["diagnosis"] if f["code"] == "M1"] == ["warning"]
    page = (finished.folder / "report.html").read_text(encoding="utf-8")
    assert 'id="contamination"' in page


def test_the_four_cells_may_come_from_two_runs_and_be_judged_by_a_clean_model() -> None:
    clean = acidtest.run("baseline:overlap", output="clean", **FOUR)
    assert clean.results["contamination"]["verdict"].startswith("Memory cannot be measured")
    model = remembering()
    parts = [
        acidtest.run(model, ["hans", "hans/novel"], output=words, limit=600, arguments={"words": words})
        for words in ("published", "fresh")
    ]
    assert [part.results["contamination"] for part in parts] == [None, None]
    (leak,) = STUDIES["contamination"].compute(parts, reference=[clean]).models
    assert leak.reference == "baseline:overlap"
    excess = next(c.excess for c in leak.contrasts if (c.name, c.slice) == ("both", "non-entailment"))
    assert excess is not None
    assert excess.value == 1


def test_contamination_is_told_of_each_of_two_functions_of_one_name() -> None:
    known = remembering()
    known.__name__ = "predict"
    runs = [acidtest.run(model, page=False, **FOUR) for model in (answering("entailment"), known)]
    told = [leak.verdict for leak in STUDIES["contamination"].compute(runs).models]
    assert told == [run.results["contamination"]["verdict"] for run in runs]
    assert len(set(told)) == 2


def test_a_reference_asks_for_all_four_cells() -> None:
    one = acidtest.run("baseline:subsequence", ["hans"], output="one", limit=60)
    clean = acidtest.run("baseline:overlap", output="clean", **FOUR)
    with pytest.raises(AcidtestError, match="no model has runs of all four suites: run it on hans and on hans/novel"):
        STUDIES["contamination"].compute([one])
    with pytest.raises(AcidtestError, match="baseline:subsequence: no run has published words on published templates"):
        STUDIES["contamination"].compute([one], reference=[clean])


def test_several_models_share_the_suites_of_a_battery(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    generator = SUITES["stress/negation"]

    @wraps(generator.make)
    def make(*given: Any, **more: Any) -> Suite:
        made.append(generator.name)
        return generator.make(*given, **more)

    monkeypatch.setitem(SUITES._things, generator.name, replace(generator, make=make))
    battery = api.Battery(["stress/negation"], limit=20)
    for model in ("baseline:overlap", "baseline:majority"):
        done = api.run(model, battery, output=tmp_path / model.partition(":")[2])
        assert done.run.header.settings["limit"] == 20
    assert made == ["stress/negation"]
