"""Releases, what they cost and what came out."""

import uuid

from django.conf import settings
from django.db import models

from heatmaps.models.dataset import Dataset, DataVersion
from heatmaps.models.ledger import Account


class ReleaseState(models.TextChoices):
    """`RESERVED -> SPENT -> PUBLISHED | FAILED` and `RESERVED -> CANCELLED`; nothing else."""

    RESERVED = "reserved", "queued"
    SPENT = "spent", "queued"
    PUBLISHED = "published", "published"
    CANCELLED = "cancelled", "cancelled"
    FAILED = "failed", "no_result"


class Release(models.Model):
    """A question and its state. The label of a state is what people outside the ledger see."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    dataset = models.ForeignKey(Dataset, models.PROTECT, related_name="releases")
    version = models.ForeignKey(DataVersion, models.PROTECT, related_name="releases")
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    state = models.CharField(max_length=16, choices=ReleaseState.choices, default=ReleaseState.RESERVED)
    mechanism = models.CharField(max_length=40)
    epsilon = models.CharField(max_length=80)  # exact, as "numerator/denominator"
    delta = models.CharField(max_length=80, default="0/1")  # exact, as ε; 0: it holds without exception
    # Cells a side; empty: what is released has no resolution.
    resolution = models.PositiveIntegerField(null=True, blank=True)
    parameters = models.JSONField(default=dict)  # the mechanism's own public parameters
    # The part of the data that is asked about, as `heatmaps.slices` reads it; empty: all of it.
    since = models.BigIntegerField(null=True, blank=True)  # epoch seconds, inclusive
    until = models.BigIntegerField(null=True, blank=True)  # epoch seconds, exclusive
    within = models.JSONField(null=True, blank=True)  # west, south, east, north: finest grid lines
    guarantee = models.JSONField()
    expected_error = models.JSONField(null=True)
    # SHA-256 of the canonical question, the data version included: equal questions have equal answers.
    question = models.CharField(max_length=64)
    requested_at = models.DateTimeField(auto_now_add=True)
    # RESERVED: cancelled by the sweep after this moment.
    expires_at = models.DateTimeField()
    # SPENT: failed by the sweep after this moment.
    lease_until = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    # Readable by anybody since then; `heatmaps.publication` alone writes it.
    public_since = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-requested_at"]
        indexes = [
            models.Index(fields=["state", "expires_at"], name="release_sweep"),
            models.Index(fields=["dataset", "question"], name="release_same_question"),
        ]

    def __str__(self) -> str:
        return f"release {self.id}"

    @property
    def public_state(self) -> str:
        """`queued`, `published`, `cancelled` or `no_result`: all that anybody but the ledger is told."""
        return ReleaseState(self.state).label


class RequestKey(models.Model):
    """An `Idempotency-Key` and what it was answered with: a new release or a free, published one."""

    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    key = models.CharField(max_length=120)
    release = models.ForeignKey(Release, models.PROTECT, related_name="request_keys")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["requested_by", "key"], name="one_answer_per_request_key")
        ]

    def __str__(self) -> str:
        return f"request key of {self.release_id}"


class Charge(models.Model):
    release = models.ForeignKey(Release, models.PROTECT, related_name="charges")
    account = models.ForeignKey(Account, models.PROTECT, related_name="charges")
    # In the account's units, rounded up; empty: no bound.
    amount = models.BigIntegerField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["release", "account"], name="one_charge_per_account")]

    def __str__(self) -> str:
        return f"charge of {self.release_id}"


class Result(models.Model):
    """What was drawn, as `to_bytes` of a map or a point wrote it (`mechanisms.interface.Result`)."""

    release = models.OneToOneField(Release, models.PROTECT, primary_key=True, related_name="result")
    content = models.BinaryField()
    sha256 = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"result of {self.release_id}"
