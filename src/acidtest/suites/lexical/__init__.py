"""Suites ``lexical`` and ``lexical/<category>``: a premise and itself with one word replaced (Glockner et al. 2018).

The categories are the rows of ``data/lexical/categories.tsv``; the relation of the two words gives the label.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from acidtest.core.digests import SeenDigests, digests
from acidtest.core.draws import Draws
from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.suite import PARSES, Argument, Kind, Suite
from acidtest.suites.catalogue import Request, generator, take_options
from acidtest.suites.corpus import LABEL_COLUMNS, derive_suite, select_rows, source_pairs, transform_rows, uses_all

if TYPE_CHECKING:
    from acidtest.io.embeddings import Embeddings
    from acidtest.io.rows import Rows
    from acidtest.suites.lexical.substitution import Filter, Substitutions

CITATION = (
    "Glockner, Shwartz and Goldberg (2018). Breaking NLI Systems with Sentences that Require Simple Lexical "
    "Inferences. ACL."
)
_COLUMNS: dict[str, Kind] = {
    "category": "factor",
    "relation": "factor",
    "polarity": "factor",
    "premise_word": "text",
    "hypothesis_word": "text",
    "frame": "text",
}
_CAPPED_COLUMNS = ("category", "premise_word", "relation")
"""Of rows with equal values here, at most ``most`` are kept."""

_VERSION = 4
_NOTE = (
    "A contradiction rests on SNLI's convention that both sentences describe the same event and the premise tells what "
    "is prominent in it: who is holding a saxophone is not holding an electric guitar."
)


@dataclass(frozen=True)
class LexicalOptions:
    """What a user chose for replacements; files are given by their paths."""

    each: int = 1
    most: int = 100
    bigrams: str = ""
    least: int = 10  # As in Glockner et al. (2018), section 3.1.
    train: str = ""
    embeddings: str = ""
    cosine: float = 0.5
    tagger: str = "auto"

    def __post_init__(self) -> None:
        for option, least in (("each", 1), ("most", 0), ("least", 1)):
            if getattr(self, option) < least:
                raise AcidtestError(f"--{option} is a number from {least} on, not {getattr(self, option)}")
        for option, needed in (("cosine", "embeddings"), ("least", "bigrams")):
            if getattr(self, option) != getattr(LexicalOptions, option) and not getattr(self, needed):
                raise AcidtestError(f"--{option} says nothing without --{needed}")
        if not -1 <= self.cosine <= 1:
            raise AcidtestError(f"--cosine is a number from -1 to 1, not {self.cosine}")

    @property
    def arguments(self) -> dict[str, Argument]:
        """The arguments for the card; files are given by name, without their folder."""
        from acidtest.english.tagging import tagger

        arguments: dict[str, Argument] = {"each": self.each, "most": self.most, "tagger": tagger(self.tagger).name}
        arguments |= {"bigrams": Path(self.bigrams).name, "least": self.least} if self.bigrams else {}
        arguments |= {"train": Path(self.train).name} if self.train else {}
        arguments |= {"embeddings": Path(self.embeddings).name, "cosine": self.cosine} if self.embeddings else {}
        return arguments


def lexical(name: str, categories: Sequence[str], request: Request, options: LexicalOptions) -> Suite:
    """Every premise that has an item of a word list in a plain place, with another item of the list instead.

    Synonyms and hypernyms are entailed, hyponyms neutral, antonyms and items that exclude each other contradict.
    ``each`` is how many new words a place gets in each relation, ``most`` how often a word is replaced in each
    (half the premises of SNLI have a man; 0 is any number). ``bigrams`` is a list of bigrams with counts
    (``red car⇥120``), plain text or a corpus in which the new word must stand ``least`` times beside its
    neighbours; without one, parts of speech decide. ``train`` and ``embeddings`` are files the new word must be
    known in; they add how often the two words stand in contradictions, and their cosine, which must be ``cosine``
    for antonyms from WordNet.
    """
    from acidtest.io.wordlists import starter_premises
    from acidtest.suites.lexical.substitution import Substitutions

    taken = (*_COLUMNS, "cosine", "contradictions")
    pairs = source_pairs(replace(request, n=None), columns=taken, default=starter_premises)
    vectors = _read_vectors(options, categories)
    draws = Draws(request.seed, "lexical")
    filters = _filters(options, categories, vectors)
    replacement = WordReplacement(Substitutions(categories, draws, options.each, filters, options.tagger))
    rows = transform_rows(
        pairs.frame.drop(*LABEL_COLUMNS, *PARSES, "hypothesis", strict=False), replacement.replace_words
    )
    frame, kinds = _add_measures(_draw_rows(rows, pairs.name, request, draws, most=options.most), options, vectors)
    suite = derive_suite(
        name,
        pairs,
        frame,
        request=request,
        arguments=options.arguments,
        columns=_COLUMNS | kinds,
        strata=("category",),
        left_out=replacement.left_out,
        note=_NOTE,
        version=_VERSION,
    )
    # The new pairs share only their premises with the old ones, which are therefore no control.
    return Suite(suite.frame.with_columns(base_id=pl.lit(None, dtype=pl.String)), suite.card)


def _register_categories() -> None:
    from acidtest.io.wordlists import packaged_table

    categories = packaged_table("lexical/categories.tsv").select("category", "summary", pl.col("rows").cast(pl.Int64))
    suites = [(f"lexical/{name}", [name], summary, rows) for name, summary, rows in categories.iter_rows()]
    summary = "A premise and itself with one word replaced, in every category of word lists"
    for name, names, description, rows in [*suites, ("lexical", categories["category"].to_list(), summary, 3_712)]:
        make = take_options(partial(lexical, name, names), LexicalOptions)
        make.__doc__ = lexical.__doc__
        register = generator(
            name,
            summary=description,
            rows=rows,
            source="pairs",
            citation=CITATION,
            licence="Apache-2.0",
            needs_gold=False,
        )
        register(make)


_register_categories()


@dataclass
class WordReplacement:
    """Replaces words of premises batch by batch; repeated premises are skipped."""

    substitutions: Substitutions
    left_out: Counter[str] = field(default_factory=Counter)
    _seen: SeenDigests = field(default_factory=SeenDigests)

    def replace_words(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """A row for each replacement, with the columns of the corpus, those of the suite, and ``variant``."""
        pairs = pairs.filter(self._seen.new(digests(pairs["premise"])))
        changed, left_out = self.substitutions.of(pairs["premise"])
        self.left_out.update(left_out)
        # Two word lists can give the same pair: man and woman are antonyms in both.
        changed = changed.unique(["text", "changed"], keep="first", maintain_order=True)
        same_event = pl.col("relation").is_in(["antonym", "co-hyponym"])
        return pairs[changed["text"]].hstack(
            changed.select(
                *_COLUMNS,
                hypothesis="changed",
                label="label",
                certainty=pl.when(same_event).then(pl.lit("same-event")).otherwise(pl.lit("logical")),
                variant=pl.concat_str("category", "start", "relation", "hypothesis_word", separator="-"),
            )
        )


def _draw_rows(rows: Rows, name: str, request: Request, draws: Draws, *, most: int) -> pl.LazyFrame:
    """The rows of all premises in which something was replaced, or of ``n`` of them drawn with the seed.

    A word is replaced at most ``most`` times in each category and relation; 0 means any number.
    """
    parts = [part for part in rows.batches("id", "variant", *_CAPPED_COLUMNS) if part.height]
    if not parts:
        return rows.lazy()
    frame = pl.concat(
        part.select(
            *_CAPPED_COLUMNS,
            row=pl.Series(digests(part["id"], part["variant"])),
            premise=pl.Series(digests(part["id"])),
        )
        for part in parts
    )
    frame = frame.with_columns(
        pl.Series("row_draw", draws.bits(frame["row"].to_numpy(), "row")),
        pl.Series("premise_draw", draws.bits(frame["premise"].to_numpy(), "premise")),
    )
    if most:
        frame = frame.filter(pl.col("row_draw").rank("ordinal").over(*_CAPPED_COLUMNS) <= most)
    available = frame["premise"].n_unique()
    if not uses_all(request, available, "premises", f"only {available:,} of {name!r} have a word to replace"):
        frame = frame.filter(pl.col("premise_draw").rank("dense") <= request.n)
    return rows.lazy() if frame.height == rows.height else select_rows(rows, frame["row"], ("id", "variant"))


def _read_vectors(options: LexicalOptions, categories: Sequence[str]) -> Embeddings | None:
    from acidtest.io.embeddings import embeddings
    from acidtest.suites.lexical.substitution import surfaces

    if not options.embeddings:
        return None
    vectors = embeddings(options.embeddings, surfaces(tuple(categories))["surface"].unique())
    if not vectors.words:
        raise FileError(options.embeddings, "has a vector for none of the words; give vectors of English words")
    return vectors


def _filters(options: LexicalOptions, categories: Sequence[str], vectors: Embeddings | None) -> dict[str, Filter]:
    """The tests that a replacement must pass, by the reason for leaving it out."""
    from acidtest.corpora.files import read_corpus
    from acidtest.pairs.counts import word_counts
    from acidtest.suites.lexical.bigrams import plausible_by_tag, read_bigrams
    from acidtest.suites.lexical.substitution import surfaces

    def is_plausible(rows: pl.DataFrame) -> pl.Series:
        if bigrams is None:
            return plausible_by_tag(rows.with_columns(word="hypothesis_word"))
        return bigrams.plausible(rows["previous"], rows["hypothesis_word"], rows["next"])

    bigrams = read_bigrams(options.bigrams, least=options.least) if options.bigrams else None
    filters: dict[str, Filter] = {"unlikely beside its neighbours": is_plausible}
    if options.train:
        words = surfaces(tuple(categories))["surface"].str.to_lowercase().str.split(" ").explode().unique()
        counts = word_counts(words, read_corpus(options.train).suite).counts
        trained = words.filter(counts.fill_null(0) > 0)
        filters["not in the training file"] = lambda rows: (
            rows["hypothesis_word"].str.to_lowercase().str.split(" ").list.eval(pl.element().is_in(trained.implode()))
        ).list.all()
    if vectors is not None:
        filters["no vector"] = lambda rows: (
            vectors.holds(rows["hypothesis_word"]) | rows["hypothesis_word"].str.contains(" ")
        )
        filters["vectors too different"] = lambda rows: (
            (rows["category"] != "antonyms-wordnet")
            | (vectors.cosines(rows["premise_word"], rows["hypothesis_word"]) >= options.cosine).fill_null(value=False)
        )
    return filters


def _add_measures(
    frame: pl.LazyFrame, options: LexicalOptions, vectors: Embeddings | None
) -> tuple[pl.LazyFrame, dict[str, Kind]]:
    """The rows with the two words' cosine (given vectors) and count in contradictions (given a training file)."""
    from acidtest.corpora.files import read_corpus
    from acidtest.pairs.counts import pair_counts

    kinds: dict[str, Kind] = {}
    names = ["premise_word", "hypothesis_word"]
    measures = words = frame.select(names).unique().sort(names).collect()
    if vectors is not None:
        measures = measures.with_columns(cosine=vectors.cosines(words["premise_word"], words["hypothesis_word"]))
        kinds["cosine"] = "covariate"
    if options.train:
        counts = pair_counts(words, read_corpus(options.train).suite).counts
        measures = measures.with_columns(contradictions=counts.cast(pl.Float64))
        kinds["contradictions"] = "covariate"
    if not kinds:
        return frame, kinds
    return frame.join(measures.lazy(), on=names, how="left", maintain_order="left"), kinds
