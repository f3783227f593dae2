"""Tables for papers: LaTeX with booktabs, every text escaped, the signatures in the caption."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from acidtest.core.estimate import Estimate
from acidtest.reports import numerals
from acidtest.reports.contamination import TEMPLATES, WORDS, Finding, cell_estimate, slices
from acidtest.reports.differences import Pair, pair_name, slice_name
from acidtest.reports.error_tables import ConfusionLine, ErrorLine, by_model
from acidtest.reports.sections import Crossing, Table, readable
from acidtest.studies.comparison import Contrast

Value = TypeVar("Value")

LONG = 45
"""A table of more lines than this runs over pages."""

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\symbol{34}",
    "`": r"\textasciigrave{}",
    # After the end of a row a bracket would be read as an option and a star as a variant of it.
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "−": "$-$",
    "×": r"$\times$",
    "→": r"$\rightarrow$",
    "…": r"\ldots{}",
    "\N{NO-BREAK SPACE}": "~",
}


@dataclass(frozen=True)
class Layout:
    """A table ready to be set: everything in it is LaTeX. ``bodies`` are groups of rows, with a rule between them."""

    caption: str
    label: str
    alignment: str
    head: tuple[str, ...]
    bodies: tuple[tuple[tuple[str, ...], ...], ...]


def escaped(text: str) -> str:
    """The text as LaTeX sets it, letter for letter; line ends and other control characters are spaces."""
    plain = re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+", " ", text)
    letters = "".join(_SPECIAL.get(letter, letter) for letter in plain)
    # Two hyphens in a row would become a dash, two apostrophes or commas a quotation mark.
    apart = re.sub(r"([-–])(?=[-–])|([',])(?=\2)", r"\g<0>{}", letters)
    return apart.replace("–", "--")


def breakdown_table(table: Table, models: Sequence[str], caption: str, *, label: str, signatures: Iterable[str]) -> str:
    """Accuracy by the values of a factor: one model with its interval and n, or several side by side."""
    single = len(models) == 1
    titles = ["\\%", "95\\,\\% interval", "$n$"] if single else [*map(escaped, models), *(["$n$"] * table.alike)]
    groups = {"people": [group.removeprefix("people: ") for group in table.people], "published": list(table.systems)}
    first, second = [""] + [""] * len(titles), [escaped(table.title), *titles]
    rules = []
    for name, systems in groups.items():
        if systems:
            start = len(second) + 1
            first += [f"\\multicolumn{{{len(systems)}}}{{c}}{{{name}}}"]
            second += map(escaped, systems)
            rules.append(f"\\cmidrule(lr){{{start}-{len(second)}}}")
    rows = []
    for line in table.lines:
        own = _single(line.estimates[0]) if single else [_with_interval(one) for one in line.estimates]
        own += [_count(line.n)] if table.alike and not single else []
        rows.append((escaped(line.value), *own, *map(_published, (*line.people, *line.published))))
    head = (_row(first), *rules, _row(second)) if rules else (_row(second),)
    caption = _caption(caption, table.sources, signatures, table.notes)
    return _set(Layout(caption, label, "l" + "r" * (len(second) - 1), head, (tuple(rows),)))


def crossing_table(crossing: Crossing, caption: str, *, label: str, signatures: Iterable[str]) -> str:
    """Two factors crossed, a line per system, as papers print them."""
    groups, rules, column = [""], list[str](), 2
    for outer, inners in crossing.columns.items():
        groups.append(f"\\multicolumn{{{len(inners)}}}{{c}}{{{escaped(outer)}}}")
        rules += [f"\\cmidrule(lr){{{column}-{column + len(inners) - 1}}}"] if outer else []
        column += len(inners)
    signs = crossing.signs
    titles = (readable(inner) + signs.get(inner, "") for inners in crossing.columns.values() for inner in inners)
    names = ["", *map(escaped, titles)]
    bodies = [_body(crossing.models, _with_interval)]
    bodies += [_body(rows, _published) for rows in (crossing.people, crossing.published) if rows]
    head = (_row(groups), "".join(rules), _row(names))
    caption = _caption(caption, crossing.sources, signatures, crossing.notes)
    return _set(Layout(caption, label, "l" + "r" * (len(names) - 1), head, tuple(bodies)))


def contrast_table(pairs: Sequence[Pair], factor: str, caption: str, *, label: str, signatures: Iterable[str]) -> str:
    """Second minus first for each pair of models, a group of rows each."""
    titles = (factor or "suite", "first", "second", "difference", "95 % interval", "p", "adjusted p", "detectable")
    bodies = []
    for pair in pairs:
        name = f"\\multicolumn{{{len(titles)}}}{{l}}{{\\emph{{{escaped(pair.name)}}}}}"
        bodies.append(((name,), *map(_contrast, pair.contrasts)))
    layout = Layout(
        caption=_caption(caption, (), signatures),
        label=label,
        alignment="l" + "r" * (len(titles) - 1),
        head=(_row(map(escaped, titles)),),
        bodies=tuple(bodies),
    )
    return _set(layout)


def whole_table(contrasts: Sequence[Contrast], caption: str, *, label: str, signatures: Iterable[str]) -> str:
    """Second minus first on whole suites, a row for each pair of models and suite."""
    titles = ("suite", "models", "first", "second", "difference", "95 % interval", "p", "adjusted p", "detectable")
    rows = []
    for contrast in contrasts:
        name, *cells = _contrast(contrast)
        rows.append((name, escaped(pair_name(contrast)), *cells))
    head = (_row(map(escaped, titles)),)
    layout = Layout(_caption(caption, (), signatures), label, "ll" + "r" * (len(titles) - 2), head, (tuple(rows),))
    return _set(layout)


def error_table(lines: Sequence[ErrorLine], caption: str, *, label: str, signatures: Iterable[str]) -> str:
    """Errors by kind, a group of rows for each model, beside the untouched pairs where there are any."""
    compared = any(line.difference for line in lines)
    titles = ["kind", "pairs", "%"]
    titles += ["pairs, untouched", "%, untouched", "difference", "adjusted p"] if compared else []
    bodies = []
    for model, own in by_model(lines).items():
        rows: list[tuple[str, ...]] = [(f"\\multicolumn{{{len(titles)}}}{{l}}{{\\emph{{{escaped(model)}}}}}",)]
        for line in own:
            cells = [escaped(line.title), _count(line.count), _with_interval(line.value)]
            if compared:
                change = numerals.points(line.difference) if line.difference else numerals.NONE
                cells += [_count(line.control_count), _with_interval(line.control)]
                cells += [escaped(change), escaped(numerals.p_value(line.p_adjusted))]
            rows.append(tuple(cells))
        bodies.append(tuple(rows))
    alignment = "l" + "r" * (len(titles) - 1)
    head = (_row(map(escaped, titles)),)
    return _set(Layout(_caption(caption, (), signatures), label, alignment, head, tuple(bodies)))


def confusion_table(lines: Sequence[ConfusionLine], caption: str, *, label: str, signatures: Iterable[str]) -> str:
    """Answers by gold, a group of rows for each model."""
    titles = ["gold", *lines[0].answers]
    bodies = []
    for model, own in by_model(lines).items():
        name = (f"\\multicolumn{{{len(titles)}}}{{l}}{{\\emph{{{escaped(model)}}}}}",)
        bodies.append((name, *((escaped(line.gold), *map(_count, line.answers.values())) for line in own)))
    alignment = "l" + "r" * (len(titles) - 1)
    head = (_row(map(escaped, titles)),)
    return _set(Layout(_caption(caption, (), signatures), label, alignment, head, tuple(bodies)))


def contamination_table(leak: Finding, what: str, *, label: str) -> str:
    """The ``cells`` of contamination, words against templates slice by slice, or its ``contrasts``."""
    if what == "cells":
        titles = ("slice", "words", *(f"{templates} templates" for templates in TEMPLATES))
        rows = [
            (name, words, *(_percent_and_interval(cell_estimate(leak, words, each, name)) for each in TEMPLATES))
            for name in slices(leak)
            for words in WORDS
        ]
        caption = f"Accuracy in per cent of {leak['model']} on published and new words and templates."
    else:
        titles = ("contrast", "slice", "difference", "p", "adjusted p", "excess over reference")
        rows = [
            (
                each["name"],
                each["slice"],
                _points(each["difference"]),
                numerals.p_value(each["p"]),
                numerals.p_value(each["p_adjusted"]),
                _points(each["excess"]),
            )
            for each in leak["contrasts"]
        ]
        caption = f"{leak['verdict']} Percentage points with 95 % intervals."
    alignment = "ll" + "r" * (len(titles) - 2)
    body = tuple(tuple(map(escaped, row)) for row in rows)
    return _set(Layout(escaped(caption), label, alignment, (_row(map(escaped, titles)),), (body,)))


def _percent_and_interval(value: Estimate | None) -> str:
    within = numerals.interval(value)
    return f"{numerals.percent(value)} ({within})" if within else numerals.percent(value)


def _points(fields: Mapping[str, Any] | None) -> str:
    return numerals.NONE if fields is None else numerals.points(Estimate.from_json(dict(fields)))


def _set(layout: Layout) -> str:
    bodies = "\n\\midrule\n".join("\n".join(map(_row, body)) for body in layout.bodies)
    head = "\n".join(layout.head)
    title = f"\\caption{{{layout.caption}}}\\label{{{layout.label}}}"
    if sum(map(len, layout.bodies)) > LONG:
        return f"""% Written by acidtest; needs \\usepackage{{booktabs,longtable}}.
\\begin{{longtable}}{{{layout.alignment}}}
{title}\\\\
\\toprule
{head}
\\midrule
\\endfirsthead
\\toprule
{head}
\\midrule
\\endhead
\\bottomrule
\\endfoot
{bodies}
\\end{{longtable}}
"""
    return f"""% Written by acidtest; needs \\usepackage{{booktabs}}.
\\begin{{table}}
\\centering
{title}
\\begin{{tabular}}{{{layout.alignment}}}
\\toprule
{head}
\\midrule
{bodies}
\\bottomrule
\\end{{tabular}}
\\end{{table}}
"""


def _row(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _body(rows: Mapping[str, Iterable[Value]], cell: Callable[[Value], str]) -> tuple[tuple[str, ...], ...]:
    return tuple((escaped(name), *map(cell, values)) for name, values in rows.items())


def _caption(text: str, sources: Iterable[str], signatures: Iterable[str], notes: Iterable[str] = ()) -> str:
    found = list(dict.fromkeys(sources))
    published = f" Published numbers, on the papers' own pairs: {'; '.join(found)}." if found else ""
    differing = "".join(f" {note}." for note in notes)
    signed = "; ".join(map(_signature, signatures))
    return escaped(text + published + differing) + (f" {signed}." if signed else "")


def _signature(text: str) -> str:
    """A signature, which has no spaces, with leave to break a line after its parts; this font has the bar."""
    return "\\texttt{" + escaped(text).replace(_SPECIAL["|"], "|\\allowbreak ") + "}"


def _single(value: Estimate | None) -> list[str]:
    n = _count(value.n if value else None)
    return [escaped(numerals.percent(value)), escaped(numerals.interval(value)) or "--", n]


def _with_interval(value: Estimate | None) -> str:
    within = numerals.interval(value)
    return escaped(f"{numerals.percent(value)} ({within})" if within else numerals.percent(value))


def _contrast(contrast: Contrast) -> tuple[str, ...]:
    cells = (
        slice_name(contrast),
        *map(numerals.share, contrast.accuracies),
        numerals.signed(contrast.difference.value),
        numerals.signed_interval(contrast.difference) or numerals.NONE,
        numerals.p_value(contrast.p),
        numerals.p_value(contrast.p_adjusted),
        numerals.share(contrast.detectable),
    )
    return tuple(map(escaped, cells))


def _published(value: float | None) -> str:
    return escaped(numerals.published(value))


def _count(n: int | None) -> str:
    return "--" if n is None else f"{n:,}".replace(",", "{,}")
