"""Reports: the documents of the studies that apply to some runs, as one page, and their tables and charts as files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from acidtest.core.document import Column, Document, Note, Part, Row, Section, Table, embed
from acidtest.core.draws import key
from acidtest.core.errors import AcidtestError
from acidtest.core.files import is_page, refuse_overwrite, write_text
from acidtest.core.logs import stage
from acidtest.core.run import Run
from acidtest.core.study import STUDIES, load_input
from acidtest.workflows.runs import REPORT, RUNS, Finished, finished_run

if TYPE_CHECKING:
    from acidtest.studies.comparison import ComparisonResult
    from acidtest.studies.comparison.contrasts import Contrast
    from acidtest.studies.contamination import ContaminationResult
    from acidtest.studies.scores import ScoresResult

LEADING = ("profile", "suites", "findings")
"""Anchors of the sections of scores that stand before all others."""
GROUNDING = "grounding"
"""The study that stands before all others where it applies."""
SHOWN_FINDINGS = 5
"""The most findings on a scorecard."""
SHOWN_EDITS = 12
"""The most edits of claims on a scorecard, of those that change gold and of those that keep it."""
MOST_DETAILED = 8
"""The most runs that a report describes in full; of more, a table shows every run and the rest is about the first."""
COMPARED_OF_MANY = 4
"""How many runs a report of more than ``MOST_DETAILED`` compares with one another, every one with every other."""
SHOWN_SUITES = 12
"""The most suites on one screen of a comparison."""


def report(
    runs: str | Path | Finished | Sequence[str | Path | Finished],
    output: str | Path,
    *,
    reference: Sequence[str | Path | Run | Finished] = (),
    tables: str | Path | None = None,
    plots: str | Path | None = None,
) -> Path:
    """Write one self-contained page for one or several finished runs; refuse to overwrite any file but such a page.

    Several runs are also compared, on whole suites and on crossed factors. A model whose runs hold the four suites of
    contamination gets that section; ``reference`` is for it. ``tables`` and ``plots`` are folders for the tables as
    CSV, LaTeX and Markdown and the charts as SVG and PNG.
    """
    from acidtest.render.files import write_charts, write_tables
    from acidtest.render.html import render_page

    several = [runs] if isinstance(runs, str | Path | Finished) else runs
    finished = [one if isinstance(one, Finished) else finished_run(one) for one in several]
    output = Path(output)
    refuse_overwrite(output, is_ours=is_page)
    document = report_document(finished, reference=reference)
    stage("writing %s", output)
    write_text(output, render_page(document))
    if tables is not None:
        write_tables(document, tables)
    if plots is not None:
        stage("drawing the charts in %s", plots)
        write_charts(document, plots)
    return output


def joint_report(finished: Sequence[Finished], output: str | Path | None) -> Path:
    """Write the page for several models that were run together, beside their folders."""
    folders = [one.folder for one in finished]
    name = f"joint-{key(*map(str, folders)):016x}"[:14] + ".html" if output is None else REPORT
    return report(finished, Path(RUNS if output is None else output) / name)


def scorecard(finished: Sequence[Finished], *, findings: int = SHOWN_FINDINGS, edits: int = SHOWN_EDITS) -> Document:
    """What a terminal shows of some runs on one screen."""
    from acidtest.studies.scores import scorecard as scores

    return scores.scorecard(_all_scores(finished), findings=findings, edits=edits)


def _all_scores(finished: Sequence[Finished]) -> ScoresResult:
    """The scores of several runs, by the names of their models."""
    from acidtest.studies.scores import ScoresResult
    from acidtest.studies.scoring.rows import model_names

    names = model_names([one.run for one in finished])
    return ScoresResult({name: one.scored.scores(one.run) for name, one in zip(names, finished, strict=True)})


def report_document(finished: Sequence[Finished], *, reference: Sequence[str | Path | Run | Finished] = ()) -> Document:
    """The scores of some runs, their differences, and every other study that applies to them.

    Beyond ``MOST_DETAILED`` runs, a table has the accuracy of every run, and all else is about the first of them: what
    is compared with everything else would take time that grows with the square of the number of runs.
    """
    if len(finished) <= MOST_DETAILED:
        return _detailed_document(finished, reference, compared=len(finished))
    document = _detailed_document(finished[:MOST_DETAILED], reference, compared=COMPARED_OF_MANY)
    headline = f"{len(finished):,} runs, of which {MOST_DETAILED} are described in full. {document.headline}"
    return replace(document, headline=headline, parts=(_all_runs(finished), *document.parts))


def _detailed_document(
    finished: Sequence[Finished], reference: Sequence[str | Path | Run | Finished], *, compared: int
) -> Document:
    """Everything about some runs; only the first ``compared`` of them are compared with one another."""
    from acidtest.studies.scores.document import add_examples, describe_scores
    from acidtest.studies.stress import stress_of_scores

    runs, scores = [one.run for one in finished], [one.scored.suites for one in finished]
    result = _all_scores(finished)
    base = add_examples(finished[0].document if len(finished) == 1 else describe_scores(result), result)
    sections = _profiles(result)
    if len(runs) > 1:
        stage("comparing %d runs", compared)
        sections.append(_compare(runs[:compared]))
    leaks = _contamination(finished, reference)
    if leaks.models:
        sections.append(_embed_folded(STUDIES["contamination"].document(leaks), "contamination"))
    for study in STUDIES.applicable():
        if study.name != GROUNDING and study.applies and study.applies(runs):
            try:
                # What stress tests show has been scored already.
                is_scored = study.name == "stress"
                computed = stress_of_scores(runs, scores) if is_scored else study.compute(runs)
                sections.append(_embed_folded(study.document(computed), study.name))
            except AcidtestError as error:
                note = (_error_note(error),)
                sections.append(Section(study.name.capitalize(), note, anchor=study.name, folded=True))
    leading = [part for part in base.parts if _is_leading(part)]
    rest = [part for part in base.parts if not _is_leading(part)]
    return replace(base, parts=(*_grounding(result, base.headline), *leading, *sections, *rest))


def _all_runs(finished: Sequence[Finished]) -> Section:
    """The accuracy of every run on every suite."""
    from acidtest.studies.scoring.rows import model_names

    suites = dict.fromkeys(suite for one in finished for suite in one.scored.suites)
    names = model_names([one.run for one in finished])
    rows = []
    for name, one in zip(names, finished, strict=True):
        accuracies = (one.scored.suites[suite].overall if suite in one.scored.suites else None for suite in suites)
        rows.append(Row(name, (*accuracies, one.scored.signature)))
    columns = (*map(Column, suites), Column("signature", "text"))
    caption = f"Accuracy of {len(rows):,} runs on whole suites, %"
    text = (
        f"The other sections are about the first {MOST_DETAILED} runs, in the order in which they were named; "
        f"the section on differences compares the first {COMPARED_OF_MANY}. To see others, name at most "
        f"{MOST_DETAILED} runs, or compare two with acidtest compare."
    )
    table = Table("all-runs", caption, columns, tuple(rows), "run")
    return Section("All runs", (table, Note(text)), anchor="runs")


def full_document(finished: Finished) -> Document:
    """Everything about one run for a terminal: its scores, after what was measured on documents and claims."""
    document = finished.document
    result = _all_scores([finished])
    return replace(document, parts=(*_grounding(result, document.headline), *document.parts))


def _grounding(result: ScoresResult, headline: str) -> list[Section]:
    """What was measured on documents and claims, if any run holds suites about them: the first section, unfolded.

    Its sentence is left out where it is part of the headline.
    """
    from acidtest.studies.grounding import GroundingResult

    measured = {name: model.grounding for name, model in result.models.items() if model.grounding}
    if not measured:
        return []
    document = STUDIES[GROUNDING].document(GroundingResult(measured))
    section = embed(document, GROUNDING)
    parts = section.parts[1:] if document.headline in headline else section.parts
    return [replace(section, title="Documents and claims", parts=parts)]


def _embed_folded(document: Document, name: str, title: str = "") -> Section:
    """A document as a folded section with its headline beside the title."""
    section = embed(document, name)
    return replace(section, title=title or section.title, folded=True, summary=document.headline)


def _profiles(result: ScoresResult) -> list[Section]:
    """Everything that was measured of what moves the models' answers, for each suite of cues that a run holds."""
    from acidtest.studies.crossed_suites import crossed_suites
    from acidtest.studies.cue_profile import measure_profile
    from acidtest.studies.profile import ProfileResult

    sections: list[Section] = []
    for suite in crossed_suites().values():
        profiles, runs = {}, {}
        for name, model in result.models.items():
            if model.profile and model.profile.suite == suite.name:
                profiles[name] = model.profile
            elif model.run and suite.names_in(model.run):
                profiles[name] = measure_profile(model.run, suite.name)
            if name in profiles and model.run:
                runs[name] = model.run
        if profiles:
            document = STUDIES["profile"].document(ProfileResult(profiles, runs=runs))
            title = f"What moves its answers on {suite.name}" if sections else "More on what moves its answers"
            anchor = f"profile-{suite.name.replace('/', '-')}" if sections else "profile-details"
            sections.append(_embed_folded(document, anchor, title))
    return sections


def _compare(runs: Sequence[Run]) -> Section:
    """The section on differences on whole suites and crossed factors, or why there are none."""
    try:
        result: ComparisonResult = STUDIES["comparison"].compute(runs, every_factor=False)
    except AcidtestError as error:
        return Section("Differences between the models", (_error_note(error),), anchor="differences", folded=True)
    return _embed_folded(STUDIES["comparison"].document(result), "differences")


def _is_leading(part: Part) -> bool:
    return isinstance(part, Section) and part.anchor in LEADING


def _error_note(error: AcidtestError) -> Note:
    """A note on why a section has no numbers."""
    text = str(error)
    return Note(f"{text[:1].upper()}{text[1:]}.")


def _contamination(
    finished: Sequence[Finished], reference: Sequence[str | Path | Run | Finished]
) -> ContaminationResult:
    from acidtest.studies.contamination import ContaminationResult

    if len(finished) == 1 and not reference:
        known = finished[0].scored.contamination
        return ContaminationResult((known,) if known else ())
    return measure_contamination(finished, reference=reference)


def measure_contamination(
    runs: Sequence[str | Path | Run | Finished],
    *,
    reference: Sequence[str | Path | Run | Finished] = (),
    correction: str = "holm",
) -> ContaminationResult:
    """The contamination of every model whose runs hold the four suites; none is no error."""
    from acidtest.studies.contamination import ContaminationResult, measure_models

    ours, clean = (load_input(Sequence[Run], given) for given in (runs, reference))
    return ContaminationResult(measure_models(ours, reference=clean, correction=correction))


def compare(runs: Sequence[str | Path | Run | Finished], *, correction: str = "holm", seed: int = 0) -> list[Contrast]:
    """Paired tests between runs on the same rows, unpaired and stratified ones on different rows."""
    result: ComparisonResult = STUDIES["comparison"].compute(runs, correction=correction, seed=seed)
    return list(result.contrasts)


def comparison_document(result: ComparisonResult | None, leaks: ContaminationResult, reason: str) -> Document:
    """Differences between runs and signs of contamination; ``reason`` says why runs are not compared."""
    sections = [embed(STUDIES["contamination"].document(leaks), "contamination")] if leaks.models else []
    if result is None:
        models = tuple(model.model for model in leaks.models)
        notes = (Note(f"The runs are not compared with each other: {reason}."),) if reason else ()
        headline = STUDIES["contamination"].document(leaks).headline
        return Document("acidtest compare", headline, (*notes, *sections), models=models)
    document = STUDIES["comparison"].document(result)
    return replace(document, parts=(*sections, *document.parts))


def comparison_screen(result: ComparisonResult, leaks: ContaminationResult, suites: int) -> Document:
    """What a terminal shows of a comparison on one screen, with at most ``suites`` suites."""
    from acidtest.studies.comparison import screen

    document = screen(result, suites=suites)
    signs = (Note(f"Contamination: {STUDIES['contamination'].document(leaks).headline}"),) if leaks.models else ()
    return replace(document, parts=(*document.parts, *signs))
