"""The form that changes one limit."""

from typing import Any

from django import forms

from heatmaps.ledger.amounts import units_per_one
from heatmaps.ledger.transitions import LONGEST_REASON
from heatmaps.models import Account, AccountKind
from heatmaps.queries import amount_text
from heatmaps.views.forms.shared import DecimalText, explain
from mechanisms.check import ParameterError, exact_decimal


class LimitForm(forms.Form):
    """`units` is the new limit in the account's units (None: no limit), `seen` the one that was shown."""

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
        if self.kind == AccountKind.DELTA:
            self.fields["limit"].help_text = "A probability from 0 to 1, as a plain decimal number."
        else:
            self.fields["limit"].help_text = "ε, as a plain decimal number of at most 12 places."
        optional = self.kind in (AccountKind.RECORD, AccountKind.RADIUS)
        self.fields["limit"].required = not optional
        if optional:
            self.fields["limit"].help_text += " Empty: no limit; the account is still tracked."

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
        return amount_text(self.account.limit, self.kind, missing="no limit")

    def clean_seen(self) -> str:
        text: str = self.cleaned_data["seen"]
        if text and not (text.isascii() and text.isdigit() and len(text) <= 20):
            raise forms.ValidationError("reload this page")
        return text

    def clean_limit(self) -> int | None:
        text: str = self.cleaned_data["limit"]
        if not text:
            return None
        high = 1 if self.kind == AccountKind.DELTA else None
        try:
            units = exact_decimal("limit", text, low=0, high=high) * units_per_one(self.kind)
        except ParameterError as error:
            explain(self, error, {})
            return None
        if units.denominator != 1:
            raise forms.ValidationError(f"At most {len(str(units_per_one(self.kind))) - 1} decimal places.")
        return units.numerator
