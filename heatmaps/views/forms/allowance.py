"""The form that changes what one person, or everybody, may take of an account."""

from typing import Any

from django import forms

from heatmaps.allowances import DEFAULT, askers
from heatmaps.ledger.transitions import LONGEST_REASON
from heatmaps.models import Account, AccountKind, Dataset
from heatmaps.views.forms.shared import DecimalText

EVERYBODY, AMOUNT, UNLIMITED = "", "amount", "unlimited"


class AllowanceForm(forms.Form):
    """`asked` is what `allowances.change` takes."""

    analyst = forms.ChoiceField(label="Whose", required=False)
    account = forms.ChoiceField(label="Account")
    rule = forms.ChoiceField(
        label="How much",
        choices=[
            (AMOUNT, "at most the amount below"),
            (UNLIMITED, "as much as the limit leaves"),
            (DEFAULT, "as everybody"),
        ],
    )
    amount = DecimalText(
        label="Amount",
        required=False,
        help_text="Of the account, over all time, as a plain decimal number; ε and δ have no unit.",
    )
    reason = forms.CharField(
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="It is written into the ledger for good, with your name.",
    )

    def __init__(self, dataset: Dataset, data: Any = None) -> None:
        super().__init__(data)
        kinds = Account.objects.filter(dataset=dataset).order_by("pk").values_list("kind", flat=True)
        self._choices("account", [(kind, AccountKind(kind).label) for kind in kinds])
        names = [(name, name) for name in askers(dataset)]
        self._choices("analyst", [(EVERYBODY, "everybody without an own one"), *names])

    def asked(self) -> dict[str, Any]:
        typed = self.cleaned_data
        allowance = {AMOUNT: typed["amount"], UNLIMITED: None, DEFAULT: DEFAULT}[typed["rule"]]
        return {
            "account": typed["account"],
            "analyst": typed["analyst"] or None,
            "allowance": allowance,
            "reason": typed["reason"],
        }

    def clean(self) -> dict[str, Any]:
        typed: dict[str, Any] = super().clean() or self.cleaned_data
        if typed.get("rule") == AMOUNT and not typed.get("amount"):
            self.add_error("amount", "Say how much, as a plain decimal number.")
        if typed.get("rule") == DEFAULT and not typed.get("analyst"):
            self.add_error("rule", "Everybody cannot follow everybody; choose another rule.")
        return typed

    def _choices(self, name: str, choices: list[tuple[str, str]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101 - as declared above
        field.choices = choices
