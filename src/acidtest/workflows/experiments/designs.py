"""The designs of the training experiments of the papers: arms, suites and tables, from the files of a user."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from pathlib import Path

import polars as pl

from acidtest.core.errors import AcidtestError
from acidtest.core.logs import stage
from acidtest.core.suite import CONTROL, Suite
from acidtest.io.tables import stem
from acidtest.studies.experiments.results import Arm, Paper, PaperCorpus, ResultColumn, ResultTable
from acidtest.suites.catalogue import SUITES
from acidtest.suites.sample import exclude_pairs
from acidtest.workflows.batteries import generate, load, save
from acidtest.workflows.experiments.claims import DATA, ExperimentOptions, content_digest

HEURISTICS = {"lexical_overlap": "lexical", "subsequence": "subseq.", "constituent": "const."}


@dataclass(frozen=True)
class ArmFiles:
    """An arm with the files it is trained on, and whether neutral and contradiction are one label in it."""

    arm: Arm
    files: tuple[Path, ...]
    merged: bool = False


@dataclass(frozen=True)
class Design:
    """The arms to train, the suites to ask, and the tables made of the answers."""

    arms: tuple[ArmFiles, ...]
    suites: tuple[Suite, ...]
    tables: tuple[ResultTable, ...]
    notes: tuple[str, ...] = ()
    dev: Path | None = None


@dataclass(frozen=True)
class Workbench:
    """The files of an experiment: those of the user, and those made in its folder once and then read again."""

    options: ExperimentOptions
    paper: Paper

    def make_once(self, name: str, make: Callable[[], Suite]) -> tuple[Path, Suite]:
        """A suite as a file in the folder of the experiment, made unless it exists."""
        path = Path(self.options.output) / DATA / f"{slug(name)}.parquet"
        if not path.exists():
            stage("making %s", path.name)
            save(make(), path)
        return path, load(path)

    def read_file(self, path: str | Path) -> tuple[Path, Suite]:
        """A file of the user; where options say how to read it, the pairs are written to a new file."""
        reading = self.options.reading
        if reading is None or not (reading.columns or reading.label_map):
            return Path(path), load(path)
        return self.make_once(f"given {stem(path)} {content_digest(path)[:8]}", lambda: load(path, reading=reading))

    def training_files(self, paths: Sequence[str | Path]) -> tuple[tuple[Path, ...], tuple[Suite, ...]]:
        """Files to train on, and the suites in them."""
        files = [self.read_file(path) for path in paths]
        return tuple(path for path, _ in files), tuple(suite for _, suite in files)

    def tests(self) -> dict[str, Suite]:
        """The user's test files, by their names without endings."""
        suites, files = dict[str, Suite](), dict[str, str | Path]()
        for path in self.options.tests:
            name = stem(path)
            key = slug(name).casefold()
            if key in files:
                raise AcidtestError(f"{files[key]} and {path} of --test have the same name, {name}; rename one")
            files[key] = path
            suite = self.read_file(path)[1]
            suites[name] = replace(suite, card=replace(suite.card, name=name))
        return suites

    def corpora(self, tests: Mapping[str, Suite]) -> tuple[dict[str, PaperCorpus], tuple[str, ...]]:
        """Which of the paper's test sets those of the user are, and notes about it."""
        corpora = {name: self.paper.corpus(name, suite.card.rows) for name, suite in tests.items()}
        notes = [corpus.note for corpus in corpora.values()]
        known = " or ".join(f"{corpus.title} ({corpus.pairs:,} pairs)" for corpus in self.paper.corpora)
        for name in (name for name, corpus in corpora.items() if known and not corpus.suite):
            notes.append(f"{name!r} is none of the paper's test sets, {known}: nothing published stands beside it")
        return corpora, tuple(filter(None, notes))

    def challenge(
        self, default: str, *, source: Suite | None = None, arguments: Mapping[str, str] | None = None
    ) -> Suite:
        """The suite to ask: the one named, or the kind of the paper made with the seed."""
        options = self.options
        name = options.suite or default
        if name in SUITES:
            make = partial(
                generate,
                name,
                source=source,
                arguments=arguments,
                n=options.n,
                at_most=options.n is not None,
                seed=options.seed,
            )
            return self.make_once(f"test {name}", make)[1]
        if options.n is not None:
            raise AcidtestError(f"-n is the size of a suite that is made; {name} is a file: leave -n out")
        return self.read_file(name)[1]

    def hans_challenge(self) -> Suite:
        """HANS with the words that were asked for, or the suite named instead."""
        return self.challenge("hans", arguments={"words": self.options.words})

    def condition(self, name: str) -> str | None:
        """The name of an arm in published numbers."""
        return self.paper.conditions.get(name)


def slug(name: str) -> str:
    """A name as the name of a file; where more than spaces and colons are removed, a digest keeps it unique."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")
    if plain == re.sub("[ :]", "-", name):
        return plain
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=4)
    return f"{plain}-{digest.hexdigest()}".lstrip("-")


def augmentation(bench: Workbench) -> Design:
    """Training without and with pairs of all thirty subcases (McCoy et al. 2019, section 7, table 4)."""
    suite = bench.hans_challenge()
    path, added, notes = _hans_like_pairs(bench, suite)
    files, suites = bench.training_files(bench.options.train)
    plain = _plain_arm(bench, files, suites)
    description = f"the same and {added.card.rows:,} HANS-like pairs"
    arm = Arm("with HANS-like pairs", description, plain.arm.pairs + added.card.rows, bench.condition("changed"))
    return _hans_design(bench, suite, (plain, ArmFiles(arm, (*files, path))), notes)


def merged_labels(bench: Workbench) -> Design:
    """Neutral and contradiction merged in training, against in the answers (McCoy et al. 2019, table 11)."""
    suite = bench.hans_challenge()
    files, suites = bench.training_files(bench.options.train)
    plain = _plain_arm(bench, files, suites, "merged after training")
    arm = Arm("merged before training", "two labels", plain.arm.pairs, bench.condition("changed"))
    scoring = "Everything is scored by two labels, in all arms; the paper's accuracies on MNLI are of three"
    notes = (f"{scoring}, and do not stand beside these",) if bench.options.tests else ()
    return _hans_design(bench, suite, (plain, ArmFiles(arm, files, merged=True)), notes)


def withheld(bench: Workbench) -> Design:
    """Training with pairs of all subcases but six, tested on those six (McCoy et al. 2019, tables 12 to 16)."""
    suite = bench.hans_challenge()
    _, added, notes = _hans_like_pairs(bench, suite)
    files, suites = bench.training_files(bench.options.train)
    plain = _plain_arm(bench, files, suites)
    arms, tables = [plain], list[ResultTable]()
    for number in bench.options.folds:
        fold = bench.paper.folds[number - 1]
        path, rest = bench.make_once(
            f"hans-like without fold {number}", partial(_without_subcases, added, fold["subcases"])
        )
        description = f"the same and {rest.card.rows:,} HANS-like pairs of the 24 other subcases"
        arm = Arm(f"fold {number} withheld", description, plain.arm.pairs + rest.card.rows, bench.condition("changed"))
        arms.append(ArmFiles(arm, (*files, path)))
        columns = tuple(
            ResultColumn(
                name, suite.name, {"subcase": name}, _subcase_group(name), _published_suite(suite), {"subcase": name}
            )
            for name in fold["subcases"]
        )
        title = f"Fold {number} of 5, table {fold['table']}: the subcases withheld"
        tables.append(ResultTable(title, columns, (plain.arm.name, arm.name), plain.arm.name))
    return _complete(bench, Design(tuple(arms), (suite,), tuple(tables), notes))


def distraction(bench: Workbench) -> Design:
    """Training with a tautology after every hypothesis, tested with it and with another (Naik et al. 2018, table 5)."""
    options = bench.options
    if not options.tests:
        raise AcidtestError("distraction makes its tests of pairs: name their files with --test")
    files, suites = bench.training_files(options.train)
    plain = _plain_arm(bench, files, suites)
    copies = [
        bench.make_once(f"distracted {stem(path)} {suite.card.fingerprint[:8]}", partial(_distracted, bench, suite))
        for path, suite in zip(options.train, suites, strict=True)
    ]
    pairs = sum(suite.card.rows for _, suite in copies)
    description = f"the same and {pairs:,} copies that end in a tautology"
    arm = Arm("with the distraction", description, plain.arm.pairs + pairs, bench.condition("changed"))
    distracted = ArmFiles(arm, (*files, *(path for path, _ in copies)))
    asked, tables, names = list[Suite](), list[ResultTable](), (plain.arm.name, arm.name)
    tests = bench.tests()
    corpora, notes = bench.corpora(tests)
    for name, suite in tests.items():
        negation = _tautology_test(bench, suite, name, bench.paper.trained_tautology)
        other = _tautology_test(bench, suite, name, bench.paper.other_tautology)
        asked += [negation, replace(other, control=None)]
        tables.append(ResultTable(name, _distraction_columns(negation, other, corpora[name]), names, plain.arm.name))
    return _complete(bench, Design((plain, distracted), tuple(asked), tuple(tables), notes))


def training_mixes(bench: Workbench) -> Design:
    """Training on a corpus and on its unions with others (Glockner et al. 2018, table 3)."""
    options = bench.options
    if not options.additions:
        raise AcidtestError("training-mixes adds corpora to that of --train: name them, as --add MultiNLI=FILE")
    if len(options.tests) != 1:
        raise AcidtestError("training-mixes asks one test set beside the new one: name its file with --test")
    files, suites = bench.training_files(options.train)
    challenge = bench.challenge("lexical", source=suites[0])
    plain = _plain_arm(bench, files, suites)
    arms = [plain]
    for name, paths in options.additions.items():
        added_files, added = bench.training_files(paths)
        pairs = sum(suite.card.rows for suite in added)
        description = f"the same and the {pairs:,} of {', '.join(Path(path).name for path in paths)}"
        arm = Arm(f"{name} added", description, plain.arm.pairs + pairs, bench.condition(name.lower()))
        arms.append(ArmFiles(arm, (*files, *added_files)))
    tests = bench.tests()
    corpora, notes = bench.corpora(tests)
    ((name, test),) = tests.items()
    old = ResultColumn(name, test.name, published=corpora[name].suite)
    new = ResultColumn(challenge.name, challenge.name, published=challenge.name.partition(":")[0])
    drop = replace(new, name="∆", less=old)
    names = tuple(arm_files.arm.name for arm_files in arms)
    table = ResultTable("Accuracy on the test set and on the new one", (old, new, drop), names, plain.arm.name)
    return _complete(bench, Design(tuple(arms), (test, challenge), (table,), notes))


DESIGNS: dict[str, Callable[[Workbench], Design]] = {
    "augmentation": augmentation,
    "withheld": withheld,
    "merged-labels": merged_labels,
    "distraction": distraction,
    "training-mixes": training_mixes,
}


def _plain_arm(
    bench: Workbench, files: tuple[Path, ...], suites: Sequence[Suite], name: str = "training pairs alone"
) -> ArmFiles:
    pairs = sum(suite.card.rows for suite in suites)
    description = f"the {pairs:,} pairs of {', '.join(Path(path).name for path in bench.options.train)}"
    return ArmFiles(Arm(name, description, pairs, bench.condition("plain")), files)


def _hans_like_pairs(bench: Workbench, test: Suite) -> tuple[Path, Suite, tuple[str, ...]]:
    """Pairs of all subcases made with another seed, none of them in the test; and notes about them."""
    options = bench.options
    seed = options.seed + 1 if options.augment_seed is None else options.augment_seed
    _require_column(test, "subcase")

    def make() -> Suite:
        # Twice as many as wanted: each pair of the test removes one at most.
        candidates = generate(
            "hans", n=2 * options.augment_n, at_most=True, seed=seed, arguments={"words": options.words}
        )
        apart = exclude_pairs(candidates, test, cell="subcase", most=options.augment_n)
        note = (
            f"{apart.suite.card.rows:,} HANS-like pairs (seed {seed}) were made to be trained on, none of which is "
            f"tested ({apart.left_out:,} left out for that); {apart.shared_premises:,} premises and "
            f"{apart.shared_hypotheses:,} hypotheses of theirs stand in other pairs of the test"
        )
        return replace(apart.suite, card=replace(apart.suite.card, note=note))

    path, suite = bench.make_once("hans-like", make)
    notes = [suite.card.note]
    few = suite.frame.group_by("subcase").len().filter(pl.col("len") < options.augment_n).collect()
    if few.height:
        notes.append(f"{few.height} subcases have fewer than {options.augment_n:,} pairs: there are no more")
    return path, suite, tuple(notes)


def _hans_design(bench: Workbench, suite: Suite, arms: tuple[ArmFiles, ...], notes: Sequence[str]) -> Design:
    """Arms that are asked HANS by heuristic and label, and the user's tests besides."""
    _require_column(suite, "heuristic")
    tests = bench.tests()
    corpora, corpus_notes = bench.corpora(tests)
    columns = []
    for label in ("entailment", "non-entailment"):
        for heuristic, short in HEURISTICS.items():
            name = f"{short}, {'→' if label == 'entailment' else '↛'}"
            by = {"heuristic": heuristic, "label": label}
            columns.append(ResultColumn(name, suite.name, by, f"correct: {label}", _published_suite(suite), by))
    columns += [
        ResultColumn(name, test.name, group="accuracy", published=corpora[name].suite) for name, test in tests.items()
    ]
    names = tuple(arm_files.arm.name for arm_files in arms)
    table = ResultTable("HANS by heuristic and correct label", tuple(columns), names, names[0])
    return _complete(bench, Design(arms, (suite, *tests.values()), (table,), (*notes, *corpus_notes)))


def _complete(bench: Workbench, design: Design) -> Design:
    """The design with the development set, and without its first arm where no baseline is wanted."""
    folders, names = dict[str, str](), set[str]()
    for arm in (arm_files.arm.name for arm_files in design.arms):
        before = folders.setdefault(slug(arm).casefold(), arm)
        if before != arm:
            raise AcidtestError(f"{before!r} and {arm!r} would have one folder; rename one of them with --add")
    for suite in design.suites:
        if suite.name in names:
            raise AcidtestError(f"a file of --test is called {suite.name!r}, as what is asked besides; rename it")
        names.add(suite.name)
    dev = bench.options.dev
    design = replace(design, dev=None if dev is None else bench.read_file(dev)[0])
    if bench.options.baseline:
        return design
    tables = tuple(replace(table, arms=table.other_arms, against="") for table in design.tables)
    return replace(design, arms=design.arms[1:], tables=tables)


def _require_column(suite: Suite, column: str) -> None:
    if column not in suite.frame.collect_schema():
        raise AcidtestError(f"{suite.name!r} has no column {column!r}: it is not HANS; leave --suite out or name HANS")


def _published_suite(suite: Suite) -> str:
    """The suite whose published numbers are comparable: HANS with other templates has none."""
    return "" if suite.name.startswith("hans/") else "hans"


def _without_subcases(suite: Suite, subcases: Sequence[str]) -> Suite:
    return replace(suite, frame=suite.frame.filter(~pl.col("subcase").is_in(list(subcases)))).sealed()


def _subcase_group(subcase: str) -> str:
    """The heuristic and the correct label of a subcase, which its first two letters stand for."""
    heuristic = {"l": "lexical overlap", "s": "subsequence", "c": "constituent"}[subcase[0]]
    return f"{heuristic}, {'→' if subcase[1] == 'e' else '↛'}"


def _distracted(bench: Workbench, suite: Suite) -> Suite:
    arguments = {"tautology": bench.paper.trained_tautology}
    return replace(generate("stress/negation", source=suite, arguments=arguments), control=None)


def _tautology_test(bench: Workbench, suite: Suite, name: str, tautology: str) -> Suite:
    def make() -> Suite:
        n, seed, arguments = bench.options.n, bench.options.seed, {"tautology": tautology}
        made = generate("stress/negation", source=suite, n=n, at_most=True, seed=seed, arguments=arguments)
        return replace(made, card=replace(made.card, name=f"{made.name}:{tautology}, {name}"))

    return bench.make_once(f"test {name} {tautology}", make)[1]


def _distraction_columns(negation: Suite, other: Suite, corpus: PaperCorpus) -> tuple[ResultColumn, ...]:
    published, by = "stress/negation" if corpus.suite else "", dict(corpus.by)
    different = {"tautology": "green is not red", **by}
    return (
        ResultColumn("untouched", negation.name + CONTROL, published=corpus.suite, published_by=by),
        ResultColumn("negation", negation.name, published=published, published_by=by),
        ResultColumn("different tautology", other.name, published=published, published_by=different),
    )
