"""Manages a dataset's members and roles; every change is an event of its chain.

The ledger's lock comes first, so that two changes of one dataset never run beside each other. A dataset
always keeps a steward with an open account. An administrator who makes somebody a steward (himself, say)
lets that person see the data: it needs a reason, and all members see the event.
"""

# ruff: noqa: N818 - domain words; `except LastSteward` says what happened

from typing import Final

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Case, IntegerField, QuerySet, Value, When
from django.http import Http404

from heatmaps.ledger import transitions
from heatmaps.models import Dataset, Event, Membership, Role
from heatmaps.people import interventions, reservations
from heatmaps.people.permissions import ALLOWED, Act, dataset_for, require, would_allow
from heatmaps.people.refusals import MemberError
from heatmaps.people.reservations import Ending
from mechanisms.check import ParameterError

MEMBER: Final = "member"  # the kind of its events
NO_ROLE: Final = "none"
LONGEST_REASON: Final = 500  # characters
_BY_ROLE: Final = Case(
    *(When(role=role, then=Value(at)) for at, role in enumerate(Role.values)), output_field=IntegerField()
)


class LastSteward(MemberError):
    """Says that a dataset without a steward could never be fed or looked after again."""

    code = "last_steward"

    def __init__(self, slugs: list[str]) -> None:
        self.slugs = slugs
        super().__init__(
            f"no other open account is a steward of {', '.join(slugs)}; appoint another steward first"
        )


class AlreadyMember(MemberError):
    code = "already_member"

    def __init__(self, role: str) -> None:
        self.role = role
        super().__init__(f"this person is already a member, as {role}; change the role instead")


def members_of(dataset: Dataset) -> QuerySet[Membership]:
    """Returns members, stewards first, then by name."""
    return (
        Membership.objects.filter(dataset=dataset)
        .select_related("user")
        .order_by(_BY_ROLE, "user__username", "pk")
    )


def changes_of(dataset: Dataset) -> QuerySet[Event]:
    """Selects events about members, the latest first: all members may read them."""
    return (
        Event.objects.filter(dataset=dataset, kind__in=[MEMBER, *interventions.KINDS])
        .select_related("actor", "dataset")
        .order_by("-sequence")
    )


def member_for(person: User, slug: str, account_id: int) -> Membership:
    """Returns a member, for those who may manage members; one's own membership for anybody. Errors: Http404,
    PermissionDenied."""
    dataset = dataset_for(person, slug)
    if account_id != person.pk:
        require(person, dataset, Act.MANAGE_MEMBERS)
    user = User.objects.filter(pk=account_id).first()
    membership = (
        Membership.objects.filter(dataset=dataset, user=user).select_related("user", "dataset").first()
    )
    if user is None or membership is None:
        raise Http404("no such member")
    return membership


def add(actor: User, dataset: Dataset, username: str, role: str, *, reason: str = "") -> Membership:
    """Makes an account a member.

    Errors: PermissionDenied; `ParameterError` naming `username`, `role` or `reason`; AlreadyMember.
    """
    with transitions.locked(dataset.pk):
        require(actor, dataset, Act.MANAGE_MEMBERS)
        why = checked_reason(actor, dataset, role, reason)
        user = User.objects.filter(username=username, is_active=True).first()
        if user is None:
            raise ParameterError("username", username, "the name of an open account; invite others by a link")
        return join(actor, dataset, user, role, reason=why)


def join(
    actor: User, dataset: Dataset, user: User, role: str, *, reason: str, invited_by: User | None = None
) -> Membership:
    """Adds a member, whom somebody was allowed to make one. The caller holds the ledger's lock.

    Errors: AlreadyMember; PermissionDenied for a closed account; `ParameterError` naming `role`.
    """
    # Locked: an account that is being closed does not become a steward meanwhile.
    if not User.objects.select_for_update().filter(pk=user.pk, is_active=True).exists():
        raise PermissionDenied("this account is closed")
    existing = Membership.objects.filter(dataset=dataset, user=user).first()
    if existing is not None:
        raise AlreadyMember(existing.role)
    membership = Membership.objects.create(dataset=dataset, user=user, role=_role(role))
    _record(actor, membership, before=NO_ROLE, after=membership.role, reason=reason, invited_by=invited_by)
    interventions.tell(membership)
    return membership


def change_role(actor: User, member: Membership, role: str, *, reason: str = "") -> Membership:
    """Gives a member another role; the same role again changes nothing and is no event.

    Under a role that asks for no releases, what this person has reserved in the dataset is cancelled.
    Errors: PermissionDenied, Http404, LastSteward; `ParameterError` naming `role` or `reason`.
    """
    with transitions.locked(member.dataset_id):
        current = _again(actor, member, Act.MANAGE_MEMBERS)
        if current.role == _role(role):
            return current
        why = checked_reason(actor, current.dataset, role, reason)
        _check_stewards(current)
        before, current.role = current.role, role
        current.save(update_fields=["role"])
        if role not in ALLOWED[Act.RELEASE]:
            reservations.end(actor, current.user, [current.dataset_id], keep=False)
        _record(actor, current, before=before, after=role, reason=why)
    return current


def remove(actor: User, member: Membership, *, keep_queued: bool = False) -> Ending:
    """Ends a membership, everybody his own, and cancels what this person has reserved in the dataset.

    keep_queued: it stays reserved. Errors: PermissionDenied, Http404, LastSteward.
    """
    with transitions.locked(member.dataset_id):
        current = _again(actor, member, Act.SEE if member.user_id == actor.pk else Act.MANAGE_MEMBERS)
        _check_stewards(current)
        ending = reservations.end(actor, current.user, [current.dataset_id], keep=keep_queued)
        _record(actor, current, before=current.role, after=NO_ROLE, reason="")
        current.delete()
    return ending


def needs_reason(actor: User, dataset: Dataset, role: str) -> bool:
    """Tells whether this appointment opens the data by somebody who may not see them."""
    return role == Role.STEWARD and not would_allow(actor, dataset, Act.SEE_DATA)


def checked_reason(actor: User, dataset: Dataset, role: str, reason: str) -> str:
    """Returns the reason that goes into the event; empty where none is needed."""
    _role(role)
    if not needs_reason(actor, dataset, role):
        return ""
    text = reason.strip()
    if not 1 <= len(text) <= LONGEST_REASON:
        allowed = f"1 to {LONGEST_REASON} characters: why an administrator appoints a steward"
        raise ParameterError("reason", text[:20], allowed)
    return text


def other_stewards(dataset_id: int, user: User) -> QuerySet[User]:
    """Selects open accounts of stewards beside `user`; locked, so that none of them is closed meanwhile."""
    stewards = User.objects.filter(
        is_active=True, memberships__dataset=dataset_id, memberships__role=Role.STEWARD
    )
    return stewards.exclude(pk=user.pk).order_by("pk").select_for_update(of=("self",))


def _again(actor: User, member: Membership, act: Act) -> Membership:
    """Returns the membership as it is now that nobody changes it, if `actor` still may."""
    require(actor, member.dataset, act)
    current = Membership.objects.select_related("dataset", "user").filter(pk=member.pk).first()
    if current is None:
        raise Http404("no such member")
    return current


def _check_stewards(member: Membership) -> None:
    if member.role == Role.STEWARD and not list(other_stewards(member.dataset_id, member.user)):
        raise LastSteward([member.dataset.slug])


def _record(
    actor: User,
    member: Membership,
    *,
    before: str,
    after: str,
    reason: str,
    invited_by: User | None = None,
) -> None:
    facts: dict[str, int | str] = {"member": member.user_id, "role": str(after)}
    if invited_by is not None:
        facts["invited_by"] = invited_by.pk
    if reason:
        facts["reason"] = reason
    transitions.record(member.dataset, MEMBER, actor=actor, before={"role": str(before)}, after=facts)


def _role(role: str) -> str:
    if role not in Role.values:
        raise ParameterError("role", role, " or ".join(Role.values))
    return Role(role).value
