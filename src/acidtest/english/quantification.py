"""How a noun phrase refers: by a quantifier, to something definite, or to a kind as a whole.

*No dog*, *at most three dogs* and *most of the dogs* have quantifiers; *the dog*, *his dog* and *Rex* are definite;
*dogs* in *dogs bark* stands for the kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from acidtest.english.dependencies import SUBJECTS, DependencyTree
from acidtest.english.operators import Quantifier, governor_effect, operators, quantifiers
from acidtest.english.wordnet import noun_kind

_DEFINITE = frozenset({"the", "this", "that", "these", "those"})
_WITH_NUMBER = frozenset(
    {"about", "around", "over", "under", "up", "roughly", "approximately", "exactly", "precisely", "almost", "nearly"}
)
_AFTER_DETERMINER = frozenset({"few", "many", "several", "little", "more", "less", "most"})
_NOT_ALONE = frozenset({"no", "every", "only", "just", "about", "around", "over", "under", "more", "fewer", "little"})
"""Quantifiers that need a noun: *no* alone is an answer."""
_LONGEST = 4
_REACH = 3
"""How far before a noun phrase its quantifier may begin: *at*, *more* and *not* may be attached to the verb."""
_PLACES = frozenset(
    {
        "in", "on", "at", "through", "around", "near", "down", "along", "across", "into", "by", "beside", "behind",
        "outside", "inside", "under", "over", "next to", "next", "from", "off", "onto", "out", "past", "up", "above",
    }
)  # fmt: skip
_PRESENT = frozenset({"VBZ", "VBP"})


@dataclass(frozen=True)
class Quantified:
    """A quantifier in a sentence, with the positions of its words."""

    quantifier: Quantifier
    places: range

    @property
    def words(self) -> str:
        return self.quantifier.words


def quantified_phrase(tree: DependencyTree, place: int) -> Quantified | None:
    """The quantifier of the noun phrase with this head; None without one."""
    table = quantifiers()
    if tree.words[place] in table and tree.tags[place][:1] in "NDJPC" and tree.words[place] not in _NOT_ALONE:
        single = table[tree.words[place]]
        if tree.words[place] not in ("number", "share", "rest", "third", "quarter") or _counts(tree, place):
            return Quantified(single, range(place, place + 1))
    left = tree.left_edge(place)
    for first in range(max(0, left - _REACH), place):
        if tree.words[first] not in _openers():
            continue
        # The noun is part of "all the time", but not alone.
        for size in range(min(_LONGEST, place + 1 - first), 0, -1):
            if first + size < left:
                continue
            words = " ".join(tree.words[first : first + size])
            if words in table and _is_quantifier(tree, first, size, place):
                return Quantified(table[words], range(first, first + size))
    return None


@cache
def _openers() -> frozenset[str]:
    return frozenset(words.partition(" ")[0] for words in quantifiers())


def _counts(tree: DependencyTree, place: int) -> bool:
    """Whether a noun counts what follows *of*: *a number of dogs*, not *the number of dogs*."""
    return not is_definite(tree, place) and tree.words[place + 1 : place + 2] == ["of"]


def _is_quantifier(tree: DependencyTree, first: int, size: int, place: int) -> bool:
    """Whether the words are a quantifier here: *about ten*, *just a*, but not *a little dog* or *the few*."""
    word, after = tree.words[first], tree.tags[first + size] if first + size < len(tree.tags) else ""
    before = tree.words[first - 1] if first else ""
    if (word in _WITH_NUMBER and size == 1) or words_are(tree, first, "up", "to"):
        return after == "CD"
    if "than" in tree.words[first : first + size]:
        return after == "CD" or tree.words[first + size : first + size + 1] in (["a"], ["half"], ["one"])
    if "little" in tree.words[first : first + size]:
        # "A little dog", "little dogs" and "little boy" are small; "little food" is not much.
        counted = tree.tags[place] == "NNS" or before == "a" or after in ("JJ", "NNP") or _is_being(tree.words[place])
        return not counted and not (first and tree.tags[first - 1] in ("DT", "PRP$", "JJ", "POS"))
    if word in _AFTER_DETERMINER and size == 1:
        if before in ("the", "a", "his", "her", "their", "my", "our", "its", "your"):
            return False
        if word in ("more", "less", "most"):
            return tree.heads[first] == place and tree.relations[first] != "compound"
    if word == "both":
        return tree.tags[place] == "NNS" and not tree.related(place, "conj") and "and" not in tree.words[first:place]
    if word in ("only", "just"):
        return is_focus(tree, first) and (first >= tree.left_edge(place) or tree.heads[first] == place)
    return True


def _is_being(noun: str) -> bool:
    """Whether a noun is the word for a person or an animal."""
    return noun_kind(noun) in ("person", "animal")


def words_are(tree: DependencyTree, first: int, *words: str) -> bool:
    """Whether these words stand at a place."""
    return tree.words[first : first + len(words)] == list(words)


def is_definite(tree: DependencyTree, place: int) -> bool:
    """Whether a noun phrase names something definite: *the dog*, *his dog*, *Rex*."""
    if tree.relations[place] == "poss" and tree.tags[place] not in ("PRP$", "WP$"):
        # "The man" in "the man's cheeks"; "a man" in "a man's cheeks" is not.
        return not any(tree.words[child] in ("a", "an") for child in tree.related(place, "det"))
    named = tree.tags[place] in ("NNP", "NNPS") or bool(tree.related(place, "poss"))
    return named or any(tree.words[child] in _DEFINITE for child in tree.related(place, "det"))


def is_partitive(tree: DependencyTree, place: int) -> bool:
    """Whether a noun phrase says what a quantifier counts: *the dogs* in *none of the dogs*."""
    head = tree.heads[place]
    if head < 0 or tree.words[head] != "of" or tree.heads[head] < 0:
        return False
    counting = quantified_phrase(tree, tree.heads[head])
    return counting is not None and tree.heads[head] in counting.places


def is_focus(tree: DependencyTree, place: int) -> bool:
    """Whether a word such as *only* excludes what it does not name; not in *not only*, nor *just* before a verb."""
    if tree.words[place] == "just":
        return tree.tags[place + 1 : place + 2] in (["DT"], ["CD"], ["JJ"], ["NN"], ["NNS"], ["PRP$"])
    return tree.words[place] in operators("focus") and tree.words[max(0, place - 1)] not in ("not", "n't", "if")


def generic_verb(tree: DependencyTree, place: int) -> int:
    """The verb that makes a bare noun phrase stand for its kind, -1 without one: *dogs bark*, *he likes dogs*.

    A plural or mass noun without determiner is generic as the subject of a simple present, unless the verb says where
    (*dogs run through a field* describes a scene), and as the object of a verb such as *like*.
    """
    verb = tree.heads[place]
    determined = tree.related(place, "det", "poss", "nummod", "predet", "quantmod") or tree.tags[place] not in (
        "NNS",
        "NN",
    )
    if verb < 0 or determined or quantified_phrase(tree, place) is not None:
        return -1
    if tree.relations[place] == "dobj":
        return verb if governor_effect(tree.lemma(verb), "kind").polarity != "up" else -1
    if tree.relations[place] not in SUBJECTS or not _is_simple_present(tree, verb):
        return -1
    where = any(tree.words[child] in _PLACES for child in tree.related(verb, "prep"))
    scene = tree.related(verb, "advmod", "prt") and not tree.related(verb, "acomp", "attr", "dobj")
    return -1 if where or scene else verb


def _is_simple_present(tree: DependencyTree, verb: int) -> bool:
    helpers = tree.related(verb, "aux", "auxpass")
    if tree.tags[verb] in _PRESENT:
        return not helpers
    if any(tree.words[helper] not in ("is", "are", "do", "does", "n't", "not") for helper in helpers):
        return False
    return tree.tags[verb] in ("VBN", "VB") and bool(helpers)
