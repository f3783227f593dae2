"""How far a model reads, on planted answers."""

from __future__ import annotations

from math import isnan

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

from acidtest.core.run import Header, ModelFacts, Run
from acidtest.core.serialise import to_json
from acidtest.core.suite import CONTROL, Card
from acidtest.studies.scores import ReadingSpan, reading_notes, readings
from acidtest.studies.scoring.rows import ScoredRows, score_rows

LADDER = "length-ladder"
LABELS = np.array(["entailment", "neutral", "contradiction"])
Flags = npt.NDArray[np.bool_]


def frame(suite: str, pairs: Flags, names: dict[str, str] | None = None) -> pl.DataFrame:
    """One row for each pair, answered rightly or with the next label."""
    gold = np.arange(len(pairs)) % 3
    p = np.eye(3, dtype=np.float32)[np.where(pairs, gold, (gold + 1) % 3)]
    told = "-".join((names or {}).values())
    ids = pl.Series([str(number) for number in range(len(pairs))], dtype=pl.String)
    return pl.DataFrame(
        {
            "id": ids + f"-{told}" if names else ids,
            "premise": ["p"] * len(pairs),
            "hypothesis": ["h"] * len(pairs),
            "label": pl.Series(LABELS[gold], dtype=pl.String),
            "group": ids,
            "base_id": ids if names else pl.Series([None] * len(pairs), dtype=pl.String),
            "words": pl.Series([(names or {}).get("words")] * len(pairs), dtype=pl.String),
            "position": pl.Series([(names or {}).get("position")] * len(pairs), dtype=pl.String),
            "p_entailment": p[:, 0],
            "p_neutral": p[:, 1],
            "p_contradiction": p[:, 2],
        }
    ).with_columns(suite=pl.lit(suite))


def rows(control: Flags, cells: dict[tuple[int, str], Flags], *, suite: str = LADDER) -> tuple[ScoredRows, ScoredRows]:
    parts = [frame(suite, right, {"words": str(n), "position": place}) for (n, place), right in cells.items()]
    whole = pl.concat([*parts, frame(suite + CONTROL, control)])
    cards = {
        suite: Card(suite, columns={"words": "factor", "position": "factor"}),
        suite + CONTROL: Card(suite + CONTROL),
    }
    run = Run(Header(ModelFacts("m", "m"), cards, {}), whole)
    return score_rows(run, suite), score_rows(run, suite + CONTROL)


def right(count: int, of: int = 60) -> Flags:
    return np.arange(of) < count


def told(found: list[ReadingSpan]) -> dict[str, tuple[int, int | None]]:
    return {each.position: (each.words, each.falls) for each in found}


def test_a_model_reads_to_the_longest_rung_that_holds() -> None:
    # 48 of 60 right; 40 and 20 right are 8 and 28 losses and no gain.
    cells = {(32, "end"): right(48), (64, "end"): right(47), (128, "end"): right(40), (256, "end"): right(20)}
    found = readings(*rows(right(48), cells))
    assert told(found) == {"end": (64, 128)}
    assert found[0].longest == 256
    assert found[0].accuracy is not None
    assert found[0].accuracy.value == pytest.approx(40 / 60)
    assert found[0].against is not None
    assert found[0].against.control.value == pytest.approx(48 / 60)
    # Exact McNemar of 8 losses and no gain: 2 / 2**8.
    assert found[0].against.p == pytest.approx(2 / 2**8)


def test_p_values_are_adjusted_for_the_number_of_positions() -> None:
    # 7 losses: p = 2 / 2**7 = 0.0156, which is 0.047 for three positions and 0.063 for four.
    places = ("start", "middle", "end")
    three = {(32, place): right(41 if place == "end" else 48) for place in places}
    assert told(readings(*rows(right(48), three))) == {"start": (32, None), "middle": (32, None), "end": (0, 32)}
    four = three | {(32, "aside"): right(48)}
    assert told(readings(*rows(right(48), four)))["end"] == (32, None)


def test_a_model_that_reads_everything_is_said_to_read_the_longest_rung() -> None:
    cells = {(words, "start"): right(48) for words in (32, 1024)}
    found = readings(*rows(right(48), cells))
    assert found == [ReadingSpan("start", 1024, 1024)]
    assert reading_notes(*rows(right(48), cells)) == ["with the premise at the start, reads all 1,024 words"]


def test_being_better_with_more_text_is_no_fall() -> None:
    assert told(readings(*rows(right(40), {(32, "end"): right(60)}))) == {"end": (32, None)}


def test_rungs_are_ordered_by_number_whatever_the_order_of_rows() -> None:
    cells = {(1024, "end"): right(10), (64, "end"): right(48), (512, "end"): right(12), (128, "end"): right(48)}
    assert told(readings(*rows(right(48), cells))) == {"end": (128, 512)}


def test_notes_tell_where_accuracy_falls() -> None:
    cells = {(32, "middle"): right(20), (64, "middle"): right(15), (32, "end"): right(48), (64, "end"): right(15)}
    assert reading_notes(*rows(right(48), cells)) == [
        "with the premise in the middle, reads fewer than 32 words: "
        "33.3 % right at 32, 80.0 % on the same pairs untouched",
        "with the premise at the end, reads 32 words: 25.0 % right at 64, 80.0 % on the same pairs untouched",
    ]


def test_where_one_answer_to_all_would_do_as_well_nothing_is_told() -> None:
    # A third of the pairs has each label; 24 of 60 is not surely more.
    found = rows(right(24), {(32, "end"): right(20)})
    assert readings(*found) == []
    assert reading_notes(*found) == [
        "how far it reads is not told: on the untouched pairs it is no better than one answer to all of them"
    ]


def test_other_suites_suites_without_control_and_empty_ones_have_no_readings() -> None:
    own, _ = rows(right(48), {(32, "end"): right(48)})
    assert readings(own, None) == []
    assert reading_notes(own, None) == []
    assert readings(*rows(right(48), {(32, "end"): right(48)}, suite="stress/ladder")) == []
    assert reading_notes(*rows(right(48), {(32, "end"): right(48)}, suite="stress/ladder")) == []
    assert readings(*rows(right(0, of=0), {(32, "end"): right(0, of=0)})) == []
    assert told(readings(*rows(right(48), {(32, "end"): right(48)}, suite=f"{LADDER}:pairs=9"))) == {"end": (32, None)}


def test_one_pair_tells_nothing() -> None:
    assert readings(*rows(right(1, of=1), {(32, "end"): right(0, of=1)})) == []


def test_json_has_what_a_reading_has() -> None:
    found = to_json(readings(*rows(right(48), {(32, "end"): right(20)}))[0])
    assert (found["position"], found["words"], found["longest"], found["falls"]) == ("end", 0, 32, 32)
    assert found["accuracy"]["value"] == pytest.approx(1 / 3)
    assert found["against"]["difference"]["value"] == pytest.approx(-28 / 60)
    assert to_json(ReadingSpan("end", 32, 32))["against"] is None


def test_a_model_that_reads_everything_is_seldom_said_not_to() -> None:
    # Accuracy 0.8 in every cell: at most 5 % of draws may find a fall at any of the three positions.
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(100):
        cells = {(words, place): rng.random(80) < 0.8 for words in (32, 64) for place in ("start", "middle", "end")}
        found = readings(*rows(rng.random(80) < 0.8, cells))
        assert len(found) == 3
        wrong += any(each.falls is not None for each in found)
    assert wrong <= 10  # the 97.5 % point of a binomial with n = 100 and 5 %


def test_a_fall_has_an_adjusted_p() -> None:
    found = readings(*rows(right(48), {(32, "end"): right(20), (32, "start"): right(48)}))
    against = next(each.against for each in found if each.position == "end")
    assert against is not None
    assert not isnan(against.p_adjusted)
    assert against.p_adjusted == pytest.approx(2 * against.p)
