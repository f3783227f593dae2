"""Suite ``taxonomy/templates``: categories that corpora have few pairs of, each hypothesis with premises of every gold.

A template is a hypothesis and three premises with slots: one entails it, one leaves it open, one contradicts it. All
three get the same words, so that every hypothesis occurs as often with each gold and tells nothing of it by itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from acidtest.core.draws import Draws
from acidtest.core.errors import AcidtestError
from acidtest.core.suite import CATEGORY, Card, Kind, Suite, complete_columns
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.corpus import advise_fewer
from acidtest.suites.taxonomy import CITATION

if TYPE_CHECKING:
    from acidtest.suites.custom.slots import ListedWord, SlottedSentence

_CITATION = f"acidtest; categories after {CITATION}"
_NAME = "taxonomy/templates"
_GOLD = ("entailment", "neutral", "contradiction")
_PER_TEMPLATE = 20
_TEMPLATES = 160
_COLUMNS: dict[str, Kind] = {CATEGORY: "factor", "template": "factor", "filling": "text"}
_NOTE = (
    "Every hypothesis occurs as often with each gold. The templates are the groups of the intervals: these say how "
    "far other templates of a category would give other numbers."
)


@generator(
    _NAME,
    summary="Eight categories of reasoning that corpora have few pairs of, twenty templates each; accuracy by category",
    rows=_TEMPLATES * len(_GOLD) * _PER_TEMPLATE,
    source="templates",
    citation=_CITATION,
    licence="Apache-2.0",
)
def templates(request: Request) -> Suite:
    """Spatial, temporal, causal, conditional, quantifier, comparative, coreference and boolean pairs from templates.

    There are ``n`` pairs for each template and gold. The pairs of one template are a group.
    """
    from acidtest.io.wordlists import packaged_table

    table = packaged_table("taxonomy/templates.tsv")
    rows = _PER_TEMPLATE if request.n is None else request.n
    words = word_lists()
    parts = [_fill(template, words, rows, request.seed) for template in table.iter_rows(named=True)]
    if not request.at_most:
        _require_rows(parts, rows)
    frame = complete_columns(pl.concat(parts), _NAME)
    card = Card(
        _NAME,
        version=1,
        seed=request.seed,
        licence="Apache-2.0",
        citation=_CITATION,
        note=_NOTE,
        columns=_COLUMNS,
        strata=(CATEGORY,),
        crossings=((CATEGORY, "label"),),
        sample_by="filling",
    )
    return Suite(frame.lazy(), card)


def word_lists() -> dict[str, list[ListedWord]]:
    """The words of every list; a row that names several lists, as ``woman|person``, is a word of each."""
    from acidtest.io.wordlists import packaged_table
    from acidtest.suites.custom.slots import ListedWord

    lists = dict[str, list[ListedWord]]()
    for row in packaged_table("taxonomy/words.tsv").iter_rows(named=True):
        names, text = row.pop("list"), row.pop("word")
        word = ListedWord(text, {form: given for form, given in row.items() if given})
        for name in names.split("|"):
            lists.setdefault(name, []).append(word)
    return lists


def _fill(template: Mapping[str, str], words: Mapping[str, Sequence[ListedWord]], rows: int, seed: int) -> pl.DataFrame:
    """The pairs of a template, filling by filling: ``rows`` of each gold, or as many as its words give."""
    from acidtest.suites.custom.fillings import fill_sentences
    from acidtest.suites.custom.slots import SlottedSentence

    sentences = {name: SlottedSentence.parse(template[name]) for name in ("hypothesis", *_GOLD)}
    drawn = {draw: words[re.sub(r"\d+$", "", draw)] for draw in _slots(sentences)}
    draws = Draws(seed, f"{_NAME}\n{template['template']}")
    pairs = [("hypothesis", gold) for gold in _GOLD]
    filled = fill_sentences(sentences, drawn, rows, draws, different=pairs).with_row_index("filling")
    asked = filled.unpivot(_GOLD, index=["filling", "hypothesis"], variable_name="label", value_name="premise")
    certainty = pl.when(pl.col("label") == "contradiction").then(pl.lit(template["contradiction_rests_on"]))
    return asked.sort("filling", maintain_order=True).with_columns(
        pl.col("filling").cast(pl.String),
        group=pl.lit(template["template"]),
        certainty=certainty.otherwise(pl.lit("logical")),
        category=pl.lit(template["category"]),
        template=pl.lit(template["template"]),
    )


def _slots(sentences: Mapping[str, SlottedSentence]) -> list[str]:
    """The names of all slots of some sentences, once each."""
    return list(dict.fromkeys(slot.draw for sentence in sentences.values() for slot in sentence.slots))


def _require_rows(parts: Sequence[pl.DataFrame], rows: int) -> None:
    """Raise when a template has fewer pairs of a gold than were requested, naming the one with the fewest."""
    fewest = min(parts, key=len)
    size = fewest.height // len(_GOLD)
    if size < rows:
        raise AcidtestError(
            f"suite {_NAME!r}: {rows:,} pairs of each template and gold were asked for, but the words of "
            f"{fewest['template'][0]!r} give only {size:,}; {advise_fewer(size)}"
        )
