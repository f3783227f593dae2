"""Makes, writes and reads suites, and chooses those of a run."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import Path

from acidtest.core.errors import AcidtestError, NothingToMakeError, UnknownNameError, list_some
from acidtest.core.logs import log, note, stage
from acidtest.core.settings import PLUGINS, PREFIX
from acidtest.core.study import LOADERS
from acidtest.core.suite import CONTROL, Suite
from acidtest.suites.catalogue import SUITES, Generator, Leftovers, Request, find_generator, resolve_names

STANDARD = (
    *("cues", "premises", "hans", "stress/antonymy", "stress/numerical", "stress/word-overlap"),
    *("stress/negation", "stress/length-mismatch", "stress/spelling", "lexical"),
)
"""The battery ``run`` uses when no suite is named."""

Arguments = Mapping[str, str | bool]


@dataclass(frozen=True)
class Reading:
    """How to read a foreign file: its columns and its labels, where they are not recognised.

    ``keep`` names further columns of the file that are also true of the pairs a suite makes from it. ``published_as``
    names the published set that the file holds, such as ``stress/antonymy``; ``file`` means it holds none.
    """

    columns: Mapping[str, str] | None = None
    label_map: Mapping[str, str] | None = None
    keep: tuple[str, ...] = ()
    published_as: str | None = None

    @classmethod
    def parsed(
        cls, columns: str | None, label_map: str | None, keep: str | None = None, published_as: str | None = None
    ) -> Reading:
        """Parse the options: ``premise=text_a,…``, ``0=entailment,…`` and ``column,column``."""
        from acidtest.io.columns import parse_pairs

        return cls(
            parse_pairs(columns, option="--columns") if columns else None,
            parse_pairs(label_map, option="--label-map") if label_map else None,
            tuple(name.strip() for name in (keep or "").split(",") if name.strip()),
            published_as,
        )


def suites() -> dict[str, Generator]:
    """Every suite that can be generated, by name."""
    return {name: SUITES[name] for name in SUITES}


def options_of(names: Sequence[str]) -> set[str]:
    """The options of the suites that a user's names, globs and files stand for."""
    generators = (find_generator(name) for name in resolve_names(names))
    return {option for generator in generators if generator for option in generator.options}


def generate(
    suite: str,
    *,
    source: str | Path | Suite | None = None,
    n: int | None = None,
    seed: int = 0,
    at_most: bool = False,
    union: bool = False,
    arguments: Arguments | None = None,
    reading: Reading | None = None,
    engine: str = "local",
    address: str | None = None,
    checked: bool = True,
) -> Suite:
    """Make one suite. ``n`` counts rows per cell in a template suite, source pairs in others.

    ``source`` is the corpus it is made from, by default the starter corpus; ``reading`` says how to read its file. With
    ``union`` the suite holds both the untouched and the changed pairs, for training. ``arguments`` are the options of
    the suite. With ``engine="ray"``, a suite whose rows do not depend on each other is made on a Ray cluster: the one
    at ``address``, or a new one on this machine. One that is not sound is an error, unless ``checked`` is false.
    """
    from acidtest.suites.corpus import unite_with_control

    if n is not None and n < 1:
        raise AcidtestError(f"-n is a number from 1 on, not {n}; acidtest generate --help says what it counts")
    generator = find_generator(suite)
    if generator is None:
        # A file that is missing is reported as such.
        resolve_names([suite])
        generator = SUITES[suite]
    if engine != "local" or address is not None:
        from acidtest.workflows.clusters import on_ray, require_ray

        require_ray(engine, address)
        generator = on_ray(generator, address)
    keep = reading.keep if reading else ()
    request = Request(n=n, seed=seed, at_most=at_most, source=_load_material(generator, source, reading), keep=keep)
    try:
        generated = generator(request, arguments)
    finally:
        request.leftovers.warn()
    generated = unite_with_control(generated) if union else generated
    return _require_sound(generated, suite, generator) if checked else generated


def _require_sound(suite: Suite, name: str, generator: Generator) -> Suite:
    """Return the suite that a generator made; raise when it is not sound, warn where the user's code repeats pairs."""
    from acidtest.core.checks import require_sound

    require_sound(suite, f"generator {name!r}")
    if generator.source == "code":
        repeated = suite.card.rows - suite.frame.select("premise", "hypothesis").unique().collect().height
        if repeated:
            log.warning("%s: %s rows repeat a pair; see: acidtest check %s", name, f"{repeated:,}", name)
    return suite


def save(suite: Suite, path: str | Path, *, parted: bool = False) -> list[Path]:
    """Write a suite to a file or folder in the format of the path's suffix; return the paths written.

    With ``parted`` the rows are divided among several files of a folder.
    """
    from acidtest.suites.files import write_suite

    return write_suite(suite, path, parted=parted)


def load(path: str | Path, *, reading: Reading | None = None, checked: bool = True, unlabelled: bool = False) -> Suite:
    """A suite from a file: one acidtest wrote, or any NLI file whose layout is recognised.

    One that is not sound is an error, unless ``checked`` is false. Pairs without gold are left out, unless
    ``unlabelled``: then their gold is ``any``.
    """
    from acidtest.core.checks import require_sound
    from acidtest.corpora.files import read_corpus
    from acidtest.suites.files import read_suite

    reading = reading or Reading()
    is_described = bool(reading.columns or reading.label_map or reading.published_as)
    suite = None if is_described else read_suite(path)
    if suite is not None:
        recorded, suite = suite.card.fingerprint, suite.sealed()
        if suite.card.fingerprint != recorded:
            log.warning("%s: its rows were changed since acidtest wrote it", path)
    else:
        loaded = read_corpus(
            path,
            columns=reading.columns,
            label_map=reading.label_map,
            published_as=reading.published_as,
            unlabelled=unlabelled,
        )
        suite = loaded.suite
        log.info("%s: %s layout, %s", path, loaded.layout, _describe_counts(suite))
        if loaded.dropped:
            loss = f"{loaded.dropped:,} of {loaded.rows_read:,} rows have no gold and are left out"
            log.warning("%s: %s", path, loss)
            suite = replace(suite, card=replace(suite.card, dropped=loaded.dropped))
        recognition = f", recognised as the published {loaded.published}" if loaded.published else ""
        if loaded.published:
            note("%s: recognised as the published %s (--as file reads it as any other)", path, loaded.published)
        card_note = f"read as {loaded.layout}{recognition}" + (f"; {loss}" if loaded.dropped else "")
        suite = replace(suite, card=replace(suite.card, note=card_note))
    for problem in require_sound(suite, str(path)) if checked else ():
        log.warning("%s: %s", path, problem)
    return suite


LOADERS[Suite] = load


def chosen_suites(
    names: Sequence[str],
    *,
    source: str | Path | Suite | None = None,
    seed: int = 0,
    arguments: Arguments | None = None,
    reading: Reading | None = None,
) -> list[Suite]:
    """The suites that names, globs and files stand for, separated by commas or given one by one.

    The path of an existing file is not split at its commas. An option goes to every suite that has it; several values,
    separated by commas, make a suite each: ``words=published,fresh`` gives ``hans:words=published`` and
    ``hans:words=fresh``.
    """
    names = resolve_names(names)
    arguments = dict(arguments or {})
    generators = {name: generator for name in names if (generator := find_generator(name))}
    _refuse_unknown_options(arguments, generators)
    if reading and (reading.columns or reading.label_map) and len(generators) == len(names) and source is None:
        raise AcidtestError("--columns and --label-map say how to read a file, but none of the suites is one")
    corpus_suites = {name for name, generator in generators.items() if generator.takes_corpus}
    if source is not None and not corpus_suites:
        raise AcidtestError("--from is the corpus to make suites from, but none of the suites is made from one")
    path, unlabelled = source, None
    if isinstance(source, str | Path) and any(
        generators[name].source == "pairs" and generators[name].needs_gold for name in corpus_suites
    ):
        # Read once for all the suites that are made from its pairs.
        source = load(source, reading=reading)
    chosen, leftovers, keep = [], Leftovers(), reading.keep if reading else ()
    empty = dict[str, NothingToMakeError]()
    for name in names:
        if generator := generators.get(name):
            suite_arguments = {option: value for option, value in arguments.items() if option in generator.options}
            corpus = source if name in corpus_suites else None
            if isinstance(path, str | Path) and not generator.needs_gold and not _has_all_rows(source):
                corpus = unlabelled = unlabelled or load(path, reading=reading, unlabelled=True)
            for choice, suffix in _combinations(suite_arguments, generator):
                stage("making %s", name)
                try:
                    material = _load_material(generator, corpus, reading)
                    request = Request(seed=seed, source=material, leftovers=leftovers, keep=keep)
                    suite = _require_sound(generator(request, choice), name, generator)
                except NothingToMakeError as error:
                    if len(names) == 1:
                        raise
                    empty[name] = error
                    continue
                if name not in SUITES and suite.card.left_out:
                    note("%s: left out: %s", name, list_some(suite.card.left_out_reasons, 6))
                chosen.append(_with_suffix(suite, suffix))
        else:
            chosen.append(_file_suite(name, reading, taken={suite.name for suite in chosen}))
    leftovers.warn()
    if empty:
        names_of_empty = f"suites make nothing of this corpus: {', '.join(empty)} (acidtest generate NAME says why)"
        problem = f"{len(empty)} {names_of_empty}" if len(empty) > 1 else str(*empty.values())
        log.warning("%s; the run goes on without %s", problem, "them" if len(empty) > 1 else "it")
    return chosen


@dataclass(frozen=True)
class Battery:
    """The suites of a run, made on first use and then kept, so that several models share them."""

    wanted: Sequence[str | Suite] = STANDARD
    source: str | Path | Suite | None = None
    limit: int | None = None
    seed: int = 0
    arguments: Arguments | None = None
    reading: Reading | None = None

    @cached_property
    def stamp(self) -> str:
        """Text that changes whenever the suites may have changed, computed without making them; empty if it cannot be.

        It includes path, size and date of every file that is named, of those beside it and of all files of acidtest.
        """
        from importlib.util import find_spec

        from acidtest.suites.custom import is_code

        inputs = [self.source, *self.wanted, *(self.arguments or {}).values()]
        # Changes in a spaCy pipeline, a suite in memory or a plug-in cannot be seen from here.
        if find_spec("spacy") or any(isinstance(part, Suite) for part in inputs) or os.environ.get(PLUGINS):
            return ""
        names = resolve_names([str(name) for name in self.wanted])
        if any(name in SUITES and not SUITES[name].make.__module__.startswith("acidtest.") for name in names):
            return ""
        values = [part for value in (self.arguments or {}).values() for part in (str(value), *str(value).split(","))]
        paths = [Path(str(part)) for part in (self.source, *names, *values) if part]
        # A folder or a file of templates may name other files, and code may do anything.
        if any(map(is_code, names)) or any(path.is_dir() or path.suffix == ".toml" for path in paths):
            return ""
        # Some layouts are read with the files beside them, so these count too.
        folders = {path.absolute().parent for path in paths if path.is_file()}
        files = sorted(_file_stamp(path) for folder in folders for path in folder.iterdir() if path.is_file())
        variables = {name: value for name, value in os.environ.items() if name.startswith(PREFIX)}
        request = (names, str(self.source), self.limit, self.seed, self.arguments, self.reading, variables)
        return repr((request, files, _program_stamp()))

    @property
    def options(self) -> dict[str, str]:
        """The options of the command line that ask for these suites; an empty value is an option without a value.

        Suites given as objects go by their names.
        """
        reading = self.reading or Reading()
        names, source = (
            [suite.name if isinstance(suite, Suite) else str(suite) for suite in suites]
            for suites in (self.wanted, [] if self.source is None else [self.source])
        )
        options = {
            "-s": "" if tuple(names) == STANDARD else ",".join(names),
            "--from": ",".join(source),
            "--columns": ",".join(map("=".join, (reading.columns or {}).items())),
            "--suite-label-map": ",".join(map("=".join, (reading.label_map or {}).items())),
            "--keep-columns": ",".join(reading.keep),
            "--as": reading.published_as or "",
            "--limit": str(self.limit or ""),
            "--seed": str(self.seed or ""),
        }
        arguments = {f"--{name.replace('_', '-')}": value for name, value in (self.arguments or {}).items()}
        flags = {option: "" if value is True else str(value) for option, value in arguments.items()}
        return {option: value for option, value in options.items() if value} | flags

    @cached_property
    def whole(self) -> list[Suite]:
        """The suites as made or given, without limit."""
        from acidtest.core.checks import require_sound

        names = [suite for suite in self.wanted if isinstance(suite, str)]
        named = chosen_suites(names, source=self.source, seed=self.seed, arguments=self.arguments, reading=self.reading)
        given = [suite.sealed() for suite in self.wanted if isinstance(suite, Suite)]
        for suite in given:
            require_sound(suite, "suite given")
        names_used = [suite.name for suite in (*named, *given)]
        repeated = sorted({name for name in names_used if names_used.count(name) > 1})
        if repeated:
            raise AcidtestError(f"two of the suites are called {repeated[0]!r}; run them one at a time or rename one")
        return [*named, *given]

    @cached_property
    def used(self) -> list[Suite]:
        """The suites that a model is asked: cut to ``limit`` rows where it is set, and followed by their controls."""
        from acidtest.suites.sample import limit_rows

        used = [limit_rows(suite, self.limit, self.seed) for suite in self.whole] if self.limit else self.whole
        controls = (
            replace(suite.control, card=replace(suite.control.card, name=suite.name + CONTROL))
            for suite in used
            if suite.control
        )
        return [*used, *controls]


def _program_stamp() -> list[str]:
    """Paths, sizes and dates of the files of acidtest."""
    folder = Path(__file__).parents[1]
    return sorted(_file_stamp(path) for path in folder.rglob("*.*") if path.suffix != ".pyc")


def _file_stamp(path: Path) -> str:
    status = path.stat()
    return f"{path.absolute()} {status.st_size} {status.st_mtime_ns}"


def _recognise_taxinli(suite: Suite, reading: Reading | None) -> Suite:
    """The suite ``taxinli`` if a suite was read from one of TaxiNLI's two files, where categories are factors."""
    from acidtest.pairs.taxonomy import is_published

    if not is_published(suite.card.columns) or (reading is not None and reading.published_as == "file"):
        return suite
    note("%s: recognised as the published taxinli (--as file reads it as any other)", suite.origin or suite.name)
    return generate("taxinli", source=suite)


def _file_suite(file: str, reading: Reading | None, *, taken: Collection[str]) -> Suite:
    """The suite in a file; where its name is taken, as with another seed, it is named after the file."""
    suite = _recognise_taxinli(load(file, reading=reading), reading)
    path = Path(file)
    file_name = path.name if path.parent == Path() else f"{path.absolute().parent.name}/{path.name}"
    return _with_suffix(suite, file_name) if suite.name in taken else suite


def _has_all_rows(source: str | Path | Suite | None) -> bool:
    """Whether a corpus has been loaded without leaving out a row."""
    return isinstance(source, Suite) and not source.card.dropped


def _load_material(
    generator: Generator, source: str | Path | Suite | None, reading: Reading | None
) -> Suite | Path | None:
    """The source as a generator takes it: pairs are loaded, AQuA problems and prose stay a path for the suite."""
    source = generator.corpus or None if source is None else source
    if source is None or isinstance(source, Suite):
        return source
    from acidtest.corpora.statements import is_aqua, is_prose

    is_described = reading is not None and bool(reading.columns or reading.label_map)
    takes_text = generator.source == "sentences" and not is_described
    if takes_text and is_aqua(Path(source)):
        return Path(source)
    try:
        return load(source, reading=reading, unlabelled=not generator.needs_gold)
    except AcidtestError:
        if not (takes_text and is_prose(Path(source))):
            raise
        return Path(source)


def _combinations(arguments: Arguments, generator: Generator) -> Iterator[tuple[Arguments, str]]:
    """Every choice of one value for each option, with a suffix that distinguishes it from the other choices.

    An option that takes a list keeps all its values in every choice.
    """
    lists = {name for name, option in generator.options.items() if isinstance(option.default, tuple)}
    values = {name: [value] if name in lists else _split_values(value) for name, value in arguments.items()}
    for choice in product(*values.values()):
        chosen = dict(zip(values, choice, strict=True))
        parts = (f"{name}={Path(str(value)).name}" for name, value in chosen.items() if len(values[name]) > 1)
        yield chosen, ",".join(parts)


def _split_values(value: str | bool) -> list[str | bool]:
    if isinstance(value, bool) or Path(value).exists():
        return [value]
    parts = [part.strip() for part in value.split(",")]
    # A comma inside a sentence, such as a tautology that the user gave, does not separate values.
    return [value] if any(" " in part for part in parts) else list(parts)


def _with_suffix(suite: Suite, suffix: str) -> Suite:
    return replace(suite, card=replace(suite.card, name=f"{suite.name}:{suffix}")) if suffix else suite


def _refuse_unknown_options(arguments: Arguments, generators: Mapping[str, Generator]) -> None:
    options = {option for generator in generators.values() for option in generator.options}
    for option in arguments:
        if option not in options:
            raise UnknownNameError("option", option, options, f" (of {', '.join(generators) or 'the suites named'})")


def _describe_counts(suite: Suite) -> str:
    labels = ", ".join(f"{count:,} {label}" for label, count in suite.card.labels.items())
    return f"{suite.card.rows:,} pairs ({labels})"
