"""Models written in the formats of other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from acidtest.core.errors import UnknownNameError
from acidtest.workflows.onnx_comparisons import UnfaithfulError as UnfaithfulError

if TYPE_CHECKING:
    from acidtest.workflows.onnx_export import ExportResult

FORMATS = ("onnx",)
"""What a model can be written as."""

SAMPLE = 200
"""Pairs of the starter corpus that a model is asked before and after."""

LONG = 60
"""Premises that one of these pairs has in place of one: some code takes other ways where texts are long."""


def export(
    format: str,
    model: str,
    *,
    output: str | Path,
    int8: bool = False,
    labels: str = "",
    label_map: str = "",
) -> ExportResult:
    """A model written to a folder in another format, whole or not at all, and compared with what it was.

    ``onnx`` takes an ``hf:`` spec and writes what ``onnx:`` reads; ``int8`` adds a graph a quarter the size, which is
    faster and answers a little differently. ``labels`` and ``label_map`` say what the outputs mean where names do not.
    """
    from acidtest.workflows.onnx_export import export_checkpoint

    if format not in FORMATS:
        raise UnknownNameError("format", format, FORMATS)
    return export_checkpoint(model, Path(output), pairs=_sample(), int8=int8, labels=labels, label_map=label_map)


def _sample() -> tuple[list[str], list[str]]:
    """Pairs from all over the starter corpus."""
    from acidtest.io.starter import starter_pairs

    rows = starter_pairs().frame.select("premise", "hypothesis").collect()
    rows = rows.gather_every(max(rows.height // SAMPLE, 1)).head(SAMPLE)
    premises, hypotheses = rows["premise"].to_list(), rows["hypothesis"].to_list()
    return [" ".join(premises[:LONG]), *premises[1:]], hypotheses
