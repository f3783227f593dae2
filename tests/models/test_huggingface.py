"""Checkpoints of transformers, tiny ones made here: against the library's own forward pass, one pair at a time."""

from __future__ import annotations

import itertools
import json
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

from acidtest import api
from acidtest.core.errors import AcidtestError, LabelOrderError
from acidtest.core.labels import LABELS
from acidtest.core.model import CountsUsage, Model, Prepares, Represents, model_from_spec
from acidtest.models.chunks import split_premises
from acidtest.models.encoders.pair_tokens import PairTokenizer, TokenizedPairs
from acidtest.models.encoders.sentence_tokens import WordTokens, splits_at_spaces
from acidtest.models.label_maps import probe_pairs

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'acidtest[hf]'")
transformers = pytest.importorskip("transformers", reason="transformers is not installed: pip install 'acidtest[hf]'")

PREMISES, HYPOTHESES, GOLD = probe_pairs()
NAMES = ("contradiction", "entailment", "neutral")
PAIRS = [
    ("A man is playing a guitar on a stage.", "A man plays."),
    ("Two dogs.", "The dogs are asleep indoors and nobody is there."),
    ("A cat is asleep on the sofa.", ""),
    ("", "The shop is open today."),
    ("Ünïcode, “quotes” — and 3.5 °C!", "東京 café"),
    ("The train from London arrived an hour late.", "The train arrived early."),
    ("The shop is closed today.", "The shop is open today."),
]
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
TINY = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    """Tiny matrices are slower on many threads, and waiting threads slow other tests."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def wordpieces(**options: Any) -> Any:
    """The words of the probe pairs, and letters for all others; nothing learnt, so always the same."""
    words = sorted(set(re.findall(r"\w+", " ".join(PREMISES + HYPOTHESES).lower())))
    letters = sorted({letter for word in words for letter in word})
    pieces = [*SPECIAL, ".", ",", "'", *words, *(letter for letter in letters if letter not in words)]
    vocabulary = {piece: number for number, piece in enumerate([*pieces, *(f"##{letter}" for letter in letters)])}
    return transformers.BertTokenizerFast(vocab=vocabulary, **options)


def byte_pairs(**options: Any) -> Any:
    from tokenizers import ByteLevelBPETokenizer

    learnt = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    learnt.train_from_iterator(PREMISES + HYPOTHESES, vocab_size=600, special_tokens=special, show_progress=False)
    state = json.loads(learnt.to_str())["model"]
    return transformers.RobertaTokenizerFast(
        vocab=state["vocab"], merges=[tuple(m) for m in state["merges"]], **options
    )


def named(names: tuple[str, ...]) -> dict[str, Any]:
    return {"id2label": dict(enumerate(names)), "label2id": {name: number for number, name in enumerate(names)}}


def saved(folder: Path, kind: str = "bert", *, names: tuple[str, ...] = NAMES, **options: Any) -> Path:
    """A checkpoint of random weights whose answers differ from pair to pair."""
    torch.manual_seed(0)
    own: dict[str, Any] = {"initializer_range": 0.2, "num_labels": len(names), **named(names), **TINY, **options}
    if kind == "roberta":
        tokenizer = byte_pairs()
        config: Any = transformers.RobertaConfig(
            vocab_size=len(tokenizer), max_position_embeddings=66, pad_token_id=1, type_vocab_size=1, **own
        )
    elif kind == "distilbert":
        tokenizer = wordpieces()
        config = transformers.DistilBertConfig(
            vocab_size=len(tokenizer),
            dim=32,
            n_layers=2,
            n_heads=4,
            hidden_dim=64,
            initializer_range=0.2,
            **named(names),
        )
    elif kind == "deberta":
        tokenizer = wordpieces()
        config = transformers.DebertaV2Config(
            vocab_size=len(tokenizer) + 9,
            relative_attention=True,
            pos_att_type=["p2c", "c2p"],
            **{**own, "type_vocab_size": 0},
        )
    elif kind == "xlnet":
        tokenizer = wordpieces(model_max_length=64)
        own = {"d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 64, "initializer_range": 0.2, **named(names)}
        config = transformers.XLNetConfig(vocab_size=len(tokenizer) + 9, pad_token_id=0, **own)
    else:
        tokenizer = wordpieces()
        kinds = {"bert": transformers.BertConfig, "electra": transformers.ElectraConfig}
        config = kinds[kind](vocab_size=len(tokenizer), max_position_embeddings=64, **own)
    model = transformers.AutoModelForSequenceClassification.from_config(config)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def opened(folder: Path, **options: Any) -> Any:
    return model_from_spec(f"hf:{folder}", {"device": "cpu", **options})


def asked(model: Model, pairs: list[tuple[str, str]] = PAIRS) -> np.ndarray:
    return model.predict(*map(list, zip(*pairs, strict=True)))


def plain(folder: Path, pairs: list[tuple[str, str]] = PAIRS) -> np.ndarray:
    """Logits of the library itself, one pair at a time."""
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    rows = []
    with torch.inference_mode():
        for premise, hypothesis in pairs:
            # As a list: alone, an empty hypothesis would be taken for none.
            inputs = tokenizer([premise], [hypothesis], return_tensors="pt", truncation=True, max_length=64)
            rows.append(model(**inputs).logits[0].numpy())
    return np.array(rows)


def softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(tmp_path_factory.mktemp("bert") / "tiny-bert")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny network that learnt the probe pairs by heart, its outputs in the order of LABELS and unnamed."""
    folder = saved(tmp_path_factory.mktemp("trained"), names=("LABEL_0", "LABEL_1", "LABEL_2"), initializer_range=0.1)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    inputs = tokenizer(PREMISES, HYPOTHESES, return_tensors="pt", padding=True)
    targets = torch.tensor([LABELS.index(label) for label in GOLD])
    steps = torch.optim.Adam(model.parameters(), lr=3e-3)
    model.eval()
    for _ in range(300):
        loss = torch.nn.functional.cross_entropy(model(**inputs).logits, targets)
        if loss < 0.05:
            break
        steps.zero_grad()
        loss.backward()
        steps.step()
    assert loss < 0.1
    model.save_pretrained(folder)
    return folder


def with_head(folder: Path, copy: Path, rows: np.ndarray) -> Path:
    """The same network with a head whose outputs are these mixtures of the old ones."""
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    mixture = torch.tensor(rows, dtype=torch.float32)
    weight, bias = (mixture @ value.detach() for value in (model.classifier.weight, model.classifier.bias))
    config = transformers.AutoConfig.from_pretrained(folder, num_labels=len(rows))
    changed = transformers.AutoModelForSequenceClassification.from_config(config)
    changed.load_state_dict({**model.state_dict(), "classifier.weight": weight, "classifier.bias": bias})
    shutil.copytree(folder, copy)
    changed.save_pretrained(copy)
    return copy


# DeBERTa's code in transformers still compiles parts of itself the old way.
@pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning")
@pytest.mark.parametrize("kind", ["bert", "roberta", "electra", "distilbert", "deberta", "xlnet"])
def test_answers_are_those_of_the_library_one_pair_at_a_time(kind: str, tmp_path: Path) -> None:
    folder = saved(tmp_path / kind, kind)
    model = opened(folder)
    expected = softmax(plain(folder))[:, [1, 2, 0]]
    assert np.ptp(expected, axis=0).max() > 0.01
    assert np.allclose(asked(model), expected, atol=1e-5)
    assert (model._flat is not None) == (kind in ("bert", "roberta", "electra"))
    model._flat = None
    assert np.allclose(asked(model), expected, atol=1e-5)


def test_a_model_that_padding_would_mislead_is_never_given_any(tmp_path: Path) -> None:
    # XLNet's classifier reads the last token, which in a batch of mixed lengths would be padding.
    model = opened(saved(tmp_path / "x", "xlnet"))
    asked(model)
    assert model.usage()["padding"] == 0


@pytest.mark.parametrize("flat", [True, False])
def test_many_batches_come_back_in_order(bert: Path, flat: bool) -> None:
    model = opened(bert)
    model._flat = model._flat if flat else None
    pairs = list(zip(PREMISES, HYPOTHESES, strict=True))
    whole = asked(model, pairs)
    model._budget = 100
    assert np.allclose(asked(model, pairs), whole, atol=1e-6)
    assert np.allclose(asked(model, pairs[::-1])[::-1], whole, atol=1e-6)
    assert np.allclose(whole, softmax(plain(bert, pairs))[:, [1, 2, 0]], atol=1e-5)


def test_no_pairs_give_no_rows(bert: Path) -> None:
    assert opened(bert).predict([], []).shape == (0, 3)


def test_what_a_model_says_of_itself(bert: Path) -> None:
    model = opened(bert)
    assert model.name == "hf:tiny-bert"
    assert model.notes[0] == "labels by id2label: 0 = contradiction, 1 = entailment, 2 = neutral"
    assert "the order of its labels cannot be confirmed" in model.notes[1]
    assert model.resolution == "three-way"
    assert model.independent
    assert not model.may_abstain
    assert all(isinstance(model, promised) for promised in (Model, Prepares, CountsUsage, Represents))


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
def test_a_trained_network_is_read_in_every_order_of_outputs(
    trained: Path, tmp_path: Path, order: tuple[int, ...]
) -> None:
    model = opened(with_head(trained, tmp_path / "copy", np.eye(3)[list(order)]))
    shown = ", ".join(f"{number} = {LABELS[old]}" for number, old in enumerate(order))
    assert model.notes[0].startswith("labels by probing (")
    assert model.notes[0].endswith(shown)
    right = asked(model, list(zip(PREMISES, HYPOTHESES, strict=True))).argmax(axis=1)
    assert np.mean([LABELS[answer] == gold for answer, gold in zip(right, GOLD, strict=True)]) > 0.9


def test_a_trained_network_with_two_outputs_is_read(trained: Path, tmp_path: Path) -> None:
    model = opened(with_head(trained, tmp_path / "copy", np.array([[-1, 0.5, 0.5], [1, -0.5, -0.5]])))
    assert model.resolution == "two-way"
    assert model.notes[0].endswith("0 = non-entailment, 1 = entailment")
    assert asked(model, [(PREMISES[0], HYPOTHESES[0])])[0, 0] > 0.5


@pytest.mark.parametrize(("sign", "meaning"), [(1, "entailment"), (-1, "non-entailment")])
def test_a_trained_network_with_one_score_is_read(trained: Path, tmp_path: Path, sign: int, meaning: str) -> None:
    model = opened(with_head(trained, tmp_path / "copy", sign * np.array([[1, -0.5, -0.5]])))
    assert model.resolution == "two-way"
    assert model.notes[0].endswith(f"a high score = {meaning}")
    values = asked(model, [(PREMISES[0], HYPOTHESES[0]), (PREMISES[150], HYPOTHESES[150])])
    assert values[0, 0] > 0.5 > values[1, 0]
    assert np.allclose(values.sum(axis=1), 1)


def test_an_untrained_network_without_names_is_refused_unless_the_user_says_its_labels(tmp_path: Path) -> None:
    folder = saved(tmp_path / "x", names=("LABEL_0", "LABEL_1", "LABEL_2"))
    with pytest.raises(AcidtestError, match="do not tell what they mean"):
        opened(folder)
    listed, renamed = opened(folder, labels="n,c,e"), opened(folder, label_map="0=n,LABEL_1=c,2=e")
    assert np.allclose(asked(listed), softmax(plain(folder))[:, [2, 0, 1]], atol=1e-5)
    assert np.array_equal(asked(listed), asked(renamed))
    assert listed.fingerprint == renamed.fingerprint != opened(folder, labels="e,n,c").fingerprint


def misnamed(trained: Path, copy: Path) -> Path:
    """The trained network whose id2label exchanges entailment and contradiction."""
    folder = with_head(trained, copy, np.eye(3)[::-1].copy())
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | named(LABELS)))
    return folder


def test_a_wrong_id2label_is_refused_and_so_is_a_wrong_order_from_the_user(trained: Path, tmp_path: Path) -> None:
    folder = misnamed(trained, tmp_path / "copy")
    command = f"acidtest run -m hf:{folder} --labels contradiction,neutral,entailment"
    wrong: list[dict[str, str]] = [{}, {"labels": "e,n,c"}, {"label_map": "entailment=e"}]
    for options in wrong:
        with pytest.raises(LabelOrderError, match=re.escape(command)):
            opened(folder, **options)
    model = opened(folder, labels="contradiction,neutral,entailment")
    assert model.notes == ("labels by --labels: 0 = contradiction, 1 = neutral, 2 = entailment",)


def test_a_command_to_copy_after_a_look_at_gold_can_be_pasted(tmp_path: Path) -> None:
    model = opened(saved(tmp_path / "my model"))
    # Entailment and contradiction are exchanged.
    predicted = np.eye(3)[[2, 1, 0] * 40]
    rows = pl.DataFrame(
        {"label": LABELS * 40, "group": [str(row) for row in range(120)]}
        | {f"p_{label}": predicted[:, place] for place, label in enumerate(LABELS)}
    )
    options = {"-s": "stress/spelling", "--from": "my pairs.jsonl", "--faithful": ""}
    with pytest.raises(LabelOrderError) as refused:
        model.check_label_order(rows, suite="my pairs.jsonl", options=options, decisive=True)
    command = str(refused.value).partition("To read them so: ")[2].partition(". To keep them")[0]
    asked_for = ["acidtest", "run", "-m", f"hf:{tmp_path / 'my model'}", "-s", "stress/spelling"]
    others = ["--from", "my pairs.jsonl", "--faithful", "--labels", "entailment,contradiction,neutral"]
    assert shlex.split(command) == [*asked_for, *others]


def test_a_user_can_insist_on_an_order_and_the_run_says_so(trained: Path, tmp_path: Path) -> None:
    folder = misnamed(trained, tmp_path / "copy")
    options = {"device": "cpu", "trust_labels": True}
    run = api.run(f"hf:{folder}", "sample", limit=10, options=options, output=tmp_path / "run", page=False).run
    assert run.header.settings["options"]["trust_labels"] is True
    assert "--trust-labels keeps the declared order" in run.header.notes[1]


def test_a_file_whose_labels_are_in_another_order_is_told_from_a_model_that_has_them_wrong(
    trained: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pairs = zip(PREMISES, HYPOTHESES, GOLD, strict=True)
    rows = [{"premise": p, "hypothesis": h, "label": LABELS[::-1].index(label)} for p, h, label in pairs]
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    api.run(f"hf:{trained}", str(path), options={"device": "cpu"}, output=tmp_path / "run", page=False)
    assert "entailment means contradiction and contradiction means entailment" in caplog.text
    assert "so the labels of the file may be wrong: see --suite-label-map" in caplog.text


def test_long_premises_are_cut_and_flagged_and_hypotheses_kept(bert: Path) -> None:
    model = opened(bert)
    tokenizer = transformers.AutoTokenizer.from_pretrained(bert)
    long, short = " ".join(["guitar"] * 200), "A cat is asleep."
    pairs = [(long, short), (short, long), (long, long), (short, short)]
    tokens = model.prepare(*map(list, zip(*pairs, strict=True)))
    assert tokens.truncated.tolist() == [True, True, True, False]
    assert tokens.lengths.max() == 64
    expected = tokenizer(long, short, truncation="only_first", max_length=64)["input_ids"]
    place = tokens.rows.tolist().index(0)
    start = int(tokens.starts[place])
    assert tokens.ids[start : start + 64].tolist() == expected
    assert model.usage()["truncated"] == 3
    assert np.isfinite(asked(model, pairs)).all()


@pytest.mark.parametrize("whole", [True, False])
def test_pairs_put_together_are_the_tokenizers_own(whole: bool) -> None:
    for tokenizer in (wordpieces(), byte_pairs()):
        pairs = PairTokenizer(tokenizer, 64)
        assert pairs._assembler is not None
        if whole:
            pairs._assembler = None
        premises, hypotheses = map(list, zip(*PAIRS, strict=True))
        premises[0] = "guitar " * 80
        tokens = pairs.tokens(premises, hypotheses)
        for place, row in enumerate(tokens.rows):
            own = tokenizer([premises[row]], [hypotheses[row]], truncation="only_first", max_length=64)
            part = slice(int(tokens.starts[place]), int(tokens.starts[place + 1]))
            assert tokens.ids[part].tolist() == own["input_ids"][0]
            if tokens.types is not None:
                assert tokens.types[part].tolist() == own["token_type_ids"][0]
        assert np.flatnonzero(tokens.truncated).tolist() == [0]


def test_sentences_by_their_words_are_the_tokenizers_own() -> None:
    draws = np.random.default_rng(0)
    bits = [
        "guitar",
        "Ünï",
        "東京",
        "don't",
        ",",
        "3.5",
        "a",
        " ",
        "  ",
        "\t",
        "\n",
        "\u00a0",
        "\x1c",
        "[SEP]",
        "<s>",
        "\u0301",
    ]
    texts = ["".join(draws.choice(bits, draws.integers(0, 9)).tolist()) for _ in range(400)]
    texts += [" ".join(draws.choice(bits[:7], draws.integers(1, 9)).tolist()) for _ in range(400)]
    for tokenizer in (wordpieces(), byte_pairs()):
        assert splits_at_spaces(tokenizer.backend_tokenizer)
        pieces = WordTokens(tokenizer.backend_tokenizer)
        for part in (texts[:300], texts[300:], texts):
            tokens, starts = pieces.sentences(part)
            own = tokenizer(part, add_special_tokens=False)["input_ids"]
            assert [tokens[a:b].tolist() for a, b in itertools.pairwise(starts)] == own


def test_words_beyond_what_is_remembered_are_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acidtest.models.encoders.sentence_tokens.MOST_WORDS", 3)
    tokenizer = wordpieces()
    pieces = WordTokens(tokenizer.backend_tokenizer)
    for text in ("a man plays a guitar", "two dogs", "the shop is open today", "a man"):
        assert pieces.sentences([text])[0].tolist() == tokenizer(text, add_special_tokens=False)["input_ids"]


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_long_premises_are_parted_by_the_models_own_tokens(kind: str, tmp_path: Path) -> None:
    model = opened(saved(tmp_path, kind), max_length=48)
    texts = ["A man plays a guitar.", "", "unheard-of"]
    own = transformers.AutoTokenizer.from_pretrained(tmp_path)(texts, add_special_tokens=False)["input_ids"]
    assert list(model.token_counts(texts)) == list(map(len, own))
    premise = "A man plays. " * 16
    parted = split_premises(model)
    assert "48 tokens" in parted.notes[-1]
    assert model.prepare([premise], ["A man plays."]).truncated.all()
    assert not parted.prepare([premise], ["A man plays."]).truncated.any()
    assert parted.usage()["chunks"] > 1


def test_roberta_leaves_room_for_its_first_positions(tmp_path: Path) -> None:
    # 66 positions, numbered from after the padding token 1 on: 64 tokens.
    model = opened(saved(tmp_path / "r", "roberta"))
    assert model.limit == 64
    assert np.isfinite(asked(model, [("word " * 300, "A cat.")])).all()


def test_a_user_may_ask_for_fewer_tokens_but_not_for_more(bert: Path) -> None:
    model = opened(bert, max_length=20)
    assert model.prepare(["guitar " * 50], ["A cat."]).lengths.tolist() == [20]
    assert model.fingerprint != opened(bert).fingerprint
    with pytest.raises(AcidtestError, match="--max-length 65 is more than the 64"):
        opened(bert, max_length=65)
    with pytest.raises(AcidtestError, match="no room"):
        opened(bert, max_length=4)


def test_weights_that_are_not_numbers_give_rows_of_nan(tmp_path: Path) -> None:
    folder = saved(tmp_path / "x")
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model.get_input_embeddings().weight.data[tokenizer.convert_tokens_to_ids("guitar")] = float("nan")
    model.save_pretrained(folder)
    values = asked(opened(folder, labels=",".join(NAMES)))
    assert np.isnan(values).all(axis=1).tolist() == [True] + 6 * [False]


def test_a_token_of_padding_in_the_text_is_read_as_the_library_reads_it(tmp_path: Path) -> None:
    folder = saved(tmp_path / "r", "roberta")
    pairs = [("A cat <pad> sleeps.", "It <pad> sleeps."), ("A dog.", "An animal.")]
    assert np.allclose(asked(opened(folder), pairs), softmax(plain(folder, pairs))[:, [1, 2, 0]], atol=1e-5)


def test_usage_counts_tokens_and_padding(bert: Path) -> None:
    model = opened(bert)
    asked(model)
    usage = model.usage()
    tokenizer = transformers.AutoTokenizer.from_pretrained(bert)
    assert usage["pairs"] == len(PAIRS)
    premises, hypotheses = map(list, zip(*PAIRS, strict=True))
    assert usage["tokens"] == sum(map(len, tokenizer(premises, hypotheses)["input_ids"]))
    assert usage["padding"] == 0
    assert usage["device_s"] > 0
    model._flat = None
    asked(model)
    assert model.usage()["padding"] > 0


def test_representations_are_the_greatest_values_joined_with_the_first_token(bert: Path) -> None:
    model = opened(bert)
    values = model.representations(*map(list, zip(*PAIRS, strict=True)))
    assert model.layers == ("embeddings", "layer 1", "layer 2")
    assert values.shape == (3, len(PAIRS), 64)
    own = transformers.AutoModelForSequenceClassification.from_pretrained(bert).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(bert)
    for row, (premise, hypothesis) in enumerate(PAIRS):
        with torch.inference_mode():
            inputs = tokenizer([premise], [hypothesis], return_tensors="pt")
            states = own(**inputs, output_hidden_states=True).hidden_states
        for layer, state in enumerate(states):
            expected = torch.cat([state[0].amax(dim=0), state[0, 0]]).numpy()
            assert np.allclose(values[layer, row], expected, atol=1e-5)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_reduced_precision_answers_much_like_float32(bert: Path, dtype: str) -> None:
    model = opened(bert, dtype=dtype)
    assert not model.independent
    assert np.allclose(asked(model), asked(opened(bert)), atol=0.05)
    assert model.fingerprint != opened(bert).fingerprint


def test_the_fingerprint_follows_the_weights_and_not_the_place(bert: Path, tmp_path: Path) -> None:
    first = opened(bert).fingerprint
    copy = shutil.copytree(bert, tmp_path / "elsewhere")
    assert opened(copy).fingerprint == first
    model = transformers.AutoModelForSequenceClassification.from_pretrained(copy)
    model.classifier.bias.data[0] += 1e-3
    model.save_pretrained(copy)
    assert opened(copy).fingerprint != first


def test_a_cross_encoder_folder_answers_as_its_own_library_has_it(bert: Path, tmp_path: Path) -> None:
    library = pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    encoder = library.CrossEncoder(str(bert), device="cpu", max_length=30)
    encoder.save_pretrained(str(tmp_path / "ce"))
    pairs = [pair for pair in PAIRS if all(pair)] + [("guitar " * 60, "A man plays.")]
    model = opened(tmp_path / "ce")
    assert model.limit == 30
    expected = encoder.predict(pairs, apply_softmax=True, show_progress_bar=False)[:, [1, 2, 0]]
    assert np.allclose(asked(model, pairs), expected, atol=1e-5)


def test_pickled_weights_are_never_opened(bert: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(bert, tmp_path / "pickled")
    (copy / "model.safetensors").rename(copy / "pytorch_model.bin")
    with pytest.raises(AcidtestError, match="never opened"):
        opened(copy)


def without_head(folder: Path) -> Path:
    """A checkpoint of the encoder alone, as those of sentence-transformers are."""
    transformers.BertModel.from_pretrained(saved(folder)).save_pretrained(folder)
    return folder


def test_a_network_without_a_head_answers_nothing_rather_than_at_random(tmp_path: Path) -> None:
    model = opened(without_head(tmp_path / "x"))
    message = r"not a sequence classifier: no weights for classifier\.bias"
    with pytest.raises(AcidtestError, match=message):
        asked(model)
    with pytest.raises(AcidtestError, match=message):
        api.run(model, "consistency", limit=10, output=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_network_without_a_head_shows_its_layers(bert: Path, tmp_path: Path) -> None:
    folder = without_head(tmp_path / "x")
    columns = [list(side) for side in zip(*PAIRS, strict=True)]
    own = transformers.AutoModel.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    values = opened(folder).representations(*columns)
    assert values.shape == (3, len(PAIRS), 64)
    for row, (premise, hypothesis) in enumerate(PAIRS):
        with torch.inference_mode():
            inputs = tokenizer([premise], [hypothesis], return_tensors="pt")
            last = own(**inputs).last_hidden_state[0]
        assert np.allclose(values[-1, row], torch.cat([last.amax(dim=0), last[0]]).numpy(), atol=1e-5)


def test_an_encoder_of_several_parts_shows_its_layers_and_answers_nothing(tmp_path: Path) -> None:
    folder = without_head(tmp_path / "x")
    parts = [{"path": "", "type": "sentence_transformers.models.Transformer"}]
    parts += [{"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}]
    (folder / "modules.json").write_text(json.dumps(parts))
    model = opened(folder)
    assert model.representations(["A dog."], ["A cat."]).shape == (3, 1, 64)
    with pytest.raises(AcidtestError, match=r"several parts \(Pooling\).*acidtest representations"):
        asked(model)


def test_an_encoder_of_an_installed_package_is_found_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_head(tmp_path / "some_encoder" / "model")
    (tmp_path / "some_encoder" / "__init__.py").write_text("raise SystemExit('ran')")
    monkeypatch.syspath_prepend(tmp_path)
    model = opened(Path("some-encoder"))
    assert model.name == "hf:some-encoder"
    assert model.representations(["A dog."], ["A cat."]).shape == (3, 1, 64)


def test_a_network_that_lacks_more_than_its_head_is_refused(tmp_path: Path) -> None:
    folder = without_head(tmp_path / "x")
    model = transformers.BertModel.from_pretrained(folder)
    weights = {name: value for name, value in model.state_dict().items() if "layer.1.output" not in name}
    model.save_pretrained(folder, state_dict=weights)
    with pytest.raises(AcidtestError, match="they are not those of its config"):
        opened(folder)


def test_code_in_a_checkpoint_is_never_run(bert: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(bert, tmp_path / "code")
    (copy / "evil.py").write_text("raise SystemExit('ran')\n")
    config = json.loads((copy / "config.json").read_text())
    auto = {"AutoConfig": "evil.Config", "AutoModelForSequenceClassification": "evil.Model"}
    (copy / "config.json").write_text(json.dumps({**config, "model_type": "evil", "auto_map": auto}))
    with pytest.raises(AcidtestError, match="code from its own repository, which is never run"):
        opened(copy)


@pytest.mark.parametrize(
    ("removed", "message"),
    [
        ("config.json", "no config.json"),
        ("tokenizer.json", "no tokenizer"),
        ("model.safetensors", "no model.safetensors"),
    ],
)
def test_a_missing_file_is_named(bert: Path, tmp_path: Path, removed: str, message: str) -> None:
    copy = shutil.copytree(bert, tmp_path / "copy")
    (copy / removed).unlink()
    with pytest.raises(AcidtestError, match=message):
        opened(copy)


def test_a_tokenizer_of_another_model_is_refused(bert: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(bert, tmp_path / "copy")
    tokenizer = wordpieces()
    tokenizer.add_tokens(["zebra"])
    tokenizer.save_pretrained(copy)
    with pytest.raises(AcidtestError, match="do not belong together"):
        asked(opened(copy), [("A zebra.", "An animal.")])


def test_what_is_nowhere_is_said_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    def unreachable(*_: object, **__: object) -> str:
        raise ConnectionError("no network")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", unreachable)
    for spec, message in (
        ("hf:./nowhere", "there is no folder"),
        ("hf:a/b/c/d", "there is no folder"),
        ("hf:", "names nothing"),
        ("hf:someone/some-model", "hf download someone/some-model"),
    ):
        with pytest.raises(AcidtestError, match=message):
            model_from_spec(spec)


def test_a_model_on_the_hub_keeps_its_whole_name_and_brings_no_pickles(
    bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub

    wanted: list[str] = []

    def fetched(name: str, *, allow_patterns: list[str]) -> str:
        wanted.extend(allow_patterns)
        return str(bert)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fetched)
    assert model_from_spec("hf:someone/tiny", {"device": "cpu"}).name == "hf:someone/tiny"
    assert not [name for name in ("pytorch_model.bin", "modeling.py") if any(fnmatch(name, p) for p in wanted)]


def test_a_missing_library_is_named_with_the_line_that_installs_it(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(AcidtestError, match=r"needs transformers; install it with: pip install 'acidtest\[hf\]'"):
        opened(bert)


def test_a_device_that_is_not_there_is_refused(bert: Path) -> None:
    for device, message in (("tpu", "not 'tpu'"), ("cuda:99", "CUDA devices here")):
        with pytest.raises(AcidtestError, match=message):
            opened(bert, device=device)


def pairs_of(lengths: npt.NDArray[np.int64]) -> TokenizedPairs:
    """Pairs of these lengths, whose tokens do not matter."""
    nothing = np.zeros(0, dtype=np.int32)
    return TokenizedPairs(nothing, None, lengths, np.arange(len(lengths)), np.zeros(len(lengths), dtype=np.bool_))


def test_batches_hold_every_pair_once_within_their_budget() -> None:
    lengths = np.sort(np.random.default_rng(0).integers(5, 60, 500))
    pairs = pairs_of(lengths)
    for plan, padded in ((pairs.padded_batches, True), (pairs.flat_batches, False)):
        batches = sorted(plan(256), key=lambda batch: batch.pairs.start)
        assert [b.pairs.start for b in batches] == [0, *(b.pairs.stop for b in batches[:-1])]
        assert batches[-1].pairs.stop == 500
        assert all((b.padded if padded else lengths[b.pairs].sum()) <= 256 for b in batches)
        assert all(b.tokens.stop - b.tokens.start == lengths[b.pairs].sum() for b in batches)
        assert all(b.even == (len(set(lengths[b.pairs])) == 1) for b in batches)


def test_a_pair_beyond_the_budget_is_a_batch_of_its_own() -> None:
    pairs = pairs_of(np.array([10, 500]))
    for batches in (pairs.padded_batches(100), pairs.flat_batches(100)):
        assert sorted((b.pairs.start, b.pairs.stop) for b in batches) == [(0, 1), (1, 2)]
