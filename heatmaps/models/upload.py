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
    """One file a steward sent. Every count here is data: only stewards see it (`docs/explanation/law.md`)."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    dataset = models.ForeignKey(Dataset, models.PROTECT, related_name="uploads")
    state = models.CharField(max_length=16, choices=UploadState.choices, default=UploadState.RECEIVED)
    # The version that made it available; empty until a steward's act includes it.
    version = models.ForeignKey(DataVersion, models.PROTECT, null=True, blank=True, related_name="uploads")
    advance = models.BooleanField(default=True)
    # Files sent together share one, and become available in one version, once the last of them was read.
    batch = models.UUIDField(null=True, blank=True)
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
    # Users whose names differ from another one's by the spelling of a number alone: the steward is warned.
    names_alike = models.PositiveIntegerField(default=0)
    # Rows of earlier days are deleted from storage, and how many those were
    # (`heatmaps.ingest.versions.deletion`).
    kept_from = models.DateField(null=True, blank=True)
    rows_expired = models.BigIntegerField(default=0)
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
    """One check-in: who (keyed hash), where (62-bit Morton code in the region), when (epoch seconds).

    Written with COPY or prepared batches and read by aggregation in the database, never row by row.
    """

    # Without a constraint, which would be checked row by row (a COPY takes twice as long). Every block is
    # written in a transaction that renews the lease of its upload, an UPDATE that must hit the row, and no
    # upload's row is ever deleted. Rows without one would be read by nothing; `verify-ledger` finds them.
    upload = models.ForeignKey(Upload, models.CASCADE, related_name="checkins", db_constraint=False)
    person = models.BigIntegerField()
    person_rest = models.BigIntegerField(default=0, db_default=0)  # of the hash; 0 where it has 63 bits
    cell = models.BigIntegerField()
    time = models.BigIntegerField(null=True)
    # REPLACE datasets keep points outside the region, clamped to its border.
    outside = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"check-in {self.pk}"


class Enrolment(models.Model):
    """REPLACE: a person (keyed hash) of whom check-ins were deleted as too old, and who stays enrolled.

    So a new user does not take the place of one of the declared persons.
    """

    dataset = models.ForeignKey(Dataset, models.PROTECT, related_name="enrolments")
    person = models.BigIntegerField()
    person_rest = models.BigIntegerField(default=0, db_default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["dataset", "person", "person_rest"], name="enrolled_once")
        ]

    def __str__(self) -> str:
        return f"enrolment {self.pk}"


OPT_OUT_STATES = ("waiting", "in_effect", "ending", "ended")


class Suppression(models.Model):
    """A person (keyed hash) who opted out: from `version` up to before `until`, no data version has them."""

    dataset = models.ForeignKey(Dataset, models.PROTECT, related_name="suppressions")
    # Its name in addresses: neither a running number, which would count, nor anything of the person.
    entry = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    person = models.BigIntegerField()
    person_rest = models.BigIntegerField(default=0, db_default=0)
    # The version it took effect with; empty until the next one is made.
    version = models.ForeignKey(DataVersion, models.PROTECT, null=True, blank=True, related_name="+")
    # Taken back: the version from which on it has no effect any more; empty until the next one is made.
    is_withdrawn = models.BooleanField(default=False)
    until = models.ForeignKey(DataVersion, models.PROTECT, null=True, blank=True, related_name="+")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["dataset", "person", "person_rest"],
                condition=Q(until=None),
                name="one_open_opt_out_per_person",
            ),
            models.CheckConstraint(
                name="opt_out_ends_after_it_began",
                condition=Q(until=None, is_withdrawn=False) | Q(is_withdrawn=True, version__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"opt-out {self.entry}"

    @property
    def state(self) -> str:
        """Waiting and ending: until the next version is made."""
        if self.version_id is None:
            return "waiting"
        if self.until_id is not None:
            return "ended"
        return "ending" if self.is_withdrawn else "in_effect"

    @classmethod
    def in_effect(cls, version: DataVersion) -> "models.QuerySet[Suppression]":
        """Who is left out of what a data version holds."""
        begun = cls.objects.filter(dataset=version.dataset_id, version__number__lte=version.number)
        return begun.filter(Q(until=None) | Q(until__number__gt=version.number))
