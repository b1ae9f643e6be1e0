"""Keeps district files: public polygons with names that a steward stores with a dataset."""

import uuid

from django.conf import settings
from django.db import models

from heatmaps.models.dataset import Dataset


class DistrictFile(models.Model):
    """Holds polygons, public by declaration: whoever sees a map of the dataset sees it; `heatmaps.districts`
    writes it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="district_files")
    title = models.CharField(max_length=80)
    source = models.CharField(max_length=300)  # where it was taken from, as it is cited
    licence = models.CharField(max_length=120, blank=True, default="")
    name_property = models.CharField(max_length=80, blank=True, default="")  # of the file that was sent
    areas = models.PositiveIntegerField()
    corners = models.PositiveIntegerField()  # in all
    content = models.BinaryField()  # as `heatmaps.districts.children.read` packed it
    sha256 = models.CharField(max_length=64)  # of `content`
    stored_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    stored_at = models.DateTimeField()

    class Meta:
        ordering = ["title"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "title"], name="one_district_file_per_title"),
        ]

    def __str__(self) -> str:
        return f"{self.title} of {self.dataset_id}"
