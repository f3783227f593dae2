"""How far people agree as one self-contained HTML page, and figure 2 of Joshi et al. (2020) as a picture."""

from __future__ import annotations

from math import floor
from pathlib import Path

from acidtest.core.estimate import Estimate
from acidtest.core.files import replacing, write_text
from acidtest.report.examples import Examples
from acidtest.reports.agreement_words import (
    coefficient,
    discards_told,
    duration,
    has_label_agreement,
    kappa,
    lines,
    notes,
    number,
    reach,
    rows_told,
    seconds,
    share_rows,
    slice_rows,
)
from acidtest.reports.charts import Axis, Chart, Row
from acidtest.reports.html import rendered
from acidtest.reports.plots import as_png, as_svg, specification
from acidtest.studies.agreement import Agreement

OURS = "Fleiss' kappa"
_STEP = 0.2

METHODS = {
    "Fleiss' kappa": "One minus the disagreement of people within rows over the one that their shares of all labels "
    "make by chance; of a category, that of having marked it. The mean is over categories that have one.",
    "Krippendorff's alpha": "The same with chance drawn without replacement, so that few rows do not flatter; of whole "
    "sets, disagreement is their distance (MASI, or Jaccard's).",
    "Cohen's kappa": "For two people: chance is what each one's own habits make.",
    "IOU": "Categories that two people both marked over those that either did, a mean over rows; rows on which nobody "
    "marked anything are 0/0 and left out.",
    "Inference accuracy": "How often a person's own label is a gold that does not come from these people.",
    "Intervals": "95 %, a t interval with the jackknife's variance over groups (rows of one premise) on Fisher's scale "
    "for coefficients; shares and IOU have a bootstrap over groups or Wilson's.",
}


def agreement_page(found: Agreement) -> str:
    """The page for one file of labels, categories or answers."""
    own = found.categories
    return rendered(
        "agreement.html",
        found=found,
        told=rows_told(found),
        discards=discards_told(found) if found.questionnaire else "",
        labelled=has_label_agreement(found),
        label_chart=_label_chart(found) if has_label_agreement(found) else None,
        category_chart=_category_chart(found),
        mean_paper=found.published_value("mean kappa"),
        cohens=any(each.cohen for each in own.categories.values()) if own else False,
        lines=lines(found),
        notes=notes(found)[:-1],
        studies=[table for table in (slice_rows(found), share_rows(found)) if table[1]],
        people=_people(found),
        methods=METHODS,
        kappa=kappa,
        reach=reach,
        number=number,
        coefficient=coefficient,
        examples=Examples(0, "", ()),
    )


def agreement_chart(found: Agreement) -> Chart:
    """Kappa of each category with its interval, in the order of the taxonomy; of each label where there are none."""
    return _category_chart(found) or _label_chart(found)


def write_agreement_chart(found: Agreement, path: str | Path) -> None:
    """Draw the chart into a file, PNG or SVG by its ending."""
    spec = specification(agreement_chart(found))
    if Path(path).suffix.lower() == ".svg":
        write_text(path, as_svg(spec))
        return
    with replacing(path) as temporary:
        temporary.write_bytes(as_png(spec))


def _label_chart(found: Agreement) -> Chart:
    kappas = {**{name: each.kappa for name, each in found.labels.items()}, "overall": found.kappa}
    papers = {name: found.published_value("kappa", None if name == "overall" else name) for name in kappas}
    rows = tuple(
        Row(name, {OURS: value}, published={} if (paper := papers[name]) is None else {_beside(found): paper})
        for name, value in kappas.items()
    )
    return Chart(rows, _axis(list(kappas.values())))


def _category_chart(found: Agreement) -> Chart | None:
    own = found.categories
    if own is None or not own.rated:
        return None
    rows = [Row(name, {OURS: each.kappa}, heading=each.heading) for name, each in own.categories.items()]
    paper = found.published_value("mean kappa")
    heading = "All categories" if any(row.heading for row in rows) else ""
    beside = {} if paper is None else {_beside(found): paper}
    rows.append(Row("mean", {OURS: own.kappa}, heading=heading, published=beside))
    return Chart(tuple(rows), _axis([each.kappa for each in own.categories.values()]))


def _beside(found: Agreement) -> str:
    """Whose the published numbers are."""
    return f"annotators of {found.corpus}"


def _axis(values: list[Estimate]) -> Axis:
    """From 0, or as far below as values and their intervals reach, to 1."""
    known = [end for value in values for end in (value.value, value.low) if end == end]
    steps = max(min(0, floor(round(min(known, default=0.0) / _STEP, 6))), -5)
    ticks = tuple(round(step * _STEP, 1) for step in range(steps, 6))
    return Axis("Fleiss' kappa with 95 % intervals; dashed line: chance", ticks, 0.0, plain=True)


def _people(found: Agreement) -> list[dict[str, str | Estimate | None]]:
    """A line for each person: accuracy, times and control items, as far as they are known."""
    accuracies = found.accuracy.people if found.accuracy else {}
    attendance = found.attendance
    times = attendance.by_person if attendance else {}
    controls = attendance.controls if attendance else {}
    excluded = attendance.excluded if attendance else ()
    names = dict.fromkeys([*accuracies, *times, *controls, *excluded])
    return [
        {
            "name": name,
            "accuracy": accuracies.get(name),
            "median": seconds(times[name].quartiles[1]) if name in times else "–",
            "total": duration(times[name].total) if name in times else "–",
            "controls": f"{controls[name].failed} of {controls[name].asked}" if name in controls else "–",
            "excluded": "excluded" if name in excluded else "",
        }
        for name in names
    ]
