"""Renders a factors result as a document: accuracies, coefficients and network estimates, models side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from acidtest.core.document import (
    Cell,
    Change,
    Chart,
    Coefficient,
    Column,
    Document,
    Note,
    Published,
    Reference,
    Row,
    Section,
    Table,
)
from acidtest.core.estimate import Estimate
from acidtest.io.published import PublishedScore, published_scores, values_by_system
from acidtest.studies.factors import FactorsResult, ModelFactors

_CHANCE = Reference(1 / 3, "chance (33 %)")


def document(result: FactorsResult) -> Document:
    """A document with a section for each suite: accuracies, coefficients of both analyses, and the network."""
    suites = dict.fromkeys(fit.suite for fit in result.fits)
    sections = tuple(_suite_section(suite, [fit for fit in result.fits if fit.suite == suite]) for suite in suites)
    return Document(
        title="acidtest factors",
        headline=_headline(result.fits),
        parts=(*sections, *([_published_section()] if _has_published(result.fits) else [])),
        models=tuple(dict.fromkeys(fit.model for fit in result.fits)),
        signatures={f"{fit.suite}, {fit.model}": fit.signature for fit in result.fits},
        methods=(
            "Logistic regression by maximum likelihood with Wald's errors; p over groups lets rows of one group vary "
            f"together; Holm's correction is over the {result.tests} coefficients of all models. Errors of the "
            "discriminant are the infinitesimal jackknife's over rows. Intervals of the network are those of its "
            "posterior, with weights held fixed and rows taken for independent.",
        ),
    )


def _headline(fits: Sequence[ModelFactors]) -> str:
    parts = []
    for fit in fits:
        known = {name: value for name, value in fit.accuracy.items() if value.known}
        if known:
            worst = min(known, key=lambda name: known[name].value)
            least = f"least on {worst} ({known[worst].value:.0%})"
            parts.append(f"{fit.model} is right in {fit.overall.value:.0%} of {fit.suite}, {least}")
    return "; ".join(parts) + "." if parts else "No category has a row."


def _suite_section(suite: str, fits: Sequence[ModelFactors]) -> Section:
    shared = ", those that all models were asked" if any(fit.skipped for fit in fits) else ""
    notes = [Note(f"{fits[0].overall.n:,} rows{shared}."), *([Note(fits[0].caution)] if fits[0].caution else [])]
    accuracy, network = _accuracy_table(suite, fits), _network_table(suite, fits)
    remarks = [
        Note(f"{fit.model}: {line}.")
        for fit in fits
        for line in (*_describe_fit(fit), *_compare_stars(fit), *fit.notes)
    ]
    return Section(
        suite,
        (
            *notes,
            accuracy,
            Chart(accuracy.id, title=accuracy.caption, axis="accuracy", reference=_CHANCE),
            *_gain_parts(suite, fits),
            *_coefficient_parts(suite, fits),
            network,
            Chart(network.id, axis="chance of being right; hollow: frequency", reference=_CHANCE),
            *remarks,
        ),
    )


def _accuracy_table(suite: str, fits: Sequence[ModelFactors]) -> Table:
    values: dict[str, list[Estimate | None]] = {"all rows": [fit.overall for fit in fits]}
    values |= {name: [fit.accuracy.get(name) for fit in fits] for name in fits[0].accuracy}
    values["no category"] = [fit.unmarked for fit in fits]
    rows = tuple(
        Row(
            name,
            (next((value.n for value in estimates if value), 0), *estimates),
            role="" if name in fits[0].accuracy else "total",
        )
        for name, estimates in values.items()
    )
    columns = (Column("rows", "count"), *(Column(fit.model, model=fit.model) for fit in fits))
    caption = "Accuracy by category, %, with 95 % intervals (figure 5)"
    return Table(f"{suite} accuracy", caption, columns, rows, "category")


def _gain_parts(suite: str, fits: Sequence[ModelFactors]) -> Iterator[Table | Chart]:
    """A table and a chart of differences to the first model on the same rows; nothing if there are none."""
    compared = [fit for fit in fits if fit.gains]
    if compared:
        names = dict.fromkeys(name for fit in compared for name in fit.gains)
        columns = tuple(Column(fit.model, "points", model=fit.model) for fit in compared)
        rows = tuple(Row(name or "all rows", tuple(fit.gains.get(name) for fit in compared)) for name in names)
        caption = f"Accuracy less that of {fits[0].model} on the same rows, in points"
        yield Table(f"{suite} gains", caption, columns, rows, "category")
        yield Chart(f"{suite} gains", axis="difference in points", reference=Reference(0.0, "none"))


def _coefficient_parts(suite: str, fits: Sequence[ModelFactors]) -> Iterator[Table | Chart]:
    """A table and a chart for each analysis; the logistic regression's table has the paper's stars, too."""
    stars = published_values("stars") if _has_published(fits) else {}
    signs = [sign for by_factor in published_values("direction").values() for sign in by_factor.items() if stars]
    directions = {name: "+" if sign > 0 else "−" for name, sign in signs}
    papers = [Column(_figure(system), "text", role="published", note=system) for system in stars]
    papers += [Column("section 4.2", "text", role="published")] if directions else []
    factors = {(fit.model, factor.name): factor for fit in fits for factor in fit.factors}
    # Coefficients are comparable when multiplied by the standard deviation of their variable.
    spreads = {factor.name: factor.spread for factor in reversed(factors.values())}
    columns = [Column("standard deviation", "number", role="total")]
    columns += [Column(fit.model, "number", model=fit.model) for fit in fits]
    for analysis, title in (("logistic", "Logistic regression"), ("discriminant", "Linear discriminant")):
        rows = []
        for name in dict.fromkeys(factor.name for factor in factors.values()):
            cells: list[Cell] = [spreads[name]]
            for fit in fits:
                factor = factors.get((fit.model, name))
                term = getattr(factor, analysis, None)
                stars_shown = term.stars if term and analysis == "logistic" else ""
                cells.append(Coefficient(term.value, term.error, stars_shown) if term else None)
            if analysis == "logistic":
                cells += ["*" * int(counts.get(name, 0)) for counts in stars.values()]
                cells += [directions.get(name, "")] if directions else []
            rows.append(Row(name, tuple(cells)))
        caption = (
            f"{title} of being right: coefficient ± standard error; stars: p < .001 ***, < .01 **, < .05 *, uncorrected"
        )
        beside = papers if analysis == "logistic" else []
        yield Table(f"{suite} {analysis}", caption, (*columns, *beside), tuple(rows), "factor")
        yield Chart(
            f"{suite} {analysis}", axis="change of the log odds of being right", reference=Reference(0.0, "no effect")
        )


def _network_table(suite: str, fits: Sequence[ModelFactors]) -> Table:
    columns: list[Column] = []
    for fit in fits:
        columns.append(Column("network", model=fit.model, group=fit.model))
        columns.append(Column("seen configurations only", group=fit.model, role="total"))
    rows = []
    for name in fits[0].accuracy:
        cells: list[Cell] = []
        for fit in fits:
            chance = fit.network.chances[name]
            cells += [Change(fit.accuracy[name], chance.network), chance.observed]
        rows.append(Row(name, (*cells, fits[0].network.chances[name].unseen)))
    caption = "P(right | category), %: frequency → Bayesian network, with its 95 % interval (figure 8)"
    network = fits[0].network
    note = f"prior {network.prior_phrase}; {network.seen:,} of {network.possible:,} configurations of categories occur"
    columns.append(Column("weight of unseen"))
    return Table(f"{suite} network", caption, tuple(columns), tuple(rows), "category", notes=(note,))


def _describe_fit(fit: ModelFactors) -> Iterator[str]:
    """Sentences on pseudo-R², on the factors significant after correction, and on the effect of groups."""
    if fit.explained == fit.explained:
        yield f"pseudo-R² {fit.explained:.3f}"
    significant = [factor.name for factor in fit.factors if factor.logistic.p_adjusted < 0.05]
    yield f"below 0.05 after Holm's correction: {', '.join(significant) or 'none'}"
    if fit.grouped:
        changed = [f.name for f in fit.factors if (f.logistic.p < 0.05) != (f.logistic.p_groups < 0.05)]
        difference = f"differs for {', '.join(changed)}" if changed else "is the same"
        yield f"what is below 0.05 {difference} when rows of one group vary together"


def _published_section() -> Section:
    """The paper's table 3, and its remarks on figures 5 and 8, which print no numbers."""
    accuracies = published_values("accuracy", "corpus")
    corpora = dict.fromkeys(corpus for values in accuracies.values() for corpus in values)
    rows = tuple(
        Row(system, tuple(Published(values[corpus]) for corpus in corpora), role="published")
        for system, values in accuracies.items()
    )
    columns = tuple(Column(corpus, role="published") for corpus in corpora)
    remarks = tuple(
        Row(score.by["factor"], (_place(score), score.system, score.by["statistic"], score.by["says"]))
        for score in published_remarks()
    )
    titles = tuple(Column(name, "text") for name in ("figure", "system", "statistic", "the text says"))
    return Section(
        "Joshi et al. (2020)",
        (
            Table("published accuracy", "Accuracy on MultiNLI, % (table 3)", columns, rows, "system"),
            Table("published remarks", "What the text says of figures 5 and 8", titles, remarks, "factor"),
        ),
        folded=True,
    )


def published_values(statistic: str, factor: str = "factor") -> dict[str, dict[str, float]]:
    """A statistic of the paper, by system and value of a factor.

    ``accuracy`` by ``corpus`` is table 3; ``stars`` are those of figures 6 and 9; ``direction`` is 1 for factors that
    section 4.2 calls strong indicators of a right answer, -1 for those it calls harder to predict.
    """
    scores = [score for score in published_scores("factors") if score.by.get("statistic") == statistic]
    return values_by_system((score for score in scores if factor in score.by), lambda score: score.by[factor])


def published_remarks() -> list[PublishedScore]:
    """The remarks of the paper's text on figures 5 and 8."""
    return [score for score in published_scores("factors") if "says" in score.by]


def _place(score: PublishedScore) -> str:
    return score.source.rpartition(", ")[2]


def _figure(system: str) -> str:
    """The figure that has the stars of a system."""
    scores = published_scores("factors")
    return next(_place(score) for score in scores if (score.system, score.by.get("statistic")) == (system, "stars"))


def _has_published(fits: Sequence[ModelFactors]) -> bool:
    """Whether the paper reports on any of the categories; it has none that rules propose."""
    known = {name for stars in published_values("stars").values() for name in stars}
    return any(name in known for fit in fits for name in fit.accuracy)


def _compare_stars(fit: ModelFactors) -> Iterator[str]:
    """Compare the stars of a fit with those of published systems that have the same factors."""
    ours = {factor.name: len(factor.logistic.stars) for factor in fit.factors}
    for system, stars in published_values("stars").items():
        if set(stars) != set(ours):
            continue
        where = f"{system} ({_figure(system)})"
        differing = [
            f"{name}{'*' * ours[name]} ({'*' * int(count) or 'none'})"
            for name, count in stars.items()
            if ours[name] != count
        ]
        if not differing:
            yield f"stars: those of {where} exactly, all {len(stars)} factors"
            continue
        others = f"; other, published in brackets: {', '.join(differing)}" if len(differing) <= 6 else ""
        yield f"stars: {len(stars) - len(differing)} of {len(stars)} factors as {where}{others}"
