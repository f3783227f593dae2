"""What annotators do: join, get an item, answer it, take an answer back. Every step is one transaction of the store."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import time
import tomllib
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import lru_cache
from threading import Lock
from typing import Any

import polars as pl
import sqlalchemy as sa

from acidtest.annotate import store
from acidtest.annotate.answers import RowError, checked_answers
from acidtest.annotate.items import CONTROL, passed
from acidtest.annotate.outcomes import outcomes
from acidtest.annotate.plans import EVERYBODY, Plan
from acidtest.annotate.questionnaires import Question
from acidtest.annotate.state import Claim, Person, State
from acidtest.annotate.store import Store, questionnaire_of
from acidtest.core.errors import AcidtestError, UnknownNameError

LONGEST_NAME = 80
EXCLUDED = "Some of the pairs were there to see whether they are read, and were not answered as they must be."
NOTHING_LEFT = "There is nothing left for you to judge."


class RefusedError(AcidtestError):
    """Something an annotator may not do; ``status`` is that of HTTP."""

    def __init__(self, status: int, problem: str, question: str | None = None) -> None:
        self.status, self.question = status, question
        super().__init__(problem)


@dataclass(frozen=True)
class Joined:
    """An annotator who has just joined, and the secret by which the person is known from now on."""

    name: str
    secret: str


class Work:
    """A project in a store, as annotators and whoever watches them use it; safe in several threads and processes."""

    def __init__(self, kept: Store, *, clock: Callable[[], float] = time.time) -> None:
        row = kept.project()
        self.store, self._clock = kept, clock
        self.id = f"{row.fingerprint}-{row.at}"
        self.plan = Plan.from_json(row.plan)
        self.questionnaire = questionnaire_of(row)
        self.written: dict[str, Any] = tomllib.loads(row.questionnaire)
        self._seed = int(row.seed)
        self._items = kept.items()
        self._state: State | None = None
        self._using = Lock()
        self._checked = lru_cache(maxsize=4096)(self._check)

    def join(self, name: str) -> Joined:
        """Take a name that nobody has; the secret proves it from then on."""
        shown = _name(name)
        secret = secrets.token_urlsafe(24)
        with self.changing() as (connection, state):
            if folded_name(shown) in state.named:
                raise RefusedError(409, f"there is already somebody called {shown!r}; choose another name")
            at = self._clock()
            number = state.insert(connection, store.annotators, name=shown, folded=folded_name(shown), at=at)
            state.insert(connection, store.secrets, annotator=number, digest=_digest(secret), at=at)
        return Joined(shown, secret)

    def readmit(self, name: str) -> Joined:
        """A new secret for somebody who has lost the first one; that one stays good."""
        secret = secrets.token_urlsafe(24)
        with self.changing() as (connection, state):
            person = state.named.get(folded_name(name))
            if person is None:
                raise UnknownNameError("annotator", name, [each.name for each in state.people.values()])
            state.insert(connection, store.secrets, annotator=person.number, digest=_digest(secret), at=self._clock())
        return Joined(person.name, secret)

    def annotator(self, name: str, secret: str) -> str | None:
        """The name of an annotator who proves it with a secret; None where it is forged."""
        with self._using:
            # Who was once handed a secret is known by it for ever: no need to look whether there is more.
            found = self._state and _proven(self._state, name, secret)
        if found:
            return found
        with self._reading() as state:
            return _proven(state, name, secret)

    def next(self, name: str) -> dict[str, Any]:
        """What the annotator is to judge now, the same again until it is answered; or why there is nothing."""
        with self.changing() as (connection, state):
            return self._next(connection, state, self._person(state, name))

    def answer(
        self, name: str, assignment: int, answers: dict[str, Any], *, key: str, seconds: float | None
    ) -> dict[str, Any]:
        """Keep what the annotator said, and give what comes next; the same key again changes nothing."""
        said = self.checked(answers)
        with self.changing() as (connection, state):
            person = self._person(state, name)
            claim = self._own_claim(state, person, assignment)
            earlier = state.keys.get(key)
            if earlier and earlier.claim != claim.number:
                raise RefusedError(409, "this key was used for another answer; make a new one")
            if not earlier:
                told = {"claim": claim.number, "version": len(claim.answers) + 1, "answers": json.dumps(said)}
                state.insert(connection, store.answers, **told, seconds=seconds, key=key, at=self._clock())
                self._exclude_if_failed(connection, state, person, but=claim)
            following = self._next(connection, state, person)
            return {"progress": following["progress"], "next": following}

    def undo(self, name: str) -> dict[str, Any]:
        """Open the annotator's last answer again; it stays in the store."""
        with self.changing() as (connection, state):
            person = self._person(state, name)
            if person.excluded:
                raise RefusedError(409, "your part is over; nothing can be taken back")
            if not person.answered:
                raise RefusedError(409, "there is no answer to take back")
            claim = person.answered[-1]
            state.insert(connection, store.undos, answer=claim.answers[-1].number, at=self._clock())
            return self._shown(connection, state, person, claim)

    def progress(self, name: str) -> dict[str, Any]:
        """How far the annotator has come."""
        with self._reading() as state:
            return asdict(state.progress(self._person(state, name), self._clock()))

    def overview(self) -> dict[str, Any]:
        """How far everybody has come, and who failed controls."""
        with self._reading() as state:
            now = self._clock()
            people = [self._told(state, person, now) for person in state.people.values()]
            plain = [item for item in state.items if item.role != CONTROL]
            counted = [claim.item for claim in state.claims.values() if state.counts(claim)]
            judged = sum(1 for item in counted if state.items[item - 1].role != CONTROL)
            return {
                "plan": self.plan.name,
                "items": len(plain),
                "controls": len(state.items) - len(plain),
                "judgements": judged,
                "wanted": sum(item.seats for item in plain) if all(i.seats < EVERYBODY for i in plain) else None,
                "annotators": people,
            }

    @contextmanager
    def state(self) -> Iterator[State]:
        """The state of the project, to look at."""
        with self._reading() as state:
            yield state

    def checked(self, answers: dict[str, Any]) -> dict[str, Any]:
        """Answers as the questionnaire spells them, without those that say nothing; an error names the question."""
        questions = {question.id: question for question in self.questionnaire.questions}
        for name in answers:
            if name not in questions:
                raise RefusedError(422, str(UnknownNameError("question", name, questions)), name)
        given = {name: _typed(answers.get(name), question) for name, question in questions.items()}
        return dict(json.loads(self._checked(json.dumps(given))))

    def _check(self, written: str) -> str:
        """Answers as the questionnaire spells them, all in JSON, so that those given often are checked once."""
        questions = {question.id: question for question in self.questionnaire.questions}
        given = json.loads(written)
        types = {name: pl.List(pl.String) if q.takes_several else pl.String for name, q in questions.items()}
        frame = pl.DataFrame(
            {"item": ["item"], "annotator": ["annotator"], **{name: [value] for name, value in given.items()}},
            schema_overrides=types,
        )
        try:
            found = checked_answers(frame, self.questionnaire)
            outcomes(self.questionnaire, found.frame)
        except RowError as error:
            named = next((name for name in questions if f"question {name!r}" in error.problem), None)
            raise RefusedError(422, error.problem, named) from error
        row = found.frame.row(0, named=True)
        return json.dumps({name: row[name] for name in questions if row[name] not in (None, [])})

    def _next(self, connection: sa.Connection, state: State, person: Person) -> dict[str, Any]:
        now = self._clock()
        claim = state.current(person, now)
        if claim is None and not person.excluded:
            item = state.next_item(person, now)
            if item is None:
                self._exclude_if_failed(connection, state, person)
            else:
                seat, turn = state.free_seat(item, now)
                told = {"item": item, "seat": seat, "turn": turn, "annotator": person.number}
                number = state.insert(connection, store.claims, **told, at=now)
                claim = state.claims[number]
        if claim is None:
            reason = EXCLUDED if person.excluded else NOTHING_LEFT
            return {"finished": True, "reason": reason, "progress": asdict(state.progress(person, now))}
        return self._shown(connection, state, person, claim)

    def _shown(self, connection: sa.Connection, state: State, person: Person, claim: Claim) -> dict[str, Any]:
        now = self._clock()
        state.insert(connection, store.servings, claim=claim.number, at=now)
        item = state.items[claim.item - 1]
        return {
            "assignment": claim.number,
            "item": {"id": item.id, "fields": item.fields},
            "answers": claim.answers[-1].answers if claim.answers else None,
            "progress": asdict(state.progress(person, now)),
        }

    def _exclude_if_failed(
        self, connection: sa.Connection, state: State, person: Person, *, but: Claim | None = None
    ) -> None:
        """Exclude a person who failed too many controls; a slip may be taken back until the answer after it."""
        failed = [claim for claim in self._failed(state, person) if claim is not but]
        if self.plan.fail_after and len(failed) >= self.plan.fail_after and not person.excluded:
            names = ", ".join(state.items[claim.item - 1].id for claim in failed)
            reason = f"failed control {names}"
            state.insert(connection, store.exclusions, annotator=person.number, reason=reason, at=self._clock())

    def _failed(self, state: State, person: Person) -> list[Claim]:
        found = []
        for claim in person.answered:
            expected = state.items[claim.item - 1].expected
            if expected and not passed(expected, claim.answers[-1].answers, self.questionnaire):
                found.append(claim)
        return found

    def _told(self, state: State, person: Person, now: float) -> dict[str, Any]:
        answered = person.answered
        seconds = [claim.answers[-1].seconds for claim in answered if claim.answers[-1].seconds is not None]
        return {
            "annotator": person.name,
            **asdict(state.progress(person, now)),
            "reason": person.excluded or None,
            "controls": sum(1 for claim in answered if state.items[claim.item - 1].role == CONTROL),
            "failed_controls": [state.items[claim.item - 1].id for claim in self._failed(state, person)],
            "mean_seconds": sum(seconds) / len(seconds) if seconds else None,
            "last_answer": max((claim.answers[-1].at for claim in answered), default=None),
        }

    def _person(self, state: State, name: str) -> Person:
        person = state.named.get(folded_name(name))
        if person is None:
            raise RefusedError(403, "join first")
        return person

    def _own_claim(self, state: State, person: Person, assignment: int) -> Claim:
        claim = state.claims.get(assignment)
        if claim is None or claim.annotator != person.number:
            raise RefusedError(403, f"assignment {assignment} is not yours; load the page again")
        return claim

    @contextmanager
    def changing(self) -> Iterator[tuple[sa.Connection, State]]:
        """A transaction, with the state as it is then; where it fails the state is read anew."""
        with self._using:
            try:
                with self.store.writing() as connection:
                    state = self._followed(connection)
                    yield connection, state
            except RefusedError:
                # Whoever refuses does so before anything is written.
                raise
            except BaseException:
                self._state = None
                raise

    @contextmanager
    def _reading(self) -> Iterator[State]:
        with self._using:
            with self.store.reading() as connection:
                state = self._followed(connection)
            yield state

    def _followed(self, connection: sa.Connection) -> State:
        if self._state is None:
            self._state = State(self._items, self.plan, self._seed)
        self._state.follow(connection)
        return self._state


def _proven(state: State, name: str, secret: str) -> str | None:
    person = state.named.get(folded_name(name))
    given = _digest(secret)
    known = [hmac.compare_digest(each, given) for each in person.secrets] if person else []
    return person.name if person and any(known) else None


def _typed(answer: Any, question: Question) -> str | list[str] | None:
    """An answer as text, or as texts where several may be given; anything else is refused."""
    several = isinstance(answer, list)
    texts = answer if isinstance(answer, list) else [] if answer is None else [answer]
    if not all(isinstance(text, str) for text in texts) or (several and not question.takes_several):
        kind = "a list of texts" if question.takes_several else "a text"
        raise RefusedError(422, f"question {question.id!r}: the answer must be {kind}", question.id)
    for text in texts:
        if not _is_text(text):
            raise RefusedError(422, f"question {question.id!r}: holds characters that are none", question.id)
    if question.takes_several:
        return list(texts)
    return texts[0] if texts else None


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def _name(given: str) -> str:
    shown = " ".join(unicodedata.normalize("NFC", given).split()) if _is_text(given) else ""
    if not 1 <= len(shown) <= LONGEST_NAME or not shown.isprintable():
        raise RefusedError(422, f"a name has 1 to {LONGEST_NAME} characters that can be printed")
    return shown


def folded_name(name: str) -> str:
    """Names that people take for the same are the same."""
    return unicodedata.normalize("NFKC", " ".join(name.split())).casefold()


def _digest(secret: str) -> str:
    # The secrets are long and random: nobody guesses them, so a plain digest is enough.
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
