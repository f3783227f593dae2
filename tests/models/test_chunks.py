"""Long premises asked part by part, by models small enough to follow by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.model import CompletedModel, CountsUsage, Model, Prepares, complete_model
from acidtest.models.chunks import any_contradict, max_entail, overlapping_windows, split_premises

LONG = "Rain fell all day. The dog slept. A cat sat by the fire. Nobody came."
"""Sentences of 4, 3, 6 and 2 words."""


class Reader:
    """Contradiction 0.7 where "not" and the hypothesis stand in the premise, entailment 0.8 where it does alone."""

    name = "reader"
    fingerprint = "f00d"
    batch_size = 2

    def __init__(self) -> None:
        self.asked = list[tuple[str, str]]()

    def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> list[list[float]]:
        assert len(premises) <= self.batch_size
        self.asked += zip(premises, hypotheses, strict=True)
        return [self._row(premise, hypothesis) for premise, hypothesis in zip(premises, hypotheses, strict=True)]

    def _row(self, premise: str, hypothesis: str) -> list[float]:
        if f"not {hypothesis}" in premise:
            return [0.1, 0.2, 0.7]
        return [0.8, 0.15, 0.05] if hypothesis in premise else [0.05, 0.9, 0.05]


def reader() -> tuple[Reader, Model]:
    inner = Reader()
    return inner, complete_model(inner)


def labels(premises: Sequence[str], hypotheses: Sequence[str]) -> list[str]:
    """Hard labels: the label that the premise names, if it does."""
    named = [
        next((label for label in ("contradiction", "entailment") if label in text), "neutral") for text in premises
    ]
    assert len(named) == len(hypotheses)
    return named


def test_windows_overlap_in_one_sentence() -> None:
    assert overlapping_windows([4, 3, 6, 2], 9) == [(0, 2), (1, 3), (2, 4)]


def test_windows_do_not_overlap_where_that_leaves_no_room_for_the_next_sentence() -> None:
    assert overlapping_windows([4, 3, 7, 2], 9) == [(0, 2), (2, 4)]
    assert overlapping_windows([5, 5, 5], 5) == [(0, 1), (1, 2), (2, 3)]


def test_a_sentence_that_is_too_long_is_a_window_by_itself() -> None:
    assert overlapping_windows([2, 12, 2, 2], 9) == [(0, 1), (1, 2), (2, 4)]
    assert overlapping_windows([12], 9) == [(0, 1)]
    assert overlapping_windows([], 9) == []


def test_a_long_premise_is_asked_in_overlapping_chunks_with_the_whole_hypothesis() -> None:
    inner, model = reader()
    split_premises(model, words=9).predict([LONG], ["dog slept"])
    assert inner.asked == [
        ("Rain fell all day. The dog slept.", "dog slept"),
        ("The dog slept. A cat sat by the fire.", "dog slept"),
        ("A cat sat by the fire. Nobody came.", "dog slept"),
    ]


def test_a_premise_that_is_short_enough_is_asked_whole_and_its_answer_stays() -> None:
    inner, model = reader()
    found = split_premises(model, words=15).predict([LONG, "A cat sat."], ["dog slept", "dog slept"])
    assert inner.asked == [(LONG, "dog slept"), ("A cat sat.", "dog slept")]
    assert found.dtype == np.float32
    assert found == pytest.approx(np.array([[0.8, 0.15, 0.05], [0.05, 0.9, 0.05]]))


def test_without_a_number_of_words_chunks_have_two_hundred() -> None:
    inner, model = reader()
    sentence = "Ten words of which none says a thing at all. "
    split_premises(model).predict([(sentence * 20).strip(), (sentence * 21).strip()], ["a", "b"])
    assert [len(premise.split()) for premise, _ in inner.asked] == [200, 200, 20]


def test_answers_of_many_pairs_come_back_to_their_own_pair() -> None:
    _, model = reader()
    premises = ["A cat sat.", LONG, "Rain fell.", LONG]
    found = split_premises(model, words=9).predict(premises, ["cat", "Nobody came", "snow", "snow"])
    assert found.argmax(axis=1).tolist() == [0, 0, 1, 1]
    one_by_one = [
        split_premises(model, words=9).predict([p], [h])[0] for p, h in zip(premises, ["cat"] * 4, strict=True)
    ]
    assert np.array(one_by_one) == pytest.approx(split_premises(model, words=9).predict(premises, ["cat"] * 4))


def test_no_pairs_have_no_answers() -> None:
    _, model = reader()
    assert split_premises(model).predict([], []).shape == (0, 3)


def test_max_entail_takes_the_largest_entailment_and_contradiction_and_leaves_the_rest_to_neutral() -> None:
    rows = np.array([[0.5, 0.4, 0.1], [0.1, 0.6, 0.3]], dtype=np.float32)
    assert max_entail(rows) == pytest.approx([0.5, 0.2, 0.3])


def test_max_entail_divides_by_the_sum_where_that_is_more_than_one() -> None:
    rows = np.array([[0.9, 0.1, 0.0], [0.0, 0.4, 0.6]], dtype=np.float32)
    assert max_entail(rows) == pytest.approx([0.6, 0.0, 0.4])


def test_max_entail_of_one_chunk_is_its_answer() -> None:
    assert max_entail(np.array([[0.2, 0.7, 0.1]], dtype=np.float32)) == pytest.approx([0.2, 0.7, 0.1])


def test_max_entail_adds_up_to_one() -> None:
    rows = np.random.default_rng(0).dirichlet([0.3] * 3, size=(200, 5)).astype(np.float32)
    assert np.array([max_entail(each).sum() for each in rows]) == pytest.approx(1, abs=1e-6)


def test_any_contradict_follows_a_chunk_that_contradicts_by_more_than_one_half() -> None:
    rows = np.array([[0.9, 0.1, 0.0], [0.1, 0.3, 0.6], [0.0, 0.45, 0.55]], dtype=np.float32)
    assert any_contradict(rows) == pytest.approx([0.1, 0.3, 0.6])


def test_any_contradict_else_follows_the_chunk_that_entails_most() -> None:
    rows = np.array([[0.3, 0.6, 0.1], [0.4, 0.4, 0.2], [0.0, 0.5, 0.5]], dtype=np.float32)
    assert any_contradict(rows) == pytest.approx([0.4, 0.4, 0.2])


def test_the_aggregations_part_where_one_chunk_entails_and_one_contradicts() -> None:
    _, model = reader()
    premise = "The sign is not wet. Rain fell. The wall is wet."
    hypothesis = "wet"
    entailed = split_premises(model, "max-entail", words=5).predict([premise], [hypothesis])
    contradicted = split_premises(model, "any-contradict", words=5).predict([premise], [hypothesis])
    assert entailed[0] == pytest.approx([0.8 / 1.5, 0, 0.7 / 1.5])
    assert contradicted[0] == pytest.approx([0.1, 0.2, 0.7])


def test_hard_labels_stay_hard() -> None:
    text = "This says entailment. This says contradiction. This says little."
    for aggregation, label in (("max-entail", 0), ("any-contradict", 2)):
        model = split_premises(complete_model(labels), aggregation, words=3)
        found = model.predict(
            [text, "This says little. So does this one.", "So does this contradiction. Or this."], "abc"
        )
        assert found.tolist() == [list(np.eye(3)[label]), [0, 1, 0], [0, 0, 1]]
        assert not model.probabilities


def test_a_two_way_model_entails_as_its_most_entailing_chunk_does() -> None:
    class TwoWay(Reader):
        resolution = "two-way"

        def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> list[list[float]]:
            return [[0.9, 0.1] if "dog" in premise else [0.2, 0.8] for premise in premises]

    model = split_premises(complete_model(TwoWay()), words=9)
    assert model.resolution == "two-way"
    assert model.predict([LONG], ["h"])[0] == pytest.approx([0.9, 0.1, 0.0])
    with pytest.raises(AcidtestError, match="no contradiction for any-contradict"):
        split_premises(complete_model(TwoWay()), "any-contradict")


def test_chunks_without_an_answer_are_passed_over() -> None:
    class Silent(Reader):
        may_abstain = True

        def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> list[list[float]]:
            told = super().predict(premises, hypotheses)
            return [row if "dog" in premise else [np.nan] * 3 for premise, row in zip(premises, told, strict=True)]

    model = split_premises(complete_model(Silent()), words=9)
    assert model.may_abstain
    found = model.predict([LONG, "Rain fell all day. A cat sat by the fire."], ["slept", "slept"])
    assert found[0] == pytest.approx([0.8, 0.15, 0.05])
    assert np.isnan(found[1]).all()


def test_name_fingerprint_and_notes_tell_aggregation_and_size() -> None:
    _, model = reader()
    first, second, third = (
        split_premises(model, aggregation, words=words)
        for aggregation, words in (("max-entail", 100), ("any-contradict", 100), ("max-entail", 150))
    )
    assert first.name == "reader+chunks-max-entail-100w"
    assert first.notes == ("premises of more than 100 words were asked in overlapping chunks (max-entail)",)
    assert len({model.fingerprint, first.fingerprint, second.fingerprint, third.fingerprint}) == 4
    assert len({str(each.fingerprint)[:6] for each in (first, second, third)}) == 3
    assert split_premises(CompletedModel(labels, "labels")).fingerprint is None


def test_unknown_aggregations_no_words_and_models_without_premises_are_refused() -> None:
    inner, model = reader()
    with pytest.raises(UnknownNameError, match="no aggregation called 'max-entails'; did you mean 'max-entail'"):
        split_premises(model, "max-entails")  # type: ignore[arg-type]
    with pytest.raises(AcidtestError, match="words of a chunk: a number from 1 on, not 0"):
        split_premises(model, words=0)
    model.columns = ("id",)
    with pytest.raises(AcidtestError, match="does not read hypothesis, premise: its premises cannot be split"):
        split_premises(model)
    model.columns = ("premise", "hypothesis", "premise_parse")
    with pytest.raises(AcidtestError, match="asks for premise_parse, too"):
        split_premises(model)
    assert inner.asked == []


def test_other_columns_go_with_every_chunk() -> None:
    seen = list[tuple[str, ...]]()

    class Genre:
        columns = ("hypothesis", "genre", "premise")

        def predict(self, *columns: Sequence[str]) -> list[str]:
            seen.extend(zip(*columns, strict=True))
            return ["neutral"] * len(columns[0])

    split_premises(complete_model(Genre()), words=9).predict(
        ["h"], ["letters"], ["One two three four five six. Seven. Eight nine ten."]
    )
    assert seen == [
        ("h", "letters", "One two three four five six. Seven."),
        ("h", "letters", "Seven. Eight nine ten."),
    ]


def test_usage_tells_how_many_chunks_were_asked() -> None:
    _, model = reader()
    wrapped = split_premises(model, words=9)
    wrapped.predict([LONG, "A cat sat."], ["h", "h"])
    assert isinstance(wrapped, CountsUsage)
    assert wrapped.usage() == {"chunked pairs": 1, "chunks": 3}


@dataclass(frozen=True)
class Tokens:
    pairs: list[tuple[str, str]]
    truncated: np.ndarray


class Device:
    """A model that reads twelve tokens (words, and four marks) and prepares pairs apart from asking them."""

    name = "device"
    fingerprint = "d00d"
    columns = ("premise", "hypothesis")
    resolution = "three-way"
    probabilities = True
    may_abstain = False
    batch_size = 2
    notes = ("a note",)
    keep = "always"
    independent = True
    lengths = True
    limit = 12

    def token_counts(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def prepare(self, *columns: Sequence[str]) -> Tokens:
        pairs = list(zip(*columns, strict=True))
        assert len(pairs) <= self.batch_size
        return Tokens(pairs, np.array([sum(self.token_counts(pair)) + 4 > self.limit for pair in pairs]))

    def infer(self, prepared: Tokens) -> np.ndarray:
        rows = [Reader()._row(" ".join(p.split()[:8]), h) for p, h in prepared.pairs]
        return np.array(rows, dtype=np.float32)

    def predict(self, *columns: Sequence[str]) -> np.ndarray:
        return self.infer(self.prepare(*columns))


def test_a_model_with_a_limit_in_tokens_gets_chunks_that_fit_it_beside_the_hypothesis() -> None:
    model = split_premises(Device())  # type: ignore[arg-type]
    assert isinstance(model, Prepares)
    assert model.name == "device+chunks-max-entail-12t"
    # 12 tokens less 4 marks and 2 of the hypothesis leave 6; of 1, there are 7, and two sentences fit.
    prepared = model.prepare([LONG, LONG], ["dog slept", "snow"])
    pairs = [pair for part in prepared.parts for pair in part.pairs]  # type: ignore[attr-defined]
    assert [premise for premise, hypothesis in pairs if hypothesis == "dog slept"] == [
        "Rain fell all day.",
        "The dog slept.",
        "A cat sat by the fire.",
        "Nobody came.",
    ]
    assert [premise for premise, hypothesis in pairs if hypothesis == "snow"] == [
        "Rain fell all day. The dog slept.",
        "A cat sat by the fire.",
        "Nobody came.",
    ]
    assert prepared.truncated.tolist() == [False, False]
    assert model.infer(prepared).argmax(axis=1).tolist() == [0, 1]
    assert model.predict([LONG], ["Nobody"]).argmax() == 0
    assert Device().predict([LONG], ["Nobody"]).argmax() == 1, "cut, it does not see the end"


def test_a_pair_is_truncated_only_where_a_chunk_still_is() -> None:
    model = split_premises(Device())  # type: ignore[arg-type]
    assert isinstance(model, Prepares)
    endless = "This one sentence goes on and on for far more than twelve words. Rain fell."
    assert model.prepare([LONG, endless, "Rain fell."], ["h"] * 3).truncated.tolist() == [False, True, False]
    assert model.prepare([], []).truncated.tolist() == []
    assert model.infer(model.prepare([], [])).shape == (0, 3)


def test_words_go_before_the_models_own_limit() -> None:
    model = split_premises(Device(), words=30)  # type: ignore[arg-type]
    assert model.name == "device+chunks-max-entail-30w"
    assert isinstance(model, Prepares)
    assert model.prepare([LONG], ["h"]).truncated.tolist() == [True]


def test_a_model_that_counts_tokens_but_has_no_limit_gets_chunks_of_words() -> None:
    endless = Device()
    endless.limit = None  # type: ignore[assignment]
    assert split_premises(endless).name == "device+chunks-max-entail-200w"  # type: ignore[arg-type]


def test_the_runner_takes_it_for_a_model() -> None:
    assert isinstance(split_premises(Device()), Model)  # type: ignore[arg-type]
    assert isinstance(split_premises(complete_model(labels)), Model)
    assert not isinstance(split_premises(complete_model(labels)), Prepares)
