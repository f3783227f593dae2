"""Trees in Penn brackets, checked against the parses that SNLI ships."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from acidtest.english.trees import binary, is_clause, tree

SLEPT = "(ROOT (S (NP (DT The) (NN actor)) (VP (VBD slept)) (. .)))"


def test_brackets_are_read_and_written_back() -> None:
    found = tree(SLEPT)
    assert str(found) == SLEPT
    assert found.leaves == ["The", "actor", "slept", "."]
    assert str(tree("( (S (NP (PRP it)) (VP (VBZ is))))")) == "( (S (NP (PRP it)) (VP (VBZ is))))"


@pytest.mark.parametrize(
    ("brackets", "problem"),
    [
        ("", "no tree"),
        ("(S (NP x)", "brackets never closed: 1"),
        ("(S (NP x)))", "a bracket closes that never opened"),
        ("(S ())", "brackets with nothing between them"),
        ("(S (NP))", "the label 'NP' stands over nothing"),
        ("(S a) (S b)", "2 trees stand side by side"),
        ("word", "1 trees stand side by side"),
    ],
)
def test_wrong_brackets_are_told(brackets: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem.replace("(", r"\(")):
        tree(brackets)


def test_clauses_are_told_by_their_labels() -> None:
    assert is_clause("S")
    assert is_clause("SBAR-TMP")
    assert not is_clause("NP")
    premise = tree(
        "(ROOT (S (SBAR (IN If) (S (NP (DT the) (NN cat)) (VP (VBD ran)))) (, ,) "
        "(S (NP (PRP we)) (VP (VBD hid))) (. .)))"
    )
    assert [" ".join(clause.leaves) for clause in premise.clauses] == [
        "If the cat ran , we hid .",
        "If the cat ran",
        "the cat ran",
        "we hid",
    ]


@pytest.mark.parametrize(
    ("brackets", "expected"),
    [
        # As in the published HANS: right of the head first, then left.
        (SLEPT, "( ( The actor ) ( slept . ) )"),
        ("(VP (VBD saw) (NP (DT a) (NN cat)) (PP (IN in) (NP (NNP Rome))))", "( ( saw ( a cat ) ) ( in Rome ) )"),
        ("(NP (DT a) (NN church) (NN choir))", "( a ( church choir ) )"),
        ("(NP (NP (DT a) (NN cat)) (CC and) (NP (DT a) (NN dog)))", "( ( ( a cat ) and ) ( a dog ) )"),
        ("(NN cat)", "cat"),
    ],
)
def test_binary_parses_grow_from_their_heads(brackets: str, expected: str) -> None:
    assert binary(tree(brackets)) == expected


def test_nearly_all_binary_parses_of_snli_come_out_exactly(shared: Path) -> None:
    same = total = 0
    with gzip.open(shared / "snli" / "snli_1.0_dev.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            for side in ("sentence1", "sentence2"):
                found = tree(row[f"{side}_parse"])
                assert str(found) == row[f"{side}_parse"]
                total += 1
                same += binary(found) == row[f"{side}_binary_parse"]
    assert total == 20_000
    assert same / total > 0.993
