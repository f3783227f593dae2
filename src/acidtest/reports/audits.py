"""Audits of training sets as tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from acidtest.core.estimate import Estimate
from acidtest.reports.audit_findings import NEARLY, TITLES, audit_findings, near_pair
from acidtest.reports.diagnosis import Finding
from acidtest.reports.numerals import NONE, p_value, percent, share, signed, signed_interval
from acidtest.studies.audit import KINDS, MNLI, Audit, Support
from acidtest.studies.audits.cues import LEAST, SMOOTHING
from acidtest.studies.audits.leaks import Leak
from acidtest.studies.audits.measures import LENGTHS, OVERLAP, PHENOMENA

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

NEAR_SHOWN = 2
SHOWN = 5
"""How many cues of a label are shown; --json and the page have more."""

_MARKS = {"severe": "[bold red]severe [/]", "warning": "[yellow]warning[/]", "info": "[dim]info   [/]"}
_GOOD = "[green]good   [/]"

MEASURES = {
    "premise_length": "words of the premise",
    "hypothesis_length": "words of the hypothesis",
    OVERLAP: "overlap, %",
    "premise_negation": "negated premises, %",
    "hypothesis_negation": "negated hypotheses, %",
}


def audit_table(found: Audit) -> list[RenderableType]:
    """Everything an audit found, findings first, MultiNLI's counts beside those of heuristics."""
    from rich.markup import escape
    from rich.text import Text

    words = "words split at white space" if found.faithful else "words without punctuation"
    parts: list[RenderableType] = [
        Text.from_markup(f"[bold]{escape(found.name)}[/]  {found.rows:,} pairs, {words}", emoji=False)
    ]
    parts += [_finding(each) for each in audit_findings(found)]
    parts += [
        *_titled("Heuristics", _heuristics(found)),
        *(Text(note, style="dim") for note in _heuristic_notes(found)),
    ]
    if not found.rows:
        return parts
    parts += [*_titled("One sentence alone", _partial(found)), Text(sample_note(found), style="dim")]
    parts += _titled("By label", _by_label(found))
    parts += _titled("Tied to a label", _cues(found)) if any(each.tested for each in found.cues.values()) else []
    parts += [Text(cue_note(), style="dim")]
    parts += _titled("Phenomena, pairs by label", _phenomena(found))
    parts += _titled("Repetitions", _duplicates(found))
    parts += [Text(line, style="dim", overflow="fold") for line in _near_lines(found.near.examples)]
    if found.leakage:
        parts += _titled("Pairs of suites in the training set", _leakage(found))
        near = [each for leak in found.leakage for each in leak.examples if each["match"] == "near"]
        parts += [Text(line, style="dim", overflow="fold") for line in _near_lines(near)]
    return parts


def sample_note(found: Audit) -> str:
    """How many pairs the model and the tests by label saw."""
    of = (
        "all pairs"
        if found.sampled == found.rows
        else f"{found.sampled:,} pairs, whole premises drawn with seed {found.seed}"
    )
    return (
        f"  Linear model on words and bigrams in five folds that share no premise; {of}. Balanced: mean over labels "
        "of the share answered correctly, of which a guess gets one over the number of labels; the gain is over that."
    )


def cue_note() -> str:
    """How cues were measured and tested."""
    return (
        f"  PMI in bits, {SMOOTHING} added to every count; exact binomial tests, Holm over all items and labels of a "
        f"kind; in at least {LEAST} sentences, each counted once for a label."
    )


def measure_cell(name: str, mean: Estimate) -> str:
    """A mean as it is shown: words with one decimal, shares in per cent."""
    return f"{mean.value:.1f}" if name in LENGTHS else percent(mean)


def label_names(found: Audit) -> tuple[str, ...]:
    """The labels that occur, in the usual order."""
    return tuple(found.balance.labels)


def _titled(title: str, table: Table) -> list[RenderableType]:
    from rich.text import Text

    return [Text(f"\n{title}", style="bold"), table]


def _finding(finding: Finding) -> Table:
    from rich.table import Table
    from rich.text import Text

    line = Table.grid(padding=(0, 1))
    line.add_row(Text.from_markup(f" {_MARKS.get(finding.severity, _GOOD)}", emoji=False), Text(finding.text))
    return line


def _table(first: str, columns: Iterable[str]) -> Table:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2), header_style="dim")
    table.add_column(first)
    for column in columns:
        table.add_column(column, justify="right")
    return table


def _heuristics(found: Audit) -> Table:
    table = _table("heuristic", ("supporting", "contradicting", "supporting share", "not known", "MultiNLI"))
    for name, support in found.heuristics.items():
        paper = f"{MNLI[name].support:,} : {MNLI[name].contradict:,}"
        table.add_row(name.replace("_", " "), *_cells(support), paper)
    return table


def _heuristic_notes(found: Audit) -> list[str]:
    notes = ["  MultiNLI: its training set, as McCoy et al. (2019) count it, words split at white space (--faithful)."]
    if any(support is None or support.unknown for support in found.heuristics.values()):
        notes.append("  Constituents are told by parses (columns such as sentence1_parse).")
    return notes


def _cells(support: Support | None) -> tuple[str, str, str, str]:
    if support is None:
        return NONE, NONE, NONE, "all"
    total = support.support + support.contradict
    part = f"{support.support / total:.1%}".replace("%", " %") if total else NONE
    return f"{support.support:,}", f"{support.contradict:,}", part, f"{support.unknown:,}"


def _partial(found: Audit) -> Table:
    headings = ("accuracy, %", "commonest, %", "balanced, %", "chance, %", "gain", "95 % interval", "p")
    table = _table("sentence", headings)
    adjusted = found.adjusted
    for side, each in found.partial_input.items():
        gain = signed(each.gain.value if each.gain.known else None)
        cells = (
            percent(each.accuracy),
            percent(each.majority),
            percent(each.balanced),
            share(each.chance),
            gain,
            signed_interval(each.gain),
        )
        table.add_row(side, *cells, p_value(adjusted[f"{side} only"]))
    return table


def _by_label(found: Audit) -> Table:
    labels = label_names(found)
    table = _table("mean", (*labels, "explained, %", "p"))
    table.add_row("pairs", *(f"{found.balance.labels[label]:,}" for label in labels), "", "")
    adjusted = found.adjusted
    for name, title in MEASURES.items():
        each = found.measures[name]
        cells = [measure_cell(name, each.means[label]) if label in each.means else NONE for label in labels]
        table.add_row(title, *cells, share(each.explained), p_value(adjusted[name]))
    for genre, counts in found.balance.genres.items():
        table.add_row(
            f"{found.balance.genre_column} {genre or '(none)'}", *(f"{counts[label]:,}" for label in labels), "", ""
        )
    return table


def _cues(found: Audit) -> Table:
    table = _table("kind", ())
    table.add_column("label")
    for column in ("tied", "of"):
        table.add_column(column, justify="right")
    table.add_column("highest PMI (share of count)", overflow="fold")
    for kind in KINDS:
        each = found.cues[kind]
        for label, listed in each.top.items():
            shown = ", ".join(f"{cue.item} ({share(cue.share)} % of {cue.count:,})" for cue in listed[:SHOWN])
            table.add_row(TITLES[kind], label, f"{each.tied[label]:,}", f"{each.tested:,}", shown or NONE)
    lean = found.polarity
    for label, number in lean.leaning.items():
        told = f"{lean.polarity[label]:,} have it most often; {number:,} beyond chance (FDR 5 %)"
        table.add_row("polarity of word pairs", label, f"{number:,}", f"{lean.pairs:,}", told)
    return table


def _phenomena(found: Audit) -> Table:
    labels = label_names(found)
    table = _table("phenomenon", (*labels, "what it is"))
    table.columns[-1].justify = "left"
    for name, counts in found.phenomena.items():
        table.add_row(
            name.replace("_", " "), *(f"{counts.get(label, 0):,}" for label in labels), PHENOMENA.get(name, "")
        )
    return table


def duplicate_lines(found: Audit) -> Sequence[tuple[str, int]]:
    """What is repeated, with how often."""
    held = found.duplicates
    return (
        ("different pairs", held.pairs),
        ("different premises", held.premises),
        ("different hypotheses", held.hypotheses),
        ("pairs that stand more than once", held.repeated),
        ("rows beyond the first of these", held.surplus),
        ("pairs with different labels", held.conflicts),
        ("hypotheses under several premises", held.shared_hypotheses),
        ("of these always with one label", held.one_label),
        (f"of {found.near.of:,} pairs, nearly the same as another", found.near.near),
        ("of these as one of their own label", found.near.same_label),
    )


def _near_lines(examples: Sequence[Mapping[str, str]]) -> list[str]:
    """The first near pairs, each with what it is near to."""
    shown = [near_pair(each) for each in examples[:NEAR_SHOWN]]
    lines = [f"  {own}\n  ≈ {other}" for own, other in shown]
    return [*lines, f"  {NEARLY[:1].upper()}{NEARLY[1:]}."] if lines else []


def _duplicates(found: Audit) -> Table:
    table = _table("what", ("number",))
    for name, number in duplicate_lines(found):
        table.add_row(name, f"{number:,}")
    return table


LEAK_COLUMNS = ("pairs", "exact", "same label", "nearly", "of", "premise", "hypothesis")


def leak_cells(found: Audit) -> list[tuple[str, tuple[str, ...]]]:
    """A row for each suite, its numbers in the order of ``LEAK_COLUMNS``."""
    return [
        (
            leak.suite,
            tuple(f"{number:,}" for number in _leak_numbers(leak)),
        )
        for leak in found.leakage
    ]


def _leak_numbers(leak: Leak) -> tuple[int, ...]:
    exact = (leak.rows, leak.exact, leak.same_label)
    return (*exact, leak.near, leak.near_of, leak.premise, leak.hypothesis)


def _leakage(found: Audit) -> Table:
    table = _table("suite", LEAK_COLUMNS)
    for suite, cells in leak_cells(found):
        table.add_row(suite, *cells)
    return table
