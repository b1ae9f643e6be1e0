"""Words events of the ledger: what happened, from what to what."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.contrib.auth.models import User

from heatmaps import numbers
from heatmaps.data_slice import EDGES
from heatmaps.ingest.versions.retention import words
from heatmaps.ledger.amounts import as_decimal
from heatmaps.ledger.facts import EVERYBODY
from heatmaps.ledger.reading import moment, shown_hash
from heatmaps.models import AccountKind, Event, ReleaseState, RowCapacity
from heatmaps.models.fraction_field import stored_fraction
from heatmaps.regions import region_of
from heatmaps.wording.data_slice import box_words
from heatmaps.wording.guarantee import decimal
from heatmaps.wording.mechanisms import mechanism_title
from mechanisms.guarantee import Relation
from mechanisms.space.grid import Region
from mechanisms.space.subregion import Rectangle

TITLES: Final = {
    "open": "Dataset opened",
    "reserve": "Budget reserved for a release",
    "spend": "Budget spent, the draw may begin",
    "late": "Result late, slots are twice as long from now on",
    "postpone": "Release postponed",
    "publish": "Release published",
    "fail": "Release ended without a result, its charge stays",
    "lose": "Release not drawn after a restore, its charge stays",
    "cancel": "Release cancelled, its charge is given back",
    "restored": "Database restored, what is not known is charged",
    "confirmed": "Members and opt-outs confirmed after the restore",
    "limit": "Limit changed",
    "allowance": "Allowance changed",
    "version": "Data version advanced",
    "bound": "Contents of a data version bound to the ledger",
    "member": "Members changed",
    "reset-link": "Link for a new password made for a member",
    "factor-removed": "Second factor of a member removed",
    "publication": "Readers of a release changed",
    "embedding": "Websites that may embed public maps set",
    "schedule": "Schedule of data versions set",
    "retention": "How long check-ins are kept set",
    "guide": "Guide file stored",
    "close": "Ledger closed for good, nothing before counts as verified",
    "round": "Round fixed, before its first report",
}

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_AMOUNTS: Final = ("limits", "charges", "committed")
_LOSSES: Final = ("epsilon", "delta")
_HEADINGS: Final = {"limits": "limit of", "charges": "charge to", "committed": "committed of"}
# Digests: the first characters tell them apart.
_LONG: Final = (
    *("guarantee", "question", "sha256", "guide_sha256", "file_sha256", "sheet_sha256", "collection"),
    *("source_fingerprint", "commitment", "details"),
)
_OF_ROUNDS: Final = ("facts_sha256", "invitations_sha256", "page_sha384", "analyser_key", "shuffler_key")
_RELATIONS: Final = {Relation.ADD_REMOVE: "add or remove", Relation.REPLACE: "replace"}
_WORDS: Final[Mapping[str, Callable[[str], str]]] = {
    "state": lambda state: ReleaseState(state).label.replace("_", " "),
    "mechanism": mechanism_title,
    "epsilon": lambda epsilon: decimal(stored_fraction(epsilon)),
    "delta": lambda delta: decimal(stored_fraction(delta), digits=18),
    "relation": lambda relation: _RELATIONS[Relation(relation)],
    "row_capacity": lambda rows: RowCapacity(int(rows)).label,
    "role": lambda role: role.replace("_", " "),
}
_ACCOUNTS: Final = ("member", "invited_by")  # account ids, shown by name
_MICROSECONDS: Final = ("starts_at", "visible_at", "known_until")
_SECONDS: Final = ("since", "until")
_NAMES: Final = {
    "within": "part of the region",
    "since": "from",
    "until": "before",
    "epsilon": "ε",
    "delta": "δ",
}
# Facts that the page leaves to files and to the API: digests, and what the title of the event says.
_MINOR: Final = (
    *_LONG,
    *_OF_ROUNDS,
    "round",
    "state",
    "starts_at",
    "slot_doublings",
    "user_form",
    "person_bits",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    name: str
    before: str  # empty: nothing before
    after: str
    is_minor: bool = False
    is_moment: bool = False  # its texts are moments in UTC
    is_amount: bool = False  # its texts are exact decimals


@dataclass(frozen=True, slots=True, kw_only=True)
class EventLine:
    sequence: int
    at: str
    actor: str
    title: str
    release: str
    facts: tuple[Fact, ...]
    hash: str

    @property
    def main_facts(self) -> tuple[Fact, ...]:
        """Returns the facts that the page tells."""
        return tuple(fact for fact in self.facts if not fact.is_minor)


def event_line(event: Event, *, exact_time: bool) -> EventLine:
    """Words one row of the ledger page; `exact_time`: for somebody who may see data (`ledger.reading`)."""
    return EventLine(
        sequence=event.sequence,
        at=moment(event, sees_data=exact_time),
        actor=event.actor.get_username() if event.actor else "the server",
        title=TITLES.get(event.kind, event.kind),
        release=str(event.release) if event.release else "",
        facts=tuple(_facts(json.loads(event.before), json.loads(event.after), region_of(event.dataset))),
        hash=shown_hash(event, sees_data=exact_time),
    )


def _facts(before: Mapping[str, object], after: Mapping[str, object], region: Region) -> Iterator[Fact]:
    if "allowance" in after:
        yield from _allowance(before, after)
        return
    old, new = dict(_flat(before, region)), dict(_flat(after, region))
    for key in [*old, *(key for key in new if key not in old)]:
        if key not in old or key not in new or old[key] != new[key]:
            name, heading = key
            yield Fact(
                name=_name(name, heading),
                before=old.get(key, ""),
                after=new.get(key, ""),
                is_minor=name in _MINOR or (heading == "charges" and new.get(key) == "0"),
                is_moment=name in (*_MICROSECONDS, *_SECONDS),
                is_amount=heading in _AMOUNTS or name in _LOSSES,
            )


def _allowance(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Fact]:
    kind, person = AccountKind(after["allowance"]["account"]), after["allowance"]["person"]
    holder = "everyone" if person == EVERYBODY else _account_name(person)
    old, new = (_amount(side["allowance"]["units"], kind) for side in (before, after))
    yield Fact(name=f"allowance of {holder} on {kind.label}", before=old, after=new, is_amount=True)
    yield Fact(name="reason", before="", after=after["reason"])


def _flat(
    facts: Mapping[str, object], region: Region, heading: str = ""
) -> Iterator[tuple[tuple[str, str], str]]:
    """Yields ((name, heading), words)."""
    for name, value in facts.items():
        if isinstance(value, Mapping):
            yield from _flat(value, region, name)
        elif heading in _AMOUNTS:
            yield (name, heading), _amount(value, name)
        elif name == "within":
            yield (name, ""), _part(str(value), region)
        else:
            yield (name, ""), _value(name, value)


def _name(name: str, heading: str) -> str:
    if heading:
        return f"{_HEADINGS[heading]} {AccountKind(name).label}"
    return _NAMES.get(name, name.replace("_", " "))


def _part(edges: str, region: Region) -> str:
    """Words finest grid lines as degrees."""
    part = Rectangle(*map(int, edges.split(","))).region(region)
    return box_words(dict(zip(EDGES, part, strict=True)))


def _amount(value: object, kind: str) -> str:
    return as_decimal(value, AccountKind(kind)) if isinstance(value, int) else str(value)


def _value(name: str, value: object) -> str:
    if name in _MICROSECONDS and isinstance(value, int):
        return numbers.moment(_EPOCH + timedelta(microseconds=value), seconds=True)
    if name in _SECONDS and isinstance(value, int):
        return numbers.moment(_EPOCH + timedelta(seconds=value))
    if name in _WORDS:
        return _WORDS[name](str(value))
    if name == "retention" and isinstance(value, int):
        return words(value)
    if name in _ACCOUNTS:
        return _account_name(value)
    return f"{str(value)[:12]}…" if name in _LONG else str(value)


def _account_name(account: object) -> str:
    """Names an account: events have its number; accounts are closed, never deleted, and may be renamed."""
    username = User.objects.filter(pk=int(str(account))).values_list("username", flat=True).first()
    return username or f"account {account}"
