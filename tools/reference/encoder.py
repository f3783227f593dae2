"""A BERT in few lines, whose layers may differ in size, and the pairs it is trained on; needs torch alone.

Weights have BERT's names, so that others read them, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.functional import gelu, scaled_dot_product_attention

HEAD = 32
POSITIONS = 160
LABELS = 3
EPSILON = 1e-12


class Layer(nn.Module):
    """Attention and a feed-forward layer, each added and normalised."""

    def __init__(self, width: int, heads: int, inner: int) -> None:
        super().__init__()
        size = heads * HEAD
        self.attention = nn.ModuleDict(
            {
                "self": nn.ModuleDict({name: nn.Linear(width, size) for name in ("query", "key", "value")}),
                "output": nn.ModuleDict({"dense": nn.Linear(size, width), "LayerNorm": nn.LayerNorm(width, EPSILON)}),
            }
        )
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(width, inner)})
        self.output = nn.ModuleDict({"dense": nn.Linear(inner, width), "LayerNorm": nn.LayerNorm(width, EPSILON)})
        self.heads = heads

    def forward(self, values: Tensor, mask: Tensor, thinned: Callable[[Tensor], Tensor], *, first: bool) -> Tensor:
        """The values a layer further on; of the first position alone where no other is wanted."""
        asking = values[:, :1] if first else values
        own = self.attention["self"]
        query = own["query"](asking).unflatten(-1, (self.heads, HEAD)).transpose(1, 2)
        key, value = (own[name](values).unflatten(-1, (self.heads, HEAD)).transpose(1, 2) for name in ("key", "value"))
        found = scaled_dot_product_attention(query, key, value, attn_mask=mask).transpose(1, 2).flatten(-2)
        out = self.attention["output"]
        asking = out["LayerNorm"](thinned(out["dense"](found)) + asking)
        inner = gelu(self.intermediate["dense"](asking), approximate="tanh")
        further: Tensor = self.output["LayerNorm"](thinned(self.output["dense"](inner)) + asking)
        return further


class Encoder(nn.Module):
    """Embeddings, layers, and a head over the first piece."""

    def __init__(self, pieces: int, width: int, heads: Sequence[int], inner: Sequence[int], dropout: float) -> None:
        super().__init__()
        embeddings = nn.ModuleDict(
            {
                "word_embeddings": nn.Embedding(pieces, width),
                "position_embeddings": nn.Embedding(POSITIONS, width),
                "token_type_embeddings": nn.Embedding(2, width),
                "LayerNorm": nn.LayerNorm(width, EPSILON),
            }
        )
        layers = nn.ModuleList(Layer(width, *sizes) for sizes in zip(heads, inner, strict=True))
        self.bert = nn.ModuleDict(
            {
                "embeddings": embeddings,
                "encoder": nn.ModuleDict({"layer": layers}),
                "pooler": nn.ModuleDict({"dense": nn.Linear(width, width)}),
            }
        )
        self.classifier = nn.Linear(width, LABELS)
        self.thinned = nn.Dropout(dropout)

    def forward(self, pieces: Tensor, types: Tensor, mask: Tensor) -> Tensor:
        """Scores of the labels."""
        own = self.bert["embeddings"]
        places = torch.arange(pieces.shape[1], device=pieces.device)
        values = (
            own["word_embeddings"](pieces) + own["position_embeddings"](places) + own["token_type_embeddings"](types)
        )
        values = self.thinned(own["LayerNorm"](values))
        layers = self.bert["encoder"]["layer"]
        for number, layer in enumerate(layers):
            values = layer(values, mask[:, None, None], self.thinned, first=number == len(layers) - 1)
        pooled = torch.tanh(self.bert["pooler"]["dense"](values[:, 0]))
        scores: Tensor = self.classifier(self.thinned(pooled))
        return scores


def begun(path: Path, *, layers: Sequence[int], heads: Sequence[int], inner: Sequence[int], kept: np.ndarray | None,
          dropout: float) -> Encoder:  # fmt: skip
    """An encoder made of some layers of a larger one: of its pieces those kept, of each layer the weightiest parts."""
    given = {name: value.float() for name, value in load_file(path).items() if value.is_floating_point()}
    words = given["embeddings.word_embeddings.weight"]
    words = words if kept is None else words[torch.from_numpy(kept.astype(np.int64))]
    made = Encoder(len(words), words.shape[1], heads, inner, dropout)
    state = {f"bert.{name}": value for name, value in given.items() if not name.startswith("encoder.layer.")}
    state["bert.embeddings.word_embeddings.weight"] = words
    state["bert.embeddings.position_embeddings.weight"] = given["embeddings.position_embeddings.weight"][:POSITIONS]
    for number, (source, some, size) in enumerate(zip(layers, heads, inner, strict=True)):
        prefix = f"encoder.layer.{source}."
        layer = {name.removeprefix(prefix): value for name, value in given.items() if name.startswith(prefix)}
        state |= {f"bert.encoder.layer.{number}.{name}": value for name, value in _thinner(layer, some, size).items()}
    own = made.state_dict()
    missing, unexpected = made.load_state_dict(
        {name: value for name, value in state.items() if name in own}, strict=False
    )
    assert not unexpected, unexpected
    assert set(missing) <= {"classifier.weight", "classifier.bias"}, missing
    return made


def _thinner(layer: dict[str, Tensor], heads: int, inner: int) -> dict[str, Tensor]:
    """A layer with fewer heads and a smaller feed-forward part: those whose weights are greatest."""
    into, out = layer["intermediate.dense.weight"], layer["output.dense.weight"]
    neurons = (into.norm(dim=1) * out.norm(dim=0)).topk(inner).indices.sort().values
    value = layer["attention.self.value.weight"].unflatten(0, (-1, HEAD)).norm(dim=(1, 2))
    onward = layer["attention.output.dense.weight"].unflatten(1, (-1, HEAD)).norm(dim=(0, 2))
    chosen = (value * onward).topk(heads).indices.sort().values
    rows = (chosen[:, None] * HEAD + torch.arange(HEAD)).flatten()
    thin = dict(layer)
    for name in ("query", "key", "value"):
        for part in ("weight", "bias"):
            thin[f"attention.self.{name}.{part}"] = layer[f"attention.self.{name}.{part}"][rows]
    thin["attention.output.dense.weight"] = layer["attention.output.dense.weight"][:, rows]
    thin["intermediate.dense.weight"], thin["intermediate.dense.bias"] = (
        into[neurons],
        layer["intermediate.dense.bias"][neurons],
    )
    thin["output.dense.weight"] = out[:, neurons]
    return thin


@dataclass(frozen=True)
class Pairs:
    """Pairs of texts on a device, as numbers of texts whose pieces stand end to end."""

    pieces: Tensor
    starts: Tensor
    lengths: Tensor
    premise: Tensor
    hypothesis: Tensor
    first: int
    last: int
    """The numbers of [CLS] and [SEP]."""

    def __len__(self) -> int:
        return len(self.premise)

    @cached_property
    def sizes(self) -> Tensor:
        """Pieces of each pair, where the processor can read them without waiting for the device."""
        return (self.lengths[self.premise] + self.lengths[self.hypothesis] + 3).cpu()

    def batch(self, rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Pieces, types and which are there, of some pairs: [CLS] premise [SEP] hypothesis [SEP]."""
        longest = int(self.sizes[rows].max())
        rows = rows.to(self.premise.device, non_blocking=True)
        premise, hypothesis = self.premise[rows], self.hypothesis[rows]
        ours, theirs = self.lengths[premise][:, None], self.lengths[hypothesis][:, None]
        places = torch.arange(longest, device=rows.device)[None]
        second = places - ours - 2
        in_premise, in_hypothesis = (places >= 1) & (places <= ours), (second >= 0) & (second < theirs)
        at = torch.where(
            in_premise, self.starts[premise][:, None] + places - 1, self.starts[hypothesis][:, None] + second
        )
        found = self.pieces[at.clamp(0, len(self.pieces) - 1)]
        mask = places < ours + theirs + 3
        found = torch.where(in_premise | in_hypothesis, found, self.last * mask)
        found[:, 0] = self.first
        return found, ((second >= 0) & mask).long(), mask

    def batches(self, size: int, *, shuffled: bool) -> Iterator[Tensor]:
        """Rows of pairs of like length."""
        if not shuffled:
            yield from torch.argsort(self.sizes).split(size)
            return
        found = list[Tensor]()
        for some in torch.randperm(len(self)).split(size * 100):
            found += some[torch.argsort(self.sizes[some])].split(size)
        yield from (found[number] for number in torch.randperm(len(found)).tolist())


def pairs(pool: dict[str, np.ndarray], name: str, device: str, *, student: bool) -> Pairs:
    """Some pairs of a pool, in the pieces of teachers or of the student."""
    prefix = "student_" if student else ""
    lengths = torch.from_numpy(pool[f"{prefix}lengths"].astype(np.int64)).to(device)
    first, last = (2, 3) if student else (int(pool["kept"][2]), int(pool["kept"][3]))
    premise, hypothesis = (
        torch.from_numpy(pool[f"{name}_{side}"].astype(np.int64)) for side in ("premise", "hypothesis")
    )
    pieces = torch.from_numpy(pool[f"{prefix}pieces"].astype(np.int64)).to(device)
    return Pairs(pieces, lengths.cumsum(0) - lengths, lengths, premise.to(device), hypothesis.to(device), first, last)


def scores(network: Encoder, some: Pairs, size: int = 2048) -> Tensor:
    """float[pairs, labels]."""
    network.eval()
    found = torch.empty(len(some), LABELS, device=some.premise.device)
    with torch.inference_mode(), torch.autocast("cuda", dtype=torch.bfloat16):
        for rows in some.batches(size, shuffled=False):
            found[rows] = network(*some.batch(rows)).float()
    return found.clone()


def trained(network: Encoder, some: Pairs, target: Tensor, *, epochs: int, size: int, rate: float, seed: int) -> None:
    """Train towards probabilities of labels; the rate rises over the first steps and falls to nothing at the end."""
    torch.manual_seed(seed)
    optimizer = torch.optim.AdamW(network.parameters(), lr=rate, weight_decay=0.01, fused=True)
    total, step = epochs * math.ceil(len(some) / size), 0
    rising = 0.06 * total
    for epoch in range(epochs):
        network.train()
        mean = torch.zeros((), device=target.device)
        for rows in some.batches(size, shuffled=True):
            step += 1
            optimizer.param_groups[0]["lr"] = rate * min(step / rising, (total - step) / (total - rising))
            with torch.autocast("cuda", dtype=torch.bfloat16):
                found = network(*some.batch(rows))
            wanted = target[rows.to(target.device, non_blocking=True)]
            loss = -(wanted * found.float().log_softmax(1)).sum(1).mean()
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            mean += loss.detach()
        print(f"epoch {epoch + 1}: loss {float(mean) * size / len(some):.4f}", flush=True)


def accuracies(network: Encoder, pool: dict[str, np.ndarray], device: str, *, student: bool) -> dict[str, float]:
    """The share of right answers on each test set."""
    found = {}
    for name in ("snli", "mnli", "lingnli", "breaking"):
        label = torch.from_numpy(pool[f"{name}_label"].astype(np.int64)).to(device)
        right = scores(network, pairs(pool, name, device, student=student)).argmax(1) == label
        found[name] = round(float(right.float().mean()) * 100, 2)
    return found
