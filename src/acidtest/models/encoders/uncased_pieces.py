"""Texts cut into the pieces of an uncased BERT's vocabulary, without the tokenizers library.

As there: control characters go, letters are lowered and lose their accents, punctuation marks and Chinese characters
stand alone, and a word is cut into the longest pieces there are, from the left. Unlike there, ``[SEP]`` and its like in
a text are text.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from acidtest.core.errors import AcidtestError
from acidtest.models.encoders.pair_tokens import Frame, PairTokens, framed_pairs
from acidtest.models.encoders.word_pieces import WordPieces

UNKNOWN, FIRST, BETWEEN = "[UNK]", "[CLS]", "[SEP]"
INSIDE = "##"
"""What a piece begins with that does not begin a word."""

LONGEST_WORD = 100
"""Characters of a word; longer ones are unknown as a whole."""

_PARTS = re.compile(r"[a-z0-9]+|[!-/:-@\[-`{-~]")
_CHINESE = tuple(
    range(first, last + 1)
    for first, last in (
        (0x4E00, 0x9FFF),
        (0x3400, 0x4DBF),
        (0x20000, 0x2A6DF),
        (0x2A700, 0x2B73F),
        (0x2B740, 0x2B81F),
        (0x2B920, 0x2CEAF),
        (0xF900, 0xFAFF),
        (0x2F800, 0x2FA1F),
    )
)


@dataclass(frozen=True)
class Encoding:
    """The numbers of a text's pieces, as the tokenizers library hands them over."""

    ids: list[int]


class UncasedPieces:
    """A vocabulary that cuts texts, with as much of a tokenizers tokenizer's manners as ``WordPieces`` asks for."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self.numbers = {piece: number for number, piece in enumerate(vocabulary)}
        missing = [piece for piece in (UNKNOWN, FIRST, BETWEEN) if piece not in self.numbers]
        if missing:
            raise AcidtestError(f"the vocabulary lacks {', '.join(missing)}")
        self._unknown = [self.numbers[UNKNOWN]]
        self._longest = max(map(len, vocabulary))

    def encode_batch(self, texts: Sequence[str], *, add_special_tokens: bool = False) -> list[Encoding]:
        """The pieces of each text, without any around them."""
        assert not add_special_tokens
        return [Encoding(list(chain.from_iterable(map(self._cut, words(text))))) for text in texts]

    def _cut(self, word: str) -> list[int]:
        """The numbers of a word's pieces, or of the unknown one where a part of it is none."""
        if len(word) > LONGEST_WORD:
            return self._unknown
        found, start, before = list[int](), 0, ""
        while start < len(word):
            for stop in range(min(len(word), start + self._longest), start, -1):
                number = self.numbers.get(before + word[start:stop])
                if number is not None:
                    break
            else:
                return self._unknown
            found.append(number)
            start, before = stop, INSIDE
        return found


class UncasedTokenizer:
    """Pairs as pieces, cut to ``longest``: the premise first, both only where the hypothesis leaves it no room."""

    def __init__(self, vocabulary: Sequence[str], longest: int) -> None:
        pieces = UncasedPieces(vocabulary)
        first, between = pieces.numbers[FIRST], pieces.numbers[BETWEEN]
        self._frame = Frame((first,), (between,), (between,), (0, 0, 0, 1, 1))
        self._sentences = WordPieces(pieces).sentences
        self.longest = longest

    def tokens(self, premises: Sequence[str], hypotheses: Sequence[str]) -> PairTokens:
        """The pieces of the pairs, in order of length."""
        return framed_pairs(self._frame, self._sentences, premises, hypotheses, longest=self.longest)

    def counts(self, texts: Sequence[str]) -> list[int]:
        """How many pieces each text has on its own."""
        return [int(size) for size in np.diff(self._sentences(list(texts))[1])]


def words(text: str) -> list[str]:
    """The words and marks of a text, lowered and without accents."""
    if text.isascii() and text.isprintable():
        return _PARTS.findall(text.lower())
    return unicodedata.normalize("NFD", text.translate(_CLEANED)).translate(_APART).split()


class _Characters(dict[int, str]):
    """What becomes of each character, for ``str.translate``; found out when it first comes."""

    def __init__(self, become: Callable[[str], str]) -> None:
        self._become = become

    def __missing__(self, code: int) -> str:
        self[code] = self._become(chr(code))
        return self[code]


def _cleaned(character: str) -> str:
    """Nothing for what is no text, a space for any kind of it, spaces around what is Chinese."""
    if character in "\t\n\r":
        return " "
    if character in "\0\ufffd" or unicodedata.category(character) in ("Cc", "Cf", "Co", "Cs"):
        return ""
    if character.isspace():
        return " "
    return f" {character} " if any(ord(character) in block for block in _CHINESE) else character


def _apart(character: str) -> str:
    """Nothing for an accent, spaces around a mark, else the small letter.

    Characters are lowered one by one, as in the library: a sigma that ends a word is like any other.
    """
    kind = unicodedata.category(character)
    if kind == "Mn":
        return ""
    mark = kind.startswith("P") or (character in string.punctuation)
    return f" {character} " if mark else character.lower()


_CLEANED, _APART = _Characters(_cleaned), _Characters(_apart)
