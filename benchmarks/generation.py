"""Generation of HANS: our columns with all parses against plain Python that fills the same templates.

A larger suite is then made and written to a file in a process of its own, for seconds and peak memory.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import tempfile
import time
from collections import Counter
from pathlib import Path

from race import parse_options, peak_megabytes, race, report, run_step, timing_rows

import acidtest
from acidtest.io.wordlists import packaged_table
from acidtest.pairs.hans import compile_templates, vocabulary
from acidtest.suites.catalogue import SUITES, Request

SEED = 0
ROWS = 1_000
PUBLISHED = {"words": "published"}


def plain_python(rows: int) -> list[tuple[str, str, str, str]]:
    """Id, premise, hypothesis and subcase, made as the released script does: random words, repeats rejected."""
    rng = random.Random(SEED)
    compiled = compile_templates("published", "published")
    lists = vocabulary("published").lists
    slots = {
        slot: [word for name in names.split() for word in lists[name]]
        for slot, names in packaged_table("hans/slots.tsv").iter_rows()
    }
    facts = compiled.facts.to_dicts()
    pairs = []
    for number, subcase in enumerate(compiled.subcases):
        variants = compiled.variants(number).tolist()
        weights = [float(compiled.grammar.share[variant]) for variant in variants]
        seen: set[tuple[str, str]] = set()
        while len(seen) < rows:
            variant = rng.choices(variants, weights)[0]
            fact = facts[compiled.grammar.template[variant]]
            premise, hypothesis = (side.split() for side in compiled.grammar.names[variant].split(" -> "))
            words = {token: rng.choice(slots[re.match("[A-Z]+", token)[0]]) for token in premise if token[0].isupper()}
            lemmas = [word.lemma or word.text for word in words.values()]
            exclusive = [words[name] for name in fact["unless_excluded"].split() if name in words]
            if len(set(lemmas)) < len(lemmas) or (len(exclusive) == 2 and exclusive[1].text in exclusive[0].excludes):
                continue
            texts = {token: word.text for token, word in words.items()}
            pair = tuple(sentence([texts.get(token, token) for token in side]) for side in (premise, hypothesis))
            if pair not in seen:
                seen.add(pair)
                text = "\x1f".join(("hans", *pair, fact["label"]))
                pairs.append((hashlib.blake2b(text.encode(), digest_size=8).hexdigest(), *pair, subcase))
    return pairs


def sentence(words: list[str]) -> str:
    """Words as a sentence with a capital and no space before punctuation."""
    text = " ".join(words).replace(" .", ".").replace(" ,", ",")
    return text[0].upper() + text[1:]


def vocabulary_of(sentences: list[str]) -> set[str]:
    """Different words of some sentences, in lower case."""
    return {word for text in sentences for word in re.findall("[a-z]+", text.lower())}


def make_large(rows: int) -> dict[str, float]:
    """Make and write a suite of so many rows per subcase, in this process."""
    before, start = peak_megabytes(), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        suite = acidtest.generate("hans", n=rows, at_most=True)
        made = time.perf_counter() - start
        path = Path(folder) / "hans.parquet"
        acidtest.save(suite, path)
        written = time.perf_counter() - start
        size = path.stat().st_size / 2**20
    return {
        "pairs": suite.card.rows,
        "seconds until checked": made,
        "seconds until written": written,
        "MB before": before,
        "MB at most": peak_megabytes(),
        "MB of Parquet": size,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--step", choices=["large"], help=argparse.SUPPRESS)
    options = parse_options(parser, rows=(10_000, 100_000))
    if options.step:
        print(json.dumps(make_large(options.rows)))
        return
    timings = race(
        {
            "acidtest: pairs, four parses each, ids, factors": lambda: (
                SUITES["hans"].make(Request(seed=SEED), words="published").frame.collect()
            ),
            "acidtest: also fingerprinted and checked": lambda: acidtest.generate(
                "hans", seed=SEED, arguments=PUBLISHED
            ),
            "plain Python: same templates, ids, no parses": lambda: plain_python(ROWS),
        }
    )
    columns, _, loop = (timing.output for timing in timings.values())
    assert Counter(columns["subcase"]) == Counter(subcase for *_, subcase in loop)
    assert vocabulary_of(columns["premise"].to_list()) == vocabulary_of([premise for _, premise, *_ in loop])
    assert columns["id"].n_unique() == len({identifier for identifier, *_ in loop}) == 30 * ROWS
    report("generation", timing_rows(timings))
    report("generation_large", [run_step(__file__, "--step", "large", "--rows", options.rows)])


if __name__ == "__main__":
    main()
