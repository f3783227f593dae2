"""How often two words stand side by side, to recognise a sentence that nobody would say.

Counts come from the user's file: a list of bigrams, plain text or an NLI corpus. Without a file, the packaged counts of
a word beside a part of speech are used: they know that a noun follows *of*, but not which noun.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path

import polars as pl

from acidtest.core.errors import FileError
from acidtest.core.suite import Suite, visit_batches
from acidtest.corpora.files import read_corpus
from acidtest.english.tokens import tokens
from acidtest.io.blocks import Text, begins_with, scan_text
from acidtest.io.tables import ENDINGS

LEAST = 10
"""How often a pair must have been seen, as in Glockner et al. (2018), section 3.1."""

_TELLING = 300
"""The count from which a word is common enough that never seeing it beside another word is evidence."""

EDGE = ""
"""The neighbour before the first and after the last word of a text."""

EXPECTED = "a list of bigrams with counts (red car⇥120), plain text, or a file of premises and hypotheses"
"""What a file of bigrams may be."""

_FORMS = (
    r'^"?(?P<left>[^\s"]+?)"?[ ,;]"?(?P<right>[^\s"]+?)"?[,;] ?"?(?P<n>\d+)"?\s*$',
    r"^\s*(?P<left>\S+)[\t ]+(?P<right>\S+)[\t ]+(?P<n>\d+)\s*$",
    # As `sort | uniq -c` writes it.
    r"^\s*(?P<n>\d+)[\t ]+(?P<left>\S+)[\t ]+(?P<right>\S+)\s*$",
)
"""The lines of a list: separated by commas; by tabs or spaces with the count last; with the count first."""


@dataclass(frozen=True)
class Bigrams:
    """Pairs of lower-case words that occur side by side often enough."""

    pairs: pl.DataFrame
    """Columns left and right."""

    def plausible(self, previous: pl.Series, words: pl.Series, following: pl.Series) -> pl.Series:
        """Whether each word is known beside both neighbours; for several words, their first and last are looked up."""
        lower = words.str.to_lowercase()
        first, last = lower.str.extract(r"^(\S+)"), lower.str.extract(r"(\S+)$")
        return self._known(previous, first) & self._known(last, following)

    def _known(self, left: pl.Series, right: pl.Series) -> pl.Series:
        beside_an_edge = (left == EDGE) | (right == EDGE) | right.str.contains(r"^\W+$") | left.str.contains(r"^\W+$")
        return _stand_in(self.pairs, left, right) | beside_an_edge


def _stand_in(pairs: pl.DataFrame, left: pl.Series, right: pl.Series) -> pl.Series:
    """Whether each pair (left, right) is a row of ``pairs``."""
    queries = pl.DataFrame({"left": left, "right": right}).with_row_index("row")
    return queries["row"].is_in(queries.join(pairs, on=["left", "right"], how="semi")["row"].implode())


def read_bigrams(path: str | Path, *, least: int = LEAST) -> Bigrams:
    """The bigrams of a file that occur at least ``least`` times; the kind of file is recognised by its content.

    A list has a bigram and its count on every line, with an optional header; plain text is counted line by line. Both
    are read in blocks, so that only the distinct bigrams are in memory.
    """
    path = Path(path)
    text = None if path.is_dir() or path.suffix.lower() in (".parquet", ".xml") else scan_text(path)
    listed = text and _bigram_list(text)
    if text is None or not (listed or _is_plain(text)):
        return bigrams(_nli_corpus(path), least=least)
    counts = _Counts()
    for block in text.blocks():
        lines = pl.Series(block.content.decode().splitlines(), dtype=pl.String)
        counts.add(listed.counts(lines, block.line) if listed else _counted(lines))
    return counts.frequent(least)


def bigrams(corpus: Suite, *, least: int = LEAST) -> Bigrams:
    """The bigrams of premises and hypotheses that occur at least ``least`` times."""
    counts = _Counts()
    visit_batches(
        corpus.frame.select("premise", "hypothesis"),
        lambda batch: counts.add(_counted(pl.concat([batch["premise"], batch["hypothesis"]]))),
    )
    return counts.frequent(least)


@dataclass
class _Counts:
    """Bigram counts added in parts; columns left, right and n."""

    _parts: list[pl.DataFrame] = field(default_factory=list)

    def add(self, part: pl.DataFrame) -> None:
        """Add counts; parts are summed when the new ones together have more rows than the last sum."""
        self._parts.append(part)
        if sum(part.height for part in self._parts[1:]) > self._parts[0].height:
            self._parts = [self._sums()]

    def frequent(self, least: int) -> Bigrams:
        """The bigrams counted at least ``least`` times."""
        return Bigrams(self._sums().filter(pl.col("n") >= least).select("left", "right"))

    def _sums(self) -> pl.DataFrame:
        nothing = pl.DataFrame(schema={"left": pl.String, "right": pl.String, "n": pl.Int64})
        return pl.concat([nothing, *self._parts]).group_by("left", "right").agg(pl.col("n").sum())


def _counted(texts: pl.Series) -> pl.DataFrame:
    """How often lower-case words stand side by side in some texts."""
    words = tokens(texts).select("text", right=pl.col("token").str.to_lowercase())
    pairs = words.with_columns(left=pl.col("right").shift(1).over("text")).drop_nulls("left")
    return pairs.group_by("left", "right").agg(n=pl.len().cast(pl.Int64))


@dataclass(frozen=True)
class _BigramList:
    """A list of bigrams with counts: the pattern of its lines, and the number of header lines (0 or 1)."""

    path: Path
    form: str
    header: int

    def counts(self, lines: pl.Series, first: int) -> pl.DataFrame:
        """The bigrams of some lines with their counts; ``first`` is the number of the first line."""
        parsed = _parsed(lines, self.form)
        wrong = (parsed["n"].is_null() & (lines.str.strip_chars() != "")).arg_true()
        for row in wrong.filter(wrong + first > self.header):
            problem = f"{lines[row]!r} is no bigram with its count, such as red car⇥120; mend or leave out the line"
            raise FileError(self.path, problem, first + row)
        return parsed.drop_nulls()


def _bigram_list(text: Text) -> _BigramList | None:
    """The form of a bigram list by its first lines, the first of which may be a header; None for any other text."""
    lines = pl.Series(text.head.decode().splitlines()[:200], dtype=pl.String)
    lines = lines.filter(lines.str.strip_chars() != "")
    for form in _FORMS:
        fits = _parsed(lines, form)["n"].is_not_null()
        if fits.any() and fits[1:].all():
            return _BigramList(text.path, form, header=0 if fits[0] else 1)
    return None


def _is_plain(text: Text) -> bool:
    """Whether a text is not a table: no tabs, not JSON, and no table's file name ending."""
    name = text.path.name.lower().removesuffix(".gz")
    is_table = name.endswith(tuple(ending for ending in ENDINGS if not ending.startswith(".txt")))
    return not (text.has_tabs or is_table or begins_with(text.head, b"{", b"["))


def _parsed(lines: pl.Series, form: str) -> pl.DataFrame:
    """The two words in lower case and the count on each line, null where it is not of the form."""
    parts = lines.str.extract_groups(form).struct.unnest()
    return parts.select(pl.col("left", "right").str.to_lowercase(), pl.col("n").cast(pl.Int64))


def _nli_corpus(path: Path) -> Suite:
    """The pairs of an NLI file; for any other file, an error that lists the kinds of file accepted."""
    try:
        return read_corpus(path).suite
    except FileError as error:
        if error.line is not None:
            raise
        raise FileError(
            path, f"{EXPECTED} was expected; as the last, {str(error).removeprefix(f'{path}: ')}"
        ) from error


@cache
def packaged_bigrams() -> pl.DataFrame:
    """Counts of a word beside a part of speech (written in capitals): columns left, right and n."""
    with resources.as_file(resources.files("acidtest.data").joinpath("lexical", "bigrams.parquet")) as path:
        return pl.read_parquet(path)


def plausible_by_tag(words: pl.DataFrame) -> pl.Series:
    """Whether words are likely between their neighbours by the packaged counts.

    Columns previous, word, next, and the part of speech of each: previous_tag, tag, next_tag. On each side, the counts
    must have the neighbour beside the word's part of speech and, if the word is common enough, the word beside the
    neighbour's part of speech. A neighbour that is too rare is replaced by its part of speech.
    """
    lower = words["word"].str.to_lowercase()
    first, last = lower.str.extract(r"^(\S+)"), lower.str.extract(r"(\S+)$")
    plausible = pl.Series([True]).new_from_index(0, words.height)
    for side, word, columns in (("previous", first, ["left", "right"]), ("next", last, ["right", "left"])):
        neighbour, its_tag = words[side], words[f"{side}_tag"]
        known = packaged_bigrams().rename(dict(zip(columns, ("left", "right"), strict=True)))
        neighbour_key = neighbour.zip_with(neighbour.is_in(_common(columns[0]).implode()), its_tag)
        by_neighbour = _stand_in(known, neighbour_key, words["tag"])
        is_common = word.is_in(_common(columns[1]).implode()) & (first == last)
        by_word = _stand_in(known, its_tag, word) | ~is_common
        plausible &= (by_neighbour & by_word) | (neighbour == EDGE) | neighbour.str.contains(r"^\W+$")
    return plausible


@cache
def _common(column: str) -> pl.Series:
    """Words and parts of speech counted at least ``_TELLING`` times in a column (left or right)."""
    counts = packaged_bigrams().group_by(column).agg(pl.col("n").sum())
    return counts.filter(pl.col("n") >= _TELLING)[column]
