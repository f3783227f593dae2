"""A running annotation project: annotators join, get items, answer them and take answers back.

Every step is one transaction of the store.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import sqlalchemy as sa

from acidtest.annotate import store
from acidtest.annotate.answers import RequestError, form_checker, is_storable
from acidtest.annotate.conditions import resolve_gold
from acidtest.annotate.items import EVERYBODY, AnnotationPlan, passes_check
from acidtest.annotate.questionnaires import parse_questionnaire
from acidtest.annotate.state import Claim, Person, ProjectState, StoredAnswer
from acidtest.annotate.store import Store
from acidtest.core.errors import UnknownNameError

LONGEST_NAME = 80
EXCLUDED = "Some of the pairs were there to check whether they are read, and were not answered as expected."
NOTHING_LEFT = "There is nothing left for you to judge."


@dataclass(frozen=True)
class Credentials:
    """The name of an annotator, and a secret that proves it."""

    name: str
    secret: str


class Project:
    """A project in a store, for annotators and for whoever runs it; safe in several threads and processes."""

    def __init__(self, database: Store, *, clock: Callable[[], float] = time.time) -> None:
        row = database.project()
        self.store, self._clock = database, clock
        self.id = f"{row.fingerprint}-{row.at}"
        self.plan = AnnotationPlan.from_json(row.plan)
        self.questionnaire = parse_questionnaire(row.questionnaire.encode(), Path(f"{row.name}.toml"))
        self._seed = int(row.seed)
        self._items = database.items()
        self._state: ProjectState | None = None
        self._lock = Lock()
        self._check_form = form_checker(self.questionnaire)

    def join(self, name: str, *, proof: str = "") -> Credentials:
        """Register an annotator under a free name, and return the secret that authenticates them from then on.

        If the reply is lost, joining again with the same name and ``proof`` returns a new secret.
        """
        tidy_name = _check_name(name)
        with self.transaction() as (connection, state):
            at, person = self._clock(), state.people_by_name.get(fold_name(tidy_name))
            if person is None:
                number = state.insert(connection, store.annotators, name=tidy_name, folded=fold_name(tidy_name), at=at)
                person = state.people[number]
                if proof:
                    state.insert(connection, store.secrets, annotator=number, digest=_digest(proof), at=at)
            elif not proof or not _has_secret(person, proof):
                raise RequestError(409, f"there is already somebody called {tidy_name!r}; choose another name")
            return self._add_secret(connection, state, person)

    def readmit(self, name: str) -> Credentials:
        """A new secret for somebody who has lost the first one; the first stays valid."""
        with self.transaction() as (connection, state):
            person = state.people_by_name.get(fold_name(name))
            if person is None:
                raise UnknownNameError("annotator", name, [person.name for person in state.people.values()])
            return self._add_secret(connection, state, person)

    def authenticate(self, name: str, secret: str) -> str | None:
        """The name of an annotator as it was first written, if the secret proves it; otherwise None."""
        with self._lock:
            # Secrets never expire, so one that is already in memory need not be looked up in the store.
            known_name = self._state and _authenticate(self._state, name, secret)
        if known_name:
            return known_name
        with self._reading() as state:
            return _authenticate(state, name, secret)

    def next(self, name: str) -> dict[str, Any]:
        """The item to judge now, the same one until it is answered; or the reason why there is none."""
        with self.transaction() as (connection, state):
            return self._next(connection, state, _find_person(state, name))

    def answer(
        self, name: str, assignment: int, answers: dict[str, Any], *, key: str, seconds: float | None
    ) -> dict[str, Any]:
        """Store answers, and return what comes next; a repeated request with the same key stores nothing."""
        failure: Exception | None = None
        with self.transaction() as (connection, state):
            person = _find_person(state, name)
            claim = state.claims.get(assignment)
            if claim is None or claim.annotator != person.number:
                raise RequestError(403, f"assignment {assignment} is not yours; load the page again")
            earlier = state.answers_by_key.get(key)
            if earlier and earlier.claim != claim.number:
                raise RequestError(409, "this key was used for another answer; make a new one")
            if not earlier:
                checked = self._check_form(answers, state.item(claim).gold_name)
                state.add_answer(connection, claim, checked, seconds=seconds, key=key, at=self._clock())
            try:
                with connection.begin_nested():
                    if not earlier and not self.plan.finish:
                        self._exclude_if_failed(connection, state, person, ignored=claim)
                    next_step = self._next(connection, state, person)
            except Exception as error:
                # The answers are kept, even if the next item cannot be found.
                failure, self._state = error, None
        if failure:
            raise failure
        return {"progress": next_step["progress"], "next": next_step}

    def undo(self, name: str) -> dict[str, Any]:
        """Take back the annotator's last answer and show its item again; the store keeps the answer."""
        with self.transaction() as (connection, state):
            person = _find_person(state, name)
            if person.excluded:
                raise RequestError(409, "your part is over; nothing can be taken back")
            if not person.answered:
                raise RequestError(409, "there is no answer to take back")
            claim = person.answered[-1]
            state.insert(connection, store.undos, answer=claim.answers[-1].number, at=self._clock())
            return self._serve(connection, state, person, claim)

    def progress(self, name: str) -> dict[str, Any]:
        with self._reading() as state:
            return state.progress(_find_person(state, name), self._clock())

    def overview(self) -> dict[str, Any]:
        """How far everybody has come, and who failed checks."""
        with self.state() as state:
            now = self._clock()
            people = [self._describe_person(state, person, now) for person in state.people.values()]
            items = [item for item in state.items if not item.is_check]
            excluded = {person.number for person in state.people.values() if self.exclusion_reason(state, person)}
            claims = [claim for claim in state.claims.values() if not state.item(claim).is_check]
            counted = [claim for claim in claims if state.counts(claim) and claim.annotator not in excluded]
            bounded = all(item.seats < EVERYBODY for item in items)
            return {
                "plan": self.plan.name,
                "items": len(items),
                "controls": len(state.items) - len(items),
                "judgements": len(counted),
                "excluded": sum(1 for claim in claims if claim.current_answer and claim.annotator in excluded),
                "wanted": sum(item.seats for item in items) if bounded else None,
                "annotators": people,
            }

    @contextmanager
    def state(self) -> Iterator[ProjectState]:
        """The state for reading, after people who failed checks and left have been excluded."""
        with self._reading() as state:
            absent = self._absent_failed_people(state)
        if absent:
            with self.transaction() as (connection, state):
                for person in self._absent_failed_people(state):
                    self._exclude_if_failed(connection, state, person)
        with self._reading() as state:
            yield state

    @contextmanager
    def transaction(self) -> Iterator[tuple[sa.Connection, ProjectState]]:
        """A transaction, with the current state; if it fails, the state is rebuilt from the store next time."""
        with self._lock:
            try:
                with self.store.writing() as connection:
                    yield connection, self._update_state(connection)
            except RequestError:
                # A request is refused before anything is written, so the state is still valid.
                raise
            except BaseException:
                self._state = None
                raise

    def exclusion_reason(self, state: ProjectState, person: Person) -> str:
        """Why a person's answers are left out of the results; empty if they count."""
        return person.excluded or (self._failure_reason(state, person) if self.plan.finish else "")

    def passed(self, state: ProjectState, answer: StoredAnswer) -> bool | None:
        """Whether an answer to a check is right; None if the item is not a check, or its right answer is not known."""
        item = state.item(state.claims[answer.claim])
        if item.expected and answer.passed is None:
            answer.passed = passes_check(item.expected, answer.answers, self.questionnaire, item.gold_name)
        return answer.passed

    def _next(self, connection: sa.Connection, state: ProjectState, person: Person) -> dict[str, Any]:
        for absent in self._absent_failed_people(state):
            self._exclude_if_failed(connection, state, absent)
        now = self._clock()
        claim = state.current_claim(person, now)
        if claim is None and not person.excluded:
            item = state.next_item(person, now)
            if item is None:
                self._exclude_if_failed(connection, state, person)
            else:
                claim = state.add_claim(connection, person, item, seat=state.free_seat(item, now), at=now)
        if claim is None:
            reason = EXCLUDED if person.excluded and not self.plan.finish else NOTHING_LEFT
            return {"finished": True, "reason": reason, "progress": state.progress(person, now)}
        return self._serve(connection, state, person, claim)

    def _serve(self, connection: sa.Connection, state: ProjectState, person: Person, claim: Claim) -> dict[str, Any]:
        """Record that an item is shown, and return what the page needs."""
        now = self._clock()
        state.insert(connection, store.servings, claim=claim.number, at=now)
        last = claim.answers[-1] if claim.answers else None
        item = state.item(claim)
        shown = {
            "assignment": claim.number,
            # The id is not sent: it may reveal the label, or that the item is a check.
            "item": {"fields": item.fields},
            "answers": last.answers if last else None,
            "seconds": last.seconds if last else None,
            "progress": state.progress(person, now),
        }
        if self.questionnaire.asks_by_gold:
            # The gold label itself is not sent.
            conditions = {question.id: question.when for question in self.questionnaire.questions}
            shown["conditions"] = {name: resolve_gold(when, item.gold_name) for name, when in conditions.items()}
        return shown

    def _add_secret(self, connection: sa.Connection, state: ProjectState, person: Person) -> Credentials:
        secret = secrets.token_urlsafe(24)
        state.insert(connection, store.secrets, annotator=person.number, digest=_digest(secret), at=self._clock())
        return Credentials(person.name, secret)

    def _exclude_if_failed(
        self, connection: sa.Connection, state: ProjectState, person: Person, *, ignored: Claim | None = None
    ) -> None:
        """Exclude a person who failed too many checks, not counting ``ignored``, whose answer can still be undone."""
        reason = self._failure_reason(state, person, ignored=ignored)
        # With ``finish``, people who failed keep their seats, unless ``reopen`` gives the seats to others.
        if reason and not person.excluded and (self.plan.reopen or not self.plan.finish):
            state.insert(connection, store.exclusions, annotator=person.number, reason=reason, at=self._clock())

    def _failure_reason(self, state: ProjectState, person: Person, *, ignored: Claim | None = None) -> str:
        """Why a person is to be excluded, naming the failed checks; empty if they failed too few."""
        failed = [claim for claim in self._failed_checks(state, person) if claim is not ignored]
        if not self.plan.fail_after or len(failed) < self.plan.fail_after:
            return ""
        return f"failed control {', '.join(state.item(claim).id for claim in failed)}"

    def _absent_failed_people(self, state: ProjectState) -> list[Person]:
        """People who failed too many checks and have not answered for as long as a claim takes to expire."""
        if self.plan.finish and not self.plan.reopen:
            return []
        now = self._clock()
        return [
            person
            for person in state.people.values()
            if not person.excluded and self._failure_reason(state, person)
            if person.answered[-1].answers[-1].at + self.plan.expires <= now
        ]

    def _failed_checks(self, state: ProjectState, person: Person) -> list[Claim]:
        answered = [claim for claim in person.checks if claim.current_answer]
        return [claim for claim in answered if self.passed(state, claim.answers[-1]) is False]

    def _describe_person(self, state: ProjectState, person: Person, now: float) -> dict[str, Any]:
        answered, reason = person.answered, self.exclusion_reason(state, person)
        seconds = [claim.answers[-1].seconds for claim in answered if claim.answers[-1].seconds is not None]
        return {
            "annotator": person.name,
            **state.progress(person, now),
            "excluded": bool(reason),
            "reason": reason or None,
            "controls": sum(1 for claim in answered if state.item(claim).is_check),
            "failed_controls": [state.item(claim).id for claim in self._failed_checks(state, person)],
            "mean_seconds": sum(seconds) / len(seconds) if seconds else None,
            "last_answer": max((claim.answers[-1].at for claim in answered), default=None),
        }

    @contextmanager
    def _reading(self) -> Iterator[ProjectState]:
        with self._lock:
            with self.store.reading() as connection:
                state = self._update_state(connection)
            yield state

    def _update_state(self, connection: sa.Connection) -> ProjectState:
        if self._state is None:
            self._state = ProjectState(self._items, self.plan, self._seed)
        self._state.follow(connection)
        return self._state


def fold_name(name: str) -> str:
    """A normal form of a name, without differences in case, spacing or Unicode form."""
    return unicodedata.normalize("NFKC", " ".join(name.split())).casefold()


def _find_person(state: ProjectState, name: str) -> Person:
    person = state.people_by_name.get(fold_name(name))
    if person is None:
        raise RequestError(403, "join first")
    return person


def _authenticate(state: ProjectState, name: str, secret: str) -> str | None:
    person = state.people_by_name.get(fold_name(name))
    return person.name if person and _has_secret(person, secret) else None


def _has_secret(person: Person, secret: str) -> bool:
    digest = _digest(secret)
    # All are compared, so that the time does not depend on which one matches.
    return sum(hmac.compare_digest(known, digest) for known in person.secrets) > 0


def _check_name(written: str) -> str:
    name = " ".join(unicodedata.normalize("NFC", written).split()) if is_storable(written) else ""
    if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
        raise RequestError(422, f"a name has 1 to {LONGEST_NAME} printable characters")
    return name


def _digest(secret: str) -> str:
    # The secrets are long and random and cannot be guessed, so a plain digest is enough.
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
