"""The state of a project, built from the rows of its store: who has which item, what is answered, what comes next.

Rows are only added, so a state is kept up to date by reading new rows. An item has seats, one for each person who
judges it. A claim reserves a seat for one person until it expires, or permanently once it is answered, unless the
person is excluded.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa

from acidtest.annotate import store
from acidtest.annotate.items import EVERYBODY, AnnotationPlan, Item, item_order
from acidtest.core.draws import Draws

_TABLES = (store.annotators, store.secrets, store.claims, store.servings, store.answers, store.undos, store.exclusions)
"""The tables to which rows are added, in reading order: referenced rows first, and answers before exclusions."""

_LATEST_NUMBERS = sa.select(*(sa.select(sa.func.max(table.c.number)).scalar_subquery() for table in _TABLES))

Seat = tuple[int, int]
"""The number of an item (from 1), and the index of one of its seats (from 0)."""


@dataclass
class StoredAnswer:
    """One submission of answers to an item."""

    number: int
    claim: int
    answers: dict[str, Any]
    seconds: float | None
    key: str
    at: float
    undone_at: float | None = None
    passed: bool | None = None
    """Whether the answers to a check are right; None until ``Project.passed`` has computed it."""


@dataclass
class Claim:
    """An item that was given to somebody."""

    number: int
    item: int
    seat: int
    annotator: int
    touched: float
    answers: list[StoredAnswer] = field(default_factory=list)

    @property
    def current_answer(self) -> StoredAnswer | None:
        """The last answer, unless it was taken back."""
        return self.answers[-1] if self.answers and self.answers[-1].undone_at is None else None

    @property
    def place(self) -> Seat:
        return self.item, self.seat


@dataclass
class Person:
    """An annotator and the items given to them."""

    number: int
    name: str
    folded: str
    joined: float
    claims: list[Claim] = field(default_factory=list)
    checks: list[Claim] = field(default_factory=list)
    """The claims that are attention checks."""
    secrets: list[str] = field(default_factory=list)
    excluded: str = ""
    excluded_at: float | None = None

    @property
    def answered(self) -> list[Claim]:
        """The claims that the person has answered, in the order of the answers."""
        answered = [claim for claim in self.claims if claim.current_answer]
        return sorted(answered, key=lambda claim: claim.answers[-1].number)


class ProjectState:
    """Everything that a store knows of its project, in memory."""

    def __init__(self, items: Sequence[Item], plan: AnnotationPlan, seed: int) -> None:
        self.items, self.plan, self._seed = items, plan, seed
        self.people: dict[int, Person] = {}
        self.people_by_name: dict[str, Person] = {}
        self.claims: dict[int, Claim] = {}
        self.answers_by_key: dict[str, StoredAnswer] = {}
        self._answers: dict[int, StoredAnswer] = {}
        self._claims_by_seat: dict[Seat, list[Claim]] = defaultdict(list)
        self._answers_in_seat: Counter[Seat] = Counter()
        self._unanswered: dict[int, Claim] = {}
        self._last_read: Counter[str] = Counter()
        self._is_check = np.array([item.is_check for item in items])
        self._seat_count = np.array([EVERYBODY if item.is_check else item.seats for item in items])
        self._answered_seats = np.zeros(len(items), dtype=np.int64)
        self._category = np.unique([item.category for item in items], return_inverse=True)[1]
        self._order = cache(lambda person: item_order(person, len(items), seed=seed))
        self._holders_cache: tuple[float, dict[Seat, Claim]] | None = None

    def follow(self, connection: sa.Connection) -> None:
        """Read the rows that were added to the store since the last time."""
        latest = connection.execute(_LATEST_NUMBERS).one()
        for table, number in zip(_TABLES, latest, strict=True):
            if (number or 0) > self._last_read[table.name]:
                new = sa.select(table).where(table.c.number > self._last_read[table.name]).order_by(table.c.number)
                for row in connection.execute(new):
                    self._apply(table, row)

    def insert(self, connection: sa.Connection, table: sa.Table, **values: Any) -> int:
        """Add a row to the store and to the state; if the transaction fails, the state must be discarded."""
        number = int(connection.execute(sa.insert(table).returning(table.c.number), values).scalar_one())
        self._apply(table, SimpleNamespace(number=number, **values))
        return number

    def item(self, claim: Claim) -> Item:
        return self.items[claim.item - 1]

    def counts(self, claim: Claim) -> bool:
        """Whether a claim's answer is the one that counts for its seat: the first by a person who is not excluded.

        A seat has two answers if somebody answered late, after the item had gone to another person.
        """
        valid_claims = (rival for rival in self._claims_by_seat[claim.place] if not self._is_excluded(rival))
        answered = [rival for rival in valid_claims if rival.current_answer]
        return bool(answered) and min(answered, key=lambda rival: rival.answers[-1].number) is claim

    def current_claim(self, person: Person, now: float) -> Claim | None:
        """The item that the person works on: the claim last shown or reopened whose seat nobody else has taken."""
        return None if person.excluded else max(self._pending(person, now), key=_freshness, default=None)

    def next_item(self, person: Person, now: float) -> int | None:
        """The number of the item that a person gets next; None if nothing is left."""
        free, checks, given = self._free_items(person, now), self._checks_left(person), self._given_count(person, now)
        if not given and not free.any():
            return None
        items_left = self.plan.per_annotator - given if self.plan.per_annotator is not None else len(self.items)
        available = free if items_left > 0 else np.zeros_like(free)
        if len(checks) and (self._check_is_due(person, given, len(checks)) or not available.any()):
            return int(checks[0]) + 1
        if not available.any():
            return None
        # Agreement is measured on shared items, so they come first for people who could otherwise miss them.
        shared = available & (self._seat_count > 1)
        preferred = shared if self.plan.overlap and shared.sum() >= items_left else available
        return self._first_item(person, preferred, now) + 1

    def add_claim(self, connection: sa.Connection, person: Person, item: int, *, seat: int, at: float) -> Claim:
        """Give an item to a person, in one of its seats."""
        row = {"item": item, "seat": seat, "turn": len(self._claims_by_seat[item, seat]), "annotator": person.number}
        return self.claims[self.insert(connection, store.claims, **row, at=at)]

    def add_answer(self, connection: sa.Connection, claim: Claim, answers: dict[str, Any], **values: Any) -> int:
        """Store answers to a claim, with seconds, key and time; return the number of the answer."""
        row = {"claim": claim.number, "version": len(claim.answers) + 1, "answers": json.dumps(answers)}
        return self.insert(connection, store.answers, **row, **values)

    def free_seat(self, item: int, now: float) -> int:
        """A seat of an item that can be taken."""
        holders = self._holders(now)
        for seat in range(int(self._seat_count[item - 1])):
            if not self._answers_in_seat[item, seat] and (item, seat) not in holders:
                return seat
        raise LookupError(f"item {item} has no free seat")

    def unused_seat(self, item: int) -> int:
        """A seat of an item that was never taken, for imported answers; it may exceed the seats that the item has."""
        return next(seat for seat in count() if not self._claims_by_seat[item, seat])

    def progress(self, person: Person, now: float) -> dict[str, Any]:
        """How much of their share a person has done, and whether to tell them that they are excluded.

        The total may shrink when others take items.
        """
        done, given = len(person.answered), self._given_count(person, now)
        if person.excluded:
            return {"done": done, "total": done, "excluded": not self.plan.finish}
        left = int(self._free_items(person, now).sum())
        if self.plan.per_annotator is not None:
            left = min(left, max(self.plan.per_annotator - given, 0))
        checks = len(self._checks_left(person)) if given or left else 0
        return {"done": done, "total": done + len(self._pending(person, now)) + left + checks, "excluded": False}

    def _apply(self, table: sa.Table, row: Any) -> None:
        if table is store.annotators:
            person = Person(row.number, row.name, row.folded, row.at)
            self.people[row.number] = self.people_by_name[row.folded] = person
        elif table is store.secrets:
            self.people[row.annotator].secrets.append(row.digest)
        elif table is store.claims:
            claim = Claim(row.number, row.item, row.seat, row.annotator, row.at)
            self.claims[row.number] = self._unanswered[row.number] = claim
            self.people[row.annotator].claims.append(claim)
            if self._is_check[row.item - 1]:
                self.people[row.annotator].checks.append(claim)
            self._claims_by_seat[claim.place].append(claim)
        elif table is store.servings:
            claim = self.claims[row.claim]
            claim.touched = max(claim.touched, row.at)
        elif table is store.answers:
            self._apply_answer(self.claims[row.claim], row)
        elif table is store.undos:
            answer = self._answers[row.answer]
            claim = self.claims[answer.claim]
            was_answered = claim.current_answer is not None
            answer.undone_at = row.at
            claim.touched = max(claim.touched, row.at)
            if was_answered and not claim.current_answer:
                self._count_answer(claim, -1)
                self._unanswered[claim.number] = claim
        elif table is store.exclusions:
            person = self.people[row.annotator]
            for claim in person.claims:
                if claim.current_answer and self.plan.reopen:
                    self._count_answer(claim, -1)
                self._unanswered.pop(claim.number, None)
            person.excluded, person.excluded_at = row.reason, row.at
        self._last_read[table.name] = row.number
        self._holders_cache = None

    def _apply_answer(self, claim: Claim, row: Any) -> None:
        answer = StoredAnswer(row.number, row.claim, json.loads(row.answers), row.seconds, row.key, row.at)
        if not claim.current_answer:
            self._count_answer(claim, +1)
        claim.answers.append(answer)
        claim.touched = max(claim.touched, row.at)
        self._answers[row.number] = self.answers_by_key[row.key] = answer
        self._unanswered.pop(claim.number, None)

    def _count_answer(self, claim: Claim, change: int) -> None:
        if self._is_excluded(claim):
            return
        before = self._answers_in_seat[claim.place] > 0
        self._answers_in_seat[claim.place] += change
        self._answered_seats[claim.item - 1] += int(self._answers_in_seat[claim.place] > 0) - int(before)

    def _is_excluded(self, claim: Claim) -> bool:
        return bool(self.people[claim.annotator].excluded)

    def _holders(self, now: float) -> dict[Seat, Claim]:
        """The unexpired claim on each unanswered seat, the latest of several; cached for one value of ``now``."""
        if self._holders_cache and self._holders_cache[0] == now:
            return self._holders_cache[1]
        holders = dict[Seat, Claim]()
        for claim in self._unanswered.values():
            fresh = claim.touched + self.plan.expires > now and not self._is_excluded(claim)
            if fresh and not self._answers_in_seat[claim.place]:
                holders[claim.place] = max(holders.get(claim.place, claim), claim, key=_freshness)
        self._holders_cache = now, holders
        return holders

    def _pending(self, person: Person, now: float) -> list[Claim]:
        """The claims that a person has not answered and whose seat nobody else has taken."""
        holders = self._holders(now)
        return [
            claim
            for claim in person.claims
            if not claim.current_answer
            and not self._answers_in_seat[claim.place]
            and holders.get(claim.place, claim) is claim
        ]

    def _given_count(self, person: Person, now: float) -> int:
        """How many items, checks aside, a person has answered or works on."""
        return sum(not self._is_check[claim.item - 1] for claim in [*person.answered, *self._pending(person, now)])

    def _free_items(self, person: Person, now: float) -> npt.NDArray[np.bool_]:
        """Which items, checks aside, have a seat for a person."""
        free: npt.NDArray[np.bool_] = (self._taken_seats(now) < self._seat_count) & ~self._is_check
        free[[claim.item - 1 for claim in person.claims]] = False
        return free

    def _taken_seats(self, now: float) -> npt.NDArray[np.int64]:
        """How many seats of each item are answered or held."""
        reserved_items = np.array([item - 1 for item, _ in self._holders(now)], dtype=np.int64)
        return self._answered_seats + np.bincount(reserved_items, minlength=len(self.items))

    def _checks_left(self, person: Person) -> npt.NDArray[np.intp]:
        """Indices of the checks that a person has not had, in the person's order."""
        is_left = self._is_check.copy()
        is_left[[claim.item - 1 for claim in person.claims]] = False
        places = np.flatnonzero(is_left)
        return places[np.argsort(self._order(person.folded)[places])]

    def _check_is_due(self, person: Person, given: int, left: int) -> bool:
        """Whether the next check is due: a person's items are cut into equal stretches, each with a check at random."""
        check_count = int(self._is_check.sum())
        span = min(self.plan.per_annotator or 10 * check_count, len(self.items) - check_count)
        seen = check_count - left
        draws = Draws(self._seed, "annotate")
        offset = draws.choices(np.array([seen], dtype=np.uint64), 1 << 16, "control", person.folded)[0] / (1 << 16)
        return bool(given >= (seen + offset) * span / check_count)

    def _first_item(self, person: Person, available: npt.NDArray[np.bool_], now: float) -> int:
        """The index of the item that a person gets first.

        If items have categories, prefer those with the fewest seats taken, then the category that the person has seen
        least, then the category with the most items left. This keeps the number of judgements per item even, and
        nobody sees a category twice unnecessarily.
        """
        places = np.flatnonzero(available)
        order = self._order(person.folded)
        if not self.plan.category:
            return int(places[np.argmin(order[places])])
        taken = self._taken_seats(now)[places]
        places = places[taken == taken.min()]
        categories = self._category[places]
        seen = [self._category[claim.item - 1] for claim in person.claims if not self._is_check[claim.item - 1]]
        times_seen = np.bincount(seen, minlength=int(self._category.max()) + 1)[categories]
        items_left = np.bincount(categories)[categories]
        return int(places[np.lexsort((order[places], -items_left, times_seen))[0]])


def _freshness(claim: Claim) -> tuple[float, int]:
    return claim.touched, claim.number
