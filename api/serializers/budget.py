"""Allowances, alerts, forecasts and where a budget went."""

from typing import Any

from rest_framework import serializers

from api.serializers.fields import Choice, Decimal, Strict, Text
from heatmaps.alerts import LEVELS
from heatmaps.ledger.transitions import LONGEST_REASON
from heatmaps.models import AccountKind


class AllowanceIn(Strict):
    """What one person, or everybody by default, may take of an account from now on."""

    account = Choice(choices=AccountKind.values)
    analyst = Text(
        required=False, allow_null=True, max_length=150, help_text="A username; null or left out: everybody."
    )
    follows_default = serializers.BooleanField(
        required=False,
        default=False,
        help_text="The analyst has what everybody has; `allowance` is left out.",
    )
    allowance = Decimal(
        required=False, allow_null=True, help_text="Exact decimal, over all time; null: not limited."
    )
    reason = Text(max_length=LONGEST_REASON, help_text="It stays in the ledger.")


class AllowanceOut(serializers.Serializer[Any]):
    account = serializers.ChoiceField(choices=AccountKind.values)
    analyst = serializers.CharField(allow_null=True, help_text="A username; null: everybody by default.")
    follows_default = serializers.BooleanField()
    allowance = serializers.CharField(
        allow_null=True, help_text="Exact decimal: what holds, be it the default; null: not limited."
    )
    taken = serializers.CharField(allow_null=True, help_text="Exact decimal; null: of the default.")
    available = serializers.CharField(allow_null=True, help_text="Exact decimal; null: not limited.")


class AllowancesOut(serializers.Serializer[Any]):
    """All of them for those who may read the ledger, one's own for others. Policy, no guarantee."""

    allowances = AllowanceOut(many=True)


class AlertOut(serializers.Serializer[Any]):
    account = serializers.ChoiceField(choices=AccountKind.values)
    percent = serializers.ChoiceField(choices=LEVELS, help_text="The highest that was reached.")
    of = serializers.ChoiceField(choices=["limit", "allowance"], help_text="`allowance`: your own.")
    sentence = serializers.CharField()


class MoreOut(serializers.Serializer[Any]):
    account = serializers.ChoiceField(choices=AccountKind.values)
    count = serializers.IntegerField(allow_null=True, help_text="null: as many as you like.")


class ForecastOut(serializers.Serializer[Any]):
    """How many more such releases fit after this one, under limits and your own allowances."""

    overall = serializers.IntegerField(allow_null=True, help_text="The fewest; null: as many as you like.")
    accounts = MoreOut(many=True)


class PartOfSpendingOut(serializers.Serializer[Any]):
    name = serializers.CharField(
        help_text="A username (`you` and `others` for those who may not read the ledger), mechanism or day."
    )
    amount = serializers.CharField(help_text="Exact decimal.")
    releases = serializers.IntegerField()


class SpendingOfAccountOut(serializers.Serializer[Any]):
    account = serializers.ChoiceField(choices=AccountKind.values)
    taken = serializers.CharField(allow_null=True, help_text="Exact decimal; null: no bound.")
    limit = serializers.CharField(allow_null=True, help_text="Exact decimal; null: no limit.")
    by_person = PartOfSpendingOut(many=True)
    by_mechanism = PartOfSpendingOut(many=True)
    by_day = PartOfSpendingOut(many=True)


class SpendingOut(serializers.Serializer[Any]):
    """What releases took, queued ones included and cancelled ones not."""

    accounts = SpendingOfAccountOut(many=True)
