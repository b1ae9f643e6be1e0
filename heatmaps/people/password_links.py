"""Makes links by which people choose a new password: for administrators, and for mails to themselves.

A link carries a token of Django's, stored nowhere: a keyed hash of the account's password, its last sign-in,
its mail addresses, the last link that an administrator made and its last closing. So it ends when one of
these changes, as by its use, or after PASSWORD_RESET_TIMEOUT.
"""

from collections.abc import Callable
from functools import partial
from typing import Final

from allauth.account.models import EmailAddress
from allauth.account.utils import url_str_to_user_pk, user_pk_to_url_str
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet

from heatmaps.models import Profile
from heatmaps.people import accounts, interventions, mails

_MAIL: Final = (
    "somebody, probably you, asked for a new password of your account. Choose one here, once, within "
    "{hours} hours:\n\n{link}\n\nIf it was not you, there is nothing to do: your password stays."
)


class LinkDead(Exception):  # noqa: N818 - reads as what it says
    """The link is unknown, or was ended; by what is not said."""


class PasswordTokens(PasswordResetTokenGenerator):
    """ACCOUNT_PASSWORD_RESET_TOKEN_GENERATOR."""

    key_salt = "heatmaps.people.password_links"

    def check_token(self, user: User | None, token: str | None) -> bool:
        """Whether it lets choose a password: never for closed accounts, nor for those that need none."""
        if user is None or not user.is_active or accounts.signs_in_without_password(user):
            return False
        return super().check_token(user, token)

    def _make_hash_value(self, user: User, timestamp: int) -> str:
        profile = Profile.objects.filter(user=user).first()
        ends = None if profile is None else (profile.password_link_at, profile.closed_at)
        addresses = EmailAddress.objects.filter(user=user).order_by("email").values_list("email", flat=True)
        return f"{super()._make_hash_value(user, timestamp)}{ends}{'|'.join(addresses)}"


@transaction.atomic
def make(administrator: User, user: User) -> str:
    """The key of a link for `user`; earlier links work no more. Whoever has it can act as that person.

    Errors: PermissionDenied, also for an account that is closed or needs no password; RolesMoved.
    """
    accounts.require_administrator(administrator)
    if not user.is_active:
        raise PermissionDenied("this account is closed; open it first")
    if accounts.signs_in_without_password(user):
        raise PermissionDenied("this account has no password; the person signs in without one")
    interventions.record(administrator, user, interventions.PASSWORD_LINK)
    accounts.note("account.password_link", administrator, user)
    return key_for(user)


def mail(address: str, link_to: Callable[[str], str]) -> None:
    """Send a link to an address that somebody verified, and to no other. `link_to`: the address of a key.

    All of it happens after the answer, which is the same for every address.
    """
    mails.later(partial(_mail, address, link_to))


def key_for(user: User) -> str:
    """What the address of a link ends with."""
    return f"{user_pk_to_url_str(user)}-{PasswordTokens().make_token(user)}"


def account_of(key: str) -> User:
    """Whose password it lets choose. Errors: LinkDead."""
    return _checked(key, User.objects.all())


def choose(key: str, password: str) -> User:
    """A validated password; every session and token of the person ends. Errors: LinkDead, Busy."""
    account_of(key)  # else whoever has no link could have passwords hashed
    password_hash = make_password(password)
    with transaction.atomic():
        # Looked at again while nobody else changes the password: two people may have sent the form.
        user = _checked(key, User.objects.select_for_update())
        accounts.set_password_hash(user, password_hash, revoke_tokens=True)
    return user


def _mail(address: str, link_to: Callable[[str], str]) -> None:
    found = EmailAddress.objects.filter(email=address, verified=True).select_related("user")
    for user in (one.user for one in found):
        if user.is_active and user.has_usable_password():
            text = _MAIL.format(link=link_to(key_for(user)), hours=settings.PASSWORD_RESET_TIMEOUT // 3600)
            mails.send(user, address, "A new password for Hazemap", text)


def _checked(key: str, users: QuerySet[User]) -> User:
    account, _, token = key.partition("-")
    try:
        found = users.filter(pk=url_str_to_user_pk(account)).first()
    except ValueError:
        raise LinkDead from None
    if found is None or not PasswordTokens().check_token(found, token):
        raise LinkDead
    return found
