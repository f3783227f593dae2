"""The audit of a training set as a document: findings first, then everything that was counted and tested."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
from acidtest.studies.audit.findings import CUES, NEARLY, near_pair
from acidtest.studies.audit.measures import LENGTHS, MNLI, NEGATIONS, OVERLAP, PHENOMENA

_CUES_SHOWN = 5
"""How many cues of a label the summary names; the tables below it have more."""
_NEAR_SHOWN = 2

_MEASURE_TITLES = {
    "premise_length": "words of the premise",
    "hypothesis_length": "words of the hypothesis",
    OVERLAP: "overlap",
    "premise_negation": "negated premises",
    "hypothesis_negation": "negated hypotheses",
}


def document(result: AuditResult) -> Document:
    """Findings, and a section for each thing that is looked at; a set without pairs has its findings only."""
    # Every sentence names the suite it speaks of, where that is not the set itself.
    findings = tuple(replace(finding, suite="") for finding in result.findings)
    sections = [Section("Findings", findings), _heuristics_section(result)]
    if result.rows:
        sections += [
            _partial_input_section(result),
            _by_label_section(result),
            _cues_section(result),
            _phenomena_section(result),
            _repetitions_section(result),
        ]
    if result.leakage:
        sections.append(_leakage_section(result))
    tests = [part.test for part in result.partial_input.values() if part.test]
    return Document(
        title="acidtest audit",
        headline=_headline(result),
        parts=(Note(_describe_set(result)), *sections),
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
    """The most severe finding, and how many there are of its kind."""
    first = result.findings[0]
    number = sum(finding.severity == first.severity for finding in result.findings)
    kinds = {"severe": "severe findings, such as: ", "warning": "warnings, such as: "}
    more = f"{number} {kinds[first.severity]}" if first.severity in kinds and number > 1 else ""
    return f"{result.name}: {more}{first.sentence}."


def _describe_set(result: AuditResult) -> str:
    words = "words split at white space" if result.faithful else "words without punctuation"
    labels = ", ".join(f"{count:,} {label}" for label, count in result.balance.labels.items())
    return f"{describe_count(result.rows, 'pair')}{f': {labels}' if labels else ''}; {words}."


def _heuristics_section(result: AuditResult) -> Section:
    """Pairs that support and that contradict each heuristic, MultiNLI's counts beside them."""
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
    notes = ["MultiNLI: its training set, as McCoy et al. (2019) count it, words split at white space (--faithful)"]
    if any(support is None or support.unknown for support in result.heuristics.values()):
        notes.append("constituents are known by parses (columns such as sentence1_parse)")
    caption = (
        "Pairs that support and that contradict each heuristic; a constituent is a subsequence, and that is lexical "
        "overlap"
    )
    table = Table("heuristics", caption, columns, tuple(rows), "heuristic", tuple(notes))
    known = {name.replace("_", " "): counts for name, counts in result.heuristics_by_label.items() if counts}
    by_label = _counts_table(result, "heuristics by label", "Pairs of each heuristic by label", known, "heuristic")
    if not any(support and support.share.known for support in result.heuristics.values()):
        return Section("Heuristics", (table,))
    base = result.balance.labels.get("entailment", 0) / result.rows
    chart = Chart(
        table.id,
        columns=("supporting share",),
        title="Share of a heuristic's pairs that are entailment",
        axis="share that is entailment",
        reference=Reference(base, "of all pairs"),
    )
    return Section("Heuristics", (table, chart, by_label))


def _partial_input_section(result: AuditResult) -> Section:
    columns = (
        Column("accuracy"),
        Column("commonest label"),
        Column("balanced accuracy"),
        Column("chance"),
        Column("gain", "points"),
        Column("pairs", "count"),
        Column("p adjusted", "p"),
    )
    rows = tuple(
        Row(
            f"{side} alone",
            (
                part.accuracy,
                part.majority,
                part.balanced,
                part.chance,
                part.gain,
                part.accuracy.n,
                PValue(part.p_adjusted),
            ),
        )
        for side, part in result.partial_input.items()
    )
    pairs = f"{result.sampled:,} pairs, whole premises drawn with seed {result.seed}"
    notes = [
        "linear model on words and bigrams in five folds that share no premise; "
        + ("all pairs" if result.sampled == result.rows else pairs),
        "balanced: mean over labels of the share answered correctly, of which a guess gets one over the number of "
        "labels; the gain is over that",
    ]
    notes += dict.fromkeys(part.accuracy.note for part in result.partial_input.values() if part.accuracy.note)
    caption = "How often the label is right from one sentence, and from none, %"
    table = Table("one sentence", caption, columns, rows, "sentence", tuple(notes))
    known = [part.chance for part in result.partial_input.values() if part.balanced.known]
    if not known:
        return Section("One sentence alone", (table,))
    chart = Chart(
        table.id,
        columns=("balanced accuracy",),
        title="Balanced accuracy with one sentence only",
        axis="balanced accuracy",
        reference=Reference(known[0], "a guess"),
    )
    return Section("One sentence alone", (table, chart))


def _by_label_section(result: AuditResult) -> Section:
    """Means of measures by label, and pairs by genre."""
    lengths = _means_table(result, "length", "Mean number of words by label", LENGTHS, "number")
    shares = _means_table(
        result,
        "overlap and negation",
        "Mean overlap, and share of negated sentences, %",
        (OVERLAP, *NEGATIONS),
        "percent",
    )
    parts: list[Part] = [lengths, _label_chart(lengths, result), shares, _label_chart(shares, result)]
    if result.balance.genres:
        genre = result.balance.genre_column or ""
        genres = {name or "(none)": counts for name, counts in result.balance.genres.items()}
        parts.append(_counts_table(result, "genres", f"Pairs by {genre} and label", genres, genre))
    return Section("By label", tuple(parts))


def _means_table(result: AuditResult, table_id: str, caption: str, names: Sequence[str], unit: Unit) -> Table:
    labels = tuple(result.balance.labels)
    columns = (*(Column(label, unit) for label in labels), Column("variance explained"), Column("p adjusted", "p"))
    rows = []
    for name in names:
        measure = result.measures[name]
        means = [measure.means.get(label) for label in labels]
        rows.append(Row(_MEASURE_TITLES[name], (*means, measure.explained, PValue(measure.p_adjusted))))
    return Table(table_id, f"{caption}, with 95 % intervals", columns, tuple(rows), "mean")


def _label_chart(table: Table, result: AuditResult) -> Chart:
    return Chart(table.id, columns=tuple(result.balance.labels), title=table.caption, axis="mean of the label's pairs")


def _counts_table(
    result: AuditResult, table_id: str, caption: str, counts: Mapping[str, Mapping[str, int]], corner: str
) -> Table:
    """Pairs by label, a row for each name."""
    labels = tuple(result.balance.labels)
    rows = tuple(Row(name, tuple(values.get(label, 0) for label in labels)) for name, values in counts.items())
    return Table(table_id, caption, tuple(Column(label, "count") for label in labels), rows, corner)


def _cues_section(result: AuditResult) -> Section:
    """A summary of the cues of each kind, and below it all that are shown of them."""
    note = Note(
        f"PMI in bits, {SMOOTHING} added to every count; exact binomial tests, Holm over all items and labels of a "
        f"kind; in at least {LEAST} sentences, each counted once for a label.",
        quiet=True,
    )
    tested = {kind: title for kind, (_, title) in CUES.items() if result.cues[kind].tested}
    if not tested:
        return Section("Tied to a label", (note,))
    details = (part for kind, title in tested.items() for part in _cue_parts(result, kind, title))
    parts: list[Part] = [_cue_summary(result, tested), note]
    if result.polarity.pairs:
        parts.append(_polarity_table(result))
    return Section("Tied to a label", (*parts, Section("All cues", tuple(details), folded=True)))


def _cue_summary(result: AuditResult, kinds: Mapping[str, str]) -> Table:
    columns = (Column("tied", "count"), Column("of", "count"), Column("highest PMI (share of count)", "text"))
    rows = []
    for kind, title in kinds.items():
        cues = result.cues[kind]
        for label, best in cues.top.items():
            shown = ", ".join(f"{cue.item} ({share(cue.share)} % of {cue.count:,})" for cue in best[:_CUES_SHOWN])
            rows.append(Row(label, (cues.tied[label], cues.tested, shown or "–"), heading=title))
    return Table("cues", "What is tied to a label", columns, tuple(rows), "label")


def _cue_parts(result: AuditResult, kind: str, title: str) -> Iterator[Part]:
    columns = (
        Column("sentences", "count"),
        Column("with the label", "count"),
        Column("share"),
        Column("PMI", "number"),
        Column("p", "p"),
    )
    rows = tuple(
        Row(cue.item, (cue.count, cue.with_label, cue.estimate, cue.pmi, PValue(cue.p)), heading=label)
        for label, cues in result.cues[kind].top.items()
        for cue in cues
    )
    if not rows:
        yield Note(f"{title[:1].upper()}{title[1:]}: {result.cues[kind].tested:,} tested; none is tied to a label.")
        return
    caption = f"{title[:1].upper()}{title[1:]}, {result.cues[kind].tested:,} tested: those of highest PMI"
    table = Table(f"cues {kind}", caption, columns, rows, "cue")
    yield table
    yield Chart(table.id, columns=("share",), title=caption, axis="share of the sentences with it that have the label")


def _polarity_table(result: AuditResult) -> Table:
    polarity = result.polarity
    caption = (
        f"Of {polarity.pairs:,} pairs of words, how many have a label most often, and how many lean to it beyond "
        "chance (false discovery rate 5 %)"
    )
    columns = (Column("most often", "count"), Column("beyond chance", "count"))
    rows = tuple(Row(label, (count, polarity.leaning.get(label))) for label, count in polarity.polarity.items())
    return Table("polarity", caption, columns, rows, "label")


def _phenomena_section(result: AuditResult) -> Section:
    labels = tuple(result.balance.labels)
    rows = tuple(
        Row(name.replace("_", " "), (*(counts.get(label, 0) for label in labels), PHENOMENA.get(name, "")))
        for name, counts in result.phenomena.items()
    )
    columns = (*(Column(label, "count") for label in labels), Column("what it is", "text"))
    counts = Table("phenomena", "Pairs with each phenomenon by label", columns, rows, "phenomenon")
    means = tuple(
        Row(name.replace("_", " "), tuple(measure.means.get(label) for label in labels))
        for name, measure in result.phenomenon_shares.items()
    )
    caption = "Share of each label's pairs that have a phenomenon, %, with 95 % intervals"
    shares = Table("phenomenon shares", caption, tuple(map(Column, labels)), means, "phenomenon")
    if not means:
        return Section("Phenomena", (counts,))
    return Section("Phenomena", (counts, Section("Shares", (shares, _label_chart(shares, result)), folded=True)))


def _repetitions_section(result: AuditResult) -> Section:
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
    table = Table(
        "repetitions",
        "What stands more than once",
        (Column("number", "count"),),
        tuple(Row(name, (number,)) for name, number in numbers.items()),
        notes=("sentences are the same when their words are, whatever case and punctuation", NEARLY),
    )
    return Section("Repetitions", (table, *_examples("Pairs that are nearly the same", repeated.near_examples)))


def _leakage_section(result: AuditResult) -> Section:
    names = ("pairs", "exact", "same label", "nearly", "of", "premise", "hypothesis")
    rows = tuple(
        Row(
            leak.suite,
            (leak.rows, leak.exact, leak.same_label, leak.near, leak.near_of, leak.premise, leak.hypothesis),
            slice={"suite": leak.suite},
        )
        for leak in result.leakage
    )
    caption = (
        "Pairs of suites that stand in the training set, exactly, with the same label, or nearly, of those looked at; "
        "and their sentences, in whatever pair"
    )
    table = Table("leakage", caption, tuple(Column(name, "count") for name in names), rows, "suite")
    examples = [part for leak in result.leakage for part in _examples(f"Examples of {leak.suite}", leak.examples)]
    return Section("Leakage", (table, *examples))


def _examples(title: str, examples: Sequence[Mapping[str, str]]) -> Iterator[Part]:
    """The first near pairs in a line each, and all examples to read."""
    near = [example for example in examples if "train_premise" in example]
    for example in near[:_NEAR_SHOWN]:
        yield Note(" ≈ ".join(near_pair(example)), quiet=True)
    if examples:
        pairs = tuple(
            Pair(example["premise"], example["hypothesis"], example["label"], {}, _example_facts(example))
            for example in examples
        )
        yield Section(title, (Pairs("", pairs),), folded=True)


def _example_facts(example: Mapping[str, str]) -> dict[str, str]:
    facts = {"match": example["match"]} if "match" in example else {}
    return facts | ({"nearly": near_pair(example)[1]} if "train_premise" in example else {})
