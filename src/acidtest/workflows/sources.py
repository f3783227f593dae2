"""What acidtest works with beside its code: which resources are here, where, and how to get the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import resources as packaged
from pathlib import Path
from typing import Any

from acidtest.english import senses
from acidtest.english.wordnet import wordnet
from acidtest.io import store


@dataclass(frozen=True)
class Resource:
    """One resource: ``state`` is packaged, found or missing; ``where`` it is, or how to get it."""

    name: str
    what: str
    state: str
    where: str

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def resources() -> list[Resource]:
    """Every resource with its state."""
    return [_relations(), _glosses(), *_taggers(), *_starter()]


def fetch_resource(name: str, *, file: str | Path | None = None, progress: store.Progress | None = None) -> Path:
    """Fetch a resource, see that it is what it should be, and give its folder."""
    folder = store.fetch(name, file=file, progress=progress)
    if name == store.WORDNET:
        senses.definitions(senses.WordNetFolder(folder, senses.FETCH))
    return folder


def _relations() -> Resource:
    net = wordnet()
    what = f"WordNet 3.0: {len(net.lemma_names):,} words, {net.synset_table.height:,} synsets, their relations"
    return Resource("wordnet relations", what, "packaged", "data/wordnet")


def _glosses() -> Resource:
    place = senses.find_wordnet_folder()
    what = "WordNet 3.0: the definitions of synsets, for wsd=lesk"
    if place is None:
        return Resource("wordnet glosses", what, "missing", f"get them with: {senses.FETCH}")
    return Resource("wordnet glosses", what, "found", f"{place.path} ({place.origin})")


def _taggers() -> Iterator[Resource]:
    from acidtest.english.tagging import taggers

    states = {"built in": "packaged", "installed": "found"}
    for name, state in taggers():
        yield Resource(f"tagger {name}", "parts of speech and names", states.get(state, "missing"), state)


def _starter() -> Iterator[Resource]:
    folder = packaged.files("acidtest.data").joinpath("starter")
    if folder.is_dir():
        yield Resource("starter corpus", "pairs to make suites from when none are given", "packaged", "data/starter")
