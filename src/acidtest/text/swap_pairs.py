"""Pairs of words to swap between premise and hypothesis: antonyms and hypernyms of WordNet, or those of a file.

A table of pairs has a row for each order: ``premise_lemma``, ``hypothesis_lemma``, ``pos`` (n, v, a, r, or empty for
words that WordNet does not have, which are matched as they are written), ``relation`` (of the premise's word to the
hypothesis's) and ``sure``: WordNet has the relation, and readers are sure to mean it by these words.

A proxy is a word that replaces an antonym: a synonym, hypernym or hyponym of the other word of the pair. The proxy sets
of Sanchez Carmona et al. (2018), section 6.1, replace *young* beside *elderly* by *aged*. They chose by hand; here any
word counts that WordNet relates to the sense in which the two are opposed, and that a training file has often enough.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Literal

import polars as pl

from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.files import read_bytes
from acidtest.core.streams import visit_batches
from acidtest.core.suite import Suite
from acidtest.io.wordlists import packaged_table
from acidtest.text.tokens import tokenise
from acidtest.text.wordnet import SATELLITE, Sense, Synset, wordnet

Relation = Literal["antonym", "hypernym"]

_TEXTS = ("premise_lemma", "hypothesis_lemma", "pos", "relation")
SCHEMA = pl.Schema(dict.fromkeys(_TEXTS, pl.String) | {"sure": pl.Boolean})

_OPPOSITE = {"antonym": "antonym", "hyponym": "hypernym"}
_TRUE, _FALSE = ("true", "1", "yes"), ("false", "0", "no")
_CONCRETE = ("noun.animal", "noun.artifact", "noun.food", "noun.person", "noun.plant")
_AUXILIARIES = ["be", "have", "do"]
_HEADS = ("word", "word1", "w1", "hyponym", "antonym1", "first")

LEAST_COUNT = 10
"""How often a proxy stands on one side of the training file, at least: the paper's t."""
FEWEST_USES = 2
"""How often SemCor has a proxy in the sense by which it is one, at least."""


@cache
def wordnet_pairs(relation: Relation) -> pl.DataFrame:
    """The single words that WordNet says are antonyms, or hyponym and hypernym, in both orders.

    Antonyms that seldom oppose anything (``data/typology/no_antonyms.tsv``) and auxiliaries are left out. Hypernyms are
    nouns, at any depth, in the first sense of both; what stands at the top of WordNet (*entity*, *unit*) or is a
    hypernym in name only (*girl* of *woman*) is left out (``data/swaps/no_hypernyms.tsv``), and what readers take for
    the same (*guy* and *man*) is not sure (``data/swaps/unsure_hypernyms.tsv``).
    """
    return _antonyms() if relation == "antonym" else _hypernyms()


def file_pairs(path: str | Path, relation: Relation) -> pl.DataFrame:
    """The pairs of a file in both orders: two words a line, with white space, a comma or a tab between them.

    A third column says which are pairs at all (*True*), as in Baroni et al. (2012); in a file of hypernyms the
    narrower word goes first. Inflected words stand for their base forms, of the same part of speech.
    """
    rows = [_words(line) for line in _text(Path(path)).splitlines()]
    filled = [(number, words) for number, words in enumerate(rows, start=1) if words]
    if filled and filled[0][1][0].lower() in _HEADS:
        filled = filled[1:]
    kept = []
    for number, words in filled:
        mark = words[2].lower() if len(words) == 3 else "true"
        lettered = all(re.search(r"[^\W\d_]", word) for word in words)
        if len(words) not in (2, 3) or not lettered or mark not in (*_TRUE, *_FALSE):
            raise FileError(path, f"{' '.join(words)!r} is no pair of words, nor one with True or False", number)
        if mark in _TRUE:
            kept.append((words[0].lower(), words[1].lower()))
    if not kept:
        lacks = "marks no pair of words as True" if filled else "has no pairs of words"
        raise FileError(path, f"{lacks}; write two words a line")
    first, second = (pl.Series(column, dtype=pl.String) for column in zip(*kept, strict=True))
    return _both_orders(_with_bases(first, second), relation)


def _text(path: Path) -> str:
    content = read_bytes(path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FileError(path, "is no text in UTF-8; save it as such", line) from error


def _words(line: str) -> list[str]:
    separator = "\t" if "\t" in line else "," if "," in line else None
    return [word.strip() for word in line.strip().split(separator) if word.strip()]


def _with_bases(first: pl.Series, second: pl.Series) -> pl.DataFrame:
    """The pairs in every part of speech that both words have, else as they are: first, second, pos."""
    bases = wordnet().base_form_frame(pl.concat([first, second]).unique())
    pairs = pl.DataFrame({"first": first, "second": second}).unique(maintain_order=True).with_row_index("row")
    here = pairs.join(bases.select(first="word", pos="pos", one="base"), on="first")
    both = here.join(bases.select(second="word", pos="pos", two="base"), on=["second", "pos"])
    # A word that is a base form itself is no form of another: "left" may be one of "leave", but not in "left right".
    both = both.filter(~_is_form_of_another("one", "first"), ~_is_form_of_another("two", "second"))
    known = both.select("row", first="one", second="two", pos=pl.col("pos").cast(pl.String))
    other = pairs.join(known, on="row", how="anti").select("row", "first", "second", pos=pl.lit(""))
    result = pl.concat([known, other]).sort("row", "pos", "first", "second").drop("row")
    return result.filter(pl.col("first") != pl.col("second")).unique(maintain_order=True)


def _is_form_of_another(base: str, word: str) -> pl.Expr:
    itself = (pl.col(base) == pl.col(word)).any().over("row", "pos", word)
    return (pl.col(base) != pl.col(word)) & itself


def _both_orders(pairs: pl.DataFrame, relation: Relation) -> pl.DataFrame:
    """Pairs first, second and pos in both orders; the first is an antonym or a hyponym of the second."""
    name = "antonym" if relation == "antonym" else "hyponym"
    there = pairs.select(premise_lemma="first", hypothesis_lemma="second", pos="pos", relation=pl.lit(name))
    back = pairs.select(premise_lemma="second", hypothesis_lemma="first", pos="pos", relation=pl.lit(_OPPOSITE[name]))
    both = pl.concat([there, back]).unique(["premise_lemma", "hypothesis_lemma", "pos"], keep="first")
    keys = list(both.columns)
    known = wordnet_pairs(relation).filter("sure").select(*keys, "sure").unique()
    marked = both.join(known, on=keys, how="left").with_columns(pl.col("sure").fill_null(value=False))
    return marked.sort(keys).cast(SCHEMA)


def _antonyms() -> pl.DataFrame:
    net = wordnet()
    senses = net.relation("antonyms")
    synsets = net.sense_table["synset"].gather(senses["source"])
    rows = pl.DataFrame(
        {
            "first": net.words_of(senses["source"]).str.to_lowercase(),
            "second": net.words_of(senses["target"]).str.to_lowercase(),
            "pos": net.synset_table["pos"].gather(synsets).cast(pl.String).replace(SATELLITE, "a"),
        }
    )
    single = ~pl.col("first").str.contains("_") & ~pl.col("second").str.contains("_")
    plain = ~pl.col("first").is_in(_AUXILIARIES) & ~pl.col("second").is_in(_AUXILIARIES)
    rows = rows.filter(single, plain, pl.col("first") != pl.col("second")).unique()
    left = packaged_table("typology/no_antonyms.tsv")
    for first, second in (("word", "antonym"), ("antonym", "word")):
        rows = rows.join(left.select(first=first, second=second), on=["first", "second"], how="anti")
    pairs = rows.select(premise_lemma="first", hypothesis_lemma="second", pos="pos", relation=pl.lit("antonym"))
    return pairs.with_columns(sure=pl.lit(value=True)).sort("premise_lemma", "hypothesis_lemma", "pos")


def _hypernyms() -> pl.DataFrame:
    # Words go by their numbers: there are more than a hundred thousand pairs, and strings would take a lot of room.
    words = _first_senses().with_row_index("number")
    numbers = words.select("word", "number")
    pairs = _ancestors_of(words).join(words.select(second="number", at="synset"), on="at").select("first", "second")
    left = packaged_table("swaps/no_hypernyms.tsv")
    anything = left.filter(pl.col("word") == "*").select(word="hypernym").join(numbers, on="word")["number"]
    pairs = pairs.filter(~pl.col("second").is_in(anything.implode()), pl.col("first") != pl.col("second")).unique()
    pairs = pairs.join(_pair_numbers(left, numbers), on=["first", "second"], how="anti")
    # Two words may each lie above the other in a circle of synonyms; such a pair has no direction.
    pairs = pairs.join(pairs.select(first="second", second="first"), on=["first", "second"], how="anti")
    unsure = packaged_table("swaps/unsure_hypernyms.tsv")
    doubted = words.filter(~pl.col("sure") | pl.col("word").is_in(unsure.filter(hypernym="*")["word"].implode()))
    doubts = _pair_numbers(unsure, numbers).with_columns(named=pl.lit(value=True))
    pairs = pairs.join(doubts, on=["first", "second"], how="left").with_columns(
        sure=pl.col("named").is_null() & ~pl.col("first").is_in(doubted["number"].implode())
    )
    orders = [("first", "second", "hyponym"), ("second", "first", "hypernym")]
    return pl.concat(
        pl.DataFrame(
            {
                "premise_lemma": words["word"].gather(pairs[premise]),
                "hypothesis_lemma": words["word"].gather(pairs[hypothesis]),
                "pos": pl.repeat("n", pairs.height, eager=True),
                "relation": pl.repeat(relation, pairs.height, eager=True),
                "sure": pairs["sure"],
            },
            schema=SCHEMA,
        )
        for premise, hypothesis, relation in orders
    ).sort("premise_lemma", "hypothesis_lemma")


def _pair_numbers(listed: pl.DataFrame, numbers: pl.DataFrame) -> pl.DataFrame:
    """A list's pairs of word and hypernym by their numbers: first and second."""
    numbered = listed.join(numbers.rename({"number": "first"}), on="word")
    return (
        numbered.join(numbers.select(hypernym="word", second="number"), on="hypernym")
        .select("first", "second")
        .unique()
    )


def _first_senses() -> pl.DataFrame:
    """Nouns with their first synset, and whether little else is meant by them: word, synset and sure.

    Sure is a concrete noun of which nine in ten uses in SemCor (without any: all senses) are of the kind of its first
    sense; that names no one by what he does, as *runner* does: the person who is running is one.
    """
    net = wordnet()
    senses = net.sense_table.with_row_index("sense").with_columns(
        word=net.words_of(pl.int_range(net.sense_table.height, eager=True)),
        pos=net.synset_table["pos"].gather(net.sense_table["synset"]),
        kind=net.synset_table["lexfile"].gather(net.sense_table["synset"]),
    )
    nouns = senses.filter(pl.col("pos") == "n", pl.col("word").str.contains(r"^\p{Ll}+[^s\P{Ll}]$|ss$")).sort(
        "word", "rank"
    )
    # Looked up before grouping: within groups Polars would copy all these senses for each word, 1.5 GB of them.
    nouns = nouns.with_columns(does=pl.col("sense").is_in(_agent_noun_senses(senses).implode()))
    kinds = packaged_table("wordnet/lexfiles.tsv")["name"].to_list()
    same_kind = pl.col("kind") == pl.col("kind").first()
    shares = nouns.group_by("word", maintain_order=True).agg(
        pl.col("synset").filter(pl.col("rank") == 0).first(),
        first=pl.col("kind").first(),
        share=pl.col("count").filter(same_kind).sum() / pl.col("count").sum(),
        alone=same_kind.all(),
        does=pl.col("does").any(),
        animal=(pl.col("kind") == kinds.index("noun.animal")).any() & (pl.col("count").sum() < 10),
    )
    concrete = [kinds.index(name) for name in _CONCRETE]
    usual = pl.when(pl.col("share").is_nan()).then("alone").otherwise(pl.col("share") >= 0.9)
    # A whale is first of all a very large person to WordNet.
    odd = (pl.col("first") == kinds.index("noun.person")) & (pl.col("does") | pl.col("animal"))
    first_senses = shares.drop_nulls("synset").with_columns(sure=usual & pl.col("first").is_in(concrete) & ~odd)
    # "Cows" is an entry of its own, but a form of another.
    forms = net.base_form_frame(first_senses["word"], "n").filter(pl.col("word") != pl.col("base"))
    return first_senses.select("word", "synset", "sure").join(forms.select("word"), on="word", how="anti")


def _agent_noun_senses(senses: pl.DataFrame) -> pl.Series:
    """The senses of nouns made from a verb: *runner*, but not *doctor*, which only serves as one."""
    words = senses.select("sense", "word", "pos")
    links = wordnet().relation("derivations").join(words.rename({"word": "noun"}), left_on="source", right_on="sense")
    links = links.join(words.select("sense", verb="word", verbal="pos"), left_on="target", right_on="sense")
    longer = (pl.col("noun").str.len_chars() >= pl.col("verb").str.len_chars()) & (pl.col("noun") != pl.col("verb"))
    return links.filter(pl.col("pos") == "n", pl.col("verbal") == "v", longer)["source"].unique()


def _ancestors_of(words: pl.DataFrame) -> pl.DataFrame:
    """Every synset above the synset of each word: first, the word's number, and at."""
    steps = wordnet().relation("hypernyms").select(at="source", up="target")
    level, levels = words.select(first="number", at="synset"), list[pl.DataFrame]()
    while level.height:
        level = level.join(steps, on="at").select("first", at="up").unique()
        levels.append(level)
    return pl.concat(levels).unique()


def load_pairs(path: str, relation: Relation) -> pl.DataFrame:
    """The pairs of a file, or WordNet's where no file is named."""
    return file_pairs(path, relation) if path else wordnet_pairs(relation)


@cache
def proxy_words(lemma: str, antonym: str, pos: str) -> tuple[tuple[str, str], ...]:
    """Single words with what each is to ``lemma`` (synonym, hypernym or hyponym), in the sense opposed to ``antonym``.

    The sense has a quarter of the uses of ``lemma`` in SemCor at least, or is its first; where WordNet does not oppose
    the two, the first counts. A relative is mostly used in the sense by which it is one, whatever its part of speech: a
    *cat* is no man and a *broad* no woman. Persons stay persons. ``data/swaps/no_proxies.tsv`` leaves out what readers
    found not to do.
    """
    net = wordnet()
    senses = [sense for sense in net.senses(lemma, pos or None) if net.lemma(sense).lower() == lemma]
    opposed = [s for s in senses if any(net.lemma(other).lower() == antonym for other in net.antonyms(s))]
    uses = sum(_uses(sense) for sense in senses)
    common = [sense for sense in opposed if sense == senses[0] or 4 * _uses(sense) >= uses > 0]
    proxies = dict[str, str]()
    for sense in common if opposed else senses[:1]:
        for word, relation in _related_words(net.synset_of(sense), pos):
            if word not in (lemma, antonym) and not _is_left_out(word, lemma):
                proxies.setdefault(word, relation)
    return tuple(sorted(proxies.items()))


def _related_words(synset: Synset, pos: str) -> Iterator[tuple[str, str]]:
    """Words that mostly mean a synset, one above it or one below it, with which of these it is."""
    net = wordnet()
    # What one rides one cannot go or move: hypernyms of verbs seldom fit in their place.
    wider = [] if pos == "v" else net.hypernyms(synset)
    related = {"synonym": [synset], "hypernym": wider, "hyponym": _hyponyms().get(synset, [])}
    for relation, synsets in related.items():
        for other in synsets:
            if _is_person(other) or not _is_person(synset):
                yield from ((word, relation) for word in net.lemmas(other) if _means(word, other))


@cache
def _left_out() -> frozenset[tuple[str, str]]:
    return frozenset(packaged_table("swaps/no_proxies.tsv").select("proxy", "word").iter_rows())


def _is_left_out(proxy: str, word: str) -> bool:
    """Whether readers found that a proxy, any of a word, or one for any word does not do."""
    return not _left_out().isdisjoint({(proxy, word), (proxy, "*"), ("*", word)})


@cache
def _means(word: str, synset: Synset) -> bool:
    """Whether a single word in lower case is known in SemCor, and used for a synset as much as for any other."""
    net = wordnet()
    if not (word.isalpha() and word.islower()):
        return False
    uses = {net.synset_of(sense): _uses(sense) for sense in net.senses(word) if net.lemma(sense) == word}
    return uses[synset] >= FEWEST_USES and uses[synset] == max(uses.values())


def _uses(sense: Sense) -> int:
    """How often SemCor has a sense."""
    return int(wordnet().sense_table["count"][int(sense)])


def _is_person(synset: Synset) -> bool:
    return bool(wordnet().synset_table["lexfile"][int(synset)] == _person_file())


@cache
def _person_file() -> int:
    return packaged_table("wordnet/lexfiles.tsv")["name"].to_list().index("noun.person")


def side_counts(train: Suite) -> pl.DataFrame:
    """How often each word in lower case stands in the premises, or in the hypotheses, whichever is more: word, n."""
    counts = {"premise": Counter[str](), "hypothesis": Counter[str]()}

    def count(batch: pl.DataFrame) -> None:
        for side, counter in counts.items():
            tokens = tokenise(batch[side])
            words = tokens.words.str.to_lowercase().gather(tokens.word)
            counter.update(dict(words.value_counts().iter_rows()))

    visit_batches(train.frame.select("premise", "hypothesis"), count)
    words = sorted({*counts["premise"], *counts["hypothesis"]})
    if not words:
        raise AcidtestError(f"{train.name} has no examples to count words in; give another training set")
    most = [max(counts["premise"][word], counts["hypothesis"][word]) for word in words]
    return pl.DataFrame({"word": words, "n": most})


@cache
def _hyponyms() -> dict[Synset, list[Synset]]:
    table = wordnet().relation("hypernyms").group_by("target").agg("source")
    return {Synset(target): [Synset(source) for source in sources] for target, sources in table.iter_rows()}
