"""Recognises by their content the files that papers published: HANS, Breaking NLI and the six stress tests.

A recognised file becomes the suite of that name: its card has the paper's strata, and columns that the paper's analyses
need are computed from the pairs. Parts of a file and copies in another format are recognised too. Where the content
is not enough (misspelt MultiNLI looks like MultiNLI), the name of the released file decides, or the user.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import U64
from acidtest.core.errors import FileError, UnknownNameError
from acidtest.core.labels import LABELS, NO_GOLD
from acidtest.core.suite import Argument, Kind, Suite
from acidtest.io.published import CORPUS
from acidtest.io.wordlists import packaged_table
from acidtest.pairs import categories

AS_A_FILE = "file"
"""The name that makes a recognised file be read like any other file."""

FILE = "file"
"""The argument on the card of a recognised suite that names its file; a generated suite has none."""

AQUA_RAT = "aqua-rat"
"""The corpus of arithmetic problems that the published numerical test was made from."""

MATCHED = frozenset({"fiction", "government", "slate", "telephone", "travel"})
MISMATCHED = frozenset({"facetoface", "face-to-face", "letters", "nineeleven", "9/11", "oup", "verbatim"})
"""The genres of MultiNLI's two development sets, as its files spell them."""

_STRESS_CITATION = (
    "Naik, Ravichander, Sadeh, Rose and Neubig (2018). Stress Test Evaluation for Natural Language Inference. COLING."
)
_HANS_CITATION = "McCoy, Pavlick and Linzen (2019). Right for the Wrong Reasons. ACL."
_NEARLY_ALL = 0.95
"""Share of rows that must match; not all do, since the released scripts cut some sentences at an abbreviation."""

_SAME_CORPUS = 0.9
"""Share of a corpus's digests that must occur; a copy may differ from ours in some characters."""
_MOST_VALUES = 100
_TRUE, _FALSE = r"and true is true", r"and false is not true"
_FIVE_TIMES = rf"(?:{_TRUE}\W*){{5}}"
_NUMERICAL_FILE = "multinli_0.9_quant"
_QUANTITY = r"(?:(?:more|less) than )?\d[\d,.]*"
_SPELLING_FILES: Mapping[str, tuple[str, str]] = {
    "contentword_swap": ("adjacent", "content"),
    "functionword_swap": ("adjacent", "function"),
    "keyboard": ("keyboard", "any"),
    "swap": ("adjacent", "any"),
}
"""Part of a released spelling file's name → its edit and target."""


@dataclass(frozen=True)
class FilePairs:
    """The input of recognition: a file's name, its columns by our names, and its rows, read when needed."""

    path: Path
    file: str
    """The file's name without endings."""
    columns: Mapping[str, Kind]
    read: Callable[..., Iterator[pl.DataFrame]]
    """Batches with premise, hypothesis, label and the columns named, all strings."""
    parses: frozenset[str] = frozenset()
    """The columns of parses that the file has; ``columns`` are without them."""
    _known: dict[str, frozenset[str]] = field(default_factory=dict, compare=False)

    def values(self, column: str) -> frozenset[str]:
        """The distinct values of a column; empty if the column is missing or has more than ``_MOST_VALUES``."""
        if column not in self.columns and column != "label":
            return frozenset()
        if column not in self._known:
            self._known[column] = self._read_values(column)
        return self._known[column]

    def _read_values(self, column: str) -> frozenset[str]:
        values = set[str]()
        for part in self.read(column):
            values.update(part[column].drop_nulls().unique())
            if len(values) > _MOST_VALUES:
                return frozenset()
        return frozenset(values)

    def mostly(self, condition: pl.Expr, least: float = _NEARLY_ALL, *, columns: Sequence[str] = ()) -> bool:
        """Whether an expression holds for a share of ``least`` of the rows; stops reading once the share is too low.

        ``columns`` are those it needs besides premise, hypothesis and label.
        """
        rows = matches = 0
        for part in self.read(*columns):
            rows += part.height
            matches += int(part.select(condition.fill_null(False)).to_series().sum())
            if matches < least * rows:
                return False
        return rows > 0


@dataclass(frozen=True)
class PublishedSet:
    """The suite that a recognised file becomes."""

    name: str
    arguments: Mapping[str, Argument] = field(default_factory=dict)
    columns: Mapping[str, Kind] = field(default_factory=dict)
    """The kinds of columns that ``complete`` adds or whose kind differs from the file's."""
    complete: Callable[[pl.DataFrame], pl.DataFrame] | None = None
    strata: tuple[str, ...] = ()
    crossings: tuple[tuple[str, ...], ...] = ()
    citation: str = ""
    licence: str = ""
    version: int = 1

    def card_fields(self, columns: Mapping[str, Kind]) -> dict[str, Any]:
        """The fields of the card besides name and sources; ``columns`` are those of the file."""
        fields = ("arguments", "strata", "crossings", "citation", "licence", "version")
        return {"columns": {**columns, **self.columns}} | {name: getattr(self, name) for name in fields}


def recognise(pairs: FilePairs, wanted: str | None = None) -> PublishedSet | None:
    """The published set that a file holds, or the ``wanted`` one; None for any other file and for ``AS_A_FILE``."""
    if wanted == AS_A_FILE:
        return None
    if wanted is not None and wanted not in SETS:
        raise UnknownNameError("published set", wanted, [*SETS, AS_A_FILE], " (--as)")
    if wanted is not None:
        made = SETS[wanted].describe(pairs)
        if made is None:
            raise FileError(pairs.path, f"cannot be {wanted} (--as): it lacks {SETS[wanted].needs}")
        return made
    return next((made for entry in SETS.values() if entry.shows(pairs) and (made := entry.describe(pairs))), None)


def identify_corpus(pairs: Suite) -> str:
    """The published test set that pairs are: ``mnli-matched``, ``mnli-mismatched``, ``snli-test``; empty for others.

    By content and count, whatever the file is called: we ship digests of one in 64 pairs of each set, of which nine in
    ten must occur, and as many pairs must have gold as in the set.
    """
    known = packaged_table("corpora/digests.tsv").filter(pl.col("pairs").cast(pl.Int64) == pairs.card.rows)
    for (corpus,), part in known.group_by("corpus", maintain_order=True):
        wanted = np.array([int(digest, 16) for digest in part["digest"]], dtype=np.uint64)
        found = np.isin(wanted, pair_digests(pairs.frame.select("premise", "hypothesis").collect()))
        if found.mean() >= _SAME_CORPUS:
            return str(corpus)
    return ""


def pair_digests(frame: pl.DataFrame) -> U64:
    """A digest of the words of each pair, without case and punctuation."""
    return digests(*(frame[side].str.to_lowercase().str.replace_all(r"\W+", " ") for side in ("premise", "hypothesis")))


@dataclass(frozen=True)
class _Recogniser:
    """How a published set is recognised, and the suite made of it; ``describe`` gives None if columns are missing."""

    shows: Callable[[FilePairs], bool]
    describe: Callable[[FilePairs], PublishedSet | None]
    needs: str = ""


MIN_HANS_PAIRS = 10
"""The fewest pairs that are taken for HANS by their sentences alone."""


def _is_hans(pairs: FilePairs) -> bool:
    """Whether a file has HANS's subcases, labels and words, or nothing but its sentences with their labels."""
    if not set(pairs.columns) >= _HANS_COLUMNS:
        meanings = hans_label_map(pairs.read())
        return bool(meanings) and all(label == meaning for label, meaning in meanings.items())
    subcases, labels = pairs.values("subcase"), pairs.values("label")
    known = frozenset(packaged_table("hans/templates.tsv")["subcase"])
    if not subcases or not subcases <= known or not labels <= {"entailment", "non-entailment"}:
        return False
    return pairs.mostly(_has_hans_words(), least=1)


_HANS_COLUMNS = frozenset({"heuristic", "subcase"})


def hans_label_map(batches: Iterable[pl.DataFrame]) -> dict[str, str]:
    """What each label means if all pairs are sentences of published HANS, whatever their case; empty if they are not.

    ``batches`` have premise, hypothesis and label. Tokens may be apart ("The doctor left ."). A label has a meaning
    only if the templates of all its pairs have the same gold.
    """
    from acidtest.pairs.hans import recogniser

    table = packaged_table("hans/templates.tsv")
    gold_of_subcase = dict(table.select("subcase", "label").iter_rows())
    meanings, rows = dict[str, str](), 0
    for batch in batches:
        part = batch.filter(pl.col("label").is_not_null() & ~pl.col("label").is_in(list(NO_GOLD)))
        if not part.select(_has_hans_words().all()).item():
            return {}
        subcases = recogniser().subcases(part["premise"], part["hypothesis"])["subcase"]
        if subcases.has_nulls():
            return {}
        golds = subcases.replace_strict(gold_of_subcase, return_dtype=pl.String)
        for label, gold in set(zip(part["label"], golds, strict=True)):
            if meanings.setdefault(label, gold) != gold:
                return {}
        rows += part.height
    return meanings if rows >= MIN_HANS_PAIRS else {}


def _has_hans_words() -> pl.Expr:
    words = pl.col("premise").str.to_lowercase().str.extract_all(r"[a-z]+").list.set_difference(_hans_words())
    return words.list.len() == 0


@cache
def _hans_words() -> list[str]:
    """The words that published HANS premises are made of, in lower case."""
    from acidtest.pairs.hans import compile_templates

    texts = [word.text for word in compile_templates("published", "published", faithful=True).grammar.tokens.words]
    return sorted({word for text in texts for word in text.lower().split()})


def _hans(pairs: FilePairs) -> PublishedSet | None:
    if not set(pairs.columns) >= _HANS_COLUMNS and not _is_hans(pairs):
        return None
    half = {"set": "training"} if _is_hans_training(pairs) else {}
    return PublishedSet(
        "hans",
        {"words": "published", **half, FILE: pairs.file},
        {"heuristic": "factor", "subcase": "factor", "template": "factor", "trigger": "text", "category": "factor"},
        _with_triggers,
        strata=("subcase", "template"),
        crossings=(("heuristic", "label"),),
        citation=_HANS_CITATION,
        licence="MIT",
    )


def _is_hans_training(pairs: FilePairs) -> bool:
    """Whether the pairs are from HANS's training set, which has the layout, subcases and words of its evaluation set.

    We ship digests of one in 128 of its pairs; at least half as large a share of the rows must be among them.
    """
    known = [int(digest, 16) for digest in packaged_table("hans/training_digests.tsv")["digest"]]
    rows = matches = 0
    for part in pairs.read():
        matches += int(np.isin(pair_digests(part), np.array(known, dtype=np.uint64)).sum())
        rows += part.height
    return matches > rows / 128 / 2


def _with_triggers(frame: pl.DataFrame) -> pl.DataFrame:
    """HANS rows with template and trigger word for the paper's human experiment; without ``group``: each row is one."""
    from acidtest.pairs.hans import recogniser

    if not set(frame.columns) >= _HANS_COLUMNS:
        subcases = recogniser().subcases(frame["premise"], frame["hypothesis"])["subcase"]
        heuristics = dict(packaged_table("hans/templates.tsv").select("subcase", "heuristic").iter_rows())
        frame = frame.drop("template", strict=False).with_columns(
            subcase=subcases, heuristic=subcases.replace_strict(heuristics, return_dtype=pl.String)
        )
    templates = frame["template"] if "template" in frame.columns else None
    triggers = recogniser().triggers(
        frame["premise"], frame["hypothesis"], subcases=frame["subcase"], templates=templates
    )
    named = frame.drop("group", "template", strict=False).hstack(triggers)
    return named.with_columns(category=pl.concat_str("subcase", pl.lit(": "), "trigger"))


def _is_breaking_nli(pairs: FilePairs) -> bool:
    return categories.is_breaking_nli(pairs.values("category")) and not set(categories.REPLACED_WORDS) & set(
        pairs.columns
    )


def _breaking_nli(pairs: FilePairs) -> PublishedSet | None:
    if "category" not in pairs.columns:
        return None
    return PublishedSet(
        categories.BREAKING_NLI,
        columns={"category": "factor", **categories.REPLACED_WORDS},
        complete=categories.with_replaced_words,
        strata=(categories.CATEGORY,),
        citation=categories.CITATION,
        licence=categories.LICENCE,
    )


def _corpus(pairs: FilePairs) -> str:
    """The MultiNLI development set that the pairs come from, by their genres; empty for other pairs."""
    genres = pairs.values("genre")
    if not genres or not genres <= MATCHED | MISMATCHED:
        return ""
    return "mnli-matched" if genres <= MATCHED else "mnli-mismatched" if genres <= MISMATCHED else "mnli"


def _stress(
    pairs: FilePairs,
    name: str,
    arguments: Mapping[str, Argument],
    *,
    columns: Mapping[str, Kind] | None = None,
    complete: Callable[[pl.DataFrame], pl.DataFrame] | None = None,
    crossings: tuple[tuple[str, ...], ...] = (),
) -> PublishedSet:
    """One of the six stress tests as released; the argument ``from`` names the corpus it was made from."""
    corpus = AQUA_RAT if name == "numerical" else _corpus(pairs) or pairs.file
    arguments = {"from": corpus, CORPUS: corpus, **arguments, "faithful": True, FILE: pairs.file}
    return PublishedSet(
        f"stress/{name}", arguments, columns or {}, complete, crossings=crossings, citation=_STRESS_CITATION
    )


def _distracted(tautology: str, repetitions: int, side: str) -> dict[str, Argument]:
    return {"tautology": tautology, "repetitions": repetitions, "place": "end", "side": side}


def _has_tautology(pairs: FilePairs, side: str, pattern: str) -> bool:
    text = pl.col(side).str.to_lowercase()
    return bool(_corpus(pairs)) and pairs.mostly(text.str.contains(pattern))


def _is_numerical(pairs: FilePairs) -> bool:
    """Whether nearly all pairs differ only in a quantity, and come from the released script.

    The script writes one genre, which the published file lacks, and copies each sentence into its column of binary
    parses; where both are gone, the name of the file decides.
    """
    premise, hypothesis = (pl.col(side).str.replace_all(_QUANTITY, "#") for side in ("premise", "hypothesis"))
    if pairs.values("label") != set(LABELS):
        return False
    parses = [f"{side}_binary_parse" for side in ("premise", "hypothesis")]
    copied = pl.col("premise") == pl.col(parses[0]), pl.col("hypothesis") == pl.col(parses[1])
    is_released = (
        pairs.values("genre") == {"facetoface"}
        or pairs.file.lower().startswith(_NUMERICAL_FILE)
        or (pairs.parses >= set(parses) and pairs.mostly(pl.all_horizontal(copied), columns=parses))
    )
    return is_released and pairs.mostly(premise == hypothesis)


def _is_antonymy(pairs: FilePairs) -> bool:
    """Whether all pairs are contradictions from MultiNLI, and nearly all differ in one word only."""
    if pairs.values("label") != {"contradiction"} or not _corpus(pairs):
        return False
    return pairs.mostly(pl.struct("premise", "hypothesis").map_elements(_one_word_apart, return_dtype=pl.Boolean))


def _one_word_apart(pair: Mapping[str, str]) -> bool:
    """Whether two sentences differ only in a stretch without spaces."""
    return not any(" " in rest for rest in _differing(pair["premise"], pair["hypothesis"]))


def _differing(premise: str, hypothesis: str) -> tuple[str, str]:
    """The rest of two sentences without their common beginning and end."""
    shorter = min(len(premise), len(hypothesis))
    start = next((place for place in range(shorter) if premise[place] != hypothesis[place]), shorter)
    most = shorter - start
    end = next((place for place in range(most) if premise[-1 - place] != hypothesis[-1 - place]), most)
    return premise[start : len(premise) - end], hypothesis[start : len(hypothesis) - end]


def _with_antonyms(frame: pl.DataFrame) -> pl.DataFrame:
    """The pairs with columns word and antonym, the first words in which the sentences differ."""
    words = [_whole_words(*pair) for pair in zip(frame["premise"], frame["hypothesis"], strict=True)]
    return frame.with_columns(
        word=pl.Series([first for first, _ in words], dtype=pl.String),
        antonym=pl.Series([second for _, second in words], dtype=pl.String),
    )


def _whole_words(premise: str, hypothesis: str) -> tuple[str | None, str | None]:
    """The first words in which two sentences differ; None where they do not."""
    words = [re.findall(r"[\w'-]+", text) for text in (premise, hypothesis)]
    return next(((first, second) for first, second in zip(*words, strict=False) if first != second), (None, None))


def _spelling_kind(file: str) -> tuple[str, str] | None:
    """Edit and target of a released file of misspelt pairs, by its name."""
    name = file.lower()
    if "gram" not in name and "spelling" not in name:
        return None
    return next((kind for mark, kind in _SPELLING_FILES.items() if mark in name), None)


def _is_spelling(pairs: FilePairs) -> bool:
    return _spelling_kind(pairs.file) is not None and bool(_corpus(pairs))


def _spelling(pairs: FilePairs) -> PublishedSet:
    edit, target = _spelling_kind(pairs.file) or (None, None)
    if edit is None:
        return _stress(pairs, "spelling", {"edits": 1})

    def complete(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(edit=pl.lit(edit), target=pl.lit(target))

    kinds: dict[str, Kind] = {"edit": "factor", "target": "factor"}
    return _stress(pairs, "spelling", {"edits": 1}, columns=kinds, complete=complete, crossings=(("edit", "target"),))


def _antonymy(pairs: FilePairs) -> PublishedSet:
    return _stress(pairs, "antonymy", {}, columns={"word": "text", "antonym": "text"}, complete=_with_antonyms)


SETS: Mapping[str, _Recogniser] = {
    "hans": _Recogniser(_is_hans, _hans, "the columns heuristic and subcase"),
    categories.BREAKING_NLI: _Recogniser(_is_breaking_nli, _breaking_nli, "the column category"),
    "stress/length-mismatch": _Recogniser(
        lambda pairs: _has_tautology(pairs, "premise", _FIVE_TIMES),
        lambda pairs: _stress(pairs, "length-mismatch", _distracted("true", 5, "premise")),
    ),
    "stress/word-overlap": _Recogniser(
        lambda pairs: _has_tautology(pairs, "hypothesis", _TRUE),
        lambda pairs: _stress(pairs, "word-overlap", _distracted("true", 1, "hypothesis")),
    ),
    "stress/negation": _Recogniser(
        lambda pairs: _has_tautology(pairs, "hypothesis", _FALSE),
        lambda pairs: _stress(pairs, "negation", _distracted("false", 1, "hypothesis")),
    ),
    "stress/numerical": _Recogniser(_is_numerical, lambda pairs: _stress(pairs, "numerical", {})),
    "stress/antonymy": _Recogniser(_is_antonymy, _antonymy),
    "stress/spelling": _Recogniser(_is_spelling, _spelling),
}
"""The published sets by suite name; the first that recognises a file is used."""
