"""Feed damaged files to every reader, and count the crashes.

    python tools/fuzz.py                             # 20 minutes over all readers
    python tools/fuzz.py --seconds 60 runs logs      # one minute over two readers
    python tools/fuzz.py --keep DIR                  # keep the inputs that crash
    python tools/fuzz.py --only 17 --keep DIR runs   # input 17 of this reader again

An input is a valid file with a few changes: of its bytes, of the values in its JSON, TOML or Parquet, of the cells of a
table, of a member of an archive. The seed and the number of an input determine it. A crash is an exception other than
``AcidtestError``, more than ``MAX_CPU_SECONDS`` of CPU time, more than ``MAX_ADDRESS_SPACE`` of memory, or the end of
the process. Each reader runs in a process of its own.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import io
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from acidtest.core.errors import AcidtestError

MAX_CPU_SECONDS = 10
MAX_ADDRESS_SPACE = 4 << 30
MAX_WALL_SECONDS = 120
"""A process that writes nothing for so long is waiting for something."""

WORDS = ("cat", "dog", "sleeps", "the")
LONG = "x" * 70_000
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 7, 1.5, -0.0, 1e308, float("nan"), float("inf"), 2**31, 2**63, -(2**63), 2**64),
    *(
        10**30,
        10**400,
        "",
        " ",
        "\x00",
        "\n::error::x",
        "\x1b[31m",
        "\ud800",
        "é" * 3,
        LONG,
        "entailment",
        "0",
        "1e999",
    ),
    *(
        [],
        {},
        [[]],
        [None],
        [1, "a", None],
        {"a": {"b": []}},
        {"": 0},
        "../../x",
        "/dev/zero",
        "python:x:y",
        "*",
        "[",
        "(",
    ),
)
TOKENS = (
    *(
        b"\x00",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"\r",
        b"\n",
        b"\r\n",
        b'"',
        b'""',
        b"'",
        b",",
        b"\t",
        b";",
        b"{",
        b"}",
        b"[",
    ),
    *(b"]", b"null", b"NaN", b"1e999", b"-1", b"9" * 30, b"9" * 5000, b"\\ud800", b"\\u0000", b"[" * 200, b"{" * 200),
    *(
        b"\xf0\x9f\x98\x80",
        b"\xe2\x80\xa8",
        b"\xc2\x85",
        b"=",
        b"[[x]]\n",
        b'"""',
        b"<!ENTITY a 'b'>",
        b"&a;",
        b"PAR1",
        b"PK\x03\x04",
    ),
)


# Changes


def change_bytes(content: bytes, rng: random.Random) -> bytes:
    """The content with one to four changes of bytes."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 4))):
        place, length = rng.randrange(len(data) + 1), rng.choice((1, 1, 2, 4, 16, 200))
        end = min(place + length, len(data))
        kind = rng.randrange(7)
        if kind == 0 and place < len(data):
            data[place] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[place:end] = rng.randbytes(length)
        elif kind == 2:
            data[place:place] = rng.choice(TOKENS)
        elif kind == 3:
            del data[place:end]
        elif kind == 4:
            data[place:place] = data[place:end] * rng.choice((1, 3, 50))
        elif kind == 5 and rng.random() < 0.3:
            del data[place:]
        else:
            other = rng.randrange(len(data) + 1)
            data[place:end] = data[other : other + length]
    return bytes(data)


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all values in nested lists and objects."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*place, key)
        yield from _places(inner, (*place, key))


def change_values(value: Any, rng: random.Random) -> Any:
    """A nested value with one to three changes: other values, missing, repeated and renamed keys, deeper nesting."""
    value = json.loads(json.dumps(value, default=str))
    for _ in range(rng.choice((1, 1, 2, 3))):
        places = list(_places(value))
        if not places:
            return rng.choice(VALUES)
        *path, key = rng.choice(places)
        parent = value
        for part in path:
            parent = parent[part]
        kind = rng.randrange(8)
        if kind == 0:
            del parent[key]
        elif kind == 1 and isinstance(parent, dict):
            parent[rng.choice(("", "schema", "__class__", LONG, str(key).upper(), str(key) + "2"))] = parent.pop(key)
        elif kind == 2 and isinstance(parent, list):
            parent.extend([parent[key]] * rng.choice((1, 2, 300)))
        elif kind == 3:
            for _ in range(rng.choice((1, 5, 100))):
                parent[key] = [parent[key]]
        elif kind == 4 and isinstance(parent[key], str):
            parent[key] = change_bytes(parent[key].encode(errors="replace"), rng).decode(errors="replace")
        elif kind == 5:
            other = rng.choice(places)
            inner = value
            with contextlib.suppress(KeyError, IndexError, TypeError):
                for part in other:
                    inner = inner[part]
                parent[key] = json.loads(json.dumps(inner))
        else:
            parent[key] = rng.choice(VALUES)
    return value


def change_json(content: bytes, rng: random.Random) -> bytes:
    """A JSON file with changed values; of JSON lines, one line."""
    lines = content.split(b"\n") if content.count(b"\n{") else [content]
    place = rng.randrange(len(lines))
    if lines[place].strip():
        lines[place] = json.dumps(change_values(json.loads(lines[place]), rng)).encode()
    if len(lines) > 1 and rng.random() < 0.2:
        lines.insert(rng.randrange(len(lines)), rng.choice(lines))
    return b"\n".join(lines)


def change_toml(content: bytes, rng: random.Random) -> bytes:
    """A TOML file with changed values."""
    value = change_values(tomllib.loads(content.decode()), rng)
    if not isinstance(value, dict):
        return content
    lines: list[str] = []
    for key, inner in value.items():
        lines.append(f"{json.dumps(key)} = {_toml(inner)}")
    return "\n".join(lines).encode(errors="surrogatepass")


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, float):
        return repr(value)
    return '""' if value is None else json.dumps(value, ensure_ascii=False)


def change_table(content: bytes, rng: random.Random) -> bytes:
    """A delimited file with changed cells or rows."""
    separator = b"\t" if b"\t" in content else b","
    rows = [line.split(separator) for line in content.splitlines()]
    for _ in range(rng.choice((1, 1, 2, 5))):
        row = rng.randrange(len(rows)) if rng.random() < 0.7 else 0
        cell = rng.randrange(max(len(rows[row]), 1))
        kind = rng.randrange(6)
        if kind == 0 and rows[row]:
            del rows[row][cell]
        elif kind == 1:
            rows[row].insert(cell, rng.choice(rng.choice(rows)) if rng.random() < 0.5 and rows[0] else b"")
        elif kind == 2:
            rows.insert(row, list(rng.choice(rows)))
        elif rows[row]:
            value = rng.choice(VALUES)
            written = value if isinstance(value, str) else json.dumps(value)
            rows[row][cell] = written.encode(errors="surrogatepass") if kind > 3 else rng.choice(TOKENS)
    return rng.choice((b"\n", b"\n", b"\r\n")).join(separator.join(row) for row in rows)


DTYPES: tuple[Any, ...] = (
    *(
        pl.String,
        pl.Int64,
        pl.Int8,
        pl.UInt64,
        pl.Float32,
        pl.Float64,
        pl.Boolean,
        pl.Date,
        pl.Time,
        pl.Binary,
        pl.Null,
    ),
    *(pl.Datetime("us", "UTC"), pl.Duration("ms"), pl.Decimal(20, 3), pl.Categorical, pl.List(pl.String)),
    *(
        pl.List(pl.Float64),
        pl.Array(pl.Float64, 3),
        pl.Struct({"a": pl.String, "b": pl.Int64}),
        pl.List(pl.List(pl.Int8)),
    ),
)


def change_parquet(content: bytes, rng: random.Random) -> bytes:
    """A Parquet file with changed columns, rows or metadata."""
    frame = pl.read_parquet(io.BytesIO(content))
    metadata = {
        key: text for key, text in pl.read_parquet_metadata(io.BytesIO(content)).items() if key != "ARROW:schema"
    }
    for _ in range(rng.choice((1, 1, 2))):
        if not frame.width:
            break
        name, kind = rng.choice(frame.columns), rng.randrange(7)
        if kind == 0:
            frame = frame.drop(name)
        elif kind == 1:
            frame = frame.rename({name: rng.choice(("x", "", name.upper(), "\n::error::"))})
        elif kind == 2:
            frame = frame.head(rng.choice((0, 1, 2)))
        elif kind == 3 and metadata:
            key = rng.choice(sorted(metadata))
            with contextlib.suppress(ValueError):
                metadata[key] = json.dumps(change_values(json.loads(metadata[key]), rng))
        else:
            dtype = rng.choice(DTYPES)
            values = [rng.choice((None, *(_value_of(dtype, rng) for _ in range(3)))) for _ in range(frame.height)]
            with contextlib.suppress(pl.exceptions.PolarsError, TypeError, OverflowError, ValueError):
                frame = frame.with_columns(pl.Series(name, values, dtype=dtype, strict=False))
    buffer = io.BytesIO()
    frame.write_parquet(buffer, metadata=metadata or None, row_group_size=rng.choice((None, 1, 5)))
    return buffer.getvalue()


def _value_of(dtype: Any, rng: random.Random) -> Any:
    """A value that a column of this type may hold."""
    if dtype == pl.Binary:
        return rng.randbytes(3)
    if isinstance(dtype, pl.List | pl.Array):
        return [_value_of(dtype.inner, rng) for _ in range(getattr(dtype, "size", rng.randrange(4)))]
    if isinstance(dtype, pl.Struct):
        return {"a": "x", "b": 1}
    if dtype in (pl.String, pl.Categorical):
        return rng.choice(("entailment", "", "\x00", "a, b", "0.5", "é"))
    if dtype in (pl.Float32, pl.Float64):
        return rng.choice((0.0, 0.5, 1.0, -1.0, float("nan"), float("inf")))
    return rng.choice((0, 1, 2, 100))


def change_archive(content: bytes, rng: random.Random) -> bytes:
    """A zip archive with a changed, missing, renamed or repeated member."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    place, kind = rng.randrange(len(members)), rng.randrange(8)
    name, inner = members[place]
    if kind == 0:
        del members[place]
    elif kind == 1:
        members.append((rng.choice((name + "x", "../" + name, "samples/1.json", "header.json")), inner))
    else:
        members[place] = (name, (change_json if name.endswith(".json") and kind > 3 else change_bytes)(inner, rng))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for name, inner in members:
            archive.writestr(name, inner)
    return buffer.getvalue()


def change_baseline(content: bytes, rng: random.Random) -> bytes:
    """A baseline file with changed values in its header, as schema 2, whose digest covers the rows alone."""
    mark, line, rows = content.split(b"\n", 2)
    return mark + b"\n" + json.dumps(change_values(json.loads(line), rng)).encode() + b"\n" + rows


STRUCTURED: dict[str, Callable[[bytes, random.Random], bytes]] = {
    ".json": change_json,
    ".jsonl": change_json,
    ".toml": change_toml,
    ".csv": change_table,
    ".tsv": change_table,
    ".txt": change_table,
    ".parquet": change_parquet,
    ".eval": change_archive,
    ".npz": change_archive,
    ".acidtest": change_baseline,
}


def make_input(path: Path, content: bytes, rng: random.Random) -> bytes:
    """A damaged version of a file."""
    if path.suffix == ".gz":
        if rng.random() < 0.3:
            return change_bytes(content, rng)
        return gzip.compress(make_input(path.with_suffix(""), gzip.decompress(content), rng))
    change = STRUCTURED.get(path.suffix)
    if change is None or rng.random() < 0.4:
        return change_bytes(content, rng)
    try:
        changed = change(content, rng)
    except (Exception, pl.exceptions.PanicException):
        # Some values cannot be written in the format of the file.
        return change_bytes(content, rng)
    return change_bytes(changed, rng) if rng.random() < 0.1 else changed


# Readers


@dataclass(frozen=True)
class Reader:
    """A kind of file: patterns of the valid files that inputs are made from, and the function that reads an input."""

    patterns: tuple[str, ...]
    read: Callable[[Path], object]


def _settings(path: Path) -> None:
    from acidtest.core.settings import read_settings

    read_settings(path, {"run": ["model", "suites", "limit", "seed", "quiet"], "gate": ["policy", "quiet"]})


def _plan(path: Path) -> None:
    from acidtest.annotate.items import load_plan

    load_plan(path)


def _questionnaire(path: Path) -> None:
    from acidtest.annotate.questionnaires import load_questionnaire

    load_questionnaire(path)


def _suite_of_templates(path: Path) -> None:
    from acidtest.workflows.batteries import generate

    generate(str(path), n=4, at_most=True).frame.collect()


def _pairs(path: Path) -> None:
    from acidtest.workflows.batteries import load

    load(path).frame.collect()


def _card(path: Path) -> None:
    _pairs(path.with_name(path.name.removesuffix(".card.json")))


def _policy(path: Path) -> None:
    from acidtest.studies.gate.policy import read_policy

    read_policy(path)


def _baseline(path: Path) -> None:
    from acidtest.studies.gate.pairing import gate_input, pair_sides

    pair_sides(gate_input(path), gate_input(path.parent / "run"))


def _run(path: Path) -> None:
    from acidtest.core.run import Run
    from acidtest.workflows.results import compute_results

    compute_results(Run.read(path.parent))


def _results(path: Path) -> None:
    from acidtest.workflows.reporting import report_document
    from acidtest.workflows.runs import finished_run

    report_document([finished_run(path.parent)])


def _journal(path: Path) -> None:
    from acidtest.evaluate.answers import kept_answers

    list(kept_answers(path, "model"))


def _log(path: Path) -> None:
    from acidtest.models.harness_logs import read_inspect_log, read_samples

    read_samples(path) if path.suffix == ".jsonl" else read_inspect_log(path)


def _predictions(path: Path) -> None:
    from acidtest.models.answers import AnswersModel
    from acidtest.workflows.batteries import load

    model, suite = AnswersModel(path), load(path.parent / "pairs.csv")
    model.check([suite])
    frame = suite.frame.collect()
    model.predict(*(frame[name].to_list() if name in frame else [None] * frame.height for name in model.columns))


def _vectors(path: Path) -> None:
    from acidtest.io.embeddings import embeddings

    embeddings(path, WORDS)


def _judgements(path: Path) -> None:
    from acidtest.annotate.exchange import read_answer_rows
    from acidtest.annotate.label_studio import holds_tasks, read_tasks
    from acidtest.annotate.questionnaires import load_questionnaire

    (read_tasks if holds_tasks(path) else read_answer_rows)(path, load_questionnaire("validation"))


READERS = {
    "settings": Reader(("acidtest.toml",), _settings),
    "plans": Reader(("plan*.toml",), _plan),
    "questionnaires": Reader(("questions*.toml",), _questionnaire),
    "suites": Reader(("suite*.toml",), _suite_of_templates),
    "pairs": Reader(("pairs*.*", "problems.xml"), _pairs),
    "claims": Reader(("claims*.*",), _pairs),
    "cards": Reader(("made.csv.card.json", "made.jsonl.card.json"), _card),
    "policies": Reader(("policy.toml",), _policy),
    "baselines": Reader(("release*.acidtest",), _baseline),
    "runs": Reader(("run/run.json", "run/predictions.parquet"), _run),
    "results": Reader(("run/results.json",), _results),
    "journals": Reader(("answers.part",), _journal),
    "logs": Reader(("log*.eval", "log*.json", "samples*.jsonl"), _log),
    "predictions": Reader(("preds*.*",), _predictions),
    "vectors": Reader(("vectors*.*",), _vectors),
    "judgements": Reader(("judged*.*",), _judgements),
}


# Valid files

POLICY = """
[defaults]
margin = 2
confidence = 0.95
[[slices]]
match = "hans"
margin = 1
[[floors]]
match = "hans"
at_least = 50
[[edits]]
edit = "number"
at_most = 15
[runs]
baseline = "a.acidtest"
suites = ["hans"]
"""


def write_valid_files(folder: Path) -> None:
    """The files that inputs are made from, one or more for each reader."""
    from acidtest.workflows.batteries import generate, load, save
    from acidtest.workflows.evaluations import run

    package = Path(sys.modules["acidtest"].__file__ or "").parent / "data"
    golds = ("entailment", "neutral", "contradiction")
    pairs = pl.DataFrame(
        {
            "id": [f"r{n}" for n in range(12)],
            "premise": [f"A dog sleeps on the {n}th floor" for n in range(12)],
            "hypothesis": [f"A dog {'sleeps' if n % 2 else 'runs, or not'}" for n in range(12)],
            "gold_label": [golds[n % 3] for n in range(12)],
            "kind": [str(n % 2) for n in range(12)],
        }
    )
    _write_table(pairs, folder / "pairs")
    (folder / "problems.xml").write_text(
        '<fracas-problems><problem id="1" fracas_answer="yes"><p idx="1">A dog sleeps.</p><q>Does a dog sleep?</q>'
        "<h>A dog sleeps.</h></problem></fracas-problems>"
    )
    claims = pl.DataFrame({"doc": pairs["premise"], "claim": pairs["hypothesis"], "label": [0, 1] * 6})
    claims.write_csv(folder / "claims.csv")
    claims.write_parquet(folder / "claims.parquet")
    rows = [
        {"source": "A dog", "summary": f"A dog {n}", "annotations": [{"label": ["Benign"]}], "worst-label": "Benign"}
        for n in range(3)
    ]
    (folder / "claims-faith.json").write_text(json.dumps(rows))
    rows = [{"knowledge": "x", "question": "q", "right_answer": "a", "hallucinated_answer": f"b{n}"} for n in range(3)]
    (folder / "claims-halu.jsonl").write_text("\n".join(map(json.dumps, rows)))
    labels = pairs.select("id", label="gold_label")
    _write_table(labels, folder / "preds")
    chances = pairs.select("id", entailment=pl.lit(0.5), neutral=pl.lit(0.3), contradiction=pl.lit(0.2))
    _write_table(chances, folder / "preds-p")
    scored = [{"label": name, "score": score} for name, score in zip(golds, (0.5, 0.3, 0.2), strict=True)]
    rows = [{"id": name, "scores": scored} for name in pairs["id"]]
    (folder / "preds-hf.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for number, name in enumerate(("hans-human", "stress-human")):
        shutil.copy(package / "plans" / f"{name}.toml", folder / f"plan{number}.toml")
    for number, path in enumerate(sorted((package / "questionnaires").glob("*.toml"))):
        shutil.copy(path, folder / f"questions{number}.toml")
    for path in (Path(__file__).resolve().parents[1] / "docs" / "examples").glob("*.toml"):
        shutil.copy(path, folder / f"suite-{path.name}")
    (folder / "acidtest.toml").write_text('seed = 3\nquiet = true\n[run]\nsuites = ["hans", "cues"]\nlimit = 20\n')
    (folder / "policy.toml").write_text(POLICY)
    made = generate("hans", n=1)
    for ending in ("csv", "jsonl"):
        save(made, folder / f"made.{ending}")
    finished = run("baseline:overlap", [load(folder / "pairs.csv")], output=folder / "run", cache=False, page=False)
    header = json.loads((folder / "run" / "run.json").read_text()) | {"predictions_sha256": ""}
    (folder / "run" / "run.json").write_text(json.dumps(header))
    _write_baselines(finished.run, folder)
    _write_answers(folder)
    _write_logs(folder)
    lines = [f"{word} {n} 0.5 -1" for n, word in enumerate(WORDS)]
    (folder / "vectors.txt").write_text("\n".join(lines))
    (folder / "vectors-counted.vec").write_text("\n".join([f"{len(WORDS)} 3", *lines]))
    (folder / "vectors.json").write_text(json.dumps({word: [n, 0.5, -1] for n, word in enumerate(WORDS)}))
    judged = pl.DataFrame({"item": ["a", "b"], "annotator": ["Ann", "Bo"], "premise": "P", "hypothesis": "H"})
    answers = {"grammatical": "yes", "inference": "entailment", "difficulty": "hard"}
    judged.with_columns(pl.lit(answer).alias(name) for name, answer in answers.items()).write_csv(folder / "judged.csv")


def _write_table(frame: pl.DataFrame, stem: Path) -> None:
    """A table in all formats."""
    frame.write_csv(stem.with_suffix(".csv"))
    frame.write_csv(stem.with_suffix(".tsv"), separator="\t")
    frame.write_ndjson(stem.with_suffix(".jsonl"))
    frame.write_parquet(stem.with_suffix(".parquet"))
    stem.with_suffix(".json").write_text(json.dumps(frame.to_dicts()))
    Path(f"{stem}.csv.gz").write_bytes(gzip.compress(stem.with_suffix(".csv").read_bytes()))


def _write_baselines(run: Any, folder: Path) -> None:
    import hashlib

    from acidtest.io.baselines import write_baseline_file
    from acidtest.studies.gate.pairing import baseline_of

    path = write_baseline_file(baseline_of(run), folder / "release.acidtest")
    mark, line, rows = path.read_bytes().split(b"\n", 2)
    older = json.loads(line) | {"schema": 2, "sha256": hashlib.sha256(rows).hexdigest()}
    (folder / "release-2.acidtest").write_bytes(mark + b"\n" + json.dumps(older).encode() + b"\n" + rows)


def _write_answers(folder: Path) -> None:
    import numpy as np

    from acidtest.evaluate.answers import AnswerFile, records

    keys, values = np.arange(5, dtype=np.uint64), np.full((5, 3), 0.25, np.float32)
    with AnswerFile(folder / "answers.part", "model") as file:
        file.append(records(keys, keys, values, np.zeros(5, np.uint8)))
        file.append(records(keys + 5, keys, values, np.zeros(5, np.uint8)))


def _write_logs(folder: Path) -> None:
    from acidtest.models.harness_tasks import TaskRecipe

    words = {"entailment": "entailment", "neutral": "neutral", "contradiction": "contradiction"}
    recipe = TaskRecipe("hans", choices=words, words=words).to_json()
    facts = {"task": "t", "model": "m", "created": "2026", "metadata": {"acidtest": recipe}, "dataset": {"samples": 2}}
    header = {"version": 2, "status": "success", "eval": facts}
    samples = [
        {"id": "a", "epoch": 1, "scores": {"gold_label": {"value": "C", "answer": "neutral"}}},
        {"id": "b", "epoch": 1, "scores": {"gold_label": {"value": "N"}}, "output": {"completion": "entailment"}},
    ]
    for name, summaries in (("log.eval", "summaries.json"), ("log-open.eval", "_journal/summaries/1.json")):
        with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("header.json", json.dumps(header))
            archive.writestr(summaries, json.dumps(samples))
    with zipfile.ZipFile(folder / "log-samples.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(header))
        archive.writestr("summaries.json", json.dumps([{"id": sample["id"]} for sample in samples]))
        for sample in samples:
            archive.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))
    (folder / "log.json").write_text(json.dumps(header | {"samples": samples}))
    likely = [["-1.0", "True"], ["-9.0", "False"], ["-9.0", "False"]]
    lines = [
        {"doc_id": n, "doc": {"id": name, "recipe": recipe}, "filtered_resps": answer}
        for n, (name, answer) in enumerate((("a", likely), ("b", likely)))
    ]
    (folder / "samples_acidtest_hans_2026-01-02T03-04-05.6.jsonl").write_text("\n".join(map(json.dumps, lines)))
    lines = [line | {"filtered_resps": ["neutral"]} for line in lines]
    (folder / "samples_acidtest_hans_2026-01-02T03-04-06.6.jsonl").write_text("\n".join(map(json.dumps, lines)))


# The process that reads


def work(reader: Reader, folder: Path, *, seed: int, start: int, seconds: float) -> None:
    """Read inputs until the time is over; a line for each of them goes to standard output."""
    out = os.fdopen(os.dup(1), "w")
    resource.setrlimit(resource.RLIMIT_AS, (MAX_ADDRESS_SPACE, MAX_ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    paths = sorted({path for pattern in reader.patterns for path in folder.glob(pattern)})
    valid = {path: path.read_bytes() for path in paths}
    end, number = time.monotonic() + seconds, start
    while time.monotonic() < end:
        rng = random.Random(f"{seed} {number}")
        path = rng.choice(paths)
        content = make_input(path, valid[path], rng)
        path.write_bytes(content)
        print(f"input {number} {path.relative_to(folder)}", file=out, flush=True)
        # The peak begins anew: making the input is no work of the reader.
        Path("/proc/self/clear_refs").write_text("5")
        # The system ends the process at this signal, also within compiled code.
        signal.setitimer(signal.ITIMER_PROF, MAX_CPU_SECONDS)
        outcome = read_quietly(reader, path)
        signal.setitimer(signal.ITIMER_PROF, 0)
        # Not ru_maxrss, which a child inherits from its parent.
        peak = int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
        print(json.dumps({"outcome": outcome, "peak": peak}), file=out, flush=True)
        path.write_bytes(valid[path])
        number += 1


def read_quietly(reader: Reader, path: Path) -> str:
    """``read``, ``rejected`` or the place and message of the exception that a reader ended with."""
    try:
        with (
            Path(os.devnull).open("w") as nothing,
            contextlib.redirect_stdout(nothing),
            contextlib.redirect_stderr(nothing),
        ):
            reader.read(path)
    except AcidtestError:
        return "rejected"
    except BaseException as error:
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/acidtest/" in frame.filename]
        place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
        return f"{type(error).__name__} at {place}: {str(error)[:160]!r}"
    return "read"


# The process that counts


@dataclass
class Counts:
    """What became of the inputs of one reader."""

    outcomes: Counter[str] = field(default_factory=Counter)
    crashes: dict[str, list[int]] = field(default_factory=dict)
    """The numbers of the inputs by what went wrong."""
    peak: int = 0

    @property
    def inputs(self) -> int:
        """How many inputs were read, rejected or crashed."""
        return self.outcomes.total()


def fuzz(name: str, valid: Path, *, seed: int, seconds: float, start: int = 0, one: bool = False) -> Counts:
    """Run a reader on inputs in child processes; a new one starts after each that died."""
    counts, end, number = Counts(), time.monotonic() + seconds, start
    while (left := end - time.monotonic()) > 0:
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(valid, folder, dirs_exist_ok=True)
            words = [sys.executable, __file__, "--work", folder, "--seed", str(seed), "--start", str(number), name]
            # With a time of almost nothing, the child reads one input.
            child = subprocess.Popen(
                [*words, "--seconds", "1e-6" if one else str(left)],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            assert child.stdout is not None
            number, open_input = _follow(child, counts, number)
            if open_input is not None:
                counts.outcomes["crash"] += 1
                reason = f"ended by {signal.Signals(-child.returncode).name}" if child.returncode < 0 else "ended"
                counts.crashes.setdefault(f"{reason} ({open_input})", []).append(number)
                number += 1
            elif child.returncode:
                raise SystemExit(f"{name}: the child process failed; run it with --work {folder} to see why")
        if one:
            break
    return counts


def _follow(child: subprocess.Popen[str], counts: Counts, number: int) -> tuple[int, str | None]:
    """Count what a child reports until it ends; the number of the next input, and the file of one that is open."""
    import threading

    assert child.stdout is not None
    watch, open_input = threading.Timer(MAX_WALL_SECONDS, child.kill), None
    watch.start()
    for line in child.stdout:
        if line.startswith("input "):
            _, text, open_input = line.rstrip("\n").split(" ", 2)
            number = int(text)
            continue
        report = json.loads(line)
        outcome = report["outcome"]
        if outcome not in ("read", "rejected"):
            counts.crashes.setdefault(f"{outcome} ({open_input})", []).append(number)
            outcome = "crash"
        counts.outcomes[outcome] += 1
        counts.peak = max(counts.peak, report["peak"])
        open_input, number = None, number + 1
        watch.cancel()
        watch = threading.Timer(MAX_WALL_SECONDS, child.kill)
        watch.start()
    watch.cancel()
    child.wait()
    return number, open_input


def keep_inputs(name: str, counts: Counts, valid: Path, folder: Path, seed: int) -> None:
    """Write the first input of each kind of crash to a folder."""
    paths = sorted({path for pattern in READERS[name].patterns for path in valid.glob(pattern)})
    for numbers in counts.crashes.values():
        rng = random.Random(f"{seed} {numbers[0]}")
        path = rng.choice(paths)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}-{numbers[0]}-{path.name}").write_bytes(make_input(path, path.read_bytes(), rng))


def main() -> None:
    """Read the command line, run the readers one after the other, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("readers", nargs="*", default=list(READERS), help=", ".join(READERS))
    parser.add_argument("--seconds", type=float, default=1200, help="for all readers together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=int, default=0, help="number of the first input")
    parser.add_argument("--only", type=int, help="number of the only input")
    parser.add_argument("--keep", type=Path, help="folder for inputs that crash")
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if unknown := set(given.readers) - set(READERS):
        parser.error(f"no reader called {', '.join(sorted(unknown))}; there are {', '.join(READERS)}")
    if given.work:
        work(READERS[given.readers[0]], given.work, seed=given.seed, start=given.start, seconds=given.seconds)
        return
    total = Counts()
    with tempfile.TemporaryDirectory() as folder:
        valid = Path(folder)
        with contextlib.redirect_stderr(io.StringIO()):
            write_valid_files(valid)
        print(f"{'reader':<16}{'inputs':>9}{'read':>9}{'rejected':>10}{'crashes':>9}{'peak MB':>9}", flush=True)
        for name in given.readers:
            start, one = (given.start, False) if given.only is None else (given.only, True)
            seconds = given.seconds / len(given.readers)
            counts = fuzz(name, valid, seed=given.seed, seconds=seconds, start=start, one=one)
            _print_row(name, counts)
            for reason, numbers in counts.crashes.items():
                print(f"    {len(numbers)} x {reason}, first input {numbers[0]}", flush=True)
            if given.keep:
                keep_inputs(name, counts, valid, given.keep, given.seed)
            total.outcomes += counts.outcomes
            total.peak = max(total.peak, counts.peak)
    _print_row("all", total)
    sys.exit(1 if total.outcomes["crash"] else 0)


def _print_row(name: str, counts: Counts) -> None:
    read, rejected, crashes = (counts.outcomes[outcome] for outcome in ("read", "rejected", "crash"))
    print(f"{name:<16}{counts.inputs:>9,}{read:>9,}{rejected:>10,}{crashes:>9,}{counts.peak // 1024:>9,}", flush=True)


if __name__ == "__main__":
    main()
