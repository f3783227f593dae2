"""Fills the templates of a user's file: exact counts, no pair twice, words drawn by keyed permutations."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from acidtest.core.digests import digests, hexadecimal
from acidtest.core.draws import Draws
from acidtest.core.errors import AcidtestError, FileError, list_some
from acidtest.core.logs import log
from acidtest.core.suite import Card, Kind, Suite, complete_columns
from acidtest.suites.catalogue import Request
from acidtest.suites.corpus import advise_fewer
from acidtest.suites.custom.suite_files import MAX_MADE_TEXT, MAX_ROWS, ROWS, CustomTemplate, SuiteFile

_PAIR = ("premise", "hypothesis")


def fill_templates(file: SuiteFile, request: Request) -> Suite:
    """A suite of ``n`` pairs per template, times its ``share``."""
    rows = request.n or file.rows or ROWS
    _refuse_many(file, request, rows)
    parts = [_fill(template, rows * template.share, request.seed, file.name) for template in file.templates]
    frame = pl.concat(parts, how="diagonal")
    _refuse_conflicts(file, frame)
    frame = frame.unique(_PAIR, keep="first", maintain_order=True)
    _require_rows(file, request, rows, frame)
    # Rows that share a premise are one group.
    frame = complete_columns(frame.with_columns(group=hexadecimal(digests(frame["premise"]))), file.name)
    columns: dict[str, Kind] = dict.fromkeys(_factors(file), "factor")
    card = Card(
        file.name,
        version=file.version,
        seed=request.seed,
        sources={file.path.name: file.fingerprint},
        licence=file.licence,
        citation=file.citation,
        columns=columns,
        strata=("template",),
    )
    return Suite(frame.lazy(), card)


def _refuse_many(file: SuiteFile, request: Request, rows: int) -> None:
    """Raise when the templates would have more than ``MAX_ROWS`` rows or ``MAX_MADE_TEXT`` characters in all."""
    total = rows * sum(template.share for template in file.templates)
    if total <= MAX_ROWS:
        size = rows * sum(template.share * _longest_pair(template) for template in file.templates)
        if size > MAX_MADE_TEXT:
            problem = f"{total:,} rows have up to {size:,} characters; at most {MAX_MADE_TEXT:,} are allowed"
            raise file.table.error("rows" if file.rows else "template", problem)
        return
    problem = f"{total:,} rows in all templates; at most {MAX_ROWS:,} are allowed"
    if request.n is None:
        raise file.table.error("rows" if file.rows else "template", f"asks for {problem}")
    raise FileError(file.path, f"-n {rows:,} asks for {problem}")


def _longest_pair(template: CustomTemplate) -> int:
    """A bound on the characters of a premise and its hypothesis."""
    longest = {
        draw: max((len(text) for word in words for text in (word.text, *word.forms.values())), default=0)
        for draw, words in template.words.items()
    }
    pieces = (*template.premise.pieces, *template.hypothesis.pieces)
    # An inflected form, or one with an article, is a few letters longer.
    return sum(len(piece) if isinstance(piece, str) else longest.get(piece.draw, 0) + 10 for piece in pieces)


def _factors(file: SuiteFile) -> list[str]:
    names = [name for template in file.templates for name in (*template.factors, *_parted_slots(template))]
    return list(dict.fromkeys(["template", *names]))


def _parted_slots(template: CustomTemplate) -> Iterator[str]:
    """The slots whose word list has parts: the part of the word is a factor."""
    return (draw for draw, words in template.words.items() if any(word.part for word in words))


def _fill(template: CustomTemplate, wanted: int, seed: int, suite: str) -> pl.DataFrame:
    """The first ``wanted`` different pairs of a template, in the order of its permutation, or all there are."""
    from acidtest.suites.custom.fillings import fill_sentences

    # Keyed by the premise alone, so that templates with the same premise get the same words.
    draws = Draws(seed, f"{suite}\n{template.pattern}")
    sentences = {"premise": template.premise, "hypothesis": template.hypothesis}
    return fill_sentences(sentences, template.words, wanted, draws, different=[_PAIR]).with_columns(
        label=pl.lit(template.gold),
        certainty=pl.lit(template.certainty),
        template=pl.lit(template.name),
        **{name: pl.lit(value) for name, value in template.factors.items()},
    )


def _refuse_conflicts(file: SuiteFile, frame: pl.DataFrame) -> None:
    """Raise when two templates make the same pair with different gold."""
    conflicts = frame.filter(pl.col("label").n_unique().over(_PAIR) > 1)
    if conflicts.is_empty():
        return
    first = conflicts.filter(pl.struct(_PAIR) == conflicts.select(pl.struct(_PAIR).first()).to_series())
    names = list(dict.fromkeys(first["template"]))
    template = next(template for template in file.templates if template.name == names[-1])
    pair = f"{first['premise'][0]!r} and {first['hypothesis'][0]!r}"
    raise template.table.error("gold", f"{names[0]!r} and {names[-1]!r} make the same pair with different gold: {pair}")


def _require_rows(file: SuiteFile, request: Request, rows: int, frame: pl.DataFrame) -> None:
    """Raise, or warn where the number was not asked for, when a template has fewer pairs than it should."""
    counts = dict(frame["template"].value_counts().iter_rows())
    sizes = [(template, counts.get(template.name, 0)) for template in file.templates]
    short = [(template, size) for template, size in sizes if size < rows * template.share]
    if not short or request.at_most:
        return
    template, fewest = min(short, key=lambda item: item[1] / item[0].share)
    most = fewest // template.share
    if request.n is None and file.rows is None:
        few = list_some([f"{template.name!r} ({size:,})" for template, size in short], 20)
        log.warning("%s: fewer than %s pairs of template %s; add words", file.path, f"{rows:,}", few)
        return
    problem = f"{rows * template.share:,} pairs were asked for, but its words give only {fewest:,} different ones"
    if request.n is None:
        raise file.table.error("rows", f"template {template.name!r}: {problem}; add words, or write rows = {most}")
    where = FileError(file.path, f"template {template.name!r}: {problem}", template.table.error("", "").line)
    raise AcidtestError(f"{where}; {advise_fewer(most)}")
