"""Measures properties of a sentence pair that may mislead a model: overlap, length, negation, numbers, spelling.

Follows the error typology of Naik et al. (2018), section 2. Word lists are in ``data/typology``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import polars as pl

from acidtest.english.misspelling import function_words, misspelt_words
from acidtest.english.sentences import word_forms
from acidtest.english.values.numbers import PATTERN, number_from_words
from acidtest.io.wordlists import packaged_table
from acidtest.pairs.heuristics import lexical_overlap, subsequence, words
from acidtest.pairs.word_relations import antonym_pairs, opposed_words

CUES = {
    "overlap": "share of the hypothesis's different content words that the premise has, in any form",
    "length_ratio": "words of the premise for each word of the hypothesis",
    "negations": "negation words, premise / hypothesis",
    "antonyms": "antonyms of WordNet across the two sentences, premise/hypothesis",
    "numbers": "numbers and quantifiers that the other sentence does not have, premise / hypothesis",
    "slips": "words that are misspelt, with what they may stand for, and subjects whose verb does not agree",
}
"""The measurements shown to a reader of a pair, each with its description."""

LONG_HYPOTHESIS = 13
"""A hypothesis of this many words or more is long."""

_CONTRACTED = r"n['’]t$"
_NO_NEGATION = r"\bnot (?:only|just|merely|to mention)\b|\bno (?:doubt|wonder|matter)\b|\bor not\b|\bwhy not\b"
_DIGITS = r"\p{Nd}+(?:,\p{Nd}{3})*(?:\.\p{Nd}+)?"
# Polars has no look-around: idioms that only look like amounts are removed before the search.
_IDIOMS = (
    r"\b(?:any|every|some|each|this|that|which|the|another|an?)[ -]one\b"
    r"|\bone (?:another|of|can|could|should|may|might|must)\b|\bone['’]s\b"
    r"|\b(?:at|after|of|above|not at) all\b|\ball (?:the time|right|along|over|day|night|kinds|sorts)\b|\beach other\b"
    r"|\bnothing but\b|\bno more than\b|\ba lot (?:more|less|better|worse|of times?)\b"
)
_COMPARISONS = ("half", "less", "more")
_CLAUSE = r"(?:\n|[.,;:!?] ?|\b(?:and|but|because|that|if|so|when|who) |^)"
"""The start of a clause; without it, "it are" in "the parts of it are" would count as a mistake."""


@dataclass(frozen=True)
class PairCues:
    """The measurements of some sentence pairs, a column each.

    ``overlap`` is null for a hypothesis without content words, ``length_ratio`` for one without words. All columns of
    words are lists.
    """

    overlap: pl.Series
    length_ratio: pl.Series
    premise_words: pl.Series
    premise_negations: pl.Series
    hypothesis_negations: pl.Series
    antonyms: pl.Series
    premise_amounts: pl.Series
    """Numbers and quantifiers, normalised, that the hypothesis does not have."""
    hypothesis_amounts: pl.Series
    unequal: pl.Series
    """Whether the two sides have different amounts that can be compared (see ``unequal``)."""
    slips: pl.Series

    @property
    def text(self) -> pl.DataFrame:
        """The measurements as text for people: the columns of ``CUES``, null where nothing was found."""
        shown = {
            "overlap": self.overlap.round(2),
            "length_ratio": self.length_ratio.round(1),
            "negations": _two_sides(self.premise_negations, self.hypothesis_negations),
            "antonyms": self.antonyms.list.join(", "),
            "numbers": _two_sides(self.premise_amounts, self.hypothesis_amounts),
            "slips": self.slips.list.join(", "),
        }
        return pl.DataFrame(shown).with_columns(pl.col(pl.String).replace("", None))


def cues(premises: pl.Series, hypotheses: pl.Series) -> PairCues:
    """The measurements of each sentence pair."""
    premises, hypotheses = (texts.cast(pl.String).fill_null("") for texts in (premises, hypotheses))
    here, there = words(premises), words(hypotheses)
    amounts = pl.DataFrame({"premise": amounts_in(premises), "hypothesis": amounts_in(hypotheses)})
    counts = pl.DataFrame({"premise": here.list.len(), "hypothesis": there.list.len()})
    ratio = pl.when(pl.col("hypothesis") > 0).then(pl.col("premise") / pl.col("hypothesis"))
    both = premises + "\n" + hypotheses
    slips = pl.DataFrame({"spelling": misspelt_words(both), "agreement": disagreements(both)})
    return PairCues(
        overlap=overlap(here, there),
        length_ratio=counts.select(ratio.alias("length_ratio")).to_series(),
        premise_words=counts["premise"],
        premise_negations=negations(premises),
        hypothesis_negations=negations(hypotheses),
        antonyms=opposed_words(premises, hypotheses),
        premise_amounts=amounts["premise"].list.set_difference(amounts["hypothesis"]).list.sort(),
        hypothesis_amounts=amounts["hypothesis"].list.set_difference(amounts["premise"]).list.sort(),
        unequal=unequal(amounts["premise"], amounts["hypothesis"]),
        slips=slips.select(pl.concat_list("spelling", "agreement")).to_series(),
    )


def pair_cues(premises: pl.Series, hypotheses: pl.Series, cues: Iterable[str] = ()) -> pl.DataFrame:
    """Whether cues are in each pair, as far as words tell: a column of booleans for each, by default for all."""
    return pl.DataFrame({cue: PAIR_CUES[cue](premises, hypotheses) for cue in cues or PAIR_CUES})


def has_negation(_: pl.Series, hypotheses: pl.Series) -> pl.Series:
    """Whether the hypothesis has a negation word."""
    return negations(hypotheses).list.len() > 0


def has_cue_words(_: pl.Series, hypotheses: pl.Series) -> pl.Series:
    """Whether the hypothesis has one of the words of suite ``cues`` that hint at a label."""
    hinting = packaged_table("cues/adjectives.tsv").filter(pl.col("hints") != "")["adjective"].implode()
    return words(hypotheses).list.set_intersection(hinting).list.len() > 0


def has_antonym(premises: pl.Series, hypotheses: pl.Series) -> pl.Series:
    """Whether the premise has an antonym of a word of the hypothesis."""
    rows = pl.int_range(len(premises), dtype=pl.UInt32, eager=True)
    return rows.is_in(antonym_pairs(premises, hypotheses)["row"].implode())


def has_other_number(premises: pl.Series, hypotheses: pl.Series) -> pl.Series:
    """Whether both sentences have numbers, and the premise one that the hypothesis has not."""
    numbers = pl.DataFrame({"premise": numbers_in(premises), "hypothesis": numbers_in(hypotheses)})
    other = pl.col("premise").list.set_difference("hypothesis").list.len() > 0
    return numbers.select(other & (pl.col("hypothesis").list.len() > 0)).to_series()


def is_long(_: pl.Series, hypotheses: pl.Series) -> pl.Series:
    """Whether the hypothesis has ``LONG_HYPOTHESIS`` words or more."""
    return words(hypotheses).list.len() >= LONG_HYPOTHESIS


def has_misspelling(_: pl.Series, hypotheses: pl.Series) -> pl.Series:
    """Whether a word of the hypothesis is misspelt."""
    return misspelt_words(hypotheses).list.len() > 0


PAIR_CUES: Mapping[str, Callable[[pl.Series, pl.Series], pl.Series]] = {
    "overlap": lexical_overlap,
    "subsequence": subsequence,
    "negation": has_negation,
    "cue_words": has_cue_words,
    "antonym": has_antonym,
    "number": has_other_number,
    "length": is_long,
    "misspelling": has_misspelling,
}
"""For each cue that words can tell, the function of premises and hypotheses that says yes or no."""


def numbers_in(sentences: pl.Series) -> pl.Series:
    """The numbers of each sentence as digits, however they are written."""
    return amounts_in(sentences).list.eval(pl.element().filter(pl.element().str.contains(r"^\d")))


def overlap(premise_words: pl.Series, hypothesis_words: pl.Series) -> pl.Series:
    """Share of each hypothesis's distinct content words that the premise has, in any form; null without any."""
    rows = pl.int_range(len(premise_words), dtype=pl.UInt32, eager=True)
    functional = function_words()["word"].implode()
    frames = (pl.DataFrame({"row": rows, "word": lists}) for lists in (premise_words, hypothesis_words))
    here, there = (
        frame.explode("word", empty_as_null=False, keep_nulls=False)
        .unique(maintain_order=True)
        .filter(~pl.col("word").is_in(functional))
        for frame in frames
    )
    bases = word_forms(pl.concat([here["word"], there["word"]]).unique())
    had = here.join(bases, on="word").select("row", "form").unique()
    shared = there.join(bases, on="word").join(had, on=["row", "form"], how="semi")
    shared = shared.select("row", "word", shared=True).unique()
    share = pl.col("shared").is_not_null().mean().alias("overlap")
    shares = there.join(shared, on=["row", "word"], how="left").group_by("row").agg(share)
    return pl.DataFrame({"row": rows}).join(shares, on="row", how="left", maintain_order="left")["overlap"]


def negations(sentences: pl.Series) -> pl.Series:
    """The negation words of each sentence (*no*, *never*, *don't* …), but not the *not* of *not only*."""
    listed = packaged_table("typology/negation_words.tsv")["word"].implode()
    negative = pl.element().is_in(listed) | pl.element().str.contains(_CONTRACTED)
    split = words(sentences.str.to_lowercase().str.replace_all(_NO_NEGATION, " "))
    return split.list.eval(pl.element().filter(negative)).list.unique(maintain_order=True)


def amounts_in(sentences: pl.Series) -> pl.Series:
    """The numbers of each sentence as digits, however they are written, and its quantifiers, normalised.

    *Several* and *some* become ``some``, *most* and *many* become ``many`` (``data/typology/quantifiers.tsv``).
    """
    amounts = dict(packaged_table("typology/quantifiers.tsv").select("phrase", "amount").iter_rows())
    phrases = "|".join(sorted(amounts, key=len, reverse=True))
    lower = sentences.str.to_lowercase().str.replace_all(_IDIOMS, " ")
    mentions = lower.str.extract_all(rf"{_DIGITS}|\b(?:{phrases}|{PATTERN}|zero)\b")
    kinds = mentions.explode(empty_as_null=False, keep_nulls=False).unique()
    values = pl.Series([amounts.get(kind) or _digits(kind) for kind in kinds], dtype=pl.String)
    return mentions.list.eval(pl.element().replace_strict(kinds, values)).list.unique(maintain_order=True)


def unequal(premise_amounts: pl.Series, hypothesis_amounts: pl.Series) -> pl.Series:
    """Whether two sentences have different amounts that can be compared; arguments are results of ``amounts_in``.

    Each has a number, or a quantifier, that the other does not have; or one says *more than*, *less than* or *half* and
    the other has a number.
    """
    sides = pl.DataFrame({"here": premise_amounts, "there": hypothesis_amounts})
    number = pl.element().str.contains(r"^\d")
    comparison = pl.element().is_in(_COMPARISONS)
    sides = sides.with_columns(
        pl.col("here").list.set_difference("there").alias("here_only"),
        pl.col("there").list.set_difference("here").alias("there_only"),
    )

    def has(side: str, kind: pl.Expr) -> pl.Expr:
        return pl.col(side).list.eval(kind.any(ignore_nulls=True)).list.first().fill_null(False)

    numbers = has("here_only", number) & has("there_only", number)
    quantifiers = has("here_only", ~number & ~comparison) & has("there_only", ~number & ~comparison)
    one = has("here_only", comparison) & has("there", number)
    other = has("there_only", comparison) & has("here", number)
    return sides.select((numbers | quantifiers | one | other).alias("unequal")).to_series()


def disagreements(texts: pl.Series) -> pl.Series:
    """The phrases that do not agree in number at the beginning of a clause, such as *they was* or *a women*."""
    table = packaged_table("typology/agreement.tsv").select("first", "then").iter_rows()
    wrong = "|".join(f"(?:{first}) (?:{then})" for first, then in table).replace("'", "['’]")
    matches = texts.str.to_lowercase().str.extract_all(rf"{_CLAUSE}(?:{wrong})(?:[^\p{{L}}'’\-]|$)")
    bare = pl.element().str.replace(_CLAUSE, "").str.strip_chars_end(" .,;:!?\n")
    return matches.list.eval(bare).list.unique(maintain_order=True)


def _two_sides(premise: pl.Series, hypothesis: pl.Series) -> pl.Series:
    """Both sides as ``no not / never``, with a dash for an empty side; null where both are empty."""
    sides = pl.DataFrame({"premise": premise.list.join(" "), "hypothesis": hypothesis.list.join(" ")})
    shown = pl.concat_str(pl.all().replace("", "–"), separator=" / ")
    return sides.select(pl.when(pl.any_horizontal(pl.all() != "")).then(shown)).to_series()


def _digits(number: str) -> str:
    """A number in digits, without commas and empty decimals."""
    value = number_from_words(number)
    return str(value) if value is not None else f"{float(number.replace(',', '')):.15g}"
