"""What every model promises, run over the registry."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from acidtest import api
from acidtest.core.model import MODELS, Model, Prepares, model_from_spec
from acidtest.models.baseline import BASELINES

FUNCTION = """
def predict(premises, hypotheses):
    return [[0.2, 0.3, 0.5] if len(p) % 2 else [0.6, 0.3, 0.1] for p in premises]
"""


def answers_spec(folder: Path) -> str:
    frame = api.generate("hans", n=2).frame.collect()
    path = folder / "answers.csv"
    path.write_text("id,label\n" + "".join(f"{row},neutral\n" for row in frame["id"]))
    return f"answers:{path}"


def python_spec(folder: Path) -> str:
    (folder / "conforming_model.py").write_text(FUNCTION)
    return "python:conforming_model:predict"


class Chat(BaseHTTPRequestHandler):
    """Answers by the length of what it is asked: a label, or nothing; with probabilities where the path says so."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        word = ("entailment", "neutral", "contradiction", "who knows")[len(asked["messages"][1]["content"]) % 4]
        choice: dict[str, object] = {"message": {"content": word}}
        if self.path.startswith("/probabilities"):
            top = [{"token": word[:4], "logprob": -0.4}, {"token": "neutral", "logprob": -2.0}]
            choice["logprobs"] = {"content": [{"token": word, "logprob": -0.4, "top_logprobs": top}]}
        body = json.dumps({"choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@cache
def chat_port() -> int:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Chat)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


def hf_spec(folder: Path) -> str:
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'acidtest[hf]'")
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    words = sorted({word for text in api.generate("hans", n=2).frame.collect()["premise"] for word in text.split()})
    vocabulary = dict.fromkeys(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", *map(str.lower, words)])
    tokenizer = transformers.BertTokenizerFast(vocab={word: number for number, word in enumerate(vocabulary)})
    labels = ("contradiction", "entailment", "neutral")
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        id2label=dict(enumerate(labels)),
        label2id={label: number for number, label in enumerate(labels)},
    )
    transformers.BertForSequenceClassification(config).save_pretrained(folder / "tiny")
    tokenizer.save_pretrained(folder / "tiny")
    return f"hf:{folder / 'tiny'}"


def onnx_spec(folder: Path) -> str:
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install 'acidtest[onnx]'")
    return f"onnx:{api.export('onnx', hf_spec(folder), output=folder / 'graph').folder}"


def zoo_spec(folder: Path) -> str:
    pytest.importorskip("torch", reason="torch is not installed: pip install 'acidtest[zoo]'")
    material, recipe = api.Material([api.generate("hans", n=2)]), {"epochs": 1}
    api.train("bilstm", material, output=folder / "net", arguments={"hidden": "8"}, recipe=recipe, dimensions=8)
    return f"zoo:{folder / 'net'}"


SPECS: dict[str, Callable[[Path], str]] = {
    **{f"baseline:{name}": lambda folder, name=name: f"baseline:{name}" for name in BASELINES},
    "reference": lambda folder: "reference",
    "answers": answers_spec,
    "python": python_spec,
    "hf": hf_spec,
    "onnx": onnx_spec,
    "zoo": zoo_spec,
    "endpoint:labels": lambda folder: f"endpoint:m@http://127.0.0.1:{chat_port()}/v1",
    "endpoint:probabilities": lambda folder: f"endpoint:m@http://127.0.0.1:{chat_port()}/probabilities/v1",
}


@pytest.fixture(params=SPECS)
def model(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Model:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return model_from_spec(SPECS[request.param](tmp_path))


def test_every_kind_of_model_is_tested_here() -> None:
    assert {name.partition(":")[0] for name in SPECS} == set(MODELS)


def predictions(model: Model) -> np.ndarray:
    frame = api.generate("hans", n=2).frame.collect()
    return model.predict(*(frame[name].to_list() for name in model.columns))


def test_predictions_are_three_probabilities_a_row(model: Model) -> None:
    values = predictions(model)
    assert values.shape == (60, 3)
    assert values.dtype == np.float32
    unanswered = np.isnan(values).all(axis=1)
    assert model.may_abstain or not unanswered.any()
    values = values[~unanswered]
    assert np.allclose(values.sum(axis=1), 1)
    assert (values >= 0).all()


def test_predictions_do_not_depend_on_the_batch(model: Model) -> None:
    frame = api.generate("hans", n=2).frame.collect()
    one_by_one = [model.predict(*([frame[name][row]] for name in model.columns))[0] for row in range(10)]
    whole = predictions(model)[:10]
    # Networks add up in another order in another batch: up to 1e-5 is rounding.
    apart = 1e-5 if isinstance(model, Prepares) else 0
    assert np.allclose(np.array(one_by_one), whole, rtol=0, atol=apart, equal_nan=True)


def test_a_model_says_what_it_is(model: Model) -> None:
    assert model.name
    assert model.fingerprint
    assert model.resolution in ("three-way", "two-way")
    assert model.batch_size >= 1


def test_a_model_that_gives_labels_gives_rows_of_one_one(model: Model) -> None:
    if not model.probabilities:
        values = predictions(model)
        assert set(values[~np.isnan(values).all(axis=1)].ravel().tolist()) <= {0.0, 1.0}
