"""What a gate asks of a candidate: the default policy, and policies read from TOML files.

    [defaults]
    margin = 2                  # points that a slice may lose; left out: 105 / √n, between 2 and 10
    confidence = 0.95
    undecided = "undecided"     # or "fail", "pass": what becomes of required slices that are not decided
    allow_missing_rows = false  # true: compare the rows that both sides have, and ignore what the candidate lacks

    [[slices]]
    match = "hans:label=*"      # names of slices, with globs; the first rule that matches a slice counts
    tier = "required"           # or "fail-only", "advisory"
    margin = 3

    [[floors]]
    match = "hans:label=non-entailment"
    at_least = 60               # per cent

    [[edits]]
    edit = "number"             # of the suites of edited claims
    at_most = 15                # per cent of the wrong claims that the candidate may accept
    tier = "required"           # or "advisory"

    [[cues]]
    cue = "overlap"
    at_most = 20                # points
    tier = "advisory"           # or "required"

Slices that no rule matches are checked as by the default policy, but can only fail if there are rules: a rule for ``*``
of tier ``advisory`` leaves them to themselves. ``[runs]`` says what pytest compares; the command
line names its runs itself.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

import numpy as np
import numpy.typing as npt

from acidtest.core.errors import AcidtestError, FileError, UnknownNameError
from acidtest.core.structured import TomlTable, check_shape, read_toml_table
from acidtest.stats.noninferiority import CONFIDENCE
from acidtest.studies.crossed_suites import all_cues

LEAST_MARGIN, MOST_MARGIN = 0.02, 0.10
"""The bounds of the default margin; the smaller one is also the loss above which a label or a subcase fails."""

LEAST_ROWS = 100
"""Effective rows from which the default policy requires a suite; an equal model seldom passes with fewer."""

_WIDTH = 1.05
"""Times 1/√n: the margin at which an equal model that differs on 5 % of the effective rows passes all default suites in
97 % of releases, and one that differs on 10 % in 60 %."""

LEAST_GROUPS = 20
"""Groups from which the default policy tests a label or a subcase; smaller ones only make the correction stricter."""

Tier = Literal["required", "fail-only", "advisory"]
T = TypeVar("T")


@dataclass(frozen=True)
class PolicyDefaults:
    """What holds for every rule that says nothing else; the margin is in points."""

    margin: float | None = None
    confidence: float = CONFIDENCE
    undecided: Literal["undecided", "fail", "pass"] = "undecided"
    allow_missing_rows: bool = False
    """Whether a slice may pass though the candidate lacks some of the baseline's rows."""


@dataclass(frozen=True)
class SliceRule:
    """How much the slices that match may lose, in points, and what they decide."""

    match: str
    tier: Tier = "required"
    margin: float | None = None


@dataclass(frozen=True)
class FloorRule:
    """The least accuracy of the candidate on the slices that match, in per cent."""

    match: str
    at_least: float
    tier: Tier = "required"


@dataclass(frozen=True)
class EditRule:
    """The share of edited claims, no longer supported, that the candidate may still accept, in per cent."""

    edit: str
    at_most: float
    tier: Tier = "required"


@dataclass(frozen=True)
class CueRule:
    """How far a cue may move the candidate's answers, in points."""

    cue: str
    at_most: float
    tier: Tier = "advisory"


@dataclass(frozen=True)
class PolicyRuns:
    """What pytest compares: paths relative to the policy file, or the model and the suites to ask."""

    baseline: str = ""
    anchor: str = ""
    candidate: str = ""
    model: str = ""
    suites: tuple[str, ...] = ()
    limit: int | None = None
    seed: int | None = None


@dataclass(frozen=True)
class GatePolicy:
    """Everything that a gate asks of a candidate."""

    defaults: PolicyDefaults = PolicyDefaults()
    slices: tuple[SliceRule, ...] = ()
    floors: tuple[FloorRule, ...] = ()
    edits: tuple[EditRule, ...] = ()
    cues: tuple[CueRule, ...] = ()
    runs: PolicyRuns = PolicyRuns()
    source: str = ""
    """The file it was read from; empty for the default policy."""
    only_matched: bool = False
    """Whether slices that no rule matches are left unchecked."""

    def describe(self) -> str:
        """The file, or the default policy in words."""
        if self.source:
            return self.source
        if self.slices:
            return "slices named on the command line"
        given = self.defaults.margin
        size = f" of {LEAST_ROWS} effective rows or more" if given is None else ""
        margin = "105/√n points, between 2 and 10" if given is None else f"{given:g} points"
        return f"default: every suite{size} may lose at most {margin}; labels, subcases and categories can only fail"

    def with_margin(self, points: float) -> GatePolicy:
        """The policy with another margin; the default policy then requires every suite, whatever its size."""
        if not 0 <= points <= 100:
            raise AcidtestError(f"--margin is a number of points from 0 to 100, not {points:g}")
        return replace(self, defaults=replace(self.defaults, margin=points))

    def with_slices(self, names: tuple[str, ...]) -> GatePolicy:
        """The policy with these slices, all required, instead of others; floors and cue limits stay."""
        return replace(self, slices=tuple(SliceRule(name) for name in names), only_matched=True)


def default_margin(effective: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """The margin of the default policy for a number of effective rows: 105/√n points from 2 to 10, as a share."""
    wide = _WIDTH / np.sqrt(np.maximum(np.asarray(effective, dtype=np.float64), 1e-9))
    return np.clip(wide, LEAST_MARGIN, MOST_MARGIN)


def matches(pattern: str, name: str) -> bool:
    """Whether the name of a slice is the pattern or matches it as a glob."""
    return name == pattern or fnmatchcase(name, pattern)


def read_policy(path: str | Path) -> GatePolicy:
    """The policy in a TOML file; what is wrong in it is named with its line."""
    file = read_toml_table(path)
    file.refuse_unknown(("defaults", "slices", "floors", "edits", "cues", "runs"))
    return GatePolicy(
        defaults=_read_rule(file.table("defaults"), PolicyDefaults),
        slices=tuple(_read_rule(table, SliceRule) for table in file.tables("slices")),
        floors=tuple(_read_rule(table, FloorRule) for table in file.tables("floors")),
        edits=tuple(_read_rule(table, EditRule) for table in file.tables("edits")),
        cues=tuple(_read_rule(table, CueRule) for table in file.tables("cues")),
        runs=_read_rule(file.table("runs"), PolicyRuns),
        source=str(path),
    )


def _read_rule(table: TomlTable, shape: type[T]) -> T:
    """The values of a table as a rule, each within its bounds."""
    table.refuse_unknown([field.name for field in fields(cast("Any", shape))])
    try:
        rule = check_shape(table.values, table.path, shape)
    except FileError as error:
        key = error.problem.partition(":")[0]
        raise FileError(table.path, error.problem, table.error(key, "").line) from error
    for key, least, most in (("margin", 0, 100), ("at_least", 0, 100), ("at_most", 0, 100), ("confidence", 0.5, 1)):
        value = getattr(rule, key, None)
        if value is not None and not (least <= value <= most and (key != "confidence" or least < value < most)):
            raise table.error(key, f"{value:g} is not between {least} and {most}")
    at_most_unit = "per cent" if shape is EditRule else "points"
    for key, largest, unit in (
        ("at_least", 1.0, "per cent"),
        ("margin", 0.1, "points"),
        ("at_most", 0.5, at_most_unit),
    ):
        value = getattr(rule, key, None)
        if value is not None and 0 < value <= largest:
            raise table.error(key, f"{value:g} is in {unit}: did you mean {100 * value:g}?")
    cue = getattr(rule, "cue", None)
    if cue is not None and cue not in all_cues():
        raise table.error("cue", str(UnknownNameError("cue", cue, all_cues())))
    return rule
