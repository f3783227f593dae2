"""A comparison on one screen of a terminal: suites, profiles and, last, the sentence to take away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from acidtest.core.document import Column, Document, Note, Part, PValue, Row, Table, describe_count
from acidtest.studies.comparison import ComparisonResult
from acidtest.studies.comparison.contrasts import Contrast
from acidtest.studies.comparison.document import describe_families, describe_tests, factor_sections
from acidtest.studies.comparison.profile_tables import TIED, effects_table, join_letters, profile_notes, profile_table
from acidtest.studies.comparison.profiles import ProfileContrast
from acidtest.studies.comparison.sentence import by_size, short_names

SHOWN_SUITES = 12
"""The most suites that a screen has a line for."""
MOST_COLUMNS = 4
"""With more models than this, profiles are not on the screen."""
UNTOUCHED = "untouched pairs"


def screen(result: ComparisonResult, *, suites: int = SHOWN_SUITES) -> Document:
    """One screen with at most ``suites`` suites; if the caller chose factors, their slices and nothing else."""
    whole = [contrast for contrast in result.contrasts if not contrast.factor]
    parts: list[Part] = list(factor_sections(result)) if result.shown_factors else []
    if parts:
        parts = [part for part in parts if not getattr(part, "folded", False)]
    elif len(result.runs) == 2:
        parts = [_suites_table(whole, result.correction, most=suites)]
        parts += [profile_table(profile, brief=True) for profile in result.profiles if profile.cues]
    else:
        parts = [_models_table(result, whole, most=suites), *_several_profiles(result.profiles)]
    parts += [Note(note) for note in profile_notes(result.profiles) if not result.shown_factors]
    sentences = tuple(result.headline.split("\n"))
    return Document("acidtest compare", " ".join(sentences), tuple(parts), tuple(result.runs), sentences=sentences)


def _suites_table(whole: Sequence[Contrast], correction: str, *, most: int) -> Table:
    """The suites with the largest differences between two models, and the largest control."""
    suites = by_size([one for one in whole if not one.is_control])
    controls = sorted((one for one in whole if one.is_control), key=lambda one: -one.difference.n)[:1]
    rows = [_suite_row(one, one.suite) for one in suites[:most]]
    rows += [replace(_suite_row(one, UNTOUCHED), role="control") for one in controls]
    shown = [*suites[:most], *controls]
    short = short_names([one.suite for one in suites])
    names = [*(short[one.suite] for one in suites[:most]), *(UNTOUCHED for _ in controls)]
    notes = [*_left_out(len(suites) - most), *describe_tests(names, shown), describe_families(correction, shown)]
    columns = (
        Column(whole[0].first),
        Column(whole[0].second),
        Column("difference", "points"),
        Column("adjusted p", "p"),
        Column("verdict", "text"),
    )
    return Table("suites", "", columns, tuple(rows), "suite, accuracy in %", notes=tuple(notes))


def _suite_row(one: Contrast, name: str) -> Row:
    return Row(name, (*one.accuracies, one.difference, PValue(one.p_adjusted), one.verdict))


def _left_out(count: int) -> Iterator[str]:
    if count > 0:
        yield f"and {describe_count(count, 'more suite')}: --full"


def _models_table(result: ComparisonResult, whole: Sequence[Contrast], *, most: int) -> Table:
    """The accuracy of three models or more on the suites that differ most, and which models are not told apart."""
    letters = {ties.what: ties.letters for ties in result.ties}
    tests = [one for one in whole if not one.is_control] or list(whole)
    names = list(dict.fromkeys(one.suite for one in by_size(tests)))
    accuracies: dict[str, dict[str, float]] = {}
    for one in whole:
        accuracies.setdefault(one.suite, {}).update(zip((one.first, one.second), one.accuracies, strict=True))
    columns = (*(Column(model, model=model) for model in result.runs), Column("tied", "text"))
    rows = tuple(
        Row(
            suite,
            (*(accuracies[suite].get(model) for model in result.runs), join_letters(letters[suite], result.runs)),
        )
        for suite in names[:most]
    )
    notes = (*_left_out(len(names) - most), TIED, describe_families(result.correction, tests))
    return Table("suites", "", columns, rows, "suite, accuracy in %", notes=notes)


def _several_profiles(profiles: Sequence[ProfileContrast]) -> Iterator[Part]:
    """The effects of three models or more, if these fit on a screen."""
    measured = [profile for profile in profiles if profile.cues]
    models = {name for profile in measured for name in (profile.first, profile.second)}
    if len(models) > MOST_COLUMNS:
        yield Note(f"The profiles of {len(models)} models: --full, or a page (-o FILE.html).")
    elif measured:
        yield effects_table(measured)
