"""Polarity of a word in its sentence: which way it may be changed so that a true sentence stays true.

In an upward place a wider word is entailed (*a poodle barked*, *a dog barked*), in a downward place a narrower one (*no
dog barked*, *no poodle barked*); in others neither is. The polarity is composed on the way from the word to the root of
its tree, as in natural logic (van Benthem 1986, Sánchez Valencia 1991): each quantifier, negation, connective or
governor on the way keeps, turns or destroys it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from acidtest.text.dependencies import COMPLEMENTS, SUBJECTS, DependencyTree
from acidtest.text.operators import Effect, Quantifier, governor_effect, operators, quantifiers

UP, DOWN, NONE = "up", "down", "none"
_NOMINAL = frozenset(
    {"nsubj", "nsubjpass", "dobj", "pobj", "attr", "dative", "appos", "npadvmod", "ROOT", "conj", "nmod", "oprd"}
)
_DEFINITE = frozenset({"the", "this", "that", "these", "those"})
_OUTSIDE_NEGATION = frozenset(
    {"because", "although", "though", "even though", "whereas", "while", "since", "as", "after", "when"}
)
_NEGATIVE_OPENERS = frozenset({"never", "rarely", "seldom", "hardly", "scarcely", "barely"})
_LONGEST = 4


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

    def apply(self, polarity: str, word: str) -> None:
        """Compose with the effect of a word; what is within a definite phrase is not turned but destroyed.

        *He did not see the dog* says nothing sure about *the poodle*, which may or may not be that dog.
        """
        if self.presupposed or polarity == UP or self.polarity == NONE:
            return
        if polarity == NONE or self.definite:
            self.polarity = NONE
        else:
            self.polarity = UP if self.polarity == DOWN else DOWN
        self.by = word


def scope_at(tree: DependencyTree, place: int) -> Scope:
    """The polarity of the word at a place of the tree."""
    scope = Scope()
    previous = -1
    for node in tree.path(place):
        _enter_noun_phrase(tree, scope, node, previous)
        _enter_predicate(tree, scope, node, previous)
        _cross_edge(tree, scope, node)
        previous = node
    if tree.words and tree.words[-1] == "?" and not scope.presupposed:
        scope.asserted = False
        scope.apply(NONE, "?")
    if scope.any_word and scope.polarity == UP and not scope.by:
        # "Any dog can swim" is about all dogs; "he did not see any dog" is not.
        scope.apply(DOWN, scope.any_word)
    return scope


def quantifier(tree: DependencyTree, place: int) -> Quantifier | None:
    """The quantifier of the noun phrase with this head; None without one."""
    table = quantifiers()
    if tree.words[place] in table and tree.tags[place][:1] in "NDJPC":
        single = table[tree.words[place]]
        return None if single.words in ("number", "share", "rest") and _is_definite(tree, place) else single
    left = tree.left_edge(place)
    # "At", "more" and "not" may have been attached to the verb.
    start = max(0, left - 3)
    for first in range(start, place):
        for size in range(min(_LONGEST, place - first), 0, -1):
            if first < left and first + size < left:
                continue
            words = " ".join(tree.words[first : first + size])
            if words in table and _is_quantifier(tree, first, size, place):
                return table[words]
    return None


def _is_quantifier(tree: DependencyTree, first: int, size: int, place: int) -> bool:
    """Whether the words are a quantifier here: *about ten*, *just a*, but not *a little dog* or *the few*."""
    word, after = tree.words[first], tree.tags[first + size] if first + size < len(tree.tags) else ""
    if word in ("about", "around", "over", "under", "up", "roughly", "approximately", "exactly", "precisely"):
        return after == "CD"
    if "little" in tree.words[first : first + size]:
        # "A little dog", "little dogs" are small; "little food" is not much.
        counted = tree.tags[place] == "NNS" or tree.words[first - 1 : first] == ["a"] or after in ("JJ", "NNP")
        return not counted and not (first and tree.tags[first - 1] in ("DT", "PRP$", "JJ", "POS"))
    if word in ("few", "many", "several") and first and tree.words[first - 1] in ("the", "a", "his", "her", "their"):
        return False
    if word in ("more", "less", "most") and size == 1:
        return tree.relations[first] in ("amod", "nummod", "det", "quantmod", "advmod") and tree.heads[first] == place
    if word in ("only", "just"):
        return _is_focus(tree, first) and (first >= tree.left_edge(place) or tree.heads[first] == place)
    return True


def _is_definite(tree: DependencyTree, place: int) -> bool:
    """Whether a noun phrase names something definite: *the dog*, *his dog*, *Rex*."""
    owners = tree.related(place, "poss")
    named = tree.tags[place] in ("NNP", "NNPS")
    return named or bool(owners) or any(tree.words[child] in _DEFINITE for child in tree.related(place, "det"))


def _is_partitive(tree: DependencyTree, place: int) -> bool:
    """Whether a noun phrase says what a quantifier counts: *the dogs* in *none of the dogs*."""
    head = tree.heads[place]
    if head < 0 or tree.words[head] != "of" or tree.heads[head] < 0:
        return False
    return quantifier(tree, tree.heads[head]) is not None


def _enter_noun_phrase(tree: DependencyTree, scope: Scope, node: int, previous: int) -> None:
    """Apply the quantifier of a noun phrase to what it restricts, and superlatives to what they compare."""
    if tree.tags[node][:1] not in "NDPCJ" or (tree.relations[node] not in _NOMINAL):
        return
    if previous >= 0 and tree.relations[previous] in ("det", "predet", "appos", "conj"):
        return
    quantified = quantifier(tree, node)
    if quantified is not None and not (previous < 0 and quantified.words == tree.words[node]):
        if quantified.restrictor == "any":
            scope.any_word = quantified.words
        else:
            scope.apply(quantified.restrictor, quantified.words)
    for child in tree.children[node]:
        if child != previous and _destroys(tree, child):
            scope.apply(NONE, tree.words[child])
        elif tree.relations[child] == "neg" and quantified is None:
            scope.apply(DOWN, tree.words[child])
    if _is_definite(tree, node) and quantified is None and not _is_partitive(tree, node):
        scope.definite = True


def _destroys(tree: DependencyTree, child: int) -> bool:
    """Whether a word before a noun makes its place non-monotone: a superlative, or *only* and the like."""
    if tree.tags[child] in ("JJS", "RBS"):
        return tree.words[child] not in ("most", "least")
    return _is_focus(tree, child) and tree.relations[child] == "advmod"


def _is_focus(tree: DependencyTree, place: int) -> bool:
    """Whether a word such as *only* excludes what it does not name; not in *not only*, nor *just* before a verb."""
    if tree.words[place] == "just":
        return tree.tags[place + 1 : place + 2] in (["DT"], ["CD"], ["JJ"], ["NN"], ["NNS"], ["PRP$"])
    return tree.words[place] in operators("focus") and tree.words[max(0, place - 1)] not in ("not", "n't", "if")


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
    for word, polarity in _scopes_over(tree, node, previous, is_subject=is_subject):
        scope.apply(polarity, word)
    if not scope.presupposed and (_is_modal(tree, node) or _is_conditional(tree, node, previous)):
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
    return tree.tags[first] in ("VBZ", "VBD", "VBP", "MD") and not {"or", "nor"} & set(joints)


def _scopes_over(tree: DependencyTree, node: int, previous: int, *, is_subject: bool) -> Iterator[tuple[str, str]]:
    """The words that have scope over a predicate, with their polarity, the innermost first."""
    outside = previous >= 0 and tree.relations[previous] == "advcl" and connective(tree, previous) in _OUTSIDE_NEGATION
    for child in tree.children[node]:
        relation = tree.relations[child]
        if child == previous or outside:
            continue
        if relation in SUBJECTS:
            quantified = quantifier(tree, child)
            if quantified is not None and quantified.scope != UP:
                yield quantified.words, quantified.scope
        elif is_subject:
            if _is_focus(tree, child) and child < previous:
                yield tree.words[child], NONE
        elif relation in ("neg", "advmod", "preconj", "cc", "aux"):
            yield from _adverb_scope(tree, child, previous)
        elif relation in ("dobj", "attr", "dative", "prep"):
            target = child
            if relation == "prep":
                targets = tree.related(child, "pobj")
                if not targets or (
                    tree.words[child] in ("of", "in", "at", "on") and tree.words[targets[0]] in ("all", "most")
                ):
                    continue
                target = targets[0]
            quantified = quantifier(tree, target)
            if quantified is not None and quantified.scope != UP and (previous != child):
                yield quantified.words, quantified.scope


def _adverb_scope(tree: DependencyTree, child: int, previous: int) -> Iterator[tuple[str, str]]:
    word = tree.words[child]
    if word == "no" and tree.words[child + 1 : child + 2] == ["longer"]:
        word = "no longer"
    if word == "not" and tree.words[child + 1 : child + 2] == ["only"]:
        return
    effect = operators("adverb").get(word)
    if effect is not None and (
        previous < 0
        or previous > child
        or word in _NEGATIVE_OPENERS
        or tree.relations[previous] not in ("advmod", "prep", "advcl")
    ):
        yield word, effect.polarity
    elif _is_focus(tree, child) and (previous < 0 or previous > child):
        yield word, NONE


def _is_modal(tree: DependencyTree, node: int) -> bool:
    modals = operators("modal")
    words = (tree.words[child] for child in tree.related(node, "aux", "advmod"))
    return any(word in modals for word in words) or (tree.tags[node] == "MD" and tree.words[node] in modals)


def connective(tree: DependencyTree, node: int) -> str:
    """The connective that begins the clause of a verb; empty without one."""
    for child in tree.children[node]:
        if tree.relations[child] == "mark" or (
            tree.tags[child] == "WRB" and tree.relations[child] == "advmod" and child < node
        ):
            following = [tree.words[place] for place in tree.children[child] if tree.relations[place] == "fixed"]
            return " ".join([tree.words[child], *following])
    return ""


def _cross_edge(tree: DependencyTree, scope: Scope, node: int) -> None:
    """Apply the connective, preposition or governor on the way from a word to its head."""
    head, relation = tree.heads[node], tree.relations[node]
    if head < 0:
        return
    if relation in COMPLEMENTS or (relation == "acl" and _is_content(tree, node)):
        _cross_complement(tree, scope, node)
    elif relation == "advcl":
        _cross_adverbial(tree, scope, node)
    elif relation in ("pobj", "pcomp"):
        _cross_preposition(tree, scope, head)
    elif relation in ("dobj", "nsubjpass"):
        effect = governor_effect(tree.lemma(head), "object")
        if effect.polarity != UP:
            scope.apply(effect.polarity, tree.words[head])


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
        effect = Effect(DOWN, asserted=False)
    elif asks:
        effect = Effect(NONE, asserted=False)
    else:
        effect = governor_effect(tree.lemma(head), form)
    scope.apply(effect.polarity, tree.words[head])
    if effect.presupposed and scope.asserted:
        scope.presupposed = True
    elif not effect.asserted:
        scope.asserted = False
        scope.presupposed = False


def _cross_adverbial(tree: DependencyTree, scope: Scope, node: int) -> None:
    mark = connective(tree, node)
    effect = operators("mark").get(mark)
    if mark == "when" and tree.tags[min([node, *tree.related(node, "aux")])] in ("VBZ", "VBP"):
        effect = Effect(DOWN, asserted=False)
    if effect is None:
        infinitive = any(tree.words[child] == "to" for child in tree.related(node, "aux"))
        effect = Effect(UP, asserted=not infinitive)
    scope.apply(effect.polarity, mark)
    if not effect.asserted:
        scope.asserted = False


def _cross_preposition(tree: DependencyTree, scope: Scope, preposition: int) -> None:
    following = [
        tree.words[place] for place in tree.children[preposition] if tree.relations[place] in ("fixed", "pcomp", "prep")
    ]
    whole = " ".join([tree.words[preposition], *following[:1]])
    effect = operators("preposition").get(whole) or operators("preposition").get(tree.words[preposition])
    if effect is not None:
        scope.apply(effect.polarity, tree.words[preposition])
        if not effect.asserted:
            scope.asserted = False
    noun = tree.heads[preposition]
    if noun >= 0 and tree.tags[noun] in ("NN", "NNS"):
        about = operators("noun").get(tree.lemma(noun))
        if about is not None and quantifier(tree, noun) is None:
            scope.apply(about.polarity, tree.words[noun])
