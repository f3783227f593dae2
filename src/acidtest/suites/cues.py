"""Suite ``cues``: gold crossed with the cues a model may answer by, so that the effect of each can be measured alone.

Six cues are switched on and off without touching gold: a negation word, words that hint at a label, an antonym, another
number, a long hypothesis, a misspelling. In pairs made of templates, one hypothesis is asked with premises of every
gold and of four forms: the premise has not all its words, has all of them, has them in a row, or has them as a clause.
Pairs of a corpus keep their gold and get a second sentence in which the six cues are switched.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import Draws
from acidtest.core.errors import AcidtestError
from acidtest.core.suite import Card, Kind, Suite, complete_columns
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.corpus import source_pairs

CITATION = "acidtest; the cues are those of Naik et al. (2018), McCoy et al. (2019) and Gururangan et al. (2018)"
_NAME = "cues"

SWITCHED = ("negation", "cue_words", "antonym", "number", "length", "misspelling")
"""The cues that are on or off in every pair: the columns that hold yes or no."""
FORMS = ("none", "overlap", "subsequence", "constituent")
"""What the premise has of the hypothesis: not all words, all words, all in a row, all as a clause."""
GOLD = ("entailment", "neutral", "contradiction")
_PER_CELL = 16
_SETTINGS = 2 ** (len(SWITCHED) - 2)
"""Items that put one pair into every cell of a gold and form: each is asked under four settings of the cues."""
# fmt: off
_ORDER = (
    0, 1, 5, 7, 15, 16, 24, 26, 30, 31, 3, 28, 2, 18, 13, 29,
    4, 12, 8, 6, 14, 10, 9, 22, 23, 19, 11, 20, 21, 17, 25, 27,
)
# fmt: on
"""The settings in the order of turns, as numbers whose bits are the cues; each stands for the opposite one, too.

Cues are compared between settings that differ in one cue: the first six have such a pair for every cue, the first ten
two and more.
"""
_CANDIDATES = 8
"""Pairs of the corpus looked at for each item."""
_COLUMNS: dict[str, Kind] = {
    "material": "factor",
    "form": "factor",
    **dict.fromkeys(SWITCHED, "factor"),
    "switched": "text",
    "frame": "text",
    "turn": "text",
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
    draws = Draws(request.seed, _NAME)
    pairs = source_pairs(replace(request, n=None), columns=_COLUMNS)
    asked = _settings(_draw_words(_SETTINGS * (_PER_CELL if request.n is None else request.n), draws))
    rows = pl.concat([_template_rows(asked), _corpus_rows(pairs, asked, draws)], how="diagonal_relaxed")
    frame = complete_columns(rows.with_columns(turn=_turns(rows, draws)).drop("item"), _NAME)
    card = Card(
        _NAME,
        version=2,
        seed=request.seed,
        arguments={"from": pairs.name},
        sources=pairs.card.sources,
        licence="Apache-2.0",
        citation=CITATION,
        note=_NOTE,
        columns=_COLUMNS,
        sample_by="turn",
    )
    return Suite(frame.lazy(), card)


def _draw_words(items: int, draws: Draws) -> pl.DataFrame:
    """The words of each item, from the tables of ``data/cues``; a row for each item.

    A word and its synonym may change places; the other people and the other number are never those of the hypothesis.
    """
    from acidtest.io.wordlists import packaged_table

    keys = np.arange(items, dtype=np.uint64)

    def chosen(table: pl.DataFrame, slot: str, **names: str) -> pl.DataFrame:
        """A drawn row of a table for each item, its columns renamed."""
        return table.select(**names)[draws.choices(keys, table.height, slot)]

    def two_different(table: pl.DataFrame, slot: str) -> tuple[pl.DataFrame, pl.DataFrame]:
        first = draws.choices(keys, table.height, slot)
        other = (first + 1 + draws.choices(keys, table.height - 1, f"other {slot}")) % table.height
        return table[first], table[other]

    adjectives = packaged_table("cues/adjectives.tsv")
    people, others = two_different(packaged_table("cues/people.tsv"), "people")
    number, other_number = two_different(pl.DataFrame({"number_word": _NUMBERS}), "number")
    words = [
        people.rename({"noun": "people", "synonym": "people_synonym"}),
        others.select(others="noun"),
        number,
        other_number.rename({"number_word": "other_number"}),
        chosen(packaged_table("cues/verbs.tsv"), "verb", verb="verb", verb_synonym="synonym"),
        chosen(adjectives.filter(pl.col("hints") != ""), "hinting", hinting="adjective", hinting_antonym="antonym"),
        chosen(adjectives.filter(pl.col("hints") == ""), "plain", plain="adjective", plain_antonym="antonym"),
        chosen(packaged_table("cues/unrelated.tsv"), "unrelated", unrelated="adjective"),
        chosen(packaged_table("cues/belongings.tsv"), "belongings", belongings="noun", misspelt="misspelling"),
        chosen(
            packaged_table("cues/circumstances.tsv"), "circumstance", circumstance="phrase", paraphrase="paraphrase"
        ),
        chosen(packaged_table("cues/elsewhere.tsv"), "elsewhere", elsewhere="phrase"),
    ]
    frame = pl.concat(words, how="horizontal").with_row_index("item")
    frame = frame.with_columns(frame_draw=pl.Series(draws.choices(keys, 1 << 16, "frame")))
    return frame.with_columns(
        part
        for place, word in enumerate(("people", "verb"))
        for part in _swapped(word, f"{word}_synonym", pl.Series(draws.choices(keys, 4, "sides") >> place & 1 == 1))
    )


def _swapped(first: str, second: str, where: pl.Series) -> list[pl.Expr]:
    """Two columns that change places in some rows."""
    both = pl.when(where)
    return [both.then(second).otherwise(first).alias(first), both.then(first).otherwise(second).alias(second)]


def _settings(words: pl.DataFrame) -> pl.DataFrame:
    """Every item under its four settings, with the subject of the hypothesis and the other people of the premise.

    One cue is switched alone. The other five have one setting and the opposite one, so that every cue is on in half of
    an item's rows, and what is particular to the item adds nothing to its effect. Items take turns: 16 such settings
    for the first cue, which make every cell once, then 16 for the next, and so on.
    """
    rows = []
    for item in range(words.height):
        turn, setting = divmod(item, _SETTINGS)
        switched = SWITCHED[turn % len(SWITCHED)]
        others = [cue for cue in SWITCHED if cue != switched]
        for opposite, value in product((False, True), repeat=2):
            on = {cue: bool(setting >> place & 1) != opposite for place, cue in enumerate(others)}
            rows.append({"item": item, "switched": switched, **on, switched: value})
    asked = pl.DataFrame(rows, schema_overrides={"item": pl.UInt32}).join(words, on="item", maintain_order="left")
    adjective = pl.when("cue_words").then("hinting").otherwise("plain")
    antonym = pl.when("cue_words").then("hinting_antonym").otherwise("plain_antonym")
    belongings = pl.when("misspelling").then("misspelt").otherwise("belongings")
    no = pl.when("negation").then(pl.lit("no ")).otherwise(pl.lit(""))
    number = pl.when("number").then(pl.col("other_number") + " ").otherwise(pl.lit(""))
    return asked.with_columns(
        pl.format("{} {} {} with {}{}", pl.col("number_word"), adjective, "people", no, belongings).alias("subject"),
        pl.format("{} {} {} carrying {}{}", pl.col("number_word"), adjective, "people_synonym", no, belongings).alias(
            "subject_synonym"
        ),
        pl.format("{}{} {}", number, pl.when("antonym").then(antonym).otherwise("unrelated"), "others").alias("others"),
    )


def _turns(rows: pl.DataFrame, draws: Draws) -> pl.Series:
    """In which turn a limited sample takes each row: every 32 turns hold one row of every cell.

    A turn has one setting and the opposite one with every gold and form, so that every cue is on in half of its rows.
    The rows of one gold and material are of one item: a hypothesis is asked with premises of all forms. An item has
    two such settings, which are taken in turns of their own, since more items tell more than more rows of an item; only
    every second time that all cues had their turn they are drawn together, for pairs in which one cue is switched.
    """
    code = pl.sum_horizontal(pl.when(pl.col(cue) == "yes").then(1 << place) for place, cue in enumerate(SWITCHED))
    setting = pl.min_horizontal(code, 2 ** len(SWITCHED) - 1 - code)
    whole = pl.col("item") // (_SETTINGS * len(SWITCHED)) % 2 == 1
    unit = pl.format("{} {} {} {}", "material", "label", "item", pl.when(whole).then(-1).otherwise(setting))
    draw = pl.Series(draws.bits(digests(rows.select(unit).to_series()), "turn"))
    units = rows.select("material", "label", setting=setting, draw=draw)
    before = pl.col("draw").rank("dense").over("material", "label", "setting").cast(pl.Int64) - 1
    place = pl.col("setting").replace_strict(_ORDER, range(len(_ORDER)), return_dtype=pl.Int64)
    return units.select((before * len(_ORDER) + place).cast(pl.String)).to_series()


def _template_rows(asked: pl.DataFrame) -> pl.DataFrame:
    """Every setting of every item with a premise of each gold and form; without overlap the premise has synonyms."""
    from acidtest.io.wordlists import packaged_table

    frames = packaged_table("cues/frames.tsv")
    synonyms = frames.filter(pl.col("form") == "overlap").with_columns(form=pl.lit("none"))
    frames = pl.concat([synonyms, frames]).with_columns(
        choice=pl.int_range(pl.len()).over("gold", "form"), choices=pl.len().over("gold", "form")
    )
    rows = asked.join(frames, how="cross").filter(pl.col("frame_draw") % pl.col("choices") == pl.col("choice"))
    in_others_words = pl.col("form") == "none"
    pattern = pl.when(pl.col("length") | (pl.col("short") == "")).then("premise").otherwise("short")
    fillers = {
        "{subject}": "the " + pl.when(in_others_words).then("subject_synonym").otherwise("subject"),
        "{others}": "the " + pl.col("others"),
        "{verb}": pl.when(in_others_words).then("verb_synonym").otherwise("verb"),
        "{circumstance}": pl.when(in_others_words).then("paraphrase").otherwise("circumstance"),
    }
    for slot, words in fillers.items():
        pattern = pattern.str.replace(slot, words, literal=True)
    circumstance = pl.when("length").then(" " + pl.col("circumstance")).otherwise(pl.lit(""))
    return rows.select(
        *_FACTS,
        premise=pattern.str.slice(0, 1).str.to_uppercase() + pattern.str.slice(1),
        hypothesis=pl.format("The {} {}{}.", "subject", "verb", circumstance),
        label="gold",
        group=pl.format("item {}", "item"),
        certainty=pl.lit("logical"),
        material=pl.lit("templates"),
        form="form",
        frame="frame",
    )


def _corpus_rows(pairs: Suite, asked: pl.DataFrame, draws: Draws) -> pl.DataFrame:
    """Pairs of the corpus with a second sentence on both sides; that of the premise says more.

    A corpus with fewer suitable pairs than items has some asked with several sentences.
    """
    frame = pairs.frame.select("id", "premise", "hypothesis", "label", "certainty", "source_id").collect()
    items = asked["item"].n_unique()
    frame = frame[np.argsort(draws.bits(digests(frame["id"]), "corpus"), kind="stable")]
    suitable = _without_cues(frame.group_by("label", maintain_order=True).head(_CANDIDATES * items))
    parts = []
    for gold in GOLD:
        chosen = suitable.filter(pl.col("label") == gold)[:items].with_row_index("pair")
        if chosen.is_empty():
            raise AcidtestError(
                f"suite {_NAME!r} needs pairs of every gold without negation, antonym or number, but {pairs.name!r} "
                f"has none with gold {gold}; use a corpus with three labels, or leave --from out"
            )
        place = pl.col("item") % chosen.height
        parts.append(asked.with_columns(pair=place).join(chosen, on="pair", maintain_order="left"))
    rows = pl.concat(parts)
    place = pl.when("length").then(" " + pl.col("elsewhere")).otherwise(pl.lit(""))
    return rows.select(
        *_FACTS,
        premise=pl.format(
            "{} Elsewhere, {} were waiting for {} {}.", _sentence("premise"), "subject", "others", "elsewhere"
        ),
        hypothesis=pl.format("{} Elsewhere, {} were waiting{}.", _sentence("hypothesis"), "subject", place),
        label="label",
        group="id",
        source_id="source_id",
        certainty="certainty",
        material=pl.lit("corpus"),
        form=pl.lit("corpus"),
    )


_FACTS = (
    pl.col("item", "switched"),
    *(pl.when(cue).then(pl.lit("yes")).otherwise(pl.lit("no")).alias(cue) for cue in SWITCHED),
)


def _sentence(column: str) -> pl.Expr:
    """A text, with a full stop where it has no mark at its end."""
    bare = pl.col(column).str.strip_chars_end()
    return pl.when(bare.str.contains(r"[.!?”\"'’)]$")).then(bare).otherwise(bare + ".")


def _without_cues(pairs: pl.DataFrame) -> pl.DataFrame:
    """The pairs that have no negation, hinting word, antonym or number of their own, as far as words tell."""
    from acidtest.pairs.cues import numbers_in, pair_cues

    present = pair_cues(pairs["premise"], pairs["hypothesis"], ["negation", "cue_words", "antonym"])
    numbers = [(numbers_in(pairs[side]).list.len() > 0).alias(side) for side in ("premise", "hypothesis")]
    return pairs.filter(~present.hstack(numbers).select(pl.any_horizontal(pl.all())).to_series())
