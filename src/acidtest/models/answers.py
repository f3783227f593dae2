"""``answers:FILE``: predictions in a file, matched to a suite's rows by id, source id or the pair itself.

A file (CSV, TSV, JSON lines or Parquet) identifies its rows by an id column or by premise and hypothesis. Predictions
are a label column, as in HANS's ``pairID,gold_label``, three probability columns or a column of lists. Ids that are not
unique, as in files that join MultiNLI's matched and mismatched pairs, are ignored, and rows are matched by pair.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Literal, cast, get_args

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.errors import AcidtestError, FileError, list_some
from acidtest.core.files import read_bytes
from acidtest.core.logs import log
from acidtest.core.model import MODELS, CompletedModel, Keep, Model, Resolution
from acidtest.core.suite import Suite
from acidtest.io.layouts import LAYOUTS, Layout
from acidtest.io.tables import FileTable, read_table
from acidtest.models.prediction_files import PredictionOptions, parse_order, read_predictions

Missing = Literal["refuse", "unanswered"]
"""What to do with rows of a suite that the file lacks."""


def parse_missing(text: str) -> Missing:
    if text not in get_args(Missing):
        raise AcidtestError(f"--missing is refuse or unanswered, not {text!r}")
    return cast("Missing", text)


class AnswersModel:
    """A file of predictions as a model that knows only the rows of the file."""

    columns: tuple[str, ...] = ("id", "source_id")
    batch_size = 1 << 16
    keep: Keep = "nothing"

    def __init__(
        self,
        path: Path,
        options: PredictionOptions | None = None,
        *,
        missing: Missing = "refuse",
        name: str | None = None,
    ) -> None:
        options = options or PredictionOptions()
        self.path = path
        self.name = name or f"answers:{path.name}"
        self._table, layout = _read_file(path)
        self._missing = missing
        settings = json.dumps([asdict(options), missing], sort_keys=True)
        self.fingerprint = hashlib.blake2b(read_bytes(path) + settings.encode(), digest_size=8).hexdigest()
        if Path(f"{path}.card.json").exists() or '"columns"' in self._table.metadata.get("acidtest", ""):
            problem = "is a suite that acidtest wrote, with gold labels; a file of predictions was expected"
            raise FileError(path, problem)
        predictions = read_predictions(self._table, options, has_pairs=layout is not None)
        self.probabilities = predictions.probabilities
        self.may_abstain = missing == "unanswered" or bool(np.isnan(predictions.values).any())
        self.resolution: Resolution = predictions.resolution
        self._values, self._ids = predictions.values, predictions.ids
        self._pairs: list[tuple[str, str]] = []
        if layout is not None:
            self.columns = ("id", "source_id", "premise", "hypothesis")
            names = {name.lower(): name for name in reversed(self._table.columns)}
            sides = (self._table.frame[names[name]] for name in (layout.premise, layout.hypothesis))
            self._pairs = list(zip(*(side.cast(pl.String).fill_null("") for side in sides), strict=True))
        repeated = _repeated_ids(self._table, self._ids, refuse=layout is None)
        self._row_of_id = {name: row for row, name in enumerate(self._ids) if name is not None and name not in repeated}
        self._row_of_pair = _rows_of_pairs(self._pairs, self._values)

    def check(self, suites: Sequence[Suite]) -> None:
        """Raise an error for ids that no suite has, rows that the file lacks, and texts that differ."""
        suite_of_row: dict[int, str] = {}
        for suite in [*suites, *(suite.control for suite in suites if suite.control)]:
            frame = suite.frame.select("id", "source_id", "premise", "hypothesis").collect()
            rows = self._find_rows(*(frame[name].to_list() for name in self.columns))
            self._refuse_missing(rows, frame, suite.name)
            kept = [place for place, row in enumerate(rows) if row >= 0]
            frame, rows = frame[kept], [rows[place] for place in kept]
            for row in rows:
                if suite_of_row.setdefault(row, suite.name) != suite.name:
                    both = f"{suite_of_row[row]!r} and {suite.name!r}"
                    problem = f"id {self._describe_row(row)!r} is in suites {both}; score them one at a time"
                    raise FileError(self.path, problem)
            self._check_texts(frame, rows, suite.name)
        self._refuse_unknown(suite_of_row, suites)

    def _refuse_missing(self, rows: list[int], frame: pl.DataFrame, suite: str) -> None:
        names = zip(rows, frame["source_id"], frame["id"], strict=True)
        missing = [source or identifier for row, source, identifier in names if row < 0]
        if not missing:
            return
        count = f"{len(missing):,} of {frame.height:,} rows"
        problem = f"{count} of suite {suite!r} have no prediction: {list_some(missing)}"
        if self._missing == "unanswered" and len(missing) < frame.height:
            log.warning("%s: %s; they count as unanswered", self.path, problem)
            return
        key = "its id, its source_id or the pair itself" if self._row_of_pair else "its id or source_id"
        advice = "" if len(missing) == frame.height else "; rows the system did not answer: --missing unanswered"
        raise FileError(self.path, f"{problem}; every row needs one, under {key}{advice}")

    def _refuse_unknown(self, known: Collection[int], suites: Sequence[Suite]) -> None:
        unknown = [row for row in range(len(self._values)) if row not in known]
        if self._row_of_pair:
            # Only one row of a repeated pair is matched; the others are not unknown.
            unknown = [row for row in unknown if self._row_of_pair.get(self._pairs[row], -1) not in known]
        if not unknown:
            return
        if len(unknown) <= sum(suite.card.dropped for suite in suites):
            log.warning("%s: %d predictions for rows without gold are not used", self.path, len(unknown))
            return
        names = ", ".join(repr(suite.name) for suite in suites)
        shown = list_some([self._describe_row(row) for row in unknown])
        problem = f"{len(unknown):,} ids are not in {names}: {shown}; is it another suite's file?"
        raise FileError(self.path, problem, self._table.line(unknown[0]))

    def predict(
        self, ids: Sequence[str], source_ids: Sequence[str | None], *texts: Sequence[str]
    ) -> npt.NDArray[np.float32]:
        """The file's prediction for each row; ``texts`` are premises and hypotheses."""
        rows = self._find_rows(ids, source_ids, *texts)
        missing = [name for name, row in zip(ids, rows, strict=True) if row < 0]
        if missing and self._missing == "refuse":
            raise FileError(self.path, f"no prediction for {len(missing):,} rows: {list_some(missing)}")
        values = self._values[rows]
        values[[row < 0 for row in rows]] = np.nan
        return values

    def _find_rows(self, ids: Sequence[str], source_ids: Sequence[str | None], *texts: Sequence[str]) -> list[int]:
        """The row of the file for each id, else for its source id, else for its pair; -1 where there is none."""
        pairs = zip(*texts, strict=True) if texts else [("", "")] * len(ids)
        by_id, by_pair = self._row_of_id, self._row_of_pair
        return [
            by_id.get(identifier, by_id.get(source or "", by_pair.get(pair, -1)))
            for identifier, source, pair in zip(ids, source_ids, pairs, strict=True)
        ]

    def _describe_row(self, row: int) -> str:
        """The id of a row of the file, or the beginning of its pair."""
        return self._ids[row] or f"{self._pairs[row][0][:40]}…"

    def _check_texts(self, frame: pl.DataFrame, rows: list[int], suite: str) -> None:
        texts = self._table.frame
        for name in sorted({"premise", "hypothesis"} & set(texts.columns), reverse=True):
            for place in (texts[name][rows] != frame[name]).fill_null(True).arg_true().head(1):
                row = rows[place]
                problem = (
                    f"the {name} of {self._describe_row(row)!r} is {texts[name][row]!r}, but in suite {suite!r} it is "
                    f"{frame[name][place]!r}; the predictions were made for other sentences"
                )
                raise FileError(self.path, problem, self._table.line(row))
        if not self._row_of_pair and rows and self._describe_row(rows[0]) != frame["id"][0]:
            unchecked = "whether the model saw these sentences cannot be checked"
            log.warning("%s is matched to suite %s by source id alone: %s", self.path, suite, unchecked)


@MODELS.add("answers")
def answers(rest: str, *, order: str = "", missing: Missing = "refuse") -> Model:
    """The predictions in a file; ``order`` names the labels that the numbers of a list stand for.

    With ``missing="unanswered"``, rows that the file lacks count as unanswered instead of raising an error.
    """
    if not rest:
        raise AcidtestError("answers: needs a file, such as answers:predictions.csv")
    options = PredictionOptions(order=parse_order(order))
    return CompletedModel(AnswersModel(Path(rest), options, missing=missing), f"answers:{rest}")


def _read_file(path: Path) -> tuple[FileTable, Layout | None]:
    """The table in a file, and the layout whose premise and hypothesis columns it has, or None."""
    table = read_table(path)
    names = {name.lower() for name in table.columns}
    layouts = (layout for layout in LAYOUTS if layout.header and {layout.premise, layout.hypothesis} <= names)
    layout = next(layouts, None)
    if layout is not None and layout.quoted is not None:
        # Read with the quoting of the suite's file; otherwise texts would differ.
        table = read_table(path, quoted=layout.quoted)
    return table, layout


def _rows_of_pairs(pairs: Sequence[tuple[str, str]], values: npt.NDArray[np.float32]) -> dict[tuple[str, str], int]:
    """The row of each pair; pairs with several different predictions are left out."""
    rows: dict[tuple[str, str], int] = {}
    ambiguous = set()
    for row, pair in enumerate(pairs):
        if not np.array_equal(values[rows.setdefault(pair, row)], values[row], equal_nan=True):
            ambiguous.add(pair)
    return {pair: row for pair, row in rows.items() if pair not in ambiguous}


def _repeated_ids(table: FileTable, ids: list[str | None], *, refuse: bool) -> frozenset[str]:
    """The ids that more than one row has; an error if there are any and ``refuse`` is true."""
    series = pl.Series(ids, dtype=pl.String)
    repeated = series.filter(series.is_duplicated() & series.is_not_null()).unique(maintain_order=True)
    if len(repeated) and refuse:
        problem = f"{len(repeated):,} ids stand more than once: {list_some(repeated.to_list())}"
        second = int((series == repeated[0]).arg_true()[1])
        raise FileError(table.path, f"{problem}; keep one prediction each", table.line(second))
    return frozenset(repeated.to_list())
