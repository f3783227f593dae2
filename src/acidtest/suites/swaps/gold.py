"""Makes suites of swapped pairs with their controls; gold is derived, asked of people or assumed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import polars as pl

from acidtest.core.digests import SeenDigests, digests
from acidtest.core.draws import Draws
from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.suite import COLUMNS, PARSES, Argument, Kind, Suite
from acidtest.suites.catalogue import Request
from acidtest.suites.corpus import derive_suite, select_rows, source_pairs, transform_rows, travelling_columns, uses_all

if TYPE_CHECKING:
    from acidtest.io.rows import Rows
    from acidtest.suites.swaps.occurrences import Swaps
    from acidtest.suites.swaps.word_pairs import Relation

CITATION = (
    "Sanchez Carmona, Mitchell and Riedel (2018). Behavior Analysis of NLI Models: Uncovering the Influence of Three "
    "Factors on Robustness. NAACL."
)
_SWAP_COLUMNS: dict[str, Kind] = {
    "premise_word": "text",
    "hypothesis_word": "text",
    "relation": "factor",
    "swap": "factor",
}
_CHANGED_COLUMNS: dict[str, Kind] = {"gold_changed": "factor"}

_SIDES = ("control", "changed")
_SIDE_COLUMNS = ("premise", "hypothesis", "label", "premise_word", "hypothesis_word", "relation")
WORKING_COLUMNS = (
    *(f"{side}_{name}" for side in _SIDES for name in (*_SIDE_COLUMNS, "state")),
    "lemmas",
    "pair",
    "variant",
)
"""Columns of intermediate rows: those of control and changed pair, the two lemmas, and the suffixes of ids."""

_ROW_KEY = ("id", "pair", "variant")
_GIVEN, _DERIVED, _ASKED, _ASSUMED, _WAITING = "given", "derived", "asked", "assumed", "waiting"
"""States of a pair: its gold is from the corpus, derived, from people, assumed, or still to be asked."""
_CERTAINTIES = {_DERIVED: "logical", _ASKED: "human", _ASSUMED: "assumed"}


@dataclass(frozen=True)
class SwapOptions:
    """What a user chose for swaps; files are given by their paths."""

    pairs: str = ""
    train: str = ""
    answers: str = ""
    ask: bool = False
    assume: Literal["nothing", "paper"] = "nothing"
    """Whether to assume the paper's convention, by which swapped antonyms are contradictions."""
    least: int = 0
    most: int = 100
    tagger: str = "auto"

    def __post_init__(self) -> None:
        if self.most < 0:
            raise AcidtestError(f"--most is a number from 0 on, not {self.most}")
        if self.least < 0:
            raise AcidtestError(f"--least is a number from 1 on, not {self.least}")
        if self.ask and self.assume != "nothing":
            raise AcidtestError("--ask gives the pairs to be asked, but with --assume paper none is; leave one out")
        if self.train and not Path(self.train).is_file():
            raise FileError(self.train, "there is no such training file; check --train")

    def arguments(self, request: Request) -> dict[str, Argument]:
        """The arguments for the card; files are given by name, without their folder."""
        from acidtest.english.tagging import tagger

        arguments: dict[str, Argument] = {
            "controls": "held-out" if self.train or request.source is None else "training",
            "pairs": Path(self.pairs).name or "wordnet",
            "most": self.most,
            "tagger": tagger(self.tagger).name,
        }
        files = {"train": self.train, "answers": self.answers}
        arguments |= {name: Path(path).name for name, path in files.items() if path}
        return arguments | ({"assume": self.assume} if self.assume != "nothing" else {})


PairChange = Callable[[pl.DataFrame, "Swaps"], pl.DataFrame]
"""Turns pairs of the corpus and the words found in them into rows with ``WORKING_COLUMNS`` and ``swap``.

A null label means that people have to be asked. The states are added later.
"""


@dataclass(frozen=True)
class SwapSuite:
    """A suite of swapped words: the relation of the words, the sentences they are put in, and its description."""

    name: str
    relation: Relation
    situation: Literal["in situ", "ex situ", "proxy"]
    rows: int
    summary: str
    description: str
    version: int = 2

    @property
    def sides(self) -> tuple[str, ...]:
        """Which of control and changed pair need gold of their own: controls ex situ are new pairs."""
        return _SIDES if self.situation == "ex situ" else _SIDES[1:]


def make_suite(
    suite: SwapSuite, request: Request, options: SwapOptions, change: PairChange, arguments: Mapping[str, Argument]
) -> Suite:
    """The swapped pairs of a corpus whose gold is known; with ``ask``, those that people have to be asked about."""
    from acidtest.suites.swaps.occurrences import DISCARDED, UNDECIDED, read_answers, starter_answers, starter_swaps
    from acidtest.suites.swaps.word_pairs import load_pairs

    taken = (*_SWAP_COLUMNS, *_CHANGED_COLUMNS, *WORKING_COLUMNS)
    pairs = source_pairs(replace(request, n=None), columns=taken, default=starter_swaps)
    answers = starter_answers() if request.source is None else None
    answers = read_answers(options.answers) if options.answers else answers
    swapping = WordSwapping(suite, options, change, load_pairs(options.pairs, suite.relation), answers)
    frame = pairs.frame.drop("base_id", *PARSES, strict=False)
    if suite.relation == "antonym":
        frame = frame.filter(pl.col("label") == "contradiction")
    rows = transform_rows(frame, swapping.swap)
    kept = swapping.cap(rows, Draws(request.seed, "swaps"))
    states = Counter(state for side in suite.sides for state in kept[f"{side}_state"])
    asked = states[_ASKED] + states[_WAITING] + states[DISCARDED] + states[UNDECIDED]
    arguments = options.arguments(request) | dict(arguments)
    arguments |= {"derived": states[_DERIVED], "asked": asked, "discarded": states[DISCARDED]}
    swapping.left_out += Counter(
        {
            "waiting for people's answers (--ask)": 0 if options.ask else states[_WAITING],
            "incoherent to the people asked": states[DISCARDED],
            "without a majority of the people asked": states[UNDECIDED],
        }
    )
    if options.ask:
        is_waiting = pl.any_horizontal(pl.col(f"{side}_state") == _WAITING for side in suite.sides)
        chosen, make = _draw_sources(kept.filter(is_waiting), request, pairs.name, "a question to ask"), _questions
    else:
        chosen, make = _draw_sources(kept.filter("gold"), request, pairs.name, "gold"), _with_controls
    made = make(suite, pairs, select_rows(rows, chosen["row"], _ROW_KEY), arguments, request)
    if options.answers:
        swapping.note_leftovers(request)
    return replace(made, card=replace(made.card, left_out=dict(swapping.left_out.most_common())))


@dataclass
class WordSwapping:
    """Swaps words batch by batch and looks up the gold of the new pairs."""

    suite: SwapSuite
    options: SwapOptions
    change: PairChange
    words: pl.DataFrame
    answers: pl.DataFrame | None
    left_out: Counter[str] = field(default_factory=Counter)
    _seen: SeenDigests = field(default_factory=SeenDigests)
    _used: set[int] = field(default_factory=set)
    """Digests of the pairs made so far that people have answered."""

    def note_leftovers(self, request: Request) -> None:
        """Record which rows of the file of answers were used."""
        if self.answers is not None:
            answered = frozenset(digests(self.answers["premise"], self.answers["hypothesis"]).tolist())
            request.leftovers.note(self.options.answers, rows=answered, used=frozenset(self._used))

    def swap(self, part: pl.DataFrame) -> pl.DataFrame:
        """Rows with the columns of the corpus, including its id, ``WORKING_COLUMNS`` and ``swap``."""
        from acidtest.suites.swaps.occurrences import swaps as find_swaps

        swaps = find_swaps(part["premise"], part["hypothesis"], self.words, tagger=self.options.tagger)
        self.left_out.update(swaps.left_out)
        rows = self.change(part, swaps)
        # Several hypotheses of one premise may give the same pair.
        texts = ("control_premise", "control_hypothesis", "changed_premise", "changed_hypothesis", "lemmas")
        rows = rows.filter(self._seen.new(digests(*(rows[name] for name in texts))))
        rows = rows.with_columns(control_state=pl.lit(_GIVEN))
        for side in self.suite.sides:
            rows = self._add_gold(rows, side)
        return rows

    def _add_gold(self, rows: pl.DataFrame, side: str) -> pl.DataFrame:
        """The rows with the label and the state of one side: derived, else people's, else assumed."""
        label = pl.col(f"{side}_label")
        state: pl.Expr = pl.when(label.is_not_null()).then(pl.lit(_DERIVED))
        if self.answers is not None:
            names = {name: f"{side}_{name}" for name in ("premise", "hypothesis")}
            answers = self.answers.rename(names).rename({"label": "_label", "verdict": "_verdict"})
            rows = rows.join(answers, on=list(names.values()), how="left", maintain_order="left")
            answered = rows.filter(pl.col("_verdict").is_not_null())
            self._used |= set(digests(*(answered[name] for name in names.values())).tolist())
            state, label = pl.coalesce(state, "_verdict"), pl.coalesce(label, "_label")
        if self.options.assume == "paper":
            label = pl.when(state.is_null()).then(pl.lit("contradiction")).otherwise(label)
            state = pl.coalesce(state, pl.lit(_ASSUMED))
        state = pl.coalesce(state, pl.lit(_WAITING))
        rows = rows.with_columns(label.alias(f"{side}_label"), state.alias(f"{side}_state"))
        return rows.drop("_label", "_verdict", strict=False)

    def cap(self, rows: Rows, draws: Draws) -> pl.DataFrame:
        """At most ``most`` rows of each pair of words, those with derived gold first: digests, draws, states, gold."""
        columns = ("lemmas", "control_state", "changed_state")
        empty = pl.DataFrame(schema=dict.fromkeys(("id", *WORKING_COLUMNS), pl.String))
        frame = pl.concat(
            part.select(
                *columns,
                row=pl.Series(digests(*(part[name] for name in _ROW_KEY)), dtype=pl.UInt64),
                source=pl.Series(digests(part["id"]), dtype=pl.UInt64),
                gold=pl.col("control_label").is_not_null() & pl.col("changed_label").is_not_null(),
            )
            for part in (empty, *rows.batches("id", *WORKING_COLUMNS))
        )
        frame = frame.with_columns(
            pl.Series("row_draw", draws.bits(frame["row"].to_numpy(), "row")),
            pl.Series("source_draw", draws.bits(frame["source"].to_numpy(), "source")),
        )
        if not self.options.most:
            return frame
        # Rows with derived gold go first: the others may have to wait for answers.
        order = pl.struct(pl.col("changed_state") != _DERIVED, "row_draw")
        kept = frame.filter(order.rank("ordinal").over("lemmas") <= self.options.most)
        self.left_out["of a pair of words that has enough"] += frame.height - kept.height
        return kept


def _draw_sources(rows: pl.DataFrame, request: Request, name: str, needed: str) -> pl.DataFrame:
    """The rows of all pairs of the corpus, or of ``n`` of them drawn with the seed."""
    available = rows["source"].n_unique()
    if uses_all(request, available, "pairs", f"only {available:,} of {name!r} have words to swap and {needed}"):
        return rows
    return rows.filter(pl.col("source_draw").rank("dense") <= request.n)


def _select_side(frame: pl.LazyFrame, side: str) -> pl.LazyFrame:
    """The rows with the columns of one side in place of those of the corpus."""
    state = pl.col(f"{side}_state")
    certainty = state.replace_strict(_CERTAINTIES, default=None, return_dtype=pl.String)
    return frame.with_columns(
        **{name: pl.col(f"{side}_{name}") for name in _SIDE_COLUMNS},
        certainty=pl.when(state == _GIVEN).then("certainty").otherwise(certainty),
        id=pl.concat_str("id", "pair", separator="-"),
        base_id=pl.lit(None, dtype=pl.String),
    )


def _with_controls(
    suite: SwapSuite, pairs: Suite, rows: pl.LazyFrame, arguments: Mapping[str, Argument], request: Request
) -> Suite:
    """The suite of the changed pairs, with the control pairs as its control."""
    known = dict(pairs.card.columns)
    kinds = (travelling_columns(known, request.keep) if suite.situation == "ex situ" else known) | _SWAP_COLUMNS
    names = [*COLUMNS, *kinds]
    # The pair with a proxy in the premise and that with one in the hypothesis share a control.
    controls = _select_side(rows, "control").select(names).unique("id", keep="first", maintain_order=True)
    is_same = pl.col("control_label") == pl.col("changed_label")
    gold_changed = pl.when(is_same).then(pl.lit("no")).otherwise(pl.lit("yes"))
    return derive_suite(
        suite.name,
        Suite(controls, replace(pairs.card, columns=kinds), misleading=pairs.misleading),
        _select_side(rows, "changed").with_columns(gold_changed=gold_changed).select(*names, "gold_changed", "variant"),
        version=suite.version,
        request=replace(request, keep=(*request.keep, *_SWAP_COLUMNS)),
        arguments=arguments,
        columns=_CHANGED_COLUMNS,
    )


def _questions(
    suite: SwapSuite, pairs: Suite, rows: pl.LazyFrame, arguments: Mapping[str, Argument], request: Request
) -> Suite:
    """The pairs whose gold has to be asked, with the label *any* and without controls."""
    made = _with_controls(suite, pairs, rows, arguments, request)
    assert made.control is not None
    frames = {"control": (made.control.frame, _ROW_KEY[:2]), "changed": (made.frame, _ROW_KEY)}
    kinds = {name: kind for name, kind in made.card.columns.items() if name not in _CHANGED_COLUMNS}
    waiting = []
    for side in suite.sides:
        frame, key = frames[side]
        ids = rows.filter(pl.col(f"{side}_state") == _WAITING).select(id=pl.concat_str(*key, separator="-"))
        waiting.append(frame.join(ids, on="id", how="semi", maintain_order="left").select(*COLUMNS, *kinds))
    null = pl.lit(None, dtype=pl.String)
    questions = pl.concat(waiting).with_columns(label=pl.lit("any"), base_id=null, certainty=null)
    return Suite(questions, replace(made.card, columns=kinds, arguments={**made.card.arguments, "ask": True}))
