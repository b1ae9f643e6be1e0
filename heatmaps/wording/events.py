"""Events of the ledger in plain words: what happened, from what to what."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Final

from heatmaps.ledger.amounts import as_decimal
from heatmaps.models import AccountKind, Event, ReleaseState
from heatmaps.wording.guarantee import decimal

TITLES: Final = {
    "open": "Dataset opened",
    "reserve": "Budget reserved for a release",
    "spend": "Budget spent, the draw may begin",
    "publish": "Release published",
    "fail": "Release ended without a result, its charge stays",
    "cancel": "Release cancelled, its charge is given back",
    "limit": "Limit changed",
    "version": "Data version advanced",
}

_AMOUNTS: Final = ("limits", "charges", "committed")
_HEADINGS: Final = {"limits": "limit of", "charges": "charge to", "committed": "committed of"}
_LONG: Final = ("guarantee", "question", "sha256")  # digests: the first characters tell them apart
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    name: str
    before: str  # empty: nothing before
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EventLine:
    sequence: int
    at: str
    actor: str
    title: str
    release: str
    facts: tuple[Fact, ...]
    hash: str


def event_line(event: Event, *, exact_time: bool) -> EventLine:
    """One row of the ledger page; times to the minute tell less about how long a draw ran than exact ones."""
    return EventLine(
        sequence=event.sequence,
        at=moment(event.at_microseconds, exact=exact_time),
        actor=event.actor.get_username() if event.actor else "the server",
        title=TITLES.get(event.kind, event.kind),
        release=str(event.release) if event.release else "",
        facts=tuple(_facts(json.loads(event.before), json.loads(event.after))),
        hash=event.hash,
    )


def moment(at_microseconds: int, *, exact: bool) -> str:
    """UTC, to the second or to the minute."""
    at = _EPOCH + timedelta(microseconds=at_microseconds)
    return at.strftime("%Y-%m-%d %H:%M:%S" if exact else "%Y-%m-%d %H:%M")


def _facts(before: Mapping[str, object], after: Mapping[str, object]) -> Iterator[Fact]:
    old, new = dict(_flat(before)), dict(_flat(after))
    for name in [*old, *(name for name in new if name not in old)]:
        if name not in old or name not in new or old[name] != new[name]:
            yield Fact(name=name, before=old.get(name, ""), after=new.get(name, ""))


def _flat(facts: Mapping[str, object], heading: str = "") -> Iterator[tuple[str, str]]:
    for name, value in facts.items():
        if isinstance(value, Mapping):
            yield from _flat(value, name)
        elif heading in _AMOUNTS:
            yield f"{_HEADINGS[heading]} {AccountKind(name).label}", _amount(value, name)
        else:
            yield name.replace("_", " "), _value(name, value)


def _amount(value: object, kind: str) -> str:
    return as_decimal(value, AccountKind(kind)) if isinstance(value, int) else str(value)


def _value(name: str, value: object) -> str:
    if name == "state":
        return ReleaseState(str(value)).label.replace("_", " ")
    if name == "epsilon":
        return decimal(Fraction(str(value)))
    return f"{str(value)[:12]}…" if name in _LONG else str(value)
