"""Datasets, their versions and their budgets."""

from typing import Any

from rest_framework import serializers

from api.serializers.budget import AlertOut
from api.serializers.collections import CollectionIn, CollectionOut
from api.serializers.fields import Amount, BoxIn, BoxOut, Choice, Decimal, PageOut, Strict, Text, Whole
from api.serializers.sources import INVALID, InvalidOut, SurveyOut
from heatmaps.datasets import MAX_PERSONS, MAX_RADIUS_M
from heatmaps.ingest.versions.retention import MOST_DAYS
from heatmaps.ingest.versions.schedule import EVERY, LAST_DAY, WEEKDAYS
from heatmaps.ledger.transitions.moves import LONGEST_REASON
from heatmaps.models import AccountKind, RowCapacity
from heatmaps.people.embedding import ALLOWED, MOST_ORIGINS
from mechanisms.guarantee import Relation

KEPT_FOR = "Days (UTC) for which check-ins are kept, then deleted; null: for ever."
CAPACITY = (
    "The most check-ins it may hold: a size class, on which depends when results appear. Nothing of a lake."
)
EMBEDDED_BY = "Origins of websites that may show its public maps in a frame; empty: none."
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
    bbox = BoxIn(
        help_text="West, south, east, north in degrees, chosen without looking at the data.",
    )
    relation = Choice(
        choices=RELATIONS, help_text="Which two datasets count as neighbours; cannot be changed."
    )
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
    row_capacity = Whole(
        required=False,
        help_text=f"{CAPACITY} One of {', '.join(map(str, RowCapacity.values))}; without it "
        f"{RowCapacity.MEDIUM}.",
    )
    collection = CollectionIn(
        required=False, allow_null=True, help_text="People's devices fill it in rounds; null: uploads do."
    )
    source = Text(  # type: ignore[assignment]  # the framework takes fields of this name
        required=False,
        allow_null=True,
        max_length=60,
        help_text="A table in a lake (see `sources/`), whose check-ins stay there; null: uploads fill it.",
    )


class DatasetChangeIn(Strict):
    """Other public rules, and why. What is not named stays."""

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
    embed_origins = serializers.ListField(
        child=Text(), required=False, max_length=MOST_ORIGINS, help_text=f"{EMBEDDED_BY} Each is {ALLOWED}."
    )
    reason = Text(max_length=LONGEST_REASON, help_text="Stays in the ledger, with your name.")


class DatasetOut(serializers.Serializer[Any]):
    """Public facts of a dataset, for its members."""

    slug = serializers.CharField()
    title = serializers.CharField()
    bbox = BoxOut()
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
    row_capacity = serializers.IntegerField(help_text=CAPACITY)
    embed_origins = serializers.ListField(child=serializers.CharField(), help_text=EMBEDDED_BY)
    collection = CollectionOut(allow_null=True, help_text="null: filled by uploads.")
    source = serializers.CharField(  # type: ignore[assignment]  # as above
        allow_null=True, help_text="The table in a lake whose check-ins stay there; null: there is none."
    )
    slot_seconds = serializers.FloatField(help_text="Current time between a draw's begin and its result.")
    roles = serializers.ListField(child=serializers.CharField(), help_text="Your roles here.")
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
    rows = serializers.IntegerField(
        allow_null=True, help_text="Of the table in a lake, for stewards; null: no lake, or not yours."
    )
    invalid = InvalidOut(allow_null=True, help_text=f"{INVALID} null: as `rows`.")


class VersionsOut(PageOut):
    """A page of versions, and when the next one comes."""

    schedule = ScheduleIn(allow_null=True)
    next_version_at = serializers.DateTimeField(allow_null=True)
    survey = SurveyOut(
        allow_null=True,
        help_text="Of a table in a lake, for stewards; null: none is under way, or not yours.",
    )
    results = VersionOut(many=True)


class AccountOut(serializers.Serializer[Any]):
    account = serializers.ChoiceField(choices=AccountKind.values, source="kind")
    limit = Amount(null="no limit")
    committed = Amount(
        visible=lambda balance: not balance.unbounded,
        allow_null=True,
        help_text="Exact decimal, asked for and not cancelled; null: no bound.",
    )
    available = Amount(null="no limit")


class BudgetOut(serializers.Serializer[Any]):
    accounts = AccountOut(many=True)
    alerts = AlertOut(many=True, help_text="Limits and your allowances that ran low: 80, 95, 100 %.")


class BudgetIn(Strict):
    """New limits, and why."""

    limits = LimitsIn(help_text="The limits to change; others stay.")
    reason = Text(max_length=LONGEST_REASON, help_text="Stays in the ledger, with your name.")
