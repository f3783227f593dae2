"""Suite ``stress/spelling``: the hypothesis with a misspelt word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import Draws
from acidtest.core.errors import AcidtestError
from acidtest.core.logs import log
from acidtest.core.suite import Argument, Kind, Suite, streamed
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.corpus import corpus, derived
from acidtest.suites.stress.distraction import CITATION
from acidtest.text.leaves import leaves
from acidtest.text.letters import Words, words
from acidtest.text.misspelling import Edit, Misspelt, function_words, misspelt
from acidtest.text.tagging import tagged
from acidtest.text.tagging import tagger as tagger_called

NAME = "stress/spelling"
VERSION = 1

Target = Literal["any", "content", "function"]

_COLUMNS: dict[str, Kind] = {"edit": "factor", "target": "factor", "word": "text", "misspelling": "text"}
_TREES = ("hypothesis_parse", "hypothesis_binary_parse")
_BLOCK = 7_000
"""Pairs worked on at a time; no row depends on it.

With fewer, calls cost more than work; with more, malloc gives its memory back after a block and has to get it again.
"""

# Naik et al. (2018), table 8.
_PUBLISHED: tuple[tuple[Edit, Target], ...] = (
    ("adjacent", "any"),
    ("keyboard", "any"),
    ("adjacent", "content"),
    ("adjacent", "function"),
)
_CONTENT_TAGS = ("NN", "NNS", "NNP", "NNPS", "JJ", "JJR", "JJS")
_FUNCTION_TAGS = ("CC", "PRP", "PRP$", "WP", "WP$")
_AMONG_OTHERS = {"DT": "article", "IN": "subordinator", "NN": "indefinite"}
"""Tags that some function words share with other words. Treebanks tag "everyone" as a noun; it is a pronoun."""


@dataclass(frozen=True)
class Variant:
    """What is done to every hypothesis."""

    edit: Edit
    target: Target
    edits: int
    nonwords: bool

    @property
    def name(self) -> str:
        """What tells it from others in the ids of its rows."""
        return f"{self.edit}-{self.target}-{self.edits}" + ("-nonword" * self.nonwords)

    def applied(self, found: Words, ids: pl.Series, draws: Draws) -> Misspelt:
        """The hypotheses that have enough words of the kind, misspelt."""
        return misspelt(
            found,
            self.edit,
            rows=digests(ids),
            draws=draws,
            slot=self.target,
            edits=self.edits,
            nonwords=self.nonwords,
        )


@dataclass(frozen=True)
class Misspeller:
    """What makes the rows of every variant from pairs."""

    variants: tuple[Variant, ...]
    draws: Draws
    tagger: str

    def applied(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """The pairs with a misspelt hypothesis, in every way there are words for; those of one pair stand together."""
        found = self._words(pairs["hypothesis"])
        trees = {name: leaves(pairs[name], found["any"].texts) for name in _TREES if name in pairs.columns}
        parts = []
        for number, variant in enumerate(self.variants):
            made = variant.applied(found[variant.target], pairs["id"], self.draws)
            parts.append(
                pairs[made.rows].with_columns(
                    made.texts.alias("hypothesis"),
                    *(tree.rewritten(made.data, made.rows).alias(name) for name, tree in trees.items()),
                    made.words.alias("word"),
                    made.misspellings.alias("misspelling"),
                    pl.Series("order", made.rows * len(self.variants) + number),
                    edit=pl.lit(variant.edit),
                    target=pl.lit(variant.target),
                    variant=pl.lit(variant.name),
                )
            )
        return pl.concat(parts).sort("order").drop("order")

    def _words(self, texts: pl.Series) -> dict[Target, Words]:
        """The words of texts by target; without tags, where every word is one."""
        found: dict[Target, Words] = {"any": words(texts)}
        if _targets(self.variants) != {"any"}:
            tags = tagged(texts, self.tagger)
            chosen: dict[Target, pl.Expr] = {"content": _is_content(), "function": _is_function()}
            for target, expression in chosen.items():
                spans = tags.filter(expression)
                found[target] = found["any"].within(spans["text"], spans["start"], spans["end"])
        return found


class Tally:
    """How many pairs each variant had to leave out, told once, when all pairs have been seen."""

    def __init__(self, variants: Sequence[Variant], pairs: int) -> None:
        self._pairs = self._left = pairs
        self._made = dict.fromkeys((variant.name for variant in variants), 0)

    def add(self, pairs: int, made: pl.Series) -> None:
        """Count some pairs and the variants made of them."""
        if self._left <= 0:
            return
        self._left -= pairs
        for variant, number in made.value_counts().iter_rows():
            self._made[variant] += number
        if self._left <= 0:
            for variant, number in self._made.items():
                if number < self._pairs:
                    log.info("%s: %s pairs lack the words for %s", NAME, f"{self._pairs - number:,}", variant)


@generator(
    NAME,
    summary="A word of the hypothesis misspelt: two letters swapped, or one replaced by the key beside it",
    rows=3199,
    source="pairs",
    citation=CITATION,
    licence="Apache-2.0",
    row_local=True,
)
def spelling(
    request: Request,
    *,
    edit: Literal["published", "adjacent", "keyboard"] = "published",
    target: Target = "any",
    edits: int = 1,
    nonwords: bool = False,
    tagger: str = "auto",
) -> Suite:
    """The hypothesis with one misspelt word, in the four ways of Naik et al. (2018), table 8, or in one of your own.

    Content words are nouns and adjectives, function words conjunctions, pronouns and articles; the rest is neither.
    ``edits`` words are misspelt once each; a hypothesis with fewer that can be is left out. ``nonwords``: no
    misspelling is itself an English word, as *form* is of *from*; the paper's script did not see to that.
    """
    if edits < 1:
        raise AcidtestError(f"--edits is a number of words from 1 on, not {edits}")
    if edit == "published" and target != "any":
        raise AcidtestError(f"--target {target} needs --edit adjacent or keyboard; published has targets of its own")
    kinds = _PUBLISHED if edit == "published" else ((edit, target),)
    variants = tuple(Variant(*kind, edits, nonwords) for kind in kinds)
    arguments: dict[str, Argument] = {"edit": edit, "edits": edits}
    arguments |= {} if edit == "published" else {"target": target}
    arguments |= {"nonwords": True} if nonwords else {}
    arguments |= {} if _targets(variants) == {"any"} else {"tagger": tagger_called(tagger).name}
    pairs = corpus(request, columns=_COLUMNS)
    return derived(
        NAME,
        pairs,
        _changed(pairs, Misspeller(variants, Draws(request.seed, NAME), tagger), request),
        version=VERSION,
        request=request,
        citation=CITATION,
        arguments=arguments,
        columns=_COLUMNS,
        crossings=(("edit", "target"),),
    )


def _changed(pairs: Suite, misspeller: Misspeller, request: Request) -> pl.LazyFrame:
    """Every pair once for each variant, where there are the words for it; made block by block."""
    tally = Tally(misspeller.variants, min(request.n or pairs.card.rows, pairs.card.rows))
    have = pairs.frame.collect_schema()

    def blocks(wanted: Sequence[str]) -> Iterator[pl.DataFrame]:
        needed = [name for name in have if name in {*wanted, "id", "hypothesis"}]
        for block in pairs.frame.select(needed).collect_batches(chunk_size=_BLOCK, maintain_order=True):
            made = misspeller.applied(block)
            tally.add(block.height, made["variant"])
            yield made.select(wanted)

    return streamed(blocks, dict(have) | dict.fromkeys((*_COLUMNS, "variant"), pl.String))


def _targets(variants: Sequence[Variant]) -> set[Target]:
    return {variant.target for variant in variants}


def _is_function() -> pl.Expr:
    among_others = [(pl.col("tag") == tag) & _is_of(kind) for tag, kind in _AMONG_OTHERS.items()]
    return pl.any_horizontal(pl.col("tag").is_in(_FUNCTION_TAGS), *among_others)


def _is_content() -> pl.Expr:
    return pl.col("tag").is_in(_CONTENT_TAGS) & ~_is_function()


def _is_of(kind: str) -> pl.Expr:
    listed = function_words().filter(pl.col("kind") == kind)["word"]
    return pl.col("token").str.to_lowercase().is_in(listed.implode())
