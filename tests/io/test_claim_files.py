"""Published files of documents and claims: what tells them, and what becomes of their rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acidtest import api
from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.logs import NOTE
from acidtest.corpora.files import Corpus, read_corpus

LAKE = "The lake froze in January. Two boats sank."
MILL = "The mill closed in 1931."


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write rows as JSON lines."""

    def write_rows(name: str, *rows: dict[str, Any]) -> Path:
        path = tmp_path / name
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8", newline="\n")
        return path

    return write_rows


def pairs(corpus: Corpus) -> list[tuple[Any, ...]]:
    return corpus.suite.frame.select("premise", "hypothesis", "label").collect().rows()


@pytest.mark.parametrize(
    ("layout", "name", "texts", "also"),
    [
        ("AggreFact", "pairs.jsonl", ("doc", "summary"), {"dataset": "FRANK", "origin": "xsum", "cut": "val"}),
        ("AggreFact", "aggre_fact_sota.jsonl", ("doc", "summary"), {}),
        ("SummaC", "pairs.jsonl", ("document", "claim"), {"dataset": "x", "origin": "y", "annotations": [1, 0]}),
        ("SummaC", "summac_val.jsonl", ("document", "claim"), {}),
    ],
)
def test_numbers_are_labels_where_other_columns_or_the_name_tell_the_set(write, layout, name, texts, also) -> None:
    document, claim = texts
    rows = [{document: MILL, claim: "A mill closed.", "label": 1}, {document: MILL, claim: "It burned.", "label": 0}]
    corpus = read_corpus(write(name, *(row | also for row in rows)))
    assert corpus.layout == layout
    assert pairs(corpus) == [(MILL, "A mill closed.", "entailment"), (MILL, "It burned.", "non-entailment")]


@pytest.mark.parametrize("texts", [("doc", "summary"), ("document", "claim"), ("context", "response")])
def test_numbers_are_refused_in_files_that_nothing_tells(write, texts) -> None:
    document, claim = texts
    with pytest.raises(FileError, match="label 1 is a number, and what numbers mean differs from file to file"):
        read_corpus(write("pairs.jsonl", {document: MILL, claim: "A mill closed.", "label": 1}))


def test_the_worst_label_of_faithbench_is_read_as_its_authors_do(write, caplog) -> None:
    names = ["Consistent", "Benign", "Questionable", "Unwanted"]
    rows = [{"source": MILL, "summary": f"{name}.", "worst-label": name, "best-label": "Benign"} for name in names]
    corpus = read_corpus(write("FaithBench.jsonl", *rows))
    golds = [label for _, _, label in pairs(corpus)]
    assert golds == ["entailment", "entailment", "non-entailment", "non-entailment"]
    assert "a benign hallucination counts as supported" in caplog.text


def annotation(*labels: str) -> dict[str, Any]:
    return {"annot_id": 1, "annotator_id": "a", "label": list(labels), "note": "", "summary_start": 0, "summary_end": 3}


def sample(number: int, summary: str, *annotations: dict[str, Any]) -> dict[str, Any]:
    metadata = {"summarizer": "tiny/model", "gpt_4o": 1}
    return {"sample_id": number, "source": MILL, "summary": summary, "annotations": annotations, "metadata": metadata}


@pytest.mark.parametrize("indent", [None, 2])
def test_a_batch_of_faithbench_is_read_by_its_worst_annotations(tmp_path: Path, indent: int | None) -> None:
    samples = [
        sample(0, "A mill closed."),
        sample(1, "Sadly, a mill closed.", annotation("Benign")),
        sample(2, "An old mill closed.", annotation("Benign"), annotation("Questionable")),
        sample(3, "A mill burned.", annotation("Unwanted", "Unwanted.Intrinsic"), annotation("Benign")),
    ]
    path = tmp_path / "batch_1.json"
    path.write_text(json.dumps({"samples": samples}, indent=indent), encoding="utf-8")
    corpus = read_corpus(path)
    assert corpus.layout == "FaithBench"
    assert pairs(corpus) == [
        (MILL, "A mill closed.", "entailment"),
        (MILL, "Sadly, a mill closed.", "entailment"),
        (MILL, "An old mill closed.", "non-entailment"),
        (MILL, "A mill burned.", "non-entailment"),
    ]
    assert corpus.suite.frame.collect()["LLM"].unique().to_list() == ["tiny/model"]


def test_the_scores_of_faithbenchs_detectors_are_columns(tmp_path: Path) -> None:
    # The first sample of batch_1.json, with the names and scores of all eight detectors.
    scores = {"hhemv1": 0.9995, "hhem-2.1": 0.52694, "hhem-2.1-english": 0.98313, "trueteacher": 1, "true_nli": 1}
    scores |= {"gpt-3.5-turbo": 1, "gpt-4-turbo": 1, "gpt_4o": 1}
    facts = {"summarizer": "mistralai/Mistral-7B-Instruct-v0.3", **scores, "raw_sample_id": 15}
    path = tmp_path / "batch_1.json"
    samples = [sample(0, "A mill closed.") | {"metadata": facts}, sample(1, "It burned.", annotation("Unwanted"))]
    path.write_text(json.dumps({"samples": samples}), encoding="utf-8")
    suite = read_corpus(path).suite
    first = suite.frame.collect().row(0, named=True)
    assert {name: first[name] for name in scores} == scores
    assert {suite.card.columns[name] for name in scores} == {"covariate"}
    assert "raw_sample_id" not in first


def test_faithbenchs_detectors_are_scored_by_the_names_of_their_columns(tmp_path: Path) -> None:
    samples = [sample(number, f"A mill closed in {1900 + number}.") for number in range(6)]
    for number, entry in enumerate(samples):
        entry["metadata"] = {"summarizer": "m", "hhem-2.1": 0.8 - 0.1 * number, "gpt_4o": int(number < 5)}
        entry["annotations"] = [] if number < 3 else [annotation("Unwanted")]
    path = tmp_path / "batch_1.json"
    path.write_text(json.dumps({"samples": samples}), encoding="utf-8")
    # Right at 0.5: rows 0–2 (0.8, 0.7, 0.6) and 4–5 (0.4, 0.3); row 3 has 0.5, and argmax takes the first label.
    for column, right in (("hhem-2.1", 5), ("gpt_4o", 4)):
        run = api.score(path, str(path), column=column, output=tmp_path / column)
        assert run.run.header.model.name == column
        assert run.accuracy("batch_1").value == pytest.approx(right / 6)


def test_a_batch_of_faithbench_without_any_annotation_is_consistent(tmp_path: Path) -> None:
    path = tmp_path / "batch_2.json"
    path.write_text(json.dumps({"samples": [sample(0, "A mill closed.")]}), encoding="utf-8")
    assert pairs(read_corpus(path)) == [(MILL, "A mill closed.", "entailment")]


def test_an_unknown_label_of_faithbench_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "batch_3.json"
    lines = [json.dumps(sample(0, "A mill closed.")), json.dumps(sample(1, "It burned.", annotation("Odd")))]
    path.write_text('{\n"samples": [\n' + ",\n".join(lines) + "\n]}\n", encoding="utf-8", newline="\n")
    with pytest.raises(FileError, match=r"batch_3\.json:4: label 'Odd' is not"):
        read_corpus(path)


def test_the_copy_of_ragtruth_on_hugging_face_is_read_as_the_original(write) -> None:
    def row(task: str, query: str, output: str, *, conflict: int = 0, baseless: int = 0, quality: str = "good") -> Any:
        counts = {"evident_conflict": conflict, "baseless_info": baseless}
        texts = {"query": query, "context": MILL, "output": output, "task_type": task, "quality": quality}
        return texts | {"hallucination_labels": "[]", "hallucination_labels_processed": counts}

    path = write(
        "train.jsonl",
        row("Summary", "Summarize the news:", "The mill closed."),
        row("QA", "when did the mill close", "1931"),
        row("QA", "when did the mill close", "It closed on a day in 1941.", conflict=1),
        row("QA", "why did it close", "Nobody knows the reason for it.", baseless=2),
        row("QA", "why did it close", "Unable to answer.", quality="incorrect_refusal"),
    )
    corpus = read_corpus(path)
    assert (corpus.layout, corpus.suite.name, corpus.dropped) == ("RAGTruth", "ragtruth", 1)
    assert pairs(corpus) == [
        (MILL, "The mill closed.", "entailment"),
        (MILL, "Question: when did the mill close Answer: 1931", "entailment"),
        (MILL, "It closed on a day in 1941.", "non-entailment"),
        (MILL, "Nobody knows the reason for it.", "non-entailment"),
    ]


def response(number: int, source: str, text: str, *spans: str, quality: str = "good") -> dict[str, Any]:
    labels = [{"start": 0, "end": 3, "text": "The", "label_type": kind} for kind in spans]
    return {"id": str(number), "source_id": source, "labels": labels, "quality": quality, "response": text}


RESPONSES = (
    response(1, "7", "The lake froze."),
    response(2, "8", "The mill burned in 1931.", "Evident Conflict", "Subtle Baseless Info"),
    response(3, "9", "Unable to answer.", quality="incorrect_refusal"),
    response(4, "9", "Soak the beans for a night before.", "Evident Baseless Info"),
)
BEANS = {"question": "how to cook beans", "passages": "passage 1:Boil the beans.\n\n"}
SOURCES = (
    {"source_id": "7", "task_type": "Summary", "source": "x", "source_info": LAKE, "prompt": "Summarise"},
    {"source_id": "8", "task_type": "Summary", "source": "x", "source_info": MILL, "prompt": "Summarise"},
    {"source_id": "9", "task_type": "QA", "source": "y", "source_info": BEANS, "prompt": "Answer"},
)


def test_responses_of_ragtruth_are_joined_to_their_documents_and_refusals_left_out(write) -> None:
    write("source_info.jsonl", *SOURCES)
    corpus = read_corpus(write("response.jsonl", *RESPONSES))
    assert (corpus.layout, corpus.suite.name, corpus.rows_read, corpus.dropped) == ("RAGTruth", "ragtruth", 4, 1)
    assert pairs(corpus) == [
        (LAKE, "The lake froze.", "entailment"),
        (MILL, "The mill burned in 1931.", "non-entailment"),
        ("passage 1:Boil the beans.", "Soak the beans for a night before.", "non-entailment"),
    ]
    frame = corpus.suite.frame.collect()
    assert frame["source_id"].to_list() == ["1", "2", "4"]
    assert frame["question"].to_list() == [None, None, "how to cook beans"]
    assert frame["hallucinations"].to_list() == [
        None,
        '["Evident Conflict", "Subtle Baseless Info"]',
        '["Evident Baseless Info"]',
    ]
    assert sorted(corpus.suite.card.sources) == ["response.jsonl", "source_info.jsonl"]


def test_the_document_about_a_business_is_its_data_also_beside_questions(write) -> None:
    cafe = {"source_id": "8", "source_info": {"name": "Cafe Elm", "hours": {"Monday": "9:0-17:0"}}, "prompt": "Write"}
    write("source_info.jsonl", cafe, SOURCES[2])
    corpus = read_corpus(write("response.jsonl", response(1, "8", "It is closed on Monday.", "Evident Conflict")))
    data = '{"name": "Cafe Elm", "hours": {"Monday": "9:0-17:0"}}'
    assert pairs(corpus) == [(data, "It is closed on Monday.", "non-entailment")]


def test_a_response_without_its_document_is_named_with_its_line(write) -> None:
    write("source_info.jsonl", *SOURCES[:2])
    path = write("response.jsonl", *RESPONSES)
    with pytest.raises(FileError, match=r"response\.jsonl:3: source_id '9' is not in source_info\.jsonl"):
        read_corpus(path)


@pytest.mark.parametrize(
    ("document", "text", "rest"),
    [
        ("document", "summary", {}),
        ("knowledge", "answer", {}),
        ("knowledge", "response", {"dialogue_history": "[Human]: When?"}),
    ],
)
def test_each_row_of_halueval_gives_a_supported_and_a_hallucinated_text(write, document, text, rest) -> None:
    rows = [
        {document: LAKE, **rest, f"right_{text}": "It froze.", f"hallucinated_{text}": "It thawed."},
        {document: MILL, **rest, f"right_{text}": "It closed.", f"hallucinated_{text}": "It opened."},
    ]
    corpus = read_corpus(write("data.json", *rows))
    assert corpus.layout == "HaluEval"
    assert pairs(corpus) == [
        (LAKE, "It froze.", "entailment"),
        (LAKE, "It thawed.", "non-entailment"),
        (MILL, "It closed.", "entailment"),
        (MILL, "It opened.", "non-entailment"),
    ]
    assert corpus.suite.frame.collect()["group"].n_unique() == 2


def test_right_and_wrong_answers_of_halueval_have_the_same_form(write) -> None:
    row = {"knowledge": MILL, "question": "When did the mill close?", "right_answer": "1931"}
    corpus = read_corpus(write("qa_data.json", row | {"hallucinated_answer": "The mill never closed at all."}))
    expected = [
        (MILL, "Question: When did the mill close? Answer: 1931", "entailment"),
        (MILL, "Question: When did the mill close? Answer: The mill never closed at all.", "non-entailment"),
    ]
    assert pairs(corpus) == expected
    rows = [
        {"knowledge": MILL, "question": row["question"], "answer": "1931", "hallucination": "no"},
        {
            "knowledge": MILL,
            "question": row["question"],
            "answer": "The mill never closed at all.",
            "hallucination": "yes",
        },
    ]
    assert pairs(read_corpus(write("qa_samples.jsonl", *rows))) == expected
    assert corpus.suite.frame.collect()["question"].to_list() == ["When did the mill close?"] * 2
    assert corpus.suite.card.columns["question"] == "text"


def test_a_query_beside_an_answer_is_its_question(write) -> None:
    row = {"context": MILL, "Query": "When?", "answer": "1931", "label": "entailment"}
    corpus = read_corpus(write("a.jsonl", row))
    assert pairs(corpus) == [(MILL, "Question: When? Answer: 1931", "entailment")]


def test_a_question_beside_a_usual_pair_is_one_only_if_the_user_says_so(write) -> None:
    path = write("a.jsonl", {"premise": MILL, "question": "When?", "hypothesis": "in 1931", "label": "entailment"})
    assert pairs(read_corpus(path)) == [(MILL, "in 1931", "entailment")]
    corpus = read_corpus(path, columns={"question": "question"})
    assert pairs(corpus) == [(MILL, "Question: When? Answer: in 1931", "entailment")]


def test_an_answer_is_the_claim_unless_another_column_could_be(write) -> None:
    row = {"context": MILL, "answer": "It closed in 1931.", "label": "entailment"}
    assert pairs(read_corpus(write("a.jsonl", row))) == [(MILL, "It closed in 1931.", "entailment")]
    row["response"] = "It closed."
    assert pairs(read_corpus(write("b.jsonl", row))) == [(MILL, "It closed.", "entailment")]


def test_columns_that_the_user_names_are_read_as_they_are(write) -> None:
    row = {"document": LAKE, "right_summary": "It froze.", "hallucinated_summary": "It thawed.", "verdict": "e"}
    columns = {"premise": "document", "hypothesis": "right_summary", "label": "verdict"}
    assert pairs(read_corpus(write("data.jsonl", row), columns=columns)) == [(LAKE, "It froze.", "entailment")]


def test_a_source_is_where_a_document_comes_from_if_another_column_holds_it(write) -> None:
    row = {"document": MILL, "source": "gazette", "claim": "A mill closed.", "label": "entailment"}
    assert pairs(read_corpus(write("a.jsonl", row))) == [(MILL, "A mill closed.", "entailment")]
    del row["document"]
    assert pairs(read_corpus(write("b.jsonl", row))) == [("gazette", "A mill closed.", "entailment")]


def test_usual_pairs_may_have_columns_called_source_and_summary(write) -> None:
    row = {"premise": MILL, "hypothesis": "A mill closed.", "label": "e", "source": "gazette", "summary": "x"}
    corpus = read_corpus(write("a.jsonl", row))
    assert (corpus.layout, pairs(corpus)) == ("Hugging Face", [(MILL, "A mill closed.", "entailment")])


@pytest.mark.parametrize("texts", [("document", "claim"), ("source", "response"), ("doc", "summary")])
def test_documents_and_claims_need_no_labels_where_none_are_asked_for(write, texts) -> None:
    document, claim = texts
    corpus = read_corpus(write("a.jsonl", {document: MILL, claim: "A mill closed."}), unlabelled=True)
    assert (corpus.layout, pairs(corpus)) == ("pairs without labels", [(MILL, "A mill closed.", "any")])


def test_two_possible_claims_are_refused_without_labels_too(write) -> None:
    path = write("a.jsonl", {"document": MILL, "response": "It closed.", "summary": "It closed in 1931."})
    with pytest.raises(FileError, match="the columns response and summary could each be the hypothesis; say which"):
        read_corpus(path, unlabelled=True)


@pytest.mark.parametrize("column", ["supported", "is_supported", "grounded", "faithful", "verdict"])
@pytest.mark.parametrize(
    "answers", [(True, False), ("yes", "no"), (1, 0), ("True", "False"), ("supported", "unsupported")]
)
def test_a_column_that_says_whether_a_claim_is_supported_is_the_label(write, column, answers) -> None:
    rows = [{"passage": MILL, "statement": text, column: answer} for text, answer in zip("ab", answers, strict=True)]
    corpus = read_corpus(write("pairs.jsonl", *rows))
    assert pairs(corpus) == [(MILL, "a", "entailment"), (MILL, "b", "non-entailment")]
    assert column not in corpus.suite.card.columns


def test_a_column_called_label_is_the_label_beside_a_verdict(write) -> None:
    row = {"document": MILL, "claim": "It burned.", "label": "not supported", "verdict": "supported"}
    assert pairs(read_corpus(write("pairs.jsonl", row))) == [(MILL, "It burned.", "non-entailment")]


@pytest.mark.parametrize("texts", [("document", "claim"), ("doc", "claim"), ("context", "answer")])
def test_true_and_false_are_labels_of_claims(write, texts) -> None:
    document, claim = texts
    rows = [
        {document: MILL, claim: "A mill closed.", "label": True},
        {document: MILL, claim: "It burned.", "label": False},
    ]
    golds = [gold for _, _, gold in pairs(read_corpus(write("pairs.jsonl", *rows)))]
    assert golds == ["entailment", "non-entailment"]


def test_claims_without_a_label_column_are_read_with_a_note_that_names_the_columns(write, caplog) -> None:
    caplog.set_level(NOTE)
    path = write("pairs.jsonl", {"document": MILL, "claim": "It burned.", "ok": "y"})
    assert pairs(read_corpus(path, unlabelled=True)) == [(MILL, "It burned.", "any")]
    assert caplog.messages == [
        f"{path}: no label column (it has document, claim, ok); name it with --columns label=NAME"
    ]


def test_labels_may_be_mapped_to_what_is_said_of_claims(write) -> None:
    rows = [{"document": MILL, "claim": text, "label": text} for text in ("right", "wrong", "unclear")]
    label_map = {"right": "supported", "wrong": "Not supported", "unclear": "-"}
    corpus = read_corpus(write("pairs.jsonl", *rows), label_map=label_map)
    assert pairs(corpus) == [(MILL, "right", "entailment"), (MILL, "wrong", "non-entailment")]


def test_document_and_claim_may_be_named_by_these_names(write) -> None:
    path = write("pairs.jsonl", {"body": MILL, "line": "It burned.", "label": "not supported"})
    columns = {"document": "body", "claim": "line"}
    assert pairs(read_corpus(path, columns=columns)) == [(MILL, "It burned.", "non-entailment")]
    with pytest.raises(AcidtestError, match="--columns: document and premise are the same; leave one out"):
        read_corpus(path, columns={**columns, "premise": "body"})


@pytest.mark.parametrize("name", ["context", "answer", "Passage", "verdict"])
def test_a_name_that_files_give_a_column_is_refused_where_ours_is_asked_for(write, name) -> None:
    path = write("pairs.jsonl", {"body": MILL, "claim": "It burned.", "label": "not supported"})
    known = r"NAME is premise \(or document\), hypothesis \(or claim\), label, question, group, source_id"
    with pytest.raises(
        AcidtestError, match=rf"--columns: '{name}' is what files call a column, .* NAME=body, .* {known}"
    ):
        read_corpus(path, columns={name: "body"})


def test_a_verdict_column_that_the_user_names_is_read_by_its_name(write) -> None:
    rows = [{"a": MILL, "b": str(answer), "faithful": answer, "supported": not answer} for answer in (True, False)]
    columns = {"document": "a", "claim": "b", "label": "faithful"}
    golds = [gold for _, _, gold in pairs(read_corpus(write("pairs.jsonl", *rows), columns=columns))]
    assert golds == ["entailment", "non-entailment"]
