"""The suites on which a profile is measured: which columns hold their cues, and how all of it is worded.

``data/profile/cues.tsv`` lists the cues of each suite. A cue is there where its column has one value, and is compared
with the rows where it has another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from acidtest.core.run import Run, SuitePattern
from acidtest.io.wordlists import packaged_table


@dataclass(frozen=True)
class CrossedCue:
    """Something other than gold that may move answers."""

    column: str
    present: str
    """The value of the column where the cue is there."""
    absent: str
    """The value of the rows that these are compared with."""
    phrase: str
    """What it is called in a sentence."""
    having: str
    lacking: str
    """When it is there, and when not, as parts of a sentence."""
    of_premise: bool
    """Whether it cannot be told from the hypothesis alone."""
    stays: str
    """When answers should stay the same, for a cue that is shown among what leaves them alone; else empty."""
    absence: str = ""
    """What its absence is called in a sentence: ``a short hypothesis``."""


@dataclass(frozen=True)
class CrossedSuite:
    """A suite in which gold is crossed with cues."""

    name: str
    cues: Mapping[str, CrossedCue]
    premise: str = "premise"
    hypothesis: str = "hypothesis"
    two_way: bool = False
    """Whether answers are merged into entailment and the rest."""
    label_names: Mapping[str, str] = field(default_factory=dict)
    """The labels in the words of those who use such models, where these are others."""
    one_claim_a_group: bool = False
    """Whether each hypothesis of a group is asked under all cues, so that it predicts its own answers."""
    interventions: tuple[str, ...] = ()
    """Suites that change the premises of untouched pairs."""

    @property
    def overlap(self) -> str:
        """The cue that stands for shared words, which is the first."""
        return next(iter(self.cues))

    @property
    def values(self) -> dict[str, tuple[str, ...]]:
        """The values of each column that belong to a cue, in the order of the table."""
        columns: dict[str, dict[str, None]] = {}
        for cue in self.cues.values():
            columns.setdefault(cue.column, {}).update({cue.absent: None, cue.present: None})
        return {column: tuple(values) for column, values in columns.items()}

    def label_name(self, label: str) -> str:
        """A label in the words of this suite: entailment, or supported."""
        return self.label_names.get(label, label)

    def describe_wrong(self, label: str) -> str:
        """What a model does that predicts a label that is wrong: ``wrongly predicts neutral``."""
        if label == NO_PREDICTION:
            return "gives no prediction"
        return f"wrongly calls claims {self.label_name(label)}" if self.label_names else f"wrongly predicts {label}"

    def describe_wrong_where(self, label: str) -> str:
        """The middle of a sentence on such predictions: `` and gold is not neutral, it predicts neutral``."""
        if label == NO_PREDICTION:
            return ", it gives no prediction"
        if not self.label_names:
            return f" and gold is not {label}, it predicts {label}"
        (gold,) = (name for other, name in self.label_names.items() if other != label)
        return f" and the claim is {gold}, it calls it {self.label_name(label)}"

    def describe_constant(self, label: str) -> str:
        """What is said of a model with one prediction for everything."""
        if label == NO_PREDICTION:
            return f"gives no prediction for nearly every {'claim' if self.label_names else 'pair'}"
        if self.label_names:
            return f"calls nearly every claim {self.label_name(label)}"
        return f"predicts {label} for nearly every pair"

    @property
    def alone_predicts(self) -> str:
        """Answers are told from the hypothesis alone: ``the words of the hypothesis alone predict``."""
        return f"the {self.hypothesis} alone predicts" if self.one_claim_a_group else _WORDS_PREDICT

    def names_in(self, run: Run) -> list[str]:
        """The suites of a run that are this one, perhaps made with other options."""
        return SuitePattern(names=(self.name,)).names_in(run)


NO_PREDICTION = "no prediction"
"""The outcome of a pair for which the model returned nothing."""

CUE_SUITES = SuitePattern(names=("cues", "grounding/cues"))
"""The suites on which a profile can be measured."""

_WORDS_PREDICT = "the words of the hypothesis alone predict"
_SUPPORT = {"entailment": "supported", "non-entailment": "not supported"}


@cache
def crossed_suites() -> dict[str, CrossedSuite]:
    """The suites on which profiles are measured; that of a run is the first which the run has."""
    return {
        "cues": CrossedSuite("cues", _read_cues("cues"), interventions=("premises",)),
        "grounding/cues": CrossedSuite(
            "grounding/cues",
            _read_cues("grounding/cues"),
            premise="document",
            hypothesis="claim",
            two_way=True,
            label_names=_SUPPORT,
            one_claim_a_group=True,
        ),
    }


@cache
def all_cues() -> dict[str, CrossedCue]:
    """The cues of all suites; no two have the same name."""
    return {name: cue for suite in crossed_suites().values() for name, cue in suite.cues.items()}


def suites_in(run: Run) -> list[CrossedSuite]:
    """The suites of a run on which its profile can be measured."""
    return [suite for suite in crossed_suites().values() if suite.names_in(run)]


def _read_cues(suite: str) -> dict[str, CrossedCue]:
    rows = (row for row in packaged_table("profile/cues.tsv").iter_rows(named=True) if row["suite"] == suite)
    return {
        row["cue"]: CrossedCue(
            row["column"],
            row["present"],
            row["absent"],
            row["phrase"],
            row["having"],
            row["lacking"],
            of_premise=row["of_premise"] == "yes",
            stays=row["stays"],
            absence=row["absence"] or f"the absence of {row['phrase']}",
        )
        for row in rows
    }
