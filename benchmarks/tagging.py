"""Sentences and tags of texts: our columns against textblob's PatternTagger, which takes one text at a time.

The texts are MultiNLI's development set where ../shared has it, else pairs of HANS. The tags are not meant to be equal,
because textblob only looks words up; how often they agree is reported.
"""

from __future__ import annotations

import polars as pl
from race import MNLI, corpora, parse_options, race, report, require, shared_files, timing_rows

import acidtest
from acidtest.english.tagging import tag_texts
from acidtest.english.tokens import sentences, tokens


def load_texts(count: int) -> pl.Series:
    """Premises and hypotheses in turn."""
    suite = corpora(MNLI)[0] if shared_files(MNLI) else acidtest.generate("hans")
    pairs = suite.frame.head(count // 2).select(text=pl.concat_list("premise", "hypothesis"))
    return pairs.explode("text").collect()["text"]


def agreement(frame: pl.DataFrame, textblob_tags: list[list[tuple[str, str]]]) -> dict[str, float]:
    """Share of texts with the same tokens, and share of the words of these with the same tag."""
    texts = frame.group_by("text", maintain_order=True).agg("token", "tag")
    same_tokens, same_tags = 0, list[bool]()
    for number, words, tags in texts.iter_rows():
        other = textblob_tags[number]
        if words == [word for word, _ in other]:
            same_tokens += 1
            pairs = zip(words, tags, other, strict=True)
            same_tags += [tag == other_tag for word, tag, (_, other_tag) in pairs if word[0].isalnum()]
    return {"same tokens": same_tokens / texts.height, "same tags": sum(same_tags) / len(same_tags)}


def main() -> None:
    options = parse_options(__doc__, texts=(10_000, 10_000))
    require("textblob")
    from textblob.en import tokenize
    from textblob.en.taggers import PatternTagger

    column, tagger = load_texts(options.texts), PatternTagger()
    texts = column.to_list()
    timings = race(
        {
            "acidtest, tokens": lambda: tokens(column),
            "acidtest, sentences": lambda: sentences(column),
            "textblob, sentences and tokens": lambda: [tokenize(text) for text in texts],
            "acidtest, tokens, tags and names": lambda: tag_texts(column, "light"),
            "textblob, tokens and tags": lambda: [
                [(str(word), str(tag)) for word, tag in tagger.tag(text)] for text in texts
            ],
        }
    )
    count = timings["acidtest, sentences"].output.height
    report("tagging", [row | {"sentences per second": count / row["seconds"]} for row in timing_rows(timings)])
    *_, ours, textblobs = timings.values()
    report("tagging_agreement", [agreement(ours.output, textblobs.output)])


if __name__ == "__main__":
    main()
