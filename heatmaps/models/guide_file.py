"""Keeps guide files: public maps that a steward stores with a dataset before its first upload."""

import uuid

from django.conf import settings
from django.db import models

from heatmaps.models.dataset import Dataset


class GuideFile(models.Model):
    """Holds a guide, public by declaration: whoever sees a map of the dataset may know it; `heatmaps.guides`
    writes it.

    Never changed and never deleted: an event of the ledger names it.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    dataset = models.ForeignKey(Dataset, models.PROTECT, related_name="guide_files")
    title = models.CharField(max_length=80)
    source = models.CharField(max_length=300)  # where it was taken from, as it is cited
    licence = models.CharField(max_length=120, blank=True, default="")
    file_sha256 = models.CharField(max_length=64)  # of the file that was sent
    shares = models.BinaryField()  # of a `mechanisms.guide.Guide`: little-endian 64-bit integers
    sha256 = models.CharField(max_length=64)  # of the guide
    # What a map of Hazemap says of itself (`heatmaps.guides.release_sheets`); null: a file that is none.
    sheet = models.JSONField(null=True, blank=True, default=None)
    stored_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    stored_at = models.DateTimeField()

    class Meta:
        ordering = ["-stored_at"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "title"], name="one_guide_file_per_title"),
        ]

    def __str__(self) -> str:
        return f"{self.title} of {self.dataset_id}"
