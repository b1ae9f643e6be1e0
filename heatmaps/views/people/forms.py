"""Provides forms about people: members, invitations, accounts, passwords, tokens."""

from typing import Any

from django import forms
from django.contrib.auth.forms import BaseUserCreationForm, SetPasswordForm
from django.contrib.auth.models import User
from django.core.exceptions import NON_FIELD_ERRORS

from heatmaps.models import Role, Scope
from heatmaps.people import account_names
from heatmaps.people.members import LONGEST_REASON
from heatmaps.views.fields import LIKE_THIS, WholeNumber

MOST_DAYS = 3650

_REASON_HELP = (
    "You are not a steward of this dataset. A new steward can see the data: the reason "
    "is written into the ledger for good, with your name, and every member sees it on this page."
)


class RoleForm(forms.Form):
    """Asks for a role; for a reason where an administrator may have to give one."""

    role = forms.ChoiceField(choices=Role.choices, initial=Role.ANALYST)
    reason = forms.CharField(
        max_length=LONGEST_REASON,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        label="Reason, if the role is steward",
        help_text=_REASON_HELP,
    )

    def __init__(self, data: Any = None, *, reasons: bool, **options: Any) -> None:
        """Leaves the reason out unless `reasons`: the person who fills it in has to give one for stewards."""
        super().__init__(data, **options)
        if not reasons:
            del self.fields["reason"]

    @property
    def reason_text(self) -> str:
        return str(self.cleaned_data.get("reason", ""))


class MemberForm(RoleForm):
    username = forms.CharField(
        max_length=150,
        help_text="Of an account on this server.",
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )
    field_order = ("username", "role", "reason")


class SignUpForm(BaseUserCreationForm):  # type: ignore[type-arg]  # a type parameter in the stubs only
    """Makes an account: name, and a password twice, by Django's validators."""

    class Meta:
        model = User
        fields = ("username",)

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.fields["password1"].help_text = LIKE_THIS
        self.fields["password2"].label = "Password again"
        self.fields["password2"].help_text = ""

    def validate_password_for_user(self, user: User, _field: str = "") -> None:
        """Puts what is wrong with a password where it was typed first."""
        super().validate_password_for_user(user, "password1")  # type: ignore[misc]  # not in the stubs

    def say_taken(self) -> None:
        """Says that the name was taken at this very moment."""
        self.add_error("username" if "username" in self.fields else NON_FIELD_ERRORS, "This name is taken.")

    def clean_username(self) -> str:
        return account_names.checked(str(self.cleaned_data["username"]))


class NewPasswordForm(SetPasswordForm):  # type: ignore[type-arg]  # a type parameter in the stubs only
    """Asks somebody who opened a link for it for a new password, twice."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.fields["new_password1"].help_text = LIKE_THIS
        self.fields["new_password2"].label = "New password, again"

    def validate_password_for_user(self, user: User, _field: str = "") -> None:
        super().validate_password_for_user(user, "new_password1")


class InstallationInvitationForm(forms.Form):
    may_create_datasets = forms.BooleanField(required=False, label="May create datasets")


class TokenForm(forms.Form):
    """Asks for a new token of one's own."""

    name = forms.CharField(
        max_length=80,
        help_text="For yourself: where the token is used.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    scopes = forms.MultipleChoiceField(
        choices=Scope.choices,
        widget=forms.CheckboxSelectMultiple,
        initial=[Scope.READ],
        label="What it may do",
    )
    days = WholeNumber(
        min_value=1,
        max_value=MOST_DAYS,
        required=False,
        initial=90,
        label="Valid for so many days",
        help_text="Empty: until you revoke it.",
    )
