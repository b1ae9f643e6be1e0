"""Keeps what administrators read of datasets that they are no members of."""

from datetime import UTC, datetime

from django.conf import settings
from django.db import models

from heatmaps.models.dataset import Dataset


class AdministratorRead(models.Model):
    """Records who opened which page of a dataset, and when; never changed, never deleted. Stewards read it.

    Only `heatmaps.ledger.administrator_reads` writes it; each row is hashed with the hash of the one before
    it.
    """

    dataset = models.ForeignKey(Dataset, models.PROTECT, related_name="administrator_reads")
    sequence = models.PositiveBigIntegerField()
    at_seconds = models.BigIntegerField()  # UTC, since 1970
    reader = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    # The name of the address's pattern, such as `ledger-file`: no query, no name of a thing.
    page = models.CharField(max_length=80)
    previous_hash = models.CharField(max_length=64)
    hash = models.CharField(max_length=64)

    class Meta:
        ordering = ["dataset", "sequence"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "sequence"], name="one_read_per_sequence"),
        ]
        # Whether the same was opened in the last minute.
        indexes = [models.Index(fields=["dataset", "at_seconds"], name="read_lately")]

    def __str__(self) -> str:
        return f"read {self.sequence} of {self.dataset_id}"

    @property
    def at(self) -> datetime:
        return datetime.fromtimestamp(self.at_seconds, UTC)
