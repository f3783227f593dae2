"""Polarity of a word in its sentence: which way it may be changed so that a true sentence stays true.

In an upward place a wider word is entailed (*a poodle barked*, *a dog barked*), in a downward place a narrower one (*no
dog barked*, *no poodle barked*); in others neither is. The polarity is composed on the way from the word to the root of
its tree, as in natural logic (van Benthem 1986, Sánchez Valencia 1991): each quantifier, negation, connective or
governor on the way keeps, turns or destroys it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from acidtest.english.chunks import BE, DO, HAVE
from acidtest.english.dependencies import COMPLEMENTS, SUBJECTS, DependencyTree
from acidtest.english.operators import ScopeEffect, governor_effect, operators
from acidtest.english.quantification import (
    Quantified,
    generic_verb,
    is_definite,
    is_focus,
    is_partitive,
    quantified_phrase,
    words_are,
)

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
