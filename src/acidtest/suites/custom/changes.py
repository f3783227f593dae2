"""Changes the pairs of a corpus as a user's file says: words by a table, or whatever a regular expression matches."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import Draws
from acidtest.core.labels import GOLD_MASKS
from acidtest.core.suite import PARSES, Kind, Suite
from acidtest.suites.catalogue import Request
from acidtest.suites.corpus import LABEL_COLUMNS, derive_suite, select_rows, source_pairs, transform_rows, uses_all
from acidtest.suites.custom.suite_files import CHANGE_COLUMNS, MAX_MADE_TEXT, SAME, SuiteFile, TextChange

_KINDS: dict[str, Kind] = dict.fromkeys(CHANGE_COLUMNS, "factor")
_CERTAINTY = "assumed"


def change_pairs(file: SuiteFile, request: Request) -> Suite:
    """Every pair of the corpus that a change applies to, or ``n`` of them, with the untouched pairs as control."""
    pairs = source_pairs(replace(request, n=None), columns=CHANGE_COLUMNS)
    left_out = Counter[str]()
    dropped = (*PARSES, *(name for name in LABEL_COLUMNS if name != "label"))

    def apply_all(batch: pl.DataFrame) -> pl.DataFrame:
        parts, size = list[pl.DataFrame](), 0
        for change in file.changes:
            size += sum(_changed_size(change, batch[side]) for side in change.sides)
            if size > MAX_MADE_TEXT:
                problem = (
                    f"its texts have up to {size:,} characters for {batch.height:,} pairs, with those of the changes"
                )
                limit = f"before it; at most {MAX_MADE_TEXT:,} are allowed: shorten replacements or use fewer changes"
                raise file.table.error("change", f"{change.name!r}: {problem}; {limit}")
            parts.append(_apply(change, batch, left_out))
        return pl.concat(parts)

    rows = transform_rows(pairs.frame.drop(*dropped, strict=False), apply_all)
    ids = pl.concat([batch["id"] for batch in rows.batches("id")] or [pl.Series("id", [], dtype=pl.String)]).unique()
    changed = rows.lazy()
    if not uses_all(request, len(ids), "pairs", f"the changes apply to only {len(ids):,} of {pairs.name!r}"):
        order = pl.Series(Draws(request.seed, file.name).bits(digests(ids))).arg_sort()
        ids = ids.gather(order.head(request.n or 0))
        changed = select_rows(rows, pl.Series(digests(ids)), ("id",))
    suite = derive_suite(
        file.name,
        pairs,
        changed,
        request=request,
        version=file.version,
        columns=_KINDS,
        strata=("change",),
        left_out=left_out,
        citation=file.citation,
    )
    card = replace(suite.card, sources={**suite.card.sources, file.path.name: file.fingerprint})
    control = suite.control and replace(suite.control, frame=pairs.frame.filter(pl.col("id").is_in(ids.implode())))
    return Suite(suite.frame, card, control)


def _apply(change: TextChange, batch: pl.DataFrame, left_out: Counter[str]) -> pl.DataFrame:
    """The pairs that a change applies to, changed."""
    accepted = [gold for gold, mask in GOLD_MASKS.items() if mask & ~GOLD_MASKS[change.only] == 0]
    before = batch.filter(pl.col("label").is_in(accepted))
    after = before.with_columns(_change_texts(change, before[side]).alias(side) for side in change.sides)
    differs = pl.Series(digests(after["premise"], after["hypothesis"])) != pl.Series(
        digests(before["premise"], before["hypothesis"])
    )
    if unchanged := before.height - int(differs.sum()):
        left_out[f"with nothing to change for {change.name!r}"] += unchanged
    return after.filter(differs).with_columns(
        label=pl.col("label") if change.gold == SAME else pl.lit(change.gold),
        certainty=pl.lit(_CERTAINTY),
        change=pl.lit(change.name),
        expectation=pl.lit(change.expectation),
        variant=pl.lit(change.slug),
    )


def _changed_size(change: TextChange, texts: pl.Series) -> int:
    """A bound on the characters of the texts after a change; cheap, for none of them is made."""
    size = int(texts.str.len_chars().sum())
    if change.pattern:
        # All that groups stand for is part of the text.
        grown = len(change.replacement) * int(texts.str.count_matches(change.pattern).sum())
        return grown + size * (1 + change.replacement.count("$"))
    # Every whole word that is replaced holds at least one of these matches.
    found = texts.str.extract_many(list(change.words), ascii_case_insensitive=True).list.len().sum()
    return size + (max(map(len, change.words.values())) + len("an ")) * int(found or 0)


def _change_texts(change: TextChange, texts: pl.Series) -> pl.Series:
    if change.pattern:
        return texts.str.replace_all(change.pattern, change.replacement)
    present = texts.str.contains_any(list(change.words), ascii_case_insensitive=True)
    pattern = re.compile(
        rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(change.words, key=len, reverse=True)))})(?!\w)", re.I
    )
    swapped = pl.Series([replace_words(text, pattern, change.words) for text in texts.filter(present)], dtype=pl.String)
    return texts.scatter(present.arg_true(), swapped) if len(swapped) else texts


def replace_words(text: str, pattern: re.Pattern[str], words: Mapping[str, str]) -> str:
    """The text with all words replaced at once, in their case; *a* and *an* before them are adapted."""
    from acidtest.english.inflection import replace_span

    for match in reversed([*pattern.finditer(text)]):
        text = replace_span(text, match.start(), match.end(), word=words[match[0].lower()])
    return text
