"""Datasets, their versions and their budgets."""

from typing import Any

from rest_framework import serializers

from api.serializers.budget import AlertOut
from api.serializers.fields import Choice, Decimal, Number, Strict, Text, Whole
from heatmaps.datasets import MAX_PERSONS, MAX_RADIUS_M
from heatmaps.ledger.transitions import LONGEST_REASON
from heatmaps.models import AccountKind
from heatmaps.retention import MOST_DAYS
from heatmaps.schedules import EVERY, LAST_DAY, WEEKDAYS
from mechanisms.guarantee import Relation

KEPT_FOR = "Days (UTC) for which check-ins are kept, then deleted; null: for ever."
RELATIONS = [relation.value for relation in Relation]


class LimitsIn(Strict):
    """Exact decimals: presence (add_remove); record, radius (replace; null: no limit); delta."""

    presence = Decimal(required=False)
    record = Decimal(required=False, allow_null=True)
    radius = Decimal(required=False, allow_null=True)
    delta = Decimal(required=False)


class ScheduleIn(Strict):
    """When data versions advance by themselves, at a full hour of UTC."""

    every = Choice(choices=list(EVERY))
    hour = Whole(min_value=0, max_value=23, help_text="Of UTC.")
    weekday = Choice(choices=list(WEEKDAYS), required=False, help_text="`weekly` only.")
    day = Whole(required=False, min_value=1, max_value=LAST_DAY, help_text="`monthly` only: of the month.")


class DatasetIn(Strict):
    """Public facts, fixed before the first upload."""

    slug = Text(max_length=60, help_text="Lower-case letters, digits and single hyphens.")
    title = Text(max_length=120)
    bbox = serializers.ListField(
        child=Number(min_value=-180, max_value=180),
        min_length=4,
        max_length=4,
        help_text="West, south, east, north in degrees, chosen without looking at the data.",
    )
    relation = Choice(choices=RELATIONS, help_text="Which two datasets count as neighbours; for good.")
    limits = LimitsIn()
    persons = Whole(
        required=False, min_value=1, max_value=MAX_PERSONS, help_text="`replace`: everyone enrolled; public."
    )
    radius_m = Whole(
        required=False, min_value=1, max_value=MAX_RADIUS_M, help_text="`replace`: of the radius account."
    )
    expected_persons = Whole(
        required=False,
        min_value=1,
        max_value=MAX_PERSONS,
        help_text="`add_remove`: a public guess, not a count; steers accuracy only.",
    )
    schedule = ScheduleIn(
        required=False,
        allow_null=True,
        help_text="Data versions advance on it, changed or not; null: by a steward's acts, which may tell "
        "when data came in.",
    )
    retention_days = Whole(
        required=False, allow_null=True, min_value=1, max_value=MOST_DAYS, help_text=KEPT_FOR
    )


class DatasetChangeIn(Strict):
    """A new schedule, another number of days to keep check-ins, or both; and why. What is not named stays."""

    schedule = ScheduleIn(
        required=False, allow_null=True, help_text="null: versions advance by a steward's acts."
    )
    retention_days = Whole(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=MOST_DAYS,
        help_text=f"{KEPT_FOR} From the next version on; keeping longer brings nothing back.",
    )
    reason = Text(max_length=LONGEST_REASON, help_text="Written into the ledger for good, with your name.")


class DatasetOut(serializers.Serializer[Any]):
    """Public facts of a dataset, for its members."""

    slug = serializers.CharField()
    title = serializers.CharField()
    bbox = serializers.ListField(child=serializers.FloatField(), min_length=4, max_length=4)
    relation = serializers.ChoiceField(choices=RELATIONS)
    persons = serializers.IntegerField(allow_null=True)
    radius_m = serializers.IntegerField(allow_null=True)
    expected_persons = serializers.IntegerField(allow_null=True)
    is_demo = serializers.BooleanField()
    version = serializers.IntegerField(allow_null=True, help_text="The latest data version; null: none yet.")
    schedule = ScheduleIn(allow_null=True, help_text="When versions advance; null: by a steward's acts.")
    next_version_at = serializers.DateTimeField(
        allow_null=True,
        help_text="When the schedule makes the next version, whether anything changed or not.",
    )
    retention_days = serializers.IntegerField(allow_null=True, help_text=KEPT_FOR)
    roles = serializers.ListField(child=serializers.CharField(), help_text="What you are here.")
    links = serializers.DictField(child=serializers.URLField())


class VersionOut(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    created_at = serializers.DateTimeField(source="since", help_text="Of a scheduled one: when it was due.")
    scheduled = serializers.BooleanField(
        source="is_scheduled", help_text="By the schedule, not by a steward."
    )
    kept_from = serializers.DateField(
        allow_null=True,
        help_text="Check-ins of earlier days (UTC) are not in it; null: as long ago as there are any.",
    )


class VersionsOut(serializers.Serializer[Any]):
    """A page of versions, and when the next one comes."""

    count = serializers.IntegerField()
    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)
    schedule = ScheduleIn(allow_null=True)
    next_version_at = serializers.DateTimeField(allow_null=True)
    results = VersionOut(many=True)


class AccountOut(serializers.Serializer[Any]):
    account = serializers.ChoiceField(choices=AccountKind.values)
    limit = serializers.CharField(allow_null=True, help_text="Exact decimal; null: no limit.")
    spent = serializers.CharField(allow_null=True, help_text="Exact decimal; null: no bound.")
    reserved = serializers.CharField(help_text="Exact decimal, held by queued releases.")
    available = serializers.CharField(allow_null=True, help_text="Exact decimal; null: no limit.")


class BudgetOut(serializers.Serializer[Any]):
    accounts = AccountOut(many=True)
    alerts = AlertOut(many=True, help_text="Limits, and allowances of yours, that ran low: 80, 95, 100 %.")


class BudgetIn(Strict):
    """New limits, and why."""

    limits = LimitsIn(help_text="Those to change; the others stay.")
    reason = Text(max_length=LONGEST_REASON, help_text="Written into the ledger for good, with your name.")
