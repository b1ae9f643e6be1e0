"""Continues a ledger whose database was restored: what cannot be known of the time since is charged."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from django.contrib.auth.models import User
from django.utils import timezone

from heatmaps.ledger import events, facts
from heatmaps.ledger.amounts import LARGEST
from heatmaps.ledger.events import Facts
from heatmaps.ledger.transitions.limits import check_reason
from heatmaps.ledger.transitions.locks import locked, locked_accounts
from heatmaps.ledger.transitions.moves import CONFIRMED, FAIL, LOSE, MOVES, QUEUED, RESTORED
from heatmaps.models import (
    Account,
    AccountKind,
    Dataset,
    Drawing,
    Event,
    Ledger,
    Release,
    Restoration,
    RestoredCharge,
    Round,
    SourceReading,
    SourceSurvey,
)

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """Says what an operator knows of the time that a restored ledger does not know.

    charges: units by account, None where there is no bound, and no limit any more. An account that is not
    named is charged all that was left of it, and has no bound where it has no limit. other_copy: what became
    of the server that the backup was made of.
    """

    charges: Mapping[AccountKind, int | None]
    other_copy: str
    reason: str
    opt_outs_replayed: bool = False


def restore(dataset: Dataset, unknown: Unknown) -> Restoration:
    """Ends what was queued, as no result with its charge kept, and charges what is not known.

    A limit that the charges pass was raised meanwhile, and rises with them; one with a charge without a bound
    was lifted. Nothing can be asked of the
    dataset until a steward confirmed it. Errors: InvalidLimit without a reason.
    """
    check_reason(unknown.reason)
    with locked(dataset.pk) as ledger:
        now = timezone.now()
        last = Event.objects.get(dataset=dataset, sequence=ledger.last_sequence)
        # Down to the minute: others than stewards have no closer moment of an event (`ledger.reading`).
        known_until = (_EPOCH + timedelta(microseconds=last.at_microseconds)).replace(second=0, microsecond=0)
        for release in Release.objects.filter(dataset=dataset, state__in=QUEUED).order_by("starts_at", "pk"):
            end(ledger, release, now)
        # Of a lake as it was before the backup: whoever opted out since is in what was found.
        SourceSurvey.objects.filter(dataset=dataset).delete()
        Restoration.objects.filter(dataset=dataset, confirmed_at=None).update(confirmed_at=now)
        restoration = Restoration.objects.create(
            dataset=dataset,
            known_until=known_until,
            resumed_at=now,
            opt_outs_replayed=unknown.opt_outs_replayed,
        )
        accounts = locked_accounts(dataset.pk)
        before: Facts = {"committed": facts.balances(accounts), "limits": facts.limits(accounts)}
        charges = {str(account.kind): _charge(account, unknown, restoration) for account in accounts}
        after: Facts = {
            "known_until": events.microseconds(known_until),
            "other_copy": unknown.other_copy,
            "reason": unknown.reason.strip(),
            "charges": {kind: facts.charge_fact(amount) for kind, amount in charges.items()},
            "committed": facts.balances(accounts),
            "limits": facts.limits(accounts),
        }
        events.append(ledger, RESTORED, actor=None, release=None, before=before, after=after)
    return restoration


def confirm(dataset: Dataset, *, actor: User, opt_outs: str) -> bool:
    """Lets questions be asked again of a restored dataset, at a steward's word; False where none waits.

    opt_outs: where they came from, for everybody to read.
    """
    with locked(dataset.pk) as ledger:
        restorations = Restoration.objects.filter(dataset=dataset, confirmed_at=None)
        if not restorations.update(confirmed_at=timezone.now(), confirmed_by=actor):
            return False
        after: Facts = {"opt_outs": opt_outs}
        events.append(ledger, CONFIRMED, actor=actor, release=None, before={}, after=after)
    return True


def end(ledger: Ledger, release: Release, now: datetime) -> None:
    """Ends a release that may have been drawn since the backup: it never is again, and keeps its charge."""
    name = LOSE if release.state == MOVES[LOSE].before else FAIL
    move = MOVES[name]
    Drawing.objects.filter(pk=release.pk).delete()
    SourceReading.objects.filter(pk=release.pk).delete()
    Release.objects.filter(pk=release.pk, state=move.before).update(state=move.after, finished_at=now)
    after: dict[str, str | Facts] = {"state": str(move.after)}
    row = Round.objects.filter(pk=release.pk).first()
    if name == FAIL and row is not None:
        after["batch"] = facts.batch_facts(row)
    events.append(
        ledger, name, actor=None, release=release.pk, before={"state": str(move.before)}, after=after
    )


def _charge(account: Account, unknown: Unknown, restoration: Restoration) -> int | None:
    """Adds the charge to a locked account, in memory too; the amount as it was charged."""
    left = None if account.limit is None else account.limit - account.committed
    amount = unknown.charges.get(AccountKind(account.kind), left)
    if amount is not None and amount > LARGEST - account.committed:
        amount = left  # more than the account can count
    if amount is None:
        # Where there is a limit it was lifted meanwhile: no other charge is without a bound.
        account.unbounded, account.limit = True, None
    else:
        account.committed += amount
        account.limit = None if account.limit is None else max(account.limit, account.committed)
    account.save(update_fields=["committed", "limit", "unbounded"])
    RestoredCharge.objects.create(restoration=restoration, account=account, amount=amount)
    return amount
