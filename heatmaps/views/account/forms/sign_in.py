"""Signs in, with second factors and passwords, by allauth's forms in our words, with attempts counted."""

from typing import Any, Final

from allauth.account import forms as account_forms
from allauth.core import context
from allauth.mfa.base import forms as mfa_forms
from allauth.mfa.totp import forms as totp_forms
from allauth.mfa.totp.internal.auth import SECRET_SESSION_KEY
from django import forms
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest
from django.urls import reverse

from heatmaps.http import attempt_limits
from heatmaps.people import account_names, accounts, code_tries, mails, password_links
from heatmaps.people.sign_in import sealed, unsealed, use_code
from heatmaps.views.account.forms.first_factor import EndsTokens
from heatmaps.views.fields import LIKE_THIS

# Mails with links for a new password, to one address; who asks for more is told nothing of it.
MAILS: Final = "password_mails"
MOST_MAILS: Final = 3
MAILS_SECONDS: Final = 3600


class _Plain:
    """Lets labels say what placeholders would; no browser guesses at names or codes."""

    fields: dict[str, forms.Field]
    labels: dict[str, str] = {}
    begins_with_a_field = True  # so that it has the focus

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        for name, field in self.fields.items():
            field.widget.attrs.pop("placeholder", None)
            field.label = self.labels.get(name, field.label)
            if name == "password1":
                field.help_text = LIKE_THIS
            if name in {"password", "oldpassword"}:
                field.help_text = ""  # a link to a new one, also where no mail is sent
        if self.begins_with_a_field:
            next(iter(self.fields.values())).widget.attrs["autofocus"] = True


class SignInForm(_Plain, account_forms.LoginForm):  # type: ignore[misc]  # allauth carries no types
    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.fields["login"].widget.attrs |= {"autocapitalize": "none", "spellcheck": "false"}


class ForgottenForm(_Plain, account_forms.ResetPasswordForm):  # type: ignore[misc]  # allauth carries no types
    labels = {"email": "Mail address"}

    def clean_email(self) -> str:
        return str(self.cleaned_data["email"]).lower()  # nobody looks here whether it is known

    def save(self, _request: HttpRequest, **_options: object) -> str:
        address: str = self.cleaned_data["email"]
        if not attempt_limits.seconds_to_wait(MAILS, address, most=MOST_MAILS, seconds=MAILS_SECONDS):
            password_links.mail(address, _link)
        return address


class MailAddressForm(_Plain, account_forms.AddEmailForm):  # type: ignore[misc]  # allauth carries no types
    labels = {"email": "New mail address"}
    begins_with_a_field = False


class ConfirmForm(_Plain, account_forms.ReauthenticateForm):  # type: ignore[misc]  # allauth carries no types
    pass


class ChangePasswordForm(_Plain, account_forms.ChangePasswordForm):  # type: ignore[misc]  # allauth carries no types
    labels = {
        "oldpassword": "Current password",
        "password1": "New password",
        "password2": "New password, again",
    }
    revoke_tokens = forms.BooleanField(required=False, initial=True, label="Revoke all my API tokens too")

    def clean_oldpassword(self) -> str:
        try:
            return str(super().clean_oldpassword())
        except forms.ValidationError:
            attempt_limits.count_failure(attempt_limits.address_of(context.request))
            raise

    def save(self) -> None:
        typed = self.cleaned_data
        accounts.set_password(self.user, typed["password1"], revoke_tokens=typed["revoke_tokens"])


class _CountedCode(_Plain):
    """Checks a code where a try is left, and uses it once, whoever else sends it at this moment."""

    user: User
    authenticator: Any
    cleaned_data: dict[str, Any]

    def clean_code(self) -> str:
        kind = code_tries.kind_of(self.cleaned_data["code"])
        with transaction.atomic():
            User.objects.select_for_update().get(pk=self.user.pk)
            if kind is not None:
                code_tries.require_try(self.user, kind)
            try:
                code: str = super().clean_code()  # type: ignore[misc]  # of allauth's form beside it
                use_code(self.authenticator)
            except forms.ValidationError as error:
                refusal = error
            else:
                return code
            if kind is not None:
                code_tries.count_wrong(self.user, kind)
        raise refusal  # after the commit: the count stays


class CodeForm(_CountedCode, mfa_forms.AuthenticateForm):  # type: ignore[misc]  # allauth carries no types
    pass


class ConfirmByCodeForm(_CountedCode, mfa_forms.ReauthenticateForm):  # type: ignore[misc]  # allauth carries no types
    pass


class NewAppForm(EndsTokens, _Plain, totp_forms.ActivateTOTPForm):  # type: ignore[misc]  # allauth carries no types
    labels = {"code": "Code that the app shows"}
    begins_with_a_field = False  # but with what is to be scanned

    def __init__(self, *arguments: Any, **named: Any) -> None:
        """Seals the new secret from one page to the next: allauth keeps it in the session, in clear."""
        session = context.request.session
        session[SECRET_SESSION_KEY] = unsealed(session.get(SECRET_SESSION_KEY, ""))
        super().__init__(*arguments, **named)
        session[SECRET_SESSION_KEY] = sealed(self.secret)


class ProviderNameForm(forms.ModelForm):  # type: ignore[type-arg]  # a type parameter in the stubs only
    """Asks how a new person, whom the provider knows, is called here."""

    class Meta:
        model = User
        fields = ("username",)

    def clean_username(self) -> str:
        return account_names.checked(str(self.cleaned_data["username"]))

    def say_taken(self) -> None:
        """Says that the name was taken at this very moment, or this person came by another page."""
        self.add_error("username", "This name is taken.")


def _link(key: str) -> str:
    return mails.link_to(reverse("account_reset_password_from_key", args=[key]))
