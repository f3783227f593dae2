"""Where a project stands, from the rows of its store: who holds what, what is answered, and what comes next.

Rows are only added, so a state follows its store by reading what is new. An item has seats, one for each person that
judges it. A claim takes a seat for one person; it holds while it is fresh, and for good once it is answered, unless the
person is excluded.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa

from acidtest.annotate import store
from acidtest.annotate.items import CONTROL, Item, order
from acidtest.annotate.plans import EVERYBODY, Plan
from acidtest.core.draws import U64, Draws

FOLLOWED = (
    store.annotators,
    store.secrets,
    store.claims,
    store.servings,
    store.answers,
    store.undos,
    store.exclusions,
)
"""The tables that grow, in an order in which no row comes before one that it speaks of."""

_LATEST = sa.select(*(sa.select(sa.func.max(table.c.number)).scalar_subquery() for table in FOLLOWED))

Seat = tuple[int, int]
"""The number of an item, and which of its seats."""


@dataclass
class Answer:
    """What somebody said of an item, once."""

    number: int
    claim: int
    answers: dict[str, Any]
    seconds: float | None
    key: str
    version: int
    at: float
    undone_at: float | None = None
    passed: bool | None = None
    """Of a control, once somebody looked: whether it is right."""

    @property
    def undone(self) -> bool:
        """Whether it was taken back."""
        return self.undone_at is not None


@dataclass
class Claim:
    """An item that somebody was given."""

    number: int
    item: int
    seat: int
    annotator: int
    touched: float
    answers: list[Answer] = field(default_factory=list)

    @property
    def standing(self) -> Answer | None:
        """The answer that counts: the last one, unless it was taken back."""
        return self.answers[-1] if self.answers and not self.answers[-1].undone else None

    @property
    def place(self) -> Seat:
        """The seat it takes."""
        return self.item, self.seat


@dataclass
class Person:
    """An annotator, and what the person was given."""

    number: int
    name: str
    folded: str
    joined: float
    claims: list[Claim] = field(default_factory=list)
    controls: list[Claim] = field(default_factory=list)
    """Those of the claims that are of controls."""
    secrets: list[str] = field(default_factory=list)
    excluded: str = ""
    excluded_at: float | None = None

    @property
    def answered(self) -> list[Claim]:
        """What the person has answered, in the order of the answers."""
        found = [claim for claim in self.claims if claim.standing]
        return sorted(found, key=lambda claim: claim.answers[-1].number)


@dataclass(frozen=True)
class Progress:
    """How far a person has come, and whether the person is told to be excluded."""

    done: int
    total: int
    excluded: bool = False


class State:
    """All of a project, in memory."""

    def __init__(self, items: Sequence[Item], plan: Plan, seed: int) -> None:
        self.items, self.plan, self._seed = items, plan, seed
        self.people: dict[int, Person] = {}
        self.named: dict[str, Person] = {}
        self.claims: dict[int, Claim] = {}
        self.keys: dict[str, Answer] = {}
        self._answers: dict[int, Answer] = {}
        self._seats: dict[Seat, list[Claim]] = defaultdict(list)
        self._counted: Counter[Seat] = Counter()
        self._open: dict[int, Claim] = {}
        self._read: Counter[str] = Counter()
        self._is_control = np.array([item.role == CONTROL for item in items])
        self._seat_count = np.array([EVERYBODY if item.role == CONTROL else item.seats for item in items])
        self._filled = np.zeros(len(items), dtype=np.int64)
        self._category = np.unique([item.category for item in items], return_inverse=True)[1]
        self._orders: dict[int, U64] = {}
        self._held: tuple[float, dict[Seat, Claim]] | None = None

    def follow(self, connection: sa.Connection) -> None:
        """Read what has been added to the store since the last time."""
        latest = connection.execute(_LATEST).one()
        for table, number in zip(FOLLOWED, latest, strict=True):
            if (number or 0) > self._read[table.name]:
                new = sa.select(table).where(table.c.number > self._read[table.name]).order_by(table.c.number)
                for row in connection.execute(new):
                    self._take(table, row)

    def insert(self, connection: sa.Connection, table: sa.Table, **values: Any) -> int:
        """Add a row to the store and to what is known of it; where the transaction fails the state is worth nothing."""
        number = int(connection.execute(sa.insert(table).returning(table.c.number), values).scalar_one())
        self._take(table, SimpleNamespace(number=number, **values))
        return number

    def _take(self, table: sa.Table, row: Any) -> None:
        take = {
            "annotators": self._joined,
            "secrets": self._handed,
            "claims": self._claimed,
            "servings": self._served,
            "answers": self._answered,
            "undos": self._undone,
            "exclusions": self._excluded,
        }
        take[table.name](row)
        self._read[table.name] = row.number
        self._held = None

    def _joined(self, row: Any) -> None:
        person = Person(row.number, row.name, row.folded, row.at)
        self.people[row.number] = self.named[row.folded] = person

    def _handed(self, row: Any) -> None:
        self.people[row.annotator].secrets.append(row.digest)

    def _claimed(self, row: Any) -> None:
        claim = Claim(row.number, row.item, row.seat, row.annotator, row.at)
        self.claims[row.number] = self._open[row.number] = claim
        self.people[row.annotator].claims.append(claim)
        if self._is_control[row.item - 1]:
            self.people[row.annotator].controls.append(claim)
        self._seats[claim.place].append(claim)

    def _served(self, row: Any) -> None:
        claim = self.claims[row.claim]
        claim.touched = max(claim.touched, row.at)

    def _answered(self, row: Any) -> None:
        claim = self.claims[row.claim]
        answer = Answer(row.number, row.claim, json.loads(row.answers), row.seconds, row.key, row.version, row.at)
        if not claim.standing:
            self._count(claim, +1)
        claim.answers.append(answer)
        claim.touched = max(claim.touched, row.at)
        self._answers[row.number] = self.keys[row.key] = answer
        self._open.pop(claim.number, None)

    def _undone(self, row: Any) -> None:
        answer = self._answers[row.answer]
        claim = self.claims[answer.claim]
        stood = claim.standing is not None
        answer.undone_at = row.at
        claim.touched = max(claim.touched, row.at)
        if stood and not claim.standing:
            self._count(claim, -1)
            self._open[claim.number] = claim

    def _excluded(self, row: Any) -> None:
        person = self.people[row.annotator]
        for claim in person.claims:
            if claim.standing and self.plan.reopen:
                self._count(claim, -1)
            self._open.pop(claim.number, None)
        person.excluded, person.excluded_at = row.reason, row.at

    def _count(self, claim: Claim, change: int) -> None:
        if self.people[claim.annotator].excluded:
            return
        before = self._counted[claim.place] > 0
        self._counted[claim.place] += change
        self._filled[claim.item - 1] += int(self._counted[claim.place] > 0) - int(before)

    def counts(self, claim: Claim) -> bool:
        """Whether a claim's answer is the one of its seat: the first that stands, of somebody who is not excluded.

        A seat has two where somebody answered late, when the item had gone to another.
        """
        rivals = [each for each in self._seats[claim.place] if each.standing and not self._excludes(each)]
        return bool(rivals) and min(rivals, key=lambda each: each.answers[-1].number) is claim

    def _excludes(self, claim: Claim) -> bool:
        return bool(self.people[claim.annotator].excluded)

    def _holders(self, now: float) -> dict[Seat, Claim]:
        """Who holds each seat that is neither answered nor free; asked again at the same moment, it is known."""
        if self._held and self._held[0] == now:
            return self._held[1]
        found = dict[Seat, Claim]()
        for claim in self._open.values():
            fresh = claim.touched + self.plan.expires > now and not self._excludes(claim)
            if fresh and not self._counted[claim.place]:
                earlier = found.get(claim.place)
                found[claim.place] = max(earlier, claim, key=_freshness) if earlier else claim
        self._held = now, found
        return found

    def current(self, person: Person, now: float) -> Claim | None:
        """What the person is at: the claim last shown or reopened whose seat nobody else has taken."""
        return None if person.excluded else max(self._waiting(person, now), key=_freshness, default=None)

    def next_item(self, person: Person, now: float) -> int | None:
        """The number of the item that a person gets next; None when there is nothing left."""
        free, controls, given = self._free(person, now), self._controls(person), self._given(person, now)
        if not given and not free.any():
            return None
        left = self.plan.per_annotator - given if self.plan.per_annotator is not None else len(self.items)
        may = free if left > 0 else np.zeros_like(free)
        if len(controls) and (self._due(person, given, len(controls)) or not may.any()):
            return int(controls[0]) + 1
        if not may.any():
            return None
        # Who gets a few items only must not miss those on which people are compared.
        shared = may & (self._seat_count > 1)
        return self._first(person, shared if self.plan.overlap and shared.sum() >= left else may, now) + 1

    def free_seat(self, item: int, now: float) -> tuple[int, int]:
        """A seat of an item that can be taken, and how often it was before."""
        holders = self._holders(now)
        for seat in range(int(self._seat_count[item - 1])):
            if not self._counted[item, seat] and (item, seat) not in holders:
                return seat, self.turns(item, seat)
        raise LookupError(f"item {item} has no free seat")

    def spare_seat(self, item: int) -> int:
        """A seat of an item that nobody has had, one more than there are where need be, for answers from elsewhere."""
        seat = 0
        while self.turns(item, seat):
            seat += 1
        return seat

    def turns(self, item: int, seat: int) -> int:
        """How often a seat has been taken."""
        return len(self._seats.get((item, seat), ()))

    def progress(self, person: Person, now: float) -> Progress:
        """How much of what the person gets is done; where others take items too, the total may shrink."""
        done, given = len(person.answered), self._given(person, now)
        if person.excluded:
            return Progress(done, done, excluded=not self.plan.finish)
        waiting = len(self._waiting(person, now))
        left = int(self._free(person, now).sum())
        if self.plan.per_annotator is not None:
            left = min(left, max(self.plan.per_annotator - given, 0))
        controls = len(self._controls(person)) if given or left else 0
        return Progress(done, done + waiting + left + controls)

    def _waiting(self, person: Person, now: float) -> list[Claim]:
        """What a person was given and has not answered, where nobody else has taken the seat."""
        holders = self._holders(now)
        return [
            claim
            for claim in person.claims
            if not claim.standing and not self._counted[claim.place] and holders.get(claim.place, claim) is claim
        ]

    def _given(self, person: Person, now: float) -> int:
        """How many items that are no controls a person has answered or is at."""
        held = [*person.answered, *self._waiting(person, now)]
        return sum(1 for claim in held if not self._is_control[claim.item - 1])

    def _free(self, person: Person, now: float) -> npt.NDArray[np.bool_]:
        """Which items, controls aside, have a seat for a person."""
        free: npt.NDArray[np.bool_] = (self._taken(now) < self._seat_count) & ~self._is_control
        free[[claim.item - 1 for claim in person.claims]] = False
        return free

    def _taken(self, now: float) -> npt.NDArray[np.int64]:
        """How many seats of each item are answered or held."""
        held = np.array([item - 1 for item, _ in self._holders(now)], dtype=np.int64)
        return self._filled + np.bincount(held, minlength=len(self.items))

    def _order(self, person: Person) -> U64:
        if person.number not in self._orders:
            self._orders[person.number] = order(person.folded, len(self.items), seed=self._seed)
        return self._orders[person.number]

    def _controls(self, person: Person) -> npt.NDArray[np.intp]:
        """The controls that a person has not had, in the person's order."""
        left = self._is_control.copy()
        left[[claim.item - 1 for claim in person.claims]] = False
        places = np.flatnonzero(left)
        return places[np.argsort(self._order(person)[places])]

    def _due(self, person: Person, given: int, left: int) -> bool:
        """Whether it is time for the next control: they are spread over what the person gets, one in each stretch."""
        count = int(self._is_control.sum())
        span = min(self.plan.per_annotator or 10 * count, len(self.items) - count)
        had = count - left
        draws = Draws(self._seed, "annotate")
        shift = draws.choices(np.array([had], dtype=np.uint64), 1 << 16, "control", person.folded)[0] / (1 << 16)
        return bool(given >= (had + shift) * span / count)

    def _first(self, person: Person, may: npt.NDArray[np.bool_], now: float) -> int:
        """The place of the item that comes first for a person.

        Where items have categories: those judged least often, of the category the person has had least and that has
        most of them left, so that judgements are even at every moment and nobody sees a category twice without need.
        """
        places = np.flatnonzero(may)
        if self.plan.category:
            taken = self._taken(now)[places]
            places = places[taken == taken.min()]
            kinds = self._category[places]
            had = np.bincount(
                [self._category[claim.item - 1] for claim in person.claims if not self._is_control[claim.item - 1]],
                minlength=int(self._category.max()) + 1,
            )[kinds]
            left = np.bincount(kinds)[kinds]
            places = places[np.lexsort((self._order(person)[places], -left, had))]
            return int(places[0])
        return int(places[np.argmin(self._order(person)[places])])


def _freshness(claim: Claim) -> tuple[float, int]:
    return claim.touched, claim.number
