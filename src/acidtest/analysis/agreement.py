"""How far people agree who labelled the same rows: Fleiss' kappa, overall and by label, and human performance.

Kappa is that of Fleiss (1971), overall and by label, and for rows with different numbers of labels that of Fleiss,
Levin and Paik (2003), section 18.3, as in Stata's ``kappa``: one minus the disagreement observed within rows over the
one expected by chance. Rows with fewer than two labels say nothing of agreement and are left out.

The standard error of Fleiss, Nee and Landis (1979) holds where people agree by chance only and makes no interval (Gwet
2021). Here a jackknife over groups gives the variance, and the interval is a t interval on Fisher's scale, with degrees
of freedom that fall as groups contribute unevenly to it: the best of nine compared (docs/agreement.md).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.special import stdtrit

from acidtest.analysis.intervals import rate
from acidtest.analysis.published import CORPUS, PublishedScore, published_scores
from acidtest.core.estimate import Estimate
from acidtest.core.labels import GOLD_MASKS, LABELS

SCHEMA = 1
PUBLISHED = "label agreement"
"""Under which papers' agreement and human performance stand among published numbers."""

MAJORITY, UNANIMOUS = "majority", "unanimous"
VOTES = (MAJORITY, "plurality", UNANIMOUS)
"""Where gold comes from when no column holds it: what most, or all, of a row's own labels are."""

METHOD = "t interval on Fisher's scale, jackknife over {unit}"

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_FEWEST_DEGREES = 4.0


@dataclass(frozen=True)
class Ratings:
    """How many people gave each row each label, with the gold of the rows (null: none) and their groups."""

    name: str
    labels: tuple[str, ...]
    counts: Counts
    gold: pl.Series
    gold_from: str = MAJORITY
    """The column that holds gold, or one of ``VOTES`` where it was found from the labels themselves."""
    groups: npt.NDArray[np.int64] | None = None
    """A code for the source sentence of each row; None: every row is its own group."""
    corpus: str = ""
    """The published corpus that this is, or is part of."""
    signature: str = ""


@dataclass(frozen=True)
class LabelAgreement:
    """What there is to say of one label."""

    given: int
    """How often people gave it."""
    gold: int
    """Rows whose gold it is."""
    kappa: Estimate
    kappa_with_gold: Estimate
    """On rows with gold only."""

    def to_json(self) -> dict[str, Any]:
        """As --json prints it."""
        kappas = {"kappa": self.kappa.to_json(), "kappa_with_gold": self.kappa_with_gold.to_json()}
        return {"given": self.given, "gold": self.gold, **kappas}


@dataclass(frozen=True)
class Agreement:
    """How far people agree on a file's rows, the published numbers beside it."""

    name: str
    rows: int
    rated: int
    """Rows with two labels or more; the others are left out of everything but counts."""
    given: int
    """Labels that people gave, on all rows."""
    fewest: int
    most: int
    """Labels of the row that has fewest, and most, among those with two or more."""
    with_gold: int
    gold_from: str
    labels: Mapping[str, LabelAgreement]
    kappa: Estimate
    kappa_with_gold: Estimate
    """On rows with gold only, as papers have it: rows on which people could not agree are not among them."""
    observed: Estimate
    """Share of pairs of labels that agree, a mean over rows."""
    human: Estimate
    """Share of a row's labels that are its gold, a mean over rows with gold."""
    corpus: str = ""
    published: tuple[PublishedScore, ...] = ()
    signature: str = ""
    discarded: Mapping[str, int] = field(default_factory=dict)
    """Items that a questionnaire discards, by reason; they are not among the rows."""
    questionnaire: str = ""

    @property
    def all_have_gold(self) -> bool:
        """Whether all rows that kappa rests on have gold, so that both kappas are one."""
        return self.kappa_with_gold.n == self.kappa.n

    def published_value(self, statistic: str, label: str | None = None) -> float | None:
        """What the paper has, or None."""
        by = {CORPUS: self.corpus, "statistic": statistic} | ({"label": label} if label else {})
        return next((score.value for score in self.published if score.by == by), None)

    def to_json(self) -> dict[str, Any]:
        """As --json prints it."""
        return {
            "schema": SCHEMA,
            "name": self.name,
            "rows": self.rows,
            "rated": self.rated,
            "given": self.given,
            "labels_per_row": [self.fewest, self.most],
            "with_gold": self.with_gold,
            "gold_from": self.gold_from,
            "kappa": self.kappa.to_json(),
            "kappa_with_gold": self.kappa_with_gold.to_json(),
            "labels": {name: label.to_json() for name, label in self.labels.items()},
            "observed_agreement": self.observed.to_json(),
            "human_performance": self.human.to_json(),
            "questionnaire": self.questionnaire or None,
            "discarded": dict(self.discarded),
            "corpus": self.corpus or None,
            "published": [score.to_json() for score in self.published],
            "signature": self.signature,
        }


def agreement(ratings: Ratings, *, draws_seed: int = 0) -> Agreement:
    """Everything there is to say of how far people agree."""
    counts, groups = ratings.counts, ratings.groups
    has_gold = ratings.gold.is_not_null().to_numpy()
    of_rows = counts.sum(axis=1)
    rated = of_rows[of_rows >= 2]
    return Agreement(
        name=ratings.name,
        rows=len(counts),
        rated=len(rated),
        given=int(of_rows.sum()),
        fewest=int(rated.min()) if len(rated) else 0,
        most=int(rated.max()) if len(rated) else 0,
        with_gold=int(has_gold.sum()),
        gold_from=ratings.gold_from,
        labels=_by_label(ratings, has_gold),
        kappa=fleiss_kappa(counts, groups=groups),
        kappa_with_gold=fleiss_kappa(counts[has_gold], groups=_taken(groups, has_gold)),
        observed=observed_agreement(counts, groups=groups, draws_seed=draws_seed),
        human=human_performance(ratings, draws_seed=draws_seed),
        corpus=ratings.corpus,
        published=_published(ratings.corpus),
        signature=ratings.signature,
    )


def fleiss_kappa(counts: npt.ArrayLike, *, groups: npt.ArrayLike | None = None, confidence: float = 0.95) -> Estimate:
    """Agreement beyond chance, at most 1; 0 is chance. ``counts``: rows × labels, how many people said so.

    Rows with fewer than two labels are left out. No rows, or one label for all: NaN with a note.
    """
    sums = _sums(counts, groups)
    if sums is None:
        return Estimate(math.nan, note="no row with two labels or more")
    return _estimate(sums, None, confidence=confidence)


def label_kappas(
    counts: npt.ArrayLike, *, groups: npt.ArrayLike | None = None, confidence: float = 0.95
) -> list[Estimate]:
    """The kappa of each label against all others taken together."""
    sums = _sums(counts, groups)
    if sums is None:
        return [Estimate(math.nan, note="no row with two labels or more")] * np.asarray(counts).shape[1]
    return [_estimate(sums, label, confidence=confidence) for label in range(sums.labels)]


def observed_agreement(counts: npt.ArrayLike, *, groups: npt.ArrayLike | None = None, draws_seed: int = 0) -> Estimate:
    """Share of the pairs of labels within a row that are the same, a mean over rows with two labels or more."""
    table = np.asarray(counts, dtype=np.float64)
    of_rows = table.sum(axis=1)
    rated = of_rows >= 2
    if not rated.any():
        return Estimate(math.nan, note="no row with two labels or more")
    agreeing = (table * (table - 1)).sum(axis=1)[rated] / (of_rows * (of_rows - 1))[rated]
    return rate(agreeing, groups=_taken(groups, rated), draws_seed=draws_seed)


def human_performance(ratings: Ratings, *, draws_seed: int = 0) -> Estimate:
    """Share of a row's labels that are its gold, a mean over rows with gold.

    As in Gong, Luo and Zhang (2018), whom Glockner et al. (2018) follow. Rows with one label are left out, and those
    with two where gold is the vote of these: such gold is always right. A gold set such as non-entailment accepts all
    of its labels.
    """
    if ratings.gold_from == UNANIMOUS:
        return Estimate(math.nan, note="gold is what everybody said, so that everybody is right")
    fewest = 3 if ratings.gold_from in VOTES else 2
    of_rows = ratings.counts.sum(axis=1)
    used = ratings.gold.is_not_null().to_numpy() & (of_rows >= fewest)
    if not used.any():
        return Estimate(math.nan, note=f"no row with gold and {'three' if fewest == 3 else 'two'} labels or more")
    right = (ratings.counts * _accepted(ratings)).sum(axis=1)[used] / of_rows[used]
    return rate(right, groups=_taken(ratings.groups, used), draws_seed=draws_seed)


def label_counts(said: pl.DataFrame, labels: Sequence[str], *, rows: int) -> Counts:
    """How often each label was given to each of so many rows; ``said`` has the columns row and label."""
    codes = {label: code for code, label in enumerate(labels)}
    counts = np.zeros((rows, len(labels)), dtype=np.int64)
    places = said["label"].replace_strict(codes, return_dtype=pl.Int64).to_numpy()
    np.add.at(counts, (said["row"].to_numpy(), places), 1)
    return counts


def majority_labels(counts: npt.ArrayLike, labels: Sequence[str]) -> pl.Series:
    """The label that more than half of a row's labels are, null where there is none."""
    table = np.asarray(counts, dtype=np.int64).reshape(-1, max(len(labels), 1))
    found = 2 * table > table.sum(axis=1, keepdims=True)
    names = [labels[place] if any_ else None for place, any_ in zip(found.argmax(1), found.any(1), strict=True)]
    return pl.Series("gold", names, dtype=pl.String)


def ordered_labels(labels: Sequence[str]) -> list[str]:
    """Labels in the order they are shown: those of NLI first, others by name."""
    known = [*LABELS, *(name for name in GOLD_MASKS if name not in LABELS)]
    return sorted(set(labels), key=lambda name: (known.index(name) if name in known else len(known), name))


@dataclass(frozen=True)
class _Sums:
    """What kappa is made of, a row for each group.

    The first column holds how many labels there are beyond one for each row. Then come, for every label, how often it
    was given, and last the sum of x(m - x)/m, where x of a row's m labels are this one.
    """

    totals: Floats
    rows: int
    labels: int

    @property
    def groups(self) -> int:
        """How many there are."""
        return len(self.totals)

    @property
    def unit(self) -> str:
        """What a group is."""
        return "rows" if self.groups == self.rows else "groups"

    def kappa(self, label: int | None) -> float:
        """Of everything; of one label, or overall."""
        return float(self._kappas(self.totals.sum(axis=0, keepdims=True), label)[0])

    def kappas_without(self, label: int | None) -> Floats:
        """Of everything but one group, for each group."""
        return self._kappas(self.totals.sum(axis=0) - self.totals, label)

    def given(self, label: int) -> float:
        """How often people gave a label."""
        return float(self.totals[:, 1 + label].sum())

    def _kappas(self, totals: Floats, label: int | None) -> Floats:
        spare, given, apart = np.split(totals, [1, 1 + self.labels], axis=1)
        shares = given / np.maximum(given.sum(axis=1, keepdims=True), 1)
        chosen = slice(None) if label is None else slice(label, label + 1)
        expected = (shares * (1 - shares))[:, chosen].sum(axis=1)
        # Leaving a group out of sums of fractions comes close to nothing without reaching it.
        defined = (expected > 1e-12) & (spare[:, 0] > 0)
        chance = np.where(defined, spare[:, 0] * expected, 1.0)
        return np.where(defined, 1 - apart[:, chosen].sum(axis=1) / chance, np.nan)


def _sums(counts: npt.ArrayLike, groups: npt.ArrayLike | None) -> _Sums | None:
    table = np.asarray(counts, dtype=np.float64)
    of_rows = table.sum(axis=1)
    rated = of_rows >= 2
    if not rated.any():
        return None
    table, of_rows = table[rated], of_rows[rated, None]
    columns = np.concatenate([of_rows - 1, table, table * (of_rows - table) / of_rows], axis=1)
    if groups is not None:
        codes = np.unique(np.asarray(groups)[rated], return_inverse=True)[1]
        columns = np.stack([np.bincount(codes, column) for column in columns.T], axis=1, dtype=np.float64)
    return _Sums(columns, len(table), table.shape[1])


def _estimate(sums: _Sums, label: int | None, *, confidence: float) -> Estimate:
    value, n, groups, unit = sums.kappa(label), sums.rows, sums.groups, sums.unit
    if math.isnan(value):
        return Estimate(math.nan, n=n, groups=groups, note=_why_undefined(sums, label))
    if math.isclose(value, 1):
        return Estimate(1.0, n=n, groups=groups, note="they agree on every row: no interval")
    if groups == 1:
        return Estimate(value, n=n, groups=1, note=f"one {unit[:-1]} only: no interval")
    without = sums.kappas_without(label)
    if np.isnan(without).any():
        return Estimate(value, n=n, groups=groups, note=f"it rests on one of the {unit}: no interval")
    parts = (without - without.mean()) ** 2 * (groups - 1) / groups
    variance = float(parts.sum())
    if variance < 1e-24:
        return Estimate(value, n=n, groups=groups, note=f"all {unit} are alike: no interval")
    # Satterthwaite: twice the squared variance over the variance of the variance.
    unevenness = float(((parts - parts.mean()) ** 2).sum())
    degrees = 2 * variance**2 / unevenness * (groups - 1) / groups if unevenness > 0 else math.inf
    degrees = min(max(degrees, _FEWEST_DEGREES), groups - 1)
    reach = float(stdtrit(degrees, (1 + confidence) / 2)) * math.sqrt(variance) / (1 - value**2)
    low, high = (math.tanh(math.atanh(value) + sign * reach) for sign in (-1, 1))
    return Estimate(value, low, high, n, groups, METHOD.format(unit=unit))


def _why_undefined(sums: _Sums, label: int | None) -> str:
    if label is not None and not sums.given(label):
        return "nobody gave this label"
    return "everybody gave the same label: chance alone agrees"


def _accepted(ratings: Ratings) -> npt.NDArray[np.bool_]:
    """Rows × labels: whether a label is right by the row's gold."""
    masks = {name: GOLD_MASKS.get(name, 0) for name in (*ratings.labels, *ratings.gold.drop_nulls().unique())}
    right = np.zeros(ratings.counts.shape, dtype=np.bool_)
    for place, label in enumerate(ratings.labels):
        golds = [gold for gold, mask in masks.items() if gold == label or (masks[label] and masks[label] & ~mask == 0)]
        right[:, place] = ratings.gold.is_in(golds).fill_null(False).to_numpy()
    return right


def _by_label(ratings: Ratings, has_gold: npt.NDArray[np.bool_]) -> dict[str, LabelAgreement]:
    """Each label that somebody gave or that is gold."""
    counts, groups = ratings.counts, ratings.groups
    golds = Counter(ratings.gold.drop_nulls().to_list())
    kappas = label_kappas(counts, groups=groups)
    settled = label_kappas(counts[has_gold], groups=_taken(groups, has_gold))
    found = {
        name: LabelAgreement(int(counts[:, place].sum()), golds[name], kappas[place], settled[place])
        for place, name in enumerate(ratings.labels)
    }
    none = Estimate(math.nan, note="nobody gave this label")
    found |= {name: LabelAgreement(0, golds[name], none, none) for name in golds if name not in found}
    return {name: found[name] for name in ordered_labels(list(found))}


def _published(corpus: str) -> tuple[PublishedScore, ...]:
    return tuple(score for score in published_scores(PUBLISHED) if corpus and score.by[CORPUS] == corpus)


def _taken(groups: npt.ArrayLike | None, rows: npt.NDArray[np.bool_]) -> npt.NDArray[Any] | None:
    return None if groups is None else np.asarray(groups)[rows]
