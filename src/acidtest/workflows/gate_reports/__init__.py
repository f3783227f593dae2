"""Files about a gate's decision for other programs: JUnit XML, SARIF, a pull-request comment, GitHub's annotations."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from acidtest.core.files import open_regular_file, refuse_overwrite, write_text
from acidtest.studies.gate.result import GateResult
from acidtest.workflows.gate_reports.github import github_report as github_report
from acidtest.workflows.gate_reports.junit import MARK as JUNIT_MARK
from acidtest.workflows.gate_reports.junit import junit_xml
from acidtest.workflows.gate_reports.markdown import MARK as MARKDOWN_MARK
from acidtest.workflows.gate_reports.markdown import markdown_comment
from acidtest.workflows.gate_reports.sarif import MARK as SARIF_MARK
from acidtest.workflows.gate_reports.sarif import sarif_log


class _Format(NamedTuple):
    """How a decision becomes the text of a file, and what such a file has near its beginning."""

    text: Callable[[GateResult], str]
    mark: bytes


def _sarif_text(result: GateResult) -> str:
    return json.dumps(sarif_log(result), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


_FORMATS = {
    "junit": _Format(junit_xml, JUNIT_MARK),
    "sarif": _Format(_sarif_text, SARIF_MARK),
    "markdown": _Format(markdown_comment, MARKDOWN_MARK.encode()),
}


def write_gate_reports(
    result: GateResult, *, junit: Path | None = None, sarif: Path | None = None, markdown: Path | None = None
) -> dict[str, Path]:
    """Write the decision to the files that were asked for; give their paths by format.

    A file that acidtest wrote before is replaced; if any other file is there, nothing is written.
    """
    asked = {"junit": junit, "sarif": sarif, "markdown": markdown}
    paths = {name: path for name, path in asked.items() if path is not None}
    for name, path in paths.items():
        refuse_overwrite(path, is_ours=partial(_begins_with, _FORMATS[name].mark))
    for name, path in paths.items():
        write_text(path, _FORMATS[name].text(result))
    return paths


def _begins_with(mark: bytes, path: Path) -> bool:
    with open_regular_file(path) as file:
        return mark in file.read(4096)
