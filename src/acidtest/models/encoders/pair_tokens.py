"""Premises and hypotheses as the tokens a model reads, end to end without padding.

A tokenizer that always splits at spaces gives a sentence the tokens of its words, one after the other, and suites have
few distinct words, so each word is tokenized once. Measured on 6,000 pairs of HANS with BERT's tokenizer, one thread:
20 times less processor time than tokenizing whole sentences.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from acidtest.core.errors import AcidtestError

Ints = npt.NDArray[np.int64]
Tokens = npt.NDArray[np.int32]

SAMPLES = (
    ("A man plays a guitar.", "Somebody makes music."),
    ("It isn't 3.5 °C, she said: “no”.", "naïve café — 東京"),
    ("  two  spaces\tand a tab ", " leading space"),
    ("one", ""),
    ("", "two words"),
)
"""Pairs on which the tokens assembled here must equal those of the tokenizer."""

MOST_WORDS = 1 << 19
"""Words that are remembered; beyond that, all are forgotten and tokenized again."""

_SPLITTING = frozenset({"BertPreTokenizer", "Whitespace", "WhitespaceSplit"})


@dataclass(frozen=True)
class TokenizedPairs:
    """The tokens of pairs end to end, the shortest pair first.

    ``rows`` is the pair at each place; ``truncated`` is in the original order of the pairs.
    """

    ids: Tokens
    types: npt.NDArray[np.uint8] | None
    lengths: Ints
    rows: Ints
    truncated: npt.NDArray[np.bool_]

    @property
    def starts(self) -> Ints:
        """The start of each pair, with the total length last."""
        return _offsets(self.lengths)


@dataclass(frozen=True)
class PairTemplate:
    """The special tokens before, between and after two sentences, and the token types of all five parts."""

    before: tuple[int, ...]
    between: tuple[int, ...]
    after: tuple[int, ...]
    types: tuple[int, int, int, int, int]

    @property
    def size(self) -> int:
        """The number of special tokens."""
        return len(self.before) + len(self.between) + len(self.after)


SentenceTokenizer = Callable[[list[str]], tuple[Tokens, Ints]]
"""Returns the tokens of sentences end to end, and the start of each with the total length last."""


class TokenizesPairs(Protocol):
    """Turns pairs into tokens, at most ``longest`` each."""

    longest: int

    def tokens(self, premises: Sequence[str], hypotheses: Sequence[str]) -> TokenizedPairs: ...

    def counts(self, texts: Sequence[str]) -> list[int]: ...


class PairTokenizer:
    """Tokens of pairs, cut to ``longest``: the premise first, both only where the hypothesis leaves it no room.

    Each distinct sentence is tokenized once and pairs are assembled from sentences. Where that would not give what the
    tokenizer gives, as tried on a few pairs, whole pairs are tokenized.
    """

    def __init__(self, tokenizer: Any, longest: int) -> None:
        self._tokenizer = tokenizer
        self.longest = longest
        self._typed = "token_type_ids" in tokenizer.model_input_names
        self._template = None
        backend = _copy_backend(tokenizer)
        if backend is not None:
            self._sentences = _sentence_tokenizer(backend)
            self._template = self._find_template(backend.encode(*SAMPLES[0]))
        special = self._template.size if self._template else tokenizer.num_special_tokens_to_add(pair=True)
        self._room = longest - special
        if self._room < 2:
            raise AcidtestError(f"max_length {longest} leaves no room for a premise and a hypothesis")

    @property
    def assembled(self) -> bool:
        """Whether pairs are assembled from sentences that are tokenized once."""
        return self._template is not None

    def tokens(self, premises: Sequence[str], hypotheses: Sequence[str]) -> TokenizedPairs:
        """The tokens of the pairs, the shortest pair first."""
        if self._template is None:
            return self._tokenize_whole(premises, hypotheses)
        pairs = assemble_pairs(self._template, self._sentences, premises, hypotheses, longest=self.longest)
        return pairs if self._typed else replace(pairs, types=None)

    def counts(self, texts: Sequence[str]) -> list[int]:
        """The number of tokens of each text on its own."""
        if self._template is None:
            return list(map(len, self._tokenizer(list(texts), add_special_tokens=False)["input_ids"]))
        _, starts = self._sentences(list(texts))
        return [int(size) for size in np.diff(starts)]

    def _tokenize_whole(self, premises: Sequence[str], hypotheses: Sequence[str]) -> TokenizedPairs:
        whole = self._tokenizer(list(premises), list(hypotheses), return_attention_mask=False)
        ids, types = whole["input_ids"], whole.get("token_type_ids")
        truncated = np.fromiter((len(row) > self.longest for row in ids), np.bool_, len(ids))
        for row in np.flatnonzero(truncated).tolist():
            cut = self._cut_pair(premises[row], hypotheses[row])
            ids[row] = cut["input_ids"]
            if types:
                types[row] = cut["token_type_ids"]
        lengths = np.fromiter(map(len, ids), np.int64, len(ids))
        rows = np.argsort(lengths, kind="stable")
        flat = np.fromiter(chain.from_iterable(ids[row] for row in rows), np.int32, int(lengths.sum()))
        flat_types = None
        if self._typed and types:
            flat_types = np.fromiter(chain.from_iterable(types[row] for row in rows), np.uint8, len(flat))
        return TokenizedPairs(flat, flat_types, lengths[rows], rows, truncated)

    def _cut_pair(self, premise: str, hypothesis: str) -> Any:
        strategy: Literal["only_first", "longest_first"] = "only_first"
        if len(self._tokenizer(hypothesis, add_special_tokens=False)["input_ids"]) >= self._room:
            strategy = "longest_first"
        return self._tokenizer(premise, hypothesis, truncation=strategy, max_length=self.longest)

    def _find_template(self, sample: Any) -> PairTemplate | None:
        """The template of the first sample, if pairs assembled with it equal the tokenizer's."""
        sides = sample.sequence_ids
        if sides.count(0) == 0 or sides.count(1) == 0:
            return None
        first, second = sides.index(0), sides.index(1)
        first_end, second_end = first + sides.count(0), second + sides.count(1)
        if sides[first:first_end] != [0] * sides.count(0) or sides[second:second_end] != [1] * sides.count(1):
            return None
        parts = ((0, first), (first, first_end), (first_end, second), (second, second_end), (second_end, len(sides)))
        if any(start > stop for start, stop in parts):
            return None
        types = [set(sample.type_ids[start:stop]) or {0} for start, stop in parts]
        if any(len(part_types) > 1 for part_types in types):
            return None
        before, _, between, _, after = (tuple(sample.ids[start:stop]) for start, stop in parts)
        template = PairTemplate(before, between, after, tuple(part_types.pop() for part_types in types))
        return template if self._agrees(template) else None

    def _agrees(self, template: PairTemplate) -> bool:
        # All at once: a tokenizer that is given a single pair takes an empty hypothesis for none.
        premises, hypotheses = (list(texts) for texts in zip(*SAMPLES, strict=True))
        expected = self._tokenizer(premises, hypotheses)
        for number, (premise, hypothesis) in enumerate(SAMPLES):
            flat, starts = self._sentences([premise, hypothesis])
            (first, second), sizes = starts[:2, None], np.diff(starts)[:, None]
            ids, types, _ = _assemble(template, flat, (first, sizes[0]), (second, sizes[1]))
            same = ids.tolist() == expected["input_ids"][number]
            if not same or (self._typed and types.tolist() != expected["token_type_ids"][number]):
                return False
        return True


def _copy_backend(tokenizer: Any) -> Any | None:
    """A copy of the tokenizer's Rust half that neither cuts nor pads, and that no other thread changes."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        return None
    copy = importlib.import_module("tokenizers").Tokenizer.from_str(backend.to_str())
    copy.no_truncation()
    copy.no_padding()
    return copy


def _sentence_tokenizer(backend: Any) -> SentenceTokenizer:
    """Tokenizes sentences on their own: by their words where that gives the same tokens."""
    if splits_at_spaces(backend):
        return WordTokens(backend).sentences
    encode = getattr(backend, "encode_batch_fast", backend.encode_batch)
    return lambda texts: _encode(encode, texts)


def assemble_pairs(
    template: PairTemplate,
    tokenize: SentenceTokenizer,
    premises: Sequence[str],
    hypotheses: Sequence[str],
    *,
    longest: int,
) -> TokenizedPairs:
    """Pairs assembled from sentences, each of which is tokenized once."""
    places: dict[str, int] = {}
    first = np.fromiter((places.setdefault(text, len(places)) for text in premises), np.int64, len(premises))
    second = np.fromiter((places.setdefault(text, len(places)) for text in hypotheses), np.int64, len(hypotheses))
    flat, starts = tokenize(list(places))
    sizes = np.diff(starts)
    kept_first, kept_second = _cut_sizes(sizes[first], sizes[second], longest - template.size)
    rows = np.argsort(kept_first + kept_second, kind="stable")
    ids, types, lengths = _assemble(
        template, flat, (starts[first[rows]], kept_first[rows]), (starts[second[rows]], kept_second[rows])
    )
    truncated = (kept_first < sizes[first]) | (kept_second < sizes[second])
    return TokenizedPairs(ids, types, lengths, rows, truncated)


def _cut_sizes(first: Ints, second: Ints, room: int) -> tuple[Ints, Ints]:
    """The number of tokens of each sentence that stay: premises are cut first, hypotheses only as far as they must."""
    over = first + second > room
    # Where the hypothesis alone fills the room, both are cut towards half of it, the longer first.
    crowded = second >= room
    of_first = np.where(crowded, np.minimum(first, np.maximum(room // 2, room - second)), room - second)
    of_first = np.where(over, np.minimum(first, of_first), first)
    return of_first, np.where(over, np.minimum(second, room - of_first), second)


def _assemble(
    template: PairTemplate, flat: Tokens, first: tuple[Ints, Ints], second: tuple[Ints, Ints]
) -> tuple[Tokens, npt.NDArray[np.uint8], Ints]:
    """Tokens, types and lengths of pairs end to end, from (start, size) of their sentences in ``flat``."""
    lengths = np.asarray(first[1] + second[1] + template.size, dtype=np.int64)
    place = np.cumsum(lengths) - lengths
    ids = np.empty(int(lengths.sum()), dtype=np.int32)
    types = np.empty(len(ids), dtype=np.uint8)
    special_parts = (template.before, template.between, template.after)
    for part, (special, sentence) in enumerate(zip(special_parts, (first, second, None), strict=True)):
        for token in special:
            ids[place] = token
            types[place] = template.types[2 * part]
            place = place + 1
        if sentence is not None:
            places = _ranges(place, sentence[1])
            ids[places] = flat[_ranges(*sentence)]
            types[places] = template.types[2 * part + 1]
            place = place + sentence[1]
    return ids, types, lengths


class WordNumbers(dict[str, int]):
    """Numbers words as they first appear, and appends them to ``names`` with ``prefix`` before them."""

    def __init__(self, names: list[str], prefix: str) -> None:
        self._names = names
        self._prefix = prefix

    def __missing__(self, word: str) -> int:
        self[word] = len(self._names)
        self._names.append(self._prefix + word)
        return self[word]


class WordTokens:
    """The tokens of sentences from the tokens of their words, each word tokenized once."""

    def __init__(self, backend: Any) -> None:
        self._encode = getattr(backend, "encode_batch_fast", backend.encode_batch)
        self._starts = self._sizes = np.zeros(0, dtype=np.int64)
        self._tokens = np.zeros(0, dtype=np.int32)
        self._forget()

    def sentences(self, texts: Sequence[str]) -> tuple[Tokens, Ints]:
        """The tokens of sentences end to end, without special ones, and the start of each with the total last."""
        if len(self._names) > MOST_WORDS:
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
                # Runs of spaces, and spaces of other kinds, may be tokens: the text is tokenized whole.
                words.append(first(text))
                counts[place] = 1
        self._encode_new_words()
        index = np.array(words, dtype=np.int64)
        sizes = self._sizes[index]
        return self._tokens[_ranges(self._starts[index], sizes)], _offsets(sizes)[_offsets(counts)]

    def _encode_new_words(self) -> None:
        new = self._names[len(self._sizes) :]
        if not new:
            return
        tokens, starts = _encode(self._encode, new)
        self._starts = np.concatenate([self._starts, len(self._tokens) + starts[:-1]])
        self._sizes = np.concatenate([self._sizes, np.diff(starts)])
        self._tokens = np.concatenate([self._tokens, tokens])

    def _forget(self) -> None:
        self._names = list[str]()
        # Words after the first keep the space before them: byte-level tokenizers make it part of the word.
        self._first, self._other = WordNumbers(self._names, ""), WordNumbers(self._names, " ")
        self._starts, self._sizes, self._tokens = self._starts[:0], self._sizes[:0], self._tokens[:0]


def splits_at_spaces(backend: Any) -> bool:
    """Whether no token of this tokenizer crosses a space, so that words can be tokenized one by one."""
    definition = json.loads(backend.to_str())
    pre_tokenizer = definition.get("pre_tokenizer") or {}
    steps = pre_tokenizer.get("pretokenizers", []) if pre_tokenizer.get("type") == "Sequence" else [pre_tokenizer]
    splits = any(
        step.get("type") in _SPLITTING
        or (step.get("type") == "ByteLevel" and step.get("use_regex", True) and not step.get("add_prefix_space"))
        for step in steps
    )
    has_spaces = any(" " in token["content"] for token in definition.get("added_tokens", []))
    return splits and not has_spaces and not definition["model"].get("dropout")


def _encode(encode: Any, texts: list[str]) -> tuple[Tokens, Ints]:
    """The tokens of texts, each on its own, end to end, and the start of each with the total length last."""
    ids = [encoding.ids for encoding in encode(texts, add_special_tokens=False)]
    starts = _offsets(np.fromiter(map(len, ids), np.int64, len(ids)))
    return np.fromiter(chain.from_iterable(ids), np.int32, int(starts[-1])), starts


def _offsets(sizes: Ints) -> Ints:
    """The start of each of these parts, with the total size last."""
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])


def _ranges(starts: Ints, sizes: Ints) -> Ints:
    """``sizes`` consecutive numbers from each of ``starts`` on, end to end."""
    ends = np.cumsum(sizes)
    return np.asarray(np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(starts - (ends - sizes), sizes))
