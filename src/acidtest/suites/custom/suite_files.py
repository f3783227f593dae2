"""Reads a suite that a user wrote as TOML: word lists and templates, or changes of the pairs of a corpus.

Changes the pairs of a corpus as a user's file says: words by a table, or whatever a regular expression matches.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from acidtest.core.digests import digests, hexadecimal
from acidtest.core.draws import Draws
from acidtest.core.errors import UnknownNameError
from acidtest.core.labels import GOLD_MASKS, LABELS, gold_name
from acidtest.core.structured import MOST_INTEGER, TomlTable, read_toml_table
from acidtest.core.suite import EXPECTATION, PARSES, RESERVED, Kind, Suite, plain_name
from acidtest.suites.catalogue import SUITES, Generator, Request
from acidtest.suites.corpus import LABEL_COLUMNS, derive_suite, select_rows, source_pairs, transform_rows, uses_all

if TYPE_CHECKING:
    from acidtest.suites.custom.slots import ListedWord, SlottedSentence

ROWS = 100
"""Rows of a template where neither the file nor the user says how many."""

MAX_ROWS = 1_000_000
"""The most rows of a suite of templates: those of all its templates are made in memory."""
MAX_WORDS = 200_000
"""The most words in one list."""
MAX_CHANGED_WORDS = 10_000
"""The most words that one change replaces."""
MAX_TEMPLATES = 1_000
"""The most templates, or changes, in one file."""
MAX_SLOTS = 100
"""The most different slots of a template."""
MAX_TEXT = 10_000
"""The most characters of a sentence, a word, a pattern or a replacement."""
MAX_MADE_TEXT = 2**30
"""The most characters of all sentences that templates make, or that changes make of some thousand pairs of a corpus."""

CERTAINTIES = ("logical", "same-event", "human", "assumed")
EXPECTATIONS = (
    "same verdict",
    "other verdict",
    *(f"not {way} {label}" for label in LABELS for way in ("more", "less")),
)
"""What may be expected of the verdict on a changed pair, against that on the untouched one."""

SAME = "same"
"""Gold of a changed pair that is the gold of the untouched one."""

CHANGE_COLUMNS = ("change", EXPECTATION)
SIDES = {"premise": ("premise",), "hypothesis": ("hypothesis",), "both": ("premise", "hypothesis")}
UNSTATED_LICENCE = "not stated"

_HEAD = ("name", "summary", "version", "licence", "citation", "certainty")
_FILE = (*_HEAD, "rows", "from", "words", "template", "change")
_TEMPLATE = ("name", "premise", "hypothesis", "gold", "share", "factors", "certainty", "new")
_CHANGE = ("name", "words", "either_way", "pattern", "replacement", "in", "expect", "gold", "only")
_NAME = re.compile(r"[^\W_][\w.+-]*(?:/[\w.+-]+)*")
_ARTICLE = "article"
_FACTOR = re.compile(r"[^\W\d][\w -]*")
_GROUP = re.compile(r"\$\$|\$\{(\w+)\}|\$(\w+)", re.ASCII)


@dataclass(frozen=True)
class CustomTemplate:
    """A premise and a hypothesis with slots, and what is true of every pair made from them."""

    name: str
    premise: SlottedSentence
    hypothesis: SlottedSentence
    pattern: str
    """The premise as it was written: templates with the same premise are filled with the same words."""
    gold: str
    certainty: str
    factors: Mapping[str, str]
    words: Mapping[str, Sequence[ListedWord]]
    """The words that may fill each slot, premise first."""
    lists: Mapping[str, str]
    """The word list of each slot."""
    table: TomlTable
    share: int = 1


@dataclass(frozen=True)
class TextChange:
    """A change of premises, hypotheses or both, and what must hold of the verdict on the changed pair."""

    name: str
    sides: tuple[str, ...]
    expectation: str
    gold: str
    only: str
    words: Mapping[str, str]
    pattern: str = ""
    replacement: str = ""

    @property
    def slug(self) -> str:
        """What stands for the change in the ids of its rows."""
        return re.sub(r"\W+", "-", self.name).strip("-")


@dataclass(frozen=True)
class SuiteFile:
    """A suite as a user wrote it."""

    path: Path
    fingerprint: str
    name: str
    summary: str
    version: int
    licence: str
    citation: str
    table: TomlTable
    rows: int | None
    """Rows of each template; None if the file does not say."""
    templates: tuple[CustomTemplate, ...]
    changes: tuple[TextChange, ...]


def file_of_templates(path: Path) -> Generator:
    """The generator of the suite that a TOML file describes."""
    file = read_suite_file(path)
    if file.templates:
        from acidtest.suites.custom.templates import fill_templates

        corpus, rows = "", (file.rows or ROWS) * sum(template.share for template in file.templates)
        make: Any = partial(fill_templates, file)
    else:
        given = file.table.value("from", str, "")
        corpus, rows = str(path.parent / given) if given else "", 0
        make = partial(change_pairs, file)
    return Generator(
        file.name,
        make,
        file.summary or f"Made by {path.name}",
        rows,
        "templates" if file.templates else "pairs",
        file.citation,
        file.licence,
        corpus=corpus,
    )


def read_suite_file(path: Path) -> SuiteFile:
    """The suite in a TOML file; whatever is wrong with it is reported with its line."""
    table = read_toml_table(path)
    table.refuse_unknown(_FILE)
    templates, changes = table.tables("template"), table.tables("change")
    if not templates and not changes:
        raise table.error("", "has no [[template]] and no [[change]]; a suite is made of one or the other")
    for key, listed in (("template", templates), ("change", changes)):
        if len(listed) > MAX_TEMPLATES:
            raise table.error(key, f"there are {len(listed):,} of them; at most {MAX_TEMPLATES:,} are allowed")
    if templates and changes:
        problem = "a suite is made of [[template]] or of [[change]], not of both; write two files"
        raise changes[0].error("", problem)
    for key in ("from",) if templates else ("rows", "words"):
        if key in table.values:
            raise table.error(key, f"a file of {'templates' if templates else 'changes'} has no such key")
    name = table.value("name", str, path.stem)
    if not _NAME.fullmatch(name) or ".." in name or name in SUITES:
        problem = "is a suite of acidtest's" if name in SUITES else "is not letters, digits, and . + - _ / between them"
        raise table.error("name", f"{name!r} {problem}; choose another name")
    rows = table.number("rows", 0, most=MAX_ROWS) if "rows" in table.values else None
    certainty = _one_of(table, "certainty", CERTAINTIES, "assumed")
    words = _read_lists(table.table("words"))
    return SuiteFile(
        path=path,
        fingerprint=hexadecimal(digests(pl.Series([path.read_text(encoding="utf-8-sig")])))[0],
        name=name,
        summary=table.value("summary", str, ""),
        version=table.number("version", 1, most=MOST_INTEGER),
        licence=table.value("licence", str, UNSTATED_LICENCE),
        citation=table.value("citation", str, f"{name}, written by its user ({path.name})"),
        table=table,
        rows=rows,
        templates=_named([_read_template(one, number, words, certainty) for number, one in enumerate(templates, 1)]),
        changes=_read_changes(changes),
    )


def _named(templates: Sequence[CustomTemplate]) -> tuple[CustomTemplate, ...]:
    names = set[str]()
    for template in templates:
        if template.name in names:
            raise template.table.error("name", f"two templates are called {template.name!r}; rename one")
        names.add(template.name)
    return tuple(templates)


def _read_lists(table: TomlTable) -> dict[str, list[ListedWord]]:
    from acidtest.suites.custom.slots import AGREEING

    lists = {}
    for name, given in table.values.items():
        if name in AGREEING:
            raise table.error(name, f"{{{name}}} is a verb that agrees with a noun; choose another name")
        if not _FACTOR.fullmatch(name) or " " in name:
            raise table.error(
                name, "the name of a word list begins with a letter and has letters, digits, - and _ only"
            )
        parts = given if isinstance(given, dict) else {"": given}
        lists[name] = [word for part, words in parts.items() for word in _read_words(table, name, part, words)]
        if not lists[name]:
            raise table.error(name, "the word list is empty; give it words")
        if len(lists[name]) > MAX_WORDS:
            raise table.error(name, f"has {len(lists[name]):,} words; at most {MAX_WORDS:,} are allowed")
        seen = set[str]()
        for word in lists[name]:
            if word.text in seen:
                raise table.error(name, f"{word.text!r} stands in it twice")
            if any(len(text) > MAX_TEXT for text in (word.text, *word.forms.values())):
                raise table.error(name, f"has a word of more than {MAX_TEXT:,} characters")
            seen.add(word.text)
    return lists


def _read_words(table: TomlTable, name: str, part: str, given: object) -> list[ListedWord]:
    """The words of a list, or of one part of it: texts, tables of forms, or the name of one of our lists."""
    from acidtest.suites.custom.slots import GIVEN_FORMS, ListedWord, packaged_lists, packaged_words

    if isinstance(given, str):
        if given not in packaged_lists():
            raise table.error(name, f'{UnknownNameError("word list", given, packaged_lists())}; or write ["{given}"]')
        return [ListedWord(word.text, word.forms, part, word.is_plural) for word in packaged_words(given)]
    if not isinstance(given, list):
        raise table.error(name, "expected a list of words, the name of a word list, or a table of such lists")
    words = []
    for word in given:
        if isinstance(word, str) and word.strip():
            words.append(ListedWord(word.strip(), part=part))
        elif isinstance(word, dict) and word and all(isinstance(form, str) and form for form in word.values()):
            forms = {form: text for form, text in word.items() if form != _ARTICLE}
            if unknown := [form for form in forms if form not in GIVEN_FORMS]:
                raise table.error(name, str(UnknownNameError("form", unknown[0], (*GIVEN_FORMS, _ARTICLE))))
            if not forms or word.get(_ARTICLE, "a") not in ("a", "an"):
                raise table.error(name, f"expected a word, and a or an for its article, got {word!r}")
            text, is_plural = next(iter(forms.values())), [*forms] == ["plural"]
            words.append(ListedWord(text, forms, part, is_plural, word.get(_ARTICLE, "")))
        else:
            raise table.error(
                name, f'expected words, or forms such as {{ base = "dive", past = "dove" }}, got {word!r}'
            )
    return words


def _read_template(
    table: TomlTable, number: int, words: Mapping[str, Sequence[ListedWord]], certainty: str
) -> CustomTemplate:
    from acidtest.suites.custom.slots import SlotError, fitting_words

    table.refuse_unknown(_TEMPLATE)
    premise, hypothesis = (_read_sentence(table, side) for side in SIDES["both"])
    sentences = {"premise": premise, "hypothesis": hypothesis}
    lists, forms = dict[str, str](), dict[str, list[str]]()
    for side, sentence in sentences.items():
        for slot in sentence.slots:
            lists[slot.draw] = _list_of(table, side, slot.draw, words)
            forms.setdefault(slot.draw, []).extend(slot.forms)
    if len(lists) > MAX_SLOTS:
        raise table.error("premise", f"the template has {len(lists):,} slots; at most {MAX_SLOTS:,} are allowed")
    _refuse_new_slots(table, [*dict.fromkeys(slot.draw for slot in premise.slots)], [*lists])
    try:
        fitting = {draw: fitting_words(words[name], forms[draw]) for draw, name in lists.items()}
    except SlotError as error:
        raise table.error("premise", str(error)) from error
    for draw, name in lists.items():
        if not fitting[draw]:
            raise table.error("premise", f"no word of {name!r} has the forms that {{{draw}}} needs")
    factors = table.table("factors")
    for name, value in factors.values.items():
        if not _FACTOR.fullmatch(name) or name in {*RESERVED, "template"} or plain_name(name) != name:
            raise factors.error(name, "no factor can have this name; choose another")
        if isinstance(value, int) and abs(value) > MOST_INTEGER:
            raise factors.error(name, f"expected a whole number of at most {MOST_INTEGER:,}, got a larger one")
        if not isinstance(value, str | int | bool):
            raise factors.error(name, f"expected a text, a whole number, true or false, got {value!r}")
    share = table.number("share", 1, most=MAX_ROWS)
    return CustomTemplate(
        name=table.value("name", str, f"template {number}"),
        premise=premise,
        hypothesis=hypothesis,
        pattern=table.value("premise", str, ""),
        gold=_gold(table, "gold", ""),
        certainty=_one_of(table, "certainty", CERTAINTIES, certainty),
        factors={name: _factor_value(value) for name, value in factors.values.items()},
        words=fitting,
        lists=lists,
        table=table,
        share=share,
    )


def _factor_value(value: str | int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _read_sentence(table: TomlTable, side: str) -> SlottedSentence:
    from acidtest.suites.custom.slots import SlotError, SlottedSentence

    text = table.text(side, "", most=MAX_TEXT).strip()
    if not text:
        raise table.error(side, "is missing; a template has a premise, a hypothesis and gold")
    try:
        return SlottedSentence.parse(text)
    except SlotError as error:
        raise table.error(side, str(error)) from error


def _list_of(table: TomlTable, side: str, draw: str, words: Mapping[str, object]) -> str:
    """The word list of a slot: the one of its name, or of its name without the number at its end."""
    from acidtest.suites.custom.slots import AGREEING

    name = draw if draw in words else draw.rstrip("0123456789")
    if name not in words:
        raise table.error(side, str(UnknownNameError("word list", name, {*words, *AGREEING})))
    return name


def _refuse_new_slots(table: TomlTable, premise: Sequence[str], draws: Sequence[str]) -> None:
    """Raise for a slot that only the hypothesis has, unless the template says that it is meant."""
    declared = table.value("new", list, [])
    for draw in draws:
        if draw not in premise and draw not in declared:
            problem = f'{{{draw}}} stands in the hypothesis only; correct it or, if it is meant, add new = ["{draw}"]'
            raise table.error("hypothesis", problem)
    for draw in declared:
        if draw not in draws or draw in premise:
            raise table.error("new", f"{draw!r} is no slot that only the hypothesis has")


def _gold(table: TomlTable, key: str, default: str, others: Sequence[str] = ()) -> str:
    """A gold set in any of its spellings, or one of some other words."""
    text = table.value(key, str, default)
    gold = text if text in others else gold_name(text)
    if gold is None:
        known = [*GOLD_MASKS, *others]
        raise table.error(
            key, str(UnknownNameError("gold", text, known)) if text else f"is missing: {', '.join(known)}"
        )
    return gold


def _one_of(table: TomlTable, key: str, known: Sequence[str], default: str) -> str:
    text = table.value(key, str, default)
    if text not in known:
        problem = str(UnknownNameError("value", text, known)) if text else f"is missing: {', '.join(known)}"
        raise table.error(key, problem)
    return text


def _read_changes(tables: Sequence[TomlTable]) -> tuple[TextChange, ...]:
    changes, slugs = list[TextChange](), set[str]()
    for number, table in enumerate(tables, 1):
        change = _read_change(table, number)
        if change.slug in slugs:
            raise table.error("name", f"another change is called {change.name!r}, or nearly so; rename one")
        slugs.add(change.slug)
        changes.append(change)
    return tuple(changes)


def _read_change(table: TomlTable, number: int) -> TextChange:
    table.refuse_unknown(_CHANGE)
    if bool(table.values.get("words")) == bool(table.values.get("pattern")):
        raise table.error("", "a change has words, a table of what becomes what, or a pattern with its replacement")
    expectation = _one_of(table, "expect", EXPECTATIONS, "")
    words = table.table("words")
    if len(words.values) > MAX_CHANGED_WORDS:
        raise table.error("words", f"has {len(words.values):,} words; at most {MAX_CHANGED_WORDS:,} are allowed")
    for word, other in words.values.items():
        if isinstance(other, str) and max(len(word), len(other)) > MAX_TEXT:
            raise words.error(word[:60], f"has more than {MAX_TEXT:,} characters")
        if not isinstance(other, str) or not word.strip() or word.lower() == other.lower():
            raise words.error(word, f"expected another word, got {other!r}")
    both_ways = {other: word for word, other in words.values.items()} if table.value("either_way", bool, False) else {}
    if "either_way" in table.values and len(both_ways) < len(words.values) and table.values["either_way"]:
        raise table.error("either_way", "two words become the same, so there is no way back; make it two changes")
    pattern, replacement = (table.text(key, "", most=MAX_TEXT) for key in ("pattern", "replacement"))
    if "pattern" in table.values and "replacement" not in table.values:
        raise table.error("replacement", "is missing: what stands in place of what the pattern matches")
    _check_pattern(table, pattern, replacement)
    return TextChange(
        name=table.value("name", str, f"change {number}"),
        sides=SIDES[_one_of(table, "in", [*SIDES], "both")],
        expectation=expectation,
        gold=_gold(table, "gold", SAME if expectation == EXPECTATIONS[0] else "any", [SAME]),
        only=_gold(table, "only", "any"),
        words={word.lower(): other for word, other in {**both_ways, **words.values}.items()},
        pattern=pattern,
        replacement=replacement,
    )


def _check_pattern(table: TomlTable, pattern: str, replacement: str) -> None:
    if group := re.search(r"\\(\d)", replacement):
        raise table.error("replacement", f"{group[0]} would stand there as it is; the group is ${{{group[1]}}}")
    # Polars matches in time linear in the text, and refuses patterns that would not allow it or that grow too large.
    try:
        groups = pl.select(pl.lit("a").str.extract_groups(pattern)).to_series().struct.fields
    except pl.exceptions.ComputeError as error:
        lines = [line.strip() for line in str(error).splitlines() if line.startswith(("error:", "regex error: C"))]
        reason = (lines or ["it cannot be read"])[0].removeprefix("error: ").removeprefix("regex error: ")
        raise table.error("pattern", f"{pattern!r} is no regular expression of this kind: {reason}") from error
    known = {*groups, *map(str, range(len(groups) + 1))}
    for match in _GROUP.finditer(replacement):
        if (group_name := match[1] or match[2]) and group_name not in known:
            problem = f"the pattern has no group {group_name!r}; before a letter a group is ${{1}}, and a dollar is $$"
            raise table.error("replacement", problem)


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
