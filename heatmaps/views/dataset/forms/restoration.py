"""Asks what a steward confirms after a restore."""

from typing import Any

from django import forms
from django.db.models import QuerySet

from heatmaps.models import Membership
from heatmaps.views.fields import offer


class RestorationForm(forms.Form):
    """Asks who is still a member. Nobody is ticked beforehand: whoever was removed since the backup must not
    come back unseen."""

    members = forms.TypedMultipleChoiceField(
        coerce=int,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Who is still a member?",
        help_text="Whoever is not ticked is removed. You stay.",
    )
    opt_outs_entered = forms.BooleanField(
        label="All opt-outs are entered again",
        error_messages={"required": "Enter the opt-outs first, then tick this."},
    )

    def __init__(
        self, data: Any = None, *, other_members: QuerySet[Membership], asks_opt_outs: bool, **options: Any
    ) -> None:
        super().__init__(data, **options)
        rows = [(row.user_id, f"{row.user.get_username()} ({_role(row)})") for row in other_members]
        offer(self, "members", [(str(account), label) for account, label in rows])
        if not rows:
            del self.fields["members"]
        if not asks_opt_outs:
            del self.fields["opt_outs_entered"]

    @property
    def accounts_kept(self) -> list[int]:
        """Returns the accounts that were ticked."""
        return list(self.cleaned_data.get("members", []))


def _role(row: Membership) -> str:
    closed = "" if row.user.is_active else ", account closed"
    return f"{row.get_role_display().lower()}{closed}"
