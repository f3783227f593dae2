"""Premises and hypotheses as the tokens a model reads, laid end to end without padding."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from acidtest.core.errors import AcidtestError
from acidtest.models.encoders.word_pieces import Ints, Tokens, WordPieces, cuts_at_spaces, encoded, ranges

SAMPLES = (
    ("A man plays a guitar.", "Somebody makes music."),
    ("It isn't 3.5 °C, she said: “no”.", "naïve café — 東京"),
    ("  two  spaces\tand a tab ", " leading space"),
    ("one", ""),
    ("", "two words"),
)
"""Pairs on which the tokens put together here must be those of the tokenizer itself."""


@dataclass(frozen=True)
class PairTokens:
    """Pairs in order of length, shortest first: their tokens end to end, and where each came from.

    ``rows`` says which pair stands at each place, ``truncated`` is in the pairs' own order.
    """

    ids: Tokens
    types: npt.NDArray[np.uint8] | None
    lengths: Ints
    rows: Ints
    truncated: npt.NDArray[np.bool_]

    @property
    def starts(self) -> Ints:
        """Where each pair begins, and at last where all end."""
        return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(self.lengths)])


@dataclass(frozen=True)
class Frame:
    """What a tokenizer sets before, between and after the two sentences, and the type of every part."""

    before: tuple[int, ...]
    between: tuple[int, ...]
    after: tuple[int, ...]
    types: tuple[int, int, int, int, int]

    @property
    def size(self) -> int:
        """How many tokens it takes."""
        return len(self.before) + len(self.between) + len(self.after)


Sentences = Callable[[list[str]], tuple[Tokens, Ints]]
"""Gives the tokens of sentences end to end, and where each begins."""


class CutsPairs(Protocol):
    """What makes tokens of pairs, at most ``longest`` of each."""

    longest: int

    def tokens(self, premises: Sequence[str], hypotheses: Sequence[str]) -> PairTokens: ...

    def counts(self, texts: Sequence[str]) -> list[int]: ...


class PairTokenizer:
    """Tokens of pairs, cut to ``longest``: the premise first, both only where the hypothesis leaves it no room.

    Sentences are tokenised once however many pairs they are in, and pairs put together from them; where that would not
    give what the tokenizer gives (it is tried on a few pairs), the tokenizer is asked for whole pairs.
    """

    def __init__(self, tokenizer: Any, longest: int) -> None:
        self._tokenizer = tokenizer
        self.longest = longest
        self._typed = "token_type_ids" in tokenizer.model_input_names
        self._rust = _own_copy(tokenizer)
        self._frame = None
        if self._rust is not None:
            self._sentences = _sentences(self._rust)
            self._frame = self._found_frame(self._rust.encode(*SAMPLES[0]))
        room = longest - (self._frame.size if self._frame else tokenizer.num_special_tokens_to_add(pair=True))
        if room < 2:
            raise AcidtestError(f"max_length {longest} leaves no room for a premise and a hypothesis")
        self._room = room

    @property
    def assembled(self) -> bool:
        """Whether pairs are put together from sentences tokenised once."""
        return self._frame is not None

    def tokens(self, premises: Sequence[str], hypotheses: Sequence[str]) -> PairTokens:
        """The tokens of the pairs, in order of length."""
        if self._frame is None:
            return self._whole_pairs(premises, hypotheses)
        found = framed_pairs(self._frame, self._sentences, premises, hypotheses, longest=self.longest)
        return found if self._typed else replace(found, types=None)

    def counts(self, texts: Sequence[str]) -> list[int]:
        """How many tokens each text has on its own."""
        if self._frame is None:
            return list(map(len, self._tokenizer(list(texts), add_special_tokens=False)["input_ids"]))
        _, starts = self._sentences(list(texts))
        return [int(size) for size in np.diff(starts)]

    def _whole_pairs(self, premises: Sequence[str], hypotheses: Sequence[str]) -> PairTokens:
        plain = self._tokenizer(list(premises), list(hypotheses), return_attention_mask=False)
        ids, types = plain["input_ids"], plain.get("token_type_ids")
        truncated = np.fromiter((len(row) > self.longest for row in ids), np.bool_, len(ids))
        for row in np.flatnonzero(truncated).tolist():
            cut = self._cut_pair(premises[row], hypotheses[row])
            ids[row] = cut["input_ids"]
            if types:
                types[row] = cut["token_type_ids"]
        lengths = np.fromiter(map(len, ids), np.int64, len(ids))
        rows = np.argsort(lengths, kind="stable")
        flat = np.fromiter(chain.from_iterable(ids[row] for row in rows), np.int32, int(lengths.sum()))
        kinds = None
        if self._typed and types:
            kinds = np.fromiter(chain.from_iterable(types[row] for row in rows), np.uint8, len(flat))
        return PairTokens(flat, kinds, lengths[rows], rows, truncated)

    def _cut_pair(self, premise: str, hypothesis: str) -> Any:
        strategy: Literal["only_first", "longest_first"] = "only_first"
        if len(self._tokenizer(hypothesis, add_special_tokens=False)["input_ids"]) >= self._room:
            strategy = "longest_first"
        return self._tokenizer(premise, hypothesis, truncation=strategy, max_length=self.longest)

    def _found_frame(self, sample: Any) -> Frame | None:
        """The frame of the first sample, if pairs made with it are the tokenizer's own."""
        sides = sample.sequence_ids
        if sides.count(0) == 0 or sides.count(1) == 0:
            return None
        first, second = sides.index(0), sides.index(1)
        first_end, second_end = first + sides.count(0), second + sides.count(1)
        if sides[first:first_end] != [0] * (first_end - first) or sides[second:second_end] != [1] * sides.count(1):
            return None
        parts = ((0, first), (first, first_end), (first_end, second), (second, second_end), (second_end, len(sides)))
        if any(start > stop for start, stop in parts):
            return None
        types = [set(sample.type_ids[start:stop]) or {0} for start, stop in parts]
        if any(len(kinds) > 1 for kinds in types):
            return None
        before, _, between, _, after = (tuple(sample.ids[start:stop]) for start, stop in parts)
        frame = Frame(before, between, after, tuple(kinds.pop() for kinds in types))
        return frame if self._agrees(frame) else None

    def _agrees(self, frame: Frame) -> bool:
        # Asked for all at once: a tokenizer that is given one pair takes an empty hypothesis for none.
        premises, hypotheses = (list(texts) for texts in zip(*SAMPLES, strict=True))
        own = self._tokenizer(premises, hypotheses)
        for number, (premise, hypothesis) in enumerate(SAMPLES):
            flat, starts = self._sentences([premise, hypothesis])
            (first, second), sizes = starts[:2, None], np.diff(starts)[:, None]
            ids, types, _ = _assembled(frame, flat, (first, sizes[0]), (second, sizes[1]))
            same = ids.tolist() == own["input_ids"][number]
            if not same or (self._typed and types.tolist() != own["token_type_ids"][number]):
                return False
        return True


def _sentences(rust: Any) -> Sentences:
    """What gives the tokens of sentences on their own: by their words where that is the same."""
    if cuts_at_spaces(rust):
        return WordPieces(rust).sentences
    encode = getattr(rust, "encode_batch_fast", rust.encode_batch)
    return lambda texts: encoded(encode, texts)


def _own_copy(tokenizer: Any) -> Any | None:
    """A copy of the tokenizer's Rust half that neither cuts nor pads, and that no other thread changes."""
    inner = getattr(tokenizer, "backend_tokenizer", None)
    if inner is None:
        return None
    copy = importlib.import_module("tokenizers").Tokenizer.from_str(inner.to_str())
    copy.no_truncation()
    copy.no_padding()
    return copy


def framed_pairs(
    frame: Frame, sentences: Sentences, premises: Sequence[str], hypotheses: Sequence[str], *, longest: int
) -> PairTokens:
    """Pairs put together from sentences that are tokenised once however many pairs they are in."""
    places: dict[str, int] = {}
    first = np.fromiter((places.setdefault(text, len(places)) for text in premises), np.int64, len(premises))
    second = np.fromiter((places.setdefault(text, len(places)) for text in hypotheses), np.int64, len(hypotheses))
    flat, starts = sentences(list(places))
    sizes = np.diff(starts)
    kept_first, kept_second = _kept(sizes[first], sizes[second], longest - frame.size)
    rows = np.argsort(kept_first + kept_second, kind="stable")
    ids, types, lengths = _assembled(
        frame, flat, (starts[first[rows]], kept_first[rows]), (starts[second[rows]], kept_second[rows])
    )
    truncated = (kept_first < sizes[first]) | (kept_second < sizes[second])
    return PairTokens(ids, types, lengths, rows, truncated)


def _kept(first: Ints, second: Ints, room: int) -> tuple[Ints, Ints]:
    """How many tokens of either sentence stay: premises lose theirs first, hypotheses only what must go for one."""
    over = first + second > room
    # Where the hypothesis alone fills the room, both are cut towards half of it, the longer first.
    crowded = second >= room
    of_first = np.where(crowded, np.minimum(first, np.maximum(room // 2, room - second)), room - second)
    of_first = np.where(over, np.minimum(first, of_first), first)
    return of_first, np.where(over, np.minimum(second, room - of_first), second)


def _assembled(
    frame: Frame, flat: Tokens, first: tuple[Ints, Ints], second: tuple[Ints, Ints]
) -> tuple[Tokens, npt.NDArray[np.uint8], Ints]:
    """Pairs end to end from (start, size) of their sentences in ``flat``: tokens, types and lengths."""
    lengths = np.asarray(first[1] + second[1] + frame.size, dtype=np.int64)
    place = np.cumsum(lengths) - lengths
    ids = np.empty(int(lengths.sum()), dtype=np.int32)
    types = np.empty(len(ids), dtype=np.uint8)
    fixed = (frame.before, frame.between, frame.after)
    for part, (special, sentence) in enumerate(zip(fixed, (first, second, None), strict=True)):
        for token in special:
            ids[place] = token
            types[place] = frame.types[2 * part]
            place = place + 1
        if sentence is not None:
            places = ranges(place, sentence[1])
            ids[places] = flat[ranges(*sentence)]
            types[places] = frame.types[2 * part + 1]
            place = place + sentence[1]
    return ids, types, lengths
