"""What every network of the catalogue promises, and what sets some of them apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import polars as pl
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'acidtest[zoo]'")
pytest.importorskip("safetensors", reason="safetensors is not installed: pip install 'acidtest[zoo]'")

from acidtest.core.errors import AcidtestError  # noqa: E402
from acidtest.core.labels import LABELS, TWO_WAY_LABELS  # noqa: E402
from acidtest.core.registry import Option  # noqa: E402
from acidtest.zoo.architectures import sentence_encoders  # noqa: E402
from acidtest.zoo.batches import SentenceTensors  # noqa: E402
from acidtest.zoo.catalogue import architecture, architectures  # noqa: E402
from acidtest.zoo.layers import BiLSTM  # noqa: E402
from acidtest.zoo.networks import (  # noqa: E402
    NetworkConfig,
    PairReader,
    load_network,
    save_config,
    save_weights,
)
from acidtest.zoo.pairs import visible_text  # noqa: E402
from acidtest.zoo.trainer import TrainerOptions, label_loss  # noqa: E402
from acidtest.zoo.training import TrainingOptions  # noqa: E402

CPU = torch.device("cpu")

# Others than these are trained step by step from words alone; these have tests of their own.
NAMES = sorted(set(architectures()) - {"bert", "naive-bayes"})
PRESETS = [(name, preset) for name, each in sorted(architectures().items()) for preset in each.presets]

PREMISES = (
    "a man is playing the guitar on a crowded stage in the middle of the night",
    "two dogs run",
    "a woman in a red dress is not sleeping",
    "children",
    "the old man fishes by the quiet river with his youngest daughter",
)
HYPOTHESES = (
    "a man is asleep",
    "two animals are outside in the rain and run after each other",
    "nobody sleeps",
    "there are people",
    "the man is not alone",
)
GOLD = ("contradiction", "neutral", "entailment", "neutral", "entailment")


def parsed(text: str) -> str:
    """A binary parse of a text that branches to the right."""
    *before, last = text.split() or [""]
    for word in reversed(before):
        last = f"( {word} {last} )"
    return last


def pairs(premises: tuple[str, ...] = PREMISES, hypotheses: tuple[str, ...] = HYPOTHESES) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "premise": premises,
            "hypothesis": hypotheses,
            "premise_binary_parse": [parsed(text) for text in premises],
            "hypothesis_binary_parse": [parsed(text) for text in hypotheses],
        }
    )


def small(options: Mapping[str, Option]) -> dict[str, Any]:
    """Sizes that are quick: those of the options that a network has."""
    sizes: dict[str, Any] = {"hidden": 16, "layer": 12, "filters": 3, "letters": 4}
    found = {name: value for name, value in sizes.items() if name in options}
    if found and isinstance(options["hidden"].default, tuple):
        found["hidden"] = ("16", "4", "8")
    return found


class Made:
    """A small network with chances of its own, and what it reads with."""

    def __init__(
        self, name: str, *, labels: tuple[str, ...] = LABELS, tuned: bool = True, begun: bool = False, **settings: Any
    ) -> None:
        kind = architecture(name)
        study = TrainingOptions(name, {}, TrainerOptions(), dimensions=8, embeddings_tuned=tuned)
        self.reader: PairReader = kind.reader.for_training(study, pairs())
        self.config = NetworkConfig(name, labels, {**small(kind.options), **settings})
        torch.manual_seed(3)
        self.network = self.config.network(self.reader).eval()
        with torch.no_grad():
            # Vectors as long as those of GloVe, and what begins near nought as large as if it were learnt, so that what
            # a network does with them is not lost in rounding.
            for part, weight in self.network.named_parameters() if not begun else ():
                if part.startswith("words."):
                    weight[1:] *= 10
                elif weight.ndim > 1 and weight.std() < 0.02:
                    weight *= 30

    def scores(self, frame: pl.DataFrame) -> Any:
        inputs = self.reader.inputs(frame, None, CPU)
        batch = inputs.batch(torch.arange(frame.height).numpy())
        return self.network(batch)


@pytest.mark.parametrize("labels", [LABELS, TWO_WAY_LABELS])
@pytest.mark.parametrize("name", NAMES)
def test_every_pair_gets_a_score_for_every_label(name: str, labels: tuple[str, ...]) -> None:
    assert Made(name, labels=labels).scores(pairs()).shape == (len(PREMISES), len(labels))


@pytest.mark.parametrize("name", NAMES)
def test_a_pair_gets_the_same_scores_alone_as_beside_longer_ones(name: str) -> None:
    made = Made(name)
    with torch.inference_mode():
        together = made.scores(pairs())
        alone = torch.cat([made.scores(pairs()[row : row + 1]) for row in range(len(PREMISES))])
    torch.testing.assert_close(together, alone, rtol=1e-5, atol=1e-5)
    assert (together[0] - together[1]).abs().max() > 1e-4


@pytest.mark.parametrize("name", NAMES)
def test_every_weight_is_learnt(name: str) -> None:
    made = Made(name)
    targets = torch.tensor([[label == gold for label in LABELS] for gold in GOLD])
    label_loss(made.scores(pairs()), targets).backward()
    still = [
        name
        for name, weight in made.network.named_parameters()
        if weight.requires_grad and (weight.grad is None or not weight.grad.abs().sum() > 0)
    ]
    assert still == []


@pytest.mark.parametrize("name", NAMES)
def test_vectors_that_are_fixed_are_not_learnt(name: str) -> None:
    made = Made(name, tuned=False)
    learnt = {name for name, weight in made.network.named_parameters() if weight.requires_grad}
    assert "words.table.weight" in {name for name, _ in made.network.named_parameters()}
    assert "words.table.weight" not in learnt


@pytest.mark.parametrize("name", NAMES)
def test_hypothesis_only_hides_the_premise_and_nothing_else(name: str) -> None:
    made = Made(name)
    other = pairs(premises=PREMISES[1:] + PREMISES[:1])
    with torch.inference_mode():
        seen, seen_other = made.scores(pairs()), made.scores(other)
        hidden, hidden_other = (made.scores(visible_text(each, hypothesis_only=True)) for each in (pairs(), other))
    assert (seen - seen_other).abs().max() > 1e-4
    assert torch.equal(hidden, hidden_other)
    assert (hidden[0] - hidden[1]).abs().max() > 1e-4


@pytest.mark.parametrize("name", NAMES)
def test_a_network_read_back_gives_the_same_scores(name: str, tmp_path: Path) -> None:
    made = Made(name)
    save_config(tmp_path, made.config, made.reader)
    save_weights(tmp_path, made.network)
    back = load_network(tmp_path)
    with torch.inference_mode():
        batch = back.reader.inputs(pairs(), None, CPU).batch(torch.arange(len(PREMISES)).numpy())
        assert torch.equal(back.network.eval()(batch), made.scores(pairs()))


@pytest.mark.parametrize("name", NAMES)
def test_texts_without_words_give_scores_and_gradients_that_are_numbers(name: str) -> None:
    made = Made(name)
    scores = made.scores(pairs(premises=("", "two dogs run", ""), hypotheses=("a man", "", "")))
    scores.sum().backward()
    assert scores.isfinite().all()
    assert all(weight.grad.isfinite().all() for weight in made.network.parameters() if weight.grad is not None)


@pytest.mark.parametrize(("name", "preset"), PRESETS)
def test_a_preset_has_settings_that_there_are(name: str, preset: str) -> None:
    kind = architecture(name)
    told = kind.preset(preset)
    of_recipe, of_study = ({each.name for each in fields(each)} for each in (TrainerOptions, TrainingOptions))
    own = {key: value for key, value in told.items() if key not in of_recipe | of_study}
    assert own.keys() <= kind.options.keys()
    for key, value in own.items():
        written = ",".join(value) if isinstance(value, list) else value
        assert kind.options[key].parsed(written, name) == (tuple(value) if isinstance(value, list) else value)
    # A preset may not name a file, which only the user has.
    assert told.get("embeddings", "random") == "random"
    TrainerOptions(**{key: value for key, value in told.items() if key in of_recipe})


@pytest.mark.parametrize(("name", "preset"), [each for each in PRESETS if each[0] in NAMES])
def test_a_preset_builds(name: str, preset: str) -> None:
    assert sum(weight.numel() for weight in _preset_network(name, preset).parameters()) > 100_000


def _preset_network(name: str, preset: str) -> Any:
    """A network as large as a paper's, on a device where weights take no memory."""
    kind = architecture(name)
    told = kind.preset(preset)
    study = TrainingOptions(name, {}, TrainerOptions(), dimensions=told.get("dimensions", 100))
    basis = kind.reader.for_training(study, pairs()).basis(3)
    with torch.device("meta"):
        return kind.network(basis, **{key: value for key, value in told.items() if key in kind.options})


def test_bags_of_words_do_not_know_their_order() -> None:
    turned = pairs(hypotheses=tuple(" ".join(reversed(text.split())) for text in HYPOTHESES))
    with torch.inference_mode():
        change = {name: (made.scores(pairs()) - made.scores(turned)).abs().max() for name, made in _word_networks()}
    unmoved = {name for name, most in change.items() if most < 1e-5}
    assert unmoved == {"cbow", "decomposable-attention"}


def _word_networks() -> list[tuple[str, Made]]:
    return [(name, Made(name)) for name in NAMES]


def test_gates_are_those_of_an_lstm_that_goes_word_by_word() -> None:
    torch.manual_seed(0)
    encoder, lengths, hidden = BiLSTM(3, 4), torch.tensor([5, 2, 1]), 4
    mask = torch.arange(5) < lengths[:, None]
    sentence = SentenceTensors(mask.long(), mask, lengths, lengths)
    inputs = torch.randn(3, 5, 3)
    with torch.inference_mode():
        states = encoder(inputs, sentence)
        found = {
            gate: sentence_encoders.gate_values(encoder, inputs, states, gate) for gate in ("input", "forget", "output")
        }
        for row, length in enumerate(lengths.tolist()):
            for direction, order in enumerate((range(length), reversed(range(length)))):
                into, onward, bias, other = encoder.lstm.all_weights[direction]
                state = memory = torch.zeros(hidden)
                columns = slice(direction * hidden, (direction + 1) * hidden)
                for place in order:
                    pre = into @ inputs[row, place] + bias + onward @ state + other
                    opened, kept, new, shown_ = pre.chunk(4)
                    memory = kept.sigmoid() * memory + opened.sigmoid() * new.tanh()
                    state = shown_.sigmoid() * memory.tanh()
                    torch.testing.assert_close(states[row, place, columns], state)
                    for gate, value in (("input", opened), ("forget", kept), ("output", shown_)):
                        torch.testing.assert_close(found[gate][row, place, columns], value.sigmoid())


def test_words_are_weighed_by_the_length_of_the_gates_vector() -> None:
    made = Made("gated-attention", gate="forget", stacked=1)
    network: Any = made.network
    batch = made.reader.inputs(pairs(), None, CPU).batch(torch.arange(len(PREMISES)).numpy())
    with torch.inference_mode():
        inputs = torch.cat([network.words(batch.hypothesis), network.spelling(batch.hypothesis)], dim=-1)
        states = network.encoders[-1](inputs, batch.hypothesis)
        found = network._encode(batch.hypothesis)[:, -states.shape[2] :]
        length = int(batch.hypothesis.counts[0])
        shut = 1 - sentence_encoders.gate_values(network.encoders[-1], inputs, states, "forget")[0, :length]
        weights = shut.pow(2).sum(dim=1).sqrt()
        expected = (states[0, :length] * weights[:, None]).sum(dim=0) / weights.sum()
    torch.testing.assert_close(found[0], expected)


def test_the_three_gates_of_gated_attention_give_different_scores() -> None:
    with torch.inference_mode():
        one, two, three = (Made("gated-attention", gate=gate).scores(pairs()) for gate in ("input", "forget", "output"))
    assert min((one - two).abs().max(), (two - three).abs().max(), (one - three).abs().max()) > 1e-6


def test_gated_attention_tells_unknown_words_apart_by_their_letters() -> None:
    made = Made("gated-attention")
    with torch.inference_mode():
        found = made.scores(pairs(premises=("zyzzyva runs", "quokka runs"), hypotheses=("it runs", "it runs")))
    assert (found[0] - found[1]).abs().max() > 1e-5


@pytest.mark.parametrize(("name", "sizes"), [("shortcut-stacked", [8, 40, 48]), ("residual-stacked", [8, 40, 40])])
def test_each_stacked_encoder_reads_the_words_and_those_below(name: str, sizes: list[int]) -> None:
    """Words have 8 numbers; encoders give 32, 8 and 16 side by side, or 32 each that are summed."""
    made = Made(name)
    network: Any = made.network
    read, said = list[Any](), list[Any]()

    def noted(encoder: Any, given: Any, found: Any) -> None:
        read.append(given[0])
        said.append(found)

    for encoder in network.encoders:
        encoder.register_forward_hook(noted)
    with torch.inference_mode():
        made.scores(pairs())
    assert [each.shape[-1] for each in read[:3]] == sizes
    below = said[0] + said[1] if name == "residual-stacked" else torch.cat(said[:2], dim=-1)
    assert torch.equal(read[2], torch.cat([read[0], below], dim=-1))


def test_sizes_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(AcidtestError, match=r"--hidden takes whole numbers such as 512,1024,2048, not big,small"):
        Made("shortcut-stacked", hidden=("big", "small"))
    with pytest.raises(AcidtestError, match="at least one BiLSTM"):
        Made("shortcut-stacked", hidden=())


# AllenNLP's training_config/decomposable_attention.jsonnet and esim.jsonnet; what the first leaves out is torch's own.
@pytest.mark.parametrize(
    ("name", "preset", "published"),
    [
        (
            "decomposable-attention",
            preset,
            {"batch_size": 64, "epochs": 140, "patience": 20, "optimizer": "adagrad", "learning_rate": 0.01}
            | {"accumulated": 0.0, "clip": 5.0, "clip_by": "value", "dropout": 0.2, "embeddings_tuned": False},
        )
        for preset in ("mccoy2019", "glockner2018")
    ]
    + [
        (
            "esim",
            "mccoy2019",
            {"batch_size": 64, "epochs": 75, "patience": 5, "learning_rate": 4e-4, "clip": 10.0, "shrink": 0.5}
            | {"dropout": 0.5, "embeddings_tuned": True},
        )
    ],
)
def test_presets_after_allennlp_are_as_its_configurations(name: str, preset: str, published: dict[str, Any]) -> None:
    told = architecture(name).preset(preset)
    assert {key: told[key] for key in published} == published


def test_allennlps_decomposable_attention_has_its_layers_and_a_word_of_nothing() -> None:
    network = _preset_network("decomposable-attention", "mccoy2019")
    shapes = [tuple(part.weight.shape) for part in network.modules() if isinstance(part, torch.nn.Linear)]
    # Projection; attend and compare of two layers each; aggregate, 400 to 200 to 3 labels.
    assert shapes == [(200, 300), (200, 200), (200, 200), (200, 400), (200, 200), (200, 400), (3, 200)]
    assert network.nothing.shape == (300,)
    assert not Made("decomposable-attention", tuned=False).network.nothing.requires_grad


def test_allennlps_esim_has_a_relu_and_leaves_out_the_same_numbers_of_all_words() -> None:
    made = Made("esim", version="allennlp")
    network: Any = made.network
    assert [type(part) for part in network.head if not isinstance(part, torch.nn.Dropout)][1] is torch.nn.ReLU
    torch.manual_seed(0)
    thinned = network.dropout.train()(torch.ones(3, 5, 40))
    assert torch.equal(thinned, thinned[:, :1].expand(3, 5, 40))
    assert not torch.equal(thinned[0], thinned[1])
    assert set(thinned.unique().tolist()) == {0.0, 2.0}
    (_, _, bias, other), (_, onward, _, _) = network.encoder.requires_grad_(False).lstm.all_weights
    # Gates stand in the order input, forget, memory, output: the second is open.
    assert (bias + other).chunk(4)[1].tolist() == [1.0] * 16
    assert float((bias + other).sum()) == 16
    torch.testing.assert_close(onward.T @ onward, torch.eye(16))


@pytest.mark.parametrize("name", ["esim", "kim", "gated-attention"])
def test_networks_of_chen_et_al_begin_as_their_programs_do(name: str) -> None:
    network = Made(name, begun=True).network.requires_grad_(False)
    for part in network.modules():
        if isinstance(part, torch.nn.LSTM):
            for into, onward, *biases in part.all_weights:
                for gate in (*into.chunk(4), *onward.chunk(4)):
                    # Of a gate that is not square, the shorter sides are at right angles.
                    short = gate if gate.shape[0] <= gate.shape[1] else gate.T
                    torch.testing.assert_close(short @ short.T, torch.eye(len(short)), atol=1e-5, rtol=0)
                assert not any(bias.any() for bias in biases)
        if isinstance(part, torch.nn.Linear):
            assert not part.bias.any()
            if part.weight.numel() > 500:
                assert float(part.weight.std()) == pytest.approx(0.01, rel=0.1)


def test_kim_is_trained_as_esim_and_has_the_same_settings_but_for_what_it_knows() -> None:
    one, other = (architecture(name) for name in ("esim", "kim"))
    assert one.defaults == other.defaults
    assert one.preset("glockner2018") == other.preset("glockner2018")
    default = {name: option.default for name, option in one.options.items() if name != "version"}
    assert {name: option.default for name, option in other.options.items() if name != "knowledge"} == default


# Weights besides the vectors of words. Parikh et al. 2016, table 1: 382K. Chen et al. 2017, table 1: 4.3M. The list of
# results at SNLI's site: 140.2m for shortcut-stacked; 29m for residual-stacked, with a second layer that is not used.
@pytest.mark.parametrize(
    ("name", "preset", "unused", "millions"),
    [
        ("decomposable-attention", "sanchez2018", 0, 0.382),
        ("esim", "sanchez2018", 0, 4.3),
        ("shortcut-stacked", "naik2018", 0, 140.2),
        ("residual-stacked", "glockner2018", 800 * 800 + 800, 29),
    ],
)
def test_a_network_has_as_many_weights_as_was_published(name: str, preset: str, unused: int, millions: float) -> None:
    network = _preset_network(name, preset)
    found = sum(weight.numel() for part, weight in network.named_parameters() if not part.startswith("words."))
    assert (found + unused) / 1e6 == pytest.approx(millions, rel=0.01)


def test_the_page_on_architectures_names_all_of_them_and_their_presets() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "architectures.md").read_text(encoding="utf-8")
    sections = {part.partition("`\n")[0]: part for part in page.split("\n## `")[1:]}
    for name, kind in architectures().items():
        missing = [preset for preset in kind.presets if f"| `{preset}` |" not in sections[name]]
        assert missing == [], name
