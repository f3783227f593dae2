"""What the zoo's tests share: a handful of pairs that are quickly learnt, and one thread."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import pytest

WHO = ("man", "woman", "child", "dog", "nurse", "judge")
DOES = {"runs": "moves", "sleeps": "rests", "sings": "performs", "walks": "moves"}

Rows = list[dict[str, str]]


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Sums in the same order whatever else runs."""
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'acidtest[zoo]'")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def rows() -> Rows:
    """Three pairs for each of 24 deeds: a wider verb, something new, and a denial."""
    found = []
    for who, (deed, wider) in product(WHO, DOES.items()):
        premise = f"A {who} {deed}."
        found += [
            {"premise": premise, "hypothesis": f"A {who} {wider}.", "label": "entailment"},
            {"premise": premise, "hypothesis": f"A {who} {deed} in Paris.", "label": "neutral"},
            {"premise": premise, "hypothesis": f"Nobody {deed}.", "label": "contradiction"},
        ]
    return found


@pytest.fixture
def pair_file(tmp_path: Path) -> Callable[[str, Rows], Path]:
    """Write pairs to a file of this name."""

    def write(name: str, lines: Rows) -> Path:
        path = tmp_path / name
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return path

    return write


@pytest.fixture
def train_file(rows: Rows, pair_file: Callable[[str, Rows], Path]) -> Path:
    """The pairs of all but a quarter."""
    return pair_file("train.jsonl", rows[:54])


@pytest.fixture
def dev_file(rows: Rows, pair_file: Callable[[str, Rows], Path]) -> Path:
    """The other quarter."""
    return pair_file("dev.jsonl", rows[54:])
