"""Resumes an installation that is on hold, by what its operator says happened."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.urls import reverse

from heatmaps.collections import collection
from heatmaps.ingest import opt_outs
from heatmaps.ledger import transitions
from heatmaps.ledger.transitions.limits import check_reason
from heatmaps.models import Account, AccountKind, Collection, Dataset, HoldCause, Installation, Role
from heatmaps.people import after_restore, password_links
from heatmaps.record import elections, hold

NO_BOUND = "no-bound"
RESUMED = "resumed"  # the kind of the event where nothing was lost
# Where a record proves what the database lacks, or a command restored it, something was lost.
_MAY_HAVE_LOST_NOTHING = (HoldCause.NO_RECORD, HoldCause.OTHER_PLACE)


class CannotResume(Exception):  # noqa: N818 - reads as what it says
    """Gives a readable reason in one line; nothing was changed."""


class OtherCopy(StrEnum):
    """Says what became of the server that this database is an older copy of."""

    STOPPED = "stopped"  # for good
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """Holds what the operator says. charges: units, by (slug, account); None: no bound from then on."""

    reason: str
    other_copy: OtherCopy
    charges: Mapping[tuple[str, AccountKind], int | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """Tells what was done: how many datasets continue, and whether the record told what to charge.

    link: the path at which the administrator chooses a password.
    """

    datasets: int
    knows_charges: bool
    administrator: str
    link: str


def nothing_was_lost(reason: str) -> None:
    """Goes on with the database as it is: no older copy, and nothing drawn that it does not have.

    Errors: CannotResume where that is known to be false; InvalidLimit without a reason.
    """
    check_reason(reason)
    cause = hold.cause()
    if cause is not None and cause not in _MAY_HAVE_LOST_NOTHING:
        raise CannotResume(
            f"{cause.label}: something was lost, so say what became of the other copy with --other-copy"
        )
    if cause is None and hold.waits_since() is None:
        raise CannotResume("this installation is not on hold, and nothing waits")
    if elections.is_behind():  # whatever was seen first
        raise CannotResume(
            f"{HoldCause.OLDER.label}: something was lost, so say what became of the other copy with "
            "--other-copy"
        )
    with transaction.atomic():
        for dataset in _open_datasets():
            transitions.record(dataset, RESUMED, actor=None, before={}, after={"reason": reason.strip()})
    if cause is not None:
        elections.go_on(forget=False)
    _end_hold()


def restored(statement: Statement) -> Resumed:
    """Continues an older database: what was queued ends, and what is not known is charged.

    Nobody gets in as before, and nothing is public. Also where only its operator knows that it is older.

    Errors: CannotResume; InvalidLimit without a reason.
    """
    check_reason(statement.reason)
    administrator = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    if administrator is None:
        raise CannotResume(
            "there is no administrator who could let people in; `createdemo --empty` makes one"
        )
    lost = elections.lost_charges()
    _check_charges(statement, lost)
    hold.put(HoldCause.RESTORED)  # where only its operator knows: nothing is asked meanwhile
    knows_charges = statement.other_copy == OtherCopy.STOPPED and elections.tells_everything()
    with transaction.atomic():
        datasets = _open_datasets()
        for dataset in datasets:
            _restore(dataset, statement, lost, knows_all=knows_charges)
        after_restore.end_ways_in()
    for name in ("credentials", "credentials-administrator"):
        (settings.STATE_DIR / name).unlink(missing_ok=True)  # they let nobody in any more
    elections.go_on(forget=True)
    _end_hold()
    administrator.refresh_from_db()
    return Resumed(
        datasets=len(datasets),
        knows_charges=knows_charges,
        administrator=administrator.get_username(),
        link=reverse("account_reset_password_from_key", args=[password_links.new_secret(administrator)]),
    )


def _open_datasets() -> list[Dataset]:
    """Returns all whose ledger is not closed for good; others can be neither asked, shown nor charged."""
    return list(Dataset.objects.filter(ledger__closed_sequence=None).order_by("pk"))


def _restore(
    dataset: Dataset, statement: Statement, lost: Mapping[int, int | None], *, knows_all: bool
) -> None:
    charges: dict[AccountKind, int | None] = {}
    for account in Account.objects.filter(dataset=dataset):
        kind, proved = AccountKind(account.kind), lost.get(account.pk, 0)
        if (dataset.slug, kind) in statement.charges:
            charges[kind] = statement.charges[dataset.slug, kind]
        elif knows_all or proved is None or _is_more_than_was_left(proved, account):
            charges[kind] = proved
    with transitions.locked(dataset.pk):
        stewards = User.objects.filter(memberships__dataset=dataset, memberships__role=Role.STEWARD)
        are_replayed = opt_outs.replay(dataset, entered_by=stewards.order_by("pk")[0])
        after_restore.hide(dataset)
        # Shown to nobody: a shuffler that was replaced may have the one before.
        for row in Collection.objects.filter(dataset=dataset):
            collection.new_token(row)
        unknown = transitions.Unknown(
            charges=charges,
            other_copy=statement.other_copy,
            reason=statement.reason,
            opt_outs_replayed=knows_all and are_replayed,
        )
        transitions.restore(dataset, unknown)


def _is_more_than_was_left(amount: int, account: Account) -> bool:
    """Returns whether a limit must have been raised since the backup."""
    return account.limit is not None and amount > account.limit - account.committed


def _check_charges(statement: Statement, lost: Mapping[int, int | None]) -> None:
    """Refuses charges of no account, and less than a record at hand proves."""
    rows = Account.objects.values_list("dataset__slug", "kind", "pk")
    accounts = {(slug, AccountKind(kind)): account for slug, kind, account in rows}
    for (slug, kind), amount in statement.charges.items():
        account = accounts.get((slug, kind))
        if account is None:
            raise CannotResume(f"--charge names {slug}:{kind}, which is no account of a dataset here")
        proved = lost.get(account, 0)
        if amount is not None and (proved is None or amount < proved):
            raise CannotResume(
                f"--charge of {slug}:{kind} is less than was drawn by the record of this server; leave it "
                f"out with --other-copy stopped, or say {NO_BOUND} or more"
            )


def _end_hold() -> None:
    Installation.objects.update(held_since=None, hold_cause="", confirm_before=None)
