"""``hf:PATH_OR_NAME``: any sequence classifier of the transformers library, from a folder or the hub."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from acidtest.core.errors import AcidtestError, import_optional
from acidtest.core.logs import log, stage
from acidtest.core.model import MODELS, Model, Probabilities
from acidtest.core.suite import Suite
from acidtest.models.encoders.checkpoints import (
    Checkpoint,
    find_checkpoint,
    load_tokenizer,
    load_with_head,
    most_positions,
)
from acidtest.models.encoders.flat_encoders import (
    FlatEncoder,
    flat_encoder,
    kernels_for_any_shape,
    on_device,
    pack_linears,
)
from acidtest.models.encoders.pair_tokens import PairTokenizer, TokenizedPairs
from acidtest.models.encoders.token_batches import TokenBatch, flat_batches, padded_batches
from acidtest.models.encoders.token_classifiers import Floats, TokenClassifier

BATCH_SIZES = {"cuda": 8192}
"""Pairs that the engine passes at once, by kind of device; they are lost if it is killed."""

BATCH_SIZE = 512

TOKEN_BUDGETS = {"cuda": 1 << 16, "mps": 1 << 14}
"""Tokens that go through the network at once, by kind of device."""

TOKEN_BUDGET = 1 << 12

MOST_TOKENS = 1 << 20
"""Tokens of a pair where neither tokenizer nor positions set a limit."""

NO_PADDING = -1
"""The padding token of a model that has none."""

TOLERANCES = {"float32": 1e-4, "bfloat16": 0.1, "float16": 0.02}
"""How far logits computed flat may lie from the library's, relative to the largest of them or to 1."""


@dataclass(frozen=True)
class HuggingFaceOptions:
    """The options of ``hf``."""

    device: str
    dtype: str
    max_length: int
    labels: str
    label_map: str


class HuggingFaceModel(TokenClassifier):
    """A sequence classifier of transformers on a device, or a plain encoder, which shows layers but cannot answer."""

    def __init__(self, checkpoint: Checkpoint, name: str, *, options: HuggingFaceOptions) -> None:
        (self._torch,) = import_optional("torch")
        self._device = _find_device(self._torch, options.device, checkpoint.spec)
        self._dtype = _find_dtype(self._torch, options.dtype, self._device)
        # In reduced precision an answer depends on what else is in the batch.
        self.independent = self._dtype == "float32"
        self.batch_size = BATCH_SIZES.get(self._device.type, BATCH_SIZE)
        self._budget = TOKEN_BUDGETS.get(self._device.type, TOKEN_BUDGET)
        model, self._no_head = load_with_head(checkpoint, getattr(self._torch, self._dtype))
        self._model = model.to(self._device)
        tokenizer = load_tokenizer(checkpoint)
        longest = _find_length(checkpoint, self._model, tokenizer=tokenizer, wanted=options.max_length)
        super().__init__(name, PairTokenizer(tokenizer, longest))
        self._padding = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0
        self._vocabulary_size = self._model.get_input_embeddings().num_embeddings
        config = self._model.config
        if getattr(config, "pad_token_id", None) is None:
            # Decoders read the last token that is not padding, and refuse batches without a padding token.
            config.pad_token_id = NO_PADDING
        self.layers = ("embeddings", *(f"layer {number + 1}" for number in range(config.num_hidden_layers)))
        self._choose_computation(flat_encoder(self._model))
        outputs: tuple[str, ...] = ()
        if self._no_head is None:
            names = [str(config.id2label[number]) for number in range(config.num_labels)]
            self._find_labels(names, spec=checkpoint.spec, labels=options.labels, renamed=options.label_map)
            outputs = self._map.outputs
        self.fingerprint: str | None = checkpoint.digest(outputs, self._dtype, longest)

    def check(self, suites: Sequence[Suite]) -> None:
        """Refuse a model without a trained head."""
        if self._no_head is not None:
            raise self._no_head

    def infer(self, prepared: TokenizedPairs) -> Probabilities:
        """Probabilities in the original order of the pairs; refused for a plain encoder."""
        self.check(())
        return super().infer(prepared)

    def prepare(self, *columns: Sequence[str]) -> TokenizedPairs:
        """The pairs as tokens, in ascending order of length; tokens without weights are refused."""
        tokens = super().prepare(*columns)
        if len(tokens.ids) and int(tokens.ids.max()) >= self._vocabulary_size:
            raise AcidtestError(
                f"{self.name}: its tokenizer gives token {int(tokens.ids.max())}, but its weights know only "
                f"{self._vocabulary_size}; they do not belong together"
            )
        return tokens

    def representations(self, *columns: Sequence[str]) -> npt.NDArray[np.float32]:
        """For every layer, the maximum over a pair's tokens joined with the first token's state."""
        tokens = self.prepare(*columns)
        width = 2 * self._model.config.hidden_size
        result = np.empty((len(self.layers), len(tokens.rows), width), dtype=np.float32)
        ids, types = self._copy_to_device(tokens)
        with self._torch.inference_mode(), kernels_for_any_shape(self._device):
            for batch in padded_batches(tokens.lengths, self._budget, mixed=self._pads):
                inputs = self._pad(batch, tokens, ids, types)
                outputs = self._model(**inputs, output_hidden_states=True)
                hidden = outputs.get("hidden_states") or outputs["encoder_hidden_states"]
                rows = tokens.rows[batch.start : batch.stop]
                for number, layer in enumerate(hidden):
                    result[number, rows] = self._pool(layer, inputs).float().cpu().numpy()
        return result

    def _pool(self, layer: Any, inputs: Mapping[str, Any]) -> Any:
        tokens = layer
        if "attention_mask" in inputs:
            tokens = layer.masked_fill(~inputs["attention_mask"].bool()[..., None], -self._torch.inf)
        return self._torch.cat([tokens.amax(dim=1), layer[:, 0]], dim=1)

    def _compute(self, tokens: TokenizedPairs) -> tuple[Floats, int]:
        result = np.empty((len(tokens.rows), self._model.config.num_labels), dtype=np.float32)
        if not len(tokens.rows):
            return result, 0
        # In some models a padding token in the text itself takes no position; the library handles that.
        encoder = None if (tokens.ids == self._padding).any() else self._flat
        with self._torch.inference_mode(), kernels_for_any_shape(self._device):
            parts = list(self._padded_logits(tokens) if encoder is None else self._flat_logits(encoder, tokens))
            values = self._torch.cat([logits for _, logits in parts]).float().cpu().numpy()
        result[np.concatenate([tokens.rows[batch.start : batch.stop] for batch, _ in parts])] = values
        return result, sum(batch.padded for batch, _ in parts) - len(tokens.ids) if encoder is None else 0

    def _flat_logits(self, encoder: FlatEncoder, tokens: TokenizedPairs) -> Iterator[tuple[TokenBatch, Any]]:
        ids, types = self._copy_to_device(tokens)
        starts = tokens.starts

        def logits(batch: TokenBatch) -> Any:
            part = slice(int(starts[batch.start]), int(starts[batch.stop]))
            part_types = None if types is None else types[part]
            return encoder.logits(ids[part], part_types, tokens.lengths[batch.start : batch.stop])

        for batch in reversed(flat_batches(tokens.lengths, self._budget)):
            yield from self._halve_on_overflow(batch, tokens.lengths, logits)

    def _padded_logits(self, tokens: TokenizedPairs) -> Iterator[tuple[TokenBatch, Any]]:
        ids, types = self._copy_to_device(tokens)

        def logits(batch: TokenBatch) -> Any:
            return self._model(**self._pad(batch, tokens, ids, types)).logits

        for batch in padded_batches(tokens.lengths, self._budget, mixed=self._pads):
            yield from self._halve_on_overflow(batch, tokens.lengths, logits)

    def _halve_on_overflow(
        self, batch: TokenBatch, lengths: npt.NDArray[np.int64], logits: Callable[[TokenBatch], Any]
    ) -> Iterator[tuple[TokenBatch, Any]]:
        """The logits of a batch, computed in halves when the device has no memory for the whole."""
        try:
            values = logits(batch)
        except self._torch.OutOfMemoryError as error:
            if batch.stop - batch.start == 1:
                raise AcidtestError(
                    f"{self.name}: {self._device} has no memory for one pair of {batch.longest} tokens; "
                    f"try --device cpu, or a smaller --max-length"
                ) from error
            values = None
        if values is not None:
            yield batch, values
            return
        self._torch.cuda.empty_cache()
        middle = (batch.start + batch.stop) // 2
        for start, stop in ((batch.start, middle), (middle, batch.stop)):
            longest = int(lengths[stop - 1])
            half = TokenBatch(start, stop, longest, int(lengths[start]) == longest)
            yield from self._halve_on_overflow(half, lengths, logits)

    def _copy_to_device(self, tokens: TokenizedPairs) -> tuple[Any, Any | None]:
        """All tokens and their types, copied at once."""
        types = None if tokens.types is None else on_device(tokens.types, self._device)
        return on_device(tokens.ids, self._device), types

    def _pad(self, batch: TokenBatch, tokens: TokenizedPairs, ids: Any, types: Any | None) -> dict[str, Any]:
        """The library's inputs for a batch; without a mask where nothing is padded, because kernels are faster so."""
        torch = self._torch
        starts = tokens.starts[batch.start : batch.stop + 1]
        if batch.even:
            shape = (batch.stop - batch.start, batch.longest)
            part = slice(int(starts[0]), int(starts[-1]))
            inputs = {"input_ids": ids[part].view(shape)}
            if types is not None:
                inputs["token_type_ids"] = types[part].view(shape)
            return inputs
        columns = np.arange(batch.longest)
        mask = on_device(columns < tokens.lengths[batch.start : batch.stop, None], self._device).bool()
        places = on_device(np.minimum(starts[:-1, None] + columns, len(tokens.ids) - 1), self._device)
        inputs = {"input_ids": torch.where(mask, ids[places], self._padding), "attention_mask": mask.long()}
        if types is not None:
            inputs["token_type_ids"] = torch.where(mask, types[places], 0)
        return inputs

    def _choose_computation(self, encoder: FlatEncoder | None) -> None:
        """Use padding, and the flat encoder, only where they agree with the library's logits without padding."""
        self._flat: FlatEncoder | None = None
        self._pads = False
        tokens = self._sample()
        expected = self._logits(tokens)
        self._pads = True
        self._pads = self._model.config.pad_token_id != NO_PADDING and self._agrees(tokens, expected)
        self._flat = encoder
        if encoder is not None and not self._agrees(tokens, expected):
            log.info("%s: the flat encoder differs from transformers and is not used", self.name)
            self._flat = None
        if self._flat is None:
            pack_linears(self._model)

    def _agrees(self, tokens: TokenizedPairs, expected: npt.NDArray[np.float32]) -> bool:
        if not np.isfinite(expected).all():
            return True
        difference = float(np.abs(self._logits(tokens) - expected).max())
        return difference <= TOLERANCES[self._dtype] * max(1.0, float(np.abs(expected).max()))


@MODELS.add("hf")
def hf(
    rest: str,
    *,
    device: str = "auto",
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto",
    max_length: int = 0,
    labels: str = "",
    label_map: str = "",
) -> Model:
    """A classifier of transformers by folder or hub name; sentence-transformers cross-encoders are such folders too.

    ``device`` is auto, cpu, cuda, cuda:1 or mps; ``dtype`` auto is bfloat16 where the hardware supports it, else
    float32; ``max_length`` 0 is the model's own. ``labels`` and ``label_map`` say what the outputs mean where names do
    not. A plain encoder can be opened too: it answers nothing, but ``acidtest representations`` looks into its layers.
    """
    import_optional("torch", "transformers")
    checkpoint = find_checkpoint(rest)
    name = f"hf:{checkpoint.folder.resolve().name if Path(rest).expanduser().is_dir() else rest}"
    stage("loading %s", name)
    options = HuggingFaceOptions(device, dtype, max_length, labels, label_map)
    return HuggingFaceModel(checkpoint, name, options=options)


def _find_device(torch: Any, name: str, spec: str) -> Any:
    if not re.fullmatch(r"auto|cpu|mps|cuda(:\d+)?", name):
        raise AcidtestError(f"{spec}: --device is auto, cpu, cuda, cuda:N or mps, not {name!r}")
    has_mps = torch.backends.mps.is_available()
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "mps" if has_mps else "cpu"
    if name == "mps" and not has_mps:
        raise AcidtestError(f"{spec}: this machine has no mps device; use --device cpu")
    if name.startswith("cuda"):
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if int(name.partition(":")[2] or 0) >= count:
            raise AcidtestError(f"{spec}: --device {name}, but torch sees {count} CUDA devices here; use --device auto")
    return torch.device(name)


def _find_dtype(torch: Any, name: str, device: Any) -> str:
    if name != "auto":
        return name
    # Older devices only emulate bfloat16, more slowly than float32.
    supported = device.type == "cuda" and torch.cuda.get_device_capability(device) >= (8, 0)
    return "bfloat16" if supported else "float32"


def _find_length(checkpoint: Checkpoint, model: Any, *, tokenizer: Any, wanted: int) -> int:
    """The number of tokens of a pair: as wanted, or the least that tokenizer, positions and folder allow."""
    positions = most_positions(model)
    limits = [int(limit) for limit in (tokenizer.model_max_length, positions, checkpoint.longest, MOST_TOKENS) if limit]
    if wanted < 0:
        raise AcidtestError(f"{checkpoint.spec}: --max-length is {wanted}; it is from 1 on, or 0 for the model's own")
    if positions and wanted > positions:
        raise AcidtestError(f"{checkpoint.spec}: --max-length {wanted} is more than the {positions} tokens it can take")
    return wanted or min(limits)
