"""What there is to say of people's agreement in a line of text, on the terminal and on the page."""

from __future__ import annotations

from acidtest.core.estimate import Estimate
from acidtest.reports.numerals import NONE, counted, interval, percent, published
from acidtest.stats.annotators import ALL, DISCARDED, KEPT, Accuracy, Attendance, Times
from acidtest.studies.agreement import MAJORITY, Agreement
from acidtest.studies.category_agreement import CategoryAgreement
from acidtest.studies.human_studies import HANS

MOST_NAMED = 6
"""More people than this are not told one by one in a line."""


def kappa(value: Estimate | None) -> str:
    """``0.612``, or a dash where there is no value."""
    return number(value.value, 3) if value and value.known else NONE


def reach(value: Estimate | None) -> str:
    """``0.56 to 0.66``, or nothing where there is no interval."""
    return f"{number(value.low, 2)} to {number(value.high, 2)}" if value and value.low == value.low else ""


def number(value: float, digits: int) -> str:
    """A number with a minus sign, but none on a zero."""
    # Adding 0 turns a rounded −0.00 into 0.00.
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")


def coefficient(value: Estimate) -> str:
    """``0.612 (0.56 to 0.66)``, or why there is none."""
    if not value.known:
        return f"{NONE} ({value.note})"
    return f"{kappa(value)} ({reach(value) or value.note})"


def share(value: Estimate) -> str:
    """``94.3 % (93.6–95.0)``, or why there is none."""
    if not value.known:
        return f"{NONE} ({value.note})"
    return f"{percent(value)} % ({interval(value) or value.note})"


def overlap_told(found: CategoryAgreement, paper: float | None) -> str:
    """IOU, the paper's beside it, and the rows that have none."""
    told = coefficient(found.iou)
    told += f"; published {paper:.3f}" if paper is not None else ""
    told += "; a row's is the mean over pairs of its people" if found.most > 2 else ""
    left_out = f"{counted(found.empty, 'row')} on which nobody marked anything (0/0) left out"
    return f"{told}; {left_out}" if found.empty else told


def sets_told(found: CategoryAgreement) -> str:
    """Alpha of whole sets by two distances."""
    return f"{coefficient(found.masi)} by MASI, {coefficient(found.jaccard)} by Jaccard's distance"


def accuracy_told(found: Accuracy, paper: float | None) -> str:
    """The average, each person's where they are few, and the paper's."""
    told, people = share(found.average), found.people
    if 1 < len(people) <= MOST_NAMED:
        told += ", the mean of " + ", ".join(f"{name} {share(each)}" for name, each in people.items())
    elif len(people) > MOST_NAMED:
        values = [each for each in people.values() if each.known]
        low, high = min(values, key=lambda each: each.value), max(values, key=lambda each: each.value)
        told += f", the mean of {_people(len(people))} from {percent(low)} to {percent(high)} %"
    told += f"; {counted(found.unanswered, 'row')} without an answer counted wrong" if found.unanswered else ""
    return f"{told}; published {published(paper)} %" if paper is not None else told


def times_told(found: Times) -> str:
    """The median, the middle half, and all together."""
    low, median, high = found.quartiles
    if found.n == 1:
        return f"{seconds(median)}, of the 1 that was timed"
    spread = f"median {seconds(median)}, half of {found.n:,} between {seconds(low)} and {seconds(high)}"
    return f"{spread}; {duration(found.total)} in all"


def describe_paces(found: Agreement, attendance: Attendance) -> str:
    """How long people took for a pair on average: all, those kept and those discarded, the paper's beside them."""
    told = []
    for name, pace in attendance.paces.items():
        paper = found.published_value(f"seconds of {name} people")
        beside = f" (published {paper:.1f})" if paper is not None else ""
        told.append(f"{pace.seconds:.1f}{beside} of {_people(pace.people)} {'in all' if name == ALL else name}")
    return "mean of people: " + ", ".join(told)


def slice_rows(found: Agreement) -> tuple[list[str], list[list[str]]]:
    """The heads and rows of a table of accuracies by gold and by what pairs test, published ones beside them."""
    systems = list(dict.fromkeys(name for each in found.slices for name in each.published))
    rows = [
        [each.value or "all", f"{each.accuracy.n:,}", percent(each.accuracy), interval(each.accuracy)]
        + [published(each.published[name]) if name in each.published else NONE for name in systems]
        for each in found.slices
    ]
    return ["accuracy", "judged", "% right", "95 % interval", *systems], rows


def share_rows(found: Agreement) -> tuple[list[str], list[list[str]]]:
    """The heads and rows of a table of shares of pairs that most people confirm, published ones beside them."""
    heads = ["most people say", "pairs", "% of pairs", "95 % interval", "published"]
    rows = [
        [
            f"{each.suite}: {each.name}".removeprefix(": "),
            f"{each.share.n:,}",
            percent(each.share),
            interval(each.share),
            NONE if each.published is None else published(each.published),
        ]
        for each in found.shares
    ]
    return heads, rows


def seconds(value: float) -> str:
    """``12.3 s``, ``125 s``."""
    return f"{value:.1f} s" if value < 100 else f"{value:,.0f} s"


def duration(value: float) -> str:
    """Seconds in the largest unit of which there are two."""
    units = (("hours", 3600.0), ("minutes", 60.0))
    return next((f"{value / size:.1f} {unit}" for unit, size in units if value >= 2 * size), seconds(value))


def controls_told(found: Attendance) -> str:
    """Who failed how many control items."""
    failed = {name: each for name, each in found.controls.items() if each.failed}
    people = _people(len(found.controls))
    if not failed:
        return f"none of {people} failed any"
    named = ", ".join(f"{name} {each.failed} of {each.asked}" for name, each in list(failed.items())[:MOST_NAMED])
    more = f" and {len(failed) - MOST_NAMED} more" if len(failed) > MOST_NAMED else ""
    return f"{len(failed)} of {people} failed some: {named}{more}"


def excluded_told(found: Attendance) -> str:
    """Who is left out, and how many rows of answers are."""
    named = ", ".join(found.excluded[:MOST_NAMED]) or "nobody"
    named = f"{len(found.excluded):,} of {_people(found.people)}: {named}" if found.excluded else named
    more = f" and {len(found.excluded) - MOST_NAMED} more" if len(found.excluded) > MOST_NAMED else ""
    return f"{named}{more}; {counted(found.left_out, 'row')} of answers left out, those of control items among them"


def describe_human_performance(found: Agreement) -> str:
    """How often a label is gold, the paper's number beside it, and which rows it rests on."""
    told, basis = share(found.human), found.human_basis
    if not found.human.known:
        return told
    paper = found.published_value("human performance")
    told += f"; published {published(paper)} %" if paper is not None else ""
    none = "without a majority" if found.gold_from == MAJORITY else "without gold"
    reasons = {none: basis.without_gold, "with too few labels": basis.few_labels}
    left_out = " and ".join(f"{count:,} {reason}" for reason, count in reasons.items() if count)
    if left_out:
        told += f"; on {basis.rows:,} of {found.rows - found.unasked:,} rows, {left_out} left out"
    if basis.floor is not None:
        told += f"; gold is the majority of the same labels, which makes it {100 * basis.floor:.1f} % or more"
    return told


def lines(found: Agreement) -> dict[str, str]:
    """What is told below the tables, each under its name."""
    told = dict[str, str]()
    if has_label_agreement(found):
        told["observed agreement"] = share(found.observed)
        told["human performance"] = describe_human_performance(found)
        told["Krippendorff alpha"] = coefficient(found.alpha)
        told |= {"Cohen's kappa": coefficient(found.cohen)} if found.cohen else {}
    if found.categories and found.categories.rated:
        told["IOU"] = overlap_told(found.categories, found.published_value("IOU"))
        told["alpha of sets"] = sets_told(found.categories)
    if found.accuracy:
        told["inference accuracy"] = accuracy_told(found.accuracy, found.published_value("inference accuracy"))
    attendance = found.attendance
    if attendance and attendance.seconds:
        told["response time"] = times_told(attendance.seconds)
    if attendance and (DISCARDED in attendance.paces or (found.corpus == HANS and attendance.paces)):
        told["seconds a pair"] = describe_paces(found, attendance)
    if attendance and attendance.controls:
        told["control items"] = controls_told(attendance)
    if attendance and attendance.left_out:
        told["excluded"] = excluded_told(attendance)
    return told


def notes(found: Agreement) -> list[str]:
    """Where gold comes from, what other people found on what, and what tells this apart from any other."""
    told = [f"gold: {found.gold_from}"] if found.labels else []
    if found.accuracy and found.accuracy.gold_from != found.gold_from:
        told.append(f"inference accuracy: by the gold in {found.accuracy.gold_from}")
    if has_label_agreement(found):
        told += [f"overall: {found.kappa.note}"] if found.kappa.note else []
        odd = {name: each.kappa.note for name, each in found.labels.items()}
        told += [f"{name}: {note}" for name, note in odd.items() if note not in ("", found.kappa.note)]
    if found.categories:
        told += _category_notes(found.categories)
    told += describe_shares(found)
    pairs = found.published_value("pairs")
    if found.published and pairs is not None:
        kept, discarded = (found.published_value(f"people {name}") for name in (KEPT, DISCARDED))
        people = f", {kept:.0f} of {kept + discarded:.0f} people kept" if kept and discarded else ""
        told.append(f"published: {found.corpus}, {pairs:,.0f} pairs{people}; {found.published[0].source}")
    return [*told, found.signature]


def describe_shares(found: Agreement) -> list[str]:
    """Which pairs the shares are of, and where what stands beside them comes from."""
    told = [f"{each.suite or each.name}: {each.share.note}" for each in found.shares if not each.share.known]
    left_out = max((each.left_out for each in found.shares), default=0)
    if left_out:
        told.append(f"most people: {counted(left_out, 'pair')} that fewer than two people judged left out")
    sources = dict.fromkeys(each.source for each in found.shares if each.source)
    if sources:
        # Section 3.2 of Naik et al. tells how far "the provided label" agrees, and not how three labels became one.
        unsaid = ", how three labels became one is not said" if any(each.endswith("3.2") for each in sources) else ""
        told.append(
            f"published: two of three people, of pairs that the paper's programs made; {', '.join(sources)}{unsaid}"
        )
    return told


def has_label_agreement(found: Agreement) -> bool:
    """Whether there is anything to say of agreement on labels, be it that it cannot be told."""
    return bool(found.labels) and (found.rated > 0 or found.accuracy is None)


def rows_told(found: Agreement) -> str:
    """How many rows there are, and how many people judged each."""
    if not found.labels and found.categories:
        return _judged(found.categories)
    if not found.rated and found.accuracy:
        return f"{counted(found.rows, 'row')}, one label each: nothing to agree on"
    each = f"{found.fewest}" if found.fewest == found.most else f"{found.fewest} to {found.most}"
    told = f"{counted(found.rows, 'row')}, {each} labels each" if found.rated else counted(found.rows, "row")
    if found.unasked:
        told += f"; {counted(found.unasked, 'row')} of which nobody was asked for a label"
    left_out = found.rows - found.rated - found.unasked
    return told if not left_out else f"{told}; {counted(left_out, 'row')} with fewer than two labels left out"


def discards_told(found: Agreement) -> str:
    """What a questionnaire discarded, and how many items have gold."""
    total = sum(found.discarded.values())
    reasons = ", ".join(f"{reason} {number:,}" for reason, number in found.discarded.items())
    discarded = f"{counted(total, 'item')} discarded ({reasons})" if total else "no item discarded"
    if not found.labels:
        return f"asked with {found.questionnaire}: {discarded}"
    without = found.rows - found.with_gold - found.unasked
    return f"asked with {found.questionnaire}: {discarded}, {found.with_gold:,} with gold, {without:,} without"


def _people(count: int) -> str:
    return "1 person" if count == 1 else f"{count:,} people"


def _judged(found: CategoryAgreement) -> str:
    each = f"{found.fewest}" if found.fewest == found.most else f"{found.fewest} to {found.most}"
    told = counted(found.rows, "row")
    told += f", {each} people each" if found.rated else ""
    left_out = found.rows - found.rated
    return told if not left_out else f"{told}; {counted(left_out, 'row')} that fewer than two people judged left out"


def _category_notes(found: CategoryAgreement) -> list[str]:
    """Why categories have no kappa or no interval, those of one reason together."""
    reasons = dict[str, list[str]]()
    for name, each in {**found.categories, **found.features}.items():
        if each.kappa.note:
            reasons.setdefault(each.kappa.note, []).append(name)
    return [f"{', '.join(names)}: {note}" for note, names in reasons.items()]
