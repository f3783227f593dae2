"""Writes docs/reference from the code (make docs). Tests keep the pages current."""

from __future__ import annotations

import csv
import hashlib
import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, get_args, get_type_hints

import acidtest
from acidtest import api
from acidtest.cli.app import command, command_entries, leaf_commands
from acidtest.core.errors import NothingToMakeError
from acidtest.core.model import MODELS
from acidtest.core.registry import Option
from acidtest.core.settings import REQUESTED_OPTIONS
from acidtest.core.study import GROUPS, STUDIES
from acidtest.core.suite import Suite
from acidtest.models import baseline
from acidtest.render.html import FINDING_CODES, METHODS, SIGNATURE_PARTS
from acidtest.studies.audit import findings as audit_findings
from acidtest.studies.cue_effects import USED
from acidtest.studies.errors.samples import CATEGORIES, RULES
from acidtest.workflows.batteries import STANDARD

FOLDER = Path(__file__).parent / "reference"
DATA = Path(acidtest.__file__).parent / "data"
NOTE = "<!-- Written by docs/build.py (make docs). Change the code, not this page. -->"
EXAMPLES = 10
"""Pairs that are shown of each suite."""
MEANINGS = {
    "schema": "version of the format",
    "acidtest": "version of the program",
    "signature": "everything that could change the numbers",
    "model": "the model that was asked",
    "model.spec": "as `--model` named it",
    "model.name": "what it is called in tables",
    "model.fingerprint": "digest by which it is known again; null where it has none",
    "model.resolution": "a two-way model is scored by two labels",
    "model.probabilities": "whether it gives more than labels",
    "suites": "results by name of the suite; `NAME#control` are untouched pairs",
    "headline": "the one sentence to take away",
    "untouched": "accuracy on untouched pairs, each pair once over all suites; null where there are none",
    "untouched.name": "what the pairs are called in a sentence",
    "untouched.accuracy": "share of the answered ones that are right",
    "untouched.chance": "what guessing gives there",
    "diagnosis": "findings, gravest first",
    "contamination": "whether the model has seen HANS; null where it was not asked for that",
    "contamination.reference": "the model known to be clean; null without one",
    "contamination.cells": "the four suites",
    "contamination.cells[].words": "whether its words are those of the published file",
    "contamination.cells[].templates": "whether its templates are those of the published file",
    "contamination.cells[].suite": "its name",
    "contamination.cells[].slices": "accuracy on all pairs, where heuristics are wrong, and by heuristic",
    "contamination.contrasts": "differences between the four suites",
    "contamination.contrasts[].slice": "the pairs it is taken on",
    "contamination.contrasts[].name": "`words`, `templates` or `both`",
    "contamination.contrasts[].question": "what it asks",
    "contamination.contrasts[].difference": "how large it is",
    "contamination.contrasts[].reference": "the same of the reference; null without one",
    "contamination.contrasts[].excess": "the difference less that of the reference",
    "contamination.contrasts[].excess_p": "p of the excess",
    "contamination.contrasts[].excess_p_adjusted": "the same, corrected for its family",
    "contamination.verdict": "what the contrasts come to, in a sentence",
    "contamination.can": "what the contrasts can show",
    "contamination.cannot": "what they cannot show",
    "profile": "what moves the answers; null without suite `cues` or `grounding/cues`",
    "profile.gold_effect": "how much the truth moves answers",
    "profile.cues": "effects by cue",
    "profile.premise_use": "how often an answer changes with a premise of other gold",
    "profile.interactions": "cues whose effect depends on another cue by more than 10 points",
    "profile.cells": "how many cells of the design were asked",
    "profile.stability": "how often answers stay, by what was done to the pair",
    "profile.reverse_overlap": "how often entailment is answered where it is gold and words do not overlap",
    "profile.hypothesis_alone": "how many answers the words of the hypothesis alone predict",
    "profile.answers": "how often each label is answered",
    "profile.suite": "the suite it was measured on",
    "grounding": "how a verifier does on claims and documents; null without such suites",
    "grounding.suites": "the suites it was measured on",
    "grounding.documents": "how many documents they have",
    "grounding.pairs": "claims that were answered, edited and not",
    "grounding.called_supported": "share of them called supported",
    "grounding.to_support": "how many of them are supported, by gold",
    "grounding.to_reject": "how many are not, by gold or, without gold, by what an edit does",
    "grounding.rule": "how scores become verdicts",
    "grounding.rule.deployed": "the rule as deployed: `argmax`, `sum` or `threshold=T`",
    "grounding.rule.chosen": "the threshold with the highest balanced accuracy on untouched claims",
    "grounding.rule.note": "why no threshold was chosen",
    "grounding.untouched": "claims as they are",
    "grounding.unanswered": "claims without a prediction, edited and not",
    "grounding.untouched.claims": "claims with gold; those without a prediction count as wrong in all numbers below",
    "grounding.untouched.coverage": "share of them that have a prediction",
    "grounding.untouched.supported": "how many of them are supported",
    "grounding.untouched.balanced_accuracy": "mean of the accuracies on supported and on other claims",
    "grounding.untouched.balanced_accuracy_chosen": "the same with the chosen threshold, cross-fitted over documents",
    "grounding.untouched.auc": "probability that a supported claim has a higher score than another",
    "grounding.untouched.recall": "share of supported claims called supported",
    "grounding.untouched.false_support": "share of other claims called supported or without a prediction",
    "grounding.untouched.false_support_chosen": "the same with the chosen threshold",
    "grounding.untouched.accuracy": "share of right verdicts",
    "grounding.untouched.commonest": "accuracy of one verdict for all claims, that which is right for most",
    "grounding.where_answered": "the same numbers over claims that have a prediction; null if all have",
    "grounding.risks": "risk against coverage on untouched claims",
    "grounding.risks[].coverage": "share of claims whose predictions are kept, the most confident first",
    "grounding.risks[].confidence": "lowest confidence among them",
    "grounding.risks[].risk": "share of these predictions that are wrong",
    "grounding.repeats": "share of texts with two different verdicts, of those evaluated twice; null if none differs",
    "grounding.reading": "after how many words the model appears to stop reading; null if that is not shown",
    "grounding.reading.words": "the number of words",
    "grounding.reading.longest": "where the last evidence of all claims ends",
    "grounding.reading.before": "share of supported claims called supported if their evidence ends before that point",
    "grounding.reading.beyond": "the same if it begins after it",
    "grounding.reading.p": "p of a permutation test that the place of the evidence matters",
    "grounding.reading.suites": "the suites it was measured on",
    "grounding.precision": "what verdicts are worth in a service; null without a base rate",
    "grounding.precision.base_rate": "share of claims that are not supported there",
    "grounding.precision.supported": "share of claims called supported that are",
    "grounding.precision.unsupported": "share of claims called unsupported that are not supported",
    "grounding.edits": "what becomes of verdicts when claims or documents are edited",
    "grounding.edits[].edit": "name of the edit",
    "grounding.edits[].suite": "suite that makes it",
    "grounding.edits[].gold": "what the edit does to gold",
    "grounding.edits[].kind": "kind of the edit; empty for all together",
    "grounding.edits[].pairs": "originals and their edited claims that were both answered",
    "grounding.edits[].documents": "documents they come from",
    "grounding.edits[].wrong": "if gold changes, share of edited claims called supported or without a prediction; "
    "if it stays, share of verdicts that change",
    "grounding.edits[].wrong_chosen": "the same with the chosen threshold",
    "grounding.edits[].accepted": "share of edited claims with a prediction that are called supported",
    "grounding.edits[].still_supported": "share of originals called supported whose edited claim is as well, or has "
    "no prediction",
    "grounding.edits[].became_wrong": "share of pairs that are right before the edit and wrong after it",
    "grounding.edits[].became_right": "share of pairs that are wrong before the edit and right after it",
    "grounding.edits[].net": "`became_wrong` minus `became_right`",
    "grounding.edits[].net_p": "p of that difference if the edit did nothing",
    "grounding.edits[].higher": "share of pairs whose original scores higher than the edited claim; ties count half",
    "grounding.edits[].shift": "mean change of the score",
    "grounding.edits[].lost": "share of pairs called supported before the edit and not after",
    "grounding.edits[].gained": "share of pairs called supported after the edit and not before",
    "grounding.edits[].wrong_truncated": "`wrong` among pairs that were cut to fit the model",
    "grounding.edits[].wrong_whole": "`wrong` among the others",
    "grounding.length_controls": "unsupported claims lengthened as much as those of an edit, with nothing unsupported "
    "added",
    "grounding.length_controls[].edit": "the edit they are compared with",
    "grounding.length_controls[].suite": "suite that lengthens them",
    "grounding.length_controls[].claims": "how many there are",
    "grounding.length_controls[].unanswered": "how many of them have no prediction",
    "grounding.length_controls[].wrong": "share called supported or without a prediction",
    "grounding.length_controls[].accepted": "share of those with a prediction called supported",
    "grounding.curves": "verdicts by length of the document or place of the evidence",
    "grounding.curves[].curve": "what varies",
    "grounding.curves[].name": "its value",
    "grounding.curves[].words": "mean number of words of the documents",
    "grounding.curves[].claims": "claims that were answered",
    "grounding.curves[].recall": "share of supported claims called supported",
    "grounding.curves[].false_support": "share of other claims called supported",
    "grounding.curves[].changed": "share of verdicts that differ from those on the same claims untouched",
    "grounding.kinds": "verdicts by kind of claim, in suites about knowledge and conflicting passages",
    "grounding.kinds[].suite": "the suite",
    "grounding.kinds[].kind": "the kind of claim",
    "grounding.kinds[].claims": "claims that were answered",
    "grounding.kinds[].supported": "share called supported",
    "grounding.kinds[].right": "share of verdicts that follow gold",
    "grounding.knowledge": "whether verdicts follow the document or the world; null where it was not asked",
    "grounding.knowledge.suite": "the suite it was measured on",
    "grounding.knowledge.against": "share of verdicts that follow the world where the document says otherwise",
    "grounding.knowledge.agreeing": "share of wrong verdicts where document and world agree",
    "grounding.knowledge.true_unsaid": "share called supported of claims that are true and not in the document",
    "grounding.knowledge.false_unsaid": "the same of false claims",
    "grounding.answers": "answers of several sentences, one of them unsupported; null where none were asked",
    "grounding.answers.answers": "how many there are",
    "grounding.answers.unsupported": "how many have an unsupported sentence",
    "grounding.answers.whole": "AUC of the score of the whole answer",
    "grounding.answers.lowest": "AUC of the lowest score of its sentences",
    "grounding.answers.whole_accuracy": "balanced accuracy of verdicts on whole answers",
    "grounding.answers.lowest_accuracy": "balanced accuracy of rejecting an answer if one of its sentences is rejected",
    "grounding.answers.located": "share of answers whose unsupported sentence has the lowest score",
    "grounding.answers.chance": "the same by chance",
    "suite.overall": "accuracy on the whole suite",
    "suite.metrics": "further numbers of the suite by name",
    "suite.by": "accuracy by factor and value, crossings too",
    "suite.vs_control": "changed against untouched pairs; null without a control",
    "suite.unanswered": "pairs without an answer, which count as wrong",
    "suite.collapse_differs": "verdicts that another `--collapse` would change; null where gold is one label",
    "suite.published": "numbers of papers for this suite",
    "suite.published[].system": "the model that the paper tested",
    "suite.published[].source": "paper and table",
    "suite.published[].condition": "how it was trained or asked, where that is not as usual",
    "suite.published[].by": "the slice it is about",
    "suite.published[].value": "the number",
    "suite.published[].correction": "why the value is not the printed one",
    "suite.strata": "columns within which groups are resampled",
    "suite.errors": "wrong answers by kind",
    "suite.errors.n": "how many there are; pairs without an answer are not among them",
    "suite.errors.control_n": "how many there are on the untouched pairs; null without a control",
    "suite.errors.kinds": "by kind: `false neutral`, `E-C` …",
    "suite.errors.note": "why kinds are missing, or are named by the answer alone",
    "suite.corpus": "what the suite was made from",
    "estimate.value": "null where it cannot be computed",
    "estimate.low": "lower end of the 95 % interval",
    "estimate.high": "upper end",
    "estimate.n": "rows",
    "estimate.groups": "independent groups of rows",
    "estimate.method": "how the interval was computed",
    "estimate.note": "why there is no value or interval, and other remarks",
    "finding.code": "see the [codes of findings](findings.md)",
    "finding.severity": "how grave it is",
    "finding.suite": "the suite it is about; empty where it is about all",
    "finding.text": "the finding in a sentence",
    "finding.evidence": "the numbers behind it",
    "finding.by": "the slice it is about",
    "finding.suites": "all suites that show it",
    "control": "accuracy, or the rate, on the untouched pairs",
    "suite.vs_control.difference": "accuracy on the changed pairs less that",
    "against_control.difference": "the rate on the changed pairs less that",
    "test": "name of the test of the difference",
    "p": "p before correction",
    "p_adjusted": "p corrected for its family",
    "error_kind.count": "errors of this kind",
    "error_kind.vs_control": "the same on untouched pairs, and differences; null without a control",
    "error_kind.vs_control.count": "errors of this kind on the untouched pairs",
    "error_kind.vs_control.share": "share among errors, compared",
    "error_kind.vs_control.rate": "rate among pairs, compared",
    "cue_effect.toward": "the label the cue pushes toward; null where the two halves of the items do not agree on one",
    "cue_effect.effect": "`with` less `without`",
    "cue_effect.with": "how often that label, not being gold, is answered with the cue",
    "cue_effect.without": "how often without it",
    "cue_effect.used": "whether the lower end of the effect exceeds 10 points",
    "interaction.cue": "the cue",
    "interaction.other": "the cue that its effect depends on",
    "interaction.with_other": "its effect where the other is there",
    "interaction.without_other": "its effect where the other is not",
    "interaction.difference": "the former less the latter",
    "truncated": "pairs that were cut to fit the model",
    "notes": "what a reader should know",
}
"""What keys of results.json mean, by path or else by name, where the schema itself does not say."""
LONGEST = 300
"""Characters that a text has in a table, at most."""

Table = Iterable[Iterable[str]]

SETTINGS = """Every option can also be set by a variable (`ACIDTEST_LIMIT=500`; `--help` names it) or in
`acidtest.toml`: for all commands at the top, for one command in its table. A flag goes before a variable, a variable
before the file.

```toml
seed = 7

[run]
limit = 500
```

acidtest reads the file that `ACIDTEST_CONFIG` names, or else `acidtest.toml` in the current folder. A file that you
did not name may only choose data and appearance. acidtest raises an error if such a file leads to Python code (a
`python:` model or suite, a Python file, also through a pattern or a plan) or to a server (`endpoint:`, a model on a
hub, PostgreSQL). It also raises one for the options in this table. To use them, write them on the command line or in
a variable, or name the file: `ACIDTEST_CONFIG=acidtest.toml`."""

COMPLETION = """`acidtest --install-completion` makes your shell (bash, zsh, fish or PowerShell) complete a line when
you press Tab; open a new shell afterwards. It completes commands and their options, names of suites (after a comma
too), and the beginnings of model specs. `acidtest --show-completion` prints the script and installs nothing."""

VARIABLES = {
    "ACIDTEST_CONFIG": "the settings file, instead of `acidtest.toml` in the current folder",
    "ACIDTEST_CACHE_FOLDER": "where answers of models are kept; default `~/.cache/acidtest`",
    "ACIDTEST_DATA": "where `acidtest sources fetch` puts resources, and where they are looked for",
    "ACIDTEST_WORDNET": "a folder with WordNet 3.0, for glosses",
    "ACIDTEST_PLUGINS": "Python files with suites, models or studies of your own, separated as in `PATH`",
    "NO_COLOR": "no colours on a terminal",
    "COLUMNS": "the width of tables where output is not a terminal; default 100",
}
"""Variables that are no option of a command."""

STATUSES = {
    "0": "good",
    "1": "ran, but a check failed (`check`, `gate`, `words --train`)",
    "2": "a mistake of the user's: the message says what was expected and what to do",
    "3": "a mistake of acidtest's: please report it",
    "4": "undecided (`gate`)",
    "130": "interrupted (Ctrl-C)",
}

AUDIT_CODES = {
    "A0": "there are no pairs",
    "A1": "no shortcut was found",
    "A2": "too few pairs to test anything",
    "P1": "the hypothesis alone tells labels",
    "P2": "the premise alone tells labels",
    "H1": "a heuristic of McCoy et al. (2019) is right nearly always",
    "W1": "words of the hypothesis are tied to a label",
    "W2": "two neighbouring words of the hypothesis are tied to a label",
    "W3": "words of the premise are tied to a label",
    "W4": "a word of the premise and one of the hypothesis are together tied to a label",
    "L1": "the length of the hypothesis tells labels",
    "L2": "the length of the premise tells labels",
    "O1": "the share of common words tells labels",
    "N1": "negation in the hypothesis tells labels",
    "N2": "negation in the premise tells labels",
    "B1": "labels are uneven",
    "B2": "all pairs have one label",
    "G1": "labels differ between genres",
    "D1": "equal pairs have different labels",
    "D2": "pairs are repeated",
    "D3": "premises are repeated",
    "D4": "pairs are nearly repeated",
    "K1": "pairs of a suite stand in the training set",
    "K2": "pairs of a suite nearly stand in it",
    "K3": "no pair of a suite stands in it",
}

CUE_RULES = """A **cue** is something in a pair that a model may answer by without reading it. Suite `cues` crosses gold
with nine of them, and `grounding/cues` with those of models that verify claims, so that each is there as often with
every gold and with every other cue. The **effect** of a cue is how much more often a label that is not gold is answered
with the cue than without, all else held fixed; the effect of gold is how much more often a label is answered where it
is gold. [The cue profile](../explanation/profile.md) says why.

Every cue is measured on every label, and on "no prediction" if that occurs. The largest effect is reported; it is
negative if the label is predicted more often without the cue. A model **relies on** a cue if the whole interval of that
effect is beyond {used:.0f} points, in either direction. All intervals hold together (95 %)."""

SEVERITY = """One rule of size and certainty serves all suites. *Sure* means within the 95 % interval and, where there
is a test, p adjusted for its family below 0.05.

| size | at least 10 points are sure | more than 0 points are sure | not sure |
|---|---|---|---|
| 20 points or more | severe | warning | info |
| 5 to 20 points | warning | warning | info |
| less | info | info | info |

Guessing is even among the labels: one third on a single gold label, two thirds where gold is non-entailment, one half
for two-way models. On untouched pairs it is what dealing out the model's answers at random gives, if that is more.

Of claims (suites `grounding/…`) what counts is balanced accuracy, the mean of the shares of supported claims called so
and of others not called so; guessing, and one verdict to all, get one half. V1 compares all claims of an edit with
other unsupported claims and needs 5 points more; claims with invented causes or unsupported details must also exceed
unsupported claims of the same length. V3 needs 5 points more verdicts that become wrong than right, or 5
points more changes than when the same text is evaluated twice. Both differences must be significant after
correction for the number of edits (Holm). V9 needs a significant effect of the place of the evidence (p below 0.01)
and a drop of at least 20 points. J1 and J2 need 5 points more changes than when the same prompt is sent twice. With
one
verdict to nearly all claims (A1), or near chance (K1 to K3), no finding is about edits.
[How findings are made](../explanation/grounding.md#how-findings-are-made)."""


ERRORS = """`acidtest errors` samples a run's errors and proposes a category of Naik et al. (2018), section 2; a person
decides. World knowledge is never proposed, because it leaves no trace on the surface. What no rule fits is unknown."""


def table(head: Iterable[str], rows: Table) -> list[str]:
    """A Markdown table and an empty line."""
    names = list(head)
    lines = [f"| {' | '.join(names)} |", "|" + "---|" * len(names)]
    return [*lines, *(f"| {' | '.join(map(cell, row))} |" for row in rows), ""]


def cell(text: str) -> str:
    """A text as the cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def short(text: str) -> str:
    """A text of a pair; of a very long one, its beginning and its end."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2].rstrip()} … {text[-LONGEST // 2 :].lstrip()}"


def paragraph(text: str | None) -> str:
    """A docstring as Markdown: one line a paragraph, code in single backquotes."""
    paragraphs = re.split(r"\n\s*\n", inspect.cleandoc(text or ""))
    return "\n\n".join(" ".join(part.split()) for part in paragraphs).replace("``", "`")


def page(title: str, *lines: str) -> str:
    """A whole page."""
    return "\n".join([NOTE, "", f"# {title}", "", *lines]).rstrip() + "\n"


def small_suite(name: str) -> Suite:
    """A suite of few rows, from which examples are drawn; the whole suite where few source pairs make none."""
    try:
        return api.generate(name, n=20, at_most=True)
    except NothingToMakeError:
        return api.generate(name)


def draw_examples(suite: Suite, most: int = EXAMPLES) -> list[dict[str, Any]]:
    """A few rows, drawn by the seed 0, from as many strata as possible."""
    card = suite.card
    spread = list(card.strata[:1] or (card.crossings or (("label",),))[0])
    rows = suite.frame.collect().to_dicts()
    rows.sort(key=lambda row: hashlib.sha256(f"0 {row['id']}".encode()).digest())
    seen: dict[tuple[Any, ...], int] = {}
    turns = []
    for row in rows:
        stratum = tuple(row[name] for name in spread)
        turns.append((seen.setdefault(stratum, 0), len(turns), row))
        seen[stratum] += 1
    chosen = [row for *_, row in sorted(turns, key=lambda turn: turn[:2])[:most]]
    shown = dict.fromkeys((*spread, "premise", "hypothesis", "label"))
    return [{name: row[name] for name in shown} for row in chosen]


def family(name: str) -> str:
    """The page of a suite: hans/novel stands on that of hans."""
    return name.partition("/")[0]


def slug(heading: str) -> str:
    """The anchor of a heading."""
    return re.sub(r"[^a-z0-9_ -]", "", heading.lower()).replace(" ", "-")


def suite_pages(generate: Callable[[str], Suite] = small_suite) -> dict[str, str]:
    """A page for each family of suites, and one that lists them all."""
    pages: dict[str, list[str]] = {}
    described: dict[tuple[str, ...], str] = {}
    overview = []
    for name, generator in api.suites().items():
        lines = pages.setdefault(family(name), [])
        lines += [f"## `{name}`", "", f"{generator.summary}.", ""]
        facts = [paragraph(generator.make.__doc__), "", *option_table(generator.options)]
        # Suites of one generator differ in their words alone: what is true of all stands once.
        first = described.setdefault((family(name), *facts), name)
        made_of = {"templates": "templates", "published": "the published file"}.get(generator.source)
        made_of = made_of or f"the {generator.source} of a corpus"
        lines += [f"{generator.rows:,} pairs from {made_of}. {generator.citation}", ""]
        lines += facts if first == name else [f"How it is made, and its options: as [`{first}`](#{slug(first)}).", ""]
        if generator.source != "published":
            examples = draw_examples(generate(name))
            names = ["gold" if column == "label" else column for column in examples[0]]
            lines += table(names, ([short(str(value)) for value in row.values()] for row in examples))
        anchor = f"{family(name)}.md#{slug(name)}"
        overview.append([f"[`{name}`]({anchor})", f"{generator.rows:,}", generator.source, generator.summary])
    standard = ", ".join(f"`{name}`" for name in STANDARD)
    intro = f"{len(overview)} suites. The standard battery, which `acidtest run` asks, is {standard}."
    index = page("Suites", intro, "", *table(("suite", "pairs", "made from", "what it tests"), overview))
    written = {f"suites/{name}.md": page(f"Suites: {name}", *lines) for name, lines in sorted(pages.items())}
    return {"suites/index.md": index, **written}


def option_table(options: Mapping[str, Option]) -> list[str]:
    """The options of a suite or a model; nothing where it has none."""
    rows = []
    for option in options.values():
        several = "names, separated by commas" if isinstance(option.default, tuple) else ""
        values = ", ".join(option.choices) or several or type(option.default).__name__
        rows.append([f"`{option.flag}`", values, option.shown or "–"])
    return table(("option", "values", "default"), rows) if rows else []


def commands_page() -> str:
    """Every command with its arguments and options, in the groups of ``acidtest --help``."""
    entries, lines = command_entries(), []
    leaves = leaf_commands(command())
    for group in GROUPS:
        lines += [f"## {group.capitalize()}", ""]
        for name, sub in leaves.items():
            if entries[name.split()[0]].group != group:
                continue
            lines += [f"### `acidtest {name}`", "", " ".join((sub.help or "").split()), ""]
            shown = [parameter for parameter in sub.params if parameter.name != "help"]
            rows = [(", ".join(f"`{opt}`" for opt in p.opts), getattr(p, "help", "") or "") for p in shown]
            lines += table(("argument or option", "what it does"), rows)
    intro = "Options of suites and models go onto the same line: [suites](suites/index.md), [models](models.md)."
    return page("Commands", intro, "", *lines)


def models_page() -> str:
    """Every kind of model with its options, and the baselines."""
    lines = ["`--model KIND:REST`, split at the first colon; several `--model` make several runs and one report.", ""]
    for kind in MODELS:
        make = MODELS[kind]
        parameters = list(inspect.signature(make).parameters.values())[1:]
        options = {p.name: Option(p.name, p.default, get_args(get_type_hints(make).get(p.name))) for p in parameters}
        lines += [f"## `{kind}`", "", paragraph(make.__doc__), "", *option_table(options)]
        if kind == "baseline":
            rules = sorted({**baseline.RULES, **baseline.SUPPORT}.items())
            lines += table(("spec", "rule"), ((f"`baseline:{name}`", paragraph(rule.__doc__)) for name, rule in rules))
    return page("Models", *lines)


def studies_page() -> str:
    """Every study: what it shows, its parameters, and what its result holds."""
    lines = ["A study computes a result from runs or data; its command prints it, with `--json` for programs.", ""]
    for name in STUDIES:
        study = STUDIES[name]
        lines += [f"## `{name}`", "", paragraph(study.compute.__doc__), ""]
        hints = get_type_hints(inspect.unwrap(study.compute), include_extras=True)
        rows = []
        for key, parameter in inspect.signature(study.compute).parameters.items():
            if callable(parameter.default) and parameter.default is not parameter.empty:
                continue
            notes = [note for note in getattr(hints.get(key), "__metadata__", ()) if isinstance(note, str)]
            default = "required" if parameter.default is parameter.empty else f"`{parameter.default!r}`"
            rows.append((f"`{key}`", " ".join(notes), default))
        lines += table(("parameter", "meaning", "default"), rows)
        schema = DATA / "schemas" / f"{name}.json"
        if schema.is_file():
            loaded = json.loads(schema.read_text(encoding="utf-8"))
            properties = loaded["$defs"][loaded["$ref"].rpartition("/")[2]]["properties"]
            lines += ["Keys of the result: " + ", ".join(f"`{key}`" for key in properties) + ".", ""]
    return page("Studies", *lines)


def architectures_page() -> str:
    """Every architecture that can be trained, with its options and the papers' presets, and the experiments."""
    lines = ["`acidtest train NAME --preset PAPER` takes a paper's settings; what you give besides wins.", ""]
    for name, architecture in api.architectures().items():
        lines += [f"## `{name}`", "", f"{architecture.summary}. {architecture.citation}.", ""]
        lines += option_table(api.architecture_options(name))
        presets = ((f"`{preset}`", settings_text(values)) for preset, values in architecture.presets.items())
        lines += table(("preset", "settings"), [("none", settings_text(architecture.defaults)), *presets])
    return page("Architectures", *lines)


def settings_text(values: Mapping[str, Any]) -> str:
    """Settings as they would stand on a command line."""
    return ", ".join(f"{key.replace('_', '-')} {value}" for key, value in values.items()) or "–"


def profile_page() -> str:
    """The cues of every suite that a profile is measured on, when each is there, and when it is used."""
    with (DATA / "profile" / "cues.tsv").open(encoding="utf-8", newline="") as file:
        cues = list(csv.DictReader(file, delimiter="\t"))
    lines = [CUE_RULES.format(used=100 * USED), ""]
    for suite in dict.fromkeys(cue["suite"] for cue in cues):
        shown = [cue for cue in cues if cue["suite"] == suite]
        rows = [(f"`{cue['cue']}`", cue["phrase"], cue["having"], cue["lacking"]) for cue in shown]
        lines += [f"## Suite `{suite}`", "", *table(("cue", "name", "it is there if", "compared with pairs"), rows)]
    return page("Rules of the profile", *lines)


def findings_page() -> str:
    """The codes of findings, of runs and of training sets, and exit statuses."""
    source = inspect.getsource(audit_findings)
    missing = set(re.findall(r'"([A-Z]\d)"', source)) ^ set(AUDIT_CODES)
    if missing:
        raise ValueError(f"docs/build.py: AUDIT_CODES and studies/audit/findings.py differ in {sorted(missing)}")
    codes = [(f"`{code}`", text) for code, text in FINDING_CODES.items()]
    audit = [(f"`{code}`", text) for code, text in AUDIT_CODES.items()]
    lines = ["A finding has a code, which is the same on the screen, on the page and in `results.json`.", ""]
    lines += ["## Of a run", "", *table(("code", "what it says"), codes), "## Severity", "", SEVERITY, ""]
    lines += ["## Of a training set", "", "Codes of `acidtest audit`.", "", *table(("code", "what it says"), audit)]
    lines += ["## Categories of errors", "", ERRORS, "", *table(("category", "what it means"), CATEGORIES.items())]
    proposals = ((str(number), rule.category, rule.when) for number, rule in enumerate(RULES, 1))
    lines += ["The first rule that fits, in this order:", "", *table(("rule", "proposed", "when"), proposals)]
    lines += ["## Exit status", "", *table(("status", "meaning"), ((f"`{s}`", text) for s, text in STATUSES.items()))]
    return page("Findings and exit statuses", *lines)


def settings_page() -> str:
    """The settings file, the variables, completion, the parts of a signature, the methods."""
    variables = table(("variable", "meaning"), ((f"`{name}`", text) for name, text in VARIABLES.items()))
    signature = table(("part", "meaning"), ((f"`{name}:`", text) for name, text in SIGNATURE_PARTS.items()))
    methods = table(("in the name of a method", "meaning"), METHODS.items())
    actions = dict.fromkeys(REQUESTED_OPTIONS.values())
    named = {text: [name.rstrip("_") for name, what in REQUESTED_OPTIONS.items() if what == text] for text in actions}
    requested = table(
        ("option", "what it does"), ((", ".join(map("`{}`".format, named[text])), text) for text in named)
    )
    lines = [SETTINGS, "", *requested, "## Variables", "", *variables, "## Shell completion", "", COMPLETION, ""]
    lines += ["## Parts of a signature", "", *signature]
    return page("Settings, signatures, methods", *lines, "## Methods", "", *methods)


def layouts_page() -> str:
    """The layouts of NLI files that are recognised, as the package's table has them."""
    with (DATA / "layouts.tsv").open(encoding="utf-8", newline="") as file:
        layouts = list(csv.DictReader(file, delimiter="\t"))
    rows = []
    for layout in layouts:
        columns = ", ".join(f"`{layout[role]}`" for role in ("premise", "hypothesis", "label") if layout[role])
        rows.append((layout["name"], columns, layout["labels"] or "names", layout["why"] or layout["note"]))
    intro = "Tried from top to bottom; columns in any order, in upper or lower case. [Files](files.md) says the rest."
    return page("Layouts of NLI files", intro, "", *table(("layout", "columns", "labels", "note"), rows))


def schema_rows(schema: Mapping[str, Any], path: str = "", section: str = "") -> Iterator[list[str]]:
    """A row for every key of a JSON Schema, in ``section`` of it: its path, type and meaning."""
    properties = schema.get("properties", {})
    for key in dict.fromkeys((*properties, *schema.get("required", ()))):
        value = properties.get(key, {})
        meaning = value.get("description") or MEANINGS.get(f"{section}{path}{key}") or MEANINGS.get(key)
        if not meaning:
            raise ValueError(f"docs/build.py: MEANINGS lacks {section}{path}{key} of results.json")
        yield [f"`{path}{key}`", schema_type(value), meaning]
        parts = (value, value.get("items", {}), *value.get("oneOf", ()))
        inner = next((part for part in parts if "properties" in part), {})
        if path.count(".") < 2 and inner:
            yield from schema_rows(inner, f"{path}{key}{'[]' if 'items' in value else ''}.", section)


def schema_type(schema: Mapping[str, Any]) -> str:
    """The type of a value, in a word or two."""
    if "$ref" in schema:
        return f"[{(name := schema['$ref'].rpartition('/')[2])}](#{name})"
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " or ".join("null" if value is None else str(value) for value in schema["enum"])
    for key in ("oneOf", "anyOf"):
        if key in schema and "type" not in schema:
            return " or ".join(schema_type(part) for part in schema[key])
    kinds = schema.get("type", "any")
    text = kinds if isinstance(kinds, str) else " or ".join(kinds)
    inner = schema.get("additionalProperties") or schema.get("items")
    return f"{text} of {schema_type(inner)}" if isinstance(inner, dict) else text


def results_page() -> str:
    """Every key of results.json, from its JSON Schema."""
    schema = json.loads((DATA / "results.schema.json").read_text(encoding="utf-8"))
    head = ("key", "type", "meaning")
    lines = ["`acidtest/data/results.schema.json` is the JSON Schema from which this page is made.", ""]
    lines += table(head, schema_rows(schema))
    for name, part in schema["$defs"].items():
        rows = list(schema_rows(part, section=f"{name}."))
        lines += [f"## {name}", "", *(table(head, rows) if rows else [schema_type(part), ""])]
    return page("Keys of results.json", *lines)


def python_page() -> str:
    """The public names, with signatures and docstrings."""
    lines = ["The verbs of the command line, as functions; a mistake raises `AcidtestError` with the same text.", ""]
    for name in acidtest.__all__:
        if name.startswith("_"):
            continue
        thing = getattr(acidtest, name)
        lines += [f"## `{name}`", ""]
        if not inspect.isclass(thing):
            lines += ["```python", *signature_lines(name, thing), "```", ""]
        lines += [paragraph(thing.__doc__), ""]
        if inspect.isclass(thing):
            members = ((key, value) for key, value in vars(thing).items() if not key.startswith("_"))
            rows = [(f"`{key}`", member_text(value)) for key, value in members if member_text(value)]
            lines += table(("member", "meaning"), rows) if rows else []
    return page("Python", *lines)


def member_text(member: Any) -> str:
    """The docstring of a method or property."""
    function = getattr(member, "fget", None) or getattr(member, "__func__", None) or member
    return paragraph(function.__doc__) if inspect.isfunction(function) else ""


def signature_lines(name: str, function: Callable[..., Any]) -> list[str]:
    """The signature of a function, a parameter a line."""
    signature = inspect.signature(function)
    lines, keywords = [f"{name}("], False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not keywords:
            lines.append("    *,")
            keywords = True
        lines.append(f"    {parameter},".replace("'", ""))
    return [*lines, f") -> {inspect.formatannotation(signature.return_annotation)}".replace("'", "")]


PAGES: Mapping[str, Callable[[], str]] = {
    "commands.md": commands_page,
    "models.md": models_page,
    "studies.md": studies_page,
    "architectures.md": architectures_page,
    "profile.md": profile_page,
    "findings.md": findings_page,
    "settings.md": settings_page,
    "layouts.md": layouts_page,
    "results.md": results_page,
    "python.md": python_page,
}
"""Pages that take no time to write; those of suites are made from the suites."""


def write_pages() -> None:
    """Write every page of the reference that comes from the code."""
    texts = {name: write() for name, write in PAGES.items()} | suite_pages()
    for name, text in texts.items():
        path = FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write_pages()
