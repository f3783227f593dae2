"""Behaviour as a document: the paper's tables, what was found, answers by polarity, published numbers beside them."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest
from markupsafe import escape

from acidtest.core.document import Change, Document, Finding, Note, Published, Row, Section, Table, tables, walk
from acidtest.core.estimate import Estimate
from acidtest.core.run import Header, ModelFacts, Run
from acidtest.core.suite import CONTROL, Card, Kind, Suite
from acidtest.render.html import render_page
from acidtest.render.terminal import render
from acidtest.studies.behaviour import (
    BehaviourResult,
    behaviour,
    document,
    published_accuracies,
    published_tables,
    published_tests,
    screen,
)
from acidtest.studies.scores import score_run

COLUMNS: dict[str, Kind] = {"premise_word": "text", "hypothesis_word": "text"}
LABELS = ("entailment", "neutral", "contradiction")
IN_SITU, EX_SITU = "swaps/antonyms-in-situ", "swaps/hypernyms-ex-situ"
PROXY = "swaps/antonyms-proxy"
HOSTILE = "<b>half"


def rows(suite: str, words: tuple[str, str], gold: str, answers: list[str]) -> list[dict[str, object]]:
    """Pairs of one gold and what was answered to them; no answer is an empty string."""
    control = suite.endswith(CONTROL)
    return [
        {
            "suite": suite,
            "id": f"{number}" if control else f"{number}-swapped",
            "base_id": None if control else f"{number}",
            "group": f"{number}",
            "premise": f"A {words[0]}.",
            "hypothesis": f"A {words[1]}.",
            "label": gold,
            "premise_word": words[0],
            "hypothesis_word": words[1],
            **{f"p_{label}": float(answer == label) if answer else float("nan") for label in LABELS},
        }
        for number, answer in enumerate(answers)
    ]


def make_run(model: str, suite: str, after: list[str]) -> list[dict[str, object]]:
    """A dog is an animal, and the other way round; the controls are answered rightly."""
    control = rows(suite + CONTROL, ("dog", "animal"), "entailment", ["entailment"] * len(after))
    return [*control, *rows(suite, ("animal", "dog"), "neutral", after)]


def run(model: str, made: list[dict[str, object]]) -> Run:
    names = dict.fromkeys(str(row["suite"]) for row in made)
    cards = {name: Card(name, columns=COLUMNS) for name in names}
    return Run(Header(ModelFacts(model, model), cards, {}), pl.DataFrame(made, schema_overrides={"base_id": pl.String}))


def antonyms_in_situ(count: int) -> list[dict[str, object]]:
    """Contradictions that are all answered rightly, but for the last swapped pair, which has no answer."""
    return [
        *rows(IN_SITU + CONTROL, ("hot", "cold"), "contradiction", ["contradiction"] * count),
        *rows(IN_SITU, ("cold", "hot"), "contradiction", ["contradiction"] * (count - 1) + [""]),
    ]


TRAIN = Suite(
    pl.DataFrame(
        {
            "premise": ["A dog.", "It is hot.", "It is cold."],
            "hypothesis": ["An animal.", "It is cold.", "It is hot."],
            "label": ["entailment", "contradiction", "neutral"],
        }
    ).lazy(),
    Card("train"),
)


@pytest.fixture(scope="module")
def result() -> BehaviourResult:
    """Two models, one of which repeats its answer to twenty of forty pairs; its name is what a page must not obey."""
    half, sound = ["neutral"] * 20 + ["entailment"] * 20, ["neutral"] * 40
    runs = [
        run(name, [*make_run(name, EX_SITU, answers), *antonyms_in_situ(40)])
        for name, answers in ((HOSTILE, half), ("sound", sound))
    ]
    return behaviour(runs, train=TRAIN)


@pytest.fixture(scope="module")
def shown(result: BehaviourResult) -> Document:
    return document(result)


def row(table: Table, name: str, heading: str) -> Row:
    return next(row for row in table.rows if (row.name, row.heading) == (name, heading))


def values(cells: tuple[object, ...]) -> list[object]:
    """Cells as plain numbers and words."""
    return [getattr(cell, "value", cell) if not isinstance(cell, Estimate) or cell.known else None for cell in cells]


def test_the_overview_has_each_model_and_factor(shown: Document) -> None:
    overview = tables(shown)["overview"]
    assert [column.name for column in overview.columns[:4]] == ["control", "swapped", "difference", "repeated"]
    assert [column.group for column in overview.columns[4::2]] == [
        *("insensitivity", "unseen pairs", "polarity", "same gold")
    ]
    # Twenty errors of twenty repeat the answer; every pair is unseen and of one gold, so nothing else can be tested.
    half = values(row(overview, HOSTILE, EX_SITU).cells)
    assert half[:3] == [1.0, 0.5, -0.5]
    assert half[5::2] == ["found", None, None, None]
    sound = values(row(overview, "sound", EX_SITU).cells)
    assert sound == [1.0, 1.0, 0.0, 0.0, *[None] * 8]


def test_table_1_has_sizes_models_and_the_papers_systems(shown: Document) -> None:
    table = tables(shown)[f"{EX_SITU} samples"]
    assert [column.group for column in table.columns[::2]] == [
        *("whole sample", "gold changed", "unseen pairs", "polarity ≠ gold")
    ]
    # No control goes against its polarity; every swapped pair is new to the training set.
    assert values(row(table, "control", HOSTILE).cells) == [40, 1.0, None, None, None, None, 0, None]
    assert values(row(table, "swapped", HOSTILE).cells) == [40, 0.5] * 4
    # Table 1, rows E_H and E_TH of ESIM.
    control, swapped = (row(table, line, "ESIM, published").cells[1::2] for line in ("control", "swapped"))
    assert values(control) == [0.771, None, None, 0.715]
    assert values(swapped) == [0.576, 0.551, 0.527, 0.631]


def test_the_chart_joins_controls_and_swapped_pairs(shown: Document) -> None:
    table = tables(shown)[f"{EX_SITU} subsets"]
    change = table.rows[0].cells[0]
    assert isinstance(change, Change)
    assert (change.before.value, change.after.value) == (1.0, 0.5)
    assert Published(0.576) in table.rows[0].cells


def test_contingency_tables_stand_beside_those_of_the_paper(shown: Document) -> None:
    by_id = tables(shown)
    insensitivity = by_id[f"{EX_SITU} {HOSTILE} insensitivity"]
    assert [(row.name, row.cells) for row in insensitivity.rows] == [("change", (20, 0)), ("no change", (0, 20))]
    assert insensitivity.sources == ("CE G(1) = 175.19, DAM G(1) = 158.62, ESIM G(1) = 252.27",)
    # Table 3 of the paper; ours has no unseen pair, and one without an answer is wrong.
    assert by_id[f"{IN_SITU} unseen pairs DAM"].rows[0].cells == (567, 20)
    ours = by_id[f"{IN_SITU} sound unseen pairs"]
    assert ours.rows[0].cells == (39, 0)
    assert ours.sources == ("CE G(1) = 19.46, DAM G(1) = 74.16, ESIM G(1) = 39.33",)


def test_answers_by_polarity_count_ties_together_and_say_how_many_pairs_have_one(shown: Document) -> None:
    table = tables(shown)[f"{IN_SITU} answers"]
    headings = dict.fromkeys(row.heading for row in table.rows)
    assert "sound, swapped: 39 of 40 pairs" in headings
    # Table 4 of the paper, polarity neutral: 0, 5 and 21 of 26.
    published = row(table, "neutral", "DAM, published (table 4)")
    assert values(published.cells) == [26, 0.0, 5 / 26, 21 / 26]
    assert published.role == "published"

    made = [
        *rows(EX_SITU + CONTROL, ("dog", "animal"), "entailment", ["entailment"] * 2),
        *rows(EX_SITU, ("cat", "tom"), "neutral", ["neutral", "entailment"]),
    ]
    tied = pl.DataFrame(
        {"premise": ["A cat."] * 2, "hypothesis": ["A tom."] * 2, "label": ["entailment", "contradiction"]}
    )
    table = tables(document(behaviour([run("m", made)], train=Suite(tied.lazy(), Card("t")))))[f"{EX_SITU} answers"]
    assert values(row(table, "a tie", "m, swapped").cells) == [2, 0.5, 0.5, 0.0]


def test_sentences_notes_and_signatures_are_in_the_document_and_escaped_on_the_page(
    result: BehaviourResult, shown: Document
) -> None:
    page = render_page(shown)
    sentences = {part.sentence for part in walk(shown.parts) if isinstance(part, Finding)}
    for one in result.behaviours:
        assert sentences >= set(one.findings)
        assert escape(one.signature) in page
    assert HOSTILE not in page
    notes = [part.text for part in walk(shown.parts) if isinstance(part, Note)]
    assert any(text.startswith("Training set: train, 1 entailment, 1 neutral, 1 contradiction.") for text in notes)
    change = f"When two words change places, the accuracy of {HOSTILE} changes most: on {EX_SITU} from 100.0% to 50.0%."
    assert shown.headline.startswith(change)


def test_tests_have_corrected_p_values_and_effects(shown: Document) -> None:
    table = tables(shown)[f"{EX_SITU} {HOSTILE} tests"]
    assert [row.name for row in table.rows][:3] == ["swapped against control", "insensitivity", "unseen pairs"]
    swap = values(table.rows[0].cells)
    # Twenty lost, none won: two-sided binomial, 2 / 2^20.
    assert swap[0] == "McNemar, exact"
    assert swap[3] == pytest.approx(2**-19)
    assert any(note.startswith("unseen pairs: ") for note in table.notes)


def test_a_suite_the_paper_has_not_stands_alone() -> None:
    shown = document(behaviour([run("m", make_run("m", "swaps/mine", ["neutral"] * 4))], train=TRAIN))
    (section,) = [part for part in shown.parts if isinstance(part, Section) and part.title == "swaps/mine"]
    assert not any(
        row.role == "published" for part in walk(section.parts) if isinstance(part, Table) for row in part.rows
    )
    assert not any(part.sources for part in walk(section.parts) if isinstance(part, Table))
    sentences = [part.sentence for part in walk(section.parts) if isinstance(part, Finding)]
    assert any("every one is neutral" in sentence for sentence in sentences)


@pytest.mark.parametrize(("side", "numbers"), [("premise", [0.721, 0.554]), ("hypothesis", [0.722, 0.568])])
def test_proxies_of_each_side_stand_beside_their_sample(side: str, numbers: list[float]) -> None:
    suite = f"swaps/antonyms-proxy ({side})"
    made = make_run("m", suite, ["neutral"] * 3 + ["entailment"] * 3)
    by_id = tables(document(behaviour([run("m", made)], train=TRAIN)))
    # Table 1, rows I_A, I_TA2 and I_TA3 of ESIM; section 6.1 tests one of the two samples, that of table 2.
    table = by_id[f"{suite} samples"]
    assert values(row(table, "control", "ESIM, published").cells)[1::2] == [0.97, None, None, 0.9]
    assert values(row(table, "swapped", "ESIM, published").cells)[1:4:2] == numbers
    sources = by_id[f"{suite} m insensitivity"].sources
    assert sources == (("CE G(1) = 73.33, DAM G(1) = 108.3, ESIM G(1) = 175.34",) if side == "premise" else ())


def test_the_paper_prints_one_system_for_each_of_tables_2_to_4() -> None:
    # Tables 2, 3 and 4; the columns of table 4 in our order.
    ((system, table),) = published_tables("swaps/antonyms-proxy (premise)", "insensitivity").items()
    assert (system, table.counts.tolist()) == ("ESIM", [[155, 31], [8, 100]])
    ((system, table),) = published_tables(IN_SITU, "polarity").items()
    assert system == "DAM"
    assert table.rows == ("entailment", "neutral", "contradiction", "none")
    assert table.counts.tolist() == [[0, 0, 3], [0, 5, 21], [3, 5, 543], [12, 8, 20]]
    assert published_tables(EX_SITU, "polarity") == {}


def test_a_suite_the_paper_has_not_has_nothing_published() -> None:
    assert published_accuracies("swaps/mine") == {}
    assert published_tests("swaps/mine", "polarity") == ""
    assert published_accuracies("swaps/antonyms-proxy:least=5 (premise)")["swapped"]["ESIM"]["whole sample"] == 0.721
    assert published_accuracies("swaps/antonyms-proxy (hypothesis)")["swapped"]["ESIM"]["whole sample"] == 0.722


def both_ways(suite: str, before: list[str], after: list[str]) -> list[dict[str, object]]:
    """Pairs whose gold is entailment and neutral in turn, and the other one after the swap, with the answers given."""
    gold = ["entailment", "neutral"] * (len(before) // 2)
    made = []
    for number, (label, other) in enumerate(zip(gold, gold[1:] + gold[:1], strict=True)):
        control, swapped = (
            rows(name, words, kind, [answer])[0]
            for name, words, kind, answer in (
                (suite + CONTROL, ("dog", "animal"), label, before[number]),
                (suite, ("animal", "dog"), other, after[number]),
            )
        )
        ids = {"id": str(number), "group": str(number), "hypothesis": f"A {number}."}
        made += [control | ids, swapped | ids | {"id": f"{number}-swapped", "base_id": str(number)}]
    return made


def test_a_model_that_never_changes_its_prediction_is_insensitive() -> None:
    right = ["entailment", "neutral"] * 57
    blind = run("blind", both_ways(EX_SITU, right, right))
    found = behaviour([blind], train=TRAIN)
    (one,) = found.behaviours
    assert (one.repeats.value, one.repeats.n) == (1, 114)
    assert one.repeats.low > 0.96
    assert "Insensitive: where gold changes, all 114 predictions repeat the earlier one, so 114 are wrong" in (
        " ".join(one.findings)
    )
    assert not any("cannot be tested" in sentence and "nsensitiv" in sentence for sentence in one.findings)
    shown = document(found)
    assert shown.headline == (
        f"blind repeats its prediction on 100.0% of the swapped pairs whose gold changed ({EX_SITU})."
    )
    overview = tables(shown)["overview"]
    place = [(column.group, column.name) for column in overview.columns].index(("insensitivity", "verdict"))
    assert overview.rows[0].cells[place] == "found"
    (finding,) = (finding for finding in score_run(blind).diagnosis if finding.code == "I1")
    assert finding.severity == "severe"
    assert finding.sentence == (
        "is insensitive to swapped words: repeats its prediction on 100 % of the pairs whose gold changes"
    )


def test_a_model_with_independent_errors_is_not_insensitive() -> None:
    rng = np.random.default_rng(1)
    right = ["entailment", "neutral"] * 150

    def noisy(gold: list[str]) -> list[str]:
        return [str(rng.choice(LABELS)) if rng.random() < 0.3 else label for label in gold]

    turned = run("noisy", both_ways(EX_SITU, noisy(right), noisy(right[1:] + right[:1])))
    scores = score_run(turned)
    assert scores.suites[EX_SITU].metrics["repeated where gold changed"].value == pytest.approx(0.2, abs=0.1)
    assert not [finding for finding in scores.diagnosis if finding.code == "I1"]


def ten_samples(*models: str) -> BehaviourResult:
    """All of table 1's samples, of models that repeat every prediction."""
    suites = ["antonyms-in-situ", "antonyms-ex-situ", "hypernyms-in-situ", "hypernyms-ex-situ"]
    right = ["entailment", "neutral"] * 30
    made = [pair for suite in suites for pair in both_ways(f"swaps/{suite}", right, right)]
    proxies = [
        row
        | {"swap": None if row["suite"] == PROXY + CONTROL else f"proxy in the {('premise', 'hypothesis')[n % 4 // 2]}"}
        for n, row in enumerate(both_ways(PROXY, right, right))
    ]
    names = [f"swaps/{suite}" for suite in suites]
    cards = {name + end: Card(name + end, columns=COLUMNS) for name in names for end in ("", CONTROL)}
    cards[PROXY] = Card(PROXY, columns={**COLUMNS, "swap": "factor"})
    cards[PROXY + CONTROL] = Card(PROXY, columns=COLUMNS)
    frame = pl.DataFrame(
        [row | {"swap": None} for row in made] + proxies, schema_overrides={"base_id": pl.String, "swap": pl.String}
    )
    return behaviour([Run(Header(ModelFacts(name, name), cards, {}), frame) for name in models], train=TRAIN)


TEN = ("I_A", "I_TA1", "I_TA2", "I_TA3", "E_A", "E_TA", "I_H", "I_TH", "E_H", "E_TH")


def test_the_screen_has_table_1_of_ten_samples_and_all_models() -> None:
    screened = screen(ten_samples("one", "other"), 12)
    table = tables(screened)["table 1"]
    assert [row.name for row in table.rows] == [*TEN]
    assert [(column.group, column.name) for column in table.columns][:4] == [
        *(("all", "one"), ("all", "other")),
        *(("gold", "one"), ("gold", "other")),
    ]
    assert table.rows[0].cells[:4] == (1, 1, None, None)
    assert table.rows[1].cells[:4] == (0, 0, 0, 0)
    assert len(list(render(screened, 110, full=False))) <= 40


@pytest.mark.parametrize(("count", "width"), [(3, 110), (3, 80), (6, 110)])
def test_ten_samples_of_many_models_fit_on_one_screen(count: int, width: int) -> None:
    models = [f"networks/a-rather-long-name-{number}" for number in range(count)]
    result = ten_samples(*models)
    lines = next(
        found
        for rows in range(12, 2, -1)
        if len(found := [*render(screen(result, rows), width, full=False)]) <= 40 or rows == 3
    )
    assert len(lines) <= 40
    lines = [re.sub(r"\x1b\[\d*m", "", line) for line in lines]
    shown = " ".join(lines)
    assert all(any(line.startswith(f"{sample} ") for line in lines) for sample in TEN)
    assert all(f"{letter}: {name}" in shown for letter, name in zip("abcdefg", models, strict=False))
    assert "--full" in lines[-1] + lines[-2]
    if (count, width) == (3, 110):
        # The paper's three networks: table 1 is one block, and there is room for factors.
        assert sum(line.startswith("I_TA2 ") for line in lines) == 1
        assert any("insensitivity" in line for line in lines)


def test_a_few_pairs_that_are_all_repeated_do_not_make_the_headline() -> None:
    nine, many = ["entailment", "neutral"] * 4, ["entailment", "neutral"] * 60
    most = many[1:2] + many[:1] + many[2:]
    small, large = both_ways("swaps/hypernyms-in-situ", nine, nine), both_ways(EX_SITU, many, most)
    shown = document(behaviour([run("m", [*small, *large])], train=TRAIN))
    # 8 of 8 pairs, at least 63 %; 118 of 120 pairs, at least 94 %.
    assert shown.headline == f"m repeats its prediction on 98.3% of the swapped pairs whose gold changed ({EX_SITU})."
