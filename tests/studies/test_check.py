"""Checks of a suite: each finds what was planted, and a clean suite passes."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from acidtest import api
from acidtest.cli.app import main
from acidtest.core.suite import Card, Suite, complete_columns
from acidtest.studies.check import check, find_odd_texts

NAMES = ("Anna", "Omar", "Tom", "Lea", "Kim", "Ada", "Bo", "Cy", "Di", "Ed")
CITIES = ("Paris", "Lima", "Oslo", "Cairo", "Quito", "Hanoi", "Rome", "Bonn", "Bern", "Kyiv")


def suite(rows: list[tuple[str, str, str]]) -> Suite:
    frame = pl.DataFrame(rows, schema=["premise", "hypothesis", "label"], orient="row")
    return Suite(complete_columns(frame, "toy").lazy(), Card("toy")).sealed()


def clean_rows() -> list[tuple[str, str, str]]:
    """Pairs in which neither sentence tells the label, but the two together do."""
    draws, rows = random.Random(0), list[tuple[str, str, str]]()
    for name in NAMES:
        for city in CITIES:
            for label in ("entailment", "contradiction"):
                other = city if label == "entailment" else draws.choice([one for one in CITIES if one != city])
                rows.append((f"{name} lives in {city}.", f"{name} lives in {other} now.", label))
    return rows


def verdicts(made: Suite, **options: object) -> dict[str, str]:
    return {name: one.verdict for name, one in check(made, **options).checks.items()}  # type: ignore[arg-type]


def test_a_clean_suite_passes_all_checks() -> None:
    made = suite(clean_rows())
    result = check(made, again=made, expected=200)
    assert result.failed == ()
    assert result.checks["hypothesis alone"].verdict == "pass"
    assert result.checks["made twice"].verdict == "pass"
    assert result.checks["counts"].sentence == "200 pairs, as declared"


def test_a_hypothesis_that_tells_the_label_fails() -> None:
    leaky = [
        (premise, f"{hypothesis} Indeed." if label == "entailment" else hypothesis, label)
        for premise, hypothesis, label in clean_rows()
    ]
    result = check(suite(leaky))
    assert set(result.failed) == {"hypothesis alone", "hypothesis length"}
    assert result.checks["hypothesis alone"].measured.value == 1.0  # type: ignore[union-attr]
    assert result.checks["hypothesis alone"].against == 0.5
    said = "a linear model trained on it tells labels: 'indeed' stands in 100, of which 100 are entailment"
    assert result.checks["hypothesis alone"].sentence == said


def test_a_premise_that_tells_the_label_is_worth_a_look() -> None:
    telling = [
        (f"Long ago, {premise}" if label == "entailment" else premise, hypothesis, label)
        for premise, hypothesis, label in clean_rows()
    ]
    result = check(suite(telling))
    assert result.failed == ()
    assert result.checks["premise alone"].verdict == "look"


def test_pairs_without_gold_are_left_out_of_what_one_answer_gets() -> None:
    golds = ["any", "any", "contradiction", "entailment"]
    rows = [(f"Cat {place} sat.", f"Cat {place} did not sit.", gold) for place, gold in enumerate(golds)]
    sentence = check(suite(rows)).checks["labels"].sentence
    assert sentence == "always answering entailment is right on 50 %; 2 pairs without gold (any) left aside"
    assert check(suite(rows[:2])).checks["labels"].verdict == "not asked"


def test_an_interval_ends_at_a_hundred_per_cent() -> None:
    # One wrong in 200: the linearised values of balanced accuracy go beyond 1.
    telling = [
        (f"Long ago, {premise}" if label == "entailment" else premise, hypothesis, label)
        for premise, hypothesis, label in clean_rows()
    ]
    telling[0] = (telling[0][0].removeprefix("Long ago, "), *telling[0][1:])
    measured = check(suite(telling)).checks["premise alone"].measured
    assert measured is not None
    assert measured.value < 1
    assert measured.high <= 1


def test_few_pairs_do_not_fail_by_a_leak() -> None:
    leaky = [
        (premise, f"{hypothesis} Indeed." if label == "entailment" else hypothesis, label)
        for premise, hypothesis, label in clean_rows()[:60]
    ]
    alone = check(suite(leaky)).checks["hypothesis alone"]
    assert alone.verdict == "look"
    assert alone.sentence.endswith("; fewer than 100 pairs, so no fail, which more pairs may show")


def two_shapes(golds_by_shape: dict[str, tuple[str, ...]]) -> Suite:
    return suite(
        [
            (f"Of {name} in {city}, {gold} was said.", shape.format(name=name, city=city), gold)
            for shape, golds in golds_by_shape.items()
            for name in NAMES
            for city in CITIES
            for gold in golds
        ]
    )


def test_with_three_labels_a_shape_of_hypothesis_needs_all_three() -> None:
    lives, city = "{name} lives in {city}.", "In {city}, {name} has a house."
    twos = {lives: ("entailment", "neutral"), city: ("entailment", "contradiction")}
    threes = dict.fromkeys((lives, city), ("entailment", "neutral", "contradiction"))
    # Neutral for one shape and contradiction for the other are right on two labels of three.
    assert "hypothesis alone" in check(two_shapes(twos)).failed
    assert verdicts(two_shapes(threes))["hypothesis alone"] == "pass"


def test_repeats_and_contradictory_gold_fail_with_examples() -> None:
    rows = clean_rows()
    result = check(suite([*rows, *rows[:5], (*rows[0][:2], "neutral")]))
    assert {"repeats", "one gold a pair"} <= set(result.failed)
    assert result.checks["repeats"].sentence == "6 pairs repeated"
    assert result.checks["one gold a pair"].examples == (
        {"premise": rows[0][0], "hypothesis": rows[0][1], "gold": "entailment, neutral"},
    )


def test_another_card_another_number_or_another_suite_the_second_time_fails() -> None:
    made = suite(clean_rows())
    assert verdicts(replace(made, card=replace(made.card, rows=7)))["counts"] == "fail"
    assert verdicts(made, expected=100)["counts"] == "fail"
    assert verdicts(made, again=suite(clean_rows()[:199]))["made twice"] == "fail"


def test_ids_that_stand_twice_fail() -> None:
    made = suite(clean_rows())
    twice = replace(made, frame=made.frame.with_columns(id=pl.lit("one")))
    assert verdicts(twice)["ids and columns"] == "fail"


def test_one_label_for_all_is_worth_a_look_and_leaks_are_not_asked() -> None:
    checks = verdicts(suite([(premise, hypothesis, "neutral") for premise, hypothesis, _ in clean_rows()]))
    assert checks["labels"] == "look"
    assert checks["hypothesis alone"] == "not asked"


@pytest.mark.parametrize(
    ("premise", "kind"),
    [
        ("The {animal} sleeps.", "with a slot left open"),
        ("The cat  sleeps.", "with stray spaces"),
        ("The the cat sleeps.", "with a word doubled"),
        ("He ate a apple.", "with a for an, or an for a"),
        ("the cat sleeps.", "that begin with a small letter"),
        ("The cat sleeps", "without a mark at their end"),
        ("Tom &amp; Lea sleep.", "with an odd character"),
        ("All is well.", "whose hypothesis is the premise, but gold is not entailment"),
    ],
)
def test_odd_texts_are_counted(premise: str, kind: str) -> None:
    frame = pl.DataFrame(
        {
            "premise": [premise, "An hour ago, a European ate."],
            "hypothesis": ["All is well.", "It was."],
            "label": "neutral",
        }
    )
    assert find_odd_texts(frame).counts == {kind: 1}


def test_the_sheet_has_fifty_pairs_evenly_over_labels_and_no_gold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [("premise", "hypothesis", "label"), *clean_rows()]
    Path("toy.tsv").write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    assert main(["check", "toy.tsv", "-o", "sheet.tsv"]) == 0
    sheet, gold = (pl.read_csv(name, separator="\t") for name in ("sheet.tsv", "sheet.gold.tsv"))
    assert sheet.columns == ["id", "premise", "hypothesis", "judgement"]
    assert sheet.height == 50
    assert dict(gold["gold"].value_counts().iter_rows()) == {"entailment": 25, "contradiction": 25}
    # A reader who finds 20 of the golds wrong: far from 90 %, however the pairs of the sheet share premises.
    judged = gold.with_row_index().select(
        "id", judgement=pl.when(pl.col("index") < 20).then(pl.lit("n")).otherwise("gold")
    )
    judged.write_csv("judged.tsv", separator="\t")
    assert main(["check", "toy.tsv", "--judged", "judged.tsv"]) == 1
    result = api.check("toy.tsv", judged="judged.tsv")
    assert result.checks["judged by reading"].sentence == "gold is what a reader said of 30 of 50 pairs"
    assert result.checks["judged by reading"].verdict == "fail"


def test_a_function_that_draws_without_a_seed_is_not_made_the_same_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    row = "{'premise': f'It is {random.random()}.', 'hypothesis': 'So.', 'label': 'n'}"
    code = f"import random\ndef suite():\n    return [{row}]\n"
    Path("drawn.py").write_text(code, encoding="utf-8")
    assert api.check("drawn.py").failed == ("made twice",)


def test_a_failing_suite_exits_with_one_and_a_missing_file_with_two(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("twice.tsv").write_text("premise\thypothesis\tlabel\n" + "A b.\tC d.\tneutral\n" * 4, encoding="utf-8")
    assert main(["check", "twice.tsv"]) == 1
    assert "twice fails 1 of 11 checks: repeats." in capsys.readouterr().out
    assert main(["check", "nowhere.toml"]) == 2
    assert "nowhere.toml: there is no such file" in capsys.readouterr().err


def test_a_leak_that_is_alike_in_all_groups_fails() -> None:
    golds = {"entailment": ("met", "often"), "neutral": ("wrote to", "often"), "contradiction": ("met", "never")}
    rows = [
        (f"{name} {verb} {other} in town.", f"{name} {adverb} met {other}.", label)
        for name in NAMES
        for other in NAMES
        if name != other
        for label, (verb, adverb) in golds.items()
    ]
    made = suite(rows)
    grouped = Suite(made.frame.with_columns(group=pl.col("hypothesis").str.replace("never|often", "")), made.card)
    leak = check(grouped.sealed()).checks["hypothesis alone"]
    assert leak.verdict == "fail"
    assert leak.measured is not None
    assert leak.measured.low > 0.6
    assert leak.sentence.endswith("'never' stands in 90, of which 90 are contradiction")


def test_no_word_is_blamed_for_an_order_of_words() -> None:
    draws, rows = random.Random(1), list[tuple[str, str, str]]()
    for _ in range(150):
        first, second = sorted(draws.sample(NAMES, 2))
        rows.append((f"{first} and {second} met.", f"{first} greeted {second}.", "entailment"))
        rows.append((f"{first} and {second} met.", f"{second} greeted {first}.", "contradiction"))
    leak = check(suite(list(dict.fromkeys(rows)))).checks["hypothesis alone"]
    assert "no single word does" in leak.sentence
