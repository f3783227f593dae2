"""Trees from a pipeline keep our tokens; whichever parser gives them, polarity follows the same rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from acidtest.english import parser
from acidtest.english.parser import TaggedTokens, pipeline_trees, trees
from acidtest.english.scopes import scope_at

SENTENCE = TaggedTokens(["No", "dog", "did", "n't", "bark", "."], ["DT", "NN", "VBD", "RB", "VB", "."])
HEADS = [1, 4, 4, 4, 4, 4]
RELATIONS = ["det", "nsubj", "aux", "neg", "ROOT", "punct"]


class Document:
    """As much of a spaCy document as is looked at: a parse of ``SENTENCE``."""

    def __init__(self, vocabulary: object, words: list[str], spaces: list[bool]) -> None:
        self.words, self.spaces = words, spaces

    def __iter__(self) -> Iterator[Any]:
        for place, (head, relation) in enumerate(zip(HEADS, RELATIONS, strict=True)):
            yield SimpleNamespace(i=place, head=SimpleNamespace(i=head), dep_=relation)


class Pipeline:
    """A pipeline that parses one sentence."""

    vocab = None
    pipe_names = ("parser",)

    def __init__(self) -> None:
        self.documents: list[Document] = []

    def pipe(self, pairs: Iterable[tuple[Document, Any]], *, as_tuples: bool, batch_size: int) -> Iterator[Any]:
        assert as_tuples
        assert batch_size > 0
        for document, context in pairs:
            self.documents.append(document)
            yield document, context


@pytest.fixture
def spacy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pipeline]:
    """A machine where sentences were tagged by a spaCy pipeline."""
    nlp = Pipeline()
    modules = {
        "spacy": SimpleNamespace(load=lambda name, exclude: nlp),
        "spacy.tokens": SimpleNamespace(Doc=Document),
    }
    monkeypatch.setattr(parser, "import_module", modules.__getitem__)
    monkeypatch.setattr(parser, "tagger", lambda name: SimpleNamespace(name="spacy:en_core_web_sm:3.8.0"))
    parser._parser.cache_clear()
    yield nlp
    parser._parser.cache_clear()


def test_a_pipeline_gets_our_tokens_and_gives_heads_and_relations(spacy: Pipeline) -> None:
    (tree,) = trees(iter([SENTENCE]), "auto")
    assert tree.words == ["no", "dog", "did", "n't", "bark", "."]
    assert tree.heads == [1, 4, 4, 4, -1, 4]
    assert tree.relations == RELATIONS
    assert spacy.documents[0].words == SENTENCE.tokens
    assert spacy.documents[0].spaces == [True, True, False, True, False, False]


def test_two_negations_of_a_parsed_sentence_cancel(spacy: Pipeline) -> None:
    (tree,) = pipeline_trees(spacy, iter([SENTENCE]))
    assert scope_at(tree, 4).polarity == "up"
    assert (scope_at(tree, 1).polarity, scope_at(tree, 1).by) == ("down", "no")


def test_a_pipeline_without_a_parser_leaves_it_to_the_light_one(
    spacy: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spacy, "pipe_names", ("tagger",), raising=False)
    (tree,) = trees(iter([SENTENCE]), "auto")
    assert tree.heads == [1, 4, 4, 4, -1, 4]
    assert spacy.documents == []
