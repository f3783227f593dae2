"""How a swapped pair is made: two words swapped in their sentences, in one sentence, or one replaced by a proxy.

Each function returns a ``PairChange``, which makes rows of ``WORKING_COLUMNS`` of pairs and the words found in them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import Draws
from acidtest.suites.swaps.gold import WORKING_COLUMNS, PairChange

if TYPE_CHECKING:
    from acidtest.text.swaps import Swaps

_OTHER_SIDE = {"premise": "hypothesis", "hypothesis": "premise"}
_INVERSE = {"antonym": "antonym", "synonym": "synonym", "hyponym": "hypernym", "hypernym": "hyponym"}
"""What the second of two words is to the first, by what the first is to the second."""
_LABELS = {"hyponym": "entailment", "hypernym": "neutral"}
"""What follows in an upward place, by what the premise's word is to the hypothesis's."""


def swap_in_situ(tagger: str, *, derives_gold: bool) -> PairChange:
    """Premise and hypothesis as they are, and with the words swapped."""

    def change(part: pl.DataFrame, swaps: Swaps) -> pl.DataFrame:
        rows = _join_words(part, swaps).with_columns(
            swap=pl.lit("in situ"),
            pair=pl.concat_str("premise_lemma", "hypothesis_lemma", separator="-"),
            variant=pl.lit("swapped"),
            control_label=pl.col("label"),
            control_premise=pl.col("premise"),
            control_hypothesis=pl.col("hypothesis"),
            changed_premise=pl.col("swapped_premise"),
            changed_hypothesis=pl.col("swapped_hypothesis"),
            control_premise_word=pl.col("premise_word"),
            control_hypothesis_word=pl.col("hypothesis_word"),
            changed_premise_word=pl.col("swapped_premise_word"),
            changed_hypothesis_word=pl.col("swapped_hypothesis_word"),
        )
        is_same = _comparable("swapped_premise") == _comparable("hypothesis")
        agrees = pl.col("label") == _derived_label("relation")
        upward = _is_upward(rows, tagger, context=pl.lit("premise"), sure=is_same & agrees) if derives_gold else False
        label = pl.when("upward").then(_derived_label("changed_relation"))
        return _select(rows.with_columns(upward=upward).with_columns(changed_label=label), part)

    return change


def swap_ex_situ(draws: Draws, tagger: str, *, derives_gold: bool) -> PairChange:
    """The sentence of one side, drawn at random, on both sides with either word."""

    def change(part: pl.DataFrame, swaps: Swaps) -> pl.DataFrame:
        rows = _join_words(part, swaps)
        keys = digests(rows["id"], rows["premise_lemma"], rows["hypothesis_lemma"], rows["pos"])
        rows = rows.with_columns(first=pl.Series(draws.choices(keys, 2, "context") == 0, dtype=pl.Boolean))
        side = pl.when("first").then(pl.lit("premise")).otherwise(pl.lit("hypothesis"))
        rows = rows.with_columns(
            context=side,
            swap=pl.concat_str(pl.lit("ex situ, context of the "), side),
            pair=pl.concat_str("premise_lemma", "hypothesis_lemma", side, separator="-"),
            variant=pl.lit("swapped"),
            control_premise=pl.when("first").then("premise").otherwise("swapped_hypothesis"),
            control_hypothesis=pl.when("first").then("swapped_premise").otherwise("hypothesis"),
            control_premise_word=pl.when("first").then("premise_word").otherwise("swapped_hypothesis_word"),
            control_hypothesis_word=pl.when("first").then("swapped_premise_word").otherwise("hypothesis_word"),
        )
        rows = rows.with_columns(
            changed_premise=pl.col("control_hypothesis"),
            changed_hypothesis=pl.col("control_premise"),
            changed_premise_word=pl.col("control_hypothesis_word"),
            changed_hypothesis_word=pl.col("control_premise_word"),
        )
        sure = pl.lit(value=True)
        upward = _is_upward(rows, tagger, context=pl.col("context"), sure=sure) if derives_gold else False
        rows = rows.with_columns(upward=upward).with_columns(
            control_label=pl.when("upward").then(_derived_label("relation")),
            changed_label=pl.when("upward").then(_derived_label("changed_relation")),
        )
        return _select(rows, part)

    return change


def _join_words(part: pl.DataFrame, swaps: Swaps) -> pl.DataFrame:
    """The pairs of sentences with the words found in them, a row for each two words."""
    rows = part[swaps.frame["row"]].hstack(swaps.frame.drop("row"))
    inverse = pl.col("relation").replace_strict(_INVERSE, return_dtype=pl.String)
    # Both orders of two words are capped together.
    lemmas = pl.concat_list("premise_lemma", "hypothesis_lemma").list.sort().list.join(" ")
    return rows.with_columns(control_relation=pl.col("relation"), changed_relation=inverse, lemmas=lemmas)


def _is_upward(rows: pl.DataFrame, tagger: str, *, context: pl.Expr, sure: pl.Expr) -> pl.Series:
    """Whether both words stand once, and in a place of the context that is known to be upward.

    The other word must stand in a form that fits there: *a pizza* does not become *a food*.
    """
    from acidtest.text.monotonicity import fits_beside, reveals_sex

    is_single = (pl.col("premise_places").list.len() == 1) & (pl.col("hypothesis_places").list.len() == 1)
    rows = rows.with_row_index("number").with_columns(_context=context)
    candidates = rows.filter(is_single & sure & pl.col("sure") & (pl.col("pos") == "n"))
    premise, hypothesis = (_upward_places(candidates, side, tagger) for side in ("premise", "hypothesis"))
    first = candidates["_context"] == "premise"
    shows_sex = reveals_sex(
        candidates["premise"].zip_with(first, candidates["hypothesis"]),
        candidates["premise_word"].zip_with(first, candidates["hypothesis_word"]),
        candidates["swapped_premise_word"].zip_with(first, candidates["swapped_hypothesis_word"]),
    )
    frame = candidates.select("number").with_columns(
        doubt=premise["doubt"].zip_with(first, hypothesis["doubt"]),
        kind=premise["kind"].zip_with(first, hypothesis["kind"]),
        other=hypothesis["kind"].zip_with(first, premise["kind"]),
        shows_sex=shows_sex,
    )
    fits = fits_beside(pl.col("kind"), pl.col("other"))
    upward = frame.filter(pl.col("doubt").is_null() & fits & ~pl.col("shows_sex"))["number"]
    return rows.select(pl.col("number").is_in(upward.implode())).to_series()


def _upward_places(rows: pl.DataFrame, side: str, tagger: str) -> pl.DataFrame:
    from acidtest.text.monotonicity import upward_places

    starts = rows[f"{side}_places"].list.first().struct.field("start")
    return upward_places(rows[side], starts, tagger=tagger)


def _derived_label(relation: str) -> pl.Expr:
    return pl.col(relation).replace_strict(_LABELS, default=None, return_dtype=pl.String)


def _comparable(text: str) -> pl.Expr:
    """A sentence for comparison: in lower case, without spaces around it and the stop at its end."""
    return pl.col(text).str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars(" .")


def _select(rows: pl.DataFrame, part: pl.DataFrame) -> pl.DataFrame:
    """The columns of the corpus, those a suite is made of, and swap."""
    return rows.select(*part.columns, *(name for name in WORKING_COLUMNS if name in rows.columns), "swap")


def replace_by_proxies(draws: Draws, known: frozenset[str]) -> PairChange:
    """Each contradiction twice: with a proxy in the premise, and with one in the hypothesis.

    A proxy is a relative of the other side's word that is among the ``known`` words.
    """

    def change(part: pl.DataFrame, swaps: Swaps) -> pl.DataFrame:
        rows = part[swaps.frame["row"]].hstack(swaps.frame.drop("row", "relation")).with_row_index("number")
        sides = [_replace_side(rows, side, known, draws) for side in _OTHER_SIDE]
        return _select(pl.concat(sides, how="diagonal").sort("number", "swap"), part)

    return change


def _replace_side(rows: pl.DataFrame, side: str, known: frozenset[str], draws: Draws) -> pl.DataFrame:
    """The pairs with a proxy on one side, one each, where there is any."""
    other = _OTHER_SIDE[side]
    proxies = [(row["number"], *proxy) for row in rows.iter_rows(named=True) for proxy in _proxies(row, side, known)]
    schema = {"number": rows.schema["number"]} | dict.fromkeys(("relation", "word", "text"), pl.String())
    frame = rows.join(pl.DataFrame(proxies, schema=schema, orient="row"), on="number", maintain_order="left")
    keys = digests(frame["id"], frame["premise_lemma"], frame["hypothesis_lemma"], frame["word"])
    frame = frame.with_columns(draw=pl.Series(draws.bits(keys, "proxy", side)))
    frame = frame.sort("number", "draw").unique("number", keep="first", maintain_order=True)
    return frame.with_columns(
        pl.lit(f"proxy in the {side}").alias("swap"),
        pl.concat_str("premise_lemma", "hypothesis_lemma", separator="-").alias("pair"),
        pl.concat_str(pl.lit(side), "word", separator="-").alias("variant"),
        pl.concat_str("premise_lemma", "hypothesis_lemma", pl.lit(side), separator=" ").alias("lemmas"),
        pl.lit("antonym").alias("control_relation"),
        pl.col("relation").alias("changed_relation"),
        pl.col("label").alias("control_label"),
        pl.lit(None, dtype=pl.String).alias("changed_label"),
        *(pl.col(name).alias(f"control_{name}") for name in _OTHER_SIDE),
        *(pl.col(f"{name}_word").alias(f"control_{name}_word") for name in _OTHER_SIDE),
        pl.col("text").alias(f"changed_{side}"),
        pl.col("word").alias(f"changed_{side}_word"),
        pl.col(other).alias(f"changed_{other}"),
        pl.col(f"{other}_word").alias(f"changed_{other}_word"),
    )


def _proxies(row: Mapping[str, Any], side: str, known: frozenset[str]) -> list[tuple[str, str, str]]:
    """Every proxy for one side: what the premise's word is to the hypothesis's then, the proxy, and the new text."""
    from acidtest.text.inflection import inflect
    from acidtest.text.swap_pairs import proxy_words
    from acidtest.text.swaps import Occurrence, rewrite_occurrences

    other, pos = _OTHER_SIDE[side], row["pos"]
    kept, replaced = row[f"{other}_lemma"], row[f"{side}_lemma"]
    both_texts = f"{row['premise']} {row['hypothesis']}".lower()
    places = [Occurrence(**place) for place in row[f"{side}_places"]]
    proxies = []
    for lemma, relation in proxy_words(kept, replaced, pos):
        word = inflect(lemma, pos, places[0].tag)
        if word in known and word not in both_texts:
            premise_relation = relation if side == "premise" else _INVERSE[relation]
            proxies.append((premise_relation, word, rewrite_occurrences(row[side], places, lemma=lemma, pos=pos)))
    return proxies
