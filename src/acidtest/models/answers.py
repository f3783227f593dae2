"""``answers:FILE``: predictions in a file, matched to a suite's rows by id, source id, the pair itself or their order.

A file (CSV, TSV, JSON lines or Parquet) identifies its rows by an id column or by premise and hypothesis. Predictions
are a label column, as in HANS's ``pairID,gold_label``, probabilities or support scores. Ids that are not unique, as in
files that join MultiNLI's matched and mismatched pairs, are ignored, and rows are matched by pair. Rows in the order of
the suite's file need no ids if the user says so. Source ids without texts count only for pairs read from a file: those
of a suite that acidtest made from it are other pairs.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Literal, cast, get_args

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.errors import AcidtestError, FileError, list_some
from acidtest.core.files import chunks
from acidtest.core.logs import log
from acidtest.core.model import MODELS, CompletedModel, Keep, Model, Resolution
from acidtest.core.suite import Suite
from acidtest.corpora.files import question_column
from acidtest.corpora.questions import join_questions
from acidtest.io.claim_files import claim_table
from acidtest.io.layouts import LAYOUTS
from acidtest.io.tables import FileTable, read_table
from acidtest.models.label_maps import check_gold_order
from acidtest.models.prediction_files import (
    ID_COLUMNS,
    PredictionOptions,
    column_text,
    drop_opaque_columns,
    missing_column,
    parse_order,
    read_predictions,
)

Missing = Literal["refuse", "unanswered"]
"""What to do with rows of a suite that the file lacks."""

MIN_SHARE_OF_TEXTS = 0.5
"""The least share of a column that must be premises of a suite for the column to be taken for its premises."""

_TEXTS = ("premise", "hypothesis")


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
        in_order: bool = False,
        name: str | None = None,
        trust_labels: bool = False,
    ) -> None:
        options = options or PredictionOptions()
        self._options, self._trusted = options, trust_labels
        self.path = path
        self.name = name or f"answers:{path.name}"
        self._table, self._texts = _read_file(path, options)
        self._missing, self._in_order = missing, in_order
        settings = json.dumps([asdict(options), missing, *(["in order"] if in_order else [])], sort_keys=True)
        digest = hashlib.blake2b(digest_size=8)
        for piece in chain(chunks(path), [settings.encode()]):
            digest.update(piece)
        self.fingerprint = digest.hexdigest()
        if Path(f"{path}.card.json").exists() or '"columns"' in self._table.metadata.get("acidtest", ""):
            problem = "is a suite that acidtest wrote, with gold labels; a file of predictions was expected"
            raise FileError(path, problem)
        has_pairs = len(self._texts) == len(_TEXTS)
        predictions = read_predictions(self._table, options, has_pairs=has_pairs)
        self._remedy = predictions.remedy
        self.probabilities = predictions.probabilities
        self.may_abstain = missing == "unanswered" or bool(np.isnan(predictions.values).any())
        self.resolution: Resolution = predictions.resolution
        self._values, self._ids, self._id_column = predictions.values, predictions.ids, predictions.id_column
        self._pairs: list[tuple[str, str]] = []
        if has_pairs and not in_order:
            self.columns = ("id", "source_id", *_TEXTS)
            self._pairs = list(zip(*(self._texts[name].fill_null("") for name in _TEXTS), strict=True))
        self._row_of_id: dict[str, int] = {}
        if not in_order:
            repeated = _repeated_ids(self._table, self._ids, refuse=not has_pairs)
            self._row_of_id = {
                name: row for row, name in enumerate(self._ids) if name is not None and name not in repeated
            }
        self._row_of_pair = _rows_of_pairs(self._pairs, self._values)

    def check(self, suites: Sequence[Suite]) -> None:
        """Raise an error for ids that no suite has, rows that the file lacks, and texts that differ."""
        if self._in_order:
            self._row_of_id = self._number_rows(suites)
        else:
            self._require_ids(suites)
        suite_of_row: dict[int, str] = {}
        for suite in [*suites, *(suite.control for suite in suites if suite.control)]:
            frame = suite.frame.select("id", "source_id", "premise", "hypothesis").collect()
            rows = self._find_rows(*(frame[name].to_list() for name in self.columns))
            self._refuse_missing(rows, frame, suite, suites)
            kept = [place for place, row in enumerate(rows) if row >= 0]
            frame, rows = frame[kept], [rows[place] for place in kept]
            for row in rows:
                if suite_of_row.setdefault(row, suite.name) != suite.name:
                    both = f"{suite_of_row[row]!r} and {suite.name!r}"
                    problem = f"id {self._describe_row(row)!r} is in suites {both}; score them one at a time"
                    raise FileError(self.path, problem)
            self._check_texts(frame, rows, suite)
        self._refuse_unknown(suite_of_row, suites)

    def _number_rows(self, suites: Sequence[Suite]) -> dict[str, int]:
        """The row of the file for each id, if the rows of both are in the same order."""
        whole = [*suites, *(suite.control for suite in suites if suite.control)]
        if len(whole) != 1:
            names = ", ".join(suite.name for suite in whole)
            raise AcidtestError(f"--in-order takes predictions for one suite, but these are several: {names}")
        suite, count = suites[0], len(self._values)
        ids = suite.frame.select("id", "source_id").collect()
        left_out = suite.without_gold if suite.without_gold is not None else np.empty(0, dtype=np.int64)
        places = np.arange(len(ids))
        if count == len(ids) + len(left_out):
            places = np.setdiff1d(np.arange(count), left_out)
        elif count != len(ids):
            also = f", or {len(ids) + len(left_out):,} with those without gold" if len(left_out) else ""
            problem = f"has {count:,} rows, but suite {suite.name!r} has {len(ids):,}{also}; --in-order needs as many"
            raise FileError(self.path, problem)
        if not self._has_row_numbers():
            self._refuse_other_order(ids, places.tolist(), suite)
        return dict(zip(ids["id"], places.tolist(), strict=True))

    def _has_row_numbers(self) -> bool:
        """Whether the rows have no ids, or are numbered from 0 or 1."""
        given = [identifier for identifier in self._ids if identifier is not None]
        return not given or any(given == [str(row + first) for row in range(len(self._ids))] for first in (0, 1))

    def _refuse_other_order(self, ids: pl.DataFrame, places: Sequence[int], suite: Suite) -> None:
        """Raise for ids that --in-order would ignore: those of the suite in another order, or those of other pairs."""
        known = {name for column in ids for name in column.drop_nulls()}
        if not known.intersection(filter(None, self._ids)):
            if suite.origin is None and len(self._texts) < len(_TEXTS):
                problem = (
                    f"id {self._describe_row(places[0])!r} is not in suite {suite.name!r}, which acidtest made: the "
                    f"predictions are those of other pairs. Score them with the file they were made for (--suite "
                    f"FILE); if they are in the order of this suite, leave the column of ids out"
                )
                raise FileError(self.path, problem, self._table.line(places[0]))
            return
        for row, names in zip(places, ids.iter_rows(), strict=True):
            if self._ids[row] is not None and self._ids[row] not in names:
                problem = f"id {self._ids[row]!r} is in another place in suite {suite.name!r}; leave --in-order out"
                raise FileError(self.path, problem, self._table.line(row))

    def _require_ids(self, suites: Sequence[Suite]) -> None:
        """Raise if rows have neither ids nor pairs to recognise them by."""
        if self._pairs or None not in self._ids:
            return
        order = self._suggest_order(suites)
        if self._id_column is None:
            raise missing_column(self._table, "id column", "id", ID_COLUMNS, order)
        row = self._ids.index(None)
        raise FileError(self.path, f"column {self._id_column!r} is empty here{order}", self._table.line(row))

    def _suggest_order(self, suites: Sequence[Suite]) -> str:
        """The advice to match rows by their order; empty if the numbers of rows differ."""
        whole = [*suites, *(suite.control for suite in suites if suite.control)]
        if len(whole) != 1 or not self._has_row_numbers():
            return ""
        rows = whole[0].frame.select(pl.len()).collect().item()
        if len(self._values) not in (rows, rows + whole[0].card.dropped):
            return ""
        return f"; if its {len(self._values):,} rows are in the order of the suite's: --in-order"

    def check_label_order(self, rows: pl.DataFrame, *, suite: str, options: Mapping[str, str], decisive: bool) -> None:
        """Compare the labels that the file declares with gold."""

        def remedy(exchange: Mapping[str, str]) -> str:
            option, columns = self._remedy(exchange), {**self._options.columns}
            if not option:
                return f"replace each score in {shlex.quote(str(self.path))} by 1 minus the score"
            kept = [f"{role}={name}" for role, name in columns.items() if role in ("id", "label")]
            if option.startswith("--columns "):
                option = ",".join([option, *(part for part in kept if part.startswith("id="))])
            elif kept:
                option += f" --columns {shlex.quote(','.join(kept))}"
            option += f" --missing {self._missing}" if self._missing != "refuse" else ""
            option += " --in-order" if self._in_order else ""
            # score takes --columns for the predictions, and whole suites.
            of_suites = {("--suite-columns" if name == "--columns" else name): text for name, text in options.items()}
            of_suites.pop("--limit", None)
            return f"acidtest score {shlex.join([str(self.path), *filter(None, chain(*of_suites.items()))])} {option}"

        where = f"{self.path} on {suite}"
        check_gold_order(
            rows, resolution=self.resolution, where=where, decisive=decisive, remedy=remedy, trusted=self._trusted
        )

    def _refuse_missing(self, rows: list[int], frame: pl.DataFrame, suite: Suite, suites: Sequence[Suite]) -> None:
        names = zip(rows, frame["source_id"], frame["id"], strict=True)
        missing = [source or identifier for row, source, identifier in names if row < 0]
        if not missing:
            return
        count = f"{len(missing):,} of {frame.height:,} rows"
        problem = f"{count} of suite {suite.name!r} have no prediction: {list_some(missing)}"
        if self._missing == "unanswered" and len(missing) < frame.height:
            log.warning("%s: %s; they count as unanswered", self.path, problem)
            return
        key = "its id, its source_id or the pair itself" if self._row_of_pair else "its id or source_id"
        advice = self._suggest_order(suites)
        if len(missing) < frame.height:
            advice += "; rows the system did not answer: --missing unanswered"
        elif suite.origin is None and not advice:
            advice = (
                f"; acidtest made this suite, and its ids are its own: predictions for a published file are scored "
                f"with that file, --suite FILE (the first id here is {self._describe_row(0)!r})"
            )
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
        """The id of a row of the file, or the beginning of its pair, or its number."""
        return self._ids[row] or (f"{self._pairs[row][0][:40]}…" if self._pairs else f"row {row + 1:,}")

    def _check_texts(self, frame: pl.DataFrame, rows: list[int], suite: Suite) -> None:
        known = self._texts or self._find_texts(frame)
        for name, texts in known.items():
            for place in (texts[rows] != frame[name]).fill_null(True).arg_true().head(1):
                row = rows[place]
                problem = (
                    f"the {name} of {self._describe_row(row)!r} is {texts[row]!r}, but in suite {suite.name!r} it is "
                    f"{frame[name][place]!r}; the predictions were made for other sentences"
                )
                raise FileError(self.path, problem, self._table.line(row))
        if known:
            return
        if self._in_order:
            log.warning("%s: its rows are matched to suite %s by order alone", self.path, suite.name)
            return
        by_source = [row for row, name in zip(rows, frame["id"], strict=True) if self._describe_row(row) != name]
        if not by_source:
            return
        if suite.origin is None:
            problem = (
                f"{len(by_source):,} ids, such as {self._describe_row(by_source[0])!r}, are those of the pairs that "
                f"suite {suite.name!r} was made from; whether the model saw the suite's pairs cannot be checked. "
                f"Score the published file (--suite FILE), or give the ids or the texts of the suite's pairs"
            )
            raise FileError(self.path, problem, self._table.line(by_source[0]))
        unchecked = "whether the model saw these sentences cannot be checked"
        log.warning("%s is matched to suite %s by source id alone: %s", self.path, suite.name, unchecked)

    def _find_texts(self, frame: pl.DataFrame) -> dict[str, pl.Series]:
        """Premises or hypotheses in columns of any name: at least half of their texts are those of the suite's rows."""
        found = dict[str, pl.Series]()
        for name in _TEXTS:
            own = frame[name].unique().implode()
            for column in self._table.frame.select(pl.col(pl.String).exclude([self._id_column or ""])):
                share = column.is_in(own).mean()
                if name not in found and isinstance(share, float) and share >= MIN_SHARE_OF_TEXTS:
                    found[name] = column
        return found


@MODELS.add("answers")
def answers(
    rest: str, *, order: str = "", missing: Missing = "refuse", in_order: bool = False, trust_labels: bool = False
) -> Model:
    """The predictions in a file; ``order`` names the labels that the numbers of a list stand for.

    With ``missing="unanswered"``, rows that the file lacks count as unanswered instead of raising an error. With
    ``in_order``, its rows are those of the suite in the same order, and need no ids. ``trust_labels`` keeps labels that
    gold contradicts.
    """
    if not rest:
        raise AcidtestError("answers: needs a file, such as answers:predictions.csv")
    options = PredictionOptions(order=parse_order(order))
    model = AnswersModel(Path(rest), options, missing=missing, in_order=in_order, trust_labels=trust_labels)
    return CompletedModel(model, f"answers:{rest}")


def _read_file(path: Path, options: PredictionOptions) -> tuple[FileTable, dict[str, pl.Series]]:
    """The table in a file, and the premises and hypotheses in it, or one of them, under our names."""
    table = drop_opaque_columns(claim_table(read_table(path)), options.columns)
    names = {name.lower(): name for name in reversed(table.columns)}
    layouts = [layout for layout in LAYOUTS if layout.header and {layout.premise, layout.hypothesis} <= names.keys()]
    columns = {name: names[name] for name in _TEXTS if name in names}
    for layout in layouts[:1]:
        if layout.quoted is not None:
            # Read with the quoting of the suite's file; otherwise texts would differ.
            table = drop_opaque_columns(read_table(path, quoted=layout.quoted), options.columns)
        columns = {"premise": names[layout.premise], "hypothesis": names[layout.hypothesis]}
    texts = {name: column_text(table, column, name) for name, column in columns.items()}
    if layouts and (question := question_column(table, layouts[0])):
        texts["hypothesis"] = join_questions(table.frame[question].cast(pl.String), texts["hypothesis"])
    return table, texts


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
