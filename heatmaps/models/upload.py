"""Uploads and the check-ins they carry."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from heatmaps.models.dataset import Dataset, DataVersion


class UploadState(models.TextChoices):
    """`RECEIVED` (file in) -> `STAGED` (rows being written) -> `READY` | `FAILED` (nothing kept).

    A steward may undo a ready upload (`UNDONE`, nothing kept) until a data version includes it.
    """

    RECEIVED = "received", "waiting"
    STAGED = "staged", "reading"
    READY = "ready", "ready"
    FAILED = "failed", "failed"
    UNDONE = "undone", "undone"


class Upload(models.Model):
    """One file a steward sent. Every count here is data: only stewards see it (design, section 2)."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    dataset = models.ForeignKey(Dataset, models.PROTECT, related_name="uploads")
    state = models.CharField(max_length=16, choices=UploadState.choices, default=UploadState.RECEIVED)
    # The version that made it available; empty until a steward's act includes it.
    version = models.ForeignKey(DataVersion, models.PROTECT, null=True, blank=True, related_name="uploads")
    advance = models.BooleanField(default=True)
    # How to read the file, as `heatmaps.ingest.options` writes it; empty: as the server does by default.
    options = models.JSONField(default=dict, blank=True)
    uploaded_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    file_name = models.CharField(max_length=200)
    size_bytes = models.BigIntegerField()
    # Keyed, so that a thief of the database cannot recognise a file he holds.
    content_digest = models.CharField(max_length=64)
    bytes_read = models.BigIntegerField(default=0)
    rows_accepted = models.BigIntegerField(default=0)
    rows_rejected = models.BigIntegerField(default=0)
    rows_outside = models.BigIntegerField(default=0)
    failure = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    # While a worker holds the file: later than this, the sweep takes it for dead.
    lease_until = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["dataset", "content_digest"],
                condition=~Q(state__in=["failed", "undone"]),
                name="same_file_once_per_dataset",
            )
        ]
        # The sweep: uploads nobody works on.
        indexes = [models.Index(fields=["state", "lease_until"], name="upload_sweep")]

    def __str__(self) -> str:
        return f"upload {self.id}"


class CheckIn(models.Model):
    """One check-in: who (keyed 63-bit hash), where (62-bit Morton code in the region), when (epoch seconds).

    Written with COPY or prepared batches and read by aggregation in the database, never row by row.
    """

    upload = models.ForeignKey(Upload, models.CASCADE, related_name="checkins")
    person = models.BigIntegerField()
    cell = models.BigIntegerField()
    time = models.BigIntegerField(null=True)
    # REPLACE datasets keep points outside the region, clamped to its border.
    outside = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"check-in {self.pk}"


class Suppression(models.Model):
    """A person (keyed hash) who opted out: no data version from `version` on has any of their check-ins."""

    dataset = models.ForeignKey(Dataset, models.PROTECT, related_name="suppressions")
    person = models.BigIntegerField()
    # The version it took effect with; empty until the next one is made.
    version = models.ForeignKey(DataVersion, models.PROTECT, null=True, blank=True, related_name="+")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["dataset", "person"], name="one_opt_out_per_person")]

    def __str__(self) -> str:
        return f"opt-out {self.pk}"
