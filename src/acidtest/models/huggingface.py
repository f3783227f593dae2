"""``hf:PATH_OR_NAME``: any sequence classifier of the transformers library, from a folder or the hub."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from acidtest.core.errors import AcidtestError, import_optional
from acidtest.core.logs import log, stage
from acidtest.core.model import MODELS, Model, Probabilities
from acidtest.core.suite import Suite
from acidtest.models.encoders.checkpoints import (
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

TRAINING_BUDGET = 1 << 14
"""The most tokens at once for a network in training, whose gradients and optimizer fill most of the device."""

NO_PADDING = -1
"""Stands for the padding token of a model that has none."""

TOLERANCES = {"float32": 1e-4, "bfloat16": 0.1, "float16": 0.02}
"""How far logits, flat or with padding, may be from the library's without, relative to the largest or to 1."""


class HuggingFaceModel(TokenClassifier):
    """A sequence classifier of transformers on a device, or a plain encoder, which has layers but gives no answers."""

    def __init__(
        self,
        network: Any,
        tokenizer: Any,
        name: str,
        *,
        spec: str = "",
        max_length: int = 0,
        limit: int | None = None,
        labels: str = "",
        label_map: str = "",
        trust_labels: bool = False,
        no_head: AcidtestError | None = None,
        in_training: bool = False,
    ) -> None:
        """``limit`` is the most tokens besides those that tokenizer and positions allow; ``spec`` is for messages.

        A network ``in_training`` is not changed; ask it inside ``paused_training`` only. Its copies of weights are
        those of now, so a later state of it needs another object.
        """
        (self._torch,) = import_optional("torch")
        spec = spec or name
        self._model, self._device, self._no_head = network, network.device, no_head
        self._dtype = str(network.dtype).removeprefix("torch.")
        # In reduced precision an answer depends on what else is in the batch.
        self.independent = self._dtype == "float32"
        self.batch_size = BATCH_SIZES.get(self._device.type, BATCH_SIZES["cpu"])
        self._budget = TOKEN_BUDGETS.get(self._device.type, TOKEN_BUDGETS["cpu"])
        self._in_training = in_training
        if in_training:
            self._budget = min(self._budget, TRAINING_BUDGET)
        limits = (tokenizer.model_max_length, limit)
        positions = most_positions(network)
        longest = choose_length(spec, max_length, positions, limits=limits, default=MOST_TOKENS)
        super().__init__(name, PairTokenizer(tokenizer, longest))
        self._padding = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0
        config = network.config
        if getattr(config, "pad_token_id", None) is None:
            # Decoders read the last token that is not padding, and refuse batches without a padding token.
            config.pad_token_id = NO_PADDING
        self.layers = ("embeddings", *(f"layer {number + 1}" for number in range(config.num_hidden_layers)))
        self._choose_computation(flat_encoder(network) if _is_plain(network) else None)
        if no_head is None:
            names = [str(config.id2label[number]) for number in range(config.num_labels)]
            self._find_labels(names, spec=spec, labels=labels, renamed=label_map, trusted=trust_labels)
        self.fingerprint: str | None = None

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
        with self._without_gradients(), kernels_for_any_shape(self._device):
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
        with self._without_gradients(), kernels_for_any_shape(self._device):
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

    def _without_gradients(self) -> Any:
        # Tensors made in inference mode cannot take part in training, and a network may keep some, such as positions.
        return self._torch.no_grad() if self._in_training else self._torch.inference_mode()

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
        tokens, tolerance = self._sample(), TOLERANCES.get(self._dtype, TOLERANCES["float32"])
        expected = self._logits(tokens)
        self._pads = True
        self._pads = self._model.config.pad_token_id != NO_PADDING and self._agrees(tokens, expected, tolerance)
        self._flat = encoder
        if encoder is not None and not self._agrees(tokens, expected, tolerance):
            log.info("%s: the flat encoder differs from transformers and is not used", self.name)
            self._flat = None
        if self._flat is None and not self._in_training:
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
    trust_labels: bool = False,
) -> Model:
    """A classifier of transformers by folder or hub name; sentence-transformers cross-encoders are such folders too.

    ``device`` is auto, cpu, cuda, cuda:1 or mps; ``dtype`` auto is bfloat16 where the hardware supports it, else
    float32; ``max_length`` 0 is the model's own. ``labels`` and ``label_map`` say what the outputs mean where names do
    not; ``trust_labels`` keeps a declared order that predictions contradict. A plain encoder can be opened too: it
    answers nothing, but ``acidtest representations`` looks into its layers.
    """
    torch, _ = import_optional("torch", "transformers")
    checkpoint = find_checkpoint(rest)
    name = f"hf:{checkpoint.folder.resolve().name if Path(rest).expanduser().is_dir() else rest}"
    stage("loading %s", name)
    place = _find_device(torch, device, checkpoint.spec)
    precision = _find_dtype(torch, place) if dtype == "auto" else dtype
    network, no_head = load_with_head(checkpoint, getattr(torch, precision))
    model = HuggingFaceModel(
        network.to(place),
        load_tokenizer(checkpoint),
        name,
        spec=checkpoint.spec,
        max_length=max_length,
        limit=checkpoint.longest,
        labels=labels,
        label_map=label_map,
        trust_labels=trust_labels,
        no_head=no_head,
    )
    model.fingerprint = checkpoint.digest(() if no_head else model.outputs, precision, model.limit)
    return model


@contextmanager
def paused_training(network: Any) -> Iterator[None]:
    """Evaluation mode without autocast for a network in training; afterwards it is as it was, also after an error."""
    (torch,) = import_optional("torch")
    modes = [(module, module.training) for module in network.modules()]
    padding = getattr(network.config, "pad_token_id", None)
    # In mixed precision, accelerate puts a casting method before the original, which it keeps under this name.
    casting, original = (network.__dict__.get(name) for name in ("forward", "_original_forward"))
    try:
        network.eval()
        if original is not None:
            network.forward = original
        with torch.autocast(network.device.type, enabled=False):
            yield
    finally:
        if original is not None:
            network.forward = casting
        network.config.pad_token_id = padding
        # Parents come first, so that the mode of a part is set after that of the whole.
        for module, mode in modes:
            module.train(mode)


def _is_plain(network: Any) -> bool:
    """Whether every part is of torch or transformers; adapters and the like change what a layer computes."""
    return all(type(module).__module__.partition(".")[0] in ("torch", "transformers") for module in network.modules())


def _find_dtype(torch: Any, device: Any) -> str:
    """bfloat16 where the hardware supports it; older devices only emulate it, more slowly than float32."""
    new = device.type == "cuda" and torch.cuda.get_device_capability(device) >= (8, 0)
    return "bfloat16" if new else "float32"


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
