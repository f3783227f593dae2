"""A gate's decision as a SARIF 2.1.0 log: a result for every check that is missed or undecided.

Missed checks are errors, undecided ones warnings, tolerated ones notes. They point to the policy file or, without one,
to the baseline: these are the files of a repository that decide what is asked.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any
from urllib.parse import quote

from acidtest.core.escaping import escape_sarif
from acidtest.studies.gate.result import CheckKind, GateComparison, GateResult, GateState
from acidtest.version import __version__
from acidtest.workflows.gate_reports.markdown import (
    Outcome,
    check_title,
    describe_outcome,
    figures,
    outcome,
    policy_file,
    state_outcome,
)

SCHEMA_ADDRESS = "https://json.schemastore.org/sarif-2.1.0.json"
MARK = b'"name": "acidtest gate"'
"""Text near the beginning of every file that ``sarif_log`` became."""

_RULES = {
    "slice-lost": "The candidate loses more than the margin on this slice, compared with the baseline row by row.",
    "floor-missed": "The accuracy of the candidate on this slice is below the floor of the policy.",
    "edit-accepted": "The candidate accepts more claims that an edit made wrong than the policy allows.",
    "cue-too-strong": "A cue moves the candidate's answers by more than the policy allows.",
    "slice-undecided": "Too few rows were compared, or none, to show that the candidate keeps within this bound.",
    "gate-not-passed": "The gate did not pass.",
}
_MISSED = {
    CheckKind.LOSS: "slice-lost",
    CheckKind.FLOOR: "floor-missed",
    CheckKind.EDIT: "edit-accepted",
    CheckKind.CUE: "cue-too-strong",
}
_LEVELS = {Outcome.FAILED: "error", Outcome.UNDECIDED: "warning", Outcome.TOLERATED: "note"}


def sarif_log(result: GateResult) -> dict[str, Any]:
    """The decision as the content of a SARIF file."""
    driver = {
        "name": "acidtest gate",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": [{"id": rule, "shortDescription": {"text": text}} for rule, text in _RULES.items()],
    }
    findings = [finding for comparison in result.comparisons for finding in _findings(result, comparison)]
    if not findings and result.state is not GateState.PASS:
        place = _location(policy_file(result) or Path(result.candidate.source))
        findings = [_finding("gate-not-passed", state_outcome(result.state), result.headline, place, {})]
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": True}],
        "columnKind": "unicodeCodePoints",
        "properties": {"state": result.state.value, "headline": escape_sarif(result.headline)},
        "results": findings,
    }
    return {"$schema": SCHEMA_ADDRESS, "version": "2.1.0", "runs": [run]}


def _findings(result: GateResult, comparison: GateComparison) -> list[dict[str, Any]]:
    """A result for every check against one baseline that did not pass; one for all if no check says why."""
    place = _location(policy_file(result) or Path(comparison.baseline.source))
    findings = []
    for check in comparison.checks:
        shown = outcome(check, comparison)
        if shown in _LEVELS:
            rule = "slice-undecided" if check.state is GateState.UNDECIDED else _MISSED[check.kind]
            text = f"{check_title(check)}: {describe_outcome(check)}"
            facts = {"check": check_title(check), "baseline": comparison.baseline.name, **figures(check)}
            findings.append(_finding(rule, shown, text, place, facts))
    if comparison.state is not GateState.PASS and not any(finding["level"] != "note" for finding in findings):
        text = " ".join((result.headline, *comparison.notes))
        findings.append(_finding("gate-not-passed", state_outcome(comparison.state), text, place, {}))
    return findings


def _finding(
    rule: str, shown: Outcome, text: str, place: dict[str, Any], facts: dict[str, str | int | float]
) -> dict[str, Any]:
    # The same check of two uploads is one alert: the fingerprint holds nothing that changes with the figures.
    identity = "\n".join((rule, str(facts.get("check", "")), str(facts.get("baseline", ""))))
    return {
        "ruleId": rule,
        "ruleIndex": list(_RULES).index(rule),
        "kind": "fail",
        "level": _LEVELS[shown],
        "message": {"text": escape_sarif(text)},
        "locations": [place],
        "partialFingerprints": {"acidtestCheck/v1": hashlib.sha256(identity.encode()).hexdigest()[:32]},
        "properties": facts,
    }


def _location(source: Path) -> dict[str, Any]:
    """The first line of a file, or of the header of a run folder; relative to the working folder where it is below."""
    path = (source / "run.json" if source.is_dir() else source).resolve()
    folder = Path.cwd()
    uri = quote(path.relative_to(folder).as_posix()) if path.is_relative_to(folder) else path.as_uri()
    return {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": 1}}}
