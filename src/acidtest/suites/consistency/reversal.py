"""Finds out whether a contradiction also holds with its sentences exchanged.

A premise contradicts a hypothesis if it rules the hypothesis out. That holds both ways only if the hypothesis says
something firm of the same people or things: *people stand in a church* or *it may not matter* leave room for nearly
everything, though *two women sit in a church* or *it matters a lot* was said to contradict them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Literal

import polars as pl

from acidtest.english.clauses import Clause, function_words, refers_to_premise, words_and_lemmas
from acidtest.english.sentences import Sentences, first_matching_reason
from acidtest.english.wordnet import wordnet
from acidtest.io.wordlists import packaged_table

Reference = Literal["definite", "counted", "open"]
"""What a subject refers to: *the man*, *everyone*, *nobody*; *a man*, *two men*; *men*, *someone*, or unknown."""

_WEAK_MODALITY = r"\b(?:may|might|could|should|would|ought|possibly|perhaps|maybe|probably|likely|potentially)\b"
_DEFINITE = frozenset(
    {
        *("the", "this", "that", "these", "those", "my", "your", "his", "her", "its", "our", "their"),
        *("he", "she", "it", "they", "we", "i"),
        *("everyone", "everybody", "everything", "every", "each", "all", "both"),
        *("neither", "none", "nobody", "nothing", "no"),
    }
)
_NO_SUCH = re.compile(r"(?:there (?:is|are|was|were)(?: not|n['’]t)? (?:no|any|a|an)|no one)\b")
_SOME_SUCH = re.compile(r"there (?:is|are|was|were) (?:a|an|any)\b")
_ABILITY = ("modality", r"\bcan\b")
_COUNTED = ("a", "an")
_OPEN_SUBJECT = "subject not definite"


def contradiction_doubts(
    premises: pl.Series, hypotheses: pl.Series, clauses: Sequence[Clause | str], tagger: str
) -> list[str | None]:
    """For each contradiction why it need not be one with its sentences exchanged, None where it is.

    ``clauses`` are those of the hypotheses, as far as they are one plain clause.
    """
    possible = premises.str.to_lowercase().str.contains(_WEAK_MODALITY)
    references = subject_references(Sentences.of(hypotheses, tagger))
    firm = [
        rules_out_premise(reference, clause, premise)
        for reference, clause, premise in zip(references, clauses, premises, strict=True)
    ]
    # "The dog saw the cat" and "the cat saw the dog" may both be true.
    same = [shared_words(premise, hypothesis) == 1 for premise, hypothesis in zip(premises, hypotheses, strict=True)]
    exchanged = pl.Series(same, dtype=pl.Boolean) & ~(_negated(premises) | _negated(hypotheses))
    other = pl.when("possible").then(pl.lit("modality")).when(~pl.col("firm")).then(pl.lit(_OPEN_SUBJECT))
    frame = pl.DataFrame(
        {
            "loose": loosening_doubts(hypotheses),
            "possible": possible,
            "firm": pl.Series(firm, dtype=pl.Boolean),
            "exchanged": exchanged,
        }
    )
    return (
        frame.select(pl.coalesce("loose", other.when("exchanged").then(pl.lit("the same words")))).to_series().to_list()
    )


def loosening_doubts(texts: pl.Series) -> pl.Series:
    """For each hypothesis why it may say too little to rule out its premise, null where it says enough.

    These are modality, attitudes, and negations that may apply to a part only: *it is not only blue*.
    """
    table = packaged_table("contexts/clauses.tsv")
    hedges = table.filter(pl.col("use") == "negation", pl.col("reason").is_in(["modality", "attitude"]))
    frame = pl.DataFrame(
        {
            "hedge": first_matching_reason(texts, [*hedges.select("reason", "pattern").rows(), _ABILITY]),
            # "No one" negates everybody; there "one" is no quantity.
            "part": first_matching_reason(texts.str.replace_all(r"(?i)\bno one\b", "nobody"), _scope_words()),
            "negated": _negated(texts),
        }
    )
    return frame.select(pl.coalesce("hedge", pl.when("negated").then("part"))).to_series()


def _scope_words() -> list[tuple[str, str]]:
    """The patterns of words that a negation may apply to alone, each with its reason."""
    return packaged_table("contexts/clauses.tsv").filter(use="reversal").select("reason", "pattern").rows()


def _negated(texts: pl.Series) -> pl.Series:
    """Whether each text has a word of negation: *not*, *nobody*, *without*, *unable*."""
    table = packaged_table("contexts/clauses.tsv").filter(use="negation", reason="negation")
    return first_matching_reason(texts, table.select("reason", "pattern").rows()).is_not_null()


def subject_references(sentences: Sentences) -> list[Reference]:
    """For each text what its subject refers to, judged by its first words; open without any verb."""
    references: list[Reference] = ["open"] * len(sentences.texts)
    for text, tokens, tags in sentences.by_text("token", "tag"):
        references[text] = _subject_reference(tokens, tags)
    return references


def _subject_reference(tokens: list[str], tags: list[str]) -> Reference:
    if not any(tag.startswith(("VB", "MD")) for tag in tags):
        return "open"
    first, beginning = tokens[0].lower(), " ".join(token.lower() for token in tokens[:4]).replace(" n't", "n't")
    if first == "there":
        return "definite" if _NO_SUCH.match(beginning) and not _SOME_SUCH.match(beginning) else "open"
    if first in _DEFINITE or _NO_SUCH.match(beginning):
        return "definite"
    if first in _COUNTED or (tags[0] == "CD" and first != "one"):
        return "counted"
    is_name = tokens[0][:1].isupper() and tags[0] in ("NNP", "NNPS") and not _is_common_word(first)
    return "definite" if is_name else "open"


@cache
def _is_common_word(word: str) -> bool:
    """Whether WordNet has a word, or its base form, in lower case."""
    net = wordnet()
    return any(net.lemma(sense)[:1].islower() for sense in net.senses(word)) or bool(net.base_forms(word, "n"))


def rules_out_premise(reference: Reference, clause: Clause | str, premise: str) -> bool:
    """Whether a hypothesis is about what its premise is about, so that both cannot be true of different things.

    *A man* and *two men* are taken for those of the premise only where it has no others, and not in a negation:
    *a man is not asleep* may be true of any man.
    """
    if reference != "counted":
        return reference == "definite"
    return not isinstance(clause, str) and "not" not in clause.after and refers_to_premise(clause, premise)


def adds_description(clause: Clause, premise: str) -> bool:
    """Whether a clause has an adjective before a noun of its predicate that the premise lacks: *on a giant hill*."""
    known = set(words_and_lemmas(premise))
    after = zip(clause.after, clause.after_tags, clause.after_tags[1:], strict=False)
    return any(tag == "JJ" and then.startswith("NN") and word not in known for word, tag, then in after)


def shared_words(premise: str, hypothesis: str) -> float:
    """The share of a hypothesis's content words that its premise has too, in any form; 0 where it has none."""
    known = set(words_and_lemmas(premise))
    words = {word for word in re.findall(r"[^\W_]+", hypothesis.lower()) if word not in function_words()}
    shared = sum(not known.isdisjoint(words_and_lemmas(word)) for word in words)
    return shared / len(words) if words else 0.0
