"""Spends, ends and cancels reserved releases.

Spend and outcome enter the chain at the release's public moments, stamped with them, whenever its draw began
and ended.
"""

from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import F
from django.utils import timezone

from heatmaps.ledger import events, facts
from heatmaps.ledger.errors import IllegalTransition
from heatmaps.ledger.events import Facts
from heatmaps.ledger.transitions import allowances, delaying, slots
from heatmaps.ledger.transitions.locks import locked_accounts, locked_release
from heatmaps.ledger.transitions.moves import CANCEL, FAIL, LATE, MOVES, PUBLISH, SPEND
from heatmaps.models import (
    Account,
    Charge,
    Drawing,
    DrawingState,
    Ledger,
    Release,
    ReleaseState,
    RestoredCharge,
    Result,
    Round,
    SourceReading,
)
from heatmaps.record import hold


def spend(release_id: UUID) -> bool:
    """Lets the draw begin: True for exactly one caller, ever.

    Not before `starts_at`, not while another release of the dataset is being drawn, and never after the
    reservation expired. Committed when it returns, before any data are read: inside another transaction it
    refuses to run.
    """
    with locked_release(release_id, durable=True) as ledger:
        now = timezone.now()
        release = Release.objects.get(pk=release_id)
        due = release.starts_at <= now <= release.expires_at and not _lacks_facts(ledger, release_id)
        if not due or slots.queue(release.dataset_id).filter(state=ReleaseState.SPENT).exists():
            return False
        # A round opens and closes at moments that devices were told, whoever was away then.
        is_missed = not ledger.dataset.origin.has_fixed_moments and slots.is_missed(release, now)
        if release.state == ReleaseState.RESERVED and is_missed:
            delaying.postpone(ledger, release, now)
        if not _move(release_id, SPEND):
            return False
        _append_move(ledger, SPEND, release)
    return True


def publish(release_id: UUID) -> None:
    """Shows what was drawn.

    Errors: IllegalTransition unless spent, drawn in time, and its moment has come.
    """
    with locked_release(release_id) as ledger:
        release, drawing = _visible(ledger, release_id, PUBLISH, (DrawingState.DRAWN,))
        _must_move(release, PUBLISH, finished_at=release.visible_at)
        Result.objects.create(release_id=release_id, content=drawing.content, sha256=drawing.sha256)
        drawing.delete()
        _append_move(ledger, PUBLISH, release, sha256=drawing.sha256, **_batch(release_id))


def fail(release_id: UUID) -> None:
    """Ends a release without a result; the charge stays, since failing may depend on data.

    Errors: IllegalTransition unless spent, given up after a begin in time, and its moment has come.
    """
    with locked_release(release_id) as ledger:
        ends = (DrawingState.FAILED, DrawingState.REFUSED)
        release, drawing = _visible(ledger, release_id, FAIL, ends)
        _must_move(release, FAIL, finished_at=release.visible_at)
        # No other cause is told, as it may depend on data.
        reason = {"reason": facts.NOT_PAID_FOR} if drawing.state == DrawingState.REFUSED else {}
        drawing.delete()
        _append_move(ledger, FAIL, release, **reason, **_batch(release_id))


def delay(release_id: UUID) -> None:
    """Sets another moment for a release whose outcome cannot be told at this one.

    Where no worker has begun its draw in time, the slot is postponed, whatever came of it: that cannot depend
    on its data. Otherwise it is late, and slots of the dataset are twice as long from now on.
    Errors: IllegalTransition unless spent, without an outcome or begun too late, and its moment has come.
    """
    with locked_release(release_id) as ledger:
        release = _due(release_id, LATE)
        drawing = Drawing.objects.select_for_update().filter(pk=release_id).first()
        reading = SourceReading.objects.filter(pk=release_id).only("begun_at").first()
        now, begun_at = timezone.now(), None
        if drawing is not None:
            begun_at = drawing.claimed_at
        elif reading is not None:
            begun_at = reading.begun_at  # a lake is being read, which takes as long as its data say
        if begun_at is None or not slots.has_had_time(release, begun_at, ledger.dataset):
            delaying.postpone(ledger, release, now)
        elif drawing is None or drawing.state == DrawingState.RUNNING:
            delaying.be_late(ledger, release, now)
        else:
            raise IllegalTransition(LATE, drawing.state)


def cancel(release_id: UUID, *, actor: User | None) -> bool:
    """Gives the charge back; False when the release is not reserved any more.

    A person cancels before `starts_at` only. No actor: it expired. A round that may have reports is not
    cancelled by anybody, nor what waits for an operator: it may have been drawn.
    """
    with locked_release(release_id) as ledger:
        now = timezone.now()
        if hold.keeps_back(Release.objects.get(pk=release_id)):
            return False
        if Round.objects.filter(pk=release_id, opens_at__lte=now).exclude(facts="").exists():
            return False
        if actor is not None and not Release.objects.filter(pk=release_id, starts_at__gt=now).exists():
            return False
        if not _move(release_id, CANCEL, finished_at=now):
            return False
        accounts = locked_accounts(ledger.dataset_id)
        before: Facts = {"state": str(ReleaseState.RESERVED), "committed": facts.balances(accounts)}
        _give_all_back(release_id)
        left = facts.balances(locked_accounts(ledger.dataset_id))
        after: Facts = {"state": str(ReleaseState.CANCELLED), "committed": left}
        events.append(ledger, CANCEL, actor=actor, release=release_id, before=before, after=after)
    return True


def _lacks_facts(ledger: Ledger, release_id: UUID) -> bool:
    """Tells whether a round was planned and no shuffler has taken part in it."""
    return (
        ledger.dataset.origin.has_fixed_moments
        and not Round.objects.filter(pk=release_id).exclude(facts="").exists()
    )


def _due(release_id: UUID, move: str) -> Release:
    """Returns the spent release whose outcome is to be told now. Errors: IllegalTransition."""
    release = Release.objects.get(pk=release_id)
    if release.state != ReleaseState.SPENT or release.visible_at > timezone.now():
        raise IllegalTransition(move, release.state)
    return release


def _visible(
    ledger: Ledger, release_id: UUID, move: str, states: tuple[DrawingState, ...]
) -> tuple[Release, Drawing]:
    release = _due(release_id, move)
    drawing = Drawing.objects.select_for_update().filter(pk=release_id, state__in=states).first()
    if drawing is None or not slots.has_had_time(release, drawing.claimed_at, ledger.dataset):
        raise IllegalTransition(move, release.state)
    return release, drawing


def _move(release_id: UUID, name: str, **columns: object) -> bool:
    """Moves a release from the old state to the new one, or not at all: the state machine's only UPDATE."""
    move = MOVES[name]
    return Release.objects.filter(pk=release_id, state=move.before).update(state=move.after, **columns) == 1


def _must_move(release: Release, name: str, **columns: object) -> None:
    if not _move(release.pk, name, **columns):
        raise IllegalTransition(name, Release.objects.get(pk=release.pk).state)


def _batch(release_id: UUID) -> dict[str, Facts]:
    """Returns the batch of a round, which is public with its outcome; nothing of other releases."""
    row = Round.objects.filter(pk=release_id).first()
    return {} if row is None else {"batch": facts.batch_facts(row)}


def _append_move(ledger: Ledger, name: str, release: Release, **after: str | Facts) -> None:
    move = MOVES[name]
    events.append(
        ledger,
        name,
        actor=None,
        release=release.pk,
        before={"state": str(move.before)},
        after={"state": str(move.after), **after},
        at=release.starts_at if name == SPEND else release.visible_at,
    )


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
        unbounded_charges = Charge.objects.filter(account=charge.account_id, amount=None)
        restored_charges = RestoredCharge.objects.filter(account=charge.account_id, amount=None)
        unbounded_charges = unbounded_charges.exclude(release__state=ReleaseState.CANCELLED)
        rows.update(unbounded=unbounded_charges.exists() or restored_charges.exists())
