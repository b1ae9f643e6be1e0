"""Datasets, their members and data versions."""

from django.db import migrations, models
from django.db.models import CASCADE, F, Q

from heatmaps.migrations.tables_of_2026.columns import (
    ROLES,
    USER,
    at_least_one,
    check,
    digest,
    index,
    key,
    made,
    moment,
    one,
    optional_key,
    table,
)

TABLES = [
    table(
        "Dataset",
        {
            "slug": models.SlugField(max_length=60, unique=True),
            "title": models.CharField(max_length=120),
            "west": models.FloatField(),
            "south": models.FloatField(),
            "east": models.FloatField(),
            "north": models.FloatField(),
            "relation": models.CharField(
                max_length=16,
                choices=[
                    ("add_remove", "a person is there or not"),
                    ("replace", "a person's record is exchanged for another"),
                ],
            ),
            "persons": at_least_one(models.PositiveBigIntegerField),
            "radius_m": at_least_one(models.PositiveIntegerField),
            "expected_persons": at_least_one(models.PositiveBigIntegerField),
            "key_fingerprint": digest(),
            "schedule": models.CharField(max_length=40, blank=True, default=""),
            "next_version_at": moment(),
            "retention_days": at_least_one(models.PositiveIntegerField),
            "is_demo": models.BooleanField(default=False),
            "created_by": key(USER),
            "created_at": made(),
        },
        ordering=["title", "slug"],
        constraints=[
            check(
                "dataset_relation_has_its_facts",
                Q(relation="add_remove", persons=None, radius_m=None)
                | Q(relation="replace", persons__gte=1, radius_m__gte=1),
            ),
            check("dataset_region_is_a_box", Q(west__lt=F("east"), south__lt=F("north"))),
            check(
                "dataset_schedule_has_its_moment",
                Q(schedule="", next_version_at=None) | (~Q(schedule="") & Q(next_version_at__isnull=False)),
            ),
            check("dataset_keeps_for_some_days", Q(retention_days=None) | Q(retention_days__gte=1)),
        ],
        indexes=[index("version_due", "next_version_at")],
    ),
    table(
        "Membership",
        {
            "dataset": key("heatmaps.dataset", "memberships", CASCADE),
            "user": key(USER, "memberships"),
            "role": models.CharField(max_length=16, choices=ROLES),
        },
        constraints=[one("one_role_per_member", "dataset", "user")],
    ),
    migrations.AddField(
        "dataset",
        "members",
        models.ManyToManyField(USER, through="heatmaps.Membership", related_name="datasets"),
    ),
    table(
        "DataVersion",
        {
            "dataset": key("heatmaps.dataset", "versions"),
            "number": models.PositiveIntegerField(),
            "created_by": optional_key(USER),
            "due_at": moment(),
            "created_at": made(),
            "kept_from": models.DateField(null=True, blank=True),
            "is_cleared": models.BooleanField(default=False),
        },
        ordering=["dataset", "-number"],
        constraints=[
            one("one_version_per_number", "dataset", "number"),
            one("one_version_per_due_moment", "dataset", "due_at"),
            check(
                "version_by_somebody_or_due",
                Q(created_by__isnull=False, due_at=None) | Q(created_by=None, due_at__isnull=False),
            ),
        ],
        indexes=[
            index("version_not_cleared", "dataset", condition=Q(kept_from__isnull=False, is_cleared=False))
        ],
    ),
]
