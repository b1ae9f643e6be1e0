"""A ledger of plain Python integers, and random lives of releases that the product must live alike.

python -m tests.services.model SEQUENCES SEED [roles]

Each sequence is a dataset of its own: three people ask, cancel, ask again with used keys; workers draw, are
sent the same release again, crash before a commit, between commits or in the draw, outlast their first lease
by renewing it, or come back after they were declared dead; limits and allowances change, versions advance,
time steps in both directions, the clock ticks, the sweep runs; the database is restored, and a steward
confirms it; people without the right to an act try it all the same. The outcome of each step is compared with
the model, and now and then and at the end all that is stored. With `roles` (PostgreSQL
after `grant-roles`) each step has the rights of the process that takes it: web, a worker, the clock.
"""

import json
import random
import sys
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from itertools import product

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402

from heatmaps.budget import allowances, limits  # noqa: E402
from heatmaps.ingest import uploads  # noqa: E402
from heatmaps.ingest.versions.advance import next_version  # noqa: E402
from heatmaps.ledger import transitions  # noqa: E402
from heatmaps.ledger.transitions.reserving import LONGEST_QUEUE  # noqa: E402
from heatmaps.ledger.verification import verify  # noqa: E402
from heatmaps.models import Account, Allowance, Drawing, Membership, Release  # noqa: E402
from heatmaps.releases import lifecycle, sweep  # noqa: E402
from mechanisms.guarantee import Relation  # noqa: E402
from tests.services import seed  # noqa: E402
from tests.services.faults import Crash, Faults  # noqa: E402
from tests.services.model_queue import SLOT_SECONDS, Known, Queue  # noqa: E402
from tests.services.roles import WEB, WORKER  # noqa: E402

STEPS = (8, 20)  # of a sequence, at least and at most
QUARTER = 10**12 // 4
EPSILONS = {"0.25": QUARTER, "0.5": 2 * QUARTER, "1": 4 * QUARTER}
ALLOWANCES = {None: None, "0": 0, "0.5": 2 * QUARTER, "1": 4 * QUARTER, "2": 8 * QUARTER}
settings.SLOT_SECONDS = dict.fromkeys(settings.SLOT_SECONDS, SLOT_SECONDS)
settings.LEASE_SECONDS = 900
settings.MOST_QUESTIONS_A_DAY = {"person": 100_000, "dataset": 100_000}
MINUTES = [-90, -1, 5, 20, 30 * 60]  # steps of the clock: also past a lease and past a reservation


@dataclass(slots=True)
class Sequence(Queue):
    faults: Faults
    chance: random.Random
    people: list
    others: dict  # people without rights: who -> what they are told
    dataset: object
    relation: Relation
    version: int = 1
    known: dict = field(default_factory=dict)
    keys: dict = field(default_factory=dict)
    limits: dict = field(default_factory=dict)
    allowances: dict = field(default_factory=dict)  # (account, person or None) -> units or None
    kinds: list = field(default_factory=lambda: ["open", "version"])
    refused: Counter = field(default_factory=Counter)
    doublings: int = 0
    restored: Counter = field(default_factory=Counter)  # charged for what is not known, by account
    unbounded: set = field(default_factory=set)  # accounts

    def live(self):
        self.limits = dict(self.dataset.accounts.values_list("kind", "limit"))
        acts = [self.ask] * 8 + [self.work] * 5 + [self.cancel, self.limit, self.allowance, self.trespass]
        acts += [self.tick] * 5 + [self.clock, self.sweep, self.advance]
        acts += [self.restore] * (self.chance.random() < 0.4)  # most is never asked after one
        for _ in range(self.chance.randint(*STEPS)):
            self.chance.choice(acts)()
            if self.chance.random() < 0.2:
                self.compare()
        if self.chance.random() < 0.2:
            self.faults.offset += timedelta(days=3)
        self.end()
        self.compare()
        assert set(self.states()) <= {"published", "failed", "cancelled"}
        verified = verify(self.dataset)
        assert verified.ok, verified.problem

    def ask(self):
        person, epsilon = self.chance.choice(self.people), self.chance.choice(list(EPSILONS))
        name = self.chance.choice([None, None, "a", "b"])
        key = name and f"{self.dataset.slug}-{name}"
        self.faults.crash_at = "reserve" if self.chance.random() < 0.1 else None
        expected = self.answer(person, epsilon, key)
        request = lifecycle.ReleaseRequest(mechanism="laplace", epsilon=epsilon, resolution=2)
        outcome, made = self.tried(
            lambda: lifecycle.request_release(person, self.dataset, request, idempotency_key=key)
        )
        if expected == "new" and outcome == "done":
            lasts = timedelta(seconds=settings.RESERVATION_SECONDS)
            taken = max((one.visible for one in self.queue()), default=made.starts_at)
            assert made.starts_at >= taken
            assert made.visible_at - made.starts_at == self.slot()
            expires = self.faults.now() + lasts
            self.known[made.pk] = Known(
                person, epsilon, self.version, expires, made.starts_at, made.visible_at
            )
            self.kinds.append("reserve")
        elif expected == "new":
            assert outcome == "Crash" == (self.faults.crash_at and "Crash")
        elif isinstance(expected, set):
            assert (outcome, made.pk in expected) == ("done", True)
        else:
            assert outcome == expected
            self.refused[outcome] += 1
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
        if any(one.visible - self.faults.now() > LONGEST_QUEUE for one in self.queue()):
            return "QueueTooLong"
        balances, charge = self.balances(), self.charges(epsilon)
        fits = all(
            limit is None or balances[kind] + charge[kind] <= limit for kind, limit in self.limits.items()
        )
        if not fits:
            return "BudgetExceeded"
        allowed = all(
            self.allowed(kind, person) is None or taken + charge[kind] <= self.allowed(kind, person)
            for kind, taken in self.balances(person).items()
            if charge[kind]
        )
        return "new" if allowed else "AllowanceExceeded"

    def allowed(self, kind, person):
        """A person's own allowance, else everybody's; None: not limited."""
        own = (kind, person)
        return self.allowances[own] if own in self.allowances else self.allowances.get((kind, None))

    def work(self):
        """A message reaches a worker: for a release that was spent, or for any other."""
        spent = [pk for pk, one in self.known.items() if one.state == "spent"]
        if self.known:
            self.worked(self.chance.choice([*self.known, *spent]))

    def worked(self, pk):
        self.faults.draw = self.chance.choice(["fine"] * 5 + ["error", "crash", "declared dead", "renewed"])
        self.faults.crash_at = self.chance.choice([None] * 6 + ["finish"])
        one, before = self.known[pk], self.faults.now()
        outcome, _ = self.tried(lambda: lifecycle.run(pk), WORKER)
        if one.state != "spent" or one.drawing:
            assert outcome == "done"
            return
        one.claimed = before
        one.drawing, one.lease = "running", before + timedelta(seconds=settings.LEASE_SECONDS)
        if self.faults.draw == "renewed":
            one.lease = self.faults.renewed + timedelta(seconds=settings.LEASE_SECONDS)
        if self.faults.draw in ("declared dead", "renewed"):
            self.swept()
        if self.faults.draw == "error":
            one.drawing = "failed"
        elif self.faults.draw in ("fine", "renewed") and self.faults.crash_at != "finish":
            one.drawing = "drawn"

    def end(self):
        """The clock and the workers go on until nothing is queued."""
        while self.queue():
            self.tick()
            for one in [pk for pk, one in self.known.items() if one.state == "spent"]:
                self.worked(one)
            self.faults.offset += timedelta(minutes=self.chance.choice([2, 20]))
            if self.chance.random() < 0.2:
                self.sweep()

    def cancel(self):
        if not self.known:
            return
        pk, person = self.chance.choice(list(self.known)), self.chance.choice(self.people)
        one, self.faults.crash_at = self.known[pk], self.chance.choice([None, None, "cancel"])
        release, now = Release.objects.select_related("dataset").get(pk=pk), self.faults.now()
        outcome, _ = self.tried(lambda: lifecycle.cancel(person, release))
        if person != one.owner:
            assert outcome == "PermissionDenied"
        elif one.state != "reserved" or one.starts <= now:
            assert outcome == "TooLateToCancel"
        elif self.faults.crash_at:
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
        self.faults.crash_at = self.chance.choice([None] * 5 + ["limit"])
        outcome, _ = self.tried(
            lambda: transitions.change_limit(account, new, actor=self.people[0], reason="why", expected=seen)
        )
        limits = self.limits | {account.kind: new}
        if seen != old:
            assert outcome == "LimitMoved"
        elif (new is not None and self.is_over(account.kind, new)) or not self.some(limits):
            assert outcome == "InvalidLimit"
        elif self.faults.crash_at:
            assert outcome == "Crash"
        else:
            assert outcome == "done"
            self.limits = limits
            self.kinds.append("limit")

    def allowance(self):
        """By anybody: only the steward may."""
        person = self.chance.choice([*self.people[:1] * 3, *self.people])
        whose = self.chance.choice([None, *self.people])
        kind = self.chance.choice([kind for kind in self.limits if kind != "delta"])
        text = self.chance.choice([*ALLOWANCES, *([] if whose is None else ["default"])])
        self.faults.crash_at = self.chance.choice([None] * 5 + ["allowance"])
        outcome, _ = self.tried(lambda: self.change_allowance(person, kind, whose, text))
        if person != self.people[0]:
            assert outcome == "PermissionDenied"
        elif self.faults.crash_at:
            assert outcome == "Crash"
        else:
            assert outcome == "done"
            self.allowances.pop((kind, whose), None)
            if text != "default":
                self.allowances[kind, whose] = ALLOWANCES[text]
            self.kinds.append("allowance")

    def change_allowance(self, person, kind, whose, text):
        name = whose and whose.username
        allowances.change(person, self.dataset, account=kind, analyst=name, allowance=text, reason="why")

    def trespass(self):
        """Strangers and auditors change nothing, analysts nothing that is a steward's."""
        self.faults.crash_at = None
        request = lifecycle.ReleaseRequest(mechanism="laplace", epsilon="0.25", resolution=2)
        kind = next(iter(self.limits))
        of_stewards = [
            lambda who: limits.change(
                who, self.dataset, {kind: "9"}, reason="mine", expected_fingerprint=None
            ),
            lambda who: self.change_allowance(who, kind, who, None),
            lambda who: uploads.advance(who, self.dataset),
        ]
        of_analysts = [lambda who: lifecycle.request_release(who, self.dataset, request)]
        for pk in list(self.known)[-1:]:
            release = Release.objects.select_related("dataset").get(pk=pk)
            of_analysts.append(partial(self.cancelled, release))
        for who, told in self.others.items():
            assert self.tried(lambda who=who: self.chance.choice(of_stewards + of_analysts)(who))[0] == told
        analyst = self.chance.choice(self.people[1:])
        assert self.tried(lambda: self.chance.choice(of_stewards)(analyst))[0] == "PermissionDenied"
        self.compare()

    def is_over(self, kind, limit):
        return kind in self.unbounded or self.balances()[kind] > limit

    @staticmethod
    def cancelled(release, who):
        lifecycle.cancel(who, release)

    def clock(self):
        self.faults.offset += timedelta(minutes=self.chance.choice(MINUTES))

    def sweep(self):
        self.faults.crash_at = None
        with self.faults.acting(WORKER):
            sweep.sweep()
        self.swept()

    def advance(self):
        with self.faults.acting(WEB):
            self.version = next_version(self.dataset, actor=self.people[0]).number
        self.kinds.append("version")

    def restore(self):
        """Some charges are recorded, and of other accounts nothing is known."""
        self.faults.crash_at = None
        known = [kind for kind in self.limits if self.chance.random() < 0.7]
        charges = {kind: QUARTER * self.chance.choice([0, 0, 1, 9]) for kind in known}
        unknown = transitions.Unknown(charges=charges, other_copy="unknown", reason="why")
        transitions.restore(self.dataset, unknown)
        assert self.tried(self.asked_anew)[0] == "OnHold"
        with self.faults.acting(WEB):
            assert transitions.confirm(self.dataset, actor=self.people[0], opt_outs="none")
        ends = {"reserved": "lose", "spent": "fail"}
        order = {pk: one.starts for pk, one in self.known.items() if one.state in ends}
        for pk in sorted(order, key=lambda pk: (order[pk], pk)):
            one = self.known[pk]
            self.move(one, "failed", ends[one.state])
            one.drawing = ""
        for kind, limit in self.limits.items():
            left = None if limit is None else limit - self.balances()[kind]
            amount = charges.get(kind, left)
            self.restored[kind] += amount or 0
            if amount is None:
                self.unbounded.add(kind)
            if limit is not None:
                self.limits[kind] = max(limit, self.balances()[kind])
        self.kinds += ["restored", "confirmed"]

    def asked_anew(self):
        request = lifecycle.ReleaseRequest(mechanism="laplace", epsilon="0.001", resolution=2)
        return lifecycle.request_release(self.people[0], self.dataset, request)

    def tried(self, act, role=WEB):
        """Returns ("done", what the act returned), or (the error's name, None)."""
        try:
            with self.faults.acting(role):
                return "done", act()
        except (Crash, Exception) as error:  # noqa: BLE001 - compared with the model by its name
            return type(error).__name__, None

    def compare(self):
        stored = dict(Release.objects.filter(dataset=self.dataset).values_list("pk", "state"))
        assert stored == {pk: one.state for pk, one in self.known.items()}
        drawn = dict(Drawing.objects.filter(release__dataset=self.dataset).values_list("pk", "state"))
        assert drawn == {pk: one.drawing for pk, one in self.known.items() if one.drawing}
        accounts = list(Account.objects.filter(dataset=self.dataset))
        assert {row.kind: row.committed for row in accounts} == self.balances()
        assert {row.kind: row.limit for row in accounts} == self.limits
        assert {row.kind for row in accounts if row.unbounded} == self.unbounded
        rows = Allowance.objects.filter(account__in=accounts).exclude(person=None)
        taken = {(row.account_id, row.person_id): row.committed for row in rows}
        for row, person in product(accounts, self.people):
            assert taken.pop((row.pk, person.pk), 0) == self.balances(person)[row.kind]
        assert not taken
        assert all(row.limit is None or row.committed <= row.limit for row in accounts)
        assert list(self.dataset.events.order_by("sequence").values_list("kind", flat=True)) == self.kinds
        assert all(self.faults.draws[pk] <= 1 for pk in self.known)

    def balances(self, person=None):
        """What is taken of each account, by one person or by all."""
        kept = [one for one in self.known.values() if one.state != "cancelled"]
        held = [self.charges(one.epsilon) for one in kept if person in (None, one.owner)]
        unknown = Counter() if person else self.restored
        return {kind: unknown[kind] + sum(charge[kind] for charge in held) for kind in self.limits}

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


def dataset(people, auditor, slug, relation):
    made = seed.make_dataset(people[0], slug, relation)
    roles = [*((user, "analyst") for user in people[1:]), (auditor, "auditor")]
    Membership.objects.bulk_create(Membership(dataset=made, user=user, role=role) for user, role in roles)
    next_version(made, actor=people[0])
    return made


def main(sequences, first, *, has_roles=False):
    names = ("steward", "ann", "bob", "eve", "otto")
    *people, stranger, auditor = (User.objects.get_or_create(username=name)[0] for name in names)
    others = {stranger: "Http404", auditor: "PermissionDenied"}
    faults, told = Faults(has_roles=has_roles), Counter()
    for number in range(first, first + sequences):
        faults.offset, faults.crash_at = timedelta(), None
        faults.draws.clear()
        chance = random.Random(number)
        relation = chance.choice(list(Relation))
        made = dataset(people, auditor, f"s-{number}", relation)
        life = Sequence(faults, chance, people, others, made, relation)
        try:
            life.live()
        except AssertionError as error:
            raise AssertionError(f"sequence {number}: {error}") from error
        told.update(life.states())
        told.update(f"event {kind}" for kind in life.kinds)
        told.update(life.refused)
        told["sequences"] += 1
    return told


if __name__ == "__main__":
    print(json.dumps(main(*map(int, sys.argv[1:3]), has_roles=sys.argv[3:] == ["roles"])))
