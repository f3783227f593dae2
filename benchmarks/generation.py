"""HANS, 30 x 1,000 pairs: our columns against a plain-Python filling of the same templates."""

from __future__ import annotations

import hashlib
import random
import re
from collections import Counter

from race import median_seconds, told

from acidtest import api
from acidtest.generators.hans.hans import compiled
from acidtest.sources.wordlists import packaged_table

SEED = 0


def word_lists() -> tuple[dict[str, list[str]], dict[str, str]]:
    """The words of every slot, and the singular of every plural noun."""
    table = packaged_table("hans/words_published.tsv").filter(only="")
    lists = dict(table.group_by("list").agg("word").iter_rows())
    slots = packaged_table("hans/slots.tsv").iter_rows()
    singular = {word: lemma for _, word, lemma, _ in table.iter_rows() if lemma}
    return {slot: [word for name in names.split() for word in lists[name]] for slot, names in slots}, singular


def plain_python(rows: int) -> list[tuple[str, str, str, str]]:
    """Pairs the way the released script makes them: a random template, a random word per slot, reject repeats."""
    rng = random.Random(SEED)
    plan = compiled("published", False)
    slots, singular = word_lists()
    implied = set(packaged_table("hans/implications.tsv").iter_rows())
    facts = plan.facts.to_dicts()
    made = []
    for number, subcase in enumerate(plan.subcases):
        variants = plan.variants(number).tolist()
        weights = [float(plan.grammar.share[v]) for v in variants]
        seen: set[tuple[str, str]] = set()
        while len(seen) < rows:
            variant = rng.choices(variants, weights)[0]
            fact = facts[plan.grammar.template[variant]]
            premise, hypothesis = (part.split() for part in plan.grammar.names[variant].split(" -> "))
            words = {token: rng.choice(slots[re.match("[A-Z]+", token)[0]]) for token in premise if token[0].isupper()}
            lemmas = [singular.get(word, word) for word in words.values()]
            verbs = fact["unless_implied"].split()
            if len(set(lemmas)) < len(lemmas) or (verbs and (words[verbs[0]], words[verbs[1]]) in implied):
                continue
            pair = tuple(sentence([words.get(token, token) for token in side]) for side in (premise, hypothesis))
            if pair not in seen:
                seen.add(pair)
                text = "\x1f".join(("hans", *pair, fact["label"]))
                made.append((hashlib.blake2b(text.encode(), digest_size=8).hexdigest(), *pair, subcase))
    return made


def sentence(words: list[str]) -> str:
    text = " ".join(words).replace(" .", ".").replace(" ,", ",")
    return text[0].upper() + text[1:]


def vocabulary(sentences: list[str]) -> set[str]:
    return {word for text in sentences for word in re.findall("[a-z]+", text.lower())}


def main() -> None:
    ours = api.generate("hans", seed=SEED).frame.collect()
    theirs = plain_python(1000)
    assert Counter(ours["subcase"]) == Counter(row[3] for row in theirs)
    assert vocabulary(ours["premise"].to_list()) == vocabulary([row[1] for row in theirs])
    assert ours["id"].n_unique() == len({row[0] for row in theirs}) == 30_000

    def columns() -> object:
        from acidtest.suites.catalogue import SUITES, Request

        return SUITES["hans"].make(Request(seed=SEED)).frame.collect()

    fast = median_seconds(columns, times=15)
    sealed = median_seconds(lambda: api.generate("hans", seed=SEED), times=9)
    slow = median_seconds(lambda: plain_python(1000))
    told(
        "generation",
        [
            {"what": "acidtest, pairs, ids and factors in memory", "seconds": fast, "ratio": 1.0},
            {"what": "acidtest, also fingerprinted and checked", "seconds": sealed, "ratio": sealed / fast},
            {"what": "plain Python, same templates, ids", "seconds": slow, "ratio": slow / fast},
        ],
    )


if __name__ == "__main__":
    main()
