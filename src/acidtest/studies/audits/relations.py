"""Which pairs have words that WordNet relates, one in each sentence: synonyms, hypernyms, hyponyms, co-hyponyms.

Only words that the other sentence has in no form count: what both have tells nothing of the step from one to the other.
Words mean what they most often mean, one sense in each part of speech; in some rare sense nearly any two common words
are related.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from acidtest.studies.audits.batches import Batch, Codes, Flags
from acidtest.text.misspelling import function_words
from acidtest.text.tokens import numbered
from acidtest.text.word_relations import Meanings
from acidtest.text.wordnet import wordnet

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    Table = csr_array[np.bool_, tuple[int, int]]

RELATED = {
    "synonyms": "synonyms of WordNet, one in each sentence",
    "hypernyms": "a more general word in the hypothesis than in the premise: dog, animal",
    "hyponyms": "a more special word in the hypothesis than in the premise: animal, dog",
    "cohyponyms": "two things of one kind, one in each sentence, and nothing closer: dog, cat",
}


def related(batch: Batch) -> dict[str, Flags]:
    """Whether each pair has two words of each relation."""
    lists = pl.concat([batch.premise_words, batch.hypothesis_words])
    kinds, numbers = numbered(lists.explode(empty_as_null=False, keep_nulls=False))
    rows = np.repeat(np.arange(len(lists)), lists.list.len().to_numpy())
    told = ~kinds.is_in(function_words()["word"].implode()).to_numpy()[numbers]
    both = _table(rows[told], numbers[told], (len(lists), len(kinds)))
    senses = wordnet().sense_frame(kinds).join(pl.DataFrame({"word": kinds}).with_row_index("number"), on="word")
    premise, hypothesis = _apart(both[: batch.height], both[batch.height :], _bases(senses, len(kinds)))
    meanings = Meanings(senses.filter(pl.col("rank") == 0), len(kinds))
    here, there = premise @ meanings.synsets, hypothesis @ meanings.synsets
    beside = meanings.synsets @ _ancestors()
    found = {
        "synonyms": _meet(here, there),
        "hypernyms": _meet(premise @ meanings.above, there),
        "hyponyms": _meet(here, hypothesis @ meanings.above),
    }
    closer = np.logical_or.reduce(list(found.values()))
    return found | {"cohyponyms": _meet(premise @ beside, hypothesis @ beside) & ~closer}


def _apart(premise: Table, hypothesis: Table, bases: Table) -> tuple[Table, Table]:
    """The words of each side that the other has in no form."""
    shared = (premise @ bases).multiply(hypothesis @ bases).tocsr() @ bases.T
    return _without(premise, shared), _without(hypothesis, shared)


def _without(table: Table, shared: Table) -> Table:
    kept = (table.astype(np.int8) - table.multiply(shared).astype(np.int8)).tocsr()
    kept.eliminate_zeros()
    return kept.astype(np.bool_)


def _bases(senses: pl.DataFrame, size: int) -> Table:
    lemmas, codes = numbered(senses["base"])
    return _table(senses["number"].to_numpy().astype(np.int64), codes, (size, len(lemmas)))


def _meet(left: Table, right: Table) -> Flags:
    met: Flags = np.diff(left.multiply(right).tocsr().indptr) > 0
    return met


@cache
def _ancestors() -> Table:
    """The synsets one or two steps above each synset."""
    size = wordnet().synset_table.height
    above = pl.concat([wordnet().relation(name) for name in ("hypernyms", "instance_hypernyms")])
    parents = _table(above["source"].to_numpy(), above["target"].to_numpy(), (size, size))
    return parents + parents @ parents


def _table(rows: Codes, columns: Codes, shape: tuple[int, int]) -> Table:
    from scipy.sparse import coo_array

    return coo_array((np.ones(len(rows), dtype=np.bool_), (rows, columns)), shape=shape).tocsr()
