"""Sentences as tokens from the tokens of their words, each word asked once.

A tokenizer that always cuts at a space gives a sentence the tokens of its words, one after the other; and suites have
few different words. Measured on 6,000 pairs of HANS with BERT's tokenizer, one thread: 20 times less processor time
than whole sentences take.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Tokens = npt.NDArray[np.int32]

MOST = 1 << 19
"""Words that are remembered; with more, all are forgotten and asked again."""

_CUTTING = frozenset({"BertPreTokenizer", "Whitespace", "WhitespaceSplit"})


class Numbers(dict[str, int]):
    """Strings numbered as they come, from where ``names`` ends on."""

    def __init__(self, names: list[str], before: str) -> None:
        self._names = names
        self._before = before

    def __missing__(self, word: str) -> int:
        self[word] = len(self._names)
        self._names.append(self._before + word)
        return self[word]


class WordPieces:
    """The tokens of sentences, by way of the tokens of their words."""

    def __init__(self, rust: Any) -> None:
        self._encode = getattr(rust, "encode_batch_fast", rust.encode_batch)
        self._starts = self._sizes = np.zeros(0, dtype=np.int64)
        self._tokens = np.zeros(0, dtype=np.int32)
        self._forget()

    def sentences(self, texts: Sequence[str]) -> tuple[Tokens, Ints]:
        """The tokens of sentences end to end, without special ones, and where each begins."""
        if len(self._names) > MOST:
            self._forget()
        words: list[int] = []
        counts = np.empty(len(texts), dtype=np.int64)
        first, other = self._first.__getitem__, self._other.__getitem__
        for place, text in enumerate(texts):
            parts = text.split()
            if " ".join(parts) == text and parts:
                words.append(first(parts[0]))
                words.extend(map(other, parts[1:]))
                counts[place] = len(parts)
            else:
                # Runs of spaces, and spaces of other kinds, may be tokens of their own: the text is asked whole.
                words.append(first(text))
                counts[place] = 1
        self._ask()
        index = np.array(words, dtype=np.int64)
        sizes = self._sizes[index]
        ends = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])
        starts = ends[np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)])]
        return self._tokens[ranges(self._starts[index], sizes)], starts

    def _ask(self) -> None:
        """Have the words that came for the first time tokenised."""
        new = self._names[len(self._sizes) :]
        if not new:
            return
        tokens, starts = encoded(self._encode, new)
        self._starts = np.concatenate([self._starts, len(self._tokens) + starts[:-1]])
        self._sizes = np.concatenate([self._sizes, np.diff(starts)])
        self._tokens = np.concatenate([self._tokens, tokens])

    def _forget(self) -> None:
        self._names = list[str]()
        # Past the first, a word keeps the space before it: byte-level tokenizers make it part of the word.
        self._first, self._other = Numbers(self._names, ""), Numbers(self._names, " ")
        self._starts, self._sizes, self._tokens = self._starts[:0], self._sizes[:0], self._tokens[:0]


def cuts_at_spaces(rust: Any) -> bool:
    """Whether no token of this tokenizer reaches over a space, so that words can be asked one by one."""
    made = json.loads(rust.to_str())
    before = made.get("pre_tokenizer") or {}
    steps = before.get("pretokenizers", [before]) if before.get("type") == "Sequence" else [before]
    cut = any(
        step.get("type") in _CUTTING
        or (step.get("type") == "ByteLevel" and step.get("use_regex", True) and not step.get("add_prefix_space"))
        for step in steps
    )
    spaced = any(" " in token["content"] for token in made.get("added_tokens", []))
    return cut and not spaced and not made["model"].get("dropout")


def encoded(encode: Any, texts: list[str]) -> tuple[Tokens, Ints]:
    """The tokens of texts, each on its own, end to end, and where each begins."""
    found = [encoding.ids for encoding in encode(texts, add_special_tokens=False)]
    starts = np.zeros(len(found) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, found), np.int64, len(found)), out=starts[1:])
    return np.fromiter(chain.from_iterable(found), np.int32, int(starts[-1])), starts


def ranges(starts: Ints, sizes: Ints) -> Ints:
    """The numbers from each start on, as many as each size says, end to end."""
    ends = np.cumsum(sizes)
    return np.asarray(np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(starts - (ends - sizes), sizes))
