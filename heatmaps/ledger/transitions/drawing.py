"""What happens to a reserved release: it is spent and ends, or it is cancelled."""

import hashlib
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import F
from django.utils import timezone

from heatmaps.ledger import events, facts
from heatmaps.ledger.errors import IllegalTransition
from heatmaps.ledger.events import Facts
from heatmaps.ledger.transitions import allowances
from heatmaps.ledger.transitions.locks import locked_accounts, locked_release
from heatmaps.ledger.transitions.moves import CANCEL, FAIL, MOVES, PUBLISH, SPEND
from heatmaps.models import Account, Charge, Ledger, Release, ReleaseState, Result


def spend(release_id: UUID) -> bool:
    """The draw may begin: True for exactly one caller, ever, and never after the reservation expired.

    Committed when it returns, before any data are read: inside another transaction it refuses to run.
    """
    with locked_release(release_id, durable=True) as ledger:
        now = timezone.now()
        lease_until = now + timedelta(seconds=settings.LEASE_SECONDS)
        valid = Release.objects.filter(pk=release_id, expires_at__gte=now).exists()
        if not valid or not _move(release_id, SPEND, lease_until=lease_until):
            return False
        _append_move(ledger, SPEND, release_id)
    return True


def publish(release_id: UUID, content: bytes, sha256: str) -> None:
    """Store what was drawn. Errors: IllegalTransition unless spent, e.g. after the lease ran out."""
    if hashlib.sha256(content).hexdigest() != sha256:
        raise ValueError("sha256 is not the digest of content")
    with locked_release(release_id) as ledger:
        _must_move(release_id, PUBLISH, lease_until=None, finished_at=timezone.now())
        Result.objects.create(release_id=release_id, content=content, sha256=sha256)
        _append_move(ledger, PUBLISH, release_id, sha256=sha256)


def fail(release_id: UUID) -> None:
    """No result; the charge stays, since failing may depend on data. Errors: IllegalTransition."""
    with locked_release(release_id) as ledger:
        _must_move(release_id, FAIL, lease_until=None, finished_at=timezone.now())
        _append_move(ledger, FAIL, release_id)


def cancel(release_id: UUID, *, actor: User | None) -> bool:
    """Give the charge back; False when the release is not reserved any more. No actor: it expired."""
    with locked_release(release_id) as ledger:
        if not _move(release_id, CANCEL, finished_at=timezone.now()):
            return False
        accounts = locked_accounts(ledger.dataset_id)
        before: Facts = {"state": str(ReleaseState.RESERVED), "committed": facts.balances(accounts)}
        _give_all_back(release_id)
        now = facts.balances(locked_accounts(ledger.dataset_id))
        after: Facts = {"state": str(ReleaseState.CANCELLED), "committed": now}
        events.append(ledger, CANCEL, actor=actor, release=release_id, before=before, after=after)
    return True


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
    events.append(ledger, name, actor=None, release=release_id, before=states[0], after=states[1])


def _give_all_back(release_id: UUID) -> None:
    charges = Charge.objects.filter(release_id=release_id).select_related("release").order_by("account_id")
    for charge in charges:
        _give_back(charge)
        allowances.give_back(charge.account_id, charge.release.requested_by_id, charge.amount)


def _give_back(charge: Charge) -> None:
    rows = Account.objects.filter(pk=charge.account_id)
    if charge.amount is not None:
        rows.update(committed=F("committed") - charge.amount)
    else:
        others = Charge.objects.filter(account=charge.account_id, amount=None)
        rows.update(unbounded=others.exclude(release__state=ReleaseState.CANCELLED).exists())
