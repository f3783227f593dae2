"""What is said of which numbers."""

from __future__ import annotations

from math import nan

import pytest

from acidtest.core.estimate import Estimate
from acidtest.core.numbers import describe_share, whole_percent
from acidtest.stats.intervals import wilson
from acidtest.studies.controls import AgainstControl
from acidtest.studies.error_kinds import ErrorKind, Errors, ErrorsAgainstControl
from acidtest.studies.scores import SuiteResult
from acidtest.studies.scores.diagnosis import by_severity, findings


def share(value: float, n: int = 5000) -> Estimate:
    interval = wilson(round(value * n), n)
    return Estimate(value, interval.low, interval.high, n, n, "Wilson")


def result(entailed: float = 1.0, other: float = 1.0, **changes: object) -> SuiteResult:
    crossed = {
        "lexical_overlap × entailment": share(entailed),
        "lexical_overlap × non-entailment": share(other),
    }
    fields: dict[str, object] = {
        "signature": "s",
        "overall": share((entailed + other) / 2, 10_000),
        "metrics": {},
        "by": {"heuristic × label": crossed},
        "vs_control": None,
        "unanswered": 0,
        "truncated": 0,
        "collapse_differs": 0,
        "published": [],
    }
    return SuiteResult(**{**fields, **changes})  # type: ignore[arg-type]


PAIRS = "pairs whose hypothesis uses only words of the premise"
TITLE = "the lexical-overlap heuristic"


@pytest.mark.parametrize(
    ("entailed", "other", "severity", "text"),
    [
        (0.99, 0.01, "severe", f"answers entailment on 99 % of {PAIRS}: uses {TITLE}"),
        (0.95, 0.30, "severe", f"is fooled by 70 % of misleading {PAIRS}: leans on {TITLE}"),
        (
            0.34,
            0.66,
            "severe",
            f"answers entailment on 34 % of {PAIRS}, about as often when they entail as when they do not: "
            "does not tell them apart",
        ),
        (0.30, 0.95, "warning", f"answers entailment on only 18 % of {PAIRS}: avoids entailment when words overlap"),
        (0.97, 0.93, "good", f"is right on {PAIRS} whether or not they entail: no sign of {TITLE}"),
        (0.97, 0.80, "info", f"mostly resists {TITLE}, but is fooled by 20 % of misleading {PAIRS}"),
        (0.97, 0.60, "warning", f"is fooled by 40 % of misleading {PAIRS}: partly relies on {TITLE}"),
        (0.70, 0.80, "warning", f"is unreliable on {PAIRS}: {TITLE} alone does not explain it"),
    ],
)
def test_a_heuristic_is_read_off_both_labels(entailed: float, other: float, severity: str, text: str) -> None:
    (finding,) = findings({"hans": result(entailed, other)})
    assert (finding.severity, finding.sentence) == (severity, text)
    errs = "entailment" if entailed < other else "non-entailment"
    assert finding.slice == {"heuristic": "lexical_overlap", "label": errs}


def test_few_pairs_are_not_taken_for_equality() -> None:
    crossed = {"lexical_overlap × entailment": share(0.9, 10), "lexical_overlap × non-entailment": share(0.6, 10)}
    (finding,) = findings({"hans": result(by={"heuristic × label": crossed})})
    assert (finding.severity, finding.sentence) == ("info", f"was asked too few {PAIRS} to judge {TITLE}")


def test_one_answer_to_everything_is_said() -> None:
    labels = {"label": {"neutral": share(0.99, 30), "entailment": share(0.01, 4970)}}
    metrics = {"answers neutral": share(0.995)}
    found = findings({"hans": result(by=labels, metrics=metrics)})
    assert found[0].sentence == "answers neutral on 99.5 % of all pairs: the score says little beyond that"
    one_gold = {"label": {"neutral": share(0.99)}}
    assert findings({"hans": result(by=one_gold, metrics=metrics)}) == []


def test_a_few_subcases_gone_wrong_are_said_although_the_mean_is_fine() -> None:
    subcases = {f"sub{number}": share(0.97, 1000) for number in range(8)} | {"passive": share(0.0, 1000)}
    by = {**result(0.97, 0.93).by, "subcase": subcases}
    finding, _ = by_severity(findings({"hans": result(0.97, 0.93, by=by, strata=("subcase",))}))
    assert finding.severity == "severe"
    where = "in 1 of 9 values of subcase: passive (0 %)"
    assert finding.sentence == f"is right on clearly fewer than half of the pairs {where}"
    assert finding.slice == {"subcase": "passive"}


def test_worse_than_guessing_is_said_of_files_without_heuristics() -> None:
    labels = {label: share(0.02, 600) for label in ("entailment", "neutral", "contradiction")}
    (finding,) = findings({"mine": result(by={"label": labels}, overall=share(0.02, 1800))})
    assert (finding.severity, finding.sentence) == ("severe", "is right on only 2 % of all pairs: worse than guessing")
    labels |= {"entailment": share(0.9, 600), "neutral": share(0.9, 600)}
    (finding,) = findings({"mine": result(by={"label": labels}, overall=share(0.6, 1800))})
    assert finding.sentence == "is right on only 2 % of the pairs whose gold is contradiction: worse than guessing"
    assert findings({"mine": result(by={"label": {"neutral": share(0.0, 5)}}, overall=share(0.0, 5))}) == []


def test_a_loss_against_the_control_is_grave_only_when_it_is_no_chance() -> None:
    def control(p: float) -> AgainstControl:
        return AgainstControl(share(0.9), Estimate(-0.2, -0.25, -0.15, 100, 100), "test", p, p)

    assert findings({"s": result(by={}, vs_control=control(0.001))})[0].severity == "severe"
    assert "loses 20.0 points" in findings({"s": result(by={}, vs_control=control(0.001))})[0].sentence
    assert findings({"s": result(by={}, vs_control=control(0.2))})[0].severity == "info"
    close = AgainstControl(share(0.9), Estimate(-0.01, -0.02, 0.0, 100, 100), "test", 0.2, 0.2)
    assert findings({"s": result(by={}, vs_control=close)})[0].severity == "good"


def test_missing_answers_and_close_calls_are_said() -> None:
    found = findings({"s": result(by={}, unanswered=500, collapse_differs=431)})
    assert [f.sentence for f in found] == [
        "gave no answer to 500 pairs (5 %); they count as wrong",
        "431 verdicts would be another if probabilities were summed over the gold set: report which was used",
    ]


def test_nothing_is_said_of_what_is_not_known() -> None:
    unknown = Estimate(nan, note="no rows")
    by = {"heuristic × label": {"subsequence × entailment": unknown, "subsequence × non-entailment": unknown}}
    assert findings({"s": result(by=by)}) == []


def test_the_gravest_come_first() -> None:
    found = by_severity(findings({"a": result(0.97, 0.97), "b": result(0.99, 0.01)}))
    assert [finding.severity for finding in found] == ["severe", "good"]


def test_numbers_are_written_as_people_read_them() -> None:
    assert describe_share(share(1.0, 30_000)) == "100.0 % (95 % interval 99.99–100.0, n = 30,000)"
    assert describe_share(share(0.971, 1000)) == "97.1 % (95 % interval 95.9–98.0, n = 1,000)"
    numbers = (0, 0.00001, 0.004, 0.006, 0.5, 0.994, 0.996, 0.99999, 1)
    told = "0 % 0.01 % 0.4 % 1 % 50 % 99 % 99.6 % 99.99 % 100 %"
    assert " ".join(map(whole_percent, numbers)) == told, "no other number than the tables beside them have"


def kind(value: float, before: float | None = None, p: float = 0.001, n: int = 500, **counts: int) -> ErrorKind:
    """A kind of error, beside the untouched pairs where their share is given; the rate changes as the share does."""
    own = share(value, n)
    if before is None:
        return ErrorKind(round(value * n), own, own)
    test = AgainstControl(
        share(before, n), Estimate(value - before, value - before - 0.02, value - before + 0.02), "t", p, p
    )
    return ErrorKind(counts.get("count", 0), own, own, ErrorsAgainstControl(counts.get("control", 0), test, test))


def said(suite: str, **kinds: ErrorKind) -> list[tuple[str, str, str]]:
    named = {
        name.replace("_", " ") if name.startswith("false") else name.replace("_", "-"): k for name, k in kinds.items()
    }
    found = findings({suite: result(by={}, errors=Errors(500, 500, named))})
    return [(finding.code, finding.severity, finding.sentence) for finding in found]


def test_a_fall_back_to_neutral_is_told_with_what_it_was_before() -> None:
    kinds = {"false_neutral": kind(0.84, 0.33), "false_entailment": kind(0.16, 0.67)}
    text = "84 % of the errors are false neutrals (33 % on the untouched pairs)"
    why = ": with fewer shared words it falls back to neutral"
    assert said("stress/word-overlap", **kinds) == [("E1", "warning", text + why)]
    # Another suite has no such reading, and a change that may be chance or is small is not told.
    assert said("mine", **kinds) == [("E1", "info", text)]
    assert said("stress/word-overlap", false_neutral=kind(0.84, 0.33, p=0.2)) == []
    assert said("stress/word-overlap", false_neutral=kind(0.84, 0.82)) == []


def test_without_untouched_pairs_most_errors_of_one_kind_are_told() -> None:
    antonymy = said("stress/antonymy", false_entailment=kind(0.99), false_neutral=kind(0.01))
    assert antonymy == [
        ("E1", "warning", "99 % of the errors are false entailments: it takes shared words for entailment")
    ]
    assert said("stress/numerical", false_entailment=kind(0.4), false_neutral=kind(0.3)) == []


def test_few_errors_and_a_single_answer_to_everything_are_not_told_as_kinds() -> None:
    few = Errors(19, None, {"false neutral": kind(0.9)})
    assert findings({"s": result(by={}, errors=few)}) == []
    one = {"answers neutral": share(1.0)}
    labels = {"label": {"neutral": share(1.0), "entailment": share(0.0)}}
    found = findings({"s": result(by=labels, metrics=one, errors=Errors(500, None, {"false neutral": kind(1.0)}))})
    assert "E1" not in [finding.code for finding in found]


@pytest.mark.parametrize(
    ("before", "after", "p", "severity", "start"),
    [
        (
            0.01,
            0.20,
            0.001,
            "warning",
            "takes more for contradiction with a negation word added: entailment in 100 pairs (5",
        ),
        (0.10, 0.09, 0.4, "info", "takes no more for contradiction with a negation word added"),
        (0.10, 0.14, 0.4, "info", "was asked too few pairs to say whether a negation word misleads"),
    ],
)
def test_negation_says_whether_errors_towards_contradiction_increased(
    before: float, after: float, p: float, severity: str, start: str
) -> None:
    found = said("stress/negation", E_C=kind(after, before, p, count=100, control=5), N_C=kind(0.0, 0.0, 1.0))
    assert [(code, told) for code, told, _ in found] == [("N1", severity)]
    assert found[0][2].startswith(start)
    assert said("stress/spelling", E_C=kind(after, before, p)) == []
