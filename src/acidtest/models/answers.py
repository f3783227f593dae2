"""``answers:FILE`` — predictions somebody already has, matched to a suite's rows by id, source id or the pair itself.

A file has an id column, or premises and hypotheses, and either a label column (HANS's ``pairID,gold_label`` among them)
or three probability columns; CSV, TSV, JSON lines or Parquet. An id that stands more than once, as in files made of
MultiNLI's matched and mismatched pairs, says nothing; then the pair does.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.errors import AcidtestError, FileError, UnknownNameError, some
from acidtest.core.files import read_bytes
from acidtest.core.labels import LABELS, gold_name, one_hot
from acidtest.core.logs import log
from acidtest.core.model import MODELS, CompletedModel, Keep, Model, Resolution
from acidtest.core.suite import Suite
from acidtest.core.tables import Table, read_table
from acidtest.sources.layouts import LAYOUTS, Layout

ID_COLUMNS = ("id", "pairid", "pair_id", "source_id", "uid", "row_id", "index")
PREDICTION_COLUMNS = ("prediction", "predicted", "predicted_label", "pred_label", "pred", "answer")
LABEL_COLUMNS = ("gold_label", "label")
"""What prediction files in HANS's layout call their predictions; taken only when no other column holds labels."""

ALLOWED = (*LABELS, "non-entailment")
ROLES = ("id", "label", *LABELS)
_TOLERANCE = 1e-3


@dataclass(frozen=True)
class _Answers:
    ids: list[str | None]
    values: npt.NDArray[np.float32]
    probabilities: bool
    resolution: Resolution


class AnswersModel:
    """A file of predictions as a model; it knows only the rows it has."""

    columns: tuple[str, ...] = ("id", "source_id")
    batch_size = 1 << 16
    keep: Keep = "nothing"

    def __init__(
        self,
        path: Path,
        columns: Mapping[str, str] | None = None,
        label_map: Mapping[str, str] | None = None,
        *,
        name: str | None = None,
    ) -> None:
        self.path = path
        self.name = name or f"answers:{path.name}"
        self._table, layout = _read(path)
        said = json.dumps([dict(columns or {}), dict(label_map or {})], sort_keys=True)
        self.fingerprint = hashlib.blake2b(read_bytes(path) + said.encode(), digest_size=8).hexdigest()
        if Path(f"{path}.card.json").exists() or '"columns"' in self._table.metadata.get("acidtest", ""):
            raise FileError(
                path, "is a suite that acidtest wrote, with gold labels; a file of predictions was expected"
            )
        found = _answers(self._table, columns or {}, label_map or {}, has_pairs=layout is not None)
        self.probabilities = found.probabilities
        self.resolution: Resolution = found.resolution
        self._values = found.values
        self._ids, self._texts = found.ids, _texts(self._table, layout)
        doubled = _doubled(self._table, found.ids, refused=layout is None)
        self._row = {name: row for row, name in enumerate(found.ids) if name is not None and name not in doubled}
        self._pair = _places(self._texts, found.values)
        if layout is not None:
            self.columns = ("id", "source_id", "premise", "hypothesis")

    def check(self, suites: Sequence[Suite]) -> None:
        """Refuse ids the suites do not have, rows the file does not have, and texts that differ."""
        shared: dict[int, str] = {}
        for suite in [*suites, *(suite.control for suite in suites if suite.control)]:
            frame = suite.frame.select("id", "source_id", "premise", "hypothesis").collect()
            rows = self._rows(*(frame[name].to_list() for name in self.columns))
            self._refuse_missing(rows, frame, suite.name)
            for row in rows:
                if shared.setdefault(row, suite.name) != suite.name:
                    both = f"{shared[row]!r} and {suite.name!r}"
                    raise FileError(
                        self.path, f"id {self._called(row)!r} is in suites {both}; score them one at a time"
                    )
            self._check_texts(frame, rows, suite.name)
        self._refuse_unknown(shared, suites)

    def _refuse_missing(self, rows: list[int], frame: pl.DataFrame, suite: str) -> None:
        names = zip(rows, frame["source_id"], frame["id"], strict=True)
        missing = [source or identifier for row, source, identifier in names if row < 0]
        if missing:
            how = "its id, its source_id or the pair itself" if self._pair else "its id or source_id"
            raise FileError(
                self.path,
                f"{len(missing):,} of {frame.height:,} rows of suite {suite!r} have no prediction: "
                f"{some(missing)}; every row needs one, under {how}",
            )

    def _refuse_unknown(self, known: Collection[int], suites: Sequence[Suite]) -> None:
        unknown = [row for row in range(len(self._values)) if row not in known]
        if self._pair:
            # A pair that stands twice is found by one of its rows.
            unknown = [row for row in unknown if self._pair.get(self._texts[row], -1) not in known]
        if not unknown:
            return
        if len(unknown) <= sum(suite.card.dropped for suite in suites):
            log.warning("%s: %d predictions for rows without gold are not used", self.path, len(unknown))
            return
        names = ", ".join(repr(suite.name) for suite in suites)
        raise FileError(
            self.path,
            f"{len(unknown):,} ids are not in {names}: {some([self._called(row) for row in unknown])}; "
            f"is it another suite's file?",
            self._table.line(unknown[0]),
        )

    def predict(
        self, ids: Sequence[str], source_ids: Sequence[str | None], *texts: Sequence[str]
    ) -> npt.NDArray[np.float32]:
        """The file's prediction for each row; ``texts`` are premises and hypotheses."""
        rows = self._rows(ids, source_ids, *texts)
        missing = [name for name, row in zip(ids, rows, strict=True) if row < 0]
        if missing:
            raise FileError(self.path, f"no prediction for {len(missing):,} rows: {some(missing)}")
        return self._values[rows]

    def _rows(self, ids: Sequence[str], source_ids: Sequence[str | None], *texts: Sequence[str]) -> list[int]:
        """Where each row stands in this file, by its id, or else its source id, or else its pair; -1: nowhere."""
        pairs = zip(*texts, strict=True) if texts else [("", "")] * len(ids)
        return [
            self._row.get(identifier, self._row.get(source or "", self._pair.get(pair, -1)))
            for identifier, source, pair in zip(ids, source_ids, pairs, strict=True)
        ]

    def _called(self, row: int) -> str:
        """What a row of the file is called: its id, or the beginning of its pair."""
        return self._ids[row] or f"{self._texts[row][0][:40]}…"

    def _check_texts(self, frame: pl.DataFrame, rows: list[int], suite: str) -> None:
        given = self._table.frame
        names = [name for name in ("premise", "hypothesis") if name in given.columns]
        for name in names:
            differs = (given[name][rows] != frame[name]).fill_null(True)
            if differs.any():
                row = int(differs.arg_max() or 0)
                raise FileError(
                    self.path,
                    f"the {name} of {self._called(rows[row])!r} is {given[name][rows[row]]!r}, but in suite {suite!r} "
                    f"it is {frame[name][row]!r}; the predictions were made for other sentences",
                    self._table.line(rows[row]),
                )
        if not self._pair and rows and self._called(rows[0]) != frame["id"][0]:
            log.warning(
                "%s is matched to suite %s by source id alone: whether the model saw these sentences cannot be checked",
                self.path,
                suite,
            )


@MODELS.add("answers")
def answers(rest: str) -> Model:
    """The predictions in a file."""
    if not rest:
        raise AcidtestError("answers: needs a file, such as answers:predictions.csv")
    return CompletedModel(AnswersModel(Path(rest)), f"answers:{rest}")


def _read(path: Path) -> tuple[Table, Layout | None]:
    """The file, and the layout whose names its premises and hypotheses have, where it has them."""
    table = read_table(path)
    names = {name.lower() for name in table.columns}
    layout = next((each for each in LAYOUTS if each.header and {each.premise, each.hypothesis} <= names), None)
    if layout is not None and layout.quoted is not None:
        # Read as the suite's own file is, or its texts would differ.
        table = read_table(path, quoted=layout.quoted)
    return table, layout


def _texts(table: Table, layout: Layout | None) -> list[tuple[str, str]]:
    """The premise and the hypothesis of each row; none without a layout."""
    if layout is None:
        return []
    names = {name.lower(): name for name in reversed(table.columns)}
    sides = [table.frame[names[name]].cast(pl.String).fill_null("") for name in (layout.premise, layout.hypothesis)]
    return list(zip(*sides, strict=True))


def _places(texts: Sequence[tuple[str, str]], values: npt.NDArray[np.float32]) -> dict[tuple[str, str], int]:
    """Where each pair stands; one with different predictions is found by its id or not at all."""
    found: dict[tuple[str, str], int] = {}
    differing = set()
    for row, pair in enumerate(texts):
        if not np.array_equal(values[found.setdefault(pair, row)], values[row]):
            differing.add(pair)
    return {pair: row for pair, row in found.items() if pair not in differing}


def _answers(table: Table, columns: Mapping[str, str], label_map: Mapping[str, str], *, has_pairs: bool) -> _Answers:
    for ours, theirs in columns.items():
        if ours not in ROLES:
            raise UnknownNameError("column of predictions", ours, ROLES, " (--columns)")
        if theirs not in table.frame.columns:
            raise FileError(table.path, str(UnknownNameError("column", theirs, table.frame.columns, " (--columns)")))
    names = {name.lower(): name for name in reversed(table.frame.columns)}
    ids = columns.get("id") or _first(names, ID_COLUMNS)
    if ids is None and not has_pairs:
        raise _absent(table, "id column", "id", ID_COLUMNS)
    missing = pl.Series([None] * table.frame.height, dtype=pl.String)
    identifiers = missing if ids is None else table.frame[ids].cast(pl.String)
    if identifiers.null_count() and not has_pairs:
        row = int(identifiers.is_null().arg_max() or 0)
        raise FileError(table.path, f"column {ids!r} is empty here", table.line(row))
    chances = [columns.get(label) for label in LABELS] if any(label in columns for label in LABELS) else _chances(names)
    if all(chances) and "label" not in columns:
        values = _probabilities(table, [str(name) for name in chances])
        # A run's own predictions say whether neutral there means non-entailment.
        facts = json.loads(table.metadata.get("acidtest", "{}"))
        return _Answers(
            identifiers.to_list(),
            values,
            probabilities=bool(facts.get("probabilities", True)),
            resolution=facts.get("resolution", "three-way"),
        )
    labels = _labels(table, columns.get("label") or _label_column(table, names), label_map)
    resolution: Resolution = "two-way" if "non-entailment" in labels else "three-way"
    return _Answers(identifiers.to_list(), one_hot(labels), probabilities=False, resolution=resolution)


def _first(names: Mapping[str, str], wanted: Sequence[str]) -> str | None:
    return next((names[name] for name in wanted if name in names), None)


def _chances(names: Mapping[str, str]) -> list[str | None]:
    """The three columns of probabilities, where there are any."""
    for pattern in ("{}", "p_{}", "prob_{}", "{}_prob", "{}_probability"):
        found = [names.get(pattern.format(label)) for label in LABELS]
        if all(found):
            return found
    return [None]


def _label_column(table: Table, names: Mapping[str, str]) -> str:
    """The column of predicted labels; refused when another column could be it."""
    predicted = [names[name] for name in PREDICTION_COLUMNS if name in names]
    likely = predicted or [names[name] for name in LABEL_COLUMNS if name in names]
    if not likely:
        wanted = (*PREDICTION_COLUMNS, *LABEL_COLUMNS)
        raise _absent(table, "label column, nor one per label's probability", "label", wanted)
    others = (
        [] if predicted else [name for name in table.frame.columns if name != likely[0] and _holds_labels(table, name)]
    )
    if len(likely) + len(others) > 1:
        both = " and ".join(repr(name) for name in dict.fromkeys([*likely, *others]))
        raise FileError(table.path, f"{both} could all hold the predictions; say which with --columns label=NAME")
    if not predicted and {"premise", "sentence1"} & set(names):
        log.warning("%s: column %r is taken for the predictions; is it the gold?", table.path, likely[0])
    return likely[0]


def _holds_labels(table: Table, name: str) -> bool:
    column = table.frame[name]
    return column.dtype == pl.String and all(value and gold_name(value) in ALLOWED for value in column.unique())


def _absent(table: Table, what: str, role: str, wanted: Sequence[str]) -> FileError:
    return FileError(
        table.path,
        f"has no {what}; it has {', '.join(table.frame.columns)}, and one of {', '.join(wanted)} was expected: "
        f"name it with acidtest score … --columns {role}=NAME",
    )


def _labels(table: Table, column: str, label_map: Mapping[str, str]) -> list[str]:
    for target in label_map.values():
        if target not in ALLOWED:
            raise UnknownNameError("label", target, ALLOWED, " (--label-map)")
    spellings = table.frame[column].cast(pl.String).fill_null("")
    meaning = {spelling: label_map.get(spelling) or gold_name(spelling) for spelling in spellings.unique()}
    unknown = ~spellings.is_in([spelling for spelling, name in meaning.items() if name in ALLOWED])
    if unknown.any():
        row = int(unknown.arg_max() or 0)
        raise FileError(
            table.path,
            f"label {spellings[row]!r} is not {', '.join(ALLOWED)}; say what it means with "
            f"acidtest score … --label-map {spellings[row] or 'LABEL'}=entailment",
            table.line(row),
        )
    return [str(meaning[spelling]) for spelling in spellings]


def _probabilities(table: Table, columns: list[str]) -> npt.NDArray[np.float32]:
    frame = table.frame.select(pl.col(name).cast(pl.Float32, strict=False) for name in columns)
    values = frame.to_numpy().astype(np.float32)
    with np.errstate(invalid="ignore"):
        wrong = ~((values >= 0).all(axis=1) & (np.abs(values.sum(axis=1) - 1) <= _TOLERANCE))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        shown = ", ".join(str(value) for value in table.frame.select(columns).row(row))
        raise FileError(
            table.path, f"{shown} are not three probabilities that add up to 1 ({', '.join(columns)})", table.line(row)
        )
    return values


def _doubled(table: Table, ids: list[str | None], *, refused: bool) -> frozenset[str]:
    """The ids that stand more than once, by which no row can be found; refused where nothing else tells rows apart."""
    series = pl.Series(ids, dtype=pl.String)
    doubled = series.filter(series.is_duplicated() & series.is_not_null()).unique(maintain_order=True)
    if len(doubled) and refused:
        second = int(np.flatnonzero((series == doubled[0]).to_numpy())[1])
        raise FileError(
            table.path,
            f"{len(doubled):,} ids stand more than once: {some(doubled.to_list())}; keep one prediction for each",
            table.line(second),
        )
    return frozenset(doubled.to_list())
