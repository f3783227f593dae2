"""Parts of speech and names of tokens, by spaCy where an English pipeline is installed, else by the light tagger."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import polars as pl

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.text.lexicon import lexicon_digest
from acidtest.text.light import VERSION, light_tags
from acidtest.text.names import entities
from acidtest.text.tokens import placed

_SCHEMA = {
    "text": pl.UInt32,
    "start": pl.UInt32,
    "end": pl.UInt32,
    "token": pl.String,
    "tag": pl.String,
    "entity": pl.String,
}

_KNOWN_LEXICON = "de189cb6"
"""What textblob 0.15 to 0.20 carry."""

_ENTITIES = {"PERSON": "PERSON", "GPE": "LOCATION", "LOC": "LOCATION", "FAC": "LOCATION", "ORG": "ORGANIZATION"}
"""spaCy's kinds of names, in ours; its others are none."""

_PREFERRED = ("lg", "md", "sm", "trf")
"""The size of the pipeline taken where several are installed; transformers are slow without a GPU."""


@dataclass(frozen=True)
class Tagger:
    """Something that tags; its name holds all that changes tags, for the card of a suite that rests on them."""

    name: str
    frame: Callable[[pl.Series], pl.DataFrame]


class TaggerState(NamedTuple):
    """A tagger, and whether it can be used; if not, what to do."""

    name: str
    state: str


def tagged(texts: pl.Series, tagger: str = "auto") -> pl.DataFrame:
    """Every token of a column of texts with ``tag`` (Penn Treebank) and ``entity``, the kind of name it is part of.

    Columns text, start, end and token are those of ``tokens``; spaCy has its own idea of tokens. ``entity`` is PERSON,
    LOCATION, ORGANIZATION or null. ``tagger`` is ``light``, ``spacy`` (the best English pipeline installed),
    ``spacy:NAME`` or ``auto``: spaCy if it is there with an English pipeline, else light.
    """
    return _chosen(tagger).frame(texts)


def tagger(name: str = "auto") -> Tagger:
    """The tagger that ``tagged`` uses for a name; its own name says which and in what version."""
    return _chosen(name)


def taggers() -> list[TaggerState]:
    """Every tagger there is, the one that ``auto`` stands for first."""
    light = TaggerState(_light_name(), "built in")
    if _pipelines():
        return [*(TaggerState(f"spacy:{name}", "installed") for name in _pipelines()), light]
    what = "spaCy has no English pipeline" if find_spec("spacy") else "spaCy is not installed"
    return [light, TaggerState("spacy", f"{what}; {_advice()}")]


def _chosen(name: str) -> Tagger:
    if name == "light" or (name == "auto" and not _pipelines()):
        return Tagger(_light_name(), _light_frame)
    if name in ("auto", "spacy"):
        if not _pipelines():
            raise AcidtestError(f"tagger 'spacy' needs spaCy and an English pipeline; {_advice()}")
        return _spacy(_pipelines()[0])
    kind, _, pipeline = name.partition(":")
    if kind == "spacy" and pipeline in _pipelines():
        return _spacy(pipeline)
    raise UnknownNameError("tagger", name, ["auto", "light", "spacy", *(f"spacy:{each}" for each in _pipelines())])


def _advice() -> str:
    return "get both with: pip install spacy && python -m spacy download en_core_web_sm"


@cache
def _light_name() -> str:
    digest = lexicon_digest()
    return f"light:{VERSION}" if digest == _KNOWN_LEXICON else f"light:{VERSION}:{digest}"


def _light_frame(texts: pl.Series) -> pl.DataFrame:
    found = placed(texts)
    tags = light_tags(found)
    return found.frame.with_columns(tags.names, entities(found, tags.number))


def _pipelines() -> Sequence[str]:
    """The English pipelines that are installed, the preferred first."""
    if find_spec("spacy") is None:
        return ()
    installed = (name for name in import_module("spacy.util").get_installed_models() if name.startswith("en_"))
    sizes = {size: rank for rank, size in enumerate(_PREFERRED)}
    return sorted(installed, key=lambda name: (sizes.get(name.rpartition("_")[2], len(sizes)), name))


@cache
def _spacy(pipeline: str) -> Tagger:
    nlp = import_module("spacy").load(pipeline, exclude=["parser", "lemmatizer"])
    return Tagger(f"spacy:{pipeline}:{nlp.meta['version']}", lambda texts: spacy_frame(nlp, texts))


def spacy_frame(nlp: Any, texts: pl.Series) -> pl.DataFrame:
    """The tokens, tags and names that a spaCy pipeline finds."""
    rows = [
        (number, token.idx, token.idx + len(token.text), token.text, token.tag_, _ENTITIES.get(token.ent_type_))
        for number, document in enumerate(nlp.pipe(texts.cast(pl.String).fill_null("").to_list()))
        for token in document
        if not token.is_space
    ]
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")
