"""What tests of WordNet share: a small made-up one, the full one if it is here, and NLTK's view of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import polars as pl
import pytest

from acidtest.english import senses
from acidtest.english.wordnet import wordnet

FETCHED = Path(__file__).parents[1] / "build" / "resources" / "wordnet"
"""Where ``make test`` puts the full WordNet."""


class MadeWordNet(Protocol):
    """Writes data files that fit the packaged table: definitions by name of synset, none for the others."""

    def __call__(self, definitions: Mapping[str, str], *, newline: str = "\n") -> Path: ...


@pytest.fixture
def made_wordnet(tmp_path: Path) -> MadeWordNet:
    """A folder that passes for WordNet 3.0, with the definitions a test needs."""

    def write(definitions: Mapping[str, str], *, newline: str = "\n") -> Path:
        return _written(tmp_path / "made" / "wordnet", definitions, newline)

    return write


def _written(folder: Path, definitions: Mapping[str, str], newline: str) -> Path:
    net = wordnet()
    texts = dict.fromkeys(range(net.synset_table.height), "-") | {
        net.synset(name): text for name, text in definitions.items()
    }
    lines = net.synset_table.select(
        pl.format(
            "{} {} {} 01 w 0 000 | {}  ",
            pl.col("offset").cast(pl.String).str.zfill(8),
            pl.col("lexfile").cast(pl.String).str.zfill(2),
            pl.col("pos").cast(pl.String),
            pl.Series(list(texts.values())),
        ).alias("line"),
        file=pl.col("pos").cast(pl.String).replace({"s": "a"}),
    )
    folder.mkdir(parents=True, exist_ok=True)
    for name, pos in zip(senses.DATA_FILES, "nvar", strict=True):
        licence = "  1 WordNet 3.0 Copyright 2006 by Princeton University.  "
        content = [licence, *lines.filter(file=pos)["line"]]
        (folder / name).write_bytes("".join(line + newline for line in content).encode())
    return folder


@pytest.fixture(scope="session")
def full_wordnet() -> Path:
    """The folder of the full WordNet 3.0, or a skip that says it is not there."""
    named = os.environ.get(senses.VARIABLE)
    found = next((path for path in (Path(named or "."), FETCHED) if (path / "index.sense").is_file()), None)
    if found is None:
        pytest.skip("no full WordNet on this machine; get it with: make resources")
    return found


@pytest.fixture(scope="session")
def nltk_wordnet(full_wordnet: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """NLTK's reader on the same files, or a skip."""
    nltk = pytest.importorskip("nltk", minversion="3.10", reason="NLTK 3.10 is not installed")
    folder = tmp_path_factory.mktemp("nltk_data")
    corpus = folder / "corpora" / "wordnet"
    corpus.mkdir(parents=True)
    for path in full_wordnet.iterdir():
        # NLTK goes to a byte of a file, which is right only where a line ends in LF.
        (corpus / path.name).write_bytes(path.read_bytes().replace(b"\r\n", b"\n"))
    nltk.data.path.insert(0, str(folder))
    nltk.corpus.wordnet.ensure_loaded()
    return nltk.corpus.wordnet
