"""``acidtest cache``: what acidtest keeps on this machine, and how to delete it."""

from __future__ import annotations

from typing import Annotated

import typer

from acidtest.cli.options import Json, print_document, print_json
from acidtest.core.errors import AcidtestError
from acidtest.core.serialise import to_json
from acidtest.workflows.kept_files import PREDICTIONS, clear_kept_files, kept_files_document, list_kept_files


def cache(
    action: Annotated[str | None, typer.Argument(help="clear, to delete files.")] = None,
    names: Annotated[
        list[str] | None, typer.Argument(help="What to delete: predictions, wordnet. Default: predictions.")
    ] = None,
    json: Json = False,
) -> None:
    """Show what acidtest keeps on this machine, where and how large, or delete it.

    Run folders are not part of it: they are yours.
    """
    if action not in (None, "clear"):
        raise AcidtestError("write: acidtest cache, or: acidtest cache clear [NAME]…")
    cleared = action == "clear"
    kept = clear_kept_files(names or [PREDICTIONS]) if cleared else list_kept_files()
    if json:
        print_json(to_json(kept))
    else:
        print_document(kept_files_document(kept, cleared=cleared))
