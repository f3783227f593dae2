"""A gate's decision as JUnit XML: a suite per baseline, a case per check, figures as properties of every case.

A check that is missed is a ``failure``. A required one that is undecided is an ``error``: readers of JUnit files show
errors in red and count them apart from failures. What the policy tolerates is ``skipped``, and so is a fail-only check
that is undecided. A suite begins with the case ``verdict``. It is red only if no check is, so that failures are counted
as on the screen, and a gate without any check is not green either.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from acidtest.core.escaping import escape_control
from acidtest.studies.gate.result import GateComparison, GateResult
from acidtest.workflows.gate_reports.markdown import Outcome, check_title, figures, outcome, state_outcome

NAME = "acidtest gate"
VERDICT = "verdict"
"""The name of the case that is the decision of a whole comparison."""

MARK = f'<testsuites name="{NAME}"'.encode()
"""Text near the beginning of every file that ``junit_xml`` wrote."""

_ELEMENTS = {
    Outcome.FAILED: "failure",
    Outcome.UNDECIDED: "error",
    Outcome.TOLERATED: "skipped",
    Outcome.SKIPPED: "skipped",
}
_RED = (Outcome.FAILED, Outcome.UNDECIDED)


def junit_xml(result: GateResult) -> str:
    """The decision as the text of a JUnit file."""
    # ElementTree escapes markup, but writes what XML forbids: hence ``escape_control`` for every text.
    root = Element("testsuites", {"name": NAME})
    totals: Counter[str] = Counter()
    for comparison in result.comparisons:
        totals += _add_suite(root, result, comparison)
    if not result.comparisons:
        suite = SubElement(root, "testsuite", {"name": NAME})
        totals += _count([_add_case(suite, VERDICT, {}, state_outcome(result.state), result.headline)], suite)
    _set_counts(root, totals)
    indent(root, " ")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _add_suite(root: Element, result: GateResult, comparison: GateComparison) -> Counter[str]:
    """Add the suite of one baseline; give the numbers of its cases."""
    name = escape_control(f"{result.candidate.name} against {comparison.baseline.name}")
    suite = SubElement(root, "testsuite", {"name": name})
    facts = {
        "candidate": result.candidate.source,
        "candidate_signature": result.candidate.signature,
        "baseline": comparison.baseline.source,
        "baseline_signature": comparison.baseline.signature,
        "policy": result.policy,
    }
    _add_properties(suite, facts)
    verdict, decided = " ".join((result.headline, *comparison.notes)), state_outcome(comparison.state)
    if decided in _RED and any(outcome(check, comparison) in _RED for check in comparison.checks):
        decided = Outcome.SKIPPED
    shown = [_add_case(suite, VERDICT, {"state": comparison.state.value}, decided, verdict)]
    for check in comparison.checks:
        shown.append(_add_case(suite, check_title(check), figures(check), outcome(check, comparison), check.reason))
    return _count(shown, suite)


def _add_case(suite: Element, name: str, facts: Mapping[str, object], shown: Outcome, reason: str) -> Outcome:
    # Readers group cases by classname, at its dots: that of a check is its suite.
    place = "gate" if name == VERDICT else f"gate.{name.removesuffix(' (floor)').partition(':')[0]}"
    names = {"classname": escape_control(place), "name": escape_control(name)}
    case = SubElement(suite, "testcase", {**names, "time": "0"})
    _add_properties(case, facts)
    message = escape_control(reason)
    if shown in _ELEMENTS:
        detail = SubElement(case, _ELEMENTS[shown], {"message": message})
        if shown in _RED:
            detail.set("type", shown.value)
            detail.text = message
    else:
        SubElement(case, "system-out").text = message
    return shown


def _add_properties(element: Element, facts: Mapping[str, object]) -> None:
    if facts:
        properties = SubElement(element, "properties")
        for name, value in facts.items():
            SubElement(properties, "property", {"name": name, "value": escape_control(str(value))})


def _count(shown: list[Outcome], suite: Element) -> Counter[str]:
    counts = Counter({"tests": len(shown)})
    counts.update(f"{_ELEMENTS[case]}s".replace("skippeds", "skipped") for case in shown if case in _ELEMENTS)
    _set_counts(suite, counts)
    return counts


def _set_counts(element: Element, counts: Counter[str]) -> None:
    for name in ("tests", "failures", "errors", "skipped"):
        element.set(name, str(counts[name]))
