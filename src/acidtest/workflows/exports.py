"""Export of models to the formats of other programs, compared with the original.

The exporter itself is in ``onnx_export``, which imports more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from acidtest.core.errors import AcidtestError, UnknownNameError

if TYPE_CHECKING:
    from acidtest.workflows.onnx_export import ExportResult

FORMATS = ("onnx",)
"""The formats that a model can be written in."""

SAMPLE = 200
"""Pairs of the starter corpus that the model is asked before and after the export."""

LONG = 60
"""Premises joined into one for the first of these pairs: some code treats long texts differently."""


@dataclass(frozen=True)
class GraphComparison:
    """A graph of an export compared with the checkpoint on some pairs.

    ``difference`` is the largest between any two probabilities, ``equal`` the share of pairs with the same likeliest
    label.
    """

    file: str
    bytes: int
    difference: float
    equal: float


class UnfaithfulError(AcidtestError):
    """An export that answers differently from the checkpoint; nothing of it is kept."""

    def __init__(self, message: str, graphs: Sequence[GraphComparison]) -> None:
        super().__init__(message)
        self.graphs = tuple(graphs)


def export(
    format: str,
    model: str,
    *,
    output: str | Path,
    int8: bool = False,
    labels: str = "",
    label_map: str = "",
) -> ExportResult:
    """Write a model to a folder in another format, whole or not at all, and compare it with the original.

    ``onnx`` takes an ``hf:`` spec and writes what ``onnx:`` reads; ``int8`` adds a graph a quarter the size, which is
    faster and answers a little differently. ``labels`` and ``label_map`` say what the outputs mean where names do not.
    """
    from acidtest.workflows.onnx_export import export_checkpoint

    if format not in FORMATS:
        raise UnknownNameError("format", format, FORMATS)
    return export_checkpoint(model, Path(output), pairs=_sample_pairs(), int8=int8, labels=labels, label_map=label_map)


def _sample_pairs() -> tuple[list[str], list[str]]:
    """Premises and hypotheses from all over the starter corpus, the first premise a long one."""
    from acidtest.io.wordlists import starter_pairs

    rows = starter_pairs().frame.select("premise", "hypothesis").collect()
    rows = rows.gather_every(max(rows.height // SAMPLE, 1)).head(SAMPLE)
    premises, hypotheses = rows["premise"].to_list(), rows["hypothesis"].to_list()
    return [" ".join(premises[:LONG]), *premises[1:]], hypotheses
