"""Lets a steward confirm what a restore brought back with a dataset: its members, and who is left out.

Members may have been removed, and people may have opted out, in the time that the backup does not know.
"""

# ruff: noqa: N818 - domain words; `except NothingRestored` says what happened

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from django.contrib.auth.models import User
from django.db.models import QuerySet

from heatmaps.ingest.errors import UploadError
from heatmaps.ingest.versions import advance, surveys
from heatmaps.ledger import transitions
from heatmaps.ledger.errors import LedgerError
from heatmaps.models import AccountKind, Dataset, Membership, Restoration
from heatmaps.people import members
from heatmaps.people.permissions import Act, Person, require
from mechanisms.check import ParameterError

# Where opt-outs came from, as the event says it.
REPLAYED: Final = "from the record of this server"
ENTERED: Final = "entered again by a steward"


class NothingRestored(LedgerError):
    """Says that no restore of the dataset waits for a steward."""

    code = "nothing_restored"

    def __init__(self) -> None:
        super().__init__("nothing waits to be confirmed: no restore, or somebody confirmed it before")


class NeedsVersion(LedgerError):
    """Says that versions of a lake from before the restore may have people who opted out there since."""

    code = "needs_version"

    def __init__(self) -> None:
        super().__init__(
            "the table in your lake is read again first, for a data version without who opted out there "
            "meanwhile; confirm once that version is there"
        )


def latest(dataset: Dataset) -> Restoration | None:
    """Returns the latest restore of a dataset, confirmed or not."""
    rows = Restoration.objects.filter(dataset=dataset).select_related("confirmed_by")
    return rows.order_by("-pk").first()


def waits(dataset: Dataset) -> bool:
    """Returns whether nothing can be asked until a steward confirmed."""
    return Restoration.objects.filter(dataset=dataset, confirmed_at=None).exists()


@dataclass(frozen=True, slots=True, kw_only=True)
class Charged:
    """Holds a charge for what is not known. amount: units of the account; None: no bound from then on."""

    kind: AccountKind
    amount: int | None


def charges_of(restoration: Restoration) -> list[Charged]:
    """Returns the charges for what may have been released, by account."""
    rows = restoration.charges.order_by("account").values_list("account__kind", "amount")
    return [Charged(kind=AccountKind(kind), amount=amount) for kind, amount in rows]


def other_members(steward: User, dataset: Dataset) -> QuerySet[Membership]:
    """Returns the members of whom `steward` says whether they still are, stewards first."""
    return members.members_of(dataset).exclude(user=steward)


def asks_opt_outs(restoration: Restoration) -> bool:
    """Returns whether a steward has to enter the opt-outs again: nothing else has them."""
    return not restoration.opt_outs_replayed and _opt_outs(restoration) == ENTERED


def confirm(
    person: Person, dataset: Dataset, *, members_kept: Collection[int], opt_outs_entered: bool
) -> Restoration:
    """Removes every other member whose account is not in `members_kept`, and lets questions be asked again.

    A dataset with data gets its next version at once, on a schedule, too, whether anybody's opt-out waits
    for it or not: else its being there would tell. A lake has to be read first.
    Errors: as `permissions.require`; NothingRestored, NeedsVersion; `ParameterError` naming `members` for an
    account that is no member, or `opt_outs_entered`.
    """
    steward = require(person, dataset, Act.CONFIRM_RESTORATION)
    dataset.origin.check_restored(_waiting(dataset), steward)
    with transitions.locked(dataset.pk):
        require(steward, dataset, Act.CONFIRM_RESTORATION)
        restoration = _waiting(dataset)
        if asks_opt_outs(restoration) and not opt_outs_entered:
            raise ParameterError("opt_outs_entered", opt_outs_entered, "yes, once all opt-outs are entered")
        _keep(steward, dataset, set(members_kept))
        dataset.origin.renew_restored(dataset, steward)
        transitions.confirm(dataset, actor=steward, opt_outs=_opt_outs(restoration))
    restoration.refresh_from_db()
    return restoration


def _waiting(dataset: Dataset) -> Restoration:
    """Returns the restoration that waits. Errors: NothingRestored."""
    restoration = Restoration.objects.filter(dataset=dataset, confirmed_at=None).first()
    if restoration is None:
        raise NothingRestored
    return restoration


def renew_version(dataset: Dataset, steward: User) -> None:
    """Makes the next version of a dataset that has one, so that opt-outs of before are in it."""
    if dataset.versions.exists():
        advance.next_version(dataset, actor=steward)


def check_read_again(restoration: Restoration, steward: User) -> None:
    """Has a lake's table read since the restore. Errors: NeedsVersion, and it is being read."""
    dataset = restoration.dataset
    if dataset.versions.filter(created_at__gt=restoration.resumed_at).exists():
        return
    with transitions.locked(dataset.pk), suppress(UploadError):  # it is being read since the restore
        surveys.ask(dataset, actor=steward)
    raise NeedsVersion


def _keep(steward: User, dataset: Dataset, accounts: set[int]) -> None:
    rows = list(other_members(steward, dataset))
    for account in accounts - {row.user_id for row in rows}:
        raise ParameterError("members", account, "accounts of other members")
    for row in rows:
        if row.user_id not in accounts:
            members.remove(steward, row)


def _opt_outs(restoration: Restoration) -> str:
    source_text = REPLAYED if restoration.opt_outs_replayed else ENTERED
    return restoration.dataset.origin.restored_opt_outs or source_text
