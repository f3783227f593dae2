"""Dependency trees of sentences: from an installed spaCy pipeline that parses, else from the light parser.

The pipeline is the one that tagged the sentences, so that a suite's card names it; it gets our tokens, so that places
stay the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from acidtest.english.dependencies import DependencyTree
from acidtest.english.parser import parse_tags
from acidtest.english.tagging import tagger

_BATCH = 256
_PUNCTUATION = frozenset(".,;:!?)]}'\"”’")


class TaggedTokens(NamedTuple):
    """The tokens of a sentence as written, and their tags."""

    tokens: list[str]
    tags: list[str]


def trees(sentences: Iterator[TaggedTokens], tagger_name: str) -> Iterator[DependencyTree]:
    """The tree of every sentence, in order, by the parser that goes with a tagger."""
    kind, _, rest = tagger(tagger_name).name.partition(":")
    pipeline = _parser(rest.partition(":")[0]) if kind == "spacy" else None
    if pipeline is None:
        for sentence in sentences:
            yield parse_tags([token.lower() for token in sentence.tokens], sentence.tags)
    else:
        yield from pipeline_trees(pipeline, sentences)


@cache
def _parser(pipeline: str) -> Any | None:
    """A pipeline with what its parser needs and no more; None if it has no parser."""
    nlp = import_module("spacy").load(pipeline, exclude=["ner", "lemmatizer", "attribute_ruler", "tagger", "senter"])
    return nlp if "parser" in nlp.pipe_names else None


def pipeline_trees(nlp: Any, sentences: Iterator[TaggedTokens]) -> Iterator[DependencyTree]:
    """The trees that a spaCy pipeline gives, with the sentences' own tokens and tags."""
    document = import_module("spacy.tokens").Doc
    pairs = ((document(nlp.vocab, words=item.tokens, spaces=_spaces(item.tokens)), item) for item in sentences)
    for parse, (tokens, tags) in nlp.pipe(pairs, as_tuples=True, batch_size=_BATCH):
        heads = [-1 if token.head.i == token.i else token.head.i for token in parse]
        relations = ["ROOT" if head < 0 else token.dep_ for head, token in zip(heads, parse, strict=True)]
        yield DependencyTree([token.lower() for token in tokens], tags, heads, relations)


def _spaces(tokens: Sequence[str]) -> list[bool]:
    """Whether a space follows each token: not before punctuation and clitics."""
    later = [*tokens[1:], "."]
    return [token[0] not in _PUNCTUATION and token.lower() not in ("n't", "n’t") for token in later]
