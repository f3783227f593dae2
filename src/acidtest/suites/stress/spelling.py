"""Suite ``stress/spelling``: the hypothesis with a misspelt word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import Draws
from acidtest.core.errors import AcidtestError
from acidtest.core.logs import log
from acidtest.core.suite import Argument, Kind, Suite, stream_frame
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.corpus import derive_suite, source_pairs
from acidtest.suites.stress import CITATION

if TYPE_CHECKING:
    from acidtest.english.letters import WordSpans
    from acidtest.english.misspelling import Edit

_NAME = "stress/spelling"

Target = Literal["any", "content", "function"]

_COLUMNS: dict[str, Kind] = {"edit": "factor", "target": "factor", "word": "text", "misspelling": "text"}
_TREES = ("hypothesis_parse", "hypothesis_binary_parse")
_BLOCK_ROWS = 7_000
"""Pairs misspelt at a time; the rows made do not depend on it.

Smaller blocks are slowed by calls, larger ones by malloc, which returns their memory and requests it again.
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
_SHARED_TAGS = {"DT": "article", "IN": "subordinator", "NN": "indefinite"}
"""By tag: the kind of function words that share it with other words. Treebanks tag the pronoun "everyone" as a noun."""


@dataclass(frozen=True)
class SpellingVariant:
    """One way to misspell every hypothesis."""

    edit: Edit
    target: Target
    edits: int
    nonwords: bool

    @property
    def name(self) -> str:
        """The suffix of the ids of its rows."""
        return f"{self.edit}-{self.target}-{self.edits}" + ("-nonword" * self.nonwords)


@dataclass(frozen=True)
class Misspeller:
    """Makes the rows of all variants from pairs."""

    variants: tuple[SpellingVariant, ...]
    draws: Draws
    tagger: str

    def misspell(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """A row for each pair and each variant for which its hypothesis has words; the rows of a pair are adjacent."""
        from acidtest.english.letters import align_leaves
        from acidtest.english.misspelling import misspell

        words = self._words(pairs["hypothesis"])
        trees = {name: align_leaves(pairs[name], words["any"].texts) for name in _TREES if name in pairs.columns}
        parts = []
        for number, variant in enumerate(self.variants):
            result = misspell(
                words[variant.target],
                variant.edit,
                rows=digests(pairs["id"]),
                draws=self.draws,
                slot=variant.target,
                edits=variant.edits,
                nonwords=variant.nonwords,
            )
            parts.append(
                pairs[result.rows].with_columns(
                    result.texts.alias("hypothesis"),
                    *(tree.rewritten(result.data, result.rows).alias(name) for name, tree in trees.items()),
                    result.words.alias("word"),
                    result.misspellings.alias("misspelling"),
                    pl.Series("order", result.rows * len(self.variants) + number),
                    edit=pl.lit(variant.edit),
                    target=pl.lit(variant.target),
                    variant=pl.lit(variant.name),
                )
            )
        return pl.concat(parts).sort("order").drop("order")

    def _words(self, texts: pl.Series) -> dict[Target, WordSpans]:
        """The words of texts by target; texts are tagged only where a variant needs it."""
        from acidtest.english.letters import find_words
        from acidtest.english.tagging import tag_texts

        by_target: dict[Target, WordSpans] = {"any": find_words(texts)}
        if any(variant.target != "any" for variant in self.variants):
            tags = tag_texts(texts, self.tagger)
            is_function = _is_function_word()
            conditions: dict[Target, pl.Expr] = {
                "content": pl.col("tag").is_in(_CONTENT_TAGS) & ~is_function,
                "function": is_function,
            }
            for target, condition in conditions.items():
                spans = tags.filter(condition)
                by_target[target] = by_target["any"].within(spans["text"], spans["start"], spans["end"])
        return by_target


@generator(
    _NAME,
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
    """The hypothesis with one misspelt word, in the four ways of Naik et al. (2018), table 8, or in one you choose.

    Content words are nouns and adjectives, function words conjunctions, pronouns and articles; the rest is neither.
    ``edits`` words are misspelt once each; a hypothesis with fewer that can be is left out. ``nonwords``: no
    misspelling is itself an English word, as *form* is of *from*; the paper's script did not see to that.
    """
    from acidtest.english.tagging import tagger as load_tagger

    if edits < 1:
        raise AcidtestError(f"--edits is a number of words from 1 on, not {edits}")
    if edit == "published" and target != "any":
        raise AcidtestError(f"--target {target} needs --edit adjacent or keyboard; published has targets of its own")
    kinds = _PUBLISHED if edit == "published" else ((edit, target),)
    variants = tuple(SpellingVariant(*kind, edits, nonwords) for kind in kinds)
    arguments: dict[str, Argument] = {"edit": edit, "edits": edits}
    arguments |= {} if edit == "published" else {"target": target}
    arguments |= {"nonwords": True} if nonwords else {}
    if any(variant.target != "any" for variant in variants):
        arguments["tagger"] = load_tagger(tagger).name
    pairs = source_pairs(request, columns=_COLUMNS)
    return derive_suite(
        _NAME,
        pairs,
        _misspell_pairs(pairs, Misspeller(variants, Draws(request.seed, _NAME), tagger), request),
        request=request,
        arguments=arguments,
        columns=_COLUMNS,
        crossings=(("edit", "target"),),
    )


def _misspell_pairs(pairs: Suite, misspeller: Misspeller, request: Request) -> pl.LazyFrame:
    """The rows of all variants: those of few pairs are made at once, others block by block when they are read.

    When all pairs have been read once, it logs how many of them each variant left out.
    """
    total = min(request.n or pairs.card.rows, pairs.card.rows)
    read, rows_by_variant = 0, Counter[str]()
    schema = pairs.frame.collect_schema()

    def count(block: pl.DataFrame, rows: pl.DataFrame) -> None:
        nonlocal read
        if read >= total:
            return
        read += block.height
        rows_by_variant.update(dict(rows["variant"].value_counts().iter_rows()))
        for name in (variant.name for variant in misspeller.variants if read >= total):
            if rows_by_variant[name] < total:
                log.info("%s: %s pairs lack the words for %s", _NAME, f"{total - rows_by_variant[name]:,}", name)

    def blocks(columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        needed = [name for name in schema if name in {*columns, "id", "hypothesis"}]
        for block in pairs.frame.select(needed).collect_batches(chunk_size=_BLOCK_ROWS, maintain_order=True):
            rows = misspeller.misspell(block)
            count(block, rows)
            yield rows.select(columns)

    columns = dict(schema) | dict.fromkeys((*_COLUMNS, "variant"), pl.String)
    return pl.concat(blocks(list(columns))).lazy() if 0 < total <= _BLOCK_ROWS else stream_frame(blocks, columns)


def _is_function_word() -> pl.Expr:
    from acidtest.english.misspelling import function_words

    listed = pl.col("token").str.to_lowercase()
    shared = [
        (pl.col("tag") == tag) & listed.is_in(function_words().filter(kind=kind)["word"].implode())
        for tag, kind in _SHARED_TAGS.items()
    ]
    return pl.any_horizontal(pl.col("tag").is_in(_FUNCTION_TAGS), *shared)
