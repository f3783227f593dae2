"""Renders an audit as a document: findings first, then all counts and tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from acidtest.core.document import (
    Cell,
    Chart,
    Column,
    Document,
    Note,
    Pair,
    Pairs,
    Part,
    Published,
    PValue,
    Reference,
    Row,
    Section,
    Table,
    Unit,
    describe_count,
)
from acidtest.core.numbers import share
from acidtest.studies.audit import AuditResult
from acidtest.studies.audit.cues import LEAST, SMOOTHING
from acidtest.studies.audit.findings import CUES, NEARLY, describe_detectable, near_pair
from acidtest.studies.audit.measures import LENGTHS, MNLI, NEGATIONS, OVERLAP, PHENOMENA

_CUES_SHOWN = 5
"""Number of cues per label in the summary; the tables below it have more."""
_NEAR_SHOWN = 2

_MEASURE_TITLES = {
    "premise_length": "words of the premise",
    "hypothesis_length": "words of the hypothesis",
    OVERLAP: "overlap",
    "premise_negation": "negated premises",
    "hypothesis_negation": "negated hypotheses",
}


def document(result: AuditResult) -> Document:
    """A document of findings, then a section for each part of the audit; most are left out for an empty set."""
    # The sentences already name the suite wherever it is not the training set.
    findings = tuple(replace(finding, suite="") for finding in result.findings)
    sections = {"Findings": findings, "Heuristics": _heuristics(result)}
    if result.rows:
        sections |= {
            "One sentence alone": _partial_input(result),
            "By label": _by_label(result),
            "Tied to a label": _cues(result),
            "Phenomena": _phenomena(result),
            "Repetitions": _repetitions(result),
        }
    if result.leakage:
        sections["Leakage"] = _leakage(result)
    words = (
        "words split at white space, subsequences found as substrings"
        if result.faithful
        else "words without punctuation"
    )
    labels = ", ".join(f"{count:,} {label}" for label, count in result.balance.labels.items())
    tests = [part.test for part in result.partial_input.values() if part.test]
    return Document(
        title="acidtest audit",
        headline=_headline(result),
        parts=(
            Note(f"{describe_count(result.rows, 'pair')}{f': {labels}' if labels else ''}; {words}."),
            *(Section(title, tuple(parts)) for title, parts in sections.items()),
        ),
        models=(result.name,),
        methods=(
            "Every interval is a 95 % interval. Pairs of one premise count as one group.",
            "One p-value for each thing that might be amiss is corrected by Holm over all of them, so that all "
            "findings that rest on tests together are a false alarm in at most 5 % of clean sets.",
            "Means by label are tested by a score test over premises"
            + (f", the gain of one sentence alone by a {tests[0]}" if tests else ""),
            f"Seed {result.seed}.",
        ),
    )


def _headline(result: AuditResult) -> str:
    """The first finding, which is the most severe, and the number of findings of that severity."""
    first = result.findings[0]
    number = sum(finding.severity == first.severity for finding in result.findings)
    kinds = {"severe": "severe findings, such as: ", "warning": "warnings, such as: "}
    more = f"{number} {kinds[first.severity]}" if first.severity in kinds and number > 1 else ""
    return f"{result.name}: {more}{first.sentence}."


def _heuristics(result: AuditResult) -> Iterator[Part]:
    """Tables and a chart of the pairs that support or contradict each heuristic, next to MultiNLI's."""
    columns = (
        Column("supporting", "count"),
        Column("contradicting", "count"),
        Column("supporting share"),
        Column("not known", "count"),
        Column("supporting", "count", group="MultiNLI", role="total"),
        Column("contradicting", "count", group="MultiNLI", role="total"),
        Column("supporting share", group="MultiNLI", role="published"),
    )
    rows = []
    for name, support in result.heuristics.items():
        cells: list[Cell] = [None, None, None, "all"]
        if support:
            cells = [support.support, support.contradict, support.share, support.unknown]
        cells += [MNLI[name].support, MNLI[name].contradict, Published(MNLI[name].share.value)]
        rows.append(Row(name.replace("_", " "), tuple(cells)))
    notes = ["MultiNLI: its training set, as the scripts of McCoy et al. (2019) count it (--faithful)"]
    if any(support is None or support.unknown for support in result.heuristics.values()):
        notes.append("constituents are known by parses (columns such as sentence1_parse)")
    caption = (
        "Pairs that support and that contradict each heuristic; a constituent is a subsequence, and that is lexical "
        "overlap"
    )
    yield Table("heuristics", caption, columns, tuple(rows), "heuristic", tuple(notes))
    if any(support and support.share.known for support in result.heuristics.values()):
        yield Chart(
            "heuristics",
            columns=("supporting share",),
            title="Share of a heuristic's pairs that are entailment",
            axis="share that is entailment",
            reference=Reference(result.balance.labels.get("entailment", 0) / result.rows, "of all pairs"),
        )
        known = {name.replace("_", " "): counts for name, counts in result.heuristics_by_label.items() if counts}
        yield _counts_table(result, "heuristics by label", "Pairs of each heuristic by label", known, "heuristic")


def _partial_input(result: AuditResult) -> Iterator[Part]:
    shares = map(Column, ("accuracy", "commonest label", "balanced accuracy", "chance"))
    columns = (*shares, Column("gain", "points"), Column("pairs", "count"), Column("p adjusted", "p"))
    parts = result.partial_input
    rows = []
    for side, part in parts.items():
        values = (part.accuracy, part.majority, part.balanced, part.chance)
        rows.append(Row(f"{side} alone", (*values, part.gain, part.accuracy.n, PValue(part.p_adjusted))))
    pairs = f"{result.sampled:,} pairs, whole premises drawn with seed {result.seed}"
    notes = (
        "linear model on words and bigrams in five folds that share no premise; "
        + ("all pairs" if result.sampled == result.rows else pairs),
        "balanced: mean over labels of the share answered correctly, of which a guess gets one over the number of "
        "labels; the gain is over that; p is from models trained on earlier folds only, since gains of folds that "
        "teach each other are not independent",
        *dict.fromkeys(part.accuracy.note for part in parts.values() if part.accuracy.note),
    )
    caption = "How often the label is right from one sentence, and from none, %"
    yield Table("one sentence", caption, columns, tuple(rows), "sentence", notes)
    for part in [part for part in parts.values() if part.balanced.known][:1]:
        title = "Balanced accuracy with one sentence only"
        guess = Reference(part.chance, "a guess")
        yield Chart("one sentence", "dots", ("balanced accuracy",), title, "balanced accuracy", guess)


def _by_label(result: AuditResult) -> Iterator[Part]:
    """Tables of the means of measures by label, and of pairs by genre and label."""
    yield from _means(result, "length", "Mean number of words by label", LENGTHS, "number")
    caption = "Mean overlap, and share of negated sentences, %"
    yield from _means(result, "overlap and negation", caption, (OVERLAP, *NEGATIONS), "percent")
    if result.balance.genres:
        genre = result.balance.genre_column or ""
        genres = {name or "(none)": counts for name, counts in result.balance.genres.items()}
        yield _counts_table(result, "genres", f"Pairs by {genre} and label", genres, genre)


def _means(result: AuditResult, table_id: str, caption: str, names: Iterable[str], unit: Unit) -> Iterator[Part]:
    """A table and a chart of means by label."""
    labels = tuple(result.balance.labels)
    columns = (*(Column(label, unit) for label in labels), Column("variance explained"), Column("p adjusted", "p"))
    rows = []
    for name in names:
        measure = result.measures[name]
        means = [measure.means.get(label) for label in labels]
        rows.append(Row(_MEASURE_TITLES[name], (*means, measure.explained, PValue(measure.p_adjusted))))
    caption = f"{caption}, with 95 % intervals"
    yield Table(table_id, caption, columns, tuple(rows), "mean")
    yield Chart(table_id, columns=labels, title=caption, axis="mean of the label's pairs")


def _counts_table(
    result: AuditResult, table_id: str, caption: str, counts: Mapping[str, Mapping[str, int]], corner: str
) -> Table:
    """Pairs by label, a row for each name."""
    labels = tuple(result.balance.labels)
    rows = tuple(Row(name, tuple(values.get(label, 0) for label in labels)) for name, values in counts.items())
    return Table(table_id, caption, tuple(Column(label, "count") for label in labels), rows, corner)


def _cues(result: AuditResult) -> Iterator[Part]:
    """A summary of the cues of each kind, the polarity of word pairs, and a folded section with more cues."""
    summary, details = list[Row](), list[Part]()
    for kind, (_, title) in CUES.items():
        cues = result.cues[kind]
        for label, best in cues.top.items():
            shown = ", ".join(f"{cue.item} ({share(cue.share)} % of {cue.count:,})" for cue in best[:_CUES_SHOWN])
            summary.append(Row(label, (cues.tied[label], cues.tested, shown or "–"), heading=title))
        details += _cue_parts(result, kind, title) if cues.tested else []
    if summary:
        titles = (Column("tied", "count"), Column("of", "count"), Column("highest PMI (share of count)", "text"))
        yield Table("cues", "What is tied to a label", titles, tuple(summary), "label")
    yield Note(
        f"PMI in bits, {SMOOTHING} added to every count; exact binomial tests, Holm over all items and labels of a "
        f"kind; in at least {LEAST} sentences, each counted once for a label.",
        quiet=True,
    )
    for sentence in describe_detectable(result):
        yield Note(sentence, quiet=True)
    polarity = result.polarity
    if polarity.pairs:
        caption = (
            f"Of {polarity.pairs:,} pairs of words, how many have a label most often, and how many lean to it beyond "
            "chance (false discovery rate 5 %)"
        )
        columns = (Column("most often", "count"), Column("beyond chance", "count"))
        rows = tuple(Row(label, (count, polarity.leaning.get(label))) for label, count in polarity.polarity.items())
        yield Table("polarity", caption, columns, rows, "label")
    if details:
        yield Section("All cues", tuple(details), folded=True)


def _cue_parts(result: AuditResult, kind: str, title: str) -> Iterator[Part]:
    tested = f"{result.cues[kind].tested:,} tested"
    title = title[:1].upper() + title[1:]
    rows = tuple(
        Row(cue.item, (cue.count, cue.with_label, cue.estimate, cue.pmi, PValue(cue.p)), heading=label)
        for label, cues in result.cues[kind].top.items()
        for cue in cues
    )
    if not rows:
        yield Note(f"{title}: {tested}; none is tied to a label.")
        return
    counts = (Column("sentences", "count"), Column("with the label", "count"))
    columns = (*counts, Column("share"), Column("PMI", "number"), Column("p", "p"))
    table_id, caption = f"cues {kind}", f"{title}, {tested}: those of highest PMI"
    yield Table(table_id, caption, columns, rows, "cue")
    yield Chart(table_id, columns=("share",), title=caption, axis="share of the sentences with it that have the label")


def _phenomena(result: AuditResult) -> Iterator[Part]:
    labels = tuple(result.balance.labels)
    counts, shares = [], []
    for name, definition in PHENOMENA.items():
        title, means = name.replace("_", " "), result.phenomenon_shares[name].means
        counts.append(Row(title, (*(result.phenomena[name].get(label, 0) for label in labels), definition)))
        shares.append(Row(title, tuple(means.get(label) for label in labels)))
    columns = (*(Column(label, "count") for label in labels), Column("what it is", "text"))
    yield Table("phenomena", "Pairs with each phenomenon by label", columns, tuple(counts), "phenomenon")
    caption = "Share of each label's pairs that have a phenomenon, %, with 95 % intervals"
    table = Table("phenomenon shares", caption, tuple(map(Column, labels)), tuple(shares), "phenomenon")
    chart = Chart(table.id, columns=labels, title=caption, axis="mean of the label's pairs")
    yield Section("Shares", (table, chart), folded=True)


def _repetitions(result: AuditResult) -> Iterator[Part]:
    repeated = result.duplicates
    numbers = {
        "different pairs": repeated.pairs,
        "different premises": repeated.premises,
        "different hypotheses": repeated.hypotheses,
        "pairs that stand more than once": repeated.repeated,
        "rows beyond the first of these": repeated.surplus,
        "pairs with different labels": repeated.conflicts,
        "hypotheses under several premises": repeated.shared_hypotheses,
        "of these always with one label": repeated.one_label,
        f"of {repeated.near_of:,} pairs, nearly the same as another": repeated.near,
        "of these as one of their own label": repeated.near_same_label,
    }
    rows = tuple(Row(name, (number,)) for name, number in numbers.items())
    notes = ("sentences are the same when their words are, whatever case and punctuation", NEARLY)
    yield Table("repetitions", "What stands more than once", (Column("number", "count"),), rows, notes=notes)
    yield from _examples("Pairs that are nearly the same", repeated.near_examples)


def _leakage(result: AuditResult) -> Iterator[Part]:
    names = ("pairs", "exact", "same label", "nearly", "of", "premise", "hypothesis")
    rows = []
    for leak in result.leakage:
        exact, near = (leak.rows, leak.exact, leak.same_label), (leak.near, leak.near_of)
        cells = (*exact, *near, leak.premise, leak.hypothesis)
        rows.append(Row(leak.suite, cells, slice={"suite": leak.suite}))
    caption = (
        "Pairs of suites that stand in the training set, exactly, with the same label, or nearly, of those looked at; "
        "and their sentences, in whatever pair"
    )
    yield Table("leakage", caption, tuple(Column(name, "count") for name in names), tuple(rows), "suite")
    for leak in result.leakage:
        yield from _examples(f"Examples of {leak.suite}", leak.examples)


def _examples(title: str, examples: Sequence[Mapping[str, str]]) -> Iterator[Part]:
    """The first near duplicates as notes, and all examples in a folded section."""
    near = [example for example in examples if "train_premise" in example]
    for example in near[:_NEAR_SHOWN]:
        yield Note(" ≈ ".join(near_pair(example)), quiet=True)
    pairs = []
    for example in examples:
        facts = {"match": example["match"]} if "match" in example else {}
        facts |= {"nearly": near_pair(example)[1]} if example in near else {}
        pairs.append(Pair(example["premise"], example["hypothesis"], example["label"], {}, facts))
    if pairs:
        yield Section(title, (Pairs("", tuple(pairs)),), folded=True)
