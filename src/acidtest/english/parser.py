"""Dependency trees of tagged sentences without a trained parser: chunks attached from left to right.

The parser keeps a stack of open clauses. A connective, a relative pronoun or a noun phrase with a verb of its own opens
one; a verb without a place in it, or a comma after a fronted clause, closes it. It is meant for clauses, heads and
scopes, not for every attachment: prepositional phrases go to the word before them.

The state of the light parser: a tree under construction and the stack of its open clauses.

Dependency trees of sentences: from an installed spaCy pipeline that parses, else from the light parser.

The pipeline is the one that tagged the sentences, so that a suite's card names it; it gets our tokens, so that places
stay the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from acidtest.english.chunks import BE, DO, FINITE_TAGS, HAVE, NOUN_TAGS, VERB_TAGS, Chunk, chunks
from acidtest.english.dependencies import DependencyTree, base_form
from acidtest.english.scopes import takes_clause, takes_infinitive
from acidtest.english.tagging import tagger
from acidtest.english.wordnet import noun_kind

_BOUNDARIES = frozenset({"mark", "relative", "break", "joint", "comma"})
"""Kinds of chunks between a verb and a noun phrase that is not its subject."""
_WITH_TWO_OBJECTS = frozenset(
    {"given", "shown", "told", "asked", "offered", "called", "named", "sent", "paid", "taught"}
)
NEGATIONS = frozenset({"not", "n't", "n’t", "never"})


@dataclass
class OpenClause:
    """A clause under construction; positions are -1 until they are known."""

    relation: str
    parent: int
    """The head of the clause's verb; -1 until the main verb is known."""
    fronted: bool = False
    """Whether it precedes the clause that it belongs to."""
    verb: int = -1
    subject: int = -1
    waiting: list[tuple[int, str]] = field(default_factory=list)
    """Words whose head is the verb that is still to come."""
    last_object: int = -1


class TreeBuilder:
    """The tree of one sentence while it is built."""

    def __init__(self, words: list[str], tags: list[str]) -> None:
        self.words, self.tags = words, _repair_tags(words, tags)
        self.heads, self.relations = [-1] * len(words), ["dep"] * len(words)
        self.parts = chunks(words, self.tags)
        self.stack = [OpenClause("ROOT", -1)]
        self.root = -1
        self.preposition = self.joint = -1
        self.last: Chunk | None = None
        self.quoted = False

    @property
    def clause(self) -> OpenClause:
        return self.stack[-1]

    def attach(self, place: int, head: int, relation: str) -> None:
        """Set the head of a word, unless that would make a cycle."""
        node = head
        while node >= 0:
            if node == place:
                return
            node = self.heads[node]
        self.heads[place], self.relations[place] = head, relation

    def attach_inside(self, chunk: Chunk) -> None:
        """Attach the words of a chunk to its head."""
        for place in range(chunk.start, chunk.end):
            if place != chunk.head:
                self.attach(place, chunk.head, self._inner_relation(chunk, place))
        if chunk.kind == "noun":
            self._attach_owners(chunk)

    def _inner_relation(self, chunk: Chunk, place: int) -> str:
        word, tag = self.words[place], self.tags[place]
        if word in NEGATIONS:
            return "neg"
        if chunk.kind == "verb":
            if tag == "RP":
                return "prt"
            return "advmod" if tag.startswith("RB") else "aux"
        if chunk.kind == "noun":
            if tag in ("IN", "TO") or (
                word in ("more", "less", "fewer", "least", "most") and self.tags[place + 1] in ("IN", "CD")
            ):
                return "quantmod"
            return {"DT": "det", "PDT": "predet", "PRP$": "poss", "CD": "nummod", "RB": "advmod", "CC": "cc"}.get(
                tag, "compound" if tag in NOUN_TAGS else "punct" if tag == "," else "amod"
            )
        return "advmod" if chunk.kind == "adjective" else "fixed"

    def _attach_owners(self, chunk: Chunk) -> None:
        """Attach what stands before a possessive to its owner: *the old man* in *the old man's dog*."""
        for mark in range(chunk.start, chunk.end):
            if self.tags[mark] == "POS" and chunk.start < mark:
                owner = mark - 1
                for place in range(chunk.start, mark):
                    if place != owner and self.heads[place] == chunk.head:
                        self.heads[place] = owner
                self.heads[mark], self.relations[mark] = owner, "case"
                if owner != chunk.head:
                    self.heads[owner], self.relations[owner] = chunk.head, "poss"

    def next_chunk(self, number: int, *skipped: str) -> Chunk | None:
        return next((chunk for chunk in self.parts[number + 1 :] if chunk.kind not in skipped), None)

    def may_be_finite(self, number: int) -> bool:
        """Whether a chunk is a finite verb, or a participle that must be one: it has an object, or nothing follows.

        Past tenses are often tagged as participles: *the nurse that the cook obeyed phoned the guards*.
        """
        chunk = self.parts[number]
        if chunk.kind != "verb" or chunk.form == "finite":
            return chunk.kind == "verb"
        if chunk.form != "participle" or chunk.start != chunk.head or self.tags[chunk.head] != "VBN":
            return False
        following = self.parts[number + 1] if number + 1 < len(self.parts) else None
        return following is None or following.kind in ("noun", "other", "comma", "verb") or following.word == "that"

    def lacks_verb(self, number: int) -> bool:
        """Whether a participle must be the past tense that an open clause lacks: *the man I saw left*."""
        if not self.may_be_finite(number):
            return False
        if self.clause.verb < 0 and self.clause.subject >= 0 and self.clause.relation != "ROOT":
            return True
        if not any(clause.verb < 0 and clause.subject >= 0 for clause in self.stack):
            return False
        later = any(self.may_be_finite(place) for place in range(number + 1, len(self.parts)))
        return not later or self._has_object(number)

    def _has_object(self, number: int) -> bool:
        """Whether an object or a clause with *that* follows a verb, which a participle seldom has."""
        following = self.parts[number + 1] if number + 1 < len(self.parts) else None
        if following is None or self.words[self.parts[number].head] in _WITH_TWO_OBJECTS:
            return False
        return following.kind == "noun" or following.word == "that"

    def has_own_verb(self, number: int) -> bool:
        """Whether the noun phrase with this number is the subject of a finite verb that follows."""
        awaiting = sum(clause.verb < 0 and clause.subject >= 0 for clause in self.stack[:-1])
        if awaiting and self.clause.verb >= 0:
            later = sum(self.may_be_finite(place) for place in range(number + 1, len(self.parts)))
            if later <= awaiting:
                # "The man who read a book left": the verb belongs to the man.
                return False
        for place in range(number + 1, len(self.parts)):
            chunk = self.parts[place]
            if chunk.kind == "verb":
                if self.may_be_finite(place):
                    # "There was a move made": after a form of "be" it is a participle.
                    passive = self.clause.verb >= 0 and self.words[self.clause.verb] in BE and chunk.form != "finite"
                    return not passive
                if chunk.form in ("base", "infinitive") or place > number + 1:
                    return False
            elif chunk.kind in _BOUNDARIES or (chunk.kind == "noun" and place == number + 1):
                return False
        return False

    def clause_follows(self, number: int) -> bool:
        """Whether a subject and its verb follow a connective."""
        for later, chunk in enumerate(self.parts[number + 1 :], start=number + 1):
            if chunk.kind == "noun":
                return self.has_own_verb(later)
            if chunk.kind not in ("adverb", "adjective", "preposition", "quote"):
                return False
        return False

    # Chunks

    def follows_comma(self) -> bool:
        return self.last is not None and self.last.kind in ("comma", "noun")

    def is_listed(self, number: int) -> bool:
        """Whether a noun phrase after a comma is part of a list that ends with *and* or *or*."""
        inside = ("noun", "adjective", "preposition", "comma", "adverb")
        following = next((chunk for chunk in self.parts[number + 1 :] if chunk.kind not in inside), None)
        return following is not None and following.kind == "joint"

    def head_before(self, place: int, kinds: set[str]) -> int:
        """The head of the nearest chunk of one of the kinds before a word of the sentence."""
        for chunk in reversed(self.parts):
            if chunk.end <= place and chunk.kind in kinds:
                return chunk.head
        return -1

    def awaits_subject(self) -> bool:
        """Whether an auxiliary without a subject is open: *have you seen it*."""
        verb = self.clause.verb
        return verb >= 0 and self.clause.subject < 0 and (self.words[verb] in BE | HAVE | DO or self.tags[verb] == "MD")

    def is_filler(self, verb: int) -> bool:
        """Whether a verb is that of *I don't know* or *you know* before a clause that it does not govern."""
        return self.words[verb] == "know" and self.words[verb - 1] in ("n't", "n’t", "you")

    def awaits_main(self) -> bool:
        """Whether a fronted clause is open whose main clause is still to come."""
        return any(clause.fronted and clause.verb >= 0 for clause in self.stack)

    def close_fronted(self) -> None:
        while len(self.stack) > 1 and any(clause.fronted for clause in self.stack):
            self.close()

    def main_clause(self) -> OpenClause:
        """The clause that a conjoined clause with a subject belongs to; those within it are closed."""
        while len(self.stack) > 1 and self.clause.relation not in ("ccomp", "conj", "ROOT"):
            self.close()
        return self.clause

    def close(self) -> None:
        clause = self.stack.pop()
        parent = self.clause
        if clause.verb < 0 and clause.subject >= 0:
            self.attach(clause.subject, clause.parent if clause.parent >= 0 else parent.verb, clause.relation)
        if clause.parent < 0 and clause.verb >= 0:
            if parent.verb >= 0:
                self.attach(clause.verb, parent.verb, clause.relation)
            else:
                parent.waiting.append((clause.verb, clause.relation))
        target = clause.verb if clause.verb >= 0 else clause.subject
        for place, relation in clause.waiting:
            if place != target and target >= 0 and clause.verb < 0:
                self.attach(place, target, relation)

    def close_all(self) -> None:
        while len(self.stack) > 1:
            self.close()
        clause = self.clause
        root = clause.verb if clause.verb >= 0 else clause.subject
        for place, relation in clause.waiting:
            if root < 0:
                root = place
            elif place != root:
                self.attach(place, root, relation)
        if root < 0:
            root = next((chunk.head for chunk in self.parts if chunk.kind in ("adjective", "preposition")), 0)
        self.heads[root], self.relations[root] = -1, "ROOT"
        for place in range(len(self.words)):
            if self.heads[place] < 0 and place != root:
                self.attach(place, root, "punct" if not self.words[place][:1].isalnum() else "dep")

    def is_finite(self) -> bool:
        """Whether the verb of the open clause is finite."""
        verb = self.clause.verb
        first = min(
            [
                verb,
                *(
                    place
                    for place in range(len(self.words))
                    if self.heads[place] == verb and self.relations[place] == "aux"
                ),
            ]
        )
        return self.tags[first] in FINITE_TAGS

    def set_verb(self, chunk: Chunk) -> None:
        """Make a verb that of the open clause, and attach what waited for it."""
        clause, verb = self.clause, chunk.head
        clause.verb = verb
        self.joint = -1 if self.joint >= 0 and clause.relation != "conj" else self.joint
        if clause.subject >= 0:
            passive = self.tags[verb] == "VBN" and chunk.start < verb and self.words[verb - 1] in BE
            self.attach(clause.subject, verb, "nsubjpass" if passive else "nsubj")
        for place, relation in clause.waiting:
            self.attach(place, verb, relation)
        clause.waiting.clear()
        if clause.parent >= 0:
            self.attach(verb, clause.parent, clause.relation)

    def join_verb(self, chunk: Chunk) -> None:
        """A verb after *and*: a conjunct of the open clause's verb, with the same subject."""
        base = self.clause.verb
        self.attach(self.joint, base, "cc")
        self.joint = -1
        self.stack.append(OpenClause("conj", base))
        self.set_verb(chunk)

    def lemma(self, place: int) -> str:
        return base_form(self.words[place], self.tags[place]) if place >= 0 else ""


def _repair_tags(words: list[str], tags: list[str]) -> list[str]:
    """The tags with a noun where an article precedes a verb (*the tailor*), and *all* in *have all left* an adverb."""
    repaired = list(tags)
    for place in range(1, len(tags)):
        before, after = words[place - 1], tags[place + 1] if place + 1 < len(tags) else ""
        if tags[place] in ("VB", "VBP", "MD") and tags[place - 1] in ("DT", "PRP$"):
            repaired[place] = "NN"
        elif words[place] in ("all", "both") and before in ("them", "us", "you", "they", "we"):
            repaired[place] = "RB"
        elif words[place] in ("all", "both", "each") and (before in BE | HAVE or tags[place - 1] == "MD"):
            repaired[place] = "RB" if after in {*VERB_TAGS, "JJ", "RB", "IN"} else tags[place]
    return repaired


_BOTH = frozenset({"before", "after", "since", "until", "till", "as", "than", "once"})
"""Connectives that are prepositions where no clause follows."""


class _LightParser(TreeBuilder):
    """Adds the chunks of one sentence to its tree, from left to right."""

    def build(self) -> DependencyTree:
        """The tree of the sentence."""
        handlers = {
            "noun": self._add_noun, "verb": self._add_verb, "adjective": self._add_adjective, "mark": self._add_mark,
            "adverb": self._add_adverb, "preposition": self._add_preposition, "relative": self._add_relative,
            "joint": self._add_joint, "comma": self._add_comma, "break": self._add_break,
        }  # fmt: skip
        for number, chunk in enumerate(self.parts):
            self.attach_inside(chunk)
            if chunk.kind in handlers:
                handlers[chunk.kind](number, chunk)
            if chunk.kind not in ("quote", "other"):
                self.last = chunk
        self.close_all()
        return DependencyTree(self.words, self.tags, self.heads, self.relations)

    def _add_noun(self, number: int, chunk: Chunk) -> None:
        clause, head = self.clause, chunk.head
        if self.preposition >= 0:
            self.attach(head, self.preposition, "pobj")
            self.preposition = -1
            return
        own_verb = self.has_own_verb(number) and not self.awaits_subject()
        if self.joint >= 0 and not (own_verb and clause.verb >= 0):
            self._join_noun(chunk)
        elif clause.verb < 0:
            self._add_early_noun(number, chunk, own_verb=own_verb)
        elif own_verb:
            self._open_clause_at(chunk)
            self.clause.subject = head
        else:
            relation = "attr" if self.words[clause.verb] in BE else "dobj"
            if self.last is not None and self.last.kind == "comma":
                relation = "npadvmod" if clause.last_object < 0 else "conj" if self.is_listed(number) else "appos"
            target = clause.last_object if relation in ("appos", "conj") else clause.verb
            self.attach(head, target, relation)
            clause.last_object = head

    def _add_early_noun(self, number: int, chunk: Chunk, *, own_verb: bool) -> None:
        """A noun phrase in a clause whose verb is still to come."""
        clause = self.clause
        adjacent = self.last is not None and self.last.kind == "noun"
        if clause.subject < 0:
            clause.subject = chunk.head
        elif adjacent and own_verb and noun_kind(self.words[clause.subject]) == "time":
            # "Every evening the widow baked".
            clause.waiting.append((clause.subject, "npadvmod"))
            clause.subject = chunk.head
        elif adjacent and own_verb and self.last is not None and clause.relation not in ("relcl",):
            self.stack.append(OpenClause("relcl", self.last.head, subject=chunk.head))
        elif own_verb and self.follows_comma():
            # "Last year the firm closed".
            clause.waiting.append((clause.subject, "npadvmod"))
            clause.subject = chunk.head
        else:
            self.attach(chunk.head, clause.subject, "conj" if self.is_listed(number) else "appos")

    def _join_noun(self, chunk: Chunk) -> None:
        """A noun phrase after *and*: a conjunct of the noun phrase before it."""
        previous = self.head_before(self.joint, {"noun", "adjective"})
        joint, self.joint = self.joint, -1
        if previous < 0:
            if self.clause.verb < 0:
                self.clause.subject = chunk.head
            return
        self.attach(joint, previous, "cc")
        self.attach(chunk.head, previous, "conj")

    def _open_clause_at(self, chunk: Chunk) -> None:
        """Open the clause whose subject is this noun phrase, which follows a verb."""
        clause, last = self.clause, self.last
        if self.joint >= 0 or (last is not None and last.kind == "comma" and not self.awaits_main()):
            base = self.main_clause()
            relation = "conj" if self.joint >= 0 else "ccomp" if takes_clause(self.lemma(base.verb)) else "conj"
            if self.joint >= 0:
                self.attach(self.joint, base.verb, "cc")
                self.joint = -1
            self.stack.append(OpenClause(relation, base.verb))
        elif self.awaits_main() and ((last is not None and last.kind == "comma") or self._ends_fronted()):
            self.close_fronted()
        elif last is not None and last.kind == "noun" and not takes_clause(self.lemma(clause.verb)):
            self.stack.append(OpenClause("relcl", last.head))
        else:
            relation = "parataxis" if self.is_filler(clause.verb) else "ccomp"
            self.stack.append(OpenClause(relation, clause.verb))

    def _ends_fronted(self) -> bool:
        """Whether a fronted clause ends without a comma: *while the cook danced the guests ate*."""
        verb = self.lemma(self.clause.verb)
        return self.clause.fronted and self.clause.relation == "advcl" and not takes_clause(verb)

    def _add_verb(self, number: int, chunk: Chunk) -> None:
        if self.preposition >= 0 and chunk.form in ("gerund", "participle"):
            self.stack.append(OpenClause("pcomp", self.preposition))
            self.preposition = -1
            self.set_verb(chunk)
        elif chunk.form == "finite":
            self._add_finite(chunk)
        elif chunk.form == "infinitive":
            self._add_infinitive(chunk)
        elif chunk.form == "base":
            self._add_base(chunk)
        else:
            self._add_participle(number, chunk)

    def _add_finite(self, chunk: Chunk) -> None:
        if self.tags[chunk.head] == "VBN" and chunk.start == chunk.head:
            self.tags[chunk.head] = "VBD"
        if self.clause.verb < 0:
            self.set_verb(chunk)
            return
        if self.joint >= 0:
            while (
                len(self.stack) > 1 and self.clause.relation not in ("relcl", "ccomp", "conj") and not self.is_finite()
            ):
                self.close()
            self.join_verb(chunk)
            return
        depth = next((place for place in range(len(self.stack) - 1, -1, -1) if self.stack[place].verb < 0), -1)
        if depth >= 0:
            while len(self.stack) > depth + 1:
                self.close()
            self.set_verb(chunk)
        elif self.last is not None and self.last.kind == "noun" and self.clause.last_object >= 0:
            # "I saw the men left" has no place for the verb: its subject is the object before it.
            subject = self.clause.last_object
            self.stack.append(OpenClause("ccomp", self.clause.verb, subject=subject))
            self.heads[subject] = -1
            self.set_verb(chunk)
        else:
            base = self.stack[0]
            self.stack = self.stack[:1]
            self.stack.append(OpenClause("parataxis", base.verb))
            self.set_verb(chunk)

    def _add_infinitive(self, chunk: Chunk) -> None:
        clause, last = self.clause, self.last
        if self.joint >= 0 and clause.verb >= 0:
            self.join_verb(chunk)
            return
        if clause.verb < 0:
            if clause.subject >= 0 and last is not None and last.kind == "noun":
                self.stack.append(OpenClause("acl", last.head))
            else:
                self.stack.append(OpenClause("advcl", -1, fronted=True))
        elif last is not None and last.kind == "adjective":
            self.stack.append(OpenClause("xcomp", last.head))
        elif (
            last is not None
            and last.kind == "noun"
            and takes_infinitive(base_form(self.words[last.head], "NN"), "noun")
        ):
            self.stack.append(OpenClause("acl", last.head))
        elif takes_infinitive(self.lemma(clause.verb), "verb") or (last is not None and last.kind == "verb"):
            self.stack.append(OpenClause("xcomp", clause.verb))
        else:
            self.stack.append(OpenClause("advcl", clause.verb))
        self.set_verb(chunk)

    def _add_base(self, chunk: Chunk) -> None:
        """A bare verb: a command, the verb of a question, or the complement of *let*, *make* or *help*."""
        clause = self.clause
        if clause.verb < 0 or (self.joint >= 0):
            if clause.verb < 0:
                self.set_verb(chunk)
            else:
                self.join_verb(chunk)
            return
        if self.awaits_subject() and self.tags[clause.verb] in FINITE_TAGS and clause.last_object >= 0:
            self._invert(chunk)
        else:
            self.stack.append(OpenClause("ccomp", clause.verb))
            self.set_verb(chunk)

    def _invert(self, chunk: Chunk) -> None:
        """*Does the man sleep*: the verb of the clause becomes an auxiliary of the one that follows the subject."""
        clause, auxiliary = self.clause, self.clause.verb
        for place in range(len(self.words)):
            if self.heads[place] == auxiliary:
                self.heads[place] = chunk.head
        self.heads[chunk.head] = self.heads[auxiliary]
        self.relations[chunk.head] = self.relations[auxiliary]
        self.attach(auxiliary, chunk.head, "aux")
        self.relations[clause.last_object] = "nsubj"
        clause.verb, clause.subject, clause.last_object = chunk.head, clause.last_object, -1
        if clause.parent >= 0:
            self.attach(chunk.head, clause.parent, clause.relation)

    def _add_participle(self, number: int, chunk: Chunk) -> None:
        """*Sleeping* or *broken* without an auxiliary: of the noun before it, of the verb, or of what follows."""
        clause, last = self.clause, self.last
        if self.joint >= 0 and clause.verb >= 0 and self.tags[clause.verb] in (self.tags[chunk.head], "VBD"):
            self.join_verb(chunk)
            return
        if clause.verb < 0 and clause.subject < 0 and clause.relation == "advcl":
            # "While holding bags".
            self.set_verb(chunk)
            return
        if self.lacks_verb(number):
            self._add_finite(chunk)
            return
        inverted = self.awaits_subject() and clause.last_object >= 0
        if inverted and self.heads[clause.last_object] == clause.verb:
            self._invert(chunk)
            return
        if last is not None and last.kind == "noun" and self.joint < 0:
            self.stack.append(OpenClause("acl", last.head))
        elif clause.verb >= 0:
            adverbial = last is not None and last.kind in ("comma", "noun")
            self.stack.append(OpenClause("advcl" if adverbial else "xcomp", clause.verb))
        elif clause.subject >= 0 and last is not None:
            self.stack.append(OpenClause("acl", clause.subject))
        else:
            self.stack.append(OpenClause("advcl", -1, fronted=True))
        self.joint = -1
        self.set_verb(chunk)

    def _add_adjective(self, number: int, chunk: Chunk) -> None:
        clause = self.clause
        if self.joint >= 0:
            previous = self.head_before(self.joint, {"adjective", "noun", "verb"})
            if previous >= 0:
                self.attach(self.joint, previous, "cc")
                self.attach(chunk.head, previous, "conj")
            self.joint = -1
        elif clause.verb >= 0:
            self.attach(chunk.head, clause.verb, "acomp")
        elif clause.subject >= 0 and self.last is not None and self.last.kind == "noun":
            self.attach(chunk.head, self.last.head, "amod")
        else:
            clause.waiting.append((chunk.head, "advcl"))

    def _add_adverb(self, number: int, chunk: Chunk) -> None:
        word = self.words[chunk.head]
        relation = (
            "preconj" if word == "neither" else "neg" if word in NEGATIONS or chunk.word == "no longer" else "advmod"
        )
        if self.tags[chunk.head] == "RP":
            relation = "prt"
        following = self.next_chunk(number, "adverb")
        focus = word in ("only", "just", "even", "not", "neither", "especially", "mainly")
        if focus and following is not None and following.kind in ("noun", "preposition", "adjective"):
            # "Only the man": the adverb belongs to what follows it.
            self.attach(chunk.head, following.head, relation)
        elif self.clause.verb >= 0:
            self.attach(chunk.head, self.clause.verb, relation)
        else:
            self.clause.waiting.append((chunk.head, relation))

    def _add_preposition(self, number: int, chunk: Chunk) -> None:
        last, clause = self.last, self.clause
        if last is not None and last.kind in ("noun", "adjective"):
            self.attach(chunk.head, self._preposition_head(chunk, last), "prep")
        elif last is not None and last.kind == "preposition" and self.preposition >= 0:
            self.attach(chunk.head, self.preposition, "prep")
        elif clause.verb >= 0:
            self.attach(chunk.head, clause.verb, "prep")
        elif clause.subject >= 0:
            self.attach(chunk.head, clause.subject, "prep")
        else:
            clause.waiting.append((chunk.head, "prep"))
        self.preposition = chunk.head

    def _preposition_head(self, chunk: Chunk, last: Chunk) -> int:
        """The word that a prepositional phrase after a noun or adjective describes."""
        if chunk.word == "by" and self.clause.verb >= 0 and self.tags[self.clause.verb] == "VBN":
            return self.clause.verb
        fronted = self.relations[last.head] == "pobj" and self.clause.subject < 0 and self.clause.verb < 0
        if chunk.word == "of" or fronted or self.clause.verb < 0 or last.kind == "adjective":
            return last.head
        return last.head if self.relations[last.head] == "pobj" else self.clause.verb

    def _add_mark(self, number: int, chunk: Chunk) -> None:
        word, last = chunk.word, self.last
        if word in _BOTH and not self.clause_follows(number):
            self._add_preposition(number, chunk)
            return
        if word == "that" and last is not None and last.kind == "noun" and self._is_relative(number, last):
            self._add_relative(number, chunk)
            return
        clause = self.clause
        if self.joint >= 0 and clause.verb >= 0:
            # "He said that it rained and that it was cold".
            self.attach(self.joint, clause.verb, "cc")
            self.joint = -1
            self.stack.append(OpenClause("conj", clause.verb))
        elif word in ("that", "whether", "the fact that") or (word == "if" and self._asks()):
            relation, head = self._content_of(last)
            self.stack.append(OpenClause(relation if head >= 0 else "csubj", head, fronted=head < 0))
        elif clause.verb >= 0:
            self.stack.append(OpenClause("advcl", clause.verb))
        else:
            self.stack.append(OpenClause("advcl", clause.subject, fronted=clause.subject < 0))
        self.clause.waiting.append((chunk.head, "mark"))

    def _content_of(self, last: Chunk | None) -> tuple[str, int]:
        """The relation and head of a clause with *that*: of the noun before it, or of the verb or adjective."""
        verb = self.clause.verb
        if last is None or last.kind not in ("noun", "adjective", "verb"):
            return "ccomp", verb
        if last.kind != "noun":
            return "ccomp", last.head
        content = takes_clause(self.lemma(last.head)) and not takes_clause(self.lemma(verb))
        if content or verb < 0 or self.clause.last_object != last.head:
            return "acl", last.head
        return "ccomp", verb

    def _asks(self) -> bool:
        """Whether the open clause's verb takes *if* as *whether*: *he asked if it rained*."""
        verb = self.clause.verb
        return (
            verb >= 0
            and self.last is not None
            and self.lemma(verb) in ("ask", "wonder", "see", "know", "doubt", "check")
            and self.last.kind != "comma"
        )

    def _is_relative(self, number: int, last: Chunk) -> bool:
        """Whether *that* after a noun begins a relative clause and not the content of a *claim* or *said to him*."""
        following = self.next_chunk(number, "adverb")
        if following is not None and following.kind == "verb":
            return True
        noun = base_form(self.words[last.head], "NN")
        verb = self.clause.verb
        return not takes_clause(noun) and not (verb >= 0 and takes_clause(self.lemma(verb)))

    def _add_relative(self, number: int, chunk: Chunk) -> None:
        last = self.last
        if last is not None and last.kind == "comma":
            place = next((k for k in range(number - 1, -1, -1) if self.parts[k].kind != "comma"), -1)
            last = self.parts[place] if place >= 0 else None
        following = self.next_chunk(number, "adverb")
        is_subject = following is not None and following.kind == "verb"
        free = self.words[chunk.head] in ("what", "how", "why", "whatever", "whoever")
        if last is not None and last.kind in ("noun", "preposition") and not free and (number or len(self.stack) > 1):
            noun = last.head if last.kind == "noun" else self.head_before(last.start, {"noun"})
            self.preposition = -1
            self.stack.append(OpenClause("relcl", noun))
        elif self.clause.verb >= 0:
            self.stack.append(OpenClause("ccomp", self.clause.verb))
        elif number:
            self.stack.append(OpenClause("csubj", -1, fronted=True))
        if self.words[chunk.head] == "whose":
            return
        if is_subject:
            self.clause.subject = chunk.head
        else:
            self.clause.waiting.append((chunk.head, "dobj" if self.tags[chunk.head] != "WRB" else "advmod"))

    def _add_joint(self, number: int, chunk: Chunk) -> None:
        self.joint = chunk.head
        if self.last is not None and self.last.kind == "comma" and self.awaits_main():
            self.close_fronted()

    def _add_comma(self, number: int, chunk: Chunk) -> None:
        self.preposition = -1
        clause = self.clause
        if clause.fronted and clause.verb >= 0:
            following = self.next_chunk(number, "adverb", "quote")
            if following is not None and following.kind != "joint":
                self.close_fronted()
        elif clause.relation in ("relcl", "acl") and clause.verb >= 0 and len(self.stack) > 1:
            self.close()

    def _add_break(self, number: int, chunk: Chunk) -> None:
        self.preposition = self.joint = -1
        while len(self.stack) > 1:
            self.close()
        if self.clause.verb >= 0:
            self.stack.append(OpenClause("parataxis", self.clause.verb))


def parse_tags(words: Sequence[str], tags: Sequence[str]) -> DependencyTree:
    """The tree of one sentence, given its words in lower case and their tags."""
    return _LightParser(list(words), list(tags)).build()


_BATCH = 256
_PUNCTUATION = frozenset(".,;:!?)]}'\"”’")


class TaggedTokens(NamedTuple):
    """The tokens of a sentence as written, and their tags."""

    tokens: list[str]
    tags: list[str]


def trees(sentences: Iterator[TaggedTokens], tagger_name: str) -> Iterator[DependencyTree]:
    """The tree of every sentence, in order, by the parser that goes with a tagger."""
    kind, _, rest = tagger(tagger_name).name.partition(":")
    pipeline = _parser(rest.partition(":")[0]) if kind == "spacy" else None
    if pipeline is None:
        for sentence in sentences:
            yield parse_tags([token.lower() for token in sentence.tokens], sentence.tags)
    else:
        yield from pipeline_trees(pipeline, sentences)


@cache
def _parser(pipeline: str) -> Any | None:
    """A pipeline with what its parser needs and no more; None if it has no parser."""
    nlp = import_module("spacy").load(pipeline, exclude=["ner", "lemmatizer", "attribute_ruler", "tagger", "senter"])
    return nlp if "parser" in nlp.pipe_names else None


def pipeline_trees(nlp: Any, sentences: Iterator[TaggedTokens]) -> Iterator[DependencyTree]:
    """The trees that a spaCy pipeline gives, with the sentences' own tokens and tags."""
    document = import_module("spacy.tokens").Doc
    pairs = ((document(nlp.vocab, words=item.tokens, spaces=_spaces(item.tokens)), item) for item in sentences)
    for parse, (tokens, tags) in nlp.pipe(pairs, as_tuples=True, batch_size=_BATCH):
        heads = [-1 if token.head.i == token.i else token.head.i for token in parse]
        relations = ["ROOT" if head < 0 else token.dep_ for head, token in zip(heads, parse, strict=True)]
        yield DependencyTree([token.lower() for token in tokens], tags, heads, relations)


def _spaces(tokens: Sequence[str]) -> list[bool]:
    """Whether a space follows each token: not before punctuation and clitics."""
    later = [*tokens[1:], "."]
    return [token[0] not in _PUNCTUATION and token.lower() not in ("n't", "n’t") for token in later]
