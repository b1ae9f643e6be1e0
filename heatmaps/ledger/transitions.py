"""The only writer of release states, balances and events.

| move | from | to | balance | from any other state |
| --- | --- | --- | --- | --- |
| reserve | (new) | reserved | + charges, where all fit | an error of the database |
| spend | reserved | spent | kept | False: the task stops |
| publish | spent | published | kept | IllegalTransition: the draw is thrown away |
| fail | spent | failed | kept | IllegalTransition |
| cancel | reserved | cancelled | − charges | False |

Each move is one transaction: the dataset's ledger row is locked first, then its accounts by primary key;
the state moves by an UPDATE that names the old state and must hit one row; the event is written with it.
On SQLite the transaction takes the write lock at BEGIN (`transaction_mode` IMMEDIATE in the settings).
"""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import Final
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Q, Sum
from django.utils import timezone

from heatmaps.ledger import events, facts
from heatmaps.ledger.amounts import ACCOUNTS, LARGEST, Charges
from heatmaps.ledger.errors import (
    BudgetExceeded,
    IllegalTransition,
    InvalidLimit,
    LimitMoved,
    UnboundedCharge,
)
from heatmaps.ledger.events import Facts
from heatmaps.models import Account, AccountKind, Charge, Dataset, Ledger, Release, ReleaseState, Result
from mechanisms.guarantee import Relation


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A row of the table above; `before` is empty for a release that does not exist yet."""

    before: ReleaseState | None
    after: ReleaseState


RESERVE, SPEND, PUBLISH, FAIL, CANCEL = "reserve", "spend", "publish", "fail", "cancel"
MOVES: Final[Mapping[str, Move]] = {
    RESERVE: Move(before=None, after=ReleaseState.RESERVED),
    SPEND: Move(before=ReleaseState.RESERVED, after=ReleaseState.SPENT),
    PUBLISH: Move(before=ReleaseState.SPENT, after=ReleaseState.PUBLISHED),
    FAIL: Move(before=ReleaseState.SPENT, after=ReleaseState.FAILED),
    CANCEL: Move(before=ReleaseState.RESERVED, after=ReleaseState.CANCELLED),
}
QUEUED: Final = (ReleaseState.RESERVED, ReleaseState.SPENT)  # one state to the public
OPEN, LIMIT, VERSION = "open", "limit", "version"
LONGEST_REASON: Final = 500  # characters


class Unset(Enum):
    UNSET = "unset"


UNSET: Final = Unset.UNSET


def open_ledger(dataset: Dataset, *, actor: User, limits: Mapping[AccountKind, int | None]) -> None:
    """Accounts and first event of a new dataset, in the caller's transaction.

    `limits` names exactly the accounts of the dataset's relation; at least one ε account has a limit.
    """
    with transaction.atomic():
        expected = ACCOUNTS[Relation(dataset.relation)]
        if set(limits) != set(expected):
            raise InvalidLimit("limits", f"the accounts of this relation are {', '.join(expected)}")
        for limit in limits.values():
            _check_limit(limit)
        _check_some_limit(limits)
        accounts = [
            Account.objects.create(dataset=dataset, kind=kind, limit=limits[kind]) for kind in expected
        ]
        after: Facts = {"dataset": facts.dataset_facts(dataset), "limits": facts.limits(accounts)}
        ledger = events.new_ledger(dataset)
        events.append(ledger, OPEN, actor=actor, release=None, before={}, after=after)


@contextmanager
def locked(dataset_id: int) -> Iterator[Ledger]:
    """A transaction that no other move of this dataset runs beside; moves may be made inside it."""
    with transaction.atomic():
        yield _lock(dataset_id)


def reserve(release: Release, charges: Charges, *, actor: User) -> Release:
    """Save a new release and commit its charges, all or nothing.

    Errors: BudgetExceeded, UnboundedCharge.
    """
    with locked(release.dataset_id) as ledger:
        accounts = _locked_accounts(release.dataset_id)
        if set(charges) != {account.kind for account in accounts}:
            raise ValueError("charges must name exactly the accounts of the dataset")
        release.state = ReleaseState.RESERVED
        release.save(force_insert=True)
        before = facts.balances(accounts)
        committed = {str(row.kind): _commit(row, charges[AccountKind(row.kind)]) for row in accounts}
        Charge.objects.bulk_create(
            Charge(release=release, account=row, amount=committed[str(row.kind)]) for row in accounts
        )
        after: Facts = {
            "state": str(release.state),
            "release": facts.release_facts(release),
            "charges": {kind: facts.charge_fact(amount) for kind, amount in committed.items()},
            "committed": facts.balances(accounts),
        }
        _append(ledger, RESERVE, actor=actor, release=release.pk, before={"committed": before}, after=after)
    return release


def spend(release_id: UUID) -> bool:
    """The draw may begin: True for exactly one caller, ever.

    Committed when it returns, before any data are read: inside another transaction it refuses to run.
    """
    with _locked_release(release_id, durable=True) as ledger:
        lease_until = timezone.now() + timedelta(seconds=settings.LEASE_SECONDS)
        if not _move(release_id, SPEND, lease_until=lease_until):
            return False
        _append_move(ledger, SPEND, release_id)
    return True


def publish(release_id: UUID, content: bytes, sha256: str) -> None:
    """Store what was drawn. Errors: IllegalTransition unless spent, e.g. after the lease ran out."""
    if hashlib.sha256(content).hexdigest() != sha256:
        raise ValueError("sha256 is not the digest of content")
    with _locked_release(release_id) as ledger:
        _must_move(release_id, PUBLISH, lease_until=None, finished_at=timezone.now())
        Result.objects.create(release_id=release_id, content=content, sha256=sha256)
        _append_move(ledger, PUBLISH, release_id, sha256=sha256)


def fail(release_id: UUID) -> None:
    """No result; the charge stays, since failing may depend on data. Errors: IllegalTransition."""
    with _locked_release(release_id) as ledger:
        _must_move(release_id, FAIL, lease_until=None, finished_at=timezone.now())
        _append_move(ledger, FAIL, release_id)


def cancel(release_id: UUID, *, actor: User | None) -> bool:
    """Give the charge back; False when the release is not reserved any more. No actor: it expired."""
    with _locked_release(release_id) as ledger:
        if not _move(release_id, CANCEL, finished_at=timezone.now()):
            return False
        accounts = _locked_accounts(ledger.dataset_id)
        before: Facts = {"state": str(ReleaseState.RESERVED), "committed": facts.balances(accounts)}
        for charge in Charge.objects.filter(release_id=release_id).order_by("account_id"):
            _give_back(charge)
        now = facts.balances(_locked_accounts(ledger.dataset_id))
        after: Facts = {"state": str(ReleaseState.CANCELLED), "committed": now}
        _append(ledger, CANCEL, actor=actor, release=release_id, before=before, after=after)
    return True


def change_limit(
    account: Account,
    new_limit: int | None,
    *,
    actor: User,
    reason: str,
    expected: int | Unset | None = UNSET,
) -> None:
    """Set a limit (None: no limit) and record why.

    `expected` is the limit the caller saw. Errors: LimitMoved when it is another one by now,
    InvalidLimit below what is committed, without a reason, or when no ε account would keep a limit.
    """
    _check_limit(new_limit)
    _check_reason(reason)
    with locked(account.dataset_id) as ledger:
        accounts = _locked_accounts(account.dataset_id)
        current = next(row for row in accounts if row.pk == account.pk)
        if expected is not UNSET and current.limit != expected:
            raise LimitMoved(AccountKind(current.kind), current.limit)
        before = {"limits": facts.limits([current])}
        _set_limit(current, new_limit)
        _check_some_limit({AccountKind(row.kind): row.limit for row in accounts})
        after: Facts = {"limits": facts.limits([current]), "reason": reason.strip()}
        _append(ledger, LIMIT, actor=actor, release=None, before=before, after=after)


def record(dataset: Dataset, kind: str, *, actor: User | None, before: Facts, after: Facts) -> None:
    """An event that moves no release and no balance, e.g. a new data version: public facts only."""
    if kind in {*MOVES, OPEN, LIMIT}:
        raise ValueError(f"kind is {kind}, which only its own transition writes")
    with locked(dataset.pk) as ledger:
        _append(ledger, kind, actor=actor, release=None, before=before, after=after)


_append = events.append


def _lock(dataset_id: int) -> Ledger:
    return Ledger.objects.select_for_update().get(pk=dataset_id)


@contextmanager
def _locked_release(release_id: UUID, *, durable: bool = False) -> Iterator[Ledger]:
    with transaction.atomic(durable=durable):
        yield _lock(Release.objects.values_list("dataset_id", flat=True).get(pk=release_id))


def _locked_accounts(dataset_id: int) -> list[Account]:
    return list(Account.objects.select_for_update().filter(dataset=dataset_id).order_by("pk"))


def _move(release_id: UUID, name: str, **columns: object) -> bool:
    """The state machine's only UPDATE: from the old state to the new one, or not at all."""
    move = MOVES[name]
    return Release.objects.filter(pk=release_id, state=move.before).update(state=move.after, **columns) == 1


def _must_move(release_id: UUID, name: str, **columns: object) -> None:
    if not _move(release_id, name, **columns):
        raise IllegalTransition(name, Release.objects.get(pk=release_id).state)


def _append_move(ledger: Ledger, name: str, release_id: UUID, **after: str) -> None:
    move = MOVES[name]
    states = {"state": str(move.before)}, {"state": str(move.after), **after}
    _append(ledger, name, actor=None, release=release_id, before=states[0], after=states[1])


def _commit(account: Account, amount: int | None) -> int | None:
    """Add a charge to a locked account, in memory too, if it fits; the amount as it was charged."""
    if amount is not None and not 0 <= amount <= LARGEST:
        raise ValueError(f"a charge is {amount}, allowed: 0 to {LARGEST} units, or None")
    if account.limit is None and amount is not None and account.committed > LARGEST - amount:
        amount = None  # more than the account can count is "no bound"
    rows = Account.objects.filter(pk=account.pk)
    if amount is None:
        if not rows.filter(limit=None).update(unbounded=True):
            raise UnboundedCharge(AccountKind(account.kind))
        account.unbounded = True
    elif not rows.filter(Q(limit=None) | Q(limit__gte=F("committed") + amount)).update(
        committed=F("committed") + amount
    ):
        raise _exceeded(account, amount)
    else:
        account.committed += amount
    return amount


def _exceeded(account: Account, amount: int) -> BudgetExceeded:
    held = Charge.objects.filter(account=account, release__state__in=QUEUED)
    return BudgetExceeded(
        AccountKind(account.kind),
        requested=amount,
        available=(account.limit or 0) - account.committed,
        reserved=held.aggregate(total=Sum("amount"))["total"] or 0,
    )


def _give_back(charge: Charge) -> None:
    rows = Account.objects.filter(pk=charge.account_id)
    if charge.amount is not None:
        rows.update(committed=F("committed") - charge.amount)
    else:
        others = Charge.objects.filter(account=charge.account_id, amount=None)
        rows.update(unbounded=others.exclude(release__state=ReleaseState.CANCELLED).exists())


def _set_limit(account: Account, limit: int | None) -> None:
    rows = Account.objects.filter(pk=account.pk)
    if limit is not None:
        rows = rows.filter(committed__lte=limit, unbounded=False)
    if not rows.update(limit=limit):
        raise InvalidLimit("limit", "a limit cannot go below what is committed already")
    account.limit = limit


def _check_limit(limit: int | None) -> None:
    if limit is not None and not 0 <= limit <= LARGEST:
        raise InvalidLimit("limit", f"a limit is 0 to {LARGEST} units of its account")


def _check_some_limit(limits: Mapping[AccountKind, int | None]) -> None:
    if all(limit is None for kind, limit in limits.items() if kind != AccountKind.DELTA):
        raise InvalidLimit("limit", "at least one ε account of a dataset has a limit")


def _check_reason(reason: str) -> None:
    if not 1 <= len(reason.strip()) <= LONGEST_REASON:
        raise InvalidLimit(
            "reason", f"a change of a limit needs a reason of 1 to {LONGEST_REASON} characters"
        )
