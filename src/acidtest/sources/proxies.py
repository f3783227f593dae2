"""Words that stand in for an antonym: synonyms, hypernyms and hyponyms of the other word of the pair.

The proxy sets of Sanchez Carmona et al. (2018), section 6.1, replace *young* beside *elderly* by *aged*. They chose by
hand; here every word counts that WordNet relates to the sense in which the two are opposed, and that a training file
has often enough.
"""

from __future__ import annotations

from collections import Counter
from functools import cache

import polars as pl

from acidtest.core.errors import AcidtestError
from acidtest.core.streams import visit_batches
from acidtest.core.suite import Suite
from acidtest.sources.tokens import placed
from acidtest.sources.wordnet import Synset, wordnet

LEAST = 10
"""How often a proxy stands on one side of the training file, at least: the paper's t."""


@cache
def relatives(lemma: str, antonym: str, pos: str) -> tuple[tuple[str, str], ...]:
    """Single words with what each is to ``lemma`` (synonym, hypernym or hyponym), in the sense opposed to ``antonym``.

    Where WordNet does not oppose the two, the first sense counts.
    """
    net = wordnet()
    senses = [sense for sense in net.senses(lemma, pos or None) if net.lemma(sense).lower() == lemma]
    opposed = [s for s in senses if any(net.lemma(other).lower() == antonym for other in net.antonyms(s))]
    found = dict[str, str]()
    for sense in opposed or senses[:1]:
        synset = net.synset_of(sense)
        groups = {"synonym": [synset], "hypernym": net.hypernyms(synset), "hyponym": _hyponyms().get(synset, [])}
        for relation, synsets in groups.items():
            for word in (word for each in synsets for word in net.lemmas(each)):
                if word.isalpha() and word.islower() and word not in (lemma, antonym):
                    found.setdefault(word, relation)
    return tuple(sorted(found.items()))


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
