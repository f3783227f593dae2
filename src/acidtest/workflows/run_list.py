"""The runs below a folder: what each is, when it was finished and what it showed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from acidtest.core.document import Column, Document, Row, Table, describe_count
from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.escaping import quote_argument
from acidtest.core.run import HEADER, JOURNAL, SCHEMA
from acidtest.core.structured import read_own_json
from acidtest.core.suite import CONTROL
from acidtest.workflows.runs import RESULTS, RUNS

UNFINISHED = "unfinished: the same command again continues it"


@dataclass(frozen=True)
class RunEntry:
    """A run folder; ``headline`` says what the run showed, or why it cannot be read."""

    folder: Path
    name: str = ""
    model: str = ""
    suites: tuple[str, ...] = ()
    pairs: int = 0
    finished: str = ""
    headline: str = ""


def list_runs(folder: str | Path = RUNS) -> list[RunEntry]:
    """The runs in the folders below one, newest first; unfinished and broken ones are last."""
    folder = Path(folder)
    if not folder.is_dir():
        raise FileError(folder, "there is no such folder; acidtest run makes runs below acidtest-runs")
    entries = [_entry(path) for path in sorted(_run_folders(folder))]
    return sorted(entries, key=lambda entry: entry.finished, reverse=True)


def describe_runs(entries: list[RunEntry], folder: str | Path) -> Document:
    """A table of runs."""
    columns = (
        Column("model", "text"),
        Column("suites", "text"),
        Column("pairs", "count"),
        Column("finished", "text"),
        Column("what it showed", "text"),
    )
    rows = tuple(
        Row(
            quote_argument(str(entry.folder)),
            (
                _describe_model(entry),
                _describe_suites(entry.suites),
                entry.pairs or None,
                entry.finished[:16],
                entry.headline,
            ),
        )
        for entry in entries
    )
    # "1 run in ..", with the full stop, would name another folder than ".".
    place = Path(folder)
    named = place.resolve() if place.name in ("", "..") else place
    headline = f"{describe_count(len(entries), 'run')} in {named}."
    return Document("acidtest runs", headline, (Table("runs", "", columns, rows, "run"),) if rows else ())


def _describe_model(entry: RunEntry) -> str:
    """The model, after the name of the run where that is not the name of its folder."""
    return f"{entry.name}: {entry.model}" if entry.name not in ("", entry.folder.name) else entry.model


def _describe_suites(suites: tuple[str, ...]) -> str:
    return ", ".join(suites) if len(suites) <= 3 else f"{', '.join(suites[:2])} and {len(suites) - 2} more"


def _run_folders(folder: Path) -> Iterator[Path]:
    """The folder itself and those below it that hold a run, or the beginning of one."""
    for path in (folder, *(part for part in folder.rglob("*") if part.is_dir())):
        if (path / HEADER).is_file() or (path / JOURNAL).exists():
            yield path


def _entry(folder: Path) -> RunEntry:
    if not (folder / HEADER).is_file():
        return RunEntry(folder, headline=UNFINISHED)
    try:
        header = read_own_json(folder / HEADER, dict[str, Any], SCHEMA)
        results = read_own_json(folder / RESULTS, dict[str, Any], SCHEMA) if (folder / RESULTS).is_file() else {}
        suites = {name: card["rows"] for name, card in header["suites"].items() if not name.endswith(CONTROL)}
        return RunEntry(
            folder,
            name=header.get("name", ""),
            model=header["model"]["name"],
            suites=tuple(suites),
            pairs=sum(suites.values()),
            finished=header.get("finished", ""),
            headline=_headline(results),
        )
    except AcidtestError as error:
        return RunEntry(folder, headline=f"cannot be read: {error}")
    except (KeyError, TypeError, AttributeError):
        return RunEntry(folder, headline=f"cannot be read: {folder / HEADER} is not one that acidtest wrote")


def _headline(results: dict[str, Any]) -> str:
    """The headline of the run, or where an older one has none, that of the profile, else the gravest finding."""
    if headline := results.get("headline"):
        return str(headline)
    if profile := results.get("profile"):
        return str(profile["headline"])
    findings = results.get("diagnosis") or []
    return str(findings[0]["text"]) if findings else ""
