"""Words that stand in for an antonym: synonyms, hypernyms and hyponyms of the other word of the pair.

The proxy sets of Sanchez Carmona et al. (2018), section 6.1, replace *young* beside *elderly* by *aged*. They chose by
hand; here every word counts that WordNet relates to the sense in which the two are opposed, and that a training file
has often enough.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache

import polars as pl

from acidtest.core.errors import AcidtestError
from acidtest.core.streams import visit_batches
from acidtest.core.suite import Suite
from acidtest.io.wordlists import packaged_table
from acidtest.text.tokens import placed
from acidtest.text.wordnet import Sense, Synset, wordnet

LEAST = 10
"""How often a proxy stands on one side of the training file, at least: the paper's t."""
FEWEST_USES = 2
"""How often SemCor has a proxy in the sense by which it is one, at least."""


@cache
def relatives(lemma: str, antonym: str, pos: str) -> tuple[tuple[str, str], ...]:
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
    found = dict[str, str]()
    for sense in common if opposed else senses[:1]:
        for word, relation in _related_words(net.synset_of(sense), pos):
            if word not in (lemma, antonym) and not _is_left_out(word, lemma):
                found.setdefault(word, relation)
    return tuple(sorted(found.items()))


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
            found = placed(batch[side])
            words = found.words.str.to_lowercase().gather(found.word)
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
    return {Synset(target): [Synset(each) for each in sources] for target, sources in table.iter_rows()}
