"""Keeps uploads, and who is enrolled or opted out."""

import uuid
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Case, Exists, F, OuterRef, Q, Subquery, Value, When
from django.db.models.functions import Coalesce

from heatmaps.models.dataset import Dataset, DataVersion


class UploadState(models.TextChoices):
    """Names the states `RECEIVED` (file in) -> `STAGED` (rows being written) -> `READY` | `FAILED` (nothing
    kept).

    A steward may undo a ready upload (`UNDONE`, nothing kept) until a data version includes it.
    """

    RECEIVED = "received", "waiting"
    STAGED = "staged", "reading"
    READY = "ready", "ready"
    FAILED = "failed", "failed"
    UNDONE = "undone", "undone"


class Upload(models.Model):
    """Holds one file a steward sent.

    Every count here is data: only stewards see it (`docs/explanation/law.md`).
    """

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
    # (`heatmaps.ingest.versions.deletion`); all of them once the dataset's ledger is closed.
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


class Enrolment(models.Model):
    """Holds, under REPLACE, a person (keyed hash) of whom check-ins were deleted as too old, and who stays
    enrolled.

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
    """Records an act about a person (keyed hash): opts out, or takes back what `withdraws` names.

    Never changed and never deleted. It takes effect with data version `since`, the next one when it was
    entered. A row that withdraws nothing is an entry; one that withdraws a withdrawal comes before the same
    version, as if nothing had been taken back.
    """

    dataset = models.ForeignKey(Dataset, models.PROTECT, related_name="suppressions")
    # Its name in addresses: neither a running number, which would count, nor anything of the person.
    entry = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    person = models.BigIntegerField()
    person_rest = models.BigIntegerField(default=0, db_default=0)
    since = models.PositiveIntegerField()
    withdraws = models.ForeignKey("self", models.PROTECT, null=True, blank=True, related_name="withdrawals")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        # Reading masses: whether a person of a check-in opted out.
        indexes = [models.Index(fields=["dataset", "person", "person_rest"], name="opt_outs_of_person")]
        constraints = [
            models.CheckConstraint(name="opt_out_since_a_version", condition=Q(since__gte=1)),
        ]

    def __str__(self) -> str:
        return f"opt-out {self.entry}"

    @classmethod
    def in_effect(cls, version: DataVersion) -> "models.QuerySet[Suppression]":
        """Returns the opt-outs of people who are left out of a data version.

        Rows of later versions and of other datasets change nothing: its event commits to none of them.
        """
        rows = cls.objects.filter(dataset=version.dataset_id, since__lte=version.number)
        taken_back = rows.filter(~Exists(rows.filter(withdraws=OuterRef("pk"))), withdraws=OuterRef("pk"))
        return rows.filter(~Exists(taken_back), withdraws=None)

    @classmethod
    def entries_of(cls, dataset: Dataset) -> "models.QuerySet[Any]":
        """Returns entries with their state, but for those taken back before any version had them.

        Each has `state`, and the numbers of the versions from which on and before which it has effect, once
        those are made.
        """
        numbers = DataVersion.objects.filter(dataset=OuterRef("dataset")).order_by("-number")
        latest = Coalesce(Subquery(numbers.values("number")[:1]), 0)
        rows = cls.objects.filter(dataset=dataset, withdraws=None).annotate(latest=latest, end=_end())
        begun = Q(since__lte=F("latest"))
        ended = Q(end__lte=F("latest"))
        entries = rows.filter(Q(end=None) | Q(end__gt=F("since")))
        return entries.annotate(
            state=Case(
                When(~begun, then=Value("waiting")),
                When(ended, then=Value("ended")),
                When(end=None, then=Value("in_effect")),
                default=Value("ending"),
            ),
            since_version=Case(When(begun, then=F("since"))),
            until_version=Case(When(ended, then=F("end"))),
        )

    @classmethod
    def open_of(cls, dataset: Dataset) -> "models.QuerySet[Suppression]":
        """Returns entries that were not taken back."""
        return cls.objects.filter(dataset=dataset, withdraws=None).annotate(end=_end()).filter(end=None)


def _end() -> Subquery:
    """Returns from which version on an entry has no effect; none where it was not taken back."""
    entries = Suppression.objects.filter(dataset=OuterRef("dataset"))
    back = entries.filter(~Exists(entries.filter(withdraws=OuterRef("pk"))), withdraws=OuterRef("pk"))
    return Subquery(back.order_by("since").values("since")[:1])
