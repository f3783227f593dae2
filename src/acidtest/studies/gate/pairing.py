"""The rows that a baseline and a candidate share, suite by suite, and the slices they fall into.

A row is the same if its id, pair and gold are. A side is a run, or a baseline file, which knows labels and groups but
neither factors nor texts: those come from the other side.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.draws import U64
from acidtest.core.errors import AcidtestError, FileError, list_some
from acidtest.core.labels import GOLD_MASKS, TWO_WAY_LABELS, Collapse
from acidtest.core.run import ModelFacts, Run
from acidtest.core.suite import CATEGORY, CONTROL, CROSS, Card
from acidtest.io.baselines import StoredBaseline, StoredSuite, needed_bits, read_baseline_file
from acidtest.stats.noninferiority import PairedCounts, effective_rows
from acidtest.stats.resampling import Codes, numbered
from acidtest.studies.gate.result import GateSide
from acidtest.studies.scoring.rows import QUESTION, Flags, ScoredRows, listed_flags, score_rows
from acidtest.version import __version__

GOLD_NAMES = tuple(GOLD_MASKS)
"""All names of gold; a row's label is its place among them."""

_DIGEST_BITS = 64


@dataclass(frozen=True)
class SideRows:
    """The rows of one suite on one side."""

    version: int
    digests: U64
    bits: int
    correct: Flags
    label: npt.NDArray[np.uint8]
    groups: Codes
    scored: ScoredRows | None = None
    """The rows with their factors and texts; None for a baseline file."""


@dataclass(frozen=True)
class GateInput:
    """A run or a baseline file to compare."""

    source: str
    run: Run | None = None
    file: StoredBaseline | None = None

    @property
    def model(self) -> ModelFacts:
        return self.run.header.model if self.run else self._file.model

    @property
    def collapse(self) -> Collapse:
        return Collapse.parse(str(self._settings.get("collapse", "argmax")))

    @property
    def suites(self) -> Mapping[str, str]:
        """The signature of every suite."""
        if self.run:
            return {name: card.signature for name, card in self.run.header.suites.items()}
        return {name: suite.signature for name, suite in self._file.suites.items()}

    @property
    def side(self) -> GateSide:
        """What a result says of this side."""
        header = self.run.header if self.run else None
        acidtest = header.versions.get("acidtest", __version__) if header else self._file.acidtest
        digest = hashlib.sha256("\n".join(sorted(self.suites.values())).encode()).hexdigest()[:6]
        signature = (
            f"suites:{len(self.suites)}|h:{digest}|collapse:{self.collapse}|"
            f"limit:{self._settings.get('limit') or 'none'}|model:{self.model.signature}|acidtest:{acidtest}"
        )
        name = (header.name if header else self._file.name) or self.model.name
        return GateSide(name, self.source, signature)

    def is_two_way(self, suite: str) -> bool:
        """Whether the rows of a suite are judged by two labels."""
        if self.run:
            return self.run.header.is_two_way(suite)
        return self.model.resolution == "two-way" or self._file.suites[suite].two_way

    def rows(self, suite: str, *, two_way: bool) -> SideRows:
        """The rows of a suite, two-way if asked for; a baseline file has the verdicts that were written into it only.

        Those by three labels are the same by two if gold is never neutral or contradiction alone.
        """
        if self.run:
            scored = score_rows(self.run, suite, two_way=two_way)
            names = scored.column(pl.col("label"))
            label = names.replace_strict(GOLD_NAMES, range(len(GOLD_NAMES)), return_dtype=pl.UInt8).to_numpy()
            digests, groups = scored.digests(*QUESTION), scored.groups
            return SideRows(scored.card.version, digests, _DIGEST_BITS, scored.correct, label, groups, scored)
        stored = self._file.suites[suite]
        if two_way and not self.is_two_way(suite) and not set(stored.labels) <= {*TWO_WAY_LABELS, "any"}:
            raise AcidtestError(
                f"{self.source}: holds verdicts on {suite} by three labels, and two are compared; give the run folder, "
                f"or write the file again from it: acidtest baseline RUN -o FILE"
            )
        label = np.array([GOLD_NAMES.index(name) for name in stored.labels], dtype=np.uint8)[stored.label]
        return SideRows(stored.version, stored.digests, stored.bits, stored.correct, label, stored.group)

    @property
    def _file(self) -> StoredBaseline:
        if self.file is None:
            raise ValueError("a side is a run or a baseline file")
        return self.file

    @property
    def _settings(self) -> Mapping[str, object]:
        return self.run.header.settings if self.run else self._file.settings


def gate_input(source: object) -> GateInput:
    """A side from a run, an object with a ``run``, a run folder or a baseline file."""
    if isinstance(source, GateInput):
        return source
    run = source if isinstance(source, Run) else getattr(source, "run", None)
    if isinstance(run, Run):
        return GateInput(str(getattr(source, "folder", "") or run.header.name or run.header.model.name), run)
    path = Path(str(source))
    if path.is_file():
        return GateInput(str(path), file=read_baseline_file(path))
    if not path.exists():
        raise FileError(path, "there is no such file or folder; expected a run folder or a baseline file")
    return GateInput(str(path), Run.read(path))


def baseline_of(run: Run) -> StoredBaseline:
    """What a baseline file holds of a run."""
    suites, side, header = {}, GateInput("", run), run.header
    for name, card in header.suites.items():
        rows = side.rows(name, two_way=False)
        order = np.argsort(rows.digests, kind="stable")
        bits = needed_bits(rows.digests)
        used = np.unique(rows.label)
        suites[name] = StoredSuite(
            card.signature,
            card.version,
            tuple(GOLD_NAMES[code] for code in used) or GOLD_NAMES[:1],
            bits,
            rows.digests[order] >> np.uint64(_DIGEST_BITS - bits),
            rows.correct[order],
            np.searchsorted(used, rows.label[order]).astype(np.uint8),
            numbered(rows.groups)[order].astype(np.int32),
            side.is_two_way(name),
        )
    settings = {"collapse": str(header.collapse), "limit": header.settings.get("limit")}
    acidtest = header.versions.get("acidtest", __version__)
    # A spec may name folders of the machine or a server, which are nobody's business where the file is committed.
    model = replace(header.model, spec=header.model.name)
    return StoredBaseline(model, settings, acidtest, suites, header.name)


@dataclass(frozen=True)
class PairedSuite:
    """The rows of a suite that both sides have, in the order of the candidate."""

    name: str
    before: Flags
    """Whether the baseline got each row right."""
    after: Flags
    label: npt.NDArray[np.uint8]
    groups: Codes
    sides: tuple[SideRows, SideRows]
    places: tuple[Codes, Codes]
    """Where the rows are on either side: baseline, candidate."""
    common: int
    """Rows that both sides have, with those for which every answer is right."""
    missing: npt.NDArray[np.int64]
    """How many rows of each label the baseline has and the candidate lacks; those that accept every answer are 0."""

    @property
    def baseline_rows(self) -> int:
        """Rows of the suite in the baseline."""
        return len(self.sides[0].correct)

    @property
    def described(self) -> tuple[ScoredRows, Codes] | None:
        """The side that knows factors and texts, the candidate's if both do, and where the rows are in it."""
        for side, places in zip(reversed(self.sides), reversed(self.places), strict=True):
            if side.scored is not None:
                return side.scored, places
        return None

    @property
    def card(self) -> Card | None:
        return self.described[0].card if self.described else None


@dataclass(frozen=True)
class SliceRows:
    """The paired rows of one slice."""

    name: str
    suite: PairedSuite
    factor: str
    """The factor whose value the rows share; empty for a whole suite."""
    codes: npt.NDArray[np.integer[Any]]
    """A code for every row of the suite, shared by the slices of a factor: there may be millions of rows."""
    code: int

    @property
    def rows(self) -> Flags:
        """Which rows of the suite belong to the slice."""
        return np.asarray(self.codes == self.code)

    @cached_property
    def counts(self) -> PairedCounts:
        """Newly wrong, newly right and all rows."""
        rows = self.rows
        before, after = self.suite.before[rows], self.suite.after[rows]
        return PairedCounts(int((before & ~after).sum()), int((after & ~before).sum()), len(after))

    @property
    def missing(self) -> int:
        """Rows of the baseline that the candidate lacks: of a label, otherwise of the whole suite."""
        return int(self.suite.missing[self.code] if self.factor == "label" else self.suite.missing.sum())

    @cached_property
    def groups(self) -> Codes:
        """The group of every row."""
        return self.suite.groups[self.rows]

    @cached_property
    def group_count(self) -> int:
        """How many groups there are."""
        return len(np.unique(self.groups))

    @cached_property
    def effective(self) -> float:
        """How many independent rows these are worth, whatever was predicted."""
        return effective_rows(self.groups)

    @cached_property
    def effective_in_baseline(self) -> float:
        """How many independent rows the suite, or one label of it, has in the baseline; else the same as ``effective``.

        A candidate cannot change it by lacking rows.
        """
        if not self.missing or self.factor not in ("", "label"):
            return self.effective
        side = self.suite.sides[0]
        chosen = side.label == self.code if self.factor else side.label != GOLD_NAMES.index("any")
        return effective_rows(numbered(side.groups[chosen]))


@dataclass(frozen=True)
class PairedSuites:
    """All suites that two sides share, and what was not compared."""

    suites: tuple[PairedSuite, ...]
    notes: tuple[str, ...] = field(default=())
    missing: Mapping[str, str] = field(default_factory=dict)
    """Suites of the baseline of which no row is compared though it could be, with the reason."""

    @property
    def partial(self) -> list[PairedSuite]:
        """Suites of which the candidate lacks some rows of the baseline."""
        return [suite for suite in self.suites if suite.common < suite.baseline_rows]


def pair_sides(baseline: GateInput, candidate: GateInput) -> PairedSuites:
    """Pair the rows of every suite that both sides have; an error if there is no such row."""
    if str(baseline.collapse) != str(candidate.collapse):
        raise AcidtestError(
            f"the sides were scored with different --collapse: {baseline.source} with {baseline.collapse}, "
            f"{candidate.source} with {candidate.collapse}; score them alike"
        )
    suites, reasons = list[PairedSuite](), dict[str, list[str]]()
    missing = {
        name: "the candidate was not asked this suite"
        for name in baseline.suites
        if name not in candidate.suites and _can_lose(baseline.rows(name, two_way=baseline.is_two_way(name)))
    }
    for name in (name for name in candidate.suites if name in baseline.suites):
        two_way = baseline.is_two_way(name) or candidate.is_two_way(name)
        sides = baseline.rows(name, two_way=two_way), candidate.rows(name, two_way=two_way)
        if sides[0].version != sides[1].version:
            versions = f"version {sides[0].version} and version {sides[1].version}"
            paired, reason = None, f"{versions} of the suite are not compared; ask the baseline's model again"
        else:
            paired, reason = _pair(name, sides)
        if reason:
            reasons.setdefault(reason, []).append(name)
        if not paired and _can_lose(sides[0]):
            missing[name] = reason
        if paired and not _is_repeated(paired, suites):
            suites.append(paired)
    notes = [*_unshared(baseline, candidate), *(f"{list_some(names)}: {reason}" for reason, names in reasons.items())]
    if not suites:
        listed = "; ".join(notes) or "neither has any rows"
        raise AcidtestError(f"{baseline.source} and {candidate.source} share no row to compare: {listed}")
    if baseline.file and candidate.file:
        notes.append("both sides are baseline files: subcases and categories need a run folder on one side")
    return PairedSuites(tuple(suites), tuple(notes), missing)


def _can_lose(side: SideRows) -> bool:
    """Whether an answer to some row can be wrong."""
    return bool((side.label != GOLD_NAMES.index("any")).any())


def _unshared(baseline: GateInput, candidate: GateInput) -> Iterator[str]:
    for side, other, name in ((baseline, candidate, "the baseline"), (candidate, baseline, "the candidate")):
        alone = [suite for suite in side.suites if suite not in other.suites]
        if alone:
            yield f"only {name} has {list_some(alone)}: not compared"


def _pair(name: str, sides: tuple[SideRows, SideRows]) -> tuple[PairedSuite | None, str]:
    """The rows of a suite that both sides have, and a note on the others; None if there are none."""
    bits = min(side.bits for side in sides)
    keys = [side.digests >> np.uint64(side.bits - bits) for side in sides]
    _, before, after = np.intersect1d(keys[0], keys[1], return_indices=True)
    order = np.argsort(after)
    before, after = before[order], after[order]
    left = [len(side.correct) - len(after) for side in sides]
    note = ""
    if any(left):
        pairs = f"{left[0]:,} rows of the baseline and {left[1]:,} of the candidate"
        reason = "have no row of the same id, pair and gold on the other side, and are not compared"
        note = f"{pairs} {reason}"
    common = len(after)
    lacking = np.bincount(np.delete(sides[0].label, before), minlength=len(GOLD_NAMES))
    lacking[GOLD_NAMES.index("any")] = 0
    if not common:
        return None, "no row in common; were other seeds, options or corpora used?"
    # A row for which every answer is right shows no loss.
    judged = sides[1].label[after] != GOLD_NAMES.index("any")
    before, after = before[judged], after[judged]
    if not len(after):
        return None, "every answer counts as right, so that nothing is compared"
    groups = sides[1].groups[after] if sides[1].scored else sides[0].groups[before]
    return PairedSuite(
        name,
        sides[0].correct[before],
        sides[1].correct[after],
        sides[1].label[after],
        numbered(groups),
        sides,
        (before, after),
        common,
        lacking,
    ), note


def _is_repeated(paired: PairedSuite, suites: Sequence[PairedSuite]) -> bool:
    """Whether a control has the rows of an earlier control."""

    def rows(suite: PairedSuite) -> U64:
        side = suite.sides[1]
        return np.sort(side.digests[suite.places[1]] >> np.uint64(max(side.bits - 32, 0)))

    if not paired.name.endswith(CONTROL):
        return False
    return any(
        suite.name.endswith(CONTROL) and np.array_equal(rows(paired), rows(suite))
        for suite in suites
        if len(suite.after) == len(paired.after)
    )


def subcase_factors(card: Card) -> tuple[str, ...]:
    """The factors whose values are subcases or categories: what a card declares as strata, categories and crossings.

    A file of one's own declares none; all its factors count.
    """
    declared = (*card.strata[:1], *((CATEGORY,) if card.categories else ()), *map(CROSS.join, card.crossings))
    return declared or (card.factors if card.seed is None else ())


def all_slices(suite: PairedSuite) -> Iterator[SliceRows]:
    """The whole suite, then its slices by label, categories, factors, lists and crossings."""
    yield SliceRows(suite.name, suite, "", np.zeros(len(suite.after), dtype=np.int8), 0)
    for code in np.unique(suite.label):
        yield SliceRows(f"{suite.name}:label={GOLD_NAMES[code]}", suite, "label", suite.label, int(code))
    if suite.described is None:
        return
    scored, places = suite.described
    card = scored.card
    for factor in dict.fromkeys((CATEGORY, *card.factors, *card.lists, *map(CROSS.join, card.crossings))):
        for value, codes, code in _factor_slices(scored, factor, places):
            yield SliceRows(f"{suite.name}:{factor}={value}", suite, factor, codes, code)


def _factor_slices(scored: ScoredRows, factor: str, places: Codes) -> Iterator[tuple[str, Codes, int]]:
    """The values of a factor that some of the rows have, with the codes of rows and the value's code."""
    card = scored.card
    flags: Mapping[str, Flags] = {}
    if factor == CATEGORY and card.categories:
        flags = {name: scored.column(pl.col(name).fill_null(False)).to_numpy() for name in card.categories}
    elif factor in card.lists:
        flags = listed_flags(scored.column(pl.col(factor)))
    elif factor in card.factors or CROSS in factor:
        columns = pl.col(factor.split(CROSS)).cast(pl.String)
        codes, values = scored.coded(pl.concat_str(columns, separator=CROSS).alias("value"))
        paired = codes[places]
        for code in np.unique(paired):
            if (value := values["value"][int(code)]) is not None:
                yield value, paired, int(code)
    for name, belongs in flags.items():
        if belongs[places].any():
            yield name, belongs[places].astype(np.int8), 1
