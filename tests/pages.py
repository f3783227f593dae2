"""Pages of the documentation as a reader follows them: files to write, commands to type, output to compare.

In a page, a ``console`` block holds commands after ``$`` and what they print. ``…`` stands for what differs from run to
run or is left out: alone on a line for any lines, within a line for any characters. A block with a title (```csv
title="pairs.csv") is that file. A comment before a block changes what a test does with it:

    <!-- not run: it needs a GPU -->             commands and options only have to exist
    <!-- tested with: hf:my-model = reference -->    the test types the right-hand side instead
    <!-- before: acidtest generate hans -o x.tsv -->    typed first, not shown to readers
    <!-- exit 1 -->                              the exit status of the block's last command
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from acidtest import api
from acidtest.cli.app import command, leaf_commands
from acidtest.core.model import MODELS
from acidtest.core.registry import read_options

ROOT = Path(__file__).parents[1]
_BLOCK = re.compile(r"((?:<!--[^>]*-->\s*\n)*)^( *)```(\w*)([^\n]*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_MARK = re.compile(r"<!--\s*(not run|tested with|before|exit)\b:?\s*(.*?)\s*-->", re.DOTALL)
_TITLE = re.compile(r'title="(.+?)"')
_MESSAGE = re.compile(r"(?:NOTE|WARNING|acidtest): ")
_GAP = "…"


@dataclass(frozen=True)
class Step:
    """A command and what it prints."""

    command: str
    shown: str


@dataclass(frozen=True)
class Block:
    """A fenced block with the marks before it."""

    language: str
    text: str
    marks: Mapping[str, str] = field(default_factory=dict)
    file: str | None = None
    """The name of the file that the block is, if it is one."""

    @property
    def steps(self) -> Iterator[Step]:
        """The commands of a ``console`` block, each with what it prints."""
        for part in re.split(r"^\$ ", self.text, flags=re.MULTILINE)[1:]:
            typed, *printed = part.split("\n")
            while printed and printed[0].startswith("> "):
                typed = typed.removesuffix("\\") + " " + printed.pop(0)[2:]
            yield Step(typed, "\n".join(printed).strip("\n"))

    def tested(self, typed: str) -> str:
        """A command as the test types it."""
        for pair in filter(None, self.marks.get("tested with", "").split(";")):
            shown, _, instead = pair.partition(" = ")
            typed = typed.replace(shown.strip(), instead.strip())
        return typed


def read_blocks(path: Path) -> list[Block]:
    """The fenced blocks of a page."""
    blocks = []
    for marks, _, language, rest, text in _BLOCK.findall(path.read_text(encoding="utf-8")):
        title = _TITLE.search(rest)
        blocks.append(Block(language, text, dict(_MARK.findall(marks)), title[1] if title else None))
    return blocks


def as_shown(shown: str, printed: str) -> bool:
    """Whether what a page shows is what was printed, gaps left aside."""
    lines = [line.rstrip() for line in shown.splitlines()]
    pattern = r"\n".join(".*" if line == _GAP else re.escape(line).replace(_GAP, "[^\n]*") for line in lines)
    whole = "\n".join(line.rstrip() for line in printed.strip("\n").splitlines())
    return re.fullmatch(pattern.replace(r"\n.*\n", r"\n(?:.*\n)?"), whole, flags=re.DOTALL) is not None


def split_messages(shown: str) -> tuple[list[str], str]:
    """The lines of a block that go to standard error, and the others."""
    lines = shown.splitlines()
    messages = [line for line in lines if _MESSAGE.match(line)]
    return messages, "\n".join(line for line in lines if not _MESSAGE.match(line))


def unknown_words(typed: str) -> list[str]:
    """What a command line of acidtest asks for and the program does not have: commands, options, extras."""
    words = shlex.split(typed, comments=True)
    if words[:2] == ["pip", "install"]:
        known = re.findall(r"^([\w-]+) = \[", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
        extras = ",".join(re.findall(r"acidtest\[(.*?)\]", typed)).split(",")
        return [extra for extra in extras if extra and extra not in known]
    if words[:1] != ["acidtest"] or len(words) == 1:
        return []
    leaves = leaf_commands(command())
    name = next((name for name in (" ".join(words[1:3]), words[1]) if name in leaves), None)
    if name is None:
        return [words[1]]
    known = {option for parameter in leaves[name].params for option in parameter.opts} | _further_options(name)
    given = [word.partition("=")[0] for word in words[2:] if word.startswith("-") and len(word) > 1]
    return [word for word in given if word not in known]


def _further_options(name: str) -> set[str]:
    """Options of suites and models, or of architectures, which go onto the same command line."""
    if name in ("train", "experiment"):
        options = [option for architecture in api.architectures() for option in api.architecture_options(architecture)]
        return {f"--{option.replace('_', '-')}" for option in options}
    flags = {option.flag for generator in api.suites().values() for option in generator.options.values()}
    return flags | {option.flag for kind in MODELS for option in read_options(MODELS[kind]).values()}
