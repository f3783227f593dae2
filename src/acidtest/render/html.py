"""A document as one self-contained HTML page, which opens from disk without a network."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import SequenceMatcher
from functools import partial
from importlib import resources
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from acidtest.core.document import (
    Browser,
    Cell,
    Change,
    Chart,
    Coefficient,
    Document,
    Finding,
    Map,
    Note,
    Pairs,
    Part,
    Published,
    Push,
    PValue,
    Row,
    Section,
    Slice,
    Table,
    Toggles,
    estimates,
    tables,
    walk,
)
from acidtest.core.escaping import escape_html
from acidtest.core.estimate import Estimate
from acidtest.core.numbers import cell_text
from acidtest.render.drawing import draw_spark
from acidtest.render.maps import draw_map, pack_map
from acidtest.render.svg import draw

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

ROOM = 3000
"""The height in pixels, on a wide screen, that open sections may take together."""
SHORT = 200
"""A section that takes no more than this stays open, wherever it stands."""
LEADING = 3
"""The first sections of a document say what it is about and stay open."""
_LINE = 100
"""Characters on a line of a paragraph."""


def fold_sections(parts: tuple[Part, ...], tables: Mapping[str, Table], room: float = ROOM) -> tuple[Part, ...]:
    """The parts with those sections folded that do not fit into ``room`` beside what stands before them."""
    folded, leading = list[Part](), LEADING
    for part in parts:
        if isinstance(part, Section) and not part.folded:
            if part_height(part, tables) > max(room, SHORT):
                part = _shorten(part, tables, room) if leading > 0 else _fold(part)
            leading -= 1
        room -= part_height(part, tables)
        folded.append(part)
    return tuple(folded)


def _shorten(section: Section, tables: Mapping[str, Table], room: float) -> Section:
    """The section, still open, with sections inside it folded from the first that does not fit."""
    inner = list[Part]()
    for part in section.parts:
        if isinstance(part, Section) and part_height(part, tables) > max(room, SHORT):
            part = _fold(part)
        room -= part_height(part, tables)
        inner.append(part)
    return replace(section, parts=tuple(inner))


def _fold(section: Section) -> Section:
    """The section folded; if it has no summary, the first sentence inside is one."""
    notes = (part.text for part in section.parts if isinstance(part, Note))
    return replace(section, folded=True, summary=section.summary or next(notes, "").partition(". ")[0].rstrip("."))


def part_height(part: Part, tables: Mapping[str, Table]) -> float:
    """About how many pixels a part takes on a wide screen."""
    if isinstance(part, Section):
        return 50 if part.folded else 70 + sum(part_height(inner, tables) for inner in part.parts)
    if isinstance(part, Table):
        tall = any(estimates(cell) for row in part.rows for cell in row.cells)
        headings = len({row.heading for row in part.rows if row.heading})
        return 90 + len(part.rows) * (48 if tall else 30) + 35 * headings + 30 * len(part.notes)
    if isinstance(part, Chart):
        table = tables[part.table]
        return 330 if part.mark == "line" else 60 + len(table.rows) * (14 + 12 * min(len(table.columns), 4))
    if isinstance(part, Finding):
        return 80 + 24 * len(part.evidence) + 24 * (len(part.sentence) // _LINE)
    if isinstance(part, Note):
        return 32 + 24 * (len(part.text) // _LINE)
    if isinstance(part, Pairs):
        return 110 * len(part.pairs)
    if isinstance(part, Toggles):
        return 200 * len(part.toggles)
    return 700 if isinstance(part, Map) else 50


METHODS = {
    "mover with correlation": "The difference of two shares among errors, different rows of the same pairs; its ends "
    "combine the ends of their two intervals, less what the two have in common.",
    "contributions to shares": "A permutation test of a difference of shares among errors: the signs of what each "
    "group adds to it are flipped at random. It gives the share of draws with at least this difference.",
    "newcombe": "The difference of two shares over different rows; its ends combine the ends of their two intervals.",
    "since all agree": "All groups agree, so nothing varies: an exact bound on the share that could disagree unseen.",
    "clopper": "The exact (Clopper–Pearson) interval of a share, used where no row or every row is right.",
    "wilson": "The Wilson score interval of a share: the rows count as independent draws.",
    "bootstrap": "A bootstrap that draws whole groups (rows made from one source sentence) with replacement within "
    "each stratum, widened where groups are few or uneven; BCa corrects it for skew.",
    "degrees of freedom": "A t interval on the mean, with the jackknife's variance over groups, used where there are "
    "few groups or few of them carry the variance.",
    "standard deviation": "The standard deviation over the values of a factor: how uneven a score is, in points.",
    "mcnemar": "McNemar's test on the rows where the two sides differ; the others say nothing about which is better.",
    "permutation": "A permutation test: the share of random swaps of the two sides that give at least this "
    "difference, counting the one observed, so that it is never 0.",
}
"""Explanations of methods and tests; the first key that occurs in the name of a method applies."""

FINDING_CODES = {
    "A1": "one label is answered to nearly all pairs of the run",
    "F1": "the premise is hardly read, as far as answers show",
    "K1": "near chance on untouched pairs",
    "K2": "below chance on untouched pairs, or labels that seem to be exchanged",
    "K3": "near chance on untouched claims at the deployed threshold, though scores tell them apart",
    "Q1": "reliance on a heuristic: its cue moves predictions toward entailment, gold and the other cues held fixed",
    "Q2": "reliance on other cues, present or absent, or on a combination of cues, gold and the rest held fixed",
    "G1": "how far predictions follow the correct label with cues held fixed, against untouched pairs",
    "R1": "entailments in other words are missed",
    "H1": "accuracy where HANS's heuristics are right and where they are wrong",
    "H2": "right whether HANS's heuristics are right or wrong",
    "B1": "no better than guessing on whole suites",
    "B2": "one gold label is answered rightly less often than by guessing",
    "S1": "worse than guessing on a few subcases or categories of a suite",
    "C1": "no loss when pairs are changed in a way that should not matter",
    "C2": "a loss when pairs are changed in a way that should not matter",
    "C3": "too few pairs to rule out a loss when pairs are changed",
    "C5": "a gain when pairs are changed in a way that should not matter",
    "I1": "most predictions stay the same where two swapped words change gold",
    "V1": "claims that an edit made unsupported are called supported more often than other unsupported claims",
    "V2": "edits that make claims unsupported are noticed",
    "V3": "edits that keep the meaning turn more verdicts wrong than right, or change more than a repetition does",
    "V4": "verdicts stay with edits that keep the meaning",
    "V5": "another threshold would do better on untouched claims",
    "V6": "verdicts follow what is true in the world, not the document",
    "V7": "verdicts depend on the order of passages that disagree",
    "V8": "most unsupported claims are called supported, and another threshold would do better",
    "V9": "evidence is used up to some number of words and not beyond",
    "J1": "predictions of a language model change with the order of the options",
    "J2": "predictions of a language model change with the wording of the prompt",
    "N1": "predictions change when the same pairs are evaluated again",
    "U1": "pairs without an answer",
    "T1": "pairs that were cut to the model's length",
    "P1": "verdicts that depend on how probabilities are collapsed",
    "M1": "signs that published pairs were seen in training",
}
"""What the rule behind each code of a finding looks at."""

_SEVERITIES = "Severity follows the size of the effect and how sure it is, alike in all suites."
_SAME_CODE = "The code is the same in results.json and in the documentation, so that programs can look for it."

SIGNATURE_PARTS = {
    "v": "version of the suite; it rises when the suite's pairs change",
    "seed": "the seed that all random choices of the suite were made with",
    "n": "how many pairs were asked",
    "h": "the beginning of a digest of all pairs: equal digests mean equal pairs",
    "collapse": "how probabilities became a verdict where gold accepts more than one label",
    "limit": "a sample of at most this many pairs was drawn",
    "model": "the model, with the beginning of a digest of its weights",
    "acidtest": "the version of acidtest",
    "from": "the corpus that the pairs were made from",
    "words": "whether the words are fresh or those of the published suite",
    "tagger": "what tagged the words",
    "wsd": "how the sense of a word was chosen",
}
"""The parts of a signature by the name before the colon."""


def explain_methods(names: Iterable[str]) -> dict[str, str]:
    """The explanation of each method or test by name; empty if there is none."""
    # The degrees of freedom differ from slice to slice; the method does not.
    unique_names = dict.fromkeys(re.sub(r"(?<=\bt)\([\d.]+\)|[\d.]+ (?=degrees)", "", name) for name in names if name)
    return {name: next((text for word, text in METHODS.items() if word in name.lower()), "") for name in unique_names}


def explain_code(code: str) -> str:
    """What the rule behind a finding's code looks at, and what the code is for."""
    rule = FINDING_CODES.get(code, "")
    return f"{code}: {rule}. {_SEVERITIES} {_SAME_CODE}" if rule else _SAME_CODE


def explain_signatures(signatures: Iterable[str]) -> dict[str, str]:
    """What each part that occurs in some signatures means; a part not known here is an option of its suite."""
    names = dict.fromkeys(part.partition(":")[0] for text in signatures for part in text.split("|")[1:])
    known = {f"{name}:": SIGNATURE_PARTS[name] for name in names if name in SIGNATURE_PARTS}
    others = ", ".join(f"{name}:" for name in names if name not in SIGNATURE_PARTS)
    return known | ({others: "options of the suite, as given or by default"} if others else {})


GENERATOR = '<meta name="generator" content="acidtest'
"""The text near the top of a page that identifies it as one of acidtest."""

SCRIPTS, MAP_SCRIPTS, BROWSER_SCRIPTS = ("page.js",), ("maps.js",), ("trees.js", "examples.js")
PACKAGE = "acidtest.render"


def render_page(document: Document) -> str:
    """The HTML page of a document."""
    from markupsafe import Markup

    by_id = tables(document)
    document = replace(document, parts=_add_anchors(fold_sections(document.parts, by_id)))
    browser = next((part for part in walk(document.parts) if isinstance(part, Browser)), None)
    examples = _pack_examples(browser) if browser else None
    has_map = any(isinstance(part, Map) for part in walk(document.parts))
    script_names = (*SCRIPTS, *(MAP_SCRIPTS if has_map else ()), *(BROWSER_SCRIPTS if browser else ()))
    script = '"use strict";\n(() => {\n' + "\n".join(map(_asset, script_names)) + "})();\n"
    labelled = {part.table for part in walk(document.parts) if isinstance(part, Chart) and part.mark == "effects"}
    return (
        _environment()
        .get_template("page.html")
        .render(
            document=document,
            browser=browser,
            examples=examples,
            draw=partial(_draw_chart, by_id),
            labelled=labelled,
            row_link=partial(_row_link, _section_anchors(document), has_browser=browser is not None),
            spark=_draw_spark,
            pack_map=pack_map,
            still_map=lambda part: Markup(draw_map(part, part.colourings[0])),
            methods=explain_methods(_method_names(document)),
            script=Markup(script),
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
            style=Markup(_asset("page.css")),
        )
    )


def is_report(path: Path) -> bool:
    """Whether a file is a page of acidtest."""
    with path.open("rb") as file:
        return GENERATOR.encode() in file.read(4096)


def sentence(text: str) -> str:
    """The text with a full stop and a capital letter, unless it begins with a name: ``hans: right on 50 %.``."""
    named = text.partition(" ")[0].endswith(":")
    return (text if named else text[:1].upper() + text[1:]) + ("" if text.endswith((".", "!", "?")) else ".")


def breakable(text: str) -> Markup:
    """The text, escaped, with line breaks allowed after ``_``, ``/`` and ``:``."""
    from markupsafe import Markup

    return Markup("<wbr>").join(escape_html(part) for part in re.split(r"(?<=[_/:])", text))


def browser_link(part: Slice) -> str:
    """The link to a slice in the example browser; empty for an empty slice."""
    if not part:
        return ""
    fields = ("suite", "label", "model", "verdict", "sort", "other", "answer", "q")
    return "#examples?" + urlencode({name if name in fields else f"f.{name}": value for name, value in part.items()})


def column_groups(table: Table) -> list[tuple[str, int]]:
    """The headings above columns and how many columns each spans; empty if no column has a heading."""
    groups = [(name, len(list(columns))) for name, columns in groupby(column.group for column in table.columns)]
    return groups if any(name for name, _ in groups) else []


def row_groups(table: Table) -> list[tuple[str, list[Row]]]:
    """Rows under their headings, in order."""
    return [(heading, list(rows)) for heading, rows in groupby(table.rows, key=lambda row: row.heading)]


def sort_value(cell: Cell) -> float | str:
    """The number by which a cell is sorted; the empty string if it has none."""
    if isinstance(cell, int | float):
        value = float(cell)
    elif isinstance(cell, Estimate | PValue | Published):
        value = cell.value
    elif isinstance(cell, Coefficient | Change | Push):
        value = estimates(cell)[-1].value
    else:
        return ""
    return value if value == value else ""


def cell_note(cell: Cell) -> str:
    """The tooltip of a cell: why there is no value, or how many rows it is based on."""
    if cell is None:
        return "not asked"
    if isinstance(cell, Published):
        return cell.note
    notes = [estimate.note or (f"n = {estimate.n:,}" if estimate.n else "") for estimate in estimates(cell)]
    return "; ".join(dict.fromkeys(filter(None, notes)))


def cell_notes(cell: Cell) -> list[str]:
    """What the estimates of a cell say about themselves, such as why there is no value."""
    return [estimate.note for estimate in estimates(cell) if estimate.note]


def footnotes(table: Table) -> dict[str, int]:
    """The notes of a table's columns and cells, each with its number."""
    notes = [column.note for column in table.columns if column.note]
    notes += [note for row in table.rows for cell in row.cells for note in cell_notes(cell)]
    return {note: number for number, note in enumerate(dict.fromkeys(notes), 1)}


def counts(row: Row) -> str:
    """On how many pairs the numbers of a row are based: ``n = 816``; empty if that is not known."""
    numbers = sorted(
        {estimate.n for cell in row.cells for estimate in estimates(cell) if estimate.known and estimate.n}
    )
    return f"n = {numbers[0]:,}" + (f" to {numbers[-1]:,}" if len(numbers) > 1 else "") if numbers else ""


def shared_counts(table: Table) -> str:
    """On how many pairs all numbers of a table are based; empty if rows differ."""
    texts = {text for row in table.rows if (text := counts(row))}
    return texts.pop() if len(texts) == 1 else ""


def has_controls(table: Table) -> bool:
    """Whether any small bar of a table has a tick for its control."""
    places = [number for number, column in enumerate(table.columns) if column.spark]
    return any(_control(table, row, number) for row in table.rows for number in places)


def mark_words(text: str, other: str) -> Markup:
    """The text, escaped, with the words marked that another text has not at the same place."""
    from markupsafe import Markup

    words, others = text.split(), other.split()
    pieces = []
    for kind, start, end, _, _ in SequenceMatcher(None, words, others, autojunk=False).get_opcodes():
        piece = escape_html(" ".join(words[start:end]))
        if piece:
            pieces.append(piece if kind == "equal" else Markup("<mark>{}</mark>").format(piece))
    return Markup(" ").join(pieces)


def _control(table: Table, row: Row, number: int) -> Estimate | None:
    """The value on the untouched pairs beside a cell: before a change, or in the control column of the same model."""
    cell, model = row.cells[number], table.columns[number].model
    if isinstance(cell, Change):
        return cell.before
    for column, other in zip(table.columns, row.cells, strict=True):
        if column.role == "control" and column.model in (model, "") and isinstance(other, Estimate):
            return other
    return None


def _draw_spark(table: Table, row: Row, number: int) -> Markup | str:
    """The small bar of a cell; empty if its column has none or the value is not known."""
    from markupsafe import Markup

    values = estimates(row.cells[number])
    if not table.columns[number].spark or not values or not values[-1].known:
        return ""
    return Markup(draw_spark(values[-1], _control(table, row, number)))


def _section_anchors(document: Document) -> dict[str, str]:
    return {part.title: part.anchor for part in document.parts if isinstance(part, Section)}


def _row_link(anchors: Mapping[str, str], row: Row, *, has_browser: bool) -> str:
    """The link of a row: to its pairs in the example browser, or to the section of the same name."""
    link = browser_link(row.slice) if has_browser else ""
    return link or (f"#{anchors[row.name]}" if row.name in anchors else "")


def _draw_chart(by_id: dict[str, Table], chart: Chart, width: int) -> Markup:
    from markupsafe import Markup

    size = "wide" if width > 480 else "slim"
    return Markup(f'<div class="{size}">{draw(chart, by_id[chart.table], width=width)}</div>')


def _add_anchors(parts: tuple[Part, ...], prefix: str = "part") -> tuple[Part, ...]:
    """The parts with an anchor for every section."""
    anchored: list[Part] = []
    for number, part in enumerate(parts, 1):
        if isinstance(part, Section):
            anchor = part.anchor or f"{prefix}-{number}"
            part = replace(part, anchor=anchor, parts=_add_anchors(part.parts, anchor))
        anchored.append(part)
    return tuple(anchored)


def _method_names(document: Document) -> list[str]:
    return [
        estimate.method
        for part in walk(document.parts)
        if isinstance(part, Table)
        for row in part.rows
        for cell in row.cells
        for estimate in estimates(cell)
    ]


def _pack_examples(browser: Browser) -> Any:
    from acidtest.render.examples import examples

    return examples(browser.runs)


def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader(PACKAGE),
        autoescape=True,
        # What is marked as HTML stays; every other text goes through the one function.
        finalize=lambda value: escape_html(value) if type(value) is str else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = (
        *(
            cell_text,
            sort_value,
            cell_note,
            cell_notes,
            footnotes,
            counts,
            shared_counts,
            has_controls,
            column_groups,
            row_groups,
        ),
        *(browser_link, breakable, sentence, mark_words, explain_code, explain_signatures),
    )
    environment.filters |= {function.__name__: function for function in filters}
    environment.filters["kind"] = lambda part: type(part).__name__
    return environment


def _asset(name: str) -> str:
    return resources.files(PACKAGE).joinpath("templates", name).read_text(encoding="utf-8")
