"""What a data-set hub reads beside the rows of a suite: the page with its header, and the evaluation in eval.yaml."""

from __future__ import annotations

import re
from collections.abc import Sequence

from acidtest.core.escaping import escape_markdown, markdown_code
from acidtest.core.labels import LABELS, TWO_WAY_LABELS
from acidtest.core.serialise import to_yaml
from acidtest.core.suite import Card

KNOWN_LICENCES = re.compile(r"apache-2\.0|mit|bsd-[23]-clause|cc0-1\.0|cc-by(-nc)?(-sa|-nd)?-[1234]\.0|odbl|gpl-3\.0")
"""Names of licences on the hub, of those that data sets of this field have."""

SIZES = {1_000: "n<1K", 10_000: "1K<n<10K", 100_000: "10K<n<100K", 1_000_000: "100K<n<1M", 10_000_000: "1M<n<10M"}

QUESTIONS = {
    LABELS: "Does the hypothesis follow from the premise (entailment), contradict it (contradiction), or neither "
    "(neutral)? Answer with one word: entailment, neutral or contradiction.",
    TWO_WAY_LABELS: "Does the hypothesis follow from the premise (entailment) or not (non-entailment)? "
    "Answer with one word: entailment or non-entailment.",
}
"""What a language model is asked about a pair, by the labels that its answer may be."""


def hub_name(suite: str) -> str:
    """The name of a suite as part of an identifier on the hub: letters, digits, dots and hyphens."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", suite).strip("-.")


def dataset_page(card: Card, splits: Sequence[str], *, parted: bool) -> str:
    """The README of a suite's folder: a header for the hub, with the file of each split, then the suite's facts."""
    licence = card.licence.lower()
    header = {
        "pretty_name": card.name,
        "license": "unknown" if not licence else licence if KNOWN_LICENCES.fullmatch(licence) else "other",
        # Generated suites are English; a file that was read may not be.
        **({"language": ["en"]} if card.seed is not None else {}),
        "task_categories": ["text-classification"],
        "task_ids": ["natural-language-inference"],
        "size_categories": [next((size for most, size in SIZES.items() if card.rows < most), "n>10M")],
        "tags": ["natural-language-inference", "challenge-set", "acidtest"],
    }
    columns = ["premise", "hypothesis", "label", *card.factors]
    use = [
        f"Columns {', '.join(map(markdown_code, columns))} and others. `label` is a set of accepted answers: "
        "*non-entailment* is neutral or contradiction.",
        "",
        '    datasets.load_dataset("FOLDER", split="test")',
        "",
    ]
    return "\n".join(["---", to_yaml(header).rstrip(), *_facts(card, splits, parted=parted), *use])


def earlier_page(card: Card, splits: Sequence[str], *, parted: bool) -> str:
    """The README as earlier versions of acidtest wrote it."""
    return "\n".join(["---", *_facts(card, splits, parted=parted)])


def _facts(card: Card, splits: Sequence[str], *, parted: bool) -> list[str]:
    lines = ["configs:", "- config_name: default", "  data_files:"]
    ending = "-*.parquet" if parted else ".parquet"
    lines += [f"  - split: {split}\n    path: data/{split}{ending}" for split in splits]
    lines += ["---", "", f"# {escape_markdown(card.name)}", "", markdown_code(card.signature), ""]
    lines += [f"{card.rows:,} premise–hypothesis pairs made by acidtest.", ""]
    return lines + [
        escape_markdown(text) + "\n"
        for text in (card.note, card.citation, card.licence and f"Licence: {card.licence}")
        if text
    ]


def evaluation_yaml(card: Card) -> str | None:
    """The eval.yaml of a suite, by which Inspect asks language models its pairs.

    None where gold is of more kinds than one question has answers: the scorers of that file compare an answer with one
    label, not with a set of them.
    """
    answers = next((labels for labels in QUESTIONS if set(card.labels) <= set(labels)), None)
    if answers is None or not card.labels:
        return None
    template = "Premise: {premise}\nHypothesis: {prompt}\n\n" + QUESTIONS[answers]
    # The longest first: "entailment" is the end of "non-entailment".
    pattern = rf"\b({'|'.join(sorted(answers, key=len, reverse=True))})\b"
    task = {
        "id": hub_name(card.name),
        "config": "default",
        "split": "test",
        "field_spec": {"input": "hypothesis", "target": "label", "metadata": ["premise", "id", "group", *card.factors]},
        "solvers": [{"name": "prompt_template", "args": {"template": template}}, {"name": "generate"}],
        "scorers": [{"name": "pattern", "args": {"pattern": pattern}}],
    }
    return to_yaml(
        {
            "name": f"acidtest {card.name}",
            "description": f"{card.rows:,} premise–hypothesis pairs made by acidtest: {card.signature}",
            "evaluation_framework": "inspect-ai",
            "tasks": [task],
        }
    )
