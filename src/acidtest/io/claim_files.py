"""Turns published files of documents and claims that are not one pair a row into tables that are.

RAGTruth (github.com/ParticleMedia/RAGTruth) has the responses of language models in ``response.jsonl`` and what they
were given in ``source_info.jsonl``; its copy on Hugging Face (wandb/RAGTruth-processed) has both, and counts what was
marked. HaluEval (github.com/RUCAIBox/HaluEval) has a right and a hallucinated text in every row. FaithBench
(github.com/vectara/FaithBench) has all annotations of a summary in its batches.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import polars as pl

from acidtest.core.errors import FileError
from acidtest.io.rows import memory_rows
from acidtest.io.tables import FileTable, Origin, flatten, read_table

_RESPONSES = ("source_id", "labels", "quality", "response")
_SOURCES = ("source_id", "source_info", "prompt")
_SOURCE_FILE = "source_info"

_PROCESSED = ("context", "output", "quality", "hallucination_labels_processed")
_SAMPLES = ("sample_id", "source", "summary", "annotations")

WORST = "worst-label"
"""The column of FaithBench's table with the worst label that an annotator gave a part of a summary."""

_SEVERITY = ("Consistent", "Benign", "Questionable", "Unwanted")

HALLUCINATED = "hallucinated"
"""The column of RAGTruth's table that says whether annotators marked any words of a response."""


@dataclass(frozen=True)
class _TwoTexts:
    """The columns of a file of HaluEval, and what they are called with one text a row."""

    document: str
    right: str
    hallucinated: str
    text: str


_HALUEVAL = (
    _TwoTexts("document", "right_summary", "hallucinated_summary", "summary"),
    _TwoTexts("knowledge", "right_answer", "hallucinated_answer", "answer"),
    _TwoTexts("knowledge", "right_response", "hallucinated_response", "response"),
)


def claim_table(table: FileTable) -> FileTable:
    """The table with one document and claim a row, if it is one of RAGTruth, HaluEval or FaithBench."""
    names = table.columns
    for columns in _HALUEVAL:
        if {columns.document, columns.right, columns.hallucinated} <= {*names} and columns.text not in names:
            return _stack_texts(table, columns)
    if {*_RESPONSES} <= {*names} and "source_info" not in names:
        return _join_sources(table)
    if {*_PROCESSED} <= {*names} and HALLUCINATED not in names:
        return _read_counts(table)
    if {*_SAMPLES} <= {*names} and WORST not in names:
        return _read_annotations(table)
    if {*_SOURCES} <= {*names} and "response" not in names:
        raise FileError(table.path, "holds what RAGTruth's models were given; give the file of their responses instead")
    return table


def _stack_texts(table: FileTable, columns: _TwoTexts) -> FileTable:
    """A row for the right text of each row and one for the hallucinated text, one after the other."""
    texts = pl.concat_list(columns.right, columns.hallucinated).alias(columns.text)
    answers = pl.lit(["no", "yes"]).alias("hallucination")
    frame = table.frame.with_columns(texts, answers).explode(columns.text, "hallucination")
    rows = memory_rows(frame.drop(columns.right, columns.hallucinated))
    return replace(table, rows=rows, line=_halved(table.line))


def _halved(line: Callable[[int], int | None]) -> Callable[[int], int | None]:
    return lambda row: line(row // 2)


def _join_sources(table: FileTable) -> FileTable:
    """RAGTruth's responses, each with its document and whether any of its words were marked as hallucinated.

    A response that refuses or breaks off has no gold (its authors train and test on those of good quality only), since
    a refusal claims nothing and nobody marks words in it.
    """
    ending = table.path.name.removeprefix(table.path.name.split(".")[0])
    path = table.path.with_name(f"{_SOURCE_FILE}{ending}")
    if not path.is_file():
        problem = f"holds RAGTruth's responses without their documents; put {path.name} into the same folder"
        raise FileError(table.path, problem)
    sources = read_table(path)
    missing = [name for name in ("source_id", "source_info") if name not in sources.columns]
    if missing:
        raise FileError(path, f"has no column {missing[0]!r}; copy RAGTruth's file again")
    documents = flatten(sources.frame).with_columns(pl.col("source_id").cast(pl.String)).unique("source_id")
    texts = [_source_texts(cell) for cell in documents["source_info"].cast(pl.String)]
    documents = documents.drop("prompt", strict=False).with_columns(
        source_info=pl.Series([document for document, _ in texts], dtype=pl.String),
        question=pl.Series([question for _, question in texts], dtype=pl.String),
    )
    responses = table.frame.with_columns(pl.col("source_id").cast(pl.String))
    frame = responses.join(documents, on="source_id", how="left", maintain_order="left")
    unknown = frame["source_info"].is_null()
    if unknown.any():
        row = unknown.arg_max() or 0
        problem = f"source_id {frame['source_id'][row]!r} is not in {path.name}; copy both files again"
        raise FileError(table.path, problem, table.line(row))
    spans = pl.col("labels").list.len() if isinstance(frame.schema["labels"], pl.List) else pl.lit(0)
    verdict = pl.when(pl.col("quality") != "good").then(pl.lit("-")).when(spans > 0).then(pl.lit("yes"))
    frame = frame.with_columns(verdict.otherwise(pl.lit("no")).alias(HALLUCINATED), _span_kinds(frame))
    fingerprint = blake2b(f"{table.fingerprint}{sources.fingerprint}".encode(), digest_size=8).hexdigest()
    origins = {"response": Origin(table.path, table.fingerprint), "source_info": Origin(path, sources.fingerprint)}
    rows = memory_rows(frame.drop("labels"))
    return replace(table, rows=rows, fingerprint=fingerprint, origins=origins, name="ragtruth")


def _read_counts(table: FileTable) -> FileTable:
    """RAGTruth's copy on Hugging Face in the columns of RAGTruth; a query is a question only where it asks one."""
    frame = flatten(table.frame)
    counts = [_parse_cell(cell) for cell in frame["hallucination_labels_processed"]]
    if not all(isinstance(count, dict) for count in counts):
        return table
    verdicts = pl.Series(HALLUCINATED, ["yes" if any(count.values()) else "no" for count in counts])
    columns = [pl.when(pl.col("quality") == "good").then(verdicts).otherwise(pl.lit("-")).alias(HALLUCINATED)]
    if {"query", "task_type"} <= {*table.columns}:
        columns.append(pl.when(pl.col("task_type") == "QA").then("query").alias("question"))
    frame = frame.with_columns(columns).rename({"context": "source_info", "output": "response"})
    frame = frame.drop("query", "input_str", "hallucination_labels_processed", strict=False)
    return replace(table, rows=memory_rows(frame), name="ragtruth")


def _read_annotations(table: FileTable) -> FileTable:
    """A batch of FaithBench with the worst label of each summary; one without annotations is consistent."""
    frame = flatten(table.frame)
    cells = [_parse_cell(cell) or [] for cell in frame["annotations"].cast(pl.String)]
    if not all(isinstance(note, dict) and isinstance(note.get("label"), list) for notes in cells for note in notes):
        return table
    worst = [_worst_label([name for note in notes for name in note["label"]]) for notes in cells]
    columns = [pl.Series(WORST, worst)]
    if "metadata" in table.columns:
        details = [_parse_cell(cell) or {} for cell in frame["metadata"].cast(pl.String)]
        columns.append(pl.Series("LLM", [entry.get("summarizer") for entry in details], dtype=pl.String))
        columns += _detector_scores(details, taken=table.columns)
    frame = frame.with_columns(columns).drop("annotations", "metadata", strict=False)
    return replace(table, rows=memory_rows(frame))


def _detector_scores(details: list[dict[str, Any]], *, taken: list[str]) -> list[pl.Series]:
    """A column for each detector whose support scores stand in the metadata of FaithBench: 1 means consistent.

    Scores are floats, also those of detectors that give 0 or 1 only: as integers they could be numbers of classes.
    """
    names = dict.fromkeys(name for entry in details for name in entry)
    scores = {name: [entry.get(name) for entry in details] for name in names if name not in taken}
    return [
        pl.Series(name, values, dtype=pl.Float64, strict=False)
        for name, values in scores.items()
        if all(value is None or (isinstance(value, int | float) and 0 <= value <= 1) for value in values)
        and any(value is not None for value in values)
        and not name.endswith("_id")
    ]


def _worst_label(names: list[str]) -> str:
    """The worst of the labels of a summary, without its kind (``Unwanted.Intrinsic``); an unknown one goes first."""
    unknown = [name for name in names if name.split(".")[0] not in _SEVERITY]
    return unknown[0] if unknown else max((name.split(".")[0] for name in ["Consistent", *names]), key=_SEVERITY.index)


def _parse_cell(cell: str | None) -> Any:
    with suppress(ValueError, TypeError, RecursionError):
        return json.loads(cell or "")
    return None


def _source_texts(cell: str | None) -> tuple[str | None, str | None]:
    """The document in a cell of ``source_info``, and the question it should answer.

    For questions the cell is an object with passages, for descriptions of a business one with its data, which stays as
    it is; else it is the document itself.
    """
    fields = _parse_cell(cell)
    if isinstance(fields, dict) and isinstance(fields.get("passages"), str):
        return fields["passages"].strip(), fields.get("question")
    if isinstance(fields, dict) and "passages" in fields:
        # In a file without plain documents every object has all keys, those of questions too.
        data = {name: value for name, value in fields.items() if name not in ("question", "passages")}
        return json.dumps(data, ensure_ascii=False), None
    return cell, None


def _span_kinds(frame: pl.DataFrame) -> pl.Expr:
    """The kinds of hallucination marked in each response, joined by bars; null where there is none."""
    if not isinstance(frame.schema["labels"], pl.List) or frame.schema["labels"].inner == pl.Null:
        return pl.lit(None, dtype=pl.String).alias("hallucinations")
    kinds = pl.col("labels").list.eval(pl.element().struct.field("label_type")).list.unique().list.sort()
    return pl.when(kinds.list.len() > 0).then(kinds.list.join("|")).alias("hallucinations")
