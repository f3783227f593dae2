"""Planted models on other seeds and samples: what the thresholds of findings F1 and G1 rest on.

    python benchmarks/diagnosis.py [--seeds 10] [--limits 200,1000]

Every model is asked suites ``cues`` and ``premises``, generated anew for each seed and sampled to each limit. The table
says in how many of the runs each finding is made. A model that reads the premise must never get F1; one that does not
should, if enough pairs were asked. G1 is severe or a warning only for models that follow gold less in suite ``cues``.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import acidtest
from acidtest.core.draws import key
from acidtest.core.labels import LABELS
from acidtest.core.suite import Suite
from acidtest.pairs.heuristics import words

Row = Mapping[str, str]
SUITES = ("cues", "premises")
NEGATIONS = {"no", "not", "never", "nobody"}


def draw(row: Row, *salt: str) -> float:
    """A number from 0 to 1 that depends on the pair."""
    return key(row["premise"], row["hypothesis"], *salt) / 2**64


def right(row: Row) -> str:
    """An answer that gold accepts."""
    return {"non-entailment": "neutral", "any": "entailment"}.get(row["label"], row["label"])


def by_negation_and_length(row: Row) -> str:
    """Contradiction by negation, neutral by length."""
    spoken = row["hypothesis"].lower().split()
    return "contradiction" if NEGATIONS & {*spoken} else "neutral" if len(spoken) > 9 else "entailment"


def by_first_words(row: Row) -> str:
    """A label for every beginning of a hypothesis."""
    return LABELS[key(" ".join(row["hypothesis"].split()[:3])) % 3]


def by_letters(row: Row) -> str:
    """A label by the number of letters of the hypothesis."""
    return LABELS[len(row["hypothesis"]) // 4 % 3]


def overlaps(row: Row) -> bool:
    """Whether the premise has all words of the hypothesis."""
    return row["overlaps"] == "yes"


MODELS: Mapping[str, Callable[[Row], str]] = {
    "hypothesis: negation and length": by_negation_and_length,
    "hypothesis: first words": by_first_words,
    "hypothesis: letters": by_letters,
    **{
        f"hypothesis, gold in {share:.0%}": lambda row, share=share: (  # type: ignore[misc]
            right(row) if draw(row) < share else by_negation_and_length(row)
        )
        for share in (0.02, 0.05, 0.1, 0.2)
    },
    "overlap, else neutral": lambda row: "entailment" if overlaps(row) else "neutral",
    "overlap, else by negation and length": lambda row: "entailment" if overlaps(row) else by_negation_and_length(row),
    "antonym, else by length": (
        lambda row: "contradiction" if row.get("antonym") == "yes" else by_negation_and_length(row)
    ),
    "right": right,
    "right in 90 %": lambda row: LABELS[int(3 * draw(row, "guess"))] if draw(row) < 0.15 else right(row),
    "right in 70 %": lambda row: LABELS[int(3 * draw(row, "guess"))] if draw(row) < 0.45 else right(row),
    "overlap, else right": lambda row: "entailment" if overlaps(row) else right(row),
    "right in 90 %, guesses suite cues": (
        lambda row: LABELS[int(3 * draw(row, "guess"))] if draw(row) < 0.15 or "form" in row else right(row)
    ),
}


def learn(suites: Sequence[Suite]) -> dict[tuple[str, str], Row]:
    """The rows of some suites and their controls, by pair."""
    rows: dict[tuple[str, str], Row] = {}
    for part in (part for suite in suites for part in (suite.control, suite) if part):
        frame = part.frame.select("premise", "hypothesis", "label", *part.card.factors).collect()
        sides = zip(words(frame["premise"]), words(frame["hypothesis"]), strict=True)
        for row, (premise, hypothesis) in zip(frame.iter_rows(named=True), sides, strict=True):
            overlap = "yes" if {*hypothesis} <= {*premise} else "no"
            rows.setdefault((row["premise"], row["hypothesis"]), {**row, "overlaps": overlap})
    return rows


def codes(
    answer: Callable[[Row], str], suites: Sequence[Suite], rows: Mapping[tuple[str, str], Row], limit: int
) -> str:
    """The findings about a planted model, those that praise in brackets."""

    def predict(premises: Sequence[str], hypotheses: Sequence[str]) -> list[str]:
        return [answer(rows[pair]) for pair in zip(premises, hypotheses, strict=True)]

    with TemporaryDirectory() as folder:
        run = acidtest.run(predict, suites, output=Path(folder) / "run", limit=limit, page=False)
    shown = {finding.code if finding.severity != "good" else f"({finding.code})" for finding in run.findings}
    return " ".join(sorted(shown)) or "nothing"


def main() -> None:
    """Ask every model on every seed and limit, and print how often each set of findings is made."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--limits", default="200,1000", help="the most pairs of each suite, several numbers")
    options = parser.parse_args()
    limits = [int(limit) for limit in options.limits.split(",")]
    counts: dict[tuple[str, int], Counter[str]] = {(name, limit): Counter() for name in MODELS for limit in limits}
    for seed in range(1, options.seeds + 1):
        suites = [acidtest.generate(name, seed=seed) for name in SUITES]
        rows = learn(suites)
        for (name, limit), counter in counts.items():
            counter[codes(MODELS[name], suites, rows, limit)] += 1
    for (name, limit), counter in counts.items():
        print(f"{name:40}{limit:>6}  {', '.join(f'{count}× {shown}' for shown, count in counter.most_common())}")


if __name__ == "__main__":
    main()
