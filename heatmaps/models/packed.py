"""Keeps check-ins of large uploads once more, in columns, for releases to read.

A row's own message and header cost more than what it says.

Raw data as the rows are, and shown to nobody. An upload has all of its slots or none, written in one
transaction (`heatmaps.masses.column_copies`); the transaction that deletes any of its rows deletes them.
"""

from typing import Final

from django.db import models

from heatmaps.models.upload import Upload

SLOTS: Final = 64  # of each packed upload; a person's slot is what dividing the hash by it leaves


class PackedCheckIns(models.Model):
    """Holds one slot of an upload: its persons, and their check-ins ordered by person and cell.

    Columns of integers, as `heatmaps.masses.packed_columns` writes and reads them.
    """

    upload = models.ForeignKey(Upload, models.CASCADE, related_name="packed")
    slot = models.PositiveSmallIntegerField()
    persons = models.BinaryField()
    lengths = models.BinaryField()
    cells = models.BinaryField()
    times = models.BinaryField()
    outside = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["upload", "slot"], name="one_pack_per_slot")]

    def __str__(self) -> str:
        return f"packed check-ins {self.pk}"


class PackingAttempts(models.Model):
    """Counts how often an upload's missing copy was begun, and says until when nobody begins again.

    Counted before each attempt, so that one that killed its worker counts; deleted with the first success.
    """

    upload = models.OneToOneField(Upload, models.CASCADE, primary_key=True, related_name="packing")
    attempts = models.PositiveSmallIntegerField(default=0)
    next_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"attempts at packing {self.pk}"
