"""Logs of evaluation harnesses, as files: what is read, and what is refused."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from acidtest.core.errors import FileError
from acidtest.core.files import ZipArchive, write_json
from acidtest.models.harness_logs import (
    HarnessLog,
    HarnessModel,
    is_inspect_log,
    is_samples_file,
    mean_label,
    read_inspect_log,
    read_samples,
)
from acidtest.models.harness_tasks import ReplyAnswer, TaskRecipe

WORDS = {"entailment": "entailment", "neutral": "neutral", "contradiction": "contradiction"}
RECIPE = TaskRecipe("hans", choices=WORDS, words=WORDS)
NEUTRAL, NOTHING = np.array([0, 1, 0], np.float32), np.full(3, np.nan, np.float32)


def test_of_several_answers_to_a_pair_the_most_frequent_counts() -> None:
    entailment = np.array([1, 0, 0], np.float32)
    assert mean_label([NEUTRAL, entailment, NEUTRAL]).tolist() == [0, 1, 0]
    assert mean_label([NOTHING, entailment]).tolist() == [1, 0, 0]
    assert mean_label([NEUTRAL, entailment]).tolist() == [1, 0, 0], "the first of the labels in a tie"
    assert np.isnan(mean_label([NOTHING, NOTHING])).all()


def test_a_model_of_logs_answers_by_id_and_abstains_elsewhere() -> None:
    log = HarnessLog(Path("a.eval"), "inspect", "hans", "m", "", RECIPE, {"x": NEUTRAL}, probabilities=False)
    model = HarnessModel([log], "f")
    assert model.name == "inspect:m"
    assert model.predict(["x", "y"])[0].tolist() == [0, 1, 0]
    assert np.isnan(model.predict(["y"])).all()


def sample(identifier: str, responses: Any, **doc: Any) -> dict[str, Any]:
    return {"doc_id": 0, "doc": {"id": identifier, "recipe": RECIPE.to_json(), **doc}, "filtered_resps": responses}


def write_samples(path: Path, *lines: Any) -> Path:
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines), "utf-8")
    return path


def test_samples_hold_numbers_texts_of_numbers_or_a_reply(tmp_path: Path) -> None:
    texts = [["-1.0", "True"], ["-9.0", "False"], ["-9.0", "False"]]
    numbers = [[-9.0, False], [-1.0, True], [-9.0, False]]
    path = write_samples(
        tmp_path / "samples_acidtest_hans_2026-01-02T03-04-05.6.jsonl", *map(sample, "ab", [texts, numbers])
    )
    assert is_samples_file(path)
    log = read_samples(path)
    assert (log.task, log.created, log.probabilities) == ("acidtest_hans", "2026-01-02T03-04-05.6", True)
    assert [int(row.argmax()) for row in log.rows.values()] == [0, 1]
    replies = read_samples(write_samples(tmp_path / "samples_x.jsonl", sample("a", ["neutral"]), sample("b", ["eh"])))
    assert not replies.probabilities
    assert replies.name == f"lm-eval:{tmp_path.name} (replies)"
    assert replies.rows["a"].tolist() == [0, 1, 0]
    assert np.isnan(replies.rows["b"]).all()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", r"samples_x\.jsonl:2: is not valid JSON"),
        ({"doc": {"id": "b"}, "filtered_resps": []}, r"samples_x\.jsonl:2: doc\.recipe: is missing"),
        (
            sample("b", [["x", "y"]]),
            r"samples_x\.jsonl:2: filtered_resps holds \[\['x', 'y'\]\], neither one reply",
        ),
        (sample("b", [[-1, True]]), r"samples_x\.jsonl:2: filtered_resps holds"),
        (sample("b", [[10**400, True]] * 3), r"samples_x\.jsonl:2: filtered_resps holds"),
        (
            sample("b", ["neutral"], recipe='{"suite": "cues"}'),
            r"samples_x\.jsonl:2: the recipe of the task",
        ),
    ],
)
def test_a_bad_line_of_samples_is_named(line: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=message):
        read_samples(write_samples(tmp_path / "samples_x.jsonl", sample("a", ["neutral"]), line))


def test_a_table_of_predictions_is_no_file_of_samples(tmp_path: Path) -> None:
    assert not is_samples_file(write_samples(tmp_path / "samples_mine.jsonl", {"id": "a", "label": "neutral"}))
    write_json(tmp_path / "rows.json", [{"id": "a", "label": "neutral"}])
    assert not is_inspect_log(tmp_path / "rows.json")


HEADER = {"status": "success", "eval": {"task": "t", "model": "m", "metadata": {"acidtest": RECIPE.to_json()}}}


def write_archive(path: Path, samples: list[dict[str, Any]], *, summaries: str = "summaries.json") -> Path:
    """A log as versions before Zstandard wrote it."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(HEADER))
        archive.writestr(summaries, json.dumps(samples))
    return path


def test_an_archive_is_read_without_inspect(tmp_path: Path) -> None:
    scored = {"id": "a", "scores": {"gold_label": {"value": "I", "answer": "neutral"}}}
    abstained = {"id": "b", "scores": {"acidtest/gold_label": {"value": "N"}}}
    failed = {"id": "c", "error": "the server is down"}
    for name in ("summaries.json", "_journal/summaries/1.json"):
        log = read_inspect_log(write_archive(tmp_path / "a.eval", [scored, abstained, failed], summaries=name))
        assert log.rows["a"].tolist() == [0, 1, 0]
        assert np.isnan([log.rows["b"], log.rows["c"]]).all()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], r"a\.eval: holds no answers; was the run interrupted\?"),
        ([{"id": "a", "scores": {"gold_label": {"value": "C", "answer": "true"}}}], r"sample a: answer 'true' is not"),
        ([{"id": "a", "scores": {"gold_label": {"value": "C"}}}], r"sample a: has a score of 'C' and no answer"),
        (
            [{"id": "a", "scores": {"other": {"value": "C"}}}],
            r"sample a: has neither a reply nor a score",
        ),
        ([{"scores": {}}], r"a\.eval: summaries\.json: \[0\]\.id: is missing"),
    ],
)
def test_what_is_wrong_in_an_archive_is_named(content: list[dict[str, Any]], message: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=message):
        read_inspect_log(write_archive(tmp_path / "a.eval", content))


def test_a_member_whose_name_is_no_utf8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps(HEADER))
        archive.writestr("sümmaries.json", "[]")
        archive.writestr("summaries.json", "[]")
    # Only the name beside the content is damaged; the table at the end of the archive is whole.
    content = path.read_bytes()
    place = content.index("sümmaries.json".encode())
    path.write_bytes(content[:place] + b"\xff" + content[place + 1 :])
    with ZipArchive(path) as damaged, pytest.raises(FileError, match=r"a\.eval: sümmaries\.json: cannot be unpacked: "):
        b"".join(damaged.pieces("sümmaries.json"))


def test_an_archive_unpacks_to_no_more_than_a_file_may_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acidtest.models.harness_logs.MOST_BYTES", 1 << 20)
    path = tmp_path / "a.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", b" " * (3 << 20))
    with pytest.raises(FileError, match=r"a\.eval: header\.json: unpacks to more than 1,048,576 bytes"):
        read_inspect_log(path)


def error(number: int) -> dict[str, Any]:
    return {"id": number, "error": "the server is down"}


def test_the_samples_of_an_archive_are_counted_while_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = 0

    def counted(sample: Any, recipe: TaskRecipe, path: Path) -> ReplyAnswer:
        nonlocal made
        made += 1
        return ReplyAnswer(None)

    monkeypatch.setattr("acidtest.models.harness_logs.MAX_SAMPLES", 100)
    monkeypatch.setattr("acidtest.models.harness_logs._read_sample", counted)
    with pytest.raises(FileError, match=r"a\.eval: holds more than 100 samples; split the suite"):
        read_inspect_log(write_archive(tmp_path / "a.eval", [error(number) for number in range(200)]))
    assert made == 100, "nothing is read beyond the limit"


def test_the_members_of_an_archive_share_one_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acidtest.core.files.UNPACK_RATIO_FROM", 1 << 20)
    monkeypatch.setattr("acidtest.core.files.MAX_UNPACK_RATIO", 20)
    part = json.dumps([{"id": number, "error": "x" * 1000} for number in range(600)])
    path = tmp_path / "a.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(HEADER))
        for number in range(5):
            archive.writestr(f"_journal/summaries/{number}.json", part)
    with pytest.raises(FileError, match=r"a\.eval: unpacks to more than 20 times its size"):
        read_inspect_log(path)


def test_a_summary_of_no_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acidtest.core.structured.MOST_ENTRY_BYTES", 1 << 20)
    path = tmp_path / "a.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(HEADER))
        archive.writestr("summaries.json", b'[{"id": 1, "x": [' + b"{}," * 1_000_000)
    with pytest.raises(FileError, match=r"summaries\.json: has an entry of more than 1,048,576 bytes"):
        read_inspect_log(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'[{"id": 1, "error": "x"}', "is not a whole JSON array"),
        (b'{"id": 1}', "expected a list"),
        (b"", "is not a whole JSON array"),
        (b'[{"id": "\xff"}]', "is not valid JSON"),
        (b'[{"id": 1, "error": ' + b"[" * 100 + b"]" * 100 + b"}]", "nests lists and objects more than 64 deep"),
        (b'[{"id": 1, "error": ' + b"[" * 9000 + b"]" * 9000 + b"}]", "is not valid JSON"),
        (b'[{"id": 1, "id": 2}]', "stands more than once"),
    ],
)
def test_summaries_that_are_no_whole_array_are_refused(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "a.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(HEADER))
        archive.writestr("summaries.json", content)
    with pytest.raises(FileError, match=message):
        read_inspect_log(path)


def test_samples_are_read_themselves_if_a_summary_has_no_score(tmp_path: Path) -> None:
    path = write_archive(tmp_path / "a.eval", [{"id": "a", "scores": {"gold_label": {"value": "N"}}}, {"id": "b"}])
    with zipfile.ZipFile(path, "a") as archive:
        for name, reply in (("a", "neutral"), ("b", "contradiction")):
            whole = {"id": name, "output": {"completion": reply}}
            archive.writestr(f"samples/{name}_epoch_1.json", json.dumps(whole))
    rows = read_inspect_log(path).rows
    assert [rows[name].tolist() for name in "ab"] == [[0, 1, 0], [0, 0, 1]]
