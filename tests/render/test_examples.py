"""The rows a page embeds, and the browser that shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from acidtest.core.document import Browser, Document
from acidtest.render import examples as module
from acidtest.render.examples import BLOCK, examples
from acidtest.render.html import render_page
from acidtest.studies.scoring.rows import model_names

GOLD, OTHER = "entailment", "non-entailment"
PENN = "(ROOT (S (NP (DT The) (NN actor)) (VP (VBD slept)) (. .)))"
BINARY = "( ( The actor ) ( slept . ) )"


def page(entries: Sequence[Any]) -> str:
    """A page with nothing but the rows of some runs."""
    runs = [entry.run for entry in entries]
    return render_page(Document("rows", "Rows.", (Browser(dict(zip(model_names(runs), runs, strict=True))),)))


def test_embedded_data_unpack_to_exactly_the_rows(toy: SimpleNamespace) -> None:
    frame = toy.rows(premise=["ünï – “quoted”\u2028", "</script>", "a\nb", ""])
    data = toy.embedded(page([toy.entry(frame)]))
    assert data["count"] == 4
    for column in ("id", "premise", "hypothesis", "suite", "label"):
        assert data[column] == frame[column].to_list()
    assert data["factors"]["voice"] == ["active", "passive", "active", None]
    (model,) = data["models"]
    assert model["answer"] == [GOLD, "neutral", "neutral", None]
    assert model["correct"] == [1, 1, 0, 0]


def test_probabilities_are_embedded_in_thousandths_and_none_as_minus_one(toy: SimpleNamespace) -> None:
    (model,) = toy.embedded(page([toy.entry()]))["models"]
    assert model["p"] == [[900, 123, 200, -1], [50, 800, 700, -1], [50, 77, 100, -1]]


def test_labels_only_models_embed_no_probabilities(toy: SimpleNamespace) -> None:
    (model,) = toy.embedded(page([toy.entry(probabilities=False)]))["models"]
    assert model["p"] == []


def test_the_columns_of_a_two_way_model_are_its_two_labels(toy: SimpleNamespace) -> None:
    frame = toy.rows(answer=[GOLD, OTHER, OTHER, None])
    (model,) = toy.embedded(page([toy.entry(frame, resolution="two-way")]))["models"]
    assert model["labels"] == ["entailment", "non-entailment"]
    assert len(model["p"]) == 2


def test_models_share_the_rows_they_were_both_asked(toy: SimpleNamespace) -> None:
    second = toy.rows()[1:].with_columns(correct=pl.Series([False, True, True]))
    extra = toy.rows().head(1).with_columns(id=pl.lit("only-second"), premise=pl.lit("Another premise."))
    data = toy.embedded(page([toy.entry(), toy.entry(pl.concat([second, extra]), model="b-model")]))
    assert data["id"] == ["toy-0", "toy-1", "toy-2", "toy-3", "only-second"]
    assert [model["correct"] for model in data["models"]] == [[1, 1, 0, 0, -1], [-1, 0, 1, 1, 1]]
    assert data["models"][1]["answer"] == [None, "neutral", "neutral", None, GOLD]


def many(toy: SimpleNamespace, count: int, **columns: Any) -> pl.DataFrame:
    """That many rows, every fourth of them alike but for id and premise."""
    return (
        pl.concat([toy.rows()] * -(-count // 4))
        .head(count)
        .with_columns(
            id=pl.Series([f"row {number}" for number in range(count)]),
            premise=pl.Series([f"<b>Premise {number}." for number in range(count)]),
            **columns,
        )
    )


def test_texts_lie_in_blocks_that_can_be_unpacked_alone(toy: SimpleNamespace) -> None:
    frame = many(toy, BLOCK + 5)
    blocks = toy.pieces(page([toy.entry(frame)]), "texts")
    assert [len(block["id"]) for block in blocks] == [BLOCK, 5]
    assert blocks[1]["premise"][0] == f"<b>Premise {BLOCK}."


def test_a_factor_of_many_values_keeps_them_apart(toy: SimpleNamespace) -> None:
    values = [f"voice {number}" for number in range(300)]
    data = toy.embedded(page([toy.entry(many(toy, 300, voice=pl.Series(values)))]))
    assert data["factors"]["voice"] == values


def test_the_labelled_parse_is_embedded_and_the_binary_one_where_there_is_no_other(toy: SimpleNamespace) -> None:
    parses = {
        "premise_parse": [PENN, None, None, None],
        "premise_binary_parse": [BINARY, BINARY, None, None],
        "hypothesis_binary_parse": [BINARY, None, None, None],
    }
    text = page([toy.entry(toy.rows(**parses))])
    expected = {"premise": [PENN, BINARY, None, None], "hypothesis": [BINARY, None, None, None]}
    assert toy.pieces(text, "parses") == [expected]
    assert toy.embedded(text)["parsed"] == ["toy"]


def test_without_parses_none_are_embedded(toy: SimpleNamespace) -> None:
    text = page([toy.entry(toy.rows(premise_parse=pl.Series([None] * 4, dtype=pl.String)))])
    assert toy.pieces(text, "parses") == []
    assert toy.embedded(text)["parsed"] == []


def test_parses_of_several_runs_are_kept(toy: SimpleNamespace) -> None:
    parsed = toy.entry(toy.rows(premise_parse=[PENN] * 4))
    text = page([parsed, toy.entry(toy.rows(premise_parse=[PENN] * 4), model="b")])
    assert toy.pieces(text, "parses")[0]["premise"] == [PENN] * 4


def test_a_page_that_would_be_too_large_leaves_parses_out_and_says_so(toy: SimpleNamespace) -> None:
    frame = many(toy, 1000, premise_parse=pl.Series([f"(S {number})" * 20 for number in range(1000)]))
    run = toy.entry(frame).run
    whole = examples({"m": run})
    texts, parses = sum(map(len, whole.texts)), sum(map(len, whole.parses))
    assert parses
    assert not whole.note
    without = examples({"m": run}, most_bytes=texts + parses - 1)
    assert not without.parses
    assert without.texts == whole.texts
    assert without.note.startswith("the parses are left out, because the page would be 0 MB large with them")
    assert "predictions.parquet" in without.note


def test_a_page_that_would_be_too_large_without_parses_takes_rows_evenly(toy: SimpleNamespace) -> None:
    run = toy.entry(many(toy, 1000)).run
    size = sum(map(len, examples({"m": run}).texts))
    thinned = examples({"m": run}, most_bytes=size // 2 - 1)
    assert thinned.count == 334
    assert thinned.note.startswith("this page holds one row in 3, because with all 1,000 it would be too large")


def test_of_very_many_rows_only_some_are_read(toy: SimpleNamespace) -> None:
    run = toy.entry(many(toy, 1000)).run
    thinned = examples({"m": run}, most_rows=300)
    assert thinned.count == 250
    assert thinned.note.startswith("this page holds one row in 4, because with all 1,000 it would be too large")
    assert thinned.texts == examples({"m": replace(run, frame=run.predictions.gather_every(4))}).texts


def test_the_note_on_what_is_left_out_stands_on_the_page(toy: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = toy.rows(premise_parse=[PENN] * 4)
    monkeypatch.setattr(module.examples, "__kwdefaults__", {"most_bytes": 200, "most_rows": 100})
    text = page([toy.entry(frame)])
    assert "The parses are left out" in toy.section(text, "examples")
    assert toy.pieces(text, "parses") == []


@pytest.fixture(scope="module")
def thousand(toy: SimpleNamespace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of a thousand rows."""
    voices = pl.Series(["active", "active", "passive", None] * 250)
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(page([toy.entry(many(toy, 1000, voice=voices))]), encoding="utf-8", newline="\n")
    return path


@pytest.mark.browser
@pytest.mark.parametrize(
    ("fragment", "count", "shown"),
    [
        ("", 1000, 20),
        ("examples?suite=toy&f.voice=passive&verdict=wrong", 250, 20),
        ("examples?q=premise+777.", 1, 1),
        ("examples?q=ROW+77", 11, 11),
        ("examples?q=nowhere", 0, 0),
        ("examples?f.voice=&page=13", 250, 10),
        ("examples?f.voice=unheard-of", 0, 0),
    ],
)
def test_a_browser_shows_the_rows_a_link_asks_for(
    chromium: Any, thousand: Path, fragment: str, count: int, shown: int
) -> None:
    document = chromium.document(f"{thousand.as_uri()}#{fragment}")
    assert f"{count:,} of 1,000 examples" in document
    assert document.count('<li class="example">') == shown
    assert "<b>Premise" not in document


@pytest.mark.browser
def test_a_browser_puts_the_most_confident_mistake_first(chromium: Any, thousand: Path) -> None:
    chromium.opened(f"{thousand.as_uri()}#examples?sort=confident")
    # Row 2 is wrong with neutral at 0.7; row 3 is wrong too, but without an answer there is no confidence.
    shown = chromium.value("[...document.querySelectorAll('.example dd')].map((each) => each.textContent)")
    assert shown[0] == "<b>Premise 2."
    assert shown[3] == "<b>Premise 6."


@pytest.mark.browser
def test_a_search_walks_every_block_and_a_longer_one_stays_within_it(
    toy: SimpleNamespace, chromium: Any, tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    path.write_text(page([toy.entry(many(toy, 5 * BLOCK))]), encoding="utf-8")
    last = 5 * BLOCK - 1
    chromium.opened(f"{path.as_uri()}#examples?q=premise {last}.")
    assert chromium.value("document.querySelectorAll('.example').length") == 1
    field = "document.querySelector('[name=q]')"
    type_in = f"(text) => {{ {field}.value = text; {field}.dispatchEvent(new Event('input', {{ bubbles: true }})); }}"
    for text in ("premise 1", "premise 12", "premise 123", "premise 1"):
        expected = sum(f"premise {number}.".startswith(text) for number in range(5 * BLOCK))
        chromium.value(f"({type_in})('{text}')")
        chromium.until(f"document.querySelector('.count').textContent === '{expected:,} of {5 * BLOCK:,} examples'")


@pytest.mark.browser
def test_a_page_shows_its_first_rows_before_all_of_it_has_arrived(
    toy: SimpleNamespace, chromium: Any, tmp_path: Path
) -> None:
    text = page([toy.entry(many(toy, 2 * BLOCK))])
    assert text.index('id="texts-0"') < text.index("<script>") < text.index('id="texts-1"')
    path = tmp_path / "cut.html"
    path.write_text(text[: text.index('<script type="application/octet-stream" id="texts-1"')], encoding="utf-8")
    chromium.opened(path.as_uri())
    assert chromium.value("document.querySelectorAll('.example').length") == 20
    chromium.value("document.querySelector('.pager button:last-child').click()")
    said = chromium.until("document.querySelector('.examples .message')?.textContent")
    assert said.startswith("The examples could not be unpacked (texts-1 is missing): the file may be damaged.")


@pytest.mark.browser
def test_rows_that_only_one_model_gets_right_can_be_chosen(toy: SimpleNamespace, chromium: Any, tmp_path: Path) -> None:
    second = toy.rows().with_columns(correct=pl.Series([False, True, True, False]))
    path = tmp_path / "two.html"
    path.write_text(page([toy.entry(), toy.entry(second, model="b")]), encoding="utf-8")
    chromium.opened(f"{path.as_uri()}#examples?model=1&verdict=right&other=0:wrong")
    ids = "[...document.querySelectorAll('.example .fact:last-of-type')].map((each) => each.textContent)"
    assert chromium.value("document.querySelector('.count').textContent") == "1 of 4 examples"
    assert "toy-2" in chromium.value(ids)


@pytest.mark.browser
def test_the_other_model_is_not_offered_where_there_is_none(
    toy: SimpleNamespace, chromium: Any, thousand: Path
) -> None:
    chromium.opened(thousand.as_uri())
    assert chromium.value("document.querySelector('[name=other]')") is None


@pytest.fixture(scope="module")
def parsed(toy: SimpleNamespace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report whose rows have parses of several kinds, one of them with markup in it and one broken."""
    long = "(S " + " ".join(f"(NN word{number})" for number in range(40)) + ")"
    columns = {
        "premise_parse": [PENN, long, "(S (NN <b>bold</b>))", "(S (NN a)"],
        "hypothesis_parse": [None, PENN, PENN, PENN],
        "hypothesis_binary_parse": ["( Dogs ( bark . ) )", None, None, None],
    }
    path = tmp_path_factory.mktemp("parsed") / "report.html"
    path.write_text(page([toy.entry(toy.rows(**columns))]), encoding="utf-8", newline="\n")
    return path


def opened_trees(chromium: Any, path: Path, row: int) -> str:
    """A script's name for the box of a row's trees, once they are drawn."""
    chromium.opened(path.as_uri())
    box = f"document.querySelectorAll('.trees')[{row}]"
    button = f"document.querySelector('[aria-controls=trees-{row}]')"
    assert chromium.value(f"{button}.getAttribute('aria-expanded')") == "false"
    assert chromium.value(f"{box}.hidden")
    chromium.value(f"{button}.focus()")
    for kind in ("keyDown", "keyUp"):
        chromium.asked(
            "Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", text="\r", windowsVirtualKeyCode=13
        )
    chromium.until(f"{box}.childElementCount")
    assert chromium.value(f"{button}.getAttribute('aria-expanded')") == "true"
    return box


@pytest.mark.browser
def test_a_key_opens_the_parse_trees_of_a_row(chromium: Any, parsed: Path) -> None:
    box = opened_trees(chromium, parsed, 0)
    labels = f"[...{box}.querySelector('svg').querySelectorAll('.label')].map((each) => each.textContent)"
    words = f"[...{box}.querySelectorAll('svg')].map((s) => [...s.querySelectorAll('.word')].map((w) => w.textContent))"
    assert sorted(chromium.value(labels)) == sorted(["ROOT", "S", "NP", "DT", "NN", "VP", "VBD", "."])
    # The second tree is binary: its brackets have no labels, and its first word is none either.
    assert chromium.value(words) == [["The", "actor", "slept", "."], ["Dogs", "bark", "."]]
    assert chromium.value(f"{box}.querySelectorAll('svg')[1].querySelectorAll('.label').length") == 0
    assert chromium.value(f"{box}.querySelectorAll('svg')[1].querySelectorAll('circle').length") == 2


@pytest.mark.browser
def test_words_of_a_tree_do_not_touch_and_stand_in_order(chromium: Any, parsed: Path) -> None:
    box = opened_trees(chromium, parsed, 0)
    places = chromium.value(
        f"[...{box}.querySelector('svg').querySelectorAll('.word')].map((w) => w.getBoundingClientRect())"
        ".map((r) => [r.left, r.right])"
    )
    assert all(left < right for left, right in places)
    assert all(before[1] <= after[0] for before, after in pairwise(places))


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1100])
def test_a_tree_too_wide_for_the_screen_is_an_outline(chromium: Any, parsed: Path, width: int) -> None:
    chromium.wide(width)
    box = opened_trees(chromium, parsed, 1)
    assert chromium.value(f"{box}.querySelector('div').querySelectorAll('.outline .word').length") == 40
    assert chromium.value(f"{box}.querySelectorAll('div')[1].querySelectorAll('svg').length") == 1
    assert chromium.value("document.documentElement.scrollWidth") <= width
    chromium.wide(1100)


@pytest.mark.browser
def test_markup_in_a_parse_is_text_and_broken_brackets_are_shown_as_they_are(chromium: Any, parsed: Path) -> None:
    box = opened_trees(chromium, parsed, 2)
    assert chromium.value(f"{box}.querySelector('.word').textContent") == "<b>bold</b>"
    assert chromium.value(f"{box}.querySelector('b')") is None
    box = opened_trees(chromium, parsed, 3)
    assert chromium.value(f"{box}.querySelector('.brackets').textContent") == "(S (NN a)"


@pytest.mark.browser
def test_opening_a_page_unpacks_the_index_and_one_block_only(
    toy: SimpleNamespace, chromium: Any, tmp_path: Path
) -> None:
    path = tmp_path / "large.html"
    frame = many(toy, 4 * BLOCK, premise_parse=pl.Series([PENN] * 4 * BLOCK))
    path.write_text(page([toy.entry(frame)]), encoding="utf-8")
    counting = """
        window.unpacked = 0;
        window.DecompressionStream = class extends DecompressionStream {
            constructor(kind) { super(kind); window.unpacked += 1; }
        };"""
    chromium.asked("Page.enable")
    script = chromium.asked("Page.addScriptToEvaluateOnNewDocument", source=counting)
    chromium.opened(path.as_uri())
    assert chromium.value("window.unpacked") == 2
    chromium.value("document.querySelector('[aria-controls=trees-0]').click()")
    chromium.until("!!document.querySelector('.trees svg')")
    assert chromium.value("window.unpacked") == 3
    chromium.asked("Page.removeScriptToEvaluateOnNewDocument", identifier=script["identifier"])
