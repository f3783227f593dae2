"""Suites ``swaps/antonyms-in-situ`` to ``swaps/antonyms-proxy``: the table of them, and their options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import polars as pl

from acidtest.core.draws import Draws
from acidtest.core.errors import AcidtestError
from acidtest.core.suite import Suite
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.swaps.changes import replace_by_proxies, swap_ex_situ, swap_in_situ
from acidtest.suites.swaps.gold import CITATION, Assume, SwapOptions, SwapPlan, make_suite

_PROXY_LEAST = 10
"""How often a proxy must stand on one side of the training file: the paper's t."""


@dataclass(frozen=True)
class SwapSuite:
    """A suite of swapped words: which words, in which sentences, and what is said of it."""

    name: str
    relation: Literal["antonym", "hypernym"]
    situation: Literal["in situ", "ex situ", "proxy"]
    rows: int
    summary: str
    description: str


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
        55,
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

        Gold is derived where the sentences differ in nothing else and the word stands once, in an upward place: there a
        noun entails its hypernym and is neutral the other way round. All other gold is that of people. ``pairs`` is a
        file, the narrower word first; the other options are those of ``swaps/antonyms-in-situ``.
        """,
    ),
    SwapSuite(
        "swaps/hypernyms-ex-situ",
        "hypernym",
        "ex situ",
        53,
        "A sentence and itself with a noun turned into its hypernym, from a pair with both, and swapped",
        """A noun and its hypernym in one context, the premise's or the hypothesis's, drawn at random.

        Control and swapped pair have gold of their own, derived in upward places and asked elsewhere. Options are those
        of ``swaps/hypernyms-in-situ``.
        """,
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
    ),
)


def _antonym_generator(suite: SwapSuite) -> Callable[..., Suite]:
    def swap_antonyms(
        request: Request,
        *,
        pairs: str = "",
        train: str = "",
        answers: str = "",
        ask: bool = False,
        assume: Assume = "nothing",
        most: int = 100,
        tagger: str = "auto",
    ) -> Suite:
        return _swap_words(suite, request, SwapOptions(pairs, train, answers, ask, assume, most, tagger))

    return swap_antonyms


def _hypernym_generator(suite: SwapSuite) -> Callable[..., Suite]:
    def swap_hypernyms(
        request: Request,
        *,
        pairs: str = "",
        train: str = "",
        answers: str = "",
        ask: bool = False,
        most: int = 100,
        tagger: str = "auto",
    ) -> Suite:
        return _swap_words(suite, request, SwapOptions(pairs, train, answers, ask, "nothing", most, tagger))

    return swap_hypernyms


def _proxy_generator(suite: SwapSuite) -> Callable[..., Suite]:
    def replace_antonyms(
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
        options = SwapOptions(pairs, train, answers, ask, "nothing", most, tagger)
        return _replace_words(suite, request, options, least=least)

    return replace_antonyms


def _generator_of(suite: SwapSuite) -> Callable[..., Suite]:
    if suite.situation == "proxy":
        return _proxy_generator(suite)
    return _antonym_generator(suite) if suite.relation == "antonym" else _hypernym_generator(suite)


for _suite in SWAP_SUITES:
    _make = _generator_of(_suite)
    _make.__doc__ = _suite.description
    generator(
        _suite.name,
        summary=_suite.summary,
        rows=_suite.rows,
        source="pairs",
        citation=CITATION,
        licence="Apache-2.0",
    )(_make)


def _swap_words(suite: SwapSuite, request: Request, options: SwapOptions) -> Suite:
    derives_gold = suite.relation == "hypernym"
    if suite.situation == "ex situ":
        change = swap_ex_situ(Draws(request.seed, "swaps"), options.tagger, derives_gold=derives_gold)
    else:
        change = swap_in_situ(options.tagger, derives_gold=derives_gold)
    labels = ("contradiction",) if suite.relation == "antonym" else ()
    plan = SwapPlan(suite.name, suite.relation, change, labels, own_controls=suite.situation == "ex situ")
    return make_suite(plan, request, options)


def _replace_words(suite: SwapSuite, request: Request, options: SwapOptions, *, least: int) -> Suite:
    from acidtest.text.swap_pairs import side_counts

    if least < 0:
        raise AcidtestError(f"--least is a number from 1 on, not {least}")
    is_starter = not options.train and request.source is None
    least = least or (1 if is_starter else _PROXY_LEAST)
    counts = side_counts(_training_pairs(request, options.train))
    known = frozenset(counts.filter(pl.col("n") >= least)["word"])
    change = replace_by_proxies(Draws(request.seed, "swaps"), known)
    plan = SwapPlan(suite.name, suite.relation, change, ("contradiction",), version=2, arguments={"least": least})
    return make_suite(plan, request, options)


def _training_pairs(request: Request, train: str) -> Suite:
    from acidtest.text.corpora import read_corpus
    from acidtest.text.swaps import starter_training

    if train:
        return read_corpus(train).suite
    return request.source if isinstance(request.source, Suite) else starter_training()
