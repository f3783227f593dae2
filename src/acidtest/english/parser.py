"""Dependency trees of tagged sentences without a trained parser: chunks attached from left to right.

The parser keeps a stack of open clauses. A connective, a relative pronoun or a noun phrase with a verb of its own opens
one; a verb without a place in it, or a comma after a fronted clause, closes it. It is meant for clauses, heads and
scopes, not for every attachment: prepositional phrases go to the word before them.
"""

from __future__ import annotations

from collections.abc import Sequence

from acidtest.english.chunks import BE, FINITE_TAGS, Chunk
from acidtest.english.dependencies import DependencyTree, base_form
from acidtest.english.operators import takes_clause, takes_infinitive
from acidtest.english.tree_builder import NEGATIONS, OpenClause, TreeBuilder
from acidtest.english.wordnet import noun_kind

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
