"""Recognises the heuristics of McCoy et al. (2019) from words, and the constituent heuristic from trees."""

from __future__ import annotations

from collections.abc import Callable
from typing import overload

import polars as pl

from acidtest.core.errors import AcidtestError
from acidtest.core.logs import log
from acidtest.english.trees import Tree, alphanumerics, is_clause, phrases, tree

HEURISTICS = ("lexical_overlap", "subsequence", "constituent")
"""The heuristics, each a special case of the one before."""

HANS = "HANS"
HANS_FACTORS = ("heuristic",)
"""The factors, besides label, by which McCoy et al. (2019) break down human answers."""

_WORD = r"[\p{L}\p{N}]+(?:['’\-][\p{L}\p{N}]+)*"

Texts = pl.Series | list[str]
Parses = pl.Series | list[str | None]
Split = Callable[[pl.Series], pl.Series]

_FULL_STOPS = (".", "?", "!")
"""Tokens that the scripts released with HANS drop; glued to a word they stay part of it."""


def words(sentences: pl.Series) -> pl.Series:
    """The words of each sentence, lower-cased, without punctuation, as a list column."""
    return sentences.str.to_lowercase().str.extract_all(_WORD)


def released_words(sentences: pl.Series) -> pl.Series:
    """The words of each sentence as the scripts released with HANS split them: lower-cased, at white space."""
    kept = pl.element().filter(~pl.element().is_in(_FULL_STOPS))
    return sentences.str.to_lowercase().str.extract_all(r"\S+").list.eval(kept)


def is_hans(heuristics: pl.Series) -> bool:
    """Whether a column of items holds HANS's heuristics."""
    names = set(heuristics.drop_nulls().unique())
    return bool(names) and names <= set(HEURISTICS)


def lexical_overlap(premises: pl.Series, hypotheses: pl.Series, *, split: Split = words) -> pl.Series:
    """Whether every word of the hypothesis occurs in the premise; false for a hypothesis without words."""
    frame = pl.DataFrame({"premise": split(premises), "hypothesis": split(hypotheses)})
    outside = pl.col("hypothesis").list.set_difference("premise").list.len()
    return frame.select((outside == 0) & (pl.col("hypothesis").list.len() > 0)).to_series()


def subsequence(premises: pl.Series, hypotheses: pl.Series, *, faithful: bool = False) -> pl.Series:
    """Whether the words of the hypothesis occur in the premise as one uninterrupted sequence.

    ``faithful`` searches for the hypothesis as a substring, as the released script does: "he ran" is in "she ran".
    """
    split, edge = (released_words, "") if faithful else (words, " ")
    frame = pl.DataFrame({"premise": split(premises), "hypothesis": split(hypotheses)})
    joined = [
        pl.concat_str(pl.lit(edge), pl.col(name).list.join(" "), pl.lit(edge)).alias(name) for name in frame.columns
    ]
    inside = pl.col("premise").str.contains(pl.col("hypothesis"), literal=True)
    return frame.select(joined).select(inside & (pl.col("hypothesis").str.len_chars() > 2 * len(edge))).to_series()


@overload
def heuristics(
    premise: str,
    hypothesis: str,
    parses: str | None = None,
    *,
    hypothesis_parses: str | None = None,
    faithful: bool = False,
) -> dict[str, bool | None]: ...


@overload
def heuristics(
    premise: Texts,
    hypothesis: Texts,
    parses: Parses | None = None,
    *,
    hypothesis_parses: Parses | None = None,
    faithful: bool = False,
) -> pl.DataFrame: ...


def heuristics(
    premise: str | Texts,
    hypothesis: str | Texts,
    parses: str | Parses | None = None,
    *,
    hypothesis_parses: str | Parses | None = None,
    faithful: bool = False,
) -> dict[str, bool | None] | pl.DataFrame:
    """Which of the three heuristics would call a pair, or every pair of two columns, entailed.

    Lexical overlap: the premise has all words of the hypothesis. Subsequence: it has them as one uninterrupted
    sequence. Constituent: they are a clause of the premise (or another constituent, where ``hypothesis_parses`` show
    that the hypothesis is not a clause); this needs ``parses``, the premise's in Penn brackets, or a premise that our
    templates can generate, and is None otherwise or for the parse of another sentence. ``faithful`` follows the scripts
    released with the paper: words are split at white space, a subsequence is a substring (which may begin or end inside
    a word, so a pair can be a subsequence without lexical overlap), and any constituent counts.
    """
    given = (premise, hypothesis, parses, hypothesis_parses)
    _check(given)
    if isinstance(premise, str):
        for text in (parses, hypothesis_parses):
            problem = _tree(text) if isinstance(text, str) else None
            if isinstance(problem, str):
                raise AcidtestError(f"{_shown(str(text))} is no parse in Penn brackets: {problem}")
        one = [None if text is None else pl.Series([text]) for text in given]
        return _heuristic_columns(*one, faithful=faithful).row(0, named=True)  # type: ignore[arg-type]
    several = [None if column is None else pl.Series(column, dtype=pl.String) for column in given]
    return _heuristic_columns(*several, faithful=faithful)  # type: ignore[arg-type]


def _check(given: tuple[object, object, object, object]) -> None:
    """Raise when sentences and columns are mixed, or columns differ in length."""
    present = [column for column in given if column is not None]
    kinds = {isinstance(column, str) for column in present}
    if given[1] is None or len(kinds) > 1:
        raise AcidtestError("heuristics takes sentences or columns of sentences, all of one kind, and a hypothesis")
    sizes = {len(column) for column in present if isinstance(column, pl.Series | list)}
    if len(sizes) > 1:
        raise AcidtestError(f"the columns differ in length: {', '.join(map(str, sorted(sizes)))}")


def _heuristic_columns(
    premises: pl.Series,
    hypotheses: pl.Series,
    parses: pl.Series | None,
    hypothesis_parses: pl.Series | None,
    *,
    faithful: bool,
) -> pl.DataFrame:
    run = subsequence(premises, hypotheses, faithful=faithful)
    # Only a subsequence can be a constituent, and few pairs are subsequences.
    rows = run.fill_null(False).arg_true()
    premise_trees = _trees(premises[rows], None if parses is None else parses[rows])
    hypothesis_trees: list[Tree | None] = [None] * len(rows)
    if hypothesis_parses is not None:
        hypothesis_trees = _known(hypothesis_parses[rows], "hypotheses")
    pairs = zip(premises[rows], hypotheses[rows], premise_trees, hypothesis_trees, strict=True)
    verdicts = [
        None if root is None else _is_constituent(premise, hypothesis, root, hypothesis_tree=other, faithful=faithful)
        for premise, hypothesis, root, other in pairs
    ]
    constituent = pl.repeat(False, len(run), eager=True).scatter(rows, pl.Series(verdicts, dtype=pl.Boolean))
    # The released scripts split at white space, so that "slept." with its full stop is a word.
    overlap = lexical_overlap(premises, hypotheses, split=released_words if faithful else words)
    columns = (overlap, run, constituent)
    return pl.DataFrame(dict(zip(HEURISTICS, columns, strict=True)))


def _trees(premises: pl.Series, parses: pl.Series | None) -> list[Tree | None]:
    """The given trees; for premises without one, the tree of the template that could have generated it."""
    from acidtest.pairs.hans import recogniser

    given = pl.repeat(None, len(premises), dtype=pl.String, eager=True) if parses is None else parses
    without = given.fill_null("") == ""
    if without.any():
        given = given.scatter(without.arg_true(), recogniser().parses(premises.filter(without)))
    return _known(given, "premises")


def _known(parses: pl.Series, side: str) -> list[Tree | None]:
    """The tree of each parse, None for a missing or invalid one; a warning counts the invalid ones."""
    parsed = [_tree(text) for text in parses]
    broken = [(text, problem) for text, problem in zip(parses, parsed, strict=True) if isinstance(problem, str)]
    if broken:
        text, problem = broken[0]
        message = "%d parses of the %s are no Penn brackets, the first %s (%s); those pairs count as not known"
        log.warning(message, len(broken), side, _shown(text), problem)
    return [None if isinstance(result, str) else result for result in parsed]


def _tree(text: str | None) -> Tree | str | None:
    """The tree of a parse, None for an empty one, or the error message for an invalid one."""
    try:
        return tree(text) if text else None
    except ValueError as error:
        return str(error)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 80 else f"{text[:80]}…")


def _is_constituent(
    premise: str, hypothesis: str, root: Tree, *, hypothesis_tree: Tree | None, faithful: bool
) -> bool | None:
    """Whether the hypothesis is a constituent of the premise's tree; None if the tree is of another sentence."""
    parts = phrases(root)
    if parts[-1][1] != alphanumerics(premise):
        return None
    wanted = alphanumerics(hypothesis)
    any_phrase = faithful or (hypothesis_tree is not None and not _is_clause(hypothesis_tree))
    return any(text == wanted and (any_phrase or is_clause(label)) for label, text in parts)


def _is_clause(root: Tree) -> bool:
    top = root.children[0]
    return is_clause(root.label) or (root.label in ("ROOT", "TOP", "") and isinstance(top, Tree) and _is_clause(top))
