"""The report as one self-contained HTML page for one or several runs; opens from disk, without a network."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

from acidtest.core.estimate import Estimate
from acidtest.core.suite import CROSS
from acidtest.report.examples import examples
from acidtest.reports import contamination as contaminated
from acidtest.reports import differences, error_tables, numerals
from acidtest.reports.lexical_page import lexical_page
from acidtest.reports.sections import Entry as Entry
from acidtest.reports.sections import estimate, examples_link, named, readable, runs_of, sections
from acidtest.reports.stress_page import stress_page
from acidtest.studies.comparison import Contrast
from acidtest.studies.error_kinds import MEASURES

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

"""What marks a page as ours, near its top."""

SCRIPTS = ("page.js", "trees.js", "examples.js")

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
    "permutation within strata": "A permutation test of paired rows in strata: the share of random swaps of the two "
    "sides that give at least this difference, each measured by its spread within strata as the interval is.",
    "permutation": "A permutation test: the share of random swaps of the two sides that give at least this "
    "difference, counting the one observed, so that it is never 0.",
}
"""What a ``method`` or ``test`` field means, by the first of these words it contains."""


def page(
    entries: Sequence[Entry],
    *,
    contrasts: Sequence[Contrast] = (),
    not_compared: str = "",
    contamination: Sequence[Mapping[str, Any]] = (),
) -> str:
    """The page for one or several runs, models side by side.

    ``contrasts`` are the tests between the models, ``not_compared`` says why there are none; ``contamination`` holds
    what an analysis of published against fresh suites found, a mapping for each model.
    """
    models = named(entries)
    runs = runs_of(models)
    return rendered(
        "report.html",
        models=models,
        overview=overview(models),
        sections=sections(models),
        contrasts=contrasts,
        families=differences.families([one for one in contrasts if not one.factor or _crossed(one)], runs),
        not_compared=not_compared,
        contamination=contamination,
        stress=stress_page(models),
        lexical=lexical_page(models),
        methods=explained([*_methods(entries), *contrast_methods(contrasts)]),
        examples=examples(runs),
    )


def rendered(template: str, *, scripts: Sequence[str] = SCRIPTS, **context: Any) -> str:
    """A template filled in, with our style and scripts."""
    from markupsafe import Markup

    script = '"use strict";\n(() => {\n' + "\n".join(map(_asset, scripts)) + "})();\n"
    return (
        _environment()
        .get_template(template)
        .render(
            script=Markup(script),
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
            style=Markup(_asset("report.css")),
            **context,
        )
    )


@dataclass(frozen=True)
class Overview:
    """Every model on every suite; rows are the one of the two that there are more of."""

    columns: tuple[str, ...]
    rows: Mapping[str, tuple[Estimate | None, ...]]


def overview(models: Mapping[str, Entry]) -> Overview | None:
    """The accuracies of all models on all suites; None where there is one of each."""
    parts = {model: entry.results["suites"] for model, entry in models.items()}
    suites = list(dict.fromkeys(suite for part in parts.values() for suite in part))
    if len(suites) * len(models) < 2:
        return None
    cells = {
        (model, suite): estimate(part[suite]["overall"]) if suite in part else None
        for model, part in parts.items()
        for suite in suites
    }
    if len(suites) > len(models):
        return Overview(tuple(models), {suite: tuple(cells[model, suite] for model in models) for suite in suites})
    return Overview(tuple(suites), {model: tuple(cells[model, suite] for suite in suites) for model in models})


def sentence(text: str) -> str:
    """The text with a capital letter and a full stop."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def breakable(text: str) -> Markup:
    """The text, escaped, with leave to break a line after ``_``, ``/`` and ``:``."""
    from markupsafe import Markup, escape

    return Markup("<wbr>").join(escape(part) for part in re.split(r"(?<=[_/:])", text))


def verdict(diagnosis: Sequence[Mapping[str, Any]]) -> str:
    """The diagnosis in one line."""
    counts = Counter(finding["severity"] for finding in diagnosis)
    severe = numerals.counted(counts["severe"], "severe finding")
    warnings = numerals.counted(counts["warning"], "warning")
    if counts["severe"]:
        return f"Grounds for distrust: {severe}{f' and {warnings}' if counts['warning'] else ''}."
    if counts["warning"]:
        return f"Some doubt: {warnings}, nothing severe."
    return "These suites found no shortcut." if diagnosis else "No rule had anything to say: read the numbers."


def error_counts(results: Mapping[str, Mapping[str, Any]]) -> str:
    """How many errors each model makes on a suite, in the models' order."""
    counts = [result.get("errors", {}).get("n", 0) for result in results.values()]
    return numerals.counted(counts[0], "error") if len(counts) == 1 else f"{', '.join(f'{n:,}' for n in counts)} errors"


def explained(methods: Iterable[str]) -> dict[str, str]:
    """Every method and test, each once, with what it means."""
    # The degrees of freedom differ from slice to slice; the method does not.
    names = dict.fromkeys(re.sub(r"(?<=\bt)\([\d.]+\)|[\d.]+ (?=degrees)", "", name) for name in methods if name)
    return {name: next((text for word, text in METHODS.items() if word in name.lower()), "") for name in names}


def contrast_methods(contrasts: Iterable[Contrast]) -> list[str]:
    """The methods and tests of contrasts."""
    return [name for contrast in contrasts for name in (contrast.difference.method, contrast.test)]


def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("acidtest.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    numbers = (
        numerals.percent,
        numerals.interval,
        numerals.share,
        numerals.published,
        numerals.signed,
        numerals.signed_interval,
        numerals.points,
        numerals.p_value,
        numerals.counted,
    )
    words = (estimate, verdict, sentence, breakable, readable, error_counts)
    environment.filters |= {function.__name__: function for function in (*numbers, *words)}
    environment.globals |= {"examples_of": examples_link, "differences": differences, "contaminated": contaminated}
    environment.globals |= {"errors": error_tables}
    return environment


def _asset(name: str) -> str:
    return resources.files("acidtest.reports").joinpath("templates", name).read_text(encoding="utf-8")


def _crossed(contrast: Contrast) -> bool:
    return CROSS in contrast.factor


def _methods(entries: Sequence[Entry]) -> list[str]:
    """Every method and test named in the results."""
    named: list[str] = []
    for entry in entries:
        for suite in entry.results["suites"].values():
            parts = [suite["overall"], *suite["metrics"].values()]
            parts += [part for values in suite["by"].values() for part in values.values()]
            control = suite["vs_control"]
            named += [part["method"] for part in parts]
            named += [control["difference"]["method"], control["test"]] if control else []
            for kind in suite.get("errors", {}).get("kinds", {}).values():
                named += [kind["share"]["method"], kind["rate"]["method"]]
                for test in (kind["vs_control"][measure] for measure in MEASURES if kind["vs_control"]):
                    named += [test["difference"]["method"], test["test"]]
    return named
