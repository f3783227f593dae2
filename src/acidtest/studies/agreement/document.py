"""Agreement as a document: kappas by label and by category, coefficients and shares of the whole file, and people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

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
from acidtest.core.ratings import DISCARDED, KEPT, MAJORITY
from acidtest.studies.agreement import AgreementResult
from acidtest.studies.agreement.categories import CategoryAgreement, MarkAgreement
from acidtest.studies.agreement.people import describe_people, people_section, published_cell
from acidtest.text.taxonomy import CATEGORIES, NEUTRAL_FEATURES, path

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
    """Labels, categories, judgements beside gold, the file as a whole, and people, as far as there are any."""
    sections = (
        _labels_section(result),
        _categories_section(result),
        _gold_section(result),
        _whole_section(result),
        people_section(result),
    )
    return Document(
        title="acidtest agreement",
        headline=_headline(result),
        parts=(*map(Note, _describe_rows(result)), *(section for section in sections if section)),
        models=(result.name,),
        signatures={result.name: result.signature},
        methods=_METHODS,
    )


def _headline(result: AgreementResult) -> str:
    """The one number that says most: kappa of labels, the mean kappa of categories, or how often people are right."""
    if _has_label_agreement(result) and result.kappa.known:
        said = f"people agree on labels with a Fleiss' kappa of {_coefficient(result.kappa)}, 0 being chance"
    elif result.categories and result.categories.kappa.known:
        kappa = _coefficient(result.categories.kappa)
        said = f"people agree on categories with a mean Fleiss' kappa of {kappa}, 0 being chance"
    elif result.accuracy and result.accuracy.average.known:
        average = result.accuracy.average
        said = f"people's labels are gold in {share(average.value)} % of their judgements"
    else:
        said = f"agreement cannot be measured: {result.kappa.note}"
    return f"{result.name}: {said}."


def _describe_rows(result: AgreementResult) -> Iterator[str]:
    """How many rows there are, how many people judged each, and what a questionnaire discarded."""
    marks = result.categories
    if not result.labels and marks:
        yield _describe_counts(
            marks.rows, marks.rated, marks.people_per_row, ("people", "that fewer than two people judged")
        )
    elif not result.rated and result.accuracy:
        yield f"{describe_count(result.rows, 'row')}, one label each: nothing to agree on."
    else:
        unasked = (
            f"{describe_count(result.unasked, 'row')} of which nobody was asked for a label" if result.unasked else ""
        )
        words = ("labels", "with fewer than two labels")
        yield _describe_counts(result.rows, result.rated, result.labels_per_row, words, result.unasked, unasked)
    if not result.questionnaire:
        return
    reasons = ", ".join(f"{reason} {number:,}" for reason, number in result.discarded.items())
    total = sum(result.discarded.values())
    said = f"asked with {result.questionnaire}: " + (
        f"{describe_count(total, 'item')} discarded ({reasons})" if total else "no item discarded"
    )
    without = result.rows - result.with_gold - result.unasked
    yield f"{said}, {result.with_gold:,} with gold, {without:,} without." if result.labels else f"{said}."


def _describe_counts(
    rows: int, rated: int, per_row: tuple[int, int], words: tuple[str, str], aside: int = 0, aside_said: str = ""
) -> str:
    noun, too_few = words
    fewest, most = per_row
    several = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    parts = [
        f"{describe_count(rows, 'row')}, {several} {noun} each" if rated else describe_count(rows, "row"),
        aside_said,
    ]
    left_out = rows - rated - aside
    parts += [f"{describe_count(left_out, 'row')} {too_few} left out"] if left_out else []
    return "; ".join(filter(None, parts)) + "."


def _labels_section(result: AgreementResult) -> Section | None:
    """Kappa of each label (Glockner et al. 2018, table 2)."""
    if not _has_label_agreement(result):
        return None
    both, published = not result.all_have_gold, result.published_value("kappa") is not None
    columns = [Column("given", "count"), Column("gold", "count"), Column("kappa", "decimal")]
    columns += [Column("kappa of rows with gold", "decimal")] if both else []
    columns += [Column("published", "decimal", role="published", note=_whose(result))] if published else []
    lines: dict[str, tuple[int, int, Estimate, Estimate]] = {
        name: (label.given, label.gold, label.kappa, label.kappa_with_gold) for name, label in result.labels.items()
    }
    lines["overall"] = (result.given, result.with_gold, result.kappa, result.kappa_with_gold)
    rows = []
    for name, (given, gold, kappa, kappa_with_gold) in lines.items():
        cells: list[Cell] = [given, gold, kappa, *([kappa_with_gold] if both else [])]
        value = result.published_value("kappa", None if name == "overall" else name)
        cells += [None if value is None else Published(value)] if published else []
        rows.append(Row(name, tuple(cells), role="total" if name == "overall" else ""))
    caption = "How often each label was given and is gold, and Fleiss' kappa with its 95 % interval"
    kappas = {name: kappa for name, (_, _, kappa, _) in lines.items()}
    table = Table("labels", caption, tuple(columns), tuple(rows), "label", notes=_estimate_notes(kappas))
    return Section("Labels", (table, _kappa_chart(table)))


def _categories_section(result: AgreementResult) -> Section | None:
    """Kappa of each category (figure 2 of Joshi et al. 2020), and of what neutral pairs have in common."""
    marks = result.categories
    if marks is None or not marks.rated:
        return None
    table = _marks_table("categories", _CATEGORIES_CAPTION, marks.categories, "category", result=result, marks=marks)
    parts: list[Part] = [table, _kappa_chart(table)]
    if marks.features:
        parts.append(_marks_table("features", _FEATURES_CAPTION, marks.features, "of neutral pairs"))
    return Section("Categories", tuple(parts))


_CATEGORIES_CAPTION = (
    "How often each category was marked on rows that two people or more judged, and coefficients with 95 % intervals "
    "(figure 2 of Joshi et al. 2020)"
)
_FEATURES_CAPTION = (
    "What people said that neutral pairs have in common. These are no categories: neither the mean nor IOU counts them"
)


def _marks_table(
    table_id: str,
    caption: str,
    categories: Mapping[str, MarkAgreement],
    corner: str,
    *,
    result: AgreementResult | None = None,
    marks: CategoryAgreement | None = None,
) -> Table:
    """A row for each category and, with ``marks``, one for their mean, the paper's beside it."""
    cohens = any(category.cohen for category in categories.values())
    mean = result.published_value("mean kappa") if result else None
    columns = [Column("marked", "count"), Column("kappa", "decimal"), Column("alpha", "decimal")]
    columns += [Column("Cohen's kappa", "decimal")] if cohens else []
    columns += [Column("published", "decimal", role="published", note=_whose(result))] if result and mean else []
    spare = (None,) if mean else ()
    rows = [
        Row(
            name,
            (category.marked, category.kappa, category.alpha, *([category.cohen] if cohens else []), *spare),
            _heading(name),
        )
        for name, category in categories.items()
    ]
    if marks:
        total = sum(category.marked for category in categories.values())
        cells: list[Cell] = [total, marks.kappa, marks.alpha, *([None] if cohens else [])]
        heading = "All categories" if any(row.heading for row in rows) else ""
        rows.append(Row("mean", (*cells, *([Published(mean)] if mean else [])), heading, role="total"))
    notes = _estimate_notes({name: category.kappa for name, category in categories.items()})
    return Table(table_id, caption, tuple(columns), tuple(rows), corner, notes=notes)


def _gold_section(result: AgreementResult) -> Section | None:
    """How often judgements are gold by slice (McCoy et al. 2019, section 6), and what most people say of pairs."""
    parts = []
    if result.slices:
        systems = dict.fromkeys(system for part in result.slices for system in part.published)
        columns = (
            Column("judged", "count"),
            Column("right"),
            *(Column(system, role="published") for system in systems),
        )
        rows = tuple(
            Row(
                part.value or "all",
                (part.accuracy.n, part.accuracy, *(published_cell(part.published.get(system)) for system in systems)),
                heading=part.factor or "",
            )
            for part in result.slices
        )
        caption = "Judgements that are gold, %, by label and by what pairs test; published numbers are of other pairs"
        parts.append(Table("accuracy by slice", caption, columns, rows, "slice"))
    if result.shares:
        columns = (Column("pairs", "count"), Column("of pairs"), Column("published", role="published"))
        rows = tuple(
            Row(
                f"{part.suite}: {part.name}" if part.suite else part.name,
                (part.share.n, part.share, published_cell(part.published)),
            )
            for part in result.shares
        )
        caption = "Pairs of which most people say it, %; published numbers are of other pairs"
        notes = tuple(_describe_shares(result))
        parts.append(Table("shares", caption, columns, rows, "most people say", notes=notes))
    return Section("Judgements beside gold", tuple(parts)) if parts else None


def _describe_shares(result: AgreementResult) -> Iterator[str]:
    """Which pairs the shares are of, and where the published ones come from."""
    for part in result.shares:
        if not part.share.known:
            yield f"{part.suite or part.name}: {part.share.note}"
    left_out = max((part.left_out for part in result.shares), default=0)
    if left_out:
        yield f"{describe_count(left_out, 'pair')} that fewer than two people judged left out"
    sources = dict.fromkeys(part.source for part in result.shares if part.source)
    if sources:
        # Section 3.2 of Naik et al. says how far "the provided label" agrees, and not how three labels became one.
        unsaid = ", how three labels became one is not said" if any(name.endswith("3.2") for name in sources) else ""
        pairs = "two of three people, of pairs that the paper's programs made"
        yield f"published: {pairs}; {', '.join(sources)}{unsaid}"


def _whole_section(result: AgreementResult) -> Section:
    """Coefficients and shares that speak of the whole file."""
    tables = (
        _lines_table(
            result, "coefficients", "Coefficients with 95 % intervals", "decimal", _coefficients(result), _describe_iou
        ),
        _lines_table(
            result,
            "accuracies",
            "Agreement and accuracy, %, with 95 % intervals",
            "percent",
            _shares(result),
            _describe_accuracies,
        ),
    )
    notes = (Note(text, quiet=True) for text in _gold_notes(result))
    return Section("As a whole", (*(table for table in tables if table.rows), *notes))


_Lines = dict[str, tuple[Estimate, Published | None]]


def _lines_table(
    result: AgreementResult,
    table_id: str,
    caption: str,
    unit: Unit,
    lines: _Lines,
    describe: Callable[[AgreementResult], Iterator[str]],
) -> Table:
    """A row for each number of the whole file, the paper's beside it where it gives any."""
    published = any(paper for _, paper in lines.values())
    columns = [Column("value", unit)]
    columns += [Column("published", unit, role="published", note=_whose(result))] if published else []
    rows = tuple(Row(name, cells if published else cells[:1]) for name, cells in lines.items())
    notes = (*_estimate_notes({name: estimate for name, (estimate, _) in lines.items()}), *describe(result))
    return Table(table_id, caption, tuple(columns), rows, "whole file", notes=notes)


def _coefficients(result: AgreementResult) -> _Lines:
    lines: _Lines = {}
    if _has_label_agreement(result):
        lines["Krippendorff's alpha of labels"] = (result.alpha, None)
        lines |= {"Cohen's kappa of labels": (result.cohen, None)} if result.cohen else {}
    if result.categories and result.categories.rated:
        lines["IOU of categories"] = (result.categories.iou, published_cell(result.published_value("IOU")))
        lines["alpha of sets, by MASI"] = (result.categories.set_alpha.masi, None)
        lines["alpha of sets, by Jaccard's distance"] = (result.categories.set_alpha.jaccard, None)
    return lines


def _shares(result: AgreementResult) -> _Lines:
    lines: _Lines = {}
    if _has_label_agreement(result):
        lines["observed agreement"] = (result.observed, None)
        lines["human performance"] = (result.human, published_cell(result.published_value("human performance")))
    if result.accuracy:
        value = result.published_value("inference accuracy")
        lines["inference accuracy"] = (result.accuracy.average, published_cell(value))
    return lines


def _describe_iou(result: AgreementResult) -> Iterator[str]:
    marks = result.categories
    if marks and marks.rated and marks.people_per_row[1] > 2:
        yield "IOU: a row's is the mean over pairs of its people"
    if marks and marks.rated and marks.empty:
        yield f"IOU: {describe_count(marks.empty, 'row')} on which nobody marked anything (0/0) left out"


def _describe_accuracies(result: AgreementResult) -> Iterator[str]:
    """Which rows human performance rests on and what bounds it, and whose mean inference accuracy is."""
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
        yield f"inference accuracy: the mean of {describe_people(len(accuracy.people))}"
    if accuracy and accuracy.unanswered:
        yield f"inference accuracy: {describe_count(accuracy.unanswered, 'row')} without an answer counted wrong"


def _gold_notes(result: AgreementResult) -> Iterator[str]:
    """Where gold comes from, and on what the published numbers rest."""
    if result.labels:
        yield f"gold: {result.gold_from}"
    if result.accuracy and result.accuracy.gold_from != result.gold_from:
        yield f"inference accuracy: by the gold in {result.accuracy.gold_from}"
    pairs = result.published_value("pairs")
    if result.published and pairs is not None:
        kept, discarded = (result.published_value(f"people {name}") for name in (KEPT, DISCARDED))
        people = f", {kept:.0f} of {kept + discarded:.0f} people kept" if kept and discarded else ""
        yield f"published: {result.corpus}, {pairs:,.0f} pairs{people}; {result.published[0].source}"


def _estimate_notes(estimates: Mapping[str, Estimate]) -> tuple[str, ...]:
    """Why values or intervals are missing, names of one reason together."""
    reasons = dict[str, list[str]]()
    for name, estimate in estimates.items():
        if estimate.note:
            reasons.setdefault(estimate.note, []).append(name)
    return tuple(f"{', '.join(names)}: {note}" for note, names in reasons.items())


def _kappa_chart(table: Table) -> Chart:
    return Chart(
        table.id,
        columns=("kappa",),
        title="Fleiss' kappa with 95 % intervals",
        axis="Fleiss' kappa",
        reference=Reference(0.0, "chance"),
    )


def _has_label_agreement(result: AgreementResult) -> bool:
    """Whether agreement on labels is to be spoken of, be it that it cannot be measured."""
    return bool(result.labels) and (result.rated > 0 or result.accuracy is None)


def _whose(result: AgreementResult) -> str:
    return f"annotators of {result.corpus}"


def _heading(category: str) -> str:
    return ": ".join(path(category)) if category in (*CATEGORIES, *NEUTRAL_FEATURES) else ""


def _coefficient(value: Estimate) -> str:
    return f"{decimal(value.value)} ({interval(value, 'decimal')})" if value.low == value.low else decimal(value.value)
