"""What models know of words: lexical suites and the published Breaking NLI, looked at more closely."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from acidtest.core.errors import AcidtestError
from acidtest.core.files import refuse_to_lose
from acidtest.core.logs import stage
from acidtest.core.suite import Suite
from acidtest.workflows.batteries import Reading, load
from acidtest.workflows.evaluations import AnyRun, run_of

if TYPE_CHECKING:
    from rich.console import RenderableType

    from acidtest.studies.lexical import Lexical


def lexical(
    runs: Sequence[AnyRun],
    *,
    train: str | Path | Suite | None = None,
    embeddings: str | Path | None = None,
    original: str | None = None,
    reference: Sequence[AnyRun] = (),
    output: str | Path | None = None,
    reading: Reading | None = None,
    correction: str = "holm",
    seed: int = 0,
) -> Lexical:
    """Accuracy by category, by similarity of the two words and by how often training contradictions hold them.

    ``train`` is a training set, ``embeddings`` a file of word vectors, ``original`` names a suite of the runs that
    accuracy is compared with, such as SNLI's test set. ``output`` takes a table with a row for each pair of words. A
    model asked fresh and published pairs is compared on the two; ``reference`` are runs of a model known to be clean.
    """
    from acidtest.io.tables import write_table
    from acidtest.studies.lexical import lexical as analysed

    if train is None and reading and (reading.columns or reading.label_map):
        raise AcidtestError("--columns and --label-map say how to read --train, which is not given")
    if output is not None:
        refuse_to_lose(output)
    held = [run_of(each) for each in runs]
    if train is not None and not isinstance(train, Suite):
        stage("reading %s", train)
    suite = train if train is None or isinstance(train, Suite) else load(train, reading=reading)
    stage("looking at pairs of words")
    found = analysed(
        held,
        train=suite,
        embeddings=embeddings,
        original=original,
        reference=[run_of(each) for each in reference],
        correction=correction,
        seed=seed,
    )
    if output is not None:
        write_table(found.pairs, output)
    return found


def lexical_tables(found: Lexical) -> list[RenderableType]:
    """What models know of words as a person reads it on a terminal."""
    from acidtest.reports import lexical as reported

    return reported.lexical_tables(found)
