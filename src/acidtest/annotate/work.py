"""What annotators do: join, get an item, answer it, take an answer back. Every step is one transaction of the store."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import time
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from threading import Lock
from typing import Any

import sqlalchemy as sa

from acidtest.annotate import store
from acidtest.annotate.conditions import resolve_gold, written_conditions
from acidtest.annotate.forms import FormError, form_checker, is_text
from acidtest.annotate.items import CONTROL, passed
from acidtest.annotate.plans import EVERYBODY, Plan
from acidtest.annotate.state import Answer, Claim, Person, State
from acidtest.annotate.store import Store, questionnaire_of
from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.structured import parse_toml

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
        self.written = parse_toml(row.questionnaire.encode(), f"{row.name}.toml")
        self._seed = int(row.seed)
        self._items = kept.items()
        self._state: State | None = None
        self._using = Lock()
        self._checked = form_checker(self.questionnaire)

    def join(self, name: str, *, proof: str = "") -> Joined:
        """Take a name that nobody has; the secret proves it from then on.

        Who comes again with the same ``proof``, because the reply got lost, gets the same name and another secret.
        """
        shown, secret = _name(name), secrets.token_urlsafe(24)
        with self.changing() as (connection, state):
            at, person = self._clock(), state.named.get(folded_name(shown))
            if person is None:
                number = state.insert(connection, store.annotators, name=shown, folded=folded_name(shown), at=at)
                person = state.people[number]
                if proof:
                    state.insert(connection, store.secrets, annotator=number, digest=_digest(proof), at=at)
            elif not proof or _proven(state, shown, proof) is None:
                raise RefusedError(409, f"there is already somebody called {shown!r}; choose another name")
            state.insert(connection, store.secrets, annotator=person.number, digest=_digest(secret), at=at)
        return Joined(person.name, secret)

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
        failed: Exception | None = None
        with self.changing() as (connection, state):
            person = self._person(state, name)
            claim = self._own_claim(state, person, assignment)
            earlier = state.keys.get(key)
            if earlier and earlier.claim != claim.number:
                raise RefusedError(409, "this key was used for another answer; make a new one")
            if not earlier:
                said = json.dumps(self._form(answers, state.items[claim.item - 1].gold_name))
                told = {"claim": claim.number, "version": len(claim.answers) + 1, "answers": said}
                state.insert(connection, store.answers, **told, seconds=seconds, key=key, at=self._clock())
            try:
                with connection.begin_nested():
                    if not earlier and not self.plan.finish:
                        self._exclude_if_failed(connection, state, person, but=claim)
                    following = self._next(connection, state, person)
            except Exception as error:
                # What was said is kept, whatever stands in the way of going on.
                failed, self._state = error, None
        if failed:
            raise failed
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
        with self.state() as state:
            now = self._clock()
            people = [self._told(state, person, now) for person in state.people.values()]
            plain = [item for item in state.items if item.role != CONTROL]
            excluded = {person.number for person in state.people.values() if self.exclusion(state, person)}
            items = [claim for claim in state.claims.values() if state.items[claim.item - 1].role != CONTROL]
            counted = [claim for claim in items if state.counts(claim) and claim.annotator not in excluded]
            return {
                "plan": self.plan.name,
                "items": len(plain),
                "controls": len(state.items) - len(plain),
                "judgements": len(counted),
                "excluded": sum(1 for claim in items if claim.standing and claim.annotator in excluded),
                "wanted": sum(item.seats for item in plain) if all(i.seats < EVERYBODY for i in plain) else None,
                "annotators": people,
            }

    @contextmanager
    def state(self) -> Iterator[State]:
        """The state of the project, to look at."""
        with self._reading() as state:
            absent = self._absent(state, self._clock())
        if absent:
            with self.changing() as (connection, state):
                self._exclude_absent(connection, state)
        with self._reading() as state:
            yield state

    def _form(self, answers: dict[str, Any], gold: str | None) -> dict[str, Any]:
        try:
            return self._checked(answers, gold)
        except FormError as error:
            raise RefusedError(422, str(error), error.question) from error

    def _next(self, connection: sa.Connection, state: State, person: Person) -> dict[str, Any]:
        self._exclude_absent(connection, state)
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
            reason = EXCLUDED if person.excluded and not self.plan.finish else NOTHING_LEFT
            return {"finished": True, "reason": reason, "progress": asdict(state.progress(person, now))}
        return self._shown(connection, state, person, claim)

    def _shown(self, connection: sa.Connection, state: State, person: Person, claim: Claim) -> dict[str, Any]:
        now = self._clock()
        state.insert(connection, store.servings, claim=claim.number, at=now)
        last = claim.answers[-1] if claim.answers else None
        item = state.items[claim.item - 1]
        return {
            "assignment": claim.number,
            # Ids are not for annotators: they may tell the label, or that it is a control.
            "item": {"fields": item.fields},
            **({"conditions": self._conditions(item.gold_name)} if self.questionnaire.asks_by_gold else {}),
            "answers": last.answers if last else None,
            "seconds": last.seconds if last else None,
            "progress": asdict(state.progress(person, now)),
        }

    def _conditions(self, gold: str | None) -> dict[str, Any]:
        """When each question is asked of an item; gold itself is not told."""
        return {name: resolve_gold(when, gold) for name, when in written_conditions(self.written).items()}

    def _exclude_if_failed(
        self, connection: sa.Connection, state: State, person: Person, *, but: Claim | None = None
    ) -> None:
        """Exclude a person who failed too many controls; a slip may be taken back until the answer after it."""
        reason = self._failure(state, person, but=but)
        # Who goes on to the end keeps the seats, unless they are to go to others: then all must know.
        if reason and not person.excluded and (self.plan.reopen or not self.plan.finish):
            state.insert(connection, store.exclusions, annotator=person.number, reason=reason, at=self._clock())

    def exclusion(self, state: State, person: Person) -> str:
        """Why a person's answers are left out of the results; empty where they count."""
        return person.excluded or (self._failure(state, person) if self.plan.finish else "")

    def _failure(self, state: State, person: Person, *, but: Claim | None = None) -> str:
        """Which controls a person failed, where they are too many; empty where they are not."""
        failed = [claim for claim in self._failed(state, person) if claim is not but]
        if not self.plan.fail_after or len(failed) < self.plan.fail_after:
            return ""
        return f"failed control {', '.join(state.items[claim.item - 1].id for claim in failed)}"

    def _exclude_absent(self, connection: sa.Connection, state: State) -> None:
        for person in self._absent(state, self._clock()):
            self._exclude_if_failed(connection, state, person)

    def _absent(self, state: State, now: float) -> list[Person]:
        """Who failed too many controls and left: no answer came after it while a claim would have held."""
        if self.plan.finish and not self.plan.reopen:
            return []
        return [
            person
            for person in state.people.values()
            if not person.excluded and self._failure(state, person)
            if person.answered[-1].answers[-1].at + self.plan.expires <= now
        ]

    def _failed(self, state: State, person: Person) -> list[Claim]:
        return [claim for claim in person.controls if claim.standing and self.passed(state, claim.answers[-1]) is False]

    def passed(self, state: State, answer: Answer) -> bool | None:
        """Whether an answer to a control is right; None where nobody said what is, or it is of no control."""
        item = state.items[state.claims[answer.claim].item - 1]
        if item.expected and answer.passed is None:
            answer.passed = passed(item.expected, answer.answers, self.questionnaire, item.gold_name)
        return answer.passed

    def _told(self, state: State, person: Person, now: float) -> dict[str, Any]:
        answered = person.answered
        seconds = [claim.answers[-1].seconds for claim in answered if claim.answers[-1].seconds is not None]
        return {
            "annotator": person.name,
            **asdict(state.progress(person, now)),
            "excluded": bool(self.exclusion(state, person)),
            "reason": self.exclusion(state, person) or None,
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


def _name(given: str) -> str:
    shown = " ".join(unicodedata.normalize("NFC", given).split()) if is_text(given) else ""
    if not 1 <= len(shown) <= LONGEST_NAME or not shown.isprintable():
        raise RefusedError(422, f"a name has 1 to {LONGEST_NAME} characters that can be printed")
    return shown


def folded_name(name: str) -> str:
    """Names that people take for the same are the same."""
    return unicodedata.normalize("NFKC", " ".join(name.split())).casefold()


def _digest(secret: str) -> str:
    # The secrets are long and random: nobody guesses them, so a plain digest is enough.
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
