"""Tables of what many trained networks answer on the whole battery, beside the papers' numbers, as Markdown.

Three steps, with hours of training between the first and the second:

    PYTHONPATH=src:tools/reference python benchmarks/zoo_results.py pairs DATA -o FOLDER
    python benchmarks/zoo_results.py answers NETWORK FOLDER/pairs.parquet -o ANSWERS/ARCHITECTURE-SEED.npz
    python benchmarks/zoo_results.py tables FOLDER/pairs.parquet ANSWERS SUITE…

``pairs`` writes pool.parquet to learn from: the pairs of the reference model (see tools/reference/pool.py), with binary
parses where a corpus has them; dev.parquet, some 2,000 of them with premises of their own, to choose the epoch; the
suites; and pairs.parquet, every pair of suites and test sets once. ``answers`` asks a trained network all these pairs.
``tables`` prints means over seeds with the standard deviation where there are several, and published values below.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import polars as pl
from race import skip
from scipy.stats import spearmanr

import acidtest
from acidtest.core.labels import gold_masks
from acidtest.core.model import model_from_spec
from acidtest.io.published import CORPUS, MATCHED, published_scores

PAIR = ["premise", "hypothesis"]
PARSES = ["premise_binary_parse", "hypothesis_binary_parse"]
EPOCH_PAIRS = 2000
"""Pairs at most that choose the epoch."""
EDITED = "cad/train.tsv"
"""Pairs that are edits of each other, on both sides: none of them chooses the epoch."""
SUITES = {
    "hans": ("", 300),
    "lexical": ("snli", None),
    "stress/antonymy": ("mnli", None),
    "stress/numerical": ("", None),
    "stress/word-overlap": ("mnli", 2500),
    "stress/negation": ("mnli", 2500),
    "stress/length-mismatch": ("mnli", 2500),
    "stress/spelling": ("mnli", 700),
}
"""Suites, the test set that each is made from, and how many pairs of that or of each subcase."""
BATCH = 16_384
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
"""Stress tests, and the rows of each that the paper reports."""
CHANGED = [name for name in STRESS if name not in ("antonymy", "numerical")]
"""Stress tests whose pairs are also asked untouched."""
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

Scored = dict[str, pl.DataFrame]
"""The rows of each suite with a column ``correct`` for one network, and the suite's own columns."""


def with_parses(frame: pl.DataFrame) -> pl.DataFrame:
    """Pairs with their label, if they have one, and their parses, null where the frame has none."""
    parses = [pl.col(name) if name in frame.columns else pl.lit(None, pl.String).alias(name) for name in PARSES]
    return frame.select(*PAIR, *(["label"] if "label" in frame.columns else []), *parses)


def load_pairs(path: Path) -> pl.DataFrame:
    """The pairs of a file, with parses."""
    return with_parses(acidtest.load(path).frame.collect())


def split_pool(pool: pl.DataFrame, edited: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Pairs to learn from and pairs to choose the epoch, which share no premise."""
    edited_texts = pl.concat([edited[name].alias("text") for name in PAIR]).unique().implode()
    candidates = pool.filter(*(~pl.col(name).is_in(edited_texts) for name in PAIR))
    premises = candidates.group_by("premise", maintain_order=True).len().sample(fraction=1, shuffle=True, seed=0)
    chosen = premises.filter(pl.col("len").cum_sum() <= EPOCH_PAIRS)["premise"].implode()
    train = pool.filter(~pl.col("premise").is_in(chosen)).sample(fraction=1, shuffle=True, seed=0)
    return train, candidates.filter(pl.col("premise").is_in(chosen))


def write_pairs(data: Path, output: Path) -> None:
    """Write the files that networks learn from and are asked."""
    from pool import LEARNT, TESTS, mismatched, taxonomy, without

    output.mkdir(parents=True, exist_ok=True)
    tests = [load_pairs(data / path) for path in TESTS.values()]
    pool = pl.concat([*(load_pairs(data / path) for path in LEARNT), with_parses(mismatched(data))])
    excluded = pl.concat([frame.select(PAIR) for frame in (*tests, taxonomy(data))])
    pool = without(pool.unique(PAIR, maintain_order=True), excluded)
    train, development = split_pool(pool, load_pairs(data / EDITED))
    train.write_parquet(output / "pool.parquet")
    development.write_parquet(output / "dev.parquet")
    print(f"{train.height:,} pairs to learn from, {train[PARSES[0]].null_count():,} without parses")
    print(f"{development.height:,} pairs to choose the epoch")
    frames = [frame.select(*PAIR, *PARSES) for frame in tests]
    for name, (corpus, n) in SUITES.items():
        suite = acidtest.generate(name, n=n, source=data / TESTS[corpus] if corpus else None)
        acidtest.save(suite, output / f"{name.replace('/', '_')}.parquet")
        frames.append(with_parses(suite.frame.collect()).select(*PAIR, *PARSES))
        print(f"{name}: {frames[-1].height:,} pairs")
    pairs = pl.concat(frames).sort(PARSES[0], nulls_last=True).unique(PAIR, maintain_order=True, keep="first")
    pairs.write_parquet(output / "pairs.parquet")
    print(f"{pairs.height:,} different pairs to ask")


def write_answers(network: Path, pairs: Path, output: Path) -> None:
    """Ask a network every pair and write its probabilities in half precision."""
    frame = pl.read_parquet(pairs)
    model = model_from_spec(f"zoo:{network}")
    start = time.perf_counter()
    columns = [frame[name].to_list() for name in model.columns]
    answers = [
        model.predict(*(column[first : first + BATCH] for column in columns)) for first in range(0, frame.height, BATCH)
    ]
    # Files of answers have always called the array so.
    np.savez_compressed(output, said=np.concatenate(answers).astype(np.float16))
    print(f"{network}: {frame.height / (time.perf_counter() - start):,.0f} pairs per second")


def score_answers(path: Path, suites: dict[str, pl.DataFrame]) -> Scored:
    """Which pairs of every suite a network answers correctly."""
    answers = np.load(path)["said"].astype(np.float32).argmax(axis=1)
    scored = {}
    for name, frame in suites.items():
        gold = gold_masks(frame["label"].to_list())
        scored[name] = frame.with_columns(correct=(gold >> answers[frame["row"].to_numpy()]) & 1 == 1)
    return scored


def percent_correct(frame: pl.DataFrame, *conditions: pl.Expr) -> float:
    """Per cent correct of the rows that meet conditions."""
    return 100 * float(np.mean(frame.filter(*conditions)["correct"].to_numpy()))


def format_cell(values: Sequence[float]) -> str:
    """A mean, with the standard deviation over seeds."""
    deviation = f" ± {np.std(values, ddof=1):.1f}" if len(values) > 1 else ""
    return f"{np.mean(values):.1f}{deviation}".replace("-", "−")


def stress_rows(scored: Scored, name: str) -> pl.DataFrame:
    """The rows of a stress test that the paper reports, too."""
    return scored[f"stress/{name}"].filter(**STRESS[name])


def points_lost(scored: Scored, name: str) -> float:
    """Points between a stress test and the same pairs untouched."""
    changed = stress_rows(scored, name)
    untouched = changed.select(id="base_id").join(scored[UNTOUCHED], on="id", how="inner")
    assert untouched.height == changed.height, "a pair is not asked untouched"
    return percent_correct(changed) - percent_correct(untouched)


def published_percent(name: str, suite: str, **by: str) -> float | None:
    """The published accuracy of an architecture, in per cent."""
    for score in published_scores(suite):
        wanted = by | ({CORPUS: MATCHED} if CORPUS in score.by else {})
        if (score.system, score.condition, score.by) == (SYSTEMS[name], "", wanted):
            return 100 * score.value
    return None


def published_loss(name: str, part: str) -> float | None:
    """Points between a stress test and untouched pairs, in the paper."""
    before = published_percent(name, "mnli")
    after = published_percent(name, f"stress/{part}", **STRESS[part])
    return None if before is None or after is None else after - before


def print_table(
    title: str,
    columns: Sequence[str],
    networks: dict[str, list[Scored]],
    cells: Callable[[Scored], list[float]],
    published: Callable[[str], list[float | None]],
) -> None:
    """Print a table: a row for each architecture, and one below it for what a paper reports."""
    print(f"\n### {title}\n\n| | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")
    for name, seeds in networks.items():
        values = np.array([cells(scored) for scored in seeds])
        print(f"| `{name}` | {' | '.join(format_cell(column) for column in values.T)} |")
        reported = ["" if value is None else f"*{value:.1f}*".replace("-", "−") for value in published(name)]
        if any(reported):
            print(f"| *published* | {' | '.join(reported)} |")


def print_tables(pairs: Path, answers: Path, paths: list[Path]) -> None:
    """Print all tables."""
    rows = pl.read_parquet(pairs).select(*PAIR).with_row_index("row")
    suites = {}
    for path in paths:
        suite = acidtest.load(path)
        suites[suite.card.name] = suite.frame.collect().join(rows, on=PAIR, how="left", maintain_order="left")
    networks = {
        name: [score_answers(path, suites) for path in sorted(answers.glob(f"{name}-[0-9].npz"))] for name in SYSTEMS
    }
    networks = {name: seeds for name, seeds in networks.items() if seeds}
    slices = [(heuristic, label) for label in LABELS for heuristic in HEURISTICS]
    titles = {"snli": "SNLI test", "mnli": "MultiNLI matched", "lingnli": "LingNLI validation"}
    names = {"snli": "snli_1.0_test", "mnli": UNTOUCHED, "lingnli": "val"}
    print_table(
        "As trained, and HANS by heuristic and correct label",
        [*titles.values(), *(f"{heuristic.replace('_', ' ')} {LABELS[label]}" for heuristic, label in slices)],
        networks,
        lambda scored: [
            *(percent_correct(scored[name]) for name in names.values()),
            *(
                percent_correct(scored["hans"], pl.col("heuristic") == part, pl.col("label") == label)
                for part, label in slices
            ),
        ],
        lambda name: [
            *(published_percent(name, suite) for suite in titles),
            *(published_percent(name, "hans", heuristic=part, label=label) for part, label in slices),
        ],
    )
    print_table(
        "Stress tests",
        list(STRESS),
        networks,
        lambda scored: [percent_correct(stress_rows(scored, name)) for name in STRESS],
        lambda name: [published_percent(name, f"stress/{part}", **by) for part, by in STRESS.items()],
    )
    print_table(
        "Points won or lost against the same pairs untouched",
        CHANGED,
        networks,
        lambda scored: [points_lost(scored, name) for name in CHANGED],
        lambda name: [published_loss(name, part) for part in CHANGED],
    )
    print_table(
        "Words",
        ["lexical, fresh", "Breaking NLI (quarter)"],
        networks,
        lambda scored: [percent_correct(scored["lexical"]), percent_correct(scored[BREAKING])],
        lambda name: [None, published_percent(name, BREAKING)],
    )
    print_categories(networks)


def print_categories(networks: dict[str, list[Scored]]) -> None:
    """Print Breaking NLI by category: all networks, then those of the paper beside its numbers."""
    first = next(iter(networks.values()))[0][BREAKING]
    sizes = first.group_by("category").len().sort("len", "category", descending=True)
    rates = {
        name: np.array(
            [
                [percent_correct(scored[BREAKING], pl.col("category") == category) for scored in seeds]
                for category in sizes["category"]
            ]
        )
        for name, seeds in networks.items()
    }
    print(f"\n### Breaking NLI by category\n\n| category | pairs | {' | '.join(f'`{name}`' for name in rates)} |")
    print("|---|---|" + "---|" * len(rates))
    for number, (category, size) in enumerate(sizes.iter_rows()):
        print(f"| {category} | {size} | {' | '.join(f'{rate[number].mean():.0f}' for rate in rates.values())} |")
    published = {
        name: [published_percent(name, BREAKING, category=category) for category in sizes["category"]] for name in rates
    }
    published = {name: values for name, values in published.items() if None not in values}
    columns = " | ".join(f"`{name}` | *published*" for name in published)
    print(f"\n### The same beside the paper's table 4\n\n| category | {columns} |")
    print("|---|" + "---|---|" * len(published))
    for number, category in enumerate(sizes["category"]):
        cells = (f"{format_cell(rates[name][number])} | *{values[number]:.1f}*" for name, values in published.items())
        print(f"| {category} | {' | '.join(cells)} |")
    ranks = (f"{spearmanr(rates[name].mean(axis=1), values).statistic:.2f} |" for name, values in published.items())
    print(f"| rank correlation | {' | '.join(ranks)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="accepted from the runner; changes nothing")
    steps = parser.add_subparsers(dest="step")
    pairs = steps.add_parser("pairs", help="write the files that networks learn from and are asked")
    pairs.add_argument("data", type=Path)
    pairs.add_argument("-o", "--output", type=Path, required=True)
    answers = steps.add_parser("answers", help="ask a trained network")
    answers.add_argument("network", type=Path)
    answers.add_argument("pairs", type=Path)
    answers.add_argument("-o", "--output", type=Path, required=True)
    tables = steps.add_parser("tables", help="print the tables")
    tables.add_argument("pairs", type=Path)
    tables.add_argument("answers", type=Path)
    tables.add_argument("suites", type=Path, nargs="+")
    options = parser.parse_args()
    match options.step:
        case "pairs":
            write_pairs(options.data, options.output)
        case "answers":
            write_answers(options.network, options.pairs, options.output)
        case "tables":
            print_tables(options.pairs, options.answers, options.suites)
        case None:
            skip("tables of trained networks need hours of training on a GPU; python benchmarks/zoo_results.py --help")


if __name__ == "__main__":
    main()
