"""HANS, 30 x 1,000 pairs: our columns, parses and all, against a plain-Python filling of the same templates.

Then 30 x 100,000, written to a file as it is made: seconds and peak memory, in a process of its own.
"""

from __future__ import annotations

import hashlib
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from race import median_seconds, told

from acidtest import api
from acidtest.io.wordlists import packaged_table
from acidtest.text.hans_templates import plan
from acidtest.text.vocabulary import vocabulary

SEED = 0
PUBLISHED = {"words": "published"}
LARGE = 100_000


def plain_python(rows: int) -> list[tuple[str, str, str, str]]:
    """Pairs the way the released script makes them: a random template, a random word per slot, reject repeats."""
    rng = random.Random(SEED)
    compiled = plan("published", "published")
    lists = vocabulary("published").lists
    slots = {
        slot: [word for name in names.split() for word in lists[name]]
        for slot, names in packaged_table("hans/slots.tsv").iter_rows()
    }
    facts = compiled.facts.to_dicts()
    made = []
    for number, subcase in enumerate(compiled.subcases):
        variants = compiled.variants(number).tolist()
        weights = [float(compiled.grammar.share[v]) for v in variants]
        seen: set[tuple[str, str]] = set()
        while len(seen) < rows:
            variant = rng.choices(variants, weights)[0]
            fact = facts[compiled.grammar.template[variant]]
            premise, hypothesis = (part.split() for part in compiled.grammar.names[variant].split(" -> "))
            words = {token: rng.choice(slots[re.match("[A-Z]+", token)[0]]) for token in premise if token[0].isupper()}
            lemmas = [word.lemma or word.text for word in words.values()]
            apart = [words[name] for name in fact["unless_excluded"].split() if name in words]
            if len(set(lemmas)) < len(lemmas) or (len(apart) == 2 and apart[1].text in apart[0].excludes):
                continue
            texts = {token: word.text for token, word in words.items()}
            pair = tuple(sentence([texts.get(token, token) for token in side]) for side in (premise, hypothesis))
            if pair not in seen:
                seen.add(pair)
                text = "\x1f".join(("hans", *pair, fact["label"]))
                made.append((hashlib.blake2b(text.encode(), digest_size=8).hexdigest(), *pair, subcase))
    return made


def sentence(words: list[str]) -> str:
    text = " ".join(words).replace(" .", ".").replace(" ,", ",")
    return text[0].upper() + text[1:]


def vocabulary_of(sentences: list[str]) -> set[str]:
    return {word for text in sentences for word in re.findall("[a-z]+", text.lower())}


def large() -> None:
    """Make and write a large suite; print the seconds and the peak memory in megabytes before and after."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        suite = api.generate("hans", n=LARGE, at_most=True)
        made = time.perf_counter() - start
        api.save(suite, Path(folder) / "hans.parquet")
        size = (Path(folder) / "hans.parquet").stat().st_size / 2**20
    written = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(suite.card.rows, made, written, before, peak, size)


def main() -> None:
    ours = api.generate("hans", seed=SEED, arguments=PUBLISHED).frame.collect()
    theirs = plain_python(1000)
    assert Counter(ours["subcase"]) == Counter(row[3] for row in theirs)
    assert vocabulary_of(ours["premise"].to_list()) == vocabulary_of([row[1] for row in theirs])
    assert ours["id"].n_unique() == len({row[0] for row in theirs}) == 30_000

    def columns() -> object:
        from acidtest.suites.catalogue import SUITES, Request

        return SUITES["hans"].make(Request(seed=SEED), words="published").frame.collect()

    fast = median_seconds(columns, times=15)
    sealed = median_seconds(lambda: api.generate("hans", seed=SEED, arguments=PUBLISHED), times=9)
    slow = median_seconds(lambda: plain_python(1000))
    told(
        "generation",
        [
            {"what": "acidtest, pairs, four parses each, ids and factors", "seconds": fast, "ratio": 1.0},
            {"what": "acidtest, also fingerprinted and checked", "seconds": sealed, "ratio": sealed / fast},
            {"what": "plain Python, same templates, ids, no parses", "seconds": slow, "ratio": slow / fast},
        ],
    )
    command = [sys.executable, __file__, "large"]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    names = ("pairs", "seconds until made and checked", "and written", "MB at start", "MB at most", "MB of Parquet")
    told("generation_large", [dict(zip(names, map(float, shown), strict=True))])


if __name__ == "__main__":
    large() if sys.argv[1:] == ["large"] else main()
