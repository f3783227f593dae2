import os
import struct
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.model import Model, complete_model
from acidtest.core.suite import Card, Suite
from acidtest.core.suite import complete_columns as completed_frame
from acidtest.evaluate.answers import make_plan, new_cache_file
from acidtest.evaluate.runner import answer_memory, collect_answers


class Counting:
    """A model that remembers what it was asked; its answer depends on the pair alone."""

    batch_size = 4
    fingerprint = "counting"

    def __init__(self, stop_after: int = 10**9) -> None:
        self.asked: list[tuple[str, str]] = []
        self.calls = 0
        self._stop_after = stop_after

    def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> np.ndarray:
        if self.calls == self._stop_after:
            raise KeyboardInterrupt
        self.calls += 1
        self.asked += list(zip(premises, hypotheses, strict=True))
        share = np.array([len(premise) % 7 / 10 for premise in premises], dtype=np.float32)
        return np.column_stack([share, 1 - share, np.zeros_like(share)])


def suite(name: str, numbers: Sequence[int]) -> Suite:
    frame = pl.DataFrame({"premise": ["x" * n for n in numbers], "hypothesis": ["h"] * len(numbers)})
    return Suite(completed_frame(frame.with_columns(label=pl.lit("neutral")), name).lazy(), Card(name)).sealed()


def model(inner: object) -> Model:
    return complete_model(inner)


def answered(
    inner: Model, suites: Sequence[Suite], journal: Path | None = None, cache: Path | None = None
) -> np.ndarray:
    """What a model answers to every row of some suites."""
    memory = answer_memory(inner, journal, cache) if journal else None
    table = collect_answers(inner, make_plan(inner, suites), memory=memory)
    return table.lookup(pl.concat([each.frame.select(inner.columns) for each in suites]).collect())[0]


def test_identical_inputs_are_asked_once_across_suites_and_answered_everywhere() -> None:
    inner = Counting()
    values = answered(model(inner), [suite("a", [1, 2, 2, 3]), suite("b", [3, 4, 1])])
    assert inner.asked == [("x", "h"), ("xx", "h"), ("xxx", "h"), ("xxxx", "h")]
    assert np.allclose(values[:, 0], [0.1, 0.2, 0.2, 0.3, 0.3, 0.4, 0.1])


def test_what_a_journal_holds_is_not_asked_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    suites = [suite("a", range(1, 19))]
    stopped = Counting(stop_after=2)
    with pytest.raises(KeyboardInterrupt):
        answered(model(stopped), suites, tmp_path / "journal")
    resumed, whole = Counting(), Counting()
    with caplog.at_level("INFO", "acidtest"):
        continued = answered(model(resumed), suites, tmp_path / "journal")
    assert "8 of 18 pairs were answered in an earlier run; the others are asked" in caplog.text
    assert len(stopped.asked) == 8
    assert not set(resumed.asked) & set(stopped.asked)
    assert np.array_equal(continued, answered(model(whole), suites))


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_a_torn_tail_of_the_journal_is_dropped(tmp_path: Path, cut: int) -> None:
    suites = [suite("a", range(1, 19))]
    first = Counting()
    expected = answered(model(first), suites, tmp_path / "journal")
    content = (tmp_path / "journal").read_bytes()
    (tmp_path / "journal").write_bytes(content[:-cut])
    again = Counting()
    assert np.array_equal(answered(model(again), suites, tmp_path / "journal"), expected)
    assert 1 <= again.calls <= 2


def test_a_damaged_record_is_asked_again(tmp_path: Path) -> None:
    suites = [suite("a", range(1, 9))]
    first = Counting()
    expected = answered(model(first), suites, tmp_path / "journal")
    content = bytearray((tmp_path / "journal").read_bytes())
    content[-5] ^= 0xFF
    (tmp_path / "journal").write_bytes(content)
    again = Counting()
    assert np.array_equal(answered(model(again), suites, tmp_path / "journal"), expected)
    assert again.calls == 1


def test_a_journal_of_another_model_is_neither_used_nor_lost(tmp_path: Path) -> None:
    answered(model(Counting()), [suite("a", range(1, 9))], tmp_path / "journal")
    again = Counting()
    again.fingerprint = "another"
    before = (tmp_path / "journal").read_bytes()
    with pytest.raises(FileError, match=r"holds an unfinished run of another model, .* or add --fresh to start over"):
        answered(model(again), [suite("a", range(1, 9))], tmp_path / "journal")
    assert again.calls == 0
    assert (tmp_path / "journal").read_bytes() == before


@pytest.mark.parametrize("independent", [False, True])
def test_a_batch_with_an_open_pair_is_asked_whole_unless_answers_are_independent(
    tmp_path: Path, independent: bool
) -> None:
    answered(model(Counting()), [suite("a", [1, 2, 4])], tmp_path / "journal")
    again = Counting()
    again.independent = independent  # type: ignore[attr-defined]
    answered(model(again), [suite("a", range(1, 9))], tmp_path / "journal")
    lengths = [len(premise) for premise, _ in again.asked]
    assert lengths == ([3, 5, 6, 7, 8] if independent else list(range(1, 9)))


def test_answers_in_the_cache_serve_other_runs_and_processes_that_write_at_once(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    answered(model(Counting()), [suite("a", range(1, 9))], tmp_path / "one", cache)
    answered(model(Counting()), [suite("b", range(9, 13))], tmp_path / "two", cache)
    third = Counting()
    found = answered(model(third), [suite("c", range(12, 0, -1))], tmp_path / "three", cache)
    assert third.calls == 0
    assert np.array_equal(found, answered(model(Counting()), [suite("c", range(12, 0, -1))]))
    assert not (tmp_path / "one").exists()
    assert len(list(cache.rglob("*.answers"))) == 2


def test_a_damaged_file_of_the_cache_costs_what_it_holds_and_no_more(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    answered(model(Counting()), [suite("a", range(1, 9))], tmp_path / "one", cache)
    path = next(cache.rglob("*.answers"))
    path.write_bytes(b'{"schema": 9}\n' + path.read_bytes())
    again = Counting()
    answered(model(again), [suite("a", range(1, 9))], tmp_path / "two", cache)
    assert again.calls == 2


class Changing(Counting):
    """A model whose answers change behind its fingerprint, as a server's may."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self._share = share

    def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> np.ndarray:
        self.calls += 1
        return np.tile(np.array([self._share, 1 - self._share, 0], dtype=np.float32), (len(premises), 1))


def test_what_was_asked_afresh_wins_over_what_the_cache_held(tmp_path: Path) -> None:
    suites, cache = [suite("a", range(1, 9))], tmp_path / "cache"
    for number in range(12):
        fresh = answer_memory(model(Changing(0)), tmp_path / "journal", cache, forget=True)
        share = number / 12
        collect_answers(model(Changing(share)), make_plan(model(Changing(share)), suites), memory=fresh)
        later = Changing(0.99)
        assert np.allclose(answered(model(later), suites, tmp_path / "journal", cache)[:, 0], share)
        assert later.calls == 0


def test_what_a_fresh_run_asked_before_it_was_stopped_wins_and_the_rest_is_still_known(tmp_path: Path) -> None:
    suites, cache = [suite("a", range(1, 9))], tmp_path / "cache"
    answered(model(Changing(0.25)), suites, tmp_path / "journal", cache)
    fresh = answer_memory(model(Changing(0)), tmp_path / "journal", cache, forget=True)
    collect_answers(model(Changing(0.75)), make_plan(model(Changing(0)), [suite("a", range(1, 4))]), memory=fresh)
    found = answered(model(Changing(0)), suites, tmp_path / "journal", cache)
    assert found[:, 0].tolist() == [0.75] * 3 + [0.25] * 5


def test_files_of_earlier_versions_of_the_cache_are_read_before_newer_ones(tmp_path: Path) -> None:
    suites, cache = [suite("a", range(1, 9))], tmp_path / "cache"
    # Their names were random: they say nothing of their order, so their dates do.
    for share, name, date in ((0.25, "ffffffffffffffff", 1_000), (0.5, "0000000000000000", 2_000)):
        answered(model(Changing(share)), suites, tmp_path / "journal", tmp_path / f"made-{date}")
        (path,) = (tmp_path / f"made-{date}").rglob("*.answers")
        kept = cache / path.parent.name / f"{name}.answers"
        kept.parent.mkdir(parents=True, exist_ok=True)
        path.rename(kept)
        os.utime(kept, (date, date))
    assert answered(model(Changing(0)), suites, tmp_path / "journal", cache)[:, 0].tolist() == [0.5] * 8
    fresh = answer_memory(model(Changing(0)), tmp_path / "journal", cache, forget=True)
    collect_answers(model(Changing(0.75)), make_plan(model(Changing(0)), suites), memory=fresh)
    assert answered(model(Changing(0)), suites, tmp_path / "journal", cache)[:, 0].tolist() == [0.75] * 8


def test_what_a_run_keeps_itself_wins_over_the_cache(tmp_path: Path) -> None:
    suites, cache = [suite("a", range(1, 9))], tmp_path / "cache"
    answered(model(Changing(0.25)), suites, tmp_path / "journal", cache)
    answered(model(Changing(0.75)), suites, tmp_path / "journal")
    assert answered(model(Changing(0)), suites, tmp_path / "journal", cache)[:, 0].tolist() == [0.75] * 8


def test_files_of_the_cache_are_numbered_and_never_shared(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        paths = list(pool.map(lambda _: new_cache_file(tmp_path, "m"), range(64)))
    assert sorted(path.name for path in paths) == [f"{number:08d}.answers" for number in range(1, 65)]


def huge(content: bytes) -> bytes:
    """The file with an append behind it whose head claims four billion rows."""
    return content + struct.pack("<II", 2**32 - 1, 0) + b"x" * 100


def zeros(content: bytes) -> bytes:
    """The file as it may come out of a power cut, with zeros where the next append was."""
    return content + bytes(4096)


@pytest.mark.parametrize("damage", [huge, zeros])
@pytest.mark.parametrize("cached", [False, True])
def test_a_head_that_claims_more_than_the_file_holds_costs_its_own_append(
    tmp_path: Path, damage: Callable[[bytes], bytes], cached: bool
) -> None:
    cache = tmp_path / "cache" if cached else None
    suites = [suite("a", range(1, 9))]
    expected = answered(model(Counting()), suites, tmp_path / "journal", cache)
    path = next(tmp_path.rglob("*.answers")) if cached else tmp_path / "journal"
    path.write_bytes(damage(path.read_bytes()))
    more = Counting()
    answered(model(more), [suite("a", range(1, 13))], tmp_path / "journal", cache)
    assert [len(premise) for premise, _ in more.asked] == [9, 10, 11, 12]
    again = Counting()
    assert np.array_equal(answered(model(again), suites, tmp_path / "journal", cache), expected)
    assert again.calls == 0


def test_a_damaged_append_in_the_middle_costs_what_it_holds(tmp_path: Path) -> None:
    suites = [suite("a", range(1, 13))]
    expected = answered(model(Counting()), suites, tmp_path / "journal")
    content = bytearray((tmp_path / "journal").read_bytes())
    content[len(content) // 2] ^= 0xFF
    (tmp_path / "journal").write_bytes(content)
    again = Counting()
    assert np.array_equal(answered(model(again), suites, tmp_path / "journal"), expected)
    assert again.calls == 1


def test_what_is_no_file_of_answers_is_left_aside_and_the_others_serve(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    suites = [suite("a", range(1, 9))]
    expected = answered(model(Counting()), suites, tmp_path / "journal", cache)
    folder = next(cache.rglob("*.answers")).parent
    (folder / "a.answers").mkdir()
    (folder / "b.answers").write_bytes(b"")
    (folder / "c.answers").write_bytes(b"x" * 100_000)
    (folder / "d.answers").write_bytes(b"\n" + bytes(100))
    (folder / "00000002.answers").mkdir()
    if hasattr(os, "mkfifo"):
        os.mkfifo(folder / "e.answers")
    again = Counting()
    assert np.array_equal(answered(model(again), suites, tmp_path / "journal", cache), expected)
    assert again.calls == 0
    answered(model(Counting()), [suite("a", range(9, 12))], tmp_path / "journal", cache)
    assert (folder / "00000003.answers").is_file()


@pytest.mark.parametrize("content", [b"x" * 10_000, b"\n", b'{"schema": 2}\n', b"notes of mine"])
def test_a_journal_that_is_none_is_refused_and_not_lost(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "journal").write_bytes(content)
    with pytest.raises(FileError, match=r"holds an unfinished run of another model, .* or add --fresh to start over"):
        answered(model(Counting()), [suite("a", range(1, 9))], tmp_path / "journal")
    assert (tmp_path / "journal").read_bytes() == content


def test_a_journal_whose_first_line_is_torn_is_begun_anew(tmp_path: Path) -> None:
    suites = [suite("a", range(1, 9))]
    expected = answered(model(Counting()), suites, tmp_path / "journal")
    (tmp_path / "journal").write_bytes((tmp_path / "journal").read_bytes()[:17])
    assert np.array_equal(answered(model(Counting()), suites, tmp_path / "journal"), expected)


def test_a_model_that_answers_with_labels_is_known_to_from_what_was_kept(tmp_path: Path) -> None:
    class Labels(Counting):
        def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> list[str]:  # type: ignore[override]
            return ["neutral"] * len(premises)

    answered(model(Labels()), [suite("a", range(1, 9))], tmp_path / "journal")
    again = model(Labels())
    assert again.probabilities
    answered(again, [suite("a", range(1, 9))], tmp_path / "journal")
    assert not again.probabilities


class Verdicts(Counting):
    """Calls a claim supported or not; from the second batch on it may answer with another label."""

    later = "not supported"

    def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> list[str]:  # type: ignore[override]
        self.calls += 1
        return ["not supported" if self.calls == 1 else self.later] * len(premises)


def test_a_model_of_two_labels_is_known_from_what_was_kept(tmp_path: Path) -> None:
    answered(model(Verdicts()), [suite("a", range(1, 9))], tmp_path / "journal")
    again = model(Verdicts())
    assert again.resolution == "three-way"
    answered(again, [suite("a", range(1, 9))], tmp_path / "journal")
    assert again.resolution == "two-way"


def test_answers_of_another_resolution_than_those_kept_are_refused(tmp_path: Path) -> None:
    answered(model(Verdicts()), [suite("a", range(1, 9))], tmp_path / "journal")
    changed = Verdicts()
    changed.calls, changed.later = 1, "contradiction"
    with pytest.raises(AcidtestError, match=r"gave three-way answers, but two-way ones in an earlier run; .* --fresh"):
        answered(model(changed), [suite("a", range(1, 20))], tmp_path / "journal")


def test_labels_that_were_asked_anew_with_probabilities_are_forgotten(tmp_path: Path) -> None:
    class Labels(Counting):
        def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> list[str]:  # type: ignore[override]
            return ["neutral"] * len(premises)

    suites, cache = [suite("a", range(1, 9))], tmp_path / "cache"
    labels = complete_model(Labels())
    labels.name = "counting"
    answered(labels, suites, tmp_path / "journal", cache)
    fresh = complete_model(Counting())
    fresh.name = "counting"
    collect_answers(
        fresh, make_plan(fresh, suites), memory=answer_memory(fresh, tmp_path / "journal", cache, forget=True)
    )
    answered(fresh, suites, tmp_path / "journal", cache)
    assert fresh.probabilities


class Split(Counting):
    """A model that shares its work out, and cuts premises of more than five characters."""

    name = "split"
    columns = ("premise", "hypothesis")
    resolution = "three-way"
    probabilities = True
    may_abstain = False
    notes = ()
    keep = "run"
    independent = False
    lengths = True

    def prepare(self, premises: Sequence[str], hypotheses: Sequence[str]) -> SimpleNamespace:
        truncated = np.array([len(premise) > 5 for premise in premises])
        return SimpleNamespace(pairs=(premises, hypotheses), truncated=truncated)

    def infer(self, prepared: SimpleNamespace) -> np.ndarray:
        return self.predict(*prepared.pairs)


def test_a_model_that_shares_its_work_out_is_asked_the_longest_first_and_what_was_cut_is_known() -> None:
    inner = Split()
    suites = [suite("a", [1, 2, 100, 3, 90, 99, 5])]
    plan = make_plan(model(inner), suites)
    table = collect_answers(model(inner), plan)
    assert [len(premise) for premise, _ in inner.asked] == [100, 99, 90, 1, 2, 3, 5]
    values, truncated = table.lookup(suites[0].frame.collect())
    assert truncated.tolist() == [False, False, True, False, True, True, False]
    assert np.array_equal(values, answered(model(Counting()), suites))


def test_progress_counts_inputs() -> None:
    seen: list[tuple[int, int]] = []
    inner = Counting()
    plan = make_plan(model(inner), [suite("a", range(1, 10))])
    collect_answers(model(inner), plan, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(4, 9), (8, 9), (9, 9)]


class Fixed:
    """A model that gives what it is told to."""

    def __init__(self, rows: list[list[float]], may_abstain: bool = False) -> None:
        self._rows = rows
        self.may_abstain = may_abstain

    def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> np.ndarray:
        return np.array(self._rows, dtype=np.float32)


NAN = float("nan")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [[0.2, 0.8, 0.0], [NAN, NAN, NAN]],
            r"'Fixed' gave NaN for 1 of 2 pairs, first nan, nan, nan for row .*'xx', .*may_abstain = True",
        ),
        ([[0.2, 0.8, 0.0], [0.5, 0.1, 0.1]], "not probabilities adding up to 1 .* first 0.5, 0.1, 0.1 for row"),
        ([[2.0, -1.0, 0.0], [1.0, 0.0, 0.0]], r"\(logits need a softmax\) for 1 of 2 pairs, first 2, -1, 0"),
        ([[0.2, 0.8, 0.0]], r"gave an array of shape \(1, 3\) for 2 pairs; expected \(2, 3\)"),
        ([[0.2, 0.3, 0.1, 0.4]] * 2, r"shape \(2, 4\)"),
    ],
)
def test_what_is_no_probability_is_refused_and_the_pair_named(rows: list[list[float]], message: str) -> None:
    inner = complete_model(Fixed(rows))
    with pytest.raises(AcidtestError, match=message):
        answered(inner, [suite("a", [1, 2])])


def test_only_a_model_that_may_abstain_may_give_nan_and_then_a_whole_row() -> None:
    inner = complete_model(Fixed([[0.2, 0.8, 0.0], [NAN, NAN, NAN]], may_abstain=True))
    assert np.isnan(answered(inner, [suite("a", [1, 2])])[1]).all()
    half = complete_model(Fixed([[0.2, 0.8, 0.0], [NAN, 0.5, 0.5]], may_abstain=True))
    with pytest.raises(AcidtestError, match="NaN"):
        answered(half, [suite("a", [1, 2])])
