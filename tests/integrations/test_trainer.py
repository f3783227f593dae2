"""The callback in the trainers of transformers and sentence-transformers, with a tiny network trained here."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import acidtest
from acidtest import AcidtestError
from acidtest.core.suite import Suite
from acidtest.models.label_maps import probe_pairs

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'acidtest[hf]'")
tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed: pip install 'acidtest[hf]'")
transformers = pytest.importorskip("transformers", reason="transformers is not installed: pip install 'acidtest[hf]'")
pytest.importorskip("accelerate", reason="accelerate, which Trainer needs, is not installed")

from acidtest.integrations.trainer import AcidtestCallback, classifier_network  # noqa: E402
from pages import ROOT, read_blocks  # noqa: E402

PREMISES, HYPOTHESES, GOLD = (column[::5] for column in probe_pairs())
NAMES = ("contradiction", "entailment", "neutral")
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def hans() -> Suite:
    return acidtest.generate("hans", n=4)


def make_tokenizer() -> Any:
    words = sorted(set(re.findall(r"\w+", " ".join(PREMISES + HYPOTHESES).lower())))
    letters = sorted({letter for word in words for letter in word} - set(words))
    pieces = [*SPECIAL, ".", *words, *letters, *(f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz")]
    words_and_letters = tokenizers.BertWordPieceTokenizer({piece: number for number, piece in enumerate(pieces)})
    special = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), SPECIAL, strict=True))
    return transformers.PreTrainedTokenizerFast(tokenizer_object=words_and_letters._tokenizer, **special)


def make_network(tokenizer: Any, names: tuple[str, ...] = NAMES) -> Any:
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        initializer_range=0.2,
        id2label=dict(enumerate(names)),
        label2id={name: number for number, name in enumerate(names)},
    )
    network = transformers.BertForSequenceClassification(config).eval()
    pairs = acidtest.generate("hans", n=1).frame.collect()
    inputs = tokenizer(pairs["premise"].to_list(), pairs["hypothesis"].to_list(), padding=True, return_tensors="pt")
    with torch.no_grad():
        # Answers differ from pair to pair when no label is preferred.
        network.classifier.weight *= 5
        network.classifier.bias -= network(**inputs).logits.mean(dim=0)
    return network


class Encoded(torch.utils.data.Dataset):
    """The probe pairs as tokens."""

    def __init__(self, tokenizer: Any) -> None:
        self.rows = [
            {**tokenizer(premise, hypothesis), "labels": NAMES.index(gold)}
            for premise, hypothesis, gold in zip(PREMISES, HYPOTHESES, GOLD, strict=True)
        ]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, number: int) -> dict[str, Any]:
        return self.rows[number]


def make_trainer(folder: Path, *callbacks: Any, network: Any = None, **options: Any) -> Any:
    tokenizer = make_tokenizer()
    rows = Encoded(tokenizer)
    arguments = {
        "num_train_epochs": 2,
        "eval_strategy": "epoch",
        "save_strategy": "no",
        "logging_strategy": "epoch",
        "report_to": "none",
        "disable_tqdm": True,
        "use_cpu": True,
        "learning_rate": 1e-4,
        **options,
    }
    return transformers.Trainer(
        network or make_network(tokenizer),
        transformers.TrainingArguments(str(folder), **arguments),
        train_dataset=rows,
        eval_dataset=rows,
        processing_class=tokenizer,
        callbacks=list(callbacks),
    )


def logged(trainer: Any, name: str = "eval_acidtest_hans") -> list[float]:
    return [entry[name] for entry in trainer.state.log_history if name in entry]


def accuracies(results: Any) -> tuple[float, float]:
    scores = results.suites["hans"]
    return scores.overall.value, scores.by["label"]["non-entailment"].value


def test_the_best_checkpoint_is_chosen_by_hans_and_loggers_get_what_acidtest_run_prints(
    tmp_path: Path, hans: Suite
) -> None:
    pytest.importorskip("tensorboard", reason="tensorboard is not installed")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    trainer = make_trainer(
        tmp_path / "checkpoints",
        AcidtestCallback(hans, limit=None, output=tmp_path / "runs"),
        save_strategy="epoch",
        load_best_model_at_end=True,
        metric_for_best_model="eval_acidtest_hans_non_entailment",
        report_to=["tensorboard"],
    )
    trainer.train()
    values = logged(trainer, "eval_acidtest_hans_non_entailment")
    steps = [8, 16]
    assert trainer.state.best_metric == max(values)
    assert trainer.state.best_model_checkpoint.endswith(f"checkpoint-{steps[values.index(max(values))]}")
    [file] = tmp_path.rglob("events.out.*")
    events = EventAccumulator(str(file.parent)).Reload()
    shown = [(event.step, event.value) for event in events.Scalars("eval/acidtest_hans_non_entailment")]
    assert shown == [(step, pytest.approx(value)) for step, value in zip(steps, values, strict=True)]
    for step, value, non_entailed in zip(steps, logged(trainer), values, strict=True):
        saved = acidtest.run(f"hf:{tmp_path}/checkpoints/checkpoint-{step}", hans, output=tmp_path / f"saved-{step}")
        kept = acidtest.finished_run(tmp_path / "runs" / f"step-{step}")
        assert accuracies(saved.scored) == accuracies(kept.scored) == (value, non_entailed)
        columns = ["p_entailment", "p_neutral", "p_contradiction"]
        frames = [finished.run.collected(finished.run.frame.lazy().select(columns)) for finished in (saved, kept)]
        assert frames[0].to_numpy() == pytest.approx(frames[1].to_numpy(), abs=1e-5)


def test_training_goes_on_as_if_nothing_had_been_asked(tmp_path: Path, hans: Suite) -> None:
    weights = []
    for callbacks in ((), (AcidtestCallback(hans, limit=30),)):
        trainer = make_trainer(tmp_path, *callbacks, eval_strategy="steps", eval_steps=3)
        trainer.train()
        weights.append(trainer.model.state_dict())
    assert all(torch.equal(value, weights[1][name]) for name, value in weights[0].items())


def test_modes_gradients_and_autocast_are_as_before_when_asking_fails(tmp_path: Path, hans: Suite) -> None:
    trainer = make_trainer(tmp_path, AcidtestCallback(hans, limit=30))
    network = trainer.model
    network.train()
    network.bert.encoder.layer[0].eval()
    with torch.no_grad():
        network.classifier.weight.fill_(float("nan"))
    before = [module.training for module in network.modules()]
    handler = trainer.callback_handler
    with torch.autocast("cpu", dtype=torch.bfloat16):
        with pytest.raises(AcidtestError, match="at step 0' gave NaN for"):
            handler.on_evaluate(trainer.args, trainer.state, trainer.control, {})
        assert torch.is_autocast_enabled("cpu")
    assert [module.training for module in network.modules()] == before
    assert torch.is_grad_enabled()


def test_mixed_precision_is_put_aside_while_asking_and_stays_for_training(tmp_path: Path, hans: Suite) -> None:
    trainer = make_trainer(tmp_path / "training", AcidtestCallback(hans, limit=None), bf16=True, num_train_epochs=1)
    trainer.train()
    assert "_original_forward" in vars(trainer.model)
    assert trainer.model.forward != trainer.model._original_forward
    trainer.save_model(str(tmp_path / "saved"))
    saved = acidtest.run(f"hf:{tmp_path}/saved", hans, output=tmp_path / "run")
    assert logged(trainer) == [saved.accuracy("hans").value]


def test_outputs_without_names_are_refused_before_training_unless_labels_says_what_they_mean(
    tmp_path: Path, hans: Suite
) -> None:
    nameless = ("LABEL_0", "LABEL_1", "LABEL_2")
    tokenizer = make_tokenizer()
    trainer = make_trainer(tmp_path, AcidtestCallback(hans), network=make_network(tokenizer, nameless))
    with pytest.raises(AcidtestError, match=r"AcidtestCallback\(labels='entailment,neutral,contradiction'\)"):
        trainer.train()
    assert trainer.state.global_step == 0
    values = []
    for names, labels in ((nameless, NAMES), (NAMES, "")):
        callback = AcidtestCallback(hans, limit=None, labels=labels)
        values.append(make_trainer(tmp_path, callback, network=make_network(tokenizer, names)).evaluate())
    assert values[0]["eval_acidtest_hans"] == values[1]["eval_acidtest_hans"]


def test_a_trainer_without_a_tokenizer_is_refused_by_name(tmp_path: Path, hans: Suite) -> None:
    trainer = make_trainer(tmp_path, AcidtestCallback(hans))
    trainer.callback_handler.processing_class = None
    with pytest.raises(AcidtestError, match=r"Trainer\(processing_class=…\) or AcidtestCallback\(tokenizer=…\)"):
        trainer.train()


def test_several_evaluation_sets_of_one_step_are_asked_once_but_changed_weights_again(
    tmp_path: Path, hans: Suite
) -> None:
    trainer = make_trainer(tmp_path, AcidtestCallback(hans, limit=30, output=tmp_path / "runs"))
    rows = trainer.eval_dataset
    metrics = trainer.evaluate({"first": rows, "second": rows})
    assert {"eval_first_loss", "eval_second_loss", "eval_acidtest_hans"} <= metrics.keys()
    assert len(logged(trainer)) == 1
    with torch.no_grad():
        trainer.model.classifier.bias.add_(torch.tensor([0.0, 100.0, 0.0]))
    trainer.evaluate()
    # It answers entailment to everything now.
    assert logged(trainer, "eval_acidtest_hans_non_entailment")[1:] == [0.0]
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["step-0", "step-0-1"]


def test_a_cross_encoder_is_asked_in_its_trainer(tmp_path: Path, hans: Suite) -> None:
    sentence_transformers = pytest.importorskip("sentence_transformers", reason="sentence-transformers is missing")
    from datasets import Dataset
    from sentence_transformers.cross_encoder import CrossEncoderTrainer, CrossEncoderTrainingArguments, losses

    tokenizer = make_tokenizer()
    make_network(tokenizer).save_pretrained(tmp_path / "start")
    tokenizer.save_pretrained(tmp_path / "start")
    model = sentence_transformers.CrossEncoder(str(tmp_path / "start"), device="cpu")
    columns = {"premise": PREMISES, "hypothesis": HYPOTHESES, "label": [NAMES.index(gold) for gold in GOLD]}
    rows = Dataset.from_dict(columns)
    arguments = CrossEncoderTrainingArguments(
        str(tmp_path / "training"),
        num_train_epochs=1,
        eval_strategy="epoch",
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        use_cpu=True,
    )
    callback = AcidtestCallback(hans, limit=None)
    loss = losses.CrossEntropyLoss(model)
    trainer = CrossEncoderTrainer(
        model, arguments, train_dataset=rows, eval_dataset=rows, loss=loss, callbacks=[callback]
    )
    trainer.train()
    model.save_pretrained(str(tmp_path / "saved"))
    saved = acidtest.run(f"hf:{tmp_path}/saved", hans, output=tmp_path / "run")
    assert logged(trainer) == [saved.accuracy("hans").value]


def test_what_is_no_classifier_or_no_process_holds_whole_is_refused() -> None:
    with pytest.raises(AcidtestError, match="asks sequence classifiers of transformers and cross-encoders, not Linear"):
        classifier_network(torch.nn.Linear(2, 2))
    network = make_network(make_tokenizer())
    network.classifier.bias.ds_id = 0
    with pytest.raises(AcidtestError, match=r"spread over several processes .* acidtest run -m hf:FOLDER"):
        classifier_network(network)


def test_of_two_processes_one_asks_and_both_know(tmp_path: Path, patience: float) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shared = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2"}
    shared |= {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    processes = [
        subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("two_processes.py")), str(tmp_path)],
            env={**shared, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in (0, 1)
    ]
    errors = [process.communicate(timeout=patience)[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], "\n".join(error[-3000:] for error in errors)
    first, second = ((tmp_path / f"{rank}.txt").read_text().splitlines() for rank in (0, 1))
    assert first[0].startswith("asked 1 time: 0.")
    assert second[0] == first[0].replace("asked 1 time", "asked 0 times")
    assert second[1] == f"AcidtestError: the first process could not ask the model: {first[1]}"


def test_the_example_of_the_how_to_runs_as_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [example] = [
        block.text
        for block in read_blocks(ROOT / "docs" / "how-to" / "other-tools.md")
        if block.language == "python" and "AcidtestCallback" in block.text
    ]
    monkeypatch.chdir(tmp_path)
    tokenizer = make_tokenizer()
    tokenizer.save_pretrained("encoder")
    # An encoder without a head: the head of the classifier is fresh, so probing cannot find what its outputs mean.
    make_network(tokenizer).bert.save_pretrained("encoder")
    pairs = acidtest.generate("sample", n=60)
    acidtest.save(pairs, "train.jsonl")
    acidtest.save(pairs, "dev.jsonl")
    names: dict[str, Any] = {}
    exec(compile(example, "other-tools.md", "exec"), names)
    assert len(logged(names["trainer"])) == names["trainer"].args.num_train_epochs
    assert logged(names["trainer"], "eval_acidtest_cues_gold_effect")
