"""The tokenizer of an uncased BERT, without the tokenizers library.

As there, control characters are removed, letters are lowered and lose their accents, punctuation marks and Chinese
characters are words by themselves, and a word is split into the longest pieces there are, from the left. Unlike there,
``[SEP]`` and other special tokens in a text are text.
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
from acidtest.models.encoders.pair_tokens import PairTemplate, TokenizedPairs, WordTokens, assemble_pairs

UNKNOWN, FIRST, BETWEEN = "[UNK]", "[CLS]", "[SEP]"
CONTINUATION = "##"
"""Prefix of a piece that does not begin a word."""

LONGEST_WORD = 100
"""Characters of a word; longer ones are unknown as a whole."""

_ASCII_WORDS = re.compile(r"[a-z0-9]+|[!-/:-@\[-`{-~]")
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
    """The numbers of a text's pieces, in the form that the tokenizers library returns."""

    ids: list[int]


class UncasedPieces:
    """A vocabulary that splits texts, with the part of a tokenizer's interface that ``WordTokens`` uses."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self.numbers = {piece: number for number, piece in enumerate(vocabulary)}
        missing = [piece for piece in (UNKNOWN, FIRST, BETWEEN) if piece not in self.numbers]
        if missing:
            raise AcidtestError(f"the vocabulary lacks {', '.join(missing)}")
        self._unknown = [self.numbers[UNKNOWN]]
        self._longest = max(map(len, vocabulary))

    def encode_batch(self, texts: Sequence[str], *, add_special_tokens: bool = False) -> list[Encoding]:
        """The pieces of each text, without special tokens."""
        assert not add_special_tokens
        return [Encoding(list(chain.from_iterable(map(self._split_word, split_words(text))))) for text in texts]

    def _split_word(self, word: str) -> list[int]:
        """The numbers of a word's pieces, or of the unknown piece where a part of it is none."""
        if len(word) > LONGEST_WORD:
            return self._unknown
        pieces, start, prefix = list[int](), 0, ""
        while start < len(word):
            for stop in range(min(len(word), start + self._longest), start, -1):
                number = self.numbers.get(prefix + word[start:stop])
                if number is not None:
                    break
            else:
                return self._unknown
            pieces.append(number)
            start, prefix = stop, CONTINUATION
        return pieces


class UncasedTokenizer:
    """Pairs as pieces, cut to ``longest``: the premise first, both only where the hypothesis leaves it no room."""

    def __init__(self, vocabulary: Sequence[str], longest: int) -> None:
        pieces = UncasedPieces(vocabulary)
        first, between = pieces.numbers[FIRST], pieces.numbers[BETWEEN]
        self._template = PairTemplate((first,), (between,), (between,), (0, 0, 0, 1, 1))
        self._sentences = WordTokens(pieces).sentences
        self.longest = longest

    def tokens(self, premises: Sequence[str], hypotheses: Sequence[str]) -> TokenizedPairs:
        """The pieces of the pairs, the shortest pair first."""
        return assemble_pairs(self._template, self._sentences, premises, hypotheses, longest=self.longest)

    def counts(self, texts: Sequence[str]) -> list[int]:
        """The number of pieces of each text on its own."""
        return [int(size) for size in np.diff(self._sentences(list(texts))[1])]


def split_words(text: str) -> list[str]:
    """The words and marks of a text, in lower case and without accents."""
    if text.isascii() and text.isprintable():
        return _ASCII_WORDS.findall(text.lower())
    return unicodedata.normalize("NFD", text.translate(_CLEANED)).translate(_SPLIT).split()


class _CharacterTable(dict[int, str]):
    """A table for ``str.translate`` that computes the entry of a character when it first appears."""

    def __init__(self, translate: Callable[[str], str]) -> None:
        self._translate = translate

    def __missing__(self, code: int) -> str:
        self[code] = self._translate(chr(code))
        return self[code]


def _clean(character: str) -> str:
    """Nothing for a control character, a plain space for any space, spaces around a Chinese character."""
    if character in "\t\n\r":
        return " "
    if character in "\0\ufffd" or unicodedata.category(character) in ("Cc", "Cf", "Co", "Cs"):
        return ""
    if character.isspace():
        return " "
    return f" {character} " if any(ord(character) in block for block in _CHINESE) else character


def _lower_and_split(character: str) -> str:
    """Nothing for an accent, spaces around a punctuation mark, otherwise the lower-case letter.

    Characters are lowered one by one, as in the library: a sigma that ends a word is like any other.
    """
    category = unicodedata.category(character)
    if category == "Mn":
        return ""
    is_mark = category.startswith("P") or character in string.punctuation
    return f" {character} " if is_mark else character.lower()


_CLEANED, _SPLIT = _CharacterTable(_clean), _CharacterTable(_lower_and_split)
