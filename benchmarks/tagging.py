"""Sentences and tags of 10,000 texts: our columns against textblob's PatternTagger, a text at a time.

The texts are MultiNLI's dev set where it lies beside the checkout, else pairs of HANS. Outputs are not the same, and
should not be: textblob looks words up and nothing more. How far they agree is printed.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
from race import median_seconds, told
from textblob.en import tokenize
from textblob.en.taggers import PatternTagger

from acidtest import api
from acidtest.text.tagging import tagged
from acidtest.text.tokens import sentences, tokens

TEXTS = 10_000
MNLI = Path(__file__).parents[2] / "shared" / "data" / "mnli" / "mnli_dev_matched.tsv"


def texts() -> pl.Series:
    """Premises and hypotheses in turn."""
    if MNLI.is_file():
        frame = pl.read_csv(MNLI, separator="\t", quote_char=None, infer_schema=False)
    else:
        frame = api.generate("hans").frame.select("premise", "hypothesis").collect()
    pairs = frame.head(TEXTS // 2).select(pl.concat_list("premise", "hypothesis").alias("text"))
    return pairs.explode("text")["text"]


def agreement(column: pl.Series, theirs: list[list[tuple[str, str]]]) -> dict[str, float]:
    """Shares of texts with the same tokens, and of their words with the same tag."""
    frame = tagged(column, "light").group_by("text", maintain_order=True).agg("token", "tag")
    same, alike = 0, list[bool]()
    for number, words, tags in frame.iter_rows():
        if words == [word for word, _ in theirs[number]]:
            same += 1
            pairs = zip(words, tags, theirs[number], strict=True)
            alike += [tag == other for word, tag, (_, other) in pairs if word[0].isalnum()]
    return {"same tokens": same / frame.height, "same tags": sum(alike) / len(alike)}


def main() -> None:
    column = texts()
    listed = column.to_list()
    count = sentences(column).height
    pattern = PatternTagger()
    theirs = [[(str(word), str(tag)) for word, tag in pattern.tag(text)] for text in listed]
    rows = []
    for what, action in (
        ("acidtest, tokens", lambda: tokens(column)),
        ("acidtest, sentences", lambda: sentences(column)),
        ("textblob, sentences and tokens", lambda: [tokenize(text) for text in listed]),
        ("acidtest, tokens, tags and names", lambda: tagged(column, "light")),
        ("textblob, tokens and tags", lambda: [pattern.tag(text) for text in listed]),
    ):
        seconds = median_seconds(action)
        rows.append({"what": what, "seconds": seconds, "sentences per second": count / seconds})
    told("tagging", rows)
    told("tagging_agreement", [agreement(column, theirs)])


if __name__ == "__main__":
    main()
