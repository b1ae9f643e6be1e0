"""Changes what one person, or everybody, may spend of an account."""

from typing import Any

from django import forms

from heatmaps.budget.allowances import DEFAULT, askers
from heatmaps.models import Account, AccountKind, Dataset
from heatmaps.views.fields import DecimalText, ReasonField, offer

EVERYBODY, AMOUNT, UNLIMITED = "", "amount", "unlimited"


class AllowanceForm(ReasonField):
    """Reads what `allowances.change` takes, which is then in `arguments`."""

    analyst = forms.ChoiceField(label="Whose", required=False)
    account = forms.ChoiceField(label="Account")
    rule = forms.ChoiceField(
        label="How much",
        choices=[
            (AMOUNT, "at most the amount below"),
            (UNLIMITED, "as much as the limit leaves"),
            (DEFAULT, "as everyone"),
        ],
    )
    amount = DecimalText(
        label="Amount",
        required=False,
        help_text="Of the account, over all time, as a plain decimal number; ε and δ have no unit.",
    )

    def __init__(self, dataset: Dataset, data: Any = None) -> None:
        super().__init__(data)
        kinds = Account.objects.filter(dataset=dataset).order_by("pk").values_list("kind", flat=True)
        offer(self, "account", [(kind, AccountKind(kind).label) for kind in kinds])
        names = [(name, name) for name in askers(dataset)]
        offer(self, "analyst", [(EVERYBODY, "everyone else"), *names])

    def arguments(self) -> dict[str, Any]:
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
            self.add_error("rule", "The default cannot follow itself; choose another rule.")
        return typed
