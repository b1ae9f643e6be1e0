"""The form that changes one limit."""

from typing import Any

from django import forms

from heatmaps import limits
from heatmaps.ledger.transitions import LONGEST_REASON
from heatmaps.models import Account, AccountKind
from heatmaps.queries import NO_LIMIT, amount_text
from heatmaps.views.forms.shared import DecimalText, explain
from mechanisms.check import ParameterError


class LimitForm(forms.Form):
    """`units` is the new limit in the account's units (None: no limit), `seen_units` the one on the page."""

    limit = DecimalText(label="New limit", required=False)
    reason = forms.CharField(
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="It is written into the ledger for good, with your name.",
    )
    seen = forms.CharField(widget=forms.HiddenInput, required=False)

    def __init__(self, account: Account, data: Any = None) -> None:
        self.account, self.kind = account, AccountKind(account.kind)
        super().__init__(data, initial={"seen": "" if account.limit is None else str(account.limit)})
        self.fields["limit"].required = self.kind not in limits.OPTIONAL
        self.fields["limit"].help_text = _help(self.kind)

    @property
    def units(self) -> int | None:
        units: int | None = self.cleaned_data["limit"]
        return units

    @property
    def seen_units(self) -> int | None:
        text: str = self.cleaned_data["seen"]
        return int(text) if text else None

    @property
    def now(self) -> str:
        return amount_text(self.account.limit, self.kind, missing=NO_LIMIT)

    def clean_seen(self) -> str:
        text: str = self.cleaned_data["seen"]
        if text and not (text.isascii() and text.isdigit() and len(text) <= 20):
            raise forms.ValidationError("reload this page")
        return text

    def clean_limit(self) -> int | None:
        try:
            return _units(self.kind, self.cleaned_data["limit"])
        except ParameterError as error:
            explain(self, error, {})
            return None


def _units(kind: AccountKind, text: str) -> int | None:
    """Errors: `ParameterError` naming `limit`."""
    return None if not text and kind in limits.OPTIONAL else limits.units("limit", kind, text)


def _help(kind: AccountKind) -> str:
    if kind == AccountKind.DELTA:
        return "A probability from 0 to 1, as a plain decimal number."
    words = "ε, as a plain decimal number of at most 12 places; no unit."
    return f"{words} Empty: no limit; the account is still tracked." if kind in limits.OPTIONAL else words
