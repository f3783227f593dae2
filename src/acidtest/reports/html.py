"""The report as one self-contained HTML page for one or several runs; opens from disk, without a network."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any

from acidtest.reports import numerals

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


def sentence(text: str) -> str:
    """The text with a capital letter and a full stop."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def breakable(text: str) -> Markup:
    """The text, escaped, with leave to break a line after ``_``, ``/`` and ``:``."""
    from markupsafe import Markup, escape

    return Markup("<wbr>").join(escape(part) for part in re.split(r"(?<=[_/:])", text))


def explained(methods: Iterable[str]) -> dict[str, str]:
    """Every method and test, each once, with what it means."""
    # The degrees of freedom differ from slice to slice; the method does not.
    names = dict.fromkeys(re.sub(r"(?<=\bt)\([\d.]+\)|[\d.]+ (?=degrees)", "", name) for name in methods if name)
    return {name: next((text for word, text in METHODS.items() if word in name.lower()), "") for name in names}


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
    words = (sentence, breakable)
    environment.filters |= {function.__name__: function for function in (*numbers, *words)}
    return environment


def _asset(name: str) -> str:
    return resources.files("acidtest.reports").joinpath("templates", name).read_text(encoding="utf-8")
