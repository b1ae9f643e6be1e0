"""Elects who draws a spent release, and holds the outcome until it may be published.

| move | from | to | who |
| --- | --- | --- | --- |
| claim | (none) | running | one worker, ever, while the release is spent; of a round, one at a time |
| claim | (none) | refused | the same, where the release is not what its ledger says was paid for |
| finish | running | drawn | that worker, for as long as it renews its lease |
| give up | running | failed | that worker, or the sweep once the lease ran out |

The lease is short, so that the sweep fails what a dead worker left soon; while a worker reads, draws and
stores, a thread of its own process renews it (`heatmaps.broker.leases`), by an UPDATE that names the state.

None of it is an event or is shown to anybody: the clock (`heatmaps.releases.clock`) tells the outcome at the
release's public moment.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from heatmaps.broker import leases
from heatmaps.ledger.transitions.locks import locked_release
from heatmaps.models import Drawing, DrawingState, Election, Ledger, Release, ReleaseState
from heatmaps.record import elections, hold
from heatmaps.releases.payment import Payment

_log = structlog.stdlib.get_logger(__name__)


class GivenUp(Exception):  # noqa: N818 - what happened
    """Says that the drawing was failed meanwhile: its result is thrown away."""


def claim(release: Release) -> bool:
    """Elects the caller to draw: True for exactly one, ever. Committed before any data are read.

    What is drawn is this object, which was compared with its ledger: no row of it is read again.
    The election is in the record outside the database, too. Where that has an earlier one which the database
    lacks, the release may have been drawn: it ends without a result. Errors: `OnHold`, RecordError.
    """
    payment = Payment(release)
    with (
        elections.electing(release.pk) as candidate,
        locked_release(release.pk, durable=True) as ledger,
    ):
        if not is_spent(release.pk) or Drawing.objects.filter(pk=release.pk).exists():
            return False
        state = outcome(payment, ledger, candidate)
        is_entered = enter(release, state, claimed_at=timezone.now(), candidate=candidate)
        return is_entered and state == DrawingState.RUNNING


def outcome(payment: Payment, ledger: Ledger, candidate: elections.Candidate) -> DrawingState:
    """Returns RUNNING where a candidate may draw what was paid for. The caller holds the ledger's lock."""
    if candidate.may_have_drawn:
        return DrawingState.FAILED
    if problem := payment.problem(ledger):
        _log.error("release.not_paid_for", release=payment.release.pk, problem=problem)
        return DrawingState.REFUSED
    if _may_not_draw_again(payment.release):
        return DrawingState.FAILED  # somebody was elected, and left no drawing
    return DrawingState.RUNNING


def fail_unclaimed(release: Release) -> bool:
    """Ends a spent release without a result where nobody draws it; False where somebody does."""
    with transaction.atomic(durable=True):
        return is_spent(release.pk) and enter(release, DrawingState.FAILED, claimed_at=timezone.now())


def is_spent(release_id: UUID) -> bool:
    """Tells whether a release may be elected to be drawn; locks its row: one that ends meanwhile never is."""
    spent = Release.objects.select_for_update(of=("self",)).filter(pk=release_id, state=ReleaseState.SPENT)
    release = spent.first()
    return release is not None and not hold.keeps_back(release)


def enter(
    release: Release,
    state: DrawingState,
    *,
    claimed_at: datetime,
    candidate: elections.Candidate | None = None,
) -> bool:
    """Writes the drawing, and its election where it is drawn; False where there is one already.

    In the caller's transaction, which locks the release's row. One that was elected may end as failed alone.
    """
    is_over = state != DrawingState.FAILED and _may_not_draw_again(release)
    if is_over or Drawing.objects.filter(pk=release.pk).exists():
        return False
    earlier = Election.objects.filter(release=release.pk).count()
    until = lease_end() if state == DrawingState.RUNNING else None
    Drawing.objects.create(pk=release.pk, state=state, claimed_at=claimed_at, lease_until=until)
    if candidate is not None and state == DrawingState.RUNNING:
        candidate.elect(attempt=earlier + 1)
    return True


def _may_not_draw_again(release: Release) -> bool:
    """Tells whether somebody was elected to draw, where drawing takes random numbers."""
    if release.dataset.origin.may_be_drawn_again:
        return False
    return Election.objects.filter(release=release.pk).exists()


@contextmanager
def lease(release_id: UUID) -> Iterator[None]:
    """Renews a running drawing's lease until the block ends."""
    with leases.renewed(lambda: renew(release_id), seconds=settings.LEASE_SECONDS, of=release_id):
        yield


def renew(release_id: UUID) -> bool:
    """Renews the lease from now on; False when the drawing is not running (any more)."""
    return _running(release_id).update(lease_until=lease_end()) == 1


def finish(release_id: UUID, content: bytes, sha256: str) -> None:
    """Stores what was drawn until its moment. Errors: GivenUp."""
    columns = {"state": DrawingState.DRAWN, "content": content, "sha256": sha256, "lease_until": None}
    if not _running(release_id).update(**columns):
        raise GivenUp


def give_up(release_id: UUID) -> bool:
    """Ends a drawing without a result; False when it had an end already."""
    return _running(release_id).update(state=DrawingState.FAILED, lease_until=None) == 1


def give_up_if_over(release_id: UUID, now: datetime) -> bool:
    """Gives up a drawing whose lease ran out before `now`; a renewal comes before it, or too late."""
    over = _running(release_id).filter(lease_until__lt=now)
    return over.update(state=DrawingState.FAILED, lease_until=None) == 1


def begin_again(release_id: UUID, now: datetime | None = None) -> bool:
    """Lets another worker begin what only reads and draws nothing: a round's messages.

    `now`: only if its lease ran out before then.
    """
    running = _running(release_id)
    return (running if now is None else running.filter(lease_until__lt=now)).delete()[0] == 1


def end(release: Release, *, over_at: datetime | None = None) -> bool:
    """Ends a running drawing: it begins again where it may, and has no result otherwise.

    over_at: only if its lease ran out before then.
    """
    if release.dataset.origin.may_be_drawn_again:
        return begin_again(release.pk, over_at)
    return give_up(release.pk) if over_at is None else give_up_if_over(release.pk, over_at)


def lease_end() -> datetime:
    return timezone.now() + timedelta(seconds=settings.LEASE_SECONDS)


def _running(release_id: UUID) -> "QuerySet[Drawing]":
    return Drawing.objects.filter(pk=release_id, state=DrawingState.RUNNING)
