"""Contexts of words by the light parser and by a spaCy pipeline: agreement with treebanks, polarity, speed, memory.

Agreement is with the constituency parses that SNLI's sentences and HANS pairs carry: for every noun, adjective, adverb
and verb whether head, clause (by its verb) and kind of clause are the same, in sentences with the same tokens. Polarity
is that of 300 marked words in sentences of our own (tests/data/polarity.tsv), beside a baseline that calls every place
upward. Speed and memory are those of ``Sentences.contexts`` for all such words; tags are there before. A pipeline that
is not installed is left out.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from race import ROOT, SHARED, parse_options, peak_megabytes, race, report, run_step

import acidtest
from acidtest.english.sentences import Places, Sentences
from acidtest.english.tagging import taggers
from acidtest.english.trees import Tree, head_index, tree

SNLI = "snli/snli_1.0_test.jsonl.gz"
"""The test split: sentences of the others were read while the light parser was written."""
MARKED = ROOT / "tests" / "data" / "polarity.tsv"
CANDIDATES = ["NN", "NNS", "JJ", "JJR", "JJS", "RB", "VBG", "VBN", "VBD", "VBZ", "VBP"]
CONDITIONS = ("if", "unless", "whether", "provided")
QUESTIONS = ("SBARQ", "SQ")


@dataclass(frozen=True)
class Treebanked:
    """What a constituency tree says of each token: its head (-1 for the root), the verb of its clause, its kind."""

    tokens: list[str]
    tags: list[str]
    heads: list[int]
    clauses: list[int]
    kinds: list[str]


class _Reader:
    """Reads heads and clauses from one tree."""

    def __init__(self, root: Tree) -> None:
        self.tokens, self.tags = list[str](), list[str]()
        self.heads, self.clauses, self.kinds = list[int](), list[int](), list[str]()
        self.joined = set[int]()
        self.read(root, ())

    def read(self, node: Tree, above: tuple[Tree, ...]) -> int:
        """The place of a phrase's head word; a content verb is the head of its auxiliaries."""
        if isinstance(node.children[0], str):
            self.tokens.append(node.children[0])
            self.tags.append(node.label)
            for column, value in ((self.heads, -1), (self.clauses, -1), (self.kinds, "")):
                column.append(value)
            return len(self.tokens) - 1
        first = len(self.tokens)
        parts = [part for part in node.children if isinstance(part, Tree)]
        heads = [self.read(part, (*above, node)) for part in parts]
        chosen = self._head(node, parts)
        joins = any(part.label in ("CC", "CONJP") for part in parts)
        for number, (part, head) in enumerate(zip(parts, heads, strict=True)):
            if number != chosen:
                self.heads[head] = heads[chosen]
                if joins and part.label == parts[chosen].label:
                    self.joined.add(head)
        kind = clause_kind(node, above)
        if kind:
            for place in range(first, len(self.tokens)):
                if not self.kinds[place]:
                    self.kinds[place], self.clauses[place] = kind, heads[chosen]
        return heads[chosen]

    @staticmethod
    def _head(node: Tree, parts: list[Tree]) -> int:
        labels = [part.label for part in parts]
        inner = {"VP": ("VP",), "SBAR": ("S", "SINV", "SQ"), "SQ": ("VP",), "SINV": ("VP",)}.get(node.label, ())
        if node.label == "S" and "VP" in labels:
            return labels.index("VP")
        return next((number for number, label in enumerate(labels) if label in inner), head_index(node))


def clause_kind(node: Tree, above: tuple[Tree, ...]) -> str:
    """The kind of clause that a phrase is; empty where it is none, or only the inside of one."""
    parent = above[-1] if above else None
    if parent is None or parent.label in ("ROOT", "TOP"):
        return "" if parent is None else _main_kind(node)
    if node.label == "VP":
        # "A man sleeping": a participle after a noun.
        return "relative" if parent.label == "NP" and _begins_with(node, ("VBG", "VBN", "VP")) else ""
    if node.label not in ("S", "SBAR", "SINV", *QUESTIONS):
        return ""
    if node.label == parent.label == "S" or parent.label in ("SBAR", "SBARQ", "SQ", "SINV"):
        # Joined main clauses, and what follows a connective: part of the clause above.
        return (
            _main_kind(node) if all(part.label in ("S", "ROOT", "TOP") for part in above) and _has_subject(node) else ""
        )
    if parent.label == "NP":
        return "relative" if node.label == "SBAR" or not _is_infinitive(node) else "complement"
    if parent.label == "PP":
        return "adverbial"
    mark = node.leaves[0].lower()
    if node.label == "SBAR" and mark not in ("that", "whether") and not _asks(node):
        adverbial = _begins_with(node, ("IN", "WHADVP", "RB"))
        return "conditional" if mark in CONDITIONS else "adverbial" if adverbial else "complement"
    before = [part.label for part in parent.children if isinstance(part, Tree)]
    after_comma = "," in before[: [id(part) for part in parent.children].index(id(node))]
    return "adverbial" if after_comma or parent.label == "S" else "complement"


def _main_kind(node: Tree) -> str:
    if node.label in QUESTIONS or node.leaves[-1] == "?":
        return "question"
    if node.label not in ("S", "SINV"):
        return "fragment"
    verb = next((part for part in node.children if isinstance(part, Tree) and part.label == "VP"), None)
    if verb is None:
        return "fragment" if not any(isinstance(part, Tree) and part.label == "S" for part in node.children) else "main"
    if not _has_subject(node) and _begins_with(verb, ("VB",)):
        return "command"
    return "fragment" if _begins_with(verb, ("VBG", "VBN", "TO")) else "main"


def _has_subject(node: Tree) -> bool:
    return any(isinstance(part, Tree) and part.label in ("NP", "SBAR", "S") for part in node.children)


def _begins_with(node: Tree, labels: tuple[str, ...]) -> bool:
    inner = [part.label for part in node.children if isinstance(part, Tree) and part.label != "ADVP"]
    return bool(inner) and inner[0] in labels


def _is_infinitive(node: Tree) -> bool:
    return "to" in [word.lower() for word in node.leaves[:2]]


def _asks(node: Tree) -> bool:
    return _begins_with(node, ("WHNP",))


def read_tree(brackets: str) -> Treebanked:
    """Heads and clauses of a tree in brackets."""
    reader = _Reader(tree(brackets))
    heads = reader.heads
    for place in sorted(reader.joined):
        # A conjunct has the head of the first one.
        heads[place] = heads[heads[place]] if heads[place] >= 0 else -1
    tokens = [{"-LRB-": "(", "-RRB-": ")", "``": '"', "''": '"'}.get(token, token) for token in reader.tokens]
    return Treebanked(tokens, reader.tags, heads, reader.clauses, reader.kinds)


def parses(corpus: str, count: int) -> Iterator[tuple[str, str]]:
    """Different sentences with their parses."""
    if corpus == "SNLI":
        with gzip.open(SHARED / SNLI, "rt", encoding="utf-8") as lines:
            rows = (json.loads(line) for line in lines)
            pairs = {row[f"sentence{k}"]: row[f"sentence{k}_parse"] for row in rows for k in (1, 2)}
    else:
        frame = acidtest.generate("hans", n=100).frame.select("premise", "premise_parse").collect()
        pairs = dict(frame.sample(fraction=1.0, shuffle=True, seed=0).iter_rows())
    yield from list(pairs.items())[:count]


def candidate_places(sentences: Sentences) -> Places:
    """The places of all nouns, adjectives, adverbs and verbs."""
    return np.flatnonzero(sentences.frame["tag"].is_in(CANDIDATES).to_numpy()).astype(np.int64)


def agreement(corpus: str, tagger: str, count: int) -> dict[str, Any]:
    """Shares of candidate words with the head, clause and kind of clause of the treebank."""
    from acidtest.english.contexts import clause_kind as kind_of
    from acidtest.english.parser import TaggedTokens, trees

    texts, brackets = zip(*parses(corpus, count), strict=True)
    sentences = Sentences.of(pl.Series(texts), tagger)
    same = []
    for number, words, tags in sentences.by_text("token", "tag"):
        treebanked = read_tree(brackets[number])
        if [word.lower() for word in words] == [word.lower() for word in treebanked.tokens]:
            same.append((TaggedTokens(words, tags), treebanked))
    heads, clauses, kinds, base = list[bool](), list[bool](), list[bool](), list[bool]()
    for (_, treebanked), parse in zip(same, trees((item for item, _ in same), tagger), strict=True):
        for place, tag in enumerate(treebanked.tags):
            if tag not in CANDIDATES:
                continue
            first = parse.first_conjunct(place)
            heads.append(parse.heads[first] == treebanked.heads[place])
            clauses.append(parse.first_conjunct(parse.clause_head(place)) == treebanked.clauses[place])
            kinds.append(kind_of(parse, place)[0] == treebanked.kinds[place])
            base.append(treebanked.kinds[place] == "main")
    return {
        "corpus": corpus, "engine": tagger, "sentences": len(same), "same tokens": len(same) / len(texts),
        "words": len(heads), "same head": np.mean(heads), "same clause": np.mean(clauses),
        "same kind": np.mean(kinds), "always main": np.mean(base),
    }  # fmt: skip


def marked_places(marked: pl.DataFrame, tagger: str) -> tuple[Sentences, Places]:
    """The sentences without their asterisks, and the places of the marked words."""
    texts = marked["sentence"].str.replace_all("*", "", literal=True)
    sentences = Sentences.of(texts, tagger)
    starts = marked.select(text=pl.int_range(pl.len()), start=pl.col("sentence").str.find("*", literal=True))
    places = sentences.frame.select("text", "start").with_row_index("place").cast(pl.Int64)
    rows = starts.cast(pl.Int64).join(places, on=["text", "start"], how="left", maintain_order="left")
    return sentences, rows["place"].to_numpy().astype(np.int64)


def polarity(tagger: str | None) -> Iterator[dict[str, Any]]:
    """Accuracy on the words that readers mark alike, and precision and recall of each polarity.

    Without a tagger, every answer is *up*.
    """
    marked = pl.read_csv(MARKED, separator="\t", quote_char=None)
    if tagger is None:
        answers = pl.Series(["up"] * marked.height)
    else:
        sentences, places = marked_places(marked, tagger)
        answers = sentences.contexts(places)["polarity"]
    marked = marked.with_columns(answer=answers).filter(pl.col("first") == pl.col("second"))
    for part in ("develop", "held out", None):
        rows = marked if part is None else marked.filter(part=part)
        right = rows["first"] == rows["answer"]
        line = {"engine": tagger or "always up", "part": part or "all", "words": rows.height, "accuracy": right.mean()}
        for name in ("up", "down", "none"):
            line |= {
                f"{name} precision": right.filter(rows["answer"] == name).mean(),
                f"{name} recall": right.filter(rows["first"] == name).mean(),
            }
        yield line


def reader_agreement() -> dict[str, Any]:
    """Share of the marked words that both readings call the same, and Cohen's kappa."""
    marked = pl.read_csv(MARKED, separator="\t", quote_char=None)
    same = (marked["first"] == marked["second"]).mean()
    counts = [marked[reading].value_counts().sort(reading)["count"] / marked.height for reading in ("first", "second")]
    chance = (counts[0] * counts[1]).sum()
    return {"words": marked.height, "same": same, "kappa": (same - chance) / (1 - chance)}


def load_texts(count: int) -> pl.Series:
    """Premises and hypotheses of MultiNLI's development set, else of HANS."""
    suite = acidtest.load(SHARED / "mnli/mnli_dev_matched.tsv") if SHARED.exists() else acidtest.generate("hans")
    pairs = suite.frame.head(count // 2).select(text=pl.concat_list("premise", "hypothesis"))
    return pairs.explode("text").collect()["text"]


def speed(tagger: str, count: int) -> dict[str, Any]:
    """Seconds for all candidate words of some texts, tokens per second and the peak of memory."""
    sentences = Sentences.of(load_texts(count), tagger)
    places = candidate_places(sentences)
    before = peak_megabytes()
    timing = race({tagger: lambda: sentences.contexts(places)})[tagger]
    tokens = sentences.frame.height
    return {
        "engine": tagger, "texts": count, "tokens": tokens, "places": len(places), "seconds": timing.seconds,
        "tokens per second": tokens / timing.seconds, "per processor second": tokens / timing.processor_seconds,
        "megabytes": peak_megabytes(), "megabytes more": peak_megabytes() - before,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--step", help="one engine's speed, for a process of its own")
    options = parse_options(parser, sentences=(2_000, 10_000), texts=(2_000, 10_000))
    if options.step:
        print(json.dumps(speed(options.step, options.texts)))
        return
    engines = ["light", *(name for name, state in taggers() if state == "installed")]
    corpora = ["SNLI", "HANS"] if (SHARED / SNLI).exists() else ["HANS"]
    report("contexts_agreement", [agreement(c, e, options.sentences) for c in corpora for e in engines])
    report("contexts_readers", [reader_agreement()])
    report("contexts_polarity", [row for engine in (None, *engines) for row in polarity(engine)])
    report("contexts_speed", [run_step(__file__, "--step", e, "--texts", options.texts) for e in engines])


if __name__ == "__main__":
    main()
