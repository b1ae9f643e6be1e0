"""Finds whom the sign-in provider means: links between its people and accounts here, made and unmade.

Nobody is matched by an equal name or address: whoever is not linked is unknown. Between the provider and the
page of ours that asks, whom it named is kept in the session for some minutes.
"""

# ruff: noqa: N818 - domain words; `except AlreadyLinked` says what happened

import time
from dataclasses import asdict, dataclass
from typing import Final

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest

from heatmaps.people import accounts, invitations, mails
from heatmaps.people.provider_requests import the_provider
from heatmaps.people.refusals import MemberError

MINUTES: Final = 10
_SESSION_KEY: Final = "provider-person"


class AlreadyLinked(MemberError):
    code = "already_linked"

    def __init__(self) -> None:
        super().__init__("this account, or the one at the provider, is already linked to another one")


class LastWayIn(MemberError):
    code = "last_way_in"

    def __init__(self) -> None:
        super().__init__(
            "without it nobody could sign in to this account; set a password or add a passkey first"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderPerson:
    """Names somebody whom the provider just named.

    `account`: who is signed in here and asked for the link.
    """

    provider: str
    uid: str
    name: str  # proposed, as the provider writes it
    account: int | None
    at: float  # seconds since 1970


def remember(request: HttpRequest, uid: str, name: str, *, account: int | None = None) -> None:
    """Remembers somebody for `MINUTES`, until a page of ours is answered."""
    provider = the_provider().key
    person = ProviderPerson(provider=provider, uid=uid, name=name, account=account, at=time.time())
    request.session[_SESSION_KEY] = asdict(person)


def remembered(request: HttpRequest) -> ProviderPerson | None:
    """Returns the person whom the provider named to the account that asks, or to nobody signed in.

    None if long ago.
    """
    session_data = request.session.get(_SESSION_KEY)
    provider = settings.SIGN_IN_PROVIDER
    if session_data is None or provider is None:
        return None
    person = ProviderPerson(**session_data)
    recent = time.time() - person.at < MINUTES * 60
    return person if recent and (person.provider, person.account) == (provider.key, request.user.pk) else None


def forget(request: HttpRequest) -> None:
    request.session.pop(_SESSION_KEY, None)


def link_of(user: User) -> SocialAccount | None:
    """Returns the account's link to somebody at the provider that settings name."""
    provider = settings.SIGN_IN_PROVIDER
    if provider is None:
        return None
    return SocialAccount.objects.filter(user=user, provider=provider.key).first()


@transaction.atomic
def link(user: User, person: ProviderPerson) -> None:
    """Lets that person sign in to `user`'s account. Errors: AlreadyLinked."""
    User.objects.select_for_update().get(pk=user.pk)
    if link_of(user) is not None:
        raise AlreadyLinked
    try:
        with transaction.atomic():
            SocialAccount.objects.create(user=user, provider=person.provider, uid=person.uid)
    except IntegrityError:
        raise AlreadyLinked from None
    accounts.note("account.provider_linked", user, user)
    mails.tell(user, f"Somebody at {the_provider().name} was linked, who can sign in to your account now.")


@transaction.atomic
def unlink(user: User) -> None:
    """Removes the link to the provider. Errors: LastWayIn; Http404 where there is no link."""
    User.objects.select_for_update().get(pk=user.pk)
    link = link_of(user)
    if link is None:
        raise Http404("no such link")
    if not has_another_way_in(user, than=link):
        raise LastWayIn
    link.delete()
    accounts.note("account.provider_unlinked", user, user)
    mails.tell(user, f"The link of your account to {the_provider().name} was removed.")


def has_another_way_in(user: User, *, than: SocialAccount | Authenticator) -> bool:
    """Tells whether `user` could still sign in without a link or a passkey."""
    passkeys = Authenticator.objects.filter(user=user, type=Authenticator.Type.WEBAUTHN)
    if isinstance(than, Authenticator):
        return (
            user.has_usable_password() or passkeys.exclude(pk=than.pk).exists() or link_of(user) is not None
        )
    return user.has_usable_password() or passkeys.exists()


@transaction.atomic
def join(person: ProviderPerson, name: str, invitation: str | None) -> User:
    """Makes a new account for whom the provider named; `name` was validated, `invitation` is a link's secret.

    Errors: NoSuchLink, PermissionDenied; IntegrityError where name or person were taken at this very moment.
    """
    if invitation is not None:
        user = invitations.sign_up(invitation, name, None)
    else:
        if not the_provider().sign_up:
            raise PermissionDenied("people come by an invitation")
        user = accounts.make(name, make_password(None))
        accounts.note("account.made", user, user)
    SocialAccount.objects.create(user=user, provider=person.provider, uid=person.uid)
    return user
