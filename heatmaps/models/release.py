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
    resolution = models.PositiveIntegerField()
    parameters = models.JSONField(default=dict)  # the mechanism's own public parameters
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
    """What was drawn, as `mechanisms.interface.Heatmap.to_bytes` wrote it."""

    release = models.OneToOneField(Release, models.PROTECT, primary_key=True, related_name="result")
    content = models.BinaryField()
    sha256 = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"result of {self.release_id}"
