"""Answers that evaluation harnesses logged, as a model that knows only those."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.labels import LABELS, Probabilities, one_hot
from acidtest.core.logs import log
from acidtest.core.model import Keep, Resolution
from acidtest.core.structured import parse_json
from acidtest.models.harness_tasks import TaskRecipe
from acidtest.models.prompts import ABSTAIN, COLUMNS


@dataclass(frozen=True)
class HarnessLog:
    """What one model answered on one task: a row of probabilities for each id, NaN without an answer.

    ``created`` sorts logs by time. ``probabilities`` says whether rows are more than labels. ``unfinished`` says how
    far a harness came that did not ask all it meant to; empty if it did.
    """

    path: Path
    host: str
    task: str
    model: str
    created: str
    recipe: TaskRecipe
    rows: Mapping[str, Probabilities]
    probabilities: bool
    unfinished: str = ""

    @property
    def name(self) -> str:
        """The name of the model that runs show: replies and likelihoods of one model are two."""
        form = "" if self.probabilities or self.host != "lm-eval" else " (replies)"
        return f"{self.host}:{self.model}{form}"

    def require_rows(self) -> HarnessLog:
        """The log itself; raises where nothing was asked, and warns where nothing was answered."""
        if not self.rows:
            raise FileError(self.path, "holds no answers; was the run interrupted?")
        if all(np.isnan(row).any() for row in self.rows.values()):
            log.warning("%s: none of its %d replies names a label; look at some of them", self.path, len(self.rows))
        return self


def parse_recipe(text: str, path: str | Path) -> TaskRecipe:
    """The recipe in a log; ``path`` is named in errors."""
    remedy = "it was not written by a task of acidtest's"
    recipe = parse_json(text.encode(errors="replace"), path, TaskRecipe, remedy=remedy)
    for key, meanings in (("choices", recipe.choices), ("words", recipe.words)):
        for word, label in meanings.items():
            if label not in (*COLUMNS, ABSTAIN):
                raise FileError(path, f"{key}.{word[:60]}: {label[:60]!r} is not a label; {remedy}")
    return recipe


def mean_label(rows: Sequence[Probabilities]) -> Probabilities:
    """The most frequent label of several answers to one pair, the first in a tie; NaN if there is none."""
    answered = [row for row in rows if not np.isnan(row).any()]
    if not answered:
        return np.full(len(LABELS), np.nan, dtype=np.float32)
    if len(rows) == 1:
        return rows[0]
    label = LABELS[int(np.mean(answered, axis=0).argmax())]
    return np.asarray(one_hot([label])[0], dtype=np.float32)


class HarnessModel:
    """The logs of one model as a model that is asked by id."""

    columns: tuple[str, ...] = ("id",)
    batch_size = 1 << 16
    keep: Keep = "nothing"
    independent = True
    may_abstain = True

    def __init__(self, logs: Sequence[HarnessLog], fingerprint: str) -> None:
        first = logs[0]
        self.name, self.fingerprint = first.name, fingerprint
        self.resolution: Resolution = first.recipe.resolution
        self.probabilities = all(logged.probabilities for logged in logs)
        prompts = ", ".join(dict.fromkeys(logged.recipe.prompt for logged in logs))
        self.notes: tuple[str, ...] = (f"answers logged by {first.host}; prompt {prompts}",)
        for other in logs:
            if other.recipe.resolution != self.resolution:
                raise AcidtestError(
                    f"{first.path} has {self.resolution} answers and {other.path} {other.recipe.resolution} ones; "
                    f"score them one at a time"
                )
        self._rows: dict[str, Probabilities] = {}
        differing = 0
        for logged in logs:
            for identifier, row in logged.rows.items():
                differing += not np.array_equal(self._rows.setdefault(identifier, row), row, equal_nan=True)
        if differing:
            # Suites made from one corpus have the same untouched pairs.
            log.warning(
                "%s: %d pairs of several tasks were answered differently; the first counts", first.name, differing
            )

    def predict(self, ids: Sequence[str]) -> npt.NDArray[np.float32]:
        """The logged answer for each id; NaN for a row that was not asked."""
        missing = np.full(len(LABELS), np.nan, dtype=np.float32)
        return np.array([self._rows.get(identifier, missing) for identifier in ids], dtype=np.float32).reshape(-1, 3)
