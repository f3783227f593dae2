"""What the suites of swapped words share: controls, and gold that is derived, asked or assumed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import polars as pl

from acidtest.core.digests import Seen, digests
from acidtest.core.draws import Draws
from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.streams import streamed
from acidtest.core.suite import COLUMNS as SUITE_COLUMNS
from acidtest.core.suite import PARSES, Argument, Kind, Suite
from acidtest.io.rows import Rows
from acidtest.suites.catalogue import Request
from acidtest.suites.corpus import corpus, derived, gathered, travelling_columns
from acidtest.text.swap_answers import DISCARDED, UNDECIDED, read_answers, starter_answers, starter_swaps
from acidtest.text.swap_pairs import Relation, pairs_from
from acidtest.text.swaps import Swaps, swaps
from acidtest.text.tagging import tagger as tagger_called

CITATION = (
    "Sanchez Carmona, Mitchell and Riedel (2018). Behavior Analysis of NLI Models: Uncovering the Influence of Three "
    "Factors on Robustness. NAACL."
)
Assume = Literal["nothing", "paper"]
"""Whose convention gives antonyms their gold: nobody's, or the paper's, for which they are contradictions."""

COLUMNS: dict[str, Kind] = {
    "premise_word": "text",
    "hypothesis_word": "text",
    "relation": "factor",
    "swap": "factor",
}
CHANGED: dict[str, Kind] = {"gold_changed": "factor"}

_SIDES = ("control", "changed")
_MADE = ("premise", "hypothesis", "label", "premise_word", "hypothesis_word", "relation")
WORKING = (*(f"{side}_{name}" for side in _SIDES for name in (*_MADE, "state")), "lemmas", "pair", "variant")
"""Columns on the way to a suite: what control and changed pair have, the two lemmas, and what tells ids apart."""

_GIVEN, _DERIVED, _ASKED, _ASSUMED, _WAITING = "given", "derived", "asked", "assumed", "waiting"
_CERTAINTIES = {_DERIVED: "logical", _ASKED: "human", _ASSUMED: "assumed"}
_LEFT_OUT = {
    _WAITING: "waiting for people's answers (--ask)",
    DISCARDED: "incoherent to the people asked",
    UNDECIDED: "without a majority of the people asked",
}


@dataclass(frozen=True)
class Wishes:
    """What a user may ask of swaps, files by their paths."""

    pairs: str = ""
    train: str = ""
    answers: str = ""
    ask: bool = False
    assume: Assume = "nothing"
    most: int = 100
    tagger: str = "auto"

    def __post_init__(self) -> None:
        if self.most < 0:
            raise AcidtestError(f"--most is a number from 0 on, not {self.most}")
        if self.ask and self.assume != "nothing":
            raise AcidtestError("--ask gives the pairs to be asked, but with --assume paper none is; leave one out")
        if self.train and not Path(self.train).is_file():
            raise FileError(self.train, "there is no such training file; check --train")


Maker = Callable[[pl.DataFrame, Swaps], pl.DataFrame]
"""From pairs of the corpus and the swaps found in them to rows with ``WORKING`` and ``swap``; a null label is asked."""


@dataclass(frozen=True)
class Plan:
    """What one suite is: which words, which controls, how a row is made, and what it is in its card."""

    name: str
    relation: Relation
    make: Maker
    labels: tuple[str, ...] = ()
    """Labels of the pairs that are controls; any when there are none named."""
    own_controls: bool = False
    """Whether the controls are new pairs, which need gold of their own."""
    version: int = 1
    arguments: Mapping[str, Argument] = field(default_factory=dict)

    @property
    def sides(self) -> tuple[str, ...]:
        """Which of control and changed pair need gold of their own."""
        return _SIDES if self.own_controls else _SIDES[1:]


def suite(plan: Plan, request: Request, wishes: Wishes) -> Suite:
    """The swapped pairs of a corpus whose gold is known; with ``ask``, those whose gold is not."""
    taken = (*COLUMNS, *CHANGED, *WORKING)
    pairs = corpus(replace(request, n=None), columns=taken, default=starter_swaps)
    words = pairs_from(wishes.pairs, plan.relation)
    found = _Found(plan, wishes, words, _answers(request, wishes))
    frame = pairs.frame.drop("base_id", *PARSES, strict=False)
    if plan.labels:
        frame = frame.filter(pl.col("label").is_in(plan.labels))
    rows = gathered(frame, found.made)
    kept = found.capped(rows, Draws(request.seed, "swaps"))
    counts = found.states(kept)
    arguments = _arguments(request, wishes) | dict(plan.arguments) | _told(counts)
    if wishes.ask:
        waiting = pl.any_horizontal(pl.col(f"{side}_state") == _WAITING for side in plan.sides)
        chosen = _drawn(kept.filter(waiting), request, pairs.name, "a question to ask")
        made = _questions(plan, pairs, _rows(rows, chosen), arguments, request)
    else:
        chosen = _drawn(kept.filter("gold"), request, pairs.name, "gold")
        made = _suite(plan, pairs, _rows(rows, chosen), arguments, request)
    if wishes.answers:
        request.leftovers.note(wishes.answers, rows=found.given, used=frozenset(found.used))
    left_out = dict((found.left_out + _lost(counts, asking=wishes.ask)).most_common())
    return replace(made, card=replace(made.card, left_out=left_out))


@dataclass
class _Found:
    """Swapped pairs with their gold, where it is known, gathered batch by batch."""

    plan: Plan
    wishes: Wishes
    words: pl.DataFrame
    answers: pl.DataFrame | None
    left_out: Counter[str] = field(default_factory=Counter)
    _seen: Seen = field(default_factory=Seen)
    used: set[int] = field(default_factory=set)
    """Digests of the pairs that people gave gold to and that were made."""

    @property
    def given(self) -> frozenset[int]:
        """Digests of the pairs that people gave gold to."""
        known = self.answers
        return frozenset() if known is None else frozenset(digests(known["premise"], known["hypothesis"]).tolist())

    def made(self, part: pl.DataFrame) -> pl.DataFrame:
        """The columns of the corpus, those of ``WORKING``, and swap; id is that of the corpus."""
        found = swaps(part["premise"], part["hypothesis"], self.words, tagger=self.wishes.tagger)
        self.left_out.update(found.left_out)
        made = self.plan.make(part, found)
        # Three hypotheses of one premise copy it into the same pair.
        texts = ("control_premise", "control_hypothesis", "changed_premise", "changed_hypothesis", "lemmas")
        return self._with_gold(made.filter(self._seen.new(digests(*(made[name] for name in texts)))))

    def _with_gold(self, made: pl.DataFrame) -> pl.DataFrame:
        made = made.with_columns(control_state=pl.lit(_GIVEN))
        for side in self.plan.sides:
            made = self._judged(made, side)
        return made

    def _judged(self, made: pl.DataFrame, side: str) -> pl.DataFrame:
        """The rows with the label and the state of one side: derived, else as people say, else assumed."""
        label = pl.col(f"{side}_label")
        state: pl.Expr = pl.when(label.is_not_null()).then(pl.lit(_DERIVED))
        if self.answers is not None:
            names = {name: f"{side}_{name}" for name in ("premise", "hypothesis")}
            told = self.answers.rename(names).rename({"label": "_label", "verdict": "_verdict"})
            made = made.join(told, on=list(names.values()), how="left", maintain_order="left")
            answered = made.filter(pl.col("_verdict").is_not_null())
            self.used |= set(digests(*(answered[name] for name in names.values())).tolist())
            state, label = pl.coalesce(state, "_verdict"), pl.coalesce(label, "_label")
        if self.wishes.assume == "paper":
            state, label = pl.coalesce(state, pl.lit(_ASSUMED)), _assumed(state, label)
        made = made.with_columns(
            label.alias(f"{side}_label"), pl.coalesce(state, pl.lit(_WAITING)).alias(f"{side}_state")
        )
        return made.drop("_label", "_verdict", strict=False)

    def capped(self, rows: Rows, draws: Draws) -> pl.DataFrame:
        """The rows of which each pair of words has at most ``most``: row, source and pair digests, states, gold."""
        parts = [
            part.select(
                "lemmas",
                "control_state",
                "changed_state",
                row=pl.Series(digests(part["id"], part["pair"], part["variant"])),
                source=pl.Series(digests(part["id"])),
                gold=pl.col("control_label").is_not_null() & pl.col("changed_label").is_not_null(),
            )
            for part in rows.batches("id", *WORKING)
            if part.height
        ]
        if not parts:
            names = ("lemmas", "control_state", "changed_state")
            return pl.DataFrame(
                schema=dict.fromkeys(names, pl.String) | {"row": pl.UInt64, "source": pl.UInt64, "gold": pl.Boolean}
            )
        frame = pl.concat(parts)
        frame = frame.with_columns(
            pl.Series("row_draw", draws.bits(frame["row"].to_numpy(), "row")),
            pl.Series("source_draw", draws.bits(frame["source"].to_numpy(), "source")),
        )
        if not self.wishes.most:
            return frame
        kept = frame.filter(pl.col("row_draw").rank("ordinal").over("lemmas") <= self.wishes.most)
        self.left_out["of a pair of words that has enough"] += frame.height - kept.height
        return kept

    def states(self, kept: pl.DataFrame) -> Counter[str]:
        """How many golds are derived, asked and so on."""
        return Counter(state for side in self.plan.sides for state in kept[f"{side}_state"])


def _assumed(state: pl.Expr, label: pl.Expr) -> pl.Expr:
    return pl.when(state.is_null()).then(pl.lit("contradiction")).otherwise(label)


def _answers(request: Request, wishes: Wishes) -> pl.DataFrame | None:
    if wishes.answers:
        return read_answers(wishes.answers)
    return starter_answers() if request.source is None else None


def _arguments(request: Request, wishes: Wishes) -> dict[str, Argument]:
    """What goes into the card: files by their names."""
    held_out = bool(wishes.train) or request.source is None
    told: dict[str, Argument] = {
        "controls": "held-out" if held_out else "training",
        "pairs": Path(wishes.pairs).name or "wordnet",
        "most": wishes.most,
        "tagger": tagger_called(wishes.tagger).name,
    }
    files = {"train": wishes.train, "answers": wishes.answers}
    told |= {name: Path(path).name for name, path in files.items() if path}
    return told | ({"assume": wishes.assume} if wishes.assume != "nothing" else {})


def _told(counts: Counter[str]) -> dict[str, Argument]:
    asked = counts[_ASKED] + counts[_WAITING] + counts[DISCARDED] + counts[UNDECIDED]
    return {"derived": counts[_DERIVED], "asked": asked, "discarded": counts[DISCARDED]}


def _lost(counts: Counter[str], *, asking: bool) -> Counter[str]:
    reasons = {state: reason for state, reason in _LEFT_OUT.items() if not (asking and state == _WAITING)}
    return +Counter({reason: counts[state] for state, reason in reasons.items()})


def _drawn(known: pl.DataFrame, request: Request, name: str, what: str) -> pl.DataFrame:
    """The rows of all pairs of the corpus, or of ``n`` of them drawn with the seed."""
    have = known["source"].n_unique()
    if request.n is None or (request.n >= have and request.at_most):
        return known
    if request.n > have:
        raise AcidtestError(
            f"{request.n:,} pairs were asked for, but only {have:,} of {name!r} have words to swap and {what}; ask for "
            f"at most that many (-n {have}), or add --at-most to take all there are"
        )
    return known.filter(pl.col("source_draw").rank("dense") <= request.n)


def _rows(rows: Rows, kept: pl.DataFrame) -> pl.LazyFrame:
    """The rows that are kept."""
    wanted = kept["row"].implode()

    def parts(columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        for part in rows.batches():
            own = pl.Series(digests(part["id"], part["pair"], part["variant"]))
            yield part.filter(own.is_in(wanted)).select(columns)

    return streamed(parts, rows.schema)


def _side(frame: pl.LazyFrame, side: str) -> pl.LazyFrame:
    """The rows with the columns of one side in place of the corpus's own."""
    own = {name: pl.col(f"{side}_{name}") for name in _MADE}
    state = pl.col(f"{side}_state")
    made = state.replace_strict(_CERTAINTIES, default=None, return_dtype=pl.String)
    certainty = pl.when(state == _GIVEN).then("certainty").otherwise(made)
    return frame.with_columns(**own, certainty=certainty, id=pl.concat_str("id", "pair", separator="-"))


def _suite(plan: Plan, pairs: Suite, rows: pl.LazyFrame, arguments: Mapping[str, Argument], request: Request) -> Suite:
    known = dict(pairs.card.columns)
    kinds = (travelling_columns(known, request.keep) if plan.own_controls else known) | COLUMNS
    names = [*SUITE_COLUMNS, *kinds]
    empty = pl.lit(None, dtype=pl.String).alias("base_id")
    # A pair with a proxy on either side is one control.
    controls = _side(rows, "control").with_columns(empty).select(names).unique("id", keep="first", maintain_order=True)
    changed = pl.when(pl.col("control_label") == pl.col("changed_label")).then(pl.lit("no")).otherwise(pl.lit("yes"))
    swapped = _side(rows, "changed").with_columns(empty, gold_changed=changed).select(*names, "gold_changed", "variant")
    card = replace(pairs.card, columns=kinds)
    return derived(
        plan.name,
        Suite(controls, card),
        swapped,
        version=plan.version,
        request=replace(request, keep=(*request.keep, *COLUMNS)),
        citation=CITATION,
        arguments=arguments,
        columns=CHANGED,
    )


def _questions(
    plan: Plan, pairs: Suite, rows: pl.LazyFrame, arguments: Mapping[str, Argument], request: Request
) -> Suite:
    """The pairs whose gold has to be asked, with the label *any* and without controls."""
    made = _suite(plan, pairs, rows, arguments, request)
    assert made.control is not None
    parts = [_waiting(rows, made.frame, "changed")]
    if plan.own_controls:
        parts.insert(0, _waiting(rows, made.control.frame, "control"))
    kinds = {name: kind for name, kind in made.card.columns.items() if name not in CHANGED}
    names = [*SUITE_COLUMNS, *kinds]
    nothing = pl.lit(None, dtype=pl.String)
    asked = pl.concat([part.select(names) for part in parts])
    asked = asked.with_columns(label=pl.lit("any"), base_id=nothing, certainty=nothing)
    card = replace(made.card, columns=kinds, arguments={**made.card.arguments, "ask": True})
    return Suite(asked, card)


def _waiting(rows: pl.LazyFrame, frame: pl.LazyFrame, side: str) -> pl.LazyFrame:
    """The rows of one side that wait for an answer."""
    suffix = pl.concat_str("id", "pair", separator="-")
    own = suffix if side == "control" else pl.concat_str(suffix, "variant", separator="-")
    ids = rows.filter(pl.col(f"{side}_state") == _WAITING).select(id=own)
    return frame.join(ids, on="id", how="semi", maintain_order="left")
