"""Reads what a browser says of a passkey: nothing of it is taken for well-formed."""

import struct
from collections.abc import Callable
from typing import Any, Final

from allauth.core import context
from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn.forms import (
    AddWebAuthnForm,
    AuthenticateWebAuthnForm,
    EditWebAuthnForm,
    LoginWebAuthnForm,
    ReauthenticateWebAuthnForm,
)
from allauth.mfa.webauthn.internal import auth
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from django import forms

from heatmaps.people import passkeys
from heatmaps.views.account.forms.first_factor import EndsTokens

LONGEST_ANSWER: Final = 32 * 1024  # characters; usual are some hundred
# What parsers of JSON, CBOR and keys raise for bytes that mean harm.
_UNREADABLE: Final = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, NotImplementedError, RecursionError),
    *(TypeError, ValueError, struct.error, InvalidSignature, UnsupportedAlgorithm),
)


class CredentialField(forms.JSONField):
    """Reads the browser's answer, of usual length and depth."""

    widget = forms.HiddenInput

    def to_python(self, value: Any) -> Any:
        if isinstance(value, str) and len(value) > LONGEST_ANSWER:
            raise passkeys.refusal()
        try:
            answer = super().to_python(value)
        except (RecursionError, forms.ValidationError):
            raise passkeys.refusal() from None
        if not isinstance(answer, dict):
            raise passkeys.refusal()
        return answer


class NameField(forms.CharField):
    """Asks how somebody calls a passkey; only its owner sees it."""

    def __init__(self, **options: Any) -> None:
        help_text = "So that you know it again: your phone, say, or a key on your key ring."
        super().__init__(label="Name", max_length=passkeys.LONGEST_NAME, help_text=help_text, **options)


class PasskeyForm(EndsTokens, AddWebAuthnForm):  # type: ignore[misc]  # allauth has no types
    """Adds a passkey, with which one also signs in without a password."""

    name = NameField(initial="Passkey")
    credential = CredentialField()
    field_order = ("name", "credential")

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.fields.pop("passwordless", None)
        self.initial["name"] = f"Passkey {passkeys.passkeys_of(self.user).count() + 1}"

    def clean(self) -> dict[str, Any]:
        if passkeys.passkeys_of(self.user).count() >= passkeys.MOST:
            raise forms.ValidationError(f"You have {passkeys.MOST} passkeys, the most there can be.")
        credential = self.cleaned_data.get("credential")
        cleaned: dict[str, Any] = _check(super().clean, auth.parse_registration_response, credential)
        return cleaned


class NewNameForm(EditWebAuthnForm):  # type: ignore[misc]  # allauth has no types
    name = NameField()


class SecondFactorForm(AuthenticateWebAuthnForm):  # type: ignore[misc]  # allauth has no types
    """Takes a passkey after the password."""

    credential = CredentialField()

    def clean_credential(self) -> Authenticator:
        return _accept(self, super().clean_credential)


class AloneForm(LoginWebAuthnForm):  # type: ignore[misc]  # allauth has no types
    """Takes a passkey instead of a password."""

    credential = CredentialField()

    def clean_credential(self) -> Authenticator:
        return _accept(self, super().clean_credential)


class ConfirmingForm(ReauthenticateWebAuthnForm):  # type: ignore[misc]  # allauth has no types
    """Takes a passkey of somebody who is signed in."""

    credential = CredentialField()

    def clean_credential(self) -> Authenticator:
        return _accept(self, super().clean_credential)


def _accept(form: AuthenticateWebAuthnForm, check: Callable[[], Authenticator]) -> Authenticator:
    credential = form.cleaned_data.get("credential")
    passkey: Authenticator = _check(check, auth.parse_authentication_response, credential)
    authenticator_data = auth.parse_authentication_response(credential).response.authenticator_data
    passkeys.count_use(passkey, authenticator_data.counter)
    return passkey


def _check(check: Callable[[], Any], parse: Callable[[Any], Any], credential: Any) -> Any:
    """Returns `check`'s result for an answer that some page of this very address asked for.

    Errors: ValidationError.
    """
    if credential is None:
        return check()
    try:
        passkeys.require_own_origin(context.request, parse(credential).response.client_data)
        return check()
    except forms.ValidationError as error:
        if error.code == "too_many_login_attempts":
            raise
        raise passkeys.refusal() from None
    except _UNREADABLE:
        raise passkeys.refusal() from None
