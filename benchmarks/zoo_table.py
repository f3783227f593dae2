"""Tables of what many trained networks say of the whole battery, beside the papers' numbers, as Markdown.

    PYTHONPATH=src python benchmarks/zoo_table.py PAIRS.parquet ANSWERS SUITE…

PAIRS are the pairs that ``zoo_answers.py`` asked, ANSWERS its folder with a file ``ARCHITECTURE-SEED.npz`` for each
network, SUITE files of pairs with gold labels, all of whose pairs stand in PAIRS. Cells are means over seeds with the
standard deviation where there are several; published values stand below, in italics.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import polars as pl
from scipy.stats import spearmanr

from acidtest import api
from acidtest.core.labels import masks
from acidtest.io.published import CORPUS, MATCHED, published_scores

PAIR = ["premise", "hypothesis"]
HEURISTICS = ("lexical_overlap", "subsequence", "constituent")
LABELS = {"entailment": "→", "non-entailment": "↛"}
STRESS: dict[str, dict[str, str]] = {
    "antonymy": {},
    "numerical": {},
    "word-overlap": {},
    "negation": {},
    "length-mismatch": {},
    "spelling": {"edit": "adjacent", "target": "content"},
}
"""Stress tests, and the rows of each of which the paper's numbers are."""
CHANGED = [name for name in STRESS if name not in ("antonymy", "numerical")]
"""Those made of pairs that are asked untouched, too."""
UNTOUCHED = "mnli_dev_matched"
BREAKING = "breaking-nli"
SYSTEMS = {
    "cbow": "CBOW",
    "bilstm": "BiLSTM (Nangia et al. 2017)",
    "infersent": "Conneau et al. (2017), InferSent",
    "shortcut-stacked": "Nie and Bansal (2017)",
    "residual-stacked": "Residual-Stacked-Encoder",
    "gated-attention": "Chen et al. (2017)",
    "river-corners": "Balazs et al. (2017), RiverCorners",
    "conditional-encoder": "Conditional Encoder",
    "decomposable-attention": "Decomposable Attention",
    "esim": "ESIM",
    "kim": "KIM",
    "spinn": "SPINN",
    "bert": "BERT",
    "naive-bayes": "naive Bayes",
}

Right = dict[str, pl.DataFrame]
"""For each suite its rows with the columns right (of one network), heuristic, category and label where it has them."""


def rights(path: Path, suites: dict[str, pl.DataFrame]) -> Right:
    """Which pairs a network answers rightly."""
    answered = np.load(path)["said"].astype(np.float32).argmax(axis=1)
    found = {}
    for name, frame in suites.items():
        gold = masks(frame["label"].to_list())
        found[name] = frame.with_columns(right=(gold >> answered[frame["row"].to_numpy()]) & 1 == 1)
    return found


def share(frame: pl.DataFrame, *conditions: pl.Expr) -> float:
    """Per cent right of the rows that fit."""
    return 100 * float(np.mean(frame.filter(*conditions)["right"].to_numpy()))


def cell(values: Sequence[float]) -> str:
    """A mean, with the standard deviation over seeds."""
    spread = f" ± {np.std(values, ddof=1):.1f}" if len(values) > 1 else ""
    return f"{np.mean(values):.1f}{spread}".replace("-", "−")


def stressed(each: Right, name: str) -> pl.DataFrame:
    """The rows of a stress test that the paper has, too."""
    return each[f"stress/{name}"].filter(**STRESS[name])


def lost(each: Right, name: str) -> float:
    """Points that a stress test takes from the same pairs untouched."""
    changed = stressed(each, name)
    before = changed.select(id="base_id").join(each[UNTOUCHED], on="id", how="inner")
    assert before.height == changed.height, "a pair is not asked untouched"
    return share(changed) - share(before)


def published(name: str, suite: str, **by: str) -> float | None:
    """What a paper says of an architecture."""
    for score in published_scores(suite):
        wanted = by | ({CORPUS: MATCHED} if CORPUS in score.by else {})
        if (score.system, score.condition, score.by) == (SYSTEMS[name], "", wanted):
            return 100 * score.value
    return None


def published_loss(name: str, part: str) -> float | None:
    """Points that a stress test takes, in the paper."""
    before, after = published(name, "mnli"), published(name, f"stress/{part}", **STRESS[part])
    return None if before is None or after is None else after - before


def table(title: str, columns: Sequence[str], networks: dict[str, list[Right]],
          cells: Callable[[Right], list[float]], papers: Callable[[str], list[float | None]]) -> None:  # fmt: skip
    """Print a table, a row for each architecture and one below for what a paper says of it."""
    print(f"\n### {title}\n\n| | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")
    for name, seeds in networks.items():
        found = np.array([cells(each) for each in seeds])
        print(f"| `{name}` | {' | '.join(cell(column) for column in found.T)} |")
        told = ["" if value is None else f"*{value:.1f}*".replace("-", "−") for value in papers(name)]
        if any(told):
            print(f"| *published* | {' | '.join(told)} |")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("answers", type=Path)
    parser.add_argument("suites", type=Path, nargs="+")
    given = parser.parse_args()
    rows = pl.read_parquet(given.pairs).select(*PAIR).with_row_index("row")
    suites = {}
    for path in given.suites:
        suite = api.load(path)
        suites[suite.card.name] = suite.frame.collect().join(rows, on=PAIR, how="left", maintain_order="left")
    networks = {
        name: [rights(path, suites) for path in sorted(given.answers.glob(f"{name}-[0-9].npz"))] for name in SYSTEMS
    }
    networks = {name: seeds for name, seeds in networks.items() if seeds}
    slices = [(heuristic, label) for label in LABELS for heuristic in HEURISTICS]
    plain = {"snli": "SNLI test", "mnli": "MultiNLI matched", "lingnli": "LingNLI validation"}
    stems = {"snli": "snli_1.0_test", "mnli": UNTOUCHED, "lingnli": "val"}
    table(
        "As trained, and HANS by heuristic and correct label",
        [*plain.values(), *(f"{heuristic.replace('_', ' ')} {LABELS[label]}" for heuristic, label in slices)],
        networks,
        lambda each: [
            *(share(each[stems[name]]) for name in plain),
            *(share(each["hans"], pl.col("heuristic") == part, pl.col("label") == label) for part, label in slices),
        ],
        lambda name: [
            *(published(name, suite) for suite in plain),
            *(published(name, "hans", heuristic=part, label=label) for part, label in slices),
        ],
    )
    table(
        "Stress tests",
        list(STRESS),
        networks,
        lambda each: [share(stressed(each, name)) for name in STRESS],
        lambda name: [published(name, f"stress/{part}", **by) for part, by in STRESS.items()],
    )
    table(
        "Points won or lost against the same pairs untouched",
        CHANGED,
        networks,
        lambda each: [lost(each, name) for name in CHANGED],
        lambda name: [published_loss(name, part) for part in CHANGED],
    )
    table(
        "Words",
        ["lexical, fresh", "Breaking NLI (quarter)"],
        networks,
        lambda each: [share(each["lexical"]), share(each[BREAKING])],
        lambda name: [None, published(name, BREAKING)],
    )
    categories(networks)


def categories(networks: dict[str, list[Right]]) -> None:
    """Print Breaking NLI by category: all networks, then those of the paper beside its numbers."""
    known = (
        next(iter(networks.values()))[0][BREAKING].group_by("category").len().sort("len", "category", descending=True)
    )
    found = {
        name: np.array(
            [[share(each[BREAKING], pl.col("category") == part) for each in seeds] for part in known["category"]]
        )
        for name, seeds in networks.items()
    }
    print(f"\n### Breaking NLI by category\n\n| category | pairs | {' | '.join(f'`{name}`' for name in found)} |")
    print("|---|---|" + "---|" * len(found))
    for number, (category, count) in enumerate(known.iter_rows()):
        print(f"| {category} | {count} | {' | '.join(f'{rates[number].mean():.0f}' for rates in found.values())} |")
    papers = {name: [published(name, BREAKING, category=part) for part in known["category"]] for name in found}
    papers = {name: told for name, told in papers.items() if None not in told}
    columns = " | ".join(f"`{name}` | *published*" for name in papers)
    print(f"\n### The same beside the paper's table 4\n\n| category | {columns} |")
    print("|---|" + "---|---|" * len(papers))
    for number, category in enumerate(known["category"]):
        cells = (f"{cell(found[name][number])} | *{told[number]:.1f}*" for name, told in papers.items())
        print(f"| {category} | {' | '.join(cells)} |")
    alike = (f"{spearmanr(found[name].mean(axis=1), told).statistic:.2f} |" for name, told in papers.items())
    print(f"| rank correlation | {' | '.join(alike)} |")


if __name__ == "__main__":
    main()
