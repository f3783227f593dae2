"""Cues of a user's own: functions of premise and hypothesis, measured on pairs that were asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.model import defined_names, import_users_module
from acidtest.core.run import Run
from acidtest.core.suite import CONTROL
from acidtest.pairs.cues import pair_cues
from acidtest.stats.contrasts import CellContrast
from acidtest.stats.resampling import Codes, numbered
from acidtest.studies.cue_effects import CueDesign, CueEffect
from acidtest.studies.scoring.rows import Flags, score_rows

CueFunction = Callable[[str, str], bool]


@dataclass(frozen=True)
class UserCue:
    """A cue of the user's, by model: matched on suite, gold and the listed cues that words can tell, not crossed."""

    name: str
    effects: Mapping[str, CueEffect]


def measure_user_cue(spec: str, runs: Mapping[str, Run]) -> UserCue:
    """The effect of the cue at ``package.module:function`` on each model's answers."""
    function = load_cue(spec)
    return UserCue(spec, {name: _matched_effect(spec, function, run) for name, run in runs.items()})


def load_cue(spec: str) -> CueFunction:
    """The function that the user names; the current folder is searched first."""
    module_name, _, name = spec.partition(":")
    if not module_name or not name:
        raise AcidtestError(
            f"--cue {spec}: write MODULE:FUNCTION, such as mycues:mentions_year for a function in mycues.py"
        )
    module = import_users_module(module_name, f"--cue {spec}")
    function: CueFunction | None = getattr(module, name, None)
    if not callable(function):
        raise AcidtestError(f"--cue {spec}: {UnknownNameError('function', name, defined_names(module))}")
    return function


@dataclass(frozen=True)
class MatchedDesign(CueDesign):
    """All pairs of a run, some of which have the user's cue; cells are suite, gold and listed cues."""

    on: Flags
    cells: Codes

    def sides(self, cue: str) -> tuple[Flags, Flags]:
        """See ``CueDesign``: every row can show the effect."""
        return self.on, np.ones(len(self.on), dtype=np.bool_)

    def contrast(self, cue: str, rows: Flags) -> CellContrast:
        """See ``CueDesign``; a cell weighs as much as the smaller of its sides, because it was not made for this."""
        return CellContrast.between(self.on, self.cells, rows, by_size=True)


def _matched_effect(spec: str, function: CueFunction, run: Run) -> CueEffect:
    names = [name for name in run.header.suites if not name.endswith(CONTROL)]
    two_way = any(map(run.header.is_two_way, names))
    parts = [score_rows(run, name, two_way=two_way) for name in names]
    texts = pl.concat(run.collected(part.rows.select("premise", "hypothesis")) for part in parts)
    suites = np.repeat(np.arange(len(parts)), [part.height for part in parts])
    gold = np.concatenate([part.gold for part in parts])
    try:
        on = np.array([bool(function(premise, hypothesis)) for premise, hypothesis in texts.iter_rows()])
    except Exception as error:
        raise AcidtestError(f"--cue {spec} failed: {type(error).__name__}: {error}") from error
    keys = pair_cues(texts["premise"], texts["hypothesis"]).with_columns(suite=pl.Series(suites), gold=pl.Series(gold))
    groups = np.concatenate([part.groups + 0 for part in parts])
    design = MatchedDesign(
        parts[0].labels,
        np.concatenate([part.answer for part in parts]),
        gold,
        groups=numbered(suites.astype(np.int64) * (int(groups.max(initial=0)) + 1) + groups),
        on=on,
        cells=numbered(keys.select(pl.struct(pl.all()).rank("dense")).to_series().to_numpy()),
    )
    return design.effect(spec, tests=len(design.outcomes))
