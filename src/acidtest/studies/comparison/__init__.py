"""Comparison of models: on which suites one is better, how their profiles differ, and where: slice by slice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

from acidtest.core.document import (
    Browser,
    Cell,
    Chart,
    Column,
    Document,
    Note,
    Pairs,
    Part,
    Push,
    PValue,
    Reference,
    Row,
    Section,
    Table,
    describe_count,
)
from acidtest.core.escaping import escape_control
from acidtest.core.estimate import Estimate
from acidtest.core.numbers import signed
from acidtest.core.run import Run
from acidtest.core.study import study
from acidtest.core.suite import CATEGORY, CROSS
from acidtest.stats.contingency import ALPHA, Ties, tied_groups
from acidtest.studies.comparison.contrasts import Contrast, compare_runs, tied_models
from acidtest.studies.comparison.profiles import CueContrast, ProfileContrast, compare_profiles
from acidtest.studies.crossed_suites import all_cues, crossed_suites
from acidtest.studies.cue_effects import USED, CueEffect, is_beyond
from acidtest.studies.scoring.rows import ScoredRows, model_names, score_alike
from acidtest.studies.scoring.slices import MOST_CHART_ROWS, disagreement, headings, main_factor, row_names, slice_of

SCHEMA = 1


@dataclass(frozen=True)
class ComparisonResult:
    """Every contrast between the runs, of accuracies and of profiles, and the models that they do not tell apart."""

    correction: str
    contrasts: tuple[Contrast, ...]
    ties: tuple[Ties, ...]
    schema: int = SCHEMA
    headline: str = ""
    """On which suites the second model is better, worse or undecided; a sentence for each of up to three pairs."""
    profiles: tuple[ProfileContrast, ...] = ()
    """What moves the models' answers, side by side, for every two runs."""
    runs: Mapping[str, Run] = field(default_factory=dict, metadata={"json": None})
    """The runs by the names of their models, from which example rows are shown."""
    shown_factors: tuple[str, ...] = field(default=(), metadata={"json": None})
    """Factors whose slices are shown unfolded."""


@study()
def comparison(
    runs: Annotated[Sequence[Run], "Two run folders or more."],
    *,
    by: Annotated[tuple[str, ...], "Factors whose slices are shown: A,B,…"] = (),
    correction: Annotated[str, "holm, bh (Benjamini–Hochberg), by (Benjamini–Yekutieli) or none."] = "holm",
    every_factor: Annotated[bool, "Test the slices of every factor, not only of those the suites cross."] = True,
    seed: Annotated[int, "Seed of every random choice."] = 0,
) -> ComparisonResult:
    """Compare runs: paired tests on the same rows, unpaired and stratified ones on different rows."""
    contrasts = compare_runs(runs, correction=correction, seed=seed, every_factor=every_factor)
    named = dict(zip(model_names(runs), runs, strict=True))
    return ComparisonResult(
        correction,
        tuple(contrasts),
        tuple(tied_models(contrasts)),
        headline=describe_comparison(contrasts),
        profiles=tuple(compare_profiles(named)),
        runs=named,
        shown_factors=tuple(by),
    )


MOST_SENTENCES = 3
"""With more pairs of models than this, one sentence sums them up."""
MOST_SIZES = 3
"""The size is given for this many suites of a kind, the largest first."""
MOST_SLICES = 2
"""The most slices that are named of suites that show no difference as a whole."""
TWO_LINES = 190
"""The most characters of a sentence about two models: what two lines of a terminal hold."""

Pair = tuple[str, str]


def describe_comparison(contrasts: Sequence[Contrast]) -> str:
    """A line for each pair of models, or one for all where there are many; corrected over all suites.

    Controls are no suites: where nothing but controls was asked of both models, these take their place.
    """
    whole = [contrast for contrast in contrasts if not contrast.factor]
    suites = [contrast for contrast in whole if not contrast.is_control] or whole
    pairs: dict[Pair, list[Contrast]] = {}
    for contrast in suites:
        pairs.setdefault((contrast.first, contrast.second), []).append(contrast)
    if len(pairs) > MOST_SENTENCES:
        return _describe_many(suites)
    names = short_names([contrast.suite for contrast in suites])
    sentences = [_describe_pair(pair, members, names, len(pairs) > 1) for pair, members in pairs.items()]
    if len(pairs) == 1:
        sentences += _describe_slices([one for one in contrasts if one.factor and not one.is_control], suites, names)
    return "\n".join(map(escape_control, sentences))


def _describe_slices(slices: Sequence[Contrast], suites: Sequence[Contrast], names: Mapping[str, str]) -> list[str]:
    """The largest differences on slices of suites that are undecided as a whole: they may cancel out there.

    Tests are corrected over the slices of a factor, and here also over factors.
    """
    undecided = {one.suite for one in suites if one.verdict == "undecided"}
    alpha = ALPHA / max(len({one.family for one in slices}), 1)
    shown = by_size([one for one in slices if one.suite in undecided and one.is_shown(alpha)])
    if not shown:
        return []
    texts = [
        f"{names[one.suite]}:{one.factor}={one.value} ({signed(one.difference.value)})" for one in shown[:MOST_SLICES]
    ]
    return [f"Its slices differ, though: {listed(texts)}; --by {shown[0].factor} shows more."]


def short_names(suites: Sequence[str]) -> dict[str, str]:
    """Suites without their family, ``word-overlap`` for ``stress/word-overlap``, where no other is called so.

    A suite keeps its family if that is one of the suites, as ``hans/novel`` beside ``hans``.
    """
    distinct = dict.fromkeys(suites)
    last = {suite: _without_family(suite) for suite in distinct}
    counts = Counter(last.values())
    bare = {suite.partition(":")[0] for suite in distinct}
    return {
        suite: short if counts[short] == 1 and suite.partition(":")[0].rpartition("/")[0] not in bare else suite
        for suite, short in last.items()
    }


def by_size(contrasts: Sequence[Contrast]) -> list[Contrast]:
    """The contrasts, the largest difference first and those that cannot be computed last."""
    return sorted(contrasts, key=lambda one: -abs(one.difference.value) if one.difference.known else 1.0)


def listed(names: Sequence[str], most: int | None = None) -> str:
    """Names as they stand in a sentence: ``a, b and c``; beyond ``most`` of them ``a, b and 3 more``."""
    shown = list(names) if most is None or len(names) <= most else [*names[:most], f"{len(names) - most} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _without_family(suite: str) -> str:
    name, colon, options = suite.partition(":")
    return f"{name.rpartition('/')[2]}{colon}{options}"


def _describe_pair(pair: Pair, contrasts: Sequence[Contrast], names: Mapping[str, str], several: bool) -> str:
    """The sentence about two models, with as many suites named as two lines hold."""
    first, second = pair
    if all(one.verdict == "undecided" for one in contrasts):
        where = f"on {names[contrasts[0].suite]}" if len(contrasts) == 1 else f"on any of {len(contrasts)} suites"
        return f"No difference is shown between {first} and {second} {where}."
    opening = f"Against {first}, {second} is" if several else f"{second} is"
    sentence = ""
    for most in range(len(contrasts), 0, -1):
        sentence = f"{opening} {', '.join(_describe_kinds(by_size(contrasts), names, most))}."
        if len(sentence) <= TWO_LINES:
            break
    return sentence


def _describe_kinds(contrasts: Sequence[Contrast], names: Mapping[str, str], most: int) -> list[str]:
    """``better on …``, ``worse on …``, ``undecided on …``, each with at most ``most`` suites."""
    phrases = []
    for verdict in ("better", "worse"):
        chosen = [one for one in contrasts if one.verdict == verdict]
        texts = [
            f"{names[one.suite]} ({signed(one.difference.value)})" if place < MOST_SIZES else names[one.suite]
            for place, one in enumerate(chosen)
        ]
        phrases += [f"{verdict} on {listed(texts, most)}"] if chosen else []
    undecided = [one for one in contrasts if one.verdict == "undecided"]
    if undecided:
        rest = names[undecided[0].suite] if len(undecided) == 1 else "the rest"
        phrases.append(f"undecided on {rest}")
    return phrases


def _describe_many(suites: Sequence[Contrast]) -> str:
    """How many comparisons show a difference, and which model is most often the better and the worse one."""
    better, worse = Counter[str](), Counter[str]()
    for one in suites:
        if one.verdict != "undecided":
            winner, loser = (one.second, one.first) if one.verdict == "better" else (one.first, one.second)
            better[winner] += 1
            worse[loser] += 1
    models = len({name for one in suites for name in (one.first, one.second)})
    shown = sum(better.values())
    tests = f"{describe_count(len(suites), 'comparison')} of {models} models on whole suites"
    if not shown:
        return f"None of {tests} shows a difference."
    (best, wins), (last, losses) = better.most_common(1)[0], worse.most_common(1)[0]
    what = f"{shown} of {tests} {'shows' if shown == 1 else 'show'} a difference"
    return f"{what}: most often {best} is better ({wins}) and {last} is worse ({losses})."


MOST_NAMES = 4
"""The most suites or slices that a note names before it counts the others."""

_METHODS = (
    "Differences are percentage points, second minus first. Detectable is the smallest difference that as many rows "
    "would show four times in five.",
    "Differences of effects between profiles have joint intervals (Bonferroni over ten effects and all pairs of "
    "models); they are shown to differ where the interval excludes zero.",
)


_UNSURE = f"adjusted p is below {ALPHA:g}, but the interval includes zero: undecided"


def document(result: ComparisonResult) -> Document:
    """The sentence, profiles and whole suites; slices and the rows on which models differ are folded."""
    whole = [contrast for contrast in result.contrasts if not contrast.factor]
    return Document(
        title="acidtest compare",
        headline=result.headline.replace("\n", " "),
        parts=(
            Section("What moves their answers", tuple(profile_parts(result.profiles)), anchor="profiles"),
            Section("Suites", tuple(_suite_parts(result, whole)), anchor="differences"),
            *_matrix_sections(whole),
            *factor_sections(result),
            *_disagreement_sections(result),
            *([Browser(result.runs)] if result.runs else []),
        ),
        models=tuple(dict.fromkeys(name for one in whole for name in (one.first, one.second))),
        methods=_METHODS,
    )


def factor_sections(result: ComparisonResult) -> Iterator[Section]:
    """The slices, one factor at a time, with a table for each suite that has it; crossed factors first.

    Sections are folded but for the factors that the caller chose.
    """
    factors: dict[str, dict[str, list[Contrast]]] = {}
    for contrast in result.contrasts:
        if contrast.factor:
            factors.setdefault(contrast.factor, {}).setdefault(contrast.suite, []).append(contrast)
    for factor in sorted(factors, key=lambda factor: CROSS not in factor):
        suites = factors[factor]
        parts = [part for suite, members in suites.items() for part in _factor_parts(result, suite, factor, members)]
        tests = describe_families(result.correction, [one for members in suites.values() for one in members])
        folded = factor not in result.shown_factors
        yield Section(f"By {factor}", (*parts, Note(tests, quiet=True)), folded=folded, summary=_summary(suites))


def describe_families(correction: str, contrasts: Sequence[Contrast]) -> str:
    """Over which tests p is adjusted."""
    families = {one.family: one.family_tests for one in contrasts}
    sizes = ", and apart from these ".join(
        f"{family} ({describe_count(size, 'test')})" for family, size in families.items()
    )
    return f"p is adjusted ({correction}) over all suites and pairs of models: {sizes}."


def describe_tests(names: Sequence[str], contrasts: Sequence[Contrast]) -> tuple[str, ...]:
    """How each contrast was tested, and what there is to know about it: every fact once, with what it holds for.

    ``names`` are those of the contrasts, in the same order.
    """
    tests: dict[tuple[bool, str], dict[str, None]] = {}
    notes: dict[str, dict[str, None]] = {}
    for name, one in zip(names, contrasts, strict=True):
        tests.setdefault((one.paired, one.test), {})[name] = None
        if one.difference.note:
            notes.setdefault(one.difference.note, {})[name] = None
        if one.p_adjusted < ALPHA and not one.is_shown():
            notes.setdefault(_UNSURE, {})[name] = None
    most_common = max(tests, key=lambda test: len(tests[test]))
    asked = []
    for rows, paired in (("the same rows", True), ("different rows", False)):
        chosen = {test: members for (is_paired, test), members in tests.items() if is_paired == paired}
        # The most frequent test comes last, where "the rest" says what is left.
        ordered = sorted(chosen, key=lambda test: (paired, test) == most_common)
        texts = [
            f"{test} ({'the rest' if (paired, test) == most_common else listed(list(chosen[test]), MOST_NAMES)})"
            for test in ordered
        ]
        phrase = ", ".join(texts) if len(tests) > 1 else "".join(chosen)
        asked += [(paired == most_common[0], f"on {rows}: {phrase}")] if chosen else []
    sentence = f"Tested {'; '.join(text for _, text in sorted(asked))}."
    return sentence, *(f"{listed(list(members), MOST_NAMES)}: {note}." for note, members in notes.items())


def _summary(suites: Mapping[str, Sequence[Contrast]]) -> str:
    """What is under a folded factor: its suites, and how many slices show a difference."""
    contrasts = [one for members in suites.values() for one in members]
    shown = sum(one.verdict != "undecided" for one in contrasts)
    where = listed(list(short_names(list(suites)).values()), MOST_NAMES)
    return f"{where}: {shown:,} of {describe_count(len(contrasts), 'slice')} differ"


def _suite_parts(result: ComparisonResult, whole: Sequence[Contrast]) -> Iterator[Part]:
    """Whole suites, the largest difference first, then controls; with more models, which of them are tied."""
    kinds = {
        "differences": ("Accuracy on whole suites", [one for one in whole if not one.is_control]),
        "untouched": ("Accuracy on the untouched pairs of suites", [one for one in whole if one.is_control]),
    }
    for table_id, (caption, contrasts) in kinds.items():
        if contrasts:
            table = _contrast_table(table_id, f"{caption}, and second minus first", contrasts, "suite")
            yield table
            if 1 < len(contrasts) <= MOST_CHART_ROWS:
                yield _chart(table)
    yield Note(describe_families(result.correction, whole), quiet=True)
    for ties in (ties for ties in result.ties if len(ties.rates) > 2):
        yield Note(f"{describe_ties(ties)}.")


def describe_ties(ties: Ties) -> str:
    """Which models a suite does not tell apart: ``Tied on hans (…), best first: a = b; c``."""
    groups = "; ".join(" = ".join(group) for group in ties.groups)
    which = "Tied" if any(len(group) > 1 for group in ties.groups) else "None tied"
    return f"{which} on {ties.what} (not told apart at {ties.alpha:g}, adjusted), best first: {groups}"


def _matrix_sections(whole: Sequence[Contrast]) -> Iterator[Section]:
    """Every model against every other on each suite, if there are three models or more."""
    suites = dict.fromkeys(contrast.suite for contrast in whole)
    matrices = [table for suite in suites for table in _matrices(suite, [one for one in whole if one.suite == suite])]
    if matrices:
        yield Section("Every model against every other", tuple(matrices), folded=True)


def _matrices(suite: str, contrasts: Sequence[Contrast]) -> Iterator[Table]:
    models = tuple(dict.fromkeys(name for one in contrasts for name in (one.first, one.second)))
    if len(models) < 3:
        return
    cells: dict[tuple[str, str], Cell] = {}
    for one in contrasts:
        change = cells[one.second, one.first] = one.difference
        # 0.0 - x rather than -x: negating zero would give -0.0, which is shown with a minus sign.
        cells[one.first, one.second] = replace(
            change, value=0.0 - change.value, low=0.0 - change.high, high=0.0 - change.low
        )
    rows = tuple(Row(row, tuple(cells.get((row, column)) for column in models)) for row in models)
    columns = tuple(Column(model, "points", model=model) for model in models)
    caption = f"{suite}: accuracy of the row's model minus that of the column's, in points"
    yield Table(f"{suite} matrix", caption, columns, rows, "model")


def _contrast_table(
    table_id: str, caption: str, contrasts: Sequence[Contrast], corner: str, rows: Mapping[str, Row] | None = None
) -> Table:
    """A table with one row per contrast, by pair of models and heading, the largest difference first.

    ``rows`` has the name, heading and slice of each value; without it contrasts are named by their suites.
    """
    pairs = list(dict.fromkeys((one.first, one.second) for one in contrasts))
    described = [(one, (rows or {}).get(one.value, Row(one.suite, ()))) for one in by_size(contrasts)]
    # Headings stay together, in the order of the largest difference under each.
    places = {heading: place for place, heading in enumerate(dict.fromkeys(row.heading for _, row in described))}
    described.sort(key=lambda item: (pairs.index((item[0].first, item[0].second)), places[item[1].heading]))
    shown = []
    for one, row in described:
        cells = (*one.accuracies, one.difference, PValue(one.p), PValue(one.p_adjusted), one.detectable, one.verdict)
        heading = f"{one.second} − {one.first}" if len(pairs) > 1 else row.heading
        shown.append(replace(row, cells=cells, heading=heading))
    if len(pairs) == 1:
        caption = f"{caption}: {pairs[0][1]} − {pairs[0][0]}"
    columns = _columns(pairs[0] if len(pairs) == 1 else ("first", "second"))
    notes = describe_tests([row.name for _, row in described], [one for one, _ in described])
    return Table(table_id, caption, columns, tuple(shown), corner, notes=notes)


def _columns(models: tuple[str, str]) -> tuple[Column, ...]:
    accuracies = (Column(model) for model in models)
    tests = (Column("p", "p"), Column("adjusted", "p"), Column("detectable"), Column("verdict", "text"))
    return (*accuracies, Column("difference", "points"), *tests)


def _chart(table: Table) -> Chart:
    no_difference = Reference(0.0, "no difference")
    return Chart(table.id, columns=("difference",), axis="difference in points", reference=no_difference)


def _factor_parts(
    result: ComparisonResult, suite: str, factor: str, contrasts: Sequence[Contrast]
) -> Iterator[Table | Chart]:
    """The slices of one suite by one factor, as a table and, if there are not too many, a chart."""
    first = next((run for run in result.runs.values() if suite in run.header.suites), None)
    values = [contrast.value for contrast in contrasts]
    under = headings(first, suite, factor) if first and CROSS not in factor else {}
    names = row_names(values, under)
    rows = {}
    for value in dict.fromkeys(values):
        place = slice_of(first.header.suites[suite], factor, value) | {"verdict": "differs"} if first else {}
        rows[value] = Row(names[value], (), heading=under.get(value, ""), slice=place)
    name = f"{suite} by {factor}"
    table = _contrast_table(name, name, contrasts, "slice", rows)
    yield table
    if len(table.rows) <= MOST_CHART_ROWS:
        yield _chart(table)


def _disagreement_sections(result: ComparisonResult) -> Iterator[Section]:
    """Rows that only one of two models gets right, suite by suite, with examples."""
    suites = dict.fromkeys(contrast.suite for contrast in result.contrasts)
    parts = [part for suite in suites for part in _disagreements(suite, result)]
    if parts:
        yield Section("Rows that only one gets right", tuple(parts), folded=True)


def _disagreements(suite: str, result: ComparisonResult) -> Iterator[Section]:
    runs = {model: run for model, run in result.runs.items() if suite in run.header.suites}
    contrasts = [one for one in result.contrasts if one.suite == suite and one.first in runs]
    paired = [one for one in contrasts if not one.factor and one.paired]
    if not paired:
        return
    sizes = {one.factor: len({other.value for other in contrasts if other.factor == one.factor}) for one in contrasts}
    card = next(iter(runs.values())).header.suites[suite]
    main = main_factor(card, {factor: size for factor, size in sizes.items() if factor})
    rows = score_alike(runs, suite)
    for first, second in ((one.first, one.second) for one in paired):
        yield _disagreement_section(suite, {first: rows[first], second: rows[second]}, main)


def _disagreement_section(suite: str, rows: Mapping[str, ScoredRows], main: str | None) -> Section:
    """How many rows of a suite both models get right, one, or neither, with examples for each."""
    (first, second), sides = rows, tuple(rows.values())
    counts = disagreement((first, second), (sides[0], sides[1]), None if main == CATEGORY else main)
    titles = ("both right", f"only {first}", f"only {second}", "neither right")
    cells = (counts.both, counts.only_first, counts.only_second, counts.neither)
    columns = tuple(Column(title, "count") for title in titles)
    table = Table(f"{suite} {second} {first} rows", "Rows by who is right", columns, (Row("rows", cells),))
    examples = {first: counts.first_examples, second: counts.second_examples}
    only = (Pairs(f"Only {model} is right", pairs) for model, pairs in examples.items() if pairs)
    return Section(f"{suite}: {second} and {first}", (table, *only), folded=True)


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


GOLD = "gold (what is right)"
SHOWN = "shown"
"""The word for a difference whose interval excludes zero."""
TIED = "Tied: letters in the order of the models; two that share one are not shown to differ."
_PAIRED = "Both models were asked the same rows of suite {}: differences are paired."
_UNPAIRED = "The models were asked different rows of suite {}: differences are of independent estimates."
_LEGEND = (
    f"* The model relies on it: surely beyond {100 * USED:.0f} points. Effects are on the label that the cue changes "
    "most in that model, negative if it is more frequent without the cue; the difference is on one label, that of the "
    "model with the larger effect."
)


def profile_parts(profiles: Sequence[ProfileContrast]) -> Iterator[Part]:
    """The profiles for a page: a chart and a table for each pair of models, folded if there are several pairs."""
    measured = [profile for profile in profiles if profile.cues]
    for profile in measured:
        parts = tuple(_pair_parts(profile))
        if len(measured) == 1:
            yield from parts
        else:
            yield Section(f"{profile.second} − {profile.first}", parts, folded=True, summary=describe_profile(profile))
    yield from (Note(note) for note in profile_notes(profiles))


def profile_notes(profiles: Sequence[ProfileContrast]) -> list[str]:
    """Why some models have no profiles to compare, each reason once."""
    if len(profiles) > 1 and not any(profile.cues for profile in profiles):
        return ["No two models have profiles to compare: suite cues would show what moves the answers (-s cues)."]
    notes = dict.fromkeys(profile.note for profile in profiles if profile.note)
    return [f"{note[:1].upper()}{note[1:]}." for note in notes]


def describe_profile(profile: ProfileContrast) -> str:
    """Which effects are shown to differ between two models."""
    gold = [GOLD] if profile.gold_effect and profile.gold_effect.differs else []
    names = [*gold, *(all_cues()[cue].phrase for cue, contrast in profile.cues.items() if contrast.differs)]
    return f"shown to differ: {listed(names)}" if names else "no effect is shown to differ"


def profile_table(profile: ProfileContrast, *, brief: bool = False) -> Table:
    """The effects of gold and of every cue, of both models, and their differences.

    ``brief`` is for a screen: only cues that one of the models uses or that are shown to differ, and a line about the
    rest.
    """
    gold = profile.gold_effect
    chosen = {cue: one for cue, one in profile.cues.items() if one.matters or not brief}
    rows = [Row(all_cues()[cue].phrase, _cue_cells(one, profile.suite, brief=brief)) for cue, one in chosen.items()]
    if gold:
        effects: list[Cell] = [gold.first.value, gold.second.value] if brief else [gold.first, gold.second]
        rows.insert(0, Row(GOLD, (*effects, gold.difference, "", _shown(gold.differs))))
    columns = (
        *(Column(model, "points", model=model) for model in (profile.first, profile.second)),
        Column("difference", "points"),
        Column("toward", "text"),
        Column("differs", "text"),
    )
    rest = [all_cues()[cue].phrase for cue in profile.cues if cue not in chosen]
    asked = (_PAIRED if profile.paired else _UNPAIRED).format(profile.suite)
    notes = tuple(_describe_rest(rest, len(profile.cues))) if brief else (_LEGEND, asked)
    caption = "" if brief else f"What moves the answers, with joint 95 % intervals: {profile.second} − {profile.first}"
    table_id = f"profiles {profile.second} {profile.first}"
    return Table(table_id, caption, columns, tuple(rows), "what moves the answers", notes=notes)


def effects_table(profiles: Sequence[ProfileContrast]) -> Table:
    """The effects of three models or more, and which models are not shown to differ in each.

    Only cues that one of the models uses or that are shown to differ have a row.
    """
    models = list(dict.fromkeys(name for profile in profiles for name in (profile.first, profile.second)))
    gold: dict[str, float] = {}
    for one in profiles:
        if one.gold_effect:
            gold |= {one.first: one.gold_effect.first.value, one.second: one.gold_effect.second.value}
    apart = [(one.first, one.second) for one in profiles if one.gold_effect and one.gold_effect.differs]
    rows = [Row(GOLD, (*(gold.get(model) for model in models), _letters(models, apart)))]
    suite = profiles[0].suite
    cues = crossed_suites()[suite].cues
    chosen = [cue for cue in cues if any(one.cues[cue].matters for one in profiles)]
    for cue in chosen:
        effects = {one.first: one.cues[cue].first for one in profiles}
        effects |= {one.second: one.cues[cue].second for one in profiles}
        apart = [(one.first, one.second) for one in profiles if one.cues[cue].differs]
        rows.append(
            Row(
                cues[cue].phrase,
                (*(_push(effects[model], suite, brief=True) for model in models), _letters(models, apart)),
            )
        )
    columns = (*(Column(model, "points", model=model) for model in models), Column("tied", "text"))
    notes = tuple(_describe_rest([facts.phrase for cue, facts in cues.items() if cue not in chosen], len(cues)))
    return Table("profiles", "", columns, tuple(rows), "what moves the answers", notes=notes)


def join_letters(letters: Mapping[str, str], models: Iterable[str]) -> str:
    """The letters of models, in the order of their columns: ``a ab b``; a dash for a model that was not asked."""
    return " ".join(letters.get(model, "–").replace(" ", "") for model in models)


def _letters(models: Sequence[str], apart: Sequence[tuple[str, str]]) -> str:
    ties = Ties("", dict.fromkeys(models, 0.0), tied_groups(models, apart))
    return join_letters(ties.letters, models)


def _describe_rest(names: Sequence[str], cues: int) -> Iterator[str]:
    legend = f"* The model relies on it: surely beyond {100 * USED:.0f} points."
    if not names:
        yield legend
    elif len(names) == cues:
        yield "No cue is used, and none is shown to differ."
    else:
        which = f"The cue {names[0]} is" if len(names) == 1 else f"The other {len(names)} cues are"
        yield f"{legend} {which} used by none and not shown to differ."


def _cue_cells(contrast: CueContrast, suite: str, *, brief: bool) -> tuple[Cell, ...]:
    """The effects with their labels; if ``brief``, only with labels that are not that of the difference."""
    pushes = [_push(effect, suite, brief=brief) for effect in (contrast.first, contrast.second)]
    toward = crossed_suites()[suite].label_name(contrast.toward or "")
    labelled = (replace(push, toward="") if brief and push.toward == toward else push for push in pushes)
    return (*labelled, contrast.difference, toward, _shown(contrast.differs))


def _push(effect: CueEffect, suite: str, *, brief: bool) -> Push:
    """An effect with its label if any is shown; without its interval if ``brief``."""
    estimate = effect.effect
    toward = crossed_suites()[suite].label_name(effect.toward or "") if is_beyond(estimate, 0) else ""
    if brief:
        estimate = Estimate(estimate.value, n=estimate.n, groups=estimate.groups, note=estimate.note)
    return Push(estimate, toward, effect.used)


def _shown(differs: bool) -> str:
    return SHOWN if differs else ""


def _pair_parts(profile: ProfileContrast) -> Iterator[Part]:
    """The chart and the table of two profiles."""
    table = profile_table(profile)
    models, reference = (profile.first, profile.second), Reference(USED, f"{100 * USED:.0f} points")
    yield Chart(table.id, "dots", models, "What moves the answers", "points", reference)
    yield table
