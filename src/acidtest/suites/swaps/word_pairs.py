"""Word pairs to swap between premise and hypothesis: antonyms and hypernyms of WordNet or from a file.

A table of pairs has a row for each order: ``premise_lemma``, ``hypothesis_lemma``, ``pos`` (n, v, a, r, or empty for
words that WordNet does not have, which are matched as they are written), ``relation`` (of the premise's word to the
hypothesis's) and ``sure``: WordNet has the relation, and readers are certain to understand the words that way.

A proxy is a word that replaces an antonym: a synonym, hypernym or hyponym of the other word of the pair. The proxy sets
of Sanchez Carmona et al. (2018), section 6.1, replace *young* beside *elderly* by *aged*. They chose by hand; here any
word counts that WordNet relates to the sense in which the two are opposed and that is frequent in a training file.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Literal

import polars as pl

from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.files import read_bytes
from acidtest.core.suite import Suite, visit_batches
from acidtest.english.tokens import tokenise
from acidtest.english.wordnet import SATELLITE, Synset, wordnet
from acidtest.io.blocks import utf8_text
from acidtest.io.wordlists import packaged_table

Relation = Literal["antonym", "hypernym"]

_TEXTS = ("premise_lemma", "hypothesis_lemma", "pos", "relation")
SCHEMA = pl.Schema(dict.fromkeys(_TEXTS, pl.String) | {"sure": pl.Boolean})

_TRUE, _FALSE = ("true", "1", "yes"), ("false", "0", "no")
_HEADS = ("word", "word1", "w1", "hyponym", "antonym1", "first")


def load_pairs(path: str, relation: Relation) -> pl.DataFrame:
    """The pairs of a file, or WordNet's where no file is named."""
    return file_pairs(path, relation) if path else wordnet_pairs(relation)


@cache
def wordnet_pairs(relation: Relation) -> pl.DataFrame:
    """The single words that WordNet says are antonyms, or hyponym and hypernym, in both orders.

    Antonyms that seldom oppose anything (``data/typology/no_antonyms.tsv``) and auxiliaries are left out. Hypernyms are
    nouns, at any depth, in the first sense of both; words at the top of WordNet (*entity*, *unit*) and wrong hypernyms
    (*girl* of *woman*) are left out (``data/swaps/no_hypernyms.tsv``), and pairs that readers take for synonyms (*guy*
    and *man*) are not sure (``data/swaps/unsure_hypernyms.tsv``).
    """
    return _antonyms() if relation == "antonym" else _hypernyms()


def file_pairs(path: str | Path, relation: Relation) -> pl.DataFrame:
    """The pairs of a file in both orders: two words per line, separated by white space, a comma or a tab.

    An optional third column marks valid pairs (*True* or *False*), as in Baroni et al. (2012); in a file of hypernyms
    the narrower word comes first. Inflected words are replaced by their base forms in a common part of speech; two
    hypernyms that can be nouns are not taken for verbs (*game* and *play*).
    """
    lines = utf8_text(Path(path), read_bytes(Path(path))).decode().splitlines()
    rows = [(number, words) for number, line in enumerate(lines, start=1) if (words := _words(line))]
    if rows and rows[0][1][0].lower() in _HEADS:
        rows = rows[1:]
    pairs = []
    for number, words in rows:
        mark = words[2].lower() if len(words) == 3 else "true"
        lettered = all(re.search(r"[^\W\d_]", word) for word in words)
        if len(words) not in (2, 3) or not lettered or mark not in (*_TRUE, *_FALSE):
            raise FileError(path, f"{' '.join(words)!r} is no pair of words, nor one with True or False", number)
        if mark in _TRUE:
            pairs.append((words[0].lower(), words[1].lower()))
    if not pairs:
        lacks = "marks no pair of words as True" if rows else "has no pairs of words"
        raise FileError(path, f"{lacks}; write two words a line")
    written = pl.DataFrame(pairs, schema={"first": pl.String, "second": pl.String}, orient="row")
    bases = _with_bases(written, nouns_first=relation == "hypernym")
    both = _both_orders(bases.with_columns(sure=pl.lit(value=False)), relation)
    both = both.unique(["premise_lemma", "hypothesis_lemma", "pos"], keep="first").drop("sure")
    known = wordnet_pairs(relation).filter("sure").select(*_TEXTS, "sure").unique()
    marked = both.join(known, on=_TEXTS, how="left").with_columns(pl.col("sure").fill_null(value=False))
    return marked.sort(_TEXTS).cast(SCHEMA)


def _words(line: str) -> list[str]:
    separator = "\t" if "\t" in line else "," if "," in line else None
    return [word.strip() for word in line.strip().split(separator) if word.strip()]


def _with_bases(pairs: pl.DataFrame, *, nouns_first: bool) -> pl.DataFrame:
    """The base forms in each part of speech that both words have, else the words as written: first, second, pos.

    With ``nouns_first``, two words that can both be nouns have no other part of speech.
    """
    bases = wordnet().base_form_frame(pl.concat([pairs["first"], pairs["second"]]).unique())
    pairs = pairs.unique(maintain_order=True).with_row_index("row")
    both = pairs.join(bases.select(first="word", pos="pos", one="base"), on="first")
    both = both.join(bases.select(second="word", pos="pos", two="base"), on=["second", "pos"])
    # A base form is not taken for a form of another word: "left" beside "right" is not "leave".
    for base, word in (("one", "first"), ("two", "second")):
        itself = pl.col(base) == pl.col(word)
        both = both.filter(itself | ~itself.any().over("row", "pos", word))
    if nouns_first:
        is_noun = pl.col("pos").cast(pl.String) == "n"
        both = both.filter(is_noun | ~is_noun.any().over("row"))
    known = both.select("row", first="one", second="two", pos=pl.col("pos").cast(pl.String))
    other = pairs.join(known, on="row", how="anti").select("row", "first", "second", pos=pl.lit(""))
    result = pl.concat([known, other]).sort("row", "pos", "first", "second").drop("row")
    return result.filter(pl.col("first") != pl.col("second")).unique(maintain_order=True)


def _both_orders(pairs: pl.DataFrame, relation: Relation) -> pl.DataFrame:
    """Pairs (first, second, pos, sure) in both orders; the first is an antonym or a hyponym of the second."""
    orders = (("first", "second", "antonym" if relation == "antonym" else "hyponym"), ("second", "first", relation))
    return pl.concat(
        pairs.select(premise_lemma=premise, hypothesis_lemma=hypothesis, pos="pos", relation=pl.lit(name), sure="sure")
        for premise, hypothesis, name in orders
    )


def _antonyms() -> pl.DataFrame:
    net = wordnet()
    senses = net.relation("antonyms")
    synsets = net.sense_table["synset"].gather(senses["source"])
    rows = pl.DataFrame(
        {
            "premise_lemma": net.words_of(senses["source"]).str.to_lowercase(),
            "hypothesis_lemma": net.words_of(senses["target"]).str.to_lowercase(),
            "pos": net.synset_table["pos"].gather(synsets).cast(pl.String).replace(SATELLITE, "a"),
        }
    )
    lemmas = ["premise_lemma", "hypothesis_lemma"]
    fit = (~pl.col(name).str.contains("_") & ~pl.col(name).is_in(["be", "have", "do"]) for name in lemmas)
    rows = rows.filter(*fit, pl.col("premise_lemma") != pl.col("hypothesis_lemma")).unique()
    unreliable = packaged_table("typology/no_antonyms.tsv")
    for order in (lemmas, lemmas[::-1]):
        rows = rows.join(unreliable, left_on=order, right_on=["word", "antonym"], how="anti")
    return rows.with_columns(relation=pl.lit("antonym"), sure=pl.lit(value=True)).sort(*lemmas, "pos")


def _hypernyms() -> pl.DataFrame:
    # Words are numbers here: strings would need much memory for more than a hundred thousand pairs.
    words = _first_senses().with_row_index("number")
    numbers = words.select("word", "number")
    pairs = _ancestors_of(words).join(words.select(second="number", at="synset"), on="at").select("first", "second")
    listed = packaged_table("swaps/no_hypernyms.tsv")
    anything = listed.filter(pl.col("word") == "*").select(word="hypernym").join(numbers, on="word")["number"]
    pairs = pairs.filter(~pl.col("second").is_in(anything.implode()), pl.col("first") != pl.col("second")).unique()
    pairs = pairs.join(_pair_numbers(listed, numbers), on=["first", "second"], how="anti")
    # Two words may each be above the other, through synonyms; such a pair has no direction.
    pairs = pairs.join(pairs.select(first="second", second="first"), on=["first", "second"], how="anti")
    unsure = packaged_table("swaps/unsure_hypernyms.tsv")
    doubted = words.filter(~pl.col("sure") | pl.col("word").is_in(unsure.filter(hypernym="*")["word"].implode()))
    doubts = _pair_numbers(unsure, numbers).with_columns(named=pl.lit(value=True))
    pairs = pairs.join(doubts, on=["first", "second"], how="left").select(
        pl.lit(words["word"]).gather("first").alias("first"),
        pl.lit(words["word"]).gather("second").alias("second"),
        pos=pl.lit("n"),
        sure=pl.col("named").is_null() & ~pl.col("first").is_in(doubted["number"].implode()),
    )
    return _both_orders(pairs, "hypernym").sort("premise_lemma", "hypothesis_lemma")


def _pair_numbers(listed: pl.DataFrame, numbers: pl.DataFrame) -> pl.DataFrame:
    """A list's pairs of word and hypernym by their numbers: first and second."""
    first, second = numbers.select("word", first="number"), numbers.select(hypernym="word", second="number")
    return listed.join(first, on="word").join(second, on="hypernym").select("first", "second").unique()


def _first_senses() -> pl.DataFrame:
    """Nouns with their first synset, and whether they are nearly always used in that sense: word, synset and sure.

    A concrete noun is sure if nine in ten of its uses in SemCor (without uses: all its senses) are of the kind of its
    first sense. Nouns for persons by what they do are not sure: whoever is running is a *runner*.
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
    # Looked up before grouping: within groups Polars would copy the list of senses for each word, 1.5 GB in all.
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
    concrete = [kinds.index(f"noun.{name}") for name in ("animal", "artifact", "food", "person", "plant")]
    usual = pl.when(pl.col("share").is_nan()).then("alone").otherwise(pl.col("share") >= 0.9)
    # The first sense of "whale" in WordNet is a very large person.
    odd = (pl.col("first") == kinds.index("noun.person")) & (pl.col("does") | pl.col("animal"))
    first_senses = shares.drop_nulls("synset").with_columns(sure=usual & pl.col("first").is_in(concrete) & ~odd)
    # "Cows" has an entry in WordNet, but is also a form of "cow": left out.
    forms = net.base_form_frame(first_senses["word"], "n").filter(pl.col("word") != pl.col("base"))
    return first_senses.select("word", "synset", "sure").join(forms.select("word"), on="word", how="anti")


def _agent_noun_senses(senses: pl.DataFrame) -> pl.Series:
    """The senses of nouns derived from a verb: *runner*, but not *doctor*, which equals the verb."""
    words = senses.select("sense", "word", "pos")
    links = wordnet().relation("derivations").join(words.rename({"word": "noun"}), left_on="source", right_on="sense")
    links = links.join(words.select("sense", verb="word", verbal="pos"), left_on="target", right_on="sense")
    longer = (pl.col("noun").str.len_chars() >= pl.col("verb").str.len_chars()) & (pl.col("noun") != pl.col("verb"))
    return links.filter(pl.col("pos") == "n", pl.col("verbal") == "v", longer)["source"].unique()


def _ancestors_of(words: pl.DataFrame) -> pl.DataFrame:
    """Every synset above each word's synset: columns first (number of the word) and at (synset)."""
    steps = wordnet().relation("hypernyms").select(at="source", up="target")
    level, levels = words.select(first="number", at="synset"), list[pl.DataFrame]()
    while level.height:
        level = level.join(steps, on="at").select("first", at="up").unique()
        levels.append(level)
    return pl.concat(levels).unique()


@cache
def proxy_words(lemma: str, antonym: str, pos: str) -> tuple[tuple[str, str], ...]:
    """Single words and their relation (synonym, hypernym, hyponym) to ``lemma`` in the sense opposed to ``antonym``.

    That sense must be the first or have a quarter of the uses of ``lemma`` in SemCor; if WordNet does not oppose the
    two, the first is used. A proxy must be mostly used in the sense that relates it: *cat* is no proxy for *man*, nor
    *broad* for *woman*. Proxies for persons are persons. ``data/swaps/no_proxies.tsv`` excludes what readers rejected:
    a proxy for one word (``*``: any word), or any proxy for a word.
    """
    net = wordnet()
    senses = [sense for sense in net.senses(lemma, pos or None) if net.lemma(sense).lower() == lemma]
    opposed = [s for s in senses if any(net.lemma(other).lower() == antonym for other in net.antonyms(s))]
    uses = sum(map(net.count, senses))
    common = [sense for sense in opposed if sense == senses[0] or 4 * net.count(sense) >= uses > 0]
    left_out = set(packaged_table("swaps/no_proxies.tsv").select("proxy", "word").iter_rows())
    proxies = {lemma: "", antonym: ""}
    for sense in common if opposed else senses[:1]:
        synset = net.synset_of(sense)
        # Hypernyms of verbs seldom fit: one rides a horse, but does not go or move it.
        wider = [] if pos == "v" else net.hypernyms(synset)
        related = {"synonym": [synset], "hypernym": wider, "hyponym": _hyponyms().get(synset, [])}
        for relation, other in ((relation, other) for relation, synsets in related.items() for other in synsets):
            if net.lexfile(other) == "noun.person" or net.lexfile(synset) != "noun.person":
                for word in net.lemmas(other):
                    if left_out.isdisjoint({(word, lemma), (word, "*"), ("*", lemma)}) and _means(word, other):
                        proxies.setdefault(word, relation)
    return tuple(sorted((word, relation) for word, relation in proxies.items() if relation))


@cache
def _means(word: str, synset: Synset) -> bool:
    """Whether a lower-case word occurs in SemCor at least twice for a synset, and for no other synset more often."""
    net = wordnet()
    if not (word.isalpha() and word.islower()):
        return False
    uses = {net.synset_of(sense): net.count(sense) for sense in net.senses(word) if net.lemma(sense) == word}
    return uses[synset] >= 2 and uses[synset] == max(uses.values())


@cache
def _hyponyms() -> dict[Synset, list[Synset]]:
    table = wordnet().relation("hypernyms").group_by("target").agg("source")
    return {Synset(target): [Synset(source) for source in sources] for target, sources in table.iter_rows()}


def side_counts(train: Suite) -> pl.DataFrame:
    """How often each lower-case word occurs in premises or in hypotheses, whichever is more: columns word and n."""
    counts = {"premise": Counter[str](), "hypothesis": Counter[str]()}

    def count(batch: pl.DataFrame) -> None:
        for side, counter in counts.items():
            tokens = tokenise(batch[side])
            words = tokens.words.str.to_lowercase().gather(tokens.word)
            counter.update(dict(words.value_counts().iter_rows()))

    visit_batches(train.frame.select("premise", "hypothesis"), count)
    most = counts["premise"] | counts["hypothesis"]
    if not most:
        raise AcidtestError(f"{train.name} has no examples to count words in; give another training set")
    return pl.DataFrame(sorted(most.items()), schema=["word", "n"], orient="row")
