"""Creates and redeems invitations: links that work once. No mail is sent.

A link's secret has 256 random bits; only its SHA-256 is stored, so whoever reads the database cannot use it.
Unknown, used, expired and revoked links are one and the same to whoever holds them (`NoSuchLink`). The
invitation of somebody who may no longer invite is worth nothing.
"""

import hashlib
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final
from uuid import UUID

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404
from django.utils import timezone

from heatmaps.ledger import transitions
from heatmaps.models import Dataset, Invitation
from heatmaps.people import accounts, members
from heatmaps.people.members import checked_reason
from heatmaps.people.permissions import Act, is_administrator, require, would_allow

INVITATION_DAYS: Final = 7


class NoSuchLink(Http404):
    """Refuses a link that is unknown, used, expired or revoked: which of them is not said."""

    def __init__(self) -> None:
        super().__init__("this link is unknown, used, expired or revoked")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLink:
    """Holds a new link: `secret` is in this object and nowhere else."""

    row: Invitation
    secret: str = field(repr=False)


def invite(actor: User, dataset: Dataset, role: str, *, reason: str = "") -> NewLink:
    """Makes an invitation to a dataset.

    Errors: PermissionDenied; `ParameterError` naming `role` or `reason`.
    """
    require(actor, dataset, Act.MANAGE_MEMBERS)
    why = checked_reason(actor, dataset, role, reason)
    return _make(made_by=actor, dataset=dataset, role=role, reason=why)


def invite_to_installation(administrator: User, *, may_create_datasets: bool) -> NewLink:
    """Makes an invitation to make an account and nothing else. Errors: PermissionDenied."""
    accounts.require_administrator(administrator)
    return _make(made_by=administrator, may_create_datasets=may_create_datasets)


def open_invitations(dataset: Dataset | None) -> QuerySet[Invitation]:
    """Returns invitations to a dataset (None: to the installation) that are still good, the latest first."""
    rows = _usable().filter(dataset=dataset)
    return rows.select_related("made_by").order_by("-created_at")


def revoke(actor: User, dataset: Dataset | None, invitation_id: UUID) -> None:
    """Takes an invitation back. Errors: PermissionDenied; Http404 when it cannot be used any more."""
    if dataset is None:
        accounts.require_administrator(actor)
    else:
        require(actor, dataset, Act.MANAGE_MEMBERS)
    rows = _usable().filter(dataset=dataset, pk=invitation_id)
    if not rows.update(revoked_at=timezone.now()):
        raise Http404("this invitation does not exist; it may have been used")


def invitation(secret: str) -> Invitation:
    """Returns the invitation of that secret. Errors: NoSuchLink."""
    return _checked(_usable_invitation(secret))


def may_sign_up(link: Invitation) -> bool:
    """Tells whether it may be used to make an account."""
    return is_administrator(link.made_by) or accounts.sign_up_by_invitation()


def accept(user: User, secret: str) -> Dataset | None:
    """Makes somebody a member; returns the dataset.

    Errors: NoSuchLink; AlreadyMember, which leaves the link as it was; PermissionDenied where the invitation
    asks for nothing an account does not have.
    """
    with _claimed(secret) as link:
        if link.dataset is None:
            raise PermissionDenied("this invitation is for people without an account; you have one")
        _use(link, user)
        members.join(user, link.dataset, user, link.role, reason=link.reason, invited_by=link.made_by)
    return link.dataset


def sign_up(secret: str, username: str, password: str | None) -> User:
    """Makes a new account and its membership; name and password were validated.

    None: it signs in in another way.

    Errors: NoSuchLink; PermissionDenied where invitations make no accounts; IntegrityError for a name that
    was taken at this very moment.
    """
    invitation(secret)  # else whoever has none could have passwords hashed
    password_hash = make_password(password)
    with _claimed(secret) as link:
        if not may_sign_up(link):
            raise PermissionDenied("on this server, administrators invite new people")
        user = accounts.make(username, password_hash, may_create_datasets=link.may_create_datasets)
        accounts.note("account.made", link.made_by, user)
        _use(link, user)
        if link.dataset is not None:
            members.join(user, link.dataset, user, link.role, reason=link.reason, invited_by=link.made_by)
    return user


@contextmanager
def _claimed(secret: str) -> Iterator[Invitation]:
    """Yields an invitation, looked at again while nobody changes the members of its dataset."""
    link = invitation(secret)
    with transaction.atomic():
        if link.dataset_id is None:
            yield link
        else:
            with transitions.locked(link.dataset_id):
                yield invitation(secret)


def _make(**columns: object) -> NewLink:
    secret = secrets.token_urlsafe(32)
    expires_at = timezone.now() + timedelta(days=INVITATION_DAYS)
    row = Invitation.objects.create(digest=_digest(secret), expires_at=expires_at, **columns)
    return NewLink(row=row, secret=secret)


def _usable() -> QuerySet[Invitation]:
    return Invitation.objects.filter(used_at=None, revoked_at=None, expires_at__gt=timezone.now())


def _usable_invitation(secret: str) -> Invitation:
    link = _usable().select_related("dataset", "made_by").filter(digest=_digest(secret)).first()
    if link is None:
        raise NoSuchLink
    return link


def _checked(link: Invitation) -> Invitation:
    """Checks an invitation.

    Errors: NoSuchLink when its maker may no longer invite, or into that role only with a reason.
    """
    maker = link.made_by
    if link.dataset is None:
        welcome = is_administrator(maker)
    else:
        welcome = would_allow(maker, link.dataset, Act.MANAGE_MEMBERS) and (
            bool(link.reason) or not members.needs_reason(maker, link.dataset, link.role)
        )
    if not welcome:
        raise NoSuchLink
    return link


def _use(link: Invitation, user: User) -> None:
    """Marks a link as used, for exactly one caller. Errors: NoSuchLink."""
    rows = _usable().filter(pk=link.pk)
    if rows.update(used_at=timezone.now(), used_by=user) != 1:
        raise NoSuchLink


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()
