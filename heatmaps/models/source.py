"""Keeps facts of tables that stay in their owner's lake (`heatmaps.sources`): never a row of them."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from heatmaps.models.dataset import Dataset, DataVersion
from heatmaps.models.release import Release


class SourceState(models.Model):
    """Holds the files of a source as they were: what a data version reads.

    Private: it names paths and counts.
    """

    dataset = models.ForeignKey(Dataset, models.PROTECT, related_name="source_states")
    # The version that reads it; empty until that one is made.
    version = models.OneToOneField(
        DataVersion, models.PROTECT, null=True, blank=True, related_name="source_state"
    )
    # What the tables' formats call their states; of plain Parquet folders nothing.
    snapshot = models.CharField(max_length=80, blank=True, default="")
    opt_outs_snapshot = models.CharField(max_length=80, blank=True, default="")
    checkins = models.BinaryField()  # `heatmaps.sources.manifest.Manifest`
    opt_outs = models.BinaryField()  # the same
    columns = models.JSONField()  # `heatmaps.sources.question.ColumnKinds`
    rows = models.BigIntegerField()
    # Rows that no question reads, by the first reason: no_lon, no_lat, no_time, no_user.
    invalid = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"source state {self.pk}"


class SurveyState(models.TextChoices):
    """Names the states `WAITING -> DONE | FAILED`; the row goes when its version is made, or another survey
    is asked for."""

    WAITING = "waiting", "looking at the tables"
    DONE = "done", "ready"
    FAILED = "failed", "failed"


class SourceSurvey(models.Model):
    """Holds the next data version of a lake dataset on its way: a worker looks at the tables."""

    dataset = models.OneToOneField(Dataset, models.PROTECT, primary_key=True, related_name="source_survey")
    state = models.CharField(max_length=16, choices=SurveyState.choices, default=SurveyState.WAITING)
    # Nobody, where the schedule asks; then it was due at `due_at`.
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    due_at = models.DateTimeField(null=True, blank=True)
    # The public moment of its version; a slot later where it is not done by then.
    appears_at = models.DateTimeField()
    # Who looks, and until when he is taken to live.
    tag = models.UUIDField(default=uuid.uuid4)
    attempts = models.PositiveSmallIntegerField(default=0)
    lease_until = models.DateTimeField(null=True, blank=True)
    found = models.OneToOneField(SourceState, models.PROTECT, null=True, blank=True, related_name="+")
    failure = models.TextField(blank=True, default="")  # for stewards

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="survey_by_somebody_or_due",
                condition=Q(requested_by__isnull=False, due_at=None)
                | Q(requested_by=None, due_at__isnull=False),
            ),
            models.CheckConstraint(
                name="survey_done_has_found",
                condition=Q(state="done", found__isnull=False) | (~Q(state="done") & Q(found=None)),
            ),
        ]

    def __str__(self) -> str:
        return f"survey of {self.dataset_id}"


class SourceReading(models.Model):
    """Holds a spent release whose masses are being read from a lake: private, and no event.

    Reading draws nothing, so a reading that died is begun again, for the same charge; `tag` names the one
    that may go on to draw. `heatmaps.releases.source_readings` writes it.
    """

    release = models.OneToOneField(Release, models.PROTECT, primary_key=True, related_name="source_reading")
    tag = models.UUIDField(default=uuid.uuid4)
    attempts = models.PositiveSmallIntegerField(default=0)
    begun_at = models.DateTimeField(default=timezone.now)  # of the first attempt
    lease_until = models.DateTimeField(null=True)  # none: to be begun

    def __str__(self) -> str:
        return f"reading of {self.release_id}"
