"""Allowances, alerts, forecasts and where a budget went."""

from typing import Any

from rest_framework import serializers

from api.serializers.fields import Amount, Choice, Decimal, Flag, Strict, Text
from heatmaps.budget.alerts import LEVELS
from heatmaps.budget.allowances import Allowed
from heatmaps.ledger.transitions.moves import LONGEST_REASON
from heatmaps.models import AccountKind


class AllowanceIn(Strict):
    """What one person, or everybody by default, may take of an account from now on."""

    account = Choice(choices=AccountKind.values)
    analyst = Text(
        required=False, allow_null=True, max_length=150, help_text="A username; null or left out: everyone."
    )
    follows_default = Flag(
        required=False,
        default=False,
        help_text="The analyst has the default; leave out `allowance`.",
    )
    allowance = Decimal(
        required=False, allow_null=True, help_text="Exact decimal, over all time; null: not limited."
    )
    reason = Text(max_length=LONGEST_REASON, help_text="It stays in the ledger.")


def _is_personal(allowed: Allowed) -> bool:
    return allowed.person is not None


class AllowanceOut(serializers.Serializer[Any]):
    account = serializers.ChoiceField(choices=AccountKind.values, source="kind")
    analyst = serializers.CharField(
        source="person.username", allow_null=True, help_text="A username; null: the default for everyone."
    )
    follows_default = serializers.BooleanField()
    allowance = Amount(
        source="limit", allow_null=True, help_text="Exact decimal, the default included; null: not limited."
    )
    taken = Amount(source="committed", null="of the default", visible=_is_personal)
    available = Amount(null="not limited", visible=_is_personal)


class AllowancesOut(serializers.Serializer[Any]):
    """All of them for those who may read the ledger, one's own for others. Policy, no guarantee."""

    allowances = AllowanceOut(many=True)


class AlertOut(serializers.Serializer[Any]):
    account = serializers.ChoiceField(choices=AccountKind.values, source="kind")
    percent = serializers.ChoiceField(choices=LEVELS, help_text="The highest level reached.")
    of = serializers.ChoiceField(choices=["limit", "allowance"], help_text="`allowance`: your own.")
    sentence = serializers.CharField()


class MoreOut(serializers.Serializer[Any]):
    account = serializers.ChoiceField(choices=AccountKind.values, source="kind")
    count = serializers.IntegerField(allow_null=True, help_text="null: no limit.")


class ForecastOut(serializers.Serializer[Any]):
    """How many more such releases fit after this one, under limits and your own allowances."""

    overall = serializers.IntegerField(allow_null=True, help_text="The fewest; null: no limit.")
    accounts = MoreOut(many=True, source="lines")


class PartOfSpendingOut(serializers.Serializer[Any]):
    name = serializers.CharField(
        help_text="A username (`you` and `others` for those who may not read the ledger), mechanism or day."
    )
    amount = Amount(source="units")
    releases = serializers.IntegerField()


class SpendingOfAccountOut(serializers.Serializer[Any]):
    account = serializers.ChoiceField(choices=AccountKind.values, source="kind")
    taken = Amount(source="committed", null="no bound", visible=lambda spending: not spending.unbounded)
    limit = Amount(null="no limit")
    by_person = PartOfSpendingOut(many=True, source="parts.person")
    by_mechanism = PartOfSpendingOut(many=True, source="parts.mechanism")
    by_day = PartOfSpendingOut(many=True, source="parts.day")


class SpendingOut(serializers.Serializer[Any]):
    """What releases took, queued ones included and cancelled ones not."""

    accounts = SpendingOfAccountOut(many=True)
