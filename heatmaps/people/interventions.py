"""Tells what administrators did with somebody's sign-in: a link for a new password, a factor removed.

Who did so can act as that person. So it is an event in each dataset where the person is a member, and
in those joined later; the person reads it on the account's page and at the next sign-in.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.contrib.auth.models import User
from django.utils import timezone

from heatmaps import numbers
from heatmaps.ledger import transitions
from heatmaps.ledger.events import Facts
from heatmaps.models import Membership, Profile
from heatmaps.people import mails
from heatmaps.people.refusals import RolesMoved

PASSWORD_LINK: Final = "reset-link"  # noqa: S105  # kinds of events
FACTOR_REMOVED: Final = "factor-removed"
KINDS: Final = (PASSWORD_LINK, FACTOR_REMOVED)

_COLUMNS: Final = {PASSWORD_LINK: "password_link", FACTOR_REMOVED: "factor_removed"}
_DID: Final = {
    PASSWORD_LINK: "made a link for a new password of your account",
    FACTOR_REMOVED: "removed the second factor of your account",
}
_OPERATOR: Final = "Somebody who runs this server"


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervention:
    """Holds the latest of its kind; nobody: whoever runs the server, by a command."""

    kind: str
    at: datetime
    by: User | None

    @property
    def sentence(self) -> str:
        who = _OPERATOR if self.by is None else self.by.get_username()
        return f"{who} {_DID[self.kind]} on {numbers.moment(self.at)}."


def record(by: User | None, user: User, kind: str) -> None:
    """Writes an intervention into every ledger concerned and into the profile.

    The caller's transaction is open. Errors: RolesMoved.
    """
    # Ledgers come first and in order, as every move takes them; then the account, so that it joins no dataset
    # meanwhile which would not be told (`tell`).
    dataset_ids = set()
    for membership in Membership.objects.filter(user=user).select_related("dataset").order_by("dataset"):
        transitions.record(membership.dataset, kind, actor=by, before={}, after={"member": user.pk})
        dataset_ids.add(membership.dataset_id)
    User.objects.select_for_update().get(pk=user.pk)
    if not dataset_ids.issuperset(Membership.objects.filter(user=user).values_list("dataset", flat=True)):
        raise RolesMoved
    column = _COLUMNS[kind]
    now = timezone.now()
    write_profile(user, **{f"{column}_at": now, f"{column}_by": by})
    mails.tell(user, Intervention(kind=kind, at=now, by=by).sentence)


def write_profile(user: User, **columns: object) -> None:
    """Writes columns of an account's profile, which it may lack."""
    # Accounts without a profile were made by a command, and may make datasets.
    new_columns = {"may_create_datasets": True} | columns
    Profile.objects.update_or_create(user=user, defaults=columns, create_defaults=new_columns)


def of(user: User) -> Iterator[Intervention]:
    """Yields the interventions, one of each kind, as far as there were any."""
    profile = (
        Profile.objects.select_related("password_link_by", "factor_removed_by").filter(user=user).first()
    )
    if profile is None:
        return
    for kind, column in _COLUMNS.items():
        if at := getattr(profile, f"{column}_at"):
            yield Intervention(kind=kind, at=at, by=getattr(profile, f"{column}_by"))


def tell(member: Membership) -> None:
    """Writes what was done before somebody joined into the dataset's ledger, which is locked."""
    for intervention in of(member.user):
        after: Facts = {"member": member.user_id, "done_at": numbers.moment(intervention.at)}
        transitions.record(member.dataset, intervention.kind, actor=intervention.by, before={}, after=after)
