"""Record what must not change while the code is rebuilt, and check that it has not.

    python tools/freeze.py check --fast          # after each change: under a minute
    python tools/freeze.py check --only factors  # records whose key has the word, and the runs they need
    python tools/freeze.py check [PART…]         # everything, or some parts; exits with 1 when something differs
    python tools/freeze.py record [PART…]        # accept what there is now

Parts: ``suites`` (rows and cards of every suite with two seeds, every option, and several corpora), ``studies`` (the
--json of every study on fixed runs, with results.json and run.json of these runs), ``options`` (the options and
arguments of every command, and the exit codes of wrong commands).

Only digests are committed (``tests/golden/freeze.json``). The values lie in ``build/freeze``, where ``check``
looks up how a value differs; the values that a check computed are left in ``build/freeze-checked``. Prose (values of
keys such as ``note`` and ``text``) has a digest of its own: a difference in it is reported, and fails with ``--prose``.
What needs ``../shared/data`` is left out where that folder is missing.

The program is used by its command line and by names that ``acidtest`` exports, so that its modules may move.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import hashlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared" / "data"
DIGESTS = ROOT / "tests" / "golden" / "freeze.json"
RECORDED, CHECKED = ROOT / "build" / "freeze", ROOT / "build" / "freeze-checked"

ROWS = 60
"""Rows per cell of a template suite, source pairs of other suites."""

Record = tuple[str, Any]
Options = dict[str, Any]

VOLATILE = {"acidtest", "finished", "pairs_per_s", "request", "seconds", "started", "timings", "usage", "versions"}
PROSE = {
    "about", "can", "cannot", "caution", "definition", "differs", "evidence", "findings", "looks_for", "method",
    "note", "notes", "prior_told", "question", "reason", "refused", "summary", "text", "title", "told", "verdict",
    "what", "where",
}  # fmt: skip
"""Keys whose values are sentences, which may be worded better; the keys themselves stay."""

CORPORA = {
    "snli": SHARED / "snli" / "snli_1.0_train_first1000.jsonl.gz",
    "mnli": SHARED / "mnli" / "mnli_dev_matched.tsv",
    "sick": SHARED / "sick" / "SICK_train.txt",
}
FILES = {
    "aqua": SHARED / "aqua" / "dev.json",
    "breaking_nli": SHARED / "breaking_nli" / "breaking_nli_quarter.jsonl",
    "cad": SHARED / "cad" / "dev.tsv",
    "hans": SHARED / "hans" / "mnli_contradicting_examples.tsv",
    "lingnli": SHARED / "lingnli" / "val.jsonl.gz",
    "taxinli": SHARED / "taxinli" / "taxinli10k.tsv",
}

VALUES: dict[str, list[Options]] = {
    "answers": [],  # Made from the questions that ``ask`` gives: see suite_choices.
    "ask": [{"ask": True}],
    "assume": [{"assume": "paper"}],
    "bigrams": [{"bigrams": "train.tsv", "least": 1}, {"bigrams": "train.tsv", "least": 2}],
    "by": [{"by": "label"}],
    "categories": [{"categories": "lexical,negation"}],
    "caution": [{"caution": "high"}, {"caution": "low"}],
    "cosine": [{"embeddings": "vectors.txt", "cosine": 0.9}],
    "each": [{"each": 2}],
    "edit": [{"edit": "adjacent"}, {"edit": "keyboard"}],
    "edits": [{"edits": 3}],
    "embeddings": [{"embeddings": "vectors.txt"}],
    "entities": [{"entities": True}],
    "faithful": [{"faithful": True}],
    "least": [{"least": 2}],
    "most": [{"most": 5}],
    "names": [{"names": "inside"}],
    "nonwords": [{"nonwords": True}],
    "pairs": [],  # A file for swaps, a number for the length ladder: see suite_choices.
    "place": [{"place": "start"}, {"place": "middle"}],
    "repetitions": [{"repetitions": 3}],
    "rungs": [{"rungs": "32,128"}],
    "side": [{"side": "premise"}, {"side": "hypothesis"}, {"side": "both"}],
    "tagger": [{"tagger": "light"}],
    "target": [{"edit": "adjacent", "target": "content"}, {"edit": "keyboard", "target": "function"}],
    "tautology": [{"tautology": "false"}, {"tautology": "true"}],
    "train": [{"train": "train.tsv"}],
    "times": [{"times": "2+8"}],
    "three_way": [{"three_way": True}],
    "trust_gold": [{"trust_gold": True}],
    "words": [{"words": "published"}],
    "wsd": [{"wsd": "first"}, {"wsd": "lesk"}],
}
"""Values to try of each option of a suite."""

QUICK_SUITES = {
    "consistency", "hans", "hans/novel", "lexical", "lexical/antonyms-wordnet", "sample", "stress/antonymy",
    "stress/negation", "stress/numerical", "stress/spelling", "swaps/hypernyms-in-situ", "taxonomy",
}  # fmt: skip


@dataclass(frozen=True)
class Step:
    """A command whose JSON is recorded; with ``run``, also the files of the run it makes."""

    command: str
    quick: bool = False
    run: str = ""
    keeps: tuple[str, ...] = field(default=())


SMALL = "hans,stress/antonymy,stress/negation,lexical/colours,swaps/antonyms-in-situ,taxonomy"
LARGE = "hans,hans/novel,stress/*,lexical,swaps/*,taxonomy,taxonomy/tagged,consistency,sample,length-ladder"
TRAIN = "{shared}/snli/snli_1.0_train_first1000.jsonl.gz"
STEPS = [
    Step(f"run -m baseline:overlap -s {SMALL} --limit 40 -o small-overlap", True, "small-overlap"),
    Step(f"run -m reference -s {SMALL} --limit 40 -o small-reference", True, "small-reference"),
    Step("compare small-overlap small-reference", True),
    Step("report small-overlap small-reference -o small.html", True),
    Step("antonyms small-overlap small-reference --train train.tsv", True),
    Step("behaviour small-overlap small-reference --train train.tsv", True),
    Step("errors small-overlap -n 20 -o small-errors.tsv --prefill", True, keeps=("small-errors.tsv",)),
    Step("factors small-overlap small-reference --confounds label,overlap", True),
    Step("lexical small-overlap small-reference --train train.tsv --embeddings vectors.txt", True),
    Step("representations python:layered_model:layered -s train.tsv --limit 60 --permutations 19", True),
    Step("agreement votes.tsv --labels ann,ben,cleo --gold truth", True),
    Step("agreement answers.tsv --questionnaire breaking-nli -o labelled.jsonl", keeps=("labelled.jsonl",)),
    Step("audit train.tsv --against hans", True),
    Step("audit train.tsv --faithful"),
    Step("tag train.tsv -o tagged.tsv", True, keeps=("tagged.tsv",)),
    Step("taxonomy", True),
    Step("taxonomy negation"),
    Step("words --train train.tsv"),
    Step("words published"),
    Step("suites", True),
    Step("suites hans"),
    Step("train --list"),
    Step("train esim --list"),
    Step("experiment"),
    Step("generate stress/negation --union -n 20 -o union.csv", keeps=("union.csv", "union.csv.card.json")),
    Step("generate hans -n 2 -o hans.csv", keeps=("hans.csv", "hans.csv.card.json")),
    Step("score predictions.csv -s hans.tsv -o scored --column ann --column ben --missing unanswered"),
    Step("score predictions.csv -s hans.tsv -o scored-one --columns id=id,label=ann", run="scored-one"),
    Step("train naive-bayes --train train.tsv -o bayes"),
    Step("run -m zoo:bayes -s train.tsv -o bayes-run", run="bayes-run"),
    Step("train cbow --train train.tsv --limit 100 --epochs 1 --dimensions 8 --hidden 8 --device cpu -o cbow"),
    Step(f"run -m baseline:overlap -s {LARGE} --limit 200 -o overlap", run="overlap"),
    Step(f"run -m baseline:wordnet-aligned -s {LARGE} --limit 200 -o aligned", run="aligned"),
    Step(f"run -m reference -s {LARGE} --limit 200 -o reference", run="reference"),
    Step("run -m reference -s hans,hans/novel --words published,fresh --limit 100 -o words", run="words"),
    Step("run -m baseline:overlap -s hans,hans/novel --words published,fresh --limit 100 -o clean", run="clean"),
    Step("run -m reference -s sample --collapse sum --seed 3 --limit 50 -o summed", run="summed"),
    Step("run -m reference -s length-ladder --premise chunks --limit 20 -o chunks", run="chunks"),
    Step("compare overlap aligned reference"),
    Step("compare overlap aligned --by subcase --correction bh --seed 1"),
    Step("compare words --reference clean"),
    Step("antonyms overlap aligned reference"),
    Step("behaviour overlap aligned reference --train train.tsv --test fisher --literal"),
    Step("errors reference -n 50 --by genre -o errors.tsv", keeps=("errors.tsv",)),
    Step("errors overlap --suite hans -n 30 -o hans-errors.tsv"),
    Step("errors small-errors.tsv"),
    Step("errors small-errors.tsv small-errors.tsv"),
    Step("factors overlap aligned reference"),
    Step("factors overlap --prior laplace --no-lengths"),
    Step("lexical overlap aligned reference"),
    Step(f"run -m baseline:wordnet -s {{breaking_nli}},lexical --from {TRAIN} --limit 300 -o breaking", run="breaking"),
    Step(f"run -m baseline:overlap -s {{breaking_nli}},lexical --from {TRAIN} --limit 300 -o breaking-overlap"),
    Step("run -m baseline:overlap -s {taxinli} --limit 400 -o taxinli-overlap", run="taxinli-overlap"),
    Step("run -m reference -s taxinli --from {taxinli} --limit 400 -o taxinli", run="taxinli"),
    Step("factors taxinli-overlap taxinli"),
    Step(f"lexical breaking --train {TRAIN} --reference breaking-overlap"),
    Step(f"behaviour overlap --train {TRAIN}"),
    Step(f"antonyms overlap --train {TRAIN}"),
    Step("taxonomy {taxinli}"),
    Step("tag {taxinli}"),
    Step("agreement {shared}/snli/snli_1.0_dev.jsonl.gz"),
    Step("agreement {breaking_nli}"),
    Step(f"audit {TRAIN} --against hans --against {{breaking_nli}}"),
]
"""Commands in the order in which they need each other's files."""

WRONG_COMMANDS = [
    "",
    "--version",
    "--help",
    "nosuch",
    "run --limit 0",
    "run -m nosuch -s hans",
    "run -s hanss",
    "run --nosuch 1",
    "generate hans",
    "generate hans -o x.tsv --nosuch 1",
    "generate hans -o x.tsv -n 10000000",
    "generate hans -o x.nosuch",
    "generate stress/antonymy -o x.tsv --wsd nosuch",
    "score nosuch.csv -s hans",
    "score predictions.csv -s hans -o refused",
    "compare nosuch other",
    "compare small-overlap",
    "factors nosuch",
    "audit nosuch.tsv",
    "behaviour small-overlap",
    "agreement train.tsv",
    "suites nosuch",
    "words --train train.tsv",
    "export nosuch model -o x",
    "sources fetch nosuch",
    "train nosuch --train train.tsv -o x",
    "experiment nosuch",
    "annotate --store nosuch.db --progress",
]
"""Commands of which only the exit code is recorded."""

LAYERED_MODEL = """
import numpy as np

class Layered:
    fingerprint, layers, batch_size = "layered-1", ("words", "top"), 16

    def predict(self, premises, hypotheses):
        return np.full((len(premises), 3), 1 / 3)

    def representations(self, premises, hypotheses):
        layers = np.zeros((2, len(premises), 4))
        for row, (premise, hypothesis) in enumerate(zip(premises, hypotheses)):
            layers[:, row] = [len(premise), len(hypothesis), premise.count("e"), hypothesis.count("a")]
            layers[1, row, 3] = "not" in hypothesis
        return layers

layered = Layered()
"""


class NotRecordedError(Exception):
    """Why a record cannot be made on this machine."""


def run_program(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the program in the current folder."""
    return subprocess.run([sys.executable, "-m", "acidtest", *arguments], capture_output=True, text=True, check=False)


def digest(value: Any) -> str:
    """A short digest of a JSON value."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def digests(value: Any) -> list[str]:
    """Two digests of a value: one without prose, one of everything."""
    return [digest(without_prose(value)), digest(value)]


def without_prose(value: Any) -> Any:
    """A JSON value with sentences blanked, at any depth."""
    if isinstance(value, dict):
        return {key: "" if key in PROSE and is_prose(part) else without_prose(part) for key, part in value.items()}
    return [without_prose(part) for part in value] if isinstance(value, list) else value


def is_prose(value: Any) -> bool:
    """Whether a value is a text, a list of texts, or none."""
    return value is None or isinstance(value, str) or (isinstance(value, list) and all(map(is_prose, value)))


def without_volatile(value: Any) -> Any:
    """A JSON value without what differs from run to run, at any depth."""
    if isinstance(value, dict):
        return {key: without_volatile(part) for key, part in value.items() if key not in VOLATILE}
    return [without_volatile(part) for part in value] if isinstance(value, list) else value


def stable(value: Any) -> Any:
    """A JSON value without times, versions and machine paths, its numbers to ten digits."""
    text = json.dumps(without_volatile(value), ensure_ascii=False)
    for path, name in ((SHARED, "SHARED"), (ROOT, "ROOT"), (Path.cwd(), "FOLDER")):
        text = text.replace(str(path), name)
    text = re.sub(r"acidtest:\d[\w.+]*", "acidtest:VERSION", text)
    return json.loads(text, parse_float=lambda number: float(f"{float(number):.10g}"))


def digest_file(path: Path) -> dict[str, Any]:
    """The first line of a text file, its number of lines, and a digest of it."""
    content = path.read_bytes()
    first_line = content.split(b"\n", 1)[0].decode()
    return {"first": first_line, "lines": content.count(b"\n"), "digest": hashlib.blake2b(content).hexdigest()[:16]}


def prepare_files() -> None:
    """Write the small files that commands and suites read into the current folder."""
    import acidtest

    acidtest.save(acidtest.generate("sample"), "train.tsv")
    acidtest.save(acidtest.generate("hans", n=5), "hans.tsv")
    pairs, rows = read_rows("train.tsv"), read_rows("hans.tsv")
    labels = ("entailment", "neutral", "contradiction")
    votes = [
        {"premise": pair["premise"], "hypothesis": pair["hypothesis"], "truth": pair["label"]}
        | {"ann": pair["label"], "ben": labels[row % 3], "cleo": pair["label"] if row % 4 else labels[row // 4 % 3]}
        for row, pair in enumerate(pairs[:90])
    ]
    write_rows("votes.tsv", votes)
    predictions = [
        {"id": row["id"], "ann": labels[n % 3], "ben": labels[n % 2] if n % 5 else ""} for n, row in enumerate(rows)
    ]
    write_rows("predictions.csv", predictions, delimiter=",")
    questions = ("same_event", "new_information", "ungrammatical")
    answers = [
        {"item": f"p{n}", "annotator": person, "premise": pair["premise"], "hypothesis": pair["hypothesis"]}
        | {
            question: "yes" if (n * 7 + who * 3 + q * 5) % (4 + 3 * q) < 2 else "no"
            for q, question in enumerate(questions)
        }
        for n, pair in enumerate(pairs[:40])
        for who, person in enumerate(("ann", "ben", "cleo"))
    ]
    write_rows("answers.tsv", answers)
    words = sorted(
        {word for pair in pairs for word in re.findall(r"[a-z]+", pair["premise"].lower() + pair["hypothesis"])}
    )
    vectors = [
        " ".join([word, *(f"{byte / 255:.3f}" for byte in hashlib.md5(word.encode()).digest()[:6])]) for word in words
    ]
    Path("vectors.txt").write_text("\n".join(vectors) + "\n", encoding="utf-8")
    Path("swap_pairs.tsv").write_text(
        "old\tyoung\nman\twoman\nlong\tshort\nopen\tclosed\ndog\tanimal\nboy\tchild\n", encoding="utf-8"
    )
    Path("layered_model.py").write_text(LAYERED_MODEL, encoding="utf-8")


def read_rows(path: str) -> list[dict[str, str]]:
    """The rows of a TSV file that acidtest wrote."""
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def write_rows(path: str, rows: list[dict[str, str]], *, delimiter: str = "\t") -> None:
    """Write rows with a header."""
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def suite_record(name: str, options: Options | None = None, *, seed: int = 0, source: Any = None) -> Any:
    """The files that a suite is written to, as digests, with the fingerprint, labels and columns of its card."""
    import acidtest

    try:
        suite = acidtest.generate(name, n=ROWS, at_most=True, seed=seed, source=source, arguments=options or None)
    except acidtest.AcidtestError as error:
        if "needs WordNet glosses" in str(error) or "acidtest sources fetch wordnet" in str(error):
            raise NotRecordedError(
                "WordNet glosses are missing; get them with: acidtest sources fetch wordnet"
            ) from error
        return {"exit": 2, "refused": str(error)}
    return saved_record(suite)


def saved_record(suite: Any) -> Any:
    """The files that a suite is written to: rows as digests, cards in full."""
    import acidtest

    with tempfile.TemporaryDirectory() as folder:
        paths = acidtest.save(suite, Path(folder) / "suite.jsonl")
        return {
            path.name: json.loads(path.read_text(encoding="utf-8"))
            if path.name.endswith(".card.json")
            else digest_file(path)
            for path in paths
        }


def load_record(path: Path) -> Any:
    """A file as it is read, written again."""
    import acidtest

    return saved_record(acidtest.load(path)) if path.exists() else missing_data()


def suite_choices(name: str, options: Options) -> Iterator[Options]:
    """The options under which a suite is recorded, beside its defaults."""
    for option in options:
        yield from VALUES[option]
        if option == "pairs":
            yield {"pairs": "swap_pairs.tsv" if name.startswith("swaps/") else 10}
        if option == "answers":
            yield {"answers": answer_questions(name)}
    if {"words", "faithful"} <= options.keys():
        yield {"words": "published", "faithful": True}


def answer_questions(name: str) -> str:
    """A file with a label for every question that a suite of swaps asks."""
    import acidtest

    path = f"answers-{name.replace('/', '-')}.tsv"
    try:
        acidtest.save(acidtest.generate(name, n=ROWS, at_most=True, arguments={"ask": True}), "questions.tsv")
    except acidtest.AcidtestError:
        return "train.tsv"
    labels = ("entailment", "neutral", "contradiction")
    questions = enumerate(read_rows("questions.tsv"))
    write_rows(
        path,
        [{"premise": row["premise"], "hypothesis": row["hypothesis"], "label": labels[n % 3]} for n, row in questions],
    )
    return path


def suite_records(quick: bool, only: str = "") -> Iterator[tuple[str, Callable[[], Any]]]:
    """Every suite: two seeds and every option on the starter corpus, then the shared corpora."""
    import acidtest

    def record(
        name: str, options: Options, seed: int, corpus: str = "", source: Any = None
    ) -> tuple[str, Callable[[], Any]]:
        words = [name, *(f"{option}={value}" for option, value in options.items()), *([f"seed={seed}"] if seed else [])]
        key = " ".join([*words, *([f"from={corpus}"] if corpus else [])])
        return key, partial(suite_record, name, options, seed=seed, source=source)

    suites = json.loads(run_program("suites", "--json").stdout)
    for name, facts in suites.items():
        if quick and name not in QUICK_SUITES:
            continue
        yield record(name, {}, 0)
        if not quick:
            yield record(name, {}, 1)
            # The whole lexical suite stands for the options of its categories.
            choices = [] if name.startswith("lexical/") else list(suite_choices(name, facts["options"]))
            unique = {json.dumps(choice): choice for choice in choices}
            for choice in unique.values():
                yield record(name, choice, 0)
    if quick:
        return
    for corpus, path in CORPORA.items():
        if not path.exists():
            yield f"from={corpus}", missing_data
            continue
        source = acidtest.load(path)
        for name, facts in suites.items():
            is_category = name.startswith("lexical/")
            if facts["source"] in ("pairs", "sentences") and not (is_category and corpus != "sick"):
                yield record(name, {"by": "label"} if name == "sample" else {}, 0, corpus, source)
                if not is_category:
                    yield record(name, {"by": "label"} if name == "sample" else {}, 1, corpus, source)
    for corpus, path in (CORPORA | FILES).items():
        if corpus != "aqua":
            yield f"load {corpus}", partial(load_record, path)
    for name, corpus in (("stress/numerical", "aqua"), ("taxinli", "taxinli"), ("taxonomy", "taxinli")):
        key, make = record(name, {}, 0, corpus, FILES[corpus])
        yield key, make if FILES[corpus].exists() else missing_data


def missing_data() -> Any:
    """Say that a record needs data that is not there."""
    raise NotRecordedError("../shared/data is missing")


def study_records(quick: bool, only: str = "") -> Iterator[tuple[str, Callable[[], Any]]]:
    """The JSON of every study, and the files of runs."""
    for step in needed_steps(only):
        if step.quick or not quick:
            yield step.command, partial(step_record, step)


def needed_steps(only: str) -> list[Step]:
    """The steps whose command has a text, and the earlier ones that write what they read."""
    needed: list[Step] = []
    read: set[str] = set()
    for step in reversed(STEPS):
        words = step.command.replace("-m reference", "").split()
        output = words[words.index("-o") + 1] if "-o" in words else None
        if only in step.command or output in read:
            needed.append(step)
            read.update(word.removeprefix("zoo:") for word in words if word != output)
    return needed[::-1]


def step_record(step: Step) -> Any:
    """What one command prints and writes."""
    if "{" in step.command and not SHARED.is_dir():
        missing_data()
    command = step.command.format(shared=SHARED, **FILES)
    result = run_program(*shlex.split(command), "--json", "--quiet")
    record: dict[str, Any] = {"exit": result.returncode}
    if result.returncode in (0, 1):
        record["output"] = json.loads(result.stdout)
    else:
        record["refused"] = result.stderr.strip().splitlines()[-1:]
    if step.run:
        record |= {
            name: json.loads((Path(step.run) / name).read_text(encoding="utf-8"))
            for name in ("results.json", "run.json")
        }
        record["files"] = sorted(path.name for path in Path(step.run).iterdir())
        record["predictions"] = predictions_record(Path(step.run) / "predictions.parquet")
    return record | {name: digest_file(Path(name)) for name in step.keeps}


def predictions_record(path: Path) -> Any:
    """The columns of a run's predictions, and a digest of the rows with numbers to six digits."""
    import polars as pl
    import polars.selectors as cs

    frame = pl.read_parquet(path)
    rows = frame.with_columns(cs.float().round(6)).write_ndjson().encode()
    return {
        "columns": {name: str(kind) for name, kind in frame.schema.items()},
        "rows": hashlib.blake2b(rows).hexdigest()[:16],
    }


def option_records(quick: bool, only: str = "") -> Iterator[tuple[str, Callable[[], Any]]]:
    """The options of every command and the exit codes of wrong commands."""
    yield "exported names", exported_names
    for name, parameters in command_parameters().items():
        yield f"options of {name}", partial(dict, parameters)
    if not quick:
        for command in WRONG_COMMANDS:
            yield f"exit of: {command}", partial(exit_record, command)


def exit_record(command: str) -> Any:
    """The exit code of a command."""
    return {"exit": run_program(*shlex.split(command)).returncode}


def exported_names() -> list[str]:
    """The names that ``acidtest`` promises."""
    import acidtest

    return sorted(acidtest.__all__)


def command_parameters() -> dict[str, dict[str, Any]]:
    """The options and arguments of each command, read off the commands that ``--help`` builds."""
    import typer.core

    from acidtest.cli import main
    from acidtest.cli.app import command, leaf_commands

    contexts: list[Any] = []

    def keep_context(command: Any, context: Any, formatter: Any) -> None:
        contexts.append((command, context))

    def parameters(*words: str) -> dict[str, Any]:
        contexts.clear()
        with contextlib.redirect_stdout(io.StringIO()):
            main([*words, "--help"])
        command, context = contexts[-1]
        named = [parameter for parameter in command.get_params(context) if parameter.name != "help"]
        return dict(map(describe_parameter, named))

    with (
        mock.patch.object(typer.core.TyperCommand, "format_help", keep_context),
        mock.patch.object(typer.core.TyperGroup, "format_help", keep_context),
    ):
        return {"acidtest": parameters()} | {name: parameters(*name.split()) for name in leaf_commands(command())}


def describe_parameter(parameter: Any) -> Record:
    """The flags of an option or the name of an argument, with the setting that it is in files and variables."""
    flags = sorted([*parameter.opts, *parameter.secondary_opts])
    many = bool(getattr(parameter, "multiple", False)) or parameter.nargs == -1
    if not flags[0].startswith("-"):
        return f"argument {parameter.name}", {"required": bool(parameter.required), "many": many}
    is_flag = bool(getattr(parameter, "is_flag", False) or getattr(parameter, "count", False))
    facts = {"setting": parameter.name, "variable": parameter.envvar, "required": bool(parameter.required)}
    return " ".join(flags), facts | {"many": many, "flag": is_flag}


PARTS: dict[str, Callable[[bool, str], Iterator[tuple[str, Callable[[], Any]]]]] = {
    "suites": suite_records,
    "studies": study_records,
    "options": option_records,
}


def make_records(part: str, *, quick: bool = False, only: str = "") -> tuple[dict[str, Any], dict[str, str]]:
    """The records of a part by key, and why others are left out."""
    records: dict[str, Any] = {}
    left_out: dict[str, str] = {}
    started = time.monotonic()
    for key, make in PARTS[part](quick, only):
        if only not in key and part != "studies":
            continue
        try:
            records[key] = stable(make())
        except NotRecordedError as reason:
            left_out[key] = str(reason)
    seconds = time.monotonic() - started
    print(f"{part}: {len(records)} records, {len(left_out)} left out, {seconds:.0f} s", file=sys.stderr)
    return records, left_out


def differences(old: Any, new: Any, path: str = "") -> Iterator[str]:
    """Where two JSON values differ, with both values."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            if key not in new or key not in old:
                yield f"{path}/{key}: {'added' if key not in old else 'removed'}: {shorten(new.get(key, old.get(key)))}"
            else:
                yield from differences(old[key], new[key], f"{path}/{key}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for n, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from differences(before, after, f"{path}/{n}")
    elif old != new:
        yield f"{path}: {shorten(old)} -> {shorten(new)}"


def shorten(value: Any) -> str:
    """A value as JSON, cut at 100 characters."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 100 else text[:97] + "..."


def read_json(path: Path) -> Any:
    """A JSON file, or an empty object where there is none."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file, and its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")


def write_digests(value: dict[str, dict[str, list[str]]]) -> None:
    """Write the digests, one line for each record."""
    parts = []
    for part, keys in sorted(value.items()):
        lines = [f"  {json.dumps(key, ensure_ascii=False)}: {json.dumps(pair)}" for key, pair in sorted(keys.items())]
        parts.append(f' "{part}": {{\n' + ",\n".join(lines) + "\n }")
    DIGESTS.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def record_parts(parts: list[str], *, quick: bool = False, only: str = "") -> int:
    """Accept what there is now; records that cannot be made here keep their digests."""
    for part in parts:
        records, left_out = make_records(part, quick=quick, only=only)
        known = read_json(DIGESTS)
        kept = {key: value for key, value in known.get(part, {}).items() if key in left_out or quick or only}
        known[part] = kept | {key: digests(value) for key, value in records.items()}
        recorded = read_json(RECORDED / f"{part}.json")
        kept_values = {key: value for key, value in recorded.items() if key in known[part]}
        write_json(RECORDED / f"{part}.json", kept_values | records)
        write_digests(known)
    return 0


def check_parts(parts: list[str], *, quick: bool = False, only: str = "", prose: bool = False, most: int = 5) -> int:
    """Compare with what was recorded; 1 when something differs."""
    known, failed = read_json(DIGESTS), 0
    for part in parts:
        records, left_out = make_records(part, quick=quick, only=only)
        write_json(CHECKED / f"{part}.json", records)
        recorded = read_json(RECORDED / f"{part}.json")
        expected = known.get(part, {})
        for key, value in records.items():
            now, before = digests(value), expected.get(key)
            if now == before:
                continue
            is_prose_only = before is not None and now[0] == before[0]
            failed += prose or not is_prose_only
            print(f"{part}: {key}: {'new' if before is None else 'prose differs' if is_prose_only else 'differs'}")
            if before is None:
                continue
            if key in recorded and digests(recorded[key]) == before:
                both = (recorded[key], value)
                lines = list(differences(*(both if is_prose_only else (without_prose(side) for side in both))))
                print("".join(f"    {line}\n" for line in lines[:most]), end="")
                print(f"    … {len(lines) - most} more\n" if len(lines) > most else "", end="")
            else:
                print(f"    its recorded value is not in {RECORDED.relative_to(ROOT)}")
        missing = sorted(expected.keys() - records.keys() - left_out.keys()) if not quick and not only else []
        failed += len(missing)
        for key in missing:
            print(f"{part}: {key}: no longer there")
        for reason in sorted(set(left_out.values())):
            print(f"{part}: left out {sum(why == reason for why in left_out.values())}: {reason}")
    print(f"{failed} of the records differ" if failed else "nothing differs")
    return int(failed > 0)


@contextlib.contextmanager
def working_folder() -> Iterator[Path]:
    """An empty folder with the files that records need, in which nothing of the user's settings holds."""
    before, environment = Path.cwd(), dict(os.environ)
    for name in [name for name in os.environ if name.startswith("ACIDTEST_")]:
        del os.environ[name]
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"ACIDTEST_CACHE_FOLDER": f"{folder}/cache", "COLUMNS": "100"}
        if (ROOT / "build" / "resources").is_dir():
            os.environ["ACIDTEST_DATA"] = str(ROOT / "build" / "resources")
        os.chdir(folder)
        try:
            prepare_files()
            yield Path(folder)
        finally:
            os.chdir(before)
            os.environ.clear()
            os.environ.update(environment)


def main() -> int:
    """Record or check some parts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("action", choices=["record", "check"])
    parser.add_argument("parts", nargs="*", metavar="PART", help="suites, studies, options; default: all")
    parser.add_argument("--fast", action="store_true", help="a subset of the records that takes under a minute")
    parser.add_argument("--only", default="", metavar="TEXT", help="records whose key has this text")
    parser.add_argument("--prose", action="store_true", help="let differences in notes and texts fail, too")
    parser.add_argument("--most", type=int, default=5, help="differences shown of a record (5)")
    options = parser.parse_args()
    unknown = set(options.parts) - PARTS.keys()
    if unknown:
        parser.error(f"no part called {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    parts = options.parts or list(PARTS)
    with working_folder():
        if options.action == "record":
            return record_parts(parts, quick=options.fast, only=options.only)
        return check_parts(parts, quick=options.fast, only=options.only, prose=options.prose, most=options.most)


if __name__ == "__main__":
    sys.exit(main())
