"""Releases, what they cost and what came out."""

from django.db import models

from heatmaps.migrations.tables_of_2026.columns import (
    USER,
    chosen,
    digest,
    extends,
    index,
    key,
    made,
    moment,
    one,
    random_name,
    table,
)

TABLES = [
    table(
        "Release",
        {
            "id": random_name(),
            "dataset": key("heatmaps.dataset", "releases"),
            "version": key("heatmaps.dataversion", "releases"),
            "requested_by": key(USER),
            "state": chosen(
                "reserved",
                ("reserved", "queued"),
                ("spent", "queued"),
                ("published", "published"),
                ("cancelled", "cancelled"),
                ("failed", "no_result"),
            ),
            "mechanism": models.CharField(max_length=40),
            "epsilon": models.CharField(max_length=80),
            "delta": models.CharField(max_length=80, default="0/1"),
            "resolution": models.PositiveIntegerField(null=True, blank=True),
            "parameters": models.JSONField(default=dict),
            "since": models.BigIntegerField(null=True, blank=True),
            "until": models.BigIntegerField(null=True, blank=True),
            "within": models.JSONField(null=True, blank=True),
            "guarantee": models.JSONField(),
            "expected_error": models.JSONField(null=True),
            "question": digest(),
            "requested_at": made(),
            "expires_at": models.DateTimeField(),
            "lease_until": moment(),
            "finished_at": moment(),
            "public_since": moment(),
        },
        ordering=["-requested_at"],
        indexes=[
            index("release_sweep", "state", "expires_at"),
            index("release_same_question", "dataset", "question"),
        ],
    ),
    table(
        "RequestKey",
        {
            "requested_by": key(USER),
            "key": models.CharField(max_length=120),
            "release": key("heatmaps.release", "request_keys"),
        },
        constraints=[one("one_answer_per_request_key", "requested_by", "key")],
    ),
    table(
        "Charge",
        {
            "release": key("heatmaps.release", "charges"),
            "account": key("heatmaps.account", "charges"),
            "amount": models.BigIntegerField(null=True),
        },
        constraints=[one("one_charge_per_account", "release", "account")],
    ),
    table(
        "Result",
        {
            "release": extends("heatmaps.release", "result"),
            "content": models.BinaryField(),
            "sha256": digest(),
            "created_at": made(),
        },
    ),
]
