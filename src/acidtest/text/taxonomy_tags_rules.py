"""Rules that propose categories of the taxonomy for a pair, from what its sentences share and where they differ.

A cue alone proposes nothing: Joshi et al. (2020), section 2.2, mark a category only where the inference calls for it.
What the rules ask for beyond their cues, and their thresholds, were chosen on one half of TaxiNLI by F0.5, which counts
precision twice as much as recall; ``taxonomy_tags/measured.tsv`` holds what the other half says of them.
The first line of a rule's description is what it looks for, and is shown to users.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from acidtest.text.taxonomy_tags_evidence import Evidence
from acidtest.text.tokens import Flags

_ALIKE = 0.5
"""Likeness from which two sentences are nearly the same."""
_NEW = 0.6
"""Share of new content words from which a hypothesis tells what the premise does not."""
_SHORTER = 1.5
"""How much longer a premise is than a hypothesis that tells a part of it."""


def lexical(found: Evidence) -> Flags:
    """The same words in the same order but for a few, none of them a negation; or a word and its antonym."""
    told = found.tokens
    nearly = (found.likeness >= _ALIKE) & told.differ(told.is_word) & ~found.negated
    return nearly | found.opposed


def negation(found: Evidence) -> Flags:
    """The hypothesis negates more often than the premise."""
    return found.negated


def boolean(found: Evidence) -> Flags:
    """The premise joins parts by *and* or *or*, and the hypothesis is shorter by a third and repeats some of it."""
    told = found.tokens
    joined = told.among(["and", "or"]) & told.near(told.content, -3, -1) & told.near(told.content, 1, 4)
    premise, hypothesis = told.counted(told.is_word)
    repeats = told.told(told.shared & told.content)[0]
    return told.told(joined)[0] & repeats & (premise >= _SHORTER * hypothesis)


def quantifier(found: Evidence) -> Flags:
    """Both sentences quantify, with other words; or one quantifies a word that the other has too."""
    told = found.tokens
    some, every = told.cues("some"), told.cues("every")
    premise, hypothesis = told.told(some | every)
    other = premise & hypothesis & told.differ(some | every)
    # "All of the staff" in the premise alone is seldom what the inference turns on.
    return other | told.told(told.anchored(some, 1, 3))[0] | told.told(told.anchored(some | every, 1, 3))[1]


def conditional(found: Evidence) -> Flags:
    """A condition in the hypothesis: *if*, *unless*, *as long as*, *would have*."""
    return found.tokens.told(found.conditions)[1]


def comparative(found: Evidence) -> Flags:
    """*Than* after a comparison in one of the sentences, or *the* and a superlative in the hypothesis alone."""
    told = found.tokens
    than = told.among(["than"]) & ~told.beside(told.among(["rather", "other"]), -1)
    premise, hypothesis = told.told(than)
    superlative = told.told(found.superlatives)
    return premise | hypothesis | (superlative[1] & ~superlative[0])


def temporal(found: Evidence) -> Flags:
    """The hypothesis has a time, and one of the sentences says which: a year, an hour, a number of days."""
    told = found.tokens
    premise, hypothesis = told.told(found.dates)
    return hypothesis | (premise & told.told(found.times)[1])


def spatial(found: Evidence) -> Flags:
    """The premise has a point of the compass; or it says where a place is, and the hypothesis names a place."""
    told = found.tokens
    # "West Hollywood" and "Cleveland Center" are names and say nothing of where.
    compass, where = (told.cues(*lists) & ~told.capital for lists in (("compass",), ("place-relation", "place-unit")))
    premise, hypothesis = told.told(found.places)
    return told.told(compass)[0] | (told.told(where)[0] & premise & hypothesis)


def coreference(found: Evidence) -> Flags:
    """Both sentences have personal pronouns, not the same ones, and neither has a name."""
    told = found.tokens
    pronouns = told.cues("pronoun")
    premise, hypothesis = told.told(pronouns)
    named = np.logical_or(*told.told(found.names))
    return premise & hypothesis & told.differ(pronouns) & ~named


def world(found: Evidence) -> Flags:
    """A name in the hypothesis that the premise has not; or two in a premise, and most of the hypothesis is new."""
    told = found.tokens
    spoken = told.told(told.cues("speech"))[0]
    several = (told.counted(found.names)[0] >= 2) & (found.novelty >= _NEW) & ~found.negated & ~spoken
    return told.told(found.names & ~told.shared)[1] | several


def taxonomic(found: Evidence) -> Flags:
    """A noun in one sentence where the other has a wider or a narrower one."""
    return found.subsumed


RULES: dict[str, Callable[[Evidence], Flags]] = {
    "lexical": lexical,
    "negation": negation,
    "boolean": boolean,
    "quantifier": quantifier,
    "conditional": conditional,
    "comparative": comparative,
    "spatial": spatial,
    "temporal": temporal,
    "coreference": coreference,
    "world": world,
    "taxonomic": taxonomic,
}
"""The rules by category, in the order of the taxonomy."""
