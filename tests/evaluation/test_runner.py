from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.model import Model, completed
from acidtest.core.suite import Card, Suite
from acidtest.core.suite import completed as completed_frame
from acidtest.evaluation.plan import planned
from acidtest.evaluation.runner import answers, memory_of


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
    return completed(inner)


def answered(
    inner: Model, suites: Sequence[Suite], journal: Path | None = None, cache: Path | None = None
) -> np.ndarray:
    """What a model answers to every row of some suites."""
    memory = memory_of(inner, journal, cache) if journal else None
    table = answers(inner, planned(inner, suites), memory=memory)
    return table.of(pl.concat([each.frame.select(inner.columns) for each in suites]).collect())[0]


def test_identical_inputs_are_asked_once_across_suites_and_answered_everywhere() -> None:
    inner = Counting()
    values = answered(model(inner), [suite("a", [1, 2, 2, 3]), suite("b", [3, 4, 1])])
    assert inner.asked == [("x", "h"), ("xx", "h"), ("xxx", "h"), ("xxxx", "h")]
    assert np.allclose(values[:, 0], [0.1, 0.2, 0.2, 0.3, 0.3, 0.4, 0.1])


def test_what_a_journal_holds_is_not_asked_again(tmp_path: Path) -> None:
    suites = [suite("a", range(1, 19))]
    stopped = Counting(stop_after=2)
    with pytest.raises(KeyboardInterrupt):
        answered(model(stopped), suites, tmp_path / "journal")
    resumed, whole = Counting(), Counting()
    continued = answered(model(resumed), suites, tmp_path / "journal")
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


def test_a_model_that_answers_with_labels_is_known_to_from_what_was_kept(tmp_path: Path) -> None:
    class Labels(Counting):
        def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> list[str]:  # type: ignore[override]
            return ["neutral"] * len(premises)

    answered(model(Labels()), [suite("a", range(1, 9))], tmp_path / "journal")
    again = model(Labels())
    assert again.probabilities
    answered(again, [suite("a", range(1, 9))], tmp_path / "journal")
    assert not again.probabilities


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
    plan = planned(model(inner), suites)
    table = answers(model(inner), plan)
    assert [len(premise) for premise, _ in inner.asked] == [100, 99, 90, 1, 2, 3, 5]
    values, truncated = table.of(suites[0].frame.collect())
    assert truncated.tolist() == [False, False, True, False, True, True, False]
    assert np.array_equal(values, answered(model(Counting()), suites))


def test_progress_counts_inputs() -> None:
    seen: list[tuple[int, int]] = []
    inner = Counting()
    plan = planned(model(inner), [suite("a", range(1, 10))])
    answers(model(inner), plan, progress=lambda done, total: seen.append((done, total)))
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
            r"'Fixed' gave NaN for 1 of 2 pairs, first nan, nan, nan for row \w{16}: premise 'xx'",
        ),
        ([[0.2, 0.8, 0.0], [0.5, 0.1, 0.1]], "not probabilities adding up to 1 .* first 0.5, 0.1, 0.1 for row"),
        ([[2.0, -1.0, 0.0], [1.0, 0.0, 0.0]], r"\(logits need a softmax\) for 1 of 2 pairs, first 2, -1, 0"),
        ([[0.2, 0.8, 0.0]], r"gave an array of shape \(1, 3\) for 2 pairs; expected \(2, 3\)"),
        ([[0.2, 0.8], [0.5, 0.5]], r"shape \(2, 2\)"),
    ],
)
def test_what_is_no_probability_is_refused_and_the_pair_named(rows: list[list[float]], message: str) -> None:
    inner = completed(Fixed(rows))
    with pytest.raises(AcidtestError, match=message):
        answered(inner, [suite("a", [1, 2])])


def test_only_a_model_that_may_abstain_may_give_nan_and_then_a_whole_row() -> None:
    inner = completed(Fixed([[0.2, 0.8, 0.0], [NAN, NAN, NAN]], may_abstain=True))
    assert np.isnan(answered(inner, [suite("a", [1, 2])])[1]).all()
    half = completed(Fixed([[0.2, 0.8, 0.0], [NAN, 0.5, 0.5]], may_abstain=True))
    with pytest.raises(AcidtestError, match="NaN"):
        answered(half, [suite("a", [1, 2])])
