"""Stress tests of a small simulated run: numbers, the paper's tables and what the document says."""

from __future__ import annotations

from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from acidtest.core.document import Change, Chart, Document, Note, Published, Table, tables, walk
from acidtest.core.errors import AcidtestError
from acidtest.core.estimate import Estimate
from acidtest.core.run import Header, ModelFacts, Run
from acidtest.core.study import STUDIES
from acidtest.core.suite import Card
from acidtest.studies.scores import suite_results
from acidtest.studies.scoring.error_kinds import Errors, confusion_table, kind_title
from acidtest.studies.stress import StressResult, StressTest, document, stress, stress_of_scores, suite_title

LABELS = ("entailment", "neutral", "contradiction")
MATCHED, AQUA_RAT = "mnli-matched", "aqua-rat"
PAIRS = 12
LADDER = ("repetitions", "place", "side")


def rows(suite: str, answers: list[int], gold: list[int] | None = None, **columns: list[Any]) -> pl.DataFrame:
    """Rows over the same base pairs again and again; gold goes round the three labels unless it is given."""
    count = len(answers)
    gold = [number % 3 for number in range(count)] if gold is None else gold
    base = [f"base-{number % PAIRS}" for number in range(count)]
    control = suite.endswith("#control")
    p = np.eye(3)[answers]
    return pl.DataFrame(
        {
            "suite": [suite] * count,
            "id": base if control else [f"{name}-{number}" for number, name in enumerate(base)],
            "premise": ["A premise."] * count,
            "hypothesis": ["A hypothesis."] * count,
            "label": [LABELS[label] for label in gold],
            "group": base,
            "base_id": pl.Series([None] * count if control else base, dtype=pl.String),
            **columns,
            **{f"p_{label}": p[:, place] for place, label in enumerate(LABELS)},
            "answer": [LABELS[answer] for answer in answers],
            "correct": [one == other for one, other in zip(answers, gold, strict=True)],
        }
    )


def stress_run(
    model: str = "m", *, skill: int = 9, corpus: str = "starter", faithful: bool = True, **facts: Any
) -> Run:
    """A model that is right on the first ``skill`` of twelve pairs and falls back to neutral on changed ones."""
    good = [number % 3 if number < skill else (number + 1) % 3 for number in range(PAIRS)]
    fallen = [1 if number % 2 else answer for number, answer in enumerate(good)]
    frames, cards = [], {}
    given = {"from": corpus} | ({"corpus": corpus} if corpus.startswith("mnli-") else {})
    plain: dict[str, Any] = {"arguments": given}

    def add(name: str, frame: pl.DataFrame, **card: Any) -> None:
        frames.append(frame)
        cards[name] = Card(name, rows=frame.height, **(plain | card))

    for name in ("stress/word-overlap", "stress/negation"):
        add(name, rows(name, fallen))
        add(f"{name}#control", rows(f"{name}#control", good))
    antonymy = given | ({"faithful": True} if faithful else {})
    add("stress/antonymy", rows("stress/antonymy", [0] * 9 + [1] * 2 + [2], [2] * 12), arguments=antonymy)
    numbers = {"from": AQUA_RAT, "corpus": AQUA_RAT, "faithful": True} if faithful else given
    add("stress/numerical", rows("stress/numerical", [0] * 6 + [1] * 6), arguments=numbers)
    variants = [("adjacent", "any"), ("keyboard", "any"), ("adjacent", "content"), ("adjacent", "function")]
    spelling = {
        "edit": [edit for edit, _ in variants for _ in range(PAIRS)],
        "target": [target for _, target in variants for _ in range(PAIRS)],
    }
    # Right on every pair whose content word was swapped, on ``skill`` of twelve others.
    answers = [*good * 2, *(number % 3 for number in range(PAIRS)), *good]
    add("stress/spelling", rows("stress/spelling", answers, **spelling), columns=dict.fromkeys(spelling, "factor"))
    rungs = [(str(n).rjust(2), "end", "premise") for n in (1, 2, 3)] + [
        (" 1", "start", "premise"),
        (" 1", "end", "both"),
    ]
    ladder = {name: [rung[place] for rung in rungs for _ in range(PAIRS)] for place, name in enumerate(LADDER)}
    answers = [answer for rung in rungs for answer in (good if rung[0] == " 1" else fallen)]
    add("stress/ladder", rows("stress/ladder", answers, **ladder), columns=dict.fromkeys(LADDER, "factor"))
    add("stress/ladder#control", rows("stress/ladder#control", good))
    header = Header(ModelFacts(model, model, **facts), cards, {"limit": None}, versions={"acidtest": "0"})
    return Run(header, pl.concat(frames, how="diagonal_relaxed"))


@pytest.fixture(scope="module")
def result() -> StressResult:
    return stress([stress_run("strong", corpus=MATCHED), stress_run("weak", skill=6, corpus=MATCHED)])


@pytest.fixture(scope="module")
def shown(result: StressResult) -> dict[str, Table]:
    return tables(document(result))


def column(table: Table, name: str) -> dict[str, Any]:
    place = [column.name for column in table.columns].index(name)
    return {row.name: row.cells[place] for row in table.rows}


def values(table: Table, name: str) -> dict[str, float | None]:
    """The values of a column, of changes what they became."""
    cells = column(table, name)
    shown = {row: cell.after if isinstance(cell, Change) else cell for row, cell in cells.items()}
    return {row: cell.value if cell else None for row, cell in shown.items()}


def test_suites_stand_in_the_papers_order(result: StressResult) -> None:
    names = [suite.removeprefix("stress/") for suite in result.suites]
    assert names == ["antonymy", "numerical", "word-overlap", "negation", "spelling", "ladder"]
    assert suite_title("stress/negation:tautology=green") == "negation (tautology=green)"


def test_known_scores_give_the_same_document(result: StressResult) -> None:
    runs = [stress_run("strong", corpus=MATCHED), stress_run("weak", skill=6, corpus=MATCHED)]
    known = stress_of_scores(runs, [suite_results(run) for run in runs])
    # NaN is not equal to itself, so the documents are compared as texts.
    assert repr(document(known)) == repr(document(result))


def test_table_3_has_models_people_and_the_papers_systems(shown: dict[str, Table]) -> None:
    accuracy = shown["accuracy"]
    assert [(row.heading, row.name) for row in accuracy.rows] == [
        ("", "untouched pairs"),
        ("competence", "antonymy"),
        ("competence", "numerical"),
        ("distraction", "word overlap"),
        ("distraction", "negation"),
        ("noise", "spelling"),
        ("other", "ladder"),
    ]
    numbers = values(accuracy, "strong")
    # Of spelling the swaps in content words, on which the model is always right.
    assert list(numbers.values())[:-1] == pytest.approx([9 / 12, 1 / 12, 4 / 12, 7 / 12, 7 / 12, 1])
    overlap = column(accuracy, "strong")["word overlap"]
    assert isinstance(overlap, Change)
    assert overlap.before.value == 0.75
    people = values(accuracy, "people: annotators")
    assert [people[name] for name in ("antonymy", "numerical", "word overlap", "negation")] == [0.86, 0.91, 0.91, None]
    # Naik et al. 2018, table 3, the matched columns.
    assert list(values(accuracy, "CBOW").values())[:-1] == [0.635, 0.063, 0.303, 0.536, 0.437, 0.603]
    assert column(accuracy, "CBOW")["ladder"] is None
    assert "McCoy" not in " ".join(accuracy.sources)


def test_only_antonyms_of_the_released_script_stand_beside_the_papers_systems() -> None:
    run = stress_run(corpus="mnli-matched", faithful=False)
    accuracy = tables(document(stress([run])))["accuracy"]
    assert column(accuracy, "CBOW")["antonymy"] is None
    assert column(accuracy, "people: annotators")["antonymy"] is None


@pytest.mark.parametrize("corpus", ["starter", "snli_1.0_dev", "my_mnli_dev_mismatched"])
def test_pairs_of_another_corpus_have_no_published_numbers_beside_them(corpus: str) -> None:
    """However their file is called: no number of MultiNLI or AQuA-RAT, in no table, chart or JSON."""
    found = stress([stress_run(corpus=corpus, faithful=False)])
    assert not any(found.published.values())
    shown = document(found)
    for table in tables(shown).values():
        roles = [part.role for part in (*table.rows, *table.columns)]
        assert not {"published", "people"} & {*roles}
        assert not table.sources
    notes = [part.text for part in walk(shown.parts) if isinstance(part, Note)]
    assert any(text.endswith("their numbers are shown only next to such pairs.") for text in notes)


def test_the_mismatched_set_has_its_own_numbers_beside_it() -> None:
    accuracy = tables(document(stress([stress_run(corpus="mnli-mismatched")])))["accuracy"]
    assert list(values(accuracy, "CBOW").values())[:-1] == [0.642, 0.036, 0.303, 0.556, 0.442, 0.606]
    assert "Naik et al. 2018, table 3, MultiNLI mismatched" in accuracy.sources


def test_table_4_sets_false_neutrals_beside_those_on_untouched_pairs(shown: dict[str, Table]) -> None:
    table = shown["false neutrals"]
    # Untouched, the strong model errs on the last three pairs: gold E, N, C answered N, C, E. Changed, every second
    # answer is neutral: E–N, C–N, E–N, N–C, C–N.
    assert values(table, "strong") == pytest.approx(
        {"untouched pairs": 1 / 3, "word overlap": 4 / 5, "negation": 4 / 5}
    )
    assert values(table, "Chen et al. (2017)") == {"untouched pairs": 0.329, "word overlap": 0.847, "negation": None}


def test_tables_7_and_8_and_the_errors_on_numbers_are_the_papers_slices(shown: dict[str, Table]) -> None:
    assert values(shown["antonymy errors"], "weak") == pytest.approx({"C–E": 9 / 11, "C–N": 2 / 11})
    assert values(shown["antonymy errors"], "Chen et al. (2017)") == {"C–E": 0.9978, "C–N": 0.0022}
    assert values(shown["spelling"], "Nie and Bansal (2017)") == {
        "swap": 0.43,
        "keyboard": 0.477,
        "swap, content word": 0.511,
        "swap, function word": 0.497,
    }
    numbers = shown["numerical errors"]
    assert [row.name for row in numbers.rows] == ["E–N", "E–C", "N–E", "N–C", "C–E", "C–N"]
    both = column(numbers, "BiLSTM (Nangia et al. 2017) and Nie and Bansal (2017)")
    assert both["N–E"] == Published(pytest.approx(0.3927))


def test_errors_that_both_models_make_stand_beside_the_papers(shown: dict[str, Table]) -> None:
    # Both answer entailment six times and then neutral six times: C–E and N–E, then E–N and C–N, two each of eight.
    common = values(shown["numerical errors"], "errors that both make (8)")
    assert list(common.values()) == pytest.approx([2 / 8, 0, 2 / 8, 0, 2 / 8, 2 / 8])
    assert any("errors that both systems make" in note for note in shown["numerical errors"].notes)
    alone = tables(document(stress([stress_run("strong")])))["numerical errors"]
    assert [column.name for column in alone.columns if not column.role] == ["strong"]


def test_shares_of_error_kinds_add_up(shown: dict[str, Table]) -> None:
    table = shown["error kinds"]
    parts = [[cell.value for cell in row.cells[:-1] if isinstance(cell, Estimate)] for row in table.rows]
    assert all(sum(shares) == pytest.approx(1) for shares in parts)
    negation = [row.name for row in table.rows if row.heading == "negation"]
    assert negation == [f"{model}, {pairs} pairs" for model in ("strong", "weak") for pairs in ("untouched", "changed")]
    assert [row.name for row in table.rows if row.heading == "antonymy"] == ["strong, all pairs", "weak, all pairs"]


def test_untouched_pairs_are_counted_once_however_many_were_made_of_each(result: StressResult) -> None:
    ladder = next(test for test in result.tests if (test.model, test.suite) == ("strong", "stress/ladder"))
    assert ladder.vs_control is not None
    assert (ladder.accuracy.n, ladder.vs_control.control.n) == (5 * PAIRS, PAIRS)
    share = ladder.errors.kinds["false neutral"].vs_control.share.control
    # The strong model errs on three of the twelve.
    assert (share.n, share.value) == (3, pytest.approx(1 / 3))


def test_the_ladder_climbs_at_the_end_of_the_premise_only(result: StressResult, shown: dict[str, Table]) -> None:
    repetitions = values(shown["ladder repetitions"], "strong")
    assert repetitions == pytest.approx({"1": 0.75, "2": 7 / 12, "3": 7 / 12, "untouched pairs": 0.75})
    places = {row.name: row.cells for row in shown["ladder places"].rows}
    assert [cell is not None for cell in places["strong, premise"]] == [True, False, True]
    assert [cell is not None for cell in places["strong, both"]] == [False, False, True]
    marks = {part.table: part.mark for part in walk(document(result).parts) if isinstance(part, Chart)}
    assert marks == {
        "accuracy": "dots",
        "error kinds": "stack",
        "ladder repetitions": "line",
        "ladder places": "shades",
    }


def test_original_and_changed_are_of_the_same_pairs_under_a_limit() -> None:
    """Content words are misspelt in the six pairs that it gets right, keys replaced in the other six."""
    answers = [number % 3 if number < 6 else (number + 1) % 3 for number in range(PAIRS)]
    variants = {"edit": ["adjacent"] * 6 + ["keyboard"] * 6, "target": ["content"] * 6 + ["any"] * 6}
    # Misspelt, it loses one of the first six and gains none: 100 → 83 %, where over all pairs 50 → 83 % looks a gain.
    misspelt = [1, *answers[1:]]
    control = "stress/spelling#control"
    frames = [rows("stress/spelling", misspelt, **variants), rows(control, answers)]
    cards = {
        "stress/spelling": Card("stress/spelling", rows=PAIRS, columns=dict.fromkeys(variants, "factor")),
        control: Card(control, rows=PAIRS),
    }
    run = Run(Header(ModelFacts("m", "m"), cards, {}), pl.concat(frames, how="diagonal_relaxed"))
    shown = tables(document(stress([run])))
    swap = column(shown["accuracy"], "m")["spelling"]
    assert (swap.before.value, swap.after.value) == (1, pytest.approx(5 / 6))
    assert (swap.before.n, swap.after.n) == (6, 6)
    by_variant = column(shown["spelling"], "m")
    assert by_variant["swap, content word"] == swap
    assert (by_variant["keyboard"].before.value, by_variant["keyboard"].after.value) == (0, 0)
    known = tables(document(stress_of_scores([run], [suite_results(run)])))
    assert repr(known["spelling"].rows) == repr(shown["spelling"].rows)


def test_a_ladder_of_different_pairs_has_the_untouched_pairs_of_each_step() -> None:
    answers = [number % 3 if number < 6 else (number + 1) % 3 for number in range(PAIRS)]
    steps = {"repetitions": [" 1"] * 6 + [" 2"] * 6, "place": ["end"] * PAIRS, "side": ["premise"] * PAIRS}
    control = "stress/ladder#control"
    cards = {
        "stress/ladder": Card("stress/ladder", rows=PAIRS, columns=dict.fromkeys(steps, "factor")),
        control: Card(control, rows=PAIRS),
    }
    frames = [rows("stress/ladder", answers, **steps), rows(control, answers)]
    run = Run(Header(ModelFacts("m", "m"), cards, {}), pl.concat(frames, how="diagonal_relaxed"))
    found = column(tables(document(stress([run])))["ladder repetitions"], "m")
    assert {name: (cell.before.value, cell.after.value) for name, cell in found.items()} == {"1": (1, 1), "2": (0, 0)}


def test_rows_that_are_not_what_was_published_have_no_number_beside_them() -> None:
    run = stress_run(corpus="mnli-matched", faithful=False)
    accuracy = tables(document(stress([run])))["accuracy"]
    assert accuracy.notes == ("antonymy: the published systems were evaluated on the pairs that --faithful makes",)
    published = values(accuracy, "CBOW")
    assert (published["antonymy"], published["numerical"]) == (None, None)
    assert (published["untouched pairs"], published["negation"]) == (0.635, 0.437)


def test_a_suite_compared_with_other_pairs_than_the_rest_is_named(result: StressResult) -> None:
    from dataclasses import replace

    def with_control(test: StressTest) -> StressTest:
        if test.suite != "stress/negation" or test.vs_control is None:
            return test
        return replace(test, vs_control=replace(test.vs_control, control=Estimate(0.5, n=4)))

    changed = replace(result, tests=tuple(with_control(test) for test in result.tests if test.model == "strong"))
    notes = tables(document(changed))["accuracy"].notes
    assert (
        "untouched pairs: the untouched pairs of word overlap; compared with their own are negation with 50.0 % of 4"
        in notes
    )


def test_negation_and_numbers_have_tables_of_their_own(shown: dict[str, Table]) -> None:
    negation = shown["stress/negation contradictions"]
    assert [row.name for row in negation.rows if row.heading == "strong"] == ["E–C", "N–C"]
    # Of twelve pairs the strong model takes no entailment and one neutral pair for contradiction, changed or not.
    assert [row.cells[1] for row in negation.rows if row.heading == "strong"] == [0, 1]
    answers = shown["stress/numerical answers"]
    first = next(row for row in answers.rows if row.heading == "strong")
    assert (first.name, first.cells) == ("entailment", (2, 2, 0, 0.5, 0.5, 0.0))


def test_pairs_without_an_answer_have_a_column_only_where_there_are_any() -> None:
    answers = {"entailment": 1, "neutral": 0, "contradiction": 0}
    some, none = ({"entailment": answers | {"unanswered": count}} for count in (1, 0))
    [with_column] = confusion_table("t", "c", {"m": some, "n": none})
    [without] = confusion_table("t", "c", {"n": none})
    assert len(with_column.columns) == 2 * 4
    assert len(without.columns) == 2 * 3
    assert kind_title("E-C") == "E–C"
    assert kind_title("false non-entailment") == "false non-entailment"


def test_the_headline_names_the_greatest_loss(result: StressResult) -> None:
    # 9 of 12 before, 7 of 12 after.
    assert document(result).headline.startswith("strong loses 16.7 points on word overlap; weak ")


def test_a_test_that_cannot_be_scored_has_no_number() -> None:
    unknown = Estimate(nan, note="no rows")
    empty = StressTest("m", "stress/negation", "s", "", unknown, None, {}, Errors(), None)
    shown: Document = document(StressResult((empty,), {}))
    assert shown.headline == "No stress test could be scored."
    assert column(tables(shown)["accuracy"], "m") == {"negation": unknown}


def test_runs_without_stress_tests_are_refused_and_have_no_such_section() -> None:
    frame = rows("hans", [0, 1, 2])
    run = Run(Header(ModelFacts("m", "m"), {"hans": Card("hans", rows=3)}, {}, versions={"acidtest": "0"}), frame)
    applies = STUDIES["stress"].applies
    assert applies is not None
    assert not applies([run])
    assert applies([run, stress_run()])
    with pytest.raises(AcidtestError, match="no stress test in these runs; there is hans"):
        stress([run])


def test_two_way_models_have_two_kinds_of_errors() -> None:
    shown = tables(document(stress([stress_run(resolution="two-way")])))
    kinds = [column.name for column in shown["error kinds"].columns]
    assert kinds == ["false entailment", "false non-entailment", "errors"]
    assert "false neutrals" not in shown


def test_a_page_escapes_the_names_of_models(tmp_path: Path) -> None:
    from acidtest.render.html import render_page

    page = render_page(document(stress([stress_run("<script>alert(1)</script>")])))
    assert "<script>alert" not in page
