"""Suite ``swaps/antonyms-proxy``: one of two antonyms replaced by a relative of the other, which often changes gold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import Draws
from acidtest.core.errors import AcidtestError
from acidtest.core.suite import Suite
from acidtest.io.corpora import corpus as read_corpus
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.swaps.swapped import CITATION, WORKING, Maker, Plan, Wishes, suite
from acidtest.text.proxies import LEAST, relatives, side_counts
from acidtest.text.swap_answers import starter_training
from acidtest.text.swaps import Occurrence, Swaps, inflected, rewritten

NAME = "swaps/antonyms-proxy"

_OTHER = {"premise": "hypothesis", "hypothesis": "premise"}
_BACK = {"synonym": "synonym", "hypernym": "hyponym", "hyponym": "hypernym"}
_TOLD = ("relation", "word", "text")


@generator(
    NAME,
    summary="Contradictions that hold antonyms, with one replaced by a synonym, hypernym or hyponym of the other",
    rows=10,
    source="pairs",
    citation=CITATION,
    licence="Apache-2.0",
)
def antonyms_proxy(
    request: Request,
    *,
    pairs: str = "",
    train: str = "",
    answers: str = "",
    ask: bool = False,
    least: int = 0,
    most: int = 100,
    tagger: str = "auto",
) -> Suite:
    """The contradictions of ``swaps/antonyms-in-situ`` with the hypothesis's antonym, or the premise's, replaced.

    The new word is a synonym, hypernym or hyponym of the other antonym, drawn from those that stand ``least`` times
    (10; once in the starter corpus) in the premises or in the hypotheses of the training file. Gold is that of people.
    The other options are those of ``swaps/antonyms-in-situ``.
    """
    if least < 0:
        raise AcidtestError(f"--least is a number from 1 on, not {least}")
    starter = not train and request.source is None
    least = least or (1 if starter else LEAST)
    counts = side_counts(_training(request, train))
    known = frozenset(counts.filter(pl.col("n") >= least)["word"])
    make = _proxies(Draws(request.seed, "swaps"), known)
    wishes = Wishes(pairs, train, answers, ask, "nothing", most, tagger)
    plan = Plan(NAME, "antonym", make, ("contradiction",), version=2, arguments={"least": least})
    return suite(plan, request, wishes)


def _training(request: Request, train: str) -> Suite:
    if train:
        return read_corpus(train).suite
    return request.source if isinstance(request.source, Suite) else starter_training()


def _proxies(draws: Draws, known: frozenset[str]) -> Maker:
    """Each contradiction twice: with another word in the premise, and with another in the hypothesis."""

    def make(part: pl.DataFrame, found: Swaps) -> pl.DataFrame:
        rows = part[found.frame["row"]].hstack(found.frame.drop("row", "relation")).with_row_index("number")
        sides = [_replaced(rows, side, known, draws) for side in _OTHER]
        made = pl.concat(sides, how="diagonal").sort("number", "swap")
        return made.select(*part.columns, *(name for name in WORKING if name in made.columns), "swap")

    return make


def _replaced(rows: pl.DataFrame, side: str, known: frozenset[str], draws: Draws) -> pl.DataFrame:
    """The pairs with a proxy on one side, one each, where there is any."""
    other = _OTHER[side]
    options = [(row["number"], *option) for row in rows.iter_rows(named=True) for option in _options(row, side, known)]
    schema = {"number": rows.schema["number"]} | dict.fromkeys(_TOLD, pl.String())
    frame = rows.join(pl.DataFrame(options, schema=schema, orient="row"), on="number", maintain_order="left")
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
        *(pl.col(each).alias(f"control_{each}") for each in _OTHER),
        *(pl.col(f"{each}_word").alias(f"control_{each}_word") for each in _OTHER),
        pl.col("text").alias(f"changed_{side}"),
        pl.col("word").alias(f"changed_{side}_word"),
        pl.col(other).alias(f"changed_{other}"),
        pl.col(f"{other}_word").alias(f"changed_{other}_word"),
    )


def _options(row: Mapping[str, Any], side: str, known: frozenset[str]) -> list[tuple[str, str, str]]:
    """Every proxy for one side: what the premise's word is to the hypothesis's then, the proxy, and the new text."""
    other, pos = _OTHER[side], row["pos"]
    kept, gone = row[f"{other}_lemma"], row[f"{side}_lemma"]
    here, text = f"{row['premise']} {row['hypothesis']}".lower(), row[side]
    places = [Occurrence(**place) for place in row[f"{side}_places"]]
    found = []
    for lemma, relation in relatives(kept, gone, pos):
        word = inflected(lemma, pos, places[0].tag)
        if word in known and word not in here:
            told = relation if side == "premise" else _BACK[relation]
            found.append((told, word, rewritten(text, places, lemma=lemma, pos=pos)))
    return found
