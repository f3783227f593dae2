"""Files about a gate's decision, read as the programs read them that they are for."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest
from markdown_it import MarkdownIt

from acidtest.core.document import Pair
from acidtest.core.errors import FileError
from acidtest.core.escaping import escape_markdown
from acidtest.core.estimate import Estimate
from acidtest.core.study import STUDIES
from acidtest.render.terminal import render
from acidtest.studies.gate.result import GateState, GateTier
from acidtest.workflows.gate_reports import github_report, write_gate_reports
from acidtest.workflows.gate_reports.github import MOST_ANNOTATIONS
from acidtest.workflows.gate_reports.junit import junit_xml
from acidtest.workflows.gate_reports.markdown import MARK, MOST_CHARACTERS, check_title, figures, markdown_comment
from acidtest.workflows.gate_reports.sarif import sarif_log
from gates import CUE, FAILED, LOST, OPEN, PAIR, PASSED, SUBCASE, UNDECIDED, check, decision

SARIF = json.loads((Path(__file__).parent / "sarif-2.1.0-required.json").read_text(encoding="utf-8"))
HOSTILE = (
    "@octocat #1 </code></details><img src=x onerror=alert(1)> [a](javascript:b) ![c](d) `e` **f** _g_ | h\n"
    "::error::i https://example.org www.example.org ftp://k j@example.org \x1b[31m \u202e \x00 <!-- l"
)


def cases(text: str) -> dict[str, ET.Element]:
    return {case.get("name", ""): case for case in ET.fromstring(text).iter("testcase")}


def properties(case: ET.Element) -> dict[str, str]:
    return {entry.get("name", ""): entry.get("value", "") for entry in case.iterfind("properties/property")}


def test_every_check_is_a_junit_case_and_passing_ones_have_figures_too() -> None:
    shown = cases(junit_xml(FAILED))
    assert list(shown) == ["verdict", *(check_title(check) for check in FAILED.comparisons[0].checks)]
    passing = shown["hans:label=entailment"]
    assert [child.tag for child in passing] == ["properties", "system-out"]
    assert properties(passing) == {
        "kind": "loss",
        "tier": "required",
        "state": "pass",
        "margin": "0.024",
        "baseline": "0.91",
        "baseline_low": "0.9",
        "baseline_high": "0.92",
        "candidate": "0.905",
        "candidate_low": "0.895",
        "candidate_high": "0.915",
        "loss": "0.005",
        "loss_low": "-0.002",
        "loss_high": "0.012",
        "p": "0.99",
        "p_adjusted": "1.0",
        "rows": "15000",
        "groups": "15000",
        "effective_rows": "14000.0",
        "newly_wrong": "300",
        "newly_right": "225",
    }


def test_a_loss_is_a_failure_an_undecided_check_an_error_and_advice_is_skipped() -> None:
    shown = cases(junit_xml(FAILED))
    failure = shown[LOST.name].find("failure")
    assert failure is not None
    assert failure.get("message") == "at least 19.0 points are lost, more than 2.4"
    error = shown[OPEN.name].find("error")
    assert error is not None
    assert error.get("type") == "undecided"
    assert shown["hans (floor)"].find("skipped") is not None


def test_an_undecided_check_that_can_only_fail_is_skipped_with_its_reason() -> None:
    skipped = cases(junit_xml(PASSED))[SUBCASE.name].find("skipped")
    assert skipped is not None
    assert skipped.get("message") == SUBCASE.reason
    assert "➖ fail-only" in markdown_comment(PASSED)
    # It stops nothing, so that neither an annotation nor an alert is made of it.
    assert SUBCASE.name not in github_report(PASSED, {})
    assert sarif_log(decision(GateState.PASS, check(), SUBCASE))["runs"][0]["results"] == []


def test_junit_counts_as_many_failures_as_the_screen() -> None:
    root = ET.fromstring(junit_xml(FAILED))
    shown = "\n".join(render(STUDIES["gate"].document(FAILED), 100, full=False))
    assert "3 required: 1 pass, 1 fail, 1 undecided" in shown
    assert (root.get("failures"), root.get("errors")) == ("1", "1")
    verdict = cases(junit_xml(FAILED))["verdict"].find("skipped")
    assert verdict is not None
    assert str(verdict.get("message")).startswith(FAILED.headline)


def test_the_counts_of_a_junit_file_are_those_of_its_cases() -> None:
    root = ET.fromstring(junit_xml(FAILED))
    for element in (root, *root.iter("testsuite")):
        assert element.get("tests") == str(len(list(element.iter("testcase"))))
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert element.get(name) == str(len(list(element.iter(tag))))
    assert root.get("failures") == "1", "the slice; the verdict is red only if nothing else is"


def test_an_undecided_check_that_the_policy_tolerates_is_skipped() -> None:
    shown = cases(junit_xml(decision(GateState.PASS, OPEN)))
    assert shown[OPEN.name].find("skipped") is not None
    assert shown["verdict"].find("failure") is None


@pytest.mark.parametrize("state", [GateState.FAIL, GateState.UNDECIDED])
def test_a_gate_without_checks_is_not_green(state: GateState) -> None:
    for result in (decision(state), replace(decision(state), comparisons=())):
        root = ET.fromstring(junit_xml(result))
        assert int(root.get("failures", 0)) + int(root.get("errors", 0)) == 1
        assert sarif_log(result)["runs"][0]["results"][0]["ruleId"] == "gate-not-passed"


def test_junit_has_a_suite_for_every_baseline() -> None:
    anchor = replace(PASSED.comparisons[0], baseline=replace(PASSED.comparisons[0].baseline, name="anchor"))
    root = ET.fromstring(junit_xml(replace(FAILED, comparisons=(*FAILED.comparisons, anchor))))
    names = [suite.get("name") for suite in root.iter("testsuite")]
    assert names == ["candidate against release", "candidate against anchor"]


def test_characters_that_xml_forbids_do_not_break_a_junit_file() -> None:
    result = decision(GateState.FAIL, replace(LOST, name=f"hans:{HOSTILE}", reason=HOSTILE))
    name = next(name for name in cases(junit_xml(result)) if name != "verdict")
    assert name.startswith("hans:@octocat #1 </code>")
    assert "\ufffd[31m" in name


@pytest.mark.parametrize("result", [PASSED, FAILED, UNDECIDED, decision(GateState.FAIL)])
def test_a_sarif_log_has_what_sarif_requires(result: Any) -> None:
    jsonschema.validate(sarif_log(result), SARIF)


def test_sarif_has_a_result_for_what_is_lost_undecided_or_advised_and_none_else() -> None:
    results = sarif_log(FAILED)["runs"][0]["results"]
    levels = {entry["properties"]["check"]: (entry["ruleId"], entry["level"]) for entry in results}
    assert levels == {
        LOST.name: ("slice-lost", "error"),
        OPEN.name: ("slice-undecided", "warning"),
        "hans (floor)": ("floor-missed", "note"),
    }
    assert sarif_log(decision(GateState.PASS, check(), SUBCASE, CUE))["runs"][0]["results"] == []


def test_sarif_points_to_the_policy_file_or_to_the_baseline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    def place(result: Any) -> str:
        location = sarif_log(result)["runs"][0]["results"][0]["locations"][0]
        return str(location["physicalLocation"]["artifactLocation"]["uri"])

    assert place(FAILED) == "release.acidtest"
    Path("my gate.toml").touch()
    assert place(replace(FAILED, policy="my gate.toml")) == "my%20gate.toml"
    folder = tmp_path / "runs" / "release"
    folder.mkdir(parents=True)
    baseline = replace(FAILED.comparisons[0].baseline, source=str(folder))
    assert place(replace(FAILED, comparisons=(replace(FAILED.comparisons[0], baseline=baseline),))) == (
        "runs/release/run.json"
    )
    assert place(replace(FAILED, policy="a long policy " * 500)) == "release.acidtest"


def test_a_sarif_fingerprint_names_the_check_and_not_its_figures() -> None:
    other = replace(LOST, loss=Estimate(0.3, 0.2, 0.4, 15000), reason="more")
    prints = [
        sarif_log(decision(GateState.FAIL, lost))["runs"][0]["results"][0]["partialFingerprints"]
        for lost in (LOST, other, replace(LOST, name="hans"))
    ]
    assert prints[0] == prints[1] != prints[2]


def test_a_comment_begins_with_its_mark_and_the_verdict_and_folds_what_did_not_decide() -> None:
    comment = markdown_comment(FAILED)
    assert comment.startswith(f"{MARK}\n### acidtest gate: ❌ fail\n")
    open_part, _, folded = comment.partition("<details>")
    for decisive in (LOST, OPEN):
        assert escape_markdown(decisive.name) in open_part
    for other in (SUBCASE, CUE):
        assert escape_markdown(other.name) not in open_part
        assert escape_markdown(other.name) in folded
    assert "91.0 → 71.0 %, −20.0 (−21.0 to −19.0)" in open_part
    assert "signatures and policy" in folded
    assert folded.count("<details>") + 1 == comment.count("</details>")


def test_a_comment_about_a_pass_shows_what_was_required() -> None:
    open_part, _, folded = markdown_comment(PASSED).partition("<details>")
    assert "hans:label=entailment" in open_part
    assert "3 other checks" in folded


def test_a_comment_shows_five_pairs_of_a_kind() -> None:
    pairs = tuple(replace(PAIR, premise=f"Premise {number}") for number in range(9))
    comment = markdown_comment(decision(GateState.FAIL, LOST, newly_wrong=pairs, newly_right=pairs[:1]))
    assert len(re.findall("premise <code>", comment)) == 6
    assert "5 examples of pairs newly wrong" in comment
    assert "1 example of pairs newly right" in comment


def rendered(text: str) -> str:
    """HTML as GitHub makes it: CommonMark with tables, inline HTML passed through."""
    return MarkdownIt("commonmark", {"html": True}).enable("table").render(text)


def test_no_text_of_a_pair_or_name_becomes_markup_or_a_mention() -> None:
    pair = Pair(HOSTILE, HOSTILE, HOSTILE, answers={HOSTILE: HOSTILE}, facts={HOSTILE: HOSTILE})
    hostile = replace(LOST, name=f"hans:{HOSTILE}", reason=HOSTILE)
    result = decision(GateState.FAIL, hostile, SUBCASE, newly_wrong=(pair,), notes=(HOSTILE,))
    result = replace(result, headline=HOSTILE, policy=HOSTILE, candidate=replace(result.candidate, name=HOSTILE))
    comment = markdown_comment(result)
    html = rendered(comment)
    tags, plain = (set(re.findall(r"<[^>]*>", text)) for text in (html, rendered(markdown_comment(FAILED))))
    assert tags <= plain
    outside_code = re.sub(r"<code>.*?</code>", "", html)
    assert "octocat" in outside_code
    # GitHub looks for mentions and issues in the text of the finished page that is not code.
    assert not re.search(r"[@#]\w", outside_code)
    # It looks for links in the source.
    assert not re.search(r"://|www\.|\w@\w", comment)


def test_a_long_text_is_cut_and_many_checks_are_counted() -> None:
    many = [replace(LOST, name=f"hans:template={number}") for number in range(400)]
    pairs = (replace(PAIR, premise="word " * 9000),) * 5
    comment = markdown_comment(decision(GateState.FAIL, *many, newly_wrong=pairs))
    assert len(comment) <= MOST_CHARACTERS
    assert "390 other checks, 390 of which decided it, too" in comment
    assert "… and 240 checks more" in comment
    assert "5 examples of pairs newly wrong" in comment


def test_a_comment_is_never_longer_than_github_takes() -> None:
    many = [replace(LOST, name="*" * 500 + str(number)) for number in range(400)]
    pair = Pair("*" * 500, "*" * 500, "*", {"*" * 500: "*" * 500}, {"*" * 500: "*" * 500})
    result = decision(GateState.FAIL, *many, newly_wrong=(pair,) * 5, newly_right=(pair,) * 5)
    for comparisons in (result.comparisons, result.comparisons * 2, result.comparisons * 9):
        comment = markdown_comment(replace(result, comparisons=comparisons))
        assert comment.startswith(MARK)
        assert len(comment) <= MOST_CHARACTERS
        assert comment.count("<details>") == comment.count("</details>")


def test_github_gets_commands_with_a_level_for_every_outcome(tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("earlier\n", encoding="utf-8")
    lines = github_report(FAILED, {"GITHUB_STEP_SUMMARY": str(summary)}).splitlines()
    assert [line.partition(" ")[0] for line in lines] == ["::error", "::error", "::warning", "::notice"]
    assert lines[0] == "::error title=acidtest gate%3A fail::The candidate is fail."
    assert "title=hans%3Alabel=non-entailment%3A fail::at least 19.0 points" in lines[1]
    assert summary.read_text(encoding="utf-8") == f"earlier\n{markdown_comment(FAILED)}"


def test_no_text_becomes_another_github_command() -> None:
    hostile = replace(LOST, name="a\n::error::b,file=c", reason="50 % lost\r\n::set-output name=x::y")
    lines = github_report(decision(GateState.FAIL, hostile), {}).splitlines()
    assert len(lines) == 2
    assert "title=a %3A%3Aerror%3A%3Ab%2Cfile=c%3A fail::50 %25 lost ::set-output" in lines[1]


def test_github_is_given_no_more_annotations_than_it_shows() -> None:
    many = [replace(LOST, name=f"hans:template={number}") for number in range(50)]
    assert len(github_report(decision(GateState.FAIL, *many), {}).splitlines()) == MOST_ANNOTATIONS


def test_a_summary_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be written"):
        github_report(PASSED, {"GITHUB_STEP_SUMMARY": str(tmp_path / "none" / "summary.md")})


def test_files_of_an_earlier_gate_are_replaced_and_others_refused(tmp_path: Path) -> None:
    files = {"junit": tmp_path / "gate.xml", "sarif": tmp_path / "gate.sarif", "markdown": tmp_path / "gate.md"}
    assert write_gate_reports(PASSED, **files) == files
    assert write_gate_reports(FAILED, **files) == files
    assert files["markdown"].read_text(encoding="utf-8") == markdown_comment(FAILED)
    assert json.loads(files["sarif"].read_text(encoding="utf-8")) == sarif_log(FAILED)
    for path in files.values():
        path.write_text("notes of somebody", encoding="utf-8")
        with pytest.raises(FileError, match="not written by acidtest"):
            write_gate_reports(PASSED, **files)
        path.unlink()
        write_gate_reports(PASSED, **files)


def test_figures_leave_out_what_is_not_known() -> None:
    unknown = Estimate(float("nan"), note="no rows")
    shown = figures(check(candidate=unknown, loss=None, baseline=None, p=None, tier=GateTier.ADVISORY))
    assert not [name for name in shown if name.startswith(("candidate", "loss", "baseline"))]
    assert "p" not in shown
