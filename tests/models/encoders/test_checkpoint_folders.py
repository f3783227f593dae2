"""Folders of transformers that would have something opened or run which is no safetensors file of theirs."""

from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.model import model_from_spec
from acidtest.models.encoders.checkpoints import Checkpoint, find_checkpoint

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'acidtest[hf]'")
transformers = pytest.importorskip("transformers", reason="transformers is not installed: pip install 'acidtest[hf]'")

NAMES = ("entailment", "neutral", "contradiction")


@pytest.fixture(scope="module")
def parted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny classifier whose weights lie in several files, named by an index."""
    folder = tmp_path_factory.mktemp("hf") / "parted"
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "dog", "sleeps"]
    tokenizer = transformers.BertTokenizerFast(vocab={word: number for number, word in enumerate(words)})
    config = transformers.BertConfig(
        vocab_size=len(words),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
        max_position_embeddings=64,
        id2label=dict(enumerate(NAMES)),
        label2id={name: number for number, name in enumerate(NAMES)},
    )
    torch.manual_seed(0)
    transformers.AutoModelForSequenceClassification.from_config(config).save_pretrained(folder, max_shard_size="2KB")
    tokenizer.save_pretrained(folder)
    return folder


def opened(folder: Path) -> Any:
    return model_from_spec(f"hf:{folder}", {"device": "cpu"})


def change(path: Path, **keys: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | keys))


class Trap:
    """Makes a folder when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., None], tuple[str]]:
        import os

        return os.mkdir, (str(self.path),)


def test_weights_in_several_files_are_read(parted: Path) -> None:
    assert len(find_checkpoint(str(parted)).weights) > 1
    assert opened(parted).predict(["a dog"], ["a dog sleeps"]).shape == (1, 3)


@pytest.mark.parametrize(
    "name",
    [
        "weights.bin",
        "pytorch_model.bin",
        "../outside.safetensors",
        "inner/model.safetensors",
        "..\\outside.safetensors",
        "/tmp/outside.safetensors",
        "C:outside.safetensors",
        ".safetensors",
        "",
    ],
)
def test_an_index_may_name_safetensors_of_its_own_folder_only(parted: Path, tmp_path: Path, name: str) -> None:
    folder = shutil.copytree(parted, tmp_path / "copy")
    index = folder / "model.safetensors.index.json"
    first = sorted(set(json.loads(index.read_text())["weight_map"].values()))[0]
    sprung = tmp_path / "sprung"
    for place in (folder / "weights.bin", folder / "pytorch_model.bin"):
        place.write_bytes(pickle.dumps(Trap(sprung)))
    shutil.copy(folder / first, tmp_path / "outside.safetensors")
    index.write_text(index.read_text().replace(f'"{first}"', json.dumps(name)))
    with pytest.raises(FileError, match=r"index\.json: weight_map: names .*only files of the same folder"):
        opened(folder)
    assert not sprung.exists()


def test_links_from_a_snapshot_to_its_blobs_are_followed(parted: Path, tmp_path: Path) -> None:
    # As the cache of huggingface_hub lays files out.
    blobs = shutil.copytree(parted, tmp_path / "blobs")
    snapshot = tmp_path / "snapshots" / "0123"
    snapshot.mkdir(parents=True)
    for path in blobs.iterdir():
        (snapshot / path.name).symlink_to(path)
    assert opened(snapshot).predict(["a dog"], ["a dog sleeps"]).shape == (1, 3)


def test_the_file_that_transformers_takes_is_the_one_of_the_fingerprint(parted: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(parted, tmp_path / "copy")
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    model.save_pretrained(tmp_path / "whole")
    shutil.copy(tmp_path / "whole" / "model.safetensors", folder)
    assert [path.name for path in Checkpoint("hf:x", folder).weights] == ["model.safetensors"]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"transformers_weights": "adapter_model.bin"}, "transformers_weights: names other weights"),
        ({"transformers_weights": "other.safetensors.index.json"}, "transformers_weights: names other weights"),
        ({"attn_implementation": "somebody/kernel"}, "attn_implementation: 'somebody/kernel' is code from elsewhere"),
        ({"text_config": {"_attn_implementation": "a/b:c"}}, "_attn_implementation: 'a/b:c' is code from elsewhere"),
    ],
)
def test_a_configuration_that_leads_elsewhere_is_refused(
    parted: Path, tmp_path: Path, keys: dict[str, Any], message: str
) -> None:
    folder = shutil.copytree(parted, tmp_path / "copy")
    (folder / "adapter_model.bin").write_bytes(pickle.dumps(Trap(tmp_path / "sprung")))
    change(folder / "config.json", **keys)
    with pytest.raises(FileError, match=rf"config\.json: {message}"):
        opened(folder)
    assert not (tmp_path / "sprung").exists()


def test_an_adapter_beside_whole_weights_is_refused(parted: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(parted, tmp_path / "copy")
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "../elsewhere", "peft_type": "LORA"}')
    with pytest.raises(AcidtestError, match="is an adapter, or has one"):
        opened(folder)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("config.json", "[" * 100_000, "nests lists and objects"),
        ("config.json", "[]", "expected an object"),
        ("config.json", '{"id2label": {"0": "entailment", "0": "neutral"}}', "the key '0' stands more than once"),
        ("tokenizer.json", "[" * 100_000, "nests lists and objects"),
        ("tokenizer_config.json", "[" * 100_000, "nests lists and objects"),
        ("model.safetensors.index.json", "[" * 100_000, "nests lists and objects"),
        ("model.safetensors.index.json", "{}", "weight_map: is missing"),
        ("model.safetensors.index.json", '{"weight_map": []}', r"weight_map: expected an object, got \[\]"),
        ("model.safetensors.index.json", '{"weight_map": {"a": 3}}', r"weight_map\.a: expected a text, got 3"),
        ("sentence_bert_config.json", '{"max_seq_length": "x"}', "max_seq_length: expected an integer"),
        ("sentence_bert_config.json", "3", "expected an object, got 3"),
        ("modules.json", "{}", "expected a list"),
        ("modules.json", "[3]", r"\[0\]: expected an object, got 3"),
    ],
)
def test_malformed_json_of_a_folder_is_named(
    parted: Path, tmp_path: Path, file: str, content: str, message: str
) -> None:
    folder = shutil.copytree(parted, tmp_path / "copy")
    (folder / file).write_text(content)
    with pytest.raises(FileError, match=rf"{file}: .*{message}"):
        opened(folder)
