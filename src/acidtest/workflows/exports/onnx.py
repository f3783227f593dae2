"""Models as ONNX graphs, compared with the original. The exporter is in ``onnx_export``, which imports more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from acidtest.models.encoders.onnx_graphs import GRAPHS
from acidtest.workflows.exports import ExportCheckError, export_format

FORMAT = "onnx"

PLAIN, INT8 = GRAPHS

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


@dataclass(frozen=True)
class ExportResult:
    """The graphs that were written, the labels of their outputs, and the number of pairs they were compared on."""

    model: str
    folder: Path
    graphs: tuple[GraphComparison, ...]
    labels: tuple[str, ...]
    notes: tuple[str, ...]
    pairs: int

    @property
    def paths(self) -> tuple[Path, ...]:
        """The paths to name after ``onnx:``; that of the graph in float32 is the folder."""
        return tuple(self.folder if graph.file == PLAIN else self.folder / graph.file for graph in self.graphs)

    def describe(self) -> str:
        compared = [
            f"{graph.file}: {graph.bytes / 1e6:,.1f} MB; on {self.pairs} pairs probabilities differ by at most "
            f"{graph.difference:.2g}, {graph.equal:.1%} of labels are equal"
            for graph in self.graphs
        ]
        return "\n".join([*self.notes, *compared, *(f"wrote onnx:{path}" for path in self.paths)])

    def to_json(self) -> dict[str, Any]:
        return {"format": FORMAT, **asdict(self), "folder": str(self.folder)}


class UnfaithfulError(ExportCheckError):
    """An export that answers differently from the checkpoint; nothing of it is kept."""

    def __init__(self, message: str, *, model: str, graphs: Sequence[GraphComparison]) -> None:
        super().__init__(message)
        self.model, self.graphs = model, tuple(graphs)

    def to_json(self) -> dict[str, Any]:
        return {"format": FORMAT, "model": self.model, "folder": None, "graphs": list(map(asdict, self.graphs))}


@export_format(FORMAT)
def onnx(
    model: Annotated[str, "The model to write: hf:PATH_OR_NAME."],
    *,
    output: Annotated[Path, "The folder to write it to.", "-o"],
    int8: Annotated[bool, "Also a graph with whole numbers for weights: smaller, faster, less exact."] = False,
    labels: Annotated[str, "The labels of its outputs in order, where their names do not say."] = "",
    label_map: Annotated[str, "theirs=ours, such as LABEL_0=contradiction, where names do not say."] = "",
) -> ExportResult:
    """Write a model as ONNX graphs, and compare its answers with what it answered before.

    The folder is one that onnx:FOLDER reads without torch; exit status 1 when its answers differ by more than 0.001.
    """
    from acidtest.workflows.onnx_export import export_checkpoint

    return export_checkpoint(model, output, pairs=_sample_pairs(), int8=int8, labels=labels, label_map=label_map)


def _sample_pairs() -> tuple[list[str], list[str]]:
    """Premises and hypotheses from all over the starter corpus, the first premise a long one."""
    from acidtest.io.wordlists import starter_pairs

    rows = starter_pairs().frame.select("premise", "hypothesis").collect()
    rows = rows.gather_every(max(rows.height // SAMPLE, 1)).head(SAMPLE)
    premises, hypotheses = rows["premise"].to_list(), rows["hypothesis"].to_list()
    return [" ".join(premises[:LONG]), *premises[1:]], hypotheses
