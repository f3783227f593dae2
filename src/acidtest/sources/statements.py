"""Sentences that state an exact quantity as a plain fact: the premises of numerical reasoning.

They come from arithmetic problems (AQuA-RAT), from the premises and hypotheses of any NLI corpus, from a text or from
the starter corpus. What would make a label unsure once a number is changed is left out, and counted by reason.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import polars as pl

from acidtest.core.blocks import utf8_text
from acidtest.core.errors import AcidtestError
from acidtest.core.files import read_bytes
from acidtest.core.streams import compacted, visit_batches
from acidtest.core.suite import Kind, Suite
from acidtest.core.tables import Table, read_table, stem
from acidtest.sources import starter
from acidtest.sources.corpora import corpus
from acidtest.sources.quantities import INTEGER, MENTION, NUMBER, quantities
from acidtest.sources.tokens import sentences
from acidtest.sources.wordlists import packaged_table

ENTITIES = ("PERSON", "LOCATION", "ORGANIZATION")
"""The named entities one of which the paper asks a sentence to have."""

_AQUA = frozenset({"question", "options", "rationale", "correct"})
_MOST_SENTENCES = 3
_MOST_LINES = 5
_PEEK = 1 << 20
_AMOUNT = r"^[$£€]?\s*(-?\d[\d,]*(?:\.\d+)?|-?\.\d+)\s*%?$"


@dataclass
class Statements:
    """Sentences on their way to being premises, and how many were left out so far, by reason in order."""

    frame: pl.DataFrame
    """A column ``sentence``, and what the corpus tells of each."""
    name: str
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    """The kinds of the columns that the corpus tells."""
    sources: Mapping[str, str] = field(default_factory=dict)
    licence: str = ""
    tagger: str = ""
    """Who found the named entities, where they were asked for."""
    left_out: dict[str, int] = field(default_factory=dict)

    def keep(self, reason: str, kept: pl.Expr | pl.Series) -> None:
        """Leave out the rows that are not to be kept."""
        before = self.frame.height
        self.frame = self.frame.filter(kept)
        self.left_out[reason] = self.left_out.get(reason, 0) + before - self.frame.height

    @property
    def drops(self) -> pl.DataFrame:
        """What was left out: ``reason`` and ``sentences``, reasons that met none left aside."""
        rows = [(reason, number) for reason, number in self.left_out.items() if number]
        return pl.DataFrame(rows, schema={"reason": pl.String, "sentences": pl.Int64}, orient="row")


def statements(source: Suite | Path | None, *, entities: bool = False, faithful: bool = False) -> Statements:
    """The sentences of a source that serve as premises; None means the starter corpus.

    A problem is discarded as the paper says, or with ``faithful`` as the released script did; then everything with a
    whole number serves. Otherwise only sentences stay in which some quantity can be changed with sure labels.
    ``entities`` asks for a person, place or organisation, as AQuA-RAT always does.
    """
    found, of_aqua = _sentences(source, faithful=faithful)
    found.keep("no number", pl.col("sentence").str.contains(INTEGER if faithful else MENTION))
    found.keep("repeated", pl.col("sentence").is_first_distinct())
    if entities or of_aqua:
        _keep_named(found)
    if not faithful:
        for reason, pattern in _exclusions().items():
            found.keep(reason, ~pl.col("sentence").str.contains(pattern))
        _keep_changeable(found)
    return found


def is_aqua(path: Path) -> bool:
    """Whether a file holds AQuA-RAT problems: JSON lines with question, options, rationale and correct."""
    opened = gzip.open if path.suffix == ".gz" else open
    # What is wrong with a corrupt file, its reader says.
    with suppress(OSError, EOFError, zlib.error, ValueError, RecursionError), opened(path, "rb") as file:
        first = json.loads(file.readline(_PEEK))
        return isinstance(first, dict) and set(first) >= _AQUA
    return False


def is_prose(path: Path) -> bool:
    """Whether a file that cannot be read as pairs is a text: a ``.txt`` that does not begin as a table does."""
    if not re.search(r"\.txt(\.gz)?$", path.name.lower()):
        return False
    text = _text(path).lstrip()
    return bool(text) and "\t" not in text.partition("\n")[0] and not text.startswith("{")


def pairs_or_path(path: Path) -> Suite | Path:
    """The pairs of an NLI file, or the path itself where it holds problems or a text."""
    if is_aqua(path):
        return path
    try:
        return corpus(path).suite
    except AcidtestError:
        if not is_prose(path):
            raise
        return path


def _sentences(source: Suite | Path | None, *, faithful: bool) -> tuple[Statements, bool]:
    """Every sentence of a source, and whether it is AQuA-RAT."""
    if source is None:
        own = starter.starter_sentences()
        return Statements(own, starter.NAME, {"genre": "factor"}, licence="Apache-2.0"), False
    given = pairs_or_path(source) if isinstance(source, Path) else source
    if isinstance(given, Suite):
        return _of_pairs(given), False
    if is_aqua(given):
        return _of_problems(read_table(given), faithful=faithful), True
    return _of_text(given), False


def _of_pairs(pairs: Suite) -> Statements:
    """The sentences of premises and hypotheses in which there is a number; texts without pass by in batches."""
    told = [name for name in pairs.frame.collect_schema() if name in (*pairs.card.columns, "source_id")]
    found, left_out = list[pl.DataFrame](), {"text without a number": 0, "repeated text": 0}

    def look(batch: pl.DataFrame) -> None:
        both = pl.concat(batch.select(pl.col(side).alias("sentence"), *told) for side in ("premise", "hypothesis"))
        found.append(compacted(both.filter(pl.col("sentence").str.contains(MENTION))))
        left_out["text without a number"] += both.height - found[-1].height

    visit_batches(pairs.frame.select("premise", "hypothesis", *told), look)
    texts = pl.concat(found)
    once = texts.unique("sentence", keep="first", maintain_order=True)
    left_out["repeated text"] = texts.height - once.height
    card = pairs.card
    return Statements(_split(once), pairs.name, card.columns, card.sources, card.licence, left_out=left_out)


def _of_problems(table: Table, *, faithful: bool) -> Statements:
    """The sentences of the questions of AQuA-RAT problems that are simple enough."""
    found = Statements(table.frame.select(_AQUA), stem(table.path), sources=table.sources, licence="Apache-2.0")
    answer = _answers(found.frame)
    if faithful:
        found.keep("problem without a number above 1 as its answer", answer.cast(pl.Float64, strict=False) > 1)
        lines = found.frame["rationale"].str.strip_chars().str.count_matches("\n") + 1
        found.keep("problem with a rationale of more than 5 lines", lines <= _MOST_LINES)
    else:
        found.keep("problem without a numerical answer", answer.str.contains(_AMOUNT))
        short = _sentence_counts(found.frame["rationale"]) <= _MOST_SENTENCES
        found.keep("problem with a rationale of more than 3 sentences", short)
    found.frame = _split(found.frame.select(pl.col("question").alias("sentence")))
    return found


def _answers(problems: pl.DataFrame) -> pl.Series:
    """The text of the correct option of each problem, without its letter."""
    rows = zip(problems["options"].to_list(), problems["correct"].to_list(), strict=True)
    return pl.Series([_option(options, letter) for options, letter in rows], dtype=pl.String)


def _option(options: list[str], letter: str) -> str:
    mark = f"{letter.strip()})"
    return next((option.removeprefix(mark).strip() for option in options if option.startswith(mark)), "")


def _sentence_counts(texts: pl.Series) -> pl.Series:
    """How many sentences each text has, a line ending one too.

    Counted so, a problem of dev or test leaves a third of a sentence with a number on average; the paper's 40,000
    sentences from about 100,000 problems are near that.
    """
    lines = texts.str.split("\n").list.eval(pl.element().filter(pl.element().str.strip_chars() != ""))
    row = pl.Series(range(len(texts))).repeat_by(lines.list.len()).explode()
    within = sentences(lines.explode())["text"]
    counts = row.gather(within).value_counts(name="n")
    return pl.DataFrame({row.name: range(len(texts))}).join(counts, on=row.name, how="left")["n"].fill_null(0)


def _of_text(path: Path) -> Statements:
    """The sentences of a text: of its paragraphs where empty lines part them, else of its lines."""
    text = _text(path)
    parts = re.split(r"\n\s*\n", text) if re.search(r"\n\s*\n", text.strip()) else text.split("\n")
    frame = pl.DataFrame({"sentence": [" ".join(part.split()) for part in parts]})
    return Statements(_split(frame), stem(path))


def _text(path: Path) -> str:
    return utf8_text(path, read_bytes(path)).decode().replace("\r\n", "\n")


def _split(texts: pl.DataFrame) -> pl.DataFrame:
    """A row for every sentence of the texts in the column ``sentence``, the other columns repeated."""
    parts = sentences(texts["sentence"])
    return texts.select(pl.all().gather(parts["text"])).with_columns(parts["sentence"])


def _keep_named(found: Statements) -> None:
    """Leave out sentences that name no person, place or organisation."""
    from acidtest.sources.tagging import tagged, tagger

    named = tagged(found.frame["sentence"]).filter(pl.col("entity").is_in(ENTITIES))["text"]
    found.keep("no named entity", pl.int_range(pl.len()).is_in(named.unique().implode()))
    found.tagger = tagger().name


def _keep_changeable(found: Statements) -> None:
    """Leave out sentences none of whose numbers can be changed; the reason is what bars the first."""
    problems = [_problem(sentence) for sentence in found.frame["sentence"]]
    frame = found.frame.with_columns(_problem=pl.Series(problems, dtype=pl.String))
    for problem in sorted(set(problems) - {""}):
        found.left_out[f"number: {problem}"] = problems.count(problem)
    found.frame = frame.filter(pl.col("_problem") == "").drop("_problem")


def _problem(sentence: str) -> str:
    judged = quantities(sentence)
    if not judged:
        return "no quantity"
    return "" if any(not quantity.problem for quantity in judged) else judged[0].problem


@cache
def _exclusions() -> dict[str, str]:
    """Patterns of sentences in which a changed number would leave the label or the grammar in doubt, by reason."""
    rows = packaged_table("quantities/exclusions.tsv").iter_rows(named=True)
    return {row["reason"]: row["pattern"].replace("<number>", NUMBER) for row in rows}
