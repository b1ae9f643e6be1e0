"""Adapts django-allauth to this server: who gets in, what it says, how secrets of factors are kept.

Nobody signs up by themselves: people come by an invitation (`invitations`). Names are compared exactly, as
Django's own backend does, so that two old names that differ in case only still belong to two people.
"""

import base64
import hashlib
import time
from functools import cache, partial
from typing import Any, Final

import structlog
from allauth.account import app_settings as account_settings
from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.flows.login import get_authentication_records
from allauth.account.internal.flows.reauthentication import get_reauthentication_flows
from allauth.account.internal.stagekit import clear_login
from allauth.account.models import EmailAddress
from allauth.account.signals import email_changed, email_removed
from allauth.core import context
from allauth.core.exceptions import ImmediateHttpResponse, ReauthenticationRequired
from allauth.mfa import app_settings as mfa_settings
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import (
    authenticator_added,
    authenticator_removed,
    authenticator_reset,
    authenticator_used,
)
from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import ValidationError
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.crypto import constant_time_compare
from django.utils.http import url_has_allowed_host_and_scheme

from heatmaps.people import (
    account_names,
    accounts,
    code_tries,
    interventions,
    mails,
    passkeys,
    provider_people,
)
from heatmaps.people.code_tries import WrongCodes
from heatmaps.people.interventions import Intervention
from heatmaps.people.provider_requests import the_provider

_BEGUN_WITH: Final = "sign_in_begun_with"  # in the session: a hash of the password that was right
_WRONG: Final = "Name or password is wrong. Both are case-sensitive."
_CONFIRM: Final = (
    "confirm that this address is yours, within {days} days:\n\n{link}\n\n"
    "If you have no account here, somebody made a mistake, and there is nothing to do."
)
_CLOSED: Final = "This account is closed. Ask an administrator of this server."
_WAYS: Final = {
    "reauthenticate": "Use your password",
    "mfa_reauthenticate": "Use a code",
    "mfa_reauthenticate:webauthn": "Use a passkey",
}

_log = structlog.stdlib.get_logger(__name__)


class FactorKeyChanged(Exception):  # noqa: N818 - reads as what it says
    """Says that secrets of second factors were encrypted with another key than this server has now."""

    def __init__(self) -> None:
        super().__init__(
            "this server no longer has the key that second factors were stored with, so codes cannot be "
            "checked; ask the people who run it to put the file second-factor-key back, or to run "
            "manage.py removesecondfactor with your name"
        )


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth carries no types
    """Lets people sign in by name and password."""

    error_messages = DefaultAccountAdapter.error_messages | {
        "username_password_mismatch": _WRONG,
        "incorrect_password": "This is not your password.",
        "enter_current_password": "This is not your current password.",
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def is_ajax(self, request: HttpRequest) -> bool:
        return False  # one kind of answer only: a page

    def is_safe_url(self, url: str) -> bool:
        """Tells whether `next` may lead there: to this very host."""
        request: HttpRequest = context.request
        return url_has_allowed_host_and_scheme(
            url, allowed_hosts={request.get_host()}, require_https=request.is_secure()
        )

    def get_client_ip(self, request: HttpRequest) -> str:
        return str(request.META.get("REMOTE_ADDR", ""))  # `heatmaps.front.proxy` says so behind a proxy

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        return reverse("account")

    def get_email_verification_redirect_url(self, email_address: Any) -> str:
        return reverse("account")

    def send_confirmation_mail(self, request: HttpRequest, emailconfirmation: Any, signup: bool) -> None:
        """Sends a mail to an address that somebody says is theirs."""
        address = emailconfirmation.email_address
        link = mails.link_to(reverse("account_confirm_email", args=[emailconfirmation.key]))
        text = _CONFIRM.format(link=link, days=account_settings.EMAIL_CONFIRMATION_EXPIRE_DAYS)
        send = partial(mails.send, address.user, address.email, "Your address for Hazemap", text)
        mails.later(send)

    def send_notification_mail(self, template_prefix: str, user: User, *options: Any, **more: Any) -> None:
        """Sends nothing of allauth's: `mails` tells what changed."""

    def clean_username(self, username: str, shallow: bool = False) -> str:
        """Returns a name that may be given to a new account.

        Errors: ValidationError that says why it may not.
        """
        return account_names.checked(username)

    def set_password(self, user: User, password: str) -> None:
        accounts.set_password(user, password, revoke_tokens=False)

    def pre_login(self, request: HttpRequest, user: User, **options: Any) -> HttpResponse | None:
        """Begins a sign-in whose password was right: a sign-in that waits for a code remembers which one it
        was."""
        request.session[_BEGUN_WITH] = user.get_session_auth_hash()
        return super().pre_login(request, user, **options)  # type: ignore[no-any-return]

    def login(self, request: HttpRequest, user: User) -> None:
        """Signs somebody in.

        Errors: ImmediateHttpResponse where the password changed or the account was closed meanwhile.
        """
        begun_with = str(request.session.pop(_BEGUN_WITH, ""))
        is_same = constant_time_compare(begun_with, user.get_session_auth_hash())
        if not (is_same and user.is_active):
            clear_login(request)
            messages.error(request, "Your account changed meanwhile. Sign in again.")
            raise ImmediateHttpResponse(redirect("account_login"))
        before = user.last_login
        super().login(request, user)
        events: list[Intervention | WrongCodes] = [*interventions.of(user), *code_tries.wrong_codes_of(user)]
        for event in events:
            if before is None or event.at > before:
                messages.warning(request, event.sentence)

    def is_reauthentication_required(self, *, app: str, **_options: object) -> bool:
        """Tells whether a signed-in person has to show again who it is.

        Errors: ReauthenticationRequired for people without password and passkey. The provider alone can ask
        them, which allauth does not know of; whom nobody can ask may change nothing.
        """
        request: HttpRequest = context.request
        if get_reauthentication_flows(request.user):
            return bool(super().is_reauthentication_required(app=app))
        if not _said_lately(request):
            raise ReauthenticationRequired
        return False

    def get_reauthentication_methods(self, user: User | AnonymousUser) -> list[dict[str, str]]:
        ways: list[dict[str, str]] = super().get_reauthentication_methods(user)
        methods = [way | {"description": _WAYS[way["id"]]} for way in ways]
        if user.is_authenticated and provider_people.link_of(user) is not None:
            words, page = f"Use {the_provider().name}", reverse("account-confirm-provider")
            methods.append({"id": "provider", "description": words, "url": page})
        return methods

    def respond_user_inactive(self, request: HttpRequest, user: User) -> HttpResponse:
        messages.error(request, _CLOSED)
        return redirect("account_login")


class MFAAdapter(DefaultMFAAdapter):  # type: ignore[misc]  # allauth carries no types
    """Keeps second factors; their secrets are stored encrypted with `second-factor-key` of the key folder."""

    error_messages = DefaultMFAAdapter.error_messages | {
        "cannot_delete_authenticator": "This server requires a second factor. Set up another one first.",
        "incorrect_code": "This code is wrong, or it has expired. Enter the one that your app shows now.",
    }

    def get_totp_label(self, user: User) -> str:
        return user.get_username()

    def can_delete_authenticator(self, authenticator: Authenticator) -> bool:
        return not accounts.must_keep(authenticator)

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        return {"id": passkeys.host_of(context.request), "name": "Hazemap"}

    def encrypt(self, text: str) -> str:
        return _fernet(settings.SECOND_FACTOR_KEY).encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Decrypts a secret. Errors: FactorKeyChanged."""
        try:
            return _fernet(settings.SECOND_FACTOR_KEY).decrypt(encrypted_text.encode()).decode()
        except InvalidToken:
            raise FactorKeyChanged from None


@receiver([authenticator_added, authenticator_removed, authenticator_reset, authenticator_used])
def forget_wrong_codes(user: User, **_options: object) -> None:
    """Gives all tries back after a right code or passkey; a new factor starts with all."""
    code_tries.forget_wrong(user)


@receiver([authenticator_added, authenticator_removed])
def end_other_sessions(
    request: HttpRequest, user: User, authenticator: Authenticator, **_options: object
) -> None:
    """Ends other sessions once somebody set up or removed a second factor."""
    if authenticator.type == Authenticator.Type.RECOVERY_CODES:
        return
    if Authenticator.objects.filter(pk=authenticator.pk).exists():
        use_code(authenticator)  # the one that it was set up with
    accounts.end_sessions(user, but=request.session.session_key)
    accounts.note("account.factors_changed", user, user)
    mails.tell(user, "A second factor of your account was set up or removed.")


@receiver(email_changed)
def tell_the_address_before(from_email_address: EmailAddress | None, **_options: object) -> None:
    """Tells the address before once another one took its place: whoever changed it reads the mails to the new
    one."""
    if from_email_address is not None:
        mails.tell_at(from_email_address, "Another mail address took the place of this one.")


@receiver(email_removed)
def tell_the_address_removed(email_address: EmailAddress, **_options: object) -> None:
    """Tells the address that it was removed: nobody else could be told."""
    mails.tell_at(email_address, "This mail address was removed from your account.")


def use_code(authenticator: Authenticator) -> None:
    """Marks the code as used that an app showed and that was right; the caller holds the account's lock.

    Recovery codes mark themselves. Errors: ValidationError for a second one in the same period.
    """
    if authenticator.type != Authenticator.Type.TOTP:
        return
    period = int(time.time()) // mfa_settings.TOTP_PERIOD
    if authenticator.data.get("used_in", -1) >= period:
        raise ValidationError("This code was used already. Wait for the next one.", code="used_code")
    authenticator.data["used_in"] = period
    authenticator.save(update_fields=["data"])


def sealed(text: str) -> str:
    """Seals a secret for a session: whoever reads the database cannot use it."""
    return _fernet(settings.SECRET_KEY).encrypt(text.encode()).decode()


def unsealed(text: str) -> str | None:
    """Opens a sealed secret; None where it was sealed with another key."""
    try:
        return _fernet(settings.SECRET_KEY).decrypt(text.encode()).decode()
    except InvalidToken:
        return None


def _said_lately(request: HttpRequest) -> bool:
    """Tells whether somebody said lately who it is, as `did_recently_reauthenticate` of allauth asks of
    others."""
    records = get_authentication_records(request, request.user)
    moments = [record["at"] for record in records if record.get("reauthenticated")]
    return bool(moments) and time.time() - moments[-1] < account_settings.REAUTHENTICATION_TIMEOUT


@cache
def _fernet(key: str) -> Fernet:
    if not key:
        raise RuntimeError("this process has none of web's keys (HAZEMAP_WEB_KEY_DIR)")
    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(key.encode()).digest()))
