"""Creates and redeems one-time links: invitations and new passwords. No mail is sent.

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

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404
from django.utils import timezone
from django.utils.crypto import salted_hmac

from heatmaps.ledger import transitions
from heatmaps.models import Dataset, LinkPurpose, Membership, OneTimeLink, Profile
from heatmaps.people import accounts, members
from heatmaps.people.members import checked_reason
from heatmaps.people.permissions import Act, is_administrator, require, would_allow

INVITATION_DAYS: Final = 7
RESET_HOURS: Final = 24


class NoSuchLink(Http404):
    """Unknown, used, expired or revoked: which of them is not said."""

    def __init__(self) -> None:
        super().__init__("this link is unknown, used, expired or revoked")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLink:
    """`secret` is in this object and nowhere else."""

    row: OneTimeLink
    secret: str = field(repr=False)


def invite(actor: User, dataset: Dataset, role: str, *, reason: str = "") -> NewLink:
    """An invitation to a dataset. Errors: PermissionDenied; `ParameterError` naming `role` or `reason`."""
    require(actor, dataset, Act.MANAGE_MEMBERS)
    why = checked_reason(actor, dataset, role, reason)
    days = timedelta(days=INVITATION_DAYS)
    return _make(LinkPurpose.INVITATION, days, made_by=actor, dataset=dataset, role=role, reason=why)


def invite_to_installation(administrator: User, *, may_create_datasets: bool) -> NewLink:
    """An invitation to make an account and nothing else. Errors: PermissionDenied."""
    accounts.require_administrator(administrator)
    days = timedelta(days=INVITATION_DAYS)
    return _make(LinkPurpose.INVITATION, days, made_by=administrator, may_create_datasets=may_create_datasets)


@transaction.atomic
def reset(administrator: User, user: User) -> NewLink:
    """A link by which `user` chooses a new password; earlier ones are taken back.

    Who holds it can act as that person, so it is an event in each of the person's datasets.
    Errors: PermissionDenied, also for a closed account.
    """
    accounts.require_administrator(administrator)
    if not user.is_active:
        raise PermissionDenied("this account is closed; open it first")
    for held in Membership.objects.filter(user=user).select_related("dataset").order_by("dataset"):
        after = {"member": user.pk}
        transitions.record(held.dataset, members.RESET, actor=administrator, before={}, after=after)
    accounts.take_password_links_back(user)
    accounts.note("account.password_link", administrator, user)
    hours, digest = timedelta(hours=RESET_HOURS), _password_digest(user)
    return _make(LinkPurpose.RESET, hours, made_by=administrator, account=user, password_digest=digest)


def open_invitations(dataset: Dataset | None) -> QuerySet[OneTimeLink]:
    """Invitations to a dataset (None: to the installation) that may still be used, the latest first."""
    rows = _usable(LinkPurpose.INVITATION).filter(dataset=dataset)
    return rows.select_related("made_by").order_by("-created_at")


def revoke(actor: User, dataset: Dataset | None, invitation_id: UUID) -> None:
    """Take an invitation back. Errors: PermissionDenied; Http404 when it cannot be used any more."""
    if dataset is None:
        accounts.require_administrator(actor)
    else:
        require(actor, dataset, Act.MANAGE_MEMBERS)
    rows = _usable(LinkPurpose.INVITATION).filter(dataset=dataset, pk=invitation_id)
    if not rows.update(revoked_at=timezone.now()):
        raise Http404("this invitation does not exist; it may have been used")


def invitation(secret: str) -> OneTimeLink:
    """The invitation of that secret. Errors: NoSuchLink."""
    return _checked(_found(LinkPurpose.INVITATION, secret))


def may_sign_up(link: OneTimeLink) -> bool:
    """Whether it may be used to make an account."""
    return is_administrator(link.made_by) or accounts.sign_up_by_invitation()


def accept(user: User, secret: str) -> Dataset | None:
    """Become a member; the dataset. Errors: NoSuchLink; AlreadyMember, which leaves the link as it was;
    PermissionDenied where the invitation asks for nothing an account does not have."""
    with _claimed(secret) as link:
        if link.dataset is None:
            raise PermissionDenied("this invitation is for people without an account; you have one")
        _use(link, user)
        members.join(user, link.dataset, user, link.role, reason=link.reason, invited_by=link.made_by)
    return link.dataset


def sign_up(secret: str, username: str, password: str | None) -> User:
    """A new account and its membership; name and password were validated. None: it signs in in another way.

    Errors: NoSuchLink; PermissionDenied where invitations make no accounts; IntegrityError for a name that
    was taken at this very moment.
    """
    with _claimed(secret) as link:
        if not may_sign_up(link):
            raise PermissionDenied("on this server, administrators make accounts")
        user = User.objects.create_user(username, password=password)
        Profile.objects.create(user=user, may_create_datasets=link.may_create_datasets)
        accounts.note("account.made", link.made_by, user)
        _use(link, user)
        if link.dataset is not None:
            members.join(user, link.dataset, user, link.role, reason=link.reason, invited_by=link.made_by)
    return user


def password_link(secret: str) -> OneTimeLink:
    """The link by which its account chooses a new password. Errors: NoSuchLink, also once it has another
    password than when the link was made."""
    link = _found(LinkPurpose.RESET, secret)
    if link.account is None or not link.account.is_active:
        raise NoSuchLink
    if not secrets.compare_digest(link.password_digest, _password_digest(link.account)):
        raise NoSuchLink
    return link


@transaction.atomic
def choose_password(secret: str, password: str) -> User:
    """A validated password; every session and token of the person ends. Errors: NoSuchLink."""
    account = password_link(secret).account
    assert account is not None  # noqa: S101 - `password_link` saw to it
    User.objects.select_for_update().get(pk=account.pk)
    _use(password_link(secret), account)  # looked at again while nobody else changes the password
    accounts.set_password(account, password, revoke_tokens=True)
    return account


@contextmanager
def _claimed(secret: str) -> Iterator[OneTimeLink]:
    """An invitation, looked at again while nobody changes the members of its dataset."""
    found = invitation(secret)
    with transaction.atomic():
        if found.dataset_id is None:
            yield found
        else:
            with transitions.locked(found.dataset_id):
                yield invitation(secret)


def _make(purpose: LinkPurpose, valid_for: timedelta, **columns: object) -> NewLink:
    secret = secrets.token_urlsafe(32)
    row = OneTimeLink.objects.create(
        purpose=purpose, digest=_digest(secret), expires_at=timezone.now() + valid_for, **columns
    )
    return NewLink(row=row, secret=secret)


def _usable(purpose: LinkPurpose) -> QuerySet[OneTimeLink]:
    return OneTimeLink.objects.filter(
        purpose=purpose, used_at=None, revoked_at=None, expires_at__gt=timezone.now()
    )


def _found(purpose: LinkPurpose, secret: str) -> OneTimeLink:
    rows = _usable(purpose).select_related("dataset", "made_by", "account")
    found = rows.filter(digest=_digest(secret)).first()
    if found is None:
        raise NoSuchLink
    return found


def _checked(link: OneTimeLink) -> OneTimeLink:
    """Errors: NoSuchLink when its maker may no longer invite, or into that role only with a reason."""
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


def _use(link: OneTimeLink, user: User) -> None:
    """Exactly one caller uses a link. Errors: NoSuchLink."""
    rows = _usable(LinkPurpose(link.purpose)).filter(pk=link.pk)
    if rows.update(used_at=timezone.now(), used_by=user) != 1:
        raise NoSuchLink


def _password_digest(user: User) -> str:
    return salted_hmac("heatmaps.people.invitations", user.password, algorithm="sha256").hexdigest()


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()
