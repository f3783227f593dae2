"""Suites ``swaps/antonyms-in-situ`` to ``swaps/antonyms-proxy``: two related words swapped, or one replaced.

After Sanchez Carmona et al. (2018). Holds the table of suites and the functions that change the pairs of a corpus.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import Draws
from acidtest.core.suite import Suite
from acidtest.suites.catalogue import Request, generator, take_options
from acidtest.suites.swaps.gold import CITATION, WORKING_COLUMNS, SwapOptions, SwapSuite, make_suite

if TYPE_CHECKING:
    from acidtest.suites.swaps.occurrences import Swaps

_PROXY_LEAST = 10
"""How often a proxy must occur on one side of the training file: the paper's t."""

_OTHER_SIDE = {"premise": "hypothesis", "hypothesis": "premise"}
_TEXT_COLUMNS = ("premise", "hypothesis", "premise_word", "hypothesis_word")
_INVERSE = {"antonym": "antonym", "synonym": "synonym", "hyponym": "hypernym", "hypernym": "hyponym"}
"""The relation of the second of two words to the first, by the relation of the first to the second."""
_LABELS = {
    "up": {"hyponym": "entailment", "hypernym": "neutral"},
    "down": {"hyponym": "neutral", "hypernym": "entailment"},
}
"""The label by the polarity of the place and the relation of the premise's word to the hypothesis's word."""

_NO_POLARITY = pl.lit(None, dtype=pl.String)


SWAP_SUITES = (
    SwapSuite(
        "swaps/antonyms-in-situ",
        "antonym",
        "in situ",
        58,
        "Contradictions whose premise and hypothesis hold antonyms, with the two words swapped",
        """Every contradiction of the corpus with a word in its premise and its antonym in the hypothesis, both swapped.

        The corpus is the training file, or ``train`` is and the controls are held out. ``pairs`` is a file of antonyms,
        two words a line; without one they are WordNet's. Gold is that of people: ``ask`` gives the pairs to ask them
        about, ``answers`` is the file of labels made from what they answered, and what they call incoherent is left
        out. ``assume paper`` takes a swapped contradiction for one, as the paper does. ``most`` is how often two words
        are used (0 is any number).
        """,
    ),
    SwapSuite(
        "swaps/antonyms-ex-situ",
        "antonym",
        "ex situ",
        54,
        "A sentence and itself with a word turned into its antonym, from a contradiction with both, and swapped",
        """The antonyms of ``swaps/antonyms-in-situ`` in one context, that of premise or hypothesis, drawn at random.

        The controls are new pairs, so their gold is asked too, never that of the contradiction they come from. Options
        are those of ``swaps/antonyms-in-situ``.
        """,
    ),
    SwapSuite(
        "swaps/hypernyms-in-situ",
        "hypernym",
        "in situ",
        49,
        "Pairs whose premise and hypothesis hold a noun and its hypernym, with the two words swapped",
        """Every pair of the corpus with a noun on one side and its hypernym on the other, the two words swapped.

        Gold is derived where the sentences differ in nothing else and the word stands once, in a monotone place: in an
        upward one a noun entails its hypernym and is neutral the other way round, under a negation vice versa. All
        other gold is that of people. ``pairs`` is a file, the narrower word first; the other options are those of
        ``swaps/antonyms-in-situ``.
        """,
        version=3,
    ),
    SwapSuite(
        "swaps/hypernyms-ex-situ",
        "hypernym",
        "ex situ",
        53,
        "A sentence and itself with a noun turned into its hypernym, from a pair with both, and swapped",
        """A noun and its hypernym in one context, that of premise or hypothesis, drawn from those where gold follows.

        Control and swapped pair have gold of their own, derived in monotone places and asked elsewhere; where gold
        follows in no context or in both, the context is drawn from both. Options are those of
        ``swaps/hypernyms-in-situ``.
        """,
        version=3,
    ),
    SwapSuite(
        "swaps/antonyms-proxy",
        "antonym",
        "proxy",
        10,
        "Contradictions that hold antonyms, with one replaced by a synonym, hypernym or hyponym of the other",
        """The contradictions of ``swaps/antonyms-in-situ`` with the hypothesis's antonym, or the premise's, replaced.

        The new word is a synonym, hypernym or hyponym of the other antonym, drawn from those that stand ``least`` times
        (10; once in the starter corpus) in the premises or in the hypotheses of the training file. Gold is that of
        people. The other options are those of ``swaps/antonyms-in-situ``.
        """,
        version=3,
    ),
)


def _swap_words(suite: SwapSuite, request: Request, options: SwapOptions) -> Suite:
    draws, derives_gold = Draws(request.seed, "swaps"), suite.relation == "hypernym"
    if suite.situation == "proxy":
        least = options.least or (1 if not options.train and request.source is None else _PROXY_LEAST)
        change = partial(_replace_by_proxies, draws=draws, known=_frequent_words(request, options.train, least))
        return make_suite(suite, request, options, change, {"least": least})
    if suite.situation == "ex situ":
        change = partial(_swap_ex_situ, draws=draws, tagger=options.tagger, derives_gold=derives_gold)
    else:
        change = partial(_swap_in_situ, tagger=options.tagger, derives_gold=derives_gold)
    return make_suite(suite, request, options, change, {})


for _suite in SWAP_SUITES:
    _hidden = {"least"} if _suite.situation != "proxy" else {"assume"}
    _hidden |= {"assume"} if _suite.relation == "hypernym" else set()
    _make = take_options(partial(_swap_words, _suite), SwapOptions, without=_hidden)
    _make.__doc__ = _suite.description
    generator(
        _suite.name,
        summary=_suite.summary,
        rows=_suite.rows,
        source="pairs",
        citation=CITATION,
        licence="Apache-2.0",
    )(_make)


def _frequent_words(request: Request, train: str, least: int) -> frozenset[str]:
    """The words that occur at least ``least`` times on one side of the training file."""
    from acidtest.corpora.files import read_corpus
    from acidtest.suites.swaps.occurrences import starter_training
    from acidtest.suites.swaps.word_pairs import side_counts

    if train:
        pairs = read_corpus(train).suite
    else:
        pairs = request.source if isinstance(request.source, Suite) else starter_training()
    return frozenset(side_counts(pairs).filter(pl.col("n") >= least)["word"])


def _swap_in_situ(part: pl.DataFrame, swaps: Swaps, *, tagger: str, derives_gold: bool) -> pl.DataFrame:
    """Each pair as it is, as the control, and with the two words swapped."""
    rows = _join_words(part, swaps).with_columns(
        *(pl.col(name).alias(f"control_{name}") for name in _TEXT_COLUMNS),
        *(pl.col(f"swapped_{name}").alias(f"changed_{name}") for name in _TEXT_COLUMNS),
        swap=pl.lit("in situ"),
        pair=pl.concat_str("premise_lemma", "hypothesis_lemma", separator="-"),
        control_label=pl.col("label"),
    )
    is_same = _comparable("swapped_premise") == _comparable("hypothesis")
    polarity = _polarities(rows, tagger)["premise"] if derives_gold else _NO_POLARITY
    rows = rows.with_columns(polarity=polarity, is_same=is_same)
    agrees = pl.col("is_same") & (pl.col("label") == _derived_label("relation"))
    return _select(rows.with_columns(changed_label=pl.when(agrees).then(_derived_label("changed_relation"))), part)


def _swap_ex_situ(part: pl.DataFrame, swaps: Swaps, *, draws: Draws, tagger: str, derives_gold: bool) -> pl.DataFrame:
    """The sentence of one side with one word as premise, with the other as hypothesis; and swapped.

    The side is drawn at random, from those where gold can be derived if there is one.
    """
    rows = _join_words(part, swaps)
    keys = digests(rows["id"], rows["premise_lemma"], rows["hypothesis_lemma"], rows["pos"])
    rows = rows.with_columns(first=pl.Series(draws.choices(keys, 2, "context") == 0, dtype=pl.Boolean))
    if derives_gold:
        sides = _polarities(rows, tagger)
        is_only = [sides[side].is_not_null() & sides[other].is_null() for side, other in _OTHER_SIDE.items()]
        rows = rows.with_columns(first=(rows["first"] | is_only[0]) & ~is_only[1])
        polarity = pl.when("first").then(sides["premise"]).otherwise(sides["hypothesis"])
    else:
        polarity = _NO_POLARITY
    side = pl.when("first").then(pl.lit("premise")).otherwise(pl.lit("hypothesis"))
    texts = dict[str, pl.Expr]()
    for ending in ("", "_word"):
        premise = pl.when("first").then(f"premise{ending}").otherwise(f"swapped_hypothesis{ending}")
        hypothesis = pl.when("first").then(f"swapped_premise{ending}").otherwise(f"hypothesis{ending}")
        texts |= {f"control_premise{ending}": premise, f"control_hypothesis{ending}": hypothesis}
        texts |= {f"changed_premise{ending}": hypothesis, f"changed_hypothesis{ending}": premise}
    rows = rows.with_columns(
        **texts,
        polarity=polarity,
        swap=pl.concat_str(pl.lit("ex situ, context of the "), side),
        pair=pl.concat_str("premise_lemma", "hypothesis_lemma", side, separator="-"),
    )
    rows = rows.with_columns(control_label=_derived_label("relation"), changed_label=_derived_label("changed_relation"))
    return _select(rows, part)


def _join_words(part: pl.DataFrame, swaps: Swaps) -> pl.DataFrame:
    """The pairs with the words found in them, a row for each pair of words."""
    rows = part[swaps.frame["row"]].hstack(swaps.frame.drop("row"))
    return rows.with_columns(
        variant=pl.lit("swapped"),
        control_relation=pl.col("relation"),
        changed_relation=pl.col("relation").replace_strict(_INVERSE, return_dtype=pl.String),
        # Both orders of two words are capped together.
        lemmas=pl.concat_list("premise_lemma", "hypothesis_lemma").list.sort().list.join(" "),
    )


def _polarities(rows: pl.DataFrame, tagger: str) -> dict[str, pl.Series]:
    """For the context of each side the polarity of the word's place, *up* or *down*; null where it is not sure.

    Both words must occur once. The form of the other word must fit there: *a pizza* does not become *a food*.
    """
    from acidtest.english.monotonicity import fits_beside, reveals_sex, suits_modifier
    from acidtest.english.sentences import Sentences

    is_single = (pl.col("premise_places").list.len() == 1) & (pl.col("hypothesis_places").list.len() == 1)
    rows = rows.with_row_index("number")
    candidates = rows.filter(is_single & pl.col("sure") & (pl.col("pos") == "n"))
    places = {
        side: Sentences.of(candidates[side], tagger).polarity(
            candidates[f"{side}_places"].list.first().struct.field("start")
        )
        for side in _OTHER_SIDE
    }
    polarities = dict[str, pl.Series]()
    for side, other in _OTHER_SIDE.items():
        shows_sex = reveals_sex(candidates[side], candidates[f"{side}_word"], candidates[f"swapped_{side}_word"])
        fits = fits_beside(places[side]["kind"], places[other]["kind"], candidates[f"{other}_lemma"])
        for lemma in (candidates[f"{side}_lemma"], candidates[f"{other}_lemma"]):
            fits &= suits_modifier(places[side]["modifier"], lemma)
        known = candidates.select("number", polarity=pl.when(fits & ~shows_sex).then(places[side]["polarity"]))
        polarities[side] = rows.join(known, on="number", how="left", maintain_order="left")["polarity"]
    return polarities


def _derived_label(relation: str) -> pl.Expr:
    """The label that follows from the polarity of the place; null where that is unknown."""
    labels = (
        pl.when(pl.col("polarity") == polarity).then(
            pl.col(relation).replace_strict(by_relation, default=None, return_dtype=pl.String)
        )
        for polarity, by_relation in _LABELS.items()
    )
    return pl.coalesce(*labels)


def _comparable(text: str) -> pl.Expr:
    """A sentence for comparison: in lower case, with single spaces, without spaces and stops at its ends."""
    return pl.col(text).str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars(" .")


def _select(rows: pl.DataFrame, part: pl.DataFrame) -> pl.DataFrame:
    """The columns of the corpus, ``WORKING_COLUMNS`` as far as present, and ``swap``."""
    return rows.select(*part.columns, *(name for name in WORKING_COLUMNS if name in rows.columns), "swap")


def _replace_by_proxies(part: pl.DataFrame, swaps: Swaps, *, draws: Draws, known: frozenset[str]) -> pl.DataFrame:
    """Each contradiction twice: with a proxy in the premise, and with one in the hypothesis.

    A proxy is a synonym, hypernym or hyponym of the other side's word, and one of the ``known`` words.
    """
    rows = part[swaps.frame["row"]].hstack(swaps.frame.drop("row", "relation")).with_row_index("number")
    sides = [_replace_side(rows, side, known, draws) for side in _OTHER_SIDE]
    return _select(pl.concat(sides, how="diagonal").sort("number", "swap"), part)


def _replace_side(rows: pl.DataFrame, side: str, known: frozenset[str], draws: Draws) -> pl.DataFrame:
    """The pairs with one randomly drawn proxy on a side; pairs without any proxy are left out."""
    other = _OTHER_SIDE[side]
    proxies = [(row["number"], *proxy) for row in rows.iter_rows(named=True) for proxy in _proxies(row, side, known)]
    schema = {"number": rows.schema["number"]} | dict.fromkeys(("relation", "word", "text"), pl.String())
    frame = rows.join(pl.DataFrame(proxies, schema=schema, orient="row"), on="number", maintain_order="left")
    keys = digests(frame["id"], frame["premise_lemma"], frame["hypothesis_lemma"], frame["word"])
    frame = frame.with_columns(draw=pl.Series(draws.bits(keys, "proxy", side)))
    frame = frame.sort("number", "draw").unique("number", keep="first", maintain_order=True)
    return frame.with_columns(
        *(pl.col(name).alias(f"control_{name}") for name in _TEXT_COLUMNS),
        *(pl.col(name).alias(f"changed_{name}") for name in (other, f"{other}_word")),
        pl.col("text").alias(f"changed_{side}"),
        pl.col("word").alias(f"changed_{side}_word"),
        swap=pl.lit(f"proxy in the {side}"),
        pair=pl.concat_str("premise_lemma", "hypothesis_lemma", separator="-"),
        variant=pl.concat_str(pl.lit(side), "word", separator="-"),
        lemmas=pl.concat_str("premise_lemma", "hypothesis_lemma", pl.lit(side), separator=" "),
        control_relation=pl.lit("antonym"),
        changed_relation=pl.col("relation"),
        control_label=pl.col("label"),
        changed_label=pl.lit(None, dtype=pl.String),
    )


def _proxies(row: Mapping[str, Any], side: str, known: frozenset[str]) -> list[tuple[str, str, str]]:
    """Every proxy for one side: the relation of the premise's word to the hypothesis's, the proxy, the new text."""
    from acidtest.english.inflection import inflect
    from acidtest.suites.swaps.places import Occurrence, misfit, rewrite_occurrences
    from acidtest.suites.swaps.word_pairs import proxy_words

    pos, both_texts = row["pos"], f"{row['premise']} {row['hypothesis']}".lower()
    places, elsewhere = ([Occurrence(**place) for place in row[f"{of}_places"]] for of in (side, _OTHER_SIDE[side]))
    old, proxies = row[f"{side}_lemma"], []
    for lemma, relation in proxy_words(row[f"{_OTHER_SIDE[side]}_lemma"], old, pos):
        word = inflect(lemma, pos, places[0].tag)
        fits = not misfit(places, lemma, old, pos, elsewhere)
        if word in known and word not in both_texts and fits:
            premise_relation = relation if side == "premise" else _INVERSE[relation]
            proxies.append((premise_relation, word, rewrite_occurrences(row[side], places, lemma=lemma, pos=pos)))
    return proxies
