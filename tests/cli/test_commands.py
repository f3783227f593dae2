"""The commands as a user types them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from acidtest.cli.app import command, command_entries, main
from acidtest.core.study import STUDIES, study_entries
from acidtest.version import __version__


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def said(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> tuple[str, str]:
    assert main(list(arguments)) == status
    captured = capsys.readouterr()
    return captured.out, captured.err


def test_run_prints_a_scorecard_and_where_the_report_is(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out, err = said(capsys, "run", "-m", "baseline:overlap", "--limit", "300", "-o", "here")
    assert "relies on the lexical-overlap heuristic" in " ".join(out.split())
    assert re.search(r"^hans +50 \(44–56\) +50 ", out, re.M)
    assert "report: here/report.html" in out.replace("\\", "/")
    assert "limit:300|model:baseline:overlap|acidtest:0.2.0" in out
    slow = (" …", "s disk")
    assert all(line.endswith(slow) for line in err.splitlines()), "nothing but stages and speed, on a slow machine"
    assert (tmp_path / "here" / "report.html").stat().st_size > 10_000


def test_run_without_arguments_asks_the_reference_model_a_sample_and_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acidtest.cli.run.DEFAULT_LIMIT", 40)
    out, err = said(capsys, "run")
    assert "reference is asked at most 40 pairs of each suite; acidtest run -m reference asks all" in err
    assert "|limit:40|model:reference" in out
    assert "acidtest-runs" in out
    _, err = said(capsys, "run", "--limit", "30")
    assert "is asked at most" not in err


def test_the_scorecard_stays_as_it_is(capsys: pytest.CaptureFixture[str], golden: Callable[[str, str], None]) -> None:
    out, _ = said(capsys, "run", "-m", "baseline:subsequence", "--limit", "300", "-o", "here")
    golden("scorecard.txt", "\n".join(line.rstrip() for line in out.splitlines()) + "\n")


@pytest.mark.parametrize("model", ["baseline:overlap", "reference"])
def test_the_scorecard_of_the_standard_battery_is_one_screen(
    model: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for width in (100, 80):
        monkeypatch.setenv("COLUMNS", str(width))
        lines = said(capsys, "run", "-m", model, "--limit", "300", "-o", "here")[0].splitlines()
        assert max(map(len, lines)) <= width
        assert width < 100 or len(lines) <= 40
        assert {"stress/length-mismatch", "untouched pairs", "hint words in the hypothesis"} <= {
            line.split("  ")[0] for line in lines
        }, "a name is cut"
        assert any("█" in line or "▒" in line for line in lines if line.startswith("overlapping words"))
        assert lines[-1].startswith("report: ")


def test_several_models_share_one_screen(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    models = [part for name in ("overlap", "random", "subsequence", "majority") for part in ("-m", f"baseline:{name}")]
    lines = said(capsys, "run", *models, "--limit", "60", "-s", "hans,cues", "-o", "four")[0].splitlines()
    assert len(lines) <= 40
    assert sum(line.startswith("baseline:random: ") for line in lines) == 1


def test_the_same_run_again_says_that_it_was_done(capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, "run", "-m", "baseline:overlap", "-s", "hans", "--limit", "300")
    out, _ = said(capsys, "run", "-m", "baseline:overlap", "-s", "hans", "--limit", "300")
    assert out.startswith("This run was finished before (20")


def test_run_as_json_is_the_results_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out, _ = said(capsys, "run", "-m", "baseline:overlap", "-s", "hans", "--limit", "300", "-o", "here", "--json")
    found = json.loads(out)
    assert found.pop("folder") == "here"
    assert found == json.loads((tmp_path / "here" / "results.json").read_text())


def test_several_models_have_a_folder_each_and_a_joint_report(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    models = ("-m", "baseline:overlap", "-m", "baseline:random")
    out, _ = said(capsys, "run", *models, "-s", "hans", "--limit", "300", "-o", "both")
    assert "joint report: both/report.html" in out.replace("\\", "/")
    assert (tmp_path / "both" / "baseline-random" / "run.json").exists()
    page = (tmp_path / "both" / "report.html").read_text()
    assert "baseline:overlap" in page
    assert "baseline:random" in page


def test_generate_writes_a_suite_and_its_card(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out, _ = said(capsys, "generate", "hans", "-n", "2", "--faithful", "--words=published", "-o", "h.jsonl")
    assert "60 pairs (30 entailment, 30 non-entailment)" in out
    first = json.loads((tmp_path / "h.jsonl").read_text().splitlines()[0])
    assert first["premise"].endswith(" .")
    assert json.loads((tmp_path / "h.jsonl.card.json").read_text())["arguments"] == {
        "faithful": True,
        "words": "published",
    }


def test_suites_lists_and_tells_of_one(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = said(capsys, "suites")
    assert re.search(r"^hans +30,000  templates", out, re.MULTILINE)
    out, _ = said(capsys, "suites", "hans")
    assert "McCoy" in out
    assert re.search(r"^--words +fresh", out, re.MULTILINE)
    out, _ = said(capsys, "suites", "--json")
    assert json.loads(out)["hans"]["rows"] == 30_000


def test_score_compare_and_report(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    said(capsys, "generate", "hans", "-n", "5", "-o", "h.csv")
    ids = [line.split(",")[0] for line in (tmp_path / "h.csv").read_text().splitlines()[1:]]
    for name, label in (("yes", "entailment"), ("no", "non-entailment")):
        (tmp_path / f"{name}.csv").write_text("id,label\n" + "".join(f"{i},{label}\n" for i in ids))
        out, _ = said(capsys, "score", f"{name}.csv", "--suite", "h.csv", "-o", name)
        assert re.search(rf"^hans +50 \(.*always {label}$", out, re.M)
        assert "whole suite" not in out
        out, _ = said(capsys, "score", f"{name}.csv", "--suite", "h.csv", "-o", name, "--full")
        assert "whole suite" in out
    out, _ = said(capsys, "compare", "yes", "no", "--json")
    contrasts = json.loads(out)["contrasts"]
    assert contrasts[0]["p"] == 1
    out, _ = said(capsys, "compare", "yes", "no")
    assert "Tested on the same rows: paired permutation within strata." in out
    assert "No profile of answers:yes.csv and answers:no.csv: suite cues would show" in " ".join(out.split())
    lines = out.splitlines()
    rest = lines[-1]
    assert "No difference is shown between answers:yes.csv and answers:no.csv on hans." in lines
    assert any(line.startswith("Its slices differ, though: hans:label=") for line in lines)
    assert rest == "Slices by label, heuristic, subcase …: --by FACTOR; everything: --full, or a page, -o FILE.html."
    assert "constituent × entailment" not in out
    out, _ = said(capsys, "compare", "yes", "no", "--full")
    assert "constituent × entailment" in out
    assert "hans by label: answers:no.csv − answers:yes.csv" in out
    out, _ = said(capsys, "compare", "yes", "no", "--by", "subcase")
    assert "By subcase" in out
    assert "Constituent · non-entailment" in out
    assert "By heuristic" not in out
    _, err = said(capsys, "compare", "yes", "no", "--by", "subcases", status=2)
    assert "no factor called 'subcases'; did you mean 'subcase'? These runs have label, heuristic, subcase" in err
    out, _ = said(capsys, "compare", "yes", "no", "--by", "subcase", "--by", "heuristic")
    lines = [line.rstrip() for line in out.splitlines()]
    assert {"By heuristic", "By subcase"} <= set(lines)
    out, _ = said(capsys, "report", "yes", "no", "-o", "page.html")
    assert out == "report: page.html\n"


def test_a_flag_goes_before_a_variable_and_a_variable_before_the_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def seed(*arguments: str) -> int:
        out, _ = said(capsys, "generate", "hans", "-n", "1", "-o", "h.csv", "--json", *arguments)
        return int(json.loads(out)["card"]["seed"])

    assert seed() == 0
    (tmp_path / "acidtest.toml").write_text("seed = 1\n")
    assert seed() == 1
    monkeypatch.setenv("ACIDTEST_SEED", "2")
    assert seed() == 2
    assert seed("--seed", "3") == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "--suites", "hanss"], "no suite or file called 'hanss'; did you mean 'hans'?"),
        (["run", "--limt", "3"], "no option called '--limt'; did you mean '--limit'"),
        (["run", "--words", "old"], "no vocabulary is called 'old', and there is no such file"),
        (["run", "-m", "hfx:bert"], "no kind of model called 'hfx'"),
        (["run", "-m", "roberta-large-mnli"], "did you mean hf:roberta-large-mnli?"),
        (["run", "-m", "facebook/bart-large-mnli"], "did you mean hf:facebook/bart-large-mnli?"),
        (["run", "-s", "p.csv", "--suite-label-map", "a=maybe"], "no gold label called 'maybe'"),
        (["run", "-s", "p.csv", "--suite-label-map", "a=maybe"], "(--suite-label-map)"),
        (["run", "--collapse", "mean"], "collapse 'mean' is not argmax, sum or threshold=T"),
        (
            ["generate", "hans", "-n", "0", "-o", "x.csv"],
            "-n is a number from 1 on, not 0; acidtest generate --help says what it counts",
        ),
        (["run", "-s", "p.tsv"], "p.tsv: there is no such file, and no suite of that name; did you mean 'p.csv'?"),
        (["run", "-m", "overlap"], "no kind of model called 'overlap'; did you mean 'baseline:overlap'?"),
        (["check", "p.csv", "-n", "3"], "-n is the size of a suite that is made; p.csv is a file, and all of it is"),
        (["generate", "hans", "-n", "9000", "--words", "published", "-o", "x.csv"], "has only 2,688"),
        (["generate", "hans", "-o", "x.csv", "stray"], "'stray' was not expected here"),
        (["run", "reference"], "'reference' was not expected here; -m reference names a model, -s reference a suite"),
        (["compare", "here"], "here: there is no such folder"),
        (["report", "nowhere"], "nowhere: there is no such folder"),
        (["score", "nothing.csv", "--suite", "hans"], "nothing.csv: there is no such file; check the path"),
        (["suites", "--seed", "x"], "Invalid value for '--seed': Input should be a valid integer"),
        (["run", "--columns", "premise=x"], "none of the suites is one"),
        (["run", "-s", "."], ".: is a folder, but no suite that acidtest wrote"),
        (["run", "-s", "hans", "--limit", "9", "-o", "taken"], "taken: is a file where a folder is needed; choose"),
        (["generate", "hans", "-n", "1", "-o", "h.xlsx"], "h.xlsx: .xlsx is no format of suites; use .parquet"),
        (["score", "p.csv", "--suite", "hans", "--columns", "id=x"], "no column called 'x'"),
        (["run", "-n", "3"], "acidtest run has no option -n; --limit N asks a sample of N pairs of each suite"),
        (["run", "-n", "3"], "a .toml of yours may say rows = N"),
        (["frobnicate"], "frobnicate"),
    ],
)
def test_a_mistake_is_told_without_a_traceback(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    Path("taken").write_text("a file")
    Path("p.csv").write_text("pairID,label\nex0,neutral\n")
    out, err = said(capsys, *arguments, status=2)
    assert message in err
    assert "Traceback" not in err
    assert out == ""


def test_a_mistake_of_ours_has_its_own_status(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acidtest.workflows.batteries.generate", lambda *_, **__: 1 / 0)
    _, err = said(capsys, "generate", "hans", "-o", "x.csv", status=3)
    assert "ZeroDivisionError" in err
    assert "this is a mistake in acidtest, not yours" in err


def test_an_interruption_says_how_to_go_on(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("acidtest.workflows.evaluations.run", interrupted)
    _, err = said(capsys, "run", "-m", "baseline:overlap", status=130)
    assert err == "acidtest: interrupted; the same command continues\n"


def test_an_unknown_variable_is_pointed_out(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACIDTEST_SEEED", "1")
    _, err = said(capsys, "suites")
    assert "ACIDTEST_SEEED is not one of acidtest's" in err


def test_suite_options_come_from_variables_and_the_file_too(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def arguments(*words: str) -> dict[str, object]:
        out, _ = said(capsys, "generate", "hans", "-n", "1", "-o", "h.csv", "--json", *words)
        return dict(json.loads(out)["card"]["arguments"])

    (tmp_path / "acidtest.toml").write_text("[generate]\nfaithful = true\n")
    assert arguments() == {"words": "fresh", "faithful": True}
    monkeypatch.setenv("ACIDTEST_FAITHFUL", "false")
    assert arguments() == {"words": "fresh"}
    assert arguments("--faithful") == {"words": "fresh", "faithful": True}


def test_one_model_in_the_file_is_a_list_of_one(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "acidtest.toml").write_text('[run]\nmodel = "baseline:random"\nlimit = 60\n')
    assert said(capsys, "run", "-s", "hans")[0].startswith("baseline:random")


def test_a_broken_settings_file_does_not_hide_the_help(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "acidtest.toml").write_text("seed =\n")
    assert "Usage: acidtest" in said(capsys, "--help")[0]
    assert "is not valid TOML" in said(capsys, "suites", status=2)[1]


def test_the_help_lists_every_command_as_its_function_describes_it() -> None:
    """The help is read from the source; this compares it with what the imported commands and studies say."""
    commands, entries = command().commands, command_entries()
    assert list(entries) == list(commands)
    for name, sub in commands.items():
        assert entries[name].summary == " ".join((sub.help or "").partition("\n\n")[0].split())
    studies = {name: STUDIES[name].group for name in STUDIES if STUDIES[name].group}
    assert {name: entry.group for name, entry in study_entries().items()} == studies


def test_no_command_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert "Usage: acidtest" in said(capsys)[0]


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "--version")[0] == f"acidtest {__version__}\n"


def test_compare_tells_contamination_of_one_run_and_judges_it_by_a_reference(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for model, folder in (("baseline:subsequence", "mine"), ("baseline:overlap", "clean")):
        words = ("--words", "published,fresh", "--limit", "300")
        said(capsys, "run", "-m", model, "-s", "hans,hans/novel", *words, "-o", folder)
    out, _ = said(capsys, "compare", "mine")
    assert "No sign of memory" in out
    out, _ = said(capsys, "compare", "mine", "--reference", "clean", "-o", "page.html", "--json")
    (leak,) = json.loads(out)["contamination"]
    assert leak["reference"] == "baseline:overlap"
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert 'id="contamination"' in page
    assert 'id="whole"' not in page
    said(capsys, "report", "mine", "--reference", "clean", "-o", "report.html")
    assert "baseline:overlap" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_audit_counts_support(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "train.tsv").write_text(
        "sentence1\tsentence2\tgold_label\n"
        "If the artist slept, the actor ran.\tThe artist slept.\tneutral\n"
        "The actor danced.\tThe actor slept.\tcontradiction\n"
    )
    out, _ = said(capsys, "audit", "train.tsv")
    assert "constituent" in out
    out, _ = said(capsys, "audit", "train.tsv", "--json")
    assert json.loads(out)["heuristics"]["constituent"] == {"support": 0, "contradict": 1, "unknown": 0}


def test_comparing_published_with_fresh_words_is_good_json(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ("published", "fresh"):
        said(capsys, "run", "-m", "baseline:overlap", "-s", "hans", "--words", words, "--limit", "300", "-o", words)
    out, _ = said(capsys, "compare", "published", "fresh", "--json")
    # A category of one vocabulary has no accuracy in the other.
    assert any(None in contrast["accuracies"] for contrast in json.loads(out)["contrasts"])
    out, _ = said(capsys, "compare", "published", "fresh", "--by", "category")
    assert "left out)" not in out
    assert "is given twice" in said(capsys, "compare", "fresh", "fresh", status=2)[1]


def test_contamination_may_come_from_runs_that_share_no_suite_and_be_exported(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for suite, folder in (("hans", "h"), ("hans/novel", "n")):
        words = ("--words", "published,fresh", "--limit", "300")
        said(capsys, "run", "-m", "baseline:overlap", "-s", suite, *words, "-o", folder)
    out, _ = said(capsys, "compare", "h", "n", "--tables", "t", "-o", "c.html")
    assert "Contamination" in out
    names = sorted(path.name for path in (tmp_path / "t").iterdir())
    assert names == [
        f"contamination-baseline-overlap-{table}.{ending}"
        for table in ("cells", "contrasts")
        for ending in ("csv", "md", "tex")
    ]
    assert "\\toprule" in (tmp_path / "t" / names[2]).read_text()


def test_a_setting_of_one_suite_does_not_trouble_others(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.csv").write_text("premise,hypothesis,label\nA cat sat.,A cat lay.,neutral\n")
    overlap = ("-m", "baseline:overlap")
    two = ("-s", "hans,stress/negation", "--limit", "60")
    monkeypatch.setenv("ACIDTEST_WORDS", "published")
    said(capsys, "run", *overlap, "-s", "mine.csv", "-o", "mine")
    assert "words:published" in said(capsys, "run", *overlap, *two, "-o", "hans", "--full")[0]
    monkeypatch.delenv("ACIDTEST_WORDS")
    (tmp_path / "acidtest.toml").write_text('[run]\nwords = ["published", "fresh"]\n')
    assert "hans:words=fresh" in said(capsys, "run", *overlap, *two, "-o", "both")[0]
    assert (
        "no option called 'words'" in said(capsys, "run", *overlap, "-s", "mine.csv", "--words", "fresh", status=2)[1]
    )


def test_why_runs_are_not_compared_is_said_beside_their_contamination(capsys: pytest.CaptureFixture[str]) -> None:
    for suite, folder in (("hans", "h"), ("hans/novel", "n")):
        said(
            capsys,
            "run",
            "-m",
            "baseline:overlap",
            "-s",
            suite,
            "--words",
            "published,fresh",
            "--limit",
            "120",
            "-o",
            folder,
        )
    out, err = said(capsys, "compare", "h", "n", "--plots", "p")
    assert "the runs are not compared with each other: no two of the runs have a suite in common" in err
    assert "--plots: there are no differences to draw" in err
    assert "plots:" not in out


def test_a_misspelt_option_is_told_without_a_note_on_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--modle", "baseline:overlap"]) == 2
    err = capsys.readouterr().err
    assert err == "acidtest: no option called '--modle'; did you mean '--model' or '--order'?\n"


def test_contamination_without_the_four_suites_is_an_error(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", "-m", "baseline:overlap", "-s", "hans", "--limit", "60", "-o", "one", "-q", "--json"]) == 0
    assert main(["contamination", "one"]) == 2
    assert "no model has runs of all four suites: run it on hans and on hans/novel" in capsys.readouterr().err
