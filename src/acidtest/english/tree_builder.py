"""The state of the light parser: a tree under construction and the stack of its open clauses."""

from __future__ import annotations

from dataclasses import dataclass, field

from acidtest.english.chunks import BE, DO, FINITE_TAGS, HAVE, NOUN_TAGS, VERB_TAGS, Chunk, chunks
from acidtest.english.dependencies import base_form

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
