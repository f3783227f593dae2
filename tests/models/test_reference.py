"""The model that needs NumPy alone: its arithmetic against transformers, its files, its manners."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from acidtest import api
from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.model import Represents, model_from_spec
from acidtest.models.encoders import numpy_encoders
from acidtest.models.encoders.numpy_encoders import NumpyEncoder, single_threaded_blas
from acidtest.models.encoders.pair_tokens import TokenizedPairs
from acidtest.models.reference import (
    BUNDLED,
    MAX_LENGTH,
    ReferenceModel,
    load_encoder,
    reference,
    restore_floats,
)

TOOLS = Path(__file__).parents[2] / "tools" / "reference"
WIDTH, HEAD, WORDS, POSITIONS = 48, 12, 90, 160

Weights = dict[str, np.ndarray]


def weights_of(inner: tuple[int, ...], heads: tuple[int, ...], *, words: int = WORDS, seed: int = 0) -> Weights:
    """Random weights with BERT's names; large enough for attention and activations to be far from flat."""
    draw = np.random.default_rng(seed)
    found: Weights = {}

    def linear(name: str, rows: int, columns: int) -> None:
        found[f"{name}.weight"] = draw.normal(0, 1.5 / np.sqrt(columns), (rows, columns)).astype(np.float32)
        found[f"{name}.bias"] = draw.normal(0, 0.3, rows).astype(np.float32)

    def norm(name: str) -> None:
        found[f"{name}.LayerNorm.weight"] = draw.normal(1, 0.2, WIDTH).astype(np.float32)
        found[f"{name}.LayerNorm.bias"] = draw.normal(0, 0.2, WIDTH).astype(np.float32)

    for name, rows in (("word", words), ("position", POSITIONS), ("token_type", 2)):
        found[f"bert.embeddings.{name}_embeddings.weight"] = draw.normal(0.1, 1, (rows, WIDTH)).astype(np.float32)
    norm("bert.embeddings")
    for number, (size, count) in enumerate(zip(inner, heads, strict=True)):
        layer = f"bert.encoder.layer.{number}"
        for part in ("query", "key", "value"):
            linear(f"{layer}.attention.self.{part}", count * HEAD, WIDTH)
        linear(f"{layer}.attention.output.dense", WIDTH, count * HEAD)
        norm(f"{layer}.attention.output")
        linear(f"{layer}.intermediate.dense", size, WIDTH)
        linear(f"{layer}.output.dense", WIDTH, size)
        norm(f"{layer}.output")
    linear("bert.pooler.dense", WIDTH, WIDTH)
    linear("classifier", 3, WIDTH)
    return found


def tokens_of(lengths: list[int], seed: int = 0) -> TokenizedPairs:
    """Random pairs of these lengths, in order of length."""
    draw = np.random.default_rng(seed)
    rows = np.argsort(lengths, kind="stable")
    ordered = np.array(lengths, dtype=np.int64)[rows]
    types = [np.arange(length) >= length // 2 for length in ordered]
    return TokenizedPairs(
        draw.integers(0, WORDS, int(ordered.sum())).astype(np.int32),
        np.concatenate(types).astype(np.uint8),
        ordered,
        rows,
        np.zeros(len(lengths), dtype=np.bool_),
    )


def library(weights: Weights, tokens: TokenizedPairs) -> tuple[np.ndarray, list[list[np.ndarray]]]:
    """What transformers makes of pairs, asked one by one: logits, and the states of every layer."""
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'acidtest[hf]'")
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    layers = sum(name.endswith("self.query.weight") for name in weights)
    config = transformers.BertConfig(
        vocab_size=WORDS,
        hidden_size=WIDTH,
        num_hidden_layers=layers,
        num_attention_heads=WIDTH // HEAD,
        intermediate_size=len(weights["bert.encoder.layer.0.intermediate.dense.bias"]),
        max_position_embeddings=POSITIONS,
        hidden_act="gelu_new",
        num_labels=3,
    )
    model = transformers.BertForSequenceClassification(config).eval()
    for number, layer in enumerate(model.bert.encoder.layer):
        size = len(weights[f"bert.encoder.layer.{number}.intermediate.dense.bias"])
        layer.intermediate.dense, layer.output.dense = torch.nn.Linear(WIDTH, size), torch.nn.Linear(size, WIDTH)
    missing, more = model.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()}, False)
    assert not more
    assert not missing
    logits, states = np.empty((len(tokens.rows), 3), dtype=np.float32), [list[np.ndarray]() for _ in tokens.rows]
    assert tokens.types is not None
    with torch.inference_mode():
        for place, row in enumerate(tokens.rows):
            part = slice(tokens.starts[place], tokens.starts[place + 1])
            ids, types = (torch.from_numpy(array[part].astype(np.int64))[None] for array in (tokens.ids, tokens.types))
            found = model(input_ids=ids, token_type_ids=types, output_hidden_states=True)
            logits[row] = found.logits[0].numpy()
            states[row] = [layer[0].numpy() for layer in found.hidden_states]
    return logits, states


@pytest.mark.parametrize("inner", [(96,), (64, 96), (96, 32, 64)], ids=str)
def test_logits_and_states_are_those_of_transformers(inner: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numpy_encoders, "TOKENS", 64)
    weights = weights_of(inner, (WIDTH // HEAD,) * len(inner))
    tokens = tokens_of([3, 9, 4, 9, 150, 17, 4, 4, 30, 31])
    logits, states = library(weights, tokens)
    encoder = NumpyEncoder(weights, HEAD)
    # float32 adds up in another order: 1e-5 is rounding.
    assert np.allclose(encoder.logits(tokens), logits, rtol=1e-5, atol=1e-5)
    seen = set()
    for rows, layers in encoder.hidden(tokens):
        for place, row in enumerate(rows.tolist()):
            seen.add(row)
            for ours, theirs in zip(layers, states[row], strict=True):
                assert np.allclose(ours[place], theirs, rtol=1e-5, atol=1e-5)
    assert seen == set(range(10))


def test_fewer_heads_are_heads_whose_output_counts_for_nothing() -> None:
    weights, tokens = weights_of((64, 96), (4, 4)), tokens_of([5, 12, 7])
    silent = {name: array.copy() for name, array in weights.items()}
    thin = dict(weights)
    for layer, heads in ((0, 3), (1, 1)):
        name = f"bert.encoder.layer.{layer}.attention"
        silent[f"{name}.output.dense.weight"][:, heads * HEAD :] = 0
        thin[f"{name}.output.dense.weight"] = weights[f"{name}.output.dense.weight"][:, : heads * HEAD]
        for part in ("query", "key", "value"):
            for kind in ("weight", "bias"):
                thin[f"{name}.self.{part}.{kind}"] = weights[f"{name}.self.{part}.{kind}"][: heads * HEAD]
    assert np.allclose(NumpyEncoder(thin, HEAD).logits(tokens), NumpyEncoder(silent, HEAD).logits(tokens), atol=1e-5)


def test_no_pairs_have_no_logits() -> None:
    nothing = TokenizedPairs(
        np.zeros(0, np.int32), np.zeros(0, np.uint8), np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, bool)
    )
    assert NumpyEncoder(weights_of((8, 8), (4, 4)), HEAD).logits(nothing).shape == (0, 3)


def test_weights_that_lack_something_are_refused() -> None:
    weights = weights_of((8,), (4,))
    with pytest.raises(AcidtestError, match="cannot be split into heads of 7"):
        NumpyEncoder(weights, 7)
    del weights["classifier.bias"]
    with pytest.raises(AcidtestError, match=r"the weights lack classifier\.bias"):
        NumpyEncoder(weights, HEAD)


def test_blas_has_its_threads_again_afterwards() -> None:
    with single_threaded_blas() as first:
        pass
    with pytest.raises(ValueError, match="stop"), single_threaded_blas():
        raise ValueError("stop")
    with single_threaded_blas() as second:
        assert first == second >= 1


@pytest.fixture
def blas(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of threads, last, that a stand-in for OpenBLAS was told to make, and those before."""
    told = [4]
    found = numpy_encoders.OpenBlas(lambda: told[-1], told.append)
    monkeypatch.setattr(numpy_encoders, "_find_openblas", lambda: found)
    return told


def test_blas_gets_back_the_threads_that_it_had_just_before(blas: list[int]) -> None:
    with single_threaded_blas() as count:
        assert (count, blas[-1]) == (4, 1)
    assert blas[-1] == 4
    blas.append(2)
    with single_threaded_blas() as count:
        assert (count, blas[-1]) == (2, 1)
    assert blas[-1] == 2


def test_blas_makes_no_threads_until_the_last_of_several_models_is_done(blas: list[int]) -> None:
    first, second = single_threaded_blas(), single_threaded_blas()
    assert first.__enter__() == second.__enter__() == 4
    first.__exit__(None, None, None)
    assert blas[-1] == 1
    second.__exit__(None, None, None)
    assert blas[-1] == 4


def loaded(name: str) -> ModuleType:
    pytest.importorskip("safetensors", reason="safetensors is not installed: pip install 'acidtest[hf]'")
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    return loaded("export")


def test_a_head_that_says_what_another_says_is_the_one_taken_out_and_nothing_changes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    thin, weights, tokens = loaded("thin"), weights_of((64, 96), (3, 2)), tokens_of([5, 12, 7, 30, 8] * 20)
    layer = "bert.encoder.layer.0.attention"
    for part in ("query", "key", "value"):
        for kind in ("weight", "bias"):
            own = weights[f"{layer}.self.{part}.{kind}"]
            own[2 * HEAD :] = own[:HEAD]
    fewer = thin.thinned(weights, HEAD, [2, 2], tokens)
    assert capsys.readouterr().out.count("taken out") == 1
    assert fewer[f"{layer}.self.query.weight"].shape == (2 * HEAD, WIDTH)
    assert np.allclose(NumpyEncoder(fewer, HEAD).logits(tokens), NumpyEncoder(weights, HEAD).logits(tokens), atol=0.02)
    zero = thin.without(weights, 0, 1, HEAD, thin.moments(NumpyEncoder(weights, HEAD), 0, tokens))
    assert not np.allclose(
        NumpyEncoder(zero, HEAD).logits(tokens), NumpyEncoder(weights, HEAD).logits(tokens), atol=0.1
    )


def vocabulary() -> list[str]:
    texts = api.generate("hans", n=2).frame.collect()["premise"]
    known = sorted({word.strip(".").lower() for text in texts for word in text.split()})
    letters = [f"{before}{letter}" for before in ("", "##") for letter in "abcdefghijklmnopqrstuvwxyz.,'"]
    return list(dict.fromkeys(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *letters, *known]))


@pytest.fixture
def made(tool: ModuleType, tmp_path: Path) -> Callable[..., Path]:
    """A small model as the tool writes it."""

    def make(folder: str = "tiny", pieces: Sequence[str] = (), **changed: Any) -> Path:
        from safetensors.numpy import save_file

        pieces = pieces or vocabulary()
        weights = weights_of((64, 96), (3, 4), words=len(pieces))
        save_file(weights, tmp_path / "student.safetensors")
        told = {"head_size": HEAD, "activation": "gelu_tanh"} | changed
        (tmp_path / "student.json").write_text(json.dumps(told))
        (tmp_path / "words.txt").write_text("".join(f"{piece}\n" for piece in pieces), encoding="utf-8")
        tool.export(tmp_path / "student.safetensors", tmp_path / "words.txt", tmp_path / folder)
        return tmp_path / folder

    return make


def test_the_tool_writes_the_same_bytes_again(made: Callable[..., Path]) -> None:
    first, second = made("one"), made("two")
    for name in ("weights.npz", "vocabulary.txt"):
        assert (first / name).read_bytes() == (second / name).read_bytes()


def test_a_piece_may_hold_what_ends_a_line_elsewhere(made: Callable[..., Path]) -> None:
    odd = ["\u2028", "a\x85b", "\x1c"]
    folder = made(pieces=[*vocabulary(), *odd])
    assert (folder / "vocabulary.txt").read_bytes().decode().split("\n")[-4:] == [*odd, ""]
    assert reference(str(folder)).predict(["the judge ran"], ["a judge"]).shape == (1, 3)


def test_rounding_takes_the_factor_that_loses_least(tool: ModuleType) -> None:
    matrix = np.random.default_rng(0).normal(size=(40, 300)).astype(np.float32)
    matrix[3] = 0
    matrix[5, 0] = 30
    whole, scale = tool.rounded(matrix)
    plain = np.abs(matrix).max(axis=1) / 127
    error = ((restore_floats(whole, scale) - matrix) ** 2).sum(axis=1)
    usual = np.where(plain[:, None] > 0, np.rint(matrix / np.maximum(plain, 1e-9)[:, None]) * plain[:, None], 0)
    assert whole.dtype == np.int8
    assert (error <= ((usual - matrix) ** 2).sum(axis=1) + 1e-6).all()
    # A step is 2 × 3.3 / 127 for a normal row of 300, its error uniform: 0.015 of the values' size, measured 0.0072.
    assert np.sqrt(error.sum() / (matrix**2).sum()) < 0.015


def test_an_activation_that_is_not_computed_is_refused(made: Callable[..., Path]) -> None:
    with pytest.raises(SystemExit, match="its activation is relu; only gelu by tanh is computed"):
        made(activation="relu")


def test_letters_that_the_vocabulary_lacks_are_added(tool: ModuleType, tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    known = {"a": 0, "##a": 1, "b": 2, "ab": 3, "##é": 4}
    save_file({tool.WORDS: np.arange(10, dtype=np.float32).reshape(5, 2)}, tmp_path / "encoder.safetensors")
    (tmp_path / "tokenizer.json").write_text(json.dumps({"model": {"vocab": known}}))
    found, rows = tool.missing_letters(["a"], tmp_path / "encoder.safetensors", tmp_path / "tokenizer.json")
    assert found == ["##a", "##é", "b"]
    assert rows.tolist() == [[2, 3], [8, 9], [4, 5]]


def test_rounded_weights_answer_nearly_as_the_plain_ones(made: Callable[..., Path]) -> None:
    folder = made()
    model = reference(str(folder))
    assert isinstance(model, ReferenceModel)
    frame = api.generate("hans", n=4).frame.collect()
    tokens = model.prepare(frame["premise"].to_list(), frame["hypothesis"].to_list())
    plain = NumpyEncoder(weights_of((64, 96), (3, 4), words=len(vocabulary())), HEAD).logits(tokens)
    apart = np.abs(model._encoder.logits(tokens) - plain)
    # Measured: 0.06 at most on logits that reach 3.9.
    assert 0 < apart.max() < 0.15
    assert np.abs(plain).max() > 1


def test_it_says_what_it_is_and_counts_what_it_cuts(made: Callable[..., Path]) -> None:
    model = model_from_spec(f"reference:{made()}")
    assert isinstance(model, ReferenceModel)
    assert model.name == "reference:tiny"
    assert (model.limit, model.resolution, model.probabilities) == (MAX_LENGTH, "three-way", True)
    assert model.notes == ()
    values = model.predict(["a cat sat . " * 50, "a cat sat ."], ["a cat sat ."] * 2)
    assert np.allclose(values.sum(axis=1), 1)
    assert model.usage()["truncated"] == 1
    assert model.usage()["pairs"] == 2
    assert model.token_counts([f"{vocabulary()[-1]}. {vocabulary()[-2]}", ""]) == [3, 0]


def test_its_fingerprint_is_that_of_its_files(made: Callable[..., Path]) -> None:
    folder = made()
    first = reference(str(folder)).fingerprint
    assert first == reference(str(folder)).fingerprint
    path = folder / "vocabulary.txt"
    path.write_text(path.read_text().replace(f"\n{vocabulary()[-1]}\n", "\nanother\n"))
    assert reference(str(folder)).fingerprint != first


def test_it_shows_its_layers(made: Callable[..., Path]) -> None:
    model = reference(str(made()))
    assert isinstance(model, Represents)
    assert model.layers == ("embeddings", "layer 1", "layer 2")
    both = model.representations(["the judge ran", "a"], ["the judge", "a judge slept ."])
    alone = model.representations(["a"], ["a judge slept ."])
    assert both.shape == (3, 2, 2 * WIDTH)
    assert np.allclose(both[:, 1:], alone, atol=1e-5)


def test_files_that_do_not_belong_together_are_refused(made: Callable[..., Path]) -> None:
    folder = made()
    (folder / "vocabulary.txt").write_text("[UNK]\n[CLS]\n[SEP]\n")
    with pytest.raises(FileError, match=r"weights.npz: has \d+ words and 3 outputs; expected 3 as in vocabulary.txt"):
        reference(str(folder))
    (folder / "weights.npz").write_bytes(b"nothing of the kind")
    with pytest.raises(FileError, match="is no file of weights"):
        reference(str(folder))


def test_a_folder_without_weights_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AcidtestError, match=r"holds no weights.npz; name another model with --model"):
        model_from_spec(f"reference:{tmp_path}")


def test_it_runs_without_any_extra(made: Callable[..., Path]) -> None:
    heavy = ("torch", "transformers", "tokenizers", "safetensors", "onnxruntime", "scipy")
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({heavy!r}));"
        f"from acidtest.core.model import model_from_spec;"
        f"print(model_from_spec(sys.argv[1]).predict(['a judge ran'], ['a judge']).shape)"
    )
    command = [sys.executable, "-c", code, f"reference:{made()}"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "(1, 3)\n"


@pytest.mark.skipif(not (BUNDLED / "weights.npz").exists(), reason="the weights are not in this checkout")
def test_what_ships_is_small_and_knows_inference() -> None:
    assert sum(path.stat().st_size for path in BUNDLED.iterdir()) <= 8_000_000
    premises = ["A man is playing a guitar on a stage."] * 3
    hypotheses = ["A man is making music.", "The man is famous.", "The man is asleep."]
    assert model_from_spec("reference").predict(premises, hypotheses).argmax(axis=1).tolist() == [0, 1, 2]


@pytest.mark.parametrize(("repeats", "said"), [(50, True), (1, False)])
def test_a_run_says_how_many_pairs_were_cut_if_any_were(
    made: Callable[..., Path], tmp_path: Path, caplog: pytest.LogCaptureFixture, repeats: int, said: bool
) -> None:
    pairs = tmp_path / "pairs.tsv"
    rows = [f"{'a cat sat . ' * repeats}\ta cat sat .\tentailment", "a cat sat .\ta cat .\tneutral"]
    pairs.write_text("\n".join(["premise\thypothesis\tlabel", *rows, ""]), encoding="utf-8")
    with caplog.at_level("INFO", "acidtest"):
        api.run(f"reference:{made()}", str(pairs), output=tmp_path / "run", page=False, cache=False)
    assert ("reference:tiny: 1 of 2 pairs were too long for it and were cut" in caplog.text) == said
    assert ("were cut" in caplog.text) == said


def test_weights_that_unpack_to_far_more_than_their_file_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acidtest.core.files.UNPACK_RATIO_FROM", 1 << 20)
    monkeypatch.setattr(np, "load", pytest.fail)
    np.savez_compressed(tmp_path / "weights.npz", a=np.zeros(1 << 20))
    with pytest.raises(FileError, match=r"weights\.npz: unpacks to more than 200 times its size"):
        load_encoder(tmp_path / "weights.npz")
