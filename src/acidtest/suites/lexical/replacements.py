"""Pairs of a premise and itself with one word replaced; what the suites of all categories share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from acidtest.core.digests import Seen, digests
from acidtest.core.draws import Draws
from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.streams import streamed
from acidtest.core.suite import PARSES, Argument, Kind, Suite
from acidtest.io.corpora import corpus as read_corpus
from acidtest.io.embeddings import Embeddings, embeddings
from acidtest.io.rows import Rows
from acidtest.io.starter import starter_premises
from acidtest.suites.catalogue import Request
from acidtest.suites.corpus import OF_THE_PAIR, corpus, derived, gathered
from acidtest.text.bigrams import LEAST, plausible_by_tag, read_bigrams
from acidtest.text.pair_counts import pair_counts, word_counts
from acidtest.text.substitutes import surfaces
from acidtest.text.substitution import Filter, Substitutions
from acidtest.text.tagging import tagger as tagger_called

CITATION = (
    "Glockner, Shwartz and Goldberg (2018). Breaking NLI Systems with Sentences that Require Simple Lexical "
    "Inferences. ACL."
)
VERSION = 1

COLUMNS: dict[str, Kind] = {
    "category": "factor",
    "relation": "factor",
    "premise_word": "text",
    "hypothesis_word": "text",
    "frame": "text",
}
LABELS = {
    "synonym": "entailment",
    "hypernym": "entailment",
    "hyponym": "neutral",
    "antonym": "contradiction",
    "co-hyponym": "contradiction",
}
"""The label of a pair by what the new word is to the old one."""

_CAPPED = ("category", "premise_word", "relation")
"""What rows have in common of which there are only so many."""

_CONVENTION = (
    "A contradiction rests on SNLI's convention that both sentences describe the same event and the premise tells what "
    "is prominent in it: who is holding a saxophone is not holding an electric guitar."
)


@dataclass(frozen=True)
class Wishes:
    """What a user may ask of replacements, files by their paths."""

    each: int = 1
    most: int = 100
    bigrams: str = ""
    least: int = LEAST
    train: str = ""
    embeddings: str = ""
    cosine: float = 0.5
    tagger: str = "auto"

    def __post_init__(self) -> None:
        for option, least in (("each", 1), ("most", 0), ("least", 1)):
            if getattr(self, option) < least:
                raise AcidtestError(f"--{option} is a number from {least} on, not {getattr(self, option)}")
        for option, needed in (("cosine", "embeddings"), ("least", "bigrams")):
            if getattr(self, option) != getattr(Wishes, option) and not getattr(self, needed):
                raise AcidtestError(f"--{option} says nothing without --{needed}")
        if not -1 <= self.cosine <= 1:
            raise AcidtestError(f"--cosine is a number from -1 to 1, not {self.cosine}")

    @property
    def arguments(self) -> dict[str, Argument]:
        """What goes into the card: files by their names."""
        told: dict[str, Argument] = {"each": self.each, "most": self.most, "tagger": tagger_called(self.tagger).name}
        told |= {"bigrams": Path(self.bigrams).name, "least": self.least} if self.bigrams else {}
        told |= {"train": Path(self.train).name} if self.train else {}
        told |= {"embeddings": Path(self.embeddings).name, "cosine": self.cosine} if self.embeddings else {}
        return told


def suite(name: str, categories: Sequence[str], request: Request, wishes: Wishes) -> Suite:
    """The premises of a corpus with one word replaced, for every category named."""
    taken = (*COLUMNS, "cosine", "contradictions")
    pairs = corpus(replace(request, n=None), columns=taken, default=starter_premises)
    vectors = _vectors(wishes, categories)
    filters = _filters(wishes, categories, vectors)
    work = Substitutions(categories, Draws(request.seed, "lexical"), wishes.each, filters, wishes.tagger)
    found = _Found(work)
    rows = gathered(pairs.frame.drop(*OF_THE_PAIR, *PARSES, "hypothesis", strict=False), found.made)
    frame, kinds = _measured(_chosen(rows, pairs.name, request, most=wishes.most), wishes, vectors)
    made = derived(
        name,
        pairs,
        frame,
        version=VERSION,
        request=request,
        citation=CITATION,
        arguments=wishes.arguments,
        columns=COLUMNS | kinds,
        strata=("category",),
    )
    card = replace(made.card, left_out=dict(found.left_out.most_common()), note=_CONVENTION)
    # The new pairs have nothing of the old ones but their premises: there is nothing to compare.
    return Suite(made.frame.with_columns(base_id=pl.lit(None, dtype=pl.String)), card)


@dataclass
class _Found:
    """The changed premises of a corpus, gathered batch by batch; each premise is looked at once."""

    work: Substitutions
    left_out: Counter[str] = field(default_factory=Counter)
    _seen: Seen = field(default_factory=Seen)

    def made(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """The columns of the corpus but hypotheses, labels and trees, those of the suite, and variant."""
        pairs = pairs.filter(self._seen.new(digests(pairs["premise"])))
        changed, left_out = self.work.of(pairs["premise"])
        self.left_out.update(left_out)
        # Man and woman are antonyms in two tables.
        changed = changed.unique(["text", "changed"], keep="first", maintain_order=True)
        return pairs[changed["text"]].hstack(
            changed.select(
                *COLUMNS,
                hypothesis="changed",
                label=pl.col("relation").replace_strict(LABELS, return_dtype=pl.String),
                certainty=pl.when(pl.col("relation").is_in(["antonym", "co-hyponym"]))
                .then(pl.lit("same-event"))
                .otherwise(pl.lit("logical")),
                variant=pl.concat_str("category", "start", "relation", "hypothesis_word", separator="-"),
            )
        )


def _chosen(rows: Rows, name: str, request: Request, *, most: int) -> pl.LazyFrame:
    """The rows of all premises in which something was replaced, or of ``n`` of them drawn with the seed.

    A word is replaced ``most`` times in each relation, unless that is 0.
    """
    told = [part for part in rows.batches("id", "variant", *_CAPPED) if part.height]
    if not told:
        return rows.lazy()
    draws = Draws(request.seed, "lexical")
    frame = pl.concat(
        part.select(
            *_CAPPED,
            row=pl.Series(digests(part["id"], part["variant"])),
            premise=pl.Series(digests(part["id"])),
        )
        for part in told
    )
    frame = frame.with_columns(
        pl.Series("row_draw", draws.bits(frame["row"].to_numpy(), "row")),
        pl.Series("premise_draw", draws.bits(frame["premise"].to_numpy(), "premise")),
    )
    if most:
        rank = pl.col("row_draw").rank("ordinal").over(*_CAPPED)
        frame = frame.filter(rank <= most)
    kept = _drawn(frame, name, request)
    if kept.height == rows.height:
        return rows.lazy()
    wanted = kept["row"].implode()

    def parts(columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        for part in rows.batches():
            yield part.filter(pl.Series(digests(part["id"], part["variant"])).is_in(wanted)).select(columns)

    return streamed(parts, rows.schema)


def _drawn(frame: pl.DataFrame, name: str, request: Request) -> pl.DataFrame:
    have = frame["premise"].n_unique()
    if request.n is None or (request.n >= have and request.at_most):
        return frame
    if request.n > have:
        raise AcidtestError(
            f"{request.n:,} premises were asked for, but only {have:,} of {name!r} have a word to replace; ask for "
            f"at most that many (-n {have}), or add --at-most to take all there are"
        )
    return frame.filter(pl.col("premise_draw").rank("dense") <= request.n)


def _vectors(wishes: Wishes, categories: Sequence[str]) -> Embeddings | None:
    if not wishes.embeddings:
        return None
    found = embeddings(wishes.embeddings, surfaces(tuple(categories))["surface"].unique())
    if not found.words:
        raise FileError(wishes.embeddings, "has a vector for none of the words; give vectors of English words")
    return found


def _filters(wishes: Wishes, categories: Sequence[str], vectors: Embeddings | None) -> dict[str, Filter]:
    """What a replacement must pass, by the reason given for those that do not."""
    found: dict[str, Filter] = {}
    if wishes.bigrams:
        known = read_bigrams(wishes.bigrams, least=wishes.least)
        found["unlikely beside its neighbours"] = lambda options: known.plausible(
            options["previous"], options["hypothesis_word"], options["next"]
        )
    else:
        found["unlikely beside its neighbours"] = lambda options: plausible_by_tag(
            options.with_columns(word="hypothesis_word")
        )
    if wishes.train:
        words = surfaces(tuple(categories))["surface"].str.to_lowercase().str.split(" ").explode().unique()
        counted = word_counts(words, read_corpus(wishes.train).suite)
        seen = words.filter(counted.counts.fill_null(0) > 0)
        found["not in the training file"] = lambda options: (
            options["hypothesis_word"].str.to_lowercase().str.split(" ").list.eval(pl.element().is_in(seen.implode()))
        ).list.all()
    if vectors is not None:
        found["no vector"] = lambda options: (
            vectors.holds(options["hypothesis_word"]) | options["hypothesis_word"].str.contains(" ")
        )
        found["vectors too different"] = lambda options: (
            (options["category"] != "antonyms-wordnet")
            | (vectors.cosines(options["premise_word"], options["hypothesis_word"]) >= wishes.cosine).fill_null(
                value=False
            )
        )
    return found


def _measured(frame: pl.LazyFrame, wishes: Wishes, vectors: Embeddings | None) -> tuple[pl.LazyFrame, dict[str, Kind]]:
    """The rows with how similar the two words are and how often they stand in contradictions, where that is known."""
    kinds: dict[str, Kind] = {}
    words = frame.select("premise_word", "hypothesis_word").unique().sort("premise_word", "hypothesis_word").collect()
    known = words
    if vectors is not None:
        known = known.with_columns(cosine=vectors.cosines(words["premise_word"], words["hypothesis_word"]))
        kinds["cosine"] = "covariate"
    if wishes.train:
        counted = pair_counts(words, read_corpus(wishes.train).suite)
        known = known.with_columns(contradictions=counted.counts.cast(pl.Float64))
        kinds["contradictions"] = "covariate"
    if not kinds:
        return frame, kinds
    return frame.join(known.lazy(), on=["premise_word", "hypothesis_word"], how="left", maintain_order="left"), kinds
