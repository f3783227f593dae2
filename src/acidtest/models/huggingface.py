"""``hf:PATH_OR_NAME`` — any sequence classifier of the transformers library, from a folder or the hub."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from acidtest.core.errors import AcidtestError
from acidtest.core.extras import required
from acidtest.core.logs import log, stage
from acidtest.core.model import MODELS, Model, Probabilities
from acidtest.core.suite import Suite
from acidtest.models.encoders.checkpoints import (
    Checkpoint,
    checkpoint,
    load_with_head,
    loaded_tokenizer,
    most_positions,
)
from acidtest.models.encoders.devices import kernels_for_any_shape, on_device
from acidtest.models.encoders.flat_encoders import FlatEncoder, flat_encoder
from acidtest.models.encoders.packed_linears import pack_linears
from acidtest.models.encoders.pair_tokens import PairTokenizer, PairTokens
from acidtest.models.encoders.token_batches import TokenBatch, flat_batches, padded_batches
from acidtest.models.encoders.token_classifiers import Floats, TokenClassifier

BATCH_SIZES = {"cuda": 8192}
"""Pairs the engine hands over at once, by kind of device; what a kill can cost."""

BATCH_SIZE = 512

TOKEN_BUDGETS = {"cuda": 1 << 16, "mps": 1 << 14}
"""Tokens that go through the network at once, by kind of device."""

TOKEN_BUDGET = 1 << 12

LONGEST = 1 << 20
"""Tokens of a pair where neither tokenizer nor positions set a limit."""

NO_PADDING = -1
"""No token: what a model without one for padding is told its padding is."""

CLOSE = {"float32": 1e-4, "bfloat16": 0.1, "float16": 0.02}
"""How far logits computed flat may lie from the library's own, in units of the largest of them or of 1."""


@dataclass(frozen=True)
class Settings:
    """What a user may say of a checkpoint; see ``hf``."""

    device: str
    dtype: str
    max_length: int
    labels: str
    label_map: str


class HuggingFaceModel(TokenClassifier):
    """A sequence classifier of transformers on a device, or a plain encoder: it shows its layers and cannot answer."""

    def __init__(self, found: Checkpoint, name: str, *, settings: Settings) -> None:
        (self._torch,) = required("torch")
        self._device = _device(self._torch, settings.device, found.spec)
        self._dtype = _dtype(self._torch, settings.dtype, self._device)
        # In reduced precision the same pair comes out differently in another batch.
        self.independent = self._dtype == "float32"
        self.batch_size = BATCH_SIZES.get(self._device.type, BATCH_SIZE)
        self._budget = TOKEN_BUDGETS.get(self._device.type, TOKEN_BUDGET)
        model, self._refusal = load_with_head(found, getattr(self._torch, self._dtype))
        self._model = model.to(self._device)
        tokenizer = loaded_tokenizer(found)
        longest = _longest(found, self._model, tokenizer=tokenizer, asked=settings.max_length)
        super().__init__(name, PairTokenizer(tokenizer, longest))
        self._padding = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0
        self._words = self._model.get_input_embeddings().num_embeddings
        config = self._model.config
        if getattr(config, "pad_token_id", None) is None:
            # Decoders read the last token that is not this one, and refuse several pairs at once without it.
            config.pad_token_id = NO_PADDING
        self.layers = ("embeddings", *(f"layer {number + 1}" for number in range(config.num_hidden_layers)))
        self._flat = self._checked(flat_encoder(self._model))
        outputs: tuple[str, ...] = ()
        if self._refusal is None:
            names = [str(config.id2label[number]) for number in range(config.num_labels)]
            self._find_labels(names, owner=found.spec, labels=settings.labels, renamed=settings.label_map)
            outputs = self._map.outputs
        self.fingerprint: str | None = found.digest(outputs, self._dtype, longest)

    def check(self, suites: Sequence[Suite]) -> None:
        """Refuse to be asked anything without a head to answer with."""
        if self._refusal is not None:
            raise self._refusal

    def infer(self, prepared: PairTokens) -> Probabilities:
        """Probabilities in the pairs' own order; a plain encoder has none."""
        self.check(())
        return super().infer(prepared)

    def prepare(self, *columns: Sequence[str]) -> PairTokens:
        """The pairs as tokens, in order of length; none that the weights do not know."""
        tokens = super().prepare(*columns)
        if len(tokens.ids) and int(tokens.ids.max()) >= self._words:
            raise AcidtestError(
                f"{self.name}: its tokenizer gives token {int(tokens.ids.max())}, but its weights know only "
                f"{self._words}; they do not belong together"
            )
        return tokens

    def representations(self, *columns: Sequence[str]) -> npt.NDArray[np.float32]:
        """For every layer, the greatest value over a pair's tokens joined with the first token's."""
        tokens = self.prepare(*columns)
        width = 2 * self._model.config.hidden_size
        result = np.empty((len(self.layers), len(tokens.rows), width), dtype=np.float32)
        ids, types = self._on_device(tokens)
        with self._torch.inference_mode(), kernels_for_any_shape(self._device):
            for batch in padded_batches(tokens.lengths, self._budget, mixed=self._pads):
                inputs = self._padded(batch, tokens, ids, types)
                states = self._model(**inputs, output_hidden_states=True)
                hidden = states.get("hidden_states") or states["encoder_hidden_states"]
                rows = tokens.rows[batch.start : batch.stop]
                for number, layer in enumerate(hidden):
                    result[number, rows] = self._pooled(layer, inputs).float().cpu().numpy()
        return result

    def _pooled(self, layer: Any, inputs: Mapping[str, Any]) -> Any:
        tokens = layer
        if "attention_mask" in inputs:
            tokens = layer.masked_fill(~inputs["attention_mask"].bool()[..., None], -self._torch.inf)
        return self._torch.cat([tokens.amax(dim=1), layer[:, 0]], dim=1)

    def _computed(self, tokens: PairTokens) -> tuple[Floats, int]:
        result = np.empty((len(tokens.rows), self._model.config.num_labels), dtype=np.float32)
        if not len(tokens.rows):
            return result, 0
        # A token of padding in the text itself takes no position in some models: theirs to decide.
        flat = self._flat is not None and not (tokens.ids == self._padding).any()
        with self._torch.inference_mode(), kernels_for_any_shape(self._device):
            parts = list(self._flat_parts(tokens) if flat else self._padded_parts(tokens))
            values = self._torch.cat([logits for _, logits in parts]).float().cpu().numpy()
        result[np.concatenate([tokens.rows[batch.start : batch.stop] for batch, _ in parts])] = values
        return result, 0 if flat else sum(batch.padded for batch, _ in parts) - len(tokens.ids)

    def _flat_parts(self, tokens: PairTokens) -> Iterator[tuple[TokenBatch, Any]]:
        encoder = self._flat
        assert encoder is not None
        ids, types = self._on_device(tokens)
        starts = tokens.starts

        def logits(batch: TokenBatch) -> Any:
            part = slice(int(starts[batch.start]), int(starts[batch.stop]))
            kinds = None if types is None else types[part]
            return encoder.logits(ids[part], kinds, tokens.lengths[batch.start : batch.stop])

        for batch in reversed(flat_batches(tokens.lengths, self._budget)):
            yield from self._fitting(batch, tokens.lengths, logits)

    def _padded_parts(self, tokens: PairTokens) -> Iterator[tuple[TokenBatch, Any]]:
        ids, types = self._on_device(tokens)

        def logits(batch: TokenBatch) -> Any:
            return self._model(**self._padded(batch, tokens, ids, types)).logits

        for batch in padded_batches(tokens.lengths, self._budget, mixed=self._pads):
            yield from self._fitting(batch, tokens.lengths, logits)

    def _fitting(
        self, batch: TokenBatch, lengths: npt.NDArray[np.int64], logits: Callable[[TokenBatch], Any]
    ) -> Iterator[tuple[TokenBatch, Any]]:
        """What a batch comes out as, in halves when the device has no memory for it whole."""
        try:
            found = logits(batch)
        except self._torch.OutOfMemoryError as error:
            if batch.stop - batch.start == 1:
                raise AcidtestError(
                    f"{self.name}: {self._device} has no memory for one pair of {batch.longest} tokens; "
                    f"try --device cpu, or a smaller --max-length"
                ) from error
            found = None
        if found is not None:
            yield batch, found
            return
        self._torch.cuda.empty_cache()
        middle = (batch.start + batch.stop) // 2
        for start, stop in ((batch.start, middle), (middle, batch.stop)):
            longest = int(lengths[stop - 1])
            yield from self._fitting(TokenBatch(start, stop, longest, int(lengths[start]) == longest), lengths, logits)

    def _on_device(self, tokens: PairTokens) -> tuple[Any, Any | None]:
        """All tokens and their types, copied once."""
        types = None if tokens.types is None else on_device(tokens.types, self._device)
        return on_device(tokens.ids, self._device), types

    def _padded(self, batch: TokenBatch, tokens: PairTokens, ids: Any, types: Any | None) -> dict[str, Any]:
        """A batch as the library takes it; without a mask where there is no padding: kernels are faster so."""
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
        there = on_device(columns < tokens.lengths[batch.start : batch.stop, None], self._device).bool()
        places = on_device(np.minimum(starts[:-1, None] + columns, len(tokens.ids) - 1), self._device)
        inputs = {"input_ids": torch.where(there, ids[places], self._padding), "attention_mask": there.long()}
        if types is not None:
            inputs["token_type_ids"] = torch.where(there, types[places], 0)
        return inputs

    def _checked(self, encoder: FlatEncoder | None) -> FlatEncoder | None:
        """The flat encoder, if there is one for this model and it says what the library says.

        What is right is what the library says without padding; a model that says something else of a pair because
        others in its batch are longer is never given padding.
        """
        self._flat, self._pads = None, False
        tokens = self._sample()
        own = self._logits(tokens)
        self._pads = True
        self._pads = self._model.config.pad_token_id != NO_PADDING and self._agrees(tokens, own)
        self._flat = encoder
        if encoder is not None and not self._agrees(tokens, own):
            log.info("%s: laid flat it differs from transformers; it is not laid flat", self.name)
            self._flat = None
        if self._flat is None:
            pack_linears(self._model)
        return self._flat

    def _agrees(self, tokens: PairTokens, own: npt.NDArray[np.float32]) -> bool:
        if not np.isfinite(own).all():
            return True
        far = float(np.abs(self._logits(tokens) - own).max())
        return far <= CLOSE[self._dtype] * max(1.0, float(np.abs(own).max()))


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

    ``device`` is auto, cpu, cuda, cuda:1 or mps; ``dtype`` auto is bfloat16 on devices made for it, else float32;
    ``max_length`` 0 is the model's own. ``labels`` and ``label_map`` say what the outputs mean where names do not. A
    plain encoder can be opened too: it answers nothing, but ``acidtest representations`` looks into its layers.
    """
    required("torch", "transformers")
    found = checkpoint(rest)
    name = f"hf:{found.folder.resolve().name if Path(rest).expanduser().is_dir() else rest}"
    stage("loading %s", name)
    return HuggingFaceModel(found, name, settings=Settings(device, dtype, max_length, labels, label_map))


def _device(torch: Any, name: str, spec: str) -> Any:
    if not re.fullmatch(r"auto|cpu|mps|cuda(:\d+)?", name):
        raise AcidtestError(f"{spec}: --device is auto, cpu, cuda, cuda:N or mps, not {name!r}")
    metal = torch.backends.mps.is_available()
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "mps" if metal else "cpu"
    if name == "mps" and not metal:
        raise AcidtestError(f"{spec}: this machine has no mps device; use --device cpu")
    if name.startswith("cuda"):
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if int(name.partition(":")[2] or 0) >= count:
            raise AcidtestError(f"{spec}: --device {name}, but torch sees {count} CUDA devices here; use --device auto")
    return torch.device(name)


def _dtype(torch: Any, name: str, device: Any) -> str:
    if name != "auto":
        return name
    # Older devices only imitate bfloat16, more slowly than float32.
    made_for_it = device.type == "cuda" and torch.cuda.get_device_capability(device) >= (8, 0)
    return "bfloat16" if made_for_it else "float32"


def _longest(found: Checkpoint, model: Any, *, tokenizer: Any, asked: int) -> int:
    """How many tokens a pair may have: the least of what tokenizer, positions and folder allow, or fewer as asked."""
    positions = most_positions(model)
    limits = [int(limit) for limit in (tokenizer.model_max_length, positions, found.longest, LONGEST) if limit]
    if asked < 0:
        raise AcidtestError(f"{found.spec}: --max-length is {asked}; it is from 1 on, or 0 for the model's own")
    if positions and asked > positions:
        raise AcidtestError(f"{found.spec}: --max-length {asked} is more than the {positions} tokens it can take")
    return asked or min(limits)
