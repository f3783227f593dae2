"""Suite ``cues``: gold crossed with the cues a model may answer by, so that the effect of each can be measured alone.

Six cues are switched on and off without touching gold: a negation word, words that hint at a label, an antonym, another
number, a long hypothesis, a misspelling. In pairs made of templates, one hypothesis is asked with premises of every
gold and of four forms: the premise has not all its words, has all of them, has them in a row, or has them as a clause.
Pairs of a corpus keep their gold and get a second sentence in which the six cues are switched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeVar

import numpy as np
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import U64, Draws, Integers
from acidtest.core.errors import AcidtestError
from acidtest.core.suite import COLUMNS, Card, Kind, Suite, complete_columns
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.corpus import source_pairs

T = TypeVar("T")

CITATION = "acidtest; the cues are those of Naik et al. (2018), McCoy et al. (2019) and Gururangan et al. (2018)"
_NAME = "cues"

SWITCHED = ("negation", "cue_words", "antonym", "number", "length", "misspelling")
"""The cues that are on or off in every pair: the columns that hold yes or no."""
FORMS = ("none", "overlap", "subsequence", "constituent")
"""What the premise has of the hypothesis: not all words, all words, all in a row, all as a clause."""
GOLD = ("entailment", "neutral", "contradiction")
_PAIRED = (("negation", "length"), ("cue_words", "misspelling"), ("antonym", "number"))
"""The two cues that are switched one by one within an item; the other four are switched together."""
_PER_CELL = 16
_SETTINGS = 2 ** (len(SWITCHED) - 3)
"""Items that put one pair into every cell of a gold and form: each is asked under eight settings of the cues."""
_CANDIDATES = 8
"""Pairs of the corpus looked at for each item."""
_COLUMNS: dict[str, Kind] = {
    "material": "factor",
    "form": "factor",
    **dict.fromkeys(SWITCHED, "factor"),
    "switched": "factor",
    "frame": "text",
}
_NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine")
_NOTE = (
    "Every cell (material × gold × form × six cues) has the same number of pairs. Not crossed: a subsequence without "
    "overlap and a clause that is no subsequence cannot be; pairs of a corpus keep the form they have."
)


@generator(
    _NAME,
    summary="Gold crossed with nine cues a model may answer by: overlap, negation, antonyms, numbers and others",
    rows=_PER_CELL * 64 * (12 + 3),
    source="pairs",
    citation=CITATION,
    licence="Apache-2.0",
)
def cues(request: Request) -> Suite:
    """Pairs for the cue profile, ``n`` in every cell: from templates, and from the corpus with its gold unchanged.

    The rows of one hypothesis of a template, or of one pair of the corpus, are a group.
    """
    draws, lexicon = Draws(request.seed, _NAME), Lexicon.load()
    keys = np.arange((_PER_CELL if request.n is None else request.n) * _SETTINGS, dtype=np.uint64)
    words = lexicon.draw(keys, draws)
    pairs = source_pairs(replace(request, n=None), columns=_COLUMNS)
    rows = (*_template_rows(lexicon, words, draws.choices(keys, 1 << 16, "frame")), *_corpus_rows(pairs, words, draws))
    schema = dict.fromkeys((*COLUMNS[1:], *_COLUMNS), pl.String)
    frame = complete_columns(pl.DataFrame(rows, schema=schema), _NAME)
    card = Card(
        _NAME,
        seed=request.seed,
        arguments={"from": pairs.name},
        sources=pairs.card.sources,
        licence="Apache-2.0",
        citation=CITATION,
        note=_NOTE,
        columns=_COLUMNS,
    )
    return Suite(frame.lazy(), card)


@dataclass(frozen=True)
class Words:
    """The words of one item; ``people`` are the subject of the hypothesis, ``others`` stand only in the premise."""

    people: tuple[str, str]
    others: str
    verb: tuple[str, str]
    hinting: tuple[str, str]
    plain: tuple[str, str]
    unrelated: str
    belongings: tuple[str, str]
    circumstance: tuple[str, str]
    elsewhere: str
    number: str
    other_number: str

    def subject(self, on: Mapping[str, bool], *, synonyms: bool = False) -> str:
        """The subject of the hypothesis, without an article, under some cues, or the same in other words."""
        adjective, _ = self.hinting if on["cue_words"] else self.plain
        belongings = ("no " if on["negation"] else "") + self.belongings[on["misspelling"]]
        return f"{self.number} {adjective} {self.people[synonyms]} {'carrying' if synonyms else 'with'} {belongings}"

    def other_people(self, on: Mapping[str, bool]) -> str:
        """The other people of the premise, without an article, under some cues."""
        _, antonym = self.hinting if on["cue_words"] else self.plain
        number = f"{self.other_number} " if on["number"] else ""
        return f"{number}{antonym if on['antonym'] else self.unrelated} {self.others}"


@dataclass(frozen=True)
class Lexicon:
    """The tables of ``data/cues``."""

    people: list[tuple[str, str]]
    verbs: list[tuple[str, str]]
    hinting: list[tuple[str, str]]
    plain: list[tuple[str, str]]
    unrelated: list[str]
    belongings: list[tuple[str, str]]
    circumstances: list[tuple[str, str]]
    elsewhere: list[str]
    frames: Mapping[tuple[str, str], list[dict[str, str]]]

    @classmethod
    def load(cls) -> Lexicon:
        """Read the tables."""
        from acidtest.io.wordlists import packaged_table

        def pairs(name: str) -> list[tuple[str, str]]:
            return packaged_table(f"cues/{name}.tsv").rows()

        def phrases(name: str) -> list[str]:
            return packaged_table(f"cues/{name}.tsv").to_series().to_list()

        adjectives = packaged_table("cues/adjectives.tsv")
        hints = pl.col("hints") != ""
        frames = dict[tuple[str, str], list[dict[str, str]]]()
        for frame in packaged_table("cues/frames.tsv").iter_rows(named=True):
            frames.setdefault((frame["gold"], frame["form"]), []).append(frame)
        return cls(
            pairs("people"),
            pairs("verbs"),
            adjectives.filter(hints).select("adjective", "antonym").rows(),
            adjectives.filter(~hints).select("adjective", "antonym").rows(),
            phrases("unrelated"),
            pairs("belongings"),
            pairs("circumstances"),
            phrases("elsewhere"),
            frames,
        )

    def draw(self, keys: U64, draws: Draws) -> list[Words]:
        """The words of each item: either synonym may stand on either side, and the other people are never the same."""

        def chosen(options: list[T], slot: str) -> list[T]:
            return [options[number] for number in draws.choices(keys, len(options), slot).tolist()]

        def two_different(size: int, slot: str) -> Integers:
            first = draws.choices(keys, size, slot)
            return np.stack([first, (first + 1 + draws.choices(keys, size - 1, f"other {slot}")) % size])

        people, others = two_different(len(self.people), "people").tolist()
        number, other_number = two_different(len(_NUMBERS), "number").tolist()
        sides = draws.choices(keys, 4, "sides").tolist()
        columns = {
            "people": [self.people[person][:: (1, -1)[side & 1]] for person, side in zip(people, sides, strict=True)],
            "others": [self.people[person][0] for person in others],
            "verb": [verb[:: (1, -1)[side >> 1]] for verb, side in zip(chosen(self.verbs, "verb"), sides, strict=True)],
            "hinting": chosen(self.hinting, "hinting"),
            "plain": chosen(self.plain, "plain"),
            "unrelated": chosen(self.unrelated, "unrelated"),
            "belongings": chosen(self.belongings, "belongings"),
            "circumstance": chosen(self.circumstances, "circumstance"),
            "elsewhere": chosen(self.elsewhere, "elsewhere"),
            "number": [_NUMBERS[place] for place in number],
            "other_number": [_NUMBERS[place] for place in other_number],
        }
        return [Words(**dict(zip(columns, values, strict=True))) for values in zip(*columns.values(), strict=True)]


def _switches(item: int) -> Iterator[tuple[str, dict[str, bool]]]:
    """The cues an item switches one by one, and the eight settings of all cues under which it is asked.

    The other four cues have one setting and the opposite one, so that every cue is on in half of an item's rows, and
    what is particular to the item adds nothing to its effect. Items take turns: 8 such settings for the first two cues,
    then for the next two, and so on.
    """
    turn, setting = divmod(item, _SETTINGS)
    switched = _PAIRED[turn % len(_PAIRED)]
    fixed = [cue for cue in SWITCHED if cue not in switched]
    on = {cue: bool(setting >> place & 1) for place, cue in enumerate(fixed)}
    for opposite, *values in product((False, True), repeat=3):
        both = {cue: is_on != opposite for cue, is_on in on.items()} | dict(zip(switched, values, strict=True))
        yield " and ".join(switched), {cue: both[cue] for cue in SWITCHED}


def _facts(switched: str, on: Mapping[str, bool]) -> dict[str, str]:
    return {"switched": switched} | {cue: "yes" if is_on else "no" for cue, is_on in on.items()}


def _template_rows(lexicon: Lexicon, words: list[Words], frame_draws: Integers) -> Iterator[dict[str, str]]:
    for item, draw in enumerate(frame_draws.tolist()):
        for switched, on in _switches(item):
            for gold, form in product(GOLD, FORMS):
                frames = lexicon.frames[gold, "overlap" if form == "none" else form]
                frame = frames[draw % len(frames)]
                premise, hypothesis = _fill(frame, words[item], on, synonyms=form == "none")
                yield {
                    "premise": premise,
                    "hypothesis": hypothesis,
                    "label": gold,
                    "group": f"item {item}",
                    "certainty": "logical",
                    "material": "templates",
                    "form": form,
                    "frame": frame["frame"],
                    **_facts(switched, on),
                }


def _fill(frame: Mapping[str, str], words: Words, on: Mapping[str, bool], *, synonyms: bool) -> tuple[str, str]:
    """Premise and hypothesis; with ``synonyms`` the premise says in other words what the hypothesis says."""
    circumstance = f" {words.circumstance[0]}" if on["length"] else ""
    hypothesis = f"The {words.subject(on)} {words.verb[0]}{circumstance}."
    premise = (frame["premise"] if on["length"] or not frame["short"] else frame["short"]).format(
        subject="the " + words.subject(on, synonyms=synonyms),
        others="the " + words.other_people(on),
        verb=words.verb[synonyms],
        circumstance=words.circumstance[synonyms],
    )
    return premise[0].upper() + premise[1:], hypothesis


def _corpus_rows(pairs: Suite, words: list[Words], draws: Draws) -> Iterator[dict[str, str]]:
    """Pairs of the corpus with a second sentence on both sides; that of the premise says more.

    A corpus with fewer suitable pairs than items has some asked with several sentences.
    """
    frame = pairs.frame.select("id", "premise", "hypothesis", "label", "certainty", "source_id").collect()
    for gold in GOLD:
        chosen = frame.filter(pl.col("label") == gold)
        order = np.argsort(draws.bits(digests(chosen["id"]), "corpus"), kind="stable")[: _CANDIDATES * len(words)]
        chosen = _without_cues(chosen[order])[: len(words)]
        if chosen.is_empty():
            raise AcidtestError(
                f"suite {_NAME!r} needs pairs of every gold without negation, antonym or number, but {pairs.name!r} "
                f"has none with gold {gold}; use a corpus with three labels, or leave --from out"
            )
        items = [(item, *setting) for item in range(len(words)) for setting in _switches(item)]
        for item, switched, on in items:
            pair = chosen.row(item % chosen.height, named=True)
            subject, others = words[item].subject(on), words[item].other_people(on)
            place = words[item].elsewhere
            longer = f" {place}" if on["length"] else ""
            yield {
                "premise": f"{_sentence(pair['premise'])} Elsewhere, {subject} were waiting for {others} {place}.",
                "hypothesis": f"{_sentence(pair['hypothesis'])} Elsewhere, {subject} were waiting{longer}.",
                "label": gold,
                "group": pair["id"],
                "source_id": pair["source_id"],
                "certainty": pair["certainty"],
                "material": "corpus",
                "form": "corpus",
                **_facts(switched, on),
            }


def _sentence(text: str) -> str:
    """The text with a full stop where it has no mark at its end."""
    bare = text.rstrip()
    return bare if bare.endswith((".", "!", "?", "”", '"', "'", "’", ")")) else f"{bare}."


def _without_cues(pairs: pl.DataFrame) -> pl.DataFrame:
    """The pairs that have no negation, hinting word, antonym or number of their own, as far as words tell."""
    from acidtest.text.cues import numbers_in, pair_cues

    present = pair_cues(pairs["premise"], pairs["hypothesis"]).select("negation", "cue_words", "antonym")
    numbers = [(numbers_in(pairs[side]).list.len() > 0).alias(side) for side in ("premise", "hypothesis")]
    return pairs.filter(~present.hstack(numbers).select(pl.any_horizontal(pl.all())).to_series())
