"""Which antonyms models know, and whether those are the ones their training set taught (Naik et al. 2018, section 4.3).

Antonyms are unordered: *hot, cold* is *cold, hot*. A model knows a pair of antonyms when it is right on more than half
of the rows that turn on it; half is not enough. As the paper does, rows are counted too: the antonyms in rows that
every model gets right, and in rows that none does. These may overlap, as a pair may be in rows of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from acidtest.core.errors import AcidtestError
from acidtest.core.run import Run
from acidtest.core.serialise import INLINE
from acidtest.core.study import study
from acidtest.core.suite import Suite
from acidtest.io.tables import read_table
from acidtest.studies.antonyms.knowledge import AntonymKnowledge, antonym_knowledge
from acidtest.studies.antonyms.types import AntonymTypes, antonym_types

SCHEMA = 1


@dataclass(frozen=True)
class AntonymsResult:
    """Which antonyms the models of some runs know, the types of antonyms that a person filled in, or both."""

    knowledge: AntonymKnowledge | None = field(default=None, metadata={"json": INLINE})
    types: AntonymTypes | None = field(default=None, metadata={"optional": True})
    schema: int = SCHEMA


@study(group="look into a run")
def antonyms(
    runs: Annotated[Sequence[Run], "Run folders, each with stress/antonymy."] = (),
    *,
    train: Annotated[Suite | None, "A training set, to count antonyms in its contradictions."] = None,
    types: Annotated[Path | None, "A table that -o wrote, its column type filled in by a person."] = None,
    seed: Annotated[int, "Seed of every random choice."] = 0,
) -> AntonymsResult:
    """Show which antonyms all models, some or none get right, and how often each is in training contradictions.

    With -o FILE.tsv all antonyms are written, with a column type to fill in; a table written before keeps its types.
    """
    if not runs and types is None:
        raise AcidtestError("antonyms needs run folders, or a table with --types; see: acidtest antonyms --help")
    if not runs and train is not None:
        raise AcidtestError("--train and -o need run folders")
    return AntonymsResult(
        knowledge=antonym_knowledge(runs, train, seed=seed) if runs else None,
        types=antonym_types(read_table(types)) if types is not None else None,
    )
