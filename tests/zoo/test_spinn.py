"""Parses as trees, and the network that joins words along them."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest

from acidtest import api
from acidtest.core.errors import AcidtestError
from acidtest.core.labels import LABELS
from acidtest.core.model import complete_model as completed_model
from acidtest.core.model import model_from_spec
from acidtest.core.suite import Card, Suite, complete_columns
from acidtest.evaluate.answers import make_plan
from acidtest.evaluate.runner import collect_answers
from acidtest.zoo.architectures.spinn import PHRASE, Trees, Unparsed, concatenate_trees, parse_trees
from acidtest.zoo.pairs import PairError

torch = pytest.importorskip("torch")

CAT = "( ( The cat ) ( sat . ) )"
COLUMNS = ("premise", "hypothesis", "premise_binary_parse", "hypothesis_binary_parse")


def read(parses: list[str | None], texts: list[str] | None = None, *, unparsed: Unparsed = "refuse") -> Trees:
    column = pl.Series("premise_binary_parse", parses, dtype=pl.String)
    return parse_trees(column, pl.Series("premise", texts or ["words"] * len(parses)), unparsed=unparsed)


def steps(trees: Trees, row: int = 0) -> list[str]:
    """What a parser does: the word it shifts, or + where it reduces."""
    words = trees.words[trees.starts[row] : trees.starts[row + 1]].tolist()
    return ["+" if word == PHRASE else trees.forms[word] for word in words]


def brackets(trees: Trees, node: int) -> Any:
    """A tree as nested pairs."""
    if trees.words[node] != PHRASE:
        return trees.forms[trees.words[node]]
    return brackets(trees, int(trees.left[node])), brackets(trees, node - 1)


def top(trees: Trees, row: int) -> int:
    return int(trees.starts[row + 1]) - 1


def test_a_parse_is_what_a_parser_does() -> None:
    trees = read([CAT, "cat", "( a ( b ( c d ) ) )"])
    assert steps(trees, 0) == ["the", "cat", "+", "sat", ".", "+", "+"]
    assert steps(trees, 1) == ["cat"]
    assert steps(trees, 2) == ["a", "b", "c", "d", "+", "+", "+"]
    assert trees.unparsed == 0


def test_left_parts_heights_and_what_is_above() -> None:
    trees = read(["( a b )", "( ( a ( b c ) ) d )"])
    assert brackets(trees, top(trees, 1)) == (("a", ("b", "c")), "d")
    # a b + | a b c + + d +
    assert trees.left.tolist() == [-1, -1, 0, -1, -1, -1, 4, 3, -1, 7]
    assert trees.heights.tolist() == [0, 0, 1, 0, 0, 0, 1, 2, 0, 3]
    assert trees.parent_heights.tolist() == [1, 1, 0, 2, 1, 1, 2, 3, 3, 0]
    assert trees.tree_heights.tolist() == [1, 3]


def test_brackets_and_quotes_are_read_as_texts_write_them() -> None:
    trees = read(["( `` ( ( -LRB- Hello ) ( -RRB- '' ) ) )"])
    assert steps(trees) == ['"', "(", "hello", "+", ")", '"', "+", "+", "+"]


@pytest.mark.parametrize(
    ("parse", "problem"),
    [
        ("( a b c )", "more or fewer than two parts"),
        ("( a )", "more or fewer than two parts"),
        ("( ( a b ) )", "more or fewer than two parts"),
        ("( )", "more or fewer than two parts"),
        ("a ( b )", "more or fewer than two parts"),
        ("( a b ) ( c d )", "more than one tree"),
        ("a b", "more than one tree"),
        ("( a b", "never closes"),
        (") a b (", "never opened"),
    ],
)
def test_what_is_no_binary_tree_is_refused_by_row(parse: str, problem: str) -> None:
    with pytest.raises(PairError, match=problem) as caught:
        read([CAT, parse, "( also wrong"] if problem == "never closes" else [CAT, parse])
    assert caught.value.row == 1
    assert parse in str(caught.value)


def test_a_missing_parse_is_refused_by_row_or_branches_to_the_right() -> None:
    parses, texts = [CAT, None, "  ", "( so it )"], ["The cat sat.", "A dog barked.", "Yes", "so it"]
    with pytest.raises(PairError, match=r"'A dog barked.' has no premise_binary_parse; .*--unparsed right") as caught:
        read(parses, texts)
    assert caught.value.row == 1
    trees = read(parses, texts, unparsed="right")
    assert steps(trees, 1) == ["a", "dog", "barked", ".", "+", "+", "+"]
    assert brackets(trees, top(trees, 1)) == ("a", ("dog", ("barked", ".")))
    assert [steps(trees, row) for row in (2, 3)] == [["yes"], ["so", "it", "+"]]
    assert trees.unparsed == 2


def test_an_empty_text_is_a_tree_of_one_unknown_word() -> None:
    trees = read(["", CAT], ["", "The cat sat."])
    assert (steps(trees, 0), trees.unparsed) == ([""], 0)


def test_a_word_that_is_called_like_what_fills_up_is_an_unknown_one() -> None:
    from acidtest.zoo.architectures.spinn import TreeInputs
    from acidtest.zoo.batches import SPECIAL, UNKNOWN, WordVocabulary

    trees = read(["( <padding> cat )"])
    inputs = TreeInputs(trees, trees, WordVocabulary((*SPECIAL, "cat")), None, device=torch.device("cpu"))
    assert inputs.batch(np.array([0])).forest.words.tolist() == [UNKNOWN, 2] * 2


def test_no_pairs_are_no_trees() -> None:
    assert len(read([], [])) == 0


def test_all_parses_of_snli_are_read_as_they_are_written(shared: Path) -> None:
    frame = pl.read_ndjson(shared / "snli" / "snli_1.0_dev.jsonl.gz").head(3000)
    column = frame["sentence1_binary_parse"].alias("premise_binary_parse")
    trees = parse_trees(column, frame["sentence1"])
    for row in range(0, 3000, 100):
        written = str(brackets(trees, top(trees, row))).lower()
        plain = column[row].lower().replace("``", '"').replace("''", '"')
        assert [word for word in plain.split() if word not in "()"] == [w for w in steps(trees, row) if w != "+"]
        assert written.count("(") >= column[row].count("(")


def pairs(count: int, seed: int = 0) -> pl.DataFrame:
    """Random trees over few words; a pair is entailed where the last word of both is the same."""
    draws = np.random.default_rng(seed)
    words = ["cat", "dog", "sat", "ran", "red", "big"]

    def tree(size: int) -> str:
        if size == 1:
            return str(draws.choice(words))
        cut = int(draws.integers(1, size))
        return f"( {tree(cut)} {tree(size - cut)} )"

    parses = [[tree(int(draws.integers(1, 9))) for _ in range(count)] for _ in range(2)]
    plain = [[" ".join(word for word in parse.split() if word not in "()") for parse in side] for side in parses]
    same = [first.split()[-1] == second.split()[-1] for first, second in zip(*plain, strict=True)]
    return pl.DataFrame(
        {
            **dict(zip(COLUMNS, [*plain, *parses], strict=True)),
            "label": ["entailment" if equal else "contradiction" for equal in same],
        }
    )


def begun(frame: pl.DataFrame, **settings: Any) -> Any:
    from acidtest.zoo.architectures.spinn import TreeReader
    from acidtest.zoo.trainer import TrainerOptions
    from acidtest.zoo.training import TrainingOptions

    return TreeReader.for_training(TrainingOptions("spinn", settings, TrainerOptions(), dimensions=10), frame)


def network(reader: Any) -> Any:
    from acidtest.zoo.architectures import spinn

    torch.manual_seed(1)
    made = spinn.SPINNNetwork(reader.basis(3), hidden=7, layer=11)
    with torch.no_grad():
        for weight in made.parameters():
            weight += 0.3 * torch.randn_like(weight)
    return made.eval()


def state_of(made: Any, reader: Any, nested: Any) -> Any:
    """State and memory of a tree, by the definition: a word is projected, two parts are joined."""
    if isinstance(nested, str):
        number = torch.tensor([reader.vocabulary.numbers[nested]])
        return made.leaves(made.words.table(number))[0]
    left, right = (state_of(made, reader, part) for part in nested)
    weight, bias = made.cell.gates.weight, made.cell.gates.bias
    enter, first, second, leave, new = (weight @ torch.cat([left[:7], right[:7]]) + bias).chunk(5)
    memory = first.sigmoid() * left[7:] + second.sigmoid() * right[7:] + enter.sigmoid() * new.tanh()
    return torch.cat([leave.sigmoid() * memory.tanh(), memory])


def test_heights_at_once_give_the_states_of_trees_one_by_one() -> None:
    frame = pairs(40)
    reader = begun(frame)
    made, cpu = network(reader), torch.device("cpu")
    batch = reader.inputs(frame, None, cpu).batch(np.arange(40)[::-1].copy())
    both = concatenate_trees(
        *(parse_trees(frame[parses], frame[texts]) for texts, parses in zip(COLUMNS[:2], COLUMNS[2:], strict=True))
    )
    with torch.inference_mode():
        tops = made.root_states(batch.forest)
        expected = [
            state_of(made, reader, brackets(both, top(both, row)))[:7] for row in [*batch.rows, *batch.rows + 40]
        ]
    torch.testing.assert_close(tops, torch.stack(expected))


def test_scores_do_not_depend_on_what_else_is_in_a_batch() -> None:
    frame = pairs(30, seed=3)
    reader = begun(frame)
    made, inputs = network(reader), reader.inputs(frame, None, torch.device("cpu"))
    with torch.inference_mode():
        whole = made(inputs.batch(np.arange(30)))
        single = torch.cat([made(inputs.batch(np.array([row]))) for row in range(30)])
    torch.testing.assert_close(whole, single)
    assert whole.std(dim=0).min() > 1e-3


def test_a_batch_of_one_pair_can_be_learnt_from() -> None:
    frame = pairs(2)
    reader = begun(frame)
    made = network(reader).train()
    made(reader.inputs(frame, None, torch.device("cpu")).batch(np.array([0]))).sum().backward()
    assert all(weight.grad is not None for name, weight in made.named_parameters() if "words" not in name)


def written(tmp_path: Path, frame: pl.DataFrame, name: str) -> Path:
    names = {"premise": "sentence1", "hypothesis": "sentence2", "label": "gold_label"}
    names |= {f"{ours}_binary_parse": f"{theirs}_binary_parse" for ours, theirs in list(names.items())[:2]}
    frame.rename({ours: theirs for ours, theirs in names.items() if ours in frame.columns}).write_ndjson(
        tmp_path / name
    )
    return tmp_path / name


def train(tmp_path: Path, files: list[Path], **arguments: str) -> Any:
    arguments = {"hidden": "24", "layer": "32", **arguments}
    material = api.Material(files)
    recipe = {"epochs": 12, "learning_rate": 5e-3, "batch_size": 16}
    return api.train(
        "spinn", material, output=tmp_path / "net", arguments=arguments, recipe=recipe, dimensions=16, device="cpu"
    )


def asked(folder: Path, frame: pl.DataFrame) -> float:
    """The share of right answers to a suite of these pairs."""
    suite = Suite(complete_columns(frame, "tried").lazy(), Card("tried")).sealed()
    model: Any = model_from_spec(f"zoo:{folder}", {"device": "cpu"})
    model.check([suite])
    values, _ = collect_answers(model, make_plan(model, [suite])).lookup(frame)
    return float(np.mean([LABELS[answer] for answer in values.argmax(axis=1)] == frame["label"].to_numpy()))


def test_it_learns_and_reads_unparsed_pairs_only_if_told_to(tmp_path: Path) -> None:
    frame = pairs(300)
    train(tmp_path, [written(tmp_path, frame, "parsed.jsonl")])
    assert asked(tmp_path / "net", frame) > 0.9
    with pytest.raises(
        AcidtestError, match=r"'tried' has no premise_binary_parse, which spinn reads; .*--unparsed right"
    ):
        asked(tmp_path / "net", frame.drop(COLUMNS[2:]))
    with pytest.raises(AcidtestError, match=r"bare.jsonl, pair 1: .* has no premise_binary_parse; .*--unparsed right"):
        train(tmp_path / "other", [written(tmp_path, frame.drop(COLUMNS[2:]), "bare.jsonl")])


def test_pools_that_are_partly_parsed_are_learnt_from_with_trees_to_the_right(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    frame = pairs(200)
    bare = frame.tail(100).drop(COLUMNS[2:])
    files = [written(tmp_path, frame.head(100), "parsed.jsonl"), written(tmp_path, bare, "bare.jsonl")]
    with caplog.at_level(logging.INFO, logger="acidtest"):
        train(tmp_path, files, unparsed="right")
    assert "200 of 400 sentences have no parse" in caplog.text
    assert asked(tmp_path / "net", bare) > 0.8
    assert asked(tmp_path / "net", frame.head(100)) > 0.8


def test_a_malformed_parse_is_named_with_its_file(tmp_path: Path) -> None:
    frame = pairs(5).with_columns(hypothesis_binary_parse=pl.Series(["( a b )"] * 3 + ["( a b", "( a b )"]))
    with pytest.raises(AcidtestError, match=r"bad.jsonl, pair 4: hypothesis_binary_parse '\( a b' is no binary tree"):
        train(tmp_path, [written(tmp_path, frame, "bad.jsonl")])


def test_a_users_own_model_may_do_without_columns_too() -> None:
    class Parsed:
        columns = COLUMNS
        optional = COLUMNS[2:]
        seen: ClassVar[list[Any]] = []

        def predict(self, *columns: Any) -> list[str]:
            self.seen.extend(columns[2])
            return ["neutral"] * len(columns[0])

    frame = pairs(3).drop("premise_binary_parse")
    model = completed_model(Parsed())
    suite = Suite(complete_columns(frame, "tried").lazy(), Card("tried")).sealed()
    assert collect_answers(model, make_plan(model, [suite])).lookup(frame)[0].argmax(axis=1).tolist() == [1, 1, 1]
    assert Parsed.seen == [None] * 3
    with pytest.raises(AcidtestError, match="has no column hypothesis, which the model asks for"):
        make_plan(model, [Suite(suite.frame.drop("hypothesis"), suite.card)])
