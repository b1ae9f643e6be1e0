"""Changes one limit."""

from typing import Any

from django import forms

from heatmaps.budget import limits
from heatmaps.models import Account, AccountKind
from heatmaps.queries import NO_LIMIT, amount_text
from heatmaps.views.fields import DecimalText, ReasonField, refusal_text
from mechanisms.check import ParameterError


class LimitForm(ReasonField):
    """Reads the new limit and, in `seen`, the one on the page: both in the account's units, or None."""

    limit = DecimalText(label="New limit", required=False)
    seen = forms.CharField(widget=forms.HiddenInput, required=False)

    def __init__(self, account: Account, data: Any = None) -> None:
        self.account, self.kind = account, AccountKind(account.kind)
        super().__init__(data, initial={"seen": "" if account.limit is None else str(account.limit)})
        self.fields["limit"].required = self.kind not in limits.OPTIONAL
        self.fields["limit"].help_text = _help(self.kind)

    @property
    def now(self) -> str:
        return amount_text(self.account.limit, self.kind, missing=NO_LIMIT)

    def clean_seen(self) -> int | None:
        text: str = self.cleaned_data["seen"]
        if text and not (text.isascii() and text.isdigit() and len(text) <= 20):
            raise forms.ValidationError("reload this page")
        return int(text) if text else None

    def clean_limit(self) -> int | None:
        text: str = self.cleaned_data["limit"]
        if not text and self.kind in limits.OPTIONAL:
            return None
        try:
            return limits.units("limit", self.kind, text)
        except ParameterError as error:
            raise forms.ValidationError(refusal_text(error)) from None


def _help(kind: AccountKind) -> str:
    if kind == AccountKind.DELTA:
        return "A probability from 0 to 1, as a plain decimal number."
    words = "ε, as a plain decimal number of at most 12 places; no unit."
    return f"{words} Empty: no limit; the account is still tracked." if kind in limits.OPTIONAL else words
