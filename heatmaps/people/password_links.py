"""Makes links by which people choose a new password: for administrators, and for mails to themselves.

A link's secret has 256 random bits; only its SHA-256 is stored, one row an account. So whoever reads the
database cannot use it, and nobody makes one without writing a row. It ends by its use, by a newer link, after
PASSWORD_RESET_TIMEOUT, and when the account's password, last sign-in, last closing or mail addresses change.
"""

import hashlib
import secrets
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Final

from allauth.account.models import EmailAddress
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from heatmaps.models import PasswordLink, Profile
from heatmaps.people import accounts, interventions, mails

_MAIL: Final = (
    "somebody, probably you, asked for a new password of your account. Choose one here, once, within "
    "{hours} hours:\n\n{link}\n\nIf it was not you, there is nothing to do: your password stays."
)


class LinkDead(Exception):  # noqa: N818 - reads as what it says
    """Says that the link is unknown, or was ended; by what is not said."""


@transaction.atomic
def make(administrator: User, user: User) -> str:
    """Makes a link for `user` and returns its secret; earlier links work no more.

    Whoever has it can act as that person.

    Errors: PermissionDenied, also for an account that is closed or needs no password; RolesMoved.
    """
    accounts.require_administrator(administrator)
    if not user.is_active:
        raise PermissionDenied("this account is closed; open it first")
    if accounts.signs_in_without_password(user):
        raise PermissionDenied("this account has no password; the person signs in without one")
    interventions.record(administrator, user, interventions.PASSWORD_LINK)
    accounts.note("account.password_link", administrator, user)
    return new_secret(user)


def mail(address: str, link_to: Callable[[str], str]) -> None:
    """Sends a link to an address that somebody verified, and to no other. `link_to`: the address of a secret.

    All of it happens after the answer, which is the same for every address.
    """
    mails.later(partial(_mail, address, link_to))


def new_secret(user: User) -> str:
    """Makes the secret that a new link's address ends with; the link of before works no more."""
    secret = secrets.token_urlsafe(32)
    with transaction.atomic():
        account = User.objects.select_for_update().get(pk=user.pk)
        columns = {
            "digest": _digest(secret),
            "account_digest": _account_digest(account),
            "expires_at": timezone.now() + timedelta(seconds=settings.PASSWORD_RESET_TIMEOUT),
        }
        PasswordLink.objects.update_or_create(user=account, defaults=columns)
    return secret


def account_of(secret: str) -> User:
    """Returns the account whose password it lets choose. Errors: LinkDead."""
    return _checked(secret, lock=False)


def choose(secret: str, password: str) -> User:
    """Sets a validated password; every session and token of the person ends. Errors: LinkDead, Busy."""
    account_of(secret)  # else whoever has no link could have passwords hashed
    password_hash = make_password(password)
    with transaction.atomic():
        # Looked at again while nobody else changes the password: two people may have sent the form.
        user = _checked(secret, lock=True)
        accounts.set_password_hash(user, password_hash, revoke_tokens=True)
    return user


def _mail(address: str, link_to: Callable[[str], str]) -> None:
    rows = EmailAddress.objects.filter(email=address, verified=True).select_related("user")
    for user in (row.user for row in rows):
        if user.is_active and user.has_usable_password():
            text = _MAIL.format(link=link_to(new_secret(user)), hours=settings.PASSWORD_RESET_TIMEOUT // 3600)
            mails.send(user, address, "A new password for Hazemap", text)


def _checked(secret: str, *, lock: bool) -> User:
    """Returns the account of a link.

    Errors: LinkDead, also for accounts closed or without need of a password.
    """
    rows = PasswordLink.objects.filter(digest=_digest(secret), expires_at__gt=timezone.now())
    link = rows.select_related("user").first()
    if link is not None and lock:
        user = User.objects.select_for_update().get(pk=link.user_id)
        link = rows.filter(user=user).first()  # another one may have used it while this one waited
    if link is None:
        raise LinkDead
    user = link.user
    is_same = constant_time_compare(link.account_digest, _account_digest(user))
    if not (is_same and user.is_active) or accounts.signs_in_without_password(user):
        raise LinkDead
    return user


def _account_digest(user: User) -> str:
    profile = Profile.objects.filter(user=user).first()
    moments = [user.last_login, profile.closed_at if profile else None]
    addresses = EmailAddress.objects.filter(user=user).order_by("email").values_list("email", flat=True)
    state = [user.password, *("" if moment is None else moment.isoformat() for moment in moments), *addresses]
    return _digest("\n".join(state))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()
