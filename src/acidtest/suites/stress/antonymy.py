"""Suite ``stress/antonymy``: a sentence paired with a copy in which one word is replaced by its antonym.

Sentences with a word replaced by its antonym as the script released with the stress tests of Naik et al. (2018) did.

Its rules are unlike those of ``antonyms``: the whole text is one context; every word may be replaced unless a list of
25 words has it, if Lesk's algorithm chooses a sense of a noun or satellite adjective; each antonym of each word of that
sense replaces the first characters of the text that are equal to the word, be it inside another one.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import polars as pl

from acidtest.core.digests import SeenDigests, digests
from acidtest.core.draws import Draws
from acidtest.core.errors import AcidtestError
from acidtest.core.suite import PARSES, Argument, Kind, Suite
from acidtest.english.senses import senses
from acidtest.english.tokens import tokens
from acidtest.english.wordnet import wordnet
from acidtest.io.wordlists import word_list
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.corpus import LABEL_COLUMNS, derive_suite, detach_unlabelled, source_pairs, transform_rows
from acidtest.suites.stress import CITATION

_POS = {"n": "noun", "s": "adjective"}
_RELEASED_COLUMNS = {"text": pl.UInt32, "start": pl.UInt32} | dict.fromkeys(
    ("changed", "word", "antonym", "pos"), pl.String
)


class Replacement(NamedTuple):
    """A text with one word replaced; ``start`` is the character where it stands."""

    text: int
    start: int
    changed: str
    word: str
    antonym: str
    pos: str


def replace_as_released(texts: pl.Series, parses: pl.Series | None = None) -> pl.DataFrame:
    """Every text in which the released script replaces a word: columns text, start, changed, word, antonym and pos.

    Words are those of the binary parses, where given and not null, else our tokens; both in lower case, so that words
    with capitals in the text are never replaced.
    """
    words = _words(texts, parses)
    contexts = words.group_by("text", maintain_order=True).agg("word").with_row_index("row")
    skipped = word_list("never replaced by the released script")
    candidates = words.filter(~pl.col("word").is_in(skipped)).unique(["text", "word"], maintain_order=True)
    candidates = candidates.join(contexts.select("text", "row"), on="text", maintain_order="left")
    synsets = senses("lesk-2018", contexts["word"], candidates["word"], rows=candidates["row"])
    antonyms = candidates.with_columns(synset=synsets).join(_antonyms(), on="synset", maintain_order="left_right")
    rows = list[Replacement]()
    for text, word, antonym, pos in antonyms.select("text", "word", "antonym", "pos").iter_rows():
        start = texts[text].find(word)
        if start >= 0 and word != antonym:
            changed = texts[text].replace(word, antonym, 1)
            rows.append(Replacement(text, start, changed, word, antonym, _POS[pos]))
    return pl.DataFrame(rows, schema=_RELEASED_COLUMNS, orient="row").unique(["text", "changed"], maintain_order=True)


def _words(texts: pl.Series, parses: pl.Series | None) -> pl.DataFrame:
    """The words of each text in lower case: columns text and word."""
    ours = tokens(texts).select(pl.col("text").cast(pl.UInt32), word=pl.col("token").str.to_lowercase())
    if parses is None:
        return ours
    leaves = parses.str.replace_all(r"[()]", "").str.to_lowercase().str.extract_all(r"\S+")
    parsed = pl.DataFrame({"word": leaves}).with_row_index("text").drop_nulls("word").explode("word")
    parsed = parsed.drop_nulls("word")
    return pl.concat([ours.join(parsed, on="text", how="anti"), parsed]).sort("text", maintain_order=True)


def _antonyms() -> pl.DataFrame:
    """The antonyms that a noun's or satellite adjective's synset gives: columns synset, pos and antonym."""
    net = wordnet()
    pairs = net.relation("antonyms")
    source, target = pairs["source"], pairs["target"]
    frame = pl.DataFrame(
        {
            "synset": net.sense_table["synset"].gather(source),
            "place": net.sense_table["place"].gather(source),
            "antonym": net.words_of(target),
        }
    ).with_columns(pos=net.synset_table["pos"].gather(net.sense_table["synset"].gather(source)).cast(pl.String))
    is_wanted = (
        pl.col("pos").is_in(list(_POS)) & ~pl.col("antonym").str.contains("_") & (pl.col("antonym") != "civilian")
    )
    return frame.filter(is_wanted).sort("synset", "place", "antonym").select("synset", "pos", "antonym")


_NAME = "stress/antonymy"
_RELEASED: dict[str, Kind] = {"word": "text", "antonym": "text", "pos": "factor", "side": "factor"}
_COLUMNS: dict[str, Kind] = {**_RELEASED, "place": "factor", "caution": "factor"}

Wsd = Literal["context", "lesk", "first"]
Caution = Literal["high", "medium", "low"]


@generator(
    _NAME,
    summary="A sentence and itself with a word turned into its opposite, which contradict each other",
    rows=316,
    source="pairs",
    citation=CITATION,
    licence="Apache-2.0",
    needs_gold=False,
)
def antonymy(
    request: Request,
    *,
    caution: Caution = "medium",
    wsd: Wsd = "context",
    tagger: str = "auto",
    faithful: bool = False,
) -> Suite:
    """Every sentence of the corpus on its own, once for each word whose opposite makes it false.

    Adjectives, nouns, verbs and adverbs are replaced where they say something of a definite thing in a clause that the
    writer asserts. ``caution`` moves along the curve of yield against certainty: ``high`` takes plain clauses without
    anything that could soften them, ``low`` also generic statements, indefinite objects, and what people think or say.
    ``wsd`` chooses the sense whose antonym is taken: ``context`` by the kind of thing the word is said of, from a table
    of our own; ``lesk`` as the paper, which needs glosses; ``first`` the most frequent; the last two in the places of
    high caution. ``faithful`` does as the released script did, without any filter. A premise comes before its changed
    self, a hypothesis after it. The pairs need no gold.
    """
    if faithful and (wsd != "context" or caution != "medium"):
        raise AcidtestError("--faithful does as the released script did; it does not go with --wsd and --caution")
    if faithful or wsd == "lesk":
        from acidtest.english.senses import require_glosses

        require_glosses(f"suite {_NAME!r} with " + ("--faithful" if faithful else "wsd=lesk"))
    columns = _RELEASED if faithful else _COLUMNS
    pairs = source_pairs(request, columns=columns)
    dropped = [*LABEL_COLUMNS, *(column for column in PARSES if not faithful or "binary" not in column)]
    source = pairs.frame.drop(*dropped, strict=False)
    arguments: dict[str, Argument] = {"faithful": True}
    left_out = Counter[str]()
    if faithful:
        rows = transform_rows(source, ReleasedReversal().reverse_words)
    else:
        from acidtest.english.tagging import tagger as load_tagger

        caution = caution if wsd == "context" else "high"
        arguments = {"caution": caution, "wsd": wsd, "tagger": load_tagger(tagger).name}
        reversal = WordReversal(Draws(request.seed, _NAME), wsd, caution, tagger, left_out)
        rows = transform_rows(source, reversal.reverse_words)
    suite = derive_suite(
        _NAME,
        pairs,
        rows.lazy(),
        request=request,
        version=3,
        arguments=arguments,
        columns=columns,
        crossings=() if faithful else (("pos", "place"),),
        left_out=left_out,
    )
    return detach_unlabelled(suite)


@dataclass
class WordReversal:
    """Replaces words by their antonyms batch by batch; repeated sentences are skipped."""

    draws: Draws
    wsd: Wsd
    caution: Caution
    tagger: str
    left_out: Counter[str]
    _seen: SeenDigests = field(default_factory=SeenDigests)

    def reverse_words(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """A row for each replaced word, with the columns of the corpus, those of the suite, and ``variant``."""
        from acidtest.english.opposites import replace_by_antonyms
        from acidtest.english.tokens import sentences

        # All premises, then all hypotheses.
        rows = sentences(pl.concat([pairs["premise"], pairs["hypothesis"]])).select(
            pl.col("text") % pairs.height,
            pl.when(pl.col("text") < pairs.height)
            .then(pl.lit("premise"))
            .otherwise(pl.lit("hypothesis"))
            .alias("side"),
            pl.int_range(pl.len()).over("text").cast(pl.String).alias("number"),
            "sentence",
        )
        rows = rows.filter(self._seen.new(digests(rows["sentence"])))
        opposites, left_out = replace_by_antonyms(
            rows["sentence"], wsd=self.wsd, caution=self.caution, tagger=self.tagger, draws=self.draws
        )
        self.left_out.update(left_out)
        changed = rows[opposites["text"]].hstack(opposites.drop("text")).sort("text", maintain_order=True)
        return _contradictions(pairs, changed, variant=("side", "number", "start", "antonym"))


@dataclass
class ReleasedReversal:
    """Replaces words as the released script did: whole texts, any place, every antonym; repeated pairs are skipped."""

    _seen: SeenDigests = field(default_factory=SeenDigests)

    def reverse_words(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """A row for each replaced word, with the columns of the corpus, those of the suite, and ``variant``."""

        parts = []
        for side in ("premise", "hypothesis"):
            parse = f"{side}_binary_parse"
            rows = replace_as_released(pairs[side], pairs[parse] if parse in pairs.columns else None)
            parts.append(rows.with_columns(sentence=pairs[side].gather(rows["text"]), side=pl.lit(side)))
        changed = pl.concat(parts).sort("text", maintain_order=True)
        source = pairs.drop(PARSES, strict=False)
        rows = _contradictions(source, changed, variant=("side", "start", "word", "antonym"))
        return rows.filter(self._seen.new(digests(rows["premise"], rows["hypothesis"])))


def _contradictions(pairs: pl.DataFrame, changed: pl.DataFrame, *, variant: tuple[str, ...]) -> pl.DataFrame:
    """The pairs of each sentence and its changed self; ``text`` is the row of ``pairs`` that it comes from."""
    context = pairs.drop("premise", "hypothesis")[changed["text"]]
    is_premise = pl.col("side") == "premise"
    changed = changed.with_columns(
        pl.when(is_premise).then("sentence").otherwise("changed").alias("premise"),
        pl.when(is_premise).then("changed").otherwise("sentence").alias("hypothesis"),
        label=pl.lit("contradiction"),
        certainty=pl.lit("same-event"),
        variant=pl.concat_str(*variant, separator="-"),
    )
    return context.hstack(changed.drop("text", "sentence", "changed", "number", "start", strict=False))
