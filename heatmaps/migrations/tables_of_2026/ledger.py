"""Budgets and the chain of events."""

from django.db import models
from django.db.models import F, Q

from heatmaps.migrations.tables_of_2026.columns import (
    USER,
    check,
    count,
    digest,
    extends,
    key,
    one,
    table,
)

TABLES = [
    table(
        "Ledger",
        {
            "dataset": extends("heatmaps.dataset", "ledger"),
            "last_sequence": models.PositiveBigIntegerField(default=0),
            "last_hash": digest(),
        },
    ),
    table(
        "Account",
        {
            "dataset": key("heatmaps.dataset", "accounts"),
            "kind": models.CharField(
                max_length=16,
                choices=[
                    ("presence", "presence (ε)"),
                    ("record", "whole record (ε)"),
                    ("radius", "radius (ε)"),
                    ("delta", "δ"),
                ],
            ),
            "limit": models.BigIntegerField(null=True, blank=True),
            "committed": count(),
            "unbounded": models.BooleanField(default=False),
        },
        ordering=["pk"],
        constraints=[
            one("one_account_per_kind", "dataset", "kind"),
            check(
                "account_within_limit",
                Q(committed__gte=0)
                & (Q(limit=None) | Q(limit__gte=0, unbounded=False, committed__lte=F("limit"))),
            ),
        ],
    ),
    table(
        "Allowance",
        {
            "account": key("heatmaps.account", "allowances"),
            "person": key(USER, null=True),
            "follows_default": models.BooleanField(default=True),
            "limit": models.BigIntegerField(null=True),
            "committed": count(),
        },
        ordering=["account", "person"],
        constraints=[
            one("one_allowance_a_person", "account", "person"),
            one("one_default_allowance", "account", condition=Q(person=None)),
            check("allowance_counts_up", Q(committed__gte=0) & (Q(limit=None) | Q(limit__gte=0))),
            check(
                "allowance_is_one_or_the_default",
                Q(follows_default=True, limit=None)
                | Q(follows_default=False, person__isnull=False)
                | Q(follows_default=False, person=None, committed=0),
            ),
        ],
    ),
    table(
        "Event",
        {
            "dataset": key("heatmaps.dataset", "events"),
            "sequence": models.PositiveBigIntegerField(),
            "at_microseconds": models.BigIntegerField(),
            "actor": key(USER, null=True),
            "kind": models.CharField(max_length=32),
            "release": models.UUIDField(null=True),
            "before": models.TextField(),
            "after": models.TextField(),
            "previous_hash": digest(),
            "hash": digest(),
            "salt": models.CharField(max_length=32, null=True),
        },
        ordering=["dataset", "sequence"],
        constraints=[one("one_event_per_sequence", "dataset", "sequence")],
    ),
]
