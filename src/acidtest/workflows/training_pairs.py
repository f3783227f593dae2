"""Pairs to train and score networks on: files and suites, what is left out of them, and what stands in both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from acidtest.core.apportionment import apportioned
from acidtest.core.draws import U64, Draws
from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.logs import log, note
from acidtest.core.suite import Suite
from acidtest.suites.catalogue import SUITES, resolve_names
from acidtest.workflows.batteries import Reading, generate, load

if TYPE_CHECKING:
    from acidtest.zoo.pairs import Pairs
    from acidtest.zoo.study import Study

AUGMENTED_SEED = 1
"""The seed of suites that are trained on: not the one that suites are tested with."""

File = str | Path | Suite


@dataclass(frozen=True)
class Material:
    """What is trained on: files, suites made besides, and what is held back of them."""

    train: Sequence[File]
    dev: File | None = None
    tests: Sequence[File] = ()
    augment: Sequence[str | Suite] = ()
    augment_seed: int = AUGMENTED_SEED
    augment_n: int | None = None
    """Rows of each cell (subcase, category) of an augmenting suite."""
    withhold: Sequence[str] = ()
    """Subcases of the augmenting suites that are left out (McCoy et al. 2019, tables 12 to 16)."""
    limit: int | None = None
    """Learn from so many of the pairs of the files, in the proportions of files and labels."""
    reading: Reading | None = None


@dataclass(frozen=True)
class Part:
    """The pairs of a file or suite, and how many of its rows were left out: for want of gold, or for standing in
    the files that networks are scored on."""

    name: str
    pairs: Pairs
    without_gold: int = 0
    repeated: int = 0


@dataclass(frozen=True)
class Gathered:
    """All pairs of a training."""

    files: Sequence[Part]
    suites: Sequence[Part]
    dev: Part | None
    tests: Sequence[Part]

    @cached_property
    def train(self) -> Pairs:
        """All pairs to learn from."""
        from acidtest.zoo.pairs import Pairs

        parts = (*self.files, *self.suites)
        origins = tuple((part.name, len(part.pairs)) for part in parts)
        rows = np.concatenate([part.pairs.own_rows for part in parts])
        return Pairs(pl.concat([part.pairs.frame for part in parts]), origins, rows)

    @cached_property
    def leaks(self) -> Mapping[str, int]:
        """How many pairs of each file that networks are scored on are also learnt from, where there are any."""
        own = self.train.keys
        scored = (*([self.dev] if self.dev else []), *self.tests)
        counts = {part.name: int(np.isin(part.pairs.keys, own).sum()) for part in scored}
        return {name: count for name, count in counts.items() if count}


def gathered(material: Material, study: Study) -> Gathered:
    """The pairs a training asks for, with the columns that its network reads; what is amiss is said."""
    if not material.train:
        raise AcidtestError("there is nothing to train on; name a file with --train")
    if material.withhold and not material.augment:
        raise AcidtestError("--withhold leaves subcases out of what --augment adds; there is no --augment")
    files = [_part(each, study, material.reading) for each in material.train]
    dev = None if material.dev is None else _part(material.dev, study, material.reading)
    tests = [_part(each, study, material.reading) for each in material.tests]
    suites = [_part(suite, study, None) for suite in _augmenting(material)]
    scored = [part.pairs.keys for part in (*([dev] if dev else []), *tests)]
    suites = [_disjoint(part, scored) for part in suites]
    found = Gathered(_sampled(files, material.limit), suites, dev, tests)
    if not len(found.train):
        raise AcidtestError("there is nothing to train on: no pair of --train has gold")
    right = found.train.targets(study.labels)
    for column, label in enumerate(study.labels):
        if not right[:, column].any():
            log.warning("no pair to learn from is %s: the network will not tell it from the others", label)
    for part in suites:
        note("%s: %s pairs are learnt from, too", part.name, f"{len(part.pairs):,}")
    for name, count in found.leaks.items():
        log.warning("%s: %s of its pairs are also learnt from, so scores on it are too good", name, f"{count:,}")
    return found


def _part(given: File, study: Study, reading: Reading | None) -> Part:
    from acidtest.zoo.pairs import pairs_of

    suite = given if isinstance(given, Suite) else load(given, reading=reading)
    name = suite.name if isinstance(given, Suite) else str(given)
    have = suite.frame.collect_schema()
    lacking = [column for column in study.columns if column not in have]
    for column in lacking:
        if column not in study.may_lack:
            raise AcidtestError(f"{name}: has no {column}, which {study.architecture} reads; choose another file")
    frame = suite.frame.with_columns(pl.lit(None, dtype=pl.String).alias(column) for column in lacking).collect()
    pairs = pairs_of(frame, study.columns, name)
    with pairs.named():
        pairs.targets(study.labels)
    return Part(name, pairs, suite.card.dropped)


def _augmenting(material: Material) -> list[Suite]:
    """The suites that are learnt from besides files, without what is withheld of them."""
    if not material.augment:
        return []
    suites = [suite for suite in material.augment if isinstance(suite, Suite)]
    for name in resolve_names([name for name in material.augment if isinstance(name, str)]):
        if name in SUITES:
            suites.append(generate(name, n=material.augment_n, seed=material.augment_seed))
        else:
            suites.append(load(name, reading=material.reading))
    return [replace(suite, frame=_without(suite, material.withhold)) for suite in suites]


def _without(suite: Suite, withheld: Sequence[str]) -> pl.LazyFrame:
    """The rows of other subcases than those withheld; each of these must be there."""
    if not withheld:
        return suite.frame
    if "subcase" not in suite.frame.collect_schema():
        raise AcidtestError(f"suite {suite.name!r} has no subcases to withhold")
    known = sorted(suite.frame.select(pl.col("subcase").unique()).collect().to_series())
    for name in withheld:
        if name not in known:
            raise UnknownNameError(f"subcase of {suite.name}", name, known)
    return suite.frame.filter(~pl.col("subcase").is_in(list(withheld)))


def _disjoint(part: Part, scored: Sequence[U64]) -> Part:
    """An augmenting suite without the pairs that networks are scored on."""
    if not scored:
        return part
    there = np.isin(part.pairs.keys, np.concatenate(scored))
    if not there.any():
        return part
    note("%s: %s pairs that also stand in --dev or --test are not learnt from", part.name, f"{int(there.sum()):,}")
    return replace(part, pairs=part.pairs.only(~there), repeated=int(there.sum()))


def _sampled(parts: Sequence[Part], limit: int | None) -> list[Part]:
    """So many of the pairs, in the proportions of parts and labels. A pair's draw depends on its sentences alone, so
    that a smaller sample is, but for rounding, part of a larger one."""
    sizes = [(number, label, count) for number, part in enumerate(parts) for label, count in part.pairs.labels.items()]
    total = sum(count for _, _, count in sizes)
    if limit is not None and limit > total:
        note("--limit %s: there are only %s pairs", f"{limit:,}", f"{total:,}")
    if limit is None or limit >= total:
        return list(parts)
    if limit < 1:
        raise AcidtestError(f"--limit is a number of pairs from 1 on, not {limit}")
    counts = [count for _, _, count in sizes]
    quotas = {
        (number, label): quota
        for (number, label, _), quota in zip(sizes, apportioned(limit, counts, most=counts).tolist(), strict=True)
    }
    found = []
    for number, part in enumerate(parts):
        draw = pl.Series(Draws(0, "training limit").bits(part.pairs.keys))
        quota = pl.col("label").replace_strict({label: quotas[number, label] for label in part.pairs.labels})
        place = pl.col("draw").rank("ordinal").over("label")
        kept = part.pairs.frame.select("label", draw=draw).select(place <= quota).to_series().to_numpy()
        found.append(replace(part, pairs=part.pairs.only(kept)))
    return found
