"""Tiny checkpoints written as graphs: against the library's own forward pass, one pair at a time."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from acidtest import api
from acidtest.cli import main
from acidtest.core.errors import AcidtestError
from acidtest.core.model import model_from_spec
from acidtest.models.label_maps import probe_pairs
from acidtest.workflows.exports import onnx as exporter

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'acidtest[hf]'")
transformers = pytest.importorskip("transformers", reason="transformers is not installed: pip install 'acidtest[hf]'")
for needed in ("onnx", "onnxruntime"):
    pytest.importorskip(needed, reason=f"{needed} is not installed: pip install 'acidtest[onnx]'")

PREMISES, HYPOTHESES, _ = probe_pairs()
PAIRS = [
    *zip(PREMISES[::9], HYPOTHESES[::9], strict=True),
    ("A cat is asleep on the sofa.", ""),
    ("", "The shop is open today."),
    ("Ünïcode, “quotes” — and 3.5 °C! " * 3, "東京 café"),
]
NAMES = ("contradiction", "entailment", "neutral")
TINY = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    """Tiny matrices are slower on many threads, and waiting threads slow other tests."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def wordpieces(**options: Any) -> Any:
    """The words of the probe pairs, and letters for all others."""
    words = sorted(set(re.findall(r"\w+", " ".join(PREMISES + HYPOTHESES).lower())))
    letters = sorted({letter for word in words for letter in word} - set(words))
    pieces = dict.fromkeys([*SPECIAL, ".", ",", *words, *letters, *(f"##{letter}" for letter in letters)])
    return transformers.BertTokenizerFast(vocab={piece: number for number, piece in enumerate(pieces)}, **options)


def byte_pairs() -> Any:
    from tokenizers import ByteLevelBPETokenizer

    learnt = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    learnt.train_from_iterator(PREMISES + HYPOTHESES, vocab_size=600, special_tokens=special, show_progress=False)
    state = json.loads(learnt.to_str())["model"]
    return transformers.RobertaTokenizerFast(vocab=state["vocab"], merges=[tuple(each) for each in state["merges"]])


def saved(folder: Path, kind: str = "bert", names: tuple[str, ...] = NAMES) -> Path:
    """A checkpoint of random weights whose answers differ from pair to pair."""
    torch.manual_seed(0)
    labels = {"id2label": dict(enumerate(names)), "label2id": {name: number for number, name in enumerate(names)}}
    own: dict[str, Any] = {"initializer_range": 0.2, **labels, **TINY}
    tokenizer = byte_pairs() if kind == "roberta" else wordpieces()
    size = len(tokenizer) + 9
    configs = {
        "bert": lambda: transformers.BertConfig(vocab_size=size, max_position_embeddings=64, **own),
        "electra": lambda: transformers.ElectraConfig(vocab_size=size, max_position_embeddings=64, **own),
        "roberta": lambda: transformers.RobertaConfig(
            vocab_size=size, max_position_embeddings=66, pad_token_id=1, type_vocab_size=1, **own
        ),
        "distilbert": lambda: transformers.DistilBertConfig(
            vocab_size=size, dim=32, n_layers=2, n_heads=4, hidden_dim=64, initializer_range=0.2, **labels
        ),
        "deberta": lambda: transformers.DebertaV2Config(
            vocab_size=size, relative_attention=True, pos_att_type=["p2c", "c2p"], type_vocab_size=0, **own
        ),
    }
    transformers.AutoModelForSequenceClassification.from_config(configs[kind]()).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def plain(folder: Path) -> np.ndarray:
    """Probabilities of the library itself, one pair at a time, in our order."""
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    rows = []
    with torch.inference_mode():
        for premise, hypothesis in PAIRS:
            # As a list: alone, an empty hypothesis would be taken for none.
            inputs = tokenizer([premise], [hypothesis], return_tensors="pt", truncation="only_first", max_length=64)
            rows.append(model(**inputs).logits[0].softmax(0).numpy())
    return np.array(rows)[:, [1, 2, 0]]


def answers(path: Path) -> np.ndarray:
    model = model_from_spec(f"onnx:{path}", {"provider": "cpu", "threads": 1})
    return model.predict(*map(list, zip(*PAIRS, strict=True)))


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(tmp_path_factory.mktemp("bert") / "tiny-bert")


# DeBERTa's code in transformers still compiles parts of itself the old way.
@pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning")
@pytest.mark.parametrize("kind", ["bert", "electra", "roberta", "distilbert", "deberta"])
def test_a_graph_answers_what_the_library_answers(kind: str, tmp_path: Path) -> None:
    folder = saved(tmp_path / kind, kind)
    made = api.export("onnx", f"hf:{folder}", output=tmp_path / "graph")
    assert [graph.file for graph in made.graphs] == ["model.onnx"]
    assert (made.graphs[0].equal, made.pairs) == (1.0, 200)
    assert made.graphs[0].difference < 1e-5
    expected = plain(folder)
    assert np.ptp(expected, axis=0).max() > 0.01
    # DistilBERT and DeBERTa have 512 positions: what is cut at 64 is left out.
    whole = slice(None, -1 if kind in ("distilbert", "deberta") else None)
    assert np.allclose(answers(tmp_path / "graph")[whole], expected[whole], atol=1e-5)
    checkpoint = model_from_spec(f"hf:{folder}", {"device": "cpu"})
    assert model_from_spec(f"onnx:{tmp_path / 'graph'}").notes == checkpoint.notes


def test_whole_numbers_make_a_second_smaller_graph(bert: Path, tmp_path: Path) -> None:
    handlers = list(logging.root.handlers)
    made = api.export("onnx", f"hf:{bert}", output=tmp_path / "graph", int8=True)
    exact, rounded = made.graphs
    assert rounded.file == "model.int8.onnx"
    assert rounded.bytes < exact.bytes
    assert 1e-5 < rounded.difference < 0.2
    assert rounded.equal > 0.8
    assert logging.root.handlers == handlers
    model: Any = model_from_spec(f"onnx:{tmp_path / 'graph' / 'model.int8.onnx'}")
    assert not model.independent
    assert model.pads
    assert "whole numbers" in model.notes[-1]
    assert np.allclose(answers(tmp_path / "graph" / "model.int8.onnx"), plain(bert), atol=0.2)


def test_the_folder_says_what_it_was_made_of(bert: Path, tmp_path: Path) -> None:
    made = api.export("onnx", f"hf:{bert}", output=tmp_path / "graph")
    card = json.loads((tmp_path / "graph" / "acidtest.json").read_text(encoding="utf-8"))
    assert card["id2label"] == {"0": "contradiction", "1": "entailment", "2": "neutral"}
    assert card["max_length"] == 64
    assert card["source"]["model"] == f"hf:{bert}"
    assert card["files"] == sorted(path.name for path in (tmp_path / "graph").iterdir())
    assert made.labels == NAMES


def test_labels_that_a_user_says_are_kept(tmp_path: Path) -> None:
    folder = saved(tmp_path / "x", names=("LABEL_0", "LABEL_1", "LABEL_2"))
    with pytest.raises(AcidtestError, match="do not tell what they mean"):
        api.export("onnx", f"hf:{folder}", output=tmp_path / "graph")
    assert not (tmp_path / "graph").exists()
    api.export("onnx", f"hf:{folder}", output=tmp_path / "graph", labels="n,c,e")
    model = model_from_spec(f"onnx:{tmp_path / 'graph'}")
    assert model.notes[0] == "labels by id2label: 0 = neutral, 1 = contradiction, 2 = entailment"


def test_an_earlier_export_is_replaced_and_nothing_else(bert: Path, tmp_path: Path) -> None:
    folder = tmp_path / "graph"
    api.export("onnx", f"hf:{bert}", output=folder, int8=True)
    api.export("onnx", f"hf:{bert}", output=folder)
    assert not (folder / "model.int8.onnx").exists()
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(AcidtestError, match=r"holds notes\.txt, no export"):
        api.export("onnx", f"hf:{bert}", output=folder)
    with pytest.raises(AcidtestError, match="no export of acidtest's"):
        api.export("onnx", f"hf:{bert}", output=bert)
    assert (bert / "model.safetensors").is_file()


def test_what_is_no_checkpoint_or_no_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AcidtestError, match="only a checkpoint can: hf:FOLDER"):
        api.export("onnx", "baseline:overlap", output=tmp_path / "graph")
    with pytest.raises(AcidtestError, match="no format called 'onxx'; did you mean 'onnx'"):
        api.export("onxx", "hf:x", output=tmp_path / "graph")


def test_the_command_tells_sizes_and_differences(
    bert: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "graph"
    assert main(["export", "onnx", f"hf:{bert}", "-o", str(folder), "--int8"]) == 0
    told = capsys.readouterr().out
    assert re.search(
        r"^model\.onnx: 0\.\d MB; on 200 pairs probabilities differ by at most \S+, 100\.0% of", told, re.M
    )
    assert told.endswith(f"wrote onnx:{folder}\nwrote onnx:{folder / 'model.int8.onnx'}\n")


def test_a_graph_that_answers_otherwise_is_not_kept(
    bert: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    written = exporter._write_graph

    def spoilt(found: Any, folder: Path) -> None:
        import onnx

        written(found, folder)
        model = onnx.load(folder / "model.onnx")
        for tensor in model.graph.initializer:
            if tensor.name.endswith("classifier.bias"):
                tensor.CopyFrom(onnx.numpy_helper.from_array(np.array([0, 0, 1], np.float32), tensor.name))
        onnx.save(model, folder / "model.onnx")

    monkeypatch.setattr(exporter, "_write_graph", spoilt)
    assert main(["export", "onnx", f"hf:{bert}", "-o", str(tmp_path / "graph"), "--json"]) == 1
    out, error = capsys.readouterr()
    told = json.loads(out)
    assert told["folder"] is None
    assert told["graphs"][0]["difference"] > 0.01
    assert "nothing was written" in error
    assert list(tmp_path.iterdir()) == []
