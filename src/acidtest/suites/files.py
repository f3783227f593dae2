"""Writes and reads suites, as a file with a card beside it or as a folder that Hugging Face can open."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from acidtest.core.checks import KIND_TYPES
from acidtest.core.errors import FileError
from acidtest.core.files import refuse_overwrite, replace_folder, write_json, write_text
from acidtest.core.structured import check_shape, parse_json, read_json, read_own_json, refuse_newer
from acidtest.core.suite import COLUMNS, CONTROL, SCHEMA, Card, Suite
from acidtest.suites.dataset_cards import dataset_page, earlier_page, evaluation_yaml

METADATA = "acidtest"
README, EVALUATION = "README.md", "eval.yaml"
_SPLIT = "test"
_REMEDY = "generate it again"
_DATA = re.compile(rf"data/(?:{_SPLIT}|control)(?:-\d{{5}}-of-\d{{5}})?\.parquet")


def card_path(path: str | Path) -> Path:
    """The path of the card of a suite."""
    return Path(f"{path}.card.json")


def is_folder_format(path: str | Path) -> bool:
    """Whether a suite at this path is a folder: its name has no ending. Raises for an unknown ending."""
    from acidtest.io.tables import ENDINGS

    path = Path(path)
    if path.suffix and not path.name.lower().endswith(ENDINGS):
        formats = ".parquet, .jsonl, .csv, .tsv (text also .gz) or a folder"
        raise FileError(path, f"{path.suffix} is no format of suites; use {formats}")
    return not path.suffix


def write_suite(suite: Suite, path: str | Path, *, parted: bool = False) -> list[Path]:
    """Write a suite, its card and its control, whole or not at all; return the paths written.

    Files that acidtest did not write are never overwritten, nor is a folder that has any. With ``parted``, the rows in
    a folder are split into several files.
    """
    path = Path(path)
    _refuse_foreign(path, suite)
    if is_folder_format(path):
        return _write_folder(suite, path, parted=parted)
    written = _write_file(suite, path)
    return written + (_write_file(suite.control, _control_path(path)) if suite.control else [])


def read_suite(path: str | Path) -> Suite | None:
    """The suite in a file or folder that acidtest wrote, or None when it has no card."""
    path = Path(path)
    if path.is_dir():
        return _read_folder(path)
    suite = _read_file(path)
    if suite is not None and _control_path(path).exists():
        suite = replace(suite, control=_read_file(_control_path(path)))
    return suite


def _write_file(suite: Suite, path: Path) -> list[Path]:
    from acidtest.io.tables import write_table

    # An old card must never lie beside new rows; rows without a card are at worst read as a foreign file.
    card_path(path).unlink(missing_ok=True)
    write_table(suite.frame, path, metadata={METADATA: json.dumps(suite.card.to_json())})
    write_json(card_path(path), suite.card.to_json())
    return [path, card_path(path)]


def _write_folder(suite: Suite, path: Path, *, parted: bool) -> list[Path]:
    from acidtest.io.rows import write_parts
    from acidtest.io.tables import write_table

    parts = {_SPLIT: suite} | ({"control": suite.control} if suite.control else {})
    with replace_folder(path) as temporary:
        (temporary / "data").mkdir()
        for split, part in parts.items():
            metadata = {METADATA: json.dumps(part.card.to_json())}
            if parted:
                write_parts(part.frame, temporary / "data", split=split, metadata=metadata)
            else:
                write_table(part.frame, temporary / "data" / f"{split}.parquet", metadata=metadata)
        write_text(temporary / README, dataset_page(suite.card, list(parts), parted=parted))
        evaluation = evaluation_yaml(suite.card)
        if evaluation is not None:
            write_text(temporary / EVALUATION, evaluation)
    write_json(card_path(path), suite.card.to_json())
    return [path, card_path(path)]


def _read_file(path: Path) -> Suite | None:
    from acidtest.io.tables import read_table, remove_formula_prefix

    if path.suffix == ".parquet":
        table = read_table(path)
        card = _parquet_card(path, table.metadata)
        return Suite(table.rows.lazy(), card) if card else None
    if not card_path(path).is_file():
        return None
    card = read_own_json(card_path(path), Card, SCHEMA, remedy=_REMEDY)
    table = read_table(path, quoted=True)
    frame = remove_formula_prefix(table.rows.lazy()) if table.dialect else table.rows.lazy()
    return Suite(_restore_types(frame, card, path), card)


def _read_folder(path: Path) -> Suite | None:
    suite = _read_split(path / "data", _SPLIT)
    return suite and replace(suite, control=_read_split(path / "data", "control"))


def _read_split(data: Path, split: str) -> Suite | None:
    from acidtest.io.rows import parquet_metadata, part_files, part_rows

    if (data / f"{split}.parquet").is_file():
        return _read_file(data / f"{split}.parquet")
    paths = part_files(data, split)
    card = _parquet_card(paths[0], parquet_metadata(paths[0])) if paths else None
    return Suite(part_rows(paths).lazy(), card) if card else None


def _parquet_card(path: Path, metadata: Mapping[str, str]) -> Card | None:
    """The card in the metadata of a Parquet file; predictions of a run have our metadata but no card."""
    fields = parse_json(metadata.get(METADATA, "{}").encode(), path, dict[str, Any], remedy=_REMEDY)
    if "columns" not in fields:
        return None
    card = check_shape(fields, path, Card, remedy=_REMEDY)
    refuse_newer(path, card.schema, SCHEMA)
    return card


def _restore_types(frame: pl.LazyFrame, card: Card, path: Path) -> pl.LazyFrame:
    """The rows of a text file with the types of its card; empty texts become null."""
    names = frame.collect_schema().names()
    missing = [name for name in (*COLUMNS, *card.columns) if name not in names]
    if missing:
        raise FileError(path, f"lacks the columns its card names: {', '.join(missing)}; generate it again")
    types = {name: KIND_TYPES[kind] for name, kind in card.columns.items() if kind != "category"}
    frame = frame.with_columns(pl.col(name).cast(types.get(name, pl.String)) for name in names)
    frame = frame.with_columns(pl.col(name) == "true" for name in card.categories)
    return frame.with_columns(pl.when(pl.col(pl.String) != "").then(pl.col(pl.String)))


def _control_path(path: Path) -> Path:
    stem, dot, endings = path.name.partition(".")
    return path.with_name(f"{stem}{CONTROL}{dot}{endings}")


def _refuse_foreign(path: Path, suite: Suite) -> None:
    """Raise when writing the suite would replace anything but a suite that acidtest wrote."""
    if is_folder_format(path):
        refuse_overwrite(card_path(path), is_ours=_is_card)
        _refuse_changed_files(path)
        return
    for file in [path, _control_path(path)] if suite.control else [path]:
        refuse_overwrite(card_path(file), is_ours=_is_card)
        refuse_overwrite(file, is_ours=lambda file: card_path(file).exists())


def _is_card(path: Path) -> bool:
    try:
        fields = read_json(path, dict[str, Any])
    except FileError:
        return False
    return {"schema", "fingerprint", "columns"} <= fields.keys()


def _refuse_changed_files(folder: Path) -> None:
    """Raise when a folder has a file that acidtest did not write, or one that was changed since."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        refuse_overwrite(folder)
    files = sorted(path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    if files and not card_path(folder).exists():
        raise FileError(folder, "exists and was not written by acidtest; delete it or choose another name")
    for file in files:
        name = file.relative_to(folder).as_posix()
        is_expected = name in (README, EVALUATION) or _DATA.fullmatch(name)
        if file.is_symlink() or not is_expected or not _is_unchanged(file):
            raise FileError(
                file, "was not written by acidtest, or was changed since; move it away or choose another folder"
            )


def _is_unchanged(file: Path) -> bool:
    """Whether a file of a folder is as acidtest wrote it: Parquet with a card in it, or what a hub reads beside it."""
    if file.suffix == ".parquet":
        from acidtest.io.rows import parquet_metadata

        with suppress(FileError):
            return _parquet_card(file, parquet_metadata(file)) is not None
        return False
    suite = _read_folder(file.parent)
    if suite is None:
        return False
    splits = [_SPLIT, "control"] if suite.control else [_SPLIT]
    pages = [
        page(suite.card, splits, parted=parted) for page in (dataset_page, earlier_page) for parted in (False, True)
    ]
    return file.read_text(encoding="utf-8") in (pages if file.name == README else [evaluation_yaml(suite.card)])
