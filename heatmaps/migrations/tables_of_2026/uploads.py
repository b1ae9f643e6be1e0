"""Uploads, check-ins and opt-outs."""

import uuid

from django.db import models
from django.db.models import CASCADE, Q

from heatmaps.migrations.tables_of_2026.columns import (
    USER,
    check,
    chosen,
    count,
    digest,
    extends,
    index,
    key,
    made,
    moment,
    one,
    optional_key,
    random_name,
    table,
)

TABLES = [
    table(
        "Upload",
        {
            "id": random_name(),
            "dataset": key("heatmaps.dataset", "uploads"),
            "state": chosen(
                "received",
                ("received", "waiting"),
                ("staged", "reading"),
                ("ready", "ready"),
                ("failed", "failed"),
                ("undone", "undone"),
            ),
            "version": optional_key("heatmaps.dataversion", "uploads"),
            "advance": models.BooleanField(default=True),
            "batch": models.UUIDField(null=True, blank=True),
            "options": models.JSONField(default=dict, blank=True),
            "uploaded_by": key(USER),
            "file_name": models.CharField(max_length=200),
            "size_bytes": models.BigIntegerField(),
            "content_digest": digest(),
            "bytes_read": count(),
            "rows_accepted": count(),
            "rows_rejected": count(),
            "rows_outside": count(),
            "kept_from": models.DateField(null=True, blank=True),
            "rows_expired": count(),
            "failure": models.TextField(blank=True),
            "created_at": made(),
            "lease_until": moment(),
            "finished_at": moment(),
        },
        ordering=["-created_at"],
        constraints=[
            one(
                "same_file_once_per_dataset",
                "dataset",
                "content_digest",
                condition=~Q(state__in=["failed", "undone"]),
            )
        ],
        indexes=[index("upload_sweep", "state", "lease_until")],
    ),
    table(
        "CheckIn",
        {
            "upload": key("heatmaps.upload", "checkins", CASCADE, db_constraint=False),
            "person": models.BigIntegerField(),
            "cell": models.BigIntegerField(),
            "time": models.BigIntegerField(null=True),
            "outside": models.BooleanField(default=False),
        },
    ),
    table(
        "PackedCheckIns",
        {
            "upload": key("heatmaps.upload", "packed", CASCADE),
            "slot": models.PositiveSmallIntegerField(),
            "persons": models.BinaryField(),
            "lengths": models.BinaryField(),
            "cells": models.BinaryField(),
            "times": models.BinaryField(),
            "outside": models.BinaryField(),
        },
        constraints=[one("one_pack_per_slot", "upload", "slot")],
    ),
    table(
        "PackingAttempts",
        {
            "upload": extends("heatmaps.upload", "packing", CASCADE),
            "attempts": models.PositiveSmallIntegerField(default=0),
            "next_at": models.DateTimeField(),
        },
    ),
    table(
        "Enrolment",
        {
            "dataset": key("heatmaps.dataset", "enrolments"),
            "person": models.BigIntegerField(),
        },
        constraints=[one("enrolled_once", "dataset", "person")],
    ),
    table(
        "Suppression",
        {
            "dataset": key("heatmaps.dataset", "suppressions"),
            "entry": models.UUIDField(default=uuid.uuid4, unique=True, editable=False),
            "person": models.BigIntegerField(),
            "version": optional_key("heatmaps.dataversion"),
            "is_withdrawn": models.BooleanField(default=False),
            "until": optional_key("heatmaps.dataversion"),
            "created_by": key(USER),
            "created_at": made(),
        },
        constraints=[
            one("one_open_opt_out_per_person", "dataset", "person", condition=Q(until=None)),
            check(
                "opt_out_ends_after_it_began",
                Q(until=None, is_withdrawn=False) | Q(is_withdrawn=True, version__isnull=False),
            ),
        ],
    ),
]
