"""Files that the papers published are known by their content; the files here are our own in those layouts."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from acidtest import api
from acidtest.annotate.items import item_categories, load_plan
from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.suite import Suite
from acidtest.corpora.published_sets import identify_corpus
from acidtest.io.published import published_differences
from acidtest.studies.antonyms import antonyms

SHARED = Path(__file__).parents[3] / "shared" / "data"

HANS_COLUMNS = {
    "gold_label": "label",
    "sentence1_binary_parse": "premise_binary_parse",
    "sentence2_binary_parse": "hypothesis_binary_parse",
    "sentence1_parse": "premise_parse",
    "sentence2_parse": "hypothesis_parse",
    "sentence1": "premise",
    "sentence2": "hypothesis",
    "pairID": "source_id",
    "heuristic": "heuristic",
    "subcase": "subcase",
    "template": "template",
}
"""The columns of the released evaluation file, and ours."""


def hans(words: str = "published", n: int = 20) -> Suite:
    return api.generate("hans", n=n, arguments={"words": words, "faithful": words == "published"})


def released(suite: Suite, path: Path, without: Sequence[str] = ()) -> Path:
    """The pairs of a suite as HANS's files have them, with the ids ex0, ex1 … of those files."""
    names = {theirs: ours for theirs, ours in HANS_COLUMNS.items() if theirs not in without}
    rows = suite.frame.collect().with_columns(source_id="ex" + pl.int_range(pl.len()).cast(pl.String))
    frame = rows.select(pl.col(ours).alias(theirs) for theirs, ours in names.items())
    if path.suffix == ".jsonl":
        frame.write_ndjson(path)
    else:
        frame.write_csv(path, separator="\t", quote_style="never")
    return path


def test_hans_is_known_by_its_subcases_and_words(tmp_path: Path) -> None:
    made = hans()
    for name in ("heuristics_evaluation_set.txt", "any.jsonl"):
        suite = api.load(released(made, tmp_path / name))
        assert suite.name == "hans"
        assert suite.card.strata == ("subcase", "template")
        assert suite.card.crossings == (("heuristic", "label"),)
        assert suite.card.columns == made.card.columns
        assert suite.card.signature.startswith(f"hans|v:1|file:{Path(name).stem}|words:published|n:600|h:")
        assert suite.card.signature.split("|h:")[0] != made.card.signature.split("|h:")[0]
        columns = ["template", "trigger", "category"]
        assert suite.frame.collect()["source_id"].to_list() == [f"ex{number}" for number in range(600)]
        # The words that rows turn on are those the generator put there.
        assert suite.frame.collect().select(columns).equals(made.frame.collect().select(columns))
        assert suite.frame.collect()["group"].n_unique() == 600


def test_a_part_of_hans_without_templates_and_ids_is_hans_too(tmp_path: Path) -> None:
    made = hans(n=3)
    path = released(made, tmp_path / "part.txt", without=["template", "pairID", "sentence1_parse", "sentence2_parse"])
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(lines[:40]), encoding="utf-8")
    suite = api.load(path)
    assert suite.name == "hans"
    assert suite.frame.collect()["template"].to_list() == made.frame.collect()["template"].head(39).to_list()


def passed_on(suite: Suite, path: Path, *, numbers: dict[str, int], lower: bool = False) -> Path:
    """A file as HANS is often passed on: JSON lines with premise, hypothesis and a number, tokens apart."""
    rows = suite.frame.select("premise", "hypothesis", "label").collect().iter_rows()
    with path.open("w") as file:
        for *texts, label in rows:
            apart = [re.sub(r"([.,])", r" \1", text) for text in texts]
            premise, hypothesis = (text.lower() if lower else text for text in apart)
            file.write(json.dumps({"premise": premise, "hypothesis": hypothesis, "label": numbers[label]}) + "\n")
    return path


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("entailed", [0, 1])
def test_hans_is_known_by_its_sentences_with_tokens_apart(tmp_path: Path, lower: bool, entailed: int) -> None:
    made = hans(n=3)
    numbers = {"entailment": entailed, "non-entailment": 1 - entailed}
    suite = api.load(passed_on(made, tmp_path / "test.jsonl", numbers=numbers, lower=lower))
    assert suite.name == "hans"
    assert suite.card.labels == {"entailment": 45, "non-entailment": 45}
    expected = made.frame.select("subcase", "heuristic", "label").collect().sort("subcase")
    assert suite.frame.select("subcase", "heuristic", "label").collect().sort("subcase").equals(expected)


def test_hans_with_numbers_in_its_own_columns_is_known(tmp_path: Path) -> None:
    path = passed_on(hans(n=3), tmp_path / "test.jsonl", numbers={"entailment": 0, "non-entailment": 1})
    names = {"premise": "sentence1", "hypothesis": "sentence2", "label": "gold_label"}
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps({names[key]: value for key, value in row.items()}) + "\n" for row in rows))
    suite = api.load(path)
    assert (suite.name, suite.card.labels) == ("hans", {"entailment": 45, "non-entailment": 45})


def test_sentences_of_hans_with_other_labels_or_words_are_not_hans(tmp_path: Path) -> None:
    numbers = {"entailment": 0, "non-entailment": 1}
    with pytest.raises(FileError, match="holds only the numbers 0"):
        api.load(passed_on(hans("fresh", n=3), tmp_path / "fresh.jsonl", numbers=numbers))
    path = passed_on(hans(n=3), tmp_path / "mixed.jsonl", numbers=numbers)
    with pytest.raises(FileError, match="holds only the numbers 0"):
        api.load(path, reading=api.Reading(published_as="file"))
    path.write_text(path.read_text().replace('"label": 1', '"label": 0', 1))
    with pytest.raises(FileError, match="holds only the numbers 0"):
        api.load(path)


@pytest.mark.skipif(not (SHARED / "hans").is_dir(), reason="needs ../shared/data/hans")
def test_the_training_set_of_hans_is_known_by_its_sentences(tmp_path: Path) -> None:
    whole = api.load(SHARED / "hans" / "hans_train_recovered.tsv.gz")
    path = passed_on(whole, tmp_path / "train.jsonl", numbers={"entailment": 0, "non-entailment": 1})
    suite = api.load(path)
    assert (suite.name, suite.card.rows, suite.card.arguments["set"]) == ("hans", 30_000, "training")
    assert suite.frame.select("subcase").collect().equals(whole.frame.select("subcase").collect())


def test_hans_in_other_words_is_a_file_of_its_own(tmp_path: Path) -> None:
    suite = api.load(released(hans("fresh"), tmp_path / "mine.txt"))
    assert suite.name == "mine"
    assert "words" not in suite.card.arguments


def test_a_user_has_a_recognised_file_read_as_any_other(tmp_path: Path) -> None:
    path = released(hans(n=2), tmp_path / "mine.txt")
    assert api.load(path, reading=api.Reading(published_as="file")).name == "mine"


def test_the_published_file_scored_has_published_numbers_and_counts_its_errors(tmp_path: Path) -> None:
    path = released(hans(), tmp_path / "heuristics_evaluation_set.txt")
    ids = [f"ex{number}" for number in range(600)]
    answers = ["entailment", "neutral", "contradiction", "entailment"] * 150
    lines = ["pairID,gold_label", *(f"{name},{answer}" for name, answer in zip(ids, answers, strict=True))]
    (tmp_path / "bert_preds.txt").write_text("\n".join(lines), encoding="utf-8")
    run = api.score(tmp_path / "bert_preds.txt", str(path), output=tmp_path / "run")
    result = run.results["suites"]["hans"]
    assert {score["system"] for score in result["published"]} >= {"BERT", "SPINN", "ESIM"}
    assert result["errors"]["n"] == round((1 - result["overall"]["value"]) * 600) > 200
    assert set(result["by"]) >= {"heuristic", "subcase", "template", "heuristic × label"}
    assert "McCoy" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")


def test_the_human_experiment_takes_the_published_file(tmp_path: Path) -> None:
    suite = api.load(released(hans(n=200), tmp_path / "heuristics_evaluation_set.txt"))
    found = item_categories(suite.frame.collect(), load_plan("hans-human"))
    # 33 lexical, 34 subsequence and 47 constituent categories: McCoy et al. (2019), appendix E.
    assert found.n_unique() == 114


@pytest.mark.skipif(not SHARED.exists(), reason="needs ../shared/data")
def test_every_pair_of_the_released_training_set_has_a_template_and_its_category() -> None:
    suite = api.load(SHARED / "hans" / "hans_train_recovered.tsv.gz")
    rows = suite.frame.collect()
    assert suite.name == "hans"
    assert rows["template"].null_count() == 0
    assert item_categories(rows, load_plan("hans-human")).n_unique() == 114
    assert suite.card.arguments["set"] == "training"


def test_pairs_that_are_no_training_pairs_are_not_called_so(tmp_path: Path) -> None:
    assert "set" not in api.load(released(hans(n=100), tmp_path / "any.txt")).card.arguments


MNLI = [
    ("The rights are good enough.", "Everyone likes the rights.", "neutral", "slate"),
    ("He went home at last.", "He is still away.", "contradiction", "fiction"),
    ("The tax was cut in May.", "The tax went down.", "entailment", "government"),
]


def naik(path: Path, rows: Sequence[tuple[str, str, str, str]], *, ids: bool = True) -> Path:
    """Rows in the layout of the released stress tests: MultiNLI's, as JSON lines."""
    keys = ("sentence1", "sentence2", "gold_label", "genre")
    lines = [dict(zip(keys, row, strict=True)) | ({"pairID": f"p{n}"} if ids else {}) for n, row in enumerate(rows)]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


def changed(premise: str = "", hypothesis: str = "", genre: str = "") -> list[tuple[str, str, str, str]]:
    return [
        (first.rstrip(".") + premise, second.rstrip(".") + hypothesis, label, genre or own)
        for first, second, label, own in MNLI
    ]


NUMBERS = [
    ("Tim has 350 pounds of cement .", "Tim has less than 750 pounds of cement .", "entailment", "facetoface"),
    ("Tim has 350 pounds of cement .", "Tim has 250 pounds of cement .", "contradiction", "facetoface"),
    ("Tim has less than 750 pounds of cement .", "Tim has 350 pounds of cement .", "neutral", "facetoface"),
]
ANTONYMS = [
    ("They were glad to see the old house .", "They were sad to see the old house .", "contradiction", "oup"),
    ("He said the exit was near .", "He said the entrance was near .", "contradiction", "verbatim"),
]


@pytest.mark.parametrize(
    ("rows", "name", "corpus"),
    [
        (changed(hypothesis=" and true is true."), "stress/word-overlap", "mnli-matched"),
        (changed(hypothesis=" and false is not true."), "stress/negation", "mnli-matched"),
        (changed(premise=" and true is true" * 5 + " ."), "stress/length-mismatch", "mnli-matched"),
        (changed(hypothesis=" and false is not true.", genre="letters"), "stress/negation", "mnli-mismatched"),
        (NUMBERS, "stress/numerical", "aqua-rat"),
        (ANTONYMS, "stress/antonymy", "mnli-mismatched"),
    ],
)
def test_the_stress_tests_are_known_by_what_was_done_to_the_pairs(
    tmp_path: Path, rows: list[tuple[str, str, str, str]], name: str, corpus: str
) -> None:
    suite = api.load(naik(tmp_path / "test.jsonl", rows))
    assert suite.name == name
    assert suite.card.arguments["from"] == corpus
    assert suite.card.arguments["file"] == "test"


@pytest.mark.parametrize(
    "rows",
    [
        changed(),
        changed(hypothesis=" and true is true.", genre="captions"),
        [*changed(hypothesis=" and true is true."), *changed()],
        [row for row in changed() if row[2] == "contradiction"],
        [(first, second, label, "fiction") for first, second, label, _ in NUMBERS],
    ],
)
def test_other_pairs_of_multinli_are_a_file(tmp_path: Path, rows: list[tuple[str, str, str, str]]) -> None:
    assert api.load(naik(tmp_path / "test.jsonl", rows)).name == "test"


def released_numbers(path: Path, *, parses: bool = True, count: int = 1) -> Path:
    """Rows in the layout of the released numerical test: no genre, and each sentence once more as its binary parse."""
    lines = []
    for premise, hypothesis, label, _ in NUMBERS * count:
        copies = {"sentence1_binary_parse": premise, "sentence2_binary_parse": hypothesis} if parses else {}
        lines.append({**copies, "gold_label": label, "sentence1": premise, "sentence2": hypothesis})
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


def test_the_published_numerical_test_is_known_by_its_layout_or_its_name(tmp_path: Path) -> None:
    renamed = api.load(released_numbers(tmp_path / "mine.jsonl"))
    assert (renamed.name, renamed.card.arguments["corpus"]) == ("stress/numerical", "aqua-rat")
    named = api.load(released_numbers(tmp_path / "multinli_0.9_quant_hard.jsonl", parses=False))
    assert named.name == "stress/numerical"
    assert api.load(released_numbers(tmp_path / "other.jsonl", parses=False)).name == "other"


def test_only_the_whole_numerical_test_stands_beside_the_papers_numbers_without_a_note(tmp_path: Path) -> None:
    whole = api.load(released_numbers(tmp_path / "multinli_0.9_quant_hard.jsonl", count=2532)).card
    part = api.load(released_numbers(tmp_path / "part.jsonl")).card
    assert whole.rows == 7596
    assert published_differences(whole) == []
    assert published_differences(part) == ["the published systems were asked the whole published set, 7,596 pairs"]


@pytest.mark.parametrize(
    ("file", "corpus"),
    [("mnli/mnli_dev_matched.tsv", "mnli-matched"), ("snli/snli_1.0_test.jsonl.gz", "snli-test")],
)
def test_a_corpus_is_identified_by_its_pairs_and_their_number(shared: Path, file: str, corpus: str) -> None:
    pairs = api.load(shared / file)
    assert identify_corpus(replace(pairs, card=replace(pairs.card, name="mine"))) == corpus
    made = api.generate("stress/negation", source=pairs, n=20)
    assert made.card.arguments["corpus"] == corpus
    part = pairs.frame.head(5000).collect()
    assert identify_corpus(Suite(part.lazy(), replace(pairs.card, rows=5000))) == ""


def test_other_pairs_are_no_corpus_whatever_their_name_and_number(tmp_path: Path) -> None:
    rows = [(f"Person {number} sings.", "A person sings.", "entailment", "fiction") for number in range(9815)]
    pairs = api.load(naik(tmp_path / "multinli_1.0_dev_matched.jsonl", rows))
    assert pairs.card.rows == 9815
    assert identify_corpus(pairs) == ""
    assert "corpus" not in api.generate("stress/negation", source=pairs, n=20).card.arguments


def test_misspelt_pairs_are_known_by_the_name_of_their_file_or_by_the_users_word(tmp_path: Path) -> None:
    path = naik(tmp_path / "multinli_0.9_dev_gram_contentword_swap_perturbed_matched.jsonl", changed())
    suite = api.load(path)
    assert suite.name == "stress/spelling"
    assert suite.frame.select("edit", "target").unique().collect().rows() == [("adjacent", "content")]
    other = naik(tmp_path / "mine.jsonl", changed())
    assert api.load(other).name == "mine"
    assert api.load(other, reading=api.Reading(published_as="stress/spelling")).name == "stress/spelling"


def test_a_stress_test_that_was_published_stands_beside_the_papers_numbers(tmp_path: Path) -> None:
    path = naik(tmp_path / "test.jsonl", changed(hypothesis=" and false is not true."))
    run = api.run("baseline:majority", [str(path)], output=tmp_path / "run")
    result = run.results["suites"]["stress/negation"]
    assert any(score["by"] == {"corpus": "MultiNLI matched"} for score in result["published"])
    assert not [note for note in result["notes"] if "not from" in note or "other options" in note]


def test_antonyms_of_the_published_file_can_be_looked_at(tmp_path: Path) -> None:
    suite = api.load(naik(tmp_path / "test.jsonl", ANTONYMS))
    words = suite.frame.select("word", "antonym").collect().rows()
    assert words == [("glad", "sad"), ("exit", "entrance")]
    run = api.run("baseline:majority", [suite], output=tmp_path / "run")
    knowledge = antonyms([run]).knowledge
    assert knowledge is not None
    assert knowledge.pairs.height == 2


def test_what_a_file_cannot_be_is_refused(tmp_path: Path) -> None:
    path = naik(tmp_path / "test.jsonl", changed())
    with pytest.raises(AcidtestError, match=r"test.jsonl: cannot be hans \(--as\): it lacks the columns heuristic and"):
        api.load(path, reading=api.Reading(published_as="hans"))
    with pytest.raises(AcidtestError, match=r"no published set called 'stress/antonyms'; did you mean 'stress/antonym"):
        api.load(path, reading=api.Reading(published_as="stress/antonyms"))


@pytest.mark.skipif(not SHARED.exists(), reason="needs ../shared/data")
@pytest.mark.parametrize(("file", "rows"), [("taxinli10k.tsv", 10_071), ("taxinli10k_MNLIDev.tsv", 7_727)])
def test_taxinli_given_as_a_file_is_the_suite_taxinli(file: str, rows: int) -> None:
    path = SHARED / "taxinli" / file
    (suite,) = api.chosen_suites([str(path)])
    assert (suite.name, suite.card.rows, len(suite.card.categories)) == ("taxinli", rows, 15)
    (raw,) = api.chosen_suites([str(path)], reading=api.Reading(published_as="file"))
    assert raw.name == path.stem
