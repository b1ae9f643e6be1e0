"""Replays events alone to what the ledger must look like; reads no table."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from heatmaps.ledger.amounts import LARGEST
from heatmaps.ledger.events import event_hash
from heatmaps.ledger.facts import (
    ALL_DAYS,
    EVERYBODY,
    FOLLOWS_DEFAULT,
    FOR_EVER,
    FOR_EVERYBODY,
    NO_BOUND,
    NO_LIMIT,
    NO_SCHEDULE,
)
from heatmaps.ledger.transitions.moves import (
    ALLOWANCE,
    BOUND,
    CANCEL,
    CONFIRMED,
    FAIL,
    GUIDE,
    LATE,
    LIMIT,
    MOVES,
    OPEN,
    POSTPONE,
    PUBLICATION,
    PUBLISH,
    QUEUED,
    RESERVE,
    RESTORED,
    RETENTION,
    ROUND,
    SCHEDULE,
    SPEND,
    VERSION,
)
from heatmaps.ledger.transitions.slots import MOST_DOUBLINGS
from heatmaps.ledger.version_commitments import FACT
from heatmaps.models import Event, ReleaseState


class Disagreement(Exception):  # noqa: N818 - the word for what verification finds
    """Says that a row is not what the chain says; `sequence` is the event it disagrees with, where there is
    one."""

    def __init__(self, sequence: int | None, problem: str) -> None:
        self.sequence, self.problem = sequence, problem
        super().__init__(problem)


@dataclass(slots=True, kw_only=True)
class ReplayedRelease:
    """Holds a release's state, facts and charges, as its events tell them."""

    state: ReleaseState
    facts: Mapping[str, int | str]
    charges: Mapping[str, int | str]
    sequence: int  # of its last event
    person: int | None  # who asked for it
    reserved: int  # the event that made it
    reserved_at: int  # microseconds since 1970
    knows_guide: bool  # by events of this ledger before
    sha256: str = ""  # of its result, once published
    moments: Mapping[str, int | str] | None = None  # None: reserved before there were slots
    late: int = 0
    publication: int | None = None  # the latest event about its readers
    is_public: bool = False


@dataclass(slots=True, kw_only=True)
class Replay:
    """Holds accounts and releases after the events that were applied so far."""

    previous_hash: str
    sequence: int = 0
    dataset: Mapping[str, int | str] = field(default_factory=dict)
    limits: dict[str, int | str] = field(default_factory=dict)
    committed: dict[str, int] = field(default_factory=dict)
    unbounded: dict[str, int] = field(default_factory=dict)  # charges without a bound, by account
    releases: dict[UUID, ReplayedRelease] = field(default_factory=dict)
    version: int = 0  # the latest data version
    commitments: dict[int, str] = field(default_factory=dict)  # by version: to what it holds
    kept_from: dict[int, str] = field(default_factory=dict)  # by version: the first day that it has
    guides: dict[str, Mapping[str, int | str]] = field(default_factory=dict)  # files, by their id
    rounds: dict[UUID, Mapping[str, int | str]] = field(default_factory=dict)  # fixed, by their release
    batches: dict[UUID, Mapping[str, int | str]] = field(default_factory=dict)  # of rounds that ended
    schedule: str = NO_SCHEDULE  # of data versions
    retention: int | str = FOR_EVER  # of check-ins, in days
    slot_doublings: int = 0
    restorations: list[Mapping[str, Any]] = field(default_factory=list)  # what is not known, and charged
    waits: bool = False  # for a steward, after the last of them
    # By account and person: an allowance of one's own, or everybody's; and what each person took.
    allowances: dict[tuple[str, int | str], int | str] = field(default_factory=dict)
    committed_by_person: dict[tuple[str, int | str], int] = field(default_factory=dict)

    def apply(self, event: Event) -> None:
        """Checks one event against everything before it, then carries it out. Errors: Disagreement."""
        self._check_chain(event)
        try:
            before, after = json.loads(event.before), json.loads(event.after)
            self._apply(event, before, after)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise Disagreement(event.sequence, "the event's facts cannot be read") from error

    def balances(self) -> dict[str, int | str]:
        """Returns the committed amounts, as events write them."""
        return {kind: NO_BOUND if self.unbounded[kind] else units for kind, units in self.committed.items()}

    def _check_chain(self, event: Event) -> None:
        if event.sequence != self.sequence + 1:
            raise Disagreement(self.sequence + 1, "the event is missing or out of order")
        if event.previous_hash != self.previous_hash:
            raise Disagreement(event.sequence, "the event does not follow from the one before it")
        if event.hash != event_hash(event):
            raise Disagreement(event.sequence, "the event was changed after it was written")
        self.sequence, self.previous_hash = event.sequence, event.hash

    def _apply(self, event: Event, before: Any, after: Any) -> None:
        if (event.kind == OPEN) != (event.sequence == 1):
            raise Disagreement(event.sequence, "the first event opens the ledger, and no other does")
        rules = {
            OPEN: self._open,
            LIMIT: self._change_limit,
            ALLOWANCE: self._change_allowance,
            RESTORED: self._restore,
            CONFIRMED: self._confirm,
            VERSION: self._advance,
            BOUND: self._bind,
            GUIDE: self._store_guide,
            ROUND: self._fix_round,
            PUBLICATION: self._show,
            SCHEDULE: self._set_schedule,
            RETENTION: self._set_retention,
            **dict.fromkeys((LATE, POSTPONE), self._delay),
            **dict.fromkeys(MOVES, self._move),
        }
        if event.kind in rules:
            rules[event.kind](event, before, after)

    def _open(self, _event: Event, _before: Any, after: Any) -> None:
        self.dataset, self.limits = after["dataset"], dict(after["limits"])
        self.committed = dict.fromkeys(self.limits, 0)
        self.unbounded = dict.fromkeys(self.limits, 0)

    def _advance(self, event: Event, before: Any, after: Any) -> None:
        versions = (before["version"], after["version"])
        self._expect(event, "version", versions, (self.version, self.version + 1))
        self.version += 1
        if self.commitments or FACT in after:  # from the first on, each has one
            self.commitments[self.version] = after[FACT]
        kept_from = after.get("kept_from", ALL_DAYS)
        self._expect(event, "retention", kept_from == ALL_DAYS, self.retention == FOR_EVER)
        self.kept_from[self.version] = kept_from

    def _bind(self, event: Event, _before: Any, after: Any) -> None:
        """Checks that a version of before is bound once, by no event besides its own."""
        number = after["version"]
        if not 1 <= number <= self.version or number in self.commitments:
            raise Disagreement(event.sequence, "the event binds no data version that could be")
        self.commitments[number] = after[FACT]

    def _store_guide(self, event: Event, _before: Any, after: Any) -> None:
        self._expect(event, "guide", self.version, 0)  # before any data
        self.guides[after["guide"]] = after

    def _fix_round(self, event: Event, _before: Any, after: Any) -> None:
        """Fixes a round once, and before the first report may come in."""
        round_facts = dict(after)
        pk = UUID(str(round_facts.pop("round")))
        release = self.releases.get(pk)
        if release is None or release.state != ReleaseState.RESERVED or pk in self.rounds:
            raise Disagreement(event.sequence, "the event fixes no round that is planned")
        if release.moments is None or event.at_microseconds >= int(release.moments["starts_at"]):
            raise Disagreement(event.sequence, "the event fixes a round that is open")
        self.rounds[pk] = round_facts

    def _show(self, event: Event, _before: Any, after: Any) -> None:
        release = self.releases.get(UUID(after["shown_release"]))
        if release is None or release.state != ReleaseState.PUBLISHED:
            raise Disagreement(event.sequence, "the event shows a release that is not published")
        release.publication, release.is_public = event.sequence, after["readable_by"] == FOR_EVERYBODY

    def _set_schedule(self, event: Event, before: Any, after: Any) -> None:
        self._expect(event, "schedule", before["schedule"], self.schedule)
        self.schedule = after["schedule"]

    def _set_retention(self, event: Event, before: Any, after: Any) -> None:
        self._expect(event, "retention", before["retention"], self.retention)
        self.retention = after["retention"]

    def _change_limit(self, event: Event, before: Any, after: Any) -> None:
        for kind, old in before["limits"].items():
            self._expect(event, "limit", old, self.limits[kind])
            self.limits[kind] = after["limits"][kind]
        self._check_limits(event)

    def _change_allowance(self, event: Event, before: Any, after: Any) -> None:
        before, after = before["allowance"], after["allowance"]
        key = (after["account"], after["person"])
        self._expect(event, "allowance", (before["account"], before["person"]), key)
        self._expect(event, "allowance", before["units"], self.allowance(*key))
        self.allowances[key] = after["units"]

    def _restore(self, event: Event, before: Any, after: Any) -> None:
        """Checks that nothing of before is queued any more; limits rise by what they lacked."""
        self._expect(event, "balance", before["committed"], self.balances())
        self._expect(event, "limit", before["limits"], self.limits)
        if any(release.state in QUEUED for release in self.releases.values()):
            raise Disagreement(event.sequence, "the event leaves a release queued that may have been drawn")
        self._expect(event, "charge", set(after["charges"]), set(self.limits))
        for kind, amount in after["charges"].items():
            if isinstance(amount, int):
                self._expect(event, "charge", amount >= 0, True)
                self.committed[kind] += amount
                limit = self.limits[kind]
                self.limits[kind] = limit if limit == NO_LIMIT else max(int(limit), self.committed[kind])
            else:
                self.unbounded[kind] += 1
                self.limits[kind] = NO_LIMIT
        self._expect(event, "limit", after["limits"], self.limits)
        self._expect(event, "balance", after["committed"], self.balances())
        self._check_limits(event)
        self.restorations.append({name: after[name] for name in ("known_until", "charges")})
        self.waits = True

    def _confirm(self, event: Event, _before: Any, _after: Any) -> None:
        if not self.waits:
            raise Disagreement(event.sequence, "the event confirms what was not restored")
        self.waits = False

    def allowance(self, account: str, person: int | str) -> int | str:
        """Returns an allowance as events write it: units, "no limit" or, for a person, "default"."""
        return self.allowances.get(
            (account, person), NO_LIMIT if person == EVERYBODY else FOLLOWS_DEFAULT.value
        )

    def _delay(self, event: Event, before: Any, after: Any) -> None:
        release = None if event.release is None else self.releases.get(event.release)
        if release is None or release.state not in QUEUED:
            raise Disagreement(event.sequence, "the event delays a release that is not queued")
        if release.moments is not None:
            self._expect(event, "moments", before["moments"], release.moments)
        late = event.kind == LATE
        doublings = min(self.slot_doublings + late, MOST_DOUBLINGS)
        self._expect(event, "slot", after["slot_doublings"], doublings)
        self.slot_doublings, release.moments = doublings, after["moments"]
        release.late += late

    def _move(self, event: Event, before: Any, after: Any) -> None:
        move = MOVES[event.kind]
        if event.release is None:
            raise Disagreement(event.sequence, "the event names no release")
        release = self.releases.get(event.release)
        self._expect(event, "state", None if release is None else release.state, move.before)
        self._expect(event, "state", after["state"], move.after)
        if event.kind == RESERVE:
            release = self._reserve(event, after)
        if event.kind == CANCEL and event.release in self.rounds:
            self._check_not_open(event)
        if event.kind in (PUBLISH, FAIL) and event.release in self.rounds:
            self.batches[event.release] = after.get("batch", {})
        if event.kind == SPEND and "collection" in self.dataset and event.release not in self.rounds:
            raise Disagreement(event.sequence, "the event opens a round that was not fixed")
        assert release is not None  # noqa: S101 - every other move starts from a state
        if "committed" in before:
            self._expect(event, "balance", before["committed"], self.balances())
        self._settle(event, release)
        if "committed" in after:
            self._expect(event, "balance", after["committed"], self.balances())
        release.state, release.sequence = move.after, event.sequence
        release.sha256 = after["sha256"] if event.kind == PUBLISH else ""

    def _check_not_open(self, event: Event) -> None:
        """Refuses open rounds: a round that may have reports keeps its charge."""
        release = None if event.release is None else self.releases.get(event.release)
        moments = {} if release is None else release.moments or {}
        if event.at_microseconds >= int(moments.get("starts_at", 0)):
            raise Disagreement(event.sequence, "the event gives the charge of an open round back")

    def _reserve(self, event: Event, after: Any) -> ReplayedRelease:
        charges, facts = after["charges"], after["release"]
        if set(charges) != set(self.limits):
            raise Disagreement(event.sequence, "the event charges other accounts than there are")
        if not all(map(_is_charge, charges.values())):
            raise Disagreement(event.sequence, "the event charges what is no charge")
        if self.waits:
            raise Disagreement(event.sequence, "the event asks of a restored dataset that nobody confirmed")
        assert event.release is not None  # noqa: S101 - checked by the caller
        release = ReplayedRelease(
            state=ReleaseState.RESERVED,
            facts=facts,
            charges=charges,
            sequence=event.sequence,
            person=event.actor_id,
            reserved=event.sequence,
            reserved_at=event.at_microseconds,
            knows_guide=self._knows_guide(event, facts),
            moments=after.get("moments"),
        )
        self.releases[event.release] = release
        return release

    def _knows_guide(self, event: Event, facts: Any) -> bool:
        """Tells whether a release's guide, if any, is a file or a published map of this ledger by now."""
        if "guide" not in facts:
            return True
        file = self.guides.get(facts["guide"])
        if file is not None:
            self._expect(event, "guide", facts["guide_sha256"], file["guide_sha256"])
            return True
        release = self.releases.get(UUID(facts["guide"]))
        return release is not None and release.state == ReleaseState.PUBLISHED

    def _settle(self, event: Event, release: ReplayedRelease) -> None:
        sign = {RESERVE: 1, CANCEL: -1}.get(event.kind, 0)
        for kind, amount in release.charges.items():
            if isinstance(amount, int):
                self.committed[kind] += sign * amount
                self._take(event, kind, release.person, sign * amount)
            else:
                self.unbounded[kind] += sign
        self._check_limits(event)

    def _take(self, event: Event, kind: str, person: int | None, amount: int) -> None:
        if person is None:
            raise Disagreement(event.sequence, "nobody asked for the release")
        key: tuple[str, int | str] = (kind, person)
        self.committed_by_person[key] = self.committed_by_person.get(key, 0) + amount
        allowed = self.allowance(kind, person)
        if allowed == FOLLOWS_DEFAULT.value:
            allowed = self.allowance(kind, EVERYBODY)
        if amount > 0 and allowed != NO_LIMIT and self.committed_by_person[key] > int(allowed):
            raise Disagreement(event.sequence, f"the {kind} account's allowance of its person is exceeded")

    def _check_limits(self, event: Event) -> None:
        for kind, limit in self.limits.items():
            highest = LARGEST if limit == NO_LIMIT else int(limit)
            unbounded = limit != NO_LIMIT and self.unbounded[kind]
            if unbounded or not 0 <= self.committed[kind] <= highest:
                raise Disagreement(event.sequence, f"the {kind} account is over its limit")

    def _expect(self, event: Event, what: str, actual: object, expected: object) -> None:
        if actual != expected:
            raise Disagreement(event.sequence, f"the event's {what} does not follow from the ones before it")


def _is_charge(amount: object) -> bool:
    """Tells whether it is a charge: one below 0 would give back what others spent."""
    return amount == NO_BOUND or (type(amount) is int and amount >= 0)
