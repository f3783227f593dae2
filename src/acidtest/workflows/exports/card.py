"""The results of a run as a model hub reads them: ``.eval_results/*.yaml``, and ``model-index`` in a README."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.escaping import escape_control, escape_markdown
from acidtest.core.estimate import Estimate
from acidtest.core.files import refuse_overwrite, write_text
from acidtest.core.serialise import to_yaml
from acidtest.suites.dataset_cards import hub_name
from acidtest.workflows.exports import export_format
from acidtest.workflows.runs import Finished, finished_run

ENTRIES = Path(".eval_results") / "acidtest.yaml"
README = "README.md"

MARK = "# written by acidtest"
"""A comment by which files and parts of files are recognised that may be written anew."""

SUITE = "{suite}"
"""Stands for the name of a suite in the name of its data set."""

_HEADER = re.compile(r"---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.MULTILINE | re.DOTALL)
_MODEL_INDEX = re.compile(r"^model-index:.*\n(?:(?:[ \t-].*)?\n)*", re.MULTILINE)


@dataclass(frozen=True)
class ModelCardFiles:
    """The files that were written, and the entries of the first."""

    run: Path
    files: tuple[Path, ...]
    entries: tuple[Mapping[str, Any], ...]
    skipped: tuple[str, ...] = ()
    """Suites without an entry: they have pairs for which every answer is right."""

    def describe(self) -> str:
        datasets = ", ".join(dict.fromkeys(str(entry["dataset"]["id"]) for entry in self.entries))
        notes = [f"results on the data sets {datasets}, which must be on the hub (--dataset names others)"]
        if self.skipped:
            notes.append(f"left out {', '.join(self.skipped)}: every answer is right on some of its pairs")
        return "\n".join(map(escape_control, [*notes, *(f"wrote {path}" for path in self.files)]))

    def to_json(self) -> dict[str, Any]:
        return {
            "format": "card",
            "run": str(self.run),
            "files": [str(path) for path in self.files],
            "results": list(self.entries),
            "skipped": list(self.skipped),
        }


@export_format("card")
def card(
    run: Annotated[Path, "The folder of the run."],
    *,
    output: Annotated[Path | None, "The folder of the model's repository; else card in the run's folder.", "-o"] = None,
    dataset: Annotated[str, "OWNER/NAME of a suite's data set on the hub; {suite} is the suite."] = f"acidtest/{SUITE}",
    source_url: Annotated[str, "The address of a page with these results."] = "",
) -> ModelCardFiles:
    """Write the accuracies of a run for the page of a model on the Hugging Face hub.

    .eval_results/acidtest.yaml has an entry for each suite, README.md the same in its older model-index. A README that
    is there keeps everything else; a model-index of somebody else is never replaced.
    """
    finished = finished_run(run)
    known = [name for name, result in finished.scored.suites.items() if result.overall.known]
    skipped = tuple(sorted(_suites_with_open_gold(finished) & set(known)))
    names = [name for name in known if name not in skipped]
    if not names:
        reason = f"every answer is right on some pairs of {', '.join(skipped)}" if skipped else "no pair has gold"
        raise AcidtestError(f"{run} has no accuracy to write: {reason}")
    if not re.fullmatch(r"[\w.-]+/[\w.{}-]+", dataset):
        raise AcidtestError(f"--dataset {dataset!r} is not OWNER/NAME, such as me/acidtest-{SUITE}")
    if SUITE not in dataset and len(names) > 1:
        example = f"{dataset}-{SUITE}"
        raise AcidtestError(f"--dataset {dataset!r} names one data set for {len(names)} suites; write {example}")
    folder = output or run / "card"
    entries = tuple(_entry(finished, name, dataset, source_url) for name in names)
    files = {
        folder / ENTRIES: f"{MARK}\n{to_yaml(entries)}",
        folder / README: _readme(
            folder / README, finished, {name: _result(finished, name, dataset, source_url) for name in names}
        ),
    }
    refuse_overwrite(folder / ENTRIES, is_ours=lambda path: path.read_text(encoding="utf-8").startswith(MARK))
    for path, text in files.items():
        write_text(path, text)
    return ModelCardFiles(run, tuple(files), entries, skipped)


def _suites_with_open_gold(finished: Finished) -> set[str]:
    """Suites that have pairs for which every answer is right, such as premises: their accuracy means little."""
    rows = finished.run.frame.lazy().select("suite", "label").collect()
    return set(rows.filter(rows["label"] == "any")["suite"].unique())


def _entry(finished: Finished, suite: str, dataset: str, source: str) -> dict[str, Any]:
    """The accuracy on a suite as an entry of .eval_results."""
    header, estimate = finished.run.header, finished.scored.suites[suite].overall
    return {
        "dataset": {"id": dataset.replace(SUITE, hub_name(suite)), "task_id": hub_name(suite)},
        "value": round(estimate.value, 4),
        **({"date": header.finished} if header.finished else {}),
        **({"source": {"url": source, "name": "acidtest"}} if source else {}),
        "notes": "; ".join([*_interval(estimate), header.signature(suite)]),
    }


def _interval(estimate: Estimate) -> list[str]:
    counted = f"n = {estimate.n}"
    if estimate.low != estimate.low:
        return [f"accuracy, {counted}"]
    return [f"accuracy, 95 % interval {estimate.low:.4f} to {estimate.high:.4f}, {counted}"]


def _result(finished: Finished, suite: str, dataset: str, source: str) -> dict[str, Any]:
    """The accuracies on a suite as a result of model-index: overall, and by gold where that is two-way."""
    result = finished.scored.suites[suite]
    metrics = [{"type": "accuracy", "value": round(result.overall.value, 4), "name": "accuracy"}]
    by_gold = result.by.get("label", {})
    if "non-entailment" in by_gold:
        metrics += [
            {"type": "accuracy", "value": round(estimate.value, 4), "name": f"accuracy where gold is {gold}"}
            for gold, estimate in by_gold.items()
            if estimate.known
        ]
    return {
        "task": {"type": "text-classification", "name": "Natural Language Inference"},
        "dataset": {
            "type": dataset.replace(SUITE, hub_name(suite)),
            "name": f"acidtest {suite}",
            "split": "test",
            "args": {"signature": finished.run.header.signature(suite)},
        },
        "metrics": metrics,
        **({"source": {"url": source, "name": "acidtest"}} if source else {}),
    }


def _readme(path: Path, finished: Finished, results: Mapping[str, dict[str, Any]]) -> str:
    """The README that is there with our model-index in its header, or a new one."""
    header = finished.run.header
    name = header.name or header.model.name.rpartition(":")[2].rpartition("/")[2] or header.model.name
    index = to_yaml({"model-index": [{"name": name, "results": list(results.values())}]})
    index = index.replace("model-index:", f"model-index: {MARK}", 1)
    if path.is_symlink():
        refuse_overwrite(path)
    if path.exists():
        return _insert_index(path, index)
    tags = to_yaml({"pipeline_tag": "text-classification", "tags": ["natural-language-inference"]})
    return f"---\n{tags}{index}---\n\n# {escape_markdown(name)}\n\n{_table(finished, list(results))}"


def _insert_index(path: Path, index: str) -> str:
    text = path.read_text(encoding="utf-8")
    match = _HEADER.match(text)
    inside, rest = (match[1], text[match.end() :]) if match else ("", f"\n{text}")
    earlier = _MODEL_INDEX.search(inside)
    if earlier:
        if MARK not in earlier[0].partition("\n")[0]:
            raise FileError(path, "has a model-index that acidtest did not write; remove it, or choose another -o")
        inside = inside[: earlier.start()] + inside[earlier.end() :]
    return f"---\n{inside}{index}---\n{rest}"


def _table(finished: Finished, names: Sequence[str]) -> str:
    """The accuracies in Markdown, with the headline of the run."""
    rows = []
    for name in names:
        estimate = finished.scored.suites[name].overall
        interval = f"{100 * estimate.low:.1f}–{100 * estimate.high:.1f}"
        rows.append(f"| {escape_markdown(name)} | {100 * estimate.value:.1f} | {interval} | {estimate.n:,} |")
    headline = escape_markdown(finished.scored.headline)
    table = ["| suite | accuracy, % | 95 % interval | pairs |", "|---|---|---|---|", *rows]
    return "\n".join(["## Asked by acidtest", "", headline, "", *table, ""])
