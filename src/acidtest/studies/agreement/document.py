"""Renders agreement as a document: kappas by label and category, coefficients of the whole file, and people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from acidtest.core.document import (
    Cell,
    Chart,
    Column,
    Document,
    Note,
    Part,
    Published,
    Reference,
    Row,
    Section,
    Table,
    Unit,
    describe_count,
)
from acidtest.core.estimate import Estimate
from acidtest.core.numbers import decimal, interval, share
from acidtest.core.ratings import DISCARDED, KEPT, MAJORITY, Attendance
from acidtest.pairs.heuristics import HANS
from acidtest.pairs.taxonomy import CATEGORIES, NEUTRAL_FEATURES, path
from acidtest.studies.agreement import AgreementResult, LabelAgreement
from acidtest.studies.agreement.categories import MarkAgreement

_MOST_NAMED = 6
"""How many names a sentence lists at most."""

_METHODS = (
    "Fleiss' kappa: one minus the disagreement of people within rows over the one that their shares of all labels make "
    "by chance; of a category, that of having marked it. The mean is over categories that have one.",
    "Krippendorff's alpha: the same with chance drawn without replacement, so that few rows do not flatter; of whole "
    "sets, disagreement is their distance (MASI, or Jaccard's).",
    "Cohen's kappa: for two people; chance is what each one's own habits make.",
    "IOU: categories that two people both marked over those that either did, a mean over rows; rows on which nobody "
    "marked anything are 0/0 and left out.",
    "Inference accuracy: how often a person's own label is a gold that does not come from these people.",
    "Intervals: 95 %, a t interval with the jackknife's variance over groups (rows of one premise) on Fisher's scale "
    "for coefficients; shares and IOU have a bootstrap over groups or Wilson's.",
)


def document(result: AgreementResult) -> Document:
    """A document with sections on labels, categories, accuracy, the whole file and people; empty ones are left out."""
    sections: dict[str, tuple[Part, ...]] = {
        "Labels": tuple(_labels(result)),
        "Categories": tuple(_categories(result)),
        "Judgements beside gold": tuple(_judgements(result)),
        "As a whole": (*_whole_tables(result), *(Note(text, quiet=True) for text in _gold_notes(result))),
        "People": tuple(_people(result)),
    }
    return Document(
        title="acidtest agreement",
        headline=_headline(result),
        parts=(
            *map(Note, _describe_rows(result)),
            *(Section(title, parts) for title, parts in sections.items() if parts or title == "As a whole"),
        ),
        models=(result.name,),
        signatures={result.name: result.signature},
        methods=_METHODS,
    )


def _headline(result: AgreementResult) -> str:
    """The one number that says most: kappa of labels, the mean kappa of categories, or how often people are right."""
    if _has_label_agreement(result) and result.kappa.known:
        text = f"people agree on labels with a Fleiss' kappa of {_coefficient(result.kappa)}, 0 being chance"
    elif result.categories and result.categories.kappa.known:
        kappa = _coefficient(result.categories.kappa)
        text = f"people agree on categories with a mean Fleiss' kappa of {kappa}, 0 being chance"
    elif result.accuracy and result.accuracy.average.known:
        text = f"people's labels are gold in {share(result.accuracy.average.value)} % of their judgements"
    else:
        text = f"agreement cannot be measured: {result.kappa.note}"
    return f"{result.name}: {text}."


def _coefficient(value: Estimate) -> str:
    return f"{decimal(value.value)} ({interval(value, 'decimal')})" if value.low == value.low else decimal(value.value)


def _describe_rows(result: AgreementResult) -> Iterator[str]:
    """The number of rows, of labels or people per row, and of items that a questionnaire discarded."""
    marks, rows = result.categories, describe_count(result.rows, "row")
    if not result.labels and marks:
        numbers = _describe_numbers(marks.people_per_row, "people") if marks.rated else ""
        left_out = _describe_left_out(marks.rows - marks.rated, "that fewer than two people judged")
        yield f"{describe_count(marks.rows, 'row')}{numbers}{left_out}."
    elif not result.rated and result.accuracy:
        yield f"{rows}, one label each: nothing to agree on."
    else:
        numbers = _describe_numbers(result.labels_per_row, "labels") if result.rated else ""
        unasked = f"; {describe_count(result.unasked, 'row')} of which nobody was asked for a label"
        left_out = _describe_left_out(result.rows - result.rated - result.unasked, "with fewer than two labels")
        yield f"{rows}{numbers}{unasked if result.unasked else ''}{left_out}."
    if result.questionnaire:
        total = sum(result.discarded.values())
        reasons = ", ".join(f"{reason} {number:,}" for reason, number in result.discarded.items())
        discarded = f"{describe_count(total, 'item')} discarded ({reasons})" if total else "no item discarded"
        without = result.rows - result.with_gold - result.unasked
        gold = f", {result.with_gold:,} with gold, {without:,} without" if result.labels else ""
        yield f"asked with {result.questionnaire}: {discarded}{gold}."


def _describe_numbers(per_row: tuple[int, int], noun: str) -> str:
    fewest, most = per_row
    return f", {fewest} {noun} each" if fewest == most else f", {fewest} to {most} {noun} each"


def _describe_left_out(rows: int, reason: str) -> str:
    return f"; {describe_count(rows, 'row')} {reason} left out" if rows else ""


def _labels(result: AgreementResult) -> Iterator[Part]:
    """A table and a chart of the kappa of each label (Glockner et al. 2018, table 2)."""
    if not _has_label_agreement(result):
        return
    columns = [Column("given", "count"), Column("gold", "count"), Column("kappa", "decimal")]
    columns += [Column("kappa of rows with gold", "decimal"), _paper_column(result, "decimal")]
    all_have_gold = result.kappa_with_gold.n == result.kappa.n
    overall = LabelAgreement(result.given, result.with_gold, result.kappa, result.kappa_with_gold)
    rows = []
    for name, label in {**result.labels, "": overall}.items():
        with_gold = None if all_have_gold else label.kappa_with_gold
        cells = (label.given, label.gold, label.kappa, with_gold, _paper(result, "kappa", name))
        rows.append(Row(name or "overall", cells, role="" if name else "total"))
    caption = "How often each label was given and is gold, and Fleiss' kappa with its 95 % interval"
    yield _table("labels", caption, columns, rows, "label", _estimate_notes(rows))
    yield _kappa_chart("labels")


def _categories(result: AgreementResult) -> Iterator[Part]:
    """Agreement on each category (figure 2 of Joshi et al. 2020), and on each feature of neutral pairs."""
    marks = result.categories
    if marks is None or not marks.rated:
        return
    rows = [_mark_row(name, category) for name, category in marks.categories.items()]
    total = sum(category.marked for category in marks.categories.values())
    heading = "All categories" if any(row.heading for row in rows) else ""
    cells = (total, marks.kappa, marks.alpha, None, _paper(result, "mean kappa"))
    columns = [Column("marked", "count"), Column("kappa", "decimal"), Column("alpha", "decimal")]
    columns += [Column("Cohen's kappa", "decimal"), _paper_column(result, "decimal")]
    caption = (
        "How often each category was marked on rows that two people or more judged, and coefficients with 95 % "
        "intervals (figure 2 of Joshi et al. 2020)"
    )
    mean = Row("mean", cells, heading, role="total")
    yield _table("categories", caption, columns, [*rows, mean], "category", _estimate_notes(rows))
    yield _kappa_chart("categories")
    if marks.features:
        caption = (
            "What people said that neutral pairs have in common. These are no categories: neither the mean nor IOU "
            "counts them"
        )
        rows = [_mark_row(name, feature) for name, feature in marks.features.items()]
        yield _table("features", caption, columns, rows, "of neutral pairs", _estimate_notes(rows))


def _mark_row(name: str, category: MarkAgreement) -> Row:
    heading = ": ".join(path(name)) if name in (*CATEGORIES, *NEUTRAL_FEATURES) else ""
    return Row(name, (category.marked, category.kappa, category.alpha, category.cohen, None), heading)


def _judgements(result: AgreementResult) -> Iterator[Table]:
    """Accuracy by slice (McCoy et al. 2019, section 6), and shares of pairs of which most people say a thing."""
    if result.slices:
        systems = dict.fromkeys(system for part in result.slices for system in part.published)
        rows = []
        for part in result.slices:
            published = [_published(part.published.get(system)) for system in systems]
            rows.append(Row(part.value or "all", (part.accuracy.n, part.accuracy, *published), part.factor or ""))
        caption = "Judgements that are gold, %, by label and by what pairs test; published numbers are of other pairs"
        columns = (Column("judged", "count"), Column("right"), *(Column(name, role="published") for name in systems))
        yield Table("accuracy by slice", caption, columns, tuple(rows), "slice")
    if result.shares:
        rows = []
        for said in result.shares:
            name = f"{said.suite}: {said.name}" if said.suite else said.name
            rows.append(Row(name, (said.share.n, said.share, _published(said.published))))
        caption = "Pairs of which most people say it, %; published numbers are of other pairs"
        columns = (Column("pairs", "count"), Column("of pairs"), Column("published", role="published"))
        notes = tuple(_describe_shares(result))
        yield Table("shares", caption, columns, tuple(rows), "most people say", notes=notes)


def _describe_shares(result: AgreementResult) -> Iterator[str]:
    """Why shares are missing, how many pairs are left out, and the sources of published shares."""
    for part in result.shares:
        if not part.share.known:
            yield f"{part.suite or part.name}: {part.share.note}"
    left_out = max(part.left_out for part in result.shares)
    if left_out:
        yield f"{describe_count(left_out, 'pair')} that fewer than two people judged left out"
    sources = dict.fromkeys(part.source for part in result.shares if part.source)
    if sources:
        # Section 3.2 of Naik et al. reports agreement with "the provided label", not how three labels became one.
        unsaid = ", how three labels became one is not said" if any(name.endswith("3.2") for name in sources) else ""
        pairs = "two of three people, of pairs that the paper's programs made"
        yield f"published: {pairs}; {', '.join(sources)}{unsaid}"


def _whole_tables(result: AgreementResult) -> Iterator[Table]:
    """Tables of the coefficients and shares of the whole file, next to published ones."""
    coefficients, shares = list[Row](), list[Row]()
    if _has_label_agreement(result):
        coefficients.append(Row("Krippendorff's alpha of labels", (result.alpha, None)))
        coefficients += [Row("Cohen's kappa of labels", (result.cohen, None))] if result.cohen else []
        shares.append(Row("observed agreement", (result.observed, None)))
        shares.append(Row("human performance", (result.human, _paper(result, "human performance"))))
    if result.categories and result.categories.rated:
        alphas = result.categories.set_alpha
        coefficients.append(Row("IOU of categories", (result.categories.iou, _paper(result, "IOU"))))
        coefficients.append(Row("alpha of sets, by MASI", (alphas.masi, None)))
        coefficients.append(Row("alpha of sets, by Jaccard's distance", (alphas.jaccard, None)))
    if result.accuracy:
        paper = _paper(result, "inference accuracy")
        shares.append(Row("inference accuracy", (result.accuracy.average, paper)))
    if coefficients:
        columns = [Column("value", "decimal"), _paper_column(result, "decimal")]
        notes = (*_estimate_notes(coefficients), *_describe_iou(result))
        yield _table("coefficients", "Coefficients with 95 % intervals", columns, coefficients, "whole file", notes)
    if shares:
        columns = [Column("value"), _paper_column(result, "percent")]
        notes = (*_estimate_notes(shares), *_describe_accuracies(result))
        caption = "Agreement and accuracy, %, with 95 % intervals"
        yield _table("accuracies", caption, columns, shares, "whole file", notes)


def _describe_iou(result: AgreementResult) -> Iterator[str]:
    marks = result.categories
    if marks and marks.rated and marks.people_per_row[1] > 2:
        yield "IOU: a row's is the mean over pairs of its people"
    if marks and marks.rated and marks.empty:
        yield f"IOU: {describe_count(marks.empty, 'row')} on which nobody marked anything (0/0) left out"


def _describe_accuracies(result: AgreementResult) -> Iterator[str]:
    """The rows and the floor of human performance, and how many people inference accuracy is averaged over."""
    basis, accuracy = result.human_basis, result.accuracy
    if _has_label_agreement(result) and result.human.known:
        none = "without a majority" if result.gold_from == MAJORITY else "without gold"
        reasons = {none: basis.without_gold, "with too few labels": basis.few_labels}
        left_out = " and ".join(f"{count:,} {reason}" for reason, count in reasons.items() if count)
        if left_out:
            total = result.rows - result.unasked
            yield f"human performance: on {basis.rows:,} of {total:,} rows, {left_out} left out"
        if basis.floor is not None:
            floor = f"{100 * basis.floor:.1f} % or more"
            yield f"human performance: gold is the majority of the same labels, which makes it {floor}"
    if accuracy and len(accuracy.people) > 1:
        yield f"inference accuracy: the mean of {_describe_people(len(accuracy.people))}"
    if accuracy and accuracy.unanswered:
        yield f"inference accuracy: {describe_count(accuracy.unanswered, 'row')} without an answer counted wrong"


def _gold_notes(result: AgreementResult) -> Iterator[str]:
    """Where gold comes from, and the pairs and people behind the published numbers."""
    if result.labels:
        yield f"gold: {result.gold_from}"
    if result.accuracy and result.accuracy.gold_from != result.gold_from:
        yield f"inference accuracy: by the gold in {result.accuracy.gold_from}"
    pairs = result.published_value("pairs")
    if pairs is not None:
        kept, discarded = (result.published_value(f"people {name}") for name in (KEPT, DISCARDED))
        people = f", {kept:.0f} of {kept + discarded:.0f} people kept" if kept and discarded else ""
        yield f"published: {result.corpus}, {pairs:,.0f} pairs{people}; {result.published[0].source}"


def _people(result: AgreementResult) -> Iterator[Table]:
    """A table of each person's accuracy, time and failed attention checks, and one of seconds per pair."""
    attendance = result.attendance
    accuracies = result.accuracy.people if result.accuracy else {}
    times = attendance.by_person if attendance else {}
    checks = attendance.controls if attendance else {}
    excluded = attendance.excluded if attendance else ()
    columns = [Column("judged", "count"), Column("accuracy"), Column("median seconds", "seconds")]
    columns += [Column("seconds in all", "seconds"), Column("checks failed", "count"), Column("of", "count")]
    rows = []
    for name in dict.fromkeys([*accuracies, *times, *checks, *excluded]):
        accuracy, seconds, asked = accuracies.get(name), times.get(name), checks.get(name)
        cells: list[Cell] = [accuracy.n if accuracy else None, accuracy]
        cells += [seconds.median, seconds.total] if seconds else [None, None]
        cells += [asked.failed, asked.asked] if asked else [None, None]
        rows.append(Row(name, (*cells, ("excluded" if name in excluded else "") if excluded else None)))
    if attendance and attendance.seconds and times:
        total = (None, None, attendance.seconds.median, attendance.seconds.total, None, None)
        rows.append(Row("everybody", (*total, "" if excluded else None), role="total"))
    if rows:
        caption = "How often each person's label is gold, %, how long a judgement took, and attention checks failed"
        notes = tuple(_describe_attendance(attendance)) if attendance else ()
        yield _table("people", caption, [*columns, Column("status", "text")], rows, "person", notes)
    paces = attendance.paces if attendance else {}
    if DISCARDED in paces or (result.corpus == HANS and paces):
        rows = [
            Row(name, (pace.people, pace.seconds, _paper(result, f"seconds of {name} people")))
            for name, pace in paces.items()
        ]
        # McCoy et al. (2019, appendix E) give the seconds of their people.
        columns = [Column("people", "count"), Column("seconds a pair", "seconds")]
        columns.append(Column("published", "seconds", role="published"))
        yield _table("pace", "Seconds that people took for a pair, the mean of their means", columns, rows, "people")


def _describe_attendance(attendance: Attendance) -> Iterator[str]:
    if attendance.seconds and attendance.seconds.n > 1:
        low, high = map(_seconds, attendance.seconds.quartiles)
        total = attendance.seconds.total
        units = {"hours": 3600.0, "minutes": 60.0}
        longest = [f"{total / size:.1f} {unit}" for unit, size in units.items() if total >= 2 * size]
        timed = f"half of {attendance.seconds.n:,} judgements between {low} and {high}"
        yield f"seconds: {timed}; {[*longest, _seconds(total)][0]} in all"
    elif attendance.seconds:
        yield "seconds: 1 judgement was timed"
    failed = [f"{name} {asked.failed} of {asked.asked}" for name, asked in attendance.controls.items() if asked.failed]
    people = _describe_people(len(attendance.controls))
    if failed:
        yield f"attention checks: {len(failed)} of {people} failed some: {_names(failed)}"
    elif attendance.controls:
        yield f"attention checks: none of {people} failed any"
    if attendance.left_out:
        everybody = _describe_people(attendance.people.all)
        excluded = f"{len(attendance.excluded):,} of {everybody}: {_names(attendance.excluded)}"
        rows = f"{describe_count(attendance.left_out, 'row')} of answers left out, those of attention checks among them"
        yield f"excluded: {excluded if attendance.excluded else 'nobody'}; {rows}"


def _describe_people(count: int) -> str:
    return "1 person" if count == 1 else f"{count:,} people"


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _seconds(value: float) -> str:
    return f"{value:.1f} s" if value < 100 else f"{value:,.0f} s"


def _has_label_agreement(result: AgreementResult) -> bool:
    """Whether the document covers agreement on labels, even if only to say that it cannot be measured."""
    return bool(result.labels) and (result.rated > 0 or result.accuracy is None)


def _table(
    table_id: str,
    caption: str,
    columns: Sequence[Column],
    rows: Sequence[Row],
    corner: str,
    notes: tuple[str, ...] = (),
) -> Table:
    """A table without its empty columns."""
    filled = [place for place in range(len(columns)) if any(row.cells[place] is not None for row in rows)]
    kept = tuple(replace(row, cells=tuple(row.cells[place] for place in filled)) for row in rows)
    return Table(table_id, caption, tuple(columns[place] for place in filled), kept, corner, notes)


def _paper_column(result: AgreementResult, unit: Unit) -> Column:
    return Column("published", unit, role="published", note=f"annotators of {result.corpus}")


def _paper(result: AgreementResult, statistic: str, label: str = "") -> Published | None:
    return _published(result.published_value(statistic, label))


def _published(value: float | None) -> Published | None:
    return None if value is None else Published(value)


def _kappa_chart(table_id: str) -> Chart:
    title = "Fleiss' kappa with 95 % intervals"
    return Chart(table_id, "dots", ("kappa",), title, "Fleiss' kappa", Reference(0.0, "chance"))


def _estimate_notes(rows: Sequence[Row]) -> tuple[str, ...]:
    """The note of each row's first estimate (why it or its interval is missing), rows with the same note together."""
    reasons = dict[str, list[str]]()
    for row in rows:
        estimate = next(cell for cell in row.cells if isinstance(cell, Estimate))
        if estimate.note:
            reasons.setdefault(estimate.note, []).append(row.name)
    return tuple(f"{', '.join(names)}: {note}" for note, names in reasons.items())
