"""``hf:PATH_OR_NAME``: any sequence classifier of the transformers library, from a folder or the hub."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
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
from acidtest.models.encoders.pair_tokens import PairTokenizer, TokenBatch, TokenizedPairs
from acidtest.models.encoders.token_classifiers import MOST_TOKENS, Floats, TokenClassifier, choose_length

BATCH_SIZES = {"cuda": 8192, "mps": 512, "cpu": 512}
"""Pairs that the engine passes in one call, by kind of device; their answers are lost if it is killed."""

TOKEN_BUDGETS = {"cuda": 1 << 16, "mps": 1 << 14, "cpu": 1 << 12}
"""Tokens that go through the network at once, by kind of device."""

NO_PADDING = -1
"""Stands for the padding token of a model that has none."""

TOLERANCES = {"float32": 1e-4, "bfloat16": 0.1, "float16": 0.02}
"""How far logits, flat or with padding, may be from the library's without, relative to the largest or to 1."""


class HuggingFaceModel(TokenClassifier):
    """A sequence classifier of transformers on a device, or a plain encoder, which has layers but gives no answers."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        name: str,
        *,
        device: str,
        dtype: str,
        max_length: int,
        labels: str,
        label_map: str,
    ) -> None:
        (self._torch,) = import_optional("torch")
        self._device = _find_device(self._torch, device, checkpoint.spec)
        if dtype == "auto":
            # Older devices only emulate bfloat16, more slowly than float32.
            cuda = self._device.type == "cuda"
            new = cuda and self._torch.cuda.get_device_capability(self._device) >= (8, 0)
            dtype = "bfloat16" if new else "float32"
        self._dtype = dtype
        # In reduced precision an answer depends on what else is in the batch.
        self.independent = self._dtype == "float32"
        self.batch_size = BATCH_SIZES[self._device.type]
        self._budget = TOKEN_BUDGETS[self._device.type]
        model, self._no_head = load_with_head(checkpoint, getattr(self._torch, self._dtype))
        self._model = model.to(self._device)
        tokenizer = load_tokenizer(checkpoint)
        limits = (tokenizer.model_max_length, checkpoint.longest)
        positions = most_positions(self._model)
        longest = choose_length(checkpoint.spec, max_length, positions, limits=limits, default=MOST_TOKENS)
        super().__init__(name, PairTokenizer(tokenizer, longest))
        self._padding = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0
        config = self._model.config
        if getattr(config, "pad_token_id", None) is None:
            # Decoders read the last token that is not padding, and refuse batches without a padding token.
            config.pad_token_id = NO_PADDING
        self.layers = ("embeddings", *(f"layer {number + 1}" for number in range(config.num_hidden_layers)))
        self._choose_computation(flat_encoder(self._model))
        outputs: tuple[str, ...] = ()
        if self._no_head is None:
            names = [str(config.id2label[number]) for number in range(config.num_labels)]
            self._find_labels(names, spec=checkpoint.spec, labels=labels, renamed=label_map)
            outputs = self._map.outputs
        self.fingerprint: str | None = checkpoint.digest(outputs, self._dtype, longest)

    def check(self, suites: Sequence[Suite]) -> None:
        if self._no_head is not None:
            raise self._no_head

    def infer(self, prepared: TokenizedPairs) -> Probabilities:
        """Probabilities in the original order of the pairs; refused for a plain encoder."""
        self.check(())
        return super().infer(prepared)

    def prepare(self, *columns: Sequence[str]) -> TokenizedPairs:
        """The pairs as tokens, in ascending order of length; tokens without weights are refused."""
        tokens = super().prepare(*columns)
        tokens.check_vocabulary(self._model.get_input_embeddings().num_embeddings, self.name)
        return tokens

    def representations(self, *columns: Sequence[str]) -> npt.NDArray[np.float32]:
        """float32[layers, pairs, 2 * width]: the maximum over a pair's tokens, then the state of its first token."""
        tokens = self.prepare(*columns)
        width = 2 * self._model.config.hidden_size
        result = np.empty((len(self.layers), len(tokens.rows), width), dtype=np.float32)
        ids, types = self._copy_to_device(tokens)
        with self._torch.inference_mode(), kernels_for_any_shape(self._device):
            for batch in tokens.padded_batches(self._budget, mixed=self._pads):
                inputs = self._pad(batch, tokens, ids, types)
                outputs = self._model(**inputs, output_hidden_states=True)
                hidden = outputs.get("hidden_states") or outputs["encoder_hidden_states"]
                for number, layer in enumerate(hidden):
                    states = layer
                    if "attention_mask" in inputs:
                        states = layer.masked_fill(~inputs["attention_mask"].bool()[..., None], -self._torch.inf)
                    pooled = self._torch.cat([states.amax(dim=1), layer[:, 0]], dim=1)
                    result[number, tokens.rows[batch.pairs]] = pooled.float().cpu().numpy()
        return result

    def _compute(self, tokens: TokenizedPairs) -> tuple[Floats, int]:
        result = np.empty((len(tokens.rows), self._model.config.num_labels), dtype=np.float32)
        if not len(tokens.rows):
            return result, 0
        # In some models a padding token inside a text has no position of its own; only the library handles that.
        encoder = None if (tokens.ids == self._padding).any() else self._flat
        ids, types = self._copy_to_device(tokens)

        def flat_logits(batch: TokenBatch) -> Any:
            part_types = None if types is None else types[batch.tokens]
            return encoder.logits(ids[batch.tokens], part_types, tokens.lengths[batch.pairs]) if encoder else None

        def padded_logits(batch: TokenBatch) -> Any:
            return self._model(**self._pad(batch, tokens, ids, types)).logits

        if encoder is None:
            logits, batches = padded_logits, tokens.padded_batches(self._budget, mixed=self._pads)
        else:
            logits, batches = flat_logits, tokens.flat_batches(self._budget)[::-1]
        with self._torch.inference_mode(), kernels_for_any_shape(self._device):
            parts = [part for batch in batches for part in self._halve_on_overflow(batch, tokens, logits)]
            values = self._torch.cat([logits for _, logits in parts]).float().cpu().numpy()
        result[np.concatenate([tokens.rows[batch.pairs] for batch, _ in parts])] = values
        return result, sum(batch.padded for batch, _ in parts) - len(tokens.ids) if encoder is None else 0

    def _halve_on_overflow(
        self, batch: TokenBatch, tokens: TokenizedPairs, logits: Callable[[TokenBatch], Any]
    ) -> Iterator[tuple[TokenBatch, Any]]:
        """The logits of a batch, computed in halves when the device has no memory for the whole."""
        try:
            values = logits(batch)
        except self._torch.OutOfMemoryError as error:
            if batch.count == 1:
                raise AcidtestError(
                    f"{self.name}: {self._device} has no memory for one pair of {batch.longest} tokens; "
                    f"try --device cpu, or a smaller --max-length"
                ) from error
            values = None
        if values is not None:
            yield batch, values
            return
        self._torch.cuda.empty_cache()
        middle = batch.pairs.start + batch.count // 2
        for start, stop in ((batch.pairs.start, middle), (middle, batch.pairs.stop)):
            yield from self._halve_on_overflow(tokens.batch(start, stop), tokens, logits)

    def _copy_to_device(self, tokens: TokenizedPairs) -> tuple[Any, Any | None]:
        types = None if tokens.types is None else on_device(tokens.types, self._device)
        return on_device(tokens.ids, self._device), types

    def _pad(self, batch: TokenBatch, tokens: TokenizedPairs, ids: Any, types: Any | None) -> dict[str, Any]:
        """The library's inputs for a batch; no mask where nothing is padded, because kernels are faster without one."""
        torch = self._torch
        if batch.even:
            shape = (batch.count, batch.longest)
            inputs = {"input_ids": ids[batch.tokens].view(shape)}
            if types is not None:
                inputs["token_type_ids"] = types[batch.tokens].view(shape)
            return inputs
        mask, places = (on_device(values, self._device) for values in tokens.pad(batch))
        inputs = {"input_ids": torch.where(mask.bool(), ids[places], self._padding), "attention_mask": mask}
        if types is not None:
            inputs["token_type_ids"] = torch.where(mask.bool(), types[places], 0)
        return inputs

    def _choose_computation(self, encoder: FlatEncoder | None) -> None:
        """Use padding, or the flat encoder, only if its logits agree with the library's without padding."""
        self._flat: FlatEncoder | None = None
        self._pads = False
        tokens, tolerance = self._sample(), TOLERANCES[self._dtype]
        expected = self._logits(tokens)
        self._pads = True
        self._pads = self._model.config.pad_token_id != NO_PADDING and self._agrees(tokens, expected, tolerance)
        self._flat = encoder
        if encoder is not None and not self._agrees(tokens, expected, tolerance):
            log.info("%s: the flat encoder differs from transformers and is not used", self.name)
            self._flat = None
        if self._flat is None:
            pack_linears(self._model)


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
    return HuggingFaceModel(
        checkpoint, name, device=device, dtype=dtype, max_length=max_length, labels=labels, label_map=label_map
    )


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
