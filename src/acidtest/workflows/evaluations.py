"""Asks a model every pair of some suites, or scores a file of predictions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from acidtest.core.draws import key
from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.guests import guest_code
from acidtest.core.labels import Collapse
from acidtest.core.logs import note
from acidtest.core.model import MODELS, ChecksSuites, Model, complete_model, model_from_spec
from acidtest.core.model import model_options as model_options
from acidtest.core.run import Run
from acidtest.core.suite import EXPECTATION, Suite
from acidtest.workflows.batteries import STANDARD, Arguments, Battery, Reading
from acidtest.workflows.kept_files import answer_cache
from acidtest.workflows.runs import (
    RUNS,
    Finished,
    Job,
    check_finished,
    default_folder,
    find_finished,
    missing_folders,
    rename,
    run_job,
    versions,
)

if TYPE_CHECKING:
    from acidtest.evaluate.runner import Progress

DEFAULT_MODEL = "reference"
DEFAULT_LIMIT = 3000
"""Pairs of each suite of the standard battery that the default model is asked when nothing is named."""

_LONGEST_NAME = 100
_NAME = rf"(?=.{{1,{_LONGEST_NAME}}}$)\w(?:[\w .+=@-]*[\w+=@-])?"
"""What the name of a run may be: the name of a folder on every system."""

_LONGEST_SLUG = 60
"""The most characters of a model's name in the name of its folder."""

PREMISES = ("whole", "chunks")
"""How premises are asked: as they are, or part by part where they are too long for the model."""

AnyRun = str | Path | Run | Finished
"""A run, or the folder of one."""


def run(
    model: str | object = DEFAULT_MODEL,
    suites: str | Suite | Sequence[str | Suite] | Battery = STANDARD,
    *,
    source: str | Path | Suite | None = None,
    output: str | Path | None = None,
    name: str = "",
    limit: int | None = None,
    seed: int = 0,
    collapse: str = "argmax",
    threshold: float | None = None,
    base_rate: float | None = None,
    batch_size: int | None = None,
    options: Arguments | None = None,
    premise: str = "whole",
    aggregation: str = "max-entail",
    cache: bool = True,
    fresh: bool = False,
    page: bool = True,
    arguments: Arguments | None = None,
    reading: Reading | None = None,
    progress: Progress | None = None,
    engine: str = "local",
    address: str | None = None,
) -> Finished:
    """Ask a model every pair of some suites, analyse the answers and write the report.

    ``source`` is the corpus that suites such as ``stress/negation`` are made from, else the starter corpus. A model is
    a spec such as ``baseline:overlap``, a function of premises and hypotheses, or an object with ``predict``. The same
    call continues a run that was interrupted, or gives the finished one, unless the model has no fingerprint
    to recognise it by: then everything is asked again, into a new folder. Answers of models that cost something are
    kept for later runs as well, unless ``cache`` is false. A ``Battery`` holds all options of suites, and makes them
    once for several models. ``options`` are those of the kind of model (``device`` …), ``arguments`` those of suites.
    ``premise`` chunks asks premises that are too long for the model part by part. ``engine`` ray asks on a Ray cluster,
    the one at ``address`` or a new one on this machine; the model is then a spec. ``page`` false writes no report.
    ``name`` names the run, and its folder unless ``output`` does: ``acidtest-runs/NAME``. ``threshold`` is short for
    ``collapse`` threshold=T; ``base_rate`` is the share of claims that are not supported where the model serves.
    """
    here = Path.cwd()
    chosen = _chosen_folder(output, name)
    on_ray = engine != "local" or address is not None
    if on_ray:
        from acidtest.workflows.clusters import ModelRecipe, ray_engine, require_ray

        require_ray(engine, address)
    loaded = model_of(model, options, batch_size=batch_size, premise=premise, aggregation=aggregation)
    if not isinstance(suites, Battery):
        wanted = (suites,) if isinstance(suites, str | Suite) else tuple(suites)
        suites = Battery(wanted, source=source, limit=limit, seed=seed, arguments=arguments, reading=reading)
    decision = _collapse(collapse, threshold)
    spec = model if isinstance(model, str) else loaded.name
    settings = _settings(suites, decision, options, base_rate)
    request = _request(suites, loaded, settings)
    # Paths are resolved here: code of the model may have changed the working folder in a thread of its own.
    folders = [here / chosen] if chosen else (here / RUNS).glob(f"{_slug(loaded.name)}-*")
    earlier = None if fresh else find_finished(request, folders, page=page)
    if earlier is not None:
        check_finished(earlier, loaded)
        return _named(rename(earlier, name), here, chosen)
    _check_model(loaded, suites, decision)
    recipe = ModelRecipe(spec, options, batch_size, premise, aggregation) if on_ray else None
    asking = ray_engine(model, loaded, recipe, address) if recipe else None
    kept = answer_cache() if cache else None
    job = Job(
        loaded,
        spec,
        suites.used,
        settings,
        engine=asking,
        cache=kept,
        request=request,
        name=name,
        options=suites.options,
    )
    stem = here / (chosen or Path(RUNS) / f"{_slug(loaded.name)}-{job.key[:8]}")
    finished = _run_in_folder(job, stem, chosen=chosen is not None, fresh=fresh, page=page, progress=progress)
    return _named(rename(finished, name), here, chosen)


def _named(finished: Finished, here: Path, chosen: Path | None) -> Finished:
    """The finished run with its folder as the user would write it: relative unless an absolute one was chosen."""
    if chosen is not None:
        return replace(finished, folder=chosen)
    return replace(finished, folder=finished.folder.relative_to(here))


def _settings(
    battery: Battery, collapse: Collapse, options: Arguments | None, base_rate: float | None
) -> dict[str, object]:
    """What a run was asked for, as its header keeps it; options that were not given are left out."""
    settings: dict[str, object] = {"collapse": str(collapse), "limit": battery.limit, "seed": battery.seed}
    if options:
        settings["options"] = dict(options)
    if base_rate is not None:
        from acidtest.studies.verification import parse_base_rate

        settings["base_rate"] = parse_base_rate(base_rate)
    return settings


def _collapse(collapse: str, threshold: float | None) -> Collapse:
    """How probabilities become verdicts, by one of the two ways to say it."""
    if threshold is None:
        return Collapse.parse(collapse)
    decision = Collapse.parse(f"threshold={threshold:g}")
    if collapse not in ("argmax", str(decision)):
        raise AcidtestError(f"--threshold {threshold:g} stands for --collapse {decision}, but --collapse is {collapse}")
    return decision


def _run_in_folder(
    job: Job, stem: Path, *, chosen: bool, fresh: bool, page: bool, progress: Progress | None
) -> Finished:
    """Run a job in the folder that was chosen, or else in that of its model and request."""
    missing = missing_folders(stem)
    folder = stem if chosen else default_folder(job, stem, fresh=fresh)
    created = missing if folder == stem else (folder,)
    return run_job(job, folder, created=created, fresh=fresh, page=page, progress=progress)


def _chosen_folder(output: str | Path | None, name: str) -> Path | None:
    """The folder that the user chose, by itself or by the name of the run; None if neither is given."""
    if name and not re.fullmatch(_NAME, name):
        raise AcidtestError(
            f"--name {name!r} is to name a folder: letters, digits, spaces and . _ + = @ - after a letter or digit, "
            f"{_LONGEST_NAME} at most"
        )
    return Path(output) if output is not None else Path(RUNS) / name if name else None


def _request(battery: Battery, model: Model, settings: Mapping[str, object]) -> str:
    """A hash of the request; empty if the model or the battery cannot be recognised later."""
    if model.fingerprint is None or not battery.stamp:
        return ""
    return f"{key(battery.stamp, repr(settings), model.name, model.fingerprint, repr(versions())):016x}"


def _check_model(model: Model, battery: Battery, collapse: Collapse) -> None:
    """Refuse a model that cannot be asked these suites or collapsed this way, and print its notes."""
    if collapse.mode != "argmax" and not model.probabilities:
        raise AcidtestError(f"collapse {collapse} needs probabilities, but the model gives labels only; use argmax")
    for suite in battery.whole:
        compares = EXPECTATION in suite.card.columns or suite.card.about_claims
        if set(suite.card.labels) == {"any"} and not compares:
            raise AcidtestError(
                f"suite {suite.name!r} has no gold: its pairs are questions for people; make labels of their answers "
                f"(acidtest agreement), and the suite with them (--answers)"
            )
    if isinstance(model, ChecksSuites):
        with guest_code():
            model.check(battery.whole)
    for text in model.notes:
        note("%s: %s", model.name, text)


def model_of(
    model: str | object,
    options: Arguments | None = None,
    *,
    batch_size: int | None = None,
    premise: str = "whole",
    aggregation: str = "max-entail",
) -> Model:
    """Load the model of a spec, or wrap a user's own, with the batch size and premise handling asked for."""
    with guest_code(is_new=True):
        loaded = model_from_spec(model, options) if isinstance(model, str) else complete_model(model)
    if premise not in PREMISES:
        raise UnknownNameError("way to ask premises", premise, PREMISES)
    if batch_size is not None:
        if batch_size < 1:
            raise AcidtestError(f"--batch-size is a number from 1 on, not {batch_size}")
        loaded.batch_size = batch_size
    if premise == "chunks":
        from acidtest.models.chunks import split_premises

        loaded = split_premises(loaded, aggregation)
    return loaded


def score(
    predictions: str | Path,
    suite: str | Suite | Battery,
    *,
    source: str | Path | Suite | None = None,
    answers: Reading | None = None,
    column: str | None = None,
    order: str | None = None,
    missing: str = "refuse",
    in_order: bool = False,
    output: str | Path | None = None,
    name: str = "",
    seed: int = 0,
    collapse: str = "argmax",
    fresh: bool = False,
    arguments: Arguments | None = None,
    reading: Reading | None = None,
    trust_labels: bool = False,
) -> Finished:
    """Make a run from a file of predictions; no model needed.

    ``answers`` says how to read the predictions (columns id and label, or id, entailment, neutral and contradiction;
    what their labels mean), ``reading`` how to read the suite, or the ``source`` it is made from, when it is a foreign
    file. ``column`` is one of several systems' columns of labels or support scores, and names the model. A ``Battery``
    of one suite holds all its options, and makes it once for several systems. ``order`` names the labels that three
    numbers in one cell stand for (``e,n,c``). An empty cell is no answer, which counts as wrong; with ``missing``
    unanswered so is a row that the file does not have. With ``in_order`` the rows of the file are those of the suite in
    the same order, and need no ids; original pairs of the suite are left out. Labels that gold shows to be in another
    order raise an error, unless ``trust_labels``.
    """
    from acidtest.models.answers import AnswersModel, parse_missing
    from acidtest.models.prediction_files import PredictionOptions, parse_order

    reads = answers or Reading()
    columns = dict(reads.columns or {})
    if column is not None and columns.keys() - {"id"}:
        raise AcidtestError(f"--column {column} says where the labels are; --columns may then name the id only")
    columns |= {} if column is None else {"label": column}
    options = PredictionOptions(columns, dict(reads.label_map or {}), parse_order(order or ""))
    path, unasked = Path(predictions), parse_missing(missing)
    model = AnswersModel(path, options, missing=unasked, in_order=in_order, name=column, trust_labels=trust_labels)
    if not isinstance(suite, Battery):
        suite = Battery([suite], source=source, seed=seed, arguments=arguments, reading=reading)
    if in_order and any(made.control for made in suite.whole):
        note("%s: only the suite's own pairs are scored, not its original pairs, which have no row here", predictions)
        suite = Battery([replace(made, control=None) for made in suite.whole], limit=suite.limit, seed=suite.seed)
    kept = {"trust_labels": True} if trust_labels else None
    return run(model, suite, output=output, name=name, seed=seed, collapse=collapse, options=kept, fresh=fresh)


def model_kinds() -> list[str]:
    """The kinds of models: what a spec may begin with."""
    return list(MODELS)


def run_of(source: AnyRun) -> Run:
    """The run itself, or the one read from a folder."""
    if isinstance(source, Finished):
        return source.run
    return source if isinstance(source, Run) else Run.read(source)


def folder_for(spec: str, output: str | Path | None, specs: Sequence[str]) -> Path | None:
    """The folder for the run of one spec: ``output`` itself, or a folder below it where there are several specs."""
    if output is None:
        return None
    return Path(output) if len(specs) == 1 else Path(output) / _folder_name(spec, specs)


def _folder_name(spec: str, specs: Sequence[str]) -> str:
    """The spec as the name of a folder, with a digest where another spec would get the same name."""
    # Some file systems ignore case.
    alike = [other for other in specs if _slug(other).casefold() == _slug(spec).casefold()]
    if len(alike) == 1 and len(spec) <= _LONGEST_SLUG:
        return _slug(spec)
    return f"{_slug(spec)}-{f'{key(spec):016x}'[:8]}"


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:_LONGEST_SLUG] or "model"
