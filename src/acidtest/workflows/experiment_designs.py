"""What the papers' experiments in training train on and ask: arms, suites and tables, from what a user names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

import polars as pl

from acidtest.core.errors import AcidtestError
from acidtest.core.logs import stage
from acidtest.core.suite import CONTROL, Suite
from acidtest.io.tables import stem
from acidtest.studies.experiments_results import Arm, Block, Column, Corpus, Paper
from acidtest.suites.catalogue import SUITES
from acidtest.suites.sampling import exclude_pairs
from acidtest.workflows.batteries import Reading, generate, load, save
from acidtest.workflows.experiment_claims import DATA, contents

HEURISTICS = {"lexical_overlap": "lexical", "subsequence": "subseq.", "constituent": "const."}
FOLDS = (1, 2, 3, 4, 5)
PER_SUBCASE = 1000
"""How many pairs of each subcase McCoy et al. (2019) add: 30,000 in all."""


@dataclass(frozen=True)
class Wish:
    """What to train, on what, and what to ask.

    ``architectures`` are names as ``acidtest train`` takes them, each with a preset after a colon if it is to have
    another than the paper's. ``suite`` is the challenge: a suite's name or a file, the paper's kind where there is
    none; ``n`` its size, by subcase or in source pairs. ``additions`` are corpora for mixes, files by name.
    ``recipe`` and ``settings`` go to the trainer, ``arguments`` to the architectures that have such options.
    """

    train: Sequence[str | Path]
    architectures: Sequence[str]
    output: str | Path
    dev: str | Path | None = None
    tests: Sequence[str | Path] = ()
    seeds: Sequence[int] = (0,)
    suite: str | None = None
    n: int | None = None
    seed: int = 0
    words: str = "fresh"
    augment_n: int = PER_SUBCASE
    augment_seed: int | None = None
    folds: Sequence[int] = FOLDS
    additions: Mapping[str, Sequence[str | Path]] = field(default_factory=dict)
    baseline: bool = True
    recipe: Mapping[str, Any] = field(default_factory=dict)
    arguments: Mapping[str, str | bool] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    reading: Reading | None = None


@dataclass(frozen=True)
class Way:
    """One way of training: an arm, its files, and whether neutral and contradiction are one label in it."""

    arm: Arm
    files: tuple[Path, ...]
    merged: bool = False


@dataclass(frozen=True)
class Design:
    """What is to be trained and asked, and the tables that come of it."""

    ways: tuple[Way, ...]
    suites: tuple[Suite, ...]
    blocks: tuple[Block, ...]
    notes: tuple[str, ...] = ()
    dev: Path | None = None


@dataclass(frozen=True)
class Bench:
    """Where an experiment's own files lie; what was made once is read again."""

    wish: Wish
    paper: Paper

    def kept(self, name: str, make: Callable[[], Suite]) -> tuple[Path, Suite]:
        """A suite as a file of the experiment's folder, made where it is not there yet."""
        path = Path(self.wish.output) / DATA / f"{slug(name)}.parquet"
        if not path.exists():
            stage("making %s", path.name)
            save(make(), path)
        return path, load(path)

    def given(self, path: str | Path) -> tuple[Path, Suite]:
        """A file of the user's; where it has to be told how to read it, what was read is kept."""
        reading = self.wish.reading
        if reading is None or not (reading.columns or reading.label_map):
            return Path(path), load(path)
        return self.kept(f"given {stem(path)} {contents(path)[:8]}", lambda: load(path, reading=reading))

    def training(self, paths: Sequence[str | Path]) -> tuple[tuple[Path, ...], tuple[Suite, ...]]:
        """Files to train on, and the suites in them."""
        read = [self.given(path) for path in paths]
        return tuple(path for path, _ in read), tuple(suite for _, suite in read)

    def tests(self) -> dict[str, Suite]:
        """The user's test files, by their names without endings."""
        found, files = dict[str, Suite](), dict[str, str | Path]()
        for path in self.wish.tests:
            name = stem(path)
            key = slug(name).casefold()
            if key in files:
                raise AcidtestError(f"{files[key]} and {path} of --test have the same name, {name}; rename one")
            files[key] = path
            suite = self.given(path)[1]
            found[name] = replace(suite, card=replace(suite.card, name=name))
        return found

    def corpora(self, tests: Mapping[str, Suite]) -> tuple[dict[str, Corpus], tuple[str, ...]]:
        """Which of the paper's test sets those of the user are, and what is to be said of that."""
        found = {name: self.paper.corpus(name, suite.card.rows) for name, suite in tests.items()}
        notes = [corpus.note for corpus in found.values()]
        known = " or ".join(f"{each.title} ({each.pairs:,} pairs)" for each in self.paper.corpora)
        for name in (name for name, corpus in found.items() if known and not corpus.suite):
            notes.append(f"{name!r} is none of the paper's test sets, {known}: nothing published stands beside it")
        return found, tuple(filter(None, notes))

    def challenge(self, default: str, **options: Any) -> Suite:
        """The suite that is asked: the one named, or the paper's kind, made with the seed."""
        name = self.wish.suite or default
        if name in SUITES:
            options |= {"n": self.wish.n, "at_most": self.wish.n is not None, "seed": self.wish.seed}
            source = options.pop("source", None)
            return self.kept(f"test {name}", lambda: generate(name, source=source, **options))[1]
        if self.wish.n is not None:
            raise AcidtestError(f"-n is the size of a suite that is made; {name} is a file: leave -n out")
        return self.given(name)[1]

    def condition(self, name: str) -> str | None:
        """What published numbers call an arm."""
        return self.paper.conditions.get(name)


def slug(name: str) -> str:
    """A name as a file may have it; where more than spaces and colons had to go, a digest tells it from others."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")
    if plain == re.sub("[ :]", "-", name):
        return plain
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=4)
    return f"{plain}-{digest.hexdigest()}".lstrip("-")


def augmentation(bench: Bench) -> Design:
    """Training without and with pairs of all thirty subcases (McCoy et al. 2019, section 7, table 4)."""
    suite = bench.challenge("hans", arguments={"words": bench.wish.words})
    path, added, notes = _hans_like(bench, suite)
    files, suites = bench.training(bench.wish.train)
    plain = _plain(bench, files, suites)
    told = f"the same and {added.card.rows:,} HANS-like pairs"
    arm = Arm("with HANS-like pairs", told, plain.arm.pairs + added.card.rows, bench.condition("changed"))
    return _on_hans(bench, suite, (plain, Way(arm, (*files, path))), notes)


def merged_labels(bench: Bench) -> Design:
    """Neutral and contradiction merged in training, against in the answers (McCoy et al. 2019, table 11)."""
    suite = bench.challenge("hans", arguments={"words": bench.wish.words})
    files, suites = bench.training(bench.wish.train)
    plain = _plain(bench, files, suites, "merged after training")
    arm = Arm("merged before training", "two labels", plain.arm.pairs, bench.condition("changed"))
    told = "Everything is scored by two labels, in all arms; the paper's accuracies on MNLI are of three"
    notes = (f"{told}, and do not stand beside these",) if bench.wish.tests else ()
    return _on_hans(bench, suite, (plain, Way(arm, files, merged=True)), notes)


def withheld(bench: Bench) -> Design:
    """Training with pairs of all subcases but six, tested on those six (McCoy et al. 2019, tables 12 to 16)."""
    suite = bench.challenge("hans", arguments={"words": bench.wish.words})
    _, added, notes = _hans_like(bench, suite)
    files, suites = bench.training(bench.wish.train)
    plain = _plain(bench, files, suites)
    ways, blocks = [plain], list[Block]()
    for number in bench.wish.folds:
        fold = bench.paper.folds[number - 1]
        path, rest = bench.kept(f"hans-like without fold {number}", partial(_without, added, fold["subcases"]))
        told = f"the same and {rest.card.rows:,} HANS-like pairs of the 24 other subcases"
        arm = Arm(f"fold {number} withheld", told, plain.arm.pairs + rest.card.rows, bench.condition("changed"))
        ways.append(Way(arm, (*files, path)))
        columns = tuple(
            Column(name, suite.name, {"subcase": name}, _told_of(name), _published(suite), {"subcase": name})
            for name in fold["subcases"]
        )
        title = f"Fold {number} of 5, table {fold['table']}: the subcases withheld"
        blocks.append(Block(title, columns, (plain.arm.name, arm.name), plain.arm.name))
    return _completed(bench, Design(tuple(ways), (suite,), tuple(blocks), notes))


def distraction(bench: Bench) -> Design:
    """Training with a tautology after every hypothesis, tested with it and with another (Naik et al. 2018, table 5)."""
    if not bench.wish.tests:
        raise AcidtestError("distraction makes its tests of pairs: name their files with --test")
    files, suites = bench.training(bench.wish.train)
    plain = _plain(bench, files, suites)
    made = [
        bench.kept(f"distracted {stem(path)} {suite.card.fingerprint[:8]}", partial(_distracted, bench, suite))
        for path, suite in zip(bench.wish.train, suites, strict=True)
    ]
    pairs = sum(suite.card.rows for _, suite in made)
    told = f"the same and {pairs:,} copies that end in a tautology"
    arm = Arm("with the distraction", told, plain.arm.pairs + pairs, bench.condition("changed"))
    way = Way(arm, (*files, *(path for path, _ in made)))
    asked, blocks, names = list[Suite](), list[Block](), (plain.arm.name, arm.name)
    tests = bench.tests()
    corpora, notes = bench.corpora(tests)
    for name, suite in tests.items():
        negation, other = (_tautology(bench, suite, name, which) for which in _tautologies(bench.paper))
        asked += [negation, replace(other, control=None)]
        blocks.append(Block(name, _distraction_columns(negation, other, corpora[name]), names, plain.arm.name))
    return _completed(bench, Design((plain, way), tuple(asked), tuple(blocks), notes))


def training_mixes(bench: Bench) -> Design:
    """Training on a corpus and on its unions with others (Glockner et al. 2018, table 3)."""
    wish = bench.wish
    if not wish.additions:
        raise AcidtestError("training-mixes adds corpora to that of --train: name them, as --add MultiNLI=FILE")
    if len(wish.tests) != 1:
        raise AcidtestError("training-mixes asks one test set beside the new one: name its file with --test")
    files, suites = bench.training(wish.train)
    suite = bench.challenge("lexical", source=suites[0])
    plain = _plain(bench, files, suites)
    ways = [plain]
    for name, paths in wish.additions.items():
        more, read = bench.training(paths)
        pairs = sum(each.card.rows for each in read)
        told = f"the same and the {pairs:,} of {', '.join(Path(path).name for path in paths)}"
        arm = Arm(f"{name} added", told, plain.arm.pairs + pairs, bench.condition(name.lower()))
        ways.append(Way(arm, (*files, *more)))
    tests = bench.tests()
    corpora, notes = bench.corpora(tests)
    ((name, test),) = tests.items()
    old = Column(name, test.name, published=corpora[name].suite)
    new = Column(suite.name, suite.name, published=suite.name.partition(":")[0])
    drop = replace(new, name="∆", less=old)
    names = tuple(way.arm.name for way in ways)
    block = Block("Accuracy on the test set and on the new one", (old, new, drop), names, plain.arm.name)
    return _completed(bench, Design(tuple(ways), (test, suite), (block,), notes))


DESIGNS: dict[str, Callable[[Bench], Design]] = {
    "augmentation": augmentation,
    "withheld": withheld,
    "merged-labels": merged_labels,
    "distraction": distraction,
    "training-mixes": training_mixes,
}


def _plain(bench: Bench, files: tuple[Path, ...], suites: Sequence[Suite], name: str = "training pairs alone") -> Way:
    pairs = sum(suite.card.rows for suite in suites)
    told = f"the {pairs:,} pairs of {', '.join(Path(path).name for path in bench.wish.train)}"
    return Way(Arm(name, told, pairs, bench.condition("plain")), files)


def _hans_like(bench: Bench, test: Suite) -> tuple[Path, Suite, tuple[str, ...]]:
    """Pairs of all subcases made with another seed, none of them in the test; and what is to be said of that."""
    wish = bench.wish
    seed = wish.seed + 1 if wish.augment_seed is None else wish.augment_seed
    _require(test, "subcase")

    def make() -> Suite:
        # Twice as many as wanted: each pair of the test costs one at most.
        drawn = generate("hans", n=2 * wish.augment_n, at_most=True, seed=seed, arguments={"words": wish.words})
        found = exclude_pairs(drawn, test, cell="subcase", most=wish.augment_n)
        told = (
            f"{found.suite.card.rows:,} HANS-like pairs (seed {seed}) were made to be trained on, none of which is "
            f"tested ({found.left_out:,} left out for that); {found.shared_premises:,} premises and "
            f"{found.shared_hypotheses:,} hypotheses of theirs stand in other pairs of the test"
        )
        return replace(found.suite, card=replace(found.suite.card, note=told))

    path, suite = bench.kept("hans-like", make)
    few = suite.frame.group_by("subcase").len().filter(pl.col("len") < wish.augment_n).collect()
    notes = [suite.card.note]
    notes += (
        [f"{few.height} subcases have fewer than {wish.augment_n:,} pairs: there are no more"] if few.height else []
    )
    return path, suite, tuple(notes)


def _on_hans(bench: Bench, suite: Suite, ways: tuple[Way, ...], notes: Sequence[str]) -> Design:
    """Ways of training, asked HANS by heuristic and label, and the user's tests besides."""
    _require(suite, "heuristic")
    tests = bench.tests()
    corpora, told = bench.corpora(tests)
    columns = [
        Column(
            f"{short}, {'→' if label == 'entailment' else '↛'}",
            suite.name,
            {"heuristic": heuristic, "label": label},
            f"correct: {label}",
            _published(suite),
            {"heuristic": heuristic, "label": label},
        )
        for label in ("entailment", "non-entailment")
        for heuristic, short in HEURISTICS.items()
    ]
    columns += [
        Column(name, test.name, group="accuracy", published=corpora[name].suite) for name, test in tests.items()
    ]
    names = tuple(way.arm.name for way in ways)
    block = Block("HANS by heuristic and correct label", tuple(columns), names, names[0])
    return _completed(bench, Design(ways, (suite, *tests.values()), (block,), (*notes, *told)))


def _completed(bench: Bench, design: Design) -> Design:
    """The design with the development set, and without its first arm where nobody wants it."""
    folders, names = dict[str, str](), set[str]()
    for arm in (way.arm.name for way in design.ways):
        before = folders.setdefault(slug(arm).casefold(), arm)
        if before != arm:
            raise AcidtestError(f"{before!r} and {arm!r} would have one folder; rename one of them with --add")
    for suite in design.suites:
        if suite.name in names:
            raise AcidtestError(f"a file of --test is called {suite.name!r}, as what is asked besides; rename it")
        names.add(suite.name)
    dev = bench.wish.dev
    design = replace(design, dev=None if dev is None else bench.given(dev)[0])
    if bench.wish.baseline:
        return design
    blocks = tuple(replace(block, arms=block.others, against="") for block in design.blocks)
    return replace(design, ways=design.ways[1:], blocks=blocks)


def _require(suite: Suite, column: str) -> None:
    if column not in suite.frame.collect_schema():
        raise AcidtestError(f"{suite.name!r} has no column {column!r}: it is not HANS; leave --suite out or name HANS")


def _published(suite: Suite) -> str:
    """Whose published numbers stand beside those of the suite: HANS with other templates has none."""
    return "" if suite.name.startswith("hans/") else "hans"


def _without(suite: Suite, subcases: Sequence[str]) -> Suite:
    return replace(suite, frame=suite.frame.filter(~pl.col("subcase").is_in(list(subcases)))).sealed()


def _told_of(subcase: str) -> str:
    """The heuristic and the correct label of a subcase, as its name begins with them."""
    heuristic = {"l": "lexical overlap", "s": "subsequence", "c": "constituent"}[subcase[0]]
    return f"{heuristic}, {'→' if subcase[1] == 'e' else '↛'}"


def _tautologies(paper: Paper) -> tuple[str, str]:
    return paper.trained_tautology, paper.other_tautology


def _distracted(bench: Bench, suite: Suite) -> Suite:
    arguments = {"tautology": bench.paper.trained_tautology}
    return replace(generate("stress/negation", source=suite, arguments=arguments), control=None)


def _tautology(bench: Bench, suite: Suite, name: str, which: str) -> Suite:
    def make() -> Suite:
        n, seed = bench.wish.n, bench.wish.seed
        made = generate("stress/negation", source=suite, n=n, at_most=True, seed=seed, arguments={"tautology": which})
        return replace(made, card=replace(made.card, name=f"{made.name}:{which}, {name}"))

    return bench.kept(f"test {name} {which}", make)[1]


def _distraction_columns(negation: Suite, other: Suite, corpus: Corpus) -> tuple[Column, ...]:
    published, by = "stress/negation" if corpus.suite else "", dict(corpus.by)
    different = {"tautology": "green is not red", **by}
    return (
        Column("untouched", negation.name + CONTROL, published=corpus.suite, published_by=by),
        Column("negation", negation.name, published=published, published_by=by),
        Column("different tautology", other.name, published=published, published_by=different),
    )
