"""The audit of a training set as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

from acidtest.core.estimate import Estimate
from acidtest.report.examples import Examples
from acidtest.reports.audit_findings import NEARLY, TITLES, audit_findings
from acidtest.reports.audits import LEAK_COLUMNS, cue_note, duplicate_lines, label_names, leak_cells, sample_note
from acidtest.reports.charts import Axis, Chart, Row
from acidtest.reports.html import explained, rendered
from acidtest.reports.numerals import NONE, p_value, percent, share
from acidtest.studies.audit import KINDS, MNLI, Audit
from acidtest.studies.audits.cues import Cue
from acidtest.studies.audits.measures import LENGTHS, NEGATIONS, OVERLAP, PHENOMENA

_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 1_000, 10_000)
_RATES = (0.0, 0.25, 0.5, 0.75, 1.0)
_SIDES = {"hypothesis": "hypothesis alone", "premise": "premise alone"}
_TITLES = {
    "premise_length": "premise",
    "hypothesis_length": "hypothesis",
    OVERLAP: "overlap",
    "premise_negation": "premise negated",
    "hypothesis_negation": "hypothesis negated",
}


class WordAxis(Axis):
    """An axis that counts words."""

    def label(self, tick: float) -> str:
        """A tick as it is written: ``10``."""
        return f"{tick:g}"


@dataclass(frozen=True)
class CueSection:
    """The cues of one kind: a chart of those of highest PMI, and all of them."""

    title: str
    tested: int
    tied: Mapping[str, int]
    chart: Chart | None
    cues: tuple[Cue, ...]


def audit_page(found: Audit) -> str:
    """The page for an audit."""
    labels = label_names(found)
    phenomena = tuple(PHENOMENA)
    return rendered(
        "audit.html",
        audit=found,
        labels=labels,
        findings=[finding.to_json() for finding in audit_findings(found)],
        heuristics=_heuristics(found),
        partial=_partial(found),
        lengths=_measures(found, LENGTHS, WordAxis("mean number of words", _ticks(found, LENGTHS))),
        shares=_measures(found, (OVERLAP, *NEGATIONS), Axis("mean overlap; share of negated sentences", _RATES)),
        phenomena=_measures(found, phenomena, Axis("share of the label's pairs", _ticks(found, phenomena))),
        phenomenon_texts=PHENOMENA,
        measured=[_measured(found, name) for name in (*LENGTHS, OVERLAP, *NEGATIONS)],
        cues=[_cues(found, kind) for kind in KINDS if found.cues[kind].tested],
        duplicates=duplicate_lines(found),
        nearly=NEARLY,
        leak_columns=LEAK_COLUMNS,
        leaks=leak_cells(found),
        sample_note=sample_note(found).strip(),
        cue_note=cue_note().strip(),
        adjusted=found.adjusted,
        methods=explained(_methods(found)),
        examples=Examples(0, "", ()),
    )


def _heuristics(found: Audit) -> Chart | None:
    rows = tuple(
        Row(
            name.replace("_", " "),
            {found.name: support.share},
            published={"MultiNLI (McCoy et al. 2019)": MNLI[name].share.value},
        )
        for name, support in found.heuristics.items()
        if support is not None and support.share.known
    )
    base = found.balance.labels.get("entailment", 0) / found.rows if found.rows else None
    title = "share of a heuristic's pairs that are entailment; dashed line: of all pairs"
    return Chart(rows, Axis(title, _RATES, base)) if rows else None


def _partial(found: Audit) -> Chart | None:
    rows = tuple(
        Row(_SIDES[side], {"linear model": each.balanced}, published={"a guess": each.chance})
        for side, each in found.partial_input.items()
        if each.balanced.known
    )
    return Chart(rows, Axis("balanced accuracy with one sentence only", _RATES)) if rows else None


def _measures(found: Audit, names: tuple[str, ...], axis: Axis) -> Chart | None:
    rows = tuple(Row(_TITLES.get(name, name.replace("_", " ")), _means(found, name)) for name in names)
    return Chart(rows, axis) if any(row.estimates for row in rows) else None


def _means(found: Audit, name: str) -> dict[str, Estimate]:
    return dict(found.measures[name].means)


def _ticks(found: Audit, names: tuple[str, ...]) -> tuple[float, ...]:
    """Round numbers from 0 to beyond the highest mean, seven at most."""
    highest = max((mean.value for name in names for mean in found.measures[name].means.values()), default=1.0) or 1.0
    step = next(step for step in _STEPS if highest / step <= 6)
    return tuple(step * number for number in range(ceil(highest / step) + 1))


def _measured(found: Audit, name: str) -> tuple[str, list[str], str, str]:
    """A row of the table of measures: name, a cell for each label, the share explained, p."""
    each = found.measures[name]
    cells = []
    for label in label_names(found):
        mean = each.means.get(label)
        number = None if mean is None else f"{mean.value:.1f}" if name in LENGTHS else f"{percent(mean)} %"
        cells.append(number or NONE)
    title = f"{_TITLES[name]}, words" if name in LENGTHS else _TITLES[name]
    return title, cells, share(each.explained), p_value(found.adjusted[name])


def _cues(found: Audit, kind: str) -> CueSection:
    each = found.cues[kind]
    listed = tuple(cue for cues in each.top.values() for cue in cues)
    rows = tuple(Row(cue.item, {"share": cue.estimate}, heading=cue.label) for cue in listed)
    axis = Axis("share of the sentences with it that have the label", _RATES)
    return CueSection(TITLES[kind], each.tested, each.tied, Chart(rows, axis) if rows else None, listed)


def _methods(found: Audit) -> list[str]:
    partial = [each for side in found.partial_input.values() for each in (side.balanced, side.gain)]
    return [*(each.method for each in partial), *(side.test for side in found.partial_input.values())]
