"""Events of the ledger in plain words: what happened, from what to what."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from django.contrib.auth.models import User

from heatmaps.ledger.amounts import as_decimal
from heatmaps.ledger.facts import EVERYBODY
from heatmaps.ledger.reading import moment, shown_hash
from heatmaps.models import AccountKind, Event, ReleaseState
from heatmaps.retention import words
from heatmaps.wording.guarantee import decimal

TITLES: Final = {
    "open": "Dataset opened",
    "reserve": "Budget reserved for a release",
    "spend": "Budget spent, the draw may begin",
    "publish": "Release published",
    "fail": "Release ended without a result, its charge stays",
    "cancel": "Release cancelled, its charge is given back",
    "limit": "Limit changed",
    "allowance": "Allowance changed",
    "version": "Data version advanced",
    "member": "Members changed",
    "reset-link": "Link for a new password made for a member",
    "publication": "Readers of a release changed",
    "schedule": "Schedule of data versions set",
    "retention": "How long check-ins are kept set",
}

_AMOUNTS: Final = ("limits", "charges", "committed")
_HEADINGS: Final = {"limits": "limit of", "charges": "charge to", "committed": "committed of"}
_LONG: Final = ("guarantee", "question", "sha256")  # digests: the first characters tell them apart
_ACCOUNTS: Final = ("member", "invited_by")  # account ids, shown by name


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
    """One row of the ledger page; `exact_time`: for somebody who may see data (`ledger.reading`)."""
    return EventLine(
        sequence=event.sequence,
        at=moment(event, sees_data=exact_time),
        actor=event.actor.get_username() if event.actor else "the server",
        title=TITLES.get(event.kind, event.kind),
        release=str(event.release) if event.release else "",
        facts=tuple(_facts(json.loads(event.before), json.loads(event.after))),
        hash=shown_hash(event, sees_data=exact_time),
    )


def _facts(before: Mapping[str, object], after: Mapping[str, object]) -> Iterator[Fact]:
    if "allowance" in after:
        yield from _allowance(before, after)
        return
    old, new = dict(_flat(before)), dict(_flat(after))
    for name in [*old, *(name for name in new if name not in old)]:
        if name not in old or name not in new or old[name] != new[name]:
            yield Fact(name=name, before=old.get(name, ""), after=new.get(name, ""))


def _allowance(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Fact]:
    kind, person = AccountKind(after["allowance"]["account"]), after["allowance"]["person"]
    whose = "everybody" if person == EVERYBODY else _account_name(person)
    old, new = (_amount(side["allowance"]["units"], kind) for side in (before, after))
    yield Fact(name=f"allowance of {whose} on {kind.label}", before=old, after=new)
    yield Fact(name="reason", before="", after=after["reason"])


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
    if name == "retention" and isinstance(value, int):
        return words(value)
    if name in _ACCOUNTS:
        return _account_name(value)
    return f"{str(value)[:12]}…" if name in _LONG else str(value)


def _account_name(account: object) -> str:
    """Events name accounts by number; they are closed, never deleted, and may be renamed."""
    known = User.objects.filter(pk=int(str(account))).values_list("username", flat=True).first()
    return known or f"account {account}"
