"""A ledger of plain Python integers, and random lives of releases that the product must live alike.

python -m tests.services.model SEQUENCES SEED

Each sequence is a dataset of its own: three people ask, cancel, ask again with used keys; workers draw, are
sent the same release again, crash before a commit, between commits or in the draw, or come back after they
were declared dead; limits change, versions advance, the clock steps in both directions, the sweep runs.
The outcome of each step is compared with the model, and now and then and at the end all that is stored.
"""

import json
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import django

django.setup()

import numpy as np  # noqa: E402
from django.conf import settings  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.utils import timezone  # noqa: E402

from heatmaps import queue, releases  # noqa: E402
from heatmaps.ingest.versions import next_version  # noqa: E402
from heatmaps.ledger import events, transitions  # noqa: E402
from heatmaps.ledger.verification import verify  # noqa: E402
from heatmaps.models import Account, Membership, Release  # noqa: E402
from mechanisms.guarantee import Relation  # noqa: E402
from mechanisms.interface import Heatmap  # noqa: E402
from tests.services import seed  # noqa: E402

STEPS = (5, 15)  # of a sequence, at least and at most
QUARTER = 10**12 // 4
EPSILONS = {"0.25": QUARTER, "0.5": 2 * QUARTER, "1": 4 * QUARTER}
MINUTES = [-90, -1, 5, 20, 30 * 60]  # steps of the clock: also past a lease and past a reservation
MAP = Heatmap(
    level=1, levels=np.zeros(1, np.uint8), prefixes=np.zeros(1, np.int64), values=np.ones(1),
    standard_errors=np.ones(1),
)  # fmt: skip


class Crash(BaseException):
    """The process is gone: nothing after this line runs."""


class World:
    """Clock, crashes and draws of the product, in the hands of a sequence."""

    def __init__(self):
        self.offset, self.crash_at, self.draw, self.draws = timedelta(), None, "fine", Counter()
        append = events.append

        def append_or_crash(ledger, kind, **facts):
            append(ledger, kind, **facts)
            if kind == self.crash_at:
                raise Crash

        transitions._append, queue._send = append_or_crash, lambda _task, _ids: None
        timezone.now = self.now
        events.time = SimpleNamespace(
            time_ns=lambda: time.time_ns() + int(self.offset.total_seconds()) * 10**9
        )
        releases._draw = self.drawn

    def now(self):
        return datetime.now(UTC) + self.offset

    def drawn(self, release, _mechanism):
        self.draws[release.pk] += 1
        if self.draw == "crash":
            raise Crash
        if self.draw == "error":
            raise ZeroDivisionError
        if self.draw == "declared dead":
            self.offset += timedelta(seconds=settings.LEASE_SECONDS + 60)
            releases.sweep()
        return MAP


@dataclass(slots=True, eq=False)
class Known:
    """A release as the model knows it."""

    owner: User
    epsilon: str
    version: int
    expires: datetime
    state: str = "reserved"
    lease: datetime | None = None


@dataclass(slots=True)
class Sequence:
    world: World
    chance: random.Random
    people: list
    dataset: object
    relation: Relation
    version: int = 1
    known: dict = field(default_factory=dict)
    keys: dict = field(default_factory=dict)
    limits: dict = field(default_factory=dict)
    kinds: list = field(default_factory=lambda: ["open", "version"])

    def live(self):
        self.limits = dict(self.dataset.accounts.values_list("kind", "limit"))
        acts = (
            [self.ask] * 6 + [self.work] * 5 + [self.cancel, self.limit, self.clock, self.sweep, self.advance]
        )
        for _ in range(self.chance.randint(*STEPS)):
            self.chance.choice(acts)()
            if self.chance.random() < 0.2:
                self.compare()
        self.world.offset += timedelta(days=3)
        self.sweep()
        self.compare()
        assert set(self.states()) <= {"published", "failed", "cancelled"}
        verified = verify(self.dataset)
        assert verified.ok, verified.problem

    def ask(self):
        person, epsilon = self.chance.choice(self.people), self.chance.choice(list(EPSILONS))
        name = self.chance.choice([None, None, "a", "b"])
        key = name and f"{self.dataset.slug}-{name}"
        self.world.crash_at = "reserve" if self.chance.random() < 0.1 else None
        expected = self.answer(person, epsilon, key)
        request = releases.ReleaseRequest(mechanism="laplace", epsilon=epsilon, resolution=2)
        outcome, made = self.tried(
            lambda: releases.request_release(person, self.dataset, request, idempotency_key=key)
        )
        if expected == "new" and outcome == "done":
            lasts = timedelta(seconds=settings.RESERVATION_SECONDS)
            self.known[made.pk] = Known(person, epsilon, self.version, self.world.now() + lasts)
            self.kinds.append("reserve")
        elif expected == "new":
            assert outcome == "Crash" == (self.world.crash_at and "Crash")
        elif isinstance(expected, set):
            assert (outcome, made.pk in expected) == ("done", True)
        else:
            assert outcome == expected
        if outcome == "done" and key is not None:
            self.keys[person, key] = made.pk

    def answer(self, person, epsilon, key):
        """Ids of releases that answer already, an error's name, or "new"."""
        if (person, key) in self.keys:
            earlier = self.keys[person, key]
            return {earlier} if self.known[earlier].epsilon == epsilon else "IdempotencyConflict"
        same = {
            pk for pk, one in self.known.items() if self.asked(one) == (epsilon, self.version, "published")
        }
        if same:
            return same
        balances, charge = self.balances(), self.charges(epsilon)
        fits = all(
            limit is None or balances[kind] + charge[kind] <= limit for kind, limit in self.limits.items()
        )
        return "new" if fits else "BudgetExceeded"

    def work(self):
        """A message reaches a worker: for a new release, or once more for any."""
        if not self.known:
            return
        pk = self.chance.choice(list(self.known))
        self.world.draw = self.chance.choice(["fine"] * 5 + ["error", "crash", "declared dead"])
        self.world.crash_at = self.chance.choice([None] * 6 + ["spend", "publish", "fail"])
        one, crash_at, before = self.known[pk], self.world.crash_at, self.world.now()
        outcome, _ = self.tried(lambda: releases.run(pk))
        if one.state != "reserved" or crash_at == "spend":
            assert outcome == ("done" if one.state != "reserved" else "Crash")
            return
        one.state, one.lease = "spent", before + timedelta(seconds=settings.LEASE_SECONDS)
        self.kinds.append("spend")
        ends = {"fine": "publish", "error": "fail", "crash": None, "declared dead": None}[self.world.draw]
        if self.world.draw == "declared dead":
            self.swept(crash_at)
        elif ends is not None and ends != crash_at:
            one.state = {"publish": "published", "fail": "failed"}[ends]
            self.kinds.append(ends)

    def cancel(self):
        if not self.known:
            return
        pk, person = self.chance.choice(list(self.known)), self.chance.choice(self.people)
        one, self.world.crash_at = self.known[pk], self.chance.choice([None, None, "cancel"])
        release = Release.objects.select_related("dataset").get(pk=pk)
        outcome, _ = self.tried(lambda: releases.cancel(person, release))
        if person != one.owner:
            assert outcome == "PermissionDenied"
        elif one.state != "reserved":
            assert outcome == "TooLateToCancel"
        elif self.world.crash_at:
            assert outcome == "Crash"
        else:
            assert outcome == "done"
            one.state = "cancelled"
            self.kinds.append("cancel")

    def limit(self):
        account = self.chance.choice(list(self.dataset.accounts.exclude(kind="delta")))
        new = self.chance.choice([None, *(QUARTER * number for number in range(0, 17, 2))])
        old = self.limits[account.kind]
        seen = self.chance.choice([old, old, old, 7])
        self.world.crash_at = self.chance.choice([None] * 5 + ["limit"])
        outcome, _ = self.tried(
            lambda: transitions.change_limit(account, new, actor=self.people[0], reason="why", expected=seen)
        )
        limits = self.limits | {account.kind: new}
        if seen != old:
            assert outcome == "LimitMoved"
        elif (new is not None and self.balances()[account.kind] > new) or not self.some(limits):
            assert outcome == "InvalidLimit"
        elif self.world.crash_at:
            assert outcome == "Crash"
        else:
            assert outcome == "done"
            self.limits = limits
            self.kinds.append("limit")

    def clock(self):
        self.world.offset += timedelta(minutes=self.chance.choice(MINUTES))

    def sweep(self):
        self.world.crash_at = None
        releases.sweep()
        self.swept(None)

    def swept(self, crash_at):
        """What a sweep does at this moment, up to the first crash."""
        now = self.world.now()
        for state, due, end, kind in (
            ("spent", "lease", "failed", "fail"),
            ("reserved", "expires", "cancelled", "cancel"),
        ):
            for one in self.known.values():
                if one.state == state and getattr(one, due) < now:
                    if crash_at == kind:
                        return
                    one.state = end
                    self.kinds.append(kind)

    def advance(self):
        self.version = next_version(self.dataset, actor=self.people[0]).number
        self.kinds.append("version")

    def tried(self, act):
        """("done", what came back), or (the error's name, None)."""
        try:
            return "done", act()
        except (Crash, Exception) as error:  # noqa: BLE001 - compared with the model by its name
            return type(error).__name__, None

    def compare(self):
        stored = dict(Release.objects.filter(dataset=self.dataset).values_list("pk", "state"))
        assert stored == {pk: one.state for pk, one in self.known.items()}
        accounts = list(Account.objects.filter(dataset=self.dataset))
        assert {row.kind: row.committed for row in accounts} == self.balances()
        assert {row.kind: row.limit for row in accounts} == self.limits
        assert all(row.limit is None or row.committed <= row.limit for row in accounts)
        assert list(self.dataset.events.order_by("sequence").values_list("kind", flat=True)) == self.kinds
        assert all(self.world.draws[pk] <= 1 for pk in self.known)

    def balances(self):
        held = [self.charges(one.epsilon) for one in self.known.values() if one.state != "cancelled"]
        return {kind: sum(charge[kind] for charge in held) for kind in self.limits}

    def charges(self, epsilon):
        return {kind: 0 if kind == "delta" else EPSILONS[epsilon] for kind in self.limits}

    def states(self):
        return [one.state for one in self.known.values()]

    @staticmethod
    def asked(one):
        return one.epsilon, one.version, one.state

    @staticmethod
    def some(limits):
        return any(limit is not None for kind, limit in limits.items() if kind != "delta")


def dataset(people, slug, relation):
    made = seed.make_dataset(people[0], slug, relation)
    Membership.objects.bulk_create(Membership(dataset=made, user=user, role="analyst") for user in people[1:])
    next_version(made, actor=people[0])
    return made


def main(sequences, first):
    people = [User.objects.get_or_create(username=name)[0] for name in ("steward", "ann", "bob")]
    world, told = World(), Counter()
    for number in range(first, first + sequences):
        world.offset, world.crash_at = timedelta(), None
        world.draws.clear()
        chance = random.Random(number)
        relation = chance.choice(list(Relation))
        life = Sequence(world, chance, people, dataset(people, f"s-{number}", relation), relation)
        try:
            life.live()
        except AssertionError as error:
            raise AssertionError(f"sequence {number}: {error}") from error
        told.update(life.states())
        told.update(f"event {kind}" for kind in life.kinds)
        told["sequences"] += 1
    return told


if __name__ == "__main__":
    print(json.dumps(main(*map(int, sys.argv[1:]))))
