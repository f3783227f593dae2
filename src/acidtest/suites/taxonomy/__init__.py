"""Suites ``taxonomy``, ``taxonomy/tagged`` and ``taxinli``: pairs with categories of reasoning (Joshi et al. 2020).

Each category of an annotated file becomes a boolean column.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import polars as pl

from acidtest.core.errors import AcidtestError, FileError, list_some
from acidtest.core.suite import CATEGORY, COLUMNS, PARSES, Argument, Card, Kind, Suite, complete_columns
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.corpus import CORPUS_LICENCE, rename_taken_columns, source_pairs, transform_rows

CITATION = "Joshi, Aditya, Sathe and Choudhury (2020), TaxiNLI: Taking a Ride up the NLU Hill, CoNLL"
_TAXINLI_LICENCE = "Computational Use of Data Agreement 1.0 (C-UDA)"

_LIST_COLUMN = "categories"
"""A column that lists the categories of a row."""

_YES = frozenset({"1", "1.0", "true", "yes", "y", "x"})
_NO = frozenset({"0", "0.0", "false", "no", "n"})
_NOT_ASKED = frozenset({"", "-", "na", "n/a", "nan", "null", "none"})
_SPELLINGS = "0 or 1, true or false, yes or no"

_TAXINLI_COLUMNS: dict[str, tuple[str, Kind]] = {
    "genre": ("genre", "factor"),
    "annotated_label": ("annotated_label", "factor"),
    "source_pairID": ("pair_id", "text"),
    "bag_of_words": ("answer_naive_bayes", "text"),
    "esim": ("answer_esim", "text"),
    "aloxatel/bert-base-mnli": ("answer_bert", "text"),
}
"""Further columns of the published files, with their names and kinds in the suite."""


@generator(
    "taxonomy",
    summary="Pairs annotated with categories of reasoning, of any annotated file; accuracy by category",
    rows=48,
    source="pairs",
    citation=CITATION,
    licence="that of the file; of the examples, Apache-2.0",
)
def taxonomy(request: Request, *, categories: tuple[str, ...] = ()) -> Suite:
    """The pairs of a file that says which of the fifteen categories each of them needs.

    A category is a column of 0 and 1, true and false or yes and no under the name that acidtest taxonomy lists or that
    of the published file, or stands in a column categories (a list, or a|b), as agreement -o writes it. ``categories``
    names those of a scheme of your own. Without --from, the examples of the definitions.
    """
    from acidtest.pairs.taxonomy import example_pairs

    pairs = read_categories(source_pairs(request, default=example_pairs), categories)
    arguments: dict[str, Argument] = {"categories": ",".join(categories)} if categories else {}
    card = _card(pairs, "taxonomy", request, arguments)
    card = replace(card, licence=pairs.card.licence or "that of the file it was made from")
    return replace(pairs, frame=pairs.frame.with_columns(pl.col("certainty").fill_null("human")), card=card)


@generator(
    "taxonomy/tagged",
    summary="Any pairs with the categories of reasoning that rules propose for them; accuracy by proposed category",
    rows=816,
    source="pairs",
    citation=f"acidtest; categories after {CITATION}",
    licence=CORPUS_LICENCE,
)
def tagged(request: Request) -> Suite:
    """The pairs as they are, with a column auto_<category> for each category that rules can propose.

    The categories are proposals of rules, not annotation; the note on the card says how often annotators would have
    agreed. All columns of the corpus are kept.
    """
    from acidtest.pairs.category_rules import PREFIX, PROPOSED, VERSION, caution, proposed_categories

    columns = [PREFIX + name for name in PROPOSED]
    pairs = source_pairs(request, columns=columns)
    rows = transform_rows(
        pairs.frame, lambda part: part.hstack(proposed_categories(part["premise"], part["hypothesis"]))
    )
    note = caution()
    card = replace(
        _card(pairs, "taxonomy/tagged", request, {"tags": "rules"}),
        version=VERSION,
        citation=f"acidtest; categories after {CITATION}",
        columns={**dict.fromkeys(columns, "category"), **pairs.card.columns},
        note=f"{note[:1].upper()}{note[1:]}.",
    )
    return replace(pairs, frame=rows.lazy(), card=card, control=None)


@generator(
    "taxinli",
    summary="10,071 pairs of MultiNLI with fifteen categories of reasoning each; accuracy by category",
    rows=10_071,
    source="published",
    citation=CITATION,
    licence=_TAXINLI_LICENCE,
)
def taxinli(request: Request) -> Suite:
    """TaxiNLI as published: taxinli10k.tsv, or taxinli10k_MNLIDev.tsv, its overlap with MultiNLI's development sets.

    The second has no features of neutral pairs and no label of the annotators, but the answers of three systems, kept
    as answer_naive_bayes, answer_bert and answer_esim. A pair has one id, whichever file it is read from.
    """
    from acidtest.pairs.taxonomy import CATEGORIES, NEUTRAL_FEATURES, is_published

    pairs = source_pairs(request)
    if not is_published(pairs.card.columns):
        raise _error(
            pairs,
            f"is not a published file of TaxiNLI, which has the columns lexical_linguistic to taxonomic_knowledge; it "
            f"has {list_some(list(pairs.card.columns), 20)}. For another annotated file use the suite taxonomy",
        )
    annotated = read_categories(pairs, CATEGORIES, also_yes=("2",))
    columns = {old: new for old, new in _TAXINLI_COLUMNS.items() if old in annotated.card.columns}
    features = [name for name in NEUTRAL_FEATURES if name in annotated.card.columns]
    frame = annotated.frame.select(
        "premise",
        "hypothesis",
        "label",
        "group",
        pl.lit("human").alias("certainty"),
        *CATEGORIES,
        *features,
        *(pl.col(old).replace("-", None).alias(new) for old, (new, _) in columns.items()),
    )
    kinds: dict[str, Kind] = {**dict.fromkeys(CATEGORIES, "category"), **dict.fromkeys(features, "factor")}
    card = replace(
        _card(annotated, "taxinli", request),
        licence=_TAXINLI_LICENCE,
        columns=kinds | dict(columns.values()),
        note="The published file has 2 for syntactic in one row; it counts as marked.",
    )
    return replace(annotated, frame=complete_columns(frame.collect(), "taxinli").lazy(), card=card)


def _card(pairs: Suite, name: str, request: Request, arguments: dict[str, Argument] | None = None) -> Card:
    """The card of a suite that has the pairs of a corpus unchanged; its seed is null unless ``n`` were drawn."""
    return replace(
        pairs.card,
        name=name,
        version=1,
        seed=request.seed if request.n is not None else None,
        arguments={"from": pairs.name} | (arguments or {}),
        citation=CITATION,
        licence=pairs.card.licence or CORPUS_LICENCE,
        note="",
    )


def read_categories(pairs: Suite, categories: Sequence[str] = (), *, also_yes: Collection[str] = ()) -> Suite:
    """The pairs with a column of kind category for each of ``categories``, by default those of the taxonomy.

    A category is a column of 0 and 1, true and false or yes and no under its name here or in the published file, or it
    is named in the column ``categories``, a JSON list or ``a|b``. If ``categories`` has one entry, it may be another
    column of lists, and means all names in it. ``also_yes`` are further spellings of 1. Features of neutral pairs are
    yes or no, and null for other pairs, whatever the file has there.
    """
    from acidtest.pairs.taxonomy import NEUTRAL_FEATURES

    pairs = rename_taken_columns(pairs, {CATEGORY})
    if len(categories) == 1 and categories[0] in pairs.card.lists:
        pairs, categories = _use_list_column(pairs, categories[0])
    columns = _category_columns(pairs, categories)
    by_category = {} if columns else _read_list_column(pairs, categories)
    for name, column in columns.items():
        _refuse_other_values(pairs, column, {*_YES, *also_yes, *_NO}, f"which is not {_SPELLINGS}")
        by_category[name] = _cell_text(column).is_in([*_YES, *also_yes]).alias(name)
    feature_columns = _feature_columns(pairs)
    features = dict[str, pl.Expr]()
    for name, column in feature_columns.items():
        problem = f"which is not {_SPELLINGS}, nor - for not asked"
        _refuse_other_values(pairs, column, {*_YES, *_NO, *_NOT_ASKED}, problem)
        yes, no = (_cell_text(column).is_in(list(spellings)) for spellings in (_YES, _NO))
        features[name] = _of_neutral(yes, no).alias(name)
    # Answers to the questionnaire for neutral pairs list features among the categories.
    for name in [name for name in NEUTRAL_FEATURES if name in by_category and name not in categories]:
        is_marked = by_category.pop(name)
        features.setdefault(name, _of_neutral(is_marked, ~is_marked).alias(name))
    used = {*columns.values(), *feature_columns.values(), *(() if columns else (_LIST_COLUMN,))}
    kinds: dict[str, Kind] = {**dict.fromkeys(by_category, "category"), **dict.fromkeys(features, "factor")}
    kinds |= {name: kind for name, kind in pairs.card.columns.items() if name not in {*used, *kinds}}
    parses = [name for name in PARSES if name in pairs.frame.collect_schema().names()]
    frame = pairs.frame.with_columns(*by_category.values(), *features.values()).select(*COLUMNS, *parses, *kinds)
    return replace(pairs, frame=frame, card=replace(pairs.card, columns=kinds), control=None)


def _category_columns(pairs: Suite, categories: Sequence[str]) -> dict[str, str]:
    """The column of each category; empty where a single column lists the categories."""
    from acidtest.pairs.taxonomy import taxonomy as taxonomy_nodes

    known = list(pairs.card.columns)
    aliases = {node.name: node.column for node in taxonomy_nodes() if node.kind == "category"}
    wanted = {name: aliases.get(name, "") for name in categories} or aliases
    columns = dict[str, str]()
    for name, alias in wanted.items():
        matches = [column for column in known if _normalise(column) in {_normalise(name), alias} - {""}]
        if len(matches) > 1:
            raise _error(pairs, f"the columns {' and '.join(matches)} both say if a pair is {name!r}; leave one out")
        if matches:
            columns[name] = matches[0]
    if columns and _LIST_COLUMN in known:
        others = list_some(list(columns.values()), 3)
        raise _error(pairs, f"has the column {_LIST_COLUMN!r} and also {others}; leave one or the others out")
    missing = " or ".join(repr(name) for name in categories if name not in columns)
    if missing and _LIST_COLUMN not in known:
        raise _error(pairs, f"has no column {missing} (--categories); it has {list_some(known, 40)}")
    if not columns and _LIST_COLUMN not in known:
        raise _error(
            pairs,
            f"no column says which categories its pairs have; it has {list_some(known, 40) or 'none but the pairs'}. "
            f"Expected are columns of 0 and 1 called lexical, negation and so on (acidtest taxonomy lists them), a "
            f"column {_LIST_COLUMN!r} with a|b or a list, or names of your own with --categories NAME,NAME",
        )
    return columns


def _feature_columns(pairs: Suite) -> dict[str, str]:
    from acidtest.pairs.taxonomy import NEUTRAL_FEATURES, PUBLISHED_COLUMNS

    names = {published: name for published, name in PUBLISHED_COLUMNS.items() if name in NEUTRAL_FEATURES}
    names |= {name: name for name in NEUTRAL_FEATURES}
    return {names[_normalise(column)]: column for column in pairs.card.columns if _normalise(column) in names}


def _of_neutral(yes: pl.Expr, no: pl.Expr) -> pl.Expr:
    value = pl.when(yes).then(pl.lit("yes")).when(no).then(pl.lit("no"))
    return pl.when(pl.col("label") == "neutral").then(value)


def _read_list_column(pairs: Suite, categories: Sequence[str]) -> dict[str, pl.Expr]:
    """Whether a row's list names each category, in the order of ``categories`` or of the taxonomy."""
    from acidtest.pairs.taxonomy import taxonomy as taxonomy_nodes

    nodes = taxonomy_nodes()
    aliases = {node.column or node.name: node.name for node in nodes if node.kind != "group"}
    known = list(categories) or list(aliases.values())
    spellings = {_normalise(name): name for name in known} | ({} if categories else aliases)
    cells = pairs.frame.select(pl.col(_LIST_COLUMN).fill_null("").unique(maintain_order=True)).collect().to_series()
    marked = dict[str, set[str]]()
    for cell in cells:
        names = _split_names(cell)
        unknown = [name for name in names if _normalise(name) not in spellings]
        if unknown:
            expected = "a category of the taxonomy; name your own with --categories A,B"
            problem = f"{unknown[0]!r} is not {'among --categories' if categories else expected}"
            raise _cell_error(pairs, _LIST_COLUMN, cell, problem)
        marked[cell] = {spellings[_normalise(name)] for name in names}
    # Nodes that the paper did not annotate, or annotated on neutral pairs only, become columns where a row has them.
    optional = {node.name for node in nodes if not node.annotated or node.kind == "feature"} - set(categories)
    used = [name for name in known if name not in optional or any(name in names for names in marked.values())]
    value = pl.col(_LIST_COLUMN).fill_null("")
    return {name: value.is_in([cell for cell in marked if name in marked[cell]]).alias(name) for name in used}


def _use_list_column(pairs: Suite, column: str) -> tuple[Suite, list[str]]:
    """The pairs with a column of lists copied to ``categories``, and the names in it."""
    card = replace(pairs.card, columns={**pairs.card.columns, _LIST_COLUMN: "list"})
    frame = pairs.frame.with_columns(pl.col(column).alias(_LIST_COLUMN))
    cells = frame.select(pl.col(_LIST_COLUMN).drop_nulls().unique(maintain_order=True)).collect().to_series()
    names = dict.fromkeys(name for cell in cells for name in _split_names(cell))
    return replace(pairs, frame=frame, card=card), list(names)


def _split_names(cell: str) -> list[str]:
    """The names in ``["a", "b"]``, ``['a', 'b']`` or ``a|b``."""
    from acidtest.io.columns import split_names

    names = split_names(cell)
    return [name.strip() for name in cell.split("|") if name.strip()] if names is None else names


def _cell_text(column: str) -> pl.Expr:
    return pl.col(column).cast(pl.String).str.strip_chars().str.to_lowercase().fill_null("")


def _normalise(name: str) -> str:
    return name.strip().lower().replace("-", "_").replace(" ", "_")


def _refuse_other_values(pairs: Suite, column: str, known: Collection[str], problem: str) -> None:
    """Raise where a column has a value that is not among ``known``."""
    values = pairs.frame.select(_cell_text(column).unique(maintain_order=True)).collect().to_series()
    unknown = next((value for value in values if value not in known), None)
    if unknown is not None:
        content = f"holds {unknown!r}" if unknown else "is empty here"
        message = f"column {column!r} {content}, {problem}; say it for every row"
        raise _cell_error(pairs, column, unknown, message)


def _cell_error(pairs: Suite, column: str, value: str, problem: str) -> AcidtestError:
    """The error for a value, with the line of the first cell that holds it; case is ignored."""
    from acidtest.io.columns import row_error
    from acidtest.io.tables import flatten, read_table

    table = read_table(pairs.origin) if pairs.origin and pairs.origin.is_file() else None
    if table is None or column not in table.columns:
        return _error(pairs, problem)
    row = 0
    for batch in table.rows.batches(column):
        cells: list[str] = flatten(batch)[column].cast(pl.String).fill_null("").to_list()
        for position, cell in enumerate(cells):
            if cell.strip().lower() == value.strip().lower():
                return row_error(table, row + position, column=column, problem=problem)
        row += len(cells)
    return _error(pairs, problem)


def _error(pairs: Suite, problem: str) -> AcidtestError:
    return FileError(pairs.origin, problem) if pairs.origin else AcidtestError(f"{pairs.name}: {problem}")
