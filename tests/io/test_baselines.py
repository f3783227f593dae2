"""Baseline files: they give back what was stored, stay small, and say what is wrong when they are damaged."""

import hashlib
import json

import numpy as np
import pytest

from acidtest.core.errors import FileError
from acidtest.core.run import ModelFacts
from acidtest.io.baselines import (
    MARK,
    StoredBaseline,
    StoredSuite,
    is_baseline_file,
    needed_bits,
    read_baseline_file,
    write_baseline_file,
)


def stored_suite(rows, groups, seed=0):
    rng = np.random.default_rng(seed)
    digests = np.unique(rng.integers(0, 2**63, rows, dtype=np.uint64) * np.uint64(2))
    bits = needed_bits(digests)
    group = np.arange(rows) if groups == rows else rng.integers(0, groups, rows)
    correct, label = rng.random(rows) < 0.8, rng.integers(0, 2, rows).astype(np.uint8)
    kept = np.sort(digests >> np.uint64(64 - bits))
    return StoredSuite("toy|v:1", 1, ("entailment", "neutral"), bits, kept, correct, label, group.astype(np.int32))


def make_baseline(**suites):
    return StoredBaseline(
        ModelFacts("hf:model", "model", "abc"), {"collapse": "argmax", "limit": None}, "0.1.0", suites, "v1"
    )


@pytest.fixture
def file(tmp_path):
    return write_baseline_file(make_baseline(toy=stored_suite(500, 100)), tmp_path / "release.acidtest")


def test_what_is_read_is_what_was_written(tmp_path):
    baseline = make_baseline(singles=stored_suite(1000, 1000), grouped=stored_suite(333, 40), empty=stored_suite(0, 0))
    read = read_baseline_file(write_baseline_file(baseline, tmp_path / "release.acidtest"))
    assert (read.model, read.settings, read.name) == (baseline.model, baseline.settings, "v1")
    for name, suite in baseline.suites.items():
        for part in ("digests", "correct", "label", "group"):
            assert np.array_equal(getattr(read.suites[name], part), getattr(suite, part)), (name, part)


def test_a_file_of_the_standard_battery_is_small(tmp_path):
    # Rows and groups of the standard battery: hans, cues, lexical, stress/spelling, and the rest.
    sizes = {"hans": (30_000, 30_000), "cues": (15_360, 458), "lexical": (3_833, 1_173), "spelling": (3_199, 816)}
    sizes |= {"premises": (2_448, 816)} | {f"rest {number}": (816, 816) for number in range(11)}
    suites = {name: stored_suite(*size, seed) for seed, (name, size) in enumerate(sizes.items())}
    assert write_baseline_file(make_baseline(**suites), tmp_path / "release.acidtest").stat().st_size <= 250_000


def test_as_many_bits_are_kept_as_tell_rows_apart():
    assert needed_bits(np.array([], dtype=np.uint64)) == 32
    assert needed_bits(np.array([1, 2**63], dtype=np.uint64)) == 32
    near = np.array([2**63, 2**63 + 2**20], dtype=np.uint64)
    bits = needed_bits(near)
    assert bits == 44
    assert len(np.unique(near >> np.uint64(64 - bits))) == 2
    assert len(np.unique(near >> np.uint64(65 - bits))) == 1


def test_a_changed_or_cut_file_is_refused(file):
    content = file.read_bytes()
    for damaged in (content[:-10], content[:-10] + b"x" * 10):
        file.write_bytes(damaged)
        with pytest.raises(FileError, match=r"release.acidtest: is damaged.*acidtest baseline RUN -o FILE"):
            read_baseline_file(file)
    file.write_bytes(content[: len(MARK) + 20])
    with pytest.raises(FileError, match="ends within its header"):
        read_baseline_file(file)


def changed_header(file, **changes):
    """The file with another header, and the digest of schema 2, which covers the rows alone."""
    line, _, body = file.read_bytes()[len(MARK) :].partition(b"\n")
    header = json.loads(line) | {"schema": 2, "sha256": hashlib.sha256(body).hexdigest()} | changes
    file.write_bytes(MARK + json.dumps(header).encode() + b"\n" + body)
    return file


def test_every_flipped_bit_is_noticed(tmp_path):
    file = write_baseline_file(make_baseline(toy=stored_suite(12, 6)), tmp_path / "release.acidtest")
    content = file.read_bytes()
    for place in range(8 * len(content)):
        damaged = bytearray(content)
        damaged[place // 8] ^= 1 << place % 8
        file.write_bytes(damaged)
        with pytest.raises(FileError):
            read_baseline_file(file)


def test_swapped_labels_in_the_header_are_noticed(file):
    content = file.read_bytes()
    swapped = content.replace(b'["entailment", "neutral"]', b'["neutral", "entailment"]')
    assert swapped != content
    file.write_bytes(swapped)
    with pytest.raises(FileError, match=r"is damaged: its content is not what was written"):
        read_baseline_file(file)


@pytest.mark.parametrize("schema", [1, 2])
def test_a_file_of_an_earlier_version_is_read_with_a_note(file, caplog, schema):
    expected = read_baseline_file(file)
    assert not caplog.messages
    with caplog.at_level("INFO", "acidtest"):
        read = read_baseline_file(changed_header(file, schema=schema))
    assert "its digest does not cover its header" in caplog.text
    assert np.array_equal(read.suites["toy"].digests, expected.suites["toy"].digests)


def test_a_file_of_a_newer_acidtest_is_refused(file):
    with pytest.raises(FileError, match="has schema 9; this acidtest reads up to 3: upgrade acidtest"):
        read_baseline_file(changed_header(file, schema=9))


def test_a_header_that_does_not_fit_is_refused(file):
    with pytest.raises(FileError, match="suites: expected an object"):
        read_baseline_file(changed_header(file, suites=[]))
    facts = {
        "signature": "",
        "version": 1,
        "labels": ["neutral"],
        "bits": 32,
        "rows": 10,
        "grouped": False,
        "bytes": 30,
    }
    with pytest.raises(FileError, match=r"suites\.toy: is damaged"):
        read_baseline_file(changed_header(file, suites={"toy": facts}))
    with pytest.raises(FileError, match=r"suites\.toy: no such rows can be stored"):
        read_baseline_file(changed_header(file, suites={"toy": facts | {"rows": 10**12}}))
    with pytest.raises(FileError, match=r"suites\.toy: no such rows can be stored"):
        read_baseline_file(changed_header(file, suites={"toy": facts | {"labels": ["maybe"]}}))


def test_other_files_are_neither_read_nor_replaced(tmp_path):
    other = tmp_path / "notes.txt"
    other.write_text("notes", encoding="utf-8")
    assert not is_baseline_file(other)
    with pytest.raises(FileError, match="is not a baseline file"):
        read_baseline_file(other)
    with pytest.raises(FileError, match=r"notes\.txt"):
        write_baseline_file(make_baseline(), other)
    assert other.read_text(encoding="utf-8") == "notes"


def test_a_baseline_file_is_replaced_by_a_new_one(file):
    write_baseline_file(make_baseline(more=stored_suite(10, 10)), file)
    assert list(read_baseline_file(file).suites) == ["more"]
