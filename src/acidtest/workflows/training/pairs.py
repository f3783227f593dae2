"""Pairs to train and score networks on, from files and suites, and checks for pairs that are used for both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from acidtest.core.draws import U64, Draws, apportion
from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.logs import log, note
from acidtest.core.suite import Suite
from acidtest.suites.catalogue import find_generator, resolve_names
from acidtest.workflows.batteries import Reading, generate, load

if TYPE_CHECKING:
    from acidtest.zoo.pairs import TrainingPairs
    from acidtest.zoo.training import TrainingOptions

AUGMENTED_SEED = 1
"""The seed of suites to train on; suites to test with have another."""

Source = str | Path | Suite


@dataclass(frozen=True)
class Material:
    """The training material: files, generated suites, and the subcases withheld from them."""

    train: Sequence[Source]
    dev: Source | None = None
    tests: Sequence[Source] = ()
    augment: Sequence[str | Suite] = ()
    augment_seed: int = AUGMENTED_SEED
    augment_n: int | None = None
    """Rows of each cell (subcase, category) of an augmenting suite."""
    withhold: Sequence[str] = ()
    """Subcases of the augmenting suites that are left out (McCoy et al. 2019, tables 12 to 16)."""
    limit: int | None = None
    """Train on a sample of this many pairs of the files, in the proportions of files and labels."""
    reading: Reading | None = None


@dataclass(frozen=True)
class SourcePairs:
    """The pairs of a file or suite, and how many rows were left out: those without gold, and those in scored files."""

    name: str
    pairs: TrainingPairs
    without_gold: int = 0
    repeated: int = 0


@dataclass(frozen=True)
class GatheredPairs:
    """All pairs of a training."""

    files: Sequence[SourcePairs]
    suites: Sequence[SourcePairs]
    dev: SourcePairs | None
    tests: Sequence[SourcePairs]

    @cached_property
    def train(self) -> TrainingPairs:
        from acidtest.zoo.pairs import TrainingPairs

        return TrainingPairs(pl.concat([part.pairs.frame for part in (*self.files, *self.suites)]))

    @cached_property
    def scored(self) -> tuple[SourcePairs, ...]:
        return (*([self.dev] if self.dev else []), *self.tests)

    @cached_property
    def leaks(self) -> Mapping[str, int]:
        """The number of pairs of each scored file that are also trained on, where there are any."""
        counts = {part.name: int(np.isin(part.pairs.keys, self.train.keys).sum()) for part in self.scored}
        return {name: count for name, count in counts.items() if count}


def gather_pairs(material: Material, plan: TrainingOptions) -> GatheredPairs:
    """The pairs of a training, with the columns that its network reads; warns of missing labels and of leaks."""
    if not material.train:
        raise AcidtestError("there is nothing to train on; name a file with --train")
    if material.withhold and not material.augment:
        raise AcidtestError("--withhold leaves subcases out of what --augment adds; there is no --augment")
    files = [_read_source(source, plan, material.reading) for source in material.train]
    dev = None if material.dev is None else _read_source(material.dev, plan, material.reading)
    tests = [_read_source(source, plan, material.reading) for source in material.tests]
    data = GatheredPairs(_sample(files, material.limit), [], dev, tests)
    suites = [_read_source(suite, plan, None) for suite in _augmenting_suites(material)]
    scored = [part.pairs.keys for part in data.scored]
    data = replace(data, suites=[_without_scored_pairs(part, scored) for part in suites])
    if not len(data.train):
        raise AcidtestError("there is nothing to train on: no pair of --train has gold")
    _warn_of_gaps(data, plan.labels)
    return data


def _warn_of_gaps(data: GatheredPairs, labels: Sequence[str]) -> None:
    targets = data.train.targets(labels)
    for column, label in enumerate(labels):
        if not targets[:, column].any():
            log.warning("no pair to learn from is %s: the network will not tell it from the others", label)
    for part in data.suites:
        note("%s: %s pairs are learnt from, too", part.name, f"{len(part.pairs):,}")
    for name, count in data.leaks.items():
        log.warning("%s: %s of its pairs are also learnt from, so scores on it are too good", name, f"{count:,}")


def _read_source(source: Source, plan: TrainingOptions, reading: Reading | None) -> SourcePairs:
    from acidtest.zoo.catalogue import architecture
    from acidtest.zoo.pairs import select_pairs

    kind = architecture(plan.architecture)
    suite = source if isinstance(source, Suite) else load(source, reading=reading)
    name = suite.name if isinstance(source, Suite) else str(source)
    schema = suite.frame.collect_schema()
    missing = [column for column in kind.columns if column not in schema]
    for column in missing:
        if column not in kind.may_lack:
            raise AcidtestError(f"{name}: has no {column}, which {kind.name} reads; choose another file")
    frame = suite.frame.with_columns(pl.lit(None, dtype=pl.String).alias(column) for column in missing).collect()
    pairs = select_pairs(frame, kind.columns, name)
    with pairs.locate_errors():
        pairs.targets(plan.labels)
    return SourcePairs(name, pairs, suite.card.dropped)


def _augmenting_suites(material: Material) -> list[Suite]:
    """The suites to train on besides the files, without the withheld subcases."""
    if not material.augment:
        return []
    suites = [suite for suite in material.augment if isinstance(suite, Suite)]
    for name in resolve_names([name for name in material.augment if isinstance(name, str)]):
        if find_generator(name):
            suites.append(generate(name, n=material.augment_n, seed=material.augment_seed))
        else:
            suites.append(load(name, reading=material.reading))
    return [replace(suite, frame=_without_subcases(suite, material.withhold)) for suite in suites]


def _without_subcases(suite: Suite, withheld: Sequence[str]) -> pl.LazyFrame:
    if not withheld:
        return suite.frame
    if "subcase" not in suite.frame.collect_schema():
        raise AcidtestError(f"suite {suite.name!r} has no subcases to withhold")
    known = sorted(suite.frame.select(pl.col("subcase").unique()).collect().to_series())
    for name in withheld:
        if name not in known:
            raise UnknownNameError(f"subcase of {suite.name}", name, known)
    return suite.frame.filter(~pl.col("subcase").is_in(list(withheld)))


def _without_scored_pairs(part: SourcePairs, scored: Sequence[U64]) -> SourcePairs:
    """An augmenting suite without the pairs that networks are scored on."""
    repeated = np.isin(part.pairs.keys, np.concatenate(scored)) if scored else np.zeros(0, dtype=np.bool_)
    if not repeated.any():
        return part
    count = int(repeated.sum())
    note("%s: %s pairs that also stand in --dev or --test are not learnt from", part.name, f"{count:,}")
    return replace(part, pairs=part.pairs.only(~repeated), repeated=count)


def _sample(parts: Sequence[SourcePairs], limit: int | None) -> list[SourcePairs]:
    """A sample of ``limit`` pairs, in the proportions of parts and labels; all pairs if there is no limit.

    A pair's draw depends on its sentences alone: apart from rounding, a smaller sample is part of a larger one.
    """
    sizes = [(number, label, count) for number, part in enumerate(parts) for label, count in part.pairs.labels.items()]
    total = sum(count for _, _, count in sizes)
    if limit is not None and limit > total:
        note("--limit %s: there are only %s pairs", f"{limit:,}", f"{total:,}")
    if limit is None or limit >= total:
        return list(parts)
    if limit < 1:
        raise AcidtestError(f"--limit is a number of pairs from 1 on, not {limit}")
    counts = [count for _, _, count in sizes]
    shares = apportion(limit, counts, most=counts).tolist()
    quotas = {(number, label): quota for (number, label, _), quota in zip(sizes, shares, strict=True)}
    samples = []
    for number, part in enumerate(parts):
        draw = pl.Series(Draws(0, "training limit").bits(part.pairs.keys))
        quota = pl.col("label").replace_strict({label: quotas[number, label] for label in part.pairs.labels})
        place = pl.col("draw").rank("ordinal").over("label")
        kept = part.pairs.frame.select("label", draw=draw).select(place <= quota).to_series().to_numpy()
        samples.append(replace(part, pairs=part.pairs.only(kept)))
    return samples
