"""Asks, with somebody's first second factor, whether the API tokens go that were made without one."""

from typing import Any

from django import forms
from django.contrib.auth.models import User

from heatmaps.models import ApiToken
from heatmaps.people import accounts


class EndsTokens:
    """Asks, as a mixin before the form of a new second factor, whether tokens end."""

    user: User
    fields: dict[str, forms.Field]
    cleaned_data: dict[str, Any]

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        has_tokens = ApiToken.objects.filter(user=self.user).exists()
        if has_tokens and not accounts.has_second_factor(self.user):
            self.fields["revoke_tokens"] = forms.BooleanField(
                required=False,
                initial=True,
                label="Revoke my API tokens: the password alone was enough to make them",
            )

    def end_tokens(self) -> None:
        """Revokes them if that is ticked, once the factor is set up."""
        if self.cleaned_data.get("revoke_tokens"):
            accounts.revoke_tokens(self.user)
