"""Checks of a suite before anybody trusts it: ids, counts, repeats, labels that one sentence or length tells, texts.

A check passes, fails, or asks for a look. What is measured is compared with what a model without the pair would get.

Texts that look wrong: stray spaces, slots left open, wrong articles, doubled words, sentences without an end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.checks import find_problems
from acidtest.core.digests import digests
from acidtest.core.document import Column, Document, Note, Part, Row, Section, Table, describe_count
from acidtest.core.draws import Draws
from acidtest.core.errors import list_some
from acidtest.core.estimate import Estimate
from acidtest.core.labels import GOLD_MASKS, LABELS
from acidtest.core.logs import stage
from acidtest.core.study import study
from acidtest.core.suite import Suite
from acidtest.english.inflection import indefinite_article
from acidtest.pairs.heuristics import words
from acidtest.stats.intervals import rate
from acidtest.stats.probes import accuracy_influences, clustered_estimate
from acidtest.studies.scoring.pair_batches import SIDES, PairBatch, PremiseSample, PremiseSampler, visit_pairs
from acidtest.studies.scoring.partial_input import PartialInput, partial_input

UNFILLED = "with a slot left open"

_PATTERNS = {
    UNFILLED: r"\{[A-Za-z_]\w*\}|\[[A-Z_]+\]|%\(\w+\)s",
    "with stray spaces": r"^\s|\s$|\s\s|\s[.,;:!?](?:\s|$)",
    "with a word doubled": r"(?i)\b(?:a a|an an|the the|of of|to to|in in|is is|and and|was was|with with|on on)\b",
    "with an odd character": r"[\x00-\x08\x0b-\x1f\x7f\uFFFD]|&(?:amp|quot|lt|gt|#\d+);",
    "that begin with a small letter": r"^[a-z]",
    "without a mark at their end": r"[^.!?…\"'”’)\]]\s*$",
}
"""What is odd about a text, as people say it, and the regular expression that tells."""

_ARTICLE = r"(?i)(?:^|[^\w'’-])(an?) ([A-Za-z][\w-]*)"
_WRONG_ARTICLE = "with a for an, or an for a"
_SAME = "whose hypothesis is the premise, but gold is not entailment"
_SHOWN = 3


@dataclass(frozen=True)
class OddTexts:
    """How many pairs have a text that is odd in some way, by what is odd, and some of them."""

    counts: Mapping[str, int]
    examples: tuple[Mapping[str, str], ...] = ()

    @property
    def unfilled(self) -> bool:
        """Whether a slot of a template was left open."""
        return UNFILLED in self.counts


def find_odd_texts(frame: pl.DataFrame) -> OddTexts:
    """The pairs whose premise or hypothesis looks wrong; ``frame`` has premise, hypothesis and label."""
    sides = ("premise", "hypothesis")
    flags = {
        kind: frame.select(pl.any_horizontal(pl.col(side).str.contains(pattern) for side in sides)).to_series()
        for kind, pattern in _PATTERNS.items()
    }
    flags[_WRONG_ARTICLE] = _has_wrong_article(frame["premise"]) | _has_wrong_article(frame["hypothesis"])
    same = (pl.col("premise") == pl.col("hypothesis")) & ~pl.col("label").is_in(["entailment", "any", "non-neutral"])
    flags[_SAME] = frame.select(same & (pl.col("label") != "non-contradiction")).to_series()
    counts = {kind: int(column.sum()) for kind, column in flags.items() if column.any()}
    examples = tuple(
        {"premise": row["premise"], "hypothesis": row["hypothesis"], "gold": row["label"], "odd": kind}
        for kind in counts
        for row in frame.filter(flags[kind]).head(_SHOWN).iter_rows(named=True)
    )
    return OddTexts(counts, examples)


def _has_wrong_article(texts: pl.Series) -> pl.Series:
    """Whether each text has an article that does not go with the sound of the next word; capitals are spared."""
    matches = texts.str.extract_all(_ARTICLE)
    rows = pl.DataFrame({"row": np.arange(len(texts)), "match": matches}).explode("match").drop_nulls()
    distinct = rows["match"].unique()
    wrong = distinct.filter(pl.Series([_is_wrong(text) for text in distinct], dtype=pl.Boolean))
    bad = rows.filter(pl.col("match").is_in(wrong.implode()))["row"].unique()
    flags = np.zeros(len(texts), dtype=np.bool_)
    flags[bad.to_numpy()] = True
    return pl.Series(flags)


def _is_wrong(match: str) -> bool:
    article, word = match.split()[-2:]
    article = article.lstrip("([\"'“‘—–-/").lower()
    if article not in ("a", "an") or word.isupper():
        return False
    return indefinite_article(word) != article


SCHEMA = 1

SHEET = 50
"""Pairs of the sheet to read."""

LEAK = 0.10
"""The hypothesis alone leaks labels if it surely gets this much more than chance; less, or the premise, is a look."""

ENOUGH = 100
"""With fewer pairs, a label that a sentence or its length tells is a look and no fail."""

LENGTH_LEAK, LENGTH_LOOK = 0.25, 0.10
"""How far from one half the area under the curve of length surely is, for a fail and for a look."""

MOST_REPEATS = 0.01
VARIETY = 0.10
"""A look is due where fewer texts than this share of the pairs are different."""

CheckVerdict = Literal["pass", "look", "fail", "not asked"]
_PAIR = ("premise", "hypothesis")
_PLURALS = {"premise": "premises", "hypothesis": "hypotheses"}


@dataclass(frozen=True)
class SuiteCheck:
    """One check of a suite: its verdict, a sentence, and what was measured against what, where something was."""

    verdict: CheckVerdict
    sentence: str
    measured: Estimate | None = None
    against: float | None = None
    """What chance gives."""
    examples: tuple[Mapping[str, str], ...] = ()


@dataclass(frozen=True)
class CheckResult:
    """The checks of a suite by name, and the pairs drawn to be read."""

    name: str
    signature: str
    rows: int
    labels: Mapping[str, int]
    checks: Mapping[str, SuiteCheck]
    seed: int
    sheet: pl.DataFrame = field(default_factory=pl.DataFrame, metadata={"json": None})
    schema: int = SCHEMA

    @property
    def failed(self) -> tuple[str, ...]:
        """The names of the checks that fail."""
        return tuple(name for name, check in self.checks.items() if check.verdict == "fail")


@study(group="make and check data")
def check(
    suite: Annotated[Suite, "A suite, or any NLI file whose layout is recognised."],
    *,
    again: Annotated[Suite | None, "The same suite made a second time, which must be equal."] = None,
    expected: Annotated[int | None, "How many pairs it should have."] = None,
    judgements: Annotated[
        Mapping[str, str] | None, "What somebody who read pairs of the sheet answered, by id."
    ] = None,
    seed: Annotated[int, "Seed of every random choice."] = 0,
) -> CheckResult:
    """Check a suite before trusting it: ids, counts, repeats, labels told without the pair, odd texts."""
    stage("looking at %s", suite.name)
    strata = [name for name in suite.card.strata if name in suite.frame.collect_schema()]
    frame = (
        suite.frame.select("id", *_PAIR, "label", "group", *strata).with_columns(pl.col(*_PAIR).fill_null("")).collect()
    )
    checks = dict(_check_rows(suite, frame, strata, again=again, expected=expected))
    checks |= _check_leaks(suite, frame, seed)
    checks |= _check_texts(frame)
    sheet = _draw_sheet(frame, strata, Draws(seed, f"check {suite.name}"))
    if judgements is not None:
        checks["judged by reading"] = _check_judgements(frame, judgements)
    counts = dict(sorted(frame["label"].value_counts().iter_rows()))
    return CheckResult(suite.name, suite.card.signature, frame.height, counts, checks, seed, sheet)


def _check_rows(
    suite: Suite, frame: pl.DataFrame, strata: Sequence[str], *, again: Suite | None, expected: int | None
) -> Iterator[tuple[str, SuiteCheck]]:
    """Checks of ids, counts, whether it is made the same twice, repeats, and labels."""
    errors = [str(problem) for problem in find_problems(suite) if problem.is_error]
    all_good = f"{describe_count(frame.height, 'id')}, all different; nothing is missing"
    yield "ids and columns", SuiteCheck("fail", "; ".join(errors)) if errors else SuiteCheck("pass", all_good)
    yield "counts", _check_counts(suite, frame, strata, expected)
    if again is not None:
        same = again.card.fingerprint == suite.card.fingerprint
        sentence = "made twice with one seed, it is the same" if same else "made twice with one seed, it differs"
        yield "made twice", SuiteCheck("pass" if same else "fail", sentence)
    pairs = frame.group_by(_PAIR).agg(
        pl.len().alias("rows"), pl.col("label").unique().sort(), pl.col("label").n_unique().alias("golds")
    )
    surplus = frame.height - pairs.height
    share = surplus / max(frame.height, 1)
    verdict: CheckVerdict = "pass" if not surplus else "fail" if share > MOST_REPEATS else "look"
    repeated = pairs.filter(pl.col("rows") > 1).sort("rows", *_PAIR, descending=[True, False, False])
    sentence = f"{describe_count(surplus, 'pair')} repeated" if surplus else "no pair stands twice"
    yield "repeats", SuiteCheck(verdict, sentence, examples=_examples(repeated))
    conflicts = pairs.filter(pl.col("golds") > 1).sort(*_PAIR)
    sentence = f"{describe_count(conflicts.height, 'pair')} with two different gold labels"
    verdict = "fail" if conflicts.height else "pass"
    sentence = sentence if conflicts.height else "no pair has two"
    yield "one gold a pair", SuiteCheck(verdict, sentence, examples=_examples(conflicts))
    yield "labels", _check_labels(frame)


def _examples(pairs: pl.DataFrame) -> tuple[Mapping[str, str], ...]:
    rows = pairs.head(3).iter_rows(named=True)
    return tuple({**{side: row[side] for side in _PAIR}, "gold": ", ".join(row["label"])} for row in rows)


def _check_counts(suite: Suite, frame: pl.DataFrame, strata: Sequence[str], expected: int | None) -> SuiteCheck:
    """Do the card and what was declared agree with the rows, and are the cells of the first stratum alike in size?"""
    counts = dict(frame["label"].value_counts().iter_rows())
    if suite.card.rows != frame.height or dict(suite.card.labels) != counts:
        card = f"{suite.card.rows:,} ({', '.join(f'{count:,} {label}' for label, count in suite.card.labels.items())})"
        return SuiteCheck("fail", f"the card says {card}, the rows are {frame.height:,}")
    if expected is not None and expected != frame.height:
        return SuiteCheck("fail", f"{frame.height:,} pairs, where {expected:,} are declared")
    sentence = describe_count(frame.height, "pair") + ("" if expected is None else ", as declared")
    if strata:
        sizes = frame[strata[0]].value_counts()["count"].to_list()
        smallest, largest = min(sizes, default=0), max(sizes, default=0)
        size = f"{smallest:,}" if smallest == largest else f"{smallest:,} to {largest:,}"
        sentence += f"; {size} for each of {describe_count(len(sizes), strata[0])}"
    return SuiteCheck("pass", sentence)


def _check_labels(frame: pl.DataFrame) -> SuiteCheck:
    """Is there a label that answers most pairs rightly, whatever they say?"""
    known = frame["label"].filter(frame["label"] != "any")
    if known.is_empty():
        return SuiteCheck("not asked", "no pair has gold")
    masks = known.replace_strict(GOLD_MASKS, default=0, return_dtype=pl.UInt8).to_numpy()
    shares = {label: float(((masks >> bit) & 1).mean()) for bit, label in enumerate(LABELS)}
    best = max(shares, key=lambda label: shares[label])
    without = frame.height - len(known)
    sentence = f"always answering {best} is right on {100 * shares[best]:.0f} %"
    sentence += f"; {describe_count(without, 'pair')} without gold (any) left aside" if without else ""
    return SuiteCheck("look" if shares[best] > 0.9 else "pass", sentence)


def _check_leaks(suite: Suite, frame: pl.DataFrame, seed: int) -> dict[str, SuiteCheck]:
    """Does one sentence alone, or the length of one, tell the label? Pairs without gold (any) are left aside."""
    sampler = PremiseSampler(seed)
    known = Suite(suite.frame.filter(pl.col("label").is_in(list(GOLD_MASKS)) & (pl.col("label") != "any")), suite.card)

    def add(batch: PairBatch) -> None:
        # Folds are of groups, not of premises: pairs made from one pair may have different premises.
        keys = {**batch.keys, "premise": digests(batch.frame["group"].cast(pl.String))}
        sampler.add(replace(batch, keys=keys), batch.frame.select())

    visit_pairs(known, add, columns=["group"])
    sample = sampler.sample()
    checks = {f"{side} alone": _leak_check(side, sample, partial_input(sample, side, seed=seed)) for side in SIDES}
    for side in SIDES:
        checks[f"{side} length"] = _length_check(side, sample)
    return checks


def _leak_check(side: str, sample: PremiseSample, probe: PartialInput) -> SuiteCheck:
    if not probe.balanced.known:
        return SuiteCheck("not asked", probe.balanced.note)
    verdict: CheckVerdict = "pass"
    sentence = "a linear model trained on it is near chance"
    if probe.p < 0.01 and probe.gain.low > 0:
        # The premises of templates may differ by label, as in HANS: a model that was not trained on them cannot use it.
        is_leak = side == "hypothesis" and probe.gain.low > LEAK and probe.gain.n >= ENOUGH
        verdict, sentence = "fail" if is_leak else "look", "a linear model trained on it tells labels"
        sentence += f": {_describe_telling_word(sample.frame[side], sample.labels, probe.balanced.value)}"
        if side == "hypothesis" and not is_leak:
            few = probe.gain.n < ENOUGH
            reason = f"fewer than {ENOUGH} pairs" if few else f"not surely by {100 * LEAK:.0f} points"
            sentence += f"; {reason}, so no fail, which more pairs may show"
    return SuiteCheck(verdict, sentence, probe.balanced, probe.chance)


def _describe_telling_word(texts: pl.Series, labels: npt.NDArray[np.integer[Any]], accuracy: float) -> str:
    """The word that goes most clearly with one gold: *'table' stands in 100, of which 100 are entailment*.

    A word that tells labels less well than the model does (``accuracy``) is not what gives them away.
    """
    golds = pl.DataFrame({"word": words(texts.fill_null("")).list.unique(), "gold": labels})
    shares = golds["gold"].value_counts(name="of_gold").with_columns(share=pl.col("of_gold") / golds.height)
    counts = golds.explode("word").drop_nulls().group_by("word", "gold").agg(pl.len().alias("count"))
    counts = counts.with_columns(total=pl.col("count").sum().over("word")).join(shares, on="gold")
    chance = pl.col("total") * pl.col("share")
    surprise = (pl.col("count") - chance) / (chance * (1 - pl.col("share"))).sqrt()
    length = pl.col("word").str.len_chars()
    best = counts.sort(surprise, length, "word", descending=[True, True, False]).row(0, named=True)
    if best["count"] < accuracy * best["total"]:
        return "no single word does; look at what stands first, and at words side by side"
    gold = tuple(GOLD_MASKS)[best["gold"]]
    return f"{best['word']!r} stands in {best['total']:,}, of which {best['count']:,} are {gold}"


def _length_check(side: str, sample: PremiseSample) -> SuiteCheck:
    """The label that length tells best: the share of couples of pairs, one with it, whose lengths are in one order."""
    kinds = np.unique(sample.labels)
    if len(kinds) < 2:
        return SuiteCheck("not asked", "fewer than two labels")
    lengths = sample.frame[side].str.len_chars().to_numpy().astype(np.float32)
    folds = np.zeros(len(lengths), dtype=np.intp)
    areas = dict[str, Estimate]()
    for kind in kinds:
        value, influences = accuracy_influences(lengths, sample.labels == kind, folds=folds)
        label = tuple(GOLD_MASKS)[kind]
        groups = sample.groups.astype(np.intp)
        method = "area under the curve, grouped"
        areas[label] = clustered_estimate(value, influences, groups=groups, n=len(lengths), method=method, unit=True)
    label = max(areas, key=lambda name: abs(areas[name].value - 0.5))
    area = areas[label]
    way = "longer" if area.value > 0.5 else "shorter"
    # Without an interval, as when lengths never differ, nothing is certain but the value.
    ends = [end if end == end else area.value for end in (area.low, area.high)]
    certain = max(ends[0] - 0.5, 0.5 - ends[1], 0.0)
    is_leak = side == "hypothesis" and certain > LENGTH_LEAK and len(lengths) >= ENOUGH
    verdict: CheckVerdict = "fail" if is_leak else "look" if certain > LENGTH_LOOK else "pass"
    sentence = (
        f"{_PLURALS[side]} of {label} are {way}"
        if verdict != "pass"
        else f"no label has much longer or shorter {_PLURALS[side]}"
    )
    return SuiteCheck(verdict, sentence, area, 0.5)


def _check_texts(frame: pl.DataFrame) -> dict[str, SuiteCheck]:
    """Odd texts, and how many of the texts are different."""
    odd: OddTexts = find_odd_texts(frame)
    verdict: CheckVerdict = "fail" if odd.unfilled else "look" if odd.counts else "pass"
    kinds = [f"{count:,} {kind}" for kind, count in odd.counts.items()]
    sentence = list_some(kinds, 4) if kinds else "nothing odd in spaces, articles, ends of sentences"
    checks = {"texts": SuiteCheck(verdict, sentence, examples=odd.examples)}
    kinds_of_text = {side: frame[side].n_unique() for side in _PAIR}
    parts = [f"{count:,} different {_PLURALS[side] if count != 1 else side}" for side, count in kinds_of_text.items()]
    verdict = "look" if min(kinds_of_text.values()) < VARIETY * frame.height else "pass"
    checks["variety"] = SuiteCheck(verdict, f"{parts[0]} and {parts[1]}")
    return checks


def _draw_sheet(frame: pl.DataFrame, strata: Sequence[str], draws: Draws) -> pl.DataFrame:
    """Pairs to read, in random order, as evenly as possible over labels and the first stratum."""
    by = ["label", *strata[:1]]
    keyed = frame.with_columns(_draw=pl.Series(draws.bits(digests(frame["id"].cast(pl.String).fill_null("")))))
    turns = keyed.with_columns(_turn=pl.col("_draw").rank("ordinal").over(by)).sort("_turn", "_draw")
    return turns.head(SHEET).sort("_draw").drop("_draw", "_turn", "group")


def _check_judgements(frame: pl.DataFrame, judgements: Mapping[str, str]) -> SuiteCheck:
    """How often the gold accepts what a reader answered without seeing it."""
    asked = frame.filter(pl.col("id").is_in(list(judgements)) & (pl.col("label") != "any"))
    if asked.is_empty():
        return SuiteCheck("not asked", "no pair that was judged is in the suite and has gold")
    answers = [GOLD_MASKS[judgements[row_id]] for row_id in asked["id"]]
    accepted = (
        np.array(answers, dtype=np.uint8) & ~np.array([GOLD_MASKS[gold] for gold in asked["label"]], dtype=np.uint8)
        == 0
    )
    share = rate(accepted, groups=np.unique(digests(asked["group"]), return_inverse=True)[1])
    wrong = asked.filter(~accepted).head(5)
    examples = tuple(
        {
            "premise": row["premise"],
            "hypothesis": row["hypothesis"],
            "gold": row["label"],
            "judged": judgements[row["id"]],
        }
        for row in wrong.iter_rows(named=True)
    )
    right = int(accepted.sum())
    verdict: CheckVerdict = "pass" if right == len(accepted) else "fail" if share.high < 0.9 else "look"
    return SuiteCheck(verdict, f"gold is what a reader said of {right} of {len(accepted)} pairs", share, None, examples)


JUDGEMENT = "judgement"
"""The column of the sheet that a reader fills in."""


def document(result: CheckResult) -> Document:
    """A table of checks, and examples of repeats, contradictions and odd texts."""
    columns = (Column("verdict", "text"), Column("measured"), Column("chance"), Column("what it says", "text"))
    rows = tuple(
        Row(name, (check.verdict, check.measured, check.against, check.sentence))
        for name, check in result.checks.items()
    )
    labels = ", ".join(f"{count:,} {label}" for label, count in result.labels.items())
    parts: list[Part] = [
        Note(f"{describe_count(result.rows, 'pair')}: {labels}."),
        Table("checks", "", columns, rows, "check"),
    ]
    parts += [
        Section(f"Examples: {name}", (_example_table(name, check.examples),), folded=True)
        for name, check in result.checks.items()
        if check.examples
    ]
    return Document(
        title="acidtest check",
        headline=_headline(result),
        parts=tuple(parts),
        models=(result.name,),
        signatures={result.name: result.signature},
        methods=(
            "One sentence alone: balanced accuracy of a softmax regression on words and bigrams, groups held out in "
            f"five folds. The check of hypotheses fails where that is surely more than {100 * LEAK:.0f} points above "
            "chance.",
            "Length: the share of couples of pairs, one with the label and one without, in which the one with it is "
            "longer; one half is chance.",
            f"Intervals are 95 % intervals; pairs of one group count together. Seed {result.seed}.",
        ),
    )


def _example_table(name: str, examples: Sequence[Mapping[str, str]]) -> Table:
    kinds = tuple(dict.fromkeys(kind for example in examples for kind in example))
    columns = tuple(Column(kind, "text") for kind in kinds)
    rows = (Row(str(number), tuple(one.get(kind, "") for kind in kinds)) for number, one in enumerate(examples, 1))
    return Table(f"{name} examples", "", columns, tuple(rows), "pair")


def _headline(result: CheckResult) -> str:
    looks = [name for name, check in result.checks.items() if check.verdict == "look"]
    look = f" Worth a look: {', '.join(looks)}." if looks else ""
    if failed := result.failed:
        return f"{result.name} fails {len(failed)} of {len(result.checks)} checks: {', '.join(failed)}.{look}"
    return f"{result.name} passes: none of {len(result.checks)} checks fails.{look}"


def rows(result: CheckResult) -> pl.DataFrame:
    """The sheet to read, without gold: a reader writes entailment, neutral or contradiction into its last column."""
    return result.sheet.select("id", "premise", "hypothesis", pl.lit("").alias(JUDGEMENT))


def gold_rows(result: CheckResult) -> pl.DataFrame:
    """What the sheet leaves out: the gold of its pairs, and the cells they come from."""
    return result.sheet.rename({"label": "gold"}).drop("premise", "hypothesis")
