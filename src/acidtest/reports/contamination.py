"""Whether a model knows a published suite by heart, as an analysis found it: the parts a page or a terminal shows.

The analysis asks a model four suites, published or fresh words in published or novel templates, and hands over a
mapping of plain JSON; nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from acidtest.core.estimate import Estimate

WORDS = ("published", "fresh")
TEMPLATES = ("published", "novel")

Finding = Mapping[str, Any]
"""``model``, ``reference``, ``cells``, ``contrasts``, ``verdict``, ``can``, ``cannot``."""


def slices(found: Finding) -> list[str]:
    """The slices that any cell reports, such as all pairs and non-entailment."""
    return list(dict.fromkeys(name for cell in found["cells"] for name in cell["slices"]))


def cell(found: Finding, words: str, templates: str) -> Mapping[str, Any] | None:
    """The suite with these words and templates, None when it was not asked."""
    matching = (c for c in found["cells"] if (c["words"], c["templates"]) == (words, templates))
    return next(matching, None)


def cell_estimate(found: Finding, words: str, templates: str, name: str) -> Estimate | None:
    """What the model got on a slice of one of the four suites."""
    own = cell(found, words, templates)
    fields = own["slices"].get(name) if own else None
    return None if fields is None else Estimate.from_json(dict(fields))


def has_reference(found: Finding) -> bool:
    """Whether another model's differences stand beside this one's."""
    return any(contrast["reference"] is not None for contrast in found["contrasts"])


def questions(found: Finding) -> dict[str, str]:
    """What each contrast asks, by its name."""
    return {contrast["name"]: contrast["question"] for contrast in found["contrasts"]}


def notes(found: Finding) -> list[str]:
    """What to know about the differences, each note once with the contrasts it belongs to."""
    told: dict[str, list[str]] = {}
    for contrast in found["contrasts"]:
        note = (contrast["excess"] or contrast["difference"])["note"]
        if note:
            told.setdefault(note, []).append(f"{contrast['name']}, {contrast['slice']}")
    return [f"{'; '.join(where)}: {note}" for note, where in told.items()]
