"""Polarity of a word in its sentence: which way it may be changed so that a true sentence stays true.

In an upward place a wider word is entailed (*a poodle barked*, *a dog barked*), in a downward place a narrower one (*no
dog barked*, *no poodle barked*); in others neither is. The polarity is composed on the way from the word to the root of
its tree, as in natural logic (van Benthem 1986, Sánchez Valencia 1991): each quantifier, negation, connective or
governor on the way keeps, turns or destroys it.

Tables of the words that decide polarity: quantifiers, negations, connectives, and governors of complements.

*He knows that it is cold* asserts that it is cold, *he thinks* does not; *he failed to find a dog* turns *dog* round.

How a noun phrase refers: by a quantifier, to something definite, or to a kind as a whole.

*No dog*, *at most three dogs* and *most of the dogs* have quantifiers; *the dog*, *his dog* and *Rex* are definite;
*dogs* in *dogs bark* stands for the kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from acidtest.english.chunks import BE, DO, HAVE
from acidtest.english.dependencies import COMPLEMENTS, SUBJECTS, DependencyTree
from acidtest.english.wordnet import noun_kind
from acidtest.io.wordlists import packaged_table

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


@dataclass(frozen=True)
class ScopeEffect:
    """What a word does to a part of its sentence: ``polarity`` up, down or none; whether that part is asserted.

    ``presupposed`` parts stay asserted and upward when the governor is negated or questioned: *he did not know that*.
    """

    polarity: str
    asserted: bool
    presupposed: bool = False


@dataclass(frozen=True)
class Quantifier:
    """What a determiner does to its noun phrase and to the rest of its clause."""

    words: str
    restrictor: str
    scope: str


_DEFAULTS = {
    "clause": ScopeEffect("up", asserted=False),
    "infinitive": ScopeEffect("up", asserted=False),
    "gerund": ScopeEffect("up", asserted=True),
    "object": ScopeEffect("up", asserted=True),
    "kind": ScopeEffect("up", asserted=True),
}
"""What verbs without a row in the table do."""


@cache
def _table() -> dict[tuple[str, str], ScopeEffect]:
    rows = packaged_table("contexts/governors.tsv").select("governor", "complement", "polarity", "asserted").iter_rows()
    return {
        (word, complement): ScopeEffect(polarity, asserted in ("yes", "always"), asserted == "always")
        for word, complement, polarity, asserted in rows
    }


def governor_effect(lemma: str, complement: str) -> ScopeEffect:
    """The effect of a governor on its complement: ``clause``, ``infinitive``, ``gerund``, ``object`` or ``kind``."""
    return _table().get((lemma, complement), _DEFAULTS[complement])


def takes_clause(lemma: str) -> bool:
    """Whether a word is listed with a clause as its complement."""
    return (lemma, "clause") in _table()


def takes_infinitive(lemma: str, pos: str) -> bool:
    """Whether a word is listed with an infinitive as its complement."""
    return (lemma, "infinitive") in _table() and (pos == "verb" or (lemma, "clause") not in _table() or lemma in _NOUNS)


_NOUNS = frozenset({"plan", "decision", "attempt", "desire", "promise", "effort", "ability", "right", "need", "chance"})


@cache
def quantifiers() -> dict[str, Quantifier]:
    """The quantifiers by their words."""
    rows = packaged_table("contexts/quantifiers.tsv").select("words", "restrictor", "scope").iter_rows()
    return {words: Quantifier(words, restrictor, scope) for words, restrictor, scope in rows}


@cache
def operators(kind: str) -> dict[str, ScopeEffect]:
    """The words of a kind, adverb, adjective, focus, modal, mark, preposition or noun, with what they do."""
    rows = packaged_table("contexts/operators.tsv").filter(kind=kind).select("word", "polarity", "asserted").iter_rows()
    return {word: ScopeEffect(polarity, asserted == "yes") for word, polarity, asserted in rows}


UP, DOWN, NONE = "up", "down", "none"
_NOMINAL = frozenset(
    {
        "nsubj", "nsubjpass", "dobj", "pobj", "attr", "dative", "appos", "npadvmod", "ROOT", "conj", "nmod", "oprd",
        "poss",
    }
)  # fmt: skip
_OUTSIDE_NEGATION = frozenset(
    {"because", "although", "though", "even though", "whereas", "while", "since", "as", "after", "when"}
)
_INVERTED = frozenset({*BE, *HAVE, *DO, "can", "could", "will", "would", "should", "may", "might", "must", "shall"})
_CLOSED_PREPOSITIONS = frozenset({"with", "without", "at", "of", "for"})
"""Prepositions whose quantified object leaves the rest alone: *he wears a shirt with no tie*."""
_NEGATIVE_OPENERS = frozenset({"never", "rarely", "seldom", "hardly", "scarcely", "barely"})


@dataclass
class Scope:
    """The polarity of a place, the word that decided it, and whether its clause is asserted."""

    polarity: str = UP
    by: str = ""
    asserted: bool = True
    definite: bool = False
    """Whether the place is within a definite noun phrase that has been passed on the way to the root."""
    any_word: str = ""
    presupposed: bool = False

    used: set[int] = field(default_factory=set)
    """The places of the words that have been applied: *hardly any* is one negation, not two."""

    def apply(self, polarity: str, word: str, places: Iterable[int]) -> None:
        """Compose with the effect of a word; what is within a definite phrase is not turned but destroyed.

        *He did not see the dog* says nothing sure about *the poodle*, which may or may not be that dog.
        """
        if self.presupposed or polarity == UP or self.polarity == NONE or not self.used.isdisjoint(places):
            return
        self.used.update(places)
        if polarity == NONE or self.definite:
            self.polarity = NONE
        else:
            self.polarity = UP if self.polarity == DOWN else DOWN
        self.by = word

    def quantify(self, quantified: Quantified, polarity: str) -> None:
        """Compose with what a quantifier does to its restrictor or scope."""
        if polarity == "any":
            self.any_word = quantified.words
        else:
            self.apply(polarity, quantified.words, quantified.places)


def scope_at(tree: DependencyTree, place: int) -> Scope:
    """The polarity of the word at a place of the tree."""
    scope = Scope()
    previous = -1
    for node in tree.path(place):
        _enter_noun_phrase(tree, scope, node, previous)
        _enter_predicate(tree, scope, node, previous)
        _cross_edge(tree, scope, node)
        previous = node
    if is_question(tree, tree.clause_head(previous)) and not scope.presupposed:
        scope.asserted = False
        scope.apply(NONE, "?", ())
    if scope.any_word and scope.polarity == UP and not scope.by:
        # "Any dog can swim" is about all dogs; "he did not see any dog" is not.
        scope.apply(DOWN, scope.any_word, ())
    return scope


def is_question(tree: DependencyTree, root: int) -> bool:
    """Whether a sentence asks: by its mark, or because an auxiliary stands before its subject (*have you seen it*)."""
    if any(word.startswith("?") for word in tree.words[-2:]):
        return True
    subjects = tree.related(root, "nsubj", "nsubjpass")
    helpers = [place for place in (root, *tree.related(root, "aux", "auxpass")) if tree.words[place] in _INVERTED]
    if (
        not subjects
        or not helpers
        or not helpers[0] < subjects[0] == helpers[0] + 1 + _phrase_length(tree, subjects[0])
    ):
        return False
    # "Never had she …", "here is …", "around the corner is …" do not ask; "so, have you …" and "what did …" do.
    return not any(
        tree.relations[child] == "prep" or tree.tags[child] in ("RB", "EX", "IN") or tree.words[child] in ("nor", "not")
        for child in tree.children[root]
        if child < min(helpers)
    )


def _phrase_length(tree: DependencyTree, head: int) -> int:
    """How many words stand before the head of a phrase within it."""
    return head - tree.left_edge(head)


def _enter_noun_phrase(tree: DependencyTree, scope: Scope, node: int, previous: int) -> None:
    """Apply the quantifier of a noun phrase to what it restricts, and superlatives to what they compare."""
    if tree.tags[node][:1] not in "NDPCJ" or tree.relations[node] not in _NOMINAL:
        return
    came_by = tree.relations[previous] if previous >= 0 else ""
    if came_by in ("det", "predet", "appos") or (came_by == "conj" and tree.related(previous, "det", "poss", "nummod")):
        if came_by == "conj":
            _apply_negations(tree, scope, node)
        return
    quantified = quantified_phrase(tree, node)
    if quantified is not None and not (previous < 0 and node in quantified.places):
        if came_by in ("relcl", "acl") and quantified.quantifier.restrictor != UP and not scope.presupposed:
            scope.asserted = False
        scope.quantify(quantified, quantified.quantifier.restrictor)
    for child in tree.children[node]:
        if child != previous and _destroys(tree, child):
            scope.apply(NONE, tree.words[child], [child])
    if quantified is None:
        _apply_negations(tree, scope, node)
        verb = generic_verb(tree, node)
        if verb >= 0:
            scope.apply(NONE, tree.words[verb], [])
        if is_definite(tree, node) and not is_partitive(tree, node):
            scope.definite = True


def _apply_negations(tree: DependencyTree, scope: Scope, node: int) -> None:
    """Apply *not* or *neither* before a noun phrase: *not a dog*, *neither a dog nor a cat*."""
    for child in tree.related(node, "neg", "preconj"):
        if tree.words[child] in operators("adverb"):
            scope.apply(DOWN, tree.words[child], [child])


def _destroys(tree: DependencyTree, child: int) -> bool:
    """Whether a word before a noun makes its place non-monotone: a superlative, or *only* and the like."""
    if tree.words[child] in ("most", "least"):
        # "Her most important papers", but not "most papers".
        return tree.tags[child + 1 : child + 2] in (["JJ"], ["RB"], ["VBN"], ["VBG"])
    described = tree.relations[child] == "amod" and any(
        tree.words[place] == "most" for place in tree.related(child, "advmod")
    )
    if tree.tags[child] in ("JJS", "RBS") or described:
        return True
    if tree.relations[child] == "amod" and tree.words[child] in operators("adjective"):
        return True
    return is_focus(tree, child) and tree.relations[child] == "advmod"


def _enter_predicate(tree: DependencyTree, scope: Scope, node: int, previous: int) -> None:
    """Apply what has scope over a verb and its dependents: negation, adverbs, modals, quantified arguments."""
    if not (
        tree.tags[node][:1] == "V"
        or tree.tags[node] == "MD"
        or tree.relations[node] in ("ROOT", "acomp", "conj", "advcl")
    ):
        return
    is_subject = previous >= 0 and tree.relations[previous] in SUBJECTS
    if previous >= 0 and tree.relations[previous] in ("conj", "parataxis") and _is_own_clause(tree, previous):
        return
    for word, polarity, places in _scopes_over(tree, node, previous, is_subject=is_subject):
        scope.apply(polarity, word, places)
    if scope.presupposed or (previous >= 0 and tree.relations[previous] == "advcl" and _is_outside(tree, previous)):
        # "Because it was cold, he may leave": only the leaving is uncertain.
        return
    if _is_modal(tree, node) or _is_conditional(tree, node, previous):
        scope.asserted = False


def _is_conditional(tree: DependencyTree, node: int, previous: int) -> bool:
    """Whether a clause is said to hold only under a condition: *if it rains, we stay*."""
    clauses = (child for child in tree.related(node, "advcl") if child != previous)
    return any(connective(tree, child) in ("if", "unless", "provided", "provided that", "only if") for child in clauses)


def _is_own_clause(tree: DependencyTree, place: int) -> bool:
    """Whether a conjunct has a subject or a finite verb, so that a negation before it does not reach it."""
    if tree.relations[place] == "parataxis" or tree.related(place, *SUBJECTS):
        return True
    first = min([place, *tree.related(place, "aux")])
    joints = [tree.words[child] for child in tree.related(tree.heads[place], "cc")]
    shares = {"or", "nor"} & set(joints) and first == place
    return tree.tags[first] in ("VBZ", "VBD", "VBP", "MD") and not shares


_Operation = tuple[str, str, Iterable[int]]
"""A word, its polarity and the places of its words."""


def _scopes_over(tree: DependencyTree, node: int, previous: int, *, is_subject: bool) -> Iterator[_Operation]:
    """The words that have scope over a predicate."""
    if previous >= 0 and tree.relations[previous] == "advcl" and _is_outside(tree, previous):
        return
    for child in tree.children[node]:
        relation = tree.relations[child]
        if child == previous:
            continue
        if relation in SUBJECTS:
            yield from _quantifier_scope(tree, child)
        elif is_subject:
            if is_focus(tree, child) and child < previous:
                yield tree.words[child], NONE, [child]
        elif relation in ("neg", "advmod", "preconj", "cc", "aux"):
            yield from _adverb_scope(tree, child, node, previous)
        elif 0 <= previous < node and tree.relations[previous] in ("prep", "advcl", "npadvmod", "advmod"):
            # "Despite protests there was little choice": what precedes the verb is outside its object's scope.
            continue
        elif relation in ("dobj", "attr", "dative"):
            yield from _quantifier_scope(tree, child)
        elif relation == "prep" and tree.words[child] not in _CLOSED_PREPOSITIONS:
            for noun in tree.related(child, "pobj"):
                yield from _quantifier_scope(tree, noun)


def _is_outside(tree: DependencyTree, node: int) -> bool:
    """Whether an adverbial clause is outside what negates its main clause: *because*, or a participle after a comma.

    In *it may be because it is cold* the reason is all that is said, so it is inside.
    """
    head = tree.heads[node]
    if tree.words[head] in BE and not tree.related(head, "acomp", "attr", "dobj", "prep"):
        return False
    mark = connective(tree, node)
    first = min([node, *(tree.left_edge(child) for child in tree.children[node])])
    return mark in _OUTSIDE_NEGATION or (not mark and first > 0 and tree.words[first - 1] == ",")


def _quantifier_scope(tree: DependencyTree, place: int) -> Iterator[_Operation]:
    quantified = quantified_phrase(tree, place)
    contrast = quantified is not None and quantified.places[0] > 0 and tree.words[quantified.places[0] - 1] == ","
    if quantified is not None and not (contrast and quantified.words.startswith("not")):
        # "He was a pilot, not a baker" says nothing against pilots.
        yield quantified.words, quantified.quantifier.scope, quantified.places


def _adverb_scope(tree: DependencyTree, child: int, node: int, previous: int) -> Iterator[_Operation]:
    word, places = tree.words[child], [child]
    if words_are(tree, child, "no", "longer"):
        word, places = "no longer", [child, child + 1]
    elif child and words_are(tree, child - 1, "no", "longer"):
        word, places = "no longer", [child - 1, child]
    elif words_are(tree, child, "not", "only") or (word == "nor" and "neither" in tree.words):
        return
    if child > node + 2 and word in ("not", "nor"):
        # "It seems real, not as if it were new": a negation after the predicate is of something else.
        return
    effect = operators("adverb").get(word)
    reaches = previous < 0 or previous > child or word in _NEGATIVE_OPENERS
    if effect is not None and (reaches or tree.relations[previous] not in ("advmod", "prep", "advcl")):
        yield word, effect.polarity, places
    elif is_focus(tree, child) and (previous < 0 or previous > child):
        yield word, NONE, places


def _is_modal(tree: DependencyTree, node: int) -> bool:
    modals = operators("modal")
    words = (tree.words[child] for child in tree.related(node, "aux", "advmod"))
    return any(word in modals for word in words) or (tree.tags[node] == "MD" and tree.words[node] in modals)


def connective(tree: DependencyTree, node: int) -> str:
    """The connective that begins the clause of a verb, of one word or several; empty without one."""
    for child in tree.children[node]:
        adverb = tree.tags[child] == "WRB" and tree.relations[child] == "advmod" and child < node
        if tree.relations[child] == "mark" or adverb:
            return _longest_around(tree, child, operators("mark"))
    return ""


def _longest_around(tree: DependencyTree, place: int, table: Mapping[str, ScopeEffect]) -> str:
    """The longest entry of a table that contains the word at a place, else the word: *even if* for *if*."""
    for size in (3, 2):
        for first in range(max(0, place - size + 1), place + 1):
            words = " ".join(tree.words[first : first + size])
            if words in table:
                return words
    return tree.words[place]


def _cross_edge(tree: DependencyTree, scope: Scope, node: int) -> None:
    """Apply the connective, preposition or governor on the way from a word to its head."""
    head, relation = tree.heads[node], tree.relations[node]
    if head < 0:
        return
    if relation == "appos" or (relation == "relcl" and _is_aside(tree, node)):
        scope.presupposed = True
    elif relation in COMPLEMENTS or (relation == "acl" and _is_content(tree, node)):
        _cross_complement(tree, scope, node)
    elif relation == "advcl":
        _cross_adverbial(tree, scope, node)
    elif relation in ("pobj", "pcomp"):
        _cross_preposition(tree, scope, head)
    elif relation in ("dobj", "nsubjpass"):
        effect = governor_effect(tree.lemma(head), "object")
        if effect.polarity != UP:
            scope.apply(effect.polarity, tree.words[head], [head])


def _is_aside(tree: DependencyTree, node: int) -> bool:
    """Whether a relative clause only adds something, after a comma: what is said of its noun does not reach it."""
    first = min([node, *(tree.left_edge(child) for child in tree.children[node])])
    return first > 0 and tree.words[first - 1] == "," and tree.tags[first] in ("WDT", "WP", "WP$", "WRB")


def _is_content(tree: DependencyTree, node: int) -> bool:
    """Whether a clause after a noun says what it is about: *the claim that*, *the plan to*."""
    return connective(tree, node) == "that" or any(tree.words[child] == "to" for child in tree.related(node, "aux"))


def _cross_complement(tree: DependencyTree, scope: Scope, node: int) -> None:
    head = tree.heads[node]
    mark, questions = connective(tree, node), ("WP", "WDT", "WRB")
    asks = mark in ("whether", "if") or any(
        tree.tags[child] in questions for child in tree.children[node] if child < node
    )
    infinitive = any(tree.words[child] == "to" for child in tree.related(node, "aux"))
    form = "infinitive" if infinitive else "gerund" if tree.tags[node] == "VBG" and not mark else "clause"
    if any(tree.words[child] == "too" for child in tree.children[head]):
        effect = ScopeEffect(DOWN, asserted=False)
    elif asks:
        effect = ScopeEffect(NONE, asserted=False)
    else:
        effect = governor_effect(tree.lemma(head), form)
    scope.apply(effect.polarity, tree.words[head], [head])
    if effect.presupposed and scope.asserted:
        scope.presupposed = True
    elif not effect.asserted:
        scope.asserted = False
        scope.presupposed = False


def _cross_adverbial(tree: DependencyTree, scope: Scope, node: int) -> None:
    mark = connective(tree, node)
    effect = operators("mark").get(mark)
    if mark == "when" and tree.tags[min([node, *tree.related(node, "aux")])] in ("VBZ", "VBP"):
        effect = ScopeEffect(DOWN, asserted=False)
    if mark == "before" and _is_modal(tree, node):
        # "Before a guard could see it" says that none did; "before a guard came" is about one that did.
        effect = ScopeEffect(DOWN, asserted=False)
    if effect is None:
        infinitive = any(tree.words[child] == "to" for child in tree.related(node, "aux"))
        effect = ScopeEffect(UP, asserted=not infinitive)
    scope.apply(effect.polarity, mark, [])
    if not effect.asserted:
        scope.asserted = False


def _cross_preposition(tree: DependencyTree, scope: Scope, preposition: int) -> None:
    for child in tree.children[preposition]:
        if is_focus(tree, child) and child < preposition:
            scope.apply(NONE, tree.words[child], [child])
    effect = operators("preposition").get(_longest_around(tree, preposition, operators("preposition")))
    if effect is not None:
        scope.apply(effect.polarity, tree.words[preposition], [preposition])
        if not effect.asserted:
            scope.asserted = False
    noun = tree.heads[preposition]
    if noun >= 0 and tree.tags[noun] in ("NN", "NNS"):
        about = operators("noun").get(tree.lemma(noun))
        if about is not None and quantified_phrase(tree, noun) is None:
            scope.apply(about.polarity, tree.words[noun], [noun])
