"""Training sets, looked at for what they teach besides their task."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from acidtest.core.files import require_page, write_page
from acidtest.core.logs import stage
from acidtest.core.suite import Suite
from acidtest.workflows.batteries import Reading, chosen_suites, load

if TYPE_CHECKING:
    from rich.console import RenderableType

    from acidtest.reports.diagnosis import Finding
    from acidtest.studies.audit import Audit


def audit(
    train: str | Path | Suite,
    *,
    against: Sequence[str | Path | Suite] = (),
    output: str | Path | None = None,
    faithful: bool = False,
    reading: Reading | None = None,
    seed: int = 0,
) -> Audit:
    """What a training set teaches besides its task: shortcuts, repetitions, and leaks into the suites ``against``.

    ``against`` takes names, globs and files, as ``run`` does; ``output`` takes a page. ``reading`` says how to read the
    training set's file.
    """
    from acidtest.studies.audit import audit as audited

    if output is not None:
        require_page(output)
    if not isinstance(train, Suite):
        stage("reading %s", train)
    suite = train if isinstance(train, Suite) else load(train, reading=reading)
    named = [str(each) for each in against if not isinstance(each, Suite)]
    others = [each for each in against if isinstance(each, Suite)]
    others += chosen_suites(named, seed=seed) if named else []
    found = audited(suite, against=others, faithful=faithful, seed=seed)
    if output is not None:
        from acidtest.reports.audit_page import audit_page

        write_page(output, audit_page(found))
    return found


def audit_findings(found: Audit) -> list[Finding]:
    """What an audit found, in sentences, gravest first."""
    from acidtest.reports.audit_findings import audit_findings as told

    return told(found)


def audit_table(found: Audit) -> list[RenderableType]:
    """An audit as a person reads it on a terminal, MultiNLI's counts beside it."""
    from acidtest.reports import audits

    return audits.audit_table(found)
