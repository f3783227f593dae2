"""Every stress suite on real corpora: how many pairs, in what time, and why antonymy leaves words as they are.

Corpora are NLI files (arguments; else MultiNLI's matched and SNLI's development set beside the repository).
"""

from __future__ import annotations

import sys
from pathlib import Path

from race import median_seconds, told

from acidtest import api
from acidtest.suites.catalogue import SUITES, Request

DATA = Path(__file__).parents[2] / "shared" / "data"
FILES = (DATA / "mnli" / "mnli_dev_matched.tsv", DATA / "snli" / "snli_1.0_dev.jsonl.gz")


def main() -> None:
    files = [Path(name) for name in sys.argv[1:]] or [path for path in FILES if path.exists()]
    rows, left_out = [], []
    for path in files:
        corpus = api.load(path)
        for name in (name for name in SUITES if name.startswith("stress/")):
            suite = SUITES[name](Request(source=corpus))
            seconds = median_seconds(
                lambda name=name, corpus=corpus: SUITES[name].make(Request(source=corpus)).frame.collect()
            )
            whole = median_seconds(lambda name=name, corpus=corpus: api.generate(name, source=corpus))
            rows.append(
                {
                    "corpus": corpus.name,
                    "suite": name,
                    "pairs": suite.card.rows,
                    "made, s": seconds,
                    "pairs/s": round(suite.card.rows / seconds),
                    "sealed and checked too, s": whole,
                }
            )
            if name == "stress/antonymy":
                left_out += [
                    {"corpus": corpus.name, "reason": reason, "words": number}
                    for reason, number in suite.card.left_out.items()
                ]
    told("stress", rows)
    told("stress_antonymy", left_out)


if __name__ == "__main__":
    main()
