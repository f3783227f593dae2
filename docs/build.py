"""Writes the pages that come from the code: docs/suites.md and docs/commands.md. A test keeps them current."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path

from acidtest import api
from acidtest.cli.app import command, leaf_commands
from acidtest.core.suite import Suite

FOLDER = Path(__file__).parent
NOTE = "<!-- Written by docs/build.py (make docs). Change the code, not this page. -->"

SETTINGS = """Every option can also be set by a variable (`ACIDTEST_LIMIT=500`) or in `acidtest.toml`: for all commands
at the top, for one in its table.

```toml
seed = 7

[run]
limit = 500
```

A flag goes before a variable, a variable before the file.

`acidtest.toml` is read from the current folder, or from where `ACIDTEST_CONFIG` says. A file that merely lies in the
current folder may not run code or send a key: `python:` and `endpoint:` models, suites that are Python files, and
`address` are refused there. Say them on the command line or in a variable, or name the file:
`ACIDTEST_CONFIG=acidtest.toml`.

Exit status: 0 good, 1 ran but a check failed (`acidtest check`, `acidtest words --train`), 2 a mistake of the user's,
3 a mistake of acidtest's, 130 interrupted."""


LONGEST = 400
"""Characters that a text has in a table, at most."""


def _short(text: str) -> str:
    """A text as a table cell; of a very long one, its beginning and its end."""
    text = text.strip()
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2].rstrip()} … {text[-LONGEST // 2 :].lstrip()}"


def small_suite(name: str) -> Suite:
    """A suite of few rows, from which examples are shown."""
    return api.generate(name, n=20, at_most=True)


def suites_page(generate: Callable[[str], Suite] = small_suite) -> str:
    """A section for each suite: what it is, its options, an example of each kind."""
    lines = [NOTE, "", "# Suites", ""]
    for name, generator in api.suites().items():
        lines += [f"## `{name}`", "", f"{generator.summary}.", ""]
        lines += [" ".join(inspect.cleandoc(generator.make.__doc__ or "").split()), ""]
        made_of = {"templates": "templates", "published": "the published file"}.get(generator.source)
        made_of = made_of or f"the {generator.source} of a corpus"
        lines += [f"{generator.rows:,} pairs from {made_of}. {generator.citation}", ""]
        if generator.options:
            lines += ["| option | values | default |", "|---|---|---|"]
            for option in generator.options.values():
                several = "names, separated by commas" if isinstance(option.default, tuple) else ""
                values = ", ".join(option.choices) or several or type(option.default).__name__
                lines.append(f"| `--{option.name.replace('_', '-')}` | {values} | {option.shown} |")
            lines.append("")
        lines += _examples(generate(name)) if generator.source != "published" else []
    return "\n".join(lines).rstrip() + "\n"


def _examples(suite: Suite) -> list[str]:
    card = suite.card
    told = card.strata[:1] or (card.crossings or (("label",),))[0]
    rows = suite.frame.collect().group_by(told, maintain_order=True).first()
    shown = dict.fromkeys((*told, "premise", "hypothesis", "label"))
    names = ["gold" if name == "label" else name for name in shown]
    lines = [f"| {' | '.join(names)} |", "|" + "---|" * len(names)]
    lines += [f"| {' | '.join(_short(str(row[name])) for name in shown)} |" for row in rows.iter_rows(named=True)]
    return [*lines, ""]


def commands_page() -> str:
    """Every command with its arguments, options and variables."""
    lines = [NOTE, "", "# Commands", ""]
    for name, sub in leaf_commands(command()).items():
        lines += [
            f"## `acidtest {name}`",
            "",
            " ".join((sub.help or "").split()),
            "",
            "| option | what it does |",
            "|---|---|",
        ]
        for parameter in sub.params:
            if parameter.name == "help":
                continue
            names = ", ".join(f"`{opt}`" for opt in parameter.opts)
            lines.append(f"| {names} | {getattr(parameter, 'help', '') or ''} |")
        lines.append("")
    return "\n".join([*lines, SETTINGS]) + "\n"


PAGES = {"suites.md": suites_page, "commands.md": commands_page}

if __name__ == "__main__":
    for file, page in PAGES.items():
        (FOLDER / file).write_text(page(), encoding="utf-8", newline="\n")
