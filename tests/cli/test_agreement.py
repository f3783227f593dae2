"""``acidtest agreement`` as a user meets it: labels, answers, the paper's numbers, mistakes, and the page about it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from acidtest import api
from acidtest.annotate.questionnaires import parse_questionnaire
from acidtest.cli.app import main
from acidtest.core.serialise import to_json

DOCS = Path(__file__).parents[2] / "docs"

LABELS = """premise,gold_label,label1,label2,label3
A man sleeps.,neutral,neutral,neutral,entailment
A man sleeps.,entailment,entailment,entailment,entailment
A dog runs.,contradiction,contradiction,contradiction,neutral
A dog runs.,-,contradiction,neutral,entailment
"""

ANSWERS = """id,annotator,premise,hypothesis,same_event,new_information,ungrammatical
p1,ann,A man plays a flute.,A man plays a harp.,no,yes,no
p1,ben,A man plays a flute.,A man plays a harp.,no,no,no
p1,cy,A man plays a flute.,A man plays a harp.,yes,yes,no
p2,ann,A girl is sad.,A girl is unhappy.,yes,no,no
p2,ben,A girl is sad.,A girl is unhappy.,yes,no,no
p2,cy,A girl is sad.,A girl is unhappy.,yes,no,no
p3,ann,Jordan jumps.,Syria jumps.,no,no,no
p3,ben,Jordan jumps.,Syria jumps.,no,no,yes
p3,cy,Jordan jumps.,Syria jumps.,no,no,no
"""

SETS = """item\tannotator\tlabel\tgold\tcategories\tseconds
p1\tanna\tentailment\tentailment\tlexical|negation\t14
p1\tben\tentailment\tentailment\tlexical\t22
p2\tanna\tcontradiction\tcontradiction\tnegation\t9
p2\tben\tcontradiction\tcontradiction\tnegation\t31
p3\tanna\tneutral\tneutral\tcausal|world\t17
p3\tben\tentailment\tneutral\tcausal\t25
p4\tanna\tentailment\tentailment\t\t11
p4\tben\tentailment\tentailment\t\t19
p5\tanna\tneutral\tneutral\tworld\t13
p5\tben\tneutral\tneutral\tcausal|world\t40
p6\tanna\tentailment\tentailment\tlexical\t8
p6\tben\tentailment\tentailment\tsyntactic\t16
"""


@pytest.fixture(autouse=True)
def _in_a_folder_with_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("labels.csv").write_text(LABELS, encoding="utf-8")
    Path("answers.csv").write_text(ANSWERS, encoding="utf-8")


def said(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> tuple[str, str]:
    capsys.readouterr()
    assert main(["agreement", *words]) == status
    captured = capsys.readouterr()
    return captured.out, captured.err


def test_labels_are_counted_and_kappa_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = said(capsys, "labels.csv")
    assert out.startswith("labels.csv: people agree on labels with a Fleiss' kappa of 0.106")
    assert "4 rows, 3 labels each." in out
    # Apart: 2 labels of 2/3 in two rows, 3 of 2/3 in one: 14/3; beyond one a row 8; shares 5/12, 4/12 and 3/12 make
    # 1 - 50/144: 1 - (14/3) / (8 * 94/144) = 0.106. The share of a row's labels that are gold: (2/3 + 1 + 2/3) / 3.
    (overall,) = [line.split() for line in out.splitlines() if line.strip().startswith("overall")]
    assert overall[:4] == ["overall", "12", "3", "0.106"]
    assert re.search(r"^human performance +77\.8 \(", out, re.MULTILINE)
    assert "|groups:premise|n:4|" in out


def test_json_holds_what_python_gives(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = said(capsys, "labels.csv", "--json")
    assert json.loads(out) == to_json(api.agreement("labels.csv"))
    out, _ = said(capsys, "answers.csv", "--questionnaire", "breaking-nli", "-o", "out.jsonl", "--json")
    found = json.loads(out)
    assert found.pop("table") == "out.jsonl"
    assert found == to_json(api.agreement("answers.csv", questionnaire="breaking-nli"))
    assert found["discarded"] == {"ungrammatical": 1}
    assert found["questionnaire"] == "breaking-nli"


def test_answers_become_labels_and_an_nli_file(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = said(capsys, "answers.csv", "--questionnaire", "breaking-nli", "-o", "pairs.jsonl")
    assert "asked with breaking-nli: 1 item discarded (ungrammatical 1), 2 with gold, 0 without" in out
    assert out.endswith("table: pairs.jsonl\n")
    rows = [json.loads(line) for line in Path("pairs.jsonl").read_text(encoding="utf-8").splitlines()]
    assert rows[0] == {
        "id": "p1",
        "premise": "A man plays a flute.",
        "hypothesis": "A man plays a harp.",
        "label": "contradiction",
        "annotator_labels": ["contradiction", "contradiction", "neutral"],
        "votes": {"contradiction": 2, "entailment": 0, "neutral": 1},
        "discarded": None,
        "undecided": None,
    }
    assert (rows[2]["label"], rows[2]["discarded"]) == (None, "ungrammatical")
    suite = api.load("pairs.jsonl").frame.collect()
    assert suite.select("source_id", "label").rows() == [("p1", "contradiction"), ("p2", "entailment")]
    again, _ = said(capsys, "pairs.jsonl")
    kappas = [[line for line in text.splitlines() if line.startswith("overall")] for text in (out, again)]
    assert kappas[0] == kappas[1]


def test_the_placeholder_gold_of_questions_is_no_gold(capsys: pytest.CaptureFixture[str]) -> None:
    rows = ["entailment,entailment,neutral", "neutral,neutral,neutral", "contradiction,neutral,contradiction"]
    lines = [f"A {n}.,B {n}.,any,{row}" for n, row in enumerate(rows)]
    Path("asked.csv").write_text("\n".join(["premise,hypothesis,label,label1,label2,label3", *lines]), encoding="utf-8")
    found = json.loads(said(capsys, "asked.csv", "--json")[0])
    # The majority of a row's labels is its gold: (2/3 + 1 + 2/3) / 3.
    assert (found["gold_from"], round(found["human_performance"]["value"], 3)) == ("majority", 0.778)
    answers = [f"p{n},A {n}.,B {n}.,any,{person},yes,entailment" for n in range(3) for person in "abc"]
    columns = "item,premise,hypothesis,gold_label,annotator,coherent,inference"
    Path("answered.csv").write_text("\n".join([columns, *answers]), encoding="utf-8")
    found = json.loads(said(capsys, "answered.csv", "--questionnaire", "swaps", "--json")[0])
    assert found["inference_accuracy"] is None


def test_columns_are_named_where_they_are_not_known(capsys: pytest.CaptureFixture[str]) -> None:
    Path("odd.csv").write_text("ann,ben,truth\nx,x,x\nx,y,x\n", encoding="utf-8")
    out, _ = said(capsys, "odd.csv", "--labels", "ann, ben", "--gold", "truth")
    assert re.search(r"^human performance +75\.0 \(", out, re.MULTILINE)
    _, err = said(capsys, "odd.csv", status=2)
    assert err.startswith("acidtest: odd.csv: none of the columns (ann, ben, truth) is known to hold labels of several")


def test_mistakes_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    Path("text.db").write_text("answers", encoding="utf-8")
    for words, told in (
        (("none.csv",), "none.csv: there is no such file; check the path"),
        (("none.db",), "none.db: there is no such file; check the path"),
        (("text.db",), "text.db: is not a store, since it holds no database; see acidtest annotate --store"),
        (
            ("labels.csv", "-o", "x.csv"),
            "-o takes what a questionnaire makes of answers; name one with --questionnaire, or end -o in .html for a "
            "page, or in .png or .svg for a chart",
        ),
        (
            ("answers.csv", "--questionnaire", "breaking-nli", "--labels", "a,b"),
            "--labels names columns of labels, but with --questionnaire the file holds answers",
        ),
        (
            ("answers.csv", "--questionnaire", "breaking-nli", "-o", "answers.csv"),
            "answers.csv: holds the answers; choose another -o",
        ),
        (
            ("answers.csv", "--questionnaire", "breaking-nli", "--categories", "a,b"),
            "--categories names columns of categories, but with --questionnaire the file holds answers",
        ),
        (
            ("answers.csv", "--questionnaire", "braking"),
            "no questionnaire called 'braking'; did you mean 'breaking-nli'? (a file's name ends in .toml)",
        ),
    ):
        _, err = said(capsys, *words, status=2)
        assert err == f"acidtest: {told}\n"
    assert Path("answers.csv").read_text(encoding="utf-8") == ANSWERS


MARKS = """item,annotator,annotated_label,label,negation_logic,world_knowledge,causal_reasoning
p,ann,neutral,neutral,1,0,0
p,ben,neutral,neutral,1,1,0
q,ann,entailment,neutral,0,0,0
q,ben,neutral,neutral,0,0,0
r,ann,entailment,entailment,0,1,0
r,ben,entailment,entailment,0,1,1
"""


MARKED = ("category", "negation", "causal", "world", "mean")


def test_categories_are_shown_with_iou_and_inference_accuracy(capsys: pytest.CaptureFixture[str]) -> None:
    Path("marks.csv").write_text(MARKS, encoding="utf-8")
    out, _ = said(capsys, "marks.csv")
    table = out[out.index("\ncategory ") : out.index("As a whole")].splitlines()
    places = [next(i for i, line in enumerate(table) if line.startswith(name)) for name in MARKED]
    assert places == sorted(places)
    # Rows p and r: {negation} of {negation, world}, {world} of {world, causal}; on q nobody marked anything.
    assert "IOU of categories                      0.500 (" in out
    assert "1 row on which nobody marked anything (0/0)" in out
    # Ann is right in two of three rows, Ben in all.
    assert re.search(r"^inference accuracy +83\.3 \(", out, re.MULTILINE)
    found = json.loads(said(capsys, "marks.csv", "--json")[0])
    assert found["categories"]["iou"]["value"] == 0.5
    assert found["inference_accuracy"]["people"]["ann"]["value"] == pytest.approx(2 / 3)
    # Negation: 2, 0, 0 marks of two people each.
    assert found["categories"]["categories"]["negation"]["kappa"]["value"] == 1
    assert found["categories"]["categories"]["world"]["cohen"]["value"] == pytest.approx((2 / 3 - 4 / 9) / (5 / 9))


def test_the_ending_of_the_output_says_what_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    Path("marks.csv").write_text(MARKS, encoding="utf-8")
    out, _ = said(capsys, "marks.csv", "-o", "page.html")
    assert out.endswith("page: page.html\n")
    assert "figure 2 of Joshi et al." in Path("page.html").read_text(encoding="utf-8")
    out, _ = said(capsys, "labels.csv", "-o", "chart.svg", "--json")
    assert json.loads(out)["chart"] == "chart.svg"
    assert Path("chart.svg").read_text(encoding="utf-8").startswith("<svg")
    out, _ = said(capsys, "answers.csv", "--questionnaire", "breaking-nli", "-o", "page.html")
    assert "asked with breaking-nli" in Path("page.html").read_text(encoding="utf-8")


def test_answers_to_the_taxonomy_are_agreed_on(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"item": item, "annotator": who, "gold": "entailment", "inference": label, "outside_knowledge": "no"}
        | {"approach": ["reading"], "connectives": [mark], "wording": ["lexical"], "seconds": 10 + number}
        | ({"role": "control", "failed": who == "cy", "excluded": None} if item == "k" else {"role": "item"})
        for number, (item, who, label, mark) in enumerate(
            [
                ("p", "ann", "entailment", "negation"),
                ("p", "ben", "entailment", "none"),
                ("q", "ann", "neutral", "none"),
                ("q", "ben", "entailment", "none"),
                ("k", "ann", "entailment", "none"),
            ]
        )
    ]
    rows.append({**rows[0], "annotator": "cy", "excluded": "failed a control"})
    Path("taxonomy.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = json.loads(said(capsys, "taxonomy.jsonl", "--questionnaire", "taxonomy", "--json")[0])
    assert found["corpus"] == "TaxiNLI"
    assert len(found["categories"]["categories"]) == 15
    # {lexical, negation} and {lexical}; {lexical} and {lexical}.
    assert found["categories"]["iou"]["value"] == 0.75
    # Ann one of two, Ben both; Cy and the control item are left out.
    assert found["inference_accuracy"]["average"]["value"] == 0.75
    assert found["attendance"]["excluded"] == ["cy"]
    assert found["attendance"]["left_out"] == 2
    assert found["attendance"]["seconds"]["median"] == 11.5
    assert found["attendance"]["controls"] == {"ann": {"asked": 1, "failed": 0}}


NEUTRAL = """item,annotator,premise,same_topic,same_subject,same_object,outside_knowledge,approach,deduction,\
connectives,wording
p1,ann,A,yes,yes,no,no,reading,,none,lexical
p1,ben,A,yes,yes,no,no,reasoning,causal,none,none
p2,ann,C,yes,yes,no,no,reasoning,spatial,none,none
p2,ben,C,yes,no,,,,,,
"""


def test_topic_subject_and_object_of_neutral_pairs_are_no_categories(capsys: pytest.CaptureFixture[str]) -> None:
    Path("neutral.csv").write_text(NEUTRAL, encoding="utf-8")
    out, _ = said(capsys, "neutral.csv", "--questionnaire", "taxonomy-neutral")
    # Joshi et al. 2020, section 3.1.1: nothing that both marked, over two categories and over one.
    (iou,) = [line for line in out.splitlines() if line.startswith("IOU of categories")]
    assert iou.split()[3] == "0.000"
    assert "published" not in out
    below = out.split("of neutral pairs", 1)[1].splitlines()
    # Of same_subject two of two and one of two: apart 1/2; share 3/4: 1 - (1/2) / (2 · 3/16).
    assert [line.split()[:3] for line in below if line.startswith("same_") and ":" not in line] == [
        ["same_topic", "4", "–"],
        ["same_subject", "3", "−0.333"],
        ["same_object", "0", "–"],
    ]


def test_the_published_file_of_taxinli_has_inference_accuracy(capsys: pytest.CaptureFixture[str], shared: Path) -> None:
    out, _ = said(capsys, str(shared / "taxinli" / "taxinli10k.tsv"))
    assert out.startswith("taxinli10k.tsv: people's labels are gold in 91.9 % of their judgements.\n")
    assert "10,071 rows, one label each: nothing to agree on." in out
    # facts/errata: the annotators' own inference agrees with gold in 91.9 % of the file.
    (line,) = [line for line in out.splitlines() if line.startswith("inference accuracy  ")]
    assert line.split() == ["inference", "accuracy", "91.9", "(91.3–92.4)", "86.7"]
    assert "inference accuracy: 39 rows without an answer counted wrong" in out


def test_a_questionnaire_of_ones_own_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        'schema = 1\ntitle = "Same?"\n[[question]]\nid = "same_event"\ntext = "Same?"\nkind = "yes-no"\n'
        '[[rule]]\nlabel_from = "same_event"\n'
    )
    Path("mine.toml").write_text(text, encoding="utf-8")
    out, _ = said(capsys, "answers.csv", "--questionnaire", "mine.toml")
    # Apart 2 * 2/3 in one row; beyond one a row 6; shares 4/9 and 5/9: 1 - (4/3) / (6 * 40/81) = 0.55.
    assert "asked with mine: no item discarded, 3 with gold, 0 without" in out
    (overall,) = [line.split() for line in out.splitlines() if line.strip().startswith("overall")]
    assert overall[3] == "0.550"


def test_the_quarter_of_breaking_nli_has_the_numbers_of_the_page(
    capsys: pytest.CaptureFixture[str], shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shared / "breaking_nli")
    out, _ = said(capsys, "breaking_nli_quarter.jsonl")
    assert "entailment       720    240    0.906 (0.876 to 0.928)        0.9\n" in out
    assert "overall        6,147  2,049    0.612 (0.563 to 0.656)       0.61\n" in out
    assert "human performance   94.3 (93.6–95.0)       94.1\n" in out
    page = (DOCS / "results" / "papers.md").read_text(encoding="utf-8")
    assert "| kappa of entailment | 0.906 (0.876–0.928) | 0.9 |" in page
    assert "| human performance, % | 94.3 (93.6–95.0) | 94.1 |" in page


def test_agreement_on_categories_is_printed_whole(
    capsys: pytest.CaptureFixture[str], golden: Callable[[str, str], None]
) -> None:
    Path("marks.tsv").write_text(SETS, encoding="utf-8")
    out, _ = said(capsys, "marks.tsv")
    golden("agreement_of_categories.txt", "\n".join(line.rstrip() for line in out.splitlines()) + "\n")


def test_the_questionnaire_on_the_page_is_a_questionnaire() -> None:
    page = (DOCS / "reference" / "files.md").read_text(encoding="utf-8").partition("## Questionnaires")[2]
    block = page.partition("```toml\n")[2].partition("```")[0]
    assert parse_questionnaire(block.encode(), Path("page.toml")).labels
