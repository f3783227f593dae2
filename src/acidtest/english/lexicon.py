"""The tags that words may have regardless of context, from the lexicon of Brill's tagger (shipped with textblob), our
own word list, the shapes of unknown words, and related forms in the lexicon (*lighted* implies a verb *light*).

Rules that change a word's tag depending on its neighbours, after Brill (1992), applied to whole columns.

A rule is written ``t-1=DT|PRP$ t+1!=NN w0=light``: the tag one place before is a determiner or possessive, the one
after is not NN, the word itself is "light". ``t-1,-2=MD`` holds if either of the two places has MD. Places beyond
the ends of a sentence have the tag START.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from hashlib import blake2b
from importlib.util import find_spec
from operator import or_
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from acidtest.core.errors import AcidtestError
from acidtest.english.tokens import Flags, Numbers
from acidtest.io.wordlists import packaged_table

Tags = NDArray[np.uint8]
Masks = NDArray[np.uint64]

START = "START"

TAGS = tuple(
    f"{START} NN NNS NNP NNPS VB VBD VBG VBN VBP VBZ MD JJ JJR JJS RB RBR RBS RP IN TO DT PDT WDT PRP PRP$ WP WP$ WRB "
    "EX CC CD UH POS FW LS SYM . , : $ # `` '' -LRB- -RRB-".split()
)
"""The Penn tags, and ``START`` for places outside a sentence."""

NUMBER = {tag: number for number, tag in enumerate(TAGS)}

FARTHEST = 3
"""The most places that a rule may look to either side."""

_CONDITION = re.compile(r"([tw])([+\-\d,]+)(!?=)(\S+)")


@dataclass(frozen=True)
class RuleCondition:
    """Holds if one of the places (relative to a word) has one of the tags or words; negated, if none has."""

    places: tuple[int, ...]
    values: tuple[str, ...]
    words: bool
    negated: bool


@dataclass(frozen=True)
class TagRule:
    """Changes an old tag to the new one where all conditions hold and the word may have the new tag."""

    old: tuple[str, ...]
    new: str
    conditions: tuple[RuleCondition, ...]


@dataclass(frozen=True)
class TagLine:
    """The tokens of all sentences, with ``FARTHEST`` empty places between sentences."""

    tag: Tags
    word: Numbers
    """Row in ``words``; ``len(words)`` for the places between sentences."""
    may: Masks
    """The tags a word may have, one bit each."""
    words: pl.Series
    """The different words, in lower case."""


def parse_rule(old: str, new: str, when: str) -> TagRule:
    """The rule in three cells of a table; raises ValueError with the problem if they are not valid."""
    tags = TAGS[1:] if old == "*" else tuple(old.split("|"))
    for tag in (*tags, new):
        if tag not in NUMBER:
            raise ValueError(f"{tag!r} is no tag of the Penn Treebank")
    return TagRule(tags, new, tuple(_condition(text) for text in when.split(" ")))


def parse_brill_rule(line: str) -> TagRule | None:
    """The rule in a line of Brill's tagger, such as ``NN VB PREVTAG TO``; None for any other line."""
    cells = line.replace("STAART", START).split()
    written = _brill_conditions().get(cells[2], "") if len(cells) > 3 else ""
    if written.count("{") != len(cells) - 3 or not {*cells[:2]} <= {*TAGS, "*"}:
        return None
    old, new, _, *values = cells
    return parse_rule(old, new, written.format(*values))


@cache
def _brill_conditions() -> dict[str, str]:
    return dict(packaged_table("tagging/brill.tsv").iter_rows())


def tag_mask(tags: Iterable[str]) -> int:
    """A mask with one bit for each of the tags."""
    return reduce(or_, (1 << NUMBER[tag] for tag in tags), 0)


def apply_rules(line: TagLine, rules: Sequence[TagRule]) -> Tags:
    """The tags after applying the rules in order, each to all sentences at once."""
    tag = line.tag.copy()
    word_number = {word: number for number, word in enumerate(line.words)}
    places = {new: np.flatnonzero(line.may & np.uint64(tag_mask([new]))) for new in {rule.new for rule in rules}}
    for rule in rules:
        positions = places[rule.new]
        positions = positions[_flags_for(rule.old, NUMBER, size=len(TAGS))[tag[positions]]]
        for condition in rule.conditions:
            column: NDArray[np.integer[Any]] = line.word if condition.words else tag
            number, size = (word_number, len(line.words) + 1) if condition.words else (NUMBER, len(TAGS))
            chosen = _flags_for(condition.values, number, size=size)
            holds = np.any([chosen[column[positions + place]] for place in condition.places], axis=0)
            positions = positions[holds != condition.negated]
        tag[positions] = NUMBER[rule.new]
    return tag


def _flags_for(names: Sequence[str], number: Mapping[str, int], *, size: int) -> Flags:
    flags = np.zeros(size, dtype=np.bool_)
    flags[[number[name] for name in names if name in number]] = True
    return flags


def _condition(text: str) -> RuleCondition:
    match = _CONDITION.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no condition such as t-1=DT or w+1!=of|in")
    kind, places, sign, values = match.groups()
    where = tuple(int(place) for place in places.split(","))
    if max(map(abs, where)) > FARTHEST:
        raise ValueError(f"{text!r} looks farther than {FARTHEST} places")
    # The words of a line are in lower case.
    named = tuple((values.lower() if kind == "w" else values).split("|"))
    unknown = [tag for tag in named if kind == "t" and tag not in NUMBER]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is no tag of the Penn Treebank")
    return RuleCondition(where, named, words=kind == "w", negated=sign == "!=")


LEXICON, CONTEXT = "en-lexicon.txt", "en-context.txt"
"""Files of textblob: the lexicon, and the rules that depend on context."""

_PROPER = [NUMBER["NNP"], NUMBER["NNPS"]]


def is_listed(words: pl.Series) -> pl.Series:
    """Whether the lexicon has each word as it is written."""
    return (
        pl.DataFrame({"word": words})
        .join(_entries(words), on="word", how="left", maintain_order="left")["tag"]
        .is_not_null()
    )


@dataclass(frozen=True)
class Readings:
    """The most likely tag of each word regardless of context, and all tags it may have, one bit each."""

    tag: Tags
    may: Masks


def readings(words: pl.Series) -> tuple[Readings, Readings]:
    """The readings of each word inside a sentence, and as its first word, where a capital says little."""
    shape, lower = _readings_by_shape(words), words.str.to_lowercase()
    entries = _entries(pl.concat([words, lower]))
    exact, low = (
        pl.DataFrame({"word": column}).join(entries, on="word", how="left", maintain_order="left")
        for column in (words, lower)
    )
    capital = words.str.contains(r"^\p{Lu}").to_numpy()
    shouted = words.str.contains(r"^\p{Lu}{2,}$").to_numpy()
    is_long = words.str.len_chars().to_numpy() > 6
    names = tag_mask(("NNP", "NNPS"))
    exact_tag, low_tag = (known["tag"].fill_null(0).to_numpy() for known in (exact, low))
    exact_may, low_may = (known["may"].fill_null(0).to_numpy() for known in (exact, low))
    is_listed, is_name = exact["tag"].is_not_null().to_numpy(), np.isin(exact_tag, _PROPER)
    common = low["tag"].is_not_null().to_numpy() & ~np.isin(low_tag, _PROPER)

    def read(*, initial: bool) -> Readings:
        # "US" is the country even as first word; "MEN", which the lexicon does not have, means "men".
        use_low = common & (~capital | (initial & ~shouted) | (shouted & ~is_listed))
        use_exact = is_listed & capital & ~use_low
        by_shape = np.isin(shape.tag, [NUMBER["RB"], NUMBER["VBG"]]) & initial & is_long
        tag = np.where(capital & (shape.tag != NUMBER["CD"]) & ~by_shape, NUMBER["NNP"], shape.tag)
        tag = np.where(use_exact, exact_tag, np.where(use_low, low_tag, tag))
        may: Masks = np.where(common, low_may, shape.may)
        may |= np.where(use_exact, exact_may, 0).astype(np.uint64)
        may |= np.where(capital, names, 0).astype(np.uint64)
        may[use_exact & ~common & is_name] = names
        return Readings(tag.astype(np.uint8), may)

    return read(initial=False), read(initial=True)


def textblob_lines(name: str) -> list[str]:
    """The lines of a file of textblob, without comments and empty lines."""
    lines = _textblob_file(name).decode("utf-8").splitlines()
    return [line for line in lines if line.strip() and not line.startswith(";;;")]


def lexicon_digest() -> str:
    """A short digest of the files taken from textblob."""
    return blake2b(b"".join(map(_textblob_file, (LEXICON, CONTEXT))), digest_size=4).hexdigest()


def _textblob_file(name: str) -> bytes:
    # Importing textblob would take a second and load NLTK.
    spec = find_spec("textblob")
    if spec is None or not spec.submodule_search_locations:
        raise AcidtestError("the light tagger needs textblob; install it with: pip install textblob")
    return (Path(spec.submodule_search_locations[0]) / "en" / name).read_bytes().replace(b"\r\n", b"\n")


def _readings_by_shape(words: pl.Series) -> Readings:
    """The readings of unknown words: the first shape that fits gives their tags, the most likely one first."""
    tag, may = np.zeros(len(words), np.uint8), np.zeros(len(words), np.uint64)
    for shape, tags in packaged_table("tagging/shapes.tsv").iter_rows():
        fits = (may == 0) & words.str.contains(shape).to_numpy()
        tag[fits], may[fits] = NUMBER[tags.split()[0]], tag_mask(tags.split())
    return Readings(tag, may)


@cache
def _lexicon() -> pl.DataFrame:
    """The lexicon: columns word, tag (a position in ``TAGS``) and may (the tags in our own list, one bit each)."""
    listed = pl.read_csv(
        _textblob_file(LEXICON),
        separator=" ",
        quote_char=None,
        has_header=False,
        comment_prefix=";;;",
        schema={"word": pl.String, "tag": pl.String},
        truncate_ragged_lines=True,
    )
    # A word without letters is tagged by its shape: the lexicon has Twitter's "2" for "to", which is wrong elsewhere.
    listed = listed.filter(pl.col("word").str.contains(r"\p{L}"), pl.col("tag").is_in(TAGS))
    packaged = packaged_table("tagging/words.tsv").select("word", tags=pl.col("tags").str.split(" "))
    masks = pl.Series([tag_mask(tags) for tags in packaged["tags"].to_list()], dtype=pl.UInt64)
    packaged = packaged.select("word", tag=pl.col("tags").list.first(), may=masks)
    every = pl.concat([listed, packaged], how="diagonal").unique("word", keep="last")
    return every.with_columns(pl.col("tag").cast(pl.Enum(TAGS)).to_physical())


def _entries(words: pl.Series) -> pl.DataFrame:
    """The readings of those words that the lexicon has, among others: columns word, tag and may."""
    wanted = pl.DataFrame({"word": pl.concat([words, _stems(words)]).unique()})
    entries = _lexicon().join(wanted, on="word", how="semi")
    may = related_tags(entries, _lexicon()) | np.left_shift(np.uint64(1), entries["tag"].to_numpy().astype(np.uint64))
    return entries.with_columns(pl.col("may").fill_null(pl.Series(may)))


def _stems(words: pl.Series) -> pl.Series:
    """All words without -s, then all without -es, then all with -y in place of -ies."""
    return pl.concat(words.str.replace(ending, stem) for ending, stem in (("s$", ""), ("es$", ""), ("ies$", "y")))


def related_tags(entries: pl.DataFrame, lexicon: pl.DataFrame) -> Masks:
    """The further tags that some words of a lexicon may have, judging by related words, one bit each.

    Both frames have the columns word and tag. Only words whose stems are also among the entries get all their tags.
    """
    words, tag = entries["word"], entries["tag"].to_numpy()

    def are(*tags: str) -> Flags:
        return np.isin(tag, [NUMBER[name] for name in tags])

    def have(stems: pl.Series, ending: str, *tags: str) -> Flags:
        """Which words have a stem that with the ending makes a word of the lexicon with one of the tags."""
        is_form = pl.col("word").str.ends_with(ending) & pl.col("tag").is_in([NUMBER[name] for name in tags])
        return any_in(stems + ending, lexicon.filter(is_form)["word"])

    def any_in(forms: pl.Series, listed: pl.Series) -> Flags:
        """Which words have one of their forms among those listed; ``forms`` has one of every word, then another."""
        is_listed = forms.is_in(listed.implode()).to_numpy()
        flags: Flags = np.any(is_listed.reshape(len(forms) // max(len(words), 1), len(words)), axis=0)
        return flags

    # Before an ending a word has several possible spellings: walk–walking, bake–baking, stop–stopping, try–tried.
    bare, twice = words.str.replace("e$", ""), words + words.str.slice(-1)
    spellings = pl.concat([words, bare, twice, words.str.replace("([^aeiou])y$", "${1}i")])
    inflected = have(spellings, "ing", "VBG", "NN", "JJ") | have(spellings, "ed", "VBD", "VBN", "JJ")
    verbs = (inflected & (words.str.len_chars().to_numpy() > 1)) | are("VB", "VBP")
    nouns = have(spellings, "es", "NNS") | have(words, "s", "NNS") | are("NN")
    qualities = have(spellings, "er", "JJR") | have(spellings, "est", "JJS")
    qualities |= have(spellings, "ly", "RB") | have(words, "ness", "NN")
    plain, forms = are("NN", "VB", "VBP", "JJ", "RB", "NNP"), are("NNS", "VBZ", "VBD", "VBN", "VBG", "NN")
    of_verb, of_noun = (any_in(_stems(words), words.filter(flags)) for flags in (verbs, nouns))
    in_s, in_ed, in_ing = (words.str.ends_with(ending).to_numpy() for ending in ("s", "ed", "ing"))
    chosen = (
        (plain & verbs, ("VB", "VBP")),
        (plain & nouns, ("NN",)),
        (plain & qualities, ("JJ",)),
        (forms & in_s & of_verb, ("VBZ",)),
        (forms & in_s & of_noun, ("NNS",)),
        ((forms | are("JJ")) & in_ed, ("VBD", "VBN", "JJ")),
        (forms & in_ing, ("VBG", "NN", "JJ")),
        (are("JJR", "RBR"), ("JJR", "RBR")),
        (are("JJS", "RBS"), ("JJS", "RBS")),
    )
    may = np.zeros(len(words), np.uint64)
    for flags, names in chosen:
        may |= np.where(flags, tag_mask(names), 0).astype(np.uint64)
    return may
