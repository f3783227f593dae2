"""Gates and runs inside pytest: what ``acidtest_pytest``, which pytest loads, loads itself when it is used."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from acidtest.core.errors import AcidtestError, FileError, FolderInUseError, UnknownNameError
from acidtest.studies.gate.policy import PolicyRuns, read_policy
from acidtest.studies.gate.result import GateComparison, GateResult
from acidtest.workflows.batteries import STANDARD
from acidtest.workflows.evaluations import run
from acidtest.workflows.gate_reports.junit import VERDICT
from acidtest.workflows.gate_reports.markdown import (
    Outcome,
    check_title,
    describe_outcome,
    figures,
    outcome,
    state_outcome,
)
from acidtest.workflows.gates import gate
from acidtest.workflows.runs import Finished, finished_run

SECONDS_BETWEEN_TRIES = 0.2
"""How long a process waits before it asks again whether another one has finished the same run."""


@dataclass(frozen=True)
class ModelRequest:
    """What a test or a file asks of a model: arguments of ``run``."""

    model: str
    suites: tuple[str, ...] = STANDARD
    limit: int | None = None
    seed: int = 0


_FINISHED = pytest.StashKey[dict[ModelRequest, Finished]]()


class CheckFailedError(Exception):
    """A check of a gate that stops a release."""


def run_for_test(request: pytest.FixtureRequest) -> Finished:
    """The run that the marker of a test, the command line and the settings ask for."""
    marker = request.node.get_closest_marker("acidtest")
    asked = dict(marker.kwargs) if marker else {}
    try:
        if marker and marker.args:
            raise AcidtestError(f"the marker acidtest takes names, such as suites={marker.args[0]!r}")
        return ask_once(request.config, _request(request.config, asked))
    except AcidtestError as error:
        message = str(error)
    # Outside the block above, so that pytest shows one exception and not two.
    pytest.fail(message, pytrace=False)


def _request(config: pytest.Config, asked: dict[str, Any]) -> ModelRequest:
    """What is asked: the model of the command line, else the one ``asked`` for, else that of the settings."""
    known = [field.name for field in fields(ModelRequest)]
    for name in asked:
        if name not in known:
            raise UnknownNameError("argument of the marker acidtest", name, known)
    model = config.getoption("--acidtest-model") or asked.get("model") or config.getini("acidtest_model")
    if not model:
        raise AcidtestError("no model is named; add --acidtest-model SPEC, or acidtest_model to the settings of pytest")
    suites = asked.get("suites") or STANDARD
    names = (suites,) if isinstance(suites, str) else tuple(suites)
    return ModelRequest(model, names, asked.get("limit"), asked.get("seed") or 0)


def ask_once(config: pytest.Config, request: ModelRequest) -> Finished:
    """The run that answers a request, which one session asks once; runs are in ``acidtest-runs`` of the root folder.

    Workers of pytest-xdist wait for the first of them, unless the model has no fingerprint to recognise its run by.
    """
    finished = config.stash.setdefault(_FINISHED, {})
    if request not in finished:
        with contextlib.chdir(config.rootpath):
            made = _run_when_free(request)
        # By its whole path: a test may change the working folder.
        finished[request] = replace(finished_run(config.rootpath / made.folder), fresh=made.fresh)
    return finished[request]


def _run_when_free(request: ModelRequest) -> Finished:
    while True:
        try:
            return run(request.model, request.suites, limit=request.limit, seed=request.seed, page=False)
        except FolderInUseError:
            time.sleep(SECONDS_BETWEEN_TRIES)


class GateFile(pytest.File):
    """A policy with the runs to compare; its checks are tests."""

    def collect(self) -> Iterator[GateItem]:
        """A test for the verdict and one for every check."""
        try:
            comparisons = self._listed().comparisons
        except AcidtestError as error:
            raise self.CollectError(str(error)) from error
        for number, comparison in enumerate(comparisons):
            titles = tuple(check_title(check) for check in comparison.checks)
            for title in (VERDICT, *titles):
                # Checks are named alike against the baseline and against the anchor.
                name = f"{title} (anchor)" if number else title
                yield GateItem.from_parent(self, name=name, title=title, number=number, listed=titles)

    def _listed(self) -> GateResult:
        """A decision that has the checks of this file: that about the candidate if its answers are there.

        A model is asked only if the user named this file, and not to list tests. Otherwise the baseline is compared
        with itself. If it is a file, it has no subcases; the verdict then names those that failed.
        """
        named = self.session.isinitpath(self.path) and not self.config.option.collectonly
        candidate = self._candidate
        if candidate.exists() if candidate else named:
            # What is wrong with the candidate is shown by the tests.
            with contextlib.suppress(Exception):
                return self.result
        return self._decide(self._baseline)

    @property
    def result(self) -> GateResult:
        """The decision about the candidate, made when it is first asked for; an error is the same for all tests."""
        if isinstance(self._result_or_error, Exception):
            raise self._result_or_error
        return self._result_or_error

    @cached_property
    def _result_or_error(self) -> GateResult | Exception:
        named = self._runs
        asked = {"model": named.model, "suites": named.suites, "limit": named.limit, "seed": named.seed}
        try:
            return self._decide(self._candidate or ask_once(self.config, _request(self.config, asked)))
        except Exception as error:
            return error

    @property
    def _candidate(self) -> Path | None:
        """The run of the candidate; None if a model is to be asked."""
        named = self._runs.candidate
        return self._path_of(named) if named and not self.config.getoption("--acidtest-model") else None

    @cached_property
    def _runs(self) -> PolicyRuns:
        return read_policy(self.path).runs

    @property
    def _baseline(self) -> Path:
        option = self.config.getoption("--acidtest-baseline")
        setting = self.config.getini("acidtest_baseline")
        if option:
            return Path(self.config.invocation_params.dir, str(option))
        if self._runs.baseline:
            return self._path_of(self._runs.baseline)
        if setting:
            return Path(self.config.rootpath, str(setting))
        raise FileError(self.path, "no baseline is named; add --acidtest-baseline PATH, or baseline under [runs]")

    def _path_of(self, path: str) -> Path:
        return self.path.parent / path

    def _decide(self, candidate: Path | Finished) -> GateResult:
        anchor = self._path_of(self._runs.anchor) if self._runs.anchor else None
        return gate(self._baseline, candidate, policy=self.path, margin=_margin(self.config), anchor=anchor)


def _margin(config: pytest.Config) -> float | None:
    setting = config.getini("acidtest_margin")
    try:
        return float(setting) if setting else None
    except ValueError as error:
        raise AcidtestError(f"acidtest_margin is a number of points, not {setting!r}") from error


class GateItem(pytest.Item):
    """One check of a gate as a test."""

    parent: GateFile

    def __init__(self, *, title: str, number: int, listed: tuple[str, ...], **arguments: Any) -> None:
        super().__init__(**arguments)
        self._title, self._number, self._listed = title, number, listed

    def runtest(self) -> None:
        """Fail if the check stops the release; one that is only advised or tolerated is expected to fail.

        An undecided check that can only fail is skipped.
        """
        comparison = self.parent.result.comparisons[self._number]
        kind, text = self._verdict(comparison) if self._title == VERDICT else self._outcome(comparison)
        if kind is Outcome.TOLERATED:
            pytest.xfail(text)
        if kind is Outcome.SKIPPED:
            pytest.skip(text)
        if kind is not Outcome.PASSED:
            raise CheckFailedError(text)

    def _verdict(self, comparison: GateComparison) -> tuple[Outcome, str]:
        self.user_properties.append(("state", comparison.state.value))
        # Checks that are tests themselves say what failed.
        others = (
            f"{check_title(check)}: {describe_outcome(check)}"
            for check in comparison.checks
            if outcome(check, comparison) in (Outcome.FAILED, Outcome.UNDECIDED)
            and check_title(check) not in self._listed
        )
        return state_outcome(comparison.state), "\n".join((self.parent.result.headline, *others, *comparison.notes))

    def _outcome(self, comparison: GateComparison) -> tuple[Outcome, str]:
        check = next((check for check in comparison.checks if check_title(check) == self._title), None)
        if check is None:
            pytest.skip("; ".join(("the runs were not compared on this slice", *comparison.notes)))
        self.user_properties.extend(figures(check).items())
        return outcome(check, comparison), f"{check.state.value}: {describe_outcome(check)}"

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The figures of a check that failed, the message of a user's mistake, or a traceback."""
        if isinstance(excinfo.value, CheckFailedError | AcidtestError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Where the test is, and its name."""
        return self.path, None, self.name
