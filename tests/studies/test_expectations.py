"""Expectations: verdicts on changed pairs against those on the untouched ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from acidtest import api
from acidtest.core.labels import LABELS
from acidtest.studies.comparison.contrasts import compare_runs
from acidtest.studies.scoring.expectations import HOLDS, expectation_findings, expectation_verdict
from acidtest.studies.scoring.rows import score_rows
from acidtest.studies.scoring.slices import chance, disagreement

PAIRS = "premise\thypothesis\tlabel\n" + "".join(
    f"Cat number {number} sat.\tA cat sat.\t{'entailment' if number % 2 else 'neutral'}\n" for number in range(40)
)
CHANGES = """\
[[change]]
name = "loud"
in = "hypothesis"
pattern = '\\.$'
replacement = "!"
expect = "{}"
"""


class Reader:
    """Answers one label to hypotheses with a full stop, another to those with an exclamation mark, of even numbers."""

    fingerprint = None

    def __init__(self, calm: str, loud: str) -> None:
        self.name, self._calm, self._loud = "reader", LABELS.index(calm), LABELS.index(loud)

    def predict(self, premises: list[str], hypotheses: list[str]) -> object:
        even = np.array([int(premise.split()[2]) % 2 == 0 for premise in premises])
        loud = np.array([hypothesis.endswith("!") for hypothesis in hypotheses])
        return np.eye(3, dtype=np.float32)[np.where(loud & even, self._loud, self._calm)]


def metrics(folder: Path, expectation: str, model: Reader) -> dict[str, object]:
    (folder / "pairs.tsv").write_text(PAIRS, encoding="utf-8")
    (folder / "loud.toml").write_text(CHANGES.format(expectation), encoding="utf-8")
    done = api.run(model, str(folder / "loud.toml"), source=folder / "pairs.tsv", output=folder / "run", page=False)
    return dict(done.results["suites"]["loud"]["metrics"])


@pytest.mark.parametrize(
    ("expectation", "calm", "loud", "share", "pairs"),
    [
        # Half of the pairs, those of even numbers, get another verdict.
        ("same verdict", "neutral", "entailment", 0.5, 40),
        ("same verdict", "neutral", "neutral", 1.0, 40),
        ("other verdict", "neutral", "entailment", 0.5, 40),
        ("not more entailment", "neutral", "entailment", 0.5, 40),
        # Where entailment was answered already, it cannot become more.
        ("not more entailment", "entailment", "neutral", None, 0),
        ("not less entailment", "entailment", "contradiction", 0.5, 40),
        ("not less contradiction", "entailment", "contradiction", None, 0),
    ],
)
def test_the_share_of_pairs_whose_expectation_holds_is_a_metric(
    tmp_path: Path, expectation: str, calm: str, loud: str, share: float | None, pairs: int
) -> None:
    values = metrics(tmp_path, expectation, Reader(calm, loud))
    assert values[HOLDS]["value"] == share  # type: ignore[index]
    assert values[HOLDS]["n"] == pairs  # type: ignore[index]
    assert values[f"{HOLDS}: loud ({expectation})"] == values[HOLDS]


def test_without_gold_there_is_no_accuracy_but_a_verdict_and_a_finding(tmp_path: Path) -> None:
    metrics(tmp_path, "not more entailment", Reader("neutral", "entailment"))
    done = api.finished_run(tmp_path / "run")
    assert done.results["suites"]["loud"]["overall"]["value"] is None
    result = done.run
    assert result.header.suites["loud"].labels == {"any": 40}
    (finding,) = [one for one in done.results["diagnosis"] if one["code"] == "E1"]
    assert finding["text"].endswith("loud (not more entailment) holds on only 50 % of pairs that can fail")
    assert finding["severity"] == "severe"


def test_pairs_without_gold_count_for_no_accuracy(tmp_path: Path) -> None:
    metrics(tmp_path, "same verdict", Reader("entailment", "entailment"))
    both = CHANGES.format("same verdict") + CHANGES.format("not more entailment").replace("loud", "louder")
    (tmp_path / "both.toml").write_text(both, encoding="utf-8")
    model = Reader("entailment", "entailment")
    done = api.run(
        model, str(tmp_path / "both.toml"), source=tmp_path / "pairs.tsv", output=tmp_path / "both", page=False
    )
    result = done.results["suites"]["both"]
    # Of the forty pairs with gold, the twenty entailed ones are right; the other forty have none.
    assert (result["overall"]["value"], result["overall"]["n"]) == (0.5, 40)
    assert result["by"]["change"]["louder"]["value"] is None
    assert result["vs_control"]["difference"]["value"] == 0
    assert "loud (same verdict) holds on 100.0 % of 40 pairs (91.2–100.0)" in result["notes"]


class Half:
    """Answers entailment to numbers below twenty, neutral to others, and contradiction to the loud pair of zero."""

    name, fingerprint = "half", None

    def predict(self, premises: list[str], hypotheses: list[str]) -> object:
        numbers = np.array([int(premise.split()[2]) for premise in premises])
        loud = np.array([hypothesis.endswith("!") for hypothesis in hypotheses])
        return np.eye(3, dtype=np.float32)[np.where(loud & (numbers == 0), 2, np.where(numbers < 20, 0, 1))]


def both_kinds(folder: Path) -> Path:
    (folder / "pairs.tsv").write_text(PAIRS, encoding="utf-8")
    both = CHANGES.format("same verdict") + CHANGES.format("not more entailment").replace("loud", "louder")
    (folder / "both.toml").write_text(both, encoding="utf-8")
    return folder / "both.toml"


def test_errors_and_groups_leave_pairs_without_gold_aside(tmp_path: Path) -> None:
    done = api.run(
        Half(), str(both_kinds(tmp_path)), source=tmp_path / "pairs.tsv", output=tmp_path / "run", page=False
    )
    result = done.results["suites"]["both"]
    # Of forty pairs with gold: numbers 1, 3 … 19 and 20, 22 … 38 are right; number 0 is taken for contradiction.
    assert result["overall"]["value"] == 0.5
    assert result["confusion"]["neutral"] == {"entailment": 9, "neutral": 10, "contradiction": 1, "unanswered": 0}
    kinds = result["errors"]["kinds"]
    assert result["errors"]["n"] == 20
    assert kinds["false entailment"]["rate"]["value"] == 9 / 40
    assert sum(kinds[name]["rate"]["value"] for name in kinds if name.startswith("false ")) == 0.5
    # Two changed pairs of one group, of which one has no gold: a group is that one row.
    assert result["metrics"]["group consistency"]["n"] == 40
    assert result["metrics"]["group consistency"]["value"] is None
    # Numbers from 20 on were not answered entailment before, and none becomes it; 0.025 ** (1 / 20) is 0.832.
    assert result["metrics"][f"{HOLDS}: louder (not more entailment)"]["n"] == 20
    assert "louder (not more entailment) holds on 100.0 % of 20 pairs that can fail (83.2–100.0)" in result["notes"]


def test_comparisons_leave_pairs_without_gold_aside(tmp_path: Path) -> None:
    file, source = both_kinds(tmp_path), tmp_path / "pairs.tsv"
    runs = [
        api.run(model, str(file), source=source, output=tmp_path / model.name, page=False)
        for model in (Half(), Reader("neutral", "neutral"))
    ]
    contrasts = compare_runs([done.run for done in runs])
    (whole,) = [one for one in contrasts if one.suite == "both" and not one.factor]
    assert whole.accuracies == (0.5, 0.5)
    assert whole.difference.n == 40
    found = disagreement(
        ("half", "reader"), (score_rows(runs[0].run, "both"), score_rows(runs[1].run, "both")), "change"
    )
    assert found.both + found.neither + found.only_first + found.only_second == 40
    assert chance(runs[0].run.header.suites["both"], two_way=False) == pytest.approx(1 / 3)


def test_verdicts_need_certainty() -> None:
    from acidtest.core.estimate import Estimate

    def verdict(low: float, high: float) -> str:
        return expectation_verdict({f"{HOLDS}: x (same verdict)": Estimate((low + high) / 2, low, high, n=100)})

    assert verdict(0.96, 0.99) == "holds"
    assert verdict(0.8, 0.9) == "breaks"
    assert verdict(0.9, 0.99) == "too few to say"
    assert expectation_verdict({"accuracy": Estimate(0.5, 0.4, 0.6, n=9)}) == ""
    sure = {f"{HOLDS}: x (same verdict)": Estimate(0.97, 0.96, 0.98, n=100)}
    assert list(expectation_findings({"mine": sure})) == []
