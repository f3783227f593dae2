"""ONNX graphs made here by hand, whose answers can be computed beside them: sums of one row for every token."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from acidtest.core.errors import AcidtestError
from acidtest.core.labels import LABELS
from acidtest.core.model import CountsUsage, Model, Prepares, model_from_spec
from acidtest.models.chunks import CountsTokens, split_premises
from acidtest.models.encoders.onnx_graphs import FileTokenizer, find_graph
from acidtest.models.encoders.pair_tokens import PairTokenizer
from acidtest.models.label_maps import probe_pairs

onnx = pytest.importorskip("onnx", reason="onnx is not installed: pip install 'acidtest[onnx]'")
pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install 'acidtest[onnx]'")
tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed: pip install 'acidtest[onnx]'")

PREMISES, HYPOTHESES, GOLD = probe_pairs()
PROBES = list(zip(PREMISES, HYPOTHESES, strict=True))
PAIRS = [
    ("A man is playing a guitar on a stage.", "A man plays."),
    ("Two dogs.", "The dogs are asleep indoors and nobody is there."),
    ("A cat is asleep on the sofa.", ""),
    ("", "The shop is open today."),
]
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
NAMES = ("contradiction", "entailment", "neutral")


def tokenizer() -> Any:
    """The words of the probe pairs between the marks of BERT."""
    words = sorted(set(re.findall(r"\w+|[^\w\s]", " ".join(PREMISES + HYPOTHESES).lower())))
    made = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: number for number, word in enumerate([*SPECIAL, *words])}, "[UNK]")
    )
    made.normalizer = tokenizers.normalizers.Lowercase()
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return made


def weights(columns: np.ndarray) -> np.ndarray:
    """A row for each token and type, such that the sums over the probe pairs are these columns of right answers."""
    own, size = tokenizer(), tokenizer().get_vocab_size()
    counts = np.zeros((len(PROBES), 2 * size))
    for row, found in enumerate(own.encode_batch(PROBES)):
        np.add.at(counts[row], np.array(found.ids) + size * np.array(found.type_ids), 1)
    right = np.array([[gold == label for label in LABELS] for gold in GOLD], dtype=float)
    return np.asarray(np.linalg.lstsq(counts, 8 * right @ columns, rcond=None)[0], dtype=np.float32)


def expected_logits(table: np.ndarray, pairs: list[tuple[str, str]]) -> np.ndarray:
    size = len(table) // 2
    found = tokenizer().encode_batch(pairs)
    return np.array([table[np.array(one.ids) + size * np.array(one.type_ids)].sum(axis=0) for one in found])


def softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def graph(table: np.ndarray, *, last: str = "", batch: str | int = "batch", mask: bool = True) -> Any:
    """Rows of the table for tokens (the second half for the second sentence), added up over the mask."""
    helper, kinds = onnx.helper, onnx.TensorProto
    shape = [batch, "sequence"]
    names = ["input_ids", *(["attention_mask"] if mask else []), "token_type_ids"]
    nodes = [
        helper.make_node("Mul", ["token_type_ids", "half"], ["shift"]),
        helper.make_node("Add", ["input_ids", "shift"], ["places"]),
        helper.make_node("Gather", ["table", "places"], ["rows"]),
        helper.make_node("Cast", ["attention_mask" if mask else "places"], ["there"], to=kinds.FLOAT),
        helper.make_node("Unsqueeze", ["there", "two"], ["weight"]),
        helper.make_node("Mul", ["rows", "weight"], ["kept"])
        if mask
        else helper.make_node("Identity", ["rows"], ["kept"]),
        helper.make_node("ReduceSum", ["kept", "one"], ["sum" if last else "logits"], keepdims=0),
    ]
    if last:
        nodes.append(helper.make_node(last, ["sum"], ["logits"]))
    numbers = {"half": np.array(len(table) // 2), "one": np.array([1]), "two": np.array([2])}
    made = helper.make_graph(
        nodes,
        "sums",
        [helper.make_tensor_value_info(name, kinds.INT64, shape) for name in names],
        [helper.make_tensor_value_info("logits", kinds.FLOAT, [batch, table.shape[1]])],
        [
            onnx.numpy_helper.from_array(table, "table"),
            *(onnx.numpy_helper.from_array(value.astype(np.int64), name) for name, value in numbers.items()),
        ],
    )
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def saved(folder: Path, table: np.ndarray, names: tuple[str, ...] = (), **options: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(graph(table, **options), folder / "model.onnx")
    tokenizer().save(str(folder / "tokenizer.json"))
    config: dict[str, Any] = {"max_position_embeddings": 64, "pad_token_id": 0}
    if names:
        config["id2label"] = dict(enumerate(names))
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def opened(path: Path, **options: Any) -> Any:
    return model_from_spec(f"onnx:{path}", {"provider": "cpu", "threads": 1, **options})


def asked(model: Model, pairs: list[tuple[str, str]] = PAIRS) -> np.ndarray:
    return model.predict(*map(list, zip(*pairs, strict=True)))


@pytest.fixture(scope="module")
def table() -> np.ndarray:
    """Outputs in the order of NAMES."""
    return weights(np.eye(3)[:, [LABELS.index(name) for name in NAMES]])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, table: np.ndarray) -> Path:
    return saved(tmp_path_factory.mktemp("onnx") / "sums", table, NAMES)


def test_answers_are_the_graphs_in_our_order_of_labels(folder: Path, table: np.ndarray) -> None:
    expected = softmax(expected_logits(table, PAIRS + PROBES))[:, [1, 2, 0]]
    assert np.ptp(expected, axis=0).min() > 0.5
    assert np.allclose(asked(opened(folder), PAIRS + PROBES), expected, atol=1e-5)


def test_many_small_batches_come_back_in_order(folder: Path) -> None:
    model = opened(folder)
    whole = asked(model, PROBES)
    model._budget = 100
    assert np.allclose(asked(model, PROBES[::-1])[::-1], whole, atol=1e-6)


def test_no_pairs_give_no_rows(folder: Path) -> None:
    assert opened(folder).predict([], []).shape == (0, 3)


def test_what_a_model_says_of_itself(folder: Path) -> None:
    model = opened(folder)
    assert model.name == "onnx:sums"
    assert model.notes == ("labels by id2label: 0 = contradiction, 1 = entailment, 2 = neutral",)
    assert (model.resolution, model.independent, model.keep, model.limit) == ("three-way", True, "always", 64)
    assert all(isinstance(model, promised) for promised in (Model, Prepares, CountsUsage, CountsTokens))
    asked(model)
    assert model.usage()["pairs"] == len(PAIRS)
    assert model.token_counts(["two dogs .", ""]) == [3, 0]


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
def test_unnamed_outputs_are_read_in_every_order(tmp_path: Path, order: tuple[int, ...]) -> None:
    model = opened(saved(tmp_path / "x", weights(np.eye(3)[:, list(order)])))
    assert model.notes[0].startswith("labels by probing (")
    assert model.notes[0].endswith(", ".join(f"{number} = {LABELS[old]}" for number, old in enumerate(order)))
    answers = asked(model, PROBES).argmax(axis=1)
    assert np.mean([LABELS[answer] == gold for answer, gold in zip(answers, GOLD, strict=True)]) > 0.9


def test_two_unnamed_outputs_and_one_score_are_read(tmp_path: Path) -> None:
    two = opened(saved(tmp_path / "two", weights(np.array([[-1, 1], [0.5, -0.5], [0.5, -0.5]]))))
    one = opened(saved(tmp_path / "one", weights(np.array([[-1], [0.5], [0.5]]))))
    assert two.notes[0].endswith("0 = non-entailment, 1 = entailment")
    assert one.notes[0].endswith("a high score = non-entailment")
    for model in (two, one):
        assert model.resolution == "two-way"
        right = (asked(model, PROBES)[:, 0] > 0.5) == np.array([gold == "entailment" for gold in GOLD])
        assert right.mean() > 0.9
        assert model.predict([], []).shape == (0, 3)


def test_a_user_may_say_what_outputs_mean(tmp_path: Path, table: np.ndarray) -> None:
    silent = saved(tmp_path / "x", 0 * table)
    with pytest.raises(AcidtestError, match="do not tell what they mean"):
        opened(silent)
    listed, renamed = opened(silent, labels="n,c,e"), opened(silent, label_map="0=n,LABEL_1=c,2=e")
    assert listed.fingerprint == renamed.fingerprint != opened(silent, labels="e,n,c").fingerprint


@pytest.mark.parametrize("last", ["Softmax", "LogSoftmax"])
def test_probabilities_are_not_squashed_twice(tmp_path: Path, table: np.ndarray, last: str) -> None:
    model = opened(saved(tmp_path / "x", table, NAMES, last=last))
    assert np.allclose(asked(model), softmax(expected_logits(table, PAIRS))[:, [1, 2, 0]], atol=1e-5)


def test_a_score_between_0_and_1_is_taken_for_a_probability(tmp_path: Path) -> None:
    score = weights(np.array([[1], [-0.5], [-0.5]]))
    model = opened(saved(tmp_path / "x", score, last="Sigmoid"))
    expected = 1 / (1 + np.exp(-expected_logits(score, PAIRS)[:, 0]))
    assert np.allclose(asked(model)[:, 0], expected, atol=1e-5)


def test_a_graph_that_padding_would_mislead_is_never_given_any(tmp_path: Path, table: np.ndarray) -> None:
    model = opened(saved(tmp_path / "x", table + 1, NAMES, mask=False))
    assert np.allclose(asked(model), softmax(expected_logits(table + 1, PAIRS))[:, [1, 2, 0]], atol=1e-4)
    assert model.usage()["padding"] == 0


def test_long_premises_are_cut_and_flagged(folder: Path, table: np.ndarray) -> None:
    model = opened(folder)
    pairs = [("guitar " * 100, "A cat is asleep."), ("A cat.", "A cat.")]
    tokens = model.prepare(*map(list, zip(*pairs, strict=True)))
    assert tokens.truncated.tolist() == [True, False]
    assert tokens.lengths.tolist() == [9, 64]
    # [CLS] 56 × guitar [SEP] a cat is asleep . [SEP] are 64.
    cut = [("guitar " * 56, "A cat is asleep.")]
    assert np.allclose(asked(model, pairs)[0], softmax(expected_logits(table, cut))[0, [1, 2, 0]], atol=1e-5)


def test_long_premises_can_be_asked_in_chunks(folder: Path) -> None:
    model = split_premises(opened(folder))
    long = " ".join(["A man is playing a guitar on a stage."] * 20)
    assert isinstance(model, CountsUsage)
    assert np.isfinite(model.predict([long], ["A man plays."])).all()
    assert model.usage()["chunks"] > 1
    assert model.usage()["truncated"] == 0


def test_fewer_tokens_may_be_asked_for_but_not_more(folder: Path) -> None:
    assert opened(folder, max_length=20).prepare(["guitar " * 50], ["A cat."]).lengths.tolist() == [20]
    assert opened(folder, max_length=20).fingerprint != opened(folder).fingerprint
    with pytest.raises(AcidtestError, match="--max-length 65 is more than the 64"):
        opened(folder, max_length=65)


def test_the_fingerprint_is_that_of_what_decides_the_answers(folder: Path, tmp_path: Path, table: np.ndarray) -> None:
    copy = shutil.copytree(folder, tmp_path / "copy")
    (copy / "README.md").write_text("nothing")
    assert opened(copy).fingerprint == opened(folder, threads=2).fingerprint
    other = saved(tmp_path / "other", table * np.float32(1.01), NAMES)
    assert opened(other).fingerprint != opened(folder).fingerprint


def test_a_file_is_as_good_as_its_folder_and_the_hubs_layout_is_known(folder: Path, tmp_path: Path) -> None:
    assert np.array_equal(asked(opened(folder / "model.onnx")), asked(opened(folder)))
    hub = shutil.copytree(folder, tmp_path / "hub")
    (hub / "onnx").mkdir()
    (hub / "model.onnx").rename(hub / "onnx" / "model_O3.onnx")
    model = opened(hub / "onnx" / "model_O3.onnx")
    assert model.name == "onnx:hub/model_O3.onnx"
    assert np.array_equal(asked(model), asked(opened(folder)))


@pytest.mark.parametrize("whole", [True, False])
def test_tokens_are_the_tokenizers_own(folder: Path, whole: bool) -> None:
    own = tokenizer()
    pairs = PairTokenizer(FileTokenizer(find_graph(str(folder)), ("input_ids", "token_type_ids")), 64)
    assert pairs._assembler is not None
    if whole:
        pairs._assembler = None
    premises, hypotheses = map(list, zip(("guitar " * 80, "A cat."), *PAIRS, strict=True))
    tokens = pairs.tokens(premises, hypotheses)
    own.enable_truncation(64, strategy="only_first")
    assert tokens.types is not None
    for place, row in enumerate(tokens.rows):
        expected = own.encode(premises[row], hypotheses[row])
        part = slice(int(tokens.starts[place]), int(tokens.starts[place + 1]))
        assert tokens.ids[part].tolist() == expected.ids
        assert tokens.types[part].tolist() == expected.type_ids
    assert np.flatnonzero(tokens.truncated).tolist() == [0]


def external(folder: Path, location: str) -> None:
    """Say of the table of a saved graph that it lies in another file."""
    model = onnx.load(folder / "model.onnx")
    tensor = model.graph.initializer[0]
    (folder / "weights.bin").write_bytes(tensor.raw_data)
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", location
    (folder / "model.onnx").write_bytes(model.SerializeToString())


def test_weights_may_lie_beside_the_graph_and_are_part_of_the_fingerprint(
    folder: Path, tmp_path: Path, table: np.ndarray
) -> None:
    copy = saved(tmp_path / "x", table, NAMES)
    external(copy, "weights.bin")
    model = opened(copy)
    assert np.allclose(asked(model), asked(opened(folder)), atol=1e-6)
    (copy / "weights.bin").write_bytes((table * np.float32(2)).tobytes())
    assert opened(copy).fingerprint != model.fingerprint


def test_weights_outside_the_folder_are_never_read(tmp_path: Path, table: np.ndarray) -> None:
    for number, location in enumerate(("../secret.bin", str(tmp_path / "secret.bin"))):
        copy = saved(tmp_path / f"x{number}", table, NAMES)
        external(copy, location)
        (tmp_path / "secret.bin").write_bytes((copy / "weights.bin").read_bytes())
        with pytest.raises(AcidtestError, match="from outside its folder"):
            opened(copy)


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights on Windows")
def test_a_link_does_not_lead_out_of_the_folder(tmp_path: Path, table: np.ndarray) -> None:
    copy = saved(tmp_path / "x", table, NAMES)
    external(copy, "weights.bin")
    (copy / "weights.bin").rename(tmp_path / "secret.bin")
    (copy / "weights.bin").symlink_to(tmp_path / "secret.bin")
    with pytest.raises(AcidtestError, match="from outside its folder"):
        opened(copy)


def test_what_cannot_be_a_model_is_told_from_what_can(folder: Path, tmp_path: Path, table: np.ndarray) -> None:
    def refused(path: Path | str, match: str, **options: Any) -> None:
        with pytest.raises(AcidtestError, match=match):
            model_from_spec(f"onnx:{path}", options)

    refused("", "names nothing")
    refused(tmp_path / "nowhere", "there is no file or folder")
    refused(tmp_path, r"has no model.onnx or model.int8.onnx; acidtest export onnx writes")
    refused(folder / "config.json", r"is no file ending in \.onnx")
    refused(folder, "--threads is -1", threads=-1)
    refused(folder, "--max-length is -1", max_length=-1)
    bare = tmp_path / "bare"
    saved(bare, table)
    (bare / "tokenizer.json").unlink()
    refused(bare, "has no tokenizer: there is no tokenizer.json")
    (bare / "tokenizer.json").write_text("{}")
    refused(bare, "this is no file of the tokenizers library")
    (bare / "model.onnx").write_bytes(b"no graph")
    refused(bare, "is no ONNX file, or a broken one")
    refused(saved(tmp_path / "wide", np.tile(table, 3)), "not a sequence classifier: its output 'logits'.*× 9;")
    refused(saved(tmp_path / "fixed", table, batch=1), "takes inputs of fixed size only")
    refused(saved(tmp_path / "names", table, NAMES[:2]), "has 3 outputs, but id2label names 0, 1;")


def test_a_missing_runtime_is_named_with_its_install_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(AcidtestError, match=r"needs onnxruntime; install it with: pip install 'acidtest\[onnx\]'"):
        opened(folder)


def test_neither_torch_nor_transformers_is_imported(folder: Path) -> None:
    import subprocess

    code = (
        "import sys; from acidtest.core.model import model_from_spec; "
        f"model_from_spec('onnx:' + {str(folder)!r}, {{'provider': 'cpu'}}).predict(['A cat.'], ['A cat.']); "
        "print([name for name in ('torch', 'transformers') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("config.json", "[]", r"expected an object, got \[\]"),
        ("config.json", "[" * 100_000, "nests lists and objects"),
        ("config.json", '{"pad_token_id": "x"}', 'pad_token_id: expected an integer, got "x"'),
        ("config.json", '{"max_position_embeddings": "many"}', "max_position_embeddings: expected an integer"),
        ("config.json", '{"model_type": 3}', "model_type: expected a text, got 3"),
        ("config.json", '{"id2label": ["entailment"]}', "id2label: expected an object"),
        ("config.json", '{"id2label": {"0": 3}}', "id2label.0: expected a text, got 3"),
        (
            "config.json",
            '{"id2label": {"0": "neutral", "0": "entailment"}}',
            "the key '0' stands more than once",
        ),
        ("acidtest.json", '{"max_length": "x"}', "max_length: expected an integer"),
        ("acidtest.json", '{"pads": "yes"}', "pads: expected true or false"),
        ("acidtest.json", "3", "expected an object, got 3"),
        ("tokenizer_config.json", '{"model_max_length": "long"}', "model_max_length: expected a number"),
        ("tokenizer.json", "[" * 100_000, "nests lists and objects"),
        ("tokenizer.json", "{}", "is no file of the tokenizers library"),
    ],
)
def test_malformed_json_beside_a_graph_is_named(
    folder: Path, tmp_path: Path, file: str, content: str, message: str
) -> None:
    copy = shutil.copytree(folder, tmp_path / "copy")
    (copy / file).write_text(content)
    with pytest.raises(AcidtestError, match=rf"{file}: .*{message}"):
        opened(copy)


def test_a_token_for_padding_that_no_tokenizer_has_is_told(folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(folder, tmp_path / "copy")
    (copy / "config.json").write_text(json.dumps({"pad_token_id": 10**30}))
    with pytest.raises(AcidtestError, match="its token for padding is 1000000000000000000000000000000"):
        opened(copy)
