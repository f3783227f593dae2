"""Encoders of transformers trained further, tiny ones made here: against the library itself and ``hf:``."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from acidtest import api
from acidtest.cli.app import main
from acidtest.core.errors import AcidtestError
from acidtest.core.escaping import quote_argument
from acidtest.core.model import Prepares, Represents, model_from_spec

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'acidtest[hf]'")
transformers = pytest.importorskip("transformers", reason="transformers is not installed: pip install 'acidtest[hf]'")

from acidtest.models.encoders.checkpoints import find_encoder  # noqa: E402
from acidtest.zoo.architectures.bert import EncoderNetwork, TokenReader  # noqa: E402
from acidtest.zoo.batches import Inputs, NetworkBatch  # noqa: E402
from acidtest.zoo.networks import load_network  # noqa: E402
from acidtest.zoo.trainer import Trainer, TrainerOptions  # noqa: E402
from acidtest.zoo.training import TrainingOptions  # noqa: E402

CPU = torch.device("cpu")
SUBJECTS = ("a man", "a woman", "the dog", "two cats")
PAIRS = [
    row
    for subject in SUBJECTS
    for row in (
        (f"{subject} sleeps in a big red house .", f"{subject} sleeps .", "entailment"),
        (f"{subject} runs .", f"{subject} runs to the house of a friend .", "neutral"),
        (f"{subject} sleeps .", f"{subject} runs .", "contradiction"),
    )
]
PREMISES, HYPOTHESES, LABELS = (list(column) for column in zip(*PAIRS, strict=True))
LONG = " ".join(["the man sleeps in a house ."] * 12)
KINDS = ("bert", "roberta", "distilbert")
TINY = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def made(folder: Path, kind: str) -> Path:
    """An encoder of random weights, without a head, and its tokenizer."""
    texts = [*PREMISES, *HYPOTHESES]
    sizes: dict[str, Any] = {"initializer_range": 0.2, **TINY}
    if kind == "roberta":
        from tokenizers import ByteLevelBPETokenizer

        learnt = ByteLevelBPETokenizer()
        special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
        learnt.train_from_iterator(texts, vocab_size=400, special_tokens=special, show_progress=False)
        state = json.loads(learnt.to_str())["model"]
        merges = [tuple(merge) for merge in state["merges"]]
        tokenizer = transformers.RobertaTokenizerFast(vocab=state["vocab"], merges=merges)
        config: Any = transformers.RobertaConfig(
            vocab_size=len(tokenizer), max_position_embeddings=66, pad_token_id=1, type_vocab_size=1, **sizes
        )
    else:
        words = sorted(set(re.findall(r"\S+", " ".join(texts))))
        pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]
        vocabulary = {piece: number for number, piece in enumerate(pieces)}
        if kind == "bert":
            tokenizer = transformers.BertTokenizerFast(vocab=vocabulary)
            config = transformers.BertConfig(vocab_size=len(tokenizer), max_position_embeddings=64, **sizes)
        elif kind == "deberta":
            tokenizer = transformers.BertTokenizerFast(vocab=vocabulary)
            relative = {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "type_vocab_size": 0}
            config = transformers.DebertaV2Config(vocab_size=len(tokenizer), **sizes, **relative)
        else:
            tokenizer = transformers.BertTokenizerFast(
                vocab=vocabulary, model_input_names=["input_ids", "attention_mask"]
            )
            sizes = {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64, "max_position_embeddings": 64}
            config = transformers.DistilBertConfig(vocab_size=len(tokenizer), initializer_range=0.2, **sizes)
    torch.manual_seed(0)
    transformers.AutoModel.from_config(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Folders of encoders by kind, each made once."""
    folders: dict[str, Path] = {}

    def folder(kind: str) -> Path:
        if kind not in folders:
            folders[kind] = made(tmp_path_factory.mktemp(kind), kind)
        return folders[kind]

    return folder


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.jsonl"
    rows = [{"premise": premise, "hypothesis": hypothesis, "label": label} for premise, hypothesis, label in PAIRS]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def train(
    file: Path, folder: Path, encoder: Path | str, *, arguments: Any = None, recipe: Any = None, **more: Any
) -> Any:
    material = api.Material([file], file)
    trainer_options = {"epochs": 2, "batch_size": 4, "learning_rate": 1e-3, **(recipe or {})}
    options = {"encoder": str(encoder), **(arguments or {})}
    return api.train("bert", material, output=folder, arguments=options, recipe=trainer_options, device="cpu", **more)[
        0
    ]


def reader(encoder: Path, **settings: Any) -> TokenReader:
    study = TrainingOptions("bert", {"encoder": str(encoder), **settings}, TrainerOptions(epochs=1, batch_size=4))
    return TokenReader.for_training(study, pl.DataFrame())


def inputs(of: TokenReader, premises: list[str] = PREMISES, hypotheses: list[str] = HYPOTHESES) -> Inputs:
    return of.inputs(pl.DataFrame({"premise": premises, "hypothesis": hypotheses}), None, CPU)


def weights(folder: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    return load_file(folder / "model.safetensors")


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_is_what_the_tokenizer_gives(kind: str, encoder: Callable[[str], Path]) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(encoder(kind))
    rows = np.array([3, 0, 7])
    batch = inputs(reader(encoder(kind))).batch(rows)
    expected = tokenizer(
        [PREMISES[row] for row in rows], [HYPOTHESES[row] for row in rows], padding=True, return_tensors="pt"
    )
    assert torch.equal(batch.ids, expected["input_ids"])
    assert torch.equal(batch.mask.long(), expected["attention_mask"])
    assert (batch.types is None) == ("token_type_ids" not in expected)
    assert batch.types is None or torch.equal(batch.types, expected["token_type_ids"])
    if kind == "roberta":
        # Two ends stand between the texts.
        ends = (batch.ids[0] == tokenizer.sep_token_id).nonzero().flatten().tolist()
        assert len(ends) == 3
        assert ends[1] == ends[0] + 1


def test_pairs_of_one_length_need_no_mask(encoder: Callable[[str], Path]) -> None:
    found = inputs(reader(encoder("bert")))
    assert found.batch(np.array([2, 2])).mask is None


@pytest.mark.parametrize("kind", KINDS)
def test_what_others_are_in_the_batch_does_not_matter(kind: str, encoder: Callable[[str], Path]) -> None:
    torch.manual_seed(0)
    of = reader(encoder(kind))
    made = EncoderNetwork(of.basis(3)).eval()
    found = inputs(of)
    with torch.inference_mode():
        alone = torch.cat([made(found.batch(np.array([row]))) for row in range(len(PAIRS))])
        together = made(found.batch(np.arange(len(PAIRS))))
        states = torch.cat([made.states(found.batch(np.array([row]))) for row in range(len(PAIRS))], dim=1)
        assert torch.allclose(states, made.states(found.batch(np.arange(len(PAIRS)))), atol=1e-5)
    assert torch.allclose(alone, together, atol=1e-5)
    assert alone.std(dim=0).min() > 1e-4


@pytest.mark.parametrize("kind", KINDS)
def test_every_weight_learns(kind: str, encoder: Callable[[str], Path]) -> None:
    of = reader(encoder(kind))
    made = EncoderNetwork(of.basis(3))
    made(inputs(of).batch(np.arange(len(PAIRS))))[:, 0].sum().backward()
    # What is added to all keys alike changes no attention.
    still = {
        name
        for name, weight in made.named_parameters()
        if (weight.grad is None or not weight.grad.abs().max() > 1e-9) and not re.search(r"(key|k_lin)\.bias$", name)
    }
    assert not still


@pytest.mark.parametrize("kind", KINDS)
def test_the_folder_says_the_same_as_hf(kind: str, encoder: Callable[[str], Path], file: Path, tmp_path: Path) -> None:
    train(file, tmp_path / "out", encoder(kind), arguments={"max_length": "40"})
    trained_model, reopened = (model_from_spec(f"{way}:{tmp_path / 'out'}", {"device": "cpu"}) for way in ("zoo", "hf"))
    premises, hypotheses = [*PREMISES, "", LONG, "a man"], [*HYPOTHESES, "a dog runs .", "the man", LONG]
    found, other = trained_model.predict(premises, hypotheses), reopened.predict(premises, hypotheses)
    assert np.abs(found - other).max() < 1e-5
    assert np.ptp(found, axis=0).min() > 1e-3
    assert isinstance(trained_model, Prepares)
    cut = trained_model.prepare(premises, hypotheses).truncated
    assert cut.tolist() == [False] * (len(premises) - 2) + [True, True]
    assert isinstance(trained_model, Represents)
    assert trained_model.layers == reopened.layers == ("embeddings", "layer 1", "layer 2")
    shown = trained_model.representations(premises, hypotheses)
    assert np.abs(shown - reopened.representations(premises, hypotheses)).max() < 1e-4
    assert trained_model.representations([], []).shape == (len(trained_model.layers), 0, shown.shape[2])


def test_merged_labels_are_two_way_for_hf_too(encoder: Callable[[str], Path], file: Path, tmp_path: Path) -> None:
    train(file, tmp_path / "out", encoder("bert"), merged=True)
    config = json.loads((tmp_path / "out" / "config.json").read_text(encoding="utf-8"))
    assert config["id2label"] == {"0": "entailment", "1": "non-entailment"}
    trained_model, reopened = (model_from_spec(f"{way}:{tmp_path / 'out'}", {"device": "cpu"}) for way in ("zoo", "hf"))
    assert trained_model.resolution == reopened.resolution == "two-way"
    assert np.abs(trained_model.predict(PREMISES, HYPOTHESES) - reopened.predict(PREMISES, HYPOTHESES)).max() < 1e-5


def test_the_command_names_the_checkpoint_as_a_model_that_a_shell_takes(
    encoder: Callable[[str], Path], file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "my bert"
    words = ["--encoder", str(encoder("bert")), "--train", str(file), "--epochs", "1", "-o", str(folder), "--quiet"]
    assert main(["train", "bert", *words]) == 0
    command = capsys.readouterr().out.rpartition("run it with: ")[2]
    assert command.strip() == f"acidtest run -m {quote_argument(f'hf:{folder}')}"


def test_it_learns_a_few_pairs_by_heart(encoder: Callable[[str], Path], file: Path, tmp_path: Path) -> None:
    found = train(file, tmp_path / "out", encoder("bert"), recipe={"epochs": 20, "patience": 20})
    assert found.state.best > 0.9


def test_stopped_in_the_middle_it_goes_on_to_the_same_end(
    encoder: Callable[[str], Path], file: Path, tmp_path: Path
) -> None:
    class StopError(Exception):
        pass

    def stop(done: int, total: int) -> None:
        if done == 16:
            raise StopError

    recipe = {"checkpoint_s": 0.0}
    whole = train(file, tmp_path / "whole", encoder("bert"), recipe=recipe)
    with pytest.raises(StopError):
        train(file, tmp_path / "parts", encoder("bert"), recipe=recipe, progress=stop)
    parts = train(file, tmp_path / "parts", encoder("bert"), recipe=recipe)
    kept = ("epoch", "loss", "dev_accuracy", "dev_loss")
    assert [[point[name] for name in kept] for point in parts.state.curve] == [
        [point[name] for name in kept] for point in whole.state.curve
    ]
    first, second = weights(tmp_path / "whole"), weights(tmp_path / "parts")
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_the_head_is_drawn_by_the_seed_and_the_encoder_is_the_given_one(encoder: Callable[[str], Path]) -> None:
    of = reader(encoder("bert"))

    def begun(seed: int) -> Any:
        torch.manual_seed(seed)
        return of.basis(3)

    first, same, other = begun(0), begun(0), begun(1)
    assert torch.equal(first.classifier.weight, same.classifier.weight)
    assert not torch.equal(first.classifier.weight, other.classifier.weight)
    expected = weights(encoder("bert"))
    assert all(torch.equal(value, expected[name]) for name, value in other.bert.state_dict().items())


def test_a_head_that_is_there_is_not_taken_over(encoder: Callable[[str], Path], tmp_path: Path) -> None:
    whole = transformers.AutoModelForSequenceClassification.from_pretrained(encoder("bert"), num_labels=3)
    with torch.no_grad():
        whole.classifier.weight.fill_(7.0)
    whole.save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(encoder("bert")).save_pretrained(tmp_path)
    assert reader(tmp_path).basis(3).classifier.weight.abs().max() < 2


def test_biases_and_norms_do_not_decay(tmp_path: Path) -> None:
    class Still(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear, self.norm = torch.nn.Linear(2, 3), torch.nn.LayerNorm(3)

        def forward(self, batch: Any) -> Any:
            return 0 * self.norm(self.linear(torch.ones(len(batch.rows), 2)))

    class Rows(Inputs):
        def _read(self, rows: Any, device_rows: Any, targets: Any) -> NetworkBatch:
            return NetworkBatch(rows, targets)

    made = Still()
    before = {name: value.clone() for name, value in made.state_dict().items()}
    recipe = TrainerOptions(epochs=1, batch_size=2, optimizer="adamw", weight_decay=0.5, learning_rate=0.1)
    Trainer(made, tmp_path, recipe, CPU).train(Rows(np.ones(2, np.int64), np.eye(2, 3, dtype=bool), CPU), None)
    after = made.state_dict()
    # One step of AdamW: the rate times the decay is taken off.
    assert torch.allclose(after["linear.weight"], before["linear.weight"] * (1 - 0.1 * 0.5))
    for name in ("linear.bias", "norm.weight", "norm.bias"):
        assert torch.equal(after[name], before[name])


def test_an_installed_package_is_found_by_its_name_and_not_imported(
    encoder: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "tiny_encoder_of_a_test"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('imported')", encoding="utf-8")
    (package / "model").symlink_to(encoder("bert"), target_is_directory=True)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert find_encoder("tiny-encoder-of-a-test").folder == package / "model"


def test_mistakes_are_told(encoder: Callable[[str], Path], file: Path, tmp_path: Path) -> None:
    with pytest.raises(AcidtestError, match=r"name a folder.*--encoder"):
        api.train("bert", api.Material([file]), output=tmp_path / "a", device="cpu")
    with pytest.raises(AcidtestError, match=r"no folder and no installed package.*hf download nobody/no-such-model"):
        train(file, tmp_path / "b", "nobody/no-such-model")
    with pytest.raises(AcidtestError, match="leaves no room"):
        train(file, tmp_path / "c", encoder("bert"), arguments={"max_length": "4"})


def test_weights_that_are_not_the_configurations_are_refused(encoder: Callable[[str], Path], tmp_path: Path) -> None:
    from safetensors.torch import save_file

    for path in encoder("bert").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    kept = {name: value for name, value in weights(tmp_path).items() if "layer.1" not in name}
    save_file(kept, tmp_path / "model.safetensors", {"format": "pt"})
    with pytest.raises(AcidtestError, match=r"its weights lack .*layer\.1"):
        reader(tmp_path).basis(3)


def test_without_transformers_the_line_to_install_it_is_named(
    encoder: Callable[[str], Path], file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(AcidtestError, match=r"training bert needs transformers.*acidtest\[hf\]"):
        train(file, tmp_path / "out", encoder("bert"))


def test_positions_bound_what_is_read(encoder: Callable[[str], Path]) -> None:
    # 66 positions, of which RoBERTa counts from the third on.
    assert reader(encoder("roberta")).longest == 64
    found = inputs(reader(encoder("roberta")), [LONG], [LONG])
    assert found.batch(np.array([0])).ids.shape == (1, 64)


@pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")
def test_deberta_which_attends_in_its_own_way_learns_and_says_the_same_as_hf(
    encoder: Callable[[str], Path], file: Path, tmp_path: Path
) -> None:
    train(file, tmp_path / "out", encoder("deberta"))
    trained_model, reopened = (model_from_spec(f"{way}:{tmp_path / 'out'}", {"device": "cpu"}) for way in ("zoo", "hf"))
    assert np.abs(trained_model.predict(PREMISES, HYPOTHESES) - reopened.predict(PREMISES, HYPOTHESES)).max() < 1e-5


def test_how_many_pairs_are_cut_is_said(encoder: Callable[[str], Path], caplog: pytest.LogCaptureFixture) -> None:
    frame = pl.DataFrame({"premise": [LONG, "a man", "a dog"], "hypothesis": ["a man", "a dog", LONG]})
    with caplog.at_level(1, "acidtest"):
        reader(encoder("bert")).inputs(frame, np.eye(3, dtype=bool), CPU)
    assert "2 of 3 pairs are cut to 64 tokens" in caplog.text


def test_nothing_half_written_is_ever_in_the_folder(
    encoder: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a killed program leaves behind lies elsewhere."""
    token_reader, there = reader(encoder("bert")), list[Path]()
    folder = tmp_path / "net"
    folder.mkdir()
    write = token_reader.tokenizer.save_pretrained

    def written(where: str) -> None:
        write(where)
        there.extend(folder.iterdir())

    monkeypatch.setattr(token_reader.tokenizer, "save_pretrained", written)
    token_reader.save(folder)
    assert there == []
    assert {"tokenizer.json", "config.json"} <= {path.name for path in folder.iterdir()}


def test_another_configuration_or_tokenizer_is_another_fingerprint(
    encoder: Callable[[str], Path], file: Path, tmp_path: Path
) -> None:
    train(file, tmp_path / "out", encoder("bert"), recipe={"epochs": 1})
    before = load_network(tmp_path / "out").fingerprint
    for name, old, new in (("config.json", '"gelu"', '"relu"'), ("tokenizer.json", '"dog"', '"dogg"')):
        path = tmp_path / "out" / name
        written = path.read_text(encoding="utf-8")
        assert old in written
        path.write_text(written.replace(old, new), encoding="utf-8")
        assert load_network(tmp_path / "out").fingerprint != before
        path.write_text(written, encoding="utf-8")
    assert load_network(tmp_path / "out").fingerprint == before
